/* A program as C: the file around its functions. */
#include "autograd/export.h"

#include "autograd/export/writer.h"
#include "autograd/base/shape_internal.h"

#include <math.h>
#include <string.h>

/* ---- weights ---- */

/* Element number `i` of a leaf in the order of the file. */
static double number_at(const tg_writer *w, const tg_value *leaf, int64_t i)
{
    if (w->function[TG_PREDICT].places[leaf->index].transposed)
        i = i % leaf->shape->dim[0] * leaf->shape->dim[1] + i / leaf->shape->dim[0];
    return tg_element(leaf->dtype, tg_writer_data(leaf), i);
}

static void put_number(tg_text *text, tg_dtype dtype, double number)
{
    if (isnan(number) || isinf(number))
        tg_text_add(text, isnan(number) ? "NAN" : number > 0 ? "INFINITY" : "-INFINITY");
    else if (number == 0)
        tg_text_add(text, signbit(number) ? "-0.0" : "0");
    else
        tg_text_add(text, dtype == TG_I32 ? "%.0f" : dtype == TG_F32 ? "%af" : "%a", number);
}

static void put_numbers(tg_writer *w, const tg_value *leaf)
{
    char shape[128];
    const char *name = tg_name_of(leaf);
    tg_text_add(&w->text, "    /* ");
    tg_writer_quote(w, name ? name : "a constant");
    tg_text_add(&w->text, " %s%s */", tg_shape_text(leaf->shape, shape, sizeof shape),
                w->function[TG_PREDICT].places[leaf->index].transposed ? ", transposed" : "");
    for (int64_t i = 0; i < leaf->size; i++) {
        tg_text_add(&w->text, i % 8 == 0 ? "\n    " : " ");
        put_number(&w->text, leaf->dtype, number_at(w, leaf, i));
        tg_text_add(&w->text, ",");
    }
    tg_text_add(&w->text, "\n");
}

/* ---- the file ---- */

static void put_sizes(tg_writer *w)
{
    const int64_t real = (int64_t)tg_dtype_size(w->needed.dtype),
                  weights = w->config->weights_apart ? 0 : w->sizes.weights;
    const int64_t kept = !w->config->step ? 0 : (w->config->step->rule == TG_EXPORT_SGD ? 2 : 3) * w->sizes.parameters;
    tg_text_add(&w->text,
                " *\n * Static memory: %lld bytes for values, %lld of weights and constants, %lld for training.\n",
                (long long)(w->sizes.memory * real + w->sizes.integers * 4),
                (long long)(weights * real + w->sizes.constants * 4), (long long)(kept * real));
    if (w->config->next)
        tg_text_add(&w->text, " * %lld bytes are kept from token to token.\n", (long long)(w->sizes.states * real));
}

static void put_head(tg_writer *w)
{
    const tg_exported *f = &w->function[TG_PREDICT];
    tg_text *text = &w->text;
    char shape[2][128];
    tg_text_add(text, "/* clang-format off */\n/* Made by tapegrad %s; not to be edited.", tg_version());
    if (w->config->title) {
        tg_text_add(text, "\n * ");
        tg_writer_quote(w, w->config->title);
    }
    tg_text_add(text, "\n *");
    tg_writer_heads(w);
    tg_text_add(text, "\n *\n * %s_predict: x is %s, y %s. The result is 0, or -1 if an index is out of range.\n",
                w->name, tg_shape_text(f->argument[0]->shape, shape[0], sizeof shape[0]),
                tg_shape_text(f->result->shape, shape[1], sizeof shape[1]));
    if (w->config->next)
        tg_text_add(text,
                    " * %s_next reads one more token of a sequence: y are the logits of the one after it. The result "
                    "is 0, or -1,\n"
                    " * with nothing changed, if the token is out of range%s. %s_begin begins the next sequence.\n",
                    w->name, w->config->next->most ? " or the context is full" : "", w->name);
    if (w->config->step)
        tg_text_add(
            text,
            " * %s_train: a step for each batch of %lld of the n rows. The result is the last one's loss, or NaN if\n"
            " * an index is out of range. %s_rate sets the learning rate of the steps to come.\n",
            w->name, (long long)w->function[TG_STEP].argument[0]->shape->dim[0], w->name);
    if (w->config->weights_apart)
        tg_text_add(
            text, " * First comes %s_weights(w), w with the %lld bytes of the file of weights; they are not copied.\n",
            w->name, (long long)(w->sizes.weights * (int64_t)tg_dtype_size(w->needed.dtype)));
    put_sizes(w);
    tg_text_add(
        text,
        " * C99, to be compiled without contraction, and with fused multiply-adds where the processor has them:\n"
        " * cc -std=c99 -O3 -ffp-contract=off -march=native%s */\n"
        "#include <float.h>\n#include <math.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
        "#include <stdint.h>\n#include <string.h>\n\n",
        w->config->step && w->config->step->rule != TG_EXPORT_SGD
            ? "\n * -fno-math-errno makes the optimiser's square roots vector code."
            : "");
}

