#include "examples/programs/data/advice.h"
#include "examples/programs/run/spec.h"

#include "examples/programs/data/dataset.h"
#include "examples/programs/data/words.h"

const char *const spec_products[] = {"auto", "own", "openblas", NULL};
const char *const spec_tasks[] = {"auto", "classification", "regression", NULL};
const char *const spec_headers[] = {"auto", "yes", "no", NULL};
const char *const spec_missings[] = {"error", "drop", "mean", NULL};
#define TG_OPTIMIZER(constant, name) #name,
static const char *const optimizers[] = {
#include "optim/optimizers.def"
    NULL};
#undef TG_OPTIMIZER
#define TG_SCHEDULE(constant, name, ...) #name,
static const char *const schedules[] = {
#include "optim/schedules.def"
    NULL};
#undef TG_SCHEDULE
static const char *const bests[] = {"loss", "accuracy", NULL};
static const char *const whether[] = {"auto", "yes", "no", NULL};
static const char *const rounds[] = {"float32", "bfloat16", "float16", NULL};
static const char *const halves[] = {"float16", "bfloat16", NULL};
static const char *const splits[] = {"redrawn", "fixed", NULL};
static const char *const gated_widths[] = {"parameters", "width", NULL};
static const char *const deciders[] = {"file", "model", NULL};

/* "adamw, adam and nadam": the optimisers that use a setting. */
static const char *optimizers_using(const char *setting)
{
    static char text[200];
    const char *last = NULL;
    *text = '\0';
    for (int i = 0; optimizers[i]; i++) {
        tg_optimizer_kind kind;
        if (!tg_optimizer_from_name(optimizers[i], &kind) || !tg_optimizer_uses(kind, setting))
            continue;
        if (last)
            text_add(text, sizeof text, "%s%s", *text ? ", " : "", last);
        last = optimizers[i];
    }
    text_add(text, sizeof text, "%s%s", *text ? " and " : "", last ? last : "none");
    return text;
}

#define AT(member)     offsetof(run_spec, member)
#define NET_AT(member) AT(net.member)
const program_option run_options[] = {
#include "examples/programs/run/run_options.def"
    {0}};

bool spec_take_products(const char *products, tg_error *error)
{
    return !products || tg_products_by((tg_products)options_position(spec_products, products), error) ||
           tg_fail(error, "--products: %s", error->text);
}

run_spec run_spec_defaults(bool compared)
{
    return (run_spec){.compared = compared,
                      .data = "glyphs",
                      .split = "redrawn",
                      .task = "auto",
                      .header = "auto",
                      .missing = "error",
                      .products = tg_products_now() == TG_PRODUCTS_AUTO ? NULL : tg_products_name(tg_products_now()),
                      .seed = 1,
                      .net.dropout = -1,
                      .patience = -1,
                      .refit = "auto",
                      .soften = "auto",
                      .accumulate = 1,
                      .best = "loss",
                      .optimizer = "adamw",
                      .schedule = "cosine",
                      .warmup = 0.05,
                      .weight_decay = 0.01,
                      .clip = compared ? 0 : 1};
}

/* ---- defaults for data and model ---- */

/* Enough steps to see a difference, and few enough epochs not to overfit a few rows. */
static int epochs_of_comparison(int64_t rows, int batch)
{
    enum { STEPS = 1500, FEWEST = 10, MOST = 100 };
    const int64_t steps = (rows + batch - 1) / batch, enough = (STEPS + steps - 1) / steps;
    return (int)(enough < FEWEST ? FEWEST : enough > MOST ? MOST : enough);
}

static bool validates(const run_spec *s)
{
    return !s->validation || strcmp(s->validation, "none") != 0;
}

/* The defaults of `train` for an MLP on a table, measured in docs/tables.md; `rate` is the optimiser's learning rate
 * over AdamW's. */
static void complete_table(run_spec *s, int64_t rows, double rate)
{
    enum {
        BATCH = 128, /* at most, and half of the rows */
        STEPS = 1500,
        FEWEST = 20,
        MOST = 200, /* epochs, for so many steps */
        PATIENCE = 10,
        PER_INPUT = 200, /* rows without dropout */
        FEW = 1000,
        REFIT = 20000,
        NETS = 4, /* below so many rows */
        JOINED = 5000
    };
    if (s->batch == 0)
        for (s->batch = 8; s->batch < BATCH && 2 * s->batch <= rows / 2;)
            s->batch *= 2;
    const int64_t steps = (rows + s->batch - 1) / s->batch, enough = (STEPS + steps - 1) / steps;
    if (s->epochs == 0) {
        s->epochs = (int)(enough < FEWEST ? FEWEST : enough > MOST ? MOST : enough);
        if (s->patience < 0 && validates(s))
            s->patience = s->epochs / 4 < PATIENCE ? PATIENCE : s->epochs / 4;
    }
    if (s->net.dropout < 0)
        s->net.dropout = rows >= (int64_t)PER_INPUT * s->net.inputs ? 0 : rows < FEW ? 0.3 : 0.2;
    if (s->lr == 0 && rows < FEW)
        s->lr = 1e-3 * rate;
    if (strcmp(s->refit, "auto") == 0)
        s->refit = whether[rows < REFIT && validates(s) && s->ema == 0 ? 1 : 2];
    if (s->nets == 0 && s->refit[0] == 'y' && rows < JOINED && !s->start && net_joins(&s->net))
        s->nets = NETS;
}

