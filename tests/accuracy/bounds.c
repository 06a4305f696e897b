/* The promised accuracy of the kernels, in units in the last place. */
#include "tests/accuracy/accuracy.h"

#include <string.h>

static const struct {
    const char *name;
    double f32[REFERENCE_ORDERS], f64[REFERENCE_ORDERS];
    /* near a zero of a derivative, in 2^-24 (float) or 2^-53 (double) */
    double absolute[REFERENCE_ORDERS];
} bounds[] = {
    {"gelu_exact", {2, 2, 4}, {2, 3, 5}, {0, 1, 2}},
    {"gelu_tanh", {2, 2, 4}, {2, 3, 5}, {0, 1, 2}},
    {"gelu_quick", {2, 2, 4}, {2, 3, 5}, {0, 1, 2}},
    {"silu", {2, 2, 4}, {2, 3, 5}, {0, 1, 2}},
    {"softplus", {2, 3, 5}, {2, 3, 5}},
    {"mish", {6, 10, 12}, {6, 10, 14}, {0, 2, 3}},
    {"elu", {2, 2, 2}, {2, 2, 2}},
    {"selu", {3, 2, 2}, {3, 2, 2}},
    {"softsign", {2, 2, 4}, {2, 2, 4}},
    {"penalized_tanh", {2, 3, 5}, {3, 2, 5}},
    {"relu_squared", {2, 2, 4}, {2, 2, 4}},
    {"star_relu", {2, 2, 4}, {2, 2, 4}},
    {"xielu", {2, 2, 2}, {2, 2, 2}, {1, 1}},
    {"snake", {2, 2, 4}, {2, 2, 4}, {0, 8, 8}},
    {"erf_grad", {2}, {2}},
    {"exp", {2}, {2}},
    {"expm1", {2}, {2}},
    {"log", {1}, {1}},
    {"log1p", {2}, {2}},
    {"sin", {2, 2, 2}, {2, 2, 2}},
    {"cos", {2}, {2}},
    {"tanh", {3, 5, 7}, {3, 5, 7}},
    {"sigmoid", {3, 5, 7}, {3, 5, 7}},
    {"erf", {2, 2, 12}, {2, 2, 28}}, /* f'' is -2 x f', which is subnormal in the tail */
    {"erfc", {7}, {10}},
    {"sqrt", {0.5}, {0.5}},
    {"rsqrt", {1.5}, {1.5}},
};

accuracy_bound accuracy_bound_of(const char *name, bool is_double, int order)
{
    accuracy_bound bound = {0};
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (strcmp(bounds[i].name, name) == 0) {
            bound.ulp = (is_double ? bounds[i].f64 : bounds[i].f32)[order];
            bound.absolute = bounds[i].absolute[order] * (is_double ? 0x1p-53 : 0x1p-24);
        }
    return bound;
}

bool accuracy_holds(const accuracy *found, accuracy_bound bound)
{
    return found->max_ulp <= bound.ulp && found->max_abs <= bound.absolute;
}
