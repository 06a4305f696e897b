#include "examples/programs/run/options.h"

#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/system/posix.h"

#include <argp.h>
#include <signal.h>

enum { FIRST_KEY = 1000, HELP_ALL = FIRST_KEY - 1, HELP_SIZE = 700, FEW = 8 /* choices of an option in --help */ };

typedef struct reading {
    const options_program *program;
    char *settings;
    bool seen[OPTIONS_MOST]; /* [place in the table]: given already */
} reading;

/* ---- a table ---- */

bool options_more(const program_option *o)
{
    return o->name || o->help;
}

const program_option *options_find(const program_option *table, const char *name)
{
    for (const program_option *o = table; options_more(o); o++)
        if (o->name && strcmp(o->name, name) == 0)
            return o;
    return NULL;
}

void options_join(program_option *table, const program_option *more, const char *const *without)
{
    while (options_more(table))
        table++;
    for (; options_more(more); more++)
        if (!without || !more->name || !without[options_position(without, more->name)])
            *table++ = *more;
}

/* ---- arguments of an option ---- */

static void describe_choices(const program_option *o, char *text, size_t size)
{
    *text = '\0';
    for (int i = 0; o->choices[i]; i++)
        text_add(text, size, "%s%s", i ? ", " : "", o->choices[i]);
}

static void refuse(struct argp_state *state, const program_option *o, const char *argument)
{
    char expected[HELP_SIZE] = "";
    if (o->type == OPTION_CHOICE) {
        describe_choices(o, expected, sizeof expected);
        const char *similar = word_similar(argument, o->choices, (size_t)options_position(o->choices, ""));
        argp_failure(state, 2, 0, "--%s: '%s' is not one of %s%s%s", o->name, plain(argument), expected,
                     similar ? "; did you mean " : "", similar ? similar : "");
    }
    argp_failure(state, 2, 0, "--%s: '%s' is not a %s%snumber%s from %.15g to %.15g", o->name, plain(argument),
                 o->list ? "list of different " : "", o->type == OPTION_INT ? "whole " : "",
                 o->list ? "s, with commas between," : "", o->low, o->high);
}

double options_recorded(double value)
{
    char text[32];
    snprintf(text, sizeof text, "%.15g", value);
    return strtod(text, NULL);
}

/* Reads a number, or the index of a choice; false if the word is invalid for the option. */
static bool read_value(const program_option *o, const char *word, double *value)
{
    char *end;
    if (o->type == OPTION_CHOICE)
        return o->choices[(int)(*value = options_position(o->choices, word))];
    if (o->word && !o->list && strcmp(word, o->word) == 0) {
        *value = NAN;
        return true;
    }
    errno = 0;
    *value = options_recorded(strtod(word, &end));
    const bool whole = o->type != OPTION_INT || *value == floor(*value);
    return end != word && *end == '\0' && errno == 0 && whole && *value >= o->low && *value <= o->high;
}

int options_position(const char *const *choices, const char *word)
{
    int i = 0;
    while (choices[i] && strcmp(choices[i], word) != 0)
        i++;
    return i;
}

/* True if the settings have a text, which may be NULL. */
static bool is_text(const program_option *o)
{
    return o->list || o->type == OPTION_TEXT || o->type == OPTION_CHOICE;
}

/* True if a list has valid numbers or choices only, and none twice. */
static bool is_list(const program_option *o, const char *list)
{
    double values[OPTIONS_NUMBERS];
    int count = 0;
    if (o->word && strcmp(list, o->word) == 0)
        return true;
    for (char word[64]; next_word(&list, word, sizeof word); count++) {
        if (count == OPTIONS_NUMBERS || !read_value(o, word, &values[count]))
            return false;
        for (int i = 0; i < count; i++)
            if (values[i] == values[count])
                return false;
    }
    return count > 0;
}

bool options_set(const program_option *o, void *settings, const char *argument)
{
    void *at = (char *)settings + o->offset;
    double value = 0;
    const bool has_value = o->type == OPTION_INT || o->type == OPTION_REAL || o->type == OPTION_CHOICE;
    if (has_value && !(o->list ? is_list(o, argument) : read_value(o, argument, &value)))
        return false;
    if (o->type == OPTION_FLAG)
        *(bool *)at = true;
    else if (o->type == OPTION_CHOICE && !o->list)
        *(const char **)at = o->choices[(int)value];
    else if (is_text(o))
        *(const char **)at = argument;
    else if (o->type == OPTION_INT)
        *(int *)at = (int)value;
    else
        *(double *)at = value;
    return true;
}

