/* The training loop: batches, steps, evaluation, early stopping, files. A model needs one function.
 *
 *     static tg_tensor loss(void *net, const tg_tensor *batch, tg_rng *training, double *score)
 *     {
 *         tg_tensor logits = tg_mlp_forward_with(net, batch[0], training, NULL);
 *         if (score)
 *             *score = tg_accuracy(logits, batch[1]);
 *         return tg_cross_entropy(logits, batch[1]);
 *     }
 *     ...
 *     tg_fit *fit = tg_fit_new(&(tg_fit_config){
 *         .loss = loss, .model = net, .optimizer = adamw, .batch = 128, .epochs = 10, .patience = 3,
 *         .train = {60000, {{images, TG_F32, TG_SHAPE(784)}, {labels, TG_I32}}},
 *         .valid = {10000, {{more_images, TG_F32, TG_SHAPE(784)}, {more_labels, TG_I32}}}});
 *     if (!tg_fit_run(fit))
 *         fprintf(stderr, "%s\n", tg_fit_error(fit));
 *     tg_fit_free(fit);
 *
 * An epoch trains once on every training row, in an order of its own, and then evaluates the validation rows. Order,
 * dropout and everything else that is random depend only on the seed and the position in the run. So a run that was
 * stopped and continues, in the same process or from its files, ends with the bytes of a run that never stopped. After
 * the third epoch a step allocates nothing, as long as the loss function does not.
 */
#ifndef TG_FIT_H
#define TG_FIT_H

#include "nn/ema.h"
#include "nn/files/safetensors.h"

TG_API_BEGIN

struct tg_optimizer; /* optim/optimizer.h; C99 takes a typedef once */

/* ---- data ---- */

enum { TG_FIT_COLUMNS = 4 };

/* One number for each row, or a tensor of one shape. */
typedef struct tg_fit_column {
    const void *data; /* [rows, shape ...]; NULL if `fill` below makes the batches */
    tg_dtype dtype;
    tg_shape shape; /* shape of one row: TG_SHAPE(784), TG_SHAPE(1, 28, 28); zeros: one number */
} tg_fit_column;

/* Writes the rows with these indices, one after the other, into columns[c], [count, shape ...]. `rng` gives the same
 * numbers for the same step of the same run and, in evaluation, for the same batch. Returning false ends the run with
 * an error. */
typedef bool tg_fit_fill(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns);

typedef struct tg_fit_rows {
    int64_t count;                        /* below 2^31 */
    tg_fit_column column[TG_FIT_COLUMNS]; /* yours; at least one */
    int columns;                          /* number of columns; 0: all before the first one without data */
    tg_fit_fill *fill;                    /* NULL: rows are copied from the columns' data */
    void *context;                        /* for fill */
} tg_fit_rows;

/* The mean loss over the rows of a batch, as a scalar on the batch's tape. batch[c] is column c, [rows, shape ...].
 * `training` is the generator of a training pass, whose tape saves memory: give a tensor to tg_keep before an operation
 * uses it if its elements are read afterwards. NULL means evaluation. In evaluation `score`, unless NULL, takes a
 * second mean over the rows, such as the accuracy, for which larger is better. If a row is a sum of terms, as many as a
 * text has characters, divide by the rows times a constant, not by the terms of the batch: then a step is the same in
 * one pass, in several and in shards. */
typedef tg_tensor tg_fit_loss(void *model, const tg_tensor *batch, tg_rng *training, double *score);

/* ---- progress ---- */

typedef struct tg_fit_epoch {
    int64_t epoch, step;            /* both start at 1: epochs and steps completed */
    double rate;                    /* learning rate of the last step */
    double train_loss;              /* mean over the epoch's rows, each computed before the step that used the row */
    double valid_loss, valid_score; /* NaN without validation rows, or without a score */
    double gradient_norm;           /* mean over the steps, before clipping */
    bool best;                      /* the best of all epochs so far; of equal ones, the first */
} tg_fit_epoch;

