/* Divides the second half of a step among processes, if their number P is a power of two and each has the same number
 * of shards, a power of two:
 *
 *     1. Each adds up the gradients of its own shards: a subtree of the tree of shards.c.
 *     2. In round k a process and the one whose number differs in bit k halve what they still add up: each sends the
 *        sums of the other's half, and adds what it gets to its own. Round k makes the nodes of the tree's level k, so
 *        the sums have the same bits. After the last round a process has the whole sum of 1/P of each parameter.
 *     3. It computes the optimiser's step for these parts, with the norm of the whole gradient.
 *     4. The same rounds in reverse order give every process all parameters.
 *
 * For any P a process sends twice the bytes of the parameters, and keeps only 1/P of the optimiser's state up to date,
 * until the whole state is needed. This is the reduce-scatter by recursive halving of Thakur, Rabenseifner and Gropp
 * (Optimization of collective communication operations in MPICH, 2005), and ZeRO's first stage (Rajbhandari et al.,
 * arXiv 1910.02054). */
#include "nn/fit/fit_internal.h"

#include "optim/optimizer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 1 << 15 }; /* parameters of fewer bytes are sent together */

static bool is_power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

bool tg_fit_spreads(const tg_fit *fit)
{
    const tg_communicator *c = fit->config.communicator;
    double unused[TG_PARTS];
    return c && tg_optimizer_has_parts(fit->config.optimizer) && c->size > 1 && c->size <= TG_PARTS &&
           is_power_of_two(c->size) && fit->config.shards % c->size == 0 &&
           is_power_of_two(fit->config.shards / c->size) &&
           tg_parameters_gradient_squares(fit->parameters, 0, 0, unused);
}

/* ---- exchange ---- */

/* Room for received bytes: the second half of fit->packed. */
static char *inbox(const tg_fit *fit)
{
    return fit->packed + tg_parameters_bytes(fit->parameters);
}

static bool send_and_receive(const tg_communicator *c, int with, const void *sent, size_t sent_size, void *received,
                             size_t received_size)
{
    if (c->rank < with)
        return c->send(c->context, with, sent, sent_size) && c->receive(c->context, with, received, received_size);
    return c->receive(c->context, with, received, received_size) && c->send(c->context, with, sent, sent_size);
}

/* Stores what it receives or, unless `add` is NULL, adds it. */
static bool exchange(tg_fit *fit, int with, const void *sent, size_t sent_size, void *received, size_t received_size,
                     tg_fit_add *add)
{
    const tg_communicator *c = fit->config.communicator;
    bool fine;
    if (c->exchange) {
        fine = c->exchange(c->context, with, sent, sent_size, received, received_size, add);
    } else {
        fine = send_and_receive(c, with, sent, sent_size, add ? inbox(fit) : received, received_size);
        if (fine && add)
            add(received, inbox(fit), received_size);
    }
    return fine || tg_fit_lost(fit);
}

/* The parts that a process still has after `round` rounds. */
typedef struct parts {
    int first, count;
} parts;

static parts parts_after(int rank, int round)
{
    parts p = {0, TG_PARTS};
    for (int k = 0; k < round; k++) {
        p.count /= 2;
        p.first += (rank >> k & 1) * p.count;
    }
    return p;
}

/* The range of these parts of a parameter in a block that is laid out like the set's values. */
typedef struct piece {
    size_t begin, size; /* bytes */
} piece;

static piece piece_of(const tg_fit *fit, const tg_parameter *p, parts which)
{
    int64_t begin, end;
    tg_parameter_part(p, which.first, which.count, &begin, &end);
    const size_t element = tg_dtype_size(p->dtype);
    return (piece){tg_parameter_offset(fit->parameters, p) + (size_t)begin * element, (size_t)(end - begin) * element};
}

static bool is_small(const tg_parameter *p)
{
    return (size_t)tg_shape_size(&p->shape) * tg_dtype_size(p->dtype) < SMALL;
}

typedef enum transfer { PACK, UNPACK, ADD } transfer;

/* Copies these parts of the small parameters or, with `moved`, of the statistics that layers changed, from a block into
 * one contiguous piece; or copies that back, or adds it. Returns its size. */
static size_t pack(const tg_fit *fit, bool moved, parts which, char *block, char *packed, transfer how)
{
    size_t size = 0;
    for (int i = 0; i < tg_parameters_count(fit->parameters); i++) {
        const tg_parameter *p = tg_parameters_at(fit->parameters, i);
        const piece at = piece_of(fit, p, which);
        char *here = block + at.begin, *there = packed + size;
        if (moved == (p->gradient != NULL) || (!moved && !is_small(p)))
            continue;
        if (how == ADD)
            tg_fit_adder(p->dtype)(here, there, at.size);
        else
            memcpy(how == PACK ? there : here, how == PACK ? here : there, at.size);
        size += at.size;
    }
    return size;
}