const char *run_spec_image_model(const run_spec *s)
{
    return s->compared ? "mlp" : "convnet";
}

void run_spec_complete(run_spec *s, int64_t rows)
{
    const tg_model_traits *model = tg_model_traits_of(s->net.model);
    tg_optimizer_kind optimizer = TG_ADAMW;
    tg_optimizer_from_name(s->optimizer, &optimizer);
    tg_model_spec_complete(&s->net);
    if (!s->compared && strncmp(s->data, "csv:", 4) == 0 && strcmp(s->net.model, "mlp") == 0)
        complete_table(s, rows, tg_optimizer_rate_over_adamw(optimizer));
    s->net.dropout = s->net.dropout < 0 ? 0 : s->net.dropout;
    s->patience = s->patience < 0 ? 0 : s->patience;
    if (!s->refit || strcmp(s->refit, "auto") == 0)
        s->refit = whether[2];
    const bool joins = s->refit[0] == 'y' && net_joins(&s->net);
    s->nets = s->nets == 0 || (!joins && !options_has(&s->given, "nets")) ? 1 : s->nets;
    if (s->batch == 0)
        for (s->batch = 8; s->batch < model->batch && 2 * s->batch <= rows / 16;)
            s->batch *= 2;
    if (s->epochs == 0)
        s->epochs = s->compared                      ? epochs_of_comparison(rows, s->batch)
                    : model->text                    ? 10
                    : strcmp(s->data, "glyphs") == 0 ? 4
                                                     : 20;
    if (s->lr == 0)
        s->lr = (s->compared && model->compared_lr > 0 ? model->compared_lr : model->lr) *
                tg_optimizer_rate_over_adamw(optimizer);
    s->lr = options_recorded(s->lr);
    if (!s->gated && s->compared)
        s->gated = gated_widths[0];
    s->net.equal_width = s->gated && strcmp(s->gated, "width") == 0;
}

/* ---- combinations of options ---- */

bool run_spec_next_variant(const run_spec *s, const char **list, run_variant *variant, tg_error *error)
{
    char word[TG_FORMULA_LENGTH + 1];
    tg_activation activation;
    *variant = (run_variant){.activation = s->net.activation, .format = TG_FLOAT32};
    if (!net_next_activation(list, word, sizeof word))
        return false;
    if (halves[options_position(halves, word)]) {
        snprintf(variant->name, sizeof variant->name, "%.16s", word);
        variant->format = strcmp(word, "float16") == 0 ? TG_FLOAT16 : TG_BFLOAT16;
    } else if (net_find_activation(word, &activation, error)) {
        snprintf(variant->name, sizeof variant->name, "%s", net_activation_label(activation));
        variant->activation = tg_activation_name(activation);
    } else
        return tg_fail(error, "--test-as: '%.100s': %s", word, error->text);
    return true;
}

/* True if --test-as has activations and formats, none twice. */
static bool check_variants(const run_spec *s, tg_error *error)
{
    enum { MOST = 64 };
    const char *list = s->test_as;
    run_variant variant[MOST];
    int count = 0;
    *error = (tg_error){""};
    for (; run_spec_next_variant(s, &list, &variant[count], error); count++) {
        if (count == MOST - 1)
            return tg_fail(error, "--test-as: more than %d", MOST - 1);
        for (int i = 0; i < count; i++)
            if (strcmp(variant[i].name, variant[count].name) == 0)
                return tg_fail(error, "--test-as: '%s' is listed twice", variant[i].name);
    }
    return !error->text[0];
}

