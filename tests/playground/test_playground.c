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
    ck_assert(p && playground_draw(p, 0, POINTS, -1, SEED));
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
        ck_assert(playground_draw(p, data, POINTS, -1, SEED));
        ck_assert_mem_eq(playground_points(p), set.x, POINTS * 2 * sizeof(float));
        ck_assert_int_eq(playground_regresses(p), !set.labels);
        for (int i = 0; i < POINTS; i++)
            ck_assert_float_eq(playground_targets(p)[i], set.labels ? (float)set.labels[i] : set.y[i]);
        dataset_free(&set);
        ck_assert(dataset_load(playground_name(PLAYGROUND_DATA, data),
                               &(dataset_options){.rows = POINTS, .seed = SEED, .noise = 0.3}, &set, &error));
        ck_assert(playground_draw(p, data, POINTS, 0.3, SEED) && playground_noise(data) < 0.3);
        ck_assert_mem_eq(playground_points(p), set.x, POINTS * 2 * sizeof(float));
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
    ck_assert_double_lt(playground_accuracy(p, 0, false), 0.8);
    ck_assert_double_lt(playground_train(p, 0, 1500), 0.1);
    ck_assert_double_ge(playground_accuracy(p, 0, false), 0.99);
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
        int32_t labels[POINTS];
        for (int k = 0; k < POINTS; k++)
            labels[k] = (int32_t)playground_targets(p)[k];
        tg_tensor y = tg_constant(tape, TG_I32, labels, TG_SHAPE(POINTS));
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

static int index_of(const char *data)
{
    int i = 0;
    while (strcmp(playground_name(PLAYGROUND_DATA, i), data) != 0)
        i++;
    return i;
}

/* Points for testing are not trained on: other ones change their loss and nothing else. */
START_TEST(points_for_testing_are_held_out)
{
    double loss[2], tested[2];
    for (int other = 0; other < 2; other++) {
        playground_clear(p);
        ck_assert(playground_hold_out(p, 25));
        int tests = 0, ones = 0;
        for (int i = 0; i < 80; i++) {
            ck_assert(playground_add(p, cos(i), sin(2 * i), i % 2));
            if (playground_is_test(p, i)) {
                tests++;
                ones += i % 2;
            }
        }
        ck_assert_int_eq(tests, 20);
        ck_assert_int_eq(ones, 10);
        if (other) /* the last pair is for testing */
            ck_assert(playground_is_test(p, 79) && playground_add(p, 5, 5, 0) && !playground_is_test(p, 80));
        if (other) {
            playground_clear(p);
            for (int i = 0; i < 80; i++)
                ck_assert(playground_add(p, playground_is_test(p, i) ? 3 : cos(i), sin(2 * i), i % 2));
        }
        make(0, TG_TANH, TG_ADAMW, 1e-2);
        ck_assert(playground_way(p, 0, 16, 2, 1e-3));
        loss[other] = playground_train(p, 0, 100);
        tested[other] = playground_loss(p, 0, true);
        ck_assert(isfinite(playground_accuracy(p, 0, true)));
    }
    ck_assert_double_eq(loss[0], loss[1]);
    ck_assert_double_ne(tested[0], tested[1]);
    ck_assert(playground_hold_out(p, 0) && isnan(playground_loss(p, 0, true)));
}
END_TEST

/* An epoch of batches shows each point once; both nets see the same ones. */
START_TEST(batches_go_through_all_points)
{
    playground_clear(p);
    for (int i = 0; i < 10; i++)
        ck_assert(playground_add(p, i, 0, i % 2));
    for (int net = 0; net < 2; net++) {
        ck_assert(playground_net(p, net, TG_IDENTITY, 0, 1, TG_SGD, 1e-12, SEED) && playground_way(p, net, 4, 0, 0));
        for (int epoch = 0; epoch < 3; epoch++) {
            double sum = 0;
            for (int batch = 0; batch < 3; batch++) /* 4, 4 and 2 points */
                sum += playground_train(p, net, 1) * (batch < 2 ? 4 : 2);
            ck_assert_double_eq_tol(sum / 10, playground_loss(p, net, false), 1e-6);
        }
    }
    ck_assert_double_eq(playground_train(p, 0, 1), playground_train(p, 1, 1));
}
END_TEST

/* As many points for testing as before, but others, in the middle of an epoch. */
START_TEST(an_epoch_begins_anew_with_other_points)
{
    playground_clear(p);
    ck_assert(playground_hold_out(p, 50));
    for (int i = 0; i < 6; i++)
        ck_assert(playground_add(p, i, 0, i % 2));
    ck_assert(playground_is_test(p, 2) && playground_net(p, 0, TG_IDENTITY, 0, 1, TG_SGD, 1e-12, SEED));
    ck_assert(playground_way(p, 0, 1, 0, 0));
    playground_train(p, 0, 1);
    ck_assert(playground_hold_out(p, 34) && playground_is_test(p, 4) && !playground_is_test(p, 2));
    double sum = 0;
    for (int point = 0; point < 4; point++)
        sum += playground_train(p, 0, 1);
    ck_assert_double_eq_tol(sum / 4, playground_loss(p, 0, false), 1e-6);
}
END_TEST

