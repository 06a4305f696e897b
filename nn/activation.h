/* Activations by number and by name, plain ones and gated products.
 *
 *     tg_activation activation;
 *     if (!tg_activation_from_name(word, &activation))
 *         fprintf(stderr, "'%s': %s\n", word, tg_activation_name_error(word));
 *     tg_tensor h = tg_activate(activation, tg_linear(x, w, b), NULL);
 *
 * A plain activation is a function of one number. A gated one multiplies two: act(gate) value, after "GLU
 * Variants Improve Transformer" (Shazeer, arXiv 2002.05202).
 */
#ifndef TG_ACTIVATION_H
#define TG_ACTIVATION_H

#include "autograd/ops.h"

TG_API_BEGIN

typedef enum tg_activation {
    TG_GELU_EXACT,      /* x Phi(x) */
    TG_GELU_TANH,       /* its approximation with tanh */
    TG_GELU_QUICK,      /* x sigmoid(1.702 x) */
    TG_STOCHASTIC_GELU, /* x Bernoulli(Phi(x)) in training, x Phi(x) in evaluation */
    TG_SILU,            /* x sigmoid(x) */
    TG_MISH,            /* x tanh(softplus(x)) */
    TG_RELU,            /* max(0, x) */
    TG_LEAKY_RELU,      /* x for x > 0, else x / 100 */
    TG_ELU,             /* x for x > 0, else e^x - 1 */
    TG_SELU,            /* 1.0507 (x for x > 0, else 1.6733 (e^x - 1)) */
    TG_HARDSWISH,       /* x clamp(x + 3, 0, 6) / 6 */
    TG_SOFTPLUS,        /* log(1 + e^x) */
    TG_TANH,
    TG_SIGMOID,
    TG_IDENTITY,
    TG_GLU,      /* sigmoid(gate) value; from here on gated */
    TG_BILINEAR, /* gate value */
    TG_REGLU,    /* relu(gate) value */
    TG_GEGLU,    /* gelu_exact(gate) value */
    TG_SWIGLU,   /* silu(gate) value */
} tg_activation;

/* "gelu_exact", "swiglu", ...: the words of the list above in small letters. NULL past its end. */
const char *tg_activation_name(tg_activation activation);

/* Back from a name; false and nothing written if there is none such. There is no plain "gelu". */
bool tg_activation_from_name(const char *name, tg_activation *activation);

/* NULL for the name of an activation; otherwise what is wrong with it and which names there are. */
const char *tg_activation_name_error(const char *name);

bool tg_activation_is_gated(tg_activation activation);

/* 1 / sqrt(E f(z)^2) for a standard normal z, and for a gated one with an independent standard normal value:
 * weights of deviation gain / sqrt(fan_in) behind the activation keep pre-activations at variance 1. */
double tg_activation_gain(tg_activation activation);

/* f(x). `training` is the generator of a training pass, from which a random activation draws; NULL means
 * evaluation. */
tg_tensor tg_activate(tg_activation activation, tg_tensor x, tg_rng *training);

/* f(gate) value, for a gated activation; both of one shape. */
tg_tensor tg_activate_gated(tg_activation activation, tg_tensor gate, tg_tensor value);

/* f'(x), each element by itself; of a gated activation the derivative of what is applied to its gate. */
tg_tensor tg_activation_slope(tg_activation activation, tg_tensor x);

TG_API_END
#endif
