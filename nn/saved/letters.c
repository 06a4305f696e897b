/* The characters of a text as numbers, and back. */
#include "nn/saved/card.h"

/* The code point at a byte of UTF-8 (RFC 3629), and its bytes; a byte that begins none is its own number. */
static int32_t code_at(const unsigned char *text, int *length)
{
    const int count = text[0] < 0xc2 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : text[0] < 0xf5 ? 4 : 1;
    int32_t code = count > 1 ? text[0] & (0x7f >> count) : text[0];
    for (int i = 1; i < count; i++) {
        if ((text[i] & 0xc0) != 0x80) /* the end of the text, too */
            return *length = 1, text[0];
        code = code << 6 | (text[i] & 0x3f);
    }
    return *length = count, code;
}

int tg_card_number(const tg_card *c, const char **text)
{
    if (!c || !text || !*text)
        return -1;
    int length = 1;
    const unsigned char *at = (const unsigned char *)*text;
    const int32_t code = c->utf8 ? code_at(at, &length) : *at;
    int low = 0, high = c->vocabulary; /* characters are in ascending order */
    while (low < high) {
        const int middle = (low + high) / 2;
        if (c->letter[middle] < code)
            low = middle + 1;
        else
            high = middle;
    }
    *text += length;
    return low < c->vocabulary && c->letter[low] == code ? low : -1;
}

int tg_card_letter(const tg_card *c, int number, char bytes[4])
{
    if (!c || number < 0 || number >= c->vocabulary)
        return 0;
    const int32_t code = c->letter[number];
    const int count = !c->utf8 || code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (int i = count - 1, left = code; i > 0; i--, left >>= 6)
        bytes[i] = (char)(0x80 | (left & 0x3f));
    bytes[0] = (char)(count == 1 ? code : (0xf00 >> count & 0xff) | code >> 6 * (count - 1));
    return count;
}
