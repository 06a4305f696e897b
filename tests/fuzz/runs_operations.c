/* Random sequences of operations with arguments that no sensible program would pass. Every operation of ops.def is
 * called, through a wrapper for its list of parameter types. Each call gives a result or an error of one line, and so
 * does the derivative. */
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>
#include <tapegrad.h>

enum { RESULTS = 24 };

typedef struct machine {
    const uint8_t *at, *end;
    tg_tape *tape;
    tg_rng rng;
    tg_tensor result[RESULTS];
    int count;
    bool inert; /* an operand of this call is inert: then the call reports no further error */
} machine;

static uint8_t take(machine *m)
{
    return m->at < m->end ? *m->at++ : 0;
}

/* Sizes are small, or so large that they must be refused; sizes between would only take time and memory. */
static int64_t take_size(machine *m)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 4, 5, 7, -1, -2, -3, INT32_MAX, INT64_MAX, INT64_MIN, (int64_t)1 << 62};
    return sizes[take(m) % (sizeof sizes / sizeof *sizes)];
}

static int take_int(machine *m)
{
    static const int numbers[] = {0, 1, 2, 3, 4, -1, -2, -3, 8, INT32_MAX, INT32_MIN};
    return numbers[take(m) % (sizeof numbers / sizeof *numbers)];
}

static double take_number(machine *m)
{
    static const double numbers[] = {0, 1, -1, 0.5, 2, 1e-300, 1e300, NAN, INFINITY, -INFINITY, -0.0, 3.7};
    return numbers[take(m) % (sizeof numbers / sizeof *numbers)];
}

static bool take_bool(machine *m)
{
    return take(m) & 1;
}

static tg_dtype take_dtype(machine *m)
{
    return (tg_dtype)(take(m) % 5);
}

static tg_shape take_shape(machine *m)
{
    static const int ranks[] = {0, 1, 2, 3, 4, 5, 8, 9, -1};
    tg_shape shape = {.rank = ranks[take(m) % (sizeof ranks / sizeof *ranks)]};
    for (int i = 0; i < shape.rank && i < TG_MAX_RANK; i++)
        shape.dim[i] = take_size(m);
    return shape;
}

static tg_axes take_axes(machine *m)
{
    tg_axes axes = {.count = take(m) % 10 - 1};
    for (int i = 0; i < axes.count && i < TG_MAX_RANK; i++)
        axes.axis[i] = take_int(m);
    return axes;
}

static tg_window take_window(machine *m)
{
    tg_window w;
    for (int i = 0; i < 2; i++) {
        w.stride[i] = take_int(m);
        w.padding[i] = take_int(m);
        w.dilation[i] = take_int(m);
    }
    w.groups = take_int(m);
    return w;
}

static tg_tensor take_tensor(machine *m)
{
    const int which = take(m) % (RESULTS + 1);
    const tg_tensor x = which < m->count ? m->result[which] : which == RESULTS ? TG_NONE : m->result[m->count - 1];
    m->inert |= !tg_ok(x);
    return x;
}

/* ---- a call for each list of types ---- */

