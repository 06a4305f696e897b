/* The text of a paper on how a comparison was made. Each sentence comes from the options of the runs. */
#include "examples/programs/run/experiment.h"

#include "examples/programs/data/words.h"

/* The forms: "relu, mine (x sigmoid(1.5 x))", each once. */
static void put_activations(const experiment *e, FILE *to)
{
    const int each = e->form_count / e->model_count;
    for (int a = 0; a < each; a++) {
        tg_activation activation;
        const bool known = tg_activation_from_name(e->form[a].activation, &activation);
        fprintf(to, "%s%s", list_joint(a, each), known ? net_activation_label(activation) : e->form[a].activation);
        if (known) {
            const char *formula = tg_activation_formula(activation), *colon = strchr(formula, ':');
            fprintf(to, " (%s)", colon ? colon + 1 + strspn(colon + 1, " ") : formula); /* without the name in front */
        }
    }
}

static bool any_is_gated(const experiment *e)
{
    for (int a = 0; a < e->form_count; a++)
        if (net_is_gated(e->form[a].activation))
            return true;
    return false;
}

/* The values of an option in all runs; NULL: it has none, or its value turns it off. */
static const char *value_of(const experiment *e, const run_spec *s, const program_option *o, char text[OPTIONS_WORD])
{
    static const char *const off[] = {"0", "-1", "no", "none", "auto", "", NULL};
    for (int i = 0; i < e->axis_count; i++)
        if (e->axes[i].option == o)
            return experiment_list(e, o->name);
    const char *word = options_word(o, s, text);
    if (strcmp(o->name, "accumulate") == 0 && s->accumulate == 1)
        return NULL;
    return !word || off[options_position(off, word)] ? NULL : word;
}

/* All options of net and training that have a value, with those that were not given. */
static void put_settings(const experiment *e, const run_spec *s, FILE *to)
{
    static const char *const elsewhere[] = {
        "activation", "seed",  "best",    "patience",         "refit", "nets", "soften",
        "test-noise", "gated", "test-as", "train-loss-every", NULL};
    char text[OPTIONS_WORD];
    bool any = false, listed = false;
    for (const program_option *o = run_options; options_more(o); o++) {
        if (o->type == OPTION_GROUP)
            listed = strcmp(o->help, "Model:") == 0 || strcmp(o->help, "Training:") == 0;
        else if (listed && net_takes(s->net.model, o->name) && !elsewhere[options_position(elsewhere, o->name)]) {
            const char *value = value_of(e, s, o, text);
            if (value)
                fprintf(to, "%s%s %s", any ? ", " : "", o->name, value);
            any |= value != NULL;
        }
    }
}

/* How the epoch is chosen, and what is tested. */
static void put_epoch(const run_spec *s, FILE *to)
{
    if (s->validation && strcmp(s->validation, "none") == 0)
        fputs("There are no validation samples: the net of the last epoch is tested.", to);
    else
        fprintf(to, "Of each run the net of the epoch with the %s counts.",
                strcmp(s->best, "accuracy") == 0 ? "highest validation accuracy" : "lowest validation loss");
    if (s->patience > 0)
        fprintf(to, " Training ends after %d epoch%s without a better one.", s->patience, plural(s->patience));
    if (strcmp(s->refit, "yes") == 0)
        fprintf(to, " Then %s trained again on training and validation samples together, for as many steps.",
                s->nets > 1 ? "several nets, whose mean counts, are" : "it is");
    fputc('\n', to);
}

/* How learning rate, scale and other lists were searched. */
static void put_search(const experiment *e, FILE *to)
{
    const runlog_about about = experiment_about(e);
    fputs("\nSearch. ", to);
    if (e->search.on[0] || e->search.on[1])
        for (int which = 0, any = 0; which < SEARCH_VALUES; which++)
            if (e->search.on[which])
                fprintf(to, "%s%s %s",
                        any++ ? "; " : "Tried, by a search that brackets the best: ", search_options[which],
                        experiment_list(e, search_options[which]));
    if (about.tried)
        fputs(about.tried, to);
    for (int i = 0, any = 0; i < e->axis_count; i++)
        if (!e->search.brief && !(e->search.on[0] || e->search.on[1]))
            fprintf(to, "%s%s %s", any++ ? "; " : "All combinations were tried of ", e->axes[i].option->name,
                    experiment_list(e, e->axes[i].option->name));
    if (e->points > 1)
        fprintf(to, "%s Each activation is shown where its mean validation loss over the %s is lowest.",
                about.tried ? "" : ".", e->settings.run.folds ? "runs" : "seeds");
    if (about.unsearched || e->points == 1)
        fprintf(to, "%s%s", e->points > 1 ? " " : "", about.unsearched ? about.unsearched : "Nothing was searched.");
    fputc('\n', to);
}

void methods_print_software(const char *command, FILE *to)
{
    fprintf(to, "\nSoftware. tapegrad %s. Command: %s\n", tg_version(), command);
}

void methods_print(const experiment *e, const char *command, FILE *to)
{
    const run_spec s = experiment_spec(e, 0);
    run_spec said = s;
    said.task = ""; /* of what was inferred no paper need say how to override it */
    const int seeds = e->settings.seeds, first = e->settings.run.seed;
    fputs("Data. ", to);
    source_describe(&said, &e->from, e->from.is_text ? NULL : experiment_about(e).compared.note, to);
    fputs("\nNets and training. Activations: ", to);
    put_activations(e, to);
    fputs(". ", to);
    if (e->model_count > 1)
        fprintf(to, "Models: %s; settings of the first: ", e->settings.models);
    put_settings(e, &s, to);
    fputs(". ", to);
    if (any_is_gated(e))
        fprintf(to, "Gated nets have %s the others. ",
                s.gated && strcmp(s.gated, "parameters") == 0 ? "about as many parameters as" : "the width of");
    fprintf(to, "Seed%s %d", plural(seeds), first);
    if (seeds > 1)
        fprintf(to, " to %d", first + seeds - 1);
    fprintf(to,
            ": a seed has the same samples in the same order for all %s and, where shapes agree, the same initial "
            "weights. ",
            e->model_count > 1 ? "models" : "activations");
    put_epoch(&s, to);
    put_search(e, to);
    methods_print_software(command, to);
}
