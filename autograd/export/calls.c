/* The words of calls.def and onnx.def, and operations whose loops are a call. */
#include "autograd/export/onnx.h"
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/scratch.h"
#include "autograd/ops.h"
#include "autograd/ops/reduction.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- attributes, by their names ---- */

static const tg_field *field_of(const tg_value *value, const char *name)
{
    const tg_field *field = value->op->fields;
    while (field && field->name && strcmp(field->name, name) != 0)
        field++;
    return field && field->name ? field : NULL;
}

double tg_writer_attribute(const tg_value *value, const char *name)
{
    const tg_field *field = field_of(value, name);
    return field ? tg_field_number(field, value->attributes) : 0;
}

const tg_shape *tg_writer_shape(const tg_value *value, const char *name)
{
    return (const tg_shape *)((const char *)value->attributes + field_of(value, name)->offset);
}

/* ---- the words of calls.def ---- */

typedef struct call {
    const tg_op *op;
    const char *condition, *text;
} call;

static const call calls[] = {
#define TG_EXPORT_CALL(name, condition, text) {&tg_op_##name, condition, text},
#include "autograd/export/calls.def"
};

static const call *call_of(const tg_value *value)
{
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (calls[i].op == value->op && (!calls[i].condition || tg_writer_attribute(value, calls[i].condition) != 0))
            return &calls[i];
    return NULL;
}

/* The gradient that the library computes together with a loss, if the function needs it; NULL: none. */
static const tg_value *gradient_of(const tg_writer *w, const tg_value *loss)
{
    const tg_value *gradient = loss->op == &tg_op_cross_entropy ? tg_saved_of(loss) : NULL;
    return gradient && w->places[gradient->index].kind == TG_PLACE_MEMORY ? gradient : NULL;
}

/* The loss that is computed together with a gradient; NULL: none. */
static const tg_value *loss_of(const tg_writer *w, const tg_value *gradient)
{
    const tg_value *before = gradient->is_saved ? tg_program_at(w->program, gradient->index - 1) : NULL;
    return before && w->places[before->index].kind == TG_PLACE_MEMORY && gradient_of(w, before) ? before : NULL;
}

/* As in ops/self_attention.c. */
static int64_t queries_together(const tg_value *x)
{
    const int64_t positions = x->shape.dim[x->shape.rank - 2];
    const int64_t fit = positions ? TG_SCRATCH / (2 * (int64_t)tg_dtype_size(x->dtype) * positions) : 1,
                  most = positions < TG_QUERIES ? positions : TG_QUERIES;
    return fit < most ? fit : most;
}

/* The tensor as [outer, n, inner], where n are the axes along which the operation works. */
static tg_blocks blocks_of(const tg_value *value, const tg_shape *shape)
{
    if (field_of(value, "axes"))
        return tg_reduce_blocks(shape, value->attributes);
    const bool along_one = field_of(value, "axis");
    return tg_blocks_of(shape, along_one ? (int)tg_writer_attribute(value, "axis") : 0, along_one);
}

/* The value of a word of calls.def, if it is a number; otherwise NaN. */
static double number_of(const tg_value *value, const char *word)
{
    const bool of_result = strlen(word) > 2 && strcmp(word + strlen(word) - 2, "_y") == 0;
    const tg_shape *shape = of_result || value->input_count == 0 ? &value->shape : &value->inputs[0]->shape;
    const tg_blocks blocks = blocks_of(value, shape);
    const int64_t columns = value->shape.rank ? value->shape.dim[value->shape.rank - 1] : 1;
    if (strcmp(word, "count") == 0)
        return (double)value->size;
    if (strncmp(word, "count", 5) == 0 && isdigit((unsigned char)word[5]))
        return (double)value->inputs[word[5] - '0']->size;
    if (strcmp(word, "type") == 0)
        return tg_onnx_type(value->dtype);
    if (strcmp(word, "queries") == 0)
        return (double)queries_together(value->inputs[1]);
    if (strcmp(word, "rows") == 0)
        return columns ? (double)(value->size / columns) : 0;
    if (strcmp(word, "columns") == 0)
        return (double)columns;
    if (strncmp(word, "outer", 5) == 0)
        return (double)blocks.outer;
    if (strcmp(word, "n") == 0 || strcmp(word, "n_y") == 0)
        return (double)blocks.n;
    if (strncmp(word, "inner", 5) == 0)
        return (double)blocks.inner;
    return field_of(value, word) ? tg_writer_attribute(value, word) : NAN;
}

