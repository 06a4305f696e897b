/* What rows add to measures that are no means: against the jackknife, which leaves each row out and measures again. */
#include "autograd/base/numbers.h"
#include "examples/programs/run/influence.h"
#include "examples/programs/run/tally.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <tapegrad.h>

Suite *influence_suite(void);

enum { ROWS = 400, CLASSES = 3 };

/* Rows and a card for them; `weight` counts how often each row is there. */
typedef struct made {
    tg_card card;
    tg_card_input target[1];
    float output[ROWS * CLASSES], wanted[ROWS], weight[ROWS];
    int32_t label[ROWS];
} made;

static void make(made *m, size_t classes)
{
    tg_rng rng = tg_rng_seed(3);
    *m = (made){.target = {{.scale = {.mean = 5, .scale = 2.5}}}};
    m->card = (tg_card){.task = classes ? TG_CARD_CLASSES : TG_CARD_TARGETS,
                        .classes = classes,
                        .targets = !classes,
                        .target = m->target,
                        .spec.outputs = classes ? (int)classes : 1};
    for (int i = 0; i < ROWS; i++) {
        m->weight[i] = 1;
        m->label[i] = (int32_t)(tg_rng_uniform(&rng) < 0.25 ? classes - 1 : (uint32_t)i % (classes ? classes : 1));
        m->wanted[i] = (float)tg_rng_normal(&rng);
        for (size_t k = 0; k < (classes ? classes : 1); k++)
            m->output[(size_t)i * (classes ? classes : 1) + k] =
                classes ? (float)(floor(4 * tg_rng_normal(&rng)) / 4 + (m->label[i] == (int32_t)k))
                        : m->wanted[i] / 2 + (float)tg_rng_normal(&rng) / 2;
    }
}

static int answer_of(const made *m, int row)
{
    int best = 0;
    for (int k = 1; k < (int)m->card.classes; k++)
        best = m->output[row * (int)m->card.classes + k] > m->output[row * (int)m->card.classes + best] ? k : best;
    return best;
}

static double balanced(const made *m, bool f1)
{
    double sum = 0;
    for (int k = 0; k < (int)m->card.classes; k++) {
        double label = 0, answer = 0, both = 0;
        for (int i = 0; i < ROWS; i++) {
            label += m->weight[i] * (float)(m->label[i] == k);
            answer += m->weight[i] * (float)(answer_of(m, i) == k);
            both += m->weight[i] * (float)(m->label[i] == k && answer_of(m, i) == k);
        }
        sum += f1 ? 2 * both / (label + answer) : both / label;
    }
    return sum / (double)m->card.classes;
}

static double area(const made *m)
{
    double right = 0, all = 0;
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < ROWS; k++)
            if (m->label[i] == 1 && m->label[k] == 0) {
                const double a = (double)m->output[2 * i + 1] - m->output[2 * i],
                             b = (double)m->output[2 * k + 1] - m->output[2 * k], w = m->weight[i] * m->weight[k];
                right += w * (a > b ? 1 : a == b ? 0.5 : 0);
                all += w;
            }
    return right / all;
}

static double of_targets(const made *m, influence_measure which)
{
    double rows = 0, mean = 0, squares = 0, absolutes = 0, total = 0;
    for (int i = 0; i < ROWS; i++) {
        rows += m->weight[i];
        mean += m->weight[i] * m->wanted[i];
    }
    mean /= rows;
    for (int i = 0; i < ROWS; i++) {
        const double error = m->wanted[i] - m->output[i];
        squares += m->weight[i] * error * error;
        absolutes += m->weight[i] * fabs(error);
        total += m->weight[i] * pow(m->wanted[i] - mean, 2);
    }
    return which == INFLUENCE_R2     ? 1 - squares / total
           : which == INFLUENCE_RMSE ? 2.5 * sqrt(squares / rows)
                                     : 2.5 * absolutes / rows;
}

/* Expected calibration error in 15 bins. */
static double calibration(const made *m)
{
    const int classes = (int)m->card.classes;
    double sum[15] = {0}, rows = 0, all = 0;
    for (int i = 0; i < ROWS; i++) {
        const float *logits = m->output + i * classes;
        const int answer = answer_of(m, i);
        double others = 0;
        for (int k = 0; k < classes; k++)
            others += exp((double)logits[k] - logits[answer]);
        sum[(int)fmin(14, 15 / others)] += m->weight[i] * (1 / others - (m->label[i] == answer));
        rows += m->weight[i];
    }
    for (int bin = 0; bin < 15; bin++)
        all += fabs(sum[bin]) / rows;
    return all;
}

