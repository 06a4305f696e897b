/* Elementwise operations over inputs that broadcast: the core cuts the work into contiguous runs, within which every
 * input either advances element by element or stands still.
 *
 *     [4, 1, 3] with [5, 1]:  result [4, 5, 3]. Runs of 3; the first input advances, the second stands still.
 */
#include "autograd/kernels/parallel.h"
#include "autograd/tape_internal.h"

/* The result's axes, innermost first, neighbours merged where all inputs allow; strides in elements. */
typedef struct walk {
    int rank;
    int64_t dim[TG_MAX_RANK];
    int64_t stride[4][TG_MAX_RANK];
} walk;

/* The stride of an input along an axis of the result, counted from the back: 0 where it broadcasts. */
static int64_t stride_of(const tg_shape *shape, int back)
{
    if (back >= shape->rank || shape->dim[shape->rank - 1 - back] == 1)
        return 0;
    int64_t stride = 1;
    for (int b = 0; b < back; b++)
        stride *= shape->dim[shape->rank - 1 - b];
    return stride;
}

static bool merges(const walk *w, const int64_t *stride, int inputs)
{
    int last = w->rank - 1;
    for (int k = 0; k < inputs; k++)
        if (stride[k] != w->stride[k][last] * w->dim[last])
            return false;
    return true;
}

static walk plan(const tg_value *out)
{
    walk w = {0};
    for (int back = 0; back < out->shape.rank; back++) {
        int64_t dim = out->shape.dim[out->shape.rank - 1 - back], stride[4];
        if (dim == 1)
            continue;
        for (int k = 0; k < out->input_count; k++)
            stride[k] = stride_of(&out->inputs[k]->shape, back);
        if (w.rank > 0 && merges(&w, stride, out->input_count)) {
            w.dim[w.rank - 1] *= dim;
            continue;
        }
        for (int k = 0; k < out->input_count; k++)
            w.stride[k][w.rank] = stride[k];
        w.dim[w.rank++] = dim;
    }
    return w;
}

static bool all_alike(const tg_value *out)
{
    for (int k = 0; k < out->input_count; k++)
        if (out->inputs[k]->size != out->size)
            return false;
    return true;
}

/* One contiguous run, which may be cut anywhere. */
typedef struct long_run {
    const tg_op *op;
    const tg_loop *whole;
} long_run;

static void run_part(void *context, size_t first, size_t count)
{
    const long_run *run = context;
    const size_t bytes = first * tg_dtype_size(run->whole->dtype);
    tg_loop part = *run->whole;
    part.n = count;
    part.out = (char *)part.out + bytes;
    for (int k = 0; k < run->op->arity; k++)
        part.in[k] = (const char *)part.in[k] + (part.step[k] ? bytes : 0);
    if (part.saved)
        part.saved = (char *)part.saved + bytes;
    run->op->loop(&part);
}

enum { WORTH_SHARING = 1 << 13 }; /* elements for each thread */

static void run_long(const tg_op *op, const tg_loop *loop)
{
    long_run run = {op, loop};
    if (loop->n >= 2 * WORTH_SHARING)
        tg_parallel(loop->n, WORTH_SHARING, TG_LINE, run_part, &run);
    else
        op->loop(loop);
}

/* Many runs. */
typedef struct many_runs {
    const tg_value *out;
    const walk *w;
    const tg_loop *each; /* the first one */
} many_runs;

static void run_some(void *context, size_t first, size_t count)
{
    const many_runs *all = context;
    const walk *w = all->w;
    const int inputs = all->out->input_count;
    const int64_t element = (int64_t)tg_dtype_size(all->out->dtype);
    tg_loop loop = *all->each;
    int64_t at[TG_MAX_RANK], offset[4] = {0}, rest = (int64_t)first;
    for (int axis = 1; axis < w->rank; axis++) {
        at[axis] = rest % w->dim[axis];
        rest /= w->dim[axis];
        for (int k = 0; k < inputs; k++)
            offset[k] += at[axis] * w->stride[k][axis];
    }
    char *result = (char *)loop.out + (int64_t)(first * loop.n) * element;
    for (; count > 0; count--) {
        for (int k = 0; k < inputs; k++)
            loop.in[k] = (const char *)all->each->in[k] + offset[k] * element;
        loop.out = result;
        all->out->op->loop(&loop);
        result += (int64_t)loop.n * element;
        for (int axis = 1; axis < w->rank; axis++) { /* count up, outer axes last */
            for (int k = 0; k < inputs; k++)
                offset[k] += w->stride[k][axis];
            if (++at[axis] < w->dim[axis])
                break;
            for (int k = 0; k < inputs; k++)
                offset[k] -= w->stride[k][axis] * w->dim[axis];
            at[axis] = 0;
        }
    }
}

void tg_elementwise_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    if (out->size == 0)
        return;
    tg_loop loop = {.dtype = out->dtype,
                    .n = (size_t)out->size,
                    .out = call->out,
                    .saved = call->saved,
                    .attributes = out->attributes};
    for (int k = 0; k < out->input_count; k++) {
        loop.in[k] = call->in[k];
        loop.step[k] = 1;
    }
    if (call->saved || all_alike(out)) { /* equal sizes that broadcast differ by axes of size 1 at most */
        run_long(out->op, &loop);
        return;
    }

    walk w = plan(out);
    loop.n = w.rank > 0 ? (size_t)w.dim[0] : 1;
    for (int k = 0; k < out->input_count; k++)
        loop.step[k] = w.rank > 0 && w.stride[k][0] != 0;
    many_runs all = {out, &w, &loop};
    if (w.rank < 2)
        run_long(out->op, &loop);
    else
        tg_parallel((size_t)out->size / loop.n, WORTH_SHARING / loop.n + 1, 1, run_some, &all);
}
