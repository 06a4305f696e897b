/* Trains one model on one data set and shows the run in detail: writes files for predict, from which the same command
 * continues, growing curves, and pictures like those of compare. */
#include "examples/programs/data/advice.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/run/progress.h"
#include "examples/programs/report/columns.h"
#include "examples/programs/report/report.h"
#include "examples/programs/system/signals.h"
#include "examples/programs/run/record.h"
#include "examples/programs/run/run.h"
#include "examples/programs/run/team.h"
#include "examples/programs/train/choose.h"
#include "examples/programs/train/output.h"
#include "plots/plots.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

typedef struct settings {
    run_spec run; /* first: run_options */
    const char *config;
    int threads;
    bool resume, profile;
} settings;

typedef struct training {
    settings s;
    run_source from;
    tg_card *started; /* the card of --start's file */
    trainer run;
    progress *view;
    double shown, next_report;
    record_seen seen; /* rows on which --start's weights were trained, and which are now for validation or testing */
    bool agreed;      /* the processes of a team continue together */
    bool interrupted; /* while it searched */
    bool drawn, reported; /* there are pictures, and a report */
    char *command;
    char name[RUN_NAME];
} training;

enum { TITLE = 500 };

static int fail(const char *message)
{
    terminal_say("train", NULL, message);
    return 1;
}

/* ---- options ---- */

static const program_option own_options[] = {
    {"config", "FILE", "take the options from a config.json; options given here override them", OPTION_TEXT,
     offsetof(settings, config)},
    {"resume", NULL, "continue the run in the folder, with its options; options given here override them", OPTION_FLAG,
     offsetof(settings, resume)},
    {"threads", "N", "threads for long operations; 0: one per processor", OPTION_INT, offsetof(settings, threads), 0,
     1024},
    {"profile", NULL,
     "print where the time of a step goes, by operation and by layer; rows that do not fill a step are left out",
     OPTION_FLAG, offsetof(settings, profile)},
    {0}};

static program_option table[OPTIONS_MOST];
static const char *const first[] = {"data",   "target",    "ignore",    "model",    "hidden",   "activation", "epochs",
                                    "batch",  "lr",        "optimizer", "seed",     "patience", "start",      "out",
                                    "resume", "overwrite", "report",    "no-plots", NULL};
static const options_program program = {
    .name = "train",
    .about = "Trains one model on one data set, keeps its best and its last state, and can resume.",
    .table = table,
    .given_offset = offsetof(settings, run.given),
    .first = first,
    .after = "The same command continues where the run was stopped or killed, and ends with the same bytes as a run "
             "that was never stopped. predict uses the folder.\n\n"
             "Examples:\n"
             "train --data csv:housing.csv --hidden 128x3 --out housing\n"
             "train --data idx:mnist --model convnet --out digits\n"
             "train --data text:input.txt --activation swiglu --out shakespeare"};

static settings defaults(void)
{
    static const char *const of_many[] = {"test-noise", "test-as", "drop-last", NULL};
    static const struct {
        const char *option, *help;
    } searched[] = {{"lr", "learning rate; 0: the default; auto: search"},
                    {"init-scale",
                     "factor of all initial weights; 0: 1; auto: search the best by validation, with --lr "
                     "auto the best of both"}};
    options_join(table, run_options, of_many);
    options_join(table, own_options, NULL);
    for (program_option *o = table; options_more(o); o++)
        for (size_t i = 0; o->name && i < sizeof searched / sizeof *searched; i++)
            if (strcmp(o->name, searched[i].option) == 0) {
                o->help = searched[i].help;
                o->word = "auto";
            }
    return (settings){.run = run_spec_defaults(false)};
}

/* ---- the record ---- */

/* Forgets the options that are for one call only: a record does not pass them on. */
static void forget_call(settings *s)
{
    s->resume = s->run.overwrite = false;
    s->config = NULL;
}

/* The version, the options, which --resume reads, and a description of the data. */
static json_t *config_of(const training *t)
{
    json_t *config = json_pack("{s:s}", "version", tg_version());
    settings kept = t->s;
    if (t->run.spec)
        kept.run = *t->run.spec;
    forget_call(&kept);
    options_record(table, &kept, config);
    const source_sums sums = source_checksums(&t->from);
    source_put_checksums(&sums, config);
    return config;
}

