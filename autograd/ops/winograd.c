/* Winograd's convolution, block by block: the tiles of a block, and the weights, stay in the second cache. Pixels are
 * transposed first, so that vectors are of channels, and each of the 16 products reads its operands in order. */
#include "autograd/ops/winograd.h"

#include <string.h>

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"
#include "autograd/kernels/scratch.h"

enum {
    SIDE = 4,            /* of a tile, */
    PLANES = 16,         /* its numbers, */
    TAPS = 9,            /* and those of a kernel */
    VECTOR = 16,         /* elements of the widest vector: what the choice reckons with on every machine */
    TILES = 400 << 10,   /* bytes of the tiles of a block, both operands' or an operand's and the results', */
    WEIGHTS = 640 << 10, /* and of weights, or of their gradient */
    PIXELS = TILES / 2 + (48 << 10),
    RESULTS = TILES / 4 + (40 << 10),
    ROOM = 16 << 10, /* for a vector of all channels, and behind each part */
};
_Static_assert(TILES + 2 * WEIGHTS + PIXELS + 2 * RESULTS + 10 * ROOM < TG_SCRATCH, "the scratch memory is too small");

bool tg_winograd_suits(const tg_conv_sum *v)
{
    enum { LEAST = 16 }; /* channels */
    const int64_t most = WEIGHTS / PLANES / VECTOR / (int64_t)v->element;
    for (int i = 0; i < 2; i++)
        if (v->axis[i].taps != 3 || v->axis[i].stride != 1 || (v->axis[i].step != 1 && v->axis[i].step != -1))
            return false;
    const int64_t tiles = tg_conv_pieces(v->axis[0].windows, 2) * tg_conv_pieces(v->axis[1].windows, 2);
    const double usual = TAPS * (double)(v->axis[0].windows * v->axis[1].windows * v->m),
                 here = PLANES * (double)(tiles * tg_conv_rounded(v->m, VECTOR));
    return v->c >= LEAST && v->c <= most && v->m >= LEAST && 4 * here <= 3 * usual;
}

/* Divides the windows, for rows and so many channels at a time. */
static void divide(tg_conv_sum *v, int64_t channels)
{
    const int64_t element = (int64_t)v->element, rows = tg_conv_rounded(v->rows, VECTOR);
    const int64_t most = TILES / (PLANES * element * (tg_conv_rounded(channels, VECTOR) + rows)),
                  across = tg_conv_pieces(v->axis[1].windows, 2), down = tg_conv_pieces(v->axis[0].windows, 2);
    const int64_t some = tg_conv_pieces(across, tg_conv_pieces(across, most > 1 ? most : 1)),
                  lines = most < across ? 1 : tg_conv_pieces(down, tg_conv_pieces(down, most / across));
    v->axis[1].part = 2 * some;
    v->axis[0].part = 2 * lines;
    v->images = lines == down && most > across * down ? most / (across * down) : 1;
}

/* The thread's memory, in this order. */
typedef struct room {
    char *outside, *bias, *pixels, *tiles, *weights, *gradient, *results, *turned;
} room;

static bool find_room(tg_conv_sum *v, room *r)
{
    char *memory = tg_scratch();
    if (!memory) {
        v->without_memory = true;
        return false;
    }
    r->outside = memory;
    r->bias = r->outside + ROOM;
    r->pixels = r->bias + ROOM;
    r->tiles = r->pixels + PIXELS + ROOM;
    r->weights = r->tiles + TILES + 2 * ROOM;
    r->gradient = r->weights + WEIGHTS + ROOM;
    r->results = r->gradient + WEIGHTS + ROOM;
    r->turned = r->results + RESULTS + ROOM;
    return true;
}

/* Elements from plane to plane: whole vectors, and no power of two, which would share a set of the cache. */
static size_t plane(int64_t tiles, int64_t channels)
{
    return (size_t)(tiles * channels + VECTOR);
}

/* Channels as the kernels compute them. */
static int64_t padded(const tg_conv_sum *v, int64_t channels)
{
    return tg_conv_rounded(channels, (int64_t)v->kernels->columns / 2);
}

/* Windows of images and a number of channels of them. */
typedef struct patch {
    const char *from;                /* the first channel of an image */
    int64_t height, width, channels; /* of the image; how many */
    int64_t top, left, down, across; /* the tiles' first pixel, and the number of tiles */
    int64_t side;                    /* pixels that a tile reads */
} patch;

