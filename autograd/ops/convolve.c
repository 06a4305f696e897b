/* The sums of convolutions, block by block.
 *
 * The windows are never laid out for all images. Some rows of an image are copied with their padding, so that element
 * i, j of adjacent windows are adjacent, too: each step of the product reads the copy at another place. A stride s
 * takes s copies, of every s-th column. That also computes places that are no window, between the rows of an image.
 * Where these are many the windows of some images are laid out. All stay in the second cache. */
#include "autograd/ops/convolve.h"

#include <string.h>

#include "autograd/kernels/parallel.h"
#include "autograd/kernels/scratch.h"
#include "autograd/tape/strided.h"

/* ---- blocks ---- */

enum {
    STEPS = 4096,         /* most steps of a product */
    STEPS_LAID_OUT = 384, /* where windows are laid out */
    IMAGES = 128 << 10,   /* bytes of a copy, */
    RESULTS = 128 << 10,  /* of results, or of the cotangent, */
    WEIGHTS = 640 << 10,  /* and of weights, or of their gradient */
    MOST_COLUMNS = 64,    /* computed at a time by any kernel */
};
_Static_assert(IMAGES + RESULTS + WEIGHTS + (STEPS + 8 * MOST_COLUMNS) * 8 < TG_SCRATCH,
               "the scratch memory is too small");

/* How far from the first element of a window its last one is, in windows. */
static int64_t reach(const tg_conv_axis *a)
{
    return (a->taps - 1) * (a->step < 0 ? -a->step : a->step) / a->stride;
}

/* The places within a stride at which a window has elements. */
static int64_t phases(const tg_conv_axis *a)
{
    return tg_conv_smaller(a->stride, (a->taps - 1) * (a->step < 0 ? -a->step : a->step) + 1);
}

/* The first element of any window. */
static int64_t lowest(const tg_conv_axis *a)
{
    return a->step < 0 ? a->first + (a->taps - 1) * a->step : a->first;
}

/* A copy of a channel for some windows is [phases, lines, columns]. */
static int64_t plane(const tg_conv_sum *v, int64_t down, int64_t across)
{
    return phases(&v->axis[0]) * phases(&v->axis[1]) * (down + reach(&v->axis[0])) * (across + reach(&v->axis[1]));
}

static int64_t line_of(const tg_conv_sum *v)
{
    return v->laid_out ? v->axis[1].part : v->axis[1].part + reach(&v->axis[1]);
}

/* Windows laid out: as many steps and windows as the memory takes. */
static void lay_out(tg_conv_sum *v, int64_t unit)
{
    const int64_t element = (int64_t)v->element;
    tg_conv_axis *down = &v->axis[0], *across = &v->axis[1];
    v->laid_out = true;
    v->steps = tg_conv_smaller(v->c * tg_conv_taps(v), STEPS_LAID_OUT);
    v->rows = tg_conv_smaller(
        tg_conv_rounded(v->m, unit),
        tg_conv_smaller(WEIGHTS / element / (v->steps + 1), RESULTS / element / MOST_COLUMNS / 2) / unit * unit);
    const int64_t windows =
        tg_conv_smaller(IMAGES / element / (v->steps + 1), RESULTS / element / v->rows) / MOST_COLUMNS * MOST_COLUMNS;
    const int64_t most = windows > 32 ? windows : 32;
    across->part = tg_conv_smaller(across->windows, most);
    down->part = across->part < across->windows
                     ? 1
                     : tg_conv_smaller(down->windows, tg_conv_pieces(most + 1 - across->part, across->part));
    v->images = down->part < down->windows || v->batch == 0
                    ? 1
                    : tg_conv_smaller(v->batch,
                                      tg_conv_pieces(most + 1 - down->part * across->part, down->part * across->part));
}

