/* A tape as text: a table, a graph, a summary of the model, and the time of each operation.
 *
 *     char text[10000];
 *     tg_tape_table(tape, text, sizeof text);
 *     fputs(text, stdout);
 */
#ifndef TG_LISTING_H
#define TG_LISTING_H

#include "autograd/tape.h"

TG_API_BEGIN

/* Totals for one tensor of the step. */
typedef struct tg_operation_time {
    const char *operation; /* its name in ops.def */
    char scope[64]; /* scope from tg_scope_begin, "layers.0"; for a derivative, the scope of the differentiated value */
    bool backward;
    int64_t runs;
    double seconds;
    double flops; /* of one run of a matrix product, 2 m n k; 0 for other operations */
} tg_operation_time;

/* The totals of tensor number `index` of the tape; false past the end. A tensor that no operation computed has no
 * runs. */
bool tg_tape_time_at(const tg_tape *tape, int64_t index, tg_operation_time *time);

/* Writes the tape as a table, a line for each tensor (number, operation, shape, inputs, scope, bytes), or as a Graphviz
 * graph
 * (`dot -Tsvg`), like snprintf: returns the length of the whole text and writes as much of it as fits. */
size_t tg_tape_table(const tg_tape *tape, char *text, size_t size);
size_t tg_tape_dot(const tg_tape *tape, char *text, size_t size);

/* The tensor with this number in tables and graphs; inert past the end. */
tg_tensor tg_tape_tensor(const tg_tape *tape, int64_t index);

/* Writes a summary of the model, like snprintf: a line for each scope on this tape, in order, with the shape of its
 * result, the number of trained parameters first used there, and the floating-point operations of its forward pass: 2
 * for each multiplication and addition of a matrix product, 1 for each element of any other result.
 *
 *     layer                result               parameters     operations
 *     layers.0             [32, 128]                100480        6426624
 *     layers.1             [32, 10]                   1290          81920
 *     all                                           101770        6508544
 */
size_t tg_tape_summary(const tg_tape *tape, char *text, size_t size);

TG_API_END
#endif
