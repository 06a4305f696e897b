#include "autograd/gradcheck/check.h"

#include "autograd/gradcheck/tolerances.h"
#include "autograd/tape/tape_internal.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

const tg_check_numbers tg_check_numbers_of[] = {
    [TG_GRADCHECK_F64] = {53, 0x1p-53, DBL_MIN, DBL_MAX, 0x1p-900, 0x1p-800, 8, 32, 0x1p-26, 0.5, 1e-12, 1},
    [TG_GRADCHECK_F32] = {24, 0x1p-24, FLT_MIN, FLT_MAX, 0x1p-110, 0x1p-100, 8, 32, 0x1p-12, 0.5, 1e-4, 5},
    [TG_GRADCHECK_BF16] = {8, 0x1p-8, FLT_MIN, FLT_MAX, 0x1p-110, 0x1p-100, 1.5, 3, 0x1p-6, 2, 0.09, 5},
};

/* ---- failures ---- */

/* `outer` and the arguments do not change between setjmp and longjmp, so they are valid after the jump. */
bool tg_check_try(tg_check *c, void (*part)(tg_check *c, void *of), void *of)
{
    jmp_buf stop, *const outer = c->stop;
    c->stop = &stop;
    if (setjmp(stop) != 0) {
        c->stop = outer;
        return false;
    }
    part(c, of);
    c->stop = outer;
    return true;
}

void tg_check_stop(tg_check *c, tg_gradcheck_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    tg_check_fail(&c->report, status, format, arguments);
    va_end(arguments);
    longjmp(*c->stop, 1);
}

void tg_check_out_of_memory(tg_check *c)
{
    tg_check_stop(c, TG_GRADCHECK_REFUSED, "out of memory");
}

/* ---- memory ---- */

void *tg_check_take_from(tg_check *c, tg_arena *arena, int64_t count, size_t size)
{
    void *memory = NULL;
    if ((uint64_t)count <= SIZE_MAX / size)
        memory = tg_arena_take(arena, (size_t)count * size, _Alignof(long double));
    if (!memory)
        tg_check_out_of_memory(c);
    return memset(memory, 0, (size_t)count * size);
}

double *tg_check_take(tg_check *c, int64_t count)
{
    return tg_check_take_from(c, &c->arena, count, sizeof(double));
}

void tg_check_take_values(tg_check *c, double *values[TG_GRADCHECK_MAX_ORDER + 1])
{
    for (int k = 0; k <= c->options.order; k++)
        values[k] = tg_check_take(c, c->level[k].length);
}

static void make_room(tg_check *c)
{
    tg_tensor **tensors[] = {&c->tensors, &c->varied, &c->results, &c->gradients, &c->cotangents};
    double **numbers[] = {&c->scale, &c->own_scale, &c->moved};
    for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; i++)
        *tensors[i] = tg_check_take_from(c, &c->arena, c->report.count, sizeof(tg_tensor));
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        *numbers[i] = tg_check_take(c, c->variables);
}

/* ---- variables ---- */

static void refuse_unusable(tg_check *c, int i)
{
    const tg_gradcheck_input *input = &c->report.inputs[i];
    int64_t size = tg_shape_size(tg_check_shape_of(input));
    int sources = !!input->data + !!input->integers + !!input->parameter;
    const char *wrong = NULL;
    if (size < 0)
        wrong = "its shape is none";
    else if (sources > 1 || (sources == 0 && size > 0))
        wrong = "expected one of data, integers and parameter";
    else if (input->parameter && (input->parameter->dtype != TG_F64 || (!input->parameter->data && size > 0)))
        wrong = "expected a parameter with data of type f64";
    if (!wrong)
        return;
    c->report.result.input = i;
    tg_check_stop(c, TG_GRADCHECK_REFUSED, "%s", wrong);
}

static void make_parts(tg_check *c)
{
    c->parts = tg_check_take_from(c, &c->arena, c->report.count, sizeof *c->parts);
    for (int i = 0; i < c->report.count; i++) {
        refuse_unusable(c, i);
        if (!tg_check_is_varied(&c->report.inputs[i]))
            continue;
        tg_shape shape = *tg_check_shape_of(&c->report.inputs[i]);
        tg_check_part part = {.input = i, .shape = shape, .offset = c->variables, .size = tg_shape_size(&shape)};
        c->parts[c->part_count++] = part;
        c->variables += part.size;
    }
    if (c->part_count == 0)
        tg_check_stop(c, TG_GRADCHECK_REFUSED, "there is no input to differentiate");
}

const tg_check_part *tg_check_part_at(const tg_check *c, int64_t variable)
{
    const tg_check_part *part = &c->parts[c->part_count - 1];
    while (variable < part->offset)
        part--;
    return part;
}

double tg_check_round(const tg_check *c, double x)
{
    if (c->numbers->digits >= 53 || !isfinite(x))
        return x;
    const float single = fabs(x) > FLT_MAX ? (float)copysign(INFINITY, x) : (float)x;
    if (c->numbers->digits == FLT_MANT_DIG)
        return single;
    uint32_t bits; /* bfloat16 is the upper half; to nearest, ties to even */
    memcpy(&bits, &single, sizeof bits);
    bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
    float rounded;
    memcpy(&rounded, &bits, sizeof rounded);
    return rounded;
}

