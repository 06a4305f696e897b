#include "examples/programs/data/advice.h"
#include "examples/programs/report/verdict.h"

#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"

bool verdict_still_falls(const double losses[], int count)
{
    const int last = count - (count < 8 ? 1 : count / 4);
    double before = INFINITY, after = INFINITY;
    for (int i = 0; i < count; i++)
        *(i < last ? &before : &after) = fmin(i < last ? before : after, losses[i]);
    return count >= 3 && after < before - 0.01 * fabs(before);
}

enum { NAME = 64 }; /* the most bytes of a name */

/* Appends to a sentence; what does not fit is left out, from a whole character on. */
static void say(char sentence[VERDICT_SENTENCE], const char *format, ...)
{
    const size_t length = strlen(sentence);
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(sentence + length, VERDICT_SENTENCE - length, format, arguments) >= VERDICT_SENTENCE - (int)length)
        sentence[plain_length(sentence, VERDICT_SENTENCE - 1)] = '\0';
    va_end(arguments);
}

/* ---- a pair ---- */

enum { MOST_DECIMALS = 8 };

/* The number of decimals that shows two significant digits of a margin. */
static int decimals_of(double margin, int most)
{
    const double places = isfinite(margin) && margin > 0 ? 1 - floor(log10(margin)) : 2;
    return most == MOST_DECIMALS && places > most ? NUMBER_TINY : (int)fmax(0, fmin(most, places));
}

/* "+0.051 (+44 %; 31 to 57 %)", "+1.2 points (0.3 to 2.1)", or without the interval if there is none. */
static void say_difference(const verdict_facts *f, char sentence[VERDICT_SENTENCE])
{
    const statistics_estimate *d = &f->difference;
    const bool interval = d->margin > 0 && isfinite(d->margin), percent = !f->share && f->base > 0;
    const double scale = f->share ? 100 : percent ? 100 / f->base : 1, margin = scale * d->margin;
    const statistics_range range = statistics_difference_interval(d, f->share);
    const double ends[2] = {scale * range.low, scale * range.high};
    char number[2][NUMBER_TEXT];
    int decimals = decimals_of(interval ? margin : fabs(scale * d->mean), f->share || percent ? 1 : MOST_DECIMALS);
    for (int i = 0; interval && i < 2; i++) /* an end near 0 shows on which side of it it is */
        while (decimals >= 0 && decimals < 4 && fabs(ends[i]) > 1e-9 * margin && fabs(ends[i]) < pow(10, -decimals) / 2)
            decimals++;
    const int of_loss = decimals_of(interval ? d->margin : fabs(d->mean), MOST_DECIMALS);
    if (percent)
        say(sentence, "%s (", number_placed(d->mean, of_loss, true, number[0]));
    say(sentence, "%s%s", number_placed(scale * d->mean, decimals, true, number[0]),
        f->share  ? " points"
        : percent ? " %"
                  : "");
    if (interval)
        say(sentence, "%s%s to %s%s", percent ? "; " : " (", number_placed(ends[0], decimals, false, number[0]),
            number_placed(ends[1], decimals, false, number[1]), percent ? " %" : "");
    say(sentence, percent || interval ? ")" : "");
}

/* A p-value; corrected if there are several pairs. */
static void say_p(const verdict_facts *f, double p, char sentence[VERDICT_SENTENCE])
{
    say(sentence, f->comparisons > 1 ? "corrected p" : "p");
    if (p < 0.001)
        say(sentence, " < 0.001");
    else
        say(sentence, " = %.*f", p < 0.1 ? 3 : 2, p);
}

/* "1 %" or "1 point". */
static void write_margin(const verdict_facts *f, char *text, size_t size)
{
    const double margin = 100 * f->margin;
    snprintf(text, size, "%g %s", margin, !f->share ? "%" : margin == 1 ? "point" : "points");
}

/* How many seeds would show a difference that matters, unless the interval leaves it out already. The deviation of
 * fewer seeds than ten is known to a factor of two only, and this number goes by its square. */
