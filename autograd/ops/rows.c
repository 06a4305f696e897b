#include "autograd/ops/rows.h"

#include "autograd/kernels/parallel.h"

typedef struct all_rows {
    const tg_value *out;
    void (*work)(const tg_value *out, const tg_rows *rows);
    size_t columns;
} all_rows;

static void work_on_part(void *context, size_t first, size_t count)
{
    const all_rows *all = context;
    const size_t skipped = first * all->columns * tg_dtype_size(all->out->dtype);
    tg_rows rows = {.count = count, .columns = all->columns, .out = (char *)all->out->data + skipped};
    for (int k = 0; k < all->out->input_count && k < 2; k++)
        rows.in[k] = (const char *)all->out->inputs[k]->data + skipped;
    all->work(all->out, &rows);
}

void tg_over_rows(const tg_value *out, void (*work)(const tg_value *out, const tg_rows *rows))
{
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    if (out->size == 0)
        return;
    all_rows all = {out, work, (size_t)out->shape.dim[out->shape.rank - 1]};
    tg_parallel((size_t)out->size / all.columns, WORTH_SHARING / all.columns + 1, 1, work_on_part, &all);
}
