#include "examples/study/run.h"
#include "examples/data/feed.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double seconds_between_states = 60, seconds_of_a_sample = 0.2;

/* ---- making it ---- */

typedef struct trainer {
    const study_run *run;
    dataset data; /* the run's, in parts of its own */
    dataset_feed train, validation, test;
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_dead_units *dead;
    tg_fit *fit;
    tg_rng random; /* what dropout and stochastic activations draw from */
    const char *folder, *key;
    study_record record;
    jobs_link *link;
    double seconds, since, kept_at; /* of training; since when it runs; when the files were written */
    double rows;                    /* that were trained on */
    bool broken;                    /* behind an epoch: something could not be measured or kept */
    char *message;                  /* [STUDY_MESSAGE] */
} trainer;

static bool fail(const trainer *t, const char *why)
{
    snprintf(t->message, STUDY_MESSAGE, "%.*s", STUDY_MESSAGE - 1, why);
    return false;
}

static bool split(trainer *t)
{
    const study_run *run = t->run;
    t->data = *run->data;
    t->data.order = NULL; /* parts of its own */
    if (!dataset_split(&t->data, &run->parts, t->message, STUDY_MESSAGE))
        return false;
    if (run->all_rows) { /* they lie one behind the other */
        t->data.train.rows += t->data.validation.rows;
        t->data.validation.rows = 0;
    }
    t->train = (dataset_feed){&t->data, &t->data.train, run->reconstructs};
    t->validation = (dataset_feed){&t->data, &t->data.validation, run->reconstructs};
    t->test = (dataset_feed){&t->data, &t->data.test, run->reconstructs};
    return true;
}

static void free_net(trainer *t)
{
    tg_optimizer_free(t->optimizer);
    tg_dead_units_free(t->dead);
    tg_mlp_free(t->net);
}

/* The network before its first step. */
static bool make_net(trainer *t)
{
    const study_run *run = t->run;
    const tg_rng seed = tg_rng_seed((uint64_t)run->seed), initial = tg_rng_stream(&seed, "weights");
    fail(t, "out of memory");
    t->random = tg_rng_stream(&seed, "training");
    t->net = tg_mlp_new(&initial, &run->net);
    t->dead = tg_dead_units_new(t->net);
    t->optimizer = tg_optimizer_new(tg_mlp_parameters(t->net),
                                    &(tg_optimizer_config){.lr = run->lr}); /* AdamW without decay is Adam */
    if (!t->net || !t->dead || !t->optimizer)
        return false;
    return !run->start || tg_parameters_load(tg_mlp_parameters(t->net), run->start,
                                             &(tg_load_options){.allow_unknown = true}, t->message);
}

static bool open_trainer(trainer *t)
{
    tg_set_threads(1); /* runs share the processors among themselves */
    const char *wrong = tg_mlp_config_error(&t->run->net);
    if (wrong)
        return snprintf(t->message, STUDY_MESSAGE, "the network cannot be made: %s", wrong), false;
    return split(t) && make_net(t);
}

static void close_trainer(trainer *t)
{
    tg_fit_free(t->fit);
    free_net(t);
    free(t->data.order);
    study_record_free(&t->record);
}

/* ---- training ---- */

static tg_tensor loss(void *context, const tg_tensor *batch, tg_rng *training, double *score)
{
    trainer *t = context;
    tg_mlp_trace trace;
    tg_tensor output = tg_mlp_forward_with(t->net, batch[0], training ? &t->random : NULL, training ? NULL : &trace);
    if (!training && t->run->counts_dead)
        tg_dead_units_see(t->dead, &trace);
    if (t->run->reconstructs)
        return tg_mse(output, batch[0]);
    if (t->data.task == DATASET_REGRESSION)
        return tg_mse(output, batch[1]);
    if (score)
        *score = tg_accuracy(output, batch[1]);
    return tg_cross_entropy(output, batch[1]);
}

static void order(void *context, int64_t epoch, tg_rng *rng, int32_t *rows, int64_t count)
{
    (void)rng;
    dataset_feed_order((uint64_t)((trainer *)context)->run->seed, epoch, rows, count);
}

static tg_fit_config config_of(trainer *t)
{
    const study_run *run = t->run;
    return (tg_fit_config){.loss = loss,
                           .model = t,
                           .optimizer = t->optimizer,
                           .train = dataset_feed_rows(&t->train),
                           .batch = run->batch,
                           .least_rows = run->net.norm == TG_NORM_BATCH ? 2 : 1,
                           .evaluation_batch = 500,
                           .drop_partial = run->drop_partial,
                           .epochs = run->epochs,
                           .order = order,
                           .context = t};
}

