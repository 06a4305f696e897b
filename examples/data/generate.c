/* Data made up from a seed. Row i is drawn from a generator of its own, so asking for more rows adds rows and changes
 * none, and the classes take turns. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "autograd/rng.h"
#include "examples/data/internal.h"

#define PI 3.14159265358979323846

/* Draws one row; of the last two arguments one is used, as the task says. */
typedef void draw_row(int label, double noise, tg_rng *rng, float *features, float *target);

/* r = t and angle = 7/2 pi t, for t in [0, 1]; the arms are half a turn apart. */
static void draw_spirals(int label, double noise, tg_rng *rng, float *features, float *target)
{
    (void)target;
    double radius = sqrt(tg_rng_uniform(rng)), angle = 3.5 * PI * radius + PI * label;
    features[0] = (float)(radius * cos(angle) + noise * tg_rng_normal(rng));
    features[1] = (float)(radius * sin(angle) + noise * tg_rng_normal(rng));
}

/* The upper half of the circle around (0, 0) and the lower half of that around (1, 1/2). */
static void draw_moons(int label, double noise, tg_rng *rng, float *features, float *target)
{
    (void)target;
    double angle = PI * tg_rng_uniform(rng);
    double x = label ? 1 - cos(angle) : cos(angle), y = label ? 0.5 - sin(angle) : sin(angle);
    features[0] = (float)(x + noise * tg_rng_normal(rng));
    features[1] = (float)(y + noise * tg_rng_normal(rng));
}

static void draw_circles(int label, double noise, tg_rng *rng, float *features, float *target)
{
    (void)target;
    double angle = 2 * PI * tg_rng_uniform(rng), radius = label ? 0.5 : 1;
    features[0] = (float)(radius * cos(angle) + noise * tg_rng_normal(rng));
    features[1] = (float)(radius * sin(angle) + noise * tg_rng_normal(rng));
}

static void draw_sine(int label, double noise, tg_rng *rng, float *features, float *target)
{
    (void)label;
    double x = 4 * tg_rng_uniform(rng) - 2;
    features[0] = (float)x;
    target[0] = (float)(sin(3 * x) + x / 2 + noise * tg_rng_normal(rng));
}

static void draw_glyph(int label, double noise, tg_rng *rng, float *features, float *target)
{
    (void)target;
    dataset_draw_glyph(label, noise, rng, features);
}

static const struct kind {
    const char *name;
    draw_row *draw;
    size_t features, classes, side; /* classes 0: a regression; side 0: no images */
    size_t rows;
    double noise;
    const char *validation;
} kinds[] = {
    {"spirals", draw_spirals, 2, 2, 0, 2000, 0.02, "0.2"},
    {"moons", draw_moons, 2, 2, 0, 2000, 0.1, "0.2"},
    {"circles", draw_circles, 2, 2, 0, 2000, 0.08, "0.2"},
    {"sine", draw_sine, 1, 0, 0, 2000, 0.1, "0.2"},
    {"glyphs", draw_glyph, GLYPH_SIDE *GLYPH_SIDE, 10, GLYPH_SIDE, 14000, 0.06, "0.142857143"},
};

static const struct kind *find_kind(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static void draw_rows(const struct kind *kind, const dataset_options *options, const int32_t *place,
                      dataset *set)
{
    double noise = options->noise < 0 ? 0 : options->noise > 0 ? options->noise : kind->noise;
    tg_rng seed = tg_rng_seed(options->seed), of_kind = tg_rng_stream(&seed, kind->name);
    size_t rows = set->train.rows + set->validation.rows;
    for (size_t row = 0; row < rows; row++) {
        size_t to = (size_t)place[row];
        tg_rng rng = tg_rng_split(&of_kind, row);
        int label = kind->classes ? (int)(row % kind->classes) : 0;
        kind->draw(label, noise, &rng, set->train.features + to * set->features,
                   set->targets ? set->train.targets + to : NULL);
        if (kind->classes)
            set->train.labels[to] = label;
    }
}

bool dataset_generate(const char *name, const dataset_options *options, dataset *set,
                      const dataset_error *error)
{
    const struct kind *kind = find_kind(name);
    if (!kind)
        return dataset_fail(
            error,
            "unknown data set '%s', expected spirals, moons, circles, sine, glyphs, idx:DIR or csv:FILE",
            name);
    dataset_split split;
    if (!dataset_split_rows(name, options->rows ? options->rows : kind->rows, options, kind->validation,
                            &split, error))
        return false;
    set->task = kind->classes ? DATASET_CLASSIFICATION : DATASET_REGRESSION;
    set->features = kind->features;
    set->classes = kind->classes;
    set->targets = kind->classes ? 0 : 1;
    set->width = set->height = kind->side;
    bool made =
        dataset_allocate(set, &split, error) && (!kind->classes || dataset_number_classes(set, error));
    if (made)
        draw_rows(kind, options, split.place, set);
    free(split.place);
    return made;
}
