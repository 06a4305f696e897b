#include "nn/activation.h"

#include "autograd/base/names.h"
#include "autograd/grad.h"
#include "nn/config_internal.h"
#include "nn/formula_internal.h"
#include "nn/formulas.h"

#include <math.h>
#include <stdio.h>
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

/* Formulas follow the table. */
static const tg_formula_entry *entry_of(tg_activation activation)
{
    return (int)activation < ACTIVATIONS ? NULL : tg_formulas_at((int)activation - ACTIVATIONS);
}

static const tg_formula *formula_of(tg_activation activation)
{
    return entry_of(activation) ? entry_of(activation)->formula : NULL;
}

/* ---- names ---- */

const char *tg_activation_name(tg_activation activation)
{
    return is_known(activation) ? table[activation].name : tg_formula_text(formula_of(activation));
}

const char *tg_activation_label(tg_activation activation)
{
    return is_known(activation) ? table[activation].name : tg_formula_name(formula_of(activation));
}

const char *tg_activation_formula(tg_activation activation)
{
    return is_known(activation) ? table[activation].formula : tg_formula_text(formula_of(activation));
}

/* Its place in the table; ACTIVATIONS if it is not there. */
static int place_of(const char *name)
{
    int place = 0;
    while (place < ACTIVATIONS && strcmp(table[place].name, name) != 0)
        place++;
    return place;
}

static bool is_taken(const char *name)
{
    return place_of(name) < ACTIVATIONS;
}

/* The name of which at most a quarter of the letters differ; NULL: none. */
static const char *similar_to(const char *name)
{
    const char *similar = NULL;
    int least = (int)strlen(name) / 4 + 1;
    for (int a = 0; a < ACTIVATIONS; a++) {
        const int distance = tg_name_distance(name, table[a].name);
        similar = distance < least ? table[a].name : similar;
        least = distance < least ? distance : least;
    }
    return similar;
}

/* "gelu" in small or capital letters. */
static bool is_plain_gelu(const char *name)
{
    return tg_name_distance(name, "gelu") == 0;
}

bool tg_activation_read(const char *name, tg_activation *activation, tg_error *error)
{
    int index = name ? place_of(name) : ACTIVATIONS;
    if (index == ACTIVATIONS && !tg_formulas_takes(name)) {
        const char *similar = name && !is_plain_gelu(name) ? similar_to(name) : NULL;
        return tg_fail(error, similar ? "not an activation; '%s' is similar" : "%s",
                       similar ? similar : tg_activation_name_error(name));
    }
    if (index == ACTIVATIONS && (index += tg_formulas_index(name, is_taken, error)) < ACTIVATIONS)
        return false;
    if (activation)
        *activation = (tg_activation)index;
    return true;
}

bool tg_activation_from_name(const char *name, tg_activation *activation)
{
    return activation && tg_activation_read(name, activation, NULL);
}

const char *tg_activation_name_error(const char *name)
{
    if (name && is_taken(name))
        return NULL;
    if (name && is_plain_gelu(name))
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
    return is_known(activation) ? table[activation].product != NULL : tg_formula_is_gated(formula_of(activation));
}

double tg_activation_gain(tg_activation activation)
{
    if (entry_of(activation))
        return entry_of(activation)->gain;
    return is_known(activation) && !tg_activation_is_gated(activation) ? table[activation].gain : 1;
}

double tg_activation_open_gain(tg_activation activation, double alpha)
{
    const tg_formula_entry *e = entry_of(activation);
    const double level = is_known(activation) ? table[activation].level
                         : e                  ? e->level
                                              : 0,
                 spread = is_known(activation) ? table[activation].spread
                          : e                  ? e->spread
                                               : 0,
                 square = level + alpha * alpha * spread;
    return level > 0 && square > 0 && isfinite(square) ? 1 / sqrt(square) : 0;
}

/* ---- values ---- */

tg_tensor tg_activate(tg_activation activation, tg_tensor x, tg_rng *training)
{
    if (formula_of(activation) && !tg_activation_is_gated(activation))
        return tg_formula_apply(formula_of(activation), &x, NULL);
    if (!is_known(activation) || !table[activation].evaluation)
        return TG_FAIL(tg_tape_of(x), "tg_activate: %s is not an activation of one tensor%s",
                       tg_activation_name(activation) ? tg_activation_name(activation) : "a number out of range",
                       tg_activation_name(activation) ? "; tg_activate_gated takes the gate and the value" : "");
    return training && table[activation].training ? table[activation].training(x, training)
                                                  : table[activation].evaluation(x);
}

