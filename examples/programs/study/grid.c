#include "examples/programs/report/statistics.h"
#include "examples/programs/study/runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- data ---- */

enum { QUICK_ROWS = 150, QUICK_IMAGES = 800, GRID_OPTIONS = 400 };

static const struct {
    const char *kind, *path, *made;
} sources[STUDY_SOURCES] = {
    [STUDY_DIGITS] = {"csv", "optdigits/optdigits.tra", "moons"},
    [STUDY_MNIST] = {"idx", "mnist", "glyphs"},
    [STUDY_PLAYS] = {"text", "tinyshakespeare/input.txt", NULL},
    [STUDY_PERLDIAG] = {"text", "perldiag.pod", NULL},
};

/* Sentences of a few words, for the quick version. */
static bool write_sentences(const void *context, FILE *to)
{
    static const char *const words[] = {"the", "king", "of", "night", "will", "hear", "no", "more", "and", "speak"};
    tg_rng rng = tg_rng_seed(1);
    (void)context;
    for (int i = 0; i < 800; i++)
        fprintf(to, "%s%s", words[tg_rng_below(&rng, 10)], i % 8 == 7 ? ".\n" : " ");
    return true;
}

static bool load(const study_context *c, study_source i, run_source *to, tg_error *error)
{
    char spec[PATH_MAX + 64];
    const bool quick = c->settings->quick;
    const dataset_options whole = {0}, making = {.rows = i == STUDY_MNIST ? QUICK_IMAGES : QUICK_ROWS};
    to->is_text = i >= STUDY_PLAYS;
    snprintf(spec, sizeof spec, "%s:%s/%s", sources[i].kind, c->settings->data, sources[i].path);
    if (!to->is_text)
        return dataset_load(quick ? sources[i].made : spec, quick ? &making : &whole, &to->data, error);
    if (quick) {
        snprintf(spec, sizeof spec, "text:%s/sentences.txt", c->folder);
        if (!files_make_folder(c->folder, error) ||
            !files_write(c->folder, "sentences.txt", write_sentences, NULL, error))
            return false;
    }
    return text_load(spec, &to->letters, error) && text_split(&to->letters, 0.1, 0, 1, error);
}

bool study_sources_load(study_sources *from, const study_context *c, const study_grid grids[], int count)
{
    tg_error error;
    for (const study_grid *grid = grids; grid < grids + count && !c->settings->report_only; grid++)
        if (!from->is_loaded[grid->data] && !load(c, grid->data, &from->source[grid->data], &error)) {
            fprintf(stderr, "study: %s%s\n", error.text,
                    c->settings->quick ? "" : "; --data names the folder that has it, --quick does without");
            return false;
        } else
            from->is_loaded[grid->data] = true;
    return true;
}

void study_sources_free(study_sources *from)
{
    for (int i = 0; i < STUDY_SOURCES; i++)
        source_free(&from->source[i]);
}

/* ---- runs ---- */

static int values_of(const char *factor)
{
    int values = 1;
    while ((factor = strchr(factor, ',')))
        values++, factor++;
    return values;
}

/* Sets a factor to its value number `which`, and appends that to the cell's name and to its options. */
static bool set_factor(run_spec *s, const char *factor, int which, char name[STUDY_NAME], char options[GRID_OPTIONS])
{
    const int option = (int)strcspn(factor, "=");
    const char *value = factor + option + 1;
    for (; which > 0; which--)
        value = strchr(value, ',') + 1;
    const int length = (int)strcspn(value, ",");
    const size_t used = strlen(name), before = strlen(options);
    snprintf(name + used, STUDY_NAME - used, "%s%.*s%.*s", used ? "-" : "", *value > '9' ? 0 : option, factor, length,
             value);
    snprintf(options + before, GRID_OPTIONS - before, " %.*s=%.*s", option, factor, length, value);
    return run_spec_set(s, options + before);
}

static int rates_of(const study_work *work, const study_grid *grid)
{
    int rates = 0;
    while (rates < GRID_RATES && grid->rates[rates] > 0)
        rates++;
    return work->c->settings->quick && rates > 2 ? 2 : rates;
}

static int seeds_of(const study_work *work, const study_grid *grid)
{
    return work->c->settings->quick ? 2 : grid->seeds;
}

