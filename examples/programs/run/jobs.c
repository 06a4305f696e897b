#include "examples/programs/data/advice.h"
#include "examples/programs/run/jobs.h"
#include "examples/programs/report/files.h"
#include "examples/programs/run/progress.h"
#include "examples/programs/report/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static const double report_interval = 0.05, tick_interval = 0.1; /* seconds */
static const double patience = 1; /* seconds between asking a child to stop and killing it */

enum { FAILURE_LIMIT = 400 };

/* From child to parent. A pipe takes and gives so few bytes as a whole or not at all. */
typedef struct {
    bool failed;
    union {
        jobs_progress now;
        char why[FAILURE_LIMIT]; /* failed */
    };
} jobs_message;
_Static_assert(sizeof(jobs_message) <= 512, "POSIX's least PIPE_BUF");

struct jobs_link {
    int descriptor;     /* write end of the pipe; never blocks */
    double last_report; /* seconds */
    int last_epoch;
};

typedef struct {
    pid_t pid; /* 0: the slot is free */
    int job;
    int descriptor; /* read end of the pipe */
    bool closed;    /* the pipe has been closed */
    int taken;      /* the lock on its folder */
    char failure[FAILURE_LIMIT];
} child;

typedef struct {
    const jobs_config *config;
    child *children;      /* [places] */
    struct pollfd *polls; /* [places] */
    const char **names;   /* [count] */
    progress *view;
    int places, running, started, ended;
    bool stopping;
    double stopped_at, ticked_at;
    jobs_outcome outcome;
} jobs_pool;

double jobs_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- in the child ------------------------------------------------------------------------------------------- */

/* Waits while the pipe is full. Ends the child if the parent has ended. */
static void send_message(jobs_link *link, const jobs_message *message)
{
    while (write(link->descriptor, message, sizeof *message) < 0) {
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            poll(&(struct pollfd){.fd = link->descriptor, .events = POLLOUT}, 1, -1);
        else if (errno != EINTR)
            _exit(1);
    }
}

void jobs_report(jobs_link *link, const jobs_progress *now)
{
    const jobs_message message = {.now = *now};
    const double time = jobs_clock();
    const bool complete = now->fraction >= 1;
    if (!complete && now->epoch == link->last_epoch && time - link->last_report < report_interval)
        return;
    if (complete)
        send_message(link, &message);
    else if (write(link->descriptor, &message, sizeof message) < 0)
        return;
    link->last_report = time;
    link->last_epoch = now->epoch;
}

int jobs_fail(jobs_link *link, const char *format, ...)
{
    jobs_message message = {.failed = true};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message.why, sizeof message.why, format, arguments);
    va_end(arguments);
    for (char *end = strchr(message.why, '\n'); end; end = strchr(end, '\n'))
        *end = ' ';
    send_message(link, &message);
    return 1;
}

/* ---- starting ----------------------------------------------------------------------------------------------- */

/* Runs in the child; does not return. A terminal sends Ctrl-C to the children as well, but the parent decides when they
 * end. */
static void be_child(const jobs_pool *pool, int job, int descriptor, pid_t parent, const sigset_t *mask)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* the parent died before the line above */
        _exit(1);
#else
    (void)parent;
#endif
    signal(SIGINT, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    signal(SIGTERM, SIG_DFL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    for (int i = 0; i < pool->places; i++)
        if (pool->children[i].pid) {
            close(pool->children[i].descriptor);
            files_release_folder(pool->children[i].taken);
        }
    jobs_link link = {.descriptor = descriptor};
    int status = pool->config->run(job, &link, pool->config->context);
    fflush(NULL);
    _exit(status == 0 ? 0 : (status & 0xFF) ? status & 0xFF : 1);
}

static void end_job(jobs_pool *pool, int number, jobs_state state, const char *message)
{
    pool->outcome.done += state == JOBS_DONE;
    pool->outcome.failed += state == JOBS_FAILED;
    pool->outcome.stopped += state == JOBS_STOPPED;
    pool->ended++;
    progress_end(pool->view, number, state, message);
}

/* `taken`: the lock on its folder, which the child shares. */
static void start_job(jobs_pool *pool, child *place, int job, int taken)
{
    int ends[2];
    progress_start(pool->view, job);
    fflush(NULL); /* or the child would print the parent's buffered output again */

    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGINT);
    sigaddset(&blocked, SIGTERM);
    sigaddset(&blocked, SIGHUP);
    pid_t parent = getpid(), pid = -1;
    bool piped = pipe2(ends, O_NONBLOCK | O_CLOEXEC) == 0;
    if (piped) {
        sigprocmask(SIG_BLOCK, &blocked, &before);
        pid = fork();
        if (pid == 0) {
            close(ends[0]);
            be_child(pool, job, ends[1], parent, &before);
        }
        sigprocmask(SIG_SETMASK, &before, NULL);
    }
    if (pid < 0) {
        char message[FAILURE_LIMIT];
        snprintf(message, sizeof message, "cannot start a process: %s", strerror(errno));
        if (piped)
            close(ends[0]), close(ends[1]);
        files_release_folder(taken);
        end_job(pool, job, JOBS_FAILED, message);
        return;
    }
    close(ends[1]);
    *place = (child){.pid = pid, .job = job, .descriptor = ends[0], .taken = taken};
    pool->running++;
}

