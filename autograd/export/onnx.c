/* A program as a model of ONNX. The messages and the numbers of their fields: onnx.proto. */
#include "autograd/export/onnx.h"

#include "autograd/export/protobuf.h"
#include "autograd/ops.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IR_VERSION = 9, OPSET = 20 };

/* ---- operations whose nodes depend on shapes ---- */

static long long dim(const tg_value *value, int axis)
{
    return (long long)value->shape->dim[axis < 0 ? value->shape->rank + axis : axis];
}

static void linear(const tg_writer *w, const tg_value *value, tg_text *to)
{
    (void)w;
    const bool biased = value->input_count > 2;
    if (value->inputs[0]->shape->rank == 2)
        tg_text_add(to, biased ? "Gemm[transB=1]($0, $1, $2)" : "Gemm[transB=1]($0, $1)");
    else
        tg_text_add(to, biased ? "Add(MatMul($0, Transpose[perm={1, 0}]($1)), $2)"
                               : "MatMul($0, Transpose[perm={1, 0}]($1))");
}

/* A batch of products, one for each group. Of a matrix it takes any number of rows. */
static void grouped_linear(const tg_writer *w, const tg_value *value, tg_text *to)
{
    (void)w;
    const long long groups = (long long)tg_writer_word(value, "groups"), outputs = dim(value, -1),
                    inputs = dim(value->inputs[1], -1);
    const bool any = value->shape->rank == 2 && outputs > 0 && inputs > 0;
    long long rows = 1;
    for (int axis = 0; axis < value->shape->rank - 1; axis++)
        rows *= dim(value, axis);
    tg_text_add(to,
                "%sReshape[allowzero=1](Transpose[perm={1, 0, 2}](MatMul(\n"
                "    Transpose[perm={1, 0, 2}](Reshape[allowzero=1]($0, {%lld, %lld, %lld})),\n"
                "    Transpose[perm={0, 2, 1}](Reshape[allowzero=1]($1, {%lld, %lld, %lld})))), ",
                value->input_count > 2 ? "Add(" : "", any ? -1 : rows, groups, inputs, groups, outputs / groups,
                inputs);
    if (any)
        tg_text_add(to, "{-1, %lld})", outputs);
    else
        tg_text_add(to, "{$reshaped})");
    tg_text_add(to, value->input_count > 2 ? ", $2)" : "");
}

/* Where rows move to another axis, they are the first axis meanwhile. */
static void reshape(const tg_writer *w, const tg_value *value, tg_text *to)
{
    if (!tg_axes_move(value, w->rows)) {
        tg_text_add(to, "Reshape($0, {$reshaped})");
        return;
    }
    const int from = w->rows[value->inputs[0]->index], at = w->rows[value->index];
    tg_text_add(to, "Transpose[perm={");
    for (int axis = 0; axis < value->shape->rank; axis++)
        tg_text_add(to, axis ? ", %d" : "%d", axis == at ? 0 : axis < at ? axis + 1 : axis);
    tg_text_add(to, "}](Reshape(Transpose[perm={%d", from);
    for (int axis = 0; axis < value->inputs[0]->shape->rank; axis++)
        if (axis != from)
            tg_text_add(to, ", %d", axis);
    tg_text_add(to, "}]($0), {-1");
    for (int axis = 0; axis < value->shape->rank; axis++)
        if (axis != at)
            tg_text_add(to, ", %lld", dim(value, axis));
    tg_text_add(to, "}))");
}

static void conv2d(const tg_writer *w, const tg_value *value, tg_text *to)
{
    (void)w;
    tg_text_add(to,
                "Conv[group=$groups, kernel_shape={$kernel}, strides={$stride}, pads={$padding, $padding},\n"
                "    dilations={$dilation}]($0, $1%s)",
                value->input_count > 2 ? ", $2" : "");
}

static void matmul(const tg_writer *w, const tg_value *value, tg_text *to)
{
    (void)w;
    const bool ta = tg_writer_word(value, "transpose_a") != 0, tb = tg_writer_word(value, "transpose_b") != 0;
    tg_text_add(to, "MatMul(%s, %s)", ta ? "Transpose[perm={$swapped0}]($0)" : "$0",
                tb ? "Transpose[perm={$swapped1}]($1)" : "$1");
}

/* The shape of a tensor in which axis `rows` is that of another one. */
static void put_shape_like(tg_text *to, const tg_shape *shape, int rows, int other)
{
    tg_text_add(to, "Concat[axis=0](");
    for (int axis = 0; axis < shape->rank; axis++)
        if (axis == rows)
            tg_text_add(to, "%sShape[end=%d, start=%d]($%d)", axis ? ", " : "", rows + 1, rows, other);
        else
            tg_text_add(to, "%s{%lld}", axis ? ", " : "", (long long)shape->dim[axis]);
    tg_text_add(to, ")");
}

