#include "examples/programs/data/advice.h"
#include "examples/programs/run/source.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

#include <zlib.h>

/* ---- weights of classes ---- */

static bool open_class_weights(const char *how, run_source *from, tg_error *error)
{
    const size_t classes = from->data.classes;
    const bool balanced = strcmp(how, "balanced") == 0;
    from->class_weight = calloc(classes, sizeof *from->class_weight);
    from->class_given = balanced ? NULL : calloc(classes, sizeof *from->class_given);
    if (!from->class_weight || (!balanced && !from->class_given))
        return tg_fail(error, "out of memory");
    tg_error wrong;
    return balanced || dataset_read_class_weights(how, &from->data, from->class_given, &wrong) ||
           tg_fail(error, "--class-weights: expected balanced or a file: %s", wrong.text);
}

void source_scale_as(const tg_card *model, run_source *from)
{
    dataset *data = &from->data;
    if (!data->cells || model->inputs != data->features || model->targets != data->targets)
        return;
    for (size_t i = 0; i < data->features; i++) {
        const tg_card_scale *scale = &model->input[i].scale;
        if (scale->scale == 0)
            continue;
        data->feature_mean[i] = scale->mean;
        data->feature_scale[i] = scale->scale;
        data->feature_limit[i] = scale->limit;
    }
    for (size_t i = 0; i < data->targets; i++) {
        data->target_mean[i] = model->target[i].scale.mean;
        data->target_scale[i] = model->target[i].scale.scale;
    }
    dataset_scale(data);
}

double source_weight_scale(const run_source *from, const dataset_part *part)
{
    const dataset *data = &from->data;
    double sum = 0;
    if (from->letters.pairs)
        return (double)from->train.count / (double)pairs_characters(&from->letters.train);
    for (size_t i = 0; data->weight && i < part->rows; i++)
        sum += data->weight[part->row[i]];
    return data->weight ? (double)part->rows / sum : 1;
}

double source_class_scale(const run_source *from, const dataset_part *part)
{
    const dataset *data = &from->data;
    double sum = 0, weighted = 0;
    for (size_t i = 0; from->class_weight && i < part->rows; i++) {
        const size_t row = (size_t)part->row[i];
        const double weight = data->weight ? data->weight[row] : 1;
        sum += weight;
        weighted += weight * (double)from->class_weight[data->labels[row]];
    }
    return weighted > 0 ? sum / weighted : 1;
}

bool source_weighs(const run_source *from, const dataset_part *part)
{
    const dataset *data = &from->data;
    bool any = false;
    for (size_t k = 0; k < part->rows && !any; k++) {
        const size_t row = (size_t)part->row[k];
        any = (!from->class_weight || from->class_weight[data->labels[row]] > 0) &&
              (!data->weight || data->weight[row] > 0);
    }
    return any;
}

/* False if a split has rows, but none that weighs anything in the loss. */
static bool check_classes(const run_source *from, tg_error *error)
{
    const dataset_part *part[] = {&from->data.train, &from->data.validation, &from->data.test};
    static const char *const name[] = {"training", "validation", "test"};
    for (int i = 0; i < 3; i++)
        if (part[i]->rows && !source_weighs(from, part[i]))
            return tg_fail(error, "--class-weights: all classes that have %s rows weigh 0", name[i]);
    return true;
}

/* Balanced, the training rows of each class that has any weigh the same together; a class without any weighs 1. */
static bool weigh_classes(run_source *from, tg_error *error)
{
    const dataset *data = &from->data;
    double *sum = from->class_weight ? calloc(data->classes, sizeof *sum) : NULL, all = 0, weighted = 0, present = 0;
    if (!from->class_weight)
        return true;
    for (size_t i = 0; sum && i < data->train.rows; i++) {
        const size_t row = (size_t)data->train.row[i];
        sum[data->labels[row]] += data->weight ? data->weight[row] : 1;
    }
    for (size_t i = 0; sum && i < data->classes; i++) {
        all += sum[i];
        present += sum[i] > 0;
        weighted += sum[i] * (from->class_given ? from->class_given[i] : 1);
    }
    for (size_t i = 0; sum && i < data->classes; i++)
        from->class_weight[i] = (float)(from->class_given ? from->class_given[i] * all / weighted
                                        : sum[i] > 0      ? all / (present * sum[i])
                                                          : 1);
    free(sum);
    return sum ? check_classes(from, error) : tg_fail(error, "out of memory");
}

