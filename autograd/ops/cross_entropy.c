/* Cross-entropy between logits and labels: the mean over rows of -log softmax(row)[label].
 *
 *     logits [..., classes], labels i32 [...]
 *
 * With smoothing e the target of a row is e / classes everywhere and 1 - e more at its label (Szegedy et al., 2016). Rows
 * whose label is ignore_index count for nothing, in the number of rows neither. Of no rows at all the mean is NaN and
 * the gradient empty or zero.
 */
#include "autograd/ops.h"
#include "autograd/ops/family.h"

typedef struct label_attributes {
    double smoothing;
    int ignore_index;
} label_attributes;

static const tg_field label_fields[] = {
    {"smoothing", TG_FIELD_REAL, offsetof(label_attributes, smoothing)},
    {"ignore_index", TG_FIELD_INT, offsetof(label_attributes, ignore_index)},
    {0}};

/* ---- what the operations share ---- */

/* Whether logits and labels go together. */
static bool labels_fit(tg_value *out, const tg_value *logits, const tg_value *labels)
{
    const label_attributes *a = out->attributes;
    tg_shape rows = logits->shape;
    if (logits->dtype == TG_I32 || labels->dtype != TG_I32)
        return tg_expected(out, "expected logits of f32 or f64 and labels of i32");
    if (rows.rank-- == 0 || !tg_shape_equal(&rows, &labels->shape))
        return tg_expected(out, "expected logits [..., classes] and labels [...]");
    return (a->smoothing >= 0 && a->smoothing <= 1) ||
           tg_expected(out, "expected smoothing from 0 to 1, not %g", a->smoothing);
}

static int64_t classes_of(const tg_value *logits)
{
    return logits->shape.dim[logits->shape.rank - 1];
}

/* The number of labels that are not ignored; -1, with the error recorded, if one is no class. */
static int64_t count_labels(const tg_value *out, const tg_value *labels, int64_t classes)
{
    const int ignored = ((const label_attributes *)out->attributes)->ignore_index;
    const int32_t *label = labels->data;
    int64_t count = 0;
    for (int64_t row = 0; row < labels->size; row++) {
        if (label[row] == ignored)
            continue;
        if (label[row] < 0 || label[row] >= classes) {
            tg_expected(out, "label %ld in row %lld is none of the %lld classes, which count from 0",
                        (long)label[row], (long long)row, (long long)classes);
            return -1;
        }
        count++;
    }
    return count;
}

/* Rows are worked on in blocks of so many, for which there is room on the stack. */
enum { BLOCK = 128 };

/* Copies the labels of a block; those to be ignored come out negative, as the kernels want it. Returns the block's length. */
static size_t take_block(const tg_value *labels, int64_t first, int ignored, int32_t block[BLOCK])
{
    const int32_t *label = (const int32_t *)labels->data + first;
    const int64_t left = labels->size - first;
    const size_t length = left < BLOCK ? (size_t)left : BLOCK;
    for (size_t i = 0; i < length; i++)
        block[i] = label[i] == ignored ? -1 : label[i];
    return length;
}

static const void *row_at(const tg_value *logits, int64_t row)
{
    return (const char *)logits->data + row * classes_of(logits) * (int64_t)tg_dtype_size(logits->dtype);
}

static double sum_block(tg_dtype dtype, size_t count, const void *numbers)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += dtype == TG_F32 ? (double)((const float *)numbers)[i] : ((const double *)numbers)[i];
    return sum;
}

static void fill(tg_dtype dtype, size_t count, double number, void *out)
{
    for (size_t i = 0; i < count; i++)
        if (dtype == TG_F32)
            ((float *)out)[i] = (float)number;
        else
            ((double *)out)[i] = number;
}

static double first_of(const tg_value *value)
{
    return sum_block(value->dtype, 1, value->data);
}

/* ---- cross_entropy ---- */

static bool cross_entropy_shape(tg_value *out)
{
    out->shape = TG_SCALAR;
    return labels_fit(out, out->inputs[0], out->inputs[1]);
}

static void cross_entropy_forward(const tg_value *out)
{
    const label_attributes *a = out->attributes;
    const tg_value *logits = out->inputs[0], *labels = out->inputs[1];
    const int64_t classes = classes_of(logits), count = count_labels(out, labels, classes);
    if (count < 0)
        return;
    double losses[BLOCK], sum = 0;
    int32_t block[BLOCK];
    for (int64_t row = 0; row < labels->size; row += BLOCK) {
        const size_t rows = take_block(labels, row, a->ignore_index, block);
        TG_KERNEL_CALL(out->dtype, cross_entropy_rows, rows, (size_t)classes, row_at(logits, row), block,
                       a->smoothing, (void *)losses);
        sum += sum_block(out->dtype, rows, losses);
    }
    fill(out->dtype, 1, sum / (double)count, out->data);
}

static void cross_entropy_derivative(const tg_derive *d)
{
    const label_attributes *a = d->attributes;
    d->give[0] = tg_cross_entropy_gradient(d->cotangent, d->in[0], d->in[1], a->smoothing, a->ignore_index);
}

