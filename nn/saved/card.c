#include "nn/saved/card.h"

#include "autograd/base/numbers.h"
#include "autograd/base/platform.h"
#include "nn/files/json_internal.h"
#include "nn/saved/spec_internal.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(tg_error *error, const char *what)
{
    return tg_fail(error, "the metadata is not that of this program: %s", what);
}

/* ---- reading ---- */

/* What a column must have. */
enum { NEEDS_SCALE = 1, NEEDS_NUMBER = 2, NEEDS_NAME = 4 };

/* A member's value, if it has this kind; `fine` becomes false if it is of another kind, or required and missing. */
static const tg_json *member(const tg_json *object, const char *key, tg_json_kind kind, bool required, bool *fine)
{
    const tg_json *value = tg_json_get(object, key);
    *fine = *fine && (value ? value->kind == kind : !required);
    return *fine ? value : NULL;
}

static bool read_column(const tg_json *object, int needs, tg_card_input *to)
{
    bool fine = object->kind == TG_JSON_OBJECT;
    const tg_json *mean = member(object, "mean", TG_JSON_NUMBER, needs & NEEDS_SCALE, &fine),
                  *scale = member(object, "scale", TG_JSON_NUMBER, needs & NEEDS_SCALE, &fine),
                  *limit = member(object, "limit", TG_JSON_NUMBER, false, &fine),
                  *number = member(object, "number", TG_JSON_NUMBER, needs & NEEDS_NUMBER, &fine),
                  *column = member(object, "column", TG_JSON_TEXT, false, &fine),
                  *name = member(object, "name", TG_JSON_TEXT, needs & NEEDS_NAME, &fine),
                  *category = member(object, "category", TG_JSON_TEXT, false, &fine),
                  *other = member(object, "other", TG_JSON_BOOL, false, &fine),
                  *missing = member(object, "missing", TG_JSON_BOOL, false, &fine),
                  *frequent = member(object, "frequent", TG_JSON_BOOL, false, &fine);
    const double index = fine && number ? number->number : 0;
    if (!fine || !(index >= 0 && index < 1 << 30) || index != floor(index))
        return false;
    *to = (tg_card_input){.name = name     ? name->text
                                  : column ? column->text
                                           : NULL,
                          .number = (int)index,
                          .category = category ? category->text : NULL,
                          .other = other && other->number != 0,
                          .missing = missing && missing->number != 0,
                          .frequent = frequent && frequent->number != 0,
                          .scale = {mean ? mean->number : 0, scale ? scale->number : 0, limit ? limit->number : 0}};
    return isfinite(to->scale.mean) && isfinite(to->scale.scale) && isfinite(to->scale.limit);
}

/* Reads a list of columns; no list is none. NULL in `columns`: out of memory. */
static bool read_columns(const tg_json *list, int needs, tg_card_input **columns, size_t *count)
{
    bool fine = true;
    *count = list && list->kind == TG_JSON_LIST ? (size_t)list->count : 0;
    *columns = calloc(*count + 1, sizeof **columns);
    const tg_json *at = *count ? list->first : NULL;
    for (size_t i = 0; fine && *columns && i < *count; i++, at = at->next)
        fine = read_column(at, needs, &(*columns)[i]);
    return fine;
}

static bool read_classes(tg_card *c, const tg_json *list)
{
    const tg_json *at = c->classes ? list->first : NULL;
    for (size_t i = 0; i < c->classes; i++, at = at->next)
        if (!(c->class_names[i] = at->text))
            return false;
    return true;
}

static bool read_class_weights(tg_card *c, const tg_json *list)
{
    bool fine = !list || (list->kind == TG_JSON_LIST && (size_t)list->count == c->classes && c->classes > 0);
    c->class_weight = list && fine ? calloc(c->classes, sizeof *c->class_weight) : NULL;
    const tg_json *at = c->class_weight ? list->first : NULL;
    for (size_t i = 0; at; i++, at = at->next) {
        c->class_weight[i] = (float)at->number;
        fine = fine && at->kind == TG_JSON_NUMBER && c->class_weight[i] >= 0 && c->class_weight[i] < INFINITY;
    }
    return fine && (c->class_weight || !list);
}

static bool read_constant(tg_card *c, const tg_json *list)
{
    const size_t wanted = c->classes ? c->classes : c->targets;
    bool fine = list->kind == TG_JSON_LIST && (size_t)list->count == wanted && wanted > 0;
    const tg_json *at = fine ? list->first : NULL;
    for (size_t i = 0; at; i++, at = at->next) {
        c->constant[i] = at->number;
        fine = fine && at->kind == TG_JSON_NUMBER && isfinite(at->number) && (c->targets || at->number > 0);
    }
    return fine;
}