/* Divides the work. `unit` rows are computed at a time. */
static void divide(tg_conv_sum *v, int64_t unit)
{
    const int64_t element = (int64_t)v->element, all = tg_conv_taps(v), columns = (int64_t)v->kernels->columns;
    tg_conv_axis *down = &v->axis[0], *across = &v->axis[1];
    v->laid_out = false;
    v->images = 1;
    v->rows = tg_conv_rounded(v->m, unit);
    v->steps = all <= STEPS ? tg_conv_smaller(v->c, STEPS / all) * all : 0;
    down->part = down->windows;
    across->part = across->windows;
    for (;;) {
        const bool weights_fit = v->rows * v->steps * element <= WEIGHTS;
        const bool image_fits = v->steps / all * plane(v, down->part, across->part) * element <= IMAGES;
        const bool results_fit = v->rows * (down->part * line_of(v) + columns) * element <= RESULTS;
        if (all > STEPS)
            return lay_out(v, unit);
        if (weights_fit && image_fits && results_fit)
            break;
        if (!weights_fit && v->rows > 4 * unit)
            v->rows = tg_conv_rounded(v->rows / 2, unit);
        else if (!weights_fit && v->steps > all)
            v->steps = tg_conv_pieces(v->steps / all, 2) * all;
        else if (down->part > 4)
            down->part = tg_conv_pieces(down->part, 2);
        else if (across->part > 128) {
            down->part = 1;
            across->part = tg_conv_pieces(across->part, 2);
        } else if (!results_fit && v->rows > unit)
            v->rows = tg_conv_rounded(v->rows / 2, unit);
        else if (!image_fits && v->steps > all)
            v->steps = tg_conv_pieces(v->steps / all, 2) * all;
        else if (down->part > 1)
            down->part = 1;
        else
            return lay_out(v, unit);
    }
    down->part = tg_conv_pieces(down->windows, tg_conv_pieces(down->windows, down->part));
    const int64_t computed = tg_conv_rounded((down->part - 1) * line_of(v) + across->part, columns / 2);
    if (2 * computed > 3 * down->part * across->part)
        lay_out(v, unit);
}

/* The thread's memory. */
typedef struct room {
    size_t *at;          /* where each step of a product begins in the images: */
    tg_conv_part listed; /* those of this tg_conv_part */
    char *images, *results, *weights;
} room;

static bool find_room(tg_conv_sum *v, room *r)
{
    char *memory = tg_scratch();
    r->listed = (tg_conv_part){0};
    if (!memory) {
        v->without_memory = true;
        return false;
    }
    r->at = (size_t *)(void *)memory;
    r->images = memory + STEPS * sizeof(size_t);
    r->results = r->images + IMAGES + 2 * MOST_COLUMNS * 8;
    r->weights = r->results + RESULTS + 2 * MOST_COLUMNS * 8;
    return true;
}

/* ---- copies of images ---- */

/* to[x] = line[first + x stride], 0 outside the line of `size` elements; NULL: an empty one. */
static void take_line(size_t element, const char *line, int64_t size, int64_t first, int64_t stride, int64_t count,
                      char *to)
{
    const int64_t before =
        first >= 0 ? 0 : tg_conv_smaller(stride == 1 ? -first : tg_conv_pieces(-first, stride), count);
    const int64_t end = first >= size ? before
                        : stride == 1 ? tg_conv_smaller(size - first, count)
                                      : tg_conv_smaller((size - 1 - first) / stride + 1, count);
    if (!line || end <= before) {
        memset(to, 0, (size_t)count * element);
        return;
    }
    TG_FOR_ELEMENT_SIZE(element, {
        const char *from = line + (first + before * stride) * BYTES;
        int64_t x = before;
        for (int64_t i = 0; i < before; i++)
            memset(to + i * BYTES, 0, BYTES);
        for (; stride == 1 && x + 16 / BYTES <= end; x += 16 / BYTES)
            memcpy(to + x * BYTES, from + (x - before) * BYTES, 16);
        for (; x < end; x++)
            memcpy(to + x * BYTES, from + (x - before) * stride * BYTES, BYTES);
        for (; x < count; x++)
            memset(to + x * BYTES, 0, BYTES);
    })
}

