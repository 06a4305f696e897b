#include "examples/programs/data/words.h"

#include "autograd/base/names.h"

int utf8_character(const unsigned char *text, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const int length = text[0] < 0x80   ? 1
                       : text[0] < 0xc2 ? 0
                       : text[0] < 0xe0 ? 2
                       : text[0] < 0xf0 ? 3
                       : text[0] < 0xf5 ? 4
                                        : 0;
    *code = length > 1 ? text[0] & (0x7fu >> length) : text[0];
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80) /* the end of the text, too */
            return 0;
        *code = *code << 6 | (text[i] & 0x3f);
    }
    return *code < least[length] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000) ? 0 : length;
}

int utf8_put(uint32_t code, char bytes[4])
{
    const int count = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = count - 1; i > 0; i--, code >>= 6)
        bytes[i] = (char)(0x80 | (code & 0x3f));
    bytes[0] = (char)(count == 1 ? code : (0xf00u >> count & 0xff) | code);
    return count;
}

static bool is_harmless(uint32_t code)
{
    return code >= 0x20 && (code < 0x7f || code > 0x9f) && code != 0x61c && code != 0x200e && code != 0x200f &&
           (code < 0x2028 || code > 0x202e) && (code < 0x2066 || code > 0x2069);
}

static char *clean(char *text, const char *kept)
{
    char *to = text;
    for (char *from = text; *from;) {
        uint32_t code;
        const int length = utf8_character((unsigned char *)from, &code);
        const bool fine = length > 0 && (is_harmless(code) || (code < 0x80 && strchr(kept, (int)code)));
        if (fine)
            memmove(to, from, (size_t)length);
        else
            *to = '?';
        to += fine ? length : 1;
        from += length > 0 ? length : 1;
    }
    *to = '\0';
    return text;
}

char *plain_text(char *text)
{
    return clean(text, "");
}

char *plain_lines(char *text)
{
    return clean(text, "\n\t");
}

const char *plain(const char *text)
{
    enum { COPIES = 16 };
    static char *copies[COPIES];
    static int next;
    char **copy = &copies[next++ % COPIES];
    free(*copy);
    *copy = strdup(text);
    return *copy ? plain_text(*copy) : "?";
}

int plain_length(const char *text, int most)
{
    int length = 0;
    for (uint32_t code; text[length];) {
        const int more = utf8_character((const unsigned char *)text + length, &code);
        if (length + (more ? more : 1) > most)
            break;
        length += more ? more : 1;
    }
    return length;
}

const char *plain_name(const char *name, char text[PLAIN_NAME])
{
    snprintf(text, PLAIN_NAME, "%.*s", plain_length(name, PLAIN_NAME - 1), name);
    return plain_text(text);
}

char *text_to_utf8(const char *text)
{
    char *whole = malloc(3 * strlen(text) + 1), *to = whole;
    for (const unsigned char *from = (const unsigned char *)text; whole && *from;) {
        uint32_t code;
        const int length = utf8_character(from, &code);
        const bool fine = length > 0 && (code < 0xef80 || code > 0xefff);
        if (fine)
            to = (char *)memcpy(to, from, (size_t)length) + length;
        else /* byte 0x80 + i is U+EF80 + i */
            to += sprintf(to, "\xee%c%c", 0xbe + (*from >= 0xc0), 0x80 | (*from & 0x3f));
        from += fine ? length : 1;
    }
    if (whole)
        *to = '\0';
    return whole;
}

char *text_from_utf8(const char *text)
{
    char *whole = malloc(strlen(text) + 1), *to = whole;
    for (const unsigned char *from = (const unsigned char *)text; whole && *from;) {
        uint32_t code;
        const int length = utf8_character(from, &code);
        if (length > 0 && code >= 0xef80 && code <= 0xefff)
            *to++ = (char)(code - 0xef00);
        else
            to = (char *)memcpy(to, from, (size_t)(length ? length : 1)) + (length ? length : 1);
        from += length ? length : 1;
    }
    if (whole)
        *to = '\0';
    return whole;
}

const char *word_similar(const char *word, const char *const *words, size_t count)
{
    const char *similar = NULL;
    int least = (int)strlen(word) / 3 + 1;
    for (size_t i = 0; i < count; i++) {
        const int distance = tg_name_distance(word, words[i]);
        similar = distance < least ? words[i] : similar;
        least = distance < least ? distance : least;
    }
    return similar;
}

void text_add(char *text, size_t size, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, size - used, format, arguments);
    va_end(arguments);
}
