#include "examples/programs/gradcheck/subjects.h"

#include "autograd/base/names.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

/* ---- the list ---- */

static subject of_op(const tg_op *op, bool own)
{
    const char *category = tg_op_category(op), *formula = tg_op_formula(op);
    return (subject){.name = op->name,
                     .category = own || !category ? "yours" : category,
                     .about = own || !formula ? "" : formula,
                     .inputs = op->arity,
                     .op = op,
                     .constant = !op->derivative || op->flags & (TG_CONSTANT | TG_SOURCE)};
}

static void add(subjects *all, subject what)
{
    if (all->count < SUBJECTS_MOST)
        all->list[all->count++] = what;
}

void subjects_collect(subjects *all, const tg_op *const *own)
{
    for (int i = 0; tg_op_at(i); i++)
        add(all, of_op(tg_op_at(i), false));
    for (int i = 0; own && own[i]; i++)
        add(all, of_op(own[i], true));
    for (int i = 0; layer_check_at(i); i++) {
        const layer_check *layer = layer_check_at(i);
        add(all, (subject){.name = layer->name,
                           .category = layer_check_category(layer),
                           .about = layer->about,
                           .inputs = 1,
                           .layer = layer});
    }
}

/* True if a formula has no derivative by nature, as "x > 0". */
static bool is_constant(const tg_formula *formula)
{
    tg_tape *tape = tg_tape_new();
    const double one = 1;
    const tg_tensor x = tg_variable(tape, TG_F64, &one, TG_SCALAR);
    tg_tensor numbers[TG_FORMULA_NUMBERS];
    for (int i = 0; i < TG_FORMULA_NUMBERS; i++)
        numbers[i] = x;
    const tg_tensor y = tg_formula_apply(formula, (tg_tensor[]){x, x}, numbers);
    const bool constant = tg_ok(y) && !tg_backward(y);
    tg_tape_free(tape);
    return constant;
}

void subjects_add_formula(subjects *all, const tg_formula *formula)
{
    subject what = {.name = tg_formula_name(formula),
                    .category = "yours",
                    .about = tg_formula_text(formula),
                    .inputs = tg_formula_is_gated(formula) ? 2 : 1,
                    .formula = formula,
                    .constant = is_constant(formula)};
    while (tg_formula_number_at(formula, what.inputs - 1 - tg_formula_is_gated(formula)))
        what.inputs++;
    add(all, what);
}

subject *subjects_find(const subjects *all, const char *name)
{
    for (int i = 0; i < all->count; i++)
        if (strcmp(all->list[i].name, name) == 0)
            return &all->list[i];
    return NULL;
}

/* ---- by name ---- */

const char *subjects_choose(subjects *all, const char *const words[])
{
    for (int w = 0; words[w]; w++) {
        bool fits = false;
        for (int i = 0; i < all->count; i++)
            if (fnmatch(words[w], all->list[i].name, 0) == 0)
                fits = all->list[i].chosen = true;
        if (!fits)
            return words[w];
    }
    return NULL;
}

enum { FAR = 1000000 };

/* The distance of a subject from a word. Nearest are names that begin with it, then names that contain it or are
 * spelled similarly, then subjects whose description contains it; short names come first. */
static int remoteness(const char *word, const subject *what)
{
    const int length = (int)strlen(word), away = tg_name_distance(word, what->name);
    const char *part = length >= 2 ? strcasestr(what->name, word) : NULL;
    const char *described = length >= 4 ? strcasestr(what->about, word) : NULL;
    const int rank = part == what->name         ? 0
                     : part                     ? 1
                     : away <= 1 + length / 4   ? 1 + away
                     : described == NULL        ? FAR
                     : described == what->about ? 100
                                                : 101;
    return rank == FAR ? FAR : 1000 * rank + (int)strlen(what->name);
}

