/* Optimisers against values computed by other programs. */
#include "tests/support/cut_finely.h"
#include "tests/support/optimizers.h"
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *optim_suite(void);

/* Four weights, which decay, and two biases, which do not; the gradient of sum(k p^2 / 2 - p sin k), k = 1 ..
 * 6. */
enum { WEIGHTS = 4, SIZE = 6 };

static tg_parameters *start(tg_dtype dtype)
{
    static const double values[SIZE] = {0.5, -1.25, 2, 0.125, -0.75, 1.5};
    tg_parameters *set = tg_parameters_new(dtype);
    tg_parameters_add(set, "weight", TG_SHAPE(WEIGHTS), true);
    tg_parameters_add(set, "bias", TG_SHAPE(SIZE - WEIGHTS), false);
    for (int k = 0; k < SIZE; k++)
        if (dtype == TG_F32)
            ((float *)tg_parameters_values(set))[k] = (float)values[k];
        else
            ((double *)tg_parameters_values(set))[k] = values[k];
    return set;
}

static double number_at(const tg_parameters *set, const void *block, int k)
{
    return tg_parameters_dtype(set) == TG_F32 ? ((const float *)block)[k] : ((const double *)block)[k];
}

static void set_gradient(tg_parameters *set, int k, double g)
{
    void *gradients = tg_parameters_gradients(set); /* their steps count from here */
    if (tg_parameters_dtype(set) == TG_F32)
        ((float *)gradients)[k] = (float)g;
    else
        ((double *)gradients)[k] = g;
}

static void differentiate(tg_parameters *set)
{
    for (int k = 0; k < SIZE; k++)
        set_gradient(set, k, (k + 1) * number_at(set, tg_parameters_values(set), k) - sin(k + 1));
}

static void follow(tg_dtype dtype, const tg_optimizer_config *config, const double *expected, double tolerance)
{
    tg_parameters *set = start(dtype);
    tg_optimizer *optimizer = tg_optimizer_new(set, config);
    for (int step = 0; step < 5; step++) {
        differentiate(set);
        ck_assert(tg_optimizer_step(optimizer));
        ck_assert(!tg_parameters_have_gradient(set)); /* applied and forgotten */
    }
    ck_assert_int_eq(tg_optimizer_steps(optimizer), 5);
    for (int k = 0; k < SIZE; k++)
        ck_assert_double_eq_tol(number_at(set, tg_parameters_values(set), k), expected[k], tolerance);
    tg_optimizer_free(optimizer);
    tg_parameters_free(set);
}

/* PyTorch 2.15 in double, its default type too (NAdam keeps a product in it), after five steps; w the weights, b the
 * biases, k = arange(1, 7): groups = [{'params': [w]}, {'params': [b], 'weight_decay': 0}] opt =
 * torch.optim.AdamW(groups, lr=0.1, weight_decay=0.3) p = torch.cat([w, b]); (0.5 * k * p**2 - torch.sin(k) *
 * p).sum().backward(); opt.step() and the same with the others, and with torch.nn.utils.clip_grad_norm_([w, b], 1)
 * before the last one's steps. */
static const struct {
    tg_optimizer_config config;
    double expected[SIZE];
    double tolerance; /* PyTorch adds 1e-6 to the norm it clips by */
} trajectories[] = {
    {{.kind = TG_ADAMW, .lr = 0.1, .weight_decay = 0.3},
     {0.86036716381874179, -0.60787516012453058, 1.2520535851707777, -0.28810530108283566, -0.27229691580907239,
      1.0041763181289469},
     1e-14},
    {{.kind = TG_ADAMW, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3},
     {0.92220788018141175, -0.75554990484481233, 1.5046383658495659, -0.28373823585703067, -0.27922380615643616,
      1.0061746834687662},
     1e-14},
    {{.kind = TG_ADAM, .lr = 0.1, .weight_decay = 0.3},
     {0.72260233950624508, -0.75383499307552704, 1.5030404701542104, -0.29177829028933772, -0.27229691580907239,
      1.0041763181289469},
     1e-14},
    {{.kind = TG_SGD, .lr = 0.1, .weight_decay = 0.3},
     {0.57387526174816073, -0.050013132697861042, 0.30701503396415164, -0.15788961447202843, -0.20922907821598308,
      -0.030732380582894819},
     1e-14},
    {{.kind = TG_SGD, .lr = 0.1, .weight_decay = 0.3, .momentum = 0.9},
     {0.68244055086621969, 1.5005394644909855, -1.4937987310590601, -0.38061691545580317, 0.099491807763527104,
      -0.40237297128576177},
     1e-14},
    {{.kind = TG_SGD, .lr = 0.1, .weight_decay = 0.3, .momentum = 0.9, .nesterov = true},
     {0.68545591542097351, 1.087202271256976, -0.53755078569005876, -0.20972170573694843, -0.18556790819667265,
      0.048456161772052066},
     1e-14},
    {{.kind = TG_SGD, .lr = 0.1, .momentum = 0.9, .clip_norm = 1},
     {0.54135991338883427, -0.84692249270403452, 1.323978181043185, -0.016500835130462316, -0.44342856742466225,
      0.50580904815302286},
     1e-6},
    {{.kind = TG_NADAM, .lr = 0.1, .weight_decay = 0.3},
     {0.6568753408020667, -0.8615802787379963, 1.6087721004048017, -0.15898138860690444, -0.4015453227411076,
      1.112725072961191},
     1e-14},
    {{.kind = TG_NADAM, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.95, .epsilon = 1e-3},
     {0.824238003352748, -0.8153631200615923, 1.562733322410924, -0.18547647907505418, -0.36534978404577906,
      1.067394852024058},
     1e-14},
    {{.kind = TG_RMSPROP, .lr = 0.1, .weight_decay = 0.3},
     {0.6477662041164499, 0.37255743716686823, 0.1286762789489339, -0.1804732464563708, -0.182281719636241,
      -0.03427110073186258},
     1e-14},
    {{.kind = TG_RMSPROP},
     {0.7519205063847283, -0.9373090415330793, 1.685733747829966, -0.11930422655438301, -0.4660036953637509,
      1.1885923780345278},
     1e-14},
    {{.kind = TG_RMSPROP, .lr = 0.02, .beta2 = 0.9, .epsilon = 1e-3, .momentum = 0.5, .weight_decay = 0.3},
     {0.6712925906669807, -0.9027415234414509, 1.650846832981594, -0.15485659400443566, -0.42807178816804625,
      1.1533474464709088},
     1e-14},
    {{.kind = TG_ADAGRAD, .lr = 0.1, .weight_decay = 0.3},
     {0.6465207560801537, -0.939034801882789, 1.6869898393086178, -0.11427436025961397, -0.46715924965892647,
      1.1898653135991863},
     1e-14},
    {{.kind = TG_ADAGRAD},
     {0.5317473913236527, -1.2177946166786453, 1.9677803874820632, 0.09330363911637049, -0.7180275013733217,
      1.467806071418065},
     1e-14},
    {{.kind = TG_ADAGRAD, .lr = 0.05, .epsilon = 1e-2},
     {0.6427811505301747, -1.0915954638334813, 1.8410870724424016, -0.018236838198392426, -0.5980508202864139,
      1.3416891553786199},
     1e-14},
};

