#include "examples/programs/system/posix.h"

#include <locale.h>
#include <pthread.h>
#include <signal.h>

/* Merges two sorted halves, of which the first is moved aside. */
static void sort(char *items, size_t count, size_t size, int (*compare)(const void *a, const void *b), char *aside)
{
    const size_t half = count / 2;
    if (count < 2)
        return;
    sort(items, half, size, compare, aside);
    sort(items + half * size, count - half, size, compare, aside);
    memcpy(aside, items, half * size);
    const char *a = aside, *const a_end = aside + half * size,
               *b = items + half * size, *const end = items + count * size;
    for (char *to = items; a < a_end; to += size) {
        const char **from = b < end && compare(a, b) > 0 ? &b : &a;
        memcpy(to, *from, size);
        *from += size;
    }
}

/* The same without memory, slowly: each item moves down past those that are greater. */
static void insert_all(char *items, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
    for (size_t end = 1; end < count; end++)
        for (char *at = items + end * size; at > items && compare(at - size, at) > 0; at -= size)
            for (size_t i = 0; i < size; i++) {
                const char byte = at[i];
                at[i] = (at - size)[i];
                (at - size)[i] = byte;
            }
}

void system_sort(void *items, size_t count, size_t size, int (*compare)(const void *a, const void *b))
{
    char *aside = malloc(count / 2 * size + 1);
    if (aside)
        sort(items, count, size, compare, aside);
    else
        insert_all(items, count, size, compare);
    free(aside);
}

int system_ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

int system_descending(const void *a, const void *b)
{
    return system_ascending(b, a);
}

void system_sleep(double seconds)
{
    const time_t whole = (time_t)seconds;
    nanosleep(&(struct timespec){.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))}, NULL);
}

double system_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

const char *system_own_name(void)
{
    static char path[PATH_MAX];
    const bool known = path[0] || system_own_path(path, sizeof path);
    const char *slash = known ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : "tapegrad";
}

/* ---- POSIX ---- */

#if !defined _WIN32

#include <dlfcn.h>
#include <langinfo.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#if defined __APPLE__
#include <mach-o/dyld.h>
#include <xlocale.h>
#endif

FILE *system_open_memory(char **text, size_t *size)
{
    return open_memstream(text, size);
}

bool system_close_memory(FILE *to, char **text, size_t *size)
{
    (void)size;
    const bool wrong = ferror(to);
    if (fclose(to) == 0 && !wrong && *text)
        return true;
    free(*text);
    *text = NULL;
    return false;
}

int system_lock(const char *folder, bool shared)
{
    const int taken = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (taken < 0 || flock(taken, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) == 0)
        return taken;
    const bool locked = errno == EWOULDBLOCK;
    if (!locked) /* a file system without locks */
        return taken;
    close(taken);
    return SYSTEM_LOCKED;
}

void system_share(int lock)
{
    flock(lock, LOCK_SH | LOCK_NB);
}

void system_unlock(int lock)
{
    close(lock);
}

bool system_wait_for_data(int descriptor, double seconds)
{
    struct pollfd one = {.fd = descriptor, .events = POLLIN};
    int ready;
    while ((ready = poll(&one, 1, (int)(1000 * seconds))) < 0 && errno == EINTR)
        ;
    return ready > 0;
}

bool system_end_nonblocking(int descriptor)
{
    return fcntl(descriptor, F_SETFL, O_RDONLY) == 0;
}

bool system_process_exists(long number)
{
    return kill((pid_t)number, 0) == 0 || errno != ESRCH;
}

int system_processors(void)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    return processors > 0 ? (int)processors : 1;
}

void *system_library_open(const char *path, const char **why)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    *why = library ? NULL : dlerror();
    return library;
}

void *system_library_find(void *library, const char *name)
{
    return dlsym(library, name);
}

void system_library_close(void *library)
{
    dlclose(library);
}

void system_on_fault(void (*handler)(int signal))
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    static char stack[1 << 14]; /* the handler cannot run on a stack that has overflowed */
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigaction(faults[i], &(struct sigaction){.sa_handler = handler, .sa_flags = (int)(SA_RESETHAND | SA_ONSTACK)},
                  NULL);
}

