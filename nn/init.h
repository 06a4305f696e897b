/* Initial weights.
 *
 *     tg_rng rng = tg_rng_seed(1);
 *     tg_parameters_initialize(set, TG_INIT_VARIANCE_PRESERVING, 1, &rng);              // a whole model
 *     tg_initialize(layer.weight, TG_INIT_HE_NORMAL, tg_init_gain(TG_INIT_HE_NORMAL, TG_RELU), &rng);    // one weight
 *
 * Numbers are drawn in double from tg_rng_stream(rng, name of the parameter), so parameters of the same name and shape
 * get the same numbers, up to the gain, whatever the rest of the model is and whether it is float or double. A weight
 * is a matrix [out, in], or [out, in, ...] for convolutions, where fan_in = in ... is the number of inputs of one
 * output, and fan_out = out ... the number of outputs of one input.
 *
 * A network of sines, SIREN (Sitzmann et al., arXiv 2006.09661), is the activation `sine` with the initialiser `siren`:
 * layers sin(W x + b), with the paper's omega_0 = 30 multiplied into the first weight. The paper's code has sin(30 (W x
 * + b)) in every layer and weights that are 30 times smaller. Initially both are the same function, except for the
 * scale of the last layer; Adam changes them equally if the learning rate here is 30 times the paper's. Biases begin at
 * zero here, and uniform within 1 / sqrt(fan_in) in the paper.
 */
#ifndef TG_INIT_H
#define TG_INIT_H

#include "autograd/parameters.h"
#include "nn/activation.h"

TG_API_BEGIN

/* TG_INIT_DEFAULT, TG_INIT_VARIANCE_PRESERVING, ...; initializers.def has names and distributions. */
typedef enum tg_init {
#define TG_INITIALIZER(constant, name, ...) constant,
#include "nn/initializers.def"
#undef TG_INITIALIZER
} tg_init;

/* Converts to the name, "variance_preserving", "he_normal", ..., and back; false, with nothing written, for an unknown
 * name. */
const char *tg_init_name(tg_init init);
bool tg_init_from_name(const char *name, tg_init *init);

/* The default gain of an initialiser; for some, the gain of the activation: see initializers.def. 1 for an unknown one.
 */
double tg_init_gain(tg_init init, tg_activation activation);

/* Fills the parameter; TG_INIT_SIREN treats it as a weight after the first layer. `rng` is not advanced; NULL means the
 * generator of seed 0. False, with nothing written, for a parameter with fewer than two axes, an unknown initialiser, a
 * gain that is not a positive number, or if out of memory (only TG_INIT_ORTHOGONAL allocates). */
bool tg_initialize(tg_parameter *parameter, tg_init init, double gain, const tg_rng *rng);

/* Sets the distribution from which a parameter will be drawn. NULL is allowed. */
void tg_parameter_initial(tg_parameter *parameter, tg_initial initial);

/* Fills all parameters of the set whose `initial` is set: with normal numbers of their deviation, or by this
 * initialiser with its gain, or the parameter's own, times `scale`; 0 means 1. Each parameter draws from the stream of
 * its name. False if the set has an error, the initialiser is unknown, the scale is wrong, or if out of memory. */
bool tg_parameters_initialize(tg_parameters *set, tg_init init, double scale, const tg_rng *rng);

TG_API_END
#endif
