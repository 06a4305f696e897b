/* Shows values and first derivatives of the activations as a table, as numbers to plot, and as pictures. */
#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/run/net.h"
#include "examples/programs/system/signals.h"
#include "examples/programs/report/table.h"
#include "plots/plots.h"
#include "examples/programs/report/files.h"

typedef struct settings {
    const char *out, *formula;
    double from, to;
    int points, moments;
    bool no_plots;
    options_given given;
} settings;

#define AT(member) offsetof(settings, member)

static const program_option options[] = {
    {"out", "DIR", "folder for activations.csv and the pictures", OPTION_TEXT, AT(out)},
    {"from", "X", "left end", OPTION_REAL, AT(from), -1e6, 1e6},
    {"to", "X", "right end", OPTION_REAL, AT(to), -1e6, 1e6},
    {"points", "N", "points between the ends, both included", OPTION_INT, AT(points), 2, 10e6},
    {"formula", "TEXT", "show these too: \"mine: x sigmoid(1.5 x), gate: u tanh(v)\"", OPTION_TEXT, AT(formula),
     .once = OPTIONS_ONE_LIST},
    {"no-plots", NULL, "draw nothing", OPTION_FLAG, AT(no_plots)},
    {"moments", "WIDTH",
     "instead, print the second moments of signals and gradients in nets of this width at the start", OPTION_INT,
     AT(moments), 0, 4096},
    {0}};

static const options_program program = {
    .name = "activations",
    .about = "Shows the formula, values, first derivatives and minimum of every activation, and the errors of GELU's "
             "approximations. All in double precision.",
    .table = options,
    .given_offset = offsetof(settings, given),
    .after = "Example: activations --from -4 --to 4 --out results\n"
             "activations --formula \"mine: x sigmoid(1.5 x)\""};

/* ---- curves ---- */

