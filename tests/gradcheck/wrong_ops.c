/* Operations of the library with a wrong derivative. */
#include "tests/gradcheck/wrong_ops.h"

#include <math.h>

/* ---- factors and signs ---- */

GIVES(negated, tg_mul(g, tg_mul_scalar(x, -2)))
GIVES(doubled, tg_mul(g, tg_mul_scalar(x, 4)))
GIVES(half, tg_mul(g, x))
GIVES(a_little_off, tg_mul(g, tg_mul_scalar(x, 2.00002)))
GIVES(single_precision, tg_mul(g, rounded_to_single(tg_mul_scalar(x, 2))))
GIVES(sign_lost, tg_copy(g))
GIVES(sine_without_minus, tg_mul(g, tg_sin(x)))
GIVES(nothing, (tg_tensor){0})

/* ---- formulas ---- */

GIVES(slope_of_the_tanh_form, tg_mul(g, tg_gelu_tanh_grad(x)))
GIVES(slope_of_the_quick_form, tg_mul(g, tg_gelu_quick_grad(x)))
GIVES(only_the_gate, tg_mul(g, tg_sigmoid(x)))
GIVES(elu_without_alpha, tg_mul(g, tg_elu_grad(x, 1)))
GIVES(clamp_open, tg_copy(g))

/* (1 + T)/2 + x/2 (1 - T^2) u' with T = tanh c (x + a x^3) and u' = c' (1 + a' x^2) */
static tg_tensor tanh_form_slope(tg_tensor x, double c, double slope_c, double slope_a)
{
    tg_tensor square = tg_square(x);
    tg_tensor t = tg_tanh(tg_mul_scalar(tg_mul(x, tg_add_scalar(tg_mul_scalar(square, 0.044715), 1)), c));
    tg_tensor u = tg_mul_scalar(tg_add_scalar(tg_mul_scalar(square, slope_a), 1), slope_c);
    tg_tensor inner = tg_mul(tg_sub(tg_full(tg_tape_of(x), TG_F64, TG_SCALAR, 1), tg_square(t)), u);
    return tg_add(tg_mul_scalar(tg_add_scalar(t, 1), 0.5), tg_mul_scalar(tg_mul(x, inner), 0.5));
}

GIVES(one_over_root_two, tg_mul(g, tanh_form_slope(x, sqrt(0.5), sqrt(0.5), 3 * 0.044715)))
GIVES(a_for_three_a, tg_mul(g, tanh_form_slope(x, sqrt(2 / acos(-1)), sqrt(2 / acos(-1)), 0.044715)))

/* ---- in places only ---- */

static tg_tensor equals_zero(tg_tensor x)
{
    return tg_equal(x, tg_full(tg_tape_of(x), TG_F64, TG_SCALAR, 0));
}

static tg_tensor zeros(tg_tensor x)
{
    return tg_full(tg_tape_of(x), TG_F64, TG_SCALAR, 0);
}

GIVES(flat_tails, tg_mul(g, tg_where(beyond(x, 5), zeros(x), tg_add_scalar(tg_neg(tg_square(d->out)), 1))))
GIVES(wrong_below_zero, tg_mul(g, tg_mul_scalar(tg_maximum(x, zeros(x)), 2)))
GIVES(wrong_at_the_kink, tg_mul(g, tg_add(tg_greater(x, zeros(x)), tg_mul_scalar(equals_zero(x), 5))))
GIVES(wrong_for_scalars, tg_mul_scalar(tg_mul(g, x), tg_rank(x) == 0 ? 2.5 : 2))
GIVES(wrong_for_one_element, tg_mul_scalar(tg_mul(g, x), tg_size(x) == 1 ? -2 : 2))

/* ---- the cotangent ---- */

GIVES(cotangent_ignored, tg_mul_scalar(x, 2))
GIVES(something_added, tg_add_scalar(tg_mul(g, tg_mul_scalar(x, 2)), 0.01))
GIVES(cotangent_squared, tg_mul(tg_square(g), tg_mul_scalar(x, 2)))
GIVES(cotangent_clipped, tg_mul(tg_clamp(g, -1, 1), tg_mul_scalar(x, 2)))
GIVES(right_for_ones_only, tg_mul_scalar(tg_mul(g, d->out), 0)) /* the sum of a softmax has no gradient */

/* ---- not a number ---- */

GIVES(nan_everywhere, tg_mul_scalar(tg_mul(g, x), NAN))
GIVES(nan_at_zero, tg_mul(g, tg_div(tg_mul_scalar(tg_square(x), 2), x)))

/* ---- the second order ---- */

GIVES(cosine_as_constant, tg_mul(g, tg_stop_gradient(tg_cos(x))))
GIVES(result_as_constant, tg_mul(g, tg_stop_gradient(d->out)))

/* ---- axes and shapes ---- */

