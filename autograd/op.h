/* What an operation is: one const struct. The built-in ones and a user's own are the same.
 *
 *     #define CUBE(real) { const real *x = l->in[0]; real *y = l->out; \
 *                          for (size_t i = 0; i < l->n; i++) y[i] = x[i] * x[i] * x[i]; }
 *     static void cube_loop(const tg_loop *l)                       // y = x^3 over a run of elements
 *     {
 *         if (l->dtype == TG_F32) CUBE(float) else CUBE(double)
 *     }
 *     static void cube_derivative(const tg_derive *d)               // dy = 3 x^2, made of operations
 *     {
 *         d->gradient[0] = tg_mul(d->cotangent, tg_mul_scalar(tg_square(d->in[0]), 3));
 *     }
 *     static const tg_sample cube_samples[] = {{.input = {{.shape = {1, {5}}}}}, ...};
 *     const tg_op tg_op_cube = {
 *         .name = "cube", .arity = 1, .flags = TG_ELEMENTWISE,
 *         .loop = cube_loop, .derivative = cube_derivative, TG_SAMPLES(cube_samples)};
 *
 *     tg_tensor y = tg_apply(&tg_op_cube, NULL, 1, &x);
 *
 * The core does the chores: broadcasting and its reduction in the backward pass, memory, gradients, error messages.
 * An operation's own code never allocates, prints, or touches a gradient. What the core passes to it is never NULL, and
 * the functions made for it (tg_axis_of, tg_field_number, ..., and tg_update_adamw for an optimiser) do not take NULL.
 */
#ifndef TG_OP_H
#define TG_OP_H

#include "autograd/tape.h"

TG_API_BEGIN

typedef struct tg_op tg_op;
typedef struct tg_value tg_value;

/* A value: a tensor in the program, with its operation, attributes, inputs, type and shape, but no numbers. Shape rules
 * and forward functions read it with these functions. */
const tg_op *tg_value_op(const tg_value *value); /* NULL: a leaf (a constant, a variable or a parameter) */
const void *tg_value_attributes(const tg_value *value);
int tg_value_input_count(const tg_value *value);
const tg_value *tg_value_input(const tg_value *value, int index); /* NULL if there is no such input */
tg_dtype tg_value_dtype(const tg_value *value);
const tg_shape *tg_value_shape(const tg_value *value);
int64_t tg_value_size(const tg_value *value); /* number of elements */

/* For shape rules: sets type and shape of the result. */
void tg_value_set(tg_value *out, tg_dtype dtype, tg_shape shape);

/* One computation of a value: where its numbers are read and written. A shape rule and a derivative see only the
 * value. */
typedef struct tg_call {
    const tg_value *value; /* operation, attributes, dtype and shape; shapes of the inputs */
    const void *const *in; /* the inputs' elements, value->input_count pointers */
    void *out;             /* the result's elements */
    void *saved;           /* where to write the saved derivative's elements; NULL: not needed */
} tg_call;

/* One contiguous run of an elementwise operation. The distance from one element of input k to the next is step[k]:
 * 1, or 0 for a single element that broadcasts. The output may be the same array as an input. A long run may be divided
 * among threads: element i of the output must depend on elements i of the inputs alone. */
typedef struct tg_loop {
    tg_dtype dtype;
    size_t n;
    const void *in[4];
    int step[4];
    void *out;
    void *saved; /* where to write the saved derivative, for an operation that has one; NULL: not needed */
    const void *attributes;
} tg_loop;

/* The argument of a derivative: for each input i with wanted[i] the derivative sets gradient[i] to (d out / d in[i])^T
 * cotangent, built from operations. What it records is reused by all steps that repeat this one, so it must not read
 * numbers: tg_at, tg_data and the like are errors of the tape there. The order in which the arguments of one call are
 * computed, and so recorded, is the compiler's choice: name what one of them computes first. gradient[i] has the shape
 * of the input or, for an elementwise operation, the shape of the output: the core sums over broadcast axes. If it is
 * not set, the gradient is zero. */
typedef struct tg_derive {
    tg_tensor out;
    tg_tensor cotangent; /* like out */
    tg_tensor saved;     /* the saved derivative, of operations that have one; inert if it was not computed */
    const tg_tensor *in;
    int count;
    const void *attributes;
    const bool *wanted;
    tg_tensor *gradient;
} tg_derive;

/* The argument of a joint derivative: all values that an operation computed with one tensor as its input number
 * `input`, and their cotangents. It returns the sum over them of (d out / d in)^T cotangent, of the shape of `in`. */
typedef struct tg_joint_use {
    tg_tensor out, cotangent; /* the cotangent is like out */
} tg_joint_use;

typedef struct tg_joint {
    tg_tensor in;
    int input;
    int count;          /* at least 1 */
    tg_joint_use *uses; /* in the order in which they were recorded; may be changed */
    tg_tensor *room;    /* for 2 count + 1 tensors */
} tg_joint;

/* Sample inputs, on which an operation is checked: derivatives of every order, and the value against a reference.
 * Elements are drawn uniformly from [low, high] (both 0: [-3, 3]), or as int32 from low .. high-1 where index is set.
 * `values`, if given, fill the input instead, in memory order, repeated as needed. Samples with infinities or NaN serve
 * the forward check only. */
typedef struct tg_sample_input {
    tg_shape shape;
    double low, high;
    bool index;
    bool fixed; /* not differentiated in checks (a mask, a running mean) */
    int value_count;
    const double *values;
} tg_sample_input;

enum { TG_SAMPLE_INPUTS = 6 };

