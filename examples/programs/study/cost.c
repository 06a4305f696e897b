/* study cost: the cost of activations, per element and per training step, as multiples of ReLU's. Its runs.csv has what
 * was timed. */
#include "examples/programs/data/csv.h"
#include "examples/programs/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 60, NUMBERS = 1 << 17, ROWS = 80 };

/* What is timed; the first is the measure of the others. `said`: texts that call GELU slow give these multiples of
 * ReLU; 0: none. */
static const struct {
    tg_activation activation;
    double said;
    bool in_nets, equal_width;
} entries[] = {{TG_RELU, 0, true},
               {TG_GELU_EXACT, 3.0, true},
               {TG_GELU_TANH, 1.5, true},
               {TG_GELU_QUICK, 1.2, true},
               {TG_SILU, 0, true},
               {TG_HARDSWISH, 0},
               {TG_MISH, 0},
               {TG_ELU, 0, true},
               {TG_TANH, 0},
               {TG_GEGLU, 0, true},
               {TG_SWIGLU, 2.0, true},
               {TG_SWIGLU, 2.0, true, .equal_width = true}};
enum { ENTRIES = sizeof entries / sizeof *entries };

typedef enum measure { VALUE, DERIVATIVE, STEP, FORWARD, WIDE_STEP, KINDS } measure;
static const tg_mlp_config deep = {.inputs = 784, .hidden = {128, 128, 128, 128, 128, 128, 128, 128}, .outputs = 10},
                           wide = {.inputs = 512, .hidden = {2048}, .outputs = 512};
static const struct {
    const char *key, *heading;
    const tg_mlp_config *net;
} kinds[KINDS] = {[VALUE] = {"value", "Value, per element", NULL},
                  [DERIVATIVE] = {"derivative", "First derivative, per element", NULL},
                  [STEP] = {"step", "Training step of 784-128x8-10, batch 128", &deep},
                  [FORWARD] = {"forward", "Forward pass of 784-128x8-10, batch 128", &deep},
                  [WIDE_STEP] = {"widestep", "Training step of 512-2048-512, batch 128", &wide}};

/* A row of runs.csv: seconds of a call, and its ratio to ReLU's in the same round, with the median's interval. */
typedef struct row {
    int kind;
    char name[40];
    double said, seconds, ratio, low, high;
} row;

typedef struct timing {
    int rounds, elements, divisor; /* of the sizes, in the quick version */
    double at_least;               /* seconds of a timing */
    tg_tape *tape;
    const float *x; /* [NUMBERS] */
    row rows[ROWS];
    int count;
} timing;

typedef struct subject {
    int entry, kind;
    tg_mlp *net;
    tg_optimizer *optimizer;
    double seconds[MOST_ROUNDS];
} subject;

/* Processor time of this thread, so that other work on the machine does not count. */
static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void call(const timing *t, const subject *s)
{
    const tg_activation a = entries[s->entry].activation;
    const int64_t batch = 128 / t->divisor,
                  count = s->net ? batch * kinds[s->kind].net->inputs / t->divisor : t->elements;
    tg_tape_reset(t->tape);
    const tg_tensor x = tg_borrow(t->tape, TG_F32, t->x, s->net ? TG_SHAPE(batch, count / batch) : TG_SHAPE(count));
    if (s->kind == STEP || s->kind == WIDE_STEP) {
        const tg_tensor y = tg_mlp_forward(s->net, x);
        if (tg_backward(tg_mean(tg_square(y))))
            tg_optimizer_step(s->optimizer);
        return;
    }
    const tg_tensor other = tg_borrow(t->tape, TG_F32, t->x + NUMBERS / 2, TG_SHAPE(t->elements));
    tg_no_grad_begin(t->tape);
    (void)tg_f32(s->net                      ? tg_mlp_forward(s->net, x)
                 : s->kind == DERIVATIVE     ? tg_activation_derivative(a, x)
                 : tg_activation_is_gated(a) ? tg_activate_gated(a, x, other)
                                             : tg_activate(a, x, NULL));
    tg_no_grad_end(t->tape);
}

