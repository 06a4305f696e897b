/* Shared by tests of operations: a tape for each test, input tensors, and assertions on results.
 *
 *     START_TEST(doubling_adds)
 *     {
 *         tg_tensor x = drawn(TG_F64, TG_SHAPE(3, 4)), y = tg_add(x, x);
 *         assert_shape(y, TG_SHAPE(3, 4));
 *         assert_close(tg_at(y, 5), 2 * tg_at(x, 5), TG_F64);
 *     }
 *     END_TEST
 *     ...
 *     tcase_add_checked_fixture(tests, start_tape, finish_tape);
 */
#ifndef TESTS_TENSORS_H
#define TESTS_TENSORS_H

#include <check.h>
#include <tapegrad.h>

/* The tape of the running test. At the end it must be free of errors. */
extern tg_tape *tape;
void start_tape(void);
void finish_tape(void);

/* A variable with normal random elements, the same in every run; and one with 0, 1, 2, ..., so that an element shows
 * where it came from (a constant, for TG_I32). */
tg_tensor drawn(tg_dtype dtype, tg_shape shape);
tg_tensor counted(tg_dtype dtype, tg_shape shape);

void assert_shape(tg_tensor x, tg_shape shape);

/* Equal to rounding: 2e-5 relative in single precision, 1e-12 in double, absolute below 1. */
void assert_close(double is, double should_be, tg_dtype dtype);

/* Asserts that two numbers are equal within this relative error. */
void assert_relative(double is, double should_be, double error);

/* After a call that must fail: asserts that the message contains this, and clears the error. */
void expect_error(const char *part);

#endif
