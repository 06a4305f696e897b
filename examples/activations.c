/* Values and slopes of the activations: as a table, as numbers to plot, and as pictures. */
#include "examples/activations/claims.h"
#include "examples/lab/options.h"
#include "plots/plots.h"
#include "examples/lab/runlog.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tapegrad.h>

typedef struct settings {
    const char *out;
    double from, to;
    int points;
    bool no_plots, claims;
} settings;

#define AT(member) offsetof(settings, member)

static const program_option table[] = {
    {"out", "DIR", "folder for activations.csv and the pictures", OPTION_TEXT, AT(out)},
    {"from", "X", "left end", OPTION_REAL, AT(from), -1e6, 1e6},
    {"to", "X", "right end", OPTION_REAL, AT(to), -1e6, 1e6},
    {"points", "N", "points between the ends, both included", OPTION_INT, AT(points), 2, 10e6},
    {"no-plots", NULL, "draw nothing", OPTION_FLAG, AT(no_plots)},
    {"claims", NULL, "check what is often said of GELU's values, and end", OPTION_FLAG, AT(claims)},
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
    return (curve){tg_f64(tg_activate(activation, x, NULL)), tg_f64(tg_activation_derivative(activation, x))};
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
        *(tg_item(tg_activation_derivative(activation, x)) < 0 ? &low : &high) = middle;
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

/* ---- the program ---- */

int main(int argc, char **argv)
{
    settings s = {.out = "results", .from = -4, .to = 4, .points = 801};
    char message[RUNLOG_MESSAGE], path[4096];
    options_parse(&program, argc, argv, &s);
    if (s.claims)
        return claims_print(stdout) ? 0 : 1;
    if (s.from >= s.to) {
        fprintf(stderr, "activations: --from %g is not left of --to %g\n", s.from, s.to);
        return 2;
    }
    if (!runlog_check_directory(s.out, message)) {
        fprintf(stderr, "activations: --out: %s\n", message);
        return 2;
    }
    mkdir(s.out, 0777);
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