static tg_tensor sum_along(tg_tensor x, int axis)
{
    return tg_sum_over(x, (tg_axes){.count = 1, .axis = {axis}}, true);
}

GIVES(sum_over_the_wrong_axis, tg_mul(d->out, tg_sub(g, sum_along(tg_mul(g, d->out), 0))))
GIVES(softmax_without_its_sum, tg_mul(d->out, g))
GIVES(transposed, tg_reshape(tg_permute(g, TG_AXES(1, 0)), tg_shape_of(x)))
GIVES(not_permuted_back, tg_reshape(g, tg_shape_of(x)))
GIVES(shape_transposed, tg_permute(tg_mul_scalar(tg_mul(g, x), 2), TG_AXES(1, 0)))
GIVES(mean_for_sum, tg_mul_scalar(tg_expand(g, tg_shape_of(x)), 1. / (double)tg_size(x)))
GIVES(average_of_copies, tg_mul_scalar(tg_sum_to(g, tg_shape_of(x)), (double)tg_size(x) / (double)tg_size(g)))
GIVES(mean_not_divided, tg_mul_scalar(tg_mul(g, tg_sub(x, d->in[1])), 2))

static tg_tensor as_rows(tg_tensor g)
{
    int64_t columns = tg_dim(g, -1);
    return tg_reshape(g, TG_SHAPE(tg_size(g) / columns, columns));
}

/* ---- two inputs ---- */

#define GIVES_TWO(name, first, second)                                \
    static void name(const tg_derive *d)                              \
    {                                                                 \
        const tg_tensor g = d->cotangent, a = d->in[0], b = d->in[1]; \
        (void)a, (void)b;                                             \
        d->gradient[0] = first;                                       \
        d->gradient[1] = second;                                      \
    }

GIVES_TWO(swapped, tg_mul(g, a), tg_mul(g, b))
GIVES_TWO(minus_lost, g, g)
GIVES_TWO(both_get_everything, g, g)
GIVES_TWO(partner_as_constant, tg_mul(g, tg_stop_gradient(b)), tg_mul(g, tg_stop_gradient(a)))
GIVES_TWO(doubled_if_same, tg_mul(g, a.value == b.value ? tg_mul_scalar(b, 2) : b),
          tg_mul(g, a.value == b.value ? tg_mul_scalar(a, 2) : a))
GIVES_TWO(halved_if_same, tg_mul(g, b), a.value == b.value ? (tg_tensor){0} : tg_mul(g, a))
GIVES_TWO(needs_the_other, tg_mul(g, b), d->wanted[0] ? tg_mul(g, a) : tg_mul_scalar(tg_mul(g, a), 3))

/* Linear with a bias: x W^T + b. */
static void linear_gradients(const tg_derive *d, tg_tensor bias_gradient)
{
    tg_tensor g = as_rows(d->cotangent), x = as_rows(d->in[0]);
    d->gradient[0] = tg_reshape(tg_matmul(g, d->in[1]), tg_shape_of(d->in[0]));
    d->gradient[1] = tg_matmul(tg_permute(g, TG_AXES(1, 0)), x);
    d->gradient[2] = bias_gradient;
}

static void bias_without_its_sum(const tg_derive *d)
{
    linear_gradients(d, first_row(as_rows(d->cotangent)));
}

static void bias_added_twice(const tg_derive *d)
{
    tg_tensor sum = tg_sum_over(as_rows(d->cotangent), TG_AXES(0), false);
    linear_gradients(d, tg_add(sum, sum));
}

static const tg_sample linear_samples[] = {
    {.count = 3, .input = {{.shape = {2, {3, 4}}}, {.shape = {2, {2, 4}}}, {.shape = {1, {2}}}}},
    {.count = 3, .input = {{.shape = {3, {2, 3, 1}}}, {.shape = {2, {5, 1}}}, {.shape = {1, {5}}}}},
};

static const tg_sample square_matrices[] = {{.input = {{.shape = {2, {3, 3}}}}}};
static const tg_sample wide_matrices[] = {{.input = {{.shape = {2, {2, 3}}}}}};
static const tg_sample around_zero[] = {
    {.input = {{.shape = {1, {5}}, .value_count = 5, .values = (const double[]){-1, 0, 1, 2, -0.5}}}}};

/* ---- a gradient that changes from call to call ---- */

static void changing_gradient(const tg_derive *d)
{
    static double more;
    d->gradient[0] = tg_mul_scalar(tg_mul(d->cotangent, d->in[0]), 2 + more);
    more += 1e-15;
}

/* ---- the list ---- */

