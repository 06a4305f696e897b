/* Training, validation and test splits, stratified by class in tables. What is drawn is a row or, with groups, all rows
 * of a group: as in scikit-learn's GroupShuffleSplit and its GroupKFold with shuffle. */
#include "autograd/rng.h"
#include "examples/programs/data/internal.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

/* ---- units: rows or groups ---- */

static size_t unit_of(const dataset *set, size_t row)
{
    return set->group ? (size_t)set->group[row] : row;
}

static size_t count_units(const dataset *set)
{
    return set->group ? set->groups : set->rows - set->test_rows;
}

static const char *name_units(const dataset *set)
{
    return set->group ? "group" : "row";
}

static int ascending(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* The most frequent class of each group, the first of several: [groups], to be freed. NULL without memory. */
static int32_t *labels_of_groups(const dataset *set)
{
    int32_t *label = dataset_array(set->groups, 1, sizeof *label);
    uint64_t *pairs = dataset_array(set->rows, 1, sizeof *pairs); /* of a group and a label */
    size_t *most = dataset_array(set->groups, 1, sizeof *most), same = 0;
    const bool fine = label && pairs && most;
    for (size_t row = 0; fine && row < set->rows; row++)
        pairs[row] = (uint64_t)set->group[row] << 32 | (uint32_t)set->labels[row];
    if (fine)
        system_sort(pairs, set->rows, sizeof *pairs, ascending);
    for (size_t i = 0; fine && i < set->rows; i++) {
        const size_t group = (size_t)(pairs[i] >> 32);
        same = i > 0 && pairs[i] == pairs[i - 1] ? same + 1 : 1;
        if (same > most[group]) {
            most[group] = same;
            label[group] = (int32_t)(uint32_t)pairs[i];
        }
    }
    free(pairs);
    free(most);
    if (!fine)
        free(label);
    return fine ? label : NULL;
}

/* ---- parts ---- */

/* The number of units of a split; or, if they are the first ones, of rows. */
typedef struct portion {
    size_t count;
    bool first;
} portion;

static bool read_portion(const dataset *set, const char *what, const char *text, portion *part, tg_error *error)
{
    const size_t rows = set->rows - set->test_rows, units = count_units(set);
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
        part->count = (size_t)llround(fraction * (double)units);
        part->count = part->count < 1 ? 1 : part->count;
    }
    return true;
}

/* The groups of the first rows, none of which may have other rows. SIZE_MAX on failure. */
static size_t first_groups(const dataset *set, size_t rows, tg_error *error)
{
    bool *seen = dataset_array(set->groups, 1, sizeof *seen);
    size_t count = 0;
    for (size_t row = 0; seen && row < rows; row++) {
        count += !seen[set->group[row]];
        seen[set->group[row]] = true;
    }
    for (size_t row = rows; seen && row < set->rows; row++)
        if (seen[set->group[row]]) {
            tg_fail(error, "%s: a group has rows among the first %zu and behind them, and no split may divide it",
                    set->name, rows);
            count = SIZE_MAX;
            break;
        }
    if (!seen)
        tg_fail(error, "%s: out of memory", set->name);
    free(seen);
    return seen ? count : SIZE_MAX;
}

/* The units of a portion. */
static size_t units_in(const dataset *set, portion part, tg_error *error)
{
    return part.first && set->group ? first_groups(set, part.count, error) : part.count;
}

/* True if something is left for training. */
static bool portions_fit(const dataset *set, portion validation, portion test, tg_error *error)
{
    const size_t units = count_units(set), valid = units_in(set, validation, error),
                 tested = units_in(set, test, error);
    if (valid == SIZE_MAX || tested == SIZE_MAX)
        return false;
    return valid + tested < units ||
           tg_fail(error, "%s: of %zu %s%s, %zu for validation and %zu for test leave none for training", set->name,
                   units, name_units(set), plural((long long)units), valid, tested);
}

