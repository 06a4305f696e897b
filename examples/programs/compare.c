/* Compares activations: trains every activation with every seed, in parallel, each run in its own folder, and writes
 * curves, a table and pictures from these folders. */
#include "examples/programs/data/advice.h"
#include "examples/programs/report/files.h"
#include "plots/plots.h"
#include "examples/programs/report/report.h"
#include "examples/programs/system/signals.h"
#include "examples/programs/report/columns.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/run/experiment.h"
#include "examples/programs/run/paper.h"
#include "examples/programs/run/pool.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/child.h"
#include "examples/programs/system/posix.h"

typedef struct session {
    pool all; /* first: pool_train calls show_so_far with it */
    experiment e;
    char folder[PATH_MAX]; /* of the runs */
    char *command;
    double next_report;   /* when the report is due again during the runs */
    bool drawn, reported; /* there are pictures, and a report, of all runs */
} session;

/* ---- the comparison ---- */

/* The options, the version, and a description of the data. */
static json_t *config_of(const session *c)
{
    json_t *config = json_object();
    json_object_set_new(config, "version", json_string(tg_version()));
    options_record(experiment_program()->table, &c->e.settings, config);
    json_object_set_new(config, "overwrite", json_false());
    json_object_set_new(config, "part", json_null());
    for (int which = 0; which < SEARCH_VALUES; which++)
        if (c->e.search.count[which])
            json_object_set_new(config, search_options[which], json_string(c->e.search.brief ? "0" : "auto"));
    const source_sums sums = source_checksums(&c->e.from);
    source_put_checksums(&sums, config);
    return config;
}

/* Lists the runs, and finds the unfinished ones. */
static bool list_runs(session *c, tg_error *error)
{
    char path[PATH_MAX];
    snprintf(c->folder, sizeof c->folder, "%.*s/runs", PATH_MAX - 8, c->e.settings.run.out);
    pool_free(&c->all);
    c->all.folder = c->folder;
    for (int number = 0; number < c->e.runs; number++)
        if (experiment_tries(&c->e, number))
            pool_add(&c->all, &c->e, number, "");
    pool_look(&c->all, &c->e.settings.sweep, NULL, NULL);
    for (int i = 0; c->e.settings.run.tensorboard && i < c->all.count; i++) {
        events *board = c->all.run[i].complete && pool_path(&c->all, i, path) ? record_open_events(path, error) : NULL;
        events_close(board);
        if (!board && c->all.run[i].complete)
            return false;
    }
    return true;
}

/* Reads all results in the folder, in the order of the runs; NULL when memory runs out. */
static runlog *read_all(const session *c)
{
    const experiment *e = &c->e;
    runlog *log = runlog_new(e->settings.run.out);
    runlog_options(log, config_of(c));
    const runlog_about about = experiment_about(e);
    runlog_describe(log, &about);
    pool_read(&c->all, log);
    return log;
}

/* "mnist: 784-128x8-10, rms norm, residual, adamw", for the pictures. */
static void describe(const session *c, char *title, size_t size)
{
    const run_spec s = experiment_spec(&c->e, 0);
    const bool normalised = strcmp(s.net.norm, tg_norm_name(TG_NORM_NONE)) != 0;
    char shape[EXPERIMENT_POINT];
    experiment_net(&c->e, shape);
    snprintf(title, size, "%.60s: %.120s, %.20s%s%s%.60s",
             c->e.from.is_text ? c->e.from.letters.name : c->e.from.data.name, shape, normalised ? s.net.norm : "",
             normalised ? " norm, " : "", s.net.residual ? "residual, " : "", experiment_list(&c->e, "optimizer"));
}

/* True if the table is printed for people, not in a format for other programs. */
static bool is_for_reading(const session *c)
{
    return strcmp(c->e.settings.format, "table") == 0;
}

/* The names of the axes of two-feature data; NULL unless these are two columns with names. */
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

/* What a look points to. */
typedef struct look_texts {
    char title[400], words[EXPERIMENT_POINT], rates[EXPERIMENT_POINT], *names[2];
} look_texts;

