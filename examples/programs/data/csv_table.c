#include "examples/programs/data/csv.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

/* ---- cells ---- */

/* A cell in the text: between its quotes if it has some, else without blanks around it. */
typedef struct cell {
    const unsigned char *from, *end;
    bool escapes; /* has doubled quotes */
} cell;

static bool is_blank(unsigned char letter, char separator)
{
    return (letter == ' ' || letter == '\t') && letter != (unsigned char)separator;
}

static bool ends_cell(unsigned char letter, char separator)
{
    return letter == (unsigned char)separator || letter == '\n' || letter == '\r' || letter == '\0';
}

/* The cell that begins here; the result is the separator, line end or zero byte after it, or NULL where a quote is
 * inside a cell or never closes, which is then at cell->end. */
static const unsigned char *read_cell(const unsigned char *at, char separator, cell *out)
{
    while (is_blank(*at, separator))
        at++;
    *out = (cell){.from = at};
    if (*at != '"') {
        for (; !ends_cell(*at, separator); at++)
            if (*at == '"')
                return (out->end = at), NULL;
        out->end = at;
        while (out->end > out->from && is_blank(out->end[-1], separator))
            out->end--;
        return at;
    }
    out->from = ++at;
    for (; *at != '"' || at[1] == '"'; at++) {
        if (!*at)
            return (out->end = at), NULL;
        out->escapes |= *at == '"';
        at += *at == '"';
    }
    out->end = at++;
    while (is_blank(*at, separator))
        at++;
    if (!ends_cell(*at, separator))
        return (out->end = at), NULL;
    return at;
}

/* Copies a cell as a text, which is never longer. */
static size_t copy_cell(const cell *c, char *to)
{
    size_t length = (size_t)(c->end - c->from);
    if (!c->escapes) {
        memcpy(to, c->from, length);
    } else {
        length = 0;
        for (const unsigned char *at = c->from; at < c->end; at++) {
            to[length++] = (char)*at;
            at += *at == '"';
        }
    }
    to[length] = '\0';
    return length;
}

