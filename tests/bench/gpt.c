#include "tests/bench/modes.h"

#include "tests/bench/blas.h"
#include "tests/bench/race.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { LAYERS = 4, HEADS = 4, WIDTH = 64, CONTEXT = 64, TOKENS = GPT_BENCH_TOKENS, LETTERS = 65 };

typedef struct contest {
    tg_transformer *gpt;
    tg_optimizer *adamw;
    tg_tape *tape;
    int threads;
    int64_t context, batch;
    int32_t ids[TOKENS], next[TOKENS];
} contest;

static bool step(contest *c)
{
    tg_tape_reset(c->tape);
    tg_tensor ids = tg_borrow(c->tape, TG_I32, c->ids, TG_SHAPE(c->batch, c->context)),
              next = tg_borrow(c->tape, TG_I32, c->next, TG_SHAPE(c->batch, c->context));
    return tg_backward(tg_cross_entropy(tg_transformer_forward(c->gpt, ids, NULL), next)) &&
           tg_optimizer_step(c->adamw);
}

static double run(void *context, int steps)
{
    contest *c = context;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++)
        if (!step(c))
            return -1;
    return race_clock(c->threads) - start;
}

static double run_nothing(void *context, int steps)
{
    (void)context, (void)steps;
    return -1;
}

/* Both optimisers clip, and move so little that the numbers are practically equal in every step. */
static bool open_contest(contest *c, tg_activation activation, int64_t context, int threads)
{
    tg_rng rng = tg_rng_seed(1);
    tg_transformer_config config = {
        .vocabulary = LETTERS, .context = context, .layers = LAYERS, .block = tg_block_gpt(WIDTH, HEADS), .tied = true};
    config.block.activation = activation;
    *c = (contest){.threads = threads,
                   .context = context,
                   .batch = TOKENS / context,
                   .tape = tg_tape_new(),
                   .gpt = tg_transformer_new(&rng, &config)};
    tg_tape_save_memory(c->tape, true);
    c->adamw = tg_optimizer_new(tg_transformer_parameters(c->gpt),
                                &(tg_optimizer_config){.lr = 1e-6, .weight_decay = 0.1, .clip_norm = 1});
    for (int i = 0; i < TOKENS; i++) {
        c->ids[i] = (int32_t)tg_rng_below(&rng, LETTERS);
        c->next[i] = (int32_t)tg_rng_below(&rng, LETTERS);
    }
    return c->tape && c->gpt && c->adamw;
}

bool gpt_memory(tg_activation activation, int steps, bench_memory *took)
{
    static contest c;
    bool fine = open_contest(&c, activation, CONTEXT, 1);
    for (int i = 0; fine && i < steps; i++)
        fine = step(&c);
    if (fine)
        *took = (bench_memory){4 * tg_parameters_size(tg_transformer_parameters(c.gpt)), tg_tape_count(c.tape)};
    return fine;
}

/* The hidden width of a block's feed-forward layer: the output rows of its first matrix, or of its gate. */
static int64_t hidden_width(const contest *c)
{
    static const char *const names[] = {"layers.0.mlp.gate_proj.weight", "layers.0.linear1.weight"};
    for (int i = 0; i < 2; i++) {
        const tg_parameter *p = tg_parameters_find(tg_transformer_parameters(c->gpt), names[i]);
        if (p)
            return p->shape.dim[0];
    }
    return 0;
}

static void print_peer(const race_entry *peer, bool csv)
{
    if (isnan(peer->seconds))
        printf(csv ? ",," : "%12s%8s", csv ? "" : "-", "-");
    else
        printf(csv ? ",%.1f,%.3f" : "%12.0f%8.2f", 1e6 * peer->seconds, peer->ratio);
}

static bool hold(tg_activation activation, int64_t context, const gpt_settings *s)
{
    static contest c;
    const char *name = tg_activation_name(activation);
    char work[128];
    bool fine = open_contest(&c, activation, context, s->threads);
    bench_peer *peers[2] = {NULL, NULL};
    race_entry entries[3] = {{.run = run, .context = &c}};
    snprintf(work, sizeof work, "net gpt:%s %d %d %d %d %d %d %lld", name, (int)c.batch, LAYERS, HEADS, WIDTH,
             (int)context, LETTERS, (long long)hidden_width(&c));
    for (int i = 0; fine && i < 2; i++) {
        if (s->peers[i].python)
            peers[i] = bench_peer_start((peer_kind)(PEER_TORCH + i), s->peers[i].python, s->threads);
        const bool prepared = bench_peer_prepare(peers[i], work);
        entries[1 + i] = (race_entry){.run = prepared ? bench_peer_run : run_nothing, .context = peers[i]};
        fine = prepared || !s->peers[i].required;
    }
    if (fine)
        race(entries, 3, s->seconds);
    const int64_t before = wrapped_memory_count();
    const int steps = s->seconds > 0 ? 10 : 1;
    fine = fine && run(&c, steps) >= 0;
    const double allocations = (double)(wrapped_memory_count() - before) / steps;
    if (fine) {
        printf(s->csv ? "%s,%d,%lld,%.1f,%.0f,%g" : "%-12s%4d%8lld%10.0f%12.0f%8g", name, s->threads,
               (long long)context, 1e6 * entries[0].seconds, (double)(c.batch * context) / entries[0].seconds,
               allocations);
        print_peer(&entries[1], s->csv);
        print_peer(&entries[2], s->csv);
        putchar('\n');
    } else
        fprintf(stderr, "bench: gpt: %s\n",
                tg_tape_error(c.tape) ? tg_tape_error(c.tape) : "out of memory, or no peer");
    for (int i = 0; i < 2; i++)
        bench_peer_stop(peers[i]);
    tg_optimizer_free(c.adamw);
    tg_transformer_free(c.gpt);
    tg_tape_free(c.tape);
    return fine;
}

enum { MOST_ACTIVATIONS = 32 };

/* The number of activations in the list; -1, with a message, if one is unknown or there are too many. */
static int read_activations(const char *list, tg_activation activations[MOST_ACTIVATIONS])
{
    int count = 0;
    while (*list) {
        char name[40];
        const size_t length = strcspn(list, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, list);
        list += length + (list[length] == ',');
        if (count == MOST_ACTIVATIONS || !tg_activation_from_name(name, &activations[count++])) {
            fprintf(stderr, "bench: --activations: there is no '%s', or there are too many\n", name);
            return -1;
        }
    }
    return count;
}

bool gpt_bench(const gpt_settings *s)
{
    tg_activation activations[MOST_ACTIVATIONS];
    const int count = read_activations(s->activations, activations);
    if (count < 0)
        return false;
    bench_blas_describe(s->csv ? stderr : stdout);
    tg_set_threads(s->threads);
    if (s->csv)
        puts("activation,threads,context,us_median,tokens_per_second,allocations_per_step,torch_us_median,torch_ratio,"
             "torch_"
             "compiled_us_median,"
             "torch_compiled_ratio");
    else
        printf("%-12s%4s%8s%10s%12s%8s%12s%8s%12s%8s\n", "GPT", "thr", "context", "us", "tokens/s", "allocs",
               "torch us", "ratio", "compiled us", "ratio");
    bool fine = true;
    for (int i = 0; fine && i < count; i++)
        for (const char *at = s->contexts; fine && *at; at += strcspn(at, ","), at += *at == ',')
            fine = hold(activations[i], atoll(at), s);
    return fine;
}
