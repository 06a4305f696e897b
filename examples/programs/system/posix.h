/* What the programs use of the operating system, by its POSIX names. Elsewhere these come from the system's own
 * headers; on Windows, posix.c has those that are missing. Only the files of this folder know which system it is.
 *
 *     #include "examples/programs/system/posix.h"      // in place of <unistd.h>, <fcntl.h>, <sys/stat.h> and so on
 *
 * Paths are UTF-8 and may be written with '/' everywhere. On Windows there are no links and no named pipes, and files
 * are read and written as bytes, so that they are the same as on other systems.
 */
#pragma once

#include <dirent.h>
#include <fcntl.h>
#include "examples/programs/system/standard.h"
#include <strings.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

/* ---- what POSIX has no name for ---- */

/* As qsort, but equal items keep their order, so that results are the same bytes with every C library. */
void system_sort(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b));

/* For it: items that are, or begin with, a double. */
int system_ascending(const void *a, const void *b);
int system_descending(const void *a, const void *b);

/* A stream into memory, as open_memstream. Closing gives its text, terminated by a zero that does not count, and its
 * size; false, with *text set to NULL, if something was not written. */
FILE *system_open_memory(char **text, size_t *size);
bool system_close_memory(FILE *to, char **text, size_t *size);

/* Locks a folder for this process, and on POSIX for its children; `shared` admits others that share. The lock, which
 * system_unlock releases; SYSTEM_LOCKED if another process has it, SYSTEM_CANNOT_LOCK if this system cannot. */
enum { SYSTEM_CANNOT_LOCK = -1, SYSTEM_LOCKED = -2 };
int system_lock(const char *folder, bool shared);
void system_share(int lock);
void system_unlock(int lock);

/* True if a named pipe has data, or was closed, within so many seconds. */
bool system_wait_for_data(int descriptor, double seconds);
bool system_end_nonblocking(int descriptor); /* of a file opened with O_NONBLOCK */

bool system_process_exists(long number);
int system_processors(void); /* at least 1 */
void system_sleep(double seconds);
double system_seconds(void); /* of a clock that is never set */

/* Loads a shared library that calls functions of this program; NULL, with the reason, on failure. */
void *system_library_open(const char *path, const char **why);
void *system_library_find(void *library, const char *name);
void system_library_close(void *library);

/* Calls this function once when a fault of this process, such as a wild read, ends it. */
void system_on_fault(void (*handler)(int signal));

/* The path of this program, with '/'; false if it is unknown. */
bool system_own_path(char *path, size_t size);
const char *system_own_name(void);

/* True if the user's environment has text in UTF-8. */
bool system_is_utf8(void);

/* The size of a terminal, 0 where unknown. */
void system_terminal_size(int descriptor, int *columns, int *rows);

/* A date by one of strptime's formats with %Y, %m and %d; the rest of the text, NULL if there is none. */
const char *system_date(const char *text, const char *format);

/* Makes a stack that is too small larger, if that is allowed; its size in kB if it remains too small, otherwise 0. A
 * file that grows beyond the limit is from now on an error of the write, not a signal. */
unsigned long system_set_limits(void);

#if defined _WIN32

#include <direct.h>
#include <io.h>

#define O_CLOEXEC               _O_NOINHERIT
#define O_NONBLOCK              0
#define NAME_MAX                (PATH_MAX / 5) /* of names that we make, as paths are short */
#define S_ISLNK(mode)           ((void)(mode), 0)
#define lstat                   stat
#define fsync                   _commit
#define gethostname(name, size) system_host_name(name, size)
#define mkdir(path, mode)       system_mkdir(path)
#define rename(from, to)        system_rename(from, to)
#define tmpfile()               system_tmpfile()
#define fopen(path, mode)       system_fopen(path, mode)

int system_mkdir(const char *path);
int system_rename(const char *from, const char *to); /* replaces */
FILE *system_tmpfile(void);
FILE *system_fopen(const char *path, const char *mode); /* with x and e */
int system_host_name(char *name, size_t size);
ssize_t pread(int descriptor, void *memory, size_t size, off_t offset);
int setenv(const char *name, const char *value, int overwrite);
ssize_t getline(char **line, size_t *size, FILE *from);
char *strsep(char **rest, const char *separators);
char *strcasestr(const char *text, const char *word);
void *memmem(const void *memory, size_t size, const void *word, size_t length);
int scandir(const char *folder, struct dirent ***entries, int (*wanted)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **a, const struct dirent **b);
int fnmatch(const char *pattern, const char *text, int flags);

#else

#include <fnmatch.h>

bool system_pipe(int ends[2]); /* its ends are closed when another program is started */

#endif
