/* The reader of CSV files: a table of numbers and words; its header and the roles of its columns; classes; and a
 * description of each column as it was read.
 *
 *     csv_source source;
 *     if (csv_read(path, DATASET_HEADER_AUTO, &source, error))
 *         ... csv_value(&source, row, column)
 *     csv_source_free(&source);
 *
 * Rows are counted from the first row of data, columns from 0. */
#pragma once

#include "examples/programs/data/internal.h"
#include "examples/programs/data/number.h"

enum { CSV_MOST_TARGETS = 64 };
#define CSV_UNICODE_MINUS "\u2212" /* which word processors write for - */

/* What is in a cell. */
typedef enum csv_kind {
    CSV_NUMBER = 0,
    CSV_MISSING,       /* empty, ?, NA, N/A, nan, null, \N, <NA>, or an error of a spreadsheet: #N/A, #DIV/0! */
    CSV_MAYBE_MISSING, /* None, - or a point: missing among numbers, a word among words */
    CSV_HUGE,          /* a number that no float can represent: infinite or too large */
    CSV_FORMATTED,     /* a number written for people: 1,234.56, 30.9%, $5, or with a minus that is not ASCII's */
    CSV_WORD,
} csv_kind;

/* The last cell whose text was asked for, from which the next one is found: a row is read from left to right. */
typedef struct csv_cursor {
    const unsigned char *row, *at; /* the row, and the cell in it */
    size_t column;
} csv_cursor;

/* A text in rows and cells. Numbers are read at once; a word is read again when it is asked for. */
typedef struct csv_table {
    const char *path;
    dataset_bytes text; /* blanks between cells are replaced by tabs; ends with a zero byte */
    char separator;
    bool decimal_comma; /* the comma does not separate cells, so that 3,5 is a number */
    size_t comments;    /* lines that begin with # above the first row */
    size_t rows, columns;
    size_t misfits; /* rows with another number of cells, which is an error */
    double *values; /* [rows, columns]: the number in a cell; NaN with a csv_kind in it if there is none */
    size_t *starts; /* [rows]: where a row begins in the text */
    bool *zeros;    /* [columns]: a cell begins with 0 and another digit */
    char *word;     /* room for the longest cell */
    csv_cursor *cursor;
    const unsigned char *comment; /* the text of the last comment above the first row; NULL: none */
    size_t unnamed;               /* columns without a name or a value at the ends of the lines, which are left out */
} csv_table;

/* Distinct entries of a column in ascending order: classes to predict, or categories. */
typedef struct csv_classes {
    size_t count;
    size_t found; /* before rare ones were joined */
    struct csv_class {
        const char *word; /* NULL if they are numbers */
        double number;
        size_t rows; /* with this entry */
    } * class;       /* [count] */
} csv_classes;

typedef enum csv_role { CSV_NUMBERS = 0, CSV_CATEGORIES, CSV_TARGET, CSV_WEIGHTS, CSV_GROUPS, CSV_IGNORED } csv_role;

typedef struct csv_column {
    csv_role role;
    bool named;     /* each cell is a word, also if it looks like a number */
    bool zeros;     /* as all of them are digits, equally many, and some begin with zeros */
    size_t missing; /* cells without a value, in rows that were dropped too */

    /* Of the used rows: */
    size_t present, words; /* cells with a value, and those of them that are no numbers */
    size_t example;        /* row of the first value */
    bool whole;            /* all are whole numbers, none is missing */
    double low, high;      /* of the numbers; NaN without any */
    size_t dates;          /* cells that are dates */

    csv_classes classes; /* of categories, groups, and a target; then the values are their indices */
    bool joined;         /* the last class stands for all rare categories */
    size_t width;        /* of a feature: one input, or one for each category; */
    bool marked;         /* and one more that marks missing cells */
} csv_column;

typedef struct csv_source {
    csv_table table;
    tg_error *error;
    size_t rows;        /* of data that are used, */
    size_t *numbers;    /* and their indices, [rows], where some were dropped; else NULL */
    char **names;       /* [columns]: the header; NULL without one */
    csv_column *column; /* [columns] */
    size_t targets;
    size_t target_columns[CSV_MOST_TARGETS]; /* [targets], in the order they were asked for */
    bool weighted;
    size_t weight_column; /* if so */
    bool grouped;
    size_t group_column;   /* if so */
    dataset_memory memory; /* owns all of these but the text, */
    dataset_memory values; /* and this one table.values and numbers */
} csv_source;

/* Reads a file, plain or gzip, or standard input for "-", and finds its header. The path must outlive the source; free
 * the source also on failure. */
bool csv_read(const char *path, dataset_header header, csv_source *source, tg_error *error);
void csv_source_free(csv_source *source);

/* Fails for lack of memory. */
bool csv_out_of_memory(const csv_source *source);

/* ---- the text (csv_text.c) ---- */

/* The first line that is neither a comment nor blank; counts the comments. */
const unsigned char *csv_first_line(const unsigned char *from, size_t *comments);

/* The end of the line, including its terminator (LF, CR LF or CR); a text ends with a zero byte. */
const unsigned char *csv_line_end(const unsigned char *from);

/* Past blanks, tabs and ends of lines. */
const unsigned char *csv_after_blanks(const unsigned char *from);

/* The separator between cells: semicolon, else tab, else |, else comma, else blanks (several count as one). Blanks win
 * over commas if the first lines have numbers like 3,5 between blanks, and no other comma except in a header. */
char csv_find_separator(const unsigned char *first);

/* ---- files that are no tables (csv_foreign.c) ---- */

/* Fails if the file is of another kind: a binary format, UTF-16, HTML, JSON, ARFF, libsvm, not UTF-8. */
bool csv_check_text(const char *path, const dataset_bytes *text, tg_error *error);