START_TEST(five_steps_arrive_where_pytorch_does)
{
    const tg_optimizer_config *config = &trajectories[_i].config;
    follow(TG_F64, config, trajectories[_i].expected, trajectories[_i].tolerance);
    follow(TG_F32, config, trajectories[_i].expected, 2e-6);
}
END_TEST

START_TEST(a_rule_uses_the_settings_that_change_its_steps)
{
    static const char *const names[] = {"beta1", "beta2", "epsilon", "momentum", "nesterov"};
    for (int kind = 0; tg_optimizer_name((tg_optimizer_kind)kind); kind++)
        for (int s = 0; s < 5; s++) {
            tg_optimizer_config plain = {.kind = (tg_optimizer_kind)kind, .lr = 0.05}, other = plain;
            plain.momentum = other.momentum = s == 4 ? 0.5 : 0; /* Nesterov's step needs one */
            s == 0   ? (other.beta1 = 0.7)
            : s == 1 ? (other.beta2 = 0.6)
            : s == 2 ? (other.epsilon = 0.1)
            : s == 3 ? (other.momentum = 0.5)
                     : (other.nesterov = true);
            double ends[2][SIZE];
            for (int which = 0; which < 2; which++) {
                tg_parameters *set = start(TG_F64);
                tg_optimizer *optimizer = tg_optimizer_new(set, which ? &other : &plain);
                for (int step = 0; step < 3; step++) {
                    double *g = tg_parameters_gradients(set);
                    for (int k = 0; k < SIZE; k++)
                        g[k] = sin(k + 1 + step) + 0.3;
                    ck_assert(tg_optimizer_step(optimizer));
                }
                memcpy(ends[which], tg_parameters_values(set), sizeof ends[which]);
                tg_optimizer_free(optimizer);
                tg_parameters_free(set);
            }
            const bool changes = memcmp(ends[0], ends[1], sizeof ends[0]) != 0;
            ck_assert_msg(tg_optimizer_uses((tg_optimizer_kind)kind, names[s]) == changes, "%s, %s: %s",
                          tg_optimizer_name((tg_optimizer_kind)kind), names[s], changes ? "changes" : "does not");
        }
    ck_assert(tg_optimizer_uses(TG_LION, "lr") && !tg_optimizer_uses(TG_LION, "temperature"));
    ck_assert(!tg_optimizer_uses((tg_optimizer_kind)99, "lr") && !tg_optimizer_uses(TG_LION, NULL));
}
END_TEST

/* Algorithm 2 of the paper on Lion, a number at a time; no gradient is 0 here. */
static void lion_by_hand(double p[SIZE], double lr, double beta1, double beta2, double decay)
{
    double m[SIZE] = {0};
    for (int step = 0; step < 5; step++)
        for (int k = 0; k < SIZE; k++) {
            const double g = (k + 1) * p[k] - sin(k + 1), c = beta1 * m[k] + (1 - beta1) * g;
            p[k] = p[k] - lr * (copysign(1, c) + (k < WEIGHTS ? decay : 0) * p[k]);
            m[k] = beta2 * m[k] + (1 - beta2) * g;
        }
}

START_TEST(lion_is_the_algorithm_of_its_paper)
{
    double by_default[SIZE] = {0.5, -1.25, 2, 0.125, -0.75, 1.5}, given[SIZE];
    memcpy(given, by_default, sizeof given);
    lion_by_hand(by_default, 1e-4, 0.9, 0.99, 0);
    follow(TG_F64, &(tg_optimizer_config){.kind = TG_LION}, by_default, 1e-15);
    lion_by_hand(given, 0.05, 0.8, 0.95, 0.3);
    const tg_optimizer_config config = {.kind = TG_LION, .lr = 0.05, .beta1 = 0.8, .beta2 = 0.95, .weight_decay = 0.3};
    follow(TG_F64, &config, given, 1e-15);
    follow(TG_F32, &config, given, 2e-6);
}
END_TEST

