/* Runs of a small net that several suites train. The net has everything that depends on the position in a run. */
#ifndef FIT_RUNS_H
#define FIT_RUNS_H

#include "tests/support/temporary_files.h"
#include "tests/support/tensors.h"

enum { FIT_ROWS = 23, FIT_VALID = 9 };

/* The number of rows, the last ones of which are for validation. */
extern double fit_x[FIT_ROWS][3], fit_y[FIT_ROWS][2];
extern int32_t fit_label[FIT_ROWS];

/* A net with everything that depends on the position in a run: dropout and a batch norm. */
typedef struct fit_run {
    tg_mlp *net;
    tg_optimizer *optimizer;
    tg_fit_config config;
    tg_fit *fit;
    char folder[400];
} fit_run;

/* The fixture: a tape, a folder, the rows. */
void fit_suite_start(void);
void fit_suite_finish(void);

tg_tensor fit_squared_error(void *net, const tg_tensor *batch, tg_rng *training, double *score);

/* A run of four epochs before its start; one that has started; one that has finished. */
void fit_begin(fit_run *r, double dropout, tg_norm norm);
void fit_start(fit_run *r);
void fit_train(fit_run *r);
void fit_end(fit_run *r);

/* Sets the folder, inside the temporary one, for its files. */
void fit_in_folder(fit_run *r, const char *name);

/* The text of a temporary file, to be freed. */
char *fit_copy_of(const char *name);

void fit_assert_same_weights(const fit_run *a, const fit_run *b);
void fit_assert_same_epochs(const fit_run *a, const fit_run *b);

#endif
