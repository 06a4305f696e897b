#include "examples/train/inputs.h"

#include "examples/data/csv_columns.h"
#include "examples/data/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- tables ---- */

/* The column of an input: by its name, where both the model and the file have names, else by its number. Of several
 * columns with this name, in the file or among the model's, it is the one at the number that it had in training. */
static bool find_column(const csv_source *source, const card *c, const card_input *input, size_t *column)
{
    const char *path = source->table.path;
    const size_t columns = source->table.columns, number = (size_t)input->number;
    *column = number;
    if (!input->column || !source->first)
        return number < columns ||
               dataset_fail(source->error, "%s: the model wants a column %zu, counted from 0, and there are %zu", path,
                            number, columns);
    if (number < columns && strcmp(csv_column_name(source, number), input->column) == 0)
        return true;
    size_t matches = 0;
    for (size_t i = 0; i < columns; i++)
        if (strcmp(csv_column_name(source, i), input->column) == 0)
            *column = i, matches++;
    bool twice = matches > 1;
    for (size_t i = 0; i < c->inputs; i++)
        twice |= c->input[i].number != input->number && strcmp(c->input[i].column, input->column) == 0;
    if (twice)
        return dataset_fail(source->error,
                            "%s: the name '%.60s' is not unique, and the model's column of that name was column %zu, "
                            "counted from 0, which is another one here",
                            path, input->column, number);
    return matches ||
           dataset_fail(source->error, "%s: there is no column '%.60s', which the model wants", path, input->column);
}

static bool is_category(const card_input *input, const char *word, double number)
{
    char text[NUMBER_TEXT];
    return strcmp(input->category, word ? word : number_text(number, text)) == 0;
}

static double standardised(card_scale s, double value)
{
    value = s.scale > 0 && !isnan(value) ? (value - s.mean) / s.scale : 0; /* what is missing is at the mean */
    return fmax(fmin(value, (double)FLT_MAX), -(double)FLT_MAX);
}

/* Inputs first .. last - 1 of the card are of one column. Fills them for all rows. */
static bool read_column(const csv_source *source, const card *c, size_t first, size_t last, float *x)
{
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
            const card_input *input = &c->input[i];
            const bool is = input->missing ? missing : input->category && !missing && is_category(input, word, number);
            known |= is || (!input->category && !input->missing && !word);
            const double value = input->category || input->missing ? is : number;
            x[row * c->inputs + i] = (float)standardised(input->scale, value);
        }
        if (!known)
            return c->input[first].category
                       ? csv_fail_at(source, row, column, "a category that the model does not know")
                   : missing
                       ? csv_fail_at(source, row, column, "no value, and the model was trained on rows that have one")
                       : csv_fail_at_word(source, row, column);
    }
    return true;
}

/* What was not asked for is as in training: a model whose columns have no names was trained on a file without a header.
 */
static dataset_header header_of(const char *asked, const card *c)
{
    const dataset_header header = (dataset_header)options_position(spec_headers, asked);
    return header == DATASET_HEADER_AUTO && c->inputs > 0 && !c->input[0].column ? DATASET_HEADER_NO : header;
}

static bool load_csv(const char *path, const char *header, const card *c, inputs *out, const dataset_error *error)
{
    csv_source source = {.table.path = path, .error = error};
    bool fine = csv_table_read(path, &source.table, error) && csv_find_header(&source, header_of(header, c));
    if (fine) {
        out->count = source.rows;
        out->x = dataset_array(out->count, c->inputs, sizeof *out->x);
        fine = out->x || dataset_fail(error, "%s: out of memory", path);
    }
    for (size_t first = 0, last; fine && first < c->inputs; first = last) {
        for (last = first + 1; last < c->inputs && c->input[last].number == c->input[first].number;)
            last++;
        fine = read_column(&source, c, first, last, out->x);
    }
    csv_source_free(&source);
    return fine;
}

