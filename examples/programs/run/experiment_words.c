/* Describes the data that was read and its consequences. */
#include "examples/programs/data/advice.h"
#include "examples/programs/run/experiment.h"
#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"

/* True if each seed draws its training and test rows from one file. Lines of a text are redrawn for each seed; a
 * running text is split at one position. */
static bool is_redrawn(const experiment *e)
{
    if (e->from.is_text)
        return e->from.letters.lines;
    return e->settings.run.folds || (e->settings.run.split[0] != 'f' && e->from.data.test_rows == 0);
}

/* True if the rows that judge are the first ones of the table, so that all seeds have the same. */
static bool judges_by_first(const experiment *e)
{
    const run_spec *s = &e->settings.run;
    const char *rows = e->from.test.count > 0 ? s->test : s->validation;
    return !s->folds && rows && strncmp(rows, "first:", 6) == 0;
}

/* True if the validation rows are no more than the test rows, and measure the very nets that these measure. */
static bool validates(const run_spec *s)
{
    const double validation = s->validation ? atof(s->validation) : 0.2, test = s->test ? atof(s->test) : 0.2;
    return !s->folds && strcmp(s->refit, "yes") != 0 && validation > 0 && validation <= test && test < 1;
}

/* The split of the rows, in a sentence. */
static const char *split_of(const experiment *e)
{
    const bool fixed = e->settings.run.split[0] == 'f', grouped = e->from.data.group;
    char text[200];
    if (e->settings.run.folds) {
        snprintf(text, sizeof text, "%d folds%s are %s.", e->settings.run.folds, grouped ? " of groups" : "",
                 fixed     ? "drawn once, the same for all seeds; intervals do not allow for training samples that "
                             "folds share"
                 : grouped ? "redrawn per seed, the same for all activations; intervals allow for groups that seeds "
                             "share"
                           : "redrawn per seed, the same for all activations; intervals allow for samples that seeds "
                             "share");
        return net_keep_text(text);
    }
    if (fixed)
        return "The split is fixed: intervals do not cover the effect of another split.";
    if (e->settings.seeds == 1)
        return "One seed, and so one split: nothing says what another would change.";
    if (grouped)
        return "Groups are redrawn per seed, the same for all activations; intervals allow for groups that seeds "
               "share.";
    if (judges_by_first(e))
        return "Training samples are redrawn per seed, the same for all activations; those that judge are the first "
               "ones "
               "of the table, and intervals allow for others.";
    return e->from.data.test_rows
               ? "Training samples are redrawn per seed, the same for all activations; test samples are fixed."
               : "Splits are redrawn per seed, the same for all activations; intervals allow for samples that seeds "
                 "share.";
}

/* True if an option has several values, or is searched. */
static bool is_varied(const experiment *e, const char *option)
{
    for (int i = 0; i < e->axis_count; i++)
        if (strcmp(e->axes[i].option->name, option) == 0)
            return true;
    return false;
}

/* True if a search of many points may be advised. With fewer validation samples the best of many is best by chance, and
 * was as often worse on test samples (docs/advice.md). */
static bool can_search(const experiment *e)
{
    enum { ENOUGH = 100 };
    return e->from.is_text || e->from.data.validation.rows >= ENOUGH;
}

/* What the order of activations may depend on and was not searched, in a sentence; NULL if nothing, or if there is no
 * order. */
static const char *unsearched(const experiment *e)
{
    const run_spec first = experiment_spec(e, 0);
    const bool rate = is_varied(e, "lr"), scale = is_varied(e, "init-scale");
    char text[300], at[NUMBER_TEXT];
    number_text(first.net.init_scale > 0 ? first.net.init_scale : 1, at);
    if (e->form_count < 2 || (scale && rate))
        return NULL;
    if (scale)
        snprintf(text, sizeof text,
                 "All have learning rate %g, which was not searched: at another the order can differ", first.lr);
    else if (rate)
        snprintf(text, sizeof text,
                 "All have initial scale %s, which was not searched: at another the order can differ", at);
    else
        snprintf(text, sizeof text,
                 "All have learning rate %g and initial scale %s, which were not searched: at others the order can "
                 "differ",
                 first.lr, at);
    if (can_search(e))
        text_add(text, sizeof text, " (%s)", scale ? "--lr auto" : rate ? "--init-scale auto" : ADVICE_SEARCH_BOTH);
    text_add(text, sizeof text, ".");
    return net_keep_text(text);
}