void options_copy(const program_option *o, const void *from, void *to)
{
    const size_t size = is_text(o)               ? sizeof(const char *)
                        : o->type == OPTION_FLAG ? sizeof(bool)
                        : o->type == OPTION_INT  ? sizeof(int)
                                                 : sizeof(double);
    memcpy((char *)to + o->offset, (const char *)from + o->offset, size);
}

const char *options_word(const program_option *o, const void *settings, char text[OPTIONS_WORD])
{
    const void *at = (const char *)settings + o->offset;
    if (is_text(o))
        return *(const char *const *)at;
    if (o->type == OPTION_FLAG)
        return *(const bool *)at ? "yes" : NULL;
    if (o->type == OPTION_INT)
        snprintf(text, OPTIONS_WORD, "%d", *(const int *)at);
    else if (o->word && isnan(*(const double *)at))
        snprintf(text, OPTIONS_WORD, "%s", o->word);
    else
        snprintf(text, OPTIONS_WORD, "%.15g", *(const double *)at);
    return text;
}

bool options_agree(const program_option *option, const void *a, const void *b)
{
    char one[OPTIONS_WORD], other[OPTIONS_WORD];
    const char *x = options_word(option, a, one), *y = options_word(option, b, other);
    return x && y ? strcmp(x, y) == 0 : x == y;
}

static const options_program *parsed; /* last */
static const char *called;            /* argv[0] */

static bool ends_with_name(const char *path, const char *name)
{
    const size_t length = strlen(path), end = strlen(name);
    return length >= end && strcmp(path + length - end, name) == 0;
}

const char *options_called(const char *program)
{
    static char *command;
    size_t size;
    const char *own = called && parsed && ends_with_name(called, parsed->name) ? called : parsed->name;
    const int before = (int)(strlen(own) - strlen(parsed->name));
    char *path = memory_text("%.*s%s", before, own, program);
    free(command);
    FILE *to = memory_checked(system_open_memory(&command, &size));
    options_print_word(path, to);
    memory_checked(system_close_memory(to, &command, &size) ? command : NULL);
    free(path);
    return command;
}

/* ---- a file ---- */

/* A text of JSON with its own bytes; lives as long as the program if they differ. */
static const char *kept_text(const char *text)
{
    char *own = memory_checked(text_from_utf8(text));
    if (strcmp(own, text) != 0)
        return own;
    free(own);
    return text;
}

static json_t *json_of_text(const char *text)
{
    char *utf8 = memory_checked(text_to_utf8(text));
    json_t *string = json_string(utf8);
    free(utf8);
    return string;
}

/* null is valid only if the option's default is NULL. A number for a list is converted to a text in the file. */
static bool take(const program_option *o, void *settings, json_t *object)
{
    void *at = (char *)settings + o->offset;
    json_t *value = json_object_get(object, o->name);
    char number[40];
    if (json_is_number(value) && o->list && o->type != OPTION_CHOICE) {
        snprintf(number, sizeof number, "%.15g", json_number_value(value));
        value = json_string(number);
        if (json_object_set_new(object, o->name, value) != 0)
            return false;
    }
    if (json_is_null(value) && is_text(o))
        return !*(const char **)at;
    if (o->type == OPTION_FLAG)
        return json_is_boolean(value) && (*(bool *)at = json_is_true(value), true);
    if (json_is_string(value))
        return is_text(o) && options_set(o, settings, kept_text(json_string_value(value)));
    if (!json_is_number(value) || is_text(o))
        return false;
    snprintf(number, sizeof number, "%.17g", json_number_value(value));
    return options_set(o, settings, number);
}

bool options_take_all(const options_program *program, const char *where, json_t *object, void *settings,
                      tg_error *error)
{
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value) {
        const program_option *o = options_find(program->table, name);
        if (strcmp(name, "version") == 0 || strncmp(name, "checksum", 8) == 0)
            continue;
        if (!o || !take(o, settings, object))
            return o ? tg_fail(error, "%s: \"%.60s\" has a value that the option does not take", where, name)
                     : tg_fail(error, "%s: \"%.60s\" is not an option of %s", where, name, program->name);
    }
    return true;
}

