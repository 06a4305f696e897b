#include "examples/report/table.h"
#include "examples/report/html.h"
#include "examples/report/terminal.h"

#include <ctype.h>
#include <libsmartcols/libsmartcols.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

typedef struct cell {
    char *text; /* NULL: empty */
    double numbers[TABLE_NUMBERS];
    int count; /* of the numbers */
    table_mark mark;
    double strength;
} cell;

struct note {
    char *text;
    bool verdict;
};

struct table {
    table_column columns[TABLE_COLUMNS]; /* [count]; the strings are ours */
    cell *cells;                         /* [rows, count] */
    struct note *notes;                  /* [noted] */
    char *caption;
    int keys, count, rows, noted;
    int filled; /* cells of the last row */
    bool lost;  /* memory ran out and something is missing */
};

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

void table_add_row(table *t)
{
    if (!t)
        return;
    cell *cells = realloc(t->cells, (size_t)(t->rows + 1) * (size_t)t->count * sizeof *cells);
    t->lost |= !cells;
    t->filled = t->count; /* nothing fits into a row that is not there */
    if (!cells)
        return;
    t->cells = cells;
    memset(cells + t->rows * t->count, 0, (size_t)t->count * sizeof *cells);
    t->rows++;
    t->filled = 0;
}

/* The next cell of the last row; NULL where there is none. */
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

/* ---- what is shown ---- */

static const cell *cell_at(const table *t, int row, int column)
{
    return &t->cells[row * t->count + column];
}

static const char *text_of(const table *t, int row, int column)
{
    const char *text = row < 0 ? t->columns[column].name : cell_at(t, row, column)->text;
    return text ? text : "";
}

/* Whether any row has something in this column; where there are no rows the headings are all there is. */
static bool is_shown(const table *t, int column)
{
    for (int row = 0; row < t->rows; row++)
        if (text_of(t, row, column)[0])
            return true;
    return t->rows == 0;
}

static bool is_number(const char *text)
{
    return !*text || isdigit((unsigned char)*text) || strcmp(text, "nan") == 0 || strcmp(text, "nan ") == 0 ||
           (strchr("-+.<>", *text) && (!text[1] || strchr("0123456789.", text[1])));
}

static bool is_right(const table *t, int column)
{
    for (int row = 0; row < t->rows; row++)
        if (!is_number(text_of(t, row, column)))
            return false;
    return true;
}

/* ---- signs that not every reader has ---- */

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

/* The text in ASCII as far as we know how, to be freed. */
static char *in_ascii(const char *text)
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

static void put_ascii(FILE *out, const char *text)
{
    char *plain = in_ascii(text);
    fprintf(out, "%.*s", plain ? (int)trimmed(plain) : 0, plain ? plain : "");
    free(plain);
}