/* The results in the folder. */
static runlog *read_log(const training *t)
{
    tg_error error;
    const run_spec *s = t->run.spec;
    runlog_about about = source_about(s, &t->from);
    runlog *log = runlog_new(s->out);
    runlog_options(log, config_of(t));
    about.one_run = true;
    runlog_describe(log, &about);
    const int number = runlog_add_run(log, s->net.activation, (uint64_t)s->seed, s->folds ? s->fold : 0,
                                      (long)tg_parameters_size(tg_model_parameters(t->run.model)));
    if (!record_read(s->out, runlog_at(log, number), &error))
        runlog_fail(log, error.text);
    return log;
}

/* Curves and summary for the pictures. */
static bool write_log(const training *t, tg_error *error)
{
    int count;
    const int64_t trained = tg_fit_epoch_count(t->run.fit);
    runlog_epoch *epochs = record_epochs(t->run.spec->out, &count, error);
    free(epochs);
    if (!epochs)
        return false;
    if (count != trained)
        return tg_fail(error, "%.300s has %d of %lld epochs: was the folder removed or renamed meanwhile?",
                       t->run.spec->out, count, (long long)trained);
    runlog *log = read_log(t);
    const bool fine = runlog_write(log, error);
    runlog_free(log);
    return fine;
}

/* True if the folder has the files that were asked for. */
static bool is_all_there(const training *t, tg_error *error)
{
    const run_spec *s = t->run.spec;
    const char *const names[] = {"best.safetensors",
                                 "last.safetensors",
                                 "curves.csv",
                                 "summary.csv",
                                 "config.json",
                                 s->report ? "report.html" : NULL,
                                 NULL};
    for (int i = tg_fit_best(t->run.fit) ? 0 : 2; names[i]; i++)
        if (!files_exists(s->out, names[i]))
            return tg_fail(error, "%.300s/%s is not there: was the folder removed or renamed meanwhile?", s->out,
                           names[i]);
    return true;
}

/* Describes the data and the model. */
static void describe_data(const void *context, FILE *out)
{
    const training *t = context;
    source_describe(t->run.spec, &t->from, NULL, out);
}

static void describe_columns(const training *t, FILE *out)
{
    if (!t->from.is_text)
        columns_print(&t->from.data, out);
}

static void describe_training(const void *context, FILE *out)
{
    const training *t = context;
    const run_spec *s = t->run.spec;
    char model[300];
    tg_model_spec_describe(&s->net, model, sizeof model);
    fprintf(out, "%s: %lld parameters; %s%d epoch%s of %lld step%s, %s, learning rate %g, batch %d", model,
            (long long)tg_parameters_size(tg_model_parameters(t->run.model)), s->patience ? "at most " : "", s->epochs,
            plural(s->epochs), (long long)t->run.steps_of_epoch, plural(t->run.steps_of_epoch), s->optimizer, s->lr,
            s->batch);
    if (s->patience)
        fprintf(out, ", patience %d", s->patience);
    if (s->net.dropout > 0)
        fprintf(out, ", dropout %g", s->net.dropout);
    if (s->nets > 1)
        fprintf(out, ", refit of %d nets\n", s->nets);
    else
        fputs(s->refit[0] == 'y' ? ", refit\n" : "\n", out);
    run_spec_describe_otherwise(t->s.resume || t->s.config ? NULL : &t->s.run, s, t->from.train.count, out);
    if (s->start)
        fprintf(
            out, "begins with the weights of %s%s\n%s", s->start,
            record_has_refit(s->start) ? ", those of its best epoch; predict uses refit.safetensors" : "",
            t->seen == RECORD_SEEN_ALL
                ? "Warning: that run has the same data and other splits, so it was trained on samples of the "
                  "validation and test splits; their measures are too good: " ADVICE_SAME_SPLITS ".\n"
            : t->seen == RECORD_SEEN_VALIDATION
                ? "Warning: a refit is trained on the validation rows too, so their measures are too good, and they "
                  "choose too late an epoch.\n"
                : "");
    else if (net_warning(&s->net))
        fprintf(out, "Warning: %s %s\n", s->net.activation, net_warning(&s->net));
}

static void describe_run(const void *context, FILE *out)
{
    describe_data(context, out);
    describe_columns(context, out);
    describe_training(context, out);
}

