#include "tests/support/cross_failures.h"

#include <string.h>

/* clang-format does not settle on a layout for this list */
/* clang-format off */
#define WAYS \
    WAY(WRONG_SHAPE) WAY(RULE_REFUSES) WAY(RULE_READS) WAY(TOO_LARGE) WAY(FORWARD_FAILS) WAY(DERIVATIVE_READS) \
    WAY(DERIVATIVE_OF_WRONG_SHAPE) WAY(DERIVATIVE_TOO_LARGE) WAY(DERIVATIVE_FORWARD_FAILS) WAY(HOOK_INERT) \
    WAY(HOOK_OF_WRONG_SHAPE) WAY(HOOK_CLEARS) WAY(HOOK_RESETS) WAY(PARAMETER_CHANGES) WAY(CONSTANT_CHANGES) WAY(REPLAY)
/* clang-format on */

enum way {
#define WAY(name) name,
    WAYS
#undef WAY
};

static const char *const names[CROSS_FAILURES] = {
#define WAY(name) #name,
    WAYS
#undef WAY
};

/* ---- operations that fail ---- */

static double first_of(tg_dtype dtype, const void *numbers)
{
    return dtype == TG_F32 ? (double)*(const float *)numbers : *(const double *)numbers;
}

static void copy_numbers(const tg_call *call)
{
    memcpy(call->out, call->in[0], (size_t)tg_value_size(call->value) * tg_dtype_size(tg_value_dtype(call->value)));
}

/* Fails for some numbers and not for others, so that a step fails which repeats one that did not. */
static void copy_or_fail(const tg_call *call)
{
    copy_numbers(call);
    if (first_of(tg_value_dtype(call->value), call->in[0]) > 0.1)
        tg_expected((tg_value *)(uintptr_t)call->value, "numbers that are not too large");
}

static bool like_input(tg_value *out)
{
    tg_value_set(out, tg_value_dtype(tg_value_input(out, 0)), *tg_value_shape(tg_value_input(out, 0)));
    return true;
}

static bool refuse(tg_value *out)
{
    return tg_expected(out, "another input");
}

static tg_tensor read_by_rule;

static bool reads(tg_value *out)
{
    return tg_item(read_by_rule) > 0 && like_input(out);
}

static tg_tensor too_large(tg_tensor like)
{
    return tg_full(tg_tape_of(like), tg_dtype_of(like), TG_SHAPE((int64_t)1 << 44), 1);
}

static void derivative(const tg_derive *d)
{
    d->gradient[0] = d->cotangent;
}

static void derivative_reads(const tg_derive *d)
{
    d->gradient[0] = tg_mul_scalar(d->cotangent, tg_at(d->in[0], 0));
}

static void derivative_of_wrong_shape(const tg_derive *d)
{
    d->gradient[0] = tg_reshape(tg_tanh(d->cotangent), TG_SHAPE(-1, 2));
}

static void derivative_too_large(const tg_derive *d)
{
    tg_tensor half = tg_mul_scalar(d->cotangent, 0.5);
    d->gradient[0] = tg_mul(half, tg_sum(too_large(half)));
}

#define FORWARD(function) .arity = 1, .shape = like_input, .forward = function
static const tg_op rule_refuses = {
    .name = "refusing", .arity = 1, .shape = refuse, .forward = copy_numbers, .derivative = derivative};
static const tg_op rule_reads = {
    .name = "reading", .arity = 1, .shape = reads, .forward = copy_numbers, .derivative = derivative};
static const tg_op failing = {.name = "failing", FORWARD(copy_or_fail), .derivative = derivative};

static void derivative_forward_fails(const tg_derive *d)
{
    tg_tensor twice = tg_mul_scalar(d->cotangent, 2);
    d->gradient[0] = tg_apply(&failing, NULL, 1, &twice);
}

static const tg_op derivatives[] = {
    {.name = "underived", FORWARD(copy_numbers), .derivative = derivative_reads},
    {.name = "underived", FORWARD(copy_numbers), .derivative = derivative_of_wrong_shape},
    {.name = "underived", FORWARD(copy_numbers), .derivative = derivative_too_large},
    {.name = "underived", FORWARD(copy_numbers), .derivative = derivative_forward_fails}};

