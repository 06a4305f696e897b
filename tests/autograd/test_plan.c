/* Places of buffers by lifetime: against a check of every pair, the sum of all sizes and the most bytes that live at
 * once. */
#include "autograd/memory/plan.h"
#include "tests/support/processor_time.h"

#include <check.h>
#include <stdlib.h>
#include <tapegrad.h>

Suite *plan_suite(void);

enum { LONGEST = 400, UNIT = 64 };

/* The most bytes that live at one time: no block can be smaller. */
static size_t peak_of(const tg_life *lives, size_t count, int64_t end)
{
    size_t peak = 0;
    for (int64_t now = 0; now < end; now++) {
        size_t living = 0;
        for (size_t i = 0; i < count; i++)
            living += lives[i].first <= now && now <= lives[i].last ? lives[i].size : 0;
        peak = living > peak ? living : peak;
    }
    return peak;
}

static size_t sum_of(const tg_life *lives, size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += lives[i].size;
    return sum;
}

static bool apart(const tg_life *a, const tg_life *b)
{
    return a->last < b->first || b->last < a->first || a->offset + a->size <= b->offset ||
           b->offset + b->size <= a->offset;
}

/* Every place is in the block and aligned, and no two lives share a byte at one time. */
static void check_places(const tg_life *lives, size_t count, size_t block)
{
    for (size_t i = 0; i < count; i++) {
        const tg_life *life = &lives[i];
        size_t k = 0;
        while (k < i && apart(life, &lives[k]))
            k++;
        ck_assert_msg(k == i, "%lld and %lld overlap", (long long)life->of, (long long)lives[k].of);
        ck_assert_msg(life->offset % UNIT == 0 && life->offset + life->size <= block, "%lld is at %zu of %zu",
                      (long long)life->of, life->offset, block);
    }
}

static tg_life random_life(tg_rng *rng, int64_t of, int64_t longest)
{
    const int64_t first = (int64_t)(tg_rng_uniform(rng) * LONGEST);
    return (tg_life){.of = of,
                     .first = first,
                     .last = first + (int64_t)(tg_rng_uniform(rng) * (double)longest),
                     .size = UNIT * (size_t)(tg_rng_uniform(rng) * 100)};
}

START_TEST(random_lives_never_overlap)
{
    enum { TRIALS = 60 };
    tg_rng rng = tg_rng_seed(1);
    double more = 0; /* than the peak, on average */
    for (int trial = 0; trial < TRIALS; trial++) {
        const size_t count = 1 + (size_t)(tg_rng_uniform(&rng) * 150);
        tg_life *lives = malloc(count * sizeof *lives);
        for (size_t i = 0; i < count; i++)
            lives[i] = random_life(&rng, (int64_t)i, trial % 3 ? 20 : LONGEST);
        const size_t peak = peak_of(lives, count, 2 * LONGEST), sum = sum_of(lives, count),
                     block = tg_plan(lives, count);
        check_places(lives, count, block);
        ck_assert_uint_le(peak, block);
        ck_assert_uint_le(block, sum);
        more += ((double)block / (double)peak - 1) / TRIALS;
        free(lives);
    }
    ck_assert_double_le(more, 0.1);
}
END_TEST

/* The lives of a training step: results that the backward pass reads live until it has come back to them, the others
 * end at the next one, and a gradient lives until the one before it is computed. */
START_TEST(lives_of_a_step_fill_the_block)
{
    enum { LAYERS = 50 };
    tg_life lives[3 * LAYERS];
    for (int64_t i = 0; i < LAYERS; i++) {
        const size_t width = UNIT * (size_t)(1 + i * i % 7);
        lives[3 * i] = (tg_life){.of = 3 * i, .first = 2 * i, .last = 4 * LAYERS - 2 * i, .size = width};
        lives[3 * i + 1] = (tg_life){.of = 3 * i + 1, .first = 2 * i, .last = 2 * i + 1, .size = 2 * width};
        lives[3 * i + 2] =
            (tg_life){.of = 3 * i + 2, .first = 4 * LAYERS - 2 * i, .last = 4 * LAYERS - 2 * i + 2, .size = width};
    }
    const size_t peak = peak_of(lives, 3 * LAYERS, 4 * LAYERS + 3), block = tg_plan(lives, 3 * LAYERS);
    check_places(lives, 3 * LAYERS, block);
    ck_assert_uint_le(block, peak + peak / 10);
}
END_TEST

