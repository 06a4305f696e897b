/* Operations on rows, which are the last axis: [.., columns]. Internal.
 *
 *     TG_ROWS_FORWARD(softmax_forward, softmax_of_rows, softmax_rows)     // the kernel softmax_rows over all rows
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

/* Forward functions that call a kernel of rows and columns: of one input, and of two. */
#define TG_ROWS_FORWARD(function, work_function, kernel)                            \
    static void work_function(const tg_value *out, const tg_rows *r)                \
    {                                                                               \
        TG_KERNEL_CALL(out->dtype, kernel, r->count, r->columns, r->in[0], r->out); \
    }                                                                               \
    static void function(const tg_call *call)                                       \
    {                                                                               \
        tg_over_rows(call, work_function);                                          \
    }
#define TG_TWO_ROWS_FORWARD(function, work_function, kernel)                                  \
    static void work_function(const tg_value *out, const tg_rows *r)                          \
    {                                                                                         \
        TG_KERNEL_CALL(out->dtype, kernel, r->count, r->columns, r->in[0], r->in[1], r->out); \
    }                                                                                         \
    static void function(const tg_call *call)                                                 \
    {                                                                                         \
        tg_over_rows(call, work_function);                                                    \
    }

#endif