/* The largest power of two that is at most x. */
static double power_of_two(double x)
{
    int exponent;
    frexp(x, &exponent);
    return ldexp(1, exponent - 1);
}

static int by_size(const void *a, const void *b)
{
    double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
    return (x > y) - (x < y);
}

/* The typical |x|: the median, or the root mean square if that is smaller or most elements are zero. */
static double typical_size(const double *x, double *sorted, int64_t count)
{
    double largest = 0, square = 0;
    if (count == 0)
        return 1;
    memcpy(sorted, x, (size_t)count * sizeof *x);
    qsort(sorted, (size_t)count, sizeof *sorted, by_size);
    largest = fabs(sorted[count - 1]);
    for (int64_t i = 0; largest > 0 && i < count; i++)
        square += x[i] / largest * (x[i] / largest);
    double middle = fabs(sorted[count / 2]), mean = largest * sqrt(square / (double)count);
    return largest == 0 ? 1 : middle > 0 ? fmin(middle, mean) : mean;
}

static void set_point(tg_check *c, double *all, const tg_check_part *part)
{
    const double *data = tg_check_data_of(&c->report.inputs[part->input]);
    double *point = all + part->offset;
    for (int64_t i = 0; i < part->size; i++)
        point[i] = c->box ? tg_check_round(c, data[i]) : data[i];
    const double typical = typical_size(point, c->moved + part->offset, part->size);
    for (int64_t i = 0; i < part->size; i++) {
        double x = fabs(point[i]), scale = power_of_two(fmax(x, typical));
        c->scale[part->offset + i] = scale;
        c->own_scale[part->offset + i] = x > 0 && x < FAR_SMALLER * scale ? power_of_two(x) : scale;
    }
}

double tg_check_weight(tg_check *c)
{
    const int digits = c->numbers->digits;
    const uint64_t bits = tg_rng_bits(&c->rng);
    const double size = 0.5 + ldexp((double)(bits >> (64 - digits)), -digits);
    return tg_check_round(c, bits & 1 ? size : -size);
}

/* ---- evaluation ---- */

void tg_check_evaluate_all(tg_check *c, const double *x, double *const *out)
{
    c->kind->evaluate(c, c->options.order, x, out);
}

void tg_check_evaluate(tg_check *c, int level, const double *x, double *out)
{
    double *only[TG_GRADCHECK_MAX_ORDER + 1] = {NULL};
    only[level] = out;
    c->kind->evaluate(c, level, x, only);
}

/* ---- rounding ---- */

/* Points at uneven distances, so that they do not resonate with the grid of numbers that values are rounded to. Each
 * window of four points has weights that cancel every parabola and whose squares add up to 1. */
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

static void add_point(tg_check_level *level, const double *values, int point, double weights[TG_CHECK_WINDOWS][4])
{
    for (int w = 0; w < TG_CHECK_WINDOWS; w++)
        for (int64_t i = 0; point >= w && point < w + 4 && i < level->length; i++)
            level->noise[w][i] += weights[w][point - w] * (values[i] - level->value[i]);
}

/* Moves all variables together in tiny steps. Over these the function is a parabola to rounding, so its third
 * differences contain only rounding, its own and its arguments'. The point itself is left out: it may be a kink. */
static void measure_rounding(tg_check *c)
{
    double *step = tg_check_take(c, c->variables), *values[TG_GRADCHECK_MAX_ORDER + 1] = {NULL},
           weights[TG_CHECK_WINDOWS][4];
    for (int w = 0; w < TG_CHECK_WINDOWS; w++)
        window_weights(w, weights[w]);
    tg_check_take_values(c, values);
    for (int64_t i = 0; i < c->variables; i++)
        step[i] = c->numbers->noise_step * c->own_scale[i] * tg_check_weight(c);
    for (int point = 0; point < TG_CHECK_WINDOWS + 3; point++) {
        for (int64_t i = 0; i < c->variables; i++)
            c->moved[i] = c->point[i] + distance[point] * step[i];
        tg_check_evaluate_all(c, c->moved, values);
        for (int k = 0; k <= c->options.order; k++)
            add_point(&c->level[k], values[k], point, weights);
    }
}

double tg_check_noise(const tg_check *c, int level, const double *weights, int64_t from, int64_t to)
{
    const tg_check_level *l = &c->level[level];
    long double sum = 0, square = 0;
    for (int w = 0; w < TG_CHECK_WINDOWS; w++) {
        double difference = 0;
        for (int64_t i = from; i < to; i++)
            difference += weights[i] * l->noise[w][i];
        tg_check_add_square(&sum, difference);
    }
    for (int64_t i = from; i < to; i++)
        tg_check_add_square(&square, weights[i] * l->value[i]);
    double measured = tg_check_root(sum / TG_CHECK_WINDOWS), least = l->epsilon * tg_check_root(square);
    return isfinite(measured) && measured > least ? measured : least;
}

/* ---- levels ---- */

