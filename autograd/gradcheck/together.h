/* Finds variables of an input that may move at once: no value may depend on two of them. Each value then changes by one
 * variable only, and one evaluation serves for all of them (A. Curtis, M. Powell and J. Reid, IMA Journal of Applied
 * Mathematics 13, 1974). Internal.
 *
 *     tg_check_sets sets;
 *     if (tg_check_find_sets(c, order - 1, part, &sets))
 *         for (int64_t k = 0; k < sets.count; k++)
 *             ... sets.set[k] ...
 *
 * In the left factor of a matrix product, one element in each row may move at once; likewise in rows that are
 * normalised. The dependencies are measured by moving each variable alone to both sides, so this works for any
 * function; a failure must be confirmed by moving the variable alone.
 */
#ifndef TG_GRADCHECK_TOGETHER_H
#define TG_GRADCHECK_TOGETHER_H

#include "autograd/gradcheck/function.h"

typedef struct tg_check_set {
    int64_t count;                 /* of variables */
    const int64_t *member;         /* [count] their indices in the part */
    const int64_t *first, *values; /* values that depend on member g: values[first[g]] to values[first[g + 1] - 1] */
} tg_check_set;

typedef struct tg_check_sets {
    int64_t count;
    tg_check_set *set; /* [count], in the check's arena; each variable of the part is in exactly one set */
} tg_check_sets;

/* Measures whether value number i of a level depends on variable number i of the part alone, as in an elementwise
 * function: moves half of the variables at a time, such that of any two variables one moves and the other does not. */
bool tg_check_by_place(tg_check *c, int level, const tg_check_part *part, bool *by_place);

/* Finds the sets for derivative number `level` by the variables of a part. False, with the result written, if a trial
 * fails or memory runs out. */
bool tg_check_find_sets(tg_check *c, int level, const tg_check_part *part, tg_check_sets *sets);

#endif