typedef struct curve {
    const double *value, *derivative; /* [points]; on the tape */
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

/* Gated activations take two numbers, and the random one has no curve of its own. */
static bool has_curve(tg_activation activation)
{
    return !tg_activation_is_gated(activation) && activation != TG_STOCHASTIC_GELU;
}

/* ---- the table ---- */

/* The zero of the derivative between two points where its sign changes, by bisection. */
static double refine(tg_tape *tape, tg_activation activation, double low, double high)
{
    for (int i = 0; i < 60; i++) {
        double middle = 0.5 * (low + high);
        tg_tensor x = tg_constant(tape, TG_F64, &middle, TG_SCALAR);
        *(tg_item(tg_activation_derivative(activation, x)) < 0 ? &low : &high) = middle;
    }
    return 0.5 * (low + high);
}

/* The lowest of the minima, and of several that are as low the one nearest to 0. */
typedef struct minimum {
    double at, value; /* NaN: there is none */
} minimum;

/* Where the derivative goes from below 0 to above 0, perhaps through a point where it is exactly 0. */
static minimum lowest_of(tg_tape *tape, tg_activation activation, tg_tensor x, curve c)
{
    const double *at = tg_f64(x);
    minimum lowest = {NAN, NAN};
    int64_t falling = -1; /* the last point with a slope, if it falls there */
    for (int64_t i = 0; i < tg_size(x); i++) {
        if (c.derivative[i] > 0 && falling >= 0) {
            const double where = refine(tape, activation, at[falling], at[i]),
                         value = tg_item(tg_activate(activation, tg_constant(tape, TG_F64, &where, TG_SCALAR), NULL));
            const bool as_low = fabs(value - lowest.value) < 1e-12; /* but for rounding */
            if (isfinite(value) &&
                (isnan(lowest.value) || (as_low ? fabs(where) < fabs(lowest.at) : value < lowest.value)))
                lowest = (minimum){where, value};
        }
        falling = c.derivative[i] < 0 ? i : c.derivative[i] == 0 ? falling : -1;
    }
    return lowest;
}

static void add_row(table *t, tg_tape *tape, tg_activation activation, tg_tensor x, curve exact)
{
    const curve c = curve_of(activation, x);
    const double sides[2] = {-1, 1};
    char text[NUMBER_TEXT];
    if (!c.value || !c.derivative || !exact.value || !exact.derivative)
        return; /* the tape has the error */
    double error = 0, derivative_error = 0;
    for (int64_t i = 0; i < tg_size(x); i++) {
        error = fmax(error, fabs(c.value[i] - exact.value[i]));
        derivative_error = fmax(derivative_error, fabs(c.derivative[i] - exact.derivative[i]));
    }
    const minimum lowest = lowest_of(tape, activation, x, c);
    const bool approximates = activation == TG_GELU_TANH || activation == TG_GELU_QUICK;
    tg_tensor ends = tg_activate(activation, tg_constant(tape, TG_F64, sides, TG_SHAPE(2)), NULL);
    table_add_row(t);
    table_add_cell(t, "%s", tg_activation_label(activation));
    const double numbers[] = {tg_at(ends, 0), tg_at(ends, 1), lowest.at, lowest.value};
    for (int i = 0; i < 4; i++)
        table_add_cell(t, "%s", i >= 2 && isnan(lowest.at) ? "-" : number_placed(numbers[i], 7, false, text));
    if (approximates) {
        table_add_cell(t, "%.3e", error);
        table_add_cell(t, "%.3e", derivative_error);
    }
}

static void print_table(tg_tape *tape)
{
    tg_tensor x = line(tape, -8, 8, 160001);
    const curve exact = curve_of(TG_GELU_EXACT, x);
    table *t = table_new(1);
    table_add_columns(t, "activation|f(-1)|f(1)");
    table_add_column(t,
                     &(table_column){.name = "lowest at",
                                     .meaning = "the lowest minimum with slopes on both sides, on [-8, 8]; of several "
                                                "the one nearest to 0"});
    table_add_columns(t, "lowest");
    table_add_column(t,
                     &(table_column){.name = "error of f", .meaning = "largest distance from gelu_exact on [-8, 8]"});
    table_add_column(t, &(table_column){.name = "error of f'", .meaning = "the same of the first derivatives"});
    for (int a = 0; tg_activation_name((tg_activation)a); a++)
        if (has_curve((tg_activation)a))
            add_row(t, tape, (tg_activation)a, x, exact);
    table_print(t, "table", stdout);
    table_free(t);
}

/* A moment with five decimals. Behind a pole it is infinite, and a sum over some points near it any number. */
static void add_moment(table *t, double moment)
{
    char text[NUMBER_TEXT];
    table_add_cell(t, "%s", fabs(moment) < 1e9 ? number_placed(moment, 5, false, text) : "none");
}

/* What each does to a standard normal number; a gate, with the value 1. */
static void print_normal(void)
{
    char text[NUMBER_TEXT];
    table *t = table_new(1);
    table_add_columns(t, "activation|mean");
    table_add_column(
        t, &(table_column){.name = "variance", .meaning = "of f(z), z standard normal; none: infinite or undefined"});
    table_add_column(t, &(table_column){.name = "gain", .meaning = "weights of deviation gain / sqrt(fan_in) keep it"});
    table_add_column(t, &(table_column){.name = "E f'^2", .meaning = "factor of the variance of gradients"});
    table_add_column(t, &(table_column){.name = "dead", .meaning = "share of z where f' is 0"});
    table_add_column(t,
                     &(table_column){.name = "Lipschitz", .meaning = "the largest |f'| on [-8, 8], in steps of 0.001"});
    for (int a = 0; tg_activation_name((tg_activation)a); a++) {
        tg_moments m;
        if (!tg_activation_measure((tg_activation)a, &m))
            continue;
        table_add_row(t);
        table_add_cell(t, "%s", tg_activation_label((tg_activation)a));
        add_moment(t, m.mean);
        add_moment(t, m.variance);
        table_add_cell(t, "%.5f", tg_activation_gain((tg_activation)a));
        add_moment(t, m.derivative_square);
        table_add_cell(t, "%.2f %%", 100 * m.dead);
        table_add_cell(t, "%s",
                       isfinite(m.largest_derivative) ? number_placed(m.largest_derivative, 4, false, text) : "none");
    }
    putchar('\n');
    table_print(t, "table", stdout);
    table_free(t);
}

static void print_formulas(void)
{
    putchar('\n');
    for (int a = 0; tg_activation_name((tg_activation)a); a++)
        printf("%-17s %s\n", tg_activation_label((tg_activation)a), tg_activation_formula((tg_activation)a));
}

/* ---- the file ---- */

/* Writes the rows of one curve, or of its difference from another. Two empty lines follow, which separate data sets in
 * gnuplot. */
static void write_curve(FILE *file, const char *kind, const char *name, tg_tensor x, curve c, const curve *minus)
{
    const bool complete =
        c.value && c.derivative && (!minus || (minus->value && minus->derivative)); /* else the tape has the error */
    for (int64_t i = 0; complete && i < tg_size(x); i++)
        fprintf(file, "%s%s,%.9g,%.17g,%.17g\n", kind, name, tg_at(x, i),
                number_unsigned(c.value[i] - (minus ? minus->value[i] : 0)),
                number_unsigned(c.derivative[i] - (minus ? minus->derivative[i] : 0)));
    fputs("\n\n", file);
}

typedef struct drawing {
    tg_tape *tape;
    const settings *settings;
} drawing;

static bool write_curves(const void *context, FILE *file)
{
    const drawing *d = context;
    tg_tensor x = line(d->tape, d->settings->from, d->settings->to, d->settings->points);
    const curve exact = curve_of(TG_GELU_EXACT, x);
    fputs("activation,x,value,derivative\n", file);
    for (int a = 0; tg_activation_name((tg_activation)a); a++)
        if (has_curve((tg_activation)a))
            write_curve(file, a > TG_REGLU_SQUARED ? "formula " : "", net_activation_label((tg_activation)a), x,
                        curve_of((tg_activation)a, x), NULL);
    write_curve(file, "difference_", "gelu_tanh", x, curve_of(TG_GELU_TANH, x), &exact);
    write_curve(file, "difference_", "gelu_quick", x, curve_of(TG_GELU_QUICK, x), &exact);
    return !tg_tape_error(d->tape);
}

/* ---- second moments in nets at the start ---- */

/* Of a net with as many inputs and outputs as its hidden layers have units, for 64 normal rows: forward E y^2 and
 * backward E (dL/dx)^2 for dL/dy of moment 1. Infinite or NaN where a number of the net overflows. False if it cannot
 * be measured. */
static bool measure(tg_init init, tg_activation activation, int width, int depth, double moments[2])
{
    enum { ROWS = 64 };
    tg_mlp_config config = {.inputs = width,
                            .outputs = width,
                            .activation = activation,
                            .equal_width = true,
                            .init = init,
                            .dtype = TG_F64};
    const int64_t size = (int64_t)ROWS * width;
    for (int i = 0; i < depth; i++)
        config.hidden[i] = width;
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &config);
    tg_tape *tape = tg_tape_new();
    double *normal = malloc((size_t)size * sizeof *normal);
    for (int64_t i = 0; normal && i < size; i++)
        normal[i] = tg_rng_normal(&rng);
    const tg_tensor x = tg_variable(tape, TG_F64, normal, TG_SHAPE(ROWS, width)), y = tg_mlp_forward(net, x);
    for (int64_t i = 0; normal && i < size; i++)
        normal[i] = tg_rng_normal(&rng);
    const tg_tensor loss = tg_sum(tg_mul(y, tg_constant(tape, TG_F64, normal, TG_SHAPE(ROWS, width))));
    const bool fine = tg_backward(loss);
    const double *out = fine ? tg_f64(y) : NULL, *in = fine ? tg_f64(tg_gradient(x)) : NULL;
    moments[0] = moments[1] = 0;
    for (int64_t i = 0; out && in && i < size; i++) {
        moments[0] += out[i] * out[i] / (double)size;
        moments[1] += in[i] * in[i] / (double)size;
    }
    free(normal);
    tg_tape_free(tape);
    tg_mlp_free(net);
    return out && in;
}

