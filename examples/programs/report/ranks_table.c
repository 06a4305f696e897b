
#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/files.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/report/ranks.h"
#include "examples/programs/report/table.h"

#define DIVERGED -1e300
enum { FEWEST_SETS = 5, FEW_SETS = 20, DRAWS = 20000 };

struct ranks_answer {
    ranks_question q;
    bool relative; /* differences are those of the logarithms */
    double *score; /* [sets, forms]: more is better; DIVERGED is the worst */
    double *mean;  /* [forms]: mean ranks */
    size_t *order; /* the forms by mean rank */
    double all;    /* p of Friedman's test: by random orders, or of many data sets by the F distribution */
    ranks_pair *pair;
};

/* ---- the answer ---- */

static void fill_scores(ranks_answer *a)
{
    const ranks_question *q = &a->q;
    a->relative = q->direction == DIRECTION_LESS;
    for (size_t i = 0; i < q->sets * q->forms; i++)
        a->relative &= !(q->value[i] <= 0);
    for (size_t i = 0; i < q->sets * q->forms; i++) {
        const double number = a->relative ? log(q->value[i]) : q->value[i];
        a->score[i] = !isfinite(number) ? DIVERGED : q->direction == DIRECTION_LESS ? -number : number;
    }
}

static void fill_order(ranks_answer *a)
{
    for (size_t f = 0; f < a->q.forms; f++) {
        size_t at = f;
        for (; at > 0 && a->mean[a->order[at - 1]] > a->mean[f]; at--)
            a->order[at] = a->order[at - 1];
        a->order[at] = f;
    }
}

ranks_answer *ranks_answer_new(const ranks_question *q)
{
    ranks_answer *a = memory_checked(calloc(1, sizeof *a));
    *a = (ranks_answer){.q = *q,
                        .score = memory_checked(calloc(q->sets * q->forms + 1, sizeof *a->score)),
                        .mean = memory_checked(calloc(q->forms + 1, sizeof *a->mean)),
                        .order = memory_checked(calloc(q->forms + 1, sizeof *a->order)),
                        .pair = memory_checked(calloc(q->forms * q->forms + 1, sizeof *a->pair))};
    fill_scores(a);
    const ranks_scores of = {a->score, q->sets, q->forms, false};
    a->all = q->sets <= FEW_SETS ? ranks_permuted(&of, DRAWS) : ranks_friedman(&of, NULL);
    ranks_mean(&of, a->mean);
    fill_order(a);
    ranks_pairs(&of, a->relative ? log1p(q->margin) : q->margin, a->pair);
    return a;
}

void ranks_answer_free(ranks_answer *a)
{
    if (!a)
        return;
    free(a->score);
    free(a->mean);
    free(a->order);
    free(a->pair);
    free(a);
}

/* The pair of two different forms. */
static const ranks_pair *pair_of(const ranks_answer *a, size_t one, size_t other)
{
    const size_t low = one < other ? one : other, high = one < other ? other : one;
    return &a->pair[low * a->q.forms - low * (low + 1) / 2 + high - low - 1];
}

static bool differ(const ranks_answer *a, size_t one, size_t other)
{
    return a->all < 0.05 && pair_of(a, one, other)->p < 0.05;
}

/* The last place in the order up to which no pair from this place on can be told apart. */
static size_t joined_to(const ranks_answer *a, size_t place)
{
    for (size_t last = place + 1; last < a->q.forms; last++)
        for (size_t before = place; before < last; before++)
            if (differ(a, a->order[before], a->order[last]))
                return last - 1;
    return a->q.forms - 1;
}

/* ---- the table ---- */

static int count_best(const ranks_answer *a, size_t form)
{
    int best = 0;
    for (size_t s = 0; s < a->q.sets; s++) {
        const double *score = a->score + s * a->q.forms;
        bool is_best = true;
        for (size_t other = 0; other < a->q.forms; other++)
            is_best &= score[form] >= score[other];
        best += is_best;
    }
    return best;
}

static table *table_of_forms(const ranks_answer *a, bool joins)
{
    const ranks_question *q = &a->q;
    table *t = table_new(1);
    table_add_column(t, &(table_column){.name = "activation"});
    table_add_column(t, &(table_column){.name = "mean rank", .csv = "mean_rank"});
    table_add_column(t, &(table_column){.name = "best on", .csv = "best_on"});
    if (joins)
        table_add_column(t, &(table_column){.name = "joined to", .csv = "joined_to"});
    for (size_t s = 0; s < q->sets; s++)
        table_add_column(t, &(table_column){.name = q->set[s], .csv = q->set[s]});
    for (size_t place = 0; place < q->forms; place++) {
        const size_t f = a->order[place];
        table_add_row(t);
        table_add_cell(t, "%s", q->form[f]);
        table_add_cell(t, "%.2f", a->mean[f]);
        table_numbers(t, 1, &a->mean[f]);
        table_add_cell(t, "%d", count_best(a, f));
        if (joins) {
            table_add_cell(t, "joined");
            table_numbers(t, 1, &a->mean[a->order[joined_to(a, place)]]);
        }
        for (size_t s = 0; s < q->sets; s++) {
            table_add_cell(t, "%.4g", q->value[s * q->forms + f]);
            table_numbers(t, 1, &q->value[s * q->forms + f]);
        }
    }
    return t;
}