static tg_tensor apply(const tg_op *op, tg_tensor x)
{
    return tg_apply(op, NULL, 1, &x);
}

/* ---- hooks that fail ---- */

static tg_tensor tanh_of(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    (void)tape, (void)count, (void)user;
    return tg_tanh(in[0]);
}

/* What is asked of its own tensor, and a checkpoint, end with the pass. */
static tg_tensor inert(tg_tensor cotangent, void *user)
{
    const tg_tensor own = tg_retain_gradient(tg_mul_scalar(cotangent, 3));
    tg_add_hook(own, inert, user);
    tg_checkpoint(tanh_of, &own, 1, NULL);
    return TG_NONE;
}

static tg_tensor of_wrong_shape(tg_tensor cotangent, void *user)
{
    (void)user;
    return tg_sum(cotangent);
}

static tg_tensor clears(tg_tensor cotangent, void *user)
{
    cross_lane *l = user;
    tg_reshape(tg_mul_scalar(cotangent, 3), TG_SHAPE(7));
    tg_tape_clear_error(l->tape);
    return tg_mul_scalar(cotangent, 2);
}

static tg_tensor resets(tg_tensor cotangent, void *user)
{
    tg_tape_reset(((cross_lane *)user)->tape);
    return cotangent;
}

/* ---- data that changes while a step is under way ---- */

static void halve(tg_dtype dtype, void *numbers, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (dtype == TG_F32)
            ((float *)numbers)[i] *= 0.5f;
        else
            ((double *)numbers)[i] *= 0.5;
}

static void change_parameter(cross_lane *l, int number)
{
    tg_parameter *parameter = &l->parameters->parameter[number % CROSS_PARAMETERS];
    if (!l->alone || l->resumes) /* another lane, or an earlier step, reads it */
        return;
    halve(l->dtype, parameter->data, tg_shape_size(&parameter->shape));
    tg_parameter_changed(parameter);
    l->changes++;
}

static void change_constant(cross_lane *l, int number)
{
    tg_set(l->copied[number % l->copied_count], l->dtype, &l->batch[0], TG_SHAPE(l->program->rows, CROSS_COLUMNS));
    l->changes++;
}

tg_tensor cross_fail(cross_lane *l, int way, int number, tg_tensor a)
{
    static const tg_hook_function hooks[] = {inert, of_wrong_shape, clears, resets};
    switch (way) {
    case WRONG_SHAPE:
        return tg_reshape(tg_tanh(a), TG_SHAPE(7));
    case RULE_REFUSES:
        return apply(&rule_refuses, tg_tanh(a));
    case RULE_READS:
        if (!l->alone)
            return a;
        read_by_rule = tg_sum(a);
        return apply(&rule_reads, a);
    case TOO_LARGE:
        return tg_mul(a, tg_sum(too_large(a)));
    case FORWARD_FAILS:
        return apply(&failing, a);
    case HOOK_INERT:
    case HOOK_OF_WRONG_SHAPE:
    case HOOK_CLEARS:
    case HOOK_RESETS:
        tg_add_hook(number == 1 ? tg_parameter_tensor(l->tape, &l->parameters->parameter[0]) : a,
                    hooks[way - HOOK_INERT], l);
        return a;
    case PARAMETER_CHANGES:
        change_parameter(l, number);
        return a;
    case CONSTANT_CHANGES:
        change_constant(l, number);
        return a;
    case REPLAY:
        l->changes++;
        if (!l->shared && !l->resumes)
            tg_replay(l->tape);
        return a;
    default:
        return tg_mul(apply(&derivatives[way - DERIVATIVE_READS], a), a);
    }
}

bool cross_failure_hooks(int way)
{
    return way >= HOOK_INERT && way <= HOOK_RESETS;
}

bool cross_failure_lasts(int way, int number)
{
    return way == PARAMETER_CHANGES || way == CONSTANT_CHANGES || (cross_failure_hooks(way) && number == 1);
}

const char *cross_failure_name(int way)
{
    return names[way];
}
