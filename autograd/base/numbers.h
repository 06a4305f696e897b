/* Numbers as text, the same in every locale. printf and scanf follow the locale of the program that uses the library,
 * where 0.5 may be written 0,5; such a file could not be read elsewhere. So the library reads and writes every number
 * with a fraction through these functions. Internal to the library, and shared by all of its rooms.
 *
 *     tg_print(line, sizeof line, "%d %a", steps, rate);      // as snprintf
 *     if (tg_scan(line, "%d %la", &steps, &rate) == 2)        // as sscanf
 */
#ifndef TG_NUMBERS_H
#define TG_NUMBERS_H

#include "autograd/api.h"

#include <stdarg.h>
#include <stddef.h>

TG_FORMAT(printf, 3, 4)
int tg_print(char *text, size_t size, const char *format, ...);
TG_FORMAT(printf, 3, 0)
int tg_print_arguments(char *text, size_t size, const char *format, va_list arguments);

TG_FORMAT(scanf, 2, 3)
int tg_scan(const char *text, const char *format, ...);

#endif
