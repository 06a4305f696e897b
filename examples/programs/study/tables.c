/* The rules of a report about forms: each form of a table at each of its levels, pairs of forms, published numbers, and
 * what the spread is due to. docs/studies.md lists the rules and the values that they give to templates. */
#include "examples/programs/report/memory.h"
#include "examples/programs/report/statistics.h"
#include "examples/programs/study/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXT(of, is)           \
    {                          \
        .name = of, .text = is \
    }
#define NUMBER(of, is)           \
    {                            \
        .name = of, .number = is \
    }

/* ---- tables: the forms of a grid at each level, each at its best rate by validation ---- */

enum { LEVELS = 5, FORMS = 16, TABLES = 20, PAIRS = LEVELS * FORMS * (FORMS - 1) / 2 };

typedef struct table {
    int number; /* from 1 */
    const char *about, *measure, *level[LEVELS];
    bool of_text;
    int levels, forms, family, seeds; /* of the file, of the grid, in the pairs; complete in all cells */
    const char *form[FORMS];
    study_cell cell[LEVELS][FORMS];
    double rate[LEVELS][FORMS], loss[LEVELS][FORMS][STUDY_SEEDS]; /* of a ratio the logarithms */
    double differ[PAIRS], equal[PAIRS];                           /* p of all pairs, one family */
} table;

static struct tables {
    bool ratio; /* of geometric means, not a difference of means */
    int count;
    table t[TABLES];
} all;

static double shown(double number)
{
    return all.ratio ? exp(number) : number;
}

static double percent(double difference_of_losses)
{
    return 100 * (exp(difference_of_losses) - 1);
}

static statistics_estimate difference(const table *t, int level, int one, int other)
{
    return statistics_paired(t->loss[level][one], t->loss[level][other], (size_t)t->seeds);
}

/* The number of a pair among those of all levels. */
static int pair_of(const table *t, int level, int one, int other)
{
    const int high = one > other ? one : other, low = one > other ? other : one;
    return level * t->family * (t->family - 1) / 2 + high * (high - 1) / 2 + low;
}

static int pair_count(const table *t)
{
    return pair_of(t, t->levels, 1, 0);
}

static void test_pairs(table *t, double within)
{
    for (int level = 0; level < t->levels; level++)
        for (int i = 0; i < t->family; i++)
            for (int k = 0; k < i; k++) {
                const statistics_estimate d = difference(t, level, i, k);
                t->differ[pair_of(t, level, i, k)] = statistics_p(&d);
                t->equal[pair_of(t, level, i, k)] = within > 0 ? statistics_equivalence_p(&d, log(1 + within)) : NAN;
            }
    statistics_holm(t->differ, t->family ? (size_t)pair_count(t) : 0);
    statistics_holm(t->equal, t->family ? (size_t)pair_count(t) : 0);
}

/* "relu", or ["rotary", "rotary-gelu_exact"]: what is shown, and the cell. */
static const char *form_at(const json_t *forms, size_t i, const char **cell)
{
    const json_t *form = json_array_get(forms, i);
    const char *name = json_is_array(form) ? json_string_value(json_array_get(form, 0)) : json_string_value(form);
    *cell = json_is_array(form) ? json_string_value(json_array_get(form, 1)) : name;
    return name;
}

