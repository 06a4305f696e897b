/* Values and slopes of the activations: as a table, as numbers to plot, and as pictures. */
#include "examples/common/accuracy_curves.h"
#include "examples/common/accuracy_report.h"
#include "examples/common/claims.h"
#include "examples/common/options.h"
#include "examples/common/plots.h"
#include "examples/common/runlog.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tapegrad.h>
#include <unistd.h>

typedef struct settings {
    const char *out;
    double from, to;
    int points;
    bool no_plots;
    bool claims, accuracy, exhaustive, csv;
    const char *kernels, *python;
    int jobs;
} settings;

#define AT(member) offsetof(settings, member)

static const program_option table[] = {
    {"out", "DIR", "folder for activations.csv and the pictures [results]", OPTION_TEXT, AT(out)},
    {"from", "X", "left end", OPTION_REAL, AT(from), -1e6, 1e6},
    {"to", "X", "right end", OPTION_REAL, AT(to), -1e6, 1e6},
    {"points", "N", "points between the ends, both included", OPTION_INT, AT(points), 2, 10e6},
    {"no-plots", NULL, "draw nothing", OPTION_FLAG, AT(no_plots)},
    {"claims", NULL, "check what is often said of GELU's values, and end", OPTION_FLAG, AT(claims)},
    {NULL, NULL, "How exact the kernels are:", OPTION_GROUP},
    {"accuracy", NULL, "measure the largest error of value, first and second derivative in units in the last place, for every instruction "
     "set that runs here; status 1 if a bound is broken. With --out, exactness.csv and .png show the error of GELU over x",
     OPTION_FLAG, AT(accuracy)},
    {"exhaustive", NULL, "on all 2^32 floats, which takes minutes; else on every 1000th", OPTION_FLAG, AT(exhaustive)},
    {"csv", NULL, "print kernel,precision,order,isa,max_ulp,max_abs,at: max_abs is the largest absolute error where a derivative "
     "crosses zero, which max_ulp leaves out; at is the input with max_ulp", OPTION_FLAG, AT(csv)},
    {"kernels", "NAMES", "these only, with commas between, or all [all; with --exhaustive GELU and SiLU]", OPTION_TEXT, AT(kernels)},
    {"python", "PROGRAM", "the Python that has PyTorch, for exactness.csv", OPTION_TEXT, AT(python)},
    {"jobs", "N", "kernels to measure at the same time", OPTION_INT, AT(jobs), 1, 1024},
    {0}};

static const options_program program = {
    .name = "activations",
    .about = "Shows every activation: its values and first derivatives, where it is lowest, and how far the approximations of GELU "
             "are from the exact one. All in double precision.",
    .table = table,
    .after = "Example: activations --from -4 --to 4 --out results"};

/* ---- curves ---- */

typedef struct curve {
    const double *value, *slope; /* [points]; on the tape */
} curve;

static curve curve_of(tg_activation activation, tg_tensor x)
{
    return (curve){tg_f64(tg_activate(activation, x, NULL)), tg_f64(tg_activation_slope(activation, x))};
}

/* `points` numbers from `from` to `to`. */
static tg_tensor line(tg_tape *tape, double from, double to, int points)
{
    double *numbers = malloc((size_t)points * sizeof *numbers);
    for (int i = 0; numbers && i < points; i++)
        numbers[i] = from + (to - from) * i / (points - 1);
    tg_tensor x = tg_constant(tape, TG_F64, numbers, TG_SHAPE(points));
    free(numbers);
    return x;
}

/* Gated activations are products of two numbers, and the random one has no curve of its own. */
static bool has_curve(tg_activation activation)
{
    return !tg_activation_is_gated(activation) && activation != TG_STOCHASTIC_GELU;
}

/* ---- the table ---- */

