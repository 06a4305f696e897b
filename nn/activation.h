/* Activations by number and by name, plain ones and gated products; and formulas (nn/formula.h) in place of a name.
 *
 *     tg_activation activation;
 *     tg_error error;
 *     if (!tg_activation_read("x sigmoid(1.5 x)", &activation, &error))
 *         fprintf(stderr, "%s\n", error.text);
 *     tg_tensor h = tg_activate(activation, tg_linear(x, w, b), NULL);
 *
 * A plain activation is a function of one number. A gated one multiplies two: act(gate) value, after "GLU
 * Variants Improve Transformer" (Shazeer, arXiv 2002.05202).
 */
#ifndef TG_ACTIVATION_H
#define TG_ACTIVATION_H

#include "autograd/error.h"
#include "autograd/ops.h"
#include "autograd/parameters.h"
#include "nn/formula.h"
#include "nn/moments.h"

TG_API_BEGIN

/* TG_GELU_EXACT, ...; gated ones begin at TG_GLU. activations.def has their names and formulas. */
typedef enum tg_activation {
#define TG_PLAIN(constant, name, gain, evaluation, training, formula)   constant,
#define TG_GATED(constant, name, gate, product, level, spread, formula) constant,
#include "nn/activations.def"
} tg_activation;

/* The name, "gelu_exact", "swiglu", ..., and the formula as text. NULL past the end of the list. The name of a formula
 * is its text, with which a file or another process finds it again; its label is the word in front of it ("mine"), if
 * any. */
const char *tg_activation_name(tg_activation activation);
const char *tg_activation_label(tg_activation activation);
const char *tg_activation_formula(tg_activation activation);

/* The activation with this name, or of this formula; false, with nothing written, and the error if it is neither. There
 * is no plain "gelu". A formula becomes an activation with a number of its own when it is first read, until the process
 * ends; at most 256 do. */
bool tg_activation_read(const char *name, tg_activation *activation, tg_error *error);

/* The same without a message. */
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

/* What f does to a standard normal number (nn/moments.h); of a gated activation with the value 1. False, with nothing
 * written, for an unknown activation or if out of memory. */
bool tg_activation_measure(tg_activation activation, tg_moments *moments);

/* f'(x), element by element; for a gated activation the derivative of the function applied to its gate. */
tg_tensor tg_activation_derivative(tg_activation activation, tg_tensor x);

/* ---- trained numbers of formulas ---- */

/* The parameters of a layer for the trained numbers of its activation; empty for most activations. */
typedef struct tg_activation_numbers {
    tg_parameter *number[TG_FORMULA_NUMBERS];
} tg_activation_numbers;

/* How many numbers those of a layer with this many units are. */
int64_t tg_activation_number_count(tg_activation activation, int64_t units);

/* Adds NAME.activation.b for each trained number b, [1] or [units], with its first value and without weight decay. The
 * set remembers errors. */
tg_activation_numbers tg_activation_add_numbers(tg_parameters *set, const char *name, tg_activation activation,
                                                int64_t units);

/* f(x), or for a gated activation f(gate) value, with trained numbers. Units are the last axis, or axis 1 of images. */
tg_tensor tg_activate_with(tg_activation activation, const tg_activation_numbers *numbers, tg_tensor x, tg_tensor value,
                           tg_rng *training);

TG_API_END
#endif