/* ---- numbers and words (csv_number.c) ---- */

/* Reads a decimal number, to the same bits as strtod; the result is the end of the number, or NULL if there is none.
 * With decimal_comma it may have a comma in place of the point. */
const unsigned char *csv_number(const unsigned char *text, bool decimal_comma, double *value);

/* True if a word is a number that no float can represent: NaN, infinite or too large. */
bool csv_word_is_huge(const char *text);

/* What a cell is that is no number. */
csv_kind csv_kind_of_word(const char *word);

/* ---- the table (csv_table.c) ---- */

/* Reads the table. The separator is found in the first line, unless it is sep=;. If the comma is not the separator,
 * numbers may have a decimal comma. Every row must have the same number of cells; blank lines, lines above the first
 * row that begin with #, and a byte-order mark are skipped. */
bool csv_read_table(const char *path, csv_source *source);

/* The line of a row in the file, from 1. */
size_t csv_line(const csv_table *table, size_t row);

/* The text of a cell, without quotes; until the next call. */
const char *csv_text(const csv_source *source, size_t row, size_t column);

/* The text of the cell at `at`, which moves to the next one; until the next call. NULL behind the last cell of a
 * line. */
const char *csv_next_text(const csv_table *table, const unsigned char **at);

/* True if the whole text is a number. */
bool csv_is_number(const csv_table *table, const char *text);

/* Calls `take` with the text of each cell of the columns with a flag, row by row; false if a call fails. */
typedef bool csv_take(void *context, size_t row, size_t column, const char *text, size_t length);
bool csv_each_text(const csv_source *source, const bool *flags, csv_take *take, void *context);

/* ---- its header (csv_header.c) ---- */

/* Finds the line that names the columns: the first row, or #Label,a,b above it, if there is one, and leaves out columns
 * without name and value at the ends of the lines. Called by csv_read. */
bool csv_find_header(csv_source *source, dataset_header header);

/* Leaves out the last rows, as long as all their cells are empty, which programs for tables write. */
void csv_cut_rows(csv_source *source);

/* ---- its columns (csv_columns.c) ---- */

/* Sets the role of each column, and drops rows with missing cells, as the options say. A list of columns is the name of
 * one, which may contain a comma, or several names or numbers separated by commas; for targets "-1" is the last column,
 * even if a column has this name. Columns of words are categorical too. */
bool csv_choose_columns(csv_source *source, const dataset_options *options);

/* The number in a cell, NaN if it is a word. Here and below, rows are the used rows of data. */
static inline double csv_value(const csv_source *source, size_t row, size_t column)
{
    return source->table.values[row * source->table.columns + column];
}

csv_kind csv_kind_at(const csv_source *source, size_t row, size_t column);

/* The word in a cell, until the next call; NULL if it is a number. */
const char *csv_word_at(const csv_source *source, size_t row, size_t column);

/* True if the cell has no value. */
bool csv_is_missing_at(const csv_source *source, size_t row, size_t column);

/* Fails at a cell: "wine.csv:3, column 'pH': " and then the problem. */
bool csv_fail_at(const csv_source *source, size_t row, size_t column, const char *problem);

/* What options call a column, in single quotes: its name or, if that is long, has a quote or is another's too, its
 * number. */
enum { CSV_OPTION_NAME = 80 };
const char *csv_option_name(const csv_source *source, size_t column, char text[CSV_OPTION_NAME]);

/* The name of a column; without a header, its cell in the first row, until the next call. */
const char *csv_column_name(const csv_source *source, size_t column);

/* Fails at a cell that contains a word instead of a number; the hint, "; --ignore ...", may be NULL. */
bool csv_fail_at_word(const csv_source *source, size_t row, size_t column, const char *hint);

static inline bool csv_is_feature(const csv_column *column)
{
    return column->role == CSV_NUMBERS || column->role == CSV_CATEGORIES;
}

/* ---- cells that cannot be used (csv_check.c) ---- */

/* Checks the cells of features, weights, groups and targets. The error names the first that cannot be used and what to
 * do about it, and all other columns that have some. */
bool csv_check_cells(const csv_source *source, dataset_missing missing);

/* ---- classes (csv_classes.c) ---- */

/* Finds the distinct entries of the columns with a flag, and replaces their values by indices of these entries. Numbers
 * are the same entry if they are equal, words if their texts are. */
bool csv_collect(csv_source *source, const bool *flags);

/* The name of a class; a number is written to `text`. */
const char *csv_class_name(const csv_classes *classes, size_t i, char text[NUMBER_TEXT]);

/* Keeps the most frequent classes, one fewer than `most`, of those with at least two rows; the others become one class
 * after these. False if none is kept. */
bool csv_join_rare(csv_source *source, size_t column, size_t most);

/* ---- rows that are the same (repeated.c) ---- */

/* Both when categories have been collected, and before rare ones are joined, which would make different rows the same.
 * The first keeps one of all rows that are the same but for ignored columns. The second finds for each row the first
 * one with the same features, [rows], in the memory of the values. */
bool csv_drop_duplicates(csv_source *source, size_t *dropped);
bool csv_find_alike(csv_source *source, size_t **alike);

/* ---- a description of each column, so that the user can find mistakes: a date that became 84 categories, a row number
 * that is used as a feature (csv_describe.c) ---- */

/* Finds out what the used cells of each column have in common. */
void csv_summarise(csv_source *source);

/* Counts the dates in the columns with a flag. */
bool csv_count_dates(csv_source *source, const bool *flags);

/* Fills set->columns and set->column. */
bool csv_describe_columns(const csv_source *source, dataset *set);
