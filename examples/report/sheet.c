#include "examples/report/sheet.h"
#include "examples/report/html.h"
#include "examples/report/table.h"
#include "examples/report/terminal.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 2000 };

typedef enum { HEADING, TEXT, VERDICT, TABLE, PICTURE } kind;

typedef struct item {
    kind kind;
    char *text;       /* for a picture its file */
    const char *says; /* for a picture, stored in `text` after the file's name */
    table *table;
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
    for (int i = 0; s && i < s->count; i++) {
        free(s->items[i].text);
        table_free(s->items[i].table);
    }
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
    s->items[s->count++] = (item){what, copy, says ? copy + length : NULL, NULL};
}

#define FORMAT(text)                                 \
    char text[LINE];                                 \
    va_list arguments;                               \
    va_start(arguments, format);                     \
    vsnprintf(text, sizeof text, format, arguments); \
    va_end(arguments)

void sheet_text(sheet *s, const char *format, ...)
{
    FORMAT(text);
    add(s, TEXT, text, NULL);
}

void sheet_verdict(sheet *s, const char *format, ...)
{
    FORMAT(text);
    add(s, VERDICT, text, NULL);
}

void sheet_heading(sheet *s, const char *text)
{
    add(s, HEADING, text, NULL);
}

void sheet_table(sheet *s, int keys, const char *headings)
{
    const int before = s ? s->count : 0;
    add(s, TABLE, "", NULL);
    if (!s || s->count == before)
        return;
    table *t = s->items[before].table = table_new(keys);
    s->short_of_memory |= !t;
    table_add_columns(t, headings);
}

/* The table that is being filled. */
static table *last_table(const sheet *s)
{
    return s && s->count > 0 ? s->items[s->count - 1].table : NULL;
}

void sheet_column(sheet *s, const char *heading)
{
    table_add_columns(last_table(s), heading);
}

void sheet_row(sheet *s, const char *format, ...)
{
    FORMAT(text);
    table_add_cells(last_table(s), text);
}

void sheet_cell(sheet *s, const char *format, ...)
{
    FORMAT(text);
    table_add_cell(last_table(s), "%s", text);
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

/* ---- the terminal and files ---- */

typedef struct writing {
    const sheet *sheet;
    const char *folder, *command;
    bool drawn; /* true if the folder's pictures show these numbers */
} writing;

static void put_wrapped(FILE *to, const char *text)
{
    terminal_wrap(to, text, NULL);
}

static void put_plain(FILE *to, const char *text)
{
    fputs(text, to);
}

static void put_html_picture(FILE *to, const char *folder, const item *picture)
{
    html_picture(to, folder, picture->text, picture->says);
}

static void put_link(FILE *to, const char *folder, const item *picture)
{
    (void)folder;
    fprintf(to, "![%s](%s)\n\n", picture->says, picture->text);
}

/* What stands around the items of a sheet. */
typedef struct format {
    const char *table, *after_table; /* the format of table_print */
    void (*put)(FILE *to, const char *text);
    const char *marks[TABLE][2]; /* before and after a heading, a text, a verdict */
    void (*picture)(FILE *to, const char *folder, const item *picture);
} format;

static const format on_terminal = {"table", "\n", put_wrapped, {{"", "\n"}, {"", "\n"}, {"", "\n"}}, NULL};
static const format in_markdown = {
    "markdown", "\n", put_plain, {{"### ", "\n\n"}, {"", "\n\n"}, {"**", "**\n\n"}}, put_link};
static const format in_html = {"html",
                               "",
                               html_text,
                               {{"<h2>", "</h2>\n"}, {"<p>", "</p>\n"}, {"<p class=\"verdict\">", "</p>\n"}},
                               put_html_picture};

static bool put_items(const writing *w, const format *f, FILE *to)
{
    bool complete = w->sheet->title && !w->sheet->short_of_memory;
    for (const item *it = w->sheet->items; it < w->sheet->items + w->sheet->count; it++) {
        const bool empty = it->kind == TABLE && table_rows(it->table) == 0;
        const kind as = empty ? TEXT : it->kind;
        if (as == PICTURE && w->drawn)
            f->picture(to, w->folder, it);
        if (as == TABLE) {
            complete &= table_print(it->table, f->table, to);
            fputs(f->after_table, to);
        }
        if (as < TABLE) {
            fputs(f->marks[as][0], to);
            f->put(to, empty ? "Nothing yet." : it->text);
            fputs(f->marks[as][1], to);
        }
    }
    return complete;
}

void sheet_print(const sheet *s, FILE *out)
{
    if (s)
        put_items(&(writing){.sheet = s}, &on_terminal, out);
}

static bool write_html(const void *context, FILE *to)
{
    const writing *w = context;
    html_begin(to, w->sheet->title ? w->sheet->title : "", NULL, false);
    const bool complete = put_items(w, &in_html, to);
    html_element(to, "h2", "To repeat it");
    html_element(to, "pre", w->command);
    html_end(to);
    return complete;
}

static bool write_markdown(const void *context, FILE *to)
{
    const writing *w = context;
    fprintf(to, "## %s\n\n    %s\n\n", w->sheet->title ? w->sheet->title : "", w->command);
    return put_items(w, &in_markdown, to);
}

static bool write_numbers(const void *context, FILE *to)
{
    const writing *w = context;
    return json_dumpf(w->sheet->numbers, to, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 && putc('\n', to) != EOF;
}

bool sheet_write(const sheet *s, const char *folder, const char *command, bool drawn, tg_error *error)
{
    const writing w = {s, folder, command, drawn};
    if (!s)
        return tg_fail(error, "out of memory for the report");
    return files_write(folder, "report.html", write_html, &w, error) &&
           files_write(folder, "report.md", write_markdown, &w, error) &&
           files_write(folder, "numbers.json", write_numbers, &w, error);
}
