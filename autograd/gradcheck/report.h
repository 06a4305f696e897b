/* The output of a check: its result and its sentences. Internal. */
#ifndef TG_GRADCHECK_REPORT_H
#define TG_GRADCHECK_REPORT_H

#include "autograd/gradcheck.h"
#include "autograd/base/text.h"

typedef struct tg_check_report {
    const char *name; /* of the operation; "the function" */
    const tg_gradcheck_input *inputs;
    int count;
    double like;                   /* derivatives that differ by less than this part are called the same in words */
    tg_gradcheck_result result;    /* over all parts so far: comparisons, or the variants of an operation's samples */
    tg_gradcheck_result undecided; /* the first undecided part, if result.undecided > 0 */
} tg_check_report;

/* The value of an input may be a parameter's. */
static inline bool tg_check_is_varied(const tg_gradcheck_input *input)
{
    return !input->fixed && !input->integers;
}

static inline const tg_shape *tg_check_shape_of(const tg_gradcheck_input *input)
{
    return input->parameter ? &input->parameter->shape : &input->shape;
}

static inline const double *tg_check_data_of(const tg_gradcheck_input *input)
{
    return input->parameter ? input->parameter->data : input->data;
}

/* A result that is neither passed nor failed, and names no input. */
static inline tg_gradcheck_result tg_check_no_result(int sample)
{
    return (tg_gradcheck_result){.sample = sample, .input = -1, .index = -1, .operation = -1};
}

/* Records a failure outside the comparisons, with its sentence. */
#if defined __GNUC__
__attribute__((format(printf, 3, 0)))
#endif
void tg_check_fail(tg_check_report *report, tg_gradcheck_status status, const char *format, va_list arguments);

/* "input 1 at [2, 1]", or by its name; without the place if the index is -1. "[2, 1]"; nothing of a scalar */
void tg_check_add_element(tg_text *text, const tg_check_report *report, int input, int64_t index);
void tg_check_add_index(tg_text *text, const tg_shape *shape, int64_t index);

/* Words for a simple factor between found and expected, like "twice as large"; NULL for other factors. */
const char *tg_check_factor(double factor, double like, char *text, size_t size);

/* Adds a part to the result, which shows the first failure or else the worst part. An undecided part becomes the result
 * only if all others pass. */
void tg_check_add_part(tg_check_report *report, const tg_gradcheck_result *part);
void tg_check_end_parts(tg_check_report *report);

/* Writes which sample, input, index and order a result refers to. */
void tg_check_where(const tg_check_report *report, tg_gradcheck_result *v);

/* Writes the sentence of a failed comparison (`how` says how several elements were moved; "" for one), and of a passed
 * check (`sharp` is the largest bound that counts as sharp). */
void tg_check_explain_failure(const tg_check_report *report, tg_gradcheck_result *v, const char *how);
void tg_check_explain_success(const char *name, double sharp, tg_gradcheck_result *result);

#endif
