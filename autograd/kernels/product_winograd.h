/* The transforms of Winograd's convolution (product_kernel.h). Only for product_kernel.c.
 *
 * Each multiplies a small matrix, of vectors, from both sides: y = T x T^t. The five T differ; they are applied to the
 * columns, and then to the rows. There is nothing to contract to fused multiply-adds but halves of sums, so every
 * instruction set gives the same bits. */
#ifndef TG_PRODUCT_WINOGRAD_H
#define TG_PRODUCT_WINOGRAD_H

typedef void (*transform_line)(const vector *x, size_t step, vector *y, size_t y_step);

INLINE void transform_both(transform_line line, size_t in, size_t out, const vector *x, vector *y)
{
    vector columns[16];
    UNROLL
    for (size_t j = 0; j < in; j++)
        line(x + j, in, columns + j, in);
    UNROLL
    for (size_t i = 0; i < out; i++)
        line(columns + i * in, 1, y + i * out, 1);
}

/* Elements of a line of x, and of y. */
#define X(i) x[(i)*step]
#define Y(i) y[(i)*y_step]

INLINE void line_of_image(const vector *x, size_t step, vector *y, size_t y_step)
{
    Y(0) = X(0) - X(2);
    Y(1) = X(1) + X(2);
    Y(2) = X(2) - X(1);
    Y(3) = X(1) - X(3);
}

INLINE void line_of_weights(const vector *x, size_t step, vector *y, size_t y_step)
{
    const vector outer = X(0) + X(2);
    Y(0) = X(0);
    Y(1) = (real)0.5 * (outer + X(1));
    Y(2) = (real)0.5 * (outer - X(1));
    Y(3) = X(2);
}

INLINE void line_of_results(const vector *x, size_t step, vector *y, size_t y_step)
{
    Y(0) = X(0) + X(1) + X(2);
    Y(1) = X(1) - X(2) - X(3);
}

INLINE void line_of_cotangent(const vector *x, size_t step, vector *y, size_t y_step)
{
    Y(0) = X(0);
    Y(1) = X(0) + X(1);
    Y(2) = X(0) - X(1);
    Y(3) = -X(1);
}

INLINE void line_of_gradient(const vector *x, size_t step, vector *y, size_t y_step)
{
    const vector inner = X(1) + X(2);
    Y(0) = (real)0.5 * (X(0) + X(0) + inner);
    Y(1) = (real)0.5 * (X(1) - X(2));
    Y(2) = (real)0.5 * (inner + (X(3) + X(3)));
}

#undef X
#undef Y

/* ---- pixels and tiles ---- */

/* The pixels i, j of the tile in row y and column x. */
INLINE void find_pixels(const tg_winograd_tiles *p, size_t side, size_t y, size_t x, real *at[])
{
    for (size_t i = 0; i < side; i++)
        for (size_t j = 0; j < side; j++) {
            const ptrdiff_t line = p->top + (ptrdiff_t)(2 * y + i), column = p->left + (ptrdiff_t)(2 * x + j);
            const bool inside = line >= 0 && line < p->lines && column >= 0 && column < p->columns;
            at[i * side + j] =
                inside ? (real *)p->pixels + (size_t)(line * p->columns + column) * p->channels : (real *)p->outside;
        }
}

/* Matrices of `side` x `side` pixels to tiles. */
INLINE void pixels_to_tiles(const tg_winograd_tiles *p, transform_line line, size_t side)
{
    real *to = p->tiles, *at[16];
    for (size_t y = 0; y < p->down; y++)
        for (size_t x = 0; x < p->across; x++) {
            find_pixels(p, side, y, x, at);
            for (size_t c = 0; c < p->channels; c += LANES, to += LANES) {
                vector in[16], out[16];
                UNROLL
                for (size_t i = 0; i < side * side; i++)
                    in[i] = load(at[i] + c);
                transform_both(line, side, 4, in, out);
                UNROLL
                for (size_t i = 0; i < 16; i++)
                    *(loose *)(to + i * p->apart) = out[i];
            }
        }
}

static void tile_image(const tg_winograd_tiles *p)
{
    pixels_to_tiles(p, line_of_image, 4);
}

static void tile_cotangent(const tg_winograd_tiles *p)
{
    pixels_to_tiles(p, line_of_cotangent, 2);
}

static void untile_results(const tg_winograd_tiles *p)
{
    const real *from = p->tiles;
    real *at[4];
    for (size_t y = 0; y < p->down; y++)
        for (size_t x = 0; x < p->across; x++) {
            find_pixels(p, 2, y, x, at);
            for (size_t c = 0; c < p->channels; c += LANES, from += LANES) {
                vector in[16], out[4];
                UNROLL
                for (size_t i = 0; i < 16; i++)
                    in[i] = load(from + i * p->apart);
                transform_both(line_of_results, 4, 2, in, out);
                UNROLL
                for (size_t i = 0; i < 4; i++)
                    *(loose *)(at[i] + c) = out[i];
            }
        }
}

/* ---- weights ---- */

INLINE void transform_weights(const tg_winograd_weights *p, transform_line line, size_t in, size_t out)
{
    for (size_t c = 0; c < p->count; c += LANES) {
        vector x[16], y[16];
        UNROLL
        for (size_t i = 0; i < in * in; i++)
            x[i] = load((const real *)p->from + (ptrdiff_t)i * p->from_apart + c);
        transform_both(line, in, out, x, y);
        UNROLL
        for (size_t i = 0; i < out * out; i++)
            *(loose *)((real *)p->to + (ptrdiff_t)i * p->to_apart + c) = y[i];
    }
}

static void tile_weights(const tg_winograd_weights *p)
{
    transform_weights(p, line_of_weights, 3, 4);
}

static void untile_gradient(const tg_winograd_weights *p)
{
    transform_weights(p, line_of_gradient, 4, 3);
}

#endif
