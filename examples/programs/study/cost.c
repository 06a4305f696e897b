/* study cost: the cost of activations, per element and per training step, as multiples of ReLU's. */
#include "examples/programs/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 60, NETS = 3, NUMBERS = 1 << 17 };

/* What is timed. The first ones are in every table. */
enum { RELU, EXACT, TANH_FORM, QUICK };
static const struct {
    tg_activation activation;
    double said; /* texts that call GELU slow give these multiples of ReLU; 0: none */
    bool in_nets, equal_width;
} entries[] = {
    {TG_RELU, 0, true},
    {TG_GELU_EXACT, 3.0, true},
    {TG_GELU_TANH, 1.5, true},
    {TG_GELU_QUICK, 1.2, true},
    {TG_SILU, 0, true},
    {TG_MISH, 0},
    {TG_ELU, 0, true},
    {TG_TANH, 0},
    {TG_SIGMOID, 0},
    {TG_GLU, 0},
    {TG_BILINEAR, 0},
    {TG_REGLU, 0},
    {TG_GEGLU, 0, true},
    {TG_SWIGLU, 2.0, true},
    {TG_SWIGLU, 2.0, true, .equal_width = true},
};
enum { ENTRIES = sizeof entries / sizeof *entries };

/* Per element, then of nets. */
typedef enum measure { VALUE, DERIVATIVE, STEP, FORWARD, KINDS } measure;
static const struct {
    const char *key, *heading, *unit;
    double units;   /* per second */
    bool said;      /* of these, texts speak */
    int one, other; /* whose ratio is a number of the report; equal: none */
} kinds[KINDS] = {
    [VALUE] = {"value", "Value, per element", "ns", 1e9, true, EXACT, TANH_FORM},
    [DERIVATIVE] = {"derivative", "First derivative, per element", "ns", 1e9, false, 0, 0},
    [STEP] = {"step", "Training step of ", "microseconds", 1e6, true, QUICK, EXACT},
    [FORWARD] = {"forward", "Forward pass of ", "microseconds", 1e6, false, QUICK, EXACT},
};

static const struct {
    const char *name;
    tg_mlp_config config;
    int batch;
} nets[NETS] = {
    {"8-64x2-1, batch 32", {.inputs = 8, .hidden = {64, 64}, .outputs = 1}, 32},
    {"784-128x8-10, batch 128",
     {.inputs = 784, .hidden = {128, 128, 128, 128, 128, 128, 128, 128}, .outputs = 10},
     128},
    {"512-2048-512, batch 128", {.inputs = 512, .hidden = {2048}, .outputs = 512}, 128},
};

/* Processor time of this thread, so that other work on the machine does not count. */
static double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- subjects: calls of one kind, timed several times, alternating with the others ---- */

typedef struct subject {
    char name[60];
    tg_activation activation;
    double said, seconds[MOST_ROUNDS];
    tg_mlp_config config; /* of a net, */
    tg_mlp *net;
    tg_optimizer *optimizer;
} subject;

typedef struct timing {
    int rounds, elements, divisor; /* of the sizes, in the quick version */
    double at_least;               /* seconds of a timing */
    measure kind;
    int rows; /* elements, or the batch of the net */
    tg_tape *tape;
    const float *x, *y; /* [NUMBERS] */
    int count;
    subject subjects[ENTRIES];
} timing;

static void apply(const timing *t, const subject *s)
{
    tg_tensor x = tg_borrow(t->tape, TG_F32, t->x, TG_SHAPE(t->rows)), result;
    if (t->kind == DERIVATIVE)
        result = tg_activation_derivative(s->activation, x);
    else if (tg_activation_is_gated(s->activation))
        result = tg_activate_gated(s->activation, x, tg_borrow(t->tape, TG_F32, t->y, TG_SHAPE(t->rows)));
    else
        result = tg_activate(s->activation, x, NULL);
    (void)tg_f32(result);
}

static void call(const timing *t, const subject *s)
{
    tg_tape_reset(t->tape);
    if (t->kind == STEP) {
        tg_tensor x = tg_borrow(t->tape, TG_F32, t->x, TG_SHAPE(t->rows, s->config.inputs));
        tg_tensor target = tg_borrow(t->tape, TG_F32, t->y, TG_SHAPE(t->rows, s->config.outputs));
        if (tg_backward(tg_mse(tg_mlp_forward(s->net, x), target)))
            tg_optimizer_step(s->optimizer);
        return;
    }
    tg_no_grad_begin(t->tape);
    if (t->kind == FORWARD)
        (void)tg_f32(tg_mlp_forward(s->net, tg_borrow(t->tape, TG_F32, t->x, TG_SHAPE(t->rows, s->config.inputs))));
    else
        apply(t, s);
    tg_no_grad_end(t->tape);
}