START_TEST(lion_leaves_alone_what_has_no_gradient)
{
    tg_parameters *set = start(TG_F64), *before = start(TG_F64);
    tg_optimizer *lion = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_LION, .lr = 0.5});
    tg_parameters_gradients(set); /* all zero, and sign(0) is 0 */
    ck_assert(tg_optimizer_step(lion));
    ck_assert_mem_eq(tg_parameters_values(set), tg_parameters_values(before), SIZE * sizeof(double));
    tg_optimizer_free(lion);
    tg_parameters_free(set);
    tg_parameters_free(before);
}
END_TEST

/* PyTorch 2.15's Muon in double (torch.bfloat16 = torch.float64), with adjust_lr_fn='match_rms_adamw', nesterov=True
 * and momentum=beta1 on matrices of 2 by 3 and 4 by 2, and its AdamW without decay on two biases, after 50 steps; loss
 * and gradient as above, k = 1 .. 16. */
enum { MUON_SIZE = 16 };
static const struct {
    tg_optimizer_config config;
    double expected[MUON_SIZE];
} muon_trajectories[] = {
    {{.kind = TG_MUON, .lr = 0.02, .weight_decay = 0.1},
     {0.5634625331932714, -0.9421512058455311, 1.7321149248930447, 0.016177449567682304, -0.7062010640103897,
      1.147423747605376, 0.1315244457334564, 0.7208461314538117, -1.5703487156376137, 0.6767341880684696,
      -0.5330422844514449, 0.8088136584409644, -0.7187269530513345, 0.37335014560272883, -0.10961876529869351,
      0.05123831229503935}},
    {{.kind = TG_MUON, .lr = 0.1, .beta1 = 0.8, .beta2 = 0.9, .epsilon = 1e-3},
     {0.8612705353100789, -0.6063342207103093, 1.415505774142269, -0.1846337450845584, -0.5982174451347702,
      0.5705891272864325, -0.09247958593076136, 0.2281379138394876, -0.8572071523543016, 0.48880614616881185,
      -0.4726625285642013, 0.1943273684142589, -0.27495430227465223, 0.25962361619906177, 0.045871979988314236,
      -0.022616597247897743}},
};

static void follow_muon(tg_dtype dtype, int which, double tolerance)
{
    static const double begin[MUON_SIZE] = {0.5, -1.25, 2,    0.125, -0.75, 1.5,   0.25,  1,
                                            -2,  0.75,  -0.5, 1.25,  -1,    0.375, 0.625, -0.875};
    tg_parameters *set = tg_parameters_new(dtype);
    tg_parameters_add(set, "wide", TG_SHAPE(2, 3), true);
    tg_parameters_add(set, "tall", TG_SHAPE(4, 2, 1, 1), true); /* as of a convolution */
    tg_parameters_add(set, "bias", TG_SHAPE(2), false);
    tg_optimizer *muon = tg_optimizer_new(set, &muon_trajectories[which].config);
    int64_t k = 0;
    for (int i = 0; i < tg_parameters_count(set); i++)
        for (int64_t j = 0; j < tg_shape_size(&tg_parameters_at(set, i)->shape); j++)
            tg_parameter_put(tg_parameters_at(set, i), j, begin[k++]);
    for (int step = 0; step < 50; step++) {
        for (int i = 0; i < MUON_SIZE; i++)
            set_gradient(set, i, (i + 1) * number_at(set, tg_parameters_values(set), i) - sin(i + 1));
        ck_assert(tg_optimizer_step(muon));
    }
    for (int i = 0; i < MUON_SIZE; i++)
        ck_assert_double_eq_tol(number_at(set, tg_parameters_values(set), i), muon_trajectories[which].expected[i],
                                tolerance);
    tg_optimizer_free(muon);
    tg_parameters_free(set);
}

START_TEST(muon_is_pytorchs_after_fifty_steps)
{
    follow_muon(TG_F64, _i, 1e-12);
    follow_muon(TG_F32, _i, 1e-4);
}
END_TEST

/* Parameters without singular values to balance (an embedding's table, a row, a bias) are updated by AdamW. */
START_TEST(muon_leaves_tables_and_rows_to_adamw)
{
    double ends[2][SIZE];
    for (int which = 0; which < 2; which++) {
        tg_parameters *set = tg_parameters_new(TG_F64);
        tg_parameters_add(set, "table", TG_SHAPE(2, 2), false);
        tg_parameters_add(set, "row", TG_SHAPE(1, 2), true);
        tg_optimizer *optimizer = tg_optimizer_new(
            set, &(tg_optimizer_config){.kind = which ? TG_ADAMW : TG_MUON, .beta1 = 0.9, .beta2 = 0.99});
        for (int step = 0; step < 3; step++) {
            differentiate(set);
            ck_assert(tg_optimizer_step(optimizer));
        }
        memcpy(ends[which], tg_parameters_values(set), sizeof ends[which]);
        tg_optimizer_free(optimizer);
        tg_parameters_free(set);
    }
    ck_assert_mem_eq(ends[0], ends[1], sizeof ends[0]);
}
END_TEST

/* p = p - rate sign(g) / step, a user's own optimiser, in double only. */
static void sign_descent(const tg_update *u)
{
    const tg_optimizer_step_info *now = u->settings;
    double *p = u->parameter, *g = u->gradient;
    for (size_t i = 0; i < u->n; i++)
        p[i] -= u->rate * copysign(1, g[i]) / (double)now->step;
}

