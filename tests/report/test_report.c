/* Tables, verdicts and comparisons in their printed form. */
#include "autograd/rng.h"
#include "examples/programs/report/comparison.h"
#include "examples/programs/report/html.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/report/verdict.h"
#include "tests/support/pseudo_terminal.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *report_suite(void);

/* ---- the table ---- */

static table *sample(void)
{
    table *t = table_new(1);
    table_add_column(t, &(table_column){.name = "name"});
    table_add_column(t, &(table_column){.name = "acc %", .csv = "accuracy,low,high", .meaning = "share that is right"});
    table_add_column(t, &(table_column){.name = "Δ loss "});
    table_add_column(t, &(table_column){.name = "empty"});
    table_add_column(t, &(table_column){.name = "what it is", .least = 12});
    table_add_row(t);
    table_add_cell(t, "a|b_1");
    table_add_cell(t, "97.1 ±%.1f", 0.2);
    table_numbers(t, 3, (double[]){0.971, 0.969, 0.973});
    table_add_cell(t, "-0.5*");
    table_set_mark(t, TABLE_GOOD, 0);
    table_add_cell(t, "%s", "");
    table_add_cell(t, "x < 1 & \"so on\", as x-2");
    table_add_cells(t, "relu|5.0|+10.25 ");
    table_numbers(t, 1, (double[]){10.25});
    table_add_verdict(t, "It is %s.", "so");
    table_add_note(t, "± is the margin.");
    return t;
}

