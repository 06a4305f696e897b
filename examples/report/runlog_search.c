/* A search: the best point of the grid, and the results of every point. */
#include "examples/report/runlog_internal.h"
#include "examples/report/files.h"

#include <stdlib.h>
#include <string.h>

bool runlog_is_search(const runlog *log)
{
    for (int run = 1; run < log->count; run++)
        if (strcmp(log->runs[run].point, log->runs[0].point) != 0)
            return true;
    return false;
}

static bool is_first_of_point(const runlog *log, int run)
{
    for (int i = 0; i < run; i++)
        if (strcmp(log->runs[i].point, log->runs[run].point) == 0)
            return false;
    return true;
}

/* The results of an activation's runs at a point. */
typedef struct outcome {
    int finished, unfinished;
    statistics_estimate loss; /* loss of the validation split at the best epoch */
} outcome;

/* The validation losses of the finished runs at their best epochs; `losses` has room for all runs. */
static outcome outcome_at(const runlog *log, const char *activation, const char *point, double losses[])
{
    outcome found = {0};
    for (int i = 0; i < log->count; i++) {
        const runlog_run *run = &log->runs[i];
        if (strcmp(run->activation, activation) != 0 || strcmp(run->point, point) != 0)
            continue;
        const runlog_epoch *best = runlog_best_epoch(run);
        found.unfinished += !run->finished;
        if (run->finished && (best || run->diverged))
            losses[found.finished++] = run->diverged ? NAN : best->val_loss;
    }
    found.loss = statistics_of(losses, (size_t)found.finished);
    return found;
}

/* A sort key, smaller is better: diverged runs come last. */
static double rank(const outcome *found)
{
    const double loss = isnan(found->loss.mean) ? INFINITY : found->loss.mean;
    return found->unfinished ? loss + 1e300 : loss;
}

/* ---- the best ---- */

/* Smaller is better: the rank of a point for an activation or, for NULL, the sum of its logarithms over all. */
static double score(const runlog *log, const char *activation, const char *point, double losses[])
{
    double sum = 0;
    if (activation) {
        const outcome found = outcome_at(log, activation, point, losses);
        return rank(&found);
    }
    for (int run = 0; run < log->count; run++)
        if (runlog_is_first_of_activation(log, run)) {
            const double one = score(log, log->runs[run].activation, point, losses);
            sum += log2(fmin(fmax(one, 1e-300), 1e306)); /* one that diverges must not dominate */
        }
    return sum;
}

const char *runlog_best_point(const runlog *log, const char *activation, double losses[])
{
    const char *best = log->runs[0].point;
    double least = INFINITY;
    for (int run = 0; run < log->count; run++) {
        const double here =
            is_first_of_point(log, run) ? score(log, activation, log->runs[run].point, losses) : INFINITY;
        if (here < least) {
            least = here;
            best = log->runs[run].point;
        }
    }
    return best;
}

/* True if a point is the smallest or the largest one tried: a better one may lie outside. */
static bool is_at_the_edge(const runlog *log, const char *point)
{
    double number = NAN, least = INFINITY, greatest = -INFINITY;
    for (int i = 0; i < log->count; i++) {
        if (strcmp(log->runs[i].point, point) == 0)
            number = log->runs[i].number;
        least = fmin(least, log->runs[i].number);
        greatest = fmax(greatest, log->runs[i].number);
    }
    return least < greatest && (number == least || number == greatest);
}

