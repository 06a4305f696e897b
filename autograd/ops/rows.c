#include "autograd/ops/rows.h"

#include "autograd/kernels/parallel.h"
#include "autograd/tape/value.h"

typedef struct all_rows {
    const tg_call *call;
    void (*work)(const tg_value *out, const tg_rows *rows);
    size_t columns;
} all_rows;

static void work_on_part(void *context, size_t first, size_t count)
{
    const all_rows *all = context;
    const tg_value *out = all->call->value;
    const size_t skipped = first * all->columns * tg_dtype_size(out->dtype);
    tg_rows rows = {.first = first, .count = count, .columns = all->columns, .out = (char *)all->call->out + skipped};
    for (int k = 0; k < out->input_count && k < 2; k++)
        rows.in[k] = (const char *)all->call->in[k] + skipped;
    all->work(out, &rows);
}

void tg_over_rows(const tg_call *call, void (*work)(const tg_value *out, const tg_rows *rows))
{
    const tg_value *out = call->value;
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    if (out->size == 0)
        return;
    all_rows all = {call, work, (size_t)out->shape->dim[out->shape->rank - 1]};
    tg_parallel((size_t)out->size / all.columns, WORTH_SHARING / all.columns + 1, 1, work_on_part, &all);
}