bool system_pipe(int ends[2])
{
#if defined __APPLE__
    return pipe(ends) == 0 && fcntl(ends[0], F_SETFD, FD_CLOEXEC) == 0 && fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0;
#else
    return pipe2(ends, O_CLOEXEC) == 0;
#endif
}

bool system_own_path(char *path, size_t size)
{
#if defined __APPLE__
    uint32_t most = (uint32_t)size;
    return _NSGetExecutablePath(path, &most) == 0;
#else
    const ssize_t length = readlink("/proc/self/exe", path, size - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
#endif
}

bool system_is_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (!locale)
        return false;
    const bool utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return utf8;
}

void system_terminal_size(int descriptor, int *columns, int *rows)
{
    struct winsize size = {0};
    const bool known = ioctl(descriptor, TIOCGWINSZ, &size) == 0;
    *columns = known ? size.ws_col : 0;
    *rows = known ? size.ws_row : 0;
}

const char *system_date(const char *text, const char *format)
{
    struct tm unused;
    return strptime(text, format, &unused);
}

unsigned long system_set_limits(void)
{
    enum { KILOBYTE = 1 << 10, LEAST = 192 * KILOBYTE, ENOUGH = 1024 * KILOBYTE };
    struct rlimit stack;
    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur >= ENOUGH)
        return 0;
    stack.rlim_cur = stack.rlim_max < ENOUGH ? stack.rlim_max : ENOUGH;
    if (setrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur < LEAST)
        return (unsigned long)(stack.rlim_cur / KILOBYTE);
#if defined __GLIBC__
    pthread_attr_t threads;
    if (pthread_attr_init(&threads) == 0 && pthread_attr_setstacksize(&threads, ENOUGH) == 0)
        pthread_setattr_default_np(&threads); /* of threads, the limit when the program started decides */
#endif
    return 0;
}

/* ---- Windows ---- */

#else

#define WIN32_LEAN_AND_MEAN
#include <stdint.h>
#include <windows.h>

#undef mkdir
#undef rename
#undef tmpfile
#undef fopen

/* Files are bytes, and so is what the programs read and print. */
__attribute__((constructor)) static void use_bytes(void)
{
    _fmode = _O_BINARY;
    for (int i = 0; i < 3; i++)
        _setmode(i, _O_BINARY);
}

/* It is deleted when it is closed. The C library's lies in a folder where users may not write. */
FILE *system_tmpfile(void)
{
    char folder[MAX_PATH], path[MAX_PATH];
    return GetTempPathA(sizeof folder, folder) && GetTempFileNameA(folder, "tg", 0, path) ? fopen(path, "w+bTD") : NULL;
}