/* Along an existing axis, or a new one. What is the same for all rows is repeated for each of them. */
static void concat(const tg_writer *w, const tg_value *value, tg_text *to)
{
    const int along = (int)tg_writer_word(value, "axis");
    const bool stacks = tg_writer_word(value, "stack") != 0;
    int other = 0;
    while (w->rows && other < value->input_count && w->rows[value->inputs[other]->index] < 0)
        other++;
    tg_text_add(to, "Concat[axis=%d](", along);
    for (int i = 0; i < value->input_count; i++) {
        const tg_value *in = value->inputs[i];
        const bool repeats = w->rows && other < value->input_count && w->rows[in->index] < 0;
        tg_text_add(to, i ? ", %s%s$%d" : "%s%s$%d", stacks ? "Unsqueeze(" : "", repeats ? "Expand(" : "", i);
        if (repeats) {
            tg_text_add(to, ", ");
            put_shape_like(to, in->shape, w->rows[value->inputs[other]->index], other);
            tg_text_add(to, ")");
        }
        if (stacks)
            tg_text_add(to, ", {%d})", along);
    }
    tg_text_add(to, ")");
}

/* "Transpose[perm={...}](Reshape(Slice(...)))": some columns of every position as [batch, key-value heads, heads of
 * each, ...]. */
static void heads_of(tg_text *to, const tg_value *value, long long from, long long key_value_heads, long long each,
                     long long size, const char *order)
{
    const tg_value *x = value->inputs[0];
    tg_text_add(to, "Transpose[perm={%s}](Reshape(Slice($0, {%lld}, {%lld}, {-1}), {-1, %lld, %lld, %lld, %lld}))",
                order, from, from + key_value_heads * each * size, dim(x, -2), key_value_heads, each, size);
}

static void self_attention(const tg_writer *w, const tg_value *value, tg_text *to)
{
    (void)w;
    const long long heads = (long long)tg_writer_word(value, "heads"),
                    shared = (long long)tg_writer_word(value, "key_value_heads"),
                    width = dim(value->inputs[0], -1) / (heads + 2 * shared);
    const bool causal = tg_writer_word(value, "causal") != 0;
    char scale[40];
    tg_text_add(to, "Reshape(Transpose[perm={0, 3, 1, 2, 4}](MatMul(Softmax[axis=-1](%sMul(%s, MatMul(",
                causal ? "Add(" : "", tg_writer_number(1 / sqrt((double)width), scale));
    heads_of(to, value, 0, shared, heads / shared, width, "0, 2, 3, 1, 4");
    tg_text_add(to, ",\n    ");
    heads_of(to, value, heads * width, shared, 1, width, "0, 2, 3, 4, 1");
    tg_text_add(to, causal ? ")), Trilu[upper=1](Expand(-INFINITY, {$0.-2, $0.-2}), Squeeze({1}))))" : ")))");
    tg_text_add(to, ",\n    ");
    heads_of(to, value, (heads + shared) * width, shared, 1, width, "0, 2, 3, 1, 4");
    tg_text_add(to, ")), {$reshaped})");
}

/* ---- values ---- */

static const struct {
    const tg_op *op;
    const char *condition, *text;
    void (*write)(const tg_writer *w, const tg_value *value, tg_text *to);
} nodes[] = {
#define TG_ONNX(name, condition, text) {&tg_op_##name, condition, text, NULL},
#include "autograd/export/onnx.def"
    {&tg_op_linear, NULL, NULL, linear},
    {&tg_op_grouped_linear, NULL, NULL, grouped_linear},
    {&tg_op_matmul, NULL, NULL, matmul},
    {&tg_op_conv2d, NULL, NULL, conv2d},
    {&tg_op_concat, NULL, NULL, concat},
    {&tg_op_reshape, NULL, NULL, reshape},
    {&tg_op_self_attention, NULL, NULL, self_attention},
};

static bool refuse(tg_onnx *o, const tg_op *op)
{
    return tg_program_fail(o->w->program, "export: ONNX cannot express the operation %s", op->name);
}

/* The nodes of an operation; false, with the error recorded, if ONNX cannot express it. */
static bool put_operation(tg_onnx *o, const tg_value *value)
{
    char text[TG_WRITER_EXPANDED], expanded[TG_WRITER_EXPANDED];
    tg_text to = {text, sizeof text, 0};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        if (nodes[i].op != value->op || (nodes[i].condition && tg_writer_word(value, nodes[i].condition) == 0))
            continue;
        if (nodes[i].write)
            nodes[i].write(o->w, value, &to);
        tg_writer_expand(o->w, value, nodes[i].write ? text : nodes[i].text, expanded, sizeof expanded);
        tg_onnx_put(o, value, NULL, expanded);
        return !o->failed;
    }
    return refuse(o, value->op);
}

