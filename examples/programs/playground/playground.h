/* The interface of the page of `make playground`: two nets that learn the same points in the plane, side by side.
 *
 *     playground *p = playground_new();
 *     playground_draw(p, 0, 300, -1, 1);                              // "spirals"; playground_name(PLAYGROUND_DATA, 0)
 *     playground_hold_out(p, 25);                                     // a quarter of the points is for testing
 *     playground_net(p, 0, TG_GELU_EXACT, 2, 16, TG_ADAMW, 1e-2, 1);  // the left one: two hidden layers of 16 units
 *     playground_net(p, 1, TG_RELU, 2, 16, TG_ADAMW, 1e-2, 1);        // the right one
 *     while (playground_accuracy(p, 0, true) < 0.99)
 *         printf("loss %g and %g\n", playground_train(p, 0, 10), playground_train(p, 1, 10));
 *     const float *map = playground_map(p, 0, 64);                    // the boundary, and a map for each hidden unit
 *     playground_free(p);
 *
 * The library computes everything; a caller only draws. JavaScript passes only numbers and pointers, so choices are
 * indices of lists, in the library's order. An array or text that a function returns belongs to the playground and is
 * valid until the next call. A function that fails returns false, 0, NaN or NULL, and playground_error says why.
 * `which` is 0 or 1.
 */
#pragma once

#include "examples/programs/system/standard.h"

typedef struct playground playground;

/* Largest sizes: points, hidden layers, units of a layer. */
enum { PLAYGROUND_POINTS = 2000, PLAYGROUND_DEPTH = 6, PLAYGROUND_WIDTH = 32 };

playground *playground_new(void); /* without points and nets; NULL if out of memory */
void playground_free(playground *p);
const char *playground_error(const playground *p); /* error of the last call; NULL: it succeeded */

/* ---- lists ---- */

typedef enum playground_list {
    PLAYGROUND_DATA,
    PLAYGROUND_ACTIVATIONS,
    PLAYGROUND_OPTIMIZERS,
    PLAYGROUND_PENALTIES
} playground_list;

/* The name of an entry: of a synthetic data set in the plane, of two classes or a number
 * (examples/programs/data/kinds.c), an activation, an optimiser, a penalty on weights. NULL past the end. */
const char *playground_name(playground_list list, int index);

const char *playground_formula(int activation); /* "x Phi(x)"; NULL if there is none */
double playground_rate(int optimizer);          /* a typical learning rate for small nets */

/* ---- data ---- */

/* Replaces all points by `count` points of a data set, the same ones as `--data NAME --rows COUNT --noise NOISE` of the
 * programs with this seed; a negative noise is the data set's usual one, playground_noise. */
bool playground_draw(playground *p, int data, int count, double noise, int seed);
double playground_noise(int data);

/* Points of classes, one by one; to a regression they cannot be added. */
void playground_clear(playground *p);
bool playground_add(playground *p, double x, double y, int label /* 0 or 1 */);

/* Holds this share of the points out for testing, the same of both classes: 0, the default, to 90. */
bool playground_hold_out(playground *p, int percent);

int playground_count(const playground *p);
const float *playground_points(const playground *p);     /* [count, 2] */
const float *playground_targets(const playground *p);    /* [count]: the class, 0 or 1, or the number to predict */
bool playground_regresses(const playground *p);          /* true if they are numbers */
bool playground_is_test(const playground *p, int index); /* of a point */

/* Both axes of a map go from -reach to reach. It is a multiple of 1/4, at least 1, and all points lie within; without
 * points it is 2. */
double playground_reach(const playground *p);

/* ---- nets ---- */

/* Replaces a net and its optimiser: `depth` hidden layers of `width` units each (fewer for a gated activation, so that
 * the number of parameters is about the same). Nets with the same seed begin with the same weights where shapes agree.
 */
bool playground_net(playground *p, int which, int activation, int depth, int width, int optimizer, double rate,
                    int seed);

/* Sets how a net trains: points of a step (0: all training points; otherwise in random order, the same for both nets),
 * and a penalty on its weights, not on biases: none, strength sum |w|, or strength / 2 sum w^2. */
bool playground_way(playground *p, int which, int batch, int penalty, double strength);

/* Trains for `steps` steps; returns the loss of the points of the last step before it, without the penalty: the mean
 * cross entropy, in nats, or the mean squared error. NaN on an error. */
double playground_train(playground *p, int which, int steps);

/* Over all training points, or those for testing: the loss; and the share of points that are classified correctly, 0 ..
 * 1, or in a regression R2. NaN without points. */
double playground_loss(playground *p, int which, bool test);
double playground_accuracy(playground *p, int which, bool test);
int playground_parameters(const playground *p, int which);

/* The widths of the hidden layers as made; 0 past the last one. */
int playground_width(const playground *p, int which, int layer);

/* ---- looking at them ---- */

/* [1 + hidden units, size, size]: over the square from the lower left corner, row by row upwards, the probability of
 * class 1, or in a regression the prediction, then the output of each hidden unit, layer by layer. `size` is at most
 * 256. */
const float *playground_map(playground *p, int which, int size);

/* The number of hidden units that do not respond to any point (nn/models/dead_units.h). */
int playground_dead(playground *p, int which);

/* [bins]: the fraction of the activation's inputs, over all hidden units and points, in each bin of [low, high]; inputs
 * outside are in no bin. */
const double *playground_histogram(playground *p, int which, double low, double high, int bins);

/* [3, count]: an activation, its first and its second derivative at points spread evenly over [low, high], in double.
 * For a gated activation, the function that is applied to the gate. */
const double *playground_curve(playground *p, int activation, double low, double high, int count);

/* The tape of one training step, as a Graphviz graph (autograd/listing.h). The weights stay as they are. */
const char *playground_tape(playground *p, int which);

/* A tensor of that tape by its number: number of elements, smallest, mean and largest; then the same for the gradient
 * of the loss by it (0 elements: none). NULL past the end, and before the first tape. */
typedef struct playground_summary {
    double elements, smallest, mean, largest;
} playground_summary;
const playground_summary *playground_tensor(playground *p, int index); /* [2] */

/* The gradient is checked on the mean loss of the first points, up to this number. */
enum { PLAYGROUND_CHECKED = 40 };

/* [3, count]: its derivative by the weight with the largest gradient, from central differences: the step, 1/2, 1/4,
 * ...; the relative error of the difference computed in double, and in float; both against the gradient in double. */
const double *playground_differences(playground *p, int which, int count);

/* The verdict of the library's checker on the gradient by all parameters, in double: a sentence. */
const char *playground_gradcheck(playground *p, int which);
