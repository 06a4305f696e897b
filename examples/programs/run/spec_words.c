/* A run as options of a command: those that `train` needs to repeat it, and those whose defaults are not the same in
 * `train` and `compare`. */
#include "examples/programs/report/files.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/run/spec.h"
#include "examples/programs/system/posix.h"

/* ---- the options that make a run ---- */

/* The options before the group "Running:", and the products, make the numbers of a run; these two are not of
 * `train`. */
static bool makes_run(const program_option *o)
{
    static bool made[OPTIONS_MOST];
    static const char *const others[] = {"test-noise", "test-as", "drop-last", NULL};
    const int count = (int)(options_find(run_options, "products") - run_options);
    if (!made[count])
        for (int i = 0; i <= count; i++)
            made[i] = run_options[i].name && !others[options_position(others, run_options[i].name)];
    return o - run_options <= count && made[o - run_options];
}

/* Only a gated activation has widths to choose, and only equal widths a residual connection. */
static bool matters(const program_option *o, const run_spec *s)
{
    if (strcmp(o->name, "gated") == 0)
        return net_is_gated(s->net.activation);
    return (strcmp(o->name, "residual") != 0 || !net_residual_is_idle(&s->net)) && net_takes(s->net.model, o->name);
}

static void print_option(const program_option *o, const run_spec *s, FILE *to)
{
    char text[OPTIONS_WORD];
    const char *word = options_word(o, s, text);
    fprintf(to, " --%s", o->name);
    if (o->type == OPTION_FLAG)
        return;
    fputc(' ', to);
    options_print_word(word ? word : "", to);
}

/* ---- the command of a run ---- */

/* True if the named options of this run and the defaults of `train` make the same one. */
static bool repeats(const run_spec *s, const bool named[], int64_t rows)
{
    const run_spec usual = run_spec_defaults(false);
    run_spec other = *s;
    other.compared = false;
    for (const program_option *o = run_options; options_more(o); o++)
        if (makes_run(o) && matters(o, s) && !named[o - run_options])
            options_copy(o, &usual, &other);
    run_spec_complete(&other, rows);
    bool same = true;
    for (const program_option *o = run_options; same && options_more(o); o++)
        same = !makes_run(o) || !matters(o, s) || options_agree(o, s, &other);
    return same;
}

void run_spec_print_options(const run_spec *s, int64_t rows, FILE *to)
{
    static const char *const always[] = {"data", "model", "activation", NULL};
    const run_spec usual = run_spec_defaults(false);
    bool named[OPTIONS_MOST] = {false};
    for (int i = 0; options_more(&run_options[i]); i++) {
        const program_option *o = &run_options[i];
        named[i] = makes_run(o) && matters(o, s) &&
                   (!options_agree(o, s, &usual) || always[options_position(always, o->name)]);
    }
    for (int i = 0; options_more(&run_options[i]); i++) {
        const program_option *o = &run_options[i];
        if (!named[i])
            continue;
        if (!always[options_position(always, o->name)]) {
            named[i] = false;
            named[i] = !repeats(s, named, rows);
        }
        if (named[i])
            print_option(o, s, to);
    }
}

/* ---- the defaults of the other program ---- */

/* Sets --gated to what it is by default, as --help says. */
static void say_gated(run_spec *s)
{
    static const char *const keep_parameters[] = {"mlp", "gpt", "vit", "seq2seq", NULL};
    if (!s->gated)
        s->gated = keep_parameters[options_position(keep_parameters, s->net.model)] ? "parameters" : "width";
}

static int print_otherwise(const run_spec *given, const run_spec *complete, int64_t rows, FILE *to)
{
    static const char *const same[] = {"model", "activation", "fold", "products", NULL};
    const run_spec usual = run_spec_defaults(!given->compared);
    run_spec this = *complete, other = *complete;
    say_gated(&this);
    int count = 0;
    other.compared = usual.compared;
    for (const program_option *o = run_options; options_more(o); o++)
        if (makes_run(o) && !options_has(&given->given, o->name) && !same[options_position(same, o->name)])
            options_copy(o, &usual, &other);
    run_spec_complete(&other, rows);
    say_gated(&other);
    if (other.net.image_width && !options_has(&given->given, "model")) {
        fprintf(to, " --model %s", run_spec_image_model(&other));
        count++;
    }
    for (const program_option *o = run_options; options_more(o); o++)
        if (makes_run(o) && matters(o, complete) && !options_agree(o, &this, &other)) {
            print_option(o, &other, to);
            count++;
        }
    return count;
}

void run_spec_describe_otherwise(const run_spec *given, const run_spec *complete, int64_t rows, FILE *to)
{
    char *text = NULL;
    size_t size;
    FILE *memory = memory_checked(system_open_memory(&text, &size));
    const int count = given ? print_otherwise(given, complete, rows, memory) : 0;
    memory_checked(system_close_memory(memory, &text, &size) ? text : NULL);
    if (count)
        fprintf(to, "Defaults of %s differ:%s\n", complete->compared ? "train" : "compare", text);
    free(text);
}