/* Returns the exit status. */
static int print_moments(int width)
{
    bool fine = true;
    static const int depths[] = {2, 8, 32};
    static const tg_init inits[] = {TG_INIT_VARIANCE_PRESERVING, TG_INIT_DEFAULT};
    table *t = table_new(1);
    table_add_columns(t, "activation|initialiser|forward, 2|8|32|backward, 2|8|32");
    for (int a = 0; tg_activation_name((tg_activation)a); a++)
        for (int i = 0; i < 2; i++) {
            double moments[3][2];
            for (int d = 0; d < 3; d++)
                fine &= measure(inits[i], (tg_activation)a, width, depths[d], moments[d]);
            table_add_row(t);
            table_add_cell(t, "%s", tg_activation_name((tg_activation)a));
            table_add_cell(t, "%s", tg_init_name(inits[i]));
            for (int direction = 0; direction < 2; direction++)
                for (int d = 0; d < 3; d++)
                    table_add_cell(t, isfinite(moments[d][direction]) ? "%.2g" : "overflows", moments[d][direction]);
        }
    if (fine)
        table_print(t, "markdown", stdout);
    else
        terminal_say("activations", NULL, "out of memory");
    table_free(t);
    return !fine;
}

/* ---- the program ---- */

/* Writes and draws the curves; returns the exit status. */
static int write_and_draw(const settings *s, tg_tape *tape)
{
    tg_error error;
    const bool written = files_make_folder(s->out, &error) &&
                         files_write(s->out, "activations.csv", write_curves, &(drawing){tape, s}, &error);
    if (tg_tape_error(tape) || !written) {
        terminal_say("activations", NULL, tg_tape_error(tape) ? tg_tape_error(tape) : error.text);
        return 1;
    }
    printf("\nwrote %s/activations.csv\n", plain(s->out));
    if (s->no_plots)
        return 0;
    const plots_outcome outcome = plots_run("activations.gp", s->out, &error);
    if (outcome == PLOTS_DRAWN)
        printf("wrote %s/activations.png, activations.svg\n", plain(s->out));
    else
        terminal_say("activations", NULL, error.text);
    return outcome == PLOTS_INTERRUPTED ? signals_status() : outcome == PLOTS_FAILED;
}

