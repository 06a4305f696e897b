/* Synthetic digits, drawn with random distortions.
 *
 * A digit is one to three strokes, each given by a few points of a box 1.2 wide and 2 high around the origin, y down.
 * To draw it, every point is moved a little. The points of a round stroke are joined by a Catmull-Rom spline, those of
 * a straight one by lines. A random linear map (scale, slant, rotation) and a shift follow. Each pixel is inked by its
 * distance to the nearest line, with soft edges. Noise is added last.
 */
#include "examples/programs/data/internal.h"

enum { MOST_POINTS = 14, MOST_STROKES = 3, SPLINE_STEPS = 4 };

typedef struct point {
    float x, y;
} point;

struct stroke {
    enum { STRAIGHT, ROUND } kind;
    int count;
    struct {
        signed char x, y; /* hundredths */
    } points[MOST_POINTS];
};

/* One way to write a digit. */
struct style {
    int digit;
    struct stroke strokes[MOST_STROKES]; /* strokes with count 0 do not exist */
};

/* The styles of a digit are adjacent. */
/* clang-format off */
static const struct style styles[] = {
    {0, {{ROUND, 9, {{0, -100}, {45, -70}, {60, 0}, {45, 70}, {0, 100}, {-45, 70}, {-60, 0}, {-45, -70},
                           {5, -100}}}}},
    {1, {{STRAIGHT, 2, {{0, -100}, {0, 100}}}}},
    {1, {{STRAIGHT, 3, {{-35, -55}, {5, -100}, {5, 100}}}}},
    {1, {{STRAIGHT, 3, {{-35, -55}, {5, -100}, {5, 100}}},
         {STRAIGHT, 2, {{-40, 100}, {50, 100}}}}},
    {2, {{ROUND, 7, {{-55, -60}, {-30, -93}, {10, -100}, {50, -70}, {42, -20}, {0, 35}, {-55, 95}}},
         {STRAIGHT, 2, {{-55, 95}, {60, 95}}}}},
    {2, {{ROUND, 11, {{-50, -65}, {-10, -100}, {40, -80}, {40, -25}, {0, 45}, {-40, 90}, {-60, 75},
                           {-40, 55}, {-5, 75}, {30, 98}, {65, 80}}}}},
    {3, {{ROUND, 10, {{-50, -80}, {0, -100}, {45, -75}, {35, -30}, {-10, -8}, {40, 10}, {55, 50},
                           {25, 93}, {-25, 98}, {-60, 75}}}}},
    {3, {{STRAIGHT, 3, {{-50, -95}, {50, -95}, {-5, -20}}},
         {ROUND, 6, {{-5, -20}, {40, -2}, {55, 40}, {30, 90}, {-20, 100}, {-60, 75}}}}},
    {4, {{STRAIGHT, 3, {{20, -100}, {-60, 35}, {65, 35}}},
         {STRAIGHT, 2, {{25, -30}, {25, 100}}}}},
    {4, {{STRAIGHT, 3, {{-40, -95}, {-50, 15}, {50, 15}}},
         {STRAIGHT, 2, {{40, -95}, {35, 100}}}}},
    {4, {{STRAIGHT, 4, {{30, 100}, {30, -100}, {-60, 35}, {65, 35}}}}},
    {5, {{STRAIGHT, 3, {{50, -97}, {-40, -97}, {-45, -10}}},
         {ROUND, 7, {{-45, -10}, {10, -25}, {52, 10}, {52, 60}, {10, 98}, {-30, 95}, {-60, 72}}}}},
    {6, {{ROUND, 12, {{40, -95}, {-5, -70}, {-42, -20}, {-55, 40}, {-35, 85}, {10, 100}, {50, 75},
                           {50, 30}, {15, 2}, {-30, 15}, {-50, 45}, {-50, 60}}}}},
    {7, {{STRAIGHT, 3, {{-60, -95}, {55, -95}, {-10, 100}}}}},
    {7, {{STRAIGHT, 3, {{-60, -95}, {55, -95}, {-10, 100}}},
         {STRAIGHT, 2, {{-25, 5}, {50, 5}}}}},
    {8, {{ROUND, 13, {{0, -8}, {-40, -35}, {-42, -75}, {0, -100}, {42, -75}, {40, -35}, {0, -8},
                           {-45, 25}, {-52, 70}, {0, 100}, {52, 70}, {45, 25}, {0, -8}}}}},
    {9, {{ROUND, 11, {{45, -50}, {20, -95}, {-20, -97}, {-50, -60}, {-35, -15}, {5, -5}, {38, -30},
                           {48, -60}, {47, 0}, {35, 60}, {10, 100}}}}},
    {9, {{ROUND, 8, {{45, -60}, {10, -100}, {-35, -90}, {-50, -50}, {-30, -10}, {10, -10}, {40, -35},
                           {48, -70}}},
         {STRAIGHT, 2, {{48, -80}, {40, 100}}}}},
};
/* clang-format on */

