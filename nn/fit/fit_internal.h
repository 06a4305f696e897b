/* The inside of a run. Internal to nn/fit. */
#ifndef TG_FIT_INTERNAL_H
#define TG_FIT_INTERNAL_H

#include "autograd/error.h"
#include "autograd/grad.h"
#include "nn/fit/fit.h"

/* What an error says of such a loss, in training and in evaluation. */
#define TG_FIT_NO_SCALAR "the loss is no scalar of the batch's tape"

enum { TG_FIT_EPOCHS = 1000000 };

/* Rows on their way onto a tape. */
typedef struct tg_fit_feed {
    const tg_fit_rows *rows;
    int columns;
    size_t size[TG_FIT_COLUMNS];  /* bytes of a row */
    void *buffer[TG_FIT_COLUMNS]; /* [batch, shape ...] */
    int32_t *order;               /* [rows], or [batch] where they come in their own order */
    bool in_order;
} tg_fit_feed;

/* What a step is cut into. */
typedef struct tg_fit_split {
    int64_t first_row, rows; /* of the epoch's order */
    int64_t shards;          /* fewer than configured where a step has too few rows */
    int64_t first;           /* shard of this process */
} tg_fit_split;

/* What is added up with the gradients. */
typedef struct tg_fit_sums {
    double loss, rows_loss;                  /* mean over the rows, and sum */
    double reached, stops, failed, diverged; /* shards of which it is true */
} tg_fit_sums;

struct tg_fit {
    tg_fit_config config; /* defaults filled in */
    tg_parameters *parameters;
    tg_ema *ema;                    /* NULL: none */
    tg_tape *training, *evaluation; /* two, because a step repeats the step before, not an evaluation */
    tg_fit_feed train, valid;
    int64_t steps_of_epoch, rows_of_epoch;
    int64_t step;              /* done */
    double loss_sum, norm_sum; /* of this epoch so far */
    tg_fit_epoch *epochs;      /* [config.epochs] */
    int64_t epoch_count, best,
        ordered;       /* best: index, or -1; ordered: the epoch that train.order is of, from 0, or -1 */
    void *best_values; /* the parameters of the best epoch */
    bool best_is_written, diverged;
    double written; /* when, in seconds */

    char *nodes; /* of the tree of shards, a level each; NULL: there is one shard */
    char *moved; /* parameters without gradient, as the step began */
    tg_fit_split split;
    bool wants_stop; /* a callback of this process does */

    bool spreads, is_spread; /* whether steps are shared out among processes, spread.c; and whether this one is */
    bool state_is_spread;    /* each process has its parts of the optimiser's state up to date */
    char *packed;            /* what is sent and received in one piece: twice room for all */
    tg_error error;          /* the first; "" while there is none */
};

/* One pass over rows of the epoch, whose gradients count `share`; the mean loss of these rows, NaN if there is an
 * error. What is random is a function of the step, the number of the pass in it, and the shard. */
double tg_fit_pass(tg_fit *fit, int64_t number, int64_t shard, int64_t first, int64_t count, double share);

/* ---- shards.c ---- */

/* Room for the nodes; false if out of memory. */
bool tg_fit_shards_init(tg_fit *fit);

/* Adds numbers. */
void tg_fit_add(tg_dtype dtype, size_t count, void *to, const void *more);

/* The gradients of these rows of the epoch, by all processes. If `sums->stops`, a process wants to stop, and there are
 * none. False if there is an error. */
bool tg_fit_shards_step(tg_fit *fit, int64_t first, int64_t rows, tg_fit_sums *sums);

/* ---- spread.c ---- */

/* Whether processes can share out the second half of the step, too. */
bool tg_fit_spreads(const tg_fit *fit);

/* Adds the numbers of all processes to this one's, in the order of the tree; at most TG_PARTS. */
bool tg_fit_add_up(tg_fit *fit, double *numbers, int count);

/* Adds up what all processes have in `sums`, in `moved`, what layers moved, and in `block`: there this process's parts.
 * Both are laid out as the values, as is `other`, to receive into. Where the sums say that there is to be no step, they
 * are all. */
bool tg_fit_spread_sums(tg_fit *fit, tg_fit_sums *sums, char *moved, char *block, char *other);

/* This process's parts of the optimiser's step, and then all parts of the values. */
bool tg_fit_spread_update(tg_fit *fit);

/* All parts of the optimiser's state, in all processes. */
bool tg_fit_gather_state(tg_fit *fit);

/* ---- feed.c ---- */

/* NULL, or what is wrong with the rows. */
const char *tg_fit_rows_error(const tg_fit_rows *rows);

/* Room for batches of so many rows; in their own order, or in that of tg_fit_feed_begin. False if out of memory; free
 * it in any case. */
bool tg_fit_feed_init(tg_fit_feed *feed, const tg_fit_rows *rows, int64_t batch, bool in_order);
void tg_fit_feed_free(tg_fit_feed *feed);

/* Puts the rows of an epoch in the order of the configuration; false if that names a row that there is not. */
bool tg_fit_feed_begin(tg_fit_feed *feed, const tg_fit_config *config, int64_t epoch, tg_rng rng);

/* The rows first .. first + count - 1 of the order as tensors; false if fill gives up. */
bool tg_fit_feed_take(tg_fit_feed *feed, tg_tape *tape, int64_t first, int64_t count, tg_rng rng,
                      tg_tensor batch[TG_FIT_COLUMNS]);

/* ---- evaluate.c ---- */

/* What is random in a part of the run: the stream of this name and number. */
tg_rng tg_fit_stream(const tg_fit *fit, const char *name, int64_t number);

/* Mean loss and score over the rows of a feed that has been made for batches of config.evaluation_batch. */
bool tg_fit_feed_evaluate(tg_fit *fit, tg_fit_feed *feed, double *loss, double *score);

/* ---- state.c ---- */

/* Writes both files, or reads them. */
bool tg_fit_save(tg_fit *fit);
bool tg_fit_restore(tg_fit *fit);

#endif