static void put_markdown(FILE *out, const char *text)
{
    char *plain = in_ascii(text);
    for (size_t i = 0; plain && i < trimmed(plain); i++)
        fprintf(out, plain[i] == '|' ? "\\|" : plain[i] == '\n' ? " " : "%c", plain[i]);
    free(plain);
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

/* ---- the terminal ---- */

/* A column's texts as they are printed there, wrapped or not. */
typedef struct screen_table {
    const table *t;
    terminal screen;
    int width[TABLE_COLUMNS]; /* 0: left out */
} screen_table;

/* The text of a cell on this screen, to be freed. */
static char *on_screen(const screen_table *s, int row, int column)
{
    return s->screen.utf8 ? strdup(text_of(s->t, row, column)) : in_ascii(text_of(s->t, row, column));
}

static bool measure(screen_table *s)
{
    for (int c = 0; c < s->t->count; c++)
        for (int row = -1; row < s->t->rows && (s->width[c] || row < 0) && is_shown(s->t, c); row++) {
            char *text = on_screen(s, row, c);
            const int width = text ? terminal_width(text) : 0;
            if (!text)
                return false;
            s->width[c] = width > s->width[c] ? width : s->width[c];
            free(text);
        }
    return true;
}

enum { GAP = 2 };

/* The widths of all columns, those that may be wrapped at their `least` if so wished. */
static int total_width(const screen_table *s, bool wrapped)
{
    int total = -GAP;
    for (int c = 0; c < s->t->count; c++) {
        const int least = s->t->columns[c].least, width = s->width[c];
        total += width == 0 ? 0 : GAP + (wrapped && least && width > least ? least : width);
    }
    return total;
}

/* Leaves out what is optional and wraps what may be wrapped, until the rest fits if it can. */
static void make_room(screen_table *s, int room)
{
    for (int c = s->t->count - 1; c >= 0 && total_width(s, true) > room; c--)
        if (s->t->columns[c].optional)
            s->width[c] = 0;
    for (int c = s->t->count - 1; c >= 0 && total_width(s, false) > room; c--) {
        const int least = s->t->columns[c].least, width = s->width[c] - (total_width(s, false) - room);
        if (least && s->width[c] > least)
            s->width[c] = width > least ? width : least;
    }
}

/* Breaks lines at blanks, so that they are at most so wide if words let them. */
static void wrap(char *text, int width)
{
    char *begin = text, *blank = NULL;
    for (char *at = text; *at; at++) {
        if (*at == ' ')
            blank = at;
        if (at - begin >= width && blank) {
            *blank = '\n';
            begin = blank + 1;
            blank = NULL;
        }
    }
}

static void add_scols_column(struct libscols_table *to, const screen_table *s, int column)
{
    char *name = on_screen(s, -1, column);
    const bool wrapped = s->t->columns[column].least > 0;
    struct libscols_column *added = scols_table_new_column(to, name ? name : "", 0,
                                                           wrapped                  ? SCOLS_FL_WRAP
                                                           : is_right(s->t, column) ? SCOLS_FL_RIGHT
                                                                                    : 0);
    if (added && wrapped) {
        scols_column_set_safechars(added, "\n");
        scols_column_set_wrapfunc(added, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
    }
    if (added && s->screen.colour)
        scols_cell_set_color(scols_column_get_header(added), "\033[1m");
    free(name);
}

static void set_scols_cell(struct libscols_line *line, size_t position, const screen_table *s, int row, int column)
{
    static const char *const colours[] = {
        [TABLE_GOOD] = "\033[32m", [TABLE_BAD] = "\033[31m", [TABLE_SHADED_BAD] = NULL};
    char *text = on_screen(s, row, column);
    if (text && s->t->columns[column].least)
        wrap(text, s->width[column]);
    scols_line_set_data(line, position, text ? text : "");
    struct libscols_cell *added = scols_line_get_cell(line, position);
    if (added && s->screen.colour)
        scols_cell_set_color(added, colours[cell_at(s->t, row, column)->mark]);
    free(text);
}

/* The key columns and those from `first` up to `end`. */
static bool print_block(const screen_table *s, int first, int end, FILE *out)
{
    struct libscols_table *to = scols_new_table();
    if (!to)
        return false;
    scols_table_set_stream(to, out);
    scols_table_set_termforce(to, SCOLS_TERMFORCE_ALWAYS);
    scols_table_set_termwidth(to, INT_MAX / 2); /* the width is our affair */
    scols_table_enable_colors(to, s->screen.colour);
    scols_table_enable_minout(to, 1);
    scols_table_set_column_separator(to, "  ");
    for (int c = 0; c < end; c++)
        if (s->width[c] && (c < s->t->keys || c >= first))
            add_scols_column(to, s, c);
    for (int row = 0; row < s->t->rows; row++) {
        struct libscols_line *line = scols_table_new_line(to, NULL);
        size_t position = 0;
        for (int c = 0; line && c < end; c++)
            if (s->width[c] && (c < s->t->keys || c >= first))
                set_scols_cell(line, position++, s, row, c);
    }
    const bool printed = scols_print_table(to) == 0;
    scols_unref_table(to);
    return printed;
}

static bool print_on_screen(const table *t, FILE *out)
{
    screen_table s = {.t = t, .screen = terminal_of(out)};
    const int room = s.screen.live ? s.screen.columns : INT_MAX / 2;
    int keys = 0;
    bool printed = measure(&s);
    make_room(&s, room);
    for (int c = 0; c < t->keys; c++)
        keys += s.width[c] ? s.width[c] + GAP : 0;
    if (t->caption)
        fprintf(out, "%s\n", t->caption);
    for (int first = t->keys, end = first; printed && (end < t->count || first == t->keys); first = end) {
        int used = keys;
        for (end = first; end < t->count && (used == keys || used + s.width[end] <= room); end++)
            used += s.width[end] ? s.width[end] + GAP : 0;
        if (used == keys && first > t->keys) /* nothing is left */
            break;
        fputs(first > t->keys ? "\n" : "", out);
        printed = print_block(&s, first, end, out);
        if (end == t->count)
            break;
    }
    return printed;
}

/* libsmartcols asks the locale how wide text is. */
static bool print_in_locale(const table *t, FILE *out)
{
    locale_t locale = terminal_locale(), before = locale ? uselocale(locale) : (locale_t)0;
    const bool printed = t->count == 0 || t->rows == 0 || print_on_screen(t, out);
    if (locale) {
        uselocale(before);
        freelocale(locale);
    }
    return printed;
}

/* ---- texts ---- */

/* One row, -1 the headings, with something before each cell and after the last. */
static void put_row(const table *t, int row, const char *begin, const char *between, const char *end,
                    void (*put)(FILE *out, const char *text), FILE *out)
{
    const char *before = begin;
    for (int c = 0; c < t->count; c++) {
        if (!is_shown(t, c))
            continue;
        fputs(before, out);
        put(out, text_of(t, row, c));
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
            if (is_shown(t, c))
                fputs(is_right(t, c) ? "|---:" : "|---", out);
        fputs(row < 0 ? "|\n" : "", out);
    }
    return true;
}

static bool print_latex(const table *t, FILE *out)
{
    fputs("\\begin{tabular}{", out);
    for (int c = 0; c < t->count; c++)
        if (is_shown(t, c))
            fputc(is_right(t, c) ? 'r' : 'l', out);
    fputs("}\n\\hline\n", out);
    for (int row = -1; row < t->rows; row++)
        put_row(t, row, "", " & ", row < 0 ? " \\\\\n\\hline\n" : " \\\\\n", put_latex, out);
    fputs("\\hline\n\\end{tabular}\n", out);
    return true;
}

static void put_html(FILE *out, const char *text)
{
    html_letters(out, text, trimmed(text));
}

static bool print_html(const table *t, FILE *out)
{
    static const char *const classes[] = {"", " good", " bad", "", ""};
    fputs("<div class=\"wide\"><table>\n", out);
    if (t->caption) {
        fputs("<caption>", out);
        html_text(out, t->caption);
        fputs("</caption>\n", out);
    }
    for (int row = -1; row < t->rows; row++) {
        fputs("<tr>", out);
        for (int c = 0; c < t->count; c++) {
            if (!is_shown(t, c))
                continue;
            const cell *this = row < 0 ? &(cell){0} : cell_at(t, row, c);
            const char *tag = row < 0 ? "th" : "td", *right = is_right(t, c) ? "n" : "";
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
            put_html(out, text_of(t, row, c));
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

/* How many fields a column has, and whether any row has something in one of them. */
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
        const cell *of = cell_at(t, row, column);
        found = of->count ? field < of->count && !isnan(of->numbers[field]) : field == 0 && of->text && of->text[0];
    }
    return found;
}

/* A text in ASCII, trimmed. */
static void put_csv_text(const char *text, FILE *out)
{
    char *plain = in_ascii(text);
    if (plain)
        plain[trimmed(plain)] = '\0';
    table_csv_text(out, plain ? plain : "");
    free(plain);
}

static void put_field(const table *t, int row, int column, int field, FILE *out)
{
    const cell *of = row < 0 ? &(cell){0} : cell_at(t, row, column);
    const char *name = t->columns[column].csv;
    for (int i = 0; row < 0 && name && i < field; i++)
        name += strcspn(name, ",") + 1;
    if (row < 0 && name)
        fprintf(out, "%.*s", (int)strcspn(name, ","), name);
    else if (of->count == 0 && field == 0)
        put_csv_text(text_of(t, row, column), out);
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

/* ---- the whole ---- */

static const struct format {
    const char *name;
    bool (*print)(const table *t, FILE *out);
    const char *before, *after;               /* of a note; NULL: no notes */
    const char *verdict;                      /* before a verdict */
    void (*put)(FILE *out, const char *text); /* a word of one; NULL: as the terminal can show it */
} formats[] = {{"markdown", print_markdown, "", "", "- ", put_markdown},
               {"latex", print_latex, "% ", "", "% ", put_ascii},
               {"csv", print_csv, NULL, NULL, NULL, NULL},
               {"html", print_html, "<p class=\"note\">", "</p>\n", "<p class=\"verdict\">", html_text},
               {"table", print_in_locale, "", "", "", NULL}};

static void put_note(const struct format *format, const char *before, const char *text, FILE *out)
{
    void (*put)(FILE *, const char *) = format->put ? format->put : terminal_of(out).utf8 ? NULL : put_ascii;
    fputs(before, out);
    terminal_wrap(out, text, put);
    fputs(format->after, out);
}

/* Verdicts, notes, and what the columns mean, with an empty line before each kind. */
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
        if (t->columns[c].meaning && is_shown(t, c) && t->rows > 0) {
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
