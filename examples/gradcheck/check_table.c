#include "examples/gradcheck/check_table.h"

#include "examples/lab/terminal.h"

#include <libsmartcols/libsmartcols.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 256, MOST_COLUMNS = 8, UNLIMITED = 1000 };

/* ---- tables of text ---- */

typedef struct column {
    const char *title;
    int need;     /* the smaller, the sooner it gets room */
    bool right;   /* numbers */
    int flexible; /* what does not fit is wrapped or cut, down to so many letters; 0: it is shown whole or not at all */
    bool wrapped;
} column;

/* A text table: `cells` writes those of a row, each at most CELL long, and whether it stands out. */
typedef struct text_table {
    const column *columns;
    int count, rows;
    bool (*cells)(const void *context, int row, char cells[][CELL]);
    const void *context;
} text_table;

/* How wide each column wants to be. */
static void measure(const text_table *t, int widths[MOST_COLUMNS])
{
    char cells[MOST_COLUMNS][CELL];
    for (int c = 0; c < t->count; c++)
        widths[c] = (int)strlen(t->columns[c].title);
    for (int row = 0; row < t->rows; row++) {
        t->cells(t->context, row, cells);
        for (int c = 0; c < t->count; c++)
            widths[c] = (int)strlen(cells[c]) > widths[c] ? (int)strlen(cells[c]) : widths[c];
    }
}

/* Gives the columns room in the order of their need; 0 to those that are left out. */
static void give_room(const text_table *t, int room, int widths[MOST_COLUMNS])
{
    int wanted[MOST_COLUMNS];
    memcpy(wanted, widths, sizeof wanted);
    memset(widths, 0, MOST_COLUMNS * sizeof *widths);
    for (int need = 0; need < t->count; need++)
        for (int c = 0; c < t->count; c++) {
            const column *this = &t->columns[c];
            if (this->need != need)
                continue;
            const bool fits = wanted[c] <= room || need == 0;
            widths[c] = fits ? wanted[c] : this->flexible && room >= this->flexible ? room : 0;
            room -= widths[c] ? widths[c] + 1 : 0;
        }
}

/* Breaks lines at blanks, so that they are at most so wide, if words let them. */
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

