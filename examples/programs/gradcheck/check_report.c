#include "examples/programs/gradcheck/check_report.h"

#include "examples/programs/gradcheck/steps.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/html.h"
#include "examples/programs/run/options.h"
#include "examples/programs/data/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <tapegrad.h>

static const char style[] =
    "td,th{vertical-align:top}.results{width:100%}tr.category td{font-weight:bold;background:var(--soft)}"
    ".counts{font-size:1.2em}.counts span{margin-right:1.5em;white-space:nowrap}.name{white-space:nowrap}"
    ".small{font-size:14px;opacity:.85}"
    ".why{white-space:pre-wrap;overflow-wrap:anywhere;border-left:4px solid #D55E00;padding-left:1em;margin:1em 0}"
    ".why.undecided{border-color:#E69F00}"
    ".gallery{display:grid;grid-template-columns:repeat(auto-fill,minmax(260px,1fr));gap:1em}"
    ".gallery figure{margin:0}.gallery figcaption{font-size:13px;overflow-wrap:anywhere}"
    "@media(max-width:900px){.more{display:none}}"
    "@media(max-width:520px){.name{white-space:normal;overflow-wrap:anywhere}td,th{padding:.2em .3em}}"
    "svg{max-width:100%;height:auto;background:#fff}svg.errors{min-width:640px}"
    "svg text{font:11px sans-serif;fill:#404040}.grid{stroke:#e0e0e0}.frame{stroke:#606060;fill:none}"
    ".passed{fill:#0072B2;fill-opacity:.55}.undecided{fill:#fff;stroke:#E69F00;stroke-width:2}"
    ".failed{stroke:#D55E00;stroke-width:2.5;fill:none}.v{fill:none;stroke-width:1.6}.plain{stroke:#000}"
    ".once{stroke:#0072B2;stroke-dasharray:6 2}.twice{stroke:#D55E00;stroke-dasharray:2 1.5}"
    ".rounding{stroke:#909090;stroke-dasharray:1 3}";

/* Charts as SVG, with colours that colour-blind readers can distinguish (Okabe and Ito), and marks of different shapes.
 */

/* ---- marks ---- */

