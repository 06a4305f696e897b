#include "nn/formulas.h"

#include "autograd/grad.h"
#include "nn/moments.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static tg_formula_entry entries[TG_FORMULAS];
static atomic_int count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

const tg_formula_entry *tg_formulas_at(int index)
{
    return index >= 0 && index < atomic_load(&count) ? &entries[index] : NULL;
}

bool tg_formulas_takes(const char *text)
{
    return text && (strcmp(text, "x") == 0 ||
                    text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")]);
}

/* ---- initial weights ---- */

/* f(x), or for a gate f(1, x): with its derivatives at one place. False if they cannot be computed. */
static bool jet(const tg_formula *f, double place, double value, double result[3])
{
    tg_tape *tape = tg_tape_new();
    const tg_tensor x = tg_variable(tape, TG_F64, &place, TG_SCALAR), one = tg_full(tape, TG_F64, TG_SCALAR, value);
    tg_tensor y = tg_formula_apply(f, tg_formula_is_gated(f) ? (tg_tensor[]){one, x} : &x, NULL), derivative;
    bool fine = tg_ok(y);
    for (int order = 0; order < 3 && fine; order++, y = derivative) {
        result[order] = tg_item(y);
        fine = order == 2 || (tg_grad(&y, 1, &x, 1, NULL, true, &derivative) && tg_ok(derivative));
    }
    fine &= !tg_tape_error(tape);
    tg_tape_free(tape);
    return fine;
}

/* True if a gate is a product of u and a function of v: only then a gate that begins open is nearly linear in u. */
static bool is_product(const tg_formula *f)
{
    static const double u[] = {-2, 0.3, 5}, v[] = {-1.5, 0.2, 1, 3};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 4; k++) {
            double both[3], alone[3];
            if (!jet(f, v[k], u[i], both) || !jet(f, v[k], 1, alone) ||
                !(fabs(both[0] - u[i] * alone[0]) <= 1e-12 * fabs(both[0])))
                return false;
        }
    return true;
}

/* True if f grows like a square, or faster, on one side: as 0.8 x^2 + 0.5 x does, which is 3.9998 times as large at
 * 20,000 as at 10,000. */
static bool is_square(const tg_formula *f)
{
    bool grows = false;
    for (int side = -1; side <= 1; side += 2) {
        double far[3], near[3];
        grows |= jet(f, side * 2e4, 1, far) && jet(f, side * 1e4, 1, near) && fabs(far[0]) >= 3.9 * fabs(near[0]) &&
                 fabs(near[0]) > 1;
    }
    return grows;
}

static tg_tensor apply(const void *formula, tg_tensor x)
{
    return tg_formula_apply(formula, &x, NULL);
}

static void measure(tg_formula_entry *e)
{
    double at_one[3];
    tg_moments moments;
    const bool gated = tg_formula_is_gated(e->formula);
    e->gain = 1;
    if (!gated && tg_moments_measure(apply, e->formula, &moments) && moments.square > 1e-8 && moments.square < 1e8)
        e->gain = 1 / sqrt(moments.square); /* beyond these it has a pole, or no scale of weights suits it */
    if ((gated ? is_product(e->formula) : is_square(e->formula)) && jet(e->formula, 1, 1, at_one)) {
        e->level = at_one[0] * at_one[0];
        e->spread = at_one[1] * at_one[1] + at_one[0] * at_one[2];
    }
}

/* ---- the list ---- */

static int index_of(const tg_formula *formula)
{
    for (int i = 0; i < atomic_load(&count); i++)
        if (strcmp(tg_formula_text(entries[i].formula), tg_formula_text(formula)) == 0)
            return i;
    return -1;
}

int tg_formulas_index(const char *text, bool (*is_taken)(const char *name), tg_error *error)
{
    tg_formula *formula = tg_formula_new(text, error);
    if (!formula)
        return -1;
    pthread_mutex_lock(&lock);
    int index = index_of(formula);
    const char *name = tg_formula_name(formula);
    if (index < 0 && is_taken(name))
        tg_fail(error, "'%s' is the name of another activation", name);
    else if (index < 0 && count == TG_FORMULAS)
        tg_fail(error, "there are more than %d formulas", TG_FORMULAS);
    else if (index < 0) {
        index = count;
        entries[index].formula = formula;
        measure(&entries[index]);
        atomic_store(&count, index + 1);
        formula = NULL;
    }
    pthread_mutex_unlock(&lock);
    tg_formula_free(formula);
    return index;
}
