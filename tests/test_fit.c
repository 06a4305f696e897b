/* The training loop: its steps are those of a loop written by hand; stopped and resumed is never stopped; what it keeps and when it ends. */
#include "tests/temporary_files.h"
#include "tests/tensors.h"
#include "tests/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

Suite *fit_suite(void);

enum { ROWS = 23, VALID = 9 };

static double x[ROWS][3], y[ROWS][2];
static int32_t label[ROWS];

/* A net with all that could depend on where a run is: dropout and a batch norm. */
typedef struct run {
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_fit_config config;
    tg_fit *fit;
    char folder[400];
} run;

static tg_tensor squared_error(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    tg_tensor loss = tg_mse(tg_mlp_forward_with(net, batch[0], training, NULL), batch[1]);
    if (score)
        *score = -sqrt(tg_item(loss));
    return loss;
}

static void draw_data(void)
{
    tg_rng rng = tg_rng_seed(3);
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < 3; i++)
            x[r][i] = tg_rng_normal(&rng);
        y[r][0] = x[r][0] * x[r][1];
        y[r][1] = x[r][2];
        label[r] = x[r][0] > 0;
    }
}

static void begin(run *r, double dropout, tg_norm norm)
{
    tg_rng rng = tg_rng_seed(7);
    const tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = 3, .steps = 20};
    *r = (run){.net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 3, .hidden = {8}, .outputs = 2, .dropout = dropout, .norm = norm, .dtype = TG_F64})};
    r->optimizer = tg_optimizer_new(tg_mlp_parameters(r->net), &(tg_optimizer_config){.lr = 0.02, .clip_norm = 1, .schedule = cosine});
    r->config = (tg_fit_config){.loss = squared_error,
                                .model = r->net,
                                .optimizer = r->optimizer,
                                .train = {ROWS - VALID, {{x, TG_F64, TG_SHAPE(3)}, {y, TG_F64, TG_SHAPE(2)}}},
                                .valid = {VALID, {{x[ROWS - VALID], TG_F64, TG_SHAPE(3)}, {y[ROWS - VALID], TG_F64, TG_SHAPE(2)}}},
                                .batch = 5,
                                .epochs = 4,
                                .seed = 11};
}

static void start_run(run *r)
{
    r->fit = tg_fit_new(&r->config);
    ck_assert_msg(!tg_fit_error(r->fit), "%s", tg_fit_error(r->fit));
}

static void train(run *r)
{
    start_run(r);
    ck_assert_msg(tg_fit_run(r->fit), "%s", tg_fit_error(r->fit));
}

static void end(run *r)
{
    tg_fit_free(r->fit);
    tg_optimizer_free(r->optimizer);
    tg_mlp_free(r->net);
}

static void assert_same_weights(const run *a, const run *b)
{
    const tg_parameters *p = tg_mlp_parameters(a->net), *q = tg_mlp_parameters(b->net);
    ck_assert_mem_eq(tg_parameters_values(p), tg_parameters_values(q), (size_t)tg_parameters_size(p) * sizeof(double));
}

static void assert_same_epochs(const run *a, const run *b)
{
    ck_assert_int_eq(tg_fit_epoch_count(a->fit), tg_fit_epoch_count(b->fit));
    for (int i = 0; i < tg_fit_epoch_count(a->fit); i++) {
        const tg_fit_epoch *p = tg_fit_epoch_at(a->fit, i), *q = tg_fit_epoch_at(b->fit, i);
        ck_assert(p->epoch == q->epoch && p->step == q->step && p->best == q->best && p->rate == q->rate);
        ck_assert(p->train_loss == q->train_loss && p->valid_loss == q->valid_loss && p->valid_score == q->valid_score);
        ck_assert(p->gradient_norm == q->gradient_norm);
    }
}

/* ---- steps ---- */

/* The rows of every batch, as the loop asks for them. */
typedef struct record {
    int count, sizes[100];
    int32_t rows[100][ROWS];
} record;

