/* Arrays of random numbers. */
#include "autograd/rng.h"

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"

typedef struct filling {
    tg_dtype dtype;
    bool normal;
    uint32_t stream[4];
    double first, second; /* low and high, or mean and deviation */
    char *to;
} filling;

/* A tg_parallel_part. */
static void fill_some(void *context, size_t first, size_t count)
{
    const filling *f = context;
    char *to = f->to + first * tg_dtype_size(f->dtype);
    if (f->normal)
        TG_KERNEL_CALL(f->dtype, normal_fill, first, count, f->stream, f->first, f->second, to);
    else
        TG_KERNEL_CALL(f->dtype, uniform_fill, first, count, f->stream, f->first, f->second, to);
}

static void fill(tg_rng *rng, size_t count, filling *f)
{
    enum { WORTH_SHARING = 1 << 14 };
    tg_rng_draw_stream(rng, f->stream);
    if (f->to && count > 0 && (f->dtype == TG_F32 || f->dtype == TG_F64))
        tg_parallel(count, WORTH_SHARING, TG_LINE, fill_some, f);
}

void tg_rng_fill_uniform(tg_rng *rng, tg_dtype dtype, size_t count, double low, double high, void *to)
{
    fill(rng, count, &(filling){dtype, false, {0}, low, high, to});
}

void tg_rng_fill_normal(tg_rng *rng, tg_dtype dtype, size_t count, double mean, double deviation, void *to)
{
    fill(rng, count, &(filling){dtype, true, {0}, mean, deviation, to});
}
