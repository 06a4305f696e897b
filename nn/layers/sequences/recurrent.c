#include "nn/layers/sequences/recurrent_internal.h"

#include "autograd/checkpoint.h"
#include "nn/layers/layer_internal.h"
#include "nn/layers/past_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the cells: from W x + b, and from V h + c and the state before ---- */

enum { MOST_GATES = 4 };

static tg_recurrent_state rnn(tg_tensor x, tg_tensor h, tg_recurrent_state before)
{
    (void)before;
    return (tg_recurrent_state){.h = tg_tanh(tg_add(x, h))};
}

static tg_recurrent_state gru(tg_tensor x, tg_tensor h, tg_recurrent_state before)
{
    tg_tensor of_x[3], of_h[3];
    tg_split(x, -1, 3, of_x);
    tg_split(h, -1, 3, of_h);
    const tg_tensor r = tg_sigmoid(tg_add(of_x[0], of_h[0])), z = tg_sigmoid(tg_add(of_x[1], of_h[1])),
                    n = tg_tanh(tg_mul_add(r, of_h[2], of_x[2]));
    return (tg_recurrent_state){.h = tg_mul_add(z, tg_sub(before.h, n), n)};
}

static tg_recurrent_state lstm(tg_tensor x, tg_tensor h, tg_recurrent_state before)
{
    const tg_shape shape = tg_shape_of(before.c);
    const tg_tensor both = tg_lstm_cell(x, h, before.c);
    const tg_tensor after = tg_reshape(tg_narrow(both, 0, 0, 1), shape);
    return (tg_recurrent_state){.h = after, .c = tg_reshape(tg_narrow(both, 0, 1, 1), shape)};
}

static const struct {
    const char *name;
    int gates, states;
    bool sums; /* the gates are functions of W x + b + V h + c: both biases may be added at once */
    tg_recurrent_state (*next)(tg_tensor x, tg_tensor h, tg_recurrent_state before);
} cells[] = {
    [TG_RNN] = {"rnn", 1, 1, true, rnn}, [TG_GRU] = {"gru", 3, 1, false, gru}, [TG_LSTM] = {"lstm", 4, 2, true, lstm}};
enum { CELLS = sizeof cells / sizeof cells[0] };

const char *tg_cell_name(tg_cell cell)
{
    return (unsigned)cell < CELLS ? cells[cell].name : NULL;
}

/* ---- the layer ---- */

static tg_parameter *add_one(tg_parameters *set, const char *name, const char *part, int number, tg_shape shape,
                             bool decay)
{
    char full[24];
    snprintf(full, sizeof full, number < 0 ? "%s" : "%s_l%d", part, number);
    return tg_parameters_add(set, tg_name_in(name, full).text, shape, decay);
}

tg_recurrent tg_recurrent_add(tg_parameters *set, const char *name, int number, const tg_recurrent_config *config)
{
    tg_recurrent r = {0};
    if (!config || !tg_cell_name(config->cell) || !tg_is_size(config->inputs) || !tg_is_size(config->hidden))
        return r;
    r.config = *config;
    const int64_t inputs = config->inputs, hidden = config->hidden, rows = cells[config->cell].gates * hidden;
    r.weight_ih = add_one(set, name, "weight_ih", number, TG_SHAPE(rows, inputs), true);
    r.weight_hh = add_one(set, name, "weight_hh", number, TG_SHAPE(rows, hidden), true);
    tg_parameter_initial(r.weight_ih, (tg_initial){.gain = 1, .own = sqrt((double)inputs / (3 * (double)hidden))});
    tg_parameter_initial(r.weight_hh, (tg_initial){.gain = 1, .own = sqrt(1 / 3.)});
    if (!config->no_bias) {
        r.bias_ih = add_one(set, name, "bias_ih", number, TG_SHAPE(rows), false);
        r.bias_hh = add_one(set, name, "bias_hh", number, TG_SHAPE(rows), false);
    }
    return r;
}

static tg_tensor bias_of(tg_tape *tape, tg_parameter *bias)
{
    return bias ? tg_parameter_tensor(tape, bias) : TG_NONE;
}

/* The state after a position, from its W x + b, and + c if the cell adds both. */
static tg_recurrent_state step(const tg_recurrent *r, tg_tensor x, tg_recurrent_state before)
{
    tg_tape *tape = tg_tape_of(x);
    tg_parameter *bias = cells[r->config.cell].sums ? NULL : r->bias_hh;
    const tg_tensor h = tg_linear(before.h, tg_parameter_tensor(tape, r->weight_hh), bias_of(tape, bias));
    return cells[r->config.cell].next(x, h, before);
}

static tg_tensor of_inputs(const tg_recurrent *r, tg_tensor x)
{
    tg_tape *tape = tg_tape_of(x);
    tg_tensor bias = bias_of(tape, r->bias_ih);
    if (bias.value && cells[r->config.cell].sums)
        bias = tg_add(bias, bias_of(tape, r->bias_hh));
    return tg_linear(x, tg_parameter_tensor(tape, r->weight_ih), bias);
}