/* ---- sentences ---- */

/* 1 if a form is better than another one by a test that tells them apart, -1 if it is worse, else 0. */
static int order_of(const ranks_answer *a, size_t one, size_t other)
{
    return !differ(a, one, other) ? 0 : (one < other ? -1 : 1) * pair_of(a, one, other)->sign;
}

/* "c, d": the forms to which each of the first `best` ones by mean rank is in this order. */
static void list_forms(const ranks_answer *a, size_t best, int order, char *text, size_t size)
{
    *text = '\0';
    for (size_t place = best; place < a->q.forms; place++) {
        bool all = true;
        for (size_t i = 0; i < best; i++)
            all &= order_of(a, a->order[i], a->order[place]) == order;
        if (all)
            text_add(text, size, "%s%s", *text ? ", " : "", a->q.form[a->order[place]]);
    }
}

/* The sentence on all forms, with those that the first ones by mean rank beat. */
static void add_verdict(const ranks_answer *a, table *t)
{
    const ranks_question *q = &a->q;
    char names[500] = "", beaten[500], before[500], rest[1100] = "";
    size_t best = 0;
    while (best < q->forms && a->mean[a->order[best]] == a->mean[a->order[0]])
        best++;
    for (size_t i = 0; i < best; i++)
        text_add(names, sizeof names, "%s%s", list_joint((int)i, (int)best), q->form[a->order[i]]);
    list_forms(a, best, 1, beaten, sizeof beaten);
    list_forms(a, best, -1, before, sizeof before);
    const char *are = best > 1 ? "they are" : "it is", *them = best > 1 ? "them" : "it";
    if (*beaten)
        snprintf(rest, sizeof rest, "%s better than %s", are, beaten);
    else if (!*before)
        snprintf(rest, sizeof rest, "no other can be told from %s", them);
    if (*before) /* mean ranks depend on the other forms, too */
        text_add(rest, sizeof rest, "%sby Wilcoxon's test %s is better than %s", *beaten ? "; but " : "but ", before,
                 them);
    if (!(a->all < 0.05))
        table_add_verdict(t, "Over %zu data sets the ranks do not differ significantly, p = %.2g.", q->sets, a->all);
    else
        table_add_verdict(t, "Over %zu data sets the ranks differ, p = %.2g. %s %s the best mean rank, %.2f; %s.",
                          q->sets, a->all, names, best > 1 ? "have" : "has", a->mean[a->order[0]], rest);
    const size_t needed = ranks_sets_needed(q->forms);
    if (q->sets < needed)
        table_add_verdict(t, "%zu data sets are too few to tell two of %zu apart: that takes %zu at least.", q->sets,
                          q->forms, needed);
}

static const ranks_pair *pair_at(const ranks_answer *a, size_t one, size_t other, double *change)
{
    const ranks_pair *p = pair_of(a, one, other);
    const double more = a->q.direction == DIRECTION_LESS ? -p->mean : p->mean;
    *change = fabs(p->mean) > 1e200 ? NAN : a->relative ? expm1(more) : more; /* NaN: one diverged */
    return p;
}

/* "1 %", or "0.01" */
static const char *margin_of(const ranks_answer *a, char text[40])
{
    snprintf(text, 40, a->relative ? "%g %%" : "%g", a->q.margin * (a->relative ? 100 : 1));
    return text;
}

static void add_pairs(const ranks_answer *a, table *t)
{
    const ranks_question *q = &a->q;
    char margin[40], size[120], number[NUMBER_TEXT];
    double change;
    for (size_t one = 0; one < q->forms; one++)
        for (size_t other = one + 1; other < q->forms; other++) {
            const ranks_pair *p = pair_at(a, one, other, &change);
            snprintf(size, sizeof size, a->relative ? ", %.60s %s %% in geometric mean" : ", %.60s %s on the mean",
                     q->measure,
                     number_placed(a->relative ? 100 * change : change, a->relative ? 1 : NUMBER_TINY, true, number));
            table_add_verdict(t,
                              "%s against %s: better on %d and worse on %d of %zu data sets%s, p = %.2g; better by "
                              "more than %s with probability %.2f, worse %.2f.",
                              q->form[other], q->form[one], p->better, p->worse, q->sets, isnan(change) ? "" : size,
                              p->p, margin_of(a, margin), p->probability[2], p->probability[0]);
        }
}

