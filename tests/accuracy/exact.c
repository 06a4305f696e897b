#include "tests/accuracy/exact.h"

#if defined TG_MPFR

#include "tests/accuracy/reference.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>
#include <string.h>

enum { FORMS = 4, BITS = 120 };

static const char *const forms[FORMS] = {"gelu_exact", "gelu_tanh", "gelu_quick", "silu"};

struct exact_place {
    int form;
    mpfr_t exact[REFERENCE_ORDERS];
    mpfr_t x, w, w1, w2, s, q, e, square, scratch; /* w(x) of s = 1/(1 + e^-w) and its derivatives; q = 1 - s */
    mpfr_t density, root_half, a, k;               /* 1/sqrt(2 pi), sqrt(1/2), 0.044715, 1.702 */
};

static void open_numbers(exact_place *m)
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

static void close_numbers(exact_place *m)
{
    mpfr_clears(m->exact[0], m->exact[1], m->exact[2], m->x, m->w, m->w1, m->w2, m->s, m->q, m->e, m->square,
                m->scratch, m->density, m->root_half, m->a, m->k, (mpfr_ptr)0);
    mpfr_free_cache();
}

/* x Phi(x), Phi + x phi, phi (2 - x^2) */
static void find_gelu_exact(exact_place *m)
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
static void find_logistic(exact_place *m)
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

void exact_find(exact_place *m, double x)
{
    mpfr_set_d(m->x, x, MPFR_RNDN);
    mpfr_sqr(m->square, m->x, MPFR_RNDN);
    mpfr_set_ui(m->w2, 0, MPFR_RNDN);
    mpfr_set_ui(m->w1, 1, MPFR_RNDN);
    mpfr_set(m->w, m->x, MPFR_RNDN);
    if (m->form == 0) {
        find_gelu_exact(m);
        return;
    }
    if (m->form == 1) { /* w = 4 phi(0) (x + a x^3) */
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
    } else if (m->form == 2) {
        mpfr_mul(m->w, m->x, m->k, MPFR_RNDN);
        mpfr_set(m->w1, m->k, MPFR_RNDN);
    }
    find_logistic(m);
}

/* ---- what others see ---- */

bool exact_is_built(void)
{
    return true;
}

exact_place *exact_new(const char *function)
{
    int form = 0;
    while (form < FORMS && strcmp(forms[form], function) != 0)
        form++;
    exact_place *m = form < FORMS ? malloc(sizeof *m) : NULL;
    if (m) {
        open_numbers(m);
        m->form = form;
    }
    return m;
}

void exact_free(exact_place *m)
{
    if (m)
        close_numbers(m);
    free(m);
}

double exact_error(exact_place *m, int order, double y)
{
    if (!isfinite(y))
        return INFINITY;
    mpfr_sub_d(m->scratch, m->exact[order], y, MPFR_RNDN);
    return fabs(mpfr_get_d(m->scratch, MPFR_RNDU));
}

double exact_ulps(exact_place *m, int order, double y, bool is_double)
{
    /* MPFR's exponent of a number in [1, 2) is 1. */
    const long least = is_double ? -1021 : -125, digits = is_double ? 53 : 24;
    const long own = mpfr_regular_p(m->exact[order]) ? mpfr_get_exp(m->exact[order]) : least;
    if (!isfinite(y))
        return INFINITY;
    mpfr_sub_d(m->scratch, m->exact[order], y, MPFR_RNDN);
    mpfr_mul_2si(m->scratch, m->scratch, digits - (own > least ? own : least), MPFR_RNDN);
    return fabs(mpfr_get_d(m->scratch, MPFR_RNDN));
}

#else

#include <stddef.h>

bool exact_is_built(void)
{
    return false;
}

exact_place *exact_new(const char *function)
{
    (void)function;
    return NULL;
}

void exact_free(exact_place *m)
{
    (void)m;
}

void exact_find(exact_place *m, double x)
{
    (void)m, (void)x;
}

double exact_error(exact_place *m, int order, double y)
{
    (void)m, (void)order;
    return y;
}

double exact_ulps(exact_place *m, int order, double y, bool is_double)
{
    (void)m, (void)order, (void)is_double;
    return y;
}
#endif
