/* A study is a file: a grid of runs, which are options of `compare`; what was published; what texts claim; and the
 * report as templates. The program trains what is missing, keeps the numbers of the runs, and writes the report.
 *
 *     study s = {.settings = &settings, .reports = "examples/studies"};
 *     int status = study_read(&s, "mine.json", &error) ? study_work(&s, &error) : 2;
 *     if (!status && !study_report(&s, &error)) ...
 *     study_free(&s);
 *
 * docs/studies.md describes the file. The exit status is 0; 1 where a run failed or a result could not be written; 2
 * where the study could not begin; signals_status() where it was interrupted.
 */
#pragma once

#include "examples/programs/report/sheet.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/run/pool.h"
#include "examples/programs/system/posix.h"
#include "plots/plots.h"

enum { STUDY_SEEDS = 32, STUDY_RATES = 16, STUDY_DEEPEST = 20 /* templates in templates */ };

typedef struct study_settings {
    const char *const *names; /* of the studies; NULL: none */
    const char *command;      /* that repeats it */
    const char *out, *data;
    const char *only; /* shell pattern: trains only missing runs with a matching name, at least one; NULL: all */
    bool quick, report_only, no_plots;
    bool overwrite; /* retrain runs that have a record with other settings, instead of refusing */
    sweep sweep;
    int epochs;
    options_given given;
} study_settings;

typedef struct study_run {
    const char *cell;    /* its name without rate and seed */
    const char *plain;   /* and without the hash of a formula */
    const char *options; /* those that are not defaults, without data, rate, epochs and seed */
    run_spec spec;
    json_t
        *results; /* of a complete run, from its folder or runs.csv: the columns of that from the state on; else NULL */
} study_run;

typedef struct study {
    const study_settings *settings;
    char name[NAME_MAX];   /* of the study, */
    char home[PATH_MAX];   /* of the folder of its file, */
    const char *reports;   /* of the folder of reports, */
    char folder[PATH_MAX]; /* of its results: OUT/NAME, or OUT/NAME-quick; */
    char runs[PATH_MAX];   /* and of those of its runs: FOLDER/runs */
    json_t *file, *texts;  /* what it says; and the options of all experiments, which point to it */
    experiment **experiments;
    int experiment_count;
    pool all;
    study_run *run; /* [all.count] */
    jobs_outcome outcome;
    plots_outcome drawn;
} study;

/* Reads a study and lists its runs. False and one line if the file is none. To be freed also then. */
bool study_read(study *s, const char *path, tg_error *error);
void study_free(study *s);

/* Trains the missing runs, in the order of their seeds, and reads all numbers, of folders or, where there is none, of
 * FOLDER/runs.csv, which it writes. 0, or the exit status with one line. */
int study_work(study *s, tg_error *error);

/* Writes and prints the report. False and one line if the file asks for what is not there, or it cannot be written. */
bool study_report(study *s, tg_error *error);

/* ---- cells: the runs of one combination of options (cells.c) ---- */

typedef struct study_cell {
    int seeds, rates; /* rates: 0 if there is no such cell */
    double rate[STUDY_RATES];
    const json_t *results[STUDY_RATES][STUDY_SEEDS]; /* NULL: the run is not complete */
    int best;   /* of the rates with the most complete seeds that with the lowest validation loss */
    bool whole; /* all seeds are complete at all rates */
} study_cell;

study_cell study_cell_of(const study *s, const char *name);

/* A number of each seed, from the first on, as long as they are complete; of a ratio their logarithms. NaN if a run
 * diverged or has no such number. */
typedef struct study_sample {
    bool ratio;
    int seeds;
    double by_seed[STUDY_SEEDS];
} study_sample;

study_sample study_sample_of(const study_cell *cell, int rate, const char *name, bool ratio);
double study_shown(const study_sample *of, double number);

/* ---- texts (report.c) ----
 *
 * A template may contain {name} and {name:.3f}. Values are members of a JSON object: texts, which are templates too,
 * and numbers; null is the word "none". */

/* A text or a list of them, joined by blanks, which lives as long as the program; NULL if there is none. */
const char *study_text(const json_t *of, const char *name);

void study_set(json_t *values, const char *name, double number);

/* Sets what is known of a sample or, with another one, of their differences: seeds, mean, low and high of its 95 %
 * interval, least, median, greatest, p. */
statistics_estimate study_set_sample(json_t *values, const study_sample *one, const study_sample *other);

/* A part of the report: its description in the file, and where it is written to. */
typedef struct study_part {
    const study *of;
    const json_t *part, *report;
    sheet *to;
    FILE *file;    /* NULL: to the sheet */
    int depth;     /* of templates in templates, and of numbers in numbers */
    bool measures; /* names without a number are NaN: not all runs have all */
    bool exact;    /* numbers are written with all digits, for a formula */
    bool broken;
    tg_error error;
} study_part;

/* A template with its values, to be freed. Names that are no values are those of "words" in the study and the
 * report, or of texts of the study; others are formulas of numbers. */
char *study_say(study_part *p, const char *template, const json_t *values);

/* Writes the part's template of this name, if it has one: "row" is a row of a table, "text" and "count" are texts,
 * others highlighted sentences; in a file each is a line. */
void study_put(study_part *p, const char *name, const json_t *values);

/* NaN, and the part is broken with this error. */
double study_refuse(study_part *p, const char *what, const char *why);

/* The number of a formula, which is a template; NaN if one of its names has none. NaN, and the part is broken, if it is
 * no formula (cells.c). And that of a name: a value, or one of "numbers" of the study, or else a formula itself. */
double study_formula(study_part *p, const char *formula, const json_t *values);
double study_number(study_part *p, const char *name, const json_t *values);

/* ---- rules (rules.c) ---- */

/* Reads what the rules go over; returns the number of seeds that are complete in the first table. */
int study_read_tables(const study *s);
void study_put_rule(study_part *p);

/* The rule of claims: statements, each with a range in which a number must lie, and the number (claims.c). */
void study_put_claims(study_part *p);

/* "yes", "no", "not shown" or "not measured", as the interval lies in the range; with p, of seeds, which is
 * corrected. */
typedef struct study_claim {
    double from, to, low, high, p;
    bool inside; /* the estimate lies in the range */
} study_claim;
const char *study_verdict(const study_claim *c);
