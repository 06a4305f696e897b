/* Recurrent layers: equality with PyTorch, lengths, segments that are recomputed, gradients through 20 steps, refusals.
 */
#include "tests/support/pytorch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *recurrent_suite(void);

enum { LAYERS = 2, HIDDEN = 4 };

typedef struct stack {
    tg_parameters *set;
    tg_recurrent layer[LAYERS];
    tg_recurrent_state state[LAYERS]; /* after the last position */
    int count;
} stack;

static const struct {
    const char *name;
    tg_recurrent_config config;
    int layers;
    bool cell, padded;
} cases[] = {{"rnn_1", {.cell = TG_RNN}, 1, false, false},
             {"rnn_1_padded", {.cell = TG_RNN}, 1, false, true},
             {"gru_1", {.cell = TG_GRU}, 1, false, false},
             {"gru_1_padded", {.cell = TG_GRU}, 1, false, true},
             {"lstm_1", {.cell = TG_LSTM}, 1, false, false},
             {"lstm_1_padded", {.cell = TG_LSTM}, 1, false, true},
             {"gru_2", {.cell = TG_GRU, .no_bias = true}, 2, false, false},
             {"gru_2_padded", {.cell = TG_GRU, .no_bias = true}, 2, false, true},
             {"lstm_2", {.cell = TG_LSTM}, 2, false, false},
             {"lstm_2_padded", {.cell = TG_LSTM}, 2, false, true},
             {"lstm_2", {.cell = TG_LSTM, .segment = 2}, 2, false, false},
             {"lstm_2_padded", {.cell = TG_LSTM, .segment = 2}, 2, false, true},
             {"gru_1_padded", {.cell = TG_GRU, .segment = 3}, 1, false, true},
             {"rnn_cell", {.cell = TG_RNN}, 1, true, false},
             {"gru_cell", {.cell = TG_GRU}, 1, true, false},
             {"lstm_cell", {.cell = TG_LSTM}, 1, true, false}};
enum { CASES = sizeof cases / sizeof cases[0] };

static stack stack_new(int of, tg_dtype dtype)
{
    stack s = {.set = tg_parameters_new(dtype), .count = cases[of].layers};
    for (int i = 0; i < s.count; i++) {
        tg_recurrent_config config = cases[of].config;
        config.inputs = i ? HIDDEN : 3;
        config.hidden = HIDDEN;
        s.layer[i] = tg_recurrent_add(s.set, "rnn", cases[of].cell ? -1 : i, &config);
    }
    return s;
}

/* The output of all layers; of a cell, the h after the last position, one step after the other. */
static tg_tensor stack_forward(stack *s, bool cell, tg_tensor x, tg_tensor padding)
{
    tg_recurrent_state state = {TG_NONE, TG_NONE};
    for (int64_t t = 0; cell && t < tg_dim(x, 1); t++)
        state =
            tg_recurrent_step(&s->layer[0], tg_reshape(tg_slice(x, 1, t, t + 1, 1), TG_SHAPE(tg_dim(x, 0), 3)), state);
    for (int i = 0; !cell && i < s->count; i++) {
        s->state[i] = (tg_recurrent_state){TG_NONE, TG_NONE};
        x = tg_recurrent_forward(&s->layer[i], x, padding, &s->state[i]);
    }
    if (cell)
        s->state[0] = state;
    return cell ? state.h : x;
}

/* The state after the last position, as PyTorch joins it: the h of all layers, then their c. */
static tg_tensor last_of(const stack *s)
{
    tg_tensor all[2 * LAYERS];
    int count = 0;
    for (int i = 0; i < s->count; i++)
        all[count++] = s->state[i].h;
    for (int i = 0; i < s->count && s->state[0].c.value; i++)
        all[count++] = s->state[i].c;
    return tg_stack(all, count, 0);
}

START_TEST(a_recurrent_layer_is_that_of_pytorch)
{
    for (int dtype = TG_F32; dtype <= TG_F64; dtype++) {
        pytorch p = pytorch_open_file("tests/golden/sequences.safetensors", cases[_i].name, (tg_dtype)dtype);
        stack s = stack_new(_i, (tg_dtype)dtype);
        pytorch_load(&p, s.set, "*", true);
        const tg_tensor x = pytorch_tensor(&p, "input"),
                        padding = cases[_i].padded ? pytorch_tensor(&p, "padding") : TG_NONE,
                        y = stack_forward(&s, cases[_i].cell, x, padding), last = tg_copy(last_of(&s));
        pytorch_compare(&p, x, y, s.set);
        pytorch_assert(&p, "last", tg_data(last), tg_size(last));
        tg_parameters_free(s.set);
        pytorch_close(&p);
        tg_tape_reset(tape);
    }
}
END_TEST

