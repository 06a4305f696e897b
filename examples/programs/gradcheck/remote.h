/* Black boxes behind a pipe: functions of another program, one after the other. A line describes each function, and a
 * line follows for each evaluation. The protocol is in docs/gradcheck.md.
 *
 *     remote_function function;
 *     while (remote_next(c, &function)) {
 *         tg_gradcheck_result result = tg_gradcheck_function(&function.box, function.inputs, function.count, NULL);
 *         remote_end(&function, &result);
 *     }
 *     if (command_message(c)[0]) ...                    // the program failed
 */
#pragma once

#include "autograd/gradcheck.h"
#include "examples/programs/system/command.h"

#include <jansson.h>

enum { REMOTE_MOST = 64 /* inputs, and outputs */ };

typedef struct remote_function {
    command_pipe *of;
    json_t *description; /* owns the names */
    char name[128];
    tg_black_box box;
    tg_gradcheck_input inputs[REMOTE_MOST];
    int count;
    tg_shape outputs[REMOTE_MOST];
    void *numbers[REMOTE_MOST]; /* of the inputs: double, or int32_t */
    double value_rtol[REMOTE_MOST], value_atol[REMOTE_MOST];
    char why[256]; /* the first error in an answer; "" if there is none */
    bool broken;   /* it is one of form */
} remote_function;

/* Reads the description of the next function. False if there is none, or the program fails. */
bool remote_next(command_pipe *of, remote_function *r);

/* What its description says about how it is to be checked; `user` is the function. */
void remote_take_options(const remote_function *r, tg_gradcheck_options *options);

/* True after an answer that was none, or of the wrong form: further questions make no sense. An answer may also say
 * that the function fails at the point. */
bool remote_is_broken(const remote_function *r);

/* Sends the result of the check to the program, and frees the function. A result that depends on a wrong answer says
 * so. */
void remote_end(remote_function *r, tg_gradcheck_result *result);
