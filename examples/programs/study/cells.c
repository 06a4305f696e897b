/* The numbers of a study's runs, for all seeds of a cell. */
#include "examples/programs/study/study.h"
#include "examples/programs/report/memory.h"

study_sample study_sample_of(const study_cell *cell, int rate, const char *name, bool ratio)
{
    study_sample s = {.ratio = ratio};
    for (; s.seeds < cell->seeds && cell->results[rate][s.seeds]; s.seeds++) {
        const json_t *found = json_object_get(cell->results[rate][s.seeds], name);
        const double number = found ? json_number_value(found) : NAN;
        s.by_seed[s.seeds] = ratio ? log(number) : number;
    }
    return s;
}

double study_shown(const study_sample *of, double number)
{
    return of->ratio ? exp(number) : number;
}

/* By the mean logarithm of the lowest validation losses, or of losses on the test rows without validation rows. */
static void choose_rate(study_cell *c)
{
    double lowest = INFINITY;
    int most = 0;
    c->whole = c->rates > 0;
    for (int rate = 0; rate < c->rates; rate++) {
        const study_sample losses = study_sample_of(c, rate, "best_val_loss", true),
                           others = study_sample_of(c, rate, "test_loss", true);
        double sum = 0;
        for (int i = 0; i < losses.seeds; i++) {
            const double loss = isnan(losses.by_seed[i]) ? others.by_seed[i] : losses.by_seed[i];
            sum += isnan(loss) ? INFINITY : loss; /* it diverged */
        }
        const double mean = sum / losses.seeds;
        c->whole = c->whole && losses.seeds == c->seeds;
        if (losses.seeds > most || (losses.seeds == most && mean < lowest)) {
            lowest = mean;
            most = losses.seeds;
            c->best = rate;
        }
    }
}

study_cell study_cell_of(const study *s, const char *name)
{
    study_cell c = {0};
    for (int i = 0; i < s->all.count; i++) {
        const study_run *run = &s->run[i];
        int rate = 0;
        while (rate < c.rates && c.rate[rate] != run->spec.lr)
            rate++;
        if ((strcmp(run->cell, name) != 0 && strcmp(run->plain, name) != 0) || rate == STUDY_RATES ||
            run->spec.seed > STUDY_SEEDS)
            continue;
        c.rates += rate == c.rates;
        c.rate[rate] = run->spec.lr;
        c.seeds = run->spec.seed > c.seeds ? run->spec.seed : c.seeds;
        c.results[rate][run->spec.seed - 1] = run->results;
    }
    choose_rate(&c);
    return c;
}

/* The numbers of a study: formulas (nn/formula.h), which are templates, "100 * {dead}"; or lists,
 *
 *     ["largest", "x - gelu_exact(x)", 0, 8, 0.001]        // for x = 0, 0.001, ... 8
 *
 * and likewise "sum", and "place of largest", the x at which it is. */

/* Sets y[] to a formula at each x[], of which it may have none. False if one of its names has no number, or if it is no
 * formula; then the part is broken. */
static bool apply(study_part *p, const char *formula, const json_t *values, const double x[], int count, double y[])
{
    const bool outer = p->exact;
    tg_error error;
    p->exact = true;
    char *numbers = study_say(p, formula, values), *text = memory_text("0 * x + %s", numbers);
    p->exact = outer;
    const bool known = !strstr(text, "(nan)");
    tg_formula *f = known ? tg_formula_new(text, &error) : NULL;
    tg_tape *tape = tg_tape_new();
    tg_tensor in = tg_borrow(tape, TG_F64, x, TG_SHAPE(count));
    const bool fine = f && tg_read(tg_formula_apply(f, &in, NULL), TG_F64, y, count);
    if (!fine && known)
        study_refuse(p, formula, f ? tg_tape_error(tape) : error.text);
    tg_tape_free(tape);
    tg_formula_free(f);
    free(numbers);
    free(text);
    return fine;
}

double study_formula(study_part *p, const char *formula, const json_t *values)
{
    double y;
    return apply(p, formula, values, &(double){0}, 1, &y) ? y : NAN;
}

static double over_line(study_part *p, const json_t *line)
{
    enum { MOST = 1 << 20 };
    const char *what = json_string_value(json_array_get(line, 0)),
               *formula = json_string_value(json_array_get(line, 1));
    const double from = json_number_value(json_array_get(line, 2)), to = json_number_value(json_array_get(line, 3)),
                 step = json_number_value(json_array_get(line, 4));
    double *x = memory_checked(calloc(2 * MOST, sizeof *x)), *y = x + MOST, sum = 0;
    int count = 0, most = 0;
    for (; count < MOST && from + count * step <= to; count++)
        x[count] = from + count * step;
    const bool fine = what && formula && step > 0 && count && apply(p, formula, NULL, x, count, y);
    for (int i = 0; fine && i < count; i++) {
        sum += y[i];
        most = y[i] <= y[most] ? most : i; /* NaN is taken too, so that it is noticed */
    }
    const double number = !fine                          ? NAN
                          : strcmp(what, "sum") == 0     ? sum
                          : strcmp(what, "largest") == 0 ? y[most]
                                                         : x[most];
    free(x);
    return fine ? number : study_refuse(p, formula ? formula : "", "expected [\"largest\", formula, from, to, step]");
}

double study_number(study_part *p, const char *name, const json_t *values)
{
    static const char of_names[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    const json_t *value = json_object_get(values, name),
                 *number = value ? value : json_object_get(json_object_get(p->of->file, "numbers"), name);
    if (!number && !p->measures && !name[strspn(name, of_names)])
        return study_refuse(p, name, "there is no value of this name");
    return json_is_number(number)                ? json_number_value(number)
           : json_is_string(number)              ? study_formula(p, json_string_value(number), values)
           : json_is_array(number)               ? over_line(p, number)
           : json_is_null(number) || p->measures ? NAN
                                                 : study_formula(p, name, NULL);
}
