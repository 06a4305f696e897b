/* Errors: one line of text, in the C locale, that says what is wrong.
 *
 *     tg_error error;
 *     if (!tg_parameters_load(set, "net.safetensors", NULL, &error))
 *         fprintf(stderr, "%s\n", error.text);         // net.safetensors: tensor layers.0.bias is missing
 *
 *     static bool check(int columns, tg_error *error)  // a function of your own that can fail
 *     {
 *         return columns == 3 || tg_fail(error, "the table has %d columns, and needs 3", columns);
 *     }
 *
 * A function that takes a tg_error sets it where it fails and leaves it alone where it does not. NULL: no text.
 */
#ifndef TG_ERROR_H
#define TG_ERROR_H

#include "autograd/api.h"

#include <stdarg.h>
#include <stdbool.h>

TG_API_BEGIN

typedef struct tg_error {
    char text[800];
} tg_error;

/* Formats the text like printf, cut to its size, and returns false. The arguments may include the old text:
 * tg_fail(error, "epoch %d: %s", epoch, error->text). Control characters, which may come from a file and which a
 * terminal would obey, become '?'. */
TG_FORMAT(printf, 2, 3)
bool tg_fail(tg_error *error, const char *format, ...);

/* tg_fail, unless an error is already set: for an error that starts as "" and keeps the first failure. */
TG_FORMAT(printf, 2, 3)
bool tg_fail_first(tg_error *error, const char *format, ...);

TG_API_END

/* tg_fail for functions that take a format themselves. Internal. */
TG_FORMAT(printf, 2, 0)
bool tg_fail_arguments(tg_error *error, const char *format, va_list arguments);

#endif
