/* Model files: saves and loads parameters as safetensors, the usual format in Python.
 *
 *     tg_error error;
 *     if (!tg_parameters_save(set, "net.safetensors", NULL, 0, &error))
 *         fprintf(stderr, "%s\n", error.text);
 *     if (!tg_parameters_load(set, "net.safetensors", NULL, &error)) ...
 *
 *     8 bytes      header's size N, little-endian
 *     N bytes      {"__metadata__": {"key": "text"}, "layers.0.weight": {"dtype": "F32", "shape": [128, 784],
 *                  "data_offsets": [0, 401408]}, ...}
 *     the rest     the numbers, one tensor after the other, without gaps
 *
 * Names and layouts are those of PyTorch's state_dict, so files can be exchanged in both directions. The reader checks
 * sizes, offsets, names, the header's grammar, and that tensors neither overlap nor leave gaps. A file is written
 * beside the old one and replaces it when it is complete and on the disk, so one of the two always exists.
 *
 * Every message is one line that names the file and, if it concerns one, the tensor.
 */
#ifndef TG_SAFETENSORS_H
#define TG_SAFETENSORS_H

#include "autograd/error.h"
#include "autograd/parameters.h"

TG_API_BEGIN

/* ---- parameters ---- */

/* A line of a file's metadata. */
typedef struct tg_metadata {
    const char *key, *value;
} tg_metadata;

/* Writes all parameters, in their type and order. False on failure, with the error; an existing file is then
 * unchanged. */
bool tg_parameters_save(const tg_parameters *set, const char *path, const tg_metadata *metadata, int count,
                        tg_error *error);

/* A tensor of the file that matches `from` is loaded into the parameter `to`. Each is a name, or has one `*`, which
 * stands for the same text in both. The first rule that matches counts. */
typedef struct tg_rename {
    const char *from, *to;
} tg_rename;

typedef struct tg_load_options {
    bool allow_missing; /* parameters missing from the file keep their values */
    bool allow_unknown; /* tensors of the file that the set does not have are ignored */
    const tg_rename *renames;
    int rename_count;
    const char *keeps; /* parameters with this text in their names keep their values; NULL: none */
} tg_load_options;

/* Reads values by name, from half, bfloat16, float or double, into the type of the set. `options` NULL: names must
 * agree exactly. Shapes must always agree. False, with the error and no parameter changed, if anything is wrong. */
bool tg_parameters_load(tg_parameters *set, const char *path, const tg_load_options *options, tg_error *error);

/* ---- files of any tensors ---- */

typedef struct tg_safetensors tg_safetensors;

typedef struct tg_file_tensor {
    const char *name, *dtype; /* "F32", "F64", "F16", "BF16", "I64", ... */
    tg_shape shape;
    int64_t size;       /* elements */
    int64_t begin, end; /* bytes, after the header */
} tg_file_tensor;

/* Opens a file and checks its header; NULL, with the error, if it is not a valid file. */
tg_safetensors *tg_safetensors_open(const char *path, tg_error *error);
void tg_safetensors_close(tg_safetensors *file);

/* The tensors, by number (in the order of names; NULL past the end) and by name (NULL if there is none), and a line of
 * metadata (NULL if there is none). They live as long as the file is open. */
const tg_file_tensor *tg_safetensors_at(const tg_safetensors *file, int index);
const tg_file_tensor *tg_safetensors_find(const tg_safetensors *file, const char *name);
const char *tg_safetensors_metadata(const tg_safetensors *file, const char *key);

/* Reads a tensor of floating type as TG_F32 or TG_F64 into `out`, which has room for its `size` elements. */
bool tg_safetensors_read(tg_safetensors *file, const tg_file_tensor *tensor, tg_dtype dtype, void *out,
                         tg_error *error);

/* A tensor to write. Its name must be unique in the file, and not "__metadata__". */
typedef struct tg_file_item {
    const char *name;
    tg_dtype dtype;
    tg_shape shape;
    const void *data;
} tg_file_item;

/* Writes a whole file, like tg_parameters_save: an existing file of that name is replaced only when the new one is
 * complete. False, with the error, if an item or a line of metadata is invalid, memory runs out, or the file cannot be
 * written. */
bool tg_safetensors_write(const char *path, const tg_file_item *items, int count, const tg_metadata *metadata,
                          int metadata_count, tg_error *error);

TG_API_END
#endif
