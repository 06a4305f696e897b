/* One self-contained HTML file of a comparison: the columns read, the table, the pictures, the options.
 *
 *     report_write("results", &(report){.title = "iris: 4-32x2-3, adamw", .about = describe, .context = &data,
 *                                       .log = log, .command = command, .drawn = true}, &error);
 *
 * The pictures are the existing .svg files of the folder, so call it after plots_draw, whose result is `drawn`: without
 * it they are of an earlier comparison and are left out.
 */
#pragma once

#include "examples/programs/report/files.h"
#include "examples/programs/report/runlog.h"

typedef struct report {
    const char *title, *command;                  /* plain text */
    void (*about)(const void *context, FILE *to); /* the same, in several lines */
    const void *context;
    const runlog *log;
    bool drawn;   /* true if the folder's pictures belong to this comparison */
    bool running; /* more results will follow: the page reloads until it is written without this */
} report;

/* Writes report.html into an existing folder. On failure false and one line. */
bool report_write(const char *folder, const report *r, tg_error *error);

/* The time of the next report of a running program, in seconds of jobs_clock, if the last one took from `begin` to
 * `end`: after a second, or later if reports would take too large a share of the time. */
double report_next(double begin, double end);
