
#include "examples/programs/report/html.h"

enum { WIDTH = 720, HEIGHT = 300, LEFT = 70, RIGHT = 20, TOP = 15, BOTTOM = 45, TICKS = 4, COLOURS = 12 };

/* The colours of plots/style.gp, in its order; but that of the text for black, which a dark background would hide. */
static const char *const colours[COLOURS] = {"var(--ink)", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9",
                                             "#e69f00",    "#882255", "#999933", "#44aa99", "#aa4499", "#888888"};

typedef struct axes {
    double low[2], high[2]; /* ranges of x and of y, y on its scale */
    bool logarithmic;
} axes;

static double scaled(const axes *a, double y)
{
    return a->logarithmic ? log10(y) : y;
}

/* Extends the ranges to include every point; false if there is none. */
static bool find_axes(const chart_line *lines, int count, axes *a)
{
    *a = (axes){{INFINITY, INFINITY}, {-INFINITY, -INFINITY}, false};
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < lines[i].count; k++)
            for (int side = 0; side < 2 && isfinite(lines[i].pairs[2 * k + 1]); side++) {
                a->low[side] = fmin(a->low[side], lines[i].pairs[2 * k + (size_t)side]);
                a->high[side] = fmax(a->high[side], lines[i].pairs[2 * k + (size_t)side]);
            }
    if (!(a->low[1] <= a->high[1]))
        return false;
    a->logarithmic = a->low[1] > 0 && a->high[1] > 10 * a->low[1];
    a->low[1] = scaled(a, a->low[1]);
    a->high[1] = scaled(a, a->high[1]);
    a->low[0] = fmin(a->low[0], 0);
    for (int side = 0; side < 2; side++)
        if (!(a->high[side] - a->low[side] > 1e-9 * fabs(a->high[side]))) { /* one point, or a horizontal line */
            const double margin = fmax(0.5, fabs(a->low[side]) / 2);
            a->low[side] -= side ? margin : 0;
            a->high[side] += margin;
        }
    return true;
}

static double across_of(const axes *a, double x)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * (x - a->low[0]) / (a->high[0] - a->low[0]);
}

static double down_of(const axes *a, double scaled_y)
{
    return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (scaled_y - a->low[1]) / (a->high[1] - a->low[1]);
}

/* 1, 2 or 5 times a power of ten: the smallest such step that is not below `least`. */
static double round_step(double least)
{
    const double power = pow(10, floor(log10(least)));
    return power * (least <= power ? 1 : least <= 2 * power ? 2 : least <= 5 * power ? 5 : 10);
}

static void put_rule(FILE *to, const axes *a, double y)
{
    const double down = down_of(a, scaled(a, y));
    fprintf(to,
            "<path d=\"M%d %.1fH%d\" stroke=\"var(--line)\"/>"
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.4g</text>\n",
            LEFT, down, WIDTH - RIGHT, LEFT - 8, down + 4, fabs(y) < 1e-300 ? 0 : y);
}

/* Powers of ten, with 2 and 5 between them if there are few. */
static void put_powers(FILE *to, const axes *a)
{
    static const double steps[] = {1, 2, 5};
    const int between = a->high[1] - a->low[1] < 2.5 ? 3 : 1, sparse = (int)ceil((a->high[1] - a->low[1]) / 8);
    for (int power = (int)floor(a->low[1]); power <= a->high[1]; power += sparse)
        for (int i = 0; i < between; i++) {
            const double y = steps[i] * pow(10, power);
            if (log10(y) >= a->low[1] && log10(y) <= a->high[1])
                put_rule(to, a, y);
        }
}

static void put_grid(FILE *to, const axes *a, const char *across)
{
    const double up = round_step((a->high[1] - a->low[1]) / TICKS), /* steps and epochs are integers */
        right = fmax(1, round_step((a->high[0] - a->low[0]) / TICKS));
    if (a->logarithmic)
        put_powers(to, a);
    for (double i = ceil(a->low[1] / up); !a->logarithmic && i * up <= a->high[1]; i++)
        put_rule(to, a, i * up);
    for (double i = 0; i * right <= a->high[0]; i++)
        fprintf(to, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.7g</text>\n", across_of(a, i * right),
                HEIGHT - BOTTOM + 20, i * right);
    fprintf(to, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">", (WIDTH + LEFT - RIGHT) / 2, HEIGHT - 6);
    html_text(to, across);
    fputs("</text>\n", to);
}

static void put_line(FILE *to, const axes *a, const chart_line *line)
{
    bool open = false;
    size_t drawn = 0;
    fprintf(to, "<path fill=\"none\" stroke-width=\"1.6\" stroke-linejoin=\"round\" stroke=\"%s\" d=\"",
            colours[line->group % COLOURS]);
    for (size_t k = 0; k < line->count; k++) {
        const double y = line->pairs[2 * k + 1];
        if (isfinite(y)) {
            fprintf(to, "%c%.1f %.1f", open ? 'L' : 'M', across_of(a, line->pairs[2 * k]), down_of(a, scaled(a, y)));
            drawn++;
        }
        open = isfinite(y);
    }
    fputs("\"/>\n", to);
    for (size_t k = 0; k < line->count && drawn == 1; k++) /* a path of one point is invisible */
        if (isfinite(line->pairs[2 * k + 1]))
            fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\"/>\n", across_of(a, line->pairs[2 * k]),
                    down_of(a, scaled(a, line->pairs[2 * k + 1])), colours[line->group % COLOURS]);
}

static bool is_first_of_group(const chart_line *lines, int number)
{
    int first = 0;
    while (lines[first].group != lines[number].group)
        first++;
    return first == number;
}

void chart_write(FILE *to, const char *title, const char *across, const chart_line *lines, int count)
{
    axes a;
    if (!find_axes(lines, count, &a))
        return;
    fputs("<figure class=\"chart\"><figcaption>", to);
    html_text(to, title);
    for (int i = 0; i < count; i++)
        if (is_first_of_group(lines, i)) {
            fprintf(to, " <span style=\"color:%s\">&#9632;</span>&#160;", colours[lines[i].group % COLOURS]);
            html_text(to, lines[i].name);
        }
    fprintf(to, "</figcaption>\n<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, HEIGHT);
    put_grid(to, &a, across);
    for (int i = 0; i < count; i++)
        put_line(to, &a, &lines[i]);
    fputs("</svg></figure>\n", to);
}
