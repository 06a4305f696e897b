#include "examples/programs/data/advice.h"
#include "examples/programs/run/experiment.h"

#include "examples/programs/data/number.h"
#include "examples/programs/data/words.h"
#include "examples/programs/report/memory.h"
#include "examples/programs/run/run.h"
#include "examples/programs/system/posix.h"

/* ---- the options ---- */

static const char *const formats[] = {"table", "markdown", "latex", "csv", "html", NULL};

#define AT(member) offsetof(experiment_settings, member)

static const program_option own_options[] = {
    {"keep-models", NULL, "keep the weights of every run's best epoch, for predict --model OUT/runs/NAME", OPTION_FLAG,
     AT(keep_models)},
    SWEEP_OPTIONS(AT(sweep)),
    {"format", "KIND", "format of the printed table", OPTION_CHOICE, AT(format), .choices = formats},
    {"paper", NULL,
     "write what a paper needs into OUT/paper: pictures as PDF, a table for LaTeX (booktabs), and a text of methods",
     OPTION_FLAG, AT(paper)},
    {"config", "FILE", "take the options from a config.json; options given here override them", OPTION_TEXT,
     AT(config)},
    {.type = OPTION_GROUP, .help = "Instead of training, with --format, --report, --paper and --out:"},
    {"runs", "PATH",
     "compare results of other programs: a CSV file with columns group, seed and measures, one exported by W&B or "
     "TensorBoard, or a folder of such files",
     OPTION_TEXT, AT(runs), .once = OPTIONS_ONE},
    {"measures", "NAMES",
     "columns of the table, comma-separated: test_loss, test_accuracy, best_val_loss, ...; of --runs: columns to "
     "compare",
     OPTION_TEXT, AT(measures), .once = OPTIONS_ONE_LIST},
    {"more-is-better", "NAMES", "measures of --runs of which more is better, where their names do not say so",
     OPTION_TEXT, AT(more_is_better), .once = OPTIONS_ONE_LIST},
    {"less-is-better", "NAMES", "measures of --runs of which less is better, likewise", OPTION_TEXT, AT(less_is_better),
     .once = OPTIONS_ONE_LIST},
    {"margin", "M",
     "test whether activations are equal within this share of the loss, or this difference in accuracy: 1% or 0.01",
     OPTION_TEXT, AT(margin)},
    {.type = OPTION_GROUP,
     .help = "What is compared (every option of model and training that is a number or a name takes a comma-separated "
             "list; all combinations are tried):"},
    {"activations", "NAMES", "activations or formulas, comma-separated; differences are to the first one", OPTION_TEXT,
     AT(activations), .choices = net_activations},
    {"seeds", "N", "runs of each activation", OPTION_INT, AT(seeds), 1, 10000},
    {0}};

static int place_of(const char *option)
{
    return (int)(options_find(run_options, option) - run_options);
}

/* True if compare accepts several values of an option: for options of the model and of training, except those that
 * define the pairing of runs. */
static bool is_listed(int place)
{
    static const char *const single[] = {"model", "seed", "gated", "best", NULL}; /* models are forms */
    const program_option *o = &run_options[place];
    const char *group = "";
    for (int i = 0; i < place; i++)
        group = run_options[i].type == OPTION_GROUP ? run_options[i].help : group;
    return o->name && (strcmp(group, "Model:") == 0 || strcmp(group, "Training:") == 0) && !o->list &&
           (o->type == OPTION_INT || o->type == OPTION_REAL || o->type == OPTION_CHOICE) &&
           !single[options_position(single, o->name)];
}

