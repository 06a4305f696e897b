/* What is often said of GELU's values, settled by its values, in double precision. */
#ifndef STUDY_VALUE_CLAIMS_H
#define STUDY_VALUE_CLAIMS_H

#include "examples/report/sheet.h"

/* Adds a row "claim|verdict|number|command" for each; an error is said below them. */
void value_claims_put(sheet *s, const char *command);

#endif
