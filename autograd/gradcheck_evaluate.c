/* The function under check, its derivatives at any point, and how much of their digits is rounding. */
#include "autograd/gradcheck_internal.h"

#include "autograd/grad.h"

#include <math.h>
#include <string.h>

/* ---- memory ---- */

double *tg_check_take_from(tg_check *c, tg_arena *arena, int64_t count)
{
    double *numbers = NULL;
    if ((uint64_t)count <= SIZE_MAX / sizeof *numbers)
        numbers = tg_arena_take(arena, (size_t)count * sizeof *numbers, sizeof *numbers);
    if (numbers)
        memset(numbers, 0, (size_t)count * sizeof *numbers);
    else
        tg_check_fail(c, TG_GRADCHECK_REFUSED, "out of memory");
    return numbers;
}

double *tg_check_take(tg_check *c, int64_t count)
{
    return tg_check_take_from(c, &c->arena, count);
}

static tg_tensor *take_tensors(tg_check *c, int count)
{
    tg_tensor *tensors = tg_arena_take(&c->arena, (size_t)count * sizeof *tensors, sizeof(void *));
    if (!tensors)
        tg_check_fail(c, TG_GRADCHECK_REFUSED, "out of memory");
    return tensors;
}

/* ---- recording ---- */

static const tg_shape *shape_of(const tg_gradcheck_input *input)
{
    return input->parameter ? &input->parameter->shape : &input->shape;
}

static bool is_varied(const tg_gradcheck_input *input)
{
    return !input->fixed && !input->integers;
}

static tg_tensor put_variable(tg_check *c, const tg_gradcheck_input *input, const tg_check_part *part,
                              const double *x)
{
    if (!input->parameter)
        return c->unannounced ? tg_constant(c->tape, TG_F64, x + part->offset, part->shape)
                              : tg_variable(c->tape, TG_F64, x + part->offset, part->shape);
    if (part->size > 0)
        memcpy(input->parameter->data, x + part->offset, (size_t)part->size * sizeof *x);
    return tg_parameter_tensor(c->tape, input->parameter);
}

static tg_tensor put_constant(tg_check *c, const tg_gradcheck_input *input)
{
    if (input->parameter)
        return tg_parameter_tensor(c->tape, input->parameter);
    if (input->integers)
        return tg_constant(c->tape, TG_I32, input->integers, input->shape);
    return tg_constant(c->tape, TG_F64, input->data, input->shape);
}

static bool tape_fine(tg_check *c)
{
    const char *error = tg_tape_error(c->tape);
    return !error || tg_check_fail(c, TG_GRADCHECK_REFUSED, "the tape says: %s", error);
}

bool tg_check_record(tg_check *c, const double *x, tg_tensor *result)
{
    tg_tape_reset(c->tape);
    for (int i = 0, part = 0; i < c->count; i++) {
        const tg_gradcheck_input *input = &c->inputs[i];
        c->tensors[i] =
            is_varied(input) ? put_variable(c, input, &c->parts[part], x) : put_constant(c, input);
        if (is_varied(input))
            c->varied[part++] = c->tensors[i];
    }
    *result = c->function(c->tape, c->tensors, c->count, c->user);
    if (!tape_fine(c))
        return false;
    if (!tg_ok(*result) || tg_dtype_of(*result) != TG_F64)
        return tg_check_fail(c, TG_GRADCHECK_REFUSED, "expected the function to return an f64 tensor, not %s",
                             tg_ok(*result) ? tg_dtype_name(tg_dtype_of(*result)) : "an inert one");
    return true;
}

/* The cotangents of derivative number `level`: one tensor for the function, one for each part of a gradient. */
static void put_cotangents(tg_check *c, int level)
{
    const double *cotangent = c->level[level].cotangent;
    if (level == 0)
        c->cotangents[0] = tg_constant(c->tape, TG_F64, cotangent, c->output_shape);
    for (int p = 0; level > 0 && p < c->part_count; p++)
        c->cotangents[p] = tg_constant(c->tape, TG_F64, cotangent + c->parts[p].offset, c->parts[p].shape);
}