/* The options of a search that goes beyond the short one; NULL: none is advised. */
static const char *wider(const experiment *e)
{
    return !can_search(e) ? NULL : e->search.count[SEARCH_SCALE] ? ADVICE_SEARCH_WIDER : "--lr auto";
}

/* What the short search tries, in a sentence; NULL without it. */
static const char *tried(const experiment *e)
{
    const search *s = &e->search;
    const int rates = s->count[SEARCH_RATE], scales = s->count[SEARCH_SCALE];
    char text[500];
    if (!s->brief)
        return NULL;
    snprintf(text, sizeof text, "Each was tried at %d points, so there are %d runs for each that is compared:", rates,
             rates);
    for (int i = 0; i < rates; i++) {
        text_add(text, sizeof text, "%s lr %g", i ? "," : "", s->values[SEARCH_RATE][i]);
        if (scales)
            text_add(text, sizeof text, " with init-scale %g", s->values[SEARCH_SCALE][scales - 1 - i]);
    }
    text_add(text, sizeof text, ".");
    return net_keep_text(text);
}

/* The units of the losses of a text, and what its intervals leave out. */
static const char *units_of(const text_source *text)
{
    const char *fixed = text->lines ? ""
                        : text->tested < text->size
                            ? " The validation and test texts are fixed pieces: intervals do not "
                              "cover the effect of other text."
                            : " The validation text is one fixed piece: intervals do not cover "
                              "the effect of other text.";
    char words[300];
    const bool bytes = strcmp(text->unit, "byte") == 0;
    if (text->pairs)
        return bytes
                   ? "Losses are in nats a byte of the target, 1.4427 bits; accuracy is the share of targets that are "
                     "exactly right."
                   : "Losses are in nats a character of the target, 1.4427 bits; accuracy is the share of targets that "
                     "are exactly right.";
    snprintf(words, sizeof words, "Losses are in nats a %s; 1 nat is 1.4427 bits.%s", text->unit, fixed);
    return net_keep_text(words);
}

runlog_about experiment_about(const experiment *e)
{
    const run_spec *s = &e->settings.run;
    const bool tested = s->test && strcmp(s->test, "none") != 0;
    const char *usual = !e->from.is_text || e->from.letters.pairs ? NULL /* characters are not judged by accuracy */
                        : tested                                  ? "test_loss"
                                                                  : "best_val_loss";
    runlog_about about = source_about(s, &e->from);
    about.compared.kind = e->model_count > 1 ? "model" : NULL;
    about.compared.note = e->from.is_text ? units_of(&e->from.letters) : split_of(e);
    about.compared.remedy = e->search.on[0] ? NULL : ADVICE_SEARCH_RATE;
    about.compared.lost = e->lost;
    about.compared.margin = e->margin;
    about.compared.rows = e->from.is_text ? 0 : e->from.data.group ? e->from.data.groups : e->from.data.rows;
    about.compared.redrawn = is_redrawn(e);
    about.compared.fixed_test = judges_by_first(e);
    about.compared.weighted = e->from.data.weight || e->from.class_weight;
    about.compared.grouped = e->from.data.group;
    about.compared.validates = validates(s);
    about.compared.same_folds = s->folds && s->split[0] == 'f';
    about.unsearched = unsearched(e);
    about.tried = tried(e);
    about.wider = wider(e);
    about.measures = e->settings.measures ? e->settings.measures : usual;
    about.searched = e->search.on[0];
    return about;
}

static void describe_shape(const run_spec *s, char text[EXPERIMENT_POINT])
{
    net_spec plain = s->net;
    plain.activation = "relu"; /* a formula may have commas */
    tg_model_spec_describe(&plain, text, EXPERIMENT_POINT);
    *strrchr(text, ',') = '\0';        /* the activation */
    if (strncmp(text, "mlp ", 4) == 0) /* mlp is the default */
        memmove(text, text + 4, strlen(text + 4) + 1);
}

