#include "examples/programs/run/source.h"

#include "examples/programs/data/internal.h"
#include "examples/programs/data/words.h"

bool text_is_named(const char *spec)
{
    return strncmp(spec, "text:", 5) == 0 || strncmp(spec, "lines:", 6) == 0 || strncmp(spec, "pairs:", 6) == 0;
}

/* ---- reading ---- */

enum { CODES = 0x110000 };

/* The character at a byte, and its bytes; 0 if there is none in UTF-8. */
static int character_at(const text_source *t, const unsigned char *byte, uint32_t *code)
{
    if (t->utf8)
        return utf8_character(byte, code);
    *code = *byte;
    return 1;
}

/* True if these last bytes of a text are the beginning of a character, as where a file was cut after so many bytes. */
static bool is_cut(const unsigned char *bytes, int64_t count)
{
    bool cut = count > 0 && count < 4 && bytes[0] >= 0xc2 && bytes[0] < 0xf5;
    for (int64_t i = 1; cut && i < count; i++)
        cut = (bytes[i] & 0xc0) == 0x80;
    return cut;
}

/* Decides what characters are: code points, if all of the text is UTF-8 with characters beyond ASCII, and not too many
 * different ones. Leaves out a character that is cut at the end. False without memory. */
static bool choose_unit(text_source *t, const unsigned char *bytes, size_t *bytes_in_text)
{
    int64_t size = (int64_t)*bytes_in_text;
    bool *met = calloc(CODES, sizeof *met);
    int different = 0;
    int64_t at = 0, count = 0;
    uint32_t code;
    for (int length = 1; met && at < size && length > 0; at += length, count += length > 0) {
        length = utf8_character(bytes + at, &code);
        if (length > 0 && !met[code])
            different += met[code] = true;
    }
    if (met && is_cut(bytes + at, size - at))
        *bytes_in_text = (size_t)(size = at);
    t->utf8 = at == size && count < size && different <= TG_CARD_MOST_LETTERS;
    t->unit = t->utf8 || (at == size && count == size) ? "character" : "byte";
    free(met);
    return met;
}

static bool number_letters(text_source *t, const unsigned char *bytes)
{
    int *number = calloc(CODES, sizeof *number); /* 1 for each that is met, then its number */
    const int64_t size = t->size;
    uint32_t code = 0;
    t->ids = t->read = malloc((size_t)size * sizeof *t->read + 1);
    const bool fine = number && t->read;
    for (int64_t i = 0; fine && i < size; i += character_at(t, bytes + i, &code), number[code] = 1)
        ;
    for (int32_t at = 0; fine && at < CODES; at++)
        if (number[at]) {
            number[at] = t->vocabulary;
            t->letter[t->vocabulary++] = at;
        }
    t->end = fine ? number['\n'] : 0;
    t->size = 0;
    for (int64_t i = 0; fine && i < size; t->read[t->size++] = number[code])
        i += character_at(t, bytes + i, &code);
    free(number);
    return fine;
}

/* Trims lines and removes empty ones; puts a newline before the first and after each. Works in place: `bytes` has room
 * for two more. */
static int64_t trim_lines(unsigned char *bytes, int64_t size)
{
    memmove(bytes + 1, bytes, (size_t)size);
    bytes[size + 1] = '\n';
    int64_t out = 0;
    bytes[out++] = '\n';
    for (int64_t i = 1; i <= size + 1; i++) {
        if (bytes[i] == '\n')
            while (bytes[out - 1] == ' ' || bytes[out - 1] == '\t' || bytes[out - 1] == '\r')
                out--;
        if (bytes[i] != '\n' || bytes[out - 1] != '\n')
            bytes[out++] = bytes[i];
    }
    return out;
}

