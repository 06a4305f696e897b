/* GELU and SiLU in double precision against MPFR: 10^7 random numbers and all edges, on every instruction set that runs
 * here. Part of `make check-long` only, which installs MPFR where it can.
 *
 *     build/bin/against-mpfr [NUMBERS]
 *
 * The last line counts the bounds that are broken; the exit status is 1 if there are any.
 */
#include "tests/accuracy/accuracy.h"
#include "examples/programs/run/jobs.h"

#include <math.h>
#include <mpfr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FORMS = 4, BITS = 120, CHUNK = 1000 };

static const char *const forms[FORMS] = {"gelu_exact", "gelu_tanh", "gelu_quick", "silu"};

typedef struct findings {
    const reference_function *function;
    int sets;
    const tg_kernel_set *set[ACCURACY_SETS];
    accuracy worst[ACCURACY_SETS][REFERENCE_ORDERS];
} findings;

static long numbers = 10000000;

/* ---- the reference: value and two derivatives to 120 bits, by the textbook ---- */

typedef struct workplace {
    mpfr_t exact[REFERENCE_ORDERS];
    mpfr_t x, w, w1, w2, s, q, e, square, scratch; /* w(x) of s = 1/(1 + e^-w) and its derivatives; q = 1 - s */
    mpfr_t density, root_half, a, k;               /* 1/sqrt(2 pi), sqrt(1/2), 0.044715, 1.702 */
} workplace;

static void workplace_open(workplace *m)
{
    mpfr_set_default_prec(BITS);
    mpfr_inits(m->exact[0], m->exact[1], m->exact[2], m->x, m->w, m->w1, m->w2, m->s, m->q, m->e, m->square, m->scratch,
               m->density, m->root_half, m->a, m->k, (mpfr_ptr)0);
    mpfr_const_pi(m->density, MPFR_RNDN);
    mpfr_mul_ui(m->density, m->density, 2, MPFR_RNDN);
    mpfr_rec_sqrt(m->density, m->density, MPFR_RNDN);
    mpfr_set_d(m->root_half, 0.5, MPFR_RNDN);
    mpfr_sqrt(m->root_half, m->root_half, MPFR_RNDN);
    mpfr_set_str(m->a, "0.044715", 10, MPFR_RNDN);
    mpfr_set_str(m->k, "1.702", 10, MPFR_RNDN);
}