static double measure(const made *m, influence_measure which)
{
    return which == INFLUENCE_AUC        ? area(m)
           : which == INFLUENCE_BALANCED ? balanced(m, false)
           : which == INFLUENCE_F1       ? balanced(m, true)
                                         : of_targets(m, which);
}

static const struct {
    influence_measure which;
    size_t classes;
} cases[] = {{INFLUENCE_BALANCED, 3}, {INFLUENCE_F1, 3}, {INFLUENCE_BALANCED, 2}, {INFLUENCE_F1, 2},
             {INFLUENCE_AUC, 2},      {INFLUENCE_R2, 0}, {INFLUENCE_RMSE, 0},     {INFLUENCE_MAE, 0}};

/* The mean of the values is the measure; and leaving a row out changes it by (T - value) / (rows - 1), to the second
 * order, so the variance is the jackknife's. */
START_TEST(rows_add_what_the_jackknife_finds)
{
    static made m;
    make(&m, cases[_i].classes);
    const influence_rows rows = {.count = ROWS, .output = m.output, .label = m.label, .wanted = m.wanted};
    double *values = influence(&m.card, &rows), mean = 0, ours = 0, theirs = 0, between = 0;
    const double *of = values + (size_t)cases[_i].which * ROWS, whole = measure(&m, cases[_i].which);
    for (int i = 0; i < ROWS; i++)
        mean += of[i] / ROWS;
    ck_assert_double_eq_tol(mean, whole, 1e-6);
    for (int i = 0; i < ROWS; i++) {
        m.weight[i] = 0;
        const double left_out = ROWS * whole - (ROWS - 1) * measure(&m, cases[_i].which); /* Tukey's pseudo-value */
        m.weight[i] = 1;
        ours += pow(of[i] - whole, 2);
        theirs += pow(left_out - whole, 2);
        between += (of[i] - whole) * (left_out - whole);
    }
    ck_assert_msg(fabs(ours / theirs - 1) < 0.03, "variance %g, the jackknife's %g", ours, theirs);
    ck_assert_msg(between > 0.999 * sqrt(ours * theirs), "correlation %g", between / sqrt(ours * theirs));
    free(values);
}
END_TEST

/* A calibration error bends where a bin's sum is 0, which leaving one row out does not see; samples of a population
 * do. */
START_TEST(the_calibration_error_varies_as_samples_do)
{
    enum { TIMES = 400 };
    static made m;
    make(&m, 2);
    tg_rng rng = tg_rng_seed(1);
    double drawn[TIMES], middle = 0, ours = 0, theirs = 0;
    for (int t = 0; t < TIMES; t++) {
        for (int i = 0; i < ROWS; i++) {
            m.output[2 * i + 1] = m.output[2 * i] + (float)(2 * tg_rng_normal(&rng));
            m.label[i] = tg_rng_uniform(&rng) < 1 / (1 + exp(0.8 * ((double)m.output[2 * i] - m.output[2 * i + 1])));
        }
        const influence_rows rows = {.count = ROWS, .output = m.output, .label = m.label};
        double *values = influence(&m.card, &rows), mean = 0;
        const double *of = values + INFLUENCE_CALIBRATION * (size_t)ROWS;
        for (int i = 0; i < ROWS; i++)
            mean += of[i] / ROWS;
        drawn[t] = calibration(&m);
        ck_assert_double_eq_tol(mean, drawn[t], 1e-9);
        for (int i = 0; i < ROWS; i++)
            ours += pow(of[i] - mean, 2) / ROWS / ROWS / TIMES;
        middle += drawn[t] / TIMES;
        free(values);
    }
    for (int t = 0; t < TIMES; t++)
        theirs += pow(drawn[t] - middle, 2) / TIMES;
    ck_assert_msg(fabs(ours / theirs - 1) < 0.3, "deviation %g, of samples %g", sqrt(ours), sqrt(theirs));
}
END_TEST

/* A weight of two is two rows. */
START_TEST(a_weight_is_so_many_rows)
{
    static made m;
    make(&m, cases[_i].classes);
    const size_t width = m.card.classes ? m.card.classes : 1;
    for (int i = 0; i < ROWS / 2; i++) { /* the second half becomes the first half again */
        m.label[ROWS / 2 + i] = m.label[i];
        m.wanted[ROWS / 2 + i] = m.wanted[i];
        for (size_t k = 0; k < width; k++)
            m.output[(size_t)(ROWS / 2 + i) * width + k] = m.output[(size_t)i * width + k];
        m.weight[i] = 2;
    }
    influence_rows rows = {.count = ROWS, .output = m.output, .label = m.label, .wanted = m.wanted};
    double *twice = influence(&m.card, &rows);
    rows.count = ROWS / 2;
    rows.weight = m.weight;
    double *weighted = influence(&m.card, &rows);
    for (size_t i = 0; i < ROWS / 2; i++)
        ck_assert_double_eq_tol(weighted[(size_t)cases[_i].which * (ROWS / 2) + i],
                                twice[(size_t)cases[_i].which * ROWS + i], 1e-9);
    free(twice);
    free(weighted);
}
END_TEST

