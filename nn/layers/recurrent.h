/* Recurrent layers: an RNN with tanh (Elman, 1990), an LSTM (Hochreiter and Schmidhuber, 1997, with forget gates as
 * Gers and others, 2000) and a GRU (Cho and others, arXiv 1406.1078), by PyTorch's formulas and names, so that its
 * files load.
 *
 *     rnn      h' = tanh(W x + b + V h + c)
 *     gru      r, z = sigmoid(W x + b + V h + c);  n = tanh(Wn x + bn + r (Vn h + cn));  h' = (1 - z) n + z h
 *     lstm     i, f, o = sigmoid(W x + b + V h + c), g = tanh(the same);  c' = f c + i g;  h' = o tanh(c')
 *
 *     tg_recurrent gru = tg_recurrent_add(set, "rnn", 0, &(tg_recurrent_config){
 *         .cell = TG_GRU, .inputs = 16, .hidden = 64});
 *     tg_tensor y = tg_recurrent_forward(&gru, x, TG_NONE, NULL);             // [batch, positions, 16] -> [.., .., 64]
 *
 *     tg_recurrent_state state = {0};                                         // or one position at a time
 *     for (int t = 0; t < positions; t++)
 *         state = tg_recurrent_step(&gru, input[t], state);                   // [batch, 16], [batch, 64]
 *
 * A sequence is unrolled by a loop, so all derivatives, to any order, are those of the operations in it. The tape keeps
 * a few results for each position; with `segment` those of one segment of positions at a time (a checkpoint over time).
 */
#ifndef TG_RECURRENT_H
#define TG_RECURRENT_H

#include "nn/init.h"
#include "nn/layers/layer.h"

TG_API_BEGIN

typedef enum tg_cell { TG_RNN, TG_GRU, TG_LSTM } tg_cell;

/* "rnn", "gru", "lstm"; NULL past the end. */
const char *tg_cell_name(tg_cell cell);

typedef struct tg_recurrent_config {
    tg_cell cell;
    int64_t inputs, hidden;
    bool no_bias;
    int64_t segment; /* positions that are stored at a time; a backward pass recomputes the others; 0: all */
} tg_recurrent_config;

typedef struct tg_recurrent {
    tg_recurrent_config config;
    tg_parameter *weight_ih, *weight_hh; /* [gates hidden, inputs] and [gates hidden, hidden]: 1, 3 or 4 gates */
    tg_parameter *bias_ih, *bias_hh;     /* [gates hidden]; NULL: none */
} tg_recurrent;

/* Zeros of all sequences where h is TG_NONE. */
typedef struct tg_recurrent_state {
    tg_tensor h, c; /* [batch, hidden]; c of an lstm only */
} tg_recurrent_state;

/* Adds NAME.weight_ih_lN, weight_hh_lN, bias_ih_lN and bias_hh_lN for layer number N of PyTorch's nn.RNN, nn.GRU or
 * nn.LSTM; without the ending for a number below 0, as of nn.GRUCell. Gates are in PyTorch's order: r, z, n, and i, f,
 * g, o. The model's own initial weights are as spread as PyTorch's, deviation 1 / sqrt(3 hidden), and biases are 0. The
 * set remembers errors. */
tg_recurrent tg_recurrent_add(tg_parameters *set, const char *name, int number, const tg_recurrent_config *config);

/* The state after x [batch, inputs]. An inert h is an error. */
tg_recurrent_state tg_recurrent_step(const tg_recurrent *layer, tg_tensor x, tg_recurrent_state state);

/* x [batch, positions, inputs] -> the h of all positions, [batch, positions, hidden]. `padding` [batch, positions], of
 * x's type, is 0 where a sequence has no element: the state stays and the output is 0, as of PyTorch's packed
 * sequences; TG_NONE: none. `state` is that before the first position, and becomes that after the last one; NULL:
 * zeros. */
tg_tensor tg_recurrent_forward(const tg_recurrent *layer, tg_tensor x, tg_tensor padding, tg_recurrent_state *state);

TG_API_END
#endif