/* A gradient has the shape and type of its input. */
static bool gradients_fit(tg_check *c, int order)
{
    for (int p = 0; p < c->part_count; p++) {
        tg_shape shape = tg_shape_of(c->gradients[p]);
        if (tg_dtype_of(c->gradients[p]) == TG_F64 && tg_shape_equal(&shape, &c->parts[p].shape))
            continue;
        char has[128], wants[128];
        c->verdict.input = c->parts[p].input;
        c->verdict.order = order;
        return tg_check_fail(c, TG_GRADCHECK_SHAPE, "the gradient is %s%s, but its input f64%s",
                             tg_dtype_name(tg_dtype_of(c->gradients[p])),
                             tg_shape_text(&shape, has, sizeof has),
                             tg_shape_text(&c->parts[p].shape, wants, sizeof wants));
    }
    return true;
}

bool tg_check_derive(tg_check *c, int level, tg_tensor result, double *out)
{
    int results = 1;
    c->results[0] = result;
    for (int k = 0; k < level; k++) {
        put_cotangents(c, k);
        if (!tg_grad(c->results, results, c->varied, c->part_count, c->cotangents, k + 1 < level,
                     c->gradients))
            return tape_fine(c) && tg_check_fail(c, TG_GRADCHECK_REFUSED, "tg_grad fails without saying why");
        if (!gradients_fit(c, k + 1))
            return false;
        results = c->part_count;
        memcpy(c->results, c->gradients, (size_t)results * sizeof *c->results);
    }
    for (int i = 0; i < results; i++) {
        tg_read(c->results[i], TG_F64, out, tg_size(c->results[i]));
        out += tg_size(c->results[i]);
    }
    return true;
}

bool tg_check_evaluate(tg_check *c, int level, const double *x, double *out)
{
    tg_tensor result;
    if (!tg_check_record(c, x, &result))
        return false;
    if (tg_size(result) != c->level[0].length)
        return tg_check_fail(c, TG_GRADCHECK_NOT_REPEATABLE,
                             "the result has %lld elements now and %lld before", (long long)tg_size(result),
                             (long long)c->level[0].length);
    return tg_check_derive(c, level, result, out);
}

/* ---- rounding ---- */

/* Points at uneven distances, lest they resonate with the grid of numbers that the function's values are rounded to; and for
 * each window of four the weights that cancel everything up to a parabola, with squares that add up to 1. */
static const double distance[TG_CHECK_WINDOWS + 3] = {1, 1.83, 3.19, 4.07, 5.31, 5.93, 7.38, 8.21};

static void window_weights(int window, double weights[4])
{
    double square = 0;
    for (int i = 0; i < 4; i++) {
        weights[i] = 1;
        for (int j = 0; j < 4; j++)
            if (j != i)
                weights[i] /= distance[window + i] - distance[window + j];
        square += weights[i] * weights[i];
    }
    for (int i = 0; i < 4; i++)
        weights[i] /= sqrt(square);
}

static void add_point(tg_check_level *level, const double *values, int point)
{
    for (int w = 0; w < TG_CHECK_WINDOWS; w++) {
        double weights[4];
        window_weights(w, weights);
        for (int64_t i = 0; point >= w && point < w + 4 && i < level->length; i++)
            level->noise[w][i] += weights[point - w] * (values[i] - level->value[i]);
    }
}

/* All variables move together in tiny steps. Over these the function is as good as a parabola, so that what is left in its
 * third differences is rounding, its own and its arguments'. The point itself is left out: it may be a kink. */
static bool measure_rounding(tg_check *c)
{
    double *step = tg_check_take(c, c->variables);
    for (int64_t i = 0; step && i < c->variables; i++)
        step[i] = 0x1p-26 * c->scale[i] * tg_check_weight(&c->rng);
    for (int point = 0; step && point < TG_CHECK_WINDOWS + 3; point++) {
        for (int64_t i = 0; i < c->variables; i++)
            c->moved[i] = c->point[i] + distance[point] * step[i];
        for (int k = 0; k <= c->options.order; k++) {
            if (!tg_check_evaluate(c, k, c->moved, c->ahead))
                return false;
            add_point(&c->level[k], c->ahead, point);
        }
    }
    return step != NULL;
}

