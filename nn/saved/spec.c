#include "nn/saved/spec.h"

#include "nn/models/models.h"
#include "nn/saved/spec_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct kind {
    const char *name;
    tg_model *(*make)(const tg_model_spec *spec, const tg_rng *rng, tg_error *error);
    void (*describe)(const tg_model_spec *spec, char *text, size_t size);
    tg_model_traits traits;
    tg_model_spec defaults;
} kind;

#define AT(member) offsetof(tg_model_spec, member)

/* ---- widths and names ---- */

/* A whole number from 1 on; false if there is none, or a larger one. */
static bool read_count(const char **text, int64_t most, int64_t *number)
{
    for (*number = 0; **text >= '0' && **text <= '9' && *number <= most; ++*text)
        *number = 10 * *number + (**text - '0');
    return *number >= 1 && *number <= most;
}

/* One item of a list of widths: "128" or "128x8". */
static bool read_width(const char **text, int64_t widths[], int most, int *count)
{
    int64_t width, times = 1;
    if (!read_count(text, 1000000, &width))
        return false;
    if (**text == 'x' && (++*text, !read_count(text, 1000000, &times)))
        return false;
    if (times > most - *count)
        return false;
    while (times-- > 0)
        widths[(*count)++] = width;
    return true;
}

bool tg_widths_read(const char *name, const char *text, int64_t widths[], int most, tg_error *error)
{
    int count = 0;
    bool fine = true;
    const char *at = text && *text && strcmp(text, "none") != 0 ? text : NULL;
    for (bool more = at; fine && more; at += more) {
        fine = read_width(&at, widths, most, &count);
        more = *at == ',';
    }
    widths[fine ? count : 0] = 0;
    return (fine && (!at || !*at)) ||
           tg_fail(error, "%s: '%.100s' is not a list of at most %d widths such as 128x8 or 512,128", name, text, most);
}

/* The names of an activation, norm and initialiser. */
static bool read_names(const tg_model_spec *spec, tg_activation *activation, tg_norm *norm, tg_init *init,
                       tg_error *error)
{
    tg_error wrong;
    if (activation && !tg_activation_read(spec->activation, activation, &wrong))
        return tg_fail(error, "activation: '%.60s': %s", spec->activation ? spec->activation : "", wrong.text);
    if (norm && !tg_norm_from_name(spec->norm, norm))
        return tg_fail(error, "norm: there is no '%.60s'", spec->norm ? spec->norm : "");
    if (init && !tg_init_from_name(spec->init, init))
        return tg_fail(error, "init: there is no '%.60s'", spec->init ? spec->init : "");
    return true;
}

/* ---- the models ---- */

static tg_model *finish(const tg_model_kind *of, const void *config, const tg_rng *rng, tg_error *error)
{
    const char *wrong = of->config_error(config);
    tg_model *model = wrong ? NULL : tg_model_new(of, rng, config);
    if (!model)
        tg_fail(error, "the model cannot be made: %s", wrong ? wrong : "out of memory");
    return model;
}

static tg_model *make_mlp(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_mlp_config c = {.inputs = s->inputs,
                       .outputs = s->outputs,
                       .dropout = s->dropout,
                       .scale = s->init_scale,
                       .regression = s->regression,
                       .residual = s->residual,
                       .groups = s->groups,
                       .equal_width = s->equal_width};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      tg_widths_read("hidden", s->hidden, c.hidden, TG_MLP_HIDDEN, error);
    return fine ? finish(&tg_mlp_kind, &c, rng, error) : NULL;
}

static tg_model *make_convnet(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_convnet_config c = {.channels = 1,
                           .height = s->image_height,
                           .width = s->image_width,
                           .outputs = s->outputs,
                           .dropout = s->dropout,
                           .scale = s->init_scale,
                           .flatten = true};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      tg_widths_read("filters", s->filters, c.filters, TG_CONVNET_BLOCKS, error);
    return fine ? finish(&tg_convnet_kind, &c, rng, error) : NULL;
}

static tg_model *make_vit(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
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
    c.block.feed_forward_scale = s->ffn_init_scale;
    return read_names(s, &c.block.activation, &c.block.norm, &c.init, error) ? finish(&tg_vit_kind, &c, rng, error)
                                                                             : NULL;
}

