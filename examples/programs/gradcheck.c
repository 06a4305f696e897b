/* Checks the derivatives of operations, layers and models against finite differences. */
#include "examples/programs/gradcheck/check_table.h"
#include "examples/programs/gradcheck/steps.h"
#include "examples/programs/gradcheck/user_ops.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/run/jobs.h"
#include "examples/programs/run/options.h"
#include "examples/programs/run/spec.h"
#include "examples/programs/system/signals.h"
#include "examples/programs/report/terminal.h"

/* The exit status of the program, unless it was interrupted. */
enum { ALL_PASSED, SOMETHING_FAILED, TROUBLE, SOMETHING_UNDECIDED };

typedef struct settings {
    int order, seed, seeds;
    const char *const *names;
    const char *load, *command, *formula, *plot, *out, *junit, *products;
    double limit;
    tg_gradcheck_options how; /* as far as options say */
    int evaluations;
    bool csv, list;
    options_given given;
} settings;

static const program_option options[] = {
    {.help = "What is checked:", .type = OPTION_GROUP},
    {"list", NULL, "list what can be checked, or what the names match, and check nothing", OPTION_FLAG,
     offsetof(settings, list)},
    {"load", "FILE",
     "a shared library with operations of your own; without names, these are checked (docs/gradcheck.md)", OPTION_TEXT,
     offsetof(settings, load)},
    {"formula", "TEXT",
     "an activation as a formula, such as 'x sigmoid(b x), b = 1': by x and by its trained numbers; without names, it "
     "alone is checked (docs/formulas.md)",
     OPTION_TEXT, offsetof(settings, formula), .once = OPTIONS_ONE},
    {"products", "WHOSE", "matrix products: our own or OpenBLAS's; as TG_PRODUCTS says without it", OPTION_CHOICE,
     offsetof(settings, products), .choices = spec_products},
    {"command", "COMMAND",
     "check functions of another program, which computes them on request over a pipe: 'python3 mine.py' "
     "(docs/gradcheck.md)",
     OPTION_TEXT, offsetof(settings, command)},
    {"limit", "SECONDS", "longest time that program may take to answer", OPTION_REAL, offsetof(settings, limit),
     .low = 0.001, .high = 1e6},
    {.help = "How:", .type = OPTION_GROUP},
    {"order", "N", "highest derivative to check; with 2, functions of one number are checked to the third", OPTION_INT,
     offsetof(settings, order), .low = 1, .high = TG_GRADCHECK_MAX_ORDER},
    {"seed", "S", "seed of the inputs, cotangents and directions", OPTION_INT, offsetof(settings, seed), .low = 0,
     .high = 1e9},
    {"seeds", "N", "number of seeds to check with, from --seed on", OPTION_INT, offsetof(settings, seeds), .low = 1,
     .high = 1e6},
    {"rtol", "PART", "accept errors of up to this part of the derivative", OPTION_REAL, offsetof(settings, how.rtol),
     .low = 0, .high = 1},
    {"atol", "SIZE", "accept errors of up to this size", OPTION_REAL, offsetof(settings, how.atol), .low = 0,
     .high = 1e300},
    {"value-rtol", "PART", "the values are only right to this part of themselves", OPTION_REAL,
     offsetof(settings, how.value_rtol), .low = 0, .high = 0.1},
    {"directions", "N", "compare along N random directions of all inputs, not by elements", OPTION_INT,
     offsetof(settings, how.directions), .low = 1, .high = 1e6},
    {"evaluations", "N", "evaluate each function and its gradient at most N times, and say what is left", OPTION_INT,
     offsetof(settings, evaluations), .low = 2, .high = 1e9},
    {"largest-step", "SIZE", "move no element by more at the given point", OPTION_REAL,
     offsetof(settings, how.largest_step), .low = 1e-300, .high = 1e300},
    {"here-only", NULL, "check at the given point alone", OPTION_FLAG, offsetof(settings, how.here_only)},
    {.help = "What is written:", .type = OPTION_GROUP},
    {"csv", NULL, "print comma-separated values; failures and counts go to standard error", OPTION_FLAG,
     offsetof(settings, csv)},
    {"junit", "FILE", "write the results as JUnit XML, for CI", OPTION_TEXT, offsetof(settings, junit)},
    {"plot", "NAME[:INPUT[:ELEMENT]]",
     "draw the error of finite differences over the step, for this input and element (by number) of an operation, or "
     "else for the element with the largest derivative. Without names, only this operation is checked",
     OPTION_TEXT, offsetof(settings, plot)},
    {"out", "DIR", "where --plot writes steps.csv, steps.png and steps.svg", OPTION_TEXT, offsetof(settings, out)},
    {0}};

