/* The nets of the page: trained here as on the page, and compared with the same training by the library's calls. */
#include "examples/programs/playground/playground.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

#include "examples/programs/data/dataset.h"

Suite *playground_suite(void);

enum { POINTS = 300, SEED = 1 };

static playground *p;

static void start(void)
{
    p = playground_new();
    ck_assert(p && playground_draw(p, 0, POINTS, SEED));
}

static void finish(void)
{
    playground_free(p);
}

static void make(int which, tg_activation activation, tg_optimizer_kind optimizer, double rate)
{
    ck_assert(playground_net(p, which, activation, 2, 16, optimizer, rate, SEED));
}

START_TEST(the_points_are_those_of_the_programs)
{
    for (int data = 0; playground_name(PLAYGROUND_DATA, data); data++) {
        dataset set;
        tg_error error;
        ck_assert(dataset_load(playground_name(PLAYGROUND_DATA, data), &(dataset_options){.rows = POINTS, .seed = SEED},
                               &set, &error));
        ck_assert(playground_draw(p, data, POINTS, SEED));
        ck_assert_mem_eq(playground_points(p), set.x, POINTS * 2 * sizeof(float));
        ck_assert_mem_eq(playground_labels(p), set.labels, POINTS * sizeof(int32_t));
        dataset_free(&set);
    }
}
END_TEST

START_TEST(the_lists_are_the_library_s)
{
    int activations = 0;
    for (; tg_activation_name((tg_activation)activations); activations++) {
        ck_assert_str_eq(playground_name(PLAYGROUND_ACTIVATIONS, activations),
                         tg_activation_name((tg_activation)activations));
        ck_assert_ptr_nonnull(playground_formula(activations));
    }
    ck_assert_ptr_null(playground_name(PLAYGROUND_ACTIVATIONS, activations));
    ck_assert_str_eq(playground_name(PLAYGROUND_DATA, 0), "spirals");
    ck_assert_str_eq(playground_name(PLAYGROUND_OPTIMIZERS, TG_SGD), "sgd");
    ck_assert_double_eq(playground_rate(TG_SGD), 0.2);
    ck_assert_ptr_null(playground_name(PLAYGROUND_DATA, -1));
}
END_TEST

START_TEST(it_learns_spirals)
{
    make(0, TG_GELU_EXACT, TG_ADAMW, 1e-2);
    ck_assert_double_lt(playground_accuracy(p, 0), 0.8);
    ck_assert_double_lt(playground_train(p, 0, 1500), 0.1);
    ck_assert_double_ge(playground_accuracy(p, 0), 0.99);
}
END_TEST

/* The losses of the first steps, without a playground. */
static void train_directly(tg_activation activation, const tg_optimizer_config *how, int steps, double losses[])
{
    tg_rng rng = tg_rng_seed(SEED);
    tg_mlp *net =
        tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {16, 16}, .outputs = 2, .activation = activation});
    tg_optimizer *optimizer = tg_optimizer_new(tg_mlp_parameters(net), how);
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i < steps; i++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_constant(tape, TG_F32, playground_points(p), TG_SHAPE(POINTS, 2));
        tg_tensor y = tg_constant(tape, TG_I32, playground_labels(p), TG_SHAPE(POINTS));
        tg_tensor loss = tg_cross_entropy(tg_mlp_forward(net, x), y);
        ck_assert(tg_backward(loss) && tg_optimizer_step(optimizer));
        losses[i] = tg_item(loss);
    }
    tg_tape_free(tape);
    tg_optimizer_free(optimizer);
    tg_mlp_free(net);
}

START_TEST(training_is_that_of_the_library_s_own_calls)
{
    enum { STEPS = 60 };
    double losses[STEPS];
    for (int kind = 0; tg_optimizer_name((tg_optimizer_kind)kind); kind++) {
        const double rate = playground_rate(kind);
        train_directly(TG_MISH, &(tg_optimizer_config){.kind = (tg_optimizer_kind)kind, .lr = rate}, STEPS, losses);
        make(0, TG_MISH, (tg_optimizer_kind)kind, rate);
        make(1, TG_MISH, (tg_optimizer_kind)kind, rate);
        for (int i = 0; i < STEPS; i++) { /* with reads of the net in between, which must change nothing */
            ck_assert_double_eq(playground_train(p, 0, 1), losses[i]);
            ck_assert(playground_map(p, 0, 8) && playground_tape(p, 0) && playground_dead(p, 0) >= 0);
            ck_assert(i % 20 != 0 || (playground_differences(p, 0, 9) && playground_gradcheck(p, 0)));
        }
        ck_assert_double_eq(playground_train(p, 1, STEPS), losses[STEPS - 1]);
    }
    ck_assert_ptr_null(playground_error(p));
}
END_TEST

