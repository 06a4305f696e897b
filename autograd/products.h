/* Chooses the matrix products: the library's own or OpenBLAS's. The environment variable TG_PRODUCTS=own or openblas
 * decides; without it the library chooses (docs/products.md). OpenBLAS is loaded when it is first used, if it is
 * installed; no program needs it. The small products inside tg_self_attention are always the library's own.
 *
 *     char note[TG_PRODUCTS_NOTE];
 *     if (tg_products_note(note, sizeof note))
 *         fprintf(stderr, "program: %s\n", note);
 */
#ifndef TG_PRODUCTS_H
#define TG_PRODUCTS_H

#include "autograd/api.h"

#include <stdbool.h>
#include <stddef.h>

TG_API_BEGIN

enum { TG_PRODUCTS_NOTE = 240 };

/* True, with a line of text, if there is a problem: the value of TG_PRODUCTS is unknown, OpenBLAS is not installed, or
 * it does not know this processor and runs slower than it could; then the text gives the remedy. */
bool tg_products_note(char *text, size_t size);

TG_API_END
#endif
