#include "autograd/tape/run.h"

#include "autograd/base/platform.h"
#include "autograd/tape/changes.h"
#include "autograd/tape/elementwise.h"
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/parallel.h"

#include <stdlib.h>
#include <string.h>

/* A released buffer. The struct is stored in the buffer itself. */
struct tg_free_buffer {
    tg_free_buffer *next;
    size_t size;
};

enum { OVERWRITTEN = -1 }; /* a slot's `until` in tg_run_unshare: it must be computed again */

/* Smaller buffers are not reused; aligned to a cache line, or to the size of a vector. */
enum { SMALLEST_RELEASED = 64, LOOKED_AT = 8, ALIGNMENT = TG_BUFFER_ALIGNMENT, SMALL_ALIGNMENT = 16 };

/* ---- life ---- */

tg_run_block *tg_run_block_new(size_t size)
{
    tg_run_block *block = tg_aligned_new(ALIGNMENT, sizeof *block + size);
    if (block) {
        block->earlier = NULL;
        block->size = size;
    }
    return block;
}

/* Frees a block and all earlier ones. */
static void free_blocks(tg_run_block **link)
{
    for (tg_run_block *block = *link, *earlier; block; block = earlier) {
        earlier = block->earlier;
        tg_aligned_free(block);
    }
    *link = NULL;
}

void tg_run_free(tg_run *run)
{
    for (tg_feature *feature = run->features, *next; feature; feature = next) {
        next = feature->next;
        if (feature->kind->free)
            feature->kind->free(feature);
        free(feature);
    }
    tg_arena_free(&run->arena);
    free_blocks(&run->block);
    tg_aligned_free(run->addend.data);
}

static void forget_free_buffers(tg_run *run)
{
    memset(run->released, 0, sizeof run->released);
}

/* True for buffers in the block, and views of them. The plan shares these, so no list of released buffers has them. */
static bool is_in_block(const tg_run *run, const tg_value *value)
{
    const char *data = value->slot.data;
    const tg_run_block *block = run->block;
    return block && data && data >= block->data && data < block->data + block->size;
}

void tg_run_reset(tg_run *run)
{
    run->computed = 0;
    run->began = tg_latest_change();
    if (run->block)
        free_blocks(&run->block->earlier);
    forget_free_buffers(run); /* a repeated value keeps its buffer, so no new one may take it */
}

void tg_run_cut(tg_run *run, tg_program *program, int64_t count)
{
    for (tg_feature *feature = run->features; feature; feature = feature->next)
        if (feature->kind->cut)
            feature->kind->cut(feature, count);
    forget_free_buffers(run); /* they may be after this position */
    if (count == 0)
        free_blocks(&run->block);
    for (int64_t i = 0; run->block && i < count; i++) {
        tg_slot *slot = &tg_program_at(program, i)->slot;
        slot->until = slot->until < count ? slot->until : TG_ALWAYS; /* what would have overwritten it is removed */
    }
    run->computed = run->computed < count ? run->computed : count;
    const int64_t used = run->arena.bytes_used;
    tg_arena_rewind(&run->arena, tg_program_at(program, count)->slot.arena_position);
    tg_arena_trim(&run->arena, used);
}

/* ---- buffers ---- */

/* Makes room for `size` bytes, without what was there; false, with the error recorded, if out of memory. */
static bool reserve(tg_program *program, tg_buffer *buffer, size_t size, const char *what)
{
    if (size <= buffer->size)
        return true;
    size = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    void *data = tg_aligned_new(ALIGNMENT, size);
    if (!data)
        return tg_program_fail(program, "out of memory: %zu bytes for %s", size, what);
    tg_aligned_free(buffer->data);
    *buffer = (tg_buffer){data, size};
    program->allocations++;
    return true;
}

/* The list for this size, found by a hash, so other sizes may share it. */
static tg_free_buffer **released_of(tg_run *run, size_t size)
{
    return &run->released[(uint64_t)size * 0x9E3779B97F4A7C15u >> 59]; /* 5 bits: one of 32 */
}

/* A released buffer of exactly this size. */
static void *take_released(tg_run *run, size_t size)
{
    tg_free_buffer **link = released_of(run, size);
    for (int i = 0; *link && i < LOOKED_AT; i++, link = &(*link)->next)
        if ((*link)->size == size) {
            tg_free_buffer *buffer = *link;
            *link = buffer->next;
            return buffer;
        }
    return NULL;
}

/* A leaf never takes a released buffer: in a later run, earlier values would overwrite it. */
bool tg_run_allocate(tg_run *run, tg_value *value)
{
    const size_t size = tg_bytes_of(value);
    void *data = NULL;
    if (value->op && size >= SMALLEST_RELEASED)
        data = take_released(run, size);
    if (!data)
        data = tg_arena_take(&run->arena, size, size < SMALLEST_RELEASED ? SMALL_ALIGNMENT : ALIGNMENT);
    if (!data)
        return tg_program_fail(value->program, "out of memory: %zu bytes for operation %lld of the tape", size,
                               (long long)value->index);
    value->slot.data = data;
    return true;
}

