#include "nn/layers/rotary.h"

#include "nn/config_internal.h"

#include <math.h>

/* 0, 1, 2, ... */
static tg_tensor counted(tg_tape *tape, tg_dtype dtype, int64_t count)
{
    return tg_add_scalar(tg_cumsum(tg_full(tape, dtype, TG_SHAPE(count), 1), 0, false), -1);
}

tg_rotary tg_rotary_angles_at(tg_tape *tape, tg_dtype dtype, tg_tensor index, int64_t positions, int64_t size,
                              double base)
{
    if (size < 2 || size % 2 != 0 || !(base > 0)) {
        tg_tape_fail(tape, "tg_rotary_angles: expected an even size and a positive base, not %lld and %g",
                     (long long)size, base);
        return (tg_rotary){0};
    }
    tg_no_grad_begin(tape);
    tg_tensor rates = tg_exp(tg_mul_scalar(counted(tape, dtype, size / 2), -2 * log(base) / (double)size));
    tg_tensor angle = tg_outer(index.value ? tg_index_select(counted(tape, dtype, positions), 0, index)
                                           : counted(tape, dtype, positions),
                               rates);
    const tg_rotary rotary = {tg_cos(angle), tg_sin(angle)};
    tg_no_grad_end(tape);
    return rotary;
}

tg_rotary tg_rotary_angles(tg_tape *tape, tg_dtype dtype, int64_t positions, int64_t size, double base)
{
    return tg_rotary_angles_at(tape, dtype, TG_NONE, positions, size, base);
}

tg_tensor tg_rotary_turn(const tg_rotary *rotary, tg_tensor x)
{
    if (!rotary || !tg_ok(rotary->cosine) || !tg_ok(x))
        return TG_NONE;
    const int64_t positions = tg_dim(rotary->cosine, 0), half = tg_dim(rotary->cosine, 1);
    char has[128];
    if (tg_rank(x) < 2 || tg_dim(x, -2) != positions ||
        tg_dim(x, -1) != 2 * half) { /* broadcasting would accept some of these */
        const tg_shape shape = tg_shape_of(x);
        return TG_FAIL(tg_tape_of(x), "tg_rotary_turn: expected [..., %lld, %lld], as the angles are for, got %s",
                       (long long)positions, (long long)(2 * half), tg_shape_text(&shape, has, sizeof has));
    }
    tg_tensor first = tg_slice(x, -1, 0, half, 1), second = tg_slice(x, -1, half, 2 * half, 1);
    const tg_tensor from_second = tg_mul(second, rotary->sine),
                    new_first = tg_sub(tg_mul(first, rotary->cosine), from_second),
                    from_first = tg_mul(first, rotary->sine),
                    new_second = tg_add(tg_mul(second, rotary->cosine), from_first);
    return tg_concat((const tg_tensor[]){new_first, new_second}, 2, -1);
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    const tg_rotary rotary = tg_rotary_angles(tg_tape_of(x), tg_dtype_of(x), tg_dim(x, -2), tg_dim(x, -1), 10000);
    (void)self, (void)pass;
    return tg_rotary_turn(&rotary, x);
}

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    (void)layer, (void)set, (void)name, (void)x, (void)sample;
    return (tg_layer){.kind = &tg_rotary_kind};
}

static const tg_shape shapes[] = {{2, {3, 4}}, {4, {2, 2, 3, 2}}, {0}};

static const tg_layer_sample samples[] = {{"", "pairs turned by an angle that grows with the position", shapes}, {0}};

const tg_layer_kind tg_rotary_kind = {"rotary", "layer", 0, forward, add, samples};
