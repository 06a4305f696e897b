/* The tape: records operations as they run, owns their results, and remembers the first error.
 *
 *     tg_tape *tape = tg_tape_new();
 *     for (int step = 0; step < steps; step++) {
 *         tg_tape_reset(tape);                                   // last step's tensors end here
 *         tg_tensor x = tg_constant(tape, TG_F32, batch, TG_SHAPE(32, 784));
 *         tg_tensor w = tg_parameter_tensor(tape, &weight);
 *         if (!tg_backward(tg_mean(tg_matmul(x, w))))
 *             return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
 *     }
 *     tg_tape_free(tape);
 *
 * Ownership: parameters are yours; everything an operation returns belongs to the tape and dies at
 * tg_tape_reset. Errors are sticky: the first one is kept, later operations do nothing, and you check once. A tape
 * serves one thread at a time; different threads use different tapes.
 */
#ifndef TG_TAPE_H
#define TG_TAPE_H

#include "autograd/tensor.h"

TG_API_BEGIN

typedef struct tg_tape tg_tape;

/* A new, empty tape, or NULL if out of memory. */
tg_tape *tg_tape_new(void);

/* Frees the tape with all its memory. Handles of its tensors must not be used afterwards. */
void tg_tape_free(tg_tape *tape);

/* Ends every tensor and every no-grad scope of the tape, and keeps its memory for the next step. A step like the last
 * one allocates nothing; as long as it records the same operations on the same shapes, it reuses the recorded program,
 * the backward pass included. From the first difference on it is recorded anew, so loops that alternate between graphs
 * (two losses, batches of several sizes, training and validation) keep a tape for each. Once steps have repeated, the
 * tensors move into one block of just the size that they need. An error stays. */
void tg_tape_reset(tg_tape *tape);

/* Resets the tape and frees the memory of its tensors, which tg_tape_reset keeps: for a tape that is not needed for a
 * while, or whose next steps are smaller. The next step is recorded anew. */
void tg_tape_trim(tg_tape *tape);

/* Whether the tape forgets results, to save memory: once an operation has used a result, its elements cannot be read
 * any more, and may be overwritten as soon as the step has computed what depends on them. For training, where only the
 * loss is read:
 *
 *     tg_tape *tape = tg_tape_new();
 *     tg_tape_save_memory(tape, true);
 *
 * Losses, gradients, and what no operation has used can be read as ever; of other results, those given to tg_keep. An
 * attempt to read one that may be forgotten is an error of the tape that names it, in the first step already.
 * Operations can use all of them. The memory is shared as the steps before used it, so a step that uses an overwritten
 * result has all overwritten ones computed again: to avoid that, give to tg_keep what only some steps use late, or
 * record such steps on another tape. It is an error if a parameter has changed in between. The first steps take as much
 * memory as without: results share it once steps repeat. To be called before a step records anything. */
void tg_tape_save_memory(tg_tape *tape, bool on);

/* Keeps the elements of a result until the tape is reset, or until the checkpoint that it is in ends, also on a tape
 * that saves memory; returns it. To be called before an operation uses it. */
tg_tensor tg_keep(tg_tensor x);

/* The first error since the tape was made or cleared: the operation, the shapes and names of its inputs, what was
 * expected, and the place. NULL if there was none. For a NULL tape, "no tape". */
const char *tg_tape_error(const tg_tape *tape);

/* Forgets the error. Tensors made before it stay valid, and the step may go on after them. Gradients that were written
 * stay. Without this call the error outlives every reset. Only a reset helps a step in which operations and passes
 * have failed while they computed 255 times. */
void tg_tape_clear_error(tg_tape *tape);

/* Records an error of your own, formatted like printf, unless there is one: for layers and models. Returns false. */
TG_FORMAT(printf, 2, 3)
bool tg_tape_fail(tg_tape *tape, const char *format, ...);

/* Between begin and end results are constants to all derivatives. Pairs nest. */
void tg_no_grad_begin(tg_tape *tape);
void tg_no_grad_end(tg_tape *tape);

/* Between suspend and resume, no-grad scopes have no effect: for a function that differentiates and may be called
 * inside one. Resume takes the value that suspend returned. */
