#include "tests/support/cross_program.h"

#include "autograd/memory/planner.h"
#include "tests/support/cross_failures.h"

#include <string.h>

/* ---- nodes ---- */

/* The kinds of nodes, and the weight of each in a draw. Those from BLOCK on are not plain operations. */
/* clang-format does not settle on a layout for these lists */
/* clang-format off */
#define KINDS \
    KIND(ADD, 5) KIND(MUL, 5) KIND(SUB, 3) KIND(TANH, 5) KIND(GELU, 3) KIND(MUL_SCALAR, 3) KIND(DROPOUT, 4) \
    KIND(RESHAPE, 2) KIND(RELU, 2) KIND(BY_VECTOR, 3) KIND(BY_SCALAR, 3) KIND(MATMUL, 3) KIND(LINEAR, 4) \
    KIND(SOFTMAX, 2) KIND(SUM_ROWS, 2) KIND(FLIP, 2) KIND(CONCAT, 2) KIND(TRANSPOSE, 2) KIND(BORROWED, 2) \
    KIND(FULL, 2) KIND(RANDOM, 2) KIND(NORM, 2) KIND(DIV, 2) KIND(PICK, 2) KIND(STOP, 1) KIND(NO_GRAD, 2) \
    KIND(GATE, 2) KIND(SCOPE, 2) KIND(BLOCK, 8) KIND(GRAD, 3) KIND(SLOPE, 2) KIND(CONSTANT, 2) KIND(VARIABLE, 2) KIND(HOOK_LOOK, 2) \
    KIND(HOOK_CHANGE, 2) KIND(HOOK_GRAD, 2) KIND(RETAIN, 3) KIND(FAIL, 4)
/* clang-format on */

enum kind {
#define KIND(name, weight) name,
    KINDS
#undef KIND
        KIND_COUNT
};

static const struct {
    const char *name;
    int weight;
} kinds[] = {
#define KIND(name, weight) {#name, weight},
    KINDS
#undef KIND
};

/* Kinds from PENALTY on write gradients of parameters. */
enum {
    NO_PASS,
    GRADIENTS,
    GRADIENTS_WITH_GRAPH,
    HESSIAN_PRODUCT,
    JACOBIAN,
    PENALTY,
    BACKWARD,
    BACKWARD_SCALED,
    FROM_COTANGENT
};
static const char *const passes[CROSS_PASS_KINDS] = {
    "nothing", "grad",     "grad with create_graph", "hvp",          "jacobian",
    "penalty", "backward", "backward of 3 loss",     "backward_from"};
enum { PRODUCT, MSE, CROSS_ENTROPY };

/* ---- drawing and changing ---- */

static uint8_t below(tg_rng *choices, int bound)
{
    return (uint8_t)tg_rng_below(choices, (uint64_t)bound);
}

static cross_node draw_node(tg_rng *choices, bool fails)
{
    int total = 0, kind = 0;
    for (int k = 0; k < KIND_COUNT - !fails; k++) /* FAIL is the last */
        total += kinds[k].weight;
    int left = (int)tg_rng_below(choices, (uint64_t)total);
    while ((left -= kinds[kind].weight) >= 0)
        kind++;
    return (cross_node){(uint8_t)kind, below(choices, 30), below(choices, 30), (uint8_t)(1 + below(choices, 7))};
}

void cross_draw(tg_rng *choices, cross_program *p, bool fails)
{
    *p = (cross_program){.rows = (uint8_t)(1 + below(choices, CROSS_ROWS)),
                         .count = (uint8_t)(3 + below(choices, 10)),
                         .loss = below(choices, CROSS_LOSSES)};
    for (int i = 0; i < p->count; i++)
        p->node[i] = draw_node(choices, fails);
    p->pass[0] = below(choices, 4) ? BACKWARD : below(choices, CROSS_PASS_KINDS);
    if (below(choices, 3) == 0)
        p->pass[1] = below(choices, CROSS_PASS_KINDS);
}

