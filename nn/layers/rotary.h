/* Rotary positions: pairs of numbers rotated by an angle that grows with the position (Su and others, arXiv
 * 2104.09864), halves paired as in LLaMA.
 *
 *     angle[p, i] = p base^(-2 i / size)
 *     y[p, i]          = x[p, i] cos angle[p, i] - x[p, i + size/2] sin angle[p, i]          i < size/2
 *     y[p, i + size/2] = x[p, i + size/2] cos angle[p, i] + x[p, i] sin angle[p, i]
 *
 *     tg_rotary rotary = tg_rotary_angles(tape, TG_F32, positions, 16, 10000);     // once a step
 *     tg_tensor q = tg_rotary_turn(&rotary, queries);                              // [..., positions, 16]
 */
#ifndef TG_ROTARY_H
#define TG_ROTARY_H

#include "autograd/ops.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

/* The angles of positions 0, 1, ... for an even size; constants to all derivatives. An odd size is an error of the
 * tape. A tape that rounds (tg_tape_round) rounds positions too: bfloat16 has the integers up to 256. */
tg_rotary tg_rotary_angles(tg_tape *tape, tg_dtype dtype, int64_t positions, int64_t size, double base);

/* The same for some of these positions, i32 [count]: [count, size / 2]. */
tg_rotary tg_rotary_angles_at(tg_tape *tape, tg_dtype dtype, tg_tensor index, int64_t positions, int64_t size,
                              double base);

/* The rotated x, [..., positions, size]; the angles must have its positions and size. */
tg_tensor tg_rotary_turn(const tg_rotary *rotary, tg_tensor x);

TG_API_END
#endif
