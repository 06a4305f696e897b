#include "examples/programs/train/inputs.h"

#include "examples/programs/data/csv.h"
#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- tables ---- */

/* Finds the column of an input: by name if both the model and the file have names, else by number. If several columns
 * have this name, in the file or in the model, it is the one with the number that it had in training. */
static bool find_column(const csv_source *source, const card *c, const card_column *input, size_t *column)
{
    const char *path = source->table.path;
    const size_t columns = source->table.columns, number = (size_t)input->number;
    *column = number;
    if (!input->name || !source->first)
        return number < columns ||
               tg_fail(source->error, "%s: the model needs column %zu, counted from 0, and there are %zu", path, number,
                       columns);
    if (number < columns && strcmp(csv_column_name(source, number), input->name) == 0)
        return true;
    size_t matches = 0;
    for (size_t i = 0; i < columns; i++)
        if (strcmp(csv_column_name(source, i), input->name) == 0)
            *column = i, matches++;
    bool twice = matches > 1;
    for (size_t i = 0; i < c->inputs; i++)
        twice |= c->input[i].number != input->number && strcmp(c->input[i].name, input->name) == 0;
    if (twice)
        return tg_fail(source->error,
                       "%s: the name '%.60s' is not unique, and the model's column of that name was column %zu, "
                       "counted from 0, which is another one here",
                       path, input->name, number);
    return matches ||
           tg_fail(source->error, "%s: there is no column '%.60s', which the model needs", path, input->name);
}

static bool is_category(const card_column *input, const char *word, double number)
{
    char text[NUMBER_TEXT];
    return strcmp(input->category, word ? word : number_text(number, text)) == 0;
}

static double standardised(card_scale s, double value)
{
    value = s.scale > 0 && !isnan(value) ? (value - s.mean) / s.scale : 0; /* missing values become the mean */
    return fmax(fmin(value, (double)FLT_MAX), -(double)FLT_MAX);
}

/* Counts a cell that cannot be used, and describes the first. */
static void note(inputs_trouble *trouble, const csv_source *source, size_t row, size_t column, const char *what)
{
    csv_source noting = *source;
    char word[PLAIN_NAME], number[NUMBER_TEXT], problem[PLAIN_NAME + 200];
    noting.error = &trouble->first;
    if (trouble->count++ > 0)
        return;
    const char *cell = csv_word_at(source, row, column);
    snprintf(problem, sizeof problem, "'%s'%s",
             plain_name(cell ? cell : number_text(csv_value(source, row, column), number), word), what);
    csv_fail_at(&noting, row, column, problem);
}

/* Fills inputs first .. last - 1 of the card, which all come from the same column, for all rows. */
static bool read_column(const csv_source *source, const card *c, size_t first, size_t last, bool ignore, inputs *out)
{
    float *x = out->x;
    size_t column;
    if (!find_column(source, c, &c->input[first], &column))
        return false;
    const bool may_miss = c->input[last - 1].missing;
    for (size_t row = 0; row < source->rows; row++) {
        const char *word = csv_word_at(source, row, column);
        const double number = csv_value(source, row, column);
        const bool missing = csv_is_missing(word);
        bool known = missing && may_miss;
        for (size_t i = first; i < last; i++) {
            const card_column *input = &c->input[i];
            const bool is = input->missing ? missing : input->category && !missing && is_category(input, word, number);
            known |= is || (!input->category && !input->missing && !word);
            const double value = input->category || input->missing ? is : number;
            x[row * c->inputs + i] = (float)standardised(input->scale, value);
        }
        if (!known && ignore && c->input[first].category) {
            note(&out->unknown, source, row, column, "");
            known = true;
        }
        if (!known && c->input[first].category && !missing) {
            inputs_trouble trouble = {0};
            note(&trouble, source, row, column,
                 " is a category that the model does not know; --unknown ignore treats it as none of the known ones");
            return tg_fail(source->error, "%s", trouble.first.text);
        }
        if (!known)
            return missing ? csv_fail_at(source, row, column,
                                         "missing, and the model was trained on rows without missing values")
                           : csv_fail_at_word(source, row, column);
    }
    return true;
}

/* The class of a cell; -1 if it is missing, or unknown to the model. */
static int32_t label_of(const csv_source *source, const card *c, size_t row, size_t column, inputs_trouble *trouble)
{
    char number[NUMBER_TEXT];
    const char *word = csv_word_at(source, row, column);
    if (csv_is_missing(word))
        return -1;
    word = word ? word : number_text(csv_value(source, row, column), number);
    for (size_t i = 0; i < c->classes; i++)
        if (strcmp(c->class_names[i], word) == 0)
            return (int32_t)i;
    note(trouble, source, row, column, " is a class that the model does not know");
    return -1;
}

static float target_of(const csv_source *source, const card *c, size_t row, size_t target, size_t column,
                       inputs_trouble *trouble)
{
    const char *word = csv_word_at(source, row, column);
    if (word && !csv_is_missing(word))
        note(trouble, source, row, column, " is no number");
    return word ? NAN : (float)standardised(c->target[target].scale, csv_value(source, row, column));
}

