/* Combines the features of the tape at random. A step on a long-lived tape must give the same bits as on a fresh tape,
 * and the same as without checkpoints. The features are checkpoints (nested), replay, cached trace, planned memory,
 * tapes that forget results, accumulation, dropout and other random numbers, hooks that look, change or differentiate,
 * nested gradients, no-grad scopes, frozen parameters, retained gradients, trimmed tapes, two tapes at once, two
 * threads, 16-bit formats, times and anomaly mode.
 *
 * Consecutive steps differ only a little, so that a tape could mistake one for another. When a step fails, the test
 * removes earlier steps and parts of the programs as long as the failure remains, and prints what is left.
 */
#include "autograd/base/platform.h"
#include "tests/support/cross_program.h"
#include "tests/support/cut_finely.h"
#include "tests/support/wrapped_memory.h"

#include <check.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

Suite *cross_suite(void);

/* ---- steps ---- */

typedef struct cross_step {
    cross_program lane[2];
    bool two, threads, interleaved; /* both lanes; at the same time; node by node in turn */
    bool resets;                    /* resets the tapes first; otherwise the step continues where the last one ended */
    bool replays;                   /* repeats the step before on other numbers */
    uint8_t frozen, cleared;        /* parameters without a gradient; those that an optimiser updates after the step */
    bool wants_reset;               /* the next step must reset the tapes */
    uint8_t starved;                /* not 0: the step is first tried where only so many allocations succeed */
    uint8_t data, format;           /* numbers of batches; a tg_format */
} cross_step;

/* The state before and after a step. */
typedef struct world {
    cross_parameters parameters;
    cross_lane lane[2];
    tg_dtype dtype;
    bool forgets; /* the long-lived tapes do: only what is kept is compared */
    int workers;  /* threads for an operation of the long-lived tapes; the fresh ones use one thread */
    int replayed, refused, forgotten;
    double tolerance; /* of the comparison; 0: to the bit */
    char complaint[512];
} world;

enum { PLAIN = 1, LONG_LIVED = 2 };

static void put(tg_dtype dtype, cross_numbers *to, int index, double number)
{
    if (dtype == TG_F32)
        to->f32[index] = (float)number;
    else
        to->f64[index] = number;
}

static void set_parameters(cross_parameters *p, tg_dtype dtype, int which)
{
    static const tg_shape shapes[CROSS_PARAMETERS] = {{1, {4}}, {0}, {2, {4, 4}}, {1, {4}}};
    static const char *const names[CROSS_PARAMETERS] = {"vector", "scalar", "matrix", "bias"};
    for (int i = 0; i < CROSS_PARAMETERS; i++) {
        p->parameter[i] = (tg_parameter){
            .name = names[i], .dtype = dtype, .shape = shapes[i], .data = &p->value[i], .gradient = &p->gradient[i]};
        for (int k = 0; k < 16; k++)
            put(dtype, &p->value[i], k, 0.4 * sin(1 + which + 5 * i + 3 * k));
    }
}

static void open_world(world *w, tg_dtype dtype, bool forgets)
{
    memset(w, 0, sizeof *w);
    w->dtype = dtype;
    w->forgets = forgets;
    set_parameters(&w->parameters, dtype, 0);
    for (int i = 0; i < 2; i++) {
        w->lane[i].tape = tg_tape_new();
        tg_tape_save_memory(w->lane[i].tape, forgets);
        w->lane[i].rng = tg_rng_seed((uint64_t)i);
    }
}

static void close_world(world *w)
{
    tg_tape_free(w->lane[0].tape);
    tg_tape_free(w->lane[1].tape);
}

/* A copy of the parameters and generators, without a tape. */
static void copy_world(world *to, const world *from)
{
    *to = *from;
    for (int i = 0; i < CROSS_PARAMETERS; i++) {
        to->parameters.parameter[i].data = &to->parameters.value[i];
        to->parameters.parameter[i].gradient = &to->parameters.gradient[i];
    }
}

