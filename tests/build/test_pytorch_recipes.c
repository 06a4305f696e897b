/* Files of weights with the names of an nn.Sequential, and the recipes of docs/pytorch.md. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *pytorch_recipes_suite(void);

#define RENAME "--rename '0.*=layers.0.*,2.*=layers.1.*'"

/* A table of two features, and housing/, a run on it; new.csv has the recipe's rows. */
static void make_housing(void)
{
    static const char rows[] = "rooms,age\n5,30\n7,2\n";
    FILE *file = fopen(temporary_path("housing.csv"), "w");
    fputs("rooms,age,price\n", file);
    for (int row = 0; row < 120; row++) {
        const int rooms = 2 + row * 7 % 8, age = row * 13 % 50;
        fprintf(file, "%d,%d,%d\n", rooms, age, 50000 * rooms - 900 * age);
    }
    fclose(file);
    temporary_write("new.csv", rows, sizeof rows - 1);
    expect_fine(train_run(
        "train", "--data csv:housing.csv --hidden 16 --epochs 20 --lr 0.002 --refit no --no-plots --out housing"));
}

/* The two numbers that predict prints under its header. */
static void predicted(const char *options, double price[2])
{
    expect_fine(train_run("predict", "--model housing --data csv:new.csv %s > p", options));
    ck_assert_int_eq(sscanf(temporary_text("p"), "price\n%lf\n%lf", &price[0], &price[1]), 2);
}

/* The weights of housing/ multiplied by a factor, under PyTorch's names. */
static void write_sequential(const char *name, float factor)
{
    tg_error error;
    const tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 2, .hidden = {16}, .outputs = 1});
    tg_parameters *ours = tg_mlp_parameters(net), *theirs = tg_parameters_new(TG_F32);
    ck_assert(tg_parameters_load(ours, temporary_path("housing/best.safetensors"),
                                 &(tg_load_options){.allow_unknown = true}, &error));
    static const char *const names[][2] = {{"layers.0.weight", "0.weight"},
                                           {"layers.0.bias", "0.bias"},
                                           {"layers.1.weight", "2.weight"},
                                           {"layers.1.bias", "2.bias"}};
    static const tg_shape shapes[] = {{2, {16, 2}}, {1, {16}}, {2, {1, 16}}, {1, {1}}};
    for (int i = 0; i < 4; i++)
        tg_parameters_add(theirs, names[i][1], shapes[i], true);
    for (int i = 0; i < 4; i++) {
        const float *from = tg_parameters_find(ours, names[i][0])->data;
        float *to = tg_parameters_find(theirs, names[i][1])->data;
        for (int64_t k = 0; k < tg_shape_size(&shapes[i]); k++)
            to[k] = factor * from[k];
    }
    ck_assert(tg_parameters_save(theirs, temporary_path(name), NULL, 0, &error));
    tg_parameters_free(theirs);
    tg_mlp_free(net);
}

START_TEST(weights_of_a_sequential_are_read_under_other_names)
{
    double own[2], same[2], other[2], further[2];
    make_housing();
    predicted("", own);
    write_sequential("same.safetensors", 1);
    write_sequential("other.safetensors", 0.5F);
    predicted("--weights same.safetensors " RENAME, same);
    predicted("--weights other.safetensors " RENAME, other);
    for (int i = 0; i < 2; i++) {
        ck_assert(same[i] == own[i]);
        ck_assert(fabs(other[i] - own[i]) > 1000);
    }
    expect_refused(train_run("predict", "--model housing --data csv:new.csv --weights same.safetensors"), "layers.0.");
    expect_refused(train_run("predict", "--model housing --data csv:new.csv " RENAME), "--rename is for --weights");
    expect_refused(
        train_run("predict", "--model housing --data csv:new.csv --weights same.safetensors --rename 0=1=,x"),
        "--rename: 'x': expected FROM=TO");
    expect_fine(train_run("train", "--data csv:housing.csv --hidden 16 --start same.safetensors " RENAME
                                   " --lr 1e-12 --epochs 1 --no-plots --overwrite --out housing"));
    predicted("", further);
    for (int i = 0; i < 2; i++)
        ck_assert_double_eq_tol(further[i], own[i], 1e-3 * fabs(own[i]));
    expect_refused(train_run("train", "--data csv:housing.csv --hidden 16 --rename a=b --out x"), "--start only");
}
END_TEST

/* Writes the n-th Python block of docs/pytorch.md, plus lines of the test, into the folder as a program. */
static void take_recipe(int number, const char *more, const char *name)
{
    static char page[1 << 14];
    FILE *file = fopen("docs/pytorch.md", "r"), *to = fopen(temporary_path(name), "w");
    ck_assert(file && to);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    const char *at = page;
    for (int i = 0; i <= number; i++)
        ck_assert_ptr_nonnull(at = strstr(at + 1, "```python\n"));
    at = strchr(at, '\n') + 1;
    fprintf(to, "%.*s%s", (int)(strstr(at, "```") - at), at, more);
    fclose(to);
}

START_TEST(the_recipes_of_the_page_work)
{
    const char *python = getenv("TG_TORCH_PYTHON") ? getenv("TG_TORCH_PYTHON") : "python3";
    if (train_run(python, "-c 'import torch, safetensors'") != 0)
        return; /* not installed */
    double own[2], theirs[2], back[2];
    make_housing();
    predicted("", own);
    take_recipe(0, "print(*price.flatten().tolist())\n", "to.py");
    expect_fine(train_run(python, "to.py"));
    ck_assert_int_eq(sscanf(train_output, "%lf %lf", &theirs[0], &theirs[1]), 2);
    take_recipe(0, "x0, about0 = x, about\n", "from.py");
    take_recipe(
        1,
        "exec(open('from.py').read().replace('net =', 'own =').replace('net.', 'own.').replace('net(', 'own('))\n"
        "y = net(x0) * about0['targets'][0]['scale'] + about0['targets'][0]['mean']\n"
        "print(*y.flatten().tolist())\n",
        "back.py");
    expect_fine(train_run(python, "back.py"));
    double wanted[2];
    ck_assert_int_eq(sscanf(train_output, "%lf %lf", &wanted[0], &wanted[1]), 2);
    predicted("--weights net.safetensors " RENAME, back);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(theirs[i], own[i], 1e-5 * fabs(own[i]));
        ck_assert_double_eq_tol(back[i], wanted[i], 1e-5 * fabs(wanted[i]));
        ck_assert(fabs(back[i] - own[i]) > 1000); /* other weights */
    }
    expect_fine(train_run("train", "--data csv:housing.csv --hidden 16 --start net.safetensors " RENAME
                                   " --epochs 2 --no-plots --out further"));
}
END_TEST

Suite *pytorch_recipes_suite(void)
{
    Suite *suite = suite_create("pytorch_recipes");
    TCase *tests = tcase_create("pytorch_recipes");
    tcase_set_timeout(tests, 240);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, weights_of_a_sequential_are_read_under_other_names);
    tcase_add_test(tests, the_recipes_of_the_page_work);
    suite_add_tcase(suite, tests);
    return suite;
}
