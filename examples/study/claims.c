/* study claims: what texts say about GELU and its relatives, each with a verdict, the number, and the command that
 * shows it. */
#include "examples/report/statistics.h"
#include "examples/study/tabular.h"
#include "examples/study/value_claims.h"
#include "examples/data/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Networks of this study's own, on optdigits: depth, initial weights, dead units. */
enum { DEPTHS = 4, RATES = 2, KINDS = 2, INITS = 2 };
static const int depths[DEPTHS] = {2, 4, 8, 16};
static const double rates[RATES] = {1e-3, 3e-3};
static const tg_activation kinds[KINDS] = {TG_RELU, TG_GELU_EXACT};
static const tg_init inits[INITS] = {TG_INIT_HE_NORMAL, TG_INIT_XAVIER_NORMAL};

typedef struct results {
    const study_context *c;
    const study_work *work;
    const tabular_sets *sets;
    int set, seeds;
    bool complete;
} results;

static void name_of(char name[60], int kind, int init, int depth)
{
    snprintf(name, 60, "%s-%s-depth%d", tg_activation_name(kinds[kind]), tg_init_name(inits[init]), depths[depth]);
}

static bool add_runs(study_work *work, const results *r)
{
    bool fine = true;
    for (int seed = 1; seed <= r->seeds; seed++)
        for (int depth = 0; depth < (r->c->settings->quick ? 1 : DEPTHS); depth++)
            for (int kind = 0; kind < KINDS; kind++)
                for (int init = 0; init < INITS; init++)
                    for (int rate = 0; rate < RATES; rate++) {
                        char name[60];
                        char hidden[20];
                        snprintf(hidden, sizeof hidden, "%dx%d", r->c->settings->quick ? 8 : 64, depths[depth]);
                        const net_spec form = {.activation = tg_activation_name(kinds[kind]),
                                               .init = tg_init_name(inits[init]),
                                               .hidden = net_keep_text(hidden)};
                        name_of(name, kind, init, depth);
                        fine = fine && tabular_add(work, r->c, r->sets, r->set, name, &form, rates[rate], seed, NULL);
                    }
    return fine;
}

/* ---- rows ---- */

static const char *verdict_of(int verdict)
{
    return verdict > 0 ? "yes" : verdict < 0 ? "no" : "not shown";
}

