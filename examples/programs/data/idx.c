/* The IDX format of MNIST (LeCun, Cortes and Burges, "The MNIST database of handwritten digits"), big-endian:
 *
 *     images:  00 00 08 03 | count | rows | columns | count * rows * columns pixels, 0 = background
 *     labels:  00 00 08 01 | count | count labels
 *
 * The third byte says unsigned bytes, the fourth how many dimensions follow.
 */
#include "examples/programs/data/internal.h"
#include "examples/programs/data/words.h"
#include "examples/programs/system/posix.h"

typedef struct idx_file {
    char path[4096];
    dataset_bytes contents;
    const unsigned char *items; /* where the header ends */
    size_t sizes[3];            /* count, rows, columns */
} idx_file;

enum { TRAIN_IMAGES, TRAIN_LABELS, TEST_IMAGES, TEST_LABELS, IDX_FILES };

/* Names end so: with a point in place of the last hyphen but one if another program has unpacked them, and after
 * emnist-letters- or the like in EMNIST, whose test files are called test. */
static const struct {
    const char *name, *begin, *other, *end;
    size_t dimensions;
} idx_names[IDX_FILES] = {
    {"train-images-idx3-ubyte", "train-images", "train-images", "idx3-ubyte", 3},
    {"train-labels-idx1-ubyte", "train-labels", "train-labels", "idx1-ubyte", 1},
    {"t10k-images-idx3-ubyte", "t10k-images", "test-images", "idx3-ubyte", 3},
    {"t10k-labels-idx1-ubyte", "t10k-labels", "test-labels", "idx1-ubyte", 1},
};

static size_t big_endian(const unsigned char *bytes)
{
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}

/* Sizes in the header are accepted only if they account for every byte of the file. */
static bool parse(idx_file *file, size_t dimensions, tg_error *error)
{
    const unsigned char *bytes = file->contents.bytes;
    size_t size = file->contents.size, header = 4 + 4 * dimensions, expected = 1;
    size_t magic = 0x800 | dimensions;
    if (size >= 4 && big_endian(bytes) != magic)
        return tg_fail(error, "%s: magic number 0x%08zx at byte 0, expected 0x%08zx (unsigned bytes, %zu %s)",
                       file->path, big_endian(bytes), magic, dimensions, dimensions == 1 ? "dimension" : "dimensions");
    if (size < header)
        return tg_fail(error, "%s: %zu bytes, expected a header of %zu", file->path, size, header);
    bool overflow = false;
    for (size_t i = 0; i < dimensions; i++) {
        file->sizes[i] = big_endian(bytes + 4 + 4 * i);
        if (file->sizes[i] == 0)
            return tg_fail(error, "%s: size 0 at byte %zu, expected at least 1", file->path, 4 + 4 * i);
        overflow |= __builtin_mul_overflow(expected, file->sizes[i], &expected);
    }
    overflow |= __builtin_add_overflow(expected, header, &expected);
    if (overflow || expected != size) {
        char sizes[80];
        snprintf(sizes, sizeof sizes, dimensions == 1 ? "%zu label%s" : "%zu image%s of %zux%zu", file->sizes[0],
                 plural((long long)file->sizes[0]), file->sizes[1], file->sizes[2]);
        if (overflow)
            return tg_fail(error, "%s: %zu bytes, far fewer than the header's %s", file->path, size, sizes);
        return tg_fail(error, "%s: %zu bytes, expected %zu for the header's %s", file->path, size, expected, sizes);
    }
    if (file->sizes[0] > INT32_MAX)
        return tg_fail(error, "%s: %zu items, expected at most %d", file->path, file->sizes[0], INT32_MAX);
    file->items = bytes + header;
    return true;
}