FILE *system_fopen(const char *path, const char *mode)
{
    char plain[8] = "";
    size_t length = 0;
    for (const char *at = mode; *at && length < sizeof plain - 2; at++)
        if (*at != 'x')
            plain[length++] = *at == 'e' ? 'N' : *at; /* closed when another program is started */
    if (!strchr(mode, 'x'))
        return fopen(path, plain);
    const int made = _open(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
    return made < 0 ? NULL : _fdopen(made, "wb");
}

FILE *system_open_memory(char **text, size_t *size)
{
    *text = NULL;
    *size = 0;
    return system_tmpfile();
}

bool system_close_memory(FILE *to, char **text, size_t *size)
{
    const int64_t length = fflush(to) == 0 && !ferror(to) ? _ftelli64(to) : -1;
    char *copy = length >= 0 ? malloc((size_t)length + 1) : NULL;
    rewind(to);
    const bool whole = copy && fread(copy, 1, (size_t)length, to) == (size_t)length;
    if (fclose(to) != 0 || !whole) {
        free(copy);
        *text = NULL;
        return false;
    }
    copy[length] = '\0';
    *text = copy;
    *size = (size_t)length;
    return true;
}

/* ---- locks: of a file in the folder, which the last of those who share it removes ---- */

enum { MOST_LOCKS = 2048 };
static struct lock {
    HANDLE file;
    char path[PATH_MAX];
} locks[MOST_LOCKS];

static bool take(HANDLE file, bool shared)
{
    OVERLAPPED from = {0};
    return LockFileEx(file, LOCKFILE_FAIL_IMMEDIATELY | (shared ? 0 : LOCKFILE_EXCLUSIVE_LOCK), 0, 1, 0, &from);
}

static void unlock_all(void)
{
    for (int i = 0; i < MOST_LOCKS; i++)
        if (locks[i].file)
            system_unlock(i);
}

int system_lock(const char *folder, bool shared)
{
    static bool registered;
    int i = 0;
    registered = registered || atexit(unlock_all) == 0;
    while (i < MOST_LOCKS && locks[i].file)
        i++;
    if (i == MOST_LOCKS || snprintf(locks[i].path, PATH_MAX, "%s/.lock", folder) >= PATH_MAX)
        return SYSTEM_CANNOT_LOCK;
    const HANDLE file = CreateFileA(locks[i].path, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                                    NULL, OPEN_ALWAYS, FILE_ATTRIBUTE_HIDDEN, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return GetLastError() == ERROR_ACCESS_DENIED ? SYSTEM_LOCKED : SYSTEM_CANNOT_LOCK; /* just being removed */
    if (!take(file, shared)) {
        CloseHandle(file);
        return SYSTEM_LOCKED;
    }
    locks[i].file = file;
    return i;
}

void system_share(int lock)
{
    OVERLAPPED from = {0};
    UnlockFileEx(locks[lock].file, 0, 1, 0, &from);
    take(locks[lock].file, true);
}

void system_unlock(int lock)
{
    CloseHandle(locks[lock].file);
    DeleteFileA(locks[lock].path); /* fails as long as another process has opened it */
    locks[lock].file = NULL;
}

/* ---- the process and the machine ---- */

bool system_wait_for_data(int descriptor, double seconds)
{
    (void)descriptor, (void)seconds;
    return true;
}

bool system_end_nonblocking(int descriptor)
{
    (void)descriptor;
    return true;
}

bool system_process_exists(long number)
{
    DWORD status = 0;
    const HANDLE process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, FALSE, (DWORD)number);
    const bool runs = process ? GetExitCodeProcess(process, &status) && status == STILL_ACTIVE
                              : GetLastError() == ERROR_ACCESS_DENIED;
    if (process)
        CloseHandle(process);
    return runs;
}

int system_processors(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors > 0 ? (int)info.dwNumberOfProcessors : 1;
}

bool system_own_path(char *path, size_t size)
{
    const DWORD length = GetModuleFileNameA(NULL, path, (DWORD)size);
    for (char *at = path; length && *at; at++)
        *at = *at == '\\' ? '/' : *at;
    return length > 0 && length < size;
}

bool system_is_utf8(void)
{
    return GetConsoleOutputCP() == CP_UTF8;
}

void system_terminal_size(int descriptor, int *columns, int *rows)
{
    CONSOLE_SCREEN_BUFFER_INFO info = {0};
    const bool known = GetConsoleScreenBufferInfo((HANDLE)_get_osfhandle(descriptor), &info);
    *columns = known ? info.srWindow.Right - info.srWindow.Left + 1 : 0;
    *rows = known ? info.srWindow.Bottom - info.srWindow.Top + 1 : 0;
}

void *system_library_open(const char *path, const char **why)
{
    (void)path;
    *why = "on Windows, a library cannot call functions of the program";
    return NULL;
}

void *system_library_find(void *library, const char *name)
{
    (void)library, (void)name;
    return NULL;
}

void system_library_close(void *library)
{
    (void)library;
}

void system_on_fault(void (*handler)(int signal))
{
    signal(SIGSEGV, handler);
    signal(SIGFPE, handler);
    signal(SIGILL, handler);
    signal(SIGABRT, handler);
}

/* The stack is what the linker was told. */
unsigned long system_set_limits(void)
{
    return 0;
}

int system_host_name(char *name, size_t size)
{
    DWORD length = (DWORD)size;
    return GetComputerNameA(name, &length) ? 0 : -1;
}

int setenv(const char *name, const char *value, int overwrite)
{
    return overwrite || !getenv(name) ? _putenv_s(name, value) : 0;
}

/* ---- files ---- */

int system_mkdir(const char *path)
{
    return _mkdir(path);
}

int system_rename(const char *from, const char *to)
{
    enum { TRIES = 100 }; /* one second: a file that another process reads at the moment cannot be replaced */
    DWORD error = 0;
    for (int i = 0; i < TRIES; i++) {
        if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING))
            return 0;
        error = GetLastError();
        if (error != ERROR_SHARING_VIOLATION && error != ERROR_ACCESS_DENIED)
            break;
        Sleep(10);
    }
    errno = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ? ENOENT : EACCES;
    return -1;
}

