/* Parameters that change while a step is under way: a pass gives the gradient at the values that the forward pass read,
 * or an error that names the parameter. Also the cost of a pass when the tape is never reset. */
#include "tests/support/processor_time.h"
#include "tests/support/seeds.h"
#include "tests/support/temporary_files.h"
#include "tests/support/tensors.h"

#include <math.h>
#include <string.h>

Suite *changes_suite(void);

/* ---- one change ---- */

enum { SIZE = 3 };

/* A set of `w` and `other`, both [3, 1], with what writes them. */
typedef struct fixture {
    tg_parameters *set;
    tg_parameter *w, *other;
    double kept[2 * SIZE];
} fixture;

static fixture f;

static void make_set(void)
{
    start_tape();
    temporary_folder_make();
    f.set = tg_parameters_new(TG_F64);
    f.w = tg_parameters_add(f.set, "w", TG_SHAPE(SIZE, 1), true);
    f.other = tg_parameters_add(f.set, "other", TG_SHAPE(SIZE, 1), true);
    tg_parameter_fill(f.w, 3);
    tg_parameter_fill(f.other, 5);
}

static void free_set(void)
{
    tg_parameters_free(f.set);
    temporary_folder_remove();
    finish_tape();
}

static tg_tensor product(void)
{
    return tg_sum(tg_mul(tg_parameter_tensor(tape, f.w), tg_parameter_tensor(tape, f.other)));
}

/* Memory is reused, so that a tape finds another parameter where it read one. */
START_TEST(a_parameter_that_is_freed_while_a_tape_reads_it_is_said_to_be)
{
    int reused = 0;
    for (int tries = 0; tries < 20 && !reused; tries++) {
        tg_tape_reset(tape);
        tg_parameters *set = tg_parameters_new(TG_F64);
        tg_parameter *first = tg_parameters_add(set, "first", TG_SHAPE(SIZE), true);
        const uintptr_t place = (uintptr_t)first;
        tg_tensor loss = tg_sum(tg_square(tg_parameter_tensor(tape, first)));
        ck_assert(tg_ok(loss));
        tg_parameters_free(set);
        set = tg_parameters_new(TG_F64);
        reused = (uintptr_t)tg_parameters_add(set, "second", TG_SHAPE(SIZE), true) == place;
        if (reused) {
            ck_assert(!tg_ok(tg_parameter_tensor(tape, tg_parameters_at(set, 0))));
            ck_assert_ptr_nonnull(strstr(tg_tape_error(tape), "read has been freed, and second is now in its memory"));
            tg_tape_reset(tape);
            tg_tape_clear_error(tape);
            ck_assert(tg_backward(tg_sum(tg_square(tg_parameter_tensor(tape, tg_parameters_at(set, 0))))));
        }
        tg_parameters_free(set);
    }
}
END_TEST

/* On a tape of its own. */
static bool compute_gradients(void *unused, double *loss)
{
    tg_tape *own = tg_tape_new();
    tg_tensor sum = TG_NONE;
    (void)unused;
    for (int i = 0; i < 2; i++) {
        tg_tensor square = tg_sum(tg_square(tg_parameter_tensor(own, i ? f.other : f.w)));
        sum = i ? tg_add(sum, square) : square;
    }
    const bool fine = tg_backward(sum);
    *loss = tg_item(sum);
    tg_tape_free(own);
    return fine;
}

static void put(void)
{
    tg_parameter_put(f.w, 1, 7);
}

static void fill(void)
{
    tg_parameter_fill(f.w, 7);
}

static void fill_normal(void)
{
    tg_rng rng = tg_rng_seed(1);
    tg_parameter_fill_normal(f.w, 1, &rng);
}

static void initialize(void)
{
    tg_rng rng = tg_rng_seed(1);
    ck_assert(tg_initialize(f.w, TG_INIT_XAVIER_UNIFORM, 1, &rng));
}

static void copy(void)
{
    tg_parameters *more = tg_parameters_new(TG_F64);
    tg_parameters_add(more, "w", TG_SHAPE(SIZE, 1), true);
    ck_assert_int_eq(tg_parameters_copy(f.set, more), 1);
    tg_parameters_free(more);
}

