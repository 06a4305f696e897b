#include "autograd/products.h"

#include "autograd/kernels/blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tg_products_note(char *text, size_t size)
{
    const char *whose = getenv("TG_PRODUCTS");
    if (!text || !whose || !*whose || strcmp(whose, "own") == 0)
        return false;
    if (strcmp(whose, "openblas") != 0) {
        snprintf(text, size, "TG_PRODUCTS: '%.40s' is neither own nor openblas, and is ignored", whose);
        return true;
    }
    const tg_blas *blas = tg_blas_load();
    const char *better = blas ? tg_blas_better_core(blas) : NULL;
    if (!blas)
        snprintf(text, size, "TG_PRODUCTS: there is no OpenBLAS here, so products are tapegrad's own");
    else if (better)
        snprintf(
            text, size,
            "OpenBLAS runs its core %s, below what this processor can: set OPENBLAS_CORETYPE=%s, or TG_PRODUCTS=own",
            tg_blas_core(blas), better);
    return !blas || better;
}
