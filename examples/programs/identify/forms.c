#include "examples/programs/identify/forms.h"

#include <math.h>
#include <string.h>

/* ---- approximations of 1 - erf for arguments that are not negative, so the left tail keeps all its digits ---- */

/* c[0] + c[1] x + ... + c[degree] x^degree. */
static double polynomial(double x, int degree, const double c[])
{
    double sum = c[degree];
    for (int i = degree - 1; i >= 0; i--)
        sum = sum * x + c[i];
    return sum;
}

/* Formulas 7.1.25 to 7.1.28 of Abramowitz and Stegun, "Handbook of Mathematical Functions", for x >= 0. The book gives
 * the errors as at most 2.5e-5, 1.5e-7, 5e-4 and 3e-7. */
static double erfc_25(double x)
{
    static const double a[] = {0, 0.3480242, -0.0958798, 0.7478556};
    return polynomial(1 / (1 + 0.47047 * x), 3, a) * exp(-x * x);
}

static double erfc_26(double x)
{
    static const double a[] = {0, 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429};
    return polynomial(1 / (1 + 0.3275911 * x), 5, a) * exp(-x * x);
}

static double erfc_27(double x)
{
    static const double a[] = {1, 0.278393, 0.230389, 0.000972, 0.078108};
    return pow(polynomial(x, 4, a), -4);
}

static double erfc_28(double x)
{
    static const double a[] = {1, 0.0705230784, 0.0422820123, 0.0092705272, 0.0001520143, 0.0002765672, 0.0000430638};
    return pow(polynomial(x, 6, a), -16);
}

/* I-BERT, arXiv 2101.01321, equation 8. */
static double erfc_ibert(double x)
{
    const double distance = fmin(x, 1.769) - 1.769;
    return 0.2888 * distance * distance;
}

/* ---- the tanh form by an approximation of tanh ---- */

/* Lambert's continued fraction x / (1 + x^2 / (3 + x^2 / (5 + ...))), down to 13. */
static double tanh_lambert(double x)
{
    double below = 13;
    for (int odd = 11; odd > 0; odd -= 2)
        below = odd + x * x / below;
    return fabs(x) > 5 ? copysign(1, x) : x / below;
}

static double gelu_tanh_lambert(double x)
{
    return 0.5 * x * (1 + tanh_lambert(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
}

/* ---- the table ---- */

static const identify_form forms[] = {
#define TG_PLAIN(constant, name, gain, evaluation, training, formula) {#name, formula, constant},
#include "nn/activations.def"
    {"gelu_as_7_1_25", "x/2 (1 + erf(x / sqrt 2)), erf by Abramowitz and Stegun's formula 7.1.25", .erfc = erfc_25,
     .used = "an approximation with three coefficients"},
    {"gelu_as_7_1_26", "x/2 (1 + erf(x / sqrt 2)), erf by Abramowitz and Stegun's formula 7.1.26", .erfc = erfc_26,
     .used = "runtimes without an erf of their own: ONNX Runtime's shaders for WebGPU, programs in JavaScript"},
    {"gelu_as_7_1_27", "x/2 (1 + erf(x / sqrt 2)), erf by Abramowitz and Stegun's formula 7.1.27", .erfc = erfc_27,
     .used = "an approximation without an exponential"},
    {"gelu_as_7_1_28", "x/2 (1 + erf(x / sqrt 2)), erf by Abramowitz and Stegun's formula 7.1.28", .erfc = erfc_28,
     .used = "an approximation without an exponential"},
    {"gelu_ibert", "x/2 (1 + erf(x / sqrt 2)), erf by one parabola", .erfc = erfc_ibert,
     .used = "I-BERT and integer arithmetic after it"},
    {"gelu_tanh_lambert", "the tanh form, tanh by Lambert's continued fraction to 13, cut at 5",
     .function = gelu_tanh_lambert, .used = "MNN"},
    {"relu6", "min(max(0, x), 6)", .slope = 1, .high = 6, .used = "MobileNetV2"},
    {"leaky_relu_0.1", "x for x > 0, else x / 10", .slope = 0.1, .used = "YOLO"},
    {"leaky_relu_0.2", "x for x > 0, else x / 5", .slope = 0.2, .used = "TensorFlow's default, many GANs"},
    {"leaky_relu_0.3", "x for x > 0, else 0.3 x", .slope = 0.3, .used = "Keras's default"},
    {"hardtanh", "min(max(-1, x), 1)", .slope = 1, .low = -1, .high = 1},
    {"hardsigmoid", "clamp(x / 6 + 1/2, 0, 1)", .slope = 1. / 6, .shift = 0.5, .high = 1, .used = "PyTorch"},
    {"hardsigmoid_0.2", "clamp(0.2 x + 1/2, 0, 1)", .slope = 0.2, .shift = 0.5, .high = 1, .used = "ONNX's default"},
};

/* Where the library's activations are used. */
static const char *const used[] = {
    [TG_GELU_EXACT] = "PyTorch's default; BERT, ViT",
    [TG_GELU_TANH] = "JAX's default, approximate='tanh' in PyTorch; GPT-2, Gemma",
    [TG_GELU_QUICK] = "CLIP's own weights",
    [TG_SILU] = "LLaMA, EfficientNet; called swish, too",
    [TG_MISH] = "YOLOv4",
    [TG_LEAKY_RELU] = "PyTorch's and ONNX's default",
    [TG_HARDSWISH] = "MobileNetV3",
};

enum { FORMS = sizeof forms / sizeof *forms - 1 }; /* without the stochastic GELU, which has no curve of its own */
_Static_assert((int)FORMS <= (int)IDENTIFY_FORMS, "more forms than identify_result has");

int identify_form_count(void)
{
    return FORMS;
}

const identify_form *identify_form_at(int i)
{
    return &forms[i + (i >= TG_STOCHASTIC_GELU)]; /* the library's come first, in its order */
}

static bool is_the_librarys(const identify_form *form)
{
    return !form->function && !form->erfc && form->slope == 0;
}

const char *identify_form_used(const identify_form *form)
{
    const size_t known = sizeof used / sizeof *used;
    return is_the_librarys(form) ? (size_t)form->activation < known ? used[form->activation] : NULL : form->used;
}

static double value_of(const identify_form *form, double x)
{
    const double tail = form->erfc ? form->erfc(fabs(x) * sqrt(0.5)) : 0;
    return form->function ? form->function(x)
           : form->erfc   ? 0.5 * x * (x < 0 ? tail : 2 - tail)
           : form->high   ? fmin(fmax(form->slope * x + form->shift, form->low), form->high)
                          : x * (x > 0 ? 1 : form->slope);
}

bool identify_evaluate(const identify_form *form, tg_tape *tape, int64_t count, const double x[], double y[])
{
    if (!is_the_librarys(form)) {
        for (int64_t i = 0; i < count; i++)
            y[i] = value_of(form, x[i]);
        return true;
    }
    tg_tape_reset(tape);
    tg_tensor result = tg_activate(form->activation, tg_borrow(tape, TG_F64, x, TG_SHAPE(count)), NULL);
    const double *values = tg_f64(result);
    if (values)
        memcpy(y, values, (size_t)count * sizeof *y);
    return values;
}
