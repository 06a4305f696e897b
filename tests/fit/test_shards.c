/* Tests of shards. A step's gradient is the sum of its shards' gradients, added in a fixed tree; a hand-written loop
 * must compute the same. Several processes that divide the shards must end with the same bytes as one process. */
#include "tests/support/fit_runs.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *shards_suite(void);

enum { TRAIN = 44, ROWS = 56, INPUTS = 3, UNITS = 16 };
static float x[ROWS][INPUTS];
static int32_t label[ROWS];

static void draw_rows(void)
{
    tg_rng rng = tg_rng_seed(5);
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < INPUTS; i++)
            x[r][i] = (float)tg_rng_normal(&rng);
        label[r] = x[r][0] * x[r][1] > 0;
    }
}

static tg_tensor cross_entropy(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    const tg_tensor logits = tg_mlp_forward_with(net, batch[0], training, NULL);
    if (score)
        *score = tg_accuracy(logits, batch[1]);
    return tg_cross_entropy(logits, batch[1]);
}

typedef struct run {
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_fit_config config;
    tg_fit *fit;
} run;

/* Four epochs of 3 steps, the last one with fewer rows. */
static run begin_wide(tg_norm norm, double dropout, int shards, int units, int depth)
{
    const tg_rng rng = tg_rng_seed(2);
    run r = {.net = tg_mlp_new(&rng, &(tg_mlp_config){.init = TG_INIT_VARIANCE_PRESERVING,
                                                      .inputs = INPUTS,
                                                      .hidden = {units, depth > 1 ? units : 0},
                                                      .outputs = 2,
                                                      .norm = norm,
                                                      .dropout = dropout,
                                                      .activation = TG_GELU_EXACT})};
    r.optimizer = tg_optimizer_new(tg_mlp_parameters(r.net),
                                   &(tg_optimizer_config){.lr = 0.02, .clip_norm = 1, .weight_decay = 0.1});
    r.config = (tg_fit_config){.loss = cross_entropy,
                               .model = r.net,
                               .optimizer = r.optimizer,
                               .train = {TRAIN, {{x, TG_F32, TG_SHAPE(INPUTS)}, {label, TG_I32}}},
                               .valid = {ROWS - TRAIN, {{x[TRAIN], TG_F32, TG_SHAPE(INPUTS)}, {label + TRAIN, TG_I32}}},
                               .batch = 17,
                               .epochs = 4,
                               .least_rows = norm == TG_NORM_BATCH ? 2 : 1,
                               .shards = shards,
                               .seed = 9};
    return r;
}

static run begin(tg_norm norm, double dropout, int shards)
{
    return begin_wide(norm, dropout, shards, UNITS, 1);
}

static void end(run *r)
{
    tg_fit_free(r->fit);
    tg_optimizer_free(r->optimizer);
    tg_mlp_free(r->net);
}

static size_t values_size(const run *r)
{
    return (size_t)tg_parameters_size(tg_mlp_parameters(r->net)) * sizeof(float);
}

/* ---- the sum ---- */

/* The last row first. */
static void turn_round(void *context, int64_t epoch, tg_rng *rng, int32_t *rows, int64_t count)
{
    (void)context, (void)epoch, (void)rng;
    for (int64_t i = 0; i < count; i++)
        rows[i] = (int32_t)(count - 1 - i);
}

/* The gradient of rows first .. first + count - 1 of the order, with their mean loss weighted by `share`. */
static void gradient_of(const run *r, int first, int count, double share, float *gradient)
{
    float rows[TRAIN][INPUTS];
    int32_t labels[TRAIN];
    tg_parameters *set = tg_mlp_parameters(r->net);
    for (int i = 0; i < count; i++) {
        memcpy(rows[i], x[TRAIN - 1 - first - i], sizeof rows[i]);
        labels[i] = label[TRAIN - 1 - first - i];
    }
    tg_parameters_clear_gradients(set);
    tg_tape_reset(tape);
    const tg_tensor logits = tg_mlp_forward(r->net, tg_constant(tape, TG_F32, rows, TG_SHAPE(count, INPUTS)));
    ck_assert(tg_backward(
        tg_mul_scalar(tg_cross_entropy(logits, tg_constant(tape, TG_I32, labels, TG_SHAPE(count))), share)));
    memcpy(gradient, tg_parameters_gradients(set), values_size(r));
}

