#include "nn/files/json_internal.h"

#include "autograd/base/numbers.h"

#include <stdlib.h>
#include <string.h>

/* ---- tokens ---- */

static void skip_space(tg_json_reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
        r->at++;
}

bool tg_json_takes(tg_json_reader *r, char c)
{
    skip_space(r);
    if (r->at == r->end || *r->at != c)
        return false;
    r->at++;
    return true;
}

bool tg_json_takes_word(tg_json_reader *r, const char *word)
{
    const size_t length = strlen(word);
    skip_space(r);
    if ((size_t)(r->end - r->at) < length || memcmp(r->at, word, length) != 0)
        return false;
    r->at += length;
    return true;
}

bool tg_json_expect(tg_json_reader *r, char c)
{
    return tg_json_takes(r, c) || tg_fail_first(&r->problem, "%s is not valid: '%c' is missing", r->what, c);
}

static bool read_hex(tg_json_reader *r, unsigned *code)
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
static bool read_escape(tg_json_reader *r, bool controls, char **to)
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

bool tg_json_text(tg_json_reader *r, bool controls, const char **string)
{
    if (!tg_json_expect(r, '"'))
        return false;
    char *to = r->at;
    *string = to;
    while (r->at < r->end && *r->at != '"') {
        const unsigned char *s = (const unsigned char *)r->at;
        const int length = utf8_length(s, r->end);
        if (*r->at == '\\') {
            r->at++;
            if (!read_escape(r, controls, &to))
                return tg_fail_first(&r->problem, "%s is not valid: a wrong escape in a string", r->what);
            continue;
        }
        const bool control = length == 1 ? is_control(*s) : length == 2 && *s == 0xc2 && is_control(s[1]);
        if (length == 0 || (control && !controls))
            return tg_fail_first(&r->problem, "%s is not valid: a string that is not UTF-8, or has control characters",
                                 r->what);
        memmove(to, r->at, (size_t)length);
        to += length;
        r->at += length;
    }
    if (r->at == r->end)
        return tg_fail_first(&r->problem, "%s is not valid: a string does not end", r->what);
    r->at++;
    *to = '\0';
    return true;
}

bool tg_json_whole(tg_json_reader *r, int64_t *number)
{
    skip_space(r);
    const char *first = r->at;
    *number = 0;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        const int digit = *r->at - '0';
        if (*number > (INT64_MAX - digit) / 10)
            return tg_fail_first(&r->problem, "%s is not valid: a number is too large", r->what);
        *number = *number * 10 + digit;
    }
    if (r->at == first || (*first == '0' && r->at > first + 1))
        return tg_fail_first(&r->problem, "%s is not valid: a whole number is missing", r->what);
    return true;
}

bool tg_json_list(tg_json_reader *r, int64_t *numbers, int most, int *count)
{
    *count = 0;
    if (!tg_json_expect(r, '['))
        return false;
    if (tg_json_takes(r, ']'))
        return true;
    do {
        int64_t number;
        if (!tg_json_whole(r, &number))
            return false;
        if (*count == most)
            return tg_fail_first(&r->problem, "a list has more than %d numbers", most);
        numbers[(*count)++] = number;
    } while (tg_json_takes(r, ','));
    return tg_json_expect(r, ']');
}

bool tg_json_object(tg_json_reader *r, bool (*read)(void *user, const char *key), void *user)
{
    if (!tg_json_expect(r, '{'))
        return false;
    if (tg_json_takes(r, '}'))
        return true;
    do {
        const char *key;
        if (!tg_json_text(r, false, &key) || !tg_json_expect(r, ':') || !read(user, key))
            return false;
    } while (tg_json_takes(r, ','));
    return tg_json_expect(r, '}');
}

bool tg_json_end(tg_json_reader *r)
{
    skip_space(r);
    return r->at == r->end || tg_fail_first(&r->problem, "%s is not valid: something follows its end", r->what);
}

