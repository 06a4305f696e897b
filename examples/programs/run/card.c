#include "examples/programs/run/card.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const tasks[] = {"classes", "targets", "images", "letters", NULL};

static bool refuse(tg_error *error, const char *what)
{
    return tg_fail(error, "the metadata is not that of this program: %s", what);
}

/* ---- writing ---- */

/* A column; what is NULL or negative is left out. */
static json_t *column_json(const double *mean, const double *scale, json_int_t number, const char *key,
                           const char *name, const dataset_feature *feature)
{
    return json_pack("{s:o*, s:o*, s:o*, s:s*, s:s*, s:o*, s:o*}", "mean", mean ? json_real(*mean) : NULL, "scale",
                     scale ? json_real(*scale) : NULL, "number", number < 0 ? NULL : json_integer(number), key, name,
                     "category", feature ? feature->category : NULL, "other",
                     feature && feature->other ? json_true() : NULL, "missing",
                     feature && feature->missing ? json_true() : NULL);
}

static char *data_text(const run_spec *s, const run_source *from)
{
    const dataset *data = &from->data;
    json_t *inputs = json_array(), *targets = json_array(), *answers = json_array(), *classes = json_array(),
           *letters = json_array(), *weights = data->weight ? json_array() : NULL,
           *class_weights = from->class_weight ? json_array() : NULL;
    const card_task task = from->is_text                          ? CARD_LETTERS
                           : source_reconstructs(s)               ? CARD_IMAGES
                           : data->task == DATASET_CLASSIFICATION ? CARD_CLASSES
                                                                  : CARD_TARGETS;
    for (size_t i = 0; i < data->features && !data->width; i++) {
        const dataset_feature *f = data->feature ? &data->feature[i] : &(dataset_feature){.number = i};
        json_array_append_new(inputs, column_json(&data->feature_mean[i], &data->feature_scale[i],
                                                  (json_int_t)f->number, "column", f->column, f));
    }
    for (size_t i = 0; i < data->targets; i++)
        json_array_append_new(targets, column_json(&data->target_mean[i], &data->target_scale[i], -1, "name",
                                                   data->target_names ? data->target_names[i] : "", NULL));
    for (size_t i = 0; data->target_column && i < (data->targets ? data->targets : 1); i++) {
        const size_t number = data->target_column[i];
        const char *name = number < data->columns ? data->column[number].name : NULL;
        json_array_append_new(answers, column_json(NULL, NULL, (json_int_t)number, "column", name, NULL));
    }
    if (data->weight)
        json_array_append_new(weights, column_json(NULL, NULL, (json_int_t)data->weight_column, "column",
                                                   data->column[data->weight_column].name, NULL));
    for (size_t i = 0; i < data->classes; i++)
        json_array_append_new(classes, json_string(data->class_names[i]));
    for (size_t i = 0; from->class_weight && i < data->classes; i++)
        json_array_append_new(class_weights, json_real(from->class_weight[i]));
    for (int i = 0; i < from->letters.vocabulary; i++)
        json_array_append_new(letters, json_integer(from->letters.letter[i]));
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:f, s:b, s:o, s:o*, s:o*}", "task", tasks[task], "inputs",
                               inputs, "classes", classes, "targets", targets, "answers", answers, "pixel_scale",
                               data->width ? data->feature_scale[0] : 1., "lines", from->letters.lines, "letters",
                               letters, "weights", weights, "class_weights", class_weights);
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return text;
}

void card_metadata(const card *c, tg_metadata lines[CARD_LINES])
{
    lines[0] = (tg_metadata){"tapegrad.version", tg_version()};
    lines[1] = (tg_metadata){"tapegrad.model", c->model_text};
    lines[2] = (tg_metadata){"tapegrad.data", c->data_text};
    lines[3] = (tg_metadata){"activation", c->spec.activation};
}

/* ---- reading ---- */