void cross_change(tg_rng *choices, cross_program *p, bool fails)
{
    const int at = below(choices, p->count);
    switch (below(choices, 10)) {
    case 0: /* one more */
        if (p->count < CROSS_NODES) {
            memmove(p->node + at + 1, p->node + at, (size_t)(p->count++ - at) * sizeof *p->node);
            p->node[at] = draw_node(choices, fails);
        }
        break;
    case 1:
        if (p->count < CROSS_NODES)
            p->node[p->count++] = draw_node(choices, fails);
        break;
    case 2: /* one less */
        if (p->count > 2)
            memmove(p->node + at, p->node + at + 1, (size_t)(--p->count - at) * sizeof *p->node);
        break;
    case 3:
        p->node[at] = draw_node(choices, fails);
        break;
    case 4:
        p->node[at].number = (uint8_t)(1 + below(choices, 7));
        break;
    case 5:
        p->node[at].a = below(choices, 30);
        break;
    case 6:
        p->tail = below(choices, p->count < 5 ? p->count : 5);
        p->last_pass = below(choices, 2) ? NO_PASS : below(choices, CROSS_PASS_KINDS);
        break;
    case 7:
        p->pass[below(choices, CROSS_PASSES)] = below(choices, CROSS_PASS_KINDS);
        break;
    case 8:
        p->rows = (uint8_t)(1 + below(choices, CROSS_ROWS));
        break;
    default:
        p->loss = below(choices, CROSS_LOSSES);
    }
    if (p->tail >= p->count)
        p->tail = 0;
}

int cross_kinds(void)
{
    return KIND_COUNT;
}

/* The number of a failing node says when its error is cleared: at once, by the next step, otherwise after the node. */
enum { CLEARED_AT_ONCE = 6, LEFT = 7 };

static int way_of(const cross_node *n)
{
    return n->b % CROSS_FAILURES;
}

bool cross_wants_reset(const cross_program *p)
{
    for (int i = 0; i < p->count; i++) {
        const cross_node *n = &p->node[i];
        if ((n->kind >= HOOK_LOOK && n->kind <= HOOK_GRAD && n->number == 1) ||
            (n->kind == FAIL && (n->number == LEFT || cross_failure_lasts(way_of(n), n->number))))
            return true;
    }
    return false;
}

bool cross_differentiates_checkpoints_twice(const cross_program *p)
{
    bool twice = p->last_pass == PENALTY || p->last_pass == HESSIAN_PRODUCT, checkpoints = false;
    for (int i = 0; i < CROSS_PASSES; i++)
        twice |= p->pass[i] == PENALTY || p->pass[i] == HESSIAN_PRODUCT;
    for (int i = 0; i < p->count; i++) {
        twice |= p->node[i].kind == GRAD;
        checkpoints |= p->node[i].kind == BLOCK;
    }
    return twice && checkpoints;
}

void cross_print(const cross_program *p, FILE *to)
{
    fprintf(to, "    %d rows, loss %d:", p->rows, p->loss);
    for (int i = 0; i < p->count; i++) {
        const cross_node *n = &p->node[i];
        fprintf(to, "%s %d %s(%d, %d; %d)", i == p->count - p->tail ? " | tail:" : "", i + 2,
                n->kind == FAIL ? cross_failure_name(way_of(n)) : kinds[n->kind].name, n->a, n->b, n->number);
    }
    fprintf(to, "\n    passes: %s, %s, %s; after the tail %s\n", passes[p->pass[0]], passes[p->pass[1]],
            passes[p->pass[2]], passes[p->last_pass]);
}

/* ---- running ---- */

static void watch(cross_lane *l, tg_tensor x)
{
    if (l->watched_count == CROSS_WATCHED)
        return;
    bool is_new = true;
    for (int i = 0; i < l->count - 1; i++)
        is_new &= l->result[i].value != x.value;
    l->is_read[l->watched_count] = !l->forgets || (is_new && l->watched_count % 2 == 0);
    if (l->forgets && l->is_read[l->watched_count])
        tg_keep(x);
    l->watched[l->watched_count++] = x;
}

static void watch_gradient(cross_lane *l, tg_tensor x)
{
    if (l->graded_count < CROSS_WATCHED)
        l->graded[l->graded_count++] = x;
}

/* An error is a valid outcome if it is the same wherever the program runs. */
static void note_error(cross_lane *l)
{
    if (!tg_tape_error(l->tape) || (l->errors > 0 && l->leaves_error))
        return;
    l->has_forgotten |= strstr(tg_tape_error(l->tape), "forgotten") != NULL;
    if (l->errors++ == 0)
        snprintf(l->error, sizeof l->error, "%s", tg_tape_error(l->tape));
    if (!l->leaves_error)
        tg_tape_clear_error(l->tape);
}

/* A node that fails gives its operand. */
static tg_tensor fail(cross_lane *l, const cross_node *n, tg_tensor a)
{
    l->leaves_error |= n->number == LEFT;
    const tg_tensor y = cross_fail(l, way_of(n), n->number, a);
    if (n->number == CLEARED_AT_ONCE)
        note_error(l);
    return tg_ok(y) ? y : a;
}