/* Line y of a channel of a group; NULL: it is outside. */
static const char *line_at(const tg_conv_sum *v, const tg_conv_part *b, int64_t n, int64_t channel, int64_t y)
{
    if (y < 0 || y >= v->axis[0].size)
        return NULL;
    const int64_t number = ((n * v->groups + b->group) * v->c + channel) * v->axis[0].size + y;
    return v->image + number * v->axis[1].size * (int64_t)v->element;
}

/* The windows of the block, as [step, image, y, x]. */
static void lay_windows_out(const tg_conv_sum *v, const tg_conv_part *b, char *to)
{
    const tg_conv_axis *down = &v->axis[0], *across = &v->axis[1];
    for (int64_t step = b->step; step < b->step + b->steps; step++) {
        const int64_t channel = step / tg_conv_taps(v), i = step % tg_conv_taps(v) / across->taps,
                      j = step % across->taps;
        for (int64_t n = 0; n < b->images; n++)
            for (int64_t y = b->y; y < b->y + b->down; y++, to += b->across * (int64_t)v->element)
                take_line(v->element, line_at(v, b, b->n + n, channel, down->first + y * down->stride + i * down->step),
                          across->size, across->first + b->x * across->stride + j * across->step, across->stride,
                          b->across, to);
    }
}

/* The part of an image that the block's windows read, as [channel, phases down, phases across, lines, columns]. */
static void copy_image(const tg_conv_sum *v, const tg_conv_part *b, char *to)
{
    const tg_conv_axis *down = &v->axis[0], *across = &v->axis[1];
    const int64_t lines = b->down + reach(down), columns = b->across + reach(across), first = b->step / tg_conv_taps(v),
                  left = lowest(across) + b->x * across->stride, element = (int64_t)v->element;
    for (int64_t channel = first; channel < first + b->steps / tg_conv_taps(v); channel++)
        for (int64_t i = 0; i < phases(down); i++) {
            const int64_t top =
                              lowest(down) + b->y * down->stride + i, /* the lines begin .. end - 1 lie in the image */
                begin = top >= 0 ? 0 : tg_conv_smaller(tg_conv_pieces(-top, down->stride), lines),
                          end = top >= down->size ? begin
                                                  : tg_conv_smaller((down->size - 1 - top) / down->stride + 1, lines);
            const int64_t inside = end > begin ? end - begin : 0;
            for (int64_t j = 0; j < phases(across); j++, to += lines * columns * element) {
                const char *from = line_at(v, b, b->n, channel, top + begin * down->stride);
                char *const at = to + begin * columns * element;
                memset(to, 0, (size_t)(begin * columns * element));
                memset(at + inside * columns * element, 0, (size_t)((lines - begin - inside) * columns * element));
                if (inside > 0 && across->stride == 1)
                    v->kernels->take(&(tg_windows_take){(size_t)inside, (size_t)columns, from,
                                                        (size_t)(down->stride * across->size), left, across->size, at});
                for (int64_t k = 0; k < inside && across->stride != 1; k++)
                    take_line(v->element, from + k * down->stride * across->size * element, across->size, left + j,
                              across->stride, columns, at + k * columns * element);
            }
        }
}

static void prepare_images(const tg_conv_sum *v, const tg_conv_part *b, char *to)
{
    (v->laid_out ? lay_windows_out : copy_image)(v, b, to);
}

/* Where a step begins, or tap i, j of the first channel, in what prepare_images has made. */
static int64_t place_of_tap(const tg_conv_sum *v, const tg_conv_part *b, int64_t i, int64_t j)
{
    const tg_conv_axis *down = &v->axis[0], *across = &v->axis[1];
    const int64_t columns = b->across + reach(across), y = down->first + i * down->step - lowest(down),
                  x = across->first + j * across->step - lowest(across),
                  phase = y % down->stride * phases(across) + x % across->stride;
    return (phase * (b->down + reach(down)) + y / down->stride) * columns + x / across->stride;
}