static bool open_subject(const timing *t, subject *s)
{
    const tg_rng rng = tg_rng_seed(1);
    if (!kinds[s->kind].net)
        return true;
    tg_mlp_config config = *kinds[s->kind].net;
    config.activation = entries[s->entry].activation;
    config.equal_width = entries[s->entry].equal_width;
    config.inputs /= t->divisor;
    for (int i = 0; config.hidden[i]; i++)
        config.hidden[i] /= t->divisor;
    s->net = tg_mlp_new(&rng, &config);
    s->optimizer = tg_optimizer_new(tg_mlp_parameters(s->net), &(tg_optimizer_config){.lr = 1e-5});
    return s->net && s->optimizer;
}

/* Adds a row: medians over the rounds. The number of values below the median is binomial, approximated as normal. */
static void put_row(timing *t, const subject *s, const char *name, const double *over)
{
    double seconds[MOST_ROUNDS], ratio[MOST_ROUNDS];
    const int n = t->rounds, from = (int)fmax(0, floor((n - 1.96 * sqrt(n)) / 2));
    for (int i = 0; i < n; i++)
        seconds[i] = s->seconds[i], ratio[i] = s->seconds[i] / over[i];
    row *to = &t->rows[t->count++];
    *to = (row){.kind = s->kind, .said = entries[s->entry].said};
    snprintf(to->name, sizeof to->name, "%s", name);
    to->seconds = statistics_median(seconds, (size_t)n);
    to->ratio = statistics_median(ratio, (size_t)n); /* sorts it */
    to->low = ratio[from];
    to->high = ratio[n - 1 - from];
}

/* Adds a row for two entries, if both were timed: "gelu_exact over gelu_tanh". */
static const char *const pairs[][2] = {
    {"gelu_exact", "gelu_tanh"}, {"gelu_quick", "gelu_exact"}, {"hardswish", "gelu_exact"}};

static void put_pair(timing *t, const subject *all, const char *const *names, int count, const char *const pair[2])
{
    char name[60];
    int at[2] = {count, count};
    for (int i = 0; i < 2 * count; i++)
        if (strcmp(names[i / 2], pair[i % 2]) == 0)
            at[i % 2] = i / 2;
    snprintf(name, sizeof name, "%s over %s", pair[0], pair[1]);
    if (at[0] < count && at[1] < count)
        put_row(t, &all[at[0]], name, all[at[1]].seconds);
}

/* Times all entries of a kind in turn, so that other work on the machine meets all alike. */
static bool time_kind(timing *t, int kind)
{
    subject all[ENTRIES] = {{0}};
    const char *names[ENTRIES];
    int count = 0, calls = 1;
    bool fine = true;
    for (int i = 0; i < ENTRIES; i++)
        if (kinds[kind].net
                ? entries[i].in_nets
                : !entries[i].equal_width && (kind == VALUE || !tg_activation_is_gated(entries[i].activation))) {
            all[count] = (subject){.entry = i, .kind = kind};
            names[count] = entries[i].equal_width ? "swiglu of equal width" : tg_activation_name(entries[i].activation);
            fine = fine && open_subject(t, &all[count++]);
        }
    for (int i = 0; fine && i < 2 * count; i++)
        call(t, &all[i / 2]);
    const double started = clock_seconds();
    if (fine)
        call(t, &all[0]);
    for (const double once = clock_seconds() - started; calls * once < t->at_least && calls < 10000;)
        calls *= 2;
    for (int round = 0; fine && round < t->rounds; round++)
        for (subject *s = all; s < all + count; s++) {
            const double begin = clock_seconds();
            for (int k = 0; k < calls; k++)
                call(t, s);
            s->seconds[round] = (clock_seconds() - begin) / calls;
        }
    for (int i = 0; fine && i < count; i++)
        put_row(t, &all[i], names[i], all[0].seconds);
    for (size_t i = 0; fine && i < sizeof pairs / sizeof *pairs; i++)
        put_pair(t, all, names, count, pairs[i]);
    for (int i = 0; i < count; i++)
        tg_optimizer_free(all[i].optimizer), tg_mlp_free(all[i].net);
    return fine && !tg_tape_error(t->tape);
}

/* ---- runs.csv ---- */

