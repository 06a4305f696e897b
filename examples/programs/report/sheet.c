#include "examples/programs/report/sheet.h"
#include "examples/programs/report/html.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/terminal.h"

typedef enum { HEADING, TEXT, VERDICT, TABLE, PICTURE } kind;

typedef struct item {
    kind kind;
    const char *text, *says; /* of a picture: its file, and what it says */
    table *table;
} item;

struct sheet {
    const char *title;
    item *items; /* [count] */
    int count;
    table *filled; /* the last table */
    texts texts;   /* of the items */
};

sheet *sheet_new(const char *title)
{
    sheet *s = memory_checked(calloc(1, sizeof *s));
    s->title = texts_add(&s->texts, "%s", title);
    return s;
}

void sheet_free(sheet *s)
{
    for (int i = 0; i < s->count; i++)
        table_free(s->items[i].table);
    texts_free(&s->texts);
    free(s->items);
    free(s);
}

/* ---- filling ---- */

static void add(sheet *s, item added)
{
    s->items = memory_grown(s->items, (size_t)s->count, sizeof *s->items);
    s->items[s->count++] = added;
}

void sheet_text(sheet *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(s, (item){.kind = TEXT, .text = texts_add_list(&s->texts, format, arguments)});
    va_end(arguments);
}

void sheet_verdict(sheet *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add(s, (item){.kind = VERDICT, .text = texts_add_list(&s->texts, format, arguments)});
    va_end(arguments);
}

void sheet_heading(sheet *s, const char *text)
{
    add(s, (item){.kind = HEADING, .text = texts_add(&s->texts, "%s", text)});
}

void sheet_picture(sheet *s, const char *file, const char *says)
{
    add(s, (item){.kind = PICTURE, .text = texts_add(&s->texts, "%s", file), .says = texts_add(&s->texts, "%s", says)});
}

void sheet_table(sheet *s, int keys, const char *headings)
{
    s->filled = table_new(keys);
    table_add_columns(s->filled, headings);
    add(s, (item){.kind = TABLE, .table = s->filled});
}

void sheet_row(sheet *s, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    table_add_cells(s->filled, texts_add_list(&s->texts, format, arguments));
    va_end(arguments);
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

/* What stands around the items of a sheet. */
typedef struct format {
    const char *table, *after_table; /* the format of table_print */
    void (*put)(FILE *to, const char *text);
    const char *marks[TABLE][2]; /* before and after a heading, a text, a verdict */
} format;

static const format on_terminal = {"table", "\n", put_wrapped, {{"", "\n"}, {"", "\n"}, {"", "\n"}}};
static const format in_markdown = {
    "markdown", "\n", table_markdown_text, {{"### ", "\n\n"}, {"", "\n\n"}, {"**", "**\n\n"}}};
static const format in_html = {
    "html", "", html_text, {{"<h2>", "</h2>\n"}, {"<p>", "</p>\n"}, {"<p class=\"verdict\">", "</p>\n"}}};

static void put_picture(const item *it, FILE *to)
{
    fputs("![", to);
    table_markdown_text(to, it->says);
    fprintf(to, "](%s)\n\n", it->text);
}

static void put_items(const writing *w, const format *f, FILE *to)
{
    for (const item *it = w->sheet->items; it < w->sheet->items + w->sheet->count; it++) {
        const bool empty = it->kind == TABLE && table_rows(it->table) == 0;
        const kind as = empty ? TEXT : it->kind;
        if (as == PICTURE && w->drawn && f == &in_html)
            html_picture(to, w->folder, it->text, it->says);
        if (as == PICTURE && w->drawn && f == &in_markdown)
            put_picture(it, to);
        if (as == TABLE) {
            table_print(it->table, f->table, to);
            fputs(f->after_table, to);
        }
        if (as < TABLE) {
            fputs(f->marks[as][0], to);
            f->put(to, empty ? "Nothing yet." : it->text);
            fputs(f->marks[as][1], to);
        }
    }
}

void sheet_print(const sheet *s, FILE *out)
{
    put_items(&(writing){.sheet = s}, &on_terminal, out);
}

static bool write_html(const void *context, FILE *to)
{
    const writing *w = context;
    html_begin(to, w->sheet->title, NULL, false);
    put_items(w, &in_html, to);
    html_element(to, "h2", "To repeat it");
    html_element(to, "pre", w->command);
    html_end(to);
    return true;
}

static bool write_markdown(const void *context, FILE *to)
{
    const writing *w = context;
    fputs("## ", to);
    table_markdown_text(to, w->sheet->title);
    fprintf(to, "\n\n    %s\n\n", w->command);
    put_items(w, &in_markdown, to);
    return true;
}

bool sheet_write(const sheet *s, const char *folder, const char *command, bool drawn, tg_error *error)
{
    const writing w = {s, folder, command, drawn};
    return files_write(folder, "report.html", write_html, &w, error) &&
           files_write(folder, "report.md", write_markdown, &w, error);
}