START_TEST(an_optimiser_of_ones_own_is_one_struct)
{
    static const tg_optimizer_rule rule = {.name = "sign", .defaults = {.lr = 0.25}, .update = sign_descent};
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameters_add(set, "a", TG_SHAPE(2), true);
    tg_optimizer *sign = tg_optimizer_new(set, &(tg_optimizer_config){.rule = &rule});
    ck_assert_double_eq(tg_optimizer_rate(sign), 0.25);
    for (int step = 0; step < 2; step++) {
        set_gradient(set, 0, 3);
        set_gradient(set, 1, -0.5);
        ck_assert(tg_optimizer_step(sign));
    }
    const double *values = tg_parameters_values(set);
    ck_assert_double_eq(values[0], -0.25 - 0.125);
    ck_assert_double_eq(values[1], 0.25 + 0.125);
    tg_optimizer_free(sign);
    static const tg_optimizer_rule greedy = {.name = "greedy", .update = sign_descent, .states = 9};
    tg_optimizer *refuses = tg_optimizer_new(set, &(tg_optimizer_config){.rule = &greedy});
    ck_assert(!tg_optimizer_step(refuses) && strstr(tg_optimizer_error(refuses), "more than two states"));
    tg_optimizer_free(refuses);
    tg_parameters_free(set);
}
END_TEST

/* Many parameters of odd sizes, divided among threads or not, end with the values of a plain loop. */
START_TEST(large_and_small_parameters_are_updated_alike)
{
    enum { LARGE = 70001, SMALL_RUNS = 3 };
    tg_parameters *set = tg_parameters_new(TG_F32), *twin = tg_parameters_new(TG_F32);
    tg_parameters_add(set, "large", TG_SHAPE(LARGE), true);
    tg_parameters_add(set, "bias", TG_SHAPE(SMALL_RUNS), false);
    tg_parameters_add(set, "last", TG_SHAPE(LARGE), true);
    tg_parameters_add(twin, "a", TG_SHAPE(1), true);
    tg_parameters_add(twin, "b", TG_SHAPE(1), false);
    const tg_optimizer_config config = {.kind = (tg_optimizer_kind)_i, .lr = 0.1, .weight_decay = 0.5};
    tg_optimizer *optimizer = tg_optimizer_new(set, &config), *other = tg_optimizer_new(twin, &config);
    float *values = tg_parameters_values(set), *few = tg_parameters_values(twin);
    for (int64_t k = 0; k < tg_parameters_size(set); k++)
        values[k] = 1;
    few[0] = few[1] = 1;
    for (int step = 0; step < 3; step++) {
        float *gradients = tg_parameters_gradients(set);
        for (int64_t k = 0; k < tg_parameters_size(set); k++)
            gradients[k] = 0.3F;
        set_gradient(twin, 0, 0.3F);
        set_gradient(twin, 1, 0.3F);
        ck_assert(tg_optimizer_step(optimizer) && tg_optimizer_step(other));
    }
    ck_assert_float_ne(few[0], few[1]);
    for (int64_t k = 0; k < tg_parameters_size(set); k++)
        ck_assert_float_eq_tol(values[k], few[k >= LARGE && k < LARGE + SMALL_RUNS], 1e-6F);
    tg_optimizer_free(optimizer);
    tg_optimizer_free(other);
    tg_parameters_free(set);
    tg_parameters_free(twin);
}
END_TEST

/* Values after three steps with clipping are bit-identical for any number of threads. */
START_TEST(any_number_of_threads_updates_alike)
{
    const int threads = tg_threads();
    void *of_one = NULL;
    size_t bytes = 0;
    for (int k = -1; k < MANY_THREADS; k++) {
        tg_set_threads(k < 0 ? 1 : many_threads[k]);
        cut_finely = k >= 0;
        tg_rng rng = tg_rng_seed(7);
        tg_parameters *set = tg_parameters_new(_i % 2 ? TG_F32 : TG_F64);
        static const char *const names[] = {"a", "b", "c", "d", "e"};
        for (int i = 0; i < 5; i++)
            tg_parameters_add(set, names[i],
                              TG_SHAPE(1 + (int64_t)tg_rng_below(&rng, 30), 1 + (int64_t)tg_rng_below(&rng, 40)),
                              i % 2);
        const tg_optimizer_config config = {
            .kind = (tg_optimizer_kind)(_i / 2), .lr = 0.1, .weight_decay = 0.5, .clip_norm = 3};
        tg_optimizer *optimizer = tg_optimizer_new(set, &config);
        for (int step = 0; step < 3; step++) {
            for (int64_t i = 0; i < tg_parameters_size(set); i++) {
                const double number = tg_rng_normal(&rng);
                if (_i % 2)
                    ((float *)tg_parameters_gradients(set))[i] = (float)number;
                else
                    ((double *)tg_parameters_gradients(set))[i] = number;
            }
            ck_assert(tg_optimizer_step(optimizer));
        }
        bytes = tg_parameters_bytes(set);
        if (k < 0)
            of_one = memcpy(malloc(bytes), tg_parameters_values(set), bytes);
        ck_assert_msg(memcmp(of_one, tg_parameters_values(set), bytes) == 0, "%s, %d threads",
                      tg_optimizer_name(config.kind), tg_threads());
        tg_optimizer_free(optimizer);
        tg_parameters_free(set);
    }
    free(of_one);
    cut_finely = false;
    tg_set_threads(threads);
}
END_TEST

/* One step of plain gradient descent with rate 1 moves by the gradient after clipping. */
static double moved_by(double gradient, double clip_norm)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameters_add(set, "a", TG_SHAPE(1), true);
    tg_parameters_add(set, "b", TG_SHAPE(1), true);
    tg_optimizer *sgd = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_SGD, .lr = 1, .clip_norm = clip_norm});
    set_gradient(set, 0, 0.6 * gradient);
    set_gradient(set, 1, 0.8 * gradient);
    ck_assert(tg_optimizer_step(sgd));
    ck_assert_double_eq_tol(tg_optimizer_gradient_norm(sgd), gradient, 1e-12);
    const double *values = tg_parameters_values(set);
    double moved = hypot(values[0], values[1]);
    tg_optimizer_free(sgd);
    tg_parameters_free(set);
    return moved;
}

