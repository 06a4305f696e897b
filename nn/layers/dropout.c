#include "nn/layers/dropout.h"

tg_tensor tg_dropout_forward(tg_tensor x, double rate, tg_rng *training)
{
    if (!training || rate == 0)
        return x;
    return tg_dropout(x, tg_random_stream(tg_tape_of(x), training), rate);
}