/* The other program that has written this file; NULL: none. */
static const char *written_by(const options_program *program, const json_t *file)
{
    static const char *const writers[][2] = {{"activations", "compare"}, {"activation", "train"}};
    const char *other = NULL;
    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (json_object_get(file, writers[i][0]) && strcmp(program->name, writers[i][1]) != 0)
            other = writers[i][1];
    return other;
}

bool options_load(const options_program *program, const char *path, void *settings, tg_error *error)
{
    static json_t *file; /* the settings point to its texts */
    json_error_t wrong;
    json_decref(file);
    file = NULL;
    FILE *text = files_read(NULL, path, error);
    if (!text)
        return error->text[0] ? false : tg_fail(error, "%s: %s", path, strerror(ENOENT));
    file = json_loadf(text, 0, &wrong);
    if (!files_end_reading(text, NULL, path, error))
        return false;
    if (!file || !json_is_object(file))
        return tg_fail(error, "%s:%d: %s", path, file ? 1 : wrong.line, file ? "expected an object" : wrong.text);
    const char *other = written_by(program, file);
    if (other)
        return tg_fail(error, "%s: these are options of %s: %s --config takes them", path, other, other);
    return options_take_all(program, path, file, settings, error);
}

/* ---- argp ---- */

bool options_has(const options_given *given, const char *name)
{
    int i = 0;
    while (i < given->count && strcmp(given->name[i], name) != 0)
        i++;
    return i < given->count;
}

const char *options_first(const options_given *given, const char *const *names)
{
    while (*names && !options_has(given, *names))
        names++;
    return *names;
}

static options_given *given_in(const options_program *program, void *settings)
{
    return program->given_offset ? (options_given *)(void *)((char *)settings + program->given_offset) : NULL;
}

static void list_options(const options_program *program, const void *settings, bool all);

static error_t parse(int key, char *argument, struct argp_state *state)
{
    reading *r = state->input;
    if (key == HELP_ALL) {
        list_options(r->program, r->settings, true);
        argp_state_help(state, state->out_stream, ARGP_HELP_STD_HELP);
    }
    if (key >= FIRST_KEY && key < FIRST_KEY + OPTIONS_MOST) {
        const program_option *o = &r->program->table[key - FIRST_KEY];
        if (o->once && r->seen[key - FIRST_KEY])
            argp_failure(state, 2, 0, "--%s is given twice: %s", o->name, o->once);
        r->seen[key - FIRST_KEY] = true;
        if (!options_set(o, r->settings, argument))
            refuse(state, o, argument);
        options_given *given = given_in(r->program, r->settings);
        if (given && !options_has(given, o->name))
            given->name[given->count++] = o->name;
        return 0;
    }
    if (r->program->words && key == ARGP_KEY_ARGS) {
        *(char ***)(void *)(r->settings + r->program->words_offset) = &state->argv[state->next];
        return 0;
    }
    if (key == ARGP_KEY_ARG && !r->program->words)
        argp_failure(state, 2, 0, "'%s' is not an option; options begin with two dashes (see --help)", plain(argument));
    return ARGP_ERR_UNKNOWN;
}

/* The help text, followed by the choices (in the short help not by many) and the default. */
static void describe(const program_option *o, const void *settings, bool all, char *text, size_t size)
{
    char number[OPTIONS_WORD];
    int choices = 0;
    while (o->choices && o->choices[choices])
        choices++;
    snprintf(text, size, "%s", o->help);
    if (choices && (all || choices <= FEW)) {
        char listed[HELP_SIZE];
        describe_choices(o, listed, sizeof listed);
        text_add(text, size, ": %s", listed);
    }
    if (o->users)
        text_add(text, size, "; for %s", o->users(o->name));
    const char *word = options_word(o, settings, number);
    if (word && *word)
        text_add(text, size, " [%s]", word);
}

/* When memory runs out, jansson omits members and rejects valid text. The program exits, as it would write incomplete
 * files. */
static void *json_memory(size_t size)
{
    void *memory = malloc(size);
    if (!memory) {
        fprintf(stderr, "%s: out of memory\n", parsed->name);
        exit(1);
    }
    return memory;
}

