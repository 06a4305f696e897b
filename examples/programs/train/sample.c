#include "examples/programs/train/output.h"

#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

typedef struct output {
    FILE *to;
    char pending[8]; /* the beginning of a character, for a terminal */
} output;

/* Writes a byte; to a terminal, which executes control characters, character by character and cleaned. */
static void put_byte(void *user, char letter)
{
    output *o = user;
    const size_t length = strlen(o->pending);
    const int byte = (unsigned char)letter;
    if (!isatty(fileno(o->to))) {
        fputc(byte, o->to);
        return;
    }
    const bool follows = (byte & 0xc0) == 0x80 && length > 0 && length < 4;
    if (!follows)
        fputs(plain_lines(o->pending), o->to);
    o->pending[follows ? length : 0] = byte ? letter : '?';
    o->pending[follows ? length + 1 : 1] = '\0';
}

bool sample_write(const tg_model *model, const tg_generate_options *options, tg_rng *rng, FILE *to, tg_error *error)
{
    output o = {.to = to};
    tg_generate_options how = *options;
    how.each = put_byte;
    how.user = &o;
    const bool fine = tg_model_generate(model, &how, rng, NULL, error) >= 0;
    if (fine)
        put_byte(&o, '\n');
    fputs(o.pending, to);
    return fine;
}

/* ---- pairs ---- */

static void put_text(char *text, char after, FILE *to)
{
    fputs(isatty(fileno(to)) ? plain_text(text) : text, to);
    fputc(after, to);
}

bool sample_pairs(const tg_model *model, const char *path, char *text, int beams, bool both, long most, FILE *to,
                  sample_score *score, tg_error *error)
{
    char *target = calloc(4 * (size_t)tg_model_card(model)->spec.context + 1, 1), *next = NULL;
    bool fine = target || tg_fail(error, "out of memory");
    long number = 1;
    *score = (sample_score){0};
    for (char *line = text; fine && line && *line && (most == 0 || number <= most); line = next, number++) {
        tg_error wrong;
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        for (size_t end = strlen(line); end > 0 && strchr(" \t\r", line[end - 1]); end--)
            line[end - 1] = '\0';
        char *tab = strchr(line, '\t');
        if (tab)
            *tab = '\0';
        *target = '\0';
        fine = !*line || tg_model_translate(model, line, beams, target, NULL, &wrong) >= 0 ||
               tg_fail(error, "%s:%ld: %s", path, number, wrong.text);
        score->pairs += tab != NULL;
        score->exact += tab && strcmp(tab + 1, target) == 0;
        if (fine && both)
            put_text(line, '\t', to);
        if (fine)
            put_text(target, '\n', to);
    }
    free(target);
    return fine;
}
