/* All kernels for one instruction set, TG_ISA: the Makefile compiles this file once for each. */
#include "autograd/kernels/kernels.h"

#include <float.h>
#include <math.h>
#include <string.h>
#if defined __SSE2__
#include <immintrin.h>
#endif

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)

/* ---- single precision ---- */
#define tg_real        float
#define TG_REAL_IS_F32 1
#define NAME(name)     name##_f32
#include "autograd/kernels/families.inc"
const tg_kernels_f32 JOIN(tg_kernels_, TG_ISA, _f32) = {
#define TG_KERNEL(name, parameters) .name = name##_f32,
#include "autograd/kernels/kernels.def"
#undef TG_KERNEL
};
#undef tg_real
#undef TG_REAL_IS_F32
#undef NAME

/* ---- double precision ---- */
#define tg_real        double
#define TG_REAL_IS_F32 0
#define NAME(name)     name##_f64
#include "autograd/kernels/families.inc"
const tg_kernels_f64 JOIN(tg_kernels_, TG_ISA, _f64) = {
#define TG_KERNEL(name, parameters) .name = name##_f64,
#include "autograd/kernels/kernels.def"
#undef TG_KERNEL
};