static void swap(void)
{
    tg_parameters_swap(f.set, f.kept);
}

static void write_one(void)
{
    ((double *)f.w->data)[0] = 7;
    tg_parameter_changed(f.w);
}

static void write_all(void)
{
    memset(tg_parameters_values(f.set), 0, tg_parameters_bytes(f.set));
    tg_parameters_changed(f.set);
}

static void optimize(void)
{
    double loss;
    for (int kind = 0; tg_optimizer_name((tg_optimizer_kind)kind); kind++) {
        tg_optimizer *optimizer = tg_optimizer_new(f.set, &(tg_optimizer_config){.kind = (tg_optimizer_kind)kind});
        const int64_t before = f.w->version;
        ck_assert(compute_gradients(NULL, &loss) && tg_optimizer_step(optimizer));
        ck_assert_int_gt(f.w->version, before);
        tg_optimizer_free(optimizer);
    }
}

static void minimize(void)
{
    tg_lbfgs *lbfgs = tg_lbfgs_new(f.set, NULL);
    tg_lbfgs_step(lbfgs, compute_gradients, NULL);
    tg_lbfgs_free(lbfgs);
}

static void average(void)
{
    tg_ema *ema = tg_ema_new(f.set, NULL);
    tg_parameter_fill(tg_parameters_at(tg_ema_parameters(ema), 0), 1);
    ck_assert(tg_ema_swap(ema) && tg_parameter_get(f.w, 0) == 1);
    tg_ema_free(ema);
}

static void load(void)
{
    tg_error error;
    ck_assert(tg_parameters_save(f.set, temporary_path("set"), NULL, 0, &error));
    ck_assert_msg(tg_parameters_load(f.set, temporary_path("set"), NULL, &error), "%s", error.text);
}

static void restore(void)
{
    tg_error error;
    tg_training_state state = {.parameters = f.set};
    ck_assert(tg_training_state_save(&state, temporary_path("state"), NULL, 0, &error));
    ck_assert_msg(tg_training_state_load(&state, temporary_path("state"), &error), "%s", error.text);
}

static void (*const writers[])(void) = {put,       fill,     fill_normal, initialize, copy, swap,   write_one,
                                        write_all, optimize, minimize,    average,    load, restore};

START_TEST(a_pass_after_any_change_of_what_it_reads_is_an_error_with_the_way_out)
{
    tg_tensor loss = product();
    writers[_i]();
    f.other->has_gradient = false;
    ck_assert(!tg_backward(loss));
    expect_error("has changed since the forward pass read it");
    tg_tape_reset(tape);
    loss = product();
    ck_assert(tg_backward(loss));
    ck_assert_double_eq(((double *)f.other->gradient)[1], tg_parameter_get(f.w, 1));
}
END_TEST

START_TEST(so_are_an_operation_and_the_next_forward_pass_of_the_same_step)
{
    tg_tensor w = tg_parameter_tensor(tape, f.w), view = tg_reshape(w, TG_SHAPE(SIZE)), square = tg_square(w);
    fill();
    ck_assert(tg_ok(tg_exp(square))); /* which does not read it */
    ck_assert(!tg_ok(tg_exp(view)));
    expect_error("call tg_tape_reset and compute the forward pass again");
    ck_assert(!tg_ok(tg_parameter_tensor(tape, f.w)));
    expect_error("parameter w has changed");
    ck_assert(tg_ok(tg_parameter_tensor(tape, f.other)));
}
END_TEST

START_TEST(a_change_of_what_a_pass_does_not_read_is_none_of_its_business)
{
    tg_optimizer *optimizer = tg_optimizer_new(f.set, NULL);
    double loss;
    tg_tensor product_of_both = product(), sum = tg_sum(tg_add_scalar(tg_parameter_tensor(tape, f.w), 1));
    tg_optimizer_group(optimizer, "*", 0, 0);
    ck_assert(compute_gradients(NULL, &loss) && tg_optimizer_step(optimizer)); /* which moves nothing */
    ck_assert(tg_backward(product_of_both));
    fill();
    ck_assert(tg_backward(sum)); /* whose derivative is 1 */
    tg_tape_reset(tape);
    sum = product();
    fill();
    ck_assert(tg_replay(tape)); /* computes it with the new values, */
    ck_assert_double_eq(tg_item(sum), 7 * 5 * SIZE);
    ck_assert(tg_backward(sum)); /* which is the forward pass of this one */
    ck_assert_double_eq(((double *)f.other->gradient)[0], 7 + 3);
    tg_optimizer_free(optimizer);
}
END_TEST

