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

/* Where the pixels of a tile are, of `side` x `side`: if all lie inside, in so many lines of them, else anywhere. */
typedef struct pixel_places {
    bool inside;
    real *first;
    size_t line;
    real *at[16];
} pixel_places;

INLINE void find_pixels(const tg_winograd_tiles *p, size_t side, size_t y, size_t x, pixel_places *to)
{
    const ptrdiff_t top = p->top + (ptrdiff_t)(2 * y), left = p->left + (ptrdiff_t)(2 * x), count = (ptrdiff_t)side,
                    channels = (ptrdiff_t)p->channels;
    to->inside = top >= 0 && top + count <= p->lines && left >= 0 && left + count <= p->columns;
    to->first = (real *)p->pixels + (top * p->columns + left) * channels;
    to->line = (size_t)(p->columns * channels);
    for (ptrdiff_t i = 0; !to->inside && i < count * count; i++) {
        const ptrdiff_t line = top + i / count, column = left + i % count;
        to->at[i] = line >= 0 && line < p->lines && column >= 0 && column < p->columns
                        ? (real *)p->pixels + (line * p->columns + column) * channels
                        : (real *)p->outside;
    }
}

INLINE real *pixel(const tg_winograd_tiles *p, const pixel_places *of, bool inside, size_t side, size_t i)
{
    return inside ? of->first + i / side * of->line + i % side * p->channels : of->at[i];
}

INLINE real *tile_pixels(const tg_winograd_tiles *p, const pixel_places *from, bool inside, transform_line line,
                         size_t side, real *to)
{
    for (size_t c = 0; c < p->channels; c += LANES, to += LANES) {
        vector in[16], out[16];
        UNROLL
        for (size_t i = 0; i < side * side; i++)
            in[i] = load(pixel(p, from, inside, side, i) + c);
        transform_both(line, side, 4, in, out);
        UNROLL
        for (size_t i = 0; i < 16; i++)
            *(loose *)(to + i * p->apart) = out[i];
    }
    return to;
}

INLINE void tile_all(const tg_winograd_tiles *p, transform_line line, size_t side)
{
    real *to = p->tiles;
    pixel_places from;
    for (size_t y = 0; y < p->down; y++)
        for (size_t x = 0; x < p->across; x++) {
            find_pixels(p, side, y, x, &from);
            to = from.inside ? tile_pixels(p, &from, true, line, side, to)
                             : tile_pixels(p, &from, false, line, side, to);
        }
}

static void tiles_of_image(const tg_winograd_tiles *p)
{
    tile_all(p, line_of_image, 4);
}

static void tiles_of_cotangent(const tg_winograd_tiles *p)
{
    tile_all(p, line_of_cotangent, 2);
}

static void pixels_of_tiles(const tg_winograd_tiles *p)
{
    const real *from = p->tiles;
    pixel_places to;
    for (size_t y = 0; y < p->down; y++)
        for (size_t x = 0; x < p->across; x++) {
            find_pixels(p, 2, y, x, &to);
            for (size_t c = 0; c < p->channels; c += LANES, from += LANES) {
                const vector more = p->bias ? load((const real *)p->bias + c) : (vector){0};
                vector in[16], out[4];
                UNROLL
                for (size_t i = 0; i < 16; i++)
                    in[i] = load(from + i * p->apart);
                transform_both(line_of_results, 4, 2, in, out);
                UNROLL
                for (size_t i = 0; i < 4; i++)
                    *(loose *)(pixel(p, &to, to.inside, 2, i) + c) = p->bias ? out[i] + more : out[i];
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

static void tiles_of_weights(const tg_winograd_weights *p)
{
    transform_weights(p, line_of_weights, 3, 4);
}

static void gradient_of_tiles(const tg_winograd_weights *p)
{
    transform_weights(p, line_of_gradient, 4, 3);
}

#endif
