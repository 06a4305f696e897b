/* Pieces of an HTML file that needs no other file and no network.
 *
 *     html_begin(to, "iris: 4-32x2-3", NULL, false);
 *     html_text(to, "loss < 0.1");                        // escaped
 *     html_picture(to, "results", "loss.svg", "loss");    // inside the file; nothing where there is none
 *     html_end(to);
 */
#ifndef REPORT_HTML_H
#define REPORT_HTML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Everything up to and with the heading, and the end; `style` is what the page needs besides the usual styles, or NULL.
 * A page of what is still `running` says so and loads itself again every few seconds. */
void html_begin(FILE *to, const char *title, const char *style, bool running);
void html_end(FILE *to);

/* Text with what HTML reads as its own, and control characters, replaced; of a length, or to its end. */
void html_letters(FILE *to, const char *text, size_t length);
void html_text(FILE *to, const char *text);

/* "<p class="note">text</p>" and the end of a line, of a `tag` like p class="note". */
void html_element(FILE *to, const char *tag, const char *text);

/* The SVG file FOLDER/FILE as an image inside; `says` is for those who do not see it. */
void html_picture(FILE *to, const char *folder, const char *file, const char *says);

#endif