/* Sets the seconds of a call, in rounds that time all subjects. */
static void time_all(timing *t)
{
    int calls = 1;
    for (int i = 0; i < 2 * t->count; i++)
        call(t, &t->subjects[i / 2]);
    const double started = clock_seconds();
    call(t, &t->subjects[0]);
    const double once = clock_seconds() - started;
    while (calls * once < t->at_least && calls < 10000)
        calls *= 2;
    for (int round = 0; round < t->rounds; round++)
        for (subject *s = t->subjects; s < t->subjects + t->count; s++) {
            const double begin = clock_seconds();
            for (int k = 0; k < calls; k++)
                call(t, s);
            s->seconds[round] = (clock_seconds() - begin) / calls;
        }
}

/* ---- medians over rounds ---- */

/* The median and its 95 % interval by order statistics: the number of values below the median is binomial, approximated
 * as normal. */
static study_spread median_of(const double values[], int count)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, (size_t)count * sizeof *sorted);
    const double median = statistics_median(sorted, (size_t)count);
    const int from = (int)fmax(0, floor((count - 1.96 * sqrt(count)) / 2));
    return (study_spread){count, median, sorted[from], sorted[count - 1 - from]};
}

static study_spread ratio_of(const subject *s, const subject *relu, int rounds)
{
    double ratios[MOST_ROUNDS];
    for (int i = 0; i < rounds; i++)
        ratios[i] = s->seconds[i] / relu->seconds[i];
    return median_of(ratios, rounds);
}

/* ---- tables ---- */

/* A row for each subject, and the numbers of the report; KEY names the table. */
static void put_times(sheet *s, const timing *t, const char *key)
{
    const int rounds = t->rounds, one = kinds[t->kind].one, other = kinds[t->kind].other;
    const double units = kinds[t->kind].units / (t->kind <= DERIVATIVE ? t->rows : 1);
    char text[100];
    snprintf(text, sizeof text, "activation|%s|said|times ReLU|95 %%", kinds[t->kind].unit);
    sheet_table(s, 1, text);
    for (const subject *of = t->subjects; of < t->subjects + t->count; of++) {
        const study_spread ratio = ratio_of(of, &t->subjects[RELU], rounds);
        const double taken = median_of(of->seconds, rounds).median * units;
        snprintf(text, sizeof text, kinds[t->kind].said && of->said > 0 ? "%.1f" : "", of->said);
        sheet_row(s, "%s|%.*f|%s|%.2f|%.2f to %.2f", of->name,
                  taken < 10    ? 2
                  : taken < 100 ? 1
                                : 0,
                  taken, text, STUDY_SPREAD(ratio));
        snprintf(text, sizeof text, "%s_%s", key, of->name);
        study_put_interval(s, text, STUDY_SPREAD(ratio));
    }
    if (one == other)
        return;
    const study_spread ratio = ratio_of(&t->subjects[one], &t->subjects[other], rounds);
    snprintf(text, sizeof text, "%s_%s_over_%s", key, t->subjects[one].name, t->subjects[other].name);
    study_put_interval(s, text, STUDY_SPREAD(ratio));
}

/* True if an entry is in the tables of a kind. */
static bool is_timed(int entry, measure kind)
{
    return kind >= STEP
               ? entries[entry].in_nets
               : !entries[entry].equal_width && (kind == VALUE || !tg_activation_is_gated(entries[entry].activation));
}

/* Adds an entry to those that are timed, with its net if there is one. False if memory runs out. */
static bool add_subject(timing *t, int entry, int net)
{
    const tg_rng rng = tg_rng_seed(1);
    subject *s = &t->subjects[t->count++];
    *s = (subject){.activation = entries[entry].activation, .said = entries[entry].said};
    snprintf(s->name, sizeof s->name, "%s%s", tg_activation_name(s->activation),
             entries[entry].equal_width ? " of equal width" : "");
    if (t->kind < STEP)
        return true;
    s->config = nets[net].config;
    s->config.activation = s->activation;
    s->config.equal_width = entries[entry].equal_width;
    s->config.inputs /= t->divisor;
    for (int i = 0; s->config.hidden[i]; i++)
        s->config.hidden[i] /= t->divisor;
    s->net = tg_mlp_new(&rng, &s->config);
    s->optimizer = tg_optimizer_new(tg_mlp_parameters(s->net), &(tg_optimizer_config){.lr = 1e-5});
    return s->net && s->optimizer;
}

