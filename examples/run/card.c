#include "examples/run/card.h"

#include "examples/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *const tasks[] = {"classes", "targets", "images", "letters", NULL};

static bool refuse(char *message, const char *what)
{
    snprintf(message, NET_MESSAGE, "the metadata is not that of this program: %s", what);
    plain_text(message); /* jansson quotes the text that it does not understand */
    return false;
}

/* ---- writing ---- */

/* jansson refuses NULL, what an allocation that failed has given: a card with a gap would misread its columns. */
static void put(json_t *object, const char *name, json_t *value, bool *fine)
{
    *fine &= json_object_set_new(object, name, value) == 0;
}

static void append(json_t *array, json_t *value, bool *fine)
{
    *fine &= json_array_append_new(array, value) == 0;
}

static json_t *scale_json(double mean, double scale)
{
    return json_pack("{s:f, s:f}", "mean", mean, "scale", scale);
}

static json_t *inputs_json(const dataset *data, bool *fine)
{
    json_t *inputs = json_array();
    for (size_t i = 0; i < data->features && !data->width; i++) {
        const dataset_feature *f = data->feature ? &data->feature[i] : NULL;
        json_t *input = scale_json(data->feature_mean[i], data->feature_scale[i]);
        put(input, "number", json_integer(f ? (json_int_t)f->number : (json_int_t)i), fine);
        if (f && f->column)
            put(input, "column", json_string(f->column), fine);
        if (f && f->category)
            put(input, "category", json_string(f->category), fine);
        if (f && f->missing)
            put(input, "missing", json_true(), fine);
        append(inputs, input, fine);
    }
    return inputs;
}

static json_t *targets_json(const dataset *data, bool *fine)
{
    json_t *targets = json_array();
    for (size_t i = 0; i < data->targets; i++) {
        json_t *target = scale_json(data->target_mean[i], data->target_scale[i]);
        put(target, "name", json_string(data->target_names ? data->target_names[i] : ""), fine);
        append(targets, target, fine);
    }
    return targets;
}

/* The columns of a table that hold the class or the targets. */
static json_t *answers_json(const dataset *data, bool *fine)
{
    json_t *answers = json_array();
    const size_t count = data->target_column ? data->targets ? data->targets : 1 : 0;
    for (size_t i = 0; i < count; i++) {
        const size_t number = data->target_column[i];
        const char *name = number < data->columns ? data->column[number].name : NULL;
        json_t *answer = json_pack("{s:I}", "number", (json_int_t)number);
        if (name)
            put(answer, "column", json_string(name), fine);
        append(answers, answer, fine);
    }
    return answers;
}

