/* Public derivative calls: validate, reuse the recorded pass of the previous step, or record a new one. */
#include "autograd/reverse/backward.h"
#include "autograd/reverse/notes.h"
#include "autograd/ops.h"
#include "autograd/tape/repeat.h"

#include <string.h>

/* ---- checking ---- */

/* The tape of the first output, or else input, that has one. */
static tg_tape *tape_of(const tg_request *r)
{
    tg_tape *tape = tg_tape_of_any(r->outputs, r->output_count);
    return tape ? tape : tg_tape_of_any(r->inputs, r->input_count);
}

/* True if all are alive, of one tape, and floating; otherwise the error is recorded. */
static bool is_usable(tg_tape *tape, const char *function, const char *what, const tg_tensor *tensors, int count)
{
    for (int i = 0; i < count; i++) {
        const char *problem = tg_tape_problem(tape, tensors[i]);
        if (!problem && tg_value_of(tensors[i])->dtype == TG_I32)
            problem = "an integer tensor";
        if (problem)
            return tg_tape_fail(tape, "%s: %s %d is %s", function, what, i, problem);
    }
    return true;
}

/* ---- reusing the pass of the previous step ---- */

/* Lists the values of tensors, NULL for inert ones; false if a tensor is dead. */
static bool list_values(const tg_value **values, const tg_tensor *tensors, int count)
{
    for (int i = 0; tensors && i < count; i++) {
        values[i] = tg_value_of(tensors[i]);
        if (tensors[i].value && !values[i])
            return false;
    }
    return true;
}

/* Writes the request as the pass of the previous step that would serve it; false if none could: tensors are dead, or
 * the step has hooks, which run in each step. */
static bool ask(tg_tape *tape, const tg_request *r, tg_pass *asked)
{
    const tg_notes *notes = tg_notes_of(tape);
    *asked = (tg_pass){.output_count = r->output_count,
                       .input_count = r->input_count,
                       .retained_count = r->input_count > 0 ? 0 : notes->retained_count,
                       .create_graph = r->create_graph,
                       .mode = tape->program.context.mode & TG_MODE_DETACHED,
                       .region = tape->program.context.region};
    asked->values = tg_tape_scratch(tape, tg_pass_values(asked), sizeof *asked->values);
    if (notes->hooks || !asked->values)
        return false;
    const tg_value **cotangents = asked->values + r->output_count, **inputs = cotangents + r->output_count;
    const tg_retained *one = notes->retained;
    for (int i = 0; i < asked->retained_count; i++, one = one->next)
        inputs[r->input_count + i] = tg_value_of(one->tensor);
    return list_values(asked->values, r->outputs, r->output_count) &&
           list_values(cotangents, r->cotangents, r->output_count) && list_values(inputs, r->inputs, r->input_count);
}

/* Computes a pass of the previous step, whose values are now part of this one. */
static bool run_again(tg_tape *tape, const tg_pass *pass, const tg_request *r)
{
    for (int j = 0; j < r->input_count; j++)
        r->gradients[j] = tg_tensor_of(pass->gradients[j]);
    if (tg_tape_compute(tape))
        return true;
    tg_program_remove(&tape->program, pass->start); /* what is left of it must not be computed later */
    return false;
}

/* Keeps the pass, for which was asked and which ends here, so that the next step may run it as a whole. */
static bool remember(tg_tape *tape, const tg_pass *asked, const tg_request *r, int64_t start)
{
    tg_program *program = &tape->program;
    const size_t bytes = tg_pass_values(asked) * sizeof *asked->values;
    tg_pass *pass = tg_program_take(program, sizeof *pass, _Alignof(tg_pass));
    const tg_value **values = tg_program_take(program, bytes, sizeof(void *));
    tg_value **gradients = tg_program_take(program, (size_t)r->input_count * sizeof *gradients, sizeof(void *));
    if (!pass || !values || !gradients)
        return false;
    *pass = *asked;
    pass->start = start;
    pass->end = program->count;
    pass->values = memcpy(values, asked->values, bytes);
    pass->gradients = gradients;
    for (int j = 0; j < r->input_count; j++)
        gradients[j] = tg_value_of(r->gradients[j]);
    return tg_program_list(program, &program->passes, pass);
}

/* Records a pass. Its results may be read until the step ends, also on a tape that saves memory. */
static bool record(tg_tape *tape, const tg_pass *asked, const tg_request *r)
{
    const int64_t start = tape->program.count;
    if (!tg_record_pass(tape, r))
        return false;
    for (int j = 0; j < r->input_count; j++)
        tg_value_of(r->gradients[j])->is_kept = true;
    return !asked || remember(tape, asked, r, start);
}

static void clear_results(const tg_request *r)
{
    for (int j = 0; r->gradients && j < r->input_count; j++)
        r->gradients[j] = TG_NONE;
}

