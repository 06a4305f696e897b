/* The program `study`: its quick versions, that it continues after a stop, and the numbers in its reports. */
#include "examples/programs/data/dataset.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/run/record.h"
#include "examples/programs/study/study.h"
#include "tests/support/seeds.h"
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
    ck_assert_msg(run_in_folder("gelu-mnist --quick --no-plots --only 'relu-dropout0-*seed1'") == 0, "%s", output);
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
         "Of the spread of the test loss over 3 deviations, "},
        {"gated-start --epochs 1 --only 'adamw-*-lr0.008-seed1'", "gated-start-quick", "GPT with AdamW</td><td>swiglu"},
        {"gated-start-cuts --epochs 1 --only 'depth1-*'", "gated-start-cuts-quick", "1 layer, s = 1/4</td><td>swiglu"},
        {"initial-scale", "initial-scale-quick", "relu over gelu_exact"},
        {"initial-scale-optimizers", "initial-scale-optimizers-quick", "Muon"}};
    char arguments[200], file[200];
    for (int i = today(7); i < 7; i += every(7)) { /* one a day */
        snprintf(arguments, sizeof arguments, "%s --quick", studies[i].name);
        ck_assert_msg(run_in_folder(arguments) == 0, "%s", output);
        snprintf(file, sizeof file, "%s/report.html", studies[i].folder);
        ASSERT_SAYS(temporary_text(file), studies[i].says);
        ASSERT_SAYS(temporary_text(file), "This is the quick version");
    }
}
END_TEST

START_TEST(reports_alone_train_nothing)
{
    ck_assert_msg(run_in_folder("gelu-mnist --quick gelu-autoencoder --report-only --no-plots") == 0, "%s", output);
    ck_assert(temporary_exists("gelu-autoencoder-quick/report.md"));
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
    static const char command[] = "gelu-mnist --quick --no-plots --only '*dropout0-*'",
                      report[] = "gelu-mnist-quick/report.md";
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
             {"initial-scale", "docs/studies/gated-start.md"},
             {"initial-scale-optimizers", "docs/studies/gated-start.md"},
             {"gated-start-cuts", "docs/studies/gated-start.md"},
             {"gated-start", "docs/gated-start.md"},
             {"claims", "docs/claims.md"}};