/* Adds a list of formulas to the activations. */
static bool add_formulas(const char *list, tg_error *error)
{
    char word[TG_FORMULA_LENGTH + 1];
    tg_activation added;
    tg_error wrong;
    while (net_next_activation(&list, word, sizeof word))
        if (!tg_activation_read(word, &added, &wrong))
            return tg_fail(error, "'%.100s': %s", word, wrong.text);
    return true;
}

int main(int argc, char **argv)
{
    static const char *const of_curves[] = {"from", "to", "points", "out", "no-plots", NULL};
    settings s = {.out = "results", .from = -4, .to = 4, .points = 801};
    tg_error error;
    options_parse(&program, argc, argv, &s);
    if (!add_formulas(s.formula, &error)) {
        terminal_say("activations", "--formula", error.text);
        return 2;
    }
    if (s.moments && options_first(&s.given, of_curves)) {
        fprintf(stderr, "activations: --%s is not for --moments, which draws nothing\n",
                options_first(&s.given, of_curves));
        return 2;
    }
    if (s.from >= s.to) {
        fprintf(stderr, "activations: --from %g is not left of --to %g\n", s.from, s.to);
        return 2;
    }
    if (s.moments)
        return print_moments(s.moments);
    if (!files_check_folder(s.out, &error) || !files_check_name(s.out, "activations.csv", &error)) {
        terminal_say("activations", "--out", error.text);
        return 2;
    }
    tg_tape *tape = tg_tape_new();
    if (!tape) {
        fputs("activations: out of memory\n", stderr);
        return 1;
    }
    print_table(tape);
    if (s.formula)
        print_normal();
    print_formulas();
    const int status = write_and_draw(&s, tape);
    tg_tape_free(tape);
    return status;
}
