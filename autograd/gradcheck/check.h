/* The gradient checker's parts. Internal. The theory is in docs/gradcheck.md; the constants are here.
 *
 *     operation.c tensors.c black_box.c     the public calls: what is checked becomes a function with values and
 * products check.c                               the order of a check: the caller's point, invariants, other points
 *     compare.c                             every input, element by element or along directions
 *     judge.c slopes.c                      one comparison: the verdict, and the differences it rests on
 *     invariants.c forms.c                  what holds exactly; an operation in float, replayed, in other shapes
 *     explain.c report.c                    words
 *
 * All that is checked is one thing. Derivative number 0 is the function F; number k + 1 is the product of number k with
 * a cotangent, that is, the gradient of <cotangent k, derivative k>. To check order k + 1 is to compare derivative
 * number k + 1 with differences of number k.
 *
 * A failure ends the check from wherever it is found: tg_check_stop writes the result and jumps to the tg_check_try
 * around it. Memory and tapes belong to the check, so that tg_check_close frees them after a jump, too. */
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
 * changes together are at most 1 / (1 - 7/8) = 8 times the last. Rounding is measured as a standard deviation; 8 of
 * these are beyond chance. */
#define TG_SAFETY 8

/* 4. Three digits: a difference that knows less proves nothing. */
#define TG_COARSE 0x1p-10

/* 5. Rounding that the derivative itself may have, in units of that of the function's values and of its own terms: an
 * exponential multiplies the rounding of its argument by up to 2^10 (it ends at 709), times the safety. */
#define TG_TERMS 0x1p13

/* 6. The first step t: what one extrapolation leaves, t^4, equals the rounding e / t of the difference: t = e^(1/5),
 * 2^-10, 2^-4, 2^-1. Tables of extrapolations begin at 1/8 and end at 16 e. At kinks slopes are taken e^(3/8) away,
 * where they have changed by that part of their size, in steps of e^(9/16): their rounding, e^(7/16), is no more, and
 * few neighbours are so near to a tie that a step crosses it. */
static inline double tg_check_first_step(double epsilon)
{
    return exp2(ceil(log2(epsilon) / 5));
}

/* 7. Steps are relative to |x|, but to no less and no more than these: functions made of exponentials vary over
 * distances of 1, however large x is, and 0 has no size. What does not agree then is tried on the element's own
 * scale. */
#define TG_LEAST_SCALE 0x1p-4
#define TG_MOST_SCALE  0x1p3

/* 8. Rows of a table. Seven extrapolations of steps that halve are exact for polynomials of degree 16; more would only
 * combine rounding. */
enum { TG_ROWS = 8 };

/* ---- the check ---- */

typedef struct tg_check tg_check;

/* An input that is differentiated; its elements are the variables offset .. offset + size - 1. */
typedef struct tg_check_part {
    int input;
    int64_t offset, size;
    tg_shape shape;
    bool wrong;
} tg_check_part;

/* One of the derivatives, at the point. */
typedef struct tg_check_level {
    int64_t length;
    double *value, *cotangent;
    double *noise; /* rounding of each value: one unit, or measured */
    bool measured;
} tg_check_level;

/* A kind of function: of tensors, or a black box. */
typedef struct tg_check_kind {
    void (*measure)(tg_check *c);                                           /* sets level[0].length */
    void (*evaluate)(tg_check *c, int level, const double *x, double *out); /* derivative number `level` at x */
    void (*invariants)(tg_check *c);                                        /* those of this kind alone */
} tg_check_kind;

extern const tg_check_kind tg_check_of_tensors, tg_check_of_boxes;

struct tg_check {
    const char *name;
    const tg_gradcheck_input *inputs;
    int count;
    tg_gradcheck_options options;
    tg_gradcheck_result result, undecided;
    const tg_check_kind *kind;
    tg_rng rng;
    tg_arena arena;
    jmp_buf *stop;

    tg_gradcheck_type type;
    double epsilon, promise, least; /* rounding, relative; what is promised; the least number above 0 */
    double first, first_of_table;   /* steps */
    double near, far, near_step;    /* how far away neighbours are, and the steps there */
    double coarse;                  /* TG_COARSE, or the promise if that is larger */
    double terms;                   /* TG_TERMS, or fewer in a type where these would exceed the promise */
    bool elementwise;               /* value k depends on element k of each input alone */
    bool composed;                  /* a function of several operations */
    bool along;                     /* a large model: along directions, however small an input is */
    bool nothing;                   /* to compare: all inputs are empty */
    const double *low, *high;       /* [count] the range of each input for points of the checker's; NULL: anywhere */

