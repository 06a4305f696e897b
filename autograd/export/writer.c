/* The text of exported C: lines of code, in which words like $0 stand for a value's inputs, sizes and attributes. */
#include "autograd/export/writer.h"

#include "autograd/kernels/kernels.h"
#include "autograd/kernels/scratch.h"
#include "autograd/base/numbers.h"
#include "autograd/ops.h"
#include "autograd/ops/reduction.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- types and numbers ---- */

const char *tg_writer_type(tg_dtype dtype)
{
    return dtype == TG_F32 ? "float" : dtype == TG_F64 ? "double" : "int32_t";
}

int tg_writer_onnx_type(tg_dtype dtype)
{
    return dtype == TG_F32 ? 1 : dtype == TG_F64 ? 11 : 6;
}

int64_t tg_writer_columns(const tg_value *value)
{
    return value->shape->rank > 0 ? value->shape->dim[value->shape->rank - 1] : 1;
}

const void *tg_writer_data(const tg_value *leaf)
{
    return leaf->parameter ? leaf->parameter->data : leaf->slot.data;
}

const char *tg_writer_number(double number, char text[40])
{
    if (isnan(number) || isinf(number))
        return isnan(number) ? "NAN" : number > 0 ? "INFINITY" : "-INFINITY";
    const bool whole = fabs(number) < 1e15 && number == floor(number);
    tg_print(text, 40, whole ? "%.0f" : "%.17g", number);
    for (int digits = 1; digits < 17 && !whole; digits++) {
        char shorter[40];
        tg_print(shorter, sizeof shorter, "%.*g", digits, number);
        double back = 0;
        if (tg_scan(shorter, "%lf", &back) == 1 && back == number)
            return strcpy(text, shorter);
    }
    return text;
}

/* ---- words: numbers, and lists of integers ---- */

static const tg_field *field_of(const tg_value *value, const char *name)
{
    const tg_field *field = value->op ? value->op->fields : NULL;
    while (field && field->name && strcmp(field->name, name) != 0)
        field++;
    return field && field->name ? field : NULL;
}

const tg_shape *tg_writer_shape(const tg_value *value, const char *name)
{
    return (const tg_shape *)((const char *)value->attributes + field_of(value, name)->offset);
}

const tg_value *tg_writer_gradient(const tg_writer *w, const tg_value *loss)
{
    const tg_value *gradient = loss->op == &tg_op_cross_entropy ? tg_saved_of(loss) : NULL;
    return gradient && w->places[gradient->index].kind == TG_PLACE_MEMORY ? gradient : NULL;
}

/* The loss that is computed together with a gradient; NULL: none. */
static const tg_value *loss_of(const tg_writer *w, const tg_value *gradient)
{
    const tg_value *before = gradient->is_saved ? tg_program_at(w->program, gradient->index - 1) : NULL;
    return before && w->places[before->index].kind == TG_PLACE_MEMORY && tg_writer_gradient(w, before) ? before : NULL;
}

/* As in ops/self_attention.c. */
static int64_t queries_together(const tg_value *x)
{
    const int64_t positions = x->shape->dim[x->shape->rank - 2];
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
    return tg_blocks_of(shape, along_one ? (int)tg_writer_word(value, "axis") : 0, along_one);
}

double tg_writer_word(const tg_value *value, const char *word)
{
    char name[40];
    const tg_field *field = field_of(value, word);
    const char *of = word + strcspn(word, "_0123456789"); /* "0" of count0, "_y" of inner_y */
    snprintf(name, sizeof name, "%.*s", (int)(of - word), word);
    if (field)
        return tg_field_number(field, value->attributes);
    if (strcmp(name, "count") == 0)
        return (double)(*of ? value->inputs[*of - '0'] : value)->size;
    if (strcmp(name, "type") == 0)
        return tg_writer_onnx_type(value->dtype);
    if (strcmp(name, "queries") == 0)
        return (double)queries_together(value->inputs[1]);
    if (strcmp(name, "positions") == 0)
        return (double)value->inputs[0]->shape->dim[value->inputs[0]->shape->rank - 2];
    if (strcmp(name, "rank") == 0)
        return value->shape->rank;
    if (strcmp(name, "columns") == 0)
        return (double)tg_writer_columns(value);
    if (strcmp(name, "rows") == 0)
        return tg_writer_columns(value) ? (double)(value->size / tg_writer_columns(value)) : 0;
    const tg_blocks b = blocks_of(value, *of || value->input_count == 0 ? value->shape : value->inputs[0]->shape);
    return strcmp(name, "outer") == 0     ? (double)b.outer
           : strcmp(name, "n") == 0       ? (double)b.n
           : strcmp(name, "inner") == 0   ? (double)b.inner
           : strcmp(name, "divisor") == 0 ? fmax(0, (double)b.n - tg_writer_word(value, "correction"))
                                          : NAN;
}

/* An end before the first element would count from the end; the smallest integer is clamped to the first, and the
 * largest to the last, however many rows there are. */
