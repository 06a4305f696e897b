/* One check of one function. Internal to the checker.
 *
 *     operation.c localise.c black_box.c      the public calls: what is checked is made a function
 *     driver.c                                compares every derivative, by elements or along directions
 *     function.c tensors.c black_box.c        evaluate the function and its derivatives, measure their rounding
 *     together.c                              elements that can be moved at once
 *     differences.c one_sided.c integral.c    the numbers to compare with
 *     compare.c                               compares and judges
 *     invariants.c forms.c                    what must hold exactly; float and other shapes
 *     report.c explain.c                      sentences
 *
 * A failure ends the check from wherever it is found: tg_check_stop writes the result and jumps to the tg_check_try
 * that runs this part of the check. So no function here returns an error, and memory is always there. What a jump
 * leaves behind (memory, tapes, a parameter's numbers) belongs to the check, and tg_check_close puts it in order.
 */
#ifndef TG_GRADCHECK_CHECK_H
#define TG_GRADCHECK_CHECK_H

#include "autograd/base/arena.h"
#include "autograd/gradcheck/report.h"
#include "autograd/rng.h"
#include "autograd/tape/run.h"

#include <math.h>
#include <setjmp.h>

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

/* A kind of function, of tensors or a black box: how to evaluate it, and its own invariants. */
typedef struct tg_check_kind {
    void (*measure)(tg_check *c); /* sets output_shape and the length of level 0 */
    /* Computes the derivatives up to number `level` at x whose output is not NULL. */
    void (*evaluate)(tg_check *c, int level, const double *x, double *const *out /* [level + 1] */);
    void (*invariants)(tg_check *c);
    void (*set_magnitudes)(tg_check *c); /* called after the first evaluation; NULL if that has set the magnitudes */
    void (*localise)(tg_check *c, void *result); /* adds the part of it that is wrong to a failure; or NULL */
} tg_check_kind;

extern const tg_check_kind tg_check_of_tensors;

struct tg_check {
    tg_check_report report; /* its inputs are the function's */
    const tg_check_kind *kind;
    tg_function function; /* of tensors */
    void *user;
    const tg_black_box *box; /* or a black box; `function` is then NULL */
    const tg_check_numbers *numbers;
    tg_gradcheck_options options; /* with the defaults filled in */
    tg_rng rng;
    jmp_buf *stop; /* where a failure jumps to */

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

    tg_tape *tape, *other_tape;
    struct tg_check_room *room; /* arrays of a black box */
    tg_arena arena;
    tg_arena steps;                                       /* memory of the current differences, or of a form */
    tg_tensor *tensors;                                   /* [count of inputs] */
    tg_tensor *varied, *results, *gradients, *cotangents; /* [part_count] */
    tg_parameter *before; /* [part_count] parameters whose gradients are replaced; otherwise NULL */
};

/* ---- one check (driver.c) ---- */

/* Replaces zero options by the defaults, and empties the buffer for the report. */
tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options);

/* Runs a check that is filled in up to `rng`; the result is in its report. Close the check afterwards. */
void tg_check_run(tg_check *c);

/* The whole answer to a user, for a check that is filled in up to the options; NULL if it is not misused. */
tg_gradcheck_result tg_check_answer(tg_check *c, const char *misuse);

/* One operation with its attributes as a function of its inputs; several inputs may be the same tensor. */
typedef struct tg_check_call {
    const tg_op *op;
    const void *attributes;
    int count;
    const int *which;  /* [count] the tensor that each input is */
    tg_tensor *inputs; /* [count] room */
} tg_check_call;

/* The check of a call on these inputs, with options that are filled in. */
tg_check tg_check_of_call(tg_check_call *call, const tg_gradcheck_input *inputs, int count, int sample,
                          const tg_gradcheck_options *options, tg_rng rng);

/* ---- failures and memory (function.c) ---- */

/* Runs a part of the check. False, with the result written, if it has stopped at a failure. */
bool tg_check_try(tg_check *c, void (*part)(tg_check *c, void *of), void *of);

/* Ends the part with this failure and its sentence. */
#if defined __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
_Noreturn void
tg_check_stop(tg_check *c, tg_gradcheck_status status, const char *format, ...);
_Noreturn void tg_check_out_of_memory(tg_check *c);

/* Memory for `count` elements of `size` bytes, zeroed, which lives as long as the arena keeps it. */
void *tg_check_take_from(tg_check *c, tg_arena *arena, int64_t count, size_t size);

/* The same for doubles that live until the check is closed; an array of each level's length. */
double *tg_check_take(tg_check *c, int64_t count);
void tg_check_take_values(tg_check *c, double *values[TG_GRADCHECK_MAX_ORDER + 1]);

/* ---- the function (function.c) ---- */

