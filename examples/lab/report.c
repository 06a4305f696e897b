#include "examples/lab/report.h"
#include "examples/lab/html.h"

#include <limits.h>
#include <stdio.h>

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
    html_picture(to, folder, "accuracy.svg", "accuracy");
    html_picture(to, folder, "loss.svg", "loss");
    html_picture(to, folder, "search.svg", "validation loss over what was searched");
}

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
    FILE *table = tmpfile(), *config = open_file(w->folder, "config.json");
    const bool complete = table != NULL;
    html_begin(to, w->report->title);
    fputs("<pre>", to);
    html_text(to, w->report->about);
    fputs("</pre>\n<h2>Results</h2>\n", to);
    if (table) {
        runlog_print_table(w->report->log, table);
        rewind(table);
    }
    put_stream(table, to);
    put_pictures(w->folder, to);
    fputs("<h2>To repeat it</h2>\n<pre>", to);
    html_text(to, w->report->command);
    fputs("</pre>\n<h2>All options</h2>\n", to);
    put_stream(config, to);
    html_end(to);
    if (table)
        fclose(table);
    if (config)
        fclose(config);
    return complete;
}

bool report_write(const char *folder, const report *r, char message[FILES_MESSAGE])
{
    return files_write(folder, "report.html", write_html, &(writing){folder, r}, message);
}
