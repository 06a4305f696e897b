/* Parameter sets: the numbers of a model that training changes, under their names.
 *
 *     tg_parameters *set = tg_parameters_new(TG_F32);
 *     tg_parameter *weight = tg_parameters_add(set, "layers.0.weight", TG_SHAPE(128, 784), true);
 *     tg_parameter *bias = tg_parameters_add(set, "layers.0.bias", TG_SHAPE(128), false);
 *     if (tg_parameters_error(set)) ...
 *     tg_tensor y = tg_linear(x, tg_parameter_tensor(tape, weight), tg_parameter_tensor(tape, bias));
 *
 * All values lie in one block and all gradients in another, without gaps and in the order in which parameters were
 * added. So a norm, an average or a file is one loop over tg_parameters_size numbers:
 *
 *     values     [ layers.0.weight ............. | layers.0.bias .. | layers.1.weight ... ]
 *     gradients  [ the same layout                                                        ]
 *
 * The set owns blocks, names and parameters. Add all parameters before you use the set: adding one moves the blocks
 * (not the tg_parameter pointers). Tensors recorded before that keep the old numbers until the next step.
 */
#ifndef TG_PARAMETERS_H
#define TG_PARAMETERS_H

#include "autograd/rng.h"
#include "autograd/leaf.h"

TG_API_BEGIN

typedef struct tg_parameters tg_parameters;

/* An empty set of TG_F32 or TG_F64 numbers, or NULL if out of memory. A tape whose step has read a parameter must be
 * reset or freed before the set is, or the model that it belongs to. */
tg_parameters *tg_parameters_new(tg_dtype dtype);
void tg_parameters_free(tg_parameters *set);

/* Maximum length of a parameter's name, including the final 0. */
enum { TG_NAME_SIZE = 200 };

/* Adds a parameter of zeros and returns it; it belongs to the set. The name is copied and must be new. `decay`: whether
 * weight decay applies; true for weights, false for biases and norms. NULL on an error, which the set remembers. */
tg_parameter *tg_parameters_add(tg_parameters *set, const char *name, tg_shape shape, bool decay);

/* The first error while the set was built, or NULL: check it once, when the set is complete. */
const char *tg_parameters_error(const tg_parameters *set);

/* The parameters in the order in which they were added; NULL past the end, or if none has that name. */
int tg_parameters_count(const tg_parameters *set);
tg_parameter *tg_parameters_at(const tg_parameters *set, int index);
tg_parameter *tg_parameters_find(const tg_parameters *set, const char *name);

/* The index of the parameter with this name; -1 if there is none. */
int tg_parameters_index(const tg_parameters *set, const char *name);

/* Reads and writes element `index` of a parameter, in memory order, converted from or to its type. Past the end,
 * reading gives NaN and writing does nothing. */
double tg_parameter_get(const tg_parameter *parameter, int64_t index);
void tg_parameter_put(tg_parameter *parameter, int64_t index, double value);

/* Fills a parameter with one value, or with normal numbers of mean 0 (which draws TG_STREAM_NUMBERS numbers from the
 * generator). */
void tg_parameter_fill(tg_parameter *parameter, double value);
void tg_parameter_fill_normal(tg_parameter *parameter, double deviation, tg_rng *rng);

/* The two blocks: each has `size` numbers of `dtype`, `bytes` bytes. After writing values yourself, call
 * tg_parameters_changed. tg_parameters_gradients first fills the gradient of each parameter whose has_gradient is false
 * with zeros and sets has_gradient. */
tg_dtype tg_parameters_dtype(const tg_parameters *set);
int64_t tg_parameters_size(const tg_parameters *set);
size_t tg_parameters_bytes(const tg_parameters *set);
void *tg_parameters_values(const tg_parameters *set);
void *tg_parameters_gradients(tg_parameters *set);

/* tg_parameter_changed (autograd/leaf.h) for all parameters of the set. */
void tg_parameters_changed(tg_parameters *set);

/* Where the numbers of a parameter of the set begin in the blocks, in bytes. */
size_t tg_parameter_offset(const tg_parameters *set, const tg_parameter *parameter);

/* True if some parameter has a gradient: tg_backward was called since the last step. */
bool tg_parameters_have_gradient(const tg_parameters *set);

/* The Euclidean norm of all gradients together, added up in double; parameters without a gradient count as
 * zero. */
double tg_parameters_gradient_norm(const tg_parameters *set);

/* Divides a set into TG_PARTS parts, for processes that share the work on it: part k of the set is part k of each
 * parameter. Sets *begin and *end: elements *begin .. *end - 1 of the parameter are in parts first .. first + count -
 * 1. */
enum { TG_PARTS = 16 };
void tg_parameter_part(const tg_parameter *parameter, int first, int count, int64_t *begin, int64_t *end);

/* Writes the sum of squares of the gradients in each of these parts into sums[first .. first + count - 1]. The square
 * root of all TG_PARTS sums, added from first to last, is bit-identical to the norm above. False, with nothing written,
 * for a set of fewer than 65,536 numbers, whose norm is added up in another order. */
bool tg_parameters_gradient_squares(const tg_parameters *set, int first, int count, double sums[TG_PARTS]);

/* Discards the gradients: the next backward pass overwrites them. An optimiser's step ends with this call. */
void tg_parameters_clear_gradients(tg_parameters *set);

/* Copies the values of every parameter that has the same name and shape in both sets, converting the type. Returns
 * their number. */
int tg_parameters_copy(tg_parameters *to, const tg_parameters *from);

/* Swaps the values with a block of the same size and type that stores other weights of the model: an average, or the
 * best so far. */
void tg_parameters_swap(tg_parameters *set, void *values);

TG_API_END
#endif
