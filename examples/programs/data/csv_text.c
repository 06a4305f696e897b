/* Lines of a text, and what separates its cells. */
#include "examples/programs/data/csv.h"
#include "examples/programs/system/posix.h"

/* ---- lines ---- */

const unsigned char *csv_line_end(const unsigned char *from)
{
    while (*from && *from != '\n' && *from != '\r')
        from++;
    from += *from == '\r' && from[1] == '\n';
    return from + (*from != '\0');
}

const unsigned char *csv_after_blanks(const unsigned char *from)
{
    while (*from && strchr(" \t\r\n", *from))
        from++;
    return from;
}

/* True if a line begins with an error of a spreadsheet, which is no comment but a gap. */
static bool begins_with_gap(const unsigned char *line)
{
    static const char *const errors[] = {"#N/A", "#DIV/0!", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", NULL};
    int i = 0;
    while (errors[i] && strncmp((const char *)line, errors[i], strlen(errors[i])) != 0)
        i++;
    return errors[i];
}

const unsigned char *csv_first_line(const unsigned char *from, size_t *comments)
{
    for (; *from; from = csv_line_end(from)) {
        if (*from == '#' && !begins_with_gap(from))
            ++*comments;
        else if (csv_after_blanks(from) < csv_line_end(from) && *csv_after_blanks(from))
            break;
    }
    return from;
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
static bool are_commas_decimal(const unsigned char *from)
{
    enum { LINES = 10 };
    int decimal = 0;
    for (int line = 0; line < LINES && *from; line++) {
        const commas_are kind = kind_of_commas(from, csv_line_end(from));
        if (kind == SEPARATORS && line > 0)
            return false;
        decimal += kind == DECIMAL;
        from = csv_line_end(from);
        while (*from && csv_after_blanks(from) >= csv_line_end(from))
            from = csv_line_end(from);
    }
    return decimal > 0;
}

static size_t count_outside_quotes(const unsigned char *line, unsigned char letter)
{
    size_t count = 0;
    bool quoted = false;
    for (const unsigned char *end = csv_line_end(line); line < end; line++) {
        quoted ^= *line == '"';
        count += !quoted && *line == letter;
    }
    return count;
}

/* True if the first lines all have as many of these between their cells, at least one. */
static bool is_steady(const unsigned char *line, unsigned char letter)
{
    enum { LINES = 10 };
    const size_t count = count_outside_quotes(line, letter);
    bool steady = count > 0;
    for (int i = 0; i < LINES && *line; i++, line = csv_line_end(line))
        steady &= csv_after_blanks(line) >= csv_line_end(line) || count == count_outside_quotes(line, letter);
    return steady;
}

/* Counts the cells of a line between blanks and tabs; 0 if one is neither a number, nor quoted, nor a mark of a gap.
 * `wide` becomes true where several blanks are between two of them. */
static size_t count_numbers(const unsigned char *line, bool *wide)
{
    size_t cells = 0, commas;
    for (const unsigned char *end = csv_line_end(line), *from; trim(&line, &end), line < end; cells++) {
        bool quoted = false;
        for (from = line; line < end && (quoted || !isblank(*line)); line++)
            quoted ^= *line == '"';
        if (*from != '"' && !(line == from + 1 && *from == '?') && !is_number(from, line, &commas))
            return 0;
        for (from = line; line < end && isblank(*line); line++)
            *wide |= line > from && line[-1] == ' ' && *line == ' ';
    }
    return cells;
}

/* True if the first lines all are numbers between blanks, several of them in places, beside which tabs are rare: a
 * table in columns of a fixed width, of which one was appended behind a tab. */
static bool are_columns_padded(const unsigned char *line)
{
    enum { LINES = 10 };
    bool wide = false;
    const size_t cells = count_numbers(line, &wide), tabs = count_outside_quotes(line, '\t');
    bool steady = cells > 2 * (tabs + 1);
    for (int i = 0; steady && i < LINES && *line; i++, line = csv_line_end(line))
        steady = csv_after_blanks(line) >= csv_line_end(line) || count_numbers(line, &wide) == cells;
    return steady && wide;
}

/* From the first line, and for commas and blanks from the next lines too. A comma counts last: it may be decimal, as in
 * 1,5;2,5 or between tabs or blanks. */
char csv_find_separator(const unsigned char *first)
{
    const unsigned char *line = first, *line_ends = csv_line_end(first);
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
    for (const char *other = "\t|,"; semicolons && *other && !is_steady(first, ';'); other++)
        if (is_steady(first, (unsigned char)*other))
            return *other;
    if (semicolons)
        return ';';
    if (tabs && blanks && !commas && are_columns_padded(first))
        return ' ';
    if (tabs || (padding && !commas))
        return '\t';
    if (is_steady(first, '|') && !is_steady(first, ','))
        return '|';
    if (blanks && (!commas || are_commas_decimal(first)))
        return ' ';
    return ',';
}
