/* The numbers of a study's runs, for all seeds of a cell. */
#include "examples/programs/study/study.h"

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
        if (strcmp(run->cell, name) != 0 || rate == STUDY_RATES || run->spec.seed > STUDY_SEEDS)
            continue;
        c.rates += rate == c.rates;
        c.rate[rate] = run->spec.lr;
        c.seeds = run->spec.seed > c.seeds ? run->spec.seed : c.seeds;
        c.results[rate][run->spec.seed - 1] = run->results;
    }
    choose_rate(&c);
    return c;
}
