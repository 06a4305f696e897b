/* Names of the entries of a table whose indices are an enum: defines tg_KIND_name and tg_KIND_from_name. Internal to
 * the library, and shared by all of its rooms.
 *
 *     static const struct {const char *name; ...} table[] = {...};
 *     enum { KINDS = sizeof table / sizeof table[0] };
 *     TG_NAMES(init, tg_init, KINDS, table[i].name)           // the name of entry number i
 */
#ifndef TG_NAMES_H
#define TG_NAMES_H

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

#endif
