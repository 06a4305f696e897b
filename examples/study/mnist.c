#include "examples/study/mnist.h"

#include <math.h>
#include <string.h>

const tg_activation mnist_activations[MNIST_ACTIVATIONS] = {TG_GELU_TANH, TG_ELU, TG_RELU};

mnist_protocol mnist_protocol_of(const study_context *c)
{
    const bool quick = c->settings->quick;
    mnist_protocol p = {.seeds = quick ? 2 : 5,
                        .epochs = quick ? 3 : 50,
                        .rates = quick ? 2 : MNIST_RATES,
                        .rate = {1e-3, 1e-4, 1e-5},
                        .hidden = quick ? "24x2" : "128x8",
                        .validation = quick ? "first:200" : "first:5000",
                        .batch = quick ? 32 : 128};
    if (c->settings->epochs)
        p.epochs = c->settings->epochs;
    return p;
}

/* The name of a run, with %d in place of the seed. */
static void name_of(char name[STUDY_NAME], tg_activation activation, double keep, double rate)
{
    snprintf(name, STUDY_NAME, "%s-keep%g-lr%g-seed%%d", tg_activation_name(activation), keep, rate);
}

bool mnist_add(study_work *work, const mnist_protocol *p, const dataset *data, tg_activation activation, double keep,
               double rate, int first, int last)
{
    char format[STUDY_NAME];
    name_of(format, activation, keep, rate);
    for (int seed = first; seed <= last; seed++) {
        study_run *run = study_work_add(work);
        if (!run)
            return false;
        *run = (study_run){.group = keep < 1 ? "dropout" : tg_activation_name(activation),
                           .data = data,
                           .spec = study_spec(),
                           .keeps_model = true};
        snprintf(run->name, sizeof run->name, "%.*s%d", (int)(strlen(format) - 2), format, seed);
        run_spec *s = &run->spec;
        s->net.hidden = p->hidden;
        s->net.activation = tg_activation_name(activation);
        s->net.init = tg_init_name(TG_INIT_UNIT_ROWS);
        s->net.dropout = 1 - keep;
        s->validation = p->validation;
        s->lr = rate;
        s->batch = p->batch;
        s->epochs = p->epochs;
        s->seed = seed;
        s->drop_last = true;
        s->train_loss_every = 5;
    }
    return true;
}

int mnist_records(const study_work *work, const mnist_protocol *p, tg_activation activation, double keep, double rate,
                  const study_record *records[STUDY_SEEDS])
{
    char format[STUDY_NAME];
    name_of(format, activation, keep, rate);
    return study_seeds(work, format, p->seeds, false, records);
}

double mnist_best_rate(const study_work *work, const mnist_protocol *p, tg_activation activation, double keep)
{
    double best = 0, lowest = INFINITY;
    int most = 0; /* runs that are complete */
    for (int r = 0; r < p->rates; r++) {
        const study_record *records[STUDY_SEEDS];
        const int count = mnist_records(work, p, activation, keep, p->rate[r], records);
        const int epoch = study_lowest_median(records, count, p->epochs, STUDY_VAL_LOSS);
        const double loss = study_spread_at(records, count, epoch, STUDY_VAL_LOSS).median;
        if (count > most || (count == most && loss < lowest)) {
            most = count;
            lowest = loss;
            best = p->rate[r];
        }
    }
    return best;
}

int mnist_study(const study_context *c, size_t glyphs, study_work work,
                int (*run)(const study_context *c, dataset *data, study_work *work))
{
    dataset data;
    if (!study_load(c, "idx", "mnist", "glyphs", glyphs, NULL, &data))
        return 2;
    const int status = run(c, &data, &work);
    study_work_free(&work);
    dataset_free(&data);
    return status;
}
