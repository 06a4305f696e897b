#include "nn/files/training_state.h"

#include "autograd/numbers.h"
#include "nn/files/safetensors_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int optimizer_blocks(const tg_training_state *state)
{
    return state->update ? state->update->states : 0;
}

/* Besides the values. */
static int block_count(const tg_training_state *state)
{
    return optimizer_blocks(state) + (state->ema ? 1 : 0);
}

/* Block 0 is the values, block k + 1 the optimiser's block k, the last one the averages. */
static char *block_of(const tg_training_state *state, int block)
{
    if (block > optimizer_blocks(state))
        return tg_parameters_values(tg_ema_parameters(state->ema));
    return block == 0 ? tg_parameters_values(state->parameters) : state->update->state[block - 1];
}

enum { LONGEST = TG_NAME_SIZE + 16 };

static void name_in_file(char name[LONGEST], const tg_training_state *state, const tg_parameter *p, int block)
{
    if (block == 0)
        snprintf(name, LONGEST, "%s", p->name);
    else if (block > optimizer_blocks(state))
        snprintf(name, LONGEST, "ema.%s", p->name);
    else
        snprintf(name, LONGEST, "optimizer.%d.%s", block - 1, p->name);
}

/* ---- the few numbers: one line of text each ---- */

enum { LINES = 4 + TG_TRAINING_GENERATORS, TEXT = 96 };

typedef struct lines {
    char key[LINES][TEXT], value[LINES][TEXT];
    int count;
} lines;

static void add_line(lines *l, const char *key, const char *value)
{
    snprintf(l->key[l->count], TEXT, "%s", key);
    snprintf(l->value[l->count++], TEXT, "%s", value);
}

static lines lines_of(const tg_training_state *state)
{
    lines l = {.count = 0};
    char key[TEXT], value[TEXT];
    const tg_update_state *u = state->update;
    snprintf(value, sizeof value, "%" PRId64, state->position);
    add_line(&l, "training.position", value);
    if (u) {
        tg_print(value, sizeof value, "%d %" PRId64 " %a %a", u->states, u->steps, u->product[0], u->product[1]);
        add_line(&l, "training.optimizer", value);
        if (u->name)
            add_line(&l, "training.optimizer.name", u->name);
    }
    if (state->ema) {
        snprintf(value, sizeof value, "%" PRId64, tg_ema_updates(state->ema));
        add_line(&l, "training.ema", value);
    }
    for (int i = 0; i < TG_TRAINING_GENERATORS; i++)
        if (state->rng[i]) {
            snprintf(key, sizeof key, "training.rng.%d", i);
            snprintf(value, sizeof value, "%" PRIu64 " %" PRIu64, state->rng[i]->key, state->rng[i]->position);
            add_line(&l, key, value);
        }
    return l;
}

/* The few numbers of a file. */
typedef struct numbers {
    tg_update_state update;
    tg_rng rng[TG_TRAINING_GENERATORS];
    int64_t position, averaged;
} numbers;

/* What the lines of a file say; false with the key of the first that is missing or wrong. */
static bool read_lines(const tg_safetensors *file, const tg_training_state *state, numbers *n, char wrong[TEXT])
{
    tg_update_state *update = &n->update;
    const char *value = tg_safetensors_metadata(file, strcpy(wrong, "training.position"));
    char end;
    if (!value || tg_scan(value, "%" SCNd64 "%c", &n->position, &end) != 1)
        return false;
    value = tg_safetensors_metadata(file, strcpy(wrong, "training.optimizer"));
    if (!value != !state->update)
        return false;
    if (value && (tg_scan(value, "%d %" SCNd64 " %la %la%c", &update->states, &update->steps, &update->product[0],
                          &update->product[1], &end) != 4 ||
                  update->states != state->update->states || update->steps < 0))
        return false;
    value = tg_safetensors_metadata(file, strcpy(wrong, "training.ema"));
    if (!value != !state->ema ||
        (value && (tg_scan(value, "%" SCNd64 "%c", &n->averaged, &end) != 1 || n->averaged < 0)))
        return false;
    for (int i = 0; i < TG_TRAINING_GENERATORS; i++) {
        snprintf(wrong, TEXT, "training.rng.%d", i);
        value = tg_safetensors_metadata(file, wrong);
        if (!value != !state->rng[i] ||
            (value && tg_scan(value, "%" SCNu64 " %" SCNu64 "%c", &n->rng[i].key, &n->rng[i].position, &end) != 2))
            return false;
    }
    return true;
}

/* ---- saving ---- */

