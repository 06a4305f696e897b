#include "examples/programs/data/csv.h"

#include <csv.h>
#include <ctype.h>
#include <float.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* libcsv splits the text into cells and calls on_cell and on_row_end. It does not count lines and cannot be stopped
 * from there; so lines are fed one by one, and `failed` is checked after each. */
typedef struct csv_reader {
    csv_table *table;
    tg_error *error;
    size_t line, row_line;
    size_t cells;       /* of the row being read */
    char *text;         /* where the next cell goes */
    bool decimal_comma; /* no separator character occurs, so that 3,5 is a number */
    bool failed;
} csv_reader;

static bool out_of_memory(const csv_reader *reader)
{
    return tg_fail(reader->error, "%s:%zu: out of memory", reader->table->path, reader->line);
}

/* Memory for the whole table: a file has no more cells than separators and line ends, and one, and their texts, each
 * ended by a zero byte, are no longer than the file and that byte. */
static bool make_room(csv_reader *reader, dataset_memory *memory, char separator, const unsigned char *from,
                      const unsigned char *end)
{
    csv_table *table = reader->table;
    size_t rows = 1, cells = 1;
    for (const unsigned char *letter = from; letter < end; letter++) {
        const bool ends = *letter == '\n' || *letter == '\r';
        rows += ends;
        cells += ends || *letter == (unsigned char)separator;
    }
    table->values = dataset_new(memory, cells, 1, sizeof *table->values);
    table->texts = dataset_new(memory, cells, 1, sizeof *table->texts);
    table->lines = dataset_new(memory, rows, 1, sizeof *table->lines);
    reader->text = dataset_new(memory, (size_t)(end - from) + 1, 1, 1);
    return !memory->failed || out_of_memory(reader);
}

/* Accepts decimal digits, a point, an exponent: strtod alone would accept hexadecimal numbers, too. The programs set no
 * locale, so a decimal point is a point. */
static bool parse_number(const char *text, bool decimal_comma, double *value)
{
    char *end, with_point[64];
    const size_t length = strlen(text), comma = strcspn(text, ",");
    if (decimal_comma && comma < length && length < sizeof with_point && !strchr(text, '.')) {
        memcpy(with_point, text, length + 1);
        with_point[comma] = '.';
        text = with_point;
    }
    if (!*text || text[strspn(text, "0123456789+-.eE")])
        return false;
    *value = strtod(text, &end);
    return !*end && fabs(*value) <= (double)FLT_MAX;
}

static void on_cell(void *text, size_t length, void *state)
{
    csv_reader *reader = state;
    csv_table *table = reader->table;
    const size_t column = reader->cells++, cell = table->rows * table->columns + column;
    if (reader->failed || (table->rows > 0 && column >= table->columns))
        return; /* on_row_end reports the error */
    table->texts[cell] = memcpy(reader->text, text, length + 1);
    reader->text += length + 1;
    if (!parse_number(text, reader->decimal_comma, &table->values[cell]))
        table->values[cell] = NAN;
}

static void on_row_end(int terminator, void *state)
{
    (void)terminator;
    csv_reader *reader = state;
    csv_table *table = reader->table;
    const size_t cells = reader->cells;
    reader->cells = 0;
    if (reader->failed)
        return;
    if (table->rows == 0)
        table->columns = cells;
    reader->failed = cells != table->columns;
    if (reader->failed)
        tg_fail(reader->error, "%s:%zu: %zu %s, expected %zu as in line %zu", table->path, reader->row_line, cells,
                cells == 1 ? "field" : "fields", table->columns, table->lines[0]);
    else
        table->lines[table->rows++] = reader->row_line;
}

/* The end of the line, including its terminator (LF, CR LF or CR). */
static const unsigned char *line_end(const unsigned char *from, const unsigned char *end)
{
    for (; from < end; from++)
        if (*from == '\n' || (*from == '\r' && (from + 1 == end || from[1] != '\n')))
            return from + 1;
    return end;
}

/* The first line that is neither a comment nor blank. */
static const unsigned char *first_line(const unsigned char *from, const unsigned char *end)
{
    for (; from < end; from = line_end(from, end)) {
        const unsigned char *letter = from;
        while (letter < end && strchr(" \t\r\n", *letter))
            letter++;
        if (letter < line_end(from, end) && *from != '#')
            return from;
    }
    return end;
}