START_TEST(twenty_steps_of_adamw_come_to_pytorchs_weights)
{
    pytorch p = pytorch_open_file("tests/golden/sequences.safetensors", cases[_i].name, TG_F64);
    stack s = stack_new(_i, TG_F64);
    pytorch_load(&p, s.set, "*", true);
    tg_optimizer *adamw = tg_optimizer_new(s.set, &(tg_optimizer_config){.lr = 0.01, .weight_decay = 0.1});
    for (int step = 0; step < 20; step++) {
        tg_tape_reset(tape);
        const tg_tensor padding = cases[_i].padded ? pytorch_tensor(&p, "padding") : TG_NONE,
                        y = stack_forward(&s, cases[_i].cell, pytorch_tensor(&p, "input"), padding),
                        error = tg_sub(y, pytorch_tensor(&p, "cotangent"));
        ck_assert_msg(tg_backward(tg_mean(tg_square(error))), "%s", tg_tape_error(tape));
        ck_assert(tg_optimizer_step(adamw));
    }
    for (int i = 0; i < tg_parameters_count(s.set); i++) {
        char name[TG_NAME_SIZE + 16];
        const tg_parameter *parameter = tg_parameters_at(s.set, i);
        snprintf(name, sizeof name, "trained.%s", parameter->name);
        pytorch_assert(&p, name, parameter->data, tg_shape_size(&parameter->shape));
    }
    tg_optimizer_free(adamw);
    tg_parameters_free(s.set);
    pytorch_close(&p);
}
END_TEST

/* ---- through 20 steps ---- */

static tg_tensor unrolled(tg_tape *on, const tg_tensor *x, int count, void *layer)
{
    (void)on, (void)count;
    return tg_sum(tg_square(tg_recurrent_forward(layer, x[0], TG_NONE, NULL)));
}

START_TEST(gradients_through_twenty_steps_are_differences)
{
    stack s = {.set = tg_parameters_new(TG_F64)};
    tg_recurrent layer = tg_recurrent_add(
        s.set, "rnn", 0,
        &(tg_recurrent_config){.cell = (tg_cell)(_i % 3), .inputs = 2, .hidden = 3, .segment = _i < 3 ? 0 : 4});
    const tg_rng rng = tg_rng_seed(3);
    ck_assert(tg_parameters_initialize(s.set, TG_INIT_DEFAULT, 1, &rng));
    double x[2 * 20 * 2];
    tg_rng numbers = tg_rng_seed(4);
    for (size_t i = 0; i < sizeof x / sizeof x[0]; i++)
        x[i] = tg_rng_normal(&numbers);
    const tg_gradcheck_input input = {.shape = TG_SHAPE(2, 20, 2), .data = x};
    const tg_gradcheck_result result =
        tg_gradcheck_parameters(unrolled, &layer, &input, 1, s.set, &(tg_gradcheck_options){.order = 2});
    ck_assert_msg(result.passed && result.comparisons > 0, "%s", result.where);
    ck_assert_double_lt(result.relative, 1e-7);
    tg_parameters_free(s.set);
}
END_TEST

/* The gradients of an LSTM and the tape's memory, for so many sequences. */
static void *gradients_in_segments(int64_t batch, int64_t segment, size_t *bytes, double *kept)
{
    enum { POSITIONS = 160 };
    tg_parameters *set = tg_parameters_new(TG_F32);
    const tg_recurrent lstm = tg_recurrent_add(
        set, "rnn", 0, &(tg_recurrent_config){.cell = TG_LSTM, .inputs = 8, .hidden = 32, .segment = segment});
    const tg_rng rng = tg_rng_seed(3);
    ck_assert(tg_parameters_initialize(set, TG_INIT_DEFAULT, 1, &rng));
    tg_tape *own = tg_tape_new();
    tg_rng numbers = tg_rng_seed(4);
    float *x = malloc((size_t)batch * POSITIONS * 8 * sizeof *x);
    for (int64_t i = 0; i < batch * POSITIONS * 8; i++)
        x[i] = (float)tg_rng_normal(&numbers);
    const tg_tensor y =
        tg_recurrent_forward(&lstm, tg_constant(own, TG_F32, x, TG_SHAPE(batch, POSITIONS, 8)), TG_NONE, NULL);
    ck_assert_msg(tg_backward(tg_sum(tg_square(y))), "%s", tg_tape_error(own));
    *kept = (double)tg_tape_count(own).bytes_held;
    *bytes = tg_parameters_bytes(set);
    void *gradients = malloc(*bytes);
    memcpy(gradients, tg_parameters_gradients(set), *bytes);
    tg_tape_free(own);
    tg_parameters_free(set);
    free(x);
    return gradients;
}

/* What is recomputed segment by segment is bit-identical, and takes less memory. Of 4 sequences the products for
 * weight_hh are joined into one, without segments; of 16 they are added. */
