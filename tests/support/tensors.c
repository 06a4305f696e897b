#include "tests/support/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tg_tape *tape;
static tg_rng rng;

void start_tape(void)
{
    tape = tg_tape_new();
    rng = tg_rng_seed(17);
}

void finish_tape(void)
{
    ck_assert_msg(tg_tape_error(tape) == NULL, "%s", tg_tape_error(tape));
    tg_tape_free(tape);
    tape = NULL;
}

/* Takes the numbers, in the type asked for, and frees them. */
static tg_tensor from_numbers(tg_dtype dtype, tg_shape shape, double *numbers)
{
    int64_t size = tg_shape_size(&shape);
    tg_tensor wide = tg_constant(tape, TG_F64, numbers, shape);
    void *data = malloc((size_t)size * sizeof(double) + 1);
    ck_assert(tg_read(wide, dtype, data, size));
    tg_tensor x = dtype == TG_I32 ? tg_constant(tape, dtype, data, shape) : tg_variable(tape, dtype, data, shape);
    free(data);
    free(numbers);
    return x;
}

tg_tensor drawn(tg_dtype dtype, tg_shape shape)
{
    int64_t size = tg_shape_size(&shape);
    double *numbers = malloc((size_t)size * sizeof *numbers + 1);
    for (int64_t i = 0; i < size; i++)
        numbers[i] = tg_rng_normal(&rng);
    return from_numbers(dtype, shape, numbers);
}

tg_tensor counted(tg_dtype dtype, tg_shape shape)
{
    int64_t size = tg_shape_size(&shape);
    double *numbers = malloc((size_t)size * sizeof *numbers + 1);
    for (int64_t i = 0; i < size; i++)
        numbers[i] = (double)i;
    return from_numbers(dtype, shape, numbers);
}

void assert_shape(tg_tensor x, tg_shape shape)
{
    char is[128], should_be[128];
    tg_shape of = tg_shape_of(x);
    ck_assert_msg(tg_ok(x) && tg_shape_equal(&of, &shape), "%s is not %s (%s)", tg_shape_text(&of, is, sizeof is),
                  tg_shape_text(&shape, should_be, sizeof should_be),
                  tg_tape_error(tape) ? tg_tape_error(tape) : "no error");
}

void assert_close(double is, double should_be, tg_dtype dtype)
{
    double tolerance = dtype == TG_F32 ? 2e-5 : 1e-12;
    ck_assert_msg(fabs(is - should_be) <= tolerance * fmax(1, fabs(should_be)), "%.17g is not %.17g", is, should_be);
}

void assert_relative(double is, double should_be, double error)
{
    ck_assert_msg(fabs(is - should_be) <= error * fabs(should_be), "%.17g is not %.17g but for %g", is, should_be,
                  error);
}

void expect_error(const char *part)
{
    const char *error = tg_tape_error(tape);
    ck_assert_msg(error && strstr(error, part), "expected \"%s\" in \"%s\"", part, error ? error : "no error");
    tg_tape_clear_error(tape);
}