/* Copies the pixels that the tiles read as [lines, columns, channels] and describes them. */
static tg_winograd_tiles take_pixels(const tg_conv_sum *v, const patch *p, const room *r)
{
    const int64_t element = (int64_t)v->element, channels = padded(v, p->channels), size = p->height * p->width;
    const int64_t top = p->top > 0 ? p->top : 0, left = p->left > 0 ? p->left : 0,
                  bottom = tg_conv_smaller(p->top + 2 * p->down + p->side - 2, p->height),
                  right = tg_conv_smaller(p->left + 2 * p->across + p->side - 2, p->width),
                  columns = right > left ? right - left : 0, lines = columns > 0 && bottom > top ? bottom - top : 0,
                  together = columns == p->width ? lines : 1;
    for (int64_t line = 0; line < lines; line += together)
        v->kernels->transpose(p->from + ((top + line) * p->width + left) * element, (size_t)size, (size_t)p->channels,
                              (size_t)(together * columns), (size_t)channels,
                              r->pixels + line * columns * channels * element);
    memset(r->outside, 0, (size_t)(channels * element));
    return (tg_winograd_tiles){.down = (size_t)p->down,
                               .across = (size_t)p->across,
                               .channels = (size_t)channels,
                               .pixels = r->pixels,
                               .outside = r->outside,
                               .top = p->top - top,
                               .left = p->left - left,
                               .lines = lines,
                               .columns = columns};
}

static int64_t tiles_of(const tg_conv_part *b)
{
    return tg_conv_pieces(b->down, 2) * tg_conv_pieces(b->across, 2);
}

/* The tiles of the block's images, for channels from `channel` of the group on. */
static void tile_images(const tg_conv_sum *v, const tg_conv_part *b, int64_t channel, int64_t channels, const room *r,
                        char *to)
{
    const tg_conv_axis *down = &v->axis[0], *across = &v->axis[1];
    const int64_t element = (int64_t)v->element, each = tiles_of(b) * padded(v, channels);
    for (int64_t n = 0; n < b->images; n++) {
        const int64_t number = ((b->n + n) * v->groups + b->group) * v->c + channel;
        tg_winograd_tiles t = take_pixels(
            v,
            &(patch){v->image + number * down->size * across->size * element, down->size, across->size, channels,
                     down->first + b->y - (down->step < 0 ? 2 : 0), across->first + b->x - (across->step < 0 ? 2 : 0),
                     tg_conv_pieces(b->down, 2), tg_conv_pieces(b->across, 2), SIDE},
            r);
        t.tiles = to + n * each * element;
        t.apart = plane(b->images * tiles_of(b), padded(v, channels));
        v->kernels->tile_image(&t);
    }
}

/* The weights of the block's rows, [16, channel, row]. */
static void tile_weights(const tg_conv_sum *v, const tg_conv_part *b, const room *r)
{
    const int64_t element = (int64_t)v->element, rows = padded(v, b->rows);
    const bool turned = v->axis[0].step < 0;
    for (int64_t c = 0; c < v->c; c++) {
        v->kernels->transpose(
            v->weight + (b->group * v->weight_group + b->row * v->weight_row + c * v->weight_channel) * element,
            (size_t)v->weight_row, (size_t)b->rows, TAPS, (size_t)rows, r->results);
        v->kernels->tile_weights(&(tg_winograd_weights){.count = (size_t)rows,
                                                        .from = r->results + (turned ? (TAPS - 1) * rows * element : 0),
                                                        .from_apart = turned ? -rows : rows,
                                                        .to = r->weights + c * rows * element,
                                                        .to_apart = (ptrdiff_t)plane(v->c, rows)});
    }
}

/* Multiplies the planes' matrices. */
static void multiply(const tg_conv_sum *v, tg_product_part p, size_t a_apart, size_t b_apart, size_t out_apart)
{
    for (int i = 0; i < PLANES; i++) {
        v->kernels->multiply(&p, NULL);
        p.a = (const char *)p.a + a_apart * v->element;
        p.b = (const char *)p.b + b_apart * v->element;
        p.out = (char *)p.out + out_apart * v->element;
    }
}

