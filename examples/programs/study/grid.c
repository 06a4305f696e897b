#include "examples/programs/report/statistics.h"
#include "examples/programs/study/grid.h"

#include <math.h>
#include <string.h>

/* ---- data ---- */

enum { QUICK_ROWS = 150, QUICK_IMAGES = 800, GRID_OPTIONS = 400 };

static const struct {
    const char *name, *kind, *path, *made;
    dataset_options options;
} sources[STUDY_SOURCES] = {
    [STUDY_CONCRETE] = {"concrete", "csv", "uci/concrete.csv", "sine", {0}},
    [STUDY_ENERGY] = {"energy", "csv", "uci/energy_efficiency.csv", "moons", {.target = "-2,-1"}},
    [STUDY_AIRFOIL] = {"airfoil", "csv", "uci/airfoil_self_noise.csv", "circles", {0}},
    [STUDY_IRIS] = {"iris", "csv", "uci/iris.csv", "spirals", {0}},
    [STUDY_WDBC] = {"wdbc", "csv", "uci/wdbc.csv", NULL, {0}},
    [STUDY_WINE_RED] = {"wine-red", "csv", "uci/winequality_red.csv", NULL, {.task = DATASET_REGRESSION}},
    [STUDY_WINE_WHITE] = {"wine-white", "csv", "uci/winequality_white.csv", NULL, {.task = DATASET_REGRESSION}},
    [STUDY_CALIFORNIA] = {"california", "csv", "uci/california_housing.csv", NULL, {0}},
    [STUDY_DIGITS] = {"optdigits", "csv", "optdigits/optdigits.tra", "moons", {0}},
    [STUDY_MNIST] = {"mnist", "idx", "mnist", "glyphs", {0}},
    [STUDY_PLAYS] = {"tinyshakespeare", "text", "tinyshakespeare/input.txt", NULL, {0}},
};

const char *study_source_name(study_source which)
{
    return sources[which].name;
}

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

/* In the quick version the plays are a few short sentences. */
static bool load(const study_context *c, int i, study_sources *from, tg_error *error)
{
    char spec[PATH_MAX + 64];
    const bool quick = c->settings->quick;
    const dataset_options making = {.rows = i == STUDY_MNIST ? QUICK_IMAGES : QUICK_ROWS};
    run_source *to = &from->source[i];
    to->is_text = i == STUDY_PLAYS;
    from->name[i] = sources[i].name;
    snprintf(spec, sizeof spec, "%s:%s/%s", sources[i].kind, c->settings->data, sources[i].path);
    if (!to->is_text)
        return dataset_load(quick ? sources[i].made : spec, quick ? &making : &sources[i].options, &to->data, error);
    if (quick)
        snprintf(spec, sizeof spec, "text:%s/sentences.txt", c->folder);
    return (!quick || (files_make_folder(c->folder, error) &&
                       files_write(c->folder, "sentences.txt", write_sentences, NULL, error))) &&
           text_load(spec, &to->letters, error) && text_split(&to->letters, 0.1, 1, error);
}

const char *study_table_name(const study_context *c, int table)
{
    return c->settings->quick ? sources[table].made : sources[table].name;
}

int study_tables(const study_context *c)
{
    return c->settings->quick ? STUDY_QUICK_TABLES : STUDY_TABLES;
}

static int tables_of(const study_context *c, const study_grid *grid)
{
    return grid->each_table ? study_tables(c) : 1;
}

bool study_sources_load(study_sources *from, const study_context *c, const study_grid grids[], int count)
{
    tg_error error;
    for (const study_grid *grid = grids; grid < grids + count && !c->settings->report_only; grid++)
        for (int i = grid->data; i < (int)grid->data + tables_of(c, grid); i++)
            if (!from->name[i] && !load(c, i, from, &error)) {
                fprintf(stderr, "study: %s%s\n", error.text,
                        c->settings->quick ? "" : "; --data names the folder that has it, --quick does without");
                return false;
            }
    return true;
}

void study_sources_free(study_sources *from)
{
    for (int i = 0; i < STUDY_SOURCES; i++)
        source_free(&from->source[i]);
}

/* ---- runs ---- */

static bool set_option(run_spec *s, const char *name, const char *value)
{
    const program_option *o = options_find(run_options, name);
    const char *kept = o ? net_keep_text(value) : NULL;
    return kept && ((o->type == OPTION_FLAG && strcmp(kept, "0") == 0) || options_set(o, s, kept));
}