/* In ascending order, for tg_card_number. */
static bool read_letters(tg_card *c, const tg_json *list, const tg_json *utf8)
{
    const tg_json *at = list && list->kind == TG_JSON_LIST ? list->first : NULL;
    const size_t count = at ? (size_t)list->count : 0;
    c->utf8 = utf8 && utf8->kind == TG_JSON_BOOL && utf8->number != 0;
    const double limit = c->utf8 ? 0x110000 : 256, most = c->utf8 ? TG_CARD_MOST_LETTERS : 256;
    if ((double)count > most || !(c->letter = calloc(count + 1, sizeof *c->letter)))
        return false;
    for (c->vocabulary = 0; at; at = at->next) {
        const double least = c->vocabulary ? c->letter[c->vocabulary - 1] + 1 : 0;
        if (at->kind != TG_JSON_NUMBER || !(at->number >= least && at->number < limit) ||
            at->number != floor(at->number))
            return false;
        c->letter[c->vocabulary++] = (int32_t)at->number;
    }
    return true;
}

/* NULL, or the difference between the data and the model that the card describes. */
static const char *disagreement(const tg_card *c)
{
    const tg_model_spec *s = &c->spec;
    const tg_model_traits *model = tg_model_traits_of(s->model);
    const bool images = s->image_width > 0, letters = model->text;
    const bool autoencoder = model->reconstructs || (c->task == TG_CARD_IMAGES && s->outputs == s->inputs);
    if (letters != (c->task == TG_CARD_LETTERS) || autoencoder != (c->task == TG_CARD_IMAGES))
        return "the model does not support the task";
    if (letters)
        return s->vocabulary == c->vocabulary && c->vocabulary > 0
                   ? NULL
                   : "the number of characters differs from the model's";
    if (images && ((int64_t)s->image_width * s->image_height != s->inputs || s->inputs < 1))
        return "the size of the images differs from the model's";
    if (c->inputs != (images ? 0 : (size_t)s->inputs)) /* pixels have no columns */
        return "the number of inputs differs from the model's";
    if (c->task == TG_CARD_CLASSES && (size_t)s->outputs != c->classes)
        return "the number of classes differs from the model's outputs";
    return c->task == TG_CARD_TARGETS && (size_t)s->outputs != c->targets
               ? "the number of targets differs from the model's outputs"
               : NULL;
}

/* Successive inputs with one number come from one column. */
static void join_columns(tg_card *c)
{
    for (size_t first = 0, last; first < c->inputs; first = last) {
        for (last = first + 1; last < c->inputs && c->input[last].number == c->input[first].number;)
            last++;
        c->column[c->columns++] = (tg_card_column){.name = c->input[first].name,
                                                   .first = first,
                                                   .last = last,
                                                   .categorical = c->input[first].category != NULL,
                                                   .may_miss = c->input[last - 1].missing};
    }
}