bool text_load(const char *spec, text_source *t, tg_error *error)
{
    dataset_bytes file = {0};
    *t = (text_source){.lines = spec[0] != 't', .pairs = spec[0] == 'p'};
    const char *path = strchr(spec, ':') + 1, *slash = strrchr(path, '/');
    snprintf(t->name, sizeof t->name, "%s", slash ? slash + 1 : path);
    plain_text(t->name);
    if (!dataset_read_file(path, &file, error))
        return false;
    if (file.size >= 3 && memcmp(file.bytes, "\xef\xbb\xbf", 3) == 0) { /* a byte order mark */
        file.size -= 3;
        memmove(file.bytes, file.bytes + 3, file.size + 1);
    }
    if (!choose_unit(t, file.bytes, &file.size))
        return free(file.bytes), tg_fail(error, "%s: out of memory", path);
    if (t->pairs && !pairs_check(path, file.bytes, (int64_t)file.size, t, error))
        return free(file.bytes), false;
    unsigned char *bytes = realloc(file.bytes, file.size + 2);
    if (!bytes)
        return free(file.bytes), tg_fail(error, "%s: out of memory", path);
    t->size = (int64_t)file.size;
    if (t->lines)
        t->size = trim_lines(bytes, t->size);
    const bool fine = t->size > INT32_MAX         ? tg_fail(error, "%s: 2 GB or more", path)
                      : !number_letters(t, bytes) ? tg_fail(error, "%s: out of memory", path)
                      : t->size < 100 ? tg_fail(error, "%s: %lld %s%s, expected 100 at least", path, (long long)t->size,
                                                t->unit, plural(t->size))
                                      : true;
    free(bytes);
    if (!fine)
        text_free(t);
    return fine;
}

void text_free(text_source *t)
{
    if (t->ids != t->read)
        free(t->ids);
    free(t->read);
    free(t->line);
    t->ids = t->read = NULL;
    t->line = NULL;
}

char *text_letters(const text_part *part)
{
    const text_source *t = part->of;
    char *text = malloc((size_t)(part->last - part->first) * (t->utf8 ? 4 : 1) + 1), *to = text;
    for (int64_t i = part->first; text && i < part->last; i++) {
        const int32_t letter = t->letter[t->ids[i]];
        if (t->utf8)
            to += utf8_put((uint32_t)letter, to);
        else
            *to++ = (char)letter;
    }
    if (text)
        *to = '\0';
    return text;
}

/* ---- splitting ---- */

/* The share of a number of bytes or lines, rounded. */
static int64_t share_of(int64_t count, double share)
{
    return (int64_t)(share * (double)count + 0.5);
}

/* Shuffles the lines. Each keeps the newline after it; the first newline stays in front. */
static bool shuffle_lines(text_source *t, uint64_t seed, int64_t *lines, double validation, double test)
{
    int64_t count = 0;
    for (int64_t i = 1; i < t->size; i++)
        count += t->read[i] == t->end;
    int64_t *begin = malloc((size_t)(count + 1) * sizeof *begin);
    int32_t *order = malloc((size_t)count * sizeof *order + 1), *ids = malloc((size_t)t->size * sizeof *ids);
    const bool fine = begin && order && ids;
    if (fine) {
        const tg_rng root = tg_rng_seed(seed);
        tg_rng rng = tg_rng_stream(&root, "lines");
        int64_t line = 0, out = 0;
        begin[line++] = 1;
        for (int64_t i = 1; i < t->size; i++)
            if (t->read[i] == t->end)
                begin[line++] = i + 1;
        for (int64_t i = 0; i < count; i++)
            order[i] = (int32_t)i;
        tg_rng_shuffle(&rng, (size_t)count, order);
        ids[out++] = t->end;
        const int64_t used = count - share_of(count, test), kept = used - share_of(count, validation);
        for (int64_t i = 0; i < count; i++) {
            if (i == kept)
                t->held_out = out;
            if (i == used)
                t->tested = out;
            const int64_t length = begin[order[i] + 1] - begin[order[i]];
            memcpy(ids + out, t->read + begin[order[i]], (size_t)length * sizeof *ids);
            out += length;
        }
        if (t->ids != t->read)
            free(t->ids);
        t->ids = ids;
        ids = NULL;
        *lines = kept < 1 || kept >= used ? 0 : count;
    }
    free(begin);
    free(order);
    free(ids);
    return fine;
}

bool text_split(text_source *t, double validation, double test, uint64_t seed, tg_error *error)
{
    int64_t lines = 1;
    t->tested = t->size - share_of(t->size, test);
    t->held_out = t->tested - share_of(t->size, validation);
    if (t->lines && !shuffle_lines(t, seed, &lines, validation, test))
        return tg_fail(error, "%s: out of memory", t->name);
    if (lines < 1 || t->held_out < 2 || t->held_out > t->tested - 2 || (test > 0 && t->tested > t->size - 2))
        return tg_fail(error, "%s: too short to hold %g of it out", t->name, validation + test);
    return true;
}