/* The zero of the slope between two points where its sign changes, by bisection. */
static double refine(tg_tape *tape, tg_activation activation, double low, double high)
{
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        tg_tensor x = tg_constant(tape, TG_F64, &middle, TG_SCALAR);
        *(tg_item(tg_activation_slope(activation, x)) < 0 ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

static void print_row(tg_tape *tape, tg_activation activation, tg_tensor x, curve exact)
{
    enum { WIDTH = 18 };
    const int64_t points = tg_size(x);
    const curve c = curve_of(activation, x);
    const double *at = tg_f64(x);
    char lowest[WIDTH] = "-", bottom[WIDTH] = "-";
    double error = 0, slope_error = 0;
    for (int64_t i = 0; i < points; i++) {
        error = fmax(error, fabs(c.value[i] - exact.value[i]));
        slope_error = fmax(slope_error, fabs(c.slope[i] - exact.slope[i]));
        if (i > 0 && c.slope[i - 1] < 0 && c.slope[i] > 0) {
            double where = refine(tape, activation, at[i - 1], at[i]);
            tg_tensor point = tg_constant(tape, TG_F64, &where, TG_SCALAR);
            snprintf(lowest, sizeof lowest, "%.7f", where);
            snprintf(bottom, sizeof bottom, "%.7f", tg_item(tg_activate(activation, point, NULL)));
        }
    }
    double sides[2] = {-1, 1};
    tg_tensor ends = tg_activate(activation, tg_constant(tape, TG_F64, sides, TG_SHAPE(2)), NULL);
    printf("%-12s %12.7f %11.7f  %11s %11s", tg_activation_name(activation), tg_at(ends, 0), tg_at(ends, 1), lowest, bottom);
    if (activation == TG_GELU_TANH || activation == TG_GELU_QUICK)
        printf("  %10.3e %10.3e", error, slope_error);
    putchar('\n');
}

static void print_table(tg_tape *tape)
{
    tg_tensor x = line(tape, -8, 8, 160001);
    const curve exact = curve_of(TG_GELU_EXACT, x);
    printf("%-12s %12s %11s  %11s %11s  %21s\n", "", "f(-1)", "f(1)", "lowest at", "lowest", "largest error against");
    printf("%-12s %12s %11s  %11s %11s  %21s\n", "", "", "", "", "", "gelu_exact: f, f'");
    for (int a = 0; tg_activation_name((tg_activation)a); a++)
        if (has_curve((tg_activation)a))
            print_row(tape, (tg_activation)a, x, exact);
}

/* ---- the file ---- */

/* Rows of one curve, or of its difference to another. Two empty lines end it, by which gnuplot tells curves apart. */
static void write_curve(FILE *file, const char *kind, const char *name, tg_tensor x, curve c, const curve *minus)
{
    for (int64_t i = 0; c.value && c.slope && i < tg_size(x); i++)
        fprintf(file, "%s%s,%.9g,%.17g,%.17g\n", kind, name, tg_at(x, i), c.value[i] - (minus ? minus->value[i] : 0),
                c.slope[i] - (minus ? minus->slope[i] : 0));
    fputs("\n\n", file);
}

static bool write_curves(tg_tape *tape, const settings *s, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    tg_tensor x = line(tape, s->from, s->to, s->points);
    const curve exact = curve_of(TG_GELU_EXACT, x);
    fputs("activation,x,value,slope\n", file);
    for (int a = 0; tg_activation_name((tg_activation)a); a++)
        if (has_curve((tg_activation)a))
            write_curve(file, "", tg_activation_name((tg_activation)a), x, curve_of((tg_activation)a, x), NULL);
    write_curve(file, "difference_", "gelu_tanh", x, curve_of(TG_GELU_TANH, x), &exact);
    write_curve(file, "difference_", "gelu_quick", x, curve_of(TG_GELU_QUICK, x), &exact);
    bool complete = !ferror(file);
    return fclose(file) == 0 && complete;
}

/* ---- exactness ---- */

static bool make_folder(const char *out)
{
    char message[RUNLOG_MESSAGE];
    if (!runlog_check_directory(out, message)) {
        fprintf(stderr, "activations: --out: %s\n", message);
        return false;
    }
    mkdir(out, 0777);
    return true;
}

static int draw_exactness(const settings *s)
{
    char message[RUNLOG_MESSAGE + PLOTS_MESSAGE], path[4096];
    bool has_pytorch;
    snprintf(path, sizeof path, "%s/exactness.csv", s->out);
    if (!accuracy_curves_write(path, s->python, &has_pytorch, message, sizeof message)) {
        fprintf(stderr, "activations: %s\n", message);
        return 1;
    }
    fprintf(stderr, "wrote %s", path);
    if (has_pytorch)
        putc('\n', stderr);
    else
        fprintf(stderr, ", without PyTorch: %s cannot import it (see --python)\n", s->python);
    if (!s->no_plots && !plots_run("exactness.gp", s->out, message))
        fprintf(stderr, "activations: %s\n", message);
    else if (!s->no_plots)
        fprintf(stderr, "wrote %s/exactness.png, exactness.svg\n", s->out);
    return 0;
}

static int measure_accuracy(const settings *s)
{
    const accuracy_request request = {
        .kernels = s->kernels, .exhaustive = s->exhaustive, .csv = s->csv, .at_once = s->jobs};
    char message[RUNLOG_MESSAGE];
    if (!accuracy_request_check(&request, message, sizeof message)) {
        fprintf(stderr, "activations: --kernels: %s\n", message);
        return 2;
    }
    if (s->out && !make_folder(s->out))
        return 2;
    int status = accuracy_report(&request, stdout);
    return s->out && status != 130 && draw_exactness(s) ? 1 : status;
}

/* ---- the program ---- */

/* An option that says nothing without --accuracy; NULL if there is none. */
static const char *lost_option(const settings *s)
{
    return s->exhaustive ? "exhaustive" : s->csv ? "csv" : s->kernels ? "kernels" : NULL;
}

int main(int argc, char **argv)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    settings s = {.from = -4, .to = 4, .points = 801, .python = "python3", .jobs = processors > 1 ? (int)processors : 1};
    char message[RUNLOG_MESSAGE], path[4096];
    options_parse(&program, argc, argv, &s);
    if (s.accuracy && s.claims) {
        fprintf(stderr, "activations: --claims and --accuracy are two runs\n");
        return 2;
    }
    if (s.accuracy)
        return measure_accuracy(&s);
    if (lost_option(&s)) {
        fprintf(stderr, "activations: --%s goes with --accuracy\n", lost_option(&s));
        return 2;
    }
    if (s.claims)
        return claims_print(stdout) ? 0 : 1;
    if (s.from >= s.to) {
        fprintf(stderr, "activations: --from %g is not left of --to %g\n", s.from, s.to);
        return 2;
    }
    s.out = s.out ? s.out : "results";
    if (!make_folder(s.out))
        return 2;
    int status = 0;
    tg_tape *tape = tg_tape_new();
    print_table(tape);
    snprintf(path, sizeof path, "%s/activations.csv", s.out);
    if (!write_curves(tape, &s, path)) {
        fprintf(stderr, "activations: %s: %s\n", path, strerror(errno));
        status = 1;
    } else
        printf("\nwrote %s\n", path);
    const char *error = tg_tape_error(tape);
    if (error) {
        fprintf(stderr, "activations: %s\n", error);
        status = 1;
    }
    if (status == 0 && !s.no_plots) {
        if (plots_run("activations.gp", s.out, message))
            printf("wrote %s/activations.png, activations.svg\n", s.out);
        else
            fprintf(stderr, "activations: %s\n", message);
    }
    tg_tape_free(tape);
    return status;
}
