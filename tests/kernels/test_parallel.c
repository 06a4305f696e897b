/* Tests loops that are split among threads: every element is computed once, and the results do not depend on the number
 * of threads. */
#include "autograd/kernels/parallel.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>
#include <unistd.h>
#if !defined _WIN32
#include <sys/wait.h>
#endif

Suite *parallel_suite(void);

enum { LEAST = 1024, MOST = 10 * LEAST + 17 };

static void count_visits(void *context, size_t first, size_t count)
{
    unsigned char *visits = context;
    ck_assert(first % 64 == 0 && count > 0);
    for (size_t i = first; i < first + count; i++)
        visits[i]++;
}

START_TEST(every_element_is_visited_once)
{
    const int threads = tg_threads();
    const size_t sizes[] = {1, LEAST, 2 * LEAST - 1, 2 * LEAST, 2 * LEAST + 1, 5 * LEAST + 63, MOST};
    for (int n = 1; n <= 5; n++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            unsigned char visits[MOST + 1] = {0};
            tg_set_threads(n);
            tg_parallel(sizes[k], LEAST, TG_LINE, count_visits, visits);
            for (size_t i = 0; i <= MOST; i++)
                ck_assert_msg(visits[i] == (i < sizes[k]), "element %zu of %zu, %d threads: %d visits", i, sizes[k], n,
                              visits[i]);
        }
    tg_set_threads(threads);
}
END_TEST

/* Tests every unit in use: rows, columns of a product on each instruction set, tiles of a transpose, cache lines. */
START_TEST(parts_are_disjoint_and_cover_what_there_is_and_no_more)
{
    static const size_t units[] = {1, 4, 8, 12, 16, 24, 32, 48, 64};
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        const size_t unit = units[u];
        for (int parts = 1; parts <= 64; parts++)
            for (size_t count = 0; count <= 3 * unit + 70; count++) {
                bool fine = tg_parallel_cut(count, unit, parts, 0) == 0;
                size_t begin = 0, end = 0;
                for (int k = 0; k < parts; k++, begin = end) {
                    end = tg_parallel_cut(count, unit, parts, k + 1);
                    fine &= begin % unit == 0 && begin <= end;
                }
                ck_assert_msg(fine && end == count, "%zu in %d parts, unit %zu", count, parts, unit);
            }
    }
}
END_TEST

/* Arrays of several sizes in one block. */
static const size_t array_sizes[] = {MOST, 0, 1, 63, 16 * 64, LEAST};
enum { ARRAYS = sizeof array_sizes / sizeof *array_sizes, ALL = MOST + 64 + 16 * 64 + LEAST };

static void count_visits_of_chunks(void *context, size_t first, size_t count)
{
    unsigned char *visits = context;
    for (int k = 0; k < ARRAYS; visits += array_sizes[k++]) {
        const size_t begin = tg_chunk_begin(array_sizes[k], first), end = tg_chunk_begin(array_sizes[k], first + count);
        ck_assert(begin % 64 == 0 || begin == array_sizes[k]);
        for (size_t i = begin; i < end; i++)
            visits[i]++;
    }
}

START_TEST(chunks_leave_out_no_element_of_any_array)
{
    const int threads = tg_threads();
    for (int n = 1; n <= 5; n++)
        for (size_t least = ALL / 8; least <= ALL; least *= 2) {
            unsigned char visits[ALL + 1] = {0};
            tg_set_threads(n);
            tg_parallel_chunks(0, TG_CHUNKS, ALL, least, count_visits_of_chunks, visits);
            for (size_t i = 0; i <= ALL; i++)
                ck_assert_msg(visits[i] == (i < ALL), "element %zu, %d threads: %d visits", i, n, visits[i]);
        }
    tg_set_threads(threads);
}
END_TEST

static void count_in_turn(void *context, size_t first, size_t count)
{
    tg_parallel(count, LEAST, TG_LINE, count_visits, (unsigned char *)context + first);
}

