/* Convolutions and their two gradients. All three are the same sum seen from three sides,
 *
 *     sum over n, o, y, x, c, i, j of g[n, o, y, x] weight[o, c, i, j] image[n, c, y stride + i dilation - padding, ..]
 *
 * so the derivatives of each are the other two. Each element of a result is one chain of multiply-adds (product.h):
 *
 *     conv2d               over c, i, j; then the bias is added
 *     conv2d_grad_image    over o, i, j: a convolution of the cotangent, for each place of a pixel within a stride
 *     conv2d_grad_weight   over n, y, x
 *
 * The windows are never laid out for all images. Some rows of an image are copied with their padding, so that element
 * i, j of adjacent windows are adjacent, too: each step of the product reads the copy at another place. A stride s
 * takes s copies, of every s-th column. That also computes places that are no window, between the rows of an image.
 * Where these are many, and the result has enough rows for a vector, a tile has windows in place of rows and vectors of
 * rows, and no place is computed for nothing; else the windows of some images are laid out. All stay in the second
 * cache. */
#include <stdatomic.h>
#include <string.h>

#include "autograd/kernels/parallel.h"
#include "autograd/kernels/product.h"
#include "autograd/kernels/scratch.h"
#include "autograd/ops/axes.h"
#include "autograd/ops/category.h"
#include "autograd/ops/window.h"
#include "autograd/tape/strided.h"

typedef struct convolution_attributes {
    tg_window_layout window;
    int64_t groups;
} convolution_attributes;

static const tg_field convolution_fields[] = {
    TG_FIELD_NAMED("kernel", convolution_attributes, window.kernel, TG_FIELD_SHAPE),
    TG_FIELD_NAMED("stride", convolution_attributes, window.stride, TG_FIELD_SHAPE),
    TG_FIELD_NAMED("padding", convolution_attributes, window.padding, TG_FIELD_SHAPE),
    TG_FIELD_NAMED("dilation", convolution_attributes, window.dilation, TG_FIELD_SHAPE),
    TG_FIELD_NAMED("size", convolution_attributes, window.size, TG_FIELD_SHAPE),
    TG_FIELD(convolution_attributes, groups, TG_FIELD_INT),
    {0}};
#include "autograd/ops/samples/convolution.h"

/* ---- what is computed ---- */

/* Along one axis, element `tap` of window y is number first + y stride + tap step of the image; 0 outside. */
typedef struct axis {
    int64_t size, windows, stride, taps, first, step;
    int64_t part; /* windows computed at a time */
} axis;

/* out[n, m, y, x] = sum over c, i, j of weight[m, c, i, j] image[n, c, window y, x at i, j] for each group. Distances
 * are in elements. */
typedef struct convolution {
    const tg_value *value;
    const tg_product_kernels *kernels;
    size_t element;
    axis axis[2];
    int64_t batch, groups, m, c; /* rows and channels of a group */
    const char *image, *weight, *bias, *cotangent;
    int64_t weight_group, weight_row, weight_channel, weight_tap[2];
    char *out;
    int64_t out_image, out_channel, out_line, out_step;
    bool laid_out;               /* the windows are laid out */
    bool placed;                 /* vectors are of rows of the result, not of windows */
    int64_t images, rows, steps; /* in a block, of which the steps of a channel are the taps */
    atomic_bool without_memory;
} convolution;

static int64_t taps(const convolution *v)
{
    return v->axis[0].taps * v->axis[1].taps;
}

static int64_t pieces(int64_t whole, int64_t piece)
{
    return (whole + piece - 1) / piece;
}

