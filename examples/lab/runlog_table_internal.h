/* How the table of a comparison is made: what stands in its cells, how it is laid out, and what its signs mean. */
#ifndef LAB_RUNLOG_TABLE_INTERNAL_H
#define LAB_RUNLOG_TABLE_INTERNAL_H

#include "examples/lab/runlog_internal.h"
#include "examples/lab/terminal.h"

typedef struct table_format table_format;

enum { CELL = 64, HUGE_LOSS = 100000 };

/* The columns from left to right. */
typedef enum {
    ACTIVATION,
    ACCURACY,
    ACCURACY_DIFFERENCE,
    VALIDATION_ACCURACY,
    LOSS,
    LOSS_DIFFERENCE,
    VALIDATION_LOSS,
    RMSE,
    R2,
    CALIBRATION,
    BETTER,
    STEP_TIME,
    PARAMETERS,
    COLUMNS
} table_column;

typedef enum { NAME, VALUE, DIFFERENCE, COUNT } table_content;

/* A format other than the terminal's. */
struct table_format {
    const char *name;
    const char *before, *begin, *between, *end, *after; /* of the table, and of a row */
    const char *note;                                   /* before a note; NULL: no notes */
    bool utf8, marks_up;                                /* notes are part of the text, not comments */
};

typedef struct {
    const runlog_group *groups; /* [count] */
    const char *note;
    int count;
    terminal screen;
    const table_format *format; /* NULL: a table on the terminal */
    bool accuracy;              /* false in a regression */
    bool test;                  /* there is a test part */
    bool by_fold;               /* there is one seed, whose folds are the values */
    int folds;                  /* of a seed; 1 if it has none */
    runlog_metric loss_metric, accuracy_metric;
    int loss_decimals, unit_decimals; /* of the loss; of errors in the unit of the target */
    bool shown[COLUMNS];
} table_view;

/* What a column shows; `metric` of a value or a difference. */
table_content table_content_of(const table_view *table, table_column which, runlog_metric *metric);

/* What stands above a column, and in it. A loss of a regression is one of standardised targets, and says so. */
void table_write_title(const table_view *table, table_column which, char title[CELL]);
void table_write_cell(const table_view *table, table_column which, const runlog_group *group, char cell[CELL]);

/* Decimals that show three significant digits of the smallest. */
int table_decimals(const runlog_group *groups, int count, runlog_metric metric);

/* The difference is beyond chance, with all that are judged taken together. */
bool table_is_clear(const runlog_group *group, runlog_metric metric);

/* The format of that name, NULL for "table"; the table in it; and a text with what it wants before its special letters.
 */
const table_format *table_format_of(const char *name);
void table_print_formatted(const table_view *table, FILE *out);
void table_put_text(const table_format *format, const char *text, FILE *out);

/* What the signs mean, below the table. */
void table_print_notes(const table_view *table, FILE *out);

#endif
