/* The gradient checker's parts. Internal. The theory is in docs/gradcheck.md; the constants are here. Each file calls
 * those above it only:
 *
 *     check.c                               memory, failures, places in words
 *     points.c                              evaluations, the caller's point, and others
 *     differences.c                         what differences know: tables, the slopes around
 *     rounding.c                            what is noise in values and derivatives
 *     judge.c                               the verdict on one comparison
 *     report.c                              sentences, and the report of a failure
 *     compare.c                             every input, element by element or along directions
 *     run.c                                 the order of a check; what every derivative has exactly
 *     boxes.c tensors.c operation.c         the public calls: what is checked becomes a function with products
 *
 * All that is checked is one thing. Derivative number 0 is the function F; number k + 1 is the product of number k with
 * a cotangent, that is, the gradient of <cotangent k, derivative k>. To check order k + 1 is to compare derivative
 * number k + 1 with differences of number k.
 *
 * A failure ends the check from wherever it is found: tg_check_stop writes the result and jumps to the tg_check_try
 * around it. Memory and tapes belong to the check, so that they are freed after a jump, too. */
#ifndef TG_GRADCHECK_CHECK_H
#define TG_GRADCHECK_CHECK_H

#include "autograd/gradcheck.h"
#include "autograd/base/arena.h"
#include "autograd/base/text.h"

#include <math.h>
#include <setjmp.h>

/* ---- constants: all there are ---- */

/* 1. The promise: an error of more than this part of the derivative is caught. Rounding e (2^-53, 2^-24, 2^-8) and the
 * first step below leave 8 e^(4/5): 1e-12, 1e-5, 0.1 of what x contributes to the function. The promise leaves a factor
 * of 10^6 in double and 100 in float for derivatives that are that much smaller, and none in bfloat16. */
#define TG_PROMISE_F64  1e-6
#define TG_PROMISE_F32  1e-3
#define TG_PROMISE_BF16 0.25

/* 2. The part of the promise within which a derivative agrees with a difference; the rest is for rounding. A power of
 * two below 1/2, so that an error of the promised size cannot agree. */
#define TG_TOLERANCE 0.125

/* 3. If each halving of the step leaves at most 7/8 of an error, as for one of t^0.2 or any smoother one, all later
 * changes together are at most 1 / (1 - 7/8) = 8 times the last: what shrinks by less does not converge. Rounding is
 * measured as a standard deviation; 8 of these are no rounding. So the smallest step is 8 places of the number, and
 * the first one of a table 1/8. */
#define TG_SAFETY 8

/* 4. Three digits: a difference that knows less proves nothing. */
#define TG_COARSE 0x1p-10

/* 5. Rounding that the derivative itself may have, in units of that of the function's values and of its own terms: an
 * exponential multiplies the rounding of its argument by up to 2^10 (it ends at 709), times the safety. */
#define TG_TERMS 0x1p13

/* 6. The first step t: what one extrapolation leaves, t^4, equals the rounding e / t of the difference: t = e^(1/5),
 * 2^-10, 2^-4, 2^-1. Around a kink slopes are taken at t^2, where they have changed by that part of their size, in
 * steps of t^3, whose rounding e / t^3 = t^2 is no more; and at t, to see how they change. */
#define TG_FIRST_STEP(epsilon) exp2(ceil(log2(epsilon) / 5))

/* 7. Steps are relative to |x|, but to no less and no more than these: functions made of exponentials vary over
 * distances of 1, however large x is, and 0 has no size. What does not agree then is tried on the element's own
 * scale. */
#define TG_LEAST_SCALE 0x1p-4
#define TG_MOST_SCALE  0x1p3

/* 8. Rows of a table. Seven extrapolations of steps that halve are exact for polynomials of degree 16; more would only
 * combine rounding. As often we look around a kink. */
enum { TG_ROWS = 8 };

/* ---- the check ---- */

typedef struct tg_check tg_check;

/* An input that is differentiated, or an output; its elements are the variables, or the values, offset .. offset + size
 * - 1. */