START_TEST(segments_change_memory_and_nothing_else)
{
    for (int64_t batch = 4; batch <= 16; batch *= 4) {
        size_t bytes;
        double kept[2];
        void *whole = gradients_in_segments(batch, 0, &bytes, &kept[0]),
             *segments = gradients_in_segments(batch, 8, &bytes, &kept[1]);
        ck_assert_mem_eq(whole, segments, bytes);
        ck_assert_msg(batch == 4 || kept[1] < 0.9 * kept[0], "%g of %g", kept[1], kept[0]);
        free(whole);
        free(segments);
    }
}
END_TEST

/* ---- a model of text, whose products are once for each letter ---- */

/* The first layers of the model, one after the other. */
static tg_tensor text_by_layers(const tg_char_rnn *net, tg_cell cell, tg_tensor ids)
{
    tg_parameters *set = tg_model_parameters(net);
    const tg_recurrent layer = {.config = {.cell = cell, .inputs = 6, .hidden = 5},
                                .weight_ih = tg_parameters_find(set, "rnn.weight_ih_l0"),
                                .weight_hh = tg_parameters_find(set, "rnn.weight_hh_l0"),
                                .bias_ih = tg_parameters_find(set, "rnn.bias_ih_l0"),
                                .bias_hh = tg_parameters_find(set, "rnn.bias_hh_l0")};
    const tg_tensor table = tg_parameter_tensor(tape, tg_parameters_find(set, "embedding.weight")),
                    x = tg_recurrent_forward(&layer, tg_embedding(table, ids), TG_NONE, NULL);
    return tg_linear(x, tg_parameter_tensor(tape, tg_parameters_find(set, "output.weight")),
                     tg_parameter_tensor(tape, tg_parameters_find(set, "output.bias")));
}

/* True if a linear layer has a result of so many rows. */
static bool has_linear_rows(int rows)
{
    static char table[1 << 16], line[64];
    tg_tape_table(tape, table, sizeof table);
    snprintf(line, sizeof line, " linear               f64[%d, ", rows);
    return strstr(table, line);
}

START_TEST(a_model_of_text_is_that_of_its_layers)
{
    enum { LETTERS = 7, BATCH = 3, POSITIONS = 9, SIZE = 1000 };
    const tg_rng rng = tg_rng_seed(5);
    tg_char_rnn *net = tg_char_rnn_new(
        &rng,
        &(tg_char_rnn_config){.vocabulary = LETTERS, .cell = (tg_cell)_i, .embedding = 6, .width = 5, .dtype = TG_F64});
    tg_parameters *set = tg_model_parameters(net);
    const size_t count = tg_parameters_bytes(set) / sizeof(double);
    int32_t ids[BATCH * POSITIONS];
    for (int i = 0; i < BATCH * POSITIONS; i++)
        ids[i] = i * i % 5; /* two letters do not occur */
    double logits[2][BATCH * POSITIONS * LETTERS], gradients[2][SIZE];
    ck_assert_uint_lt(count, SIZE);
    for (int layers = 0; layers < 2; layers++) {
        tg_tape_reset(tape);
        const tg_tensor x = tg_borrow(tape, TG_I32, ids, TG_SHAPE(BATCH, POSITIONS)),
                        y = layers ? text_by_layers(net, (tg_cell)_i, x) : tg_char_rnn_forward(net, x, NULL);
        ck_assert(tg_ok(y));
        ck_assert_int_eq(has_linear_rows(LETTERS), !layers);
        memcpy(logits[layers], tg_data(y), sizeof logits[0]);
        ck_assert_msg(tg_backward(tg_sum(tg_square(y))), "%s", tg_tape_error(tape));
        memcpy(gradients[layers], tg_parameters_gradients(set), count * sizeof(double));
        tg_parameters_clear_gradients(set);
    }
    ck_assert_mem_eq(logits[0], logits[1], sizeof logits[0]);
    for (size_t i = 0; i < count; i++)
        ck_assert_double_eq_tol(gradients[0][i], gradients[1][i], 1e-13 * (1 + fabs(gradients[1][i])));
    tg_model_free(net);
}
END_TEST

/* ---- the cell as one operation ---- */

/* The same of operations: h' and c', packed. */
static tg_tensor cell_of_operations(tg_tensor x, tg_tensor h, tg_tensor c)
{
    tg_tensor gate[4];
    tg_split(tg_add(x, h), -1, 4, gate);
    const tg_tensor i = tg_sigmoid(gate[0]), f = tg_sigmoid(gate[1]), g = tg_tanh(gate[2]), o = tg_sigmoid(gate[3]),
                    input = tg_mul(i, g), after = tg_mul_add(f, c, input), next = tg_mul(o, tg_tanh(after));
    return tg_stack((const tg_tensor[]){next, after}, 2, 0);
}

