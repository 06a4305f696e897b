/* The long report of a failure that tg_gradcheck_options asks for. Internal. */
#ifndef TG_GRADCHECK_EXPLAIN_H
#define TG_GRADCHECK_EXPLAIN_H

#include "autograd/gradcheck/function.h"
#include "autograd/text.h"

/* Empties the buffer for the report; it may be NULL. */
void tg_check_no_report(const tg_gradcheck_options *options);

/* Writes the report of a failed check into that buffer, under a heading; the result does not change. */
void tg_check_explain(tg_check *c, const char *heading);

#endif
