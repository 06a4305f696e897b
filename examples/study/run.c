#include "examples/study/run.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

enum { EVALUATION_BATCH = 500 };
static const double seconds_between_states = 60;

typedef struct trainer {
    const study_run *run;
    dataset data; /* the run's, but for the order */
    dataset_part train, validation, test;
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_tape *tape;
    tg_dead_units *dead;
    tg_rng random; /* what dropout and stochastic activations draw from */
    dataset_batches batches;
    float *x, *y; /* [batch or EVALUATION_BATCH, ...] */
    int32_t *labels;
    double seconds;
} trainer;

/* ---- what a run is ---- */

static unsigned long checksum(const dataset *data)
{
    const void *bytes = data->source ? (const void *)data->source : data->x;
    size_t left = data->source ? data->rows * (data->features + data->targets) * sizeof *data->source : data->rows * data->features * sizeof *data->x;
    unsigned long sum = crc32(0, NULL, 0);
    for (const unsigned char *at = bytes; left > 0;) {
        const size_t some = left < (1u << 30) ? left : 1u << 30;
        sum = crc32(sum, at, (unsigned)some);
        at += some;
        left -= some;
    }
    return sum;
}

/* Of a file's bytes; 0 if it cannot be read. */
static unsigned long file_checksum(const char *path)
{
    unsigned char some[1 << 14];
    unsigned long sum = crc32(0, NULL, 0);
    FILE *file = fopen(path, "re");
    for (size_t got; file && (got = fread(some, 1, sizeof some, file)) > 0;)
        sum = crc32(sum, some, (unsigned)got);
    if (file)
        fclose(file);
    return file ? sum : 0;
}

void study_run_key(const study_run *run, char key[STUDY_KEY])
{
    static const dataset *known; /* of several hundred runs on one set of 200 MB */
    static unsigned long sum;
    if (run->data != known)
        sum = checksum(run->data);
    known = run->data;
    const tg_mlp_config *net = &run->net;
    int used = snprintf(key, STUDY_KEY, "%s %zu rows %08lx, validation %s, test %s, parts %llu%s; %lld", run->data->name, run->data->rows, sum,
                        run->parts.validation ? run->parts.validation : "-", run->parts.test ? run->parts.test : "-",
                        (unsigned long long)run->parts.seed, run->all_rows ? ", all rows" : "", (long long)net->inputs);
    for (int i = 0; net->hidden[i] && used < STUDY_KEY; i++)
        used += snprintf(key + used, (size_t)(STUDY_KEY - used), "-%lld", (long long)net->hidden[i]);
    if (used < STUDY_KEY)
        used += snprintf(key + used, (size_t)(STUDY_KEY - used), "-%lld %s, init %s, norm %s, dropout %g%s%s; adam %g, batch %d%s, seed %d",
                         (long long)net->outputs, tg_activation_name(net->activation), tg_init_name(net->init), tg_norm_name(net->norm), net->dropout,
                         net->equal_width ? ", equal width" : "", run->reconstructs ? ", reconstructs" : "", run->lr, run->batch,
                         run->partial == DATASET_DROP_PARTIAL ? ", full batches only" : "", run->seed);
    /* What the initialiser multiplies by follows from the library, and may change with it. */
    const double gain = net->gain != 0 ? net->gain : tg_init_gain(net->init, net->activation);
    if (gain != 1 && used < STUDY_KEY)
        used += snprintf(key + used, (size_t)(STUDY_KEY - used), ", gain %.6g", gain);
    if (run->start && used < STUDY_KEY)
        snprintf(key + used, (size_t)(STUDY_KEY - used), ", from a file of %08lx", file_checksum(run->start));
}

/* ---- opening and closing ---- */

static void close_trainer(trainer *t)
{
    tg_optimizer_free(t->optimizer);
    tg_dead_units_free(t->dead);
    tg_tape_free(t->tape);
    tg_mlp_free(t->net);
    dataset_batches_free(&t->batches);
    free(t->data.order);
    free(t->x);
    free(t->y);
    free(t->labels);
}

static bool split(trainer *t, char message[STUDY_MESSAGE])
{
    const study_run *run = t->run;
    t->data = *run->data;
    t->data.order = NULL; /* parts of its own */
    if (!dataset_split(&t->data, &run->parts, message, STUDY_MESSAGE))
        return false;
    t->train = t->data.train;
    t->validation = t->data.validation;
    t->test = t->data.test;
    if (run->all_rows) { /* they lie one behind the other */
        t->train.rows += t->validation.rows;
        t->validation.rows = 0;
    }
    return true;
}

