/* The readers of files that the library and its programs write: model files, training states, configurations. */
#include "examples/programs/run/card.h"
#include "nn/saved/spec_internal.h"
#include "tests/fuzz/fuzz.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- safetensors ---- */

/* Every tensor can be read and, after writing it again, is the same. */
static void check_tensors(tg_safetensors *file)
{
    tg_error error = {0};
    const tg_file_tensor *tensor;
    for (int i = 0; (tensor = tg_safetensors_at(file, i)); i++) {
        fuzz_require(tg_safetensors_find(file, tensor->name) == tensor && tensor->size >= 0, "a name is not found");
        if (tensor->size > 100000)
            continue;
        double *numbers = malloc((size_t)tensor->size * sizeof *numbers + 1);
        fuzz_require(numbers != NULL, "out of memory");
        const bool floating = strstr(" F16 BF16 F32 F64 ", tensor->dtype) != NULL;
        fuzz_require(tg_safetensors_read(file, tensor, TG_F64, numbers, &error) == floating, "a tensor is not read");
        const tg_file_item item = {tensor->name, TG_F64, tensor->shape, numbers};
        const char *path = fuzz_file("again", "", 0);
        fuzz_require(!floating || tg_safetensors_write(path, &item, 1, NULL, 0, &error), "a tensor is not written");
        tg_safetensors *again = floating ? tg_safetensors_open(path, &error) : NULL;
        const tg_file_tensor *same = again ? tg_safetensors_find(again, tensor->name) : NULL;
        fuzz_require(!floating || (same && tg_shape_equal(&same->shape, &tensor->shape)), "it comes back otherwise");
        tg_safetensors_close(again);
        fuzz_remove("again");
        free(numbers);
    }
}

/* Sets the parameters to known values before a file is read into them. */
static tg_parameters *two_parameters(double before[8])
{
    tg_parameters *set = tg_parameters_new(TG_F64);
    tg_parameters_add(set, "w", TG_SHAPE(2, 3), true);
    tg_parameters_add(set, "b", TG_SHAPE(2), false);
    double *values = tg_parameters_values(set);
    fuzz_require(values != NULL, "out of memory");
    for (int i = 0; i < 8; i++)
        before[i] = values[i] = 0.25 * i;
    return set;
}

static void check_result(const tg_parameters *set, const double before[8], bool read, const char *message)
{
    fuzz_require(read || fuzz_is_one_line(message), "no message of one line");
    fuzz_require(read || memcmp(tg_parameters_values(set), before, 8 * sizeof *before) == 0,
                 "a file that is refused has changed parameters");
}

void fuzz_safetensors(const uint8_t *bytes, size_t size)
{
    tg_error error = {0};
    double before[8];
    const char *path = fuzz_model_file(bytes, size);
    tg_safetensors *file = tg_safetensors_open(path, &error);
    fuzz_require(file || fuzz_is_one_line(error.text), "no message of one line");
    if (file)
        check_tensors(file);
    tg_safetensors_close(file);
    tg_parameters *set = two_parameters(before);
    const tg_rename renames[] = {{"layer.*.weight", "w*"}, {"*.x", "*"}};
    const tg_weights_load_options options = {
        .load = {.allow_missing = true, .allow_unknown = true, .renames = renames, .rename_count = 2}};
    path = fuzz_model_file(bytes, size); /* paths are valid for two calls */
    const bool read = tg_weights_load(set, path, TG_RELU, &options, &error);
    check_result(set, before, read, error.text);
    tg_parameters_free(set);
    fuzz_remove("model");
}

void fuzz_state(const uint8_t *bytes, size_t size)
{
    tg_error error = {0};
    double before[8], kept[2][8] = {{1, 2}, {3}}, blocks[2][8];
    tg_parameters *set = two_parameters(before);
    memcpy(blocks, kept, sizeof blocks);
    const tg_rng generator = tg_rng_seed(3);
    const tg_update_state fresh = {
        .name = "adamw", .states = 2, .state = {blocks[0], blocks[1]}, .steps = 5, .product = {0.5, 0.25}};
    tg_update_state update = fresh;
    tg_rng rng = generator;
    tg_training_state state = {.parameters = set, .update = &update, .rng = {&rng}, .position = 7};
    const bool read = tg_training_state_load(&state, fuzz_model_file(bytes, size), &error);
    check_result(set, before, read, error.text);
    fuzz_require(read || (memcmp(kept, blocks, sizeof kept) == 0 && update.steps == 5 && update.product[1] == 0.25 &&
                          rng.position == generator.position && state.position == 7),
                 "a state that is refused has changed something");
    tg_parameters_free(set);
    fuzz_remove("model");
}

/* ---- configurations ---- */

/* True if the net is quick to build: numbers of at most two digits, and fewer than 64 layers. */
static bool is_small(const uint8_t *bytes, size_t size)
{
    size_t digits = 0, layers = 0;
    for (size_t i = 0; i < size; i++) {
        digits = isdigit(bytes[i]) ? digits + 1 : bytes[i] == 'e' || bytes[i] == 'E' ? digits : 0;
        layers += bytes[i] == 'x' || bytes[i] == ',';
        if (digits > 2 || bytes[i] == '+')
            return false;
    }
    return layers < 64;
}