static plots_look look_of(const session *c, const runlog *log, look_texts *texts)
{
    const dataset *data = &c->e.from.data;
    describe(c, texts->title, sizeof texts->title);
    experiment_searched_words(&c->e, texts->words);
    experiment_searched_rates(&c->e, texts->rates);
    return (plots_look){.title = texts->title,
                        .averaged = runlog_by_fold(log) ? "folds" : NULL,
                        .searched = experiment_searched(&c->e),
                        .searched_words = texts->words,
                        .searched_rates = texts->rates,
                        .class_names = data->class_names,
                        .classes = data->classes,
                        .feature_names = axes_of(data, texts->names)};
}

/* Draws the pictures, on the terminal too. */
static plots_outcome draw(const session *c, const runlog *log)
{
    const char *out = c->e.settings.run.out;
    tg_error error;
    look_texts texts;
    const plots_look look = look_of(c, log, &texts);
    const plots_outcome outcome = plots_draw(out, &look, &error);
    if (outcome == PLOTS_DRAWN && is_for_reading(c))
        plots_show(out, stdout);
    if (outcome != PLOTS_DRAWN)
        terminal_say("compare", NULL, error.text);
    return outcome;
}

static bool write_report(const session *c, const runlog *log, bool drawn, bool running)
{
    tg_error error;
    char title[400];
    describe(c, title, sizeof title);
    const report r = {title, c->command, experiment_describe, &c->e, log, drawn, running};
    const bool written = report_write(c->e.settings.run.out, &r, &error);
    if (!written)
        terminal_say("compare", NULL, error.text);
    return written;
}

/* ---- for a paper ---- */

typedef struct paper_subject {
    const session *c;
    const runlog *log;
} paper_subject;

static void put_part(const void *of, paper_part part, FILE *to)
{
    const paper_subject *p = of;
    if (part == PAPER_TABLE)
        runlog_print_best(p->log, "latex", to);
    else if (part == PAPER_NOTES)
        runlog_print_definitions(p->log, "latex text", to);
    else {
        methods_print(&p->c->e, p->c->command, to);
        fputs("\nTests and tables.", to);
        runlog_print_definitions(p->log, "methods", to);
    }
}

static bool write_paper(const session *c, const runlog *log)
{
    tg_error error;
    look_texts texts;
    const paper_subject subject = {c, log};
    const paper p = {.out = c->e.settings.run.out,
                     .title = texts.title,
                     .of = &subject,
                     .put = put_part,
                     .script = "intervals.gp",
                     .look = look_of(c, log, &texts),
                     .draws = !c->e.settings.run.no_plots};
    const bool written = paper_write(&p, &error);
    if (!written)
        terminal_say("compare", "--paper", error.text);
    return written;
}

/* Writes a report of the results so far, every second or so. */
static void show_so_far(void *context)
{
    session *c = context;
    const double begin = jobs_clock();
    if (begin < c->next_report)
        return;
    runlog *log = read_all(c);
    write_report(c, log, false, true);
    runlog_free(log);
    c->next_report = report_next(begin, jobs_clock());
}

static jobs_outcome run_all(session *c)
{
    const sweep *shared = &c->e.settings.sweep;
    const int complete = c->all.complete_count;
    if (complete)
        fprintf(stderr, "%d of %d run%s complete%s\n", complete, c->all.count, c->all.count == 1 ? " is" : "s are",
                c->all.pending_count ? "; training the others" : "");
    return pool_train(&c->all,
                      &(jobs_config){.at_once = shared->at_once,
                                     .on_tick = sweep_is_whole(shared) && c->e.settings.run.report ? show_so_far : NULL,
                                     .out = stderr,
                                     .measured = "validation"});
}

/* How many runs are finished now, in any process. */
static int count_finished(const session *c)
{
    int finished = 0;
    for (int i = 0; i < c->all.count; i++)
        finished += pool_is_complete(&c->all, i);
    return finished;
}

/* True if the folder has all runs that this process was to train. */
static bool is_all_there(const session *c)
{
    int missing = 0;
    for (int i = 0; i < c->all.pending_count; i++)
        missing += !pool_is_complete(&c->all, c->all.pending[i]);
    if (missing)
        fprintf(stderr, "compare: %d run%s that ended %s not in the folder: was it removed or renamed meanwhile?\n",
                missing, plural(missing), missing == 1 ? "is" : "are");
    return !missing;
}

