#include "examples/programs/system/command.h"

#include "examples/programs/system/posix.h"
#include "examples/programs/system/signals.h"

#if !defined _WIN32

#include <poll.h>
#include <sys/wait.h>
#if defined __linux__
#include <sys/prctl.h>
#endif

struct command_pipe {
    pid_t pid; /* and the number of its group */
    bool ended;
    int to, from;
    double limit;
    char *text; /* the input: `used` bytes, of which those from `next` on are not yet a complete line */
    size_t used, next, room;
    struct sigaction pipe_before;
    tg_error error;
};

/* ---- messages ---- */

const char *command_message(const command_pipe *c)
{
    return c->error.text;
}

bool command_fail(command_pipe *c, const char *format, ...)
{
    va_list arguments;
    char text[sizeof c->error.text];
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return tg_fail_first(&c->error, "%s", text);
}

/* Waits for the program, which may end a little after its output; false if it still runs. */
static bool wait_for(command_pipe *c, double seconds, bool interruptible, int *status)
{
    const double until = system_seconds() + seconds;
    while (!c->ended && system_seconds() < until && !(interruptible && signals_caught())) {
        c->ended = waitpid(c->pid, status, WNOHANG) != 0;
        if (!c->ended)
            poll(NULL, 0, 5);
    }
    return c->ended;
}

bool command_has_ended(command_pipe *c, bool early)
{
    int status = 0;
    const char *when = early ? " in the middle of a check" : "";
    wait_for(c, 1, false, &status);
    if (!c->ended)
        return early ? command_fail(c, "the program has closed its output%s", when) : true;
    if (WIFSIGNALED(status))
        return command_fail(c, "the program was ended%s by signal %d (%s)", when, WTERMSIG(status),
                            strsignal(WTERMSIG(status)));
    if (early || WEXITSTATUS(status) != 0)
        return command_fail(c, "the program ended%s with status %d", when, WEXITSTATUS(status));
    return true;
}

/* ---- start and end ---- */

/* Python finds tapegrad_check: of the installed program in share/tapegrad/python, of BUILD/bin in the source. */
static void add_python_path(void)
{
    static const char *const places[] = {"share/tapegrad/python", "plots/../examples/programs/gradcheck"};
    char program[PATH_MAX], place[2 * PATH_MAX], path[3 * PATH_MAX];
    const char *before = getenv("PYTHONPATH");
    if (!system_own_path(program, sizeof program))
        program[0] = '\0';
    for (int up = 0; up < 2; up++)
        *(strrchr(program, '/') ? strrchr(program, '/') : program) = '\0';
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(place, sizeof place, "%s/%s", program, places[i]);
        if (!realpath(place, path))
            continue;
        if (before && *before)
            snprintf(path + strlen(path), sizeof path - strlen(path), ":%s", before);
        setenv("PYTHONPATH", path, 1);
        return;
    }
}

static void be_child(const char *line, const int in[2], const int out[2], pid_t parent)
{
    setpgid(0, 0);
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
#else
    (void)parent;
#endif
    signal(SIGPIPE, SIG_DFL);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    setenv("TAPEGRAD_GRADCHECK", "1", 1);
    add_python_path();
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
}

command_pipe *command_start(const char *line, double limit, tg_error *error)
{
    int in[2] = {-1, -1}, out[2] = {-1, -1};
    command_pipe *c = calloc(1, sizeof *c);
    const pid_t parent = getpid();
    fflush(NULL);
    if (!c || !system_pipe(in) || !system_pipe(out) || (c->pid = fork()) < 0) {
        tg_fail(error, "cannot start a program: %s", strerror(errno));
        for (int i = 0; i < 2; i++) {
            close(in[i]);
            close(out[i]);
        }
        free(c);
        return NULL;
    }
    if (c->pid == 0)
        be_child(line, in, out, parent);
    setpgid(c->pid, c->pid); /* here and in the child, as either may run first */
    close(in[0]);
    close(out[1]);
    c->to = in[1];
    c->from = out[0];
    c->limit = limit;
    fcntl(c->to, F_SETFL, O_NONBLOCK);
    fcntl(c->from, F_SETFL, O_NONBLOCK);
    sigaction(SIGPIPE, &(struct sigaction){.sa_handler = SIG_IGN}, &c->pipe_before);
    return c;
}

