/* FOLDER/last.safetensors is a training state (nn/files/training_state.h) with two lines more: fit.run, which must
 * describe the run that resumes, and fit.epochs, the results so far. FOLDER/best.safetensors has weights only. It is
 * written first, so it may be of a later epoch than the state; the resumed run then reaches that epoch again. */
#include "nn/fit/fit_internal.h"

#include "autograd/base/numbers.h"
#include "autograd/base/platform.h"
#include "nn/files/training_state.h"
#include "optim/optimizer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH = 1000, RUN = 240, LINE = 240 };

static bool path_of(tg_fit *fit, const char *name, char path[PATH])
{
    return snprintf(path, PATH, "%s/%s", fit->config.folder, name) < PATH ||
           tg_fail_first(&fit->error, "the folder's name is too long");
}

static void describe(const tg_fit *fit, char run[RUN])
{
    const tg_fit_config *c = &fit->config;
    int used = snprintf(
        run, RUN, "%" PRId64 " training and %" PRId64 " validation rows, %" PRId64 " x %d a step%s, seed %" PRIu64,
        c->train.count, c->valid.count, c->batch, c->accumulate, c->drop_partial ? ", full ones only" : "", c->seed);
    if (c->least_rows > 1)
        used += snprintf(run + used, RUN - (size_t)used, ", passes of %" PRId64 " or more", c->least_rows);
    if (c->shards > 1)
        used += snprintf(run + used, RUN - (size_t)used, ", %d shards", c->shards);
    if (c->round != TG_FLOAT32)
        used += snprintf(run + used, RUN - (size_t)used, ", in %s", c->round == TG_FLOAT16 ? "float16" : "bfloat16");
    if (fit->ema)
        tg_print(run + used, RUN - (size_t)used, ", averages of decay %.17g%s", c->ema.decay,
                 c->ema.warmup ? " from less" : "");
}

/* ---- writing ---- */

/* The sums of the current epoch, then an entry for each epoch: exact and without times, so that equal runs write equal
 * files. */
static char *epochs_text(const tg_fit *fit)
{
    char *text = malloc((size_t)(fit->epoch_count + 2) * LINE);
    if (!text)
        return NULL;
    char *end = text + tg_print(text, LINE, "%a %a", fit->loss_sum, fit->norm_sum);
    if (fit->config.round == TG_FLOAT16)
        end += tg_print(end, LINE, " %a %d", fit->scale, fit->scaled_steps);
    for (int64_t i = 0; i < fit->epoch_count; i++) {
        const tg_fit_epoch *e = &fit->epochs[i];
        end += tg_print(end, LINE, ";%" PRId64 " %a %a %a %a %a %d", e->step, e->rate, e->train_loss, e->valid_loss,
                        e->valid_score, e->gradient_norm, e->best);
    }
    return text;
}

/* The parameters are set to the values of the best epoch while they are written. */
static bool save_best(tg_fit *fit, tg_metadata *lines)
{
    char path[PATH], epoch[32];
    if (fit->best < 0 || fit->best_is_written)
        return true;
    if (!path_of(fit, "best.safetensors", path))
        return false;
    snprintf(epoch, sizeof epoch, "%" PRId64, fit->best + 1);
    lines[0] = (tg_metadata){"fit.epoch", epoch};
    tg_parameters_swap(fit->parameters, fit->best_values);
    fit->best_is_written =
        tg_parameters_save(fit->parameters, path, lines, 1 + fit->config.metadata_count, &fit->error);
    tg_parameters_swap(fit->parameters, fit->best_values);
    return fit->best_is_written;
}

static bool save_last(tg_fit *fit, tg_metadata *lines, const char *epochs)
{
    char path[PATH], run[RUN];
    tg_update_state update = tg_optimizer_state(fit->config.optimizer);
    const tg_training_state state = {
        .parameters = fit->parameters, .update = &update, .ema = fit->ema, .position = fit->step};
    describe(fit, run);
    lines[0] = (tg_metadata){"fit.run", run};
    lines[1] = (tg_metadata){"fit.epochs", epochs};
    return path_of(fit, "last.safetensors", path) &&
           tg_training_state_save(&state, path, lines, 2 + fit->config.metadata_count, &fit->error);
}

static bool write_files(tg_fit *fit)
{
    const size_t own = (size_t)fit->config.metadata_count;
    if (!tg_folder_make(fit->config.folder) && errno != EEXIST)
        return tg_fail_first(&fit->error, "%.200s: %s", fit->config.folder, strerror(errno));
    tg_metadata *lines = calloc(own + 2, sizeof *lines);
    char *epochs = epochs_text(fit);
    bool fine = lines && epochs;
    if (!fine)
        tg_fail_first(&fit->error, "%.200s: out of memory", fit->config.folder);
    for (int of_last = 0; fine && of_last <= 1; of_last++) {
        if (own)
            memcpy(lines + 1 + of_last, fit->config.metadata, own * sizeof *lines);
        fine = of_last ? save_last(fit, lines, epochs) : save_best(fit, lines);
    }
    free(lines);
    free(epochs);
    return fine;
}

