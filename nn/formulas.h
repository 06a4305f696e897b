/* Formulas as activations: each text that is used gets a number behind those of activations.def, and is measured once.
 * Internal to nn.
 *
 * The list only grows, and lives as long as the process: an activation is a number that any model may hold.
 */
#ifndef TG_FORMULAS_H
#define TG_FORMULAS_H

#include "nn/formula.h"

enum { TG_FORMULAS = 256 }; /* at most */

typedef struct tg_formula_entry {
    tg_formula *formula;
    double gain, level, spread; /* as in activations.def */
} tg_formula_entry;

/* True for a text that is read as a formula: it has more than the letters of a name, or is "x". */
bool tg_formulas_takes(const char *text);

/* The index of a text's formula, which is new or was read before; -1 and the error, also if its name is taken. */
int tg_formulas_index(const char *text, bool (*is_taken)(const char *name), tg_error *error);

/* Entry `index`; NULL past the end. */
const tg_formula_entry *tg_formulas_at(int index);

#if defined TG_NO_FORMULAS
#define tg_formulas_at(index)                 ((void)(index), (const tg_formula_entry *)NULL)
#define tg_formulas_takes(text)               false
#define tg_formulas_index(text, taken, error) (-1)
#define tg_formula_text(formula)              ((void)(formula), (const char *)NULL)
#define tg_formula_name(formula)              ((void)(formula), (const char *)NULL)
#define tg_formula_is_gated(formula)          ((void)(formula), false)
#define tg_formula_number_at(formula, index)  ((void)(formula), (const tg_formula_number *)NULL)
#define tg_formula_apply(formula, ...)        ((void)(formula), TG_NONE)
#endif

#endif
