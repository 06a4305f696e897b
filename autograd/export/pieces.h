/* The sources of the kernels as text. Exported C takes the definitions that it needs, so one formula serves the library
 * and the exported files. Internal.
 *
 *     tg_pieces needed = {.dtype = TG_F32};
 *     tg_pieces_need(&needed, "y[i] = gelu_exact_of(x);");     // gelu_exact_of, and what that calls, and so on
 *     tg_pieces_put(&text, &needed);
 */
#ifndef TG_PIECES_H
#define TG_PIECES_H

#include "autograd/base/text.h"
#include "autograd/shape.h"

/* The value of an elementwise line of kernels.def, a C expression: of x, perhaps with a number, or of a and b. */
typedef struct tg_kernel_formula {
    const char *number; /* the name of the number; NULL: none */
    const char *value;
} tg_kernel_formula;

/* NULL if no formula has that name: its loop is written out, or it is not elementwise. */
const tg_kernel_formula *tg_formula_find(const char *name);

/* True if the kernels define this name. */
bool tg_pieces_have(const char *name);

enum { TG_MOST_PIECES = 768 };

typedef struct tg_pieces {
    tg_dtype dtype; /* TG_F32 or TG_F64 */
    bool piece[TG_MOST_PIECES];
} tg_pieces;

/* Adds the pieces that a text of C refers to. */
void tg_pieces_need(tg_pieces *needed, const char *text);

void tg_pieces_put(tg_text *text, const tg_pieces *needed);

#endif