/* The line without surrounding blanks and the terminator. */
static void trim(const unsigned char **line, const unsigned char **end)
{
    while (*line < *end && **line == ' ')
        ++*line;
    while (*end > *line && strchr(" \r\n", (*end)[-1]))
        --*end;
}

/* True if the cell, between blanks, is a number; `commas` is its number of decimal commas, at most one. */
static bool is_number(const unsigned char *cell, const unsigned char *end, size_t *commas)
{
    *commas = 0;
    for (const unsigned char *c = cell; c < end; c++) {
        if (!strchr("0123456789+-.,eE", *c))
            return false;
        if (*c != ',')
            continue;
        if (++*commas > 1 || c == cell || c + 1 == end || !isdigit(c[-1]) || !isdigit(c[1]))
            return false;
    }
    return cell < end;
}

typedef enum commas_are { SEPARATORS, DECIMAL, UNDECIDED } commas_are;

/* Decides what the commas of a line are. They are decimal if all of them are inside numbers between blanks, and there
 * are several such numbers, or all cells are numbers, or both sides of a single comma contain blanks. "1,2 pears" is
 * ambiguous. */
static commas_are kind_of_commas(const unsigned char *line, const unsigned char *end)
{
    size_t cells = 0, numbers = 0, decimals = 0;
    bool first = false, last = false; /* cell is a decimal number */
    trim(&line, &end);
    while (line < end) {
        bool quoted = false;
        const unsigned char *cell = line;
        size_t commas;
        for (; line < end && (quoted || !isblank(*line)); line++)
            quoted ^= *line == '"';
        const int quotes = line - cell > 2 && *cell == '"' && line[-1] == '"';
        const bool number = is_number(cell + quotes, line - quotes, &commas);
        if (!number && *cell != '"' && memchr(cell, ',', (size_t)(line - cell)))
            return SEPARATORS;
        cells++;
        numbers += number;
        last = number && commas;
        first |= last && cells == 1;
        decimals += last;
        while (line < end && isblank(*line))
            line++;
    }
    if (decimals && cells == 1)
        return SEPARATORS;
    return decimals > 1 || (decimals && (numbers == cells || (!first && !last))) ? DECIMAL : UNDECIDED;
}

/* True if the first lines have decimal commas, and blanks between cells; the first line may be a header. */
static bool are_commas_decimal(const unsigned char *from, const unsigned char *end)
{
    enum { LINES = 10 };
    int decimal = 0;
    for (int line = 0; line < LINES && from < end; line++) {
        const commas_are kind = kind_of_commas(from, line_end(from, end));
        if (kind == SEPARATORS && line > 0)
            return false;
        decimal += kind == DECIMAL;
        from = first_line(line_end(from, end), end);
    }
    return decimal > 0;
}

/* The separator between cells: from the first line, and for commas and blanks from the next lines too. A comma counts
 * last: it may be decimal, as in 1,5;2,5 or between tabs or blanks. */
static char find_separator(const unsigned char *first, const unsigned char *end)
{
    const unsigned char *line = first, *line_ends = line_end(first, end);
    bool quoted = false, semicolons = false, commas = false, blanks = false;
    bool tabs = false, padding = false; /* tabs between cells; tabs beside a comma or at an end */
    trim(&line, &line_ends);
    for (const unsigned char *letter = line; letter < line_ends; letter++) {
        quoted ^= *letter == '"';
        if (quoted)
            continue;
        const bool beside = letter == line || letter + 1 == line_ends || letter[-1] == ',' || letter[1] == ',';
        semicolons |= *letter == ';';
        commas |= *letter == ',';
        blanks |= *letter == ' ';
        tabs |= *letter == '\t' && !beside;
        padding |= *letter == '\t' && beside;
    }
    if (semicolons)
        return ';';
    if (tabs || (padding && !commas))
        return '\t';
    if (blanks && (!commas || are_commas_decimal(first, end)))
        return ' ';
    return ',';
}

/* Replaces runs of blanks between cells by one tab and trims the line; returns the new end. libcsv would drop blanks,
 * or treat each as a separator. */
