/* A search: the best point of the grid, and the results of every point. */
#include "examples/programs/data/advice.h"
#include "examples/programs/report/runlog_internal.h"
#include "examples/programs/report/files.h"
#include "examples/programs/system/posix.h"

bool runlog_is_search(const runlog *log)
{
    for (int run = 1; run < log->count; run++)
        if (log->runs[run].point != log->runs[0].point)
            return true;
    return false;
}

/* ---- the results at all points ---- */

/* The results of an activation's runs at a point. */
typedef struct outcome {
    const runlog_run *first; /* NULL if it has no runs there */
    int finished, unfinished;
    double loss; /* mean of the finished runs: validation loss of the best epoch's net */
    bool best;   /* of the points with the same number */
} outcome;

/* [activations, points], to be freed. */
static outcome *outcomes_of(const runlog *log)
{
    const size_t points = log->points.count, count = log->activations.count * points;
    outcome *all = memory_checked(calloc(count + 1, sizeof *all));
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++) {
        outcome *at = &all[(size_t)run->activation * points + (size_t)run->point];
        at->first = at->first ? at->first : run;
        at->unfinished += !run->finished;
        at->finished += run->finished;
        at->loss += run->finished ? run->net.of[RUNLOG_VALIDATION].loss : 0;
    }
    for (size_t i = 0; i < count; i++)
        all[i].loss /= all[i].finished;
    return all;
}

/* A sort key, smaller is better: diverged runs come last. */
static double rank(const outcome *found)
{
    const double loss = isnan(found->loss) ? INFINITY : found->loss;
    return found->unfinished ? loss + 1e300 : loss;
}

/* ---- the best ---- */

int runlog_best_point(const runlog *log, int activation)
{
    outcome *all = outcomes_of(log);
    const size_t points = log->points.count, activations = log->activations.count;
    int best = log->runs[0].point;
    double least = INFINITY;
    for (size_t point = 0; point < points; point++) {
        bool tried = false;
        double sum = 0; /* for all activations: of the logarithms; one that diverges must not dominate */
        for (size_t a = 0; a < activations; a++) {
            const outcome *at = &all[a * points + point];
            tried |= at->first != NULL;
            if (activation < 0)
                sum += log2(fmin(fmax(rank(at), 1e-300), 1e306));
            else if ((size_t)activation == a)
                sum = rank(at);
        }
        if (tried && sum < least) {
            least = sum;
            best = (int)point;
        }
    }
    free(all);
    return best;
}

int runlog_best_run(const runlog *log, int activation)
{
    const int point = runlog_best_point(log, activation);
    int run = 0;
    while (run < log->count && (log->runs[run].activation != activation || log->runs[run].point != point))
        run++;
    return run < log->count ? run : 0;
}

int runlog_winner(const runlog *log, bool *shared)
{
    outcome *all = outcomes_of(log);
    double least = 1e300; /* with unfinished runs the rank is more */
    int winner = -1;
    for (size_t a = 0; a < log->activations.count; a++) {
        const outcome *at = &all[a * log->points.count + (size_t)runlog_best_point(log, (int)a)];
        if (!at->first || !(rank(at) <= least))
            continue;
        *shared = rank(at) == least;
        if (!*shared)
            winner = (int)(at->first - log->runs);
        least = rank(at);
    }
    free(all);
    return winner;
}

/* Says if a point is the smallest or the largest one tried: a better one may lie outside. Of names, as in "init gpt2",
 * none does. */
static const char *edge(const runlog *log, int point)
{
    double number = NAN, least = INFINITY, greatest = -INFINITY;
    char *end;
    const char *value = strchr(log->points.list[point], ' ');
    if (!value || (strtod(value, &end), end == value))
        return "";
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++) {
        number = run->point == point ? run->number : number;
        least = fmin(least, run->number);
        greatest = fmax(greatest, run->number);
    }
    return least < greatest && (number == least || number == greatest) ? " (the edge of the list)" : "";
}

/* The number of an option in a point like "width 8, lr 0.01"; NaN if it has none. */
static double value_of(const char *point, const char *option)
{
    const size_t length = strlen(option);
    for (const char *at = point; at; at = strchr(at, ',') ? strchr(at, ',') + 2 : NULL)
        if (strncmp(at, option, length) == 0 && at[length] == ' ')
            return strtod(at + length, NULL);
    return NAN;
}

/* ---- which activation comes first at each initial scale ---- */

/* The activation with the lowest validation loss at a scale, each at its best point there; -1 if not all have finished
 * runs at it, or more than one has the lowest. */