static void add_floats(float *to, const float *more, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] += more[i];
}

/* The order in which the nodes of the tree are added: ((0 + 1) + (2 + 3)) + 4. */
static const struct {
    int shards, count, sums[8][2];
} trees[] = {{2, 1, {{0, 1}}},
             {3, 2, {{0, 1}, {0, 2}}},
             {5, 4, {{0, 1}, {2, 3}, {0, 2}, {0, 4}}},
             {8, 7, {{0, 1}, {2, 3}, {0, 2}, {4, 5}, {6, 7}, {4, 6}, {0, 4}}}};

START_TEST(a_step_is_the_sum_of_its_shards_in_the_order_of_the_tree)
{
    const int shards = trees[_i].shards;
    run loop = begin(TG_NORM_LAYER, 0, shards), hand = begin(TG_NORM_LAYER, 0, shards);
    float *gradient[8];
    const size_t size = values_size(&hand), count = size / sizeof(float);
    loop.config.epochs = 1;
    loop.config.order = turn_round;
    loop.config.valid.count = 0;
    loop.fit = tg_fit_new(&loop.config);
    ck_assert_msg(tg_fit_run(loop.fit), "%s", tg_fit_error(loop.fit));
    for (int first = 0; first < TRAIN; first += 17) {
        const int rows = first + 17 < TRAIN ? 17 : TRAIN - first;
        for (int s = 0; s < shards; s++) {
            const int from = rows * s / shards, number = rows * (s + 1) / shards - from;
            gradient[s] = malloc(size);
            gradient_of(&hand, first + from, number, (double)number / rows, gradient[s]);
        }
        for (int i = 0; i < trees[_i].count; i++)
            add_floats(gradient[trees[_i].sums[i][0]], gradient[trees[_i].sums[i][1]], count);
        memcpy(tg_parameters_gradients(tg_mlp_parameters(hand.net)), gradient[0], size);
        for (int s = 0; s < shards; s++)
            free(gradient[s]);
        ck_assert(tg_optimizer_step(hand.optimizer));
    }
    ck_assert_mem_eq(tg_parameters_values(tg_mlp_parameters(loop.net)),
                     tg_parameters_values(tg_mlp_parameters(hand.net)), size);
    end(&loop);
    end(&hand);
}
END_TEST

/* The last pass of a step may have too few rows for two in each shard, as a batch norm needs. */
START_TEST(a_pass_of_few_rows_is_divided_into_fewer_shards)
{
    run r = begin(TG_NORM_BATCH, 0, 3);
    r.config.batch = TRAIN - 3;
    r.config.accumulate = 2;
    r.fit = tg_fit_new(&r.config);
    ck_assert_msg(tg_fit_run(r.fit), "%s", tg_fit_error(r.fit));
    end(&r);
}
END_TEST

/* In double precision the order of the sums changes the last digits only, so that the number of shards does not matter.
 */
START_TEST(shards_of_doubles_train_to_the_weights_of_the_whole)
{
    fit_run whole, shared;
    fit_begin(&whole, 0, TG_NORM_LAYER);
    fit_begin(&shared, 0, TG_NORM_LAYER);
    shared.config.shards = 3;
    fit_train(&whole);
    fit_train(&shared);
    const tg_parameters *set = tg_mlp_parameters(whole.net);
    const double *a = tg_parameters_values(set), *b = tg_parameters_values(tg_mlp_parameters(shared.net));
    for (int64_t i = 0; i < tg_parameters_size(set); i++)
        ck_assert_double_eq_tol(a[i], b[i], 1e-9);
    fit_end(&whole);
    fit_end(&shared);
}
END_TEST

