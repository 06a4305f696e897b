#include "autograd/parameters.h"

#include "autograd/error.h"
#include "autograd/base/shape_internal.h"
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"
#include "autograd/tape/changes.h"

#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* A parameter with the data that only the set needs. */
typedef struct member {
    tg_parameter parameter; /* must be first: a set finds members by their parameters' names */
    int index;
    int64_t offset; /* offset of its first element in the blocks */
    int64_t size;
    char name[];
} member;

struct tg_parameters {
    tg_dtype dtype;
    member **members;
    int count, member_capacity;
    void *names; /* the members by name, a tree of <search.h> */
    char *values, *gradients;
    void *memory[128]; /* from calloc: earlier pairs of blocks, which tensors may still read, and the two now */
    int memory_count;
    int64_t size, capacity; /* in elements */
    tg_error error;         /* the first error; "" if there is none */
};

enum { ALIGNMENT = 64, FIRST_MEMBERS = 16, FIRST_ELEMENTS = 256 };

/* ---- life ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tg_parameter *)a)->name, ((const tg_parameter *)b)->name);
}

tg_parameters *tg_parameters_new(tg_dtype dtype)
{
    tg_parameters *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->dtype = dtype;
    if (!tg_dtype_is_floating(dtype))
        tg_fail(&set->error, "parameters are f32 or f64, not %s", tg_dtype_name(dtype));
    return set;
}

void tg_parameters_free(tg_parameters *set)
{
    if (!set)
        return;
    for (int i = 0; i < set->count; i++) {
        tdelete(set->members[i], &set->names, by_name);
        free(set->members[i]);
    }
    free(set->members);
    for (int i = 0; i < set->memory_count; i++)
        free(set->memory[i]);
    free(set);
}

const char *tg_parameters_error(const tg_parameters *set)
{
    if (!set)
        return "no parameters: the set is NULL, perhaps because of too little memory";
    return set->error.text[0] ? set->error.text : NULL;
}

/* ---- growing ---- */

static size_t bytes_of(const tg_parameters *set, int64_t elements)
{
    return (size_t)elements * tg_dtype_size(set->dtype);
}

