/* The JSON of a safetensors header. Its grammar is a small part of JSON's (two levels, strings, and lists of whole
 * numbers), so the library has its own reader instead of a dependency on a JSON library. */
#include "nn/files/safetensors_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
    char *at, *end;
    tg_file_header *header;
    int64_t data_size;
    bool has_metadata;
    tg_error problem; /* the first */
} reader;

/* ---- tokens ---- */

static void skip_space(reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

/* If this character follows, skips it; false otherwise. */
static bool takes(reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

/* The same for null, which some programs write for no metadata. */
static bool takes_null(reader *r)
{
    skip_space(r);
    if (r->end - r->at < 4 || memcmp(r->at, "null", 4) != 0)
        return false;
    r->at += 4;
    return true;
}

static bool expect(reader *r, char c)
{
    return takes(r, c) || tg_fail_first(&r->problem, "the header is not valid: '%c' is missing", c);
}

static bool read_hex(reader *r, unsigned *code)
{
    *code = 0;
    for (int i = 0; i < 4; i++, r->at++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = r->at < r->end ? memchr(digits, *r->at | 0x20, 16) : NULL;
        if (!digit || *r->at < '0')
            return false;
        *code = *code * 16 + (unsigned)(digit - digits);
    }
    return true;
}

static char *put_utf8(char *to, unsigned code)
{
    static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    const int bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = bytes - 1; i > 0; i--, code >>= 6)
        to[i] = (char)(0x80 | (code & 0x3f));
    to[0] = (char)(first[bytes] | code);
    return to + bytes;
}

/* U+0001 to U+001F, U+007F to U+009F, which a terminal obeys. */
static bool is_control(unsigned code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0);
}