static void put_mark(FILE *to, verdict which, double x, double y)
{
    if (which == VERDICT_PASSED)
        fprintf(to, "<circle class=\"passed\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"", x, y);
    else if (which == VERDICT_CANNOT_TELL)
        fprintf(to, "<path class=\"undecided\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"", x, y - 5);
    else
        fprintf(to, "<path class=\"failed\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"", x - 4, y - 4);
}

static void put_mark_in_text(FILE *to, verdict which)
{
    fputs("<svg width=\"14\" height=\"14\" role=\"img\" aria-hidden=\"true\">", to);
    put_mark(to, which, 7, 7);
    fputs("/></svg> ", to);
}

/* ---- the worst errors ---- */

enum { LEFT = 110, RIGHT = 16, WIDTH = 900, TOP = 22, ROW = 20, LOWEST = -17 };

static double error_at(double relative)
{
    const double power = relative > 0 ? fmin(0, fmax(LOWEST, log10(relative))) : LOWEST;
    return LEFT + (power - LOWEST) / -LOWEST * (WIDTH - LEFT - RIGHT);
}

/* The categories in the order of the rows; returns the index of `category`. */
static int category_of(const check_table *table, const char *category)
{
    int found = 0;
    for (int i = 0; i < table->count; i++) {
        int before = 0;
        while (strcmp(table->rows[before].what->category, table->rows[i].what->category) != 0)
            before++;
        if (category && strcmp(category, table->rows[i].what->category) == 0)
            return found;
        found += before == i;
    }
    return found;
}

static void put_grid(FILE *to, double bottom)
{
    for (int power = -16; power <= 0; power += 2) {
        const double x = error_at(pow(10, power));
        fprintf(to,
                "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%.1f\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">1e%d</text>\n",
                x, x, TOP, bottom, x, TOP - 8, power);
    }
}

static void put_errors(FILE *to, const check_table *table)
{
    const int categories = category_of(table, NULL);
    const double bottom = TOP + ROW * categories;
    fprintf(to,
            "<svg class=\"errors\" viewBox=\"0 0 %d %.0f\" width=\"%d\" role=\"img\" aria-label=\"worst relative error "
            "of each operation, by category\">\n",
            WIDTH, bottom + 6, WIDTH);
    put_grid(to, bottom);
    for (int i = 0, named = -1; i < table->count; i++) {
        const check_row *row = &table->rows[i];
        const int category = category_of(table, row->what->category);
        const verdict which = verdict_of(&row->result);
        const double y = TOP + ROW * (category + 0.5);
        if (category > named) {
            named = category;
            fprintf(to, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LEFT - 10, y + 4);
            html_print(to, "%s</text>\n", row->what->category);
        }
        put_mark(to, which, error_at(check_has_error(&row->result) ? row->result.relative : 1), y);
        html_print(to, "><title>%s: %s", row->what->name, verdict_name(which));
        if (check_has_error(&row->result))
            fprintf(to, ", %.1e", row->result.relative);
        fprintf(to, "</title></%s>\n", which == VERDICT_PASSED ? "circle" : "path");
    }
    fputs("</svg>\n", to);
}

/* ---- the error over the step ---- */

enum { V_WIDTH = 290, V_HEIGHT = 190, V_LEFT = 40, V_BOTTOM = 168, V_TOP = 8, V_RIGHT = 282 };
enum { STEP_LOWEST = -15, ERROR_LOWEST = -17, ERROR_HIGHEST = 1 };

static double step_x(double step)
{
    return V_LEFT + (log10(step) - STEP_LOWEST) / -STEP_LOWEST * (V_RIGHT - V_LEFT);
}

static double error_y(double error)
{
    const double power = error > 0 ? fmin(ERROR_HIGHEST, fmax(ERROR_LOWEST, log10(error))) : ERROR_LOWEST;
    return V_BOTTOM - (power - ERROR_LOWEST) / (ERROR_HIGHEST - ERROR_LOWEST) * (V_BOTTOM - V_TOP);
}

static void put_curve(FILE *to, const steps_curve *c, const char *class, size_t member)
{
    fprintf(to, "<polyline class=\"v %s\" points=\"", class);
    for (int k = 0; k < c->count; k++) {
        const double error = *(const double *)(const void *)((const char *)&c->steps[k] + member);
        if (!isnan(error) && c->steps[k].step > 1e-15)
            fprintf(to, "%.1f,%.1f ", step_x(c->steps[k].step), error_y(error));
    }
    fputs("\"/>\n", to);
}

static void put_steps(FILE *to, const steps_curve *c)
{
    fprintf(to, "<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"relative error over the step\">\n",
            V_WIDTH, V_HEIGHT, V_WIDTH);
    for (int power = ERROR_LOWEST + 1; power <= 0; power += 4)
        fprintf(to,
                "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"%d\" y=\"%.1f\" "
                "text-anchor=\"end\">1e%d</text>\n",
                V_LEFT, V_RIGHT, error_y(pow(10, power)), error_y(pow(10, power)), V_LEFT - 5,
                error_y(pow(10, power)) + 4, power);
    for (int power = STEP_LOWEST; power <= 0; power += 5)
        fprintf(to,
                "<line class=\"grid\" y1=\"%d\" y2=\"%d\" x1=\"%.1f\" x2=\"%.1f\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"%s\">1e%d</text>\n",
                V_TOP, V_BOTTOM, step_x(pow(10, power)), step_x(pow(10, power)), step_x(pow(10, power)), V_BOTTOM + 15,
                power ? "middle" : "end", power);
    fprintf(to, "<path class=\"frame\" d=\"M%d %dV%dH%d\"/>\n", V_LEFT, V_TOP, V_BOTTOM, V_RIGHT);
    fprintf(to, "<line class=\"v rounding\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", step_x(1e-15),
            error_y(0x1p-53 / 1e-15), step_x(1), error_y(0x1p-53));
    put_curve(to, c, "plain", offsetof(steps_error, central));
    put_curve(to, c, "once", offsetof(steps_error, once));
    put_curve(to, c, "twice", offsetof(steps_error, twice));
    fputs("</svg>\n", to);
}

/* ---- the head ---- */

static void put_counts(const check_report *r, FILE *to)
{
    static const char *const words[VERDICTS] = {"passed", "cannot tell", "failed"};
    fputs("<p class=\"counts\">", to);
    for (int which = 0; which < VERDICTS; which++) {
        fputs("<span>", to);
        put_mark_in_text(to, (verdict)which);
        fprintf(to, "<b>%d</b> %s</span>\n", check_table_count(r->table, (verdict)which), words[which]);
    }
    fputs("</p>\n", to);
    if (r->interrupted)
        fputs("<p><b>Interrupted:</b> not all that was asked for has been checked.</p>\n", to);
}

static void put_command(const void *argv, FILE *to)
{
    options_print_command(argv, to);
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
#if defined __clang__
    html_print(to, ", compiled by %s", __VERSION__);
#elif defined __VERSION__
    html_print(to, ", compiled by GCC %s", __VERSION__);
#endif
    html_print(to, "; %s on %s. To repeat it:</p>\n<pre>", machine.sysname, machine.machine);
    char *command = files_text(put_command, r->argv);
    html_text(to, command ? command : "");
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
            put_mark_in_text(to, which);
            html_print(to, "<b>%s</b> %s</p>\n", verdict_name(which), row->result.why);
            if (row->report)
                html_element(to, "pre", row->report);
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
    if (has_curve)
        html_print(to, "<a href=\"#v-%s\">%s</a>", row->what->name, row->what->name);
    else
        html_text(to, row->what->name);
    html_print(to, "</td><td class=\"more\">%s</td><td class=\"name\">", row->what->about);
    put_mark_in_text(to, verdict_of(v));
    fprintf(to, "%s</td><td class=\"n\">", verdict_name(verdict_of(v)));
    if (check_has_error(v))
        fprintf(to, "%.1e", v->relative);
    fprintf(to, "</td><td class=\"n\">%d", row->order);
    html_print(to, "</td><td class=\"more\">%s</td><td class=\"more\">", v->where);
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
        if (i == 0 || strcmp(row->what->category, row[-1].what->category) != 0)
            html_print(to, "<tr class=\"category\"><td colspan=\"7\">%s</td></tr>\n", row->what->category);
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
    fputs(
        "<h2>What a result rests on</h2>\n"
        "<p>Derivatives, in double, are compared with differences of the function, or of the derivative below, at "
        "steps that are halved again and again and extrapolated (Ridders, 1982); they estimate their own error, and "
        "the rounding of the function is measured, so that there is no tolerance to choose. At a kink, the derivative "
        "must lie among the slopes around it. The relative error is that of the worst comparison. Where differences "
        "do not converge the result is that they cannot tell.</p>\n"
        "<p>Besides, to the bit: the same call gives the same twice; a zero cotangent gives zero, its negative the "
        "negative, powers of two so many times the gradient. Up to rounding: evaluated without gradient, by "
        "tg_backward, inside a checkpoint or in a later step it is the same, and &lt;v, J u&gt; is "
        "&lt;J<sup>T</sup> v, u&gt;. An operation is also checked in float, and an elementwise one in other "
        "shapes.</p>\n",
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
        html_print(to, "<figure id=\"v-%s\"><figcaption><b>%s</b><br>%s</figcaption>\n", curves[i].what->name,
                   curves[i].what->name, curves[i].where);
        put_steps(to, &curves[i]);
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
    html_begin(to, "Gradient check", style, false);
    put_counts(r, to);
    put_conditions(r, to);
    put_problems(r, to);
    fputs("<h2>Worst relative errors</h2>\n<div class=\"wide\">", to);
    put_errors(to, r->table);
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
