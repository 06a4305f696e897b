#include "examples/report/sheet.h"
#include "examples/report/html.h"
#include "examples/report/terminal.h"

#include <ctype.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 24, LINE = 2000 };

typedef enum { HEADING, TEXT, VERDICT, TABLE, ROW, PICTURE } kind;

typedef struct item {
    kind kind;
    char *text;       /* of a table the headings, of a picture its file */
    const char *says; /* of a picture; lives in text, behind the file's name */
    int keys;         /* of a table */
} item;

struct sheet {
    char *title;
    item *items;
    int count;
    json_t *numbers;
    bool short_of_memory;
};

sheet *sheet_new(const char *title)
{
    sheet *s = calloc(1, sizeof *s);
    if (s) {
        s->title = strdup(title);
        s->numbers = json_object();
    }
    return s;
}

void sheet_free(sheet *s)
{
    for (int i = 0; s && i < s->count; i++)
        free(s->items[i].text);
    if (s) {
        free(s->items);
        free(s->title);
        json_decref(s->numbers);
    }
    free(s);
}

/* ---- filling ---- */

static void add(sheet *s, kind what, const char *text, const char *says)
{
    if (!s)
        return;
    const size_t length = strlen(text) + 1, more = says ? strlen(says) + 1 : 0;
    item *items = realloc(s->items, ((size_t)s->count + 1) * sizeof *items);
    s->items = items ? items : s->items;
    char *copy = items ? malloc(length + more) : NULL;
    if (!copy) {
        s->short_of_memory = true;
        return;
    }
    memcpy(copy, text, length);
    if (says)
        memcpy(copy + length, says, more);
    s->items[s->count++] = (item){what, copy, says ? copy + length : NULL, 0};
}

static void add_formatted(sheet *s, kind what, const char *format, va_list arguments)
{
    char text[LINE];
    vsnprintf(text, sizeof text, format, arguments);
    add(s, what, text, NULL);
}

#define ADD(what)                              \
    va_list arguments;                         \
    va_start(arguments, format);               \
    add_formatted(s, what, format, arguments); \
    va_end(arguments)

void sheet_text(sheet *s, const char *format, ...)
{
    ADD(TEXT);
}

void sheet_verdict(sheet *s, const char *format, ...)
{
    ADD(VERDICT);
}

void sheet_row(sheet *s, const char *format, ...)
{
    ADD(ROW);
}

void sheet_heading(sheet *s, const char *text)
{
    add(s, HEADING, text, NULL);
}

void sheet_table(sheet *s, int keys, const char *headings)
{
    const int before = s ? s->count : 0;
    add(s, TABLE, headings, NULL);
    if (s && s->count > before)
        s->items[before].keys = keys;
}

void sheet_picture(sheet *s, const char *file, const char *says)
{
    add(s, PICTURE, file, says);
}

void sheet_number(sheet *s, const char *key, double value)
{
    if (s && isfinite(value) && json_object_set_new(s->numbers, key, json_real(value)) != 0)
        s->short_of_memory = true;
}

double sheet_number_of(const sheet *s, const char *key)
{
    const json_t *number = s ? json_object_get(s->numbers, key) : NULL;
    return number ? json_number_value(number) : NAN;
}

/* ---- cells ---- */

typedef struct cell {
    const char *text;
    int length;
} cell;

static int cut(const char *text, cell cells[CELLS])
{
    int count = 0;
    while (count < CELLS) {
        const size_t length = strcspn(text, "|");
        cells[count++] = (cell){text, (int)length};
        if (!text[length])
            break;
        text += length + 1;
    }
    return count;
}

static bool is_number(cell c)
{
    return c.length == 0 || isdigit((unsigned char)c.text[0]) ||
           (strchr("-+.<>", c.text[0]) && (c.length == 1 || strchr("0123456789.", c.text[1])));
}

