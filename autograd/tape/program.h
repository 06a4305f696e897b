/* A program: the list of values that a step records, with operations, attributes, inputs and shapes, but no numbers.
 * Internal.
 *
 *     values    [x  w  linear  relu | ... loss | the backward pass ............ ]
 *                this step so far   ^ count      what follows in the last step  ^ known
 *
 *     tg_value *y = tg_repeat_operation(program, ...); // the value of the step before, if this step repeats it;
 *     if (!y)                                          // otherwise what followed is cut, and
 *         y = tg_program_append(program);              // another one takes its place: count++, known = count
 *
 * Values lie in pages that never move and outlive every reset, so that a stale handle still points at a value. Its
 * serial shows that the step is over, or that the value was removed and another one has its place. Removals are those
 * before the value was recorded, in the step that recorded it:
 *
 *     serial   [ tape, 24 bits | step, 32 bits | removals, 8 bits ]
 *
 * Backward passes (tg_pass) and checkpoints (tg_region) are ranges of values, each in a list: passes in the order in
 * which they ended, checkpoints in the order in which they began.
 */
#ifndef TG_PROGRAM_H
#define TG_PROGRAM_H

#include "autograd/error.h"
#include "autograd/tape/value.h"

/* A checkpoint: values from start to before `end`, all of which except the result are released. */
typedef struct tg_region {
    const struct tg_region *parent; /* the enclosing region */
    int64_t start, end;             /* end is -1 while it is being recorded */
    const tg_value *result;
    uint64_t closed_in; /* the serial of the step in which it was last completed */
} tg_region;

/* A backward pass that a later step can reuse as a whole: its request, the range of its own values, and its results. */
typedef struct tg_pass {
    int64_t start, end;
    int output_count, input_count, retained_count; /* no inputs: tg_backward */
    bool create_graph;
    uint8_t mode;            /* TG_MODE_DETACHED if it was recorded in a no-grad scope, or 0 */
    const tg_region *region; /* the checkpoint in which it was recorded */
    const tg_value **values; /* [outputs | their cotangents, NULL for ones | inputs | retained] */
    tg_value **gradients;    /* of the inputs */
} tg_pass;

static inline size_t tg_pass_values(const tg_pass *pass)
{
    return 2 * (size_t)pass->output_count + (size_t)pass->input_count + (size_t)pass->retained_count;
}

/* A name that tg_named has given to a value in this step. */
typedef struct tg_given_name {
    const struct tg_given_name *next;
    int64_t index; /* of the value */
    const char *text;
} tg_given_name;

typedef struct tg_list {
    void **items;
    int count, capacity, next; /* next: the first item that this step has not reached */
} tg_list;

#define TG_SERIALS       ((uint64_t)1 << 8)  /* from the serial of a step to that of the next: room for removals */
#define TG_TAPE_SERIALS  ((uint64_t)1 << 40) /* from that of a tape to that of the next: room for steps */
#define TG_MOST_REMOVALS 255                 /* in one step; then it records no more */

enum { TG_PAGE_BITS = 8, TG_PAGE_VALUES = 1 << TG_PAGE_BITS, TG_MOST_VALUES = INT32_MAX };
#define TG_NO_PASS INT64_MAX

/* What is recorded next belongs to this. A rule, a pass and a hook save it and restore it as a whole. */
typedef struct tg_context {
    uint8_t mode; /* tg_mode */
    const tg_scope *scope;
    const tg_region *region;      /* the innermost open checkpoint */
    const tg_value *derived_from; /* the value whose derivative is being recorded */
    const tg_op *rule;            /* the operation whose shape rule or derivative is running: data must not be read */
    int64_t pass_start;           /* of the backward pass that is being recorded; TG_NO_PASS: none is */
} tg_context;

struct tg_program {
    tg_list pages;              /* of TG_PAGE_VALUES values each */
    int64_t count;              /* values of this step so far */
    int64_t known;              /* these, and those of the last step that this one has not reached yet */
    uint64_t serial;            /* of this step and its removals so far; no other step of any tape has it */
    int64_t recorded;           /* values appended so far */
    tg_arena arena;             /* attributes, inputs, shapes, passes and regions */
    tg_list passes, regions;    /* of this step, and of the last one from `next` on */
    int64_t allocations;        /* calls of malloc so far, but for those of arenas */
    tg_arena scopes;            /* of all steps */
    const tg_scope *last_scope; /* the one made last; the others follow in a list */
    tg_shape shape;             /* what the running shape rule finds */
    const tg_given_name *names; /* of this step, the latest first */
    tg_context context;         /* of what is recorded next */
    tg_error error;             /* the first since the last that was cleared; "": none */
};

static inline tg_value *tg_program_at(const tg_program *program, int64_t index)
{
    return (tg_value *)program->pages.items[index >> TG_PAGE_BITS] + (index & (TG_PAGE_VALUES - 1));
}

