/* Multi-head self-attention as one operation: softmax(q k^T / sqrt(size)) v of each head (Vaswani and others, arXiv
 * 1706.03762).
 *
 * No tensor holds all scores. The scores of a head are computed for some queries at a time, used while they are in the
 * cache, and discarded; the backward pass recomputes them, which takes less time than reading them from memory would
 * (Dao and others, arXiv 2205.14135; here all keys of a query are taken together, so that its softmax is the plain
 * one).
 *
 *     x [..., positions, (heads + 2 key_value_heads) size]     queries of all heads | keys | values of the
 *                                                                key-value heads
 *     y [..., positions, heads size]                             all heads side by side
 *
 * A key-value head is shared by heads / key_value_heads consecutive heads.
 */
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "autograd/kernels/parallel.h"
#include "autograd/kernels/product.h"
#include "autograd/kernels/scratch.h"
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"

typedef struct self_attention_attributes {
    int64_t heads, key_value_heads, causal;
} self_attention_attributes;

static const tg_field self_attention_fields[] = {TG_FIELD(self_attention_attributes, heads, TG_FIELD_INT),
                                                 TG_FIELD(self_attention_attributes, key_value_heads, TG_FIELD_INT),
                                                 TG_FIELD(self_attention_attributes, causal, TG_FIELD_BOOL),
                                                 {0}};
#include "autograd/ops/samples/self_attention.h"

/* ---- shapes ---- */

enum { MOST_POSITIONS = TG_SCRATCH / (2 * (int)sizeof(double)) }; /* room for a query's scores and their gradient */

/* True if x can be queries, keys and values of all heads; otherwise the operation is refused. */
static bool fits(tg_value *out, const tg_shape *x)
{
    const self_attention_attributes *a = out->attributes;
    const int64_t columns = x->rank >= 2 ? x->dim[x->rank - 1] : 0;
    if (a->heads < 1 || a->key_value_heads < 1 || a->heads % a->key_value_heads != 0)
        return tg_expected(out, "%lld heads cannot share %lld keys and values", (long long)a->heads,
                           (long long)a->key_value_heads);
    if (columns == 0 || a->heads > columns || columns % (a->heads + 2 * a->key_value_heads) != 0)
        return tg_expected(out, "expected [..., positions, (%lld + 2 * %lld) size], size at least 1",
                           (long long)a->heads, (long long)a->key_value_heads);
    return x->dim[x->rank - 2] <= MOST_POSITIONS || tg_expected(out, "more than %d positions", (int)MOST_POSITIONS);
}

static int64_t size_of_head(const tg_shape *x, const self_attention_attributes *a)
{
    return x->dim[x->rank - 1] / (a->heads + 2 * a->key_value_heads);
}

static bool self_attention_shape(tg_value *out)
{
    if (!tg_shape_same_floating(out) || !fits(out, out->shape))
        return false;
    const self_attention_attributes *a = out->attributes;
    out->shape->dim[out->shape->rank - 1] = a->heads * size_of_head(out->shape, a);
    return true;
}

/* ---- one head, a block of queries at a time ---- */

/* Data shared by all heads. Distances are in elements. */
typedef struct attention {
    const tg_value *value;
    size_t element, positions, size, heads, shared; /* bytes of an element; as above */
    size_t from;                                    /* the first query that is computed */
    bool causal;
    double scale;
    size_t row, row_of_heads; /* from position to position in x, and in y */
    const char *x, *cotangent;
    char *y, *gradient;
    atomic_bool without_memory;
} attention;

typedef struct matrix {
    void *at; /* its first element; then the strides to the next row and column */
    size_t row, column;
} matrix;

static matrix transposed(matrix a)
{
    return (matrix){a.at, a.column, a.row};
}

/* The same from row `first` on. */
static matrix from_row(const attention *t, matrix a, size_t first)
{
    return (matrix){(char *)a.at + first * a.row * t->element, a.row, a.column};
}

/* out [m, n] = A [m, k] B [k, n], or out += that. */
static void multiply(const attention *t, size_t m, size_t n, size_t k, matrix a, matrix b, matrix out, bool more)
{
    const tg_product_part part = {.m = m,
                                  .n = n,
                                  .k = k,
                                  .a = a.at,
                                  .a_row = a.row,
                                  .a_step = a.column,
                                  .b = b.at,
                                  .b_step = b.row,
                                  .b_column = b.column,
                                  .out = out.at,
                                  .out_row = out.row,
                                  .start = more ? TG_START_OUT : TG_START_ZERO};
    tg_kernels.products[t->value->dtype]->multiply(&part, NULL);
}

