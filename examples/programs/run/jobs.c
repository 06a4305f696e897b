#include "examples/programs/data/advice.h"
#include "examples/programs/run/jobs.h"
#include "examples/programs/report/files.h"
#include "examples/programs/run/progress.h"
#include "examples/programs/system/child.h"
#include "examples/programs/system/posix.h"
#include "examples/programs/system/signals.h"

static const double report_interval = 0.05, tick_interval = 0.1; /* seconds */
static const double patience = 1; /* seconds between asking a child to stop and killing it */

enum { FAILURE_LIMIT = 400 };

/* From child to parent. */
typedef struct {
    bool failed;
    union {
        jobs_progress now;
        char why[FAILURE_LIMIT]; /* failed */
    };
} jobs_message;
_Static_assert(sizeof(jobs_message) <= 512, "child_send sends it as a whole");

struct jobs_link {
    child_link *parent;
    double last_report; /* seconds */
    int last_epoch;
};

typedef struct {
    child process;
    bool used; /* false: the slot is free */
    int job;
    int taken; /* the lock on its folder */
    char failure[FAILURE_LIMIT];
} slot;

typedef struct {
    const jobs_config *config;
    slot *slots;        /* [places] */
    child **waited;     /* [places] */
    const char **names; /* [count] */
    int starting;       /* the job that is about to start */
    progress *view;
    int places, running, started, ended;
    bool stopping, full; /* full: another job must end before the next can start */
    double stopped_at, ticked_at;
    jobs_outcome outcome;
} jobs_pool;

double jobs_clock(void)
{
    return system_seconds();
}

/* ---- in the child ------------------------------------------------------------------------------------------- */

void jobs_report(jobs_link *link, const jobs_progress *now)
{
    const jobs_message message = {.now = *now};
    const double time = jobs_clock();
    const bool complete = now->fraction >= 1;
    if (!complete && now->epoch == link->last_epoch && time - link->last_report < report_interval)
        return;
    if (!child_send(link->parent, &message, sizeof message, complete))
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
    child_send(link->parent, &message, sizeof message, true);
    return 1;
}

/* ---- starting ----------------------------------------------------------------------------------------------- */

/* Runs in the child. */
static int be_child(child_link *parent, void *context)
{
    jobs_pool *pool = context;
    for (int i = 0; i < pool->places; i++)
        if (pool->slots[i].used) {
            child_close(&pool->slots[i].process);
            files_release_folder(pool->slots[i].taken);
        }
    jobs_link link = {.parent = parent};
    return pool->config->run(pool->starting, &link, pool->config->context);
}

static void end_job(jobs_pool *pool, int number, jobs_state state, const char *message)
{
    pool->outcome.done += state == JOBS_DONE;
    pool->outcome.failed += state == JOBS_FAILED;
    pool->outcome.stopped += state == JOBS_STOPPED;
    pool->ended++;
    progress_end(pool->view, number, state, message);
}

/* `taken`: the lock on its folder, which the child shares. Where the system has no more processes or open files for it,
 * the job waits for the end of another one. */
static void start_job(jobs_pool *pool, slot *place, int job, int taken)
{
    child process;
    pool->starting = job;
    if (child_start(&process, pool->names[job], be_child, pool)) {
        progress_start(pool->view, job);
        *place = (slot){.process = process, .used = true, .job = job, .taken = taken};
        pool->running++;
        return;
    }
    char message[FAILURE_LIMIT];
    snprintf(message, sizeof message, "cannot start a process: %s", strerror(errno));
    files_release_folder(taken);
    pool->full = pool->running > 0;
    if (pool->full)
        pool->started = job;
    else
        end_job(pool, job, JOBS_FAILED, message);
}

/* ---- listening ---------------------------------------------------------------------------------------------- */

/* Reads the pipe, up to a number of messages, so that one child cannot keep the others waiting. */
static void listen_to(const jobs_pool *pool, slot *from, int messages)
{
    jobs_message message;
    for (; messages > 0 && child_receive(&from->process, &message, sizeof message); messages--)
        if (message.failed)
            memcpy(from->failure, message.why, sizeof from->failure);
        else
            progress_update(pool->view, from->job, &message.now);
}

