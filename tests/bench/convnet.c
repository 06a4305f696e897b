#include "tests/bench/modes.h"

#include "tests/bench/blas.h"
#include "tests/bench/nets.h"
#include "tests/bench/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tapegrad.h>

enum { SIDE = 28, BATCH = 128, CLASSES = 10, PATCH = 7, LAYERS = 4, HEADS = 4, WIDTH = 64 };

/* A net, by its filters; without any a vision transformer of 4 layers of width 64. */
static const struct {
    int64_t filters[3];
    bool norm;
    const char *name, *filters_text;
} nets[] = {{{16, 32}, false, "filters 16 32", "16 32"},
            {{16, 32}, true, "filters 16 32, batch norm", "16 32"},
            {{32, 64, 64}, false, "filters 32 64 64", "32 64 64"},
            {{32, 64, 64}, true, "filters 32 64 64, batch norm", "32 64 64"},
            {{0}, false, "vision transformer 4 x 64", NULL}};
enum { NETS = sizeof nets / sizeof *nets };

typedef struct contest {
    tg_model *net;
    tg_optimizer *adamw;
    tg_tape *tape;
    tg_rng training;
    int threads;
    float images[BATCH * SIDE * SIDE];
    int32_t labels[BATCH];
} contest;

static double run(void *context, int steps)
{
    contest *c = context;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++) {
        tg_tape_reset(c->tape);
        tg_tensor x = tg_borrow(c->tape, TG_F32, c->images, TG_SHAPE(BATCH, 1, SIDE, SIDE)),
                  labels = tg_borrow(c->tape, TG_I32, c->labels, TG_SHAPE(BATCH));
        if (!tg_backward(tg_cross_entropy(tg_model_forward(c->net, x, &c->training), labels)) ||
            !tg_optimizer_step(c->adamw))
            return -1;
    }
    return race_clock(c->threads) - start;
}

static tg_model *new_net(tg_activation activation, int which, const tg_rng *rng)
{
    tg_vit_config vit = {.channels = 1,
                         .height = SIDE,
                         .width = SIDE,
                         .patch = PATCH,
                         .layers = LAYERS,
                         .block = tg_block_vit(WIDTH, HEADS),
                         .outputs = CLASSES};
    tg_convnet_config convnet = {.channels = 1,
                                 .height = SIDE,
                                 .width = SIDE,
                                 .outputs = CLASSES,
                                 .activation = activation,
                                 .norm = nets[which].norm ? TG_NORM_BATCH : TG_NORM_NONE};
    vit.block.activation = activation;
    for (int i = 0; i < 3; i++)
        convnet.filters[i] = nets[which].filters[i];
    return nets[which].filters[0] ? tg_convnet_new(rng, &convnet) : tg_vit_new(rng, &vit);
}

static bool open_contest(contest *c, tg_activation activation, int which, int threads)
{
    tg_rng rng = tg_rng_seed(1);
    c->threads = threads;
    c->training = tg_rng_seed(2);
    c->net = new_net(activation, which, &rng);
    c->adamw = tg_optimizer_new(tg_model_parameters(c->net), &(tg_optimizer_config){.kind = TG_ADAMW, .lr = 1e-5});
    c->tape = tg_tape_new();
    tg_tape_save_memory(c->tape, true);
    for (int i = 0; i < BATCH * SIDE * SIDE; i++)
        c->images[i] = (float)tg_rng_normal(&rng);
    for (int i = 0; i < BATCH; i++)
        c->labels[i] = (int32_t)tg_rng_below(&rng, CLASSES);
    return c->net && c->adamw && c->tape;
}

static void print(const char *name, const race_entry *entries, bool csv)
{
    printf(csv ? "\"%s\",%.1f" : "%-44s%10.0f", name, 1e6 * entries[0].seconds);
    if (isnan(entries[1].seconds))
        printf(csv ? ",,\n" : "%12s%8s\n", "-", "-");
    else
        printf(csv ? ",%.1f,%.3f\n" : "%12.0f%8.2f\n", 1e6 * entries[1].seconds, entries[1].ratio);
}

static double run_nothing(void *context, int steps)
{
    (void)context, (void)steps;
    return -1;
}

/* Prints a line of what is run beside the peer's work; false if it fails. */
static bool hold(const char *name, const char *work, double run_steps(void *context, int steps), void *context,
                 bench_peer *peer, const convnet_settings *s)
{
    race_entry entries[] = {{.run = run_steps, .context = context}, {.run = run_nothing}};
    if (bench_peer_prepare(peer, work))
        entries[1] = (race_entry){.run = bench_peer_run, .context = peer};
    race(entries, 2, s->seconds);
    const bool fine = !isnan(entries[0].seconds);
    if (fine)
        print(name, entries, s->csv);
    return fine;
}

static void say_error(const char *name, const tg_tape *tape)
{
    fprintf(stderr, "bench: %s: %s\n", name, tg_tape_error(tape) ? tg_tape_error(tape) : "out of memory");
}

static bool hold_net(tg_activation activation, int which, bench_peer *peer, const convnet_settings *s)
{
    static contest c;
    char name[120], work[120];
    const char *act = tg_activation_name(activation);
    snprintf(name, sizeof name, "%s, %s", act, nets[which].name);
    if (nets[which].filters[0])
        snprintf(work, sizeof work, "net convnet:%s:%s %d %s", act, nets[which].norm ? "batch" : "none", BATCH,
                 nets[which].filters_text);
    else
        snprintf(work, sizeof work, "net vit:%s %d %d %d %d %d %d", act, BATCH, SIDE, PATCH, LAYERS, HEADS, WIDTH);
    const bool fine = open_contest(&c, activation, which, s->threads) && hold(name, work, run, &c, peer, s);
    if (!fine)
        say_error(name, c.tape);
    tg_optimizer_free(c.adamw);
    tg_model_free(c.net);
    tg_tape_free(c.tape);
    return fine;
}

