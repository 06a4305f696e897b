#include "autograd/products.h"

#include "autograd/kernels/blas.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tg_products_note(char *text, size_t size)
{
    const char *whose = getenv("TG_PRODUCTS"), *better = tg_blas_better_core();
    const bool by_openblas = whose && strcmp(whose, "openblas") == 0, own = whose && strcmp(whose, "own") == 0;
    if (!text)
        return false;
    if (whose && *whose && !by_openblas && !own)
        snprintf(text, size, "TG_PRODUCTS: '%.40s' is neither own nor openblas, and is ignored", whose);
    else if (better && by_openblas)
        snprintf(
            text, size,
            "OpenBLAS runs its core %s, below what this processor can: set OPENBLAS_CORETYPE=%s, or TG_PRODUCTS=own",
            tg_blas_core(), better);
    else if (better && !own)
        snprintf(text, size,
                 "OpenBLAS runs its core %s, below what this processor can, so products are tapegrad's own "
                 "(OPENBLAS_CORETYPE=%s "
                 "helps other programs)",
                 tg_blas_core(), better);
    else
        return false;
    return true;
}
