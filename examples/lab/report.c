#include "examples/lab/report.h"
#include "examples/report/html.h"
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

/* ---- what is mistaken for what ---- */

enum { MOST_SHOWN = 30 };

static void put_confusion(const runlog *log, const char *activation, const double counts[], FILE *to)
{
    const size_t classes = log->classes;
    fputs("<div class=\"wide\"><table class=\"figures\"><caption>", to);
    html_text(to, activation);
    fputs("</caption>\n<tr><th>class \\ answer</th>", to);
    for (size_t c = 0; c < classes; c++) {
        fputs("<th>", to);
        html_text(to, log->class_names[c]);
        fputs("</th>", to);
    }
    fputs("</tr>\n", to);
    for (size_t label = 0; label < classes; label++) {
        double all = 0;
        for (size_t answer = 0; answer < classes; answer++)
            all += counts[label * classes + answer];
        fputs("<tr><th>", to);
        html_text(to, log->class_names[label]);
        fputs("</th>", to);
        for (size_t answer = 0; answer < classes;
             answer++) { /* blue where right, orange where wrong, the stronger the more of the class */
            const double count = counts[label * classes + answer], share = all > 0 ? count / all : 0;
            fprintf(to, "<td style=\"background:rgba(%s,%.3f)\">%.0f</td>", label == answer ? "0,114,178" : "213,94,0",
                    0.6 * share, count);
        }
        fputs("</tr>\n", to);
    }
    fputs("</table></div>\n", to);
}

static bool put_confusions(const runlog *log, FILE *to)
{
    runlog *best = runlog_at_best(log, false);
    double *counts = calloc(log->classes * log->classes + 1, sizeof *counts);
    bool begun = false;
    for (int run = 0; best && counts && log->classes <= MOST_SHOWN && run < best->count; run++) {
        const char *activation = best->runs[run].activation;
        if (!runlog_is_first_of_activation(best, run) || !runlog_confusion(best, activation, counts))
            continue;
        if (!begun)
            fputs("<h2>What is mistaken for what</h2>\n<p>Rows by their class and by the answer of the net at the best "
                  "epoch, all seeds "
                  "together.</p>\n<div class=\"many\">",
                  to);
        begun = true;
        put_confusion(best, activation, counts, to);
    }
    fputs(begun ? "</div>\n" : "", to);
    const bool complete = best && counts;
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
    html_begin(to, w->report->title, NULL);
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