/* "iris: 4-32x2-3 gelu_exact", over pictures and report. */
static void title_of(const training *t, char title[TITLE])
{
    char model[300];
    tg_model_spec_describe(&t->run.spec->net, model, sizeof model);
    snprintf(title, TITLE, "%.150s: %s", t->from.is_text ? t->from.letters.name : t->from.data.name, model);
}

static bool write_report(const training *t, bool drawn, bool running)
{
    tg_error error;
    char title[TITLE];
    runlog *log = read_log(t);
    title_of(t, title);
    const report r = {title, t->command, describe_run, t, log, drawn, running};
    const bool fine = report_write(t->run.spec->out, &r, &error) || (fail(error.text), false);
    runlog_free(log);
    return fine;
}

/* ---- while it runs ---- */

static bool on_progress(void *context, const jobs_progress *now)
{
    training *t = context;
    const double time = jobs_clock();
    if (t->s.run.report && time >= t->next_report) {
        write_report(t, false, true);
        t->next_report = report_next(time, jobs_clock());
    }
    if (now->step % t->run.steps_of_epoch != 0 ||
        t->run.steps_of_epoch == 1) /* at its end the loss is the validation's */
        progress_point(t->view, now->loss);
    if (time - t->shown >= 0.1 || now->epoch * now->steps == now->step * now->epochs) {
        progress_update(t->view, 0, now);
        t->shown = time;
    }
    return !signals_caught();
}

static void describe(const training *t)
{
    const int64_t done = tg_fit_step_count(t->run.fit);
    if (!t->s.resume && !options_has(&t->s.run.given, "data"))
        fputs("no --data, so it trains on synthetic digits for a few seconds.\nWith your own: --data csv:FILE, "
              "idx:FOLDER, text:FILE, lines:FILE or pairs:FILE; see --help.\n",
              stderr);
    terminal_wrap_output(stderr, describe_data, t);
    describe_columns(t, stderr);
    terminal_wrap_output(stderr, describe_training, t);
    if (done)
        fprintf(stderr, "continues after step %lld\n", (long long)done);
}

/* ---- results ---- */

static plots_outcome draw(const training *t)
{
    tg_error error;
    char title[TITLE];
    title_of(t, title);
    const plots_outcome outcome = plots_draw(t->run.spec->out, &(plots_look){.title = title}, &error);
    if (outcome != PLOTS_DRAWN)
        terminal_say("train", NULL, error.text);
    return outcome;
}

/* Sources of the test or validation split, and what the model makes of them. */
static bool print_targets(const training *t, tg_error *error)
{
    enum { MOST = 10 };
    const run_source *from = &t->from;
    const text_part *part = from->test.count ? &from->letters.test : &from->letters.valid;
    char *text = text_letters(part);
    sample_score score;
    const bool fine = text ? sample_pairs(t->run.model, from->letters.name, text, 1, true, MOST, stdout, &score, error)
                           : tg_fail(error, "out of memory");
    free(text);
    return fine;
}

static bool print_sample(const training *t, tg_error *error)
{
    const tg_card *about = t->run.about;
    const tg_rng seed = tg_rng_seed((uint64_t)t->run.spec->seed);
    tg_rng rng = tg_rng_stream(&seed, "sample");
    bool fine = true;
    puts("");
    if (t->from.letters.pairs)
        return print_targets(t, error);
    for (int i = 0; fine && i < (about->lines ? 10 : 1); i++)
        fine = sample_write(t->run.model, &(tg_generate_options){.length = about->lines ? 40 : 400, .temperature = 1},
                            &rng, stdout, error);
    return fine;
}

