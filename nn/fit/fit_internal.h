/* The internals of a run. Internal to nn/fit. */
#ifndef TG_FIT_INTERNAL_H
#define TG_FIT_INTERNAL_H

#include "autograd/error.h"
#include "autograd/grad.h"
#include "nn/fit/fit.h"

/* Messages for a loss that is not a scalar, in training, and in evaluation. */
#define TG_FIT_NO_SCALAR "the loss is no scalar of the batch's tape"

enum { TG_FIT_EPOCHS = 1000000 };

/* Rows that are copied onto a tape. */
typedef struct tg_fit_feed {
    const tg_fit_rows *rows;
    int columns;
    size_t size[TG_FIT_COLUMNS];  /* bytes of a row */
    void *buffer[TG_FIT_COLUMNS]; /* [batch, shape ...] */
    int32_t *order;               /* order [rows], or [batch] if rows come in their own order */
    bool in_order;
} tg_fit_feed;

/* The division of a step into passes and shards. */
typedef struct tg_fit_split {
    int64_t first_row, rows; /* range in the epoch's order */
    int64_t shards;          /* fewer than configured if a step has too few rows */
    int64_t first;           /* shards of this process */
} tg_fit_split;

/* Sums that are added up together with the gradients. */
typedef struct tg_fit_sums {
    double loss, rows_loss;                  /* mean over the rows, and their sum */
    double reached, stops, failed, diverged; /* number of shards for which it is true */
} tg_fit_sums;

/* A tape repeats the step that it recorded last, so batches of `rows` rows have one, and those of other sizes, such as
 * an epoch's last, another: made when it is needed. Only that of the full training batches keeps much memory while it
 * waits. */
typedef struct tg_fit_tapes {
    tg_tape *full, *rest;
    int64_t rows;
    bool trains; /* with less memory, and rounded as configured */
} tg_fit_tapes;

struct tg_fit {
    tg_fit_config config; /* defaults filled in */
    tg_parameters *parameters;
    tg_ema *ema; /* NULL: none */
    tg_fit_tapes training, evaluation;
    tg_fit_feed train, valid;
    int64_t steps_of_epoch, rows_of_epoch;
    int64_t step;              /* steps done */
    double loss_sum, norm_sum; /* sums of this epoch so far */
    double scale;              /* of the loss, a power of two; 1 unless config.round is TG_FLOAT16 */
    int scaled_steps;          /* steps since the scale changed */
    tg_fit_epoch *epochs;      /* [config.epochs] */
    int64_t epoch_count, best,
        ordered;       /* best: index, or -1; ordered: the epoch, from 0, for which train.order is set, or -1 */
    void *best_values; /* copy of the parameters of the best epoch */
    bool best_is_written, diverged;
    double written; /* time of the last write, in seconds */

    char *nodes; /* nodes of the tree of shards, one per level; NULL: there is one shard */
    char *moved; /* parameters without gradient (running statistics), as at the start of the step */
    tg_fit_split split;
    bool wants_stop; /* a callback of this process stops the run */

    bool spreads, is_spread; /* processes can share the optimiser's steps (spread.c), and share this one */
    bool state_is_spread;    /* only a process's own parts of the optimiser's state are up to date */
    char *packed;            /* buffer for bytes sent and received at once: room for two copies of all */
    tg_error error;          /* the first error; "" if there is none */
    tg_fit_place failed_at;  /* of `error` */
};

/* Epochs before the next one. */
static inline int64_t tg_fit_epochs_done(const tg_fit *fit)
{
    return fit->config.epochs_before + fit->epoch_count;
}

/* The generator for one use in the run: the stream with this name and number. */
tg_rng tg_fit_stream(const tg_fit *fit, const char *name, int64_t number);

/* ---- setup.c ---- */

/* True if the configuration trains; otherwise it only evaluates. */
bool tg_fit_trains(const tg_fit_config *config);

/* ---- pass.c ---- */

/* One pass over rows of the epoch, whose gradients are weighted by `share`; returns their mean loss, NaN on error.
 * Random numbers depend on the step, the number of the pass in it, and the shard. */
