/* Joins the results of several checks.
 *
 *     tg_gradcheck_result total = check(seed), next = check(seed + 1);
 *     gradcheck_result_join(&total, &next);
 *     printf("%s\n", verdict_name(verdict_of(&total)));       // passed, cannot tell, FAILED
 */
#pragma once

#include "autograd/gradcheck.h"

typedef enum verdict { VERDICT_PASSED, VERDICT_CANNOT_TELL, VERDICT_FAILED, VERDICTS } verdict;

verdict verdict_of(const tg_gradcheck_result *result);
const char *verdict_name(verdict which);

/* Adds the result of the same check with another seed or shape: the first failure counts, or else the first undecided
 * result, or else the worst. The samples remain those of the first check. */
void gradcheck_result_join(tg_gradcheck_result *total, const tg_gradcheck_result *next);
