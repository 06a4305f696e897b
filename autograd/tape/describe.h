/* Values as text, for errors and listings. Internal. */
#ifndef TG_DESCRIBE_H
#define TG_DESCRIBE_H

#include "autograd/base/text.h"
#include "autograd/tape/program.h"

/* The name given to a value in this step, or NULL. */
const char *tg_name_of(const tg_value *value);

/* "gelu_exact", the name of its operation; for a leaf "parameter", "variable" or "constant" */
const char *tg_kind_of(const tg_value *value);

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