static bool fill(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns)
{
    record *r = context;
    (void)rng;
    for (int64_t i = 0; i < count; i++) {
        memcpy((double *)columns[0] + 3 * i, x[rows[i]], sizeof x[0]);
        memcpy((double *)columns[1] + 2 * i, y[rows[i]], sizeof y[0]);
        r->rows[r->count][i] = rows[i];
    }
    r->sizes[r->count++] = (int)count;
    return true;
}

START_TEST(steps_are_those_of_a_loop_by_hand)
{
    static record seen;
    seen = (record){0};
    run loop, hand;
    begin(&loop, 0, TG_NORM_LAYER);
    begin(&hand, 0, TG_NORM_LAYER);
    loop.config.train.fill = fill;
    loop.config.train.context = &seen;
    loop.config.valid.count = 0;
    train(&loop);
    ck_assert_int_eq(seen.count, 4 * 3);
    double sum = 0;
    for (int b = 0; b < seen.count; b++) {
        double bx[ROWS][3], by[ROWS][2];
        for (int i = 0; i < seen.sizes[b]; i++) {
            memcpy(bx[i], x[seen.rows[b][i]], sizeof bx[0]);
            memcpy(by[i], y[seen.rows[b][i]], sizeof by[0]);
        }
        tg_tape_reset(tape);
        tg_tensor in = tg_borrow(tape, TG_F64, bx, TG_SHAPE(seen.sizes[b], 3)), out = tg_borrow(tape, TG_F64, by, TG_SHAPE(seen.sizes[b], 2));
        tg_tensor loss = tg_mse(tg_mlp_forward(hand.net, in), out);
        sum += b >= 9 ? tg_item(loss) * seen.sizes[b] / (ROWS - VALID) : 0;
        ck_assert(tg_backward(loss) && tg_optimizer_step(hand.optimizer));
    }
    assert_same_weights(&loop, &hand);
    assert_relative(tg_fit_epoch_at(loop.fit, 3)->train_loss, sum, 1e-14);
    ck_assert_int_eq(tg_fit_epoch_at(loop.fit, 3)->step, 12);
    end(&loop);
    end(&hand);
}
END_TEST

START_TEST(an_epoch_has_every_row_once_in_an_order_of_its_own)
{
    static record seen;
    seen = (record){0};
    run r;
    begin(&r, 0, TG_NORM_NONE);
    r.config.train.fill = fill;
    r.config.train.context = &seen;
    train(&r);
    int32_t order[4][ROWS - VALID];
    for (int epoch = 0, b = 0; epoch < 4; epoch++) {
        bool met[ROWS - VALID] = {false};
        int at = 0;
        for (; at < ROWS - VALID; b++)
            for (int i = 0; i < seen.sizes[b]; i++) {
                order[epoch][at++] = seen.rows[b][i];
                ck_assert(!met[seen.rows[b][i]]);
                met[seen.rows[b][i]] = true;
            }
        ck_assert_int_eq(at, ROWS - VALID);
        ck_assert(epoch == 0 || memcmp(order[epoch], order[epoch - 1], sizeof order[0]) != 0);
    }
    end(&r);
}
END_TEST

START_TEST(rows_that_do_not_fill_a_step_wait_where_that_is_wished)
{
    static record seen;
    seen = (record){0};
    run r;
    begin(&r, 0, TG_NORM_NONE);
    r.config.train.fill = fill;
    r.config.train.context = &seen;
    r.config.drop_partial = true;
    r.config.accumulate = 2;
    ck_assert_int_eq(tg_fit_steps(&r.config), 4);
    train(&r);
    ck_assert_int_eq(seen.count, 8);
    for (int b = 0; b < 8; b++)
        ck_assert_int_eq(seen.sizes[b], 5);
    ck_assert_int_eq(tg_optimizer_steps(r.optimizer), 4);
    end(&r);
}
END_TEST

