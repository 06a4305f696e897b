/* The benchmark is honest: the step written by hand computes what the tape computes, recorded or replayed. */
#include "tests/bench/floor.h"
#include "tests/bench/step.h"

#include <check.h>
#include <math.h>

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
    floor_net *by_hand = floor_new(&shape, RATE, tape_step_parameters(tape));
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

Suite *bench_suite(void);
Suite *bench_suite(void)
{
    Suite *suite = suite_create("bench");
    TCase *tests = tcase_create("steps");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, the_floor_has_the_losses_of_the_tape, 0, ACTIVATIONS);
    tcase_add_loop_test(tests, replaying_computes_the_bytes_of_recording, 0, ACTIVATIONS);
    suite_add_tcase(suite, tests);
    return suite;
}