static bool write_rows(const void *context, FILE *to)
{
    const timing *t = context;
    fputs("group,kind,said,seconds,ratio,ratio_low,ratio_high\n", to);
    for (const row *r = t->rows; r < t->rows + t->count; r++) {
        const double numbers[] = {r->said, r->seconds, r->ratio, r->low, r->high};
        fprintf(to, "%s,%s", r->name, kinds[r->kind].key);
        for (int i = 0; i < 5; i++)
            fprintf(to, ",%s", number_text(numbers[i], (char[NUMBER_TEXT]){0}));
        fputc('\n', to);
    }
    return true;
}

static void read_rows(timing *t, study_results *r)
{
    char path[PATH_MAX + 20];
    csv_source s;
    snprintf(path, sizeof path, "%s/runs.csv", r->c->folder);
    r->broken = !csv_read(path, DATASET_HEADER_YES, &s, &r->error);
    for (size_t i = 0; !r->broken && i < s.rows && t->count < ROWS; i++) {
        row *to = &t->rows[t->count++];
        *to = (row){0,
                    "",
                    csv_value(&s, i, 2),
                    csv_value(&s, i, 3),
                    csv_value(&s, i, 4),
                    csv_value(&s, i, 5),
                    csv_value(&s, i, 6)};
        snprintf(to->name, sizeof to->name, "%s", csv_word_at(&s, i, 0));
        while (to->kind < KINDS - 1 && strcmp(kinds[to->kind].key, csv_word_at(&s, i, 1)) != 0)
            to->kind++;
    }
    csv_source_free(&s);
}

/* ---- the study ---- */

static void put_kind(const timing *t, sheet *s, int kind)
{
    sheet_heading(s, kinds[kind].heading);
    sheet_table(
        s, 1, kinds[kind].net ? "activation|microseconds|said|times ReLU|95 %" : "activation|ns|said|times ReLU|95 %");
    for (const row *r = t->rows; r < t->rows + t->count; r++) {
        const double time = kinds[kind].net ? 1e6 * r->seconds : 1e9 * r->seconds / t->elements;
        char key[100], said[16] = "";
        if (r->kind != kind)
            continue;
        snprintf(key, sizeof key, "%s %s", kinds[kind].key, r->name);
        study_put_interval(s, key, r->ratio, r->low, r->high, 0);
        if (strstr(r->name, " over "))
            continue;
        if (r->said > 0)
            snprintf(said, sizeof said, "%.1f", r->said);
        sheet_row(s, "%s|%.*f|%s|%.2f|%.2f to %.2f", r->name, time < 10 ? 3 : 0, time, said, r->ratio, r->low, r->high);
    }
}

static void report(study_results *r, sheet *s)
{
    static float x[NUMBERS];
    static timing t;
    t = r->c->settings->quick ? (timing){3, 1 << 12, 8, 1e-5} : (timing){40, 1 << 15, 1, 5e-3};
    tg_rng rng = tg_rng_seed(1);
    for (int i = 0; i < NUMBERS; i++)
        x[i] = (float)tg_rng_normal(&rng);
    t.tape = tg_tape_new();
    t.x = x;
    tg_set_threads(1);
    bool fine = true;
    for (int kind = 0; kind < KINDS && !r->c->settings->report_only; kind++)
        fine = fine && time_kind(&t, kind);
    if (r->c->settings->report_only)
        read_rows(&t, r);
    else
        study_file(r, "runs.csv", write_rows, &t);
    sheet_text(s,
               "One thread, single precision, inputs of N(0,1). %d elements at a time; a step is record, backward and "
               "Adam. All are timed in turn, %d rounds, so that other work on the machine meets all alike: medians "
               "over the rounds of the ratio to ReLU in the same round, with the interval of the median. Gated: per "
               "element of the product; nets with as many parameters as the plain ones. What is said is what texts "
               "about GELU claim.",
               t.elements, t.rounds);
    for (int kind = 0; kind < KINDS; kind++)
        put_kind(&t, s, kind);
    if (!fine) {
        sheet_text(s, "Times are wrong: %s", tg_tape_error(t.tape) ? tg_tape_error(t.tape) : "out of memory");
        r->outcome.failed = 1;
    }
    tg_tape_free(t.tape);
}

const study study_cost = {
    .name = "cost",
    .about = "the cost of activations, per element and per training step",
    .report = report,
    .title = "What activations cost",
};
