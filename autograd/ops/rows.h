/* Operations on rows, which are the last axis: [.., columns]. Internal.
 *
 *     TG_ROWS_FORWARD(softmax, softmax_rows, r->in[0])     // softmax_forward: the kernel softmax_rows over all rows
 */
#ifndef TG_ROWS_H
#define TG_ROWS_H

#include "autograd/op.h"

/* Several consecutive rows of the result and of the inputs, which have its shape. */
typedef struct tg_rows {
    size_t first, count, columns; /* the first row's number */
    const void *in[2];            /* NULL where there is no such input */
    void *out;
} tg_rows;

/* Calls `work` for all rows, split among several threads if that is worth it. */
void tg_over_rows(const tg_call *call, void (*work)(const tg_value *out, const tg_rows *rows));

/* NAME_forward: the kernel over all rows, called with these arguments between the number of columns and the result. */
#define TG_ROWS_FORWARD(name, kernel, ...)                                             \
    static void name##_of_rows(const tg_value *out, const tg_rows *r)                  \
    {                                                                                  \
        TG_KERNEL_CALL(out->dtype, kernel, r->count, r->columns, __VA_ARGS__, r->out); \
    }                                                                                  \
    static void name##_forward(const tg_call *call)                                    \
    {                                                                                  \
        tg_over_rows(call, name##_of_rows);                                            \
    }

#endif
