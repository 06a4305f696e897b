#include "examples/programs/gradcheck/remote.h"

#include "examples/programs/data/words.h"
#include "examples/programs/gradcheck/results.h"
#include "examples/programs/system/signals.h"

/* ---- arrays ---- */

/* Reads the numbers of nested lists in order; null is NaN. `count` counts all of them, even beyond `size`. */
static bool flatten(const json_t *from, double *to, int64_t size, int64_t *count)
{
    size_t i;
    const json_t *each;
    if (json_is_array(from)) {
        json_array_foreach(from, i, each)
            if (!flatten(each, to, size, count))
                return false;
        return true;
    }
    if (!json_is_number(from) && !json_is_null(from))
        return false;
    if (*count < size)
        to[*count] = json_is_null(from) ? NAN : json_number_value(from);
    ++*count;
    return true;
}

/* Reads an array of `size` numbers. False, with the reason in `why`, if it is anything else. */
static bool read_numbers(const json_t *from, double *to, int64_t size, char *why, size_t room)
{
    int64_t count = 0;
    if (!flatten(from, to, size, &count))
        snprintf(why, room, "is no list of numbers");
    else if (count != size)
        snprintf(why, room, "has %lld numbers, where %lld are expected", (long long)count, (long long)size);
    else
        return true;
    return false;
}

/* The shape of input or output i. */
static const tg_shape *shape_of(const remote_function *r, bool outputs, int i)
{
    return outputs ? &r->outputs[i] : &r->inputs[i].shape;
}

/* Arrays like the inputs or the outputs, of the type of the box or of integers; null for NULL, infinities and NaN. */
static json_t *arrays_of(const remote_function *r, const void *const *arrays, bool outputs)
{
    json_t *list = json_array();
    for (int i = 0; i < (outputs ? r->box.output_count : r->count); i++) {
        const bool integers = !outputs && r->inputs[i].integers, single = r->box.type != TG_GRADCHECK_F64;
        json_t *array = arrays[i] ? json_array() : json_null();
        for (int64_t k = 0; arrays[i] && k < tg_shape_size(shape_of(r, outputs, i)); k++) {
            const double x = integers ? ((const int32_t *)arrays[i])[k]
                             : single ? (double)((const float *)arrays[i])[k]
                                      : ((const double *)arrays[i])[k];
            json_array_append_new(array, isfinite(x) ? json_real(x) : json_null());
        }
        json_array_append_new(list, array);
    }
    return list;
}

/* ---- evaluations ---- */

/* Records the first error in an answer. Returns false. */
static bool object(remote_function *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (!r->why[0])
        vsnprintf(r->why, sizeof r->why, format, arguments);
    va_end(arguments);
    plain_text(r->why);
    return false;
}

/* Reads a line as JSON; NULL on failure, after which the program cannot be used. */
static json_t *read_json(command_pipe *of, size_t most, bool early)
{
    size_t length;
    json_error_t error;
    const char *line = command_read(of, most, &length);
    if (!line)
        return command_message(of)[0] ? NULL : (command_has_ended(of, early), NULL);
    json_t *read = json_loadb(line, length, 0, &error);
    if (!json_is_object(read)) {
        command_fail(of, "the program has written what is no JSON object: '%.*s'", length > 80 ? 80 : (int)length,
                     line);
        json_decref(read);
        return NULL;
    }
    return read;
}

/* Sends an object, which it takes over, in one line. */
static bool send(command_pipe *of, json_t *object)
{
    char *line = json_dumps(object, 0);
    const size_t length = line ? strlen(line) : 0;
    if (line)
        line[length] = '\n';
    const bool sent = line ? command_write(of, line, length + 1) : command_fail(of, "out of memory");
    free(line);
    json_decref(object);
    return sent;
}