static bool open_trainer(trainer *t, const study_run *run, char message[STUDY_MESSAGE])
{
    const size_t batch = (size_t)run->batch, room = batch > EVALUATION_BATCH ? batch : EVALUATION_BATCH;
    const tg_rng seed = tg_rng_seed((uint64_t)run->seed), initial = tg_rng_stream(&seed, "weights");
    *t = (trainer){.run = run, .random = tg_rng_stream(&seed, "training")};
    tg_set_threads(1); /* runs share the processors among themselves */
    const char *wrong = tg_mlp_config_error(&run->net);
    if (wrong)
        return snprintf(message, STUDY_MESSAGE, "the network cannot be made: %s", wrong), false;
    if (!split(t, message))
        return false;
    snprintf(message, STUDY_MESSAGE, "out of memory");
    if (!dataset_batches_init(&t->batches, &t->data, &t->train, batch, run->partial))
        return false;
    t->x = calloc(room * t->data.features, sizeof *t->x);
    t->y = calloc(room * (t->data.targets + 1), sizeof *t->y);
    t->labels = calloc(room, sizeof *t->labels);
    t->net = tg_mlp_new(&initial, &run->net);
    t->tape = tg_tape_new();
    t->dead = tg_dead_units_new(t->net);
    if (!t->x || !t->y || !t->labels || !t->net || !t->tape || !t->dead)
        return false;
    if (run->start && !tg_parameters_load(tg_mlp_parameters(t->net), run->start, &(tg_load_options){.allow_unknown = true}, message))
        return false;
    t->optimizer = tg_optimizer_new(tg_mlp_parameters(t->net), &(tg_optimizer_config){.lr = run->lr}); /* AdamW without decay is Adam */
    return t->optimizer != NULL;
}

/* ---- steps and measurements ---- */

static tg_tensor loss_of(tg_tensor output, const int32_t *labels, const float *targets)
{
    tg_tape *tape = tg_tape_of(output);
    const int64_t rows = tg_dim(output, 0);
    if (labels)
        return tg_cross_entropy(output, tg_borrow(tape, TG_I32, labels, TG_SHAPE(rows)));
    return tg_mse(output, tg_borrow(tape, TG_F32, targets, TG_SHAPE(rows, tg_dim(output, 1))));
}

static const int32_t *labels_of(const trainer *t)
{
    return t->data.task == DATASET_CLASSIFICATION && !t->run->reconstructs ? t->labels : NULL;
}

/* A step on the rows that were gathered; its loss, NaN if something went wrong. */
static double train_step(trainer *t, size_t rows)
{
    tg_tape_reset(t->tape);
    tg_tensor x = tg_borrow(t->tape, TG_F32, t->x, TG_SHAPE((int64_t)rows, (int64_t)t->data.features));
    tg_tensor loss = loss_of(tg_mlp_forward_with(t->net, x, &t->random, NULL), labels_of(t), t->run->reconstructs ? t->x : t->y);
    const double value = tg_item(loss);
    return tg_backward(loss) && tg_optimizer_step(t->optimizer) ? value : NAN;
}

/* Rows of logits whose largest is at the label. */
static long count_hits(tg_tensor logits, const int32_t *labels)
{
    const float *row = tg_f32(logits);
    const int64_t rows = tg_dim(logits, 0), classes = tg_dim(logits, 1);
    long hits = 0;
    for (int64_t r = 0; row && r < rows; r++, row += classes) {
        int64_t best = 0;
        for (int64_t c = 1; c < classes; c++)
            best = row[c] > row[best] ? c : best;
        hits += best == labels[r];
    }
    return hits;
}

/* Sums over some rows: the loss, and in the accuracy how many are right. */
static study_score score_rows(const tg_mlp *net, tg_tape *tape, const study_rows *rows, tg_dead_units *dead)
{
    study_score sum = {NAN, NAN};
    tg_mlp_trace trace;
    tg_tape_reset(tape);
    tg_no_grad_begin(tape);
    tg_tensor x = tg_borrow(tape, TG_F32, rows->x, TG_SHAPE((int64_t)rows->count, (int64_t)rows->inputs));
    tg_tensor output = tg_mlp_forward_with(net, x, NULL, &trace);
    sum.loss = tg_item(loss_of(output, rows->labels, rows->targets)) * (double)rows->count;
    if (rows->labels)
        sum.accuracy = (double)count_hits(output, rows->labels);
    if (dead)
        tg_dead_units_see(dead, &trace);
    tg_no_grad_end(tape);
    return sum;
}

study_score study_score_of(const tg_mlp *net, tg_tape *tape, const study_rows *rows)
{
    const study_score sum = score_rows(net, tape, rows, NULL);
    return (study_score){sum.loss / (double)rows->count, sum.accuracy / (double)rows->count};
}

