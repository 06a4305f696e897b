/* Sums and means over axes. */
#include "autograd/base/shape_internal.h"
#include "autograd/kernels/parallel.h"
#include "autograd/ops/category.h"
#include "autograd/ops/reduction.h"

#include <string.h>

#include "autograd/ops/samples/reduce.h"

/* ---- sum_over: any set of axes ---- */

tg_sum_plan tg_plan_sum(const tg_shape *in, int axes)
{
    tg_sum_plan p;
    p.kept.arrays = p.summed.arrays = 1;
    p.kept.rank = p.summed.rank = 0;
    p.run = 1;
    p.run_summed = false;
    int64_t stride = 1;
    for (int axis = in->rank - 1; axis >= 0; axis--) {
        const bool summed = axes >> axis & 1;
        if (in->dim[axis] != 1 && (stride == 1 || (stride == p.run && summed == p.run_summed))) {
            p.run *= in->dim[axis];
            p.run_summed = summed;
        } else
            tg_strided_add(summed ? &p.summed : &p.kept, in->dim[axis], &stride);
        stride *= in->dim[axis];
    }
    return p;
}

/* One output: the sum of all runs of the summed axes. Processors do not foresee where the next run begins, so its first
 * page is fetched meanwhile. */
static void sum_runs(tg_dtype dtype, const tg_sum_plan *p, const char *from, char *to)
{
    enum { PAGE = 4096, LINE = 64 };
    const int64_t element = (int64_t)tg_dtype_size(dtype), ahead = p->run * element < PAGE ? p->run * element : PAGE;
    double total = 0;
    tg_strided_place place = {0};
    for (bool more = true; more;) {
        const char *run = from + place.offset[0] * element;
        more = tg_strided_next(&p->summed, 0, &place);
        for (int64_t i = 0; more && i < ahead; i += LINE)
            __builtin_prefetch(from + place.offset[0] * element + i, 0, 2);
        TG_KERNEL_CALL(dtype, sum_run, (size_t)p->run, run, &total);
    }
    TG_KERNEL_CALL(dtype, from_double, 1, &total, to);
}

/* A block of outputs: the sums of columns that lie side by side. */
static void sum_blocks(tg_dtype dtype, const tg_sum_plan *p, const char *from, char *to)
{
    enum { WIDTH = 1024 };
    const int64_t element = (int64_t)tg_dtype_size(dtype);
    /* The innermost summed axis is left to the kernel: its rows lie a stride apart. */
    const bool several = p->summed.rank > 0;
    const int64_t rows = several ? p->summed.dim[0] : 1, stride = several ? p->summed.stride[0][0] : p->run;
    tg_strided_place place = {0};
    for (int64_t first = 0; first < p->run; first += WIDTH) {
        const int64_t width = p->run - first < WIDTH ? p->run - first : WIDTH;
        double total[WIDTH];
        memset(total, 0, (size_t)width * sizeof *total);
        do
            TG_KERNEL_CALL(dtype, sum_columns, (size_t)rows, (size_t)width, (size_t)stride,
                           from + (first + place.offset[0]) * element, total);
        while (tg_strided_next(&p->summed, 1, &place));
        TG_KERNEL_CALL(dtype, from_double, (size_t)width, total, to + first * element);
    }
}

enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */

/* Sums of some columns of a matrix, and of some rows: tg_parallel_parts. */
static void sum_some_columns(void *context, size_t first, size_t count)
{
    const tg_call *call = context;
    const tg_value *out = call->value, *in = out->inputs[0];
    TG_KERNEL_CALL(out->dtype, sum_matrix, (size_t)in->shape->dim[0], (size_t)in->shape->dim[1], first, count,
                   call->in[0], call->out);
}

static void sum_some_rows(void *context, size_t first, size_t count)
{
    const tg_call *call = context;
    const tg_value *out = call->value, *in = out->inputs[0];
    const size_t element = tg_dtype_size(out->dtype), columns = (size_t)(in->size / out->size);
    TG_KERNEL_CALL(out->dtype, sum_rows, count, columns, (const char *)call->in[0] + first * columns * element,
                   (char *)call->out + first * element);
}