static void read_table(table *t, const study *s, const json_t *of)
{
    const json_t *file = s->file, *forms = json_object_get(file, "forms"), *levels = json_object_get(of, "levels"),
                 *level;
    const char *prefix = json_string_value(json_object_get(of, "prefix")), *cell;
    const double own = json_number_value(json_object_get(of, "rate")),
                 rate = own > 0 ? own : json_number_value(json_object_get(file, "rate"));
    *t = (table){.about = json_string_value(json_object_get(of, "about")),
                 .of_text = json_is_true(json_object_get(of, "text")),
                 .measure = study_text(json_object_get(of, "measure") ? of : file, "measure"),
                 .number = all.count + 1,
                 .seeds = STUDY_SEEDS};
    t->levels = levels ? (int)json_array_size(levels) : 1;
    for (size_t form = 0; form < json_array_size(forms) && t->forms < FORMS; form++) {
        t->form[t->forms] = form_at(forms, form, &cell);
        for (int i = 0; i < t->levels && i < LEVELS; i++) {
            char name[POOL_NAME];
            level = json_array_get(levels, (size_t)i);
            t->level[i] = level ? json_string_value(json_array_get(level, 0)) : "";
            snprintf(name, sizeof name, "%s%s%s", prefix ? prefix : "", cell ? cell : "",
                     level ? json_string_value(json_array_get(level, 1)) : "");
            study_cell *c = &t->cell[i][t->forms];
            double *loss = t->loss[i][t->forms];
            *c = study_cell_of(s, name);
            t->rate[i][t->forms] = rate > 0 ? rate : c->best;
            const int complete = study_cell_values(c, t->rate[i][t->forms], t->measure, loss);
            t->seeds = c->name && complete < t->seeds ? complete : t->seeds;
            for (int seed = 0; all.ratio && seed < complete; seed++)
                loss[seed] = log(loss[seed]);
        }
        t->forms += t->cell[0][t->forms].name != NULL;
    }
    t->seeds = t->forms ? t->seeds : 0;
    t->family = (int)json_integer_value(json_object_get(file, "pairs"));
    t->family = t->family < t->forms ? t->family : t->forms;
    test_pairs(t, json_number_value(json_object_get(file, "equal_within")));
}

int study_read_tables(const study *s)
{
    const json_t *tables = json_object_get(s->file, "tables");
    all.count = 0;
    all.ratio = json_is_true(json_object_get(s->file, "ratio"));
    for (size_t i = 0; i < (tables ? json_array_size(tables) : 1) && i < TABLES; i++) {
        read_table(&all.t[all.count], s, json_array_get(tables, i));
        all.count += !i || all.t[all.count].seeds > 0;
    }
    return all.t[0].seeds;
}

const study_value *study_general(void)
{
    static study_value values[2];
    values[0] = (study_value)NUMBER("questions", pair_count(all.t));
    return values;
}

static int form_called(const table *t, const char *name)
{
    int form = 0;
    while (form < t->forms && (!name || strcmp(t->form[form], name) != 0))
        form++;
    return form;
}

/* ---- forms ---- */

/* True if the rate that is best in seed 1 has neighbours on both sides that were tried. */
static bool is_inside(const study_cell *cell)
{
    int tried = 0, best = 0; /* of those tried so far */
    double lowest = INFINITY;
    for (int r = 0; r < cell->rate_count; r++) {
        const double loss = study_cell_value(cell, cell->rates[r], "best_val_loss", 1);
        tried += !isnan(loss);
        best = loss < lowest ? tried : best;
        lowest = fmin(loss, lowest);
    }
    return best > 1 && best < tried;
}

/* A form at a level; and each seed of it, where the part has a row "seed". */
static void put_form(study_part *p, const table *t, int level, int form)
{
    const double *loss = t->loss[level][form];
    const statistics_estimate e = statistics_of(loss, (size_t)t->seeds);
    const statistics_spread of = statistics_spread_of(loss, (size_t)t->seeds);
    study_value values[] = {NUMBER("number", t->number),
                            TEXT("data", t->about),
                            TEXT("level", t->level[level]),
                            NUMBER("level_number", level + 1),
                            TEXT("form", t->form[form]),
                            NUMBER("rate", t->rate[level][form]),
                            NUMBER("seeds", t->seeds),
                            NUMBER("mean", shown(e.mean)),
                            NUMBER("low", shown(e.mean - e.margin)),
                            NUMBER("high", shown(e.mean + e.margin)),
                            NUMBER("least", shown(of.low)),
                            NUMBER("greatest", shown(of.high)),
                            NUMBER("seed", 0),
                            NUMBER("loss", 0),
                            {0}};
    enum { SEED = 12, LOSS };
    study_put(p, t->seeds > 1 ? "row" : "one", values);
    for (int seed = 0; seed < t->seeds; seed++) {
        values[SEED].number = seed + 1;
        values[LOSS].number = shown(loss[seed]);
        study_put(p, "seed", values);
    }
}