    tg_check_part *parts;
    int part_count;
    int64_t variables;
    double *point, *caller;    /* where it is checked now, and what the caller gave */
    double *scale, *own_scale; /* of each variable: powers of two */
    double *moved, *ahead, *behind;
    bool *changed; /* the values that a direction has changed */
    tg_check_level level[TG_GRADCHECK_MAX_ORDER + 1];
    const char *at; /* " (with zeros put in)"; "" for the caller's point */

    /* of a function of tensors */
    tg_function function;
    void *user;
    tg_tape *tape, *other_tape;
    tg_tensor *tensors, *varied, *gradients, *below, *cotangents;
    tg_shape output_shape;
    bool as_constants;
    tg_parameter *before; /* parameters, as they are to be put back */

    /* of a black box */
    const tg_black_box *box;
    struct tg_check_room *room;
};

/* ---- check.c: the order of things ---- */

tg_gradcheck_options tg_check_options(const tg_gradcheck_options *options);
tg_gradcheck_result tg_check_no_result(int sample);

/* Runs a part that may stop; false if it did. */
bool tg_check_try(tg_check *c, void (*part)(tg_check *c, void *of), void *of);
#if defined __GNUC__
__attribute__((format(printf, 3, 4)))
#endif
_Noreturn void
tg_check_stop(tg_check *c, tg_gradcheck_status status, const char *format, ...);

/* Zeroed memory of the check, until tg_check_close. */
void *tg_check_take(tg_check *c, int64_t count, size_t size);
static inline double *tg_check_numbers(tg_check *c, int64_t count)
{
    return tg_check_take(c, count, sizeof(double));
}

/* Sets up parts, point and cotangents; without it nothing can be evaluated. */
void tg_check_open(tg_check *c);
void tg_check_close(tg_check *c);

/* Measures the noise of one derivative at c->point, unless that is done. */
void tg_check_measure_noise(tg_check *c, int level);

/* Evaluates the derivatives up to this number at c->point. */
void tg_check_at_point(tg_check *c, int last);

/* The whole check at the caller's point and at others; the result is in c->result. */
void tg_check_run(tg_check *c);

/* The same for a public function: fails with `misuse`, if any; explains, and closes. */
tg_gradcheck_result tg_check_answer(tg_check *c, const char *misuse);

static inline bool tg_check_is_varied(const tg_gradcheck_input *input)
{
    return !input->fixed && !input->integers;
}
static inline const tg_shape *tg_check_shape_of(const tg_gradcheck_input *input)
{
    return input->parameter ? &input->parameter->shape : &input->shape;
}
const double *tg_check_data_of(const tg_check *c, int input);
double tg_check_round(const tg_check *c, double x); /* to the type */
double tg_check_weight(tg_check *c);                /* random, 1/2 to 3/2 in size */
double tg_check_power_below(double x);              /* of two */

/* ---- slopes.c: what differences know ---- */

/* A direction: the variables from .. to - 1 move by t times these steps, in group g times ratio[g]. Values fall into
 * groups, value k into k % groups: one, or as many as an elementwise function has places, or one for each value. */
typedef struct tg_check_way {
    int level;
    const double *direction;
    int64_t groups, from, to;
    const double *ratio; /* [groups]; NULL: 1 */
} tg_check_way;

static inline double tg_check_step(const tg_check_way *way, double t, int64_t group)
{
    return way->ratio ? t * way->ratio[group] : t;
}

typedef struct tg_check_estimate {
    double value, error, rounding;
} tg_check_estimate;

