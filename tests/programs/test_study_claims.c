/* Statements about GELU: the rule, formulas, grids of runs, the comparisons between them, and that the page in docs
 * equals the command's output. */
#include "examples/programs/study/study.h"
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
    const study_claim about = {
        .from = verdicts[_i].from, .to = verdicts[_i].to, .low = verdicts[_i].low, .high = verdicts[_i].high, .p = NAN};
    ck_assert_str_eq(study_verdict(&about), verdicts[_i].verdict);
}
END_TEST

/* ---- formulas ---- */

static const struct {
    const char *text;
    double value;
} formulas[] = {{"1 + 2 * 3 - 4 / 8", 6.5},
                {"-(1 - .25) * -2", 1.5},
                {"exp(log({loss})) + 1e-3", 2.001},
                {"{loss}^2 - {less}^2 + {x2}", 100},
                {"max(1, min(5, 3)) + abs(-1)", 4},
                {"gelu_exact(1)", 0.8413447460685429}, /* SciPy: norm.cdf(1) */
                {"gelu_exact_grad(0)", 0.5},
                {"{highest}", 0.25},
                {"{place}", 0.5},
                {"{twice}", 37},
                {"{absent} + 1", NAN}};

static const char numbers[] = "{\"numbers\": {\"x2\": 100, \"absent\": null, \"less\": \"-{loss}\","
                              " \"highest\": [\"largest\", \"x * (1 - x)\", 0, 1, 0.25],"
                              " \"place\": [\"place of largest\", \"x * (1 - x)\", 0, 1, 0.25],"
                              " \"sum\": [\"sum\", \"x * 3 * {highest} * 4\", 1, 3, 1], \"twice\": \"2 * {sum} + 1\","
                              " \"line\": [\"largest\", \"x\", 0, 1, 0], \"itself\": \"{itself}\"}}";

START_TEST(a_formula_has_its_value)
{
    study s = {.file = json_loads(numbers, 0, NULL)};
    study_part p = {.of = &s};
    json_t *values = json_pack("{s:i}", "loss", 2);
    const double value = study_formula(&p, formulas[_i].text, values);
    ck_assert_msg(!p.broken, "%s", p.error.text);
    ck_assert(isnan(value) ? isnan(formulas[_i].value) : fabs(value - formulas[_i].value) < 1e-12);
    json_decref(values);
    json_decref(s.file);
}
END_TEST

START_TEST(what_is_no_formula_is_refused)
{
    static const char *const texts[] = {"",      "1 +", "(1",     "1)",     "gelu(1)",   "exp(1",  "{itself}",
                                        "exp()", "1 1", "{line}", "{name}", "exp(1, 2)", "max(1)", "name"};
    study s = {.file = json_loads(numbers, 0, NULL)};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        study_part p = {.of = &s};
        ck_assert_msg(isnan(study_formula(&p, texts[i], NULL)), "%s", texts[i]);
        ck_assert_msg(p.broken && p.error.text[0], "%s", texts[i]);
    }
    json_decref(s.file);
}
END_TEST

/* ---- numbers that claims.json has from the library ---- */

/* The bytes of a training step's tensors of 4 blocks of BERT, without weights and optimiser. */
static double bytes_of_step(tg_activation activation, bool recompute)
{
    enum { VOCABULARY = 64, POSITIONS = 64, BATCH = 8 };
    const tg_rng rng = tg_rng_seed(1);
    tg_transformer_config config = {
        .vocabulary = VOCABULARY, .context = POSITIONS, .layers = 4, .block = tg_block_bert(128, 4)};
    config.block.activation = activation;
    config.block.recompute = recompute;
    tg_transformer *bert = tg_transformer_new(&rng, &config);
    tg_tape *step = tg_tape_new();
    static int32_t ids[BATCH * POSITIONS];
    for (int i = 0; i < BATCH * POSITIONS; i++)
        ids[i] = (i * 7) % VOCABULARY;
    tg_tensor tokens = tg_borrow(step, TG_I32, ids, TG_SHAPE(BATCH, POSITIONS));
    ck_assert(tg_backward(tg_cross_entropy(tg_transformer_forward(bert, tokens, NULL), tokens)));
    const double bytes = (double)tg_tape_count(step).bytes_used;
    tg_tape_free(step);
    tg_transformer_free(bert);
    return bytes;
}

/* The slope of the exact GELU, in double precision. */
static double slope_at(double at)
{
    tg_tape *tape = tg_tape_new();
    tg_tensor x = tg_variable(tape, TG_F64, &at, TG_SCALAR);
    ck_assert(tg_backward(tg_gelu_exact(x)));
    const double slope = tg_item(tg_gradient(x));
    tg_tape_free(tape);
    return slope;
}