START_TEST(the_example_of_the_header_holds)
{
    tg_life lives[] = {{.of = 0, .first = 0, .last = 2, .size = 256},
                       {.of = 1, .first = 1, .last = 1, .size = 64},
                       {.of = 2, .first = 3, .last = 4, .size = 192}};
    ck_assert_uint_eq(tg_plan(lives, 3), 320);
    for (int i = 0; i < 3; i++)
        ck_assert_uint_eq(lives[i].offset, lives[i].of == 1 ? 256 : 0);
    ck_assert_uint_eq(tg_plan(lives, 0), 0);
}
END_TEST

/* More than are placed by size: the same lives of a step, so often that the end of one and the start of the next share
 * memory. */
START_TEST(many_lives_fill_the_block_as_well)
{
    enum { LAYERS = 2000, COUNT = 3 * LAYERS };
    static tg_life lives[COUNT];
    for (int64_t i = 0; i < LAYERS; i++) {
        const size_t width = UNIT * (size_t)(20 + i * i % 7);
        lives[3 * i] = (tg_life){.of = 3 * i, .first = 2 * i, .last = 4 * LAYERS - 2 * i, .size = width};
        lives[3 * i + 1] = (tg_life){.of = 3 * i + 1, .first = 2 * i, .last = 2 * i + 1, .size = 2 * width};
        lives[3 * i + 2] =
            (tg_life){.of = 3 * i + 2, .first = 4 * LAYERS - 2 * i, .last = 4 * LAYERS - 2 * i + 2, .size = width};
    }
    const size_t peak = peak_of(lives, COUNT, 4 * LAYERS + 3), block = tg_plan(lives, COUNT);
    check_places(lives, COUNT, block);
    ck_assert_uint_le(block, peak + peak / 10);
}
END_TEST

START_TEST(many_random_lives_never_overlap)
{
    enum { COUNT = 5000 };
    tg_rng rng = tg_rng_seed(3);
    static tg_life lives[COUNT];
    for (int trial = 0; trial < 4; trial++) {
        for (int64_t i = 0; i < COUNT; i++)
            lives[i] = random_life(&rng, i, trial % 2 ? 20 : LONGEST);
        const size_t peak = peak_of(lives, COUNT, 2 * LONGEST), block = tg_plan(lives, COUNT);
        check_places(lives, COUNT, block);
        ck_assert_uint_le(peak, block);
        ck_assert_uint_le(block, peak + peak / 4);
    }
}
END_TEST

START_TEST(a_million_lives_take_less_than_a_second)
{
    enum { COUNT = 1000000 };
    tg_rng rng = tg_rng_seed(2);
    tg_life *lives = malloc(COUNT * sizeof *lives);
    for (int64_t i = 0; i < COUNT; i++)
        lives[i] = (tg_life){.of = i,
                             .first = i,
                             .last = i + 1 + (int64_t)(tg_rng_uniform(&rng) * 1000),
                             .size = UNIT * (size_t)(tg_rng_uniform(&rng) * 100)};
    const size_t sum = sum_of(lives, COUNT);
    const double began = processor_time();
    const size_t block = tg_plan(lives, COUNT);
    const double seconds = processor_time() - began;
    ck_assert_msg(seconds < in_seconds(1), "%g s", seconds);
    ck_assert_uint_le(block, sum / 1000);
    free(lives);
}
END_TEST

START_TEST(thousands_of_lives_take_little_time)
{
    enum { COUNT = 4096 };
    tg_rng rng = tg_rng_seed(2);
    tg_life *lives = malloc(COUNT * sizeof *lives);
    for (int64_t i = 0; i < COUNT; i++)
        lives[i] = (tg_life){.of = i, .first = i, .last = i + 5, .size = UNIT * (size_t)(tg_rng_uniform(&rng) * 100)};
    const size_t sum = sum_of(lives, COUNT), block = tg_plan(lives, COUNT);
    check_places(lives, COUNT, block);
    ck_assert_uint_le(block, sum / 100);
    free(lives);
}
END_TEST

Suite *plan_suite(void)
{
    Suite *suite = suite_create("plan");
    TCase *cases = tcase_create("plan");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, random_lives_never_overlap);
    tcase_add_test(cases, lives_of_a_step_fill_the_block);
    tcase_add_test(cases, the_example_of_the_header_holds);
    tcase_add_test(cases, many_lives_fill_the_block_as_well);
    tcase_add_test(cases, many_random_lives_never_overlap);
    tcase_add_test(cases, a_million_lives_take_less_than_a_second);
    tcase_add_test(cases, thousands_of_lives_take_little_time);
    suite_add_tcase(suite, cases);
    return suite;
}