static char *as(const char *format)
{
    static char text[1 << 14];
    table *t = sample();
    FILE *out = tmpfile();
    table_print(t, format, out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    table_free(t);
    return text;
}

/* Names are those of files, columns and formulas, which may have any characters. */
START_TEST(no_name_is_markup_in_markdown)
{
    static const char *const names[][2] = {{"a|b", "a\\|b"},
                                           {"<b>x</b>", "\\<b>x\\</b>"},
                                           {"*bold* and **more**", "\\*bold* and \\*\\*more\\**"},
                                           {"x*y*z", "x\\*y\\*z"},
                                           {"_me_", "\\_me_"},
                                           {"`code`", "\\`code\\`"},
                                           {"[a](b)", "[a\\](b)"},
                                           {"&lt; ~~x~~", "\\&lt; \\~\\~x\\~\\~"},
                                           {"\\<i>", "\\\\\\<i>"},
                                           {"gelu_tanh p < 0.05 & -0.5* [-8, 8] C:\\x", NULL}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *wanted = names[i][1] ? names[i][1] : names[i][0];
        char all[300], rest[300];
        table *t = table_new(1);
        FILE *out = tmpfile();
        table_caption(t, names[i][0]);
        table_add_column(t, &(table_column){.name = names[i][0], .csv = "x"});
        table_add_row(t);
        table_add_cell(t, "%s", names[i][0]);
        table_add_note(t, "%s", names[i][0]);
        table_print(t, "markdown", out);
        rewind(out);
        rest[fread(rest, 1, sizeof rest - 1, out)] = '\0';
        snprintf(all, sizeof all, "**%s**\n\n| %s |\n|---|\n| %s |\n\n%s\n", wanted, wanted, wanted, wanted);
        ck_assert_str_eq(rest, all);
        fclose(out);
        table_free(t);
    }
}
END_TEST

START_TEST(a_table_is_printed_in_five_ways)
{
    ck_assert_str_eq(as("table"), "name         acc %  diff loss   what it is\n"
                                  "a|b_1  97.1 +/-0.2       -0.5*  x < 1 & \"so on\", as x-2\n"
                                  "relu           5.0     +10.25 \n\n"
                                  "It is so.\n\n+/- is the margin.\nacc %: share that is right.\n");
    ck_assert_str_eq(as("markdown"), "| name | acc % | diff loss | what it is |\n|---|---:|---:|---|\n"
                                     "| a\\|b_1 | 97.1 +/-0.2 | -0.5* | x < 1 & \"so on\", as x-2 |\n"
                                     "| relu | 5.0 | +10.25 |  |\n\n"
                                     "- It is so.\n\n+/- is the margin.\nacc %: share that is right.\n");
    ck_assert_str_eq(as("latex"), "% needs \\usepackage{booktabs}\n\\begin{tabular}{lrrl}\n\\toprule\n"
                                  "name & acc \\% & $\\Delta$ loss & what it is \\\\\n\\midrule\n"
                                  "a$|$b\\_1 & 97.1 $\\pm$0.2 & $-$0.5* & x $<$ 1 \\& \"so on\", as x-2 \\\\\n"
                                  "relu & 5.0 & +10.25 &  \\\\\n\\bottomrule\n\\end{tabular}\n\n"
                                  "% It is so.\n\n% +/- is the margin.\n% acc %: share that is right.\n");
    ck_assert_str_eq(as("csv"), "name,accuracy,low,high,diff loss,what it is\n"
                                "a|b_1,0.971,0.969,0.973,-0.5*,\"x < 1 & \"\"so on\"\", as x-2\"\n"
                                "relu,5.0,,,10.25,\n");
    ck_assert_str_eq(as("html"),
                     "<div class=\"wide\"><table>\n"
                     "<tr><th>name</th><th class=\"n\" title=\"share that is right\">acc %</th>"
                     "<th class=\"n\">Δ loss</th><th>what it is</th></tr>\n"
                     "<tr><td>a|b_1</td><td class=\"n\">97.1 ±0.2</td><td class=\"n good\">-0.5*</td>"
                     "<td>x &lt; 1 &amp; &quot;so on&quot;, as x-2</td></tr>\n"
                     "<tr><td>relu</td><td class=\"n\">5.0</td><td class=\"n\">+10.25</td><td></td></tr>\n"
                     "</table></div>\n<p class=\"verdict\">It is so.</p>\n<p class=\"note\">± is the margin.</p>\n"
                     "<p class=\"note\">acc %: share that is right.</p>\n");
}
END_TEST

static void print_sample(FILE *out, const void *context)
{
    table *t = sample();
    (void)context;
    table_print(t, "table", out);
    table_free(t);
}

START_TEST(a_narrow_terminal_has_everything_and_no_long_line)
{
    static const char *const has[] = {"a|b_1", "97.1", "0.2", "-0.5*", "+10.25", "on\",", "x-2", "It is so."};
    static const int widths[] = {24, 31, 40, 60};
    for (int w = 0; w < 4; w++) {
        const int columns = widths[w];
        const char *text = terminal_output(columns, 40, print_sample, NULL);
        for (size_t i = 0; i < sizeof has / sizeof *has; i++)
            ck_assert_msg(strstr(text, has[i]) != NULL, "at %d columns no %s in\n%s", columns, has[i], text);
        for (char line[200]; *text; text += strlen(line) + 1) {
            snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
            ck_assert_msg(terminal_width(line) <= columns, "at %d columns: %s", columns, line);
        }
    }
}
END_TEST

START_TEST(tables_without_columns_and_with_many_are_printed)
{
    static char text[8192];
    table *t = table_new(1);
    FILE *out = fmemopen(text, sizeof text, "w");
    table_print(t, "table", out);
    ck_assert_int_eq(ftell(out), 0);
    for (int i = 0; i < 1000; i++)
        table_add_column(t, &(table_column){.name = "x"});
    table_add_cells(t, "a|b");
    table_add_cell(t, "c");
    table_print(t, "csv", out);
    fclose(out);
    ck_assert_str_eq(text, "x,x,x\na,b,c\n");
    table_free(t);
}
END_TEST

/* ---- verdicts ---- */

static char sentence[VERDICT_SENTENCE];

/* Sentences of gelu against relu; `base` is relu's mean. */
static const char *said(bool share, const double values[], int count, double base, double p, double equal_p)
{
    verdict_facts f = {.name = "gelu",
                       .against = "relu",
                       .measure = share ? "test accuracy" : "test loss",
                       .pairs = "seeds",
                       .share = share,
                       .more_is_better = share,
                       .base = base,
                       .difference = statistics_of(values, (size_t)count),
                       .p = p,
                       .here_p = NAN,
                       .margin = 0.01,
                       .equal_p = equal_p,
                       .comparisons = 3};
    for (int i = 0; i < count; i++) {
        f.better += share ? values[i] > 0 : values[i] < 0;
        f.worse += share ? values[i] < 0 : values[i] > 0;
    }
    verdict_write(&f, sentence);
    return sentence;
}

START_TEST(a_verdict_says_what_the_interval_says)
{
    /* Mean 0.012, deviation 0.01: margin 2.776 x 0.01 / sqrt(5) = 0.0124, as Student's table has it. */
    const double gains[] = {0.012, 0.002, 0.022, 0.012 - 0.01, 0.012 + 0.01};
    const double losses[] = {-0.5, -0.6, -0.4};
    ck_assert_str_eq(
        said(true, gains, 5, 0.9, 0.04, NAN),
        "gelu against relu: test accuracy +1.20 points (-0.04 to 2.44), better in 5 of 5 seeds: significant, "
        "corrected p = 0.040.");
    ck_assert_str_eq(said(false, losses, 3, 2, 0.0001, NAN),
                     "gelu against relu: test loss -0.50 (-25 %; -37 to -13 %), better in 3 of 3 seeds: significant, "
                     "corrected p < 0.001.");
    /* All seeds agree: it does not say that there is no difference. */
    ck_assert_str_eq(said(false, (double[]){-0.5, -0.1, -0.9}, 3, 2, 0.3, NAN),
                     "gelu against relu: test loss -0.50 (-25 %; -75 to 25 %), better in 3 of 3 seeds: not significant "
                     "with 3 seeds, corrected p = 0.30.");
    /* The interval leaves 0 out, which is not enough among all pairs. */
    ck_assert_str_eq(said(false, losses, 3, 2, 0.09, NAN),
                     "gelu against relu: test loss -0.50 (-25 %; -37 to -13 %), better in 3 of 3 seeds: not "
                     "significant among 3 comparisons, corrected p = 0.090.");
    ck_assert_str_eq(said(true, (double[]){0.001, -0.001, 0}, 3, 0.9, 1, 0.003),
                     "gelu against relu: test accuracy 0.0 points (-0.2 to 0.2), better in 1 and worse in 1 of 3 "
                     "seeds: equal within 1 point, corrected p = 0.003.");
    ck_assert_str_eq(said(true, (double[]){0.01, -0.01, 0.02, -0.02, 0}, 5, 0.9, 1, NAN),
                     "gelu against relu: test accuracy 0.0 points (-2.0 to 2.0), better in 2 and worse in 2 of 5 "
                     "seeds: not significant, corrected p = 1.00.");
    ck_assert_str_eq(said(true, (double[]){-0.047, 0.049, -0.003}, 3, 0.9, 1, NAN), /* no "-0 points" */
                     "gelu against relu: test accuracy 0 points (-12 to 12), worse in 2 of 3 "
                     "seeds: not significant, corrected p = 1.00.");
    ck_assert_str_eq(
        said(true, (double[]){0.01}, 1, 0.9, NAN, NAN),
        "gelu against relu: test accuracy +1.0 points in one pair of runs: no verdict, use several seeds.");
    ck_assert_str_eq(said(false, (double[]){0.25, 0.25}, 2, 1, NAN, NAN),
                     "gelu against relu: test loss +0.25 (+25 %), the same for all 2 seeds.");
    ck_assert_str_eq(said(false, (double[]){0.25, NAN}, 2, 1, NAN, NAN),
                     "gelu against relu: no verdict on test loss, a run diverged.");
    ck_assert_str_eq(said(false, NULL, 0, 1, NAN, NAN),
                     "gelu against relu: no verdict on test loss, no two finished runs have the same seed.");
    /* A difference can be both significant and too small to matter. */
    ck_assert_str_eq(said(true, (double[]){0.001, 0.002, 0.003}, 3, 0.9, 0.04, 0.02),
                     "gelu against relu: test accuracy +0.20 points (-0.05 to 0.45), better in 3 of 3 seeds: "
                     "significant, corrected p = 0.040, though equal within 1 point, corrected p = 0.020.");
    ck_assert_str_eq(said(true, (double[]){0.01, 0.02, -0.005, 0}, 4, 0.9, 0.4, 0.3),
                     "gelu against relu: test accuracy +0.6 points (-1.1 to 2.4), better in 2 and worse in 1 of 4 "
                     "seeds: not significant, corrected p = 0.40; not shown to be equal within 1 point.");
}
END_TEST

/* As iris has it: relu is worse in all seeds, on a few flowers. */
/* Ten seeds on: their deviation is known well enough. An interval that leaves a point out asks for no more seeds. */
START_TEST(a_verdict_says_how_many_seeds_a_difference_needs)
{
    double wide[10], narrow[10];
    for (int i = 0; i < 10; i++) {
        wide[i] = 0.01 * (i % 5 - 2);
        narrow[i] = 0.5 * wide[i];
    }
    ck_assert_str_eq(said(true, wide, 10, 0.9, 1, NAN),
                     "gelu against relu: test accuracy 0.0 points (-1.1 to 1.1), better in 4 and worse in 4 of 10 "
                     "seeds: not significant, corrected p = 1.00; 27 to 53 seeds would show 1 point in 4 of 5 cases.");
    ck_assert_ptr_null(strstr(said(true, wide, 9, 0.9, 1, NAN), "would show"));
    ck_assert_str_eq(said(true, narrow, 10, 0.9, 1, NAN),
                     "gelu against relu: test accuracy 0.0 points (-0.5 to 0.5), better in 4 and worse in 4 of 10 "
                     "seeds: not significant, corrected p = 1.00.");
}
END_TEST

START_TEST(a_verdict_says_on_which_samples_it_is_significant)
{
    verdict_facts f = {.name = "gelu",
                       .against = "relu",
                       .measure = "test loss",
                       .pairs = "seeds",
                       .base = 2,
                       .difference = statistics_of((double[]){-0.5, -0.1, -0.9}, 3),
                       .better = 3,
                       .p = 0.3,
                       .here_p = 0.015,
                       .half = 2,
                       .samples = 134,
                       .margin = 0.01,
                       .equal_p = NAN,
                       .comparisons = 3};
    verdict_write(&f, sentence);
    ck_assert_str_eq(sentence,
                     "gelu against relu: test loss -0.50 (-25 %; -75 to 25 %), better in 3 of 3 seeds: significant on "
                     "these samples, corrected p = 0.015, but not on others, corrected p = 0.30; 2 of 134 samples make "
                     "half of the difference.");
    f.half = 14; /* of which one in ten */
    verdict_write(&f, sentence);
    ck_assert_ptr_nonnull(strstr(sentence, "but not on others, corrected p = 0.30."));
    f.p = 0.01;
    verdict_write(&f, sentence);
    ck_assert_ptr_nonnull(strstr(sentence, "seeds: significant, corrected p = 0.010."));
    f.comparisons = 1; /* there is nothing to correct for */
    verdict_write(&f, sentence);
    ck_assert_ptr_nonnull(strstr(sentence, "seeds: significant, p = 0.010."));
}
END_TEST

/* Relations of the groups a, b, c, d, from the best to the worst: a letter for each pair, ab ac ad bc bd cd. All but =
 * and s agree in all seeds; < and s are significant, h on these samples. */
static const char *headline(const char *relations)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    int of[16] = {0};
    int next = 0;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++, next++)
            of[4 * i + j] = (strchr("<uh", relations[next]) ? VERDICT_UNANIMOUS : 0) |
                            (strchr("<sh", relations[next]) ? VERDICT_HERE : 0) |
                            (strchr("<s", relations[next]) ? VERDICT_DIFFER : 0);
    verdict_headline(names, of, 4, "6 seeds", sentence);
    return sentence;
}