enum { PAGES = sizeof pages / sizeof *pages, WITHOUT_ROWS = PAGES - 3 }; /* pages lack rows of the last three reports */
static const char *const outputs[] = {"docs/studies/deviation/shares.md", "docs/studies/gated-start/collapse.md",
                                      "docs/studies/gated-start-cuts/cuts.md"};

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
static void expect_the_same_bytes(void)
{
    static const struct {
        const char *name, *from;
        unsigned long sum;
    } reports[] = {{"gelu-mnist", "runs complete", 3501226171},
                   {"gelu-autoencoder", "runs complete", 4021089142},
                   {"shakespeare", "runs complete", 2384676525},
                   {"deviation", "runs complete", 2086477575},
                   {"initial-scale", "runs complete", 1213485277},
                   {"gated-start", "runs complete", 1919965872},
                   {"claims", "### Training", 3403593858},
                   {"gated-start-cuts", "runs complete", 3897628853},
                   {"initial-scale-optimizers", "runs complete", 1805633890}};
    char command[PATH_MAX + 200];
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

/* The pages show every line of the reports of the runs that are kept in docs/studies, and no number that is in none
 * of these; the values in docs/claims.md, whose digits may depend on the processor, are compared by
 * test_study_claims.c. The kept outputs of scripts count as reports. docs/gated-start.md has not all rows of its
 * report. What texts say, in the first column of a table, and all of "What is not measured" are not our numbers.
 */
START_TEST(the_reports_of_the_kept_runs_have_the_same_bytes_and_the_pages_their_numbers)
{
    static char all[1 << 19];
    char command[PATH_MAX + 100], report[100];
    snprintf(command, sizeof command, "cp -r docs/studies/. '%s'", temporary_folder());
    ck_assert_int_eq(system(command), 0);
    ck_assert_msg(run_in_folder("all --report-only --no-plots") == 0, "%s", output);
    expect_the_same_bytes();
    put_times(all);
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        char *output_of_script = text_of(outputs[i]);
        strcat(all, output_of_script);
        free(output_of_script);
    }
    for (int i = 0; i < PAGES; i++) {
        char *page = text_of(pages[i].page);
        snprintf(report, sizeof report, "%s/report.md", pages[i].name);
        char *lines = strdup(temporary_text(report));
        strcat(all, lines);
        for (char *line = strtok(strstr(lines, "--no-plots"), "\n"); (line = strtok(NULL, "\n"));)
            if (line[0] != '#' && line[0] != '!' && !(line[0] == '|' && i >= WITHOUT_ROWS))
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

START_TEST(the_picture_of_forms_shows_published_runs_by_their_sources)
{
    json_t *file = json_load_file("examples/studies/shakespeare.json", 0, NULL), *of;
    char *script = text_of("plots/study_forms.gp");
    size_t i;
    json_array_foreach(json_object_get(file, "published"), i, of)
        ASSERT_SAYS(script, json_string_value(json_array_get(of, 2)));
    ck_assert_uint_gt(i, 0);
    json_decref(file);
    free(script);
}
END_TEST

/* ---- a study of one's own ---- */

/* Writes small.json, whose only run is "moons-ACTIVATION-seed1", with these options beside its own. */
static void write_small(const char *activation, const char *options)
{
    char text[1000];
    const int length =
        snprintf(text, sizeof text,
                 "{\"title\": \"Small\", \"options\": {\"data\": \"moons\", \"rows\": 200, \"hidden\": \"8x2\","
                 " \"model\": \"mlp\", \"split\": \"fixed\", \"schedule\": \"constant\", \"warmup\": 0,"
                 " \"weight-decay\": 0, \"activations\": \"%s\", \"batch\": 16, \"train-loss-every\": 1, \"seeds\": 1,"
                 " \"keep-models\": true%s}, \"each\": [{\"name\": \"moons-\"}], \"report\": []}",
                 activation, options);
    temporary_write("small.json", text, (size_t)length);
}

/* The folder of its run in a folder of results. */
static const char *folder_of(const char *results, const char *activation)
{
    char path[200];
    snprintf(path, sizeof path, "%s/small/runs/moons-%s-seed1", results, activation);
    return temporary_path(path);
}

static void run_small(const char *results, const char *arguments)
{
    char all[1200];
    snprintf(all, sizeof all, "'%s' --no-plots --out '%s' %s", temporary_path("small.json"), temporary_path(results),
             arguments);
    ck_assert_msg(run(all) == 0, "%s", output);
}

/* The numbers of its run, to be freed; and its epochs. */
static json_t *numbers_of(const char *results, const char *activation)
{
    tg_error error = {0};
    json_t *numbers = run_numbers(folder_of(results, activation), NULL, &error);
    ck_assert_msg(numbers, "%s", error.text);
    return numbers;
}

static double number_in(const json_t *numbers, const char *name)
{
    return json_number_value(json_object_get(numbers, name));
}

static runlog_epoch *epochs_of(const char *results, const char *activation, int *count)
{
    tg_error error;
    runlog_epoch *epochs = record_epochs(folder_of(results, activation), count, &error);
    ck_assert_msg(epochs, "%s", error.text);
    return epochs;
}

START_TEST(a_run_that_was_stopped_equals_one_that_was_not)
{
    int all, parts;
    write_small("stochastic_gelu", ", \"lr\": 0.01, \"dropout\": 0.2");
    run_small("whole", "--epochs 6");
    run_small("half", "--epochs 2");
    run_small("half", "--epochs 6");
    ASSERT_SAYS(output, "0 of 1 run done, 1 to do");
    runlog_epoch *a = epochs_of("whole", "stochastic_gelu", &all), *b = epochs_of("half", "stochastic_gelu", &parts);
    ck_assert_int_eq(all, 6);
    ck_assert_int_eq(parts, 6);
    for (int e = 0; e < 6; e++) {
        ck_assert_double_eq(a[e].train_loss, b[e].train_loss);
        ck_assert_double_eq(a[e].val_loss, b[e].val_loss);
        ck_assert_double_eq(a[e].whole_train_loss, b[e].whole_train_loss);
    }
    ck_assert_double_lt(a[5].whole_train_loss, 0.9 * a[0].whole_train_loss);
    free(a);
    free(b);
}
END_TEST

/* The same run without dropout and with an activation that draws nothing, by a loop of its own: the order of rows, the
 * weights and the measures follow from the seed alone. */
START_TEST(a_run_has_the_numbers_of_a_plain_loop)
{
    int count;
    write_small("relu", ", \"lr\": 0.01, \"epochs\": 6, \"dropout\": 0, \"epsilon\": 0.01");
    run_small("o", "");
    runlog_epoch *ours = epochs_of("o", "relu", &count);
    run_source from = {0};
    run_spec spec = run_spec_defaults(true);
    tg_error error;
    spec.data = "moons";
    spec.rows = 200;
    spec.split = "fixed";
    ck_assert(source_open(&spec, &from, &error) && source_split(&spec, &from, &error));
    const tg_rng seed = tg_rng_seed(1), weights = tg_rng_stream(&seed, "weights");
    tg_mlp *plain =
        tg_mlp_new(&weights, &(tg_mlp_config){.inputs = 2, .hidden = {8, 8}, .outputs = 2, .activation = TG_RELU});
    tg_optimizer *adam = tg_optimizer_new(tg_mlp_parameters(plain),
                                          &(tg_optimizer_config){.kind = TG_ADAM, .lr = 1e-2, .epsilon = 1e-2});
    tg_tape *tape = tg_tape_new();
    dataset_feed feed = {&from.data, &from.data.train};
    const tg_fit_rows rows = dataset_feed_rows(&feed);
    ck_assert_int_eq(count, 6);
    for (int epoch = 1; epoch <= 6; epoch++) {
        int32_t order[200];
        double sum = 0;
        for (int i = 0; i < (int)rows.count; i++)
            order[i] = i;
        dataset_feed_order(1, epoch, order, rows.count);
        for (int64_t at = 0; at < rows.count; at += 16) {
            const int64_t size = rows.count - at < 16 ? rows.count - at : 16;
            float x[32];
            int32_t labels[16];
            tg_rng none = tg_rng_seed(0);
            ck_assert(rows.fill(rows.context, order + at, size, &none, (void *[]){x, labels}));
            tg_tape_reset(tape);
            tg_tensor loss = tg_cross_entropy(tg_mlp_forward(plain, tg_constant(tape, TG_F32, x, TG_SHAPE(size, 2))),
                                              tg_constant(tape, TG_I32, labels, TG_SHAPE(size)));
            ck_assert(tg_backward(loss));
            sum += tg_item(loss) * (double)size;
            ck_assert(tg_optimizer_step(adam));
        }
        ck_assert_double_eq_tol(ours[epoch - 1].train_loss, sum / (double)rows.count, 1e-6);
    }
    tg_tape_free(tape);
    tg_optimizer_free(adam);
    tg_mlp_free(plain);
    source_free(&from);
    free(ours);
}
END_TEST

/* The same synthetic data with another noise is other data, and so is a class that weighs otherwise. */
START_TEST(parts_of_a_study_have_their_own_data)
{
    static const char text[] =
        "{\"title\": \"Small\", \"options\": {\"data\": \"moons\", \"rows\": 200, \"hidden\": \"4\", \"epochs\": 2,"
        " \"lr\": 0.01, \"activations\": \"relu\", \"seeds\": 1}, \"each\": [{\"name\": \"moons-\"},"
        " {\"name\": \"noisy-\", \"options\": {\"noise\": 1}},"
        " {\"name\": \"weighed-\", \"options\": {\"class-weights\": \"WEIGHTS\"}}], \"report\": []}";
    static const char *const names[] = {"moons", "noisy", "weighed"};
    char own[1200], path[200];
    double loss[3];
    temporary_write("weights.csv", "1,3\n", 4);
    const char *at = strstr(text, "WEIGHTS");
    const int length =
        snprintf(own, sizeof own, "%.*s%s%s", (int)(at - text), text, temporary_path("weights.csv"), at + 7);
    temporary_write("small.json", own, (size_t)length);
    run_small("o", "");
    for (int i = 0; i < 3; i++) {
        tg_error error = {0};
        snprintf(path, sizeof path, "o/small/runs/%s-relu-seed1", names[i]);
        json_t *numbers = run_numbers(temporary_path(path), NULL, &error);
        ck_assert_msg(numbers, "%s", error.text);
        loss[i] = number_in(numbers, "test_loss");
        json_decref(numbers);
    }
    ck_assert(loss[0] != loss[1] && loss[0] != loss[2]);
}
END_TEST

START_TEST(what_a_run_is_follows_from_its_options_and_rows)
{
    static const struct {
        const char *options, *says;                             /* NULL: it is the same run */
    } others[] = {{", \"lr\": 0.01, \"norm\": \"none\"", NULL}, /* the default */
                  {", \"lr\": 0.02", "has results with another --lr: 0.01, not 0.02"},
                  {", \"lr\": 0.01, \"init\": \"unit_rows\"", "another --init: "},
                  {", \"lr\": 0.01, \"rows\": 190", "another --rows: 200, not 190"}};
    char again[600];
    write_small("relu", ", \"lr\": 0.01");
    run_small("o", "--epochs 3");
    json_t *first = numbers_of("o", "relu");
    snprintf(again, sizeof again, "'%s' --no-plots --epochs 3 --out '%s'", temporary_path("small.json"),
             temporary_path("o"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        write_small("relu", others[i].options);
        ck_assert_msg(run(again) == (others[i].says ? 2 : 0), "%s", output);
        ASSERT_SAYS(output, others[i].says ? others[i].says : "1 of 1 run complete");
    }
    write_small("relu", others[1].options);
    run_small("o", "--epochs 3 --overwrite");
    json_t *second = numbers_of("o", "relu");
    ck_assert_double_ne(number_in(first, "test_loss"), number_in(second, "test_loss"));
    json_decref(first);
    json_decref(second);
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
    int best = 1, count;
    double rise = 0;
    write_small("relu", ", \"lr\": 0.01");
    run_small("o", "--epochs 6");
    json_t *numbers = numbers_of("o", "relu");
    runlog_epoch *epoch = epochs_of("o", "relu", &count);
    for (int e = 2; e <= 6; e++) {
        const double now = epoch[e - 1].val_loss;
        rise = fmax(rise, now / epoch[e - 2].val_loss);
        best = now < epoch[best - 1].val_loss ? e : best;
    }
    ck_assert_double_eq(number_in(numbers, "best_epoch"), best);
    ck_assert_double_eq(number_in(numbers, "best_val_loss"), epoch[best - 1].val_loss);
    ck_assert_double_gt(number_in(numbers, "test_loss"), 0.1);
    ck_assert_double_lt(number_in(numbers, "test_loss"), 1);
    ck_assert_double_eq(number_in(numbers, "epoch_2_loss"), epoch[1].train_loss);
    ck_assert_double_eq(number_in(numbers, "rise"), rise);
    ck_assert_double_eq(number_in(numbers, "gap"), epoch[5].val_loss - epoch[5].whole_train_loss);
    ck_assert_ptr_null(json_object_get(numbers, "noisy_accuracy"));
    json_decref(numbers);
    free(epoch);
}
END_TEST

/* By a loop over steps.csv: the mean of steps n - 19 to n, for each n from 20 on. */
START_TEST(the_step_at_which_a_loss_is_reached_is_that_of_the_mean_over_20_steps)
{
    double loss[200];
    int steps = 0;
    tg_error error = {0};
    write_small("relu", ", \"lr\": 0.01");
    run_small("o", "--epochs 10");
    for (const char *line = strchr(temporary_text("o/small/runs/moons-relu-seed1/steps.csv"), '\n') + 1; line[0];
         line = strchr(line, '\n') + 1) {
        ck_assert_int_eq(atoi(line), steps + 1);
        loss[steps++] = strtod(strchr(line, ',') + 1, NULL);
    }
    ck_assert_int_ge(steps, 50);
    json_t *asked = json_pack("{s: [f, f, f]}", "reach", 0.6, 0.4, 0.001),
           *numbers = run_numbers(folder_of("o", "relu"), asked, &error);
    ck_assert_msg(numbers, "%s", error.text);
    for (int i = 0; i < 3; i++) {
        const double asked_for = json_number_value(json_array_get(json_object_get(asked, "reach"), (size_t)i));
        double reached = 0;
        char name[40];
        for (int end = 20; end <= steps && !reached; end++) {
            double mean = 0;
            for (int k = end - 20; k < end; k++)
                mean += loss[k] / 20;
            reached = mean <= asked_for ? end : 0;
        }
        snprintf(name, sizeof name, "steps_to_%g", asked_for);
        ck_assert_double_eq(number_in(numbers, name), reached); /* 0: there is no such number */
    }
    ck_assert_double_gt(number_in(numbers, "steps_to_0.4"), number_in(numbers, "steps_to_0.6"));
    ck_assert_ptr_null(json_object_get(numbers, "steps_to_0.001"));
    json_decref(numbers);
    json_decref(asked);
}
END_TEST

START_TEST(a_run_that_diverges_is_a_result)
{
    write_small("relu", ", \"lr\": 1e6, \"optimizer\": \"sgd\"");
    run_small("o", "--epochs 6");
    ASSERT_SAYS(output, "1 of 1 run complete.");
    ASSERT_SAYS(temporary_text("o/small/runs.csv"), ",diverged,");
}
END_TEST

/* The net is measured with its own form, others, and rounded weights; a form that is its own changes nothing. */
START_TEST(a_net_is_tested_with_other_activations)
{
    write_small("gelu_exact",
                ", \"lr\": 0.01, \"test-as\": \"gelu_exact,gelu_tanh,bfloat16\", \"test-noise\": \"0.5,1\"");
    run_small("o", "--epochs 3");
    json_t *numbers = numbers_of("o", "gelu_exact");
    const double own = number_in(numbers, "loss_as_gelu_exact"), other = number_in(numbers, "loss_as_gelu_tanh"),
                 rounded = number_in(numbers, "loss_as_bfloat16");
    ck_assert_double_eq(own, number_in(numbers, "test_loss"));
    ck_assert(other != own && fabs(other / own - 1) < 0.01);
    ck_assert(rounded != own && fabs(rounded / own - 1) < 0.05);
    ck_assert(number_in(numbers, "noisy_accuracy") > 0.3 && number_in(numbers, "noisy_accuracy") <= 1);
    json_decref(numbers);
}
END_TEST

/* It is read from the page, so that the page is right. */
START_TEST(the_study_in_docs_is_run_and_reported)
{
    char arguments[800];
    char *page = text_of("docs/studies.md"), *begin = strstr(page, "```json\n"),
         *end = begin ? strstr(begin + 8, "```") : NULL;
    ck_assert_ptr_nonnull(end);
    temporary_write("mine.json", begin + 8, (size_t)(end - begin - 8));
    snprintf(arguments, sizeof arguments, "'%s' --no-plots --out '%s'", temporary_path("mine.json"),
             temporary_folder());
    ck_assert_msg(run(arguments) == 0, "%s", output);
    ASSERT_SAYS(temporary_text("mine/report.md"), "over 5 seeds");
    free(page);
}
END_TEST

/* A formula is a form by its name, without the hash that the names of its runs have. */
START_TEST(a_formula_is_a_form_of_a_study)
{
    static const char file[] =
        "{\"options\": {\"data\": \"moons\", \"rows\": 60, \"epochs\": 1, \"activations\": \"mine: x tanh(x),relu\"},"
        "\"forms\": [\"mine\", \"relu\"], \"measure\": \"test_loss\", \"report\": \"forms.report\","
        "\"comparisons\": [[\"mine\", \"relu\", \"Is mine better?\"]]}";
    char arguments[600];
    temporary_write("small.json", file, sizeof file - 1);
    snprintf(arguments, sizeof arguments, "'%s' --no-plots --out '%s'", temporary_path("small.json"),
             temporary_path("o"));
    ck_assert_msg(run(arguments) == 0, "%s", output);
    ASSERT_SAYS(temporary_text("o/small/report.md"), "**Is mine better? ");
}
END_TEST

static const struct {
    const char *text, *says;
} wrong_files[] = {
    {"{", "small.json:"},
    {"{\"options\": {\"epoch\": 3}}", "\"epoch\" is not an option of compare"},
    {"{\"options\": {\"norm\": \"lair\"}}", "\"norm\" has a value that the option does not take"},
    {"{\"options\": {\"norm\": \"none,lair\"}}", "\"norm\" has a value"},
    {"{\"report\": [{\"needs\": 0, \"rule\": \"no\"}]}", "'no': there is no such rule"},
    {"{\"report\": [{\"needs\": 0, \"text\": \"{no}\"}]}", "'no': there is no value of this name"},
    {"{\"report\": [{\"needs\": 0, \"text\": \"{1 +}\"}]}", "at the end: expected a number"},
    {"{\"words\": {\"a\": \"{a}\"}, \"report\": [{\"needs\": 0, \"text\": \"{a}\"}]}", "contains itself"},
    {"{\"report\": [{\"needs\": 0, \"rule\": \"claims\", \"row\": \"a\", \"claims\": [{\"to\": 1, \"low\": 0, "
     "\"high\": 0,"
     " \"p\": 1}]}]}",
     "a row needs columns"},
    {"{\"options\": {\"data\": \"moons\", \"activations\": \"relu\"}, \"forms\": [\"relu\", \"reluu\"]}",
     "small: no run is of the form 'reluu'"},
    {"{\"report\": \"no.report\"}", "no.report:"}};

START_TEST(a_file_that_is_no_study_is_refused_with_the_place)
{
    char arguments[600];
    temporary_write("small.json", wrong_files[_i].text, strlen(wrong_files[_i].text));
    snprintf(arguments, sizeof arguments, "'%s' --no-plots --report-only --out '%s'", temporary_path("small.json"),
             temporary_path("o"));
    ck_assert_int_ne(run(arguments), 0);
    ASSERT_SAYS(output, wrong_files[_i].says);
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
    tcase_add_test(tests, reports_alone_train_nothing);
    tcase_add_test(tests, a_report_is_printed_again_from_the_kept_files);
    tcase_add_test(tests, runs_that_were_kept_with_other_options_do_not_count);
    tcase_add_test(tests, the_reports_of_the_kept_runs_have_the_same_bytes_and_the_pages_their_numbers);
    tcase_add_test(tests, the_picture_of_forms_shows_published_runs_by_their_sources);
    tcase_add_test(tests, the_results_of_a_run_follow_from_its_epochs);
    tcase_add_test(tests, the_step_at_which_a_loss_is_reached_is_that_of_the_mean_over_20_steps);
    tcase_add_test(tests, a_run_that_was_stopped_equals_one_that_was_not);
    tcase_add_test(tests, a_run_has_the_numbers_of_a_plain_loop);
    tcase_add_test(tests, the_study_in_docs_is_run_and_reported);
    tcase_add_test(tests, a_formula_is_a_form_of_a_study);
    tcase_add_test(tests, a_net_is_tested_with_other_activations);
    tcase_add_loop_test(tests, a_file_that_is_no_study_is_refused_with_the_place, 0,
                        sizeof wrong_files / sizeof *wrong_files);
    tcase_add_test(tests, what_a_run_is_follows_from_its_options_and_rows);
    tcase_add_test(tests, parts_of_a_study_have_their_own_data);
    tcase_add_test(tests, a_run_that_cannot_be_kept_has_failed);
    tcase_add_test(tests, a_run_that_diverges_is_a_result);
    suite_add_tcase(suite, tests);
    return suite;
}
