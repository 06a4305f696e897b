#include "autograd/update.h"

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"
#include "autograd/tape/changes.h"

void tg_update_adamw(const tg_update *u)
{
    const tg_adam_settings *s = u->settings;
    TG_KERNEL_CALL(u->dtype, adamw, u->n, u->parameter, u->gradient, u->state[0], u->state[1], u->gradient_scale,
                   u->rate, s->beta1, s->beta2, s->epsilon, u->decay, s->correction1, s->correction2);
}

void tg_update_sgd(const tg_update *u)
{
    const tg_sgd_settings *s = u->settings;
    TG_KERNEL_CALL(u->dtype, sgd_momentum, u->n, u->parameter, u->gradient, u->state[0], u->gradient_scale, u->rate,
                   s->momentum, s->nesterov, u->decay);
}

typedef struct work {
    tg_parameters *set;
    tg_update_loop loop;
    const tg_update *step;
    const tg_update_factor *factors;
} work;

static bool alike(const work *w, int a, int b)
{
    const tg_update_factor *f = w->factors;
    return !f || (f[a].rate == f[b].rate && f[a].decay == f[b].decay);
}

/* The number of elements from parameter `first` on that are contiguous and updated alike; *next is the parameter after
 * them. Longer runs are faster: starting a loop costs more than a few elements. */
static size_t run_from(const work *w, int first, int *next)
{
    const tg_parameter *p = tg_parameters_at(w->set, first), *q = p;
    const size_t element = tg_dtype_size(p->dtype);
    size_t size = 0;
    *next = first;
    do {
        size += (size_t)tg_shape_size(&q->shape);
        q = tg_parameters_at(w->set, ++*next);
    } while (q && p->gradient && q->gradient == (char *)p->gradient + size * element && alike(w, first, *next));
    return size;
}

/* Updates `n` elements from number `begin` of parameter `index` on. */
static void update_run(const work *w, int index, size_t begin, size_t n)
{
    const tg_parameter *p = tg_parameters_at(w->set, index);
    const size_t skipped = begin * tg_dtype_size(p->dtype);
    tg_update u = *w->step;
    u.dtype = p->dtype;
    u.n = n;
    u.whole = u.scratch ? p : NULL;
    u.parameter = (char *)p->data + skipped;
    u.gradient = (char *)p->gradient + skipped;
    const size_t offset = (size_t)((char *)u.parameter - (char *)tg_parameters_values(w->set));
    for (int k = 0; k < TG_UPDATE_STATES; k++)
        u.state[k] = u.state[k] ? (char *)u.state[k] + offset : NULL;
    if (w->factors) {
        u.rate *= w->factors[index].rate;
        u.decay = w->factors[index].decay;
    }
    w->loop(&u);
}

/* Updates a range of chunks of every parameter, or, for all chunks, long runs. */
static void update_chunks(void *context, size_t first, size_t count)
{
    const work *w = context;
    for (int i = 0, next; i < tg_parameters_count(w->set); i = next) {
        const tg_parameter *p = tg_parameters_at(w->set, i);
        size_t size = (size_t)tg_shape_size(&p->shape);
        next = i + 1;
        if (count == TG_CHUNKS)
            size = run_from(w, i, &next);
        const size_t begin = tg_chunk_begin(size, first), end = tg_chunk_begin(size, first + count);
        if (p->gradient && begin < end)
            update_run(w, i, begin, end - begin);
    }
}

static void update_whole(const work *w)
{
    for (int i = 0; i < tg_parameters_count(w->set); i++) {
        const tg_parameter *p = tg_parameters_at(w->set, i);
        if (p->gradient)
            update_run(w, i, 0, (size_t)tg_shape_size(&p->shape));
    }
}

/* Not for those that keep their values: without a gradient, or frozen by their factors. */
static void note_changes(const work *w)
{
    const int64_t now = tg_next_change();
    const int count = tg_parameters_count(w->set);
    for (int i = 0; i < count; i++) {
        tg_parameter *p = tg_parameters_at(w->set, i);
        if (p->gradient && !(w->factors && w->factors[i].rate == 0 && w->factors[i].decay == 0))
            p->version = now;
    }
}

void tg_parameters_update_parts(tg_parameters *set, tg_update_loop loop, const tg_update *step,
                                const tg_update_factor *factors, int first, int count)
{
    enum { WORTH_SHARING = 1 << 14 }; /* elements for each thread */
    if (!set || !loop || !step || first < 0 || count < 0 || count > TG_PARTS - first)
        return;
    tg_parameters_gradients(set); /* zeros for parameters that no backward pass reached */
    work w = {set, loop, step, factors};
    if (!step->scratch)
        tg_parallel_chunks((size_t)first, (size_t)count, (size_t)tg_parameters_size(set), WORTH_SHARING, update_chunks,
                           &w);
    else if (count == TG_PARTS)
        update_whole(&w);
    note_changes(&w);
}

void tg_parameters_update(tg_parameters *set, tg_update_loop loop, const tg_update *step,
                          const tg_update_factor *factors)
{
    tg_parameters_update_parts(set, loop, step, factors, 0, TG_PARTS);
}