/* Copies the answer's arrays into those of `to`, except where that is NULL. */
static bool take(remote_function *r, const char *what, const json_t *answer, bool outputs, void *const *to)
{
    if (r->broken)
        return false;
    const json_t *out = json_object_get(answer, "out"), *error = json_object_get(answer, "error");
    const int count = outputs ? r->box.output_count : r->count;
    if (json_is_string(error))
        return object(r, "its %s says: %s", what, json_string_value(error));
    r->broken = true;
    if (!json_is_array(out) || json_array_size(out) != (size_t)count)
        return object(r, "its %s gives %zu arrays, where %d are expected", what, json_array_size(out), count);
    for (int i = 0; i < count; i++) {
        char why[160] = "is too large";
        const int64_t size = tg_shape_size(shape_of(r, outputs, i));
        double *numbers = to[i] ? malloc((size_t)(size + 1) * sizeof *numbers) : NULL;
        const bool fine = numbers && read_numbers(json_array_get(out, (size_t)i), numbers, size, why, sizeof why);
        for (int64_t k = 0; fine && k < size; k++)
            if (r->box.type == TG_GRADCHECK_F64)
                ((double *)to[i])[k] = numbers[k];
            else
                ((float *)to[i])[k] = (float)numbers[k];
        free(numbers);
        if (to[i] && !fine)
            return object(r, "array %d of its %s %s", i, what, why);
    }
    r->broken = false;
    return true;
}

/* Asks for arrays like the inputs or the outputs, given x and vectors like the others. */
static bool ask(remote_function *r, const char *what, const void *const *in, const char *key,
                const void *const *vectors, bool outputs, void *const *to)
{
    json_t *request = json_pack("{s:s, s:o}", "ask", what, "in", arrays_of(r, in, false));
    size_t most = 1 << 16;
    if (vectors)
        json_object_set_new(request, key, arrays_of(r, vectors, !outputs));
    for (int i = 0; i < (outputs ? r->box.output_count : r->count); i++)
        most += 32 * (size_t)tg_shape_size(shape_of(r, outputs, i));
    json_t *answer = send(r->of, request) ? read_json(r->of, most, true) : NULL;
    const bool fine = answer && take(r, what, answer, outputs, to);
    json_decref(answer);
    return fine;
}

/* Inputs as they are allowed, all in double. Without them nothing can be compared. */
static void ask_projection(double *const *inputs, void *user)
{
    remote_function *r = user;
    const tg_gradcheck_type type = r->box.type;
    r->box.type = TG_GRADCHECK_F64; /* of these arrays */
    if (!ask(r, "project", (const void *const *)inputs, NULL, NULL, false, (void *const *)inputs))
        r->broken |= !signals_caught();
    r->box.type = type;
}

static bool ask_value(const void *const *in, void *const *out, void *user)
{
    return ask(user, "value", in, NULL, NULL, true, out);
}

static bool ask_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    return ask(user, "vjp", in, "v", cotangents, false, gradients);
}

static bool ask_jvp(const void *const *in, const void *const *tangents, void *const *products, void *user)
{
    return ask(user, "jvp", in, "u", tangents, true, products);
}

/* ---- the description ---- */

static bool read_shape(const json_t *from, tg_shape *shape)
{
    *shape = (tg_shape){.rank = (int)json_array_size(from)};
    if (!json_is_array(from) || shape->rank > TG_MAX_RANK)
        return false;
    for (int axis = 0; axis < shape->rank; axis++) {
        const json_t *size = json_array_get(from, (size_t)axis);
        if (!json_is_integer(size) || json_integer_value(size) < 0)
            return false;
        shape->dim[axis] = json_integer_value(size);
    }
    const int64_t size = tg_shape_size(shape);
    return size >= 0 && size <= 1 << 26;
}