bool run_spec_check(const run_spec *s, bool classifies, tg_error *error)
{
    static const char *const of_rows[] = {
        "folds",  "missing",     "groups",     "drop-duplicates",  "fold",    "target", "class-weights", "weights",
        "ignore", "rows",        "test-noise", "keep-predictions", "test-as", "noise",  "task",          "split",
        "header", "categorical", NULL};
    const char *model = s->net.model,
               *of_rows_only = tg_model_traits_of(model)->text ? options_first(&s->given, of_rows) : NULL;
    tg_optimizer_kind optimizer = TG_ADAMW;
    tg_optimizer_from_name(s->optimizer, &optimizer);
    for (const program_option *o = run_options; options_more(o); o++) {
        if (o->name && options_has(&s->given, o->name) && !net_takes(model, o->name))
            return tg_fail(error, "--%s is not for --model %s", o->name, model);
        if (o->users && *(const double *)((const char *)s + o->offset) > 0 && !tg_optimizer_uses(optimizer, o->name))
            return tg_fail(error, "--%s is for %s only", o->name, o->users(o->name));
    }
    if (of_rows_only)
        return tg_fail(error, "--%s is for rows, and a text has none", of_rows_only);
    const bool gated = net_is_gated(s->net.activation), says_gated = options_has(&s->given, "gated");
    if (says_gated && !s->compared && !gated)
        return tg_fail(error, "--gated: %.100s is not gated (swiglu, geglu, ...)", s->net.activation);
    if (says_gated && gated && s->net.equal_width && !net_gates_by_width(model))
        return tg_fail(error,
                       "--gated width: gated feed-forward layers of a %s always have as many parameters as plain ones",
                       model);
    if (s->net.context < s->net.longest)
        return tg_fail(error, "--context %d: a source or target has %d characters, " ADVICE_CONTEXT, s->net.context,
                       s->net.longest - 1, s->net.longest);
    const int least = net_least_rows(&s->net);
    if (s->shards > s->batch / least)
        return tg_fail(error, "--shards %d: a pass has only %d rows (--batch), and each shard needs %s", s->shards,
                       s->batch, least == 1 ? "one" : "two for --norm batch");
    const bool is_table = strncmp(s->data, "csv:", 4) == 0;
    tg_schedule_kind schedule = TG_CONSTANT_RATE;
    tg_schedule_from_name(s->schedule, &schedule);
    const char *conflict =
        options_has(&s->given, "end") && !tg_schedule_uses(schedule, "end") ? "--end has no effect with this --schedule"
        : options_has(&s->given, "warmup") && s->warmup > 0 && !tg_schedule_uses(schedule, "warmup")
            ? "--warmup has no effect with this --schedule, which has its own"
        : schedule == TG_INVERSE_SQRT && s->warmup == 0
            ? "--warmup 0: --schedule inverse_sqrt counts its steps in units of the warm-up"
        : options_has(&s->given, "validation") && !validates(s) && !options_has(&s->given, "epochs")
            ? "--validation none: nothing chooses the best epoch; " ADVICE_EPOCHS
        : !validates(s) && s->patience > 0                ? "--patience needs validation rows"
        : !validates(s) && options_has(&s->given, "best") ? "--best needs validation rows"
        : !validates(s) && s->refit[0] == 'y' ? "--refit: without validation rows all rows are training rows"
        : s->refit[0] == 'y' && tg_model_traits_of(model)->text ? "--refit is for rows, and a text has none"
        : s->nets > 1 && s->refit[0] != 'y'                     ? "--nets is for --refit"
        : s->nets > 1 && !net_joins(&s->net)
            ? "--nets: only an mlp without a normalisation or a gated activation has a mean of several nets"
        : options_has(&s->given, "soften") && s->refit[0] != 'y'                 ? "--soften is for --refit"
        : s->test_as && s->test && s->folds == 0 && strcmp(s->test, "none") == 0 ? "--test-as needs test rows"
        : s->test_as && s->refit[0] == 'y' ? "--test-as is for the net of the best epoch, and --refit keeps another"
        : s->ema > 0 && s->refit[0] == 'y' ? "--refit trains weights, not the averages of --ema"
        : s->batch < least                 ? "--batch: --norm batch needs at least two rows"
        : options_has(&s->given, "residual") && !s->compared && net_residual_is_idle(&s->net)
            ? "--residual: no two successive hidden layers have the same width"
        : options_has(&s->given, "patience") && s->patience >= s->epochs && s->patience > 0
            ? "--patience has no effect: a run has no more epochs; " ADVICE_PATIENCE
        : s->label_smoothing > 0 && !classifies           ? "--label-smoothing is for classes and characters only"
        : strcmp(s->best, "accuracy") == 0 && !classifies ? "--best accuracy is for classes and characters only"
        : s->class_weights && !classifies                 ? "--class-weights is for classes only"
        : s->weights && (s->reconstructs || tg_model_traits_of(model)->reconstructs)
            ? "--weights is not for an autoencoder"
        : options_has(&s->given, "target") && !is_table  ? "--target is for csv: only"
        : options_has(&s->given, "task") && !is_table    ? "--task is for csv: only"
        : options_has(&s->given, "missing") && !is_table ? "--missing is for csv: only"
        : options_has(&s->given, "soften") && !is_table  ? "--soften is for csv: only"
                                                         : NULL;
    return conflict ? tg_fail(error, "%s", conflict) : check_variants(s, error);
}