START_TEST(a_constant_that_tg_set_overwrites_is_read_by_a_replay_only)
{
    const double one[2] = {1, 2}, other[2] = {10, 20};
    tg_tensor x = tg_variable(tape, TG_F64, one, TG_SHAPE(2));
    ck_assert(tg_set(x, TG_F64, other, TG_SHAPE(2))); /* nothing has read it */
    tg_tensor loss = tg_sum(tg_square(tg_reshape(x, TG_SHAPE(2, 1))));
    ck_assert(tg_backward(loss));
    ck_assert(tg_set(x, TG_F64, one, TG_SHAPE(2)));
    ck_assert(!tg_backward(loss));
    expect_error("has got other numbers by tg_set since the forward pass read it: call tg_replay");
    ck_assert(!tg_ok(tg_exp(x)));
    expect_error("by tg_set");
    ck_assert(tg_replay(tape) && tg_ok(tg_exp(x)));
    ck_assert_double_eq(tg_item(loss), 5);
    ck_assert_double_eq(tg_at(tg_gradient(x), 1), 4);
    tg_tape_reset(tape);
    x = tg_variable(tape, TG_F64, one, TG_SHAPE(2));
    ck_assert(tg_backward(tg_sum(tg_square(x))));
}
END_TEST

/* ---- random programs ---- */

/* A program has losses over nodes over parameters, and computes them, differentiates them, moves parameters and replays
 * in any order. After each pass the gradients are those of a fresh tape, whose parameters have the values that this
 * step read first. */
enum { VECTORS = 3, PARAMETERS = 4, SETS = 3, NODES = 10, MOST_LOSSES = 4, ACTIONS = 24, PASSES = ACTIONS, KINDS = 8 };

typedef struct node {
    uint32_t kind, a, b; /* operands: a vector, or an earlier node */
} node;

typedef struct losses {
    node node[NODES];
    uint32_t count, of[MOST_LOSSES];
    bool penalty[MOST_LOSSES]; /* adds the squared norm of the gradient by a vector */
} losses;

/* Parameters 0 to 2 are vectors, 3 is a matrix. */
static const int set_of[PARAMETERS] = {0, 1, 2, 0};

typedef struct side {
    const losses *plan;
    tg_tape *tape;
    tg_parameters *set[SETS];
    tg_parameter *parameter[PARAMETERS];
    tg_tensor node[NODES], loss[MOST_LOSSES];
    /* Of the tape under test: what this step has read, and what has been written since. */
    bool is_fresh, placed[PARAMETERS], touched[PARAMETERS];
    double read[PARAMETERS][SIZE * SIZE];
} side;

static size_t bytes_of(int p)
{
    return (p < VECTORS ? SIZE : SIZE * SIZE) * sizeof(double);
}

static void make_side(side *s, const losses *plan, bool is_fresh)
{
    static const char *const names[PARAMETERS] = {"first", "second", "third", "matrix"};
    *s = (side){.plan = plan, .is_fresh = is_fresh};
    for (int i = 0; i < SETS; i++)
        s->set[i] = tg_parameters_new(TG_F64);
    for (int p = 0; p < PARAMETERS; p++)
        s->parameter[p] =
            tg_parameters_add(s->set[set_of[p]], names[p], p < VECTORS ? TG_SHAPE(SIZE) : TG_SHAPE(SIZE, SIZE), true);
    for (int p = 0; p < PARAMETERS; p++)
        for (int i = 0; i < SIZE * SIZE; i++)
            tg_parameter_put(s->parameter[p], i, sin(1 + 5 * p + i));
}

static void free_side(side *s)
{
    tg_tape_free(s->tape);
    for (int i = 0; i < SETS; i++)
        tg_parameters_free(s->set[i]);
}

