/* Imitates machines with more processors: random operations and their derivatives on 2 to 33 threads give the same bits
 * as on one thread, and access no memory outside their operands and results.
 *
 *     record on a tape    x, y -> result -> gradients (-> gradients of those)
 *     for each value      its forward function on one thread, and on n threads in guarded memory
 *
 * In half the cases work is cut as finely as its unit allows, so that small operands meet many threads. The instruction
 * set is drawn among those that the processor runs.
 */
#include "autograd/tape/elementwise.h"
#include "autograd/kernels/kernels.h"
#include "autograd/tape/tape_internal.h"
#include "tests/support/cut_finely.h"
#include "tests/support/guarded_memory.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>
#include <unistd.h>

Suite *threads_suite(void);

/* ---- random choices ---- */

typedef struct drawing {
    tg_rng choices;
    tg_tape *tape;
    tg_dtype dtype;
    char what[64];
} drawing;

static int64_t below(drawing *d, int64_t bound)
{
    return (int64_t)tg_rng_below(&d->choices, (uint64_t)bound);
}

/* From 1 to `most`; half of them next to a multiple of 8, where vectors, tiles and cache lines end. */
static int64_t dim(drawing *d, int64_t most)
{
    const int64_t any = 1 + below(d, most), near = any / 8 * 8 + below(d, 3) - 1;
    return below(d, 2) || near < 1 || near > most ? any : near;
}

static tg_tensor variable(drawing *d, tg_shape shape)
{
    const int64_t size = tg_shape_size(&shape);
    float *f32 = malloc((size_t)(size + 1) * sizeof *f32);
    double *f64 = malloc((size_t)(size + 1) * sizeof *f64);
    for (int64_t i = 0; i < size; i++)
        f32[i] = (float)(f64[i] = (double)below(d, 1 << 20) / (1 << 18) - 2);
    tg_tensor x = tg_variable(d->tape, d->dtype, d->dtype == TG_F32 ? (void *)f32 : (void *)f64, shape);
    free(f32);
    free(f64);
    return x;
}

static tg_tensor indices(drawing *d, tg_shape shape, int64_t bound)
{
    const int64_t size = tg_shape_size(&shape);
    int32_t *numbers = malloc((size_t)(size + 1) * sizeof *numbers);
    for (int64_t i = 0; i < size; i++)
        numbers[i] = (int32_t)below(d, bound);
    tg_tensor x = tg_constant(d->tape, TG_I32, numbers, shape);
    free(numbers);
    return x;
}

/* A shape of 1 to 5 axes with at most about 100,000 elements. */
static tg_shape any_shape(drawing *d)
{
    static const int most[] = {100000, 400, 50, 20, 10};
    tg_shape shape = {.rank = 1 + (int)below(d, 5)};
    for (int axis = 0; axis < shape.rank; axis++)
        shape.dim[axis] = dim(d, most[shape.rank - 1]);
    return shape;
}

static tg_tensor product(drawing *d)
{
    const int64_t most = below(d, 4) ? 100 : 300, m = dim(d, most), n = dim(d, most), k = dim(d, most);
    const bool ta = below(d, 2), tb = below(d, 2);
    tg_tensor a = variable(d, ta ? TG_SHAPE(k, m) : TG_SHAPE(m, k)),
              b = variable(d, tb ? TG_SHAPE(n, k) : TG_SHAPE(k, n));
    return tg_matmul_transposed(a, b, ta, tb);
}

static tg_tensor batch_of_products(drawing *d)
{
    const int64_t b = dim(d, 20), c = dim(d, 5), m = dim(d, 40), n = dim(d, 40), k = dim(d, 40);
    tg_tensor x = variable(d, TG_SHAPE(b, c, m, k)),
              y = variable(d, below(d, 2) ? TG_SHAPE(b, c, k, n) : TG_SHAPE(c, k, n));
    return tg_matmul(x, y);
}

static tg_tensor linear_layer(drawing *d)
{
    const int64_t m = dim(d, 200), in = dim(d, 100), out = dim(d, 100);
    tg_tensor x = variable(d, TG_SHAPE(m, in)), w = variable(d, TG_SHAPE(out, in));
    return tg_linear(x, w, below(d, 2) ? variable(d, TG_SHAPE(out)) : TG_NONE);
}

static tg_tensor transpose(drawing *d)
{
    const int64_t most = below(d, 2) ? 60 : 400;
    return tg_transpose(variable(d, TG_SHAPE(dim(d, most), dim(d, most))), 0, 1);
}

