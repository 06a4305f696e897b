/* Compares activations: trains every activation with every seed, in parallel, and writes curves, a table and pictures.
 */
#include "examples/lab/experiment.h"
#include "examples/lab/files.h"
#include "examples/lab/jobs.h"
#include "plots/plots.h"
#include "examples/lab/progress.h"
#include "examples/lab/report.h"
#include "examples/lab/runlog.h"
#include "examples/lab/signals.h"
#include "examples/report/columns.h"
#include "examples/report/terminal.h"
#include "examples/lab/training.h"
#include "examples/data/words.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct comparison {
    experiment e;
    runlog *log;
    char (*names)[96]; /* [runs] */
    char **argv;       /* the command */
} comparison;

/* ---- a run, in a process of its own ---- */

typedef struct child {
    jobs_link *link;
} child;

/* A record: which series its numbers belong to, or that it is an epoch. */
typedef struct record_head {
    int64_t series; /* -1: a runlog_epoch follows */
} record_head;

static void send_record(jobs_link *link, int64_t series, const void *bytes, size_t size)
{
    char *record = malloc(sizeof(record_head) + size);
    if (!record)
        return;
    memcpy(record, &(record_head){series}, sizeof(record_head));
    memcpy(record + sizeof(record_head), bytes, size);
    jobs_record(link, record, sizeof(record_head) + size);
    free(record);
}

static void send_epoch(void *context, const runlog_epoch *epoch)
{
    send_record(((child *)context)->link, -1, epoch, sizeof *epoch);
}

static void send_series(void *context, runlog_series kind, const double *numbers, size_t count)
{
    send_record(((child *)context)->link, kind, numbers, count * sizeof *numbers);
}

static void send_progress(void *context, const jobs_progress *now)
{
    jobs_report(((child *)context)->link, now);
}

static int train(int job, jobs_link *link, void *context)
{
    const comparison *c = context;
    child me = {link};
    char message[EXPERIMENT_MESSAGE];
    const training_watch watch = {
        .context = &me, .on_epoch = send_epoch, .on_step = send_progress, .on_series = send_series};
    return training_run(&c->e, job, &watch, message) ? 0 : jobs_fail(link, "%s", message);
}

/* ---- what the runs report ---- */

static void on_record(int job, const void *bytes, size_t size, void *context)
{
    runlog *log = ((comparison *)context)->log;
    const record_head *head = bytes;
    const void *numbers = head + 1;
    if (head->series < 0 && size == sizeof *head + sizeof(runlog_epoch))
        runlog_add_epoch(log, job, numbers);
    else if (head->series >= 0 && head->series < RUNLOG_SERIES)
        runlog_add_series(log, job, (runlog_series)head->series, numbers, (size - sizeof *head) / sizeof(double));
}

static void on_end(int job, jobs_state state, const char *message, void *context)
{
    (void)message;
    if (state == JOBS_DONE)
        runlog_finish_run(((comparison *)context)->log, job);
}

/* ---- the whole ---- */

static void keep_option(void *log, const char *name, json_t *value)
{
    runlog_option(log, name, value);
}

/* Announces every run to the log, so that the files list them in this order whichever ends first. */
static bool open_log(comparison *c, char message[EXPERIMENT_MESSAGE])
{
    c->log = runlog_new(c->e.settings.out);
    c->names = calloc((size_t)c->e.runs, sizeof *c->names);
    if (!c->log || !c->names)
        return snprintf(message, EXPERIMENT_MESSAGE, "out of memory"), false;
    runlog_option(c->log, "version", json_string(tg_version()));
    runlog_note(c->log, experiment_split(&c->e), experiment_overlap(&c->e), experiment_has_same_folds(&c->e));
    if (c->e.data.task == DATASET_CLASSIFICATION)
        runlog_class_names(c->log, c->e.data.class_names, c->e.data.classes);
    options_record(experiment_program.table, &c->e.settings, keep_option, c->log);
    for (int run = 0; run < c->e.runs; run++) {
        const char *activation = tg_activation_name(experiment_activation(&c->e, run));
        int seed = experiment_seed(&c->e, run);
        long parameters = training_parameters(&c->e, run, message);
        if (parameters < 0)
            return false;
        const int fold = experiment_fold(&c->e, run);
        char point[EXPERIMENT_POINT];
        experiment_point(&c->e, run, point);
        int length = snprintf(c->names[run], sizeof c->names[run], "%s seed %d", activation, seed);
        if (c->e.settings.folds)
            length += snprintf(c->names[run] + length, sizeof c->names[run] - (size_t)length, " fold %d", fold + 1);
        if (*point)
            snprintf(c->names[run] + length, sizeof c->names[run] - (size_t)length, " %.36s", point);
        if (runlog_add_run(c->log, activation, (uint64_t)seed, fold, parameters) != run)
            return snprintf(message, EXPERIMENT_MESSAGE, "out of memory"), false;
        runlog_set_point(c->log, run, point, experiment_number(&c->e, run));
    }
    return true;
}