static const unsigned char *join_blanks(unsigned char *bytes, const unsigned char *end)
{
    unsigned char *to = bytes;
    bool quoted = false, begun = false, between = false;
    for (const unsigned char *from = bytes; from < end; from++) {
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
    return to;
}

/* Names of columns, categories and classes are stored in JSON, and jansson accepts only UTF-8. */
static bool is_utf8(const unsigned char *line, size_t length)
{
    size_t ascii = 0;
    while (ascii < length && line[ascii] < 0x80)
        ascii++;
    if (ascii == length)
        return true;
    json_t *text = json_stringn((const char *)line, length);
    json_decref(text);
    return text != NULL;
}

static bool parse_lines(csv_reader *reader, struct csv_parser *parser, char separator, const unsigned char *from,
                        const unsigned char *end)
{
    const char *path = reader->table->path;
    bool quoted = false; /* a quoted cell may have line breaks: the row continues */
    csv_set_delim(parser, (unsigned char)separator);
    reader->decimal_comma = separator != ',';
    while (from < end) {
        const unsigned char *next = line_end(from, end);
        size_t length = (size_t)(next - from);
        reader->line++;
        if (!quoted && *from == '#') {
            from = next;
            continue;
        }
        if (!is_utf8(from, length))
            return tg_fail(reader->error,
                           "%s:%zu: not UTF-8; if it is Latin-1, iconv -f LATIN1 -t UTF-8 converts the file", path,
                           reader->line);
        if (!quoted)
            reader->row_line = reader->line;
        for (const unsigned char *letter = from; letter < next; letter++)
            quoted ^= *letter == '"';
        if (csv_parse(parser, from, length, on_cell, on_row_end, reader) != length && !reader->failed)
            return csv_error(parser) == CSV_EPARSE
                       ? tg_fail(reader->error,
                                 "%s:%zu: a quote inside a field, expected fields either quoted "
                                 "as a whole, with quotes inside doubled, or not at all",
                                 path, reader->line)
                       : out_of_memory(reader);
        if (reader->failed)
            return false;
        from = next;
    }
    if (csv_fini(parser, on_cell, on_row_end, reader) != 0 && !reader->failed)
        return tg_fail(reader->error, "%s:%zu: a quote opens in this row and never closes", path, reader->row_line);
    return !reader->failed;
}

static bool parse(csv_reader *reader, dataset_memory *memory, const dataset_bytes *contents)
{
    const char *path = reader->table->path;
    unsigned char *bytes = contents->bytes;
    const unsigned char *end = bytes + contents->size;
    const unsigned char *zero = memchr(bytes, 0, contents->size);
    if (zero)
        return tg_fail(reader->error, "%s: a zero byte at offset %td, expected text in ASCII or UTF-8", path,
                       zero - bytes);
    if (contents->size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0)
        bytes += 3;
    char separator = find_separator(first_line(bytes, end), end);
    if (separator == ' ') {
        end = join_blanks(bytes, end);
        separator = '\t';
    }
    if (!make_room(reader, memory, separator, bytes, end))
        return false;
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_APPEND_NULL) != 0)
        return out_of_memory(reader);
    const bool parsed = parse_lines(reader, &parser, separator, bytes, end);
    csv_free(&parser);
    if (parsed && reader->table->rows == 0)
        return tg_fail(reader->error, "%s: the file is empty", path);
    return parsed;
}

bool csv_read_table(const char *path, csv_source *source)
{
    dataset_bytes contents;
    if (!dataset_read_file(path, &contents, source->error))
        return false;
    csv_reader reader = {.table = &source->table, .error = source->error};
    const bool read = parse(&reader, &source->memory, &contents);
    free(contents.bytes);
    return read;
}

bool csv_word_is_huge(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    return end != text && !*end && !(fabs(value) <= (double)FLT_MAX);
}

static const char digits[] = "0123456789";

static bool all_digits(const char *text)
{
    return *text && !text[strspn(text, digits)];
}

bool csv_word_is_formatted(const char *text)
{
    text += *text == '+' || *text == '-';
    const size_t first = strspn(text, digits);
    const char mark = text[first];
    if (first == 0 || !mark || !strchr(",.' ", mark))
        return false;
    if (mark == ',' && all_digits(text + first + 1))
        return true;
    size_t groups = 0;
    for (text += first; *text == mark && strspn(text + 1, digits) == 3; text += 4)
        groups++;
    const bool fraction = *text != mark && (*text == ',' || *text == '.') && all_digits(text + 1);
    return first <= 3 && groups > 0 && (!*text || fraction);
}
