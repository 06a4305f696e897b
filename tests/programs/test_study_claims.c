/* Statements about GELU: the rule, grids of runs as text, the comparisons between them, and that the page in docs
 * equals the command's output. */
#include "examples/programs/study/claims.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *study_claims_suite(void);

/* ---- the rule ---- */

static const struct {
    double from, to, low, high;
    const char *verdict;
} verdicts[] = {
    {-INFINITY, 1, 0.8, 0.9, "yes"},
    {-INFINITY, 1, 0.8, 1.1, "not shown"},
    {-INFINITY, 1, 1.1, 1.2, "no"},
    {-INFINITY, 1, 0.8, 1, "not shown"},
    {-INFINITY, 1, 1, 1, "no"},
    {0, INFINITY, 0.1, 0.2, "yes"},
    {0, INFINITY, -0.1, 0.2, "not shown"},
    {0, INFINITY, -0.2, -0.1, "no"},
    {0.97, 0.99, 0.975, 0.98, "yes"},
    {0.97, 0.99, 0.96, 0.98, "not shown"},
    {0.97, 0.99, 0.9, 0.96, "no"},
    {0.97, 0.99, 0.9, 1.1, "not shown"},
    {0, 0, 0, 0, "yes"},
    {0, 0, 0, 0.1, "not shown"},
    {0, 1, NAN, NAN, "not measured"},
    {0, 1, 0.5, NAN, "not measured"},
};

START_TEST(a_verdict_says_where_the_interval_lies)
{
    const claim about = {
        .from = verdicts[_i].from, .to = verdicts[_i].to, .low = verdicts[_i].low, .high = verdicts[_i].high, .p = NAN};
    ck_assert_str_eq(claim_verdict(&about), verdicts[_i].verdict);
}
END_TEST

/* ---- grids ---- */

static dataset moons;

static const study_grid small = {.name = "small",
                                 .fixed = "epochs=3 batch=16 residual=1",
                                 .quick = "batch=8",
                                 .factors = {"activation=relu,gelu_exact", "hidden=4x2,8", "residual=0,1"},
                                 .rates = {1e-3, 3e-3, 1e-2},
                                 .seeds = 2};

/* The run with this name. */
static const study_run *run_named(const study_work *work, const char *name)
{
    for (int i = 0; i < work->count; i++)
        if (strcmp(work->run[i].name, name) == 0)
            return &work->run[i];
    ck_abort_msg("no run '%s'", name);
    return NULL;
}

START_TEST(a_grid_has_every_combination_with_the_options_that_it_names)
{
    study_settings settings = {.out = temporary_folder()};
    const study_context c = study_context_of(&settings, "claims", "");
    study_work work = {.c = &c};
    ck_assert(study_grids_add(&work, &small, 1, &(study_sources){.source = {{.data = moons}}}));
    ck_assert_int_eq(work.count, 2 * 2 * 2 * 3 * 2);
    const run_spec *s = &run_named(&work, "small-gelu_exact-hidden4x2-residual0-lr0.003-seed2")->spec;
    ck_assert_str_eq(s->net.activation, "gelu_exact");
    ck_assert_str_eq(s->net.hidden, "4x2");
    ck_assert_int_eq(s->epochs, 3);
    ck_assert_int_eq(s->batch, 16);
    ck_assert_int_eq(s->seed, 2);
    ck_assert_double_eq(s->lr, 3e-3);
    ck_assert_ptr_nonnull(run_named(&work, "small-relu-hidden8-residual1-lr0.01-seed1"));
    study_work_free(&work);
    settings.quick = true; /* two rates, and its own options */
    work = (study_work){.c = &c};
    ck_assert(study_grids_add(&work, &small, 1, &(study_sources){.source = {{.data = moons}}}));
    ck_assert_int_eq(work.count, 2 * 2 * 2 * 2 * 2);
    ck_assert_int_eq(work.run[0].spec.batch, 8);
    study_work_free(&work);
}
END_TEST

START_TEST(a_grid_with_an_option_that_is_none_is_refused)
{
    study_settings settings = {.out = temporary_folder()};
    const study_context c = study_context_of(&settings, "claims", "");
    const char *const wrong[] = {"epochs=x", "epoch=3", "norm=lair"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        study_grid grid = small;
        study_work work = {.c = &c};
        grid.fixed = wrong[i];
        ck_assert(!study_grids_add(&work, &grid, 1, &(study_sources){.source = {{.data = moons}}}));
        grid = small;
        grid.factors[3] = "norm=none,lair";
        ck_assert(!study_grids_add(&work, &grid, 1, &(study_sources){.source = {{.data = moons}}}));
        study_work_free(&work);
    }
}
END_TEST

