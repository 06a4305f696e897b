/* Splits work into as many parts as there are threads, even if it is small, so that many threads work on small
 * operands.
 *
 *     cut_finely = true;
 *     tg_set_threads(33);
 *     ...                     every operation in up to 32 parts
 *     cut_finely = false;
 *
 * The linker routes tg_parallel of the test program through here. With TG_CUT_FINELY in the environment, work is always
 * cut like this.  */
#ifndef TESTS_CUT_FINELY_H
#define TESTS_CUT_FINELY_H

#include <stdbool.h>

extern bool cut_finely;

/* Thread counts to test with: a case draws one of them. */
enum { MANY_THREADS = 8 };
extern const int many_threads[MANY_THREADS]; /* 2 .. 33 */

#endif