/* The verdict is 1 for yes, -1 for no, 0 where the numbers show neither. */
static void say(sheet *s, const char *claim, int verdict, const char *command, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static void say(sheet *s, const char *claim, int verdict, const char *command, const char *format, ...)
{
    char found[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(found, sizeof found, format, arguments);
    va_end(arguments);
    sheet_row(s, "%s|%s|%s|%s", claim, verdict_of(verdict), found, command);
}

static void not_measured(sheet *s, const char *claim, const char *command)
{
    sheet_row(s, "%s|not measured|run the command first|%s", claim, command);
}

/* 1 where the interval of a difference lies below 0, -1 above, 0 around. */
static int is_below(const statistics_estimate *difference)
{
    return !(fabs(difference->mean) > difference->margin) ? 0 : difference->mean < 0 ? 1 : -1;
}

/* ---- from this study's runs ---- */

/* Of a network at its best rate by validation: by seed the logarithm of the test loss; and the largest share of dead
 * units after the last epoch at any rate. */
static void losses_of(const results *r, int kind, int init, int depth, double test[STUDY_SEEDS])
{
    char name[60];
    name_of(name, kind, init, depth);
    const char *set = r->sets->name[r->set];
    tabular_losses(r->work, set, name, tabular_best_rate(r->work, set, name, rates, RATES, r->seeds), r->seeds, test);
}

static void dead_of(const results *r, int kind, int init, int depth, double dead[STUDY_SEEDS])
{
    for (int seed = 1; seed <= r->seeds; seed++) {
        dead[seed - 1] = 0;
        for (int rate = 0; rate < RATES; rate++) {
            char name[60], run[STUDY_NAME];
            name_of(name, kind, init, depth);
            snprintf(run, sizeof run, "%s-%s-lr%g-seed%d", r->sets->name[r->set], name, rates[rate], seed);
            const int number = study_work_number(r->work, run);
            dead[seed - 1] = fmax(dead[seed - 1], study_record_at(&r->work->record[number],
                                                                  r->work->run[number].spec.epochs, STUDY_DEAD));
        }
    }
}

static int depth_count(const results *r)
{
    return r->c->settings->quick ? 1 : DEPTHS;
}

static void claim_init(const results *r, sheet *s, const char *command)
{
    char claim[100];
    for (int depth = 0; depth < depth_count(r); depth += 2) {
        double he[STUDY_SEEDS], xavier[STUDY_SEEDS];
        losses_of(r, 1, 0, depth, he);
        losses_of(r, 1, 1, depth, xavier);
        const statistics_estimate less = statistics_paired(xavier, he, (size_t)r->seeds);
        snprintf(claim, sizeof claim, "Xavier suits GELU better than He (%d layers)", depths[depth]);
        say(s, claim, is_below(&less), command, "test loss %.4f, with He %.4f: %.2f times (%.2f to %.2f)",
            exp(statistics_of(xavier, (size_t)r->seeds).mean), exp(statistics_of(he, (size_t)r->seeds).mean),
            exp(less.mean), exp(less.mean - less.margin), exp(less.mean + less.margin));
    }
}

static void claim_dead(const results *r, sheet *s, const char *command)
{
    char claim[100];
    for (int depth = 0; depth < depth_count(r); depth += 2) {
        double relu[STUDY_SEEDS], gelu[STUDY_SEEDS];
        dead_of(r, 0, 0, depth, relu);
        dead_of(r, 1, 0, depth, gelu);
        const statistics_estimate less = statistics_paired(gelu, relu, (size_t)r->seeds),
                                  g = statistics_of(gelu, (size_t)r->seeds);
        snprintf(claim, sizeof claim, "GELU nets have fewer dead units (%d layers)", depths[depth]);
        say(s, claim, is_below(&less), command, "%.2f %% against %.2f %% of ReLU's", 100 * g.mean,
            100 * statistics_of(relu, (size_t)r->seeds).mean);
        snprintf(claim, sizeof claim, "GELU nets have no dead units (%d layers)", depths[depth]);
        say(s, claim, g.mean > 0 ? -1 : 1, command, "%.2f %%: derivative below 0.001 on all validation rows",
            100 * g.mean);
    }
}

static void claim_depth(const results *r, sheet *s, const char *command)
{
    double shallow[STUDY_SEEDS], gain[STUDY_SEEDS], relu[STUDY_SEEDS], gelu[STUDY_SEEDS];
    const int deepest = depth_count(r) - 1;
    for (int depth = 0; depth <= deepest; depth += deepest ? deepest : 1) {
        losses_of(r, 0, 0, depth, relu);
        losses_of(r, 1, 0, depth, gelu);
        for (int i = 0; i < r->seeds; i++)
            *(depth ? &gain[i] : &shallow[i]) = gelu[i] - relu[i];
    }
    if (!deepest)
        return;
    const statistics_estimate first = statistics_of(shallow, (size_t)r->seeds),
                              last = statistics_of(gain, (size_t)r->seeds),
                              more = statistics_paired(gain, shallow, (size_t)r->seeds);
    say(s, "GELU's lead over ReLU grows with depth", is_below(&more), command,
        "test loss %.2f times ReLU's with %d layers, %.2f times with %d: %.2f times as much (%.2f to %.2f)",
        exp(first.mean), depths[0], exp(last.mean), depths[deepest], exp(more.mean), exp(more.mean - more.margin),
        exp(more.mean + more.margin));
}

/* ---- from the other studies' numbers ---- */

static void claim_cost(const results *r, sheet *s, const char *command)
{
    static const struct {
        const char *claim, *number;
        double said, within;
    } said[] = {
        {"exact GELU costs 3.0 times ReLU, per element", "value_gelu_exact", 3, .5},
        {"the tanh form 1.5 times, per element", "value_gelu_tanh", 1.5, .25},
        {"the quick form 1.2 times, per element", "value_gelu_quick", 1.2, .2},
        {"exact GELU costs 3.0 times ReLU, per training step", "step1_gelu_exact", 3, .5},
        {"SwiGLU costs 2.0 times ReLU, per training step", "step1_swiglu", 2, .3},
        {"SwiGLU costs 2.0 times ReLU, per training step of equal width", "step1_swiglu of equal width", 2, .3}};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        const double found = study_number(r->c, "cost", said[i].number);
        if (isnan(found))
            not_measured(s, said[i].claim, command);
        else
            say(s, said[i].claim, fabs(found - said[i].said) <= said[i].within ? 1 : -1, command, "%.2f times the time",
                found);
    }
    const double exact = study_number(r->c, "cost", "value_gelu_exact"),
                 tanh_form = study_number(r->c, "cost", "value_gelu_tanh");
    if (!isnan(exact / tanh_form))
        say(s, "exact GELU is about 2 times slower than the approximations", fabs(exact / tanh_form - 2) < 0.5 ? 1 : -1,
            command, "%.2f times the tanh form, per element", exact / tanh_form);
}

/* Operations of a feed-forward layer are its weights: each meets each row once. */
static void claim_operations(sheet *s, const char *command)
{
    tg_mlp_config plain = {.inputs = 768,
                           .hidden = {3072},
                           .outputs = 768,
                           .no_bias = true,
                           .activation = TG_GELU_EXACT},
                  gated = plain;
    gated.activation = TG_SWIGLU;
    const double fitted = (double)tg_mlp_size(&gated, NULL) / (double)tg_mlp_size(&plain, NULL);
    gated.equal_width = true;
    const double wide = (double)tg_mlp_size(&gated, NULL) / (double)tg_mlp_size(&plain, NULL);
    say(s, "SwiGLU needs 1.5 times the operations of GELU", fabs(wide - 1.5) < 0.01 ? 1 : -1, command,
        "768-3072-768: %.2f times at equal width, %.2f at two thirds of it", wide, fitted);
}

/* Which of two forms has the lower test loss, without and with a normalisation. */
static void claim_pair(const results *r, sheet *s, const char *claim, const char *pair, const char *command)
{
    for (int norm = 0; norm < 2; norm++) {
        char key[60], words[120];
        const char *prefix = norm ? "rms_" : "";
        snprintf(words, sizeof words, "%s (%s)", claim, norm ? "RMSNorm between layers" : "no normalisation");
        snprintf(key, sizeof key, "%s%s_better", prefix, pair);
        const double better = study_number(r->c, "glu-tabular", key);
        snprintf(key, sizeof key, "%s%s_worse", prefix, pair);
        const double worse = study_number(r->c, "glu-tabular", key), sets = study_number(r->c, "glu-tabular", "sets");
        snprintf(key, sizeof key, "%s%s_ratio", prefix, pair);
        if (isnan(better))
            not_measured(s, words, command);
        else
            say(s, words,
                better > sets / 2 && worse == 0 ? 1
                : worse > better                ? -1
                                                : 0,
                command, "on %.0f of %.0f tables, worse on %.0f; test loss %.2f times in the geometric mean", better,
                sets, worse, study_number(r->c, "glu-tabular", key));
    }
}

static void claim_rate(const results *r, sheet *s, const char *command)
{
    const double ratio = study_number(r->c, "glu-tabular", "gelu_relu_rate"),
                 smaller = study_number(r->c, "glu-tabular", "gelu_relu_rate_smaller"),
                 larger = study_number(r->c, "glu-tabular", "gelu_relu_rate_larger");
    if (isnan(ratio))
        not_measured(s, "GELU needs a smaller learning rate than ReLU", command);
    else
        say(s, "GELU needs a smaller learning rate than ReLU",
            larger > 0 || smaller == 0 ? (larger >= smaller ? -1 : 0)
            : smaller > 4              ? 1
                                       : 0,
            command, "best rate smaller on %.0f tables, larger on %.0f; %.2f times ReLU's in the geometric mean",
            smaller, larger, ratio);
}

static void claim_speed(const results *r, sheet *s, const char *command)
{
    const char *claim = "GELU trains faster than ReLU (MNIST, 8 layers, first 5 epochs)";
    const double mean = study_number(r->c, "gelu-mnist", "early_gelu_less_relu"),
                 margin = study_number(r->c, "gelu-mnist", "early_margin");
    if (isnan(mean) || isnan(margin))
        not_measured(s, claim, command);
    else
        say(s, claim, is_below(&(statistics_estimate){.mean = mean, .margin = margin}), command,
            "training loss of epoch 5 less ReLU's: %+.4f (%+.4f to %+.4f)", mean, mean - margin, mean + margin);
}

/* ---- the study ---- */

static sheet *report(const results *r, const study_outcome *outcome)
{
    sheet *s = sheet_new("What is said of GELU");
    const char *quick = r->c->settings->quick ? " --quick" : "";
    char here[80], tables[80], mnist[80], cost[80];
    snprintf(here, sizeof here, "study claims%s", quick);
    snprintf(tables, sizeof tables, "study glu-tabular%s", quick);
    snprintf(mnist, sizeof mnist, "study gelu-mnist%s", quick);
    snprintf(cost, sizeof cost, "study cost%s", quick);
    study_say_state(r->c, r->work, outcome, s);
    sheet_heading(s, "Values");
    sheet_table(s, 1, "claim|holds|found|command");
    value_claims_put(s, here);
    sheet_heading(s, "Cost");
    sheet_table(s, 1, "claim|holds|found|command");
    claim_operations(s, here);
    claim_cost(r, s, cost);
    sheet_heading(s, "Training");
    sheet_text(s,
               "Differences are means over seeds, paired, with 95 %% intervals; a claim holds where the interval says "
               "so, and is not shown where "
               "it "
               "has both signs. Depth, initial weights and dead units: networks %d wide on %s, He's initial weights "
               "where not said, %d seed%s.",
               r->c->settings->quick ? 8 : 64, r->sets->name[r->set], r->seeds, plural(r->seeds));
    sheet_table(s, 1, "claim|holds|found|command");
    if (r->complete) {
        claim_init(r, s, here);
        claim_dead(r, s, here);
        claim_depth(r, s, here);
    }
    claim_speed(r, s, mnist);
    claim_pair(r, s, "GELU beats ReLU on tables", "gelu_relu", tables);
    claim_pair(r, s, "SwiGLU beats GELU on tables, at equal parameters", "swiglu_gelu", tables);
    claim_pair(r, s, "GEGLU beats GELU on tables, at equal parameters", "geglu_gelu", tables);
    claim_rate(r, s, tables);
    return s;
}

static int run(const study_context *c, const tabular_sets *sets, study_work *work)
{
    results r = {.c = c, .work = work, .sets = sets, .seeds = c->settings->quick ? 2 : 5};
    for (int set = 0; set < sets->count; set++)
        if (strcmp(sets->name[set], c->settings->quick ? "moons" : "optdigits") == 0)
            r.set = set;
    if (!add_runs(work, &r))
        return study_refuse("out of memory", 1);
    const study_outcome outcome = study_work_do(work, stderr);
    if (outcome.broken)
        return study_refuse(outcome.message, outcome.broken);
    r.complete = outcome.complete == work->count;
    return study_end(c, work, &outcome, report(&r, &outcome), NULL);
}

int study_claims(const study_context *c)
{
    return tabular_study(c, run);
}
