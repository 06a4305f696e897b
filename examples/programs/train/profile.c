#include "examples/programs/train/output.h"
#include "examples/programs/system/posix.h"

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
