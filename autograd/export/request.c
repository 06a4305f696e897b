/* What an export is asked for: checked, found on the tape, and placed in memory. */
#include "autograd/export/writer.h"
#include "autograd/tape/tape_internal.h"

#include <ctype.h>
#include <stdlib.h>

static bool is_identifier(const char *name)
{
    for (const char *at = name; *at; at++)
        if (!(isalpha((unsigned char)*at) || *at == '_' || (at > name && isdigit((unsigned char)*at))))
            return false;
    return *name;
}

/* Refuses, with the error on the tape. */
static bool refuse(tg_writer *w, const char *why)
{
    return tg_program_fail(w->program, "export: %s", why);
}

/* True if all needed values have one floating type, which is then the file's. */
static bool find_type(tg_writer *w, const tg_exported *f, bool *found)
{
    for (int64_t i = 0; i < w->program->count; i++) {
        const tg_value *value = tg_program_at(w->program, i);
        if (f->places[i].kind == TG_PLACE_NONE || value->dtype == TG_I32)
            continue;
        if (*found && w->needed.dtype != value->dtype)
            return refuse(w, "the program has values of f32 and of f64");
        w->needed.dtype = value->dtype;
        *found = true;
    }
    return true;
}

/* A tensor of the configuration as a value; NULL, with the error recorded, if it cannot be used. */
static const tg_value *value_of(tg_writer *w, const tg_export_tensor *of, bool is_argument)
{
    const char *problem = tg_tape_problem((tg_tape *)w->program, of->tensor);
    const tg_value *value = problem ? NULL : tg_value_of(of->tensor);
    if (problem)
        tg_program_fail(w->program, "export: an input or output is %s", problem);
    else if (is_argument && (value->op || value->parameter))
        return refuse(w, "an input is computed, or a parameter, and no constant"), NULL;
    else if (value->size == 0)
        return refuse(w, "an input or output is empty"), NULL;
    else if (of->scale && (!of->mean || value->dtype == TG_I32))
        return refuse(w, "a scale needs a mean, and a floating type"), NULL;
    else if (of->limit && (!of->scale || !is_argument))
        return refuse(w, "a limit is for an input with a scale"), NULL;
    return value;
}

static bool take_step(tg_writer *w, const tg_export_step *s)
{
    const tg_tape *tape = (const tg_tape *)w->program;
    const tg_export_tensor loss = {.tensor = s->loss};
    bool has_gradients = false;
    tg_exported *f = &w->function[TG_STEP];
    *f = (tg_exported){.port = {&s->input, &s->target}, .name = {"x", "y"}, .trains = true};
    if (!(f->argument[0] = value_of(w, &s->input, true)) || !(f->argument[1] = value_of(w, &s->target, true)) ||
        !(f->result = value_of(w, &loss, false)))
        return false;
    for (int64_t i = 0; i < w->program->count; i++)
        has_gradients |= tg_program_at(w->program, i)->sink != NULL;
    if (!has_gradients || f->result->size != 1)
        return refuse(w, "a step needs a loss, of which tg_backward has been called");
    if (f->argument[0]->shape->rank == 0 || f->argument[1]->shape->rank == 0 ||
        f->argument[0]->shape->dim[0] != f->argument[1]->shape->dim[0])
        return refuse(w, "input and target of the step have no equal number of rows");
    return !tape->not_replayed || refuse(w, tape->not_replayed);
}

/* One of the tensors of tg_export_next as a value. */
static const tg_value *tensor_of(tg_writer *w, tg_tensor tensor, bool is_argument)
{
    return value_of(w, &(tg_export_tensor){.tensor = tensor}, is_argument);
}

static bool is_whole_number(const tg_value *value)
{
    return value->dtype == TG_I32 && value->size == 1;
}

static bool take_state(tg_writer *w, const tg_export_state *state)
{
    const tg_value *before = tensor_of(w, state->before, true),
                   *after = before ? tensor_of(w, state->after, false) : NULL;
    if (!after)
        return false;
    const int64_t most = state->grows && before->shape->rank == 3 ? before->shape->dim[1] : 1;
    if (before->dtype != after->dtype || before->dtype == TG_I32 || before->size != most * after->size)
        return refuse(w, "a state before and after a token is not of the same type and shape");
    return !state->grows || most == w->config->next->most || refuse(w, "a state that grows is not [1, most, size]");
}

static bool take_next(tg_writer *w, const tg_export_next *next)
{
    static const tg_export_tensor plain;
    tg_exported *f = &w->function[TG_NEXT];
    *f = (tg_exported){.port = {&plain, &plain}, .name = {"&token", "&reading.count"}};
    if (!(f->argument[0] = tensor_of(w, next->token, true)) || !(f->result = tensor_of(w, next->logits, false)) ||
        (next->position.value && !(f->argument[1] = tensor_of(w, next->position, true))))
        return false;
    if (!is_whole_number(f->argument[0]) || (f->argument[1] && !is_whole_number(f->argument[1])))
        return refuse(w, "token and position are not one i32 each");
    if (next->states < 0 || next->states > TG_EXPORT_STATES || next->most < 0 || next->most > INT32_MAX ||
        (next->most == 0 && (f->argument[1] || next->states == 0)))
        return refuse(w, "a function for one token has no position without `most`, and a state or `most`");
    for (int i = 0; i < next->states; i++)
        if (!take_state(w, &next->state[i]))
            return false;
    return true;
}

static bool take(tg_writer *w, const tg_export_config *config)
{
    tg_exported *f = &w->function[TG_PREDICT];
    *f = (tg_exported){.port = {&config->input, NULL}, .name = {"x"}};
    if (!is_identifier(w->name))
        return refuse(w, "the name is not one of C");
    if (!(f->argument[0] = value_of(w, &config->input, true)) || !(f->result = value_of(w, &config->output, false)))
        return false;
    return (!config->next || take_next(w, config->next)) && (!config->step || take_step(w, config->step));
}

void tg_writer_end(tg_writer *w)
{
    for (int k = 0; k < TG_FUNCTIONS; k++)
        free(w->function[k].places);
}

bool tg_writer_begin(tg_writer *w, tg_tape *tape, const tg_export_config *config)
{
    bool found = false;
    *w = (tg_writer){0};
    if (!tape || !config || tg_program_failed(&tape->program) || !tg_tape_compute(tape))
        return false;
    *w = (tg_writer){.program = &tape->program, .config = config, .name = config->name ? config->name : "net"};
    if (!take(w, config))
        return false;
    for (int k = 0; k < TG_FUNCTIONS; k++) {
        tg_exported *f = &w->function[k];
        f->places = calloc((size_t)w->program->count, sizeof *w->places);
        if (!f->places)
            return refuse(w, "out of memory");
        if (f->result && k == TG_NEXT)
            tg_places_states(w, f);
        if (f->result)
            tg_places_mark(w, f);
        if (!find_type(w, f, &found))
            return false;
    }
    if (config->next && config->next->most > 1 && !tg_places_grow(w, &w->function[TG_NEXT]))
        return false;
    if (!config->step)
        tg_places_transpose(w);
    tg_places_weights(w);
    for (int k = 0; k < TG_FUNCTIONS; k++)
        if (w->function[k].result)
            tg_places_values(w, &w->function[k]);
    return true;
}
