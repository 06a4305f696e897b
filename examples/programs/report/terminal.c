#include "examples/programs/report/terminal.h"

#include "examples/programs/report/files.h"

#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

enum { COLUMNS_UNKNOWN = 80, ROWS_UNKNOWN = 24 };

static int number_from_environment(const char *name, int otherwise)
{
    const char *text = getenv(name);
    long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number < 10000 ? (int)number : otherwise;
}

terminal terminal_of(FILE *stream)
{
    terminal result = {.columns = COLUMNS_UNKNOWN, .rows = ROWS_UNKNOWN};
    int descriptor = stream ? fileno(stream) : -1;
    if (descriptor < 0 || !isatty(descriptor))
        return result;
    const char *kind = getenv("TERM"), *no_colour = getenv("NO_COLOR");
    result.live = kind && *kind && strcmp(kind, "dumb") != 0;
    result.utf8 = system_is_utf8();
    result.colour = result.live && !(no_colour && *no_colour);

    system_terminal_size(descriptor, &result.columns, &result.rows);
    result.columns = result.columns ? result.columns : number_from_environment("COLUMNS", COLUMNS_UNKNOWN);
    result.rows = result.rows ? result.rows : number_from_environment("LINES", ROWS_UNKNOWN);
    return result;
}

int terminal_width(const char *text)
{
    int width = 0;
    for (; *text && *text != '\n'; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80; /* all but continuation bytes */
    return width;
}

static int print_line(FILE *out, const char *line, int room, void (*put)(FILE *out, const char *word))
{
    const int end = (int)strcspn(line, "\n");
    for (int at = 0, used = 0; at < end;) {
        char word[512];
        const int whole = (int)strcspn(line + at, " \n"),
                  length = whole < (int)sizeof word ? whole : plain_length(line + at, sizeof word - 1);
        snprintf(word, sizeof word, "%.*s", length, line + at);
        const int width = terminal_width(word);
        const bool breaks = used > 0 && used + 1 + width > room;
        if (used > 0)
            fputc(breaks ? '\n' : ' ', out);
        used = used == 0 || breaks ? width : used + 1 + width;
        put ? put(out, word) : (void)fputs(word, out);
        at += length + (line[at + length] == ' ');
    }
    fputc('\n', out);
    return end;
}

void terminal_wrap(FILE *out, const char *text, void (*put)(FILE *out, const char *word))
{
    const terminal screen = terminal_of(out);
    char *const clean = strdup(text);
    text = clean ? plain_lines(clean) : "out of memory";
    do {
        text += print_line(out, text, screen.live ? screen.columns - 1 : INT_MAX, put);
        text += *text == '\n';
    } while (*text);
    free(clean);
}

void terminal_wrap_output(FILE *out, void (*write)(const void *context, FILE *to), const void *context)
{
    char *text = files_text(write, context);
    if (text)
        terminal_wrap(out, text, NULL);
    free(text);
}

void terminal_say(const char *program, const char *about, const char *message)
{
    char *text = strdup(message);
    fprintf(stderr, "%s: %s%s%s\n", program, about ? about : "", about ? ": " : "",
            text ? plain_text(text) : "out of memory");
    free(text);
}