const options_program *experiment_program(void)
{
    static program_option table[OPTIONS_MOST];
    static const char *const first[] = {"data", "target", "activations", "seeds", "model", "hidden",    "epochs", "lr",
                                        "jobs", "part",   "report",      "runs",  "out",   "overwrite", NULL};
    static const options_program program = {
        .name = "compare",
        .about = "Trains the same model with several activations and several seeds, and shows which is better: by a "
                 "table with intervals, and by curves.",
        .table = table,
        .given_offset = AT(run.given),
        .first = first,
        .after = "For one seed, all activations have the same rows in the same order and, where shapes agree, the same "
                 "initial weights. Every choice, such as that of the best epoch, is made on validation rows. The same "
                 "command gives the same curves for any --jobs, and continues where it was stopped or killed.\n\n"
                 "Example: compare --data glyphs --activations relu,silu --seeds 5 --out results"};
    static const char *const not_ours[] = {"activation", "start", "rename", "activation-from",
                                           "drop-last",  "fold",  NULL};
    static const struct {
        const char *option, *help, *word;
    } differ[] = {
        {"lr", "learning rates; 0: the model's default, on tables the best of three; auto: bracket the best", "auto"},
        {"init-scale",
         "factors of all initial weights; 0: 1, of an mlp on a table without --lr the best of three; auto: "
         "bracket the best of each activation by validation, with --lr auto of both",
         "auto"},
        {"model", "models to train; several are compared with each other, each with every activation", NULL},
        {"epochs", "passes over the training rows; 0: 10 to 100, for about 1,500 steps", NULL},
        {"patience", "stop after this many epochs without a new best; 0 or -1: never", NULL},
        {"dropout", "dropout rate in training; -1: none", NULL}};
    if (table[0].help)
        return &program;
    options_join(table, run_options, not_ours);
    for (size_t i = 0; i < sizeof differ / sizeof *differ; i++) {
        program_option *o = &table[options_find(table, differ[i].option) - table];
        o->help = differ[i].help;
        o->word = differ[i].word;
    }
    for (program_option *o = table; options_more(o); o++)
        if (o->name && is_listed(place_of(o->name))) {
            o->list = true;
            o->offset = AT(list) + (size_t)place_of(o->name) * sizeof(const char *);
        }
    program_option *model = &table[options_find(table, "model") - table];
    model->list = true;
    model->offset = AT(models);
    options_join(table, own_options, NULL);
    return &program;
}

/* The word for an option's value; NULL if it is a text that is not set. */
static const char *word_of(const program_option *o, const run_spec *s)
{
    char text[OPTIONS_WORD];
    const char *word = options_word(o, s, text);
    return word ? net_keep_text(word) : NULL;
}

/* Gives each option that takes a list the value of the run. */
static void set_lists(experiment_settings *s)
{
    for (int i = 0; options_more(&run_options[i]); i++)
        if (is_listed(i))
            s->list[i] = word_of(&run_options[i], &s->run);
}

experiment experiment_defaults(void)
{
    experiment e = {.settings = {.run = run_spec_defaults(true),
                                 .activations = "relu,gelu_exact,silu,swiglu",
                                 .seeds = 3,
                                 .format = "table"}};
    e.settings.run.gated = "parameters";
    set_lists(&e.settings);
    return e;
}

experiment experiment_of(const run_spec *run, const bool searched[SEARCH_VALUES])
{
    experiment e = {.settings = {.run = *run, .seeds = 1, .format = "table"}};
    run_spec *s = &e.settings.run;
    s->given = (options_given){.count = 0};
    s->refit = s->soften = "no"; /* validation losses are those before a refit */
    s->nets = 1;
    s->no_plots = true;
    s->report = s->tensorboard = s->keep_predictions = s->overwrite = false;
    s->lr = searched[SEARCH_RATE] ? 0 : s->lr;
    s->net.init_scale = searched[SEARCH_SCALE] ? 0 : s->net.init_scale;
    set_lists(&e.settings);
    e.settings.activations = s->net.activation;
    e.settings.models = s->net.model;
    for (int which = 0; which < SEARCH_VALUES; which++)
        if (searched[which])
            e.settings.list[place_of(search_options[which])] = "auto";
    return e;
}

