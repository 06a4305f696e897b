#include "examples/programs/run/card.h"
#include "examples/programs/data/words.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLE_ROWS = 16 };

static bool decides(const run_spec *s, const char *which)
{
    return s->activation_from && strcmp(s->activation_from, which) == 0;
}

/* The rules of --rename, "FROM=TO,...", as tg_load_options takes them. */
enum { RULES_MOST = 64 };
typedef struct rules {
    tg_rename rule[RULES_MOST];
    int count;
} rules;

/* False and one line if the text is invalid, which may be NULL; the parts live as long as the program. */
static bool read_rules(const char *text, rules *out, tg_error *error)
{
    char rule[300];
    out->count = 0;
    while (next_word(&text, rule, sizeof rule)) {
        char *equals = strchr(rule, '=');
        if (!equals || equals == rule || !equals[1] || out->count == RULES_MOST)
            return tg_fail(error, "--rename: '%.80s': expected FROM=TO, at most %d of them, with commas between", rule,
                           RULES_MOST);
        *equals = '\0';
        out->rule[out->count++] = (tg_rename){net_keep_text(rule), net_keep_text(equals + 1)};
    }
    return true;
}

/* ---- before there is a model ---- */

bool card_adopt(run_spec *s, card *theirs, tg_error *error)
{
    tg_activation named;
    *theirs = (card){0};
    tg_safetensors *file = tg_safetensors_open(s->start, error);
    const bool opened = file, is_ours = opened && tg_safetensors_metadata(file, "tapegrad.model");
    tg_safetensors_close(file);
    if (!opened || (decides(s, "file") && !tg_model_activation(s->start, &named, error)))
        return tg_fail(error, "--start: %s", error->text);
    if (is_ours && !card_read(theirs, s->start, error))
        return false;
    json_t *model = is_ours ? json_object_get(theirs->json, "model") : NULL;
    for (const program_option *o = net_options; is_ours && o->name; o++)
        if (!options_given(o->name))
            options_take(o, &s->net, model);
    if (decides(s, "file"))
        s->net.activation = tg_activation_name(named);
    return true;
}

/* ---- the weights ---- */

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_columns(const card_column a[], size_t a_count, const card_column b[], size_t b_count)
{
    bool same = a_count == b_count;
    for (size_t i = 0; same && i < a_count; i++)
        same = same_text(a[i].name, b[i].name) && (a[i].name || a[i].number == b[i].number) &&
               same_text(a[i].category, b[i].category) && a[i].missing == b[i].missing;
    return same;
}

/* Names what differs between the file's data and this data, in a word; NULL: nothing. */
static const char *difference(const card *a, const card *b)
{
    bool same =
        a->vocabulary == b->vocabulary && a->lines == b->lines && memcmp(a->letter, b->letter, sizeof a->letter) == 0;
    if (!same)
        return "characters";
    if (!same_columns(a->input, a->inputs, b->input, b->inputs))
        return "columns";
    same = a->classes == b->classes;
    for (size_t i = 0; same && i < a->classes; i++)
        same = strcmp(a->class_names[i], b->class_names[i]) == 0;
    if (!same)
        return "classes";
    return same_columns(a->target, a->targets, b->target, b->targets) ? NULL : "targets";
}

typedef struct sample {
    const net_spec *spec;
    const tg_fit_rows *rows;
    void *batch; /* the first column of the first rows */
    int64_t count;
} sample;

/* The outputs of a second model with these weights. */
static tg_tensor outputs(tg_tape *tape, tg_activation activation, const tg_parameters *weights, void *user)
{
    const sample *of = user;
    const tg_fit_column *column = &of->rows->column[0];
    const tg_rng rng = tg_rng_seed(1);
    tg_error error;
    net_spec spec = *of->spec;
    spec.activation = tg_activation_name(activation);
    tg_model *twin = net_new(&spec, &rng, &error);
    if (!twin)
        return TG_NONE;
    tg_shape shape = {.rank = column->shape.rank + 1, .dim = {of->count}};
    memcpy(shape.dim + 1, column->shape.dim, (size_t)column->shape.rank * sizeof shape.dim[0]);
    tg_tensor y = TG_NONE;
    if (tg_parameters_copy(tg_model_parameters(twin), weights) == tg_parameters_count(weights))
        y = tg_model_forward(twin, tg_borrow(tape, column->dtype, of->batch, shape), NULL);
    tg_model_free(twin);
    return y;
}

/* Takes the first rows of the training split. */
static bool take_sample(sample *of, const tg_fit_rows *rows, const net_spec *spec)
{
    void *columns[TG_FIT_COLUMNS] = {NULL};
    int32_t numbers[SAMPLE_ROWS];
    tg_rng rng = tg_rng_seed(1);
    *of = (sample){spec, rows, NULL, rows->count < SAMPLE_ROWS ? rows->count : SAMPLE_ROWS};
    bool fine = true;
    for (int c = 0; c < rows->columns; c++) {
        columns[c] = calloc((size_t)(tg_shape_size(&rows->column[c].shape) * of->count) + 1,
                            tg_dtype_size(rows->column[c].dtype));
        fine = fine && columns[c];
    }
    for (int i = 0; i < SAMPLE_ROWS; i++)
        numbers[i] = i;
    fine = fine && rows->fill(rows->context, numbers, of->count, &rng, columns);
    for (int c = 1; c < rows->columns; c++)
        free(columns[c]);
    of->batch = columns[0];
    return fine;
}

bool card_start(const run_spec *s, tg_model *model, const run_source *from, const card *ours, const card *theirs,
                tg_error *error)
{
    tg_activation activation;
    sample of;
    rules renames;
    if (!read_rules(s->rename, &renames, error))
        return false;
    const char *other = theirs->json ? difference(ours, theirs) : NULL;
    if (other)
        return tg_fail(error, "--start: %.200s: its %s differ from those of the data", s->start, other);
    tg_activation_from_name(s->net.activation, &activation);
    const bool sampled = take_sample(&of, &from->train, &s->net);
    const tg_model_load_options options = {
        .load = {.allow_unknown = true, .renames = renames.rule, .rename_count = renames.count},
        .migrate = decides(s, "model"),
        .outputs = sampled ? outputs : NULL,
        .user = &of};
    const bool fine = tg_model_load(tg_model_parameters(model), s->start, activation, &options, error);
    free(of.batch);
    if (!fine)
        tg_fail(error, "--start: %s%s", error->text,
                strstr(error->text, "it was trained with ") ? "; choose with --activation-from file or model" : "");
    return fine;
}

tg_model *card_model(const card *c, const char *other, const char *rename, tg_error *error)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_activation activation;
    rules renames;
    if (!read_rules(rename, &renames, error))
        return NULL;
    tg_activation_from_name(c->spec.activation, &activation);
    const tg_model_load_options options = {
        .load = {.allow_unknown = true, .renames = renames.rule, .rename_count = renames.count}};
    tg_model *model = net_new(&c->spec, &rng, error);
    if (model && tg_model_load(tg_model_parameters(model), other ? other : c->path, activation, &options, error))
        return model;
    tg_model_free(model);
    return NULL;
}
