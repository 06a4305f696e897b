#include "examples/programs/run/net.h"
#include "examples/programs/data/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The entry of a model in this program. */
typedef struct net_kind {
    const char *name;
    tg_model *(*make)(const net_spec *spec, const tg_rng *rng, tg_error *error);
    void (*describe)(const net_spec *spec, char *text, size_t size);
    net_traits traits;
    net_spec defaults;
} net_kind;

/* ---- specification ---- */

#define NET_AT(member) offsetof(net_spec, member)
const program_option net_options[] = {
#include "examples/programs/run/net_options.def"
    {0}};

#define SIZE(name)                                                                     \
    {                                                                                  \
#name, "", "", OPTION_INT, offsetof(net_spec, name), .low = 0, .high = 1 << 30 \
    }
static const program_option spec_sizes[] = {SIZE(inputs),      SIZE(outputs),    SIZE(image_height),
                                            SIZE(image_width), SIZE(vocabulary), {0}};

json_t *net_spec_json(const net_spec *spec)
{
    json_t *object = json_object();
    options_record(net_options, spec, object);
    options_record(spec_sizes, spec, object);
    if (spec->equal_width)
        json_object_set_new(object, "equal_width", json_true());
    return object;
}

const char *net_difference(const net_spec *a, const net_spec *b)
{
    char one[OPTIONS_WORD], other[OPTIONS_WORD];
    for (const program_option *o = net_options; o->name; o++) {
        const char *x = options_word(o, a, one), *y = options_word(o, b, other);
        if (strcmp(o->name, "dropout") != 0 && (x && y ? strcmp(x, y) != 0 : x != y))
            return o->name;
    }
    return NULL;
}

static const net_kind *find_kind(const char *name);

bool net_spec_read(net_spec *spec, json_t *object, tg_error *error)
{
    const program_option *tables[] = {net_options, spec_sizes};
    const char *name = json_string_value(json_object_get(object, "model"));
    if (!name || !find_kind(name))
        return tg_fail(error, "the model is unknown");
    *spec = find_kind(name)->defaults; /* settings with a default are never null */
    spec->init = tg_init_name(TG_INIT_DEFAULT);
    for (int t = 0; t < 2; t++)
        for (const program_option *o = tables[t]; o->name; o++) {
            const bool added_later = t == 0 && !json_object_get(object, o->name);
            if (!added_later && !options_take(o, spec, object))
                return tg_fail(error, "the model's \"%s\" is missing or wrong", o->name);
        }
    spec->equal_width = json_is_true(json_object_get(object, "equal_width"));
    return true;
}

/* ---- parsing specifications ---- */

/* Widths ended by 0; "none" for none. */
static bool read_widths(const char *option, const char *text, int64_t *widths, int most, tg_error *error)
{
    widths[0] = 0;
    return !text || !*text || strcmp(text, "none") == 0 || options_widths(option, text, widths, most, error);
}

/* The names of an activation, norm and initialiser. */
static bool read_names(const net_spec *spec, tg_activation *activation, tg_norm *norm, tg_init *init, tg_error *error)
{
    if (activation && !tg_activation_from_name(spec->activation, activation))
        return tg_fail(error, "--activation: '%.60s': %s", spec->activation,
                       tg_activation_name_error(spec->activation));
    if (norm && !tg_norm_from_name(spec->norm, norm))
        return tg_fail(error, "--norm: there is no '%.60s'", spec->norm);
    if (init && !tg_init_from_name(spec->init, init))
        return tg_fail(error, "--init: there is no '%.60s'", spec->init);
    return true;
}

/* ---- the models ---- */

static tg_model *finish(const tg_model_kind *kind, const void *config, const tg_rng *rng, tg_error *error)
{
    const char *wrong = kind->config_error(config);
    tg_model *model = wrong ? NULL : tg_model_new(kind, rng, config);
    if (!model)
        tg_fail(error, "the model cannot be made: %s", wrong ? wrong : "out of memory");
    return model;
}