typedef struct tg_check_part {
    int input; /* or output: its number */
    int64_t offset, size;
    tg_shape shape;
    bool wrong;
} tg_check_part;

/* One of the derivatives, at the point. */
typedef struct tg_check_level {
    int64_t length;
    double *value, *cotangent;
    double *noise;        /* rounding of each value: one unit, or measured */
    double *rounding;     /* of this, what changes with the direction in which operations round */
    bool measured, jumps; /* the noise; it is that of jumps */
} tg_check_level;

/* A kind of function: of tensors, or a black box. */
typedef struct tg_check_kind {
    void (*open)(tg_check *c);                                              /* sets outputs: tg_check_set_outputs */
    void (*evaluate)(tg_check *c, int level, const double *x, double *out); /* derivative number `level` at x */
    void (*invariants)(tg_check *c);                                        /* those of this kind alone */
    void (*close)(tg_check *c);                                             /* NULL: nothing to do */
    bool rounds; /* as the processor is told to; a tape keeps numbers from one evaluation to the next */
} tg_check_kind;

struct tg_check {
    const char *name;
    const tg_gradcheck_input *inputs;
    int count;
    tg_gradcheck_options options;
    tg_gradcheck_result result, undecided;
    const tg_check_kind *kind;
    void *source; /* of the kind: what is evaluated */
    tg_check_part *outputs;
    int output_count;
    tg_rng rng;
    tg_arena arena;
    jmp_buf *stop;

    tg_gradcheck_type type;
    double epsilon, promise, least; /* rounding, relative; what is promised; the least number above 0 */
    double first, near, near_step;  /* the first step t, t^2, t^3 */
    double coarse;                  /* TG_COARSE, or the promise if that is larger */
    double terms;                   /* TG_TERMS, or fewer in a type where these would exceed the promise */
    bool elementwise;               /* value k depends on element k of each input alone */
    bool composed;                  /* a function of several operations */
    bool brief;                     /* only what one direction shows at the caller's point */
    bool along;                     /* a large model: along directions, however small an input is */
    bool nothing;                   /* to compare: all inputs are empty */
    bool over;                      /* no more evaluations: what is computed from now on is NaN */
    bool opened;                    /* the given point is evaluated */
    const char *stage;              /* what is left out if it is over now */
    const double *low, *high;       /* [count] the range of each input for points of the checker's; NULL: anywhere */

    tg_check_part *parts;
    int part_count;
    int64_t variables;
    double *point, *caller;                   /* where it is checked now, and what the caller gave */
    double *scale, *own_scale;                /* of each variable: powers of two */
    double *moved, *ahead, *behind, *further; /* any other point, and values there */
    double *direction;                        /* [variables] that is compared along */
    double *promised;                         /* [values] how far each may be off */
    const double *value_rtol, *value_atol;    /* of each output; NULL: the option for all */
    double *projected, **projected_inputs;    /* [count]: NULL without a projection */
    double *hidden; /* [variables] the error of each that comparisons may not have shown; INFINITY: not looked at */
    bool *changed;  /* the values that a line has changed */
    tg_check_level level[TG_GRADCHECK_MAX_ORDER + 1];
    const char *at; /* " (with zeros put in)"; "" for the caller's point */
};

/* The variables from .. to - 1 move by t times ratio times the direction. Values start, start + stride, ... may change:
 * all, or those of one place of an elementwise function. */
typedef struct tg_check_line {
    int level;
    const double *direction;
    int64_t from, to, start, stride;
    double ratio;
    const double *tangent; /* the direction that a projection leaves; NULL without one */
} tg_check_line;

/* ---- check.c ---- */

tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options);
tg_gradcheck_result tg_check_no_result(int sample);

/* Runs a part that may stop; false if it did. */
bool tg_check_try(tg_check *c, void (*part)(tg_check *c, void *of), void *of);
TG_FORMAT(printf, 3, 4)
_Noreturn void tg_check_stop(tg_check *c, tg_gradcheck_status status, const char *format, ...);