static void prepare(world *w, const cross_step *s, int mode)
{
    tg_set_threads(mode == PLAIN ? 1 : w->workers);
    cut_finely = mode != PLAIN;
    for (int i = 0; i < CROSS_PARAMETERS; i++)
        w->parameters.parameter[i].gradient = s->frozen >> i & 1 ? NULL : &w->parameters.gradient[i];
    for (int i = 0; i < 2; i++) {
        cross_lane *l = &w->lane[i];
        l->parameters = &w->parameters;
        l->program = &s->lane[i];
        l->dtype = w->dtype;
        l->plain = mode == PLAIN;
        l->forgets = w->forgets && mode == LONG_LIVED;
        l->shared = s->threads && i == 1;
        l->resumes = !s->resets;
        l->alone = !s->two || !(s->threads || s->interleaved);
        tg_tape_time(l->tape, s->data % 5 == 0);
        tg_tape_watch(l->tape, s->data % 3 == 0);
        tg_tape_round(l->tape, w->dtype == TG_F32 ? (tg_format)s->format : TG_FLOAT32);
        for (int b = 0; b < 3; b++)
            for (int k = 0; k < CROSS_ROWS * CROSS_COLUMNS; k++)
                put(w->dtype, &l->batch[b], k, sin(s->data + 7 * b + 2 * i + 0.9 * k));
        for (int row = 0; row < CROSS_ROWS; row++)
            l->labels[row] = (s->data + row * 3 + i) % CROSS_COLUMNS;
    }
}

static void forward(cross_lane *l)
{
    const int end = l->program->count - l->program->tail;
    cross_begin(l);
    for (int node = 0; node < end;)
        node = cross_next(l, node, end);
}

static void *run_lane(void *argument)
{
    forward(argument);
    cross_finish(argument);
    return NULL;
}

static void run_interleaved(cross_lane *l)
{
    int node[2] = {0, 0};
    cross_begin(&l[0]);
    cross_begin(&l[1]);
    for (bool more = true; more;) {
        more = false;
        for (int i = 0; i < 2; i++) {
            const int end = l[i].program->count - l[i].program->tail;
            if (node[i] < end)
                node[i] = cross_next(&l[i], node[i], end);
            more |= node[i] < end;
        }
    }
    cross_finish(&l[0]);
    cross_finish(&l[1]);
}

/* On fresh tapes the lanes do not run at the same time: it must make no difference. */
static void record(world *w, const cross_step *s, int mode)
{
    pthread_t thread;
    if (s->two && s->threads && mode == LONG_LIVED) {
        ck_assert_int_eq(pthread_create(&thread, NULL, run_lane, &w->lane[1]), 0);
        run_lane(&w->lane[0]);
        pthread_join(thread, NULL);
    } else if (s->two && s->interleaved && mode == LONG_LIVED)
        run_interleaved(w->lane);
    else {
        run_lane(&w->lane[0]);
        if (s->two)
            run_lane(&w->lane[1]);
    }
}

/* Replays the step before on the numbers of this one. */
static bool replay(world *w, const cross_step *s)
{
    for (int i = 0; i <= s->two; i++) {
        cross_lane *l = &w->lane[i];
        if (l->errors + l->changes > 0)
            return false;
        for (int k = 0; k < l->copied_count; k++)
            ck_assert(tg_set(l->copied[k], l->dtype, &l->batch[1], TG_SHAPE(l->program->rows, CROSS_COLUMNS)));
        if (!tg_replay(l->tape)) {
            tg_tape_clear_error(l->tape);
            return false;
        }
    }
    w->replayed++;
    return true;
}

/* ---- comparison ---- */

/* Equal to the bit or, where sums are added in another order, within a tolerance. */
static bool numbers_differ(tg_dtype dtype, const void *a, const void *b, int64_t count, double tolerance)
{
    if (count == 0 || !a || !b) /* after a replay that failed, neither may be readable */
        return count > 0 && (a || b);
    const size_t element = tg_dtype_size(dtype);
    if (memcmp(a, b, (size_t)count * element) == 0)
        return false;
    for (int64_t i = 0; i < count; i++) {
        const double x = dtype == TG_F32 ? (double)((const float *)a)[i] : ((const double *)a)[i];
        const double y = dtype == TG_F32 ? (double)((const float *)b)[i] : ((const double *)b)[i];
        const bool same =
            memcmp((const char *)a + (size_t)i * element, (const char *)b + (size_t)i * element, element) == 0;
        if (!same && !(fabs(x - y) <= tolerance * (1 + fabs(y))))
            return true;
    }
    return false;
}

