/* Shared by the parts of the playground; callers include playground.h. */
#ifndef PLAYGROUND_INTERNAL_H
#define PLAYGROUND_INTERNAL_H

#include "examples/programs/playground/playground.h"

#include <tapegrad.h>

enum { PLAYGROUND_NETS = 2 };

typedef struct playground_one {
    tg_mlp_config config; /* configured widths */
    tg_mlp *mlp;
    tg_optimizer *optimizer;
    tg_tape *tape;   /* of training steps */
    tg_rng training; /* of a random activation */
} playground_one;

struct playground {
    float points[PLAYGROUND_POINTS][2];
    int32_t labels[PLAYGROUND_POINTS];
    int count;
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

/* An existing net; NULL, with the error recorded, if there is none. */
playground_one *playground_one_at(playground *p, int which);

/* Memory for the result of a call, zeroed; NULL, with the error recorded, if out of memory. */
void *playground_answer(playground *p, size_t count, size_t size);

int playground_units(const playground *p, int which); /* hidden ones */

/* The first `count` points, and their labels. */
tg_tensor playground_points_on(tg_tape *tape, const playground *p, int count);
tg_tensor playground_labels_on(tg_tape *tape, const playground *p, int count);

/* The net's outputs for all points, on the tape for evaluations, which is reset; `trace` may be NULL. */
tg_tensor playground_evaluate(playground *p, const playground_one *n, tg_mlp_trace *trace);

#endif