/* The error of derivatives of order 2 to 4 of the exact GELU beside Hermite polynomials, from -6 to 6. */
static double higher_order_error(void)
{
    double most = 0;
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i <= 120; i++) {
        const double at = -6 + i * 0.1, square = at * at, phi = exp(-square / 2) / sqrt(2 * acos(-1)),
                     expected[] = {2 - square, (square - 4) * at, (7 - square) * square - 4};
        tg_tape_reset(tape);
        tg_tensor x = tg_variable(tape, TG_F64, &at, TG_SCALAR), y = tg_gelu_exact(x), next;
        for (int order = 1; order <= 4; order++) {
            ck_assert(tg_grad(&y, 1, &x, 1, NULL, true, &next));
            y = next;
            most = order > 1 ? fmax(most, fabs(tg_item(y) - phi * expected[order - 2])) : most;
        }
    }
    tg_tape_free(tape);
    return most;
}

START_TEST(numbers_of_the_file_are_those_of_the_library)
{
    json_t *file = json_load_file("examples/studies/claims.json", 0, NULL), *in = json_object_get(file, "numbers");
    const struct {
        const char *name;
        double bytes;
    } counts[] = {{"bytes_of_relu", bytes_of_step(TG_RELU, false)},
                  {"bytes_of_gelu", bytes_of_step(TG_GELU_EXACT, false)},
                  {"bytes_recomputed", bytes_of_step(TG_GELU_EXACT, true)}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ck_assert_double_eq_tol(json_number_value(json_object_get(in, counts[i].name)) / counts[i].bytes, 1, 0.001);
    const double error = json_number_value(json_object_get(in, "higher_order_error")), ours = higher_order_error();
    ck_assert_msg(ours <= error && 2 * ours > error, "derivatives are within %g, not %g", ours, error);
    const double lowest_at = json_number_value(json_object_get(in, "lowest_at"));
    ck_assert(slope_at(lowest_at - 1e-15) < 0 && slope_at(lowest_at + 1e-15) > 0);
    tg_mlp_config ffn = {.inputs = 768, .hidden = {3072}, .outputs = 768, .no_bias = true};
    ck_assert_int_eq(tg_mlp_size(&ffn, NULL), 2 * 768 * 3072);
    ffn.activation = TG_SWIGLU;
    ck_assert_int_eq(tg_mlp_size(&ffn, NULL), 3 * 768 * 2048);
    ffn.equal_width = true;
    ck_assert_int_eq(tg_mlp_size(&ffn, NULL), 3 * 768 * 3072);
    json_decref(file);
}
END_TEST

/* ---- grids ---- */

static const char grid[] =
    "{\"options\": {\"data\": \"moons\", \"epochs\": 3, \"batch\": 16, \"lr\": \"0.001,0.003,0.01\", \"seeds\": 2,"
    " \"activations\": \"relu,gelu_exact\"}, \"quick\": {\"batch\": 8, \"lr\": \"0.001,0.003\"}, \"each\": ["
    " {\"name\": \"small-\", \"each\": ["
    " {\"name\": \"4-\", \"options\": {\"hidden\": \"4x2\", \"residual\": true}},"
    " {\"name\": \"8-\", \"options\": {\"hidden\": \"8\", \"optimizer\": \"adamw,sgd\"}}]}],"
    " \"measures\": {\"perplexity\": {\"of\": \"exp({best_val_loss})\", \"ratio\": true}},"
    " \"words\": {\"of_two_cells\": \"{mean:.3f} times ({low:.3f} to {high:.3f})\","
    " \"of_four_cells\": \"{low:.3f} to {high:.3f}\", \"not_measured\": \"no\"},"
    " \"report\": [{\"needs\": 0, \"rule\": \"claims\","
    " \"columns\": \"true|found|p\", \"row\": \"{verdict}|{found}|{p:.2g}\","
    " \"claims\": ["
    " {\"to\": 1, \"measure\": \"perplexity\", \"found\": \"{of_two_cells}\", \"cells\": [\"small-4-gelu_exact\", "
    "\"small-4-relu\"]},"
    " {\"from\": 0.999, \"to\": 1.001, \"measure\": \"perplexity\", \"found\": \"{of_four_cells}\", \"cells\": "
    "[\"small-4-gelu_exact\", \"small-4-relu\","
    " \"small-8-gelu_exact-optimizeradamw\", \"small-8-relu-optimizeradamw\"]}]}]}";

static study read_grid(study_settings *settings, const char *text)
{
    tg_error error;
    study s = {.settings = settings, .reports = "", .drawn = PLOTS_NOTHING};
    settings->command = "";
    settings->out = net_keep_text(temporary_folder());
    temporary_write("grid.json", text, strlen(text));
    ck_assert_msg(study_read(&s, net_keep_text(temporary_path("grid.json")), &error), "%s", error.text);
    return s;
}

/* The run with this name. */
static const study_run *run_named(const study *s, const char *name)
{
    for (int i = 0; i < s->all.count; i++)
        if (strcmp(s->all.run[i].name, name) == 0)
            return &s->run[i];
    ck_abort_msg("no run '%s'", name);
    return NULL;
}

START_TEST(a_grid_has_every_combination_with_the_options_that_it_names)
{
    static study s;
    study_settings settings = {0};
    s = read_grid(&settings, grid);
    ck_assert_int_eq(s.all.count, (1 + 2) * 2 * 3 * 2);
    const study_run *run = run_named(&s, "small-8-gelu_exact-optimizersgd-lr0.003-seed2");
    ck_assert_str_eq(run->cell, "small-8-gelu_exact-optimizersgd");
    ck_assert_str_eq(run->spec.net.activation, "gelu_exact");
    ck_assert_str_eq(run->spec.net.hidden, "8");
    ck_assert_int_eq(run->spec.epochs, 3);
    ck_assert_int_eq(run->spec.batch, 16);
    ck_assert_int_eq(run->spec.seed, 2);
    ck_assert_double_eq(run->spec.lr, 3e-3);
    ck_assert(run_named(&s, "small-4-relu-lr0.01-seed1")->spec.net.residual);
    ck_assert_ptr_nonnull(strstr(run->options, "hidden=8 activation=gelu_exact"));
    study_free(&s);
    settings.quick = true; /* its own options */
    s = read_grid(&settings, grid);
    ck_assert_int_eq(s.all.count, (1 + 2) * 2 * 2 * 2);
    ck_assert_int_eq(s.run[0].spec.batch, 8);
    study_free(&s);
}
END_TEST

/* ---- comparisons ---- */

/* GELU is better than ReLU by 0.3, 0.4, 0.5; the rate of 0.003 is the best. */
static double loss_of(const run_spec *spec)
{
    const bool gelu = strcmp(spec->net.activation, "gelu_exact") == 0;
    return 2 + 0.01 * spec->seed * spec->seed - (gelu ? 0.2 + 0.1 * spec->seed : 0) + (spec->lr == 3e-3 ? 0 : 0.05);
}

START_TEST(cells_are_compared_by_seed_at_their_best_rates)
{
    static study s;
    char text[sizeof grid], interval[100];
    study_settings settings = {.no_plots = true, .sweep.count = 1};
    tg_error error;
    memcpy(text, grid, sizeof grid);
    *(strstr(text, "\"seeds\": 2") + 9) = '3';
    s = read_grid(&settings, text);
    ck_assert(files_make_folder(s.folder, &error) && freopen("/dev/null", "w", stdout));
    for (int i = 0; i < s.all.count; i++)
        s.run[i].results = json_pack("{s:f}", "best_val_loss", loss_of(&s.run[i].spec));
    const study_cell cell = study_cell_of(&s, "small-4-relu");
    ck_assert_double_eq(cell.rate[cell.best], 3e-3);
    ck_assert(cell.whole && cell.seeds == 3 && cell.rates == 3);
    /* mean -0.4, deviation 0.1, three seeds: 4.302653 is Student's 97.5 % point with two degrees of freedom */
    const double margin = 4.302652730 * 0.1 / sqrt(3);
    ck_assert_msg(study_report(&s, &error), "%s", error.text);
    const char *report = temporary_text("grid/report.md");
    snprintf(interval, sizeof interval, "| yes | 0.670 times (%.3f to %.3f) | 0.02 |", exp(-0.4 - margin),
             exp(-0.4 + margin)); /* SciPy: 2 t.sf(0.4 / (0.1 / sqrt(3)), 2) = 0.0202 */
    ck_assert_msg(strstr(report, interval), "no '%s' in\n%s", interval, report);
    ck_assert_msg(strstr(report, "| yes | 1.000 to 1.000 | 0 |"), "%s", report);
    json_decref(s.run[0].results);
    s.run[0].results = NULL;
    ck_assert(study_report(&s, &error));
    ck_assert_ptr_nonnull(strstr(temporary_text("grid/report.md"), "| not measured | no |"));
    study_free(&s);
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
        "has 0 for all x < -8.374, where",
        "0.1700 below it at x = 0.7518, 15.9 % at 1, 0.00013 at 4 |",
        "3.9e-10 at -3, 1.9 % at -6, 101 % at -7",
        "768-3072-768: 1.50 times at equal width, 1.00",
        "| GELU has no dead units, 8 layers: less than one in a net of 512 units | ",
        " 0 of "};
    ck_assert_msg(run("claims --quick --only '*gelu_exact*'") == 0, "%s", output);
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

Suite *study_claims_suite(void)
{
    Suite *suite = suite_create("study_claims");
    TCase *tests = tcase_create("study_claims");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, a_verdict_says_where_the_interval_lies, 0, sizeof verdicts / sizeof *verdicts);
    tcase_add_test(tests, a_grid_has_every_combination_with_the_options_that_it_names);
    tcase_add_loop_test(tests, a_formula_has_its_value, 0, sizeof formulas / sizeof *formulas);
    tcase_add_test(tests, what_is_no_formula_is_refused);
    tcase_add_test(tests, numbers_of_the_file_are_those_of_the_library);
    tcase_add_test(tests, cells_are_compared_by_seed_at_their_best_rates);
    tcase_add_test(tests, values_are_those_of_mathematics);
    tcase_add_test(tests, the_page_in_docs_has_every_statement_and_the_numbers_of_the_kept_runs);
    suite_add_tcase(suite, tests);
    return suite;
}