#define PLAIN                                                                                                \
    .attributes = &(label_attributes)                                                                        \
    {                                                                                                        \
        0, TG_NO_LABEL                                                                                       \
    }
#define SMOOTH(e)                                                                                            \
    .attributes = &(label_attributes)                                                                        \
    {                                                                                                        \
        e, TG_NO_LABEL                                                                                       \
    }
#define LABELS(classes) .low = 0, .high = classes, .index = true

static const tg_sample cross_entropy_samples[] = {
    {PLAIN, .input = {{.shape = {2, {3, 4}}}, {.shape = {1, {3}}, LABELS(4)}}},
    {PLAIN, .input = {{.shape = {1, {7}}}, {.shape = {0}, LABELS(7)}}},
    {PLAIN, .input = {{.shape = {3, {2, 3, 5}}, .low = -12, .high = 12}, {.shape = {2, {2, 3}}, LABELS(5)}}},
    {SMOOTH(0.1), .input = {{.shape = {2, {5, 3}}}, {.shape = {1, {5}}, LABELS(3)}}},
    {SMOOTH(1), .input = {{.shape = {2, {2, 9}}}, {.shape = {1, {2}}, LABELS(9)}}},
    {.attributes = &(label_attributes){0, 1},
     .input = {{.shape = {2, {9, 3}}}, {.shape = {1, {9}}, LABELS(3)}}},
    {.attributes = &(label_attributes){0.2, 0},
     .input = {{.shape = {2, {131, 3}}}, {.shape = {1, {131}}, LABELS(3)}}},
    {PLAIN, .input = {{.shape = {2, {0, 3}}}, {.shape = {1, {0}}, LABELS(3)}}},
    {PLAIN, .input = {{.shape = {2, {4, 1}}}, {.shape = {1, {4}}, LABELS(1)}}},
    {PLAIN, .input = {{.shape = {2, {2, 6}}, .low = 700, .high = 704}, {.shape = {1, {2}}, LABELS(6)}}},
};

const tg_op tg_op_cross_entropy = {.name = "cross_entropy",
                                   .arity = 2,
                                   .attributes_size = sizeof(label_attributes),
                                   .fields = label_fields,
                                   .shape = cross_entropy_shape,
                                   .forward = cross_entropy_forward,
                                   .derivative = cross_entropy_derivative,
                                   TG_SAMPLES(cross_entropy_samples)};

tg_tensor tg_cross_entropy(tg_tensor logits, tg_tensor labels)
{
    return tg_cross_entropy_with(logits, labels, 0, TG_NO_LABEL);
}

tg_tensor tg_cross_entropy_with(tg_tensor logits, tg_tensor labels, double smoothing, int ignore_index)
{
    return TG_APPLY(&tg_op_cross_entropy, (&(label_attributes){smoothing, ignore_index}), logits, labels);
}

/* ---- cross_entropy_gradient: g (softmax - target) / rows ---- */

static bool cross_entropy_gradient_shape(tg_value *out)
{
    const tg_value *g = out->inputs[0], *logits = out->inputs[1];
    out->shape = logits->shape;
    if (g->size != 1 || g->dtype != logits->dtype)
        return tg_expected(out, "expected a cotangent of one element and the type of the logits");
    return labels_fit(out, logits, out->inputs[2]);
}

static void cross_entropy_gradient_forward(const tg_value *out)
{
    const label_attributes *a = out->attributes;
    const tg_value *logits = out->inputs[1], *labels = out->inputs[2];
    const int64_t classes = classes_of(logits), count = count_labels(out, labels, classes);
    if (count < 0)
        return;
    double cotangents[BLOCK];
    int32_t block[BLOCK];
    fill(out->dtype, BLOCK, first_of(out->inputs[0]) / (double)(count > 0 ? count : 1), cotangents);
    for (int64_t row = 0; row < labels->size; row += BLOCK) {
        const size_t rows = take_block(labels, row, a->ignore_index, block);
        char *gradient = (char *)out->data + row * classes * (int64_t)tg_dtype_size(out->dtype);
        TG_KERNEL_CALL(out->dtype, cross_entropy_gradient_rows, rows, (size_t)classes, row_at(logits, row),
                       block, a->smoothing, (const void *)cotangents, (void *)gradient);
    }
}

/* With the cotangent c: sum c (softmax - target) / rows for g, and g / rows times c through the softmax for the logits. */
static void cross_entropy_gradient_derivative(const tg_derive *d)
{
    const label_attributes *a = d->attributes;
    tg_tensor g = d->in[0], logits = d->in[1], labels = d->in[2], c = d->cotangent;
    if (d->wanted[0]) {
        tg_tensor one = tg_full(tg_tape_of(g), tg_dtype_of(g), tg_shape_of(g), 1);
        tg_tensor gradient = tg_cross_entropy_gradient(one, logits, labels, a->smoothing, a->ignore_index);
        d->give[0] = tg_reshape(tg_sum(tg_mul(c, gradient)), tg_shape_of(g));
    }
    if (d->wanted[1]) {
        tg_shape column = tg_shape_of(logits);
        column.dim[column.rank - 1] = 1;
        tg_tensor weights = tg_reshape(tg_label_weights(logits, labels, a->ignore_index), column);
        tg_tensor through = tg_softmax_gradient(c, tg_softmax(logits, -1));
        d->give[1] = tg_mul(through, tg_mul(weights, tg_reshape(g, TG_SCALAR)));
    }
}