/* Writes the results of one image, given its tiles' sums. */
static void put_results(const tg_conv_sum *v, const tg_conv_part *b, int64_t n, void *sums, const room *r)
{
    const int64_t element = (int64_t)v->element, rows = padded(v, b->rows),
                  together = b->across == v->out_line ? b->down : 1; /* lines without a gap */
    const char *bias = tg_conv_bias(v, b);
    if (bias)
        memcpy(r->bias, bias, (size_t)(b->rows * element));
    v->kernels->untile_results(&(tg_winograd_tiles){.down = (size_t)tg_conv_pieces(b->down, 2),
                                                    .across = (size_t)tg_conv_pieces(b->across, 2),
                                                    .channels = (size_t)rows,
                                                    .apart = plane(b->images * tiles_of(b), rows),
                                                    .tiles = sums,
                                                    .pixels = r->results,
                                                    .outside = r->outside,
                                                    .bias = bias ? r->bias : NULL,
                                                    .lines = b->down,
                                                    .columns = b->across});
    for (int64_t line = 0; line < b->down; line += together)
        v->kernels->transpose_exactly(r->results + line * b->across * rows * element, (size_t)rows,
                                      (size_t)(together * b->across), (size_t)b->rows, (size_t)v->out_channel,
                                      tg_conv_results(v, b, n) + line * v->out_line * element);
}

static void convolve_block(const tg_conv_sum *v, const tg_conv_part *b, const room *r)
{
    const int64_t element = (int64_t)v->element, channels = padded(v, v->c), rows = padded(v, b->rows),
                  tiles = b->images * tiles_of(b);
    char *sums = r->tiles + PLANES * (int64_t)plane(tiles, channels) * element;
    tile_images(v, b, 0, v->c, r, r->tiles);
    multiply(v,
             (tg_product_part){.m = (size_t)tiles,
                               .n = (size_t)rows,
                               .k = (size_t)v->c,
                               .a = r->tiles,
                               .a_row = (size_t)channels,
                               .a_step = 1,
                               .b = r->weights,
                               .b_step = (size_t)rows,
                               .b_column = 1,
                               .out = sums,
                               .out_row = (size_t)rows},
             plane(tiles, channels), plane(v->c, rows), plane(tiles, rows));
    for (int64_t n = 0; n < b->images; n++)
        put_results(v, b, n, sums + n * tiles_of(b) * rows * element, r);
}

/* A tg_parallel_part: blocks of windows. */
static void convolve_some(void *context, size_t first, size_t count)
{
    tg_conv_sum *v = context;
    room r;
    if (!find_room(v, &r))
        return;
    tg_conv_part b;
    for (b.group = 0; b.group < v->groups; b.group++)
        for (b.row = 0; b.row < v->m; b.row += v->rows) {
            b.rows = tg_conv_smaller(v->rows, v->m - b.row);
            tile_weights(v, &b, &r);
            for (size_t i = first; i < first + count; i++) {
                tg_conv_find(v, (int64_t)i, &b);
                convolve_block(v, &b, &r);
            }
        }
}

void tg_winograd_convolve(tg_conv_sum *v)
{
    v->rows = tg_conv_smaller(v->m, WEIGHTS / PLANES / (int64_t)v->element / v->c / VECTOR * VECTOR);
    divide(v, v->c);
    tg_parallel((size_t)tg_conv_blocks(v),
                tg_conv_least(v->images * v->axis[0].part * v->axis[1].part * v->groups * v->m * v->c * SIDE), 1,
                convolve_some, v);
}

/* ---- the gradient of the weights ---- */

/* Adds the block's products to the sums in r->weights, [16, channel, row], or begins new ones. */
static void correlate_block(const tg_conv_sum *v, const tg_conv_part *b, int64_t channel, int64_t channels, bool begin,
                            const room *r)
{
    const int64_t element = (int64_t)v->element, width = padded(v, channels), rows = padded(v, b->rows),
                  tiles = b->images * tiles_of(b), windows = v->axis[0].windows * v->axis[1].windows;
    char *cotangents = r->tiles + PLANES * (int64_t)plane(tiles, width) * element;
    tile_images(v, b, channel, channels, r, r->tiles);
    for (int64_t n = 0; n < b->images; n++) {
        const int64_t number = ((b->n + n) * v->groups + b->group) * v->m + b->row;
        tg_winograd_tiles t =
            take_pixels(v,
                        &(patch){v->cotangent + number * windows * element, v->axis[0].windows, v->axis[1].windows,
                                 b->rows, b->y, b->x, tg_conv_pieces(b->down, 2), tg_conv_pieces(b->across, 2), 2},
                        r);
        t.tiles = cotangents + n * tiles_of(b) * rows * element;
        t.apart = plane(tiles, rows);
        v->kernels->tile_cotangent(&t);
    }
    multiply(v,
             (tg_product_part){.m = (size_t)channels,
                               .n = (size_t)rows,
                               .k = (size_t)tiles,
                               .a = r->tiles,
                               .a_row = 1,
                               .a_step = (size_t)width,
                               .b = cotangents,
                               .b_step = (size_t)rows,
                               .b_column = 1,
                               .out = r->weights,
                               .out_row = (size_t)rows,
                               .start = begin ? TG_START_ZERO : TG_START_OUT},
             plane(tiles, width), plane(tiles, rows), plane(channels, rows));
}

