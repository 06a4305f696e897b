/* Whose matrix products are used: the library's own or OpenBLAS's. TG_PRODUCTS=own or openblas in the environment
 * decides; without it the library does, as docs/products.md says. The small products inside tg_self_attention are the
 * library's own whatever it says.
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

/* Whether there is something that the user of a program should know, and what, in one line: that TG_PRODUCTS says
 * something else, or that OpenBLAS does not know this processor and runs below what that can, and the remedy. */
bool tg_products_note(char *text, size_t size);

TG_API_END
#endif