/* Three processes divide a step: each computes some parts, which together make the whole step. */
START_TEST(parts_of_a_step_make_the_step)
{
    enum { ROWS = 300, WIDTH = 230, PROCESSES = 3 };
    static const int begin[PROCESSES + 1] = {0, 3, 10, TG_PARTS};
    const tg_optimizer_config config = {.kind = (tg_optimizer_kind)_i, .lr = 0.01, .weight_decay = 0.1, .clip_norm = 1};
    tg_parameters *set[PROCESSES + 1];
    tg_optimizer *optimizer[PROCESSES + 1];
    for (int p = 0; p <= PROCESSES; p++) { /* the last one runs whole steps by itself */
        tg_rng rng = tg_rng_seed(1);
        set[p] = tg_parameters_new(TG_F32);
        tg_parameters_add(set[p], "weight", TG_SHAPE(ROWS, WIDTH), true);
        tg_parameters_add(set[p], "bias", TG_SHAPE(ROWS), false);
        for (int64_t k = 0; k < tg_parameters_size(set[p]); k++)
            ((float *)tg_parameters_values(set[p]))[k] = (float)tg_rng_normal(&rng);
        optimizer[p] = tg_optimizer_new(set[p], &config);
    }
    for (int step = 0; step < 3; step++)
        for (int p = PROCESSES; p >= 0; p--) {
            tg_rng rng = tg_rng_seed(10 + (uint64_t)step);
            float *gradient = tg_parameters_gradients(set[p]);
            for (int64_t k = 0; k < tg_parameters_size(set[p]); k++)
                gradient[k] = (float)tg_rng_normal(&rng);
            double squares[TG_PARTS], norm = 0;
            for (int q = 0; q < PROCESSES; q++)
                ck_assert(tg_parameters_gradient_squares(set[p], begin[q], begin[q + 1] - begin[q], squares));
            for (int part = 0; part < TG_PARTS; part++)
                norm += squares[part];
            ck_assert(sqrt(norm) == tg_parameters_gradient_norm(set[p]));
            if (p < PROCESSES && !tg_optimizer_has_parts(optimizer[p])) {
                ck_assert(!tg_optimizer_step_parts(optimizer[p], sqrt(norm), begin[p], begin[p + 1] - begin[p]));
                ck_assert_msg(strstr(tg_optimizer_error(optimizer[p]), "its step has no parts"), "%s",
                              tg_optimizer_error(optimizer[p]));
                ck_assert_int_eq(tg_optimizer_steps(optimizer[p]), 0);
                continue;
            }
            ck_assert(p == PROCESSES
                          ? tg_optimizer_step(optimizer[p])
                          : tg_optimizer_step_parts(optimizer[p], sqrt(norm), begin[p], begin[p + 1] - begin[p]));
        }
    ck_assert(!tg_optimizer_step_parts(optimizer[0], 1, 3, TG_PARTS));
    ck_assert_msg(strstr(tg_optimizer_error(optimizer[0]), "there are parts 0 to 15, not 16 from number 3 on"), "%s",
                  tg_optimizer_error(optimizer[0]));
    ck_assert(!tg_optimizer_step_parts(optimizer[0], 1, INT_MAX, 1));
    for (int i = 0; i < 2 && tg_optimizer_has_parts(optimizer[0]); i++)
        for (int p = 0; p < PROCESSES; p++) {
            const tg_parameter *ours = tg_parameters_at(set[p], i), *whole = tg_parameters_at(set[PROCESSES], i);
            int64_t from, to;
            tg_parameter_part(ours, begin[p], begin[p + 1] - begin[p], &from, &to);
            ck_assert(i == 1 || to > from);
            ck_assert_mem_eq((float *)ours->data + from, (float *)whole->data + from,
                             (size_t)(to - from) * sizeof(float));
        }
    for (int p = 0; p <= PROCESSES; p++) {
        tg_optimizer_free(optimizer[p]);
        tg_parameters_free(set[p]);
    }
}
END_TEST

START_TEST(clipping_cuts_large_gradients_and_leaves_small_ones_alone)
{
    ck_assert_double_eq_tol(moved_by(20, 5), 5, 1e-14);
    ck_assert_double_eq_tol(moved_by(20, 0), 20, 1e-14);
    ck_assert_double_eq_tol(moved_by(0.25, 5), 0.25, 1e-15);
}
END_TEST

START_TEST(decay_shrinks_weights_by_rate_times_decay_and_biases_not_at_all)
{
    tg_parameters *set = start(TG_F64);
    tg_optimizer *adamw = tg_optimizer_new(set, &(tg_optimizer_config){.lr = 0.5, .weight_decay = 0.25});
    tg_parameters_gradients(set); /* all zero: only the decay changes the weights */
    ck_assert(tg_optimizer_step(adamw));
    tg_parameters *before = start(TG_F64);
    const double *now = tg_parameters_values(set), *then = tg_parameters_values(before);
    for (int k = 0; k < SIZE; k++)
        ck_assert_double_eq_tol(now[k], (k < WEIGHTS ? 1 - 0.5 * 0.25 : 1) * then[k], 1e-16);
    tg_parameters_free(before);
    tg_optimizer_free(adamw);
    tg_parameters_free(set);
}
END_TEST