/* ---- listening ---------------------------------------------------------------------------------------------- */

/* Reads the pipe, up to a number of messages, so that one child cannot keep the others waiting. */
static void listen_to(const jobs_pool *pool, child *from, int messages)
{
    jobs_message message;
    for (; messages > 0 && !from->closed; messages--) {
        const ssize_t got = read(from->descriptor, &message, sizeof message);
        if (got < 0 && errno != EINTR)
            return; /* no more data for now */
        from->closed = got >= 0 && got != sizeof message;
        if (got != sizeof message)
            continue;
        if (message.failed)
            memcpy(from->failure, message.why, sizeof from->failure);
        else
            progress_update(pool->view, from->job, &message.now);
    }
}

/* Describes how a child ended, in one line of `text`; NULL on success. */
static const char *complaint(const child *ended, int status, char *text, size_t size)
{
    if (ended->failure[0])
        snprintf(text, size, "%s", ended->failure);
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by signal %d (%s)%s", WTERMSIG(status), strsignal(WTERMSIG(status)),
                 WTERMSIG(status) == SIGKILL ? ", perhaps because memory ran out" : "");
    else if (WEXITSTATUS(status) != 0)
        snprintf(text, size, "ended with exit status %d", WEXITSTATUS(status));
    else
        return NULL;
    return text;
}

/* Frees the child's slot if it has ended. */
static void reap(jobs_pool *pool, child *place)
{
    int status = 0;
    pid_t reaped = waitpid(place->pid, &status, WNOHANG);
    if (reaped == 0 || (reaped < 0 && errno == EINTR))
        return;
    listen_to(pool, place, INT_MAX); /* data that it sent before it ended */
    close(place->descriptor);

    char text[FAILURE_LIMIT];
    const char *message = complaint(place, status, text, sizeof text);
    /* Checks the flag too: a signal to the whole group may reach the child before the loop notices it. */
    bool stopped = (pool->stopping || signals_caught()) && !place->failure[0] && WIFSIGNALED(status) &&
                   (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL);
    const int job = place->job;
    files_release_folder(place->taken);
    *place = (child){0};
    pool->running--;
    end_job(pool, job, stopped ? JOBS_STOPPED : message ? JOBS_FAILED : JOBS_DONE, stopped ? "interrupted" : message);
}

/* ---- ending ------------------------------------------------------------------------------------------------- */

static void signal_children(const jobs_pool *pool, int signal)
{
    for (int i = 0; i < pool->places; i++)
        if (pool->children[i].pid)
            kill(pool->children[i].pid, signal);
}

static void stop_if_interrupted(jobs_pool *pool)
{
    double now = jobs_clock();
    if (signals_caught() && !pool->stopping) {
        pool->stopping = pool->outcome.interrupted = true;
        pool->stopped_at = now;
        signal_children(pool, SIGTERM);
    } else if (pool->stopping && now - pool->stopped_at > patience) {
        signal_children(pool, SIGKILL);
    }
}

/* ---- the loop ----------------------------------------------------------------------------------------------- */

/* Locks the folder of a job. False, with the error in the outcome, if another process has locked it; a folder that
 * cannot be made or locked is an error of the job itself. */
