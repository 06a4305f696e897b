/* Wrong and right derivatives written down before the checker that they test: fresh_wrong.def and fresh_right.def, and,
 * at the edge of rounding, edge_wrong.def and edge_right.def.
 *
 *     for (int i = 0; i < fresh_wrong_count; i++)
 *         ck_assert_msg(!fresh_check(&fresh_wrong[i], &options).passed, "%s", fresh_wrong[i].what);
 */
#ifndef FRESH_H
#define FRESH_H

#include <tapegrad.h>

enum { FRESH_MOST = 256 };

typedef struct fresh_box {
    const char *name, *what;
    int n, m;
    double point[FRESH_MOST];
    void (*body)(const double *x, double *y, const double *v, double *g, bool back);
    double accuracy; /* promised of its values; 0: none */
    bool hard;       /* a right one that noise may hide, a wrong one that is off by less than 3 % */
    double noise;    /* relative, added to its values */
} fresh_box;

extern const fresh_box fresh_wrong[], fresh_right[], edge_wrong[], edge_right[];
extern const int fresh_wrong_count, fresh_right_count, edge_wrong_count, edge_right_count;

/* Where the list gives fewer numbers than there are inputs, they are repeated. */
tg_gradcheck_result fresh_check(const fresh_box *box, const tg_gradcheck_options *options);

#endif