static tg_tensor parameter(cross_lane *l, int which)
{
    return tg_parameter_tensor(l->tape, &l->parameters->parameter[which % CROSS_PARAMETERS]);
}

static tg_shape shape_of(const cross_lane *l)
{
    return TG_SHAPE(l->program->rows, CROSS_COLUMNS);
}

static tg_tensor copied(cross_lane *l, bool variable)
{
    tg_tensor x = variable ? tg_variable(l->tape, l->dtype, &l->batch[1], shape_of(l))
                           : tg_constant(l->tape, l->dtype, &l->batch[1], shape_of(l));
    l->copied[l->copied_count++] = x;
    return x;
}

static tg_tensor look(tg_tensor cotangent, void *user)
{
    cross_lane *l = user;
    l->looks++;
    for (int64_t i = 0; i < tg_size(cotangent); i++) {
        const double number = tg_at(cotangent, i);
        uint64_t bits;
        memcpy(&bits, &number, sizeof bits);
        l->looked += bits * (uint64_t)(2 * i + 1);
    }
    return cotangent;
}

static tg_tensor change(tg_tensor cotangent, void *user)
{
    (void)user;
    return tg_add_scalar(tg_mul_scalar(cotangent, 0.5), 0.125);
}

/* Twice the cotangent, where the 2 is itself a derivative. */
static tg_tensor differentiate(tg_tensor cotangent, void *user)
{
    cross_lane *l = user;
    const double one[2] = {1, 1};
    const float one_f32[2] = {1, 1};
    tg_tensor v = tg_variable(l->tape, l->dtype, l->dtype == TG_F32 ? (const void *)one_f32 : one, TG_SCALAR), d;
    tg_tensor square = tg_sum(tg_square(v));
    return tg_grad(&square, 1, &v, 1, NULL, false, &d) ? tg_mul(cotangent, tg_stop_gradient(d)) : (tg_tensor){0};
}

static tg_tensor add_hook(cross_lane *l, const cross_node *n, tg_tensor a)
{
    static const tg_hook_function hooks[] = {look, change, differentiate};
    tg_add_hook(n->number == 1 ? parameter(l, n->b) : a, hooks[n->kind - HOOK_LOOK], l);
    return a;
}

/* d sum(tanh(a b)) / d a with create_graph: it is differentiated again by later nodes. */
static tg_tensor gradient(tg_tensor a, tg_tensor b)
{
    tg_tensor y = tg_sum(tg_tanh(tg_mul(a, b))), d;
    return tg_grad(&y, 1, &a, 1, NULL, true, &d) ? d : (tg_tensor){0};
}

/* Likewise without create_graph, so that the pass overwrites what it has read: a constant. */
static tg_tensor slope(tg_tensor a, tg_tensor b)
{
    tg_tensor y = tg_sum(tg_silu(tg_sin(tg_neg(tg_mul(a, b))))), d;
    return tg_grad(&y, 1, &a, 1, NULL, false, &d) ? tg_mul(tg_stop_gradient(d), b) : (tg_tensor){0};
}

static tg_tensor joined(tg_tensor a, tg_tensor b, int number)
{
    const int axis = number % 2;
    const int64_t size = tg_dim(a, axis);
    tg_tensor both[2] = {a, b};
    return tg_slice(tg_concat(both, 2, axis), axis, size / 2, size / 2 + size, 1);
}

static tg_tensor picked(cross_lane *l, tg_tensor a, int number)
{
    int32_t rows[CROSS_ROWS];
    for (int i = 0; i < CROSS_ROWS; i++)
        rows[i] = (i * number) % l->program->rows;
    return tg_index_select(a, 0, tg_constant(l->tape, TG_I32, rows, TG_SHAPE(l->program->rows)));
}

static tg_tensor under_no_grad(cross_lane *l, tg_tensor a, tg_tensor b)
{
    tg_no_grad_begin(l->tape);
    tg_tensor constant = tg_mul(a, b);
    tg_no_grad_end(l->tape);
    return tg_add(constant, a);
}

static tg_tensor in_scope(cross_lane *l, tg_tensor a, int number)
{
    tg_scope_begin(l->tape, number % 2 ? "odd" : "even");
    tg_tensor y = tg_mul_scalar(a, 0.75);
    tg_scope_end(l->tape);
    return y;
}

static tg_tensor stream(cross_lane *l)
{
    return tg_random_stream(l->tape, &l->rng);
}

