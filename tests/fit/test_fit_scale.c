/* Training in 16 bits: the scale of the loss, and that a run which stops and resumes keeps it. */
#include "optim/optimizer.h"
#include "tests/support/fit_runs.h"

#include <stdio.h>
#include <string.h>

Suite *fit_scale_suite(void);

enum { ROWS = 4, STEPS = 6 };

/* One weight, from 1, that is to become 0: the loss is steepness / 2 times its square. */
typedef struct hill {
    tg_parameters *set;
    tg_optimizer *optimizer;
    tg_fit *fit;
    double steepness;
    char folder[400];
} hill;

static const float zeros[ROWS], ones[ROWS] = {1, 1, 1, 1};

static tg_tensor loss_of(void *model, const tg_tensor *batch, tg_rng *training, double *score)
{
    const hill *h = model;
    tg_tensor w = tg_parameter_tensor(tg_tape_of(batch[0]), tg_parameters_at(h->set, 0));
    (void)training, (void)score;
    return tg_mul_scalar(tg_mse(tg_mul(batch[0], w), batch[1]), h->steepness / 2);
}

static bool stop_after(void *context, const tg_fit_step *now)
{
    return now->step != *(int *)context;
}

static void begin(hill *h, double steepness, tg_format format, const char *folder, int *stop)
{
    *h = (hill){.set = tg_parameters_new(TG_F32), .steepness = steepness};
    tg_parameter_fill(tg_parameters_add(h->set, "weight", TG_SHAPE(1), true), 1);
    h->optimizer = tg_optimizer_new(h->set, &(tg_optimizer_config){.kind = TG_SGD, .lr = 0.5 / steepness});
    snprintf(h->folder, sizeof h->folder, "%s", temporary_path(folder));
    h->fit = tg_fit_new(&(tg_fit_config){.loss = loss_of,
                                         .model = h,
                                         .optimizer = h->optimizer,
                                         .train = {ROWS, {{ones, TG_F32}, {zeros, TG_F32}}},
                                         .batch = ROWS,
                                         .epochs = STEPS,
                                         .round = format,
                                         .folder = h->folder,
                                         .resume = true,
                                         .on_step = stop ? stop_after : NULL,
                                         .context = stop});
}

static double end(hill *h)
{
    const double weight = tg_parameter_get(tg_parameters_at(h->set, 0), 0);
    tg_fit_free(h->fit);
    tg_optimizer_free(h->optimizer);
    tg_parameters_free(h->set);
    return weight;
}

/* The gradient at 1 is the steepness. Times 65536 that of 7 is too large for float16, and so it is until the scale is
 * 8192: three steps are left out, and each of the others halves the weight. The gradient of 1e-7 is below the least
 * number of float16 when the weight is halved twice, and the scale saves it. */
START_TEST(the_scale_is_halved_until_gradients_are_finite)
{
    static const struct {
        double steepness;
        tg_format format;
        double weight;
    } cases[] = {{7, TG_FLOAT16, 1.0 / 8},
                 {7, TG_BFLOAT16, 1.0 / 64},
                 {7, TG_FLOAT32, 1.0 / 64},
                 {0x1p-23, TG_FLOAT16, 1.0 / 64}};
    hill h;
    begin(&h, cases[_i].steepness, cases[_i].format, "scale", NULL);
    ck_assert_msg(tg_fit_run(h.fit), "%s", tg_fit_error(h.fit));
    const tg_fit_epoch *first = tg_fit_epoch_at(h.fit, 0);
    ck_assert_double_eq(first->gradient_norm, cases[_i].weight == 1.0 / 8 ? 0 : cases[_i].steepness);
    ck_assert_double_eq(end(&h), cases[_i].weight);
}
END_TEST

START_TEST(a_run_that_resumes_keeps_the_scale)
{
    hill h;
    int stop = _i + 1;
    begin(&h, 7, TG_FLOAT16, "stopped", &stop);
    ck_assert(tg_fit_run(h.fit));
    end(&h);
    begin(&h, 7, TG_FLOAT16, "stopped", NULL);
    ck_assert_msg(tg_fit_run(h.fit), "%s", tg_fit_error(h.fit));
    ck_assert_double_eq(end(&h), 1.0 / 8);
}
END_TEST