/* True if a file's name ends with BEGIN, a hyphen or a point, END, and perhaps .gz. */
static bool is_called(const char *file, const char *begin, const char *end)
{
    char name[64];
    size_t length = strlen(file);
    length -= length > 3 && strcmp(file + length - 3, ".gz") == 0 ? 3 : 0;
    const size_t wanted = (size_t)snprintf(name, sizeof name, "%s-%s", begin, end);
    if (length < wanted)
        return false;
    const char *tail = file + length - wanted, joint = tail[strlen(begin)];
    return strncmp(tail, begin, strlen(begin)) == 0 && (joint == '-' || joint == '.') &&
           strncmp(tail + strlen(begin) + 1, end, strlen(end)) == 0;
}

/* The file of the folder that has one of the names; the plain one if there is a packed one, too. */
static bool find(const char *folder, int which, idx_file *file, tg_error *error)
{
    const char *begin = idx_names[which].begin, *other = idx_names[which].other, *end = idx_names[which].end;
    DIR *listing = opendir(folder);
    char found[256] = "";
    size_t stem = 0; /* of the name that was found */
    bool several = false, pictures = false;
    if (!listing)
        return tg_fail(error, "%s: %s", folder, errno == ENOENT ? "no such folder" : strerror(errno));
    for (struct dirent *entry; (entry = readdir(listing));) {
        const char *name = entry->d_name;
        pictures |= strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".png") == 0;
        if (!is_called(name, begin, end) && !is_called(name, other, end))
            continue;
        const size_t length = strlen(name) - (strcmp(name + strlen(name) - 3, ".gz") == 0 ? 3 : 0);
        several |= stem && (stem != length || strncmp(found, name, stem) != 0);
        if (!stem || length == strlen(name)) /* not packed */
            snprintf(found, sizeof found, "%s", name);
        stem = length;
    }
    closedir(listing);
    if (several)
        return tg_fail(error, "%s: several files are called ...%s-%s; keep the four files of one set in a folder",
                       folder, begin, end);
    if (!stem && pictures)
        return tg_fail(
            error,
            "%s: a folder of pictures, expected MNIST's files of IDX; to write one: python3 -c \"import glob, "
            "numpy as n, PIL.Image as P; x = n.stack([P.open(f).convert('L') for f in "
            "sorted(glob.glob('*.png'))]); open('%s', 'wb').write(n.array([2051, *x.shape], "
            "'>i4').tobytes() + x.tobytes())\", and labels in the same order: 2049 and their number as "
            "'>i4', then a byte each",
            folder, idx_names[which].name);
    if (!stem)
        return tg_fail(error, "%s: found neither %s nor %s.gz", folder, idx_names[which].name, idx_names[which].name);
    const int length = snprintf(file->path, sizeof file->path, "%s/%s", folder, found);
    return (length > 0 && (size_t)length < sizeof file->path) ||
           tg_fail(error, "%.40s...: the path is too long", folder);
}

static bool read_idx(const char *folder, int which, idx_file *file, tg_error *error)
{
    return find(folder, which, file, error) && dataset_read_file(file->path, &file->contents, error) &&
           parse(file, idx_names[which].dimensions, error);
}

static bool read_pair(const char *folder, idx_file *images, idx_file *labels, int which, tg_error *error)
{
    if (!read_idx(folder, which, images, error) || !read_idx(folder, which + 1, labels, error))
        return false;
    if (images->sizes[0] != labels->sizes[0])
        return tg_fail(error, "%s: %zu label%s, expected %zu as there are images in %s", labels->path, labels->sizes[0],
                       plural((long long)labels->sizes[0]), images->sizes[0], images->path);
    return true;
}

/* Writes to the rows from `offset` on. */
static void copy_rows(const idx_file *images, const idx_file *labels, size_t offset, dataset *set)
{
    float grey[256];
    for (int i = 0; i < 256; i++)
        grey[i] = (float)i / 255;
    for (size_t row = 0; row < images->sizes[0]; row++) {
        const unsigned char *pixels = images->items + row * set->features;
        float *features = set->x + (offset + row) * set->features;
        for (size_t i = 0; i < set->features; i++)
            features[i] = grey[pixels[i]];
        set->labels[offset + row] = labels->items[row];
    }
}

