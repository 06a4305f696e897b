#include "autograd/error.h"

#include "autograd/base/numbers.h"

#include <string.h>

/* U+0001 to U+001F and U+007F to U+009F become '?'. */
static void remove_controls(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at; at++)
        if (*at < 0x20 || *at == 0x7f)
            *at = '?';
        else if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0) /* in UTF-8 */
            at[0] = at[1] = '?';
}

bool tg_fail_arguments(tg_error *error, const char *format, va_list arguments)
{
    tg_error made; /* at first, as the arguments may be the text before */
    if (!error)
        return false;
    tg_print_arguments(made.text, sizeof made.text, format, arguments);
    remove_controls(made.text);
    strcpy(error->text, made.text);
    return false;
}

bool tg_fail(tg_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tg_fail_arguments(error, format, arguments);
    va_end(arguments);
    return false;
}

bool tg_fail_first(tg_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (error && !error->text[0])
        tg_fail_arguments(error, format, arguments);
    va_end(arguments);
    return false;
}
