/* JSON, in the headers of safetensors files and in a model's card: token by token, or as a tree of values. The library
 * needs no other package, so it has its own reader. Internal to nn.
 *
 *     tg_json *root = tg_json_read(text, size, "the card", &error);      // changes the text, and points into it
 *     const tg_json *rows = tg_json_get(root, "rows");                   // NULL if there is none
 *     for (const tg_json *row = rows ? rows->first : NULL; row; row = row->next)
 *         if (row->kind == TG_JSON_NUMBER) ... row->number
 *     free(root);
 */
#ifndef TG_JSON_INTERNAL_H
#define TG_JSON_INTERNAL_H

#include "autograd/error.h"

#include <stddef.h>
#include <stdint.h>

/* ---- values ---- */

typedef enum tg_json_kind {
    TG_JSON_NULL,
    TG_JSON_BOOL,
    TG_JSON_NUMBER,
    TG_JSON_TEXT,
    TG_JSON_LIST,
    TG_JSON_OBJECT
} tg_json_kind;

typedef struct tg_json {
    tg_json_kind kind;
    int count;                    /* of elements */
    double number;                /* of a bool 0 or 1 */
    const char *text, *key;       /* the key in an object */
    struct tg_json *first, *next; /* the first element of a list or an object; the element after this one */
} tg_json;

/* Reads a text that is one value, and changes it: texts are unescaped in place. All values are in one block, to be
 * freed by `free`. NULL, with an error that begins with `what`, if it is not valid. */
tg_json *tg_json_read(char *text, size_t size, const char *what, tg_error *error);

/* The element of an object; NULL if there is none. */
const tg_json *tg_json_get(const tg_json *object, const char *key);

/* ---- tokens ---- */

typedef struct tg_json_reader {
    char *at, *end;
    const char *what; /* is read, for errors */
    tg_error problem; /* the first */
} tg_json_reader;

/* If this character or word follows, skips it; false otherwise. */
bool tg_json_takes(tg_json_reader *r, char c);
bool tg_json_takes_word(tg_json_reader *r, const char *word);

/* The same, where it must follow. */
bool tg_json_expect(tg_json_reader *r, char c);

/* Reads a string, unescaped in place and ended by 0. Unless `controls`, control characters are rejected. */
bool tg_json_text(tg_json_reader *r, bool controls, const char **string);

/* Reads an integer, 0 or more; and a list of them, [1, 2, 3], at most `most`. */
bool tg_json_whole(tg_json_reader *r, int64_t *number);
bool tg_json_list(tg_json_reader *r, int64_t *numbers, int most, int *count);

/* {"key": ..., "key": ...}, of which `read` reads what follows a key. */
bool tg_json_object(tg_json_reader *r, bool (*read)(void *user, const char *key), void *user);

/* True if nothing follows. */
bool tg_json_end(tg_json_reader *r);

#endif