static const options_program program = {
    .name = "gradcheck",
    .about = "Compares derivatives, in double, with finite differences that estimate their own error. Checks all "
             "operations, layers and models of tapegrad, or those that match a name or pattern ('gelu*').",
    .table = options,
    .given_offset = offsetof(settings, given),
    .words = "[NAME...]",
    .words_offset = offsetof(settings, names),
    .after = "The exit status is 0 if all passed, 1 if something failed, 3 if nothing failed but differences could not "
             "decide some derivative, and 2 if nothing could be checked or written, or a name or an option is wrong.",
};

/* ---- checking ---- */

/* Ctrl-C ends the check, with the report so far. */
static bool go_on(int64_t evaluations, void *user)
{
    (void)evaluations;
    return !signals_caught() && !(user && remote_is_broken(user));
}

static check_row check(const settings *s, const subject *what, int order)
{
    static char report[1 << 14];
    const bool has_report = what->op || what->function || what->formula;
    check_row row = {.what = what, .order = order, .seconds = jobs_clock()};
    for (int more = 0; more < s->seeds && !(more > 0 && signals_caught()); more++) {
        tg_gradcheck_options how = s->how;
        how.order = order;
        how.seed = (uint64_t)s->seed + (uint64_t)more;
        how.evaluations = s->evaluations;
        how.progress = go_on;
        how.user = (void *)(uintptr_t)what->function;
        how.report = has_report ? report : NULL;
        how.report_size = sizeof report;
        if (what->function)
            remote_take_options(what->function, &how);
        const tg_gradcheck_result next = subject_check(what, &how);
        if (more == 0)
            row.result = next;
        else
            gradcheck_result_join(&row.result, &next);
        if (verdict_of(&row.result) == VERDICT_FAILED) {
            row.report = has_report && report[0] ? strdup(plain_lines(report)) : NULL;
            break;
        }
    }
    plain_lines(row.result.why);
    row.seconds = jobs_clock() - row.seconds;
    return row;
}

/* Names the current check, on a terminal; `all` is 0 if their number is not known. */
static void show_progress(int done, int all, const char *name)
{
    if (!terminal_of(stderr).live)
        return;
    fputs("\r\033[K", stderr);
    if (name && all > 0)
        fprintf(stderr, "%d of %d: %s", done + 1, all, plain(name));
    else if (name)
        fprintf(stderr, "checking %s", plain(name));
}

/* Another program's functions, one after the other, are appended to the subjects. */
static subject *next_function(command_pipe *of, remote_function *function, subjects *all)
{
    if (!of || all->count == SUBJECTS_MOST || !remote_next(of, function))
        return NULL;
    subject *what = &all->list[all->count++];
    *what = (subject){.name = what->own_name, .category = "yours", .about = "", .function = function};
    memcpy(what->own_name, function->name, sizeof what->own_name);
    return what;
}

static subject *next_chosen(subjects *all, int *next)
{
    while (*next < all->count && (!all->list[*next].chosen || all->list[*next].constant))
        ++*next;
    return *next < all->count ? &all->list[(*next)++] : NULL;
}

/* Runs the chosen checks, or those of another program until it ends or fails, until Ctrl-C, which a second time ends
 * this program. Returns the number of complete rows. */