/* A head's queries, keys and values in x, or their gradients. */
typedef struct head {
    matrix query, key, value;
} head;

static matrix columns_of(const attention *t, const void *of, size_t row, size_t batch, size_t column)
{
    return (matrix){(char *)of + (batch * t->positions * row + column * t->size) * t->element, row, 1};
}

/* A head's results, of the queries that are computed. */
static matrix results_of(const attention *t, size_t batch, size_t number)
{
    const size_t row = t->row_of_heads;
    return (matrix){t->y + (batch * (t->positions - t->from) * row + number * t->size) * t->element, row, 1};
}

static head head_in(const attention *t, const void *x, size_t batch, size_t number)
{
    const size_t key = t->heads + number / (t->heads / t->shared);
    return (head){columns_of(t, x, t->row, batch, number), columns_of(t, x, t->row, batch, key),
                  columns_of(t, x, t->row, batch, key + t->shared)};
}

/* The scores of some queries, first .. first + queries - 1, with the first `keys` keys, which are all that they see.
 * They are stored by keys, so that the terms of a query's softmax are not adjacent, and many queries are computed at
 * once. */
typedef struct block {
    size_t first, queries, keys;
    matrix weights, gradient; /* [keys, queries] each, in the thread's memory */
} block;

static size_t queries_together(const attention *t)
{
    const size_t fit = TG_SCRATCH / (2 * t->element * t->positions),
                 most = t->positions < TG_QUERIES ? t->positions : TG_QUERIES;
    return fit < most ? fit : most;
}

static block block_at(const attention *t, size_t first, size_t together, void *memory)
{
    const size_t left = t->positions - first, queries = left < together ? left : together,
                 keys = t->causal ? first + queries : t->positions;
    char *const gradient = (char *)memory + queries * keys * t->element;
    return (block){first, queries, keys, {memory, queries, 1}, {gradient, queries, 1}};
}

/* softmax(q k^T / sqrt(size)), transposed. */
static void compute_weights(const attention *t, const block *b, const head *of)
{
    multiply(t, b->keys, b->queries, t->size, of->key, transposed(from_row(t, of->query, b->first)), b->weights, false);
    TG_KERNEL_CALL(t->value->dtype, attention_weights, b->keys, b->queries, t->causal ? b->first : b->keys, t->scale,
                   b->weights.at);
}

static bool is_finite(const attention *t, size_t count, const void *x)
{
    double sum = 0;
    TG_KERNEL_CALL(t->value->dtype, sum_of_squares, count, x, &sum);
    return isfinite(sum);
}

/* True if all that the heads of a batch read is finite, which is quickly seen in one pass. */
static bool is_batch_finite(const attention *t, size_t batch)
{
    const size_t of_x = t->positions * t->row, of_y = t->positions * t->row_of_heads;
    return is_finite(t, of_x, t->x + batch * of_x * t->element) &&
           (!t->cotangent || is_finite(t, of_y, t->cotangent + batch * of_y * t->element));
}

/* Products of a causal block multiply what its queries do not see by 0, which is NaN for NaN and infinity. If one of
 * the rows first .. first + queries - 1 of these matrices has such an element, the block is computed a query at a time:
 * then only what is seen is read. The sums have the same order, so finite results have the same bits. */
static size_t queries_at_once(const attention *t, size_t first, size_t queries, int count, const matrix *of)
{
    for (int m = 0; m < count; m++)
        for (size_t i = 0; i < queries; i++)
            if (!is_finite(t, t->size, from_row(t, of[m], first + i).at))
                return 1;
    return queries;
}

static void attend(const attention *t, size_t batch, size_t number, bool finite, void *memory)
{
    const head of = head_in(t, t->x, batch, number);
    const matrix y = results_of(t, batch, number);
    const size_t together = queries_together(t);
    for (size_t first = t->from; first < t->positions; first += together) {
        const size_t end = first + together < t->positions ? first + together : t->positions,
                     step = finite ? end - first : queries_at_once(t, first, end - first, 1, &of.value);
        for (size_t i = first; i < end; i += step) {
            const block b = block_at(t, i, step, memory);
            compute_weights(t, &b, &of);
            multiply(t, b.queries, t->size, b.keys, transposed(b.weights), of.value, from_row(t, y, i - t->from),
                     false);
        }
    }
}

/* Of some queries: with weights P and cotangent G, the gradients are P^T G for V, G V^T for P,
 * S = P (G V^T - row sums of P G V^T) for the scores, S K for Q and S^T Q for K. */
