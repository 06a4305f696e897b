/* Writes a program as C: the place of each value, and its loops. A file of these uses only those above it here.
 * Internal.
 *
 *     tg_writer_say(w, 1, "softmax_rows($rows, $columns, $0, $y);");     // a line of code, indented once
 *
 * Code is written twice: the first time without output, to find which functions of the kernels it calls.
 */
#ifndef TG_WRITER_H
#define TG_WRITER_H

#include "autograd/export.h"
#include "autograd/export/pieces.h"
#include "autograd/tape/describe.h"

/* The place of a value in the exported file. */
typedef enum tg_place_kind {
    TG_PLACE_NONE,      /* not needed */
    TG_PLACE_MEMORY,    /* the static array `memory`, or `integers` of an i32 */
    TG_PLACE_WEIGHTS,   /* the static array `weights`, or `constants` of an i32 */
    TG_PLACE_GRADIENTS, /* the static array `gradients` */
    TG_PLACE_ARGUMENT,  /* an argument of the function */
    TG_PLACE_STATE,     /* the static array `reading.state` */
    TG_PLACE_VIEW,      /* in the memory of its input */
} tg_place_kind;

typedef struct tg_place_of {
    tg_place_kind kind;
    int64_t offset;                  /* in elements of the array; of a view, from its input */
    int64_t scratch, scratch_offset; /* scratch elements that its loops need, and their offset in `memory` */
    int64_t last;                    /* the last value that reads it */
    bool transposed;                 /* the file has this matrix transposed */
    bool adds;                       /* adds to an existing gradient */
    bool state, grows;               /* the `before` of a state; and rows of all tokens so far (tg_export_state) */
    int grown;                       /* the axis with an element for each token so far, from 1 on; 0: none */
    const char *argument;
} tg_place_of;

/* A function of the file: a prediction, one token of a sequence, a training step. */
enum { TG_PREDICT, TG_NEXT, TG_STEP, TG_FUNCTIONS };
typedef struct tg_exported {
    const tg_value *argument[2]; /* x and y, or token and position; the second may be NULL */
    const tg_export_tensor *port[2];
    const char *name[2];    /* of the arguments in C */
    const tg_value *result; /* NULL: the file does not have this function */
    bool trains;            /* the gradients of parameters are results too */
    tg_place_of *places;
} tg_exported;

/* Sizes of the file's arrays, in elements. The weights begin with the parameters. */
typedef struct tg_sizes {
    int64_t memory, integers, weights, parameters, constants, states;
} tg_sizes;

/* Neighbouring parameters with the same weight decay, or none: one loop updates them. */
typedef struct tg_update_run {
    int64_t from, size;
    bool decays;
} tg_update_run;

typedef struct tg_writer {
    tg_text text;
    tg_pieces needed;
    tg_program *program;
    const tg_export_config *config;
    const char *name;
    tg_exported function[TG_FUNCTIONS];
    tg_sizes sizes;
    tg_update_run updated; /* parameters whose update is not written yet */
    tg_place_of *places;   /* [program->count]: places of values in the current function */
    const tg_value *value; /* whose code is being written */
    int *rows; /* [program->count], of ONNX: the axis that counts rows; -1: none. NULL: one row, as recorded */
} tg_writer;

/* ---- writer.c ---- */

/* "float", "double" or "int32_t"; ONNX's number for the type; a value's number of columns, the size of its last axis;
 * the data of a leaf. */
const char *tg_writer_type(tg_dtype dtype);
int tg_writer_onnx_type(tg_dtype dtype);
int64_t tg_writer_columns(const tg_value *value);
const void *tg_writer_data(const tg_value *leaf);

/* A number in C's notation, exactly, in `text` or a constant. */
const char *tg_writer_number(double number, char text[40]);

/* A number of a value by its word (calls.def), for instance an attribute; NaN if there is none. And an attribute that
 * is a shape, which must exist. */
double tg_writer_word(const tg_value *value, const char *word);
const tg_shape *tg_writer_shape(const tg_value *value, const char *name);

/* The gradient that the library computes together with a loss, if the function needs it; NULL: none. */
const tg_value *tg_writer_gradient(const tg_writer *w, const tg_value *loss);

/* Expands the words of calls.def and onnx.def in a text, which is cut if it does not fit. */
enum { TG_WRITER_EXPANDED = 4000 };
void tg_writer_expand(const tg_writer *w, const tg_value *value, const char *text, char *to, size_t size);

/* Adds lines of code, indented by `indent` times four blanks, with words of w->value, and notes which functions they
 * call; or a user's name, escaped so that it cannot end a comment or a string. */
TG_FORMAT(printf, 3, 4)
void tg_writer_say(tg_writer *w, int indent, const char *format, ...);
void tg_writer_quote(tg_writer *w, const char *text);

/* ---- loops.c ---- */

/* The number of scratch elements that the loops of a value need. */
int64_t tg_writer_scratch(const tg_writer *w, const tg_value *value);

/* The next value whose loop is the same and joined to that of this value, an elementwise operation; NULL: none. */
const tg_value *tg_writer_joined(const tg_writer *w, const tg_value *value);

/* Writes the loops that compute w->value; those that are joined together with the last of them. False, with the error
 * on the tape, if this cannot be written. */
bool tg_writer_loops(tg_writer *w);

/* ---- places.c ---- */

/* Find the values that a function needs; the weights that the file stores transposed, matrices that only tg_linear
 * reads, so that the innermost loop of the product is contiguous; and the places of states, weights and values. */
void tg_places_states(tg_writer *w, const tg_exported *f);
void tg_places_mark(tg_writer *w, const tg_exported *f);
void tg_places_transpose(tg_writer *w);
void tg_places_weights(tg_writer *w);
void tg_places_values(tg_writer *w, const tg_exported *f);

/* The leaf of this parameter; NULL if the program has none. */
const tg_value *tg_places_leaf(const tg_writer *w, const tg_parameter *parameter);

/* Calls `put` for each weight of the file in its order, those of i32 or the others: parameters come first. */
void tg_writer_weights(tg_writer *w, bool integers, void (*put)(tg_writer *w, const tg_value *leaf));

/* Follows the states that grow; false, with the error on the tape, if an operation reads one that cannot. */
bool tg_places_grow(tg_writer *w, const tg_exported *f);

/* ---- axes.c ---- */

/* In place of an axis: the value has none such; it mixes the axis with others, or does not keep its size. */
enum { TG_AXIS_NONE = -1, TG_AXIS_MIXED = -2 };

/* The axis of a value, given those of all values before. A reshape may have several, of which this is one, counted from
 * 0. */
int tg_axis_after(const tg_value *value, const int *axes, int number);

/* True if a reshape moves the axis, so that what it counts is reshaped one by one. */
bool tg_axes_move(const tg_value *value, const int *axes);

/* ---- request.c ---- */

/* Finds the needed values and their places; set the text afterwards. False, with the error on the tape, if this cannot
 * be exported. Call the second function even then; it frees the memory. */
bool tg_writer_begin(tg_writer *w, tg_tape *tape, const tg_export_config *config);
void tg_writer_end(tg_writer *w);

/* ---- functions.c ---- */

/* Write the functions' declarations as lines of a comment, and the functions. False, with the error on the tape, if one
 * cannot be written. */
void tg_writer_heads(tg_writer *w);
bool tg_writer_functions(tg_writer *w);

/* The arrays `NAME_mean` and `NAME_scale` of an argument's columns; NULL: it has none. */
const char *tg_writer_scale_name(const tg_writer *w, const tg_exported *f, int argument);

#endif
