/* Selects the compiled kernels to run, once, before main, by the features of the processor. */
#include "autograd/kernels/kernels.h"

#include "autograd/kernels/product_kernel.h"

#include <string.h>

#if defined TG_ONE_SET
#define DECLARE(set)
#define TABLES(set)
#else
#define DECLARE(set) extern const tg_kernel_table tg_kernels_##set##_f32, tg_kernels_##set##_f64;
#define TABLES(set)  .of = {[TG_F32] = &tg_kernels_##set##_f32, [TG_F64] = &tg_kernels_##set##_f64},
#endif
#define SET(set)                                        \
    {                                                   \
        .isa = #set, TABLES(set).products = {           \
            [TG_F32] = &tg_product_kernels_##set##_f32, \
            [TG_F64] = &tg_product_kernels_##set##_f64  \
        }                                               \
    }

DECLARE(baseline)
#ifdef TG_HAVE_ISA_v3
DECLARE(v3)
#endif
#ifdef TG_HAVE_ISA_v4
DECLARE(v4)
#endif

static const tg_kernel_set sets[] = {
    SET(baseline),
#ifdef TG_HAVE_ISA_v3
    SET(v3),
#endif
#ifdef TG_HAVE_ISA_v4
    SET(v4),
#endif
};
enum { SETS = sizeof sets / sizeof sets[0] };

tg_kernel_set tg_kernels = SET(baseline);

const tg_kernel_set *tg_kernel_set_at(int index)
{
    return index >= 0 && index < SETS ? &sets[index] : NULL;
}

bool tg_kernel_set_runs(const tg_kernel_set *set)
{
    if (!set)
        return false;
#if defined TG_HAVE_ISA_v3 || defined TG_HAVE_ISA_v4
    __builtin_cpu_init();
    /* The features of the x86-64 psABI levels that our loops use. */
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
              __builtin_cpu_supports("bmi2");
    if (strcmp(set->isa, "v3") == 0)
        return v3;
    if (strcmp(set->isa, "v4") == 0)
        return v3 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
#endif
    return strcmp(set->isa, "baseline") == 0;
}

bool tg_kernels_use(const char *isa)
{
    for (int i = 0; isa && i < SETS; i++)
        if (strcmp(sets[i].isa, isa) == 0 && tg_kernel_set_runs(&sets[i])) {
            tg_kernels = sets[i];
            return true;
        }
    return false;
}

__attribute__((constructor)) static void use_the_best(void)
{
    for (int i = SETS - 1; i >= 0; i--)
        if (tg_kernels_use(sets[i].isa))
            return;
}
