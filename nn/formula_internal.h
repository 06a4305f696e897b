/* The compiled form of a formula: what nn/formula_read.c makes of a text, and nn/formula.c runs. Internal to nn.
 *
 *     x sigmoid(1.5 x)      0  input 0
 *                           1  scalar tg_mul_scalar  0, 1.5
 *                           2  unary  tg_sigmoid     1
 *                           3  binary tg_mul         0 2
 */
#ifndef TG_FORMULA_INTERNAL_H
#define TG_FORMULA_INTERNAL_H

#include "nn/formula.h"

#define TG_FORMULA_PI 3.14159265358979323846
#define TG_FORMULA_E  2.71828182845904523536

typedef enum tg_formula_kind {
    TG_FORMULA_INPUT,   /* index: x, or u and v */
    TG_FORMULA_NUMBER,  /* number[0] */
    TG_FORMULA_TRAINED, /* index */
    TG_FORMULA_UNARY,
    TG_FORMULA_BINARY,
    TG_FORMULA_TERNARY,
    TG_FORMULA_SCALAR, /* of a tensor and number[0] */
    TG_FORMULA_LIMITS  /* of a tensor, number[0] and number[1] */
} tg_formula_kind;

/* A function by name. `kind` says which member is called. */
typedef struct tg_formula_function {
    const char *name;
    tg_formula_kind kind;
    tg_tensor (*unary)(tg_tensor a);
    tg_tensor (*binary)(tg_tensor a, tg_tensor b);
    tg_tensor (*ternary)(tg_tensor a, tg_tensor b, tg_tensor c);
    tg_tensor (*scalar)(tg_tensor a, double number);
    tg_tensor (*limits)(tg_tensor a, double low, double high);
} tg_formula_function;

/* Function `index`, NULL past the end; and that of a name that exists. */
const tg_formula_function *tg_formula_function_at(int index);
const tg_formula_function *tg_formula_function_of(const char *name);

typedef struct tg_formula_step {
    tg_formula_kind kind;
    const tg_formula_function *function; /* NULL for inputs and numbers */
    int index, from[3];                  /* steps whose results it reads */
    double number[2];
} tg_formula_step;

struct tg_formula {
    char text[TG_FORMULA_LENGTH + 1], name[TG_FORMULA_LENGTH + 1];
    bool gated;
    tg_formula_number number[TG_FORMULA_NUMBERS];
    int number_count, step_count;
    tg_formula_step step[TG_FORMULA_STEPS]; /* the last one is the result */
};

/* Fills a formula of zeros from a text (formula_read.c). */
bool tg_formula_read(tg_formula *formula, const char *text, tg_error *error);

/* The value of a step that depends on numbers alone; NaN if out of memory. */
double tg_formula_fold(const tg_formula *formula, const tg_formula_step *step);

/* ---- steps (formula_steps.c): functions return the number of a step, and -1 after an error ---- */

typedef struct tg_formula_reader {
    tg_formula *f;
    const char *at, *end; /* end: of what is read now */
    int depth, variables; /* variables: bits of x, u, v that occur */
    tg_error *error;
} tg_formula_reader;

/* The error, with the column of `at`; and that of a name without a meaning. */
TG_FORMAT(printf, 3, 4)
int tg_formula_fail(tg_formula_reader *r, const char *at, const char *format, ...);
int tg_formula_unknown(tg_formula_reader *r, const char *at, const char *name);

bool tg_formula_is_number(const tg_formula_reader *r, int step);
double tg_formula_value(const tg_formula_reader *r, int step);

/* Adds a step, or finds the same one; a function of numbers is computed at once. */
int tg_formula_add(tg_formula_reader *r, tg_formula_step step);
int tg_formula_add_number(tg_formula_reader *r, double number);
int tg_formula_add_call(tg_formula_reader *r, const char *name, const int from[3], double first, double second);
int tg_formula_add_unary(tg_formula_reader *r, const char *name, int a);

/* a + b, a - b, a * b, a / b and a ^ b; a number on one side makes an operation of one tensor, which costs less. */
int tg_formula_add_operation(tg_formula_reader *r, char operation, int a, int b);

/* Keeps the steps that the result needs, which becomes the last one; false if a trained number is not among them. */
bool tg_formula_compact(tg_formula *formula, int result);

#endif