/* Reads the classes or targets, if the file has their columns. */
static bool read_answers(const csv_source *source, const card *c, inputs *out)
{
    csv_source quiet = *source;
    size_t column[CSV_MOST_TARGETS];
    quiet.error = NULL;
    for (size_t i = 0; i < c->answers; i++)
        if (c->answers > CSV_MOST_TARGETS || !find_column(&quiet, c, &c->answer[i], &column[i]))
            return true;
    if (c->answers == 0)
        return true;
    if (c->targets)
        out->y = dataset_array(out->count, c->targets, sizeof *out->y);
    else
        out->labels = dataset_array(out->count, 1, sizeof *out->labels);
    if (!out->y && !out->labels)
        return tg_fail(source->error, "%s: out of memory", source->table.path);
    for (size_t row = 0; row < out->count; row++) {
        if (out->labels)
            out->labels[row] = label_of(source, c, row, column[0], &out->unscored);
        for (size_t i = 0; out->y && i < c->targets; i++)
            out->y[row * c->targets + i] = target_of(source, c, row, i, column[i], &out->unscored);
    }
    return true;
}

void inputs_keep_answered(inputs *rows, const card *c)
{
    const size_t width = (size_t)c->spec.inputs, targets = c->targets;
    size_t kept = 0;
    for (size_t row = 0; row < rows->count; row++) {
        bool answered = c->task == CARD_IMAGES || (rows->labels && rows->labels[row] >= 0) || rows->y;
        for (size_t i = 0; rows->y && i < targets; i++)
            answered &= !isnan(rows->y[row * targets + i]);
        if (!answered)
            continue;
        memmove(rows->x + kept * width, rows->x + row * width, width * sizeof *rows->x);
        if (rows->labels)
            rows->labels[kept] = rows->labels[row];
        for (size_t i = 0; rows->y && i < targets; i++)
            rows->y[kept * targets + i] = rows->y[row * targets + i];
        kept++;
    }
    rows->count = kept;
}

/* Unset options are as in training: a model whose columns have no names was trained on a file without a header. */
static dataset_header header_of(const char *asked, const card *c)
{
    const dataset_header header = (dataset_header)options_position(spec_headers, asked);
    return header == DATASET_HEADER_AUTO && c->inputs > 0 && !c->input[0].name ? DATASET_HEADER_NO : header;
}

static bool load_csv(const char *path, const inputs_options *options, const card *c, inputs *out, tg_error *error)
{
    csv_source source;
    bool fine = csv_read(path, header_of(options->header, c), &source, error);
    if (fine) {
        out->count = source.rows;
        out->x = dataset_array(out->count, c->inputs, sizeof *out->x);
        fine = out->x || tg_fail(error, "%s: out of memory", path);
    }
    for (size_t first = 0, last; fine && first < c->inputs; first = last) {
        for (last = first + 1; last < c->inputs && c->input[last].number == c->input[first].number;)
            last++;
        fine = read_column(&source, c, first, last, options->ignore_unknown, out);
    }
    fine = fine && read_answers(&source, c, out);
    csv_source_free(&source);
    return fine;
}

/* ---- images ---- */

static bool of_size(const char *path, const card *c, size_t height, size_t width, tg_error *error)
{
    return (height == (size_t)c->spec.image_height && width == (size_t)c->spec.image_width) ||
           tg_fail(error, "%s: images of %zux%zu, and the model takes %dx%d", path, height, width, c->spec.image_height,
                   c->spec.image_width);
}

static bool load_folder(const char *spec, const card *c, inputs *out, tg_error *error)
{
    dataset set;
    if (!dataset_load(spec, NULL, &set, error))
        return false;
    bool fine = of_size(spec + 4, c, set.height, set.width, error);
    const size_t count = set.test_rows ? set.test_rows : set.rows, first = set.rows - count;
    if (fine) {
        out->count = count;
        out->x = dataset_array(count, set.features, sizeof *out->x);
        out->labels = dataset_array(count, 1, sizeof *out->labels);
        fine = (out->x && out->labels) || tg_fail(error, "%s: out of memory", spec);
    }
    if (fine) {
        memcpy(out->x, set.x + first * set.features, count * set.features * sizeof *out->x);
        memcpy(out->labels, set.labels + first, count * sizeof *out->labels);
    }
    dataset_free(&set);
    return fine;
}

static bool load_images(const char *path, const card *c, inputs *out, tg_error *error)
{
    size_t sizes[3] = {0};
    out->x = dataset_read_images(path, sizes, error);
    out->count = sizes[0];
    return out->x && of_size(path, c, sizes[1], sizes[2], error);
}

bool inputs_load(const char *spec, const inputs_options *options, const card *c, inputs *out, tg_error *error)
{
    struct stat status;
    *out = (inputs){0};
    const bool csv = strncmp(spec, "csv:", 4) == 0, idx = strncmp(spec, "idx:", 4) == 0,
               images = c->spec.image_width > 0;
    bool fine;
    if (!csv && !idx)
        fine = tg_fail(error, "--data '%.100s': expected csv:FILE or idx:PATH", spec);
    else if (csv == images)
        fine =
            tg_fail(error, "--data '%.100s': the model takes %s", spec, images ? "images, idx:PATH" : "rows, csv:FILE");
    else if (csv)
        fine = load_csv(spec + 4, options, c, out, error);
    else
        fine = stat(spec + 4, &status) == 0 && S_ISDIR(status.st_mode) ? load_folder(spec, c, out, error)
                                                                       : load_images(spec + 4, c, out, error);
    if (!fine)
        inputs_free(out);
    return fine;
}

void inputs_free(inputs *rows)
{
    free(rows->x);
    free(rows->labels);
    free(rows->y);
    *rows = (inputs){0};
}
