/* What OpenBLAS runs: its core, that is the processor whose kernels it uses. Internal to the library.
 *
 *     if (tg_blas_better_core())
 *         printf("%s would be better than %s\n", tg_blas_better_core(), tg_blas_core());
 */
#ifndef TG_KERNELS_BLAS_H
#define TG_KERNELS_BLAS_H

const char *tg_blas_core(void);

/* A core whose vectors are as wide as those of our kernels in use, if OpenBLAS has one and runs a narrower one; else
 * NULL. */
const char *tg_blas_better_core(void);

#endif
