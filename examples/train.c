/* Trains one model on one data set: files that predict uses and from which --resume goes on, a run log and pictures
 * like those of compare. */
#include "examples/lab/files.h"
#include "examples/lab/progress.h"
#include "examples/lab/runlog.h"
#include "examples/lab/signals.h"
#include "examples/train/card.h"
#include "examples/train/profile.h"
#include "examples/train/sample.h"
#include "examples/train/start.h"
#include "plots/plots.h"
#include "examples/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct trainer {
    train_settings settings;
    train_source from;
    card about, started; /* started: what --start's file says of itself */
    net *model;
    tg_optimizer *optimizer;
    tg_fit *fit;
    progress *view;
    double began, shown, step_began, step_seconds; /* step_seconds: in timed_steps */
    int64_t rows, timed_steps, steps_of_epoch;
    double accuracy; /* of the last validation */
    double *squares; /* [targets]: squared errors of an evaluation's rows, added up */
    tg_tape *tape;   /* the training steps' */
} trainer;

static int fail(const char *message)
{
    fprintf(stderr, "train: %s\n", message);
    return 1;
}

/* ---- the loss ---- */

static void add_squares(double *squares, size_t targets, tg_tensor output, tg_tensor wanted)
{
    const float *y = tg_f32(output), *of = tg_f32(wanted);
    for (int64_t i = 0; y && of && i < tg_size(output); i++)
        squares[(size_t)i % targets] += pow((double)y[i] - of[i], 2);
}

static tg_tensor loss(void *context, const tg_tensor *batch, tg_rng *training, double *score)
{
    trainer *t = context;
    if (training && !t->tape) {
        t->tape = tg_tape_of(batch[0]);
        tg_tape_time(t->tape, t->settings.profile);
    }
    tg_tensor output = net_forward(t->model, batch[0], training);
    if (t->about.task == CARD_IMAGES)
        return tg_mse(output, batch[0]);
    if (t->about.task == CARD_TARGETS) {
        if (!training)
            add_squares(t->squares, (size_t)t->from.data.targets, output, batch[1]);
        return tg_mse(output, batch[1]);
    }
    if (score)
        *score = tg_accuracy(output, batch[1]);
    return tg_cross_entropy_with(output, batch[1], training ? t->settings.label_smoothing : 0, TG_NO_LABEL);
}

/* ---- while it runs ---- */

static void show(trainer *t, int64_t step, int64_t steps, int64_t epoch, double loss_now)
{
    const double time = jobs_clock();
    const jobs_progress line = {.fraction = (double)step / (double)steps,
                                .step = (long)step,
                                .steps = (long)steps,
                                .epoch = (int)epoch,
                                .epochs = t->settings.epochs,
                                .loss = loss_now,
                                .accuracy = t->accuracy,
                                .rate = (double)t->rows / (time - t->began)};
    progress_update(t->view, 0, &line);
    progress_tick(t->view);
    t->shown = time;
}

static bool on_step(void *context, const tg_fit_step *now)
{
    trainer *t = context;
    const double time = jobs_clock();
    const bool begins = (now->step - 1) % (now->steps / now->epochs) == 0; /* an evaluation was before it */
    if (!begins) {
        t->step_seconds += time - t->step_began;
        t->timed_steps++;
    }
    t->step_began = time;
    t->rows += now->rows;
    if (now->step == 1 &&
        now->steps >
            1) /* the first step takes memory from the system: operations are timed from here on, as steps are */
        tg_tape_time(t->tape, t->settings.profile);
    if (time - t->shown >= 0.1)
        show(t, now->step, now->steps, now->epoch, now->mean_loss);
    return !signals_caught();
}

static bool on_epoch(void *context, const tg_fit_epoch *now)
{
    trainer *t = context;
    t->accuracy = now->valid_score;
    show(t, now->step, t->steps_of_epoch * t->settings.epochs, now->epoch, now->valid_loss);
    return !signals_caught();
}

/* ---- making it ---- */

/* The version and the options, from which --resume goes on. */
static void record_options(const trainer *t, void (*keep)(void *context, const char *name, json_t *value),
                           void *context)
{
    train_settings kept = t->settings;
    kept.resume = false;
    keep(context, "version", json_string(tg_version()));
    options_record(settings_program.table, &kept, keep, context);
}

static void keep_option(void *object, const char *name, json_t *value)
{
    json_object_set_new(object, name, value);
}

static void log_option(void *log, const char *name, json_t *value)
{
    runlog_option(log, name, value);
}

static bool write_json(const void *object, FILE *to)
{
    return json_dumpf(object, to, JSON_INDENT(4)) == 0 && fputc('\n', to) != EOF;
}

