/* The table for other programs and for texts. */
#include "examples/lab/html.h"
#include "examples/lab/runlog_table_internal.h"

#include <string.h>

static const table_format formats[] = {
    {"markdown", "", "| ", " | ", " |\n", "\n", "", false, false},
    {"latex", "", "", " & ", " \\\\\n", "\n", "% ", false, false},
    {"csv", "", "", ",", "\n", "", NULL, false, false},
    {"html", "<div class=\"wide\"><table class=\"figures\">\n", "<tr><td>", "</td><td>", "</td></tr>\n",
     "</table></div>\n", "<p>", true, true},
};

const table_format *table_format_of(const char *name)
{
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (strcmp(formats[i].name, name) == 0)
            return &formats[i];
    return NULL;
}

void table_put_text(const table_format *format, const char *text, FILE *out)
{
    const bool latex = strcmp(format->name, "latex") == 0, html = strcmp(format->name, "html") == 0;
    if (strcmp(format->name, "csv") == 0) {
        runlog_text(out, text);
        return;
    }
    for (; *text; text++) {
        if (latex && strchr("%_&#$", *text))
            fputc('\\', out);
        if (latex && strncmp(text, "+/-", 3) == 0) {
            fputs("$\\pm$", out);
            text += 2;
        } else if (html)
            html_letters(out, text, 1);
        else
            fputc(*text, out);
    }
}

/* One row: the titles, or an activation. */
static void put_row(const table_view *table, const runlog_group *group, FILE *out)
{
    const char *before = table->format->begin;
    for (table_column which = 0; which < COLUMNS; which++) {
        char cell[CELL];
        if (!table->shown[which])
            continue;
        if (group)
            table_write_cell(table, which, group, cell);
        else
            table_write_title(table, which, cell);
        size_t length = strlen(cell);
        while (length > 0 && cell[length - 1] == ' ')
            cell[--length] = '\0';
        fputs(before, out);
        table_put_text(table->format, cell, out);
        before = table->format->between;
    }
    fputs(table->format->end, out);
}

void table_print_formatted(const table_view *table, FILE *out)
{
    fputs(table->format->before, out);
    put_row(table, NULL, out);
    if (strcmp(table->format->name, "markdown") == 0) {
        fputs("|---", out);
        for (table_column which = 1; which < COLUMNS; which++)
            fputs(table->shown[which] ? "|---:" : "", out);
        fputs("|\n", out);
    }
    for (int i = 0; i < table->count; i++)
        put_row(table, &table->groups[i], out);
    fputs(table->format->after, out);
}