static bool tensors_differ(world *is, tg_tensor a, tg_tensor b, const char *what, int lane, int index)
{
    const tg_shape sa = tg_shape_of(a), sb = tg_shape_of(b);
    char ta[64], tb[64];
    if (tg_ok(a) == tg_ok(b) && tg_shape_equal(&sa, &sb) && tg_dtype_of(a) == tg_dtype_of(b) &&
        !numbers_differ(tg_dtype_of(a), tg_data(a), tg_data(b), tg_size(a), is->tolerance))
        return false;
    int64_t at = 0;
    while (at + 1 < tg_size(a) && tg_at(a, at) == tg_at(b, at))
        at++;
    snprintf(is->complaint, sizeof is->complaint, "lane %d: %s %d is %s%s, %.9g at %d, and should be %s%s, %.9g", lane,
             what, index, tg_ok(a) ? "" : "inert ", tg_shape_text(&sa, ta, sizeof ta), tg_at(a, at), (int)at,
             tg_ok(b) ? "" : "inert ", tg_shape_text(&sb, tb, sizeof tb), tg_at(b, at));
    return true;
}

/* Every tensor that can be read on a fresh tape, if that has recorded the same. */
static bool any_differs(world *is, const tg_tape *a, const tg_tape *b, int lane)
{
    const int64_t values = tg_tape_count(a).values;
    for (int64_t i = 0; values == tg_tape_count(b).values && i < values; i++) {
        const tg_tensor one = tg_tape_tensor(a, i), other = tg_tape_tensor(b, i);
        if (tg_data(other) && tensors_differ(is, one, other, "tensor", lane, (int)i))
            return true;
    }
    return false;
}

/* Anomaly mode names the step and what is in the inputs; a fresh tape begins with step 0 and overwrites nothing. */
static size_t length_without_step(const char *error)
{
    const char *step = strstr(error, " in step ");
    return step ? (size_t)(step - error) : strlen(error);
}

static bool errors_differ(const char *a, const char *b)
{
    const size_t length = length_without_step(a);
    return length != length_without_step(b) || memcmp(a, b, length) != 0;
}

static bool lanes_differ(world *is, const world *be, int lane, bool replayed)
{
    const cross_lane *a = &is->lane[lane], *b = &be->lane[lane];
    if (a->errors != b->errors || (!b->plain && errors_differ(a->error, b->error)) ||
        a->rng.position != b->rng.position || a->watched_count != b->watched_count ||
        (!replayed && (a->looks != b->looks || (is->tolerance == 0 && a->looked != b->looked)))) {
        snprintf(is->complaint, sizeof is->complaint,
                 "lane %d: %d errors (%s), position %d, %d looks of %llx; and should be %d (%s), %d, %d of %llx", lane,
                 a->errors, a->error, (int)a->rng.position, a->looks, (unsigned long long)a->looked, b->errors,
                 b->error, (int)b->rng.position, b->looks, (unsigned long long)b->looked);
        return true;
    }
    for (int i = 0; i < a->watched_count; i++)
        if (a->is_read[i] && tensors_differ(is, a->watched[i], b->watched[i], "result", lane, i))
            return true;
    for (int i = 0; i < a->graded_count; i++)
        if (tensors_differ(is, tg_gradient(a->graded[i]), tg_gradient(b->graded[i]), "gradient", lane, i))
            return true;
    return !is->forgets && !b->plain && any_differs(is, a->tape, b->tape, lane);
}

static double first_of(tg_dtype dtype, const cross_numbers *numbers)
{
    return dtype == TG_F32 ? (double)numbers->f32[0] : numbers->f64[0];
}

/* Describes the first difference between the two worlds. */
static bool worlds_differ(world *is, const world *be, const cross_step *s, bool replayed)
{
    for (int lane = 0; lane <= s->two; lane++)
        if (lanes_differ(is, be, lane, replayed))
            return true;
    for (int i = 0; i < CROSS_PARAMETERS; i++) {
        const tg_parameter *a = &is->parameters.parameter[i], *b = &be->parameters.parameter[i];
        const int64_t size = tg_shape_size(&a->shape);
        if (a->has_gradient == b->has_gradient && !numbers_differ(a->dtype, a->data, b->data, size, 0) &&
            !(a->has_gradient && a->gradient &&
              numbers_differ(a->dtype, a->gradient, b->gradient, size, is->tolerance)))
            continue;
        snprintf(is->complaint, sizeof is->complaint,
                 "the gradient of %s (%s) begins with %.9g and should (%s) with %.9g", a->name,
                 a->has_gradient ? "there" : "not there", first_of(is->dtype, &is->parameters.gradient[i]),
                 b->has_gradient ? "there" : "not there", first_of(is->dtype, &be->parameters.gradient[i]));
        return true;
    }
    return false;
}