static void put_note(const char *format, FILE *out, const char *text, ...)
{
    char note[1000];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(note, sizeof note, text, arguments);
    va_end(arguments);
    table_print_sentence(note, false, format, out);
}

void ranks_print_definitions(const ranks_answer *a, const char *format, FILE *out)
{
    char margin[40];
    if (strcmp(format, "latex text") == 0)
        put_note(format, out,
                 "All but the first are compared with %s, on %zu data sets; p of all together: %.2g. * significant at "
                 "5 %%. Better, equal, worse: the probability of a difference of more than %s, and of less.",
                 a->q.form[a->order[0]], a->q.sets, a->all, margin_of(a, margin));
    put_note(format, out,
             "A data set counts by its mean %s over the seeds (%s), with what its own comparison says of rates and "
             "scales.",
             a->q.measure, direction_words(a->q.direction));
    put_note(format, out, "All together: Friedman's test of ranks, %s.",
             a->q.sets <= FEW_SETS ? "by random orders" : "as Iman and Davenport corrected it");
    const size_t pairs = a->q.forms * (a->q.forms - 1) / 2;
    if (pairs > 0)
        put_note(format, out,
                 "Pairs: Wilcoxon's signed-rank test of the differences%s%s. Probability: the Bayesian signed-rank "
                 "test%s%s.",
                 a->relative ? " of logarithms" : "", pairs > 1 ? "; p is corrected for all pairs by Holm" : "",
                 pairs > 1 ? ", which is not corrected" : "",
                 a->q.sets < FEWEST_SETS ? "; with fewer than five data sets its prior counts for much" : "");
}

void ranks_print_paper(const ranks_answer *a, FILE *out)
{
    const ranks_question *q = &a->q;
    const size_t best = a->order[0];
    char change[80], number[NUMBER_TEXT];
    table *t = table_new(1);
    snprintf(change, sizeof change, a->relative ? "Δ %.60s, %%" : "Δ %.60s", q->measure);
    table_add_columns(t, "activation|mean rank|best on");
    table_add_column(t, &(table_column){.name = change});
    table_add_columns(t, "p|better|equal|worse");
    for (size_t place = 0; place < q->forms; place++) {
        const size_t f = a->order[place];
        table_add_row(t);
        table_add_cell(t, "%s", q->form[f]);
        table_add_cell(t, "%.2f", a->mean[f]);
        table_add_cell(t, "%d", count_best(a, f));
        if (f == best)
            continue;
        const ranks_pair *p = pair_of(a, best, f);
        const double sign = f > best ? 1 : -1, more = sign * (q->direction == DIRECTION_LESS ? -p->mean : p->mean);
        number_placed(a->relative ? 100 * expm1(more) : more, a->relative ? 1 : NUMBER_TINY, true, number);
        table_add_cell(t, "%s", fabs(more) > 1e200 ? "" : number);
        table_add_cell(t, "%.2g%s", p->p, differ(a, best, f) ? "*" : "");
        for (int k = 2; k >= 0; k--)
            table_add_cell(t, "%.2f", p->probability[f > best ? k : 2 - k]);
    }
    table_print(t, "latex", out);
    table_free(t);
}

void ranks_print(const ranks_answer *a, const char *format, FILE *out)
{
    table *t = table_of_forms(a, false);
    add_verdict(a, t);
    add_pairs(a, t);
    table_print(t, format, out);
    table_free(t);
    fputs("\n", out);
    ranks_print_definitions(a, format, out);
}

/* ---- files ---- */

static bool write_forms(const void *answer, FILE *to)
{
    table *t = table_of_forms(answer, true);
    table_print(t, "csv", to);
    table_free(t);
    return true;
}

static bool write_pairs(const void *answer, FILE *to)
{
    const ranks_answer *a = answer;
    double change;
    fputs("activation,against,better_on,worse_on,change,p,probability_better,probability_equal,probability_worse\n",
          to);
    for (size_t one = 0; one < a->q.forms; one++)
        for (size_t other = one + 1; other < a->q.forms; other++) {
            const ranks_pair *p = pair_at(a, one, other, &change);
            table_csv_text(to, a->q.form[other]);
            fputc(',', to);
            table_csv_text(to, a->q.form[one]);
            fprintf(to, isnan(change) ? ",%d,%d," : ",%d,%d,%.9g", p->better, p->worse, change);
            fprintf(to, ",%.9g,%.4f,%.4f,%.4f\n", p->p, p->probability[2], p->probability[1], p->probability[0]);
        }
    return true;
}

bool ranks_write(const ranks_answer *a, const char *folder, tg_error *error)
{
    return files_write(folder, "ranks.csv", write_forms, a, error) &&
           files_write(folder, "rank_pairs.csv", write_pairs, a, error);
}