START_TEST(passes_that_add_up_are_one_large_batch)
{
    run large, small;
    begin(&large, 0, TG_NORM_LAYER);
    begin(&small, 0, TG_NORM_LAYER);
    large.config.batch = 12; /* the last step of an epoch has two rows */
    small.config.batch = 4;
    small.config.accumulate = 3;
    train(&large);
    train(&small);
    const double *p = tg_parameters_values(tg_mlp_parameters(large.net)), *q = tg_parameters_values(tg_mlp_parameters(small.net));
    for (int i = 0; i < tg_parameters_size(tg_mlp_parameters(large.net)); i++)
        assert_relative(q[i], p[i], 1e-9);
    assert_relative(tg_fit_epoch_at(small.fit, 3)->train_loss, tg_fit_epoch_at(large.fit, 3)->train_loss, 1e-9);
    end(&large);
    end(&small);
}
END_TEST

static int64_t allocations_at[64];

static bool count_allocations(void *context, const tg_fit_step *now)
{
    (void)context;
    allocations_at[now->step - 1] = wrapped_memory_count();
    return true;
}

START_TEST(after_the_first_epoch_a_step_allocates_nothing)
{
    run r;
    begin(&r, 0.25, TG_NORM_BATCH);
    r.config.on_step = count_allocations;
    r.config.epochs = 6;
    train(&r);
    for (int step = 6; step < 18; step++)
        ck_assert_int_eq(allocations_at[step], allocations_at[step - 1]);
    end(&r);
}
END_TEST

/* ---- stopping and going on ---- */

static bool stop_after(void *context, const tg_fit_step *now)
{
    return now->step != *(int *)context;
}

static char *copy_of(const char *name)
{
    return strdup(temporary_text(name));
}

static void in_folder(run *r, const char *name)
{
    static const tg_metadata line = {"activation", "gelu_exact"};
    snprintf(r->folder, sizeof r->folder, "%s", temporary_path(name));
    r->config.folder = r->folder;
    r->config.metadata = &line;
    r->config.metadata_count = 1;
}

/* All bytes of two files. */
static void assert_same_files(const char *a, const char *b)
{
    FILE *one = fopen(temporary_path(a), "rb"), *other = fopen(temporary_path(b), "rb");
    ck_assert_msg(one && other, "%s, %s", a, b);
    int c, d, bytes = 0;
    do {
        c = fgetc(one);
        d = fgetc(other);
        ck_assert_msg(c == d, "%s and %s differ at byte %d", a, b, bytes);
        bytes++;
    } while (c != EOF);
    fclose(one);
    fclose(other);
}

START_TEST(stopped_at_any_step_and_resumed_is_never_stopped)
{
    run whole, half, rest;
    begin(&whole, 0.25, TG_NORM_BATCH);
    in_folder(&whole, "whole");
    train(&whole);
    int stop = _i + 1;
    begin(&half, 0.25, TG_NORM_BATCH);
    in_folder(&half, "half");
    half.config.on_step = stop_after;
    half.config.context = &stop;
    train(&half);
    ck_assert_int_eq(tg_fit_finished(half.fit), stop == 12);
    begin(&rest, 0.25, TG_NORM_BATCH);
    in_folder(&rest, "half");
    rest.config.resume = true;
    train(&rest);
    assert_same_weights(&whole, &rest);
    assert_same_epochs(&whole, &rest);
    assert_same_files("whole/last.safetensors", "half/last.safetensors");
    assert_same_files("whole/best.safetensors", "half/best.safetensors");
    ck_assert(tg_fit_run(half.fit)); /* and in the same process */
    assert_same_weights(&whole, &half);
    assert_same_epochs(&whole, &half);
    end(&whole);
    end(&half);
    end(&rest);
}
END_TEST

