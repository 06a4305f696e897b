#include "examples/lab/report.h"
#include "examples/report/html.h"
#include "examples/report/table.h"
#include "examples/lab/runlog_internal.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

typedef struct writing {
    const char *folder;
    const report *report;
} writing;

static FILE *open_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "re") : NULL;
}

static void put_pictures(const char *folder, FILE *to)
{
    html_picture(to, folder, "accuracy.svg", "Validation accuracy over epochs");
    html_picture(to, folder, "loss.svg", "Loss over epochs");
    html_picture(to, folder, "steps.svg", "Loss over steps");
    html_picture(to, folder, "search.svg", "Validation loss over what was searched");
    html_picture(to, folder, "noise.svg", "Accuracy and loss over the size of noise");
    html_picture(to, folder, "boundary.svg", "Which class is where");
}

/* ---- confusion matrices ---- */

enum { MOST_SHOWN = 30 };

/* Blue where right, orange where wrong, the stronger the larger the share of the class. */
static bool put_confusion(const runlog *log, const char *activation, const double counts[], FILE *to)
{
    const size_t classes = log->classes;
    table *t = table_new(1);
    table_caption(t, activation);
    table_add_column(t, &(table_column){.name = "class \\ answer"});
    for (size_t c = 0; c < classes; c++)
        table_add_column(t, &(table_column){.name = log->class_names[c]});
    for (size_t label = 0; label < classes; label++) {
        double all = 0;
        table_add_row(t);
        table_add_cell(t, "%s", log->class_names[label]);
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
    double *counts = calloc(log->classes * log->classes + 1, sizeof *counts);
    bool begun = false, complete = best && counts;
    for (int run = 0; complete && log->classes <= MOST_SHOWN && run < best->count; run++) {
        const char *activation = best->runs[run].activation;
        if (!runlog_is_first_of_activation(best, run) || !runlog_confusion(best, activation, counts))
            continue;
        if (!begun)
            fputs("<h2>Confusion matrix</h2>\n<p>Samples by their class and by the answer of the net at the best "
                  "epoch, all seeds together.</p>\n<div class=\"many\">",
                  to);
        begun = true;
        complete = put_confusion(best, activation, counts, to);
    }
    fputs(begun ? "</div>\n" : "", to);
    runlog_free(best);
    free(counts);
    return complete;
}

/* ---- the whole ---- */

/* What a stream holds, as text of a <pre>. */
static void put_stream(FILE *from, FILE *to)
{
    char buffer[4096];
    fputs("<pre>", to);
    for (size_t got; from && (got = fread(buffer, 1, sizeof buffer, from)) > 0;)
        html_letters(to, buffer, got);
    fputs("</pre>\n", to);
}

static bool write_html(const void *context, FILE *to)
{
    const writing *w = context;
    FILE *config = open_file(w->folder, "config.json");
    html_begin(to, w->report->title, NULL, w->report->running);
    fputs("<pre class=\"words\">", to);
    html_text(to, w->report->about);
    fputs("</pre>\n<h2>Results</h2>\n", to);
    runlog_print_table_as(w->report->log, "html", to);
    if (w->report->drawn)
        put_pictures(w->folder, to);
    const bool complete = put_confusions(w->report->log, to);
    fputs("<h2>To repeat it</h2>\n<pre class=\"words\">", to);
    html_text(to, w->report->command);
    fputs("</pre>\n<h2>All options</h2>\n", to);
    put_stream(config, to);
    html_end(to);
    if (config)
        fclose(config);
    return complete;
}

bool report_write(const char *folder, const report *r, char message[FILES_MESSAGE])
{
    return files_write(folder, "report.html", write_html, &(writing){folder, r}, message);
}
