#include "examples/programs/data/advice.h"
#include "examples/programs/report/runs_file.h"

#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/direction.h"
#include "examples/programs/system/posix.h"

/* ---- known column names ---- */

static const char *const group_names[] = {"group", "activation", "model",    "method", "config",
                                          "name",  "run",        "run_name", NULL};
static const char *const seed_names[] = {"seed", "random_seed", NULL};
static const char *const fold_names[] = {"fold", NULL};
static const char *const step_names[] = {"step", "_step", "global_step", "epoch", "iteration", "iter", NULL};
static const char *const other_names[] = {
    "step",    "_step",   "global_step", "epoch", "iteration", "iter", "wall time",  "_timestamp", "_runtime",
    "runtime", "created", "seconds",     "time",  "timestamp", "date", "parameters", NULL};

/* The column with the first of these names that occurs; -1 if none does. */
static int find(const csv_source *s, const char *const *names)
{
    for (; *names; names++)
        for (size_t i = 0; i < s->table.columns; i++)
            if (strcasecmp(csv_column_name(s, i), *names) == 0)
                return (int)i;
    return -1;
}

/* ---- runs ---- */

static const char *keep_name(runs_file *to, const char *text, size_t length)
{
    const int number = texts_number(&to->names, text, length);
    return to->names.list[number];
}

/* Splits a name like relu-seed1 into the group and the seed, which is returned; NULL where it has none. */
static const char *split_seed(const char *name, size_t *length)
{
    size_t end = strlen(name), digits = end;
    *length = end;
    while (digits > 0 && isdigit((unsigned char)name[digits - 1]))
        digits--;
    size_t group = digits;
    while (group > 0 && strchr("-_ =:/", name[group - 1]))
        group--;
    if (group >= 4 && strncasecmp(name + group - 4, "seed", 4) == 0)
        for (group -= 4; group > 0 && strchr("-_ =:/", name[group - 1]);)
            group--;
    else if (group == digits)
        return NULL; /* "gelu2" is a name without a seed */
    if (digits == end || group == 0)
        return NULL;
    *length = group;
    return name + digits;
}

/* The run of this group, seed and fold, made if it does not exist. They are texts: 1, 1.0 and 01 are three, and so are
 * two numbers that no double tells apart. */
static int find_run(runs_file *to, const char *group, size_t length, const char *of_seed, const char *of_fold)
{
    const char *name = keep_name(to, group, length);
    const uint64_t seed = (uint64_t)texts_number(&to->seeds, of_seed, strlen(of_seed));
    const int fold = texts_number(&to->folds, of_fold, strlen(of_fold));
    comparison *c = &to->c;
    for (int i = 0; i < c->run_count; i++)
        if (c->runs[i].group == name && c->runs[i].seed == seed && c->runs[i].fold == fold)
            return i;
    const size_t count = (size_t)c->run_count, size = COMPARISON_MEASURES * sizeof *to->curves;
    c->runs = to->runs = memory_grown(to->runs, count, sizeof *to->runs);
    to->curves = memory_grown(to->curves, count, size);
    memset(to->curves + count * COMPARISON_MEASURES, 0, size);
    runlog_run *run = &to->runs[count];
    *run = runlog_run_new();
    run->group = name;
    run->seed = seed;
    run->fold = fold;
    run->finished = true;
    return c->run_count++;
}

/* The index of a measure; -1 if it was not requested; -2, with a message, if there are too many. */
static int find_measure(runs_file *to, const char *wanted, const char *name, tg_error *error)
{
    comparison *c = &to->c;
    for (int m = 0; m < c->measure_count; m++)
        if (strcmp(c->measures[m].name, name) == 0)
            return m;
    if (wanted && !list_has(wanted, name))
        return -1;
    if (c->measure_count == COMPARISON_MEASURES)
        return tg_fail(error, "more than %d measures; " ADVICE_MEASURES, COMPARISON_MEASURES), -2;
    const char *kept = keep_name(to, name, strlen(name));
    const direction better = direction_of(name, to->more, to->less);
    c->measures[c->measure_count] = (comparison_measure){.value = c->measure_count,
                                                         .name = kept,
                                                         .title = kept,
                                                         .words = kept,
                                                         .more_is_better = better == DIRECTION_MORE,
                                                         .undirected = better == DIRECTION_UNKNOWN,
                                                         .judged = better != DIRECTION_UNKNOWN};
    return c->measure_count++;
}