static bool stop(void *context, const tg_fit_step *now)
{
    (void)context;
    return now->step < 1;
}

/* A step of 16 rows in two shards: the running mean moves by a tenth of the first layer's mean over all 16 rows. */
START_TEST(running_statistics_move_by_the_mean_of_the_shards)
{
    run r = begin(TG_NORM_BATCH, 0, 2);
    const tg_parameters *set = tg_mlp_parameters(r.net);
    const tg_parameter *w = tg_parameters_find(set, "layers.0.weight"), *b = tg_parameters_find(set, "layers.0.bias"),
                       *running = tg_parameters_find(set, "layers.0.norm.running_mean");
    double mean[UNITS] = {0};
    ck_assert(w && running);
    for (int row = TRAIN - 16; row < TRAIN; row++)
        for (int unit = 0; unit < UNITS; unit++) {
            double z = b ? tg_parameter_get(b, unit) : 0;
            for (int i = 0; i < INPUTS; i++)
                z += tg_parameter_get(w, unit * INPUTS + i) * (double)x[row][i];
            mean[unit] += z * 0.5 * erfc(-z / sqrt(2)) / 16; /* GELU */
        }
    r.config.order = turn_round;
    r.config.on_step = stop;
    r.config.batch = 16;
    r.fit = tg_fit_new(&r.config);
    ck_assert_msg(tg_fit_run(r.fit), "%s", tg_fit_error(r.fit));
    for (int unit = 0; unit < UNITS; unit++)
        ck_assert_double_eq_tol(tg_parameter_get(running, unit), 0.1 * mean[unit], 1e-7);
    end(&r);
}
END_TEST

START_TEST(a_callback_stops_a_run_of_one_process_with_a_communicator)
{
    const tg_communicator alone = {.size = 1};
    run r = begin(TG_NORM_NONE, 0, 1);
    r.config.communicator = &alone;
    r.config.on_step = stop;
    r.fit = tg_fit_new(&r.config);
    ck_assert_msg(tg_fit_run(r.fit), "%s", tg_fit_error(r.fit));
    ck_assert_int_eq(tg_optimizer_steps(r.optimizer), 1);
    end(&r);
}
END_TEST

/* ---- several processes ---- */

enum { MOST = 8 };

/* A socket between any two processes. */
typedef struct team {
    int rank, size, line[MOST][MOST]; /* line[a][b]: a's end of the line to b */
} team;

static bool move_bytes(int line, bool sends, char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t moved = sends ? send(line, bytes, size, MSG_NOSIGNAL) : recv(line, bytes, size, 0);
        if (moved <= 0 && !(moved < 0 && errno == EINTR))
            return false;
        bytes += moved > 0 ? moved : 0;
        size -= moved > 0 ? (size_t)moved : 0;
    }
    return true;
}

static bool send_to(void *context, int to, const void *bytes, size_t size)
{
    const team *t = context;
    return move_bytes(t->line[t->rank][to], true, (char *)(uintptr_t)bytes, size);
}

static bool receive_from(void *context, int from, void *bytes, size_t size)
{
    const team *t = context;
    return move_bytes(t->line[t->rank][from], false, bytes, size);
}