/* The options, and nothing of another run, nor of one that was killed while it wrote. */
static bool begin_folder(const trainer *t, char message[NET_MESSAGE])
{
    char last[4096];
    json_t *options = json_object();
    record_options(t, keep_option, options);
    const bool fine = files_make_folder(t->settings.out, message) &&
                      files_write(t->settings.out, "config.json", write_json, options, message);
    json_decref(options);
    files_remove_left(t->settings.out, "last.safetensors.", ".tmp");
    files_remove_left(t->settings.out, "best.safetensors.", ".tmp");
    snprintf(last, sizeof last, "%s/last.safetensors", t->settings.out);
    if (fine && !t->settings.resume)
        unlink(last);
    return fine;
}

static bool prepare(trainer *t, char message[NET_MESSAGE])
{
    train_settings *s = &t->settings;
    const bool starts = s->start && !s->resume;
    if (!runlog_check_directory(s->out, message) || (starts && !start_adopt(s, &t->started, message)) ||
        !source_load(s, &t->from, message))
        return false;
    settings_complete(s, t->from.train.count);
    if (!card_of_source(&t->about, &s->net, &t->from, message))
        return false;
    t->squares = calloc(t->from.data.targets + 1, sizeof *t->squares);
    if (!t->squares)
        return snprintf(message, NET_MESSAGE, "out of memory"), false;
    const bool classifies = t->about.task == CARD_CLASSES || t->about.task == CARD_LETTERS;
    if (!settings_fit(s, classifies, message))
        return false;
    const tg_rng seed = tg_rng_seed((uint64_t)s->seed), weights = tg_rng_stream(&seed, "weights");
    t->model = net_new(&s->net, &weights, message);
    return t->model && (!starts || start_load(s, t->model, &t->from, &t->about, &t->started, message));
}

static bool open_run(trainer *t, char message[NET_MESSAGE])
{
    const train_settings *s = &t->settings;
    static tg_metadata lines[CARD_LINES];
    card_metadata(&t->about, lines);
    tg_fit_config config = {.loss = loss,
                            .model = t,
                            .train = t->from.train,
                            .valid = t->from.valid,
                            .batch = s->batch,
                            .accumulate = s->accumulate,
                            .least_rows = net_least_rows(&s->net),
                            .epochs = s->epochs,
                            .patience = s->patience,
                            .ema = {.decay = s->ema, .warmup = true},
                            .best_by_score = strcmp(s->best, "accuracy") == 0,
                            .seed = (uint64_t)s->seed,
                            .folder = s->out,
                            .resume = s->resume,
                            .metadata = lines,
                            .metadata_count = CARD_LINES,
                            .on_step = on_step,
                            .on_epoch = on_epoch,
                            .context = t};
    config.drop_partial =
        s->profile &&
        config.train.count >=
            (int64_t)s->batch * s->accumulate; /* a step of another size would be timed in place of the others */
    const tg_optimizer_config how = settings_optimizer(s, tg_fit_steps(&config));
    t->steps_of_epoch = tg_fit_steps(&config) / s->epochs;
    const char *wrong = tg_optimizer_config_error(&how);
    t->optimizer = wrong ? NULL : tg_optimizer_new(net_parameters(t->model), &how);
    config.optimizer = t->optimizer;
    t->fit = tg_fit_new(&config);
    if (wrong || tg_fit_error(t->fit))
        snprintf(message, NET_MESSAGE, "%.*s", NET_MESSAGE - 1, wrong ? wrong : tg_fit_error(t->fit));
    return !wrong && !tg_fit_error(t->fit);
}

static void describe(const trainer *t)
{
    const train_settings *s = &t->settings;
    char model[300];
    if (!s->resume && !options_given(&settings_program, "data"))
        fputs("no --data, so it learns digits that it draws itself, some seconds long.\nWith your own: --data "
              "csv:FILE, idx:FOLDER, "
              "text:FILE or lines:FILE; see --help.\n",
              stderr);
    net_describe(&s->net, model, sizeof model);
    source_describe(&t->from, stderr);
    fprintf(stderr, "%s: %lld parameters; %d epoch%s of %lld step%s, %s, rate %g\n", model,
            (long long)tg_parameters_size(net_parameters(t->model)), s->epochs, plural(s->epochs),
            (long long)t->steps_of_epoch, plural(t->steps_of_epoch), s->optimizer, s->lr);
    if (s->start && !s->resume)
        fprintf(stderr, "begins with the weights of %s\n", s->start);
    if (s->resume)
        fprintf(stderr, "goes on behind step %lld\n", (long long)tg_optimizer_steps(t->optimizer));
}

/* ---- what came out ---- */