#define COTANGENT                                                                                            \
    {                                                                                                        \
        .shape = { 0 }                                                                                       \
    }

static const tg_sample cross_entropy_gradient_samples[] = {
    {PLAIN, .input = {COTANGENT, {.shape = {2, {3, 4}}}, {.shape = {1, {3}}, LABELS(4)}}},
    {PLAIN, .input = {COTANGENT, {.shape = {1, {7}}}, {.shape = {0}, LABELS(7)}}},
    {PLAIN, .input = {COTANGENT,
                      {.shape = {3, {2, 3, 5}}, .low = -6, .high = 6},
                      {.shape = {2, {2, 3}}, LABELS(5)}}},
    {SMOOTH(0.1), .input = {COTANGENT, {.shape = {2, {5, 3}}}, {.shape = {1, {5}}, LABELS(3)}}},
    {.attributes = &(label_attributes){0, 1},
     .input = {{.shape = {1, {1}}}, {.shape = {2, {9, 3}}}, {.shape = {1, {9}}, LABELS(3)}}},
    {.attributes = &(label_attributes){0.2, 0},
     .input = {COTANGENT, {.shape = {2, {131, 3}}}, {.shape = {1, {131}}, LABELS(3)}}},
    {PLAIN, .input = {COTANGENT, {.shape = {2, {0, 3}}}, {.shape = {1, {0}}, LABELS(3)}}},
    {PLAIN,
     .input = {COTANGENT, {.shape = {2, {2, 6}}, .low = 700, .high = 704}, {.shape = {1, {2}}, LABELS(6)}}},
};

const tg_op tg_op_cross_entropy_gradient = {.name = "cross_entropy_gradient",
                                            .arity = 3,
                                            .attributes_size = sizeof(label_attributes),
                                            .fields = label_fields,
                                            .shape = cross_entropy_gradient_shape,
                                            .forward = cross_entropy_gradient_forward,
                                            .derivative = cross_entropy_gradient_derivative,
                                            TG_SAMPLES(cross_entropy_gradient_samples)};

tg_tensor tg_cross_entropy_gradient(tg_tensor cotangent, tg_tensor logits, tg_tensor labels, double smoothing,
                                    int ignore_index)
{
    return TG_APPLY(&tg_op_cross_entropy_gradient, (&(label_attributes){smoothing, ignore_index}), cotangent,
                    logits, labels);
}

/* ---- label_weights: what each row counts for in the mean ---- */

static bool label_weights_shape(tg_value *out)
{
    out->shape = out->inputs[1]->shape;
    return labels_fit(out, out->inputs[0], out->inputs[1]);
}

static void label_weights_forward(const tg_value *out)
{
    const tg_value *logits = out->inputs[0], *labels = out->inputs[1];
    const int64_t count = count_labels(out, labels, classes_of(logits));
    const int ignored = ((const label_attributes *)out->attributes)->ignore_index;
    const size_t element = tg_dtype_size(out->dtype);
    for (int64_t row = 0; row < out->size; row++) {
        const bool counts = count > 0 && ((const int32_t *)labels->data)[row] != ignored;
        fill(out->dtype, 1, counts ? 1 / (double)count : 0, (char *)out->data + (size_t)row * element);
    }
}

const tg_op tg_op_label_weights = {.name = "label_weights",
                                   .arity = 2,
                                   .flags = TG_CONSTANT,
                                   .attributes_size = sizeof(label_attributes),
                                   .fields = label_fields,
                                   .shape = label_weights_shape,
                                   .forward = label_weights_forward,
                                   TG_SAMPLES(cross_entropy_samples)};

tg_tensor tg_label_weights(tg_tensor logits, tg_tensor labels, int ignore_index)
{
    return TG_APPLY(&tg_op_label_weights, (&(label_attributes){0, ignore_index}), logits, labels);
}

/* ---- compositions: on logarithms, and with distributions for labels ---- */

tg_tensor tg_nll(tg_tensor log_probabilities, tg_tensor labels)
{
    tg_shape column = tg_shape_of(labels);
    if (column.rank < TG_MAX_RANK)
        column.dim[column.rank++] = 1;
    tg_tensor chosen = tg_gather(log_probabilities, -1, tg_reshape(labels, column));
    return tg_neg(tg_mean(chosen));
}

tg_tensor tg_cross_entropy_to(tg_tensor logits, tg_tensor probabilities)
{
    tg_tensor products = tg_mul(probabilities, tg_log_softmax(logits, -1));
    return tg_neg(tg_mean(tg_sum_over(products, TG_AXES(-1), false)));
}
