#include "examples/programs/data/advice.h"
#include "examples/programs/run/card.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/system/posix.h"

enum { SAMPLE_ROWS = 16 };

/* ---- writing ---- */

/* A column; what is NULL or negative is left out. */
static json_t *column_json(const double *mean, const double *scale, double limit, json_int_t number, const char *key,
                           const char *name, const dataset_feature *feature, bool frequent)
{
    return json_pack("{s:o*, s:o*, s:o*, s:o*, s:s*, s:s*, s:o*, s:o*, s:o*}", "mean", mean ? json_real(*mean) : NULL,
                     "scale", scale ? json_real(*scale) : NULL, "limit", limit > 0 ? json_real(limit) : NULL, "number",
                     number < 0 ? NULL : json_integer(number), key, name, "category",
                     feature ? feature->category : NULL, "other", feature && feature->other ? json_true() : NULL,
                     "missing", feature && feature->missing ? json_true() : NULL, "frequent",
                     frequent ? json_true() : NULL);
}

/* Adds the features of a column of categories, from the first on, and gives their number. The most frequent category
 * of the training rows is marked; the first one of several. */
static size_t add_categories(const dataset *data, size_t first, json_t *inputs)
{
    const dataset_feature *f = &data->feature[first];
    size_t count = 0, best = 0;
    while (first + count < data->features && f[count].number == f->number)
        count++;
    size_t *rows = calloc(count, sizeof *rows);
    for (size_t i = 0; rows && i < data->train.rows; i++) {
        const double index = data->cells[(size_t)data->train.row[i] * data->columns + f->number];
        if (index >= 0 && index < (double)count) /* NaN: missing */
            rows[(size_t)index]++;
    }
    for (size_t k = 1; rows && k < count; k++)
        best = rows[k] > rows[best] ? k : best;
    for (size_t k = 0, i = first; k < count; k++, i++)
        json_array_append_new(inputs, column_json(&data->feature_mean[i], &data->feature_scale[i],
                                                  data->feature_limit[i], (json_int_t)f->number, "column", f->column,
                                                  &f[k], rows && k == best && rows[k] > 0));
    free(rows);
    return count;
}

/* The share of each class among the training rows, or the mean of each target as the model has it. A class without a
 * training row counts as one of them: a prediction that excludes a class may have an infinite loss. NULL: neither, or
 * no memory. */
static json_t *constant_json(const dataset *data)
{
    const size_t count = data->classes ? data->classes : data->targets;
    double *sum = count ? calloc(count, sizeof *sum) : NULL, total = 0;
    json_t *list = sum ? json_array() : NULL;
    for (size_t i = 0; sum && i < data->train.rows; i++) {
        const size_t row = (size_t)data->train.row[i];
        const double weight = data->weight ? data->weight[row] : 1;
        total += weight;
        if (data->classes)
            sum[data->labels[row]] += weight;
        for (size_t k = 0; k < data->targets; k++)
            sum[k] += weight * data->y[row * data->targets + k];
    }
    for (size_t i = 0; i < data->classes && sum; i++)
        if (sum[i] == 0)
            total += sum[i] = 1;
    for (size_t i = 0; i < count && sum; i++)
        json_array_append_new(list, json_real(total > 0 ? sum[i] / total : 0));
    free(sum);
    return list;
}

static char *data_text(const run_spec *s, const run_source *from)
{
    const dataset *data = &from->data;
    json_t *inputs = json_array(), *targets = json_array(), *answers = json_array(), *classes = json_array(),
           *letters = json_array(), *weights = data->weight ? json_array() : NULL,
           *groups = data->group ? json_array() : NULL, *class_weights = from->class_weight ? json_array() : NULL;
    const size_t answered = from->is_text || source_reconstructs(s) ? 0 : data->classes + data->targets;
    json_t *constant = answered ? constant_json(data) : NULL;
    const char *task = from->is_text                          ? "letters"
                       : source_reconstructs(s)               ? "images"
                       : data->task == DATASET_CLASSIFICATION ? "classes"
                                                              : "targets";
    for (size_t i = 0; i < data->features && !data->width; i++) {
        const dataset_feature *f = data->feature ? &data->feature[i] : &(dataset_feature){.number = i};
        if (f->category) {
            i += add_categories(data, i, inputs) - 1;
            continue;
        }
        json_array_append_new(inputs,
                              column_json(&data->feature_mean[i], &data->feature_scale[i], data->feature_limit[i],
                                          (json_int_t)f->number, "column", f->column, f, false));
    }
    for (size_t i = 0; i < data->targets; i++)
        json_array_append_new(targets, column_json(&data->target_mean[i], &data->target_scale[i], 0, -1, "name",
                                                   data->target_names ? data->target_names[i] : "", NULL, false));
    for (size_t i = 0; data->target_column && i < (data->targets ? data->targets : 1); i++) {
        const size_t number = data->target_column[i];
        const char *name = number < data->columns ? data->column[number].name : NULL;
        json_array_append_new(answers, column_json(NULL, NULL, 0, (json_int_t)number, "column", name, NULL, false));
    }
    if (data->weight)
        json_array_append_new(weights, column_json(NULL, NULL, 0, (json_int_t)data->weight_column, "column",
                                                   data->column[data->weight_column].name, NULL, false));
    if (data->group)
        json_array_append_new(groups, column_json(NULL, NULL, 0, (json_int_t)data->group_column, "column",
                                                  data->column[data->group_column].name, NULL, false));
    for (size_t i = 0; i < data->classes; i++)
        json_array_append_new(classes, json_string(data->class_names[i]));
    for (size_t i = 0; from->class_weight && i < data->classes; i++)
        json_array_append_new(class_weights, json_real(from->class_weight[i]));
    for (int i = 0; i < from->letters.vocabulary; i++)
        json_array_append_new(letters, json_integer(from->letters.letter[i]));
    const bool complete = json_array_size(constant) == answered;
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f, s:b, s:o, s:o*, s:o*, s:o*, s:o*, s:o*}", "task", task,
                               "inputs", inputs, "classes", classes, "targets", targets, "answers", answers,
                               "pixel_scale", data->width ? data->feature_scale[0] : 1., "lines", from->letters.lines,
                               "letters", letters, "weights", weights, "groups", groups, "class_weights", class_weights,
                               "utf8", from->letters.utf8 ? json_true() : NULL, "constant", constant);
    char *text = complete ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