START_TEST(a_headline_that_is_too_long_is_not_cut)
{
    enum { COUNT = 20 };
    static char text[COUNT][40];
    static const char *names[COUNT];
    static int of[COUNT * COUNT];
    for (int i = 0; i < COUNT; i++) {
        snprintf(text[i], sizeof text[i], "an_activation_of_a_long_name_%d", i);
        names[i] = text[i];
        for (int j = i + 1; j < COUNT; j++)
            of[i * COUNT + j] = j > i + 2 ? VERDICT_DIFFER | VERDICT_HERE : 0;
    }
    verdict_headline(names, of, COUNT, "6 seeds", sentence);
    ck_assert_str_eq(sentence, "20 forms, of which an_activation_of_a_long_name_0 has the best mean: see the pairs");
}
END_TEST

START_TEST(a_headline_says_which_groups_differ)
{
    ck_assert_str_eq(headline("======"), "a, b, c and d cannot be told apart");
    ck_assert_str_eq(headline("==<=<<"), "a, b and c cannot be told apart; d is worse");
    ck_assert_str_eq(headline("=<<<<="), "a and b cannot be told apart; c and d are worse");
    ck_assert_str_eq(headline("<<<==="), "a is best; b, c and d are worse");
    ck_assert_str_eq(headline("<<<<<<"), "a is best; b is worse; c is worse still; d is worse still");
    ck_assert_str_eq(headline("==<=<="), "a and b are better than d; other pairs cannot be told apart");
    ck_assert_str_eq(headline("=<<=<="),
                     "a is better than c and d; b is better than d; other pairs cannot be told apart");
    ck_assert_str_eq(headline("==u=uu"),
                     "a, b and c cannot be told apart; d was worse in all 6 seeds, though not significantly");
    ck_assert_str_eq(headline("uuu==="), "a came first; b, c and d were worse in all 6 seeds, though not "
                                         "significantly");
    ck_assert_str_eq(headline("uuuuuu"), "a, then b, then c, then d in all 6 seeds, though not significantly");
    ck_assert_str_eq(headline("uuu=uu"), "a, then b and c, then d in all 6 seeds, though not significantly");
    ck_assert_str_eq(headline("==u=u="),
                     "a, b, c and d cannot be told apart, but d was worse than a and b in all 6 seeds");
    ck_assert_str_eq(headline("=uuuuu"), "a and b, then c, then d in all 6 seeds, though not significantly");
    ck_assert_str_eq(headline("=uu<uu"), "b is better than c; other pairs cannot be told apart, but c was worse than a "
                                         "in all 6 seeds; d was worse than a, b and c in all 6 seeds");
    ck_assert_str_eq(headline("==uuuu"), "a, b and c cannot be told apart; d was worse in all 6 seeds, though not "
                                         "significantly; c was worse than b in all 6 seeds");
    ck_assert_str_eq(
        headline("=<<=<u"),
        "a is better than c and d; b is better than d; other pairs cannot be told apart, but d was worse than c "
        "in all 6 seeds");
    ck_assert_str_eq(headline("==<=<u"), "a and b are better than d; other pairs cannot be told apart, but d was worse "
                                         "than c in all 6 seeds");
    ck_assert_str_eq(headline("==s=su"),
                     "a and b are better than d; other pairs cannot be told apart, but d was worse than c in all 6 "
                     "seeds");
    ck_assert_str_eq(headline("==h=hh"), "a, b and c cannot be told apart; d is worse on these samples, though perhaps "
                                         "not on others");
    ck_assert_str_eq(headline("==h=hs"), "c is better than d; other pairs cannot be told apart, but d is worse than a "
                                         "and b on these samples, though perhaps not on others");
    ck_assert_str_eq(headline("hhhhhh"), "a, then b, then c, then d on these samples, though perhaps not on others");
    ck_assert_str_eq(headline("uuuhuu"), "a came first; b was worse in all 6 seeds, though not significantly; c was "
                                         "worse still in all 6 seeds; d was worse still in all 6 seeds");
    ck_assert_str_eq(headline("=h<h<<"), "a and b cannot be told apart; c is worse on these samples, though perhaps "
                                         "not on others; d is worse still");
    ck_assert_str_eq(headline("==h==u"),
                     "a, b, c and d cannot be told apart, but d is worse than a on these samples, though perhaps not "
                     "on others; d was worse than c in all 6 seeds");
}
END_TEST

/* Known sample sizes of the paired t test at 5 %, power 80 %: for an effect of 0.5 deviations 34 pairs, of 0.8 15, of
 * 0.2 199 (Cohen, 1988; G*Power 3.1). The formula is that of quantiles, and may be one or two off. */
START_TEST(enough_seeds_are_known_numbers)
{
    const statistics_estimate ten = {.count = 10, .deviation = 1, .error = sqrt(0.1)};
    ck_assert_int_le(abs(statistics_seeds_needed(&ten, 0.5, 1).low - 34), 1);
    ck_assert_int_le(abs(statistics_seeds_needed(&ten, 0.8, 1).low - 15), 1);
    ck_assert_int_le(abs(statistics_seeds_needed(&ten, 0.2, 1).low - 199), 2);
    ck_assert_int_gt(statistics_seeds_needed(&ten, 0.5, 3).low, statistics_seeds_needed(&ten, 0.5, 1).low);
    /* chi-square of 9 degrees is below 4.168 in 10 % of cases: the deviation may be sqrt(9 / 4.168) times as large. */
    const statistics_estimate wide = {.count = 10, .error = sqrt(0.1 * 9 / 4.168)};
    ck_assert_int_le(abs(statistics_seeds_needed(&ten, 0.5, 1).high - statistics_seeds_needed(&wide, 0.5, 1).low), 1);
    ck_assert_int_eq(statistics_seeds_needed(&ten, 0, 1).low, 0);
    ck_assert_int_eq(statistics_seeds_needed(&ten, 0.01, 1).low, 0);
    const statistics_estimate floored = {.count = 10, .error = sqrt(0.1 + 0.04), .floor = 0.2};
    ck_assert_int_eq(statistics_seeds_needed(&floored, 0.5, 1).low, 0); /* 2.8 x 0.2 is more than 0.5 */
    ck_assert_int_gt(statistics_seeds_needed(&floored, 0.8, 1).low, 15);
}
END_TEST

