/* build/bin/accuracy and its output; gelu.h. */
#include "tests/accuracy/accuracy.h"
#include "tests/accuracy/exact.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <dlfcn.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

Suite *accuracy_suite(void);

static char output[1 << 16];

/* Runs build/bin/accuracy; its exit status. `output` has standard output or, with `errors`, both streams. */
static int run(const char *arguments, bool errors)
{
    const char *build = getenv("TG_BUILD");
    char command[2000];
    snprintf(command, sizeof command, "%s/bin/accuracy %s 2>%s </dev/null", build ? build : "build", arguments,
             errors ? "&1" : "/dev/null");
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(the_csv_has_a_line_for_each_precision_order_and_instruction_set)
{
    ck_assert_int_eq(run("--csv --kernels gelu_exact,exp", false), 0);
    static const char heading[] = "kernel,precision,order,isa,max_ulp,max_abs,at\n";
    ck_assert_int_eq(strncmp(output, heading, strlen(heading)), 0);
    int lines = 0, baseline = 0;
    for (char *line = strtok(output + strlen(heading), "\n"); line; line = strtok(NULL, "\n")) {
        char kernel[20], precision[20], isa[20];
        int order;
        double ulp, absolute, at;
        ck_assert_int_eq(sscanf(line, "%19[^,],%19[^,],%d,%19[^,],%lf,%lf,%lf", kernel, precision, &order, isa, &ulp,
                                &absolute, &at),
                         7);
        ck_assert_msg(ulp > 0.4 && ulp <= 5, "%s", line);
        ck_assert_msg((absolute > 0) == (order > 0), "%s", line);
        baseline += strcmp(isa, "baseline") == 0;
        lines++;
    }
    ck_assert_int_eq(baseline, 2 * (3 + 1));
    ck_assert_int_eq(lines % baseline, 0);
}
END_TEST

START_TEST(the_table_fits_a_terminal_and_ends_with_the_verdict)
{
    ck_assert_int_eq(run("--kernels silu", false), 0);
    ck_assert_ptr_nonnull(strstr(output, "silu        f''"));
    ck_assert_ptr_nonnull(strstr(output, "and the edges: all bounds hold\n"));
    for (char *line = strtok(output, "\n"); line; line = strtok(NULL, "\n"))
        ck_assert_msg(strlen(line) <= 80, "%s", line);
}
END_TEST

/* Reads the largest error of each of the four ways from the picture's data. */
START_TEST(the_picture_shows_who_loses_digits)
{
    static char arguments[1000], line[200];
    double naive = 0, erfc = 0, ours = 0;
    snprintf(arguments, sizeof arguments, "--kernels sqrt --no-plots --python true --out '%s'", temporary_folder());
    ck_assert_msg(run(arguments, true) == 0, "%s", output);
    ck_assert_ptr_nonnull(strstr(output, "without PyTorch: true cannot import it"));
    snprintf(arguments, sizeof arguments, "%s/exactness.csv", temporary_folder());
    FILE *file = fopen(arguments, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_str_eq(fgets(line, sizeof line, file), "form,x,ulp\n");
    while (fgets(line, sizeof line, file)) {
        char form[20];
        double x, ulp;
        if (sscanf(line, "%19[^,],%lf,%lf", form, &x, &ulp) != 3)
            continue;
        double *worst = strcmp(form, "naive") == 0 ? &naive : strcmp(form, "erfc") == 0 ? &erfc : &ours;
        *worst = ulp > *worst ? ulp : *worst;
    }
    fclose(file);
    ck_assert_double_gt(naive, 1e6);
    ck_assert_double_gt(erfc, 10);
    ck_assert_double_le(ours, 2);
    ck_assert_double_gt(ours, 0.5);
}
END_TEST

START_TEST(options_that_do_not_go_together_get_one_line_and_status_2)
{
    static const char *const wrong[] = {"--no-plots",
                                        "--kernels nonsense",
                                        "--jobs 0",
                                        "--against silu",
                                        "--load ./none.so:f",
                                        "--load none.so --against silu",
                                        "--load ./none.so:f --against silu",
                                        "--load ./none.so:f --against relu",
                                        "--kernels silu --load ./none.so:f --against silu"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ck_assert_msg(run(wrong[i], true) == 2, "%s: %s", wrong[i], output);
        ck_assert_ptr_eq(strchr(output, '\n'), output + strlen(output) - 1);
    }
}
END_TEST

/* ---- functions of others ---- */

static void compile(const char *source)
{
    char command[4000];
    snprintf(command, sizeof command,
             "cd '%s' && printf '%%s' '%s' > mine.c && ${TG_CC:-cc} -O1 -shared -fPIC mine.c -o mine.so -lm",
             temporary_folder(), source);
    ck_assert_int_eq(system(command), 0);
}

/* Runs it with --load of the compiled file; the exit status. */
static int measure(const char *arguments)
{
    char all[1500];
    snprintf(all, sizeof all, "--load '%s/mine.so':%s", temporary_folder(), arguments);
    return run(all, true);
}

/* The largest error of an order in a range, from the lines of --csv. */
static double error_of(int order, const char *range)
{
    char wanted[100];
    snprintf(wanted, sizeof wanted, ",%d,%s,", order, range);
    const char *found = strstr(output, wanted);
    ck_assert_msg(found != NULL, "%s: %s", wanted, output);
    return strtod(found + strlen(wanted), NULL);
}

/* 2^24 ulp are all digits of a float: the textbook formula is 0 left of -5.5, and its derivative loses as many. */
START_TEST(a_function_of_the_user_is_measured_by_ranges)
{
    if (!exact_is_built())
        return;
    compile("#include <math.h>\n"
            "float f(float x) { return 0.5f * x * (1 + erff(x * 0.70710678f)); }\n"
            "float g(float x) { return 0.5f * (1 + erff(x * 0.70710678f)) + x * 0.39894228f * expf(-0.5f * x * x); }\n"
            "void many(unsigned long n, const double *x, double *y)\n"
            "{ for (unsigned long i = 0; i < n; i++) y[i] = x[i] > 0 || x[i] == 0 ? x[i] : x[i] < 0 ? 0 : x[i]; }\n");
    ck_assert_int_eq(measure("f --type float --against gelu_exact --derivative g --every 100000 --csv"), 0);
    ck_assert_ptr_nonnull(strstr(output, "f(-inf) is -nan, where 0 is right"));
    ck_assert_double_gt(error_of(0, "-8 to -4"), 1.6e7);
    ck_assert_double_gt(error_of(1, "-8 to -4"), 1e5);
    ck_assert_double_lt(error_of(0, "1 to 4"), 2);
    ck_assert_double_gt(error_of(0, "1 to 4"), 0.5);
    ck_assert_double_lt(error_of(1, "1 to 4"), 4);
    ck_assert_double_gt(error_of(1, "beside f\' or f\'\' = 0"), error_of(1, "-1 to -2^-10"));
    ck_assert_int_eq(measure("f --type float --against gelu_exact --every 100000 --at-most 2"), 1);
    ck_assert_ptr_nonnull(strstr(output, "the derivative is not measured"));
    ck_assert_int_eq(measure("many --arrays --against silu --every 100000 --csv"), 0);
    ck_assert_double_eq_tol(error_of(0, "x < -8"), 0x1p53, 0x1p52);
    ck_assert_int_eq(measure("none --against silu"), 2);
    ck_assert_ptr_nonnull(strstr(output, "has no function 'none'"));
}
END_TEST

/* The exact numbers here are mpmath's, to 40 digits. */
START_TEST(mpfr_gives_the_numbers_of_another_program)
{
    static const struct {
        const char *form;
        double x, exact[REFERENCE_ORDERS];
    } known[] = {
        {"gelu_exact", -13.0, {-7.952313719414843e-38, -1.0337304440113355e-36, -1.3358042354201376e-35}},
        {"gelu_exact", -0.75, {-0.16997051428265114, 0.0007742782607648957, 0.43288505872253136}},
        {"gelu_tanh", -4.25, {-2.014203584494015e-05, -0.00010528218415275171, -0.0005125415348644785}},
        {"gelu_tanh", 1.5, {1.3995715769802328, 1.1277107931514332, -0.030518196484224946}},
        {"gelu_quick", -20.0, {-3.2934102413993715e-14, -5.440713718791753e-14, -8.979825537840446e-14}},
        {"silu", -300.5, {-9.383236538083016e-129, -9.352011125310693e-129, -9.32078571253837e-129}},
        {"silu", 2.375, {2.172889768108327, 1.099811799164524, 0.0022750234211631865}},
    };
    for (size_t i = 0; exact_is_built() && i < sizeof known / sizeof known[0]; i++) {
        exact_place *place = exact_new(known[i].form);
        ck_assert_ptr_nonnull(place);
        exact_find(place, known[i].x);
        for (int order = 0; order < REFERENCE_ORDERS; order++) {
            ck_assert_double_le(exact_ulps(place, order, known[i].exact[order], true), 0.5);
            ck_assert_double_gt(exact_ulps(place, order, known[i].exact[order] * (1 + 0x1p-51), true), 1.5);
        }
        exact_free(place);
    }
    ck_assert_ptr_null(exact_new("relu"));
}
END_TEST

/* ---- gelu.h ---- */

enum { NUMBERS = 20000 };

typedef void (*many_floats)(size_t n, const float *x, float *y);
typedef void (*many_doubles)(size_t n, const double *x, double *y);

static void *function_of(void *library, const char *form, int order, const char *type)
{
    static const char *const orders[] = {"", "_grad", "_grad_grad"};
    char name[100];
    snprintf(name, sizeof name, "many_%s%s_%s", form, orders[order], type);
    void *function = dlsym(library, name);
    ck_assert_msg(function != NULL, "%s", name);
    return function;
}

/* Both are right to their bounds, so that they differ by no more than the sum of these. */
static void compare_with_kernel(const char *form, int order, void *in_c, void *in_cplusplus, bool is_double)
{
    static double x[NUMBERS], y[NUMBERS], again[NUMBERS], kernel[NUMBERS];
    static float x32[NUMBERS], y32[NUMBERS], again32[NUMBERS], kernel32[NUMBERS];
    const tg_kernel_set *set = tg_kernel_set_at(0);
    const accuracy_bound bound = accuracy_bound_of(form, is_double, order);
    tg_rng rng = tg_rng_seed(5);
    for (size_t i = 0; i < NUMBERS; i++) {
        x[i] = accuracy_random_double(&rng, i);
        x32[i] = (float)x[i];
    }
    if (is_double) {
        ((many_doubles)(uintptr_t)in_c)(NUMBERS, x, y);
        ((many_doubles)(uintptr_t)in_cplusplus)(NUMBERS, x, again);
        accuracy_run_f64(set, form, order, NUMBERS, x, kernel);
        ck_assert_int_eq(memcmp(y, again, sizeof y), 0);
    } else {
        ((many_floats)(uintptr_t)in_c)(NUMBERS, x32, y32);
        ((many_floats)(uintptr_t)in_cplusplus)(NUMBERS, x32, again32);
        accuracy_run_f32(set, form, order, NUMBERS, x32, kernel32);
        ck_assert_int_eq(memcmp(y32, again32, sizeof y32), 0);
    }
    for (size_t i = 0; i < NUMBERS; i++) {
        const double at = is_double ? x[i] : (double)x32[i], own = is_double ? y[i] : (double)y32[i];
        const double other = is_double ? kernel[i] : (double)kernel32[i];
        const double ulp = is_double ? (double)reference_ulp_f64(own) : reference_ulp_f32(own);
        if (isnan(at) ? !isnan(own) : isinf(own) ? own != other : false)
            ck_abort_msg("%s, order %d: %g at %g", form, order, own, at);
        if (isfinite(own) && !(fabs(own - other) <= 2 * (2 + bound.ulp) * ulp) &&
            !accuracy_near_zero(reference_find(form), order, at))
            ck_abort_msg("%s, order %d: %.17g and %.17g at %.17g", form, order, own, other, at);
    }
}

START_TEST(the_header_is_right_to_two_ulp_in_c_and_cplusplus_and_agrees_with_the_kernels)
{
    static const char *const forms[] = {"gelu_exact", "gelu_tanh", "gelu_quick", "silu"};
    const char *build = getenv("TG_BUILD") ? getenv("TG_BUILD") : "build";
    char path[1000];
    if (!exact_is_built())
        return;
    snprintf(path, sizeof path, "CC=\"${TG_CC:-cc}\" tests/accuracy/gelu_header.sh '%s' --every 300000 >&2", build);
    ck_assert_int_eq(system(path), 0);
    snprintf(path, sizeof path, "%s/gelu_header/many-c.so", build);
    void *in_c = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(in_c != NULL, "%s", dlerror());
    snprintf(path, sizeof path, "%s/gelu_header/many-cc.so", build);
    void *in_cplusplus = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    ck_assert_msg(in_cplusplus != NULL, "%s", dlerror());
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++)
        for (int order = 0; order < REFERENCE_ORDERS; order++)
            for (int is_double = 0; is_double < 2; is_double++) {
                const char *type = is_double ? "f64" : "f32";
                compare_with_kernel(forms[f], order, function_of(in_c, forms[f], order, type),
                                    function_of(in_cplusplus, forms[f], order, type), is_double);
            }
    dlclose(in_c);
    dlclose(in_cplusplus);
}
END_TEST

START_TEST(the_header_is_what_make_writes)
{
    if (system("python3 -c 'import mpmath' 2>/dev/null") == 0)
        ck_assert_int_eq(system("python3 autograd/kernels/gelu_header.py | cmp - autograd/kernels/gelu.h"), 0);
}
END_TEST

Suite *accuracy_suite(void)
{
    Suite *suite = suite_create("accuracy");
    TCase *tests = tcase_create("accuracy");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, the_csv_has_a_line_for_each_precision_order_and_instruction_set);
    tcase_add_test(tests, the_table_fits_a_terminal_and_ends_with_the_verdict);
    tcase_add_test(tests, the_picture_shows_who_loses_digits);
    tcase_add_test(tests, options_that_do_not_go_together_get_one_line_and_status_2);
    tcase_add_test(tests, a_function_of_the_user_is_measured_by_ranges);
    tcase_add_test(tests, mpfr_gives_the_numbers_of_another_program);
    tcase_add_test(tests, the_header_is_right_to_two_ulp_in_c_and_cplusplus_and_agrees_with_the_kernels);
    tcase_add_test(tests, the_header_is_what_make_writes);
    suite_add_tcase(suite, tests);
    return suite;
}
