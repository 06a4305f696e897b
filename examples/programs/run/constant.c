#include "examples/programs/run/constant.h"

enum { BATCH = 256 };

/* ---- tables and images ---- */

/* Adds up the training images. */
static void fill_mean_image(const dataset *data, float *output)
{
    for (size_t k = 0; k < data->features; k++) {
        double sum = 0;
        for (size_t i = 0; i < data->train.rows; i++)
            sum += data->x[(size_t)data->train.row[i] * data->features + k];
        output[k] = (float)(sum / (double)data->train.rows);
    }
}

/* A class that weighs nothing in the loss has a probability of 1e-30, as 0 times an infinite loss is no number. */
bool constant_begin(constant *k, const tg_card *c, const run_source *from, tally_rows *each)
{
    const size_t width = tg_card_results(c);
    *k = (constant){.of = c};
    if (c->task == TG_CARD_LETTERS || (c->task != TG_CARD_IMAGES && !c->constant))
        return false;
    for (int i = 0; i < (c->class_weight ? 2 : 1); i++) {
        k->output[i] = calloc(width + 1, sizeof *k->output[i]);
        for (size_t j = 0; k->output[i] && c->task != TG_CARD_IMAGES && j < width; j++)
            k->output[i][j] =
                (float)(c->task == TG_CARD_TARGETS ? c->constant[j]
                                                   : log(fmax(c->constant[j] * (i ? c->class_weight[j] : 1), 1e-30)));
    }
    if (!k->output[0] || (c->class_weight && !k->output[1])) {
        free(k->output[0]);
        free(k->output[1]);
        return false;
    }
    if (c->task == TG_CARD_IMAGES)
        fill_mean_image(&from->data, k->output[0]);
    k->losses = (tally_rows){.loss = each ? each->loss : NULL};
    k->sums[0] = (tally){.by_class = c->task == TG_CARD_CLASSES, .each = each};
    k->sums[1] = (tally){.each = each ? &k->losses : NULL}; /* after the first, so its losses stay */
    return true;
}

void constant_add(constant *k, tg_tensor wanted, tg_tensor weights)
{
    tg_tape *tape = tg_tape_of(wanted);
    const int64_t rows = tg_dim(wanted, 0), width = (int64_t)tg_card_results(k->of);
    for (int i = 0; i < 2 && k->output[i]; i++) {
        const tg_tensor row = tg_borrow(tape, TG_F32, k->output[i], TG_SHAPE(1, width));
        tally_add(&k->sums[i], k->of, tg_expand(row, TG_SHAPE(rows, width)), wanted, weights);
    }
}

runlog_measures constant_end(constant *k)
{
    runlog_measures m = tally_measures(&k->sums[0], k->of);
    if (k->output[1])
        m.loss = tally_measures(&k->sums[1], k->of).loss;
    free(k->output[0]);
    free(k->output[1]);
    return m;
}

/* ---- splits ---- */

typedef struct pass {
    const tg_card *of;
    const tg_fit_rows *rows;
    void *column[TG_FIT_COLUMNS]; /* [BATCH] rows of each */
} pass;

static bool begin_pass(pass *p)
{
    bool fine = true;
    for (int c = 0; c < p->rows->columns; c++) {
        const tg_fit_column *column = &p->rows->column[c];
        p->column[c] = calloc(BATCH * (size_t)tg_shape_size(&column->shape) + 1, tg_dtype_size(column->dtype));
        fine = fine && p->column[c];
    }
    return fine;
}

/* Reads the next rows, and returns their number, 0 at the end. Only training rows of a text are random. */
static int64_t read_rows(const pass *p, int64_t first)
{
    int32_t numbers[BATCH];
    tg_rng rng = tg_rng_seed(1);
    const int64_t left = p->rows->count - first, count = left < BATCH ? left : BATCH;
    for (int64_t i = 0; i < count; i++)
        numbers[i] = (int32_t)(first + i);
    return count > 0 && p->rows->fill(p->rows->context, numbers, count, &rng, p->column) ? count : 0;
}