static int64_t place_of_step(const tg_conv_sum *v, const tg_conv_part *b, int64_t step)
{
    if (v->laid_out)
        return (step - b->step) * b->images * b->down * b->across;
    const int64_t tap = step % tg_conv_taps(v);
    return (step - b->step) / tg_conv_taps(v) * plane(v, b->down, b->across) +
           place_of_tap(v, b, tap / v->axis[1].taps, tap % v->axis[1].taps);
}

static void list_steps(const tg_conv_sum *v, const tg_conv_part *b, room *r)
{
    const tg_conv_part *l = &r->listed;
    if (l->step == b->step && l->steps == b->steps && l->images == b->images && l->down == b->down &&
        l->across == b->across)
        return;
    for (int64_t step = 0; step < b->steps; step++)
        r->at[step] = (size_t)place_of_step(v, b, b->step + step);
    r->listed = *b;
}

/* ---- products ---- */

/* Where the weight of the group's first row for a step is. */
static int64_t weight_at(const tg_conv_sum *v, const tg_conv_part *b, int64_t step)
{
    const int64_t channel = step / tg_conv_taps(v), tap = step % tg_conv_taps(v), across = v->axis[1].taps;
    return b->group * v->weight_group + channel * v->weight_channel + tap / across * v->weight_tap[0] +
           tap % across * v->weight_tap[1];
}

/* Packs the block's weights as [tile, step, row of the tile]. */
static void pack_weights(const tg_conv_sum *v, const tg_conv_part *b, char *to)
{
    const int64_t tiles = tg_conv_pieces(b->rows, (int64_t)v->kernels->rows);
    TG_FOR_ELEMENT_SIZE(v->element, {
        for (int64_t tile = 0, row = b->row; tile < tiles; tile++) {
            const int64_t rows = b->rows / tiles + (tile < b->rows % tiles);
            for (int64_t step = b->step; step < b->step + b->steps; step++) {
                const char *from = v->weight + (weight_at(v, b, step) + row * v->weight_row) * BYTES;
                for (int64_t r = 0; r < rows; r++, to += BYTES)
                    memcpy(to, from + r * v->weight_row * BYTES, BYTES);
            }
            row += rows;
        }
    })
}

/* Continues the sums of earlier steps. */
static void take_results(const tg_conv_sum *v, const tg_conv_part *b, int64_t line, int64_t row, char *to)
{
    const int64_t element = (int64_t)v->element;
    for (int64_t n = 0; n < b->images; n++)
        for (int64_t r = 0; r < b->rows; r++)
            for (int64_t y = 0; y < b->down; y++)
                take_line(v->element, tg_conv_results(v, b, n) + (r * v->out_channel + y * v->out_line) * element,
                          b->across * v->out_step, 0, v->out_step, b->across,
                          to + (r * row + (n * b->down + y) * line) * element);
}

/* Writes the results of one image, [row, line, across], with the bias after the last step. */
static void put_results(const tg_conv_sum *v, const tg_conv_part *b, int64_t n, const char *from, int64_t row,
                        int64_t line)
{
    const bool last = b->step + b->steps == v->c * tg_conv_taps(v);
    v->kernels->put(&(tg_windows_put){.m = (size_t)b->rows,
                                      .lines = (size_t)b->down,
                                      .across = (size_t)b->across,
                                      .from = from,
                                      .from_row = (size_t)row,
                                      .from_line = (size_t)line,
                                      .bias = last ? tg_conv_bias(v, b) : NULL,
                                      .to = tg_conv_results(v, b, n),
                                      .to_row = (size_t)v->out_channel,
                                      .to_line = (size_t)v->out_line,
                                      .to_step = (size_t)v->out_step});
}