static int64_t end_of_slice(const tg_value *value, int axis)
{
    const int64_t step = tg_writer_shape(value, "step")->dim[axis];
    const int64_t end = tg_writer_shape(value, "start")->dim[axis] + step * value->shape->dim[axis];
    return end < 0 ? INT64_MIN : end >= value->inputs[0]->shape->dim[axis] ? INT64_MAX : end;
}

/* The list of integers that a word names; false if it names none. */
static bool list_of(const tg_value *value, const char *word, const int *rows, tg_shape *list)
{
    const tg_field *field = field_of(value, word);
    const char *input = word + strcspn(word, "0123456789");
    *list = *(*input ? value->inputs[*input - '0'] : value)->shape;
    if (strcmp(word, "reshaped") == 0 && rows && rows[value->index] >= 0)
        list->dim[rows[value->index]] = -1;
    if (strncmp(word, "shape", 5) == 0 || strcmp(word, "reshaped") == 0)
        return true;
    if (field && field->type == TG_FIELD_SHAPE) {
        *list = *tg_writer_shape(value, word);
        return true;
    }
    if (field && strcmp(word, "axes") == 0) {
        list->rank = 0;
        for (int axis = 0; axis < value->inputs[0]->shape->rank; axis++)
            if ((int)tg_writer_word(value, word) >> axis & 1)
                list->dim[list->rank++] = axis;
        return true;
    }
    const bool ends = strcmp(word, "ends") == 0, swapped = strncmp(word, "swapped", 7) == 0;
    for (int axis = 0; axis < list->rank; axis++)
        list->dim[axis] = ends                                ? end_of_slice(value, axis)
                          : swapped && axis >= list->rank - 2 ? 2 * list->rank - 3 - axis
                                                              : axis;
    return ends || swapped || strcmp(word, "every") == 0;
}

/* "2, 0, 1" */
static void put_list(const tg_shape *list, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < list->rank && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%lld", i ? ", " : "", (long long)list->dim[i]);
}

/* Writes the value of the word after a $; returns the end of the word. */
static const char *put_word(const tg_writer *w, const tg_value *value, const char *at, char *line, size_t size)
{
    char word[40], text[40];
    tg_shape list;
    const size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    const bool is_input = isdigit((unsigned char)word[0]), is_loss = strcmp(word, "loss") == 0,
               is_bias = strcmp(word, "bias") == 0;
    const tg_value *named = is_input                 ? value->inputs[atoi(word)]
                            : strcmp(word, "y") == 0 ? value
                            : is_loss                ? loss_of(w, value)
                            : is_bias                ? (value->input_count > 2 ? value->inputs[2] : NULL)
                                                     : NULL;
    if (at[length] == '.' && (isdigit((unsigned char)at[length + 1]) || at[length + 1] == '-')) {
        const tg_shape *shape = named ? named->shape : tg_writer_shape(value, word);
        char *end;
        long axis = strtol(at + length + 1, &end, 10);
        axis += axis < 0 ? shape->rank : 0;
        snprintf(line, size, "%lld", axis >= 0 && axis < shape->rank ? (long long)shape->dim[axis] : 1LL);
        return end;
    }
    if (named)
        snprintf(line, size, "v%lld", (long long)named->index);
    else if (is_loss || is_bias)
        snprintf(line, size, "NULL");
    else if (strcmp(word, "positions") == 0 && w->places[value->inputs[0]->index].grown)
        snprintf(line, size, "((size_t)reading.count + 1)");
    else if (strcmp(word, "scratch") == 0)
        snprintf(line, size, "memory + %lld", (long long)w->places[value->index].scratch_offset);
    else if (list_of(value, word, w->rows, &list))
        put_list(&list, line, size);
    else
        snprintf(line, size, "%s", tg_writer_number(tg_writer_word(value, word), text));
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

/* ---- lines ---- */

void tg_writer_say(tg_writer *w, int indent, const char *format, ...)
{
    char text[1024], lines[TG_WRITER_EXPANDED];
    va_list arguments;
    va_start(arguments, format);
    tg_print_arguments(text, sizeof text, format, arguments);
    va_end(arguments);
    tg_writer_expand(w, w->value, text, lines, sizeof lines);
    tg_pieces_need(&w->needed, lines);
    for (const char *line = lines, *end; *line; line = *end ? end + 1 : end) {
        end = line + strcspn(line, "\n");
        tg_text_add(&w->text, "%*s%.*s\n", 4 * indent, "", (int)(end - line), line);
    }
}

void tg_writer_quote(tg_writer *w, const char *text)
{
    for (const char *at = text; *at; at++) {
        const bool ends_comment = at > text && ((at[-1] == '*' && *at == '/') || (at[-1] == '/' && *at == '*'));
        if (*at < ' ' || *at > '~')
            tg_text_add(&w->text, "\\%03o", (unsigned)(unsigned char)*at);
        else
            tg_text_add(&w->text, strchr("\"\\?", *at) ? "\\%c" : ends_comment ? "\\%03o" : "%c", *at);
    }
}