static bool read_input(remote_function *r, int i, json_t *from)
{
    char why[160];
    const char *type = json_string_value(json_object_get(from, "type")),
               *name = json_string_value(json_object_get(from, "name"));
    tg_gradcheck_input *in = &r->inputs[i];
    if (name)
        json_object_set_new(from, "name", json_string(plain(name)));
    in->name = json_string_value(json_object_get(from, "name"));
    in->fixed = json_is_true(json_object_get(from, "fixed"));
    in->low = json_number_value(json_object_get(from, "low"));
    in->high = json_number_value(json_object_get(from, "high"));
    if (json_is_number(json_object_get(from, "low")) && !json_is_number(json_object_get(from, "high")))
        in->high = INFINITY;
    if (json_is_number(json_object_get(from, "high")) && !json_is_number(json_object_get(from, "low")))
        in->low = -INFINITY;
    if (!read_shape(json_object_get(from, "shape"), &in->shape))
        return command_fail(r->of, "'%s': the shape of input %d is none", r->name, i);
    const int64_t size = tg_shape_size(&in->shape);
    double *numbers = r->numbers[i] = malloc((size_t)(size + 1) * sizeof *numbers);
    if (!numbers)
        return command_fail(r->of, "out of memory");
    if (!read_numbers(json_object_get(from, "data"), numbers, size, why, sizeof why))
        return command_fail(r->of, "'%s': the data of input %d %s", r->name, i, why);
    if (!type || strcmp(type, "i32") != 0)
        return in->data = numbers, true;
    int32_t *integers = (int32_t *)numbers; /* converted in place, from the first on */
    for (int64_t k = 0; k < size; k++) {
        if (!(fabs(numbers[k]) <= INT32_MAX && numbers[k] == floor(numbers[k])))
            return command_fail(r->of, "'%s': input %d has a number that is no i32", r->name, i);
        const int32_t integer = (int32_t)numbers[k];
        memcpy(&integers[k], &integer, sizeof integer);
    }
    in->integers = integers;
    return true;
}

static bool read_type_and_products(remote_function *r, const json_t *type, const json_t *gives)
{
    static const char *const names[] = {"f64", "f32", "bf16"};
    enum { TYPES = sizeof names / sizeof *names };
    size_t i = 0;
    const json_t *each;
    while (type && i < TYPES && !(json_is_string(type) && strcmp(json_string_value(type), names[i]) == 0))
        i++;
    if (i == TYPES)
        return command_fail(r->of, "'%s': its type can be f64, f32 or bf16", r->name);
    r->box.type = (tg_gradcheck_type)i;
    json_array_foreach(gives, i, each) {
        const char *what = json_is_string(each) ? json_string_value(each) : "";
        if (strcmp(what, "vjp") == 0)
            r->box.vjp = ask_vjp;
        else if (strcmp(what, "jvp") == 0)
            r->box.jvp = ask_jvp;
        else
            return command_fail(r->of, "'%s': it can give vjp and jvp, not '%.30s'", r->name, what);
    }
    return r->box.vjp || r->box.jvp || command_fail(r->of, "'%s': it gives no vjp or jvp", r->name);
}

/* What is promised of each output, unless that is one number for all, or nothing. */
static bool read_promise(remote_function *r, const char *name, double *numbers, const double **to)
{
    const json_t *list = json_object_get(r->description, name);
    char why[160];
    if (!json_is_array(list))
        return true;
    *to = numbers;
    return read_numbers(list, numbers, r->box.output_count, why, sizeof why) ||
           command_fail(r->of, "'%s': its %s %s", r->name, name, why);
}

/* Refuses options of another type than theirs. */
static bool expect_options(remote_function *r)
{
    enum { REAL, REALS, INTEGER, BOOLEAN };
    static const char *const wrong[] = {"no number", "no number", "no whole number", "neither true nor false"};
    static const struct {
        const char *name;
        int type;
    } options[] = {{"rtol", REAL},           {"atol", REAL},         {"value_rtol", REALS},
                   {"value_atol", REALS},    {"largest_step", REAL}, {"directions", INTEGER},
                   {"evaluations", INTEGER}, {"here_only", BOOLEAN}, {"projects", BOOLEAN}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        const json_t *o = json_object_get(r->description, options[i].name);
        const int type = options[i].type;
        const bool fits = type == INTEGER   ? json_is_integer(o)
                          : type == BOOLEAN ? json_is_boolean(o)
                                            : json_is_number(o) || (type == REALS && json_is_array(o));
        if (o && !fits)
            return command_fail(r->of, "'%s': its %s is %s", r->name, options[i].name, wrong[type]);
    }
    return true;
}

