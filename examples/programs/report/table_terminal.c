/* A table on a terminal or in a text file. */
#include "examples/programs/report/table_internal.h"
#include "examples/programs/report/terminal.h"

typedef struct screen_table {
    const table *t;
    terminal screen;
    int *width; /* [t->count], of each column as printed, wrapped or not; 0: left out */
} screen_table;

/* The text of a cell on this screen, to be freed. */
static char *on_screen(const screen_table *s, int row, int column)
{
    const char *text = table_text_of(s->t, row, column);
    return s->screen.utf8 ? memory_text("%s", text) : table_in_ascii(text);
}

static void measure(const screen_table *s)
{
    for (int c = 0; c < s->t->count; c++)
        for (int row = -1; row < s->t->rows && (s->width[c] || row < 0) && table_is_shown(s->t, c); row++) {
            char *text = on_screen(s, row, c);
            const int width = terminal_width(text);
            s->width[c] = width > s->width[c] ? width : s->width[c];
            free(text);
        }
}

enum { GAP = 2 };

/* The widths of all columns; with `wrapped`, those that can be wrapped have their `least`. */
static int total_width(const screen_table *s, bool wrapped)
{
    int total = -GAP;
    for (int c = 0; c < s->t->count; c++) {
        const int least = s->t->columns[c].least, width = s->width[c];
        total += width == 0 ? 0 : GAP + (wrapped && least && width > least ? least : width);
    }
    return total;
}

/* Omits optional columns and wraps long ones, until the rest fits if possible. */
static void make_room(const screen_table *s, int room)
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

/* Breaks lines at blanks, so that no line is wider than this, unless a word is. */
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

/* A column as it is printed: its texts, of which those that are wrapped have several lines. */
typedef struct block_column {
    int column, width;
    bool right;
    char **text; /* [1 + rows]: the heading, and each row's */
} block_column;

static int line_length(const char *line)
{
    return (int)strcspn(line, "\n");
}

static block_column prepare(const screen_table *s, int column)
{
    const bool wrapped = s->t->columns[column].least > 0;
    block_column made = {column, 0, !wrapped && table_is_right(s->t, column), NULL};
    made.text = memory_checked(calloc((size_t)s->t->rows + 1, sizeof *made.text));
    for (int row = -1; row < s->t->rows; row++) {
        char *text = made.text[row + 1] = on_screen(s, row, column);
        if (wrapped && row >= 0)
            wrap(text, s->width[column]);
        for (const char *line = text; line; line = line[line_length(line)] ? line + line_length(line) + 1 : NULL)
            made.width = terminal_width(line) > made.width ? terminal_width(line) : made.width;
    }
    return made;
}

/* The escape sequence before a cell, or NULL. */
static const char *colour_of(const screen_table *s, int row, int column)
{
    static const char *const colours[] = {
        [TABLE_GOOD] = "\033[32m", [TABLE_BAD] = "\033[31m", [TABLE_SHADED_BAD] = NULL};
    return !s->screen.colour ? NULL : row < 0 ? "\033[1m" : colours[table_cell_at(s->t, row, column)->mark];
}

/* Prints the first line of what is left of a row, whose texts it moves on; no blanks follow the last text. True if
 * there is another line. */
static bool print_line(const screen_table *s, int row, const block_column columns[], int count, const char *left[],
                       FILE *out)
{
    int blanks = 0;
    bool more = false;
    for (int i = 0; i < count; i++) {
        const int length = line_length(left[i]), rest = columns[i].width - terminal_width(left[i]);
        const char *colour = length ? colour_of(s, row, columns[i].column) : NULL;
        blanks += columns[i].right ? rest : 0;
        if (length) {
            fprintf(out, "%*s%s%.*s%s", blanks, "", colour ? colour : "", length, left[i], colour ? "\033[0m" : "");
            blanks = 0;
        }
        blanks += GAP + (columns[i].right ? 0 : rest);
        left[i] += length + (left[i][length] == '\n');
        more |= *left[i] != '\0';
    }
    fputc('\n', out);
    return more;
}

/* The key columns and those from `first` up to `end`. */
static void print_block(const screen_table *s, int first, int end, FILE *out)
{
    int count = 0;
    block_column *columns = memory_checked(calloc((size_t)end + 1, sizeof *columns));
    const char **left = memory_checked(calloc((size_t)end + 1, sizeof *left));
    for (int c = 0; c < end; c++)
        if (s->width[c] && (c < s->t->key_end || c >= first))
            columns[count++] = prepare(s, c);
    for (int row = -1; row < s->t->rows && count > 0; row++) {
        for (int i = 0; i < count; i++)
            left[i] = columns[i].text[row + 1];
        while (print_line(s, row, columns, count, left, out))
            ;
    }
    for (int i = 0; i < count; i++) {
        for (int row = 0; row <= s->t->rows; row++)
            free(columns[i].text[row]);
        free(columns[i].text);
    }
    free(columns);
    free(left);
}

static void print_on_screen(const table *t, FILE *out)
{
    const screen_table s = {t, terminal_of(out), memory_checked(calloc((size_t)t->count, sizeof(int)))};
    const int room = s.screen.live ? s.screen.columns : INT_MAX / 2;
    int keys = 0;
    measure(&s);
    make_room(&s, room);
    for (int c = 0; c < t->key_end; c++)
        keys += s.width[c] ? s.width[c] + GAP : 0;
    if (t->caption)
        fprintf(out, "%s\n", t->caption);
    int end = t->key_end;
    do {
        const int first = end;
        int used = keys;
        for (; end < t->count && (used == keys || used + s.width[end] <= room); end++)
            used += s.width[end] ? s.width[end] + GAP : 0;
        if (used == keys && first > t->key_end) /* nothing is left */
            break;
        fputs(first > t->key_end ? "\n" : "", out);
        print_block(&s, first, end, out);
    } while (end < t->count);
    free(s.width);
}

void table_print_on_terminal(const table *t, FILE *out)
{
    if (t->rows > 0)
        print_on_screen(t, out);
}
