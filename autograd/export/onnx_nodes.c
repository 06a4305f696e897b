/* Expressions of onnx.def as nodes. The messages and the numbers of their fields: onnx.proto. */
#include "autograd/export/onnx.h"

#include "autograd/export/protobuf.h"
#include "autograd/base/numbers.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 }; /* inputs of a node, or integers of a list */

enum { ONNX_I64 = 7 };

void tg_onnx_tensor(tg_text *to, int field, const char *name, int type, int rank, const int64_t *dim, const void *bytes,
                    size_t size)
{
    const size_t tensor = tg_proto_begin(to, field);
    for (int axis = 0; axis < rank; axis++)
        tg_proto_int(to, 1, dim[axis]);
    tg_proto_int(to, 2, type);
    if (name)
        tg_proto_text(to, 8, name);
    tg_proto_bytes(to, 9, bytes, size);
    tg_proto_end(to, tensor);
}

/* True if another leaf of the program has this name. */
static bool is_shared(const tg_onnx *o, const tg_value *leaf, const char *name)
{
    for (int64_t i = 0; i < o->w->program->count; i++) {
        const tg_value *other = tg_program_at(o->w->program, i);
        if (other->parameter && other != leaf && tg_name_of(other) && strcmp(tg_name_of(other), name) == 0)
            return true;
    }
    return false;
}

const char *tg_onnx_name(const tg_onnx *o, const tg_value *value, char name[TG_ONNX_NAME])
{
    const tg_exported *f = &o->w->function[TG_PREDICT];
    const char *own = value->parameter ? tg_name_of(value) : NULL;
    if (value == f->argument[0] && !f->port[0]->scale)
        return "x";
    if (own && strchr(own, '.') /* generated names have no dot */ && strlen(own) < TG_ONNX_NAME &&
        !is_shared(o, value, own))
        return own;
    snprintf(name, TG_ONNX_NAME, "v%lld", (long long)value->index);
    return name;
}

/* ---- reading ---- */

static bool skip(tg_onnx *o, char c)
{
    o->at += strspn(o->at, " \n");
    const bool found = *o->at == c;
    o->at += found;
    o->at += strspn(o->at, " \n");
    return found;
}