static jobs_outcome run_all(comparison *c)
{
    const size_t runs = (size_t)c->e.runs;
    const char **names = calloc(runs, sizeof *names);
    for (size_t run = 0; names && run < runs; run++)
        names[run] = c->names[run];
    const jobs_outcome outcome = progress_run(
        &(progress_config){
            .out = names ? stderr : NULL, .count = c->e.runs, .names = names, .unit = "rows", .measured = "validation"},
        &(jobs_config){.count = c->e.runs,
                       .at_once = c->e.settings.jobs,
                       .silence = c->e.settings.silence,
                       .context = c,
                       .run = train,
                       .on_record = on_record,
                       .on_end = on_end});
    free(names);
    return outcome;
}

/* "mnist: 784-128x8-10, rms norm, residual, adamw", for the pictures. */
static void describe(const comparison *c, char *title, size_t size)
{
    const experiment_settings *s = &c->e.settings;
    const bool normalised = strcmp(s->norm, tg_norm_name(TG_NORM_NONE)) != 0;
    char net[EXPERIMENT_POINT];
    experiment_net(&c->e, net);
    snprintf(title, size, "%.60s: %.120s, %.20s%s%s%.20s", c->e.data.name, net, normalised ? s->norm : "",
             normalised ? " norm, " : "", s->residual ? "residual, " : "", s->optimizer);
}

/* Whether standard output is for a person, and not for another program or a text. */
static bool is_for_reading(const comparison *c)
{
    return strcmp(c->e.settings.format, "table") == 0;
}

/* The names of the axes of two-feature data; NULL where these are not two columns with names. */
static char *const *axes_of(const dataset *data, char *names[2])
{
    for (size_t i = 0; i < 2; i++) {
        const dataset_feature *feature = data->features == 2 && data->feature ? &data->feature[i] : NULL;
        if (!feature || !feature->column || feature->category || feature->missing)
            return NULL;
        names[i] = feature->column;
    }
    return names;
}

/* Draws the pictures, on the terminal too. */
static plots_outcome draw(const comparison *c)
{
    const char *out = c->e.settings.out;
    char message[PLOTS_MESSAGE], title[256], *names[2];
    const dataset *data = &c->e.data;
    describe(c, title, sizeof title);
    const plots_outcome outcome = plots_draw(out,
                                             &(plots_look){.title = title,
                                                           .searched = experiment_searched(&c->e),
                                                           .scale = c->e.settings.scale,
                                                           .seed_lines = c->e.settings.seed_lines,
                                                           .class_names = data->class_names,
                                                           .classes = data->classes,
                                                           .feature_names = axes_of(data, names)},
                                             message);
    if (outcome == PLOTS_DRAWN && is_for_reading(c))
        plots_show(out, stdout);
    if (outcome != PLOTS_DRAWN)
        fprintf(stderr, "compare: %s\n", message);
    return outcome;
}

/* What was read and what follows from it, as a text to be freed; NULL when memory runs out. */
static char *describe_experiment(const comparison *c)
{
    char *about = NULL;
    size_t size = 0;
    FILE *words = open_memstream(&about, &size);
    if (words) {
        experiment_describe(&c->e, words);
        files_close_memory(words, &about);
    }
    return about;
}

static void describe_to(const comparison *c, FILE *out)
{
    char *about = describe_experiment(c);
    if (about)
        terminal_wrap(out, about, NULL);
    free(about);
}