static int check_all(const settings *s, subjects *all, check_row rows[], tg_error *error)
{
    static remote_function function;
    signals_before before;
    int count = 0, chosen = 0, next = 0;
    for (int i = 0; i < all->count; i++)
        chosen += all->list[i].chosen && !all->list[i].constant;
    signals_catch(&before);
    command_pipe *of = s->command ? command_start(s->command, s->limit, error) : NULL;
    while (!signals_caught()) {
        const subject *what = s->command ? next_function(of, &function, all) : next_chosen(all, &next);
        if (!what)
            break;
        show_progress(count, chosen, what->name);
        user_ops_checking(what->name);
        rows[count] = check(s, what, subject_order(what, s->order));
        if (of)
            remote_end(&function, &rows[count].result);
        if (signals_caught() && rows[count].result.ended && (!of || rows[count].result.comparisons == 0))
            free(rows[count].report); /* of a dear function what is known counts, of an operation all or nothing */
        else
            count++;
    }
    show_progress(count, chosen, NULL);
    if (of)
        tg_fail(error, "%s", command_message(of));
    command_stop(of);
    signals_release(&before);
    if (signals_caught() && !s->command)
        fprintf(stderr, "interrupted: %d of %d are checked\n", count, chosen);
    return count;
}

static void print_constants(const subjects *all, FILE *out)
{
    int count = 0;
    for (int i = 0; i < all->count; i++)
        if (all->list[i].chosen && all->list[i].constant)
            fprintf(out, "%s%s",
                    count++ > 0 ? ", " : "\nno derivative by nature, nothing to check: ", all->list[i].name);
    if (count > 0)
        fputc('\n', out);
}

static int print_results(const settings *s, const subjects *all, const check_table *table)
{
    if (s->csv)
        check_table_print_csv(table, stdout);
    else
        check_table_print(table, stdout);
    FILE *rest = s->csv ? stderr : stdout;
    print_constants(all, rest);
    check_table_print_counts(table, rest);
    return table->count == 0                                   ? TROUBLE
           : check_table_count(table, VERDICT_FAILED) > 0      ? SOMETHING_FAILED
           : check_table_count(table, VERDICT_CANNOT_TELL) > 0 ? SOMETHING_UNDECIDED
                                                               : ALL_PASSED;
}

/* ---- the program ---- */

static int refuse(const char *option, const char *message)
{
    terminal_say("gradcheck", *option ? option : NULL, message);
    return TROUBLE;
}

/* True if the requested files can be written, as far as that can be checked beforehand. */
static bool can_write(const settings *s)
{
    tg_error error;
    if (s->junit && !files_check_path(s->junit, &error))
        return refuse("--junit", error.text), false;
    return true;
}

/* Chooses by names or, without, what was loaded or is drawn, or else all. */
static bool choose(const settings *s, subjects *all, const steps_place *drawn)
{
    char near[SUBJECTS_NEAR], message[SUBJECTS_NEAR + 200];
    const char *wrong = s->names ? subjects_choose(all, s->names) : NULL;
    for (int i = 0; i < all->count; i++) {
        subject *what = &all->list[i];
        const bool own = strcmp(what->category, "yours") == 0, chosen = s->plot ? what == drawn->what : own;
        what->chosen |= what->formula || (!s->names && (chosen || !(s->load || s->formula || s->plot)));
    }
    if (!wrong)
        return true;
    subjects_near(all, wrong, near);
    if (strpbrk(wrong, "*?["))
        snprintf(message, sizeof message, "no operation or layer matches the pattern '%.100s'", wrong);
    else
        snprintf(message, sizeof message, "there is no operation or layer '%.100s'%s", wrong, near);
    refuse("", message);
    return false;
}

static int draw(const settings *s, const steps_place *place)
{
    tg_error error;
    steps_curve curve;
    if (!steps_compute(place, (uint64_t)s->seed, &curve, &error))
        return refuse("--plot", error.text);
    const plots_outcome outcome = steps_draw(&curve, s->out, &error);
    if (outcome != PLOTS_DRAWN)
        return refuse("--plot", error.text), outcome == PLOTS_INTERRUPTED ? signals_status() : TROUBLE;
    fprintf(s->csv ? stderr : stdout, "drawn: %s/steps.png and %s/steps.svg, from %s/steps.csv\n", plain(s->out),
            plain(s->out), plain(s->out));
    return ALL_PASSED;
}