static tg_tensor tensor_of(side *s, int p)
{
    if (!s->is_fresh && !s->placed[p]) {
        memcpy(s->read[p], s->parameter[p]->data, bytes_of(p));
        s->placed[p] = true;
        s->touched[p] = false;
    }
    return tg_parameter_tensor(s->tape, s->parameter[p]);
}

static tg_tensor bounded_product(tg_tape *t, const tg_tensor *in, int count, void *user)
{
    (void)t;
    (void)count;
    (void)user;
    return tg_tanh(tg_mul(in[0], in[1]));
}

/* The value of a vector or node, computed when it is first needed in the step. */
static tg_tensor value_of(side *s, uint32_t index)
{
    if (index < VECTORS)
        return tensor_of(s, (int)index);
    const uint32_t i = index - VECTORS;
    if (tg_ok(s->node[i]))
        return s->node[i];
    const node *n = &s->plan->node[i];
    const tg_tensor in[2] = {value_of(s, n->a), value_of(s, n->b)};
    switch (n->kind) {
    case 0:
        s->node[i] = tg_add(in[0], in[1]);
        break;
    case 1:
        s->node[i] = tg_mul(in[0], in[1]);
        break;
    case 2:
        s->node[i] = tg_tanh(in[0]);
        break;
    case 3:
        s->node[i] = tg_sub(tg_square(in[0]), in[1]);
        break;
    case 4:
        s->node[i] = tg_mul(tg_reshape(tg_reshape(in[0], TG_SHAPE(1, SIZE)), TG_SHAPE(SIZE)), in[1]);
        break;
    case 5:
        s->node[i] = tg_checkpoint(bounded_product, in, 2, NULL);
        break;
    case 6:
        s->node[i] = tg_div(in[0], tg_add_scalar(tg_square(in[1]), 1));
        break;
    default:
        s->node[i] = tg_reshape(tg_matmul(tg_reshape(in[0], TG_SHAPE(1, SIZE)), tensor_of(s, VECTORS)), TG_SHAPE(SIZE));
    }
    return s->node[i];
}

static bool forward(side *s, uint32_t loss)
{
    if (!tg_ok(s->loss[loss]))
        s->loss[loss] = tg_sum(tg_tanh(value_of(s, s->plan->of[loss])));
    return tg_ok(s->loss[loss]);
}

static bool differentiate(side *s, uint32_t loss)
{
    if (!forward(s, loss) || !s->plan->penalty[loss])
        return tg_backward(s->loss[loss]);
    tg_tensor w = tensor_of(s, (int)loss % VECTORS), gradient;
    return tg_grad(&s->loss[loss], 1, &w, 1, NULL, true, &gradient) &&
           tg_backward(tg_add(s->loss[loss], tg_sum(tg_square(gradient))));
}

/* Adds the pass's gradient at the values that the step read. */
static void differentiate_fresh(side *fresh, const side *s, uint32_t loss)
{
    for (int p = 0; p < PARAMETERS; p++)
        if (s->placed[p]) {
            memcpy(fresh->parameter[p]->data, s->read[p], bytes_of(p));
            tg_parameter_changed(fresh->parameter[p]);
        }
    fresh->tape = tg_tape_new();
    ck_assert_msg(differentiate(fresh, loss), "%s", tg_tape_error(fresh->tape));
    tg_tape_free(fresh->tape);
    fresh->tape = NULL;
    memset(fresh->node, 0, sizeof fresh->node);
    memset(fresh->loss, 0, sizeof fresh->loss);
}

static bool gradients_agree(const side *s, const side *fresh)
{
    for (int p = 0; p < PARAMETERS; p++) {
        const tg_parameter *a = s->parameter[p], *b = fresh->parameter[p];
        if (a->has_gradient != b->has_gradient)
            return false;
        for (size_t i = 0; a->has_gradient && i < bytes_of(p) / sizeof(double); i++) {
            const double x = ((const double *)a->gradient)[i], y = ((const double *)b->gradient)[i];
            if (!(fabs(x - y) <= 1e-9 * (1 + fabs(y))))
                return false;
        }
    }
    return true;
}