void fuzz_config(const uint8_t *bytes, size_t size)
{
    tg_error error = {""};
    char text[200];
    net_spec spec;
    char *copy = malloc(size + 1);
    fuzz_require(copy != NULL, "out of memory");
    memcpy(copy, bytes, size);
    copy[size] = '\0';
    tg_json *object = tg_json_read(copy, size, "it", &error);
    if (!object || !tg_model_spec_read(&spec, object, &error))
        fuzz_require(fuzz_is_one_line(error.text), "no message of one line");
    else {
        tg_model_spec_complete(&spec);
        tg_model_spec_describe(&spec, text, sizeof text);
        const tg_rng rng = tg_rng_seed(1);
        tg_model *model = is_small(bytes, size) ? net_new(&spec, &rng, &error) : NULL;
        fuzz_require(model || !is_small(bytes, size) || fuzz_is_one_line(error.text), "no message of one line");
        json_t *written = net_spec_json(&spec);
        char *again = json_dumps(written, JSON_COMPACT);
        net_spec same;
        tg_json *read = tg_json_read(again, strlen(again), "it", &error);
        fuzz_require(read && tg_model_spec_read(&same, read, &error) && !net_difference(&spec, &same),
                     "it comes back otherwise");
        json_decref(written);
        free(read);
        free(again);
        tg_model_free(model);
    }
    free(object);
    free(copy);
}

/* Predicts a row of what an accepted card describes; the card is then the net's. */
static void predict_a_row(tg_card *card)
{
    tg_error error = {""};
    const tg_rng rng = tg_rng_seed(1);
    tg_model *model = tg_model_of_spec(&card->spec, &rng, &error);
    fuzz_require(model || fuzz_is_one_line(error.text), "no message of one line");
    const size_t inputs = (size_t)card->spec.inputs, width = card->columns ? card->columns : inputs;
    fuzz_require(card->inputs == 0 || card->inputs == inputs, "columns for another number of inputs");
    double *row = calloc(width + 1, sizeof *row), *out = calloc(tg_card_results(card) + 1, sizeof *out);
    fuzz_require(row && out, "out of memory");
    tg_model_set_card(model, card);
    if (tg_model_predict(model, row, out))
        tg_card_class(tg_model_card(model), out);
    tg_model_free(model);
    free(row);
    free(out);
}

void fuzz_card(const uint8_t *bytes, size_t size)
{
    tg_error error = {""};
    char *text = calloc(size + 2, 1);
    fuzz_require(text != NULL, "out of memory");
    memcpy(text, bytes, size);
    const tg_metadata lines[] = {{"tapegrad.model", text}, {"tapegrad.data", text + strlen(text) + 1}};
    const char *path = fuzz_file("card", "", 0);
    if (tg_safetensors_write(path, NULL, 0, lines, 2, &error)) {
        tg_card *card = tg_card_read(path, &error);
        if (!card)
            fuzz_require(fuzz_is_one_line(error.text), "no message of one line");
        else if (is_small((const uint8_t *)text, strlen(text)))
            predict_a_row(card);
        else
            tg_card_free(card);
    }
    free(text);
    fuzz_remove("card");
}

/* A formula that is accepted is computed with its derivative, if it has one (x > 0 has none), and is the same formula
 * when its text is read again. */
void fuzz_formula(const uint8_t *bytes, size_t size)
{
    tg_error error = {""};
    char *text = calloc(size + 1, 1);
    fuzz_require(text != NULL, "out of memory");
    memcpy(text, bytes, size);
    tg_formula *formula = tg_formula_new(text, &error);
    if (formula) {
        static const double numbers[] = {-2, -0.5, 0, 0.5, 2};
        tg_formula *again = tg_formula_new(tg_formula_text(formula), &error);
        tg_tape *tape = tg_tape_new();
        const tg_tensor x[2] = {tg_variable(tape, TG_F64, numbers, TG_SHAPE(5)),
                                tg_variable(tape, TG_F64, numbers, TG_SHAPE(5))};
        const tg_tensor y = tg_formula_apply(formula, x, NULL), same = tg_formula_apply(again, x, NULL);
        fuzz_require(tg_ok(y) && tg_size(y) == 5, "a formula that cannot be computed");
        for (int i = 0; i < 5; i++)
            fuzz_require(tg_at(y, i) == tg_at(same, i) || (isnan(tg_at(y, i)) && isnan(tg_at(same, i))),
                         "its text is another formula");
        fuzz_require(tg_backward(tg_sum(y)) || strstr(tg_tape_error(tape), "tg_backward"), "a derivative that fails");
        tg_tape_free(tape);
        tg_formula_free(again);
        tg_formula_free(formula);
    } else
        fuzz_require(fuzz_is_one_line(error.text), "no message of one line");
    free(text);
}
