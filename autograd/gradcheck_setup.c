/* Setting up a check: the variables, room for what is computed, every level at the point. */
#include "autograd/gradcheck_internal.h"

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

/* ---- variables ---- */

static bool input_fits(tg_check *c, int i)
{
    const tg_gradcheck_input *input = &c->inputs[i];
    int64_t size = tg_shape_size(tg_check_shape_of(input));
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
        if (!tg_check_is_varied(&c->inputs[i]))
            continue;
        const tg_shape *shape = tg_check_shape_of(&c->inputs[i]);
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

/* ---- levels ---- */

double tg_check_weight(tg_rng *rng)
{
    double size = 0.5 + tg_rng_uniform(rng);
    return tg_rng_bits(rng) & 1 ? size : -size;
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
    if (!evaluate_levels(c) || !tg_check_measure(c))
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