/* Lists the written files. */
static void list_files(const void *context, FILE *to)
{
    static const char *const names[] = {"runs.csv",  "curves.csv", "summary.csv", "pairs.csv", "confusion.csv",
                                        "noise.csv", "search.csv", "config.json", NULL};
    const session *c = context;
    const char *folder = c->e.settings.run.out;
    fprintf(to, "\nin %s/:", folder);
    for (int i = 0; names[i]; i++)
        if (files_exists(folder, names[i]))
            fprintf(to, "%s%s", i ? ", " : " ", names[i]);
    if (c->drawn) {
        fputs("; ", to);
        plots_list(folder, to);
    }
    fputs(c->reported ? "; report.html" : "", to);
    fputs(c->e.settings.paper ? "; paper/" : "", to);
}

/* Prints the command of `train` that repeats the winner's first run, in one line. */
static void print_repetition(const session *c, const runlog *log)
{
    char out[PATH_MAX], said[600];
    bool shared = false;
    const int run = runlog_winner(log, &shared);
    if (run < 0)
        return;
    const int number = c->all.run[run].number;
    const run_spec spec = experiment_spec(&c->e, number);
    snprintf(out, sizeof out, "%s/train/%s", c->e.settings.run.out, c->all.run[run].name);
    snprintf(said, sizeof said, "%.500s %s the lowest mean validation loss; its first run again, to the same digits:",
             experiment_form_of(&c->e, number)->name, shared ? "shares" : "has");
    putchar('\n');
    terminal_wrap(stdout, said, NULL);
    fputs(options_called("train"), stdout);
    run_spec_print_options(&spec, experiment_rows(&c->e, number), stdout);
    fputs(" --out ", stdout);
    options_print_word(out, stdout);
    putchar('\n');
}

/* Writes files and pictures, and prints the table even if these fail; returns the exit status. */
static int show_results(session *c)
{
    tg_error error;
    runlog *log = read_all(c);
    const run_spec *s = &c->e.settings.run;
    const bool fine = runlog_write(log, &error);
    if (!fine)
        terminal_say("compare", NULL, error.text);
    const plots_outcome drawn = fine && !s->no_plots ? draw(c, log) : PLOTS_NOTHING;
    if (fine && s->no_plots)
        plots_remove(s->out);
    runlog_print_table_as(log, c->e.settings.format, stdout);
    c->drawn = drawn == PLOTS_DRAWN;
    const bool papered = !fine || !c->e.settings.paper || write_paper(c, log);
    c->reported = fine && s->report && write_report(c, log, c->drawn, false);
    if (!s->report)
        runlog_remove_report(s->out);
    if (fine && !c->e.settings.paper)
        paper_remove(s->out);
    if (fine && is_for_reading(c))
        terminal_wrap_output(stdout, list_files, c);
    if (fine && is_for_reading(c))
        print_repetition(c, log);
    runlog_free(log);
    return drawn == PLOTS_INTERRUPTED ? signals_status()
                                      : !fine || !papered || (s->report && !c->reported) || drawn == PLOTS_FAILED;
}

/* False, with a message, if the options contradict each other. */
static bool read_options(session *c, int argc, char **argv)
{
    tg_error error;
    c->e = experiment_defaults();
    options_parse(experiment_program(), argc, argv, &c->e.settings);
    const char *config = c->e.settings.config;
    if (!config)
        return true;
    c->e = experiment_defaults();
    if (!options_load(experiment_program(), config, &c->e.settings, &error)) {
        terminal_say("compare", "--config", error.text);
        return false;
    }
    c->e.settings.run.out = NULL; /* that is the folder of an earlier run */
    options_parse(experiment_program(), argc, argv, &c->e.settings);
    return true;
}

/* Claims the folder for this comparison, which may have other seeds and activations than before. False and one line if
 * it belongs to another comparison, or if it is to be overwritten while another process works in it. */