static void put_forms(study_part *p)
{
    int inside = 0, cells = 0;
    for (const table *t = all.t; t < all.t + all.count; t++)
        for (int i = 0; i < t->levels * t->forms; i++, cells++) {
            put_form(p, t, i / t->forms, i % t->forms);
            inside += is_inside(&t->cell[i / t->forms][i % t->forms]);
        }
    study_put(p, "count", (study_value[]){NUMBER("inside", inside), NUMBER("cells", cells), {0}});
}

/* Adds what the part's "level", or with one seed "level_of_one", says of a level to a text. */
static char *with_level(study_part *p, char *levels, bool several, const study_value values[])
{
    const char *template = study_text(p->part, several ? "level" : "level_of_one");
    char *each = study_say(p, template, values),
         *longer = memory_text("%s%s%s", levels ? levels : "", levels ? "|" : "", each);
    free(levels);
    free(each);
    return longer;
}

/* The means of a form at all levels in one row. */
static void put_lines(study_part *p)
{
    for (const table *t = all.t; t < all.t + all.count; t++)
        for (int form = 0; form < t->forms; form++) {
            study_value values[] = {TEXT("data", t->about),
                                    TEXT("form", t->form[form]),
                                    NUMBER("seeds", t->seeds),
                                    TEXT("level", NULL),
                                    NUMBER("mean", 0),
                                    {0},
                                    {0}};
            char *levels = NULL;
            for (int level = 0; level < t->levels; level++) {
                values[3].text = t->level[level];
                values[4].number = shown(statistics_of(t->loss[level][form], (size_t)t->seeds).mean);
                levels = with_level(p, levels, true, values);
            }
            values[5] = (study_value)TEXT("levels", levels);
            study_put(p, "row", values);
            free(levels);
        }
}

/* ---- pairs ---- */

/* What is asked of a pair: by which text, and the p that is corrected for these questions. */
typedef struct question {
    const char *text;
    double corrected; /* of the first level, where the pair is not of the family */
    int questions;
} question;

enum { PAIR_VALUES = 16 };

static void set_pair(study_value to[PAIR_VALUES], const table *t, int level, int one, int other, const question *asked)
{
    const statistics_estimate d = difference(t, level, one, other);
    const bool paired = one < t->family && other < t->family;
    const int pair = paired ? pair_of(t, level, one, other) : 0;
    const double corrected = paired ? t->differ[pair] : asked->corrected;
    const char *verdict = paired && t->equal[pair] < 0.05 ? "{equal}"
                          : !(corrected < 0.05)           ? "{undecided}"
                          : d.mean < 0                    ? "{better}"
                                                          : "{worse}";
    const study_value values[PAIR_VALUES] = {TEXT("text", asked->text),
                                             TEXT("data", t->about),
                                             TEXT("one", t->form[one]),
                                             TEXT("other", t->form[other]),
                                             NUMBER("seeds", t->seeds),
                                             NUMBER("difference", shown(d.mean)),
                                             NUMBER("low", shown(d.mean - d.margin)),
                                             NUMBER("high", shown(d.mean + d.margin)),
                                             NUMBER("percent", percent(d.mean)),
                                             NUMBER("percent_low", percent(d.mean - d.margin)),
                                             NUMBER("percent_high", percent(d.mean + d.margin)),
                                             NUMBER("p", statistics_p(&d)),
                                             NUMBER("corrected", corrected),
                                             NUMBER("questions", paired ? pair_count(t) : asked->questions),
                                             TEXT("verdict", verdict)};
    memcpy(to, values, sizeof values);
}

/* A form beside another, at each level. */
static void put_pair(study_part *p, const table *t, int one, int other, const question *asked)
{
    study_value values[PAIR_VALUES + 1] = {0};
    char *levels = NULL;
    for (int level = 0; level < t->levels; level++) {
        set_pair(values, t, level, one, other, asked);
        levels = with_level(p, levels, t->seeds > 1, values);
    }
    set_pair(values, t, 0, one, other, asked);
    values[PAIR_VALUES - 1] = (study_value)TEXT("levels", levels);
    study_put(p, "row", values);
    study_put(p, "say", values);
    free(levels);
}

