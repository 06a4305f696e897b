/* Texts in messages: plurals after a number, and names from a file. */
#ifndef DATA_WORDS_H
#define DATA_WORDS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* printf("%d run%s\n", runs, plural(runs)): "1 run", "2 runs". */
static inline const char *plural(long long count)
{
    return count == 1 ? "" : "s";
}

/* '?' for a control character, which a terminal may execute and XML does not allow. */
static inline char plain_letter(char letter)
{
    return (unsigned char)letter < ' ' || letter == 0x7f ? '?' : letter;
}

/* Replaces the control characters of a text in place, including U+0080 to U+009F, which are two bytes. */
static inline char *plain_text(char *text)
{
    for (unsigned char *at = (unsigned char *)text; *at; at++) {
        *at = (unsigned char)plain_letter((char)*at);
        if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0)
            at[0] = at[1] = '?';
    }
    return text;
}

/* The beginning of a name without control characters, cut at a whole UTF-8 character: fputs(plain_name(name,
 * (char[PLAIN_NAME]){0}), stdout). */
enum { PLAIN_NAME = 41 };
static inline const char *plain_name(const char *name, char text[PLAIN_NAME])
{
    size_t end = (size_t)snprintf(text, PLAIN_NAME, "%s", name);
    end = end < PLAIN_NAME ? end : PLAIN_NAME - 1;
    while (end > 0 && ((unsigned char)name[end] & 0xc0) == 0x80)
        text[--end] = '\0';
    return plain_text(text);
}

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

#endif