#define T tg_tensor
#define X take_tensor(m)
/* Arguments are drawn in a fixed order, which C does not guarantee within a call: hence the names. */
#define TYPES(WAY)                                                                                                    \
    WAY(x, (T), T a = X, (a))                                                                                         \
    WAY(xx, (T, T), T a = X; T b = X, (a, b))                                                                         \
    WAY(xxx, (T, T, T), T a = X; T b = X; T c = X, (a, b, c))                                                         \
    WAY(xxxx, (T, T, T, T), T a = X; T b = X; T c = X; T d = X, (a, b, c, d))                                         \
    WAY(xd, (T, double), T a = X; double d = take_number(m), (a, d))                                                  \
    WAY(xdd, (T, double, double), T a = X; double d = take_number(m); double e = take_number(m), (a, d, e))           \
    WAY(xbd, (T, bool, double), T a = X; bool b = take_bool(m); double d = take_number(m), (a, b, d))                 \
    WAY(xi, (T, int), T a = X; int i = take_int(m), (a, i))                                                           \
    WAY(xib, (T, int, bool), T a = X; int i = take_int(m); bool b = take_bool(m), (a, i, b))                          \
    WAY(xiiw, (T, int, int, tg_window), T a = X; int i = take_int(m); int j = take_int(m);                            \
        tg_window w = take_window(m), (a, i, j, w))                                                                   \
    WAY(xill, (T, int, int64_t, int64_t), T a = X; int i = take_int(m); int64_t k = take_size(m);                     \
        int64_t l = take_size(m), (a, i, k, l))                                                                       \
    WAY(xilll, (T, int, int64_t, int64_t, int64_t), T a = X; int i = take_int(m); int64_t k = take_size(m);           \
        int64_t l = take_size(m); int64_t n = take_size(m), (a, i, k, l, n))                                          \
    WAY(xix, (T, int, T), T a = X; int i = take_int(m); T b = X, (a, i, b))                                           \
    WAY(xixl, (T, int, T, int64_t), T a = X; int i = take_int(m); T b = X; int64_t k = take_size(m), (a, i, b, k))    \
    WAY(xll, (T, int64_t, int64_t), T a = X; int64_t k = take_size(m); int64_t l = take_size(m), (a, k, l))           \
    WAY(xllb, (T, int64_t, int64_t, bool), T a = X; int64_t k = take_size(m); int64_t l = take_size(m);               \
        bool b = take_bool(m), (a, k, l, b))                                                                          \
    WAY(xllw, (T, int64_t, int64_t, tg_window), T a = X; int64_t k = take_size(m); int64_t l = take_size(m);          \
        tg_window w = take_window(m), (a, k, l, w))                                                                   \
    WAY(xlt, (T, int64_t, tg_dtype), T a = X; int64_t k = take_size(m); tg_dtype t = take_dtype(m), (a, k, t))        \
    WAY(xa, (T, tg_axes), T a = X; tg_axes axes = take_axes(m), (a, axes))                                            \
    WAY(xab, (T, tg_axes, bool), T a = X; tg_axes axes = take_axes(m); bool b = take_bool(m), (a, axes, b))           \
    WAY(xaib, (T, tg_axes, int, bool), T a = X; tg_axes axes = take_axes(m); int i = take_int(m);                     \
        bool b = take_bool(m), (a, axes, i, b))                                                                       \
    WAY(xtsdd, (T, tg_dtype, tg_shape, double, double), T a = X; tg_dtype t = take_dtype(m);                          \
        tg_shape s = take_shape(m); double d = take_number(m); double e = take_number(m), (a, t, s, d, e))            \
    WAY(xs, (T, tg_shape), T a = X; tg_shape s = take_shape(m), (a, s))                                               \
    WAY(xsssd, (T, tg_shape, tg_shape, tg_shape, double), T a = X; tg_shape s = take_shape(m);                        \
        tg_shape u = take_shape(m); tg_shape v = take_shape(m); double d = take_number(m), (a, s, u, v, d))           \
    WAY(xxbd, (T, T, bool, double), T a = X; T b = X; bool c = take_bool(m); double d = take_number(m), (a, b, c, d)) \
    WAY(xxd, (T, T, double), T a = X; T b = X; double d = take_number(m), (a, b, d))                                  \
    WAY(xxdi, (T, T, double, int), T a = X; T b = X; double d = take_number(m); int i = take_int(m), (a, b, d, i))    \
    WAY(xxi, (T, T, int), T a = X; T b = X; int i = take_int(m), (a, b, i))                                           \
    WAY(xxllb, (T, T, int64_t, int64_t, bool), T a = X; T b = X; int64_t k = take_size(m); int64_t l = take_size(m);  \
        bool c = take_bool(m), (a, b, k, l, c))                                                                       \
    WAY(xxllw, (T, T, int64_t, int64_t, tg_window), T a = X; T b = X; int64_t k = take_size(m);                       \
        int64_t l = take_size(m); tg_window w = take_window(m), (a, b, k, l, w))                                      \
    WAY(xxxd, (T, T, T, double), T a = X; T b = X; T c = X; double d = take_number(m), (a, b, c, d))                  \
    WAY(xxxl, (T, T, T, int64_t), T a = X; T b = X; T c = X; int64_t k = take_size(m), (a, b, c, k))                  \
    WAY(xxxw, (T, T, T, tg_window), T a = X; T b = X; T c = X; tg_window w = take_window(m), (a, b, c, w))            \
    WAY(list, (const T *, int, int), T list[3] = {X}; list[1] = X; list[2] = X; int n = 1 + take(m) % 3;              \
        int axis = take_int(m), (list, n, axis))                                                                      \
    WAY(full, (tg_tape *, tg_dtype, tg_shape, double), tg_dtype t = take_dtype(m); tg_shape s = take_shape(m);        \
        double d = take_number(m), (m->tape, t, s, d))                                                                \
    WAY(stream, (tg_tape *, tg_rng *), (void)0, (m->tape, &m->rng))

