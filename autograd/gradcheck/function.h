/* The function under check: its variables, and its derivatives of every order at any point. Internal. */
#ifndef TG_GRADCHECK_FUNCTION_H
#define TG_GRADCHECK_FUNCTION_H

#include "autograd/arena.h"
#include "autograd/gradcheck/report.h"
#include "autograd/rng.h"
#include "autograd/run.h"

#include <math.h>

/* The floating type of a function. */
typedef struct tg_check_numbers {
    int digits;             /* bits of the significand */
    double epsilon;         /* rounding of one operation: 2^-digits */
    double least, largest;  /* normal numbers */
    double lost;            /* numbers below this may come from ones so small that bits were lost */
    double lost_in_scaling; /* the same for cotangents divided by the largest power */
    double safety;          /* the factor by which an error estimate may be too small */
    double rounding_safety; /* the same for measured rounding of an analytic derivative, of which the measurement does
                               not see what it has in common with its neighbours' */
    double noise_step;      /* over steps of this size a function is a parabola, to rounding */
    double stretch;         /* half of an integral's stretch, as a part of the first step */
    double sharp;           /* largest bound of a sharp comparison, as a part of the derivative's size */
    int power_divisor;      /* largest exponent of the powers of two that scale cotangents */
} tg_check_numbers;

extern const tg_check_numbers tg_check_numbers_of[]; /* by tg_gradcheck_type */

enum { TG_CHECK_WINDOWS = 5 };

/* A varied input, and the position of its elements among the variables. */
typedef struct tg_check_part {
    int input;
    tg_shape shape;
    int64_t offset, size;
} tg_check_part;

/* Derivative number k of the function, as a vector: 0 is the function itself, k + 1 the gradient of
 * <cotangent of k, derivative k> by all variables. */
typedef struct tg_check_level {
    int64_t length;
    double epsilon; /* how many numbers the function has */
    double *cotangent;
    double *value;                   /* at the point */
    double *noise[TG_CHECK_WINDOWS]; /* scaled third differences at tiny steps, which are nothing but rounding */
    double *value_rounding;          /* the rounding of each value, measured by these */
    double *relative_rounding;       /* the same relative to the value, or to its usual size */
    double rounding;                 /* of <cotangent, value> */
    double assumed_rounding;         /* extra rounding assumed on the second try; otherwise 0 */
    double size;                     /* root of the sum of squares of cotangent_i value_i */
} tg_check_level;

typedef struct tg_check tg_check;

/* A kind of function (of tensors, or a black box): how to evaluate it, and its own invariants. Each function returns
 * false, with the result written, on failure. */
typedef struct tg_check_kind {
    bool (*measure)(tg_check *c); /* sets output_shape and the length of level 0 */
    /* Computes the derivatives up to number `level` at x whose output is not NULL. */
    bool (*evaluate)(tg_check *c, int level, const double *x, double *const *out /* [level + 1] */);
    bool (*invariants)(tg_check *c);
    void (*set_magnitudes)(tg_check *c); /* called after the first evaluation; NULL if that has set the shapes */
} tg_check_kind;

struct tg_check {
    tg_check_report report; /* its inputs are the function's */
    const tg_check_kind *kind;
    tg_function function; /* of tensors */
    void *user;
    const tg_black_box *box; /* or a black box; `function` is then NULL */
    const tg_check_numbers *numbers;
    tg_gradcheck_options options; /* with the defaults filled in */
    tg_rng rng;

    /* The variables: all elements of all varied inputs in a row.
     *
     *     point      [ a a a | b b b b b b ]        parts[0] = {offset 0, size 3}, parts[1] = {offset 3, size 6}
     *     scale      the size of a step for each: a power of two near |x| or the input's root mean square
     *     own_scale  the same without the latter, where |x| is far smaller: 1e-12 beside 0.5 */
    tg_check_part *parts;
    int part_count;
    int64_t variables;
    double *point, *scale, *own_scale;
    double *moved, *ahead, *behind; /* a point in between, and the function on both sides of it */
    double *moves; /* 1 for each element of a level that changes along the direction of a difference, else 0 */
    tg_check_level level[TG_GRADCHECK_MAX_ORDER + 1];
    tg_magnitudes magnitudes[2]; /* of all that the point needs: forward and backward passes */
    tg_shape output_shape;
    bool outputs_finite;
    bool nothing_compared; /* true if all inputs are empty */
    bool elementwise;      /* element i of the result depends on elements i of inputs of the same shape only */
    int64_t places;        /* the number of these elements if all are compared at once, otherwise 0 */
    bool as_constants;     /* inputs are recorded as constants, but can still be differentiated by */

    tg_tape *tape;
    struct tg_check_room *room; /* arrays of a black box */
    tg_arena arena;
    tg_arena steps;                                       /* memory of the current differences */
    tg_tensor *tensors;                                   /* [count of inputs] */
    tg_tensor *varied, *results, *gradients, *cotangents; /* [part_count] */
};

/* Sets up a check and evaluates every level at the point; false, with the result written, on failure. Close it in
 * either case. */
bool tg_check_open(tg_check *c);
void tg_check_close(tg_check *c);

/* The part that contains the variable of this number. */
const tg_check_part *tg_check_part_at(const tg_check *c, int64_t variable);

/* Restores the values of parameters to those at the point. */
void tg_check_put_back(tg_check *c);

/* Memory for `count` elements of `size` bytes, zeroed, which lives as long as the arena keeps it; NULL, with the result
 * written, if out of memory. */
void *tg_check_take_from(tg_check *c, tg_arena *arena, int64_t count, size_t size);

/* The same for doubles that live until the check is closed. */
double *tg_check_take(tg_check *c, int64_t count);

/* Several arrays of numbers: if (!TG_CHECK_TAKE(c, &c->arena, length, &ahead, &behind)) return false; and one of each
 * level's length. */
#define TG_CHECK_TAKE(c, arena, count, ...) tg_check_take_each(c, arena, count, (double **const[]){__VA_ARGS__, NULL})
bool tg_check_take_each(tg_check *c, tg_arena *arena, int64_t count, double **const arrays[] /* ended by NULL */);
bool tg_check_take_values(tg_check *c, double *values[TG_GRADCHECK_MAX_ORDER + 1]);

/* Sums of squares are long double: in double the square of 1e-226 is 0 and that of 1e300 is infinite. */
static inline void tg_check_add_square(long double *sum, double x)
{
    *sum += (long double)x * x;
}

static inline double tg_check_root(long double sum)
{
    return (double)sqrtl(sum);
}

/* Converts a tolerance for double to the function's type: a third of double's digits becomes a third of its digits. */
static inline double tg_check_to(const tg_check *c, double tolerance)
{
    return c->numbers->digits == 53 ? tolerance : pow(tolerance, c->numbers->digits / 53.);
}

/* The next index, cyclically. */
static inline int64_t tg_check_next(int64_t group, int64_t groups)
{
    return group + 1 < groups ? group + 1 : 0;
}

/* A random number of the function's type, of either sign and not near zero. */
double tg_check_weight(tg_check *c);

/* x rounded to the function's type. */
double tg_check_round(const tg_check *c, double x);

/* Computes derivative number `level` of the function at x, or all of them. Results that are not finite are kept. */
bool tg_check_evaluate(tg_check *c, int level, const double *x, double *out);
bool tg_check_evaluate_all(tg_check *c, const double *x,
                           double *const *out /* [order + 1], each as long as its level */);

/* The measured rounding of <weights, derivative number `level`>, where the weights are 0 outside [from, to). */
double tg_check_noise(const tg_check *c, int level, const double *weights, int64_t from, int64_t to);

#endif
