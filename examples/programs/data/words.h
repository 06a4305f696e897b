/* Texts in messages: plurals after a number, names from a file, words of a list. */
#pragma once

#include "examples/programs/system/standard.h"

/* printf("%d run%s\n", runs, plural(runs)): "1 run", "2 runs". */
static inline const char *plural(long long count)
{
    return count == 1 ? "" : "s";
}

/* ---- what comes from data, before it reaches a terminal, a page, a script or a file's name (words.c) ----
 *
 * A terminal executes control characters, and bidirectional overrides make a text look like another one. Here
 * each of these (U+0000 to U+001F, U+007F to U+009F, U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069), and
 * each byte that is not UTF-8, becomes '?'. */

/* Cleans a text in place; plain_lines keeps newlines and tabs. */
char *plain_text(char *text);
char *plain_lines(char *text);

/* The same as a copy, valid for sixteen calls: printf("in %s\n", plain(folder)). */
const char *plain(const char *text);

/* The bytes of the first character of a text, and its code point; 0 if they are not UTF-8 (RFC 3629). And the other
 * way: writes the bytes of a code point, and gives their number. */
int utf8_character(const unsigned char *text, uint32_t *code);
int utf8_put(uint32_t code, char bytes[4]);

/* The length of the text's beginning of at most so many bytes that ends with a whole character, for "%.*s". */
int plain_length(const char *text, int most);

/* A text for JSON, which is UTF-8: each byte that is not becomes one of U+EF80 to U+EFFF; and back, to the same bytes.
 * Names of files have such bytes. To be freed; NULL when memory runs out. */
char *text_to_utf8(const char *text);
char *text_from_utf8(const char *text);

/* A clean beginning of a name: fputs(plain_name(name, (char[PLAIN_NAME]){0}), stdout). */
enum { PLAIN_NAME = 41 };
const char *plain_name(const char *name, char text[PLAIN_NAME]);

/* The next word of a comma-separated list, for `while (next_word(&list, word, sizeof word))`; empty if it is too long.
 * False at the end; then `list` is NULL. */
static inline bool next_word(const char **list, char word[], size_t size)
{
    if (!*list)
        return false;
    const size_t length = strcspn(*list, ",");
    snprintf(word, size, "%.*s", length < size ? (int)length : 0, *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

/* True if such a list, which may be NULL, has a word. */
static inline bool list_has(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (; list; list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL)
        if (strcspn(list, ",") == length && strncmp(list, word, length) == 0)
            return true;
    return false;
}

/* True for one of these words, whose end is NULL, in small or capital letters. */
static inline bool word_is_among(const char *word, const char *const *words)
{
    while (*words && strcasecmp(word, *words) != 0)
        words++;
    return *words;
}

/* What comes before name number i of `count` in a sentence: "a, b and c". */
static inline const char *list_joint(int i, int count)
{
    return i == 0 ? "" : i + 1 < count ? ", " : " and ";
}

/* Appends to a text in so many bytes; what does not fit is left out. */
void text_add(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The first of the words that are nearest to one, by at most a third of its characters (tg_name_distance); NULL: none
 * is. */
const char *word_similar(const char *word, const char *const *words, size_t count);
