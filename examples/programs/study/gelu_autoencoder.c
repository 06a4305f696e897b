/* study gelu-autoencoder: the MNIST autoencoder of "Gaussian Error Linear Units" (Hendrycks and Gimpel, arXiv
 * 1606.08415). */
#include "examples/programs/study/study.h"

static const study_grid grid = {
    .data = STUDY_MNIST,
    .fixed = "hidden=1000,500,250,30,250,500,1000 init=unit_rows validation=none batch=64 epochs=50 drop-last=1 "
             "train-loss-every=25",
    .quick = "hidden=16,4,16 batch=16 epochs=2",
    .factors = {"activation=gelu_tanh,elu,relu"},
    .rates = {1e-3, 1e-4},
    .seeds = 3,
    .keeps_model = true,
    .epochs = {25, 50, 100, 250},
    .reconstructs = true,
};

static const char *const cells[] = {"gelu_tanh", "elu", "relu", NULL};

/* Mean squared error over the pixels of the test images, medians of three runs. */
#define AFTER(cell, rate, epoch, value)                                   \
    {                                                                     \
        cell, "published", rate, "test_loss_" #epoch, value, 0.02 * value \
    }
static const study_published published[] = {
    AFTER("gelu_tanh", 1e-3, 25, .00605),  AFTER("gelu_tanh", 1e-3, 50, .00529),
    AFTER("gelu_tanh", 1e-3, 100, .00471), AFTER("gelu_tanh", 1e-3, 250, .00448),
    AFTER("gelu_tanh", 1e-4, 250, .00435), AFTER("elu", 1e-3, 25, .00847),
    AFTER("elu", 1e-3, 50, .00753),        AFTER("elu", 1e-3, 100, .00685),
    AFTER("elu", 1e-3, 250, .00620),       AFTER("elu", 1e-4, 250, .00491),
    AFTER("relu", 1e-3, 25, .01008),       AFTER("relu", 1e-3, 50, .00964),
    AFTER("relu", 1e-3, 100, .00951),      AFTER("relu", 1e-3, 250, .00962),
    AFTER("relu", 1e-4, 250, .00670),      {0},
};

static const study_comparison comparisons[] = {
    {"gelu_tanh", "relu", "Is GELU better than ReLU (published: yes, 0.55 times after 50 epochs)?"},
    {"gelu_tanh", "elu", "Is GELU better than ELU (published: yes, 0.70 times)?"},
    {0},
};

const study study_gelu_autoencoder = {
    .name = "gelu-autoencoder",
    .about = "the GELU paper's MNIST autoencoder",
    .title = "GELU paper: MNIST autoencoder",
    .protocol =
        "Protocol (arXiv 1606.08415): 784-1000-500-250-30-250-500-1000-784, the activation on every hidden layer, the "
        "code included; mean squared error over pixels in [0, 1]; initial weights with rows of length 1; Adam with a "
        "constant rate, batch 64, all 60,000 training images; the rate is the paper's, 0.001. The paper trains 250 "
        "epochs, this is 50 (--epochs takes more, and continues). GELU is the tanh form. The measure is the test error "
        "after the last epoch.",
    .grids = &grid,
    .grid_count = 1,
    .cells = cells,
    .measure = "test_loss",
    .ratio = true,
    .rate = 1e-3,
    .published = published,
    .comparisons = comparisons,
};
