/* Sample inputs that several categories share. */
#include "autograd/ops/category.h"

#include <math.h>

const double tg_edges[9] = {0, -0.0, 1e-30, -1e30, 1e30, INFINITY, -INFINITY, NAN, -5.5};

const tg_sample tg_unary_samples[9] = {
    {.input = {{.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}}}},
    {.input = {{.shape = {2, {2, 0}}}}},
    {.input = {{.shape = {1, {33}}}}},
    {.input = {{.shape = {3, {1, 2, 1}}}}},
    {.input = {{.shape = {1, {17}}, .low = -12, .high = 12}}},
    {.input = {{.shape = {1, {5}}, .low = -0.01, .high = 0.01}}},
    {.input = {{.shape = {2, {2, 7}}, .low = -8, .high = -4}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}}},
};

const tg_sample tg_positive_samples[8] = {
    {.input = {{.shape = {2, {3, 4}}, .low = 0.1, .high = 3}}},
    {.input = {{.shape = {0}, .low = 0.1, .high = 3}}},
    {.input = {{.shape = {2, {2, 0}}, .low = 0.1, .high = 3}}},
    {.input = {{.shape = {1, {33}}, .low = 0.5, .high = 2}}},
    {.input = {{.shape = {3, {1, 2, 1}}, .low = 0.9, .high = 1.1}}},
    {.input = {{.shape = {1, {17}}, .low = 1, .high = 1000}}},
    {.input = {{.shape = {1, {5}}, .low = 0.001, .high = 0.01}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}}},
};

const tg_sample tg_kinked_samples[8] = {
    {.input = {{.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {0}, .low = 0.5, .high = 2}}},
    {.input = {{.shape = {2, {2, 0}}}}},
    {.input = {{.shape = {1, {33}}, .low = 0.1, .high = 2.5}}},
    {.input = {{.shape = {3, {1, 2, 1}}, .low = -2, .high = -0.5}}},
    {.input = {{.shape = {1, {17}}, .low = -12, .high = 12}}},
    {.input = {{.shape = {2, {2, 7}}, .low = -8, .high = -4}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}}},
};

const tg_sample tg_binary_samples[8] = {
    {.input = {{.shape = {2, {3, 4}}}, {.shape = {2, {3, 4}}}}},
    {.input = {{.shape = {3, {2, 1, 3}}}, {.shape = {2, {4, 1}}}}},
    {.input = {{.shape = {1, {5}}}, {.shape = {0}}}},
    {.input = {{.shape = {0}}, {.shape = {2, {2, 3}}}}},
    {.input = {{.shape = {2, {0, 3}}}, {.shape = {1, {3}}}}},
    {.input = {{.shape = {1, {9}}, TG_EDGES}, {.shape = {2, {9, 1}}, TG_EDGES}}},
    {.input = {{.shape = {4, {2, 1, 2, 1}}}, {.shape = {3, {3, 1, 2}}}}},
    {.input = {{.shape = {1, {1}}}, {.shape = {3, {1, 1, 1}}}}},
};