static int first_at_scale(const runlog *log, const outcome *all, double scale)
{
    const size_t points = log->points.count;
    double least = INFINITY;
    int first = -1;
    for (size_t a = 0; a < log->activations.count; a++) {
        double loss = INFINITY;
        for (size_t point = 0; point < points; point++) {
            const outcome *at = &all[a * points + point];
            if (at->first && value_of(log->points.list[point], "init-scale") == scale)
                loss = fmin(loss, rank(at));
        }
        if (!(loss < 1e300))
            return -1;
        first = loss < least ? (int)a : loss == least ? -1 : first;
        least = fmin(least, loss);
    }
    return first;
}

/* The next larger initial scale of the points; infinite after the last. */
static double scale_above(const runlog *log, double scale)
{
    double next = INFINITY;
    for (size_t point = 0; point < log->points.count; point++) {
        const double value = value_of(log->points.list[point], "init-scale");
        next = value > scale ? fmin(next, value) : next;
    }
    return next;
}

/* Says which activation comes first at which initial scale; nothing if there are not two scales to compare. */
static void write_order(const runlog *log, FILE *words)
{
    int count = 0, last = -1;
    bool changes = false;
    outcome *all = outcomes_of(log);
    for (double scale = scale_above(log, 0); isfinite(scale); scale = scale_above(log, scale)) {
        const int first = first_at_scale(log, all, scale);
        changes |= count > 0 && first >= 0 && first != last;
        count += first >= 0;
        last = first >= 0 ? first : last;
    }
    if (count > 1 && !changes)
        fprintf(words, " By validation %s comes first at each of %d initial scales, perhaps by chance.",
                log->activations.list[last], count);
    last = -1;
    if (count > 1 && changes)
        fputs(" Which one is first by validation differs between initial scales, perhaps by chance:", words);
    for (double scale = scale_above(log, 0); changes && isfinite(scale); scale = scale_above(log, scale)) {
        const int first = first_at_scale(log, all, scale);
        if (first >= 0 && first == last)
            fprintf(words, " and %g", scale);
        else if (first >= 0)
            fprintf(words, "%s %s comes first at %g", last < 0 ? "" : ",", log->activations.list[first], scale);
        last = first >= 0 ? first : last;
    }
    fputs(changes ? "." : "", words);
    free(all);
}

/* The point at which all activations are best, if it has the least or the largest rate; -1 if they are not, or it has
 * not. */
static int common_end(const runlog *log)
{
    const int point = runlog_best_point(log, 0);
    const double rate = value_of(log->points.list[point], "lr");
    bool less = false, more = false, same = true;
    for (int a = 1; a < (int)log->activations.count; a++)
        same &= runlog_best_point(log, a) == point;
    for (size_t i = 0; i < log->points.count; i++) {
        less |= value_of(log->points.list[i], "lr") < rate;
        more |= value_of(log->points.list[i], "lr") > rate;
    }
    return same && less != more ? point : -1;
}

/* The points of the short search, and where a better one may lie. */
static void write_tried(const runlog *log, FILE *words)
{
    const int end = common_end(log);
    fprintf(words, " %s", log->about.tried);
    if (end < 0)
        fputs(" A better one may lie elsewhere", words);
    else
        fprintf(words, " %s best at one end of them, %s: a better one may lie beyond it",
                log->activations.count > 1 ? "All are" : "It is", log->points.list[end]);
    fprintf(words, log->about.wider ? " (%s)." : ".", log->about.wider);
}

static bool has_finished(const runlog *log, int activation, int point)
{
    bool any = false;
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++)
        any |= run->finished && run->activation == activation && run->point == point;
    return any;
}

/* The number of unfinished runs, if some activation has no finished one: nothing is known of its points. */
static int count_lacking(const runlog *log)
{
    int unfinished = 0;
    bool lacks = false;
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++)
        unfinished += !run->finished;
    for (int a = 0; a < (int)log->activations.count; a++)
        lacks |= !has_finished(log, a, runlog_best_point(log, a));
    return lacks ? unfinished : 0;
}

char *runlog_edge_hint(const runlog *log)
{
    char *hint = NULL;
    size_t size;
    int count = 0;
    double least = INFINITY, greatest = -INFINITY;
    FILE *words = memory_checked(system_open_memory(&hint, &size));
    for (size_t i = 0; i < log->points.count; i++) {
        least = fmin(least, value_of(log->points.list[i], "lr"));
        greatest = fmax(greatest, value_of(log->points.list[i], "lr"));
    }
    for (int a = 0; least < greatest && !count_lacking(log) && a < (int)log->activations.count; a++) {
        const double rate = value_of(log->points.list[runlog_best_point(log, a)], "lr");
        if (rate == least || rate == greatest)
            fprintf(words, "%s%s at %g",
                    count++ ? ", " : "Hint: best at the edge of the learning rates: ", log->activations.list[a], rate);
    }
    if (count)
        fputs(log->about.searched ? ", where the search ended." : ". " ADVICE_BEYOND_LIST, words);
    return system_close_memory(words, &hint, &size) ? hint : NULL;
}

