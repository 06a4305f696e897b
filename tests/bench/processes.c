#include "tests/bench/modes.h"

#include "examples/programs/run/jobs.h"
#include "examples/programs/run/team.h"
#include "tests/bench/nets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 5, EPOCHS = 100000, BATCHES = 32 };
enum { LAYERS = 4, HEADS = 4, WIDTH = 128, CONTEXT = 64, BATCH = 32, LETTERS = 65 }; /* of the GPT */

/* ---- what is trained ---- */

typedef struct subject {
    tg_mlp *net;
    tg_transformer *gpt; /* one of the two */
    tg_parameters *parameters;
    int batch;
    void *input, *wanted;
    tg_fit_rows rows;
} subject;

static tg_tensor loss(void *model, const tg_tensor *batch, tg_rng *training, double *score)
{
    const subject *s = model;
    (void)score;
    tg_tensor logits = s->gpt ? tg_transformer_forward(s->gpt, batch[0], training)
                              : tg_mlp_forward_with(s->net, batch[0], training, NULL);
    return tg_cross_entropy(logits, batch[1]);
}

static bool open_gpt(subject *s, const tg_rng *rng)
{
    tg_transformer_config config = {
        .vocabulary = LETTERS, .context = CONTEXT, .layers = LAYERS, .block = tg_block_gpt(WIDTH, HEADS), .tied = true};
    s->gpt = tg_transformer_new(rng, &config);
    s->parameters = tg_transformer_parameters(s->gpt);
    s->batch = BATCH;
    s->rows = (tg_fit_rows){
        .count = BATCH * BATCHES,
        .column = {{.dtype = TG_I32, .shape = TG_SHAPE(CONTEXT)}, {.dtype = TG_I32, .shape = TG_SHAPE(CONTEXT)}}};
    return s->gpt;
}

static bool open_net(subject *s, const bench_net *net, const tg_rng *rng)
{
    const tg_mlp_config config = bench_config_of(net, TG_RELU);
    s->net = tg_mlp_new(rng, &config);
    s->parameters = tg_mlp_parameters(s->net);
    s->batch = net->batch;
    s->rows = (tg_fit_rows){.count = net->batch * BATCHES,
                            .column = {{.dtype = TG_F32, .shape = TG_SHAPE(net->inputs)}, {.dtype = TG_I32}}};
    return s->net;
}

static void *numbers(const subject *s, int column, int64_t most, tg_rng *rng)
{
    const tg_fit_column *c = &s->rows.column[column];
    const int64_t count = s->rows.count * (c->shape.rank ? tg_shape_size(&c->shape) : 1);
    void *data = calloc((size_t)count, tg_dtype_size(c->dtype));
    for (int64_t i = 0; data && i < count; i++)
        if (c->dtype == TG_F32)
            ((float *)data)[i] = (float)tg_rng_normal(rng);
        else
            ((int32_t *)data)[i] = (int32_t)tg_rng_below(rng, (uint64_t)most);
    return data;
}

static bool subject_open(subject *s, const char *name)
{
    tg_rng rng = tg_rng_seed(1);
    const bench_net *net = bench_net_find(name);
    *s = (subject){0};
    if (!(strcmp(name, "gpt") == 0 ? open_gpt(s, &rng) : net && open_net(s, net, &rng)))
        return false;
    const int64_t most = net ? net->outputs : LETTERS;
    s->rows.column[0].data = s->input = numbers(s, 0, most, &rng);
    s->rows.column[1].data = s->wanted = numbers(s, 1, most, &rng);
    return s->input && s->wanted;
}

static void subject_close(subject *s)
{
    tg_mlp_free(s->net);
    tg_transformer_free(s->gpt);
    free(s->input);
    free(s->wanted);
}

/* ---- the step ---- */

/* Seconds in which this thread has computed, or waited in a busy loop. */
static double processor_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A communicator that counts the bytes it sends and its processor time. */
typedef struct counted {
    const tg_communicator *inner;
    double sent, seconds;
} counted;

static bool send_counted(void *context, int to, const void *bytes, size_t size)
{
    counted *c = context;
    const double begin = processor_clock();
    c->sent += (double)size;
    const bool fine = c->inner->send(c->inner->context, to, bytes, size);
    c->seconds += processor_clock() - begin;
    return fine;
}

static bool receive_counted(void *context, int from, void *bytes, size_t size)
{
    counted *c = context;
    const double begin = processor_clock();
    const bool fine = c->inner->receive(c->inner->context, from, bytes, size);
    c->seconds += processor_clock() - begin;
    return fine;
}

