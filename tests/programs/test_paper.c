/* compare --paper: pictures as PDF, a table for LaTeX, and methods whose sentences are those of the options. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *paper_suite(void);

#define SMALL "--data moons --rows 60 --hidden 4 --epochs 2 --paper --overwrite --out p "

static bool can_run(const char *program)
{
    char command[200];
    snprintf(command, sizeof command, "command -v %s >/dev/null", program);
    return system(command) == 0;
}

/* The options, and what the methods say and do not say then. */
static const struct {
    const char *options, *said[8], *not_said[4];
} cases[] = {
    {"--seeds 2 --activations 'relu,mine: x sigmoid(1.5 x)' --lr 0.01",
     {"36 training, 12 validation and 12 test samples. Splits are redrawn per seed",
      "Activations: relu (max(0, x)) and mine (x sigmoid(1.5 x)). model mlp, hidden 4,",
      "epochs 2, batch 8, optimizer adamw", "lr 0.01",
      "Seeds 1 to 2:", "the epoch with the lowest validation loss counts.\n\nSearch. All have learning rate 0.01",
      "Intervals of test accuracy: Student's t with the variance of the seeds and the covariance of test samples "
      "that seeds share, from the value of each sample, as docs/comparing.md of tapegrad says, with f = 2, "
      "of the mean on asin(sqrt(x)).",
      "from the value of each sample, as docs/comparing.md of tapegrad says, with f = 2 for differences and 1.5 "
      "for means."},
     {"Gated nets", "Training ends", "is shown where", "again on training"}},
    {"--seeds 1 --seed 7 --activations relu,swiglu --gated width --best accuracy --patience 1 --dropout 0.25 "
     "--lr 0.01,0.001 "
     "--optimizer sgd --split fixed",
     {"The split is fixed", "dropout 0.25, ", "optimizer sgd, lr 0.01,0.001",
      "Gated nets have the width of the others. Seed 7: ",
      "the highest validation accuracy counts. Training ends after 1 epoch without a better one.",
      "All combinations were tried of lr 0.01,0.001. Each activation is shown where its mean validation loss over the "
      "seeds is lowest. All have initial scale 1, which was not searched"},
     {"redrawn per seed", "adamw", "lowest validation loss counts", "again on training"}},
    {"--seeds 2 --activations swiglu,relu --folds 3 --refit yes --lr 0.01",
     {"3 folds are redrawn per seed", "about as many parameters as the others",
      "Then it is trained again on training and validation samples together, for as many steps.",
      "6 folds of all seeds", "Intervals of test loss: Student's t"},
     {"Splits are redrawn", "the width of"}},
    {"--seeds 2 --activations relu --test first:12 --lr 0.01",
     {"f = 1 + m / (N - m), where m of N samples are tested, of the mean on",
      "f = 1 + m / (N - m) for differences and 1.5 for means, where m of N samples are tested."},
     {NULL}}};

START_TEST(methods_are_those_of_the_options)
{
    expect_fine(train_run("compare", SMALL "--no-plots %s", cases[_i].options));
    const char *text = temporary_text("p/paper/methods.txt");
    for (int k = 0; k < 8 && cases[_i].said[k]; k++)
        ck_assert_msg(strstr(text, cases[_i].said[k]) != NULL, "'%s' is missing in: %s", cases[_i].said[k], text);
    for (int k = 0; k < 4 && cases[_i].not_said[k]; k++)
        ck_assert_msg(strstr(text, cases[_i].not_said[k]) == NULL, "'%s' is in: %s", cases[_i].not_said[k], text);
    ck_assert(strstr(text, "\nSoftware. tapegrad ") && strstr(text, "compare --data moons --rows 60"));
}
END_TEST

/* Compiled where LaTeX is installed; the fonts of the pictures are embedded. */
START_TEST(the_table_is_latex_and_the_pictures_are_pdf)
{
    static const char *const pictures[] = {"loss", "accuracy", "intervals", "boundary"};
    expect_fine(train_run("compare", SMALL "--seeds 3 --lr 0.01 --activations 'relu,a_b: x sin(x)'"));
    const char *table = temporary_text("p/paper/table.tex");
    ck_assert(strstr(table, "\\toprule\n") && strstr(table, "\na\\_b & ") && strstr(table, "\\bottomrule\n") &&
              strstr(table, "95 \\% interval of the mean over 3 seeds"));
    if (can_run("gnuplot"))
        for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
            expect_fine(train_run("head", "-c 5 p/paper/%s.pdf", pictures[i]));
            ck_assert_str_eq(train_output, "%PDF-");
            expect_fine(can_run("pdffonts") ? train_run("pdffonts", "p/paper/%s.pdf", pictures[i]) : 0);
            ck_assert_msg(!can_run("pdffonts") || (strstr(train_output, "DejaVu") && !strstr(train_output, " no ")),
                          "%s", train_output);
        }
    if (can_run("gnuplot")) { /* the same bytes in another second */
        expect_fine(train_run("sh", "-c 'cp -r p/paper before && sleep 1.1'"));
        expect_fine(train_run("compare", SMALL "--seeds 3 --lr 0.01 --activations 'relu,a_b: x sin(x)'"));
        expect_fine(train_run("diff", "-r p/paper before"));
    }
    if (can_run("pdflatex") && can_run("gnuplot"))
        expect_fine(train_run("sh", "-c 'cd p/paper && pdflatex -halt-on-error \"\\\\documentclass{article}"
                                    "\\\\usepackage{booktabs,graphicx}\\\\begin{document}\\\\input{table}"
                                    "\\\\includegraphics{loss}\\\\end{document}\"'"));
}
END_TEST

