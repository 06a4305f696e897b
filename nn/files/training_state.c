#include "nn/files/training_state.h"

#include "autograd/base/numbers.h"
#include "nn/files/safetensors_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the blocks ---- */

enum { MOST_BLOCKS = TG_UPDATE_STATES + 2, LONGEST = TG_NAME_SIZE + 16 };

/* Numbers laid out like the values of the set, and the prefix of their names in the file. */
typedef struct block {
    const char *prefix;
    char *numbers;
} block;

static int blocks_of(const tg_training_state *state, block blocks[MOST_BLOCKS])
{
    static const char *const prefixes[TG_UPDATE_STATES] = {"optimizer.0.", "optimizer.1."};
    int count = 0;
    blocks[count++] = (block){"", tg_parameters_values(state->parameters)};
    for (int i = 0; state->update && i < state->update->states; i++)
        blocks[count++] = (block){prefixes[i], state->update->state[i]};
    if (state->ema)
        blocks[count++] = (block){"ema.", tg_parameters_values(tg_ema_parameters(state->ema))};
    return count;
}

/* ---- scalars: one line of text each ---- */

static const char *const generators[TG_TRAINING_GENERATORS] = {"training.rng.0", "training.rng.1", "training.rng.2",
                                                               "training.rng.3"};

enum { LINES = 4 + TG_TRAINING_GENERATORS, TEXT = 96 };

typedef struct lines {
    char key[LINES][TEXT], value[LINES][TEXT];
    int count;
} lines;

TG_FORMAT(printf, 3, 4)
static void add_line(lines *l, const char *key, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    snprintf(l->key[l->count], TEXT, "%s", key);
    tg_print_arguments(l->value[l->count++], TEXT, format, arguments);
    va_end(arguments);
}

static lines lines_of(const tg_training_state *state)
{
    lines l = {.count = 0};
    const tg_update_state *u = state->update;
    add_line(&l, "training.position", "%" PRId64, state->position);
    if (u)
        add_line(&l, "training.optimizer", "%d %" PRId64 " %a %a", u->states, u->steps, u->product[0], u->product[1]);
    if (u && u->name)
        add_line(&l, "training.optimizer.name", "%s", u->name);
    if (state->ema)
        add_line(&l, "training.ema", "%" PRId64, tg_ema_updates(state->ema));
    for (int i = 0; i < TG_TRAINING_GENERATORS; i++)
        if (state->rng[i])
            add_line(&l, generators[i], "%" PRIu64 " %" PRIu64, state->rng[i]->key, state->rng[i]->position);
    return l;
}

/* The scalars of a file. */
typedef struct numbers {
    tg_update_state update;
    tg_rng rng[TG_TRAINING_GENERATORS];
    int64_t position, averaged;
} numbers;

/* Reads the lines of a file; returns NULL, or the key of the first that is missing or wrong. */
static const char *read_lines(const tg_safetensors *file, const tg_training_state *state, numbers *n)
{
    tg_update_state *update = &n->update;
    const char *key = "training.position", *value = tg_safetensors_metadata(file, key);
    char end;
    if (!value || tg_scan(value, "%" SCNd64 "%c", &n->position, &end) != 1)
        return key;
    value = tg_safetensors_metadata(file, key = "training.optimizer");
    if (!value != !state->update ||
        (value && (tg_scan(value, "%d %" SCNd64 " %la %la%c", &update->states, &update->steps, &update->product[0],
                           &update->product[1], &end) != 4 ||
                   update->states != state->update->states || update->steps < 0 || !isfinite(update->product[0]) ||
                   !isfinite(update->product[1]))))
        return key;
    value = tg_safetensors_metadata(file, key = "training.ema");
    if (!value != !state->ema ||
        (value && (tg_scan(value, "%" SCNd64 "%c", &n->averaged, &end) != 1 || n->averaged < 0)))
        return key;
    for (int i = 0; i < TG_TRAINING_GENERATORS; i++) {
        value = tg_safetensors_metadata(file, key = generators[i]);
        if (!value != !state->rng[i] ||
            (value && tg_scan(value, "%" SCNu64 " %" SCNu64 "%c", &n->rng[i].key, &n->rng[i].position, &end) != 2))
            return key;
    }
    return NULL;
}

/* ---- saving ---- */

static bool save(const tg_training_state *state, const char *path, const tg_metadata *metadata, int count,
                 tg_file_item *items, char (*names)[LONGEST], tg_metadata *all, tg_error *error)
{
    block blocks[MOST_BLOCKS];
    const int block_count = blocks_of(state, blocks), parameters = tg_parameters_count(state->parameters);
    const lines own = lines_of(state);
    int number = 0;
    for (int k = 0; k < block_count; k++)
        for (int i = 0; i < parameters; i++, number++) {
            const tg_parameter *p = tg_parameters_at(state->parameters, i);
            snprintf(names[number], LONGEST, "%s%s", blocks[k].prefix, p->name);
            items[number] = (tg_file_item){names[number], p->dtype, p->shape,
                                           blocks[k].numbers + tg_parameter_offset(state->parameters, p)};
        }
    for (int i = 0; i < own.count; i++)
        all[i] = (tg_metadata){own.key[i], own.value[i]};
    if (count)
        memcpy(all + own.count, metadata, (size_t)count * sizeof *metadata);
    return tg_safetensors_write(path, items, number, all, own.count + count, error);
}

