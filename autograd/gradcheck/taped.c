#include "autograd/gradcheck/taped.h"

#include "autograd/tape_internal.h"

#include <string.h>

static tg_tensor put_input(tg_check *c, const tg_gradcheck_input *input, const tg_check_part *part, const double *x)
{
    if (input->integers)
        return tg_constant(c->tape, TG_I32, input->integers, input->shape);
    if (input->parameter) {
        if (part && part->size > 0)
            memcpy(input->parameter->data, x + part->offset, (size_t)part->size * sizeof *x);
        return tg_parameter_tensor(c->tape, input->parameter);
    }
    const double *data = part ? x + part->offset : input->data;
    return part && !c->as_constants ? tg_variable(c->tape, TG_F64, data, input->shape)
                                    : tg_constant(c->tape, TG_F64, data, input->shape);
}

static bool tape_fine(tg_check *c, tg_gradcheck_status otherwise)
{
    const char *error = tg_tape_error(c->tape);
    return !error || tg_check_fail(&c->report, otherwise, "the tape says: %s", error);
}

bool tg_check_record(tg_check *c, const double *x, tg_tensor *result)
{
    tg_tape_reset(c->tape);
    for (int i = 0, p = 0; i < c->report.count; i++) {
        bool varies = p < c->part_count && c->parts[p].input == i;
        c->tensors[i] = put_input(c, &c->report.inputs[i], varies ? &c->parts[p] : NULL, x);
        if (varies)
            c->varied[p++] = c->tensors[i];
    }
    *result = c->function(c->tape, c->tensors, c->report.count, c->user);
    if (!tape_fine(c, TG_GRADCHECK_REFUSED))
        return false;
    if (tg_ok(*result) && tg_dtype_of(*result) == TG_F64)
        return true;
    return tg_check_fail(&c->report, TG_GRADCHECK_REFUSED, "expected the function to return an f64 tensor, not %s",
                         tg_ok(*result) ? tg_dtype_name(tg_dtype_of(*result)) : "an inert one");
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

/* Copies the elements of tensors, one tensor after the other. */
static void read_all(const tg_tensor *tensors, int count, double *out)
{
    for (int i = 0; i < count; i++) {
        tg_read(tensors[i], TG_F64, out, tg_size(tensors[i]));
        out += tg_size(tensors[i]);
    }
}

static bool derive_all(tg_check *c, int level, tg_tensor result, double *const *out)
{
    int results = 1;
    c->results[0] = result;
    for (int k = 0;; k++) {
        if (out[k])
            read_all(c->results, results, out[k]);
        if (k == level)
            return true;
        put_cotangents(c, k);
        if (!tg_grad(c->results, results, c->varied, c->part_count, c->cotangents, k + 1 < level, c->gradients)) {
            c->report.result.order = k + 1;
            c->report.result.input = c->report.result.index = -1;
            return tape_fine(c, TG_GRADCHECK_BROKEN) &&
                   tg_check_fail(&c->report, TG_GRADCHECK_BROKEN, "tg_grad fails without saying why");
        }
        results = c->part_count;
        memcpy(c->results, c->gradients, (size_t)results * sizeof *c->results);
    }
}

bool tg_check_derive(tg_check *c, int level, tg_tensor result, double *out)
{
    double *only[TG_GRADCHECK_MAX_ORDER + 1] = {NULL};
    only[level] = out;
    return derive_all(c, level, result, only);
}

bool tg_check_measure_tape(tg_check *c)
{
    tg_tensor result;
    if (!tg_check_record(c, c->point, &result))
        return false;
    c->output_shape = tg_shape_of(result);
    c->level[0].length = tg_size(result);
    return true;
}

bool tg_check_run_tape(tg_check *c, int level, const double *x, double *const *out)
{
    tg_tensor result;
    if (!tg_check_record(c, x, &result))
        return false;
    if (tg_size(result) == c->level[0].length)
        return derive_all(c, level, result, out);
    return tg_check_fail(&c->report, TG_GRADCHECK_NOT_REPEATABLE, "the result has %lld elements now and %lld before",
                         (long long)tg_size(result), (long long)c->level[0].length);
}
