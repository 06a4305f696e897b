#include "examples/programs/report/comparison_view.h"

#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/html.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/terminal.h"

/* A row: the difference in the picture's unit, with its interval. */
typedef struct bar {
    char label[80];
    double low, mean, high;
} bar;

typedef struct picture {
    bar *bars; /* [count] */
    int count, label_width;
    double left, right; /* the axis, 0 between them */
    char title[256];
} picture;

static picture picture_of(const comparison_picture *p)
{
    const comparison_measure *m = &p->c->measures[p->measure];
    picture to = {.bars = memory_checked(calloc((size_t)p->count + 1, sizeof(bar)))};
    bool percent = !m->share;
    for (int i = 0; i < p->count; i++)
        percent &= p->groups[p->pairs[i].a].of[p->measure].value.mean > 0;
    for (int i = 0; i < p->count; i++) {
        const comparison_pair *pair = &p->pairs[i];
        const double scale = m->share  ? 100
                             : percent ? 100 / p->groups[pair->a].of[p->measure].value.mean
                                       : 1,
                     mean = scale * pair->difference.mean;
        const statistics_range range = statistics_difference_interval(&pair->difference, m->share);
        if (pair->pairs < 2 || !isfinite(mean) || !isfinite(pair->difference.margin))
            continue;
        bar *b = &to.bars[to.count++];
        *b = (bar){.low = scale * range.low, .mean = mean, .high = scale * range.high};
        snprintf(b->label, sizeof b->label, "%.*s - %.*s", plain_length(p->groups[pair->b].name, 38),
                 p->groups[pair->b].name, plain_length(p->groups[pair->a].name, 38), p->groups[pair->a].name);
        plain_text(b->label);
        const int width = terminal_width(b->label);
        to.label_width = width > to.label_width ? width : to.label_width;
        to.left = fmin(to.left, b->low);
        to.right = fmax(to.right, b->high);
    }
    snprintf(to.title, sizeof to.title, "Difference in %.*s%s, with 95 %% intervals; %s is better",
             plain_length(m->words, 100), m->words,
             m->share  ? ", points"
             : percent ? ", % of the second's"
                       : "",
             m->more_is_better ? "right" : "left");
    plain_text(to.title);
    return to;
}

/* ---- in characters ---- */

static int column_of(const picture *p, double x, int width)
{
    return (int)lround((x - p->left) / (p->right - p->left) * (width - 1));
}

static void print_characters(const picture *p, FILE *out)
{
    static const char *const signs[2][4] = {{" ", "-", "|", "o"}, {" ", "─", "│", "●"}};
    enum { NUMBER = 10, LEAST = 16, MOST = 60, USUAL = 80 };
    const terminal screen = terminal_of(out);
    const int columns = screen.live ? screen.columns : USUAL, room = columns - p->label_width - NUMBER - 2,
              width = room < MOST ? room : MOST;
    if (width < LEAST)
        return;
    terminal_wrap(out, p->title, NULL);
    for (int i = 0; i < p->count; i++) {
        const bar *b = &p->bars[i];
        const int low = column_of(p, b->low, width), mean = column_of(p, b->mean, width),
                  high = column_of(p, b->high, width), zero = column_of(p, 0, width);
        fprintf(out, "%s%*s ", b->label, p->label_width - terminal_width(b->label), "");
        for (int k = 0; k < width; k++)
            fputs(signs[screen.utf8][k == mean ? 3 : k == zero ? 2 : k >= low && k <= high ? 1 : 0], out);
        fprintf(out, " %*s\n", NUMBER - 1,
                number_placed(b->mean, fabs(b->mean) < 10 ? 2 : 1, true, (char[NUMBER_TEXT]){0}));
    }
    fputc('\n', out);
}

/* ---- as SVG ---- */

enum { WIDTH = 720, ROW = 24, LABEL = 250, EDGE = 20, AXIS = 34 };

static double across_of(const picture *p, double x)
{
    return LABEL + (WIDTH - LABEL - EDGE) * (x - p->left) / (p->right - p->left);
}

static void print_svg(const picture *p, FILE *out)
{
    const double step = pow(10, floor(log10(p->right - p->left))), tick = (p->right - p->left) / step < 2   ? step / 2
                                                                          : (p->right - p->left) / step < 5 ? step
                                                                                                            : 2 * step;
    const int height = p->count * ROW + AXIS;
    html_print(out, "<figure class=\"chart\"><figcaption>%s</figcaption>\n", p->title);
    fprintf(out, "<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", WIDTH, height);
    for (double i = ceil(p->left / tick); i * tick <= p->right; i++)
        fprintf(out,
                "<path d=\"M%.1f 0V%d\" stroke=\"var(--%s)\"/><text x=\"%.1f\" y=\"%d\" "
                "text-anchor=\"middle\">%.4g</text>\n",
                across_of(p, i * tick), p->count * ROW, i == 0 ? "rule" : "line", across_of(p, i * tick),
                p->count * ROW + 20, i == 0 ? 0 : i * tick);
    for (int i = 0; i < p->count; i++) {
        const bar *b = &p->bars[i];
        const double y = ROW * (i + 0.5);
        fprintf(out, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">", LABEL - 10, y + 4);
        html_text(out, b->label);
        fprintf(out,
                "</text><path d=\"M%.1f %.1fH%.1f\" stroke=\"var(--mark)\" stroke-width=\"3\"/>"
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"var(--mark)\"/>\n",
                across_of(p, b->low), y, across_of(p, b->high), across_of(p, b->mean), y);
    }
    fputs("</svg></figure>\n", out);
}

void comparison_print_picture(const comparison_picture *of, const char *format, FILE *out)
{
    picture p = picture_of(of);
    const double edge = 0.03 * (p.right - p.left);
    p.left -= edge;
    p.right += edge;
    if (p.count > 0 && p.right > p.left && strcmp(format, "table") == 0)
        print_characters(&p, out);
    else if (p.count > 0 && p.right > p.left && strcmp(format, "html") == 0)
        print_svg(&p, out);
    free(p.bars);
}