tg_card *card_of_source(const run_spec *s, const run_source *from, tg_error *error)
{
    json_t *model = net_spec_json(&s->net);
    char *model_text = json_dumps(model, JSON_COMPACT), *data = data_text(s, from);
    tg_card *made = model_text && data ? tg_card_parse(model_text, data, error) : NULL;
    if (!model_text || !data)
        tg_fail(error, "out of memory");
    json_decref(model);
    free(model_text);
    free(data);
    return made;
}

/* ---- the weights of --start and --weights ---- */

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

bool card_adopt(run_spec *s, tg_card **theirs, tg_error *error)
{
    tg_activation named;
    struct stat status;
    char best[PATH_MAX];
    *theirs = NULL;
    if (stat(s->start, &status) == 0 && S_ISDIR(status.st_mode)) { /* a refit has seen the validation rows */
        snprintf(best, sizeof best, "%s/best.safetensors", s->start);
        s->start = net_keep_text(best);
    }
    tg_safetensors *file = tg_safetensors_open(s->start, error);
    const bool opened = file, is_ours = opened && tg_safetensors_metadata(file, "tapegrad.model");
    tg_safetensors_close(file);
    if (!opened || (decides(s, "file") && !tg_weights_activation(s->start, &named, error)))
        return tg_fail(error, "--start: %s", error->text);
    if (is_ours && !(*theirs = tg_card_read(s->start, error)))
        return false;
    for (const program_option *o = net_options; is_ours && options_has(&s->given, "start") && o->name; o++) {
        if (!options_has(&s->given, o->name))
            options_copy(o, &(*theirs)->spec, &s->net);
    }
    if (decides(s, "file"))
        s->net.activation = tg_activation_name(named);
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_columns(const tg_card_input a[], size_t a_count, const tg_card_input b[], size_t b_count)
{
    bool same = a_count == b_count;
    for (size_t i = 0; same && i < a_count; i++)
        same = same_text(a[i].name, b[i].name) && (a[i].name || a[i].number == b[i].number) &&
               same_text(a[i].category, b[i].category) && a[i].missing == b[i].missing;
    return same;
}

/* Names what differs between the file's data and this data, in a word; NULL: nothing. */
static const char *difference(const tg_card *a, const tg_card *b)
{
    bool same = a->vocabulary == b->vocabulary && a->lines == b->lines && a->utf8 == b->utf8 &&
                memcmp(a->letter, b->letter, (size_t)a->vocabulary * sizeof *a->letter) == 0;
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

bool card_start(const run_spec *s, tg_model *model, const run_source *from, const tg_card *ours, const tg_card *theirs,
                tg_error *error)
{
    tg_activation activation;
    sample of;
    rules renames;
    if (!read_rules(s->rename, &renames, error))
        return false;
    const char *other = theirs ? difference(ours, theirs) : NULL;
    if (other)
        return tg_fail(error, "--start: %.200s: its %s differ from those of the data", s->start, other);
    tg_activation_from_name(s->net.activation, &activation);
    const bool sampled = take_sample(&of, &from->train, &s->net);
    const tg_weights_load_options options = {
        .load = {.allow_unknown = true, .renames = renames.rule, .rename_count = renames.count},
        .migrate = decides(s, "model"),
        .outputs = sampled ? outputs : NULL,
        .user = &of};
    tg_activation named = activation;
    tg_weights_activation(s->start, &named, NULL);
    const bool fine = tg_weights_load(tg_model_parameters(model), s->start, activation, &options, error);
    free(of.batch);
    return fine || tg_fail(error, "--start: %s%s", error->text,
                           named != activation && !options.migrate ? "; " ADVICE_ACTIVATION : "");
}

tg_card *card_read(const char *model, tg_error *error)
{
    const bool compares = files_exists(model, "runs") && !files_exists(model, "best.safetensors");
    if (compares)
        tg_fail(error, "%.200s holds a comparison: use one of its runs, " ADVICE_RUN, model, model);
    const bool bare = !compares && files_exists(model, "result.json") && !files_exists(model, "best.safetensors") &&
                      !files_exists(model, "refit.safetensors");
    if (bare)
        tg_fail(error, "%.200s has no weights: compare keeps them with --keep-models", model);
    return compares || bare ? NULL : tg_card_read(model, error);
}

tg_model *card_model(const tg_card *c, const char *other, const char *rename, tg_error *error)
{
    rules renames;
    if (!read_rules(rename, &renames, error))
        return NULL;
    const tg_load_options load = {.renames = renames.rule, .rename_count = renames.count};
    return tg_model_of_card(c, other, &load, error);
}
