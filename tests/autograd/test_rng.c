/* Random numbers against the published vectors of Philox, and their statistics. */
#include <check.h>
#include <math.h>
#include <tapegrad.h>

Suite *rng_suite(void);

START_TEST(philox_gives_the_published_words)
{
    /* Known answers of Philox 4x32-10 from the Random123 distribution (kat_vectors). */
    static const uint32_t known[3][10] = {
        {0, 0, 0, 0, 0, 0, 0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8},
        {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0x408f276d, 0x41c83b0e, 0xa20bc7c6,
         0x6d5451fd},
        {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, 0xa4093822, 0x299f31d0, 0xd16cfe09, 0x94fdcceb, 0x5001e420,
         0x24126ea1},
    };
    for (int i = 0; i < 3; i++) {
        uint32_t words[4];
        tg_philox(known[i], known[i] + 4, words);
        for (int w = 0; w < 4; w++)
            ck_assert_uint_eq(words[w], known[i][6 + w]);
    }
}
END_TEST

START_TEST(moments_of_uniform_and_normal_are_right)
{
    tg_rng rng = tg_rng_seed(7);
    enum { N = 200000 };
    double uniform = 0, normal = 0, square = 0, fourth = 0;
    for (int i = 0; i < N; i++) {
        uniform += tg_rng_uniform(&rng);
        double z = tg_rng_normal(&rng);
        normal += z;
        square += z * z;
        fourth += z * z * z * z;
    }
    /* Five standard errors each: 1/sqrt(12 N), 1/sqrt(N), sqrt(2/N), sqrt(96/N). */
    ck_assert_double_le(fabs(uniform / N - 0.5), 5 * sqrt(1. / 12 / N));
    ck_assert_double_le(fabs(normal / N), 5 * sqrt(1. / N));
    ck_assert_double_le(fabs(square / N - 1), 5 * sqrt(2. / N));
    ck_assert_double_le(fabs(fourth / N - 3), 5 * sqrt(96. / N));
}
END_TEST

START_TEST(streams_do_not_depend_on_what_was_drawn)
{
    tg_rng a = tg_rng_seed(3), b = tg_rng_seed(3);
    for (int i = 0; i < 5; i++)
        tg_rng_bits(&a);
    tg_rng from_a = tg_rng_stream(&a, "weights"), from_b = tg_rng_stream(&b, "weights");
    tg_rng other = tg_rng_stream(&b, "shuffle"), split = tg_rng_split(&b, 1), split2 = tg_rng_split(&b, 2);
    uint64_t first = tg_rng_bits(&from_a);
    ck_assert_uint_eq(first, tg_rng_bits(&from_b));
    ck_assert_uint_ne(first, tg_rng_bits(&other));
    ck_assert_uint_ne(tg_rng_bits(&split), tg_rng_bits(&split2));
}
END_TEST

START_TEST(shuffle_reaches_every_order_equally)
{
    tg_rng rng = tg_rng_seed(11);
    int seen[6] = {0};
    enum { N = 60000 };
    for (int i = 0; i < N; i++) {
        int32_t order[3] = {0, 1, 2};
        tg_rng_shuffle(&rng, 3, order);
        seen[order[0] * 2 + (order[1] > order[2])]++;
    }
    double chi_square = 0;
    for (int i = 0; i < 6; i++)
        chi_square += (seen[i] - N / 6.) * (seen[i] - N / 6.) / (N / 6.);
    ck_assert_double_le(chi_square, 20.5); /* 5 degrees of freedom: the 99.9 % quantile */
}
END_TEST

/* Word i % 4 of the block at counter i / 4, as a number in [-1, 3); and pairs of words by Box and Muller's formula. */
START_TEST(arrays_are_filled_by_the_words_of_a_stream)
{
    enum { N = 100003 };
    static double uniform[N], normal[N];
    static float narrow[N], some[500];
    const int before = tg_threads();
    const tg_rng start = tg_rng_seed(5);
    for (int threads = 1; threads <= 3; threads++) {
        tg_rng rng = start, same = start;
        uint32_t stream[2][4], words[4];
        tg_set_threads(threads);
        tg_rng_fill_uniform(&rng, TG_F64, N, -1, 3, uniform);
        tg_rng_fill_normal(&rng, TG_F64, N, 2, 0.5, normal);
        tg_rng_draw_stream(&same, stream[0]);
        tg_rng_draw_stream(&same, stream[1]);
        ck_assert_uint_eq(rng.position, same.position);
        for (uint32_t i = 0; i < N - 1; i++) {
            tg_philox((uint32_t[]){i / 4, 0, stream[0][2], stream[0][3]}, stream[0], words);
            ck_assert_double_eq(uniform[i], -1 + words[i % 4] * 0x1p-30);
            tg_philox((uint32_t[]){i / 4, 0, stream[1][2], stream[1][3]}, stream[1], words);
            const double radius = sqrt(-2 * log((words[i % 4 & 2] + 1.) * 0x1p-32)),
                         angle = 6.283185307179586 * 0x1p-32 * words[i % 4 | 1];
            ck_assert_double_eq_tol(normal[i], 2 + 0.5 * radius * (i % 2 ? sin(angle) : cos(angle)), 1e-13);
        }
        rng = same = start;
        tg_rng_fill_uniform(&rng, TG_F32, N, 0, 1, narrow);
        tg_rng_fill_uniform(&same, TG_F32, 500, 0, 1, some);
        ck_assert_mem_eq(narrow, some, sizeof some);
    }
    tg_set_threads(before);
}
END_TEST

START_TEST(null_generators_are_survived)
{
    float filled[3] = {9, 9, 9};
    tg_rng_fill_uniform(NULL, TG_F32, 3, 0, 1, filled);
    ck_assert(filled[0] >= 0 && filled[0] < 1);
    tg_rng_fill_normal(NULL, TG_F32, 3, 0, 1, NULL);
    tg_rng_fill_normal(NULL, TG_I32, 3, 0, 1, filled);
    ck_assert(filled[0] < 1);
    ck_assert_uint_eq(tg_rng_bits(NULL), 0);
    ck_assert_uint_eq(tg_rng_below(NULL, 5), 0);
    tg_rng_shuffle(NULL, 3, NULL);
    tg_rng derived = tg_rng_stream(NULL, NULL);
    ck_assert_uint_ne(tg_rng_bits(&derived), 0);
}
END_TEST

Suite *rng_suite(void)
{
    Suite *suite = suite_create("rng");
    TCase *tests = tcase_create("rng");
    tcase_add_test(tests, philox_gives_the_published_words);
    tcase_add_test(tests, moments_of_uniform_and_normal_are_right);
    tcase_add_test(tests, streams_do_not_depend_on_what_was_drawn);
    tcase_add_test(tests, shuffle_reaches_every_order_equally);
    tcase_add_test(tests, arrays_are_filled_by_the_words_of_a_stream);
    tcase_add_test(tests, null_generators_are_survived);
    suite_add_tcase(suite, tests);
    return suite;
}
