/* Training, validation and test splits, stratified by class in tables. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/rng.h"
#include "examples/programs/data/internal.h"
#include "examples/programs/data/words.h"

typedef enum { TRAIN, VALIDATION, TEST } purpose;

/* The number of rows of a split, and whether they are the first ones. */
typedef struct portion {
    size_t rows;
    bool first;
} portion;

static bool read_portion(const dataset *set, const char *what, const char *text, portion *part, tg_error *error)
{
    const size_t rows = set->rows - set->test_rows;
    char *end;
    *part = (portion){0};
    if (strcmp(text, "none") == 0)
        return true;
    if (strncmp(text, "first:", 6) == 0) {
        const unsigned long long wanted = strtoull(text + 6, &end, 10);
        if (text[6] < '0' || text[6] > '9' || *end || wanted == 0)
            return tg_fail(error, "%s '%s': expected a number of rows after first:", what, text);
        *part = (portion){wanted < rows ? (size_t)wanted : rows, true};
    } else {
        const double fraction = strtod(text, &end);
        if (end == text || *end || !(fraction > 0 && fraction < 1))
            return tg_fail(error, "%s '%s': expected a fraction between 0 and 1 or first:N%s", what, text,
                           strcmp(what, "test") == 0 ? ", or none" : "");
        part->rows = (size_t)llround(fraction * (double)rows);
        part->rows = part->rows < 1 ? 1 : part->rows;
    }
    return true;
}

/* ---- parts ---- */

/* Reads the values of `parts`; missing ones are the defaults of the data set. */
static bool read_portions(const dataset *set, const dataset_parts *parts, portion *validation, portion *test,
                          tg_error *error)
{
    const size_t rows = set->rows - set->test_rows;
    const char *of_test = parts->test ? parts->test : set->kind->test;
    if (set->test_rows && (parts->test || parts->folds))
        return tg_fail(error, "%s: it has its own test split, and no other can be chosen", set->name);
    if (parts->folds && parts->test)
        return tg_fail(error, "%s: the folds are the test splits, and no other can be chosen", set->name);
    *test = (portion){0};
    if (!read_portion(set, "validation", parts->validation ? parts->validation : set->kind->validation, validation,
                      error) ||
        (of_test && !parts->folds && !read_portion(set, "test", of_test, test, error)))
        return false;
    if (validation->first && test->first)
        return tg_fail(error, "%s: the first rows cannot both validate and test", set->name);
    if (parts->folds == 1)
        return tg_fail(error, "%s: 1 fold is no cross-validation, expected 2 or more", set->name);
    if (parts->folds)
        test->rows = rows / (size_t)parts->folds + 1;
    if (parts->folds &&
        (parts->folds < 2 || (size_t)parts->folds > rows || parts->fold < 0 || parts->fold >= parts->folds))
        return tg_fail(error, "%s: %zu row%s in %d folds", set->name, rows, plural((long long)rows), parts->folds);
    if (validation->rows + test->rows >= rows)
        return tg_fail(error, "%s: of %zu row%s, %zu for validation and %zu for test leave none for training",
                       set->name, rows, plural((long long)rows), validation->rows, test->rows);
    return true;
}

/* A row's place in a stratified order: a fraction, and then the random order. */
typedef struct place {
    double fraction;
    size_t random;
    int32_t row;
} place;

static int by_place(const void *a, const void *b)
{
    const place *left = a, *right = b;
    const int order = (left->fraction > right->fraction) - (left->fraction < right->fraction);
    return order ? order : (left->random > right->random) - (left->random < right->random);
}

/* Marks `count` rows for a purpose: the first ones, or the next unmarked ones of a random order. `next` wraps around.
 */
static void mark(purpose *of, size_t rows, const int32_t *random, size_t *next, portion part, purpose what)
{
    for (size_t i = 0; i < part.rows;) {
        const size_t row = part.first ? i : (size_t)random[(*next)++ % rows];
        if (of[row] == TRAIN) {
            of[row] = what;
            i++;
        }
    }
}

/* Appends the rows of a split to those listed so far. */
static void list(dataset *set, const purpose *of, purpose wanted, size_t *listed, dataset_part *part)
{
    *part = (dataset_part){.row = set->order + *listed};
    for (size_t row = 0; row < set->rows; row++)
        if (of[row] == wanted) {
            set->order[(*listed)++] = (int32_t)row;
            part->rows++;
        }
}