/* ---- values ---- */

enum { DEEPEST = 64 };

typedef struct building {
    tg_json_reader reader;
    tg_json *next; /* unused */
    int depth;
} building;

static bool read_value(building *b, tg_json *value);

/* Adds an element to a list or an object, whose last one is `*last`. */
static bool read_element(building *b, tg_json *of, tg_json **last, const char *key)
{
    tg_json *element = b->next++;
    element->key = key;
    *(*last ? &(*last)->next : &of->first) = element;
    *last = element;
    of->count++;
    return read_value(b, element);
}

typedef struct entries {
    building *b;
    tg_json *value, *last;
} entries;

static bool read_entry(void *user, const char *key)
{
    entries *o = user;
    if (tg_json_get(o->value, key))
        return tg_fail_first(&o->b->reader.problem, "%s is not valid: '%.60s' is repeated", o->b->reader.what, key);
    return read_element(o->b, o->value, &o->last, key);
}

static bool read_array(building *b, tg_json *value)
{
    tg_json *last = NULL;
    value->kind = TG_JSON_LIST;
    if (tg_json_takes(&b->reader, ']'))
        return true;
    do {
        if (!read_element(b, value, &last, NULL))
            return false;
    } while (tg_json_takes(&b->reader, ','));
    return tg_json_expect(&b->reader, ']');
}

static bool read_real(building *b, tg_json *value)
{
    tg_json_reader *r = &b->reader;
    char text[64] = "", more;
    int used = 0;
    for (; r->at < r->end && *r->at && strchr("+-.0123456789eE", *r->at) && used < 63; r->at++)
        text[used++] = *r->at;
    value->kind = TG_JSON_NUMBER;
    return (used > 0 && text[0] != '+' && text[0] != '.' && tg_scan(text, "%lf%c", &value->number, &more) == 1) ||
           tg_fail_first(&r->problem, "%s is not valid: a value is missing or wrong", r->what);
}

static bool read_value(building *b, tg_json *value)
{
    tg_json_reader *r = &b->reader;
    bool fine = true;
    skip_space(r);
    const char c = r->at < r->end ? *r->at : '\0';
    if (b->depth++ > DEEPEST)
        return tg_fail_first(&r->problem, "%s is not valid: it is nested too deeply", r->what);
    if (c == '{') {
        value->kind = TG_JSON_OBJECT;
        fine = tg_json_object(r, read_entry, &(entries){b, value, NULL});
    } else if (c == '"') {
        value->kind = TG_JSON_TEXT;
        fine = tg_json_text(r, true, &value->text);
    } else if (tg_json_takes(r, '[')) {
        fine = read_array(b, value);
    } else if (tg_json_takes_word(r, "true") || tg_json_takes_word(r, "false")) {
        value->kind = TG_JSON_BOOL;
        value->number = c == 't';
    } else if (!tg_json_takes_word(r, "null")) {
        fine = read_real(b, value);
    }
    b->depth--;
    return fine;
}

tg_json *tg_json_read(char *text, size_t size, const char *what, tg_error *error)
{
    size_t most = 1;
    for (size_t i = 0; i < size; i++)
        most += text[i] == ',' || text[i] == '[' || text[i] == '{';
    tg_json *root = calloc(most, sizeof *root);
    building b = {.reader = {.at = text, .end = text + size, .what = what}, .next = root ? root + 1 : NULL};
    if (!root)
        return tg_fail(error, "out of memory"), NULL;
    if (read_value(&b, root) && tg_json_end(&b.reader))
        return root;
    free(root);
    return tg_fail(error, "%s", b.reader.problem.text), NULL;
}

const tg_json *tg_json_get(const tg_json *object, const char *key)
{
    const tg_json *at = object ? object->first : NULL;
    while (at && (!at->key || strcmp(at->key, key) != 0))
        at = at->next;
    return at;
}