double tg_fit_pass(tg_fit *fit, int64_t number, int64_t shard, int64_t first, int64_t count, double share);

/* The optimiser's step, for gradients of the loss times fit->scale. A step that it refuses may be left out, with a
 * smaller scale from then on: then `left_out` is set. False on error. */
bool tg_fit_scaled_step(tg_fit *fit, bool *left_out);

/* Mean loss and score over the rows of a feed with batches of config.evaluation_batch. */
bool tg_fit_feed_evaluate(tg_fit *fit, tg_fit_feed *feed, double *loss, double *score);

/* ---- shards.c ---- */

/* Allocates the nodes, for several shards; false if out of memory. */
bool tg_fit_shards_init(tg_fit *fit);

/* The error that another process cannot be reached; false. */
bool tg_fit_lost(tg_fit *fit);

/* The function that adds numbers of this type. */
tg_fit_add *tg_fit_adder(tg_dtype dtype);

/* Computes the gradients of these rows of the epoch, on all processes. If `sums->stops` is set, a process wants to
 * stop, and there are no gradients. False on error. */
bool tg_fit_shards_step(tg_fit *fit, int64_t first, int64_t rows, tg_fit_sums *sums);

/* ---- spread.c ---- */

/* True if processes can share the optimiser's step too. */
bool tg_fit_spreads(const tg_fit *fit);

/* Adds up the numbers of all processes, in the order of the tree; at most TG_PARTS numbers. */
bool tg_fit_add_up(tg_fit *fit, double *numbers, int count);

/* Adds up what all processes have in `sums`, in `moved`, what layers moved, and in `block`: there this process's parts.
 * Both are laid out as the values. Where the sums say that there is to be no step, they are all. */
bool tg_fit_spread_sums(tg_fit *fit, tg_fit_sums *sums, char *moved, char *block);

/* Updates this process's parts of the parameters, then exchanges all parts. */
bool tg_fit_spread_update(tg_fit *fit);

/* Exchanges the optimiser's state, so that every process has all parts. */
bool tg_fit_gather_state(tg_fit *fit);

/* ---- feed.c ---- */

/* NULL, or the error in the rows. */
const char *tg_fit_rows_error(const tg_fit_rows *rows);

/* Allocates batches of this many rows, in their own order or in that of tg_fit_feed_begin. False if out of memory; free
 * it in any case. */
bool tg_fit_feed_init(tg_fit_feed *feed, const tg_fit_rows *rows, int64_t batch, bool in_order);
void tg_fit_feed_free(tg_fit_feed *feed);

/* Orders the rows of an epoch as configured; false if the order names a row that does not exist. */
bool tg_fit_feed_begin(tg_fit_feed *feed, const tg_fit_config *config, int64_t epoch, tg_rng rng);

/* Rows first .. first + count - 1 of the order as tensors; false if `fill` returns false. */
bool tg_fit_feed_take(tg_fit_feed *feed, tg_tape *tape, int64_t first, int64_t count, tg_rng rng,
                      tg_tensor batch[TG_FIT_COLUMNS]);

/* ---- setup.c ---- */

/* The tape for batches of this many rows; NULL if out of memory. */
tg_tape *tg_fit_tape(const tg_fit *fit, tg_fit_tapes *tapes, int64_t rows);

/* ---- state.c ---- */

/* Measures from now on when files are due. */
void tg_fit_begin_saving(tg_fit *fit);

/* Writes both files, where this process does and the configuration wants it; the same if it is time. Process 0 decides
 * when that is; all processes gather the state for it. */
bool tg_fit_save(tg_fit *fit);
bool tg_fit_save_when_due(tg_fit *fit);

/* Reads both files, if there are any. */
bool tg_fit_restore(tg_fit *fit);

/* What to say of a loss that is infinite or not a number. */
static inline const char *tg_fit_divergence(const tg_fit *fit)
{
    return fit->step ? "the loss is infinite or not a number; a smaller learning rate may help"
                     : "the loss is infinite or not a number before any step is taken";
}

#endif