/* Reads a list of columns; `format` says which members each must have. */
static bool read_columns(const json_t *list, const char *format, card_column **columns, size_t *count)
{
    *count = json_array_size(list);
    *columns = calloc(*count + 1, sizeof **columns);
    bool fine = *columns;
    for (size_t i = 0; fine && i < *count; i++) {
        card_column *to = &(*columns)[i];
        json_int_t number = 0;
        int missing = 0, other = 0;
        fine = json_unpack(json_array_get(list, i), format, "mean", &to->scale.mean, "scale", &to->scale.scale,
                           "number", &number, "column", &to->name, "name", &to->name, "category", &to->category,
                           "other", &other, "missing", &missing) == 0 &&
               isfinite(to->scale.mean) && isfinite(to->scale.scale) && number >= 0 && number < 1 << 30;
        to->number = (int)number;
        to->other = other;
        to->missing = missing;
    }
    return fine;
}

static bool read_classes(card *c, const json_t *classes)
{
    bool fine = true;
    for (size_t i = 0; fine && i < c->classes; i++)
        fine = (c->class_names[i] = json_string_value(json_array_get(classes, i)));
    return fine;
}

static bool read_class_weights(card *c, const json_t *weights)
{
    bool fine = !weights || (json_array_size(weights) == c->classes && c->classes > 0);
    c->class_weight = weights && fine ? calloc(c->classes, sizeof *c->class_weight) : NULL;
    for (size_t i = 0; c->class_weight && i < c->classes; i++) {
        c->class_weight[i] = (float)json_number_value(json_array_get(weights, i));
        fine = fine && c->class_weight[i] >= 0 && c->class_weight[i] < INFINITY;
    }
    return fine && (c->class_weight || !weights);
}

static bool read_letters(card *c, const json_t *letters)
{
    const size_t count = json_array_size(letters);
    bool fine = count <= 256;
    for (size_t i = 0; fine && i < count; i++) {
        const json_t *byte = json_array_get(letters, i);
        fine = json_is_integer(byte) && json_integer_value(byte) >= 0 && json_integer_value(byte) < 256;
        c->letter[i] = (unsigned char)json_integer_value(byte);
    }
    c->vocabulary = (int)count;
    return fine;
}

/* NULL, or the difference between the data and the model that the card describes. */
static const char *disagreement(const card *c)
{
    const net_spec *s = &c->spec;
    const net_traits *model = net_traits_of(s->model);
    const bool images = s->image_width > 0, letters = model->text;
    const bool autoencoder = model->reconstructs || (c->task == CARD_IMAGES && s->outputs == s->inputs);
    if (letters != (c->task == CARD_LETTERS) || autoencoder != (c->task == CARD_IMAGES))
        return "the model does not support the task";
    if (letters)
        return s->vocabulary == c->vocabulary && c->vocabulary > 0
                   ? NULL
                   : "the number of characters differs from the model's";
    if (images && ((int64_t)s->image_width * s->image_height != s->inputs || s->inputs < 1))
        return "the size of the images differs from the model's";
    if (!images && (size_t)s->inputs != c->inputs)
        return "the number of inputs differs from the model's";
    if (c->task == CARD_CLASSES && (size_t)s->outputs != c->classes)
        return "the number of classes differs from the model's outputs";
    return c->task == CARD_TARGETS && (size_t)s->outputs != c->targets
               ? "the number of targets differs from the model's outputs"
               : NULL;
}