/* Measures the saved weights, unless the folder has their measures, and prints those. */
static bool print_measures(training *t, tg_error *error)
{
    const run_spec *s = t->run.spec;
    const tg_card *about = t->run.about;
    char name[60];
    runlog_run results = runlog_run_new();
    if ((!record_is_finished(s->out, NULL) || (s->keep_predictions && !files_exists(s->out, "predictions.csv"))) &&
        !run_conclude(&t->run, run_results, error))
        return false;
    if (!record_results(s->out, &results, error))
        return error->text[0] ? false : tg_fail(error, "%.300s: the measures are not there any more", s->out);
    if (results.softened > 0)
        printf("softened: %ld input%s with long tails\n", results.softened, plural(results.softened));
    for (int split = RUNLOG_VALIDATION; split <= RUNLOG_TEST; split++)
        if (results.net.measured[split])
            tally_print(about, runlog_splits[split], &results.net.of[split], stdout);
    const int reported = results.net.measured[RUNLOG_TEST] ? RUNLOG_TEST : RUNLOG_VALIDATION;
    snprintf(name, sizeof name, "%s, constant prediction", runlog_splits[reported]);
    if (!isnan(results.constant.of[reported].loss))
        tally_print(about, name, &results.constant.of[reported], stdout);
    const runlog_numbers *confusion = &results.series[RUNLOG_CONFUSION];
    if (confusion->count && confusion->count == about->classes * about->classes)
        tally_print_confusion(about, confusion->numbers, stdout);
    runlog_run_free(&results);
    return true;
}

static void say_best(const void *context, FILE *to)
{
    const trainer *r = &((const training *)context)->run;
    fprintf(to,
            r->from->valid.count == 0 ? "%lld epochs are done, and the weights of the last are kept"
            : r->spec->nets > 1       ? "epoch %lld of %lld is the best; the mean of nets that are trained again on "
                                        "training and validation rows is kept"
            : r->spec->refit[0] == 'y'
                ? "epoch %lld of %lld is the best; the weights are trained again for as many steps "
                  "on training and validation rows"
                : "epoch %lld of %lld is the best, and its weights are kept",
            (long long)tg_fit_best(r->fit)->epoch, (long long)tg_fit_epoch_count(r->fit));
}

/* Lists the written files. */
static void list_files(const void *context, FILE *to)
{
    const training *t = context;
    const run_spec *s = t->run.spec;
    fprintf(to, "in %s/: %sbest.safetensors, last.safetensors, runs.csv, curves.csv, summary.csv, config.json",
            plain(s->out), s->refit[0] == 'y' ? "refit.safetensors, " : "");
    if (t->drawn) {
        fputs("; ", to);
        plots_list(s->out, to);
    }
    fputs(s->report && t->reported ? "; report.html" : "", to);
}

/* Writes measures, files, pictures and a sample; returns the exit status. */
static int show_results(training *t)
{
    static const char *const use[] = {[TG_CARD_CLASSES] = "--data FILE",
                                      [TG_CARD_TARGETS] = "--data FILE",
                                      [TG_CARD_IMAGES] = "--data FILE",
                                      [TG_CARD_LETTERS] = "--prompt TEXT"};
    tg_error error;
    trainer *r = &t->run;
    const run_spec *s = r->spec;
    const tg_fit_epoch *best = tg_fit_best(r->fit);
    if (best)
        terminal_wrap_output(stdout, say_best, t);
    if (!print_measures(t, &error) || !write_log(t, &error))
        return fail(error.text);
    if (t->s.profile && r->tape && r->timed_steps &&
        !profile_print(r->tape, r->step_seconds / (double)r->timed_steps, stdout))
        fail("no operation was timed");
    const plots_outcome drawn = best && !s->no_plots ? draw(t) : PLOTS_NOTHING;
    if (s->no_plots)
        plots_remove(s->out);
    t->drawn = drawn == PLOTS_DRAWN;
    t->reported = !s->report || write_report(t, t->drawn, false);
    if (!s->report)
        runlog_remove_report(s->out);
    if (r->about->task == TG_CARD_LETTERS && !print_sample(t, &error))
        return fail(error.text);
    if (!is_all_there(t, &error))
        return fail(error.text);
    putchar('\n');
    terminal_wrap_output(stdout, list_files, t);
    printf("to use it: %s --model ", options_called("predict"));
    options_print_word(s->out, stdout);
    printf(" %s\n", use[s->net.image_width ? TG_CARD_IMAGES : r->about->task]);
    return drawn == PLOTS_INTERRUPTED ? signals_status() : !t->reported || drawn == PLOTS_FAILED;
}