/* Marks the labels that occur. */
static void see_labels(const idx_file *labels, bool seen[256])
{
    for (size_t row = 0; labels->items && row < labels->sizes[0]; row++)
        seen[labels->items[row]] = true;
}

/* Classes are the labels from the first to the last that occur: 0 to 9, or 1 to 26 for the letters of EMNIST. */
static void name_classes(dataset *set, const bool seen[256], int *first)
{
    int last = 255;
    for (*first = 0; !seen[*first];)
        ++*first;
    while (!seen[last])
        last--;
    set->classes = (size_t)(last - *first + 1);
    dataset_number_classes(set, *first);
}

static bool fill(const idx_file files[IDX_FILES], dataset *set, tg_error *error)
{
    const idx_file *train = &files[TRAIN_IMAGES], *test = &files[TEST_IMAGES];
    bool seen[256] = {false};
    int first;
    see_labels(&files[TRAIN_LABELS], seen);
    see_labels(&files[TEST_LABELS], seen);
    set->task = DATASET_CLASSIFICATION;
    set->rows = train->sizes[0] + test->sizes[0];
    set->test_rows = test->sizes[0];
    set->height = train->sizes[1];
    set->width = train->sizes[2];
    set->features = set->height * set->width;
    name_classes(set, seen, &first);
    if (!dataset_allocate(set, error)) /* and if the names have no memory */
        return tg_fail(error, "%s: out of memory", set->name);
    copy_rows(train, &files[TRAIN_LABELS], 0, set);
    if (test->items)
        copy_rows(test, &files[TEST_LABELS], train->sizes[0], set);
    for (size_t row = 0; row < set->rows; row++)
        set->labels[row] -= first;
    for (size_t i = 0; i < set->features; i++)
        set->feature_scale[i] = 255;
    return true;
}

bool dataset_load_idx(const char *folder, const dataset_options *options, dataset *set, tg_error *error)
{
    idx_file *files = dataset_array(IDX_FILES, 1, sizeof *files);
    (void)options;
    if (!files)
        return tg_fail(error, "%s: out of memory", folder);
    const idx_file *train = &files[TRAIN_IMAGES], *test = &files[TEST_IMAGES];
    const bool tests =
        find(folder, TEST_IMAGES, &files[TEST_IMAGES], NULL) || find(folder, TEST_LABELS, &files[TEST_LABELS], NULL);
    bool loaded = read_pair(folder, &files[TRAIN_IMAGES], &files[TRAIN_LABELS], TRAIN_IMAGES, error) &&
                  (!tests || read_pair(folder, &files[TEST_IMAGES], &files[TEST_LABELS], TEST_IMAGES, error));
    if (loaded && tests && (train->sizes[1] != test->sizes[1] || train->sizes[2] != test->sizes[2]))
        loaded = tg_fail(error, "%s: images of %zux%zu, expected %zux%zu as in %s", test->path, test->sizes[1],
                         test->sizes[2], train->sizes[1], train->sizes[2], train->path);
    loaded = loaded && fill(files, set, error);
    for (int i = 0; i < IDX_FILES; i++)
        free(files[i].contents.bytes);
    free(files);
    return loaded;
}

float *dataset_read_images(const char *path, size_t sizes[3], tg_error *error)
{
    idx_file file = {.items = NULL};
    float *images = NULL;
    snprintf(file.path, sizeof file.path, "%s", path);
    if (dataset_read_file(path, &file.contents, error) && parse(&file, 3, error)) {
        const size_t pixels = file.sizes[0] * file.sizes[1] * file.sizes[2];
        memcpy(sizes, file.sizes, sizeof file.sizes);
        images = dataset_array(pixels, 1, sizeof *images);
        for (size_t i = 0; images && i < pixels; i++)
            images[i] = (float)file.items[i] / 255;
        if (!images)
            tg_fail(error, "%s: out of memory", path);
    }
    free(file.contents.bytes);
    return images;
}