/* Parses c->model_text and c->data_text, which belong to the card. */
static bool parse(card *c, tg_error *error)
{
    json_error_t wrong;
    json_t *model = json_loads(c->model_text, 0, &wrong), *data = model ? json_loads(c->data_text, 0, &wrong) : NULL;
    c->json = json_pack("{s:o?, s:o?}", "model", model, "data", data);
    if ((!model || !data) && json_error_code(&wrong) == json_error_out_of_memory)
        return tg_fail(error, "out of memory");
    if (!json_is_object(model) || !json_is_object(data))
        return refuse(error, wrong.text);
    if (!net_spec_read(&c->spec, model, error))
        return false;
    const char *task = json_string_value(json_object_get(data, "task"));
    c->task = (card_task)options_position(tasks, task ? task : "");
    if (!tasks[c->task])
        return refuse(error, "the task is unknown");
    c->lines = json_is_true(json_object_get(data, "lines"));
    const double pixel_scale = json_number_value(json_object_get(data, "pixel_scale"));
    c->pixel_scale = pixel_scale > 0 ? pixel_scale : 1;
    const json_t *inputs = json_object_get(data, "inputs"), *classes = json_object_get(data, "classes");
    const bool read = read_columns(inputs, "{s:F, s:F, s:I, s?s, s?s, s?s, s?b, s?b}", &c->input, &c->inputs),
               named = read_columns(json_object_get(data, "targets"), "{s:F, s:F, s?I, s?s, s:s, s?s, s?b, s?b}",
                                    &c->target, &c->targets),
               answered = read_columns(json_object_get(data, "answers"), "{s?F, s?F, s:I, s?s, s?s, s?s, s?b, s?b}",
                                       &c->answer, &c->answers),
               weighted = read_columns(json_object_get(data, "weights"), "{s?F, s?F, s:I, s?s, s?s, s?s, s?b, s?b}",
                                       &c->weight, &c->weights);
    c->classes = json_array_size(classes);
    c->class_names = calloc(c->classes + 1, sizeof *c->class_names);
    if (!c->input || !c->target || !c->answer || !c->weight || !c->class_names)
        return tg_fail(error, "out of memory");
    if (!read || !json_is_array(inputs))
        return refuse(error, "the description of the inputs is missing or wrong");
    if (!named || !read_classes(c, classes))
        return refuse(error, "the names of classes or targets are missing or wrong");
    if (!answered || (c->answers && c->answers != (c->targets ? c->targets : 1))) /* older files do not name them */
        return refuse(error, "the columns of the class or the targets are wrong");
    if (!weighted || c->weights > 1 || !read_class_weights(c, json_object_get(data, "class_weights")))
        return refuse(error, "the weights of rows or classes are wrong");
    if (!read_letters(c, json_object_get(data, "letters")))
        return refuse(error, "the characters are missing or wrong");
    const char *problem = disagreement(c);
    return !problem || refuse(error, problem);
}

bool card_of_source(card *c, const run_spec *s, const run_source *from, tg_error *error)
{
    json_t *model = net_spec_json(&s->net);
    *c = (card){.model_text = json_dumps(model, JSON_COMPACT), .data_text = data_text(s, from)};
    json_decref(model);
    const bool fine = c->model_text && c->data_text ? parse(c, error) : tg_fail(error, "out of memory");
    if (!fine)
        card_free(c);
    return fine;
}

bool card_read(card *c, const char *path, tg_error *error)
{
    struct stat status;
    *c = (card){0};
    const bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    snprintf(c->path, sizeof c->path, "%s%s", path, folder ? "/refit.safetensors" : "");
    if (folder && stat(c->path, &status) != 0)
        snprintf(c->path, sizeof c->path, "%s/best.safetensors", path);
    tg_safetensors *file = tg_safetensors_open(c->path, error);
    if (!file)
        return false;
    const char *model = tg_safetensors_metadata(file, "tapegrad.model"),
               *data = tg_safetensors_metadata(file, "tapegrad.data");
    bool fine = model && data;
    if (!fine)
        tg_fail(error, "%.200s: a model file, but not one of train: 'tapegrad.model' and 'tapegrad.data' are missing",
                c->path);
    else {
        c->model_text = strdup(model);
        c->data_text = strdup(data);
        fine = c->model_text && c->data_text ? parse(c, error) : tg_fail(error, "out of memory");
        if (!fine && error)
            tg_fail(error, "%.200s: %s", c->path, error->text);
    }
    tg_safetensors_close(file);
    if (!fine)
        card_free(c);
    return fine;
}

void card_free(card *c)
{
    free(c->input);
    free(c->answer);
    free(c->weight);
    free(c->class_names);
    free(c->class_weight);
    free(c->target);
    free(c->model_text);
    free(c->data_text);
    json_decref(c->json);
    *c = (card){0};
}