/* ---- batches ---- */

/* Windows of characters as inputs, and the windows one character later as targets. In training they begin at random
 * positions. */
static bool fill_windows(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns)
{
    const text_part *part = context;
    const int64_t length = part->context, room = part->last - part->first - length;
    int32_t *ids = columns[0], *next = columns[1];
    for (int64_t i = 0; i < count; i++) {
        const int64_t offset = part->training ? (int64_t)tg_rng_below(rng, (uint64_t)room) : rows[i] * length;
        const int32_t *from = part->of->ids + part->first + offset;
        memcpy(ids + i * length, from, (size_t)length * sizeof *ids);
        memcpy(next + i * length, from + 1, (size_t)length * sizeof *next);
    }
    return true;
}

/* A character as target, and the characters before it as inputs; with lines, only those of its line, preceded by
 * newlines. */
static bool fill_letters(void *context, const int32_t *rows, int64_t count, tg_rng *rng, void *const *columns)
{
    const text_part *part = context;
    const text_source *t = part->of;
    int32_t *ids = columns[0], *next = columns[1];
    (void)rng;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = part->first + rows[i];
        next[i] = t->ids[at];
        bool inside = true;
        for (int back = 1; back <= part->context; back++) {
            inside = inside && at - back >= part->first;
            const int32_t letter = inside ? t->ids[at - back] : t->end;
            ids[i * part->context + part->context - back] = letter;
            inside = inside && !(t->lines && letter == t->end);
        }
    }
    return true;
}

/* `windows`: their number, at random positions; 0: enough to cover the part once. */
static void describe_rows(text_part *part, int64_t windows, tg_fit_rows *rows)
{
    const int64_t letters = part->last - part->first;
    *rows = (tg_fit_rows){.count = windows         ? windows
                                   : part->windows ? (letters - 1) / part->context
                                                   : letters,
                          .columns = 2,
                          .fill = part->windows ? fill_windows : fill_letters,
                          .context = part};
    rows->column[0] = (tg_fit_column){.dtype = TG_I32, .shape = TG_SHAPE(part->context)};
    rows->column[1] = (tg_fit_column){.dtype = TG_I32};
    if (part->windows)
        rows->column[1].shape = TG_SHAPE(part->context);
}

/* The part [first, last) as rows: of windows, at random positions in training, or of single characters. */
static bool rows_of_part(text_source *t, text_part *part, const net_spec *spec, int64_t windows, tg_fit_rows *rows,
                         tg_error *error)
{
    const int64_t size = part->last - part->first;
    part->of = t;
    part->context = spec->context;
    part->windows = tg_model_traits_of(spec->model)->every_position && !spec->last;
    if (part->windows && size <= spec->context + 1)
        return tg_fail(error, "%s: a part of %lld character%s, expected more than the context of %d", t->name,
                       (long long)size, plural(size), spec->context);
    describe_rows(part, part->windows ? windows : 0, rows);
    return true;
}

bool text_rows(text_source *t, const net_spec *spec, int64_t epoch_windows, tg_fit_rows *train, tg_fit_rows *valid,
               tg_fit_rows *test, tg_error *error)
{
    if (tg_model_traits_of(spec->model)->every_position && !spec->last && t->lines && !t->pairs)
        return tg_fail(error, "--model gpt reads text:FILE; lines:FILE is for charmlp, rnn, gru and lstm");
    const int64_t first = t->lines; /* no character comes before the first newline */
    t->train = (text_part){.first = first, .last = t->held_out, .training = true};
    t->valid = (text_part){.first = t->held_out, .last = t->tested};
    t->test = (text_part){.first = t->tested, .last = t->size};
    *test = (tg_fit_rows){0};
    if (t->pairs)
        return pairs_rows(t, spec->context, (tg_fit_rows *const[]){train, valid, test}, error);
    return rows_of_part(t, &t->train, spec, epoch_windows, train, error) &&
           rows_of_part(t, &t->valid, spec, 0, valid, error) &&
           (t->tested == t->size || rows_of_part(t, &t->test, spec, 0, test, error));
}
