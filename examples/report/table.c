#include "examples/report/html.h"
#include "examples/report/table_internal.h"
#include "examples/report/terminal.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- filling ---- */

table *table_new(int keys)
{
    table *t = calloc(1, sizeof *t);
    if (t)
        t->keys = keys;
    return t;
}

void table_free(table *t)
{
    if (!t)
        return;
    for (int c = 0; c < t->count; c++) {
        free((void *)t->columns[c].name);
        free((void *)t->columns[c].csv);
        free((void *)t->columns[c].meaning);
    }
    for (int i = 0; i < t->rows * t->count; i++)
        free(t->cells[i].text);
    for (int i = 0; i < t->noted; i++)
        free(t->notes[i].text);
    free(t->cells);
    free(t->notes);
    free(t->caption);
    free(t);
}

static char *copy(table *t, const char *text)
{
    char *copied = text ? strdup(text) : NULL;
    t->lost |= text && !copied;
    return copied;
}

void table_caption(table *t, const char *caption)
{
    if (!t)
        return;
    free(t->caption);
    t->caption = copy(t, caption);
}

void table_add_column(table *t, const table_column *column)
{
    if (!t)
        return;
    if (t->count == TABLE_COLUMNS || t->rows > 0) {
        t->lost = true;
        return;
    }
    table_column *added = &t->columns[t->count++];
    *added = *column;
    added->name = copy(t, column->name);
    added->csv = copy(t, column->csv);
    added->meaning = copy(t, column->meaning);
}

void table_add_columns(table *t, const char *names)
{
    for (const char *end = names; t; names = end + 1) {
        end = names + strcspn(names, "|");
        char *name = strndup(names, (size_t)(end - names));
        t->lost |= !name;
        table_add_column(t, &(table_column){.name = name});
        free(name);
        if (!*end)
            break;
    }
}

void table_add_row(table *t)
{
    if (!t)
        return;
    cell *cells = realloc(t->cells, (size_t)(t->rows + 1) * (size_t)t->count * sizeof *cells);
    t->lost |= !cells;
    t->filled = t->count; /* a cell needs a row */
    if (!cells)
        return;
    t->cells = cells;
    memset(cells + t->rows * t->count, 0, (size_t)t->count * sizeof *cells);
    t->rows++;
    t->filled = 0;
}

/* The next cell of the last row; NULL if there is none. */
static cell *next_cell(table *t)
{
    if (!t || t->rows == 0 || t->filled == t->count)
        return NULL;
    return &t->cells[(t->rows - 1) * t->count + t->filled++];
}

static cell *last_cell(table *t)
{
    return t && t->rows > 0 && t->filled > 0 ? &t->cells[(t->rows - 1) * t->count + t->filled - 1] : NULL;
}

static char *formatted(table *t, const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    t->lost |= !text;
    return text;
}

void table_add_cell(table *t, const char *format, ...)
{
    cell *to = next_cell(t);
    va_list arguments;
    va_start(arguments, format);
    if (to)
        to->text = formatted(t, format, arguments);
    va_end(arguments);
}

void table_add_cells(table *t, const char *cells)
{
    table_add_row(t);
    for (const char *end = cells; t; cells = end + 1) {
        end = cells + strcspn(cells, "|");
        table_add_cell(t, "%.*s", (int)(end - cells), cells);
        if (!*end)
            break;
    }
}

void table_numbers(table *t, int count, const double numbers[])
{
    cell *of = last_cell(t);
    for (int i = 0; of && i < count && i < TABLE_NUMBERS; i++)
        of->numbers[i] = numbers[i];
    if (of)
        of->count = count < TABLE_NUMBERS ? count : TABLE_NUMBERS;
}

void table_set_mark(table *t, table_mark mark, double strength)
{
    cell *of = last_cell(t);
    if (of) {
        of->mark = mark;
        of->strength = strength;
    }
}