static bool save(const tg_training_state *state, const char *path, const tg_metadata *metadata, int count,
                 tg_file_item *items, char (*names)[LONGEST], tg_metadata *all, tg_error *error)
{
    const int parameters = tg_parameters_count(state->parameters);
    const lines own = lines_of(state);
    int number = 0;
    for (int block = 0; block <= block_count(state); block++)
        for (int i = 0; i < parameters; i++, number++) {
            const tg_parameter *p = tg_parameters_at(state->parameters, i);
            name_in_file(names[number], state, p, block);
            items[number] = (tg_file_item){names[number], p->dtype, p->shape,
                                           block_of(state, block) + tg_parameter_offset(state->parameters, p)};
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
    if (optimizer_blocks(state) < 0 || optimizer_blocks(state) > TG_UPDATE_STATES)
        return "the optimiser has too many blocks";
    for (int k = 1; k <= optimizer_blocks(state); k++)
        if (!block_of(state, k))
            return "a block of the optimiser is missing";
    if (state->update && state->update->size && state->update->size != tg_parameters_size(state->parameters))
        return "the parameter set has grown since the optimiser was made, or it is that of another set";
    const tg_parameters *averages = tg_ema_parameters(state->ema);
    if (averages && (tg_parameters_count(averages) != tg_parameters_count(state->parameters) ||
                     tg_parameters_size(averages) != tg_parameters_size(state->parameters) ||
                     tg_parameters_dtype(averages) != tg_parameters_dtype(state->parameters)))
        return "the parameter set has grown since the average was made, or it is that of another set";
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
    const size_t most = (size_t)tg_parameters_count(state->parameters) * (size_t)(block_count(state) + 1);
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

/* All blocks, one behind the other, into `into`. */
static bool read_blocks(tg_safetensors *file, const char *path, const tg_training_state *state, char *into,
                        size_t bytes, tg_error *error)
{
    char name[LONGEST];
    for (int block = 0; block <= block_count(state); block++, into += bytes)
        for (int i = 0; i < tg_parameters_count(state->parameters); i++) {
            const tg_parameter *p = tg_parameters_at(state->parameters, i);
            name_in_file(name, state, p, block);
            const tg_file_tensor *tensor = tg_safetensors_find(file, name);
            if (!tensor || !tg_shape_equal(&tensor->shape, &p->shape) ||
                strcmp(tensor->dtype, p->dtype == TG_F32 ? "F32" : "F64") != 0)
                return tg_file_refuse(error, path, "tensor %.200s %s", name,
                                      tensor ? "has another shape or type than the model's" : "is missing");
            if (!tg_safetensors_read(file, tensor, p->dtype, into + tg_parameter_offset(state->parameters, p), error))
                return false;
        }
    const int own = tg_parameters_count(state->parameters) * (block_count(state) + 1);
    int count = own;
    while (tg_safetensors_at(file, count)) /* those of a larger model */
        count++;
    return count == own || tg_file_refuse(error, path, "it has %d tensors, and this run has %d", count, own);
}

/* Files from before it was written have no name. */
static bool same_optimizer(const tg_safetensors *file, const char *path, const tg_training_state *state,
                           tg_error *error)
{
    const char *name = tg_safetensors_metadata(file, "training.optimizer.name"),
               *own = state->update ? state->update->name : NULL;
    return !name || !own || strncmp(name, own, TEXT - 1) == 0 ||
           tg_file_refuse(error, path, "it keeps the state of %.40s, and this run's optimiser is %.40s", name, own);
}

static bool load(tg_training_state *state, tg_safetensors *file, const char *path, tg_error *error)
{
    numbers n = {0};
    char key[TEXT];
    if (!same_optimizer(file, path, state, error))
        return false;
    if (!read_lines(file, state, &n, key))
        return tg_file_refuse(error, path, "'%s' is missing, or is not that of this run", key);
    const size_t bytes =
        (size_t)tg_parameters_size(state->parameters) * tg_dtype_size(tg_parameters_dtype(state->parameters));
    char *blocks = malloc(bytes * (size_t)(block_count(state) + 1) + 1);
    const bool fine =
        blocks ? read_blocks(file, path, state, blocks, bytes, error) : tg_file_refuse(error, path, "out of memory");
    for (int block = 0; fine && bytes && block <= block_count(state); block++)
        memcpy(block_of(state, block), blocks + (size_t)block * bytes, bytes);
    free(blocks);
    if (!fine)
        return false;
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
    const char *wrong = wrong_state(state);
    if (wrong)
        return tg_file_refuse(error, path, "%s", wrong);
    tg_safetensors *file = tg_safetensors_open(path, error);
    const bool fine = file && load(state, file, path, error);
    tg_safetensors_close(file);
    return fine;
}
