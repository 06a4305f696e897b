/* A function of tensors, evaluated on the check's tape. Internal. */
#ifndef TG_GRADCHECK_TAPED_H
#define TG_GRADCHECK_TAPED_H

#include "autograd/gradcheck/function.h"

/* Empties the tape and records the function at x. */
bool tg_check_record(tg_check *c, const double *x, tg_tensor *result);

/* Derivative number `level` of the recorded function. */
bool tg_check_derive(tg_check *c, int level, tg_tensor result, double *out);

bool tg_check_measure_tape(tg_check *c);
bool tg_check_run_tape(tg_check *c, int level, const double *x, double *const *out /* [level + 1] */);

/* Functions of tensors; in ways.c. */
extern const tg_check_kind tg_check_of_tensors;

#endif
