/* What a pool of jobs (jobs.h) and the view of their progress (progress.h) share. */
#ifndef RUN_JOB_H
#define RUN_JOB_H

/* The progress of a job. Zero means unknown; in loss and accuracy NaN does. */
typedef struct {
    double fraction; /* of the whole job, 0 to 1 */
    long step, steps;
    int epoch, epochs;
    double loss;
    double accuracy; /* 0 to 1 */
    double rate;     /* steps or samples a second */
} jobs_progress;

typedef enum {
    JOBS_DONE,
    JOBS_FAILED,
    JOBS_STOPPED,
    JOBS_ELSEWHERE /* never started here, because of `turn` */
} jobs_state;

/* Seconds of a monotonic clock. */
double jobs_clock(void);

#endif
