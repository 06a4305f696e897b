#include "examples/run/jobs.h"
#include "examples/run/signals.h"

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
enum { LONG_TICK = 20 };          /* if more intervals than this have passed, the parent itself was stopped */
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
    bool lost;      /* another program runs this job now */
    double heard;   /* when a message arrived last */
    char failure[FAILURE_LIMIT];
} child;

typedef enum { WAITING, RUNNING, ENDED } job_state;

typedef struct {
    const jobs_config *config;
    child *children;      /* [places] */
    struct pollfd *polls; /* [places] */
    job_state *state;     /* [count] */
    int places, running, ended;
    int first; /* all jobs before it have ended */
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
        if (pool->children[i].pid)
            close(pool->children[i].descriptor);
    jobs_link link = {.descriptor = descriptor};
    int status = pool->config->run(job, &link, pool->config->context);
    fflush(NULL);
    _exit(status == 0 ? 0 : (status & 0xFF) ? status & 0xFF : 1);
}

static void say_end(const jobs_config *config, int job, jobs_state state, const char *message)
{
    if (config->on_end)
        config->on_end(job, state, message, config->context);
    progress_end(config->view, job, state, message);
}

static void end_job(jobs_pool *pool, int job, jobs_state state, const char *message)
{
    pool->outcome.done += state == JOBS_DONE;
    pool->outcome.failed += state == JOBS_FAILED;
    pool->outcome.stopped += state == JOBS_STOPPED;
    pool->state[job] = ENDED;
    pool->ended++;
    say_end(pool->config, job, state, message);
}

static void start_job(jobs_pool *pool, child *place, int job)
{
    int ends[2];
    const jobs_config *config = pool->config;
    pool->state[job] = RUNNING;
    if (config->on_start)
        config->on_start(job, config->context);
    progress_start(config->view, job);
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
        end_job(pool, job, JOBS_FAILED, message);
        return;
    }
    close(ends[1]);
    *place = (child){.pid = pid, .job = job, .descriptor = ends[0], .heard = jobs_clock()};
    pool->running++;
}

/* ---- listening ---------------------------------------------------------------------------------------------- */

