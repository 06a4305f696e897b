#include "autograd/tape/changes.h"

atomic_int_fast64_t tg_changes;

int64_t tg_next_change(void)
{
    return atomic_fetch_add_explicit(&tg_changes, 1, memory_order_relaxed) + 1;
}

void tg_parameter_changed(tg_parameter *parameter)
{
    if (parameter)
        parameter->version = tg_next_change();
}

/* The latest change when a parameter was read: the step had placed its leaf, and the run had begun. */
static int64_t read_at(const tg_value *leaf, int64_t began)
{
    return leaf->change > began ? leaf->change : began;
}

static bool has_changed(const tg_value *leaf, int64_t began)
{
    return leaf->parameter ? leaf->parameter->version > read_at(leaf, began) : leaf->change > began;
}

const tg_value *tg_changed_leaf(const tg_program *program, int64_t first, int64_t end, int64_t began)
{
    for (int64_t index = first; index < end; index++) {
        const tg_value *value = tg_program_at(program, index);
        for (int i = 0; i < value->input_count; i++) {
            const tg_value *root = tg_root_of(value->inputs[i]);
            if (!root->op && has_changed(root, began))
                return root;
        }
    }
    return NULL;
}

bool tg_is_unchanged(const tg_value *leaf, int64_t began)
{
    if (!has_changed(leaf, began))
        return true;
    if (!leaf->parameter)
        return tg_program_fail(leaf->program,
                               "tensor %lld has got other numbers by tg_set since the forward pass read it: call "
                               "tg_replay, or compute the forward pass again",
                               (long long)leaf->index);
    if (leaf->parameter->made > read_at(leaf, began))
        return tg_program_fail(leaf->program,
                               "a parameter that the forward pass read has been freed, and %s is now in its memory: "
                               "call tg_tape_reset or tg_tape_free before you free parameters, or after it compute "
                               "the forward pass again",
                               leaf->parameter->name);
    return tg_program_fail(leaf->program,
                           "parameter %s has changed since the forward pass read it, by an optimiser's step perhaps: "
                           "finish all backward passes before the step, or call tg_tape_reset and compute the forward "
                           "pass again",
                           leaf->parameter->name ? leaf->parameter->name : "without a name");
}
