/* The header of a safetensors file, which is JSON: its tensors, metadata and layout. */
#include "nn/files/json_internal.h"
#include "nn/files/safetensors_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <math.h>

/* ---- the types of numbers, and their values; the lowest byte comes first, on every processor ---- */

static uint64_t bits_of(const void *number, int bytes)
{
    const unsigned char *from = number;
    uint64_t bits = 0;
    for (int i = 0; i < bytes; i++)
        bits |= (uint64_t)from[i] << (8 * i);
    return bits;
}

static double single_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static double f32_value(const void *number)
{
    return single_of((uint32_t)bits_of(number, 4));
}

static double f64_value(const void *number)
{
    const uint64_t bits = bits_of(number, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* An IEEE half: 1 sign bit, 5 of the exponent, 10 of the fraction. */
static double f16_value(const void *number)
{
    const int bits = (int)bits_of(number, 2), exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double bf16_value(const void *number)
{
    return single_of((uint32_t)bits_of(number, 2) << 16);
}

static const tg_file_dtype dtypes[] = {
    {"F32", 4, f32_value}, {"F64", 8, f64_value}, {"F16", 2, f16_value}, {"BF16", 2, bf16_value}, {"I8", 1, NULL},
    {"U8", 1, NULL},       {"I16", 2, NULL},      {"U16", 2, NULL},      {"I32", 4, NULL},        {"U32", 4, NULL},
    {"I64", 8, NULL},      {"U64", 8, NULL},      {"BOOL", 1, NULL},     {"F8_E4M3", 1, NULL},    {"F8_E5M2", 1, NULL},
};

const tg_file_dtype *tg_file_dtype_of(const char *name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++)
        if (strcmp(dtypes[i].name, name) == 0)
            return &dtypes[i];
    return NULL;
}

/* ---- reading ---- */

typedef struct reader {
    tg_json_reader json;
    tg_file_header *header;
    int64_t data_size;
    bool has_metadata;
} reader;

/* ---- tensors and metadata ---- */

/* Memory for one more element of an array, whose length doubles; NULL if out of memory. */
static void *room_for_one(reader *r, void *array, int count, size_t element)
{
    const bool full = (count & (count - 1)) == 0; /* 0, or a power of two */
    void *larger = full ? realloc(array, (count ? 2 * (size_t)count : 1) * element) : array;
    if (!larger)
        tg_fail_first(&r->json.problem, "out of memory");
    return larger;
}

static bool check_tensor(reader *r, tg_file_tensor *t)
{
    if (!t->dtype || t->shape.rank < 0 || t->begin < 0)
        return tg_fail_first(&r->json.problem, "tensor %.200s: type, shape or offsets are missing", t->name);
    const tg_file_dtype *dtype = tg_file_dtype_of(t->dtype);
    t->size = tg_shape_size(&t->shape);
    if (!dtype)
        return tg_fail_first(&r->json.problem, "tensor %.200s: unknown type %.40s", t->name, t->dtype);
    if (t->size < 0 || t->size > INT64_MAX / dtype->size)
        return tg_fail_first(&r->json.problem, "tensor %.200s: its shape is absurdly large", t->name);
    if (t->begin > t->end || t->end > r->data_size)
        return tg_fail_first(&r->json.problem,
                             "tensor %.200s: it lies at %lld .. %lld, and the file has %lld bytes of numbers", t->name,
                             (long long)t->begin, (long long)t->end, (long long)r->data_size);
    return t->end - t->begin == t->size * dtype->size ||
           tg_fail_first(&r->json.problem, "tensor %.200s: its shape takes %lld bytes, its offsets have %lld", t->name,
                         (long long)(t->size * dtype->size), (long long)(t->end - t->begin));
}

/* A member of {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, in any order. */
static bool read_member(void *user, const char *key)
{
    reader *r = user;
    tg_file_tensor *t = &r->header->tensors[r->header->count - 1];
    int64_t offsets[2];
    int count;
    if (strcmp(key, "dtype") == 0 && !t->dtype)
        return tg_json_text(&r->json, false, &t->dtype);
    if (strcmp(key, "shape") == 0 && t->shape.rank < 0)
        return tg_json_list(&r->json, t->shape.dim, TG_MAX_RANK, &t->shape.rank) ||
               tg_fail_first(&r->json.problem, "tensor %.200s: its shape cannot be read", t->name);
    if (strcmp(key, "data_offsets") != 0 || t->begin >= 0)
        return tg_fail_first(&r->json.problem, "tensor %.200s: '%.40s' is repeated or unknown", t->name, key);
    if (!tg_json_list(&r->json, offsets, 2, &count) || count != 2)
        return tg_fail_first(&r->json.problem, "tensor %.200s: its offsets cannot be read", t->name);
    t->begin = offsets[0];
    t->end = offsets[1];
    return true;
}

static bool read_line(void *user, const char *key)
{
    reader *r = user;
    tg_file_header *h = r->header;
    tg_metadata *larger = room_for_one(r, h->metadata, h->metadata_count, sizeof *larger);
    if (!larger)
        return false;
    h->metadata = larger;
    h->metadata[h->metadata_count].key = key;
    return tg_json_text(&r->json, true, &h->metadata[h->metadata_count++].value);
}

static bool read_entry(void *user, const char *name)
{
    reader *r = user;
    tg_file_header *h = r->header;
    if (strcmp(name, "__metadata__") == 0) {
        if (r->has_metadata)
            return tg_fail_first(&r->json.problem, "the header has metadata twice");
        r->has_metadata = true;
        return tg_json_takes_word(&r->json, "null") || tg_json_object(&r->json, read_line, r);
    }
    tg_file_tensor *larger = room_for_one(r, h->tensors, h->count, sizeof *larger);
    if (!larger)
        return false;
    h->tensors = larger;
    tg_file_tensor *t = &h->tensors[h->count++];
    *t = (tg_file_tensor){.name = name, .shape.rank = -1, .begin = -1};
    return tg_json_object(&r->json, read_member, r) && check_tensor(r, t);
}

/* ---- the whole header ---- */

static int by_place(const void *a, const void *b)
{
    const tg_file_tensor *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin) : (x->end > y->end) - (x->end < y->end);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const tg_file_tensor *)a)->name, ((const tg_file_tensor *)b)->name);
}

