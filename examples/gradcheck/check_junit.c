#include "examples/gradcheck/check_junit.h"

#include "examples/data/words.h"
#include "examples/report/html.h"

#include <stdlib.h>
#include <string.h>

/* Writes text with XML's special characters escaped and invalid characters replaced. */
static bool put(FILE *to, const char *text)
{
    char *copy = strdup(text);
    if (copy) {
        results_keep_utf8(copy);
        html_text(to, copy);
    }
    free(copy);
    return copy;
}

static bool put_row(FILE *to, const check_row *row)
{
    const tg_gradcheck_result *v = &row->result;
    const bool failed = verdict_of(v) == VERDICT_FAILED && v->status != TG_GRADCHECK_REFUSED;
    fputs("  <testcase classname=\"gradcheck.", to);
    bool fine = put(to, row->what->category);
    fputs("\" name=\"", to);
    fine &= put(to, row->what->name);
    fprintf(to, "\" time=\"%.3f\"", row->seconds);
    if (v->passed)
        return fputs("/>\n", to), fine;
    fprintf(to, ">\n    <%s type=\"%s\" message=\"", failed ? "failure" : "error", verdict_name(verdict_of(v)));
    fine &= put(to, v->why);
    fputs("\">", to);
    fine &= put(to, row->report ? row->report : v->why);
    fprintf(to, "</%s>\n  </testcase>\n", failed ? "failure" : "error");
    return fine;
}

static bool write_xml(const void *context, FILE *to)
{
    const check_table *table = context;
    int refused = 0;
    double seconds = 0;
    bool fine = true;
    for (int i = 0; i < table->count; i++) {
        refused += table->rows[i].result.status == TG_GRADCHECK_REFUSED;
        seconds += table->rows[i].seconds;
    }
    fprintf(to,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"gradcheck\" tests=\"%d\" failures=\"%d\" errors=\"%d\" time=\"%.3f\">\n",
            table->count, check_table_count(table, VERDICT_FAILED) - refused,
            check_table_count(table, VERDICT_CANNOT_TELL) + refused, seconds);
    for (int i = 0; i < table->count; i++)
        fine &= put_row(to, &table->rows[i]);
    fputs("</testsuite>\n", to);
    return fine;
}

bool check_junit_write(const char *path, const check_table *table, tg_error *error)
{
    return files_write_path(path, true, write_xml, table, error);
}
