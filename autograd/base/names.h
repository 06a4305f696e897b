/* Names of the entries of a table whose indices are an enum: defines tg_KIND_name and tg_KIND_from_name. Internal to
 * the library, and shared by all of its rooms and by the programs.
 *
 *     static const struct {const char *name; ...} table[] = {...};
 *     enum { KINDS = sizeof table / sizeof table[0] };
 *     TG_NAMES(init, tg_init, KINDS, table[i].name)           // the name of entry number i
 */
#ifndef TG_NAMES_H
#define TG_NAMES_H

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* NULL past the end; false, with nothing written, for an unknown name. */
#define TG_NAMES(kind, type, count, name_of_i)                     \
    const char *tg_##kind##_name(type i)                           \
    {                                                              \
        return (unsigned)i < (unsigned)(count) ? name_of_i : NULL; \
    }                                                              \
    bool tg_##kind##_from_name(const char *name, type *entry)      \
    {                                                              \
        for (int i = 0; name && entry && i < (int)(count); i++)    \
            if (strcmp(name_of_i, name) == 0) {                    \
                *entry = (type)i;                                  \
                return true;                                       \
            }                                                      \
        return false;                                              \
    }

/* Levenshtein's distance, ignoring case: how many characters must be inserted, deleted or changed. Of b it reads 63. */
static inline int tg_name_distance(const char *a, const char *b)
{
    int row[64];
    const int n = strlen(b) < 63 ? (int)strlen(b) : 63;
    for (int k = 0; k <= n; k++)
        row[k] = k;
    for (int i = 0; a[i]; i++) {
        int diagonal = row[0]++;
        for (int k = 1; k <= n; k++) {
            const int replaced = diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[k - 1])),
                      shorter = row[k] < row[k - 1] ? row[k] : row[k - 1];
            diagonal = row[k];
            row[k] = replaced < shorter + 1 ? replaced : shorter + 1;
        }
    }
    return row[n];
}

#endif