void experiment_net(const experiment *e, char text[EXPERIMENT_POINT])
{
    const run_spec s = experiment_spec(e, 0);
    if (e->model_count > 1)
        snprintf(text, EXPERIMENT_POINT, "%s", e->settings.models);
    else
        describe_shape(&s, text);
}

/* What train would do otherwise for this model, whose first form is number `form`; with --config all options are
 * given. */
static void describe_defaults(const experiment *e, int form, FILE *out)
{
    int run = form;
    for (int a = e->form_count - 1; a >= form; a--) /* --gated matters to the first that is gated */
        if (e->form[a].model == e->form[form].model && net_is_gated(e->form[a].activation))
            run = a;
    const run_spec given = experiment_given(e, run);
    run_spec complete = experiment_spec(e, run);
    if (e->search.brief) { /* the other program has these two where this search begins */
        complete.lr = e->search.usual[SEARCH_RATE];
        complete.net.init_scale = e->search.count[SEARCH_SCALE] ? 0 : complete.net.init_scale;
    }
    run_spec_describe_otherwise(e->settings.config ? NULL : &given, &complete, experiment_rows(e, run), out);
}

/* Options as they are listed; 0 stands for a default of each model. */
static const char *listed(const experiment *e, const char *option, const char *otherwise)
{
    const char *list = experiment_list(e, option);
    return strcmp(list, "0") == 0 ? otherwise : list;
}

/* The net and how long it is trained, without an end of line. */
static void describe_net(const experiment *e, int run, FILE *out)
{
    const run_spec s = experiment_spec(e, run);
    const int64_t rows = experiment_rows(e, run), alone = rows % s.batch;
    const long steps = (long)(rows / s.batch + (alone >= net_least_rows(&s.net)));
    const char *batches = experiment_list(e, "batch"), *epochs = experiment_list(e, "epochs");
    char shape[EXPERIMENT_POINT];
    describe_shape(&s, shape);
    if (strchr(batches, ',') || strchr(epochs, ','))
        fprintf(out, "%s, epochs %s, batch %s", shape, listed(e, "epochs", "for about 1,500 steps"), batches);
    else
        fprintf(out, "%s, %d epoch%s of %ld step%s, batch %d", shape, s.epochs, plural(s.epochs), steps, plural(steps),
                s.batch);
    fprintf(out, ", %s ", experiment_list(e, "optimizer"));
    strcmp(experiment_list(e, "lr"), "0") == 0 ? fprintf(out, "%g", s.lr) : fputs(experiment_list(e, "lr"), out);
    fprintf(out, ", %s", experiment_list(e, "schedule"));
}

void experiment_describe(const void *context, FILE *out)
{
    const experiment *e = context;
    source_describe(&e->settings.run, &e->from, split_of(e), out);
    for (int form = 0; form < e->form_count; form += e->form_count / e->model_count) {
        describe_net(e, form, out);
        if (e->model_count == 1)
            fprintf(out, "; %d run%s", experiment_count(e), plural(experiment_count(e)));
        fputc('\n', out);
        describe_defaults(e, form, out);
    }
    if (e->model_count > 1)
        fprintf(out, "%d runs\n", experiment_count(e));
    for (int a = 0; a < e->form_count; a++) { /* at the first point of the grid that has one */
        const char *warning = NULL;
        for (int point = 0; point < e->points && !warning; point++) {
            const run_spec spec = experiment_spec(e, point * e->form_count + a);
            warning = net_warning(&spec.net);
        }
        if (warning)
            fprintf(out, "Warning: %s %s\n", e->form[a].name, warning);
    }
}

void experiment_print_search(const experiment *e, FILE *out)
{
    static const char *const names[SEARCH_VALUES] = {"learning rates", "initial scales"};
    const int count = experiment_count(e);
    int listed = 0;
    for (int which = 0; which < SEARCH_VALUES; which++)
        if (e->search.on[which])
            fprintf(out, "%s%s %s", listed++ ? "; " : "", names[which], experiment_list(e, search_options[which]));
    if (e->search.on[SEARCH_SCALE])
        fprintf(out, ": %d runs", count);
    if (e->search.on[SEARCH_SCALE] && e->runs > e->points) /* not in `train` */
        fprintf(out, ", %.3g for each that is compared", (double)count * e->points / e->runs);
    fputc('\n', out);
}