static bool exchange_counted(void *context, int with, const void *sent, size_t sent_size, void *received,
                             size_t received_size, tg_fit_add *add)
{
    counted *c = context;
    const double begin = processor_clock();
    c->sent += (double)sent_size;
    const bool fine = c->inner->exchange(c->inner->context, with, sent, sent_size, received, received_size, add);
    c->seconds += processor_clock() - begin;
    return fine;
}

typedef struct stopwatch {
    double begin, end; /* when to end; 0: another process decides */
    int64_t warm, steps;
    double seconds;
    const counted *exchanges;
    double own, own_begin; /* processor time outside the exchanges */
} stopwatch;

static bool on_step(void *context, const tg_fit_step *now)
{
    stopwatch *w = context;
    const double time = jobs_clock(), own = processor_clock() - w->exchanges->seconds;
    if (now->step == w->warm) {
        w->begin = time;
        w->own_begin = own;
    }
    w->own = own - w->own_begin;
    w->steps = now->step - w->warm;
    w->seconds = time - w->begin;
    return now->step <= w->warm || !(w->end > 0) || w->seconds < w->end;
}

/* Seconds per step. */
typedef struct step_time {
    double all, own; /* wall-clock time; processor time outside the exchanges */
    double sent;     /* bytes */
} step_time;

/* NaN, with a message, on failure. */
static step_time time_steps(subject *s, int shards, const tg_communicator *team, double budget)
{
    tg_optimizer *adamw =
        tg_optimizer_new(s->parameters, &(tg_optimizer_config){.lr = 1e-6, .weight_decay = 0.1, .clip_norm = 1});
    counted count = {.inner = team};
    stopwatch watch = {.end = !team || team->rank == 0 ? budget : 0, .warm = 3, .exchanges = &count};
    tg_communicator counting;
    if (team)
        counting = (tg_communicator){team->rank, team->size, send_counted, receive_counted, exchange_counted, &count};
    tg_fit *fit = tg_fit_new(&(tg_fit_config){.loss = loss,
                                              .model = s,
                                              .optimizer = adamw,
                                              .train = s->rows,
                                              .batch = s->batch,
                                              .epochs = EPOCHS,
                                              .shards = shards,
                                              .communicator = team ? &counting : NULL,
                                              .on_step = on_step,
                                              .context = &watch});
    const bool fine = tg_fit_run(fit) && watch.steps > 0;
    if (!fine)
        fprintf(stderr, "bench: --mpi: %s\n", tg_fit_error(fit) ? tg_fit_error(fit) : "too short");
    tg_fit_free(fit);
    tg_optimizer_free(adamw);
    const double steps = fine ? (double)watch.steps : NAN;
    return (step_time){watch.seconds / steps, watch.own / steps, count.sent / (steps + (double)watch.warm)};
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double values[ROUNDS])
{
    qsort(values, ROUNDS, sizeof *values, ascending);
    return values[ROUNDS / 2];
}

/* ---- the table ---- */

typedef struct line {
    double one[ROUNDS], shards[ROUNDS], all[ROUNDS], ratio[ROUNDS], peer_one[ROUNDS], peer_all[ROUNDS];
    double one_own[ROUNDS], all_own[ROUNDS];
    double sent;
} line;

/* Runs the ways in turn, so that other work on the machine slows all of them alike. */
static bool measure(subject *s, const tg_communicator *team, double seconds, bench_peer *peers[2], line *l)
{
    const bool first = !team || team->rank == 0;
    const int size = team ? team->size : 1;
    for (int r = 0; r < ROUNDS; r++) {
        if (first) {
            const step_time one = time_steps(s, 1, NULL, seconds / ROUNDS);
            l->one[r] = one.all;
            l->one_own[r] = one.own;
            l->shards[r] = time_steps(s, size, NULL, seconds / ROUNDS).all;
        }
        team_meet();
        const step_time all = time_steps(s, size, team, seconds / ROUNDS);
        l->all[r] = all.all;
        l->all_own[r] = all.own;
        l->sent = all.sent;
        team_meet();
        if (!first)
            continue;
        l->ratio[r] = l->one[r] / l->all[r];
        const int steps = (int)(seconds / ROUNDS / l->one[r]) + 1;
        l->peer_one[r] = peers[0] ? bench_peer_run(peers[0], steps) / steps : NAN;
        l->peer_all[r] = peers[1] ? bench_peer_run(peers[1], steps) / steps : NAN;
    }
    return first ? !isnan(l->one[0] + l->shards[0] + l->all[0]) : !isnan(l->all[0]);
}

