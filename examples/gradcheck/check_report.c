#include "examples/gradcheck/check_report.h"

#include "examples/gradcheck/check_charts.h"
#include "examples/report/files.h"
#include "examples/report/html.h"
#include "examples/run/options.h"
#include "examples/data/words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <tapegrad.h>

static const char style[] =
    "td,th{vertical-align:top}.results{width:100%}tr.category "
    "td{font-weight:bold;background:var(--soft)}"
    ".counts{font-size:1.2em}.counts "
    "span{margin-right:1.5em;white-space:nowrap}.name{white-space:nowrap}.small{font-size:14px;opacity:.85}"
    ".why{white-space:pre-wrap;overflow-wrap:anywhere;border-left:4px solid #D55E00;padding-left:1em;margin:1em "
    "0}.why.undecided{border-color:#E69F00}"
    ".gallery{display:grid;grid-template-columns:repeat(auto-fill,minmax(260px,1fr));gap:1em}.gallery figure{margin:0}"
    ".gallery figcaption{font-size:13px;overflow-wrap:anywhere}@media(max-width:900px){.more{display:none}}"
    "@media(max-width:520px){.name{white-space:normal;overflow-wrap:anywhere}td,th{padding:.2em .3em}}";

/* ---- the head ---- */

static void put_counts(const check_report *r, FILE *to)
{
    static const char *const words[VERDICTS] = {"passed", "cannot tell", "failed"};
    fputs("<p class=\"counts\">", to);
    for (int which = 0; which < VERDICTS; which++) {
        fputs("<span>", to);
        check_chart_mark(to, (verdict)which);
        fprintf(to, "<b>%d</b> %s</span>\n", check_table_count(r->table, (verdict)which), words[which]);
    }
    fputs("</p>\n", to);
    if (r->interrupted)
        fputs("<p><b>Interrupted:</b> not all that was asked for has been checked.</p>\n", to);
}

static void put_conditions(const check_report *r, FILE *to)
{
    struct utsname machine = {0};
    uname(&machine);
    fprintf(to, "<p class=\"small\">To order %d; ", r->order);
    if (r->seeds == 1)
        fprintf(to, "seed %d", r->seed);
    else
        fprintf(to, "seeds %d to %lld", r->seed, (long long)r->seed + r->seeds - 1);
    fprintf(to, "; tapegrad %s", tg_version());
#ifdef __VERSION__
    fputs(", compiled by ", to);
#ifdef __clang__
    html_text(to, __VERSION__);
#else
    html_text(to, "GCC " __VERSION__);
#endif
#endif
    fputs("; ", to);
    html_text(to, machine.sysname);
    fputs(" on ", to);
    html_text(to, machine.machine);
    fputs(". To repeat it:</p>\n<pre>", to);
    char *command = NULL;
    size_t size = 0;
    FILE *line = open_memstream(&command, &size);
    if (line) {
        options_print_command(r->argv, line);
        if (files_close_memory(line, &command))
            html_text(to, command);
    }
    free(command);
    fputs("</pre>\n", to);
}

static void put_problems(const check_report *r, FILE *to)
{
    bool any = false;
    for (verdict which = VERDICT_FAILED; which > VERDICT_PASSED; which--)
        for (int i = 0; i < r->table->count; i++) {
            const check_row *row = &r->table->rows[i];
            if (verdict_of(&row->result) != which)
                continue;
            if (!any)
                fputs("<h2>What has not passed</h2>\n", to);
            any = true;
            fprintf(to, "<p class=\"why%s\">", which == VERDICT_CANNOT_TELL ? " undecided" : "");
            check_chart_mark(to, which);
            fprintf(to, "<b>%s</b> ", verdict_name(which));
            html_text(to, row->result.why);
            fputs("</p>\n", to);
            if (row->report) {
                fputs("<pre>", to);
                html_text(to, row->report);
                fputs("</pre>\n", to);
            }
        }
}

/* ---- the table ---- */

/* The methods that a result is based on. */
static void put_basis(const check_row *row, FILE *to)
{
    const tg_gradcheck_result *v = &row->result;
    const bool single = row->what->op || row->what->function,
               whole = single || strcmp(row->what->category, "layer") == 0;
    fprintf(to, "%lld difference%s%s on %d %s%s", (long long)v->comparisons, plural(v->comparisons),
            whole ? "" : " along random directions", v->samples, single ? "sample" : "shape", plural(v->samples));
    if (v->kinks)
        fprintf(to, ", %lld of them on one side", (long long)v->kinks);
    if (v->undecided)
        fprintf(to, ", %lld undecided", (long long)v->undecided);
}

static void put_row(const check_row *row, bool has_curve, FILE *to)
{
    const tg_gradcheck_result *v = &row->result;
    fputs("<tr><td class=\"name\">", to);
    if (has_curve) {
        fputs("<a href=\"#v-", to);
        html_text(to, row->what->name);
        fputs("\">", to);
    }
    html_text(to, row->what->name);
    fputs(has_curve ? "</a></td><td class=\"more\">" : "</td><td class=\"more\">", to);
    html_text(to, row->what->about);
    fputs("</td><td class=\"name\">", to);
    check_chart_mark(to, verdict_of(v));
    fprintf(to, "%s</td><td class=\"n\">", verdict_name(verdict_of(v)));
    if (check_has_error(v))
        fprintf(to, "%.1e", v->relative);
    fprintf(to, "</td><td class=\"n\">%d</td><td class=\"more\">", row->order);
    html_text(to, v->where);
    fputs("</td><td class=\"more\">", to);
    put_basis(row, to);
    fputs("</td></tr>\n", to);
}

