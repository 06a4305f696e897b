/* Every data set. */
#include "examples/programs/data/internal.h"

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
