/* With LD_PRELOAD, makes the n-th call of a kind in a program fail, or counts the calls:
 *
 *     TG_FAULT=rename:3 LD_PRELOAD=./fail.so train ...        the third rename fails
 *     TG_FAULT=rename:0 TG_FAULT_COUNT=file ...               a line of the file has the number of calls
 *
 * Kinds: memory, open, read, stat, write, fsync, rename, unlink, close, fork, thread. Calls by the program and its
 * libraries count, calls inside libc do not. A child of fork continues its parent's count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <dirent.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char kind[16];
static long wanted = -1; /* -1: environment not read yet, -2: no failure wanted */
static atomic_long calls;
static pid_t counting;

static void report(void)
{
    const char *path = getenv("TG_FAULT_COUNT");
    FILE *to = path && getpid() == counting ? fopen(path, "w") : NULL;
    if (!to)
        return;
    fprintf(to, "%ld\n", atomic_load(&calls));
    fclose(to);
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *text = getenv("TG_FAULT"), *colon = text ? strchr(text, ':') : NULL;
    wanted = -2;
    if (!colon || colon - text >= (long)sizeof kind)
        return;
    memcpy(kind, text, (size_t)(colon - text));
    counting = getpid();
    wanted = atol(colon + 1);
    if (wanted == 0)
        atexit(report);
}

/* From here on no call counts or fails: tests/counters.c calls this before it writes the coverage counters. */
void fail_stop(void);
void fail_stop(void)
{
    wanted = -2;
}

static bool fails(const char *of, int error)
{
    if (wanted < 0 || strcmp(kind, of) != 0 || atomic_fetch_add(&calls, 1) + 1 != wanted)
        return false;
    errno = error;
    return true;
}

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

/* Calls NAME(PARAMETERS), or returns RESULT if this call must fail. */
#define CALL(result_type, name, parameters, arguments, of, error, result) \
    result_type name parameters                                           \
    {                                                                     \
        static result_type(*real) parameters;                             \
        if (!real)                                                        \
            *(void **)&real = next(#name);                                \
        return fails(of, error) ? (result) : real arguments;              \
    }

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

void *malloc(size_t size)
{
    return fails("memory", ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails("memory", ENOMEM) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    return fails("memory", ENOMEM) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return fails("memory", ENOMEM) ? NULL : __libc_memalign(alignment, size);
}

/* The argument `mode` is optional. */
int open(const char *path, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    if (!real)
        *(void **)&real = next("open");
    return fails("open", EMFILE) ? -1 : real(path, flags, mode);
}

CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode), "open", EMFILE, NULL)
CALL(FILE *, tmpfile, (void), (), "open", EMFILE, NULL)
CALL(FILE *, fdopen, (int file, const char *mode), (file, mode), "open", ENOMEM, NULL)
CALL(FILE *, open_memstream, (char **text, size_t *size), (text, size), "open", ENOMEM, NULL)
CALL(DIR *, opendir, (const char *folder), (folder), "open", EMFILE, NULL)
CALL(ssize_t, read, (int file, void *bytes, size_t size), (file, bytes, size), "read", EIO, -1)
CALL(ssize_t, pread, (int file, void *bytes, size_t size, off_t at), (file, bytes, size, at), "read", EIO, -1)
CALL(int, stat, (const char *path, struct stat *status), (path, status), "stat", EACCES, -1)
CALL(int, lstat, (const char *path, struct stat *status), (path, status), "stat", EACCES, -1)
CALL(int, fstat, (int file, struct stat *status), (file, status), "stat", EIO, -1)
CALL(int, access, (const char *path, int mode), (path, mode), "stat", EACCES, -1)
CALL(int, unlink, (const char *path), (path), "unlink", EACCES, -1)
CALL(int, remove, (const char *path), (path), "unlink", EACCES, -1)
CALL(ssize_t, write, (int file, const void *bytes, size_t size), (file, bytes, size), "write", ENOSPC, -1)
/* A stream remembers its error, for ferror. */
static bool stream_fails_at(FILE *stream, const char *of, int error)
{
    enum { ERROR_SEEN = 0x20 }; /* of glibc */
    const bool failing = fails(of, error);
    stream->_flags |= failing ? ERROR_SEEN : 0;
    return failing;
}

static bool stream_fails(FILE *to)
{
    return stream_fails_at(to, "write", ENOSPC);
}

/* Reads a stream by NAME(PARAMETERS), or returns RESULT with the stream's error set. */
#define READ(result_type, name, parameters, arguments, from, result)           \
    result_type name parameters                                                \
    {                                                                          \
        static result_type(*real) parameters;                                  \
        if (!real)                                                             \
            *(void **)&real = next(#name);                                     \
        return stream_fails_at(from, "read", EIO) ? (result) : real arguments; \
    }

READ(size_t, fread, (void *bytes, size_t size, size_t count, FILE *from), (bytes, size, count, from), from, 0)
READ(char *, fgets, (char *line, int size, FILE *from), (line, size, from), from, NULL)
READ(ssize_t, getline, (char **line, size_t *size, FILE *from), (line, size, from), from, -1)
READ(int, fgetc, (FILE * from), (from), from, EOF)
READ(int, getc, (FILE * from), (from), from, EOF)

size_t fwrite(const void *bytes, size_t size, size_t count, FILE *to)
{
    static size_t (*real)(const void *, size_t, size_t, FILE *);
    if (!real)
        *(void **)&real = next("fwrite");
    return stream_fails(to) ? 0 : real(bytes, size, count, to);
}

int fflush(FILE *to)
{
    static int (*real)(FILE *);
    if (!real)
        *(void **)&real = next("fflush");
    return to && stream_fails(to) ? EOF : real(to);
}

CALL(int, fsync, (int file), (file), "fsync", EIO, -1)
CALL(int, rename, (const char *from, const char *to), (from, to), "rename", EIO, -1)
CALL(pid_t, fork, (void), (), "fork", EAGAIN, -1)
CALL(int, pthread_create, (pthread_t * thread, const pthread_attr_t *attributes, void *(*start)(void *), void *context),
     (thread, attributes, start, context), "thread", EAGAIN, EAGAIN)
CALL(int, posix_spawnp,
     (pid_t * child, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
      char *const arguments[], char *const environment[]),
     (child, file, actions, attributes, arguments, environment), "fork", EAGAIN, EAGAIN)

/* The file is closed even so, as Linux does when it reports an error. */
int fclose(FILE *file)
{
    static int (*real)(FILE *);
    if (!real)
        *(void **)&real = next("fclose");
    const int result = real(file);
    return fails("close", EIO) ? EOF : result;
}