START_TEST(the_files_of_another_run_are_refused_in_a_line)
{
    run r, other;
    begin(&r, 0, TG_NORM_NONE);
    in_folder(&r, "run");
    train(&r);
    for (int c = 0; c < 5; c++) {
        begin(&other, 0, c == 4 ? TG_NORM_LAYER : TG_NORM_NONE);
        in_folder(&other, "run");
        other.config.resume = true;
        other.config.seed += c == 0;
        other.config.batch += c == 1;
        other.config.accumulate = c == 2 ? 2 : 1;
        other.config.epochs = c == 3 ? 2 : 4;
        other.fit = tg_fit_new(&other.config);
        static const char *const parts[] = {"seed 11, and this one has", "seed 11, and this one has", "seed 11, and this one has", "more epochs", "norm"};
        ck_assert_msg(strstr(tg_fit_error(other.fit), parts[c]) && strstr(tg_fit_error(other.fit), "run/"), "%s", tg_fit_error(other.fit));
        ck_assert(!tg_fit_run(other.fit) && !strchr(tg_fit_error(other.fit), '\n'));
        end(&other);
    }
    temporary_write("run/last.safetensors", "nonsense", 8);
    begin(&other, 0, TG_NORM_NONE);
    in_folder(&other, "run");
    other.config.resume = true;
    other.fit = tg_fit_new(&other.config);
    ck_assert_ptr_nonnull(tg_fit_error(other.fit));
    end(&other);
    end(&r);
}
END_TEST

START_TEST(a_folder_that_cannot_be_is_an_error)
{
    run r;
    begin(&r, 0, TG_NORM_NONE);
    temporary_write("file", "", 0);
    r.config.folder = temporary_path("file/folder");
    r.fit = tg_fit_new(&r.config);
    ck_assert(!tg_fit_run(r.fit));
    ck_assert_msg(strstr(tg_fit_error(r.fit), "file/folder: Not a directory"), "%s", tg_fit_error(r.fit));
    end(&r);
}
END_TEST

/* ---- which epoch is kept ---- */

/* The validation loss of each epoch as it stands here. */
typedef struct script {
    const double *loss, *score;
    int next;
    tg_parameter *parameter;
} script;

static tg_tensor scripted(void *context, const tg_tensor *batch, tg_rng *training, double *score)
{
    script *s = context;
    tg_tensor p = tg_parameter_tensor(tg_tape_of(batch[0]), s->parameter);
    if (training)
        return tg_sum(tg_add(p, tg_mul_scalar(tg_sum(batch[0]), 0)));
    *score = s->score ? s->score[s->next] : NAN;
    const double number = s->loss[s->next++];
    return tg_constant(tg_tape_of(p), TG_F64, &number, TG_SCALAR);
}

/* Trains one number, which is less by 1 after each epoch; which epoch's is left, and how many there were. */
static int kept(const double *loss, const double *score, int patience, bool by_score, int64_t *epochs)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    script s = {loss, score, 0, tg_parameters_add(set, "p", TG_SHAPE(1), false)};
    tg_optimizer *sgd = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_SGD, .lr = 1});
    tg_fit *fit = tg_fit_new(&(tg_fit_config){.loss = scripted, .model = &s, .optimizer = sgd, .train = {1, {{x, TG_F64}}}, .valid = {1, {{x, TG_F64}}},
                                              .epochs = 6, .patience = patience, .best_by_score = by_score});
    ck_assert_msg(tg_fit_run(fit), "%s", tg_fit_error(fit));
    ck_assert(tg_fit_finished(fit));
    *epochs = tg_fit_epoch_count(fit);
    const int epoch = (int)-tg_parameter_get(tg_parameters_at(set, 0), 0);
    ck_assert_int_eq(tg_fit_best(fit)->epoch, epoch);
    tg_fit_free(fit);
    tg_optimizer_free(sgd);
    tg_parameters_free(set);
    return epoch;
}