/* ---- single operations ---- */

/* Convolutions of 3 x 3 windows with padding, largest first, and pooling of windows of 2 x 2. */
static const struct {
    int64_t channels, filters, side; /* filters 0: pooling */
} operations[] = {{32, 64, 28}, {16, 32, 28}, {64, 64, 14}, {16, 32, 14}, {64, 64, 7}, {16, 0, 28}};
enum { OPERATIONS = sizeof operations / sizeof *operations };

typedef struct operation {
    int which, threads;
    bool backward;
    tg_tape *tape;
    tg_parameters *parameters;
    tg_parameter *images, *weight, *bias; /* the last two are NULL in pooling */
    float *cotangent;                     /* as many as images and filters could make */
} operation;

static double run_operation(void *context, int steps)
{
    const operation *o = context;
    const double start = race_clock(o->threads);
    bool fine = true;
    for (int i = 0; fine && i < steps; i++) {
        tg_tape_reset(o->tape);
        tg_parameters_clear_gradients(o->parameters);
        const tg_tensor x = tg_parameter_tensor(o->tape, o->images);
        const tg_tensor y = o->weight ? tg_conv2d(x, tg_parameter_tensor(o->tape, o->weight),
                                                  tg_parameter_tensor(o->tape, o->bias), (tg_window){.padding = {1, 1}})
                                      : tg_max_pool2d(x, 2, 2, (tg_window){0});
        fine = o->backward ? tg_backward_from(y, tg_borrow(o->tape, TG_F32, o->cotangent, tg_shape_of(y)))
                           : tg_f32(y) != NULL;
    }
    return fine ? race_clock(o->threads) - start : -1;
}

static bool open_operation(operation *o, int which, bool backward, int threads)
{
    const int64_t channels = operations[which].channels, filters = operations[which].filters,
                  side = operations[which].side, numbers = BATCH * side * side * (channels + filters);
    tg_rng rng = tg_rng_seed(1);
    *o = (operation){which, threads, backward, .tape = tg_tape_new(), .parameters = tg_parameters_new(TG_F32)};
    o->images = tg_parameters_add(o->parameters, "images", TG_SHAPE(BATCH, channels, side, side), false);
    if (filters) {
        o->weight = tg_parameters_add(o->parameters, "weight", TG_SHAPE(filters, channels, 3, 3), false);
        o->bias = tg_parameters_add(o->parameters, "bias", TG_SHAPE(filters), false);
    }
    o->cotangent = malloc((size_t)numbers * sizeof *o->cotangent);
    float *values = tg_parameters_values(o->parameters);
    if (!o->tape || !o->cotangent || !values)
        return false;
    tg_tape_save_memory(o->tape, true);
    tg_rng_fill_normal(&rng, TG_F32, (size_t)tg_parameters_size(o->parameters), 0, 1, values);
    tg_rng_fill_normal(&rng, TG_F32, (size_t)numbers, 0, 1, o->cotangent);
    return true;
}

static bool hold_operation(int which, bool backward, bench_peer *peer, const convnet_settings *s)
{
    operation o;
    char kind[40], name[120], work[120];
    const int channels = (int)operations[which].channels, filters = (int)operations[which].filters,
              side = (int)operations[which].side;
    snprintf(kind, sizeof kind, "convolution %d to %d", channels, filters);
    snprintf(name, sizeof name, "%s, %d x %d, %s", filters ? kind : "max pooling", side, side,
             backward ? "with backward" : "forward");
    snprintf(work, sizeof work, "net images:%s %d %d %d %d", backward ? "backward" : "forward", BATCH, channels,
             filters, side);
    const bool fine = open_operation(&o, which, backward, s->threads) && hold(name, work, run_operation, &o, peer, s);
    if (!fine)
        say_error(name, o.tape);
    tg_tape_free(o.tape);
    tg_parameters_free(o.parameters);
    free(o.cotangent);
    return fine;
}

bool convnet_bench(const convnet_settings *s)
{
    bench_peer *peer = s->peer.python ? bench_peer_start(PEER_TORCH, s->peer.python, s->threads) : NULL;
    bool fine = peer || !s->peer.required;
    int lines = 0;
    tg_set_threads(s->threads);
    if (fine)
        printf(s->csv ? "net,us_median,torch_us_median,torch_ratio\n" : "%-44s%10s%12s%8s\n",
               "images of 28 x 28, batch 128", "us", "torch us", "ratio");
    for (int a = 0; fine && tg_activation_name((tg_activation)a); a++)
        for (int i = 0; bench_is_listed(s->activations, tg_activation_name((tg_activation)a)) && i < NETS; i++, lines++)
            fine = fine && hold_net((tg_activation)a, i, peer, s);
    for (int i = 0; fine && lines > 0 && i < 2 * OPERATIONS; i++)
        fine = hold_operation(i / 2, i % 2, peer, s);
    if (fine && lines == 0)
        fprintf(stderr, "bench: --activations has none that there is\n");
    bench_peer_stop(peer);
    return fine && lines > 0;
}