static tg_model *make_mlp(const net_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_mlp_config c = {.inputs = s->inputs,
                       .outputs = s->outputs,
                       .dropout = s->dropout,
                       .scale = s->init_scale,
                       .residual = s->residual,
                       .equal_width = s->equal_width};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      read_widths("hidden", s->hidden, c.hidden, TG_MLP_HIDDEN, error);
    return fine ? finish(&tg_mlp_kind, &c, rng, error) : NULL;
}

static tg_model *make_convnet(const net_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_convnet_config c = {.channels = 1,
                           .height = s->image_height,
                           .width = s->image_width,
                           .outputs = s->outputs,
                           .dropout = s->dropout,
                           .scale = s->init_scale,
                           .flatten = true};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      read_widths("filters", s->filters, c.filters, TG_CONVNET_BLOCKS, error);
    return fine ? finish(&tg_convnet_kind, &c, rng, error) : NULL;
}

static tg_model *make_vit(const net_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_vit_config c = {.channels = 1,
                       .height = s->image_height,
                       .width = s->image_width,
                       .outputs = s->outputs,
                       .patch = s->patch,
                       .layers = s->layers,
                       .scale = s->init_scale,
                       .block = tg_block_vit(s->width, s->heads),
                       .dropout = s->dropout};
    c.block.dropout = s->dropout;
    c.block.post_norm = s->post_norm;
    return read_names(s, &c.block.activation, &c.block.norm, &c.init, error) ? finish(&tg_vit_kind, &c, rng, error)
                                                                             : NULL;
}

static tg_model *make_autoencoder(const net_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_autoencoder_config c = {.inputs = s->inputs, .code = s->code, .dropout = s->dropout, .scale = s->init_scale};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      read_widths("hidden", s->hidden, c.hidden, TG_AUTOENCODER_HIDDEN, error);
    return fine ? finish(&tg_autoencoder_kind, &c, rng, error) : NULL;
}

static tg_model *make_charmlp(const net_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_char_mlp_config c = {.vocabulary = s->vocabulary,
                            .context = s->context,
                            .embedding = s->embedding,
                            .dropout = s->dropout,
                            .scale = s->init_scale};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      read_widths("hidden", s->hidden, c.hidden, TG_CHAR_MLP_HIDDEN, error);
    return fine ? finish(&tg_char_mlp_kind, &c, rng, error) : NULL;
}

static tg_model *make_gpt(const net_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_transformer_config c = {.vocabulary = s->vocabulary,
                               .context = s->context,
                               .layers = s->layers,
                               .block = tg_block_gpt(s->width, s->heads),
                               .tied = true,
                               .scale = s->init_scale,
                               .dropout = s->dropout,
                               .rotary_base = s->rotary ? 10000 : 0};
    c.block.dropout = s->dropout;
    c.block.post_norm = s->post_norm;
    c.block.attention.key_value_heads = s->kv_heads;
    return read_names(s, &c.block.activation, &c.block.norm, &c.init, error)
               ? finish(&tg_transformer_kind, &c, rng, error)
               : NULL;
}

#define DESCRIBE(name, ...)                                                 \
    static void describe_##name(const net_spec *s, char *text, size_t size) \
    {                                                                       \
        snprintf(text, size, __VA_ARGS__);                                  \
    }
DESCRIBE(mlp, "mlp %d-%s-%d, %s", s->inputs, s->hidden, s->outputs, s->activation)
DESCRIBE(convnet, "convnet with filters %s, %s", s->filters, s->activation)
DESCRIBE(vit, "vit of %d layer%s, %d head%s, width %d, patches of %d x %d, %s", s->layers, plural(s->layers), s->heads,
         plural(s->heads), s->width, s->patch, s->patch, s->activation)
DESCRIBE(autoencoder, "autoencoder %d-%s-%d, %s", s->inputs, s->hidden, s->code, s->activation)
DESCRIBE(charmlp, "charmlp %d x %d-%s-%d, %s", s->context, s->embedding, s->hidden, s->vocabulary, s->activation)
DESCRIBE(gpt, "gpt of %d layer%s, %d head%s, width %d, context %d, %s", s->layers, plural(s->layers), s->heads,
         plural(s->heads), s->width, s->context, s->activation)

