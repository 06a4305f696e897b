#include "examples/report/report.h"
#include "examples/report/chart.h"
#include "examples/report/html.h"
#include "examples/report/table.h"
#include "examples/report/runlog_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    const char *folder;
    const report *report;
} writing;

static void put_pictures(const char *folder, FILE *to)
{
    html_picture(to, folder, "accuracy.svg", "Validation accuracy over epochs");
    html_picture(to, folder, "loss.svg", "Loss over epochs");
    html_picture(to, folder, "steps.svg", "Loss over steps");
    html_picture(to, folder, "search.svg", "Validation loss over the searched setting");
    html_picture(to, folder, "noise.svg", "Accuracy and loss over the level of noise");
    html_picture(to, folder, "boundary.svg", "Decision boundaries");
}

/* ---- curves without pictures: while the program runs, or without gnuplot ---- */

typedef struct curves {
    chart_line *lines;
    int count;
} curves;

/* Adds a line of `count` pairs of x and y; the group is the number of the activation. */
static void add_line(curves *all, const runlog *log, int run, const double *pairs, size_t count)
{
    int group = -1;
    for (int i = 0; i <= run && group < 0; i++)
        if (strcmp(log->runs[i].activation, log->runs[run].activation) == 0)
            group = i;
    int number = 0;
    for (int i = 0; i < group; i++)
        number += runlog_is_first_of_activation(log, i);
    all->lines[all->count++] =
        (chart_line){.name = log->runs[run].activation, .group = number, .pairs = pairs, .count = count};
}

static bool put_charts(const runlog *log, FILE *to)
{
    size_t points = 0;
    for (int run = 0; run < log->count; run++)
        points += (size_t)log->runs[run].count;
    curves steps = {calloc((size_t)log->count + 1, sizeof *steps.lines)},
           epochs = {calloc((size_t)log->count + 1, sizeof *epochs.lines)};
    double *pairs = calloc(2 * points + 1, sizeof *pairs), *pair = pairs;
    const bool complete = steps.lines && epochs.lines && pairs;
    for (int run = 0; complete && run < log->count; run++) {
        const runlog_run *r = &log->runs[run];
        add_line(&steps, log, run, r->series[RUNLOG_STEPS].numbers, r->series[RUNLOG_STEPS].count / 2);
        add_line(&epochs, log, run, pair, (size_t)r->count);
        for (int i = 0; i < r->count; i++, pair += 2)
            pair[0] = r->epochs[i].epoch, pair[1] = r->epochs[i].val_loss;
    }
    if (complete) {
        chart_write(to, "training loss", "step", steps.lines, steps.count);
        chart_write(to, "validation loss", "epoch", epochs.lines, epochs.count);
    }
    free(steps.lines);
    free(epochs.lines);
    free(pairs);
    return complete;
}

/* ---- confusion matrices ---- */

enum { MOST_SHOWN = 30 };

/* Blue for right answers, orange for wrong ones; stronger for a larger share of the class. */
static bool put_confusion(const runlog *log, const char *activation, const double counts[], FILE *to)
{
    const size_t classes = log->about.classes;
    table *t = table_new(1);
    table_caption(t, activation);
    table_add_column(t, &(table_column){.name = "class \\ prediction"});
    for (size_t c = 0; c < classes; c++)
        table_add_column(t, &(table_column){.name = log->about.class_names[c]});
    for (size_t label = 0; label < classes; label++) {
        double all = 0;
        table_add_row(t);
        table_add_cell(t, "%s", log->about.class_names[label]);
        for (size_t answer = 0; answer < classes; answer++)
            all += counts[label * classes + answer];
        for (size_t answer = 0; answer < classes; answer++) {
            const double count = counts[label * classes + answer];
            table_add_cell(t, "%.0f", count);
            table_set_mark(t, label == answer ? TABLE_SHADED_GOOD : TABLE_SHADED_BAD, all > 0 ? count / all : 0);
        }
    }
    const bool printed = table_print(t, "html", to);
    table_free(t);
    return printed;
}

static bool put_confusions(const runlog *log, FILE *to)
{
    runlog *best = runlog_at_best(log, false);
    double *counts = calloc(log->about.classes * log->about.classes + 1, sizeof *counts);
    bool begun = false, complete = best && counts;
    for (int run = 0; complete && log->about.classes <= MOST_SHOWN && run < best->count; run++) {
        const char *activation = best->runs[run].activation;
        if (!runlog_is_first_of_activation(best, run) || !runlog_confusion(best, activation, counts))
            continue;
        if (!begun)
            fputs("<h2>Confusion matrix</h2>\n<p>Samples by class and by the net's prediction at the best epoch, all "
                  "seeds together.</p>\n<div class=\"many\">",
                  to);
        begun = true;
        complete = put_confusion(best, activation, counts, to);
    }
    fputs(begun ? "</div>\n" : "", to);
    runlog_free(best);
    free(counts);
    return complete;
}

/* ---- the report ---- */

static bool write_html(const void *context, FILE *to)
{
    const writing *w = context;
    char *options = files_text(runlog_print_options, w->report->log),
         *about = files_text(w->report->about, w->report->context);
    html_begin(to, w->report->title, NULL, w->report->running);
    html_element(to, "pre class=\"words\"", about ? about : "");
    html_element(to, "h2", "Results");
    runlog_print_table_as(w->report->log, "html", to);
    if (w->report->drawn)
        put_pictures(w->folder, to);
    else
        put_charts(w->report->log, to);
    const bool complete = put_confusions(w->report->log, to) && options && about;
    html_element(to, "h2", "To repeat it");
    html_element(to, "pre class=\"words\"", w->report->command);
    html_element(to, "h2", "All options");
    html_element(to, "pre", options ? options : "");
    html_end(to);
    free(options);
    free(about);
    return complete;
}

double report_next(double begin, double end)
{
    static const double least = 3, share = 0.02;
    return end + fmax((end - begin) / share, least);
}

bool report_write(const char *folder, const report *r, tg_error *error)
{
    if (!r->log || !r->command)
        return tg_fail(error, "out of memory");
    return files_write(folder, "report.html", write_html, &(writing){folder, r}, error);
}
