/* Pieces of a self-contained HTML file.
 *
 *     html_begin(to, "iris: 4-32x2-3", NULL, false);
 *     html_text(to, "loss < 0.1");                        // escaped
 *     html_picture(to, "results", "loss.svg", "loss");    // embedded; nothing if it does not exist
 *     html_end(to);
 */
#pragma once

#include "examples/programs/system/standard.h"

/* Writes everything up to and including the heading, and the end; `style` is extra CSS, or NULL. A page of a `running`
 * program says so and reloads every few seconds. */
void html_begin(FILE *to, const char *title, const char *style, bool running);
void html_end(FILE *to);

/* Writes text with HTML's special characters escaped and control characters replaced; with a length, or up to its
 * end. */
void html_letters(FILE *to, const char *text, size_t length);
void html_text(FILE *to, const char *text);

/* Writes HTML in which each %s is a text to be escaped: html_print(to, "<td title=\"%s\">%s</td>", why, name). */
void html_print(FILE *to, const char *html, ...);

/* "<p class="note">text</p>" and a newline, for a `tag` like p class="note". */
void html_element(FILE *to, const char *tag, const char *text);

/* The SVG file FOLDER/FILE as an embedded image; `says` is its alternative text. */
bool html_picture(FILE *to, const char *folder, const char *file, const char *says);

/* ---- curves as SVG, without any other program: for pages that change while a program runs (chart.c) ----
 *
 *     double relu[] = {1, 0.9, 2, 0.7, 3, 0.6};                           // pairs of x and y
 *     chart_write(to, "validation loss", "epoch", &(chart_line){.name = "relu", .pairs = relu, .count = 3}, 1);
 */

typedef struct chart_line {
    const char *name;
    int group;           /* lines of a group share its colour and one entry in the legend; 0, 1, ... */
    const double *pairs; /* [count, 2]: x and y; a y that is not finite is a gap */
    size_t count;
} chart_line;

/* Writes nothing if no line has a point. The y axis is logarithmic if all y are positive and the largest is more than
 * ten times the smallest. */
void chart_write(FILE *to, const char *title, const char *across, const chart_line *lines, int count);