/* A plain operation. */
static tg_tensor plain(cross_lane *l, const cross_node *n, tg_tensor a, tg_tensor b)
{
    const tg_shape shape = shape_of(l);
    switch (n->kind) {
    case ADD:
        return tg_add(a, b);
    case MUL:
        return tg_mul(a, b);
    case SUB:
        return tg_sub(a, b);
    case TANH:
        return tg_tanh(a);
    case GELU:
        return tg_gelu_exact(a);
    case MUL_SCALAR:
        return tg_mul_scalar(a, 0.25 * n->number);
    case DROPOUT:
        return tg_dropout(a, stream(l), 0.1 * n->number);
    case RESHAPE:
        return tg_reshape(tg_square(tg_reshape(a, TG_SHAPE(-1))), shape);
    case RELU:
        return tg_relu(a);
    case BY_VECTOR:
        return tg_mul(a, parameter(l, 0));
    case BY_SCALAR:
        return tg_add(tg_mul(parameter(l, 1), a), b);
    case MATMUL:
        return tg_matmul(a, parameter(l, 2));
    case LINEAR:
        return tg_linear(a, parameter(l, 2), n->number % 2 ? parameter(l, 3) : TG_NONE);
    case SOFTMAX:
        return tg_softmax(a, n->number % 2);
    case SUM_ROWS:
        return tg_add(tg_mean_over(a, TG_AXES(n->number % 2), true), b);
    case FLIP:
        return tg_flip(a, TG_AXES(n->number % 2));
    case CONCAT:
        return joined(a, b, n->number);
    case TRANSPOSE:
        return tg_transpose(tg_tanh(tg_transpose(a, 0, 1)), 0, 1);
    case BORROWED:
        return tg_mul(a, tg_borrow(l->tape, l->dtype, &l->batch[2], shape));
    case FULL:
        return tg_sub(a, tg_full(l->tape, l->dtype, shape, 0.25 * n->number));
    case RANDOM:
        return tg_mul(a, tg_random_uniform(stream(l), l->dtype, shape, 0, 1));
    case NORM:
        return tg_layer_norm(a, parameter(l, 0), n->number % 2 ? parameter(l, 3) : TG_NONE, 1e-3);
    case DIV:
        return tg_div(a, tg_add_scalar(tg_square(b), 1));
    case PICK:
        return picked(l, a, n->number);
    case STOP:
        return tg_add(tg_stop_gradient(a), b);
    case NO_GRAD:
        return under_no_grad(l, a, b);
    case GATE:
        return tg_swiglu(a, b);
    default:
        return in_scope(l, a, n->number);
    }
}

static int last_of_block(const cross_program *p, int node, int end)
{
    const int last = node + p->node[node].number;
    return last < end ? last : end - 1;
}

/* The nodes of a block, on its input and earlier results. Leaves become the identity inside a block, and so do hooks
 * that a second derivative would pass by. */
static tg_tensor run_block(tg_tape *tape, const tg_tensor *in, int count, void *user)
{
    const cross_block *block = user;
    cross_lane *l = block->lane;
    const cross_program *p = l->program;
    tg_tensor seen[2 * CROSS_NODES + 3];
    (void)tape, (void)count;
    memcpy(seen, l->result, (size_t)block->outer * sizeof *seen);
    int known = block->outer;
    seen[known++] = in[0];
    const int last = last_of_block(p, block->node, p->count);
    for (int i = block->node + 1; i <= last; i++) {
        const cross_node *n = &p->node[i];
        const tg_tensor a = seen[known - 1 - n->a % 2], b = seen[n->b % known];
        tg_tensor y = a;
        if (n->kind == BLOCK) {
            l->blocks[i] = (cross_block){l, i, block->outer};
            y = l->plain ? run_block(l->tape, &a, 1, &l->blocks[i]) : tg_checkpoint(run_block, &a, 1, &l->blocks[i]);
            i = last_of_block(p, i, last + 1);
        } else if (n->kind == GRAD || n->kind == SLOPE)
            y = n->kind == GRAD ? gradient(a, b) : slope(a, b);
        else if (n->kind < BLOCK)
            y = plain(l, n, a, b);
        else if (n->kind == FAIL && !cross_failure_hooks(way_of(n)))
            y = fail(l, n, a);
        else if (n->kind >= HOOK_LOOK && n->kind <= HOOK_GRAD && !cross_differentiates_checkpoints_twice(p))
            y = add_hook(l, n, a);
        if (l->forgets && n->kind < BLOCK && n->number % 3 == 0)
            tg_keep(y);
        seen[known++] = y;
    }
    return tg_add(seen[known - 1], in[0]); /* never the input itself */
}