typedef struct tg_fit_step {
    int64_t epoch, epochs, step, steps; /* from 1; step and steps count over the whole run */
    int64_t rows;                       /* of this step */
    double loss, mean_loss;             /* mean loss of this step, and of the epoch so far */
    double rate, gradient_norm;         /* of this step */
} tg_fit_step;

/* ---- several processes ---- */

/* Adds numbers to those at `sum`; `size` is in bytes. */
typedef void tg_fit_add(void *sum, const void *numbers, size_t size);

/* The connection between processes that train one model together. Its functions move bytes between this process and
 * another one, in order, and return when the bytes have arrived or their memory may be reused; false on failure. The
 * programs implement it with MPI, examples/programs/run/team.c. */
typedef struct tg_communicator {
    int rank, size; /* index of this process, from 0, and their number */
    bool (*send)(void *context, int to, const void *bytes, size_t size);
    bool (*receive)(void *context, int from, void *bytes, size_t size);
    /* Sends to and receives from one process at once; NULL: one after the other, which is slower. Unless `add` is NULL,
     * what arrives is added to the numbers in `received` instead of stored there: by add(received, bytes,
     * received_size), or by a call for each piece. Pieces begin at multiples of 8 bytes. */
    bool (*exchange)(void *context, int with, const void *sent, size_t sent_size, void *received, size_t received_size,
                     tg_fit_add *add);
    void *context;
} tg_communicator;

/* ---- the run ---- */

typedef struct tg_fit_config {
    tg_fit_loss *loss;
    void *model; /* for loss */
    /* Of all parameters that the loss depends on; yours. It clips gradients and has the schedule. Each step begins
     * without gradients. */
    struct tg_optimizer *optimizer;
    tg_fit_rows train, valid; /* rows with count 0: no validation */
    int64_t batch;            /* rows of a forward and backward pass; 0: 32 */
    int64_t evaluation_batch; /* rows of an evaluation's forward pass; 0: batch */
    int accumulate;           /* passes per step; 0: one */

    /* Number of shards into which the rows of each pass are divided. The gradients of shards are added in a tree that
     * depends on their number alone, so weights have the same bytes on any number of processes. Dropout is drawn for
     * each shard, and batch norm normalises over one; its running statistics are updated with the mean over the shards.
     * 0: one. */
    int shards;

    /* The processes that share the shards; each makes the same run, with the same rows. Process 0 writes the files; all
     * processes resume from them. A callback that stops the run stops all processes, after one more step's work. If the
     * numbers of shards and processes allow it (nn/fit/spread.c), each process computes a part of the optimiser's step;
     * then tg_optimizer_state is complete only after tg_fit_run has returned. NULL: this process alone. */
    const tg_communicator *communicator;
    /* Omits the last rows of an epoch if they would make a pass of fewer rows than this; the next epoch shuffles them
     * in again. Use 2 for models with batch norm, as one row has no variance. 0: 1 */
    int64_t least_rows;
    bool drop_partial; /* omit rows that do not fill an epoch's last step; otherwise they make a smaller step */
    int64_t epochs;    /* maximum number; 0: 10 */
    /* Number of epochs done before, for programs that keep their own files: parameters and optimiser must be in the
     * state after these epochs. Not with a folder or averages. */
    int64_t epochs_before;
    int64_t patience; /* early stopping after this many epochs in a row without a new best one; 0: never */
    /* With a decay, {.decay = 0.999}, the run validates, chooses the best epoch and ends with the moving average of the
     * weights; with 0, with the weights themselves. */
    tg_ema_config ema;
    /* Training in 16 bits, emulated (tg_tape_round): training passes are rounded to this format, while weights, and
     * evaluation, are floats. For TG_FLOAT16 the loss is multiplied by a scale, 65536 at first, so that small gradients
     * are not rounded to 0; where a gradient is not finite, the step is left out and the scale halved, and after 2,000
     * steps without that it is doubled. For float models in one process. 0: TG_FLOAT32. */
    tg_format round;
    bool best_by_score; /* the best epoch has the highest validation score, if any has one, not the lowest loss */
    uint64_t seed;

    /* A folder, made if it is missing, for last.safetensors, from which the run resumes, and best.safetensors, the
     * weights of the best epoch. They are written after an epoch, at most every two seconds, and when the run ends or
     * stops. NULL: none. */
    const char *folder;
    bool only_to_resume; /* write files only to resume from: none when the run has finished */
    bool resume; /* continue from the folder's files, if there are any; set the optimiser's rate and groups as before */
    const tg_metadata *metadata; /* for both files */
    int metadata_count;

    /* Called after every step, and after every epoch's evaluation, then with the weights that were evaluated (with
     * `ema` their averages); false stops the run there. May be NULL. */
    bool (*on_step)(void *context, const tg_fit_step *now);
    bool (*on_epoch)(void *context, const tg_fit_epoch *now);

    /* Chooses the order of the training rows of epoch 1, 2, ...: `rows` [count] is 0 .. count - 1 at first and on
     * return lists the rows of the epoch's batches; a row may occur twice and another be missing. `rng` draws the same
     * numbers again for the same epoch. If the order depends on nothing else, a resumed run equals one that never
     * stopped. NULL: shuffled. */
    void (*order)(void *context, int64_t epoch, tg_rng *rng, int32_t *rows, int64_t count);
    void *context; /* for these three functions */
} tg_fit_config;

