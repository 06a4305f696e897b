#include "examples/programs/data/advice.h"
#include "examples/programs/train/inputs.h"

#include "examples/programs/data/csv.h"
#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

/* ---- tables ---- */

/* Finds the column of an input: by name if both the model and the file have names, else by number. If several columns
 * have this name, in the file or in the model, it is the one with the number that it had in training. */
static bool find_column(const csv_source *source, const tg_card *c, const tg_card_input *input, size_t *column)
{
    const char *path = source->table.path;
    const size_t columns = source->table.columns, number = (size_t)input->number;
    *column = number;
    if (!input->name || !source->names)
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

typedef struct reading {
    const csv_source *source;
    const tg_card *c;
    size_t *from; /* [columns of the card]: the column of the file */
    size_t *of;   /* [columns of the file]: the column of the card */
    const inputs_options *options;
    inputs *out;
} reading;

static bool encode(const reading *r, size_t row, size_t column, double value)
{
    const char *wrong = tg_card_encode(r->c, column, value, r->out->x + row * r->c->inputs);
    return !wrong || csv_fail_at(r->source, row, r->from[column], wrong);
}

/* A missing value: the model's input for it, if training had some, else what may stand for it. */
static bool fill_gap(const reading *r, size_t row, size_t column)
{
    if (r->c->column[column].may_miss)
        return encode(r, row, column, NAN);
    if (r->options->strict)
        return csv_fail_at(r->source, row, r->from[column],
                           "missing, and the model was trained on rows without missing values; " ADVICE_STRICT);
    r->out->filled[column]++;
    return encode(r, row, column, tg_card_fill(r->c, column));
}

static bool fill_number(const reading *r, size_t column, size_t row)
{
    const size_t at = r->from[column];
    const bool missing = csv_is_missing_at(r->source, row, at);
    if (!missing && csv_kind_at(r->source, row, at) != CSV_NUMBER)
        return csv_fail_at_word(r->source, row, at, NULL);
    return missing ? fill_gap(r, row, column) : encode(r, row, column, csv_value(r->source, row, at));
}

/* The category of a cell as a number. Numbers are compared as texts, then as numbers. */
static double category_of(const reading *r, size_t column, size_t row, const char *text)
{
    char number[NUMBER_TEXT];
    const size_t at = r->from[column];
    const double found = tg_card_category(r->c, column, text);
    if (tg_card_category_name(r->c, column, found) || csv_kind_at(r->source, row, at) != CSV_NUMBER)
        return found;
    return tg_card_category(r->c, column, number_text(csv_value(r->source, row, at), number));
}

/* Fills the inputs of a column of categories. */
static bool fill_category(void *context, size_t row, size_t at, const char *text, size_t length)
{
    const reading *r = context;
    const size_t column = r->of[at];
    const csv_kind kind = csv_kind_at(r->source, row, at);
    const bool may_miss = r->c->column[column].may_miss;
    (void)length;
    const double found = kind == CSV_MISSING ? -1 : category_of(r, column, row, text);
    if (found >= 0)
        return encode(r, row, column, found);
    if (kind == CSV_MISSING || (kind == CSV_MAYBE_MISSING && may_miss))
        return fill_gap(r, row, column);
    if (r->options->ignore_unknown) {
        note(&r->out->unknown, r->source, row, at, "");
        return encode(r, row, column, -1);
    }
    inputs_trouble trouble = {0};
    note(&trouble, r->source, row, at, " is a category that the model does not know; " ADVICE_UNKNOWN);
    return tg_fail(r->source->error, "%s", trouble.first.text);
}

static bool read_columns(reading *r, bool *flags)
{
    const csv_source *source = r->source;
    const tg_card *c = r->c;
    for (size_t i = 0; i < c->columns; i++) {
        if (!find_column(source, c, &c->input[c->column[i].first], &r->from[i]))
            return false;
        r->of[r->from[i]] = i;
        flags[r->from[i]] = c->column[i].categorical;
    }
    for (size_t row = 0; row < source->rows; row++)
        for (size_t i = 0; i < c->columns; i++)
            if (!c->column[i].categorical && !fill_number(r, i, row))
                return false;
    return csv_each_text(source, flags, fill_category, r);
}

static bool read_inputs(const csv_source *source, const tg_card *c, const inputs_options *options, inputs *out)
{
    const size_t columns = source->table.columns;
    reading r = {source,  c,  dataset_array(c->columns, 1, sizeof *r.from), dataset_array(columns, 1, sizeof *r.of),
                 options, out};
    bool *flags = dataset_array(columns, 1, sizeof *flags);
    out->columns = c->columns;
    out->filled = dataset_array(c->columns, 1, sizeof *out->filled);
    const bool fine = r.of && r.from && flags && out->filled
                          ? read_columns(&r, flags)
                          : tg_fail(source->error, "%s: out of memory", source->table.path);
    free(r.of);
    free(r.from);
    free(flags);
    return fine;
}

/* The class of a cell; -1 if it is missing, or unknown to the model. */
static int32_t label_of(const csv_source *source, const tg_card *c, size_t row, size_t column, inputs_trouble *trouble)
{
    char number[NUMBER_TEXT];
    const csv_kind kind = csv_kind_at(source, row, column);
    if (kind == CSV_MISSING)
        return -1;
    const char *word = csv_text(source, row, column);
    for (int pass = 0; pass < 2; pass++) { /* numbers are compared as texts, then as numbers */
        for (size_t i = 0; i < c->classes; i++)
            if (strcmp(c->class_names[i], word) == 0)
                return (int32_t)i;
        if (kind != CSV_NUMBER)
            break;
        word = number_text(csv_value(source, row, column), number);
    }
    if (kind == CSV_MAYBE_MISSING)
        return -1;
    note(trouble, source, row, column, " is a class that the model does not know");
    return -1;
}

static float target_of(const csv_source *source, const tg_card *c, size_t row, size_t target, size_t column,
                       inputs_trouble *trouble)
{
    const bool number = csv_kind_at(source, row, column) == CSV_NUMBER;
    if (!number && !csv_is_missing_at(source, row, column))
        note(trouble, source, row, column, " is no number");
    return !number ? NAN : (float)tg_card_standardise(c->target[target].scale, csv_value(source, row, column));
}

static bool read_weights(const csv_source *source, size_t column, inputs *out)
{
    out->weight = dataset_array(out->count, 1, sizeof *out->weight);
    for (size_t row = 0; out->weight && row < out->count; row++) {
        const double value = csv_value(source, row, column); /* NaN: a word */
        if (!(value >= 0) && !csv_is_missing_at(source, row, column))
            note(&out->unscored, source, row, column, " is no weight");
        out->weight[row] = value >= 0 ? (float)value : NAN;
    }
    return out->weight || tg_fail(source->error, "%s: out of memory", source->table.path);
}

/* Reads the classes or targets and the weights, if the file has their columns. */
static bool read_answers(const csv_source *source, const tg_card *c, inputs *out)
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
    return !c->weights || !find_column(&quiet, c, &c->weight[0], &column[0]) || read_weights(source, column[0], out);
}