static bool take_folder(jobs_pool *pool, int job, int *taken)
{
    char folder[PATH_MAX];
    tg_error *error = &pool->outcome.error;
    const jobs_config *config = pool->config;
    *taken = -1;
    if (config->folder && snprintf(folder, sizeof folder, "%s/%s", config->folder, pool->names[job]) < PATH_MAX &&
        files_make_folder(folder, error))
        *taken = files_take_folder(folder, false, error);
    return *taken != FILES_TAKEN || tg_fail(error,
                                            "another process is training the run %.160s; wait until it has ended, or "
                                            "divide the runs: " ADVICE_DIVIDE,
                                            pool->names[job]);
}

/* Starts the next job. */
static void start_next(jobs_pool *pool, child *place)
{
    int taken;
    const jobs_config *config = pool->config;
    const int job = pool->started;
    if (!take_folder(pool, job, &taken)) {
        pool->outcome.refused = true;
        return;
    }
    pool->started++;
    if (taken < 0 || !config->is_finished(job, config->context)) {
        start_job(pool, place, job, taken);
        return;
    }
    files_release_folder(taken); /* another process has done it since the start of this one */
    pool->ended++;
}

static bool may_start(const jobs_pool *pool)
{
    return !pool->stopping && !pool->outcome.refused && pool->started < pool->config->count;
}

static void fill_places(jobs_pool *pool)
{
    for (int i = 0; i < pool->places; i++)
        while (may_start(pool) && !pool->children[i].pid)
            start_next(pool, &pool->children[i]);
}

static void wait_for_news(jobs_pool *pool)
{
    bool ending = false;
    for (int i = 0; i < pool->places; i++) {
        const child *place = &pool->children[i];
        bool open = place->pid && !place->closed;
        pool->polls[i] = (struct pollfd){.fd = open ? place->descriptor : -1, .events = POLLIN};
        ending |= place->pid && place->closed;
    }
    poll(pool->polls, (nfds_t)pool->places, ending ? 2 : (int)(1000 * tick_interval));
    bool tick = jobs_clock() - pool->ticked_at >= tick_interval;
    for (int i = 0; i < pool->places; i++) {
        child *place = &pool->children[i];
        if (place->pid)
            listen_to(pool, place, 64);
        if (place->pid && (place->closed || tick))
            reap(pool, place);
    }
    if (tick) {
        pool->ticked_at = jobs_clock();
        if (pool->config->on_tick)
            pool->config->on_tick(pool->config->context);
        progress_tick(pool->view);
    }
}

static bool make_pool(jobs_pool *pool)
{
    const jobs_config *config = pool->config;
    const size_t count = (size_t)config->count + 1, places = (size_t)pool->places + 1;
    pool->children = calloc(places, sizeof *pool->children);
    pool->polls = calloc(places, sizeof *pool->polls);
    pool->names = calloc(count, sizeof *pool->names);
    const bool fine = pool->children && pool->polls && pool->names;
    for (int i = 0; fine && i < config->count; i++)
        pool->names[i] = config->name ? config->name(i, config->context) : "";
    if (fine)
        pool->view = progress_new(&(progress_config){.out = config->out,
                                                     .count = config->count,
                                                     .names = pool->names,
                                                     .unit = config->unit,
                                                     .measured = config->measured});
    return fine;
}

static void free_pool(jobs_pool *pool)
{
    progress_free(pool->view);
    free(pool->children);
    free(pool->polls);
    free(pool->names);
}

jobs_outcome jobs_run(const jobs_config *config)
{
    const int places = config->at_once < 1 ? 1 : config->at_once;
    jobs_pool pool = {.config = config, .places = places < config->count ? places : config->count};
    signals_before before;
    struct sigaction before_child;
    signals_catch(&before);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL},
              &before_child); /* if SIGCHLD were ignored, children would leave no status */
    if (!make_pool(&pool)) {
        fputs("out of memory\n", stderr);
        pool.outcome.failed = pool.ended = config->count;
    }
    while (pool.running > 0 || may_start(&pool)) {
        stop_if_interrupted(&pool);
        fill_places(&pool);
        if (pool.running > 0)
            wait_for_news(&pool);
    }
    pool.outcome.interrupted |= signals_caught() != 0;
    pool.outcome.stopped += config->count - pool.ended;
    sigaction(SIGCHLD, &before_child, NULL);
    signals_release(&before);
    free_pool(&pool);
    return pool.outcome;
}
