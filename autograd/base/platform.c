#define _GNU_SOURCE /* processors of threads */

#include "autograd/base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

double tg_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- POSIX ---- */

#if !defined _WIN32

#include <dlfcn.h>
#include <sched.h>
#include <unistd.h>
#if defined __APPLE__
#include <xlocale.h>
#endif
#include <math.h>

double tg_system_sin(double x)
{
    return sin(x);
}

double tg_system_cos(double x)
{
    return cos(x);
}

void *tg_aligned_new(size_t alignment, size_t size)
{
    return aligned_alloc(alignment, size);
}

void tg_aligned_free(void *memory)
{
    free(memory);
}

FILE *tg_memory_open(char **text, size_t *size)
{
    *text = NULL;
    *size = 0;
    return open_memstream(text, size);
}

bool tg_memory_close(FILE *file, char **text, size_t *size)
{
    (void)size;
    const bool whole = !ferror(file);
    if (fclose(file) == 0 && whole && *text) /* glibc may leave NULL */
        return true;
    free(*text);
    *text = NULL;
    return false;
}

static tg_path_kind kind_of(const struct stat *status)
{
    return S_ISREG(status->st_mode) ? TG_PATH_FILE : S_ISDIR(status->st_mode) ? TG_PATH_FOLDER : TG_PATH_OTHER;
}

tg_path_kind tg_path_look(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? kind_of(&status) : errno == ENOENT ? TG_PATH_MISSING : TG_PATH_ERROR;
}

FILE *tg_file_open(const char *path, tg_path_kind *kind)
{
    struct stat status;
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    *kind = descriptor < 0 || fstat(descriptor, &status) != 0 ? TG_PATH_ERROR : kind_of(&status);
    FILE *file = *kind == TG_PATH_FILE ? fdopen(descriptor, "rb") : NULL;
    const int error = errno;
    if (descriptor >= 0 && !file)
        close(descriptor);
    errno = error;
    return file;
}

FILE *tg_file_create(const char *path)
{
    const int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    return descriptor < 0 ? NULL : fdopen(descriptor, "wb");
}

bool tg_file_sync(FILE *file)
{
    return fflush(file) == 0 && fsync(fileno(file)) == 0;
}

bool tg_file_seek(FILE *file, int64_t offset, int from)
{
    return fseeko(file, (off_t)offset, from) == 0;
}

int64_t tg_file_tell(FILE *file)
{
    return ftello(file);
}

bool tg_file_replace(const char *from, const char *to)
{
    return rename(from, to) == 0;
}

bool tg_file_remove(const char *path)
{
    return unlink(path) == 0;
}

bool tg_folder_make(const char *path)
{
    return mkdir(path, 0777) == 0;
}

long tg_process_number(void)
{
    return (long)getpid();
}

void tg_after_fork(void (*then)(void))
{
    pthread_atfork(NULL, NULL, then);
}

void *tg_library_open(const char *name)
{
    return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

void *tg_library_find(void *library, const char *function)
{
    return dlsym(library, function);
}

static locale_t plain; /* 0 if there is no memory for it: then the caller's is used, as uselocale(0) changes nothing */

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

tg_locale tg_locale_enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_plain);
    return (tg_locale){uselocale(plain)};
}

void tg_locale_leave(tg_locale locale)
{
    uselocale((locale_t)locale.before);
}

/* ---- Windows ---- */

#else

#include <direct.h>
#include <io.h>
#include <malloc.h>
#include <wchar.h>

/* As <windows.h> declares them, whose macros and types have names of the library: small, INPUT, PLANES. */
int __stdcall MoveFileExW(const wchar_t *from, const wchar_t *to, unsigned long flags);
int __stdcall MultiByteToWideChar(unsigned code, unsigned long flags, const char *from, int size, wchar_t *to,
                                  int most);
unsigned long __stdcall GetTempPathW(unsigned long most, wchar_t *path);
unsigned __stdcall GetTempFileNameW(const wchar_t *folder, const wchar_t *prefix, unsigned number, wchar_t *path);
unsigned long __stdcall GetLastError(void);
unsigned long __stdcall GetCurrentProcessId(void);
void *__stdcall LoadLibraryA(const char *name);
void *__stdcall GetProcAddress(void *library, const char *name);