static void differentiate_block(const attention *t, const block *b, const head *of, matrix cotangent, const head *d,
                                bool more)
{
    const matrix g = from_row(t, cotangent, b->first), query = from_row(t, of->query, b->first);
    compute_weights(t, b, of);
    multiply(t, b->keys, t->size, b->queries, b->weights, g, d->value, more);
    multiply(t, b->keys, b->queries, t->size, of->value, transposed(g), b->gradient, false);
    TG_KERNEL_CALL(t->value->dtype, attention_weights_grad, b->keys, b->queries, b->weights.at, t->scale,
                   b->gradient.at);
    multiply(t, b->queries, t->size, b->keys, transposed(b->gradient), of->key, from_row(t, d->query, b->first), false);
    multiply(t, b->keys, t->size, b->queries, b->gradient, query, d->key, more);
}

/* The last block sees all keys and writes; earlier blocks add. */
static void differentiate(const attention *t, size_t batch, size_t number, bool more, bool finite, void *memory)
{
    const head of = head_in(t, t->x, batch, number), d = head_in(t, t->gradient, batch, number);
    const matrix cotangent = columns_of(t, t->cotangent, t->row_of_heads, batch, number);
    const size_t together = queries_together(t);
    for (size_t left = (t->positions + together - 1) / together; left > 0; left--, more = true) {
        const size_t first = (left - 1) * together,
                     end = left * together < t->positions ? left * together : t->positions;
        const matrix read[] = {of.query, of.key, of.value, cotangent};
        const size_t step = finite ? end - first : queries_at_once(t, first, end - first, 4, read);
        for (size_t j = 0; step == 1 && !more && j < t->positions; j++) {
            memset(from_row(t, d.key, j).at, 0, t->size * t->element);
            memset(from_row(t, d.value, j).at, 0, t->size * t->element);
        }
        for (size_t i = first; i < end; i += step) {
            const block b = block_at(t, i, step, memory);
            differentiate_block(t, &b, &of, cotangent, &d, more || step == 1);
        }
    }
}

/* Shared heads number first, ... of all batches: a tg_parallel_part. Heads that share keys and values add to one
 * gradient. */
static void work_on_some(void *context, size_t first, size_t count)
{
    attention *t = context;
    void *memory = tg_scratch();
    if (!memory)
        t->without_memory = true;
    const size_t group = t->heads / t->shared;
    bool finite = !t->causal;
    for (size_t known = SIZE_MAX; memory && count > 0; count--, first++) {
        const size_t batch = first / t->shared;
        if (t->causal && batch != known)
            finite = is_batch_finite(t, batch);
        known = batch;
        for (size_t k = 0; k < group; k++) {
            const size_t number = first % t->shared * group + k;
            if (t->gradient)
                differentiate(t, batch, number, k > 0, finite, memory);
            else
                attend(t, batch, number, finite, memory);
        }
    }
}

static void work_on_all(const tg_call *call, const tg_value *x, attention t)
{
    enum { WORTH_SHARING = 1 << 18 }; /* multiplications for each thread */
    const self_attention_attributes *a = call->value->attributes;
    if (x->size == 0)
        return;
    t.value = call->value;
    t.element = tg_dtype_size(x->dtype);
    t.positions = (size_t)x->shape->dim[x->shape->rank - 2];
    t.heads = (size_t)a->heads;
    t.shared = (size_t)a->key_value_heads;
    t.size = (size_t)size_of_head(x->shape, a);
    t.causal = a->causal && t.from == 0; /* the last query sees all keys */
    t.scale = 1 / sqrt((double)t.size);
    t.row = (size_t)x->shape->dim[x->shape->rank - 1];
    t.row_of_heads = t.heads * t.size;
    const size_t batches = (size_t)x->size / (t.positions * t.row),
                 each = t.heads / t.shared * (t.positions - t.from) * t.positions * t.size * 2;
    tg_parallel(batches * t.shared, WORTH_SHARING / each + 1, 1, work_on_some, &t);
    if (t.without_memory)
        tg_expected(call->value, "no memory for the scores of some queries");
}

/* Floating-point operations of `products` products of scores. */
static double work_of(const tg_value *out, const tg_value *x, int products)
{
    const self_attention_attributes *a = out->attributes;
    const double positions = (double)x->shape->dim[x->shape->rank - 2],
                 seen = a->causal ? (positions + 1) / 2 : positions;
    return products * seen * 2 * (double)x->size * (double)a->heads / (double)(a->heads + 2 * a->key_value_heads);
}

/* ---- self_attention ---- */

static void self_attention_forward(const tg_call *call)
{
    work_on_all(call, call->value->inputs[0], (attention){.x = call->in[0], .y = call->out});
}

