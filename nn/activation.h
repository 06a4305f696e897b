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

/* TG_GELU_EXACT, ...; gated ones begin at TG_GLU. activations.def has their names and formulas. */
typedef enum tg_activation {
#define TG_PLAIN(constant, name, gain, evaluation, training, formula)   constant,
#define TG_GATED(constant, name, gate, product, level, spread, formula) constant,
#include "nn/activations.def"
} tg_activation;

/* The name, "gelu_exact", "swiglu", ..., and the formula as text. NULL past the end of the list. */
const char *tg_activation_name(tg_activation activation);
const char *tg_activation_formula(tg_activation activation);

/* The activation with this name; false, with nothing written, if the name is unknown. There is no plain "gelu". */
bool tg_activation_from_name(const char *name, tg_activation *activation);

/* NULL if an activation has this name; otherwise an error message with the names to choose from. */
const char *tg_activation_name_error(const char *name);

bool tg_activation_is_gated(tg_activation activation);

/* 1 / sqrt(E f(z)^2) for a standard normal z: weights with deviation gain / sqrt(fan_in) after the activation keep the
 * variance of pre-activations at 1. For a gated activation the gain is 1, as in T5 and PaLM. A product grows with the
 * square of its inputs, so no gain keeps the variance: a row twice as large as others is four times as large after the
 * first layer, sixteen times after the second. */
double tg_activation_gain(tg_activation activation);

/* 1 / sqrt(E f(1 + alpha z)^2) for a gated activation f(gate) value and for squares: weights with deviation gain /
 * sqrt(fan_in) after the activation keep the second moment at 1 if it begins open, with bias 1 and pre-activations of
 * deviation alpha, 0.3 at most. The product is then nearly linear in its value, and a square in its input, so a row
 * twice as large as others is not four times as large. 0 for other activations, which need no such beginning. */
double tg_activation_open_gain(tg_activation activation, double alpha);

/* f(x). `training` is the generator of a training pass, from which a random activation draws; NULL: evaluation. */
tg_tensor tg_activate(tg_activation activation, tg_tensor x, tg_rng *training);

/* f(gate) value, for a gated activation; both of one shape. */
tg_tensor tg_activate_gated(tg_activation activation, tg_tensor gate, tg_tensor value);

/* f'(x), element by element; for a gated activation the derivative of the function applied to its gate. */
tg_tensor tg_activation_derivative(tg_activation activation, tg_tensor x);

TG_API_END
#endif