static void put_names(tg_writer *w, const char *what, const tg_export_tensor *of, const tg_value *value)
{
    if (!of->names)
        return;
    tg_text_add(&w->text, "const char *const %s_%s[%lld] = {", w->name, what, (long long)tg_writer_columns(value));
    for (int64_t i = 0; i < tg_writer_columns(value); i++) {
        tg_text_add(&w->text, "\n    \"");
        tg_writer_quote(w, of->names[i] ? of->names[i] : "");
        tg_text_add(&w->text, "\",");
    }
    tg_text_add(&w->text, "\n};\n\n");
}

static void put_doubles(tg_writer *w, const char *what, const char *of, const double *numbers, int64_t count)
{
    tg_text_add(&w->text, "static const double %s_%s[%lld] = {", of, what, (long long)count);
    for (int64_t i = 0; i < count; i++) {
        tg_text_add(&w->text, i % 6 == 0 ? "\n    " : " ");
        put_number(&w->text, TG_F64, numbers[i]);
        tg_text_add(&w->text, ",");
    }
    tg_text_add(&w->text, "\n};\n");
}

static void put_scale(tg_writer *w, const char *name, const tg_export_tensor *of, const tg_value *value)
{
    if (!of->scale)
        return;
    put_doubles(w, "mean", name, of->mean, tg_writer_columns(value));
    put_doubles(w, "scale", name, of->scale, tg_writer_columns(value));
    if (of->limit)
        put_doubles(w, "limit", name, of->limit, tg_writer_columns(value));
    tg_text_add(&w->text, "\n");
}

static void put_scales(tg_writer *w)
{
    put_scale(w, "input", &w->config->input, w->function[TG_PREDICT].argument[0]);
    put_scale(w, "output", &w->config->output, w->function[TG_PREDICT].result);
    for (int k = 0; k < 2 && w->config->step; k++) {
        const char *name = tg_writer_scale_name(w, &w->function[TG_STEP], k);
        if (name && strcmp(name, "input") != 0 && strcmp(name, "output") != 0)
            put_scale(w, name, w->function[TG_STEP].port[k], w->function[TG_STEP].argument[k]);
    }
}

static void put_weights(tg_writer *w)
{
    const char *constant = w->config->step ? "" : "const ";
    if (w->sizes.constants) {
        tg_text_add(&w->text, "static const int32_t constants[%lld] = {\n", (long long)w->sizes.constants);
        tg_writer_weights(w, true, put_numbers);
        tg_text_add(&w->text, "};\n");
    }
    if (w->sizes.weights && w->config->weights_apart)
        tg_text_add(&w->text,
                    "static %stg_real *weights;\n\nvoid %s_weights(%svoid *w);\nvoid %s_weights(%svoid *w)\n"
                    "{\n    weights = w;\n}\n",
                    constant, w->name, constant, w->name, constant);
    else if (w->sizes.weights) {
        tg_text_add(&w->text, "static %stg_real weights[%lld] = {\n", constant, (long long)w->sizes.weights);
        tg_writer_weights(w, false, put_numbers);
        tg_text_add(&w->text, "};\n");
    }
    tg_text_add(&w->text, "\n");
}

static void put_arrays(tg_writer *w)
{
    put_names(w, "inputs", &w->config->input, w->function[TG_PREDICT].argument[0]);
    put_names(w, "outputs", &w->config->output, w->function[TG_PREDICT].result);
    put_scales(w);
    if (w->sizes.memory)
        tg_text_add(&w->text, "static tg_real memory[%lld];\n", (long long)w->sizes.memory);
    if (w->sizes.integers)
        tg_text_add(&w->text, "static int32_t integers[%lld];\n", (long long)w->sizes.integers);
    put_weights(w);
}

/* ---- the whole file ---- */

size_t tg_export(tg_tape *tape, const tg_export_config *config, char *bytes, size_t size)
{
    tg_writer w;
    bool fine = tg_writer_begin(&w, tape, config) &&
                tg_writer_functions(&w); /* without output, to find which pieces it needs */
    tg_pieces_need(&w.needed, "tg_real TG_INLINE");
    w.text = (tg_text){bytes, size, 0};
    if (fine) {
        put_head(&w);
        tg_pieces_put(&w.text, &w.needed);
        put_arrays(&w);
        fine = tg_writer_functions(&w);
    }
    tg_writer_end(&w);
    return fine ? w.text.used : 0;
}

/* Appends the numbers of a weight. */
static void put_bytes(tg_writer *w, const tg_value *leaf)
{
    const size_t element = tg_dtype_size(leaf->dtype);
    for (int64_t k = 0; k < leaf->size; k++, w->text.used += element) {
        const double number = number_at(w, leaf, k);
        const float narrow = (float)number;
        if (w->text.used + element <= w->text.size)
            memcpy(w->text.bytes + w->text.used, element == sizeof narrow ? (const void *)&narrow : &number, element);
    }
}

size_t tg_export_weights(tg_tape *tape, const tg_export_config *config, void *bytes, size_t size)
{
    tg_writer w;
    const bool fine = tg_writer_begin(&w, tape, config);
    w.text = (tg_text){bytes, size, 0};
    if (fine)
        tg_writer_weights(&w, false, put_bytes);
    tg_writer_end(&w);
    return w.text.used;
}