/* Sends some parts of a block, and stores or adds other ones. */
static bool swap_parts(tg_fit *fit, int with, parts sent, parts received, char *block, tg_fit_add *add)
{
    size_t size = 0;
    for (int i = 0; i < tg_parameters_count(fit->parameters); i++) {
        const tg_parameter *p = tg_parameters_at(fit->parameters, i);
        const piece out = piece_of(fit, p, sent), in = piece_of(fit, p, received);
        if (!p->gradient)
            continue;
        if (is_small(p))
            size += in.size;
        else if (!exchange(fit, with, block + out.begin, out.size, block + in.begin, in.size, add))
            return false;
    }
    const size_t out = pack(fit, false, sent, block, fit->packed, PACK);
    if (!exchange(fit, with, fit->packed, out, inbox(fit), size, NULL))
        return false;
    pack(fit, false, received, block, inbox(fit), add ? ADD : UNPACK);
    return true;
}

static int rounds(const tg_fit *fit)
{
    int count = 0;
    while (1 << count < fit->config.communicator->size)
        count++;
    return count;
}

/* Sums the blocks of all processes, so that each process has its parts of the sum; or, with `gathers`, gives all of a
 * block to every process, of which each has its parts. */
static bool exchange_block(tg_fit *fit, char *block, bool gathers)
{
    const int rank = fit->config.communicator->rank, count = rounds(fit);
    tg_fit_add *add = gathers ? NULL : tg_fit_adder(tg_parameters_dtype(fit->parameters));
    for (int i = 0; i < count; i++) {
        const int k = gathers ? count - 1 - i : i, with = rank ^ 1 << k;
        const parts own = parts_after(rank, k + 1), other = parts_after(with, k + 1);
        if (!swap_parts(fit, with, gathers ? own : other, gathers ? other : own, block, add))
            return false;
    }
    return true;
}

bool tg_fit_add_up(tg_fit *fit, double *numbers, int count)
{
    double theirs[TG_PARTS];
    for (int k = 0; k < rounds(fit); k++) {
        const size_t size = (size_t)count * sizeof *numbers;
        if (!exchange(fit, fit->config.communicator->rank ^ 1 << k, numbers, size, theirs, size, NULL))
            return false;
        for (int i = 0; i < count; i++)
            numbers[i] += theirs[i];
    }
    return true;
}

static bool add_up_moved(tg_fit *fit, char *block)
{
    const parts all = {0, TG_PARTS};
    for (int k = 0; k < rounds(fit); k++) {
        const size_t size = pack(fit, true, all, block, fit->packed, PACK);
        if (size > 0 &&
            !exchange(fit, fit->config.communicator->rank ^ 1 << k, fit->packed, size, inbox(fit), size, NULL))
            return false;
        pack(fit, true, all, block, inbox(fit), ADD);
    }
    return true;
}

/* ---- the step ---- */

bool tg_fit_spread_sums(tg_fit *fit, tg_fit_sums *sums, char *moved, char *block)
{
    if (!tg_fit_add_up(fit, (double *)sums, sizeof *sums / sizeof(double)))
        return false;
    return sums->failed > 0 || sums->stops > 0 || !(sums->reached > 0) ||
           (add_up_moved(fit, moved) && exchange_block(fit, block, false));
}

bool tg_fit_spread_update(tg_fit *fit)
{
    tg_parameters *set = fit->parameters;
    const parts own = parts_after(fit->config.communicator->rank, rounds(fit));
    double squares[TG_PARTS] = {0}, sum = 0;
    tg_parameters_gradient_squares(set, own.first, own.count, squares);
    if (!tg_fit_add_up(fit, squares, TG_PARTS)) /* each is a sum with zeros */
        return false;
    for (int part = 0; part < TG_PARTS; part++)
        sum += squares[part];
    if (tg_optimizer_step_parts(fit->config.optimizer, sqrt(sum), own.first, own.count)) {
        fit->state_is_spread = true;
        const bool fine = exchange_block(fit, tg_parameters_values(set), true);
        tg_parameters_changed(set);
        return fine;
    }
    return false;
}

bool tg_fit_gather_state(tg_fit *fit)
{
    const tg_update_state state = tg_optimizer_state(fit->config.optimizer);
    bool fine = true;
    for (int k = 0; k < state.states && fit->state_is_spread && fine; k++)
        fine = exchange_block(fit, state.state[k], true);
    fit->state_is_spread = false;
    return fine;
}