static bool write_report(const comparison *c, bool drawn)
{
    char message[FILES_MESSAGE] = "out of memory", title[256], *about = describe_experiment(c), *command = NULL;
    size_t command_size = 0;
    FILE *line = open_memstream(&command, &command_size);
    if (line) {
        options_print_command(c->argv, line);
        files_close_memory(line, &command);
    }
    describe(c, title, sizeof title);
    const bool written =
        about && command &&
        report_write(c->e.settings.out,
                     &(report){.title = title, .about = about, .command = command, .log = c->log, .drawn = drawn},
                     message);
    if (!written)
        fprintf(stderr, "compare: %s\n", message);
    free(about);
    free(command);
    return written;
}

/* Appends those of the names whose file FOLDER/NAME.csv is there: " a.csv, b.csv". */
static void put_tables(FILE *to, const char *folder, const char *const names[])
{
    for (int i = 0; names[i]; i++) {
        char path[PATH_MAX];
        if (snprintf(path, sizeof path, "%s/%s.csv", folder, names[i]) < (int)sizeof path && access(path, F_OK) == 0)
            fprintf(to, "%s%s.csv", i ? ", " : " ", names[i]);
    }
}

/* What was written where. */
static void print_files(const comparison *c, bool drawn, bool reported)
{
    static const char *const tables[] = {"curves", "summary", "steps", "confusion", "noise", "search", NULL};
    const char *folder = c->e.settings.out;
    char *text = NULL;
    size_t size = 0;
    FILE *words = open_memstream(&text, &size);
    if (!words)
        return;
    fprintf(words, "\nin %s/:", folder);
    put_tables(words, folder, tables);
    fputs(", config.json", words);
    if (drawn) {
        fputs("; ", words);
        plots_list(folder, words);
    }
    fputs(c->e.settings.report && reported ? "; report.html" : "", words);
    if (files_close_memory(words, &text))
        terminal_wrap(stdout, text, NULL);
    free(text);
}

/* Files, pictures, and the table on the terminal, which is there even if nothing else can be had; the exit status. */
static int show_results(comparison *c)
{
    char message[RUNLOG_MESSAGE];
    const bool written = runlog_write(c->log, message);
    if (!written)
        fprintf(stderr, "compare: %s\n", message);
    const bool draws = written && !c->e.settings.no_plots;
    const plots_outcome drawn = draws ? draw(c) : PLOTS_NOTHING;
    runlog_print_table_as(c->log, c->e.settings.format, stdout);
    const bool reported = !written || !c->e.settings.report || write_report(c, drawn == PLOTS_DRAWN);
    if (written && is_for_reading(c))
        print_files(c, drawn == PLOTS_DRAWN, reported);
    return drawn == PLOTS_INTERRUPTED ? signals_status() : !written || !reported || drawn == PLOTS_FAILED;
}

int main(int argc, char **argv)
{
    static comparison c;
    char message[EXPERIMENT_MESSAGE];
    c.argv = argv;
    c.e = experiment_defaults();
    options_parse(&experiment_program, argc, argv, &c.e.settings);
    const char *config = c.e.settings.config;
    if (config) {
        c.e = experiment_defaults();
        if (!options_load(&experiment_program, config, &c.e.settings, message, sizeof message)) {
            fprintf(stderr, "compare: --config: %s\n", message);
            return 2;
        }
        options_parse(&experiment_program, argc, argv, &c.e.settings);
    }
    if (!experiment_prepare(&c.e, message)) {
        fprintf(stderr, "compare: %s\n", message);
        return 2;
    }
    const char *out = c.e.settings.out;
    if (!runlog_check_directory(out, message)) {
        fprintf(stderr, "compare: --out: %s\n", message);
        return 2;
    }
    if (!open_log(&c, message)) {
        fprintf(stderr, "compare: %s\n", message);
        return 2;
    }

    describe_to(&c, stderr);
    columns_print(&c.e.data, stderr);
    jobs_outcome outcome = run_all(&c);
    if (outcome.interrupted)
        fprintf(stderr, "interrupted: %d of %d run%s complete and kept\n", outcome.done, c.e.runs, plural(c.e.runs));
    const int shown = show_results(&c);
    runlog_free(c.log);
    free(c.names);
    experiment_free(&c.e);
    return outcome.interrupted ? signals_status() : shown ? shown : outcome.failed > 0;
}
