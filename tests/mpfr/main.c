/* GELU and SiLU in double precision against MPFR: 10^7 random numbers and all edges, on every instruction set that runs
 * here. Part of `make check-long` only, which installs MPFR where it can.
 *
 *     build/bin/against-mpfr [NUMBERS]
 *
 * The last line counts the bounds that are broken; the exit status is 1 if there are any.
 */
#include "tests/accuracy/accuracy.h"
#include "tests/accuracy/exact.h"
#include "examples/programs/run/jobs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FORMS = 4, CHUNK = 1000 };

static const char *const forms[FORMS] = {"gelu_exact", "gelu_tanh", "gelu_quick", "silu"};

typedef struct findings {
    const reference_function *function;
    int sets;
    const tg_kernel_set *set[ACCURACY_SETS];
    accuracy worst[ACCURACY_SETS][REFERENCE_ORDERS];
} findings;

static long numbers = 10000000;

static void compare(exact_place *m, int order, double x, double y, bool near_zero, accuracy *worst)
{
    const double error = near_zero ? exact_error(m, order, y) : exact_ulps(m, order, y, true);
    if (near_zero && !(error <= worst->max_abs))
        worst->max_abs = error, worst->abs_at = x;
    else if (!near_zero && !(error <= worst->max_ulp))
        worst->max_ulp = error, worst->ulp_at = x;
}

static void compare_all(exact_place *m, int form, findings *found, size_t n, const double *x)
{
    double y[ACCURACY_SETS][REFERENCE_ORDERS][CHUNK];
    for (int s = 0; s < found->sets; s++)
        for (int order = 0; order < REFERENCE_ORDERS; order++)
            accuracy_run_f64(found->set[s], forms[form], order, n, x, y[s][order]);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        exact_find(m, x[i]);
        for (int order = 0; order < REFERENCE_ORDERS; order++) {
            const bool near_zero = accuracy_near_zero(found->function, order, x[i]);
            for (int s = 0; s < found->sets; s++)
                compare(m, order, x[i], y[s][order][i], near_zero, &found->worst[s][order]);
        }
    }
}

typedef struct run {
    findings found[FORMS];
} run;

static int measure(int form, jobs_link *link, void *context)
{
    const accuracy_survey survey = accuracy_begin(forms[form]);
    findings found = {.function = survey.function, .sets = survey.sets};
    memcpy(found.set, survey.set, sizeof found.set);
    exact_place *m = exact_new(forms[form]);
    if (!m)
        return 1;
    double x[CHUNK];
    const size_t edges = accuracy_edge_doubles(x);
    compare_all(m, form, &found, edges, x);
    tg_rng rng = tg_rng_seed(19);
    for (long done = 0; done < numbers;) {
        size_t n = 0;
        for (; n < CHUNK && done < numbers; n++, done++)
            x[n] = accuracy_random_double(&rng, (size_t)done);
        compare_all(m, form, &found, n, x);
        jobs_report(link, &(jobs_progress){.fraction = (double)done / (double)numbers, .loss = NAN, .accuracy = NAN});
    }
    exact_free(m);
    ((run *)context)->found[form] = found;
    return 0;
}

static const char *name_of(int form, void *context)
{
    (void)context;
    return forms[form];
}

/* ---- the program ---- */

static int print(const run *r)
{
    int broken = 0;
    printf("%-12s %5s  %-8s %8s %8s %24s %10s %10s\n", "double", "order", "isa", "ulp", "allowed", "at", "near zero",
           "allowed");
    for (int form = 0; form < FORMS; form++)
        for (int order = 0; order < REFERENCE_ORDERS; order++)
            for (int s = 0; s < r->found[form].sets; s++) {
                const accuracy *worst = &r->found[form].worst[s][order];
                const accuracy_bound bound = accuracy_bound_of(forms[form], true, order);
                broken += !accuracy_holds(worst, bound);
                printf("%-12s %5d  %-8s %8.4f %8g %24.17g %10.2e %10.2e%s\n", forms[form], order,
                       r->found[form].set[s]->isa, worst->max_ulp, bound.ulp, worst->ulp_at, worst->max_abs,
                       bound.absolute, accuracy_holds(worst, bound) ? "" : " !");
            }
    printf("%ld numbers and the edges against MPFR: %d bounds broken\n", numbers, broken);
    return broken > 0;
}

int main(int argc, char **argv)
{
    numbers = argc > 1 ? atol(argv[1]) : numbers;
    if (argc > 2 || numbers <= 0) {
        fprintf(stderr, "usage: against-mpfr [NUMBERS]\n");
        return 2;
    }
    run *r = mmap(NULL, sizeof *r, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); /* with the children */
    if (r == MAP_FAILED)
        return fprintf(stderr, "against-mpfr: out of memory\n"), 1;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    const jobs_outcome outcome = jobs_run(&(jobs_config){.count = FORMS,
                                                         .at_once = processors > 1 ? (int)processors : 1,
                                                         .context = r,
                                                         .run = measure,
                                                         .name = name_of,
                                                         .out = stderr,
                                                         .unit = "numbers"});
    return outcome.interrupted ? 130 : outcome.failed ? 1 : print(r);
}