/* Checks a request, and reruns the pass of the previous step for it, or records a new one. */
static bool differentiate(const tg_request *r)
{
    clear_results(r);
    tg_tape *tape = tape_of(r);
    if (!tape || tg_program_failed(&tape->program) || !tg_tape_allows(tape, r->function) ||
        !is_usable(tape, r->function, "output", r->outputs, r->output_count) ||
        !is_usable(tape, r->function, "input", r->inputs, r->input_count))
        return false;
    tg_pass asked;
    const int64_t scratch = tg_arena_here(&tape->scratch);
    const bool may_repeat = ask(tape, r, &asked);
    const tg_pass *pass = may_repeat ? tg_repeat_pass(&tape->program, &asked) : NULL;
    const bool fine = !tg_program_failed(&tape->program) &&
                      (pass ? run_again(tape, pass, r) : record(tape, may_repeat ? &asked : NULL, r));
    tg_arena_rewind(&tape->scratch, scratch);
    if (!fine)
        clear_results(r);
    return fine;
}

/* ---- backward ---- */

/* True if the tensor has one element; otherwise the error is recorded, with advice. */
static bool is_scalar(const char *function, tg_tensor loss, const char *advice)
{
    const tg_value *value = tg_value_of(loss);
    char shape[128];
    if (value && value->size != 1)
        tg_tape_fail(tg_tape_at(value), "%s: expected a loss of one element, not %s%s", function,
                     tg_shape_text(value->shape, shape, sizeof shape), advice);
    return value && value->size == 1;
}

static bool backward(const char *function, tg_tensor output, tg_tensor cotangent)
{
    const tg_value *value = tg_value_of(output);
    if (value && !value->requires_grad) {
        if (tg_tape_allows(tg_tape_at(value), function))
            tg_tape_fail(
                tg_tape_at(value),
                "%s: the tensor depends on no parameter and no variable (or was made inside tg_no_grad_begin), "
                "so there is nothing to differentiate",
                function);
        return false;
    }
    return differentiate(&(tg_request){.function = function,
                                       .cotangent_name = "cotangent",
                                       .outputs = &output,
                                       .output_count = 1,
                                       .cotangents = &cotangent});
}

bool tg_backward_from(tg_tensor output, tg_tensor cotangent)
{
    return backward("tg_backward_from", output, cotangent);
}

/* An inert or stale loss has no size to be checked; `backward` refuses it. */
bool tg_backward(tg_tensor loss)
{
    return (!tg_ok(loss) || is_scalar("tg_backward", loss, "; reduce it, or give a cotangent to tg_backward_from")) &&
           backward("tg_backward", loss, (tg_tensor){0});
}

tg_tensor tg_gradient(tg_tensor x)
{
    const tg_value *value = tg_value_of(x);
    tg_value *gradient = value ? value->gradient : NULL;
    while (gradient && gradient->index >= gradient->program->count) /* from a pass that this step has not reached yet */
        gradient = gradient->earlier;
    return tg_tensor_of(gradient);
}

/* ---- gradients as tensors ---- */

/* Rejects lists that are NULL or empty; `results` is another one, of as many tensors as the inputs. */
static bool has_lists(const tg_request *r, const tg_tensor *results)
{
    return (r->outputs && r->inputs && results && r->output_count > 0 && r->input_count > 0) ||
           tg_tape_fail(tape_of(r),
                        "%s: expected outputs, inputs and room for the results, none of them NULL or "
                        "of no tensors",
                        r->function);
}

/* The derivatives of <cotangents, outputs> by the inputs. */
static tg_request request_of(const char *function, const tg_tensor *outputs, int output_count,
                             const tg_tensor *cotangents, const tg_tensor *inputs, int input_count,
                             tg_tensor *gradients)
{
    return (tg_request){.function = function,
                        .cotangent_name = "cotangent",
                        .outputs = outputs,
                        .output_count = output_count,
                        .cotangents = cotangents,
                        .inputs = inputs,
                        .input_count = input_count,
                        .gradients = gradients};
}

bool tg_grad(const tg_tensor *outputs, int output_count, const tg_tensor *inputs, int input_count,
             const tg_tensor *cotangents, bool create_graph, tg_tensor *gradients)
{
    tg_request r = request_of("tg_grad", outputs, output_count, cotangents, inputs, input_count, gradients);
    r.create_graph = create_graph;
    clear_results(&r);
    return has_lists(&r, gradients) && differentiate(&r);
}

bool tg_vjp(tg_tensor y, tg_tensor cotangent, const tg_tensor *inputs, int count, tg_tensor *results)
{
    const tg_request r = request_of("tg_vjp", &y, 1, &cotangent, inputs, count, results);
    return has_lists(&r, results) && differentiate(&r);
}