static study_score measure(trainer *t, const dataset_part *part, tg_dead_units *dead)
{
    study_score sum = {0, 0};
    for (size_t from = 0; from < part->rows; from += EVALUATION_BATCH) {
        const size_t left = part->rows - from, count = left < EVALUATION_BATCH ? left : EVALUATION_BATCH;
        dataset_gather(&t->data, part, from, count, t->x, t->labels, t->y);
        const study_rows rows = {count, t->data.features, t->x, labels_of(t), t->run->reconstructs ? t->x : t->y};
        const study_score some = score_rows(t->net, t->tape, &rows, dead);
        sum.loss += some.loss;
        sum.accuracy += some.accuracy;
    }
    return (study_score){sum.loss / (double)part->rows, sum.accuracy / (double)part->rows};
}

/* ---- an epoch ---- */

static void tell(const trainer *t, jobs_link *link, int epoch, double done, double loss, double accuracy, double rate)
{
    if (!link)
        return;
    const jobs_progress now = {
        .fraction = (epoch - 1 + done) / t->run->epochs, .epoch = epoch, .epochs = t->run->epochs, .loss = loss, .accuracy = accuracy, .rate = rate};
    jobs_report(link, &now);
}

/* All steps of an epoch; false where the loss is no number any more. */
static bool take_steps(trainer *t, int epoch, study_epoch *row, jobs_link *link)
{
    const double started = jobs_clock(), count = (double)dataset_batches_count(&t->batches);
    double sum = 0, seen = 0, steps = 0;
    size_t rows;
    dataset_batches_start(&t->batches, (uint64_t)t->run->seed, (uint64_t)epoch);
    while ((rows = dataset_batches_next(&t->batches, t->x, t->labels, t->y)) > 0) {
        const double loss = train_step(t, rows);
        if (!isfinite(loss))
            return false;
        sum += loss * (double)rows;
        seen += (double)rows;
        tell(t, link, epoch, ++steps / count, sum / seen, NAN, seen / (jobs_clock() - started));
    }
    row->of[STUDY_STEP_LOSS] = sum / seen;
    t->seconds += jobs_clock() - started;
    return true;
}

static bool is_best(const study_record *record, double loss)
{
    const int lowest = study_record_lowest(record, record->epochs, STUDY_VAL_LOSS);
    return !lowest || loss < study_record_at(record, lowest, STUDY_VAL_LOSS);
}

static void measure_epoch(trainer *t, int epoch, const study_record *before, study_epoch *row)
{
    const study_run *run = t->run;
    if (run->train_every && (epoch % run->train_every == 0 || epoch == run->epochs))
        row->of[STUDY_TRAIN_LOSS] = measure(t, &t->train, NULL).loss;
    if (t->validation.rows) {
        tg_dead_units_clear(t->dead);
        const study_score score = measure(t, &t->validation, run->counts_dead ? t->dead : NULL);
        row->of[STUDY_VAL_LOSS] = score.loss;
        row->of[STUDY_VAL_ACCURACY] = labels_of(t) ? score.accuracy : NAN;
        row->of[STUDY_DEAD] = run->counts_dead ? tg_dead_units_fraction(t->dead) : NAN;
    }
    if (t->test.rows && (!t->validation.rows || epoch == run->epochs || is_best(before, row->of[STUDY_VAL_LOSS]))) {
        const study_score score = measure(t, &t->test, NULL);
        row->of[STUDY_TEST_LOSS] = score.loss;
        row->of[STUDY_TEST_ACCURACY] = labels_of(t) ? score.accuracy : NAN;
    }
    row->of[STUDY_SECONDS] = t->seconds;
}

/* ---- files ---- */

static bool state_path(const study_run *run, const char *folder, char path[PATH_MAX], char message[STUDY_MESSAGE])
{
    return snprintf(path, PATH_MAX, "%s/%s.state", folder, run->name) < PATH_MAX ||
           (snprintf(message, STUDY_MESSAGE, "the name of the folder is too long"), false);
}

static bool save_state(trainer *t, const char *folder, int epoch, char message[STUDY_MESSAGE])
{
    char path[PATH_MAX];
    tg_update_state kept = tg_optimizer_state(t->optimizer);
    const tg_training_state state = {.parameters = tg_mlp_parameters(t->net), .update = &kept, .rng = {&t->random}, .position = epoch};
    return state_path(t->run, folder, path, message) && tg_training_state_save(&state, path, NULL, 0, message);
}

