/* Random models, trained in every way that the library offers, must end with bit-identical weights.
 *
 *     the plain way   a new tape for each part of a batch, one thread, no checkpoints, gradients added by hand
 *     other ways      one tape with a cached trace; every stage in a checkpoint; several threads; tg_accumulate;
 *                     tg_replay; a run that stops and resumes from its file in another model
 *
 * Stages are samples of nn/layers/layers.def, some with a residual connection; every sample occurs. Training uses
 * an optimiser, an average of the weights and an evaluation halfway. A step that is refused must leave no trace.
 */
#include "tests/support/cut_finely.h"
#include "tests/support/optimizers.h"
#include "tests/support/temporary_files.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *cross_models_suite(void);

enum { STEPS = 4, STAGES = 5, CLASSES = 3, SIDE = 12, CHANNELS = 4, MOST_IMAGES = 48, LOSSES = STEPS + 1 };

/* ---- models ---- */

typedef struct stage_plan {
    const tg_layer_kind *kind; /* NULL: fold */
    int sample;
    bool residual; /* where the shapes are alike */
} stage_plan;

typedef struct plan {
    tg_dtype dtype;
    int images, parts; /* of a batch */
    tg_optimizer_kind optimizer;
    int count;
    stage_plan stage[STAGES];
} plan;

typedef struct stage {
    const tg_layer_kind *kind;
    tg_layer layer;
    void *memory;
    bool residual;
} stage;

typedef struct model {
    const plan *plan;
    tg_parameters *set;
    tg_optimizer *optimizer;
    tg_ema *ema;
    tg_rng training;
    stage stage[STAGES];
    int count;
    tg_shape shape; /* shape of the last stage's output */
    tg_linear_layer head;
    bool has_batch_norm;
} model;

/* Converts images to sequences, [n, positions, channels], and sequences to rows, [n, channels]. */
static tg_tensor fold(tg_tensor x)
{
    if (tg_rank(x) == 3)
        return tg_mean_over(x, TG_AXES(1), false);
    return tg_transpose(tg_reshape(x, TG_SHAPE(tg_dim(x, 0), tg_dim(x, 1), -1)), 1, 2);
}

static tg_tensor stage_forward(const stage *s, tg_tensor x, tg_rng *training)
{
    if (!s->kind)
        return fold(x);
    const tg_tensor y = s->layer.kind->forward(&s->layer, x, &(tg_layer_pass){training});
    return s->residual ? tg_add(x, y) : y;
}

/* Adds a stage that accepts the output of the stages before it; false if it does not. */
static bool add_stage(model *m, const stage_plan *p)
{
    char name[16];
    stage *s = &m->stage[m->count++];
    snprintf(name, sizeof name, "stages.%d", m->count - 1);
    *s = (stage){.kind = p->kind, .memory = calloc(1, (p->kind ? p->kind->size : 0) + 1)};
    if (p->kind)
        s->layer = p->kind->add(s->memory, m->set, name, &m->shape, p->sample);
    tg_tape *tape = tg_tape_new();
    const tg_tensor y = stage_forward(s, tg_full(tape, m->plan->dtype, m->shape, 1), NULL);
    const tg_shape shape = tg_shape_of(y);
    s->residual = p->residual && tg_shape_equal(&shape, &m->shape);
    const bool fine = tg_ok(y) && !tg_parameters_error(m->set) && shape.rank > 1 && shape.dim[0] == m->shape.dim[0];
    m->shape = shape;
    tg_tape_free(tape);
    return fine;
}

static void model_free(model *m)
{
    tg_ema_free(m->ema);
    tg_optimizer_free(m->optimizer);
    tg_parameters_free(m->set);
    for (int i = 0; i < m->count; i++)
        free(m->stage[i].memory);
    free(m);
}

/* The stages of a plan without the head; NULL if one does not accept the output of the one before. */
static model *stages_new(const plan *p)
{
    model *m = calloc(1, sizeof *m);
    bool fine = true;
    m->plan = p;
    m->shape = TG_SHAPE(3, CHANNELS, SIDE, SIDE);
    m->set = tg_parameters_new(p->dtype);
    for (int i = 0; fine && i < p->count; i++)
        fine = add_stage(m, &p->stage[i]);
    if (fine)
        return m;
    model_free(m);
    return NULL;
}