static void put_leaf(tg_onnx *o, const tg_value *leaf)
{
    char name[TG_ONNX_NAME];
    tg_onnx_tensor(o->to, 5, tg_onnx_name(o, leaf, name), tg_writer_onnx_type(leaf->dtype), leaf->shape->rank,
                   leaf->shape->dim, tg_writer_data(leaf), (size_t)leaf->size * tg_dtype_size(leaf->dtype));
}

/* Means, scales or limits, in double. A column of scale 0 is 0 for the net: divided by infinity. */
static bool put_columns(tg_onnx *o, const char *name, const double *numbers, int64_t count, double for_zero)
{
    double *copy = malloc((size_t)count * sizeof *copy + 1);
    for (int64_t i = 0; copy && i < count; i++)
        copy[i] = numbers[i] == 0 ? for_zero : numbers[i];
    if (copy)
        tg_onnx_tensor(o->to, 5, name, tg_writer_onnx_type(TG_F64), 1, &count, copy, (size_t)count * sizeof *copy);
    else
        tg_program_fail(o->w->program, "export: out of memory");
    free(copy);
    return copy;
}

/* As soften() in operations.inc; no limit is an infinite one. */
static bool soften_input(tg_onnx *o, const tg_value *x, const double *limit)
{
    if (!put_columns(o, "x_limit", limit, tg_writer_columns(x), INFINITY))
        return false;
    tg_onnx_put(o, x, "x_share", "Clip(Div(x_in_units, x_limit), Cast[to=11](-1e100), Cast[to=11](1e100))");
    tg_onnx_put(o, x, "x_softened",
                "Where(IsInf(x_limit), x_in_units, "
                "Mul(x_limit, Div(x_share, Sqrt(Add(Cast[to=11](1), Mul(x_share, x_share))))))");
    return !o->failed;
}

/* As standardise() in operations.inc. */
static bool put_input(tg_onnx *o, const tg_value *x)
{
    const tg_export_tensor *port = o->w->function[TG_PREDICT].port[0];
    const bool wide = x->dtype == TG_F64;
    const char *units = port->limit ? "x_softened" : "x_in_units";
    char text[300], largest[40];
    if (!port->scale)
        return true;
    if (!put_columns(o, "x_mean", port->mean, tg_writer_columns(x), 0) ||
        !put_columns(o, "x_scale", port->scale, tg_writer_columns(x), INFINITY))
        return false;
    tg_onnx_put(o, x, "x_in_units", "Div(Sub(Cast[to=11](x), x_mean), x_scale)");
    if (port->limit && !soften_input(o, x, port->limit))
        return false;
    tg_writer_number(wide ? DBL_MAX : (double)FLT_MAX, largest);
    snprintf(text, sizeof text, "Clip(Cast[to=%d](Where(IsNaN(x_in_units), Cast[to=11](0), %s)), -%s, %s)",
             tg_writer_onnx_type(x->dtype), units, largest, largest);
    tg_onnx_put(o, x, NULL, text);
    return !o->failed;
}

static bool put_output(tg_onnx *o, const tg_value *y)
{
    const tg_export_tensor *port = &o->w->config->output;
    char text[200];
    if (port->scale && (!put_columns(o, "y_mean", port->mean, tg_writer_columns(y), 0) ||
                        !put_columns(o, "y_scale", port->scale, tg_writer_columns(y), 0)))
        return false;
    tg_writer_expand(o->w, y,
                     port->scale ? "Cast[to=$type](Add(Mul(Cast[to=11]($y), y_scale), y_mean))" : "Identity($y)", text,
                     sizeof text);
    tg_onnx_put(o, y, "y", text);
    return !o->failed;
}

static bool put_values(tg_onnx *o)
{
    const tg_exported *f = &o->w->function[TG_PREDICT];
    for (int64_t i = 0; i < o->w->program->count; i++) {
        const tg_value *value = tg_program_at(o->w->program, i);
        if (f->places[i].kind == TG_PLACE_NONE)
            continue;
        if (value == f->argument[0] ? !put_input(o, value) : value->op && value->size > 0 && !put_operation(o, value))
            return false;
        if ((!value->op && value != f->argument[0]) || value->size == 0)
            put_leaf(o, value); /* empty tensors need no computation */
    }
    return put_output(o, f->result);
}

/* ---- the model ---- */