static bool read_card(tg_card *c, const tg_json *model, const tg_json *data, tg_error *error)
{
    static const char *const tasks[] = {"classes", "targets", "images", "letters"};
    bool fine = true;
    if (model->kind != TG_JSON_OBJECT || data->kind != TG_JSON_OBJECT)
        return refuse(error, "expected an object");
    if (!tg_model_spec_read(&c->spec, model, error))
        return false;
    const tg_json *task = member(data, "task", TG_JSON_TEXT, true, &fine);
    for (c->task = 0; fine && (int)c->task < 4 && strcmp(tasks[c->task], task->text) != 0;)
        c->task++;
    if (!fine || (int)c->task == 4)
        return refuse(error, "the task is unknown");
    const tg_json *lines = tg_json_get(data, "lines"), *scale = tg_json_get(data, "pixel_scale"),
                  *inputs = tg_json_get(data, "inputs"), *classes = tg_json_get(data, "classes"),
                  *constant = tg_json_get(data, "constant");
    c->lines = lines && lines->kind == TG_JSON_BOOL && lines->number != 0;
    c->pixel_scale = scale && scale->kind == TG_JSON_NUMBER && scale->number > 0 ? scale->number : 1;
    const bool read = read_columns(inputs, NEEDS_SCALE | NEEDS_NUMBER, &c->input, &c->inputs),
               named = read_columns(tg_json_get(data, "targets"), NEEDS_SCALE | NEEDS_NAME, &c->target, &c->targets),
               answered = read_columns(tg_json_get(data, "answers"), NEEDS_NUMBER, &c->answer, &c->answers),
               weighted = read_columns(tg_json_get(data, "weights"), NEEDS_NUMBER, &c->weight, &c->weights);
    c->classes = classes && classes->kind == TG_JSON_LIST ? (size_t)classes->count : 0;
    c->class_names = calloc(c->classes + 1, sizeof *c->class_names);
    c->column = calloc(c->inputs + 1, sizeof *c->column);
    c->constant = constant ? calloc(c->classes + c->targets + 1, sizeof *c->constant) : NULL;
    if (!c->input || !c->target || !c->answer || !c->weight || !c->class_names || !c->column ||
        (constant && !c->constant))
        return tg_fail(error, "out of memory");
    if (!read || !inputs || inputs->kind != TG_JSON_LIST)
        return refuse(error, "the description of the inputs is missing or wrong");
    if (!named || !read_classes(c, classes))
        return refuse(error, "the names of classes or targets are missing or wrong");
    if (!answered || (c->answers && c->answers != (c->targets ? c->targets : 1))) /* older files do not name them */
        return refuse(error, "the columns of the class or the targets are wrong");
    if (!weighted || c->weights > 1 || !read_class_weights(c, tg_json_get(data, "class_weights")))
        return refuse(error, "the weights of rows or classes are wrong");
    if (constant && !read_constant(c, constant))
        return refuse(error, "the shares of classes or means of targets are wrong");
    if (!read_letters(c, tg_json_get(data, "letters"), tg_json_get(data, "utf8")))
        return refuse(error, "the characters are missing or wrong");
    join_columns(c);
    const char *problem = disagreement(c);
    return !problem || refuse(error, problem);
}

static char *copy_of(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}

/* Parses a copy of a line, which is kept beside it: values point into it. */
static tg_json *parse_line(const char *text, char **line, char **copy, tg_error *error)
{
    *line = copy_of(text);
    *copy = copy_of(text);
    if (*line && *copy)
        return tg_json_read(*copy, strlen(text), "the metadata is not that of this program: it", error);
    tg_fail(error, "out of memory");
    return NULL;
}

tg_card *tg_card_parse(const char *model_text, const char *data_text, tg_error *error)
{
    if (!model_text || !data_text)
        return tg_fail(error, "tg_card_parse: a line is missing"), NULL;
    tg_card *c = calloc(1, sizeof *c);
    if (!c)
        return tg_fail(error, "out of memory"), NULL;
    tg_json *model = parse_line(model_text, &c->model_text, &c->texts[0], error),
            *data = model ? parse_line(data_text, &c->data_text, &c->texts[1], error) : NULL;
    const bool fine = data && read_card(c, model, data, error);
    free(model);
    free(data);
    if (fine)
        return c;
    tg_card_free(c);
    return NULL;
}

/* The file of a path or of a run's folder, opened. */
static tg_safetensors *open_file(const char *path, char **opened, tg_error *error)
{
    const size_t size = strlen(path) + 24;
    *opened = malloc(size);
    if (!*opened)
        return tg_fail(error, "out of memory"), NULL;
    const bool folder = tg_path_look(path) == TG_PATH_FOLDER;
    snprintf(*opened, size, "%s%s", path, folder ? "/refit.safetensors" : "");
    if (folder && tg_path_look(*opened) == TG_PATH_MISSING)
        snprintf(*opened, size, "%s/best.safetensors", path);
    return tg_safetensors_open(*opened, error);
}

tg_card *tg_card_read(const char *path, tg_error *error)
{
    char *opened = NULL;
    tg_card *c = NULL;
    tg_safetensors *file = path ? open_file(path, &opened, error) : (tg_fail(error, "model file: no path"), NULL);
    const char *model = file ? tg_safetensors_metadata(file, "tapegrad.model") : NULL,
               *data = file ? tg_safetensors_metadata(file, "tapegrad.data") : NULL;
    tg_error problem;
    if (file && (!model || !data))
        tg_fail(error, "%.200s: a model file, but not one of train: 'tapegrad.model' and 'tapegrad.data' are missing",
                opened);
    else if (file && !(c = tg_card_parse(model, data, &problem)))
        tg_fail(error, "%.200s: %s", opened, problem.text);
    tg_safetensors_close(file);
    if (c)
        c->path = opened;
    else
        free(opened);
    return c;
}

void tg_card_free(tg_card *c)
{
    if (!c)
        return;
    free(c->input);
    free(c->answer);
    free(c->weight);
    free(c->class_weight);
    free(c->constant);
    free(c->class_names);
    free(c->letter);
    free(c->target);
    free(c->column);
    free(c->model_text);
    free(c->data_text);
    free(c->texts[0]);
    free(c->texts[1]);
    free(c->path);
    free(c);
}