/* Where the rows of the table at `at` end; their widths, and which columns hold numbers only. */
static int survey(const sheet *s, int at, int width[CELLS], bool number[CELLS])
{
    int end = at;
    for (int c = 0; c < CELLS; c++)
        width[c] = 0, number[c] = true;
    for (; end < s->count && (end == at || s->items[end].kind == ROW); end++) {
        cell cells[CELLS];
        const int count = cut(s->items[end].text, cells);
        for (int c = 0; c < count; c++) {
            width[c] = cells[c].length > width[c] ? cells[c].length : width[c];
            number[c] = number[c] && (end == at || is_number(cells[c]));
        }
    }
    return end;
}

static const char nothing[] = "Nothing yet.";

/* Whether the table at `at` has no rows. */
static bool is_empty(const sheet *s, int at)
{
    return at + 1 == s->count || s->items[at + 1].kind != ROW;
}

/* ---- the terminal ---- */

/* Columns first .. last of a row, behind the first `keys` ones. */
static void print_row(const char *text, int keys, int first, int last, const int width[CELLS], const bool number[CELLS],
                      FILE *out)
{
    cell cells[CELLS];
    const int count = cut(text, cells);
    int blanks = 0; /* behind the cell before */
    for (int c = 0; c < count && c <= last; c++) {
        if (c >= keys && c < first)
            continue;
        const int free_ = width[c] - cells[c].length;
        fprintf(out, "%*s%.*s", blanks + (number[c] ? free_ : 0), "", cells[c].length, cells[c].text);
        blanks = 2 + (number[c] ? 0 : free_);
    }
    putc('\n', out);
}

/* As many columns as fit side by side, each time behind the key columns. */
static void print_table(const sheet *s, int at, int end, const int width[CELLS], const bool number[CELLS], int columns,
                        FILE *out)
{
    cell cells[CELLS];
    const int count = cut(s->items[at].text, cells), keys = s->items[at].keys;
    for (int first = keys, last; first < count; first = last + 1) {
        int used = 0;
        for (int c = 0; c < keys; c++)
            used += width[c] + 2;
        for (last = first; last < count && (last == first || used + width[last] <= columns); last++)
            used += width[last] + 2;
        last--;
        for (int r = at; r < end; r++)
            print_row(s->items[r].text, keys, first, last, width, number, out);
        putc('\n', out);
    }
}

/* Words in lines of at most `columns`. */
static void print_words(const char *text, int columns, FILE *out)
{
    int used = 0;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (used && used + 1 + length > columns) {
            putc('\n', out);
            used = 0;
        }
        used += fprintf(out, "%s%.*s", used ? " " : "", length, text);
        text += length;
        text += *text == ' ';
    }
    fputs("\n\n", out);
}

void sheet_print(const sheet *s, FILE *out)
{
    const int columns = terminal_of(out).columns;
    int width[CELLS];
    bool number[CELLS];
    for (int i = 0; s && i < s->count; i++)
        switch (s->items[i].kind) {
        case HEADING:
            fprintf(out, "%s\n\n", s->items[i].text);
            break;
        case TEXT:
        case VERDICT:
            print_words(s->items[i].text, columns, out);
            break;
        case TABLE: {
            const int end = survey(s, i, width, number);
            if (is_empty(s, i))
                print_words(nothing, columns, out);
            else
                print_table(s, i, end, width, number, isatty(fileno(out)) ? columns : INT_MAX / 2, out);
            i = end - 1;
            break;
        }
        case ROW:
        case PICTURE:
            break;
        }
}

/* ---- files ---- */

typedef struct writing {
    const sheet *sheet;
    const char *folder, *command;
    bool drawn; /* whether the folder's pictures are of these numbers */
} writing;

static void put_html_table(const sheet *s, int at, int end, const bool number[CELLS], FILE *to)
{
    fputs("<div class=\"wide\"><table>\n", to);
    for (int r = at; r < end; r++) {
        cell cells[CELLS];
        const int count = cut(s->items[r].text, cells);
        const char *tag = r == at ? "th" : "td";
        fputs("<tr>", to);
        for (int c = 0; c < count; c++) {
            fprintf(to, "<%s%s>", tag, number[c] ? " class=\"n\"" : "");
            html_letters(to, cells[c].text, (size_t)cells[c].length);
            fprintf(to, "</%s>", tag);
        }
        fputs("</tr>\n", to);
    }
    fputs("</table></div>\n", to);
}