static void put_pairs(study_part *p)
{
    const table *t = all.t;
    for (int i = 0; i < t->family; i++)
        for (int k = 0; k < i; k++)
            put_pair(p, t, i, k, &(question){.text = ""});
}

/* A question of "comparisons": [form, other, text]. Those that are not among the pairs are corrected among
 * themselves. */
static question question_at(const table *t, const json_t *list, size_t which, int *one, int *other)
{
    enum { MOST = 64 };
    double p[MOST];
    int count = 0, place = 0;
    const json_t *of;
    size_t i;
    json_array_foreach(list, i, of) {
        const int a = form_called(t, json_string_value(json_array_get(of, 0))),
                  b = form_called(t, json_string_value(json_array_get(of, 1)));
        *one = i == which ? a : *one;
        *other = i == which ? b : *other;
        place = i == which ? count : place;
        if (a < t->forms && b < t->forms && (a >= t->family || b >= t->family) && count < MOST) {
            const statistics_estimate d = difference(t, 0, a, b);
            p[count++] = statistics_p(&d);
        }
    }
    statistics_holm(p, (size_t)count);
    return (question){.text = json_string_value(json_array_get(json_array_get(list, which), 2)),
                      .corrected = place < count ? p[place] : NAN,
                      .questions = count};
}

static void put_comparisons(study_part *p)
{
    const json_t *list = json_object_get(p->of->file, "comparisons");
    const bool of_texts = json_is_true(json_object_get(p->part, "texts"));
    for (size_t i = 0; i < json_array_size(list); i++)
        for (const table *t = all.t; t < all.t + all.count; t++) {
            int one = t->forms, other = t->forms;
            const question asked = question_at(t, list, i, &one, &other);
            if ((t->of_text || !of_texts) && one < t->forms && other < t->forms)
                put_pair(p, t, one, other, &asked);
        }
}

/* ---- published numbers ---- */

/* The spread of a result over the seeds; of "lowest RESULT" that with the lowest median of those after some epochs. */
static statistics_spread ours_of(const study_cell *cell, double rate, const char *result)
{
    const json_t *after = json_object_get(cell->of->file, "after");
    statistics_spread lowest = {.median = INFINITY};
    const bool searched = strncmp(result, "lowest ", 7) == 0;
    for (size_t i = 0; i < (searched ? json_array_size(after) : 1); i++) {
        double values[STUDY_SEEDS];
        char name[60];
        snprintf(name, sizeof name, searched ? "%s_%d" : "%s", searched ? result + 7 : result,
                 (int)json_integer_value(json_array_get(after, i)));
        const int seeds = study_cell_values(cell, rate, name, values);
        const statistics_spread here = statistics_spread_of(values, (size_t)seeds);
        lowest = here.median < lowest.median ? here : lowest;
    }
    return lowest;
}

/* Where a published number lies beside ours. */
static const char *place_of(const statistics_spread *ours, double published, double within)
{
    const bool met = fabs(ours->median - published) <= within || (published >= ours->low && published <= ours->high);
    return met ? "{met}" : published < ours->low ? "{ours_greater}" : "{ours_less}";
}

/* A row for each rate at which a number of "published", [form, result, source, rate, number, within], is compared: its
 * own or, if it is 0, which means unknown, the first and the best. Returns true if one meets it; *found if there is
 * one. */