/* ---- as JSON, and as a name ---- */

json_t *run_spec_json(const run_spec *s)
{
    json_t *object = json_object(), *all = json_object();
    options_record(run_options, s, all);
    for (const program_option *o = run_options; o->type != OPTION_GROUP || strcmp(o->help, "Running:") != 0; o++)
        if (o->name)
            json_object_set(object, o->name, json_object_get(all, o->name));
    json_decref(all);
    if (s->reconstructs)
        json_object_set_new(object, "reconstructs", json_true());
    return object;
}

void run_spec_name(const run_spec *s, const json_t *lists, const run_spec *defaults, char name[RUN_NAME])
{
    const char *colon = strchr(s->data, ':'), *file = colon ? colon + 1 : s->data, *slash = strrchr(file, '/');
    json_t *ours = run_spec_json(s), *usual = run_spec_json(defaults);
    json_object_update(ours, (json_t *)lists);
    const char *option;
    json_t *value;
    slash = strcmp(file, "-") == 0 ? "stdin" : slash && slash[1] ? slash + 1 : file;
    size_t used = (size_t)snprintf(name, RUN_NAME, "results/%.*s-%s%s", (int)strcspn(slash, "./"), slash,
                                   s->net.model ? s->net.model : "auto", lists ? "-compared" : "");
    json_object_foreach(ours, option, value) {
        if (strcmp(option, "data") == 0 || strcmp(option, "model") == 0 ||
            json_equal(value, json_object_get(usual, option)) || used >= RUN_NAME - 1)
            continue;
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(9)), *to = name + used;
        used += (size_t)snprintf(to, RUN_NAME - used, "-%s%s", option, text && *text != 't' ? text : "");
        for (char *c = to + 1; *c; c++) /* quotes, slashes and blanks are not allowed in a name */
            if (*c == '"' || *c == '/' || *c == ' ')
                memmove(c, c + 1, strlen(c)), c--;
        used = strlen(name);
        free(text);
    }
    name[plain_length(name, RUN_NAME - 1)] = '\0';
    for (char *c = plain_text(name); *c; c++)
        *c = *c == '?' ? '_' : *c;
    json_decref(ours);
    json_decref(usual);
}

tg_format run_spec_format(const run_spec *s)
{
    return s->round ? (tg_format)options_position(rounds, s->round) : TG_FLOAT32;
}

tg_optimizer_config run_spec_optimizer(const run_spec *s, int64_t steps)
{
    tg_optimizer_config config = {.lr = s->lr,
                                  .weight_decay = s->weight_decay,
                                  .clip_norm = s->clip,
                                  .momentum = s->momentum,
                                  .nesterov = s->momentum > 0,
                                  .beta1 = s->beta1,
                                  .beta2 = s->beta2,
                                  .epsilon = s->epsilon};
    tg_optimizer_from_name(s->optimizer, &config.kind);
    tg_schedule_from_name(s->schedule, &config.schedule.kind);
    config.schedule.steps = steps;
    const tg_schedule_kind schedule = config.schedule.kind;
    config.schedule.end = tg_schedule_uses(schedule, "end") ? s->end : 0;
    config.schedule.warmup = tg_schedule_uses(schedule, "warmup") ? (int64_t)(s->warmup * (double)steps) : 0;
    if (schedule == TG_INVERSE_SQRT && s->warmup > 0 && config.schedule.warmup == 0)
        config.schedule.warmup = 1; /* its unit of time */
    if (schedule == TG_STEP_DECAY)
        config.schedule.period = steps / 3 > 0 ? steps / 3 : 1; /* the rate falls to a tenth after each third */
    config.nesterov = config.nesterov && config.kind == TG_SGD;
    return config;
}

/* Without a value these have the default of the data, which the same word may also say. */
static bool is_by_default(const program_option *o, const run_spec *s)
{
    static const char *const defaults[] = {"validation", "test", "target", NULL};
    char text[OPTIONS_WORD];
    return defaults[options_position(defaults, o->name)] && !options_word(o, s, text);
}

const char *run_spec_judged_otherwise(const run_spec *a, const run_spec *b)
{
    static const char *const judging[] = {"validation", "test",    "split",         "folds", "fold", "target",
                                          "groups",     "weights", "class-weights", "best",  NULL};
    for (const program_option *o = run_options; options_more(o); o++)
        if (o->name && judging[options_position(judging, o->name)] && !options_agree(o, a, b) && !is_by_default(o, a))
            return o->name;
    return NULL;
}
