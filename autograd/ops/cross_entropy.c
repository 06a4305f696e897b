/* Cross-entropy between logits and labels: the mean over rows of -log softmax(row)[label].
 *
 *     logits [..., classes], labels i32 [...]
 *
 * With smoothing e the target of a row is e / classes for each class, plus 1 - e for its label (Szegedy et al., 2016).
 * Rows whose label is ignore_index do not count, not even in the number of rows. Without rows, the mean is NaN and the
 * gradient is empty or zero. */
#include "autograd/ops/category.h"

typedef struct label_attributes {
    double smoothing;
    int64_t ignore_index;
} label_attributes;

static const tg_field label_fields[] = {
    TG_FIELD(label_attributes, smoothing, TG_FIELD_REAL), TG_FIELD(label_attributes, ignore_index, TG_FIELD_INT), {0}};
#include "autograd/ops/samples/cross_entropy.h"

/* ---- what the operations share ---- */

/* True if the shapes and types of logits and labels match. */
static bool labels_fit(tg_value *out, const tg_value *logits, const tg_value *labels)
{
    const label_attributes *a = out->attributes;
    tg_shape rows = *logits->shape;
    if (logits->dtype == TG_I32 || labels->dtype != TG_I32)
        return tg_expected(out, "expected logits of f32 or f64 and labels of i32");
    if (rows.rank-- == 0 || !tg_shape_equal(&rows, labels->shape))
        return tg_expected(out, "expected logits [..., classes] and labels [...]");
    return (a->smoothing >= 0 && a->smoothing <= 1) ||
           tg_expected(out, "expected smoothing from 0 to 1, not %g", a->smoothing);
}

/* True if the label says that its row is ignored. */
static bool is_ignored(const label_attributes *a, int32_t label)
{
    return label == a->ignore_index && label != TG_NO_LABEL;
}

static int64_t classes_of(const tg_value *logits)
{
    return logits->shape->dim[logits->shape->rank - 1];
}

/* Records the error of an invalid label. */
static void name_wrong_label(const tg_value *out, const int32_t *label, int64_t classes)
{
    int64_t row = 0;
    while (is_ignored(out->attributes, label[row]) || (label[row] >= 0 && label[row] < classes))
        row++;
    tg_expected(out, "label %ld in row %lld is none of the %lld classes, which count from 0", (long)label[row],
                (long long)row, (long long)classes);
}

/* The number of labels that are not ignored; -1, with the error recorded, if one is invalid. */
static int64_t count_labels(const tg_call *call)
{
    const tg_value *out = call->value;
    const label_attributes *a = out->attributes;
    const int32_t *label = call->in[1];
    const int64_t rows = out->inputs[1]->size, classes = classes_of(out->inputs[0]);
    int64_t used = 0, wrong = 0;
    for (int64_t row = 0; row < rows; row++) {
        const bool is_used = !is_ignored(a, label[row]);
        used += is_used;
        wrong += is_used && (label[row] < 0 || label[row] >= classes);
    }
    if (wrong > 0)
        name_wrong_label(out, label, classes);
    return wrong > 0 ? -1 : used;
}

/* Sums the losses of the rows, of which `used` count, and unless `gradient` is NULL, writes that of their mean there.
 */
static double sum_losses(const tg_call *call, int64_t used, void *gradient)
{
    const tg_value *logits = call->value->inputs[0];
    const label_attributes *a = call->value->attributes;
    double sum;
    TG_KERNEL_CALL(logits->dtype, cross_entropy_sum, (size_t)call->value->inputs[1]->size, (size_t)classes_of(logits),
                   call->in[0], call->in[1], a->smoothing, (int32_t)a->ignore_index, used > 0 ? 1 / (double)used : 0,
                   &sum, gradient);
    return sum;
}

/* ---- cross_entropy ---- */

static bool cross_entropy_shape(tg_value *out)
{
    *out->shape = TG_SCALAR;
    return labels_fit(out, out->inputs[0], out->inputs[1]);
}