/* Reads the values of `parts`; missing ones are the defaults of the data set. */
static bool read_portions(const dataset *set, const dataset_parts *parts, portion *validation, portion *test,
                          tg_error *error)
{
    size_t units = count_units(set);
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
    if (parts->folds && validation->first) { /* the others are in folds */
        const size_t first = units_in(set, *validation, error);
        if (first == SIZE_MAX)
            return false;
        units -= first;
    }
    if (parts->folds == 1)
        return tg_fail(error, "%s: 1 fold is no cross-validation, expected 2 or more", set->name);
    if (parts->folds)
        test->count = units / (size_t)parts->folds + 1;
    if (parts->folds &&
        (parts->folds < 2 || (size_t)parts->folds > units || parts->fold < 0 || parts->fold >= parts->folds))
        return tg_fail(error, "%s: %zu %s%s in %d folds", set->name, units, name_units(set), plural((long long)units),
                       parts->folds);
    return portions_fit(set, *validation, *test, error);
}

/* ---- a random order ---- */

/* A unit's place in a stratified order: a fraction, and then the random order. */
typedef struct place {
    double fraction;
    size_t random;
    int32_t unit;
} place;

static int by_place(const void *a, const void *b)
{
    const place *left = a, *right = b;
    const int order = (left->fraction > right->fraction) - (left->fraction < right->fraction);
    return order ? order : (left->random > right->random) - (left->random < right->random);
}

/* Spreads each class evenly over the order, so that every part of it has all classes in about the same proportion. A
 * class of a single unit comes to the middle, where neither the first nor the second fifth is. */
static bool stratify(const dataset *set, const int32_t *label, int32_t *random, size_t count)
{
    place *places = dataset_array(count, 1, sizeof *places);
    size_t *size = dataset_array(set->classes, 1, sizeof *size), *seen = dataset_array(set->classes, 1, sizeof *seen);
    const bool fine = places && size && seen;
    for (size_t i = 0; fine && i < count; i++)
        size[label[random[i]]]++;
    for (size_t i = 0; fine && i < count; i++) {
        const int32_t of = label[random[i]];
        places[i] = (place){((double)seen[of]++ + 0.5) / (double)size[of], i, random[i]};
    }
    if (fine)
        system_sort(places, count, sizeof *places, by_place);
    for (size_t i = 0; fine && i < count; i++)
        random[i] = places[i].unit;
    free(places);
    free(size);
    free(seen);
    return fine;
}

/* Shuffles units; in a table of classes the order is stratified. False without memory. */
static bool shuffle(const dataset *set, tg_rng *rng, int32_t *units, size_t count)
{
    tg_rng_shuffle(rng, count, units);
    if (!set->kind->columns || !set->labels)
        return true;
    int32_t *of_groups = set->group ? labels_of_groups(set) : NULL;
    const bool fine = (!set->group || of_groups) && stratify(set, set->group ? of_groups : set->labels, units, count);
    free(of_groups);
    return fine;
}

/* ---- splits ---- */

typedef enum { TRAIN, VALIDATION, TEST } purpose;

/* Marks the units of a split for a purpose: of the first rows, or the next unmarked ones of `units` in a random order.
 * `next` wraps around. */
static void mark(const dataset *set, purpose *of, const int32_t *random, size_t units, size_t *next, portion part,
                 purpose what)
{
    for (size_t i = 0; i < part.count;) {
        const size_t unit = part.first ? unit_of(set, i) : (size_t)random[(*next)++ % units];
        if (part.first || of[unit] == TRAIN) {
            of[unit] = what;
            i++;
        }
    }
}

/* Appends the rows of a split to those listed so far. */
static void list(dataset *set, const purpose *of, purpose wanted, size_t *listed, dataset_part *part)
{
    *part = (dataset_part){.row = set->order + *listed};
    for (size_t row = 0; row < set->rows; row++)
        if (of[unit_of(set, row)] == wanted) {
            set->order[(*listed)++] = (int32_t)row;
            part->rows++;
        }
}

