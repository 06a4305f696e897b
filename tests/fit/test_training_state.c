/* A run that is stopped and resumed is byte-identical to one that was never stopped. */
#include "tests/support/optimizers.h"
#include "tests/support/temporary_files.h"
#include "tests/support/tensors.h"
#include "tests/support/wrapped_memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

Suite *training_state_suite(void);

static tg_error error;

typedef struct run {
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_update_state kept;
    tg_rng dropout, data;
    tg_training_state state;
} run;

static void begin(run *r, tg_optimizer_kind kind, tg_norm norm)
{
    tg_rng rng = tg_rng_seed(7);
    *r = (run){.dropout = tg_rng_stream(&rng, "dropout"), .data = tg_rng_stream(&rng, "data")};
    r->net =
        tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 3, .hidden = {8, 5}, .outputs = 2, .dropout = 0.25, .norm = norm});
    const tg_schedule cosine = {.kind = TG_WARMUP_COSINE, .warmup = 3, .steps = 20};
    r->optimizer = tg_optimizer_new(
        tg_mlp_parameters(r->net),
        &(tg_optimizer_config){.kind = kind, .lr = 0.01, .momentum = 0.5, .weight_decay = 0.1, .schedule = cosine});
    ck_assert(r->net && r->optimizer);
    r->kept = tg_optimizer_state(r->optimizer);
    r->state = (tg_training_state){
        .parameters = tg_mlp_parameters(r->net), .update = &r->kept, .rng = {&r->dropout, &r->data}};
}

static void end(run *r)
{
    tg_optimizer_free(r->optimizer);
    tg_mlp_free(r->net);
}

/* Steps on rows that the run draws by itself. */
static void train(run *r, int steps)
{
    for (int step = 0; step < steps; step++, r->state.position++) {
        float x[12], y[8];
        for (int i = 0; i < 12; i++)
            x[i] = (float)tg_rng_normal(&r->data);
        for (int i = 0; i < 8; i++)
            y[i] = x[i] * x[i + 2];
        tg_tape_reset(tape);
        tg_tensor output = tg_mlp_forward_with(r->net, tg_borrow(tape, TG_F32, x, TG_SHAPE(4, 3)), &r->dropout, NULL);
        ck_assert(tg_backward(tg_mse(output, tg_borrow(tape, TG_F32, y, TG_SHAPE(4, 2)))));
        ck_assert(tg_optimizer_step(r->optimizer));
    }
}

static bool save(run *r, const char *path)
{
    r->kept = tg_optimizer_state(r->optimizer);
    return tg_training_state_save(&r->state, path, &(tg_metadata){"activation", "gelu_exact"}, 1, &error);
}

static bool load(run *r, const char *path)
{
    return tg_training_state_load(&r->state, path, &error) && tg_optimizer_restore(r->optimizer, &r->kept);
}

static void assert_same(const run *a, const run *b)
{
    const tg_parameters *p = a->state.parameters, *q = b->state.parameters;
    ck_assert_mem_eq(tg_parameters_values(p), tg_parameters_values(q), (size_t)tg_parameters_size(p) * sizeof(float));
    ck_assert_int_eq(a->state.position, b->state.position);
    ck_assert_mem_eq(&a->dropout, &b->dropout, sizeof a->dropout);
    ck_assert_double_eq(tg_optimizer_rate(a->optimizer), tg_optimizer_rate(b->optimizer));
}

START_TEST(stopped_and_resumed_is_never_stopped)
{
    const tg_norm norm = _i % 2 ? TG_NORM_BATCH : TG_NORM_NONE;
    const tg_optimizer_kind kind = (tg_optimizer_kind)(_i / 2);
    run whole, half, rest;
    begin(&whole, kind, norm);
    train(&whole, 12);
    begin(&half, kind, norm);
    train(&half, 6);
    ck_assert_msg(save(&half, temporary_path("run")), "%s", error.text);
    begin(&rest, kind, norm);
    train(&rest, 2); /* and forgotten, as is a gradient of which the step did not come */
    tg_tape_reset(tape);
    ck_assert(tg_backward(tg_mean(tg_mlp_forward(rest.net, drawn(TG_F32, TG_SHAPE(4, 3))))));
    ck_assert_msg(load(&rest, temporary_path("run")), "%s", error.text);
    assert_same(&half, &rest);
    train(&rest, 6);
    assert_same(&whole, &rest);
    train(&half, 6); /* saving changed nothing */
    assert_same(&whole, &half);
    end(&whole);
    end(&half);
    end(&rest);
}
END_TEST

