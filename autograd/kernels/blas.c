#include "autograd/kernels/blas.h"

#include "autograd/kernels/kernels.h"

#include <cblas.h>
#include <string.h>

const char *tg_blas_core(void)
{
    return openblas_get_corename();
}

#if defined __x86_64__

/* The core for this processor first; then others as wide. */
static const char *const v3_cores[] = {"Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", NULL};
static const char *const v4_cores[] = {"SkylakeX", "Cooperlake", "SapphireRapids", NULL};
static const char *const bf16_cores[] = {"Cooperlake", "SkylakeX", "SapphireRapids", NULL};

const char *tg_blas_better_core(void)
{
    __builtin_cpu_init();
    const char *const *cores = strcmp(tg_kernels.isa, "v3") == 0      ? v3_cores
                               : strcmp(tg_kernels.isa, "v4") != 0    ? NULL
                               : __builtin_cpu_supports("avx512bf16") ? bf16_cores
                                                                      : v4_cores;
    for (int i = 0; cores && cores[i]; i++)
        if (strcmp(tg_blas_core(), cores[i]) == 0)
            return NULL;
    return cores ? cores[0] : NULL;
}

#else

const char *tg_blas_better_core(void)
{
    return NULL;
}

#endif