static int64_t rounded(int64_t count, int64_t unit)
{
    return pieces(count, unit) * unit;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- blocks ---- */

enum {
    STEPS = 4096,         /* most steps of a product */
    STEPS_LAID_OUT = 384, /* where windows are laid out */
    IMAGES = 128 << 10,   /* bytes of a copy, */
    RESULTS = 128 << 10,  /* of results, or of the cotangent, */
    WEIGHTS = 640 << 10,  /* and of weights, or of their gradient */
    MOST_COLUMNS = 64,    /* computed at a time by any kernel */
    FEW_ROWS = 8,         /* of a tile: that is where an address for each window costs time */
    ALIGNED = 64,
};
_Static_assert(IMAGES + 3 * RESULTS + WEIGHTS + (STEPS + 8 * MOST_COLUMNS) * 8 < TG_SCRATCH,
               "the scratch memory is too small");

/* How far from the first element of a window its last one is, in windows. */
static int64_t reach(const axis *a)
{
    return (a->taps - 1) * (a->step < 0 ? -a->step : a->step) / a->stride;
}

/* The places within a stride at which a window has elements. */
static int64_t phases(const axis *a)
{
    return smaller(a->stride, (a->taps - 1) * (a->step < 0 ? -a->step : a->step) + 1);
}

/* The first element of any window. */
static int64_t lowest(const axis *a)
{
    return a->step < 0 ? a->first + (a->taps - 1) * a->step : a->first;
}

/* A copy of a channel for some windows is [phases, lines, columns]. */
static int64_t plane(const convolution *v, int64_t down, int64_t across)
{
    return phases(&v->axis[0]) * phases(&v->axis[1]) * (down + reach(&v->axis[0])) * (across + reach(&v->axis[1]));
}

static int64_t line_of(const convolution *v)
{
    return v->laid_out ? v->axis[1].part : v->axis[1].part + reach(&v->axis[1]);
}

/* Windows laid out: as many steps and windows as the memory takes. */
static void lay_out(convolution *v, int64_t unit)
{
    const int64_t element = (int64_t)v->element;
    axis *down = &v->axis[0], *across = &v->axis[1];
    v->laid_out = true;
    v->steps = smaller(v->c * taps(v), STEPS_LAID_OUT);
    v->rows = smaller(rounded(v->m, unit),
                      smaller(WEIGHTS / element / (v->steps + 1), RESULTS / element / MOST_COLUMNS / 2) / unit * unit);
    const int64_t windows =
        smaller(IMAGES / element / (v->steps + 1), RESULTS / element / v->rows) / MOST_COLUMNS * MOST_COLUMNS;
    const int64_t most = windows > 32 ? windows : 32;
    across->part = smaller(across->windows, most);
    down->part =
        across->part < across->windows ? 1 : smaller(down->windows, pieces(most + 1 - across->part, across->part));
    v->images = down->part < down->windows || v->batch == 0
                    ? 1
                    : smaller(v->batch, pieces(most + 1 - down->part * across->part, down->part * across->part));
}

/* Divides the work. `unit` rows are computed at a time. */
static void divide(convolution *v, int64_t unit, bool may_place)
{
    const int64_t element = (int64_t)v->element, all = taps(v), columns = (int64_t)v->kernels->columns;
    axis *down = &v->axis[0], *across = &v->axis[1];
    v->laid_out = v->placed = false;
    v->images = 1;
    v->rows = rounded(v->m, unit);
    v->steps = all <= STEPS ? smaller(v->c, STEPS / all) * all : 0;
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
            v->rows = rounded(v->rows / 2, unit);
        else if (!weights_fit && v->steps > all)
            v->steps = pieces(v->steps / all, 2) * all;
        else if (down->part > 4)
            down->part = pieces(down->part, 2);
        else if (across->part > 128) {
            down->part = 1;
            across->part = pieces(across->part, 2);
        } else if (!results_fit && v->rows > unit)
            v->rows = rounded(v->rows / 2, unit);
        else if (!image_fits && v->steps > all)
            v->steps = pieces(v->steps / all, 2) * all;
        else if (down->part > 1)
            down->part = 1;
        else
            return lay_out(v, unit);
    }
    down->part = pieces(down->windows, pieces(down->windows, down->part));
    const int64_t computed = rounded((down->part - 1) * line_of(v) + across->part, columns / 2),
                  windows = down->part * across->part;
    const int64_t idle = computed - windows, turned = rounded(v->m, columns / 2);
    v->placed = may_place && v->m >= columns && v->rows >= v->m && v->steps == v->c * all &&
                turned * windows * element <= RESULTS && turned * v->steps * element <= WEIGHTS &&
                (v->kernels->rows > FEW_ROWS ? 25 * idle > windows : 2 * idle > windows);
    if (!v->placed && 2 * computed > 3 * windows)
        lay_out(v, unit);
}

/* Some windows of some images, rows of the result and steps of the sums: numbers of the first, and how many. */
typedef struct block {
    int64_t n, images, y, down, x, across;
    int64_t group, row, rows, step, steps;
} block;

static int64_t blocks_of_windows(const convolution *v)
{
    return pieces(v->batch, v->images) * pieces(v->axis[0].windows, v->axis[0].part) *
           pieces(v->axis[1].windows, v->axis[1].part);
}

/* Sets the windows, those of block `number` in the order of n, y and x. */
static void find_windows(const convolution *v, int64_t number, block *b)
{
    const int64_t across = pieces(v->axis[1].windows, v->axis[1].part),
                  down = pieces(v->axis[0].windows, v->axis[0].part);
    b->x = number % across * v->axis[1].part;
    b->y = number / across % down * v->axis[0].part;
    b->n = number / across / down * v->images;
    b->across = smaller(v->axis[1].part, v->axis[1].windows - b->x);
    b->down = smaller(v->axis[0].part, v->axis[0].windows - b->y);
    b->images = smaller(v->images, v->batch - b->n);
}

