/* The rules of a report about forms: each form of a table at each of its levels, pairs of forms, published numbers, and
 * what the spread is due to. docs/studies.md lists the rules and the values that they give to templates. */
#include "examples/programs/report/memory.h"
#include "examples/programs/study/study.h"

/* ---- tables: the forms of a grid at each level, each at its best rate by validation ---- */

enum { LEVELS = 5, FORMS = 16, TABLES = 20 };

typedef double answers[LEVELS][FORMS][FORMS];

typedef struct table {
    const char *about, *measure, *level[LEVELS], *form[FORMS];
    int number, levels, forms, seeds; /* number: from 1; seeds: complete in all cells */
    study_cell cell[LEVELS][FORMS];   /* `best` is the rate at which it is compared */
    study_sample loss[LEVELS][FORMS];
    /* The p of comparisons of two forms, NaN if there is none, in two families that are corrected each by itself: all
     * pairs of the first `paired` forms, the later one first, and others. */
    int paired, questions[2];
    answers differ[2], equal;
} table;

static struct tables {
    int count;
    table t[TABLES];
} all;

static void ask(table *t, int family, int one, int other, double within)
{
    for (int level = 0; level < t->levels; level++) {
        const statistics_estimate d =
            statistics_paired(t->loss[level][one].by_seed, t->loss[level][other].by_seed, (size_t)t->seeds);
        t->differ[family][level][one][other] = statistics_p(&d);
        t->equal[level][one][other] = within > 0 ? statistics_equivalence_p(&d, log(1 + within)) : NAN;
        t->questions[family]++;
    }
}

/* The form of a name in a list; the number of forms if there is none. */
static int form_at(const table *t, const json_t *list, size_t place)
{
    const char *name = json_string_value(json_array_get(list, place));
    int form = 0;
    while (form < t->forms && (!name || strcmp(t->form[form], name) != 0))
        form++;
    return form;
}

static void read_questions(table *t, const json_t *file)
{
    const double within = json_number_value(json_object_get(file, "equal_within"));
    const int pairs = (int)json_integer_value(json_object_get(file, "pairs"));
    double *p[] = {**t->differ[0], **t->differ[1], **t->equal};
    const json_t *of;
    size_t i;
    for (i = 0; i < 3 * LEVELS * FORMS * FORMS; i++)
        p[i % 3][i / 3] = NAN;
    t->paired = pairs < t->forms ? pairs : t->forms;
    for (int one = 0; one < t->paired; one++)
        for (int other = 0; other < one; other++)
            ask(t, 0, one, other, within);
    json_array_foreach(json_object_get(file, "comparisons"), i, of) {
        const int one = form_at(t, of, 0), other = form_at(t, of, 1);
        if (one < t->forms && other < t->forms && (one >= t->paired || other >= t->paired))
            ask(t, 1, one, other, 0);
    }
    for (i = 0; i < 3; i++)
        statistics_holm(p[i], LEVELS * FORMS * FORMS);
}

/* Adds a form, if it has runs. */
static void read_form(table *t, const study *s, const json_t *of, const char *form, double rate)
{
    const char *prefix = study_text(of, "prefix"), *cell = study_text(json_object_get(s->file, "cells"), form);
    const bool ratio = json_is_true(json_object_get(s->file, "ratio"));
    t->form[t->forms] = form;
    for (int i = 0; i < t->levels; i++) {
        const json_t *level = json_array_get(json_object_get(of, "levels"), (size_t)i);
        study_cell *c = &t->cell[i][t->forms];
        char *name = memory_text("%s%s%s", prefix ? prefix : "", cell ? cell : form,
                                 level ? json_string_value(json_array_get(level, 1)) : "");
        *c = study_cell_of(s, name);
        free(name);
        for (int r = 0; r < c->rates; r++)
            c->best = c->rate[r] == rate ? r : c->best;
        const study_sample loss = study_sample_of(c, c->best, t->measure, ratio);
        const int seeds = rate > 0 && c->rate[c->best] != rate ? 0 : loss.seeds;
        t->level[i] = level ? json_string_value(json_array_get(level, 0)) : "";
        t->loss[i][t->forms] = loss;
        t->seeds = c->rates && seeds < t->seeds ? seeds : t->seeds;
    }
    t->forms += t->cell[0][t->forms].rates > 0;
}