static void workplace_close(workplace *m)
{
    mpfr_clears(m->exact[0], m->exact[1], m->exact[2], m->x, m->w, m->w1, m->w2, m->s, m->q, m->e, m->square,
                m->scratch, m->density, m->root_half, m->a, m->k, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* x Phi(x), Phi + x phi, phi (2 - x^2) */
static void find_gelu_exact(workplace *m)
{
    mpfr_mul_d(m->square, m->square, -0.5, MPFR_RNDN);
    mpfr_exp(m->e, m->square, MPFR_RNDN);
    mpfr_mul(m->e, m->e, m->density, MPFR_RNDN);
    mpfr_mul(m->scratch, m->x, m->root_half, MPFR_RNDN);
    mpfr_neg(m->scratch, m->scratch, MPFR_RNDN);
    mpfr_erfc(m->s, m->scratch, MPFR_RNDN);
    mpfr_div_ui(m->s, m->s, 2, MPFR_RNDN);
    mpfr_mul(m->exact[0], m->x, m->s, MPFR_RNDN);
    mpfr_fma(m->exact[1], m->x, m->e, m->s, MPFR_RNDN);
    mpfr_mul_ui(m->square, m->square, 2, MPFR_RNDN);
    mpfr_add_ui(m->square, m->square, 2, MPFR_RNDN);
    mpfr_mul(m->exact[2], m->e, m->square, MPFR_RNDN);
}

/* x s, s + x w' s q, s q (2 w' + x w'' + x w'^2 (q - s)) */
static void find_logistic(workplace *m)
{
    mpfr_abs(m->e, m->w, MPFR_RNDN);
    mpfr_neg(m->e, m->e, MPFR_RNDN);
    mpfr_exp(m->e, m->e, MPFR_RNDN);
    mpfr_add_ui(m->scratch, m->e, 1, MPFR_RNDN);
    mpfr_ui_div(m->s, 1, m->scratch, MPFR_RNDN);
    mpfr_mul(m->q, m->e, m->s, MPFR_RNDN);
    if (mpfr_sgn(m->w) < 0)
        mpfr_swap(m->s, m->q);
    mpfr_mul(m->exact[0], m->x, m->s, MPFR_RNDN);
    mpfr_mul(m->e, m->s, m->q, MPFR_RNDN);
    mpfr_mul(m->scratch, m->x, m->w1, MPFR_RNDN);
    mpfr_fma(m->exact[1], m->scratch, m->e, m->s, MPFR_RNDN);
    mpfr_sub(m->q, m->q, m->s, MPFR_RNDN);
    mpfr_mul(m->q, m->q, m->scratch, MPFR_RNDN);
    mpfr_add_ui(m->q, m->q, 2, MPFR_RNDN);
    mpfr_mul(m->q, m->q, m->w1, MPFR_RNDN);
    mpfr_fma(m->q, m->x, m->w2, m->q, MPFR_RNDN);
    mpfr_mul(m->exact[2], m->e, m->q, MPFR_RNDN);
}

static void find_truth(workplace *m, int form, double x)
{
    mpfr_set_d(m->x, x, MPFR_RNDN);
    mpfr_sqr(m->square, m->x, MPFR_RNDN);
    mpfr_set_ui(m->w2, 0, MPFR_RNDN);
    mpfr_set_ui(m->w1, 1, MPFR_RNDN);
    mpfr_set(m->w, m->x, MPFR_RNDN);
    if (form == 0) {
        find_gelu_exact(m);
        return;
    }
    if (form == 1) { /* w = 4 phi(0) (x + a x^3) */
        mpfr_mul(m->scratch, m->square, m->a, MPFR_RNDN);
        mpfr_fma(m->w, m->scratch, m->x, m->x, MPFR_RNDN);
        mpfr_mul_ui(m->scratch, m->scratch, 3, MPFR_RNDN);
        mpfr_add_ui(m->w1, m->scratch, 1, MPFR_RNDN);
        mpfr_mul(m->w2, m->a, m->x, MPFR_RNDN);
        mpfr_mul_ui(m->w2, m->w2, 6, MPFR_RNDN);
        mpfr_mul_ui(m->scratch, m->density, 4, MPFR_RNDN);
        mpfr_mul(m->w, m->w, m->scratch, MPFR_RNDN);
        mpfr_mul(m->w1, m->w1, m->scratch, MPFR_RNDN);
        mpfr_mul(m->w2, m->w2, m->scratch, MPFR_RNDN);
    } else if (form == 2) {
        mpfr_mul(m->w, m->x, m->k, MPFR_RNDN);
        mpfr_set(m->w1, m->k, MPFR_RNDN);
    }
    find_logistic(m);
}

/* ---- the comparison ---- */

static void compare(workplace *m, int order, double x, double y, bool near_zero, accuracy *worst)
{
    mpfr_srcptr exact = m->exact[order];
    mpfr_sub_d(m->scratch, exact, y, MPFR_RNDN);
    double error = fabs(mpfr_get_d(m->scratch, MPFR_RNDU));
    error = isfinite(error) ? error : INFINITY;
    if (near_zero) {
        if (!(error <= worst->max_abs))
            worst->max_abs = error, worst->abs_at = x;
        return;
    }
    /* MPFR's exponent of a number in [1, 2) is 1. */
    const long exponent = mpfr_regular_p(exact) && mpfr_get_exp(exact) > -1021 ? mpfr_get_exp(exact) : -1021;
    mpfr_mul_2si(m->scratch, m->scratch, 53 - exponent, MPFR_RNDN);
    error = isfinite(y) ? fabs(mpfr_get_d(m->scratch, MPFR_RNDN)) : INFINITY;
    if (!(error <= worst->max_ulp))
        worst->max_ulp = error, worst->ulp_at = x;
}

static void compare_all(workplace *m, int form, findings *found, size_t n, const double *x)
{
    double y[ACCURACY_SETS][REFERENCE_ORDERS][CHUNK];
    for (int s = 0; s < found->sets; s++)
        for (int order = 0; order < REFERENCE_ORDERS; order++)
            accuracy_run_f64(found->set[s], forms[form], order, n, x, y[s][order]);
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        find_truth(m, form, x[i]);
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
    workplace m;
    workplace_open(&m);
    double x[CHUNK];
    const size_t edges = accuracy_edge_doubles(x);
    compare_all(&m, form, &found, edges, x);
    tg_rng rng = tg_rng_seed(19);
    for (long done = 0; done < numbers;) {
        size_t n = 0;
        for (; n < CHUNK && done < numbers; n++, done++)
            x[n] = accuracy_random_double(&rng, (size_t)done);
        compare_all(&m, form, &found, n, x);
        jobs_report(link, &(jobs_progress){.fraction = (double)done / (double)numbers, .loss = NAN, .accuracy = NAN});
    }
    workplace_close(&m);
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
