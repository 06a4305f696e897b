#include "examples/gradcheck/check_charts.h"

#include "examples/report/html.h"

#include <math.h>
#include <string.h>

const char check_chart_style[] = "svg{max-width:100%;height:auto;background:#fff}svg.errors{min-width:640px}svg "
                                 "text{font:11px sans-serif;fill:#404040}"
                                 ".grid{stroke:#e0e0e0}.frame{stroke:#606060;fill:none}"
                                 ".passed{fill:#0072B2;fill-opacity:.55}.undecided{fill:#fff;stroke:#E69F00;stroke-"
                                 "width:2}.failed{stroke:#D55E00;stroke-width:2.5;fill:none}"
                                 ".v{fill:none;stroke-width:1.6}.plain{stroke:#000}.once{stroke:#0072B2;stroke-"
                                 "dasharray:6 2}.twice{stroke:#D55E00;stroke-dasharray:2 1.5}"
                                 ".rounding{stroke:#909090;stroke-dasharray:1 3}";

static void put_mark(FILE *to, verdict which, double x, double y)
{
    if (which == VERDICT_PASSED)
        fprintf(to, "<circle class=\"passed\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"", x, y);
    else if (which == VERDICT_CANNOT_TELL)
        fprintf(to, "<path class=\"undecided\" d=\"M%.1f %.1fl5 5l-5 5l-5 -5z\"", x, y - 5);
    else
        fprintf(to, "<path class=\"failed\" d=\"M%.1f %.1fl8 8m0 -8l-8 8\"", x - 4, y - 4);
}

void check_chart_mark(FILE *to, verdict which)
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

void check_chart_errors(FILE *to, const check_table *table)
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
            html_text(to, row->what->category);
            fputs("</text>\n", to);
        }
        put_mark(to, which, error_at(check_has_error(&row->result) ? row->result.relative : 1), y);
        fputs("><title>", to);
        html_text(to, row->what->name);
        fprintf(to, ": %s", verdict_name(which));
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

void check_chart_steps(FILE *to, const steps_curve *c)
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
    put_curve(to, c, "plain", offsetof(tg_gradcheck_step, central));
    put_curve(to, c, "once", offsetof(tg_gradcheck_step, once));
    put_curve(to, c, "twice", offsetof(tg_gradcheck_step, twice));
    fputs("</svg>\n", to);
}
