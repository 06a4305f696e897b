#include "nn/files/weights.h"

#include "autograd/base/numbers.h"
#include "nn/files/safetensors_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- metadata of a file ---- */

int tg_weights_metadata(tg_metadata lines[TG_WEIGHTS_METADATA], tg_activation activation, const char *config)
{
    int count = 0;
    if (tg_activation_name(activation))
        lines[count++] = (tg_metadata){"activation", tg_activation_name(activation)};
    if (config)
        lines[count++] = (tg_metadata){"config", config};
    lines[count++] = (tg_metadata){"tapegrad", TG_VERSION};
    return count;
}

bool tg_weights_save(const tg_parameters *set, const char *path, tg_activation activation, const char *config,
                     tg_error *error)
{
    tg_metadata lines[TG_WEIGHTS_METADATA];
    const int count = tg_weights_metadata(lines, activation, config);
    return tg_parameters_save(set, path, lines, count, error);
}

typedef enum named { NAMED, NAMES_NONE, UNREADABLE } named;

static named activation_of(const char *path, tg_activation *activation, tg_error *error)
{
    tg_safetensors *file = tg_safetensors_open(path, error);
    if (!file)
        return UNREADABLE;
    const char *name = tg_safetensors_metadata(file, "activation");
    named result = name ? NAMED : NAMES_NONE;
    if (name && !tg_activation_from_name(name, activation)) {
        tg_file_refuse(error, path, "it names the activation '%.60s', which is unknown", name);
        result = UNREADABLE;
    }
    tg_safetensors_close(file);
    return result;
}

bool tg_weights_activation(const char *path, tg_activation *activation, tg_error *error)
{
    tg_activation found;
    const named result = activation_of(path, &found, error);
    if (result == NAMED && activation)
        *activation = found;
    return result == NAMED || (result == NAMES_NONE && tg_file_refuse(error, path, "it names no activation"));
}

/* ---- loading ---- */

/* ", on a sample outputs differ by up to 2.1e-04 (of up to 3.4)"; nothing if that cannot be computed. */
static void add_difference(char *text, size_t size, const tg_weights_load_options *o, tg_activation a, tg_activation b,
                           const tg_parameters *weights)
{
    tg_tape *tape = tg_tape_new(), *other = tg_tape_new(); /* two, as each call may free what it computed with */
    tg_tensor x = tape ? o->outputs(tape, a, weights, o->user) : (tg_tensor){0},
              y = other ? o->outputs(other, b, weights, o->user) : (tg_tensor){0};
    double furthest = 0, largest = 0;
    for (int64_t i = 0; i < tg_size(x); i++) {
        furthest = fmax(furthest, fabs(tg_at(x, i) - tg_at(y, i)));
        largest = fmax(largest, fabs(tg_at(x, i)));
    }
    if (tg_size(x) > 0 && tg_size(x) == tg_size(y))
        tg_print(text, size, "; on a sample outputs differ by up to %.2g (of up to %.2g)", furthest, largest);
    tg_tape_free(tape);
    tg_tape_free(other);
}

/* Refuses and says how much the two models' outputs differ; for that it reads the weights, then restores the set's. */
static bool disagree(tg_parameters *set, const char *path, tg_activation theirs, tg_activation ours,
                     const tg_weights_load_options *o, tg_error *error)
{
    char difference[120] = "";
    const size_t bytes = tg_parameters_bytes(set);
    void *own = o->outputs && bytes ? malloc(bytes) : NULL;
    if (own) {
        memcpy(own, tg_parameters_values(set), bytes);
        if (tg_parameters_load(set, path, &o->load, error))
            add_difference(difference, sizeof difference, o, theirs, ours, set);
        memcpy(tg_parameters_values(set), own, bytes);
        tg_parameters_changed(set);
        free(own);
    }
    return tg_file_refuse(error, path, "it was trained with %s, and the model has %s%s", tg_activation_name(theirs),
                          tg_activation_name(ours), difference);
}

bool tg_weights_load(tg_parameters *set, const char *path, tg_activation activation,
                     const tg_weights_load_options *options, tg_error *error)
{
    static const tg_weights_load_options exactly = {0};
    const tg_weights_load_options *o = options ? options : &exactly;
    tg_activation theirs;
    if (tg_parameters_error(set))
        return tg_file_refuse(error, path, "%s", tg_parameters_error(set));
    if (!tg_activation_name(activation))
        return tg_file_refuse(error, path, "there is no such activation");
    tg_load_options load = o->load;
    tg_error unread;
    const named result = activation_of(path, &theirs, o->migrate ? &unread : error);
    const bool others = result == NAMED && theirs != activation;
    if (!o->migrate && result == UNREADABLE)
        return false;
    if (!o->migrate && others)
        return disagree(set, path, theirs, activation, o, error);
    if (others)
        load.keeps = ".activation."; /* trained numbers belong to the other activation, whatever their names */
    return tg_parameters_load(set, path, &load, error);
}
