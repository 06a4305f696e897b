#include "examples/programs/playground/internal.h"

#include "examples/programs/data/internal.h"

playground *playground_new(void)
{
    playground *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    p->look = tg_tape_new();
    p->step = tg_tape_new();
    if (p->look && p->step)
        return p;
    playground_free(p);
    return NULL;
}

static void free_net(playground_one *n)
{
    tg_optimizer_free(n->optimizer);
    tg_mlp_free(n->mlp);
    tg_tape_free(n->tape);
    *n = (playground_one){0};
}

void playground_free(playground *p)
{
    for (int i = 0; p && i < PLAYGROUND_NETS; i++)
        free_net(&p->nets[i]);
    if (p) {
        tg_tape_free(p->look);
        tg_tape_free(p->step);
        free(p->answer);
    }
    free(p);
}

const char *playground_error(const playground *p)
{
    return p && p->error[0] ? p->error : NULL;
}

bool playground_fail(playground *p, const char *why)
{
    if (p)
        snprintf(p->error, sizeof p->error, "%s", why ? why : "out of memory");
    return false;
}

bool playground_fail_as(playground *p, tg_tape *tape)
{
    playground_fail(p, tg_tape_error(tape));
    tg_tape_clear_error(tape);
    return false;
}

playground_one *playground_one_at(playground *p, int which)
{
    playground_one *n = p && which >= 0 && which < PLAYGROUND_NETS && p->nets[which].mlp ? &p->nets[which] : NULL;
    if (n && n->config.outputs == (p->regresses ? 1 : 2))
        return n;
    playground_fail(p, n ? "the net is for other points: make it again" : "there is no such net");
    return NULL;
}

void *playground_answer(playground *p, size_t count, size_t size)
{
    free(p->answer);
    p->answer = calloc(count + 1, size);
    if (!p->answer)
        playground_fail(p, NULL);
    return p->answer;
}

/* ---- lists ---- */

/* Synthetic data sets in the plane. */
static const dataset_kind *data_at(int index)
{
    const dataset_kind *kind = NULL;
    for (size_t i = 0; index >= 0 && (kind = dataset_kind_at(i)); i++)
        if (kind->draw && kind->features == 2 && kind->classes <= 2 && index-- == 0)
            return kind;
    return NULL;
}

static const char *const penalties[] = {"none", "L1", "L2"};
enum { NO_PENALTY, ABSOLUTES, SQUARES, PENALTIES };

const char *playground_name(playground_list list, int index)
{
    switch (list) {
    case PLAYGROUND_DATA:
        return data_at(index) ? data_at(index)->name : NULL;
    case PLAYGROUND_ACTIVATIONS:
        return tg_activation_name((tg_activation)index);
    case PLAYGROUND_OPTIMIZERS:
        return tg_optimizer_name((tg_optimizer_kind)index);
    case PLAYGROUND_PENALTIES:
        return index >= 0 && index < PENALTIES ? penalties[index] : NULL;
    }
    return NULL;
}

const char *playground_formula(int activation)
{
    return tg_activation_formula((tg_activation)activation);
}

double playground_rate(int optimizer)
{
    return 1e-2 * tg_optimizer_rate_over_adamw((tg_optimizer_kind)optimizer);
}

/* ---- data ---- */

bool playground_is_test(const playground *p, int index)
{
    const int pair = index / 2; /* neighbours are of both classes */
    return p && (pair + 1) * p->held_out / 100 != pair * p->held_out / 100;
}

/* Lists training points, and those for testing after them; the nets begin an epoch. */
static void arrange(playground *p)
{
    for (int i = 0; i < PLAYGROUND_NETS; i++)
        p->nets[i].ordered = p->nets[i].at = 0;
    int listed = 0;
    for (int test = 0; test < 2; test++) {
        for (int i = 0; i < p->count; i++)
            if (playground_is_test(p, i) == (test == 1))
                p->rows[listed++] = i;
        p->trained = test == 0 ? listed : p->trained;
    }
}

double playground_noise(int data)
{
    return data_at(data) ? data_at(data)->noise : NAN;
}

bool playground_draw(playground *p, int data, int count, double noise, int seed)
{
    const dataset_kind *kind = data_at(data);
    if (!p || !kind || count < 1 || count > PLAYGROUND_POINTS || !(noise <= 1000))
        return playground_fail(p, "there is no such data set, or it is too large");
    const tg_rng root = tg_rng_seed((uint64_t)seed), of_kind = tg_rng_stream(&root, kind->name);
    for (int i = 0; i < count; i++) { /* as examples/programs/data/generate.c */
        tg_rng rng = tg_rng_split(&of_kind, (uint64_t)i);
        p->targets[i] = (float)kind->draw(i % 2, noise < 0 ? kind->noise : noise, &rng, p->points[i]);
    }
    p->count = count;
    p->regresses = kind->classes == 0;
    arrange(p);
    return true;
}

void playground_clear(playground *p)
{
    if (p) {
        p->count = p->trained = 0;
        p->regresses = false;
    }
}