static void read_table(table *t, const study *s, const json_t *of)
{
    const json_t *levels = json_object_get(of, "levels"), *rate = json_object_get(of, "rate"), *form;
    const size_t count = levels ? json_array_size(levels) : 1;
    size_t i;
    *t = (table){.number = all.count + 1, .seeds = STUDY_SEEDS, .levels = count < LEVELS ? (int)count : LEVELS};
    t->about = json_string_value(json_object_get(of, "about"));
    t->measure = study_text(json_object_get(of, "measure") ? of : s->file, "measure");
    json_array_foreach(json_object_get(s->file, "forms"), i, form) {
        if (t->forms < FORMS)
            read_form(t, s, of, json_string_value(form),
                      json_number_value(rate ? rate : json_object_get(s->file, "rate")));
    }
    t->seeds = t->forms ? t->seeds : 0;
    for (int k = 0; k < LEVELS * FORMS; k++)
        t->loss[k / FORMS][k % FORMS].seeds = t->seeds;
    read_questions(t, s->file);
}

int study_read_tables(const study *s)
{
    const json_t *tables = json_object_get(s->file, "tables");
    all.count = 0;
    for (size_t i = 0; i < (tables ? json_array_size(tables) : 1) && i < TABLES; i++) {
        read_table(&all.t[all.count], s, json_array_get(tables, i));
        all.count += !i || all.t[all.count].seeds > 0;
    }
    return all.t[0].seeds;
}

/* The end of the tables that a part is about: the first "tables", or all. */
static const table *end_of_tables(const study_part *p)
{
    const json_t *count = json_object_get(p->part, "tables");
    return all.t + (count && json_integer_value(count) < all.count ? json_integer_value(count) : all.count);
}

/* ---- values ---- */

statistics_estimate study_set_sample(json_t *values, const study_sample *one, const study_sample *other)
{
    const size_t seeds = (size_t)one->seeds;
    const statistics_estimate e = statistics_paired(one->by_seed, other ? other->by_seed : NULL, seeds);
    double by_seed[STUDY_SEEDS];
    for (size_t i = 0; i < seeds; i++)
        by_seed[i] = one->by_seed[i] - (other ? other->by_seed[i] : 0);
    const statistics_spread of = statistics_spread_of(by_seed, seeds);
    study_set(values, "seeds", one->seeds);
    study_set(values, "mean", study_shown(one, e.mean));
    study_set(values, "low", study_shown(one, e.mean - e.margin));
    study_set(values, "high", study_shown(one, e.mean + e.margin));
    study_set(values, "least", study_shown(one, of.low));
    study_set(values, "median", study_shown(one, of.median));
    study_set(values, "greatest", study_shown(one, of.high));
    study_set(values, "p", statistics_p(&e));
    return e;
}

static double number_in(const json_t *values, const char *name)
{
    return json_number_value(json_object_get(values, name));
}

/* Sets where the value "published" lies beside ours, which are as near as "within"; true if it is met. */
static bool set_place(json_t *values)
{
    const double published = number_in(values, "published"), least = number_in(values, "least"),
                 off = fabs(number_in(values, "median") - published);
    const bool met =
        off <= number_in(values, "within") || (published >= least && published <= number_in(values, "greatest"));
    json_object_set_new(values, "place",
                        json_string(met                 ? "{met}"
                                    : published < least ? "{ours_greater}"
                                                        : "{ours_less}"));
    return met;
}

/* The values of a form at a level or, with another one (-1: none), of their differences, for the item `of` of a list:
 * [form, other, text, published difference], or NULL. */
