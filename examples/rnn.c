/* A recurrent net learns the adding problem (Hochreiter and Schmidhuber, 1997): of 50 numbers, each with a mark beside
 * it, it gives the sum of the two that are marked. Always to answer 1 has a squared error of 0.167.
 *
 *     rnn [CELL [STEPS]]        rnn, gru (the default) or lstm; it ends when the error on new sequences is below 0.01
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

enum { LENGTH = 50, BATCH = 64, TEST = 1000, HIDDEN = 32 };

/* Sequences of pairs (number, mark), and the sums. One mark is in each half. */
static void draw(tg_rng *rng, int count, float x[][LENGTH][2], float y[][1])
{
    for (int i = 0; i < count; i++) {
        const int marked[2] = {(int)tg_rng_below(rng, LENGTH / 2),
                               LENGTH / 2 + (int)tg_rng_below(rng, LENGTH - LENGTH / 2)};
        for (int t = 0; t < LENGTH; t++) {
            x[i][t][0] = (float)tg_rng_uniform(rng);
            x[i][t][1] = (float)(t == marked[0] || t == marked[1]);
        }
        y[i][0] = x[i][marked[0]][0] + x[i][marked[1]][0];
    }
}

typedef struct net {
    tg_parameters *set;
    tg_recurrent recurrent;
    tg_linear_layer output;
} net;

static net net_new(tg_cell cell, const tg_rng *rng)
{
    net n = {.set = tg_parameters_new(TG_F32)};
    n.recurrent =
        tg_recurrent_add(n.set, "rnn", 0, &(tg_recurrent_config){.cell = cell, .inputs = 2, .hidden = HIDDEN});
    n.output = tg_linear_layer_add(n.set, "output", HIDDEN, 1, true);
    tg_parameters_initialize(n.set, TG_INIT_DEFAULT, 1, rng);
    return n;
}

/* The mean squared error of the answer after the last pair. */
static tg_tensor error_of(const net *n, tg_tape *tape, int count, float x[][LENGTH][2], float y[][1])
{
    tg_recurrent_state state = {TG_NONE, TG_NONE};
    tg_recurrent_forward(&n->recurrent, tg_borrow(tape, TG_F32, x, TG_SHAPE(count, LENGTH, 2)), TG_NONE, &state);
    return tg_mse(tg_linear_layer_forward(&n->output, state.h), tg_borrow(tape, TG_F32, y, TG_SHAPE(count, 1)));
}

/* The error on new sequences; -1 on failure. */
static double test(const net *n, tg_tape *tape, tg_rng *rng)
{
    static float x[TEST][LENGTH][2], y[TEST][1];
    draw(rng, TEST, x, y);
    tg_tape_reset(tape);
    tg_no_grad_begin(tape);
    const tg_tensor error = error_of(n, tape, TEST, x, y);
    const double result = tg_ok(error) ? tg_item(error) : -1;
    tg_no_grad_end(tape);
    return result;
}

int main(int argc, char **argv)
{
    static float x[BATCH][LENGTH][2], y[BATCH][1];
    const char *name = argc > 1 ? argv[1] : "gru";
    const int steps = argc > 2 ? atoi(argv[2]) : 5000;
    tg_cell cell = TG_RNN;
    while (tg_cell_name(cell) && strcmp(tg_cell_name(cell), name) != 0)
        cell++;
    if (!tg_cell_name(cell) || steps < 1 || argc > 3)
        return fprintf(stderr, "usage: rnn [rnn|gru|lstm [STEPS]]\n"), 2;
    tg_rng rng = tg_rng_seed(1);
    net n = net_new(cell, &rng);
    tg_optimizer *adamw = tg_optimizer_new(n.set, &(tg_optimizer_config){.lr = 1e-2, .clip_norm = 1});
    tg_tape *tape = tg_tape_new(), *testing = tg_tape_new();
    double error = 1;
    for (int step = 1; step <= steps && error >= 0.01; step++) {
        draw(&rng, BATCH, x, y);
        tg_tape_reset(tape);
        if (!tg_backward(error_of(&n, tape, BATCH, x, y)))
            return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
        if (!tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_optimizer_error(adamw)), 1;
        if (step % 100 == 0 || step == steps) {
            error = test(&n, testing, &rng);
            printf("step %5d   squared error %.4f\n", step, error);
        }
    }
    tg_optimizer_free(adamw);
    tg_parameters_free(n.set);
    tg_tape_free(tape);
    tg_tape_free(testing);
    return fflush(stdout) != 0 || error < 0; /* a full disk is a failure */
}