void subjects_near(const subjects *all, const char *word, char text[SUBJECTS_NEAR])
{
    enum { MOST = 3 };
    const subject *near[MOST + 1] = {0};
    int count = 0;
    if (strncmp(word, "tg_", 3) == 0) /* accept the function's name */
        word += 3;
    for (int i = 0; i < all->count; i++) {
        const subject *candidate = &all->list[i];
        const int remote = remoteness(word, candidate);
        int at = count;
        while (at > 0 && remoteness(word, near[at - 1]) > remote)
            at--;
        if (remote == FAR || at == MOST)
            continue;
        memmove(near + at + 1, near + at, (size_t)(MOST - at) * sizeof *near);
        near[at] = candidate;
        count += count < MOST;
    }
    text[0] = '\0';
    for (int i = 0; i < count; i++)
        text_add(text, SUBJECTS_NEAR, "%s%s%s",
                 i == 0           ? ": did you mean "
                 : i == count - 1 ? " or "
                                  : ", ",
                 near[i]->name, i == count - 1 ? "?" : "");
}

/* ---- a formula ---- */

enum { ROWS = 3, UNITS = 4, ELEMENTS = ROWS * UNITS };

static tg_tensor apply(tg_tape *tape, const tg_tensor *inputs, int count, void *formula)
{
    (void)tape, (void)count;
    return tg_formula_apply(formula, inputs, inputs + 1 + tg_formula_is_gated(formula));
}

/* True if a formula has a finite value at one x, or u and v. */
static bool is_defined(const tg_formula *formula, const double at[2])
{
    tg_tape *tape = tg_tape_new();
    const tg_tensor in[] = {tg_full(tape, TG_F64, TG_SCALAR, at[0]), tg_full(tape, TG_F64, TG_SCALAR, at[1])};
    const tg_tensor y = tg_formula_apply(formula, in, NULL);
    const bool defined = tg_ok(y) && isfinite(tg_item(y));
    tg_tape_free(tape);
    return defined;
}

/* Draws x, or u and v, where the formula has values: log(x) none below 0. */
static void draw_inputs(const tg_formula *formula, uint64_t seed, double to[2][ELEMENTS])
{
    enum { TRIES = 1000 };
    const tg_rng seeded = tg_rng_seed(seed);
    tg_rng rng = tg_rng_stream(&seeded, "formula");
    for (int i = 0; i < ELEMENTS; i++)
        for (int tries = 0; tries < TRIES; tries++) {
            const double at[2] = {1.5 * tg_rng_normal(&rng), 1.5 * tg_rng_normal(&rng)};
            to[0][i] = at[0];
            to[1][i] = at[1];
            if (is_defined(formula, at))
                break;
        }
}

/* By x, or u and v, and by the trained numbers, at first at their values. */
static tg_gradcheck_result check_formula(const tg_formula *formula, const tg_gradcheck_options *options)
{
    static const char *const names[] = {"x", "u", "v"};
    double at[2][ELEMENTS], values[TG_FORMULA_NUMBERS][UNITS];
    tg_gradcheck_input inputs[2 + TG_FORMULA_NUMBERS];
    const tg_formula_number *number;
    int count = 0;
    draw_inputs(formula, options->seed, at);
    const bool gated = tg_formula_is_gated(formula);
    for (; count < 1 + gated; count++)
        inputs[count] =
            (tg_gradcheck_input){.name = names[gated + count], .shape = TG_SHAPE(ROWS, UNITS), .data = at[count]};
    for (int i = 0; (number = tg_formula_number_at(formula, i)); i++) {
        for (int k = 0; k < UNITS; k++)
            values[i][k] = number->value;
        inputs[count++] = (tg_gradcheck_input){
            .name = number->name, .shape = number->per_unit ? TG_SHAPE(UNITS) : TG_SCALAR, .data = values[i]};
    }
    return tg_gradcheck(apply, (void *)(uintptr_t)formula, inputs, count, options);
}

/* ---- checking ---- */

int subject_order(const subject *what, int order)
{
    const bool of_one_number = what->op && what->op->flags & TG_ELEMENTWISE && what->op->arity == 1;
    return order == 2 && of_one_number ? 3 : order;
}

tg_gradcheck_result subject_check(const subject *what, const tg_gradcheck_options *options)
{
    if (what->function)
        return tg_gradcheck_function(&what->function->box, what->function->inputs, what->function->count, options);
    if (what->formula)
        return check_formula(what->formula, options);
    return what->op ? tg_gradcheck_op(what->op, options) : layer_check_run(what->layer, options);
}
