#include "nn/accumulate.h"

#include "autograd/ops.h"

#include <math.h>

bool tg_accumulate(tg_tape *tape, int parts, tg_part_loss loss, void *user, double *mean)
{
    double sum = 0;
    bool fine = true;
    if (mean)
        *mean = NAN;
    if (!loss || parts < 1)
        return tg_tape_fail(tape, "tg_accumulate: expected a loss and one part at least, got %d", parts);
    for (int i = 0; fine && i < parts; i++) {
        tg_tape_reset(tape);
        tg_tensor part = tg_mul_scalar(loss(tape, i, user), 1. / parts);
        fine = tg_backward(part) || tg_tape_fail(tape, "tg_accumulate: part %d has no loss", i);
        sum += tg_item(part);
    }
    if (fine && mean)
        *mean = sum;
    return fine;
}