static bool claim(session *c, tg_error *error)
{
    static const char *const ignored[] = {"version",        "seeds",          "activations", "jobs",     "out",
                                          "format",         "no-plots",       "report",      "paper",    "config",
                                          "overwrite",      "tensorboard",    "part",        "measures", "margin",
                                          "more-is-better", "less-is-better", NULL};
    const char *out = c->e.settings.run.out;
    const bool overwrite = c->e.settings.run.overwrite;
    json_t *config = config_of(c);
    int taken = -1;
    const bool fine = files_make_folder(out, error) &&
                      (taken = files_take_folder(out, !overwrite, error)) != FILES_TAKEN &&
                      (!overwrite || record_may_overwrite(out, error)) &&
                      record_claim(out, config, overwrite ? RECORD_OVERWRITE : RECORD_SAME, ignored, error);
    files_share_folder(taken); /* from now on processes with other parts may join */
    json_decref(config);
    return fine;
}

/* All work before the first run. False and one line on failure. */
static bool prepare(session *c, tg_error *error)
{
    run_spec *s = &c->e.settings.run;
    if (s->overwrite && c->e.settings.sweep.part)
        return tg_fail(error,
                       "--overwrite: a part would remove the runs of the others; remove the folder before all parts");
    if (!experiment_prepare(&c->e, NULL, error))
        return false;
    s->out = s->out ? s->out : c->e.name;
    if (!record_spares(s->out, source_path(s->data), error))
        return tg_fail(error, "--data: %s", error->text);
    if (child_name()) /* its parent has claimed the folder */
        return list_runs(c, error);
    if (!runlog_check_directory(s->out, error))
        return tg_fail(error, "--out: %s", error->text);
    return claim(c, error) && list_runs(c, error);
}

static bool has_ended(const jobs_outcome *outcome)
{
    return !outcome->refused && !outcome->interrupted && !outcome->failed;
}

/* With --lr auto or --init-scale auto: adds points and their runs, if the search is not finished. */
static bool grow(session *c)
{
    int best[EXPERIMENT_FORMS];
    tg_error error;
    runlog *log = search_is_on(&c->e.search) ? read_all(c) : NULL;
    if (!log)
        return false;
    for (int a = 0; a < c->e.form_count; a++)
        best[a] = c->all.run[runlog_best_run(log, a)].number;
    runlog_free(log);
    const bool grown = experiment_grow(&c->e, best, &error) && list_runs(c, &error);
    if (grown)
        experiment_print_search(&c->e, stderr);
    else if (error.text[0])
        terminal_say("compare", "search", error.text);
    return grown;
}

int main(int argc, char **argv)
{
    static session c;
    tg_error error;
    argv = options_in_full(experiment_program(), argc, argv);
    if (data_sets_count(argc, argv) > 1)
        return data_sets_compare(argc, argv);
    c.command = options_command(argv);
    if (!read_options(&c, argc, argv))
        return 2;
    if (c.e.settings.runs)
        return compare_elsewhere(&c.e.settings, c.command);
    if (!prepare(&c, &error)) {
        terminal_say("compare", NULL, error.text);
        return 2;
    }
    const bool whole = sweep_is_whole(&c.e.settings.sweep);
    terminal_wrap_output(stderr, experiment_describe, &c.e);
    if (!c.e.from.is_text)
        columns_print(&c.e.from.data, stderr);
    jobs_outcome outcome = run_all(&c);
    while (whole && has_ended(&outcome) && grow(&c))
        outcome = run_all(&c);
    const int finished = count_finished(&c);
    if (outcome.refused)
        terminal_say("compare", NULL, outcome.error.text);
    else if (outcome.interrupted)
        fprintf(stderr, "interrupted: %d of %d run%s complete; the same command%s continues\n", finished, c.all.count,
                plural(c.all.count), c.e.settings.run.overwrite ? " without --overwrite" : "");
    else if (!whole)
        fprintf(stderr, "part %s: %d of all %d run%s complete; " ADVICE_REST "\n", c.e.settings.sweep.part, finished,
                c.all.count, plural(c.all.count));
    const int shown = whole && !outcome.refused ? show_results(&c) : 0;
    const bool there = !has_ended(&outcome) || is_all_there(&c);
    pool_free(&c.all);
    free(c.command);
    experiment_free(&c.e);
    return outcome.interrupted ? signals_status() : outcome.refused ? 2 : shown ? shown : outcome.failed > 0 || !there;
}