static void cross_entropy_forward(const tg_call *call)
{
    const int64_t count = count_labels(call);
    if (count >= 0)
        tg_fill(call->value->dtype, 1, sum_losses(call, count, call->saved) / (double)count, call->out);
}

static void cross_entropy_derivative(const tg_derive *d)
{
    const label_attributes *a = d->attributes;
    tg_tensor gradient = d->saved;
    if (!tg_ok(gradient))
        gradient = tg_cross_entropy_grad(d->in[0], d->in[1], a->smoothing, (int)a->ignore_index);
    d->gradient[0] = tg_is_plain_one(d->cotangent) ? gradient : tg_mul(gradient, d->cotangent);
}

TG_USUAL_OPERATION(cross_entropy, 2, TG_ATTRIBUTES(label_attributes, label_fields), .saved = &tg_op_cross_entropy_grad);

tg_tensor tg_cross_entropy(tg_tensor logits, tg_tensor labels)
{
    return tg_cross_entropy_with(logits, labels, 0, TG_NO_LABEL);
}

tg_tensor tg_cross_entropy_with(tg_tensor logits, tg_tensor labels, double smoothing, int ignore_index)
{
    return TG_APPLY(&tg_op_cross_entropy, (&(label_attributes){smoothing, ignore_index}), logits, labels);
}

/* ---- cross_entropy_grad: (softmax - target) / rows, the gradient of the mean; computed along with it ---- */

static bool cross_entropy_grad_shape(tg_value *out)
{
    *out->shape = *out->inputs[0]->shape;
    return labels_fit(out, out->inputs[0], out->inputs[1]);
}

static void cross_entropy_grad_forward(const tg_call *call)
{
    const int64_t count = count_labels(call);
    if (count >= 0)
        sum_losses(call, count, call->out);
}

/* With the cotangent c: c through the softmax, over the number of rows. A number that is added to c in a whole row
 * changes nothing: c is taken less that of the largest probability p, as c - sum c p would lose its digits where p is
 * nearly 1. */
static void cross_entropy_grad_derivative(const tg_derive *d)
{
    const label_attributes *a = d->attributes;
    const tg_tensor logits = d->in[0], labels = d->in[1], c = d->cotangent;
    tg_shape column = tg_shape_of(logits);
    column.dim[column.rank - 1] = 1;
    tg_tensor weights = tg_reshape(tg_label_weights(logits, labels, (int)a->ignore_index), column);
    tg_tensor of_largest = tg_gather(c, -1, tg_argmax(logits, -1, true));
    d->gradient[0] = tg_mul(tg_softmax_grad(tg_sub(c, of_largest), tg_softmax(logits, -1)), weights);
}

TG_USUAL_OPERATION(cross_entropy_grad, 2, TG_ATTRIBUTES(label_attributes, label_fields));

tg_tensor tg_cross_entropy_grad(tg_tensor logits, tg_tensor labels, double smoothing, int ignore_index)
{
    return TG_APPLY(&tg_op_cross_entropy_grad, (&(label_attributes){smoothing, ignore_index}), logits, labels);
}

/* ---- label_weights: the weight of each row in the mean ---- */

static bool label_weights_shape(tg_value *out)
{
    *out->shape = *out->inputs[1]->shape;
    return labels_fit(out, out->inputs[0], out->inputs[1]);
}

static void label_weights_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const int64_t count = count_labels(call);
    const int64_t ignored = ((const label_attributes *)out->attributes)->ignore_index;
    const int32_t *label = call->in[1];
    char *to = call->out;
    for (int64_t row = 0; row < out->size; row++, to += tg_dtype_size(out->dtype))
        tg_fill(out->dtype, 1, count > 0 && label[row] != ignored ? 1 / (double)count : 0, to);
}

TG_OPERATION(label_weights, 2, TG_CONSTANT, cross_entropy_samples, TG_ATTRIBUTES(label_attributes, label_fields),
             .shape = label_weights_shape, .forward = label_weights_forward);

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
