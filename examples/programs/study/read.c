/* Reads the file of a study, and lists its experiments and their runs. */
#include "examples/programs/report/memory.h"
#include "examples/programs/study/study.h"
#include "examples/programs/system/posix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *study_text(const json_t *of, const char *name)
{
    const json_t *text = json_object_get(of, name), *line;
    const char *joined = json_string_value(text);
    size_t i;
    json_array_foreach(text, i, line) {
        char *longer = memory_text("%s%s%s", joined ? joined : "", i ? " " : "", json_string_value(line));
        joined = net_keep_text(longer);
        free(longer);
    }
    return joined;
}

/* ---- experiments ---- */

/* A file of data is in the folder of --data; of a quick version, beside the study's file. */
static const char *data_of(const study *s, const char *data)
{
    const char *path = strchr(data, ':');
    if (!path || path[1] == '/')
        return data;
    char *whole = memory_text("%.*s:%s/%s", (int)(path - data), data,
                              s->settings->quick || !s->settings->data ? s->home : s->settings->data, path + 1);
    const char *kept = net_keep_text(whole);
    free(whole);
    return kept;
}

/* The quick version has the first two rates, and two seeds. */
static void shorten(experiment_settings *e, const char **rates)
{
    const char *second = strchr(*rates, ','), *end = second ? strchr(second + 1, ',') : NULL;
    char *two = memory_text("%.*s", end ? (int)(end - *rates) : (int)strlen(*rates), *rates);
    *rates = net_keep_text(two);
    e->seeds = e->seeds < 2 ? e->seeds : 2;
    free(two);
}

static bool take_flag(json_t *options, const char *name)
{
    const bool is = json_is_true(json_object_get(options, name));
    json_object_del(options, name);
    return is;
}

/* Adds the experiment with these options, and its quick ones. */
static bool add_experiment(study *s, json_t *options, json_t *quick, const char *prefix, tg_error *error)
{
    const options_program *compare = experiment_program();
    experiment *e = memory_checked(malloc(sizeof *e));
    *e = experiment_defaults();
    s->experiments = memory_grown(s->experiments, (size_t)s->experiment_count, sizeof *s->experiments);
    s->prefixes = memory_grown(s->prefixes, (size_t)s->experiment_count, sizeof *s->prefixes);
    snprintf(s->prefixes[s->experiment_count], sizeof *s->prefixes, "%s", prefix);
    s->experiments[s->experiment_count++] = e;
    experiment_settings *settings = &e->settings;
    settings->run.reconstructs = take_flag(options, "reconstructs"); /* these two are no options of compare */
    settings->run.drop_last = take_flag(options, "drop-last");
    if (!options_take_all(compare, s->name, options, settings, error) ||
        (s->settings->quick && !options_take_all(compare, s->name, quick, settings, error)))
        return false;
    settings->run.data = data_of(s, settings->run.data);
    const char **rates = (const char **)(void *)((char *)settings + options_find(compare->table, "lr")->offset);
    if (s->settings->quick)
        shorten(settings, rates);
    char *epochs = s->settings->epochs ? memory_text("%d", s->settings->epochs) : NULL;
    if (epochs)
        options_set(options_find(compare->table, "epochs"), settings, net_keep_text(epochs));
    free(epochs);
    return experiment_list_runs(e, error) &&
           (!search_is_on(&e->search) || tg_fail(error, "%s: a study names its values; auto is for compare", s->name));
}

/* Adds the experiments of a part of the file. Its options go for all that it consists of, "each", whose names begin the
 * names of their runs. */
static bool add_part(study *s, const json_t *part, const json_t *options, const json_t *quick, const char *prefix,
                     tg_error *error)
{
    json_t *own = json_deep_copy(options), *own_quick = json_deep_copy(quick);
    const json_t *each = json_object_get(part, "each"), *inner;
    const char *name = json_string_value(json_object_get(part, "name"));
    char *longer = memory_text("%s%s", prefix, name ? name : "");
    bool fine = true;
    size_t i;
    json_array_append_new(s->texts, own);
    json_array_append_new(s->texts, own_quick);
    json_object_update(own, json_object_get(part, "options"));
    json_object_update(own_quick, json_object_get(part, "quick"));
    json_array_foreach(each, i, inner)
        fine = fine && add_part(s, inner, own, own_quick, longer, error);
    fine = fine && (each || add_experiment(s, own, own_quick, longer, error));
    free(longer);
    return fine;
}