static void add_note(table *t, bool verdict, const char *format, va_list arguments)
{
    struct note *notes = t ? realloc(t->notes, (size_t)(t->noted + 1) * sizeof *notes) : NULL;
    char *text = notes ? formatted(t, format, arguments) : NULL;
    if (t) {
        t->notes = notes ? notes : t->notes;
        t->lost |= !text;
    }
    if (text)
        notes[t->noted++] = (struct note){text, verdict};
}

void table_add_note(table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(t, false, format, arguments);
    va_end(arguments);
}

void table_add_verdict(table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(t, true, format, arguments);
    va_end(arguments);
}

int table_rows(const table *t)
{
    return t ? t->rows : 0;
}

/* ---- visible columns ---- */

const cell *table_cell_at(const table *t, int row, int column)
{
    return &t->cells[row * t->count + column];
}

const char *table_text_of(const table *t, int row, int column)
{
    const char *text = row < 0 ? t->columns[column].name : table_cell_at(t, row, column)->text;
    return text ? text : "";
}

/* True if any row has text in this column. Without rows, every column counts, for its heading. */
bool table_is_shown(const table *t, int column)
{
    for (int row = 0; row < t->rows; row++)
        if (table_text_of(t, row, column)[0])
            return true;
    return t->rows == 0;
}

static bool is_number(const char *text)
{
    return !*text || isdigit((unsigned char)*text) || strcmp(text, "nan") == 0 || strcmp(text, "nan ") == 0 ||
           (strchr("-+.<>", *text) && (!text[1] || strchr("0123456789.", text[1])));
}

bool table_is_right(const table *t, int column)
{
    for (int row = 0; row < t->rows; row++)
        if (!is_number(table_text_of(t, row, column)))
            return false;
    return true;
}

/* ---- replacing characters that a terminal cannot show ---- */

static const struct sign {
    const char *utf8, *ascii, *latex;
} signs[] = {{"±", "+/-", "$\\pm$"}, {"Δ", "diff", "$\\Delta$"}, {"µ", "u", "$\\mu$"}, {"²", "2", "$^2$"},
             {"<", "<", "$<$"},      {">", ">", "$>$"},          {"|", "|", "$|$"}};

static const struct sign *sign_at(const char *text)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(text, signs[i].utf8, strlen(signs[i].utf8)) == 0)
            return &signs[i];
    return NULL;
}

/* The text in ASCII, as far as possible, to be freed. */
char *table_in_ascii(const char *text)
{
    char *plain = malloc(4 * strlen(text) + 1), *to = plain;
    for (const struct sign *sign; plain && *text; text += sign ? strlen(sign->utf8) : 1) {
        sign = sign_at(text);
        to = sign ? stpcpy(to, sign->ascii) : (*to = *text, to + 1);
    }
    if (plain)
        *to = '\0';
    return plain;
}

static size_t trimmed(const char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        length--;
    return length;
}

/* Works without allocating, so that no word is lost when memory runs out. */
static void put_ascii(FILE *out, const char *text)
{
    for (const char *end = text + trimmed(text); text < end;) {
        const struct sign *sign = sign_at(text);
        fprintf(out, "%.*s", sign ? INT_MAX : 1, sign ? sign->ascii : text);
        text += sign ? strlen(sign->utf8) : 1;
    }
}

static void put_markdown(FILE *out, const char *text)
{
    for (const char *end = text + trimmed(text); text < end;) {
        const struct sign *sign = sign_at(text);
        if (*text == '|')
            fputs("\\|", out);
        else if (*text == '\n')
            fputc(' ', out);
        else
            fprintf(out, "%.*s", sign ? INT_MAX : 1, sign ? sign->ascii : text);
        text += sign ? strlen(sign->utf8) : 1;
    }
}

static void put_latex(FILE *out, const char *text)
{
    const char *end = text + trimmed(text);
    while (text < end) {
        const struct sign *sign = sign_at(text);
        if (sign)
            fputs(sign->latex, out);
        else if (strchr("\\~^", *text))
            fprintf(out, "\\text%s{}", *text == '\\' ? "backslash" : *text == '~' ? "asciitilde" : "asciicircum");
        else
            fprintf(out, strchr("%_&#${}", *text) ? "\\%c" : "%c", *text == '\n' ? ' ' : *text);
        text += sign ? strlen(sign->utf8) : 1;
    }
}