typedef struct tg_sample {
    const void *attributes;
    int count; /* of inputs; 0 means the operation's arity */
    tg_sample_input input[TG_SAMPLE_INPUTS];
} tg_sample;

#define TG_SAMPLES(table) .samples = (table), .sample_count = (int)(sizeof(table) / sizeof((table)[0]))

/* All attributes: for listings and reference files, and to compare operations. The struct must have no padding between
 * them, so that equal attributes have equal bytes. Ends with a NULL name.
 *
 *     static const tg_field clamp_fields[] = {TG_FIELD(clamp_attributes, low, TG_FIELD_REAL),
 *                                             TG_FIELD(clamp_attributes, high, TG_FIELD_REAL), {0}};
 */
typedef enum tg_field_type {
    TG_FIELD_INT,     /* int, int64_t, or an enum */
    TG_FIELD_BOOL,    /* bool, or an integer that is 0 or 1 */
    TG_FIELD_REAL,    /* float or double */
    TG_FIELD_SHAPE,   /* tg_shape */
    TG_FIELD_POINTER, /* for padding; not listed */
} tg_field_type;

typedef struct tg_field {
    const char *name;
    tg_field_type type;
    size_t offset, size; /* in bytes */
} tg_field;

#define TG_FIELD(attributes, member, type) TG_FIELD_NAMED(#member, attributes, member, type)
#define TG_FIELD_NAMED(name, attributes, member, type)                              \
    {                                                                               \
        name, type, offsetof(attributes, member), sizeof(((attributes *)0)->member) \
    }

/* The number stored in a field. */
double tg_field_number(const tg_field *field, const void *attributes);

typedef enum tg_op_flags {
    TG_ELEMENTWISE = 1, /* `loop` over broadcast inputs; no shape rule needed */
    TG_VIEW = 2, /* the result is (part of) input 0's memory, from element number view_offset on; no forward needed */
    TG_CONSTANT = 4,  /* not differentiable by definition (argmax, comparisons): no derivative needed */
    TG_RANDOM = 8,    /* the value depends on a stream of random numbers; the attributes of a random source begin with a
                         pointer to the tg_rng from which it draws */
    TG_SOURCE = 16,   /* no inputs: recorded by tg_apply_on */
    TG_IN_PLACE = 32, /* element i of the inputs is read before element i of the result is written, and never again, so
                         the result may overwrite an input; one larger than its inputs begins where that begins */
} tg_op_flags;

enum { TG_VARIADIC = -1 };

struct tg_op {
    const char *name;
    int arity; /* number of inputs, or TG_VARIADIC */
    unsigned flags;
    size_t attributes_size;
    const tg_field *fields;

    /* Sets type and shape of the result with tg_value_set, from the inputs' shapes and the attributes; or refuses with
     * tg_expected. By default the type is that of input 0, and the shape that of a scalar. */
    bool (*shape)(tg_value *out);

    /* Computes call->out from call->in. If the data is invalid, an index out of range, say, it calls
     * tg_expected(call->value, ...) and returns; the result is discarded. */
    void (*forward)(const tg_call *call);
    void (*add)(const tg_call *call);  /* the same, added to what is in call->out, a gradient; NULL: the core adds */
    void (*loop)(const tg_loop *loop); /* instead of forward, where TG_ELEMENTWISE is set */
    int64_t (*view_offset)(const tg_value *out); /* with TG_VIEW; NULL means 0 */

    void (*derivative)(const tg_derive *d);

    /* For an operation that takes a part of a tensor, or uses a parameter again and again: the derivative of all these
     * uses at once, by the inputs whose bits are set in joint_inputs. A backward pass calls it when it reaches the
     * tensor, for all uses for which `joins` (NULL: always) is true, also if there is one: the order of sums must not
     * depend on what else was recorded. Operations with the same function are joined. */
    tg_tensor (*joint)(const tg_joint *joint);
    unsigned joint_inputs;
    bool (*joins)(const tg_value *out);

    /* Another operation with the same inputs and attributes, which the derivative uses and which is cheap to compute
     * together with the value: the derivative of an activation, the gradient of a loss. If a gradient is needed, it is
     * recorded right after this operation, whose forward fills `saved` too. Instead of forward it may be the loop, if
     * this operation is elementwise with one input and its saved one is elementwise. */
    const tg_op *saved;

    /* Floating-point operations of one forward computation, for listings; NULL: one per element of the result. */
    double (*work)(const tg_value *out);

    const tg_sample *samples;
    int sample_count;

    const tg_op *complete; /* itself: the library's, which a test checks, so that tg_apply need not check it */
};

/* NULL if the operation is complete, otherwise the missing part. tg_apply refuses an incomplete one. */
const char *tg_op_missing(const tg_op *op);

/* Lists the operations of a shared library, for `gradcheck --load ./my_ops.so` to check. Used once, at the end of one
 * of its files:
 *
 *     TG_USER_OPS(&tg_op_cube, &my_other_op)
 */
#define TG_USER_OPS(...)                                                                      \
    TG_API_BEGIN                                                                              \
    static const tg_op *const tg_user_ops_listed[] = {__VA_ARGS__, NULL};                     \
    extern const tg_user_ops tg_user_ops_exported;                                            \
    const tg_user_ops tg_user_ops_exported = {TG_VERSION, sizeof(tg_op), tg_user_ops_listed}; \
    TG_API_END

typedef struct tg_user_ops {
    const char *version;     /* TG_VERSION of the headers that the shared library was compiled with */
    size_t op_size;          /* the size of tg_op in these headers */
    const tg_op *const *ops; /* ended by NULL */
} tg_user_ops;

TG_API_END
#endif