#define KIND(name) #name, make_##name, describe_##name
static const net_kind mlp_kind = {
    KIND(mlp),
    {.options = "hidden residual", .rows_alone = true, .batch = 128, .lr = 2e-3, .compared_lr = 1e-3},
    {.hidden = "128x2", .norm = "none", .activation = "gelu_exact"}};
static const net_kind convnet_kind = {
    KIND(convnet),
    {.options = "filters", .images = true, .batch = 128, .lr = 2e-3, .gated = NET_AT(filters)},
    {.filters = "16,32", .norm = "batch", .activation = "gelu_exact"}};
static const net_kind vit_kind = {
    KIND(vit),
    {.options = "layers heads width patch post-norm", .images = true, .batch = 128, .lr = 1e-3},
    {.layers = 4, .heads = 4, .width = 64, .patch = 7, .norm = "layer", .activation = "gelu_exact"}};
static const net_kind autoencoder_kind = {
    KIND(autoencoder),
    {.options = "hidden code",
     .images = true,
     .reconstructs = true,
     .rows_alone = true,
     .batch = 128,
     .lr = 2e-3,
     .gated = NET_AT(hidden)},
    {.hidden = "256,128", .code = 30, .norm = "none", .activation = "gelu_exact"}};
static const net_kind charmlp_kind = {
    KIND(charmlp),
    {.options = "hidden context embedding",
     .text = true,
     .rows_alone = true,
     .batch = 128,
     .lr = 2e-3,
     .gated = NET_AT(hidden)},
    {.hidden = "256", .context = 8, .embedding = 24, .norm = "none", .activation = "gelu_exact"}};
static const net_kind gpt_kind = {
    KIND(gpt),
    {.options = "layers heads kv-heads width context rotary post-norm epoch-windows",
     .text = true,
     .every_position = true,
     .batch = 32,
     .lr = 3e-3},
    {.layers = 4, .heads = 4, .width = 64, .context = 64, .norm = "layer", .activation = "gelu_tanh"}};

#define MODELS      MODEL(mlp) MODEL(convnet) MODEL(vit) MODEL(autoencoder) MODEL(charmlp) MODEL(gpt)
#define MODEL(name) &name##_kind,
static const net_kind *const kinds[] = {MODELS};
#undef MODEL
#define MODEL(name) #name,
const char *const net_models[] = {MODELS NULL};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

#define TG_PLAIN(constant, name, ...) #name,
#define TG_GATED(constant, name, ...) #name,
const char *const net_activations[] = {
#include "nn/activations.def"
    NULL};
#define TG_NORM(constant, name, ...) #name,
const char *const net_norms[] = {
#include "nn/layers/norms.def"
    NULL};
#define TG_INITIALIZER(constant, name, ...) #name,
const char *const net_inits[] = {
#include "nn/initializers.def"
    NULL};

