/* What `study deviation` compares: its grids, what texts say, what was published. A form is a number in
 * deviation_forms; lists end with zeros. */
#ifndef STUDY_DEVIATION_H
#define STUDY_DEVIATION_H

#include "examples/programs/study/study.h"

enum { DEVIATION_SCALES = 3, DEVIATION_FORMS = 8 };
extern const char *const deviation_forms[DEVIATION_FORMS];

/* Two forms, and what texts say of the perplexity of the first. */
typedef struct deviation_comparison {
    int one, other;
    const char *text, *said;
} deviation_comparison;
extern const deviation_comparison deviation_comparisons[];

/* Cells of another grid: their prefix, and their scales as in their names, and as shown. */
typedef struct deviation_other {
    const char *prefix, *about, *scale[DEVIATION_SCALES], *shown[DEVIATION_SCALES];
} deviation_other;
extern const deviation_other deviation_others[];

/* The difference of losses of two forms. */
typedef struct deviation_published {
    const char *source;
    int one, other;
    double difference;
} deviation_published;
extern const deviation_published deviation_published_list[];

void deviation_report(study_results *r, sheet *s);

#endif
