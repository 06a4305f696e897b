#include "examples/programs/system/child.h"

#include "examples/programs/system/posix.h"

/* ---- POSIX ---- */

#if !defined _WIN32

#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#if defined __linux__
#include <sys/prctl.h>
#endif

extern char **environ;

const char *child_name(void)
{
    return NULL;
}

void child_run(child_function *run, void *context)
{
    (void)run, (void)context;
}

/* Runs in the child; does not return. A terminal sends Ctrl-C to the children as well. */
static void be_child(int descriptor, pid_t parent, const sigset_t *mask, child_function *run, void *context)
{
#if defined __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    if (getppid() != parent) /* the parent has died already */
        _exit(1);
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    const int status = run(&(child_link){descriptor}, context);
    fflush(NULL);
    _exit(status == 0 ? 0 : (status & 0xFF) ? status & 0xFF : 1);
}

bool child_start(child *c, const char *name, child_function *run, void *context)
{
    int ends[2];
    signal(SIGCHLD, SIG_DFL); /* children of a process that ignores it leave no status */
    sigset_t blocked, before;
    const pid_t parent = getpid();
    (void)name;
    *c = (child){0};
    fflush(NULL); /* or the child would print the parent's buffered output again */
    if (!system_pipe(ends))
        return false;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGHUP);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    const pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        be_child(ends[1], parent, &before, run, context);
    }
    const int error = errno;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        errno = error;
        return false;
    }
    *c = (child){.process = pid, .pipe = ends[0]};
    return true;
}

bool child_start_program(child *c, char *const words[], FILE *out, FILE *err)
{
    pid_t pid;
    posix_spawn_file_actions_t actions;
    signal(SIGCHLD, SIG_DFL);
    posix_spawn_file_actions_init(&actions);
    if (out) {
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_adddup2(&actions, fileno(out), STDOUT_FILENO);
    }
    if (err)
        posix_spawn_file_actions_adddup2(&actions, fileno(err), STDERR_FILENO);
    errno = posix_spawnp(&pid, words[0], &actions, NULL, words, environ);
    const bool started = errno == 0;
    posix_spawn_file_actions_destroy(&actions);
    *c = (child){.process = started ? pid : 0, .pipe = -1, .closed = true};
    return started;
}

