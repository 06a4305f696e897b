/* What the programs say about tables helps: the advice about cells that cannot be read, rows that deceive, and gaps
 * that only predict meets. */
#include "tests/support/run_programs.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *tables_said_suite(void);

/* Writes a table of two numbers, a word and a class, with a line of its own before row number `at`, if there is one. */
static void write_with(const char *name, int rows, int at, const char *line)
{
    FILE *file = fopen(temporary_path(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs("a,b,colour,size\n", file);
    for (int i = 0; i <= rows; i++) {
        if (line && i == at)
            fprintf(file, "%s\n", line);
        if (i < rows)
            fprintf(file, "%d.5,%d,%s,%s\n", i % 7, i * 5 % 11, i % 3 ? "red" : "blue", i % 7 < 3 ? "small" : "large");
    }
    fclose(file);
}

/* ---- advice about cells ---- */

/* A line that cannot be read, and what the message says to do about it. */
static const struct advice {
    int at;
    const char *line, *said, *follow;
} advice[] = {
    {50, "#DIV/0!,2,red,small", "use --missing drop or --missing mean", "cp odd.csv new.csv"},
    {100, "Total,900,,", "leave the line out: sed 102d", "sed 102d odd.csv > new.csv"},
    {50, "a,b,colour,size", "awk 'NR == 1 { head = $0 } NR == 1 || $0 != head' leaves it out",
     "awk 'NR == 1 { head = $0 } NR == 1 || $0 != head' odd.csv > new.csv"},
    {50, "\u22123.5,2,red,small", "sed 's/\u2212/-/g'", "sed 's/\u2212/-/g' odd.csv > new.csv"},
    {50, "3.5.1,2,red,small", "leave the line out: sed 52d", "sed 52d odd.csv > new.csv"},
};

START_TEST(advice_about_cells_helps)
{
    const struct advice *a = &advice[_i];
    write_with("odd.csv", 100, a->at, a->line);
    expect_refused(train_run("train", "--data odd.csv --epochs 1 --hidden 4 --no-plots --out m"), a->said);
    ck_assert_msg(!strstr(train_output, "--categorical"), "%s", train_output);
    temporary_write("follow", a->follow, strlen(a->follow));
    ck_assert_int_eq(train_run("sh", "follow"), 0);
    expect_fine(train_run("train", "--data new.csv --epochs 1 --hidden 4 --no-plots --out m%s",
                          strstr(a->said, "--missing drop") ? " --missing drop" : ""));
}
END_TEST

/* ---- gaps that training had not ---- */

/* The competition's two files: an identifier, a target that the second file has not, and gaps that the first has
 * not. */
static void write_competition(void)
{
    FILE *train = fopen(temporary_path("comp.csv"), "w"), *test = fopen(temporary_path("new.csv"), "w"),
         *filled = fopen(temporary_path("filled.csv"), "w");
    ck_assert(train && test && filled);
    fputs("id,age,fare,sex,port,alive\n", train);
    for (int i = 0; i < 80; i++)
        fprintf(train, "%d,%s,%d.25,%s,%c,%d\n", i, i % 9 ? "31" : "", i % 10, i % 2 ? "male" : "female", "SSC"[i % 3],
                i % 2);
    fputs("id,age,fare,sex,port\n1,,2.25,male,S\n2,31,,female,C\n3,31,7.25,male,\n4,,,male,?\n", test);
    fputs("id,age,fare,sex,port\n1,,2.25,male,S\n2,31,4.75,female,C\n3,31,7.25,male,S\n4,,4.75,male,S\n", filled);
    fclose(train);
    fclose(test);
    fclose(filled);
}

START_TEST(gaps_that_training_had_not_are_filled)
{
    write_competition();
    expect_fine(train_run("train",
                          "--data comp.csv --target alive --ignore id --missing mean --validation none --test none "
                          "--epochs 2 --hidden 4 --no-plots --out m"));
    expect_fine(train_run("predict", "--model m --data new.csv --probabilities > p"));
    ck_assert_ptr_nonnull(strstr(train_output, "column 'fare': 2 missing values, and training had none; its mean there "
                                               "stands in: 4.75"));
    ck_assert_ptr_nonnull(strstr(train_output, "column 'port': 2 missing values, and training had none; its most "
                                               "frequent category there stands in: 'S'"));
    ck_assert_ptr_null(strstr(train_output, "'age'"));
    expect_fine(train_run("predict", "--model m --data filled.csv --probabilities > q"));
    ck_assert_str_eq(train_output, "");
    expect_fine(train_run("cmp", "p q"));
    expect_refused(train_run("predict", "--model m --data new.csv --strict"), "new.csv:3, column 'fare': missing");
    expect_refused(train_run("predict", "--model m --data pairs:new.csv --strict --beams 2"), "--beams");
}
END_TEST

/* Files of earlier versions do not say which category is the most frequent. */
START_TEST(older_files_know_no_frequent_category)
{
    static const char edit[] =
        "sed 's/,\\\\\"frequent\\\\\":true/                  /g' m/best.safetensors > old.safetensors";
    write_competition();
    expect_fine(train_run("train",
                          "--data comp.csv --target alive --ignore id --missing mean --validation none --test none "
                          "--epochs 2 --hidden 4 --no-plots --out m"));
    temporary_write("edit", edit, strlen(edit));
    ck_assert_int_eq(train_run("sh", "edit"), 0);
    ck_assert_int_ne(train_run("cmp", "old.safetensors m/best.safetensors"), 0);
    expect_fine(train_run("predict", "--model old.safetensors --data new.csv"));
    ck_assert_ptr_nonnull(strstr(train_output, "column 'port': 2 missing values, and training had none; it gets no "
                                               "category"));
}
END_TEST

/* ---- rows that deceive ---- */

/* Coins: four numbers that say nothing about the class; each row `times` times. */
static void write_coins(const char *name, int rows, int times)
{
    FILE *file = fopen(temporary_path(name), "w");
    ck_assert_ptr_nonnull(file);
    fputs("id,a,b,c,y\n", file);
    for (int i = 0; i < rows * times; i++) {
        const int k = i % rows;
        fprintf(file, "%d,%d.5,%d.25,%d,%s\n", i * 3, k * 7919 % 1009, k * 104729 % 911, k * 31 % 157,
                k * 2654435 / 7 % 2 ? "p" : "q");
    }
    fclose(file);
}

START_TEST(repeated_rows_are_counted_and_can_be_dropped)
{
    write_coins("coins.csv", 50, 3);
    expect_fine(train_run("train",
                          "--data coins.csv --ignore id --test none --validation first:30 --epochs 1 --hidden 4 "
                          "--no-plots --out m"));
    ck_assert_msg(strstr(train_output,
                         "Warning: 30 of 30 validation samples have the features of a training sample; if they are "
                         "copies, their measures are too good: --drop-duplicates keeps one of each; --groups COLUMN "
                         "keeps rows of one origin, such as a patient, in one split"),
                  "%s", train_output);
    expect_fine(train_run("compare", "--data coins.csv --ignore id --epochs 1 --hidden 4 --lr 0.01 --activations relu "
                                     "--seeds 1 --no-plots --out c"));
    ck_assert_ptr_nonnull(strstr(train_output, " have the features of a training sample in the first split; if they "));
    expect_fine(train_run("train", "--data coins.csv --ignore id --drop-duplicates --test none --validation first:10 "
                                   "--epochs 1 --hidden 4 --no-plots --out n"));
    ck_assert_msg(strstr(train_output, "coins: 50 rows, 3 features, 100 duplicates dropped"), "%s", train_output);
    ck_assert_ptr_null(strstr(train_output, "have the features of"));
    expect_fine(train_run("train", "--data price.csv --drop-duplicates --epochs 1 --hidden 4 --no-plots --out z"));
    ck_assert_msg(strstr(train_output, ", 0 duplicates dropped; "), "%s", train_output);
    expect_refused(train_run("train", "--data moons --drop-duplicates --no-plots"), "csv: only");
}
END_TEST

/* Of 300 names 290 are one input together, which makes no row a copy of another. Of ten rows there are two copies. */
START_TEST(rows_with_rare_categories_are_no_duplicates)
{
    static const char options[] = "--data names.csv --missing mean --epochs 1 --hidden 4 --no-plots";
    FILE *file = fopen(temporary_path("names.csv"), "w");
    ck_assert_ptr_nonnull(file);
    fputs("name,colour,size,y\n", file);
    for (int i = 0; i < 310; i++)
        fprintf(file, "n%d,%s,%s,%s\n", i % 300, i % 2 ? "red" : "blue", i % 5 ? "" : "1.5", i % 3 ? "p" : "q");
    fclose(file);
    expect_fine(train_run("train", "%s --out m", options));
    ck_assert_msg(!strstr(train_output, "are copies") && strstr(train_output, "names: 310 rows, 15 features"), "%s",
                  train_output);
    expect_fine(train_run("train", "%s --drop-duplicates --out n", options));
    ck_assert_msg(strstr(train_output, "names: 300 rows, 15 features") && strstr(train_output, " 10 duplicates"), "%s",
                  train_output);
}
END_TEST

/* Copies of a row are of one group: no training row is tested, and the model names the column. */
START_TEST(rows_of_a_group_stay_in_one_split)
{
    FILE *file = fopen(temporary_path("coins.csv"), "w");
    ck_assert_ptr_nonnull(file);
    fputs("coin,a,b,y\n", file);
    for (int i = 0; i < 180; i++)
        fprintf(file, "%d,%d.5,%d.25,%s\n", i % 60, i % 60 * 7919 % 1009, i % 60 * 104729 % 911,
                i % 60 * 2654435 / 7 % 2 ? "p" : "q");
    fclose(file);
    expect_fine(train_run("train", "--data coins.csv --groups coin --epochs 1 --hidden 4 --no-plots --out m"));
    ck_assert_msg(strstr(train_output, "108 training, 36 validation and 36 test samples.\nGroups of rows, by column "
                                       "'coin': 36 training, 12 validation and 12 test groups.\n"),
                  "%s", train_output);
    ck_assert_ptr_null(strstr(train_output, "have the features of"));
    expect_fine(train_run("grep", "-aq 'groups[^a-z]*number[^a-z]*0[^a-z]*column[^a-z]*coin' m/best.safetensors"));
    expect_fine(train_run("predict", "--model m --data coins.csv"));
    expect_refused(train_run("train", "--data moons --groups g"), "a column of groups is for csv: only");
    expect_fine(train_run("train", "--data coins.csv --ignore coin --start m --epochs 1 --no-plots --out n"));
    ck_assert_ptr_nonnull(strstr(train_output, "so it was trained on samples of the validation and test splits"));
}
END_TEST

/* Intervals of groups of one row are those of rows; and copies within a group change none. */
START_TEST(groups_are_the_units_of_intervals)
{
    static const char again[] = "--activations relu,tanh --seeds 4 --epochs 8 --hidden 4 --lr 0.02 --no-plots";
    static const char triple[] = "for f in g/runs/*/rows.csv; do awk 'NR == 1 { print; next } { print; print; print }' "
                                 "$f > t && mv t $f; done";
    FILE *file = fopen(temporary_path("t.csv"), "w");
    ck_assert_ptr_nonnull(file);
    fputs("id,a,b,y\n", file);
    for (int i = 0; i < 120; i++)
        fprintf(file, "%d,%d,%d,%d\n", i, i * 7919 % 101, i * 104729 % 91, i * 7919 % 101 > i * 104729 % 91);
    fclose(file);
    temporary_write("triple", triple, strlen(triple));
    expect_fine(train_run("compare", "--data t.csv --ignore id %s --out r", again));
    expect_fine(train_run("compare", "--data t.csv --groups id %s --out g", again));
    ck_assert_msg(strstr(train_output, "over 4 seeds and their groups of test samples") &&
                      strstr(train_output, "From fewer than 200 groups, here 120,"), /* which the formula counts, too */
                  "%s", train_output);
    expect_fine(
        train_run("sh", "-c \"cut -d, -f1-3,5- r/summary.csv > r.csv; cut -d, -f1-3,5- g/summary.csv > g.csv\""));
    expect_fine(train_run("cmp", "r.csv g.csv")); /* all but the seconds of a step */
    expect_fine(train_run("sh", "triple"));
    expect_fine(train_run("compare", "--data t.csv --groups id %s --out g", again));
    expect_fine(train_run("sh", "-c \"cut -d, -f1-3,5- g/summary.csv > g.csv\""));
    expect_fine(train_run("cmp", "r.csv g.csv"));
}
END_TEST

/* A test split of one class has no AUC; its column stays, and is empty. */
START_TEST(columns_of_a_summary_are_those_of_the_data)
{
    for (int rare = 0; rare < 2; rare++) {
        FILE *file = fopen(temporary_path("t.csv"), "w");
        ck_assert_ptr_nonnull(file);
        fputs("a,b,y\n", file);
        for (int i = 0; i < 100; i++)
            fprintf(file, "%d,%d,%c\n", i * 7919 % 101, i * 104729 % 91, (rare ? i == 50 : i % 2) ? 'p' : 'q');
        fclose(file);
        expect_fine(train_run("train", "--data t.csv --epochs 2 --hidden 4 --no-plots --out m%d", rare));
        expect_fine(train_run("sh", "-c \"head -n 1 m%d/summary.csv > head%d\"", rare, rare));
    }
    expect_fine(train_run("cmp", "head0 head1"));
    expect_fine(train_run("grep", "-q test_auc_mean head1"));
}
END_TEST

/* Two test rows are often of one class, without an AUC. */
START_TEST(pairs_are_counted_that_have_the_measure)
{
    expect_fine(train_run("compare", "--data moons --rows 8 --epochs 1 --hidden 4 --no-plots --lr 0.01 "
                                     "--activations relu,tanh --seeds 6 --out c"));
    int have = 0;
    for (char run[] = "relu,1"; run[5] <= '6'; run[5]++)
        have += !isnan(csv_cell("c/runs.csv", run, "test_auc"));
    ck_assert_msg(0 < have && have < 6, "%d of 6 seeds have an AUC", have);
    ck_assert_int_eq((int)csv_cell("c/pairs.csv", "test_auc", "pairs"), have);
    ck_assert_int_eq((int)csv_cell("c/pairs.csv", "test_loss", "pairs"), 6);
}
END_TEST

START_TEST(rows_that_the_first_run_was_trained_on_are_pointed_out)
{
    static const char said[] = "so it was trained on samples of the validation and test splits";
    write_coins("coins.csv", 60, 1);
    expect_fine(train_run("train", "--data coins.csv --ignore id --epochs 1 --hidden 4 --no-plots --out m"));
    expect_fine(train_run("train", "--data coins.csv --ignore id --epochs 1 --start m --seed 2 --no-plots --out n"));
    ck_assert_msg(strstr(train_output, said), "%s", train_output);
    expect_fine(train_run("train", "--data coins.csv --ignore id --epochs 1 --start m --test 0.3 --no-plots --out o"));
    ck_assert_msg(strstr(train_output, said), "%s", train_output);
    expect_fine(train_run("train", "--data coins.csv --ignore id --epochs 2 --start m --no-plots --out p"));
    ck_assert_msg(!strstr(train_output, said), "%s", train_output);
    write_coins("other.csv", 61, 1);
    expect_fine(train_run("train", "--data other.csv --ignore id --epochs 1 --start m --seed 2 --no-plots --out q"));
    ck_assert_msg(!strstr(train_output, said), "%s", train_output);
    /* a column that neither net sees makes other splits of the same rows */
    expect_fine(train_run("train", "--data coins.csv --groups id --epochs 1 --start m --no-plots --out r"));
    ck_assert_msg(strstr(train_output, said), "%s", train_output);
    expect_fine(train_run("train", "--data coins.csv --ignore id --epochs 1 --start r --no-plots --out s"));
    ck_assert_msg(strstr(train_output, said), "%s", train_output);
}
END_TEST

/* Long names, names with a quote and names that two columns have: an option takes their number. */
START_TEST(the_name_in_an_advice_is_one_that_options_take)
{
    static const char *const names[] = {
        "id", "id", "the number of the respondent in the list of all that were asked in the first and second wave",
        "it's", "a name of fifty-nine letters, which is not yet too long a one"};
    FILE *file = fopen(temporary_path("names.csv"), "w");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s,%s,%s,%s,\"%s\",x,y\n", names[0], names[1], names[2], names[3], names[4]);
    for (int i = 0; i < 40; i++)
        fprintf(file, "%d,a%d,b%d,c%d,d%d,%d,%s\n", i, i, i, i, i, i * 7919 % 101, i % 3 ? "p" : "q");
    fclose(file);
    expect_fine(train_run("train", "--data names.csv --epochs 1 --hidden 4 --no-plots --out m"));
    char *said = strdup(train_output), *at = said;
    int advised = 0;
    while ((at = strstr(at, "--ignore '"))) {
        const int length = (int)strcspn(at + strlen("--ignore '"), "'");
        expect_fine(train_run("train",
                              "--data names.csv --ignore '%.*s' --epochs 1 --hidden 4 --no-plots --overwrite "
                              "--out n",
                              length, at + strlen("--ignore '")));
        ck_assert_msg(strstr(train_output, "ignored"), "%s", train_output);
        at++;
        advised++;
    }
    ck_assert_msg(advised == 5, "%s", said);
    free(said);
}
END_TEST

/* ---- small mistakes in a command ---- */

START_TEST(small_mistakes_are_pointed_out)
{
    expect_refused(train_run("train", "--activations relu"),
                   "there is no option --activations; --activation takes one");
    expect_refused(train_run("train", "--data nowhere.csv --no-plots"), "there is no file 'nowhere.csv'; csv:FILE");
    ck_assert_int_eq(train_run("sh", "-c 'cp text prose.txt'"), 0);
    expect_refused(train_run("train", "--data csv:images/train-labels-idx1-ubyte --no-plots"),
                   "labels of IDX, expected CSV; idx:FOLDER");
    expect_refused(train_run("train", "--data prose.txt --no-plots"), "; text:prose.txt reads it as a text");
    ck_assert_int_eq(train_run("sh", "-c 'mkdir pictures run; touch pictures/1.png; echo {} > run/config.json'"), 0);
    expect_refused(train_run("train", "--data idx:pictures --no-plots"), "pictures: a folder of pictures, expected");
    expect_refused(train_run("train", "--resume --out run"), "the command that began it begins it again");
    expect_refused(train_run("train", "--resume --out pictures"), "there is no pictures/last.safetensors to continue");
}
END_TEST

Suite *tables_said_suite(void)
{
    Suite *suite = suite_create("tables_said");
    TCase *tests = tcase_create("said");
    tcase_add_checked_fixture(tests, train_folder_make, temporary_folder_remove);
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, advice_about_cells_helps, 0, sizeof advice / sizeof *advice);
    tcase_add_test(tests, gaps_that_training_had_not_are_filled);
    tcase_add_test(tests, older_files_know_no_frequent_category);
    tcase_add_test(tests, repeated_rows_are_counted_and_can_be_dropped);
    tcase_add_test(tests, rows_with_rare_categories_are_no_duplicates);
    tcase_add_test(tests, rows_of_a_group_stay_in_one_split);
    tcase_add_test(tests, groups_are_the_units_of_intervals);
    tcase_add_test(tests, columns_of_a_summary_are_those_of_the_data);
    tcase_add_test(tests, pairs_are_counted_that_have_the_measure);
    tcase_add_test(tests, rows_that_the_first_run_was_trained_on_are_pointed_out);
    tcase_add_test(tests, the_name_in_an_advice_is_one_that_options_take);
    tcase_add_test(tests, small_mistakes_are_pointed_out);
    suite_add_tcase(suite, tests);
    return suite;
}