/* Prints and writes the results, also of an interrupted check. */
static int print_and_write(const settings *s, const subjects *all, const check_table *table)
{
    tg_error error;
    const bool interrupted = signals_caught();
    int status = print_results(s, all, table);
    if (s->junit && !check_table_write_junit(s->junit, table, &error))
        status = refuse("--junit", error.text);
    return interrupted ? signals_status() : status;
}

static void release_rows(check_row *rows, int count)
{
    for (int i = 0; i < count; i++)
        free(rows[i].report);
    free(rows);
}

static int run(const settings *s, subjects *all)
{
    tg_error error = {""};
    steps_place drawn = {0};
    if (s->plot && !steps_find(all, s->plot, &drawn, &error))
        return refuse("--plot", error.text);
    if (s->plot && !files_check_folder(s->out, &error))
        return refuse("--out", error.text);
    if (!can_write(s) || (!s->command && !choose(s, all, &drawn)))
        return TROUBLE;
    if (s->list)
        return check_table_list(all, stdout), ALL_PASSED;
    check_row *rows = calloc(SUBJECTS_MOST, sizeof *rows);
    if (!rows)
        return refuse("", "out of memory");
    const check_table table = {rows, check_all(s, all, rows, &error)};
    int status = table.count > 0 || !s->command ? print_and_write(s, all, &table) : TROUBLE;
    if (signals_caught())
        status = signals_status();
    else if (s->command && (error.text[0] || table.count == 0))
        status = refuse("--command", error.text[0] ? error.text : "the program has no function to check");
    else if (s->plot) {
        const int drawing = draw(s, &drawn);
        status = drawing ? drawing : status;
    }
    release_rows(rows, table.count);
    return status;
}

/* Rejects options that do not apply to another program's functions, or that apply to nothing else. */
static bool suits_command(const settings *s)
{
    if (!s->command)
        return !options_has(&s->given, "limit") || (refuse("", "--limit is for --command only"), false);
    if (s->names || s->list || s->load || s->formula || s->plot)
        return refuse("--command",
                      "checks all functions of that program: no names, --list, --load, --formula or --plot"),
               false;
    if (options_has(&s->given, "order"))
        return refuse("--order",
                      "functions of --command are checked to first order; give a vjp as a function of its own"),
               false;
    return true;
}

int main(int argc, char **argv)
{
    settings s = {.order = 2, .seeds = 1, .out = "gradcheck", .limit = 60};
    tg_error error;
    const tg_op *const *own = NULL;
    static const char *const of_checks[] = {"order", "seed", "seeds", "csv", "junit", "plot", "out", NULL};
    options_parse(&program, argc, argv, &s);
    const char *idle = s.list ? options_first(&s.given, of_checks) : NULL;
    if (idle)
        return fprintf(stderr, "gradcheck: --%s: --list checks nothing\n", idle), TROUBLE;
    if (!s.plot && options_has(&s.given, "out"))
        return refuse("", "--out is for --plot only");
    if (!suits_command(&s))
        return TROUBLE;
    if (!spec_take_products(s.products, &error))
        return refuse("", error.text);
    if (s.load && !(own = user_ops_load(s.load, &error)))
        return refuse("--load", error.text);
    if (own)
        user_ops_guard();
    subjects all = {calloc(SUBJECTS_MOST, sizeof *all.list), 0};
    if (!all.list)
        return refuse("", "out of memory");
    if (s.command)
        s.order = 1;
    else
        subjects_collect(&all, own);
    tg_formula *formula = s.formula ? tg_formula_new(s.formula, &error) : NULL;
    if (formula)
        subjects_add_formula(&all, formula);
    const int status = s.formula && !formula ? refuse("--formula", error.text) : run(&s, &all);
    tg_formula_free(formula);
    free(all.list);
    return status;
}