START_TEST(a_loss_that_still_falls_is_seen)
{
    double falling[20], flat[20], turned[20];
    for (int i = 0; i < 20; i++) {
        falling[i] = 1 / (1. + i);
        flat[i] = i < 10 ? 1 - 0.05 * i : 0.5 + (i % 2 ? 0.004 : -0.002);
        turned[i] = 0.1 + 0.01 * (i - 12) * (i - 12);
    }
    ck_assert(verdict_still_falls(falling, 20));
    ck_assert(verdict_still_falls((double[]){-1, -2, -3, -4}, 4));
    ck_assert(!verdict_still_falls(flat, 20));
    ck_assert(!verdict_still_falls(turned, 20));
    ck_assert(verdict_still_falls(falling, 3));
    ck_assert(!verdict_still_falls(falling, 2));
    ck_assert(!verdict_still_falls((double[]){3, 1, 2}, 3));
    ck_assert(!verdict_still_falls((double[]){1, NAN, NAN, NAN}, 4));
}
END_TEST

/* ---- comparisons whose truth is known ---- */

enum { GROUPS = 4, MOST_SEEDS = 200 };

/* A comparison of activations by their losses. */
static comparison of_losses(runlog_run *runs, int count, bool redrawn)
{
    return (comparison){.group = "activation",
                        .measures = {{.name = "loss", .title = "loss", .words = "loss", .judged = true}},
                        .measure_count = 1,
                        .runs = runs,
                        .run_count = count,
                        .about.redrawn = redrawn};
}

/* Runs with the same seed share an effect, and each has noise of its own; group 1 differs from group 0 by this much. */
static comparison simulated(tg_rng *rng, int seeds, double difference, runlog_run runs[])
{
    static const char *const names[GROUPS] = {"relu", "gelu", "silu", "mish"};
    comparison c = of_losses(runs, 0, false);
    for (int seed = 0; seed < seeds; seed++) {
        const double common = 3 * tg_rng_normal(rng);
        for (int g = 0; g < GROUPS; g++)
            runs[c.run_count++] =
                (runlog_run){.group = names[g],
                             .seed = (uint64_t)seed,
                             .finished = true,
                             .net.values = {100 + common + tg_rng_normal(rng) + (g == 1 ? difference : 0)}};
    }
    return c;
}

/* The truth is known. If there is no difference, at most 6 % of comparisons claim one in any of the six pairs; 93 to
 * 97 % of the intervals contain the true difference; and with the seeds that are said to show a difference, at least
 * about 80 % of comparisons show it, at most 99 %. */
START_TEST(verdicts_are_right_where_the_truth_is_known)
{
    const bool all = getenv("TG_LONG") != NULL;
    const int times = all ? 2000 : 200;
    const double slack = all ? 0 : 0.04;
    static runlog_run runs[GROUPS * MOST_SEEDS];
    tg_rng rng = tg_rng_seed(5);
    int claims = 0, inside[2] = {0}, seen = 0, asked = 0;
    for (int i = 0; i < times; i++)
        for (int shifted = 0; shifted < 2; shifted++) {
            const comparison c = simulated(&rng, 10, shifted, runs);
            int count, any = 0;
            comparison_group *groups = comparison_groups(&c, &count);
            comparison_pair *pairs = comparison_pairs(&c, groups, count, 0);
            for (int k = 0; k < count * (count - 1) / 2; k++)
                any |= pairs[k].corrected < 0.05;
            ck_assert(pairs[0].a == 0 && pairs[0].b == 1 && groups[1].of[0].corrected == pairs[0].corrected);
            const statistics_range range = statistics_interval(&pairs[0].difference);
            inside[shifted] += range.low <= shifted && shifted <= range.high;
            claims += !shifted && any;
            if (shifted) {
                const statistics_seeds needed = statistics_seeds_needed(&pairs[0].difference, 1, 6);
                const int seeds = needed.high && needed.high < MOST_SEEDS ? needed.high : MOST_SEEDS;
                const comparison more = simulated(&rng, seeds, 1, runs);
                int ignored;
                comparison_group *again = comparison_groups(&more, &ignored);
                seen += again[1].of[0].corrected < 0.05;
                asked++;
                free(again);
            }
            free(pairs);
            free(groups);
        }
    ck_assert_msg(claims <= (0.06 + slack) * times, "%d of %d comparisons claim a difference that is none", claims,
                  times);
    for (int i = 0; i < 2; i++)
        ck_assert_msg(fabs(inside[i] - 0.95 * times) <= (0.02 + slack) * times, "%d of %d intervals hold %d", inside[i],
                      times, i);
    ck_assert_msg(seen >= 0.8 * asked && seen <= 0.99 * asked, "the seeds that were named show it in %d of %d", seen,
                  asked);
}
END_TEST

/* Four seeds, or six, that all agree, without significance: of equal forms one comes first in all of four in 12 % of
 * cases. Nothing here is said of these samples, which then need no definition. */
