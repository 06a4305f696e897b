#include "autograd/base/text.h"

#include "autograd/base/numbers.h"

void tg_text_add_arguments(tg_text *text, const char *format, va_list arguments)
{
    size_t room = text->used < text->size ? text->size - text->used : 0;
    int written = tg_print_arguments(room ? text->bytes + text->used : NULL, room, format, arguments);
    if (written > 0)
        text->used += (size_t)written;
}

void tg_text_add(tg_text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tg_text_add_arguments(text, format, arguments);
    va_end(arguments);
}