static void tell(const trainer *t, double fraction, int64_t epoch, double loss_now, double accuracy, double rate)
{
    const jobs_progress now = {.fraction = fraction,
                               .epoch = (int)epoch,
                               .epochs = t->run->epochs,
                               .loss = loss_now,
                               .accuracy = accuracy,
                               .rate = rate};
    if (t->link)
        jobs_report(t->link, &now);
}

static bool on_step(void *context, const tg_fit_step *now)
{
    trainer *t = context;
    const double time = jobs_clock();
    t->seconds += time - t->since;
    t->rows += (double)now->rows;
    t->since = time;
    tell(t, (double)now->step / (double)now->steps, now->epoch, now->mean_loss, NAN, t->rows / t->seconds);
    return true;
}

/* ---- after an epoch ---- */

static bool measure(trainer *t, dataset_feed *feed, double *loss_of, double *accuracy)
{
    const tg_fit_rows rows = dataset_feed_rows(feed);
    return tg_fit_evaluate(t->fit, &rows, loss_of, accuracy) || fail(t, tg_fit_error(t->fit));
}

/* The share of rows as the quotient of whole numbers that it is, whatever the batches were. */
static double share(double accuracy, size_t rows)
{
    return round(accuracy * (double)rows) / (double)rows;
}

static bool is_best(const study_record *record, double loss_of)
{
    const int lowest = study_record_lowest(record, record->epochs, STUDY_VAL_LOSS);
    return !lowest || loss_of < study_record_at(record, lowest, STUDY_VAL_LOSS);
}

static bool measure_epoch(trainer *t, const tg_fit_epoch *now, study_epoch *row)
{
    const study_run *run = t->run;
    const bool last = now->epoch == run->epochs, validates = t->data.validation.rows > 0;
    for (int c = 0; c < STUDY_COLUMNS; c++)
        row->of[c] = NAN;
    row->of[STUDY_STEP_LOSS] = now->train_loss;
    row->of[STUDY_VAL_LOSS] = now->valid_loss;
    row->of[STUDY_VAL_ACCURACY] = share(now->valid_score, t->data.validation.rows);
    row->of[STUDY_SECONDS] = t->seconds;
    if (validates && run->counts_dead) /* seen by the validation, which was just before */
        row->of[STUDY_DEAD] = tg_dead_units_fraction(t->dead);
    bool fine = true;
    if (run->train_every && (now->epoch % run->train_every == 0 || last))
        fine = measure(t, &t->train, &row->of[STUDY_TRAIN_LOSS], NULL);
    if (fine && t->data.test.rows && (!validates || last || is_best(&t->record, now->valid_loss)))
        fine = measure(t, &t->test, &row->of[STUDY_TEST_LOSS], &row->of[STUDY_TEST_ACCURACY]);
    row->of[STUDY_TEST_ACCURACY] = share(row->of[STUDY_TEST_ACCURACY], t->data.test.rows);
    tg_dead_units_clear(t->dead);
    return fine;
}

/* ---- files ---- */

static bool state_path(const study_run *run, const char *folder, char path[PATH_MAX], char message[STUDY_MESSAGE])
{
    return snprintf(path, PATH_MAX, "%s/%s.state", folder, run->name) < PATH_MAX ||
           (snprintf(message, STUDY_MESSAGE, "the name of the folder is too long"), false);
}

static bool save_state(trainer *t)
{
    char path[PATH_MAX];
    tg_update_state kept = tg_optimizer_state(t->optimizer);
    const tg_training_state state = {
        .parameters = tg_mlp_parameters(t->net), .update = &kept, .rng = {&t->random}, .position = t->record.epochs};
    return state_path(t->run, t->folder, path, t->message) && tg_training_state_save(&state, path, NULL, 0, t->message);
}

/* The state first at the end, so that a finished run has one; the record first before, so that it is never behind. */
static bool keep(trainer *t)
{
    const bool finished = study_record_complete(&t->record, t->run->epochs),
               with_state = t->run->keeps_state && !t->record.diverged;
    t->kept_at = jobs_clock();
    return (!with_state || !finished || save_state(t)) &&
           study_record_write(&t->record, t->folder, t->run->name, t->key, t->message) &&
           (!with_state || finished || save_state(t));
}

/* Takes a run up where its state and its record both are; the epochs behind are forgotten. */
static bool take_up(trainer *t)
{
    char path[PATH_MAX];
    tg_update_state kept = tg_optimizer_state(t->optimizer);
    tg_training_state state = {.parameters = tg_mlp_parameters(t->net), .update = &kept, .rng = {&t->random}};
    if (!t->run->keeps_state || !state_path(t->run, t->folder, path, t->message) || access(path, R_OK) != 0 ||
        !tg_training_state_load(&state, path, t->message) || state.position > t->record.epochs ||
        !tg_optimizer_restore(t->optimizer, &kept))
        return false;
    t->record.epochs = (int)state.position;
    t->seconds = study_record_at(&t->record, t->record.epochs, STUDY_SECONDS);
    t->rows = (double)state.position * (double)t->data.train.rows;
    return true;
}