/* Evaluates every level at the point. Close the check even if this fails. */
void tg_check_open(tg_check *c);
void tg_check_close(tg_check *c);

/* The part that contains the variable of this number. */
const tg_check_part *tg_check_part_at(const tg_check *c, int64_t variable);

/* Restores the numbers of parameters to those at the point, and their gradients. */
void tg_check_put_back(tg_check *c);

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

/* A random number of the function's type, of either sign and not near zero. */
double tg_check_weight(tg_check *c);

/* x rounded to the function's type. */
double tg_check_round(const tg_check *c, double x);

/* Computes derivative number `level` of the function at x, or all of them. Results that are not finite are kept. */
void tg_check_evaluate(tg_check *c, int level, const double *x, double *out);
void tg_check_evaluate_all(tg_check *c, const double *x,
                           double *const *out /* [order + 1], each as long as its level */);

/* The measured rounding of <weights, derivative number `level`>, where the weights are 0 outside [from, to). */
double tg_check_noise(const tg_check *c, int level, const double *weights, int64_t from, int64_t to);

/* Records a function of tensors at x on the check's tape, which is emptied (tensors.c). */
tg_tensor tg_check_record(tg_check *c, const double *x);

/* ---- elements that move at once (together.c) ---- */

/* The variables of a part in sets: no value depends on two variables of one set. Each value then changes by one
 * variable only, and one evaluation serves for all of them (A. Curtis, M. Powell and J. Reid, IMA Journal of Applied
 * Mathematics 13, 1974).
 *
 * In the left factor of a matrix product, one element in each row may move at once; likewise in rows that are
 * normalised. The dependencies are measured by moving each variable alone to both sides, so this works for any
 * function; a failure must be confirmed by moving the variable alone. */
typedef struct tg_check_sets {
    int64_t count;
    const int64_t *set_of; /* [size of the part] the set of each variable */
    bool by_place;         /* one set, and value k depends on variable k alone (modulo the size of the part) */
    const bool *moves;     /* [size of the part, length]; NULL if by place, or if each variable moves alone */
} tg_check_sets;

/* Finds the sets for derivative number `level` by the variables of a part. */
tg_check_sets tg_check_find_sets(tg_check *c, int level, const tg_check_part *part);

/* Measures whether value number i of a level depends on variable number i of the part alone, as in an elementwise
 * function: moves half of the variables at a time, such that of any two variables one moves and the other does not. */
bool tg_check_by_place(tg_check *c, int level, const tg_check_part *part);

/* ---- differences (differences.c, one_sided.c, integral.c) ---- */

typedef struct tg_check_difference {
    double value;
    double error;             /* estimated; infinite if the difference does not converge */
    double rounding;          /* rounding of the values it is made of */
    double size;              /* sum of |cotangent_i d out_i| */
    double expected_rounding; /* the part of the derivative's rounding that the function's own rounding explains */
    double argument_rounding; /* effect of rounding the arguments: second derivative times that rounding */
    double length_scale;      /* part of the direction over which the function changes by about its own size */
    bool contradicts;         /* taken in far smaller steps, where it contradicts the usual difference */

    /* Over the values that change, each times its cotangent: the root of the sum of squares, and the sum of the
     * rounding errors. */
    double norm, rounding_sum;
} tg_check_difference;

/* One-sided derivatives, summed over the outputs: the lower of each output's two sides, and the higher. */
typedef struct tg_check_one_sided {
    double low, high;
    double error; /* of both */
    double size;
    bool jumps; /* true if the values on both sides differ for at least one output */
} tg_check_one_sided;

/* The mean derivative over a stretch around the point, and the function's change over it. */
typedef struct tg_check_integral {
    double mean;     /* of the derivative */
    double change;   /* change of the function divided by the length of the stretch */
    double error;    /* estimated error of the mean, or of one derivative relative to the others */
    double rounding; /* of the change */
} tg_check_integral;

/* Variables that move together along a direction, and all that is found out about their derivative. */
typedef struct tg_check_group {
    bool wanted;     /* true until its comparison is decided */
    double largest;  /* largest element of the direction */
    double smallest; /* steps need not begin below this times the direction */
    double first;    /* the first step of the current differences; 0: it does not move */

    /* The analytic derivative, the root of the sum of squares of its terms, and its measured rounding. */
    double analytic, size, rounding;
    /* The size of each lower level; of a single element of an elementwise function, its place alone counts. */
    double below[TG_GRADCHECK_MAX_ORDER];

    /* Set by tg_check_central; `in_larger_steps` is the difference there if in smaller steps no value changes at all,
     * or NaN. */
    double largest_change, in_larger_steps;
    tg_check_difference difference;
    tg_check_one_sided one_sided;
    tg_check_integral integral;

    double allowed; /* rounding allowed in the comparison with a difference */
    bool converged, noise;
    tg_gradcheck_result result;
} tg_check_group;

