#include "examples/programs/gradcheck/remote.h"

#include "examples/programs/data/words.h"
#include "examples/programs/gradcheck/results.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "doubles go over the pipe as they are");

/* ---- base64 (RFC 4648) ---- */

/* A JSON string; NULL if out of memory. */
static json_t *encode(const unsigned char *from, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *text = malloc((size + 2) / 3 * 4 + 1), *at = text;
    for (size_t i = 0; text && i < size; i += 3) {
        const size_t left = size - i;
        const unsigned three =
            (unsigned)from[i] << 16 | (left > 1 ? (unsigned)from[i + 1] << 8 : 0) | (left > 2 ? from[i + 2] : 0u);
        *at++ = digits[three >> 18];
        *at++ = digits[three >> 12 & 63];
        *at++ = left > 1 ? digits[three >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[three & 63] : '=';
    }
    json_t *string = text ? json_stringn(text, (size_t)(at - text)) : NULL;
    free(text);
    return string;
}

static int digit_of(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/* Reads exactly `size` bytes; false if it is anything else. */
static bool decode(const char *from, size_t length, unsigned char *to, size_t size)
{
    if (length != (size + 2) / 3 * 4)
        return false;
    for (size_t i = 0; i < size; i += 3, from += 4) {
        const size_t left = size - i;
        unsigned four = 0;
        for (size_t k = 0; k < 4; k++) {
            const int digit = k > left ? (from[k] == '=' ? 0 : -1) : digit_of(from[k]);
            if (digit < 0)
                return false;
            four = four << 6 | (unsigned)digit;
        }
        for (size_t k = 0; k < 3 && k < left; k++)
            to[i + k] = (unsigned char)(four >> (16 - 8 * k));
    }
    return true;
}

/* ---- arrays ---- */

/* Reads the numbers of nested lists in order; null is NaN. `count` counts all of them, even beyond `size`. */
static bool flatten(const json_t *from, double *to, int64_t size, int64_t *count)
{
    size_t i;
    const json_t *each;
    if (json_is_array(from)) {
        json_array_foreach(from, i, each) if (!flatten(each, to, size, count)) return false;
        return true;
    }
    if (!json_is_number(from) && !json_is_null(from))
        return false;
    if (*count < size)
        to[*count] = json_is_null(from) ? NAN : json_number_value(from);
    ++*count;
    return true;
}

/* Reads an array of `size` numbers, as base64 or as a list. False, with the reason in `why`, if it is anything else. */
static bool read_numbers(const json_t *from, double *to, int64_t size, char *why, size_t room)
{
    int64_t count = 0;
    if (json_is_string(from)) {
        if (decode(json_string_value(from), json_string_length(from), (unsigned char *)to, (size_t)size * sizeof *to))
            return true;
        snprintf(why, room, "is not %lld doubles in base64: it has %zu characters", (long long)size,
                 json_string_length(from));
        return false;
    }
    if (!flatten(from, to, size, &count))
        snprintf(why, room, "is neither base64 nor a list of numbers");
    else if (count != size)
        snprintf(why, room, "has %lld numbers, where %lld are expected", (long long)count, (long long)size);
    else
        return true;
    return false;
}

/* ---- the arrays of a function ---- */

/* Arrays like the outputs, like the inputs, or one matrix [outputs, variables]. */
typedef enum { OUTPUTS, INPUTS, MATRIX } arrays_like;

static int count_of(const remote_function *r, arrays_like what)
{
    return what == OUTPUTS ? r->box.output_count : what == INPUTS ? r->count : 1;
}

static int64_t size_of(const remote_function *r, arrays_like what, int i)
{
    int64_t outputs = 0, variables = 0;
    if (what != MATRIX)
        return tg_shape_size(what == OUTPUTS ? &r->outputs[i] : &r->inputs[i].shape);
    for (int k = 0; k < r->box.output_count; k++)
        outputs += tg_shape_size(&r->outputs[k]);
    for (int k = 0; k < r->count; k++)
        variables += r->inputs[k].fixed || r->inputs[k].integers ? 0 : tg_shape_size(&r->inputs[k].shape);
    return outputs * variables;
}

/* One array of the type of the box, or of integers, as JSON; null for NULL. NULL if out of memory. */
static json_t *array_of(const remote_function *r, const void *numbers, bool integers, int64_t size)
{
    if (!numbers)
        return json_null();
    double *all = malloc((size_t)(size + 1) * sizeof *all);
    for (int64_t i = 0; all && i < size; i++)
        all[i] = integers                          ? ((const int32_t *)numbers)[i]
                 : r->box.type == TG_GRADCHECK_F64 ? ((const double *)numbers)[i]
                                                   : (double)((const float *)numbers)[i];
    json_t *array = !all           ? NULL
                    : r->in_base64 ? encode((const unsigned char *)all, (size_t)size * sizeof *all)
                                   : json_array();
    for (int64_t i = 0; array && !r->in_base64 && i < size; i++)
        json_array_append_new(array, isfinite(all[i]) ? json_real(all[i]) : json_null());
    free(all);
    return array;
}

static json_t *arrays_of(const remote_function *r, const void *const *arrays, arrays_like what)
{
    json_t *list = json_array();
    for (int i = 0; i < count_of(r, what); i++)
        json_array_append_new(list,
                              array_of(r, arrays[i], what == INPUTS && r->inputs[i].integers, size_of(r, what, i)));
    return list;
}

/* ---- evaluations ---- */

/* Records the error in an answer. Returns false. */
static bool object(remote_function *r, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
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
static bool take(remote_function *r, const char *what, const json_t *answer, arrays_like gives, void *const *to)
{
    const json_t *out = json_object_get(answer, "out"), *error = json_object_get(answer, "error");
    const int count = count_of(r, gives);
    if (json_is_string(error))
        return object(r, "its %s says: %s", what, json_string_value(error));
    if (!json_is_array(out) || json_array_size(out) != (size_t)count)
        return object(r, "its %s gives %zu arrays, where %d are expected", what, json_array_size(out), count);
    for (int i = 0; i < count; i++) {
        char why[160];
        const int64_t size = size_of(r, gives, i);
        if (!to[i])
            continue;
        double *numbers = r->box.type == TG_GRADCHECK_F64 ? to[i] : malloc((size_t)(size + 1) * sizeof *numbers);
        const bool fine = numbers && read_numbers(json_array_get(out, (size_t)i), numbers, size, why, sizeof why);
        for (int64_t k = 0; fine && numbers != to[i] && k < size; k++)
            ((float *)to[i])[k] = (float)numbers[k];
        if (numbers != to[i])
            free(numbers);
        if (!fine)
            return object(r, numbers ? "array %d of its %s %s" : "out of memory", i, what, why);
    }
    return true;
}

static bool ask(remote_function *r, const char *what, const void *const *in, const char *key,
                const void *const *vectors, arrays_like like, arrays_like gives, void *const *to)
{
    json_t *request = json_pack("{s:s, s:o}", "ask", what, "in", arrays_of(r, in, INPUTS));
    size_t most = 1 << 16;
    if (vectors)
        json_object_set_new(request, key, arrays_of(r, vectors, like));
    for (int i = 0; i < count_of(r, gives); i++)
        most += 32 * (size_t)size_of(r, gives, i);
    json_t *answer = send(r->of, request) ? read_json(r->of, most, true) : NULL;
    const bool fine = answer && take(r, what, answer, gives, to);
    json_decref(answer);
    return fine;
}

static bool ask_value(const void *const *in, void *const *out, void *user)
{
    return ask(user, "value", in, NULL, NULL, OUTPUTS, OUTPUTS, out);
}

static bool ask_vjp(const void *const *in, const void *const *cotangents, void *const *gradients, void *user)
{
    return ask(user, "vjp", in, "v", cotangents, OUTPUTS, INPUTS, gradients);
}

static bool ask_jvp(const void *const *in, const void *const *tangents, void *const *products, void *user)
{
    return ask(user, "jvp", in, "u", tangents, INPUTS, OUTPUTS, products);
}

static bool ask_jacobian(const void *const *in, void *jacobian, void *user)
{
    return ask(user, "jacobian", in, NULL, NULL, OUTPUTS, MATRIX, &jacobian);
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
    const char *type = json_string_value(json_object_get(from, "type"));
    tg_gradcheck_input *in = &r->inputs[i];
    const char *name = json_string_value(json_object_get(from, "name"));
    if (name)
        json_object_set_new(from, "name", json_string(plain(name)));
    in->name = json_string_value(json_object_get(from, "name"));
    in->fixed = json_is_true(json_object_get(from, "fixed"));
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

static bool read_type(remote_function *r, const json_t *from)
{
    static const char *const names[] = {"f64", "f32", "bf16"};
    for (int i = 0; i < 3; i++)
        if (!from || (json_is_string(from) && strcmp(json_string_value(from), names[i]) == 0))
            return r->box.type = (tg_gradcheck_type)i, true;
    return command_fail(r->of, "'%s': its type can be f64, f32 or bf16", r->name);
}

static bool read_gives(remote_function *r, const json_t *from)
{
    size_t i;
    const json_t *each;
    json_array_foreach(from, i, each)
    {
        const char *what = json_is_string(each) ? json_string_value(each) : "";
        if (strcmp(what, "vjp") == 0)
            r->box.vjp = ask_vjp;
        else if (strcmp(what, "jvp") == 0)
            r->box.jvp = ask_jvp;
        else if (strcmp(what, "jacobian") == 0)
            r->box.jacobian = ask_jacobian;
        else
            return command_fail(r->of, "'%s': it can give vjp, jvp and jacobian, not '%.30s'", r->name, what);
    }
    return r->box.vjp || r->box.jvp || r->box.jacobian ||
           command_fail(r->of, "'%s': it gives no vjp, jvp or jacobian", r->name);
}

static bool read_description(remote_function *r)
{
    const json_t *d = r->description, *inputs = json_object_get(d, "inputs"), *outputs = json_object_get(d, "outputs");
    const char *name = json_string_value(json_object_get(d, "function")),
               *encoding = json_string_value(json_object_get(d, "encoding"));
    if (!name)
        return command_fail(r->of, "the program describes no function: a line with \"function\" is expected");
    snprintf(r->name, sizeof r->name, "%s", name);
    plain_text(r->name);
    r->in_base64 = encoding && strcmp(encoding, "base64") == 0;
    r->count = (int)json_array_size(inputs);
    r->box = (tg_black_box){.name = r->name,
                            .outputs = r->outputs,
                            .output_count = (int)json_array_size(outputs),
                            .value = ask_value,
                            .user = r};
    if (r->count < 1 || r->count > REMOTE_MOST || r->box.output_count < 1 || r->box.output_count > REMOTE_MOST) {
        r->count = 0;
        return command_fail(r->of, "'%s': expected 1 to %d inputs and outputs", r->name, REMOTE_MOST);
    }
    for (int i = 0; i < r->box.output_count; i++)
        if (!read_shape(json_array_get(outputs, (size_t)i), &r->outputs[i]))
            return command_fail(r->of, "'%s': the shape of output %d is none", r->name, i);
    for (int i = 0; i < r->count; i++)
        if (!read_input(r, i, json_array_get(inputs, (size_t)i)))
            return false;
    return read_type(r, json_object_get(d, "type")) && read_gives(r, json_object_get(d, "gives"));
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

void remote_end(remote_function *r, tg_gradcheck_result *result)
{
    const char *why = r->why[0] ? r->why : command_message(r->of);
    if (why[0])
        snprintf(result->why, sizeof result->why, "%s: %s", r->name, why);
    plain_lines(result->why);
    send(r->of,
         json_pack("{s:s, s:s, s:s}", "ask", "end", "result", verdict_name(verdict_of(result)), "why", result->why));
    release(r);
}
