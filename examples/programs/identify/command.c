#include "examples/programs/identify/command.h"

#include "examples/programs/data/csv.h"
#include "examples/programs/data/number.h"
#include "examples/programs/identify/identify.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/terminal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { ROWS = 8, OTHERS = 2 /* rows of candidates, and of forms that are ruled out */, NAMES = 400 };

/* ---- the file ---- */

typedef struct file_pairs {
    identify_pair *pairs; /* [count]; free() */
    size_t count, left_out;
} file_pairs;

/* Columns x and y. */
static bool find_columns(const csv_source *s, size_t columns[2])
{
    static const char *const names[] = {"x", "y"};
    int found = 0;
    for (int i = 0; i < 2; i++)
        for (size_t c = 0; s->first && c < s->table.columns; c++)
            if (strcasecmp(csv_column_name(s, c), names[i]) == 0) {
                columns[i] = c;
                found++;
                break;
            }
    if (found == 2)
        return true;
    columns[0] = 0;
    columns[1] = 1;
    return s->table.columns == 2 ||
           tg_fail(s->error, "%s: %zu column%s, expected two, x and y, or a header that names them", s->table.path,
                   s->table.columns, s->table.columns == 1 ? "" : "s");
}

/* NaN and infinity are numbers, too. */
static bool number_at(const csv_source *s, size_t row, size_t column, double *number)
{
    const char *word = csv_word_at(s, row, column);
    *number = word ? NAN : csv_value(s, row, column);
    if (!word || csv_word_is_huge(word))
        return true;
    char problem[100];
    snprintf(problem, sizeof problem, "'%.60s' is not a number", word);
    return csv_fail_at(s, row, column, problem);
}

static bool take_pairs(const csv_source *s, file_pairs *out)
{
    size_t columns[2];
    if (!find_columns(s, columns))
        return false;
    out->pairs = calloc(s->rows + 1, sizeof *out->pairs);
    if (!out->pairs)
        return tg_fail(s->error, "out of memory");
    for (size_t row = 0; row < s->rows; row++) {
        identify_pair pair;
        if (!number_at(s, row, columns[0], &pair.x) || !number_at(s, row, columns[1], &pair.y))
            return false;
        if (isfinite(pair.x) && isfinite(pair.y))
            out->pairs[out->count++] = pair;
        else
            out->left_out++;
    }
    return true;
}

static bool read_pairs(const char *path, file_pairs *out, tg_error *error)
{
    csv_source source;
    *out = (file_pairs){0};
    const bool fine = csv_read(path, DATASET_HEADER_AUTO, &source, error) && take_pairs(&source, out);
    csv_source_free(&source);
    if (!fine)
        free(out->pairs);
    return fine;
}

/* ---- the answer ---- */

static void append(char text[NAMES], const char *separator, const char *word)
{
    const size_t length = strlen(text);
    snprintf(text + length, NAMES - length, "%s%s", length ? separator : "", word);
}

/* "f32 or f64". */
static const char *formats_of(const identify_candidate *c, char text[NAMES])
{
    text[0] = '\0';
    for (int f = 0; f < IDENTIFY_FORMATS; f++)
        if (c->formats >> f & 1)
            append(text, " or ", identify_formats[f].name);
    if (!c->formats)
        append(text, "", c->format->name);
    return text;
}

static void add_rows(table *t, const identify_result *r)
{
    char text[NUMBER_TEXT], names[NAMES];
    int others = 0;
    table_add_column(t, &(table_column){.name = "form"});
    table_add_column(t, &(table_column){.name = "arithmetic"});
    table_add_column(t, &(table_column){.name = "fits", .meaning = "points that the form explains in that arithmetic"});
    table_add_column(t, &(table_column){.name = "error",
                                        .meaning = "largest distance of a y from the form, in ulp of the largest of 1, "
                                                   "|x| and |y|, or in units of its last digit if that is more"});
    table_add_column(t, &(table_column){.name = "at x"});
    table_add_column(t, &(table_column){.name = "probability", .meaning = "of the form; out: a point does not fit"});
    table_add_column(t, &(table_column){.name = "formula", .optional = true});
    for (int i = 0; i < r->count && i < ROWS && others < OTHERS; i++) {
        const identify_candidate *c = &r->candidates[i];
        others += !c->formats;
        table_add_row(t);
        table_add_cell(t, "%s", c->form->name);
        table_add_cell(t, "%s", formats_of(c, names));
        table_add_cell(t, "%zu of %zu", c->fits, r->points);
        table_add_cell(t, "%.3g", c->worst);
        table_add_cell(t, "%s", number_text(c->worst_x, text));
        table_add_cell(t, c->share > 0 ? c->share < 1e-3 ? "%.0e" : "%.4f" : "out", c->share);
        table_add_cell(t, "%s", c->form->formula);
    }
}

static void add_name(table *t, const identify_result *r)
{
    const identify_candidate *best = &r->candidates[0], *next = &r->candidates[1];
    char names[NAMES];
    const char *used = identify_form_used(best->form);
    if (next->share > 0)
        table_add_verdict(t, "%s, computed in %s: over a million times as probable as all other forms together.",
                          best->form->name, formats_of(best, names));
    else
        table_add_verdict(t, "%s, computed in %s: every other form misses points; the next, %s, %zu of %zu.",
                          best->form->name, formats_of(best, names), next->form->name, r->points - next->fits,
                          r->points);
    if (used)
        table_add_note(t, "Where %s is met: %s.", best->form->name, used);
}

static void add_candidates(table *t, const identify_result *r)
{
    char names[NAMES] = "";
    int count = 0;
    while (count < r->count && r->candidates[count].formats)
        count++;
    for (int i = 0; i < count; i++)
        append(names, i + 1 < count ? ", " : " and ", r->candidates[i].form->name);
    if (r->points < IDENTIFY_LEAST)
        table_add_verdict(t, "Cannot tell: %zu different point%s, expected at least %d.", r->points,
                          r->points == 1 ? "" : "s", IDENTIFY_LEAST);
    else if (count > 0)
        table_add_verdict(t, "Cannot tell: these points allow %s.", names);
    else
        table_add_verdict(t, "None of the %d forms: the nearest misses %zu of %zu points.", r->count,
                          r->points - r->candidates[0].fits, r->points);
    table_add_note(t, "--identify-points prints points that separate the forms better. Print y with all its digits: "
                      "%%.9g in C, repr in Python.");
}

static void print_answer(const file_pairs *from, const identify_result *r)
{
    table *t = table_new(1);
    if (r->points > 0)
        add_rows(t, r);
    (r->form ? add_name : add_candidates)(t, r);
    if (from->left_out)
        table_add_note(t, "%zu row%s left out: NaN or infinite.", from->left_out, from->left_out == 1 ? "" : "s");
    table_print(t, "table", stdout);
    table_free(t);
}

int identify_command(const char *path)
{
    tg_error error;
    file_pairs from;
    identify_result result;
    if (!read_pairs(path, &from, &error)) {
        terminal_say("activations", "--identify", error.text);
        return 2;
    }
    int status = 1;
    if (identify(from.pairs, from.count, &result)) {
        print_answer(&from, &result);
        status = result.form ? 0 : 1;
    } else
        terminal_say("activations", NULL, "out of memory");
    free(from.pairs);
    return status;
}

int identify_points_command(void)
{
    static double x[IDENTIFY_MOST];
    char text[NUMBER_TEXT];
    const size_t count = identify_points(x);
    for (size_t i = 0; i < count; i++)
        puts(number_text(x[i], text));
    if (count == 0)
        terminal_say("activations", NULL, "out of memory");
    return count == 0;
}