/* Goes on with what is there; anything that does not fit begins anew. */
static bool resume(trainer *t)
{
    char left[STUDY_NAME + 16];
    snprintf(left, sizeof left, "%s.state.", t->run->name);
    files_remove_left(t->folder, left, ".tmp"); /* of a run that was killed while it kept its state */
    if (t->record.epochs == 0 || take_up(t))
        return true;
    t->record.epochs = 0;
    free_net(t);
    return make_net(t);
}

/* ---- the whole run ---- */

static bool on_epoch(void *context, const tg_fit_epoch *now)
{
    trainer *t = context;
    study_epoch row;
    t->broken = !measure_epoch(t, now, &row);
    if (!t->broken && !study_record_add(&t->record, &row))
        t->broken = !fail(t, "out of memory");
    if (t->broken)
        return false;
    tell(t, (double)now->epoch / t->run->epochs, now->epoch,
         row.of[t->data.validation.rows ? STUDY_VAL_LOSS : STUDY_TEST_LOSS], row.of[STUDY_VAL_ACCURACY], 0);
    const bool over = now->epoch == t->run->epochs,
               due = t->run->keeps_state && jobs_clock() - t->kept_at > seconds_between_states;
    t->broken = (over || due) && !keep(t);
    t->since = jobs_clock();
    return !t->broken;
}

static bool train(trainer *t)
{
    tg_fit_config config = config_of(t);
    config.valid = dataset_feed_rows(&t->validation);
    config.epochs_before = t->record.epochs;
    config.on_step = on_step;
    config.on_epoch = on_epoch;
    t->record.parameters = (long)tg_parameters_size(tg_mlp_parameters(t->net));
    t->fit = tg_fit_new(&config);
    t->since = t->kept_at = jobs_clock();
    if (tg_fit_run(t->fit))
        return tg_fit_finished(t->fit) && !t->broken; /* on_epoch has said what went wrong */
    if (!tg_fit_diverged(t->fit))
        return fail(t, tg_fit_error(t->fit));
    t->record.diverged = t->record.epochs + 1;
    return keep(t);
}

bool study_run_train(const study_run *run, const char *folder, jobs_link *link, char message[STUDY_MESSAGE])
{
    char key[STUDY_KEY];
    trainer t = {.run = run, .folder = folder, .key = key, .link = link, .message = message};
    study_run_key(run, key);
    study_record_read(&t.record, folder, run->name, key);
    const bool fine = study_record_complete(&t.record, run->epochs) || (open_trainer(&t) && resume(&t) && train(&t));
    close_trainer(&t);
    return fine;
}

/* ---- beside training ---- */

/* The mean of the steps behind the first, which is slower. */
static bool sample_step(void *context, const tg_fit_step *now)
{
    trainer *t = context;
    const double time = jobs_clock();
    if (now->step == 1)
        t->since = time;
    else
        t->seconds = (time - t->since) / (double)(now->step - 1);
    return time - t->since < seconds_of_a_sample;
}

double study_run_seconds(const study_run *run, char message[STUDY_MESSAGE])
{
    trainer t = {.run = run, .message = message};
    double seconds = NAN;
    if (open_trainer(&t)) {
        tg_fit_config config = config_of(&t);
        config.epochs = 2;
        config.on_step = sample_step;
        t.fit = tg_fit_new(&config);
        /* A measurement is forward only: a third of a step for as many rows. */
        const double measured = (double)t.data.validation.rows + 0.3 * (double)t.data.test.rows +
                                (run->train_every ? (double)t.data.train.rows / run->train_every : 0);
        const double steps = (double)tg_fit_steps(&config) / 2;
        if (tg_fit_run(t.fit) || tg_fit_diverged(t.fit))
            seconds = t.seconds * (steps + measured / run->batch / 3);
        else
            fail(&t, tg_fit_error(t.fit));
    }
    close_trainer(&t);
    return seconds;
}

tg_mlp *study_run_net(const study_run *run, const char *folder, char message[STUDY_MESSAGE])
{
    char path[PATH_MAX];
    const tg_rng rng = tg_rng_seed((uint64_t)run->seed);
    tg_mlp *net = tg_mlp_new(&rng, &run->net);
    if (!net)
        snprintf(message, STUDY_MESSAGE, "out of memory");
    if (net && state_path(run, folder, path, message) &&
        tg_parameters_load(tg_mlp_parameters(net), path, &(tg_load_options){.allow_unknown = true}, message))
        return net;
    tg_mlp_free(net);
    return NULL;
}