/* ---- tables and images ---- */

static bool open_rows(run_spec *s, run_source *from, tg_error *error)
{
    const dataset_options options = {.seed = 1, /* --seed draws splits, weights and orders, not the data */
                                     .rows = (size_t)s->rows,
                                     .noise = s->noise,
                                     .target = s->target && strcmp(s->target, "-1") == 0 ? NULL : s->target,
                                     .task = (dataset_task)options_position(spec_tasks, s->task),
                                     .header = (dataset_header)options_position(spec_headers, s->header),
                                     .ignore = s->ignore,
                                     .categorical = s->categorical,
                                     .weights = s->weights,
                                     .groups = s->groups,
                                     .drop_duplicates = s->drop_duplicates,
                                     .missing = (dataset_missing)options_position(spec_missings, s->missing)};
    return dataset_load(s->data, &options, &from->data, error) && source_complete(s, from, error) &&
           (!s->class_weights || !from->data.labels || open_class_weights(s->class_weights, from, error));
}

#define NEEDS_PAIRS "--model %s reads pairs of lines, a source, a tab and a target: pairs:FILE"

/* The characters of a source or target from which on their number must be asked for. */
enum { LONGEST_PAIR = 4096 };

static bool complete_text(run_spec *s, const text_source *letters, tg_error *error)
{
    net_spec *spec = &s->net;
    spec->model = spec->model ? spec->model : letters->pairs ? "seq2seq" : letters->lines ? "charmlp" : "gpt";
    const tg_model_traits *traits = tg_model_traits_of(spec->model);
    if (!traits->text)
        return tg_fail(error, "--model %s does not read characters; gpt, charmlp, rnn, gru and lstm do", spec->model);
    if (traits->pairs != letters->pairs)
        return tg_fail(error, traits->pairs ? NEEDS_PAIRS : "--model %s reads one text; pairs:FILE is for seq2seq",
                       spec->model);
    if (letters->pairs && !spec->context && letters->longest >= LONGEST_PAIR)
        return tg_fail(
            error,
            "%s:%lld: a source or target of %lld %ss, and a model takes memory with the square of that: leave "
            "the line out, or ask for it with --context %lld",
            letters->name, (long long)letters->longest_line, (long long)letters->longest, letters->unit,
            (long long)letters->longest + 1);
    spec->longest = letters->pairs ? (int)letters->longest + 1 : 0; /* with the newline */
    spec->last = letters->lines && tg_model_traits_of(spec->model)->lines;
    spec->vocabulary = letters->vocabulary;
    spec->inputs = spec->outputs = spec->image_height = spec->image_width = 0;
    return true;
}

bool source_complete(run_spec *s, const run_source *from, tg_error *error)
{
    const dataset *data = &from->data;
    net_spec *spec = &s->net;
    if (from->is_text)
        return complete_text(s, &from->letters, error);
    spec->model = spec->model ? spec->model : data->width ? run_spec_image_model(s) : "mlp";
    if (tg_model_traits_of(spec->model)->text)
        return tg_fail(error,
                       tg_model_traits_of(spec->model)->pairs ? NEEDS_PAIRS
                                                              : "--model %s reads characters; " ADVICE_TEXT_DATA,
                       spec->model);
    if (tg_model_traits_of(spec->model)->images && !data->width)
        return tg_fail(error, "--model %s needs images: idx:DIR or glyphs", spec->model);
    spec->inputs = (int)data->features;
    spec->outputs = (int)(s->reconstructs                        ? data->features
                          : data->task == DATASET_CLASSIFICATION ? data->classes
                                                                 : data->targets);
    spec->regression = !s->reconstructs && data->task != DATASET_CLASSIFICATION;
    spec->image_height = (int)data->height;
    spec->image_width = (int)data->width;
    spec->vocabulary = 0;
    spec->last = false;
    return true;
}

static bool split_rows(run_spec *s, run_source *from, tg_error *error)
{
    dataset *data = &from->data;
    const dataset_parts parts = {.seed = s->split[0] == 'f' ? 0 : (uint64_t)s->seed,
                                 .validation = s->validation,
                                 .test = s->test,
                                 .folds = s->folds,
                                 .fold = s->folds ? s->fold - 1 : 0};
    if (!dataset_split(data, &parts, error))
        return false;
    const dataset_part *which[] = {&data->train, &data->validation, &data->test};
    tg_fit_rows *to[] = {&from->train, &from->valid, &from->test};
    for (int i = 0; i < 3; i++) {
        from->parts[i] = (dataset_feed){data, which[i], source_reconstructs(s)};
        *to[i] = dataset_feed_rows(&from->parts[i]);
    }
    return weigh_classes(from, error);
}