/* Repeats the step on fresh tapes from the same state and compares. A second derivative through a checkpoint sums over
 * recorded and recomputed values, which are one value without the checkpoint: these sums have another order. In a 16-bit
 * format, where each addition is rounded, hardly a digit need be the same, and they are not compared. */
static bool differs_from(world *w, const world *before, const cross_step *s, int mode, bool replayed)
{
    static world other;
    copy_world(&other, before);
    other.lane[0].tape = tg_tape_new();
    other.lane[1].tape = tg_tape_new();
    prepare(&other, s, mode);
    record(&other, s, mode);
    const bool twice =
        cross_differentiates_checkpoints_twice(&s->lane[0]) || cross_differentiates_checkpoints_twice(&s->lane[1]);
    w->tolerance = mode != PLAIN || !twice ? 0 : w->dtype == TG_F64 ? 1e-10 : 1e-3;
    const int errors = other.lane[0].errors + (s->two ? other.lane[1].errors : 0);
    const int failed = w->lane[0].errors + (s->two ? w->lane[1].errors : 0),
              changes = w->lane[0].errors + w->lane[0].changes + w->lane[1].errors + w->lane[1].changes,
              earlier_changes = before->lane[0].changes + before->lane[1].changes;
    /* A failed pass may have stopped at another place, and what has changed may be read again or not. On a tape that goes
     * on, an operation that failed in a replay of the step before fails again; a fresh one lacks it. */
    const bool half_done =
        (mode == PLAIN && errors + changes > 0) || (!s->resets && (errors > 0 || (failed > 0 && earlier_changes > 0)));
    const bool without_order = mode == PLAIN && twice && w->dtype == TG_F32 && s->format != TG_FLOAT32;
    const bool differ = !half_done && !without_order && worlds_differ(w, &other, s, replayed);
    close_world(&other);
    if (differ)
        strcat(w->complaint, mode == PLAIN ? ", without checkpoints" : ", on a fresh tape");
    return differ;
}

/* Restores everything but the tapes, for another attempt. */
static void go_back(world *w, const world *before, const cross_step *s)
{
    tg_tape *tapes[2] = {w->lane[0].tape, w->lane[1].tape};
    const int replayed = w->replayed, refused = w->refused, forgotten = w->forgotten;
    copy_world(w, before);
    w->lane[0].tape = tapes[0];
    w->lane[1].tape = tapes[1];
    w->replayed = replayed;
    w->refused = refused;
    w->forgotten = forgotten;
    prepare(w, s, LONG_LIVED);
}

/* True if a tape had forgotten what only this step needs. */
static bool has_forgotten(const world *w)
{
    return w->lane[0].has_forgotten || w->lane[1].has_forgotten;
}

static void reset_and_record(world *w, const cross_step *s)
{
    for (int i = 0; i < 2; i++) { /* an error may be cleared before or after */
        if (s->data % 2)
            tg_tape_clear_error(w->lane[i].tape);
        if (s->data % 16 == 5)
            tg_tape_trim(w->lane[i].tape);
        else
            tg_tape_reset(w->lane[i].tape);
        tg_tape_clear_error(w->lane[i].tape);
    }
    record(w, s, LONG_LIVED);
}

/* Tries the step where memory is short. What comes of it does not count, but the tapes must be as good as new. */
static void starve(world *w, const world *before, const cross_step *s)
{
    wrapped_memory_fail_after(s->starved);
    reset_and_record(w, s);
    wrapped_memory_stop();
    if (s->starved % 2)
        for (int i = 0; i < 2; i++)
            tg_tape_clear_error(w->lane[i].tape);
    go_back(w, before, s);
}