START_TEST(the_file_of_another_run_is_refused_and_changes_nothing)
{
    run adam, twin, sgd, wider;
    begin(&adam, TG_ADAMW, TG_NORM_NONE);
    begin(&twin, TG_ADAMW, TG_NORM_NONE);
    begin(&sgd, TG_SGD, TG_NORM_NONE);
    begin(&wider, TG_ADAMW, TG_NORM_LAYER);
    train(&sgd, 3);
    train(&wider, 3);
    ck_assert(save(&sgd, temporary_path("sgd")) && save(&wider, temporary_path("wider")));
    ck_assert(!load(&adam, temporary_path("sgd")));
    ck_assert_ptr_nonnull(strstr(error.text, "it keeps the state of sgd, and this run's optimiser is adamw"));
    ck_assert(!load(&wider, temporary_path("sgd")));
    run more = wider;
    more.state.rng[2] = &more.data;
    ck_assert(!tg_training_state_load(&more.state, temporary_path("wider"), &error));
    ck_assert_ptr_nonnull(strstr(error.text, "'training.rng.2'"));
    more = wider;
    more.state.ema = tg_ema_new(more.state.parameters, &(tg_ema_config){.decay = 0.9});
    ck_assert(!tg_training_state_load(&more.state, temporary_path("wider"), &error));
    ck_assert_ptr_nonnull(strstr(error.text, "'training.ema'"));
    tg_ema_free(more.state.ema);
    more = adam;
    more.state.update = NULL; /* a file of weights and generators alone */
    ck_assert(tg_training_state_save(&more.state, temporary_path("alone"), NULL, 0, &error));
    ck_assert(!load(&adam, temporary_path("alone")));
    ck_assert_ptr_nonnull(strstr(error.text, "'training.optimizer'"));
    more = adam;
    more.state.parameters = tg_mlp_parameters(wider.net);
    ck_assert(save(&adam, temporary_path("adam")));
    ck_assert(!tg_training_state_load(&more.state, temporary_path("adam"), &error));
    ck_assert_ptr_nonnull(strstr(error.text, "belongs to another set"));
    more = wider;
    ck_assert(!tg_training_state_load(&more.state, temporary_path("adam"), &error));
    ck_assert_ptr_nonnull(strstr(error.text, "tensor layers.0.norm.weight is missing"));
    ck_assert(!load(&adam, temporary_path("wider"))); /* which has all parameters of the smaller model */
    ck_assert_ptr_nonnull(strstr(error.text, "it has 30 tensors, and this run has 18"));
    assert_same(&adam, &twin);
    const tg_load_options weights = {.allow_unknown = true};
    ck_assert(tg_parameters_load(tg_mlp_parameters(adam.net), temporary_path("sgd"), &weights, &error));
    end(&adam);
    end(&twin);
    end(&sgd);
    end(&wider);
}
END_TEST

/* What no run writes, and what would make the weights NaN in the next step, without an error. */
START_TEST(powers_that_are_no_numbers_are_refused)
{
    static const double wrong[] = {NAN, INFINITY, -INFINITY};
    run r, twin;
    begin(&r, TG_ADAMW, TG_NORM_NONE);
    begin(&twin, TG_ADAMW, TG_NORM_NONE);
    for (int i = 0; i < 6; i++) {
        r.kept = tg_optimizer_state(r.optimizer);
        r.kept.product[i % 2] = wrong[i / 2];
        ck_assert(tg_training_state_save(&r.state, temporary_path("wrong"), NULL, 0, &error));
        ck_assert(!load(&r, temporary_path("wrong")));
        ck_assert_ptr_nonnull(strstr(error.text, "'training.optimizer'"));
    }
    assert_same(&r, &twin);
    end(&r);
    end(&twin);
}
END_TEST

/* Both keep two blocks of different meaning. A file written before the name was added is accepted as before. */
START_TEST(the_state_of_another_optimiser_is_refused)
{
    run nadam, adam, twin;
    begin(&nadam, TG_NADAM, TG_NORM_NONE);
    begin(&adam, TG_ADAMW, TG_NORM_NONE);
    begin(&twin, TG_ADAMW, TG_NORM_NONE);
    train(&nadam, 3);
    ck_assert(save(&nadam, temporary_path("nadam")));
    ck_assert(!load(&adam, temporary_path("nadam")));
    ck_assert_ptr_nonnull(strstr(error.text, "it keeps the state of nadam, and this run's optimiser is adamw"));
    assert_same(&adam, &twin);
    nadam.kept = tg_optimizer_state(nadam.optimizer);
    ck_assert(!tg_optimizer_restore(adam.optimizer, &nadam.kept));
    nadam.kept.name = NULL;
    ck_assert(tg_training_state_save(&nadam.state, temporary_path("older"), NULL, 0, &error));
    ck_assert_msg(load(&adam, temporary_path("older")), "%s", error.text);
    end(&nadam);
    end(&adam);
    end(&twin);
}
END_TEST

