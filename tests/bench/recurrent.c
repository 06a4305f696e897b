#include "tests/bench/modes.h"

#include "tests/bench/nets.h"
#include "tests/bench/race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { LETTERS = 65, MOST_IDS = 32 * 200 };

/* Models of text, without an embedding narrower than the state. PyTorch multiplies it for each position, ours once for
 * each letter (nn/models/char_rnn.h). */
static const struct {
    int width, positions;
} sizes[] = {{64, 50}, {64, 200}, {256, 50}, {256, 200}};
static const int batches[] = {1, 32};
enum { SIZES = sizeof sizes / sizeof *sizes, BATCHES = sizeof batches / sizeof *batches };

typedef struct contest {
    tg_char_rnn *net;
    tg_optimizer *adamw;
    tg_tape *tape;
    int threads, positions, batch;
    int32_t ids[MOST_IDS], next[MOST_IDS];
} contest;

static double run(void *context, int steps)
{
    contest *c = context;
    const double start = race_clock(c->threads);
    for (int i = 0; i < steps; i++) {
        tg_tape_reset(c->tape);
        tg_tensor ids = tg_borrow(c->tape, TG_I32, c->ids, TG_SHAPE(c->batch, c->positions)),
                  next = tg_borrow(c->tape, TG_I32, c->next, TG_SHAPE(c->batch, c->positions));
        if (!tg_backward(tg_cross_entropy(tg_char_rnn_forward(c->net, ids, NULL), next)) ||
            !tg_optimizer_step(c->adamw))
            return -1;
    }
    return race_clock(c->threads) - start;
}

static double run_nothing(void *context, int steps)
{
    (void)context, (void)steps;
    return -1;
}

static bool open_contest(contest *c, tg_cell cell, int size, int batch, int threads)
{
    tg_rng rng = tg_rng_seed(1);
    const int width = sizes[size].width;
    *c = (contest){.threads = threads, .positions = sizes[size].positions, .batch = batch, .tape = tg_tape_new()};
    c->net = tg_char_rnn_new(
        &rng, &(tg_char_rnn_config){.vocabulary = LETTERS, .cell = cell, .embedding = width, .width = width});
    c->adamw = tg_optimizer_new(tg_model_parameters(c->net), &(tg_optimizer_config){.kind = TG_ADAMW, .lr = 1e-5});
    tg_tape_save_memory(c->tape, true);
    for (int i = 0; i < batch * c->positions; i++) {
        c->ids[i] = (int32_t)tg_rng_below(&rng, LETTERS);
        c->next[i] = (int32_t)tg_rng_below(&rng, LETTERS);
    }
    return c->net && c->adamw && c->tape;
}

static void print(const char *name, const race_entry *entries, double tape, bool csv)
{
    printf(csv ? "\"%s\",%.1f,%.1f" : "%-28s%10.0f%9.1f", name, 1e6 * entries[0].seconds, tape);
    if (isnan(entries[1].seconds))
        printf(csv ? ",,\n" : "%12s%8s\n", "-", "-");
    else
        printf(csv ? ",%.1f,%.3f\n" : "%12.0f%8.2f\n", 1e6 * entries[1].seconds, entries[1].ratio);
}

static bool hold(tg_cell cell, int size, int batch, bench_peer *peer, const recurrent_settings *s)
{
    static contest c;
    char name[80], work[120];
    race_entry entries[] = {{.run = run, .context = &c}, {.run = run_nothing}};
    snprintf(name, sizeof name, "%s %d x %d, batch %d", tg_cell_name(cell), sizes[size].width, sizes[size].positions,
             batch);
    snprintf(work, sizeof work, "net recurrent:%s %d %d %d %d", tg_cell_name(cell), batch, sizes[size].positions,
             sizes[size].width, LETTERS);
    const bool fine = open_contest(&c, cell, size, batch, s->threads);
    if (fine && bench_peer_prepare(peer, work))
        entries[1] = (race_entry){.run = bench_peer_run, .context = peer};
    if (fine)
        race(entries, 2, s->seconds);
    if (fine && !isnan(entries[0].seconds))
        print(name, entries, (double)tg_tape_count(c.tape).bytes_held / 1e6, s->csv);
    else
        fprintf(stderr, "bench: %s: %s\n", name, tg_tape_error(c.tape) ? tg_tape_error(c.tape) : "out of memory");
    tg_optimizer_free(c.adamw);
    tg_model_free(c.net);
    tg_tape_free(c.tape);
    return fine && !isnan(entries[0].seconds);
}

bool recurrent_bench(const recurrent_settings *s)
{
    bench_peer *peer = s->peer.python ? bench_peer_start(PEER_TORCH, s->peer.python, s->threads) : NULL;
    bool fine = peer || !s->peer.required;
    int lines = 0;
    const bool all = strcmp(s->cells, "all") == 0;
    tg_set_threads(s->threads);
    if (fine)
        printf(s->csv ? "net,us_median,tape_mb,torch_us_median,torch_ratio\n" : "%-28s%10s%9s%12s%8s\n",
               "width x positions", "us", "tape MB", "torch us", "ratio");
    for (tg_cell cell = TG_RNN; tg_cell_name(cell); cell++)
        for (int i = 0; (all || bench_is_listed(s->cells, tg_cell_name(cell))) && i < SIZES * BATCHES; i++, lines++)
            fine = fine && hold(cell, i % SIZES, batches[i / SIZES], peer, s);
    if (fine && lines == 0)
        fprintf(stderr, "bench: --only has no cell that there is\n");
    bench_peer_stop(peer);
    return fine && lines > 0;
}