/* Calls `work` in this many processes; true if it returned true in all. */
static bool in_processes(int size, bool (*work)(const tg_communicator *c, void *context), void *context)
{
    team t = {.size = size};
    pid_t process[MOST];
    for (int a = 0; a < size; a++)
        for (int b = a + 1; b < size; b++) {
            int ends[2];
            ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
            t.line[a][b] = ends[0];
            t.line[b][a] = ends[1];
        }
    for (t.rank = 0; t.rank < size; t.rank++) {
        process[t.rank] = fork();
        if (process[t.rank] == 0) {
            const tg_communicator c = {t.rank, size, send_to, receive_from, NULL, &t};
            for (int a = 0; a < size; a++)
                for (int b = 0; b < size; b++)
                    if (a != b && a != t.rank)
                        close(t.line[a][b]);
            _exit(!work(&c, context));
        }
    }
    bool fine = true;
    for (int a = 0; a < size; a++)
        for (int b = 0; b < size; b++)
            if (a != b)
                close(t.line[a][b]);
    for (int rank = 0; rank < size; rank++) {
        int status;
        waitpid(process[rank], &status, 0);
        fine &= WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    return fine;
}

/* A run on several processes, and the final weights in each of them. */
typedef struct job {
    tg_norm norm;
    double dropout;
    int accumulate, stop_after; /* the step, 0: never */
    bool wide;                  /* enough parameters that processes share the optimiser's step, too */
    const char *folder;
    char *weights; /* [MOST][size], shared */
    size_t size;
    int rank;
} job;

static bool watch(void *context, const tg_fit_step *now)
{
    job *j = context;
    return now->step != j->stop_after || j->rank != 1; /* the second process needs it */
}

static run begin_job(const job *j)
{
    return begin_wide(j->norm, j->dropout, 8, j->wide ? 260 : UNITS, j->wide ? 2 : 1);
}

static bool train(const tg_communicator *c, void *context)
{
    job j = *(const job *)context;
    run r = begin_job(&j);
    j.rank = c->rank;
    r.config.communicator = c;
    r.config.accumulate = j.accumulate;
    r.config.folder = j.folder;
    r.config.resume = j.folder;
    r.config.on_step = watch;
    r.config.context = &j;
    r.fit = tg_fit_new(&r.config);
    const bool fine = tg_fit_run(r.fit);
    if (!fine)
        fprintf(stderr, "process %d of %d: %s\n", c->rank, c->size, tg_fit_error(r.fit));
    memcpy(j.weights + (size_t)c->rank * j.size, tg_parameters_values(tg_mlp_parameters(r.net)), j.size);
    end(&r);
    return fine;
}

static const job jobs[] = {
    {.dropout = 0.2},
    {.norm = TG_NORM_BATCH},
    {.norm = TG_NORM_BATCH, .dropout = 0.2, .accumulate = 2},
    {.norm = TG_NORM_BATCH, .dropout = 0.2, .wide = true},
};

static job job_of(int number)
{
    job j = jobs[number];
    run r = begin_job(&j);
    j.size = values_size(&r);
    end(&r);
    j.weights = mmap(NULL, MOST * j.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(j.weights != MAP_FAILED);
    return j;
}

START_TEST(any_number_of_processes_ends_with_the_same_bytes)
{
    job one = job_of(_i), many = job_of(_i);
    ck_assert(in_processes(1, train, &one));
    for (int size = 2; size <= MOST; size++) {
        ck_assert_msg(in_processes(size, train, &many), "%d processes", size);
        for (int rank = 0; rank < size; rank++)
            ck_assert_msg(memcmp(many.weights + (size_t)rank * many.size, one.weights, one.size) == 0,
                          "process %d of %d", rank, size);
    }
}
END_TEST

START_TEST(a_stopped_run_goes_on_with_another_number_of_processes)
{
    job never = job_of(2 + _i), stopped = job_of(2 + _i);
    char folder[400];
    snprintf(folder, sizeof folder, "%s", temporary_path("stopped"));
    ck_assert(in_processes(_i ? 8 : 3, train, &never));
    stopped.folder = folder;
    stopped.stop_after = 4; /* not the end of an epoch, which may be the best one */
    ck_assert(in_processes(2, train, &stopped));
    ck_assert(memcmp(stopped.weights, never.weights, never.size) != 0);
    stopped.stop_after = 0;
    ck_assert(in_processes(_i ? 4 : 5, train, &stopped));
    for (int rank = 0; rank < 4; rank++)
        ck_assert_mem_eq(stopped.weights + (size_t)rank * never.size, never.weights, never.size);
}
END_TEST

/* As MPI_Sendrecv does: both at once. Adds in pieces. */
static bool exchange_with(void *context, int with, const void *sent, size_t sent_size, void *received,
                          size_t received_size, tg_fit_add *add)
{
    enum { PIECE = 1000 };
    const team *t = context;
    char *in = add ? malloc(received_size + 1) : received;
    const bool fine = t->rank < with
                          ? send_to(context, with, sent, sent_size) && receive_from(context, with, in, received_size)
                          : receive_from(context, with, in, received_size) && send_to(context, with, sent, sent_size);
    for (size_t done = 0; add && fine && done < received_size; done += PIECE) {
        const size_t left = received_size - done;
        add((char *)received + done, in + done, left < PIECE ? left : PIECE);
    }
    if (add)
        free(in);
    return fine;
}

static bool train_with_exchange(const tg_communicator *c, void *context)
{
    tg_communicator with = *c;
    with.exchange = exchange_with;
    return train(&with, context);
}

START_TEST(a_communicator_with_an_exchange_ends_with_the_same_bytes)
{
    job one = job_of(3), many = job_of(3);
    ck_assert(in_processes(1, train, &one) && in_processes(4, train_with_exchange, &many));
    for (int rank = 0; rank < 4; rank++)
        ck_assert_mem_eq(many.weights + (size_t)rank * many.size, one.weights, one.size);
}
END_TEST

/* One process fails or ends without a message: all others end with an error. */
static tg_tensor no_loss_in_step_5(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    static int passes;
    return training && ++passes == 5 ? TG_NONE : cross_entropy(net, batch, training, score);
}

static bool train_badly(const tg_communicator *c, void *context)
{
    const char *const wanted = context;
    run r = begin(TG_NORM_LAYER, 0, 4);
    r.config.communicator = c;
    if (c->rank == 1 && strstr(wanted, "reached"))
        _exit(0);
    if (c->rank == 1)
        r.config.loss = no_loss_in_step_5;
    r.fit = tg_fit_new(&r.config);
    const bool failed = !tg_fit_run(r.fit) && !tg_fit_diverged(r.fit) &&
                        strstr(tg_fit_error(r.fit), c->rank == 1 ? "no scalar" : wanted) &&
                        tg_fit_failed_at(r.fit) == (c->rank == 1                ? TG_FIT_HERE
                                                    : strstr(wanted, "reached") ? TG_FIT_LOST
                                                                                : TG_FIT_ELSEWHERE);
    if (!failed)
        fprintf(stderr, "process %d: %s\n", c->rank, tg_fit_error(r.fit));
    end(&r);
    return failed;
}

START_TEST(all_end_where_one_fails)
{
    static char failed[] = "another process failed", lost[] = "another process cannot be reached";
    ck_assert(in_processes(3, train_badly, _i ? lost : failed));
}
END_TEST

Suite *shards_suite(void)
{
    Suite *suite = suite_create("shards");
    TCase *tests = tcase_create("shards");
    tcase_add_checked_fixture(tests, fit_suite_start, fit_suite_finish);
    tcase_add_unchecked_fixture(tests, draw_rows, NULL);
    tcase_add_test(tests, a_pass_of_few_rows_is_divided_into_fewer_shards);
    tcase_add_loop_test(tests, a_step_is_the_sum_of_its_shards_in_the_order_of_the_tree, 0,
                        sizeof trees / sizeof *trees);
    tcase_add_test(tests, shards_of_doubles_train_to_the_weights_of_the_whole);
    tcase_add_test(tests, running_statistics_move_by_the_mean_of_the_shards);
    tcase_add_test(tests, a_callback_stops_a_run_of_one_process_with_a_communicator);
    tcase_add_loop_test(tests, any_number_of_processes_ends_with_the_same_bytes, 0, sizeof jobs / sizeof *jobs);
    tcase_add_loop_test(tests, a_stopped_run_goes_on_with_another_number_of_processes, 0, 2);
    tcase_add_test(tests, a_communicator_with_an_exchange_ends_with_the_same_bytes);
    tcase_add_loop_test(tests, all_end_where_one_fails, 0, 4);
    suite_add_tcase(suite, tests);
    return suite;
}
