/* Runs two random programs on one tape: the second must give the same bits there as on a fresh tape. */
#include "tests/support/cross_program.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <string.h>

typedef struct world {
    cross_lane lane;
    cross_parameters parameters;
} world;

/* A valid number in place of one that is not below the bound. */
static void bound(uint8_t *number, int limit)
{
    *number = (uint8_t)(*number % limit);
}

static void make_valid(cross_program *p)
{
    bound(&p->rows, CROSS_ROWS);
    p->rows++;
    bound(&p->count, CROSS_NODES);
    p->count++;
    bound(&p->tail, p->count < 5 ? p->count : 5);
    bound(&p->loss, CROSS_LOSSES);
    bound(&p->last_pass, CROSS_PASS_KINDS);
    for (int i = 0; i < CROSS_PASSES; i++)
        bound(&p->pass[i], CROSS_PASS_KINDS);
    for (int i = 0; i < CROSS_NODES; i++) {
        bound(&p->node[i].kind, cross_kinds());
        bound(&p->node[i].a, 30);
        bound(&p->node[i].b, 30);
        bound(&p->node[i].number, 7);
        p->node[i].number++;
    }
}

static void open_world(world *w, tg_dtype dtype)
{
    static const tg_shape shapes[CROSS_PARAMETERS] = {{1, {4}}, {0}, {2, {4, 4}}, {1, {4}}};
    static const char *const names[CROSS_PARAMETERS] = {"vector", "scalar", "matrix", "bias"};
    memset(w, 0, sizeof *w);
    w->lane.tape = tg_tape_new();
    fuzz_require(w->lane.tape != NULL, "out of memory");
    w->lane.dtype = dtype;
    w->lane.parameters = &w->parameters;
    for (int i = 0; i < CROSS_PARAMETERS; i++)
        w->parameters.parameter[i] = (tg_parameter){.name = names[i],
                                                    .dtype = dtype,
                                                    .shape = shapes[i],
                                                    .data = &w->parameters.value[i],
                                                    .gradient = &w->parameters.gradient[i]};
}

static void fill(tg_dtype dtype, cross_numbers *numbers, double phase)
{
    for (int k = 0; k < CROSS_ROWS * CROSS_COLUMNS; k++)
        if (dtype == TG_F32)
            numbers->f32[k] = (float)(0.5 * sin(phase + k));
        else
            numbers->f64[k] = 0.5 * sin(phase + k);
}

static void run(world *w, const cross_program *p)
{
    cross_lane *l = &w->lane;
    l->program = p;
    l->rng = tg_rng_seed(2);
    for (int i = 0; i < CROSS_PARAMETERS; i++) {
        fill(l->dtype, &w->parameters.value[i], i);
        w->parameters.parameter[i].has_gradient = false;
    }
    for (int b = 0; b < 3; b++)
        fill(l->dtype, &l->batch[b], 7 * b);
    for (int row = 0; row < CROSS_ROWS; row++)
        l->labels[row] = row % CROSS_COLUMNS;
    cross_begin(l);
    const int end = p->count - p->tail;
    for (int node = 0; node < end;)
        node = cross_next(l, node, end);
    cross_finish(l);
}

static bool same(tg_tensor a, tg_tensor b)
{
    const tg_shape sa = tg_shape_of(a), sb = tg_shape_of(b);
    const size_t bytes = (size_t)tg_size(a) * tg_dtype_size(tg_dtype_of(a));
    return tg_ok(a) == tg_ok(b) && (!tg_ok(a) || (tg_shape_equal(&sa, &sb) && tg_dtype_of(a) == tg_dtype_of(b) &&
                                                  (bytes == 0 || memcmp(tg_data(a), tg_data(b), bytes) == 0)));
}

static void compare(const world *is, const world *be)
{
    const cross_lane *a = &is->lane, *b = &be->lane;
    fuzz_require(a->errors == b->errors && a->looks == b->looks && a->looked == b->looked, "errors or hooks differ");
    fuzz_require(a->rng.position == b->rng.position && a->watched_count == b->watched_count, "a generator differs");
    for (int i = 0; i < a->watched_count; i++)
        fuzz_require(same(a->watched[i], b->watched[i]), "a result differs");
    for (int i = 0; i < a->graded_count && a->errors == 0; i++)
        fuzz_require(same(tg_gradient(a->graded[i]), tg_gradient(b->graded[i])), "a gradient differs");
    for (int i = 0; i < CROSS_PARAMETERS && a->errors == 0; i++) {
        const tg_parameter *p = &is->parameters.parameter[i], *q = &be->parameters.parameter[i];
        const size_t bytes = (size_t)tg_shape_size(&p->shape) * tg_dtype_size(p->dtype);
        fuzz_require(p->has_gradient == q->has_gradient &&
                         (!p->has_gradient || memcmp(p->gradient, q->gradient, bytes) == 0),
                     "a parameter's gradient differs");
    }
}

void fuzz_programs(const uint8_t *bytes, size_t size)
{
    static world used, fresh;
    cross_program programs[2];
    memset(programs, 0, sizeof programs);
    if (size > 1)
        memcpy(programs, bytes + 1, size - 1 < sizeof programs ? size - 1 : sizeof programs);
    make_valid(&programs[0]);
    make_valid(&programs[1]);
    const tg_dtype dtype = size && bytes[0] & 1 ? TG_F32 : TG_F64;
    tg_set_threads(1);
    open_world(&used, dtype);
    open_world(&fresh, dtype);
    run(&used, &programs[0]);
    tg_tape_reset(used.lane.tape);
    run(&used, &programs[1]);
    run(&fresh, &programs[1]);
    compare(&used, &fresh);
    tg_tape_free(used.lane.tape);
    tg_tape_free(fresh.lane.tape);
}
