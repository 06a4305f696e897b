/* The benchmark compares equal work: the hand-written step computes the same as the tape, recorded or replayed, and the
 * timed kernel calls are the tape's own. */
#include "tests/bench/floor.h"
#include "tests/bench/kernel_work.h"
#include "tests/bench/step.h"

#include <check.h>
#include <math.h>
#include <string.h>

static const tg_activation activations[] = {TG_RELU, TG_GELU_EXACT, TG_SWIGLU};
enum { ACTIVATIONS = 3, STEPS = 20 };
static const double RATE = 2e-4;

static const bench_net *net_with(const char *name, bench_shape *shape, int activation)
{
    const bench_net *net = bench_net_find(name);
    *shape = bench_shape_of(net, activations[activation]);
    return net;
}

static void compare_with_floor(const char *name, int activation)
{
    bench_shape shape;
    const bench_net *net = net_with(name, &shape, activation);
    bench_batch *batch = bench_batch_new(&shape, 7);
    tape_step *tape = tape_step_new(net, shape.activation, RATE);
    floor_net *by_hand = floor_new(&shape, RATE, tg_parameters_values(tape_step_parameters(tape)));
    double first = 0, last = 0;
    for (int step = 0; step < STEPS; step++) {
        last = tape_step_run(tape, batch->inputs, batch->labels);
        first = step == 0 ? last : first;
        ck_assert_double_eq_tol(floor_step(by_hand, batch->inputs, batch->labels), last, 1e-5 * last);
    }
    ck_assert_double_lt(last, first);
    bench_batch_free(batch);
    tape_step_free(tape);
    floor_free(by_hand);
}

START_TEST(the_floor_has_the_losses_of_the_tape)
{
    compare_with_floor("toy", _i);
    compare_with_floor("small", _i);
    compare_with_floor("paper", _i);
}
END_TEST

START_TEST(replaying_computes_the_bytes_of_recording)
{
    bench_shape shape;
    const bench_net *net = net_with("small", &shape, _i);
    bench_batch *batch = bench_batch_new(&shape, 7);
    tape_step *recorded = tape_step_new(net, shape.activation, RATE),
              *replayed = tape_step_new(net, shape.activation, RATE);
    tape_step_run(recorded, batch->inputs, batch->labels);
    tape_step_run(replayed, batch->inputs, batch->labels);
    for (int step = 0; step < STEPS; step++)
        ck_assert_double_eq(tape_step_again(replayed), tape_step_run(recorded, batch->inputs, batch->labels));
    bench_batch_free(batch);
    tape_step_free(recorded);
    tape_step_free(replayed);
}
END_TEST

/* ---- kernels ---- */

enum { ELEMENTS = 3 * KERNEL_COLUMNS };

START_TEST(the_kernels_that_are_timed_are_those_of_the_tape)
{
    kernel_data *d = kernel_data_new(ELEMENTS);
    tg_tape *tape = tg_tape_new();
    int compared = 0;
    for (int i = 0; kernel_work_at(i); i++) {
        const kernel_work *work = kernel_work_at(i);
        if (!work->record)
            continue;
        tg_tape_reset(tape);
        const tg_shape shape = TG_SHAPE(ELEMENTS / KERNEL_COLUMNS, KERNEL_COLUMNS);
        tg_tensor in[] = {tg_variable(tape, TG_F32, d->x, shape), tg_variable(tape, TG_F32, d->second, shape)};
        tg_tensor y = work->record(in);
        ck_assert(tg_backward_from(y, tg_constant(tape, TG_F32, d->cotangent, shape)));
        const bool of_second = !tg_ok(tg_gradient(in[0]));
        tg_tensor dx = tg_gradient(in[of_second]);
        (work->keep ? work->keep : work->forward)(d);
        work->backward(d);
        for (int k = 0; k < ELEMENTS; k++) {
            ck_assert_msg((double)d->y[k] == tg_at(y, k), "%s %d: %g, the tape %g", work->name, k, (double)d->y[k],
                          tg_at(y, k));
            ck_assert_msg((double)d->dx[k] == tg_at(dx, k), "%s backward %d: %g, the tape %g", work->name, k,
                          (double)d->dx[k], tg_at(dx, k));
        }
        compared++;
    }
    ck_assert_ptr_null(tg_tape_error(tape));
    ck_assert_int_ge(compared, 20);
    tg_tape_free(tape);
    kernel_data_free(d);
}
END_TEST

START_TEST(a_kernel_forward_alone_gives_the_value_that_comes_with_a_slope)
{
    kernel_data *d = kernel_data_new(ELEMENTS);
    for (int i = 0; kernel_work_at(i); i++) {
        const kernel_work *work = kernel_work_at(i);
        if (!work->keep)
            continue;
        float with_slope[ELEMENTS];
        work->keep(d);
        memcpy(with_slope, d->y, sizeof with_slope);
        memset(d->y, 0, sizeof with_slope);
        work->forward(d);
        ck_assert_msg(memcmp(with_slope, d->y, sizeof with_slope) == 0, "%s", work->name);
    }
    kernel_data_free(d);
}
END_TEST

Suite *bench_suite(void);
Suite *bench_suite(void)
{
    Suite *suite = suite_create("bench");
    TCase *tests = tcase_create("steps");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, the_floor_has_the_losses_of_the_tape, 0, ACTIVATIONS);
    tcase_add_loop_test(tests, replaying_computes_the_bytes_of_recording, 0, ACTIVATIONS);
    tcase_add_test(tests, the_kernels_that_are_timed_are_those_of_the_tape);
    tcase_add_test(tests, a_kernel_forward_alone_gives_the_value_that_comes_with_a_slope);
    suite_add_tcase(suite, tests);
    return suite;
}