/* From the same weights, a step with a penalty differs by that of its derivative: s w or s sign(w). */
START_TEST(penalties_pull_weights_to_zero)
{
    enum { SIZE = 3 };
    float maps[3][3 * SIZE * SIZE];
    for (int penalty = 0; penalty < 3; penalty++) {
        playground_clear(p);
        ck_assert(playground_add(p, 1, 0, 0) && playground_add(p, -1, 0, 1));
        ck_assert(playground_net(p, 0, TG_IDENTITY, 1, 2, TG_SGD, 0.1, SEED) && playground_way(p, 0, 0, penalty, 0.5));
        playground_train(p, 0, 1);
        memcpy(maps[penalty], playground_map(p, 0, SIZE), sizeof maps[penalty]);
    }
    tg_rng rng = tg_rng_seed(SEED);
    tg_mlp *net =
        tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {2}, .outputs = 2, .activation = TG_IDENTITY});
    const float *w = tg_parameters_at(tg_mlp_parameters(net), 0)->data; /* [2, 2]; the map's reach is 1.25 */
    for (int unit = 0; unit < 2; unit++) {
        const int right = (1 + unit) * SIZE * SIZE + SIZE + 2; /* at (5/6, 0): (x, 0) W^T + b, x = 1.25 * 2 / 3 */
        const double x = 1.25 * 2 / 3;
        ck_assert_double_eq_tol(maps[2][right] - maps[0][right], -0.1 * 0.5 * w[2 * unit] * x, 1e-6);
        ck_assert_double_eq_tol(maps[1][right] - maps[0][right], -0.1 * 0.5 * (w[2 * unit] > 0 ? 1 : -1) * x, 1e-6);
    }
    tg_mlp_free(net);
}
END_TEST

START_TEST(it_learns_hills)
{
    ck_assert(playground_hold_out(p, 25));
    make(0, TG_GELU_EXACT, TG_ADAMW, 1e-2);
    ck_assert(playground_draw(p, index_of("hills"), POINTS, 0, SEED) && playground_regresses(p));
    ck_assert(isnan(playground_train(p, 0, 1))); /* the net has two outputs */
    ck_assert_ptr_nonnull(strstr(playground_error(p), "make it again"));
    ck_assert(!playground_add(p, 0, 0, 1));
    make(0, TG_GELU_EXACT, TG_ADAMW, 1e-2);
    ck_assert_double_lt(playground_train(p, 0, 1500), 0.01);
    ck_assert_double_gt(playground_accuracy(p, 0, true), 0.95); /* R2 */
    ck_assert(playground_map(p, 0, 8) && playground_tape(p, 0) && playground_differences(p, 0, 9));
    ck_assert_ptr_nonnull(strstr(playground_gradcheck(p, 0), "agree"));
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
    ck_assert(!playground_draw(p, 99, 10, -1, 1) && !playground_draw(p, 0, PLAYGROUND_POINTS + 1, -1, 1));
    ck_assert(!playground_add(p, NAN, 0, 0) && !playground_add(p, 0, 0, 2));
    ck_assert(!playground_net(p, 2, 0, 1, 1, 0, 0.1, 1) &&
              !playground_net(p, 0, 0, PLAYGROUND_DEPTH + 1, 1, 0, 0.1, 1));
    ck_assert(!playground_net(p, 0, 1000, 1, 1, 0, 0.1, 1));
    ck_assert_ptr_nonnull(strstr(playground_error(p), "activation"));
    ck_assert(!playground_net(p, 0, 0, 1, 1, 0, -1, 1));
    ck_assert(!playground_hold_out(p, 91) && !playground_hold_out(p, -1) && !playground_hold_out(NULL, 5));
    ck_assert(!playground_way(p, 0, 0, 0, 0)); /* there is no net yet */
    ck_assert(isnan(playground_train(p, 0, 1)) && isnan(playground_accuracy(p, 0, false)) && !playground_map(p, 0, 4));
    ck_assert(!playground_tape(p, 0) && !playground_tensor(p, 0) && !playground_gradcheck(p, 0));
    playground_clear(p);
    make(0, 0, 0, 0.1);
    playground_train(p, 0, 1); /* the mean of nothing */
    ck_assert(!playground_draw(NULL, 0, 1, -1, 1) && !playground_count(NULL));
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
    tcase_add_test(tests, points_for_testing_are_held_out);
    tcase_add_test(tests, batches_go_through_all_points);
    tcase_add_test(tests, an_epoch_begins_anew_with_other_points);
    tcase_add_test(tests, penalties_pull_weights_to_zero);
    tcase_add_test(tests, it_learns_hills);
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