/* A direction: a step for each variable. The variables form one group, or several if each value depends on one group
 * only. Then all groups move at once, each by its own steps, and one evaluation gives the derivatives of all groups. */
typedef struct tg_check_way {
    int level; /* number of the derivative of which differences are taken */
    const double *direction;
    int64_t groups;
    tg_check_group *group; /* [groups] */
    /* The group of each variable, and of each value: -1 if it depends on none. NULL if there is one group. */
    const int64_t *of_variable, *of_value;
    long double unmoved; /* sum of tg_check_unmoved squared over the values in no group */
} tg_check_way;

/* The group of a value, or NULL. */
static inline tg_check_group *tg_check_owner(const tg_check_way *way, int64_t value)
{
    const int64_t g = way->of_value ? way->of_value[value] : 0;
    return g >= 0 ? &way->group[g] : NULL;
}

/* The first step along a direction whose largest element is this. */
double tg_check_first_step(double largest);

/* The size of a derivative by variable i that changes the function, or the derivative below, by its own size within
 * four first steps. Terms of a sum may be this large even if they cancel. */
double tg_check_typical_derivative(const tg_check *c, int order, int64_t i);

/* Derivative number `level` at the point, moved by `part` times each group's first step. */
void tg_check_evaluate_along(tg_check *c, int level, const tg_check_way *way, double part, double *out);

/* Sets for each wanted group the derivative of <cotangent, derivative number `level`> at the point along the direction,
 * by central differences. */
void tg_check_central(tg_check *c, const tg_check_way *way);

/* The same in far smaller steps, where that contradicts the usual difference. Call it after tg_check_central. */
void tg_check_small_steps(tg_check *c, const tg_check_way *way);

/* Evaluates the level a quarter of the direction ahead and behind, into [2, length]. Differences taken afterwards count
 * only the values that change. */
void tg_check_moves(tg_check *c, int level, const double *direction, double *ahead);

/* The share in the usual size of a value that the direction does not change: a change smaller than its rounding may be
 * hidden in it. */
double tg_check_unmoved(const tg_check_level *level, int64_t value);

/* Sets the one-sided derivatives of each wanted group. */
void tg_check_both_sides(tg_check *c, const tg_check_way *way);

/* The derivative of each value of the level, without cotangents: the mean of both sides. */
void tg_check_each_side(tg_check *c, const tg_check_way *way, double *values);

/* Sets the integral of each group that has a first step: over so much of the direction to each side. */
void tg_check_integrals(tg_check *c, const tg_check_way *way);

/* ---- comparisons (compare.c) ---- */

/* Compares along a direction that is 0 outside [from, to). Results are per unit of the direction. */
tg_gradcheck_result tg_check_compare(tg_check *c, int order, const double *direction, int64_t from, int64_t to);

/* Compares all elements of a set at once. v[i] is the result of element i, as if that had been moved alone by one
 * unit. */
void tg_check_compare_set(tg_check *c, int order, const tg_check_part *part, const tg_check_sets *sets, int64_t set,
                          tg_gradcheck_result *v /* [size of the part] */);

/* Divides all numbers of a result by `unit`. */
void tg_check_divide(tg_gradcheck_result *v, double unit);

/* ---- properties that every derivative has, exactly or to rounding (invariants.c, forms.c) ---- */

/* Checks all invariants of a function that is set up. */
void tg_check_invariants(tg_check *c);

/* Makes the result name derivative number `order` by variable i; -1 for no variable in particular. */
void tg_check_set_place(tg_check *c, int order, int64_t i, double analytic, double expected);

/* Compares `found` with the derivative of this order, bit by bit. */
void tg_check_same(tg_check *c, int order, const double *found, tg_gradcheck_status status, const char *what);

/* Compares <v, J u> with <J^T v, u>, where v is the cotangent. The caller gives J u and its source, for messages. */
void tg_check_is_adjoint(tg_check *c, const double *u, const double *product, const char *of_what);

/* Of an operation that has passed: compares value and gradient in float with those in double, on its inputs rounded to
 * float; and of an elementwise one, all inputs [n], with the same elements in other shapes, and broadcast if it
 * broadcasts. */
void tg_check_single(tg_check *c);
void tg_check_shapes(tg_check *c, bool broadcast);

/* ---- the long report (explain.c, localise.c) ---- */

/* Writes the report of a failed check into the buffer of the options, if any, under a heading; the result does not
 * change. */
void tg_check_explain(tg_check *c, const char *heading);

/* Adds to the result of a function of tensors the first recorded operation that is wrong by itself. */
void tg_check_localise(tg_check *c, void *result);

#endif
