/* The child's side of jobs.h. */
#include "examples/run/jobs.h"
#include "examples/run/jobs_internal.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double report_interval = 0.05; /* seconds */

double jobs_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Writes all bytes, waiting while the pipe is full. Ends the child if the parent has ended. */
static void send_bytes(jobs_link *link, const void *bytes, size_t size)
{
    const char *rest = bytes;
    while (size > 0) {
        ssize_t written = write(link->descriptor, rest, size);
        if (written >= 0) {
            rest += written;
            size -= (size_t)written;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            poll(&(struct pollfd){.fd = link->descriptor, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            _exit(1);
        }
    }
}

static void send_message(jobs_link *link, jobs_message_kind kind, const void *bytes, size_t size)
{
    jobs_message_head head = {.kind = kind, .size = (uint32_t)size};
    send_bytes(link, &head, sizeof head);
    send_bytes(link, bytes, size);
}

void jobs_report(jobs_link *link, const jobs_progress *progress)
{
    double now = jobs_clock();
    bool complete = progress->fraction >= 1;
    if (!complete && progress->epoch == link->last_epoch && now - link->last_report < report_interval)
        return;
    struct {
        jobs_message_head head;
        jobs_progress progress;
    } message = {.head = {JOBS_MESSAGE_PROGRESS, sizeof *progress}, .progress = *progress};
    _Static_assert(sizeof message == sizeof(jobs_message_head) + sizeof(jobs_progress), "sent without a gap");
    _Static_assert(sizeof message <= 512, "a pipe takes a message up to POSIX's PIPE_BUF whole or not at all");
    if (complete)
        send_bytes(link, &message, sizeof message);
    else if (write(link->descriptor, &message, sizeof message) < 0)
        return;
    link->last_report = now;
    link->last_epoch = progress->epoch;
}

void jobs_record(jobs_link *link, const void *bytes, size_t size)
{
    send_message(link, JOBS_MESSAGE_RECORD, bytes, size);
}

int jobs_fail(jobs_link *link, const char *format, ...)
{
    char text[JOBS_FAILURE_LIMIT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (char *end = strchr(text, '\n'); end; end = strchr(end, '\n'))
        *end = ' ';
    send_message(link, JOBS_MESSAGE_FAILURE, text, strlen(text));
    return 1;
}