/* The number in a cell; false if it is empty or text. */
static bool number_at(const csv_source *s, size_t row, size_t column, double *number)
{
    const char *word = csv_word_at(s, row, column);
    *number = word ? NAN : csv_value(s, row, column);
    return !word || csv_word_is_huge(word);
}

/* The step of a row; false, with a message, if it is a word. */
static bool step_at(const csv_source *s, size_t row, int column, double *step)
{
    *step = NAN;
    return column < 0 || number_at(s, row, (size_t)column, step) || csv_is_missing_at(s, row, (size_t)column) ||
           csv_fail_at_word(s, row, (size_t)column, NULL);
}

/* Adds a number of a run, which counts unless there is one of a later step, or of the same step further below. */
static void put(runs_file *to, int run, int measure, double step, double number)
{
    runs_curve *curve = &to->curves[run * COMPARISON_MEASURES + measure];
    curve->pairs = memory_grown(curve->pairs, curve->count, 2 * sizeof *curve->pairs);
    curve->pairs[2 * curve->count] = step;
    curve->pairs[2 * curve->count + 1] = number;
    if (curve->count++ > 0 && step < curve->last)
        return;
    curve->last = step;
    to->runs[run].net.values[measure] = number;
}

/* ---- the three forms ---- */

/* A column with a measure of one run. */
static bool read_column(runs_file *to, const csv_source *s, const char *wanted, const char *name,
                        const char *measure_name, int step, size_t column)
{
    size_t length;
    const char *seed = split_seed(name, &length);
    const int measure = find_measure(to, wanted, measure_name, s->error);
    const int run = measure >= 0 ? find_run(to, name, length, seed ? seed : "0", "") : -1;
    for (size_t row = 0; measure >= 0 && row < s->rows; row++) {
        double number, at;
        if (!step_at(s, row, step, &at))
            return false;
        if (number_at(s, row, column, &number))
            put(to, run, measure, at, number);
        else if (!csv_is_missing_at(s, row, column))
            return csv_fail_at_word(s, row, column, NULL);
    }
    return measure != -2;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), more = strlen(end);
    return length > more && strcasecmp(text + length - more, end) == 0;
}

/* W&B's export of a chart: "relu-seed1 - loss". */
static bool read_wide(runs_file *to, const csv_source *s, const char *wanted)
{
    for (size_t column = 1; column < s->table.columns; column++) {
        char name[300];
        snprintf(name, sizeof name, "%s", csv_column_name(s, column));
        char *dash = strstr(name, " - ");
        if (!dash || ends_with(name, "__MIN") || ends_with(name, "__MAX"))
            continue;
        *dash = '\0';
        if (!read_column(to, s, wanted, strncmp(name, "Group: ", 7) == 0 ? name + 7 : name, dash + 3, 0, column))
            return false;
    }
    return true;
}

enum { FILE_NAME = 300 };

/* The name of a file without its folder and .csv. */
static char *name_of_file(const csv_source *s, char name[FILE_NAME])
{
    const char *slash = strrchr(s->table.path, '/');
    snprintf(name, FILE_NAME, "%s", slash ? slash + 1 : s->table.path);
    name[strlen(name) - (ends_with(name, ".csv") ? 4 : 0)] = '\0';
    return name;
}

/* TensorBoard's export of a curve: run-relu-seed1-tag-loss.csv. */
static bool read_curve(runs_file *to, const csv_source *s, const char *wanted)
{
    char file[FILE_NAME], *name = name_of_file(s, file), *tag = strstr(name, "-tag-");
    if (tag)
        *tag = '\0';
    return read_column(to, s, wanted, strncmp(name, "run-", 4) == 0 ? name + 4 : name, tag ? tag + 5 : "value", 1, 2);
}

typedef struct places {
    int group, seed, fold, step;
    int measure[1 << 10]; /* the measure of each column; NONE, or WORDS that are no key either */
} places;
enum { NONE = -1, FAILED = -2, WORDS = -3 };

/* The number of cells of a column that are numbers, also those written for people (0.48%), and that are words; the row
 * of the first that cannot be read as a number. */
typedef struct content {
    size_t numbers, words, unread;
} content;