ssize_t pread(int descriptor, void *memory, size_t size, off_t offset)
{
    const int64_t before = _lseeki64(descriptor, 0, SEEK_CUR);
    ssize_t got = -1;
    if (before >= 0 && _lseeki64(descriptor, offset, SEEK_SET) >= 0)
        got = _read(descriptor, memory, (unsigned)size);
    return before >= 0 && _lseeki64(descriptor, before, SEEK_SET) >= 0 ? got : -1;
}

int alphasort(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int scandir(const char *folder, struct dirent ***entries, int (*wanted)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **))
{
    int count = 0;
    struct dirent **list = NULL;
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened && (entry = readdir(opened));) {
        struct dirent **more = wanted(entry) ? realloc(list, ((size_t)count + 1) * sizeof *list) : NULL;
        list = more ? more : list;
        if (more && (list[count] = malloc(sizeof **list)))
            *list[count++] = *entry;
    }
    if (opened)
        closedir(opened);
    if (count)
        qsort(list, (size_t)count, sizeof *list, (int (*)(const void *, const void *))(void (*)(void))compare);
    *entries = list;
    return opened ? count : -1;
}

ssize_t getline(char **line, size_t *size, FILE *from)
{
    size_t length = 0;
    for (int c; (c = getc(from)) != EOF;) {
        if (!*line || length + 2 > *size) {
            char *more = realloc(*line, 2 * length + 128);
            if (!more)
                return -1;
            *line = more;
            *size = 2 * length + 128;
        }
        (*line)[length++] = (char)c;
        (*line)[length] = '\0';
        if (c == '\n')
            break;
    }
    return length ? (ssize_t)length : -1;
}

/* ---- text ---- */

char *strsep(char **rest, const char *separators)
{
    char *begin = *rest, *end = begin ? begin + strcspn(begin, separators) : NULL;
    if (begin)
        *rest = *end ? end + 1 : NULL;
    if (begin)
        *end = '\0';
    return begin;
}

char *strcasestr(const char *text, const char *word)
{
    for (; *text; text++)
        if (strncasecmp(text, word, strlen(word)) == 0)
            return (char *)(uintptr_t)text;
    return NULL;
}

void *memmem(const void *memory, size_t size, const void *word, size_t length)
{
    for (const char *at = memory; length <= size; at++, size--)
        if (memcmp(at, word, length) == 0)
            return (void *)(uintptr_t)at;
    return NULL;
}

/* A set of characters behind '[': its end, and whether it has this one. */
static const char *match_set(const char *at, char c, bool *has)
{
    const bool inverted = *at == '!' || *at == '^';
    at += inverted;
    *has = false;
    for (const char *begin = at; *at && (*at != ']' || at == begin); at++) {
        const bool range = at[1] == '-' && at[2] && at[2] != ']';
        *has |= range ? *at <= c && c <= at[2] : *at == c;
        at += range ? 2 : 0;
    }
    *has ^= inverted;
    return *at ? at : NULL;
}

/* *, ? and sets; no flags. */
int fnmatch(const char *pattern, const char *text, int flags)
{
    for (; *pattern; pattern++, text++) {
        if (*pattern == '*') {
            do
                if (fnmatch(pattern + 1, text, flags) == 0)
                    return 0;
            while (*text++);
            return 1;
        }
        bool has = *pattern == '?';
        const char *end = *pattern == '[' ? match_set(pattern + 1, *text, &has) : NULL;
        if (!*text || !(end ? has : has || *pattern == *text))
            return 1;
        pattern = end ? end : pattern;
    }
    return *text != '\0';
}

const char *system_date(const char *text, const char *format)
{
    for (; *format; format++) {
        if (*format != '%') {
            if (*text++ != *format)
                return NULL;
            continue;
        }
        const char kind = *++format;
        const int most = kind == 'Y' ? 4 : 2, least = kind == 'Y' ? 0 : 1, limit = kind == 'm' ? 12 : 31;
        int number = 0, digits = 0;
        for (; digits < most && isdigit((unsigned char)*text); digits++)
            number = 10 * number + *text++ - '0';
        if (digits == 0 || (least && (number < least || number > limit)))
            return NULL;
    }
    return text;
}

#endif
