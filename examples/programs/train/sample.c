#include "examples/programs/train/sample.h"

#include "examples/programs/data/words.h"

#include <string.h>
#include <unistd.h>

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

bool sample_write(const tg_model *model, const tg_write_options *options, tg_rng *rng, FILE *to, tg_error *error)
{
    output o = {.to = to};
    tg_write_options how = *options;
    how.each = put_byte;
    how.user = &o;
    const bool fine = tg_model_write(model, &how, rng, NULL, error) >= 0;
    if (fine)
        put_byte(&o, '\n');
    fputs(o.pending, to);
    return fine;
}
