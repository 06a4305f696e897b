#include "examples/programs/train/output.h"
#include "examples/programs/system/posix.h"
#include "examples/programs/data/words.h"

typedef struct row {
    char name[64];
    double forward, backward, flops; /* seconds of a step */
} row;

typedef struct table {
    row *rows; /* [count], room for one for each time */
    int count;
} table;

static void add(table *t, const char *name, const tg_operation_time *time)
{
    int i = 0;
    while (i < t->count && strcmp(t->rows[i].name, name) != 0)
        i++;
    row *to = &t->rows[i];
    if (i == t->count)
        snprintf(t->rows[t->count++].name, sizeof to->name, "%s", name);
    *(time->backward ? &to->backward : &to->forward) += time->seconds / (double)time->runs;
    to->flops += time->flops;
}

static double total(const row *r)
{
    return r->forward + r->backward;
}

static int slower_first(const void *a, const void *b)
{
    const double x = total(a), y = total(b);
    return (x < y) - (x > y);
}

static void print(table *t, const char *title, double step, FILE *out)
{
    system_sort(t->rows, (size_t)t->count, sizeof *t->rows, slower_first);
    fprintf(out, "\n%-32s %10s %10s %8s %8s\n", title, "forward ms", "backward", "share %", "GF/s");
    for (int i = 0; i < t->count; i++) {
        const row *r = &t->rows[i];
        fprintf(out, "%-32s %10.3f %10.3f %8.1f", r->name, 1e3 * r->forward, 1e3 * r->backward, 100 * total(r) / step);
        if (r->flops > 0)
            fprintf(out, " %8.1f", 1e-9 * r->flops / total(r));
        fputc('\n', out);
    }
}

bool profile_print(const tg_tape *tape, double step, FILE *out)
{
    tg_operation_time time;
    int64_t times = 0;
    while (tg_tape_time_at(tape, times, &time))
        times++;
    row all = {.forward = 0};
    const size_t room = (size_t)times + 1;
    table operations = {calloc(room, sizeof(row)), 0}, layers = {calloc(room, sizeof(row)), 0}, sum = {&all, 0};
    bool fine = operations.rows && layers.rows;
    for (int64_t i = 0; fine && tg_tape_time_at(tape, i, &time); i++)
        if (time.runs > 0) {
            add(&operations, time.operation, &time);
            add(&layers, *time.scope ? time.scope : "outside of layers", &time);
            add(&sum, "all operations", &time);
        }
    fine = fine && operations.count > 0;
    if (fine) {
        print(&operations, "operation", step, out);
        print(&layers, "layer", step, out);
        fprintf(out, "\n%-32s %10.3f %10.3f %8.1f %8.1f\n", all.name, 1e3 * all.forward, 1e3 * all.backward,
                100 * total(&all) / step, 1e-9 * all.flops / total(&all));
        fprintf(out, "%-32s %10.3f %10s %8.1f\n", "optimiser, batches, the tape", 1e3 * (step - total(&all)), "",
                100 * (1 - total(&all) / step));
    }
    free(operations.rows);
    free(layers.rows);
    return fine;
}

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