/* What writes the parameters of one set; which of them is noted. */
static void write(side *s, tg_rng *rng, uint32_t which)
{
    const int p = (int)tg_rng_below(rng, PARAMETERS), i = set_of[p];
    tg_parameters *set = s->set[i];
    tg_parameter *parameter = s->parameter[p];
    double block[2 * SIZE * SIZE];
    const bool whole = which >= 4;
    for (int k = 0; k < 2 * SIZE * SIZE; k++)
        block[k] = tg_rng_normal(rng);
    switch (which) {
    case 0:
        tg_parameter_put(parameter, 1, block[0]);
        break;
    case 1:
        tg_parameter_fill(parameter, block[0]);
        break;
    case 2:
        tg_parameter_fill_normal(parameter, 1, rng);
        break;
    case 3:
        memcpy(parameter->data, block, bytes_of(p));
        tg_parameter_changed(parameter);
        break;
    case 4:
        tg_parameters_swap(set, block);
        break;
    default:
        memcpy(tg_parameters_values(set), block, tg_parameters_bytes(set));
        tg_parameters_changed(set);
    }
    for (int other = 0; other < PARAMETERS; other++)
        s->touched[other] |= whole ? set_of[other] == i : other == p;
}

static void begin_step(side *s)
{
    tg_tape_reset(s->tape);
    memset(s->node, 0, sizeof s->node);
    memset(s->loss, 0, sizeof s->loss);
    memset(s->placed, 0, sizeof s->placed);
}

static void draw_plan(losses *plan, tg_rng *rng)
{
    for (uint32_t i = 0; i < NODES; i++)
        plan->node[i] = (node){(uint32_t)tg_rng_below(rng, KINDS), (uint32_t)tg_rng_below(rng, VECTORS + i),
                               (uint32_t)tg_rng_below(rng, VECTORS + i)};
    plan->count = 2 + (uint32_t)tg_rng_below(rng, MOST_LOSSES - 1);
    for (uint32_t k = 0; k < plan->count; k++) {
        plan->of[k] = (uint32_t)tg_rng_below(rng, VECTORS + NODES);
        plan->penalty[k] = tg_rng_below(rng, 4) == 0;
    }
}

typedef struct tally {
    int right, refused, replayed;
} tally;

/* After a refusal: it names a parameter that was written after the step had read it. */
static void begin_again(side *s, side *fresh, tally *score)
{
    const char *error = tg_tape_error(s->tape);
    bool is_just = false;
    for (int p = 0; p < PARAMETERS; p++)
        is_just |= s->placed[p] && s->touched[p] && strstr(error, s->parameter[p]->name);
    ck_assert_msg(is_just && strstr(error, "has changed since the forward pass read it"), "%s", error);
    score->refused++;
    tg_tape_clear_error(s->tape);
    for (int i = 0; i < SETS; i++) {
        tg_parameters_clear_gradients(s->set[i]);
        tg_parameters_clear_gradients(fresh->set[i]);
    }
    begin_step(s);
}