START_TEST(results_of_other_programs_have_a_paper_too)
{
    static const char runs[] = "group,seed,score\nours,1,0.9\nours,2,0.8\ntheirs,1,0.7\ntheirs,2,0.75\n";
    temporary_write("runs.csv", runs, sizeof runs - 1);
    expect_fine(train_run("compare", "--runs runs.csv --more-is-better score --paper --out p"));
    ck_assert_ptr_nonnull(strstr(temporary_text("p/paper/methods.txt"),
                                 "Results of 4 runs of other programs, from runs.csv: "
                                 "measures score."));
    ck_assert_ptr_nonnull(
        strstr(temporary_text("p/paper/methods.txt"), "\nIntervals of score: Student's t over the seeds.\n"));
    ck_assert_ptr_nonnull(strstr(temporary_text("p/paper/table.tex"), "\ntheirs & "));
    ck_assert(!can_run("gnuplot") || temporary_exists("p/paper/intervals.pdf"));
    expect_refused(train_run("compare", "--runs runs.csv --paper"), "--paper needs --out");
}
END_TEST

/* Started over with other data, a folder has nothing of the earlier comparison. */
START_TEST(what_is_overwritten_leaves_no_report)
{
    static const char *const gone[] = {"report.html",       "loss.png",       "loss.svg",           "paper/table.tex",
                                       "paper/methods.txt", "paper/loss.pdf", "paper/intervals.pdf"};
    expect_fine(train_run("compare", SMALL "--seeds 2 --lr 0.01 --activations relu,tanh --report"));
    ck_assert(temporary_exists("p/report.html") && temporary_exists("p/paper/table.tex"));
    temporary_write("p/paper/mine.tex", "mine", 4);
    expect_fine(train_run("compare",
                          "--data circles --rows 60 --hidden 4 --epochs 1 --seeds 1 --lr 0.01 --activations relu "
                          "--no-plots --overwrite --out p"));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++) {
        char path[60];
        snprintf(path, sizeof path, "p/%s", gone[i]);
        ck_assert_msg(!temporary_exists(path), "%s", path);
    }
    ck_assert(temporary_exists("p/paper/mine.tex"));
}
END_TEST

/* More seeds without --paper or --report: the numbers in their files are those of fewer. */
START_TEST(a_comparison_that_continues_leaves_no_stale_paper_or_report)
{
    static const char same[] = "--data moons --rows 60 --hidden 4 --epochs 2 --lr 0.01 --activations relu,tanh --out p";
    expect_fine(train_run("compare", "%s --seeds 2 --paper --report", same));
    temporary_write("p/paper/mine.tex", "mine", 4);
    expect_fine(train_run("compare", "%s --seeds 3 --paper --no-plots", same));
    ck_assert(temporary_exists("p/paper/table.tex") && !temporary_exists("p/paper/intervals.pdf"));
    ck_assert(!temporary_exists("p/paper/loss.pdf"));
    expect_fine(train_run("compare", "%s --seeds 4 --no-plots", same));
    ck_assert(!temporary_exists("p/paper/table.tex") && !temporary_exists("p/paper/methods.txt"));
    ck_assert(temporary_exists("p/paper/mine.tex") && !temporary_exists("p/report.html"));
    for (int paper = 1; paper >= 0; paper--) {
        expect_fine(
            train_run("compare", "--runs p/runs.csv --measures test_loss %s --out r", paper ? "--paper --report" : ""));
        ck_assert_int_eq(temporary_exists("r/paper/table.tex"), paper);
        ck_assert_int_eq(temporary_exists("r/report.html"), paper);
        expect_fine(train_run("compare",
                              "--data moons --data circles --rows 60 --hidden 4 --epochs 1 --seeds 1 --lr "
                              "0.01 --activations relu,tanh --no-plots %s --out s",
                              paper ? "--paper" : ""));
        ck_assert_int_eq(temporary_exists("s/paper/table.tex"), paper);
        ck_assert_int_eq(temporary_exists("s/moons/paper/table.tex"), paper);
    }
}
END_TEST

START_TEST(several_data_sets_have_a_paper_together)
{
    expect_fine(train_run("compare", "--data moons --data circles --rows 60 --hidden 4 --epochs 1 --seeds 1 --lr 0.01 "
                                     "--activations relu,tanh --no-plots --paper --out p"));
    ck_assert_ptr_nonnull(strstr(train_output, "in p/: ranks.csv, rank_pairs.csv; paper/\n"));
    ck_assert_ptr_nonnull(strstr(temporary_text("p/paper/methods.txt"), "Data. 2 data sets: moons, circles."));
    ck_assert_ptr_nonnull(strstr(temporary_text("p/paper/table.tex"), "\nactivation & mean rank & best on & $\\Delta$ "
                                                                      "test accuracy & p & better"));
    ck_assert(temporary_exists("p/moons/paper/methods.txt") && temporary_exists("p/circles/paper/table.tex"));
}
END_TEST

Suite *paper_suite(void)
{
    Suite *suite = suite_create("paper");
    TCase *tests = tcase_create("paper");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_add_loop_test(tests, methods_are_those_of_the_options, 0, sizeof cases / sizeof *cases);
    tcase_add_test(tests, the_table_is_latex_and_the_pictures_are_pdf);
    tcase_add_test(tests, results_of_other_programs_have_a_paper_too);
    tcase_add_test(tests, what_is_overwritten_leaves_no_report);
    tcase_add_test(tests, a_comparison_that_continues_leaves_no_stale_paper_or_report);
    tcase_add_test(tests, several_data_sets_have_a_paper_together);
    suite_add_tcase(suite, tests);
    return suite;
}
