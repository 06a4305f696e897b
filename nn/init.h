/* Initial weights.
 *
 *     tg_rng rng = tg_rng_seed(1);
 *     tg_parameters_initialize(set, TG_INIT_VARIANCE_PRESERVING, 0, &rng);              // a whole model
 *     tg_initialize(layer.weight, TG_INIT_HE_NORMAL, tg_init_gain(TG_INIT_HE_NORMAL, TG_RELU), &rng);    // one weight
 *
 * Numbers are drawn in double from tg_rng_stream(rng, name of the parameter), so parameters of one name and
 * shape get the same ones, up to the gain, whatever else the model has and whether it is float or double. A
 * weight is a matrix [out, in], or [out, in, ...] for convolutions, where fan_in = in ... and fan_out = out
 * ... count the numbers that one output sees and that one input reaches.
 *
 * A network of sines, SIREN (Sitzmann et al., arXiv 2006.09661), is the activation `sine` with the initialiser `siren`:
 * layers sin(W x + b), with the paper's omega_0 = 30 multiplied into the first weight. The paper's code has sin(30 (W x
 * + b)) in every layer and weights that are 30 times smaller. These are the same functions of the input at first, the
 * last layer's scale aside, and Adam changes them as much where its rate here is 30 times the rate there. Biases begin
 * at zero here, and uniformly within 1 / sqrt(fan_in) there.
 */
#ifndef TG_INIT_H
#define TG_INIT_H

#include "autograd/parameters.h"
#include "nn/activation.h"

TG_API_BEGIN

/* TG_INIT_VARIANCE_PRESERVING, TG_INIT_HE_NORMAL, ...: with names and distributions in initializers.def. */
typedef enum tg_init {
#define TG_INITIALIZER(constant, name, ...) constant,
#include "nn/initializers.def"
#undef TG_INITIALIZER
} tg_init;

/* "variance_preserving", "he_normal", ..., and back; false, with nothing written, for an unknown name. */
const char *tg_init_name(tg_init init);
bool tg_init_from_name(const char *name, tg_init *init);

/* The gain that an initialiser has by itself, which may be that of the activation: see the list. 1 for an unknown one.
 */
double tg_init_gain(tg_init init, tg_activation activation);

/* Fills the parameter, for TG_INIT_SIREN as one that is not the first of a model. `rng` is read and not moved; NULL
 * means that of seed 0. False, and nothing written,
 * for a parameter with fewer than two axes, an unknown initialiser, a gain that is not a positive number, or if out of
 * memory (only TG_INIT_ORTHOGONAL needs some). */
bool tg_initialize(tg_parameter *parameter, tg_init init, double gain, const tg_rng *rng);

/* Sets the distribution from which a parameter will be drawn. NULL is allowed. */
void tg_parameter_initial(tg_parameter *parameter, tg_initial initial);

/* Fills all parameters of the set that say how they begin: normal numbers of their deviation, or by this rule with this
 * gain; 0 means that of the initialiser, which may be the parameter's own. Each draws from a stream of its own name.
 * False on an error: that of the set, an unknown initialiser, a wrong gain, or if out of memory. */
bool tg_parameters_initialize(tg_parameters *set, tg_init init, double gain, const tg_rng *rng);

TG_API_END
#endif