void tg_run_release(tg_run *run, tg_value *value)
{
    if (!value->op || !value->slot.data || value->slot.released || !tg_has_buffer(value))
        return;
    const size_t size = tg_bytes_of(value);
    tg_free_buffer *buffer = value->slot.data, **list = released_of(run, size);
    value->slot.released = true;
    if (is_in_block(run, value))
        return;
#ifdef TG_DEBUG
    memset(buffer, 0xff, size); /* poison with NaN so that stale reads show */
#endif
    if (size < SMALLEST_RELEASED)
        return;
    *buffer = (tg_free_buffer){*list, size};
    *list = buffer;
}

/* Values can be read while their checkpoint is open; its result, while the enclosing one is. */
bool tg_run_released(const tg_value *value)
{
    const tg_region *region = value->region;
    if (!value->slot.released && !tg_root_of(value)->slot.released)
        return false;
    while (region && region->result == value)
        region = region->parent;
    return !region || region->closed_in == tg_step_serial(value->program);
}

bool tg_run_overwritten(const tg_run *run, const tg_value *value)
{
    return is_in_block(run, value) && tg_root_of(value)->slot.until < run->computed;
}

void tg_run_move(tg_run *run, tg_run_block *block)
{
    tg_arena_free(&run->arena);
    free_blocks(&run->block);
    run->block = block;
}

/* ---- computing ---- */

typedef struct addition {
    tg_dtype dtype;
    const char *from;
    char *to;
} addition;

static void add_part(void *context, size_t first, size_t count)
{
    const addition *a = context;
    const size_t skipped = first * tg_dtype_size(a->dtype);
    TG_KERNEL_CALL(a->dtype, accumulate, count, (const void *)(a->from + skipped), (void *)(a->to + skipped));
}

/* Where to compute a value that goes to a parameter's gradient: there, if there is no gradient yet or the operation can
 * add to it; otherwise into memory of the run, from which finish_gradient adds it. */
static void *buffer_of_gradient(tg_run *run, const tg_value *value)
{
    if (!value->sink->gradient) { /* it had one when this was recorded */
        tg_program_fail(value->program, "parameter %s has no gradient any more: record the step again",
                        value->sink->name ? value->sink->name : "without a name");
        return NULL;
    }
    if (!value->sink->has_gradient || value->op->add)
        return value->sink->gradient;
    return reserve(value->program, &run->addend, tg_bytes_of(value), "a gradient that is to be added")
               ? run->addend.data
               : NULL;
}

static void finish_gradient(tg_value *value)
{
    enum { WORTH_SHARING = 1 << 13 };
    tg_parameter *parameter = value->sink;
    if (value->slot.data != parameter->gradient)
        tg_parallel((size_t)value->size, WORTH_SHARING, TG_LINE, add_part,
                    &(addition){value->dtype, value->slot.data, parameter->gradient});
    value->slot.data = parameter->gradient;
    parameter->has_gradient = true;
}

/* Calls an operation that is not elementwise. */
static void call_operation(const tg_value *value, void *saved)
{
    const void **in = (const void **)(value->inputs + value->input_count);
    for (int i = 0; i < value->input_count; i++)
        in[i] = value->inputs[i]->slot.data;
    const tg_call call = {.value = value, .in = in, .out = value->slot.data, .saved = saved};
    if (value->op->add && value->sink && value->sink->has_gradient)
        value->op->add(&call);
    else
        value->op->forward(&call);
}

/* Computes a value, for which no feature does. */
static bool compute_alone(tg_run *run, tg_value *value)
{
    const tg_op *op = value->op;
    if (value->is_saved)
        return true;
    if (op->flags & TG_VIEW) {
        const int64_t offset = op->view_offset ? op->view_offset(value) : 0;
        value->slot.data = (char *)value->inputs[0]->slot.data + offset * (int64_t)tg_dtype_size(value->dtype);
        return !tg_program_failed(value->program);
    }
    tg_value *saved = op->saved ? tg_saved_of(value) : NULL;
    if (value->sink && !(value->slot.data = buffer_of_gradient(run, value)))
        return false;
    if ((!value->slot.data && !tg_run_allocate(run, value)) ||
        (saved && !saved->slot.data && !tg_run_allocate(run, saved)))
        return false;
    if (op->flags & TG_ELEMENTWISE)
        tg_elementwise_forward(value, saved ? saved->slot.data : NULL);
    else
        call_operation(value, saved ? saved->slot.data : NULL);
    if (value->sink)
        finish_gradient(value);
    return !tg_program_failed(value->program);
}