static model *model_new(const plan *p)
{
    model *m = stages_new(p);
    ck_assert_ptr_nonnull(m);
    m->training = tg_rng_seed(7);
    m->head = tg_linear_layer_add(m->set, "head", tg_shape_size(&m->shape) / m->shape.dim[0], CLASSES, true);
    ck_assert(tg_parameters_initialize(m->set, TG_INIT_HE_NORMAL, 0, &m->training));
    for (int i = 0; i < tg_parameters_count(m->set); i++)
        m->has_batch_norm |= strstr(tg_parameters_at(m->set, i)->name, "running_mean") != NULL;
    m->optimizer = tg_optimizer_new(
        m->set, &(tg_optimizer_config){.kind = p->optimizer,
                                       .lr = 0.02 * tg_optimizer_rate_over_adamw(p->optimizer),
                                       .schedule = {.kind = TG_WARMUP_COSINE, .warmup = 2, .steps = STEPS},
                                       .weight_decay = 0.1,
                                       .clip_norm = 1});
    m->ema = tg_ema_new(m->set, &(tg_ema_config){.decay = 0.75});
    ck_assert(m->optimizer && m->ema);
    return m;
}

static bool fits(const plan *p)
{
    model *m = stages_new(p);
    if (m)
        model_free(m);
    return m;
}

/* True if a sample has floating numbers and this many axes. */
static bool takes(const tg_layer_sample *sample, int rank)
{
    for (const tg_shape *shape = sample->shapes; shape->rank > 0; shape++)
        if (shape->rank == rank)
            return !sample->ids;
    return false;
}

/* Adds a random sample of the kind to a plan whose output has this many axes; false if none fits. */
static bool extend(plan *p, const tg_layer_kind *kind, int rank, tg_rng *choices)
{
    int count = 0;
    while (kind->samples[count].about)
        count++;
    const int first = (int)tg_rng_below(choices, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        const int sample = (first + i) % count;
        p->stage[p->count] = (stage_plan){kind, sample, tg_rng_below(choices, 2)};
        p->count++;
        if (takes(&kind->samples[sample], rank) && fits(p))
            return true;
        p->count--;
    }
    return false;
}

/* Draws a plan that contains this kind and random others. Folds reduce the rank until the kind fits. */
static plan draw(tg_rng *choices, bool large, const tg_layer_kind *must)
{
    plan p = {.dtype = tg_rng_below(choices, 2) ? TG_F64 : TG_F32, .parts = 1 + (int)tg_rng_below(choices, 2)};
    p.images = p.parts * (large ? MOST_IMAGES / 2 : 2 + (int)tg_rng_below(choices, 3));
    p.optimizer = (tg_optimizer_kind)tg_rng_below(choices, (uint64_t)optimizers());
    int kinds = 0, rank = 4;
    while (tg_layer_kind_at(kinds))
        kinds++;
    bool has = false;
    while (p.count < STAGES && !(has && tg_rng_below(choices, 3) == 0)) {
        if (!has && extend(&p, must, rank, choices))
            has = true;
        else if (rank > 2 && (!has || tg_rng_below(choices, 4) == 0))
            p.stage[p.count++] = (stage_plan){0};
        else
            extend(&p, tg_layer_kind_at((int)tg_rng_below(choices, (uint64_t)kinds)), rank, choices);
        model *m = stages_new(&p);
        rank = m->shape.rank;
        model_free(m);
    }
    ck_assert_msg(has, "%s fits nowhere", must->name);
    return p;
}

typedef struct stage_call {
    const stage *stage;
    tg_rng *training;
} stage_call;

static tg_tensor call_stage(tg_tape *tape, const tg_tensor *x, int count, void *user)
{
    const stage_call *call = user;
    (void)tape, (void)count;
    return stage_forward(call->stage, x[0], call->training);
}

static tg_tensor model_forward(const model *m, tg_tensor x, tg_rng *training, bool checkpoints)
{
    for (int i = 0; i < m->count; i++)
        x = checkpoints ? tg_checkpoint(call_stage, &x, 1, &(stage_call){&m->stage[i], training})
                        : stage_forward(&m->stage[i], x, training);
    return tg_linear_layer_forward(&m->head, tg_reshape(x, TG_SHAPE(tg_dim(x, 0), -1)));
}