/* Writes the gradient of the block's rows for these channels of the group. */
static void put_gradient(const tg_conv_sum *v, const tg_conv_part *b, int64_t channel, int64_t channels, const room *r)
{
    const int64_t element = (int64_t)v->element, rows = padded(v, b->rows);
    for (int64_t c = 0; c < channels; c++) {
        v->kernels->untile_gradient(&(tg_winograd_weights){.count = (size_t)rows,
                                                           .from = r->gradient + c * rows * element,
                                                           .from_apart = (ptrdiff_t)plane(channels, rows),
                                                           .to = r->results,
                                                           .to_apart = rows});
        v->kernels->transpose(r->results, (size_t)rows, TAPS, (size_t)b->rows, VECTOR, r->turned);
        for (int64_t row = 0; row < b->rows; row++)
            memcpy(v->out + ((b->group * v->m + b->row + row) * v->c + channel + c) * TAPS * element,
                   r->turned + row * VECTOR * element, (size_t)(TAPS * element));
    }
}

/* The gradient of the block's rows for these channels of the group. A sum of all tiles in one chain would round as
 * often as there are tiles; so it is one of sums of a few hundred. */
static void correlate_rows(const tg_conv_sum *v, tg_conv_part *b, int64_t channel, int64_t channels, const room *r)
{
    enum { TOGETHER = 256 };
    const int64_t blocks = tg_conv_blocks(v), tiles = v->images * (v->axis[0].part / 2) * (v->axis[1].part / 2),
                  some = tg_conv_pieces(TOGETHER, tiles);
    const size_t size = PLANES * plane(channels, padded(v, b->rows));
    memset(r->gradient, 0, size * v->element);
    for (int64_t i = 0; i < blocks; i++) {
        tg_conv_find(v, i, b);
        correlate_block(v, b, channel, channels, i % some == 0, r);
        if ((i + 1) % some == 0 || i + 1 == blocks)
            TG_KERNEL_CALL(v->value->dtype, accumulate, size, r->weights, r->gradient);
    }
    put_gradient(v, b, channel, channels, r);
}

/* A tg_parallel_part: channels of all groups. */
static void correlate_some(void *context, size_t first, size_t count)
{
    tg_conv_sum *v = context;
    room r;
    if (!find_room(v, &r))
        return;
    tg_conv_part b;
    for (int64_t channel = (int64_t)first, some; channel < (int64_t)(first + count); channel += some) {
        some = tg_conv_smaller(v->steps, tg_conv_smaller(v->c - channel % v->c, (int64_t)(first + count) - channel));
        b.group = channel / v->c;
        for (b.row = 0; b.row < v->m; b.row += v->rows) {
            b.rows = tg_conv_smaller(v->rows, v->m - b.row);
            correlate_rows(v, &b, channel % v->c, some, &r);
        }
    }
}

void tg_winograd_correlate(tg_conv_sum *v)
{
    const int64_t numbers = WEIGHTS / PLANES / (int64_t)v->element;
    v->rows = tg_conv_smaller(v->m, numbers / VECTOR / VECTOR * VECTOR);
    v->steps = tg_conv_smaller(v->c, numbers / tg_conv_rounded(v->rows, VECTOR)); /* channels */
    divide(v, v->steps);
    tg_parallel((size_t)(v->groups * v->c),
                tg_conv_least(v->batch * v->axis[0].windows * v->axis[1].windows * v->m * SIDE), 1, correlate_some, v);
}
