/* Random models, trained in every way that the library has, must come to the same numbers, to the bit.
 *
 *     the plain way   a new tape for each part of a batch, one thread, nothing forgotten, parts added up by hand
 *     other ways      one tape that follows the step before; every stage in a checkpoint; several threads;
 * tg_accumulate; tg_replay; a run that stops, and goes on from its file in another model
 *
 * Models have convolutions, pools, batch and other norms, attention, plain and gated blocks, dropout, residual sums;
 * training has AdamW, an average of the weights, an evaluation in the middle.
 */
#include "tests/cut_finely.h"
#include "tests/temporary_files.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

Suite *cross_models_suite(void);

enum { STEPS = 4, STAGES = 5, CLASSES = 3, SIDE = 12, CHANNELS = 4, MOST_IMAGES = 48, LOSSES = STEPS + 1 };

/* ---- models ---- */

enum {
    CONV_BLOCK,
    DEPTHWISE,
    MAX_POOL,
    MEAN_POOL,
    IMAGE_STAGES,
    NORM = IMAGE_STAGES,
    ATTENTION,
    FEED_FORWARD,
    DROPOUT,
    STAGE_KINDS
};
static const char *const kind_names[STAGE_KINDS] = {"conv", "depthwise", "max_pool",     "mean_pool",
                                                    "norm", "attention", "feed_forward", "dropout"};

typedef struct stage {
    int kind;
    bool residual, of_images;
    double rate;
    tg_conv_block block;
    tg_convolution depthwise;
    tg_norm_layer norm;
    tg_attention attention;
    tg_feed_forward feed_forward;
} stage;

/* What is drawn: of a stage its kind and a number from which the rest follows. */
typedef struct plan {
    tg_dtype dtype;
    int images, parts; /* of a batch */
    int count, image_stages;
    uint8_t kind[STAGES], number[STAGES];
} plan;

typedef struct model {
    const plan *plan;
    tg_parameters *set;
    tg_optimizer *adamw;
    tg_ema *ema;
    tg_rng training;
    stage stage[STAGES];
    tg_linear_layer head;
    bool has_batch_norm;
} model;

static plan draw(tg_rng *choices, bool large)
{
    plan p = {.dtype = tg_rng_below(choices, 2) ? TG_F64 : TG_F32, .parts = 1 + (int)tg_rng_below(choices, 2)};
    p.images = p.parts * (large ? MOST_IMAGES / 2 : 2 + (int)tg_rng_below(choices, 3));
    p.count = 1 + (int)tg_rng_below(choices, STAGES);
    p.image_stages = (int)tg_rng_below(choices, (uint64_t)p.count + 1);
    for (int i = 0; i < p.count; i++) {
        p.kind[i] = (uint8_t)(i < p.image_stages ? tg_rng_below(choices, IMAGE_STAGES)
                                                 : IMAGE_STAGES + tg_rng_below(choices, STAGE_KINDS - IMAGE_STAGES));
        p.number[i] = (uint8_t)tg_rng_below(choices, 60);
    }
    return p;
}

