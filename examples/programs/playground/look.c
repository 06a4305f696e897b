#include "examples/programs/playground/internal.h"

enum { LARGEST_MAP = 256 };

/* The input of `linear`, the outputs of the last hidden layer. */
static tg_tensor input_of(tg_tensor linear)
{
    tg_tape *tape = tg_tape_of(linear);
    const tg_value *input = tg_value_input(linear.value, 0);
    for (int64_t i = 0; i < tg_tape_count(tape).values; i++)
        if (tg_tape_tensor(tape, i).value == input)
            return tg_tape_tensor(tape, i);
    return TG_NONE;
}

/* Columns of x [rows, columns], from number `column` on, become rows of a map. */
static float *add_columns(float *map, tg_tensor x, int64_t column)
{
    const float *from = tg_f32(x);
    const int64_t rows = tg_dim(x, 0), columns = tg_dim(x, 1);
    for (; from && column < columns; column++)
        for (int64_t row = 0; row < rows; row++)
            *map++ = from[row * columns + column];
    return map;
}

/* The centres of size x size squares of the map, row by row from the bottom. */
static tg_tensor squares(tg_tape *tape, double reach, int size)
{
    float(*middles)[2] = calloc((size_t)size * (size_t)size, sizeof *middles);
    for (int i = 0; middles && i < size * size; i++)
        for (int axis = 0; axis < 2; axis++)
            middles[i][axis] = (float)(reach * ((2 * (axis ? i / size : i % size) + 1) / (double)size - 1));
    tg_tensor x = tg_constant(tape, TG_F32, middles, TG_SHAPE(size * size, 2));
    free(middles);
    return x;
}

const float *playground_map(playground *p, int which, int size)
{
    const playground_one *n = playground_one_at(p, which);
    if (!n || size < 1 || size > LARGEST_MAP)
        return playground_fail(p, "there is no such net, or the map is too large"), NULL;
    float *map =
        playground_answer(p, (size_t)(1 + playground_units(p, which)) * (size_t)size * (size_t)size, sizeof *map);
    if (!map)
        return NULL;
    tg_mlp_trace trace;
    tg_tape_reset(p->look);
    tg_no_grad_begin(p->look);
    tg_tensor logits = tg_mlp_forward_with(n->mlp, squares(p->look, playground_reach(p), size), NULL, &trace);
    float *end = n->config.outputs == 1 ? add_columns(map, logits, 0) : add_columns(map, tg_softmax(logits, -1), 1);
    for (int layer = 0; layer < trace.count; layer++)
        end = add_columns(end, input_of(layer + 1 < trace.count ? trace.preactivation[layer + 1] : logits), 0);
    tg_no_grad_end(p->look);
    return tg_tape_error(p->look) ? playground_fail_as(p, p->look), NULL : map;
}

int playground_dead(playground *p, int which)
{
    const playground_one *n = playground_one_at(p, which);
    tg_dead_units *dead = n ? tg_dead_units_new(n->mlp) : NULL;
    tg_mlp_trace trace;
    if (!n)
        return 0;
    playground_evaluate(p, n, &trace);
    if (!tg_dead_units_see(dead, &trace))
        playground_fail_as(p, p->look);
    const int count = (int)lround(tg_dead_units_fraction(dead) * playground_units(p, which));
    tg_dead_units_free(dead);
    return count;
}

const double *playground_histogram(playground *p, int which, double low, double high, int bins)
{
    const playground_one *n = playground_one_at(p, which);
    if (!n || bins < 1 || !(low < high))
        return playground_fail(p, "there is no such net, or the range is empty"), NULL;
    double *parts = playground_answer(p, (size_t)bins, sizeof *parts);
    tg_mlp_trace trace;
    playground_evaluate(p, n, &trace);
    const double one = 1. / ((double)p->count * playground_units(p, which));
    for (int layer = 0; parts && layer < trace.count; layer++)
        for (int64_t i = 0; i < tg_size(trace.preactivation[layer]); i++) {
            const double at = (tg_f32(trace.preactivation[layer])[i] - low) / (high - low) * bins;
            if (at >= 0 && at < bins)
                parts[(int)at] += one;
        }
    return tg_tape_error(p->look) ? playground_fail_as(p, p->look), NULL : parts;
}