static tg_tensor permute(drawing *d)
{
    tg_shape shape = any_shape(d);
    tg_axes order = {.count = shape.rank};
    for (int axis = 0; axis < shape.rank; axis++) {
        const int other = (int)below(d, axis + 1);
        order.axis[axis] = order.axis[other];
        order.axis[other] = axis;
    }
    return tg_permute(variable(d, shape), order);
}

static tg_axes some_axes(drawing *d, int rank)
{
    tg_axes axes = {0};
    for (int axis = 0; axis < rank; axis++)
        if (below(d, 2))
            axes.axis[axes.count++] = axis;
    return axes;
}

static tg_tensor sum(drawing *d)
{
    tg_tensor x = variable(d, any_shape(d));
    const tg_axes axes = some_axes(d, tg_rank(x));
    return below(d, 2) ? tg_sum_over(x, axes, false) : tg_mean_over(tg_square(x), axes, true);
}

static tg_tensor maximum(drawing *d)
{
    tg_tensor x = variable(d, any_shape(d));
    return tg_max_over(x, some_axes(d, tg_rank(x)), false);
}

static tg_tensor broadcast(drawing *d)
{
    tg_shape full = any_shape(d), one = full;
    for (int axis = 0; axis < one.rank; axis++)
        if (below(d, 2))
            one.dim[axis] = 1;
    return tg_mul(tg_gelu_exact(variable(d, full)), tg_tanh(variable(d, one)));
}

static tg_tensor of_rows(drawing *d)
{
    tg_tensor x = variable(d, any_shape(d));
    switch (below(d, 5)) {
    case 0:
        return tg_softmax(x, -1);
    case 1:
        return tg_log_softmax(x, (int)below(d, tg_rank(x)));
    case 2:
        return tg_logsumexp_over(x, TG_AXES(-1), false);
    case 3:
        return tg_cumsum(x, (int)below(d, tg_rank(x)), below(d, 2));
    default:
        return tg_normalize(x, below(d, 2), 1e-5);
    }
}

static tg_tensor attention(drawing *d)
{
    const int64_t shared = 1 + below(d, 3), heads = shared * (1 + below(d, 2)), size = dim(d, 24);
    tg_tensor x = variable(d, TG_SHAPE(dim(d, 6), dim(d, 70), (heads + 2 * shared) * size));
    return below(d, 4) ? tg_self_attention(x, heads, shared, below(d, 2))
                       : tg_causal_softmax(variable(d, TG_SHAPE(dim(d, 9), dim(d, 70), dim(d, 70))));
}

static tg_tensor convolution(drawing *d)
{
    const int64_t groups = 1 + below(d, 2), in = groups * dim(d, 6), out = groups * dim(d, 20),
                  kernel = 1 + below(d, 4);
    tg_tensor x = variable(d, TG_SHAPE(dim(d, 5), in, kernel + dim(d, 20), kernel + dim(d, 20)));
    tg_tensor w = variable(d, TG_SHAPE(out, in / groups, kernel, 1 + below(d, kernel)));
    const tg_window window = {
        .stride = {1 + (int)below(d, 2), 1}, .padding = {(int)below(d, 2), (int)below(d, 3)}, .groups = (int)groups};
    return tg_conv2d(x, w, below(d, 2) ? variable(d, TG_SHAPE(out)) : TG_NONE, window);
}

static tg_tensor pool(drawing *d)
{
    const int kernel = 1 + (int)below(d, 3);
    tg_tensor x = variable(d, TG_SHAPE(dim(d, 9), dim(d, 9), kernel + dim(d, 30), kernel + dim(d, 30)));
    return below(d, 2) ? tg_max_pool2d(x, kernel, kernel, (tg_window){0})
                       : tg_average_pool2d(x, kernel, kernel, (tg_window){.stride = {1, 2}});
}

static tg_tensor gated(drawing *d)
{
    const tg_shape shape = any_shape(d);
    tg_tensor a = variable(d, shape), b = variable(d, shape);
    return below(d, 2) ? tg_geglu(a, b) : tg_swiglu(a, b);
}

static tg_tensor loss(drawing *d)
{
    const int64_t rows = dim(d, 3000), columns = dim(d, 40);
    return tg_cross_entropy(variable(d, TG_SHAPE(rows, columns)), indices(d, TG_SHAPE(rows), columns));
}

static tg_tensor dropped(drawing *d)
{
    return tg_dropout(variable(d, any_shape(d)), indices(d, TG_SHAPE(4), 1 << 30), 0.3);
}