static void add_stage(model *m, stage *s, const char *name, int kind, int number)
{
    static const tg_activation activations[] = {TG_GELU_EXACT, TG_RELU, TG_SWIGLU, TG_STOCHASTIC_GELU, TG_GEGLU};
    static const tg_norm image_norms[] = {TG_NORM_BATCH, TG_NORM_GROUP, TG_NORM_NONE};
    const tg_activation activation = activations[number % 5];
    *s = (stage){.kind = kind, .residual = number % 2, .rate = 0.1 * (number % 3), .of_images = kind < IMAGE_STAGES};
    switch (kind) {
    case CONV_BLOCK:
        s->block = tg_conv_block_add(m->set, name,
                                     &(tg_conv_block_config){.inputs = CHANNELS,
                                                             .outputs = CHANNELS,
                                                             .stride = 1,
                                                             .norm = image_norms[number % 3],
                                                             .groups = 2,
                                                             .activation = activation});
        m->has_batch_norm |= number % 3 == 0;
        break;
    case DEPTHWISE:
        s->depthwise = tg_convolution_add(m->set, name,
                                          &(tg_convolution_config){.inputs = CHANNELS,
                                                                   .outputs = CHANNELS,
                                                                   .kernel = {3, 3},
                                                                   .window = {.padding = {1, 1}, .groups = CHANNELS}});
        break;
    case NORM:
        s->norm = tg_norm_layer_add(m->set, name, number % 2 ? TG_NORM_LAYER : TG_NORM_RMS, CHANNELS, 0);
        s->residual = false;
        break;
    case ATTENTION:
        s->attention = tg_attention_add(m->set, name,
                                        &(tg_attention_config){.width = CHANNELS,
                                                               .heads = 2,
                                                               .key_value_heads = 1 + number % 2,
                                                               .separate = number % 2 == 0,
                                                               .causal = number % 3 == 0,
                                                               .dropout = s->rate});
        break;
    case FEED_FORWARD:
        s->feed_forward = tg_feed_forward_add(m->set, name, CHANNELS, 10, activation, number % 2);
        s->feed_forward.dropout = s->rate;
        break;
    default:
        break;
    }
}

static model *model_new(const plan *p)
{
    model *m = calloc(1, sizeof *m);
    m->plan = p;
    m->training = tg_rng_seed(7);
    m->set = tg_parameters_new(p->dtype);
    for (int i = 0; i < p->count; i++) {
        char name[16];
        snprintf(name, sizeof name, "stages.%d", i);
        add_stage(m, &m->stage[i], name, p->kind[i], p->number[i]);
    }
    m->head = tg_linear_layer_add(m->set, "head", CHANNELS, CLASSES, true);
    tg_parameters_initialize(m->set, TG_INIT_HE_NORMAL, 0, &m->training);
    ck_assert_msg(!tg_parameters_error(m->set), "%s", tg_parameters_error(m->set));
    m->adamw = tg_optimizer_new(m->set, &(tg_optimizer_config){.lr = 0.02, .weight_decay = 0.1, .clip_norm = 1});
    m->ema = tg_ema_new(m->set, &(tg_ema_config){.decay = 0.75});
    ck_assert(m->adamw && m->ema);
    return m;
}

static void model_free(model *m)
{
    tg_ema_free(m->ema);
    tg_optimizer_free(m->adamw);
    tg_parameters_free(m->set);
    free(m);
}

