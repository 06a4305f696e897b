#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/html.h"
#include "examples/programs/report/table_internal.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/system/posix.h"

/* ---- filling ---- */

table *table_new(int keys)
{
    table *t = memory_checked(calloc(1, sizeof *t));
    t->keys = keys;
    return t;
}

void table_free(table *t)
{
    if (!t)
        return;
    texts_free(&t->texts);
    free(t->columns);
    free(t->cells);
    free(t->notes);
    free(t);
}

static const char *copy(table *t, const char *text)
{
    return text ? plain_text(texts_add(&t->texts, "%s", text)) : NULL;
}

void table_caption(table *t, const char *caption)
{
    t->caption = copy(t, caption);
}

static void append(table *t, struct column added)
{
    t->columns = memory_grown(t->columns, (size_t)t->count, sizeof *t->columns);
    t->columns[t->count++] = added;
}

void table_add_column(table *t, const table_column *of)
{
    const int first = t->count;
    append(t, (struct column){copy(t, of->name), copy(t, of->meaning), of->optional, of->least});
    for (char *rest = plain_text(texts_add(&t->texts, "%s", of->csv ? of->csv : of->name)); rest;
         t->columns[first].fields++)
        append(t, (struct column){.name = strsep(&rest, of->csv ? "," : "")});
    if (t->keys-- > 0)
        t->key_end = t->count;
}

void table_add_columns(table *t, const char *names)
{
    for (char *rest = texts_add(&t->texts, "%s", names); rest;)
        table_add_column(t, &(table_column){.name = strsep(&rest, "|")});
}

void table_add_row(table *t)
{
    const size_t size = (size_t)t->count * sizeof *t->cells;
    t->cells = memory_grown(t->cells, (size_t)t->rows, size);
    memset(&t->cells[t->rows++ * t->count], 0, size);
    t->next = 0;
}

static cell *last_cell(table *t)
{
    return &t->cells[(t->rows - 1) * t->count + t->last];
}

void table_add_cell(table *t, const char *format, ...)
{
    if (t->next == t->count)
        return;
    t->last = t->next;
    t->next += 1 + t->columns[t->last].fields;
    va_list arguments;
    va_start(arguments, format);
    last_cell(t)[0].text = last_cell(t)[1].text = plain_text(texts_add_list(&t->texts, format, arguments));
    va_end(arguments);
}

void table_add_cells(table *t, const char *cells)
{
    table_add_row(t);
    for (char *rest = texts_add(&t->texts, "%s", cells); rest;)
        table_add_cell(t, "%s", strsep(&rest, "|"));
}

void table_numbers(table *t, int count, const double numbers[])
{
    for (int i = 0; i < t->columns[t->last].fields; i++)
        last_cell(t)[1 + i].text = i < count && !isnan(numbers[i]) ? texts_add(&t->texts, "%.9g", numbers[i]) : NULL;
}

void table_set_mark(table *t, table_mark mark, double strength)
{
    last_cell(t)->mark = mark;
    last_cell(t)->strength = strength;
}

static void add_note(table *t, bool verdict, const char *text)
{
    t->notes = memory_grown(t->notes, (size_t)t->noted, sizeof *t->notes);
    t->notes[t->noted++] = (struct note){text, verdict};
}

void table_add_note(table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(t, false, plain_text(texts_add_list(&t->texts, format, arguments)));
    va_end(arguments);
}

void table_add_verdict(table *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(t, true, plain_text(texts_add_list(&t->texts, format, arguments)));
    va_end(arguments);
}

int table_rows(const table *t)
{
    return t->rows;
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
static bool has_text(const table *t, int column)
{
    if (t->whole)
        return true;
    for (int row = 0; row < t->rows; row++)
        if (table_text_of(t, row, column)[0])
            return true;
    return t->rows == 0;
}

void table_keep_empty(table *t)
{
    t->whole = true;
}

bool table_is_shown(const table *t, int column)
{
    return t->columns[column].fields > 0 && has_text(t, column);
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

/* ---- replacing characters that a format cannot show ---- */

enum { ASCII, MARKDOWN, LATEX };

/* NULL: the character itself. */
static const struct sign {
    const char *utf8, *as[3];
} signs[] = {{"±", {"+/-", "+/-", "$\\pm$"}},
             {"Δ", {"diff", "diff", "$\\Delta$"}},
             {"µ", {"u", "u", "$\\mu$"}},
             {"²", {"2", "2", "$^2$"}},
             {"<", {[LATEX] = "$<$"}},
             {">", {[LATEX] = "$>$"}},
             {"|", {NULL, "\\|", "$|$"}},
             {"\n", {NULL, " ", " "}},
             {"\\", {[LATEX] = "\\textbackslash{}"}},
             {"~", {[LATEX] = "\\textasciitilde{}"}},
             {"^", {[LATEX] = "\\textasciicircum{}"}},
             {"%", {[LATEX] = "\\%"}},
             {"_", {[LATEX] = "\\_"}},
             {"&", {[LATEX] = "\\&"}},
             {"#", {[LATEX] = "\\#"}},
             {"$", {[LATEX] = "\\$"}},
             {"{", {[LATEX] = "\\{"}},
             {"}", {[LATEX] = "\\}"}}};

static const struct sign *sign_at(const char *text)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(text, signs[i].utf8, strlen(signs[i].utf8)) == 0)
            return &signs[i];
    return NULL;
}