runlog *runlog_at_best(const runlog *log, bool common)
{
    runlog *best = runlog_new(log->directory);
    double *losses = calloc((size_t)log->count + 1, sizeof *losses);
    char *note = NULL;
    size_t size = 0;
    FILE *words = open_memstream(&note, &size);
    if (best) {
        best->borrows = true;
        best->about = log->about;
        best->runs = calloc((size_t)log->count + 1, sizeof *best->runs);
    }
    bool complete = best && best->runs && losses && words;
    const char *of_all = complete && common && log->count ? runlog_best_point(log, NULL, losses) : NULL;
    if (complete && log->about.note)
        fprintf(words, "%s ", log->about.note);
    if (complete && of_all)
        fprintf(words, "All at %s%s, the best for all together by validation.", of_all,
                is_at_the_edge(log, of_all) ? " (the edge of the list)" : "");
    if (complete && !of_all)
        fputs("Each at its best by validation:", words);
    bool first = true;
    for (int i = 0; complete && i < log->count; i++) {
        if (!runlog_is_first_of_activation(log, i))
            continue;
        const char *activation = log->runs[i].activation,
                   *point = of_all ? of_all : runlog_best_point(log, activation, losses);
        if (!of_all)
            fprintf(words, "%s %s %s%s", first ? "" : ";", activation, point,
                    is_at_the_edge(log, point) ? " (the edge of the list)" : "");
        first = false;
        for (int run = 0; run < log->count; run++)
            if (strcmp(log->runs[run].activation, activation) == 0 && strcmp(log->runs[run].point, point) == 0)
                best->runs[best->count++] = log->runs[run];
    }
    complete = words && files_close_memory(words, &note) && complete;
    free(losses);
    if (best)
        best->about.note = best->note = note;
    else
        free(note);
    if (complete)
        runlog_options(best, json_incref(log->options));
    if (complete && !best->lost)
        return best;
    runlog_free(best);
    return NULL;
}

/* ---- search.csv ---- */

/* One row of the file. */
typedef struct point {
    const runlog_run *run; /* the first run at this point */
    outcome found;
    bool best; /* rank among those with the same number */
} point;

/* The best points at each number come first, so that a curve through them has no gaps. */
static int by_rank_and_number(const void *a, const void *b)
{
    const point *left = a, *right = b;
    if (left->best != right->best)
        return left->best ? -1 : 1;
    return (left->run->number > right->run->number) - (left->run->number < right->run->number);
}

/* The points of an activation, in that order; returns their number. */
static int list_points(const runlog *log, const char *activation, double losses[], point points[])
{
    int count = 0;
    for (int k = 0; k < log->count; k++)
        if (is_first_of_point(log, k))
            points[count++] =
                (point){.run = &log->runs[k], .found = outcome_at(log, activation, log->runs[k].point, losses)};
    for (int i = 0; i < count; i++) {
        points[i].best = true;
        for (int k = 0; k < count; k++)
            if (points[k].run->number == points[i].run->number &&
                (rank(&points[k].found) < rank(&points[i].found) ||
                 (rank(&points[k].found) == rank(&points[i].found) && k < i)))
                points[i].best = false;
    }
    qsort(points, (size_t)count, sizeof *points, by_rank_and_number);
    return count;
}

/* `losses` has room for all runs. */
static void write_point(const runlog *log, FILE *to, const char *activation, const point *p, double losses[])
{
    const int count = outcome_at(log, activation, p->run->point, losses).finished;
    table_csv_text(to, activation);
    fputc(',', to);
    table_csv_text(to, p->run->point);
    runlog_number_field(to, p->run->number);
    fprintf(to, ",%d,%d,%d", p->best, p->found.finished, p->found.unfinished);
    runlog_write_band(to, losses, count, false);
    fputc('\n', to);
}

bool runlog_write_search(const runlog *log, FILE *to)
{
    double *losses = calloc((size_t)log->count + 1, sizeof *losses);
    point *points = calloc((size_t)log->count + 1, sizeof *points);
    fputs("activation,point,number,best_at_number,runs,unfinished,best_val_loss_mean,best_val_loss_low,best_val_loss_"
          "high\n",
          to);
    for (int i = 0; losses && points && i < log->count; i++) {
        const char *activation = log->runs[i].activation;
        const int count = runlog_is_first_of_activation(log, i) ? list_points(log, activation, losses, points) : 0;
        for (int k = 0; k < count; k++)
            write_point(log, to, activation, &points[k], losses);
    }
    const bool complete = losses && points;
    free(losses);
    free(points);
    return complete;
}