static void self_attention_derivative(const tg_derive *d)
{
    const self_attention_attributes *a = d->attributes;
    d->gradient[0] = tg_self_attention_grad(d->cotangent, d->in[0], a->heads, a->key_value_heads, a->causal);
}

static double self_attention_work(const tg_value *out)
{
    return work_of(out, out->inputs[0], 2);
}

TG_USUAL_OPERATION(self_attention, 1, TG_ATTRIBUTES(self_attention_attributes, self_attention_fields),
                   .work = self_attention_work);

tg_tensor tg_self_attention(tg_tensor x, int64_t heads, int64_t key_value_heads, bool causal)
{
    return TG_APPLY(&tg_op_self_attention, (&(self_attention_attributes){heads, key_value_heads, causal}), x);
}

/* ---- self_attention_last: of the last position only ---- */

static bool self_attention_last_shape(tg_value *out)
{
    if (!self_attention_shape(out))
        return false;
    int64_t *positions = &out->shape->dim[out->shape->rank - 2];
    if (*positions == 0)
        return tg_expected(out, "expected a position at least");
    *positions = 1;
    return true;
}

static void self_attention_last_forward(const tg_call *call)
{
    const tg_shape *x = call->value->inputs[0]->shape;
    work_on_all(call, call->value->inputs[0],
                (attention){.x = call->in[0], .y = call->out, .from = (size_t)x->dim[x->rank - 2] - 1});
}

/* The other positions of self_attention have the cotangent 0. */
static void self_attention_last_derivative(const tg_derive *d)
{
    const self_attention_attributes *a = d->attributes;
    tg_shape all = tg_shape_of(d->out), start = {.rank = all.rank}, step = {.rank = all.rank};
    for (int axis = 0; axis < all.rank; axis++)
        step.dim[axis] = 1;
    all.dim[all.rank - 2] = tg_dim(d->in[0], -2);
    start.dim[all.rank - 2] = all.dim[all.rank - 2] - 1;
    d->gradient[0] = tg_self_attention_grad(tg_scatter_slice(d->cotangent, start, step, all, 0), d->in[0], a->heads,
                                            a->key_value_heads, true);
}

static double self_attention_last_work(const tg_value *out)
{
    const int64_t positions = out->inputs[0]->shape->dim[out->inputs[0]->shape->rank - 2];
    return positions ? work_of(out, out->inputs[0], 2) / (double)positions : 0;
}

TG_USUAL_OPERATION(self_attention_last, 1, TG_ATTRIBUTES(self_attention_attributes, self_attention_fields),
                   .work = self_attention_last_work);

tg_tensor tg_self_attention_last(tg_tensor x, int64_t heads, int64_t key_value_heads)
{
    return TG_APPLY(&tg_op_self_attention_last, (&(self_attention_attributes){heads, key_value_heads, false}), x);
}

/* ---- self_attention_grad ---- */

static bool self_attention_grad_shape(tg_value *out)
{
    const tg_shape *cotangent = out->inputs[0]->shape, *x = out->inputs[1]->shape;
    tg_shape expected = *x;
    if (!tg_same_floating_type(out) || !fits(out, x))
        return false;
    const self_attention_attributes *a = out->attributes;
    expected.dim[x->rank - 1] = a->heads * size_of_head(x, a);
    *out->shape = *x;
    return tg_shape_equal(cotangent, &expected) || tg_expected(out, "expected a cotangent like the result");
}

static void self_attention_grad_forward(const tg_call *call)
{
    work_on_all(call, call->value->inputs[1],
                (attention){.cotangent = call->in[0], .x = call->in[1], .gradient = call->out});
}

/* x, or y, by heads: [heads, batch, positions, size], however many axes the batch had. */
static tg_tensor by_heads(tg_tensor x, int64_t heads)
{
    const tg_shape shape = tg_shape_of(x);
    const tg_blocks b = tg_blocks_of(&shape, shape.rank - 2, 1);
    return tg_split_heads(tg_reshape(x, TG_SHAPE(b.outer, b.n, b.inner)), heads);
}

/* Some of them, `each` to a shared head: [shared, each, batch, positions, size]. in_one_axis merges the first two axes
 * again. */
static tg_tensor some_heads(tg_tensor heads, int64_t first, int64_t shared, int64_t each)
{
    return tg_reshape(tg_narrow(heads, 0, first, shared * each),
                      TG_SHAPE(shared, each, tg_dim(heads, 1), tg_dim(heads, 2), tg_dim(heads, 3)));
}

