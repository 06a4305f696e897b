#include "examples/programs/gradcheck/layer_checks.h"

#include "examples/programs/gradcheck/results.h"
#include "nn/layers/rotary.h"
#include "nn/models/models.h"

#include "examples/programs/system/standard.h"

enum { MOST_CHECKS = 400, MOST_INPUTS = 24, ELEMENTS = 128 /* maximum number of elements of x */ };

/* ---- the list ---- */

static layer_check checks[MOST_CHECKS];
static int count;

static void list(const tg_layer_kind *layer, const tg_model_kind *model)
{
    const tg_layer_sample *samples = layer ? layer->samples : model->samples;
    for (int i = 0; samples && samples[i].about && count < MOST_CHECKS; i++) {
        layer_check *check = &checks[count++];
        *check = (layer_check){
            .about = samples[i].about, .layer = layer, .model = model, .sample = &samples[i], .number = i};
        snprintf(check->name, sizeof check->name, "%s%s%s", layer ? layer->name : model->name,
                 *samples[i].name ? "." : "", samples[i].name);
    }
}

const layer_check *layer_check_at(int index)
{
    if (count == 0) {
        for (int i = 0; tg_layer_kind_at(i); i++)
            list(tg_layer_kind_at(i), NULL);
        for (int i = 0; tg_model_kind_at(i); i++)
            list(NULL, tg_model_kind_at(i));
    }
    return index >= 0 && index < count ? &checks[index] : NULL;
}

const char *layer_check_category(const layer_check *check)
{
    return check->layer ? check->layer->category : "model";
}

/* ---- a check ---- */

/* The subject of a check: a layer with its memory, or a model. */
typedef struct subject {
    const layer_check *check;
    uint64_t seed; /* of random numbers in training */
    tg_parameters *set;
    tg_layer layer;
    void *memory;
    tg_model *model;
} subject;

static void add_model(subject *s, const tg_shape *shape)
{
    const tg_rng rng = tg_rng_seed(s->seed);
    const tg_model_kind *kind = s->check->model;
    void *config = calloc(1, kind->config_size);
    if (config) {
        kind->configure(config, shape, s->check->number);
        s->model = tg_model_new(kind, &rng, config);
    }
    free(config);
    s->set = tg_model_parameters(s->model);
}

static void add_layer(subject *s, const tg_shape *shape)
{
    const tg_layer_kind *kind = s->check->layer;
    s->set = tg_parameters_new(TG_F64);
    s->memory = calloc(1, kind->size + 1);
    if (s->memory)
        s->layer = kind->add(s->memory, s->set, kind->name, shape, s->check->number);
}

static bool make(subject *s, tg_shape shape)
{
    (s->check->model ? add_model : add_layer)(s, &shape);
    if ((!s->model && !s->layer.kind) || !s->set || tg_parameters_error(s->set))
        return false;
    tg_rng rng = tg_rng_seed(s->seed);
    rng = tg_rng_stream(&rng, "parameters");
    for (int k = 0; k < tg_parameters_count(s->set); k++) {
        tg_parameter *parameter = tg_parameters_at(s->set, k);
        const bool variance = strstr(parameter->name, "running_var") != NULL;
        for (int64_t i = 0; i < tg_shape_size(&parameter->shape); i++) {
            const double drawn = 0.7 * tg_rng_normal(&rng);
            tg_parameter_put(parameter, i, variance ? 0.5 + fabs(drawn) : drawn);
        }
    }
    return true;
}

static void discard(subject *s)
{
    if (s->check->layer)
        tg_parameters_free(s->set);
    tg_model_free(s->model);
    free(s->memory);
}

static tg_tensor forward(tg_tape *tape, const tg_tensor *inputs, int inputs_count, void *user)
{
    const subject *s = user;
    const tg_layer_sample *sample = s->check->sample;
    const tg_tensor x = inputs[0];
    tg_rng training = tg_rng_seed(s->seed); /* the same in each call */
    tg_layer_pass pass = {.training = sample->training ? &training : NULL};
    const int64_t batch = tg_dim(x, 0), positions = tg_dim(x, 1);
    (void)inputs_count;
    if (sample->rotary)
        pass.rotary = tg_rotary_angles(tape, TG_F64, positions, sample->rotary, 10000);
    if (sample->padded && positions > 1) {
        double keep[ELEMENTS];
        for (int64_t i = 0; i < batch * positions; i++)
            keep[i] = i != positions - 1;
        pass.padding = tg_constant(tape, TG_F64, keep, TG_SHAPE(batch, positions));
    }
    return s->model ? tg_model_forward_with(s->model, x, &pass) : s->layer.kind->forward(&s->layer, x, &pass);
}

static tg_gradcheck_result refuse(const subject *s, const char *why)
{
    tg_gradcheck_result result = {.status = TG_GRADCHECK_REFUSED, .sample = -1, .input = -1, .index = -1};
    const char *error = s->set ? tg_parameters_error(s->set) : NULL;
    snprintf(result.why, sizeof result.why, "%s", error ? error : why);
    return result;
}

static tg_gradcheck_result check_shape(const layer_check *check, tg_shape shape, const tg_gradcheck_options *options)
{
    const tg_layer_sample *sample = check->sample;
    subject s = {.check = check, .seed = options->seed};
    double x[ELEMENTS];
    int32_t ids[ELEMENTS];
    tg_rng rng = tg_rng_seed(options->seed);
    rng = tg_rng_stream(&rng, check->name);
    for (int i = 0; i < ELEMENTS; i++) {
        x[i] = tg_rng_normal(&rng);
        ids[i] = sample->ids ? (int32_t)tg_rng_below(&rng, (uint64_t)sample->ids) : 0;
    }
    tg_gradcheck_input in = {.name = "x",
                             .shape = shape,
                             .data = sample->ids ? NULL : x,
                             .integers = sample->ids ? ids : NULL,
                             .fixed = sample->ids};
    tg_gradcheck_result result;
    if (tg_shape_size(&shape) > ELEMENTS || !make(&s, shape))
        result = refuse(&s, "out of memory, or more elements than there is room for");
    else if (strcmp(layer_check_category(check), "layer") != 0)
        result = tg_gradcheck_parameters(forward, &s, &in, 1, s.set, options);
    else if (tg_parameters_count(s.set) >= MOST_INPUTS)
        result = refuse(&s, "too many parameters for a layer");
    else {
        tg_gradcheck_input inputs[MOST_INPUTS] = {in};
        for (int i = 0; i < tg_parameters_count(s.set); i++) {
            tg_parameter *parameter = tg_parameters_at(s.set, i);
            inputs[i + 1] = (tg_gradcheck_input){.parameter = parameter, .fixed = !parameter->gradient};
        }
        result = tg_gradcheck(forward, &s, inputs, tg_parameters_count(s.set) + 1, options);
    }
    discard(&s);
    return result;
}

tg_gradcheck_result layer_check_run(const layer_check *check, const tg_gradcheck_options *options)
{
    const tg_layer_sample *sample = check->sample;
    tg_gradcheck_result total = check_shape(check, sample->shapes[0], options);
    for (int i = 1; sample->shapes[i].rank > 0; i++) {
        const tg_gradcheck_result next = check_shape(check, sample->shapes[i], options);
        gradcheck_result_join(&total, &next);
        total.samples += next.samples;
    }
    if (total.passed)
        return total;
    char why[sizeof total.why];
    snprintf(why, sizeof why, "%s: %.700s", check->name, total.why);
    memcpy(total.why, why, sizeof why);
    return total;
}
