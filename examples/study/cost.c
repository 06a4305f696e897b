/* study cost: the cost of activations, per element and per training step, as multiples of ReLU's. */
#include "examples/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ACTIVATIONS = 14, MOST_ROUNDS = 60, NETS = 3, QUICK_DIVISOR = 8 };
enum { EXACT = 1, TANH_FORM, QUICK }; /* indices in both lists below */
static const tg_activation activations[ACTIVATIONS] = {TG_RELU,     TG_GELU_EXACT, TG_GELU_TANH, TG_GELU_QUICK, TG_SILU,
                                                       TG_MISH,     TG_ELU,        TG_TANH,      TG_SIGMOID,    TG_GLU,
                                                       TG_BILINEAR, TG_REGLU,      TG_GEGLU,     TG_SWIGLU};

/* Texts that call GELU slow give these multiples of ReLU; 0: none. */
static double said_of(tg_activation activation)
{
    return activation == TG_GELU_EXACT   ? 3.0
           : activation == TG_GELU_TANH  ? 1.5
           : activation == TG_GELU_QUICK ? 1.2
           : activation == TG_SWIGLU     ? 2.0
                                         : 0;
}

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

/* The amount of timing: the sizes, or an eighth of them in the quick version. */
typedef struct extent {
    int rounds, elements, divisor;
    double at_least; /* seconds of a timing */
} extent;

static tg_mlp_config net_of(const extent *e, int which)
{
    tg_mlp_config config = nets[which].config;
    config.inputs = config.inputs / e->divisor;
    for (int i = 0; config.hidden[i]; i++)
        config.hidden[i] /= e->divisor;
    return config;
}

/* ---- subjects: calls of one kind, timed several times, alternating with the others ---- */

typedef struct subject {
    tg_activation activation;
    bool equal_width; /* of a gated net */
    double seconds[MOST_ROUNDS];
    /* elements */
    tg_tape *tape;
    const float *x, *y;
    int rows; /* elements, or the batch */
    bool derivative;
    bool forward; /* of a net: without the backward pass and the optimiser's step */
    /* steps */
    tg_mlp *net;
    tg_optimizer *optimizer;
    int64_t inputs, outputs;
} subject;

static void apply(const subject *s)
{
    tg_tape_reset(s->tape);
    tg_no_grad_begin(s->tape);
    tg_tensor x = tg_borrow(s->tape, TG_F32, s->x, TG_SHAPE(s->rows)), result;
    if (s->derivative)
        result = tg_activation_derivative(s->activation, x);
    else if (tg_activation_is_gated(s->activation))
        result = tg_activate_gated(s->activation, x, tg_borrow(s->tape, TG_F32, s->y, TG_SHAPE(s->rows)));
    else
        result = tg_activate(s->activation, x, NULL);
    (void)tg_f32(result);
    tg_no_grad_end(s->tape);
}

static void take_step(const subject *s)
{
    tg_tape_reset(s->tape);
    tg_tensor x = tg_borrow(s->tape, TG_F32, s->x, TG_SHAPE(s->rows, s->inputs));
    if (s->forward) {
        tg_no_grad_begin(s->tape);
        (void)tg_f32(tg_mlp_forward(s->net, x));
        tg_no_grad_end(s->tape);
        return;
    }
    tg_tensor target = tg_borrow(s->tape, TG_F32, s->y, TG_SHAPE(s->rows, s->outputs));
    if (tg_backward(tg_mse(tg_mlp_forward(s->net, x), target)))
        tg_optimizer_step(s->optimizer);
}

static void call(const subject *s)
{
    if (s->net)
        take_step(s);
    else
        apply(s);
}

