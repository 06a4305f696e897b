/* Shared by the parts of the playground; callers include playground.h. */
#pragma once

#include "examples/programs/playground/playground.h"

enum { PLAYGROUND_NETS = 2 };

typedef struct playground_one {
    tg_mlp_config config; /* configured widths */
    int batch, penalty;
    double strength;
    int32_t order[PLAYGROUND_POINTS]; /* training points of this epoch, */
    int ordered, at;                  /* their number, and the first that is not yet used */
    tg_rng batches;
    tg_mlp *mlp;
    tg_optimizer *optimizer;
    tg_tape *tape;   /* of training steps */
    tg_rng training; /* of a random activation */
} playground_one;

struct playground {
    float points[PLAYGROUND_POINTS][2];
    float targets[PLAYGROUND_POINTS];
    int32_t rows[PLAYGROUND_POINTS]; /* [count]: training points, then those for testing */
    int count, trained, held_out;    /* held_out: in percent */
    bool regresses;
    playground_one nets[PLAYGROUND_NETS];
    tg_tape *look, *step; /* for evaluations; the step that is shown */
    int64_t forward;      /* tensors of the forward pass on `step` */
    playground_summary summary[2];
    void *answer; /* the array or text that was returned last */
    char error[1024];
};

/* Records why a call failed (NULL: out of memory) and returns false. The second records the error of a tape and resets
 * it. */
bool playground_fail(playground *p, const char *why);
bool playground_fail_as(playground *p, tg_tape *tape);

/* An existing net for the points that there are; NULL, with the error recorded, if there is none. */
playground_one *playground_one_at(playground *p, int which);

/* Memory for the result of a call, zeroed; NULL, with the error recorded, if out of memory. */
void *playground_answer(playground *p, size_t count, size_t size);

int playground_units(const playground *p, int which); /* hidden ones */

/* Points by number, as the input of a net, and the loss of its outputs for them: the mean cross entropy, or the mean
 * squared error. `rows` NULL: the first ones. */
tg_tensor playground_points_on(tg_tape *tape, const playground *p, const int32_t *rows, int count, tg_dtype dtype);
tg_tensor playground_loss_on(const playground *p, tg_tensor outputs, const int32_t *rows, int count);

/* What a step descends: the loss, and the penalty. */
tg_tensor playground_objective(const playground_one *n, tg_tensor loss);

/* The points of the next step; without `advance` they remain the next ones. */
const int32_t *playground_batch(const playground *p, playground_one *n, bool advance, int *count);

/* The net's outputs for all points, on the tape for evaluations, which is reset; `trace` may be NULL. */
tg_tensor playground_evaluate(playground *p, const playground_one *n, tg_mlp_trace *trace);
