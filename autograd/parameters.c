#include "autograd/parameters_internal.h"

#include "autograd/dtype.h"
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A parameter and what only the set knows of it. */
typedef struct entry {
    tg_parameter parameter;
    int64_t offset; /* of its first element in the blocks */
    int64_t size;
    char name[];
} entry;

struct tg_parameters {
    tg_dtype dtype;
    entry **entries;
    int count, entry_capacity;
    int32_t *places; /* by name: entry number + 1, or 0, at a hash of the name or behind it; twice as many as entries at least */
    int64_t lookups; /* tg_parameters_lookups */
    char *values, *gradients;
    void *retired[128]; /* the blocks that became too small: each time twice as large as the last */
    int retired_count;
    int64_t size, capacity; /* in elements */
    char error[512];
};

enum { ALIGNMENT = 64, FIRST_ENTRIES = 16, FIRST_ELEMENTS = 256 };

/* ---- life ---- */

#if defined __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
static void *
fail(tg_parameters *set, const char *format, ...)
{
    if (!set->error[0]) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(set->error, sizeof set->error, format, arguments);
        va_end(arguments);
    }
    return NULL;
}

tg_parameters *tg_parameters_new(tg_dtype dtype)
{
    tg_parameters *set = calloc(1, sizeof *set);
    if (!set)
        return NULL;
    set->dtype = dtype;
    if (!tg_dtype_is_floating(dtype))
        fail(set, "parameters are f32 or f64, not %s", tg_dtype_name(dtype));
    return set;
}

void tg_parameters_free(tg_parameters *set)
{
    if (!set)
        return;
    for (int i = 0; i < set->count; i++)
        free(set->entries[i]);
    free(set->entries);
    free(set->places);
    free(set->values);
    free(set->gradients);
    for (int i = 0; i < set->retired_count; i++)
        free(set->retired[i]);
    free(set);
}

const char *tg_parameters_error(const tg_parameters *set)
{
    if (!set)
        return "no parameters: the set is NULL, perhaps because of too little memory";
    return set->error[0] ? set->error : NULL;
}

/* ---- growing ---- */

static size_t bytes_of(const tg_parameters *set, int64_t elements)
{
    return (size_t)elements * tg_dtype_size(set->dtype);
}

/* A block like the old one with room for more, and zeros behind what is copied; NULL if out of memory. */
static char *larger_block(const tg_parameters *set, const char *old, int64_t capacity)
{
    size_t used = bytes_of(set, set->size), size = bytes_of(set, capacity);
    char *block = aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!block)
        return NULL;
    if (used)
        memcpy(block, old, used);
    memset(block + used, 0, size - used);
    return block;
}

static bool reserve_elements(tg_parameters *set, int64_t more)
{
    if (set->capacity && more <= set->capacity - set->size)
        return true;
    int64_t capacity = set->capacity ? set->capacity : FIRST_ELEMENTS;
    while (capacity - set->size < more) {
        if (capacity > INT64_MAX / 32) /* so that bytes, and the next doubling, can be counted */
            return false;
        capacity *= 2;
    }
    char *values = larger_block(set, set->values, capacity);
    char *gradients = larger_block(set, set->gradients, capacity);
    if (!values || !gradients) {
        free(values);
        free(gradients);
        return false;
    }
    set->lookups += set->count;
    for (int i = 0; i < set->count; i++) {
        entry *e = set->entries[i];
        e->parameter.data = values + bytes_of(set, e->offset);
        if (e->parameter.gradient)
            e->parameter.gradient = gradients + bytes_of(set, e->offset);
    }
    if (set->values) { /* tensors of a step that goes on may still look there */
        set->retired[set->retired_count++] = set->values;
        set->retired[set->retired_count++] = set->gradients;
    }
    set->values = values;
    set->gradients = gradients;
    set->capacity = capacity;
    return true;
}

/* FNV-1a (Fowler, Noll and Vo). */
static uint32_t hash_of(const char *name)
{
    uint32_t hash = 2166136261U;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 16777619U;
    return hash;
}