/* ---- comparisons ---- */

/* Fills the study's grid `gpt` with invented records; the function `loss` gives each run's loss. */
static void invent(study_work *work, double (*loss)(const study_run *run))
{
    for (int i = 0; i < work->count; i++) {
        study_record *r = &work->run[i].record;
        r->epochs = work->run[i].spec.epochs;
        r->complete = true;
        r->results = json_pack("{s:f}", "best_val_loss", loss(&work->run[i]));
    }
}

/* GELU is better than ReLU by 0.3, 0.4, 0.5; the rate of 0.003 is the best. */
static double loss_of(const study_run *run)
{
    const bool gelu = strcmp(run->spec.net.activation, "gelu_exact") == 0;
    return 2 + 0.01 * run->spec.seed * run->spec.seed - (gelu ? 0.2 + 0.1 * run->spec.seed : 0) +
           (run->spec.lr == 3e-3 ? 0 : 0.05);
}

static const study_grid *grid_called(const char *name)
{
    for (int i = 0; i < CLAIM_GRIDS; i++)
        if (claim_grids[i].name && strcmp(claim_grids[i].name, name) == 0)
            return &claim_grids[i];
    return NULL;
}

static double perplexity_of(const study_cell *cell, int seed)
{
    double loss[STUDY_SEEDS];
    study_cell_values(cell, cell->best, "best_val_loss", loss);
    return exp(loss[seed - 1]);
}

START_TEST(cells_are_compared_by_seed_at_their_best_rates)
{
    study_settings settings = {.out = temporary_folder()};
    const study_context c = study_context_of(&settings, "claims", "");
    study_work work = {.c = &c};
    static study_sources none;
    static const claim_measure perplexity = {"perplexity", .format = "%.3f", .of = perplexity_of};
    static const char *const two[CLAIM_CELLS] = {"gpt-gelu_exact-post-norm0", "gpt-relu-post-norm0"},
                             *const four[CLAIM_CELLS] = {"gpt-gelu_exact-post-norm0", "gpt-relu-post-norm0",
                                                         "gpt-gelu_exact-post-norm1", "gpt-relu-post-norm1"};
    static claims all;
    all.work = &work;
    ck_assert(study_grids_add(&work, grid_called("gpt"), 1, &none));
    invent(&work, loss_of);
    /* mean -0.4, deviation 0.1, three seeds: 4.302653 is Student's 97.5 % point with two degrees of freedom */
    const double margin = 4.302652730 * 0.1 / sqrt(3);
    claim_cells(&all, "better", -INFINITY, 1, &perplexity, two);
    claim *found = &all.row[0];
    ck_assert_double_eq_tol(found->low, exp(-0.4 - margin), 1e-6);
    ck_assert_double_eq_tol(found->high, exp(-0.4 + margin), 1e-6);
    ck_assert_str_eq(claim_verdict(found), "yes");
    ck_assert_double_eq_tol(found->p, 0.020204102886728685, 1e-9); /* SciPy: 2 t.sf(0.4 / (0.1 / sqrt(3)), 2) */
    found->p = 0.06;                                               /* as corrected for others */
    ck_assert_str_eq(claim_verdict(found), "not shown");
    ck_assert_str_eq(strstr(found->words, ": "), ": 0.670 times (0.523 to 0.859)");
    claim_cells(&all, "alike", 0, 0, &perplexity, four);
    ck_assert_double_eq_tol(all.row[1].low, 1, 1e-9);
    ck_assert_double_eq_tol(all.row[1].high, 1, 1e-9);
    work.run[0].record.complete = false;
    claim_cells(&all, "better", -INFINITY, 1, &perplexity, two);
    ck_assert_str_eq(claim_verdict(&all.row[2]), "not measured");
    study_work_free(&work);
}
END_TEST

/* ---- the command, and the page in docs ---- */

static char output[1 << 16];

static int run(const char *arguments)
{
    const char *build = getenv("TG_BUILD");
    char command[PATH_MAX + 200];
    snprintf(command, sizeof command, "%s/bin/study %s --no-plots --out '%s' 2>&1 </dev/null", build ? build : "build",
             arguments, temporary_folder());
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    return pclose(pipe);
}