/* ---- text ---- */

static bool open_text(run_spec *s, run_source *from, tg_error *error)
{
    return text_load(s->data, &from->letters, error) && source_complete(s, from, error);
}

/* The fraction of a text that an option holds out. */
static bool read_fraction(const char *option, const char *value, double *fraction, tg_error *error)
{
    char *end = NULL;
    const bool none = value && strcmp(option, "test") == 0 && strcmp(value, "none") == 0;
    if (none)
        *fraction = 0;
    if (!value || none)
        return true;
    *fraction = strtod(value, &end);
    return (!*end && *fraction > 0 && *fraction < 1) ||
           tg_fail(error, "--%s '%.60s': expected a fraction between 0 and 1 for a text", option, value);
}

static bool split_text(run_spec *s, run_source *from, tg_error *error)
{
    double validation = 0.1, test = from->letters.pairs ? 0.1 : 0;
    if (!read_fraction("validation", s->validation, &validation, error) ||
        !read_fraction("test", s->test, &test, error))
        return false;
    net_spec complete = s->net; /* the context is wanted below */
    tg_model_spec_complete(&complete);
    return text_split(&from->letters, validation, test, (uint64_t)s->seed, error) &&
           text_rows(&from->letters, &complete, s->epoch_windows, &from->train, &from->valid, &from->test, error);
}

/* ---- either ---- */

const char *source_named(const char *data, bool images)
{
    char text[PATH_MAX + 8];
    struct stat status;
    if (dataset_is_kind(data) || text_is_named(data) || stat(data, &status) != 0)
        return data;
    snprintf(text, sizeof text, "%s:%s", images || S_ISDIR(status.st_mode) ? "idx" : "csv", data);
    return net_keep_text(text);
}

const char *source_path(const char *data)
{
    const char *colon = strchr(data, ':');
    return colon ? colon + 1 : NULL;
}

bool source_open(run_spec *s, run_source *from, tg_error *error)
{
    const char *given = s->data, *ending = strrchr(given, '.');
    s->data = source_named(given, false);
    *from = (run_source){.is_text = text_is_named(s->data)};
    const bool fine = from->is_text ? open_text(s, from, error) : open_rows(s, from, error);
    if (!fine && s->data != given && ending && strcasecmp(ending, ".txt") == 0)
        tg_fail(error, "%s; " ADVICE_AS_TEXT, error->text, given);
    if (!fine)
        source_free(from);
    return fine;
}

bool source_split(run_spec *s, run_source *from, tg_error *error)
{
    return from->is_text ? split_text(s, from, error) : split_rows(s, from, error);
}

bool source_reconstructs(const run_spec *s)
{
    return s->reconstructs || tg_model_traits_of(s->net.model)->reconstructs;
}

bool source_classifies(const run_spec *s, const run_source *from)
{
    return from->is_text || (from->data.task == DATASET_CLASSIFICATION && !source_reconstructs(s));
}

runlog_about source_about(const run_spec *s, const run_source *from)
{
    const dataset *data = &from->data;
    const bool pairs = from->is_text && from->letters.pairs, classes = !from->is_text && source_classifies(s, from);
    return (runlog_about){
        .of = pairs                    ? RUNLOG_PAIRS
              : from->is_text          ? RUNLOG_TEXT
              : source_reconstructs(s) ? RUNLOG_COPIES
                                       : RUNLOG_ROWS_OF_TABLE,
        .measured = {[RUNLOG_TRAIN] = pairs || !from->is_text,
                     [RUNLOG_VALIDATION] = from->valid.count > 0,
                     [RUNLOG_TEST] = from->test.count > 0},
        .targets = data->task == DATASET_CLASSIFICATION ? 0 : data->targets,
        .compared = {.class_names = classes ? data->class_names : NULL, .classes = classes ? data->classes : 0}};
}

static unsigned long add_bytes(unsigned long sum, const void *bytes, size_t left)
{
    for (const unsigned char *at = bytes; at && left > 0;) {
        const size_t some = left < (1u << 30) ? left : 1u << 30;
        sum = crc32(sum, at, (unsigned)some);
        at += some;
        left -= some;
    }
    return sum;
}