/* Runs at exit: if some output could not be written, prints an error and fails. */
static const char *printing;

static void close_output(void)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    fprintf(stderr, "%s: cannot write to standard output%s%s\n", printing, errno ? ": " : "",
            errno ? strerror(errno) : "");
    _exit(2);
}

static void print_version(FILE *out, struct argp_state *state)
{
    fprintf(out, "%s (tapegrad) %s\n", state->name, tg_version());
}

static void set_limits(void)
{
    const unsigned long small = system_set_limits();
    if (!small)
        return;
    fprintf(stderr, "%s: a stack of %lu kB is too small; `ulimit -s 8192` allows enough\n", parsed->name, small);
    exit(2);
}

static struct argp_option listed[OPTIONS_MOST + 2];

static bool is_first(const options_program *program, const char *name)
{
    return !program->first || program->first[options_position(program->first, name)];
}

/* Lists the options for argp. A short help hides those that are not among the first, and the headings. */
static void list_options(const options_program *program, const void *settings, bool all)
{
    static char help[OPTIONS_MOST][HELP_SIZE];
    const bool brief = program->first && !all;
    int group = 0, i = 0;
    for (; i < OPTIONS_MOST && options_more(&program->table[i]); i++) {
        const program_option *o = &program->table[i];
        if (o->type == OPTION_GROUP)
            listed[i] = (struct argp_option){.doc = o->help, .group = ++group, .flags = brief ? OPTION_HIDDEN : 0};
        else {
            describe(o, settings, !brief, help[i], sizeof help[i]);
            listed[i] = (struct argp_option){.name = o->name,
                                             .key = FIRST_KEY + i,
                                             .arg = o->argument,
                                             .doc = help[i],
                                             .group = group,
                                             .flags = brief && !is_first(program, o->name) ? OPTION_HIDDEN : 0};
        }
    }
    listed[i] = (struct argp_option){.name = "help-all",
                                     .key = HELP_ALL,
                                     .doc = "Give the help list of all options",
                                     .group = -1,
                                     .flags = brief ? 0 : OPTION_HIDDEN};
}

/* The last part of the name by which the program was called, such as tapegrad-train; its own name where that is
 * another. */
static const char *called_name(void)
{
    const char *slash = called ? strrchr(called, '/') : NULL, *last = slash ? slash + 1 : called;
    return last && ends_with_name(last, parsed->name) ? last : parsed->name;
}

/* The text below the options, in which commands begin with the program's name. */
static char *with_called_name(const char *text)
{
    static const char *const before[] = {"\n", "Example: "};
    const size_t length = strlen(parsed->name);
    char *whole = memory_text("%s", "");
    for (const char *at = text; *at;) {
        const char *next = NULL;
        for (size_t i = 0; i < sizeof before / sizeof *before; i++)
            for (const char *found = strstr(at, before[i]); found && !next; found = strstr(found + 1, before[i]))
                if (strncmp(found + strlen(before[i]), parsed->name, length) == 0 &&
                    found[strlen(before[i]) + length] == ' ')
                    next = found + strlen(before[i]);
        const size_t plain_part = next ? (size_t)(next - at) : strlen(at);
        char *longer = memory_text("%s%.*s%s", whole, (int)plain_part, at, next ? called_name() : "");
        free(whole);
        whole = longer;
        at += plain_part + (next ? length : 0);
    }
    return whole;
}

/* True if the first `length` bytes are the name of an option, or its beginning. */
static bool is_known(const options_program *program, const char *name, size_t length)
{
    for (const program_option *o = program->table; options_more(o); o++)
        if (o->type != OPTION_GROUP && strncmp(o->name, name, length) == 0)
            return true;
    return false;
}

/* The option of which a word such as --lr=1 or --epo has the name or its unambiguous beginning; NULL: none. */
static const program_option *option_meant(const options_program *program, const char *word)
{
    const size_t length = strncmp(word, "--", 2) == 0 ? strcspn(word + 2, "=") : 0;
    const program_option *meant = NULL;
    int count = 0;
    for (const program_option *o = program->table; length && options_more(o); o++) {
        if (!o->name || strncmp(o->name, word + 2, length) != 0)
            continue;
        if (!o->name[length])
            return o;
        meant = o;
        count++;
    }
    return count == 1 ? meant : NULL;
}

