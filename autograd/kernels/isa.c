/* All kernels for one instruction set and one floating type. The Makefile compiles this file once for each pair, with
 * TG_REAL_f32 or TG_REAL_f64 (real.h) and TG_KERNEL_TABLE, the name of the table to fill; so no name in here needs a
 * suffix.
 */
#include "autograd/base/platform.h"
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/real.h"

#include <math.h>
#include <string.h>
#if defined __SSE2__
#include <immintrin.h>
#endif

/* Of large numbers, which the C library takes: the static one of Windows loses their digits. */
#define sin(x) tg_system_sin(x)
#define cos(x) tg_system_cos(x)

/* Functions of scalars. */
#include "autograd/kernels/coefficients.inc"
#include "autograd/kernels/math.inc"
#include "autograd/kernels/functions.inc"
#include "autograd/kernels/gelu.inc"
#include "autograd/kernels/activation.inc"

/* Loops. */
#include "autograd/kernels/elementwise.inc"
#include "autograd/kernels/reduce.inc"
#include "autograd/kernels/index.inc"
#include "autograd/kernels/rows.inc"
#include "autograd/kernels/recurrent.inc"
#include "autograd/kernels/cross_entropy.inc"
#include "autograd/kernels/random.inc"
#include "autograd/kernels/optimizer.inc"

#if defined TG_ONE_SET

#define POINTER_(pointer, type, parameters, kernel) void(*const pointer##_##type) parameters = kernel;
#define POINTER(pointer, type, parameters, kernel)  POINTER_(pointer, type, parameters, kernel)
#define TG_KERNEL(name, parameters)                 POINTER(tg_kernel_##name, TG_TYPE, parameters, name)
#define TG_VECTOR_KERNEL(name, parameters)          POINTER(tg_kernel_##name, TG_TYPE, parameters, vector_##name)
#pragma push_macro("power") /* in the one file it is a macro: a type is called so, too */
#undef power
#include "autograd/kernels/kernels.def"
#pragma pop_macro("power")

#else

extern const tg_kernel_table TG_KERNEL_TABLE;
const tg_kernel_table TG_KERNEL_TABLE = {
/* in the order of kernels.def, as its members are */
#define TG_KERNEL(name, parameters)        name,
#define TG_VECTOR_KERNEL(name, parameters) vector_##name,
#include "autograd/kernels/kernels.def"
};

#endif