static void read_word(tg_onnx *o, char *word, size_t size)
{
    static const char of_words[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    const size_t length = strspn(o->at, of_words);
    snprintf(word, size, "%.*s", (int)length, o->at);
    o->at += length;
}

static double read_number(tg_onnx *o)
{
    char word[64];
    double number = 0;
    const size_t length = strspn(o->at, "+-0123456789.eEINFTYA");
    snprintf(word, sizeof word, "%.*s", (int)length, o->at);
    o->at += length;
    if (strstr(word, "INFINITY"))
        return *word == '-' ? -INFINITY : INFINITY;
    if (strcmp(word, "NAN") == 0)
        return NAN;
    o->failed |= tg_scan(word, "%lf", &number) != 1;
    return number;
}

/* Reads integers up to the brace. */
static int read_integers(tg_onnx *o, int64_t *list)
{
    int count = 0;
    while (!skip(o, '}') && !o->failed) {
        char *end;
        o->failed |= count == MOST;
        if (o->failed)
            break;
        list[count++] = strtoll(o->at, &end, 10);
        o->failed |= end == o->at;
        o->at = end;
        skip(o, ',');
    }
    return count;
}

/* ---- writing ---- */

/* Reads attributes up to the bracket: the name, the number of the value's field, and that of its type. */
static void put_attributes(tg_onnx *o)
{
    enum { REAL = 1, INTEGER, TEXT, INTEGERS = 7 };
    while (!skip(o, ']') && !o->failed) {
        char word[64];
        int64_t list[MOST];
        const size_t attribute = tg_proto_begin(o->to, 5);
        int kind = INTEGER;
        read_word(o, word, sizeof word);
        tg_proto_text(o->to, 1, word);
        if (skip(o, ':')) {
            kind = REAL;
            tg_proto_float(o->to, 2, (float)read_number(o));
        } else if (skip(o, '=') && skip(o, '\'')) {
            kind = TEXT;
            read_word(o, word, sizeof word);
            tg_proto_text(o->to, 4, word);
            skip(o, '\'');
        } else if (skip(o, '{')) {
            kind = INTEGERS;
            const int count = read_integers(o, list);
            for (int i = 0; i < count; i++)
                tg_proto_int(o->to, 8, list[i]);
        } else
            tg_proto_int(o->to, 3, (int64_t)read_number(o));
        tg_proto_int(o->to, 20, kind);
        tg_proto_end(o->to, attribute);
        skip(o, ',');
    }
}

static void new_result(tg_onnx *o, char name[TG_ONNX_NAME])
{
    snprintf(name, TG_ONNX_NAME, "v%lld_%d", (long long)o->value->index, ++o->results);
}

/* A node Constant. */
static void put_constant(tg_onnx *o, int type, int rank, int64_t count, const void *bytes, size_t size,
                         const char *name)
{
    enum { TENSOR = 4 };
    const size_t node = tg_proto_begin(o->to, 1);
    tg_proto_text(o->to, 2, name);
    tg_proto_text(o->to, 4, "Constant");
    const size_t attribute = tg_proto_begin(o->to, 5);
    tg_proto_text(o->to, 1, "value");
    tg_onnx_tensor(o->to, 5, NULL, type, rank, &count, bytes, size);
    tg_proto_int(o->to, 20, TENSOR);
    tg_proto_end(o->to, attribute);
    tg_proto_end(o->to, node);
}

static void put_number(tg_onnx *o, const char *name)
{
    const double number = read_number(o);
    const float narrow = (float)number;
    if (o->w->needed.dtype == TG_F64)
        put_constant(o, tg_writer_onnx_type(TG_F64), 0, 0, &number, sizeof number, name);
    else
        put_constant(o, tg_writer_onnx_type(TG_F32), 0, 0, &narrow, sizeof narrow, name);
}

static void put_expression(tg_onnx *o, const char *wanted, char name[TG_ONNX_NAME]);

static void put_node(tg_onnx *o, const char *op, const char *attributes, const char *wanted, char name[TG_ONNX_NAME])
{
    char input[MOST][TG_ONNX_NAME];
    int count = 0;
    while (!skip(o, ')') && !o->failed) {
        o->failed |= count == MOST;
        if (!o->failed)
            put_expression(o, NULL, input[count++]);
        skip(o, ',');
    }
    if (wanted)
        snprintf(name, TG_ONNX_NAME, "%s", wanted);
    else
        new_result(o, name);
    const char *end = o->at;
    const size_t node = tg_proto_begin(o->to, 1);
    for (int i = 0; i < count; i++)
        tg_proto_text(o->to, 1, input[i]);
    tg_proto_text(o->to, 2, name);
    tg_proto_text(o->to, 4, op);
    o->at = attributes;
    if (attributes)
        put_attributes(o);
    o->at = end;
    tg_proto_end(o->to, node);
}

/* Appends nodes; the name of the result is `wanted`, or a new one. */
static void put_expression(tg_onnx *o, const char *wanted, char name[TG_ONNX_NAME])
{
    char word[64], other[TG_ONNX_NAME];
    const char *attributes = NULL;
    o->at += strspn(o->at, " \n");
    const bool is_list = skip(o, '{');
    if (is_list || strchr("+-0123456789", *o->at) || strncmp(o->at, "INFINITY", 8) == 0 ||
        strncmp(o->at, "NAN", 3) == 0) {
        int64_t list[MOST];
        new_result(o, name);
        const int count = is_list ? read_integers(o, list) : 0;
        if (is_list)
            put_constant(o, ONNX_I64, 1, count, list, (size_t)count * sizeof *list, name);
        else
            put_number(o, name);
        return;
    }
    read_word(o, word, sizeof word);
    if (skip(o, '[')) {
        attributes = o->at;
        o->at += strcspn(o->at, "]");
        o->failed |= !skip(o, ']');
    }
    if (skip(o, '('))
        put_node(o, word, attributes, wanted, name);
    else if (*word == 'v' && isdigit((unsigned char)word[1])) {
        const tg_value *value = tg_program_at(o->w->program, atoll(word + 1));
        snprintf(name, TG_ONNX_NAME, "%s", tg_onnx_name(o, value, other));
    } else if (*word)
        snprintf(name, TG_ONNX_NAME, "%s", word); /* a tensor by its name */
    else
        o->failed = true;
}

void tg_onnx_put(tg_onnx *o, const tg_value *value, const char *name, const char *expression)
{
    char own[TG_ONNX_NAME], result[TG_ONNX_NAME];
    o->value = value;
    o->at = expression;
    put_expression(o, name ? name : tg_onnx_name(o, value, own), result);
    if (o->failed)
        tg_program_fail(o->w->program, "export: %s has too many inputs for ONNX", value->op ? value->op->name : "x");
}
