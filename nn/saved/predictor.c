#include "nn/saved/predictor.h"

#include "autograd/grad.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { IDLE = 16 };

/* Columns of plain numbers next to each other are converted in one loop, with arrays instead of structs. */
typedef struct columns {
    size_t count;
    double *mean, *scale; /* [count] */
    size_t *plain_until;  /* [count]: the columns from this one to there are plain; its own number: it is not */
} columns;

typedef struct predictors {
    columns columns;
    _Atomic(tg_predictor *) idle[IDLE];
} predictors;

struct tg_predictor {
    const columns *columns; /* NULL: nothing is known, each value is converted by tg_card_encode */
    tg_tape *tape;
    float *x; /* [room, inputs] */
    int64_t room;
};

/* ---- columns ---- */

static bool is_plain(const tg_card *c, size_t column)
{
    const tg_card_column *of = &c->column[column];
    const tg_card_input *input = &c->input[of->first];
    return !of->categorical && !of->may_miss && of->first == column && of->last == column + 1 && !input->missing &&
           input->scale.scale > 0 && input->scale.limit == 0;
}

/* False if out of memory. */
static bool describe(columns *to, const tg_card *c)
{
    to->count = c->columns;
    to->mean = malloc((c->columns + 1) * sizeof *to->mean);
    to->scale = malloc((c->columns + 1) * sizeof *to->scale);
    to->plain_until = malloc((c->columns + 1) * sizeof *to->plain_until);
    if (!to->mean || !to->scale || !to->plain_until)
        return false;
    for (size_t i = c->columns; i-- > 0;) {
        const bool plain = is_plain(c, i), next = plain && i + 1 < c->columns && to->plain_until[i + 1] > i + 1;
        const tg_card_scale scale = c->input[c->column[i].first].scale;
        to->mean[i] = scale.mean;
        to->scale[i] = scale.scale;
        to->plain_until[i] = next ? to->plain_until[i + 1] : i + plain;
    }
    return true;
}

/* As tg_card_encode of the columns first .. end - 1; false if a number is missing, infinite, or too large for a float.
 * One loop without branches, or compilers blend and permute more than they divide. */
static bool standardise(const columns *of, size_t first, size_t end, const double *from, float *to)
{
    int wrong = 0;
    for (size_t i = first; i < end; i++) {
        const float value = (float)((from[i] - of->mean[i]) / of->scale[i]);
        to[i] = value;
        wrong |= !(value - value == 0);
    }
    return !wrong;
}

/* Converts a row to inputs. */
static bool encode(const tg_predictor *p, const tg_card *c, const double *from, int64_t row, float *to, tg_error *error)
{
    const columns *of = p->columns;
    for (size_t i = 0, end; i < c->columns; i = end) {
        const bool plain = of && of->plain_until[i] > i;
        end = plain ? of->plain_until[i] : i + 1;
        for (size_t k = plain && standardise(of, i, end, from, to) ? end : i; k < end; k++) {
            const char *wrong = tg_card_encode(c, k, from[k], to);
            if (wrong)
                return tg_fail(error, "row %lld, column %d%s%.60s: %s", (long long)row, (int)k,
                               c->column[k].name ? ", " : "", c->column[k].name ? c->column[k].name : "", wrong);
        }
    }
    for (int i = 0; !c->columns && i < c->spec.inputs; i++)
        to[i] = tg_card_pixel(c, from[i]);
    return true;
}

/* ---- predictions ---- */

static bool make_room(tg_predictor *p, int64_t count, size_t inputs)
{
    if (count <= p->room)
        return true;
    free(p->x);
    p->x = calloc((size_t)count * inputs + 1, sizeof *p->x);
    p->room = p->x ? count : 0;
    return p->x;
}

bool tg_predictor_run(tg_predictor *p, const tg_model *model, const double *rows, int64_t first, int64_t count,
                      double *out, tg_error *error)
{
    const tg_card *c = model->card;
    const size_t inputs = (size_t)c->spec.inputs, width = c->columns ? c->columns : inputs,
                 results = tg_card_results(c);
    if (!make_room(p, count, inputs))
        return tg_fail(error, "out of memory");
    for (int64_t i = 0; i < count; i++)
        if (!encode(p, c, rows + (size_t)i * width, first + i, p->x + (size_t)i * inputs, error))
            return false;
    tg_tape_reset(p->tape);
    tg_no_grad_begin(p->tape);
    const tg_tensor x = tg_borrow(p->tape, TG_F32, p->x, TG_SHAPE(count, c->spec.inputs));
    const float *outputs = tg_f32(tg_model_forward(model, x, NULL));
    for (int64_t i = 0; outputs && i < count; i++)
        tg_card_decode(c, outputs + (size_t)i * results, out + (size_t)i * results);
    tg_no_grad_end(p->tape);
    return outputs || tg_fail(error, "%s", tg_tape_error(p->tape) ? tg_tape_error(p->tape) : "out of memory");
}

/* ---- keeping them ---- */

void *tg_predictors_new(const tg_card *card)
{
    predictors *all = calloc(1, sizeof *all);
    if (!all || describe(&all->columns, card))
        return all;
    tg_predictors_free(all);
    return NULL;
}

static void free_one(tg_predictor *p)
{
    if (!p)
        return;
    tg_tape_free(p->tape);
    free(p->x);
    free(p);
}

void tg_predictors_free(void *of)
{
    predictors *all = of;
    if (!all)
        return;
    for (int i = 0; i < IDLE; i++)
        free_one(atomic_exchange(&all->idle[i], NULL));
    free(all->columns.mean);
    free(all->columns.scale);
    free(all->columns.plain_until);
    free(all);
}

tg_predictor *tg_predictor_take(void *of, const tg_card *card, tg_error *error)
{
    predictors *all = of;
    for (int i = 0; all && i < IDLE; i++) {
        tg_predictor *idle = atomic_exchange(&all->idle[i], NULL);
        if (idle)
            return idle;
    }
    tg_predictor *p = calloc(1, sizeof *p);
    if (p)
        *p = (tg_predictor){.columns = all && card->columns ? &all->columns : NULL, .tape = tg_tape_new()};
    if (p && p->tape)
        return p;
    free_one(p);
    tg_fail(error, "out of memory");
    return NULL;
}

void tg_predictor_give(void *of, tg_predictor *p, bool fine)
{
    predictors *all = of;
    for (int i = 0; all && fine && p && i < IDLE; i++) {
        tg_predictor *empty = NULL;
        if (atomic_compare_exchange_strong(&all->idle[i], &empty, p))
            return;
    }
    free_one(p);
}