START_TEST(a_set_that_has_grown_since_the_optimiser_was_made_is_not_saved)
{
    run r;
    begin(&r, TG_ADAMW, TG_NORM_NONE);
    ck_assert(save(&r, temporary_path("run")));
    ck_assert_ptr_nonnull(tg_parameters_add(r.state.parameters, "more", TG_SHAPE(1000), true));
    ck_assert(!save(&r, temporary_path("grown")));
    ck_assert_ptr_nonnull(strstr(error.text, "the parameter set has grown since the optimiser was made"));
    ck_assert(!load(&r, temporary_path("run")));
    ck_assert_ptr_nonnull(strstr(error.text, "the parameter set has grown since the optimiser was made"));
    end(&r);
}
END_TEST

START_TEST(too_little_memory_changes_nothing)
{
    run r, twin;
    begin(&r, TG_ADAMW, TG_NORM_NONE);
    begin(&twin, TG_ADAMW, TG_NORM_NONE);
    char path[400];
    snprintf(path, sizeof path, "%s", temporary_path("run"));
    ck_assert(save(&r, path));
    train(&r, 2);
    train(&twin, 2);
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        const bool fine = load(&r, path);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(fine, !reached);
        if (reached)
            assert_same(&r, &twin);
        ck_assert_int_lt(nth, 30);
    }
    reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        const bool fine = save(&r, path);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(fine, !reached);
    }
    end(&r);
    end(&twin);
}
END_TEST

START_TEST(groups_have_their_own_rate_and_decay)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    const char *names[] = {"layers.0.weight", "layers.0.bias", "head.weight", "layers.1.weight"};
    for (int i = 0; i < 4; i++)
        tg_parameter_fill(tg_parameters_add(set, names[i], TG_SHAPE(1), true), 1);
    tg_optimizer *sgd = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_SGD, .lr = 0.5});
    ck_assert_int_eq(tg_optimizer_group(sgd, "layers.*.weight", 0.5, 0), 2);
    ck_assert_int_eq(tg_optimizer_group(sgd, "head*", 0, 1), 1);
    ck_assert_int_eq(tg_optimizer_group(sgd, "layers.0.bias", 1, 1), 1);
    ck_assert_int_eq(tg_optimizer_group(sgd, "nothing", 1, 1), 0);
    ck_assert_int_eq(tg_optimizer_group(sgd, "*", -1, 0), -1);
    ck_assert_int_eq(tg_optimizer_group(sgd, "*", 1, NAN), -1);
    double *gradients = tg_parameters_gradients(set);
    for (int i = 0; i < 4; i++)
        gradients[i] = 1;
    ck_assert(tg_optimizer_set_rate(sgd, 0.25) && !tg_optimizer_set_rate(sgd, 0) && !tg_optimizer_set_rate(sgd, NAN));
    ck_assert(tg_optimizer_step(sgd));
    const double *values = tg_parameters_values(set), expected[] = {1 - 0.125, 1 - 0.25 * 2, 1, 1 - 0.125};
    for (int i = 0; i < 4; i++)
        ck_assert_double_eq(values[i], expected[i]);
    tg_optimizer_free(sgd);
    tg_parameters_free(set);
}
END_TEST

START_TEST(null_is_survived)
{
    tg_training_state nothing = {0};
    ck_assert(!tg_training_state_save(NULL, "x", NULL, 0, &error));
    ck_assert(!tg_training_state_save(&nothing, "x", NULL, 0, &error));
    ck_assert(!tg_training_state_load(NULL, NULL, &error));
    ck_assert(!tg_optimizer_restore(NULL, NULL) && !tg_optimizer_set_rate(NULL, 1));
    ck_assert_int_eq(tg_optimizer_group(NULL, "*", 1, 1), -1);
    ck_assert_int_eq(tg_optimizer_state(NULL).states, 0);
}
END_TEST

static void start(void)
{
    start_tape();
    temporary_folder_make();
}

static void finish(void)
{
    temporary_folder_remove();
    finish_tape();
}

Suite *training_state_suite(void)
{
    Suite *suite = suite_create("training_state");
    TCase *tests = tcase_create("training_state");
    tcase_add_checked_fixture(tests, start, finish);
    tcase_add_loop_test(tests, stopped_and_resumed_is_never_stopped, 0, 2 * optimizers());
    tcase_add_test(tests, the_file_of_another_run_is_refused_and_changes_nothing);
    tcase_add_test(tests, powers_that_are_no_numbers_are_refused);
    tcase_add_test(tests, the_state_of_another_optimiser_is_refused);
    tcase_add_test(tests, a_set_that_has_grown_since_the_optimiser_was_made_is_not_saved);
    tcase_add_test(tests, too_little_memory_changes_nothing);
    tcase_add_test(tests, groups_have_their_own_rate_and_decay);
    tcase_add_test(tests, null_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
