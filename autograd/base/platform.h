/* What operating systems do in different ways. autograd/base/platform.c is the only file of the library that knows the
 * operating system; POSIX threads are there on all of them. Paths are UTF-8 on Windows. Internal to the library.
 *
 *     char *text;
 *     size_t size;
 *     FILE *to = tg_memory_open(&text, &size);
 *     fputs("written to memory", to);
 *     if (tg_memory_close(to, &text, &size))
 *         free(text);
 */
#ifndef TG_PLATFORM_H
#define TG_PLATFORM_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- memory ---- */

/* Uninitialised memory at a multiple of `alignment`, of which `size` is a multiple; only tg_aligned_free frees it. */
void *tg_aligned_new(size_t alignment, size_t size);
void tg_aligned_free(void *memory);

/* A file in memory; NULL if it cannot be made. Closing gives its text, which the caller frees, terminated by a zero
 * that does not count; false, with `text` NULL, if something was not written. */
FILE *tg_memory_open(char **text, size_t *size);
bool tg_memory_close(FILE *file, char **text, size_t *size);

/* ---- files: errors are in errno ---- */

typedef enum tg_path_kind { TG_PATH_MISSING, TG_PATH_FILE, TG_PATH_FOLDER, TG_PATH_OTHER, TG_PATH_ERROR } tg_path_kind;

tg_path_kind tg_path_look(const char *path);

/* A regular file for reading, without waiting for another process as a named pipe would. NULL, with what the path is,
 * for anything else. */
FILE *tg_file_open(const char *path, tg_path_kind *kind);

/* A new file, to be written as bytes; it fails if there is one of this name. */
FILE *tg_file_create(const char *path);

/* Flushes, and returns when the disk has the bytes. */
bool tg_file_sync(FILE *file);

/* As fseeko and ftello. */
bool tg_file_seek(FILE *file, int64_t offset, int from);
int64_t tg_file_tell(FILE *file);

/* Renames; a file with the new name is replaced. */
bool tg_file_replace(const char *from, const char *to);
bool tg_file_remove(const char *path);
bool tg_folder_make(const char *path);

/* ---- functions of the C library ---- */

double tg_system_sin(double x);
double tg_system_cos(double x);

/* ---- the process ---- */

long tg_process_number(void);

/* Seconds of a clock that is never set. */
double tg_seconds(void);

/* Calls `then` in each child of fork. */
void tg_after_fork(void (*then)(void));

/* A shared library, which is loaded if need be, and its function of this name; NULL if there is none. */
void *tg_library_open(const char *name);
void *tg_library_find(void *library, const char *function);

/* The calling thread's locale: C from enter to leave. */
typedef struct tg_locale {
    void *before;
} tg_locale;

tg_locale tg_locale_enter(void);
void tg_locale_leave(tg_locale locale);

/* ---- processors ---- */

/* On how many the process may run; at least 1. */
int tg_processor_count(void);

/* A set of processors. Only Linux knows it: elsewhere it is empty, this processor is -1, and placing does nothing. */
typedef struct tg_processors {
    uint64_t bits[16];
} tg_processors;

int tg_processor(void);                                                /* of the calling thread; negative: unknown */
tg_processors tg_processors_own(void);                                 /* on which the calling thread may run */
tg_processors tg_processors_without(tg_processors set, int processor); /* all but one, if that leaves any */
void tg_processors_place(pthread_t thread, tg_processors set);         /* an empty set changes nothing */
void tg_processors_of_new(pthread_attr_t *attributes, tg_processors set);

#endif
