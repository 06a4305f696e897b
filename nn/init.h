/* Initial weights.
 *
 *     tg_rng rng = tg_rng_seed(1);
 *     tg_initialize(layer.weight, TG_INIT_FITTED, tg_init_gain(TG_INIT_FITTED, TG_GELU_EXACT), &rng);
 *
 * Numbers are drawn in double from tg_rng_stream(rng, name of the parameter), so parameters of one name and
 * shape get the same ones, up to the gain, whatever else the model has and whether it is float or double. A
 * weight is a matrix [out, in], or [out, in, ...] for convolutions, where fan_in = in ... and fan_out = out
 * ... count the numbers that one output sees and that one input reaches.
 */
#ifndef TG_INIT_H
#define TG_INIT_H

#include "nn/activation.h"

TG_API_BEGIN

typedef enum tg_init {
    TG_INIT_FITTED,         /* normal, variance gain^2 / fan_in; the gain that fits the activation */
    TG_INIT_HE_NORMAL,      /* the same with gain sqrt(2): He, Zhang, Ren and Sun, arXiv 1502.01852 */
    TG_INIT_HE_UNIFORM,     /* uniform with that variance */
    TG_INIT_XAVIER_NORMAL,  /* normal, variance 2 gain^2 / (fan_in + fan_out), gain 1: Glorot and Bengio, 2010 */
    TG_INIT_XAVIER_UNIFORM, /* uniform with that variance */
    TG_INIT_UNIT_ROWS,      /* normal rows scaled to the length gain, 1: the code of arXiv 1606.08415 */
    TG_INIT_ORTHOGONAL,     /* orthogonal rows or columns, whichever are fewer, of the length gain, the one that
                               fits the activation: Saxe, McClelland and Ganguli, arXiv 1312.6120 */
} tg_init;

/* "fitted", "he_normal", ..., and back; false and nothing written for another name. */
const char *tg_init_name(tg_init init);
bool tg_init_from_name(const char *name, tg_init *init);

/* The gain that an initialiser has by itself: see the list. */
double tg_init_gain(tg_init init, tg_activation activation);

/* Fills the parameter. `rng` is read and not moved; NULL means that of seed 0. False, and nothing written,
 * for a parameter with fewer than two axes, an unknown initialiser, or if out of memory (only
 * TG_INIT_ORTHOGONAL needs some). */
bool tg_initialize(tg_parameter *parameter, tg_init init, double gain, const tg_rng *rng);

TG_API_END
#endif
