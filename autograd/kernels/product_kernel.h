/* Matrix products by one instruction set, in one type: product_kernel.c defines one for each pair. Internal to the
 * library.
 *
 * The sum for an element of the result is one chain, s = fma(a[i, l], b[l, j], s) for l = 0 .. k-1, starting from zero,
 * the bias or the existing value, whatever the blocking. So any division into rows and columns gives the same bits, and
 * so do all instruction sets with a fused multiply-add.
 */
#ifndef TG_PRODUCT_KERNEL_H
#define TG_PRODUCT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

typedef enum tg_product_start { TG_START_ZERO, TG_START_BIAS, TG_START_OUT } tg_product_start;

/* out [m, n] = start + A B, or a rectangle of it. Strides are in elements; one of A's two strides is 1, and one of
 * B's. */
typedef struct tg_product_part {
    size_t m, n, k;
    const void *a; /* element (i, l) at a[i * a_row + l * a_step] */
    size_t a_row, a_step;
    const void *b; /* element (l, j) at b[l * b_step + j * b_column] */
    size_t b_step, b_column;
    const void *bias; /* [n], for TG_START_BIAS */
    void *out;        /* element (i, j) at out[i * out_row + j] */
    size_t out_row;
    tg_product_start start;
} tg_product_part;

#if !defined TG_NO_WINDOWS

/* Products with the windows of an image, which are not laid out: step l of the windows that are next to each other is
 * a run of the image, shifted (ops/convolution.c). n is a multiple of half of `columns`, and room for as many
 * is behind each row of `out` and each run.
 *
 *     convolve     out [m, n] = A B, or, with `more`, += that: A packed as [rows of a tile, k, rows]
 *                  (tiles of nearly equal size), step l of B at b + at[l] */
typedef struct tg_windows_product {
    size_t m, n, k;
    const void *a, *b;
    const size_t *at;
    void *out;
    size_t out_row;
    bool more;
} tg_windows_product;

/*     correlate    out [m, n] += A B over runs * run steps: element (i, l) of A at a[i * a_row + l], and a_jump more
 * after each run; B [runs run, n], n a multiple of half of `columns` */
typedef struct tg_windows_sum {
    size_t m, n, runs, run;
    const void *a;
    size_t a_row, a_jump;
    const void *b;
    void *out;
} tg_windows_sum;

/*     put          results [m, lines, across] out of such rows, plus bias[m] unless it is NULL */
typedef struct tg_windows_put {
    size_t m, lines, across;
    const void *from;
    size_t from_row, from_line; /* from row to row, and from line to line */
    const void *bias;
    void *to;
    size_t to_row, to_line, to_step;
} tg_windows_put;

/*     take         to [lines, count] = the lines' elements first .. first + count - 1, zeros outside of 0 .. size - 1
 */
typedef struct tg_windows_take {
    size_t lines, count;
    const void *from;
    size_t from_line;
    ptrdiff_t first, size;
    void *to;
} tg_windows_take;

/* Winograd's convolution (ops/winograd.c): a tile is 4 x 4 numbers for each channel, in planes that are `apart`, each
 * [tile, channel]. Tile y, x belongs to the pixels from line top + 2 y and column left + 2 x on of [lines, columns,
 * channels]; what is outside is read from, or written to, `outside` [channels]. Channels are a multiple of half of
 * `columns`.
 *
 *     tile_image       tiles of 4 x 4 pixels
 *     tile_cotangent   of 2 x 2
 *     untile_results   2 x 2 pixels from each tile, plus bias[channels] unless that is NULL */
typedef struct tg_winograd_tiles {
    size_t down, across, channels, apart;
    void *tiles, *pixels, *outside;
    const void *bias;
    ptrdiff_t top, left, lines, columns;
} tg_winograd_tiles;

/*     tile_weights     to [16, count] from weights [9, count]
 *     untile_gradient  to [9, count] from tiles [16, count]; count as the channels above */
typedef struct tg_winograd_weights {
    size_t count;
    const void *from;
    ptrdiff_t from_apart;
    void *to;
    ptrdiff_t to_apart;
} tg_winograd_weights;

#endif

typedef struct tg_product_kernels {
    /* With scratch, TG_SCRATCH bytes (scratch.h), A is packed; NULL: it is not. */
    void (*multiply)(const tg_product_part *part, void *scratch);
    bool (*packs_a)(const tg_product_part *part); /* true if packing A is faster */
#if !defined TG_NO_WINDOWS
    void (*convolve)(const tg_windows_product *product);
    void (*correlate)(const tg_windows_sum *sum);
    void (*put)(const tg_windows_put *results);
    void (*take)(const tg_windows_take *lines);
    /* to [k, n] = from^T: columns `apart` from each other; what is behind column n, up to whole vectors, has any
     * numbers. */
    void (*transpose)(const void *from, size_t apart, size_t n, size_t k, size_t to_row, void *to);
    /* The same, and nothing is written behind column n. */
    void (*transpose_exactly)(const void *from, size_t apart, size_t n, size_t k, size_t to_row, void *to);
    void (*tile_image)(const tg_winograd_tiles *tiles);
    void (*tile_cotangent)(const tg_winograd_tiles *tiles);
    void (*untile_results)(const tg_winograd_tiles *tiles);
    void (*tile_weights)(const tg_winograd_weights *weights);
    void (*untile_gradient)(const tg_winograd_weights *weights);
#endif
    size_t rows, columns; /* rows and columns computed at a time: divide products at multiples of these */
    bool fused;           /* with fused multiply-adds */
} tg_product_kernels;

extern const tg_product_kernels tg_product_kernels_baseline_f32, tg_product_kernels_baseline_f64,
    tg_product_kernels_v3_f32, tg_product_kernels_v3_f64, tg_product_kernels_v4_f32, tg_product_kernels_v4_f64;

#endif
