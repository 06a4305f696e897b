#include "nn/fit/fit_internal.h"

#include <stdlib.h>
#include <string.h>

static int column_count(const tg_fit_rows *rows)
{
    int count = 0;
    while (count < TG_FIT_COLUMNS && rows->column[count].data)
        count++;
    return rows->columns ? rows->columns : count;
}

const char *tg_fit_rows_error(const tg_fit_rows *rows)
{
    const int columns = column_count(rows);
    if (rows->count < 1 || rows->count > INT32_MAX)
        return "the number of rows must be positive, and below 2^31";
    if (columns < 1 || columns > TG_FIT_COLUMNS)
        return "rows must have one to four columns";
    for (int c = 0; c < columns; c++) {
        const tg_fit_column *column = &rows->column[c];
        const int64_t size = tg_shape_size(&column->shape);
        if (!tg_dtype_size(column->dtype))
            return "a column is of no known type";
        if (size < 0 || column->shape.rank >= TG_MAX_RANK || size > (INT64_MAX >> 8) / rows->count)
            return "the shape of a column's row is wrong, or too large";
        if (!rows->fill && !column->data)
            return "a column has no data, and no function makes the batches";
    }
    return NULL;
}

bool tg_fit_feed_init(tg_fit_feed *feed, const tg_fit_rows *rows, int64_t batch, bool in_order)
{
    *feed = (tg_fit_feed){.rows = rows, .columns = column_count(rows), .in_order = in_order};
    const int64_t most = batch < rows->count ? batch : rows->count;
    feed->order = malloc((size_t)(in_order ? most : rows->count) * sizeof *feed->order);
    bool fine = feed->order;
    for (int c = 0; c < feed->columns; c++) {
        const tg_fit_column *column = &rows->column[c];
        feed->size[c] = (size_t)tg_shape_size(&column->shape) * tg_dtype_size(column->dtype);
        feed->buffer[c] = malloc(feed->size[c] * (size_t)most + 1);
        fine = fine && feed->buffer[c];
    }
    return fine;
}

void tg_fit_feed_free(tg_fit_feed *feed)
{
    free(feed->order);
    for (int c = 0; c < TG_FIT_COLUMNS; c++)
        free(feed->buffer[c]);
}

bool tg_fit_feed_begin(tg_fit_feed *feed, const tg_fit_config *config, int64_t epoch, tg_rng rng)
{
    const int64_t count = feed->rows->count;
    for (int64_t i = 0; i < count; i++)
        feed->order[i] = (int32_t)i;
    if (!config->order) {
        tg_rng_shuffle(&rng, (size_t)count, feed->order);
        return true;
    }
    config->order(config->context, epoch, &rng, feed->order, count);
    for (int64_t i = 0; i < count; i++)
        if (feed->order[i] < 0 || feed->order[i] >= count)
            return false;
    return true;
}

/* Copies the same rows of every column, one after the other. */
static void copy_rows(const tg_fit_feed *feed, const int32_t *order, int64_t count)
{
    for (int c = 0; c < feed->columns; c++) {
        const char *data = feed->rows->column[c].data;
        char *to = feed->buffer[c];
        for (int64_t i = 0; i < count; i++, to += feed->size[c])
            memcpy(to, data + (size_t)order[i] * feed->size[c], feed->size[c]);
    }
}

bool tg_fit_feed_take(tg_fit_feed *feed, tg_tape *tape, int64_t first, int64_t count, tg_rng rng,
                      tg_tensor batch[TG_FIT_COLUMNS])
{
    const tg_fit_rows *rows = feed->rows;
    const int32_t *order = feed->in_order ? feed->order : feed->order + first;
    for (int64_t i = 0; feed->in_order && i < count; i++)
        feed->order[i] = (int32_t)(first + i);
    if (rows->fill && !rows->fill(rows->context, order, count, &rng, feed->buffer))
        return false;
    if (!rows->fill)
        copy_rows(feed, order, count);
    for (int c = 0; c < feed->columns; c++) {
        tg_shape shape = {.rank = rows->column[c].shape.rank + 1, .dim = {count}};
        memcpy(shape.dim + 1, rows->column[c].shape.dim, (size_t)(shape.rank - 1) * sizeof shape.dim[0]);
        batch[c] = tg_borrow(tape, rows->column[c].dtype, feed->buffer[c], shape);
    }
    return true;
}