/* ---- batches ---- */

typedef union numbers {
    float f32[MOST_IMAGES * CHANNELS * SIDE * SIDE];
    double f64[MOST_IMAGES * CHANNELS * SIDE * SIDE];
} numbers;

typedef struct batch {
    numbers x;
    int32_t labels[MOST_IMAGES];
} batch;

static void fill(const plan *p, int step, batch *b)
{
    tg_rng rng = tg_rng_seed(100 + (uint64_t)step);
    for (int i = 0; i < p->images * CHANNELS * SIDE * SIDE; i++) {
        const double number = 2 * tg_rng_uniform(&rng) - 1;
        if (p->dtype == TG_F32)
            b->x.f32[i] = (float)number;
        else
            b->x.f64[i] = number;
    }
    for (int i = 0; i < p->images; i++)
        b->labels[i] = (int32_t)tg_rng_below(&rng, CLASSES);
}

/* ---- training ---- */

typedef struct way {
    const char *name;
    bool one_tape, checkpoints, accumulates, replays, resumes, stumbles;
    int threads;
} way;

/* The results of a run. */
typedef struct outcome {
    double loss[LOSSES];
    size_t bytes;
    unsigned char *values, *averages;
    tg_rng training;
    bool refused; /* the replay */
} outcome;

typedef struct run {
    model *model;
    const way *way;
    tg_tape *tape;
    batch *batch;
} run;

static tg_tensor part_loss(tg_tape *tape, int part, void *user)
{
    const run *r = user;
    const plan *p = r->model->plan;
    const int images = p->images / p->parts;
    const void *x =
        (const char *)&r->batch->x + (size_t)(part * images * CHANNELS * SIDE * SIDE) * tg_dtype_size(p->dtype);
    const tg_tensor images_of = tg_borrow(tape, p->dtype, x, TG_SHAPE(images, CHANNELS, SIDE, SIDE)),
                    labels = tg_borrow(tape, TG_I32, r->batch->labels + part * images, TG_SHAPE(images));
    return tg_cross_entropy(model_forward(r->model, images_of, &r->model->training, r->way->checkpoints), labels);
}

static void check_tape(const run *r)
{
    ck_assert_msg(!tg_tape_error(r->tape), "%s: %s", r->way->name, tg_tape_error(r->tape));
}

static void next_tape(run *r)
{
    if (r->way->one_tape) {
        tg_tape_reset(r->tape);
        return;
    }
    tg_tape_free(r->tape);
    r->tape = tg_tape_new();
}

/* Computes the gradient of a batch; returns its mean loss. */
static double pass(run *r)
{
    const int parts = r->model->plan->parts;
    double mean = 0;
    if (r->way->accumulates) {
        ck_assert(tg_accumulate(r->tape, parts, part_loss, r, &mean));
        return mean;
    }
    for (int part = 0; part < parts; part++) {
        next_tape(r);
        const tg_tensor loss = part_loss(r->tape, part, r);
        tg_backward(parts == 1 ? loss : tg_mul_scalar(loss, 1. / parts));
        mean += tg_item(loss) / parts;
        check_tape(r);
    }
    return mean;
}

static tg_tensor loss_in_evaluation(run *r)
{
    const plan *p = r->model->plan;
    const tg_tensor x = tg_borrow(r->tape, p->dtype, &r->batch->x, TG_SHAPE(p->images, CHANNELS, SIDE, SIDE)),
                    labels = tg_borrow(r->tape, TG_I32, r->batch->labels, TG_SHAPE(p->images));
    return tg_cross_entropy(model_forward(r->model, x, NULL, false), labels);
}

/* The loss of the averaged weights in evaluation. */
static double evaluate(run *r)
{
    tg_ema_swap(r->model->ema);
    next_tape(r);
    tg_no_grad_begin(r->tape);
    const double loss = tg_item(loss_in_evaluation(r));
    tg_no_grad_end(r->tape);
    check_tape(r);
    tg_ema_swap(r->model->ema);
    return loss;
}