static bool step_fails(world *w, const cross_step *s)
{
    static world before;
    for (int i = 0; i < CROSS_PARAMETERS && s->resets; i++)
        tg_parameter_changed(&w->parameters.parameter[i]);
    copy_world(&before, w);
    prepare(w, s, LONG_LIVED);
    if (s->starved)
        starve(w, &before, s);
    const bool replayed = s->replays && replay(w, s);
    if (s->replays && !replayed) { /* refused, perhaps half way */
        w->refused++;
        go_back(w, &before, s);
    }
    if (!replayed && (s->resets || s->replays || s->starved))
        reset_and_record(w, s);
    else if (!replayed)
        record(w, s, LONG_LIVED);
    if (!replayed && has_forgotten(w)) { /* the error names a remedy; another is a tape without a plan */
        w->forgotten++;
        go_back(w, &before, s);
        for (int i = 0; i < 2; i++) {
            tg_tape_reset(w->lane[i].tape);
            tg_tape_save_memory(w->lane[i].tape, false);
            tg_tape_save_memory(w->lane[i].tape, true);
        }
        reset_and_record(w, s);
    }
    if (differs_from(w, &before, s, 0, replayed) || differs_from(w, &before, s, PLAIN, replayed))
        return true;
    for (int i = 0; i < CROSS_PARAMETERS; i++)
        if (s->cleared >> i & 1)
            w->parameters.parameter[i].has_gradient = false;
    if (s->data % 4 == 0) { /* a stand-in for an optimiser's step */
        const cross_parameters kept = w->parameters;
        set_parameters(&w->parameters, w->dtype, s->data);
        for (int i = 0; i < CROSS_PARAMETERS; i++)
            w->parameters.parameter[i].has_gradient = kept.parameter[i].has_gradient;
    }
    return false;
}

/* True if the last of these steps, or one before it, fails. */
static bool steps_fail(const cross_step *s, int count, const world *like, char *complaint)
{
    static world w;
    bool fails = false;
    open_world(&w, like->dtype, like->forgets);
    for (int i = 0; i < count && !fails; i++)
        fails = step_fails(&w, &s[i]);
    memcpy(complaint, w.complaint, sizeof w.complaint);
    close_world(&w);
    return fails;
}

/* ---- drawing and cutting down ---- */

static void draw_step(tg_rng *choices, cross_step *s, bool first, bool fails)
{
#define ONE_OF(n) (tg_rng_below(choices, n) == 0)
    const bool was_alone = first || !s->resets;
    const bool same = !first && ONE_OF(3);
    for (int i = 0; i < 2; i++)
        if (first || (!same && ONE_OF(40)))
            cross_draw(choices, &s->lane[i], fails);
    if (!same && !first)
        for (int i = 0; i < 2; i++)
            cross_change(choices, &s->lane[tg_rng_below(choices, 2)], fails);
    if (!same || first) {
        s->two = !ONE_OF(3);
        s->threads = ONE_OF(8);
        s->interleaved = ONE_OF(2);
        s->frozen = ONE_OF(4) ? (uint8_t)tg_rng_below(choices, 16) : 0;
    }
    s->replays = same && !was_alone && ONE_OF(2);
    s->resets = first || s->replays || s->wants_reset || !ONE_OF(10);
    s->wants_reset = cross_wants_reset(&s->lane[0]) || cross_wants_reset(&s->lane[1]);
    s->starved = fails && s->resets && !s->threads && ONE_OF(8) ? (uint8_t)(1 + tg_rng_below(choices, 20)) : 0;
    s->replays &= !s->starved;
    s->cleared = ONE_OF(2) ? 15 : (uint8_t)tg_rng_below(choices, 16);
    if (s->resets) {
        s->data = (uint8_t)tg_rng_below(choices, 200);
        s->format = ONE_OF(2) ? (uint8_t)tg_rng_below(choices, 3) : TG_FLOAT32;
    }
}

/* Keeps a smaller set of steps if it still fails. */
static bool still_fails(cross_step *s, const cross_step *smaller, int count, const world *like)
{
    static char complaint[512];
    if (!steps_fail(smaller, count, like, complaint))
        return false;
    memcpy(s, smaller, (size_t)count * sizeof *s);
    return true;
}