tg_tensor tg_activate_gated(tg_activation activation, tg_tensor gate, tg_tensor value)
{
    if (tg_activation_is_gated(activation))
        return formula_of(activation) ? tg_formula_apply(formula_of(activation), (tg_tensor[]){value, gate}, NULL)
                                      : table[activation].product(gate, value);
    return TG_FAIL(tg_tape_of(gate), "tg_activate_gated: %s is not a gated activation",
                   tg_activation_name(activation) ? tg_activation_name(activation) : "a number out of range");
}

/* f(x), or with the value 1. */
static tg_tensor function(const void *activation, tg_tensor x)
{
    const tg_activation a = *(const tg_activation *)activation;
    return tg_activation_is_gated(a)
               ? tg_activate_gated(a, x, tg_full(tg_tape_of(x), tg_dtype_of(x), tg_shape_of(x), 1))
               : tg_activate(a, x, NULL);
}

bool tg_activation_measure(tg_activation activation, tg_moments *moments)
{
    return moments && tg_activation_name(activation) && tg_moments_measure(function, &activation, moments);
}

tg_tensor tg_activation_derivative(tg_activation activation, tg_tensor x)
{
    if (is_known(activation) && tg_activation_is_gated(activation))
        activation = table[activation].gate;
    tg_tape *tape = tg_tape_of(x);
    const int scopes = tg_no_grad_suspend(tape);
    tg_tensor y = function(&activation, x), derivative;
    if (!tg_grad(&y, 1, &x, 1, NULL, false, &derivative))
        derivative = TG_NONE;
    tg_no_grad_resume(tape, scopes);
    return derivative;
}

/* ---- trained numbers ---- */

int64_t tg_activation_number_count(tg_activation activation, int64_t units)
{
    int64_t count = 0;
    for (int i = 0; tg_formula_number_at(formula_of(activation), i); i++)
        count += tg_formula_number_at(formula_of(activation), i)->per_unit ? units : 1;
    return count;
}

tg_activation_numbers tg_activation_add_numbers(tg_parameters *set, const char *name, tg_activation activation,
                                                int64_t units)
{
    tg_activation_numbers numbers = {{NULL}};
    const tg_formula_number *n;
    for (int i = 0; (n = tg_formula_number_at(formula_of(activation), i)); i++) {
        char full[TG_NAME_SIZE + 2];
        snprintf(full, sizeof full, "%s.activation.%s", name ? name : "", n->name);
        numbers.number[i] = tg_parameters_add(set, full, TG_SHAPE(n->per_unit ? units : 1), false);
        if (numbers.number[i])
            tg_parameter_fill(numbers.number[i], n->value);
    }
    return numbers;
}

tg_tensor tg_activate_with(tg_activation activation, const tg_activation_numbers *numbers, tg_tensor x, tg_tensor value,
                           tg_rng *training)
{
    const tg_formula *formula = formula_of(activation);
    const bool gated = tg_activation_is_gated(activation);
    tg_tensor number[TG_FORMULA_NUMBERS];
    if (!tg_formula_number_at(formula, 0))
        return gated ? tg_activate_gated(activation, x, value) : tg_activate(activation, x, training);
    for (int i = 0; tg_formula_number_at(formula, i); i++) {
        if (!numbers || !numbers->number[i])
            return TG_FAIL(tg_tape_of(x), "tg_activate_with: the layer has no parameter for '%s' of %s",
                           tg_formula_number_at(formula, i)->name, tg_formula_name(formula));
        number[i] = tg_parameter_tensor(tg_tape_of(x), numbers->number[i]);
        if (tg_rank(x) == 4 && tg_size(number[i]) > 1)
            number[i] = tg_reshape(number[i], TG_SHAPE(tg_size(number[i]), 1, 1));
    }
    const tg_tensor y = tg_formula_apply(formula, gated ? (tg_tensor[]){value, x} : &x, number);
    if (tg_ok(y) && (tg_rank(y) != tg_rank(x) || tg_size(y) != tg_size(x)))
        return TG_FAIL(tg_tape_of(x), "tg_activate_with: %s has a number for each of other units",
                       tg_formula_name(formula));
    return y;
}