static void convolve_block(const tg_conv_sum *v, const tg_conv_part *b, room *r)
{
    const int64_t line = v->laid_out ? b->across : b->across + reach(&v->axis[1]), element = (int64_t)v->element,
                  lanes = (int64_t)v->kernels->columns / 2,
                  width = tg_conv_rounded((b->images * b->down - 1) * line + b->across, lanes);
    const bool more = b->step > 0;
    prepare_images(v, b, r->images);
    list_steps(v, b, r);
    if (more)
        take_results(v, b, line, width, r->results);
    v->kernels->convolve(&(tg_windows_product){.m = (size_t)b->rows,
                                               .n = (size_t)width,
                                               .k = (size_t)b->steps,
                                               .a = r->weights,
                                               .b = r->images,
                                               .at = r->at,
                                               .out = r->results,
                                               .out_row = (size_t)width,
                                               .more = more});
    for (int64_t n = 0; n < b->images; n++)
        put_results(v, b, n, r->results + n * b->down * line * element, width, line);
}

/* A tg_parallel_part: blocks of windows. */
static void convolve_some(void *context, size_t first, size_t count)
{
    tg_conv_sum *v = context;
    room r;
    if (!find_room(v, &r))
        return;
    tg_conv_part b;
    const int64_t all = v->c * tg_conv_taps(v);
    for (b.group = 0; b.group < v->groups; b.group++)
        for (b.row = 0; b.row < v->m; b.row += v->rows) {
            b.rows = tg_conv_smaller(v->rows, v->m - b.row);
            b.step = 0;
            do { /* once without steps, too */
                b.steps = tg_conv_smaller(v->steps, all - b.step);
                pack_weights(v, &b, r.weights);
                for (size_t i = first; i < first + count; i++) {
                    tg_conv_find(v, (int64_t)i, &b);
                    convolve_block(v, &b, &r);
                }
                b.step += b.steps;
            } while (b.step < all);
        }
}

void tg_convolve(tg_conv_sum *v)
{
    if (v->batch * v->groups * v->m * v->axis[0].windows * v->axis[1].windows <= 0)
        return;
    divide(v, (int64_t)v->kernels->rows);
    const int64_t blocks = tg_conv_blocks(v), windows = v->images * v->axis[0].part * v->axis[1].part;
    tg_parallel((size_t)blocks, tg_conv_least(windows * v->groups * v->m * v->c * tg_conv_taps(v)), 1, convolve_some,
                v);
}

/* ---- the gradient of the weights ---- */

/* Adds the block's products of cotangent and windows to `sums`: [i, j, channel, row], or [step, row] where windows are
 * laid out. */
static void correlate_block(const tg_conv_sum *v, const tg_conv_part *b, const room *r)
{
    const int64_t element = (int64_t)v->element, windows = v->axis[0].windows * v->axis[1].windows,
                  rows = tg_conv_rounded(b->rows, (int64_t)v->kernels->columns / 2),
                  channels = b->steps / tg_conv_taps(v), some = b->down * b->across;
    prepare_images(v, b, r->images);
    for (int64_t n = 0; n < b->images; n++) {
        const int64_t row = ((b->n + n) * v->groups + b->group) * v->m + b->row;
        v->kernels->transpose(v->cotangent + (row * windows + b->y * v->axis[1].windows + b->x) * element,
                              (size_t)windows, (size_t)b->rows, (size_t)some, (size_t)rows,
                              r->results + n * some * rows * element);
    }
    tg_windows_sum sum = {.m = (size_t)b->steps,
                          .n = (size_t)rows,
                          .runs = 1,
                          .run = (size_t)(b->images * some),
                          .a = r->images,
                          .a_row = (size_t)(b->images * some),
                          .b = r->results,
                          .out = r->weights};
    if (v->laid_out) {
        v->kernels->correlate(&sum);
        return;
    }
    sum.m = (size_t)channels;
    sum.runs = (size_t)b->down;
    sum.run = (size_t)b->across;
    sum.a_row = (size_t)plane(v, b->down, b->across);
    sum.a_jump = (size_t)reach(&v->axis[1]);
    for (int64_t tap = 0; tap < tg_conv_taps(v); tap++) {
        sum.a = r->images + place_of_tap(v, b, tap / v->axis[1].taps, tap % v->axis[1].taps) * element;
        sum.out = r->weights + tap * channels * rows * element;
        v->kernels->correlate(&sum);
    }
}