static tg_model *make_autoencoder(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_autoencoder_config c = {.inputs = s->inputs, .code = s->code, .dropout = s->dropout, .scale = s->init_scale};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      tg_widths_read("hidden", s->hidden, c.hidden, TG_AUTOENCODER_HIDDEN, error);
    return fine ? finish(&tg_autoencoder_kind, &c, rng, error) : NULL;
}

static tg_model *make_charmlp(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_char_mlp_config c = {.vocabulary = s->vocabulary,
                            .context = s->context,
                            .embedding = s->embedding,
                            .dropout = s->dropout,
                            .scale = s->init_scale};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      tg_widths_read("hidden", s->hidden, c.hidden, TG_CHAR_MLP_HIDDEN, error);
    return fine ? finish(&tg_char_mlp_kind, &c, rng, error) : NULL;
}

static tg_model *make_gpt(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
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
    c.block.feed_forward_scale = s->ffn_init_scale;
    c.block.attention.key_value_heads = s->kv_heads;
    return read_names(s, &c.block.activation, &c.block.norm, &c.init, error)
               ? finish(&tg_transformer_kind, &c, rng, error)
               : NULL;
}

static tg_model *make_seq2seq(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
{
    tg_seq2seq_config c = {.vocabulary = s->vocabulary,
                           .context = s->context,
                           .layers = s->layers,
                           .block = tg_block_t5(s->width, s->heads),
                           .relative = s->relative,
                           .scale = s->init_scale,
                           .dropout = s->dropout};
    c.block.dropout = s->dropout;
    c.block.post_norm = s->post_norm;
    c.block.feed_forward_scale = s->ffn_init_scale;
    c.block.attention.key_value_heads = s->kv_heads;
    return read_names(s, &c.block.activation, &c.block.norm, &c.init, error) ? finish(&tg_seq2seq_kind, &c, rng, error)
                                                                             : NULL;
}

static tg_model *make_cell(const tg_model_spec *s, tg_cell cell, const tg_rng *rng, tg_error *error)
{
    tg_char_rnn_config c = {.vocabulary = s->vocabulary,
                            .cell = cell,
                            .embedding = s->embedding,
                            .width = s->width,
                            .layers = s->layers,
                            .dropout = s->dropout,
                            .last = s->last,
                            .scale = s->init_scale};
    const bool fine = read_names(s, &c.activation, &c.norm, &c.init, error) &&
                      tg_widths_read("hidden", s->hidden, c.hidden, TG_CHAR_RNN_HIDDEN, error);
    return fine ? finish(&tg_char_rnn_kind, &c, rng, error) : NULL;
}

static tg_model *make_rnn(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
{
    return make_cell(s, TG_RNN, rng, error);
}

static tg_model *make_gru(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
{
    return make_cell(s, TG_GRU, rng, error);
}

static tg_model *make_lstm(const tg_model_spec *s, const tg_rng *rng, tg_error *error)
{
    return make_cell(s, TG_LSTM, rng, error);
}

#define DESCRIBE(name, ...)                                                      \
    static void describe_##name(const tg_model_spec *s, char *text, size_t size) \
    {                                                                            \
        snprintf(text, size, __VA_ARGS__);                                       \
    }
/* "2 layers", "1 layer". */
static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

/* " in 4 groups", or nothing. */
static const char *in_groups(const tg_model_spec *s, char text[40])
{
    snprintf(text, 40, s->groups > 1 ? " in %d groups" : "", s->groups);
    return text;
}

DESCRIBE(mlp, "mlp %d-%s-%d%s, %s", s->inputs, s->hidden, s->outputs, in_groups(s, (char[40]){""}), s->activation)
DESCRIBE(convnet, "convnet with filters %s, %s", s->filters, s->activation)
DESCRIBE(vit, "vit of %d layer%s, %d head%s, width %d, patches of %d x %d, %s", s->layers, plural(s->layers), s->heads,
         plural(s->heads), s->width, s->patch, s->patch, s->activation)
DESCRIBE(autoencoder, "autoencoder %d-%s-%d, %s", s->inputs, s->hidden, s->code, s->activation)
DESCRIBE(charmlp, "charmlp %d x %d-%s-%d, %s", s->context, s->embedding, s->hidden, s->vocabulary, s->activation)
DESCRIBE(gpt, "gpt of %d layer%s, %d head%s, width %d, context %d, %s", s->layers, plural(s->layers), s->heads,
         plural(s->heads), s->width, s->context, s->activation)
DESCRIBE(seq2seq, "seq2seq of %d and %d layer%s, %d head%s, width %d, context %d, %s", s->layers, s->layers,
         plural(s->layers), s->heads, plural(s->heads), s->width, s->context, s->activation)

#define DESCRIBE_CELL(name)                                                                                   \
    DESCRIBE(name, #name " of %d layer%s, width %d, hidden %s, context %d, %s", s->layers, plural(s->layers), \
             s->width, s->hidden, s->context, s->activation)
DESCRIBE_CELL(rnn)
DESCRIBE_CELL(gru)
DESCRIBE_CELL(lstm)

#define KIND(name) #name, make_##name, describe_##name
static const kind mlp_kind = {
    KIND(mlp),
    {.options = "hidden residual unit-groups", .rows_alone = true, .batch = 128, .lr = 2e-3, .compared_lr = 1e-3},
    {.hidden = "128x2", .norm = "none", .activation = "gelu_exact"}};
static const kind convnet_kind = {
    KIND(convnet),
    {.options = "filters", .images = true, .batch = 128, .lr = 2e-3, .gated = AT(filters)},
    {.filters = "16,32", .norm = "batch", .activation = "gelu_exact"}};
static const kind vit_kind = {
    KIND(vit),
    {.options = "layers heads width patch post-norm ffn-init-scale", .images = true, .batch = 128, .lr = 1e-3},
    {.layers = 4, .heads = 4, .width = 64, .patch = 7, .norm = "layer", .activation = "gelu_exact"}};
static const kind autoencoder_kind = {KIND(autoencoder),
                                      {.options = "hidden code",
                                       .images = true,
                                       .reconstructs = true,
                                       .rows_alone = true,
                                       .batch = 128,
                                       .lr = 2e-3,
                                       .gated = AT(hidden)},
                                      {.hidden = "256,128", .code = 30, .norm = "none", .activation = "gelu_exact"}};
static const kind charmlp_kind = {
    KIND(charmlp),
    {.options = "hidden context embedding",
     .text = true,
     .rows_alone = true,
     .batch = 128,
     .lr = 2e-3,
     .gated = AT(hidden)},
    {.hidden = "256", .context = 8, .embedding = 24, .norm = "none", .activation = "gelu_exact"}};
static const kind gpt_kind = {
    KIND(gpt),
    {.options = "layers heads kv-heads width context rotary post-norm ffn-init-scale epoch-windows",
     .text = true,
     .every_position = true,
     .batch = 32,
     .lr = 3e-3},
    {.layers = 4, .heads = 4, .width = 64, .context = 64, .norm = "layer", .activation = "gelu_tanh"}};
static const kind seq2seq_kind = {
    KIND(seq2seq),
    {.options = "layers heads kv-heads width context relative post-norm ffn-init-scale",
     .text = true,
     .pairs = true,
     .every_position = true,
     .batch = 64,
     .lr = 1e-3},
    {.layers = 2, .heads = 4, .width = 64, .context = 32, .norm = "rms", .activation = "relu"}};

#define CELL(name)                                                                                      \
    static const kind name##_kind = {KIND(name),                                                        \
                                     {.options = "hidden layers width context embedding epoch-windows", \
                                      .text = true,                                                     \
                                      .every_position = true,                                           \
                                      .lines = true,                                                    \
                                      .batch = 32,                                                      \
                                      .lr = 3e-3,                                                       \
                                      .gated = AT(hidden)},                                             \
                                     {.hidden = "128",                                                  \
                                      .layers = 1,                                                      \
                                      .width = 128,                                                     \
                                      .context = 32,                                                    \
                                      .embedding = 24,                                                  \
                                      .norm = "none",                                                   \
                                      .activation = "gelu_exact"}};
CELL(rnn)
CELL(gru)
CELL(lstm)

#define TG_NET(name) &name##_kind,
static const kind *const kinds[] = {
#include "nn/saved/nets.def"
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static const kind *find_kind(const char *name)
{
    for (int i = 0; name && i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i];
    return NULL;
}

const tg_model_traits *tg_model_traits_of(const char *name)
{
    const kind *k = find_kind(name);
    return k ? &k->traits : NULL;
}

tg_model *tg_model_of_spec(const tg_model_spec *spec, const tg_rng *rng, tg_error *error)
{
    const kind *k = spec ? find_kind(spec->model) : NULL;
    return k ? k->make(spec, rng, error) : (tg_fail(error, "the model is unknown"), NULL);
}

void tg_model_spec_describe(const tg_model_spec *spec, char *text, size_t size)
{
    find_kind(spec->model)->describe(spec, text, size);
}

void tg_model_spec_complete(tg_model_spec *spec)
{
    const kind *k = find_kind(spec->model);
    const tg_model_spec *by_default = &k->defaults;
    spec->context = spec->context ? spec->context : spec->longest;
#define OTHERWISE(member) spec->member = spec->member ? spec->member : by_default->member
    OTHERWISE(hidden), OTHERWISE(filters), OTHERWISE(activation), OTHERWISE(norm), OTHERWISE(code), OTHERWISE(patch);
    OTHERWISE(layers), OTHERWISE(heads), OTHERWISE(width), OTHERWISE(context), OTHERWISE(embedding);
#undef OTHERWISE
    spec->init = spec->init ? spec->init : tg_init_name(TG_INIT_DEFAULT);
}

/* ---- in a file ---- */

typedef enum spec_type { SPEC_TEXT, SPEC_CHOICE, SPEC_INT, SPEC_REAL, SPEC_FLAG } spec_type;

typedef struct spec_member {
    const char *name;
    spec_type type;
    size_t offset;
    double low, high;
} spec_member;

#define TG_SPEC_OPTION(type, of, name, argument, help, low, high, choices) {name, SPEC_##type, AT(of), low, high},
static const spec_member options[] = {
#include "nn/saved/options.def"
    {0}};

#define SIZE(of)                          \
    {                                     \
#of, SPEC_INT, AT(of), 0, 1 << 30 \
    }
static const spec_member sizes[] = {SIZE(inputs),      SIZE(outputs),    SIZE(image_height),
                                    SIZE(image_width), SIZE(vocabulary), {0}};

/* False if the value is not one of this member: null stands for a text without a default. */
static bool take(const spec_member *m, const tg_json *value, tg_model_spec *spec)
{
    void *at = (char *)spec + m->offset;
    const bool text = m->type == SPEC_TEXT || m->type == SPEC_CHOICE;
    if (text && value && value->kind == TG_JSON_NULL)
        return !*(const char **)at;
    if (!value || value->kind != (text ? TG_JSON_TEXT : m->type == SPEC_FLAG ? TG_JSON_BOOL : TG_JSON_NUMBER))
        return false;
    const double number = value->number;
    if (!text && m->type != SPEC_FLAG && !(number >= m->low && number <= m->high))
        return false;
    if (m->type == SPEC_INT && number != floor(number))
        return false;
    if (text)
        *(const char **)at = value->text;
    else if (m->type == SPEC_INT)
        *(int *)at = (int)number;
    else if (m->type == SPEC_REAL)
        *(double *)at = number;
    else
        *(bool *)at = number != 0;
    return true;
}

bool tg_model_spec_read(tg_model_spec *spec, const tg_json *object, tg_error *error)
{
    const spec_member *const tables[] = {options, sizes};
    const tg_json *name = tg_json_get(object, "model"), *equal = tg_json_get(object, "equal_width");
    const kind *k = find_kind(name ? name->text : NULL);
    if (!k)
        return tg_fail(error, "the model is unknown");
    *spec = k->defaults; /* settings with a default are never null */
    spec->init = tg_init_name(TG_INIT_DEFAULT);
    for (int t = 0; t < 2; t++)
        for (const spec_member *m = tables[t]; m->name; m++) {
            const bool added_later = t == 0 && !tg_json_get(object, m->name);
            if (!added_later && !take(m, tg_json_get(object, m->name), spec))
                return tg_fail(error, "the model's \"%s\" is missing or wrong", m->name);
        }
    spec->equal_width = equal && equal->kind == TG_JSON_BOOL && equal->number != 0;
    const tg_json *last = tg_json_get(object, "last_position");
    spec->last = last && last->kind == TG_JSON_BOOL && last->number != 0;
    tg_norm norm;
    tg_init init;
    return (tg_norm_from_name(spec->norm, &norm) && tg_init_from_name(spec->init, &init)) ||
           tg_fail(error, "the model's \"%s\" is missing or wrong",
                   tg_norm_from_name(spec->norm, &norm) ? "init" : "norm");
}