static bool put_number(study_part *p, const json_t *of, bool *found)
{
    const table *t = all.t;
    const char *form = json_string_value(json_array_get(of, 0)), *result = json_string_value(json_array_get(of, 1)),
               *source = json_string_value(json_array_get(of, 2)),
               *first =
                   json_string_value(json_array_get(json_array_get(json_object_get(p->of->file, "published"), 0), 2));
    const double at = json_number_value(json_array_get(of, 3)), published = json_number_value(json_array_get(of, 4)),
                 within = json_number_value(json_array_get(of, 5));
    const int place = form_called(t, form);
    const study_cell *cell = &t->cell[0][place];
    bool any = false;
    for (int i = 0; place < t->forms && i < cell->rate_count; i++) {
        const double rate = cell->rates[i];
        const statistics_spread ours = ours_of(cell, rate, result);
        if (!ours.count || !(at > 0 ? rate == at : i == 0 || rate == cell->best))
            continue;
        const char *where = place_of(&ours, published, within);
        const study_value values[] = {TEXT("form", form),
                                      TEXT("result", result),
                                      TEXT("source", source),
                                      NUMBER("source_number", 1 + (strcmp(source, first) != 0)),
                                      NUMBER("published", published),
                                      NUMBER("rate", rate),
                                      NUMBER("seeds", (double)ours.count),
                                      NUMBER("ours", ours.median),
                                      NUMBER("least", ours.low),
                                      NUMBER("greatest", ours.high),
                                      TEXT("place", where),
                                      {0}};
        const bool of_measure = strcmp(result, study_text(p->of->file, "measure")) == 0;
        study_put(p, "row", values);
        study_put(p, of_measure && !*found ? "measured" : "", values);
        any |= strcmp(where, "{met}") == 0;
        *found = true;
    }
    return any;
}

static void put_published(study_part *p)
{
    const json_t *list = json_object_get(p->of->file, "published"), *of;
    int count = 0, met = 0;
    size_t i;
    json_array_foreach(list, i, of) {
        bool found = false;
        met += put_number(p, of, &found);
        count += found;
    }
    if (count)
        study_put(p, "say", (study_value[]){NUMBER("met", met), NUMBER("count", count), {0}});
}

/* Published differences between two forms, [form, other, source, difference], beside ours at each level. */
static void put_differences(study_part *p)
{
    const json_t *list = json_object_get(p->of->file, "published_differences"), *of;
    const table *t = all.t;
    size_t i;
    json_array_foreach(list, i, of) {
        const int one = form_called(t, json_string_value(json_array_get(of, 0))),
                  other = form_called(t, json_string_value(json_array_get(of, 1)));
        const double published = json_number_value(json_array_get(of, 3));
        char *levels = NULL;
        for (int level = 0; level < t->levels && one < t->forms && other < t->forms; level++) {
            double by_seed[STUDY_SEEDS];
            for (int seed = 0; seed < t->seeds; seed++)
                by_seed[seed] = t->loss[level][one][seed] - t->loss[level][other][seed];
            const statistics_spread ours = statistics_spread_of(by_seed, (size_t)t->seeds);
            levels = with_level(p, levels, true,
                                (study_value[]){NUMBER("least", ours.low),
                                                NUMBER("greatest", ours.high),
                                                TEXT("place", place_of(&ours, published, 0)),
                                                {0}});
        }
        if (levels)
            study_put(p, "row",
                      (study_value[]){TEXT("source", json_string_value(json_array_get(of, 2))),
                                      NUMBER("published", published),
                                      TEXT("levels", levels),
                                      {0}});
        free(levels);
    }
}

/* ---- what the spread is due to ---- */

/* Shares of the sum of squares: of the level, the rate, the form, their interactions, and all that has the seed. */
enum { LEVEL, RATE, FORM, INTERACTIONS, SEED, SOURCES };

/* Returns the number of rates at which all cells have all seeds. */
static int decompose(const table *t, double shares[SOURCES])
{
    static double values[STUDY_RATES * LEVELS * FORMS * STUDY_SEEDS];
    double sums[16];
    const int block = t->levels * t->forms * t->seeds;
    int rates = 0;
    for (int r = 0; r < t->cell[0][0].rate_count; r++) {
        bool complete = true;
        for (int i = 0; i < block; i++) {
            const study_cell *cell = &t->cell[i / t->seeds / t->forms][i / t->seeds % t->forms];
            const double loss = study_cell_value(cell, cell->rates[r], t->measure, i % t->seeds + 1);
            values[rates * block + i] = loss;
            complete = complete && !isnan(loss);
        }
        rates += complete;
    }
    statistics_decompose(values, (const int[]){rates, t->levels, t->forms, t->seeds}, 4, sums);
    for (int set = 1; set < 16; set++)
        shares[set & 8    ? SEED
               : set == 1 ? RATE
               : set == 2 ? LEVEL
               : set == 4 ? FORM
                          : INTERACTIONS] += 100 * sums[set] / sums[0];
    return rates;
}