/* ---- texts ---- */

/* One row, or the headings for -1, with text before each cell and after the last. */
static void put_row(const table *t, int row, const char *begin, const char *between, const char *end,
                    void (*put)(FILE *out, const char *text), FILE *out)
{
    const char *before = begin;
    for (int c = 0; c < t->count; c++) {
        if (!table_is_shown(t, c))
            continue;
        fputs(before, out);
        put(out, table_text_of(t, row, c));
        before = between;
    }
    fputs(end, out);
}

static bool print_markdown(const table *t, FILE *out)
{
    if (t->caption)
        fprintf(out, "**%s**\n\n", t->caption);
    for (int row = -1; row < t->rows; row++) {
        put_row(t, row, "| ", " | ", " |\n", put_markdown, out);
        for (int c = 0; row < 0 && c < t->count; c++)
            if (table_is_shown(t, c))
                fputs(table_is_right(t, c) ? "|---:" : "|---", out);
        fputs(row < 0 ? "|\n" : "", out);
    }
    return true;
}

static bool print_latex(const table *t, FILE *out)
{
    fputs("\\begin{tabular}{", out);
    for (int c = 0; c < t->count; c++)
        if (table_is_shown(t, c))
            fputc(table_is_right(t, c) ? 'r' : 'l', out);
    fputs("}\n\\hline\n", out);
    for (int row = -1; row < t->rows; row++)
        put_row(t, row, "", " & ", row < 0 ? " \\\\\n\\hline\n" : " \\\\\n", put_latex, out);
    fputs("\\hline\n\\end{tabular}\n", out);
    return true;
}

static bool print_html(const table *t, FILE *out)
{
    static const char *const classes[] = {"", " good", " bad", "", ""};
    fputs("<div class=\"wide\"><table>\n", out);
    if (t->caption)
        html_element(out, "caption", t->caption);
    for (int row = -1; row < t->rows; row++) {
        fputs("<tr>", out);
        for (int c = 0; c < t->count; c++) {
            if (!table_is_shown(t, c))
                continue;
            const cell *this = row < 0 ? &(cell){0} : table_cell_at(t, row, c);
            const char *tag = row < 0 ? "th" : "td", *right = table_is_right(t, c) ? "n" : "";
            fprintf(out, "<%s", tag);
            if (*right || *classes[this->mark])
                fprintf(out, " class=\"%s%s\"", right,
                        classes[this->mark] + (*right ? 0 : *classes[this->mark] == ' '));
            if (this->mark == TABLE_SHADED_GOOD || this->mark == TABLE_SHADED_BAD)
                fprintf(out, " style=\"background:rgba(%s,%.3f)\"",
                        this->mark == TABLE_SHADED_GOOD ? "0,114,178" : "213,94,0", 0.6 * this->strength);
            if (row < 0 && t->columns[c].meaning) {
                fputs(" title=\"", out);
                html_text(out, t->columns[c].meaning);
                fputc('"', out);
            }
            fputc('>', out);
            const char *text = table_text_of(t, row, c);
            html_letters(out, text, trimmed(text));
            fprintf(out, "</%s>", tag);
        }
        fputs("</tr>\n", out);
    }
    fputs("</table></div>\n", out);
    return true;
}

/* ---- CSV: RFC 4180, a number in each field ---- */