/* The start of a block in its memory, aligned to a cache line. */
static char *block_in(void *memory)
{
    return (char *)(((uintptr_t)memory + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

/* Copies into memory that is all zeros; pages of zeros are left out, so that they take none. */
static void copy_to_zeros(char *to, const char *from, size_t bytes)
{
    static const char zeros[4096];
    for (size_t i = 0; i < bytes; i += sizeof zeros) {
        const size_t count = bytes - i < sizeof zeros ? bytes - i : sizeof zeros;
        if (memcmp(from + i, zeros, count) != 0)
            memcpy(to + i, from + i, count);
    }
}

static bool reserve_elements(tg_parameters *set, int64_t more)
{
    if (set->capacity && more <= set->capacity - set->size)
        return true;
    int64_t capacity = set->capacity ? set->capacity : FIRST_ELEMENTS;
    while (capacity - set->size < more) {
        if (capacity > INT64_MAX / 32) /* so that neither the bytes nor the next doubling overflow */
            return false;
        capacity *= 2;
    }
    /* Pages of zeros take no memory until they are written: room for later, and gradients before the first pass. */
    void **memory = &set->memory[set->memory_count];
    for (int i = 0; i < 2; i++)
        memory[i] = calloc(1, bytes_of(set, capacity) + ALIGNMENT);
    if (!memory[0] || !memory[1]) {
        free(memory[0]);
        free(memory[1]);
        return false;
    }
    char *values = block_in(memory[0]), *gradients = block_in(memory[1]);
    const size_t used = bytes_of(set, set->size);
    copy_to_zeros(values, set->values, used);
    if (tg_parameters_have_gradient(set))
        copy_to_zeros(gradients, set->gradients, used);
    for (int i = 0; i < set->count; i++) {
        member *m = set->members[i];
        m->parameter.data = values + bytes_of(set, m->offset);
        if (m->parameter.gradient)
            m->parameter.gradient = gradients + bytes_of(set, m->offset);
    }
    set->memory_count += 2; /* tensors of the current step may still read the old blocks */
    set->values = values;
    set->gradients = gradients;
    set->capacity = capacity;
    return true;
}

static bool reserve_member(tg_parameters *set)
{
    if (set->count < set->member_capacity)
        return true;
    const int capacity = set->member_capacity ? 2 * set->member_capacity : FIRST_MEMBERS;
    member **members = realloc(set->members, (size_t)capacity * sizeof(member *));
    if (!members)
        return false;
    set->members = members;
    set->member_capacity = capacity;
    return true;
}

static bool is_new_parameter(tg_parameters *set, const char *name, const tg_shape *shape)
{
    char text[128];
    if (!name || !*name)
        return tg_fail(&set->error, "a parameter needs a name");
    if (strlen(name) >= TG_NAME_SIZE)
        return tg_fail(&set->error, "parameter %.40s...: a name has fewer than %d characters", name, TG_NAME_SIZE);
    if (tg_parameters_find(set, name))
        return tg_fail(&set->error, "there is a parameter named %s already", name);
    if (shape->rank < 0 || shape->rank > TG_MAX_RANK)
        return tg_fail(&set->error, "parameter %s: a shape has 0 to %d axes, not %d", name, TG_MAX_RANK, shape->rank);
    return tg_shape_size(shape) >= 0 ||
           tg_fail(&set->error, "parameter %s: %s is no shape", name, tg_shape_text(shape, text, sizeof text));
}

tg_parameter *tg_parameters_add(tg_parameters *set, const char *name, tg_shape shape, bool decay)
{
    if (!set || set->error.text[0] || !is_new_parameter(set, name, &shape))
        return NULL;
    char text[128];
    const int64_t size = tg_shape_size(&shape);
    member *m = reserve_member(set) && reserve_elements(set, size) ? calloc(1, sizeof *m + strlen(name) + 1) : NULL;
    if (m) {
        const int64_t now = tg_next_change();
        strcpy(m->name, name);
        m->index = set->count;
        m->offset = set->size;
        m->size = size;
        m->parameter = (tg_parameter){.name = m->name,
                                      .dtype = set->dtype,
                                      .shape = shape,
                                      .decay = decay,
                                      .data = set->values + bytes_of(set, m->offset),
                                      .gradient = set->gradients + bytes_of(set, m->offset),
                                      .version = now,
                                      .made = now};
    }
    if (!m || !tsearch(m, &set->names, by_name)) {
        free(m);
        tg_fail(&set->error, "out of memory for parameter %s %s", name, tg_shape_text(&shape, text, sizeof text));
        return NULL;
    }
    set->members[set->count++] = m;
    set->size += size;
    return &m->parameter;
}

/* ---- reading ---- */

int tg_parameters_count(const tg_parameters *set)
{
    return set ? set->count : 0;
}

tg_parameter *tg_parameters_at(const tg_parameters *set, int index)
{
    return set && index >= 0 && index < set->count ? &set->members[index]->parameter : NULL;
}

int tg_parameters_index(const tg_parameters *set, const char *name)
{
    const tg_parameter *parameter = tg_parameters_find(set, name);
    return parameter ? ((const member *)parameter)->index : -1;
}

tg_parameter *tg_parameters_find(const tg_parameters *set, const char *name)
{
    const tg_parameter wanted = {.name = name};
    member *const *found = set && name ? tfind(&wanted, &set->names, by_name) : NULL;
    return found ? &(*found)->parameter : NULL;
}

tg_dtype tg_parameters_dtype(const tg_parameters *set)
{
    return set ? set->dtype : TG_F32;
}

int64_t tg_parameters_size(const tg_parameters *set)
{
    return set ? set->size : 0;
}

size_t tg_parameters_bytes(const tg_parameters *set)
{
    return set ? bytes_of(set, set->size) : 0;
}

size_t tg_parameter_offset(const tg_parameters *set, const tg_parameter *parameter)
{
    return set && parameter ? (size_t)((const char *)parameter->data - set->values) : 0;
}

void *tg_parameters_values(const tg_parameters *set)
{
    return set ? set->values : NULL;
}

/* ---- numbers ---- */

static int64_t size_of(const tg_parameter *parameter)
{
    return parameter && parameter->data ? tg_shape_size(&parameter->shape) : 0;
}

double tg_parameter_get(const tg_parameter *parameter, int64_t index)
{
    if (index < 0 || index >= size_of(parameter))
        return NAN;
    return tg_element(parameter->dtype, parameter->data, index);
}

void tg_parameter_put(tg_parameter *parameter, int64_t index, double value)
{
    if (index < 0 || index >= size_of(parameter))
        return;
    tg_set_element(parameter->dtype, parameter->data, index, value);
    tg_parameter_changed(parameter);
}

void tg_parameter_fill(tg_parameter *parameter, double value)
{
    for (int64_t i = 0; i < size_of(parameter); i++)
        tg_set_element(parameter->dtype, parameter->data, i, value);
    tg_parameter_changed(parameter);
}

void tg_parameter_fill_normal(tg_parameter *parameter, double deviation, tg_rng *rng)
{
    tg_rng_fill_normal(rng, parameter ? parameter->dtype : TG_F32, (size_t)size_of(parameter), 0, deviation,
                       parameter ? parameter->data : NULL);
    tg_parameter_changed(parameter);
}

void tg_parameters_changed(tg_parameters *set)
{
    const int64_t now = tg_next_change();
    for (int i = 0; set && i < set->count; i++)
        set->members[i]->parameter.version = now;
}

/* ---- gradients ---- */

/* The gradient of member number i, or NULL if it has none. */
static const void *gradient_of(const tg_parameters *set, int i)
{
    const tg_parameter *parameter = &set->members[i]->parameter;
    return parameter->has_gradient ? parameter->gradient : NULL;
}

void *tg_parameters_gradients(tg_parameters *set)
{
    if (!set)
        return NULL;
    for (int i = 0; i < set->count; i++) {
        member *m = set->members[i];
        if (!gradient_of(set, i))
            memset(set->gradients + bytes_of(set, m->offset), 0, bytes_of(set, m->size));
        m->parameter.has_gradient = m->parameter.gradient != NULL;
    }
    return set->gradients;
}

bool tg_parameters_have_gradient(const tg_parameters *set)
{
    for (int i = 0; set && i < set->count; i++)
        if (gradient_of(set, i))
            return true;
    return false;
}

void tg_parameter_part(const tg_parameter *parameter, int first, int count, int64_t *begin, int64_t *end)
{
    const size_t size = (size_t)size_of(parameter);
    *begin = (int64_t)tg_chunk_begin(size, (size_t)first);
    *end = (int64_t)tg_chunk_begin(size, (size_t)(first + count));
}

/* Sums of squares of gradients, one for each part, added in the same order on any number of threads. */
typedef struct squares {
    const tg_parameters *set;
    double *sum; /* [TG_PARTS] */
} squares;
_Static_assert((int)TG_PARTS == (int)TG_CHUNKS, "what processes and threads share out is cut alike");

static double squares_of(const tg_parameters *set, const char *gradient, size_t begin, size_t end)
{
    double sum = 0;
    if (begin < end)
        TG_KERNEL_CALL(set->dtype, sum_of_squares, end - begin,
                       (const void *)(gradient + bytes_of(set, (int64_t)begin)), &sum);
    return sum;
}

static void square_chunks(void *context, size_t first, size_t count)
{
    const squares *s = context;
    for (size_t chunk = first; chunk < first + count; chunk++) {
        s->sum[chunk] = 0;
        for (int i = 0; i < s->set->count; i++) {
            const char *gradient = gradient_of(s->set, i);
            const size_t size = gradient ? (size_t)s->set->members[i]->size : 0;
            s->sum[chunk] += squares_of(s->set, gradient, tg_chunk_begin(size, chunk), tg_chunk_begin(size, chunk + 1));
        }
    }
}

/* For few elements: one loop over each run of contiguous gradients, as starting a loop costs more than running it over
 * a few numbers. */
static double squares_in_runs(const tg_parameters *set)
{
    double sum = 0;
    for (int i = 0, next; i < set->count; i = next) {
        const void *gradient = gradient_of(set, i);
        int64_t size = 0;
        for (next = i; next < set->count && !gradient == !gradient_of(set, next); next++)
            size += set->members[next]->size;
        sum += squares_of(set, gradient, 0, gradient ? (size_t)size : 0);
    }
    return sum;
}

bool tg_parameters_gradient_squares(const tg_parameters *set, int first, int count, double sums[TG_PARTS])
{
    enum { WORTH_SHARING = 1 << 15 }; /* elements for each thread */
    if (!set || first < 0 || count < 0 || count > TG_PARTS - first || set->size < 2 * WORTH_SHARING)
        return false;
    tg_parallel_chunks((size_t)first, (size_t)count, (size_t)set->size, WORTH_SHARING, square_chunks,
                       &(squares){set, sums});
    return true;
}

double tg_parameters_gradient_norm(const tg_parameters *set)
{
    double sums[TG_PARTS], sum = 0;
    if (!set)
        return 0;
    if (!tg_parameters_gradient_squares(set, 0, TG_PARTS, sums))
        return sqrt(squares_in_runs(set));
    for (int part = 0; part < TG_PARTS; part++)
        sum += sums[part];
    return sqrt(sum);
}

void tg_parameters_clear_gradients(tg_parameters *set)
{
    for (int i = 0; set && i < set->count; i++)
        set->members[i]->parameter.has_gradient = false;
}

/* ---- copying ---- */

int tg_parameters_copy(tg_parameters *to, const tg_parameters *from)
{
    int copied = 0;
    for (int i = 0; to && from && i < to->count; i++) {
        tg_parameter *target = &to->members[i]->parameter;
        const tg_parameter *source = tg_parameters_find(from, target->name);
        if (!source || !tg_shape_equal(&source->shape, &target->shape))
            continue;
        tg_copy_elements(to->dtype, target->data, from->dtype, source->data, to->members[i]->size);
        tg_parameter_changed(target);
        copied++;
    }
    return copied;
}

void tg_parameters_swap(tg_parameters *set, void *values)
{
    char *own = set && values ? set->values : NULL, *other = values, some[4096];
    for (size_t left = own ? bytes_of(set, set->size) : 0, count; left; left -= count, own += count, other += count) {
        count = left < sizeof some ? left : sizeof some;
        memcpy(some, own, count);
        memcpy(own, other, count);
        memcpy(other, some, count);
    }
    tg_parameters_changed(set);
}
