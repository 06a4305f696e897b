#include "examples/study/tabular.h"

#include <math.h>
#include <string.h>

const double tabular_rates[TABULAR_RATES] = {3e-4, 1e-3, 3e-3, 1e-2, 3e-2};

static const struct {
    const char *name, *path, *made;
    dataset_options options;
} sources[TABULAR_SETS] = {
    {"concrete", "uci/concrete.csv", "sine", {0}},
    {"energy", "uci/energy_efficiency.csv", "moons", {.target = "-2,-1"}},
    {"airfoil", "uci/airfoil_self_noise.csv", "circles", {0}},
    {"iris", "uci/iris.csv", "spirals", {0}},
    {"wdbc", "uci/wdbc.csv", NULL, {0}},
    {"wine-red", "uci/winequality_red.csv", NULL, {.task = DATASET_REGRESSION}},
    {"optdigits", "optdigits/optdigits.tra", NULL, {0}},
    {"wine-white", "uci/winequality_white.csv", NULL, {.task = DATASET_REGRESSION}},
    {"california", "uci/california_housing.csv", NULL, {0}},
};

bool tabular_load(const study_context *c, tabular_sets *sets)
{
    const bool quick = c->settings->quick;
    *sets = (tabular_sets){0};
    for (int i = 0; i < TABULAR_SETS; i++) {
        if (quick && !sources[i].made)
            continue;
        if (!study_load(c, "csv", sources[i].path, sources[i].made, 150, &sources[i].options,
                        &sets->data[sets->count])) {
            tabular_free(sets);
            return false;
        }
        sets->name[sets->count++] = quick ? sources[i].made : sources[i].name;
    }
    return true;
}

void tabular_free(tabular_sets *sets)
{
    for (int i = 0; i < sets->count; i++)
        dataset_free(&sets->data[i]);
    *sets = (tabular_sets){0};
}

int tabular_study(const study_context *c,
                  int (*run)(const study_context *c, const tabular_sets *sets, study_work *work))
{
    tabular_sets sets;
    study_work work = study_work_of(c);
    if (!tabular_load(c, &sets))
        return 2;
    const int status = run(c, &sets, &work);
    study_work_free(&work);
    tabular_free(&sets);
    return status;
}

/* A thirtieth of the rows or so a step, as a power of two. */
static int batch_of(size_t rows)
{
    int batch = 16;
    while (batch < 128 && rows >= 60 * (size_t)batch)
        batch *= 2;
    return batch;
}

bool tabular_add(study_work *work, const study_context *c, const tabular_sets *sets, int set, const char *name,
                 const net_spec *form, double rate, int seed, const char *start)
{
    const dataset *data = &sets->data[set];
    const int batch = batch_of(data->rows), steps = c->settings->quick ? 30 : 3000;
    const int epochs = (int)ceil(steps / (0.6 * (double)data->rows / batch)); /* 0.6 of the rows are for training */
    study_run *run = study_work_add(work);
    if (!run)
        return false;
    *run = (study_run){.group = sets->name[set], .data = data, .spec = study_spec()};
    run_spec *s = &run->spec;
    s->split = "redrawn";
    s->net = *form;
    s->net.model = "mlp";
    s->net.hidden = form->hidden ? form->hidden : c->settings->quick ? "16x2" : "64x2";
    s->start = start;
    s->lr = rate;
    s->batch = batch;
    s->epochs = c->settings->epochs ? c->settings->epochs : epochs;
    s->seed = seed;
    snprintf(run->name, sizeof run->name, "%s-%s-lr%g-seed%d", sets->name[set], name, rate, seed);
    return true;
}

double tabular_losses(const study_work *work, const char *set, const char *name, double rate, int seeds,
                      double test[STUDY_SEEDS])
{
    double sum = 0;
    for (int seed = 1; seed <= seeds && seed <= STUDY_SEEDS; seed++) {
        char run_name[STUDY_NAME];
        snprintf(run_name, sizeof run_name, "%s-%s-lr%g-seed%d", set, name, rate, seed);
        const int run = study_work_number(work, run_name);
        const study_record *record = run >= 0 ? &work->record[run] : NULL;
        test[seed - 1] = NAN;
        if (!record || !study_record_complete(record, work->run[run].spec.epochs))
            return NAN;
        const int best = study_record_lowest(record, work->run[run].spec.epochs, STUDY_VAL_LOSS);
        if (!record->diverged)
            test[seed - 1] = log(study_record_at(record, best, STUDY_TEST_LOSS));
        sum += record->diverged ? INFINITY : log(study_record_at(record, best, STUDY_VAL_LOSS));
    }
    return sum / seeds;
}

double tabular_best_rate(const study_work *work, const char *set, const char *name, const double rates[], int count,
                         int seeds)
{
    double best = 0, lowest = INFINITY, test[STUDY_SEEDS];
    for (int r = 0; r < count; r++) {
        const double loss = tabular_losses(work, set, name, rates[r], seeds, test);
        if (isnan(loss))
            return 0; /* chosen among all or not at all */
        if (loss < lowest) {
            lowest = loss;
            best = rates[r];
        }
    }
    return best;
}