/* Spreads each class evenly over the order, so that every part of it has all classes in about the same proportion. A
 * class of a single row comes to the middle, where neither the first nor the second fifth is. */
static bool stratify(const dataset *set, int32_t *random, size_t rows)
{
    place *places = dataset_array(rows, 1, sizeof *places);
    size_t *size = dataset_array(set->classes, 1, sizeof *size), *seen = dataset_array(set->classes, 1, sizeof *seen);
    const bool fine = places && size && seen;
    for (size_t i = 0; fine && i < rows; i++)
        size[set->labels[i]]++;
    for (size_t i = 0; fine && i < rows; i++) {
        const int32_t label = set->labels[random[i]];
        places[i] = (place){((double)seen[label]++ + 0.5) / (double)size[label], i, random[i]};
    }
    if (fine)
        qsort(places, rows, sizeof *places, by_place);
    for (size_t i = 0; fine && i < rows; i++)
        random[i] = places[i].row;
    free(places);
    free(size);
    free(seen);
    return fine;
}

bool dataset_shuffle(const dataset *set, const dataset_part *from, uint64_t seed, int32_t *order)
{
    tg_rng rng = tg_rng_seed(seed);
    memcpy(order, from->row, from->rows * sizeof *order);
    tg_rng_shuffle(&rng, from->rows, order);
    return !set->kind->columns || !set->labels || stratify(set, order, from->rows);
}

/* The test split begins at its fold in the random order, and the validation rows follow. */
static bool choose(dataset *set, const dataset_parts *parts, portion validation, portion test, purpose *of,
                   int32_t *random)
{
    const size_t rows = set->rows - set->test_rows;
    const tg_rng seed = tg_rng_seed(parts->seed);
    tg_rng rng = tg_rng_stream(&seed, "dataset.split");
    size_t next = 0, listed = 0;
    for (size_t row = 0; row < rows; row++)
        random[row] = (int32_t)row;
    tg_rng_shuffle(&rng, rows, random);
    if (set->kind->columns && set->labels && !stratify(set, random, rows))
        return false;
    for (size_t row = rows; row < set->rows; row++)
        of[row] = TEST;
    if (parts->folds) {
        const size_t folds = (size_t)parts->folds, fold = (size_t)parts->fold;
        next = rows * fold / folds;
        test.rows = rows * (fold + 1) / folds - next;
    }
    if (validation.first)
        mark(of, rows, random, &next, validation, VALIDATION);
    mark(of, rows, random, &next, test, TEST);
    if (!validation.first)
        mark(of, rows, random, &next, validation, VALIDATION);
    list(set, of, TRAIN, &listed, &set->train);
    list(set, of, VALIDATION, &listed, &set->validation);
    list(set, of, TEST, &listed, &set->test);
    return true;
}

/* True if the rows of each split weigh something. */
static bool check_weights(const dataset *set, tg_error *error)
{
    const dataset_part *part[] = {&set->train, &set->validation, &set->test};
    static const char *const name[] = {"training", "validation", "test"};
    for (int i = 0; i < 3 && set->weight; i++) {
        double sum = 0;
        for (size_t k = 0; k < part[i]->rows; k++)
            sum += set->weight[part[i]->row[k]];
        if (part[i]->rows && !(sum > 0 && sum < INFINITY))
            return tg_fail(error, "%s: the weights of the %zu %s rows add up to %g, expected a number above 0",
                           set->name, part[i]->rows, name[i], sum);
    }
    return true;
}

bool dataset_split(dataset *set, const dataset_parts *parts, tg_error *error)
{
    static const dataset_parts standard;
    const size_t rows = set->rows - set->test_rows;
    portion validation, test;
    parts = parts ? parts : &standard;
    set->train = set->validation = set->test = (dataset_part){0};
    if (!read_portions(set, parts, &validation, &test, error))
        return false;
    purpose *of = dataset_array(set->rows, 1, sizeof *of);
    int32_t *random = dataset_array(rows, 1, sizeof *random);
    if (!set->order)
        set->order = dataset_array(set->rows, 1, sizeof *set->order);
    bool complete = of && random && set->order;
    complete =
        complete && choose(set, parts, validation, test, of, random) && (!set->cells || dataset_standardise(set));
    free(of);
    free(random);
    if (!complete)
        return tg_fail(error, "%s: out of memory for %zu rows", set->name, set->rows);
    return check_weights(set, error);
}