double tg_check_noise(const tg_check *c, int level, const double *weights, int64_t from, int64_t to)
{
    const tg_check_level *l = &c->level[level];
    double sum = 0, square = 0;
    for (int w = 0; w < TG_CHECK_WINDOWS; w++) {
        double difference = 0;
        for (int64_t i = from; i < to; i++)
            difference += weights[i] * l->noise[w][i];
        sum += difference * difference;
    }
    for (int64_t i = from; i < to; i++)
        square += weights[i] * weights[i] * l->value[i] * l->value[i];
    double measured = sqrt(sum / TG_CHECK_WINDOWS), least = TG_CHECK_ROUNDING * sqrt(square);
    return isfinite(measured) && measured > least ? measured : least;
}

/* ---- set-up ---- */

double tg_check_weight(tg_rng *rng)
{
    double size = 0.5 + tg_rng_uniform(rng);
    return tg_rng_bits(rng) & 1 ? size : -size;
}

static bool input_fits(tg_check *c, int i)
{
    const tg_gradcheck_input *input = &c->inputs[i];
    int64_t size = tg_shape_size(shape_of(input));
    int sources = !!input->data + !!input->integers + !!input->parameter;
    c->verdict.input = i;
    if (size < 0)
        return tg_check_fail(c, TG_GRADCHECK_REFUSED, "its shape is none");
    if (sources > 1 || (sources == 0 && size > 0))
        return tg_check_fail(c, TG_GRADCHECK_REFUSED, "expected one of data, integers and parameter");
    if (input->parameter && (input->parameter->dtype != TG_F64 || (!input->parameter->data && size > 0)))
        return tg_check_fail(c, TG_GRADCHECK_REFUSED, "expected a parameter with data of type f64");
    c->verdict.input = -1;
    return true;
}

static bool make_parts(tg_check *c)
{
    c->parts = tg_arena_take(&c->arena, (size_t)c->count * sizeof *c->parts, sizeof(int64_t));
    if (!c->parts)
        return tg_check_fail(c, TG_GRADCHECK_REFUSED, "out of memory");
    for (int i = 0; i < c->count; i++) {
        if (!input_fits(c, i))
            return false;
        if (!is_varied(&c->inputs[i]))
            continue;
        const tg_shape *shape = shape_of(&c->inputs[i]);
        tg_check_part *part = &c->parts[c->part_count++];
        *part = (tg_check_part){
            .input = i, .shape = *shape, .offset = c->variables, .size = tg_shape_size(shape)};
        c->variables += part->size;
    }
    return c->part_count > 0 || tg_check_fail(c, TG_GRADCHECK_REFUSED, "there is no input to differentiate");
}

/* The power of two at or below. */
static double power_of_two(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 1);
}

static void set_point(tg_check *c)
{
    for (int p = 0; p < c->part_count; p++) {
        const tg_check_part *part = &c->parts[p];
        const tg_gradcheck_input *input = &c->inputs[part->input];
        const double *data = input->parameter ? input->parameter->data : input->data;
        double *point = c->point + part->offset, largest = 0, square = 0;
        for (int64_t i = 0; i < part->size; i++) {
            point[i] = data[i];
            largest = fmax(largest, fabs(data[i]));
        }
        for (int64_t i = 0; largest > 0 && i < part->size; i++)
            square += point[i] / largest * (point[i] / largest);
        double typical = largest > 0 ? largest * sqrt(square / (double)part->size) : 1;
        for (int64_t i = 0; i < part->size; i++)
            c->scale[part->offset + i] = power_of_two(fmax(fabs(point[i]), typical));
    }
}