static void run_program(uint64_t seed, tally *score)
{
    tg_rng rng = tg_rng_seed(seed);
    losses plan;
    side s, fresh;
    tg_optimizer *optimizer[SETS];
    uint32_t passes[PASSES];
    int count = 0;
    draw_plan(&plan, &rng);
    make_side(&s, &plan, false);
    make_side(&fresh, &plan, true);
    s.tape = tg_tape_new();
    for (int i = 0; i < SETS; i++)
        optimizer[i] = tg_optimizer_new(
            s.set[i], &(tg_optimizer_config){.kind = tg_rng_below(&rng, 2) ? TG_SGD : TG_ADAMW, .lr = 0.1});
    const bool freezes = tg_rng_below(&rng, 3) == 0;
    if (freezes)
        tg_optimizer_group(optimizer[0], "first", 0, 0);
    for (int action = 0; action < ACTIONS; action++) {
        const uint32_t what = (uint32_t)tg_rng_below(&rng, 16), loss = (uint32_t)tg_rng_below(&rng, plan.count);
        const int i = (int)tg_rng_below(&rng, SETS);
        if (what < 4)
            forward(&s, loss);
        else if (what < 10 && differentiate(&s, loss)) {
            passes[count++] = loss;
            differentiate_fresh(&fresh, &s, loss);
            score->right++;
        } else if (what == 10 || what == 11) {
            if (!tg_parameters_have_gradient(s.set[i]))
                continue;
            ck_assert_msg(tg_optimizer_step(optimizer[i]), "%s", tg_optimizer_error(optimizer[i]));
            tg_parameters_clear_gradients(fresh.set[i]);
            for (int p = 0; p < PARAMETERS; p++)
                s.touched[p] |= set_of[p] == i && !(freezes && p == 0);
        } else if (what == 12)
            write(&s, &rng, (uint32_t)tg_rng_below(&rng, 6));
        else if (what == 13) {
            begin_step(&s);
            count = 0;
        } else if (what == 14 && count > 0) {
            ck_assert_msg(tg_replay(s.tape), "seed %d: %s", (int)seed, tg_tape_error(s.tape));
            for (int p = 0; p < PARAMETERS; p++)
                memcpy(s.read[p], s.parameter[p]->data, bytes_of(p));
            memset(s.touched, 0, sizeof s.touched);
            for (int k = 0; k < count; k++)
                differentiate_fresh(&fresh, &s, passes[k]);
            score->replayed++;
        }
        if (tg_tape_error(s.tape)) {
            begin_again(&s, &fresh, score);
            count = 0;
        }
        ck_assert_msg(gradients_agree(&s, &fresh), "seed %d, action %d: a gradient is wrong", (int)seed, action);
    }
    for (int i = 0; i < SETS; i++)
        tg_optimizer_free(optimizer[i]);
    free_side(&s);
    free_side(&fresh);
}

START_TEST(random_programs_have_the_right_gradient_or_an_error)
{
    const int programs = seeds(400, 20000);
    tally score = {0};
    for (int seed = 0; seed < programs; seed++)
        run_program((uint64_t)seed, &score);
    ck_assert_int_gt(score.right, 2 * programs);
    ck_assert_int_gt(score.refused, programs / 2);
    ck_assert_int_gt(score.replayed, programs / 4);
}
END_TEST

/* ---- after a refusal ---- */

/* One step whose parameters change before its pass, if `changes`; the error is cleared, and the step continues. */
typedef struct after_refusal {
    bool refused, has_gradient, other_has_gradient;
    double square[SIZE], relu[SIZE];
    const char *error;
} after_refusal;

static after_refusal continue_after(tg_tape *on, double k, bool by_input, bool changes)
{
    const double data[SIZE] = {k, 2 * k, 3 * k};
    after_refusal result = {0};
    tg_tape_reset(on);
    tg_tensor x = tg_constant(on, TG_F64, data, TG_SHAPE(SIZE, 1)),
              v = tg_variable(on, TG_F64, data, TG_SHAPE(SIZE, 1)), w = tg_parameter_tensor(on, f.w), d = {0};
    tg_tensor inner = tg_tanh(tg_mul(w, tg_tanh(v))), outer = tg_add_scalar(tg_parameter_tensor(on, f.other), 1);
    tg_tensor q = tg_sum(tg_mul(inner, outer)); /* a pass reaches `other` before it reads what has changed */
    if (changes)
        fill();
    const bool fine = by_input ? tg_grad(&q, 1, &v, 1, NULL, false, &d) : tg_backward(q);
    result.refused = !fine && !tg_ok(d) && tg_tape_error(on) && strstr(tg_tape_error(on), "has changed");
    result.other_has_gradient = f.other->has_gradient;
    tg_tape_clear_error(on);
    result.has_gradient = tg_ok(tg_gradient(v));
    tg_tensor square = tg_mul(x, x), relu = tg_relu(tg_mul_scalar(x, 10));
    ck_assert(!tg_tape_error(on) && tg_read(square, TG_F64, result.square, SIZE) &&
              tg_read(relu, TG_F64, result.relu, SIZE));
    return result;
}

