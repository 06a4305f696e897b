#include "autograd/ops/conv_sum.h"

int64_t tg_conv_blocks(const tg_conv_sum *v)
{
    return tg_conv_pieces(v->batch, v->images) * tg_conv_pieces(v->axis[0].windows, v->axis[0].part) *
           tg_conv_pieces(v->axis[1].windows, v->axis[1].part);
}

void tg_conv_find(const tg_conv_sum *v, int64_t number, tg_conv_part *b)
{
    const int64_t across = tg_conv_pieces(v->axis[1].windows, v->axis[1].part),
                  down = tg_conv_pieces(v->axis[0].windows, v->axis[0].part);
    b->x = number % across * v->axis[1].part;
    b->y = number / across % down * v->axis[0].part;
    b->n = number / across / down * v->images;
    b->across = tg_conv_smaller(v->axis[1].part, v->axis[1].windows - b->x);
    b->down = tg_conv_smaller(v->axis[0].part, v->axis[0].windows - b->y);
    b->images = tg_conv_smaller(v->images, v->batch - b->n);
}

char *tg_conv_results(const tg_conv_sum *v, const tg_conv_part *b, int64_t n)
{
    return v->out + ((b->n + n) * v->out_image + (b->group * v->m + b->row) * v->out_channel + b->y * v->out_line +
                     b->x * v->out_step) *
                        (int64_t)v->element;
}

const char *tg_conv_bias(const tg_conv_sum *v, const tg_conv_part *b)
{
    return v->bias ? v->bias + (b->group * v->m + b->row) * (int64_t)v->element : NULL;
}

size_t tg_conv_least(int64_t each)
{
    enum { WORTH_SHARING = 1 << 18 };
    return (size_t)(WORTH_SHARING / (each + 1) + 1);
}
