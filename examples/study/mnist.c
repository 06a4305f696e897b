#include "examples/study/mnist.h"

#include <math.h>

const tg_activation mnist_activations[MNIST_ACTIVATIONS] = {TG_GELU_TANH, TG_ELU, TG_RELU};

#define PROTOCOL                                                                                                     \
    .data = STUDY_MNIST,                                                                                             \
    .fixed = "hidden=128x8 init=unit_rows validation=first:5000 batch=128 epochs=50 drop-last=1 train-loss-every=5", \
    .quick = "hidden=24x2 validation=first:200 batch=32 epochs=3", .seeds = 5, .keeps_model = true

const study_grid mnist_grids[MNIST_GRIDS] = {
    {PROTOCOL, .factors = {"activation=gelu_tanh,elu,relu", "dropout=0,0.5"}, .rates = {1e-3, 1e-4, 1e-5}},
    {PROTOCOL, .factors = {"activation=stochastic_gelu", "dropout=0"}, .rates = {1e-3, 1e-4}},
};

study_cell mnist_cell(const study_work *work, const study_context *c, tg_activation activation, double keep)
{
    char name[STUDY_NAME];
    snprintf(name, sizeof name, "%s-dropout%g", tg_activation_name(activation), 1 - keep);
    return study_cell_of(work, c, &mnist_grids[activation == TG_STOCHASTIC_GELU], name, 0);
}

double mnist_best_rate(const study_cell *cell)
{
    double best = 0, lowest = INFINITY;
    int most = 0; /* runs that are complete */
    for (int r = 0; r < cell->rates; r++) {
        const study_record *records[STUDY_SEEDS];
        const int count = study_cell_records(cell, cell->grid->rates[r], false, records);
        const int epochs = count ? records[0]->epochs : 0;
        const int epoch = study_lowest_median(records, count, epochs, STUDY_VAL_LOSS);
        const double loss = study_spread_at(records, count, epoch, STUDY_VAL_LOSS).median;
        if (count > most || (count == most && loss < lowest)) {
            most = count;
            lowest = loss;
            best = cell->grid->rates[r];
        }
    }
    return best;
}