static double between(tg_rng *rng, double low, double high)
{
    return low + (high - low) * tg_rng_uniform(rng);
}

/* ---- the pen --------------------------------------------------------------- */

struct pen {
    float xx, xy, yx, yy; /* from the box to pixels: x' = xx x + xy y + centre.x, y' = yx x + yy y + centre.y */
    point centre;
    float radius;     /* half the width of a line, in pixels */
    float soft;       /* width of its soft edge, in pixels */
    float *distances; /* [28, 28] squared distances to the nearest line so far */
};

static struct pen random_pen(tg_rng *rng, float *distances)
{
    double angle = 0.14 * tg_rng_normal(rng), slant = 0.2 * tg_rng_normal(rng);
    double wide = between(rng, 7.5, 11), high = between(rng, 7.5, 10);
    double x = between(rng, -3, 3), y = between(rng, -3, 3);
    double radius = between(rng, 0.7, 1.6), soft = between(rng, 0.9, 1.8);
    double cosine = cos(angle), sine = sin(angle);
    struct pen made = {
        .xx = (float)(cosine * wide),
        .xy = (float)(-cosine * wide * slant - sine * high),
        .yx = (float)(sine * wide),
        .yy = (float)(-sine * wide * slant + cosine * high),
        .centre = {(float)(0.5 * (GLYPH_SIDE - 1) + x), (float)(0.5 * (GLYPH_SIDE - 1) + y)},
        .radius = (float)radius,
        .soft = (float)soft,
        .distances = distances,
    };
    for (int i = 0; i < GLYPH_SIDE * GLYPH_SIDE; i++)
        distances[i] = 1e9f;
    return made;
}

static point to_pixels(const struct pen *pen, point at)
{
    return (point){pen->xx * at.x + pen->xy * at.y + pen->centre.x, pen->yx * at.x + pen->yy * at.y + pen->centre.y};
}

/* Inline, unlike fminf and fmaxf, which must handle NaN. */
static inline float smaller(float a, float b)
{
    return a < b ? a : b;
}

static inline float larger(float a, float b)
{
    return a > b ? a : b;
}

static int clamp_to_side(float at)
{
    return at < 0 ? 0 : at > GLYPH_SIDE - 1 ? GLYPH_SIDE - 1 : (int)at;
}

/* Lowers the distances of the pixels that the line from `a` to `b` can ink. Works on whole rows, which the compiler
 * vectorises. */