static void put_element(const char *tag, const char *of_class, const char *text, FILE *to)
{
    fprintf(to, "<%s%s>", tag, of_class);
    html_text(to, text);
    fprintf(to, "</%s>\n", tag);
}

static bool write_html(const void *context, FILE *to)
{
    const writing *w = context;
    const sheet *s = w->sheet;
    int width[CELLS];
    bool number[CELLS];
    html_begin(to, s->title ? s->title : "", NULL);
    for (int i = 0; i < s->count; i++) {
        const item *it = &s->items[i];
        switch (it->kind) {
        case HEADING:
            put_element("h2", "", it->text, to);
            break;
        case TEXT:
            put_element("p", "", it->text, to);
            break;
        case VERDICT:
            put_element("p", " class=\"verdict\"", it->text, to);
            break;
        case PICTURE:
            if (w->drawn)
                html_picture(to, w->folder, it->text, it->says);
            break;
        case TABLE: {
            const int end = survey(s, i, width, number);
            if (is_empty(s, i))
                put_element("p", "", nothing, to);
            else
                put_html_table(s, i, end, number, to);
            i = end - 1;
            break;
        }
        case ROW:
            break;
        }
    }
    put_element("h2", "", "To repeat it", to);
    put_element("pre", "", w->command, to);
    html_end(to);
    return s->title && !s->short_of_memory;
}

static void put_markdown_row(const char *text, const bool number[CELLS], bool heading, FILE *to)
{
    cell cells[CELLS];
    const int count = cut(text, cells);
    fputs("|", to);
    for (int c = 0; c < count; c++)
        fprintf(to, " %.*s |", cells[c].length, cells[c].text);
    fputs(heading ? "\n|" : "\n", to);
    for (int c = 0; heading && c < count; c++)
        fputs(number[c] ? "---:|" : "---|", to);
    fputs(heading ? "\n" : "", to);
}

static bool write_markdown(const void *context, FILE *to)
{
    const writing *w = context;
    const sheet *s = w->sheet;
    int width[CELLS];
    bool number[CELLS];
    fprintf(to, "## %s\n\n    %s\n\n", s->title ? s->title : "", w->command);
    for (int i = 0; i < s->count; i++) {
        const item *it = &s->items[i];
        switch (it->kind) {
        case HEADING:
            fprintf(to, "### %s\n\n", it->text);
            break;
        case TEXT:
            fprintf(to, "%s\n\n", it->text);
            break;
        case VERDICT:
            fprintf(to, "**%s**\n\n", it->text);
            break;
        case PICTURE:
            if (w->drawn)
                fprintf(to, "![%s](%s)\n\n", it->says, it->text);
            break;
        case TABLE:
            survey(s, i, width, number);
            if (is_empty(s, i))
                fputs(nothing, to);
            else
                put_markdown_row(it->text, number, true, to);
            break;
        case ROW:
            put_markdown_row(it->text, number, false, to);
            break;
        }
        if ((it->kind == ROW || it->kind == TABLE) && (i + 1 == s->count || s->items[i + 1].kind != ROW))
            putc('\n', to);
    }
    return s->title && !s->short_of_memory;
}

static bool write_numbers(const void *context, FILE *to)
{
    const writing *w = context;
    return json_dumpf(w->sheet->numbers, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 && putc('\n', to) != EOF;
}

bool sheet_write(const sheet *s, const char *folder, const char *command, bool drawn, char message[FILES_MESSAGE])
{
    const writing w = {s, folder, command, drawn};
    if (!s)
        return snprintf(message, FILES_MESSAGE, "out of memory for the report"), false;
    return files_write(folder, "report.html", write_html, &w, message) &&
           files_write(folder, "report.md", write_markdown, &w, message) &&
           files_write(folder, "numbers.json", write_numbers, &w, message);
}