static tg_tensor in_one_axis(tg_tensor x)
{
    return tg_reshape(x, TG_SHAPE(tg_dim(x, 0) * tg_dim(x, 1), tg_dim(x, 2), tg_dim(x, 3), tg_dim(x, 4)));
}

typedef struct projections {
    tg_tensor q, k, v;
} projections;

static projections projections_of(tg_tensor x, const self_attention_attributes *a)
{
    const tg_tensor heads = by_heads(x, a->heads + 2 * a->key_value_heads);
    return (projections){some_heads(heads, 0, a->key_value_heads, a->heads / a->key_value_heads),
                         some_heads(heads, a->heads, a->key_value_heads, 1),
                         some_heads(heads, a->heads + a->key_value_heads, a->key_value_heads, 1)};
}

static tg_tensor product(tg_tensor a, tg_tensor b)
{
    return tg_matmul_transposed(a, b, false, false);
}

static tg_tensor product_with_transposed(tg_tensor a, tg_tensor b)
{
    return tg_matmul_transposed(a, b, false, true);
}

/* For keys and values: their gradient is the sum over the heads that share them. */
static tg_tensor transposed_product(tg_tensor a, tg_tensor b)
{
    return tg_sum_over(tg_matmul_transposed(a, b, true, false), TG_AXES(1), true);
}

/* a b + c d, with one of these products. */
static tg_tensor two_products(tg_tensor multiplied(tg_tensor, tg_tensor), tg_tensor a, tg_tensor b, tg_tensor c,
                              tg_tensor d)
{
    const tg_tensor second = multiplied(c, d);
    return tg_add(multiplied(a, b), second);
}

/* With P, G, S as in `differentiate`, the operation gives Q: S K, K: S^T Q, V: P^T G. With cotangents c of these, S has
 * the cotangent Z = c_q K^T + Q c_k^T, and the contribution through P is W = Z (G V^T - sum) - sum(Z P) G V^T + G
 * c_v^T. */
static void self_attention_grad_derivative(const tg_derive *d)
{
    const self_attention_attributes *a = d->attributes;
    const tg_shape shape = tg_shape_of(d->in[1]);
    const double scale = 1 / sqrt((double)size_of_head(&shape, a));
    const projections x = projections_of(d->in[1], a), c = projections_of(d->cotangent, a);
    const tg_tensor g = some_heads(by_heads(d->in[0], a->heads), 0, a->key_value_heads, a->heads / a->key_value_heads);
    const tg_tensor scores = tg_mul_scalar(product_with_transposed(x.q, x.k), scale),
                    p = a->causal ? tg_causal_softmax(scores) : tg_softmax(scores, -1),
                    z = tg_mul_scalar(two_products(product_with_transposed, c.q, x.k, x.q, c.k), scale),
                    through_s = tg_softmax_grad(z, p);
    if (d->wanted[0])
        d->gradient[0] = tg_reshape(tg_merge_heads(in_one_axis(two_products(product, p, c.v, through_s, x.v))),
                                    tg_shape_of(d->in[0]));
    if (!d->wanted[1])
        return;
    const tg_tensor of_p = product_with_transposed(g, x.v), s = tg_mul_scalar(tg_softmax_grad(of_p, p), scale),
                    mean = tg_sum_over(tg_mul(of_p, p), TG_AXES(-1), true),
                    mean_of_z = tg_sum_over(tg_mul(z, p), TG_AXES(-1), true),
                    through_v = product_with_transposed(g, c.v), z_of_p = tg_mul(mean_of_z, of_p),
                    w = tg_add(tg_sub(tg_mul(z, tg_sub(of_p, mean)), z_of_p), through_v),
                    through_p = tg_mul_scalar(tg_softmax_grad(w, p), scale);
    const tg_tensor parts[] = {in_one_axis(two_products(product, s, c.k, through_p, x.k)),
                               in_one_axis(two_products(transposed_product, s, c.q, through_p, x.q)),
                               in_one_axis(transposed_product(through_s, g))};
    d->gradient[1] = tg_reshape(tg_merge_heads(tg_concat(parts, 3, 0)), shape);
}

static double self_attention_grad_work(const tg_value *out)
{
    return work_of(out, out->inputs[1], 5);
}

TG_USUAL_OPERATION(self_attention_grad, 2, TG_ATTRIBUTES(self_attention_attributes, self_attention_fields),
                   .work = self_attention_grad_work);

tg_tensor tg_self_attention_grad(tg_tensor cotangent, tg_tensor x, int64_t heads, int64_t key_value_heads, bool causal)
{
    return TG_APPLY(&tg_op_self_attention_grad, (&(self_attention_attributes){heads, key_value_heads, causal}),
                    cotangent, x);
}