START_TEST(parameters_that_are_not_trained_stay)
{
    tg_parameters *set = start(TG_F64);
    tg_parameter *bias = tg_parameters_find(set, "bias");
    bias->gradient = NULL;
    tg_optimizer *sgd = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_SGD, .lr = 1});
    double *gradient = tg_parameters_gradients(set);
    gradient[0] = 1;
    ck_assert(tg_optimizer_step(sgd));
    ck_assert_double_eq(((double *)tg_parameters_values(set))[0], -0.5);
    ck_assert_double_eq(((double *)bias->data)[0], -0.75);
    tg_optimizer_free(sgd);
    tg_parameters_free(set);
}
END_TEST

START_TEST(an_infinite_gradient_is_refused_and_named_and_leaves_no_trace)
{
    static const double bad[] = {INFINITY, -INFINITY, NAN};
    for (int i = 0; i < 3; i++) {
        tg_parameters *set = start(TG_F32), *twin = start(TG_F32);
        tg_optimizer *adamw = tg_optimizer_new(set, NULL), *other = tg_optimizer_new(twin, NULL);
        differentiate(set);
        set_gradient(set, 5, bad[i]);
        ck_assert(!tg_optimizer_step(adamw));
        ck_assert_str_eq(tg_optimizer_error(adamw),
                         "optimiser step 1: the gradient of bias is not finite; tg_tape_watch names where it began");
        ck_assert(!tg_parameters_have_gradient(set));
        ck_assert_int_eq(tg_optimizer_steps(adamw), 0);
        for (int step = 0; step < 2; step++) { /* from here on it works as before */
            differentiate(set);
            differentiate(twin);
            ck_assert(tg_optimizer_step(adamw) && tg_optimizer_step(other));
        }
        ck_assert_ptr_null(tg_optimizer_error(adamw));
        ck_assert_mem_eq(tg_parameters_values(set), tg_parameters_values(twin), SIZE * sizeof(float));
        tg_optimizer_free(adamw);
        tg_optimizer_free(other);
        tg_parameters_free(set);
        tg_parameters_free(twin);
    }
}
END_TEST

START_TEST(finite_single_precision_gradients_never_overflow_the_norm)
{
    tg_parameters *set = start(TG_F32);
    tg_optimizer *sgd = tg_optimizer_new(set, &(tg_optimizer_config){.kind = TG_SGD, .lr = 1, .clip_norm = 1});
    set_gradient(set, 0, FLT_MAX);
    ck_assert(tg_optimizer_step(sgd));
    ck_assert_double_eq(tg_optimizer_gradient_norm(sgd), FLT_MAX);
    ck_assert_float_eq_tol(((float *)tg_parameters_values(set))[0], -0.5F, 1e-6F);
    tg_optimizer_free(sgd);
    tg_parameters_free(set);
}
END_TEST

/* A square that overflows would stay infinite forever, and its parameter would never move again. A rule that keeps
 * squares without declaring it fails too: its state is not finite. */
START_TEST(a_gradient_whose_square_overflows_is_refused_unless_it_is_clipped)
{
    static const tg_optimizer_rule *const rules[] = {
#define TG_OPTIMIZER(constant, name) [constant] = &tg_optimizer_##name,
#include "optim/optimizers.def"
#undef TG_OPTIMIZER
    };
    const tg_optimizer_kind kind = (tg_optimizer_kind)(_i / 2);
    const bool keeps_squares = rules[kind]->squares;
    tg_parameters *set = start(_i % 2 ? TG_F64 : TG_F32);
    const double huge[] = {9e18, 1.1e19, 9e153, 1.1e154};
    const tg_optimizer_config config = {.kind = kind, .lr = 1e-30};
    tg_optimizer_config clipping = config;
    clipping.clip_norm = 1;
    tg_optimizer *optimizer = tg_optimizer_new(set, &config), *clips = tg_optimizer_new(set, &clipping);
    for (int k = 0; k < 2; k++) {
        set_gradient(set, 5, huge[2 * (_i % 2) + k]);
        ck_assert(tg_optimizer_step(optimizer) == (k == 0 || !keeps_squares));
        ck_assert(!tg_parameters_have_gradient(set));
        if (k == 1 && keeps_squares)
            ck_assert_ptr_nonnull(strstr(tg_optimizer_error(optimizer), "is so large that its square overflows"));
        const tg_update_state kept = tg_optimizer_state(optimizer);
        for (int state = 0; state < kept.states; state++)
            for (int i = 0; i < SIZE; i++)
                ck_assert(isfinite(_i % 2 ? ((double *)kept.state[state])[i] : ((float *)kept.state[state])[i]));
        set_gradient(set, 5, huge[2 * (_i % 2) + k]);
        ck_assert(tg_optimizer_step(clips));
    }
    tg_optimizer_free(optimizer);
    tg_optimizer_free(clips);
    tg_parameters_free(set);
}
END_TEST

START_TEST(a_step_without_a_backward_pass_is_refused)
{
    tg_parameters *set = start(TG_F64);
    tg_optimizer *adamw = tg_optimizer_new(set, NULL);
    ck_assert(!tg_optimizer_step(adamw));
    ck_assert_str_eq(tg_optimizer_error(adamw),
                     "optimiser step 1: no parameter has a gradient; tg_backward comes first");
    tg_parameters_add(set, "more", TG_SHAPE(_i), true); /* even an empty one */
    ck_assert(!tg_optimizer_step(adamw));
    ck_assert_ptr_nonnull(strstr(tg_optimizer_error(adamw), "has grown since the optimiser was made"));
    ck_assert_int_eq(tg_optimizer_group(adamw, "*", 1, 0), -1);
    tg_optimizer_free(adamw);
    tg_parameters_free(set);
}
END_TEST

