/* Reductions over axes. */
#include "autograd/ops.h"

tg_tensor tg_mean_over(tg_tensor x, tg_axes axes, bool keep)
{
    tg_tensor sum = tg_sum_over(x, axes, keep);
    return tg_scale(sum, (double)tg_size(sum) / (double)tg_size(x)); /* of an empty tensor 0 * infinity */
}

tg_tensor tg_mean(tg_tensor x)
{
    return tg_mean_over(x, TG_ALL_AXES, false);
}