START_TEST(the_best_epochs_weights_are_left_and_patience_ends_the_run)
{
    static const double loss[] = {5, 3, 4, 3, 2, 6}, score[] = {1, 2, 9, 3, 9, 1}, broken[] = {NAN, 7, NAN, 8, 7, 7};
    int64_t epochs;
    ck_assert_int_eq(kept(loss, NULL, 0, false, &epochs), 5);
    ck_assert_int_eq(epochs, 6);
    ck_assert_int_eq(kept(loss, NULL, 2, false, &epochs), 2);
    ck_assert_int_eq(epochs, 4);
    ck_assert_int_eq(kept(loss, NULL, 3, false, &epochs), 5);
    ck_assert_int_eq(epochs, 6);
    ck_assert_int_eq(kept(loss, score, 0, true, &epochs), 3);
    ck_assert_int_eq(kept(broken, NULL, 0, false, &epochs), 2);
}
END_TEST

/* ---- evaluation ---- */

START_TEST(other_rows_are_evaluated_as_by_hand)
{
    run r;
    begin(&r, 0.25, TG_NORM_BATCH);
    train(&r);
    double loss, score;
    ck_assert(tg_fit_evaluate(r.fit, &r.config.train, &loss, &score));
    tg_tensor in = tg_borrow(tape, TG_F64, x, TG_SHAPE(ROWS - VALID, 3)), out = tg_borrow(tape, TG_F64, y, TG_SHAPE(ROWS - VALID, 2));
    assert_relative(loss, tg_item(tg_mse(tg_mlp_forward(r.net, in), out)), 1e-12);
    ck_assert(isfinite(score));
    const tg_fit_rows none = {0};
    ck_assert(!tg_fit_evaluate(r.fit, &none, &loss, NULL));
    ck_assert_ptr_nonnull(strstr(tg_fit_error(r.fit), "evaluation: the number of rows"));
    end(&r);
}
END_TEST

START_TEST(accuracy_counts_the_largest_logit)
{
    static const float logits[] = {1, 2, 0, 3, -1, -2, 0, 0, 5, 7, 7, 0};
    static const int32_t labels[] = {1, 0, 0, 0}, masked[] = {1, TG_NO_LABEL, 0, TG_NO_LABEL};
    tg_tensor l = tg_constant(tape, TG_F32, logits, TG_SHAPE(2, 2, 3)), classes = tg_constant(tape, TG_I32, labels, TG_SHAPE(2, 2));
    ck_assert_double_eq(tg_accuracy(l, classes), 0.75);
    ck_assert_double_eq(tg_accuracy(l, tg_constant(tape, TG_I32, masked, TG_SHAPE(2, 2))), 0.5);
    ck_assert_double_nan(tg_accuracy(l, tg_constant(tape, TG_I32, labels, TG_SHAPE(3))));
    ck_assert_double_nan(tg_accuracy(TG_NONE, classes));
    ck_assert_double_nan(tg_accuracy(l, TG_NONE));
}
END_TEST

/* ---- what can go wrong ---- */

static bool gives_up(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns)
{
    (void)context, (void)rows, (void)count, (void)rng, (void)columns;
    return false;
}

static tg_tensor no_number(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)score;
    return tg_mul_scalar(tg_mse(tg_mlp_forward_with(net, batch[0], training, NULL), batch[1]), INFINITY);
}

static tg_tensor no_scalar(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)score;
    return tg_mlp_forward_with(net, batch[0], training, NULL);
}

static tg_tensor no_tensor(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)net, (void)batch, (void)training, (void)score;
    return TG_NONE;
}

static tg_tensor no_shapes(void *net, const tg_tensor *batch, tg_rng *training, double *score)
{
    (void)net, (void)training, (void)score;
    return tg_mse(batch[0], batch[1]);
}