/* By hand, from the weights of the net: a hidden layer of ReLU, and the softmax of two outputs. */
START_TEST(maps_are_the_net_s_outputs)
{
    enum { SIZE = 5 };
    ck_assert(playground_net(p, 0, TG_RELU, 1, 3, TG_ADAMW, 1e-2, SEED));
    tg_rng rng = tg_rng_seed(SEED);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {3}, .outputs = 2, .activation = TG_RELU});
    const float *first = tg_parameters_at(tg_mlp_parameters(net), 0)->data; /* [3, 2]; biases are 0 */
    const float *last = tg_parameters_at(tg_mlp_parameters(net), 2)->data;  /* [2, 3] */
    const float *map = playground_map(p, 0, SIZE);
    ck_assert_double_eq(playground_reach(p), 1.25); /* radius 1, and a little noise */
    for (int row = 0; row < SIZE; row++)
        for (int column = 0; column < SIZE; column++) {
            const double x = -1.25 + 2.5 * (column + 0.5) / SIZE, y = -1.25 + 2.5 * (row + 0.5) / SIZE;
            double difference = 0;
            for (int unit = 0; unit < 3; unit++) {
                const double h = fmax(0, x * (double)first[2 * unit] + y * (double)first[2 * unit + 1]);
                ck_assert_double_eq_tol((double)map[((1 + unit) * SIZE + row) * SIZE + column], h, 1e-6);
                difference += h * (double)(last[3 + unit] - last[unit]);
            }
            ck_assert_double_eq_tol((double)map[row * SIZE + column], 1 / (1 + exp(-difference)), 1e-6);
        }
    tg_mlp_free(net);
}
END_TEST

START_TEST(every_activation_and_depth_can_be_looked_at)
{
    for (int a = 0; playground_name(PLAYGROUND_ACTIVATIONS, a); a++) {
        const int depth = a % (PLAYGROUND_DEPTH + 1);
        ck_assert(playground_net(p, 0, a, depth, 1 + 5 * depth, TG_ADAMW, 1e-3, a));
        ck_assert(isfinite(playground_train(p, 0, 3)));
        ck_assert(playground_width(p, 0, depth) == 0 && (depth == 0 || playground_width(p, 0, depth - 1) > 0));
        const float *map = playground_map(p, 0, 4);
        ck_assert(map && map[0] >= 0 && map[0] <= 1);
        ck_assert(playground_tape(p, 0) && playground_histogram(p, 0, -3, 3, 10) && playground_curve(p, a, -3, 3, 7));
        ck_assert_msg(!playground_error(p), "%s: %s", playground_name(PLAYGROUND_ACTIVATIONS, a), playground_error(p));
    }
}
END_TEST

START_TEST(curves_are_a_function_and_its_derivatives)
{
    const double *tanh_of = playground_curve(p, TG_TANH, -2, 2, 9);
    for (int i = 0; i < 9; i++) {
        const double x = -2 + i / 2., t = tanh(x);
        ck_assert_double_eq_tol(tanh_of[i], t, 1e-14);
        ck_assert_double_eq_tol(tanh_of[9 + i], 1 - t * t, 1e-14);
        ck_assert_double_eq_tol(tanh_of[18 + i], -2 * t * (1 - t * t), 1e-14);
    }
    const double *gate = playground_curve(p, TG_SWIGLU, -1, 1, 2); /* silu, which is gated */
    ck_assert_double_eq_tol(gate[1], 1 / (1 + exp(-1)), 1e-14);
}
END_TEST

/* Two points and one unit, so that all inputs of the activation are known. */
START_TEST(histograms_and_dead_units_count_what_is_there)
{
    playground_clear(p);
    ck_assert(playground_add(p, 1, 0, 0) && playground_add(p, -1, 0, 1) &&
              playground_net(p, 0, TG_TANH, 1, 1, TG_SGD, 1, 1));
    const double *parts = playground_histogram(p, 0, -9, 9, 2); /* x and -x */
    ck_assert_double_eq(parts[0], 0.5);
    ck_assert_double_eq(parts[1], 0.5);
    ck_assert_int_eq(playground_dead(p, 0), 0);
    playground_clear(p);
    ck_assert(playground_add(p, 1e3, 1e3, 0)); /* where tanh is flat */
    ck_assert_int_eq(playground_dead(p, 0), 1);
}
END_TEST

/* The number of a value in the text of the graph: that of the first line that contains this. */
static int number_of(const char *graph, const char *label)
{
    const char *at = strstr(graph, label);
    ck_assert_msg(at != NULL, "there is no %s in %s", label, graph);
    while (*at != '\n')
        at--;
    return atoi(strchr(at, 'v') + 1);
}