static bool make_level(tg_check *c, int k, int64_t length)
{
    tg_check_level *level = &c->level[k];
    level->length = length;
    level->cotangent = tg_check_take(c, length);
    level->value = tg_check_take(c, length);
    if (!level->cotangent || !level->value)
        return false;
    for (int w = 0; w < TG_CHECK_WINDOWS; w++)
        if (!(level->noise[w] = tg_check_take(c, length)))
            return false;
    for (int64_t i = 0; i < length; i++)
        level->cotangent[i] = tg_check_weight(&c->rng);
    return true;
}

static bool make_room(tg_check *c)
{
    c->tensors = take_tensors(c, c->count);
    c->varied = take_tensors(c, c->part_count);
    c->results = take_tensors(c, c->part_count);
    c->gradients = take_tensors(c, c->part_count);
    c->cotangents = take_tensors(c, c->part_count);
    c->scale = tg_check_take(c, c->variables);
    c->moved = tg_check_take(c, c->variables);
    if (!c->tensors || !c->varied || !c->results || !c->gradients || !c->cotangents || !c->scale || !c->moved)
        return false;
    c->point = tg_check_take(c, c->variables); /* last: tg_check_close takes it as filled */
    return c->point;
}

static bool all_finite(const double *values, int64_t count, int64_t *where)
{
    for (*where = 0; *where < count; ++*where)
        if (!isfinite(values[*where]))
            return false;
    return true;
}

static bool evaluate_levels(tg_check *c)
{
    tg_tensor result;
    int64_t where;
    if (!tg_check_record(c, c->point, &result))
        return false;
    c->output_shape = tg_shape_of(result);
    int64_t longest = tg_size(result) > c->variables ? tg_size(result) : c->variables;
    c->ahead = tg_check_take(c, longest);
    c->behind = tg_check_take(c, longest);
    if (!c->ahead || !c->behind)
        return false;
    for (int k = 0; k <= c->options.order; k++) {
        tg_check_level *level = &c->level[k];
        if (!make_level(c, k, k == 0 ? tg_size(result) : c->variables) ||
            !tg_check_evaluate(c, k, c->point, level->value))
            return false;
        if (all_finite(level->value, level->length, &where))
            continue;
        if (k == 0) {
            c->outputs_finite = false;
            return tg_check_fail(c, TG_GRADCHECK_NOT_FINITE, "the result is %g at element %lld",
                                 level->value[where], (long long)where);
        }
        int part = c->part_count - 1;
        while (where < c->parts[part].offset)
            part--;
        c->verdict.order = k;
        c->verdict.input = c->parts[part].input;
        c->verdict.index = where - c->parts[part].offset;
        c->verdict.analytic = level->value[where];
        return tg_check_fail(c, TG_GRADCHECK_NOT_FINITE, "the derivative is %g, though the result is finite",
                             level->value[where]);
    }
    return true;
}

bool tg_check_open(tg_check *c)
{
    c->outputs_finite = true;
    c->tape = tg_tape_new();
    if (!c->tape)
        return tg_check_fail(c, TG_GRADCHECK_REFUSED, "out of memory");
    if (!make_parts(c) || !make_room(c))
        return false;
    set_point(c);
    if (!evaluate_levels(c) || !measure_rounding(c))
        return false;
    for (int k = 0; k <= c->options.order; k++) {
        tg_check_level *level = &c->level[k];
        double square = 0;
        for (int64_t i = 0; i < level->length; i++)
            square += level->cotangent[i] * level->value[i] * level->cotangent[i] * level->value[i];
        level->size = sqrt(square);
        level->rounding = tg_check_noise(c, k, level->cotangent, 0, level->length);
    }
    return true;
}

void tg_check_close(tg_check *c)
{
    for (int p = 0; c->point && p < c->part_count; p++) {
        const tg_check_part *part = &c->parts[p];
        if (c->inputs[part->input].parameter && part->size > 0)
            memcpy(c->inputs[part->input].parameter->data, c->point + part->offset,
                   (size_t)part->size * sizeof(double));
    }
    tg_tape_free(c->tape);
    tg_arena_free(&c->arena);
}