static void put_shares(study_part *p)
{
    const int count = json_is_true(json_object_get(p->part, "first")) ? 1 : all.count;
    for (const table *t = all.t; t < all.t + count; t++) {
        double shares[SOURCES] = {0};
        const int rates = decompose(t, shares);
        const study_value values[] = {NUMBER("number", t->number),
                                      TEXT("data", t->about),
                                      NUMBER("levels", t->levels),
                                      NUMBER("forms", t->forms),
                                      NUMBER("rates", rates),
                                      NUMBER("seeds", t->seeds),
                                      NUMBER("of_level", shares[LEVEL]),
                                      NUMBER("of_rate", shares[RATE]),
                                      NUMBER("of_form", shares[FORM]),
                                      NUMBER("of_interactions", shares[INTERACTIONS]),
                                      NUMBER("of_seed", shares[SEED]),
                                      {0}};
        study_put(p, "row", values);
        study_put(p, "say", values);
    }
}

/* By how much perplexity changes, in percent: of all forms at a level, or of one form over the levels. */
static double range(const table *t, int level, int form)
{
    double mean[LEVELS * FORMS];
    size_t count = 0;
    for (int i = 0; i < t->levels; i++)
        for (int k = 0; k < t->forms; k++)
            if (i == level || k == form)
                mean[count++] = statistics_of(t->loss[i][k], (size_t)t->seeds).mean;
    const statistics_spread all_means = statistics_spread_of(mean, count);
    return percent(all_means.high - all_means.low);
}

static void put_ranges(study_part *p)
{
    static const char *const names[LEVELS][2] = {{"level_1", "range_1"},
                                                 {"level_2", "range_2"},
                                                 {"level_3", "range_3"},
                                                 {"level_4", "range_4"},
                                                 {"level_5", "range_5"}};
    for (const table *t = all.t; t < all.t + all.count; t++) {
        int least = 0, most = 0;
        for (int f = 0; f < t->forms; f++) {
            least = range(t, -1, f) < range(t, -1, least) ? f : least;
            most = range(t, -1, f) > range(t, -1, most) ? f : most;
        }
        study_value values[8 + 2 * LEVELS] = {TEXT("data", t->about),
                                              NUMBER("seeds", t->seeds),
                                              TEXT("s", t->seeds > 1 ? "s" : ""),
                                              NUMBER("least", range(t, -1, least)),
                                              TEXT("least_form", t->form[least]),
                                              NUMBER("most", range(t, -1, most)),
                                              TEXT("most_form", t->form[most])};
        for (int level = 0; level < t->levels; level++) {
            values[7 + 2 * level] = (study_value)TEXT(names[level][0], t->level[level]);
            values[8 + 2 * level] = (study_value)NUMBER(names[level][1], range(t, level, -1));
        }
        if (t->of_text)
            study_put(p, "say", values);
    }
}

/* ---- the rules ---- */

static const struct {
    const char *name;
    void (*put)(study_part *p);
} rules[] = {{"forms", put_forms},         {"pairs", put_pairs},         {"comparisons", put_comparisons},
             {"published", put_published}, {"shares", put_shares},       {"differences", put_differences},
             {"ranges", put_ranges},       {"claims", study_put_claims}, {"lines", put_lines}};

void study_put_rule(study_part *p, const char *rule)
{
    size_t i = 0;
    while (i < sizeof rules / sizeof *rules && strcmp(rules[i].name, rule) != 0)
        i++;
    if (i < sizeof rules / sizeof *rules)
        rules[i].put(p);
    else if (!p->broken)
        p->broken = !tg_fail(&p->error, "%s: there is no rule '%.60s'", p->of->name, rule);
}
