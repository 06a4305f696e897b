/* Learning rate schedules: a factor for the rate, as a pure function of the step number.
 *
 *     tg_schedule schedule = {.kind = TG_WARMUP_COSINE, .warmup = 100, .steps = 2000};
 *     double rate = 1e-3 * tg_schedule_factor(&schedule, step);
 *
 * An optimiser applies the schedule of its configuration itself. Steps count from 0.
 *
 *     factor    TG_WARMUP_COSINE              factor    TG_STEP_DECAY
 *       1 |    /--.                             1 |    /------.
 *         |   /    '-.                            |   /       |______
 *         |  /        '-.                         |  /               |______
 *     end | /            '---------               | /
 *         +----+-----------+------ step           +----+------+------+----- step
 *           warmup       steps                      warmup  + period
 *
 * TG_LINEAR_DECAY is that of BERT (Devlin et al., 2019); TG_STABLE_DECAY that of MiniCPM (Hu et al., 2024), with a
 * linear decay (Haegele et al., 2024); TG_INVERSE_SQRT that of the transformer (Vaswani et al., 2017), whose unit of
 * time is the warm-up: without one it is an error; TG_ONE_CYCLE that of Smith and Topin (2018) as in PyTorch, without
 * cycling the momentum.
 */
#ifndef TG_SCHEDULE_H
#define TG_SCHEDULE_H

#include "autograd/api.h"

#include <stdbool.h>
#include <stdint.h>

TG_API_BEGIN

/* Each begins with a linear warm-up to 1, if `warmup` is set; TG_ONE_CYCLE has its own rise and takes no warm-up. */
typedef enum tg_schedule_kind {
#define TG_SCHEDULE(constant, name, ...) constant,
#include "optim/schedules.def"
#undef TG_SCHEDULE
} tg_schedule_kind;

typedef struct tg_schedule {
    tg_schedule_kind kind;
    int64_t warmup; /* steps until the full rate: step s < warmup has the factor (s + 1) / warmup. 0: none */
    int64_t steps;  /* of the whole training: cosine and lines end here; after that the factor stays `end` */
    double end;     /* the last factor of the cosine and of lines */
    int64_t period; /* TG_STEP_DECAY: steps from one decay to the next; TG_STABLE_DECAY: steps of the decay at the end,
                       0: a fifth of all */
    double decay;   /* of TG_STEP_DECAY; 0 means 0.1 */
} tg_schedule;

/* The factor of this step; 1 for NULL. Negative steps count as 0. */
double tg_schedule_factor(const tg_schedule *schedule, int64_t step);

/* NULL, or the error in the schedule. */
const char *tg_schedule_error(const tg_schedule *schedule);

/* True if the schedule uses a setting, named as in tg_schedule ("warmup", "end"): for programs that refuse options
 * without an effect. False for an unknown name. */
bool tg_schedule_uses(tg_schedule_kind kind, const char *setting);

/* Converts to the name in schedules.def ("cosine") and back; NULL, or false with nothing written, if unknown. */
const char *tg_schedule_name(tg_schedule_kind kind);
bool tg_schedule_from_name(const char *name, tg_schedule_kind *kind);

TG_API_END
#endif
