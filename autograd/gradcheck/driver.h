/* Runs the whole check of a function. Internal. */
#ifndef TG_GRADCHECK_DRIVER_H
#define TG_GRADCHECK_DRIVER_H

#include "autograd/gradcheck/function.h"

/* Replaces zero options by the defaults. */
tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options);

/* Runs a check that is filled in up to `rng`; the result is in its report. Close the check afterwards. */
void tg_check_run(tg_check *c);

/* One operation with its attributes as a function of its inputs; several inputs may be the same tensor. */
typedef struct tg_check_call {
    const tg_op *op;
    const void *attributes;
    int count;
    const int *which;  /* [count] the tensor that each input is */
    tg_tensor *inputs; /* [count] room */
} tg_check_call;

/* The check of a call on these inputs. */
tg_check tg_check_of_call(tg_check_call *call, const tg_gradcheck_input *inputs, int count, int sample,
                          const tg_gradcheck_options *options, tg_rng rng);

#endif
