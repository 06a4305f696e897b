/* A step as the sum of shards: each shard of the rows has its own gradient, and gradients are added in a tree that
 * depends on their number alone,
 *
 *     5 shards        ((0 + 1) + (2 + 3)) + 4
 *
 * so that the sum has the same bytes on any number of processes. A process has neighbouring shards. The process of a
 * node's first shard adds up the node; the process of the right half sends it its sum. Process 0 has the root, and
 * sends the result to all.
 *
 * State that a layer updates itself, such as running statistics, is handled likewise: each shard begins with the state
 * at the start of the step, and the mean of the changes is applied. */
#include "nn/fit/fit_internal.h"

#include <stdlib.h>
#include <string.h>

/* A node: sums of the step, followed by gradients, or changes, laid out like the set's values. */
static size_t node_bytes(const tg_fit *fit)
{
    return (sizeof(tg_fit_sums) + tg_parameters_bytes(fit->parameters) + 63) / 64 * 64;
}

static tg_fit_sums *sums_of(const tg_fit *fit, int level)
{
    return (tg_fit_sums *)(void *)(fit->nodes + (size_t)level * node_bytes(fit));
}

static char *numbers_of(const tg_fit *fit, int level)
{
    return (char *)(sums_of(fit, level) + 1);
}

bool tg_fit_shards_init(tg_fit *fit)
{
    int levels = 2;
    for (int64_t shards = fit->config.shards; shards > 1; shards = (shards + 1) / 2)
        levels++;
    fit->nodes = calloc((size_t)levels, node_bytes(fit));
    fit->moved = malloc(tg_parameters_bytes(fit->parameters) + 1);
    fit->spreads = tg_fit_spreads(fit);
    fit->packed = fit->spreads ? malloc(2 * tg_parameters_bytes(fit->parameters)) : NULL;
    return fit->nodes && fit->moved && (fit->packed || !fit->spreads);
}

/* ---- statistics that layers change ---- */

static size_t bytes_of(const tg_parameter *p)
{
    return (size_t)tg_shape_size(&p->shape) * tg_dtype_size(p->dtype);
}

/* Copies the parameters without a gradient to a block, or back. */
static void copy_moved(tg_fit *fit, bool back)
{
    for (int i = 0; i < tg_parameters_count(fit->parameters); i++) {
        tg_parameter *p = tg_parameters_at(fit->parameters, i);
        char *kept = fit->moved + tg_parameter_offset(fit->parameters, p);
        if (p->gradient)
            continue;
        memcpy(back ? p->data : kept, back ? kept : p->data, bytes_of(p));
        if (back)
            tg_parameter_changed(p);
    }
}

#define DEFINE(type, suffix)                                                                                \
    static void add_##suffix(void *sum, const void *numbers, size_t size)                                   \
    {                                                                                                       \
        for (size_t i = 0; i < size / sizeof(type); i++)                                                    \
            ((type *)sum)[i] += ((const type *)numbers)[i];                                                 \
    }                                                                                                       \
    static void change_##suffix(size_t count, const void *now, const void *before, double share, void *to)  \
    {                                                                                                       \
        for (size_t i = 0; i < count; i++)                                                                  \
            ((type *)to)[i] = (type)(share * ((double)((const type *)now)[i] - ((const type *)before)[i])); \
    }
DEFINE(float, f32)
DEFINE(double, f64)
#undef DEFINE

tg_fit_add *tg_fit_adder(tg_dtype dtype)
{
    return dtype == TG_F32 ? add_f32 : add_f64;
}

/* ---- one shard ---- */

/* True if this process has one shard, whose sum other processes add up. */
static bool has_one_shard(const tg_fit *fit)
{
    return fit->is_spread && fit->split.shards == fit->config.communicator->size;
}

