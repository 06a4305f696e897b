/* Folders of results, and files that are whole or not there.
 *
 *     tg_error error;
 *     if (!files_check_folder("results/today", &error))            // before anything is computed; leaves no trace
 *         return fprintf(stderr, "compare: --out: %s\n", error.text), 2;
 *     ...
 *     static bool write_rows(const void *table, FILE *to) ...       // false: memory ran out
 *
 *     if (!files_make_folder("results/today", &error) ||
 *         !files_write("results/today", "rows.csv", write_rows, &table, &error))
 *         return fprintf(stderr, "compare: %s\n", error.text), 1;
 *
 * A file is written under a temporary name and then renamed: until then, and if the disk is full, an earlier file of
 * its name stays. So it is whole whenever the program is killed. Nothing waits for the disk: after a power failure a
 * file of the last seconds may be empty. What a killed program left of a file goes when the next one writes it.
 * Messages are one line with the path and the reason.
 */
#ifndef REPORT_FILES_H
#define REPORT_FILES_H

#include <stdbool.h>
#include <stdio.h>
#include <tapegrad.h>

/* Whether files can be written into this folder, which is made for the test, with those it lies in, and taken away
 * again, if there is none. Nothing that is there is touched. */
bool files_check_folder(const char *folder, tg_error *error);

/* Makes the folder and those it lies in, if they are not there. */
bool files_make_folder(const char *folder, tg_error *error);

/* Takes a folder that is there, for this process and those that it forks, until files_release_folder gets what this
 * returned. With `shared`, others that share it may have it, too; files_share_folder lets them in later. FILES_TAKEN,
 * with an error, if another process keeps it for a second. On systems where folders cannot be locked, the program
 * continues as if it had the lock.
 */
enum { FILES_TAKEN = -2 };
int files_take_folder(const char *folder, bool shared, tg_error *error);
void files_share_folder(int taken);
void files_release_folder(int taken);

/* Writes FOLDER/NAME by `write`, which looks at memory only: errors of the stream are found here. */
bool files_write(const char *folder, const char *name, bool (*write)(const void *context, FILE *to),
                 const void *context, tg_error *error);

/* "@" and the name of this machine: behind the number of a process in the names of temporary files, since a folder may
 * be shared with other machines, whose numbers are others. */
const char *files_machine(void);

/* Removes what a process that is no more has left of a file when it was killed, as files_write does of its own:
 * FOLDER/BEGIN, its number, END. "best.safetensors." and ".tmp" are those of the library. */
void files_remove_left(const char *folder, const char *begin, const char *end);

/* What `write` writes, as a text to be freed; NULL if there was no memory for all of it. */
char *files_text(void (*write)(const void *context, FILE *to), const void *context);

/* Closes a stream of open_memstream. False, and *text is NULL, if there was no memory for all that was written. */
bool files_close_memory(FILE *to, char **text);

/* Removes FOLDER/NAME, if it is there. */
void files_remove(const char *folder, const char *name);

/* Whether FOLDER/NAME could be written as far as names go: that none is too long, and no folder in the way. */
bool files_check_name(const char *folder, const char *name, tg_error *error);

#endif