void command_stop(command_pipe *c)
{
    if (!c)
        return;
    close(c->to);
    close(c->from);
    wait_for(c, c->error.text[0] ? 0 : 1, true, NULL);
    kill(-c->pid, SIGKILL); /* also processes that it may have left */
    if (!c->ended)
        waitpid(c->pid, NULL, 0);
    sigaction(SIGPIPE, &c->pipe_before, NULL);
    free(c->text);
    free(c);
}

/* ---- lines ---- */

/* Waits until it can be written or read. */
static bool is_ready(command_pipe *c, struct pollfd wanted, double until, const char *what)
{
    const double left = until - system_seconds();
    if (signals_caught())
        return command_fail(c, "interrupted");
    if (left <= 0)
        return command_fail(c, "the program has %s for %g s (--limit)", what, c->limit);
    poll(&wanted, 1, left > 1e6 ? -1 : (int)(1e3 * left) + 1);
    return true;
}

bool command_write(command_pipe *c, const char *text, size_t length)
{
    const double until = system_seconds() + c->limit;
    while (length > 0 && !c->error.text[0]) {
        const ssize_t written = write(c->to, text, length);
        if (written >= 0) {
            text += written;
            length -= (size_t)written;
        } else if (errno == EPIPE)
            return command_has_ended(c, true);
        else if (errno == EAGAIN)
            is_ready(c, (struct pollfd){.fd = c->to, .events = POLLOUT}, until, "read nothing");
        else if (errno != EINTR)
            return command_fail(c, "cannot write to the program: %s", strerror(errno));
    }
    return !c->error.text[0];
}

/* Makes room for more; bytes of earlier lines are discarded. */
static bool make_room(command_pipe *c)
{
    enum { LEAST = 1 << 16 };
    if (c->used > 0)
        memmove(c->text, c->text + c->next, c->used - c->next);
    c->used -= c->next;
    c->next = 0;
    if (c->room - c->used >= LEAST)
        return true;
    char *more = realloc(c->text, 2 * c->room + LEAST);
    if (!more)
        return command_fail(c, "out of memory");
    c->text = more;
    c->room = 2 * c->room + LEAST;
    return true;
}

char *command_read(command_pipe *c, size_t most, size_t *length)
{
    const double until = system_seconds() + c->limit;
    size_t seen = c->next;
    while (!c->error.text[0]) {
        char *line = c->text ? c->text + c->next : NULL,
             *end = line ? memchr(c->text + seen, '\n', c->used - seen) : NULL;
        if (end) {
            *end = '\0';
            *length = (size_t)(end - line);
            c->next = (size_t)(end + 1 - c->text);
            return line;
        }
        if (c->used - c->next > most)
            return command_fail(c, "the program writes a line of more than %zu bytes: '%.40s...'", most, line), NULL;
        if ((!c->text || c->room - c->used < 4096 || c->next == c->used) && !make_room(c))
            return NULL;
        seen = c->used;
        const ssize_t count = read(c->from, c->text + c->used, c->room - c->used);
        if (count == 0)
            return NULL;
        if (count > 0)
            c->used += (size_t)count;
        else if (errno == EAGAIN)
            is_ready(c, (struct pollfd){.fd = c->from, .events = POLLIN}, until, "written nothing");
        else if (errno != EINTR)
            command_fail(c, "cannot read what the program writes: %s", strerror(errno));
    }
    return NULL;
}

#else

command_pipe *command_start(const char *line, double limit, tg_error *error)
{
    (void)line, (void)limit;
    return tg_fail(error, "not on Windows"), NULL;
}

bool command_write(command_pipe *c, const char *text, size_t length)
{
    (void)c, (void)text, (void)length;
    return false;
}

char *command_read(command_pipe *c, size_t most, size_t *length)
{
    (void)c, (void)most, (void)length;
    return NULL;
}

bool command_has_ended(command_pipe *c, bool early)
{
    (void)c, (void)early;
    return true;
}

const char *command_message(const command_pipe *c)
{
    (void)c;
    return "";
}

bool command_fail(command_pipe *c, const char *format, ...)
{
    (void)c, (void)format;
    return false;
}

void command_stop(command_pipe *c)
{
    (void)c;
}

#endif