typedef struct tg_fit tg_fit;

/* A run before its first step or, with `resume`, in the state of the files. Borrows everything that the configuration
 * points to. NULL if out of memory; check tg_fit_error for any other error. */
tg_fit *tg_fit_new(const tg_fit_config *config);
void tg_fit_free(tg_fit *fit);

/* The first error, in the configuration, a file, a batch, the loss or the step. NULL if there is none. For a NULL fit,
 * "out of memory, or there is no configuration". */
const char *tg_fit_error(const tg_fit *fit);

/* True if the error is that training diverged: the loss or its gradient was infinite or NaN, or too large for the
 * optimiser. */
bool tg_fit_diverged(const tg_fit *fit);

/* Where the error is. */
typedef enum tg_fit_place {
    TG_FIT_HERE,      /* in this process, or in all */
    TG_FIT_ELSEWHERE, /* in another process, whose own error says what failed */
    TG_FIT_LOST       /* another process cannot be reached */
} tg_fit_place;
tg_fit_place tg_fit_failed_at(const tg_fit *fit);

/* Trains to the end and leaves the parameters of the best epoch (of the last, without validation rows); with `ema`
 * their averages. If a callback stopped it, the parameters are those of the last step, and another call continues.
 * False if there is an error. */
bool tg_fit_run(tg_fit *fit);

/* True if the run has ended: after all epochs, or by patience. */
bool tg_fit_finished(const tg_fit *fit);

/* The number of steps of all epochs, for a schedule, before the run is made: tg_fit_steps(&config). 0 if the
 * configuration is wrong. */
int64_t tg_fit_steps(const tg_fit_config *config);

/* The steps so far, those before a resume included, and those that were left out in TG_FLOAT16, which an optimiser does
 * not count. */
int64_t tg_fit_step_count(const tg_fit *fit);

/* The completed epochs, those before a resume included (but not epochs_before), and the best of them; NULL past the
 * end, or if there is none. */
int64_t tg_fit_epoch_count(const tg_fit *fit);
const tg_fit_epoch *tg_fit_epoch_at(const tg_fit *fit, int64_t index);
const tg_fit_epoch *tg_fit_best(const tg_fit *fit);

/* Computes mean loss and score (each may be NULL) of the current parameters over other rows, such as a test split; may
 * be called in on_epoch. False if there is an error. To evaluate a trained model no training rows and no optimiser are
 * needed: tg_fit_new(&(tg_fit_config){.loss = loss, .model = net, .batch = 500}). */
bool tg_fit_evaluate(tg_fit *fit, const tg_fit_rows *rows, double *loss, double *score);

/* Writes PATH.csv, a line for each epoch, and PATH.gp, a script that draws it: `gnuplot PATH.gp` makes PATH.png. False
 * if there is an error. */
bool tg_fit_write_curves(tg_fit *fit, const char *path);

TG_API_END
#endif