START_TEST(the_tape_shows_values_and_gradients)
{
    make(0, TG_RELU, TG_ADAMW, 1e-2);
    char *graph = strdup(playground_tape(p, 0));
    const playground_summary *loss = playground_tensor(p, number_of(graph, "cross_entropy loss"));
    const double value = loss[0].mean;
    ck_assert_double_eq(loss[0].elements, 1);
    ck_assert_double_eq(loss[1].mean, 1); /* of itself */
    const playground_summary *relu = playground_tensor(p, number_of(graph, "\"relu"));
    ck_assert_double_eq(relu[0].elements, POINTS * 16);
    ck_assert_double_eq(relu[0].smallest, 0);
    ck_assert_double_eq(relu[1].elements, POINTS * 16);
    const playground_summary *points = playground_tensor(p, number_of(graph, "constant points"));
    ck_assert(points[0].elements == 2 * POINTS && points[1].elements == 0);
    ck_assert_ptr_null(playground_tensor(p, 10000));
    ck_assert_double_eq(playground_train(p, 0, 1), value);
    free(graph);
}
END_TEST

START_TEST(differences_agree_with_the_gradient_most_in_the_middle)
{
    enum { COUNT = 48 };
    make(0, TG_GELU_EXACT, TG_ADAMW, 1e-2);
    playground_train(p, 0, 50);
    const double *table = playground_differences(p, 0, COUNT), *wide = table + COUNT, *narrow = wide + COUNT;
    double least[2] = {1, 1};
    for (int i = 0; i < COUNT; i++) {
        ck_assert_double_eq(table[i], ldexp(1, -1 - i));
        least[0] = fmin(least[0], wide[i]);
        least[1] = fmin(least[1], narrow[i]);
    }
    ck_assert_double_lt(least[0], 1e-8);
    ck_assert_double_lt(least[1], 1e-2);
    ck_assert_double_gt(wide[0], 1e-2);
    ck_assert_double_gt(wide[COUNT - 1], 1e-4);
    ck_assert_double_eq(narrow[COUNT - 1], 1);   /* w + h is w in float */
    ck_assert_double_gt(wide[2] / wide[6], 100); /* truncation falls as h^2: by 256 */
    ck_assert_double_lt(wide[2] / wide[6], 700);
    ck_assert_ptr_nonnull(strstr(playground_gradcheck(p, 0), "agree"));
}
END_TEST

START_TEST(what_cannot_be_is_refused)
{
    ck_assert(!playground_draw(p, 99, 10, 1) && !playground_draw(p, 0, PLAYGROUND_POINTS + 1, 1));
    ck_assert(!playground_add(p, NAN, 0, 0) && !playground_add(p, 0, 0, 2));
    ck_assert(!playground_net(p, 2, 0, 1, 1, 0, 0.1, 1) &&
              !playground_net(p, 0, 0, PLAYGROUND_DEPTH + 1, 1, 0, 0.1, 1));
    ck_assert(!playground_net(p, 0, 1000, 1, 1, 0, 0.1, 1));
    ck_assert_ptr_nonnull(strstr(playground_error(p), "activation"));
    ck_assert(!playground_net(p, 0, 0, 1, 1, 0, -1, 1));
    ck_assert(isnan(playground_train(p, 0, 1)) && isnan(playground_accuracy(p, 0)) && !playground_map(p, 0, 4));
    ck_assert(!playground_tape(p, 0) && !playground_tensor(p, 0) && !playground_gradcheck(p, 0));
    playground_clear(p);
    make(0, 0, 0, 0.1);
    playground_train(p, 0, 1); /* the mean of nothing */
    ck_assert(!playground_draw(NULL, 0, 1, 1) && !playground_count(NULL));
    playground_free(NULL);
}
END_TEST

Suite *playground_suite(void)
{
    Suite *suite = suite_create("playground");
    TCase *tests = tcase_create("playground");
    tcase_add_checked_fixture(tests, start, finish);
    tcase_add_test(tests, the_points_are_those_of_the_programs);
    tcase_add_test(tests, the_lists_are_the_library_s);
    tcase_add_test(tests, it_learns_spirals);
    tcase_add_test(tests, training_is_that_of_the_library_s_own_calls);
    tcase_add_test(tests, maps_are_the_net_s_outputs);
    tcase_add_test(tests, every_activation_and_depth_can_be_looked_at);
    tcase_add_test(tests, curves_are_a_function_and_its_derivatives);
    tcase_add_test(tests, histograms_and_dead_units_count_what_is_there);
    tcase_add_test(tests, the_tape_shows_values_and_gradients);
    tcase_add_test(tests, differences_agree_with_the_gradient_most_in_the_middle);
    tcase_add_test(tests, what_cannot_be_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