static const wrong_row list[] = {
    {"a negated gradient", &tg_op_square, negated},
    {"a factor of two too many", &tg_op_square, doubled},
    {"a factor of two too few", &tg_op_square, half},
    {"off by 1e-5 relative", &tg_op_square, a_little_off},
    {"a gradient rounded to single precision", &tg_op_square, single_precision},
    {"the sign of abs lost", &tg_op_abs, sign_lost},
    {"cos without its minus", &tg_op_cos, sine_without_minus},
    {"no gradient at all", &tg_op_square, nothing},
    {"the tanh form's slope under exact GELU", &tg_op_gelu_exact, slope_of_the_tanh_form},
    {"the quick form's slope under the tanh form", &tg_op_gelu_tanh, slope_of_the_quick_form},
    {"1/sqrt(2) for sqrt(2/pi)", &tg_op_gelu_tanh, one_over_root_two},
    {"a for 3a", &tg_op_gelu_tanh, a_for_three_a},
    {"silu's gradient through its gate missing", &tg_op_silu, only_the_gate},
    {"wrong for negative inputs only, by a lost alpha", &tg_op_elu, elu_without_alpha},
    {"wrong for negative inputs only", &tg_op_square, wrong_below_zero},
    {"clamp that lets everything through", &tg_op_clamp, clamp_open},
    {"wrong in the tails only", &tg_op_tanh, flat_tails},
    {"wrong right at a kink only", &tg_op_relu, wrong_at_the_kink, around_zero, 1},
    {"wrong for scalars only", &tg_op_square, wrong_for_scalars},
    {"wrong for one element only", &tg_op_square, wrong_for_one_element},
    {"the cotangent ignored", &tg_op_square, cotangent_ignored},
    {"a constant added", &tg_op_square, something_added},
    {"the cotangent squared", &tg_op_square, cotangent_squared},
    {"the cotangent clipped", &tg_op_square, cotangent_clipped},
    {"right for a cotangent of ones only", &tg_op_softmax, right_for_ones_only},
    {"NaN everywhere", &tg_op_square, nan_everywhere},
    {"NaN at zero", &tg_op_square, nan_at_zero, around_zero, 1},
    {"right in value, wrong in second order", &tg_op_sin, cosine_as_constant},
    {"its own result taken for a constant in second order", &tg_op_exp, result_as_constant},
    {"a sum over the wrong axis", &tg_op_softmax, sum_over_the_wrong_axis},
    {"softmax without its sum", &tg_op_softmax, softmax_without_its_sum},
    {"a transposed gradient", &tg_op_copy, transposed, square_matrices, 1},
    {"permuted, and not back", &tg_op_permute, not_permuted_back},
    {"a gradient of another shape", &tg_op_square, shape_transposed, wide_matrices, 1},
    {"the gradient of the mean for that of the sum", &tg_op_sum_over, mean_for_sum},
    {"the average over copies for their sum", &tg_op_expand, average_of_copies},
    {"a mean not divided by its count", &tg_op_mse, mean_not_divided},
    {"the two inputs' gradients swapped", &tg_op_mul, swapped},
    {"the minus of the second input lost", &tg_op_sub, minus_lost},
    {"both inputs of a maximum get the whole gradient", &tg_op_maximum, both_get_everything},
    {"the other factor taken for a constant in second order", &tg_op_mul, partner_as_constant},
    {"twice too much when an input is used twice", &tg_op_mul, doubled_if_same},
    {"once too few when an input is used twice", &tg_op_mul, halved_if_same},
    {"wrong when the other gradient is not wanted", &tg_op_mul, needs_the_other},
    {"a matrix not transposed", &wrong_product, .double_only = true},
    {"a bias without the sum over rows", &tg_op_linear, bias_without_its_sum, linear_samples, 2},
    {"a bias added twice", &tg_op_linear, bias_added_twice, linear_samples, 2},
    {"a gradient that changes from call to call", &tg_op_square, changing_gradient},
    {"a stale saved value", &wrong_stale_value, .double_only = true},
    {"a result that changes from call to call", &wrong_changing_result, .double_only = true},
    {"an input overwritten in the forward pass", &wrong_changed_input, .double_only = true},
    {"an index off by one", &wrong_roll, .double_only = true},
    {"one element of a hundred", &wrong_one_in_a_hundred, .double_only = true},
    {"a slope kept from the forward pass", &wrong_kept_slope, .double_only = true},
};

enum { FIRST_HALF = sizeof list / sizeof list[0] };

int wrong_op_count(void)
{
    return FIRST_HALF + wrong_more_count + wrong_third_count;
}

wrong_op wrong_op_at(int index)
{
    const int more = index - FIRST_HALF;
    const wrong_row *row = more < 0                  ? &list[index]
                           : more < wrong_more_count ? &wrong_more[more]
                                                     : &wrong_third[more - wrong_more_count];
    wrong_op wrong = {row->fault, *row->op, row->double_only};
    if (row->derivative)
        wrong.op.derivative = row->derivative;
    if (row->samples) {
        wrong.op.samples = row->samples;
        wrong.op.sample_count = row->sample_count;
    }
    if (!wrong.op.loop && wrong.op.flags & TG_ELEMENTWISE)
        wrong.op.loop = tg_op_gelu_exact.loop;
    return wrong;
}
