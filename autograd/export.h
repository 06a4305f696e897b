/* Exports a recorded program as one file of C99, which needs the C library's math.h and nothing of tapegrad: for a
 * device, another program, another language.
 *
 *     tg_tensor x = tg_borrow(tape, TG_F32, zeros, TG_SHAPE(1, 784));
 *     tg_tensor y = tg_mlp_forward(net, x);
 *     const tg_export_config config = {.input = {.tensor = x}, .output = {.tensor = y}};
 *     size_t length = tg_export(tape, &config, NULL, 0);           // 0: tg_tape_error(tape) says why
 *     char *text = malloc(length + 1);
 *     tg_export(tape, &config, text, length + 1);                  // int net_predict(const float x[784], float y[10]);
 *
 * The file has a loop nest for each value of the tape that the output depends on, in the tape's order, with a comment
 * that says what it is. Formulas and loops are taken from the sources of the kernels. So results, but for convolutions
 * by Winograd's algorithm, are bit-identical to those of the library on a processor with fused multiply-adds, with any
 * compiler that treats float and fmaf() as C99 says: docs/export.md. The file allocates nothing; its static memory is
 * declared at its top. Only names that begin with the configured name are visible to other files.
 */
#ifndef TG_EXPORT_H
#define TG_EXPORT_H

#include "autograd/tape.h"

TG_API_BEGIN

/* The input or the output of the function. */
typedef struct tg_export_tensor {
    tg_tensor tensor; /* on the tape; an input is a constant of f32, f64 or i32 */

    /* One number per column, along the last axis: the caller's number is scale times the net's number, plus mean. The
     * net gets 0 for an input that is NaN or whose scale is 0. NULL: no conversion. */
    const double *mean, *scale;

    /* Names of the columns, written as the array NAME_inputs or NAME_outputs. NULL: no array. */
    const char *const *names;

    /* Of an input with a scale, one number per column: where it is above 0, the net gets z / sqrt(1 + (z / limit)^2)
     * instead of z = (the caller's number - mean) / scale. NULL: nowhere. */
    const double *limit;
} tg_export_tensor;

/* The update of the parameters, as in optim/optimizers.c, without clipping. A schedule is left to the caller.
 */
typedef enum tg_export_rule { TG_EXPORT_SGD, TG_EXPORT_ADAM, TG_EXPORT_ADAMW } tg_export_rule;

typedef struct tg_export_step {
    tg_export_tensor input, target; /* a batch: [rows, ...] */
    tg_tensor loss;                 /* a scalar on which tg_backward has been called on this tape */
    tg_export_rule rule;
    double rate, weight_decay;    /* 0: 1e-3, and none */
    double beta1, beta2, epsilon; /* 0: 0.9, 0.999 and 1e-8 */
    double momentum;              /* SGD; 0: none */
    bool nesterov;
} tg_export_step;

/* What a net that reads a sequence keeps from token to token. */
typedef struct tg_export_state {
    tg_tensor before; /* a constant, zeros at first */
    tg_tensor after;  /* computed; it is `before` for the next token */

    /* `before` [1, most, size] has the rows of all tokens up to this one, and `after` is its last row. It is recorded as
     * of the last of `most` tokens. Attention to all of them may read it: tg_self_attention_last, or products and a
     * softmax. */
    bool grows;
} tg_export_state;

/* One token of a sequence, as tg_decoder_record records it. */
enum { TG_EXPORT_STATES = 512 };
typedef struct tg_export_next {
    tg_tensor token;    /* i32 [1, 1], a constant */
    tg_tensor position; /* i32 [1], a constant: how many tokens were read before; TG_NONE: the net does not use it */
    tg_tensor logits;   /* of the token after it */
    int64_t most;       /* tokens at most; 0: any number */
    int states;
    tg_export_state state[TG_EXPORT_STATES];
} tg_export_next;

typedef struct tg_export_config {
    const char *name;  /* prefix of the file's names, a C identifier; NULL: "net" */
    const char *title; /* for the comment at its top; NULL: none */
    tg_export_tensor input, output;

    /* Leaves the weights out of the file: tg_export_weights writes them, and NAME_weights(bytes) sets their address. */
    bool weights_apart;

    /* Adds the training step NAME_train(x, y, n): forward, backward and optimiser for n rows, one batch at a time; and
     * NAME_rate(rate), which sets the learning rate of later steps. NULL: none. Its input and output are on the same
     * tape as those above, usually with another batch size. */
    const tg_export_step *step;

    /* Adds NAME_next(token, y), which reads a sequence token by token, and NAME_begin(), for the next sequence; on the
     * same tape. NULL: none. */
    const tg_export_next *next;
} tg_export_config;

/* Writes the file like snprintf: returns the length of the whole text and writes as much of it as fits. Returns 0, with
 * the error on the tape, if an operation cannot be written as C (the error names it), if input or output are not on the
 * tape, or if out of memory. */
size_t tg_export(tg_tape *tape, const tg_export_config *config, char *text, size_t size);

/* Writes the weights that such a file reads, in the byte order of this machine, as tg_export does; returns their number
 * of bytes. */
size_t tg_export_weights(tg_tape *tape, const tg_export_config *config, void *bytes, size_t size);

/* Writes the prediction (not the training step) as an ONNX model, opset 20, as tg_export does: one or a few nodes for
 * each value of the tape (autograd/export/onnx.def), input "x" and output "y" in the caller's units. Names of columns
 * are the metadata "inputs" and "outputs", each a JSON array. Recorded for one row, [1, ...], the graph takes any number
 * of rows, unless an operation mixes that axis with others. Returns 0, with the error on the tape, where ONNX has no
 * such operation. */
size_t tg_export_onnx(tg_tape *tape, const tg_export_config *config, void *bytes, size_t size);

TG_API_END
#endif
