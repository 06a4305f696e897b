#include "examples/study/grid.h"

#include <math.h>
#include <string.h>

/* ---- data ---- */

bool study_sources_load(const study_context *c, study_sources *from)
{
    *from = (study_sources){0};
    if (study_load(c, "csv", "optdigits/optdigits.tra", "moons", 150, NULL, &from->rows[STUDY_DIGITS]) &&
        study_load(c, "idx", "mnist", "glyphs", 300, NULL, &from->rows[STUDY_MNIST]) &&
        study_load_text(c, &from->plays))
        return true;
    study_sources_free(from);
    return false;
}

void study_sources_free(study_sources *from)
{
    for (int i = 0; i < STUDY_PLAYS; i++)
        dataset_free(&from->rows[i]);
    text_free(&from->plays);
}

/* ---- runs ---- */

static bool set_option(run_spec *s, const char *name, const char *value)
{
    for (const program_option *o = run_options; o->name || o->help; o++)
        if (o->name && strcmp(o->name, name) == 0) {
            const char *kept = net_keep_text(value);
            return kept && ((o->type == OPTION_FLAG && strcmp(kept, "0") == 0) || options_set(o, s, kept));
        }
    return false;
}

/* "option=value option=value" */
static bool set_options(run_spec *s, const char *text)
{
    char option[40], value[80];
    int used = 0;
    for (const char *at = text; sscanf(at, " %39[^=]=%79s%n", option, value, &used) == 2; at += used)
        if (!set_option(s, option, value))
            return false;
    return true;
}

static int values_of(const char *factor)
{
    int values = 1;
    while ((factor = strchr(factor, ',')))
        values++, factor++;
    return values;
}

/* Sets a factor to its value number `which`, and appends that to the cell's name. */
static bool set_factor(run_spec *s, const char *factor, int which, char name[STUDY_NAME])
{
    char option[40], value[40];
    const char *at = strchr(factor, '=') + 1;
    for (; which > 0; which--)
        at = strchr(at, ',') + 1;
    snprintf(option, sizeof option, "%.*s", (int)strcspn(factor, "="), factor);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, ","), at);
    const bool is_word = *value > '9';
    const size_t used = strlen(name);
    snprintf(name + used, STUDY_NAME - used, "-%s%s", is_word ? "" : option, value);
    return set_option(s, option, value);
}

static int rates_of(const study_context *c, const study_grid *grid)
{
    int rates = 0;
    while (rates < GRID_RATES && grid->rates[rates] > 0)
        rates++;
    return c->settings->quick && rates > 2 ? 2 : rates;
}

static int seeds_of(const study_context *c, const study_grid *grid)
{
    return c->settings->quick ? 2 : grid->seeds;
}

static void name_run(char name[STUDY_NAME], const char *cell, double rate, int seed)
{
    snprintf(name, STUDY_NAME, "%s-lr%g-seed%d", cell, rate, seed);
}

static bool add_run(study_work *work, const study_grid *grid, const study_sources *from, const run_spec *spec,
                    const char *cell, double rate, int seed)
{
    study_run *run = study_work_add(work);
    if (!run)
        return false;
    *run = (study_run){.spec = *spec, .more = grid->more};
    if (grid->data == STUDY_PLAYS)
        run->text = &from->plays;
    else
        run->data = &from->rows[grid->data];
    name_run(run->name, cell, rate, seed);
    run->group = cell;
    run->spec.lr = rate;
    run->spec.seed = seed;
    return true;
}

/* All rates and seeds of one combination. */
static bool add_cell(study_work *work, const study_context *c, const study_grid *grid, const study_sources *from,
                     const run_spec *fixed, int which)
{
    char name[STUDY_NAME];
    run_spec spec = *fixed;
    snprintf(name, sizeof name, "%s", grid->name);
    bool fine = true;
    for (int f = 0; f < GRID_FACTORS && grid->factors[f]; f++) {
        const int values = values_of(grid->factors[f]);
        fine = fine && set_factor(&spec, grid->factors[f], which % values, name);
        which /= values;
    }
    const char *kept = net_keep_text(name);
    for (int seed = 1; seed <= seeds_of(c, grid); seed++)
        for (int rate = 0; rate < rates_of(c, grid); rate++)
            fine = fine && kept && add_run(work, grid, from, &spec, kept, grid->rates[rate], seed);
    return fine;
}

bool study_grid_add(study_work *work, const study_context *c, const study_grid *grid, const study_sources *from)
{
    run_spec fixed = study_spec();
    bool fine = set_options(&fixed, grid->fixed) && set_options(&fixed, c->settings->quick ? grid->quick : "");
    int cells = 1;
    for (int f = 0; f < GRID_FACTORS && grid->factors[f]; f++)
        cells *= values_of(grid->factors[f]);
    fixed.epochs = c->settings->epochs ? c->settings->epochs : fixed.epochs;
    for (int cell = 0; cell < cells; cell++)
        fine = fine && add_cell(work, c, grid, from, &fixed, cell);
    return fine;
}

/* ---- what came out ---- */

const study_record *study_cell_record(const study_cell *cell, double rate, int seed)
{
    char name[STUDY_NAME];
    name_run(name, cell->name, rate, seed);
    const int run = study_work_number(cell->work, name);
    return run >= 0 && study_record_complete(&cell->work->record[run], cell->work->run[run].spec.epochs)
               ? &cell->work->record[run]
               : NULL;
}

double study_cell_at_best(const study_cell *cell, double rate, int seed, study_column column)
{
    const study_record *record = study_cell_record(cell, rate, seed);
    if (!record || record->diverged)
        return NAN;
    return study_record_at(record, study_record_lowest(record, record->epochs, STUDY_VAL_LOSS), column);
}

/* Of the lowest validation losses, the mean logarithm: infinite if a run diverged, NaN if one is not complete. */
static double loss_at(const study_cell *cell, double rate)
{
    double sum = 0;
    for (int seed = 1; seed <= cell->seeds; seed++) {
        const study_record *record = study_cell_record(cell, rate, seed);
        sum += !record ? NAN : record->diverged ? INFINITY : log(study_cell_at_best(cell, rate, seed, STUDY_VAL_LOSS));
    }
    return sum / cell->seeds;
}

study_cell study_cell_of(const study_work *work, const study_context *c, const study_grid *grid, const char *name)
{
    study_cell cell = {work, grid, name, seeds_of(c, grid), rates_of(c, grid), 0};
    double lowest = INFINITY;
    for (int rate = 0; rate < cell.rates; rate++) {
        const double loss = loss_at(&cell, grid->rates[rate]);
        if (isnan(loss))
            return cell.best = 0, cell;
        if (loss < lowest) {
            lowest = loss;
            cell.best = grid->rates[rate];
        }
    }
    return cell;
}