/* Turns the gradient and the changes of a shard, which are in the parameters, into a node. */
static void take_leaf(tg_fit *fit, int level, double share)
{
    char *numbers = numbers_of(fit, level);
    if (!has_one_shard(fit)) /* which is already in its place */
        memcpy(numbers, tg_parameters_gradients(fit->parameters), tg_parameters_bytes(fit->parameters));
    for (int i = 0; i < tg_parameters_count(fit->parameters); i++) {
        const tg_parameter *p = tg_parameters_at(fit->parameters, i);
        const size_t at = tg_parameter_offset(fit->parameters, p), count = (size_t)tg_shape_size(&p->shape);
        if (!p->gradient)
            (p->dtype == TG_F32 ? change_f32 : change_f64)(count, p->data, fit->moved + at, share, numbers + at);
    }
}

/* The number of shards that have rows of this pass, whose last rows may be too few for all. */
static int64_t shards_of_pass(const tg_fit *fit, int64_t rows)
{
    const int64_t least = fit->config.least_rows, most = rows / least;
    if (least == 1 || most >= fit->split.shards) /* a shard may have no rows */
        return fit->split.shards;
    return most > 0 ? most : 1;
}

/* Computes the gradients of a shard of the step; returns its share of the rows. */
static double run_shard(tg_fit *fit, int64_t shard, tg_fit_sums *sums)
{
    const tg_fit_split *split = &fit->split;
    double share = 0;
    *sums = (tg_fit_sums){.stops = fit->wants_stop && shard == split->first};
    tg_parameters_clear_gradients(fit->parameters); /* also those from backward passes outside the run */
    for (int64_t number = 0, done = 0; done < split->rows && !fit->error.text[0]; number++) {
        const int64_t all = split->rows - done < fit->config.batch ? split->rows - done : fit->config.batch,
                      shards = shards_of_pass(fit, all), first = all * shard / shards,
                      count = shard < shards ? all * (shard + 1) / shards - first : 0;
        if (count > 0) {
            const double part = (double)count / (double)split->rows,
                         loss = tg_fit_pass(fit, number, shard, split->first_row + done + first, count, part);
            sums->loss += loss * part;
            sums->rows_loss += loss * (double)count;
            share += part;
        }
        done += all;
    }
    sums->failed = fit->error.text[0] != 0;
    sums->diverged = fit->diverged;
    sums->reached = tg_parameters_have_gradient(fit->parameters);
    return share;
}

/* ---- the tree ---- */

/* Shares the shards evenly among the processes; if there are too few, the last processes have none. */
static int owner_of(const tg_fit *fit, int64_t shard)
{
    const int64_t size = fit->config.communicator ? fit->config.communicator->size : 1, shards = fit->split.shards;
    return (int)(((shard + 1) * (size < shards ? size : shards) - 1) / shards);
}

bool tg_fit_lost(tg_fit *fit)
{
    if (!fit->error.text[0])
        fit->failed_at = TG_FIT_LOST;
    return tg_fail_first(&fit->error, "training: another process cannot be reached");
}

static bool exchange(tg_fit *fit, bool sends, int with, int level)
{
    const tg_communicator *c = fit->config.communicator;
    void *node = sums_of(fit, level);
    return (sends ? c->send(c->context, with, node, node_bytes(fit))
                  : c->receive(c->context, with, node, node_bytes(fit))) ||
           tg_fit_lost(fit);
}

static void add_node(tg_fit *fit, int level)
{
    double *to = (double *)sums_of(fit, level);
    const double *more = (const double *)sums_of(fit, level + 1);
    for (size_t i = 0; i < sizeof(tg_fit_sums) / sizeof *to; i++)
        to[i] += more[i];
    tg_fit_adder(tg_parameters_dtype(fit->parameters))(numbers_of(fit, level), numbers_of(fit, level + 1),
                                                       tg_parameters_bytes(fit->parameters));
}

/* The sum of shards first .. end - 1, restricted to those of this process. */
static bool make_node(tg_fit *fit, int64_t first, int64_t end, int level)
{
    const int own = fit->config.communicator ? fit->config.communicator->rank : 0, owner = owner_of(fit, first);
    if (own < owner || own > owner_of(fit, end - 1))
        return true;
    if (end - first == 1) {
        copy_moved(fit, true);
        take_leaf(fit, level, run_shard(fit, first, sums_of(fit, level)));
        return true;
    }
    int64_t left = 1;
    while (2 * left < end - first)
        left *= 2;
    const int other = owner_of(fit, first + left);
    if (!make_node(fit, first, first + left, level) || !make_node(fit, first + left, end, level + 1))
        return false;
    if (own == other && own != owner)
        return exchange(fit, true, owner, level + 1);
    if (own != owner)
        return true;
    if (own != other && !exchange(fit, false, other, level + 1))
        return false;
    add_node(fit, level);
    return true;
}