/* Writes the gradient of the block's weights. */
static void put_weights(const tg_conv_sum *v, const tg_conv_part *b, const char *sums)
{
    const int64_t rows = tg_conv_rounded(b->rows, (int64_t)v->kernels->columns / 2), all = tg_conv_taps(v),
                  channels = b->steps / all;
    TG_FOR_ELEMENT_SIZE(v->element, {
        for (int64_t row = 0; row < b->rows; row++)
            for (int64_t step = 0; step < b->steps; step++) {
                const int64_t from = v->laid_out ? step : step % all * channels + step / all;
                memcpy(v->out + ((b->group * v->m + b->row + row) * v->c * all + b->step + step) * BYTES,
                       sums + (from * rows + row) * BYTES, BYTES);
            }
    })
}

/* The gradients of weights [group, row.. , step..], of so many rows and steps. */
static void correlate_weights(const tg_conv_sum *v, const room *r, int64_t group, int64_t row, int64_t rows,
                              int64_t step, int64_t steps)
{
    tg_conv_part b = {.group = group};
    for (b.row = row; b.row < row + rows; b.row += b.rows) {
        b.rows = tg_conv_smaller(v->rows, row + rows - b.row);
        for (b.step = step; b.step < step + steps; b.step += b.steps) {
            b.steps = tg_conv_smaller(v->steps, step + steps - b.step);
            memset(r->weights, 0,
                   (size_t)(b.steps * tg_conv_rounded(b.rows, (int64_t)v->kernels->columns / 2)) * v->element);
            for (int64_t i = 0; i < tg_conv_blocks(v); i++) {
                tg_conv_find(v, i, &b);
                correlate_block(v, &b, r);
            }
            put_weights(v, &b, r->weights);
        }
    }
}

/* Tg_parallel_parts: channels of all groups, and rows of the only group. */
static void correlate_channels(void *context, size_t first, size_t count)
{
    tg_conv_sum *v = context;
    room r;
    if (!find_room(v, &r))
        return;
    for (int64_t channel = (int64_t)first, some; channel < (int64_t)(first + count); channel += some) {
        some = tg_conv_smaller(v->c - channel % v->c, (int64_t)(first + count) - channel);
        correlate_weights(v, &r, channel / v->c, 0, v->m, channel % v->c * tg_conv_taps(v), some * tg_conv_taps(v));
    }
}

static void correlate_rows(void *context, size_t first, size_t count)
{
    tg_conv_sum *v = context;
    room r;
    if (find_room(v, &r))
        correlate_weights(v, &r, 0, (int64_t)first, (int64_t)count, 0, v->c * tg_conv_taps(v));
}

void tg_correlate(tg_conv_sum *v)
{
    enum { FEW = 4 }; /* channels: too few for the rows of a tile */
    const int64_t unit = (int64_t)v->kernels->columns / 2, channels = v->groups * v->c,
                  each = v->batch * v->axis[0].windows * v->axis[1].windows;
    divide(v, unit);
    if (v->c < FEW && tg_conv_taps(v) > 1)
        lay_out(v, unit);
    if (v->groups == 1 && v->c < FEW)
        tg_parallel((size_t)v->m, tg_conv_least(each * v->c * tg_conv_taps(v)), (size_t)unit, correlate_rows, v);
    else
        tg_parallel((size_t)channels, tg_conv_least(each * v->m * tg_conv_taps(v)), 1, correlate_channels, v);
}
