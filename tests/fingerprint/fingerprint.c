#include "tests/fingerprint/fingerprint.h"

#include "autograd/kernels/product.h"
#include "nn/layers/rotary.h"
#include "nn/models/models.h"
#include "tests/fingerprint/sha256.h"

#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { STEPS = 50, NAME = 100 };

/* The subject of a training: a model, or a layer on its own. */
typedef struct net {
    tg_parameters *set;
    tg_model *model; /* NULL: a layer */
    tg_layer layer;
    tg_shape shape; /* of x */
    const tg_layer_sample *sample;
} net;

static void fill(tg_rng *rng, int64_t count, double numbers[])
{
    for (int64_t i = 0; i < count; i++)
        numbers[i] = 2 * tg_rng_uniform(rng) - 1;
}

/* Numbers between -1 and 1, or indices below `ids`. */
static tg_tensor drawn(tg_tape *tape, tg_dtype dtype, tg_shape shape, int64_t ids, tg_rng *rng)
{
    const int64_t count = tg_shape_size(&shape);
    double *numbers = calloc((size_t)count + 1, sizeof *numbers);
    float *narrow = calloc((size_t)count + 1, sizeof *narrow);
    int32_t *indices = calloc((size_t)count + 1, sizeof *indices);
    tg_tensor x = TG_NONE;
    if (numbers && narrow && indices) {
        fill(rng, count, numbers);
        for (int64_t i = 0; i < count; i++) {
            narrow[i] = (float)numbers[i];
            indices[i] = (int32_t)((numbers[i] + 1) / 2 * (double)ids);
        }
        x = ids               ? tg_constant(tape, TG_I32, indices, shape)
            : dtype == TG_F32 ? tg_constant(tape, TG_F32, narrow, shape)
                              : tg_constant(tape, TG_F64, numbers, shape);
    }
    free(numbers);
    free(narrow);
    free(indices);
    return x;
}

static tg_tensor forward(const net *n, tg_tensor x, tg_rng *training)
{
    tg_tape *tape = tg_tape_of(x);
    const tg_dtype dtype = tg_parameters_dtype(n->set);
    tg_layer_pass pass = {.training = training};
    if (n->sample && n->sample->rotary)
        pass.rotary = tg_rotary_angles(tape, dtype, tg_dim(x, 1), n->sample->rotary, 10000);
    if (n->sample && n->sample->padded)
        pass.padding = tg_full(tape, dtype, TG_SHAPE(tg_dim(x, 0), tg_dim(x, 1)), 1);
    return n->model ? tg_model_forward_with(n->model, x, &pass) : n->layer.kind->forward(&n->layer, x, &pass);
}

/* Copies numbers of `size` bytes, the least significant byte first on every processor, so that equal numbers have equal
 * hashes. */
static void copy_numbers(char *to, const char *from, size_t count, size_t size)
{
    const uint16_t one = 1;
    const bool little = *(const unsigned char *)&one;
    for (size_t i = 0; i < count; i++)
        for (size_t byte = 0; byte < size; byte++)
            to[i * size + byte] = from[i * size + (little ? byte : size - 1 - byte)];
}

static bool print_hash(const char *name, const net *n, FILE *to)
{
    char hex[SHA256_HEX + 1], *weights = malloc((size_t)tg_parameters_size(n->set) * sizeof(double) + 1);
    size_t size = 0;
    for (int i = 0; weights && i < tg_parameters_count(n->set); i++) {
        const tg_parameter *p = tg_parameters_at(n->set, i);
        const size_t count = (size_t)tg_shape_size(&p->shape), each = tg_dtype_size(p->dtype);
        copy_numbers(weights + size, p->data, count, each);
        size += count * each;
    }
    if (weights)
        sha256(weights, size, hex);
    const bool fine = weights && fprintf(to, "%s  %s\n", hex, name) > 0;
    free(weights);
    if (!fine)
        fprintf(stderr, "fingerprint: %s: the hash of the weights cannot be printed\n", name);
    return fine;
}

/* Trains towards random targets, redrawn in each step. */
static bool train(const char *name, const net *n, const tg_optimizer_config *config, FILE *to)
{
    const tg_rng root = tg_rng_seed(1);
    tg_rng rng = tg_rng_stream(&root, name), dropout = tg_rng_stream(&root, "dropout");
    tg_tape *tape = tg_tape_new();
    tg_optimizer *optimizer = n->set ? tg_optimizer_new(n->set, config) : NULL;
    bool fine = tape && optimizer;
    for (int step = 0; fine && step < STEPS; step++) {
        tg_tape_reset(tape);
        const tg_dtype dtype = tg_parameters_dtype(n->set);
        const tg_tensor x = drawn(tape, dtype, n->shape, n->sample ? n->sample->ids : 0, &rng),
                        y = forward(n, x, &dropout);
        fine = tg_backward(tg_mse(y, drawn(tape, dtype, tg_shape_of(y), 0, &rng))) && tg_optimizer_step(optimizer);
    }
    if (!fine)
        fprintf(stderr, "fingerprint: %s: %s\n", name,
                tg_tape_error(tape)             ? tg_tape_error(tape)
                : tg_optimizer_error(optimizer) ? tg_optimizer_error(optimizer)
                                                : "out of memory");
    tg_optimizer_free(optimizer);
    tg_tape_free(tape);
    return fine && print_hash(name, n, to);
}

static const tg_optimizer_config adamw = {.lr = 1e-2, .weight_decay = 0.01, .clip_norm = 1};

/* ---- samples of the tables ---- */

