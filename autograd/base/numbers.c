#define _POSIX_C_SOURCE 200809L

#include "autograd/base/numbers.h"

#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#if defined __APPLE__
#include <xlocale.h>
#endif

static locale_t plain; /* 0 if there is no memory for it: then the caller's is used, as uselocale(0) changes nothing */

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Switches the calling thread to the C locale; returns the previous one. */
static locale_t enter_plain(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    return uselocale(plain);
}

int tg_print_arguments(char *text, size_t size, const char *format, va_list arguments)
{
    const locale_t before = enter_plain();
    const int length = vsnprintf(text, size, format, arguments);
    uselocale(before);
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
    const locale_t before = enter_plain();
    const int fields = vsscanf(text, format, arguments);
    uselocale(before);
    va_end(arguments);
    return fields;
}