bool playground_add(playground *p, double x, double y, int label)
{
    if (!p || p->count == PLAYGROUND_POINTS || !isfinite(x) || !isfinite(y) || label < 0 || label > 1)
        return playground_fail(p, "there are too many points, or this is none");
    if (p->regresses)
        return playground_fail(p, "these points have numbers, and this one has a class");
    p->points[p->count][0] = (float)x;
    p->points[p->count][1] = (float)y;
    p->targets[p->count++] = (float)label;
    arrange(p);
    return true;
}

bool playground_hold_out(playground *p, int percent)
{
    if (!p || percent < 0 || percent > 90)
        return playground_fail(p, "points for testing are 0 to 90 percent");
    p->held_out = percent;
    arrange(p);
    return true;
}

int playground_count(const playground *p)
{
    return p ? p->count : 0;
}

const float *playground_points(const playground *p)
{
    return p ? p->points[0] : NULL;
}

const float *playground_targets(const playground *p)
{
    return p ? p->targets : NULL;
}

bool playground_regresses(const playground *p)
{
    return p && p->regresses;
}

double playground_reach(const playground *p)
{
    double reach = playground_count(p) > 0 ? 1 : 2;
    for (int i = 0; i < 2 * playground_count(p); i++)
        reach = fmax(reach, (floor(4 * fabs((double)p->points[i / 2][i % 2])) + 1) / 4);
    return reach;
}

tg_tensor playground_points_on(tg_tape *tape, const playground *p, const int32_t *rows, int count, tg_dtype dtype)
{
    float single[PLAYGROUND_POINTS][2];
    double twice[PLAYGROUND_POINTS][2];
    for (int i = 0; i < 2 * count; i++) {
        const float number = p->points[rows ? rows[i / 2] : i / 2][i % 2];
        single[i / 2][i % 2] = number;
        twice[i / 2][i % 2] = (double)number;
    }
    return tg_named(tg_constant(tape, dtype, dtype == TG_F32 ? (void *)single : twice, TG_SHAPE(count, 2)), "points");
}

static tg_tensor labels_on(tg_tape *tape, const playground *p, const int32_t *rows, int count)
{
    int32_t labels[PLAYGROUND_POINTS];
    for (int i = 0; i < count; i++)
        labels[i] = (int32_t)p->targets[rows ? rows[i] : i];
    return tg_named(tg_constant(tape, TG_I32, labels, TG_SHAPE(count)), "labels");
}

tg_tensor playground_loss_on(const playground *p, tg_tensor outputs, const int32_t *rows, int count)
{
    float single[PLAYGROUND_POINTS];
    double twice[PLAYGROUND_POINTS];
    tg_tape *tape = tg_tape_of(outputs);
    const tg_dtype dtype = tg_dtype_of(outputs);
    if (!p->regresses)
        return tg_cross_entropy(outputs, labels_on(tape, p, rows, count));
    for (int i = 0; i < count; i++) {
        single[i] = p->targets[rows ? rows[i] : i];
        twice[i] = (double)single[i];
    }
    return tg_mse(
        outputs,
        tg_named(tg_constant(tape, dtype, dtype == TG_F32 ? (void *)single : twice, TG_SHAPE(count, 1)), "targets"));
}

/* ---- nets ---- */

bool playground_net(playground *p, int which, int activation, int depth, int width, int optimizer, double rate,
                    int seed)
{
    if (!p || which < 0 || which >= PLAYGROUND_NETS || depth < 0 || depth > PLAYGROUND_DEPTH || width < 1 ||
        width > PLAYGROUND_WIDTH)
        return playground_fail(p, "there is no such net, or it is too large");
    playground_one *n = &p->nets[which];
    free_net(n);
    const tg_rng rng = tg_rng_seed((uint64_t)seed);
    n->config = (tg_mlp_config){.inputs = 2, .outputs = p->regresses ? 1 : 2, .activation = (tg_activation)activation};
    for (int i = 0; i < depth; i++)
        n->config.hidden[i] = width;
    const tg_optimizer_config how = {.kind = (tg_optimizer_kind)optimizer, .lr = rate};
    const char *why = tg_mlp_config_error(&n->config);
    why = why ? why : tg_optimizer_config_error(&how);
    if (why)
        return playground_fail(p, why);
    n->mlp = tg_mlp_new(&rng, &n->config);
    n->optimizer = tg_optimizer_new(tg_mlp_parameters(n->mlp), &how);
    n->tape = tg_tape_new();
    n->training = tg_rng_stream(&rng, "training");
    n->batches = tg_rng_stream(&rng, "batches");
    if (n->mlp && n->optimizer && n->tape)
        return true;
    free_net(n);
    return playground_fail(p, "out of memory");
}

bool playground_way(playground *p, int which, int batch, int penalty, double strength)
{
    playground_one *n = playground_one_at(p, which);
    if (!n || batch < 0 || penalty < 0 || penalty >= PENALTIES || !(strength >= 0 && isfinite(strength)))
        return n ? playground_fail(p, "there is no such batch or penalty") : false;
    n->batch = batch;
    n->penalty = penalty;
    n->strength = strength;
    n->at = 0;
    return true;
}