void cross_begin(cross_lane *l)
{
    tg_planner_of(l->tape)->patience = 0; /* plans as soon as possible */
    l->count = l->watched_count = l->graded_count = l->copied_count = l->looks = l->errors = l->changes = 0;
    l->leaves_error = l->has_forgotten = false;
    l->looked = 0;
    l->error[0] = '\0';
    l->result[l->count++] = tg_borrow(l->tape, l->dtype, &l->batch[0], shape_of(l));
    l->result[l->count++] = copied(l, true);
    watch_gradient(l, l->result[1]);
}

int cross_next(cross_lane *l, int node, int end)
{
    const cross_program *p = l->program;
    const cross_node *n = &p->node[node];
    const tg_tensor a = l->result[n->a < 20 ? l->count - 1 : n->a % l->count], b = l->result[n->b % l->count];
    tg_tensor y = a;
    int last = node;
    if (n->kind < BLOCK)
        y = plain(l, n, a, b);
    else if (n->kind == BLOCK) {
        l->blocks[node] = (cross_block){l, node, l->count};
        y = l->plain ? run_block(l->tape, &a, 1, &l->blocks[node]) : tg_checkpoint(run_block, &a, 1, &l->blocks[node]);
        last = last_of_block(p, node, p->count);
    } else if (n->kind == GRAD || n->kind == SLOPE)
        y = n->kind == GRAD ? gradient(a, b) : slope(a, b);
    else if (n->kind == CONSTANT || n->kind == VARIABLE)
        y = tg_mul(a, copied(l, n->kind == VARIABLE));
    else if (n->kind == RETAIN)
        watch_gradient(l, tg_retain_gradient(a));
    else if (n->kind == FAIL)
        y = fail(l, n, a);
    else
        y = add_hook(l, n, a);
    if (n->kind == VARIABLE)
        watch_gradient(l, l->copied[l->copied_count - 1]);
    l->result[l->count++] = y;
    watch(l, y);
    note_error(l);
    return last + 1 < end ? last + 1 : end;
}

static tg_tensor loss_of(cross_lane *l)
{
    const cross_program *p = l->program;
    const tg_tensor y = l->result[l->count - 1], tied = tg_add(y, tg_mul_scalar(l->result[1], 0.5));
    if (p->loss == MSE)
        return tg_mse(tied, tg_borrow(l->tape, l->dtype, &l->batch[2], shape_of(l)));
    if (p->loss == CROSS_ENTROPY)
        return tg_cross_entropy(tied, tg_borrow(l->tape, TG_I32, l->labels, TG_SHAPE(p->rows)));
    return tg_mean(tg_mul(tied, l->result[1]));
}

/* With respect to the variable and two parameters. */
static void gradients(cross_lane *l, bool create_graph, bool penalty)
{
    const tg_tensor by[3] = {l->result[1], parameter(l, 2), parameter(l, 3)};
    tg_tensor d[3];
    if (!tg_grad(&l->loss, 1, by, 3, NULL, create_graph, d))
        return;
    for (int i = 0; i < 3; i++)
        watch(l, d[i]);
    if (penalty)
        tg_backward(tg_add(tg_sum(tg_square(d[0])), tg_sum(tg_square(d[1]))));
}

static void run_pass(cross_lane *l, int pass)
{
    if (pass >= PENALTY && l->shared)
        pass = GRADIENTS;
    tg_tensor d;
    switch (pass) {
    case BACKWARD:
        tg_backward(l->loss);
        break;
    case BACKWARD_SCALED:
        tg_backward(tg_mul_scalar(l->loss, 3));
        break;
    case GRADIENTS:
    case GRADIENTS_WITH_GRAPH:
    case PENALTY:
        gradients(l, pass != GRADIENTS, pass == PENALTY);
        break;
    case HESSIAN_PRODUCT:
        if (tg_hvp(l->loss, &l->result[1], &l->result[0], 1, &d))
            watch(l, d);
        break;
    case JACOBIAN:
        watch(l, tg_jacobian(tg_mean_over(l->result[l->count - 1], TG_AXES(0), false), l->result[1]));
        break;
    case FROM_COTANGENT:
        tg_backward_from(tg_square(l->result[1]), l->result[0]);
        break;
    default:
        break;
    }
    note_error(l);
}

void cross_finish(cross_lane *l)
{
    const cross_program *p = l->program;
    l->loss = loss_of(l);
    watch(l, l->loss);
    for (int i = 0; i < CROSS_PASSES; i++)
        run_pass(l, p->pass[i]);
    for (int node = p->count - p->tail; node < p->count;)
        node = cross_next(l, node, p->count);
    if (p->last_pass) {
        l->loss = loss_of(l);
        watch(l, l->loss);
        run_pass(l, p->last_pass);
    }
}
