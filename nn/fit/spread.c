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
    return fine || tg_fail_first(&fit->error, "training: another process cannot be reached");
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

/* Copies these parts of the small parameters from a block into one contiguous piece; returns its size. */
static size_t pack(const tg_fit *fit, parts which, const char *block, char *packed)
{
    size_t size = 0;
    for (int i = 0; i < tg_parameters_count(fit->parameters); i++) {
        const tg_parameter *p = tg_parameters_at(fit->parameters, i);
        const piece at = piece_of(fit, p, which);
        if (!p->gradient || !is_small(p))
            continue;
        memcpy(packed + size, block + at.begin, at.size);
        size += at.size;
    }
    return size;
}

/* Copies them back, or adds them. */
static void unpack(const tg_fit *fit, parts which, char *block, const char *packed, tg_fit_add *add)
{
    for (int i = 0; i < tg_parameters_count(fit->parameters); i++) {
        const tg_parameter *p = tg_parameters_at(fit->parameters, i);
        const piece at = piece_of(fit, p, which);
        if (!p->gradient || !is_small(p))
            continue;
        if (add)
            add(block + at.begin, packed, at.size);
        else
            memcpy(block + at.begin, packed, at.size);
        packed += at.size;
    }
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
    if (!exchange(fit, with, fit->packed, pack(fit, sent, block, fit->packed), inbox(fit), size, NULL))
        return false;
    unpack(fit, received, block, inbox(fit), add);
    return true;
}

static int rounds(const tg_fit *fit)
{
    int count = 0;
    while (1 << count < fit->config.communicator->size)
        count++;
    return count;
}

/* Exchanges a block of which each process has its parts: afterwards every process has all of it. */
static bool gather(tg_fit *fit, char *block)
{
    const int rank = fit->config.communicator->rank;
    for (int k = rounds(fit) - 1; k >= 0; k--) {
        const int with = rank ^ 1 << k;
        if (!swap_parts(fit, with, parts_after(rank, k + 1), parts_after(with, k + 1), block, NULL))
            return false;
    }
    return true;
}

/* Sums the blocks of all processes; each process gets only its parts of the sum. */
static bool scatter_sums(tg_fit *fit, char *block)
{
    const int rank = fit->config.communicator->rank;
    tg_fit_add *add = tg_fit_adder(tg_parameters_dtype(fit->parameters));
    for (int k = 0; k < rounds(fit); k++) {
        const int with = rank ^ 1 << k;
        if (!swap_parts(fit, with, parts_after(with, k + 1), parts_after(rank, k + 1), block, add))
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

/* Packs the statistics that layers changed, which are in the block at the place of these parameters; or adds packed
 * ones to it. Returns their size. */
static size_t pack_moved(const tg_fit *fit, char *block, char *packed, bool adds)
{
    size_t size = 0;
    for (int i = 0; i < tg_parameters_count(fit->parameters); i++) {
        const tg_parameter *p = tg_parameters_at(fit->parameters, i);
        const size_t bytes = (size_t)tg_shape_size(&p->shape) * tg_dtype_size(p->dtype);
        char *moved = block + tg_parameter_offset(fit->parameters, p);
        if (p->gradient)
            continue;
        if (adds)
            tg_fit_adder(p->dtype)(moved, packed + size, bytes);
        else
            memcpy(packed + size, moved, bytes);
        size += bytes;
    }
    return size;
}

static bool add_up_moved(tg_fit *fit, char *block)
{
    for (int k = 0; k < rounds(fit); k++) {
        const size_t size = pack_moved(fit, block, fit->packed, false);
        if (size > 0 &&
            !exchange(fit, fit->config.communicator->rank ^ 1 << k, fit->packed, size, inbox(fit), size, NULL))
            return false;
        pack_moved(fit, block, inbox(fit), true);
    }
    return true;
}

/* ---- the step ---- */

bool tg_fit_spread_sums(tg_fit *fit, tg_fit_sums *sums, char *moved, char *block)
{
    if (!tg_fit_add_up(fit, (double *)sums, sizeof *sums / sizeof(double)))
        return false;
    return sums->failed > 0 || sums->stops > 0 || !(sums->reached > 0) ||
           (add_up_moved(fit, moved) && scatter_sums(fit, block));
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
        return gather(fit, tg_parameters_values(set));
    }
    return false;
}

bool tg_fit_gather_state(tg_fit *fit)
{
    const tg_update_state state = tg_optimizer_state(fit->config.optimizer);
    bool fine = true;
    for (int k = 0; k < state.states && fit->state_is_spread && fine; k++)
        fine = gather(fit, state.state[k]);
    fit->state_is_spread = false;
    return fine;
}