source_sums source_checksums(const run_source *from)
{
    const dataset *data = &from->data;
    const unsigned long none = crc32(0, NULL, 0);
    source_sums sums = {none, none};
    if (from->is_text)
        sums.all = add_bytes(none, from->letters.read, (size_t)from->letters.size * sizeof *from->letters.read);
    else
        sums.all = add_bytes(none, data->cells ? (const void *)data->cells : data->x,
                             data->cells ? data->rows * data->columns * sizeof *data->cells
                                         : data->rows * data->features * sizeof *data->x);
    for (size_t column = 0; data->cells && column < data->columns; column++)
        for (size_t row = 0; dataset_is_used(&data->column[column]) && row < data->rows; row++)
            sums.rows = add_bytes(sums.rows, &data->cells[row * data->columns + column], sizeof *data->cells);
    if (!data->cells && data->labels)
        sums.all = add_bytes(sums.all, data->labels, data->rows * sizeof *data->labels);
    sums.rows = data->cells ? sums.rows : sums.all;
    if (from->class_given)
        sums.all = add_bytes(sums.all, from->class_given, data->classes * sizeof *from->class_given);
    return sums;
}

void source_put_checksums(const source_sums *sums, json_t *config)
{
    json_object_set_new(config, "checksum", json_integer((json_int_t)sums->all));
    json_object_set_new(config, "checksum_rows", json_integer((json_int_t)sums->rows));
}

void source_free(run_source *from)
{
    text_free(&from->letters);
    dataset_free(&from->data);
    free(from->class_given);
    free(from->class_weight);
    from->class_given = NULL;
    from->class_weight = NULL;
}

/* ---- in words ---- */

static void describe_classes(const dataset *data, FILE *out)
{
    enum { MOST = 12 };
    fprintf(out, "classification into %zu class%s", data->classes, data->classes == 1 ? "" : "es");
    for (size_t i = 0; i < data->classes && data->classes <= MOST; i++)
        fprintf(out, "%s%s%s", i ? ", " : " (", plain_name(data->class_names[i], (char[PLAIN_NAME]){0}),
                i + 1 == data->classes ? ")" : "");
}

static void describe_targets(const dataset *data, FILE *out)
{
    fprintf(out, "regression of %zu target%s", data->targets, plural((long long)data->targets));
    for (size_t i = 0; data->target_names && *data->target_names[0] && i < data->targets; i++)
        fprintf(out, "%s%s", i ? ", " : ": ", plain_name(data->target_names[i], (char[PLAIN_NAME]){0}));
}

static void describe_columns(const run_spec *s, const dataset *data, FILE *out)
{
    if (data->categorical)
        fprintf(out, ", %zu categorical column%s one-hot", data->categorical, plural((long long)data->categorical));
    if (data->marks)
        fprintf(out, ", %zu feature%s marking missing cells", data->marks, plural((long long)data->marks));
    if (data->dropped)
        fprintf(out, ", %zu row%s with missing cells dropped", data->dropped, plural((long long)data->dropped));
    if (s->drop_duplicates)
        fprintf(out, ", %zu duplicate%s dropped", data->duplicates, plural((long long)data->duplicates));
    if (strcmp(s->missing, "error") != 0 && !data->marks && !data->dropped)
        fputs(", no cell missing", out);
    fputs("; ", out);
}

/* Names the classes without a row in one of the splits. */
static void describe_absent(const dataset *data, const dataset_part *part, const char *split, FILE *out)
{
    enum { MOST = 12 };
    bool *has = part->rows && data->labels ? calloc(data->classes, sizeof *has) : NULL;
    size_t absent = 0;
    for (size_t i = 0; has && i < part->rows; i++)
        has[data->labels[part->row[i]]] = true;
    for (size_t i = 0; has && i < data->classes; i++) {
        if (has[i] || ++absent > MOST)
            continue;
        if (absent == 1)
            fprintf(out, "No %s sample has the class ", split);
        fprintf(out, "%s'%s'", absent > 1 ? ", " : "", plain_name(data->class_names[i], (char[PLAIN_NAME]){0}));
    }
    if (absent)
        fprintf(out, "%s.\n", absent > MOST ? ", ..." : "");
    free(has);
}

/* Rows that are not for training, and have the features of one that is: their measures are of memory. `several` splits
 * follow, each with its own. */