static content content_of(const csv_source *s, size_t column)
{
    content c = {.unread = s->rows};
    for (size_t row = 0; row < s->rows; row++) {
        double number;
        const bool read = number_at(s, row, column, &number);
        if (!read && csv_is_missing_at(s, row, column))
            continue;
        if (!read && c.unread == s->rows)
            c.unread = row;
        *(read || csv_kind_at(s, row, column) == CSV_FORMATTED ? &c.numbers : &c.words) += 1;
    }
    return c;
}

/* The measure of a column; NONE, WORDS or FAILED. A column of which most cells are words is no measure, unless it is
 * asked for. */
static int measure_of(runs_file *to, const csv_source *s, const char *wanted, size_t column)
{
    const content c = content_of(s, column);
    const char *name = csv_column_name(s, column);
    if (word_is_among(name, other_names) || !*name || strncmp(name, "Unnamed: ", 9) == 0)
        return NONE; /* without a name: the index that pandas writes */
    if (c.numbers == 0 || (!wanted && c.words > c.numbers))
        return c.words > 0 ? WORDS : NONE;
    const int measure = find_measure(to, wanted, name, s->error);
    return measure >= 0 && c.unread < s->rows ? (csv_fail_at_word(s, c.unread, column, NULL), FAILED) : measure;
}

/* The first column of words alone; -1: none. */
static int find_words(const csv_source *s)
{
    for (size_t i = 0; i < s->table.columns; i++)
        if (content_of(s, i).numbers == 0 && content_of(s, i).words > 0 &&
            !word_is_among(csv_column_name(s, i), other_names))
            return (int)i;
    return -1;
}

/* Finds the columns that name a run. A column "run" of numbers only numbers the runs of groups that words name. */
static void find_keys(const csv_source *s, places *p)
{
    static const char *const run[] = {"run", NULL};
    p->group = find(s, group_names);
    p->seed = find(s, seed_names);
    p->fold = find(s, fold_names);
    p->step = find(s, step_names);
    const int words = find_words(s);
    if (p->group >= 0 && p->group == find(s, run) && p->seed < 0 && words >= 0 &&
        content_of(s, (size_t)p->group).words == 0) {
        p->seed = p->group;
        p->group = words;
    }
    p->group = p->group < 0 ? words : p->group;
}

static bool find_places(runs_file *to, const csv_source *s, const char *wanted, places *p)
{
    const size_t columns = s->table.columns;
    find_keys(s, p);
    if (p->group < 0 && p->step < 0)
        return tg_fail(s->error, "%s: no column names the group of a run, expected for example one called group",
                       s->table.path);
    if (columns > sizeof p->measure / sizeof *p->measure)
        return tg_fail(s->error, "%s: %zu columns, expected at most %zu", s->table.path, columns,
                       sizeof p->measure / sizeof *p->measure);
    for (size_t i = 0; i < columns; i++) {
        const bool key = (int)i == p->group || (int)i == p->seed || (int)i == p->fold;
        p->measure[i] = key ? NONE : measure_of(to, s, wanted, i);
        if (p->measure[i] == FAILED)
            return false;
        if (p->measure[i] == WORDS)
            to->unused = keep_name(to, csv_column_name(s, i), strlen(csv_column_name(s, i)));
    }
    to->steps |= p->step >= 0;
    return true;
}

/* The text of a cell, which lives as long as the runs. */
static const char *cell_of(runs_file *to, const csv_source *s, size_t row, int column)
{
    const char *text = csv_text(s, row, (size_t)column);
    return keep_name(to, text, strlen(text));
}

/* The run of a row: by its seed, by its name's seed, or the next of its group, or of its group and fold. */
static int run_of_row(runs_file *to, const csv_source *s, const places *p, size_t row)
{
    char number[40], file[FILE_NAME];
    size_t length;
    const char *name = p->group >= 0 ? cell_of(to, s, row, p->group) : name_of_file(s, file),
               *seed = split_seed(name, &length), *fold = p->fold >= 0 ? cell_of(to, s, row, p->fold) : "";
    if (p->seed >= 0)
        return find_run(to, name, strlen(name), cell_of(to, s, row, p->seed), fold);
    if (!seed && p->step < 0) {
        const int of_fold = texts_number(&to->folds, fold, strlen(fold));
        int place = 1;
        for (int i = 0; i < to->c.run_count; i++)
            place += strcmp(to->c.runs[i].group, name) == 0 && to->c.runs[i].fold == of_fold;
        to->numbered |= p->fold < 0 || place > 1;
        snprintf(number, sizeof number, "%d", place);
        seed = number;
    }
    return find_run(to, name, length, seed ? seed : "0", fold);
}