typedef void (*any_function)(void);
typedef tg_tensor (*way)(machine *m, any_function f);

#define WAY(name, types, taken, arguments)                     \
    static tg_tensor call_##name(machine *m, any_function any) \
    {                                                          \
        tg_tensor(*f) types = (tg_tensor(*) types)any;         \
        taken;                                                 \
        return f arguments;                                    \
    }
TYPES(WAY)
#undef WAY

/* An operation with another list of parameters does not compile until a line is added above. */
#define WAY(name, types, taken, arguments) , tg_tensor(*) types : call_##name
static const struct {
    const char *name;
    any_function function;
    way call;
} operations[] = {
#define TG_OP(function, op, parameters, formula) \
    {#function, (any_function)function, _Generic(&function, struct machine * : NULL TYPES(WAY))},
#include "autograd/ops.def"
};
#undef WAY

/* ---- a program ---- */

static void check(machine *m)
{
    const char *error = tg_tape_error(m->tape);
    fuzz_require(!error || fuzz_is_one_line(error), "an error of several lines");
    tg_tape_clear_error(m->tape);
}

static void begin(machine *m)
{
    static const double numbers[24] = {0.5, -1, 2, 0, 1e-8, 3, -0.25, 7, 1, 1, -2, 4, 0.1, 0.2, 0.3, -5, 6, 1, 0, 2, 9};
    static const float singles[6] = {1, -2, 0.5f, 0, 3, -1};
    static const int32_t indices[4] = {0, 1, 2, -1};
    const tg_tensor leaves[] = {tg_variable(m->tape, TG_F64, numbers, TG_SHAPE(2, 3)),
                                tg_variable(m->tape, TG_F64, numbers, TG_SHAPE(3)),
                                tg_variable(m->tape, TG_F64, numbers, TG_SHAPE(1, 2, 3, 4)),
                                tg_variable(m->tape, TG_F64, numbers, TG_SCALAR),
                                tg_variable(m->tape, TG_F64, NULL, TG_SHAPE(0, 3)),
                                tg_variable(m->tape, TG_F32, singles, TG_SHAPE(3, 2)),
                                tg_constant(m->tape, TG_I32, indices, TG_SHAPE(2)),
                                tg_constant(m->tape, TG_I32, indices, TG_SHAPE(4)),
                                tg_random_stream(m->tape, &m->rng)};
    m->count = (int)(sizeof leaves / sizeof *leaves);
    memcpy(m->result, leaves, sizeof leaves);
    check(m);
}

void fuzz_operations(const uint8_t *bytes, size_t size)
{
    const int known = (int)(sizeof operations / sizeof *operations);
    machine m = {.at = bytes, .end = bytes + size, .tape = tg_tape_new(), .rng = tg_rng_seed(1)};
    fuzz_require(m.tape != NULL, "out of memory");
    tg_set_threads(1);
    begin(&m);
    while (m.at < m.end && m.count < RESULTS) {
        const int which = take(&m) % known;
        m.inert = false;
        const tg_tensor y = operations[which].call(&m, operations[which].function);
        fuzz_require(tg_ok(y) || m.inert || tg_tape_error(m.tape), operations[which].name);
        check(&m);
        if (tg_ok(y) && tg_size(y) <= 256) /* the products of two of this size still take little time */
            m.result[m.count++] = y;
    }
    const tg_tensor last = m.result[m.count - 1], loss = tg_sum(last);
    tg_tensor first, second;
    check(&m);
    if (tg_ok(loss) && tg_grad(&loss, 1, &m.result[2], 1, NULL, true, &first)) {
        tg_grad(&first, 1, &m.result[2], 1, NULL, false, &second);
        check(&m);
        fuzz_require(tg_backward(loss) || tg_tape_error(m.tape), "backward fails without an error");
    }
    check(&m);
    tg_tape_free(m.tape);
}