static const char *error_of(void (*spoil)(tg_fit_config *))
{
    static char error[1000];
    run r;
    begin(&r, 0, TG_NORM_NONE);
    spoil(&r.config);
    r.fit = tg_fit_new(&r.config);
    ck_assert(!tg_fit_run(r.fit) && tg_fit_error(r.fit) && !tg_fit_run(r.fit));
    snprintf(error, sizeof error, "%s", tg_fit_error(r.fit));
    end(&r);
    return error;
}

#define SPOILS(name, statement)            \
    static void name(tg_fit_config *c)     \
    {                                      \
        statement;                         \
    }
SPOILS(loss_missing, c->loss = NULL)
SPOILS(optimizer_missing, c->optimizer = NULL)
SPOILS(batch_negative, c->batch = -1)
SPOILS(passes_negative, c->accumulate = -1)
SPOILS(epochs_many, c->epochs = 2000000)
SPOILS(patience_negative, c->patience = -1)
SPOILS(no_rows, c->train.count = 0)
SPOILS(valid_rows_negative, c->valid.count = -1)
SPOILS(no_columns, c->train.column[0].data = NULL)
SPOILS(column_without_data, c->train.columns = 3)
SPOILS(type_unknown, c->train.column[1].dtype = (tg_dtype)9)
SPOILS(shape_wrong, c->train.column[1].shape = TG_SHAPE(-2))
SPOILS(too_few_rows, (c->drop_partial = true, c->batch = 50))
SPOILS(metadata_missing, c->metadata_count = 1)
SPOILS(fill_gives_up, c->train.fill = gives_up)
SPOILS(valid_fill_gives_up, c->valid.fill = gives_up)
SPOILS(loss_infinite, c->loss = no_number)
SPOILS(loss_no_scalar, c->loss = no_scalar)
SPOILS(loss_inert, c->loss = no_tensor)
SPOILS(shapes_differ, c->loss = no_shapes)

START_TEST(every_mistake_is_told)
{
    static const struct {
        void (*spoil)(tg_fit_config *);
        const char *part;
    } mistakes[] = {{loss_missing, "no loss function"},
                    {optimizer_missing, "no optimiser"},
                    {batch_negative, "the batch must have"},
                    {passes_negative, "a step must have"},
                    {epochs_many, "at most a million"},
                    {patience_negative, "patience"},
                    {no_rows, "number of rows"},
                    {valid_rows_negative, "number of rows"},
                    {no_columns, "one to four columns"},
                    {column_without_data, "no data"},
                    {type_unknown, "no known type"},
                    {shape_wrong, "shape of a column"},
                    {too_few_rows, "fewer training rows"},
                    {metadata_missing, "metadata"},
                    {fill_gives_up, "the batch of step 1 could not be made"},
                    {valid_fill_gives_up, "evaluation: batch 1 could not be made"},
                    {loss_infinite, "epoch 1, step 1: the loss is infinite"},
                    {loss_no_scalar, "epoch 1, step 1: the loss is no scalar"},
                    {loss_inert, "epoch 1, step 1: the loss is no scalar"},
                    {shapes_differ, "epoch 1, step 1: mse"}};
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++)
        ck_assert_msg(strstr(error_of(mistakes[i].spoil), mistakes[i].part), "%s: %s", mistakes[i].part, error_of(mistakes[i].spoil));
}
END_TEST

START_TEST(too_little_memory_is_an_error)
{
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        run r;
        begin(&r, 0.25, TG_NORM_BATCH);
        in_folder(&r, "memory");
        r.config.epochs = 2;
        wrapped_memory_fail_after(nth);
        r.fit = tg_fit_new(&r.config);
        const bool fine = tg_fit_run(r.fit);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(fine, !reached);
        ck_assert(fine || tg_fit_error(r.fit));
        end(&r);
        ck_assert_int_lt(nth, 2000);
    }
}
END_TEST