/* A step that the optimiser refuses, and a pass that fails. */
static void stumble(run *r)
{
    next_tape(r);
    tg_backward(tg_mul_scalar(loss_in_evaluation(r), NAN));
    check_tape(r);
    ck_assert(!tg_optimizer_step(r->model->optimizer));
    tg_parameters_clear_gradients(r->model->set);
    const tg_tensor loss = loss_in_evaluation(r);
    tg_backward(tg_add(loss, tg_full(r->tape, TG_I32, TG_SHAPE(2), 1)));
    ck_assert_ptr_nonnull(tg_tape_error(r->tape));
    tg_tape_clear_error(r->tape);
}

static void save_and_load(run *r)
{
    tg_error error;
    model *to = model_new(r->model->plan), *from = r->model;
    tg_update_state kept = tg_optimizer_state(from->optimizer);
    tg_training_state state = {
        .parameters = from->set, .update = &kept, .ema = from->ema, .rng = {&from->training}, .position = 2};
    ck_assert_msg(tg_training_state_save(&state, temporary_path("state.safetensors"), NULL, 0, &error), "%s",
                  error.text);
    for (int i = 0; i < tg_parameters_count(to->set); i++)
        tg_parameter_fill(tg_parameters_at(to->set, i), 0.5);
    r->model = to;
    pass(r); /* whose gradients are those of other weights */
    kept = tg_optimizer_state(to->optimizer);
    state = (tg_training_state){.parameters = to->set, .update = &kept, .ema = to->ema, .rng = {&to->training}};
    ck_assert_msg(tg_training_state_load(&state, temporary_path("state.safetensors"), &error), "%s", error.text);
    ck_assert(tg_optimizer_restore(to->optimizer, state.update));
    ck_assert_int_eq(state.position, 2);
    tg_tape_free(r->tape); /* its tensors refer to the old model */
    r->tape = tg_tape_new();
    model_free(from);
}

static unsigned char *copy_of(tg_parameters *set, size_t *bytes)
{
    *bytes = tg_parameters_bytes(set);
    unsigned char *copy = malloc(*bytes);
    memcpy(copy, tg_parameters_values(set), *bytes);
    return copy;
}

static outcome train(const plan *p, const way *w)
{
    outcome o = {0};
    run r = {model_new(p), w, tg_tape_new(), calloc(1, sizeof(batch))};
    tg_set_threads(w->threads);
    cut_finely = w->threads > 1;
    for (int step = 0; step < STEPS && !o.refused; step++) {
        fill(p, step, r.batch);
        if (step == 2 && w->resumes)
            save_and_load(&r);
        if (w->stumbles)
            stumble(&r);
        if (step > 0 && w->replays) {
            o.refused = !tg_replay(r.tape);
            if (o.refused)
                break;
        } else
            o.loss[step] = pass(&r);
        ck_assert_msg(tg_optimizer_step(r.model->optimizer), "%s: %s", w->name, tg_optimizer_error(r.model->optimizer));
        ck_assert(tg_ema_update(r.model->ema));
        if (step == 1 && !w->replays)
            o.loss[STEPS] = evaluate(&r);
    }
    if (o.refused) {
        ck_assert_msg(strstr(tg_tape_error(r.tape), "tg_replay"), "%s", tg_tape_error(r.tape));
        tg_tape_clear_error(r.tape);
    }
    check_tape(&r);
    o.values = copy_of(r.model->set, &o.bytes);
    o.averages = copy_of(tg_ema_parameters(r.model->ema), &o.bytes);
    o.training = r.model->training;
    tg_tape_free(r.tape);
    model_free(r.model);
    free(r.batch);
    return o;
}

static void forget(outcome *o)
{
    free(o->values);
    free(o->averages);
}

/* ---- comparing ---- */

static const char *describe(const plan *p)
{
    static char text[600];
    int length = snprintf(text, sizeof text, "%s, %s, %d images in %d parts:", tg_optimizer_name(p->optimizer),
                          tg_dtype_name(p->dtype), p->images, p->parts);
    for (int i = 0; i < p->count; i++) {
        const stage_plan *s = &p->stage[i];
        length += snprintf(text + length, sizeof text - (size_t)length, " %s.%s%s", s->kind ? s->kind->name : "fold",
                           s->kind ? s->kind->samples[s->sample].name : "", s->residual ? "+x" : "");
    }
    return text;
}

