#include "tests/bench/modes.h"

#include "tests/bench/blas.h"
#include "tests/bench/nets.h"
#include "tests/bench/race.h"

#include <math.h>
#include <stdio.h>
#include <tapegrad.h>

enum { SIDE = 28, BATCH = 128, CLASSES = 10, MOST_FILTERS = 3 };

static const int64_t nets[][MOST_FILTERS + 1] = {{16, 32}, {32, 64, 64}};

typedef struct contest {
    tg_convnet *net;
    tg_optimizer *adamw;
    tg_tape *tape;
    tg_rng training;
    float images[BATCH * SIDE * SIDE];
    int32_t labels[BATCH];
} contest;

static double run(void *context, int steps)
{
    contest *c = context;
    const double start = race_clock(1);
    for (int i = 0; i < steps; i++) {
        tg_tape_reset(c->tape);
        tg_tensor x = tg_borrow(c->tape, TG_F32, c->images, TG_SHAPE(BATCH, 1, SIDE, SIDE)),
                  labels = tg_borrow(c->tape, TG_I32, c->labels, TG_SHAPE(BATCH));
        if (!tg_backward(tg_cross_entropy(tg_convnet_forward(c->net, x, &c->training), labels)) ||
            !tg_optimizer_step(c->adamw))
            return -1;
    }
    return race_clock(1) - start;
}

static bool open_contest(contest *c, tg_activation activation, tg_norm norm, const int64_t *filters)
{
    tg_rng rng = tg_rng_seed(1);
    tg_convnet_config config = {
        .channels = 1, .height = SIDE, .width = SIDE, .outputs = CLASSES, .activation = activation, .norm = norm};
    for (int i = 0; i < MOST_FILTERS; i++)
        config.filters[i] = filters[i];
    c->training = tg_rng_seed(2);
    c->net = tg_convnet_new(&rng, &config);
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

static bool hold(tg_activation activation, tg_norm norm, const int64_t *filters, bench_peer *peer,
                 const convnet_settings *s)
{
    static contest c;
    char widths[60], name[120], work[120];
    int length = 0;
    for (int i = 0; filters[i]; i++)
        length +=
            snprintf(widths + length, sizeof widths - (size_t)length, i ? " %lld" : "%lld", (long long)filters[i]);
    const char *act = tg_activation_name(activation);
    snprintf(name, sizeof name, "%s, filters %s%s", act, widths, norm ? ", batch norm" : "");
    snprintf(work, sizeof work, "net convnet:%s:%s %d %s", act, norm ? "batch" : "none", BATCH, widths);
    bool fine = open_contest(&c, activation, norm, filters);
    race_entry entries[] = {{.run = run, .context = &c}, {.run = run_nothing}};
    if (bench_peer_prepare(peer, work))
        entries[1] = (race_entry){.run = bench_peer_run, .context = peer};
    if (fine)
        race(entries, 2, s->seconds);
    fine = fine && !isnan(entries[0].seconds);
    if (fine)
        print(name, entries, s->csv);
    else
        fprintf(stderr, "bench: convnet: %s\n", tg_tape_error(c.tape) ? tg_tape_error(c.tape) : "out of memory");
    tg_optimizer_free(c.adamw);
    tg_convnet_free(c.net);
    tg_tape_free(c.tape);
    return fine;
}

bool convnet_bench(const convnet_settings *s)
{
    bench_peer *peer = s->peer.python ? bench_peer_start(PEER_TORCH, s->peer.python, 1) : NULL;
    bool fine = peer || !s->peer.required;
    int lines = 0;
    tg_set_threads(1);
    if (fine)
        printf(s->csv ? "net,us_median,torch_us_median,torch_ratio\n" : "%-44s%10s%12s%8s\n", "ConvNet, batch 128",
               "us", "torch us", "ratio");
    for (int a = 0; fine && tg_activation_name((tg_activation)a); a++)
        for (size_t i = 0; bench_is_listed(s->activations, tg_activation_name((tg_activation)a)) && i < 4; i++, lines++)
            fine = fine && hold((tg_activation)a, i % 2 ? TG_NORM_BATCH : 0, nets[i / 2], peer, s);
    if (fine && lines == 0)
        fprintf(stderr, "bench: --activations has none that there is\n");
    bench_peer_stop(peer);
    return fine && lines > 0;
}