void tg_card_metadata(const tg_card *c, tg_metadata lines[TG_CARD_LINES])
{
    lines[0] = (tg_metadata){"tapegrad.version", tg_version()};
    lines[1] = (tg_metadata){"tapegrad.model", c ? c->model_text : NULL};
    lines[2] = (tg_metadata){"tapegrad.data", c ? c->data_text : NULL};
    lines[3] = (tg_metadata){"activation", c ? c->spec.activation : NULL};
}

/* ---- rows ---- */

double tg_card_category(const tg_card *c, size_t column, const char *category)
{
    double other = -1;
    if (!c || !category || column >= c->columns)
        return -1;
    const tg_card_column *of = &c->column[column];
    for (size_t i = of->first; i < of->last; i++) {
        if (c->input[i].other)
            other = (double)(i - of->first);
        else if (c->input[i].category && strcmp(c->input[i].category, category) == 0)
            return (double)(i - of->first);
    }
    return other;
}

const char *tg_card_category_name(const tg_card *c, size_t column, double number)
{
    if (!c || column >= c->columns || !(number >= 0 && number < (double)c->inputs))
        return NULL;
    const tg_card_column *of = &c->column[column];
    const size_t i = of->first + (size_t)number;
    return i < of->last && !c->input[i].other ? c->input[i].category : NULL;
}

double tg_card_standardise(tg_card_scale s, double value)
{
    value = s.scale > 0 && !isnan(value) ? (value - s.mean) / s.scale : 0; /* missing values become the mean */
    value = fmax(fmin(value, (double)FLT_MAX), -(double)FLT_MAX);
    return s.limit > 0 ? value / hypot(1, value / s.limit) : value;
}

double tg_card_fill(const tg_card *c, size_t column)
{
    if (!c || column >= c->columns)
        return -1;
    const tg_card_column *of = &c->column[column];
    for (size_t i = of->first; i < of->last; i++)
        if (of->categorical && c->input[i].frequent)
            return (double)(i - of->first);
    return of->categorical ? -1 : c->input[of->first].scale.mean;
}

const char *tg_card_encode(const tg_card *c, size_t column, double value, float *inputs)
{
    if (!c || column >= c->columns)
        return "no such column";
    const tg_card_column *of = &c->column[column];
    const size_t kinds = of->last - of->first - of->may_miss;
    if (isnan(value) && !of->may_miss)
        return "missing, and the model was trained on rows without missing values";
    if (of->categorical && !isnan(value) && value != -1 &&
        !(value >= 0 && value < (double)kinds && value == floor(value)))
        return "no number of a category";
    for (size_t i = of->first; i < of->last; i++) {
        const tg_card_input *input = &c->input[i];
        const double number = input->missing     ? isnan(value)
                              : !of->categorical ? value
                                                 : value == (double)(i - of->first);
        inputs[i] = (float)tg_card_standardise(input->scale, number);
    }
    return NULL;
}

float tg_card_pixel(const tg_card *c, double value)
{
    return c ? (float)(value / c->pixel_scale) : NAN;
}

size_t tg_card_results(const tg_card *c)
{
    if (!c)
        return 0;
    return c->task == TG_CARD_IMAGES ? (size_t)c->spec.inputs : (size_t)c->spec.outputs;
}

void tg_card_decode(const tg_card *c, const float *output, double *result)
{
    const size_t count = tg_card_results(c);
    double sum = 0, largest = count ? output[0] : 0;
    for (size_t i = 1; i < count; i++)
        largest = output[i] > largest ? output[i] : largest;
    for (size_t i = 0; i < count; i++) {
        result[i] = c->task == TG_CARD_CLASSES   ? tg_number_exp((double)output[i] - largest)
                    : c->task == TG_CARD_TARGETS ? output[i] * c->target[i].scale.scale + c->target[i].scale.mean
                                                 : output[i] * c->pixel_scale;
        sum += result[i];
    }
    for (size_t i = 0; i < count && c->task == TG_CARD_CLASSES; i++)
        result[i] *= 1 / sum; /* the most probable one has 1 / sum to the last digit */
}

const char *tg_card_class(const tg_card *c, const double *probability)
{
    size_t best = 0;
    if (!c || c->task != TG_CARD_CLASSES || !probability)
        return NULL;
    for (size_t i = 1; i < c->classes; i++)
        best = probability[i] > probability[best] ? i : best;
    return c->class_names[best];
}
