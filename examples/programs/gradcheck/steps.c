#include "examples/programs/gradcheck/steps.h"

#include "examples/programs/report/files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the place ---- */

/* A whole number between colons, -1 if there is none; false if it is something else. */
static bool read_number(const char **text, int64_t *number)
{
    char *end;
    *number = -1;
    if (**text == '\0')
        return true;
    errno = 0;
    *number = strtoll(*text + 1, &end, 10);
    const bool read =
        **text == ':' && (*text)[1] >= '0' && (*text)[1] <= '9' && errno == 0 && (*end == ':' || *end == '\0');
    *text = end;
    return read;
}

/* True if a sample of the operation has the input, if any is asked for, and the element. */
static bool is_there(const steps_place *place, int64_t input, tg_error *error)
{
    const tg_op *op = place->what->op;
    int64_t inputs = 0, elements = 0; /* the largest numbers in any sample */
    for (int s = 0; s < op->sample_count; s++) {
        const int count = op->samples[s].count > 0 ? op->samples[s].count : op->arity;
        inputs = count > inputs ? count : inputs;
        for (int i = 0; i < count && i < TG_SAMPLE_INPUTS; i++) {
            const int64_t size = tg_shape_size(&op->samples[s].input[i].shape);
            if ((input < 0 || input == i) && size > elements)
                elements = size;
        }
    }
    if (input >= inputs)
        return tg_fail(error, "%s has no input %lld: it has %lld, numbered from 0", op->name, (long long)input,
                       (long long)inputs);
    if (place->element >= elements)
        return tg_fail(error,
                       "%s has no element %lld in input %lld: in its largest sample there are %lld, numbered from 0",
                       op->name, (long long)place->element, (long long)input, (long long)elements);
    return true;
}

bool steps_find(const subjects *all, const char *text, steps_place *place, tg_error *error)
{
    const char *rest = text + strcspn(text, ":");
    char name[128], near[SUBJECTS_NEAR];
    int64_t input;
    snprintf(name, sizeof name, "%.*s", (int)(rest - text), text);
    place->what = subjects_find(all, name);
    if (!place->what) {
        subjects_near(all, name, near);
        return tg_fail(error, "there is no operation '%s'%s", name, near);
    }
    if (!place->what->op)
        return tg_fail(error, "%s is a %s, and only operations are drawn", name, place->what->category);
    if (place->what->constant)
        return tg_fail(error, "%s has no derivative by nature", name);
    if (!read_number(&rest, &input) || !read_number(&rest, &place->element) || *rest)
        return tg_fail(error, "'%.100s' is not NAME, NAME:INPUT or NAME:INPUT:ELEMENT, both from 0 on", text);
    place->input = input > INT32_MAX ? INT32_MAX : (int)input;
    return is_there(place, input, error);
}

/* ---- the curve ---- */

/* Without commas, at which gnuplot ends a cell even in quotes. */
static void describe(steps_curve *c)
{
    snprintf(c->where, sizeof c->where,
             "element %lld of input %d in sample %d: there it is %.6g and the derivative %.6g",
             (long long)c->place.index, c->place.input, c->place.sample, c->place.value, c->place.derivative);
}

bool steps_compute(const steps_place *place, uint64_t seed, steps_curve *c, tg_error *error)
{
    *c = (steps_curve){.what = place->what, .place = {.sample = -1, .input = place->input, .index = place->element}};
    c->count = tg_gradcheck_steps(c->what->op, &c->place, seed, c->steps, STEPS);
    if (c->count > 0)
        return describe(c), true;
    return tg_fail(error, "%s cannot be differentiated %s", c->what->name,
                   place->input >= 0 ? "there" : "on its samples");
}

static bool write_steps(const void *context, FILE *file)
{
    const steps_curve *c = context;
    fputs("operation,where,step,central,once,twice\n", file);
    for (int k = 0; k < c->count; k++)
        fprintf(file, "%s,%s,%.9g,%.9g,%.9g,%.9g\n", c->what->name, c->where, c->steps[k].step, c->steps[k].central,
                c->steps[k].once, c->steps[k].twice);
    return true;
}

plots_outcome steps_draw(const steps_curve *curve, const char *folder, tg_error *error)
{
    if (!files_make_folder(folder, error) || !files_write(folder, "steps.csv", write_steps, curve, error))
        return PLOTS_FAILED;
    return plots_run("gradcheck.gp", folder, error);
}