/* ---- images ---- */

static bool of_size(const char *path, const card *c, size_t height, size_t width, const dataset_error *error)
{
    return (height == (size_t)c->spec.image_height && width == (size_t)c->spec.image_width) ||
           dataset_fail(error, "%s: images of %zux%zu, and the model takes %dx%d", path, height, width,
                        c->spec.image_height, c->spec.image_width);
}

static bool load_folder(const char *spec, const card *c, inputs *out, char message[NET_MESSAGE])
{
    const dataset_error error = {message, NET_MESSAGE};
    dataset set;
    if (!dataset_load(spec, NULL, &set, message, NET_MESSAGE))
        return false;
    bool fine = of_size(spec + 4, c, set.height, set.width, &error);
    const size_t count = set.test_rows ? set.test_rows : set.rows, first = set.rows - count;
    if (fine) {
        out->count = count;
        out->x = dataset_array(count, set.features, sizeof *out->x);
        out->labels = dataset_array(count, 1, sizeof *out->labels);
        fine = (out->x && out->labels) || dataset_fail(&error, "%s: out of memory", spec);
    }
    if (fine) {
        memcpy(out->x, set.x + first * set.features, count * set.features * sizeof *out->x);
        memcpy(out->labels, set.labels + first, count * sizeof *out->labels);
    }
    dataset_free(&set);
    return fine;
}

static size_t big_endian(const unsigned char *bytes)
{
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}

static bool load_images(const char *path, const card *c, inputs *out, const dataset_error *error)
{
    dataset_bytes file = {0};
    if (!dataset_read_file(path, &file, error))
        return false;
    const size_t pixels = (size_t)c->spec.inputs;
    bool fine = (file.size >= 16 && big_endian(file.bytes) == 0x803) ||
                dataset_fail(error, "%s: not an IDX file of images (unsigned bytes, 3 dimensions)", path);
    fine = fine && of_size(path, c, big_endian(file.bytes + 8), big_endian(file.bytes + 12), error);
    if (fine) {
        out->count = big_endian(file.bytes + 4);
        fine = out->count <= file.size && file.size == 16 + out->count * pixels;
        if (!fine)
            dataset_fail(error, "%s: %zu bytes, expected %zu for %zu images", path, file.size, 16 + out->count * pixels,
                         out->count);
    }
    if (fine) {
        out->x = dataset_array(out->count, pixels, sizeof *out->x);
        fine = out->x || dataset_fail(error, "%s: out of memory", path);
    }
    for (size_t i = 0; fine && i < out->count * pixels; i++)
        out->x[i] = (float)(file.bytes[16 + i] / c->pixel_scale);
    free(file.bytes);
    return fine;
}

bool inputs_load(const char *spec, const char *header, const card *c, inputs *out, char message[NET_MESSAGE])
{
    const dataset_error error = {message, NET_MESSAGE};
    struct stat status;
    *out = (inputs){0};
    const bool csv = strncmp(spec, "csv:", 4) == 0, idx = strncmp(spec, "idx:", 4) == 0,
               images = c->spec.image_width > 0;
    bool fine;
    if (!csv && !idx)
        fine = dataset_fail(&error, "--data '%.100s': expected csv:FILE or idx:PATH", spec);
    else if (csv == images)
        fine = dataset_fail(&error, "--data '%.100s': the model takes %s", spec,
                            images ? "images, idx:PATH" : "rows, csv:FILE");
    else if (csv)
        fine = load_csv(spec + 4, header, c, out, &error);
    else
        fine = stat(spec + 4, &status) == 0 && S_ISDIR(status.st_mode) ? load_folder(spec, c, out, message)
                                                                       : load_images(spec + 4, c, out, &error);
    if (!fine)
        inputs_free(out);
    return fine;
}

void inputs_free(inputs *rows)
{
    free(rows->x);
    free(rows->labels);
    *rows = (inputs){0};
}