static void assert_same(const plan *p, const way *w, const outcome *plain, const outcome *is)
{
    ck_assert_msg(!memcmp(plain->values, is->values, plain->bytes), "%s: weights differ (%s)", w->name, describe(p));
    ck_assert_msg(!memcmp(plain->averages, is->averages, plain->bytes), "%s: averages differ (%s)", w->name,
                  describe(p));
    ck_assert_msg(!memcmp(&plain->training, &is->training, sizeof plain->training), "%s: generators differ (%s)",
                  w->name, describe(p));
    for (int i = 0; !w->replays && i < LOSSES; i++)
        ck_assert_msg(!memcmp(&plain->loss[i], &is->loss[i], sizeof(double)), "%s: loss %d is %.17g, not %.17g (%s)",
                      w->name, i, is->loss[i], plain->loss[i], describe(p));
}

static bool has_batch_norm(const plan *p)
{
    model *m = model_new(p);
    const bool has = m->has_batch_norm;
    model_free(m);
    return has;
}

static void compare_ways(const plan *p, int *replayed, int *refused)
{
    static const way plain = {.name = "plain", .threads = 1},
                     ways[] = {{.name = "one tape", .one_tape = true, .threads = 1},
                               {.name = "checkpoints", .checkpoints = true, .threads = 1},
                               {.name = "one tape, checkpoints, 2 threads",
                                .one_tape = true,
                                .checkpoints = true,
                                .threads = 2},
                               {.name = "3 threads, resumed", .one_tape = true, .threads = 3, .resumes = true},
                               {.name = "one tape, refused steps", .one_tape = true, .threads = 1, .stumbles = true},
                               {.name = "tg_accumulate", .one_tape = true, .accumulates = true, .threads = 1},
                               {.name = "tg_accumulate, checkpoints, 33 threads, resumed",
                                .one_tape = true,
                                .accumulates = true,
                                .checkpoints = true,
                                .threads = 33,
                                .resumes = true},
                               {.name = "replay", .one_tape = true, .replays = true, .threads = 1},
                               {.name = "replay, checkpoints, 8 threads",
                                .one_tape = true,
                                .checkpoints = true,
                                .replays = true,
                                .threads = 8}};
    outcome should_be = train(p, &plain);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const way *w = &ways[i];
        if (w->replays && p->parts > 1) /* a replay runs the last part again */
            continue;
        outcome is = train(p, w);
        ck_assert_msg(is.refused == (w->replays && has_batch_norm(p)), "%s: refused %d (%s)", w->name, is.refused,
                      describe(p));
        if (!is.refused)
            assert_same(p, w, &should_be, &is);
        *replayed += w->replays && !is.refused;
        *refused += is.refused;
        forget(&is);
    }
    forget(&should_be);
}

START_TEST(random_models_come_to_the_same_numbers_however_they_are_trained)
{
    const int models = getenv("TG_LONG") ? 1000 : 32, large = 8;
    const int threads = tg_threads();
    tg_rng choices = tg_rng_seed(getenv("TG_LONG") ? 2 : 3);
    int replayed = 0, refused = 0, kinds = 0;
    const tg_layer_kind *kind[100];
    for (int i = 0; tg_layer_kind_at(i); i++) /* an embedding cannot be a stage: it takes integers */
        if (!tg_layer_kind_at(i)->samples->ids)
            kind[kinds++] = tg_layer_kind_at(i);
    ck_assert_int_lt(kinds, models);
    for (int i = 0; i < models; i++) {
        const plan p = draw(&choices, i % large == 0, kind[i % kinds]);
        compare_ways(&p, &replayed, &refused);
    }
    tg_set_threads(threads);
    ck_assert_int_gt(replayed, 5);
    ck_assert_int_gt(refused, 1);
}
END_TEST

Suite *cross_models_suite(void)
{
    Suite *suite = suite_create("cross_models");
    TCase *tests = tcase_create("ways");
    tcase_set_timeout(tests, getenv("TG_LONG") ? 1200 : 60);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, random_models_come_to_the_same_numbers_however_they_are_trained);
    suite_add_tcase(suite, tests);
    return suite;
}
