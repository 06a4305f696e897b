/* The benchmark as users run it. */
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tapegrad.h>

Suite *bench_program_suite(void);

static char output[1 << 16];

/* Runs build/bin/PROGRAM with these environment variables; captures both streams and the exit status. */
static int run(const char *environment, const char *program)
{
    const char *build = getenv("TG_BUILD");
    char command[2000];
    snprintf(command, sizeof command, "{ env %s %s/bin/%s; } 2>&1 </dev/null", environment, build ? build : "build",
             program);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    const size_t length = fread(output, 1, sizeof output - 1, pipe);
    output[length] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int count_of(const char *words)
{
    int count = 0;
    for (const char *at = output; (at = strstr(at, words)); at += strlen(words))
        count++;
    return count;
}

/* ---- memory ---- */

/* A perceptron 2-16-16-2 has 354 parameters, stored four times: values, gradients and two moments. */
START_TEST(memory_is_measured_for_each_net_and_activation)
{
    double trained[2], used[2], held[2], resident[2];
    ck_assert_int_eq(run("", "bench --memory --nets toy,gpt --activations gelu_tanh --csv"), 0);
    const char *gpt = strstr(output, "gpt,gelu_tanh,");
    ck_assert_int_eq(
        sscanf(output, "%*[^\n] toy,gelu_tanh,%lf,%lf,%lf,%lf", &trained[0], &used[0], &held[0], &resident[0]), 4);
    ck_assert(gpt && sscanf(gpt, "gpt,gelu_tanh,%lf,%lf,%lf,%lf", &trained[1], &used[1], &held[1], &resident[1]) == 4);
    ck_assert_double_eq(trained[0], 0.01); /* 5664 bytes */
    for (int i = 0; i < 2; i++)
        ck_assert(used[i] <= held[i] && trained[i] + used[i] <= resident[i]);
    ck_assert_double_gt(resident[1], resident[0]);
    ck_assert_int_eq(run("", "bench --memory --nets nothing"), 2);
    ck_assert_int_eq(run("", "bench --memory --threads 2"), 2);
}
END_TEST

/* ---- recording ---- */

START_TEST(recording_is_measured_for_graphs_that_repeat_and_that_change)
{
    double one[3], turn[3], changes[3];
    ck_assert_int_eq(run("", "bench --recording --seconds 0 --csv"), 0);
    ck_assert_int_eq(sscanf(output, "%*[^\n] %*[^,],%lf,%lf,%lf %*[^,],%lf,%lf,%lf %*[^,],%lf,%lf,%lf", &one[0],
                            &one[1], &one[2], &turn[0], &turn[1], &turn[2], &changes[0], &changes[1], &changes[2]),
                     9);
    ck_assert(one[0] > 0 && one[1] == 1 && one[2] > 0 && turn[0] > 0 && changes[0] > 0 && changes[2] > 0);
    ck_assert_int_eq(run("", "bench --recording --nets toy"), 2);
}
END_TEST

/* ---- formulas ---- */

START_TEST(steps_with_a_formula_are_timed_beside_those_of_the_built_in_twin)
{
    double built_in, formula, ratio;
    ck_assert_int_eq(run("", "bench --formulas --seconds 0 --csv"), 0);
    ck_assert_int_eq(count_of("recorded,"), 3);
    ck_assert_int_eq(count_of("replayed,"), 3);
    const char *line = strstr(output, "relu_squared,\"max(0, x)^2\",replayed,");
    ck_assert(line &&
              sscanf(line, "relu_squared,\"max(0, x)^2\",replayed,%lf,%lf,%lf", &built_in, &formula, &ratio) == 3);
    ck_assert_msg(built_in > 0 && fabs(formula / built_in - ratio) < 0.01 * ratio, "%s", line);
    ck_assert_int_eq(run("", "bench --formulas --threads 1"), 2);
}
END_TEST

/* ---- recurrent nets ---- */

START_TEST(steps_of_recurrent_nets_are_timed_for_each_cell)
{
    ck_assert_int_eq(run("", "bench --recurrent --only rnn --seconds 0 --csv"), 0);
    ck_assert_msg(count_of("\"rnn ") == 8 && count_of("\"lstm ") == 0, "%s", output);
    ck_assert_int_eq(run("", "bench --recurrent --only foo --seconds 0"), 2);
}
END_TEST

/* ---- inference ---- */

START_TEST(predictions_and_texts_are_timed)
{
    if (system("command -v cc >/dev/null") != 0)
        return;
    double predict, tape, emitted;
    ck_assert_int_eq(run("", "bench --inference --seconds 0 --csv"), 0);
    ck_assert_int_eq(sscanf(output, "%*[^\n] %*[^,], 1 row\",%lf,%lf,%lf,,", &predict, &tape, &emitted), 3);
    ck_assert(predict > 0 && tape > 0 && emitted > 0);
    ck_assert_msg(count_of("\"784-128-10, ") == 2 && count_of("\"13-64-64-1, ") == 2 && count_of("\"LSTM 256, ") == 3,
                  "%s", output);
    ck_assert_int_eq(run("", "bench --inference --seconds 0 --compiler false"), 2);
}
END_TEST

/* ---- convolutional nets ---- */

START_TEST(steps_of_convolutional_nets_are_timed_with_batch_norm_and_without)
{
    ck_assert_int_eq(run("", "bench --convnet --activations relu --seconds 0 --csv"), 0);
    ck_assert_msg(count_of("\"relu, filters ") == 4 && count_of(", batch norm\",") == 2 &&
                      count_of("\"relu, vision transformer ") == 1 && count_of("\"convolution ") == 10 &&
                      count_of(", with backward\",") == 6 && count_of("\"max pooling, 28 x 28, ") == 2,
                  "%s", output);
    ck_assert_int_eq(run("", "bench --convnet --activations nothing"), 2);
}
END_TEST

START_TEST(steps_of_a_gpt_are_timed_with_several_contexts)
{
    ck_assert_int_eq(run("", "bench --gpt --contexts 16,32 --activations relu --threads 1 --seconds 0 --csv"), 0);
    ck_assert_msg(count_of("relu,1,16,") == 1 && count_of("relu,1,32,") == 1, "%s", output);
    ck_assert_int_eq(run("", "bench --gpt --contexts 4096 --seconds 0"), 2);
    ck_assert_int_eq(run("", "bench --contexts 64 --seconds 0"), 2);
}
END_TEST

/* ---- peers ---- */

/* A fake Python whose steps take a fixed number of seconds. */
static const char *false_python(const char *name, const char *seconds)
{
    char script[400];
    snprintf(script, sizeof script,
             "#!/bin/sh\necho %s 1.0\nwhile read command rest; do case $command in\nnet) echo ready;;\n"
             "run) echo %s;;\n*) echo no;;\nesac; done\n",
             name, seconds);
    temporary_write(name, script, strlen(script));
    ck_assert_int_eq(chmod(temporary_path(name), 0755), 0);
    return temporary_path(name);
}

static void run_bench_with(const char *torch, const char *jax, int expected)
{
    char command[1000];
    snprintf(
        command, sizeof command,
        "bench --nets toy --activations relu --threads 1 --seconds 0 --csv --peers --python '%s' --jax-python '%s'",
        torch, jax);
    ck_assert_msg(run("", command) == expected, "%s", output);
}

START_TEST(peers_are_timed_beside_the_tape)
{
    run_bench_with(false_python("torch", "0.5"), false_python("jax", "0.25"), 0);
    ck_assert_int_eq(count_of(",torch_us_median,torch_compiled_us_median,jax_us_median\n"), 1);
    ck_assert_msg(count_of(",500000.000,,250000.000\n") == 2, "%s", output); /* recorded and replayed */
}
END_TEST

START_TEST(a_peer_that_is_named_and_does_not_start_ends_the_benchmark)
{
    run_bench_with(false_python("torch", "0.5"), "/no/such/python", 2);
    ck_assert_ptr_nonnull(strstr(output, "bench: JAX is not timed: /no/such/python did not start it\n"));
    ck_assert_ptr_null(strstr(output, "us_median"));
    run_bench_with("true", false_python("jax", "0.25"), 2);
    ck_assert_ptr_nonnull(strstr(output, "bench: PyTorch is not timed: true did not start it\n"));
}
END_TEST

/* ---- options ---- */

START_TEST(an_option_that_is_wrong_or_changes_nothing_is_refused)
{
    const struct {
        const char *options, *message;
    } cases[] = {
        {"--dtype f64", "--dtype is for --products only"},
        {"--cores Haswell --gpt", "--cores is for --products only"},
        {"--kernels --nets toy", "--nets is for training steps, --products, --mpi, --memory and --emitted only"},
        {"--gpt --nets toy", "--nets is for training steps, --products, --mpi, --memory and --emitted only"},
        {"--kernels --threads 1", "--threads is for training steps, --gpt, --products, --convnet and --recurrent only"},
        {"--products --activations relu",
         "--activations is for training steps, --gpt, --convnet, --memory and --emitted only"},
        {"--only silu", "--only is for --kernels and --recurrent only"},
        {"--isa v3", "--isa is for --kernels and --products only"},
        {"--products --peers",
         "--peers is for training steps, --gpt, --convnet, --recurrent, --inference, --kernels and --mpi only"},
        {"--compile", "--compile: without --peers no peer is timed"},
        {"--python python3", "--python: without --peers no peer is timed"},
        {"--kernels --peers --jax-python python3", "--jax-python is for training steps only"},
        {"--kernels --peers --compile", "--compile is for training steps and --gpt only"},
        {"--products --threads abc",
         "--threads: 'abc' is not a list of different whole numbers, with commas between, from 1 to 1024"},
        {"--products --nets toy,foo", "--nets: 'foo' is not one of toy, small, paper, mid, ffn, square, lstm"},
        {"--nets foo", "--nets: 'foo' is not one of toy, small, paper, mid, ffn"},
        {"--activations foo", "--activations: 'foo' is not one of relu, gelu_exact, swiglu"},
        {"--kernels --products", "--kernels and --products: one at a time"},
        {"--gpt --products", "--gpt and --products: one at a time"},
        {"--compiler gcc", "--compiler is for --emitted and --inference only"},
        {"--emitted --threads 2", "--threads is for training steps, --gpt, --products, --convnet and --recurrent only"},
        {"--mpi --products", "--products and --mpi: one at a time"},
        {"--mpi --threads 2", "--threads is for training steps, --gpt, --products, --convnet and --recurrent only"},
        {"--mpi", "--mpi: this build has no MPI; make MPI=1 makes one that has"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char command[200], line[200];
        snprintf(command, sizeof command, "bench --seconds 0 %s", cases[i].options);
        snprintf(line, sizeof line, "bench: %s\n", cases[i].message);
        ck_assert_int_eq(run("", command), 2);
        ck_assert_str_eq(output, line);
    }
}
END_TEST

/* ---- the step as C ---- */

START_TEST(the_step_as_C_is_timed_beside_the_tape)
{
    char command[1000];
    if (system("command -v cc >/dev/null") != 0)
        return;
    snprintf(command, sizeof command,
             "bench --emitted --nets toy --activations gelu_exact --seconds 0 --csv --keep '%s'", temporary_folder());
    ck_assert_msg(run("", command) == 0, "%s", output);
    double us[3], ratio[2];
    ck_assert_int_eq(
        sscanf(output, "%*[^\n] toy,gelu_exact,%lf,%lf,%lf,%lf,%lf", &us[0], &us[1], &us[2], &ratio[0], &ratio[1]), 5);
    for (int i = 0; i < 3; i++)
        ck_assert(us[i] > 0 && ratio[i / 2] > 0);
    ck_assert_ptr_nonnull(strstr(temporary_text("toy-gelu_exact.c"), "double net_train(const float *x"));
    ck_assert_int_eq(run("", "bench --emitted --nets toy --activations relu --compiler /no/such/cc"), 2);
    ck_assert_ptr_nonnull(strstr(output, "bench: --emitted needs a C compiler; this failed: /no/such/cc -std=c99"));
    ck_assert_int_eq(run("", "bench --emitted --nets nothing"), 2);
}
END_TEST

/* ---- products ---- */

START_TEST(products_are_timed_by_each_core_in_a_process_of_its_own)
{
    ck_assert_msg(run("", "bench --products --nets toy --threads 1 --seconds 0 --cores Nehalem,Prescott --csv") == 0,
                  "%s", output);
    ck_assert_int_eq(count_of("net,m,n,k,order,"), 1);
#if defined __x86_64__
    ck_assert_int_eq(count_of(",Nehalem,"), 5 * 4);
    ck_assert_int_eq(count_of(",Prescott,"), 5 * 4);
#endif
}
END_TEST

START_TEST(a_core_that_OpenBLAS_does_not_know_is_told)
{
    ck_assert_int_eq(run("", "bench --products --nets toy --threads 1 --seconds 0 --cores NoCore --csv"), 0);
    ck_assert_msg(strstr(output, "bench: --cores: OpenBLAS has no core NoCore here, and runs "), "%s", output);
}
END_TEST

START_TEST(the_picture_of_products_has_a_roof_and_every_core)
{
    char command[1000];
    if (system("gnuplot --version >/dev/null 2>&1") != 0)
        return;
    ck_assert_int_eq(
        run("", "bench --products --nets toy,small --threads 1 --seconds 0 --cores Nehalem,Prescott --csv 2>/dev/null"),
        0);
    temporary_write("products.csv", output, strlen(output));
    snprintf(command, sizeof command, "gnuplot -e 'dir=\"%s\"' plots/products.gp 2>&1", temporary_folder());
    ck_assert_int_eq(system(command), 0);
    const char *svg = temporary_text("products.svg");
    ck_assert_ptr_nonnull(strstr(svg, "multiply-adds in registers"));
    ck_assert_ptr_nonnull(strstr(svg, "tapegrad"));
#if defined __x86_64__
    ck_assert_ptr_nonnull(strstr(svg, "OpenBLAS, Nehalem"));
    ck_assert_ptr_nonnull(strstr(svg, "OpenBLAS, Prescott"));
#endif
}
END_TEST

/* The curves of a small comparison without their times: every digit depends on the products. */
static const char *curves(const char *environment)
{
    static char text[2][1 << 14];
    static int turn;
    char command[600];
    snprintf(
        command, sizeof command,
        "compare --data glyphs --rows 1000 --hidden 32 --seeds 1 --epochs 1 --activations relu --no-plots --overwrite "
        "--out '%s'",
        temporary_folder());
    ck_assert_msg(run(environment, command) == 0, "%s", output);
    turn = !turn;
    snprintf(text[turn], sizeof text[turn], "%s", temporary_text("curves.csv"));
    *strrchr(text[turn], ',') = '\0';
    return text[turn];
}

#if defined __x86_64__
/* Imitates a processor that OpenBLAS does not know. */
START_TEST(with_fused_multiply_adds_products_do_not_depend_on_OpenBLAS)
{
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        ck_assert_str_eq(curves(""), curves("OPENBLAS_CORETYPE=Prescott"));
}
END_TEST
#endif

Suite *bench_program_suite(void)
{
    Suite *suite = suite_create("bench_program");
    TCase *tests = tcase_create("bench");
    const TTest *const slow[][4] = {
        {predictions_and_texts_are_timed},
        {steps_of_convolutional_nets_are_timed_with_batch_norm_and_without,
         memory_is_measured_for_each_net_and_activation, the_picture_of_products_has_a_roof_and_every_core},
        {the_step_as_C_is_timed_beside_the_tape, steps_of_recurrent_nets_are_timed_for_each_cell,
         steps_of_a_gpt_are_timed_with_several_contexts}}; /* seconds: a row of them a day */
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    for (int i = today(3); i < 3; i += every(3))
        for (int k = 0; slow[i][k]; k++)
            tcase_add_test(tests, slow[i][k]);
    tcase_add_test(tests, recording_is_measured_for_graphs_that_repeat_and_that_change);
    tcase_add_test(tests, steps_with_a_formula_are_timed_beside_those_of_the_built_in_twin);
    tcase_add_test(tests, peers_are_timed_beside_the_tape);
    tcase_add_test(tests, a_peer_that_is_named_and_does_not_start_ends_the_benchmark);
    tcase_add_test(tests, an_option_that_is_wrong_or_changes_nothing_is_refused);
    tcase_add_test(tests, products_are_timed_by_each_core_in_a_process_of_its_own);
    tcase_add_test(tests, a_core_that_OpenBLAS_does_not_know_is_told);
#if defined __x86_64__
    tcase_add_test(tests, with_fused_multiply_adds_products_do_not_depend_on_OpenBLAS);
#endif
    suite_add_tcase(suite, tests);
    return suite;
}