/* NULL if out of memory. */
static char *data_text(const run_spec *s, const run_source *from)
{
    const dataset *data = &from->data;
    json_t *object = json_object(), *classes = json_array(), *letters = json_array();
    const card_task task = from->is_text                          ? CARD_LETTERS
                           : source_reconstructs(s)               ? CARD_IMAGES
                           : data->task == DATASET_CLASSIFICATION ? CARD_CLASSES
                                                                  : CARD_TARGETS;
    bool fine = true;
    for (size_t i = 0; i < data->classes; i++)
        append(classes, json_string(data->class_names[i]), &fine);
    for (int i = 0; i < from->letters.vocabulary; i++)
        append(letters, json_integer(from->letters.letter[i]), &fine);
    put(object, "task", json_string(tasks[task]), &fine);
    put(object, "inputs", inputs_json(data, &fine), &fine);
    put(object, "classes", classes, &fine);
    put(object, "targets", targets_json(data, &fine), &fine);
    put(object, "answers", answers_json(data, &fine), &fine);
    put(object, "pixel_scale", json_real(data->width ? data->feature_scale[0] : 1), &fine);
    put(object, "lines", json_boolean(from->letters.lines), &fine);
    put(object, "letters", letters, &fine);
    char *text = fine ? json_dumps(object, JSON_COMPACT) : NULL;
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

static bool read_scale(card_scale *to, const json_t *from)
{
    const json_t *mean = json_object_get(from, "mean"), *scale = json_object_get(from, "scale");
    *to = (card_scale){json_number_value(mean), json_number_value(scale)};
    return json_is_number(mean) && json_is_number(scale) && isfinite(to->mean) && isfinite(to->scale);
}

/* The column of an input or answer. */
static bool read_column(card_input *to, const json_t *from)
{
    const json_t *number = json_object_get(from, "number");
    to->number = (int)json_integer_value(number);
    to->column = json_string_value(json_object_get(from, "column"));
    return json_is_integer(number) && json_integer_value(number) >= 0 && json_integer_value(number) < 1 << 30;
}

/* Older files do not name them. */
static bool read_answers(card *c, const json_t *answers)
{
    c->answers = json_array_size(answers);
    c->answer = calloc(c->answers + 1, sizeof *c->answer);
    bool fine = c->answer && (c->answers == 0 || c->answers == (c->targets ? c->targets : 1));
    for (size_t i = 0; fine && i < c->answers; i++)
        fine = read_column(&c->answer[i], json_array_get(answers, i));
    return fine;
}

static bool read_inputs(card *c, const json_t *inputs)
{
    c->inputs = json_array_size(inputs);
    c->input = calloc(c->inputs + 1, sizeof *c->input);
    bool fine = c->input && json_is_array(inputs);
    for (size_t i = 0; fine && i < c->inputs; i++) {
        const json_t *input = json_array_get(inputs, i);
        fine = read_scale(&c->input[i].scale, input) && read_column(&c->input[i], input);
        c->input[i].category = json_string_value(json_object_get(input, "category"));
        c->input[i].missing = json_is_true(json_object_get(input, "missing"));
    }
    return fine;
}

static bool read_names(card *c, const json_t *classes, const json_t *targets)
{
    c->classes = json_array_size(classes);
    c->targets = json_array_size(targets);
    c->class_names = calloc(c->classes + 1, sizeof *c->class_names);
    c->target_names = calloc(c->targets + 1, sizeof *c->target_names);
    c->target = calloc(c->targets + 1, sizeof *c->target);
    bool fine = c->class_names && c->target_names && c->target;
    for (size_t i = 0; fine && i < c->classes; i++)
        fine = (c->class_names[i] = json_string_value(json_array_get(classes, i)));
    for (size_t i = 0; fine && i < c->targets; i++) {
        const json_t *target = json_array_get(targets, i);
        fine = read_scale(&c->target[i], target) &&
               (c->target_names[i] = json_string_value(json_object_get(target, "name")));
    }
    return fine;
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

/* Whether what the data says and what the model says are about the same. */
static const char *disagreement(const card *c)
{
    const net_spec *s = &c->spec;
    const net_traits *model = net_traits_of(s->model);
    const bool images = s->image_width > 0, letters = model->text;
    const bool autoencoder = model->reconstructs || (c->task == CARD_IMAGES && s->outputs == s->inputs);
    if (letters != (c->task == CARD_LETTERS) || autoencoder != (c->task == CARD_IMAGES))
        return "the task is not one for the model";
    if (letters)
        return s->vocabulary == c->vocabulary && c->vocabulary > 0
                   ? NULL
                   : "there are more letters, or fewer, than the model has";
    if (images && ((int64_t)s->image_width * s->image_height != s->inputs || s->inputs < 1))
        return "the images have another size than the model takes";
    if (!images && (size_t)s->inputs != c->inputs)
        return "there are more inputs, or fewer, than the model takes";
    if (c->task == CARD_CLASSES && (size_t)s->outputs != c->classes)
        return "there are more classes, or fewer, than the model has outputs";
    return c->task == CARD_TARGETS && (size_t)s->outputs != c->targets
               ? "there are more targets, or fewer, than the model has outputs"
               : NULL;
}

/* From c->model_text and c->data_text, which belong to the card. */
static bool parse(card *c, char message[NET_MESSAGE])
{
    json_error_t error;
    json_t *model = json_loads(c->model_text, 0, &error), *data = json_loads(c->data_text, 0, &error);
    c->json = json_pack("{s:o?, s:o?}", "model", model, "data", data);
    if ((!model || !data) && json_error_code(&error) == json_error_out_of_memory)
        return snprintf(message, NET_MESSAGE, "out of memory"), false;
    if (!json_is_object(model) || !json_is_object(data))
        return refuse(message, error.text);
    if (!net_spec_read(&c->spec, model, message))
        return false;
    const char *task = json_string_value(json_object_get(data, "task"));
    int number = 0;
    while (task && tasks[number] && strcmp(tasks[number], task) != 0)
        number++;
    if (!task || !tasks[number])
        return refuse(message, "the task is of no known kind");
    c->task = (card_task)number;
    const json_t *pixel_scale = json_object_get(data, "pixel_scale");
    c->pixel_scale = json_number_value(pixel_scale);
    c->lines = json_is_true(json_object_get(data, "lines"));
    if (!read_inputs(c, json_object_get(data, "inputs")) || !(c->pixel_scale > 0))
        return refuse(message, "what inputs are is missing or wrong");
    if (!read_names(c, json_object_get(data, "classes"), json_object_get(data, "targets")))
        return refuse(message, "the names of classes or targets are missing or wrong");
    if (!read_answers(c, json_object_get(data, "answers")))
        return refuse(message, "the columns of the class or the targets are wrong");
    if (!read_letters(c, json_object_get(data, "letters")))
        return refuse(message, "the letters are missing or wrong");
    const char *problem = disagreement(c);
    return !problem || refuse(message, problem);
}

bool card_of_source(card *c, const run_spec *s, const run_source *from, char message[NET_MESSAGE])
{
    json_t *model = net_spec_json(&s->net);
    *c = (card){.model_text = model ? json_dumps(model, JSON_COMPACT) : NULL, .data_text = data_text(s, from)};
    json_decref(model);
    const bool fine =
        c->model_text && c->data_text ? parse(c, message) : (snprintf(message, NET_MESSAGE, "out of memory"), false);
    if (!fine)
        card_free(c);
    return fine;
}

const char *card_path(const char *path, char file[CARD_PATH])
{
    struct stat status;
    if (!path || stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
        return path;
    snprintf(file, CARD_PATH, "%s/best.safetensors", path);
    return file;
}

bool card_read(card *c, const char *path, char message[NET_MESSAGE])
{
    char problem[TG_FILE_MESSAGE], reason[NET_MESSAGE];
    *c = (card){0};
    tg_safetensors *file = tg_safetensors_open(path, problem);
    if (!file)
        return snprintf(message, NET_MESSAGE, "%.*s", NET_MESSAGE - 1, problem), false;
    const char *model = tg_safetensors_metadata(file, "tapegrad.model"),
               *data = tg_safetensors_metadata(file, "tapegrad.data");
    bool fine = model && data;
    if (!fine)
        snprintf(message, NET_MESSAGE,
                 "%.200s: a model file, but not one of train: 'tapegrad.model' and 'tapegrad.data' are missing", path);
    else {
        c->model_text = strdup(model);
        c->data_text = strdup(data);
        fine = c->model_text && c->data_text && parse(c, reason);
        if (!fine)
            snprintf(message, NET_MESSAGE, "%.200s: %.250s", path,
                     c->model_text && c->data_text ? reason : "out of memory");
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
    free(c->class_names);
    free(c->target_names);
    free(c->target);
    free(c->model_text);
    free(c->data_text);
    json_decref(c->json);
    *c = (card){0};
}
