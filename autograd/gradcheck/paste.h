/* A failed check as a C program of its own. Internal. */
#ifndef TG_GRADCHECK_PASTE_H
#define TG_GRADCHECK_PASTE_H

#include "autograd/gradcheck/function.h"
#include "autograd/text.h"

/* Appends a C program that repeats this check of a function or operation. */
void tg_check_add_test(tg_text *text, const tg_check *c);

#endif
