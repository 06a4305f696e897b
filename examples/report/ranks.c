#include "examples/report/ranks.h"
#include "examples/report/statistics.h"

#include <math.h>
#include <stdbool.h>

/* Adds the ranks within one set; false, with nothing added, if a value is missing. */
static bool add_ranks(const double *values, int methods, double sum[RANKS_METHODS])
{
    for (int i = 0; i < methods; i++)
        if (isnan(values[i]))
            return false;
    for (int i = 0; i < methods; i++) {
        int better = 0, equal = 0;
        for (int j = 0; j < methods; j++) {
            better += values[j] < values[i];
            equal += values[j] == values[i];
        }
        sum[i] += better + 0.5 * (equal + 1);
    }
    return true;
}

/* The studentised range statistic over sqrt(2), at 5 %, for 2 .. 10 methods: Demsar's table 5. */
static double critical_difference(int sets, int methods)
{
    static const double q[] = {1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};
    if (methods < 2 || methods > RANKS_METHODS || sets < 1)
        return NAN;
    return q[methods - 2] * sqrt(methods * (methods + 1.) / (6. * sets));
}

ranks ranks_of(const double *values, int sets, int methods)
{
    ranks r = {.methods = methods, .chi_square = NAN, .f = NAN, .p = NAN};
    double squares = 0;
    for (int set = 0; set < sets && methods <= RANKS_METHODS; set++)
        r.sets += add_ranks(values + set * methods, methods, r.mean);
    for (int i = 0; i < methods && i < RANKS_METHODS; i++) {
        r.mean[i] /= r.sets;
        squares += r.mean[i] * r.mean[i];
    }
    r.critical = critical_difference(r.sets, methods);
    if (r.sets < 2 || methods < 2 || methods > RANKS_METHODS)
        return r;
    const double n = r.sets, k = methods, first = k - 1, second = (k - 1) * (n - 1);
    r.chi_square = 12 * n / (k * (k + 1)) * (squares - k * (k + 1) * (k + 1) / 4);
    r.f = (n - 1) * r.chi_square / (n * (k - 1) - r.chi_square);
    r.p =
        isfinite(r.f) ? statistics_incomplete_beta(second / (second + first * fmax(r.f, 0)), second / 2, first / 2) : 0;
    return r;
}