static bool check_layout(reader *r)
{
    tg_file_header *h = r->header;
    int64_t at = 0;
    if (h->count)
        qsort(h->tensors, (size_t)h->count, sizeof *h->tensors, by_place);
    for (int i = 0; i < h->count; i++) {
        if (h->tensors[i].begin != at)
            return tg_fail_first(&r->json.problem, "tensor %.200s: it %s", h->tensors[i].name,
                                 h->tensors[i].begin < at ? "overlaps another one" : "leaves a gap before it");
        at = h->tensors[i].end;
    }
    if (at != r->data_size)
        return tg_fail_first(&r->json.problem, "%lld bytes at the end of the file belong to no tensor",
                             (long long)(r->data_size - at));
    if (h->count)
        qsort(h->tensors, (size_t)h->count, sizeof *h->tensors, by_name);
    for (int i = 1; i < h->count; i++)
        if (strcmp(h->tensors[i].name, h->tensors[i - 1].name) == 0)
            return tg_fail_first(&r->json.problem, "tensor %.200s: there are two of this name", h->tensors[i].name);
    return true;
}

static bool read_all(reader *r)
{
    if (!tg_json_object(&r->json, read_entry, r))
        return false;
    if (!tg_json_end(&r->json))
        return false;
    return check_layout(r);
}

bool tg_file_header_read(tg_file_header *header, char *json, size_t size, int64_t data_size, const char *path,
                         tg_error *error)
{
    *header = (tg_file_header){0};
    reader r = {
        .json = {.at = json, .end = json + size, .what = "the header"}, .header = header, .data_size = data_size};
    return read_all(&r) || tg_file_refuse(error, path, "%s", r.json.problem.text);
}

void tg_file_header_free(tg_file_header *header)
{
    free(header->tensors);
    free(header->metadata);
    *header = (tg_file_header){0};
}
