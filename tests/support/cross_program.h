/* Random programs that cross features of the tape, for test_cross.c: their parts, and how to run one.
 *
 *     node 0..n     operations on earlier results, each [rows, 4]; a block takes the nodes behind it into a checkpoint
 *     passes        up to three: tg_backward, tg_grad, products with Hessians, penalties on gradients
 *     tail          the last nodes run after the passes, and then perhaps one more pass
 *     failures      nodes that fail (cross_failures.h); the error is cleared, and the step continues
 *
 * A program is plain data: it is copied, changed a little, printed, and run again.
 */
#ifndef TESTS_CROSS_PROGRAM_H
#define TESTS_CROSS_PROGRAM_H

#include <stdio.h>
#include <tapegrad.h>

enum {
    CROSS_NODES = 20,
    CROSS_PASSES = 3,
    CROSS_PARAMETERS = 4,
    CROSS_ROWS = 5,
    CROSS_COLUMNS = 4,
    CROSS_WATCHED = 96,
    CROSS_PASS_KINDS = 9,
    CROSS_LOSSES = 3
};

typedef struct cross_node {
    uint8_t kind;
    uint8_t a, b;   /* operands: earlier results, modulo their number */
    uint8_t number; /* an attribute; the number of nodes of a block */
} cross_node;

typedef struct cross_program {
    uint8_t rows, count, tail, loss, last_pass;
    uint8_t pass[CROSS_PASSES];
    cross_node node[CROSS_NODES];
} cross_program;

/* In the type of a world. */
typedef union cross_numbers {
    float f32[CROSS_ROWS * CROSS_COLUMNS];
    double f64[CROSS_ROWS * CROSS_COLUMNS];
} cross_numbers;

/* The data of a program: [4], a scalar, [4, 4], [4]. */
typedef struct cross_parameters {
    tg_parameter parameter[CROSS_PARAMETERS];
    cross_numbers value[CROSS_PARAMETERS], gradient[CROSS_PARAMETERS];
} cross_parameters;

/* A tape with a running program, and results to compare afterwards. */
typedef struct cross_lane cross_lane;
typedef struct cross_block {
    cross_lane *lane;
    int node, outer; /* first node of the block, and the number of results that it sees */
} cross_block;

struct cross_lane {
    tg_tape *tape;
    tg_rng rng;
    tg_dtype dtype;
    bool plain;   /* no checkpoints: blocks are called */
    bool forgets; /* the tape saves memory: every other new watched tensor is kept */
    bool shared;  /* another lane runs at the same time: gradients of parameters must not be written */
    bool resumes; /* the step before has not ended: a replay would repeat that too */
    bool alone;   /* no other lane reads the parameters during the step, so they may change */
    cross_parameters *parameters;
    const cross_program *program;
    cross_numbers batch[3]; /* borrowed or copied */
    int32_t labels[CROSS_ROWS];
    cross_block blocks[CROSS_NODES];
    tg_tensor result[CROSS_NODES + 2], loss;
    int count;
    tg_tensor watched[CROSS_WATCHED];  /* tensors whose elements are compared, */
    bool is_read[CROSS_WATCHED];       /* unless the tape may have forgotten them */
    tg_tensor graded[CROSS_WATCHED];   /* whose gradients are */
    tg_tensor copied[CROSS_NODES + 2]; /* leaves that tg_set fills, starting with batch 1 */
    int watched_count, graded_count, copied_count;
    int looks, errors, changes; /* of data that the step has read */
    bool leaves_error;          /* until the step ends */
    bool has_forgotten;         /* what this step reads: an error of a tape that saves memory */
    uint64_t looked;            /* sum of the bits that hooks have seen, in any order */
    char error[256];            /* the first of them */
};

/* A random program, and one that differs a little from it; with failures, or without. */
void cross_draw(tg_rng *choices, cross_program *program, bool fails);
void cross_change(tg_rng *choices, cross_program *program, bool fails);
/* The number of kinds of nodes. */
int cross_kinds(void);
/* True if what the program does to a parameter, or an error that it leaves, lasts until the tape is reset. */
bool cross_wants_reset(const cross_program *program);
bool cross_differentiates_checkpoints_twice(const cross_program *program);
void cross_print(const cross_program *program, FILE *to);

/* Forward, node after node: begin, then next(i) from 0 until it returns `count - tail`; and what follows. */
void cross_begin(cross_lane *lane);
int cross_next(cross_lane *lane, int node, int end);
void cross_finish(cross_lane *lane);

#endif
