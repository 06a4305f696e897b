/* A failure at length: the report that tg_gradcheck_options asks for. Internal. */
#ifndef TG_GRADCHECK_EXPLAIN_H
#define TG_GRADCHECK_EXPLAIN_H

#include "autograd/gradcheck/function.h"
#include "autograd/text.h"

/* Empties the room for a report; there may be none. */
void tg_check_no_report(const tg_gradcheck_options *options);

/* Writes the report of a check that has failed into that room, under a heading; the result stays as it is. */
void tg_check_explain(tg_check *c, const char *heading);

#endif