/* Rows longer than the pieces in which they are computed, on one thread and on several. */
START_TEST(the_cell_is_bit_identical_to_its_operations)
{
    enum { ROWS = 5, N = 300 };
    static const tg_dtype dtypes[] = {TG_F32, TG_F64};
    for (int way = 0; way < 4; way++) {
        const tg_dtype dtype = dtypes[way % 2];
        tg_set_threads(way < 2 ? 1 : 3);
        tg_tensor in[3] = {drawn(dtype, TG_SHAPE(ROWS, 4 * N)), drawn(dtype, TG_SHAPE(ROWS, 4 * N)),
                           drawn(dtype, TG_SHAPE(ROWS, N))},
                  y[2] = {tg_lstm_cell(in[0], in[1], in[2]), cell_of_operations(in[0], in[1], in[2])},
                  cotangent = drawn(dtype, TG_SHAPE(2, ROWS, N)), gradients[2][3];
        for (int k = 0; k < 2; k++)
            ck_assert_msg(tg_grad(&y[k], 1, in, 3, &cotangent, false, gradients[k]), "%s", tg_tape_error(tape));
        ck_assert_mem_eq(tg_data(y[0]), tg_data(y[1]), 2 * ROWS * N * tg_dtype_size(dtype));
        for (int k = 0; k < 3; k++)
            ck_assert_mem_eq(tg_data(gradients[0][k]), tg_data(gradients[1][k]),
                             (size_t)tg_size(in[k]) * tg_dtype_size(dtype));
        tg_tape_reset(tape);
    }
    tg_set_threads(1);
}
END_TEST

/* ---- refusals ---- */

START_TEST(what_does_not_fit_is_an_error)
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    const tg_recurrent_config config = {.cell = TG_LSTM, .inputs = 3, .hidden = 4};
    const tg_recurrent lstm = tg_recurrent_add(set, "rnn", 0, &config), none = {0},
                       wrong = tg_recurrent_add(set, "x", 0, &(tg_recurrent_config){.cell = (tg_cell)7, .inputs = 1});
    const tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 5, 3));
    ck_assert_ptr_null(wrong.weight_ih);
    ck_assert(!tg_ok(tg_recurrent_forward(&none, x, TG_NONE, NULL)));
    expect_error("the layer has no weight");
    ck_assert(!tg_ok(tg_recurrent_forward(NULL, x, TG_NONE, NULL)));
    expect_error("the layer has no weight");
    ck_assert(!tg_ok(tg_recurrent_forward(&lstm, drawn(TG_F64, TG_SHAPE(2, 5, 4)), TG_NONE, NULL)));
    expect_error("tg_recurrent_forward: expected x [batch, positions, 3]");
    ck_assert(
        !tg_ok(tg_recurrent_forward(&lstm, drawn(TG_F64, TG_SHAPE(2, 5, 3)), drawn(TG_F64, TG_SHAPE(5, 2)), NULL)));
    expect_error("expected padding [2, 5]");
    ck_assert(!tg_ok(tg_recurrent_forward(&lstm, drawn(TG_F64, TG_SHAPE(2, 0, 3)), TG_NONE, NULL)));
    expect_error("x has no positions");
    ck_assert(
        !tg_ok(tg_recurrent_step(&lstm, drawn(TG_F64, TG_SHAPE(2, 4)), (tg_recurrent_state){TG_NONE, TG_NONE}).h));
    expect_error("tg_recurrent_step: expected x [batch, 3]");
    ck_assert(!tg_ok(tg_recurrent_forward(&lstm, TG_NONE, TG_NONE, NULL)));
    ck_assert_ptr_null(tg_cell_name((tg_cell)3));
    ck_assert_str_eq(tg_cell_name(TG_GRU), "gru");
    tg_parameters_free(set);
}
END_TEST

Suite *recurrent_suite(void)
{
    Suite *suite = suite_create("recurrent");
    TCase *tests = tcase_create("recurrent");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_loop_test(tests, a_recurrent_layer_is_that_of_pytorch, 0, CASES);
    tcase_add_loop_test(tests, twenty_steps_of_adamw_come_to_pytorchs_weights, 0, CASES);
    tcase_add_loop_test(tests, gradients_through_twenty_steps_are_differences, 0, 6);
    tcase_add_loop_test(tests, a_model_of_text_is_that_of_its_layers, 0, 3);
    tcase_add_test(tests, the_cell_is_bit_identical_to_its_operations);
    tcase_add_test(tests, segments_change_memory_and_nothing_else);
    tcase_add_test(tests, what_does_not_fit_is_an_error);
    suite_add_tcase(suite, tests);
    return suite;
}
