#include "examples/programs/run/data_sets.h"

#include "examples/programs/data/csv.h"
#include "examples/programs/report/direction.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/ranks.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/run/options.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 64, MOST_SETS = 200, MOST_FORMS = 100, NAME = 128 };

typedef struct data_set {
    char *words[MOST_WORDS]; /* "csv:a.csv --target y" in words: what --data is, and the options of this data set */
    int count;
    char name[NAME]; /* of its folder */
} data_set;

typedef struct over_sets {
    const char *out;
    int sets, forms;
    data_set set[MOST_SETS];
    char measure[NAME], form[MOST_FORMS][NAME];
    double *score; /* [sets, forms]: as in summary.csv */
    direction direction;
    bool relative; /* differences are those of the logarithms */
} over_sets;

/* ---- the command line ---- */

/* The value of the option at word i: in the word itself or in the next one; NULL if it is another option. Moves i past
 * it. */
static const char *value_of(const char *option, int argc, char *const *argv, int *i)
{
    const size_t length = strlen(option);
    if (strncmp(argv[*i], option, length) != 0)
        return NULL;
    if (argv[*i][length] == '=')
        return argv[*i] + length + 1;
    return argv[*i][length] == '\0' && *i + 1 < argc ? argv[++*i] : NULL;
}

int data_sets_count(int argc, char *const *argv)
{
    int count = 0;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        count += value_of("--data", argc, argv, &i) != NULL;
    return count;
}

/* Splits the value of --data at the blanks, if options follow the data. */
static void split_words(data_set *set, const char *value)
{
    char *copy = memory_checked(strdup(value)), *options = strstr(copy, " --"), *place;
    set->words[set->count++] = copy;
    if (!options)
        return;
    *options = '\0';
    for (char *word = strtok_r(options + 1, " ", &place); word && set->count < MOST_WORDS;
         word = strtok_r(NULL, " ", &place))
        set->words[set->count++] = word;
}

/* The name of the file or folder, with letters, digits, and - . _ only; another number for each. */
static void name_set(over_sets *o, int which)
{
    const char *spec = o->set[which].words[0], *colon = strchr(spec, ':');
    char path[PATH_MAX], *name = o->set[which].name;
    snprintf(path, sizeof path, "%s", colon ? colon + 1 : spec);
    for (char *end = path + strlen(path); end > path + 1 && end[-1] == '/'; end--)
        end[-1] = '\0';
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const size_t hidden = *file == '.'; /* a point at the begin ends no name */
    snprintf(name, NAME - 8, "%.*s", (int)(hidden + strcspn(file + hidden, ".")), file);
    for (char *c = name; *c; c++)
        *c = strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._", *c) ? *c : '_';
    const size_t plain = strlen(name);
    for (int again = 2, other = 0; other < which; other++)
        if (strcmp(o->set[other].name, name) == 0) {
            snprintf(name + plain, NAME - plain, "-%d", again++);
            other = -1;
        }
}

/* The words of the comparison on one data set: the command's, but for --data and --out. */
static char *command_of(const over_sets *o, int which, int argc, char **argv)
{
    char data[] = "--data", out[] = "--out", folder[PATH_MAX];
    char **words = memory_checked(calloc((size_t)argc + MOST_WORDS + 5, sizeof *words));
    int count = 0;
    for (int i = 0; i < argc; i++) {
        const int at = i;
        if (i == 0 || (!value_of("--data", argc, argv, &i) && !value_of("--out", argc, argv, &i)))
            words[count++] = argv[at];
    }
    snprintf(folder, sizeof folder, "%s/%s", o->out, o->set[which].name);
    words[count++] = data;
    for (int i = 0; i < o->set[which].count; i++)
        words[count++] = o->set[which].words[i];
    words[count++] = out;
    words[count++] = folder;
    char *command = memory_checked(options_command(words));
    free(words);
    return command;
}

/* ---- what the comparisons found ---- */

/* The column with the mean of a measure: of the one that is asked for or, if that is "", of the first one, whose name is
 * copied; -1: none. And how many columns name the forms: those before the number of runs. */
static int find_measure(const csv_source *summary, char measure[NAME], size_t *keys)
{
    for (size_t column = 0; column < summary->table.columns; column++) {
        const char *name = summary->names[column], *end = strstr(name, "_mean");
        *keys = strcmp(name, "runs") == 0 ? column : *keys;
        if (!end || end[5] != '\0')
            continue;
        if (*measure == '\0')
            snprintf(measure, NAME, "%.*s", (int)(end - name), name);
        if (strncmp(name, measure, (size_t)(end - name)) == 0 && measure[end - name] == '\0')
            return (int)column;
    }
    return -1;
}

static int place_of_form(const over_sets *o, const char *form)
{
    int place = 0;
    while (place < o->forms && strcmp(o->form[place], form) != 0)
        place++;
    return place;
}

