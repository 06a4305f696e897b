/* Folders of results, and files that are complete or absent.
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
 * A file is written under a temporary name and then renamed; until then, and if the disk is full, an earlier file of
 * its name stays. So a file is complete even if the program is killed. Nothing waits for the disk: after a power
 * failure a file of the last seconds may be empty. The next program that writes the file removes the temporary files of
 * a killed one. Messages are one line with the path and the reason.
 */
#pragma once

#include "examples/programs/system/standard.h"

/* True if files can be written into this folder or, if it does not exist, into the nearest parent that does. It is not
 * created; existing files are not touched. */
bool files_check_folder(const char *folder, tg_error *error);

/* Makes the folder and its parents, if they do not exist. */
bool files_make_folder(const char *folder, tg_error *error);

/* Locks an existing folder for this process and its children, until files_release_folder is called with the result.
 * With `shared`, other sharing processes may lock it too; files_share_folder admits them later. FILES_TAKEN, with an
 * error, if another process holds the lock for a second. If folders cannot be locked on this system, the program
 * continues as if it had the lock. A lock that is not shared removes the temporary files that earlier processes have
 * left in the folder. */
enum { FILES_TAKEN = -2 };
int files_take_folder(const char *folder, bool shared, tg_error *error);
void files_share_folder(int taken);
void files_release_folder(int taken);

/* Writes the content of a file; false if out of memory or with another reason in errno. Errors of the stream are
 * detected here. */
typedef bool files_writer(const void *context, FILE *to);

/* Writes FOLDER/NAME; a device or a pipe of this name is written directly. */
bool files_write(const char *folder, const char *name, files_writer *write, const void *context, tg_error *error);

/* The same for the path of a file: whether it can be written, as far as can be known; and writes it. With `make`,
 * missing folders are made. */
bool files_check_path(const char *path, tg_error *error);
bool files_write_path(const char *path, bool make, files_writer *write, const void *context, tg_error *error);

/* True if both paths lead to one existing file. */
bool files_are_one(const char *a, const char *b);

/* "@" and the name of this machine. It follows the process number in names of temporary files, as other machines, with
 * the same process numbers, may share the folder. */
const char *files_machine(void);

/* Removes temporary files and folders of processes that no longer run, as files_write does for its own: FOLDER/BEGIN,
 * number, END. */
void files_remove_left(const char *folder, const char *begin, const char *end);

/* The output of `write` as a text to be freed. */
char *files_text(void (*write)(const void *context, FILE *to), const void *context);

/* Opens FOLDER/NAME, or the path NAME if there is no folder, for reading, without waiting for one that is not regular,
 * such as a pipe, which is refused. NULL with an empty error if there is no such file, else with one line. After
 * reading, files_end_reading closes it; false and one line if something could not be read: such a file is not an empty
 * file. */
FILE *files_read(const char *folder, const char *name, tg_error *error);
bool files_end_reading(FILE *file, const char *folder, const char *name, tg_error *error);

/* Removes a file or a folder with all its content; never what a link leads to. */
void files_remove_all(const char *path);

/* Removes FOLDER/NAME if it exists. */
void files_remove(const char *folder, const char *name);

/* The path FOLDER/NAME; false if it is too long. And true if there is something. */
bool files_path(const char *folder, const char *name, char path[PATH_MAX]);
bool files_exists(const char *folder, const char *name);

/* True if FOLDER/NAME is a possible file: no name is too long, and no folder has this name. */
bool files_check_name(const char *folder, const char *name, tg_error *error);

/* ---- files that come with the programs: scripts of plots/, studies (shared.c) ---- */

/* Finds the folder of a kind ("plots"), which has a file of this name: beside the program's folder, or in the data
 * folders of the XDG Base Directory Specification. False if there is none. */
bool shared_find(const char *kind, const char *file, char folder[PATH_MAX]);

/* True if FOLDER/NAME is a regular file that is not empty. */
bool shared_is_file(const char *folder, const char *name);