/* False, with an error on the tape, if the layer or x does not fit. */
static bool fits(const char *function, const tg_recurrent *r, tg_tensor x, int rank)
{
    if (!tg_layer_has(tg_tape_of(x), function, r ? r->weight_ih : NULL) || !tg_ok(x))
        return false;
    if (tg_rank(x) != rank || tg_dim(x, -1) != r->config.inputs)
        tg_tape_fail(tg_tape_of(x), "%s: expected x [batch, %s%lld]", function, rank == 3 ? "positions, " : "",
                     (long long)r->config.inputs);
    return tg_ok(x) && tg_rank(x) == rank && tg_dim(x, -1) == r->config.inputs;
}

static tg_recurrent_state begin(const tg_recurrent *r, tg_tensor x, int64_t batch, tg_recurrent_state state)
{
    const tg_shape shape = TG_SHAPE(batch, r->config.hidden);
    if (!state.h.value)
        state.h = tg_full(tg_tape_of(x), tg_dtype_of(x), shape, 0);
    if (!state.c.value && cells[r->config.cell].states > 1)
        state.c = tg_full(tg_tape_of(x), tg_dtype_of(x), shape, 0);
    return state;
}

tg_recurrent_state tg_recurrent_step(const tg_recurrent *r, tg_tensor x, tg_recurrent_state state)
{
    if (!fits("tg_recurrent_step", r, x, 2))
        return (tg_recurrent_state){TG_NONE, TG_NONE};
    return step(r, of_inputs(r, x), begin(r, x, tg_dim(x, 0), state));
}

/* ---- sequences ---- */

/* Slices 0 .. count - 1 of the first axis. */
static void slices_of(tg_tensor x, int64_t count, tg_tensor *slice)
{
    tg_shape shape = tg_shape_of(x);
    shape.rank--;
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = shape.dim[i + 1];
    for (int64_t i = 0; i < count; i++)
        slice[i] = tg_reshape(tg_narrow(x, 0, i, 1), shape);
}

/* Positions one after the other: their W x + b, the state before, the padding -> all h, then the c of the last one. */
static tg_tensor unroll(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const tg_recurrent *r = user;
    const int states = cells[r->config.cell].states;
    const bool padded = count > 1 + states;
    const int64_t positions = tg_dim(inputs[0], 0);
    tg_tensor *x = malloc((size_t)(3 * positions + 1) * sizeof *x), *mask = x ? x + positions : NULL,
              *h = x ? mask + positions : NULL, result = TG_NONE;
    tg_recurrent_state state = {inputs[1], states > 1 ? inputs[2] : TG_NONE};
    if (!x || positions < 1) { /* inputs that are inert, as an operation before them has failed */
        free(x);
        return TG_FAIL(tape, "tg_recurrent_forward: out of memory");
    }
    slices_of(inputs[0], positions, x);
    if (padded)
        slices_of(inputs[1 + states], positions, mask);
    for (int64_t t = 0; t < positions; t++) {
        const tg_recurrent_state next = step(r, x[t], state);
        state.h = h[t] = padded ? tg_where(mask[t], next.h, state.h) : next.h;
        if (states > 1)
            state.c = padded ? tg_where(mask[t], next.c, state.c) : next.c;
    }
    h[positions] = state.c;
    result = tg_stack(h, (int)(positions + states - 1), 0);
    free(x);
    return result;
}

static tg_tensor transposed(tg_tensor x)
{
    return tg_permute(x, TG_AXES(1, 0, 2));
}

/* From W x + b, and + c if the cell adds both, [positions, batch, gates]. */
static tg_tensor run(const tg_recurrent *r, tg_tensor all, tg_tensor padding, tg_recurrent_state *state)
{
    if (!tg_ok(all)) /* an operation before has failed: there are no positions to divide into segments */
        return TG_NONE;
    const int64_t positions = tg_dim(all, 0), batch = tg_dim(all, 1), hidden = r->config.hidden,
                  segment = r->config.segment > 0 && r->config.segment < positions ? r->config.segment : positions;
    const int states = cells[r->config.cell].states;
    tg_tape *tape = tg_tape_of(all);
    tg_recurrent_state now = begin(r, all, batch, state ? *state : (tg_recurrent_state){TG_NONE, TG_NONE});
    const tg_tensor mask =
        padding.value ? tg_reshape(tg_transpose(padding, 0, 1), TG_SHAPE(positions, batch, 1)) : padding;
    const int64_t segments = (positions + segment - 1) / segment;
    tg_tensor *part = malloc((size_t)segments * sizeof *part), result = TG_NONE;
    if (!part)
        return TG_FAIL(tape, "tg_recurrent_forward: out of memory");
    for (int64_t i = 0; i < segments; i++) {
        const int64_t first = i * segment, count = positions - first < segment ? positions - first : segment;
        tg_tensor inputs[4] = {segments > 1 ? tg_narrow(all, 0, first, count) : all, now.h, now.c};
        int used = 1 + states;
        if (padding.value)
            inputs[used++] = segments > 1 ? tg_narrow(mask, 0, first, count) : mask;
        const tg_tensor y =
            segments > 1 ? tg_checkpoint(unroll, inputs, used, (void *)r) : unroll(tape, inputs, used, (void *)r);
        part[i] = states > 1 ? tg_narrow(y, 0, 0, count) : y;
        if (!state && i + 1 == segments)
            break;
        now.h = tg_reshape(tg_narrow(y, 0, count - 1, 1), TG_SHAPE(batch, hidden));
        if (states > 1)
            now.c = tg_reshape(tg_narrow(y, 0, count, 1), TG_SHAPE(batch, hidden));
    }
    result = segments > 1 ? tg_concat(part, (int)segments, 0) : part[0];
    free(part);
    if (state)
        *state = now;
    if (padding.value)
        result = tg_mul(result, mask);
    return transposed(result);
}