/* ---- when to write ---- */

static const double seconds_between_files = 2;

void tg_fit_begin_saving(tg_fit *fit)
{
    fit->written = tg_seconds();
}

bool tg_fit_save(tg_fit *fit)
{
    const tg_communicator *c = fit->config.communicator;
    const bool needless = fit->config.only_to_resume && tg_fit_finished(fit);
    fit->written = tg_seconds();
    return needless || !fit->config.folder || (c && c->rank > 0) || write_files(fit);
}

bool tg_fit_save_when_due(tg_fit *fit)
{
    const tg_communicator *c = fit->config.communicator;
    double due = tg_seconds() - fit->written >= seconds_between_files && (!c || c->rank == 0);
    if (fit->state_is_spread && !tg_fit_add_up(fit, &due, 1))
        return false;
    return due == 0 || (tg_fit_gather_state(fit) && tg_fit_save(fit));
}

/* ---- reading ---- */

static bool read_epochs(tg_fit *fit, const char *text)
{
    int used = 0;
    if (tg_scan(text, "%la %la%n", &fit->loss_sum, &fit->norm_sum, &used) != 2)
        return false;
    text += used;
    if (fit->config.round == TG_FLOAT16) {
        if (tg_scan(text, " %la %d%n", &fit->scale, &fit->scaled_steps, &used) != 2 ||
            !(fit->scale > 0 && fit->scale < INFINITY))
            return false;
        text += used;
    }
    for (; *text == ';' && fit->epoch_count < fit->config.epochs; text += used) {
        tg_fit_epoch e = {.epoch = fit->epoch_count + 1};
        int best;
        if (tg_scan(text, ";%" SCNd64 " %la %la %la %la %la %d%n", &e.step, &e.rate, &e.train_loss, &e.valid_loss,
                    &e.valid_score, &e.gradient_norm, &best, &used) != 7)
            return false;
        e.best = best;
        fit->best = best ? fit->epoch_count : fit->best;
        fit->epochs[fit->epoch_count++] = e;
    }
    return !*text && (fit->epoch_count == 0) == (fit->best < 0);
}

/* Reads the entries of the file besides the state. */
static bool read_lines(tg_fit *fit, const tg_safetensors *file, const char *path)
{
    char run[RUN];
    const char *of = tg_safetensors_metadata(file, "fit.run"), *epochs = tg_safetensors_metadata(file, "fit.epochs");
    describe(fit, run);
    if (!of || !epochs)
        return tg_fail_first(&fit->error, "%.200s: is of no such run: 'fit.run' and 'fit.epochs' are missing", path);
    if (strcmp(of, run) != 0)
        return tg_fail_first(&fit->error, "%.200s: is of a run with %.150s, and this one has %.150s", path, of, run);
    return read_epochs(fit, epochs) ||
           tg_fail_first(&fit->error, "%.200s: has more epochs than this run, or 'fit.epochs' is damaged", path);
}

/* Does not change the parameters. */
static bool read_best(tg_fit *fit)
{
    char path[PATH];
    if (fit->best < 0)
        return true;
    memcpy(fit->best_values, tg_parameters_values(fit->parameters), tg_parameters_bytes(fit->parameters));
    if (!path_of(fit, "best.safetensors", path) || !tg_parameters_load(fit->parameters, path, NULL, &fit->error))
        return false;
    tg_parameters_swap(fit->parameters, fit->best_values);
    return true;
}

static bool read_last(tg_fit *fit, const tg_safetensors *file, const char *path)
{
    tg_update_state update = tg_optimizer_state(fit->config.optimizer);
    tg_training_state state = {.parameters = fit->parameters, .update = &update, .ema = fit->ema};
    if (!read_lines(fit, file, path) || !read_best(fit) || !tg_training_state_load(&state, path, &fit->error))
        return false;
    if (state.position < 0 || state.position / fit->steps_of_epoch != fit->epoch_count)
        return tg_fail_first(&fit->error, "%.200s: 'fit.epochs' does not fit to 'training.position'", path);
    fit->step = state.position;
    fit->best_is_written = true;
    return tg_optimizer_restore(fit->config.optimizer, &update);
}

bool tg_fit_restore(tg_fit *fit)
{
    char path[PATH];
    if (!path_of(fit, "last.safetensors", path))
        return false;
    if (tg_path_look(path) == TG_PATH_MISSING)
        return true;
    tg_safetensors *file = tg_safetensors_open(path, &fit->error);
    const bool fine = file && read_last(fit, file, path);
    tg_safetensors_close(file);
    return fine;
}
