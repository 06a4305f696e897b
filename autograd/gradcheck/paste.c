/* A failed check as a C program, to paste into a test. */
#include "autograd/gradcheck/paste.h"
#include "autograd/gradcheck/driver.h"

/* The largest number of literals in a program; larger inputs are drawn from their seed, as in the check. */
enum { MOST_NUMBERS = 512 };

static bool is_short(const tg_check *c)
{
    int64_t numbers = 0;
    for (int i = 0; i < c->report.count; i++)
        numbers += tg_shape_size(tg_check_shape_of(&c->report.inputs[i]));
    return numbers <= MOST_NUMBERS;
}

static void add_shape(tg_text *text, const tg_shape *shape)
{
    tg_text_add(text, shape->rank > 0 ? ".shape = TG_SHAPE(" : ".shape = TG_SCALAR");
    for (int axis = 0; axis < shape->rank; axis++)
        tg_text_add(text, "%s%lld", axis ? ", " : "", (long long)shape->dim[axis]);
    tg_text_add(text, shape->rank > 0 ? ")" : "");
}

static void add_numbers(tg_text *text, const tg_check *c)
{
    for (int i = 0; i < c->report.count; i++) {
        const tg_gradcheck_input *in = &c->report.inputs[i];
        const double *data = tg_check_data_of(in);
        const int64_t size = tg_shape_size(tg_check_shape_of(in));
        tg_text_add(text, "    static %s input_%d[] = {",
                    in->integers    ? "const int32_t"
                    : in->parameter ? "double"
                                    : "const double",
                    i);
        for (int64_t k = 0; k < size; k++) {
            tg_text_add(text, k == 0 ? "" : k % 4 == 0 ? ",\n        " : ", ");
            if (in->integers)
                tg_text_add(text, "%d", in->integers[k]);
            else
                tg_text_add(text, "%.17g", data[k]);
        }
        tg_text_add(text, size > 0 ? "};\n" : "0};\n");
        if (in->parameter) {
            tg_text_add(text, "    tg_parameter parameter_%d = {.name = \"%s\", .dtype = TG_F64, ", i,
                        in->parameter->name ? in->parameter->name : "parameter");
            add_shape(text, &in->parameter->shape);
            tg_text_add(text, ", .data = input_%d};\n", i);
        }
    }
}

static void add_list(tg_text *text, const tg_check *c)
{
    tg_text_add(text, "    const tg_gradcheck_input inputs[] = {\n");
    for (int i = 0; i < c->report.count; i++) {
        const tg_gradcheck_input *in = &c->report.inputs[i];
        tg_text_add(text, "        {");
        if (in->name && !in->parameter)
            tg_text_add(text, ".name = \"%s\", ", in->name);
        if (in->parameter)
            tg_text_add(text, ".parameter = &parameter_%d", i);
        else {
            add_shape(text, &in->shape);
            tg_text_add(text, in->integers ? ", .integers = input_%d" : ", .data = input_%d", i);
        }
        tg_text_add(text, in->fixed ? ", .fixed = true},\n" : "},\n");
    }
    tg_text_add(text, "    };\n");
}

static void add_operation(tg_text *text, const char *name)
{
    tg_text_add(text,
                "#ifndef OPERATION\n#define OPERATION tg_op_find(\"%s\") /* or the address of your own */\n#endif\n\n",
                name);
}

/* The operation as a function of its different inputs. */
static void add_apply(tg_text *text, const tg_check_call *call)
{
    const unsigned char *bytes = call->attributes;
    const size_t size = bytes ? call->op->attributes_size : 0;
    if (size > 0)
        tg_text_add(text, "static const _Alignas(16) unsigned char attributes[] = {");
    for (size_t i = 0; i < size; i++)
        tg_text_add(text, "%s%d", i == 0 ? "" : i % 24 == 0 ? ",\n    " : ", ", bytes[i]);
    tg_text_add(text,
                "%sstatic tg_tensor check_me(tg_tape *tape, const tg_tensor *in, int count, void *user)\n{\n"
                "    (void)tape, (void)count, (void)user;\n    return tg_apply(OPERATION, %s, %d, (const tg_tensor[]){",
                size > 0 ? "};\n\n" : "", size > 0 ? "attributes" : "NULL", call->count);
    for (int i = 0; i < call->count; i++)
        tg_text_add(text, "%sin[%d]", i ? ", " : "", call->which[i]);
    tg_text_add(text, "});\n}\n\n");
}

static void add_function(tg_text *text)
{
    tg_text_add(text, "#ifndef FUNCTION\n#define FUNCTION your_function\n#endif\n\n"
                      "tg_tensor FUNCTION(tg_tape *tape, const tg_tensor *in, int count, void *user);\n\n");
}

void tg_check_add_test(tg_text *text, const tg_check *c)
{
    const tg_check_call *call = c->function == tg_check_apply ? c->user : NULL;
    const bool of_numbers = is_short(c);
    if (!of_numbers && !call) {
        tg_text_add(text, "Its inputs are too large for a test to paste: check a smaller one, or with .seed = %llu.\n",
                    (unsigned long long)c->options.seed);
        return;
    }
    tg_text_add(text, "/* A test of it: %s. */\n#include <stdio.h>\n#include <tapegrad.h>\n\n", c->report.name);
    if (call)
        add_operation(text, call->op->name);
    else
        add_function(text);
    if (call && of_numbers)
        add_apply(text, call);
    tg_text_add(text, "int main(void)\n{\n");
    if (of_numbers) {
        add_numbers(text, c);
        add_list(text, c);
    }
    tg_text_add(text, "    tg_gradcheck_options options = {.order = %d, .seed = %llu};\n", c->options.order,
                (unsigned long long)c->options.seed);
    if (of_numbers)
        tg_text_add(text, "    tg_gradcheck_result result = tg_gradcheck(%s, NULL, inputs, %d, &options);\n",
                    call ? "check_me" : "FUNCTION", c->report.count);
    else
        tg_text_add(text, "    tg_gradcheck_result result = tg_gradcheck_op(OPERATION, &options);\n");
    tg_text_add(text, "    puts(result.why);\n    return !result.passed;\n}\n");
}
