#include "nn/files/safetensors_internal.h"

#include "autograd/base/platform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tg_safetensors {
    FILE *file;
    char *path, *json;
    int64_t data_start; /* byte of the file at which the numbers begin */
    tg_file_header header;
};

enum { HEADER_MOST = 100000000 }; /* bytes, as in the reference implementation */

/* ---- opening ---- */

/* Never waits: a named pipe is refused, and so is a folder. */
static FILE *open_file(const char *path, tg_error *error)
{
    tg_path_kind kind;
    FILE *file = tg_file_open(path, &kind);
    if (!file)
        tg_file_refuse(error, path, "%s",
                       kind == TG_PATH_OTHER    ? "not a regular file"
                       : kind == TG_PATH_FOLDER ? strerror(EISDIR)
                                                : strerror(errno));
    return file;
}

static bool read_header(tg_safetensors *f, tg_error *error)
{
    unsigned char length[8];
    uint64_t size = 0;
    if (!tg_file_seek(f->file, 0, SEEK_END))
        return tg_file_refuse(error, f->path, "%s", strerror(errno));
    const int64_t bytes = tg_file_tell(f->file);
    rewind(f->file);
    const size_t got = fread(length, 1, 8, f->file);
    if (ferror(f->file)) /* a folder, which fopen also opens */
        return tg_file_refuse(error, f->path, "%s", strerror(errno));
    if (bytes < 8 || got != 8)
        return tg_file_refuse(error, f->path, "not a safetensors file: it is too short");
    for (int i = 7; i >= 0; i--)
        size = size << 8 | length[i];
    if (size > HEADER_MOST || (int64_t)size > bytes - 8)
        return tg_file_refuse(error, f->path, "not a safetensors file: a header of %llu bytes in a file of %lld",
                              (unsigned long long)size, (long long)bytes);
    f->data_start = 8 + (int64_t)size;
    f->json = malloc((size_t)size + 1);
    if (!f->json)
        return tg_file_refuse(error, f->path, "out of memory");
    if (fread(f->json, 1, (size_t)size, f->file) != size)
        return tg_file_refuse(error, f->path, "the header cannot be read");
    return tg_file_header_read(&f->header, f->json, (size_t)size, bytes - f->data_start, f->path, error);
}

tg_safetensors *tg_safetensors_open(const char *path, tg_error *error)
{
    tg_safetensors *f = path ? calloc(1, sizeof *f) : NULL;
    if (!f || !(f->path = malloc(strlen(path) + 1))) {
        tg_file_refuse(error, path, path ? "out of memory" : "there is no name");
        tg_safetensors_close(f);
        return NULL;
    }
    strcpy(f->path, path);
    f->file = open_file(path, error);
    if (f->file && read_header(f, error))
        return f;
    tg_safetensors_close(f);
    return NULL;
}

void tg_safetensors_close(tg_safetensors *f)
{
    if (!f)
        return;
    if (f->file)
        fclose(f->file);
    tg_file_header_free(&f->header);
    free(f->json);
    free(f->path);
    free(f);
}

const tg_file_tensor *tg_safetensors_at(const tg_safetensors *f, int index)
{
    return f && index >= 0 && index < f->header.count ? &f->header.tensors[index] : NULL;
}

static int against_name(const void *name, const void *tensor)
{
    return strcmp(name, ((const tg_file_tensor *)tensor)->name);
}

const tg_file_tensor *tg_safetensors_find(const tg_safetensors *f, const char *name)
{
    if (!f || !name || !f->header.count)
        return NULL;
    return bsearch(name, f->header.tensors, (size_t)f->header.count, sizeof(tg_file_tensor), against_name);
}

const char *tg_safetensors_metadata(const tg_safetensors *f, const char *key)
{
    for (int i = 0; f && key && i < f->header.metadata_count; i++)
        if (strcmp(f->header.metadata[i].key, key) == 0)
            return f->header.metadata[i].value;
    return NULL;
}

/* ---- numbers ---- */

bool tg_safetensors_read(tg_safetensors *f, const tg_file_tensor *tensor, tg_dtype dtype, void *out, tg_error *error)
{
    enum { SOME = 4096 };
    char buffer[SOME * sizeof(double)];
    if (!f || !tensor || !out)
        return tg_file_refuse(error, f ? f->path : NULL, "there is no such tensor");
    const tg_file_dtype *type = tg_file_dtype_of(tensor->dtype);
    const size_t element = type ? (size_t)type->size : 0;
    if (!type || !type->value || !tg_dtype_is_floating(dtype))
        return tg_file_refuse(error, f->path, "tensor %.200s: %.40s numbers cannot be read as %s", tensor->name,
                              tensor->dtype, tg_dtype_name(dtype));
    if (!tg_file_seek(f->file, f->data_start + tensor->begin, SEEK_SET))
        return tg_file_refuse(error, f->path, "tensor %.200s: %s", tensor->name, strerror(errno));
    for (int64_t i = 0; i < tensor->size; i += SOME) {
        const size_t n = tensor->size - i < SOME ? (size_t)(tensor->size - i) : SOME;
        if (fread(buffer, element, n, f->file) != n)
            return tg_file_refuse(error, f->path, "tensor %.200s: its numbers cannot be read", tensor->name);
        for (size_t k = 0; k < n; k++)
            if (dtype == TG_F32)
                ((float *)out)[(size_t)i + k] = (float)type->value(buffer + k * element);
            else
                ((double *)out)[(size_t)i + k] = type->value(buffer + k * element);
    }
    return true;
}

/* ---- parameters ---- */