/* As of a net that has diverged. */
START_TEST(outputs_that_are_no_numbers_have_no_area)
{
    static made m;
    make(&m, 2);
    m.output[7] = NAN;
    const influence_rows rows = {.count = ROWS, .output = m.output, .label = m.label};
    double *values = influence(&m.card, &rows);
    ck_assert(isnan(values[INFLUENCE_AUC * (size_t)ROWS]) && !isnan(values[INFLUENCE_F1 * (size_t)ROWS]));
    free(values);
}
END_TEST

/* Of classes that are apart, with weights whose sums are rounded: it was 1.0000000000000002, no share. */
START_TEST(no_area_is_above_one)
{
    tg_rng rng = tg_rng_seed(1);
    for (int trial = 0; trial < 200; trial++) {
        tally_score rows[40];
        double of[2];
        for (int i = 0; i < 40; i++)
            rows[i] = (tally_score){.probability = i, .weight = tg_rng_uniform(&rng), .positive = i >= 20};
        ck_assert_double_eq_tol(tally_area(rows, 40, of), 1, 1e-15);
        ck_assert_double_le(tally_area(rows, 40, of), 1);
    }
}
END_TEST

/* Their variance is 0, and what the sums have of it is rounding: R2 was printed as 61522641584281752. A row without a
 * weight does not count. */
START_TEST(equal_targets_have_no_r2)
{
    static made m;
    make(&m, 0);
    for (int i = 1; i < ROWS; i++)
        m.wanted[i] = 0.4321F;
    m.weight[0] = 0;
    tg_tape *tape = tg_tape_new();
    for (int first = 0; first < 2; first++)
        for (int count = 3; count < 100; count++) {
            const influence_rows rows = {(size_t)count, m.output + first, NULL, m.wanted + first, m.weight + first};
            double *values = influence(&m.card, &rows);
            tally sums = {0};
            tally_add(&sums, &m.card, tg_borrow(tape, TG_F32, rows.output, TG_SHAPE(count, 1)),
                      tg_borrow(tape, TG_F32, rows.wanted, TG_SHAPE(count, 1)),
                      tg_borrow(tape, TG_F32, rows.weight, TG_SHAPE(count)));
            ck_assert(!isfinite(tally_measures(&sums, &m.card).r2));
            ck_assert(!isfinite(values[INFLUENCE_R2 * count]) && isfinite(values[INFLUENCE_MAE * count]));
            free(values);
        }
    tg_tape_free(tape);
}
END_TEST

START_TEST(the_exponential_is_right_to_two_ulp)
{
    tg_rng rng = tg_rng_seed(1);
    for (int i = 0; i < 100000; i++) {
        const double x = i < 100 ? -i : i < 200 ? (i - 100) * log(2) / 2 : 40 * (tg_rng_uniform(&rng) - 0.9);
        const long double right = expl((long double)x);
        ck_assert_msg(fabsl(tg_number_exp(x) - right) <= 2 * 0x1p-53L * right, "e to the %.17g is not %.17g", x,
                      tg_number_exp(x));
    }
    ck_assert(tg_number_exp(0) == 1 && tg_number_exp(-INFINITY) == 0 && tg_number_exp(INFINITY) == INFINITY &&
              isnan(tg_number_exp(NAN)));
}
END_TEST

Suite *influence_suite(void)
{
    Suite *suite = suite_create("influence");
    TCase *tests = tcase_create("influence");
    suite_add_tcase(suite, tests);
    tcase_add_loop_test(tests, rows_add_what_the_jackknife_finds, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, the_calibration_error_varies_as_samples_do);
    tcase_add_test(tests, outputs_that_are_no_numbers_have_no_area);
    tcase_add_test(tests, equal_targets_have_no_r2);
    tcase_add_test(tests, no_area_is_above_one);
    tcase_add_test(tests, the_exponential_is_right_to_two_ulp);
    tcase_add_loop_test(tests, a_weight_is_so_many_rows, 0, sizeof cases / sizeof *cases);
    return suite;
}