static int train(training *t)
{
    signals_before before;
    tg_error error;
    const char *name = t->run.spec->net.model;
    if (!team_follows())
        t->view = progress_new(
            &(progress_config){.out = stderr, .count = 1, .names = &name, .unit = "rows", .measured = "validation"});
    progress_start(t->view, 0);
    signals_catch(&before); /* the first signal stops the run after its step; process 0 stops all */
    const bool fine = run_train(&t->run, &error);
    signals_release(&before);
    if (fine)
        progress_end(t->view, 0, run_finished(&t->run) ? JOBS_DONE : JOBS_STOPPED, NULL);
    progress_free(t->view);
    if (!fine) { /* in a team only the failing process prints, or process 0 if that one has ended */
        const tg_fit_place at = tg_fit_failed_at(t->run.fit);
        return at == TG_FIT_ELSEWHERE || (at == TG_FIT_LOST && team_follows()) ? 1 : fail(error.text);
    }
    if (team_follows()) /* process 0 prints */
        return 0;
    if (run_finished(&t->run))
        return show_results(t);
    const bool again = t->s.run.overwrite; /* the same command starts over */
    fprintf(stderr, "stopped after step %lld; %s`%s --resume --out ", (long long)tg_fit_step_count(t->run.fit),
            again ? "" : ADVICE_CONTINUE ", or ", options_called("train"));
    options_print_word(t->run.spec->out, stderr);
    fputs(again ? "` continues\n" : "`\n", stderr);
    if (!write_log(t, &error))
        fail(error.text);
    if (t->s.run.report)
        write_report(t, false, false);
    else
        runlog_remove_report(t->run.spec->out);
    return signals_status();
}

/* ---- preparation ---- */

/* Reads the options of the run in the folder, then those of the command line; false and one line if there is no such
 * run. */
static bool resume(training *t, int argc, char **argv, tg_error *error)
{
    char config[PATH_MAX];
    if (!t->s.run.out)
        return tg_fail(error, "--resume needs --out");
    if (files_exists(t->s.run.out, "runs"))
        return tg_fail(error, "--resume: %.300s holds a comparison, which the same command of compare continues",
                       t->s.run.out);
    const bool saved = files_exists(t->s.run.out, "last.safetensors");
    const bool begun = files_path(t->s.run.out, "config.json", config) && files_exists(t->s.run.out, "config.json");
    const int taken = saved || !begun ? -1 : files_take_folder(t->s.run.out, false, error);
    files_release_folder(taken);
    if (taken == FILES_TAKEN) /* its run has not saved yet */
        return false;
    if (!saved)
        return tg_fail(error, "--resume: there is no %.300s/last.safetensors to continue from%s", t->s.run.out,
                       begun ? ": the run was stopped before it first saved, and the command that "
                               "began it begins it again"
                             : "");
    t->s.run = run_spec_defaults(false);
    if (!options_load(&program, config, &t->s, error))
        return false;
    const run_spec before = t->s.run;
    forget_call(&t->s);
    options_parse(&program, argc, argv, &t->s);
    const char *other = net_difference(&before.net, &t->s.run.net);
    other = other ? other : run_spec_judged_otherwise(&before, &t->s.run);
    if (other)
        return tg_fail(error, "--resume: the run in %.200s has another --%s; " ADVICE_OTHER_MODEL, t->s.run.out, other);
    return true;
}

/* Reads the options of an earlier run from its config.json, then those of the command line. */
static bool repeat(training *t, int argc, char **argv, tg_error *error)
{
    const char *config = t->s.config;
    if (t->s.resume)
        return tg_fail(error, "--config begins a run, and --resume continues one");
    t->s = (settings){.run = run_spec_defaults(false)};
    if (!options_load(&program, config, &t->s, error))
        return false;
    forget_call(&t->s);
    t->s.run.out = NULL; /* that is the folder of the earlier run */
    options_parse(&program, argc, argv, &t->s);
    return true;
}

/* True if the options of this program are compatible. */
static bool check(const settings *s, tg_error *error)
{
    const int folds = s->run.folds, fold = s->run.fold;
    const char *problem =
        s->resume && options_has(&s->run.given, "start")        ? "--start begins a run, and --resume continues one"
        : s->resume && s->run.overwrite                         ? "--overwrite begins a run, and --resume continues one"
        : s->run.activation_from && !s->run.start && !s->resume ? "--activation-from is for --start only"
        : s->run.rename && !s->run.start && !s->resume          ? "--rename is for --start only"
        : s->run.start && options_has(&s->run.given, "init")    ? "--init: the weights are those of --start"
        : s->run.start && options_has(&s->run.given, "init-scale") ? "--init-scale: the weights are those of --start"
        : folds && (fold < 1 || fold > folds) ? "--folds: one of them is the test split: " ADVICE_FOLD
        : fold && !folds                      ? "--fold is for --folds"
                                              : NULL;
    if (problem)
        tg_fail(error, "%s", problem);
    return !problem;
}

