/* Whose matrix products are used: the library's own, or OpenBLAS's.
 *
 *     tg_error error;
 *     if (!tg_products_by(TG_PRODUCTS_OPENBLAS, &error))
 *         return fprintf(stderr, "%s\n", error.text), 2;          // OpenBLAS is not installed
 *
 * The initial choice is the environment variable TG_PRODUCTS, auto, own or openblas; without it `auto`. The library's
 * own products give the same bytes on every processor with fused multiply-adds. OpenBLAS's differ from them by
 * rounding, and among processors and versions of OpenBLAS; on one machine they too are the same for any number of
 * threads, tg_threads, as large products are divided at places that depend on their shape only.
 */
#ifndef TG_PRODUCTS_H
#define TG_PRODUCTS_H

#include "autograd/error.h"

TG_API_BEGIN

typedef enum tg_products {
    TG_PRODUCTS_AUTO, /* the library's own, but OpenBLAS's, if installed, where those lack fused multiply-adds and the
                         processor has AVX */
    TG_PRODUCTS_OWN,
    TG_PRODUCTS_OPENBLAS, /* loaded at run time: libopenblas.so.0 */
} tg_products;

/* Sets whose products the whole process uses from now on; call it while no operation is running. False, with the error
 * and nothing changed, if OpenBLAS is asked for and not installed, or the library was built without it. */
bool tg_products_by(tg_products whose, tg_error *error);

/* The current choice, and the name of one; NULL past the end. */
tg_products tg_products_now(void);
const char *tg_products_name(tg_products whose);

TG_API_END

/* NULL, or the error in TG_PRODUCTS, with which every tape begins. Internal. */
const char *tg_products_error(void);

#endif