static void put_table(const check_report *r, const steps_curve curves[], FILE *to)
{
    fputs("<h2>Results</h2>\n<div class=\"wide\"><table class=\"results\"><tr><th>operation</th><th "
          "class=\"more\">what it is</th><th>result</th>"
          "<th class=\"n\">worst relative error</th><th class=\"n\">order</th><th class=\"more\">where</th>"
          "<th class=\"more\">rests on</th></tr>\n",
          to);
    for (int i = 0; i < r->table->count; i++) {
        const check_row *row = &r->table->rows[i];
        if (i == 0 || strcmp(row->what->category, row[-1].what->category) != 0) {
            fputs("<tr class=\"category\"><td colspan=\"7\">", to);
            html_text(to, row->what->category);
            fputs("</td></tr>\n", to);
        }
        put_row(row, curves && curves[i].count > 0, to);
    }
    fputs("</table></div>\n", to);
    int constants = 0;
    for (int i = 0; i < r->all->count; i++)
        if (r->all->list[i].chosen && r->all->list[i].constant) {
            fputs(constants++ ? ", " : "<p class=\"small\">No derivative by nature, nothing to check: ", to);
            html_text(to, r->all->list[i].name);
        }
    fputs(constants ? "</p>\n" : "", to);
    fputs("<h2>What a result rests on</h2>\n"
          "<p>Derivatives, in double, are compared with differences of the function, or of the derivative below, at "
          "steps that are halved again and again and extrapolated (Ridders, 1982); they estimate their own error, and "
          "the rounding of the function is measured, so that there is no tolerance to choose. At a kink, the checker "
          "uses one-sided differences. The relative error is that of the worst comparison. Where differences do not "
          "converge the result is that they cannot tell.</p>\n"
          "<p>Besides, to the bit: the same call gives the same twice; a zero cotangent gives zero, its negative the "
          "negative, powers of two so many times the gradient; evaluated without gradient, by tg_backward or in a "
          "second step it is the same. Up to rounding: the gradient is linear in its cotangent, &lt;v, J u&gt; is "
          "&lt;J<sup>T</sup> v, u&gt;, and it is the same inside a checkpoint. An operation gives in float what it "
          "gives in double, and an elementwise one the same in any shape.</p>\n",
          to);
}

/* ---- the error over the step ---- */

static void put_gallery(const check_report *r, const steps_curve curves[], FILE *to)
{
    bool any = false;
    for (int i = 0; curves && i < r->table->count; i++) {
        if (curves[i].count == 0)
            continue;
        if (!any)
            fputs("<h2>Error of a difference over its step</h2>\n<p>Relative, at the element with the largest "
                  "derivative: truncation falls with the step, "
                  "rounding rises. <svg width=\"24\" height=\"8\"><path class=\"v plain\" d=\"M0 4h24\"/></svg> plain, "
                  "<svg width=\"24\" height=\"8\"><path class=\"v once\" d=\"M0 4h24\"/></svg> extrapolated once, "
                  "<svg width=\"24\" height=\"8\"><path class=\"v twice\" d=\"M0 4h24\"/></svg> twice; "
                  "<svg width=\"24\" height=\"8\"><path class=\"v rounding\" d=\"M0 4h24\"/></svg> 2<sup>-53</sup> / "
                  "step.</p>\n"
                  "<div class=\"gallery\">\n",
                  to);
        any = true;
        fputs("<figure id=\"v-", to);
        html_text(to, curves[i].what->name);
        fputs("\"><figcaption><b>", to);
        html_text(to, curves[i].what->name);
        fputs("</b><br>", to);
        html_text(to, curves[i].where);
        fputs("</figcaption>\n", to);
        check_chart_steps(to, &curves[i]);
        fputs("</figure>\n", to);
    }
    if (any)
        fputs("</div>\n", to);
}

/* The curves of the operations among the rows; NULL if out of memory. */
static steps_curve *compute_curves(const check_report *r)
{
    tg_error error;
    steps_curve *curves = calloc((size_t)r->table->count + 1, sizeof *curves);
    for (int i = 0; curves && i < r->table->count; i++)
        if (r->table->rows[i].what->op)
            steps_compute(&(steps_place){r->table->rows[i].what, -1, -1}, (uint64_t)r->seed, &curves[i], &error);
    return curves;
}

static bool write_html(const void *context, FILE *to)
{
    const check_report *r = context;
    steps_curve *curves = compute_curves(r);
    char head[3000];
    snprintf(head, sizeof head, "%s%s", style, check_chart_style);
    html_begin(to, "Gradient check", head, false);
    put_counts(r, to);
    put_conditions(r, to);
    put_problems(r, to);
    fputs("<h2>Worst relative errors</h2>\n<div class=\"wide\">", to);
    check_chart_errors(to, r->table);
    fputs("</div>\n", to);
    put_table(r, curves, to);
    put_gallery(r, curves, to);
    html_end(to);
    free(curves);
    return curves != NULL;
}

bool check_report_write(const char *path, const check_report *report, tg_error *error)
{
    return files_write_path(path, true, write_html, report, error);
}
