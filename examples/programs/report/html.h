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
