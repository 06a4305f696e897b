#include "nn/activation.h"

#include "autograd/grad.h"

#include <string.h>

static tg_tensor identity(tg_tensor x)
{
    return x;
}

static tg_tensor elu(tg_tensor x)
{
    return tg_elu(x, 1);
}

static tg_tensor leaky_relu(tg_tensor x)
{
    return tg_leaky_relu(x, 0.01);
}

/* X(constant, name, function, gain): plain ones. The gains are in closed form or from 30-digit quadrature. */
#define PLAIN(X)                                                                                             \
    X(TG_GELU_EXACT, "gelu_exact", tg_gelu_exact, 1.5335304411955352)                                        \
    X(TG_GELU_TANH, "gelu_tanh", tg_gelu_tanh, 1.5335805216661469)                                           \
    X(TG_GELU_QUICK, "gelu_quick", tg_gelu_quick, 1.5394587622988314)                                        \
    X(TG_STOCHASTIC_GELU, "stochastic_gelu", tg_gelu_exact, 1.4142135623730951) /* E x^2 Bernoulli = 1/2 */  \
    X(TG_SILU, "silu", tg_silu, 1.6765324703310912)                                                          \
    X(TG_MISH, "mish", tg_mish, 1.4868475812732081)                                                          \
    X(TG_RELU, "relu", tg_relu, 1.4142135623730951)                                                          \
    X(TG_LEAKY_RELU, "leaky_relu", leaky_relu, 1.4141428569978353)                                           \
    X(TG_ELU, "elu", elu, 1.2451983007007066)                                                                \
    X(TG_SELU, "selu", tg_selu, 1)                                                                           \
    X(TG_HARDSWISH, "hardswish", tg_hardswish, 1.7366572127665416)                                           \
    X(TG_SOFTPLUS, "softplus", tg_softplus, 1.0418668355353017)                                              \
    X(TG_TANH, "tanh", tg_tanh, 1.5925374197228314)                                                          \
    X(TG_SIGMOID, "sigmoid", tg_sigmoid, 1.8462285453386054)                                                 \
    X(TG_IDENTITY, "identity", identity, 1)

/* X(constant, name, function of gate and value, what is applied to the gate) */
#define GATED(X)                                                                                             \
    X(TG_GLU, "glu", tg_glu, TG_SIGMOID)                                                                     \
    X(TG_BILINEAR, "bilinear", tg_mul, TG_IDENTITY)                                                          \
    X(TG_REGLU, "reglu", tg_reglu, TG_RELU)                                                                  \
    X(TG_GEGLU, "geglu", tg_geglu, TG_GELU_EXACT)                                                            \
    X(TG_SWIGLU, "swiglu", tg_swiglu, TG_SILU)

static const struct {
    const char *name;
    tg_tensor (*plain)(tg_tensor x);
    double gain;
    tg_tensor (*gated)(tg_tensor gate, tg_tensor value);
    tg_activation of_gate;
} table[] = {
#define LINE(constant, word, function, number) [constant] = {.name = word, .plain = function, .gain = number},
    PLAIN(LINE)
#undef LINE
#define LINE(constant, word, function, inner)                                                                \
    [constant] = {.name = word, .gated = function, .of_gate = inner},
        GATED(LINE)
#undef LINE
};
enum { ACTIVATIONS = sizeof table / sizeof table[0] };

static bool is_known(tg_activation activation)
{
    return (unsigned)activation < ACTIVATIONS;
}

/* ---- names ---- */

const char *tg_activation_name(tg_activation activation)
{
    return is_known(activation) ? table[activation].name : NULL;
}

bool tg_activation_from_name(const char *name, tg_activation *activation)
{
    for (int i = 0; name && activation && i < ACTIVATIONS; i++)
        if (strcmp(table[i].name, name) == 0) {
            *activation = (tg_activation)i;
            return true;
        }
    return false;
}

const char *tg_activation_name_error(const char *name)
{
    tg_activation found;
    if (tg_activation_from_name(name, &found))
        return NULL;
    if (name && strcmp(name, "gelu") == 0)
        return "there is no plain gelu, because libraries differ in what it means: say gelu_exact, gelu_tanh "
               "or "
               "gelu_quick";
#define LINE(constant, word, function, number) " " word
    return "not an activation; there are" PLAIN(LINE) ", and gated" GATED(LINE);
#undef LINE
}

bool tg_activation_is_gated(tg_activation activation)
{
    return is_known(activation) && table[activation].gated;
}

double tg_activation_gain(tg_activation activation)
{
    if (!is_known(activation))
        return 1;
    return table[tg_activation_is_gated(activation) ? table[activation].of_gate : activation].gain;
}

/* ---- values ---- */

tg_tensor tg_activate(tg_activation activation, tg_tensor x, tg_rng *training)
{
    if (!is_known(activation) || !table[activation].plain) {
        tg_tape_fail(tg_tape_of(x), "tg_activate: %s is not an activation of one tensor%s",
                     is_known(activation) ? table[activation].name : "a number out of range",
                     is_known(activation) ? "; tg_activate_gated takes the gate and the value" : "");
        return TG_NONE;
    }
    if (activation == TG_STOCHASTIC_GELU && training)
        return tg_stochastic_gelu(x, tg_random_stream(tg_tape_of(x), training));
    return table[activation].plain(x);
}

tg_tensor tg_activate_gated(tg_activation activation, tg_tensor gate, tg_tensor value)
{
    if (tg_activation_is_gated(activation))
        return table[activation].gated(gate, value);
    tg_tape_fail(tg_tape_of(gate), "tg_activate_gated: %s is not a gated activation",
                 is_known(activation) ? table[activation].name : "a number out of range");
    return TG_NONE;
}

tg_tensor tg_activation_slope(tg_activation activation, tg_tensor x)
{
    if (tg_activation_is_gated(activation))
        activation = table[activation].of_gate;
    tg_tape *tape = tg_tape_of(x);
    const int scopes = tg_no_grad_suspend(tape);
    tg_tensor y = tg_activate(activation, x, NULL), slope;
    if (!tg_grad(&y, 1, &x, 1, NULL, false, &slope))
        slope = TG_NONE;
    tg_no_grad_resume(tape, scopes);
    return slope;
}