static const net_kind *find_kind(const char *name)
{
    for (int i = 0; name && i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

bool net_takes(const char *model, const char *option)
{
    bool special = false;
    for (int i = 0; i < KINDS; i++)
        special |= has_word(kinds[i]->traits.options, option);
    return !special || has_word(find_kind(model)->traits.options, option);
}

void net_spec_complete(net_spec *spec)
{
    const net_kind *kind = find_kind(spec->model);
    const net_spec *by_default = &kind->defaults;
#define OTHERWISE(member) spec->member = spec->member ? spec->member : by_default->member
    OTHERWISE(hidden), OTHERWISE(filters), OTHERWISE(activation), OTHERWISE(norm), OTHERWISE(code), OTHERWISE(patch);
    OTHERWISE(layers), OTHERWISE(heads), OTHERWISE(width), OTHERWISE(context), OTHERWISE(embedding);
#undef OTHERWISE
    spec->init = spec->init ? spec->init : tg_init_name(TG_INIT_DEFAULT);
}

const char *net_keep_text(const char *text)
{
    static char **kept;
    static int count;
    for (int i = 0; i < count; i++)
        if (strcmp(kept[i], text) == 0)
            return kept[i];
    char **more = realloc(kept, ((size_t)count + 1) * sizeof *kept);
    if (!more)
        return NULL;
    kept = more;
    kept[count] = strdup(text);
    return kept[count] ? kept[count++] : NULL;
}

/* ---- gated nets with the parameters of plain ones ---- */

/* The number of parameters of the net; -1 and one line if it cannot be made. */
static int64_t size_of(const net_spec *spec, tg_error *error)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_model *made = net_new(spec, &rng, error);
    const int64_t size = made ? tg_parameters_size(tg_model_parameters(made)) : -1;
    tg_model_free(made);
    return size;
}

bool net_spec_equalize(net_spec *spec, tg_error *error)
{
    enum { TRIES = 12 };
    tg_activation activation;
    net_spec plain = *spec;
    const net_traits *traits = net_traits_of(spec->model);
    const char **member = traits->gated ? (const char **)(void *)((char *)spec + traits->gated) : NULL;
    int64_t widths[TG_MLP_HIDDEN + 1];
    if (!member || !tg_activation_from_name(spec->activation, &activation) || !tg_activation_is_gated(activation))
        return true;
    plain.activation = "relu";
    const int64_t wanted = size_of(&plain, error);
    if (wanted < 0 ||
        !read_widths(spec->filters == *member ? "filters" : "hidden", *member, widths, TG_MLP_HIDDEN, error))
        return false;
    double low = 0, high = 1;
    int64_t nearest = INT64_MAX;
    const char *best = *member;
    for (int i = 0; i < TRIES; i++) { /* the size grows with the factor */
        const double factor = 0.5 * (low + high);
        char text[512] = "";
        for (int k = 0; widths[k]; k++) {
            const double width = factor * (double)widths[k];
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.0f", k ? "," : "", width < 1 ? 1 : width);
        }
        *member = net_keep_text(text);
        const int64_t size = *member ? size_of(spec, error) : -1;
        if (size < 0)
            return false;
        const int64_t off = size < wanted ? wanted - size : size - wanted;
        if (off < nearest) {
            nearest = off;
            best = *member;
        }
        *(size < wanted ? &low : &high) = factor;
    }
    *member = best;
    return true;
}

int net_least_rows(const net_spec *spec)
{
    return strcmp(spec->norm, tg_norm_name(TG_NORM_BATCH)) == 0 && net_traits_of(spec->model)->rows_alone ? 2 : 1;
}

const char *net_warning(const net_spec *spec)
{
    tg_activation activation;
    tg_error error;
    int64_t widths[TG_MLP_HIDDEN + 1];
    int depth = 0;
    if (strcmp(spec->model, "mlp") != 0 || strcmp(spec->norm, tg_norm_name(TG_NORM_NONE)) != 0 ||
        !tg_activation_from_name(spec->activation, &activation) || tg_activation_open_gain(activation, 0.1) == 0 ||
        !read_widths("hidden", spec->hidden, widths, TG_MLP_HIDDEN, &error))
        return NULL;
    while (widths[depth])
        depth++;
    const bool by_default = strcmp(spec->init, tg_init_name(TG_INIT_DEFAULT)) == 0;
    return depth >= 3 && !by_default ? "grows or vanishes in three or more hidden layers with this --init; what helps: "
                                       "--norm rms, or --init default"
           : depth >= 5 && !tg_activation_is_gated(activation)
               ? "has vanishing gradients in five or more hidden layers; what helps: --norm rms"
               : NULL;
}

bool net_residual_is_idle(const net_spec *spec)
{
    int64_t widths[TG_MLP_HIDDEN + 1];
    tg_error error;
    if (!spec->residual || !read_widths("hidden", spec->hidden, widths, TG_MLP_HIDDEN, &error))
        return false;
    for (int i = 0; widths[0] && widths[i + 1]; i++)
        if (widths[i] == widths[i + 1])
            return false;
    return true;
}

const net_traits *net_traits_of(const char *model)
{
    const net_kind *kind = find_kind(model);
    return kind ? &kind->traits : NULL;
}

tg_model *net_new(const net_spec *spec, const tg_rng *rng, tg_error *error)
{
    return find_kind(spec->model)->make(spec, rng, error);
}

const tg_mlp *net_mlp(const tg_model *model)
{
    return model->kind == &tg_mlp_kind ? model : NULL;
}

void net_describe(const net_spec *spec, char *text, size_t size)
{
    find_kind(spec->model)->describe(spec, text, size);
}
