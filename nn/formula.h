/* An activation written as a formula.
 *
 *     tg_error error;
 *     tg_formula *mine = tg_formula_new("mine: x sigmoid(b x), b = 1.5", &error);
 *     if (!mine)
 *         fprintf(stderr, "%s\n", error.text);              // column 9, at 'sigmoyd(b x), ...': there is no ...
 *     tg_tensor y = tg_formula_apply(mine, &x, NULL);       // x of any shape; b is 1.5
 *     tg_tensor z = tg_formula_apply(mine, &x, &b);         // b, a tensor, may be trained
 *     tg_formula_free(mine);
 *
 * The text is compiled once into a list of the tape's operations. So derivatives of every order, gradient checks and
 * exports follow, in both precisions.
 *
 *     [NAME :] FORMULA [, NUMBER = VALUE [per unit]] ...
 *
 *     x                       the input; in a gate u and v instead, as in "u * gelu_exact(v)"
 *     2, 1.5e-3, pi, e        numbers
 *     + - * /  a b  2 x       a b is a product like a * b; a / b c is refused, as it can be read in two ways
 *     a ^ b                   b without x, u and v; pow(a, b) has no such limit. -x ^ 2 is -(x ^ 2)
 *     a < b  <= > >= == !=    1 or 0
 *     where(c, a, b)          a where c is not 0, else b. Both are computed: an infinite derivative of the one that
 *                             was not chosen gives NaN, as in PyTorch
 *     max(a, b) min(a, b)     at a tie half of the derivative goes to each; max(0, x) is relu(x), derivative 0 at 0
 *     clamp(a, low, high)     limits are numbers; also leaky_relu(a, slope), elu(a, alpha), power(a, exponent)
 *     NAME(a), NAME(a, b)     every function of elementwise.def: exp, tanh, sigmoid, erf, softplus, silu, ...
 *
 * A trained number is a parameter, with this value at first, of the layer that has the activation: one for the layer,
 * or one for each of its units.
 */
#ifndef TG_FORMULA_H
#define TG_FORMULA_H

#include "autograd/error.h"
#include "autograd/ops.h"

TG_API_BEGIN

/* Limits: characters of a text and of a name in it, nested parentheses, steps of the program, trained numbers. */
enum {
    TG_FORMULA_LENGTH = 500,
    TG_FORMULA_NAME = 40,
    TG_FORMULA_DEPTH = 40,
    TG_FORMULA_STEPS = 200,
    TG_FORMULA_NUMBERS = 8
};

typedef struct tg_formula tg_formula;

/* The formula, to be freed; NULL and the error, with the column where the text goes wrong, what was expected there and
 * a similar name, if it is no formula, is too long or nested too deeply, or if out of memory. */
tg_formula *tg_formula_new(const char *text, tg_error *error);
void tg_formula_free(tg_formula *formula);

/* The text with single blanks; and the name in front, or the whole text without one. */
const char *tg_formula_text(const tg_formula *formula);
const char *tg_formula_name(const tg_formula *formula);

/* True if it is a function of u and v. */
bool tg_formula_is_gated(const tg_formula *formula);

/* A trained number: "b", 1. */
typedef struct tg_formula_number {
    char name[32];
    double value;
    bool per_unit;
} tg_formula_number;

/* Number `index` of the trained numbers; NULL past the end. */
const tg_formula_number *tg_formula_number_at(const tg_formula *formula, int index);

/* The formula of inputs[0] = x, or of inputs[0] = u and inputs[1] = v, element by element. `numbers` are tensors for
 * its trained numbers that broadcast to the inputs; NULL: their first values. */
tg_tensor tg_formula_apply(const tg_formula *formula, const tg_tensor inputs[], const tg_tensor numbers[]);

TG_API_END
#endif
