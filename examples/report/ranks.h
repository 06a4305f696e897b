/* Compares methods over several data sets: ranks, the Friedman test, and the Nemenyi test's critical difference.
 *
 *     double loss[9][8];                                     // [sets][methods], smaller is better
 *     ranks r = ranks_of(&loss[0][0], 9, 8);
 *     if (r.p < 0.05 && r.mean[1] - r.mean[0] > r.critical) ...   // method 0 is better than method 1
 *
 * After Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006).
 */
#ifndef REPORT_RANKS_H
#define REPORT_RANKS_H

enum { RANKS_METHODS = 10 }; /* at most */

typedef struct ranks {
    int sets, methods;
    double mean[RANKS_METHODS]; /* 1 is best; equal losses share the mean of their ranks */
    double chi_square;          /* Friedman's, methods - 1 degrees of freedom */
    double f, p;                /* Iman and Davenport's statistic, and its p-value */
    double critical; /* mean ranks that are farther apart differ, at 5 % for all pairs together; NaN for one method or
                        more than ten */
} ranks;

/* The ranks of values[set * methods + method]. A set with a NaN is left out. */
ranks ranks_of(const double *values, int sets, int methods);

#endif