/* Differentiates the sum of the first request's gradients times the vectors. These are the caller's: an inert one,
 * which elsewhere means ones, is an error. */
static bool differentiate_twice(tg_request first, const char *vector, const tg_tensor *vectors, const tg_tensor *by,
                                int count, tg_tensor *results)
{
    tg_tape *tape = tg_tape_of(first.outputs[0]);
    const int64_t scratch = tg_arena_here(&tape->scratch);
    first.gradients = tg_tape_scratch(tape, (size_t)first.input_count, sizeof *first.gradients);
    first.create_graph = true;
    tg_request second = request_of(first.function, first.gradients, first.input_count, vectors, by, count, results);
    second.cotangent_name = vector;
    const bool fine = first.gradients && differentiate(&first) &&
                      is_usable(tape, first.function, vector, vectors, first.input_count) && differentiate(&second);
    tg_arena_rewind(&tape->scratch, scratch);
    return fine;
}

/* d/dc of c^T (dy / d inputs) tangents, at any c: the vector-Jacobian product is linear in c. */
tg_tensor tg_jvp(tg_tensor y, const tg_tensor *inputs, const tg_tensor *tangents, int count)
{
    tg_tape *tape = tg_tape_of(y);
    tg_tensor cotangent, result;
    const tg_request first = request_of("tg_jvp", &y, 1, &cotangent, inputs, count, NULL);
    if (!has_lists(&first, tangents) || !tape || tg_program_failed(&tape->program))
        return TG_NONE;
    cotangent = tg_full(tape, tg_dtype_of(y), tg_shape_of(y), 0);
    return differentiate_twice(first, "tangent", tangents, &cotangent, 1, &result) ? result : TG_NONE;
}

bool tg_hvp(tg_tensor loss, const tg_tensor *inputs, const tg_tensor *vectors, int count, tg_tensor *results)
{
    const tg_request first = request_of("tg_hvp", &loss, 1, NULL, inputs, count, results);
    clear_results(&first);
    return has_lists(&first, results) && has_lists(&first, vectors) && is_scalar("tg_hvp", loss, "") &&
           differentiate_twice(first, "vector", vectors, inputs, count, results);
}

/* ---- dense matrices ---- */

/* The unit cotangent that selects element `index`. */
static tg_tensor unit_vector(tg_tensor like, int64_t index)
{
    const tg_shape shape = tg_shape_of(like), one = {.rank = 1, .dim = {1}}, flat = {.rank = 1, .dim = {tg_size(like)}};
    tg_tensor single = tg_full(tg_tape_of(like), tg_dtype_of(like), one, 1);
    tg_tensor vector =
        tg_scatter_slice(single, (tg_shape){.rank = 1, .dim = {index}}, (tg_shape){.rank = 1, .dim = {1}}, flat, 0);
    return tg_reshape(vector, shape);
}

/* Row by row. */
static tg_tensor jacobian(const char *function, tg_tensor y, tg_tensor x)
{
    tg_tape *tape = tg_tape_of(y);
    const int64_t rows = tg_size(y), columns = tg_size(x);
    if (!tape || tg_program_failed(&tape->program) || !tg_tape_allows(tape, function) ||
        !is_usable(tape, function, "tensor", (tg_tensor[]){y, x}, 2))
        return TG_NONE;
    if (rows > INT32_MAX)
        tg_tape_fail(tape, "%s: %lld rows are too many", function, (long long)rows);
    if (rows == 0 || tg_program_failed(&tape->program))
        return tg_full(tape, tg_dtype_of(y), TG_SHAPE(rows, columns), 0);
    const int64_t scratch = tg_arena_here(&tape->scratch);
    tg_tensor *all = tg_tape_scratch(tape, (size_t)rows, sizeof *all);
    bool fine = all != NULL;
    for (int64_t i = 0; i < rows && fine; i++) {
        tg_tensor cotangent = unit_vector(y, i), row;
        const tg_request r = request_of(function, &y, 1, &cotangent, &x, 1, &row);
        fine = differentiate(&r);
        all[i] = tg_reshape(row, TG_SHAPE(1, columns));
    }
    const tg_tensor result = fine ? tg_concat(all, (int)rows, 0) : TG_NONE;
    tg_arena_rewind(&tape->scratch, scratch);
    return result;
}

tg_tensor tg_jacobian(tg_tensor y, tg_tensor x)
{
    return jacobian("tg_jacobian", y, x);
}

tg_tensor tg_hessian(tg_tensor loss, tg_tensor x)
{
    tg_tensor gradient;
    tg_request r = request_of("tg_hessian", &loss, 1, NULL, &x, 1, &gradient);
    r.create_graph = true;
    return is_scalar("tg_hessian", loss, "") && differentiate(&r) ? jacobian("tg_hessian", gradient, x) : TG_NONE;
}