/* Describes how a child ended, in one line of `text`; NULL on success. */
static const char *complaint(const slot *ended, char *text, size_t size)
{
    const int status = ended->process.status;
    if (ended->failure[0])
        snprintf(text, size, "%s", ended->failure);
    else if (status < 0)
        snprintf(text, size, "killed by signal %d (%s)%s", -status, child_signal_name(-status),
                 status == -SIGKILL ? ", perhaps because memory ran out" : "");
    else if (status > 0)
        snprintf(text, size, "ended with exit status %d", status);
    else
        return NULL;
    return text;
}

/* Frees the child's slot if it has ended. */
static void reap(jobs_pool *pool, slot *place)
{
    if (!child_has_ended(&place->process))
        return;
    listen_to(pool, place, INT_MAX); /* data that it sent before it ended */
    child_close(&place->process);

    char text[FAILURE_LIMIT];
    const char *message = complaint(place, text, sizeof text);
    const int job = place->job, status = place->process.status;
    /* Checks the flag too: a signal to the whole group may reach the child before the loop notices it. */
    const bool stopped =
        (pool->stopping || signals_caught()) && !place->failure[0] && (status == -SIGTERM || status == -SIGKILL);
    files_release_folder(place->taken);
    *place = (slot){0};
    pool->running--;
    pool->full = false;
    end_job(pool, job, stopped ? JOBS_STOPPED : message ? JOBS_FAILED : JOBS_DONE, stopped ? "interrupted" : message);
}

/* ---- ending ------------------------------------------------------------------------------------------------- */

static void stop_children(const jobs_pool *pool, bool now)
{
    for (int i = 0; i < pool->places; i++)
        child_stop(&pool->slots[i].process, now);
}

static void stop_if_interrupted(jobs_pool *pool)
{
    double now = jobs_clock();
    if (signals_caught() && !pool->stopping) {
        pool->stopping = pool->outcome.interrupted = true;
        pool->stopped_at = now;
        stop_children(pool, false);
    } else if (pool->stopping && now - pool->stopped_at > patience) {
        stop_children(pool, true);
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
static void start_next(jobs_pool *pool, slot *place)
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
    return !pool->stopping && !pool->full && !pool->outcome.refused && pool->started < pool->config->count;
}

static void fill_places(jobs_pool *pool)
{
    for (int i = 0; i < pool->places; i++)
        while (may_start(pool) && !pool->slots[i].used)
            start_next(pool, &pool->slots[i]);
}

static void wait_for_news(jobs_pool *pool)
{
    bool ending = false;
    for (int i = 0; i < pool->places; i++) {
        slot *place = &pool->slots[i];
        pool->waited[i] = place->used ? &place->process : NULL;
        ending |= place->used && place->process.closed;
    }
    child_wait(pool->waited, pool->places, ending ? 0.002 : tick_interval);
    bool tick = jobs_clock() - pool->ticked_at >= tick_interval;
    for (int i = 0; i < pool->places; i++) {
        slot *place = &pool->slots[i];
        if (place->used)
            listen_to(pool, place, 64);
        if (place->used && (place->process.closed || tick))
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
    pool->slots = calloc(places, sizeof *pool->slots);
    pool->waited = calloc(places, sizeof *pool->waited);
    pool->names = calloc(count, sizeof *pool->names);
    const bool fine = pool->slots && pool->waited && pool->names;
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
    free(pool->slots);
    free(pool->waited);
    free(pool->names);
}

/* In a program that was started again for one job: does it, or nothing if it comes later. */
static jobs_outcome do_own(jobs_pool *pool)
{
    pool->places = 0;
    for (int i = 0; i < pool->config->count; i++)
        if (strcmp(pool->config->name(i, pool->config->context), child_name()) == 0) {
            pool->starting = i;
            child_run(be_child, pool);
        }
    return (jobs_outcome){0};
}

jobs_outcome jobs_run(const jobs_config *config)
{
    const int places = config->at_once < 1 ? 1 : config->at_once;
    jobs_pool pool = {.config = config, .places = places < config->count ? places : config->count};
    signals_before before;
    if (child_name())
        return do_own(&pool);
    signals_catch(&before);
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
    signals_release(&before);
    free_pool(&pool);
    return pool.outcome;
}
