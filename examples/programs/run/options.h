/* Command-line options as a table: one line gives an option's reader, error messages, --help and JSON record.
 *
 *     typedef struct settings { int epochs; double lr; const char *optimizer; bool quiet; } settings;
 *     static const char *const optimizers[] = {"adamw", "sgd", NULL};
 *     static const program_option table[] = {
 *         {"epochs", "N", "passes over the data", OPTION_INT, offsetof(settings, epochs), .low = 1, .high = 1e6},
 *         {"lr", "RATE", "learning rate", OPTION_REAL, offsetof(settings, lr), .low = 0, .high = 1e3},
 *         {"optimizer", "NAME", "optimiser", OPTION_CHOICE, offsetof(settings, optimizer), .choices = optimizers},
 *         {"quiet", NULL, "print less", OPTION_FLAG, offsetof(settings, quiet)},
 *         {0}};
 *     settings s = {.epochs = 20, .lr = 1e-3, .optimizer = "adamw"};      // the defaults, which --help shows
 *     options_parse(&(options_program){"compare", "Trains ...", table}, argc, argv, &s);
 *
 * A wrong option ends the program with status 2 and one line that names the option, what it was given and what was
 * expected. Texts point into argv.
 */
#pragma once

#include <jansson.h>
#include "examples/programs/system/standard.h"

enum { OPTIONS_NUMBERS = 32, OPTIONS_MOST = 112 }; /* maximum numbers of list items, and of options */
enum { OPTIONS_WORD = 40 };

typedef enum option_type {
    OPTION_FLAG,   /* bool: present or not */
    OPTION_INT,    /* int */
    OPTION_REAL,   /* double */
    OPTION_TEXT,   /* const char * */
    OPTION_CHOICE, /* const char *: one of `choices` */
    OPTION_GROUP,  /* not an option: `help` is the heading of the options that follow */
} option_type;

#define OPTIONS_ONE      "it takes one"
#define OPTIONS_ONE_LIST "it takes one list, with commas between"

typedef struct program_option {
    const char *name;     /* without the dashes; NULL in a group's line */
    const char *argument; /* name of its argument in --help; NULL for a flag */
    const char *help;
    option_type type;
    size_t offset;              /* offset of the member in the settings */
    double low, high;           /* bounds of a number, both included */
    const char *const *choices; /* for a text, values that --help lists; its reader checks them */
    bool list;                  /* const char *: one number or choice, or several different ones with commas between */
    const char *word;           /* a list may be this word instead, or a real number, NaN then; NULL: none */
    const char *once;           /* refused when it is given twice, with this advice; NULL: the last one counts */
    /* Which optimisers use the option, for --help: "sgd and rmsprop"; NULL: all. */
    const char *(*users)(const char *name);
} program_option;

typedef struct options_program {
    const char *name;
    const char *about;           /* what the program does: a line or two above the options */
    const program_option *table; /* ends with a line of zeros */
    const char *after;           /* below the options; may be NULL */
    const char *const *first; /* the options that --help shows, ended by NULL, when --help-all shows all; NULL: all */
    const char *words;        /* name of other arguments in --help; NULL: none allowed */
    size_t words_offset;      /* offset of a const char *const *, set to these arguments, ended by NULL */
    size_t given_offset;      /* offset of an options_given, set to the options of the command line; 0: there is none */
} options_program;

/* The options that a command line names: part of the settings, where another value than the default is not enough to
 * know. Copies are independent. */
typedef struct options_given {
    const char *name[OPTIONS_MOST]; /* [count] */
    int count;
} options_given;

bool options_has(const options_given *given, const char *name);

/* The first of some options, ended by NULL, that were given; NULL: none. */
const char *options_first(const options_given *given, const char *const *names);

/* The option of this name; NULL: there is none. For every entry of a table, groups too: for (o = table;
 * options_more(o); o++)
 */
const program_option *options_find(const program_option *table, const char *name);
bool options_more(const program_option *o);

/* Appends options to a table of OPTIONS_MOST lines, except those in `without` (NULL: none). */
void options_join(program_option *table, const program_option *more, const char *const *without);

/* Reads argv into the settings, which have the defaults. Exits for --help, --help-all and --version (status 0) and for
 * errors (2). From then on, the program exits if standard output cannot be written (2) or memory for JSON runs out (1).
 */
void options_parse(const options_program *program, int argc, char **argv, void *settings);

/* The words of a command line with the names of options in full, where they are abbreviated as getopt_long takes them:
 * for code that reads them before options_parse. The list lives as long as the program. */
char **options_in_full(const options_program *program, int count, char *const *words);

/* The number as a record has it, with fifteen digits: settings have no others, so that a run that is repeated from its
 * record has the same numbers. */
double options_recorded(double value);

/* The index of a word among an option's choices. */
int options_position(const char *const *choices, const char *word);

/* Reads settings from a JSON file as options_record writes it; other settings keep their defaults. Refuses unknown
 * names other than "version", values of another kind, and null where the default is a text. On failure false and one
 * line that names the file and the option. Texts live as long as the program. */
bool options_load(const options_program *program, const char *path, void *settings, tg_error *error);

/* The same from an object, whose texts must outlive the settings; `where` begins the message. */
bool options_take_all(const options_program *program, const char *where, json_t *object, void *settings,
                      tg_error *error);

/* Sets an option from a word of the command line; false if the word is invalid for it. And the word for its value,
 * which may be in `text`: "yes" for a flag; NULL for a flag or a text that is not set. */
bool options_set(const program_option *option, void *settings, const char *word);
void options_copy(const program_option *option, const void *from, void *to); /* from one settings to another */
const char *options_word(const program_option *option, const void *settings, char text[OPTIONS_WORD]);

/* True if two settings have the same word for an option, or none. */
bool options_agree(const program_option *option, const void *a, const void *b);

/* The command of another of these programs, as the user would type it: called as build/bin/train, that of predict is
 * build/bin/predict; as tapegrad-train, tapegrad-predict. Quoted for a shell if necessary. */
const char *options_called(const char *program);

/* Adds every option under its name to a JSON object, as a record of the run. */
void options_record(const program_option *table, const void *settings, json_t *object);

/* Prints a word for a shell, quoted if it has special characters (as $'\033' if a terminal would execute them); a
 * command of such words as a text, to be freed. */
void options_print_word(const char *word, FILE *to);
char *options_command(char *const *argv);
