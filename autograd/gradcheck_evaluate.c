/* The function under check and its derivatives at any point. */
#include "autograd/gradcheck_internal.h"

#include "autograd/grad.h"

#include <string.h>

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

static bool tape_fine(tg_check *c, tg_gradcheck_result otherwise)
{
    const char *error = tg_tape_error(c->tape);
    return !error || tg_check_fail(c, otherwise, "the tape says: %s", error);
}

bool tg_check_record(tg_check *c, const double *x, tg_tensor *result)
{
    tg_tape_reset(c->tape);
    for (int i = 0, part = 0; i < c->count; i++) {
        const tg_gradcheck_input *input = &c->inputs[i];
        c->tensors[i] =
            tg_check_is_varied(input) ? put_variable(c, input, &c->parts[part], x) : put_constant(c, input);
        if (tg_check_is_varied(input))
            c->varied[part++] = c->tensors[i];
    }
    *result = c->function(c->tape, c->tensors, c->count, c->user);
    if (!tape_fine(c, TG_GRADCHECK_REFUSED))
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

bool tg_check_derive(tg_check *c, int level, tg_tensor result, double *out)
{
    int results = 1;
    c->results[0] = result;
    for (int k = 0; k < level; k++) {
        put_cotangents(c, k);
        if (!tg_grad(c->results, results, c->varied, c->part_count, c->cotangents, k + 1 < level,
                     c->gradients)) {
            c->verdict.order = k + 1;
            c->verdict.input = c->verdict.index = -1;
            return tape_fine(c, TG_GRADCHECK_BROKEN) &&
                   tg_check_fail(c, TG_GRADCHECK_BROKEN, "tg_grad fails without saying why");
        }
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