/* What is known of <cotangent, values> of one group, by t. */
typedef struct tg_check_slope {
    double analytic, floor;      /* the derivative that is checked, and the rounding that it may have */
    tg_check_estimate now, best; /* by this table, and by all */
    double move;                 /* the sizes of the slopes on both sides, in the largest step so far */
    double bend;                 /* by how much the slopes of the two sides differ in the last step */
    double kink;                 /* the same in half the first step, if it is as large as in the first; else 0 */
    double values;               /* the sum of |cotangent value| */
    bool decided;
    double last, last_rounding; /* the difference over the smallest step */

    double row[TG_ROWS]; /* the last one of the table */
    int rows;
    double plain, plain_rounding, plain_move; /* in the last step */
    double largest;                           /* the step of `move` */
} tg_check_slope;

/* True if t moves a variable of the group by less than 16 of its own roundings. */
bool tg_check_is_too_small(const tg_check *c, const tg_check_way *way, double t, int64_t group);

/* The own scale of what moves, if it moves alone, per step of the direction. */
const double *tg_check_ratios(tg_check *c, const tg_check_way *way);

/* Adds a row, of step t, to the table of each group that is not decided. */
void tg_check_add_row(tg_check *c, const tg_check_way *way, double t, tg_check_slope *slopes);

/* Begins a table: what the last one knew is kept if it is the best. */
void tg_check_new_table(tg_check *c, const tg_check_way *way, tg_check_slope *slopes);

/* The slopes of each value at points around this one: the lowest and the highest. */
typedef struct tg_check_around {
    double *low, *high;         /* [length], near */
    double *far_low, *far_high; /* 2^8 times as far */
    bool *ends;                 /* the domain, for this value */
    int looks;
} tg_check_around;

void tg_check_look_around(tg_check *c, const tg_check_way *way, tg_check_around *a);

/* ---- judge.c ---- */

/* Compares along a direction; v[groups] get the results per unit of it. */
void tg_check_compare(tg_check *c, const tg_check_way *way, tg_gradcheck_result *v);

/* Differences of each value by variable i, all cotangents being one; found[k * stride] is what the derivative gives. */
void tg_check_column(tg_check *c, int level, double *direction, int64_t i, const double *found, int64_t stride,
                     double *expected);

/* ---- compare.c ---- */

/* Every input, up to this order. */
void tg_check_compare_all(tg_check *c, int orders);

/* ---- invariants.c: what every derivative has exactly, or to rounding ---- */

void tg_check_invariants(tg_check *c);
void tg_check_set_place(tg_check *c, int order, int64_t i, double analytic, double expected);
void tg_check_same(tg_check *c, int order, const double *found, tg_gradcheck_status status, const char *what);
void tg_check_close_to(tg_check *c, int64_t from, int64_t to, const double *found, tg_gradcheck_status status,
                       const char *when);
void tg_check_is_adjoint(tg_check *c, const double *u, const double *product, const char *of_what);

/* ---- an operation's calls (tensors.c), and its other forms (forms.c) ---- */

typedef struct tg_check_call {
    const tg_op *op;
    const void *attributes;
    int count;        /* of the operation's inputs */
    const int *which; /* the check's input that is the operation's input i */
    tg_tensor *room;  /* [count] */
} tg_check_call;

tg_check tg_check_of_call(tg_check_call *call, const tg_gradcheck_input *inputs, int count, int sample,
                          const tg_gradcheck_options *options, tg_rng rng);
tg_tensor tg_check_record(tg_check *c, const double *x);
void tg_check_put_back(tg_check *c); /* parameters */
void tg_check_forms(tg_check *c, const tg_op *op);

/* ---- report.c, explain.c: words ---- */

void tg_check_add_element(tg_text *text, const tg_check *c, int input, int64_t index);
void tg_check_add_index(tg_text *text, const tg_shape *shape, int64_t index);
const char *tg_check_factor(const tg_check *c, double factor, char *text, size_t size);
void tg_check_where(const tg_check *c, tg_gradcheck_result *v);
void tg_check_say_failure(tg_check *c, tg_gradcheck_result *v, const char *how);
void tg_check_say_inputs(tg_check *c, tg_text *text);
void tg_check_say_success(const char *name, double promise, tg_gradcheck_result *v);

/* Adds the result of a comparison, or of a part of the check, to the total. */
void tg_check_add(tg_gradcheck_result *total, tg_gradcheck_result *undecided, const tg_gradcheck_result *part);
void tg_check_end(tg_gradcheck_result *total, const tg_gradcheck_result *undecided);

/* Fills in the report of a failure. */
void tg_check_explain(tg_check *c);

#endif
