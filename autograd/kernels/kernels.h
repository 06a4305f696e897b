/* The kernels that run on this processor, in every floating type.
 *
 *     tg_kernels_of(TG_F32)->gelu_exact(n, x, y);
 *     tg_kernels_of(TG_F64)->mul(n, a, 1, b, 0, y);        // b is one number
 *
 * kernels.def lists them. Internal to the library.
 */
#ifndef TG_KERNELS_H
#define TG_KERNELS_H

#include "autograd/shape.h" /* tg_dtype */

enum { TG_QUERIES = 32 }; /* maximum number of queries in a call of attention's kernels */

/* Windows of an image: `down` x `across` of them, of rows x columns elements. The first begins at element `first`, the
 * next ones down_step and across_step after it; their rows are row_step apart and their columns column_step. Results of
 * a line of windows are `line` after those of the line before. */
typedef struct tg_image_windows {
    size_t size; /* elements of the image */
    size_t down, across, rows, columns;
    size_t first, down_step, across_step, row_step, column_step, line;
} tg_image_windows;

#if defined TG_ONE_SET

/* Only the compiler's own instruction set, in the smaller one file: a pointer for each kernel and type, so that a
 * linker drops the kernels that are not called. */
#define TG_KERNEL(name, parameters) \
    extern void(*const tg_kernel_##name##_f32) parameters, (*const tg_kernel_##name##_f64)parameters;
#include "autograd/kernels/kernels.def"

#else

/* The kernels of one floating type and instruction set. Arrays have elements of that type. */
typedef struct tg_kernel_table {
#define TG_KERNEL(name, parameters) void(*name) parameters;
#include "autograd/kernels/kernels.def"
} tg_kernel_table;

#endif

/* One instruction set: "baseline", "v3" or "v4", the x86-64 level that they were compiled for. */
typedef struct tg_kernel_set {
    const char *isa;
#if !defined TG_ONE_SET
    const tg_kernel_table *of[2]; /* by tg_dtype */
#endif
    const struct tg_product_kernels *products[2];
} tg_kernel_set;

/* The set in use: the best one that runs on this processor, chosen before main. */
extern tg_kernel_set tg_kernels;

#if defined TG_ONE_SET

#define TG_KERNEL_CALL(dtype, kernel, ...) \
    ((dtype) == TG_F64 ? tg_kernel_##kernel##_f64 : tg_kernel_##kernel##_f32)(__VA_ARGS__)

#else

/* Its kernels for elements of `dtype`, a floating tg_dtype. */
static inline const tg_kernel_table *tg_kernels_of(tg_dtype dtype)
{
    return tg_kernels.of[dtype];
}

#define TG_KERNEL_CALL(dtype, kernel, ...) tg_kernels_of(dtype)->kernel(__VA_ARGS__)

#endif

/* Compiled set number `index`, best last, or NULL past the end; and whether this processor can run a set. For tests and
 * benchmarks. */
const tg_kernel_set *tg_kernel_set_at(int index);
bool tg_kernel_set_runs(const tg_kernel_set *set);

/* Uses the set of that name from now on. False, and no change, if there is none or the processor lacks it. Not
 * thread-safe: for tests and benchmarks. */
bool tg_kernels_use(const char *isa);

#endif
