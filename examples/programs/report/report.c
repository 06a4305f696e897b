#include "examples/programs/report/report.h"
#include "examples/programs/report/html.h"
#include "examples/programs/report/table.h"
#include "examples/programs/report/runlog_internal.h"

typedef struct writing {
    const char *folder;
    const report *report;
} writing;

static bool put_pictures(const char *folder, FILE *to)
{
    static const char *const pictures[][2] = {{"accuracy.svg", "Validation accuracy over epochs"},
                                              {"loss.svg", "Loss over epochs"},
                                              {"steps.svg", "Loss over steps"},
                                              {"search.svg", "Validation loss over the searched setting"},
                                              {"noise.svg", "Accuracy and loss over the level of noise"},
                                              {"boundary.svg", "Decision boundaries"}};
    bool whole = true;
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++)
        whole &= html_picture(to, folder, pictures[i][0], pictures[i][1]);
    return whole;
}

/* ---- curves without pictures: while the program runs, or without gnuplot ---- */

static void put_chart(const runlog *log, const char *title, const char *across, runlog_series kind, FILE *to)
{
    chart_line *lines = memory_checked(calloc((size_t)log->count + 1, sizeof *lines));
    for (int run = 0; run < log->count; run++) {
        const runlog_numbers *pairs = &log->runs[run].series[kind];
        lines[run] = (chart_line){log->runs[run].group, log->runs[run].activation, pairs->numbers, pairs->count / 2};
    }
    chart_write(to, title, across, lines, log->count);
    free(lines);
}

/* ---- confusion matrices ---- */

enum { MOST_SHOWN = 30 };

/* Blue for right answers, orange for wrong ones; stronger for a larger share of the class. */
static void put_confusion(const runlog *log, const char *activation, const double counts[], FILE *to)
{
    const size_t classes = log->about.compared.classes;
    table *t = table_new(1);
    table_caption(t, activation);
    table_add_column(t, &(table_column){.name = "class \\ prediction"});
    for (size_t c = 0; c < classes; c++)
        table_add_column(t, &(table_column){.name = log->about.compared.class_names[c]});
    for (size_t label = 0; label < classes; label++) {
        double all = 0;
        table_add_row(t);
        table_add_cell(t, "%s", log->about.compared.class_names[label]);
        for (size_t answer = 0; answer < classes; answer++)
            all += counts[label * classes + answer];
        for (size_t answer = 0; answer < classes; answer++) {
            const double count = counts[label * classes + answer];
            table_add_cell(t, "%.7g", count);
            table_set_mark(t, label == answer ? TABLE_SHADED_GOOD : TABLE_SHADED_BAD, all > 0 ? count / all : 0);
        }
    }
    table_print(t, "html", to);
    table_free(t);
}

static void put_confusions(const runlog *log, FILE *to)
{
    const size_t classes = log->about.compared.classes;
    if (classes > MOST_SHOWN)
        return;
    runlog *best = runlog_at_best(log, false);
    double *counts = memory_checked(calloc(classes * classes + 1, sizeof *counts));
    bool begun = false;
    for (int a = 0; a < (int)best->activations.count; a++) {
        if (!runlog_confusion(best, a, counts))
            continue;
        if (!begun)
            fputs("<h2>Confusion matrix</h2>\n<p>Samples by class and by the net's prediction at the best epoch, all "
                  "seeds together.</p>\n<div class=\"many\">",
                  to);
        begun = true;
        put_confusion(best, best->activations.list[a], counts, to);
    }
    fputs(begun ? "</div>\n" : "", to);
    runlog_free(best);
    free(counts);
}

/* ---- the report ---- */

static bool write_html(const void *context, FILE *to)
{
    const writing *w = context;
    char *options = files_text(runlog_print_options, w->report->log),
         *about = files_text(w->report->about, w->report->context);
    html_begin(to, w->report->title, NULL, w->report->running);
    runlog_print_results(w->report->log, "html", to);
    bool whole = true;
    if (w->report->drawn)
        whole = put_pictures(w->folder, to);
    else {
        put_chart(w->report->log, "training loss", "step", RUNLOG_STEPS, to);
        put_chart(w->report->log, "validation loss", "epoch", RUNLOG_LOSSES, to);
    }
    put_confusions(w->report->log, to);
    html_element(to, "h2", "What the words mean");
    runlog_print_definitions(w->report->log, "html", to);
    html_element(to, "h2", "Data and nets");
    html_element(to, "pre class=\"words\"", about);
    html_element(to, "h2", "To repeat it");
    html_element(to, "pre class=\"words\"", w->report->command);
    html_element(to, "h2", "All options");
    html_element(to, "pre", options);
    html_end(to);
    free(options);
    free(about);
    errno = whole ? 0 : EIO;
    return whole;
}

double report_next(double begin, double end)
{
    static const double least = 1, share = 0.02;
    return end + fmax((end - begin) / share, least);
}

bool report_write(const char *folder, const report *r, tg_error *error)
{
    return files_write(folder, "report.html", write_html, &(writing){folder, r}, error);
}