/* Reads the character after a backslash. */
static bool read_escape(reader *r, bool controls, char **to)
{
    static const char letters[] = "bfnrt", meant[] = "\b\f\n\r\t";
    const char c = r->at < r->end ? *r->at++ : '\0', *letter = c ? strchr(letters, c) : NULL;
    unsigned code, low;
    if (letter && controls) {
        *(*to)++ = meant[letter - letters];
        return true;
    }
    if (c == '"' || c == '\\' || c == '/') {
        *(*to)++ = c;
        return true;
    }
    if (c != 'u' || !read_hex(r, &code) || code == 0 || (is_control(code) && !controls) ||
        (code >= 0xdc00 && code < 0xe000))
        return false;
    if (code >= 0xd800 && code < 0xdc00) { /* the first half of a pair */
        if (r->end - r->at < 6 || *r->at++ != '\\' || *r->at++ != 'u' || !read_hex(r, &low) || low < 0xdc00 ||
            low >= 0xe000)
            return false;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    *to = put_utf8(*to, code);
    return true;
}

/* The number of bytes of the UTF-8 character at `s`; 0 if it is invalid, or an ASCII character that JSON forbids. */
static int utf8_length(const unsigned char *s, const char *end)
{
    if (*s < 0x80)
        return *s >= 0x20;
    const int bytes = *s >= 0xf0 ? 4 : *s >= 0xe0 ? 3 : 2;
    if (*s < 0xc2 || *s > 0xf4 || end - (const char *)s < bytes)
        return 0;
    for (int i = 1; i < bytes; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    const bool too_long = (*s == 0xe0 && s[1] < 0xa0) || (*s == 0xf0 && s[1] < 0x90);
    const bool no_character = (*s == 0xed && s[1] >= 0xa0) || (*s == 0xf4 && s[1] >= 0x90);
    return too_long || no_character ? 0 : bytes;
}

/* Reads a string, unescaped in place and ended by 0. Names are printed, so control characters are rejected. */
static bool read_text(reader *r, bool controls, const char **string)
{
    if (!expect(r, '"'))
        return false;
    char *to = r->at;
    *string = to;
    while (r->at < r->end && *r->at != '"') {
        const unsigned char *s = (const unsigned char *)r->at;
        const int length = utf8_length(s, r->end);
        if (*r->at == '\\') {
            r->at++;
            if (!read_escape(r, controls, &to))
                return tg_fail_first(&r->problem, "the header is not valid: a wrong escape in a string");
            continue;
        }
        const bool control = length == 1 ? is_control(*s) : length == 2 && *s == 0xc2 && is_control(s[1]);
        if (length == 0 || (control && !controls))
            return tg_fail_first(&r->problem,
                                 "the header is not valid: a string that is not UTF-8, or has control characters");
        memmove(to, r->at, (size_t)length);
        to += length;
        r->at += length;
    }
    if (r->at == r->end)
        return tg_fail_first(&r->problem, "the header is not valid: a string does not end");
    r->at++;
    *to = '\0';
    return true;
}

/* Reads an integer, 0 or more. */
static bool read_number(reader *r, int64_t *number)
{
    skip_space(r);
    const char *first = r->at;
    *number = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        const int digit = *r->at - '0';
        if (*number > (INT64_MAX - digit) / 10)
            return tg_fail_first(&r->problem, "the header is not valid: a number is too large");
        *number = *number * 10 + digit;
    }
    if (r->at == first || (*first == '0' && r->at > first + 1))
        return tg_fail_first(&r->problem, "the header is not valid: a whole number is missing");
    return true;
}

/* [1, 2, 3]; at most `most` of them. */
static bool read_list(reader *r, int64_t *numbers, int most, int *count)
{
    *count = 0;
    if (!expect(r, '['))
        return false;
    if (takes(r, ']'))
        return true;
    do {
        int64_t number;
        if (!read_number(r, &number))
            return false;
        if (*count == most)
            return tg_fail_first(&r->problem, "a list has more than %d numbers", most);
        numbers[(*count)++] = number;
    } while (takes(r, ','));
    return expect(r, ']');
}

/* {"key": ..., "key": ...}, of which `read` reads what follows a key. */
static bool read_object(reader *r, bool (*read)(reader *r, const char *key))
{
    if (!expect(r, '{'))
        return false;
    if (takes(r, '}'))
        return true;
    do {
        const char *key;
        if (!read_text(r, false, &key) || !expect(r, ':') || !read(r, key))
            return false;
    } while (takes(r, ','));
    return expect(r, '}');
}

/* ---- tensors and metadata ---- */

/* Memory for one more element of an array, whose length doubles; NULL if out of memory. */
static void *room_for_one(reader *r, void *array, int count, size_t element)
{
    const bool full = (count & (count - 1)) == 0; /* 0, or a power of two */
    void *larger = full ? realloc(array, (count ? 2 * (size_t)count : 1) * element) : array;
    if (!larger)
        tg_fail_first(&r->problem, "out of memory");
    return larger;
}

static bool check_tensor(reader *r, tg_file_tensor *t)
{
    if (!t->dtype || t->shape.rank < 0 || t->begin < 0)
        return tg_fail_first(&r->problem, "tensor %.200s: type, shape or offsets are missing", t->name);
    const tg_file_dtype *dtype = tg_file_dtype_of(t->dtype);
    t->size = tg_shape_size(&t->shape);
    if (!dtype)
        return tg_fail_first(&r->problem, "tensor %.200s: unknown type %.40s", t->name, t->dtype);
    if (t->size < 0 || t->size > INT64_MAX / dtype->size)
        return tg_fail_first(&r->problem, "tensor %.200s: its shape is absurdly large", t->name);
    if (t->begin > t->end || t->end > r->data_size)
        return tg_fail_first(&r->problem,
                             "tensor %.200s: it lies at %lld .. %lld, and the file has %lld bytes of numbers", t->name,
                             (long long)t->begin, (long long)t->end, (long long)r->data_size);
    return t->end - t->begin == t->size * dtype->size ||
           tg_fail_first(&r->problem, "tensor %.200s: its shape takes %lld bytes, its offsets have %lld", t->name,
                         (long long)(t->size * dtype->size), (long long)(t->end - t->begin));
}

/* A member of {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, in any order. */
static bool read_member(reader *r, const char *key)
{
    tg_file_tensor *t = &r->header->tensors[r->header->count - 1];
    int64_t offsets[2];
    int count;
    if (strcmp(key, "dtype") == 0 && !t->dtype)
        return read_text(r, false, &t->dtype);
    if (strcmp(key, "shape") == 0 && t->shape.rank < 0)
        return read_list(r, t->shape.dim, TG_MAX_RANK, &t->shape.rank) ||
               tg_fail_first(&r->problem, "tensor %.200s: its shape cannot be read", t->name);
    if (strcmp(key, "data_offsets") != 0 || t->begin >= 0)
        return tg_fail_first(&r->problem, "tensor %.200s: '%.40s' is repeated or unknown", t->name, key);
    if (!read_list(r, offsets, 2, &count) || count != 2)
        return tg_fail_first(&r->problem, "tensor %.200s: its offsets cannot be read", t->name);
    t->begin = offsets[0];
    t->end = offsets[1];
    return true;
}

static bool read_line(reader *r, const char *key)
{
    tg_file_header *h = r->header;
    tg_metadata *larger = room_for_one(r, h->metadata, h->metadata_count, sizeof *larger);
    if (!larger)
        return false;
    h->metadata = larger;
    h->metadata[h->metadata_count].key = key;
    return read_text(r, true, &h->metadata[h->metadata_count++].value);
}

static bool read_entry(reader *r, const char *name)
{
    tg_file_header *h = r->header;
    if (strcmp(name, "__metadata__") == 0) {
        if (r->has_metadata)
            return tg_fail_first(&r->problem, "the header has metadata twice");
        r->has_metadata = true;
        return takes_null(r) || read_object(r, read_line);
    }
    tg_file_tensor *larger = room_for_one(r, h->tensors, h->count, sizeof *larger);
    if (!larger)
        return false;
    h->tensors = larger;
    tg_file_tensor *t = &h->tensors[h->count++];
    *t = (tg_file_tensor){.name = name, .shape.rank = -1, .begin = -1};
    return read_object(r, read_member) && check_tensor(r, t);
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
            return tg_fail_first(&r->problem, "tensor %.200s: it %s", h->tensors[i].name,
                                 h->tensors[i].begin < at ? "overlaps another one" : "leaves a gap before it");
        at = h->tensors[i].end;
    }
    if (at != r->data_size)
        return tg_fail_first(&r->problem, "%lld bytes at the end of the file belong to no tensor",
                             (long long)(r->data_size - at));
    if (h->count)
        qsort(h->tensors, (size_t)h->count, sizeof *h->tensors, by_name);
    for (int i = 1; i < h->count; i++)
        if (strcmp(h->tensors[i].name, h->tensors[i - 1].name) == 0)
            return tg_fail_first(&r->problem, "tensor %.200s: there are two of this name", h->tensors[i].name);
    return true;
}

static bool read_all(reader *r)
{
    if (!read_object(r, read_entry))
        return false;
    skip_space(r);
    if (r->at != r->end)
        return tg_fail_first(&r->problem, "the header is not valid: something follows its end");
    return check_layout(r);
}

bool tg_file_header_read(tg_file_header *header, char *json, size_t size, int64_t data_size, const char *path,
                         tg_error *error)
{
    *header = (tg_file_header){0};
    reader r = {.at = json, .end = json + size, .header = header, .data_size = data_size};
    return read_all(&r) || tg_file_refuse(error, path, "%s", r.problem.text);
}

void tg_file_header_free(tg_file_header *header)
{
    free(header->tensors);
    free(header->metadata);
    *header = (tg_file_header){0};
}