START_TEST(null_is_survived)
{
    ck_assert_ptr_null(tg_fit_new(NULL));
    ck_assert(tg_fit_error(NULL) && !tg_fit_run(NULL) && !tg_fit_finished(NULL) && !tg_fit_evaluate(NULL, NULL, NULL, NULL));
    ck_assert(tg_fit_epoch_count(NULL) == 0 && !tg_fit_epoch_at(NULL, 0) && !tg_fit_best(NULL) && !tg_fit_write_curves(NULL, "x"));
    ck_assert(tg_fit_steps(NULL) == 0 && !tg_optimizer_parameters(NULL));
    tg_fit_free(NULL);
}
END_TEST

/* ---- curves ---- */

START_TEST(curves_are_a_table_and_a_script_that_draws_it)
{
    run r;
    begin(&r, 0, TG_NORM_NONE);
    train(&r);
    mkdir(temporary_path("it's"), 0777);
    ck_assert(tg_fit_write_curves(r.fit, temporary_path("it's/cur've")));
    char *table = copy_of("it's/cur've.csv"), expected[300], command[1000];
    ck_assert_ptr_eq(strstr(table, "epoch,step,rate,train_loss,valid_loss,valid_score,gradient_norm,best\n1,3,"), table);
    const tg_fit_epoch *last = tg_fit_epoch_at(r.fit, 3);
    snprintf(expected, sizeof expected, "\n4,12,%.9g,%.9g,%.9g,%.9g,%.9g,%d\n", last->rate, last->train_loss, last->valid_loss, last->valid_score,
             last->gradient_norm, last->best);
    ck_assert_msg(strstr(table, expected), "no %s in %s", expected, table);
    free(table);
    ck_assert(!tg_fit_write_curves(r.fit, temporary_path("missing/curves")));
    ck_assert_ptr_nonnull(strstr(tg_fit_error(r.fit), "missing/curves.csv: No such file"));
    end(&r);
    if (system("gnuplot --version >/dev/null 2>&1") == 0) {
        snprintf(command, sizeof command, "cd \"%s/it's\" && gnuplot \"cur've.gp\" >/dev/null 2>&1", temporary_folder());
        ck_assert_int_eq(system(command), 0);
        ck_assert_ptr_nonnull(strstr(temporary_text("it's/cur've.png") + 1, "PNG"));
    }
}
END_TEST

static void start(void)
{
    start_tape();
    temporary_folder_make();
    draw_data();
}

static void finish(void)
{
    temporary_folder_remove();
    finish_tape();
}

Suite *fit_suite(void)
{
    Suite *suite = suite_create("fit");
    TCase *tests = tcase_create("fit");
    tcase_add_checked_fixture(tests, start, finish);
    tcase_add_test(tests, steps_are_those_of_a_loop_by_hand);
    tcase_add_test(tests, an_epoch_has_every_row_once_in_an_order_of_its_own);
    tcase_add_test(tests, rows_that_do_not_fill_a_step_wait_where_that_is_wished);
    tcase_add_test(tests, passes_that_add_up_are_one_large_batch);
    tcase_add_test(tests, after_the_first_epoch_a_step_allocates_nothing);
    tcase_add_loop_test(tests, stopped_at_any_step_and_resumed_is_never_stopped, 0, 12);
    tcase_add_test(tests, the_files_of_another_run_are_refused_in_a_line);
    tcase_add_test(tests, a_folder_that_cannot_be_is_an_error);
    tcase_add_test(tests, the_best_epochs_weights_are_left_and_patience_ends_the_run);
    tcase_add_test(tests, other_rows_are_evaluated_as_by_hand);
    tcase_add_test(tests, accuracy_counts_the_largest_logit);
    tcase_add_test(tests, every_mistake_is_told);
    tcase_add_test(tests, too_little_memory_is_an_error);
    tcase_add_test(tests, null_is_survived);
    tcase_add_test(tests, curves_are_a_table_and_a_script_that_draws_it);
    suite_add_tcase(suite, tests);
    return suite;
}
