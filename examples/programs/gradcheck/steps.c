#include "examples/programs/gradcheck/steps.h"

#include "examples/programs/report/files.h"

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

/* ---- the function ---- */

/* The sum of the results of an operation times random weights, on numbers drawn for one of its samples. */
typedef struct sampled {
    const tg_op *op;
    const tg_sample *sample;
    int count;
    double *x[TG_SAMPLE_INPUTS], *weight;
    int32_t *integers[TG_SAMPLE_INPUTS];
    tg_tape *tape;
    tg_tensor in[TG_SAMPLE_INPUTS], result;
} sampled;

static double evaluate(sampled *s)
{
    double sum = 0;
    tg_tape_reset(s->tape);
    for (int i = 0; i < s->count; i++) {
        const tg_sample_input *from = &s->sample->input[i];
        s->in[i] = from->index   ? tg_constant(s->tape, TG_I32, s->integers[i], from->shape)
                   : from->fixed ? tg_constant(s->tape, TG_F64, s->x[i], from->shape)
                                 : tg_variable(s->tape, TG_F64, s->x[i], from->shape);
    }
    s->result = tg_apply(s->op, s->sample->attributes, s->count, s->in);
    const double *y = tg_f64(s->result);
    if (!y)
        return NAN;
    const bool first = !s->weight;
    s->weight = first ? malloc((size_t)(tg_size(s->result) + 1) * sizeof *s->weight) : s->weight;
    tg_rng rng = tg_rng_seed(0);
    for (int64_t k = 0; s->weight && k < tg_size(s->result); k++) {
        s->weight[k] = first ? 0.5 + tg_rng_uniform(&rng) : s->weight[k];
        sum += s->weight[k] * y[k];
    }
    return s->weight ? sum : NAN;
}

static bool draw(sampled *s, uint64_t seed)
{
    tg_rng rng = tg_rng_seed(seed);
    s->count = s->sample->count > 0 ? s->sample->count : s->op->arity;
    s->tape = tg_tape_new();
    for (int i = 0; i < s->count && i < TG_SAMPLE_INPUTS; i++) {
        const tg_sample_input *from = &s->sample->input[i];
        const bool any = from->low == 0 && from->high == 0;
        const double low = any ? -3 : from->low, high = any ? 3 : from->high;
        const int64_t size = tg_shape_size(&from->shape);
        s->x[i] = malloc((size_t)(size + 1) * sizeof *s->x[i]);
        s->integers[i] = malloc((size_t)(size + 1) * sizeof *s->integers[i]);
        for (int64_t k = 0; s->x[i] && s->integers[i] && k < size; k++) {
            s->x[i][k] =
                from->value_count > 0 ? from->values[k % from->value_count] : low + (high - low) * tg_rng_uniform(&rng);
            s->integers[i][k] = (int32_t)(from->index ? floor(s->x[i][k]) : 0);
        }
        if (!s->x[i] || !s->integers[i])
            return false;
    }
    return s->tape && isfinite(evaluate(s));
}

static void discard(sampled *s)
{
    tg_tape_free(s->tape);
    for (int i = 0; i < TG_SAMPLE_INPUTS; i++) {
        free(s->x[i]);
        free(s->integers[i]);
    }
    free(s->weight);
}

/* ---- the curve ---- */

/* The element of the place, or of what it leaves open the one with the largest derivative; false if there is none. */
static bool choose(sampled *s, steps_place *place, double *derivative)
{
    const steps_place given = *place;
    double largest = -1;
    for (int i = 0; i < s->count; i++) {
        tg_tensor gradient;
        const tg_sample_input *from = &s->sample->input[i];
        if ((given.input >= 0 && given.input != i) || from->fixed || from->index || tg_size(s->in[i]) < 1)
            continue;
        const tg_tensor weight = tg_constant(s->tape, TG_F64, s->weight, tg_shape_of(s->result));
        const double *slope = tg_grad(&s->result, 1, &s->in[i], 1, &weight, false, &gradient) ? tg_f64(gradient) : NULL;
        for (int64_t k = 0; slope && k < tg_size(s->in[i]); k++)
            if ((given.element < 0 || given.element == k) && fabs(slope[k]) > largest) {
                *place = (steps_place){given.what, i, k};
                *derivative = slope[k];
                largest = fabs(slope[k]);
            }
    }
    return largest >= 0;
}

/* Without commas in `where`, at which gnuplot ends a cell even in quotes. */
static void fill(sampled *s, const steps_place *place, double derivative, steps_curve *c)
{
    double *x = &s->x[place->input][place->element], above[2] = {NAN, NAN};
    const double at = *x, size = fmin(fmax(fabs(at), 0.0625), 8), unit = derivative == 0 ? 1 : fabs(derivative);
    for (c->count = 0; c->count < STEPS; c->count++) {
        const double step = ldexp(0.5, -c->count);
        *x = at + step * size;
        const double up = evaluate(s);
        *x = at - step * size;
        const double plain = (up - evaluate(s)) / (2 * step * size), once = plain + (plain - above[0]) / 3,
                     twice = once + (once - above[1]) / 15;
        c->steps[c->count] = (steps_error){step, fabs(plain - derivative) / unit, fabs(once - derivative) / unit,
                                           fabs(twice - derivative) / unit};
        above[0] = plain;
        above[1] = once;
    }
    snprintf(c->where, sizeof c->where,
             "element %lld of input %d in sample %d: there it is %.6g and the derivative %.6g",
             (long long)place->element, place->input, (int)(s->sample - s->op->samples), at, derivative);
}

bool steps_compute(const steps_place *given, uint64_t seed, steps_curve *c, tg_error *error)
{
    const tg_op *op = given->what->op;
    *c = (steps_curve){.what = given->what};
    for (int i = 0; op->derivative && i < op->sample_count && c->count == 0; i++) {
        sampled s = {.op = op, .sample = &op->samples[i]};
        steps_place place = *given;
        double derivative = 0;
        if (draw(&s, seed) && choose(&s, &place, &derivative))
            fill(&s, &place, derivative, c);
        discard(&s);
    }
    return c->count > 0 ||
           tg_fail(error, "%s cannot be differentiated %s", op->name, given->input >= 0 ? "there" : "on its samples");
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
