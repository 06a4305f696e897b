/* A comparison as it is printed: the answer, a picture of the differences, the table, the pairs, and definitions. */
#include "examples/programs/report/comparison_view.h"

void comparison_print_results(const comparison *c, const char *format, FILE *out)
{
    const comparison_view v = comparison_view_begin(c);
    if (v.count > 0) {
        table *t = comparison_cells(&v), *conclusions = table_new(0);
        comparison_print_answers(&v, format, out);
        if (v.pairs && v.most > 1)
            comparison_print_picture(&(comparison_picture){c, v.groups, v.pairs, comparison_named_pairs(&v), v.decides},
                                     format, out);
        fputs(strcmp(format, "markdown") == 0 ? "\n" : "", out); /* or it were text of the list above */
        table_print_rows(t, format, out);
        comparison_add_hints(&v, conclusions);
        comparison_add_verdicts(&v, conclusions);
        table_print_notes(conclusions, format, out);
        table_free(conclusions);
        table_free(t);
    }
    comparison_view_end(&v);
}

void comparison_print_definitions(const comparison *c, const char *format, FILE *out)
{
    const comparison_view v = comparison_view_begin(c);
    if (v.count > 0) {
        table *t = comparison_cells(&v);
        comparison_add_notes(&v, t);
        for (int m = 0; m < c->measure_count && v.most > 1 && strcmp(format, "methods") == 0; m++)
            if (c->measures[m].title)
                comparison_add_method(&v, t, &c->measures[m]);
        table_print_notes(t, format, out);
        table_free(t);
    }
    comparison_view_end(&v);
}

void comparison_print(const comparison *c, const char *format, FILE *out)
{
    comparison_print_results(c, format, out);
    comparison_print_definitions(c, format, out);
}