tg_tensor tg_recurrent_forward(const tg_recurrent *r, tg_tensor x, tg_tensor padding, tg_recurrent_state *state)
{
    if (!fits("tg_recurrent_forward", r, x, 3))
        return TG_NONE;
    const int64_t batch = tg_dim(x, 0), positions = tg_dim(x, 1);
    const tg_shape of_padding = tg_shape_of(padding), expected = TG_SHAPE(batch, positions);
    tg_tape *tape = tg_tape_of(x);
    if (positions < 1)
        return TG_FAIL(tape, "tg_recurrent_forward: x has no positions");
    if (padding.value && !tg_shape_equal(&of_padding, &expected))
        return TG_FAIL(tape, "tg_recurrent_forward: expected padding [%lld, %lld]", (long long)batch,
                       (long long)positions);
    return run(r, of_inputs(r, transposed(x)), padding, state);
}

tg_tensor tg_recurrent_forward_ids(const tg_recurrent *r, tg_tensor table, tg_tensor ids)
{
    if (!fits("tg_recurrent_forward", r, table, 2))
        return TG_NONE;
    const tg_tensor of_letters = of_inputs(r, table);
    return run(r, tg_embedding(of_letters, tg_transpose(ids, 0, 1)), TG_NONE, NULL);
}

/* From the state after the positions before, which is then that after these. */
static tg_tensor forward_on(const tg_recurrent *r, tg_tensor x, tg_past *past)
{
    if (!fits("tg_recurrent_forward", r, x, 3))
        return TG_NONE;
    const tg_shape shape = TG_SHAPE(1, r->config.hidden);
    const bool cell = cells[r->config.cell].states > 1;
    const int room = past->next;
    tg_recurrent_state state = {.h = tg_past_state(past, tg_tape_of(x), tg_dtype_of(x), shape)};
    if (cell)
        state.c = tg_past_state(past, tg_tape_of(x), tg_dtype_of(x), shape);
    const tg_tensor y = tg_recurrent_forward(r, x, TG_NONE, &state);
    if (!tg_past_leave(past, room, state.h) || (cell && !tg_past_leave(past, room + 1, state.c)))
        return TG_NONE;
    return y;
}

static tg_tensor forward(const tg_layer *self, tg_tensor x, tg_layer_pass *pass)
{
    if (pass->past)
        return forward_on(self->layer, x, pass->past);
    return tg_recurrent_forward(self->layer, x, pass->padding, NULL);
}

/* ---- samples ---- */

static tg_layer add(void *layer, tg_parameters *set, const char *name, const tg_shape *x, int sample)
{
    static const tg_recurrent_config of[] = {{.cell = TG_RNN},
                                             {.cell = TG_GRU},
                                             {.cell = TG_LSTM},
                                             {.cell = TG_GRU, .no_bias = true},
                                             {.cell = TG_LSTM, .segment = 2}};
    tg_recurrent *l = layer;
    tg_recurrent_config config = of[sample];
    config.inputs = tg_last(x);
    config.hidden = 3;
    *l = tg_recurrent_add(set, name, 0, &config);
    return (tg_layer){.kind = &tg_recurrent_kind, .layer = l};
}

static const tg_shape shapes[] = {{3, {2, 3, 4}}, {3, {1, 5, 2}}, {3, {1, 1, 4}}, {0}};
static const tg_layer_sample samples[] = {
    {"rnn", "a tanh of inputs and state", shapes},
    {"gru", "reset and update gates", shapes},
    {"lstm", "input, forget and output gates, and a cell", shapes},
    {"padded", "a GRU without biases; the first sequence is shorter", shapes, .padded = true},
    {"segments", "an LSTM that stores two positions at a time", shapes},
    {0}};

const tg_layer_kind tg_recurrent_kind = {"recurrent", "layer", sizeof(tg_recurrent), forward, add, samples};