/* Broadcasts from process 0 to all, in rounds that each double the number of processes that have the data. */
static bool hand_round(tg_fit *fit)
{
    const tg_communicator *c = fit->config.communicator;
    bool fine = true;
    for (int have = 1; c && fine && have < c->size; have *= 2) {
        if (c->rank < have && c->rank + have < c->size)
            fine = exchange(fit, true, c->rank + have, 0);
        else if (c->rank >= have && c->rank < 2 * have)
            fine = exchange(fit, false, c->rank - have, 0);
    }
    return fine;
}

/* The same if processes share the sums: computes this process's subtree, and then its parts of the root. */
static bool make_own_node(tg_fit *fit)
{
    const int64_t count = fit->split.shards / fit->config.communicator->size, first = fit->split.first;
    if (!make_node(fit, first, first + count, 0))
        return false;
    char *block = has_one_shard(fit) ? tg_parameters_gradients(fit->parameters) : numbers_of(fit, 0);
    return tg_fit_spread_sums(fit, sums_of(fit, 0), numbers_of(fit, 0), block);
}

/* Adds up all shards on all processes; false if one cannot be reached. */
static bool add_shards(tg_fit *fit, tg_fit_sums *sums)
{
    const int own = fit->config.communicator ? fit->config.communicator->rank : 0;
    const int64_t shards = fit->split.shards;
    while (fit->split.first < shards && owner_of(fit, fit->split.first) != own)
        fit->split.first++;
    fit->is_spread = fit->spreads && shards == fit->config.shards;
    if (!fit->is_spread && !tg_fit_gather_state(fit))
        return false;
    copy_moved(fit, false);
    if (!(fit->is_spread ? make_own_node(fit) : make_node(fit, 0, shards, 0) && hand_round(fit)))
        return false;
    copy_moved(fit, true);
    if (!fit->is_spread)
        tg_parameters_clear_gradients(fit->parameters);
    *sums = *sums_of(fit, 0);
    return true;
}

/* Puts the sum of all shards into the parameters. */
static void take_root(tg_fit *fit)
{
    const char *numbers = numbers_of(fit, 0);
    if (!has_one_shard(fit))
        memcpy(tg_parameters_gradients(fit->parameters), numbers, tg_parameters_bytes(fit->parameters));
    for (int i = 0; i < tg_parameters_count(fit->parameters); i++) {
        tg_parameter *p = tg_parameters_at(fit->parameters, i);
        if (p->gradient)
            continue;
        tg_fit_adder(p->dtype)(p->data, numbers + tg_parameter_offset(fit->parameters, p), bytes_of(p));
        tg_parameter_changed(p);
    }
}

bool tg_fit_shards_step(tg_fit *fit, int64_t first, int64_t rows, tg_fit_sums *sums)
{
    const int64_t most = rows / fit->config.least_rows, wanted = fit->config.shards;
    fit->split = (tg_fit_split){.first_row = first, .rows = rows};
    fit->split.shards = wanted <= most ? wanted : most > 0 ? most : 1;
    if (!fit->nodes)
        run_shard(fit, 0, sums);
    else if (!add_shards(fit, sums))
        return false;
    if (sums->failed > 0 && !fit->error.text[0]) {
        fit->diverged = sums->diverged > 0;
        fit->failed_at = fit->diverged ? TG_FIT_HERE : TG_FIT_ELSEWHERE;
        tg_fail_first(&fit->error, "epoch %lld: %s", (long long)(fit->step / fit->steps_of_epoch) + 1,
                      fit->diverged ? tg_fit_divergence(fit) : "another process failed");
    }
    if (fit->error.text[0] || sums->stops > 0 || !(sums->reached > 0)) {
        tg_parameters_clear_gradients(fit->parameters);
        return !fit->error.text[0];
    }
    if (fit->nodes)
        take_root(fit);
    return true;
}