/* Fails where words differ between two rows of one run: as they would if two data sets, or two optimisers, were merged
 * in it. */
static bool check_words(const csv_source *s, const places *p, size_t row, size_t other)
{
    for (size_t i = 0; i < s->table.columns; i++) {
        char word[PLAIN_NAME], problem[200];
        if (p->measure[i] != WORDS)
            continue;
        plain_name(csv_text(s, other, i), word);
        if (strcmp(plain_name(csv_text(s, row, i), (char[PLAIN_NAME]){0}), word) == 0)
            continue;
        snprintf(
            problem, sizeof problem,
            "the same run has '%.40s' in line %zu; name the runs in one column called group, or leave this one out",
            word, csv_line(&s->table, other));
        return csv_fail_at(s, row, i, problem);
    }
    return true;
}

static bool read_row(runs_file *to, const csv_source *s, const places *p, size_t row, int run)
{
    double step, number;
    if (!step_at(s, row, p->step, &step))
        return false;
    for (size_t i = 0; i < s->table.columns; i++)
        if (p->measure[i] >= 0 && number_at(s, row, i, &number))
            put(to, run, p->measure[i], step, number);
    return true;
}

static bool read_rows(runs_file *to, const csv_source *s, const char *wanted)
{
    static places p;
    const int others = to->c.run_count; /* of other files */
    bool fine = find_places(to, s, wanted, &p);
    size_t *first = memory_checked(calloc(s->rows + 1, sizeof *first)); /* the first row of each run of this file */
    for (size_t row = 0; row < s->rows && fine; row++) {
        if (p.seed >= 0 && csv_is_missing_at(s, row, (size_t)p.seed)) {
            fine = csv_fail_at(s, row, (size_t)p.seed, "expected a seed");
            break;
        }
        const int before = to->c.run_count, run = run_of_row(to, s, &p, row);
        if (run == before)
            first[run - others] = row;
        else if (run >= others)
            fine = check_words(s, &p, row, first[run - others]);
        if (p.step < 0 && run < before && fine)
            fine = csv_fail_at(s, row, (size_t)p.group,
                               "a second row of the same run, and no column step or epoch says which is later");
        fine = fine && read_row(to, s, &p, row, run);
    }
    free(first);
    return fine;
}

/* ---- files ---- */

static bool read_file(runs_file *to, const char *path, const char *wanted, tg_error *error)
{
    csv_source s;
    bool fine = csv_read(path, DATASET_HEADER_YES, &s, error);
    if (fine) {
        bool wide = word_is_among(csv_column_name(&s, 0), step_names), curve = s.table.columns == 3;
        static const char *const of_curve[] = {"Wall time", "Step", "Value"};
        for (size_t i = 0; curve && i < 3; i++)
            curve = strcmp(csv_column_name(&s, i), of_curve[i]) == 0;
        for (size_t i = 1; wide && i < s.table.columns; i++)
            wide = strstr(csv_column_name(&s, i), " - ") != NULL;
        to->steps |= wide || curve;
        fine = curve                         ? read_curve(to, &s, wanted)
               : wide && s.table.columns > 1 ? read_wide(to, &s, wanted)
                                             : read_rows(to, &s, wanted);
    }
    csv_source_free(&s);
    return fine;
}

static int is_table(const struct dirent *entry)
{
    return ends_with(entry->d_name, ".csv");
}

static bool read_folder(runs_file *to, const char *folder, const char *wanted, tg_error *error)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_table, alphasort);
    bool fine = count > 0 || tg_fail(error, "%s: no *.csv file in it", folder);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX];
        fine = fine && (snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name) < (int)sizeof path ||
                        tg_fail(error, "%.200s: the name is too long", folder));
        fine = fine && read_file(to, path, wanted, error);
        free(entries[i]);
    }
    free(entries);
    return fine;
}

/* An accuracy is shown in percent if all runs have it between 0 and 1. */
static void find_shares(runs_file *of)
{
    comparison *c = &of->c;
    for (comparison_measure *m = c->measures; m < c->measures + c->measure_count; m++) {
        m->share = direction_is_accuracy(m->name);
        for (int i = 0; i < c->run_count; i++) {
            const double value = c->runs[i].net.values[m->value];
            m->share &= !(value < 0 || value > 1);
        }
        if (m->share)
            m->title = texts_add(&of->names, "%s %%", m->name);
    }
}

