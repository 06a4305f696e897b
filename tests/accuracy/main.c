/* Measures the largest errors of the kernels against an independent reference, and draws a picture of GELU's.
 *
 *     build/bin/accuracy --kernels gelu_exact,silu
 *     build/bin/accuracy --out results             # exactness.csv, .png and .svg too
 */
#include "examples/programs/report/files.h"
#include "examples/programs/run/jobs.h"
#include "examples/programs/run/options.h"
#include "examples/programs/report/signals.h"
#include "plots/plots.h"
#include "tests/accuracy/report.h"

#include <stdio.h>
#include <unistd.h>

typedef struct settings {
    bool exhaustive, csv, no_plots;
    const char *kernels, *out, *python;
    int jobs;
} settings;

#define AT(member) offsetof(settings, member)

static const program_option table[] = {
    {"exhaustive", NULL, "measure all 2^32 floats, which takes minutes, instead of every 1000th", OPTION_FLAG,
     AT(exhaustive)},
    {"csv", NULL,
     "print kernel,precision,order,isa,max_ulp,max_abs,at: max_abs is the largest absolute error where a derivative "
     "crosses zero, which max_ulp leaves out; at is the input with max_ulp",
     OPTION_FLAG, AT(csv)},
    {"kernels", "NAMES", "comma-separated, or all [all; with --exhaustive GELU and SiLU]", OPTION_TEXT, AT(kernels)},
    {"jobs", "N", "kernels to measure at the same time", OPTION_INT, AT(jobs), 1, 1024},
    {"out", "DIR", "folder for exactness.csv and its picture: the error of GELU over x, by several ways to compute it",
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
    if (s->no_plots)
        return 0;
    const plots_outcome outcome = plots_run("exactness.gp", s->out, &error);
    if (outcome == PLOTS_DRAWN)
        fprintf(stderr, "wrote %s/exactness.png, exactness.svg\n", s->out);
    else
        fprintf(stderr, "accuracy: %s\n", error.text);
    return outcome == PLOTS_INTERRUPTED ? signals_status() : outcome == PLOTS_FAILED;
}

int main(int argc, char **argv)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    settings s = {.python = "python3", .jobs = processors > 1 ? (int)processors : 1};
    options_parse(&program, argc, argv, &s);
    const accuracy_request request = {
        .kernels = s.kernels, .exhaustive = s.exhaustive, .csv = s.csv, .at_once = s.jobs};
    tg_error error;
    if (!accuracy_request_check(&request, error.text, sizeof error.text)) {
        fprintf(stderr, "accuracy: --kernels: %s\n", error.text);
        return 2;
    }
    if (!s.out && s.no_plots) {
        fputs("accuracy: --no-plots goes with --out\n", stderr);
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
