/* Pairs of lines: a source, a tab and a target, for a model with an encoder and a decoder. A tab, which neither
 * contains, is number 0 and pads; a newline ends both and begins what the decoder reads. */
#include "examples/programs/run/source.h"

/* The characters between two bytes. */
static int64_t length_of(const text_source *t, const unsigned char *from, const unsigned char *end)
{
    int64_t count = 0;
    for (; from < end; from++)
        count += !t->utf8 || (*from & 0xc0) != 0x80;
    return count;
}

/* NULL, or what is wrong with a line of this length; keeps the longest side, and the line's number. */
static const char *check_line(const unsigned char *line, int64_t length, int64_t number, text_source *t)
{
    const unsigned char *tab = memchr(line, '\t', (size_t)length);
    for (int64_t i = 0; i < length; i++)
        if (line[i] < '\t')
            return "a byte of this line is not of a text";
    if (!tab)
        return "expected a source, a tab and a target";
    if (memchr(tab + 1, '\t', (size_t)(line + length - tab - 1)))
        return "there is more than one tab";
    const int64_t source = length_of(t, line, tab), target = length_of(t, tab + 1, line + length),
                  longer = source > target ? source : target;
    if (longer > t->longest) {
        t->longest = longer;
        t->longest_line = number;
    }
    return source == 0 ? "the source is empty" : NULL;
}

bool pairs_check(const char *path, const unsigned char *bytes, int64_t size, text_source *t, tg_error *error)
{
    int64_t number = 1;
    for (const unsigned char *line = bytes, *end = bytes + size, *next; line < end; line = next, number++) {
        const unsigned char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        next = stop + 1;
        int64_t length = stop - line;
        while (length > 0 && (line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r'))
            length--;
        const char *wrong = length > 0 ? check_line(line, length, number, t) : NULL;
        if (wrong)
            return tg_fail(error, "%s:%lld: %s", path, (long long)number, wrong);
    }
    return true;
}

/* ---- rows ---- */

/* Copies up to a tab or newline, puts a newline behind it and pads. Returns the length before that. */
static int64_t put(const int32_t *from, int32_t end, int64_t context, int32_t *to)
{
    int64_t length = 0;
    while (from[length] != TG_SEQ2SEQ_PADDING && from[length] != end && length < context - 1)
        length++;
    memcpy(to, from, (size_t)length * sizeof *to);
    memset(to + length, 0, (size_t)(context - length) * sizeof *to);
    to[length] = end;
    return length;
}

/* The source, and the target behind a newline, whose last character is not read; and the target with its newline. */
static bool fill_pairs(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns)
{
    const text_part *part = context;
    const text_source *t = part->of;
    const int64_t width = part->context;
    int32_t *ids = columns[0], *next = columns[1];
    (void)rng;
    for (int64_t i = 0; i < count; i++, ids += 2 * width, next += width) {
        const int32_t *source = t->ids + t->line[part->first_line + rows[i]];
        const int32_t *target = source + put(source, t->end, width, ids) + 1;
        const int64_t length = put(target, t->end, width, next);
        ids[width] = t->end;
        memcpy(ids + width + 1, next, (size_t)length * sizeof *ids);
        memset(ids + width + 1 + length, 0, (size_t)(width - 1 - length) * sizeof *ids);
    }
    return true;
}

/* The starts of all lines, in the order of the split. */
static bool find_lines(text_source *t)
{
    int64_t count = 0;
    for (int64_t i = 0; i < t->size; i++)
        count += t->ids[i] == t->end;
    free(t->line);
    t->line = malloc((size_t)count * sizeof *t->line);
    for (int64_t i = 0, line = 0; t->line && i < t->size; i++)
        if (t->ids[i] == t->end)
            t->line[line++] = i + 1; /* the last one is empty */
    return t->line;
}

bool pairs_rows(text_source *t, int context, tg_fit_rows *const rows[3], tg_error *error)
{
    text_part *const parts[] = {&t->train, &t->valid, &t->test};
    int64_t line = 0;
    if (!find_lines(t))
        return tg_fail(error, "%s: out of memory", t->name);
    for (int i = 0; i < 3; i++) {
        text_part *part = parts[i];
        part->of = t;
        part->context = context;
        part->first_line = line;
        while (t->line[line] < part->last)
            line++;
        *rows[i] = (tg_fit_rows){.count = line - part->first_line, .columns = 2, .fill = fill_pairs, .context = part};
        rows[i]->column[0] = (tg_fit_column){.dtype = TG_I32, .shape = TG_SHAPE(2 * context)};
        rows[i]->column[1] = (tg_fit_column){.dtype = TG_I32, .shape = TG_SHAPE(context)};
    }
    return true;
}

int64_t pairs_characters(const text_part *part)
{
    const text_source *t = part->of;
    int64_t count = 0;
    bool in_target = false;
    for (int64_t i = t->line[part->first_line]; i < part->last; i++) {
        count += in_target;
        in_target = t->ids[i] == TG_SEQ2SEQ_PADDING || (in_target && t->ids[i] != t->end);
    }
    return count;
}
