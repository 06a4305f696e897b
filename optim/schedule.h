/* Learning rate schedules: what the rate is multiplied by, as a pure function of the step number.
 *
 *     tg_schedule schedule = {.kind = TG_WARMUP_COSINE, .warmup = 100, .steps = 2000};
 *     double rate = 1e-3 * tg_schedule_factor(&schedule, step);
 *
 * An optimiser applies the schedule in its configuration by itself. Steps count from 0.
 *
 *     factor    TG_WARMUP_COSINE              factor    TG_STEP_DECAY
 *       1 |    /--.                             1 |    /------.
 *         |   /    '-.                            |   /       |______
 *         |  /        '-.                         |  /               |______
 *     end | /            '---------               | /
 *         +----+-----------+------ step           +----+------+------+----- step
 *           warmup       steps                      warmup  + period
 */
#ifndef TG_SCHEDULE_H
#define TG_SCHEDULE_H

#include "autograd/api.h"

#include <stdbool.h>
#include <stdint.h>

TG_API_BEGIN

/* Each begins with a line up to 1, if there is a warm-up. */
typedef enum tg_schedule_kind {
#define TG_SCHEDULE(constant, name, formula) constant,
#include "optim/schedules.def"
#undef TG_SCHEDULE
} tg_schedule_kind;

typedef struct tg_schedule {
    tg_schedule_kind kind;
    int64_t warmup; /* steps until the full rate: step s < warmup has the factor (s + 1) / warmup. 0: none */
    int64_t steps;  /* of the whole training: where the cosine arrives; after that the factor stays `end` */
    double end;     /* the last factor of the cosine */
    int64_t period; /* steps from one decay to the next */
    double decay;   /* 0 means 0.1 */
} tg_schedule;

/* The factor of this step; 1 for NULL. Negative steps count as 0. */
double tg_schedule_factor(const tg_schedule *schedule, int64_t step);

/* NULL, or what is wrong with the schedule. */
const char *tg_schedule_error(const tg_schedule *schedule);

/* Its name in schedules.def ("cosine"), and back; NULL, or false and nothing written, where there is none. */
const char *tg_schedule_name(tg_schedule_kind kind);
bool tg_schedule_from_name(const char *name, tg_schedule_kind *kind);

TG_API_END
#endif