/* "option=value option=value" */
static bool set_options(run_spec *s, const char *text)
{
    char option[40], value[80];
    int used = 0;
    for (const char *at = text ? text : ""; sscanf(at, " %39[^=]=%79s%n", option, value, &used) == 2; at += used)
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

/* Sets a factor to its value number `which`, and appends that to the cell's name and to its options. */
static bool set_factor(run_spec *s, const char *factor, int which, char name[STUDY_NAME], char options[GRID_OPTIONS])
{
    char option[40], value[40];
    const char *at = strchr(factor, '=') + 1;
    for (; which > 0; which--)
        at = strchr(at, ',') + 1;
    snprintf(option, sizeof option, "%.*s", (int)strcspn(factor, "="), factor);
    snprintf(value, sizeof value, "%.*s", (int)strcspn(at, ","), at);
    const bool is_word = *value > '9';
    const size_t used = strlen(name), length = strlen(options);
    snprintf(name + used, STUDY_NAME - used, "%s%s%s", used ? "-" : "", is_word ? "" : option, value);
    snprintf(options + length, GRID_OPTIONS - length, " %s=%s", option, value);
    return set_option(s, option, value);
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

/* Batches of a thirtieth of the rows or so, as a power of two; 0.6 of the rows are for training. Without rows, for a
 * report of kept runs, the epochs are not known. */
static void set_steps(run_spec *s, size_t rows, int steps)
{
    s->batch = 16;
    while (s->batch < 128 && rows >= 60 * (size_t)s->batch)
        s->batch *= 2;
    s->epochs = rows ? (int)ceil(steps / (0.6 * (double)rows / s->batch)) : 1;
}

static bool add_run(study_work *work, const study_grid *grid, const study_sources *from, int table,
                    const run_spec *spec, const char *cell, const char *options, double rate, int seed)
{
    study_run *run = study_work_add(work);
    if (!run)
        return false;
    *run = (study_run){.spec = *spec,
                       .cell = cell,
                       .options = options,
                       .grid = grid,
                       .keeps_model = grid->keeps_model,
                       .keeps_curves = grid->keeps_curves,
                       .more = grid->more};
    run->from = &from->source[(int)grid->data + table];
    run->spec.data = run->from->is_text ? run->from->letters.name : run->from->data.name;
    snprintf(run->name, sizeof run->name, "%.80s-lr%g-seed%d", cell, rate, seed);
    run->spec.lr = rate;
    run->spec.seed = seed;
    return true;
}

/* The runs of one seed of cell number `which`, on a table if the grid has each. */
static bool add_cell(study_work *work, const study_grid *grid, const study_sources *from, int table, int which,
                     int seed)
{
    const study_settings *s = work->c->settings;
    char name[STUDY_NAME], options[GRID_OPTIONS];
    run_spec spec = study_spec();
    bool fine = set_options(&spec, grid->fixed) && set_options(&spec, s->quick ? grid->quick : "");
    snprintf(name, sizeof name, "%s%s", grid->each_table ? study_table_name(work->c, table) : "",
             grid->name ? grid->name : "");
    snprintf(options, sizeof options, "%s%s%s", grid->fixed, s->quick ? " " : "", s->quick ? grid->quick : "");
    if (grid->each_table)
        set_steps(&spec, from->source[table].data.rows, s->quick ? 30 : 3000);
    for (int f = 0; f < GRID_FACTORS && grid->factors[f]; f++) {
        const int values = values_of(grid->factors[f]);
        fine = fine && set_factor(&spec, grid->factors[f], which % values, name, options);
        which /= values;
    }
    spec.reconstructs = grid->reconstructs;
    spec.epochs = s->epochs ? s->epochs : spec.epochs;
    const char *kept = net_keep_text(name), *all = net_keep_text(options);
    for (int rate = 0; rate < rates_of(work, grid); rate++)
        fine = fine && kept && all && add_run(work, grid, from, table, &spec, kept, all, grid->rates[rate], seed);
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
            for (int i = 0; i < tables_of(work->c, grid) * cells; i++)
                fine = fine && add_cell(work, grid, from, i / cells, i % cells, seed);
        }
    return fine;
}

/* ---- numbers over seeds ---- */

study_spread study_spread_of(const double values[], int count)
{
    double sorted[STUDY_SEEDS];
    study_spread spread = {0, NAN, NAN, NAN};
    for (int i = 0; i < count && spread.count < STUDY_SEEDS; i++)
        if (!isnan(values[i]))
            sorted[spread.count++] = values[i];
    if (!spread.count)
        return spread;
    spread.median = statistics_median(sorted, (size_t)spread.count);
    spread.low = sorted[0];
    spread.high = sorted[spread.count - 1];
    return spread;
}

study_spread study_spread_at(const study_record *const records[], int count, int epoch, study_column column)
{
    double values[STUDY_SEEDS];
    for (int i = 0; i < count; i++)
        values[i] = study_record_at(records[i], epoch, column);
    return study_spread_of(values, count);
}

int study_lowest_median(const study_record *const records[], int count, int epochs, study_column column)
{
    int lowest = 0;
    double least = NAN;
    for (int e = 1; e <= epochs; e++) {
        const double median = study_spread_at(records, count, e, column).median;
        if (lowest ? median < least : !isnan(median)) {
            least = median;
            lowest = e;
        }
    }
    return lowest;
}

/* ---- cells ---- */

const study_record *study_cell_record(const study_cell *cell, double rate, int seed)
{
    for (int i = 0; cell->work && i < cell->work->count; i++) {
        const study_run *run = &cell->work->run[i];
        if (run->cell == cell->name && run->spec.lr == rate && run->spec.seed == seed) /* equal texts are shared */
            return cell->work->record[i].complete ? &cell->work->record[i] : NULL;
    }
    return NULL;
}

int study_cell_records(const study_cell *cell, double rate, const study_record *records[STUDY_SEEDS])
{
    int count = 0;
    for (int seed = 1; seed <= cell->seeds; seed++) {
        const study_record *record = study_cell_record(cell, rate, seed);
        if (record)
            records[count++] = record;
    }
    return count;
}

int study_cell_values(const study_cell *cell, double rate, const char *name, double values[STUDY_SEEDS])
{
    int complete = 0;
    for (int seed = 1; seed <= cell->seeds; seed++) {
        const study_record *record = study_cell_record(cell, rate, seed);
        values[seed - 1] = record && !record->diverged ? study_record_result(record, name) : NAN;
        complete += record && complete == seed - 1;
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
    cell.whole = true;
    for (int rate = 0; rate < cell.rates; rate++) {
        int complete;
        const double loss = loss_at(&cell, cell.grid->rates[rate], &complete);
        cell.whole = cell.whole && complete == cell.seeds;
        if (complete > cell.complete || (complete == cell.complete && loss < lowest)) {
            lowest = loss;
            cell.best = complete ? cell.grid->rates[rate] : 0;
            cell.complete = complete;
        }
    }
    return cell;
}
