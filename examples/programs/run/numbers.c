/* What a run came to, as one list of numbers: those of its end, and those that follow from its epochs.
 *
 *     best_epoch, best_val_loss, best_val_accuracy, test_loss, test_accuracy
 *                     at the lowest validation loss or, without validation rows, after the last epoch
 *     epoch_2_loss    mean loss of the steps of the second epoch
 *     dead            share of the hidden units that are dead after the last epoch
 *     gap             validation less training loss after the last epoch
 *     rise            largest ratio of one epoch's validation loss to that before
 *     gradient_range  largest mean norm of an epoch's gradients over the least
 *     noisy_accuracy  mean accuracy over the sizes of --test-noise
 *     train_loss_10, val_loss_10, test_loss_10    after the epochs that are asked for
 *     steps_to_2.451  the first step at which the mean training loss of the last 20 steps is at most this; none if none
 */

#include "examples/programs/run/record.h"

static void put(json_t *results, const char *name, double number)
{
    if (isfinite(number))
        json_object_set_new(results, name, json_real(number));
}

static void put_epoch(json_t *results, const char *name, double loss, int epoch)
{
    char text[40];
    snprintf(text, sizeof text, "%s_%d", name, epoch);
    put(results, text, loss);
}

static void put_after(json_t *results, const runlog_epoch *first, int epochs, const json_t *after)
{
    const json_t *number;
    size_t i;
    json_array_foreach(after, i, number) {
        const int epoch = (int)json_integer_value(number);
        if (epoch < 1 || epoch > epochs)
            continue;
        put_epoch(results, "val_loss", first[epoch - 1].val_loss, epoch);
        put_epoch(results, "test_loss", first[epoch - 1].test_loss, epoch);
        put_epoch(results, "train_loss", first[epoch - 1].whole_train_loss, epoch);
    }
}

static void put_epochs(json_t *results, const runlog_run *run, const runlog_epoch *first, int epochs)
{
    const runlog_epoch *last = first + epochs - 1, *best = first;
    const runlog_measures test = run->net.of[RUNLOG_TEST]; /* of the best epoch */
    double rise = -INFINITY, most = 0, least = INFINITY;
    for (const runlog_epoch *e = first; e <= last; e++) {
        best = !(e->val_loss >= best->val_loss) ? e : best;
        rise = e > first ? fmax(rise, e->val_loss / e[-1].val_loss) : rise;
        most = fmax(most, e->grad_norm);
        least = fmin(least, e->grad_norm);
    }
    json_object_set_new(results, "best_epoch", json_integer(best->epoch));
    put(results, "best_val_loss", best->val_loss);
    put(results, "best_val_accuracy", best->val_accuracy);
    put(results, "test_loss", isnan(test.loss) ? last->test_loss : test.loss);
    put(results, "test_accuracy", test.accuracy);
    put(results, "epoch_2_loss", last > first ? first[1].train_loss : NAN);
    put(results, "dead", last->dead_fraction);
    put(results, "gap", last->val_loss - last->whole_train_loss);
    put(results, "rise", rise);
    put(results, "gradient_range", most / least);
}

/* Noise is a list of sizes, losses and accuracies. */
static void put_noise(json_t *results, const runlog_numbers *noise)
{
    double sum = 0;
    for (size_t i = 2; i < noise->count; i += 3)
        sum += isnan(noise->numbers[i]) ? 0 : noise->numbers[i];
    put(results, "noisy_accuracy", noise->count ? 3 * sum / (double)noise->count : NAN);
}

enum { REACH_STEPS = 20 };

/* The first step at which the mean of the losses of the last steps is at most `loss`; NaN if there is none. */
static double steps_to(const runlog_numbers *steps, double loss)
{
    double sum = 0;
    size_t first = 0;
    for (size_t i = 0; i < steps->count; i += 2) { /* step, loss */
        sum += steps->numbers[i + 1];
        for (; steps->numbers[first] <= steps->numbers[i] - REACH_STEPS; first += 2)
            sum -= steps->numbers[first + 1];
        if (steps->numbers[i] >= REACH_STEPS && sum <= loss * (double)(i - first + 2) / 2)
            return steps->numbers[i];
    }
    return NAN;
}

static bool put_reached(json_t *results, const char *folder, const json_t *losses, tg_error *error)
{
    runlog_run run = runlog_run_new();
    const bool fine = !losses || record_read(folder, &run, error);
    const json_t *loss;
    char name[40];
    size_t i;
    json_array_foreach(losses, i, loss) {
        snprintf(name, sizeof name, "steps_to_%g", json_number_value(loss));
        put(results, name, steps_to(&run.series[RUNLOG_STEPS], json_number_value(loss)));
    }
    runlog_run_free(&run);
    return fine;
}

json_t *run_numbers(const char *folder, const json_t *asked, tg_error *error)
{
    int epochs;
    runlog_run run = runlog_run_new();
    const bool there = record_results(folder, &run, error);
    runlog_epoch *first = there ? record_epochs(folder, &epochs, error) : NULL;
    json_t *results = there ? record_json(&run) : NULL;
    if (first && epochs && !run.diverged) {
        put_epochs(results, &run, first, epochs);
        put_noise(results, &run.series[RUNLOG_NOISE]);
        put_after(results, first, epochs, json_object_get(asked, "after"));
        if (!put_reached(results, folder, json_object_get(asked, "reach"), error)) {
            json_decref(results);
            results = NULL;
        }
    }
    free(first);
    runlog_run_free(&run);
    return results;
}