bool child_send(child_link *link, const void *message, size_t size, bool wait)
{
    while (write((int)link->pipe, message, size) < 0) {
        if (!wait)
            return false;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            poll(&(struct pollfd){.fd = (int)link->pipe, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR)
            _exit(1);
    }
    return true;
}

bool child_receive(child *c, void *message, size_t size)
{
    ssize_t got = -1;
    while (!c->closed && (got = read((int)c->pipe, message, size)) < 0 && errno == EINTR)
        ;
    c->closed |= got >= 0 && got != (ssize_t)size;
    return got == (ssize_t)size;
}

void child_wait(child *const list[], int count, double seconds)
{
    enum { MOST = 1024 };
    struct pollfd polls[MOST];
    nfds_t polled = 0;
    for (int i = 0; i < count && polled < MOST; i++)
        if (list[i] && !list[i]->closed)
            polls[polled++] = (struct pollfd){.fd = (int)list[i]->pipe, .events = POLLIN};
    poll(polls, polled, (int)(1000 * seconds));
}

bool child_has_ended(child *c)
{
    int status = 0;
    const pid_t ended = c->process ? waitpid((pid_t)c->process, &status, WNOHANG) : 0;
    if (c->process && (ended == 0 || (ended < 0 && errno == EINTR)))
        return false;
    c->status = !c->process ? c->status : WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    c->process = 0;
    return true;
}

const char *child_signal_name(int signal)
{
    return strsignal(signal);
}

void child_stop(const child *c, bool now)
{
    if (c->process)
        kill((pid_t)c->process, now ? SIGKILL : SIGTERM);
}

void child_close(child *c)
{
    if (c->pipe >= 0)
        close((int)c->pipe);
    c->pipe = -1;
    c->closed = true;
}

/* ---- Windows ---- */

#else

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* In the environment of a program that is started again: the end of its pipe, and its name. */
static const char variable[] = "TG_CHILD";

enum { STOPPED = 0x54470000 }; /* and a signal: the exit status of a child that was stopped */

const char *child_name(void)
{
    static char name[1024];
    const char *said = name[0] ? NULL : getenv(variable), *at = said ? strchr(said, ' ') : NULL;
    if (at)
        snprintf(name, sizeof name, "%s", at + 1);
    return name[0] ? name : NULL;
}

void child_run(child_function *run, void *context)
{
    const char *said = getenv(variable);
    child_link link = {said ? (intptr_t)strtoll(said, NULL, 10) : 0};
    SetConsoleCtrlHandler(NULL, TRUE);
    const int status = run(&link, context);
    fflush(NULL);
    _exit(status == 0 ? 0 : (status & 0xFF) ? status & 0xFF : 1);
}

/* What all children are in, so that they end with this process. */
static HANDLE all_children(void)
{
    static HANDLE job;
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.BasicLimitInformation.LimitFlags =
                                                       JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE};
    if (!job && (job = CreateJobObjectA(NULL, NULL)))
        SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

static bool failed(void)
{
    const DWORD error = GetLastError();
    errno = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ? ENOENT : EAGAIN;
    return false;
}

/* Starts a program of which only these streams, NULL for ours, and what can be inherited go to the child. */
static bool start(child *c, const char *program, char *line, const HANDLE streams[3], DWORD flags)
{
    static const DWORD own[3] = {STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE};
    HANDLE used[3];
    PROCESS_INFORMATION made;
    for (int i = 0; i < 3; i++) {
        used[i] = streams[i] ? streams[i] : GetStdHandle(own[i]);
        SetHandleInformation(used[i], HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    }
    STARTUPINFOA how = {.cb = sizeof how,
                        .dwFlags = STARTF_USESTDHANDLES,
                        .hStdInput = used[0],
                        .hStdOutput = used[1],
                        .hStdError = used[2]};
    if (!CreateProcessA(program, line, NULL, NULL, TRUE, flags, NULL, NULL, &how, &made))
        return failed();
    AssignProcessToJobObject(all_children(), made.hProcess);
    CloseHandle(made.hThread);
    c->process = (intptr_t)made.hProcess;
    return true;
}

static HANDLE nothing(void)
{
    static HANDLE file;
    if (!file)
        file = CreateFileA("NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING,
                           0, NULL);
    return file;
}

bool child_start(child *c, const char *name, child_function *run, void *context)
{
    HANDLE from, to;
    char program[MAX_PATH], said[1100];
    (void)run, (void)context;
    *c = (child){0};
    fflush(NULL);
    char *line = strdup(GetCommandLineA());
    if (!line || !GetModuleFileNameA(NULL, program, sizeof program) || !CreatePipe(&from, &to, NULL, 1 << 16)) {
        free(line);
        return failed();
    }
    SetHandleInformation(to, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    snprintf(said, sizeof said, "%lld %s", (long long)(intptr_t)to, name);
    SetEnvironmentVariableA(variable, said);
    const HANDLE silent[3] = {nothing(), nothing(), nothing()};
    const bool started = start(c, program, line, silent, CREATE_NEW_PROCESS_GROUP);
    const int error = errno;
    SetEnvironmentVariableA(variable, NULL);
    CloseHandle(to);
    free(line);
    c->pipe = (intptr_t)from;
    if (!started)
        child_close(c);
    errno = error;
    return started;
}

/* Appends a word as a C library's main reads it again: in quotes, before which and at whose end backslashes count
 * twice. */
static void put_word(char **to, const char *word)
{
    size_t slashes = 0;
    *(*to)++ = '"';
    for (; *word; word++) {
        for (size_t i = *word == '"' ? slashes + 1 : 0; i > 0; i--)
            *(*to)++ = '\\';
        slashes = *word == '\\' ? slashes + 1 : 0;
        *(*to)++ = *word;
    }
    for (; slashes > 0; slashes--)
        *(*to)++ = '\\';
    *(*to)++ = '"';
    *(*to)++ = ' ';
}

bool child_start_program(child *c, char *const words[], FILE *out, FILE *err)
{
    size_t size = 1;
    for (char *const *word = words; *word; word++)
        size += 2 * strlen(*word) + 3;
    char *line = malloc(size), *end = line;
    *c = (child){.pipe = 0, .closed = true};
    if (!line)
        return errno = ENOMEM, false;
    for (char *const *word = words; *word; word++)
        put_word(&end, *word);
    *end = '\0';
    fflush(NULL);
    const HANDLE streams[3] = {out ? nothing() : NULL, out ? (HANDLE)_get_osfhandle(fileno(out)) : NULL,
                               err ? (HANDLE)_get_osfhandle(fileno(err)) : NULL};
    const bool started = start(c, NULL, line, streams, 0);
    free(line);
    return started;
}

bool child_send(child_link *link, const void *message, size_t size, bool wait)
{
    DWORD sent = 0;
    (void)wait; /* the parent reads whatever it does; a pipe takes a hundred messages */
    if (!WriteFile((HANDLE)link->pipe, message, (DWORD)size, &sent, NULL) || sent != size)
        _exit(1);
    return true;
}

bool child_receive(child *c, void *message, size_t size)
{
    DWORD there = 0, got = 0;
    if (c->closed)
        return false;
    if (!PeekNamedPipe((HANDLE)c->pipe, NULL, 0, NULL, &there, NULL))
        c->closed = true;
    return there >= size && ReadFile((HANDLE)c->pipe, message, (DWORD)size, &got, NULL) && got == size;
}

void child_wait(child *const list[], int count, double seconds)
{
    enum { TURN = 5 }; /* milliseconds: pipes cannot be waited for */
    for (int waited = 0; waited < (int)(1000 * seconds); waited += TURN) {
        for (int i = 0; i < count; i++) {
            DWORD there = 0;
            if (list[i] && !list[i]->closed &&
                (!PeekNamedPipe((HANDLE)list[i]->pipe, NULL, 0, NULL, &there, NULL) || there > 0))
                return;
        }
        Sleep(TURN);
    }
}

bool child_has_ended(child *c)
{
    DWORD status = 0;
    if (!c->process)
        return true;
    if (WaitForSingleObject((HANDLE)c->process, 0) != WAIT_OBJECT_0)
        return false;
    GetExitCodeProcess((HANDLE)c->process, &status);
    CloseHandle((HANDLE)c->process);
    c->status = status >= 0x80000000u ? -SIGSEGV /* an exception */
                : status > STOPPED    ? -(int)(status - STOPPED)
                                      : (int)status;
    c->process = 0;
    return true;
}

const char *child_signal_name(int signal)
{
    return signal == SIGSEGV ? "an exception" : "terminated";
}

void child_stop(const child *c, bool now)
{
    if (c->process)
        TerminateProcess((HANDLE)c->process, STOPPED + (now ? SIGKILL : SIGTERM));
}

void child_close(child *c)
{
    if (c->pipe)
        CloseHandle((HANDLE)c->pipe);
    c->pipe = 0;
    c->closed = true;
}

#endif