START_TEST(a_call_within_a_call_does_its_work_alone)
{
    static unsigned char visits[MOST];
    tg_set_threads(2);
    tg_parallel(MOST, LEAST, TG_LINE, count_in_turn, visits);
    for (size_t i = 0; i < MOST; i++)
        ck_assert_int_eq(visits[i], 1);
}
END_TEST

#if defined __GLIBC__ /* where workers are placed */

/* Records which thread did which part of some work. */
typedef struct whereabouts {
    pthread_t thread[2];
    int processor[2];
    cpu_set_t allowed[2];
} whereabouts;

static void note_where(void *context, size_t first, size_t count)
{
    whereabouts *w = context;
    w->thread[first] = pthread_self();
    w->processor[first] = sched_getcpu();
    ck_assert_int_eq(pthread_getaffinity_np(pthread_self(), sizeof w->allowed[first], &w->allowed[first]), 0);
    usleep(200); /* so that the other thread takes the other part */
    ck_assert_uint_eq(count, 1);
}

START_TEST(after_a_pause_workers_work_elsewhere_and_may_work_anywhere)
{
    enum { ROUNDS = 40 };
    cpu_set_t allowed;
    ck_assert_int_eq(pthread_getaffinity_np(pthread_self(), sizeof allowed, &allowed), 0);
    tg_set_threads(2);
    int helped = 0, elsewhere = 0;
    for (int round = 0; round < ROUNDS; round++) {
        whereabouts w;
        const int ours = sched_getcpu();
        tg_parallel(2, 1, 1, note_where, &w);
        for (int k = 0; k < 2; k++) {
            ck_assert(CPU_EQUAL(&w.allowed[k], &allowed));
            if (!pthread_equal(w.thread[k], pthread_self())) {
                helped++;
                elsewhere += w.processor[k] != ours;
            }
        }
        usleep(3000); /* the worker falls asleep */
    }
    if (CPU_COUNT(&allowed) > 1) /* the system may move either of them at any time */
        ck_assert_msg(2 * elsewhere >= helped, "%d of %d times elsewhere", elsewhere, helped);
}
END_TEST

#endif

#if defined __linux__

START_TEST(a_child_process_gets_workers_of_its_own)
{
#if defined __SANITIZE_THREAD__
    printf("skipped: this sanitizer has no threads after a fork\n");
    return;
#endif
    unsigned char visits[MOST] = {0};
    tg_set_threads(3);
    tg_parallel(MOST, LEAST, TG_LINE, count_visits, visits);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); /* waiting for workers that do not exist would take forever */
        tg_set_threads(3);
        tg_parallel(MOST, LEAST, TG_LINE, count_visits, visits);
        _exit(visits[0] == 2 && visits[MOST - 1] == 2 ? 0 : 1);
    }
    int status = -1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

#endif

/* ---- training ---- */

enum { BATCH = 512, INPUTS = 200, WIDTH = 300, CLASSES = 10, STEPS = 4 };

static float *train(tg_activation activation, int64_t *size)
{
    tg_rng rng = tg_rng_seed(3);
    float *x = malloc(sizeof(float) * BATCH * INPUTS);
    int32_t labels[BATCH];
    for (int i = 0; i < BATCH * INPUTS; i++)
        x[i] = (float)tg_rng_normal(&rng);
    for (int i = 0; i < BATCH; i++)
        labels[i] = (int32_t)tg_rng_below(&rng, CLASSES);
    const tg_mlp_config config = {
        .inputs = INPUTS, .hidden = {WIDTH, WIDTH}, .outputs = CLASSES, .activation = activation, .dropout = 0.1};
    tg_mlp *net = tg_mlp_new(&rng, &config);
    tg_optimizer *adamw =
        tg_optimizer_new(tg_mlp_parameters(net), &(tg_optimizer_config){.weight_decay = 0.1, .clip_norm = 0.5});
    tg_tape *tape = tg_tape_new();
    for (int step = 0; step < STEPS; step++) {
        tg_tape_reset(tape);
        tg_tensor in = tg_borrow(tape, TG_F32, x, TG_SHAPE(BATCH, INPUTS));
        tg_tensor logits = tg_mlp_forward_with(net, in, &rng, NULL);
        ck_assert(tg_backward(tg_cross_entropy(logits, tg_borrow(tape, TG_I32, labels, TG_SHAPE(BATCH)))));
        ck_assert(tg_optimizer_step(adamw));
    }
    *size = tg_parameters_size(tg_mlp_parameters(net));
    float *values = malloc(sizeof(float) * (size_t)*size);
    memcpy(values, tg_parameters_values(tg_mlp_parameters(net)), sizeof(float) * (size_t)*size);
    tg_tape_free(tape);
    tg_optimizer_free(adamw);
    tg_mlp_free(net);
    free(x);
    return values;
}

