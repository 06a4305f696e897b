/* Scaled dot-product attention, causal softmax, split_heads and merge_heads. */
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/ops/rows.h"

#include <math.h>
#include <string.h>

#include "autograd/ops/samples/attention.h"

/* ---- causal_softmax: row i is the softmax of its first i + 1 elements, and 0 after ---- */

static bool causal_softmax_shape(tg_value *out)
{
    return tg_shape_same_floating(out) &&
           (out->shape->rank >= 2 || tg_expected(out, "expected matrices in the last two axes"));
}

static void causal_softmax_of_rows(const tg_value *out, const tg_rows *r)
{
    const size_t bytes = r->columns * tg_dtype_size(out->dtype), rows = (size_t)out->shape->dim[out->shape->rank - 2];
    const char *from = r->in[0];
    char *to = r->out;
    for (size_t k = 0; k < r->count; k++, from += bytes, to += bytes) {
        const size_t row = (r->first + k) % rows, seen = row < r->columns ? row + 1 : r->columns;
        const size_t seen_bytes = seen * tg_dtype_size(out->dtype);
        TG_KERNEL_CALL(out->dtype, softmax_rows, 1, seen, from, to);
        memset(to + seen_bytes, 0, bytes - seen_bytes);
    }
}

static void causal_softmax_forward(const tg_call *call)
{
    tg_over_rows(call, causal_softmax_of_rows);
}

/* Masked elements have the probability 0, so the rule is that of softmax. */
TG_GRADIENT(causal_softmax, tg_softmax_grad(d->cotangent, d->out))

TG_USUAL_OPERATION(causal_softmax, 1);

/* ---- attention ---- */

tg_tensor tg_scaled_dot_product_attention(tg_tensor query, tg_tensor key, tg_tensor value, tg_tensor mask, bool causal)
{
    const int64_t size = tg_dim(query, -1);
    if (tg_ok(query) && (tg_rank(query) < 2 || size == 0))
        return tg_refuse("scaled_dot_product_attention", query,
                         "expected a query [..., positions, size], size at least 1");
    tg_tensor scores = tg_matmul_transposed(tg_mul_scalar(query, 1 / sqrt((double)size)), key, false, true);
    if (mask.value) {
        tg_tensor never = tg_scalar_like(scores, -INFINITY);
        scores = tg_where(mask, scores, never);
    }
    return tg_matmul(causal ? tg_causal_softmax(scores) : tg_softmax(scores, -1), value);
}

/* ---- heads ---- */

tg_tensor tg_split_heads(tg_tensor x, int64_t heads)
{
    tg_shape shape = tg_shape_of(x);
    const int last = shape.rank - 1;
    if (last < 1 || shape.rank == TG_MAX_RANK || heads < 1 || shape.dim[last] % heads != 0)
        return tg_refuse("split_heads", x, "expected [..., positions, %lld size], at most %d axes", (long long)heads,
                         TG_MAX_RANK - 1);
    tg_axes heads_first = {.count = shape.rank + 1, .axis = {last}};
    for (int axis = 0; axis < last; axis++)
        heads_first.axis[axis + 1] = axis;
    heads_first.axis[last + 1] = last + 1;
    shape.dim[shape.rank++] = shape.dim[last] / heads;
    shape.dim[last] = heads;
    return tg_permute(tg_reshape(x, shape), heads_first);
}

tg_tensor tg_merge_heads(tg_tensor x)
{
    const tg_shape shape = tg_shape_of(x);
    const int last = shape.rank - 1;
    if (shape.rank < 3)
        return tg_refuse("merge_heads", x, "expected [heads, ..., positions, size]");
    tg_axes heads_last = {.count = shape.rank};
    tg_shape merged = {.rank = last};
    for (int axis = 0; axis < last - 1; axis++) {
        heads_last.axis[axis] = axis + 1;
        merged.dim[axis] = shape.dim[axis + 1];
    }
    heads_last.axis[last - 1] = 0;
    heads_last.axis[last] = last;
    merged.dim[last - 1] = shape.dim[0] * shape.dim[last];
    return tg_reshape(tg_permute(x, heads_last), merged);
}