/* ---- runs ---- */

/* "depth2-relu-lr0.001-seed1" belongs to the cell "depth2-relu". */
static const char *cell_name(const pool_run *run, const run_spec *spec)
{
    char name[POOL_NAME], rate[40];
    snprintf(name, sizeof name, "%s", run->name);
    *strstr(name, "-seed") = '\0';
    snprintf(rate, sizeof rate, "-lr%g", spec->lr);
    char *at = strstr(name, rate);
    if (at)
        memmove(at, at + strlen(rate), strlen(at + strlen(rate)) + 1);
    return net_keep_text(name);
}

/* "activation=relu hidden=64x2": the options that are not defaults. */
static const char *options_of(const run_spec *spec)
{
    static const char *const without[] = {"data", "seed", "epochs", "lr", NULL};
    const run_spec usual = run_spec_defaults(false);
    char *all = memory_text("%s", "");
    for (const program_option *o = run_options; options_more(o) && (o->name || strcmp(o->help, "Running:") != 0); o++) {
        char text[2][OPTIONS_WORD];
        const char *word = o->name ? options_word(o, spec, text[0]) : NULL,
                   *other = o->name ? options_word(o, &usual, text[1]) : NULL;
        if (!word || without[options_position(without, o->name)] || (other && strcmp(word, other) == 0))
            continue;
        char *longer = memory_text("%s%s%s=%s", all, *all ? " " : "", o->name, word);
        free(all);
        all = longer;
    }
    const char *kept = net_keep_text(all);
    free(all);
    return kept;
}

/* All of the first seed first, so that the finished runs of a study that is interrupted are paired. */
static void list_runs(study *s)
{
    for (int seed = 0, left = 1; left; seed++) {
        left = 0;
        for (int i = 0; i < s->experiment_count; i++) {
            const experiment *e = s->experiments[i];
            const int each = e->runs / e->settings.seeds;
            for (int k = 0; seed < e->settings.seeds && k < each; k++)
                pool_add(&s->all, e, seed * each + k, s->prefixes[i]);
            left |= seed + 1 < e->settings.seeds;
        }
    }
    s->run = memory_checked(calloc((size_t)s->all.count + 1, sizeof *s->run));
    for (int i = 0; i < s->all.count; i++) {
        study_run *run = &s->run[i];
        run->spec = experiment_given(s->all.run[i].of, s->all.run[i].number);
        run->cell = cell_name(&s->all.run[i], &run->spec);
        run->options = options_of(&run->spec);
    }
}

bool study_read(study *s, const char *path, tg_error *error)
{
    json_error_t wrong;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    snprintf(s->home, sizeof s->home, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
    snprintf(s->name, sizeof s->name, "%.*s", (int)(strlen(name) - strlen(".json")), name);
    snprintf(s->folder, sizeof s->folder, "%.*s/%s%s", PATH_MAX - NAME_MAX - 20, s->settings->out, s->name,
             s->settings->quick ? "-quick" : "");
    snprintf(s->runs, sizeof s->runs, "%.*s/runs", PATH_MAX - 8, s->folder);
    s->all.folder = s->runs;
    s->file = json_load_file(path, 0, &wrong);
    s->texts = json_array();
    if (!s->file)
        return tg_fail(error, "%s:%d: %s", path, wrong.line, wrong.text);
    json_t *none = json_object();
    const bool fine = (!json_object_get(s->file, "options") && !json_object_get(s->file, "each")) ||
                      add_part(s, s->file, none, none, "", error);
    json_decref(none);
    if (fine)
        list_runs(s);
    return fine;
}

void study_free(study *s)
{
    for (int i = 0; i < s->all.count; i++)
        json_decref(s->run[i].results);
    for (int i = s->experiment_count - 1; i >= 0; i--) { /* those that borrow data first */
        experiment_free(s->experiments[i]);
        free(s->experiments[i]);
    }
    free(s->run);
    free(s->experiments);
    free(s->prefixes);
    pool_free(&s->all);
    json_decref(s->file);
    json_decref(s->texts);
}
