#include "examples/programs/run/experiment.h"

#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/direction.h"
#include "examples/programs/report/comparison.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/ranks.h"
#include "examples/programs/system/signals.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/run/paper.h"
#include "examples/programs/system/child.h"
#include "examples/programs/system/posix.h"

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
    const char *more, *less, *format;
    char *command;
    bool draws, paper;
    double margin; /* 0: the usual one */
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
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *data = value_of("--data", argc, argv, &i);
        count += !data ? 0 : *data == '@' ? 2 : 1; /* a list counts as several, whatever is in it */
    }
    return count;
}

/* The next word, of which quotes hold the blanks together and are left out; NULL: there is none. Moves `at` past it,
 * and sets `open` if a quote does not end. */
static char *quoted_word(char **at, bool *open)
{
    char *word = *at + strspn(*at, " \t"), *to = word, quote = '\0';
    if (!*word)
        return NULL;
    for (*at = word; **at && (quote || !strchr(" \t", **at)); ++*at)
        if (**at == quote)
            quote = '\0';
        else if (!quote && (**at == '\'' || **at == '"'))
            quote = **at;
        else
            *to++ = **at;
    *open |= quote != '\0';
    *at += **at != '\0';
    *to = '\0';
    return word;
}

/* True for an option that one data set may have for itself: of data, model and training, and the number of seeds. */
static bool is_of_one(const char *word)
{
    char name[NAME];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const program_option *o = options_find(run_options, name);
    return (o && o < options_find(run_options, "products") && strcmp(name, "data") != 0) || strcmp(name, "seeds") == 0;
}

/* Splits the value of --data at the blanks, if options follow the data. */
static bool split_words(data_set *set, const char *value, tg_error *error)
{
    char *copy = memory_checked(strdup(value)), *options = strstr(copy, " --"), *word;
    bool open = false;
    set->words[set->count++] = copy;
    if (!options)
        return true;
    for (char *end = options++; end > copy && *end == ' '; end--)
        *end = '\0';
    while (set->count < MOST_WORDS && (word = quoted_word(&options, &open)))
        set->words[set->count++] = word;
    if (open)
        return tg_fail(error, "--data: '%.200s': a quote opens and never closes", value);
    char **full = options_in_full(experiment_program(), set->count, set->words);
    memcpy(set->words, full, (size_t)set->count * sizeof *full);
    free(full);
    for (int i = 1; i < set->count; i++)
        if (strncmp(set->words[i], "--", 2) == 0 && !is_of_one(set->words[i] + 2))
            return tg_fail(error, "--data: '%.200s': %.60s is not an option of one data set", value, set->words[i]);
    return true;
}