static void print_line(const char *name, int processes, line *l, bool csv)
{
    const double one = 1e3 * median(l->one), shards = 1e3 * median(l->shards), all = 1e3 * median(l->all),
                 peer_one = 1e3 * median(l->peer_one), peer_all = 1e3 * median(l->peer_all);
    printf(csv ? "%s,%d,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f" : "%-8s%10d%12.2f%12.2f%12.2f%10.2f%10.2f%12.2f%12.2f",
           name, processes, one, shards, all, median(l->ratio), l->sent / 1e6, 1e3 * median(l->one_own),
           1e3 * median(l->all_own));
    if (!isnan(peer_one))
        printf(csv ? ",%.3f,%.3f,%.3f" : "%12.2f%12.2f%10.2f", peer_one, peer_all, peer_one / peer_all);
    putchar('\n');
    fflush(stdout);
}

static void print_head(bool csv, bool with_peer)
{
    printf(
        csv ? "net,processes,one_ms,one_sharded_ms,all_ms,times_as_fast,sent_mb,one_own_ms,all_own_ms%s\n"
            : "net      processes      one ms  sharded ms      all ms    faster   sent MB  one own ms  all own ms%s\n",
        !with_peer ? ""
        : csv      ? ",torch_ms,torch_ddp_ms,torch_times_as_fast"
                   : "    torch ms      DDP ms    faster");
}

/* Runs PyTorch's processes while ours sleep. */
static bool prepare_peers(const char *name, const subject *s, bench_peer *peers[2])
{
    char work[128];
    const bench_net *net = bench_net_find(name);
    int used = snprintf(work, sizeof work, "net %s %d", net ? "relu" : "gpt:gelu_tanh", s->batch);
    if (!net)
        snprintf(work + used, sizeof work - (size_t)used, " %d %d %d %d %d %d", LAYERS, HEADS, WIDTH, CONTEXT, LETTERS,
                 4 * WIDTH);
    const bench_shape shape = net ? bench_shape_of(net, TG_RELU) : (bench_shape){.layers = -1};
    for (int i = 0; i <= shape.layers; i++)
        used += snprintf(work + used, sizeof work - (size_t)used, " %d", shape.width[i]);
    return bench_peer_prepare(peers[0], work) && bench_peer_prepare(peers[1], work);
}

static bool bench_net_on_all(const char *name, const processes_settings *settings, bench_peer *peers[2])
{
    const tg_communicator *team = team_communicator();
    const bool first = !team || team->rank == 0;
    subject s;
    line l = {.sent = 0};
    bool fine = subject_open(&s, name);
    if (!fine)
        fprintf(stderr, "bench: --nets: there is no '%s', or no memory\n", name);
    const bool with_peers = fine && first && settings->peer.python && prepare_peers(name, &s, peers);
    fine = team_agree(fine) &&
           measure(&s, team, settings->seconds, with_peers ? peers : (bench_peer *[2]){NULL, NULL}, &l);
    if (fine && first)
        print_line(name, team ? team->size : 1, &l, settings->csv);
    subject_close(&s);
    return fine;
}

int processes_bench(const processes_settings *settings)
{
    bench_peer *peers[2] = {NULL, NULL};
    if (!team_is_possible()) {
        fprintf(stderr, "bench: --mpi: this build has no MPI; make MPI=1 makes one that has\n");
        return 2;
    }
    team_begin();
    tg_set_threads(1);
    const tg_communicator *team = team_communicator();
    const bool first = !team || team->rank == 0;
    if (first && settings->peer.python) {
        peers[0] = bench_peer_start(PEER_TORCH_PROCESSES, settings->peer.python, 1);
        peers[1] = bench_peer_start(PEER_TORCH_PROCESSES, settings->peer.python, team ? team->size : 1);
    }
    bool fine = team_agree(!settings->peer.required || (peers[0] && peers[1]));
    if (fine && first)
        print_head(settings->csv, peers[0] && peers[1]);
    char name[40];
    for (const char *at = settings->nets; fine && *at; at += strcspn(at, ","), at += *at == ',') {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at, ","), at);
        fine = bench_net_on_all(name, settings, peers);
    }
    bench_peer_stop(peers[0]);
    bench_peer_stop(peers[1]);
    return team_end(fine ? 0 : 2);
}