/* NaN with a kind in its lowest bits. */
static double no_number(csv_kind kind)
{
    const uint64_t bits = UINT64_C(0x7ff8000000000000) | (uint64_t)kind;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

csv_kind csv_kind_at(const csv_source *source, size_t row, size_t column)
{
    const double value = csv_value(source, row, column);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return isnan(value) ? (csv_kind)(bits & 7) : CSV_NUMBER;
}

/* ---- rows ---- */

/* Replaces runs of blanks between cells by one tab and trims the lines. */
static void join_blanks(dataset_bytes *text, unsigned char *from)
{
    unsigned char *to = from;
    bool quoted = false, begun = false, between = false;
    for (; *from; from++) {
        quoted ^= *from == '"';
        const bool closes = !quoted && (*from == '\n' || *from == '\r');
        if (!quoted && (*from == ' ' || *from == '\t')) {
            between = begun;
            continue;
        }
        if (between && !closes)
            *to++ = '\t';
        between = false;
        begun = !closes;
        *to++ = *from;
    }
    *to = '\0';
    text->size = (size_t)(to - text->bytes);
}

static size_t line_of(const csv_table *table, const unsigned char *place)
{
    size_t line = 1;
    for (const unsigned char *at = table->text.bytes, *next; (next = csv_line_end(at)) <= place && *at; at = next)
        line++;
    return line;
}

size_t csv_line(const csv_table *table, size_t row)
{
    return line_of(table, table->text.bytes + table->starts[row]);
}

static bool fail_at_quote(const csv_source *source, const unsigned char *row, const unsigned char *place)
{
    const csv_table *table = &source->table;
    if (!*place)
        return tg_fail(source->error, "%s:%zu: a quote opens in this row and never closes", table->path,
                       line_of(table, row));
    return tg_fail(source->error,
                   "%s:%zu: a quote inside a field, expected fields either quoted as a whole, with quotes inside "
                   "doubled, or not at all",
                   table->path, line_of(table, place));
}

static bool fail_at_width(const csv_source *source, const unsigned char *row, const unsigned char *end, size_t cells)
{
    const csv_table *table = &source->table;
    const bool longer = cells == table->columns + 1 && end[-1] == (unsigned char)table->separator;
    return tg_fail(source->error, "%s:%zu: %zu %s, expected %zu as in line %zu%s", table->path, line_of(table, row),
                   cells, cells == 1 ? "field" : "fields", table->columns, csv_line(table, 0),
                   *row == '#' ? "; a line that begins with # is a comment only above the first row"
                   : longer    ? "; the separator at the end of the line makes one more"
                               : "");
}

/* The values of a row; the result is its end, NULL where a quote is wrong. A row of another width is left out and
 * counted. */
static const unsigned char *read_row(csv_source *source, const unsigned char *row)
{
    csv_table *table = &source->table;
    const char separator = table->separator;
    const size_t columns = table->columns;
    double *to = table->values + table->rows * columns;
    const unsigned char *at = row;
    for (size_t cells = 1;; cells++, at++) {
        double number;
        cell c;
        while (is_blank(*at, separator))
            at++;
        const unsigned char *text = at, *end = csv_number(at, table->decimal_comma, &number);
        while (end && is_blank(*end, separator))
            end++;
        if (!end || !ends_cell(*end, separator)) {
            end = read_cell(at, separator, &c);
            if (!end)
                return fail_at_quote(source, row, c.end), NULL;
            copy_cell(&c, table->word);
            text = (unsigned char *)table->word + strspn(table->word, " \t"); /* " 5" in quotes, as pandas reads it */
            const unsigned char *whole = csv_number(text, table->decimal_comma, &number);
            if (!whole || whole[strspn((const char *)whole, " \t")])
                number = no_number(csv_kind_of_word(table->word));
        }
        if (fabs(number) > (double)FLT_MAX)
            number = no_number(CSV_HUGE);
        if (*text == '0' && isdigit(text[1]) && cells <= columns)
            table->zeros[cells - 1] = true;
        at = end;
        if (cells <= columns)
            to[cells - 1] = number;
        if (*at == (unsigned char)separator)
            continue;
        if (cells == columns)
            break;
        if (table->misfits++ == 0)
            fail_at_width(source, row, at, cells);
        return csv_line_end(at);
    }
    table->starts[table->rows++] = (size_t)(row - table->text.bytes);
    return csv_line_end(at);
}

static size_t count(const dataset_bytes *text, char letter)
{
    const unsigned char *at = text->bytes, *end = at + text->size;
    size_t found = 0;
    while ((at = memchr(at, letter, (size_t)(end - at)))) {
        found++;
        at++;
    }
    return found;
}

/* Counts the cells of the first row, and makes room: a text has no more rows than line ends, and one, and no more cells
 * than bytes, and one. */
static bool make_room(csv_source *source, const unsigned char *first)
{
    csv_table *table = &source->table;
    const size_t rows = 1 + count(&table->text, '\n') + count(&table->text, '\r'), most = table->text.size + 1;
    size_t cells;
    const unsigned char *at = first;
    for (table->columns = 1;; table->columns++, at++) {
        cell c;
        at = read_cell(at, table->separator, &c);
        if (!at)
            return fail_at_quote(source, first, c.end);
        if (*at != (unsigned char)table->separator)
            break;
    }
    if (__builtin_mul_overflow(rows, table->columns, &cells) || cells > most)
        cells = most;
    cells += table->columns; /* for a row that turns out to be too short */
    table->values = dataset_new(&source->values, cells, 1, sizeof *table->values);
    table->starts = dataset_new(&source->memory, rows, 1, sizeof *table->starts);
    table->word = dataset_new(&source->memory, table->text.size + 1, 1, 1); /* touched as far as cells are long */
    table->zeros = dataset_new(&source->memory, table->columns, 1, sizeof *table->zeros);
    table->cursor = dataset_new(&source->memory, 1, 1, sizeof *table->cursor);
    return !source->memory.failed && table->values ? true : csv_out_of_memory(source);
}

static const unsigned char *after_blank_lines(const unsigned char *line, char separator)
{
    for (;; line = csv_line_end(line)) {
        const unsigned char *at = line;
        while (is_blank(*at, separator))
            at++;
        if (!*at)
            return at;
        if (*at != '\n' && *at != '\r')
            return line;
    }
}

/* The last comment above the first row, without its #; NULL: none, or one with a quote that never closes. */
static unsigned char *last_comment(unsigned char *line, const unsigned char *first)
{
    unsigned char *comment = NULL;
    for (; line < first; line += csv_line_end(line) - line)
        if (*line == '#')
            comment = line + 1;
    size_t quotes = 0;
    for (const unsigned char *at = comment; at && at < csv_line_end(comment); at++)
        quotes += *at == '"';
    return quotes % 2 == 0 ? comment : NULL;
}

static bool parse(csv_source *source)
{
    csv_table *table = &source->table;
    unsigned char *from = table->text.bytes;
    if (!csv_check_text(table->path, &table->text, source->error))
        return false;
    from += table->text.size >= 3 && memcmp(from, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    unsigned char *comment = NULL;
    unsigned char *first = from + (csv_first_line(from, &table->comments) - from);
    if (strncasecmp((char *)first, "sep=", 4) == 0 && first[4] && strchr(";,\t|", first[4]) &&
        strchr("\r\n", first[5])) {
        table->separator = (char)first[4]; /* Excel's */
        first += csv_line_end(first) - first;
    } else {
        comment = last_comment(from, first);
        table->separator = csv_find_separator(first);
    }
    if (table->separator == ' ') {
        join_blanks(&table->text, comment ? comment : first);
        first += comment ? csv_line_end(comment) - first : 0;
        table->separator = '\t';
    }
    table->comment = comment ? comment + strspn((char *)comment, " \t") : NULL;
    table->decimal_comma = table->separator != ',';
    const unsigned char *at = after_blank_lines(first, table->separator);
    if (!*at)
        return tg_fail(source->error, "%s: the file is empty", table->path);
    if (!make_room(source, at))
        return false;
    while (at && *at)
        if ((at = read_row(source, at)))
            at = after_blank_lines(at, table->separator);
    if (at && table->misfits > 1 && source->error)
        tg_fail(source->error, "%s; so it is with %zu more line%s", source->error->text, table->misfits - 1,
                plural((long long)table->misfits - 1));
    return at && table->misfits == 0;
}

bool csv_read_table(const char *path, csv_source *source)
{
    return dataset_read_file(path, &source->table.text, source->error) && parse(source);
}

/* ---- texts ---- */

const char *csv_text(const csv_source *source, size_t row, size_t column)
{
    const csv_table *table = &source->table;
    csv_cursor *cursor = table->cursor;
    const unsigned char *begin = table->text.bytes + table->starts[row];
    cell c;
    if (cursor->row != begin || cursor->column > column)
        *cursor = (csv_cursor){.row = begin, .at = begin};
    for (const unsigned char *next;; cursor->at = next + 1, cursor->column++) {
        next = read_cell(cursor->at, table->separator, &c);
        if (cursor->column == column)
            break;
    }
    copy_cell(&c, table->word);
    return table->word;
}

const char *csv_next_text(const csv_table *table, const unsigned char **at)
{
    cell c;
    const unsigned char *end = *at ? read_cell(*at, table->separator, &c) : NULL;
    *at = end && *end == (unsigned char)table->separator ? end + 1 : NULL;
    if (!end)
        return NULL;
    copy_cell(&c, table->word);
    return table->word;
}

bool csv_is_number(const csv_table *table, const char *text)
{
    double number;
    const unsigned char *end = csv_number((const unsigned char *)text, table->decimal_comma, &number);
    return end && !*end;
}

bool csv_each_text(const csv_source *source, const bool *flags, csv_take *take, void *context)
{
    const csv_table *table = &source->table;
    bool fine = true;
    size_t columns = table->columns;
    while (columns > 0 && !flags[columns - 1])
        columns--;
    for (size_t row = 0; fine && columns > 0 && row < source->rows; row++) {
        const unsigned char *at = table->text.bytes + table->starts[row];
        for (size_t column = 0; fine && column < columns; column++, at++) {
            cell c;
            at = read_cell(at, table->separator, &c);
            if (flags[column]) {
                const size_t length = copy_cell(&c, table->word);
                fine = take(context, row, column, table->word, length);
            }
        }
    }
    return fine;
}
