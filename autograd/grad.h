/* Derivatives: reverse mode over the tape, to any order.
 *
 *     tg_tensor loss = tg_cross_entropy(tg_mlp_forward(net, x), labels);
 *     if (!tg_backward(loss)) ...                       // gradients of all parameters, added up
 *
 *     tg_tensor y = tg_tanh(x), dy, d2y;                // derivatives as tensors
 *     tg_grad(&y, 1, &x, 1, NULL, true, &dy);
 *     tg_grad(&dy, 1, &x, 1, NULL, false, &d2y);
 */
#ifndef TG_GRAD_H
#define TG_GRAD_H

#include "autograd/leaf.h"

TG_API_BEGIN

/* Differentiates a scalar (one element) and adds d loss / d p to the gradient of every parameter p it depends on, and
 * of every tg_variable and retained tensor. May be called several times. A parameter's gradients add up, also over
 * steps, until an optimiser's step, or has_gradient = false, starts afresh; those of other tensors add up within a
 * step. False if the tape has an error; gradients that were written before the error remain: call
 * tg_parameters_clear_gradients before the next pass. */
bool tg_backward(tg_tensor loss);

/* tg_backward for a tensor of any shape, from a cotangent of the same shape. */
bool tg_backward_from(tg_tensor output, tg_tensor cotangent);

/* The gradient that tg_backward has computed for a tensor on the tape: a variable, a parameter, or a tensor marked with
 * tg_retain_gradient. Inert if there is none. */
tg_tensor tg_gradient(tg_tensor x);

/* Asks tg_backward to keep the gradient of this intermediate tensor; returns it. */
tg_tensor tg_retain_gradient(tg_tensor x);

/* Calls `hook` with the complete cotangent of x in every backward pass of this step that reaches x. What it returns
 * replaces the cotangent (return `cotangent` to only read it). Hooks of one tensor run in the order in which they were
 * added. They may record and differentiate as if outside the pass. A hook inside a checkpoint belongs to the result
 * that was recorded: a second derivative goes through the one that the first pass computed again, without it. */
typedef tg_tensor (*tg_hook_function)(tg_tensor cotangent, void *user);
bool tg_add_hook(tg_tensor x, tg_hook_function hook, void *user);

/* gradients[j] = sum over i of (d outputs[i] / d inputs[j])^T cotangents[i], like inputs[j]; zeros where there is no
 * path. Any floating tensor of the tape may be an input. `cotangents` NULL means ones; a single inert one means the
 * same for that output. What was computed inside tg_no_grad_begin is a constant. With create_graph the gradients can be
 * differentiated again; without it, that is an error. Parameters' gradients are not touched. False, and inert
 * gradients, if the tape has an error; `gradients` may not be the array of the outputs or inputs. */
bool tg_grad(const tg_tensor *outputs, int output_count, const tg_tensor *inputs, int input_count,
             const tg_tensor *cotangents, bool create_graph, tg_tensor *gradients);

/* Vector-Jacobian product: tg_grad of one output. result[j] = (dy / d inputs[j])^T cotangent. */
bool tg_vjp(tg_tensor y, tg_tensor cotangent, const tg_tensor *inputs, int count, tg_tensor *results);

/* Jacobian-vector product, sum over j of (dy / d inputs[j]) tangents[j], like y: the derivative along a direction. The
 * vector-Jacobian product is linear in its cotangent; its derivative by the cotangent gives the result. Inert on
 * error. */
tg_tensor tg_jvp(tg_tensor y, const tg_tensor *inputs, const tg_tensor *tangents, int count);

/* Hessian-vector product of a scalar: results[j] = sum over k of d2 loss / (d inputs[j] d inputs[k]) vectors[k]. */
bool tg_hvp(tg_tensor loss, const tg_tensor *inputs, const tg_tensor *vectors, int count, tg_tensor *results);

/* The dense Jacobian [size of y, size of x] and the dense Hessian of a scalar [size of x, size of x]: one backward pass
 * per row, so for small tensors. They are constants, so they cannot be differentiated further. Inert on error. */
tg_tensor tg_jacobian(tg_tensor y, tg_tensor x);
tg_tensor tg_hessian(tg_tensor loss, tg_tensor x);

TG_API_END
#endif
