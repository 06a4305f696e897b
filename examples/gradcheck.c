/* Checks the derivatives of every operation and layer against finite differences. */
#include "examples/gradcheck/check_table.h"
#include "examples/gradcheck/layer_checks.h"
#include "examples/lab/files.h"
#include "examples/lab/options.h"
#include "plots/plots.h"

#include <stdlib.h>
#include <string.h>

typedef struct settings {
    int order, seed, seeds;
    const char *op, *out;
    bool csv, plot;
} settings;

static const program_option options[] = {
    {"order", "N", "highest derivative to check; with 2, functions of one number are checked to the third",
     OPTION_INT, offsetof(settings, order), .low = 1, .high = TG_GRADCHECK_MAX_ORDER},
    {"op", "NAME", "this operation or layer only", OPTION_TEXT, offsetof(settings, op)},
    {"seed", "S", "of the inputs, cotangents and directions", OPTION_INT, offsetof(settings, seed), .low = 0,
     .high = 1e9},
    {"seeds", "N", "how many seeds to check with, from S on", OPTION_INT, offsetof(settings, seeds), .low = 1,
     .high = 1e6},
    {"csv", NULL, "print comma-separated values; the counts go to standard error", OPTION_FLAG,
     offsetof(settings, csv)},
    {"plot", NULL, "also draw the error of a finite difference over its step", OPTION_FLAG,
     offsetof(settings, plot)},
    {"out", "DIR", "where --plot writes steps.csv, steps.png and steps.svg", OPTION_TEXT,
     offsetof(settings, out)},
    {0}};

static const options_program program = {
    .name = "gradcheck",
    .about = "Compares the derivatives of every operation and layer of tapegrad, in double, with finite "
             "differences "
             "that estimate their own error.",
    .table = options,
    .after = "The last line counts what passed and what failed; the exit status is 1 if something failed.",
};

/* ---- checking ----------------------------------------------------------------------------------------------- */

typedef struct subject {
    const char *name;
    int order;
    const tg_op *op;
    const layer_check *layer; /* if op is NULL */
} subject;

static tg_gradcheck_result check_once(const subject *what, uint64_t seed)
{
    const tg_gradcheck_options how = {.order = what->order, .seed = seed};
    return what->op ? tg_gradcheck_op(what->op, &how) : layer_check_run(what->layer, &how);
}

static void check(const settings *s, const subject *what, check_table *table)
{
    tg_gradcheck_result shown = check_once(what, (uint64_t)s->seed);
    for (int more = 1; more < s->seeds && shown.passed; more++) {
        tg_gradcheck_result next = check_once(what, (uint64_t)s->seed + (uint64_t)more);
        gradcheck_result_join(&shown, &next);
    }
    check_table_add(table, what->name, what->order, &shown);
}

static bool is_wanted(const settings *s, const char *name)
{
    return !s->op || strcmp(s->op, name) == 0;
}

static int order_of(const settings *s, const tg_op *op)
{
    bool of_one_number = op->flags & TG_ELEMENTWISE && op->arity == 1;
    return s->order == 2 && of_one_number ? 3 : s->order;
}

static void check_all(const settings *s, check_table *table)
{
    for (int i = 0; tg_op_at(i); i++) {
        const tg_op *op = tg_op_at(i);
        if (!is_wanted(s, op->name))
            continue;
        if (!op->derivative || op->flags & (TG_CONSTANT | TG_SOURCE))
            check_table_skip(table, op->name);
        else
            check(s, &(subject){.name = op->name, .order = order_of(s, op), .op = op}, table);
    }
    for (int i = 0; layer_check_at(i); i++) {
        const layer_check *layer = layer_check_at(i);
        if (is_wanted(s, layer->name))
            check(s, &(subject){.name = layer->name, .order = s->order, .layer = layer}, table);
    }
}

/* ---- the V of truncation and rounding ----------------------------------------------------------------------- */

enum { STEPS = 48 };

typedef struct curve {
    const tg_op *op;
    tg_gradcheck_step steps[STEPS];
    int count;
} curve;

static bool write_steps(const void *context, FILE *file)
{
    const curve *c = context;
    fputs("operation,step,central,once,twice\n", file);
    for (int k = 0; k < c->count; k++)
        fprintf(file, "%s,%.9g,%.9g,%.9g,%.9g\n", c->op->name, c->steps[k].step, c->steps[k].central, c->steps[k].once,
                c->steps[k].twice);
    return true;
}

static bool draw(const settings *s)
{
    char message[FILES_MESSAGE];
    curve c = {.op = tg_op_find(s->op ? s->op : "gelu_exact")};
    c.count = tg_gradcheck_steps(c.op, &(tg_gradcheck_place){-1, -1, -1, 0, 0}, (uint64_t)s->seed, c.steps, STEPS);
    if (c.count == 0)
        return fprintf(stderr, "gradcheck: %s has nothing that could be drawn\n", c.op->name), false;
    if (!files_make_folder(s->out, message) || !files_write(s->out, "steps.csv", write_steps, &c, message) ||
        plots_run("gradcheck.gp", s->out, message) != PLOTS_DRAWN)
        return fprintf(stderr, "gradcheck: %s\n", message), false;
    fprintf(s->csv ? stderr : stdout, "drawn: %s/steps.png and %s/steps.svg, from %s/steps.csv\n", s->out, s->out, s->out);
    return true;
}

int main(int argc, char **argv)
{
    settings s = {.order = 2, .seeds = 1, .out = "gradcheck"};
    options_parse(&program, argc, argv, &s);
    if (s.plot && s.op && !tg_op_find(s.op) && layer_check_find(s.op)) {
        fprintf(stderr, "gradcheck: --plot: %s is a layer, and only operations are drawn\n", s.op);
        return 2;
    }
    if (s.op && !tg_op_find(s.op) && !layer_check_find(s.op)) {
        fprintf(stderr, "gradcheck: --op: there is no operation or layer '%s'\n", s.op);
        return 2;
    }
    char message[FILES_MESSAGE];
    if (s.plot && !files_check_folder(s.out, message)) {
        fprintf(stderr, "gradcheck: --out: %s\n", message);
        return 2;
    }
    check_table *table = check_table_new(s.csv);
    if (!table) {
        fprintf(stderr, "gradcheck: out of memory\n");
        return 1;
    }
    check_all(&s, table);
    check_table_print(table, stdout);
    const bool drawn = !s.plot || draw(&s);
    const int failed = drawn ? check_table_count(table, s.csv ? stderr : stdout) : 0;
    check_table_free(table);
    return drawn ? failed > 0 : 2;
}