/* Mathematical facts, compared with the texts' statements. */
START_TEST(values_are_those_of_mathematics)
{
    static const char *const rows[] = {
        "| GELU(-1) = -0.1588 | no | -0.15885 to -0.15875 | -0.158655; the tanh form has -0.158808 |",
        "| the tanh form is within 0.0002 | no | below 0.0002 | 4.73e-04",
        "| the tanh form is within 0.001 | yes |",
        "| the gradient is never zero | no | above 1e-09 | it is at x = -0.7517915 |",
        "mean 0.2820948",
        "| GELU(x) = E[x 1{X <= x}] | yes |",
        "| the tanh form is about 99.99 % accurate | no | below 0.0001 | relative error up to 2.0e-04 for x > 0; 45 %",
        "| the minimum is at -0.75 | yes | -0.755 to -0.745 | at -0.751792",
        "| there is a maximum on the negative side, about -0.17 | no |",
        "| GELU is bounded below by -0.17x | no |",
        "| the gradient's maximum is near x = 1.4 | yes | 1.35 to 1.45 | 1.128904 at x = 1.414",
        "| gradients can be small for large abs(x) | yes | below 0.001 | on the left only",
        "| GELU is infinitely differentiable | yes |",
        "0.8413, 0.5000, 0.1587",
        "| ELU saturates on the left, GELU does not | no |",
        "| ELU has a hard threshold at 0 | no |",
        "768-3072-768: 1.50 times at equal width, 1.00",
        "| GELU has no dead units, 8 layers | yes | 0 |"};
    ck_assert_msg(run("claims --quick") == 0, "%s", output);
    const char *report = temporary_text("claims-quick/report.md");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_msg(strstr(report, rows[i]), "no '%s' in\n%s", rows[i], report);
}
END_TEST

/* True if two rows differ at most in the last digits of their numbers, which may depend on the processor. */
static bool is_same(const char *a, const char *b)
{
    while (*a && *b) {
        char *after[2];
        const double x = strtod(a, &after[0]), y = strtod(b, &after[1]);
        const bool number = after[0] > a && after[1] > b;
        if (number ? !(fabs(x - y) <= 1e-9 + 0.01 * fabs(x)) && !(isinf(x) && x == y) : *a != *b)
            return false;
        a = number ? after[0] : a + 1;
        b = number ? after[1] : b + 1;
    }
    return *a == *b;
}

/* The next row of a table, without its line end; NULL past the last. */
static char *next_row(char **text)
{
    while (**text) {
        char *line = *text;
        const size_t length = strcspn(line, "\n");
        *text = line + length + (line[length] != '\0');
        line[length] = '\0';
        if (line[0] == '|' && line[1] == ' ')
            return line;
    }
    return NULL;
}

/* docs/claims.md is the report of the runs that are kept in docs/studies. */
START_TEST(the_page_in_docs_has_every_statement_and_the_numbers_of_the_kept_runs)
{
    static char page[1 << 16];
    char command[PATH_MAX + 200];
    FILE *file = fopen("docs/claims.md", "re");
    ck_assert_ptr_nonnull(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    ck_assert_ptr_null(strstr(page, "| not measured |"));
    *strstr(page, "\n## What other studies measure") = '\0';
    snprintf(command, sizeof command, "cp -r docs/studies/. '%s'", temporary_folder());
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(run("claims --report-only") == 0, "%s", output);
    char *ours = page, *report = temporary_text("claims/report.md"), *row = NULL, *theirs;
    int rows = 0;
    for (; (theirs = next_row(&report)) && (row = next_row(&ours)); rows++)
        ck_assert_msg(is_same(row, theirs), "docs/claims.md has\n%s\nin place of\n%s", row, theirs);
    ck_assert_msg(!theirs && !next_row(&ours), "docs/claims.md has %s rows", theirs ? "fewer" : "more");
    ck_assert_int_gt(rows, 70);
}
END_TEST

/* ---- */

static void make(void)
{
    tg_error error;
    temporary_folder_make();
    ck_assert_msg(dataset_load("moons", &(dataset_options){.rows = 60}, &moons, &error), "%s", error.text);
}

static void drop(void)
{
    dataset_free(&moons);
    temporary_folder_remove();
}

Suite *study_claims_suite(void)
{
    Suite *suite = suite_create("study_claims");
    TCase *tests = tcase_create("study_claims");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, make, drop);
    tcase_add_loop_test(tests, a_verdict_says_where_the_interval_lies, 0, sizeof verdicts / sizeof *verdicts);
    tcase_add_test(tests, a_grid_has_every_combination_with_the_options_that_it_names);
    tcase_add_test(tests, a_grid_with_an_option_that_is_none_is_refused);
    tcase_add_test(tests, cells_are_compared_by_seed_at_their_best_rates);
    tcase_add_test(tests, values_are_those_of_mathematics);
    tcase_add_test(tests, the_page_in_docs_has_every_statement_and_the_numbers_of_the_kept_runs);
    suite_add_tcase(suite, tests);
    return suite;
}