bool tg_run_compute(tg_run *run, tg_feature *next, tg_value *value)
{
    for (; next; next = next->next)
        if (next->computes)
            return next->kind->compute(next, run, value);
    return compute_alone(run, value);
}

#ifdef TG_DEBUG
/* Fills the buffers of the block that were just read for the last time with NaN, so that stale reads show. */
static void poison_inputs(const tg_run *run, const tg_value *value)
{
    for (int i = 0; i < value->input_count; i++) {
        const tg_value *root = tg_root_of(value->inputs[i]);
        if (is_in_block(run, root) && root->slot.until == value->index && root->slot.data != value->slot.data &&
            !value->is_saved)
            memset(root->slot.data, 0xff, tg_bytes_of(root));
    }
}
#endif

/* True if none of the values from run->computed to before `end` reads a parameter or constant that has changed;
 * otherwise the error is recorded. */
static bool may_read(const tg_run *run, const tg_program *program, int64_t end)
{
    if (tg_latest_change() == run->began) /* nearly always */
        return true;
    const tg_value *changed = tg_changed_leaf(program, run->computed, end, run->began);
    return !changed || tg_is_unchanged(changed, run->began); /* which records the error */
}

/* Releases the buffers of values from number `first` on that the value was the last to read; its own if nothing reads
 * that. */
static void release_read(tg_run *run, tg_value *value, int64_t first)
{
    for (int i = -1; i < value->input_count; i++) {
        tg_value *root = tg_root_of(i < 0 ? value : value->inputs[i]);
        if (root->slot.until == value->index && root->index >= first && !root->slot.never_released)
            tg_run_release(run, root);
    }
}

bool tg_run_to(tg_run *run, const tg_program *program, int64_t end, int64_t pass_start)
{
    if (tg_program_failed(program) || !may_read(run, program, end))
        return false;
    for (; run->computed < end; run->computed++) {
        tg_value *value = tg_program_at(program, run->computed);
        if (!value->op && value->parameter) /* its set may have grown since the replayed step */
            value->slot.data = value->parameter->data;
        if (value->op && !tg_run_compute(run, run->features, value))
            return false;
#ifdef TG_DEBUG
        poison_inputs(run, value);
#endif
        if (value->index >= pass_start)
            release_read(run, value, pass_start);
    }
    return true;
}

/* ---- steps that read what the ones before did not ---- */

/* The bytes that the value's buffer takes in the block; 0 if it has none there. */
static size_t bytes_in_block(const tg_run *run, const tg_value *value)
{
    const bool there = tg_has_buffer(value) && is_in_block(run, value);
    return there ? (tg_bytes_of(value) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : 0;
}

/* Moves the buffers from the old block, where they overlap, to the new one, and marks those that were overwritten. */
static void move_apart(tg_run *run, tg_program *program, char *to)
{
    for (int64_t i = 0; i < run->computed; i++) {
        tg_value *value = tg_program_at(program, i);
        const size_t bytes = bytes_in_block(run, value);
        if (bytes == 0)
            continue;
        value->slot.until = tg_run_overwritten(run, value) ? OVERWRITTEN : TG_ALWAYS;
        value->slot.data = memcpy(to, value->slot.data, tg_bytes_of(value));
        to += bytes;
    }
}

static bool is_overwritten(const tg_value *value)
{
    return value && value->slot.until == OVERWRITTEN;
}

/* Computes what was overwritten again, and views, which then show the new block. A value and its saved derivative are
 * computed together, also if only one of them has been overwritten. */
static bool compute_overwritten(tg_run *run, tg_program *program)
{
    bool again = false; /* the value before has been */
    for (int64_t i = 0; i < run->computed; i++) {
        tg_value *value = tg_program_at(program, i);
        const bool is_lost = is_overwritten(value) || is_overwritten(tg_saved_of(value)) || (value->is_saved && again);
        again = value->op && (is_lost || value->op->flags & TG_VIEW);
        if (again && !tg_run_compute(run, run->features, value))
            return false;
        if (again && is_lost)
            value->slot.until = TG_ALWAYS;
    }
    return true;
}

bool tg_run_unshare(tg_run *run, tg_program *program)
{
    size_t size = ALIGNMENT;
    for (int64_t i = 0; i < run->computed; i++)
        size += bytes_in_block(run, tg_program_at(program, i));
    tg_run_block *block = tg_run_block_new(size);
    if (!block)
        return tg_program_fail(program, "out of memory: %zu bytes for results that are computed again", size);
    move_apart(run, program, block->data);
    block->earlier = run->block;
    run->block = block;
    program->allocations++;
    return compute_overwritten(run, program);
}