static void say_power(const verdict_facts *f, char sentence[VERDICT_SENTENCE])
{
    enum { ENOUGH = 10 };
    const double effect = f->margin * (f->share ? 1 : f->base);
    if (f->difference.count < ENOUGH || !(effect > 0) || fabs(f->difference.mean) + f->difference.margin < effect)
        return;
    const statistics_seeds needed = statistics_seeds_needed(&f->difference, effect, f->comparisons);
    if (needed.high > 0 && needed.high <= (int)f->difference.count)
        return;
    char what[32];
    write_margin(f, what, sizeof what);
    if (needed.low == 0 && f->difference.floor > 0)
        say(sentence, "; more samples, not more %s, would show %s", f->pairs, what);
    else if (needed.low == 0)
        say(sentence, "; more than %d %s would show %s", STATISTICS_MOST_SEEDS, f->pairs, what);
    else if (needed.high == 0)
        say(sentence, "; %d or many more %s would show %s in 4 of 5 cases", needed.low, f->pairs, what);
    else
        say(sentence, "; %d to %d %s would show %s in 4 of 5 cases", needed.low, needed.high, f->pairs, what);
}

/* On which samples a difference is significant, and on how many it rests. */
static void say_here(const verdict_facts *f, char sentence[VERDICT_SENTENCE])
{
    enum { FEW = 10 }; /* of so many samples one */
    say(sentence, "significant on these samples, ");
    say_p(f, f->here_p, sentence);
    say(sentence, ", but not on others, ");
    say_p(f, f->p, sentence);
    if (f->half > 0 && FEW * f->half <= f->samples)
        say(sentence, "; %d of %d %s make%s half of the difference", f->half, f->samples,
            f->grouped ? "groups" : "samples", f->half == 1 ? "s" : "");
}

/* Whether both are equal within the margin, if that was tested; `significant` is whether they differ. */
static void say_equal(const verdict_facts *f, bool significant, char sentence[VERDICT_SENTENCE])
{
    const bool equal = f->equal_p < 0.05;
    char margin[32];
    write_margin(f, margin, sizeof margin);
    if (equal) {
        say(sentence, "%sequal within %s, ", significant ? ", though " : "", margin);
        say_p(f, f->equal_p, sentence);
    } else if (!isnan(f->equal_p))
        say(sentence, "; not shown to be equal within %s", margin);
}

static void say_result(const verdict_facts *f, char sentence[VERDICT_SENTENCE])
{
    const int pairs = (int)f->difference.count, same = f->better > f->worse ? f->better : f->worse;
    const bool significant = f->p < 0.05, equal = f->equal_p < 0.05, here = f->here_p < 0.05;
    if (f->better == f->worse || f->better + f->worse < pairs) /* others have no difference */
        say(sentence, ", better in %d and worse in %d of %d %s: ", f->better, f->worse, pairs, f->pairs);
    else
        say(sentence, ", %s in %d of %d %s: ", f->better > f->worse ? "better" : "worse", same, pairs, f->pairs);
    if (equal && !significant) {
        say_equal(f, false, sentence);
        return;
    }
    if (significant)
        say(sentence, "significant, ");
    else if (here)
        say_here(f, sentence);
    else if (statistics_p(&f->difference) < 0.05) /* its own interval leaves 0 out */
        say(sentence, "not significant among %d comparisons, ", f->comparisons);
    else if (same == pairs)
        say(sentence, "not significant with %d %s, ", pairs, f->pairs);
    else
        say(sentence, "not significant, ");
    if (significant || !here)
        say_p(f, f->p, sentence);
    say_equal(f, significant, sentence);
    if (!significant)
        say_power(f, sentence);
}

void verdict_write(const verdict_facts *f, char sentence[VERDICT_SENTENCE])
{
    const int pairs = (int)f->difference.count;
    *sentence = '\0';
    say(sentence, "%.*s against %.*s: ", plain_length(f->name, NAME), f->name, plain_length(f->against, NAME),
        f->against);
    if (pairs == 0)
        say(sentence, "no verdict on %s, no two finished runs have the same %.*s.", f->measure,
            (int)strlen(f->pairs) - 1, f->pairs);
    else if (isnan(f->difference.mean))
        say(sentence, "no verdict on %s, %s.", f->measure, f->may_lack ? "which some run has not" : "a run diverged");
    else {
        say(sentence, "%s ", f->measure);
        say_difference(f, sentence);
        if (pairs == 1)
            say(sentence, " in one pair of runs: no verdict, " ADVICE_SEVERAL_SEEDS);
        else if (!(f->difference.error > 0))
            say(sentence, ", the same for all %d %s", pairs, f->pairs);
        else
            say_result(f, sentence);
        say(sentence, ".");
    }
}

/* ---- all groups ---- */