/* The thread's memory. */
typedef struct room {
    size_t *at;   /* where each step of a product begins in the images: */
    block listed; /* those of this block */
    char *images, *results, *weights, *turned;
} room;

static bool find_room(convolution *v, room *r)
{
    char *memory = tg_scratch();
    r->listed = (block){0};
    if (!memory) {
        v->without_memory = true;
        return false;
    }
    r->at = (size_t *)(void *)memory;
    r->images = memory + STEPS * sizeof(size_t);
    r->results = r->images + IMAGES + 2 * MOST_COLUMNS * 8;
    r->weights = r->results + RESULTS + 2 * MOST_COLUMNS * 8;
    r->turned = r->weights + WEIGHTS + 2 * MOST_COLUMNS * 8;
    return true;
}

/* ---- copies of images ---- */

/* to[x] = line[first + x stride], 0 outside the line of `size` elements; NULL: an empty one. */
static void take_line(size_t element, const char *line, int64_t size, int64_t first, int64_t stride, int64_t count,
                      char *to)
{
    const int64_t before = first >= 0 ? 0 : smaller(stride == 1 ? -first : pieces(-first, stride), count);
    const int64_t end = first >= size ? before
                        : stride == 1 ? smaller(size - first, count)
                                      : smaller((size - 1 - first) / stride + 1, count);
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
static const char *line_at(const convolution *v, const block *b, int64_t n, int64_t channel, int64_t y)
{
    if (y < 0 || y >= v->axis[0].size)
        return NULL;
    const int64_t number = ((n * v->groups + b->group) * v->c + channel) * v->axis[0].size + y;
    return v->image + number * v->axis[1].size * (int64_t)v->element;
}

/* The windows of the block, as [step, image, y, x]. */
static void lay_windows_out(const convolution *v, const block *b, char *to)
{
    const axis *down = &v->axis[0], *across = &v->axis[1];
    for (int64_t step = b->step; step < b->step + b->steps; step++) {
        const int64_t channel = step / taps(v), i = step % taps(v) / across->taps, j = step % across->taps;
        for (int64_t n = 0; n < b->images; n++)
            for (int64_t y = b->y; y < b->y + b->down; y++, to += b->across * (int64_t)v->element)
                take_line(v->element, line_at(v, b, b->n + n, channel, down->first + y * down->stride + i * down->step),
                          across->size, across->first + b->x * across->stride + j * across->step, across->stride,
                          b->across, to);
    }
}

/* The part of an image that the block's windows read, as [channel, phases down, phases across, lines, columns]. */
static void copy_image(const convolution *v, const block *b, char *to)
{
    const axis *down = &v->axis[0], *across = &v->axis[1];
    const int64_t lines = b->down + reach(down), columns = b->across + reach(across), first = b->step / taps(v),
                  left = lowest(across) + b->x * across->stride, element = (int64_t)v->element;
    for (int64_t channel = first; channel < first + b->steps / taps(v); channel++)
        for (int64_t i = 0; i < phases(down); i++) {
            const int64_t top =
                              lowest(down) + b->y * down->stride + i, /* the lines begin .. end - 1 lie in the image */
                begin = top >= 0 ? 0 : smaller(pieces(-top, down->stride), lines),
                          end = top >= down->size ? begin : smaller((down->size - 1 - top) / down->stride + 1, lines);
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

static void prepare_images(const convolution *v, const block *b, char *to)
{
    (v->laid_out ? lay_windows_out : copy_image)(v, b, to);
}

/* Where a step begins, or tap i, j of the first channel, in what prepare_images has made. */
static int64_t place_of_tap(const convolution *v, const block *b, int64_t i, int64_t j)
{
    const axis *down = &v->axis[0], *across = &v->axis[1];
    const int64_t columns = b->across + reach(across), y = down->first + i * down->step - lowest(down),
                  x = across->first + j * across->step - lowest(across),
                  phase = y % down->stride * phases(across) + x % across->stride;
    return (phase * (b->down + reach(down)) + y / down->stride) * columns + x / across->stride;
}

static int64_t place_of_step(const convolution *v, const block *b, int64_t step)
{
    if (v->laid_out)
        return (step - b->step) * b->images * b->down * b->across;
    const int64_t tap = step % taps(v);
    return (step - b->step) / taps(v) * plane(v, b->down, b->across) +
           place_of_tap(v, b, tap / v->axis[1].taps, tap % v->axis[1].taps);
}

static void list_steps(const convolution *v, const block *b, room *r)
{
    const block *l = &r->listed;
    if (l->step == b->step && l->steps == b->steps && l->images == b->images && l->down == b->down &&
        l->across == b->across)
        return;
    for (int64_t step = 0; step < b->steps; step++)
        r->at[step] = (size_t)place_of_step(v, b, b->step + step);
    r->listed = *b;
}

/* ---- products ---- */

/* Where the weight of the group's first row for a step is. */
static int64_t weight_at(const convolution *v, const block *b, int64_t step)
{
    const int64_t channel = step / taps(v), tap = step % taps(v), across = v->axis[1].taps;
    return b->group * v->weight_group + channel * v->weight_channel + tap / across * v->weight_tap[0] +
           tap % across * v->weight_tap[1];
}

/* Packs the block's weights as [tile, step, row of the tile]. */
static void pack_weights(const convolution *v, const block *b, char *to)
{
    const int64_t tiles = pieces(b->rows, (int64_t)v->kernels->rows);
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

/* Packs all rows' weights as [panel, step, row of the panel], with zeros behind the last row. */
static void pack_panels(const convolution *v, const block *b, char *to)
{
    const int64_t panel = (int64_t)v->kernels->columns, all = rounded(b->rows, panel / 2);
    TG_FOR_ELEMENT_SIZE(v->element, {
        for (int64_t first = 0; first < all; first += panel)
            for (int64_t step = 0; step < b->steps; step++) {
                const int64_t width = smaller(panel, all - first), inside = smaller(width, b->rows - first);
                const char *from = v->weight + (weight_at(v, b, step) + first * v->weight_row) * BYTES;
                for (int64_t r = 0; r < inside; r++, to += BYTES)
                    memcpy(to, from + r * v->weight_row * BYTES, BYTES);
                memset(to, 0, (size_t)((width - inside) * BYTES));
                to += (width - inside) * BYTES;
            }
    })
}

/* The results of one image of the block, in `out`. */
static char *results_at(const convolution *v, const block *b, int64_t n)
{
    return v->out + ((b->n + n) * v->out_image + (b->group * v->m + b->row) * v->out_channel + b->y * v->out_line +
                     b->x * v->out_step) *
                        (int64_t)v->element;
}

/* Continues the sums of earlier steps. */
static void take_results(const convolution *v, const block *b, int64_t line, int64_t row, char *to)
{
    const int64_t element = (int64_t)v->element;
    for (int64_t n = 0; n < b->images; n++)
        for (int64_t r = 0; r < b->rows; r++)
            for (int64_t y = 0; y < b->down; y++)
                take_line(v->element, results_at(v, b, n) + (r * v->out_channel + y * v->out_line) * element,
                          b->across * v->out_step, 0, v->out_step, b->across,
                          to + (r * row + (n * b->down + y) * line) * element);
}

/* Writes the results of one image, [row, line, across], with the bias after the last step. */
static void put_results(const convolution *v, const block *b, int64_t n, const char *from, int64_t row, int64_t line)
{
    const bool last = b->step + b->steps == v->c * taps(v);
    v->kernels->put(
        &(tg_windows_put){.m = (size_t)b->rows,
                          .lines = (size_t)b->down,
                          .across = (size_t)b->across,
                          .from = from,
                          .from_row = (size_t)row,
                          .from_line = (size_t)line,
                          .bias = last && v->bias ? v->bias + (b->group * v->m + b->row) * (int64_t)v->element : NULL,
                          .to = results_at(v, b, n),
                          .to_row = (size_t)v->out_channel,
                          .to_line = (size_t)v->out_line,
                          .to_step = (size_t)v->out_step});
}

/* The sums of all rows, computed as [window, row] and turned. */
static void place_block(const convolution *v, const block *b, room *r)
{
    const int64_t lanes = (int64_t)v->kernels->columns / 2, windows = b->down * b->across,
                  rows = rounded(b->rows, lanes), width = rounded(windows, lanes);
    prepare_images(v, b, r->images);
    list_steps(v, b, r);
    v->kernels->place(&(tg_windows_places){.windows = (size_t)windows,
                                           .across = (size_t)b->across,
                                           .line = (size_t)(b->across + reach(&v->axis[1])),
                                           .n = (size_t)rows,
                                           .k = (size_t)b->steps,
                                           .image = r->images,
                                           .weights = r->weights,
                                           .at = r->at,
                                           .out = r->turned});
    v->kernels->transpose(r->turned, (size_t)rows, (size_t)windows, (size_t)b->rows, (size_t)width, r->results);
    put_results(v, b, 0, r->results, width, b->across);
}

static void convolve_block(const convolution *v, const block *b, room *r)
{
    const int64_t line = v->laid_out ? b->across : b->across + reach(&v->axis[1]), element = (int64_t)v->element,
                  lanes = (int64_t)v->kernels->columns / 2,
                  width = rounded((b->images * b->down - 1) * line + b->across, lanes);
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
    convolution *v = context;
    room r;
    if (!find_room(v, &r))
        return;
    block b;
    const int64_t all = v->c * taps(v);
    for (b.group = 0; b.group < v->groups; b.group++)
        for (b.row = 0; b.row < v->m; b.row += v->rows) {
            b.rows = smaller(v->rows, v->m - b.row);
            b.step = 0;
            do { /* once without steps, too */
                b.steps = smaller(v->steps, all - b.step);
                (v->placed ? pack_panels : pack_weights)(v, &b, r.weights);
                for (size_t i = first; i < first + count; i++) {
                    find_windows(v, (int64_t)i, &b);
                    (v->placed ? place_block : convolve_block)(v, &b, &r);
                }
                b.step += b.steps;
            } while (b.step < all);
        }
}

/* Multiplications that are worth another thread. */
enum { WORTH_SHARING = 1 << 18 };

static size_t least(int64_t each)
{
    return (size_t)(WORTH_SHARING / (each + 1) + 1);
}

static void convolve(convolution *v)
{
    if (v->batch * v->groups * v->m * v->axis[0].windows * v->axis[1].windows <= 0)
        return;
    divide(v, (int64_t)v->kernels->rows, true);
    const int64_t blocks = blocks_of_windows(v), windows = v->images * v->axis[0].part * v->axis[1].part;
    tg_parallel((size_t)blocks, least(windows * v->groups * v->m * v->c * taps(v)), 1, convolve_some, v);
}

/* ---- the gradient of the weights ---- */

/* Adds the block's products of cotangent and windows to `sums`: [i, j, channel, row], or [step, row] where windows are
 * laid out. */
static void correlate_block(const convolution *v, const block *b, const room *r)
{
    const int64_t element = (int64_t)v->element, windows = v->axis[0].windows * v->axis[1].windows,
                  rows = rounded(b->rows, (int64_t)v->kernels->columns / 2), channels = b->steps / taps(v),
                  some = b->down * b->across;
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
    for (int64_t tap = 0; tap < taps(v); tap++) {
        sum.a = r->images + place_of_tap(v, b, tap / v->axis[1].taps, tap % v->axis[1].taps) * element;
        sum.out = r->weights + tap * channels * rows * element;
        v->kernels->correlate(&sum);
    }
}

/* Writes the gradient of the block's weights. */
static void put_weights(const convolution *v, const block *b, const char *sums)
{
    const int64_t rows = rounded(b->rows, (int64_t)v->kernels->columns / 2), all = taps(v), channels = b->steps / all;
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
static void correlate_weights(const convolution *v, const room *r, int64_t group, int64_t row, int64_t rows,
                              int64_t step, int64_t steps)
{
    block b = {.group = group};
    for (b.row = row; b.row < row + rows; b.row += b.rows) {
        b.rows = smaller(v->rows, row + rows - b.row);
        for (b.step = step; b.step < step + steps; b.step += b.steps) {
            b.steps = smaller(v->steps, step + steps - b.step);
            memset(r->weights, 0, (size_t)(b.steps * rounded(b.rows, (int64_t)v->kernels->columns / 2)) * v->element);
            for (int64_t i = 0; i < blocks_of_windows(v); i++) {
                find_windows(v, i, &b);
                correlate_block(v, &b, r);
            }
            put_weights(v, &b, r->weights);
        }
    }
}

/* Tg_parallel_parts: channels of all groups, and rows of the only group. */
static void correlate_channels(void *context, size_t first, size_t count)
{
    convolution *v = context;
    room r;
    if (!find_room(v, &r))
        return;
    for (int64_t channel = (int64_t)first, some; channel < (int64_t)(first + count); channel += some) {
        some = smaller(v->c - channel % v->c, (int64_t)(first + count) - channel);
        correlate_weights(v, &r, channel / v->c, 0, v->m, channel % v->c * taps(v), some * taps(v));
    }
}

static void correlate_rows(void *context, size_t first, size_t count)
{
    convolution *v = context;
    room r;
    if (find_room(v, &r))
        correlate_weights(v, &r, 0, (int64_t)first, (int64_t)count, 0, v->c * taps(v));
}

static void correlate(convolution *v)
{
    enum { FEW = 4 }; /* channels: too few for the rows of a tile */
    const int64_t unit = (int64_t)v->kernels->columns / 2, channels = v->groups * v->c,
                  each = v->batch * v->axis[0].windows * v->axis[1].windows;
    divide(v, unit, false);
    if (v->c < FEW && taps(v) > 1)
        lay_out(v, unit);
    if (v->groups == 1 && v->c < FEW)
        tg_parallel((size_t)v->m, least(each * v->c * taps(v)), (size_t)unit, correlate_rows, v);
    else
        tg_parallel((size_t)channels, least(each * v->m * taps(v)), 1, correlate_channels, v);
}

/* ---- shared by the three operations ---- */

/* For an image, weights and a cotangent or result of these shapes. */
static bool shapes_fit(const tg_value *out, const tg_shape *image, const tg_shape *weight, const tg_shape *result)
{
    char text[128];
    const convolution_attributes *a = out->attributes;
    const tg_window_layout *w = &a->window;
    const int64_t channels = image->dim[1], outputs = weight->dim[0], groups = a->groups;
    if (image->rank != 4 || weight->rank != 4)
        return tg_expected(out, "expected [batch, channels, height, width] and a weight [outputs, channels / groups, "
                                "height, width]");
    if (groups < 1 || channels % groups != 0 || outputs % groups != 0)
        return tg_expected(out, "%lld input and %lld output channels do not divide into %lld equal groups",
                           (long long)channels, (long long)outputs, (long long)groups);
    if (weight->dim[1] != channels / groups)
        return tg_expected(out, "expected a weight for %lld channels, not %s", (long long)(channels / groups),
                           tg_shape_text(weight, text, sizeof text));
    if (!tg_window_fits(out, w))
        return false;
    if (w->size.dim[0] != image->dim[2] || w->size.dim[1] != image->dim[3] || w->kernel.dim[0] != weight->dim[2] ||
        w->kernel.dim[1] != weight->dim[3])
        return tg_expected(out, "the window is for images of %lld x %lld and kernels of %lld x %lld",
                           (long long)w->size.dim[0], (long long)w->size.dim[1], (long long)w->kernel.dim[0],
                           (long long)w->kernel.dim[1]);
    const tg_shape expected = TG_SHAPE(image->dim[0], outputs, tg_windows(w, 0), tg_windows(w, 1));
    return !result || tg_shape_equal(result, &expected) ||
           tg_expected(out, "expected a cotangent %s", tg_shape_text(&expected, text, sizeof text));
}

/* Of images and weights of these shapes, with the window's own axes. */
static convolution convolution_of(const tg_call *call, const tg_shape *image, const tg_shape *weight)
{
    const convolution_attributes *a = call->value->attributes;
    const tg_window_layout *w = &a->window;
    convolution v = {.value = call->value,
                     .kernels = tg_kernels.products[call->value->dtype],
                     .element = tg_dtype_size(call->value->dtype),
                     .batch = image->dim[0],
                     .groups = a->groups,
                     .m = weight->dim[0] / a->groups,
                     .c = weight->dim[1],
                     .out = call->out};
    for (int i = 0; i < 2; i++)
        v.axis[i] = (axis){.size = w->size.dim[i],
                           .windows = tg_windows(w, i),
                           .stride = w->stride.dim[i],
                           .taps = w->kernel.dim[i],
                           .first = -w->padding.dim[i],
                           .step = w->dilation.dim[i]};
    return v;
}

static void report_memory(const convolution *v)
{
    if (v->without_memory)
        tg_expected(v->value, "no memory for the windows of an image");
}

/* Multiply-adds for each element of the result count twice. */
static double work_of(const tg_shape *weight, int64_t batch, const tg_window_layout *w)
{
    return 2 * (double)tg_shape_size(weight) * (double)batch * (double)tg_windows(w, 0) * (double)tg_windows(w, 1);
}

/* ---- conv2d ---- */

static bool conv2d_shape(tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    if (!tg_same_floating_type(out))
        return false;
    if (out->input_count < 2 || out->input_count > 3)
        return tg_expected(out, "expected images, a weight and perhaps a bias");
    const tg_shape *image = out->inputs[0]->shape, *weight = out->inputs[1]->shape;
    if (!shapes_fit(out, image, weight, NULL))
        return false;
    if (out->input_count == 3 && !tg_shape_equal(out->inputs[2]->shape, &TG_SHAPE(weight->dim[0])))
        return tg_expected(out, "expected a bias [%lld]", (long long)weight->dim[0]);
    *out->shape = TG_SHAPE(image->dim[0], weight->dim[0], tg_windows(&a->window, 0), tg_windows(&a->window, 1));
    return true;
}

static void conv2d_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    convolution v = convolution_of(call, out->inputs[0]->shape, out->inputs[1]->shape);
    const int64_t all = v.axis[0].taps * v.axis[1].taps, windows = v.axis[0].windows * v.axis[1].windows;
    v.image = call->in[0];
    v.weight = call->in[1];
    v.bias = out->input_count == 3 ? call->in[2] : NULL;
    v.weight_group = v.m * v.c * all;
    v.weight_row = v.c * all;
    v.weight_channel = all;
    v.weight_tap[0] = v.axis[1].taps;
    v.weight_tap[1] = 1;
    v.out_image = v.groups * v.m * windows;
    v.out_channel = windows;
    v.out_line = v.axis[1].windows;
    v.out_step = 1;
    convolve(&v);
    report_memory(&v);
}

static void conv2d_derivative(const tg_derive *d)
{
    if (d->count == 3 && d->wanted[2])
        d->gradient[2] = tg_sum_over(d->cotangent, TG_AXES(0, 2, 3), false);
    if (d->wanted[1])
        d->gradient[1] = TG_APPLY(&tg_op_conv2d_grad_weight, d->attributes, d->cotangent, d->in[0]);
    if (d->wanted[0])
        d->gradient[0] = TG_APPLY(&tg_op_conv2d_grad_image, d->attributes, d->cotangent, d->in[1]);
}

static double conv2d_work(const tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    return work_of(out->inputs[1]->shape, out->shape->dim[0], &a->window);
}

TG_USUAL_OPERATION(conv2d, TG_VARIADIC, TG_ATTRIBUTES(convolution_attributes, convolution_fields), .work = conv2d_work);

static convolution_attributes attributes_of(tg_tensor image, int64_t kernel_height, int64_t kernel_width,
                                            const tg_window *window)
{
    return (convolution_attributes){tg_window_over(image, kernel_height, kernel_width, window),
                                    window->groups ? window->groups : 1};
}

tg_tensor tg_conv2d(tg_tensor x, tg_tensor weight, tg_tensor bias, tg_window window)
{
    const convolution_attributes a = attributes_of(x, tg_dim(weight, 2), tg_dim(weight, 3), &window);
    return tg_apply(&tg_op_conv2d, &a, bias.value ? 3 : 2, (tg_tensor[]){x, weight, bias});
}

tg_tensor tg_conv1d(tg_tensor x, tg_tensor weight, tg_tensor bias, tg_window window)
{
    if (tg_ok(x) && tg_rank(x) != 3)
        return tg_refuse("conv1d", x, "expected [batch, channels, length]");
    const tg_tensor kernel = tg_with_height(weight);
    return tg_without_height(tg_conv2d(tg_with_height(x), kernel, bias, tg_window_across(window)));
}

/* ---- conv2d_grad_image ---- */

static bool conv2d_grad_image_shape(tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    const tg_shape *cotangent = out->inputs[0]->shape, *weight = out->inputs[1]->shape;
    if (!tg_same_floating_type(out))
        return false;
    if (cotangent->rank != 4 || weight->rank != 4 || a->window.size.rank != 2)
        return tg_expected(out, "expected a cotangent and a weight of four axes");
    const tg_shape image =
        TG_SHAPE(cotangent->dim[0], a->groups * weight->dim[1], a->window.size.dim[0], a->window.size.dim[1]);
    if (!shapes_fit(out, &image, weight, cotangent))
        return false;
    *out->shape = image;
    return true;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* The pixels that are `place` behind a multiple of the stride, counted from the padding's edge, are the results of a
 * convolution of the cotangent, over those elements of the kernel that windows put there. Returns the first such pixel
 * and changes the axis from that of the image to that of the cotangent; `tap` is the first element of the kernel, and
 * `tap_step` leads to the next one. */
static int64_t axis_of_cotangent(axis *a, int64_t place, int64_t *tap, int64_t *tap_step)
{
    const axis of = *a;
    const int64_t padding = -of.first, before = padding - place, first = before > 0 ? pieces(before, of.stride) : 0,
                  pixel = first * of.stride + place - padding;
    *tap = 0;
    *tap_step = of.stride / common_divisor(of.stride, of.step);
    while (*tap < of.taps && *tap < *tap_step && *tap * of.step % of.stride != place)
        ++*tap;
    const bool any = *tap < of.taps && *tap < *tap_step;
    *a = (axis){.size = of.windows,
                .windows = pixel < of.size ? (of.size - 1 - pixel) / of.stride + 1 : 0,
                .stride = 1,
                .taps = any ? (of.taps - 1 - *tap) / *tap_step + 1 : 0,
                .first = first - (*tap * of.step - place) / of.stride,
                .step = -(*tap_step * of.step / of.stride)};
    return pixel;
}

/* Pixels at one place within a stride, down and across. */
static void grad_at_place(const tg_call *call, const convolution *whole, int64_t down, int64_t across)
{
    convolution v = *whole;
    int64_t tap[2], step[2];
    const int64_t all = taps(&v), width = v.axis[1].taps, stride[2] = {v.axis[0].stride, v.axis[1].stride},
                  size[2] = {v.axis[0].size, v.axis[1].size};
    const int64_t y = axis_of_cotangent(&v.axis[0], down, &tap[0], &step[0]),
                  x = axis_of_cotangent(&v.axis[1], across, &tap[1], &step[1]);
    v.m = whole->c;
    v.c = whole->m;
    if (taps(&v) == 0) { /* no window reads these pixels */
        v.axis[0].taps = v.axis[1].taps = 1;
        v.c = 0;
        tap[0] = tap[1] = 0;
    }
    v.image = call->in[0];
    v.weight = (const char *)call->in[1] + (tap[0] * width + tap[1]) * (int64_t)v.element;
    v.weight_group = whole->m * whole->c * all;
    v.weight_row = all;
    v.weight_channel = whole->c * all;
    v.weight_tap[0] = step[0] * width;
    v.weight_tap[1] = step[1];
    v.out += (y * size[1] + x) * (int64_t)v.element;
    v.out_image = v.groups * v.m * size[0] * size[1];
    v.out_channel = size[0] * size[1];
    v.out_line = stride[0] * size[1];
    v.out_step = stride[1];
    convolve(&v);
    report_memory(&v);
}

static void conv2d_grad_image_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    const convolution whole = convolution_of(call, out->shape, out->inputs[1]->shape);
    for (int64_t y = 0; y < smaller(whole.axis[0].stride, whole.axis[0].size); y++)
        for (int64_t x = 0; x < smaller(whole.axis[1].stride, whole.axis[1].size); x++)
            grad_at_place(call, &whole, (y - whole.axis[0].first) % whole.axis[0].stride,
                          (x - whole.axis[1].first) % whole.axis[1].stride);
}

static void conv2d_grad_image_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = TG_APPLY(&tg_op_conv2d, d->attributes, d->cotangent, d->in[1]);
    if (d->wanted[1])
        d->gradient[1] = TG_APPLY(&tg_op_conv2d_grad_weight, d->attributes, d->in[0], d->cotangent);
}

static double conv2d_grad_image_work(const tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    return work_of(out->inputs[1]->shape, out->shape->dim[0], &a->window);
}

TG_USUAL_OPERATION(conv2d_grad_image, 2, TG_ATTRIBUTES(convolution_attributes, convolution_fields),
                   .work = conv2d_grad_image_work);

tg_tensor tg_conv2d_grad_image(tg_tensor cotangent, tg_tensor weight, int64_t height, int64_t width, tg_window window)
{
    convolution_attributes a = attributes_of(cotangent, tg_dim(weight, 2), tg_dim(weight, 3), &window);
    a.window.size = TG_SHAPE(height, width);
    return TG_APPLY(&tg_op_conv2d_grad_image, &a, cotangent, weight);
}

/* ---- conv2d_grad_weight ---- */

static bool conv2d_grad_weight_shape(tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    const tg_shape *cotangent = out->inputs[0]->shape, *image = out->inputs[1]->shape;
    if (!tg_same_floating_type(out))
        return false;
    if (cotangent->rank != 4 || image->rank != 4 || a->window.kernel.rank != 2)
        return tg_expected(out, "expected a cotangent and images of four axes");
    const tg_shape weight = TG_SHAPE(cotangent->dim[1], image->dim[1] / (a->groups > 0 ? a->groups : 1),
                                     a->window.kernel.dim[0], a->window.kernel.dim[1]);
    if (!shapes_fit(out, image, &weight, cotangent))
        return false;
    *out->shape = weight;
    return true;
}

static void conv2d_grad_weight_forward(const tg_call *call)
{
    const tg_value *out = call->value;
    convolution v = convolution_of(call, out->inputs[1]->shape, out->shape);
    v.cotangent = call->in[0];
    v.image = call->in[1];
    if (out->size > 0)
        correlate(&v);
    report_memory(&v);
}

static void conv2d_grad_weight_derivative(const tg_derive *d)
{
    if (d->wanted[0])
        d->gradient[0] = TG_APPLY(&tg_op_conv2d, d->attributes, d->in[1], d->cotangent);
    if (d->wanted[1])
        d->gradient[1] = TG_APPLY(&tg_op_conv2d_grad_image, d->attributes, d->in[0], d->cotangent);
}

static double conv2d_grad_weight_work(const tg_value *out)
{
    const convolution_attributes *a = out->attributes;
    return work_of(out->shape, out->inputs[0]->shape->dim[0], &a->window);
}

TG_USUAL_OPERATION(conv2d_grad_weight, 2, TG_ATTRIBUTES(convolution_attributes, convolution_fields),
                   .work = conv2d_grad_weight_work);

tg_tensor tg_conv2d_grad_weight(tg_tensor cotangent, tg_tensor image, int64_t kernel_height, int64_t kernel_width,
                                tg_window window)
{
    const convolution_attributes a = attributes_of(image, kernel_height, kernel_width, &window);
    return TG_APPLY(&tg_op_conv2d_grad_weight, &a, cotangent, image);
}