/* Where the entry of this name is, or where it would go; there is room. Adds how many names were compared. */
static int32_t *place_of(const tg_parameters *set, const char *name, int64_t *lookups)
{
    const uint32_t mask = 2 * (uint32_t)set->entry_capacity - 1;
    uint32_t at = hash_of(name) & mask;
    for (; set->places[at]; at = (at + 1) & mask) {
        ++*lookups;
        if (strcmp(set->entries[set->places[at] - 1]->name, name) == 0)
            break;
    }
    return &set->places[at];
}

static bool reserve_entry(tg_parameters *set)
{
    if (set->count < set->entry_capacity)
        return true;
    const int capacity = set->entry_capacity ? 2 * set->entry_capacity : FIRST_ENTRIES;
    entry **entries = realloc(set->entries, (size_t)capacity * sizeof(entry *));
    if (!entries)
        return false;
    set->entries = entries;
    int32_t *places = calloc(2 * (size_t)capacity, sizeof *places);
    if (!places)
        return false;
    free(set->places);
    set->places = places;
    set->entry_capacity = capacity;
    for (int i = 0; i < set->count; i++)
        *place_of(set, entries[i]->name, &set->lookups) = i + 1;
    return true;
}

tg_parameter *tg_parameters_add(tg_parameters *set, const char *name, tg_shape shape, bool decay)
{
    if (!set || set->error[0])
        return NULL;
    if (!name || !*name)
        return fail(set, "a parameter needs a name");
    if (strlen(name) >= TG_NAME_SIZE)
        return fail(set, "parameter %.40s...: a name has fewer than %d letters", name, TG_NAME_SIZE);
    if (set->count && *place_of(set, name, &set->lookups))
        return fail(set, "there is a parameter named %s already", name);
    if (shape.rank < 0 || shape.rank > TG_MAX_RANK)
        return fail(set, "parameter %s: a shape has 0 to %d axes, not %d", name, TG_MAX_RANK, shape.rank);
    char text[128];
    int64_t size = tg_shape_size(&shape);
    if (size < 0)
        return fail(set, "parameter %s: %s is no shape", name, tg_shape_text(&shape, text, sizeof text));
    entry *e = NULL;
    if (reserve_entry(set) && reserve_elements(set, size))
        e = calloc(1, sizeof *e + strlen(name) + 1);
    if (!e)
        return fail(set, "out of memory for parameter %s %s", name, tg_shape_text(&shape, text, sizeof text));
    strcpy(e->name, name);
    e->offset = set->size;
    e->size = size;
    e->parameter = (tg_parameter){.name = e->name,
                                  .dtype = set->dtype,
                                  .shape = shape,
                                  .decay = decay,
                                  .data = set->values + bytes_of(set, e->offset),
                                  .gradient = set->gradients + bytes_of(set, e->offset)};
    set->entries[set->count++] = e;
    *place_of(set, e->name, &set->lookups) = set->count;
    set->size += size;
    return &e->parameter;
}

int64_t tg_parameters_lookups(const tg_parameters *set)
{
    return set ? set->lookups : 0;
}

/* ---- reading ---- */

int tg_parameters_count(const tg_parameters *set)
{
    return set ? set->count : 0;
}

tg_parameter *tg_parameters_at(const tg_parameters *set, int index)
{
    return set && index >= 0 && index < set->count ? &set->entries[index]->parameter : NULL;
}

int tg_parameters_index(const tg_parameters *set, const char *name)
{
    int64_t lookups = 0;
    return set && name && set->count ? *place_of(set, name, &lookups) - 1 : -1;
}

tg_parameter *tg_parameters_find(const tg_parameters *set, const char *name)
{
    return tg_parameters_at(set, tg_parameters_index(set, name));
}

tg_dtype tg_parameters_dtype(const tg_parameters *set)
{
    return set ? set->dtype : TG_F32;
}

int64_t tg_parameters_size(const tg_parameters *set)
{
    return set ? set->size : 0;
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
}

void tg_parameter_fill(tg_parameter *parameter, double value)
{
    for (int64_t i = 0; i < size_of(parameter); i++)
        tg_parameter_put(parameter, i, value);
}

