#include "autograd/base/numbers.h"

#include "autograd/base/platform.h"

#include <stdio.h>

int tg_print_arguments(char *text, size_t size, const char *format, va_list arguments)
{
    const tg_locale caller = tg_locale_enter();
    const int length = vsnprintf(text, size, format, arguments);
    tg_locale_leave(caller);
    return length;
}

int tg_print(char *text, size_t size, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = tg_print_arguments(text, size, format, arguments);
    va_end(arguments);
    return length;
}

int tg_scan(const char *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const tg_locale caller = tg_locale_enter();
    const int fields = vsscanf(text, format, arguments);
    tg_locale_leave(caller);
    va_end(arguments);
    return fields;
}