static tg_tensor indexed(drawing *d)
{
    const int64_t rows = dim(d, 300), columns = dim(d, 100);
    tg_tensor x = variable(d, TG_SHAPE(rows, columns));
    switch (below(d, 3)) {
    case 0:
        return tg_embedding(x, indices(d, TG_SHAPE(dim(d, 300)), rows));
    case 1:
        return tg_gather(x, 0, indices(d, TG_SHAPE(dim(d, 300), columns), rows));
    default:
        return tg_slice(x, 1, columns / 3, columns, 1 + below(d, 3));
    }
}

static const struct {
    const char *name;
    tg_tensor (*draw)(drawing *d);
} kinds[] = {
    {"product", product},
    {"batch of products", batch_of_products},
    {"linear", linear_layer},
    {"transpose", transpose},
    {"permute", permute},
    {"sum", sum},
    {"maximum", maximum},
    {"broadcast", broadcast},
    {"rows", of_rows},
    {"attention", attention},
    {"convolution", convolution},
    {"pool", pool},
    {"gated", gated},
    {"loss", loss},
    {"dropout", dropped},
    {"indexed", indexed},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* ---- computing each value twice ---- */

enum { MOST_INPUTS = 4, RESULT = MOST_INPUTS, SAVED, PLACES, ROOM = 1 << 25 };

static guarded_memory places[PLACES];
static char now[256]; /* the current computation, reported if the case ends in a signal */

static void say_what_touched(int signal_number)
{
    const ssize_t written = write(STDERR_FILENO, now, strlen(now));
    (void)written;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void compute(const tg_value *value, const void *const *in, void *out, void *saved)
{
    tg_value copy = *value, copies[MOST_INPUTS], *inputs[MOST_INPUTS];
    for (int k = 0; k < value->input_count; k++) {
        copies[k] = *value->inputs[k];
        copies[k].slot.data = (void *)(uintptr_t)in[k];
        inputs[k] = &copies[k];
    }
    copy.inputs = inputs;
    copy.slot.data = out;
    if (value->op->flags & TG_ELEMENTWISE)
        tg_elementwise_forward(&copy, saved);
    else
        value->op->forward(&(tg_call){.value = value, .in = in, .out = out, .saved = saved});
}

/* Computes on n threads between guard pages; `right` and `right_saved` are the results of one thread. */
static void compare(const tg_value *value, int threads, guarded_side side, const void *const *numbers,
                    const void *right, const void *right_saved)
{
    const void *in[MOST_INPUTS];
    const tg_value *saved_value = tg_saved_of(value);
    for (int k = 0; k < value->input_count; k++)
        in[k] = guarded_memory_put(&places[k], numbers[k], tg_bytes_of(value->inputs[k]), side);
    void *out = guarded_memory_put(&places[RESULT], NULL, tg_bytes_of(value), side);
    void *saved = right_saved ? guarded_memory_put(&places[SAVED], NULL, tg_bytes_of(saved_value), side) : NULL;
    tg_set_threads(threads);
    compute(value, in, out, saved);
    tg_set_threads(1);
    ck_assert_msg(memcmp(out, right, tg_bytes_of(value)) == 0, "%s: differs", now);
    ck_assert_msg(!saved || memcmp(saved, right_saved, tg_bytes_of(saved_value)) == 0, "%s: saved differs", now);
    ck_assert_msg(guarded_memory_intact(&places[RESULT]) && (!saved || guarded_memory_intact(&places[SAVED])),
                  "%s: written beside the result", now);
    for (int k = 0; k < value->input_count; k++)
        ck_assert_msg(memcmp(in[k], numbers[k], tg_bytes_of(value->inputs[k])) == 0, "%s: input %d changed", now, k);
}

static void compute_all(const tg_tape *tape, int threads, const char *what)
{
    const int64_t count = tape->program.count;
    void **data = calloc((size_t)count, sizeof *data); /* results of each value on one thread */
    bool *own = calloc((size_t)count, sizeof *own);
    for (int64_t i = 0; i < count; i++) {
        const tg_value *value = tg_program_at(&tape->program, i);
        if (!value->op || (value->op->flags & TG_SOURCE)) {
            data[i] = value->slot.data;
            continue;
        }
        if (value->is_saved) /* together with the value before it */
            continue;
        const void *in[MOST_INPUTS];
        ck_assert_int_le(value->input_count, MOST_INPUTS);
        for (int k = 0; k < value->input_count; k++)
            in[k] = data[value->inputs[k]->index];
        if (value->op->flags & TG_VIEW) {
            const int64_t offset = value->op->view_offset ? value->op->view_offset(value) : 0;
            data[i] = (char *)data[value->inputs[0]->index] + offset * (int64_t)tg_dtype_size(value->dtype);
            continue;
        }
        data[i] = malloc(tg_bytes_of(value) + 1);
        own[i] = true;
        void *saved = NULL;
        if (tg_saved_of(value)) {
            saved = data[i + 1] = malloc(tg_bytes_of(tg_saved_of(value)) + 1);
            own[i + 1] = true;
        }
        compute(value, in, data[i], saved);
        for (guarded_side side = GUARDED_BEHIND; side <= GUARDED_BEFORE; side++) {
            snprintf(now, sizeof now, "%s: %s, value %d, guarded %s\n", what, value->op->name, (int)i,
                     side == GUARDED_BEHIND ? "behind" : "before");
            compare(value, threads, side, in, data[i], saved);
        }
    }
    for (int64_t i = 0; i < count; i++)
        if (own[i])
            free(data[i]);
    free(data);
    free(own);
}

/* ---- a case ---- */

/* The result, its gradients and, in some cases, their gradients. */
static void record(drawing *d, int kind)
{
    tg_tensor result = kinds[kind].draw(d), inputs[8], gradients[8];
    int count = 0;
    for (int64_t i = 0; i < d->tape->program.count; i++) {
        tg_value *value = tg_program_at(&d->tape->program, i);
        if (tg_is_variable(value) && count < 8)
            inputs[count++] = tg_tensor_of(value);
    }
    const bool twice = below(d, 4) == 0;
    tg_tensor weights = variable(d, tg_shape_of(result));
    ck_assert_msg(tg_grad(&result, 1, inputs, count, &weights, twice, gradients), "%s: %s", d->what,
                  tg_tape_error(d->tape));
    if (!twice)
        return;
    tg_tensor penalty = tg_sum(tg_square(gradients[0]));
    for (int k = 1; k < count; k++)
        penalty = tg_add(penalty, tg_sum(tg_square(gradients[k])));
    ck_assert_msg(tg_grad(&penalty, 1, inputs, count, NULL, false, gradients), "%s: %s", d->what,
                  tg_tape_error(d->tape));
}

static const tg_kernel_set *any_instruction_set(drawing *d)
{
    const tg_kernel_set *sets[8];
    int count = 0;
    for (int i = 0; tg_kernel_set_at(i); i++)
        if (tg_kernel_set_runs(tg_kernel_set_at(i)))
            sets[count++] = tg_kernel_set_at(i);
    return sets[below(d, count)];
}

static void run_case(uint64_t seed)
{
    drawing d = {.choices = tg_rng_seed(seed), .tape = tg_tape_new()};
    const int kind = (int)below(&d, KINDS), n = many_threads[below(&d, MANY_THREADS)];
    d.dtype = below(&d, 2) ? TG_F64 : TG_F32;
    cut_finely = below(&d, 2);
    const tg_kernel_set *set = any_instruction_set(&d);
    ck_assert(tg_kernels_use(set->isa));
    snprintf(d.what, sizeof d.what, "case %llu, %s, %d threads, %s%s", (unsigned long long)seed, kinds[kind].name, n,
             set->isa, cut_finely ? ", finely" : "");
    record(&d, kind);
    compute_all(d.tape, n, d.what);
    tg_tape_free(d.tape);
}

static void open_places(void)
{
    for (int k = 0; k < PLACES; k++)
        guarded_memory_open(&places[k], ROOM);
    signal(SIGSEGV, say_what_touched);
#if defined SIGBUS
    signal(SIGBUS, say_what_touched);
#endif
    tg_set_threads(1);
}

static void close_places(void)
{
    for (int k = 0; k < PLACES; k++)
        guarded_memory_close(&places[k]);
}

/* TG_CASES and TG_SEED in the environment set the number of cases and the first one. */
static long from_environment(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}

START_TEST(any_number_of_threads_gives_the_bits_of_one_and_touches_nothing_else)
{
    const long cases = from_environment("TG_CASES", getenv("TG_LONG") ? 20000 : 160),
               first = from_environment("TG_SEED", 1);
    for (long i = 0; i < cases; i++)
        run_case((uint64_t)(first + i));
}
END_TEST

Suite *threads_suite(void)
{
    Suite *suite = suite_create("threads");
    TCase *tests = tcase_create("threads");
    tcase_add_checked_fixture(tests, open_places, close_places);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, any_number_of_threads_gives_the_bits_of_one_and_touches_nothing_else);
    suite_add_tcase(suite, tests);
    return suite;
}
