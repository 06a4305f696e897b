#include "tests/accuracy/accuracy.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>
#include <tapegrad.h>

/* The position of a function's kernels in the tables. A derivative without a kernel of its own is a composition of
 * operations, and measured as tg_grad computes it. */
typedef struct kernel_place {
    const char *name;
    size_t offset[REFERENCE_ORDERS];
    tg_tensor (*operation)(tg_tensor x); /* NULL: all derivatives that are measured have kernels */
} kernel_place;

/* clang-format off */
#define OFFSET(name)     offsetof(tg_kernel_table, name)
#define VALUE_ONLY(name) {#name, {OFFSET(name), 0, 0}, NULL}
#define SMOOTH(name)     {#name, {OFFSET(name), OFFSET(name##_grad), OFFSET(name##_grad_grad)}, NULL}
#define COMPOSED(name)   {#name, {OFFSET(name), 0, 0}, tg_##name}
/* clang-format on */

static const kernel_place places[] = {
    SMOOTH(gelu_exact),   SMOOTH(gelu_tanh), SMOOTH(gelu_quick), SMOOTH(silu),      COMPOSED(softplus),
    SMOOTH(mish),         SMOOTH(elu),       SMOOTH(selu),       SMOOTH(softsign),  SMOOTH(penalized_tanh),
    SMOOTH(relu_squared), SMOOTH(star_relu), SMOOTH(xielu),      SMOOTH(snake),     VALUE_ONLY(erf_grad),
    VALUE_ONLY(exp),      VALUE_ONLY(expm1), VALUE_ONLY(log),    VALUE_ONLY(log1p), COMPOSED(sin),
    VALUE_ONLY(cos),      COMPOSED(tanh),    COMPOSED(sigmoid),  COMPOSED(erf),     VALUE_ONLY(erfc),
    VALUE_ONLY(sqrt),     VALUE_ONLY(rsqrt),
};

static const kernel_place *find_place(const char *name)
{
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (strcmp(places[i].name, name) == 0)
            return &places[i];
    return NULL;
}

accuracy_survey accuracy_begin(const char *name)
{
    accuracy_survey survey = {.function = reference_find(name)};
    for (int i = 0; tg_kernel_set_at(i) && survey.sets < ACCURACY_SETS; i++)
        if (tg_kernel_set_runs(tg_kernel_set_at(i)))
            survey.set[survey.sets++] = tg_kernel_set_at(i);
    return survey;
}

bool accuracy_near_zero(const reference_function *function, int order, double x)
{
    const double *zeros = function->zeros[order];
    for (int i = 0; i < REFERENCE_ZEROS; i++)
        if (zeros[i] != 0 && x / zeros[i] > 1 / 1.6 && x / zeros[i] < 1.6)
            return true;
    return order > 0 && function->periodic_from > 0 && fabs(x) > function->periodic_from && isfinite(x);
}

static void raise(double *worst, double *where, double error, double x)
{
    if (!(error <= *worst)) {
        *worst = error;
        *where = x;
    }
}

enum { BLOCK = 1024 };

/* The first or second derivative of an operation at n numbers, on a tape, with the kernels of this set. NaN if the tape
 * refuses. */
static void differentiate(const tg_kernel_set *set, tg_tensor (*operation)(tg_tensor x), int order, tg_dtype dtype,
                          size_t n, const void *x_, void *y)
{
    tg_tape *tape = tg_tape_new();
    const char *used = tg_kernels.isa;
    tg_kernels_use(set->isa);
    tg_tensor x = tg_variable(tape, dtype, x_, TG_SHAPE((int64_t)n)), d = operation(x);
    for (int i = 0; i < order; i++) {
        const tg_tensor of = d;
        tg_grad(&of, 1, &x, 1, NULL, i + 1 < order, &d);
    }
    if (tg_data(d))
        memcpy(y, tg_data(d), n * tg_dtype_size(dtype));
    else
        memset(y, 0xff, n * tg_dtype_size(dtype));
    tg_kernels_use(used);
    tg_tape_free(tape);
}

#define SCALAR  float
#define WIDE    double
#define NAME(f) f##_f32
#define MATH(f) f
#define HIGHEST FLT_MAX
#define FIELD   f32
#define DTYPE   TG_F32
#include "tests/accuracy/measure.inc"
#undef SCALAR
#undef WIDE
#undef NAME
#undef MATH
#undef HIGHEST
#undef FIELD
#undef DTYPE

#define SCALAR  double
#define WIDE    long double
#define NAME(f) f##_f64
#define MATH(f) f##l
#define HIGHEST DBL_MAX
#define FIELD   f64
#define DTYPE   TG_F64
#include "tests/accuracy/measure.inc"