runlog *runlog_at_best(const runlog *log, bool common)
{
    runlog *best = runlog_new(log->directory);
    size_t size;
    FILE *words = memory_checked(system_open_memory(&best->note, &size));
    const int of_all = common && log->count ? runlog_best_point(log, -1) : -1, unfinished = count_lacking(log);
    best->borrows = true;
    best->activations = log->activations;
    best->points = log->points;
    best->runs = memory_checked(calloc((size_t)log->count + 1, sizeof *best->runs));
    if (of_all >= 0)
        fprintf(words, "All are at %s%s, the best for all together by validation.", log->points.list[of_all],
                edge(log, of_all));
    else if (unfinished)
        fprintf(words, "%d of %d runs have not finished; of the others each is at its best by validation:", unfinished,
                log->count);
    else
        fputs("Each is at its best by validation:", words);
    for (int a = 0; a < (int)log->activations.count; a++) {
        const int point = of_all >= 0 ? of_all : runlog_best_point(log, a);
        if (of_all < 0 && !has_finished(log, a, point))
            fprintf(words, "%s %s none", a ? ";" : "", log->activations.list[a]);
        else if (of_all < 0)
            fprintf(words, "%s %s %s%s", a ? ";" : "", log->activations.list[a], log->points.list[point],
                    log->about.tried || unfinished ? "" : edge(log, point));
        for (const runlog_run *run = log->runs; run < log->runs + log->count; run++)
            if (run->activation == a && run->point == point)
                best->runs[best->count++] = *run;
    }
    fputs(of_all < 0 ? "." : "", words);
    if (of_all < 0 && log->activations.count > 1 && !unfinished)
        write_order(log, words);
    if (of_all < 0 && log->about.tried && !unfinished)
        write_tried(log, words);
    if (of_all < 0 && log->about.unsearched)
        fprintf(words, " %s", log->about.unsearched);
    memory_checked(system_close_memory(words, &best->note, &size) ? best->note : NULL);
    best->about = log->about;
    runlog_options(best, json_incref(log->options));
    return best;
}

/* ---- search.csv ---- */

/* The best points at each number come first, so that a curve through them has no gaps; points without runs last. */
static int by_rank_and_number(const void *a, const void *b)
{
    const outcome *left = a, *right = b;
    if (!left->first || !right->first)
        return !left->first - !right->first;
    if (left->best != right->best)
        return left->best ? -1 : 1;
    return (left->first->number > right->first->number) - (left->first->number < right->first->number);
}

/* Marks the best points at each number, of equal ones the first, and sorts. */
static void sort(outcome *points, size_t count)
{
    for (outcome *i = points; i < points + count; i++) {
        i->best = true;
        for (const outcome *k = points; k < points + count && i->first; k++)
            if (k->first && k->first->number == i->first->number &&
                (rank(k) < rank(i) || (rank(k) == rank(i) && k < i)))
                i->best = false;
    }
    system_sort(points, count, sizeof *points, by_rank_and_number);
}

static void write_point(const runlog *log, FILE *to, const outcome *p, runlog_samples *losses)
{
    for (const runlog_run *run = log->runs; run < log->runs + log->count; run++)
        if (run->activation == p->first->activation && run->point == p->first->point && run->finished)
            runlog_sample(losses, run, run->net.of[RUNLOG_VALIDATION].loss);
    table_csv_text(to, log->activations.list[p->first->activation]);
    fputc(',', to);
    table_csv_text(to, log->points.list[p->first->point]);
    runlog_number_field(to, p->first->number);
    fprintf(to, ",%d,%d,%d", p->best, p->finished, p->unfinished);
    runlog_write_band(to, losses, false);
    fputc('\n', to);
}

void runlog_write_search(const runlog *log, FILE *to)
{
    const size_t points = log->points.count;
    runlog_samples losses = runlog_samples_new(log);
    outcome *all = outcomes_of(log);
    fputs("activation,point,number,best_at_number,runs,unfinished,best_val_loss_mean,best_val_loss_low,best_val_loss_"
          "high\n",
          to);
    for (size_t a = 0; a < log->activations.count; a++) {
        sort(all + a * points, points);
        for (const outcome *p = all + a * points; p < all + (a + 1) * points && p->first; p++)
            write_point(log, to, p, &losses);
    }
    runlog_samples_free(&losses);
    free(all);
}