/* With `rows` that axis has any size. */
static void put_type(tg_text *to, int field, const char *name, const tg_value *value, const int *rows)
{
    const size_t info = tg_proto_begin(to, field);
    tg_proto_text(to, 1, name);
    const size_t type = tg_proto_begin(to, 2), tensor = tg_proto_begin(to, 1);
    tg_proto_int(to, 1, tg_writer_onnx_type(value->dtype));
    const size_t shape = tg_proto_begin(to, 2);
    for (int axis = 0; axis < value->shape->rank; axis++) {
        const size_t dimension = tg_proto_begin(to, 1);
        if (rows && axis == rows[value->index])
            tg_proto_text(to, 2, "rows");
        else
            tg_proto_int(to, 1, value->shape->dim[axis]);
        tg_proto_end(to, dimension);
    }
    tg_proto_end(to, shape);
    tg_proto_end(to, tensor);
    tg_proto_end(to, type);
    tg_proto_end(to, info);
}

/* Writes the shapes of all intermediate values, so that readers need not infer them. */
static void put_types(tg_onnx *o)
{
    const tg_exported *f = &o->w->function[TG_PREDICT];
    char name[TG_ONNX_NAME];
    put_type(o->to, 11, "x", f->argument[0], o->w->rows);
    put_type(o->to, 12, "y", f->result, o->w->rows);
    for (int64_t i = 0; i < o->w->program->count; i++) {
        const tg_value *value = tg_program_at(o->w->program, i);
        if (f->places[i].kind != TG_PLACE_NONE && value->op)
            put_type(o->to, 13, tg_onnx_name(o, value, name), value, o->w->rows);
    }
}

/* The number of bytes of a multi-byte UTF-8 character; 0 if it is not one. */
static int utf8_length(const unsigned char *at)
{
    const int length = *at >= 0xf0 && *at < 0xf5   ? 4
                       : *at >= 0xe0 && *at < 0xf0 ? 3
                       : *at >= 0xc2 && *at < 0xe0 ? 2
                                                   : 0;
    for (int i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    return length;
}

/* A string of JSON. A byte that is not UTF-8 becomes the character with its number. */
static void put_string(tg_text *to, const char *text)
{
    tg_text_add(to, "\"");
    for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
        const int length = utf8_length(at);
        if (length > 0) {
            tg_text_add(to, "%.*s", length, (const char *)at);
            at += length - 1;
        } else
            tg_text_add(to, strchr("\"\\", *at) ? "\\%c" : *at < ' ' || *at > '~' ? "\\u%04x" : "%c", *at);
    }
    tg_text_add(to, "\"");
}

static void put_names(tg_text *to, const char *key, const char *const *names, int64_t count)
{
    if (!names)
        return;
    const size_t property = tg_proto_begin(to, 14);
    tg_proto_text(to, 1, key);
    const size_t value = tg_proto_begin(to, 2);
    for (int64_t i = 0; i < count; i++) {
        tg_text_add(to, i ? ", " : "[");
        put_string(to, names[i] ? names[i] : "");
    }
    tg_text_add(to, "]");
    tg_proto_end(to, value);
    tg_proto_end(to, property);
}

static bool put_model(tg_onnx *o)
{
    const tg_exported *f = &o->w->function[TG_PREDICT];
    const tg_export_config *config = o->w->config;
    tg_proto_int(o->to, 1, IR_VERSION);
    tg_proto_text(o->to, 2, "tapegrad");
    tg_proto_text(o->to, 3, tg_version());
    if (config->title)
        tg_proto_text(o->to, 6, config->title);
    const size_t graph = tg_proto_begin(o->to, 7);
    tg_proto_text(o->to, 2, o->w->name);
    if (!tg_onnx_find_rows(o) || !put_values(o))
        return false;
    put_types(o);
    tg_proto_end(o->to, graph);
    put_names(o->to, "inputs", config->input.names, tg_writer_columns(f->argument[0]));
    put_names(o->to, "outputs", config->output.names, tg_writer_columns(f->result));
    /* Last, as text is followed by a 0, which the next field overwrites. */
    const size_t opset = tg_proto_begin(o->to, 8);
    tg_proto_int(o->to, 2, OPSET);
    tg_proto_end(o->to, opset);
    return o->to->used <= INT32_MAX || tg_program_fail(o->w->program, "export: a file of ONNX has at most 2 GB");
}

size_t tg_export_onnx(tg_tape *tape, const tg_export_config *config, void *bytes, size_t size)
{
    tg_writer w;
    tg_export_config prediction = config ? *config : (tg_export_config){0};
    prediction.step = NULL;
    prediction.next = NULL;
    const bool fine = tg_writer_begin(&w, tape, config ? &prediction : NULL);
    w.text = (tg_text){bytes, size, 0};
    tg_onnx o = {.w = &w, .to = &w.text};
    const bool written = fine && put_model(&o);
    free(w.rows);
    tg_writer_end(&w);
    return written ? w.text.used : 0;
}
