#include "examples/programs/run/jobs.h"
#include "examples/programs/data/words.h"
#include "examples/programs/run/claim.h"
#include "examples/programs/run/progress.h"
#include "examples/programs/run/signals.h"

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
enum { LONG_TICK = 20 };                 /* if more intervals than this have passed, the parent itself was stopped */
static const double patience = 1;        /* seconds between asking a child to stop and killing it */
static const double look_interval = 0.5; /* seconds between two checks of another process's claim */

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
    bool lost;      /* another process runs this job now */
    double heard;   /* when a message arrived last */
    char failure[FAILURE_LIMIT];
} child;

typedef struct {
    enum { WAITING, RUNNING, ENDED } state;
    char *folder; /* NULL: not shared */
    claim claim;
    double looked; /* when another process's claim was checked */
} shared_job;

typedef struct {
    const jobs_config *config;
    child *children;      /* [places] */
    struct pollfd *polls; /* [places] */
    shared_job *jobs;     /* [count], */
    const char **names;
    progress *view;
    int places, running, ended;
    bool stopping, said_waiting;
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

static void end_job(jobs_pool *pool, int number, jobs_state state, const char *message)
{
    shared_job *ended = &pool->jobs[number];
    pool->outcome.done += state == JOBS_DONE;
    pool->outcome.failed += state == JOBS_FAILED;
    pool->outcome.stopped += state == JOBS_STOPPED;
    ended->state = ENDED;
    pool->ended++;
    claim_release(&ended->claim, ended->folder, state == JOBS_DONE);
    progress_end(pool->view, number, state, message);
}

static void start_job(jobs_pool *pool, child *place, int job)
{
    int ends[2];
    pool->jobs[job].state = RUNNING;
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
        end_job(pool, job, JOBS_FAILED, message);
        return;
    }
    close(ends[1]);
    *place = (child){.pid = pid, .job = job, .descriptor = ends[0], .heard = jobs_clock()};
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
        from->heard = jobs_clock();
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
    const bool lost = place->lost;
    *place = (child){0};
    pool->running--;
    if (lost) {
        pool->jobs[job].state = WAITING;
        return;
    }
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

/* ---- jobs that are shared with other processes ---------------------------------------------------------------- */

/* Gives signs of life, and kills the children whose jobs another process has taken over. */
static void keep_claims(const jobs_pool *pool)
{
    const jobs_config *config = pool->config;
    for (int i = 0; i < pool->places; i++) {
        child *place = &pool->children[i];
        shared_job *shared = &pool->jobs[place->job];
        if (!place->pid || !shared->claim.held || claim_keep(&shared->claim, shared->folder, config->takeover))
            continue;
        place->lost = true;
        kill(place->pid, SIGKILL);
        if (config->out)
            fprintf(config->out, "%s: another process has taken it over\n", pool->names[place->job]);
    }
}

/* Whether a waiting job may start here: never if it is done, or another process does it and this one does not wait. */
typedef enum { NOW, LATER, NEVER } turn;

static turn turn_of(jobs_pool *pool, int number)
{
    const jobs_config *config = pool->config;
    shared_job *shared = &pool->jobs[number];
    tg_error error;
    if (!shared->folder)
        return NOW;
    if (shared->looked > 0 && jobs_clock() - shared->looked < look_interval)
        return LATER;
    shared->looked = jobs_clock();
    if (config->is_finished(number, config->context))
        return NEVER;
    if (!files_make_folder(shared->folder, &error))
        return NOW; /* the job itself then reports the error */
    switch (claim_take(&shared->claim, shared->folder, config->takeover, &error)) {
    case CLAIM_THEIRS:
        return config->waits ? LATER : NEVER;
    case CLAIM_FAILED:
        return NOW; /* likewise if it cannot write the claim */
    case CLAIM_OURS:
        break;
    }
    if (!config->is_finished(number, config->context)) /* time between two checks */
        return NOW;
    claim_release(&shared->claim, shared->folder, true);
    return NEVER;
}

/* Says once that the remaining jobs belong to other processes. */
static void say_waiting(jobs_pool *pool)
{
    FILE *out = pool->config->out;
    int left = 0;
    const char *holder = "";
    for (int i = 0; i < pool->config->count; i++)
        if (pool->jobs[i].state == WAITING && pool->jobs[i].claim.number > 0)
            holder = left++ == 0 ? pool->jobs[i].claim.holder : holder;
    if (!left || !out || pool->running > 0 || pool->said_waiting)
        return;
    fprintf(out, "waiting for %d run%s of other processes (%s%s); Ctrl-C ends the waiting\n", left, plural(left),
            *holder ? holder : "not known", left > 1 ? ", ..." : "");
    pool->said_waiting = true;
}

/* ---- the loop ----------------------------------------------------------------------------------------------- */

/* The next job that may start; -1 if there is none, for now or at all. */
static int next_job(jobs_pool *pool)
{
    for (int number = 0; number < pool->config->count; number++) {
        const turn here = pool->jobs[number].state == WAITING ? turn_of(pool, number) : LATER;
        if (here == NOW)
            return number;
        if (here == NEVER)
            end_job(pool, number, JOBS_ELSEWHERE, NULL);
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
            listen_to(pool, place, 64);
        if (place->pid && (place->closed || tick))
            reap(pool, place);
    }
    if (tick) {
        const double since = jobs_clock() - pool->ticked_at;
        end_silent_children(pool, pool->ticked_at > 0 && since > LONG_TICK * tick_interval ? since : 0);
        keep_claims(pool);
        say_waiting(pool);
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
    pool->jobs = calloc(count, sizeof *pool->jobs);
    pool->names = calloc(count, sizeof *pool->names);
    bool fine = pool->children && pool->polls && pool->jobs && pool->names;
    for (int i = 0; fine && i < config->count; i++) {
        pool->names[i] = config->name ? config->name(i, config->context) : "";
        fine = !config->folder || asprintf(&pool->jobs[i].folder, "%s/%s", config->folder, pool->names[i]) >= 0;
    }
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
    for (int i = 0; pool->jobs && i < pool->config->count; i++)
        free(pool->jobs[i].folder);
    free(pool->children);
    free(pool->polls);
    free(pool->jobs);
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
    free_pool(&pool);
    return pool.outcome;
}
