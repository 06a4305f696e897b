/* The functions that programs compute under the name GELU or another activation: those of the library, and the
 * approximations and variants that runtimes use instead.
 *
 *     for (int i = 0; i < identify_form_count(); i++)
 *         printf("%s: %s\n", identify_form_at(i)->name, identify_form_at(i)->formula);
 */
#ifndef IDENTIFY_FORMS_H
#define IDENTIFY_FORMS_H

#include <tapegrad.h>

typedef struct identify_form {
    const char *name, *formula;
    tg_activation activation;   /* the library's activation, if `function` is NULL */
    double (*function)(double); /* another function */
    const char *used;           /* where that function is used; may be NULL */
} identify_form;

int identify_form_count(void);
const identify_form *identify_form_at(int i);

/* Programs, models and libraries that compute it; may be NULL. */
const char *identify_form_used(const identify_form *form);

/* y[i] = form(x[i]) in double, within a few ulp. Resets the tape; false if memory runs out. */
bool identify_evaluate(const identify_form *form, tg_tape *tape, int64_t count, const double x[], double y[]);

#endif