/* Of the test part, or the validation part; what the data does not have is NaN. */
static bool measure(trainer *t, const tg_fit_rows *rows, const dataset_part *part, runlog_measures *m)
{
    const dataset *data = &t->from.data;
    *m = (runlog_measures)RUNLOG_NO_MEASURES;
    memset(t->squares, 0, (data->targets + 1) * sizeof *t->squares);
    if (!tg_fit_evaluate(t->fit, rows, &m->loss, &m->accuracy))
        return false;
    if (t->about.task != CARD_TARGETS)
        return true;
    m->r2 = 0; /* the mean over the targets */
    for (size_t i = 0; i < data->targets; i++) {
        double mean = 0, squares = 0;
        for (size_t r = 0; r < part->rows; r++)
            mean += data->y[(size_t)part->row[r] * data->targets + i] / (double)part->rows;
        for (size_t r = 0; r < part->rows; r++)
            squares += pow(data->y[(size_t)part->row[r] * data->targets + i] - mean, 2);
        m->r2 += (1 - t->squares[i] / squares) / (double)data->targets;
    }
    m->rmse = data->targets == 1 ? sqrt(m->loss) * data->target_scale[0] : NAN;
    return true;
}

static void print_measures(const trainer *t, const char *part, const runlog_measures *m)
{
    const char *unit = t->about.task == CARD_LETTERS ? " nats a letter" : "";
    printf("%s: loss %.4f%s", part, m->loss, unit);
    if (!isnan(m->accuracy))
        printf(", accuracy %.2f %%", 100 * m->accuracy);
    if (!isnan(m->r2))
        printf(", R2 %.4f", m->r2);
    if (!isnan(m->rmse))
        printf(", root mean squared error %.4g%s%s", m->rmse, *t->about.target_names[0] ? " of " : "",
               plain_name(t->about.target_names[0], (char[PLAIN_NAME]){0}));
    putchar('\n');
}

static bool write_log(const trainer *t, const runlog_measures *test, char message[NET_MESSAGE])
{
    const train_settings *s = &t->settings;
    runlog *log = runlog_new(s->out);
    record_options(t, log_option, log);
    const int run = runlog_add_run(log, s->net.activation, (uint64_t)s->seed, 0,
                                   (long)tg_parameters_size(net_parameters(t->model)));
    for (int64_t i = 0; i < tg_fit_epoch_count(t->fit); i++) {
        const tg_fit_epoch *e = tg_fit_epoch_at(t->fit, i);
        runlog_epoch row = {.epoch = (int)e->epoch,
                            .step = (long)e->step,
                            .train_loss = e->train_loss,
                            .val_loss = e->valid_loss,
                            .val_accuracy = e->valid_score,
                            .grad_norm = e->gradient_norm,
                            .dead_fraction = NAN,
                            .test = RUNLOG_NO_MEASURES,
                            .seconds = NAN};
        if (e == tg_fit_best(t->fit) && test)
            row.test = *test;
        runlog_add_epoch(log, run, &row);
    }
    runlog_finish_run(log, run);
    const bool fine = runlog_write(log, message);
    runlog_free(log);
    return fine;
}

static plots_outcome draw(const trainer *t)
{
    char message[PLOTS_MESSAGE], model[300], title[500];
    net_describe(&t->settings.net, model, sizeof model);
    snprintf(title, sizeof title, "%s: %s", t->from.is_text ? t->from.letters.name : t->from.data.name, model);
    const plots_outcome outcome = plots_draw(t->settings.out, &(plots_look){.title = title}, message);
    if (outcome != PLOTS_DRAWN)
        fprintf(stderr, "train: %s\n", message);
    return outcome;
}

