#include "examples/programs/playground/internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if (p && which >= 0 && which < PLAYGROUND_NETS && p->nets[which].mlp)
        return &p->nets[which];
    playground_fail(p, "there is no such net");
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

/* Synthetic data sets of two classes in the plane. */
static const dataset_kind *data_at(int index)
{
    const dataset_kind *kind = NULL;
    for (size_t i = 0; index >= 0 && (kind = dataset_kind_at(i)); i++)
        if (kind->draw && kind->features == 2 && kind->classes == 2 && index-- == 0)
            return kind;
    return NULL;
}

const char *playground_name(playground_list list, int index)
{
    switch (list) {
    case PLAYGROUND_DATA:
        return data_at(index) ? data_at(index)->name : NULL;
    case PLAYGROUND_ACTIVATIONS:
        return tg_activation_name((tg_activation)index);
    case PLAYGROUND_OPTIMIZERS:
        return tg_optimizer_name((tg_optimizer_kind)index);
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

bool playground_draw(playground *p, int data, int count, int seed)
{
    const dataset_kind *kind = data_at(data);
    if (!p || !kind || count < 1 || count > PLAYGROUND_POINTS)
        return playground_fail(p, "there is no such data set, or it is too large");
    const tg_rng root = tg_rng_seed((uint64_t)seed), of_kind = tg_rng_stream(&root, kind->name);
    for (int i = 0; i < count; i++) { /* as examples/programs/data/generate.c */
        tg_rng rng = tg_rng_split(&of_kind, (uint64_t)i);
        p->labels[i] = i % 2;
        kind->draw(i % 2, kind->noise, &rng, p->points[i]);
    }
    p->count = count;
    return true;
}

void playground_clear(playground *p)
{
    if (p)
        p->count = 0;
}

bool playground_add(playground *p, double x, double y, int label)
{
    if (!p || p->count == PLAYGROUND_POINTS || !isfinite(x) || !isfinite(y) || label < 0 || label > 1)
        return playground_fail(p, "there are too many points, or this is none");
    p->points[p->count][0] = (float)x;
    p->points[p->count][1] = (float)y;
    p->labels[p->count++] = label;
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

const int32_t *playground_labels(const playground *p)
{
    return p ? p->labels : NULL;
}

double playground_reach(const playground *p)
{
    double reach = playground_count(p) > 0 ? 1 : 2;
    for (int i = 0; i < 2 * playground_count(p); i++)
        reach = fmax(reach, (floor(4 * fabs((double)p->points[i / 2][i % 2])) + 1) / 4);
    return reach;
}

tg_tensor playground_points_on(tg_tape *tape, const playground *p, int count)
{
    return tg_named(tg_borrow(tape, TG_F32, p->points, TG_SHAPE(count, 2)), "points");
}

tg_tensor playground_labels_on(tg_tape *tape, const playground *p, int count)
{
    return tg_named(tg_borrow(tape, TG_I32, p->labels, TG_SHAPE(count)), "labels");
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
    n->config = (tg_mlp_config){.inputs = 2, .outputs = 2, .activation = (tg_activation)activation};
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
    if (n->mlp && n->optimizer && n->tape)
        return true;
    free_net(n);
    return playground_fail(p, "out of memory");
}

double playground_train(playground *p, int which, int steps)
{
    playground_one *n = playground_one_at(p, which);
    double loss = NAN;
    for (int i = 0; n && i < steps; i++) {
        tg_tape_reset(n->tape);
        tg_tensor logits = tg_mlp_forward_with(n->mlp, playground_points_on(n->tape, p, p->count), &n->training, NULL);
        tg_tensor mean = tg_cross_entropy(logits, playground_labels_on(n->tape, p, p->count));
        if (!tg_backward(mean))
            return playground_fail_as(p, n->tape), NAN;
        loss = tg_item(mean);
        if (!tg_optimizer_step(n->optimizer))
            return playground_fail(p, tg_optimizer_error(n->optimizer)), NAN;
    }
    return loss;
}

tg_tensor playground_evaluate(playground *p, const playground_one *n, tg_mlp_trace *trace)
{
    tg_tape_reset(p->look);
    return tg_mlp_forward_with(n->mlp, playground_points_on(p->look, p, p->count), NULL, trace);
}

double playground_accuracy(playground *p, int which)
{
    const playground_one *n = playground_one_at(p, which);
    if (!n)
        return NAN;
    tg_tensor logits = playground_evaluate(p, n, NULL);
    const double accuracy = tg_accuracy(logits, playground_labels_on(p->look, p, p->count));
    return tg_tape_error(p->look) ? playground_fail_as(p, p->look), NAN : accuracy;
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