/* Stops because of an element of all variables; -1: of none. */
TG_FORMAT(printf, 7, 8)
_Noreturn void tg_check_stop_at(tg_check *c, int order, int64_t i, double found, double expected,
                                tg_gradcheck_status status, const char *format, ...);

/* Zeroed memory of the check, until it is closed. */
void *tg_check_take(tg_check *c, int64_t count, size_t size);
static inline double *tg_check_numbers(tg_check *c, int64_t count)
{
    return tg_check_take(c, count, sizeof(double));
}

static inline tg_check_part *tg_check_part_of(const tg_check *c, int64_t variable)
{
    tg_check_part *part = c->parts + c->part_count - 1;
    while (variable < part->offset)
        part--;
    return part;
}
static inline bool tg_check_is_varied(const tg_gradcheck_input *input)
{
    return !input->fixed && !input->integers;
}
static inline const tg_shape *tg_check_shape_of(const tg_gradcheck_input *input)
{
    return input->parameter ? &input->parameter->shape : &input->shape;
}
static inline tg_dtype tg_check_dtype(const tg_check *c) /* bfloat16 is stored in float */
{
    return c->type == TG_GRADCHECK_F64 ? TG_F64 : TG_F32;
}
/* The caller's numbers of an input that has no integers. */
static inline double *tg_check_data_of(const tg_gradcheck_input *input)
{
    return input->parameter ? input->parameter->data : (double *)input->data;
}
double tg_check_round(const tg_check *c, double x); /* to the type */
double tg_check_weight(tg_check *c);                /* random, 1/2 to 3/2 in size */

/* Words: "b at [1, 2]", "b" with index -1; " at [1, 2]"; and v->where. */
void tg_check_add_element(tg_text *text, const tg_check *c, int input, int64_t index);
void tg_check_add_index(tg_text *text, const tg_shape *shape, int64_t index);
void tg_check_where(const tg_check *c, tg_gradcheck_result *v);

/* ---- points.c ---- */

/* Derivative number `level` at x, or NaN outside of the bounds, or when the check is over. False if the function failed,
 * which is only counted. */
bool tg_check_evaluate(tg_check *c, int level, const double *x, double *out);

bool tg_check_is_within(const tg_check *c, const double *x);           /* all bounds */
double *tg_check_find_tangent(tg_check *c, const tg_check_line *line); /* what a projection leaves of a direction */

/* Sets up parts, point and cotangents; without it nothing can be evaluated. */
void tg_check_open(tg_check *c);
void tg_check_set_outputs(tg_check *c, const tg_shape *shapes, int count);

/* Evaluates the derivatives up to this number at c->point. */
void tg_check_at_point(tg_check *c, int last);

/* Makes c->point the checker's own point of this number, and names it; NULL after the last. */
const char *tg_check_next_point(tg_check *c, int number);

/* ---- differences.c ---- */

typedef struct tg_check_estimate {
    double value, error, rounding;
} tg_check_estimate;

/* What is known of <cotangent, values> by t. */
typedef struct tg_check_slope {
    double analytic, floor;      /* the derivative that is checked, and the rounding that it may have */
    double values, promised;     /* the sum of |cotangent value|, and of what their promised accuracy leaves open */
    double largest;              /* derivative by an element, times the element's own scale */
    double length;               /* the sum of the direction's sizes */
    double own;                  /* scale of the variables: the largest, per step */
    double lost;                 /* what rounding hides of a slope in any step */
    double shaking;              /* the largest noise of a derivative by an element, times the element's own scale */
    tg_check_estimate now, best; /* by this table, and by all */
    double step, best_step;      /* the smallest of this table, and of the best one */
    bool settled;                /* no more rows are needed */
    double row[TG_ROWS];         /* the last one of the table */
    int rows;
    tg_check_estimate plain; /* the difference over the last step; its error is by how much the two sides differ */
    tg_check_estimate last;  /* the same over the smallest step */
    double bend;             /* by how much the two sides differ, with the signs of the values' shares */
    double changing, noise;  /* the same of the values that have changed, and of their rounding */
    double sizes;            /* of the slopes on both sides, in the last step */
    double move, longest;    /* the same in the longest step so far within the variables' own scale */
    double kink;             /* by how much the sides differ in half the first step, if as much as in the first; or 0 */
} tg_check_slope;