/* ---- lists ---- */

/* Reads names or numbers separated by commas into words[most]; returns their number, -1 if there are too many. */
static int read_words(const char *list, const char *words[], int most,
                      bool (*next)(const char **list, char word[], size_t size))
{
    int count = 0;
    for (char word[TG_FORMULA_LENGTH + 1]; next(&list, word, sizeof word);) {
        if (count == most)
            return -1;
        words[count++] = net_keep_text(word);
    }
    return count;
}

/* Reads a list of different words; false and one line if it has too many or one twice. */
static bool read_list(const char *option, const char *list, const char *words[], int *count, tg_error *error)
{
    *count =
        read_words(list, words, EXPERIMENT_FORMS, strcmp(option, "activations") == 0 ? net_next_activation : next_word);
    if (*count < 0)
        return tg_fail(error, "--%s: more than %d", option, EXPERIMENT_FORMS);
    for (int i = 0; i < *count; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(words[i], words[k]) == 0)
                return tg_fail(error, "--%s: '%s' is listed twice", option, words[i]);
    return true;
}

/* FNV-1a */
static unsigned hash_of(const char *text)
{
    uint32_t hash = 2166136261u;
    for (const char *c = text; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return hash;
}

/* The label in names of runs. That of a formula has a hash of the text behind it, so that runs of another formula of
 * the same name are not taken for its own. */
static const char *folder_of(const char *activation, const char *label)
{
    char folder[60];
    snprintf(folder, sizeof folder, "%s-%06x", label, hash_of(activation) & 0xffffff);
    return strcmp(activation, label) == 0 ? label : net_keep_text(folder);
}

static experiment_form form_of(const char *model, const char *activation, const char *label, bool models,
                               bool activations)
{
    char both[80], folder[100];
    snprintf(both, sizeof both, "%s-%s", model ? model : "", label);
    snprintf(folder, sizeof folder, "%s-%s", model ? model : "", folder_of(activation, label));
    return (experiment_form){.model = model,
                             .activation = activation,
                             .name = !models       ? label
                                     : activations ? net_keep_text(both)
                                                   : model,
                             .folder = models ? net_keep_text(folder) : folder_of(activation, label)};
}

/* Reads the activations; false and one line if one is wrong, or two would have the same name in results. */
static bool read_activations(const char *words[], const char *labels[], int count, tg_error *error)
{
    tg_activation activation;
    for (int i = 0; i < count; i++) {
        if (!tg_activation_read(words[i], &activation, error))
            return tg_fail(error, "--activations: '%.100s': %s", words[i], error->text);
        if (net_lost_inputs(activation) == 1)
            return tg_fail(error, "--activations: '%.100s': infinite or not a number at all inputs between -4 and 4",
                           words[i]);
        words[i] = tg_activation_name(activation);
        labels[i] = net_activation_label(activation);
        if (strcmp(labels[i], "constant") == 0)
            return tg_fail(error, "--activations: '%.100s': 'constant' is the constant prediction's row in results",
                           words[i]);
        for (int k = 0; k < i; k++)
            if (strcmp(labels[i], labels[k]) == 0)
                return tg_fail(error, "--activations: '%s' and '%s' are both %s in results: " ADVICE_NAMES, words[k],
                               words[i], labels[i]);
    }
    return true;
}

static void list_lost(experiment *e)
{
    tg_activation activation;
    int count = 0;
    for (int i = 0; i < e->form_count; i++)
        if (tg_activation_from_name(e->form[i].activation, &activation) && net_lost_inputs(activation) > 0)
            e->lost[count++] = e->form[i].name;
    e->lost[count] = NULL;
}

static bool read_forms(experiment *e, tg_error *error)
{
    const char *activations[EXPERIMENT_FORMS], *labels[EXPERIMENT_FORMS], *models[EXPERIMENT_FORMS] = {NULL};
    int count;
    if (!read_list("activations", e->settings.activations, activations, &count, error) ||
        (e->settings.models && !read_list("model", e->settings.models, models, &e->model_count, error)))
        return false;
    if (!read_activations(activations, labels, count, error))
        return false;
    e->model_count = e->settings.models ? e->model_count : 1;
    if (count * e->model_count > EXPERIMENT_FORMS)
        return tg_fail(error, "--model: more than %d nets with --activations", EXPERIMENT_FORMS);
    e->form_count = 0;
    for (int m = 0; m < e->model_count; m++)
        for (int a = 0; a < count; a++)
            e->form[e->form_count++] = form_of(models[m], activations[a], labels[a], e->model_count > 1, count > 1);
    e->settings.run.net.model = models[0];
    list_lost(e);
    return true;
}

/* Completes the specification for another model than the first. False and one line if it is not for the data, or its
 * losses are of something else. */
static bool take_model(const experiment *e, const char *model, run_spec *s, tg_error *error)
{
    if (e->model_count == 1 || strcmp(model, s->net.model) == 0)
        return true;
    const bool reconstructs = source_reconstructs(s);
    s->net.model = model;
    return source_complete(s, &e->from, error) &&
           (source_reconstructs(s) == reconstructs ||
            tg_fail(error, "--model: an autoencoder's losses are not comparable with those of other models"));
}

/* Completes the list after the data is known. */
static bool check_models(experiment *e, tg_error *error)
{
    bool fine = true;
    if (!e->settings.models)
        e->settings.models = e->settings.run.net.model;
    for (int i = 0; fine && i < e->form_count; i++) {
        run_spec s = e->settings.run;
        fine = take_model(e, e->form[i].model, &s, error);
    }
    return fine;
}

const char *experiment_list(const experiment *e, const char *option)
{
    return e->settings.list[place_of(option)];
}

/* Makes an axis of each list with several values; a single value sets the specification. */
static bool read_lists(experiment *e, tg_error *error)
{
    enum { MOST_POINTS = 1000 };
    e->points = 1;
    e->axis_count = 0;
    for (int i = 0; options_more(&run_options[i]); i++) {
        const program_option *o = &run_options[i];
        experiment_axis axis = {.option = o};
        if (!e->settings.list[i])
            continue;
        axis.count = read_words(e->settings.list[i], axis.values, OPTIONS_NUMBERS, next_word);
        bool fine = axis.count > 0 && e->points * axis.count <= MOST_POINTS &&
                    (axis.count == 1 || e->axis_count < EXPERIMENT_AXES);
        for (int k = axis.count - 1; fine && k >= 0; k--)
            fine = options_set(o, &e->settings.run, axis.values[k]);
        if (!fine)
            return tg_fail(error, "--%s: '%.100s': not a list of its values, or more than %d points to search", o->name,
                           e->settings.list[i], MOST_POINTS);
        if (axis.count > 1)
            e->axes[e->axis_count++] = axis;
        e->points *= axis.count;
    }
    return true;
}

/* The value of a run on an axis; the last axis varies fastest. */
static const char *value_at(const experiment *e, int run, int axis)
{
    int point = run / e->form_count % e->points;
    for (int i = e->axis_count - 1; i > axis; i--)
        point /= e->axes[i].count;
    return e->axes[axis].values[point % e->axes[axis].count];
}

/* ---- runs ---- */

static int folds(const experiment *e)
{
    return e->settings.run.folds > 0 ? e->settings.run.folds : 1;
}

const experiment_form *experiment_form_of(const experiment *e, int run)
{
    return &e->form[run % e->form_count];
}

run_spec experiment_given(const experiment *e, int run)
{
    run_spec s = e->settings.run;
    tg_error checked; /* by check_models */
    take_model(e, experiment_form_of(e, run)->model, &s, &checked);
    for (int i = 0; i < e->axis_count; i++)
        options_set(e->axes[i].option, &s, value_at(e, run, i));
    s.net.activation = experiment_form_of(e, run)->activation;
    s.fold = s.folds ? 1 + run / e->form_count / e->points % folds(e) : 0;
    s.seed += run / e->form_count / e->points / folds(e);
    return s;
}

int64_t experiment_rows(const experiment *e, int run)
{
    return e->rows ? e->rows[run % (e->form_count * e->points)] : e->from.train.count;
}

run_spec experiment_spec(const experiment *e, int run)
{
    run_spec s = experiment_given(e, run);
    run_spec_complete(&s, experiment_rows(e, run));
    return s;
}

/* The word for a value in names: 0.001, and 1e+06 for a million; all digits where six are not enough to tell values
 * apart. */
static const char *point_word(const program_option *o, const char *value, char text[NUMBER_TEXT])
{
    const double number = strtod(value, NULL);
    snprintf(text, NUMBER_TEXT, "%g", number);
    return o->type == OPTION_CHOICE ? value : strtod(text, NULL) == number ? text : number_text(number, text);
}

void experiment_point(const experiment *e, int run, char text[EXPERIMENT_POINT])
{
    *text = '\0';
    for (int i = 0; i < e->axis_count; i++) {
        const program_option *o = e->axes[i].option;
        text_add(text, EXPERIMENT_POINT, "%s%s %s", i ? ", " : "", o->name,
                 point_word(o, value_at(e, run, i), (char[NUMBER_TEXT]){0}));
    }
}

/* The axis for the picture: the longest list of numbers, or else of words; -1 without a search. */
static int shown_axis(const experiment *e)
{
    int best = -1, most = 0;
    for (int i = 0; i < e->axis_count; i++) {
        const int weight = e->axes[i].count + (e->axes[i].option->type == OPTION_CHOICE ? 0 : OPTIONS_NUMBERS);
        if (weight > most)
            best = i, most = weight;
    }
    return best;
}

double experiment_number(const experiment *e, int run)
{
    const int axis = shown_axis(e);
    if (axis < 0)
        return 0;
    const char *value = value_at(e, run, axis);
    int place = 0;
    while (e->axes[axis].values[place] != value)
        place++;
    return e->axes[axis].option->type == OPTION_CHOICE ? place : strtod(value, NULL);
}

const char *experiment_searched(const experiment *e)
{
    const int axis = shown_axis(e);
    return axis < 0 ? NULL : e->axes[axis].option->name;
}

void experiment_searched_words(const experiment *e, char text[EXPERIMENT_POINT])
{
    const int axis = shown_axis(e);
    *text = '\0';
    if (axis < 0 || e->axes[axis].option->type != OPTION_CHOICE)
        return;
    for (int i = 0; i < e->axes[axis].count; i++)
        text_add(text, EXPERIMENT_POINT, "%s%s", i ? " " : "", e->axes[axis].values[i]);
}

void experiment_searched_rates(const experiment *e, char text[EXPERIMENT_POINT])
{
    const search *s = &e->search;
    const int scales = s->brief ? s->count[SEARCH_SCALE] : 0;
    *text = '\0';
    for (int i = 0; i < scales; i++)
        text_add(text, EXPERIMENT_POINT, "%s%g %g", i ? " " : "", s->values[SEARCH_SCALE][scales - 1 - i],
                 s->values[SEARCH_RATE][i]);
}

/* Of a long point the name has the beginning and a hash of all of it: a system takes 255 bytes. */
void experiment_name(const experiment *e, int run, char name[EXPERIMENT_POINT])
{
    enum { MOST = 120, KEPT = 110 };
    const run_spec s = experiment_given(e, run);
    char point[EXPERIMENT_POINT], *to = point;
    experiment_point(e, run, point);
    for (const char *from = point; *from; from++) /* "lr 0.01, width 8" becomes "lr0.01-width8" */
        if (*from != ' ')
            *to++ = *from == ',' ? '-' : *from;
    *to = '\0';
    if (to - point > MOST)
        snprintf(point + KEPT, 10, "-%08x", hash_of(point));
    snprintf(name, EXPERIMENT_POINT, "%s%s%.120s-seed%d", experiment_form_of(e, run)->folder, *point ? "-" : "", point,
             s.seed);
    if (s.folds)
        text_add(name, EXPERIMENT_POINT, "-fold%d", s.fold);
}

/* ---- checks ---- */

/* False and one line if two points of the grid are the same training, as batch 0 and 128. */
static bool points_differ(const experiment *e, tg_error *error)
{
    json_t **points = calloc((size_t)e->points, sizeof *points);
    bool differ = points != NULL;
    if (!points)
        tg_fail(error, "out of memory");
    for (int a = 0; differ && a < e->points; a++) {
        run_spec s = experiment_spec(e, a * e->form_count);
        s.batch = s.batch < e->from.train.count ? s.batch : (int)e->from.train.count;
        points[a] = run_spec_json(&s);
        for (int b = 0; b < a && differ; b++)
            if (json_equal(points[a], points[b])) {
                const int first = b * e->form_count, second = a * e->form_count;
                int axis = 0;
                while (value_at(e, first, axis) == value_at(e, second, axis))
                    axis++;
                tg_fail(error, "--%s: %s and %s give the same training here", e->axes[axis].option->name,
                        value_at(e, first, axis), value_at(e, second, axis));
                differ = false;
            }
    }
    for (int a = 0; points && a < e->points; a++)
        json_decref(points[a]);
    free(points);
    return differ;
}

/* Reject options that would have no effect. */
static bool options_matter(const experiment *e, tg_error *error)
{
    const experiment_settings *s = &e->settings;
    const int nets = e->form_count * e->points;
    bool any_gated = false, any_residual = false; /* anywhere on the grid */
    for (int run = 0; run < nets; run++) {
        const run_spec spec = experiment_spec(e, run);
        any_gated |= net_is_gated(spec.net.activation);
        any_residual |= !net_residual_is_idle(&spec.net);
    }
    const char *problem =
        options_has(&s->run.given, "gated") && !any_gated ? "--gated: no activation is gated (swiglu, geglu, ...)"
        : s->run.net.residual && !any_residual ? "--residual: no two successive hidden layers have the same width"
                                               : NULL;
    if (problem)
        return tg_fail(error, "%s", problem);
    for (int run = 0; run < nets; run++) {
        const run_spec spec = experiment_spec(e, run);
        if (!experiment_tries(e, run))
            continue;
        if (spec.validation && strcmp(spec.validation, "none") == 0 && !spec.reconstructs)
            return tg_fail(error, "--validation none: a comparison needs validation rows to choose the best epoch");
        if (!run_spec_check(&spec, source_classifies(&spec, &e->from), error) ||
            (e->parameters[run] = run_parameters(&spec, &e->from, error)) < 0)
            return false;
    }
    return true;
}

/* Replaces a 0, which means a default, by the chosen value if there is only one. */
static bool keep_choices(experiment *e, tg_error *error)
{
    /* each with the option on whose value the default depends */
    static const char *const chosen[][2] = {{"batch", "batch"}, {"epochs", "batch"}, {"lr", "optimizer"}};
    const run_spec first = experiment_spec(e, 0);
    if (e->model_count > 1) /* each has its own */
        return read_lists(e, error);
    e->settings.run.net.hidden = first.net.hidden;
    for (int i = 0; i < 3; i++) {
        const int place = place_of(chosen[i][0]);
        if (strcmp(e->settings.list[place], "0") == 0 && !strchr(experiment_list(e, chosen[i][1]), ','))
            e->settings.list[place] = word_of(&run_options[place], &first);
    }
    return read_lists(e, error);
}

/* Makes the folder's name from the given options; a list contributes all values. */
static void name_folder(experiment *e)
{
    const experiment usual = experiment_defaults();
    json_t *lists = json_object();
    for (int i = 0; i < e->axis_count; i++) {
        const char *option = e->axes[i].option->name;
        json_object_set_new(lists, option, json_string(experiment_list(e, option)));
    }
    for (int which = 0; which < SEARCH_VALUES; which++)
        if (e->search.on[which])
            json_object_set_new(lists, search_options[which], json_string("auto"));
    run_spec named = e->settings.run;
    named.net.model = e->settings.models;
    run_spec_name(&named, lists, &usual.settings.run, e->name);
    json_decref(lists);
}

bool experiment_margin(const experiment_settings *s, double *margin, tg_error *error)
{
    char *end;
    *margin = 0;
    if (!s->margin)
        return true;
    *margin = strtod(s->margin, &end);
    if (strcmp(end, "%") == 0) {
        *margin /= 100;
        end++;
    }
    return (end != s->margin && !*end && *margin > 0 && *margin < 1) ||
           tg_fail(error, "--margin: expected a share like 1%% or 0.01, not '%.40s'", s->margin);
}

/* Splits a text for each net, for the first one at last. */
static bool count_rows(experiment *e, int nets, tg_error *error)
{
    bool fine = true;
    if (!e->from.is_text || nets == 1)
        return true;
    free(e->rows);
    e->rows = memory_checked(calloc((size_t)nets, sizeof *e->rows));
    for (int run = nets - 1; fine && run >= 0; run--) {
        run_spec s = experiment_given(e, run);
        fine = source_split(&s, &e->from, error);
        e->rows[run] = e->from.train.count;
    }
    return fine;
}

static bool count_runs(experiment *e, tg_error *error)
{
    enum { MOST = 1000000 };
    const long long runs = (long long)e->form_count * e->points * e->settings.seeds * folds(e);
    e->runs = (int)runs;
    return runs <= MOST || tg_fail(error, "--seeds: %lld runs in all, expected at most %d", runs, MOST);
}

/* Sets the runs from the lists, and checks them. */
static bool make_grid(experiment *e, tg_error *error)
{
    if (!read_lists(e, error) || !count_runs(e, error))
        return false;
    const int nets = e->form_count * e->points;
    free(e->parameters);
    e->parameters = memory_checked(calloc((size_t)nets, sizeof *e->parameters));
    return count_rows(e, nets, error) && points_differ(e, error) && options_matter(e, error);
}

/* ---- --lr auto and --init-scale auto ---- */

/* The values of a run that can be searched; 0 where they are not. */
static search_point point_of(const experiment *e, int run)
{
    const run_spec given = experiment_given(e, run);
    return (search_point){
        {e->search.count[SEARCH_RATE] ? given.lr : 0, e->search.count[SEARCH_SCALE] ? given.net.init_scale : 0}};
}

bool experiment_tries(const experiment *e, int run)
{
    return !(e->search.on[SEARCH_SCALE] || e->search.brief) ||
           search_tries(&e->search, run % e->form_count, point_of(e, run));
}

int experiment_count(const experiment *e)
{
    int count = 0;
    for (int run = 0; run < e->runs; run++)
        count += experiment_tries(e, run);
    return count;
}

/* Makes the options' lists of the values that are searched, and the grid. */
static bool list_searched(experiment *e, tg_error *error)
{
    char text[24 * SEARCH_MOST];
    for (int which = 0; which < SEARCH_VALUES; which++)
        if (e->search.count[which]) {
            search_list(&e->search, which, text, sizeof text);
            e->settings.list[place_of(search_options[which])] = net_keep_text(text);
        }
    return make_grid(e, error);
}

bool experiment_grow(experiment *e, const int best[], tg_error *error)
{
    search_point at[EXPERIMENT_FORMS];
    error->text[0] = '\0';
    for (int a = 0; a < e->form_count; a++)
        at[a] = point_of(e, best[a]);
    return search_grow(&e->search, at, e->form_count) && list_searched(e, error);
}

/* Finds what is searched, and sets it to the model's default until the data is known. */
static bool read_search(experiment *e, tg_error *error)
{
    static const char *const usual[SEARCH_VALUES] = {"0", "1"};
    for (int which = 0; which < SEARCH_VALUES; which++) {
        const char **list = &e->settings.list[place_of(search_options[which])];
        e->search.on[which] = *list && strcmp(*list, "auto") == 0;
        if (e->search.on[which] && e->settings.sweep.part)
            return tg_fail(error, "--%s auto chooses by the results of all runs: " ADVICE_NO_PART,
                           search_options[which]);
        *list = e->search.on[which] ? usual[which] : *list;
    }
    return true;
}

/* True if the rate, and perhaps the scale, are left to the short search: for an MLP on a table by AdamW, with which
 * that search was measured, where no other option has several values. */
static bool searches_briefly(const experiment *e)
{
    const run_spec *s = &e->settings.run;
    return !search_is_on(&e->search) && e->axis_count == 0 && e->model_count == 1 && strcmp(s->net.model, "mlp") == 0 &&
           strncmp(s->data, "csv:", 4) == 0 && strcmp(experiment_list(e, "optimizer"), "adamw") == 0 &&
           strcmp(experiment_list(e, "lr"), "0") == 0;
}

/* Sets the runs, of the first values if rates or scales are searched. */
static bool start(experiment *e, tg_error *error)
{
    const bool brief = searches_briefly(e), scales = strcmp(experiment_list(e, "init-scale"), "0") == 0;
    if (!keep_choices(e, error))
        return false;
    run_spec first = experiment_given(e, 0);
    first.compared = true; /* a search of `train` tries the same rates */
    first.lr = 0;
    run_spec_complete(&first, experiment_rows(e, 0));
    const search_point usual = {{first.lr, 1}};
    if (brief)
        search_briefly(&e->search, usual, scales);
    else if (search_is_on(&e->search))
        search_begin(&e->search, usual);
    return brief || search_is_on(&e->search) ? list_searched(e, error) : make_grid(e, error);
}

bool experiment_list_runs(experiment *e, tg_error *error)
{
    const run_spec *s = &e->settings.run;
    const char *elsewhere = options_first(&s->given, (const char *const[]){"more-is-better", "less-is-better", NULL});
    if (elsewhere)
        return tg_fail(error, "--%s: only with --runs; the direction of our own measures is known", elsewhere);
    return read_search(e, error) && experiment_margin(&e->settings, &e->margin, error) &&
           runlog_check_measures(e->settings.measures, error) && sweep_prepare(&e->settings.sweep, error) &&
           read_forms(e, error) && read_lists(e, error) && count_runs(e, error);
}

/* Opens the data, or takes that of another experiment. */
static bool open_data(experiment *e, const experiment *lender, tg_error *error)
{
    e->borrows = lender != NULL;
    if (!lender)
        return source_open(&e->settings.run, &e->from, error);
    e->from = lender->from;
    e->from.data.order = NULL; /* has a split of its own */
    return source_complete(&e->settings.run, &e->from, error);
}

bool experiment_prepare(experiment *e, const experiment *lender, tg_error *error)
{
    if (!experiment_list_runs(e, error) || !spec_take_products(e->settings.run.products, error) ||
        !open_data(e, lender, error))
        return false;
    if (!check_models(e, error))
        return false;
    name_folder(e);
    run_spec first = experiment_given(e, 0);
    if (!source_split(&first, &e->from, error))
        return false;
    const runlog_about about = experiment_about(e);
    return runlog_fit_measures(&about, error) && start(e, error);
}

void experiment_free(experiment *e)
{
    if (e->borrows)
        free(e->from.data.order);
    else
        source_free(&e->from);
    free(e->parameters);
    free(e->rows);
}
