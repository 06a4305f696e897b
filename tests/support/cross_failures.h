/* Nodes of a random program that fail, or make what follows fail, each in its way. After the error is cleared, a tape
 * must do what a fresh tape does after the same calls. */
#ifndef TESTS_CROSS_FAILURES_H
#define TESTS_CROSS_FAILURES_H

#include "tests/support/cross_program.h"

enum { CROSS_FAILURES = 16 };

/* The result of a node that fails in this way; inert if it fails at once. `number` chooses what it is done to. */
tg_tensor cross_fail(cross_lane *lane, int way, int number, tg_tensor a);

/* True if what is changed, or hooked, outlives what the step records. */
bool cross_failure_lasts(int way, int number);

/* True if it is done by a hook. */
bool cross_failure_hooks(int way);

const char *cross_failure_name(int way);

#endif