enum { UTF8 = 65001, WINDOWS_PATH = 1024 };

/* False, with ENAMETOOLONG or EILSEQ, if it cannot be a path. */
static bool windows_path(const char *path, wchar_t wide[WINDOWS_PATH])
{
    if (MultiByteToWideChar(UTF8, 8 /* MB_ERR_INVALID_CHARS */, path, -1, wide, WINDOWS_PATH) > 0)
        return true;
    errno = strlen(path) >= WINDOWS_PATH ? ENAMETOOLONG : EILSEQ;
    return false;
}

/* Sets errno to the last error of a function of Windows. */
static bool windows_failed(void)
{
    const unsigned long error = GetLastError();
    errno = error == 2 || error == 3 ? ENOENT : error == 5 || error == 32 ? EACCES : EIO;
    return false;
}

/* Of the shared C library: mingw-w64's static ones use the processor's fsin and fcos, which lose the digits of large
 * numbers (sin of 2^29 in double is off by 12,000 ulp). */
extern double (*const imported_sin)(double) __asm__("__imp_sin");
extern double (*const imported_cos)(double) __asm__("__imp_cos");

double tg_system_sin(double x)
{
    return imported_sin(x);
}

double tg_system_cos(double x)
{
    return imported_cos(x);
}

void *tg_aligned_new(size_t alignment, size_t size)
{
    return _aligned_malloc(size, alignment);
}

void tg_aligned_free(void *memory)
{
    _aligned_free(memory);
}

/* A temporary file, which Windows keeps in memory if it can and deletes when it is closed. */
FILE *tg_memory_open(char **text, size_t *size)
{
    wchar_t folder[WINDOWS_PATH], path[WINDOWS_PATH];
    *text = NULL;
    *size = 0;
    if (!GetTempPathW(WINDOWS_PATH, folder) || !GetTempFileNameW(folder, L"tg", 0, path))
        return windows_failed(), NULL;
    return _wfopen(path, L"w+bTD");
}

bool tg_memory_close(FILE *file, char **text, size_t *size)
{
    const int64_t length = fflush(file) == 0 && !ferror(file) ? _ftelli64(file) : -1;
    char *copy = length >= 0 ? malloc((size_t)length + 1) : NULL;
    rewind(file);
    const bool whole = copy && fread(copy, 1, (size_t)length, file) == (size_t)length;
    if (fclose(file) != 0 || !whole) {
        free(copy);
        return false;
    }
    copy[length] = '\0';
    *text = copy;
    *size = (size_t)length;
    return true;
}

tg_path_kind tg_path_look(const char *path)
{
    wchar_t wide[WINDOWS_PATH];
    struct _stat64 status;
    if (!windows_path(path, wide) || _wstat64(wide, &status) != 0)
        return errno == ENOENT ? TG_PATH_MISSING : TG_PATH_ERROR;
    return (status.st_mode & _S_IFMT) == _S_IFREG   ? TG_PATH_FILE
           : (status.st_mode & _S_IFMT) == _S_IFDIR ? TG_PATH_FOLDER
                                                    : TG_PATH_OTHER;
}

FILE *tg_file_open(const char *path, tg_path_kind *kind)
{
    wchar_t wide[WINDOWS_PATH];
    *kind = tg_path_look(path);
    if (*kind != TG_PATH_FILE || !windows_path(path, wide)) {
        *kind = *kind == TG_PATH_MISSING ? TG_PATH_ERROR : *kind;
        return NULL;
    }
    return _wfopen(wide, L"rbN");
}

FILE *tg_file_create(const char *path)
{
    wchar_t wide[WINDOWS_PATH];
    const int descriptor =
        windows_path(path, wide)
            ? _wopen(wide, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE)
            : -1;
    return descriptor < 0 ? NULL : _fdopen(descriptor, "wb");
}