static json_t *values_of(const table *t, int level, int form, int other, const json_t *of)
{
    const study_cell *c = &t->cell[level][form];
    json_t *values = json_pack("{s:i, s:s?, s:s, s:s?, s:i, s:s, s:f}", "number", t->number, "data", t->about, "form",
                               t->form[form], "other", other < 0 ? NULL : t->form[other], "level_number", level + 1,
                               "level", t->level[level], "rate", c->rate[c->best]);
    const double mean = study_set_sample(values, &t->loss[level][form], other < 0 ? NULL : &t->loss[level][other]).mean;
    const bool paired = form < t->paired && other < t->paired, later = !paired || form > other;
    const int one = later ? form : other, less = later ? other : form;
    if (other >= 0) {
        const double p = t->differ[!paired][level][one][less];
        study_set(values, "corrected", p);
        study_set(values, "questions", t->questions[!paired]);
        json_object_set_new(values, "verdict",
                            json_string(t->equal[level][one][less] < 0.05 ? "{equal}"
                                        : !(p < 0.05)                     ? "{undecided}"
                                        : mean < 0                        ? "{better}"
                                                                          : "{worse}"));
    }
    json_object_set(values, "text", json_array_get(of, 2));
    if (json_object_set(values, "published", json_array_get(of, 3)) == 0)
        set_place(values);
    return values;
}

/* ---- forms and pairs ---- */

/* A row, or a sentence, with what the part's "level" says of all levels; its other values are those of the first. */
static void put_levels(study_part *p, const table *t, int form, int other, const json_t *of)
{
    json_t *values = NULL;
    char *levels = NULL;
    for (int level = t->levels - 1; level >= 0; level--) {
        json_decref(values);
        values = values_of(t, level, form, other, of);
        char *each = study_say(p, study_text(p->part, "level"), values),
             *longer = memory_text("%s%s%s", each, levels ? "|" : "", levels ? levels : "");
        free(levels);
        free(each);
        levels = longer;
    }
    json_object_set_new(values, "levels", json_string(levels));
    study_put(p, "row", values);
    study_put(p, "say", values);
    json_decref(values);
    free(levels);
}

static void put_lines(study_part *p)
{
    for (const table *t = all.t; t < end_of_tables(p); t++)
        for (int form = 0; form < t->forms; form++)
            put_levels(p, t, form, -1, NULL);
}

static void put_pairs(study_part *p)
{
    for (const table *t = all.t; t < end_of_tables(p); t++)
        for (int one = 0; one < t->paired; one++)
            for (int other = 0; other < one; other++)
                put_levels(p, t, one, other, NULL);
}

/* The part's "list", or else "comparisons": [form, other, text, published difference]. */
static void put_comparisons(study_part *p)
{
    const char *name = study_text(p->part, "list");
    const json_t *of;
    size_t i;
    json_array_foreach(json_object_get(p->of->file, name ? name : "comparisons"), i, of) {
        for (const table *t = all.t; t < end_of_tables(p); t++) {
            const int form = form_at(t, of, 0), other = form_at(t, of, 1);
            if (form < t->forms && other < t->forms)
                put_levels(p, t, form, other, of);
        }
    }
}

/* True if the rate that is best in seed 1 has neighbours on both sides that were tried. */
static bool is_inside(const study_cell *cell)
{
    int tried = 0, best = 0; /* of those tried so far */
    double lowest = INFINITY;
    for (int rate = 0; rate < cell->rates; rate++) {
        const study_sample losses = study_sample_of(cell, rate, "best_val_loss", false);
        const double loss = losses.seeds ? losses.by_seed[0] : NAN;
        tried += !isnan(loss);
        best = loss < lowest ? tried : best;
        lowest = fmin(loss, lowest);
    }
    return best > 1 && best < tried;
}