static tg_tensor stage_forward(const stage *s, tg_tensor x, tg_rng *training)
{
    tg_tensor y = x;
    switch (s->kind) {
    case CONV_BLOCK:
        y = tg_conv_block_forward(&s->block, x, training);
        break;
    case DEPTHWISE:
        y = tg_convolution_forward(&s->depthwise, x);
        break;
    case MAX_POOL:
        y = tg_max_pool2d(x, 3, 3, (tg_window){.stride = {1, 1}, .padding = {1, 1}});
        break;
    case MEAN_POOL:
        y = tg_average_pool2d(x, 3, 3, (tg_window){.stride = {1, 1}, .padding = {1, 1}});
        break;
    case NORM:
        return tg_norm_layer_forward(&s->norm, x, training);
    case ATTENTION:
        y = tg_attention_forward(&s->attention, x, NULL, training);
        break;
    case FEED_FORWARD:
        y = tg_feed_forward_forward(&s->feed_forward, x, training);
        break;
    default:
        y = tg_dropout_forward(tg_mul_scalar(x, 1.25), 0.2, training);
    }
    return s->residual ? tg_add(x, y) : y;
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

/* Images [n, CHANNELS, SIDE, SIDE] become [n, positions, CHANNELS] behind the last stage of images. */
static tg_tensor model_forward(const model *m, tg_tensor x, tg_rng *training, bool checkpoints)
{
    bool images = true;
    for (int i = 0; i <= m->plan->count; i++) {
        const stage *s = &m->stage[i];
        if (images && (i == m->plan->count || !s->of_images)) {
            x = tg_transpose(tg_reshape(x, TG_SHAPE(tg_dim(x, 0), CHANNELS, -1)), 1, 2);
            images = false;
        }
        if (i < m->plan->count)
            x = checkpoints ? tg_checkpoint(call_stage, &x, 1, &(stage_call){s, training})
                            : stage_forward(s, x, training);
    }
    return tg_linear_layer_forward(&m->head, tg_mean_over(x, TG_AXES(1), false));
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
    bool one_tape, checkpoints, accumulates, replays, resumes;
    int threads;
} way;

/* All that a run comes to. */
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

/* The gradient of a batch; its mean loss. */
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

/* The loss of the averaged weights in evaluation. */
static double evaluate(run *r)
{
    const plan *p = r->model->plan;
    tg_ema_swap(r->model->ema);
    next_tape(r);
    tg_no_grad_begin(r->tape);
    const tg_tensor x = tg_borrow(r->tape, p->dtype, &r->batch->x, TG_SHAPE(p->images, CHANNELS, SIDE, SIDE)),
                    labels = tg_borrow(r->tape, TG_I32, r->batch->labels, TG_SHAPE(p->images));
    const double loss = tg_item(tg_cross_entropy(model_forward(r->model, x, NULL, false), labels));
    tg_no_grad_end(r->tape);
    check_tape(r);
    tg_ema_swap(r->model->ema);
    return loss;
}

static void save_and_load(run *r)
{
    char message[TG_FILE_MESSAGE];
    model *to = model_new(r->model->plan), *from = r->model;
    tg_update_state kept = tg_optimizer_state(from->adamw);
    tg_training_state state = {
        .parameters = from->set, .update = &kept, .ema = from->ema, .rng = {&from->training}, .position = 2};
    ck_assert_msg(tg_training_state_save(&state, temporary_path("state.safetensors"), NULL, 0, message), "%s", message);
    for (int i = 0; i < tg_parameters_count(to->set); i++)
        tg_parameter_fill(tg_parameters_at(to->set, i), 0.5);
    kept = tg_optimizer_state(to->adamw);
    state = (tg_training_state){.parameters = to->set, .update = &kept, .ema = to->ema, .rng = {&to->training}};
    ck_assert_msg(tg_training_state_load(&state, temporary_path("state.safetensors"), message), "%s", message);
    ck_assert(tg_optimizer_restore(to->adamw, state.update));
    ck_assert_int_eq(state.position, 2);
    tg_tape_free(r->tape); /* its tensors point into the old model */
    r->tape = tg_tape_new();
    model_free(from);
    r->model = to;
}

static unsigned char *copy_of(tg_parameters *set, size_t *bytes)
{
    *bytes = (size_t)tg_parameters_size(set) * tg_dtype_size(tg_parameters_dtype(set));
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
        if (step > 0 && w->replays) {
            o.refused = !tg_replay(r.tape);
            if (o.refused)
                break;
        } else
            o.loss[step] = pass(&r);
        ck_assert_msg(tg_optimizer_step(r.model->adamw), "%s: %s", w->name, tg_optimizer_error(r.model->adamw));
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
    static char text[400];
    int length =
        snprintf(text, sizeof text, "%s, %d images in %d parts:", tg_dtype_name(p->dtype), p->images, p->parts);
    for (int i = 0; i < p->count; i++)
        length +=
            snprintf(text + length, sizeof text - (size_t)length, " %s(%d)", kind_names[p->kind[i]], p->number[i]);
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
    const int models = getenv("TG_LONG") ? 1000 : 24, large = 8;
    const int threads = tg_threads();
    tg_rng choices = tg_rng_seed(getenv("TG_LONG") ? 2 : 1);
    int replayed = 0, refused = 0;
    for (int i = 0; i < models; i++) {
        const plan p = draw(&choices, i % large == 0);
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
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
    tcase_add_test(tests, random_models_come_to_the_same_numbers_however_they_are_trained);
    suite_add_tcase(suite, tests);
    return suite;
}