/* The runs of one seed of cell number `which`. */
static bool add_cell(study_work *work, const study_grid *grid, const study_sources *from, int which, int seed)
{
    const study_settings *s = work->c->settings;
    const run_source *source = &from->source[grid->data];
    char name[STUDY_NAME], options[GRID_OPTIONS];
    study_run run = {.grid = grid, .from = source, .spec = study_spec()};
    snprintf(name, sizeof name, "%s", grid->name ? grid->name : "");
    snprintf(options, sizeof options, "%s%s%s", grid->fixed, s->quick ? " " : "", s->quick ? grid->quick : "");
    bool fine = run_spec_set(&run.spec, options);
    for (int f = 0; f < GRID_FACTORS && grid->factors[f]; f++) {
        const int values = values_of(grid->factors[f]);
        fine = fine && set_factor(&run.spec, grid->factors[f], which % values, name, options);
        which /= values;
    }
    run.cell = net_keep_text(name);
    run.options = net_keep_text(options);
    run.spec.data = source->is_text ? source->letters.name : source->data.name;
    run.spec.reconstructs = grid->reconstructs;
    run.spec.epochs = s->epochs ? s->epochs : run.spec.epochs;
    run.spec.seed = seed;
    for (int rate = 0; fine && rate < rates_of(work, grid); rate++) {
        study_run *more = realloc(work->run, ((size_t)work->count + 1) * sizeof *more);
        work->run = more ? more : work->run;
        if (!more || !run.cell || !run.options)
            return false;
        run.spec.lr = grid->rates[rate];
        snprintf(run.name, sizeof run.name, "%.80s-lr%g-seed%d", run.cell, grid->rates[rate], seed);
        more[work->count++] = run;
    }
    return fine;
}

bool study_grids_add(study_work *work, const study_grid grids[], int count, const study_sources *from)
{
    bool fine = true;
    for (int seed = 1; seed <= STUDY_SEEDS; seed++)
        for (const study_grid *grid = grids; grid < grids + count; grid++) {
            int cells = seed <= seeds_of(work, grid);
            for (int f = 0; f < GRID_FACTORS && grid->factors[f]; f++)
                cells *= values_of(grid->factors[f]);
            for (int i = 0; i < cells; i++)
                fine = fine && add_cell(work, grid, from, i, seed);
        }
    return fine;
}

/* ---- cells ---- */

const study_record *study_cell_record(const study_cell *cell, double rate, int seed)
{
    for (int i = 0; cell->work && i < cell->work->count; i++) {
        const study_run *run = &cell->work->run[i];
        if (run->cell == cell->name && run->spec.lr == rate && run->spec.seed == seed) /* equal texts are shared */
            return run->record.complete ? &run->record : NULL;
    }
    return NULL;
}

double study_cell_value(const study_cell *cell, double rate, const char *name, int seed)
{
    const study_record *record = study_cell_record(cell, rate, seed);
    return record && !record->diverged ? study_record_result(record, name) : NAN;
}

int study_cell_values(const study_cell *cell, double rate, const char *name, double values[STUDY_SEEDS])
{
    int complete = 0;
    for (int seed = 1; seed <= cell->seeds; seed++) {
        values[seed - 1] = study_cell_value(cell, rate, name, seed);
        complete += complete == seed - 1 && study_cell_record(cell, rate, seed);
    }
    return complete;
}

/* The mean logarithm of the lowest validation losses, of losses on the test rows without validation rows, over the
 * seeds that are complete; infinite if a run diverged. */
static double loss_at(const study_cell *cell, double rate, int *complete)
{
    double losses[2][STUDY_SEEDS], sum = 0;
    *complete = study_cell_values(cell, rate, "best_val_loss", losses[0]);
    study_cell_values(cell, rate, "test_loss", losses[1]);
    for (int i = 0; i < *complete; i++) {
        const double loss = losses[isnan(losses[0][i])][i];
        sum += isnan(loss) ? INFINITY : log(loss);
    }
    return sum / *complete;
}

study_cell study_cell_of(const study_work *work, const char *name)
{
    int run = 0;
    while (run < work->count && strcmp(work->run[run].cell, name) != 0)
        run++;
    study_cell cell = {.work = work};
    if (run == work->count)
        return cell;
    cell.grid = work->run[run].grid;
    cell.name = work->run[run].cell;
    cell.seeds = seeds_of(work, cell.grid);
    cell.rates = rates_of(work, cell.grid);
    double lowest = INFINITY;
    int most = 0;
    cell.whole = true;
    for (int rate = 0; rate < cell.rates; rate++) {
        int complete;
        const double loss = loss_at(&cell, cell.grid->rates[rate], &complete);
        cell.whole = cell.whole && complete == cell.seeds;
        if (complete > most || (complete == most && loss < lowest)) {
            lowest = loss;
            cell.best = complete ? cell.grid->rates[rate] : 0;
            most = complete;
        }
    }
    return cell;
}
