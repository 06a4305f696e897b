/* The inside of the gradient checker. Internal to the library.
 *
 *     gradcheck.c             a function: set-up, the comparisons of every order, the verdict
 *     gradcheck_op.c          an operation: its samples as functions
 *     gradcheck_setup.c       the variables, and every level at the point
 *     gradcheck_evaluate.c    the function and its derivatives at any point
 *     gradcheck_noise.c       their rounding, measured
 *     gradcheck_slope.c       finite differences
 *     gradcheck_laws.c        what must hold besides
 *     gradcheck_blame.c       the first wrong operation of a function
 *     gradcheck_verdict.c     sentences
 */
#ifndef TG_GRADCHECK_INTERNAL_H
#define TG_GRADCHECK_INTERNAL_H

#include "autograd/arena.h"
#include "autograd/gradcheck.h"
#include "autograd/rng.h"

/* 2^-53, the rounding of one operation in double. */
#define TG_CHECK_ROUNDING 0x1p-53

enum { TG_CHECK_WINDOWS = 5 };

/* An input that varies, and where its elements stand among the variables. */
typedef struct tg_check_part {
    int input;
    tg_shape shape;
    int64_t offset, size;
} tg_check_part;

/* Derivative number k of the function, as a vector: 0 is the function itself, k + 1 the gradient of
 * <cotangent of k, derivative k> by all variables. */
typedef struct tg_check_level {
    int64_t length;
    double *cotangent;
    double *value; /* at the point */
    double
        *noise[TG_CHECK_WINDOWS]; /* scaled third differences at tiny steps, which are nothing but rounding */
    double rounding;              /* of <cotangent, value>, from these */
    double suspected;             /* rounding of that which may hide from the measurement; 0 unless assumed */
    double size;                  /* root of the sum of squares of cotangent_i value_i */
} tg_check_level;

typedef struct tg_check {
    const char *name; /* of the operation; "the function" */
    tg_function function;
    void *user;
    const tg_gradcheck_input *inputs;
    int count;
    tg_gradcheck_options options; /* with the defaults filled in */
    tg_rng rng;

    /* The variables: all elements of all varied inputs in a row.
     *
     *     point  [ a a a | b b b b b b ]        parts[0] = {offset 0, size 3}, parts[1] = {offset 3, size 6}
     *     scale  the size of a step for each: a power of two near |x| or the input's root mean square */
    tg_check_part *parts;
    int part_count;
    int64_t variables;
    double *point, *scale;
    double *moved, *ahead, *behind; /* a point on the way, and what the function is on both sides */
    tg_check_level level[TG_GRADCHECK_MAX_ORDER + 1];
    tg_shape output_shape;
    bool outputs_finite;
    bool unannounced; /* inputs are recorded as constants, of which a gradient can be had all the same */

    tg_tape *tape;
    tg_arena arena;
    tg_tensor *tensors;                /* [count] */
    tg_tensor *varied;                 /* [part_count], some of them */
    tg_tensor *results;                /* [part_count] */
    tg_tensor *gradients, *cotangents; /* [part_count] */
    tg_verdict verdict;
} tg_check;

/* ---- gradcheck_setup.c ---- */

/* Sets up a check and evaluates every level at the point; false, with the verdict written, if that fails. Close it in
 * either case. */
bool tg_check_open(tg_check *c);
void tg_check_close(tg_check *c);

/* Memory for `count` zeros until the check is closed, or in another arena; NULL, with the verdict written, if there is none. */
double *tg_check_take(tg_check *c, int64_t count);
double *tg_check_take_from(tg_check *c, tg_arena *arena, int64_t count);

/* A random number away from zero, of either sign. */
double tg_check_weight(tg_rng *rng);

static inline const tg_shape *tg_check_shape_of(const tg_gradcheck_input *input)
{
    return input->parameter ? &input->parameter->shape : &input->shape;
}

static inline bool tg_check_is_varied(const tg_gradcheck_input *input)
{
    return !input->fixed && !input->integers;
}

/* ---- gradcheck_evaluate.c ---- */

/* Records the function at x on the emptied tape. */
bool tg_check_record(tg_check *c, const double *x, tg_tensor *result);

/* Derivative number `level` of the function at x. What is not finite is passed on as it is. */
bool tg_check_evaluate(tg_check *c, int level, const double *x, double *out);

/* The same of a function that is recorded already. */
bool tg_check_derive(tg_check *c, int level, tg_tensor result, double *out);

/* ---- gradcheck_noise.c ---- */

/* Measures the rounding of every level. */
bool tg_check_measure(tg_check *c);

/* The measured rounding of <weights, derivative number `level`>; the weights are not 0 from `from` to `to` only. */
double tg_check_noise(const tg_check *c, int level, const double *weights, int64_t from, int64_t to);

/* ---- gradcheck_slope.c ---- */

typedef struct tg_check_slope {
    double value;
    double error;    /* by its own estimate; infinite if it does not settle at all */
    double rounding; /* of the differences it is made of */
    double size;     /* sum of |cotangent_i d out_i| */
    double natural;  /* how much of the direction the function needs to change by its own size, roughly */
} tg_check_slope;

/* The slope of <cotangent, derivative number `level`> from the point along a direction, by central differences. `largest` is
 * that of the direction's elements. */
bool tg_check_central(tg_check *c, int level, const double *direction, double largest, tg_check_slope *slope);

/* The slopes it has ahead and behind, taken output by output: the sum of the lower and of the higher ones. */
typedef struct tg_check_sides {
    double low, high;
    double error; /* of both */
    double size;
} tg_check_sides;

bool tg_check_both_sides(tg_check *c, int level, const double *direction, tg_check_sides *sides);

/* One plain central difference with a step of `step` times the direction. */
bool tg_check_difference(tg_check *c, int level, const double *direction, double step, tg_check_slope *slope);

/* ---- gradcheck.c ---- */

/* Fills in the defaults. */
tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options);

/* Runs a whole check that was filled in up to `rng`; the verdict stands in it. Close it afterwards. */
void tg_check_run(tg_check *c);

/* Adds what one sample brought to the verdict on the operation. */
void tg_check_merge(tg_verdict *total, const tg_verdict *sample);

/* ---- gradcheck_op.c ---- */

/* One operation with its attributes as a function of its inputs, of which some may be one and the same. */
typedef struct tg_check_call {
    const tg_op *op;
    const void *attributes;
    int count;
    const int *which;  /* [count] the tensor that each input is */
    tg_tensor *inputs; /* [count] room */
} tg_check_call;

tg_tensor tg_check_apply(tg_tape *tape, const tg_tensor *inputs, int count, void *call);

/* ---- gradcheck_laws.c ---- */

bool tg_check_laws(tg_check *c);

/* ---- gradcheck_blame.c ---- */

/* Looks for the first wrong operation of a function that failed, and adds it to the verdict. */
void tg_check_blame(tg_check *c);

/* ---- gradcheck_verdict.c ---- */

/* Writes a failure that is about no number, with the sentence. Returns false. */
#if defined __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
bool tg_check_fail(tg_check *c, tg_gradcheck_result result, const char *format, ...);

/* Says where the verdict is about: its sample, input, index and order. */
void tg_check_where(const tg_check *c, tg_verdict *verdict);

/* The sentences for a comparison that failed and for a check that passed. */
void tg_check_explain_failure(const tg_check *c, tg_verdict *verdict);
void tg_check_explain_success(const char *name, tg_verdict *verdict);

#endif
