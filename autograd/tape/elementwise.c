/* Elementwise operations over inputs that broadcast: the core cuts the work into contiguous runs, within which every
 * input either advances element by element or stays at one element.
 *
 *     [4, 1, 3] with [5, 1]:  result [4, 5, 3]. Runs of 3; the first input advances, the second stays.
 */
#include "autograd/tape/elementwise.h"

#include "autograd/kernels/parallel.h"
#include "autograd/tape/strided.h"

/* What threads share: one long run, which may be split anywhere, or many along the innermost axis of the inputs. */
typedef struct runs {
    const tg_op *op;
    const tg_loop *first; /* the first run, or the only one */
    const tg_strided *s;  /* iterates over many */
} runs;

static void run_part(void *context, size_t first, size_t count)
{
    const runs *all = context;
    const size_t bytes = first * tg_dtype_size(all->first->dtype);
    tg_loop part = *all->first;
    part.n = count;
    part.out = (char *)part.out + bytes;
    for (int k = 0; k < all->op->arity; k++)
        part.in[k] = (const char *)part.in[k] + (part.step[k] ? bytes : 0);
    if (part.saved)
        part.saved = (char *)part.saved + bytes;
    all->op->loop(&part);
}

enum { WORTH_SHARING = 1 << 13 }; /* elements per thread */

static void run_long(const tg_op *op, const tg_loop *loop)
{
    if (loop->n >= 2 * WORTH_SHARING)
        tg_parallel(loop->n, WORTH_SHARING, TG_LINE, run_part, &(runs){.op = op, .first = loop});
    else
        op->loop(loop);
}

static void run_some(void *context, size_t first, size_t count)
{
    const runs *all = context;
    const int64_t element = (int64_t)tg_dtype_size(all->first->dtype);
    tg_loop loop = *all->first;
    tg_strided_place place = tg_strided_seek(all->s, 1, (int64_t)first);
    loop.out = (char *)loop.out + (int64_t)(first * loop.n) * element;
    for (; count > 0; count--) {
        for (int k = 0; k < all->s->arrays; k++)
            loop.in[k] = (const char *)all->first->in[k] + place.offset[k] * element;
        all->op->loop(&loop);
        loop.out = (char *)loop.out + (int64_t)loop.n * element;
        tg_strided_next(all->s, 1, &place);
    }
}

void tg_elementwise_forward(const tg_value *out, void *saved)
{
    if (out->size == 0)
        return;
    tg_loop loop = {.dtype = out->dtype,
                    .n = (size_t)out->size,
                    .out = out->slot.data,
                    .saved = saved,
                    .attributes = out->attributes};
    bool sizes_equal = true;
    for (int k = 0; k < out->input_count; k++) {
        loop.in[k] = out->inputs[k]->slot.data;
        loop.step[k] = 1;
        sizes_equal &= out->inputs[k]->size == out->size;
    }
    if (sizes_equal) { /* shapes of equal size that broadcast differ only by axes of size 1 */
        run_long(out->op, &loop);
        return;
    }

    int64_t stride[TG_STRIDED_ARRAYS][TG_MAX_RANK];
    for (int k = 0; k < out->input_count; k++)
        tg_broadcast_strides(out->inputs[k]->shape, out->shape->rank, stride[k]);
    const tg_strided s = tg_strided_over(out->shape, out->input_count, stride);
    loop.n = s.rank > 0 ? (size_t)s.dim[0] : 1;
    for (int k = 0; k < out->input_count; k++)
        loop.step[k] = s.rank > 0 && s.stride[k][0] != 0;
    if (s.rank < 2)
        run_long(out->op, &loop);
    else
        tg_parallel((size_t)out->size / loop.n, WORTH_SHARING / loop.n + 1, 1, run_some,
                    &(runs){.op = out->op, .first = &loop, .s = &s});
}
