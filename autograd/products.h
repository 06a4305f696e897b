/* Chooses the matrix products: the library's own or OpenBLAS's. TG_PRODUCTS=own or openblas in the environment decides;
 * without it the library does, as docs/products.md says. OpenBLAS is loaded when it is first used, if it is installed;
 * no program needs it. The small products inside tg_self_attention are the library's own whatever it says.
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

/* True if there is something to report about TG_PRODUCTS, with a line of text: its value is unknown, there is no
 * OpenBLAS, or OpenBLAS does not know this processor and runs slower than it could, with the remedy. */
bool tg_products_note(char *text, size_t size);

TG_API_END
#endif