static void describe_repeated(const dataset *data, bool several, FILE *out)
{
    const dataset_part *parts[] = {&data->validation, &data->test};
    static const char *const names[] = {"validation", "test"};
    for (int i = 0; i < 2; i++) {
        const size_t count = dataset_repeated(data, parts[i], &data->train);
        const bool many = 10 * count > parts[i]->rows;
        if (count > 0 && count < SIZE_MAX)
            fprintf(out, "%s%zu of %zu %s samples ha%s the features of a training sample%s%s%s.\n",
                    many ? "Warning: " : "", count, parts[i]->rows, names[i], count == 1 ? "s" : "ve",
                    several ? " in the first split" : "",
                    many ? "; if they are copies, their measures are too good: " ADVICE_DUPLICATES : "",
                    many && !data->group ? "; " ADVICE_GROUPS : "");
    }
}

static void describe_groups(const dataset *data, FILE *out)
{
    const char *name = data->group ? data->column[data->group_column].name : NULL;
    if (!data->group)
        return;
    fprintf(out, "Groups of rows, by column ");
    name ? fprintf(out, "'%s'", plain_name(name, (char[PLAIN_NAME]){0})) : fprintf(out, "%zu", data->group_column);
    fprintf(out, ": %zu training, %zu validation and %zu test group%s.\n", dataset_count_groups(data, &data->train),
            dataset_count_groups(data, &data->validation), dataset_count_groups(data, &data->test),
            plural((long long)dataset_count_groups(data, &data->test)));
}

static void describe_weights(const run_source *from, FILE *out)
{
    enum { MOST = 12 };
    const dataset *data = &from->data;
    if (data->weight && data->column[data->weight_column].name)
        fprintf(out, "Rows have the weights in column '%s'.\n",
                plain_name(data->column[data->weight_column].name, (char[PLAIN_NAME]){0}));
    else if (data->weight)
        fprintf(out, "Rows have the weights in column %zu.\n", data->weight_column);
    for (size_t i = 0; from->class_weight && i < data->classes && data->classes <= MOST; i++)
        fprintf(out, "%s%s %.4g%s",
                i ? ", " : "Weights of classes in the loss: ", plain_name(data->class_names[i], (char[PLAIN_NAME]){0}),
                from->class_weight[i], i + 1 == data->classes ? "\n" : "");
}

static void describe_text(const run_source *from, FILE *out)
{
    const text_source *t = &from->letters;
    if (t->pairs) {
        fprintf(out,
                "%s: pairs of at most %lld %ss, %d different; %lld training, %lld validation and %lld test "
                "pairs\n",
                t->name, (long long)t->longest, t->unit, t->vocabulary - 2, (long long)from->train.count,
                (long long)from->valid.count, (long long)from->test.count);
        return;
    }
    fprintf(out, "%s: %lld %ss, %d different; ", t->name, (long long)t->size, t->unit, t->vocabulary);
    if (t->tested < t->size)
        fprintf(out, "the last %lld are for testing, %lld before them for validation", (long long)(t->size - t->tested),
                (long long)(t->tested - t->held_out));
    else
        fprintf(out, "the last %lld are held out", (long long)(t->size - t->held_out));
    fprintf(out, "%s\n", t->lines ? ", of lines in random order" : "");
}

void source_describe(const run_spec *s, const run_source *from, const char *split, FILE *out)
{
    const dataset *data = &from->data;
    if (from->is_text) {
        describe_text(from, out);
        return;
    }
    const bool guessed = strcmp(s->task, "auto") == 0 && strncmp(s->data, "csv:", 4) == 0;
    fprintf(out, "%s: %zu row%s, %zu feature%s", data->name, data->rows, plural((long long)data->rows), data->features,
            plural((long long)data->features));
    describe_columns(s, data, out);
    if (source_reconstructs(s))
        fputs("reconstruction of these", out);
    else
        data->task == DATASET_CLASSIFICATION ? describe_classes(data, out) : describe_targets(data, out);
    fprintf(out, "%s\n", guessed ? "; inferred, " ADVICE_TASK : "");
    fprintf(out, "%zu training, %zu validation and %zu test samples.%s%s\n", data->train.rows, data->validation.rows,
            data->test.rows, split ? " " : "", split ? split : "");
    describe_groups(data, out);
    if (strncmp(s->data, "csv:", 4) == 0) {
        describe_absent(data, &data->train, "training", out);
        describe_absent(data, &data->validation, "validation", out);
        describe_absent(data, &data->test, "test", out);
        describe_repeated(data, split, out);
    }
    describe_weights(from, out);
}