static void add_column(struct libscols_table *to, const column *this, bool colour)
{
    const int flags = this->right      ? SCOLS_FL_RIGHT
                      : this->wrapped  ? SCOLS_FL_WRAP
                      : this->flexible ? SCOLS_FL_TRUNC
                                       : 0;
    struct libscols_column *added = scols_table_new_column(to, this->title, 0, flags);
    if (added && this->wrapped) {
        scols_column_set_safechars(added, "\n");
        scols_column_set_wrapfunc(added, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
    }
    if (added && colour)
        scols_cell_set_color(scols_column_get_header(added), "\033[1m");
}

static void fill(const text_table *t, struct libscols_table *to, const int widths[MOST_COLUMNS], bool colour)
{
    char cells[MOST_COLUMNS][CELL];
    for (int c = 0; c < t->count; c++)
        if (widths[c])
            add_column(to, &t->columns[c], colour);
    for (int row = 0; row < t->rows; row++) {
        struct libscols_line *line = scols_table_new_line(to, NULL);
        const bool stands_out = t->cells(t->context, row, cells);
        for (int c = 0, shown = 0; line && c < t->count; c++) {
            if (!widths[c])
                continue;
            if (t->columns[c].wrapped)
                wrap(cells[c], widths[c]);
            scols_line_set_data(line, (size_t)shown, cells[c]);
            struct libscols_cell *cell = scols_line_get_cell(line, (size_t)shown++);
            if (cell && colour && stands_out)
                scols_cell_set_color(cell, "\033[31m");
        }
    }
}

static void print_text_table(const text_table *t, FILE *out)
{
    const terminal screen = terminal_of(out);
    struct libscols_table *to = t->rows > 0 ? scols_new_table() : NULL;
    int widths[MOST_COLUMNS];
    if (!to)
        return;
    measure(t, widths);
    give_room(t, screen.live ? screen.columns : UNLIMITED, widths);
    scols_table_enable_colors(to, screen.colour);
    scols_table_set_termwidth(to, screen.live ? (size_t)screen.columns : UNLIMITED);
    scols_table_set_termforce(to, SCOLS_TERMFORCE_ALWAYS);
    scols_table_enable_maxout(to, 0);
    scols_table_set_stream(to, out);
    fill(t, to, widths, screen.colour);
    scols_print_table(to);
    scols_unref_table(to);
}

/* ---- results ---- */

enum { NAME, RESULT, WORST, ORDER, DERIVATIVES, SAMPLES, WHERE, COLUMNS };

static const column result_columns[COLUMNS] = {
    [NAME] = {"operation", 0},
    [RESULT] = {"result", 1},
    [WORST] = {"worst error", 2, .right = true},
    [ORDER] = {"order", 3, .right = true},
    [DERIVATIVES] = {"derivatives", 4, .right = true},
    [SAMPLES] = {"samples", 5, .right = true},
    [WHERE] = {"where", 6, .flexible = 16},
};

bool check_has_error(const tg_gradcheck_result *v)
{
    return v->passed || v->status == TG_GRADCHECK_WRONG;
}

static bool result_cells(const void *context, int row, char cells[][CELL])
{
    const check_row *r = &((const check_table *)context)->rows[row];
    const tg_gradcheck_result *v = &r->result;
    memset(cells, 0, COLUMNS * CELL);
    snprintf(cells[NAME], CELL, "%s", r->what->name);
    snprintf(cells[RESULT], CELL, "%s", verdict_name(verdict_of(v)));
    if (check_has_error(v))
        snprintf(cells[WORST], CELL, "%.1e", v->relative);
    snprintf(cells[ORDER], CELL, "%d", r->order);
    snprintf(cells[DERIVATIVES], CELL, "%lld", (long long)v->comparisons);
    snprintf(cells[SAMPLES], CELL, "%d", v->samples);
    snprintf(cells[WHERE], CELL, "%s", v->where);
    return !v->passed;
}

int check_table_count(const check_table *table, verdict which)
{
    int count = 0;
    for (int i = 0; i < table->count; i++)
        count += verdict_of(&table->rows[i].result) == which;
    return count;
}

void check_table_print(const check_table *table, FILE *out)
{
    print_text_table(&(text_table){result_columns, COLUMNS, table->count, result_cells, table}, out);
    for (int i = 0; i < table->count; i++)
        if (!table->rows[i].result.passed)
            fprintf(out, "\n%s\n", table->rows[i].report ? table->rows[i].report : table->rows[i].result.why);
}

void check_table_print_counts(const check_table *table, FILE *out)
{
    const int undecided = check_table_count(table, VERDICT_CANNOT_TELL);
    fprintf(out, "%d passed, %d failed", check_table_count(table, VERDICT_PASSED),
            check_table_count(table, VERDICT_FAILED));
    if (undecided)
        fprintf(out, ", %d cannot tell", undecided);
    fputc('\n', out);
}

/* A field in quotes, in which a quote is written twice (RFC 4180). */
static void print_quoted(const char *text, FILE *out)
{
    fputc('"', out);
    for (; *text; text++)
        fputs(*text == '"' ? "\"\"" : (char[]){*text, '\0'}, out);
    fputc('"', out);
}

void check_table_print_csv(const check_table *table, FILE *out)
{
    fputs("operation,category,order,samples,derivatives,worst_relative_error,where,result\n", out);
    for (int i = 0; i < table->count; i++) {
        const check_row *row = &table->rows[i];
        const tg_gradcheck_result *v = &row->result;
        fprintf(out, "%s,%s,%d,%d,%lld,", row->what->name, row->what->category, row->order, v->samples,
                (long long)v->comparisons);
        if (check_has_error(v))
            fprintf(out, "%.6g", v->relative);
        fputc(',', out);
        print_quoted(v->where, out);
        fprintf(out, ",%s\n", verdict_name(verdict_of(v)));
    }
}

/* ---- what there is ---- */

enum { LIST_NAME, LIST_INPUTS, LIST_CATEGORY, LIST_ABOUT, LIST_COLUMNS };

static const column list_columns[LIST_COLUMNS] = {
    [LIST_NAME] = {"operation", 0},
    [LIST_INPUTS] = {"inputs", 1, .right = true},
    [LIST_CATEGORY] = {"category", 3},
    [LIST_ABOUT] = {"what it is", 2, .flexible = 20, .wrapped = true},
};

static bool list_cells(const void *context, int row, char cells[][CELL])
{
    const subject *what = ((const subject *const *)context)[row];
    snprintf(cells[LIST_NAME], CELL, "%s", what->name);
    if (what->inputs == TG_VARIADIC)
        strcpy(cells[LIST_INPUTS], "any");
    else
        snprintf(cells[LIST_INPUTS], CELL, "%d", what->inputs);
    snprintf(cells[LIST_CATEGORY], CELL, "%s", what->category);
    snprintf(cells[LIST_ABOUT], CELL, "%s%s", what->about,
             what->constant ? what->about[0] ? " (no derivative)" : "no derivative" : "");
    return false;
}

void check_table_list(const subjects *all, FILE *out)
{
    const subject **chosen = calloc((size_t)all->count + 1, sizeof *chosen);
    int count = 0;
    for (int i = 0; chosen && i < all->count; i++)
        if (all->list[i].chosen)
            chosen[count++] = &all->list[i];
    print_text_table(&(text_table){list_columns, LIST_COLUMNS, count, list_cells, (const void *)chosen}, out);
    free((void *)chosen);
}