static inline bool tg_program_failed(const tg_program *program)
{
    return program->error.text[0] != '\0';
}

/* The serial of this step, as it was before values were removed. */
static inline uint64_t tg_step_serial(const tg_program *program)
{
    return program->serial & ~(TG_SERIALS - 1);
}

/* The value behind a handle; NULL if it is inert or from a past step. */
static inline tg_value *tg_value_of(tg_tensor x)
{
    tg_value *value = x.value;
    const tg_program *program = value ? value->program : NULL;
    return value && (tg_step_serial(program) | value->removals) == x.serial && value->index < program->count ? value
                                                                                                             : NULL;
}

/* Whether tg_tape_reset has ended the step of a tensor. */
static inline bool tg_step_ended(tg_tensor x)
{
    return x.value && x.serial / TG_SERIALS != x.value->program->serial / TG_SERIALS;
}

static inline tg_tensor tg_tensor_of(tg_value *value)
{
    return value ? (tg_tensor){value, tg_step_serial(value->program) | value->removals} : (tg_tensor){0};
}

/* Ends the step and begins another. */
void tg_program_reset(tg_program *program);
void tg_program_free(tg_program *program);

/* Cuts all values from number `count` on: those of the last step that this one does not repeat. In repeat.c; repeat.h
 * says what goes with them. */
void tg_program_cut(tg_program *program, int64_t count);

/* Called before values from number `count` on are cut. In tape.c: it cuts what the run has for them. */
void tg_before_cut(tg_program *program, int64_t count);

/* Removes the values of this step from number `count` on, as they failed. Their handles stay inert. In repeat.c. */
void tg_program_remove(tg_program *program, int64_t count);

/* Cuts the program after the last value and appends one: all zeros, except for its position, mode, scope and
 * checkpoint. NULL, with the error recorded, if out of memory or if there is an error. */
tg_value *tg_program_append(tg_program *program);

/* Cuts the program after the last value, and returns memory that lives as long as this value; NULL, with the error
 * recorded, if out of memory. */
void *tg_program_take_slowly(tg_program *program, size_t size, size_t alignment);
static inline void *tg_program_take(tg_program *program, size_t size, size_t alignment)
{
    const bool cuts = program->count < program->known;
    void *bytes = cuts ? NULL : tg_arena_take(&program->arena, size, alignment);
    return bytes ? bytes : tg_program_take_slowly(program, size, alignment);
}

/* Gives the value of an operation room for its inputs and, if that is not elementwise, for the addresses of their
 * elements, after them: an elementwise one has up to two inputs inside the value. */
static inline bool tg_program_take_inputs(tg_value *value, int count)
{
    const size_t each = sizeof *value->inputs + sizeof(void *);
    value->input_count = count;
    value->inputs = count <= TG_FEW_INPUTS && value->op->flags & TG_ELEMENTWISE
                        ? value->few_inputs
                        : tg_program_take(value->program, (size_t)count * each, sizeof(void *));
    return value->inputs != NULL;
}

/* Enters a scope; it is the same each time. */
void tg_program_enter_scope(tg_program *program, const char *name);

/* The saved derivative of a value, recorded right after it; NULL if there is none. */
tg_value *tg_saved_of(const tg_value *value);

/* The value whose memory a view shows; for others the value itself. It takes both and returns a value that may be
 * written, as strchr does with characters. */
static inline tg_value *tg_root_of(const tg_value *value)
{
    while (value->op && value->op->flags & TG_VIEW)
        value = value->inputs[0];
    return (tg_value *)(uintptr_t)value;
}

/* Notes in `until` that value number `index` reads this one, if this one belongs to the pass that is being recorded:
 * the pass releases it after its last reader. Other values need no note: only a plan asks until when they are read. */
static inline void tg_note_read(tg_value *value, int64_t index)
{
    const int64_t pass_start = value->program->context.pass_start;
    if (value->index < pass_start) /* what it is a view of is even earlier */
        return;
    value = tg_root_of(value);
    if (value->index >= pass_start)
        value->slot.until = (int32_t)index;
}

/* True for a value with a buffer of the run: no view, and not in memory of the caller or of a parameter. */
static inline bool tg_has_buffer(const tg_value *value)
{
    return value->op ? !(value->op->flags & TG_VIEW) && !value->sink : !value->parameter && !value->is_borrowed;
}

/* True if an operation of this step reads the value. */
bool tg_is_read(const tg_value *value);

/* ---- lists ---- */

/* Puts an item at the current position of the list, drops those after it, and moves past it. */
bool tg_program_list(tg_program *program, tg_list *list, void *item);

/* ---- errors ---- */

/* Records an error unless there is one already. Returns false. */
TG_FORMAT(printf, 2, 3)
bool tg_program_fail(tg_program *program, const char *format, ...);

#endif