/* A form at a level; and each seed of it, where the part has a row "seed". */
static void put_form(study_part *p, const table *t, int level, int form)
{
    json_t *values = values_of(t, level, form, -1, NULL);
    const study_sample *loss = &t->loss[level][form];
    study_put(p, "row", values);
    for (int seed = 0; seed < t->seeds; seed++) {
        study_set(values, "seed", seed + 1);
        study_set(values, "loss", study_shown(loss, loss->by_seed[seed]));
        study_put(p, "seed", values);
    }
    json_decref(values);
}

static void put_forms(study_part *p)
{
    int inside = 0, cells = 0;
    for (const table *t = all.t; t < end_of_tables(p); t++)
        for (int i = 0; i < t->levels * t->forms; i++, cells++) {
            put_form(p, t, i / t->forms, i % t->forms);
            inside += is_inside(&t->cell[i / t->forms][i % t->forms]);
        }
    json_t *values = json_pack("{s:i, s:i}", "inside", inside, "cells", cells);
    study_put(p, "count", values);
    json_decref(values);
}

/* ---- published numbers ---- */

/* A result of each seed; of "lowest RESULT" that with the lowest median of those after some epochs. */
static study_sample result_of(const study *s, const study_cell *cell, int rate, const char *result)
{
    const json_t *epoch;
    size_t i;
    study_sample best = {0};
    double lowest = INFINITY;
    if (strncmp(result, "lowest ", 7) != 0)
        return study_sample_of(cell, rate, result, false);
    json_array_foreach(json_object_get(s->file, "after"), i, epoch) {
        char *name = memory_text("%s_%d", result + 7, (int)json_integer_value(epoch));
        const study_sample after = study_sample_of(cell, rate, name, false);
        const double median = statistics_spread_of(after.by_seed, (size_t)after.seeds).median;
        best = median < lowest ? after : best;
        lowest = fmin(median, lowest);
        free(name);
    }
    return best;
}

/* A row for each rate at which a number of "published", [form, result, source, rate, number, within], is compared: its
 * own or, if it is 0, which means unknown, the first and the best. */
static void put_published(study_part *p)
{
    static const char *const names[] = {"form", "result", "source", "own_rate", "published", "within"};
    const table *t = all.t;
    json_t *of;
    int count = 0, met = 0;
    size_t i;
    json_array_foreach(json_object_get(p->of->file, "published"), i, of) {
        const int form = form_at(t, of, 0);
        const study_cell *cell = &t->cell[0][form < t->forms ? form : 0];
        const double own = json_number_value(json_array_get(of, 3));
        bool found = false, one_met = false;
        for (int rate = 0; form < t->forms && rate < cell->rates; rate++) {
            if (own > 0 ? cell->rate[rate] != own : rate > 0 && rate != cell->best)
                continue;
            const study_sample ours = result_of(p->of, cell, rate, json_string_value(json_array_get(of, 1)));
            json_t *values = json_pack("{s:f}", "rate", cell->rate[rate]);
            for (size_t k = 0; k < sizeof names / sizeof *names; k++)
                json_object_set(values, names[k], json_array_get(of, k));
            study_set_sample(values, &ours, NULL);
            if (!json_is_null(json_object_get(values, "median"))) {
                one_met |= set_place(values);
                study_put(p, "row", values);
                study_put(p, found ? "" : "first", values);
                found = true;
            }
            json_decref(values);
        }
        count += found;
        met += one_met;
    }
    json_t *values = json_pack("{s:i, s:i}", "met", met, "count", count);
    if (count)
        study_put(p, "say", values);
    json_decref(values);
}

/* ---- what the spread is due to ---- */