void inputs_keep_answered(inputs *rows, const tg_card *c)
{
    const size_t width = (size_t)c->spec.inputs, targets = c->targets;
    size_t kept = 0;
    for (size_t row = 0; row < rows->count; row++) {
        bool answered = c->task == TG_CARD_IMAGES || (rows->labels && rows->labels[row] >= 0) || rows->y;
        answered &= !rows->weight || !isnan(rows->weight[row]);
        for (size_t i = 0; rows->y && i < targets; i++)
            answered &= !isnan(rows->y[row * targets + i]);
        if (!answered)
            continue;
        memmove(rows->x + kept * width, rows->x + row * width, width * sizeof *rows->x);
        if (rows->labels)
            rows->labels[kept] = rows->labels[row];
        if (rows->weight)
            rows->weight[kept] = rows->weight[row];
        for (size_t i = 0; rows->y && i < targets; i++)
            rows->y[kept * targets + i] = rows->y[row * targets + i];
        kept++;
    }
    rows->count = kept;
}

/* Unset options are as in training: a model whose columns have no names was trained on a file without a header. */
static dataset_header header_of(const char *asked, const tg_card *c)
{
    const dataset_header header = (dataset_header)options_position(spec_headers, asked);
    return header == DATASET_HEADER_AUTO && c->inputs > 0 && !c->input[0].name ? DATASET_HEADER_NO : header;
}

static bool load_csv(const char *path, const inputs_options *options, const tg_card *c, inputs *out, tg_error *error)
{
    csv_source source;
    bool fine = csv_read(path, header_of(options->header, c), &source, error);
    if (fine) {
        out->count = source.rows;
        out->x = dataset_array(out->count, c->inputs, sizeof *out->x);
        fine = out->x || tg_fail(error, "%s: out of memory", path);
    }
    fine = fine && read_inputs(&source, c, options, out);
    fine = fine && read_answers(&source, c, out);
    csv_source_free(&source);
    return fine;
}

/* ---- images ---- */

static bool of_size(const char *path, const tg_card *c, size_t height, size_t width, tg_error *error)
{
    return (height == (size_t)c->spec.image_height && width == (size_t)c->spec.image_width) ||
           tg_fail(error, "%s: images of %zux%zu, and the model takes %dx%d", path, height, width, c->spec.image_height,
                   c->spec.image_width);
}

static bool load_folder(const char *spec, const tg_card *c, inputs *out, tg_error *error)
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

static bool load_images(const char *path, const tg_card *c, inputs *out, tg_error *error)
{
    size_t sizes[3] = {0};
    out->x = dataset_read_images(path, sizes, error);
    out->count = sizes[0];
    return out->x && of_size(path, c, sizes[1], sizes[2], error);
}

bool inputs_load(const char *spec, const inputs_options *options, const tg_card *c, inputs *out, tg_error *error)
{
    struct stat status;
    *out = (inputs){0};
    const bool csv = strncmp(spec, "csv:", 4) == 0, idx = strncmp(spec, "idx:", 4) == 0,
               images = c->spec.image_width > 0;
    bool fine;
    if (!csv && !idx)
        fine = strchr(spec, ':')
                   ? tg_fail(error, "--data '%.100s': expected csv:FILE or idx:PATH", spec)
                   : tg_fail(error, "there is no file '%.200s'; csv:FILE is a table, idx:PATH images", spec);
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
    free(rows->weight);
    free(rows->filled);
    *rows = (inputs){0};
}
