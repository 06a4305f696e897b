/* The content of a table, for the files that print it. */
#pragma once

#include "examples/programs/report/memory.h"
#include "examples/programs/report/table.h"

typedef struct cell {
    const char *text; /* NULL: empty */
    table_mark mark;
    double strength;
} cell;

struct note {
    const char *text;
    bool verdict;
};

/* A column of cells, behind which come the columns of its fields in CSV. */
struct column {
    const char *name, *meaning;
    bool optional;
    int least;
    int fields; /* 0: this is such a field */
};

struct table {
    struct column *columns; /* [count] */
    cell *cells;            /* [rows, count] */
    struct note *notes;     /* [noted] */
    const char *caption;
    bool whole; /* columns without a text are kept */
    int count, rows, noted;
    int keys, key_end; /* keys that are still to be added, and the end of their columns */
    int next, last;    /* columns of the next cell of the last row, and of the one before */
    texts texts;       /* all texts of the table */
};

/* The text of a cell, row -1 for the heading. */
const cell *table_cell_at(const table *t, int row, int column);
const char *table_text_of(const table *t, int row, int column);

/* True if any row has text in a column that is no field of CSV; true if all its cells are numbers. */
bool table_is_shown(const table *t, int column);
bool table_is_right(const table *t, int column);

/* The text in ASCII as far as possible, to be freed. */
char *table_in_ascii(const char *text);

void table_print_on_terminal(const table *t, FILE *out);
