/* The parent's side of jobs.h. */
#include "examples/run/jobs.h"
#include "examples/run/jobs_internal.h"
#include "examples/run/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static const double tick_interval = 0.1; /* seconds */
enum { LONG_TICK = 20 };                 /* if more intervals than this have passed, the parent itself was stopped */
static const double patience = 1;        /* seconds between asking a child to stop and killing it */

/* A running child and its incoming message. */
typedef struct {
    pid_t pid; /* 0: the slot is free */
    int job;
    int descriptor; /* read end of the pipe */
    bool closed;    /* the pipe has been closed */
    bool lost;      /* another program has taken over this job */
    double heard;   /* when bytes arrived last */
    jobs_message_head head;
    size_t arrived; /* bytes of the message so far, including its head */
    char *body;
    char failure[JOBS_FAILURE_LIMIT];
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

static void end_job(jobs_pool *pool, int job, jobs_state state, const char *message)
{
    pool->outcome.done += state == JOBS_DONE;
    pool->outcome.failed += state == JOBS_FAILED;
    pool->outcome.stopped += state == JOBS_STOPPED;
    pool->state[job] = ENDED;
    pool->ended++;
    for (const jobs_config *c = pool->config; c; c = c->also)
        if (c->on_end)
            c->on_end(job, state, message, c->context);
}

static void start_job(jobs_pool *pool, child *place, int job)
{
    int ends[2];
    const jobs_config *config = pool->config;
    pool->state[job] = RUNNING;
    for (const jobs_config *c = config; c; c = c->also)
        if (c->on_start)
            c->on_start(job, c->context);
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
        char message[JOBS_FAILURE_LIMIT];
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

static void deliver(const jobs_config *config, child *from)
{
    const size_t size = from->head.size;
    jobs_progress progress;
    const bool reports = from->head.kind == JOBS_MESSAGE_PROGRESS && size == sizeof progress;
    if (reports)
        memcpy(&progress, from->body, sizeof progress);
    for (const jobs_config *c = config; c; c = c->also) {
        if (reports && c->on_progress)
            c->on_progress(from->job, &progress, c->context);
        if (from->head.kind == JOBS_MESSAGE_RECORD && c->on_record)
            c->on_record(from->job, from->body, size, c->context);
    }
    if (from->head.kind == JOBS_MESSAGE_FAILURE)
        snprintf(from->failure, sizeof from->failure, "%.*s", (int)size, from->body);
    free(from->body);
    from->body = NULL;
    from->arrived = 0;
}

/* Allocates the message whose head has just arrived. An invalid head, or too large a message, ends the child. */
static bool make_room(child *from)
{
    if (from->head.kind >= JOBS_MESSAGE_PROGRESS && from->head.kind <= JOBS_MESSAGE_FAILURE &&
        from->head.size <= JOBS_MESSAGE_LIMIT)
        from->body = malloc(from->head.size + 1);
    if (from->body)
        return true;
    snprintf(from->failure, sizeof from->failure, "sent a message of %u bytes, which is too large", from->head.size);
    kill(from->pid, SIGKILL);
    from->closed = true;
    return false;
}

/* Reads the pipe, up to a number of messages, so that one child cannot keep the others waiting. */
static void listen_to(const jobs_config *config, child *from, int messages)
{
    while (messages > 0 && !from->closed) {
        size_t head = sizeof from->head, size = head + (from->arrived < head ? 0 : from->head.size);
        if (from->arrived >= head && from->arrived == size) {
            deliver(config, from);
            messages--;
            continue;
        }
        bool in_head = from->arrived < head;
        char *to = in_head ? (char *)&from->head + from->arrived : from->body + (from->arrived - head);
        ssize_t got = read(from->descriptor, to, size - from->arrived);
        if (got > 0) {
            from->arrived += (size_t)got;
            from->heard = jobs_clock();
            if (in_head && from->arrived == head && !make_room(from))
                return;
        } else if (got == 0) {
            from->closed = true;
        } else if (errno != EINTR) {
            return; /* no more data for now */
        }
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
    else if (ended->arrived > 0)
        snprintf(text, size, "its last message is incomplete");
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

    char text[JOBS_FAILURE_LIMIT];
    const char *message = complaint(place, status, text, sizeof text);
    /* Checks the flag too: a signal to the whole group may reach the child before the loop notices it. */
    bool stopped = (pool->stopping || signals_caught()) && !place->failure[0] && WIFSIGNALED(status) &&
                   (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGKILL);
    const int job = place->job;
    const bool lost = place->lost;
    free(place->body);
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
        for (const jobs_config *c = pool->config; c; c = c->also)
            if (c->on_tick)
                c->on_tick(c->context);
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
    signals_catch(&before, NULL);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL},
              &before_child); /* if SIGCHLD were ignored, children would leave no status */
    const bool ready = pool.children && pool.polls && pool.state;
    if (!ready) {
        for (int job = 0; job < config->count; job++)
            for (const jobs_config *c = config; c; c = c->also)
                if (c->on_end)
                    c->on_end(job, JOBS_FAILED, "out of memory", c->context);
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