/* Takes a run up where its state and its record both are; the epochs behind are forgotten. Anything that does not fit begins anew. */
static void resume(trainer *t, const char *folder, study_record *record)
{
    char path[PATH_MAX], message[STUDY_MESSAGE];
    tg_update_state kept = tg_optimizer_state(t->optimizer);
    tg_training_state state = {.parameters = tg_mlp_parameters(t->net), .update = &kept, .rng = {&t->random}};
    if (record->epochs == 0)
        return;
    if (t->run->keeps_state && state_path(t->run, folder, path, message) && access(path, R_OK) == 0 &&
        tg_training_state_load(&state, path, message) && state.position <= record->epochs && tg_optimizer_restore(t->optimizer, &kept)) {
        record->epochs = (int)state.position;
        t->seconds = study_record_at(record, record->epochs, STUDY_SECONDS);
        return;
    }
    record->epochs = 0;
    close_trainer(t);
    if (!open_trainer(t, t->run, message))
        t->net = NULL;
}

/* ---- the whole run ---- */

/* One more epoch; true while there is something to go on with. */
static bool train_epoch(trainer *t, study_record *record, jobs_link *link)
{
    const int epoch = record->epochs + 1;
    study_epoch row;
    for (int c = 0; c < STUDY_COLUMNS; c++)
        row.of[c] = NAN;
    if (!take_steps(t, epoch, &row, link)) {
        record->diverged = tg_tape_error(t->tape) ? 0 : epoch;
        return false;
    }
    measure_epoch(t, epoch, record, &row);
    tell(t, link, epoch, 1, t->validation.rows ? row.of[STUDY_VAL_LOSS] : row.of[STUDY_TEST_LOSS], row.of[STUDY_VAL_ACCURACY], 0);
    return study_record_add(record, &row);
}

/* The state first at the end, so that a finished run has one; the record first before, so that it is never behind. */
static bool keep(trainer *t, const study_record *record, const char *folder, const char *key, char message[STUDY_MESSAGE])
{
    const bool finished = study_record_complete(record, t->run->epochs), with_state = t->run->keeps_state && !record->diverged;
    return (!with_state || !finished || save_state(t, folder, record->epochs, message)) &&
           study_record_write(record, folder, t->run->name, key, message) &&
           (!with_state || finished || save_state(t, folder, record->epochs, message));
}

bool study_run_train(const study_run *run, const char *folder, jobs_link *link, char message[STUDY_MESSAGE])
{
    trainer t;
    char key[STUDY_KEY];
    study_record record;
    study_run_key(run, key);
    study_record_read(&record, folder, run->name, key);
    bool fine = open_trainer(&t, run, message);
    if (fine && !study_record_complete(&record, run->epochs))
        resume(&t, folder, &record);
    fine = fine && t.net;
    record.parameters = fine ? (long)tg_parameters_size(tg_mlp_parameters(t.net)) : 0;
    double kept_at = jobs_clock();
    while (fine && !study_record_complete(&record, run->epochs)) {
        const bool goes_on = train_epoch(&t, &record, link);
        const bool over = study_record_complete(&record, run->epochs), due = jobs_clock() - kept_at > seconds_between_states;
        if (!goes_on && !over)
            snprintf(message, STUDY_MESSAGE, "%s", tg_tape_error(t.tape) ? tg_tape_error(t.tape) : "out of memory"), fine = false;
        else if (over || (run->keeps_state && due))
            fine = keep(&t, &record, folder, key, message), kept_at = jobs_clock();
    }
    study_record_free(&record);
    close_trainer(&t);
    return fine;
}

/* ---- beside training ---- */

double study_run_seconds(const study_run *run, char message[STUDY_MESSAGE])
{
    trainer t;
    double seconds = NAN;
    if (open_trainer(&t, run, message)) {
        const double steps = (double)dataset_batches_count(&t.batches);
        size_t rows = 0, taken = 0, most = steps > 1 ? (size_t)steps : 1;
        dataset_batches_start(&t.batches, 1, 1);
        if ((rows = dataset_batches_next(&t.batches, t.x, t.labels, t.y)) > 0)
            train_step(&t, rows); /* the first is slower */
        const double started = jobs_clock();
        double now = started;
        for (; rows > 0 && taken < most && now - started < 0.2; taken++, now = jobs_clock()) {
            train_step(&t, rows);
            if (taken + 2 < most)
                dataset_batches_next(&t.batches, t.x, t.labels, t.y);
        }
        const double step = taken ? (now - started) / (double)taken : 0;
        /* A measurement is forward only: a third of a step for as many rows. */
        const double measured =
            (double)t.validation.rows + 0.3 * (double)t.test.rows + (run->train_every ? (double)t.train.rows / run->train_every : 0);
        seconds = step * (steps + measured / run->batch / 3);
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