/* Reads the pipe, up to a number of messages, so that one child cannot keep the others waiting. */
static void listen_to(const jobs_config *config, child *from, int messages)
{
    jobs_message message;
    for (; messages > 0 && !from->closed; messages--) {
        const ssize_t got = read(from->descriptor, &message, sizeof message);
        if (got < 0 && errno != EINTR)
            return; /* no more data for now */
        from->closed = got >= 0 && got != sizeof message;
        if (got != sizeof message)
            continue;
        from->heard = jobs_clock();
        if (message.failed)
            memcpy(from->failure, message.why, sizeof from->failure);
        if (!message.failed && config->on_progress)
            config->on_progress(from->job, &message.now, config->context);
        if (!message.failed)
            progress_update(config->view, from->job, &message.now);
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
    listen_to(pool->config, place, INT_MAX); /* data that it sent before it ended */
    close(place->descriptor);

    char text[FAILURE_LIMIT];
    const char *message = complaint(place, status, text, sizeof text);
    /* Checks the flag too: a signal to the whole group may reach the child before the loop notices it. */
    bool stopped = (pool->stopping || signals_caught()) && !place->failure[0] && WIFSIGNALED(status) &&
                   (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL);
    const int job = place->job;
    const bool lost = place->lost;
    *place = (child){0};
    pool->running--;
    if (lost) {
        pool->state[job] = WAITING;
        pool->first = job < pool->first ? job : pool->first;
        return;
    }
    end_job(pool, job, stopped ? JOBS_STOPPED : message ? JOBS_FAILED : JOBS_DONE, stopped ? "interrupted" : message);
}

/* ---- the loop ----------------------------------------------------------------------------------------------- */

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

/* Ends children that have reported nothing for too long. `paused`: seconds during which the parent itself was stopped,
 * as after Ctrl-Z. */
static void end_silent_children(const jobs_pool *pool, double paused)
{
    const double limit = pool->config->silence, now = jobs_clock();
    for (int i = 0; i < pool->places && limit > 0; i++) {
        child *place = &pool->children[i];
        place->heard += paused;
        if (place->pid && !place->failure[0] && now - place->heard > limit) {
            snprintf(place->failure, sizeof place->failure, "killed: it reported nothing for %.3g seconds", limit);
            kill(place->pid, SIGKILL);
        }
    }
}

/* Kills the children whose jobs another program has taken over. */
static void end_lost_children(const jobs_pool *pool)
{
    const jobs_config *config = pool->config;
    for (int i = 0; i < pool->places && config->is_ours; i++) {
        child *place = &pool->children[i];
        if (place->pid && !place->lost && !config->is_ours(place->job, config->context)) {
            place->lost = true;
            kill(place->pid, SIGKILL);
        }
    }
}

/* The next job that may start; -1 if there is none, for now or at all. */
static int next_job(jobs_pool *pool)
{
    const jobs_config *config = pool->config;
    while (pool->first < config->count && pool->state[pool->first] == ENDED)
        pool->first++;
    for (int job = pool->first; job < config->count; job++) {
        if (pool->state[job] != WAITING)
            continue;
        const jobs_turn turn = config->turn ? config->turn(job, config->context) : JOBS_NOW;
        if (turn == JOBS_NOW)
            return job;
        if (turn == JOBS_NEVER)
            end_job(pool, job, JOBS_ELSEWHERE, NULL);
    }
    return -1;
}

static void fill_places(jobs_pool *pool)
{
    for (int i = 0, job = 0; i < pool->places && job >= 0; i++)
        while (!pool->stopping && !pool->children[i].pid && (job = next_job(pool)) >= 0)
            start_job(pool, &pool->children[i], job);
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
            listen_to(pool->config, place, 64);
        if (place->pid && (place->closed || tick))
            reap(pool, place);
    }
    if (tick) {
        const double since = jobs_clock() - pool->ticked_at;
        end_silent_children(pool, pool->ticked_at > 0 && since > LONG_TICK * tick_interval ? since : 0);
        end_lost_children(pool);
        pool->ticked_at = jobs_clock();
        if (pool->config->on_tick)
            pool->config->on_tick(pool->config->context);
        progress_tick(pool->config->view);
    }
}

jobs_outcome jobs_run(const jobs_config *config)
{
    int places = config->at_once < 1 ? 1 : config->at_once;
    places = places < config->count ? places : config->count;
    if (places < 1)
        return (jobs_outcome){0};
    jobs_pool pool = {.config = config, .places = places};
    pool.children = calloc((size_t)places, sizeof *pool.children);
    pool.polls = calloc((size_t)places, sizeof *pool.polls);
    pool.state = calloc((size_t)config->count, sizeof *pool.state);
    signals_before before;
    struct sigaction before_child;
    signals_catch(&before);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL},
              &before_child); /* if SIGCHLD were ignored, children would leave no status */
    const bool ready = pool.children && pool.polls && pool.state;
    if (!ready) {
        for (int job = 0; job < config->count; job++)
            say_end(config, job, JOBS_FAILED, "out of memory");
        pool.outcome.failed = pool.ended = config->count;
    }
    while (pool.running > 0 || (!pool.stopping && pool.ended < config->count)) {
        stop_if_interrupted(&pool);
        fill_places(&pool);
        if (pool.running > 0 || pool.ended < config->count)
            wait_for_news(&pool);
    }
    pool.outcome.interrupted |= signals_caught() != 0;
    pool.outcome.stopped += config->count - pool.ended;
    sigaction(SIGCHLD, &before_child, NULL);
    signals_release(&before);
    free(pool.children);
    free(pool.polls);
    free(pool.state);
    return pool.outcome;
}

jobs_outcome jobs_run_shown(const progress_config *shown, const jobs_config *config)
{
    jobs_config with_view = *config;
    with_view.view = progress_new(shown);
    const jobs_outcome outcome = jobs_run(&with_view);
    progress_free(with_view.view);
    return outcome;
}