START_TEST(two_threads_train_to_the_same_bits_as_one)
{
    const tg_activation activations[] = {TG_RELU, TG_GELU_EXACT, TG_SWIGLU};
    int64_t size;
    tg_set_threads(1);
    float *alone = train(activations[_i], &size);
    tg_set_threads(2);
    float *together = train(activations[_i], &size);
    ck_assert(memcmp(alone, together, sizeof(float) * (size_t)size) == 0);
    free(alone);
    free(together);
}
END_TEST

/* Values and gradients of the operations on rows, for more rows than one thread takes by itself. */
enum { ROWS = 301, COLUMNS = 257, ROW_OPERATIONS = 4 };

static float *work_on_rows(void)
{
    const size_t cells = (size_t)ROWS * COLUMNS;
    tg_rng rng = tg_rng_seed(5);
    tg_tape *tape = tg_tape_new();
    float *numbers = malloc(2 * cells * sizeof *numbers),
          *results = malloc(2 * ROW_OPERATIONS * cells * sizeof *results);
    for (size_t i = 0; i < 2 * cells; i++)
        numbers[i] = (float)tg_rng_normal(&rng);
    tg_tensor x = tg_variable(tape, TG_F32, numbers, TG_SHAPE(ROWS, COLUMNS));
    tg_tensor weights = tg_constant(tape, TG_F32, numbers + cells, TG_SHAPE(ROWS, COLUMNS));
    const tg_tensor outputs[ROW_OPERATIONS] = {tg_softmax(x, -1), tg_log_softmax(x, -1), tg_normalize(x, true, 1e-5),
                                               tg_normalize(x, false, 1e-5)};
    for (int k = 0; k < ROW_OPERATIONS; k++) {
        tg_tensor gradient;
        ck_assert(tg_grad(&outputs[k], 1, &x, 1, &weights, false, &gradient));
        memcpy(results + (size_t)(2 * k) * cells, tg_data(outputs[k]), cells * sizeof *results);
        memcpy(results + (size_t)(2 * k + 1) * cells, tg_data(gradient), cells * sizeof *results);
    }
    tg_tape_free(tape);
    free(numbers);
    return results;
}

START_TEST(operations_on_rows_give_the_same_bits_on_any_number_of_threads)
{
    tg_set_threads(1);
    float *alone = work_on_rows();
    for (int threads = 2; threads <= 4; threads++) {
        tg_set_threads(threads);
        float *together = work_on_rows();
        ck_assert(memcmp(alone, together, 2 * ROW_OPERATIONS * ROWS * COLUMNS * sizeof *alone) == 0);
        free(together);
    }
    free(alone);
}
END_TEST

/* ---- operations of every kind, on more elements than one thread takes by itself ---- */

static tg_tensor products_of_a_batch(tg_tensor x, tg_tensor y)
{
    return tg_matmul_transposed(x, y, false, true);
}

static tg_tensor convolution(tg_tensor x, tg_tensor y)
{
    return tg_conv2d(x, y, TG_NONE, (tg_window){.padding = {1, 1}, .stride = {1, 2}});
}

static tg_tensor sum(tg_tensor x, tg_tensor y)
{
    return tg_add(x, y);
}

