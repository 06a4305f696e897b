/* Text that grows in a fixed buffer and is cut at its end. Internal. */
#ifndef TG_TEXT_H
#define TG_TEXT_H

#include "autograd/api.h"

#include <stdarg.h>
#include <stddef.h>

typedef struct tg_text {
    char *bytes; /* NULL is allowed if size is 0 */
    size_t size;
    size_t used; /* length of the whole text, including what was cut */
} tg_text;

TG_FORMAT(printf, 2, 3)
void tg_text_add(tg_text *text, const char *format, ...);
TG_FORMAT(printf, 2, 0)
void tg_text_add_arguments(tg_text *text, const char *format, va_list arguments);

#endif
