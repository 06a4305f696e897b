/* Memory for what is reported. A program that gets none says so and exits with status 2, so no caller checks: files are
 * complete or absent (files.h), and runs that were stopped can be continued.
 *
 *     run *copy = memory_checked(malloc(sizeof *copy));
 *     runs = memory_grown(runs, count, sizeof *runs);                       // room for runs[count]
 *     texts all = {0};
 *     char *line = texts_add(&all, "%d of %d runs", finished, count);       // lives until texts_free(&all)
 */
#pragma once

#include "examples/programs/system/standard.h"

/* The result of an allocation; if it is NULL, the program exits. */
void *memory_checked(void *allocated);

/* An array of `count` items with room for one more; it must have grown one by one. */
void *memory_grown(void *items, size_t count, size_t size);

/* A formatted text, to be freed. */
char *memory_text(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Texts that are freed together. */
typedef struct texts {
    char **list;
    size_t count;
} texts;

char *texts_add(texts *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *texts_add_list(texts *to, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));
void texts_free(texts *all);

/* The number of a text, without its repetitions: it is added where the list does not have it. */
int texts_number(texts *in, const char *text, size_t length);