START_TEST(few_seeds_that_agree_say_nothing)
{
    static runlog_run runs[12];
    for (int seeds = 4; seeds <= 6; seeds += 2) {
        static char text[8192];
        comparison c = of_losses(runs, 2 * seeds, false);
        for (int i = 0; i < c.run_count; i++)
            runs[i] = (runlog_run){.group = i % 2 ? "gelu" : "relu",
                                   .seed = (uint64_t)i / 2,
                                   .finished = true,
                                   .net.values = {i % 2 ? 1 : 1.001 + (i == 0)}};
        FILE *out = tmpfile();
        comparison_print(&c, "markdown", out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert_msg(strstr(text, seeds < 6 ? "4 seeds: gelu and relu cannot be told apart."
                                             : "6 seeds: gelu came first; relu was worse in all 6 seeds, though not "
                                               "significantly.") != NULL,
                      "%s", text);
        ck_assert_msg(!strstr(text, "n these samples"), "%s", text);
        ck_assert_msg(strstr(text, ".\n\n| activation |") != NULL, "%s", text); /* a table, and no text of a list */
    }
}
END_TEST

/* "-0.4-0.6" is no interval. R2 is at most 1, and so are its intervals. One near 0 has no more decimals than its
 * interval gives a meaning to. */
START_TEST(an_interval_with_a_negative_end_is_written_with_a_word)
{
    static const char *const formats[] = {"table", "markdown", "latex"},
                             *const said[] = {"-0.025 (-0.500 to 0.450)", "-0.025 (-0.500 to 0.450)",
                                              "$-$0.025 ($-$0.500 to 0.450)"},
                             *const also[] = {"0.682 (-0.254 to 1.000)", "0.682 (-0.254 to 1.000)",
                                              "0.682 ($-$0.254 to 1.000)"},
                             *const loss[] = {"2.00 (1.52-2.48)", "2.00 (1.52-2.48)", "2.00 (1.52--2.48)"};
    static const double r2[2][4] = {{-0.4, 0.3, -0.1, 0.1}, {0.95, -0.2, 0.99, 0.99}},
                        losses[] = {1.625, 2.325, 1.925, 2.125};
    static runlog_run runs[8];
    static char text[8192];
    comparison c = {
        .group = "activation",
        .measures =
            {{.name = "test_loss", .title = "loss", .words = "loss", .judged = true},
             {.value = 1, .name = "test_r2", .title = "R²", .words = "R²", .more_is_better = true, .influence = true}},
        .measure_count = 2,
        .runs = runs,
        .run_count = 8};
    for (int i = 0; i < 8; i++)
        runs[i] = (runlog_run){.group = i < 4 ? "relu" : "gelu",
                               .seed = (uint64_t)i % 4,
                               .finished = true,
                               .net.values = {losses[i % 4], r2[i / 4][i % 4]}};
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        FILE *out = tmpfile();
        comparison_print(&c, formats[f], out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert_msg(strstr(text, said[f]) && strstr(text, also[f]) && strstr(text, loss[f]), "%s", text);
    }
}
END_TEST

/* Prices have intervals as other numbers have, and 1e-30 is not 0.000000. */
START_TEST(huge_and_tiny_numbers_have_their_digits)
{
    static const double unit[] = {1e6, 1e30, 1e-7};
    static const char *const said[][4] = {{"975000 (736317 to 1213683)", "-25000 (-2.5 %)",
                                           "-25000 (-2.5 %; -10.5 to 5.5 %)", "constant prediction, 2000000"},
                                          {"9.75e+29 (7.36e+29 to 1.21e+30)", "-2.5e+28 (-2.5 %)",
                                           "-2.5e+28 (-2.5 %; -10.5 to 5.5 %)", "constant prediction, 2e+30"},
                                          {"9.75e-08 (7.36e-08 to 1.21e-07)", "-2.5e-09 (-2.5 %)",
                                           "-2.5e-09 (-2.5 %; -10.5 to 5.5 %)", "constant prediction, 2e-07"}};
    static const double losses[2][4] = {{0.8, 1.1, 0.9, 1.2}, {0.85, 1.05, 0.85, 1.15}};
    static runlog_run runs[8];
    static char text[8192];
    comparison c = {.group = "activation",
                    .measures = {{.name = "test_rmse", .title = "RMSE", .words = "test RMSE", .judged = true}},
                    .measure_count = 1,
                    .runs = runs,
                    .run_count = 8,
                    .has_constant = true};
    for (int u = 0; u < 3; u++) {
        for (int i = 0; i < 8; i++)
            runs[i] = (runlog_run){.group = i < 4 ? "relu" : "gelu",
                                   .seed = (uint64_t)i % 4,
                                   .finished = true,
                                   .net.values = {unit[u] * losses[i / 4][i % 4]},
                                   .constant.values = {unit[u] * (i % 4 == 3 ? 5 : 1)}};
        FILE *out = tmpfile();
        comparison_print(&c, "markdown", out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        for (int k = 0; k < 4; k++)
            ck_assert_msg(strstr(text, said[u][k]) != NULL, "'%s' is not in %s", said[u][k], text);
    }
}
END_TEST

/* A row of the weight 3.4 makes 1.7 of the sum of 1.94 by which b has more loss than a. */
START_TEST(a_row_makes_its_weighted_share_of_a_difference)
{
    enum { SEEDS = 2, ROWS = 4 };
    static const double weights[ROWS] = {3.4, 0.2, 0.2, 0.2}, more[ROWS] = {0.5, 1.2, 0, 0};
    static runlog_run runs[2 * SEEDS];
    static uint32_t rows[ROWS] = {0, 1, 2, 3};
    static double losses[2 * SEEDS][ROWS];
    comparison c = of_losses(runs, 2 * SEEDS, true);
    for (int i = 0; i < 2 * SEEDS; i++) {
        double mean = 0;
        for (int k = 0; k < ROWS; k++)
            mean += weights[k] * (i % 2 * more[k] + 1) / ROWS;
        for (int k = 0; k < ROWS; k++)
            losses[i][k] = mean + weights[k] * (i % 2 * more[k] + 1 - mean);
        runs[i] = (runlog_run){.group = i % 2 ? "b" : "a",
                               .seed = (uint64_t)(i / 2),
                               .finished = true,
                               .row_count = ROWS,
                               .rows = rows,
                               .net = {.values = {mean}, .rows = {losses[i]}}};
        runlog_set_row_weights(&runs[i], false, weights);
    }
    int count;
    comparison_group *groups = comparison_groups(&c, &count);
    comparison_pair *pairs = comparison_pairs(&c, groups, count, 0);
    ck_assert_double_eq_tol(pairs[0].difference.mean, 1.94 / ROWS, 1e-12);
    ck_assert_int_eq(pairs[0].half, 1);
    ck_assert_double_eq_tol(pairs[0].heaviest[0].share, 3.4 / ROWS, 1e-12);
    ck_assert_double_eq_tol(pairs[0].heaviest[1].share, 5.1 / (ROWS + 1.94), 1e-12);
    free(groups);
    free(pairs);
    for (int i = 0; i < 2 * SEEDS; i++)
        runlog_run_free(&runs[i]);
}
END_TEST

/* relu is worse than gelu in each of six seeds, by about as much, but all of it on 2 of 60 rows: so it is on these
 * rows, and nothing is known of others. Of relu's loss rows 0 and 1 make 15.9 each, with 11.4 of all others. */
START_TEST(a_difference_on_two_rows_is_one_of_these_samples)
{
    enum { SEEDS = 6, ROWS = 20 };
    static runlog_run runs[2 * SEEDS];
    static uint32_t rows[SEEDS][ROWS];
    static double losses[2 * SEEDS][ROWS];
    comparison c = of_losses(runs, 2 * SEEDS, true);
    for (int i = 0; i < 2 * SEEDS; i++) {
        const int seed = i / 2, relu = i % 2 == 0;
        for (int k = 0; k < ROWS; k++) { /* row 0 or row 1, and 19 others */
            rows[seed][k] = (uint32_t)(k == 0 ? seed % 2 : 2 + (19 * seed + k) % 58);
            losses[i][k] = k == 0 && relu ? 5 + 0.3 * (seed % 3) : 0.1;
            runs[i].net.values[0] += losses[i][k] / ROWS;
        }
        runs[i].group = relu ? "relu" : "gelu";
        runs[i].seed = (uint64_t)seed;
        runs[i].finished = true;
        runs[i].row_count = ROWS;
        runs[i].rows = rows[seed];
        runs[i].net.rows[0] = losses[i];
    }
    int count;
    comparison_group *groups = comparison_groups(&c, &count);
    comparison_pair *pairs = comparison_pairs(&c, groups, count, 0);
    ck_assert_msg(pairs[0].here_p < 0.001 && pairs[0].corrected > 0.05, "p = %g here, %g elsewhere", pairs[0].here_p,
                  pairs[0].corrected);
    ck_assert_int_eq(pairs[0].half, 1);
    ck_assert_int_eq(pairs[0].rows, 60);
    /* the same 20 rows tested by all seeds, of 100: a row that is trained on counts for 20 / 80 of one that is
     * tested */
    c.about.fixed_test = true;
    c.about.rows = 100;
    comparison_pair *fixed = comparison_pairs(&c, groups, count, 0);
    ck_assert_double_eq_tol(fixed[0].difference.floor, pairs[0].difference.floor * sqrt(1.25 / 2), 1e-12);
    c.about.fixed_test = false;
    free(fixed);
    free(pairs);
    free(groups);
    static char text[8192];
    for (int few = 0; few < 2; few++) {
        c.about.rows = few ? 60 : 200;
        FILE *out = tmpfile();
        comparison_print(&c, "markdown", out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert_msg(strstr(text, "significant: Student's t, at 5 %.") && !strstr(text, "Holm"), "%s",
                      text); /* one pair */
        ck_assert_int_eq(strstr(text, "From fewer than 200 rows, here 60, such an interval may hold") != NULL, few);
        ck_assert_int_eq(strstr(text, "from 120 rows in 91 to 98 %.") != NULL, few); /* no classes, no AUC */
    }
    static const char *const has[] = {"gelu came first; relu is worse on these samples, though perhaps not on others.",
                                      "Row 1 of the data (from 0, as in rows.csv) makes 37 % of the loss of relu, so "
                                      "that mean says little: see whether "
                                      "its target is right.",
                                      "Of single samples, gelu has less loss than relu on 52 % (",
                                      "\"On these samples\" means for other splits of them"};
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        ck_assert_msg(strstr(text, has[i]) != NULL, "no '%s' in\n%s", has[i], text);
    c.about.weighted = true; /* values of rows that weigh differently are no losses */
    FILE *out = tmpfile();
    comparison_print(&c, "markdown", out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    ck_assert_msg(strstr(text, "Row 1 of the data") && !strstr(text, "Of single samples"), "%s", text);
}
END_TEST

/* Of eight rows one has most of the loss by chance. */
START_TEST(no_row_of_a_few_is_said_to_have_much_of_a_loss)
{
    static const double losses[2][8] = {{4, 0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1}, {1, 0.1, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1}};
    runlog_run runs[4];
    uint32_t rows[24];
    double values[2][24];
    comparison c = of_losses(runs, 4, true);
    for (int count = 8; count <= 24; count += 16) { /* of 24 rows it is not chance */
        static char text[8192];
        for (int k = 0; k < 24; k++) {
            rows[k] = (uint32_t)k;
            for (int g = 0; g < 2; g++)
                values[g][k] = losses[g][k % 8] / (k < 8 ? 1 : 100);
        }
        for (int i = 0; i < 4; i++) {
            runs[i] = (runlog_run){.group = i % 2 ? "gelu" : "relu",
                                   .seed = (uint64_t)i / 2,
                                   .finished = true,
                                   .row_count = (size_t)count,
                                   .rows = rows,
                                   .net.rows = {values[i % 2]}};
            for (int k = 0; k < count; k++)
                runs[i].net.values[0] += values[i % 2][k] / count;
        }
        FILE *out = tmpfile();
        comparison_print(&c, "markdown", out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert_msg((strstr(text, "of the data (from 0") != NULL) == (count > 8), "%s", text);
    }
}
END_TEST

START_TEST(hints_are_given_where_they_are_due)
{
    runlog_run runs[4] = {{.group = "relu", .seed = 1, .finished = true, .net.values = {0.9, 0.1}},
                          {.group = "relu", .seed = 2, .finished = true, .net.values = {0.1, 2.3}},
                          {.group = "swiglu", .seed = 1, .finished = true, .net.values = {NAN, 0.5}},
                          {.group = "swiglu", .seed = 2, .finished = true, .net.values = {0.7, 0.5}}};
    for (int i = 0; i < 4; i++)
        runs[i].constant = (runlog_values){.values = {0.2, 2.3}};
    comparison c = {.group = "activation",
                    .measures = {{.name = "test_accuracy",
                                  .title = "test acc %",
                                  .words = "test accuracy",
                                  .share = true,
                                  .more_is_better = true,
                                  .judged = true},
                                 {.value = 1, .name = "loss", .title = "loss", .words = "loss", .judged = true}},
                    .measure_count = 2,
                    .has_constant = true,
                    .runs = runs,
                    .run_count = 4,
                    .about.remedy = "--norm rms",
                    .still_falling = 3,
                    .test_samples = 40};
    static const char *const hints[] = {
        "Hint: swiglu diverged in 1 of 2 runs; what helps: --norm rms.",
        "Hint: the validation loss still fell in the last epochs of 3 of 4 runs",
        ("Hint: relu was better than the constant prediction neither significantly in test accuracy nor "
         "in loss in 1 of 2 runs"),
        "measured on 40 test samples, of which one is 2.5 points"};
    for (int due = 1; due >= 0; due--) {
        static char text[8192];
        FILE *out = tmpfile();
        comparison_print(&c, "table", out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        for (int i = 0; i < 4; i++)
            ck_assert_msg((strstr(text, hints[i]) != NULL) == due, "'%s' %s\n%s", hints[i], due ? "missing" : "there",
                          text);
        runs[2].net.values[0] = 0.6;
        runs[1].net.values[1] = 2.2;
        c.still_falling = 2;
        c.test_samples = due ? 100 : 40;
    }
    c.about.weighted = true; /* a sample is no longer one in 40 */
    static char text[8192];
    FILE *out = tmpfile();
    comparison_print(&c, "table", out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    ck_assert_msg(strstr(text, "measured on 40 test samples.") != NULL, "%s", text);
    c.about.weighted = false;
    c.about.redrawn = true;
    out = tmpfile();
    comparison_print(&c, "table", out);
    rewind(out);
    text[fread(text, 1, sizeof text - 1, out)] = '\0';
    fclose(out);
    ck_assert_msg(strstr(text, "measured on 40 test samples in each seed, of which one is 2.5 points:"), "%s", text);
}
END_TEST

/* R2 of one test row is 0 / 0: its runs have not diverged, and no other rate helps. */
START_TEST(a_measure_that_is_not_defined_is_no_divergence)
{
    static runlog_run runs[4];
    static char text[4096];
    comparison c = {.group = "activation",
                    .measures = {{.name = "test_r2",
                                  .title = "R2",
                                  .words = "test R2",
                                  .more_is_better = true,
                                  .judged = true,
                                  .influence = true}},
                    .measure_count = 1,
                    .runs = runs,
                    .run_count = 4,
                    .about.remedy = "--lr auto"};
    for (int diverged = 0; diverged < 2; diverged++) {
        for (int i = 0; i < 4; i++)
            runs[i] = (runlog_run){.group = i % 2 ? "gelu" : "relu",
                                   .seed = (uint64_t)i / 2,
                                   .finished = true,
                                   .diverged = i % 2 ? diverged : 0,
                                   .net.values = {NAN}};
        FILE *out = tmpfile();
        comparison_print(&c, "table", out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert_msg(!strstr(text, "relu diverged") && !strstr(text, "gelu diverged") == !diverged, "%s", text);
        ck_assert_msg(strstr(text, "gelu against relu: no verdict on test R2, which some run has not.") != NULL, "%s",
                      text);
    }
}
END_TEST

static void print_comparison(FILE *out, const void *c)
{
    comparison_print(c, "table", out);
}

static void write_long(const void *words, FILE *to)
{
    fprintf(to, "%s %s %s\nend\n", (const char *)words, (const char *)words, (const char *)words);
}

static void print_long(FILE *out, const void *words)
{
    terminal_wrap_output(out, write_long, words);
}

START_TEST(an_output_is_wrapped_on_a_terminal_only)
{
    static const char words[] = "the mean of nets";
    ck_assert_str_eq(terminal_output(40, 40, print_long, words),
                     "the mean of nets the mean of nets the\nmean of nets\nend\n");
    ck_assert_str_eq(terminal_output(0, 0, print_long, words),
                     "the mean of nets the mean of nets the mean of nets\nend\n");
}
END_TEST

START_TEST(at_forty_columns_a_comparison_has_its_figures)
{
    static const char *const has[] = {"relu", "gelu", "mish", "loss", "better"};
    static runlog_run runs[GROUPS * MOST_SEEDS];
    tg_rng rng = tg_rng_seed(7);
    comparison c = simulated(&rng, 4, 1, runs);
    for (int i = 0; i < c.run_count; i++)
        runs[i].parameters = 1234567;
    const char *text = terminal_output(40, 40, print_comparison, &c);
    for (size_t i = 0; i < sizeof has / sizeof *has; i++)
        ck_assert_msg(strstr(text, has[i]) != NULL, "no %s in\n%s", has[i], text);
    for (char line[200]; *text; text += strlen(line) + 1) {
        snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
        ck_assert_msg(terminal_width(line) <= 40, "'%s'", line);
    }
}
END_TEST

/* A table of accuracy and loss has room for what decides, and one line for each activation. */
START_TEST(at_eighty_columns_a_comparison_is_one_table)
{
    static runlog_run runs[GROUPS * MOST_SEEDS];
    tg_rng rng = tg_rng_seed(7);
    comparison c = simulated(&rng, 4, 1, runs);
    c.measures[0] = (comparison_measure){.name = "test_accuracy",
                                         .title = "test acc %",
                                         .words = "test accuracy",
                                         .share = true,
                                         .more_is_better = true,
                                         .judged = true};
    c.measures[c.measure_count++] = (comparison_measure){
        .value = 1, .name = "test_loss", .title = "test loss", .words = "test loss", .judged = true, .spare = true};
    for (int i = 0; i < c.run_count; i++) {
        runs[i].net.values[1] = runs[i].net.values[0] / 100;
        runs[i].net.values[0] = 0.5 + 0.001 * (runs[i].net.values[0] - 100);
        runs[i].parameters = 1234567;
    }
    const char *text = terminal_output(80, 40, print_comparison, &c), *heading = strstr(text, "activation");
    ck_assert_msg(heading && !strstr(heading + 1, "activation"), "%s", text);
    ck_assert_msg(strstr(heading, "test acc %") && strstr(heading, "better"), "%s", text);
    ck_assert_msg(strstr(text, "(Holm); intervals are") != NULL, "%s", text); /* six pairs */
    setenv("LC_ALL", "C", 1);                                                 /* "diff" is longer than its sign */
    for (const char *line = terminal_output(80, 40, print_comparison, &c); *line; line += strcspn(line, "\n") + 1)
        ck_assert_msg(strcspn(line, "\n") <= 80, "%.*s", (int)strcspn(line, "\n"), line);
    unsetenv("LC_ALL");
    c.measures[0].title = NULL; /* what is not shown decides nothing */
    text = terminal_output(80, 40, print_comparison, &c);
    ck_assert_msg(!strstr(text, "accuracy") && strstr(text, "gelu against relu: test loss "), "%s", text);
    c.measures[0].title = "test acc %";
    const char *wide = terminal_output(120, 40, print_comparison, &c);
    ck_assert_msg(strstr(wide, "1,234,567") && strstr(wide, "test loss"), "%s", wide);
}
END_TEST

/* ---- pages ---- */

START_TEST(a_page_reloads_itself_only_while_it_is_running)
{
    for (int running = 0; running < 2; running++) {
        char text[8192];
        FILE *out = tmpfile();
        html_begin(out, "<b> & \"c\"", NULL, running);
        html_end(out);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert_int_eq(strstr(text, "http-equiv=\"refresh\"") != NULL, running);
        ck_assert_ptr_nonnull(strstr(text, "<h1>&lt;b&gt; &amp; &quot;c&quot;</h1>"));
        ck_assert_ptr_nonnull(strstr(text, "prefers-color-scheme:dark"));
        ck_assert(!strstr(text, "http:") && !strstr(text, "https:") && !strstr(text, "<script"));
    }
}
END_TEST

/* Reads the points of the n-th path that is a curve, [count, 2]; returns how many there are, each after an M or L. */
static int curve_of(const char *svg, int number, double points[][2], char moves[])
{
    const char *at = svg;
    for (int i = 0; i <= number; i++)
        ck_assert_ptr_nonnull(at = strstr(at + 1, "fill=\"none\""));
    at = strstr(at, " d=\"") + 4;
    int count = 0;
    for (int used; sscanf(at, "%c%lf %lf%n", &moves[count], &points[count][0], &points[count][1], &used) == 3;
         at += used)
        count++;
    return count;
}

/* The vertical position of the rule at a value, from the top. */
static double height_of(const char *svg, const char *label)
{
    char text[40];
    double y = NAN;
    snprintf(text, sizeof text, "text-anchor=\"end\">%s<", label);
    const char *at = strstr(svg, text);
    ck_assert_msg(at != NULL, "no %s in %s", label, svg);
    while (strncmp(at, "<path", 5) != 0)
        at--;
    sscanf(at, "<path d=\"M%*d %lf", &y);
    return y;
}

/* The pictures by gnuplot follow when the program ends, so a run must not change its colour. Black, which a dark page
 * hides, is there the colour of the text. */
START_TEST(charts_have_the_colours_of_the_pictures)
{
    static const double pairs[] = {1, 1, 2, 2};
    static chart_line lines[12];
    static char text[40000], page[1 << 16];
    FILE *style = fopen("plots/style.gp", "r"), *out = fmemopen(page, sizeof page, "w");
    ck_assert(style && out);
    text[fread(text, 1, sizeof text - 1, style)] = '\0';
    fclose(style);
    char *colours = strstr(text, "\ncolours = \"");
    ck_assert_ptr_nonnull(colours);
    colours = strchr(colours, '"') + 1;
    *strchr(colours, '"') = '\0';
    for (int i = 0; i < 12; i++)
        lines[i] = (chart_line){.name = "net", .group = i, .pairs = pairs, .count = 2};
    chart_write(out, "loss", "epoch", lines, 12);
    fclose(out);
    char *at = page;
    for (const char *colour = strtok(colours, " "); colour; colour = strtok(NULL, " ")) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "stroke=\"%s%s\" d=", strcmp(colour, "000000") ? "#" : "",
                 strcmp(colour, "000000") ? colour : "var(--ink)");
        at = strcasestr(at, wanted);
        ck_assert_msg(at, "%s", wanted);
    }
}
END_TEST

START_TEST(a_chart_has_its_points_at_their_places)
{
    static const double linear[] = {1, 4, 2, NAN, 3, 3, 4, 2}, powers[] = {0, 1, 5, 0.01, 10, 0.1};
    char text[8192], moves[8];
    double p[8][2];
    for (int logarithmic = 0; logarithmic < 2; logarithmic++) {
        FILE *out = tmpfile();
        chart_write(
            out, "a < b", "epoch",
            &(chart_line){.name = "relu & co", .pairs = logarithmic ? powers : linear, .count = logarithmic ? 3 : 4},
            1);
        rewind(out);
        text[fread(text, 1, sizeof text - 1, out)] = '\0';
        fclose(out);
        ck_assert(strstr(text, "a &lt; b") && strstr(text, "relu &amp; co") && strstr(text, ">epoch<"));
        const int count = curve_of(text, 0, p, moves);
        ck_assert_int_eq(count, 3);
        ck_assert_int_eq(strncmp(moves, logarithmic ? "MLL" : "MML", 3), 0); /* what is not finite is a gap */
        if (logarithmic) {
            ck_assert_double_eq_tol(p[0][1], height_of(text, "1"), 0.11);
            ck_assert_double_eq_tol(p[1][1], height_of(text, "0.01"), 0.11);
            ck_assert_double_eq_tol(p[2][1], height_of(text, "0.1"), 0.11);
            ck_assert_double_eq_tol(p[2][1], (p[0][1] + p[1][1]) / 2, 0.11);
            ck_assert_double_eq_tol(p[1][0], (p[0][0] + p[2][0]) / 2, 0.11);
        } else {
            ck_assert_double_eq_tol(p[0][1], height_of(text, "4"), 0.11);
            ck_assert_double_eq_tol(p[2][1], height_of(text, "2"), 0.11);
        }
    }
    FILE *out = tmpfile();
    chart_write(out, "nothing", "epoch", &(chart_line){.name = "relu", .pairs = (double[]){1, NAN}, .count = 1}, 1);
    ck_assert_int_eq(ftell(out), 0);
    fclose(out);
}
END_TEST

/* Nets that are alike but for the last bits of what rows add, which are less by more in some seeds: no test. */
START_TEST(differences_that_are_rounding_are_none)
{
    enum { RUNS = 12, ROWS = 8 };
    static double values[RUNS][ROWS];
    static const uint32_t rows[ROWS] = {0, 1, 2, 3, 4, 5, 6, 7};
    static runlog_run runs[RUNS];
    const comparison c = {.group = "activation",
                          .measures = {{.name = "test_auc",
                                        .title = "AUC %",
                                        .words = "test AUC",
                                        .share = true,
                                        .more_is_better = true,
                                        .judged = true,
                                        .influence = true}},
                          .measure_count = 1,
                          .runs = runs,
                          .run_count = RUNS,
                          .about = {.redrawn = true, .rows = ROWS}};
    for (int i = 0; i < RUNS; i++) {
        runs[i] = runlog_run_new();
        runs[i].group = i % 2 ? "silu" : "relu";
        runs[i].seed = (uint64_t)i / 2;
        runs[i].finished = true;
        runs[i].rows = rows;
        runs[i].row_count = ROWS;
        runs[i].net.rows[0] = values[i];
        runs[i].net.values[0] = 1;
        for (int k = 0; k < ROWS; k++)
            values[i][k] = 1 - (i % 2 ? (2 + i * 7 % 5) * DBL_EPSILON : 0);
    }
    int count;
    comparison_group *groups = comparison_groups(&c, &count);
    comparison_pair *pairs = comparison_pairs(&c, groups, count, 0);
    ck_assert_double_eq(pairs[0].difference.mean, 0);
    ck_assert_double_nan(pairs[0].corrected);
    free(groups);
    free(pairs);
}
END_TEST

/* Numbers that differ in their last bit: a rule at every 1e-17 between them would have no end. */
START_TEST(a_line_that_is_level_but_for_rounding_is_drawn)
{
    static const double pairs[] = {1, 0.3, 2, 0.1 + 0.2};
    static char page[8192];
    FILE *out = fmemopen(page, sizeof page, "w");
    chart_write(out, "accuracy", "epoch", &(chart_line){.name = "relu", .pairs = pairs, .count = 2}, 1);
    fclose(out);
    ck_assert(strstr(page, "</svg>"));
}
END_TEST

Suite *report_suite(void)
{
    Suite *suite = suite_create("report");
    TCase *tests = tcase_create("report");
    tcase_add_test(tests, charts_have_the_colours_of_the_pictures);
    tcase_add_test(tests, a_chart_has_its_points_at_their_places);
    tcase_add_test(tests, a_line_that_is_level_but_for_rounding_is_drawn);
    tcase_add_test(tests, differences_that_are_rounding_are_none);
    tcase_add_test(tests, a_table_is_printed_in_five_ways);
    tcase_add_test(tests, no_name_is_markup_in_markdown);
    tcase_add_test(tests, a_narrow_terminal_has_everything_and_no_long_line);
    tcase_add_test(tests, tables_without_columns_and_with_many_are_printed);
    tcase_add_test(tests, a_verdict_says_what_the_interval_says);
    tcase_add_test(tests, a_headline_that_is_too_long_is_not_cut);
    tcase_add_test(tests, a_headline_says_which_groups_differ);
    tcase_add_test(tests, enough_seeds_are_known_numbers);
    tcase_add_test(tests, a_loss_that_still_falls_is_seen);
    tcase_add_test(tests, a_verdict_says_how_many_seeds_a_difference_needs);
    tcase_add_test(tests, a_verdict_says_on_which_samples_it_is_significant);
    tcase_add_test(tests, few_seeds_that_agree_say_nothing);
    tcase_add_test(tests, an_interval_with_a_negative_end_is_written_with_a_word);
    tcase_add_test(tests, huge_and_tiny_numbers_have_their_digits);
    tcase_add_test(tests, a_measure_that_is_not_defined_is_no_divergence);
    tcase_add_test(tests, an_output_is_wrapped_on_a_terminal_only);
    tcase_add_test(tests, a_row_makes_its_weighted_share_of_a_difference);
    tcase_add_test(tests, a_difference_on_two_rows_is_one_of_these_samples);
    tcase_add_test(tests, verdicts_are_right_where_the_truth_is_known);
    tcase_add_test(tests, no_row_of_a_few_is_said_to_have_much_of_a_loss);
    tcase_add_test(tests, hints_are_given_where_they_are_due);
    tcase_add_test(tests, at_forty_columns_a_comparison_has_its_figures);
    tcase_add_test(tests, at_eighty_columns_a_comparison_is_one_table);
    tcase_add_test(tests, a_page_reloads_itself_only_while_it_is_running);
    suite_add_tcase(suite, tests);
    return suite;
}