/* Fails at a name in a list of an option that no column has. */
static bool check_wanted(const runs_file *from, const char *path, const char *option, const char *wanted,
                         tg_error *error)
{
    for (char word[300]; next_word(&wanted, word, sizeof word);) {
        bool there = false;
        for (int m = 0; m < from->c.measure_count; m++)
            there |= strcmp(from->c.measures[m].name, word) == 0;
        if (!there)
            return tg_fail(error, "--%s: %s has no column of numbers called '%s'", option, path, word);
    }
    return true;
}

/* The first step that a sorted curve has twice; NaN: none. */
static double repeated_step(const runs_curve *curve)
{
    for (size_t k = 1; k < curve->count; k++)
        if (curve->pairs[2 * k] == curve->pairs[2 * k - 2])
            return curve->pairs[2 * k];
    return NAN;
}

/* Sorts the curves of a measure; says where they end, if at different steps, and that a run has a step twice. */
static void end_curves(runs_file *of, int measure)
{
    comparison *c = &of->c;
    const char *name = c->measures[measure].name, *group = NULL;
    double first = INFINITY, last = -INFINITY, twice = NAN;
    for (int i = 0; i < c->run_count; i++) {
        const runs_curve *curve = &of->curves[i * COMPARISON_MEASURES + measure];
        if (curve->count == 0)
            continue;
        system_sort(curve->pairs, curve->count, 2 * sizeof *curve->pairs, system_ascending);
        first = fmin(first, curve->last);
        last = fmax(last, curve->last);
        if (!group && !isnan(twice = repeated_step(curve)))
            group = c->runs[i].group;
    }
    if (group)
        c->about.note = texts_add(&of->names,
                                  "A run has several rows of one step, for example %s of %s at %.9g, and the last one "
                                  "counts: if they are of several runs, one column has to name these.",
                                  name, group, twice);
    else if (first < last)
        c->about.note = texts_add(&of->names, "Runs end at different steps, for example with %s at %.9g to %.9g.", name,
                                  first, last);
}

bool runs_read(const char *path, const runs_wanted *wanted, runs_file *out, tg_error *error)
{
    const char *measures = wanted->measures;
    struct stat status;
    *out = (runs_file){.c = {.group = "group"}, .more = wanted->more, .less = wanted->less};
    bool fine = stat(path, &status) == 0 && S_ISDIR(status.st_mode) ? read_folder(out, path, measures, error)
                                                                    : read_file(out, path, measures, error);
    fine = fine && check_wanted(out, path, "measures", measures, error) &&
           check_wanted(out, path, "more-is-better", wanted->more, error) &&
           check_wanted(out, path, "less-is-better", wanted->less, error);
    if (fine && (out->c.measure_count == 0 || out->c.run_count == 0))
        fine = tg_fail(error, "%s: no column of numbers to compare%s", path, measures ? " is called so" : "");
    find_shares(out);
    for (int m = out->c.measure_count - 1; m >= 0; m--)
        end_curves(out, m);
    if (out->numbered)
        out->c.about.note =
            texts_add(&out->names, "No column has seeds: the runs of a group are paired in their order%s%s%s.",
                      out->unused ? ", and '" : "", out->unused ? out->unused : "", out->unused ? "' is not used" : "");
    if (!fine)
        runs_free(out);
    return fine;
}

void runs_free(runs_file *from)
{
    for (int i = 0; i < from->c.run_count * COMPARISON_MEASURES; i++)
        free(from->curves[i].pairs);
    texts_free(&from->names);
    texts_free(&from->seeds);
    texts_free(&from->folds);
    free(from->curves);
    free(from->runs);
}

chart_line *runs_lines(const runs_file *from, int measure)
{
    const comparison *c = &from->c;
    chart_line *lines = memory_checked(calloc((size_t)c->run_count + 1, sizeof *lines));
    int groups = 0;
    for (int i = 0; i < c->run_count; i++) {
        const runs_curve *curve = &from->curves[i * COMPARISON_MEASURES + measure];
        int like = 0;
        while (c->runs[like].group != c->runs[i].group)
            like++;
        lines[i] = (chart_line){.name = c->runs[i].group,
                                .group = like < i ? lines[like].group : groups++,
                                .pairs = curve->pairs,
                                .count = curve->count};
    }
    return lines;
}
