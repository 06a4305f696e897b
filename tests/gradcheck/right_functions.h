/* Functions with right derivatives, at points where that is hard to verify. The gradient checker must not call them
 * wrong.
 *
 *     for (int i = 0; i < right_function_count(); i++) {
 *         tg_gradcheck_result result = right_function_check(i, &options);
 *         ck_assert_msg(result.passed, "%s: %s", right_function_name(i), result.why);
 *     }
 */
#ifndef RIGHT_FUNCTIONS_H
#define RIGHT_FUNCTIONS_H

#include <tapegrad.h>

int right_function_count(void);

/* "log at 1e-12 0.5" */
const char *right_function_name(int index);

/* True if double may be too coarse at the point to decide. */
bool right_function_is_noise(int index);
/* The function, in the user's type, and its point. */
tg_function right_function_at(int index, tg_gradcheck_input *in);

tg_gradcheck_result right_function_check(int index, const tg_gradcheck_options *options);

#endif
