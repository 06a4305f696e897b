/* Synthetic data from a seed. Each row is drawn from its own generator, so more rows do not change the first ones. The
 * classes alternate. */
#include "examples/programs/data/internal.h"

#define PI 3.14159265358979323846

/* r = t and angle = 7/2 pi t, for t in [0, 1]; the arms are half a turn apart. */
double dataset_draw_spirals(int label, double noise, tg_rng *rng, float *features)
{
    double radius = sqrt(tg_rng_uniform(rng)), angle = 3.5 * PI * radius + PI * label;
    features[0] = (float)(radius * cos(angle) + noise * tg_rng_normal(rng));
    features[1] = (float)(radius * sin(angle) + noise * tg_rng_normal(rng));
    return label;
}

/* The upper half of the circle around (0, 0) and the lower half of that around (1, 1/2). */
double dataset_draw_moons(int label, double noise, tg_rng *rng, float *features)
{
    double angle = PI * tg_rng_uniform(rng);
    double x = label ? 1 - cos(angle) : cos(angle), y = label ? 0.5 - sin(angle) : sin(angle);
    features[0] = (float)(x + noise * tg_rng_normal(rng));
    features[1] = (float)(y + noise * tg_rng_normal(rng));
    return label;
}

double dataset_draw_circles(int label, double noise, tg_rng *rng, float *features)
{
    double angle = 2 * PI * tg_rng_uniform(rng), radius = label ? 0.5 : 1;
    features[0] = (float)(radius * cos(angle) + noise * tg_rng_normal(rng));
    features[1] = (float)(radius * sin(angle) + noise * tg_rng_normal(rng));
    return label;
}

double dataset_draw_sine(int label, double noise, tg_rng *rng, float *features)
{
    (void)label;
    const double x = 4 * tg_rng_uniform(rng) - 2;
    features[0] = (float)x;
    return sin(3 * x) + x / 2 + noise * tg_rng_normal(rng);
}

/* Two hills and two valleys of width 0.4 in the square from -1 to 1. */
double dataset_draw_hills(int label, double noise, tg_rng *rng, float *features)
{
    (void)label;
    double height = 0;
    for (int axis = 0; axis < 2; axis++)
        features[axis] = (float)(2 * tg_rng_uniform(rng) - 1);
    for (int hill = 0; hill < 4; hill++) {
        const double dx = (double)features[0] - (hill % 2 ? 0.5 : -0.5),
                     dy = (double)features[1] - (hill / 2 ? 0.5 : -0.5);
        height += (hill % 2 == hill / 2 ? 1 : -1) * exp(-(dx * dx + dy * dy) / (2 * 0.4 * 0.4));
    }
    return height + noise * tg_rng_normal(rng);
}

static void draw_rows(const dataset_options *options, dataset *set)
{
    const dataset_kind *kind = set->kind;
    const double noise = options->noise < 0 ? 0 : options->noise > 0 ? options->noise : kind->noise;
    const tg_rng seed = tg_rng_seed(options->seed), of_kind = tg_rng_stream(&seed, kind->name);
    for (size_t row = 0; row < set->rows; row++) {
        tg_rng rng = tg_rng_split(&of_kind, row);
        const int label = kind->classes ? (int)(row % kind->classes) : 0;
        const double target = kind->draw(label, noise, &rng, set->x + row * set->features);
        if (kind->classes)
            set->labels[row] = label;
        else
            set->y[row] = (float)target;
    }
}

bool dataset_generate(const char *path, const dataset_options *options, dataset *set, tg_error *error)
{
    const dataset_kind *kind = set->kind;
    (void)path;
    set->rows = options->rows ? options->rows : kind->rows;
    set->task = kind->classes ? DATASET_CLASSIFICATION : DATASET_REGRESSION;
    set->features = kind->features;
    set->classes = kind->classes;
    set->targets = kind->classes ? 0 : 1;
    set->width = set->height = kind->side;
    if (!dataset_allocate(set, error))
        return false;
    if (kind->classes)
        dataset_number_classes(set, 0);
    draw_rows(options, set);
    return true;
}

/* Every data set. */
static const dataset_kind kinds[] = {
    {"spirals", NULL, "0.2", "0.2", dataset_generate, false, dataset_draw_spirals, 2, 2, 0, 2000, 0.02},
    {"moons", NULL, "0.2", "0.2", dataset_generate, false, dataset_draw_moons, 2, 2, 0, 2000, 0.1},
    {"circles", NULL, "0.2", "0.2", dataset_generate, false, dataset_draw_circles, 2, 2, 0, 2000, 0.08},
    {"sine", NULL, "0.2", "0.2", dataset_generate, false, dataset_draw_sine, 1, 0, 0, 2000, 0.1},
    {"hills", NULL, "0.2", "0.2", dataset_generate, false, dataset_draw_hills, 2, 0, 0, 2000, 0.1},
    {"glyphs", NULL, "0.142857143", "0.142857143", dataset_generate, false, dataset_draw_glyphs, GLYPH_SIDE *GLYPH_SIDE,
     10, GLYPH_SIDE, 14000, 0.06},
    {"idx", "DIR", "0.1", NULL, dataset_load_idx},
    {"csv", "FILE", "0.2", "0.2", dataset_load_csv, .columns = true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

const dataset_kind *dataset_kind_at(size_t i)
{
    return i < KINDS ? &kinds[i] : NULL;
}

const char *dataset_kinds(void)
{
    static char text[256];
    size_t used = 0;
    for (size_t i = 0; i < KINDS && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s", i ? ", " : "", kinds[i].name,
                                 kinds[i].path ? ":" : "", kinds[i].path ? kinds[i].path : "");
    return text;
}
