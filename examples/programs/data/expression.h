/* Numbers as texts: "100 * max(dead, 0)", "largest(abs(gelu_tanh(x) - gelu_exact(x)), 0, 8, 0.001)".
 *
 *     const char *wrong;
 *     double y = expression_value("exp(best_val_loss)", number_called, run, &wrong);   // wrong: NULL, or the reason
 *
 * Sums, products, negative numbers and parentheses; names, whose numbers a function gives; and these functions:
 *
 *     exp log log10 sqrt abs erfc tanh        max(a, b) min(a, b)
 *     gelu_exact(a), silu'(a), elu''(a)       an activation and its derivatives, in double precision, on the tape
 *     weights_of_swiglu(w)                    weights of a feed-forward layer, 768-3072-768; w = 1: gates have its width
 *     bytes_of_relu(r)                        memory of a training step of 4 blocks of BERT; r = 1: blocks are recomputed
 *     largest(f, a, b, h), place_of_largest   f is an expression in x, which is a, a + h, ... up to b
 *     sum(f, a, b, h)
 *     zero(f, a, b)                           the x between a and b at which f stops being negative, by bisection
 */
#ifndef DATA_EXPRESSION_H
#define DATA_EXPRESSION_H

/* NaN, with a reason in *wrong, if the text is no such expression, a name has no number, or the tape fails. */
double expression_value(const char *text, double (*called)(const void *context, const char *name), const void *context,
                        const char **wrong);

#endif
