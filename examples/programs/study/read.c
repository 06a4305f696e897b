/* Reads the file of a study, and lists its experiments and their runs. */
#include "examples/programs/report/memory.h"
#include "examples/programs/study/study.h"

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
    const char *path = strchr(data, ':'), *folder = s->settings->quick ? s->home : s->settings->data;
    if (!path || path[1] == '/')
        return data;
    char *whole = memory_text("%.*s:%s/%s", (int)(path - data), data, folder, path + 1);
    const char *kept = net_keep_text(whole);
    free(whole);
    return kept;
}

/* Adds the experiment with these options, and its runs. */
static bool add_experiment(study *s, json_t *options, const char *prefix, tg_error *error)
{
    const options_program *compare = experiment_program();
    experiment *e = memory_checked(malloc(sizeof *e));
    *e = experiment_defaults();
    s->experiments = memory_grown(s->experiments, (size_t)s->experiment_count, sizeof *s->experiments);
    s->experiments[s->experiment_count++] = e;
    e->settings.run.reconstructs = json_is_true(json_object_get(options, "reconstructs"));
    e->settings.run.drop_last = json_is_true(json_object_get(options, "drop-last"));
    json_object_del(options, "reconstructs"); /* no options of compare */
    json_object_del(options, "drop-last");
    if (s->settings->epochs)
        json_object_set_new(options, "epochs", json_integer(s->settings->epochs));
    if (!options_take_all(compare, s->name, options, &e->settings, error))
        return false;
    e->settings.run.data = data_of(s, e->settings.run.data);
    if (!experiment_list_runs(e, error))
        return false;
    if (search_is_on(&e->search))
        return tg_fail(error, "%s: a study names its values; auto is for compare", s->name);
    for (int i = 0; i < e->runs; i++)
        pool_add(&s->all, e, i, prefix);
    return true;
}

/* Adds the experiments of a part of the file. Its options, and quick ones, replace those around it and go for all that
 * it consists of, "each", whose names begin the names of their runs. */
static bool add_part(study *s, const json_t *part, const json_t *outer, const char *outer_name, tg_error *error)
{
    json_t *own = json_deep_copy(outer), *options = json_object_get(own, "options"),
           *quick = json_object_get(own, "quick"), *each = json_object_get(part, "each"), *inner;
    const char *name = json_string_value(json_object_get(part, "name"));
    char *prefix = memory_text("%s%s", outer_name, name ? name : "");
    bool fine = true;
    size_t i;
    json_array_append_new(s->texts, own);
    json_object_update(options, json_object_get(part, "options"));
    json_object_update(quick, json_object_get(part, "quick"));
    json_array_foreach(each, i, inner)
        fine = fine && add_part(s, inner, own, prefix, error);
    if (!each && s->settings->quick)
        json_object_update(options, quick);
    fine = fine && (each || add_experiment(s, options, prefix, error));
    free(prefix);
    return fine;
}

/* ---- runs ---- */

/* "depth2-relu-lr0.001-seed1" belongs to the cell "depth2-relu". */
static const char *cell_of(const char *run, double lr)
{
    char name[POOL_NAME], rate[40];
    snprintf(name, sizeof name, "%.*s", (int)(strstr(run, "-seed") - run), run);
    snprintf(rate, sizeof rate, "-lr%g", lr);
    char *at = strstr(name, rate);
    if (at)
        memmove(at, at + strlen(rate), strlen(at + strlen(rate)) + 1);
    return net_keep_text(name);
}

/* The same without the hash behind the name of a formula: "mine-4e2f29" is also "mine". */
static const char *plain_of(const experiment *e, const char *cell)
{
    for (const experiment_form *form = e->form; form < e->form + e->form_count; form++) {
        const char *at = strcmp(form->folder, form->name) != 0 ? strstr(cell, form->folder) : NULL;
        if (!at)
            continue;
        char *plain = memory_text("%.*s%s%s", (int)(at - cell), cell, form->name, at + strlen(form->folder));
        cell = net_keep_text(plain);
        free(plain);
        break;
    }
    return cell;
}

/* False and one line if a form is in the name of no run: it would be left out of the report without a word. */
static bool check_forms(const study *s, tg_error *error)
{
    const json_t *form;
    size_t i;
    json_array_foreach(json_object_get(s->file, "forms"), i, form) {
        const char *name = json_string_value(form), *other = study_text(json_object_get(s->file, "cells"), name);
        const char *cell = other ? other : name;
        int run = 0;
        while (cell && run < s->all.count && !strstr(s->run[run].cell, cell) && !strstr(s->run[run].plain, cell))
            run++;
        if (run == s->all.count)
            return tg_fail(error, "%s: no run is of the form '%.60s'", s->name, cell);
    }
    return true;
}

/* "activation=relu hidden=64x2": the options that are not defaults. */
static void print_options(const void *spec, FILE *to)
{
    static const char *const without[] = {"data", "seed", "epochs", "lr", NULL};
    const run_spec usual = run_spec_defaults(false);
    const char *blank = "";
    for (const program_option *o = run_options; options_more(o) && strcmp(o->help, "Running:") != 0; o++) {
        char text[2][OPTIONS_WORD];
        const char *word = o->name ? options_word(o, spec, text[0]) : NULL,
                   *other = word ? options_word(o, &usual, text[1]) : NULL;
        if (word && !without[options_position(without, o->name)] && (!other || strcmp(word, other) != 0)) {
            fprintf(to, "%s%s=%s", blank, o->name, word);
            blank = " ";
        }
    }
}

static int by_seed(const void *a, const void *b)
{
    const pool_run *one = a, *other = b;
    return one->number / (one->of->runs / one->of->settings.seeds) -
           other->number / (other->of->runs / other->of->settings.seeds);
}

/* All of the first seed first, so that the finished runs of a study that is interrupted are paired. */
static void list_runs(study *s)
{
    system_sort(s->all.run, (size_t)s->all.count, sizeof *s->all.run, by_seed);
    s->run = memory_checked(calloc((size_t)s->all.count + 1, sizeof *s->run));
    for (int i = 0; i < s->all.count; i++) {
        study_run *run = &s->run[i];
        run->spec = experiment_given(s->all.run[i].of, s->all.run[i].number);
        run->cell = cell_of(s->all.run[i].name, run->spec.lr);
        run->plain = plain_of(s->all.run[i].of, run->cell);
        char *options = files_text(print_options, &run->spec);
        run->options = net_keep_text(options);
        free(options);
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
    s->texts = json_array();
    s->file = json_load_file(path, 0, &wrong);
    if (!s->file)
        return tg_fail(error, "%s:%d: %s", path, wrong.line, wrong.text);
    json_t *none = json_pack("{s:{}, s:{}}", "options", "quick");
    const bool fine = (!json_object_get(s->file, "options") && !json_object_get(s->file, "each")) ||
                      add_part(s, s->file, none, "", error);
    json_decref(none);
    if (fine)
        list_runs(s);
    return fine && (s->settings->quick || s->all.count == 0 || check_forms(s, error)); /* quick studies have fewer */
}

void study_free(study *s)
{
    for (int i = 0; s->run && i < s->all.count; i++)
        json_decref(s->run[i].results);
    for (int i = s->experiment_count - 1; i >= 0; i--) { /* those that borrow data first */
        experiment_free(s->experiments[i]);
        free(s->experiments[i]);
    }
    free(s->run);
    free(s->experiments);
    pool_free(&s->all);
    json_decref(s->file);
    json_decref(s->texts);
}