static void cut_down(cross_step *s, int count, const world *like)
{
    cross_step *smaller = malloc((size_t)count * sizeof *smaller);
    for (bool shrank = true; shrank;) {
        shrank = false;
        for (int lane = 0; lane < 2; lane++)
            for (int node = CROSS_NODES - 1; node >= 0; node--) { /* removes it from all steps that have it */
                memcpy(smaller, s, (size_t)count * sizeof *s);
                bool any = false;
                for (int i = 0; i < count; i++) {
                    cross_program *p = &smaller[i].lane[lane];
                    if (node < p->count && p->count > 1 && p->count > p->tail + 1) {
                        memmove(p->node + node, p->node + node + 1, (size_t)(--p->count - node) * sizeof *p->node);
                        any = true;
                    }
                }
                shrank |= any && still_fails(s, smaller, count, like);
            }
        for (int what = 0; what < 8; what++) {
            memcpy(smaller, s, (size_t)count * sizeof *s);
            for (int i = 0; i < count; i++) {
                cross_step *t = &smaller[i];
                t->two &= what != 0;
                t->threads &= what != 1;
                t->interleaved &= what != 2;
                t->frozen = what == 3 ? 0 : t->frozen;
                for (int lane = 0; lane < 2; lane++) {
                    t->lane[lane].pass[1] = what == 4 ? 0 : t->lane[lane].pass[1];
                    t->lane[lane].pass[2] = what == 5 ? 0 : t->lane[lane].pass[2];
                    t->lane[lane].last_pass = what == 6 ? 0 : t->lane[lane].last_pass;
                    t->lane[lane].tail = what == 7 ? 0 : t->lane[lane].tail;
                }
            }
            shrank |= memcmp(smaller, s, (size_t)count * sizeof *s) != 0 && still_fails(s, smaller, count, like);
        }
    }
    free(smaller);
}

/* The shortest sequence of last steps that still fails, reduced and printed. */
static char *describe(cross_step *s, int count, const world *like)
{
    static char complaint[512];
    int length = 1;
    while (length < count && !steps_fail(s + count - length, length, like, complaint))
        length++;
    s += count - length;
    cut_down(s, length, like);
    steps_fail(s, length, like, complaint);
    char *text = NULL;
    size_t size;
    FILE *to = tg_memory_open(&text, &size);
    fprintf(to, "%s\n", complaint);
    for (int i = 0; i < length; i++) {
        fprintf(to, "  step %d%s%s%s%s%s, frozen %x, cleared after %x, data %d, starved %d\n", i,
                s[i].resets ? "" : ", goes on", s[i].replays ? ", replays" : "", s[i].two ? ", two tapes" : "",
                s[i].two && s[i].threads ? " in two threads" : "", s[i].two && s[i].interleaved ? " in turn" : "",
                s[i].frozen, s[i].cleared, s[i].data, s[i].starved);
        for (int lane = 0; lane <= s[i].two; lane++)
            cross_print(&s[i].lane[lane], to);
    }
    ck_assert(tg_memory_close(to, &text, &size));
    return text;
}

enum { STEPS = 200 };

/* The number in an environment variable, or this one. */
static int number_of(const char *variable, int otherwise)
{
    const char *text = getenv(variable);
    return text ? (int)strtol(text, NULL, 10) : otherwise;
}

/* Runs the steps of one seed. Every other one has failures; a tape that fails may be refused a replay. */
static void run_seed(int seed, int *replayed, int *refused)
{
    static cross_step steps[STEPS];
    static world w;
    tg_rng choices = tg_rng_seed((uint64_t)seed);
    open_world(&w, seed % 2 ? TG_F64 : TG_F32, seed / 2 % 2);
    const bool fails = seed / 4 % 2;
    w.workers = seed % 3 ? many_threads[seed % MANY_THREADS] : 1;
    for (int i = 0; i < STEPS; i++) {
        if (i > 0)
            steps[i] = steps[i - 1];
        draw_step(&choices, &steps[i], i == 0, fails);
        if (step_fails(&w, &steps[i]))
            ck_abort_msg("seed %d, step %d: %s\ncut down: %.3000s", seed, i, w.complaint, describe(steps, i + 1, &w));
    }
    *replayed += fails ? 0 : w.replayed;
    *refused += fails ? 0 : w.refused;
    close_world(&w);
}

/* TG_CROSS_FIRST and TG_CROSS_SEEDS choose the seeds, of 200 steps each; a long check runs a million steps. */
START_TEST(a_step_gives_what_it_gives_on_a_fresh_tape)
{
    const int first = number_of("TG_CROSS_FIRST", 0),
              count = number_of("TG_CROSS_SEEDS", getenv("TG_LONG") ? 5000 : 16);
    int replayed = 0, refused = 0;
    for (int seed = first; seed < first + count; seed++)
        run_seed(seed, &replayed, &refused);
    ck_assert_int_ge(replayed, count / 2 * STEPS / 20);
    ck_assert_int_ge(replayed, 2 * refused);
}
END_TEST

Suite *cross_suite(void)
{
    Suite *suite = suite_create("cross");
    TCase *tests = tcase_create("cross");
    tcase_add_test(tests, a_step_gives_what_it_gives_on_a_fresh_tape);
    suite_add_tcase(suite, tests);
    return suite;
}