/* The folder belongs to this run from here on. */
static bool take_folder(const training *t, tg_error *error)
{
    static const char *const ignored[] = {"version",  "out",    "overwrite",   "resume",           "threads", "profile",
                                          "no-plots", "report", "tensorboard", "keep-predictions", "config",  NULL};
    const run_spec *s = &t->s.run;
    json_t *config = config_of(t);
    const bool there = files_make_folder(s->out, error),
               ours = there && files_take_folder(s->out, false, error) != FILES_TAKEN &&
                      (!s->overwrite || record_may_overwrite(s->out, error)) &&
                      record_claim(s->out, config,
                                   t->s.resume    ? RECORD_SAME_DATA
                                   : s->overwrite ? RECORD_OVERWRITE
                                                  : RECORD_SAME,
                                   ignored, error);
    json_decref(config);
    return ours;
}

/* The card of --start's file. A run that is resumed has one too, if the file is gone. */
static bool read_start(training *t, tg_error *error)
{
    run_spec *s = &t->s.run;
    if (t->s.resume && access(s->start, R_OK) != 0)
        return (t->started = tg_card_read(s->out, error)) != NULL;
    return card_adopt(s, &t->started, error);
}

/* True if --overwrite would remove the file of --start. */
static bool removes_start(const run_spec *s)
{
    static const char *const names[] = {"best", "last", "refit"};
    char path[PATH_MAX];
    bool same = false;
    for (int i = 0; s->start && s->overwrite && i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s.safetensors", s->out, names[i]);
        same |= files_are_one(path, s->start);
    }
    return same;
}

/* ---- --lr auto and --init-scale auto ---- */

static bool is_searched(const run_spec *s, int which)
{
    return isnan(which == SEARCH_RATE ? s->lr : s->net.init_scale);
}

/* Sets what is searched to these values. */
static void set_searched(run_spec *s, const bool on[SEARCH_VALUES], search_point to)
{
    s->lr = on[SEARCH_RATE] ? to.at[SEARCH_RATE] : s->lr;
    s->net.init_scale = on[SEARCH_SCALE] ? to.at[SEARCH_SCALE] : s->net.init_scale;
}

/* Completes the specification, as a run that is never trained does, and checks that the folder has no other run. */
static bool check_searched(training *t, run_spec *complete, tg_error *error)
{
    static const char *const ignored[] = {"version", "out",      "overwrite",  "resume",      "threads",
                                          "profile", "no-plots", "report",     "tensorboard", "keep-predictions",
                                          "config",  "lr",       "init-scale", NULL};
    const run_setup setup = {.spec = t->s.run, .from = &t->from};
    if (!run_open(&t->run, &setup, error))
        return false;
    *complete = *t->run.spec;
    json_t *config = config_of(t);
    run_close(&t->run);
    const bool fine = t->s.run.overwrite ? record_may_overwrite(t->s.run.out, error)
                                         : record_is_ours(t->s.run.out, config, ignored, error);
    json_decref(config);
    return fine;
}