static void make_level(tg_check *c, tg_check_level *level, int64_t length)
{
    double **arrays[] = {&level->cotangent, &level->value, &level->value_rounding, &level->relative_rounding};
    level->length = length;
    level->epsilon = c->numbers->epsilon;
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        *arrays[i] = tg_check_take(c, length);
    for (int w = 0; w < TG_CHECK_WINDOWS; w++)
        level->noise[w] = tg_check_take(c, length);
    for (int64_t i = 0; i < length; i++)
        level->cotangent[i] = tg_check_weight(c);
}

static void refuse_infinite(tg_check *c, int k)
{
    const tg_check_level *level = &c->level[k];
    tg_gradcheck_result *result = &c->report.result;
    int64_t i = 0;
    while (i < level->length && isfinite(level->value[i]))
        i++;
    if (i == level->length)
        return;
    if (k == 0) {
        c->outputs_finite = false;
        tg_check_stop(c, TG_GRADCHECK_NOT_FINITE, "the result is %g at element %lld", level->value[i], (long long)i);
    }
    const tg_check_part *part = tg_check_part_at(c, i);
    result->order = k;
    result->input = part->input;
    result->index = i - part->offset;
    result->analytic = level->value[i];
    tg_check_stop(c, TG_GRADCHECK_NOT_FINITE, "the derivative is %g, though the result is finite", level->value[i]);
}

static void evaluate_levels(tg_check *c)
{
    double *values[TG_GRADCHECK_MAX_ORDER + 1];
    c->kind->measure(c);
    const int64_t outputs = c->level[0].length, longest = outputs > c->variables ? outputs : c->variables;
    c->ahead = tg_check_take(c, longest);
    c->behind = tg_check_take(c, longest);
    c->moves = tg_check_take(c, longest);
    for (int k = 0; k <= c->options.order; k++) {
        make_level(c, &c->level[k], k == 0 ? outputs : c->variables);
        values[k] = c->level[k].value;
    }
    tg_check_evaluate(c, 0, c->point, values[0]);
    refuse_infinite(c, 0);
    tg_check_evaluate_all(c, c->point, values);
    for (int k = 1; k <= c->options.order; k++)
        refuse_infinite(c, k);
}

static void measure_level(const tg_check *c, tg_check_level *level, int k)
{
    long double square = 0;
    for (int64_t i = 0; i < level->length; i++) {
        long double sum = 0;
        for (int w = 0; w < TG_CHECK_WINDOWS; w++)
            tg_check_add_square(&sum, level->noise[w][i]);
        double measured = tg_check_root(sum / TG_CHECK_WINDOWS), least = level->epsilon * fabs(level->value[i]);
        level->value_rounding[i] = isfinite(measured) && measured > least ? measured : least;
        tg_check_add_square(&square, level->cotangent[i] * level->value[i]);
    }
    level->size = tg_check_root(square);
    double typical = TYPICAL_PART * level->size / sqrt((double)(level->length > 0 ? level->length : 1));
    for (int64_t i = 0; i < level->length; i++)
        level->relative_rounding[i] =
            level->value_rounding[i] / fmax(fmax(fabs(level->value[i]), typical), c->numbers->least);
    level->rounding = tg_check_noise(c, k, level->cotangent, 0, level->length);
}

void tg_check_open(tg_check *c)
{
    c->outputs_finite = true;
    c->numbers = &tg_check_numbers_of[c->box ? c->box->type : TG_GRADCHECK_F64];
    c->report.like = tg_check_to(c, LIKE);
    if (!c->box && !(c->tape = tg_tape_new()))
        tg_check_out_of_memory(c);
    make_parts(c);
    make_room(c);
    double *point = tg_check_take(c, c->variables);
    for (int p = 0; p < c->part_count; p++)
        set_point(c, point, &c->parts[p]);
    c->point = point; /* complete: from here on, parameters are put back */
    c->magnitudes[0] = c->magnitudes[1] = (tg_magnitudes){INFINITY, 0};
    if (c->tape)
        c->tape->run.magnitudes = c->magnitudes;
    evaluate_levels(c);
    if (c->tape)
        c->tape->run.magnitudes = NULL;
    if (c->kind->set_magnitudes)
        c->kind->set_magnitudes(c);
    measure_rounding(c);
    for (int k = 0; k <= c->options.order; k++)
        measure_level(c, &c->level[k], k);
}

void tg_check_put_back(tg_check *c)
{
    for (int p = 0; c->point && p < c->part_count; p++) {
        tg_parameter *parameter = c->report.inputs[c->parts[p].input].parameter;
        if (parameter && c->parts[p].size > 0)
            memcpy(parameter->data, c->point + c->parts[p].offset, (size_t)c->parts[p].size * sizeof(double));
        tg_parameter_changed(parameter);
        if (parameter && c->before) {
            parameter->gradient = c->before[p].gradient;
            parameter->has_gradient = c->before[p].has_gradient;
        }
    }
    c->before = NULL;
}

void tg_check_close(tg_check *c)
{
    tg_check_put_back(c);
    tg_tape_free(c->tape);
    tg_tape_free(c->other_tape);
    tg_arena_free(&c->arena);
    tg_arena_free(&c->steps);
}