const int32_t *playground_batch(const playground *p, playground_one *n, bool advance, int *count)
{
    *count = p->trained;
    if (n->batch == 0 || n->batch >= p->trained)
        return p->rows;
    if (n->at >= n->ordered) {
        memcpy(n->order, p->rows, (size_t)p->trained * sizeof *n->order);
        tg_rng_shuffle(&n->batches, (size_t)p->trained, n->order);
        n->ordered = p->trained;
        n->at = 0;
    }
    const int32_t *rows = n->order + n->at;
    *count = n->batch < n->ordered - n->at ? n->batch : n->ordered - n->at;
    n->at += advance ? *count : 0;
    return rows;
}

tg_tensor playground_objective(const playground_one *n, tg_tensor loss)
{
    tg_parameters *set = tg_mlp_parameters(n->mlp);
    for (int i = 0; n->penalty != NO_PENALTY && n->strength > 0 && i < tg_parameters_count(set); i++) {
        tg_parameter *parameter = tg_parameters_at(set, i);
        if (parameter->shape.rank < 2)
            continue;
        const tg_tensor w = tg_parameter_tensor(tg_tape_of(loss), parameter),
                        sum = tg_sum(n->penalty == ABSOLUTES ? tg_abs(w) : tg_square(w));
        loss = tg_add(loss, tg_mul_scalar(sum, n->penalty == ABSOLUTES ? n->strength : n->strength / 2));
    }
    return loss;
}

double playground_train(playground *p, int which, int steps)
{
    playground_one *n = playground_one_at(p, which);
    double value = NAN;
    for (int i = 0; n && i < steps; i++) {
        int count;
        const int32_t *rows = playground_batch(p, n, true, &count);
        tg_tape_reset(n->tape);
        const tg_tensor x = playground_points_on(n->tape, p, rows, count, TG_F32),
                        loss = playground_loss_on(p, tg_mlp_forward_with(n->mlp, x, &n->training, NULL), rows, count);
        if (!tg_backward(playground_objective(n, loss)))
            return playground_fail_as(p, n->tape), NAN;
        value = tg_item(loss);
        if (!tg_optimizer_step(n->optimizer))
            return playground_fail(p, tg_optimizer_error(n->optimizer)), NAN;
    }
    return value;
}

tg_tensor playground_evaluate(playground *p, const playground_one *n, tg_mlp_trace *trace)
{
    tg_tape_reset(p->look);
    return tg_mlp_forward_with(n->mlp, playground_points_on(p->look, p, NULL, p->count, TG_F32), NULL, trace);
}

/* The outputs of a net for training points, or for those for testing. */
static tg_tensor outputs_of(playground *p, const playground_one *n, bool test, const int32_t **rows, int *count)
{
    *rows = p->rows + (test ? p->trained : 0);
    *count = test ? p->count - p->trained : p->trained;
    tg_tape_reset(p->look);
    return tg_mlp_forward(n->mlp, playground_points_on(p->look, p, *rows, *count, TG_F32));
}

double playground_loss(playground *p, int which, bool test)
{
    const playground_one *n = playground_one_at(p, which);
    const int32_t *rows;
    int count;
    if (!n)
        return NAN;
    const tg_tensor outputs = outputs_of(p, n, test, &rows, &count);
    const double loss = tg_item(playground_loss_on(p, outputs, rows, count));
    return tg_tape_error(p->look) ? playground_fail_as(p, p->look), NAN : loss;
}

double playground_accuracy(playground *p, int which, bool test)
{
    const playground_one *n = playground_one_at(p, which);
    const int32_t *rows;
    int count;
    if (!n)
        return NAN;
    const tg_tensor outputs = outputs_of(p, n, test, &rows, &count);
    double result, sum = 0, squares = 0;
    if (p->regresses) {
        for (int i = 0; i < count; i++) {
            sum += (double)p->targets[rows[i]];
            squares += (double)p->targets[rows[i]] * (double)p->targets[rows[i]];
        }
        result = 1 - tg_item(playground_loss_on(p, outputs, rows, count)) * count / (squares - sum * sum / count);
    } else
        result = tg_accuracy(outputs, labels_on(p->look, p, rows, count));
    return tg_tape_error(p->look) ? playground_fail_as(p, p->look), NAN : result;
}

static const tg_mlp *mlp_at(const playground *p, int which)
{
    return p && which >= 0 && which < PLAYGROUND_NETS ? p->nets[which].mlp : NULL;
}

int playground_parameters(const playground *p, int which)
{
    return (int)tg_parameters_size(tg_mlp_parameters(mlp_at(p, which)));
}

int playground_width(const playground *p, int which, int layer)
{
    return (int)tg_mlp_width(mlp_at(p, which), layer);
}

int playground_units(const playground *p, int which)
{
    int units = 0;
    for (int layer = 0; playground_width(p, which, layer) > 0; layer++)
        units += playground_width(p, which, layer);
    return units;
}