/* True if Markdown (CommonMark) would read this character as its own after `before`: code; the beginning of emphasis, a
 * tag or an entity; the middle of a link; an escape. Elsewhere, as in "p < 0.05" and gelu_tanh, it is itself. */
static bool is_markup(char before, const char *at)
{
    const unsigned char next = (unsigned char)at[1];
    switch (*at) {
    case '`':
        return true;
    case '*':
        return next && !isspace(next);
    case '_':
        return next && !isspace(next) && !isalnum((unsigned char)before);
    case '<':
        return isalpha(next) || (next && strchr("/!?", next));
    case '&':
        return isalpha(next) || next == '#';
    case ']':
        return next && strchr("([:", next);
    case '~':
        return next == '~' || before == '~';
    case '\\':
        return ispunct(next);
    default:
        return false;
    }
}

static void put_signs(FILE *out, const char *text, size_t length, int as)
{
    char before = ' ';
    for (const char *end = text + length; text < end;) {
        const struct sign *sign = sign_at(text);
        const int size = sign ? (int)strlen(sign->utf8) : 1;
        if (as == MARKDOWN && is_markup(before, text))
            fputc('\\', out);
        before = text[size - 1];
        if (sign && sign->as[as])
            fputs(sign->as[as], out);
        else
            fprintf(out, "%.*s", size, text);
        text += size;
    }
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
    put_signs(out, text, trimmed(text), ASCII);
}

static void put_markdown(FILE *out, const char *text)
{
    put_signs(out, text, trimmed(text), MARKDOWN);
}

static void put_latex(FILE *out, const char *text)
{
    put_signs(out, text, trimmed(text), LATEX);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* A cell, with a minus before numbers and a dash between them. */
static void put_latex_cell(FILE *out, const char *text)
{
    const size_t length = trimmed(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] == '-' && is_digit(text[i + 1]) && (i == 0 || !isalpha((unsigned char)text[i - 1])))
            fputs(i > 0 && is_digit(text[i - 1]) ? "--" : "$-$", out);
        else if (text[i] == '-' && i > 1 && text[i - 1] == 'e' && is_digit(text[i - 2])) /* 1e-05 */
            fputs("$-$", out);
        else {
            const struct sign *sign = sign_at(text + i);
            const size_t size = sign ? strlen(sign->utf8) : 1;
            put_signs(out, text + i, size, LATEX);
            i += size - 1;
        }
}

char *table_in_ascii(const char *text)
{
    char *plain;
    size_t size;
    FILE *to = memory_checked(system_open_memory(&plain, &size));
    put_signs(to, text, strlen(text), ASCII);
    return memory_checked(system_close_memory(to, &plain, &size) ? plain : NULL);
}

/* ---- texts ---- */

/* One row, or the headings for -1, with text before each cell and after the last; the fields of CSV, or the cells. */
static void put_row(const table *t, int row, bool fields, const char *begin, const char *between, const char *end,
                    void (*put)(FILE *out, const char *text), FILE *out)
{
    const char *before = begin;
    for (int c = 0; c < t->count; c++) {
        if (fields == (t->columns[c].fields > 0) || !has_text(t, c))
            continue;
        fputs(before, out);
        put(out, table_text_of(t, row, c));
        before = between;
    }
    fputs(end, out);
}

static void print_markdown(const table *t, FILE *out)
{
    if (t->caption) {
        fputs("**", out);
        put_markdown(out, t->caption);
        fputs("**\n\n", out);
    }
    for (int row = -1; row < t->rows; row++) {
        put_row(t, row, false, "| ", " | ", " |\n", put_markdown, out);
        for (int c = 0; row < 0 && c < t->count; c++)
            if (table_is_shown(t, c))
                fputs(table_is_right(t, c) ? "|---:" : "|---", out);
        fputs(row < 0 ? "|\n" : "", out);
    }
}