/* "2, 0, 1" */
static void put_list(const tg_shape *list, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < list->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "", (long long)list->dim[i]);
}

/* Writes the list of integers that a word names; false if it names none. */
static bool put_list_word(const tg_value *value, const char *word, char *text, size_t size)
{
    const tg_field *field = field_of(value, word);
    if (strcmp(word, "axes") == 0 && field) {
        tg_shape axes = {0};
        for (int axis = 0; axis < value->inputs[0]->shape.rank; axis++)
            if ((int)tg_writer_attribute(value, word) >> axis & 1)
                axes.dim[axes.rank++] = axis;
        put_list(&axes, text, size);
    } else if (strcmp(word, "shape") == 0)
        put_list(&value->shape, text, size);
    else if (strcmp(word, "shape0") == 0)
        put_list(&value->inputs[0]->shape, text, size);
    else if (field && field->type == TG_FIELD_SHAPE)
        put_list(tg_writer_shape(value, word), text, size);
    else
        return false;
    return true;
}

/* Writes the value of the word after a $; returns the end of the word. */
static const char *put_word(const tg_writer *w, const tg_value *value, const char *at, char *line, size_t size)
{
    char word[40], text[40];
    size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    const bool is_input = isdigit((unsigned char)word[0]), is_result = strcmp(word, "y") == 0;
    const tg_value *of = is_input ? value->inputs[word[0] - '0'] : value;
    const bool indexed = at[length] == '.' && (isdigit((unsigned char)at[length + 1]) || at[length + 1] == '-');
    if (indexed) {
        const tg_shape *shape = is_input || is_result ? &of->shape : tg_writer_shape(value, word);
        char *end;
        long axis = strtol(at + length + 1, &end, 10);
        axis += axis < 0 ? shape->rank : 0;
        snprintf(line, size, "%lld", axis >= 0 && axis < shape->rank ? (long long)shape->dim[axis] : 1LL);
        return end;
    }
    if (is_input || is_result)
        snprintf(line, size, "v%lld", (long long)of->index);
    else if (strcmp(word, "loss") == 0 && loss_of(w, value))
        snprintf(line, size, "v%lld", (long long)loss_of(w, value)->index);
    else if (strcmp(word, "loss") == 0)
        snprintf(line, size, "NULL");
    else if (strcmp(word, "scratch") == 0)
        snprintf(line, size, "memory + %lld", (long long)w->places[value->index].scratch_offset);
    else if (!put_list_word(value, word, line, size))
        snprintf(line, size, "%s", tg_writer_number(number_of(value, word), text));
    return at + length;
}

void tg_writer_expand(const tg_writer *w, const tg_value *value, const char *text, char *to, size_t size)
{
    size_t used = 0;
    for (const char *at = text; *at && used + 1 < size; at++)
        if (*at == '$') {
            at = put_word(w, value, at + 1, to + used, size - used) - 1;
            used += strlen(to + used);
        } else
            to[used++] = *at;
    to[used] = '\0';
}

static void write_call(tg_writer *w, const tg_value *value, const char *text)
{
    char lines[TG_WRITER_EXPANDED];
    tg_writer_expand(w, value, text, lines, sizeof lines);
    for (char *line = lines, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        tg_writer_say(w, 1, "%s", line);
    }
}

int64_t tg_writer_call_scratch(const tg_value *value)
{
    const tg_value *x = value->input_count ? value->inputs[value->input_count - 1] : NULL;
    if (value->op == &tg_op_self_attention)
        return x->shape.dim[x->shape.rank - 2];
    return value->op == &tg_op_self_attention_grad ? 2 * queries_together(x) * x->shape.dim[x->shape.rank - 2] : 0;
}

bool tg_writer_call(tg_writer *w, const tg_value *value)
{
    const call *c = call_of(value);
    if (gradient_of(w, value))
        tg_writer_say(w, 1, "/* together with its gradient, v%lld */", (long long)gradient_of(w, value)->index);
    else if (c)
        write_call(w, value, c->text);
    return c;
}
