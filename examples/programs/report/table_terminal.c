/* A table on a terminal or in a text file. */
#include "examples/programs/report/table_internal.h"
#include "examples/programs/report/terminal.h"

#include <errno.h>
#include <libsmartcols/libsmartcols.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

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

static void add_scols_column(struct libscols_table *to, const screen_table *s, int column)
{
    char *name = on_screen(s, -1, column);
    const bool wrapped = s->t->columns[column].least > 0;
    const int flags = wrapped ? SCOLS_FL_WRAP : table_is_right(s->t, column) ? SCOLS_FL_RIGHT : 0;
    struct libscols_column *added = memory_checked(scols_table_new_column(to, name, 0, flags));
    struct libscols_cell *heading = scols_column_get_header(added);
    memory_checked(scols_cell_get_data(heading) ? heading : NULL);
    if (wrapped) {
        scols_column_set_safechars(added, "\n");
        scols_column_set_wrapfunc(added, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
    }
    if (s->screen.colour)
        scols_cell_set_color(heading, "\033[1m");
    free(name);
}

static void set_scols_cell(struct libscols_line *line, size_t position, const screen_table *s, int row, int column)
{
    static const char *const colours[] = {
        [TABLE_GOOD] = "\033[32m", [TABLE_BAD] = "\033[31m", [TABLE_SHADED_BAD] = NULL};
    char *text = on_screen(s, row, column);
    if (s->t->columns[column].least)
        wrap(text, s->width[column]);
    memory_checked(scols_line_set_data(line, position, text) == 0 ? line : NULL);
    if (s->screen.colour)
        scols_cell_set_color(scols_line_get_cell(line, position), colours[table_cell_at(s->t, row, column)->mark]);
    free(text);
}

/* The key columns and those from `first` up to `end`. */
static void print_block(const screen_table *s, int first, int end, FILE *out)
{
    struct libscols_table *to = memory_checked(scols_new_table());
    scols_table_set_stream(to, out);
    scols_table_set_termforce(to, SCOLS_TERMFORCE_ALWAYS);
    size_t width = GAP; /* sum over all columns, as the library allocates lines of this width */
    for (int c = 0; c < s->t->count; c++)
        width += (size_t)(s->width[c] + GAP);
    scols_table_set_termwidth(to, width);
    scols_table_enable_colors(to, s->screen.colour);
    scols_table_enable_minout(to, 1);
    memory_checked(scols_table_set_column_separator(to, "  ") == 0 ? to : NULL);
    for (int row = -1; row < s->t->rows; row++) {
        struct libscols_line *line = row < 0 ? NULL : memory_checked(scols_table_new_line(to, NULL));
        size_t position = 0;
        for (int c = 0; c < end; c++) {
            if (!s->width[c] || (c >= s->t->key_end && c < first))
                continue;
            if (row < 0)
                add_scols_column(to, s, c);
            else
                set_scols_cell(line, position++, s, row, c);
        }
    }
    errno = 0; /* the library prints a cell without its text if it has no memory for it, and only errno says so */
    const bool printed = scols_table_get_ncols(to) == 0 || scols_print_table(to) == 0;
    memory_checked(printed && errno != ENOMEM ? to : NULL);
    scols_unref_table(to);
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

/* libsmartcols asks the locale how wide text is. */
void table_print_on_terminal(const table *t, FILE *out)
{
    locale_t locale = terminal_locale(), before = locale ? uselocale(locale) : (locale_t)0;
    if (t->rows > 0)
        print_on_screen(t, out);
    if (locale) {
        uselocale(before);
        freelocale(locale);
    }
}
