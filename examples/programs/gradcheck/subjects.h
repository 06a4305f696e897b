/* Everything that can be checked, by name: the operations of the library, those of a user's shared library, layers,
 * blocks and models, and formulas.
 *
 *     subjects all = {calloc(SUBJECTS_MOST, sizeof *all.list), 0};
 *     subjects_collect(&all, NULL);
 *     const char *wrong = subjects_choose(&all, (const char *[]){"gelu*", "softmax", NULL});
 *     if (wrong)
 *         subjects_near(&all, wrong, near), fprintf(stderr, "there is no '%s'%s\n", wrong, near);
 *     for (int i = 0; i < all.count; i++)
 *         if (all.list[i].chosen)
 *             result = subject_check(&all.list[i], &options);
 *     free(all.list);
 */
#pragma once

#include "autograd/gradcheck.h"
#include "examples/programs/gradcheck/layer_checks.h"
#include "examples/programs/gradcheck/remote.h"
#include "nn/formula.h"

typedef struct subject {
    const char *name;
    const char *category; /* "arithmetic", ..., "yours" of a user's, "layer", "block", "model" */
    const char *about;    /* one line: the formula of an operation; "" for a user's */
    int inputs;           /* TG_VARIADIC: any number; for a layer, without its parameters */
    const tg_op *op;      /* the subject: one of these four */
    const layer_check *layer;
    const remote_function *function;
    const tg_formula *formula;
    bool constant; /* has no derivative by definition, so there is nothing to check */
    bool chosen;
    char own_name[128]; /* room for the name of another program's function */
} subject;

typedef struct subjects {
    subject *list; /* [SUBJECTS_MOST] */
    int count;
} subjects;

enum { SUBJECTS_MOST = 10000 };

/* Adds all subjects, none chosen; `own` are a user's operations, ended by NULL, or NULL. */
void subjects_collect(subjects *all, const tg_op *const *own);

/* Adds a formula, which must outlive the list. */
void subjects_add_formula(subjects *all, const tg_formula *formula);

/* NULL if there is none. */
subject *subjects_find(const subjects *all, const char *name);

/* Chooses the subjects that match the words, ended by NULL: each a name, or a shell pattern (`gelu*`). Returns NULL, or
 * the first word that matches nothing. */
const char *subjects_choose(subjects *all, const char *const words[]);

/* Suggestions for an unknown word: ": did you mean gelu_exact, gelu_tanh or gelu_quick?", or "". */
enum { SUBJECTS_NEAR = 256 };
void subjects_near(const subjects *all, const char *word, char text[SUBJECTS_NEAR]);

/* The order to which a subject is checked if `order` is requested: with 2, functions of one number, which are cheap,
 * are checked to the third. */
int subject_order(const subject *what, int order);

tg_gradcheck_result subject_check(const subject *what, const tg_gradcheck_options *options);