static void draw_line(const struct pen *pen, point a, point b)
{
    float reach = pen->radius + pen->soft;
    int top = clamp_to_side(smaller(a.y, b.y) - reach), bottom = clamp_to_side(ceilf(larger(a.y, b.y) + reach));
    int left = clamp_to_side(smaller(a.x, b.x) - reach), right = clamp_to_side(ceilf(larger(a.x, b.x) + reach));
    float dx = b.x - a.x, dy = b.y - a.y, squared_length = dx * dx + dy * dy;
    float inverse = squared_length > 1e-6f ? 1 / squared_length : 0;
    for (int y = top; y <= bottom; y++) {
        float *nearest = &pen->distances[y * GLYPH_SIDE], py = (float)y - a.y;
        for (int x = left; x <= right; x++) {
            float px = (float)x - a.x;
            float along = smaller(larger((px * dx + py * dy) * inverse, 0), 1);
            float away_x = px - along * dx, away_y = py - along * dy;
            nearest[x] = smaller(nearest[x], away_x * away_x + away_y * away_y);
        }
    }
}

/* The point at t in [0, 1] between b and c of the Catmull-Rom spline through a, b, c, d. */
static point spline(point a, point b, point c, point d, float t)
{
    float wa = ((-t + 2) * t - 1) * t / 2, wb = ((3 * t - 5) * t * t + 2) / 2;
    float wc = ((-3 * t + 4) * t + 1) * t / 2, wd = (t - 1) * t * t / 2;
    return (point){wa * a.x + wb * b.x + wc * c.x + wd * d.x, wa * a.y + wb * b.y + wc * c.y + wd * d.y};
}

static void draw_stroke(const struct pen *pen, const struct stroke *stroke, double shake, tg_rng *rng)
{
    point points[MOST_POINTS];
    for (int i = 0; i < stroke->count; i++) {
        double x = 0.01 * stroke->points[i].x + shake * tg_rng_normal(rng);
        double y = 0.01 * stroke->points[i].y + shake * tg_rng_normal(rng);
        points[i] = to_pixels(pen, (point){(float)x, (float)y});
    }
    int steps = stroke->kind == ROUND ? SPLINE_STEPS : 1;
    for (int i = 0; i + 1 < stroke->count; i++) {
        point before = points[i > 0 ? i - 1 : 0], after = points[i + 2 < stroke->count ? i + 2 : i + 1];
        point from = points[i];
        for (int step = 1; step <= steps; step++) {
            point to = step == steps ? points[i + 1]
                                     : spline(before, points[i], points[i + 1], after, (float)step / (float)steps);
            draw_line(pen, from, to);
            from = to;
        }
    }
}

/* ---- the picture ----------------------------------------------------------- */

/* Approximately normal, deviation 1: the sum of four 16-bit numbers, in a quarter of the time. */
static float rough_normal(tg_rng *rng)
{
    uint64_t bits = tg_rng_bits(rng);
    int sum = (int)(bits & 0xffff) + (int)(bits >> 16 & 0xffff) + (int)(bits >> 32 & 0xffff) + (int)(bits >> 48);
    return ((float)sum / 65536 - 2) * 1.7320508f;
}

static const struct style *random_style(int digit, tg_rng *rng)
{
    size_t first = 0, count = 0;
    while (styles[first].digit != digit)
        first++;
    while (first + count < sizeof styles / sizeof styles[0] && styles[first + count].digit == digit)
        count++;
    return &styles[first + tg_rng_below(rng, count)];
}

double dataset_draw_glyphs(int digit, double noise, tg_rng *rng, float *pixels)
{
    const struct style *style = random_style(digit, rng);
    struct pen pen = random_pen(rng, pixels); /* first holds distances, then the ink */
    double shake = between(rng, 0.02, 0.07);
    for (int i = 0; i < MOST_STROKES; i++)
        draw_stroke(&pen, &style->strokes[i], shake, rng);

    float ink = (float)between(rng, 0.7, 1);
    for (int i = 0; i < GLYPH_SIDE * GLYPH_SIDE; i++) {
        float inside = 0.5f + (pen.radius - sqrtf(pixels[i])) / pen.soft;
        float grey = ink * smaller(larger(inside, 0), 1) + (float)noise * rough_normal(rng);
        pixels[i] = smaller(larger(grey, 0), 1);
    }
    return digit;
}
