/* What files of nn share: limits of configurations, the messages for values outside them, errors. Internal to nn. */
#ifndef TG_CONFIG_INTERNAL_H
#define TG_CONFIG_INTERNAL_H

#include "autograd/ops.h"

/* Largest number of units, channels or tokens: the product of two, even times a small number, does not overflow. */
#define TG_SIZE_MOST        ((int64_t)1 << 30)
#define TG_SIZE_ERROR(what) what " must be positive, 2^30 at most"

static inline bool tg_is_size(int64_t number)
{
    return number >= 1 && number <= TG_SIZE_MOST;
}

/* NULL, or the error in a dropout rate, and in the type of parameters. */
static inline const char *tg_dropout_error(double rate)
{
    return rate >= 0 && rate < 1 ? NULL : "the dropout rate must be 0 or more and below 1";
}

static inline const char *tg_dtype_error(tg_dtype dtype)
{
    return tg_dtype_is_floating(dtype) ? NULL : "the parameters must be f32 or f64";
}

/* Records an error on the tape; an inert tensor. */
#define TG_FAIL(tape, ...) (tg_tape_fail(tape, __VA_ARGS__), TG_NONE)

#endif