/* "relu", "relu and gelu", "relu, gelu and silu": names first .. end - 1 that are chosen. */
static int say_names(const char *const names[], const bool chosen[], int count, char sentence[VERDICT_SENTENCE])
{
    int all = 0, said = 0;
    for (int i = 0; i < count; i++)
        all += chosen[i];
    for (int i = 0; i < count; i++)
        if (chosen[i])
            say(sentence, "%s%.*s", list_joint(said++, all), plain_length(names[i], NAME), names[i]);
    return said;
}

/* What is known of each pair of one of the groups begin .. middle - 1 and one of middle .. end - 1. */
static int common(const int of[], int count, int begin, int middle, int end)
{
    int known = VERDICT_UNANIMOUS | VERDICT_HERE | VERDICT_DIFFER;
    for (int i = begin; i < middle; i++)
        for (int j = middle; j < end; j++)
            known &= of[i * count + j];
    return known;
}

/* The end of the tier that begins with a group: all before it are better than all behind, in one and the same sense. */
static int tier_end(const int of[], int count, int begin)
{
    int end = begin + 1;
    while (end < count && !common(of, count, 0, end, count))
        end++;
    return end;
}

/* What is known of any pair: of those within a tier or, with `across`, of others. */
static int any_pair(const int of[], int count, bool across)
{
    int known = 0;
    for (int begin = 0, end; begin < count; begin = end) {
        end = tier_end(of, count, begin);
        for (int i = begin; i < end; i++)
            for (int j = across ? end : i + 1; j < (across ? count : end); j++)
                known |= of[i * count + j];
    }
    return known;
}

/* What is known of groups begin .. end - 1 and all before, or for the first ones all behind. */
static int known_of(const int of[], int count, int begin, int end)
{
    return begin ? common(of, count, 0, begin, end) : common(of, count, 0, end, count);
}

enum { MOST_NAMES = 64 };

/* Names begin .. end - 1. */
static void say_tier(const char *const names[], int count, int begin, int end, char sentence[VERDICT_SENTENCE])
{
    bool chosen[MOST_NAMES] = {false};
    for (int i = begin; i < end; i++)
        chosen[i] = true;
    say_names(names, chosen, count, sentence);
}

static const char perhaps[] = " on these samples, though perhaps not on others";

/* Three tiers or more that are apart in one sense, and no pair in a stronger one: "a, then b and c, then d in all 5
 * seeds". False, with nothing said, for others. */
static bool say_order(const char *const names[], const int of[], int count, const char *pairs,
                      char sentence[VERDICT_SENTENCE])
{
    const int any = any_pair(of, count, true);
    int tiers = 0, known = VERDICT_HERE;
    for (int begin = 0; begin < count; begin = tier_end(of, count, begin)) {
        known &= begin ? common(of, count, 0, begin, count) : known;
        tiers++;
    }
    if (tiers < 3 || any & VERDICT_DIFFER || (any & VERDICT_HERE && !known))
        return false;
    for (int begin = 0, end; begin < count; begin = end) {
        end = tier_end(of, count, begin);
        say(sentence, begin ? ", then " : "");
        say_tier(names, count, begin, end, sentence);
    }
    if (known)
        say(sentence, "%s", perhaps);
    else
        say(sentence, " in all %s, though not significantly", pairs);
    return true;
}

static void say_tiers(const char *const names[], const int of[], int count, const char *pairs,
                      char sentence[VERDICT_SENTENCE])
{
    int tier = 0, said = 0; /* reservations, each of which is said once */
    for (int begin = 0; begin < count; tier++) {
        const int end = tier_end(of, count, begin), known = known_of(of, count, begin, end);
        const bool several = end - begin > 1;
        const char *still = tier > 1 ? " still" : "";
        say(sentence, tier ? "; " : "");
        say_tier(names, count, begin, end, sentence);
        if (tier == 0)
            say(sentence, several ? " cannot be told apart" : known & VERDICT_DIFFER ? " is best" : " came first");
        else if (known & VERDICT_DIFFER)
            say(sentence, "%s worse%s", several ? " are" : " is", still);
        else if (known & VERDICT_HERE)
            say(sentence, "%s worse%s%s", several ? " are" : " is", still,
                said & VERDICT_HERE ? " on these samples" : perhaps);
        else
            say(sentence, " %s worse%s in all %s%s", several ? "were" : "was", still, pairs,
                said & VERDICT_UNANIMOUS ? "" : ", though not significantly");
        said |= tier == 0 || known & VERDICT_DIFFER ? 0 : known & VERDICT_HERE ? VERDICT_HERE : VERDICT_UNANIMOUS;
        begin = end;
    }
}