START_TEST(a_step_continues_after_a_refused_pass_as_on_a_fresh_tape)
{
    static const bool changes[] = {false, false, true, false, true, true, false, false, false, false, true};
    const bool by_input = _i;
    for (int i = 0; i < (int)(sizeof changes / sizeof *changes); i++) {
        const double k = i + 1;
        tg_tape *fresh = tg_tape_new();
        f.w->has_gradient = f.other->has_gradient = false;
        const after_refusal one = continue_after(fresh, k, by_input, changes[i]);
        f.w->has_gradient = f.other->has_gradient = false;
        const after_refusal two = continue_after(tape, k, by_input, changes[i]);
        ck_assert(one.refused == changes[i] && two.refused == changes[i]);
        ck_assert(one.has_gradient == two.has_gradient && two.has_gradient == (!by_input && !changes[i]));
        ck_assert(one.other_has_gradient == two.other_has_gradient && two.other_has_gradient == two.has_gradient);
        for (int e = 0; e < SIZE; e++) {
            ck_assert_double_eq(two.square[e], k * (e + 1) * k * (e + 1));
            ck_assert_double_eq(two.relu[e], 10 * k * (e + 1));
        }
        tg_tape_free(fresh);
    }
}
END_TEST

/* ---- a tape that is never reset ---- */

enum { STEPS = 3000, PART = STEPS / 10 };

/* Processor time of some steps of a small net, whose gradients are wanted by all variables, or by one parameter. */
static double time_of_steps(tg_parameter *frozen, bool by_input)
{
    static const double data[4][SIZE] = {{1, 2, 3}, {3, 2, 1}, {0, 1, 0}, {1, 0, 1}};
    const double before = processor_time();
    for (int i = 0; i < PART; i++) {
        tg_tensor w = tg_parameter_tensor(tape, frozen), x = tg_variable(tape, TG_F64, data, TG_SHAPE(4, SIZE));
        const tg_tensor in[2] = {tg_matmul(x, w), tg_matmul(x, w)};
        tg_tensor loss = tg_sum(tg_checkpoint(bounded_product, in, 2, NULL)), gradient;
        ck_assert(by_input ? tg_grad(&loss, 1, &w, 1, NULL, false, &gradient) : tg_backward(loss));
        if (i % 100 == 0)
            ck_assert(by_input || tg_ok(tg_gradient(x)));
    }
    return processor_time() - before;
}

START_TEST(a_pass_costs_no_more_on_a_tape_that_is_never_reset)
{
    f.w->gradient = _i == 0 ? NULL : f.w->gradient;
    double least_first = INFINITY, least_last = INFINITY;
    for (int part = 0; part < STEPS / PART; part++) {
        double *least = part < 3 ? &least_first : &least_last;
        if (part < 3 || part >= STEPS / PART - 3)
            *least = fmin(*least, time_of_steps(f.w, _i == 2));
        else
            time_of_steps(f.w, _i == 2);
    }
    ck_assert_msg(least_last < 3 * least_first + 0.01, "%d steps: %g s at first, and %g s later", PART, least_first,
                  least_last);
}
END_TEST

Suite *changes_suite(void)
{
    Suite *suite = suite_create("changes");
    TCase *tests = tcase_create("changes");
    tcase_add_checked_fixture(tests, make_set, free_set);
    tcase_add_loop_test(tests, a_pass_after_any_change_of_what_it_reads_is_an_error_with_the_way_out, 0,
                        (int)(sizeof writers / sizeof *writers));
    tcase_add_test(tests, so_are_an_operation_and_the_next_forward_pass_of_the_same_step);
    tcase_add_test(tests, a_change_of_what_a_pass_does_not_read_is_none_of_its_business);
    tcase_add_test(tests, a_parameter_that_is_freed_while_a_tape_reads_it_is_said_to_be);
    tcase_add_test(tests, a_constant_that_tg_set_overwrites_is_read_by_a_replay_only);
    tcase_add_test(tests, random_programs_have_the_right_gradient_or_an_error);
    tcase_add_loop_test(tests, a_step_continues_after_a_refused_pass_as_on_a_fresh_tape, 0, 2);
    tcase_add_loop_test(tests, a_pass_costs_no_more_on_a_tape_that_is_never_reset, 0, 3);
    suite_add_tcase(suite, tests);
    return suite;
}