/* True if the name matches the pattern, in which one `*` stands for any text; `target` becomes `to` with that text in
 * its own `*`. */
static bool renamed(const char *name, const tg_rename *rule, char target[TG_NAME_SIZE])
{
    const char *star = strchr(rule->from, '*'), *to = strchr(rule->to, '*');
    const size_t head = star ? (size_t)(star - rule->from) : strlen(rule->from), tail = star ? strlen(star + 1) : 0;
    const size_t length = strlen(name);
    if (length < head + tail || (!star && length != head) || strncmp(name, rule->from, head) != 0 ||
        (star && strcmp(name + length - tail, star + 1) != 0))
        return false;
    const int before = to ? (int)(to - rule->to) : (int)strlen(rule->to), matched = (int)(length - head - tail);
    return snprintf(target, TG_NAME_SIZE, "%.*s%.*s%s", before, rule->to, to ? matched : 0, name + head,
                    to ? to + 1 : "") < TG_NAME_SIZE;
}

/* The index of the parameter that a tensor of the file is for; -1 if the set has none. */
static int target_of(const tg_parameters *set, const tg_file_tensor *tensor, const tg_load_options *options)
{
    char target[TG_NAME_SIZE];
    for (int i = 0; i < options->rename_count; i++)
        if (renamed(tensor->name, &options->renames[i], target))
            return tg_parameters_index(set, target);
    return tg_parameters_index(set, tensor->name);
}

/* Finds the tensor of the file for each parameter: `source` has an entry for each parameter, NULL at first. */
static bool match(const tg_safetensors *f, tg_parameters *set, const tg_load_options *options,
                  const tg_file_tensor **source, tg_error *error)
{
    char have[128], want[128];
    const tg_file_tensor *tensor;
    for (int i = 0; (tensor = tg_safetensors_at(f, i)); i++) {
        const int number = target_of(set, tensor, options);
        if (options->keeps && strstr(tensor->name, options->keeps))
            continue;
        if (number < 0 && options->allow_unknown)
            continue;
        if (number < 0)
            return tg_file_refuse(error, f->path, "tensor %.200s: the model has no such parameter", tensor->name);
        const tg_parameter *p = tg_parameters_at(set, number);
        if (source[number])
            return tg_file_refuse(error, f->path, "tensors %.150s and %.150s: both would be %.150s",
                                  source[number]->name, tensor->name, p->name);
        if (!tg_shape_equal(&p->shape, &tensor->shape))
            return tg_file_refuse(error, f->path, "tensor %.200s: its shape is %s, and that of the model's %.150s %s",
                                  tensor->name, tg_shape_text(&tensor->shape, have, sizeof have), p->name,
                                  tg_shape_text(&p->shape, want, sizeof want));
        source[number] = tensor;
    }
    for (int i = 0; i < tg_parameters_count(set); i++)
        if (!source[i] && !options->allow_missing &&
            !(options->keeps && strstr(tg_parameters_at(set, i)->name, options->keeps)))
            return tg_file_refuse(error, f->path, "tensor %.200s is missing", tg_parameters_at(set, i)->name);
    return true;
}

/* Reads into a copy of the values first, so that a file that cannot be read to its end changes nothing. */
static bool read_values(tg_safetensors *f, tg_parameters *set, const tg_file_tensor **source, tg_error *error)
{
    const tg_dtype dtype = tg_parameters_dtype(set);
    const size_t bytes = tg_parameters_bytes(set);
    char *values = malloc(bytes + 1);
    bool fine = values || tg_file_refuse(error, f->path, "out of memory");
    if (fine && bytes)
        memcpy(values, tg_parameters_values(set), bytes);
    for (int i = 0; fine && i < tg_parameters_count(set); i++)
        if (source[i])
            fine = tg_safetensors_read(f, source[i], dtype, values + tg_parameter_offset(set, tg_parameters_at(set, i)),
                                       error);
    if (fine && bytes)
        memcpy(tg_parameters_values(set), values, bytes);
    if (fine)
        tg_parameters_changed(set);
    free(values);
    return fine;
}

bool tg_parameters_load(tg_parameters *set, const char *path, const tg_load_options *options, tg_error *error)
{
    static const tg_load_options exactly = {0};
    if (tg_parameters_error(set))
        return tg_file_refuse(error, path, "%s", tg_parameters_error(set));
    tg_safetensors *f = tg_safetensors_open(path, error);
    if (!f)
        return false;
    const tg_file_tensor **source = calloc((size_t)tg_parameters_count(set) + 1, sizeof(tg_file_tensor *));
    const bool fine =
        source ? match(f, set, options ? options : &exactly, source, error) && read_values(f, set, source, error)
               : tg_file_refuse(error, path, "out of memory");
    free(source);
    tg_safetensors_close(f);
    return fine;
}

bool tg_parameters_save(const tg_parameters *set, const char *path, const tg_metadata *metadata, int metadata_count,
                        tg_error *error)
{
    if (tg_parameters_error(set))
        return tg_file_refuse(error, path, "%s", tg_parameters_error(set));
    const int count = tg_parameters_count(set);
    tg_file_item *items = calloc((size_t)count + 1, sizeof *items);
    if (!items)
        return tg_file_refuse(error, path, "out of memory");
    for (int i = 0; i < count; i++) {
        const tg_parameter *p = tg_parameters_at(set, i);
        items[i] = (tg_file_item){p->name, p->dtype, p->shape, p->data};
    }
    const bool fine = tg_safetensors_write(path, items, count, metadata, metadata_count, error);
    free(items);
    return fine;
}