static tg_tensor sum_with_transpose(tg_tensor x, tg_tensor y)
{
    return tg_add(tg_transpose(x, 0, -1), y);
}

static tg_tensor product_with_causal_softmax(tg_tensor x, tg_tensor y)
{
    return tg_mul(tg_causal_softmax(x), y);
}

static tg_tensor product_with_self_attention(tg_tensor x, tg_tensor y)
{
    return tg_mul(tg_self_attention(x, 4, 2, true), y);
}

static tg_tensor gated_product(tg_tensor x, tg_tensor y)
{
    return tg_geglu(x, y);
}

static tg_tensor sums_of_columns(tg_tensor x, tg_tensor y)
{
    return tg_mul(tg_sum_over(x, TG_AXES(0), false), y);
}

static tg_tensor sums_of_rows(tg_tensor x, tg_tensor y)
{
    return tg_mul(tg_sum_over(x, TG_AXES(1), false), y);
}

static const struct shared_work {
    const char *what;
    tg_tensor (*work)(tg_tensor x, tg_tensor y);
    tg_shape x, y;
} shared_work[] = {
    {"a batch of products", products_of_a_batch, {4, {7, 9, 33, 40}}, {4, {7, 9, 21, 40}}},
    {"a batch of products with fewer matrices", products_of_a_batch, {4, {7, 9, 33, 40}}, {3, {9, 21, 40}}},
    {"three large products", products_of_a_batch, {3, {3, 128, 100}}, {3, {3, 130, 100}}},
    {"a convolution", convolution, {4, {5, 9, 33, 40}}, {4, {6, 9, 3, 3}}},
    {"a broadcast from the last axis", sum, {4, {7, 9, 33, 40}}, {1, {40}}},
    {"a broadcast from a middle axis", sum, {4, {7, 9, 33, 40}}, {2, {33, 1}}},
    {"a broadcast from both sides", sum, {3, {70, 1, 40}}, {3, {1, 9, 1}}},
    {"a broadcast of one number", sum, {1, {20011}}, {0}},
    {"a matrix transposed", sum_with_transpose, {2, {301, 257}}, {2, {257, 301}}},
    {"axes exchanged", sum_with_transpose, {4, {7, 9, 33, 40}}, {4, {40, 9, 33, 7}}},
    {"a gated product", gated_product, {2, {131, 157}}, {2, {131, 157}}},
    {"sums of columns", sums_of_columns, {2, {301, 257}}, {1, {257}}},
    {"sums of columns, of which few are left over", sums_of_columns, {2, {1200, 130}}, {1, {130}}},
    {"sums of narrow columns", sums_of_columns, {2, {5003, 15}}, {1, {15}}},
    {"sums of rows", sums_of_rows, {2, {301, 257}}, {1, {301}}},
    {"self-attention", product_with_self_attention, {3, {5, 70, 64}}, {3, {5, 70, 32}}},
    {"causal softmax", product_with_causal_softmax, {4, {7, 9, 33, 40}}, {4, {7, 9, 33, 40}}},
};
enum { SHARED_WORK = sizeof shared_work / sizeof *shared_work, MOST_NUMBERS = 7 * 9 * 33 * 40 };

/* The result and both gradients in one array of *count numbers. */
static float *do_shared_work(const struct shared_work *s, int64_t *count)
{
    static float numbers[2][MOST_NUMBERS];
    tg_rng rng = tg_rng_seed(6);
    for (int i = 0; i < 2 * MOST_NUMBERS; i++)
        numbers[i % 2][i / 2] = (float)tg_rng_normal(&rng);
    tg_tape *tape = tg_tape_new();
    tg_tensor in[] = {tg_variable(tape, TG_F32, numbers[0], s->x), tg_variable(tape, TG_F32, numbers[1], s->y)};
    tg_tensor out = s->work(in[0], in[1]), loss = tg_sum(tg_square(out)), results[] = {out, TG_NONE, TG_NONE};
    ck_assert_msg(tg_grad(&loss, 1, in, 2, NULL, false, results + 1), "%s: %s", s->what, tg_tape_error(tape));
    *count = tg_size(results[0]) + tg_size(results[1]) + tg_size(results[2]);
    float *all = malloc((size_t)*count * sizeof *all), *to = all;
    for (int k = 0; k < 3; to += tg_size(results[k++]))
        memcpy(to, tg_data(results[k]), (size_t)tg_size(results[k]) * sizeof *to);
    tg_tape_free(tape);
    return all;
}