void tg_parameter_fill_normal(tg_parameter *parameter, double deviation, tg_rng *rng)
{
    uint32_t stream[4];
    tg_rng_draw_stream(rng, stream);
    if (size_of(parameter) > 0)
        TG_KERNEL_CALL(parameter->dtype, normal_fill, (size_t)size_of(parameter), stream, 0, deviation,
                       parameter->data);
}

/* ---- gradients ---- */

/* The gradient of entry number i, or NULL if it has none. */
static const void *gradient_of(const tg_parameters *set, int i)
{
    const tg_parameter *parameter = &set->entries[i]->parameter;
    return parameter->has_gradient ? parameter->gradient : NULL;
}

void *tg_parameters_gradients(tg_parameters *set)
{
    if (!set)
        return NULL;
    for (int i = 0; i < set->count; i++) {
        entry *e = set->entries[i];
        if (!gradient_of(set, i))
            memset(set->gradients + bytes_of(set, e->offset), 0, bytes_of(set, e->size));
        e->parameter.has_gradient = e->parameter.gradient != NULL;
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

/* Squares of gradients, a sum for each chunk: added up in one order, whoever did them. */
typedef struct squares {
    const tg_parameters *set;
    double sum[TG_CHUNKS];
} squares;

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
    squares *s = context;
    for (size_t chunk = first; chunk < first + count; chunk++) {
        s->sum[chunk] = 0;
        for (int i = 0; i < s->set->count; i++) {
            const char *gradient = gradient_of(s->set, i);
            const size_t size = gradient ? (size_t)s->set->entries[i]->size : 0;
            s->sum[chunk] +=
                squares_of(s->set, gradient, tg_chunk_begin(size, chunk), tg_chunk_begin(size, chunk + 1));
        }
    }
}

/* Few elements, gradients that lie one behind the other in one run: a loop over a few numbers costs more for beginning than for running. */
static double squares_in_runs(const tg_parameters *set)
{
    double sum = 0;
    for (int i = 0, next; i < set->count; i = next) {
        const void *gradient = gradient_of(set, i);
        int64_t size = 0;
        for (next = i; next < set->count && !gradient == !gradient_of(set, next); next++)
            size += set->entries[next]->size;
        sum += squares_of(set, gradient, 0, gradient ? (size_t)size : 0);
    }
    return sum;
}

double tg_parameters_gradient_norm(const tg_parameters *set)
{
    enum { WORTH_SHARING = 1 << 15 }; /* elements for each thread */
    if (!set)
        return 0;
    if (set->size < 2 * WORTH_SHARING)
        return sqrt(squares_in_runs(set));
    squares s;
    s.set = set;
    tg_parallel_chunks((size_t)set->size, WORTH_SHARING, square_chunks, &s);
    double sum = 0;
    for (int chunk = 0; chunk < TG_CHUNKS; chunk++)
        sum += s.sum[chunk];
    return sqrt(sum);
}

void tg_parameters_clear_gradients(tg_parameters *set)
{
    for (int i = 0; set && i < set->count; i++)
        set->entries[i]->parameter.has_gradient = false;
}

/* ---- copying ---- */

static void copy_values(const tg_parameter *to, const tg_parameter *from, int64_t size)
{
    if (to->dtype == from->dtype)
        memmove(to->data, from->data, (size_t)size * tg_dtype_size(to->dtype));
    for (int64_t k = 0; to->dtype != from->dtype && k < size; k++)
        tg_set_element(to->dtype, to->data, k, tg_element(from->dtype, from->data, k));
}

int tg_parameters_copy(tg_parameters *to, const tg_parameters *from)
{
    int copied = 0;
    for (int i = 0; to && from && i < to->count; i++) {
        const tg_parameter *target = &to->entries[i]->parameter;
        const tg_parameter *source = tg_parameters_find(from, target->name);
        if (!source || !tg_shape_equal(&source->shape, &target->shape))
            continue;
        copy_values(target, source, to->entries[i]->size);
        copied++;
    }
    return copied;
}
