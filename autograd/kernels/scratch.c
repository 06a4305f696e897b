#include "autograd/kernels/scratch.h"

#include "autograd/base/platform.h"

#include <pthread.h>
#include <stdbool.h>

static pthread_key_t key;
static bool has_key;

static void make_key(void)
{
    has_key = pthread_key_create(&key, tg_aligned_free) == 0;
}

static bool ready(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_key);
    return has_key;
}

void *tg_scratch_new(void)
{
    return ready() ? tg_aligned_new(64, TG_SCRATCH) : NULL;
}

void tg_scratch_own(void *memory)
{
    if (memory && pthread_setspecific(key, memory) != 0)
        tg_aligned_free(memory);
}

void *tg_scratch(void)
{
    void *memory = ready() ? pthread_getspecific(key) : NULL;
    if (memory || !has_key)
        return memory;
    tg_scratch_own(tg_scratch_new());
    return pthread_getspecific(key);
}