typedef struct planned_sum {
    const tg_call *call;
    const tg_sum_plan *plan;
} planned_sum;

/* A tg_parallel_part: indices of the kept axes. */
static void sum_some_places(void *context, size_t first, size_t count)
{
    const planned_sum *s = context;
    const tg_sum_plan *p = s->plan;
    const tg_dtype dtype = s->call->value->dtype;
    const size_t element = tg_dtype_size(dtype), each = (p->run_summed ? 1 : (size_t)p->run) * element;
    tg_strided_place place = tg_strided_seek(&p->kept, 0, (int64_t)first);
    for (size_t i = first; i < first + count; i++) {
        const char *from = (const char *)s->call->in[0] + place.offset[0] * (int64_t)element;
        (p->run_summed ? sum_runs : sum_blocks)(dtype, p, from, (char *)s->call->out + i * each);
        tg_strided_next(&p->kept, 0, &place);
    }
}

static void sum_over_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const tg_value *in = out->inputs[0];
    if (in->size == 0) {
        memset(call->out, 0, (size_t)out->size * tg_dtype_size(out->dtype));
        return;
    }
    const int axes = ((const tg_reduce_attributes *)out->attributes)->axes;
    if (in->shape->rank == 2 && axes == 1) { /* the gradient of a bias: not worth a plan */
        tg_parallel((size_t)out->size, WORTH_SHARING / (size_t)in->shape->dim[0] + TG_LINE / 2, TG_LINE,
                    sum_some_columns, (void *)call);
        return;
    }
    const tg_sum_plan p = tg_plan_sum(in->shape, axes);
    if (p.run_summed && p.summed.rank == 0 && p.kept.rank <= 1) {
        tg_parallel((size_t)out->size, WORTH_SHARING / (size_t)p.run + 1, 1, sum_some_rows, (void *)call);
        return;
    }
    const int64_t places = out->size / (p.run_summed ? 1 : p.run);
    tg_parallel((size_t)places, (size_t)(WORTH_SHARING / (in->size / places) + 1), 1, sum_some_places,
                &(planned_sum){call, &p});
}

TG_GRADIENT(sum_over, tg_expand(tg_as_kept(d->cotangent, d->in[0], d->attributes), tg_shape_of(d->in[0])))

TG_OPERATION(sum_over, 1, 0, sum_over_samples, TG_REDUCE_ATTRIBUTES, .shape = tg_reduce_shape,
             .forward = sum_over_forward, .derivative = sum_over_derivative);

tg_tensor tg_sum_over(tg_tensor x, tg_axes axes, bool keep)
{
    return tg_reduce(&tg_op_sum_over, TG_ANY_AXES, x, axes, keep, 0);
}

tg_tensor tg_sum(tg_tensor x)
{
    return tg_sum_over(x, TG_ALL_AXES, false);
}

tg_tensor tg_sum_to(tg_tensor x, tg_shape shape)
{
    tg_shape from = tg_shape_of(x);
    char text[128];
    if (!tg_broadcasts_to(&shape, &from))
        return tg_refuse("sum_to", x, "%s does not broadcast to it", tg_shape_text(&shape, text, sizeof text));
    int extra = from.rank - shape.rank, axes = 0;
    for (int axis = 0; axis < from.rank; axis++)
        if (axis < extra || (shape.dim[axis - extra] == 1 && from.dim[axis] != 1))
            axes |= 1 << axis;
    if (extra == 0 && axes == 0)
        return x;
    tg_tensor sum = TG_APPLY(&tg_op_sum_over, (&(tg_reduce_attributes){.axes = axes, .keep = true}), x);
    return extra == 0 ? sum : tg_reshape(sum, shape);
}

tg_tensor tg_mean_over(tg_tensor x, tg_axes axes, bool keep)
{
    tg_tensor sum = tg_sum_over(x, axes, keep);
    return tg_mul_scalar(sum, (double)tg_size(sum) / (double)tg_size(x)); /* of an empty tensor 0 * infinity */
}

tg_tensor tg_mean(tg_tensor x)
{
    return tg_mean_over(x, TG_ALL_AXES, false);
}