/* The first data set says which forms there are. */
static bool take_forms(over_sets *o, int which, const csv_source *summary, size_t column, size_t keys, tg_error *error)
{
    for (size_t row = 0; row < summary->table.rows; row++) {
        char form[NAME] = "";
        for (size_t key = 0; key < keys; key++) {
            const size_t used = strlen(form);
            const char *cell = csv_text(summary, row, key);
            snprintf(form + used, sizeof form - used, "%s%s", *cell && used ? " " : "", cell);
        }
        const int place = place_of_form(o, form);
        if (which == 0 && place == o->forms && place < MOST_FORMS)
            snprintf(o->form[o->forms++], NAME, "%s", form);
        if (place >= o->forms)
            return tg_fail(error, "%s has %s, which %s has not", o->set[which].name, form, o->set[0].name);
        o->score[which * MOST_FORMS + place] =
            csv_is_missing_at(summary, row, column) ? NAN : csv_value(summary, row, column);
    }
    return (int)summary->table.rows == o->forms || tg_fail(error, "%s has %d forms, and %s %d", o->set[which].name,
                                                           (int)summary->table.rows, o->set[0].name, o->forms);
}

static bool read_summary(over_sets *o, int which, tg_error *error)
{
    char path[PATH_MAX];
    csv_source summary;
    size_t keys = 1;
    snprintf(path, sizeof path, "%s/%s/summary.csv", o->out, o->set[which].name);
    bool fine = csv_read(path, DATASET_HEADER_YES, &summary, error);
    const int column = fine ? find_measure(&summary, o->measure, &keys) : 0;
    if (column < 0)
        fine = tg_fail(error, "%s has no %s: name a measure that all data sets have, like --measures test_loss",
                       o->set[which].name, *o->measure ? o->measure : "measure");
    fine = fine && take_forms(o, which, &summary, (size_t)column, keys, error);
    csv_source_free(&summary);
    return fine;
}

/* ---- what they say together ---- */

/* The scores as they are compared: more is better, and a form that has diverged is the worst. */
static ranks_scores scores_of(over_sets *o, double *to)
{
    o->direction = direction_of(o->measure, NULL, NULL);
    o->relative = o->direction == DIRECTION_LESS;
    for (int i = 0; i < o->sets * o->forms; i++) {
        to[i] = o->score[i / o->forms * MOST_FORMS + i % o->forms];
        o->relative &= !(to[i] <= 0);
    }
    for (int i = 0; i < o->sets * o->forms; i++) {
        const double number = o->relative ? log(to[i]) : to[i];
        to[i] = !isfinite(number) ? -1e300 : o->direction == DIRECTION_LESS ? -number : number;
    }
    return (ranks_scores){to, (size_t)o->sets, (size_t)o->forms, false};
}

static void add_rows(const over_sets *o, const ranks_scores *of, table *t, const double mean[])
{
    for (int f = 0; f < o->forms; f++) {
        int best = 0;
        for (int s = 0; s < o->sets; s++) {
            bool is_best = true;
            for (int g = 0; g < o->forms; g++)
                is_best &= of->scores[s * o->forms + f] >= of->scores[s * o->forms + g];
            best += is_best;
        }
        table_add_row(t);
        table_add_cell(t, "%s", o->form[f]);
        table_add_cell(t, "%.2f", mean[f]);
        table_numbers(t, 1, &mean[f]);
        table_add_cell(t, "%d", best);
        for (int s = 0; s < o->sets; s++) {
            table_add_cell(t, "%.4g", o->score[s * MOST_FORMS + f]);
            table_numbers(t, 1, &o->score[s * MOST_FORMS + f]);
        }
    }
}

/* The sentence on all forms, with those that the best one beats. */
static void add_verdict(const over_sets *o, const ranks_scores *of, table *t, const double mean[], const double p[])
{
    double f;
    const double all = ranks_friedman(of, &f);
    int best = 0;
    for (int i = 1; i < o->forms; i++)
        best = mean[i] < mean[best] ? i : best;
    char beaten[4 * NAME] = "";
    for (int a = 0, pair = 0; a < o->forms; a++)
        for (int b = a + 1; b < o->forms; b++, pair++)
            if (all < 0.05 && p[pair] < 0.05 && (a == best || b == best)) {
                const size_t used = strlen(beaten);
                snprintf(beaten + used, sizeof beaten - used, "%s%s", used ? ", " : "", o->form[a == best ? b : a]);
            }
    if (all >= 0.05)
        table_add_verdict(t, "Over %d data sets none ranks consistently higher, p = %.2g.", o->sets, all);
    else
        table_add_verdict(t, "Over %d data sets the ranks differ, p = %.2g. %s has the best mean rank, %.2f; %s%s.",
                          o->sets, all, o->form[best], mean[best],
                          *beaten ? "it is better than " : "no other can be told from it", beaten);
    const size_t needed = ranks_sets_needed(of->forms);
    if (of->sets < needed)
        table_add_verdict(t, "%d data sets are too few to tell two of %d apart: that takes %d at least.", o->sets,
                          o->forms, (int)needed);
}