/* Searches the rate, the scale or both, if an option asks for it. */
static bool search_values(training *t, tg_error *error)
{
    run_spec *s = &t->s.run, complete;
    char folder[PATH_MAX];
    choice c = {.searched = {is_searched(s, SEARCH_RATE), is_searched(s, SEARCH_SCALE)},
                .spec = &complete,
                .from = &t->from,
                .folder = folder,
                .at_once = t->s.threads};
    const char *option = search_options[c.searched[SEARCH_RATE] ? SEARCH_RATE : SEARCH_SCALE];
    if (!c.searched[SEARCH_RATE] && !c.searched[SEARCH_SCALE])
        return true;
    const char *problem = t->s.resume           ? "--resume continues with the values that the run has"
                          : s->start            ? "it is not for --start"
                          : team_communicator() ? "it is for one process"
                          : s->validation && strcmp(s->validation, "none") == 0 ? "it needs validation rows"
                                                                                : NULL;
    if (problem)
        return tg_fail(error, "--%s auto: %s", option, problem);
    set_searched(s, c.searched, (search_point){{0}});
    if (!check_searched(t, &complete, error))
        return false;
    if (snprintf(folder, sizeof folder, "%s/search", s->out) >= (int)sizeof folder)
        return tg_fail(error, "--out: the name is too long");
    const bool fine = choose(&c, error);
    t->interrupted = c.interrupted;
    if (!fine)
        return false;
    set_searched(s, c.searched, c.chosen);
    fprintf(stderr, "The best of %d points by validation (%s/):", c.runs, folder);
    for (int which = 0; which < SEARCH_VALUES; which++)
        if (c.searched[which])
            fprintf(stderr, " --%s %g", search_options[which], c.chosen.at[which]);
    fputc('\n', stderr);
    return true;
}

/* Without --out the folder is named after the run. */
static void name_folder(training *t)
{
    const run_spec usual = run_spec_defaults(false);
    run_spec named = t->s.run;
    const bool on[SEARCH_VALUES] = {is_searched(&named, SEARCH_RATE), is_searched(&named, SEARCH_SCALE)};
    set_searched(&named, on, (search_point){{usual.lr, usual.net.init_scale}});
    run_spec_name(&named, NULL, &usual, t->name);
    for (int which = 0; which < SEARCH_VALUES; which++)
        if (on[which])
            text_add(t->name, sizeof t->name, "-%sauto", search_options[which]);
    t->s.run.out = t->s.run.out ? t->s.run.out : t->name;
}

/* The options of a resumed run, which has been opened with them. */
static bool configure(const training *t, tg_error *error)
{
    json_t *config = config_of(t);
    const bool fine = record_configure(t->s.run.out, config, error);
    json_decref(config);
    return fine;
}

static bool prepare(training *t, tg_error *error)
{
    run_spec *s = &t->s.run;
    if (!check(&t->s, error) || (s->out && !team_follows() && !runlog_check_directory(s->out, error)) ||
        (s->start && !read_start(t, error)) || !source_open(s, &t->from, error))
        return false;
    if (t->started && options_has(&s->given, "soften"))
        return tg_fail(error, "--soften: inputs are scaled as for --start's file");
    name_folder(t);
    if (!record_spares(s->out, source_path(s->data), error))
        return tg_fail(error, "--data: %s", error->text);
    if (removes_start(s))
        return tg_fail(error, "--overwrite would remove the weights of --start: use --out for another folder");
    if (!search_values(t, error))
        return false;
    run_setup setup = {.spec = *s,
                       .from = &t->from,
                       .started = t->started,
                       .begun = t->s.resume,
                       .profile = t->s.profile,
                       .context = t,
                       .on_progress = team_follows() ? NULL : on_progress};
    if (!run_open(&t->run, &setup, error)) /* changes nothing before all checks have passed */
        return false;
    json_t *config = s->start ? config_of(t) : NULL;
    t->seen = config ? record_seen_rows(s->start, config) : RECORD_SEEN_NONE;
    json_decref(config);
    t->agreed = team_agree(team_follows() || take_folder(t, error));
    run_close(&t->run);
    setup.folder = s->out;
    setup.together = true;
    return t->agreed && run_open(&t->run, &setup, error) && (!t->s.resume || team_follows() || configure(t, error));
}

int main(int argc, char **argv)
{
    static training t;
    tg_error error;
    t.command = options_command(argv);
    t.s = defaults();
    options_parse(&program, argc, argv, &t.s);
    team_begin();
    tg_set_threads(t.s.threads);
    const bool ready = (!t.s.resume || t.s.config || resume(&t, argc, argv, &error)) &&
                       (!t.s.config || repeat(&t, argc, argv, &error)) && prepare(&t, &error);
    if (ready && !team_follows())
        describe(&t);
    else if (!ready && (t.agreed || !team_follows())) /* before that, all processes would print the same */
        terminal_say("train", NULL, error.text);
    const int status = ready ? train(&t) : t.interrupted ? signals_status() : 2;
    if (ready)
        run_close(&t.run);
    tg_card_free(t.started);
    source_free(&t.from);
    free(t.command);
    return team_end(status);
}
