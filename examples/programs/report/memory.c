#include "examples/programs/report/memory.h"
#include "examples/programs/system/posix.h"

void *memory_checked(void *allocated)
{
    if (allocated)
        return allocated;
    fprintf(stderr, "%s: out of memory\n", system_own_name());
    exit(2);
}

/* Doubles whenever the count reaches a power of two, so that no capacity needs to be stored. */
void *memory_grown(void *items, size_t count, size_t size)
{
    return count & (count - 1) ? items : memory_checked(realloc(items, (count ? 2 * count : 1) * size));
}

static char *formatted(const char *format, va_list arguments)
{
    char *text;
    return memory_checked(vasprintf(&text, format, arguments) < 0 ? NULL : text);
}

char *memory_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = formatted(format, arguments);
    va_end(arguments);
    return text;
}

char *texts_add_list(texts *to, const char *format, va_list arguments)
{
    to->list = memory_grown(to->list, to->count, sizeof *to->list);
    return to->list[to->count++] = formatted(format, arguments);
}

char *texts_add(texts *to, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = texts_add_list(to, format, arguments);
    va_end(arguments);
    return text;
}

int texts_number(texts *in, const char *text, size_t length)
{
    size_t i = 0;
    while (i < in->count && (strlen(in->list[i]) != length || memcmp(in->list[i], text, length) != 0))
        i++;
    if (i == in->count)
        texts_add(in, "%.*s", (int)length, text);
    return (int)i;
}

void texts_free(texts *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->list[i]);
    free(all->list);
}
