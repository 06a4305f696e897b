/* The program `study`: its quick versions, that it continues after a stop, and the numbers in its reports. */
#include "examples/programs/data/feed.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/study.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <ctype.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

Suite *study_suite(void);

static char output[1 << 18];

/* Runs build/bin/study with arguments; captures both streams and the exit status. */
static int run(const char *arguments)
{
    const char *build = getenv("TG_BUILD");
    char command[2000];
    snprintf(command, sizeof command, "%s/bin/study %s 2>&1 </dev/null", build ? build : "build", arguments);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    output[fread(output, 1, sizeof output - 1, pipe)] = '\0';
    const int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int run_in_folder(const char *arguments)
{
    char all[1000];
    snprintf(all, sizeof all, "%s --out '%s'", arguments, temporary_folder());
    return run(all);
}

#define ASSERT_SAYS(text, what) ck_assert_msg(strstr(text, what) != NULL, "no '%s' in\n%.3000s", what, text)

/* ---- output ---- */

START_TEST(without_a_name_the_studies_are_listed)
{
    ck_assert_int_eq(run(""), 0);
    ASSERT_SAYS(output, "gelu-mnist");
    ck_assert_int_eq(run("--help"), 0);
    ASSERT_SAYS(output, "Usage: ");
    ASSERT_SAYS(output, "gelu-mnist");
}
END_TEST

static const struct {
    const char *arguments, *says;
} mistakes[] = {
    {"gelu", "study: there is no study 'gelu'"},
    {"--quick", "Studies"},
    {"gelu-mnist --jobs x", "--jobs: 'x' is not a whole number"},
    {"gelu-mnist --nonsense", "nonsense"},
    {"gelu-mnist --data /no/such/folder", "/no/such/folder"},
    {"gelu-mnist --quick --only '*seed1' --report-only", "study: --only: with --report-only nothing is trained"},
    {"gelu-mnist --quick --report-only --jobs 7", "study: --jobs: with --report-only nothing is trained"},
    {"gelu-mnist --quick --data /no/such/folder", "study: --data: a quick study uses synthetic data"},
    {"gelu-mnist --quick --out /proc/no", "--out: cannot write into the folder '/proc'"},
};

START_TEST(a_mistake_gets_a_line_that_names_it_and_status_2)
{
    const char *arguments = mistakes[_i].arguments;
    ck_assert_int_eq(strstr(arguments, "--out") ? run(arguments) : run_in_folder(arguments), 2);
    ASSERT_SAYS(output, mistakes[_i].says);
}
END_TEST

/* ---- the studies ---- */

START_TEST(gelu_mnist_reports_what_was_published_beside_its_own_numbers_and_trains_nothing_twice)
{
    ck_assert_msg(run_in_folder("gelu-mnist --quick --jobs 2") == 0, "%s", output);
    ASSERT_SAYS(output, "0 of 28 runs done, 28 to do");
    const char *html = temporary_text("gelu-mnist-quick/report.html");
    ASSERT_SAYS(html, "This is the quick version");
    ASSERT_SAYS(html, "published numbers are met");
    ASSERT_SAYS(html, "data:image/svg+xml;base64,");
    ASSERT_SAYS(html, "build/bin/study gelu-mnist --quick");
    ASSERT_SAYS(html, "<td class=\"n\">0.979</td>");
    ASSERT_SAYS(temporary_text("gelu-mnist-quick/report.md"), "| form | what | source |");
    ck_assert_msg(run_in_folder("gelu-mnist --quick --no-plots") == 0, "%s", output);
    ck_assert_ptr_null(strstr(output, " to do"));
    ck_assert_ptr_null(
        strstr(temporary_text("gelu-mnist-quick/report.html"), "<img")); /* a result of an earlier report exists */
    ck_assert_ptr_null(strstr(temporary_text("gelu-mnist-quick/report.md"), "!["));
    ck_assert(temporary_exists("gelu-mnist-quick/forms.svg"));
}
END_TEST

START_TEST(runs_can_be_chosen_by_their_names)
{
    ck_assert_msg(run_in_folder("gelu-mnist --quick --jobs 2 --no-plots --only 'relu*seed1'") == 0, "%s", output);
    ASSERT_SAYS(output, "0 of 28 runs done, 4 to do");
    ASSERT_SAYS(output, "4 of 28 runs complete");
    ck_assert_int_eq(access(temporary_path("gelu-mnist-quick/runs/elu-dropout0-lr0.001-seed1/result.json"), R_OK), -1);
    ck_assert_msg(run_in_folder("gelu-mnist --quick --jobs 2 --no-plots --only 'relu-dropout0-*'") == 0, "%s", output);
    ASSERT_SAYS(output, "4 of 28 runs done, 2 to do");
    ck_assert_int_eq(run_in_folder("gelu-mnist --quick --only 'tanh*'"), 2);
    ASSERT_SAYS(
        output,
        "study: --only: none of the 28 runs is called like 'tanh*'; the first is gelu_tanh-dropout0-lr0.001-seed1\n");
}
END_TEST

START_TEST(two_studies_do_not_work_in_one_folder)
{
    ck_assert_int_eq(run_in_folder("gelu-mnist --quick --report-only --no-plots"), 0); /* this run makes the folder */
    const int runs = open(temporary_path("gelu-mnist-quick/runs"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(runs, LOCK_EX), 0);
    ck_assert_int_ne(run_in_folder("gelu-mnist --quick --jobs 2"), 0);
    ASSERT_SAYS(output, "study: another process is working in the folder '");
    ck_assert_int_eq(run_in_folder("gelu-mnist --quick --report-only --no-plots"), 0);
    close(runs);
    ck_assert_msg(run_in_folder("gelu-mnist --quick --jobs 2 --no-plots") == 0, "%s", output);
}
END_TEST

START_TEST(the_other_studies_end_with_a_verdict_and_a_report)
{
    static const struct {
        const char *name, *folder, *says;
    } studies[] = {
        {"gelu-autoencoder", "gelu-autoencoder-quick", "Is GELU better than ReLU (published: yes, 0.55 times"},
        {"shakespeare", "shakespeare-quick", "Is SwiGLU better than GELU (both published runs: yes)? Not decided"},
        {"deviation --only '[rgs]*-lr0.001-*'", "deviation-quick",
         "Of the spread of the test loss over 3 deviations, "}};
    char arguments[200], file[200];
    for (size_t i = 0; i < sizeof studies / sizeof studies[0]; i++) {
        snprintf(arguments, sizeof arguments, "%s --quick", studies[i].name);
        ck_assert_msg(run_in_folder(arguments) == 0, "%s", output);
        snprintf(file, sizeof file, "%s/report.html", studies[i].folder);
        ASSERT_SAYS(temporary_text(file), studies[i].says);
        ASSERT_SAYS(temporary_text(file), "This is the quick version");
    }
}
END_TEST

START_TEST(a_report_alone_trains_nothing)
{
    ck_assert_msg(run_in_folder("claims --quick --report-only --no-plots") == 0, "%s", output);
    ASSERT_SAYS(output, " runs complete; the same command continues with the rest.");
    ck_assert_ptr_null(strstr(output, " to do"));
}
END_TEST

/* ---- what is kept ---- */

/* The tables and verdicts of a study's report, to be freed. */
static char *rows_of(const char *report)
{
    char *text = strdup(temporary_text(report));
    char *rest = strchr(text, '\n') + 1; /* below the title and the command */
    memmove(text, strstr(rest, "\n\n") + 2, strlen(strstr(rest, "\n\n") + 2) + 1);
    return strstr(text, "\n\n") ? text : NULL;
}

START_TEST(a_report_is_printed_again_from_the_kept_files)
{
    static const char command[] = "gelu-mnist --quick --no-plots", report[] = "gelu-mnist-quick/report.md";
    char remove[300];
    snprintf(remove, sizeof remove, "rm -rf '%s/gelu-mnist-quick/runs'", temporary_folder());
    ck_assert_msg(run_in_folder(command) == 0, "%s", output);
    char *before = rows_of(report);
    ck_assert_int_eq(system(remove), 0);
    ck_assert_msg(run_in_folder("gelu-mnist --quick --no-plots --report-only") == 0, "%s", output);
    char *after = rows_of(report);
    ck_assert_str_eq(before, after);
    ck_assert_msg(run_in_folder(command) == 0, "%s", output); /* they need not be trained again */
    ck_assert_ptr_null(strstr(output, " to do"));
    free(before);
    free(after);
}
END_TEST

START_TEST(runs_that_were_kept_with_other_options_do_not_count)
{
    ck_assert_msg(run_in_folder("gelu-mnist --quick --no-plots --only 'relu-dropout0-*'") == 0, "%s", output);
    ck_assert_int_eq(run_in_folder("gelu-mnist --quick --no-plots --report-only"), 0);
    ASSERT_SAYS(output, "4 of 28 runs complete");
    char *runs = strdup(temporary_text("gelu-mnist-quick/runs.csv")), *at = strstr(runs, "batch=32");
    memcpy(at, "batch=31", 8); /* of one of the four */
    temporary_write("gelu-mnist-quick/runs.csv", runs, strlen(runs));
    ck_assert_int_eq(run_in_folder("gelu-mnist --quick --no-plots --report-only"), 0);
    ASSERT_SAYS(output, "3 of 28 runs complete");
    temporary_write("gelu-mnist-quick/runs.csv", "group,seed\nx,1,2\n", 17);
    ck_assert_int_ne(run_in_folder("gelu-mnist --quick --no-plots --report-only"), 0);
    ASSERT_SAYS(output, "runs.csv");
    free(runs);
}
END_TEST

static const struct {
    const char *name, *page;
} pages[] = {{"gelu-mnist", "docs/studies.md"},
             {"gelu-autoencoder", "docs/studies.md"},
             {"shakespeare", "docs/studies.md"},
             {"deviation", "docs/deviation.md"},
             {"claims", "docs/claims.md"}};
enum { PAGES = sizeof pages / sizeof *pages };

/* A file as a text, to be freed. */
static char *text_of(const char *path)
{
    FILE *file = fopen(path, "re");
    ck_assert_msg(file != NULL, "%s", path);
    char *text = calloc(1 << 18, 1);
    ck_assert_uint_lt(fread(text, 1, 1 << 18, file), 1 << 18);
    fclose(file);
    return text;
}

/* The medians of the rounds of docs/studies/deviation/times.csv: each form's time over that of gelu_exact. */
static void put_times(char *text)
{
    enum { ROUNDS = 5 };
    static double seconds[8][ROUNDS];
    static const char *const forms[] = {"gelu_exact", "relu",   "relu_squared", "gelu_tanh",
                                        "silu",       "swiglu", "geglu",        "reglu"};
    char *times = text_of("docs/studies/deviation/times.csv");
    for (char *line = strtok(strchr(times, '\n'), "\n"); line; line = strtok(NULL, "\n"))
        for (int i = 0; i < 8; i++)
            if (strncmp(line, forms[i], strcspn(line, ",")) == 0 && forms[i][strcspn(line, ",")] == '\0')
                seconds[i][atoi(strchr(line, ',') + 1) - 1] = strtod(strrchr(line, ',') + 1, NULL);
    for (int i = 0; i < 8; i++) {
        double ratios[ROUNDS];
        for (int round = 0; round < ROUNDS; round++)
            ratios[round] = seconds[i][round] / seconds[0][round];
        sprintf(text + strlen(text), " %.2f", statistics_median(ratios, ROUNDS));
    }
    free(times);
}

/* True if a text has this number, and not only as a part of another. */
static bool has_number(const char *text, const char *number)
{
    const char *at = strstr(text, number);
    while (at && ((at > text && strchr(".0123456789", at[-1])) || isdigit(at[strlen(number)])))
        at = strstr(at + 1, number);
    return at != NULL;
}

/* The reports of the kept runs, below the command that made them, by their checksums (cksum of POSIX): a change of a
 * single byte is meant, and is then made in the pages too. Values of claims may depend on the processor, so that only
 * the part on training is compared. */
START_TEST(the_reports_of_the_kept_runs_have_the_same_bytes)
{
    static const struct {
        const char *name, *from;
        unsigned long sum;
    } reports[] = {{"gelu-mnist", "runs complete", 3501226171},
                   {"gelu-autoencoder", "runs complete", 4021089142},
                   {"shakespeare", "runs complete", 2384676525},
                   {"deviation", "runs complete", 2086477575},
                   {"claims", "### Training", 4102485321}};
    char command[PATH_MAX + 200];
    snprintf(command, sizeof command, "cp -r docs/studies/. '%s'", temporary_folder());
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(run_in_folder("all --report-only --no-plots") == 0, "%s", output);
    for (size_t i = 0; i < sizeof reports / sizeof *reports; i++) {
        unsigned long sum = 0;
        snprintf(command, sizeof command, "sed -n '/%s/,$p' '%s/%s/report.md' | cksum", reports[i].from,
                 temporary_folder(), reports[i].name);
        FILE *pipe = popen(command, "r");
        ck_assert(pipe && fscanf(pipe, "%lu", &sum) == 1);
        pclose(pipe);
        ck_assert_msg(sum == reports[i].sum, "the report of %s has the checksum %lu, not %lu", reports[i].name, sum,
                      reports[i].sum);
    }
}
END_TEST

/* The pages show every line of the reports of the runs that are kept in docs/studies, and no number that is in none
 * of these; the values in docs/claims.md, whose digits may depend on the processor, are compared by
 * test_study_claims.c. docs/studies/deviation/shares.md, the kept output of shares.py, counts as a report. What texts
 * say, in the first column of a table, and all of "What is not measured" are not our numbers.
 */
START_TEST(the_pages_in_docs_have_the_numbers_of_the_kept_runs)
{
    static char all[1 << 19];
    char command[PATH_MAX + 100], report[100];
    snprintf(command, sizeof command, "cp -r docs/studies/. '%s'", temporary_folder());
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(run_in_folder("all --report-only --no-plots") == 0, "%s", output);
    put_times(all);
    char *cuts = text_of("docs/studies/deviation/shares.md");
    strcat(all, cuts);
    free(cuts);
    for (int i = 0; i < PAGES; i++) {
        char *page = text_of(pages[i].page);
        snprintf(report, sizeof report, "%s/report.md", pages[i].name);
        char *lines = strdup(temporary_text(report));
        strcat(all, lines);
        for (char *line = strtok(strstr(lines, "--no-plots"), "\n"); (line = strtok(NULL, "\n"));)
            if (line[0] != '#' && line[0] != '!' && !(line[0] == '|' && strcmp(pages[i].name, "claims") == 0))
                ck_assert_msg(strstr(page, line) != NULL, "%s has no '%s'", pages[i].page, line);
        free(lines);
        free(page);
    }
    for (int i = 2; i < PAGES; i++) {
        char *page = text_of(pages[i].page), *begin = strstr(page, "\n## Training"),
             *end = strstr(page, "\n## What is not measured");
        bool code = false;
        *(end ? end : page) = end ? '\0' : *page;
        for (char *line = strtok(begin ? begin : page, "\n"); line; line = strtok(NULL, "\n")) {
            code ^= strncmp(line, "```", 3) == 0;
            const char *at = line[0] == '|' ? strchr(line + 1, '|') : line;
            if (code || strstr(all, line))
                continue;
            for (; *at; at++)
                if (isdigit(at[0]) && (at == line || !strchr("./-0123456789", at[-1]))) {
                    char number[40];
                    const int length = (int)strspn(at, "0123456789.");
                    snprintf(number, sizeof number, "%.*s", length - (at[length - 1] == '.'), at);
                    ck_assert_msg(has_number(all, number), "%s says %s, which no report has, in\n%s", pages[i].page,
                                  number, line);
                }
        }
        free(page);
    }
}
END_TEST

/* ---- continuing after a stop ---- */

static run_source moons;

static const study_grid keeping = {.keeps_model = true};

static study_run small_run(void)
{
    tg_error error;
    ck_assert_msg(moons.data.rows || dataset_load("moons", &(dataset_options){.rows = 200}, &moons.data, &error), "%s",
                  error.text);
    study_run run = {
        .name = "moons", .cell = "", .options = "", .grid = &keeping, .from = &moons, .spec = study_spec()};
    run.spec.data = "moons";
    run.spec.net.hidden = "8x2";
    run.spec.net.activation = "stochastic_gelu";
    run.spec.net.dropout = 0.2;
    run.spec.lr = 1e-2;
    run.spec.batch = 16;
    run.spec.epochs = 6;
    run.spec.train_loss_every = 1;
    return run;
}

static study_record train(const study_run *run)
{
    study_record record;
    tg_error error;
    ck_assert_msg(study_run_train(run, temporary_folder(), false, NULL, &error), "%s", error.text);
    ck_assert(study_record_read(&record, run, temporary_folder(), &error));
    return record;
}

START_TEST(a_run_that_was_stopped_equals_one_that_was_not)
{
    study_run whole = small_run(), half = whole;
    strcpy(whole.name, "whole");
    half.spec.epochs = 2;
    study_record a = train(&whole), b = train(&half);
    ck_assert_int_eq(b.epochs, 2);
    half.spec.epochs = 6;
    study_record_free(&b);
    b = train(&half);
    ck_assert_int_eq(a.epochs, 6);
    ck_assert_int_eq(b.epochs, 6);
    for (int e = 1; e <= 6; e++) {
        ck_assert_double_eq(a.epoch[e - 1].train_loss, b.epoch[e - 1].train_loss);
        ck_assert_double_eq(a.epoch[e - 1].val_loss, b.epoch[e - 1].val_loss);
        ck_assert_double_eq(a.epoch[e - 1].whole_train_loss, b.epoch[e - 1].whole_train_loss);
    }
    ck_assert_double_lt(a.epoch[5].whole_train_loss, 0.9 * a.epoch[0].whole_train_loss);
    study_record_free(&a);
    study_record_free(&b);
}
END_TEST

/* The same run without dropout and with an activation that draws nothing, by a loop of its own: the order of rows, the
 * weights and the measures follow from the seed alone. */
START_TEST(a_run_has_the_numbers_of_a_plain_loop)
{
    study_run run = small_run();
    run.spec.net.activation = "relu";
    run.spec.net.dropout = 0;
    study_record record = train(&run);
    run_source from = moons;
    tg_error error;
    ck_assert(source_split(&run.spec, &from, &error));
    dataset set = from.data;
    const tg_rng seed = tg_rng_seed(1), weights = tg_rng_stream(&seed, "weights");
    tg_mlp *plain =
        tg_mlp_new(&weights, &(tg_mlp_config){.inputs = 2, .hidden = {8, 8}, .outputs = 2, .activation = TG_RELU});
    tg_optimizer *adam =
        tg_optimizer_new(tg_mlp_parameters(plain), &(tg_optimizer_config){.kind = TG_ADAM, .lr = 1e-2});
    tg_tape *tape = tg_tape_new();
    dataset_feed feed = {&set, &set.train};
    const tg_fit_rows rows = dataset_feed_rows(&feed);
    for (int epoch = 1; epoch <= 6; epoch++) {
        int32_t order[200];
        double sum = 0;
        for (int i = 0; i < (int)rows.count; i++)
            order[i] = i;
        dataset_feed_order(1, epoch, order, rows.count);
        for (int64_t at = 0; at < rows.count; at += 16) {
            const int64_t count = rows.count - at < 16 ? rows.count - at : 16;
            float x[32];
            int32_t labels[16];
            tg_rng none = tg_rng_seed(0);
            ck_assert(rows.fill(rows.context, order + at, count, &none, (void *[]){x, labels}));
            tg_tape_reset(tape);
            tg_tensor loss = tg_cross_entropy(tg_mlp_forward(plain, tg_constant(tape, TG_F32, x, TG_SHAPE(count, 2))),
                                              tg_constant(tape, TG_I32, labels, TG_SHAPE(count)));
            ck_assert(tg_backward(loss));
            sum += tg_item(loss) * (double)count;
            ck_assert(tg_optimizer_step(adam));
        }
        ck_assert_double_eq_tol(record.epoch[epoch - 1].train_loss, sum / (double)rows.count, 1e-6);
    }
    tg_tape_free(tape);
    tg_optimizer_free(adam);
    tg_mlp_free(plain);
    free(set.order);
    study_record_free(&record);
}
END_TEST

START_TEST(a_record_of_other_options_is_refused_or_removed)
{
    study_run run = small_run();
    tg_error error;
    study_record a = train(&run), other;
    run.spec.lr = 2e-2;
    ck_assert(study_record_read(&other, &run, temporary_folder(), &error));
    ck_assert_int_eq(other.epochs, 0);
    ck_assert(!study_run_train(&run, temporary_folder(), false, NULL, &error));
    ASSERT_SAYS(error.text, "has results with another --lr: 0.01, not 0.02");
    ck_assert_msg(study_run_train(&run, temporary_folder(), true, NULL, &error), "%s", error.text);
    ck_assert(study_record_read(&other, &run, temporary_folder(), &error));
    ck_assert_int_eq(other.epochs, 6);
    ck_assert_double_ne(a.epoch[0].train_loss, other.epoch[0].train_loss);
    study_record_free(&a);
    study_record_free(&other);
}
END_TEST

START_TEST(what_a_run_is_follows_from_its_options_and_rows)
{
    tg_error error;
    study_run run = small_run();
    study_record a = train(&run);
    ck_assert(!study_record_is_foreign(&run, temporary_folder(), &error));
    run.spec.epochs = 100; /* only goes on */
    ck_assert(!study_record_is_foreign(&run, temporary_folder(), &error));
    run.spec.net.norm = "none"; /* the default */
    ck_assert(!study_record_is_foreign(&run, temporary_folder(), &error));
    run.spec.net.init = tg_init_name(TG_INIT_UNIT_ROWS);
    ck_assert(study_record_is_foreign(&run, temporary_folder(), &error));
    ASSERT_SAYS(error.text, "another --init: ");
    run_source fewer = {.data = {0}};
    ck_assert(dataset_load("moons", &(dataset_options){.rows = 190}, &fewer.data, &error));
    run = small_run();
    run.from = &fewer;
    ck_assert(study_record_is_foreign(&run, temporary_folder(), &error));
    ASSERT_SAYS(error.text, "has results of other data: ");
    source_free(&fewer);
    study_record_free(&a);
}
END_TEST

/* The disk is so full that the record fits but not the state, which is written after the last epoch. */
START_TEST(a_run_that_cannot_be_kept_has_failed)
{
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = 150000;
    ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && setrlimit(RLIMIT_FSIZE, &limit) == 0);
    ck_assert_int_eq(run_in_folder("gelu-autoencoder --quick --epochs 1"), 1);
    ASSERT_SAYS(output, "elu-lr0.001-seed1: failed: ");
    ASSERT_SAYS(output, ".safetensors: File too large");
    ASSERT_SAYS(output, "0 of 12 runs complete");
}
END_TEST

/* By a loop over the epochs, from the files of the run. */
START_TEST(the_results_of_a_run_follow_from_its_epochs)
{
    const study_run run = small_run();
    study_record record = train(&run);
    int best = 1;
    double rise = 0;
    for (int e = 2; e <= 6; e++) {
        const double now = record.epoch[e - 1].val_loss;
        rise = fmax(rise, now / record.epoch[e - 2].val_loss);
        best = now < record.epoch[best - 1].val_loss ? e : best;
    }
    ck_assert_double_eq(study_record_result(&record, "best_epoch"), best);
    ck_assert_double_eq(study_record_result(&record, "best_val_loss"), record.epoch[best - 1].val_loss);
    ck_assert_double_gt(study_record_result(&record, "test_loss"), 0.1);
    ck_assert_double_lt(study_record_result(&record, "test_loss"), 1);
    ck_assert_double_eq(study_record_result(&record, "epoch_2_loss"), record.epoch[1].train_loss);
    ck_assert_double_eq(study_record_result(&record, "rise"), rise);
    ck_assert_double_eq(study_record_result(&record, "gap"),
                        record.epoch[5].val_loss - record.epoch[5].whole_train_loss);
    ck_assert(isnan(study_record_result(&record, "nothing")));
    study_record_free(&record);
}
END_TEST

START_TEST(a_run_that_diverges_is_a_result)
{
    study_run run = small_run();
    run.spec.lr = 1e30;
    study_record record = train(&run);
    ck_assert_int_ge(record.diverged, 1);
    ck_assert(record.complete);
    study_record_free(&record);
}
END_TEST

Suite *study_suite(void)
{
    Suite *suite = suite_create("study");
    TCase *tests = tcase_create("study");
    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, without_a_name_the_studies_are_listed);
    tcase_add_loop_test(tests, a_mistake_gets_a_line_that_names_it_and_status_2, 0,
                        sizeof mistakes / sizeof mistakes[0]);
    tcase_add_test(tests, runs_can_be_chosen_by_their_names);
    tcase_add_test(tests, two_studies_do_not_work_in_one_folder);
    tcase_add_test(tests, gelu_mnist_reports_what_was_published_beside_its_own_numbers_and_trains_nothing_twice);
    tcase_add_test(tests, the_other_studies_end_with_a_verdict_and_a_report);
    tcase_add_test(tests, a_report_alone_trains_nothing);
    tcase_add_test(tests, a_report_is_printed_again_from_the_kept_files);
    tcase_add_test(tests, runs_that_were_kept_with_other_options_do_not_count);
    tcase_add_test(tests, the_reports_of_the_kept_runs_have_the_same_bytes);
    tcase_add_test(tests, the_pages_in_docs_have_the_numbers_of_the_kept_runs);
    tcase_add_test(tests, the_results_of_a_run_follow_from_its_epochs);
    tcase_add_test(tests, a_run_that_was_stopped_equals_one_that_was_not);
    tcase_add_test(tests, a_run_has_the_numbers_of_a_plain_loop);
    tcase_add_test(tests, a_record_of_other_options_is_refused_or_removed);
    tcase_add_test(tests, what_a_run_is_follows_from_its_options_and_rows);
    tcase_add_test(tests, a_run_that_cannot_be_kept_has_failed);
    tcase_add_test(tests, a_run_that_diverges_is_a_result);
    suite_add_tcase(suite, tests);
    return suite;
}