/* In patterns * is any text. */
static bool is_wanted(const char *pattern, const char *name)
{
    if (*pattern == '*')
        return is_wanted(pattern + 1, name) || (*name && is_wanted(pattern, name + 1));
    return *pattern == *name && (!*name || is_wanted(pattern + 1, name + 1));
}

static bool train_model(const char *name, const tg_model_kind *kind, int sample, FILE *to)
{
    const tg_rng rng = tg_rng_seed(1);
    net n = {.sample = &kind->samples[sample], .shape = kind->samples[sample].shapes[0]};
    void *config = calloc(1, kind->config_size);
    if (config) {
        kind->configure(config, &n.shape, sample);
        n.model = tg_model_new(kind, &rng, config);
        n.set = tg_model_parameters(n.model);
    }
    const bool fine = train(name, &n, &adamw, to);
    tg_model_free(n.model);
    free(config);
    return fine;
}

static bool train_layer(const char *name, const tg_layer_kind *kind, int sample, tg_dtype dtype, FILE *to)
{
    const tg_rng rng = tg_rng_seed(1);
    net n = {
        .sample = &kind->samples[sample], .shape = kind->samples[sample].shapes[0], .set = tg_parameters_new(dtype)};
    void *memory = calloc(1, kind->size + 1);
    bool fine = true;
    if (memory)
        n.layer = kind->add(memory, n.set, kind->name, &n.shape, sample);
    if (tg_parameters_count(n.set) > 0) /* the others have nothing to hash */
        fine = tg_parameters_initialize(n.set, TG_INIT_XAVIER_UNIFORM, 0, &rng) && train(name, &n, &adamw, to);
    tg_parameters_free(n.set);
    free(memory);
    return fine;
}

static bool train_samples(const char *pattern, FILE *to)
{
    static const char *const types[] = {"f32", "f64"};
    char name[NAME];
    bool fine = true;
    for (int k = 0; tg_model_kind_at(k); k++)
        for (int s = 0; tg_model_kind_at(k)->samples[s].about; s++) {
            const tg_model_kind *kind = tg_model_kind_at(k);
            snprintf(name, sizeof name, "model/%s/%d/f64", kind->name, s);
            fine = fine && (!is_wanted(pattern, name) || train_model(name, kind, s, to));
        }
    for (int k = 0; tg_layer_kind_at(k); k++)
        for (int s = 0; tg_layer_kind_at(k)->samples && tg_layer_kind_at(k)->samples[s].about; s++)
            for (int type = 0; type < 2; type++) {
                const tg_layer_kind *kind = tg_layer_kind_at(k);
                snprintf(name, sizeof name, "layer/%s/%d/%s", kind->name, s, types[type]);
                fine = fine && (!is_wanted(pattern, name) || train_layer(name, kind, s, type ? TG_F64 : TG_F32, to));
            }
    return fine;
}

/* ---- perceptrons that differ in one setting ---- */

static bool train_mlp(const char *pattern, const char *name, tg_mlp_config config, int64_t rows,
                      const tg_optimizer_config *how, FILE *to)
{
    const tg_rng rng = tg_rng_seed(1);
    if (!is_wanted(pattern, name))
        return true;
    config.outputs = 3;
    tg_mlp *mlp = tg_mlp_new(&rng, &config);
    const net n = {.set = tg_model_parameters(mlp), .model = mlp, .shape = TG_SHAPE(rows, config.inputs)};
    const bool fine = train(name, &n, how, to);
    tg_mlp_free(mlp);
    return fine;
}

static bool train_perceptrons(const char *pattern, FILE *to)
{
    const tg_mlp_config small = {.inputs = 5, .hidden = {16, 16}, .dropout = 0.1};
    tg_mlp_config config;
    tg_optimizer_config how = adamw;
    char name[NAME];
    bool fine = true;
    how.schedule = (tg_schedule){.kind = TG_WARMUP_COSINE, .warmup = 5, .steps = STEPS};
    for (int k = 0; tg_optimizer_name((tg_optimizer_kind)k); k++) {
        how.kind = (tg_optimizer_kind)k;
        how.lr = 1e-2 * tg_optimizer_rate_over_adamw(how.kind);
        snprintf(name, sizeof name, "optimizer/%s/f32", tg_optimizer_name(how.kind));
        fine = fine && train_mlp(pattern, name, small, 8, &how, to);
    }
    for (int k = 0; tg_activation_name((tg_activation)k); k++) {
        config = small;
        config.activation = (tg_activation)k;
        snprintf(name, sizeof name, "activation/%s/f32", tg_activation_name(config.activation));
        fine = fine && train_mlp(pattern, name, config, 8, &adamw, to);
    }
    for (int k = 0; tg_norm_name((tg_norm)k); k++) {
        config = small;
        config.norm = (tg_norm)k;
        snprintf(name, sizeof name, "norm/%s/f32", tg_norm_name(config.norm));
        fine = fine && train_mlp(pattern, name, config, 8, &adamw, to);
    }
    config = (tg_mlp_config){.inputs = 300, .hidden = {256, 256}, .activation = TG_GELU_EXACT};
    return fine && train_mlp(pattern, "large/f32", config, 256, &adamw, to) && /* for several threads */
           (config.dtype = TG_F64, train_mlp(pattern, "large/f64", config, 256, &adamw, to));
}

bool fingerprint_print(const char *pattern, FILE *to)
{
    tg_products_by(TG_PRODUCTS_OWN, NULL); /* OpenBLAS sums in a different order */
    const bool fine = train_samples(pattern, to) && train_perceptrons(pattern, to);
    tg_products_by(TG_PRODUCTS_AUTO, NULL);
    return fine;
}