START_TEST(every_kind_of_shared_work_gives_the_same_bits_on_any_number_of_threads)
{
    const struct shared_work *s = &shared_work[_i];
    int64_t count;
    tg_set_threads(1);
    float *alone = do_shared_work(s, &count);
    for (int threads = 2; threads <= 5; threads++) {
        tg_set_threads(threads);
        float *together = do_shared_work(s, &count);
        ck_assert_msg(memcmp(alone, together, (size_t)count * sizeof *alone) == 0, "%s, %d threads", s->what, threads);
        free(together);
    }
    free(alone);
}
END_TEST

static void *train_beside(void *unused)
{
    int64_t size;
    (void)unused;
    return train(TG_GELU_EXACT, &size);
}

START_TEST(two_tapes_at_a_time_are_not_in_each_others_way)
{
    int64_t size;
    pthread_t other;
    void *second;
    tg_set_threads(1);
    float *alone = train(TG_GELU_EXACT, &size);
    tg_set_threads(2);
    ck_assert_int_eq(pthread_create(&other, NULL, train_beside, NULL), 0);
    float *first = train(TG_GELU_EXACT, &size);
    ck_assert_int_eq(pthread_join(other, &second), 0);
    ck_assert(memcmp(alone, first, sizeof(float) * (size_t)size) == 0);
    ck_assert(memcmp(alone, second, sizeof(float) * (size_t)size) == 0);
    ck_assert_int_eq(tg_threads(), 2);
    free(alone);
    free(first);
    free(second);
}
END_TEST

START_TEST(a_number_of_threads_is_set_and_read)
{
    const int before = tg_threads();
    for (int n = 33; n >= 1; n--) {
        tg_set_threads(n);
        ck_assert_int_eq(tg_threads(), n);
    }
    tg_set_threads(0);
#if defined __linux__
    cpu_set_t set;
    ck_assert_int_eq(sched_getaffinity(0, sizeof set, &set), 0);
    ck_assert_int_eq(tg_threads(), CPU_COUNT(&set));
#endif
    ck_assert_int_ge(tg_threads(), 1);
    tg_set_threads(before);
}
END_TEST

Suite *parallel_suite(void)
{
    Suite *suite = suite_create("parallel");
    TCase *tests = tcase_create("parallel");
    tcase_add_test(tests, every_element_is_visited_once);
    tcase_add_test(tests, parts_are_disjoint_and_cover_what_there_is_and_no_more);
    tcase_add_test(tests, chunks_leave_out_no_element_of_any_array);
    tcase_add_test(tests, a_call_within_a_call_does_its_work_alone);
#if defined __GLIBC__
    tcase_add_test(tests, after_a_pause_workers_work_elsewhere_and_may_work_anywhere);
#endif
#if defined __linux__
    tcase_add_test(tests, a_child_process_gets_workers_of_its_own);
#endif
    tcase_add_test(tests, two_tapes_at_a_time_are_not_in_each_others_way);
    tcase_add_test(tests, operations_on_rows_give_the_same_bits_on_any_number_of_threads);
    tcase_add_loop_test(tests, every_kind_of_shared_work_gives_the_same_bits_on_any_number_of_threads, 0, SHARED_WORK);
    tcase_add_loop_test(tests, two_threads_train_to_the_same_bits_as_one, 0, 3);
    tcase_add_test(tests, a_number_of_threads_is_set_and_read);
    suite_add_tcase(suite, tests);
    return suite;
}