/* Times all entries of a kind, of nets number `net`. */
static bool put_kind(sheet *s, timing *t, measure kind, int net)
{
    const bool is_net = kind >= STEP;
    char heading[80], key[16];
    bool fine = true;
    t->kind = kind;
    t->count = 0;
    t->rows = is_net ? nets[net].batch / t->divisor : t->elements;
    for (int i = 0; i < ENTRIES; i++)
        fine = fine && (!is_timed(i, kind) || add_subject(t, i, net));
    if (fine) {
        time_all(t);
        snprintf(heading, sizeof heading, "%s%s", kinds[kind].heading, is_net ? nets[net].name : "");
        snprintf(key, sizeof key, is_net ? "%s%d" : "%s", kinds[kind].key, net);
        sheet_heading(s, heading);
        put_times(s, t, key);
    }
    for (int i = 0; i < t->count; i++) {
        tg_optimizer_free(t->subjects[i].optimizer);
        tg_mlp_free(t->subjects[i].net);
    }
    return fine;
}

/* ---- the study ---- */

static void judge(sheet *s)
{
    const double exact = sheet_number_of(s, "value_gelu_exact"), tanh_form = sheet_number_of(s, "value_gelu_tanh"),
                 quick = sheet_number_of(s, "value_gelu_quick");
    const double step = sheet_number_of(s, "step1_gelu_exact"), swiglu = sheet_number_of(s, "step1_swiglu"),
                 wide = sheet_number_of(s, "step1_swiglu of equal width");
    sheet_verdict(s,
                  "Per element exact GELU takes %.1f times as long as ReLU (said: 3.0), the tanh form %.1f (1.5), the "
                  "quick form %.1f (1.2): exact takes %.2f times as long as tanh (said: about 2).",
                  exact, tanh_form, quick, exact / tanh_form);
    sheet_verdict(s,
                  "In a training step of %s exact GELU takes %.2f times as long as ReLU, and SwiGLU %.2f times at "
                  "equal parameters and %.2f at equal width (said: 2.0).",
                  nets[1].name, step, swiglu, wide);
}

static void report(void *all, sheet *s)
{
    study_results *r = all;
    static float x[NUMBERS], y[NUMBERS];
    timing t = r->c->settings->quick ? (timing){3, 1 << 12, 8, 1e-5} : (timing){40, 1 << 15, 1, 5e-3};
    tg_rng rng = tg_rng_seed(1);
    int timed = 0;
    for (int i = 0; i < NUMBERS; i++) {
        x[i] = (float)tg_rng_normal(&rng);
        y[i] = (float)tg_rng_normal(&rng);
    }
    t.tape = tg_tape_new();
    t.x = x;
    t.y = y;
    tg_set_threads(1);
    for (int i = 0; i < ENTRIES; i++)
        timed += 2 * is_timed(i, VALUE) + 2 * NETS * is_timed(i, STEP);
    fprintf(stderr, "this takes about %d seconds of processor time\n",
            (int)ceil(t.rounds * t.at_least * 2 * timed + 1));
    sheet_text(
        s,
        "One thread, single precision, inputs of N(0,1). %d elements at a time; a step is record, backward and Adam. "
        "All are timed in turn, %d rounds, so that other work on the machine meets all alike: medians over the rounds "
        "of the ratio to ReLU in the same round, with the interval of the median. Gated: per element of the product; "
        "nets with as many parameters as the plain ones. What is said is what texts about GELU claim.",
        t.elements, t.rounds);
    bool fine = t.tape && put_kind(s, &t, VALUE, 0) && put_kind(s, &t, DERIVATIVE, 0);
    for (int i = 0; i < 2 * NETS; i++)
        fine = fine && put_kind(s, &t, i < NETS ? STEP : FORWARD, i % NETS);
    if (!fine || tg_tape_error(t.tape)) {
        sheet_text(s, "Times are wrong: %s", tg_tape_error(t.tape) ? tg_tape_error(t.tape) : "out of memory");
        r->outcome.failed = 1;
    } else
        judge(s);
    tg_tape_free(t.tape);
}

const study study_cost = {
    .name = "cost",
    .about = "the cost of activations, per element and per training step",
    .size = sizeof(study_results),
    .report = report,
    .title = "What activations cost",
};