const double *playground_curve(playground *p, int activation, double low, double high, int count)
{
    if (!p || count < 2 || !tg_activation_name((tg_activation)activation))
        return playground_fail(p, "there is no such activation"), NULL;
    double *curve = playground_answer(p, 3 * (size_t)count, sizeof *curve);
    if (!curve)
        return NULL;
    for (int i = 0; i < count; i++)
        curve[i] = low + (high - low) * i / (count - 1);
    tg_tape_reset(p->look);
    tg_tensor x = tg_variable(p->look, TG_F64, curve, TG_SHAPE(count)), derivative[3];
    derivative[0] = tg_activation_is_gated((tg_activation)activation)
                        ? tg_activate_gated((tg_activation)activation, x, tg_full(p->look, TG_F64, TG_SHAPE(count), 1))
                        : tg_activate((tg_activation)activation, x, NULL);
    for (int order = 0; order < 3; order++) {
        if (order > 0)
            tg_grad(&derivative[order - 1], 1, &x, 1, NULL, true, &derivative[order]);
        tg_read(derivative[order], TG_F64, curve + order * count, count);
    }
    return tg_tape_error(p->look) ? playground_fail_as(p, p->look), NULL : curve;
}

/* A step forward and backward, as training records it; every tensor of the forward pass keeps its gradient. */
static bool record(playground *p, playground_one *n)
{
    int count;
    const int32_t *rows = playground_batch(p, n, false, &count);
    tg_rng training = n->training; /* a copy, so that the next step draws the same numbers */
    tg_tape_reset(p->step);
    const tg_tensor x = playground_points_on(p->step, p, rows, count, TG_F32),
                    outputs = tg_mlp_forward_with(n->mlp, x, &training, NULL),
                    loss = playground_objective(n, tg_named(playground_loss_on(p, outputs, rows, count), "loss"));
    p->forward = tg_tape_count(p->step).values;
    for (int64_t i = 0; i < p->forward; i++)
        if (tg_value_op(tg_tape_tensor(p->step, i).value))
            tg_retain_gradient(tg_tape_tensor(p->step, i));
    const bool fine = tg_backward(loss);
    tg_parameters_clear_gradients(tg_mlp_parameters(n->mlp));
    return fine ? true : playground_fail_as(p, p->step);
}

const char *playground_tape(playground *p, int which)
{
    playground_one *n = playground_one_at(p, which);
    if (!n || !record(p, n))
        return NULL;
    const size_t length = tg_tape_dot(p->step, NULL, 0);
    char *text = playground_answer(p, length, 1);
    if (text)
        tg_tape_dot(p->step, text, length + 1);
    return text;
}

static playground_summary summary_of(tg_tensor x)
{
    playground_summary s = {(double)tg_size(x), INFINITY, 0, -INFINITY};
    for (int64_t i = 0; i < tg_size(x); i++) {
        s.smallest = fmin(s.smallest, tg_at(x, i));
        s.largest = fmax(s.largest, tg_at(x, i));
        s.mean += tg_at(x, i) / s.elements;
    }
    return s.elements > 0 ? s : (playground_summary){0};
}

/* The backward pass reuses buffers while it runs; only tensors that are gradients of others keep theirs. */
static bool is_kept(const playground *p, int64_t index)
{
    const tg_tensor x = tg_tape_tensor(p->step, index);
    for (int64_t i = 0; index >= p->forward && i < p->forward; i++)
        if (tg_gradient(tg_tape_tensor(p->step, i)).value == x.value)
            return true;
    return index < p->forward;
}

const playground_summary *playground_tensor(playground *p, int index)
{
    const tg_tensor x = p ? tg_tape_tensor(p->step, index) : TG_NONE;
    if (!tg_ok(x))
        return NULL;
    p->summary[0] = is_kept(p, index) ? summary_of(x) : (playground_summary){0};
    p->summary[1] = summary_of(tg_gradient(x));
    return p->summary;
}
