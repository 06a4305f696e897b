#include "nn/activation.h"

#include "autograd/grad.h"
#include "autograd/base/names.h"
#include "nn/config_internal.h"

#include <math.h>
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

static tg_tensor stochastic_gelu(tg_tensor x, tg_rng *training)
{
    return tg_stochastic_gelu(x, tg_random_stream(tg_tape_of(x), training));
}

static const struct {
    const char *name, *formula;
    tg_tensor (*evaluation)(tg_tensor x);            /* of a plain one */
    tg_tensor (*training)(tg_tensor x, tg_rng *rng); /* where that differs */
    double gain;
    tg_tensor (*product)(tg_tensor gate, tg_tensor value); /* of a gated one */
    tg_activation gate;
    double level, spread;
} table[] = {
#define TG_PLAIN(constant, word, number, of_x, of_x_and_rng, text) \
    [constant] = {.name = #word, .formula = text, .evaluation = of_x, .training = of_x_and_rng, .gain = number},
#define TG_SQUARE(constant, word, number, of_x, at_one, around, text) \
    [constant] = {                                                    \
        .name = #word, .formula = text, .evaluation = of_x, .gain = number, .level = at_one, .spread = around},
#define TG_GATED(constant, word, inner, of_both, at_one, around, text) \
    [constant] = {.name = #word, .formula = text, .product = of_both, .gate = inner, .level = at_one, .spread = around},
#include "nn/activations.def"
};
enum { ACTIVATIONS = sizeof table / sizeof table[0] };

static bool is_known(tg_activation activation)
{
    return (unsigned)activation < ACTIVATIONS;
}

/* ---- names ---- */

TG_NAMES(activation, tg_activation, ACTIVATIONS, table[i].name)

const char *tg_activation_formula(tg_activation activation)
{
    return is_known(activation) ? table[activation].formula : NULL;
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
    return "not an activation; there are"
#define TG_PLAIN(constant, word, gain, evaluation, training, formula) " " #word
#include "nn/activations.def"
           ", and gated"
#define TG_GATED(constant, word, gate, product, level, spread, formula) " " #word
#include "nn/activations.def"
        ;
}

bool tg_activation_is_gated(tg_activation activation)
{
    return is_known(activation) && table[activation].product;
}

double tg_activation_gain(tg_activation activation)
{
    return is_known(activation) && !tg_activation_is_gated(activation) ? table[activation].gain : 1;
}

double tg_activation_open_gain(tg_activation activation, double alpha)
{
    const bool opens = is_known(activation) && table[activation].level > 0;
    return opens ? 1 / sqrt(table[activation].level + alpha * alpha * table[activation].spread) : 0;
}

/* ---- values ---- */

tg_tensor tg_activate(tg_activation activation, tg_tensor x, tg_rng *training)
{
    if (!is_known(activation) || !table[activation].evaluation)
        return TG_FAIL(tg_tape_of(x), "tg_activate: %s is not an activation of one tensor%s",
                       is_known(activation) ? table[activation].name : "a number out of range",
                       is_known(activation) ? "; tg_activate_gated takes the gate and the value" : "");
    return training && table[activation].training ? table[activation].training(x, training)
                                                  : table[activation].evaluation(x);
}

tg_tensor tg_activate_gated(tg_activation activation, tg_tensor gate, tg_tensor value)
{
    if (tg_activation_is_gated(activation))
        return table[activation].product(gate, value);
    return TG_FAIL(tg_tape_of(gate), "tg_activate_gated: %s is not a gated activation",
                   is_known(activation) ? table[activation].name : "a number out of range");
}

tg_tensor tg_activation_derivative(tg_activation activation, tg_tensor x)
{
    if (tg_activation_is_gated(activation))
        activation = table[activation].gate;
    tg_tape *tape = tg_tape_of(x);
    const int scopes = tg_no_grad_suspend(tape);
    tg_tensor y = tg_activate(activation, x, NULL), derivative;
    if (!tg_grad(&y, 1, &x, 1, NULL, false, &derivative))
        derivative = TG_NONE;
    tg_no_grad_resume(tape, scopes);
    return derivative;
}
