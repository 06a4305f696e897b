#include "examples/programs/gradcheck/check_table.h"

#include "examples/programs/report/files.h"
#include "examples/programs/report/html.h"
#include "examples/programs/report/table.h"

bool check_has_error(const tg_gradcheck_result *v)
{
    return v->passed || v->status == TG_GRADCHECK_WRONG;
}

static void print_and_free(table *t, const char *format, FILE *out)
{
    table_print(t, format, out);
    table_free(t);
}

static table *result_table(const check_table *of)
{
    static const table_column columns[] = {
        {"operation"},
        {"result"},
        {"worst error", .csv = "worst_relative_error"},
        {"order", .optional = true},
        {"derivatives", .optional = true},
        {"samples", .optional = true},
        {"category", .optional = true},
        {"where", .optional = true, .least = 16},
    };
    table *t = table_new(1);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_add_column(t, &columns[i]);
    for (int i = 0; i < of->count; i++) {
        const check_row *row = &of->rows[i];
        const tg_gradcheck_result *v = &row->result;
        table_add_row(t);
        table_add_cell(t, "%s", row->what->name);
        table_add_cell(t, "%s", verdict_name(verdict_of(v)));
        table_set_mark(t, v->passed ? TABLE_PLAIN : TABLE_BAD, 0);
        table_add_cell(t, check_has_error(v) ? "%.1e" : "", v->relative);
        table_numbers(t, 1, (double[]){check_has_error(v) ? v->relative : NAN});
        table_add_cell(t, "%d", row->order);
        table_add_cell(t, "%lld", (long long)v->comparisons);
        table_add_cell(t, "%d", v->samples);
        table_add_cell(t, "%s", row->what->category);
        table_add_cell(t, "%s", v->where);
    }
    return t;
}

int check_table_count(const check_table *of, verdict which)
{
    int count = 0;
    for (int i = 0; i < of->count; i++)
        count += verdict_of(&of->rows[i].result) == which;
    return count;
}

void check_table_print(const check_table *of, FILE *out)
{
    print_and_free(result_table(of), "table", out);
    for (int i = 0; i < of->count; i++)
        if (!of->rows[i].result.passed || of->rows[i].result.ended || of->rows[i].result.failed > 0)
            fprintf(out, "\n%s\n", of->rows[i].report ? of->rows[i].report : of->rows[i].result.why);
}

void check_table_print_csv(const check_table *of, FILE *out)
{
    print_and_free(result_table(of), "csv", out);
}

void check_table_print_counts(const check_table *of, FILE *out)
{
    const int undecided = check_table_count(of, VERDICT_CANNOT_TELL);
    fprintf(out, "%d passed, %d failed", check_table_count(of, VERDICT_PASSED), check_table_count(of, VERDICT_FAILED));
    if (undecided)
        fprintf(out, ", %d cannot tell", undecided);
    fputc('\n', out);
}

void check_table_list(const subjects *all, FILE *out)
{
    static const table_column columns[] = {
        {"operation"}, {"inputs"}, {"category", .optional = true}, {"what it is", .least = 20}};
    table *t = table_new(1);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        table_add_column(t, &columns[i]);
    for (int i = 0; i < all->count; i++) {
        const subject *what = &all->list[i];
        if (!what->chosen)
            continue;
        table_add_row(t);
        table_add_cell(t, "%s", what->name);
        table_add_cell(t, what->inputs == TG_VARIADIC ? "any" : "%d", what->inputs);
        table_add_cell(t, "%s", what->category);
        table_add_cell(t, "%s%s", what->about,
                       !what->constant  ? ""
                       : what->about[0] ? " (no derivative)"
                                        : "no derivative");
    }
    print_and_free(t, "table", out);
}

/* ---- JUnit ---- */

static void put_row(FILE *to, const check_row *row)
{
    const tg_gradcheck_result *v = &row->result;
    const char *kind = verdict_of(v) == VERDICT_FAILED && v->status != TG_GRADCHECK_REFUSED ? "failure" : "error";
    fputs("  <testcase classname=\"gradcheck.", to);
    html_text(to, row->what->category);
    fputs("\" name=\"", to);
    html_text(to, row->what->name);
    fprintf(to, "\" time=\"%.3f\"%s>\n", row->seconds, v->passed ? "/" : "");
    if (v->passed)
        return;
    fprintf(to, "    <%s type=\"%s\" message=\"", kind, verdict_name(verdict_of(v)));
    html_text(to, v->why);
    fputs("\">", to);
    html_text(to, row->report ? row->report : v->why);
    fprintf(to, "</%s>\n  </testcase>\n", kind);
}

static bool write_xml(const void *context, FILE *to)
{
    const check_table *of = context;
    int refused = 0;
    double seconds = 0;
    for (int i = 0; i < of->count; i++) {
        refused += of->rows[i].result.status == TG_GRADCHECK_REFUSED;
        seconds += of->rows[i].seconds;
    }
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"gradcheck\" tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%.3f\">\n",
            of->count, check_table_count(of, VERDICT_FAILED) - refused,
            check_table_count(of, VERDICT_CANNOT_TELL) + refused, seconds);
    for (int i = 0; i < of->count; i++)
        put_row(to, &of->rows[i]);
    fputs("</testsuite>\n", to);
    return true;
}

bool check_table_write_junit(const char *path, const check_table *of, tg_error *error)
{
    return files_write_path(path, true, write_xml, of, error);
}