/* Measures, files, pictures and a sample; the exit status. */
static int show_results(trainer *t)
{
    char message[NET_MESSAGE];
    const train_settings *s = &t->settings;
    const tg_fit_epoch *best = tg_fit_best(t->fit);
    runlog_measures valid, test;
    const bool tests = t->from.test.count > 0;
    if (best && (!measure(t, &t->from.valid, &t->from.data.validation, &valid) ||
                 (tests && !measure(t, &t->from.test, &t->from.data.test, &test))))
        return fail(tg_fit_error(t->fit));
    if (best) {
        printf("epoch %lld of %lld is the best, and its weights are kept\n", (long long)best->epoch,
               (long long)tg_fit_epoch_count(t->fit));
        print_measures(t, "validation", &valid);
        if (tests)
            print_measures(t, "test", &test);
    }
    if (!write_log(t, best && tests ? &test : NULL, message))
        return fail(message);
    if (s->profile && t->tape && t->timed_steps &&
        !profile_print(t->tape, t->step_seconds / (double)t->timed_steps, stdout))
        fail("no operation was timed");
    const plots_outcome drawn = best && !s->no_plots ? draw(t) : PLOTS_NOTHING;
    if (t->about.task == CARD_LETTERS) {
        const tg_rng seed = tg_rng_seed((uint64_t)s->seed);
        tg_rng rng = tg_rng_stream(&seed, "sample");
        puts("");
        for (int i = 0; i < (t->about.lines ? 10 : 1); i++)
            if (!sample_write(t->model, &t->about,
                              &(sample_options){.length = t->about.lines ? 40 : 400, .temperature = 1}, &rng, stdout,
                              message))
                return fail(message);
    }
    static const char *const use[] = {[CARD_CLASSES] = "--data csv:FILE",
                                      [CARD_TARGETS] = "--data csv:FILE",
                                      [CARD_IMAGES] = "--data idx:FILE",
                                      [CARD_LETTERS] = "--prompt TEXT"};
    char file[4096];
    snprintf(file, sizeof file, "%s/best.safetensors", s->out);
    printf("\nin %s/: best.safetensors, last.safetensors, curves.csv, summary.csv, config.json", s->out);
    if (drawn == PLOTS_DRAWN) {
        fputs("; ", stdout);
        plots_list(s->out, stdout);
    }
    fputs("\nto use it: predict --model ", stdout);
    options_print_word(file, stdout);
    printf(" %s\n", use[s->net.image_width ? CARD_IMAGES : t->about.task]);
    return drawn == PLOTS_INTERRUPTED ? signals_status() : drawn == PLOTS_FAILED;
}

static int run(trainer *t)
{
    signals_before before;
    const char *name = t->settings.net.model;
    t->view = progress_new(
        &(progress_config){.out = stderr, .count = 1, .names = &name, .unit = "rows", .measured = "validation"});
    t->began = t->step_began = jobs_clock();
    t->accuracy = NAN;
    progress_start(t->view, 0);
    signals_catch(&before, NULL); /* the first stops the run behind its step */
    const bool fine = tg_fit_run(t->fit);
    signals_release(&before);
    if (fine)
        progress_end(t->view, 0, tg_fit_finished(t->fit) ? JOBS_DONE : JOBS_STOPPED, NULL);
    progress_free(t->view);
    if (!fine)
        return fail(tg_fit_error(t->fit));
    if (tg_fit_finished(t->fit))
        return show_results(t);
    char message[NET_MESSAGE];
    fprintf(stderr, "stopped behind step %lld; `train --resume --out ", (long long)tg_optimizer_steps(t->optimizer));
    options_print_word(t->settings.out, stderr);
    fputs("` goes on\n", stderr);
    if (!write_log(t, NULL, message))
        fail(message);
    return signals_status();
}

static void close_trainer(trainer *t)
{
    tg_fit_free(t->fit);
    tg_optimizer_free(t->optimizer);
    net_free(t->model);
    free(t->squares);
    card_free(&t->about);
    card_free(&t->started);
    source_free(&t->from);
}

/* The options of the run in the folder, and those of the command line on top; false and one line if there is no such
 * run. */
static bool read_settings(trainer *t, int argc, char **argv, char message[NET_MESSAGE])
{
    char config[4096];
    t->settings = settings_defaults();
    options_parse(&settings_program, argc, argv, &t->settings);
    if (!t->settings.resume)
        return true;
    snprintf(config, sizeof config, "%s/last.safetensors", t->settings.out);
    if (access(config, R_OK) != 0)
        return snprintf(message, NET_MESSAGE, "--resume: there is no %.400s to go on with", config), false;
    snprintf(config, sizeof config, "%s/config.json", t->settings.out);
    t->settings = settings_defaults();
    if (!options_load(&settings_program, config, &t->settings, message, NET_MESSAGE))
        return false;
    const net_spec before = t->settings.net;
    options_parse(&settings_program, argc, argv, &t->settings);
    const char *other = net_difference(&before, &t->settings.net);
    if (other)
        return snprintf(message, NET_MESSAGE,
                        "--resume: the run in %.200s has another --%s; --start begins one with its weights",
                        t->settings.out, other),
               false;
    return true;
}

int main(int argc, char **argv)
{
    static trainer t;
    char message[NET_MESSAGE];
    const bool ready = read_settings(&t, argc, argv, message) && prepare(&t, message);
    tg_set_threads(t.settings.threads);
    if (!ready || !open_run(&t, message)) {
        fprintf(stderr, "train: %s\n", message);
        close_trainer(&t);
        return 2;
    }
    describe(&t);
    const int status = begin_folder(&t, message) ? run(&t) : fail(message);
    close_trainer(&t);
    return status;
}