static void print_latex(const table *t, FILE *out)
{
    fputs("% needs \\usepackage{booktabs}\n\\begin{tabular}{", out);
    for (int c = 0; c < t->count; c++)
        if (table_is_shown(t, c))
            fputc(table_is_right(t, c) ? 'r' : 'l', out);
    fputs("}\n\\toprule\n", out);
    for (int row = -1; row < t->rows; row++)
        put_row(t, row, false, "", " & ", row < 0 ? " \\\\\n\\midrule\n" : " \\\\\n", put_latex_cell, out);
    fputs("\\bottomrule\n\\end{tabular}\n", out);
}

static void print_html(const table *t, FILE *out)
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
}

/* ---- CSV: RFC 4180, a number in each field ---- */

void table_csv_text(FILE *out, const char *text)
{
    char *clean = plain_text(memory_text("%s", text));
    table_csv_exact(out, clean);
    free(clean);
}

void table_latex_text(FILE *out, const char *text)
{
    put_latex(out, text);
}

void table_markdown_text(FILE *out, const char *text)
{
    for (const char *end; *text; text = end) {
        end = text + strcspn(text, "\n");
        put_signs(out, text, (size_t)(end - text), MARKDOWN);
        for (; *end == '\n'; end++)
            fputc('\n', out);
    }
}

void table_csv_exact(FILE *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\r\n") != NULL;
    fputs(quoted ? "\"" : "", out);
    for (; *text; text++)
        fprintf(out, *text == '"' ? "\"\"" : "%c", *text);
    fputs(quoted ? "\"" : "", out);
}

static void put_csv(FILE *out, const char *text)
{
    char *plain = table_in_ascii(text);
    plain[trimmed(plain)] = '\0';
    table_csv_text(out, plain);
    free(plain);
}

static void print_csv(const table *t, FILE *out)
{
    for (int row = -1; row < t->rows; row++)
        put_row(t, row, true, "", ",", "\n", put_csv, out);
}

/* ---- output ---- */

static const struct format {
    const char *name;
    void (*print)(const table *t, FILE *out);
    const char *before, *after;               /* of a note; NULL: no notes */
    const char *verdict;                      /* before a verdict */
    void (*put)(FILE *out, const char *text); /* prints a word of a note; NULL: in the terminal's character set */
} formats[] = {{"markdown", print_markdown, "", "", "- ", put_markdown},
               {"latex", print_latex, "% ", "", "% ", put_ascii},
               {"latex text", print_latex, "", "\n\n", "", put_latex},
               {"csv", print_csv, NULL, NULL, NULL, NULL},
               {"html", print_html, "<p class=\"note\">", "</p>\n", "<p class=\"verdict\">", html_text},
               {"table", table_print_on_terminal, "", "", "", NULL}};

static void put_note(const struct format *format, const char *before, const char *text, FILE *out)
{
    char *plain = format->put || terminal_of(out).utf8 ? NULL : table_in_ascii(text); /* as wide as it is printed */
    fputs(before, out);
    if (*format->after)
        format->put(out, text);
    else
        terminal_wrap(out, plain ? plain : text, format->put);
    fputs(format->after, out);
    free(plain);
}

/* Verdicts, notes and explanations of the columns, each kind after an empty line. */
static void print_notes(const table *t, const struct format *format, FILE *out)
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
            char *text =
                memory_text("%.*s: %s.", (int)trimmed(t->columns[c].name), t->columns[c].name, t->columns[c].meaning);
            fputs(spaced && any++ == 0 && t->noted == 0 ? "\n" : "", out);
            put_note(format, format->before, text, out);
            free(text);
        }
}

static const struct format *format_of(const char *name)
{
    const struct format *format = formats;
    while (format < formats + sizeof formats / sizeof *formats - 1 && strcmp(format->name, name) != 0)
        format++;
    return format;
}

void table_print_rows(const table *t, const char *format, FILE *out)
{
    format_of(format)->print(t, out);
}

void table_print_notes(const table *t, const char *format, FILE *out)
{
    if (format_of(format)->before)
        print_notes(t, format_of(format), out);
}

void table_print(const table *t, const char *format, FILE *out)
{
    table_print_rows(t, format, out);
    table_print_notes(t, format, out);
}

void table_print_sentence(const char *sentence, bool verdict, const char *name, FILE *out)
{
    const struct format *format = format_of(name);
    char *clean = plain_text(memory_text("%s", sentence));
    if (format->before)
        put_note(format, verdict ? format->verdict : format->before, clean, out);
    free(clean);
}