/* The test split begins at its fold in the random order, and the validation rows follow. */
static bool choose(dataset *set, const dataset_parts *parts, portion validation, portion test, purpose *of,
                   int32_t *random)
{
    const size_t units = count_units(set);
    const tg_rng seed = tg_rng_seed(parts->seed);
    tg_rng rng = tg_rng_stream(&seed, "dataset.split");
    size_t next = 0, listed = 0, left = 0;
    for (size_t unit = 0; unit < units; unit++)
        random[unit] = (int32_t)unit;
    if (!shuffle(set, &rng, random, units))
        return false;
    for (size_t row = units; !set->group && row < set->rows; row++)
        of[row] = TEST;
    if (validation.first)
        mark(set, of, random, units, &next, validation, VALIDATION);
    for (size_t i = 0; i < units; i++)
        if (of[random[i]] == TRAIN)
            random[left++] = random[i];
    if (parts->folds) {
        const size_t folds = (size_t)parts->folds, fold = (size_t)parts->fold;
        next = left * fold / folds;
        test.count = left * (fold + 1) / folds - next;
    }
    mark(set, of, random, left, &next, test, TEST);
    if (!validation.first)
        mark(set, of, random, left, &next, validation, VALIDATION);
    list(set, of, TRAIN, &listed, &set->train);
    list(set, of, VALIDATION, &listed, &set->validation);
    list(set, of, TEST, &listed, &set->test);
    return true;
}

/* ---- another division of some rows ---- */

/* Lists rows by the order of their groups, and moves the end of the first part to the nearest end of a group that
 * leaves something on both sides. `units` [count] has the groups in their order, `at` [groups] room for one number
 * each. */
static void list_groups(const dataset *set, const dataset_part *from, const int32_t *units, size_t count, size_t *at,
                        int32_t *order, size_t *first)
{
    const size_t wanted = *first;
    size_t end = 0, best = 0;
    for (size_t i = 0; i < from->rows; i++)
        at[set->group[from->row[i]]]++;
    for (size_t i = 0; i < count; i++) {
        const size_t rows = at[units[i]];
        at[units[i]] = end;
        end += rows;
        const size_t far = end > wanted ? end - wanted : wanted - end,
                     least = best > wanted ? best - wanted : wanted - best;
        if (end < from->rows && (best == 0 || far < least))
            best = end;
    }
    for (size_t i = 0; i < from->rows; i++)
        order[at[set->group[from->row[i]]]++] = from->row[i];
    *first = best;
}

/* The groups of some rows, each once in ascending order; `seen` [groups] is false. */
static size_t groups_of(const dataset *set, const dataset_part *from, bool *seen, int32_t *units)
{
    size_t count = 0;
    for (size_t i = 0; i < from->rows; i++)
        seen[set->group[from->row[i]]] = true;
    for (size_t group = 0; group < set->groups; group++)
        if (seen[group])
            units[count++] = (int32_t)group;
    return count;
}

size_t dataset_count_groups(const dataset *set, const dataset_part *part)
{
    bool *seen = dataset_array(set->groups, 1, sizeof *seen);
    size_t count = 0;
    for (size_t i = 0; seen && i < part->rows; i++) {
        count += !seen[set->group[part->row[i]]];
        seen[set->group[part->row[i]]] = true;
    }
    free(seen);
    return count;
}

bool dataset_shuffle(const dataset *set, const dataset_part *from, uint64_t seed, int32_t *order, size_t *first)
{
    tg_rng rng = tg_rng_seed(seed);
    if (!set->group) {
        memcpy(order, from->row, from->rows * sizeof *order);
        return shuffle(set, &rng, order, from->rows);
    }
    bool *seen = dataset_array(set->groups, 1, sizeof *seen);
    int32_t *units = dataset_array(set->groups, 1, sizeof *units);
    size_t *at = dataset_array(set->groups, 1, sizeof *at);
    bool fine = seen && units && at;
    const size_t count = fine ? groups_of(set, from, seen, units) : 0;
    fine = fine && shuffle(set, &rng, units, count);
    if (fine)
        list_groups(set, from, units, count, at, order, first);
    free(seen);
    free(units);
    free(at);
    return fine;
}

/* ---- checks ---- */

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
    portion validation, test;
    parts = parts ? parts : &standard;
    set->train = set->validation = set->test = (dataset_part){0};
    if (!read_portions(set, parts, &validation, &test, error))
        return false;
    purpose *of = dataset_array(set->rows, 1, sizeof *of); /* of units, which are no more than rows */
    int32_t *random = dataset_array(count_units(set), 1, sizeof *random);
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
