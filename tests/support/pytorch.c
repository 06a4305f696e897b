#include "tests/support/pytorch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tg_error error;

pytorch pytorch_open(const char *name, tg_dtype dtype)
{
    pytorch p = pytorch_open_file("tests/golden/layers.safetensors", name, dtype);
    p.within = 1e-10;
    return p;
}

pytorch pytorch_open_file(const char *path, const char *name, tg_dtype dtype)
{
    pytorch p = {.dtype = dtype, .path = path, .within = 1e-12, .file = tg_safetensors_open(path, &error)};
    snprintf(p.name, sizeof p.name, "%s", name);
    ck_assert_msg(p.file != NULL, "%s", error.text);
    return p;
}

const tg_file_tensor *pytorch_find(const pytorch *p, const char *name)
{
    char whole[TG_NAME_SIZE];
    snprintf(whole, sizeof whole, "%s/%s", p->name, name);
    return tg_safetensors_find(p->file, whole);
}

void pytorch_load(const pytorch *p, tg_parameters *set, const char *to, bool all)
{
    char from[TG_NAME_SIZE];
    snprintf(from, sizeof from, "%s/*", p->name);
    const tg_load_options options = {
        .allow_unknown = true, .allow_missing = !all, .renames = &(tg_rename){from, to}, .rename_count = 1};
    ck_assert_msg(tg_parameters_load(set, p->path, &options, &error), "%s", error.text);
}

void pytorch_close(pytorch *p)
{
    tg_safetensors_close(p->file);
}

bool pytorch_has(const pytorch *p, const char *name)
{
    return pytorch_find(p, name) != NULL;
}

int64_t pytorch_dim(const pytorch *p, const char *name, int axis)
{
    const tg_file_tensor *tensor = pytorch_find(p, name);
    ck_assert_msg(tensor && axis < tensor->shape.rank, "%s", name);
    return tensor->shape.dim[axis];
}

/* The numbers of a tensor, to be freed. */
static void *numbers_of(const pytorch *p, const char *name, tg_dtype dtype)
{
    const tg_file_tensor *tensor = pytorch_find(p, name);
    ck_assert_msg(tensor != NULL, "%s", name);
    void *numbers = malloc((size_t)tensor->size * sizeof(double) + 1);
    ck_assert_msg(tg_safetensors_read(p->file, tensor, dtype, numbers, &error), "%s", error.text);
    return numbers;
}

tg_tensor pytorch_tensor(const pytorch *p, const char *name)
{
    const bool whole = strcmp(name, "input") == 0 && !pytorch_has(p, "grad.input");
    double *numbers = numbers_of(p, name, whole ? TG_F64 : p->dtype);
    const tg_file_tensor *tensor = pytorch_find(p, name);
    int32_t ids[64];
    for (int64_t i = 0; whole && i < tensor->size; i++)
        ids[i] = (int32_t)numbers[i];
    tg_tensor x =
        whole ? tg_constant(tape, TG_I32, ids, tensor->shape) : tg_variable(tape, p->dtype, numbers, tensor->shape);
    free(numbers);
    return x;
}

void pytorch_assert(const pytorch *p, const char *name, const void *numbers, int64_t size)
{
    double *expected = numbers_of(p, name, TG_F64), largest = 0;
    ck_assert_msg(pytorch_find(p, name)->size == size, "%s", name);
    for (int64_t i = 0; i < size; i++)
        largest = fmax(largest, fabs(expected[i]));
    const double tolerance = (p->dtype == TG_F64 ? p->within : 2e-5) * fmax(largest, 0.1);
    for (int64_t i = 0; i < size; i++) {
        const double is = p->dtype == TG_F32 ? ((const float *)numbers)[i] : ((const double *)numbers)[i];
        ck_assert_msg(fabs(is - expected[i]) <= tolerance, "%s: %s[%lld] is %.17g, should be %.17g", p->name, name,
                      (long long)i, is, expected[i]);
    }
    free(expected);
}

void pytorch_compare(const pytorch *p, tg_tensor x, tg_tensor y, tg_parameters *set)
{
    ck_assert_msg(tg_ok(y), "%s", tg_tape_error(tape));
    pytorch_assert(p, "output", tg_data(y), tg_size(y));
    ck_assert(tg_backward_from(y, pytorch_tensor(p, "cotangent")));
    if (pytorch_has(p, "grad.input"))
        pytorch_assert(p, "grad.input", tg_data(tg_gradient(x)), tg_size(x));
    for (int i = 0; i < tg_parameters_count(set); i++) {
        char name[TG_NAME_SIZE + 8];
        const tg_parameter *parameter = tg_parameters_at(set, i);
        snprintf(name, sizeof name, "grad.%s",
                 parameter->name + (parameter->name[0] == '.')); /* of a layer without a name */
        if (parameter->gradient)
            pytorch_assert(p, name, parameter->gradient, tg_shape_size(&parameter->shape));
    }
}