static bool read_description(remote_function *r)
{
    const json_t *d = r->description, *inputs = json_object_get(d, "inputs"), *outputs = json_object_get(d, "outputs");
    const char *name = json_string_value(json_object_get(d, "function"));
    const size_t in = json_array_size(inputs), out = json_array_size(outputs);
    if (!name)
        return command_fail(r->of, "the program describes no function: a line with \"function\" is expected");
    snprintf(r->name, sizeof r->name, "%s", name);
    plain_text(r->name);
    if (in < 1 || in > REMOTE_MOST || out < 1 || out > REMOTE_MOST)
        return command_fail(r->of, "'%s': expected 1 to %d inputs and outputs", r->name, REMOTE_MOST);
    r->count = (int)in;
    r->box =
        (tg_black_box){.name = r->name, .outputs = r->outputs, .output_count = (int)out, .value = ask_value, .user = r};
    if (!expect_options(r) || !read_promise(r, "value_rtol", r->value_rtol, &r->box.value_rtol) ||
        !read_promise(r, "value_atol", r->value_atol, &r->box.value_atol))
        return false;
    for (int i = 0; i < r->box.output_count; i++)
        if (!read_shape(json_array_get(outputs, (size_t)i), &r->outputs[i]))
            return command_fail(r->of, "'%s': the shape of output %d is none", r->name, i);
    for (int i = 0; i < r->count; i++)
        if (!read_input(r, i, json_array_get(inputs, (size_t)i)))
            return false;
    return read_type_and_products(r, json_object_get(d, "type"), json_object_get(d, "gives"));
}

static void release(remote_function *r)
{
    for (int i = 0; i < r->count; i++)
        free(r->numbers[i]);
    json_decref(r->description);
}

bool remote_next(command_pipe *of, remote_function *r)
{
    enum { LONGEST = 1 << 30 };
    *r = (remote_function){.of = of};
    r->description = read_json(of, LONGEST, false);
    if (!r->description)
        return false;
    if (read_description(r))
        return true;
    release(r);
    return false;
}

void remote_take_options(const remote_function *r, tg_gradcheck_options *options)
{
    const struct {
        const char *name;
        double *to;
    } reals[] = {{"rtol", &options->rtol},
                 {"atol", &options->atol},
                 {"value_rtol", &options->value_rtol},
                 {"value_atol", &options->value_atol},
                 {"largest_step", &options->largest_step}};
    const json_t *d = r->description, *directions = json_object_get(d, "directions"),
                 *evaluations = json_object_get(d, "evaluations");
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++)
        if (json_is_number(json_object_get(d, reals[i].name)))
            *reals[i].to = json_number_value(json_object_get(d, reals[i].name));
    options->directions = directions ? (int)json_integer_value(directions) : options->directions;
    options->evaluations = evaluations ? json_integer_value(evaluations) : options->evaluations;
    options->here_only |= json_is_true(json_object_get(d, "here_only"));
    options->project = json_is_true(json_object_get(d, "projects")) ? ask_projection : NULL;
}

bool remote_is_broken(const remote_function *r)
{
    return r->broken || command_message(r->of)[0];
}

/* An error of form replaces the result; what the function says where it fails is added. */
void remote_end(remote_function *r, tg_gradcheck_result *result)
{
    const char *message = signals_caught() ? "" : command_message(r->of); /* interrupted: what is known counts */
    if (message[0] || r->broken || (result->status == TG_GRADCHECK_REFUSED && r->why[0]))
        snprintf(result->why, sizeof result->why, "%s: %s", r->name, r->why[0] ? r->why : message);
    else if (r->why[0] && result->failed > 0)
        text_add(result->why, sizeof result->why, "; the first that failed: %s", r->why);
    if (message[0] || r->broken) {
        result->passed = false;
        result->status = TG_GRADCHECK_REFUSED;
    }
    plain_lines(result->why);
    send(r->of,
         json_pack("{s:s, s:s, s:s}", "ask", "end", "result", verdict_name(verdict_of(result)), "why", result->why));
    release(r);
}
