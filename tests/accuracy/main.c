/* Measures the largest errors of the kernels against an independent reference, and draws a picture of GELU's.
 *
 *     build/bin/accuracy --kernels gelu_exact,silu
 *     build/bin/accuracy --out results             # exactness.csv, .png and .svg too
 *     build/bin/accuracy --load ./mine.so:my_gelu --against gelu_exact     # your function
 */
#include "examples/programs/report/files.h"
#include "examples/programs/run/jobs.h"
#include "examples/programs/run/options.h"
#include "examples/programs/system/signals.h"
#include "plots/plots.h"
#include "tests/accuracy/report.h"
#include "tests/accuracy/yours.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct settings {
    bool exhaustive, csv, no_plots;
    const char *kernels, *out, *python;
    int jobs, every;
    const char *load, *against, *derivative, *second, *type;
    bool arrays;
    double at_most;
} settings;

#define AT(member) offsetof(settings, member)

static const char *const types[] = {"double", "float", NULL};

static const program_option table[] = {
    {NULL, NULL, "The kernels:", OPTION_GROUP},
    {"csv", NULL,
     "print kernel,precision,order,isa,max_ulp,max_abs,at (with --load function,order,range,max_ulp,at): max_abs is "
     "the largest absolute error where a derivative "
     "crosses zero, which max_ulp leaves out; at is the input with max_ulp",
     OPTION_FLAG, AT(csv)},
    {"kernels", "NAMES", "comma-separated, or all [all; with --exhaustive GELU and SiLU]", OPTION_TEXT, AT(kernels)},
    {"jobs", "N", "kernels to measure at the same time", OPTION_INT, AT(jobs), 1, 1024},
    {NULL, NULL, "A function of yours (docs/exactness.md):", OPTION_GROUP},
    {"load", "FILE:NAME", "measure this function of a shared library: double f(double), or as the next two say",
     OPTION_TEXT, AT(load)},
    {"type", "TYPE", "of its number and result", OPTION_CHOICE, AT(type), .choices = types},
    {"arrays", NULL, "it is void f(size_t n, const TYPE *x, TYPE *y)", OPTION_FLAG, AT(arrays)},
    {"against", "FORM", "what it computes: gelu_exact, gelu_tanh, gelu_quick or silu", OPTION_TEXT, AT(against)},
    {"derivative", "NAME", "the function of its first derivative in that file; without it only the value is measured",
     OPTION_TEXT, AT(derivative)},
    {"second", "NAME", "that of its second derivative", OPTION_TEXT, AT(second)},
    {"every", "N", "measure each N-th float, or 10^9/N doubles", OPTION_INT, AT(every), 1, 100000000},
    {"at-most", "ULP", "status 1 if an error is larger than this", OPTION_REAL, AT(at_most), 0, 1e300},
    {NULL, NULL, "Both:", OPTION_GROUP},
    {"exhaustive", NULL, "measure all 2^32 floats, which takes minutes, instead of every 1000th", OPTION_FLAG,
     AT(exhaustive)},
    {"out", "DIR",
     "folder for exactness.csv and its picture: the error of GELU over x, by several ways to compute it; with --load, "
     "yours.csv and its picture",
     OPTION_TEXT, AT(out)},
    {"no-plots", NULL, "draw nothing", OPTION_FLAG, AT(no_plots)},
    {"python", "PROGRAM", "the Python that has PyTorch, for exactness.csv", OPTION_TEXT, AT(python)},
    {0}};

static const options_program program = {.name = "accuracy",
                                        .about = "Measures the largest error of value, first and second derivative of "
                                                 "each kernel in units in the last place (ulp), for "
                                                 "every instruction set that runs here. Status 1 if a bound is broken.",
                                        .table = table,
                                        .after = "Example: accuracy --kernels gelu_exact,silu --out results"};

static int draw(const settings *s, const char *script, const char *pictures)
{
    tg_error error;
    if (s->no_plots)
        return 0;
    const plots_outcome outcome = plots_run(script, s->out, &error);
    if (outcome == PLOTS_DRAWN)
        fprintf(stderr, "wrote %s/%s.png, %s.svg\n", s->out, pictures, pictures);
    else
        fprintf(stderr, "accuracy: %s\n", error.text);
    return outcome == PLOTS_INTERRUPTED ? signals_status() : outcome == PLOTS_FAILED;
}

static int draw_exactness(const settings *s)
{
    tg_error error;
    bool has_pytorch;
    if (!files_make_folder(s->out, &error) || !accuracy_curves_write(s->out, s->python, &has_pytorch, &error)) {
        fprintf(stderr, "accuracy: %s\n", error.text);
        return 1;
    }
    fprintf(stderr, "wrote %s/exactness.csv", s->out);
    if (has_pytorch)
        putc('\n', stderr);
    else
        fprintf(stderr, ", without PyTorch: %s cannot import it (see --python)\n", s->python);
    return draw(s, "exactness.gp", "exactness");
}

/* The exit status for a function of the user. */
static int measure_yours(const settings *s)
{
    const yours_request request = {.load = s->load,
                                   .against = s->against,
                                   .derivative = s->derivative,
                                   .second = s->second,
                                   .single = strcmp(s->type, "float") == 0,
                                   .arrays = s->arrays,
                                   .every = s->exhaustive ? 1 : s->every,
                                   .csv = s->csv,
                                   .at_most = s->at_most,
                                   .out = s->out};
    tg_error error;
    if (s->kernels || !s->against) {
        fputs(s->kernels ? "accuracy: --kernels does not go with --load\n"
                         : "accuracy: --load goes with --against: what the function computes\n",
              stderr);
        return 2;
    }
    if (s->out && (!files_check_folder(s->out, &error) || !files_make_folder(s->out, &error))) {
        fprintf(stderr, "accuracy: --out: %s\n", error.text);
        return 2;
    }
    const int status = yours_report(&request, stdout, &error);
    if (status)
        fprintf(stderr, "accuracy: %s\n", error.text);
    const int drawn = s->out && status != 2 ? draw(s, "yours.gp", "yours") : 0;
    return status ? status : drawn;
}

int main(int argc, char **argv)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    settings s = {.python = "python3", .type = "double", .every = 1000, .jobs = processors > 1 ? (int)processors : 1};
    options_parse(&program, argc, argv, &s);
    if (!s.load && (s.against || s.derivative || s.second || s.arrays || s.at_most > 0)) {
        fputs("accuracy: --against, --derivative, --second, --arrays and --at-most go with --load\n", stderr);
        return 2;
    }
    if (!s.out && s.no_plots) {
        fputs("accuracy: --no-plots goes with --out\n", stderr);
        return 2;
    }
    if (s.load)
        return measure_yours(&s);
    const accuracy_request request = {
        .kernels = s.kernels, .exhaustive = s.exhaustive, .csv = s.csv, .at_once = s.jobs};
    tg_error error;
    if (!accuracy_request_check(&request, error.text, sizeof error.text)) {
        fprintf(stderr, "accuracy: --kernels: %s\n", error.text);
        return 2;
    }
    if (s.out && !files_check_folder(s.out, &error)) {
        fprintf(stderr, "accuracy: --out: %s\n", error.text);
        return 2;
    }
    const int status = accuracy_report(&request, stdout);
    const int drawn = s.out && status != 130 ? draw_exactness(&s) : 0;
    return drawn ? drawn : status;
}