START_TEST(wrong_configurations_are_refused_with_the_reason)
{
    static const struct {
        tg_optimizer_config config;
        const char *reason;
    } wrong[] = {
        {{.kind = (tg_optimizer_kind)99}, "known kind"},
        {{.lr = -1}, "learning rate"},
        {{.lr = NAN}, "learning rate"},
        {{.weight_decay = -0.1}, "weight decay"},
        {{.clip_norm = INFINITY}, "norm to clip"},
        {{.beta1 = 1}, "beta1"},
        {{.beta2 = -0.5}, "beta2"},
        {{.epsilon = -1}, "epsilon"},
        {{.kind = TG_SGD, .momentum = 1}, "momentum"},
        {{.kind = TG_SGD, .nesterov = true}, "Nesterov"},
        {{.schedule = {.kind = (tg_schedule_kind)7}}, "known kind"},
        {{.schedule = {.kind = TG_CONSTANT_RATE, .warmup = -1}}, "warm-up"},
        {{.schedule = {.kind = TG_WARMUP_COSINE}}, "needs steps"},
        {{.schedule = {.kind = TG_WARMUP_COSINE, .steps = 3, .warmup = -1}}, "warm-up"},
        {{.schedule = {.kind = TG_WARMUP_COSINE, .steps = 3, .end = 2}}, "end of the cosine"},
        {{.schedule = {.kind = TG_STEP_DECAY}}, "period"},
        {{.schedule = {.kind = TG_STEP_DECAY, .period = 3, .decay = 2}}, "decay of the step"},
    };
    tg_parameters *set = start(TG_F32);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const char *error = tg_optimizer_config_error(&wrong[i].config);
        ck_assert_msg(error && strstr(error, wrong[i].reason), "%s: %s", wrong[i].reason, error ? error : "accepted");
        tg_optimizer *optimizer = tg_optimizer_new(set, &wrong[i].config);
        differentiate(set);
        ck_assert(!tg_optimizer_step(optimizer));
        ck_assert_ptr_nonnull(strstr(tg_optimizer_error(optimizer), wrong[i].reason));
        ck_assert_int_eq(tg_optimizer_steps(optimizer), 0);
        ck_assert(!tg_optimizer_has_parts(optimizer) && tg_optimizer_group(optimizer, "*", 1, 0) == -1);
        const tg_update_state state = tg_optimizer_state(optimizer);
        ck_assert(!state.name && !tg_optimizer_restore(optimizer, &state));
        tg_optimizer_free(optimizer);
    }
    tg_parameters_add(set, "weight", TG_SHAPE(1), true); /* a second one of this name */
    tg_optimizer *optimizer = tg_optimizer_new(set, NULL);
    ck_assert(!tg_optimizer_step(optimizer) && strstr(tg_optimizer_error(optimizer), "weight already"));
    tg_optimizer_free(optimizer);
    tg_parameters_free(set);
}
END_TEST

START_TEST(a_state_of_another_type_is_refused)
{
    tg_parameters *set[] = {start(TG_F32), start(TG_F64)};
    tg_optimizer *optimizer[] = {tg_optimizer_new(set[0], NULL), tg_optimizer_new(set[1], NULL)};
    for (int i = 0; i < 2; i++) {
        const tg_update_state own = tg_optimizer_state(optimizer[i]), other = tg_optimizer_state(optimizer[!i]);
        ck_assert(tg_optimizer_restore(optimizer[i], &own) && !tg_optimizer_restore(optimizer[i], &other));
    }
    for (int i = 0; i < 2; i++) {
        tg_optimizer_free(optimizer[i]);
        tg_parameters_free(set[i]);
    }
}
END_TEST

/* Two layers without a call of their initialisers stay zero; one layer learns from zeros. */
START_TEST(weights_that_were_never_initialised_are_named)
{
    static const float x[3] = {1, 2, 3};
    for (int layers = 1; layers <= 2; layers++) {
        tg_parameters *set = tg_parameters_new(TG_F32);
        tg_linear_layer first = tg_linear_layer_add(set, "first", 3, layers == 1 ? 1 : 4, true);
        tg_linear_layer second = layers == 2 ? tg_linear_layer_add(set, "second", 4, 1, true) : first;
        tg_optimizer *adamw = tg_optimizer_new(set, NULL);
        tg_tape *tape = tg_tape_new();
        for (int time = 0; time < layers; time++) {
            tg_tape_reset(tape);
            tg_tensor y = tg_linear_layer_forward(&first, tg_borrow(tape, TG_F32, x, TG_SHAPE(1, 3)));
            if (layers == 2)
                y = tg_linear_layer_forward(&second, tg_sigmoid(y));
            ck_assert(tg_backward(tg_mean(tg_square(tg_add_scalar(y, 1)))));
            ck_assert_int_eq(tg_optimizer_step(adamw), layers == 1 || time == 1);
            if (layers == 2 && time == 0) {
                ck_assert_ptr_nonnull(strstr(tg_optimizer_error(adamw), "call tg_parameters_initialize"));
                tg_parameters_initialize(set, TG_INIT_XAVIER_UNIFORM, 1, NULL);
            }
        }
        tg_optimizer_free(adamw);
        tg_tape_free(tape);
        tg_parameters_free(set);
    }
}
END_TEST

