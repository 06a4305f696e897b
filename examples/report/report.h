/* One HTML file of a comparison, which needs no other file and no network: what was read, the table, the pictures, the
 * options.
 *
 *     report_write("results", &(report){.title = "iris: 4-32x2-3, adamw", .about = about, .log = log,
 *                                       .command = command, .drawn = true}, &error);
 *
 * The pictures are the .svg files of the folder, as far as they are there, so it comes after plots_draw, which says
 * whether they are `drawn`: those of an earlier comparison stay out.
 */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "examples/report/files.h"
#include "examples/report/runlog.h"

typedef struct report {
    const char *title, *about, *command; /* plain text; about may have several lines */
    const runlog *log;
    bool drawn;   /* whether the folder's pictures are of this comparison */
    bool running; /* more is to come: the page loads itself again until it is written without */
} report;

/* Writes report.html into the folder, which is there. On failure false and one line. */
bool report_write(const char *folder, const report *r, tg_error *error);

/* When the next report of a running program is due after one that took from `begin` to `end`, seconds on jobs_clock:
 * after a few seconds, and later where that would be too large a share of the time. */
double report_next(double begin, double end);

#endif