static bool is_same(const data_set *a, const data_set *b)
{
    bool same = a->count == b->count;
    for (int i = 0; same && i < a->count; i++)
        same = strcmp(a->words[i], b->words[i]) == 0;
    return same;
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

/* The words of the comparison on one data set: the command's, but for --data and --out. To be freed; the first call
 * after it overwrites the folder in it. */
static char **words_of(const over_sets *o, int which, int argc, char **argv)
{
    static char data[] = "--data", out[] = "--out", folder[PATH_MAX];
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
    words[count] = folder;
    return words;
}

/* ---- what the comparisons found ---- */

/* The column with the mean of a measure: of the one that is asked for or, if that is "", of the first one, whose name
 * is copied; -1: none. And how many columns name the forms: those before the number of runs. */
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
            const char *cell = csv_text(summary, row, key);
            text_add(form, sizeof form, "%s%s", *cell && *form ? " " : "", cell);
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

static bool read_one(over_sets *o, int which, tg_error *error)
{
    char path[PATH_MAX];
    csv_source summary;
    size_t keys = 1;
    snprintf(path, sizeof path, "%s/%s/summary.csv", o->out, o->set[which].name);
    bool fine = csv_read(path, DATASET_HEADER_YES, &summary, error);
    const int column = fine ? find_measure(&summary, o->measure, &keys) : 0;
    if (column < 0)
        fine = tg_fail(error, "%s has no %s: name a measure that all data sets have, like --measures %s",
                       o->set[which].name, *o->measure ? o->measure : "measure",
                       strcmp(o->measure, "test_loss") == 0 ? "best_val_loss" : "test_loss");
    fine = fine && take_forms(o, which, &summary, (size_t)column, keys, error);
    csv_source_free(&summary);
    return fine;
}

/* If a data set lacks the measure that the first one chose, its accuracy, all count by their losses. */
static bool read_summary(over_sets *o, int which, bool asked, tg_error *error)
{
    bool fine = read_one(o, which, error);
    if (fine || asked)
        return fine;
    snprintf(o->measure, NAME, "test_loss");
    for (int s = 0; s <= which && (s == 0 || fine); s++)
        fine = read_one(o, s, error);
    error->text[0] = fine ? '\0' : error->text[0];
    return fine;
}

/* ---- all together ---- */

typedef struct sets_answer {
    const over_sets *o;
    const ranks_answer *ranks;
} sets_answer;

static void put_methods(const over_sets *o, FILE *to)
{
    fprintf(to, "Data. %d data sets:", o->sets);
    for (int s = 0; s < o->sets; s++)
        fprintf(to, "%s %s", s ? "," : "", o->set[s].name);
    fputs(". Nets, training and search of each: its own paper/methods.txt.\n", to);
    methods_print_software(o->command, to);
    fputs("\nTests and tables.\n", to);
}

static void put_part(const void *of, paper_part part, FILE *to)
{
    const sets_answer *answer = of;
    if (part == PAPER_METHODS)
        put_methods(answer->o, to);
    if (part == PAPER_TABLE)
        ranks_print_paper(answer->ranks, to);
    else
        ranks_print_definitions(answer->ranks, part == PAPER_NOTES ? "latex text" : "table", to);
}

static bool write_paper(const sets_answer *answer, tg_error *error)
{
    char title[100];
    snprintf(title, sizeof title, "Mean ranks over %d data sets", answer->o->sets);
    return paper_write(&(paper){.out = answer->o->out,
                                .title = title,
                                .of = answer,
                                .put = put_part,
                                .script = "ranks.gp",
                                .draws = answer->o->draws},
                       error);
}

static bool show(over_sets *o, tg_error *error)
{
    const char *set[MOST_SETS], *form[MOST_FORMS];
    for (int s = 0; s < o->sets; s++)
        set[s] = o->set[s].name;
    for (int f = 0; f < o->forms; f++)
        form[f] = o->form[f];
    for (int i = 0; i < o->sets * o->forms; i++) /* the rows were as long as they may be */
        o->score[i] = o->score[i / o->forms * MOST_FORMS + i % o->forms];
    const ranks_question question = {.measure = runlog_measure_words(o->measure),
                                     .direction = direction_of(o->measure, o->more, o->less),
                                     .sets = (size_t)o->sets,
                                     .forms = (size_t)o->forms,
                                     .set = set,
                                     .form = form,
                                     .value = o->score,
                                     .margin = o->margin > 0 ? o->margin : COMPARISON_MARGIN};
    if (question.direction == DIRECTION_UNKNOWN)
        return tg_fail(error, "whether more or less %s is better is not known", o->measure);
    ranks_answer *answer = ranks_answer_new(&question);
    printf("\n");
    ranks_print(answer, o->format, stdout);
    const bool written =
        ranks_write(answer, o->out, error) && (!o->paper || write_paper(&(sets_answer){o, answer}, error));
    if (written && !o->paper)
        paper_remove(o->out);
    ranks_answer_free(answer);
    const plots_outcome drawn = written && o->draws ? plots_run("ranks.gp", o->out, error) : PLOTS_NOTHING;
    if (written && strcmp(o->format, "table") == 0)
        printf("\nin %s/: ranks.csv, rank_pairs.csv%s%s\n", plain(o->out),
               drawn == PLOTS_DRAWN ? "; ranks, as .png and .svg" : "", o->paper ? "; paper/" : "");
    return written && drawn != PLOTS_FAILED && drawn != PLOTS_INTERRUPTED;
}

/* Runs the comparison on one data set; its exit status, or that of a signal. Signals to this process alone are passed
 * on. */
static int compare_one(const over_sets *o, int which, int argc, char **argv)
{
    char **words = words_of(o, which, argc, argv);
    signals_before before;
    child comparing;
    fprintf(stderr, "%sdata set %d of %d: %s\n", which ? "\n" : "", which + 1, o->sets, o->set[which].name);
    fflush(NULL);
    signals_catch(&before);
    const bool started = child_start_program(&comparing, words, NULL, NULL);
    const int reason = errno;
    for (bool sent = false; started && !child_has_ended(&comparing); system_sleep(5e-3))
        if (signals_caught() && !sent) {
            child_stop(&comparing, false);
            sent = true;
        }
    signals_release(&before);
    if (!started)
        fprintf(stderr, "compare: cannot run %s: %s\n", words[0], strerror(reason));
    free(words);
    return !started               ? 1
           : signals_caught()     ? signals_status()
           : comparing.status < 0 ? 128 - comparing.status
                                  : comparing.status;
}

/* False and one line if there is no such data: before the first comparison, not after hours of others. */
static bool is_there(const char *spec, tg_error *error)
{
    dataset none;
    const char *named = source_named(spec, false), *colon = strchr(named, ':');
    if (!dataset_is_kind(named) && !text_is_named(named))
        return dataset_load(named, NULL, &none, error);
    return !colon || strcmp(colon, ":-") == 0 || access(colon + 1, R_OK) == 0 ||
           tg_fail(error, "%s: %s", colon + 1, strerror(errno));
}

static bool add_set(over_sets *o, const char *value, tg_error *error)
{
    if (o->sets == MOST_SETS)
        return tg_fail(error, "--data: more than %d data sets", MOST_SETS);
    if (!split_words(&o->set[o->sets], value, error))
        return false;
    name_set(o, o->sets++);
    for (int s = 0; s < o->sets - 1; s++)
        if (is_same(&o->set[s], &o->set[o->sets - 1])) /* it would count twice in the tests */
            return tg_fail(error, "--data: '%.200s' is there twice", value);
    return is_there(o->set[o->sets - 1].words[0], error);
}

/* Adds those of a file, one in each line; empty lines and those that begin with # are passed over. */
static bool add_list(over_sets *o, const char *path, tg_error *error)
{
    FILE *file = files_read(NULL, path, error);
    char *line = NULL;
    size_t size = 0;
    bool fine = file || tg_fail(error, "--data: %s%.200s", error->text[0] ? error->text : "there is no file ",
                                error->text[0] ? "" : path);
    while (fine && getline(&line, &size, file) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        const char *value = line + strspn(line, " ");
        fine = !*value || *value == '#' || add_set(o, value, error);
    }
    free(line);
    return (!file || files_end_reading(file, NULL, path, error)) && fine;
}

/* Takes what all comparisons share from the command line. */
static bool read_command(over_sets *o, int argc, char **argv, tg_error *error)
{
    o->out = "results/data-sets";
    o->format = "table";
    o->draws = true;
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *measures = NULL, *margin = NULL, *data = value_of("--data", argc, argv, &i);
        const struct {
            const char *option, **to;
        } options[] = {{"--out", &o->out},       {"--measures", &measures},      {"--margin", &margin},
                       {"--format", &o->format}, {"--more-is-better", &o->more}, {"--less-is-better", &o->less}};
        for (size_t k = 0; k < sizeof options / sizeof *options && !data; k++) {
            const char *value = value_of(options[k].option, argc, argv, &i);
            if (value) {
                *options[k].to = value;
                break;
            }
        }
        o->draws &= strcmp(argv[i], "--no-plots") != 0;
        o->paper |= strcmp(argv[i], "--paper") == 0;
        if (measures)
            snprintf(o->measure, NAME, "%.*s", (int)strcspn(measures, ","), measures);
        if (margin && !experiment_margin(&(experiment_settings){.margin = margin}, &o->margin, error))
            return false;
        if (data && !(*data == '@' ? add_list(o, data + 1, error) : add_set(o, data, error)))
            return false;
    }
    return true;
}

int data_sets_compare(int argc, char **argv)
{
    static over_sets o;
    tg_error error = {""};
    o.command = options_command(argv);
    int status = read_command(&o, argc, argv, &error) ? 0 : 2;
    if (status == 0 && o.sets == 0)
        status = tg_fail(&error, "--data: the list is empty") ? 0 : 2;
    o.score = memory_checked(calloc((size_t)MOST_SETS * MOST_FORMS, sizeof *o.score));
    const bool asked = *o.measure;
    for (int s = 0; s < o.sets && status == 0; s++) {
        status = compare_one(&o, s, argc, argv);
        if (status == 0 && !read_summary(&o, s, asked, &error)) /* before the others are trained */
            status = 1;
    }
    if (status == 0 && !show(&o, &error))
        status = 1;
    if (error.text[0])
        terminal_say("compare", NULL, error.text);
    for (int s = 0; s < o.sets; s++)
        free(o.set[s].words[0]);
    free(o.score);
    free(o.command);
    return status;
}