/* The derivative `level` at a point, moved by t along the line; false if that is outside of the bounds. */
bool tg_check_evaluate_at(tg_check *c, const tg_check_line *line, const double *from, double t, double *out);

/* True if t moves a variable by less than TG_SAFETY of its own places. */
bool tg_check_is_too_small(const tg_check *c, const tg_check_line *line, double t);

/* Adds a row, of step t, to the table. */
void tg_check_add_row(tg_check *c, const tg_check_line *line, double t, tg_check_slope *s);

/* Begins a table: what the last one knew is kept if it is the best. */
void tg_check_new_table(tg_check_slope *s);

/* The slopes at points around. */
typedef struct tg_check_around {
    double *lowest, *highest, *far; /* [length] of each value: near, and the largest further away */
    double low, high, rounding;     /* of <cotangent, values>, near */
    double near_size, far_size;     /* sums of the slopes' sizes */
    double values;                  /* of the values' */
    bool ends;                      /* the domain; or the slopes are taken in steps beyond x = 0 */
    int looks;
} tg_check_around;

/* Adds a look to what is known. */
void tg_check_look_around(tg_check *c, const tg_check_line *line, tg_check_around *a);

/* ---- rounding.c ---- */

/* Measures the noise of one derivative at c->point, unless that is done. */
void tg_check_measure_noise(tg_check *c, int level);

/* How far the derivative along the line may be off for noise alone. */
double tg_check_noise_along(tg_check *c, const tg_check_line *line);

/* True if values have jumps along the line, of up to 1/64 of their size, as those of an iteration that stops at
 * a tolerance: these are noise from then on. */
bool tg_check_find_jump(tg_check *c, const tg_check_line *line);

/* ---- judge.c ---- */

/* Compares along a line: the result per unit of it. */
tg_gradcheck_result tg_check_compare(tg_check *c, tg_check_line *line);

/* ---- report.c ---- */

void tg_check_say_failure(const tg_check *c, tg_gradcheck_result *v, const char *how);
void tg_check_say_success(const char *name, double promise, tg_gradcheck_result *v);
void tg_check_say_limits(const tg_check *c, tg_gradcheck_result *v); /* what was not looked at */
void tg_check_explain(tg_check *c);                                  /* fills in the report of a failure */

/* ---- compare.c ---- */

/* Every input, up to this order. */
void tg_check_compare_all(tg_check *c, int orders);

/* Adds the result of a comparison, or of a part of the check, to the total. */
void tg_check_add(tg_check *c, const tg_gradcheck_result *part);
void tg_check_end(tg_check *c);

/* ---- run.c ---- */

/* The whole check at the caller's point and at others; the result is in c->result, and the check stays open. */
void tg_check_run(tg_check *c);
void tg_check_close(tg_check *c);

/* The same for a public function: fails with `misuse`, if any; explains, and closes. */
tg_gradcheck_result tg_check_answer(tg_check *c, const char *misuse);

/* Stops unless these are elements from .. to - 1 of the result (order 0) or the gradient, up to rounding. */
void tg_check_close_to(tg_check *c, int order, int64_t from, int64_t to, const double *found,
                       tg_gradcheck_status status, const char *when);

/* Stops unless <J^T v, u> is <v, product>. */
void tg_check_is_adjoint(tg_check *c, const double *u, const double *product, const char *of_what);

/* ---- tensors.c ---- */

/* The source of a check of tensors. */
typedef struct tg_check_tensors {
    tg_function function;
    void *user;
    tg_tape *tape, *other; /* of the check, and of another way */
    bool as_constants;     /* inputs are put so, which can still be differentiated by */
    tg_tensor *in, *varied, *gradients, *below, *cotangents;
    tg_parameter *before; /* parameters, as they are to be put back */
} tg_check_tensors;

extern const tg_check_kind tg_check_of_tensors;

#endif