/* True if a pair differs, and what tiers say of all their pairs in common is less. */
static bool tiers_hide_difference(const int of[], int count)
{
    bool hidden = false;
    for (int begin = 0, end; begin < count; begin = end) {
        end = tier_end(of, count, begin);
        const bool said = begin && common(of, count, 0, begin, end) & VERDICT_DIFFER;
        for (int j = begin; j < end && !said; j++)
            for (int i = 0; i < j; i++)
                hidden |= of[i * count + j] & VERDICT_DIFFER;
    }
    return hidden;
}

/* The groups than which group i is significantly better. */
static int better_than(const int of[], int count, int i, bool worse[MOST_NAMES])
{
    int any = 0;
    for (int j = 0; j < count; j++)
        any += worse[j] = i < j && of[i * count + j] & VERDICT_DIFFER;
    return any;
}

/* Groups that are better than the same others are named together. */
static void say_relations(const char *const names[], const int of[], int count, char sentence[VERDICT_SENTENCE])
{
    bool done[MOST_NAMES] = {false}, worse[MOST_NAMES], other[MOST_NAMES], same[MOST_NAMES];
    int said = 0;
    for (int i = 0; i < count; i++) {
        if (done[i] || !better_than(of, count, i, worse))
            continue;
        for (int k = 0; k < count; k++) {
            better_than(of, count, k, other);
            done[k] |= same[k] = memcmp(worse, other, sizeof worse[0] * (size_t)count) == 0;
        }
        say(sentence, said++ ? "; " : "");
        say(sentence, "%s better than ", say_names(names, same, count, sentence) > 1 ? " are" : " is");
        say_names(names, worse, count, sentence);
    }
    say(sentence, "; other pairs cannot be told apart");
}

/* The pairs of groups begin .. end - 1 of which no more is known than this; those with the same worse one together. */
static void say_weaker(const char *const names[], const int of[], int count, int begin, int end, int known,
                       const char *where, const char **link, char sentence[VERDICT_SENTENCE])
{
    for (int j = begin; j < end; j++) {
        bool better[MOST_NAMES] = {false}, any = false;
        for (int i = begin; i < j; i++)
            any |= better[i] = of[i * count + j] & known && of[i * count + j] < 2 * known;
        if (!any)
            continue;
        say(sentence, "%s %.*s %s worse than ", *link, plain_length(names[j], NAME), names[j],
            known == VERDICT_HERE ? "is" : "was");
        say_names(names, better, count, sentence);
        say(sentence, "%s", where);
        *link = ";";
    }
}

static void say_all_weaker(const char *const names[], const int of[], int count, int begin, int end, const char *pairs,
                           char sentence[VERDICT_SENTENCE])
{
    const char *link = end - begin == count ? ", but" : ";"; /* behind "cannot be told apart" */
    char in_all[48];
    snprintf(in_all, sizeof in_all, " in all %.32s", pairs);
    say_weaker(names, of, count, begin, end, VERDICT_HERE, perhaps, &link, sentence);
    say_weaker(names, of, count, begin, end, VERDICT_UNANIMOUS, in_all, &link, sentence);
}

static void say_all(const char *const names[], const int of[], int count, const char *pairs,
                    char sentence[VERDICT_SENTENCE])
{
    if (tiers_hide_difference(of, count)) {
        say_relations(names, of, count, sentence);
        say_all_weaker(names, of, count, 0, count, pairs, sentence);
    } else if (any_pair(of, count, false) || !say_order(names, of, count, pairs, sentence)) {
        say_tiers(names, of, count, pairs, sentence);
        for (int begin = 0, end; begin < count; begin = end) {
            end = tier_end(of, count, begin);
            say_all_weaker(names, of, count, begin, end, pairs, sentence);
        }
    }
}

void verdict_headline(const char *const names[], const int of[], int count, const char *pairs,
                      char sentence[VERDICT_SENTENCE])
{
    enum { CUT = VERDICT_SENTENCE - 4 }; /* a cut sentence ends with a whole character */
    *sentence = '\0';
    if (count <= MOST_NAMES)
        say_all(names, of, count, pairs, sentence);
    if (count <= MOST_NAMES && strlen(sentence) < CUT)
        return;
    *sentence = '\0'; /* half of a sentence would be another one */
    say(sentence, "%d forms, of which %.*s has the best mean: see the pairs", count, plain_length(names[0], NAME),
        names[0]);
}