/* Writes the measure of all seeds, forms and levels at each rate at which they are complete; returns their number. */
static int collect(const table *t, double values[])
{
    const int block = t->levels * t->forms * t->seeds;
    int rates = 0;
    for (int r = 0; r < t->cell[0][0].rates; r++) {
        bool complete = true;
        for (int i = 0; i < block; i++) {
            const study_cell *cell = &t->cell[i / t->seeds / t->forms][i / t->seeds % t->forms];
            const study_sample loss = study_sample_of(cell, r, t->measure, false);
            values[rates * block + i] = loss.by_seed[i % t->seeds];
            complete = complete && i % t->seeds < loss.seeds && !isnan(loss.by_seed[i % t->seeds]);
        }
        rates += complete;
    }
    return rates;
}

/* Shares of the sum of squares, in percent: of the rate, the level, the form, their interactions, and all that has the
 * seed. */
static void put_shares(study_part *p)
{
    static double values[STUDY_RATES * LEVELS * FORMS * STUDY_SEEDS];
    enum { RATE, LEVEL, FORM, INTERACTIONS, SEED, SOURCES };
    static const char *const names[SOURCES] = {"of_rate", "of_level", "of_form", "of_interactions", "of_seed"};
    for (const table *t = all.t; t < end_of_tables(p); t++) {
        double sums[16], shares[SOURCES] = {0};
        const int rates = collect(t, values);
        json_t *v = json_pack("{s:i, s:s?, s:i, s:i, s:i, s:i}", "number", t->number, "data", t->about, "levels",
                              t->levels, "forms", t->forms, "rates", rates, "seeds", t->seeds);
        statistics_decompose(values, (const int[]){rates, t->levels, t->forms, t->seeds}, 4, sums);
        for (int set = 1; set < 16; set++)
            shares[set & 8 ? SEED : set == 1 ? RATE : set == 2 ? LEVEL : set == 4 ? FORM : INTERACTIONS] += sums[set];
        for (int i = 0; i < SOURCES; i++)
            study_set(v, names[i], 100 * shares[i] / sums[0]);
        study_put(p, "row", v);
        study_put(p, "say", v);
        json_decref(v);
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
                mean[count++] = statistics_of(t->loss[i][k].by_seed, (size_t)t->seeds).mean;
    const statistics_spread means = statistics_spread_of(mean, count);
    return 100 * (exp(means.high - means.low) - 1);
}

static void put_ranges(study_part *p)
{
    for (const table *t = all.t; t < end_of_tables(p); t++) {
        int least = 0, most = 0;
        for (int f = 0; f < t->forms; f++) {
            least = range(t, -1, f) < range(t, -1, least) ? f : least;
            most = range(t, -1, f) > range(t, -1, most) ? f : most;
        }
        json_t *values = json_pack("{s:s?, s:i, s:s, s:s, s:s}", "data", t->about, "seeds", t->seeds, "s",
                                   t->seeds > 1 ? "s" : "", "least_form", t->form[least], "most_form", t->form[most]);
        study_set(values, "least", range(t, -1, least));
        study_set(values, "most", range(t, -1, most));
        for (int level = 0; level < t->levels; level++) {
            char name[20];
            snprintf(name, sizeof name, "range_%d", level + 1);
            study_set(values, name, range(t, level, -1));
            snprintf(name, sizeof name, "level_%d", level + 1);
            json_object_set_new(values, name, json_string(t->level[level]));
        }
        study_put(p, "say", values);
        json_decref(values);
    }
}

/* ---- the rules ---- */

static const struct {
    const char *name;
    void (*put)(study_part *p);
} rules[] = {
    {"forms", put_forms},   {"lines", put_lines},   {"pairs", put_pairs},         {"comparisons", put_comparisons},
    {"shares", put_shares}, {"ranges", put_ranges}, {"claims", study_put_claims}, {"published", put_published}};

void study_put_rule(study_part *p)
{
    const char *rule = study_text(p->part, "rule");
    size_t i = 0;
    while (i < sizeof rules / sizeof *rules && (!rule || strcmp(rules[i].name, rule) != 0))
        i++;
    if (i < sizeof rules / sizeof *rules)
        rules[i].put(p);
    else
        study_refuse(p, rule ? rule : "", "there is no such rule");
}