int tg_no_grad_suspend(tg_tape *tape);
void tg_no_grad_resume(tg_tape *tape, int scopes);

/* Between begin and end, what is recorded belongs to this part of the model in errors and listings: "layers.0". Pairs
 * nest. The name is copied, and kept until the tape is freed: name parts of a model, not steps. */
void tg_scope_begin(tg_tape *tape, const char *name);
void tg_scope_end(tg_tape *tape);

/* Names a tensor for errors and listings; returns it. `name` must live until the tape is reset. */
tg_tensor tg_named(tg_tensor x, const char *name);

/* The tape of a tensor; NULL if it is inert. */
tg_tape *tg_tape_of(tg_tensor x);

/* Runs everything on the tape again, forward and backward, without recording it: for training steps that differ only in
 * their data.
 *
 *     tg_tensor x = tg_borrow(tape, TG_F32, batch, TG_SHAPE(32, 784));   // record one step ...
 *     tg_tensor loss = tg_cross_entropy(tg_mlp_forward(net, x), labels);
 *     bool fine = tg_backward(loss) && tg_optimizer_step(adamw);
 *     while (fine && fill(batch))                                        // ... and run it on new numbers
 *         fine = tg_replay(tape) && tg_optimizer_step(adamw);
 *
 * New data is written to borrowed memory, or with tg_set. Gradients of parameters are overwritten where has_gradient is
 * false and added to where it is true, as in tg_backward. Random streams are redrawn, so results are bit-identical to
 * recording again. Code that ran between the operations, hooks included, is not repeated. False, with the error on the
 * tape, if the step cannot be replayed. */
bool tg_replay(tg_tape *tape);

/* For a layer that updates state of its own in each step, such as running statistics: makes tg_replay an error until
 * the tape is reset. `reason` says what is updated, and must live as long: "the running statistics of a batch norm
 * move". */
void tg_forbid_replay(tg_tape *tape, const char *reason);

/* ---- statistics ---- */

typedef struct tg_tape_counts {
    int64_t values;      /* tensors on the tape now */
    int64_t bytes_used;  /* memory of these tensors */
    int64_t bytes_held;  /* all memory of the tape, used or kept for reuse */
    int64_t allocations; /* calls of malloc since the tape was made */
    int64_t recorded;    /* tensors recorded since then; a step that repeats the previous one records none */
} tg_tape_counts;

/* All 0 for a NULL tape. */
tg_tape_counts tg_tape_count(const tg_tape *tape);

/* Anomaly mode: while on, the first operation, forward or backward, that makes a NaN from inputs without one, or an
 * infinity from finite inputs, is an error of the tape. The error names the operation, its inputs' ranges, the step and
 * the place. If the NaN comes from data or from a parameter, the error names that ("input x, element 13": see tg_named)
 * and the operation that read it. Costs a pass over each result. */
void tg_tape_watch(tg_tape *tape, bool on);

/* Training in 16 bits, emulated with floats: from now on operations, those of backward passes too, read their f32
 * inputs rounded to this format and round their f32 results, the gradients of parameters included; inside an operation
 * sums are floats. Parameters keep their floats (master weights): operations read rounded copies. Scalars, such as a
 * loss, are not rounded, and their derivative is rounded as a whole: so a loss can be scaled before that. Gradients
 * that are added up are rounded after each addition. TG_FLOAT32 ends it. What a replay or a checkpoint computes again is
 * in the format of that time.
 *
 *     tg_tape_round(tape, TG_BFLOAT16); */
typedef enum tg_format {
    TG_FLOAT32,
    TG_BFLOAT16, /* 8 binary digits, and the range of floats */
    TG_FLOAT16,  /* IEEE 754's binary16: 11 binary digits, of magnitude 65504 at most, and multiples of 2^-24 */
} tg_format;

void tg_tape_round(tg_tape *tape, tg_format format);

/* The nearest number of the format, ties to even; infinite from half a unit above the largest on. NaN stays NaN. */
float tg_round(tg_format format, float x);

/* Profiling: while on, the time of each operation is added up, in this step and in steps that repeat it. Switching it
 * on resets the times. */
void tg_tape_time(tg_tape *tape, bool on);

TG_API_END
#endif