static const char *wrong_state(const tg_training_state *state)
{
    if (!state)
        return "there is no state";
    if (tg_parameters_error(state->parameters))
        return tg_parameters_error(state->parameters);
    if (state->update && (state->update->states < 0 || state->update->states > TG_UPDATE_STATES))
        return "the optimiser has too many blocks";
    for (int k = 0; state->update && k < state->update->states; k++)
        if (!state->update->state[k])
            return "a block of the optimiser is missing";
    if (state->update && state->update->size && state->update->size != tg_parameters_size(state->parameters))
        return "the parameter set has grown since the optimiser was made, or the optimiser belongs to another set";
    const tg_parameters *averages = tg_ema_parameters(state->ema);
    if (averages && (tg_parameters_count(averages) != tg_parameters_count(state->parameters) ||
                     tg_parameters_size(averages) != tg_parameters_size(state->parameters) ||
                     tg_parameters_dtype(averages) != tg_parameters_dtype(state->parameters)))
        return "the parameter set has grown since the average was made, or the average belongs to another set";
    if (tg_ema_is_swapped(state->ema))
        return "the averages stand in the place of the weights: tg_ema_swap";
    return NULL;
}

bool tg_training_state_save(const tg_training_state *state, const char *path, const tg_metadata *metadata, int count,
                            tg_error *error)
{
    const char *wrong = wrong_state(state);
    if (wrong || count < 0 || (count && !metadata))
        return tg_file_refuse(error, path, "%s", wrong ? wrong : "the metadata is missing");
    const size_t most = (size_t)tg_parameters_count(state->parameters) * MOST_BLOCKS;
    tg_file_item *items = calloc(most + 1, sizeof *items);
    char(*names)[LONGEST] = calloc(most + 1, sizeof *names);
    tg_metadata *all = calloc((size_t)count + LINES, sizeof *all);
    const bool fine = items && names && all ? save(state, path, metadata, count, items, names, all, error)
                                            : tg_file_refuse(error, path, "out of memory");
    free(items);
    free(names);
    free(all);
    return fine;
}

/* ---- loading ---- */

/* Reads all blocks, one after the other, into `into`. */
static bool read_blocks(tg_safetensors *file, const char *path, const tg_training_state *state, const block *blocks,
                        int block_count, char *into, tg_error *error)
{
    char name[LONGEST];
    const int parameters = tg_parameters_count(state->parameters);
    for (int k = 0; k < block_count; k++, into += tg_parameters_bytes(state->parameters))
        for (int i = 0; i < parameters; i++) {
            const tg_parameter *p = tg_parameters_at(state->parameters, i);
            snprintf(name, sizeof name, "%s%s", blocks[k].prefix, p->name);
            const tg_file_tensor *tensor = tg_safetensors_find(file, name);
            if (!tensor || !tg_shape_equal(&tensor->shape, &p->shape) ||
                strcmp(tensor->dtype, p->dtype == TG_F32 ? "F32" : "F64") != 0)
                return tg_file_refuse(error, path, "tensor %.200s %s", name,
                                      tensor ? "has another shape or type than the model's" : "is missing");
            if (!tg_safetensors_read(file, tensor, p->dtype, into + tg_parameter_offset(state->parameters, p), error))
                return false;
        }
    const int own = parameters * block_count;
    int count = own;
    while (tg_safetensors_at(file, count)) /* those of a larger model */
        count++;
    return count == own || tg_file_refuse(error, path, "it has %d tensors, and this run has %d", count, own);
}

/* Files from older versions have no name. */
static bool same_optimizer(const tg_safetensors *file, const char *path, const tg_training_state *state,
                           tg_error *error)
{
    const char *name = tg_safetensors_metadata(file, "training.optimizer.name"),
               *own = state->update ? state->update->name : NULL;
    return !name || !own || strncmp(name, own, TEXT - 1) == 0 ||
           tg_file_refuse(error, path, "it keeps the state of %.40s, and this run's optimiser is %.40s", name, own);
}

static bool read_all(tg_training_state *state, tg_safetensors *file, const char *path, tg_error *error)
{
    numbers n = {0};
    block blocks[MOST_BLOCKS];
    const char *wrong = wrong_state(state);
    if (wrong)
        return tg_file_refuse(error, path, "%s", wrong);
    if (!same_optimizer(file, path, state, error))
        return false;
    wrong = read_lines(file, state, &n);
    if (wrong)
        return tg_file_refuse(error, path, "'%s' is missing, or is not that of this run", wrong);
    const int count = blocks_of(state, blocks);
    const size_t bytes = tg_parameters_bytes(state->parameters);
    char *read = malloc(bytes * (size_t)count + 1);
    const bool fine = read ? read_blocks(file, path, state, blocks, count, read, error)
                           : tg_file_refuse(error, path, "out of memory");
    for (int k = 0; fine && bytes && k < count; k++)
        memcpy(blocks[k].numbers, read + (size_t)k * bytes, bytes);
    free(read);
    if (!fine)
        return false;
    tg_parameters_changed(state->parameters);
    tg_parameters_clear_gradients(state->parameters); /* which were of other values */
    if (state->ema)
        tg_parameters_changed(tg_ema_parameters(state->ema));
    if (state->update) {
        state->update->steps = n.update.steps;
        memcpy(state->update->product, n.update.product, sizeof n.update.product);
    }
    tg_ema_restore(state->ema, n.averaged);
    for (int i = 0; i < TG_TRAINING_GENERATORS; i++)
        if (state->rng[i])
            *state->rng[i] = n.rng[i];
    state->position = n.position;
    return true;
}

bool tg_training_state_load(tg_training_state *state, const char *path, tg_error *error)
{
    tg_safetensors *file = tg_safetensors_open(path, error);
    const bool fine = file && read_all(state, file, path, error);
    tg_safetensors_close(file);
    return fine;
}