/* What holds for every rule, whatever its formula: steps go down, and without gradient and decay nothing moves. */
START_TEST(every_rule_descends)
{
    const tg_optimizer_kind kind = (tg_optimizer_kind)(_i / 2);
    tg_parameters *set = start(_i % 2 ? TG_F64 : TG_F32);
    const tg_optimizer_config config = {.kind = kind, .lr = 1e-3 * tg_optimizer_rate_over_adamw(kind)};
    tg_optimizer *optimizer = tg_optimizer_new(set, &config);
    double before[SIZE];
    for (int k = 0; k < SIZE; k++) {
        before[k] = number_at(set, tg_parameters_values(set), k);
        set_gradient(set, k, 0);
    }
    ck_assert(tg_optimizer_step(optimizer));
    for (int k = 0; k < SIZE; k++)
        ck_assert_double_eq(number_at(set, tg_parameters_values(set), k), before[k]);
    double loss[2] = {0};
    for (int end = 0; end < 2; end++) {
        for (int k = 0; k < SIZE; k++) {
            const double p = number_at(set, tg_parameters_values(set), k);
            loss[end] += (k + 1) * p * p / 2 - p * sin(k + 1);
        }
        for (int step = 0; end == 0 && step < 50; step++) {
            differentiate(set);
            ck_assert(tg_optimizer_step(optimizer));
        }
    }
    ck_assert_double_lt(loss[1], loss[0]);
    tg_optimizer_free(optimizer);
    tg_parameters_free(set);
}
END_TEST

START_TEST(names_lead_to_kinds_and_back)
{
    for (int kind = 0; tg_optimizer_name((tg_optimizer_kind)kind); kind++) {
        tg_optimizer_kind found = (tg_optimizer_kind)-1;
        ck_assert(tg_optimizer_from_name(tg_optimizer_name((tg_optimizer_kind)kind), &found));
        ck_assert_int_eq((int)found, kind);
    }
    for (int kind = 0; tg_schedule_name((tg_schedule_kind)kind); kind++) {
        tg_schedule_kind found = (tg_schedule_kind)-1;
        ck_assert(tg_schedule_from_name(tg_schedule_name((tg_schedule_kind)kind), &found));
        ck_assert_int_eq((int)found, kind);
    }
    tg_optimizer_kind optimizer = TG_SGD;
    tg_schedule_kind schedule = TG_STEP_DECAY;
    ck_assert(!tg_optimizer_from_name("adams", &optimizer) && optimizer == TG_SGD);
    ck_assert(!tg_schedule_from_name("linearly", &schedule) && schedule == TG_STEP_DECAY);
}
END_TEST

START_TEST(too_little_memory_gives_null)
{
    tg_parameters *set = start(TG_F32);
    bool reached = true;
    for (int nth = 0; reached; nth++) {
        wrapped_memory_fail_after(nth);
        tg_optimizer *optimizer = tg_optimizer_new(set, NULL);
        reached = wrapped_memory_stop();
        ck_assert_int_eq(reached, optimizer == NULL);
        tg_optimizer_free(optimizer);
        ck_assert_int_lt(nth, 10);
    }
    tg_parameters_free(set);
}
END_TEST

START_TEST(null_is_survived)
{
    ck_assert_ptr_null(tg_optimizer_new(NULL, NULL));
    tg_optimizer_free(NULL);
    ck_assert(!tg_optimizer_step(NULL));
    ck_assert_ptr_nonnull(tg_optimizer_error(NULL));
    ck_assert_int_eq(tg_optimizer_steps(NULL), 0);
    ck_assert_double_eq(tg_optimizer_rate(NULL), 0);
    ck_assert_double_eq(tg_optimizer_gradient_norm(NULL), 0);
    ck_assert_ptr_null(tg_optimizer_config_error(NULL));
    ck_assert(!tg_optimizer_from_name(NULL, NULL));
    ck_assert(!tg_schedule_from_name("step", NULL));
    ck_assert_ptr_null(tg_schedule_error(NULL));
    ck_assert_ptr_null(tg_schedule_name((tg_schedule_kind)-1));
}
END_TEST

Suite *optim_suite(void)
{
    Suite *suite = suite_create("optim");
    TCase *tests = tcase_create("optim");
    tcase_add_loop_test(tests, five_steps_arrive_where_pytorch_does, 0, sizeof trajectories / sizeof trajectories[0]);
    tcase_add_test(tests, a_rule_uses_the_settings_that_change_its_steps);
    tcase_add_test(tests, lion_is_the_algorithm_of_its_paper);
    tcase_add_loop_test(tests, muon_is_pytorchs_after_fifty_steps, 0, 2);
    tcase_add_test(tests, muon_leaves_tables_and_rows_to_adamw);
    tcase_add_test(tests, lion_leaves_alone_what_has_no_gradient);
    tcase_add_test(tests, an_optimiser_of_ones_own_is_one_struct);
    tcase_add_loop_test(tests, every_rule_descends, 0, 2 * optimizers());
    tcase_add_test(tests, a_state_of_another_type_is_refused);
    tcase_add_test(tests, weights_that_were_never_initialised_are_named);
    tcase_add_loop_test(tests, large_and_small_parameters_are_updated_alike, 0, optimizers());
    tcase_add_loop_test(tests, any_number_of_threads_updates_alike, 0, 2 * optimizers());
    tcase_add_loop_test(tests, parts_of_a_step_make_the_step, 0, optimizers());
    tcase_add_test(tests, clipping_cuts_large_gradients_and_leaves_small_ones_alone);
    tcase_add_test(tests, decay_shrinks_weights_by_rate_times_decay_and_biases_not_at_all);
    tcase_add_test(tests, parameters_that_are_not_trained_stay);
    tcase_add_test(tests, an_infinite_gradient_is_refused_and_named_and_leaves_no_trace);
    tcase_add_test(tests, finite_single_precision_gradients_never_overflow_the_norm);
    tcase_add_loop_test(tests, a_gradient_whose_square_overflows_is_refused_unless_it_is_clipped, 0, 2 * optimizers());
    tcase_add_loop_test(tests, a_step_without_a_backward_pass_is_refused, 0, 2);
    tcase_add_test(tests, wrong_configurations_are_refused_with_the_reason);
    tcase_add_test(tests, names_lead_to_kinds_and_back);
    tcase_add_test(tests, too_little_memory_gives_null);
    tcase_add_test(tests, null_is_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