char **options_in_full(const options_program *program, int count, char *const *words)
{
    char **full = memory_checked(calloc((size_t)count + 1, sizeof *full));
    for (int i = 0; i < count; i++)
        full[i] = words[i];
    for (int i = 0; i < count && strcmp(words[i], "--") != 0; i++) {
        const program_option *o = option_meant(program, words[i]);
        const char *equals = o ? strchr(words[i], '=') : NULL;
        if (o)
            full[i] = memory_text("--%s%s", o->name, equals ? equals : "");
        i += o && o->argument && !equals; /* its value */
    }
    return full;
}

/* Names the option that is meant by one with an s too many, or too few: --activations of compare, --activation of
 * train.
 */
static void hint_at_plural(const options_program *program, int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *name = argv[i] + 2;
        const size_t length = strncmp(argv[i], "--", 2) == 0 ? strcspn(name, "=") : 0;
        if (length < 4 || is_known(program, name, length) || name[length - 1] != 's' ||
            !is_known(program, name, length - 1))
            continue;
        for (const program_option *o = program->table; options_more(o); o++)
            if (o->type != OPTION_GROUP && strlen(o->name) == length - 1 && strncmp(o->name, name, length - 1) == 0) {
                fprintf(stderr, "%s: there is no option --%s; --%s takes one value\n", program->name,
                        plain_name(name, (char[PLAIN_NAME]){0}), o->name);
                exit(2);
            }
    }
}

void options_parse(const options_program *program, int argc, char **argv, void *settings)
{
    if (program->given_offset)
        given_in(program, settings)->count = 0;
    parsed = program;
    called = argc > 0 ? argv[0] : NULL;
    set_limits();
    json_set_alloc_funcs(json_memory, free);
    if (!printing)
        atexit(close_output);
    printing = program->name;
    list_options(program, settings, false);
    hint_at_plural(program, argc, argv);
    char *after = program->after ? with_called_name(program->after) : NULL;
    char *about = memory_text("%s%s%s", program->about, after ? "\v" : "", after ? after : "");
    free(after);
    argp_err_exit_status = 2;
    argp_program_version_hook = print_version;
    const struct argp argp = {.options = listed, .parser = parse, .args_doc = program->words, .doc = about};
    char *program_name = argv[0];
    argv[0] = (char *)(size_t)called_name(); /* messages begin with it */
    const int failure = argp_parse(&argp, argc, argv, 0, NULL, &(reading){.program = program, .settings = settings});
    if (failure) {
        fprintf(stderr, "%s: the options cannot be read: %s\n", program->name, strerror(failure));
        exit(1);
    }
    argv[0] = program_name;
    free(about);
}

void options_print_word(const char *word, FILE *to)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.,:/+=@%";
    const bool quoted = word[strspn(word, safe)] || !word[0], strange = strcmp(plain(word), word) != 0;
    fputs(strange ? "$'" : quoted ? "'" : "", to);
    for (const unsigned char *letter = (const unsigned char *)word; *letter; letter++)
        if (strange && (*letter < ' ' || *letter > '~'))
            fprintf(to, "\\%03o", *letter);
        else if (strange && strchr("'\\", *letter))
            fprintf(to, "\\%c", *letter);
        else
            fputs(*letter == '\'' ? "'\\''" : (char[]){(char)*letter, '\0'}, to);
    fputs(quoted || strange ? "'" : "", to);
}

static void print_command(const void *command, FILE *to)
{
    char *const *argv = command;
    for (int i = 0; argv[i]; i++) {
        fputs(i ? " " : "", to);
        options_print_word(argv[i], to);
    }
}

char *options_command(char *const *argv)
{
    return files_text(print_command, argv);
}

void options_record(const program_option *table, const void *settings, json_t *object)
{
    for (const program_option *o = table; options_more(o); o++) {
        const void *at = (const char *)settings + o->offset;
        const char *text = is_text(o) ? *(const char *const *)at : NULL;
        if (o->type != OPTION_GROUP)
            json_object_set_new(object, o->name,
                                is_text(o)               ? text ? json_of_text(text) : json_null()
                                              : o->type == OPTION_FLAG ? json_boolean(*(const bool *)at)
                                : o->type == OPTION_INT  ? json_integer(*(const int *)at)
                                                         : json_real(*(const double *)at));
    }
}
