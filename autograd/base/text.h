/* Text that grows in a fixed buffer and is cut at its end; and descriptions of values. Internal. */
#ifndef TG_TEXT_H
#define TG_TEXT_H

#include "autograd/tape/program.h"

#include <stdarg.h>

typedef struct tg_text {
    char *bytes; /* NULL is allowed if size is 0 */
    size_t size;
    size_t used; /* length of the whole text, including what was cut */
} tg_text;

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void tg_text_add(tg_text *text, const char *format, ...);
#if defined __GNUC__
__attribute__((format(printf, 2, 0)))
#endif
void tg_text_add_arguments(tg_text *text, const char *format, va_list arguments);

/* The name given to a value in this step, or NULL. */
const char *tg_name_of(const tg_value *value);

/* "f32[3, 4]" */
void tg_text_type(tg_text *text, const tg_value *value);

/* "axis=1, keep=no"; nothing for an operation without attributes */
void tg_text_attributes(tg_text *text, const tg_value *value);

/* "matmul(f32[3, 4], layers.0.weight f32[5, 6])" */
void tg_text_call(tg_text *text, const tg_value *value);

/* "layers.0"; empty at the outermost level */
void tg_text_scope(tg_text *text, const tg_value *value);

/* " (operation 12 of the tape, in layers.0)" */
void tg_text_place(tg_text *text, const tg_value *value);

#endif