/* ", test_loss -1.4 % in geometric mean", or the mean difference; nothing where a form diverged. */
static void describe_size(const over_sets *o, const ranks_scores *of, int one, int other, char text[2 * NAME])
{
    double sum = 0;
    text[0] = '\0';
    for (int s = 0; s < o->sets; s++) {
        const double *score = of->scores + s * o->forms;
        if (score[one] < -1e299 || score[other] < -1e299)
            return;
        sum += score[other] - score[one];
    }
    const double more = (o->direction == DIRECTION_LESS ? -sum : sum) / o->sets;
    if (o->relative)
        snprintf(text, 2 * NAME, ", %s %+.1f %% in geometric mean", o->measure, 100 * expm1(more));
    else
        snprintf(text, 2 * NAME, ", %s %+.2g on the mean", o->measure, more);
}

static void add_pairs(const over_sets *o, const ranks_scores *of, table *t, const double p[])
{
    for (int a = 0, pair = 0; a < o->forms; a++)
        for (int b = a + 1; b < o->forms; b++, pair++) {
            int better = 0, worse = 0;
            char size[2 * NAME];
            for (int s = 0; s < o->sets; s++) {
                const double *score = of->scores + s * o->forms;
                better += score[b] > score[a];
                worse += score[b] < score[a];
            }
            describe_size(o, of, a, b, size);
            table_add_verdict(t, "%s against %s: better on %d and worse on %d of %d data sets%s, p = %.2g.", o->form[b],
                              o->form[a], better, worse, o->sets, size, p[pair]);
        }
}

static table *table_of(over_sets *o, bool notes)
{
    double *scores = memory_checked(calloc((size_t)(o->sets * o->forms) + 1, sizeof *scores));
    double mean[MOST_FORMS], *p = memory_checked(calloc((size_t)(o->forms * o->forms) + 1, sizeof *p));
    const ranks_scores of = scores_of(o, scores);
    ranks_mean(&of, mean);
    ranks_pairs(&of, p);
    table *t = table_new(1);
    table_add_column(t, &(table_column){.name = "activation"});
    table_add_column(t, &(table_column){.name = "mean rank", .csv = "mean_rank"});
    table_add_column(t, &(table_column){.name = "best on", .csv = "best_on"});
    for (int s = 0; s < o->sets; s++)
        table_add_column(t, &(table_column){.name = o->set[s].name, .csv = o->set[s].name});
    add_rows(o, &of, t, mean);
    if (notes) {
        add_verdict(o, &of, t, mean, p);
        add_pairs(o, &of, t, p);
        table_add_note(t, "Mean %s of each data set (%s), with what its own comparison above says of rates and scales.",
                       o->measure, direction_words(o->direction));
        table_add_note(t,
                       "All together: Friedman's test of ranks, as Iman and Davenport corrected it. Pairs: Wilcoxon's "
                       "signed-rank test of the differences%s; p is corrected for %d pairs by Holm.",
                       o->relative ? " of logarithms" : "", o->forms * (o->forms - 1) / 2);
    }
    free(scores);
    free(p);
    return t;
}

static bool write_ranks(const void *context, FILE *to)
{
    over_sets o = *(const over_sets *)context;
    table *t = table_of(&o, false);
    table_print(t, "csv", to);
    table_free(t);
    return true;
}

static bool show(over_sets *o, tg_error *error)
{
    for (int s = 0; s < o->sets; s++)
        if (!read_summary(o, s, error))
            return false;
    if (direction_of(o->measure, NULL, NULL) == DIRECTION_UNKNOWN)
        return tg_fail(error, "whether more or less %s is better is not known", o->measure);
    table *t = table_of(o, true);
    printf("\n");
    table_print(t, "table", stdout);
    table_free(t);
    return files_write(o->out, "ranks.csv", write_ranks, o, error);
}

int data_sets_compare(int argc, char **argv)
{
    static over_sets o;
    tg_error error;
    o.out = "results/data-sets";
    for (int i = 1; i < argc; i++) {
        int at = i;
        const char *data = value_of("--data", argc, argv, &i), *out = data ? NULL : value_of("--out", argc, argv, &at);
        const char *measures = data || out ? NULL : value_of("--measures", argc, argv, &at);
        if (measures)
            snprintf(o.measure, NAME, "%.*s", (int)strcspn(measures, ","), measures);
        if (data && o.sets < MOST_SETS) {
            split_words(&o.set[o.sets], data);
            name_set(&o, o.sets++);
        }
        o.out = out ? out : o.out;
        i = at > i ? at : i;
    }
    int status = 0;
    for (int s = 0; s < o.sets && status == 0; s++) {
        char *command = command_of(&o, s, argc, argv);
        fprintf(stderr, "%sdata set %d of %d: %s\n", s ? "\n" : "", s + 1, o.sets, o.set[s].name);
        fflush(NULL);
        status = system(command);
        free(command);
    }
    if (status != 0)
        return 1;
    o.score = memory_checked(calloc((size_t)o.sets * MOST_FORMS, sizeof *o.score));
    const bool fine = show(&o, &error);
    if (!fine)
        terminal_say("compare", NULL, error.text);
    for (int s = 0; s < o.sets; s++)
        free(o.set[s].words[0]);
    free(o.score);
    return fine ? 0 : 1;
}
