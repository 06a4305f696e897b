/* study gelu-mnist: the MNIST classification of "Gaussian Error Linear Units" (Hendrycks and Gimpel, arXiv
 * 1606.08415). */
#include "examples/programs/study/study.h"

#define PROTOCOL                                                                                                     \
    .data = STUDY_MNIST,                                                                                             \
    .fixed = "hidden=128x8 init=unit_rows validation=first:5000 batch=128 epochs=50 drop-last=1 train-loss-every=5", \
    .quick = "hidden=24x2 validation=first:200 batch=32 epochs=3", .seeds = 5, .keeps_model = true,                  \
    .epochs = {4, 6, 8, 10, 14, 20, 30, 50}
static const study_grid grids[] = {
    {PROTOCOL, .factors = {"activation=gelu_tanh,elu,relu", "dropout=0,0.5"}, .rates = {1e-3, 1e-4, 1e-5}},
    {PROTOCOL, .factors = {"activation=stochastic_gelu", "dropout=0"}, .rates = {1e-3, 1e-4}},
};

static const char *const cells[] = {"gelu_tanh-dropout0",
                                    "elu-dropout0",
                                    "relu-dropout0",
                                    "gelu_tanh-dropout0.5",
                                    "elu-dropout0.5",
                                    "relu-dropout0.5",
                                    NULL};

/* Log loss read off the published curves, accurate to about a line's width: medians of five runs. Where the curve is
 * off the picture there is no number. */
#define READ(cell, result, value, within)       \
    {                                           \
        cell, "curve", 0, result, value, within \
    }
#define MARKS(cell, epoch_10, epoch_20, epoch_50, minimum, last, within)                                          \
    READ(cell, "train_loss_10", epoch_10, 0.1 * epoch_10), READ(cell, "train_loss_20", epoch_20, 0.1 * epoch_20), \
        READ(cell, "train_loss_50", epoch_50, 0.1 * epoch_50), READ(cell, "lowest val_loss", minimum, within),    \
        READ(cell, "val_loss_50", last, within)
static const study_published published[] = {
    MARKS("gelu_tanh-dropout0", .031, .015, .008, .0887, .139, .01),
    MARKS("elu-dropout0", .048, .023, .014, .0889, .119, .01),
    MARKS("relu-dropout0", .037, .018, .008, .0906, .135, .01),
    MARKS("gelu_tanh-dropout0.5", .119, .076, .0445, .129, .133, .015),
    MARKS("elu-dropout0.5", .257, .175, .104, .138, .138, .015),
    READ("relu-dropout0.5", "train_loss_20", .507, .05),
    READ("relu-dropout0.5", "train_loss_50", .346, .03),
    READ("relu-dropout0.5", "lowest val_loss", .377, .015),
    READ("relu-dropout0.5", "val_loss_50", .387, .015),
    {"relu-dropout0.5", "text", 0, "test_accuracy", .979, .0005},
    {0},
};

static const study_comparison comparisons[] = {
    {"gelu_tanh-dropout0", "relu-dropout0", "Without dropout, is GELU better than ReLU (published: yes, by 0.0019)?"},
    {"gelu_tanh-dropout0", "elu-dropout0", "Without dropout, is GELU better than ELU (published: yes, by 0.0002)?"},
    {"gelu_tanh-dropout0.5", "relu-dropout0.5", "With dropout, is GELU better than ReLU (published: yes, by 0.248)?"},
    {"gelu_tanh-dropout0.5", "elu-dropout0.5", "With dropout, is GELU better than ELU (published: yes, by 0.009)?"},
    {0},
};

const study study_gelu_mnist = {
    .name = "gelu-mnist",
    .about = "the GELU paper's MNIST classification",
    .title = "GELU paper: MNIST classification",
    .protocol =
        "Protocol (arXiv 1606.08415): eight hidden layers of 128, initial weights with rows of length 1, pixels in "
        "[0, 1], Adam with a constant rate, batch 128, 50 epochs; dropout behind every hidden layer keeps a unit with "
        "probability 1 or 0.5; validation rows are the first 5,000. GELU is the tanh form. Validation log loss, the "
        "lowest of each run. Of five seeds the range from least to greatest holds the true median with a probability "
        "of 94 %. Published numbers are read off the curves, whose rate is not said.",
    .grids = grids,
    .grid_count = 2,
    .cells = cells,
    .measure = "best_val_loss",
    .published = published,
    .comparisons = comparisons,
};