static bool measure_rows(pass *p, const run_source *from, tally_rows *each, runlog_measures *m)
{
    constant k;
    tg_tape *tape = tg_tape_new();
    const int answer = p->of->task == TG_CARD_IMAGES ? 0 : 1;
    const tg_fit_column *column = &p->rows->column[answer];
    const bool fine = tape && begin_pass(p) && constant_begin(&k, p->of, from, each);
    for (int64_t first = 0, count; fine && (count = read_rows(p, first)) > 0; first += count) {
        tg_shape shape = {.rank = column->shape.rank + 1, .dim = {count}};
        memcpy(shape.dim + 1, column->shape.dim, (size_t)column->shape.rank * sizeof shape.dim[0]);
        tg_tape_reset(tape);
        tg_no_grad_begin(tape);
        constant_add(&k, tg_borrow(tape, column->dtype, p->column[answer], shape),
                     from->data.weight && p->rows->columns > 2 ? tg_borrow(tape, TG_F32, p->column[2], TG_SHAPE(count))
                                                               : TG_NONE);
        tg_no_grad_end(tape);
    }
    const bool recorded = fine && !tg_tape_error(tape);
    if (fine)
        *m = constant_end(&k);
    tg_tape_free(tape);
    return recorded;
}

/* ---- texts ---- */

/* Counts the characters of the training text: of pairs those of targets, with their newlines. */
static void count_letters(const text_part *part, double *count)
{
    const text_source *t = part->of;
    const bool pairs = t->pairs;
    bool counts = !pairs;
    for (int64_t i = pairs ? t->line[part->first_line] : part->first; i < part->last; i++) {
        const int32_t letter = t->ids[i];
        if (counts)
            count[letter]++;
        counts = !pairs || letter == TG_SEQ2SEQ_PADDING || (counts && letter != t->end);
    }
}

/* Adds up the losses of all characters; padding has none. Of pairs, a target is exact if all of it is the answer. */
static bool measure_letters(pass *p, const text_source *t, runlog_measures *m)
{
    double *count = calloc((size_t)t->vocabulary, sizeof *count), sum = 0, loss = 0, exact = 0, letters = 0;
    const int64_t positions = tg_shape_size(&p->rows->column[1].shape);
    int answer = 0;
    if (!count || !begin_pass(p)) {
        free(count);
        return false;
    }
    count_letters(&t->train, count);
    for (int c = t->pairs; c < t->vocabulary; c++) { /* number 0 pads pairs */
        count[c] = fmax(count[c], 1);
        sum += count[c];
        answer = count[c] > count[answer] ? c : answer;
    }
    for (int64_t first = 0, rows; (rows = read_rows(p, first)) > 0; first += rows) {
        const int32_t *label = p->column[1];
        for (int64_t i = 0; i < rows; i++) {
            bool all = true;
            for (int64_t k = 0; k < positions; k++, label++) {
                if (t->pairs && *label == TG_SEQ2SEQ_PADDING)
                    continue;
                loss -= log(count[*label] / sum);
                letters++;
                all = all && *label == answer;
                exact += !t->pairs && *label == answer;
            }
            exact += t->pairs && all;
        }
    }
    m->loss = loss / letters;
    m->accuracy = exact / (t->pairs ? (double)p->rows->count : letters);
    m->calibration = t->pairs ? NAN : fabs(count[answer] / sum - m->accuracy);
    free(count);
    return true;
}

bool constant_measure(const tg_card *c, const run_source *from, const tg_fit_rows *rows, tally_rows *each,
                      runlog_measures *m)
{
    pass p = {.of = c, .rows = rows};
    *m = runlog_no_measures;
    const bool fine = from->is_text ? measure_letters(&p, &from->letters, m) : measure_rows(&p, from, each, m);
    for (int column = 0; column < TG_FIT_COLUMNS; column++)
        free(p.column[column]);
    return fine;
}