bool tg_file_sync(FILE *file)
{
    return fflush(file) == 0 && _commit(_fileno(file)) == 0;
}

bool tg_file_seek(FILE *file, int64_t offset, int from)
{
    return _fseeki64(file, offset, from) == 0;
}

int64_t tg_file_tell(FILE *file)
{
    return _ftelli64(file);
}

bool tg_file_replace(const char *from, const char *to)
{
    wchar_t old[WINDOWS_PATH], new[WINDOWS_PATH];
    return windows_path(from, old) && windows_path(to, new) &&
           (MoveFileExW(old, new, 1 /* MOVEFILE_REPLACE_EXISTING */) || windows_failed());
}

bool tg_file_remove(const char *path)
{
    wchar_t wide[WINDOWS_PATH];
    return windows_path(path, wide) && _wunlink(wide) == 0;
}

bool tg_folder_make(const char *path)
{
    wchar_t wide[WINDOWS_PATH];
    return windows_path(path, wide) && _wmkdir(wide) == 0;
}

long tg_process_number(void)
{
    return (long)GetCurrentProcessId();
}

void tg_after_fork(void (*then)(void))
{
    (void)then;
}

void *tg_library_open(const char *name)
{
    return LoadLibraryA(name);
}

void *tg_library_find(void *library, const char *function)
{
    return GetProcAddress(library, function);
}

/* The name of the thread's locale before, as Windows has no handle of it; NULL: it was C already. */
tg_locale tg_locale_enter(void)
{
    _configthreadlocale(_ENABLE_PER_THREAD_LOCALE);
    const char *now = setlocale(LC_ALL, NULL);
    char *before = now && strcmp(now, "C") != 0 ? _strdup(now) : NULL;
    if (before)
        setlocale(LC_ALL, "C");
    return (tg_locale){before};
}

void tg_locale_leave(tg_locale locale)
{
    if (locale.before)
        setlocale(LC_ALL, locale.before);
    free(locale.before);
}

#endif

/* ---- processors ---- */

int tg_processor_count(void)
{
    int count = 0;
#if defined _WIN32
    count = pthread_num_processors_np();
#else
#if defined __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
#endif
    count = count > 0 ? count : (int)sysconf(_SC_NPROCESSORS_ONLN);
#endif
    return count > 0 ? count : 1;
}

#if defined __GLIBC__

_Static_assert(sizeof(cpu_set_t) <= sizeof(tg_processors), "a set of processors has room for the system's");

static cpu_set_t *system_set(tg_processors *set)
{
    return (cpu_set_t *)(void *)set;
}

int tg_processor(void)
{
    return sched_getcpu();
}

tg_processors tg_processors_own(void)
{
    tg_processors set = {0};
    if (pthread_getaffinity_np(pthread_self(), sizeof(cpu_set_t), system_set(&set)) != 0)
        CPU_ZERO(system_set(&set));
    return set;
}

tg_processors tg_processors_without(tg_processors set, int processor)
{
    if (processor >= 0 && processor < CPU_SETSIZE && CPU_COUNT(system_set(&set)) > 1)
        CPU_CLR(processor, system_set(&set));
    return set;
}

/* The system refuses an empty set. */
void tg_processors_place(pthread_t thread, tg_processors set)
{
    pthread_setaffinity_np(thread, sizeof(cpu_set_t), system_set(&set));
}

void tg_processors_of_new(pthread_attr_t *attributes, tg_processors set)
{
    if (CPU_COUNT(system_set(&set)) > 0)
        pthread_attr_setaffinity_np(attributes, sizeof(cpu_set_t), system_set(&set));
}

#else

int tg_processor(void)
{
    return -1;
}

tg_processors tg_processors_own(void)
{
    return (tg_processors){0};
}

tg_processors tg_processors_without(tg_processors set, int processor)
{
    (void)processor;
    return set;
}

void tg_processors_place(pthread_t thread, tg_processors set)
{
    (void)thread, (void)set;
}

void tg_processors_of_new(pthread_attr_t *attributes, tg_processors set)
{
    (void)attributes, (void)set;
}

#endif