/* Sets the seconds of a call, in rounds that time all subjects. */
static void time_all(subject *subjects, int count, const extent *e)
{
    int calls = 1;
    for (int i = 0; i < count; i++)
        call(&subjects[i]), call(&subjects[i]);
    const double started = clock_seconds();
    call(&subjects[0]);
    const double once = clock_seconds() - started;
    while (calls * once < e->at_least && calls < 10000)
        calls *= 2;
    for (int round = 0; round < e->rounds; round++)
        for (int i = 0; i < count; i++) {
            const double begin = clock_seconds();
            for (int k = 0; k < calls; k++)
                call(&subjects[i]);
            subjects[i].seconds[round] = (clock_seconds() - begin) / calls;
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

static void put_row(sheet *s, const char *name, double said, const subject *subject_, const subject *relu, int rounds,
                    double unit, const char *key)
{
    const study_spread ratio = ratio_of(subject_, relu, rounds);
    const double taken = median_of(subject_->seconds, rounds).median * unit;
    char text[16] = "", full[80];
    if (said > 0)
        snprintf(text, sizeof text, "%.1f", said);
    sheet_row(s, "%s|%.*f|%s|%.2f|%.2f to %.2f", name,
              taken < 10    ? 2
              : taken < 100 ? 1
                            : 0,
              taken, text, ratio.median, ratio.low, ratio.high);
    snprintf(full, sizeof full, "%s_%s", key, name);
    study_put_interval(s, full, ratio.median, ratio.low, ratio.high);
}

/* Writes the time of one as a multiple of the other's. */
static void put_ratio(sheet *s, const char *what, const subject *one, const subject *other, int rounds)
{
    const study_spread ratio = ratio_of(one, other, rounds);
    char key[80];
    snprintf(key, sizeof key, "%s_%s_over_%s", what, tg_activation_name(one->activation),
             tg_activation_name(other->activation));
    study_put_interval(s, key, ratio.median, ratio.low, ratio.high);
}

static void put_elements(sheet *s, const extent *e, tg_tape *tape, const float *x, const float *y)
{
    for (int derivative = 0; derivative < 2; derivative++) {
        subject subjects[ACTIVATIONS];
        int count = 0;
        for (int a = 0; a < ACTIVATIONS; a++)
            if (!derivative || !tg_activation_is_gated(activations[a]))
                subjects[count++] = (subject){.activation = activations[a],
                                              .tape = tape,
                                              .x = x,
                                              .y = y,
                                              .rows = e->elements,
                                              .derivative = derivative};
        time_all(subjects, count, e);
        sheet_heading(s, derivative ? "First derivative, per element" : "Value, per element");
        sheet_table(s, 1, "activation|ns|said|times ReLU|95 %");
        for (int i = 0; i < count; i++)
            put_row(s, tg_activation_name(subjects[i].activation), derivative ? 0 : said_of(subjects[i].activation),
                    &subjects[i], &subjects[0], e->rounds, 1e9 / e->elements, derivative ? "derivative" : "value");
        if (!derivative)
            put_ratio(s, "value", &subjects[EXACT], &subjects[TANH_FORM], e->rounds);
    }
}

static const struct {
    tg_activation activation;
    bool equal_width;
} stepped[] = {{TG_RELU, false},       {TG_GELU_EXACT, false}, {TG_GELU_TANH, false},
               {TG_GELU_QUICK, false}, {TG_SILU, false},       {TG_ELU, false},
               {TG_GEGLU, false},      {TG_SWIGLU, false},     {TG_SWIGLU, true}};
enum { STEPPED = sizeof stepped / sizeof stepped[0] };

static bool put_steps(sheet *s, int which, bool forward, const extent *e, tg_tape *tape, const float *x, const float *y)
{
    subject subjects[STEPPED];
    const tg_rng rng = tg_rng_seed(1);
    bool fine = true;
    char key[16];
    snprintf(key, sizeof key, "%s%d", forward ? "forward" : "step", which);
    for (int i = 0; i < STEPPED; i++) {
        tg_mlp_config config = net_of(e, which);
        config.activation = stepped[i].activation;
        config.equal_width = stepped[i].equal_width;
        subjects[i] = (subject){.activation = config.activation,
                                .tape = tape,
                                .forward = forward,
                                .x = x,
                                .y = y,
                                .rows = nets[which].batch / e->divisor,
                                .inputs = config.inputs,
                                .outputs = config.outputs,
                                .net = tg_mlp_new(&rng, &config)};
        subjects[i].optimizer =
            tg_optimizer_new(tg_mlp_parameters(subjects[i].net), &(tg_optimizer_config){.lr = 1e-5});
        fine = fine && subjects[i].net && subjects[i].optimizer;
    }
    if (fine) {
        char heading[80];
        time_all(subjects, STEPPED, e);
        snprintf(heading, sizeof heading, "%s of %s", forward ? "Forward pass" : "Training step", nets[which].name);
        sheet_heading(s, heading);
        sheet_table(s, 1, "activation|microseconds|said|times ReLU|95 %");
    }
    for (int i = 0; fine && i < STEPPED; i++) {
        char name[60];
        snprintf(name, sizeof name, "%s%s", tg_activation_name(stepped[i].activation),
                 stepped[i].equal_width ? " of equal width" : "");
        put_row(s, name, forward ? 0 : said_of(stepped[i].activation), &subjects[i], &subjects[0], e->rounds, 1e6, key);
    }
    if (fine)
        put_ratio(s, key, &subjects[QUICK], &subjects[EXACT], e->rounds);
    for (int i = 0; i < STEPPED; i++) {
        tg_optimizer_free(subjects[i].optimizer);
        tg_mlp_free(subjects[i].net);
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
    const extent e = r->c->settings->quick ? (extent){3, 1 << 12, QUICK_DIVISOR, 1e-5} : (extent){40, 1 << 15, 1, 5e-3};
    enum { NUMBERS = 1 << 17 };
    static float x[NUMBERS], y[NUMBERS];
    tg_tape *tape = tg_tape_new();
    tg_rng rng = tg_rng_seed(1);
    for (int i = 0; i < NUMBERS; i++) {
        x[i] = (float)tg_rng_normal(&rng);
        y[i] = (float)tg_rng_normal(&rng);
    }
    tg_set_threads(1);
    fprintf(stderr, "this takes about %d seconds of processor time\n",
            (int)ceil(e.rounds * e.at_least * 2 * (2 * ACTIVATIONS + 2 * NETS * STEPPED) + 1));
    sheet_text(
        s,
        "One thread, single precision, inputs of N(0,1). %d elements at a time; a step is record, backward and Adam. "
        "All are timed in turn, %d rounds, so that other work on the machine meets all alike: medians over the rounds "
        "of the ratio to ReLU in the same round, with the interval of the median. Gated: per element of the product; "
        "nets with as many parameters as the plain ones. What is said is what texts about GELU claim.",
        e.elements, e.rounds);
    bool fine = tape;
    put_elements(s, &e, tape, x, y);
    for (int i = 0; i < 2 * NETS && fine; i++)
        fine = put_steps(s, i % NETS, i >= NETS, &e, tape, x, y);
    if (!fine || tg_tape_error(tape)) {
        sheet_text(s, "Times are wrong: %s", tg_tape_error(tape) ? tg_tape_error(tape) : "out of memory");
        r->outcome.failed = 1;
    } else
        judge(s);
    tg_tape_free(tape);
}

const study study_cost = {
    .name = "cost",
    .about = "the cost of activations, per element and per training step",
    .size = sizeof(study_results),
    .report = report,
    .title = "What activations cost",
    .no_runs = true,
};