void table_csv_text(FILE *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    fputs(quoted ? "\"" : "", out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputs(quoted ? "\"" : "", out);
}

/* The number of fields of a column, and for each whether any row has a number in it. */
static int fields_of(const table *t, int column)
{
    int fields = 1;
    for (const char *at = t->columns[column].csv; at && *at; at++)
        fields += *at == ',';
    return fields;
}

static bool has_field(const table *t, int column, int field)
{
    bool found = t->rows == 0;
    for (int row = 0; row < t->rows && !found; row++) {
        const cell *of = table_cell_at(t, row, column);
        found = of->count ? field < of->count && !isnan(of->numbers[field]) : field == 0 && of->text && of->text[0];
    }
    return found;
}

/* A text in ASCII, trimmed. */
static void put_csv_text(const char *text, FILE *out)
{
    char *plain = table_in_ascii(text);
    if (plain)
        plain[trimmed(plain)] = '\0';
    table_csv_text(out, plain ? plain : "");
    free(plain);
}

static void put_field(const table *t, int row, int column, int field, FILE *out)
{
    const cell *of = row < 0 ? &(cell){0} : table_cell_at(t, row, column);
    const char *name = t->columns[column].csv;
    for (int i = 0; row < 0 && name && i < field; i++)
        name += strcspn(name, ",") + 1;
    if (row < 0 && name)
        fprintf(out, "%.*s", (int)strcspn(name, ","), name);
    else if (of->count == 0 && field == 0)
        put_csv_text(table_text_of(t, row, column), out);
    else if (field < of->count && !isnan(of->numbers[field]))
        fprintf(out, "%.9g", of->numbers[field]);
}

static bool print_csv(const table *t, FILE *out)
{
    for (int row = -1; row < t->rows; row++) {
        bool first = true;
        for (int c = 0; c < t->count; c++)
            for (int field = 0; field < fields_of(t, c); field++) {
                if (!has_field(t, c, field))
                    continue;
                fputs(first ? "" : ",", out);
                put_field(t, row, c, field, out);
                first = false;
            }
        fputc('\n', out);
    }
    return true;
}

/* ---- output ---- */

static const struct format {
    const char *name;
    bool (*print)(const table *t, FILE *out);
    const char *before, *after;               /* of a note; NULL: no notes */
    const char *verdict;                      /* before a verdict */
    void (*put)(FILE *out, const char *text); /* prints a word of a note; NULL: in the terminal's character set */
} formats[] = {{"markdown", print_markdown, "", "", "- ", put_markdown},
               {"latex", print_latex, "% ", "", "% ", put_ascii},
               {"csv", print_csv, NULL, NULL, NULL, NULL},
               {"html", print_html, "<p class=\"note\">", "</p>\n", "<p class=\"verdict\">", html_text},
               {"table", table_print_on_terminal, "", "", "", NULL}};

static void put_note(const struct format *format, const char *before, const char *text, FILE *out)
{
    void (*put)(FILE *, const char *) = format->put ? format->put : terminal_of(out).utf8 ? NULL : put_ascii;
    fputs(before, out);
    if (*format->after)
        put(out, text);
    else
        terminal_wrap(out, text, put);
    fputs(format->after, out);
}

/* Verdicts, notes and explanations of the columns, each kind after an empty line. */
static bool print_notes(const table *t, const struct format *format, FILE *out)
{
    const bool spaced = strcmp(format->name, "html") != 0;
    for (int notes = 0; notes < 2; notes++)
        for (int i = 0, any = 0; i < t->noted; i++)
            if (t->notes[i].verdict == !notes) {
                fputs(spaced && any++ == 0 ? "\n" : "", out);
                put_note(format, notes ? format->before : format->verdict, t->notes[i].text, out);
            }
    for (int c = 0, any = 0; c < t->count; c++)
        if (t->columns[c].meaning && table_is_shown(t, c) && t->rows > 0) {
            char *text = NULL;
            if (asprintf(&text, "%.*s: %s.", (int)trimmed(t->columns[c].name), t->columns[c].name,
                         t->columns[c].meaning) < 0)
                return false;
            fputs(spaced && any++ == 0 && t->noted == 0 ? "\n" : "", out);
            put_note(format, format->before, text, out);
            free(text);
        }
    return true;
}

bool table_print(const table *t, const char *name, FILE *out)
{
    const struct format *format = formats;
    while (format < formats + sizeof formats / sizeof *formats - 1 && strcmp(format->name, name) != 0)
        format++;
    return t && !t->lost && format->print(t, out) && (!format->before || print_notes(t, format, out));
}
