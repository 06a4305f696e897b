/* The kernels that run on this processor, in both precisions.
 *
 *     tg_kernels.f32->gelu_exact(n, x, y);
 *     tg_kernels.f64->mul(n, a, 1, b, 0, y);        // b is one number
 *
 * kernels.def lists them. Internal to the library.
 */
#ifndef TG_KERNELS_H
#define TG_KERNELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct tg_kernels_f32 {
#define tg_real                      float
#define TG_KERNEL(name, parameters)  void (*name) parameters;
#include "autograd/kernels/kernels.def"
#undef tg_real
} tg_kernels_f32;

typedef struct tg_kernels_f64 {
#define tg_real double
#include "autograd/kernels/kernels.def"
#undef TG_KERNEL
#undef tg_real
} tg_kernels_f64;

typedef struct tg_kernel_set {
    const char *isa; /* "baseline", "v3" or "v4": the x86-64 level they were compiled for */
    const tg_kernels_f32 *f32;
    const tg_kernels_f64 *f64;
} tg_kernel_set;

/* The set in use: the best that this processor runs, chosen before main. */
extern tg_kernel_set tg_kernels;

/* Calls the kernel in the precision of `dtype`, a tg_dtype; pointers to data go in as void pointers. */
#define TG_KERNEL_CALL(dtype, kernel, ...)        \
    do {                                          \
        if ((dtype) == TG_F32)                    \
            tg_kernels.f32->kernel(__VA_ARGS__);  \
        else                                      \
            tg_kernels.f64->kernel(__VA_ARGS__);  \
    } while (0)

/* Set number `index` that was compiled in, best last, or NULL past the end; and whether this processor runs it. For tests
 * and benchmarks. */
const tg_kernel_set *tg_kernel_set_at(int index);
bool tg_kernel_set_runs(const tg_kernel_set *set);

/* Uses the set of that name from now on. False, and no change, if there is none or the processor lacks it. Not
 * thread-safe: for tests and benchmarks. */
bool tg_kernels_use(const char *isa);

#endif