START_TEST(a_scale_that_is_none_is_refused)
{
    static const char *const wrong[] = {"    nan", "    inf", "      0", "-0x1p+2"};
    hill h;
    int stop = 1;
    begin(&h, 0x1p-23, TG_FLOAT16, "damaged", &stop);
    ck_assert(tg_fit_run(h.fit));
    end(&h);
    const char *path = "damaged/last.safetensors";
    FILE *file = fopen(temporary_path(path), "rb");
    char bytes[4096];
    const size_t size = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    bytes[size] = '\0';
    char *scale = strstr(bytes + 8, " 0x1p+16 "); /* in the JSON header, behind its length */
    ck_assert_ptr_nonnull(scale);
    memcpy(scale + 1, wrong[_i], 7);
    temporary_write(path, bytes, size);
    begin(&h, 0x1p-23, TG_FLOAT16, "damaged", NULL);
    ck_assert_ptr_nonnull(tg_fit_error(h.fit));
    ck_assert_msg(strstr(tg_fit_error(h.fit), "'fit.epochs' is damaged"), "%s", tg_fit_error(h.fit));
    end(&h);
}
END_TEST

START_TEST(a_gradient_that_no_scale_makes_finite_ends_the_run)
{
    hill h;
    begin(&h, 1, TG_FLOAT16, "endless", NULL);
    ck_assert(!tg_fit_error(h.fit));
    tg_parameter_put(tg_parameters_at(h.set, 0), 0, 70000);
    tg_parameter_changed(tg_parameters_at(h.set, 0));
    ck_assert(!tg_fit_run(h.fit) && tg_fit_diverged(h.fit));
    end(&h);
}
END_TEST

/* The scale helps only where a gradient is not finite: what else the optimiser refuses ends the run, in 16 bits too. */
START_TEST(a_step_that_no_scale_helps_ends_the_run_at_once)
{
    static const tg_format formats[] = {TG_FLOAT32, TG_BFLOAT16, TG_FLOAT16};
    hill h;
    begin(&h, 1, formats[_i], "zero", NULL);
    tg_parameter *weight = tg_parameters_at(h.set, 0);
    tg_parameter_initial(weight, (tg_initial){.gain = 1});
    tg_parameter_fill(weight, 0);
    ck_assert(!tg_fit_run(h.fit));
    ck_assert_msg(strstr(tg_fit_error(h.fit), "all weights are zero"), "%s", tg_fit_error(h.fit));
    ck_assert(tg_fit_step_count(h.fit) == 0 && !tg_fit_diverged(h.fit));
    end(&h);
}
END_TEST

START_TEST(doubles_are_not_rounded)
{
    fit_run r;
    fit_begin(&r, 0, TG_NORM_NONE);
    r.config.round = TG_BFLOAT16;
    r.fit = tg_fit_new(&r.config);
    ck_assert_str_eq(tg_fit_error(r.fit), "training: only models of floats, in one process, can be rounded to 16 bits");
    fit_end(&r);
}
END_TEST

Suite *fit_scale_suite(void)
{
    Suite *suite = suite_create("fit_scale");
    TCase *tests = tcase_create("fit_scale");
    tcase_add_checked_fixture(tests, fit_suite_start, fit_suite_finish);
    tcase_add_loop_test(tests, the_scale_is_halved_until_gradients_are_finite, 0, 4);
    tcase_add_loop_test(tests, a_run_that_resumes_keeps_the_scale, 0, STEPS);
    tcase_add_loop_test(tests, a_scale_that_is_none_is_refused, 0, 4);
    tcase_add_test(tests, a_gradient_that_no_scale_makes_finite_ends_the_run);
    tcase_add_loop_test(tests, a_step_that_no_scale_helps_ends_the_run_at_once, 0, 3);
    tcase_add_test(tests, doubles_are_not_rounded);
    suite_add_tcase(suite, tests);
    return suite;
}
