#include "examples/programs/data/advice.h"
#include "examples/programs/run/net.h"
#include "examples/programs/data/words.h"

/* ---- specification ---- */

#define NET_AT(member) offsetof(net_spec, member)
const program_option net_options[] = {
#include "examples/programs/run/net_options.def"
    {0}};

#define SIZE(name)                                                                     \
    {                                                                                  \
#name, "", "", OPTION_INT, offsetof(net_spec, name), .low = 0, .high = 1 << 30 \
    }
static const program_option spec_sizes[] = {SIZE(inputs),      SIZE(outputs),    SIZE(image_height),
                                            SIZE(image_width), SIZE(vocabulary), {0}};

json_t *net_spec_json(const net_spec *spec)
{
    json_t *object = json_object();
    options_record(net_options, spec, object);
    options_record(spec_sizes, spec, object);
    if (spec->equal_width)
        json_object_set_new(object, "equal_width", json_true());
    if (spec->last)
        json_object_set_new(object, "last_position", json_true());
    return object;
}

const char *net_difference(const net_spec *a, const net_spec *b)
{
    for (const program_option *o = net_options; o->name; o++)
        if (strcmp(o->name, "dropout") != 0 && !options_agree(o, a, b))
            return o->name;
    return NULL;
}

/* ---- the models ---- */

#define TG_NET(name) #name,
const char *const net_models[] = {
#include "nn/saved/nets.def"
    NULL};

#define TG_PLAIN(constant, name, ...) #name,
#define TG_GATED(constant, name, ...) #name,
const char *const net_activations[] = {
#include "nn/activations.def"
    NULL};
#define TG_NORM(constant, name, ...) #name,
const char *const net_norms[] = {
#include "nn/layers/norms.def"
    NULL};
#define TG_INITIALIZER(constant, name, ...) #name,
const char *const net_inits[] = {
#include "nn/initializers.def"
    NULL};

static bool has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return true;
    return false;
}

bool net_takes(const char *model, const char *option)
{
    bool special = false;
    for (int i = 0; net_models[i]; i++)
        special |= has_word(tg_model_traits_of(net_models[i])->options, option);
    return !special || has_word(tg_model_traits_of(model)->options, option);
}

const char *net_keep_text(const char *text)
{
    static char **kept;
    static int count;
    for (int i = 0; i < count; i++)
        if (strcmp(kept[i], text) == 0)
            return kept[i];
    char **more = realloc(kept, ((size_t)count + 1) * sizeof *kept);
    if (!more)
        return NULL;
    kept = more;
    kept[count] = strdup(text);
    return kept[count] ? kept[count++] : NULL;
}

/* ---- activations ---- */

bool net_next_activation(const char **list, char word[], size_t size)
{
    if (!*list)
        return false;
    const char *at = *list + strspn(*list, " "), *from = at;
    for (int depth = 0; *at; at++) {
        depth += *at == '(' ? 1 : *at == ')' && depth > 0 ? -1 : 0;
        if (*at != ',' || depth > 0)
            continue;
        const char *name = at + 1 + strspn(at + 1, " "),
                   *after = name + strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
        after += strspn(after, " ");
        if (after == name || after[0] != '=' || after[1] == '=')
            break;
    }
    const char *end = at;
    while (end > from && end[-1] == ' ')
        end--;
    snprintf(word, size, "%.*s", (int)(end - from), from);
    *list = *at ? at + 1 : NULL;
    return true;
}

const char *net_activation_label(tg_activation activation)
{
    char label[41];
    size_t length = 0;
    for (const char *c = tg_activation_label(activation); *c && length + 1 < sizeof label; c++) {
        const bool plain = strspn(c, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") > 0;
        if (plain || (length > 0 && label[length - 1] != '_'))
            label[length++] = plain ? *c : '_';
    }
    while (length > 1 && label[length - 1] == '_')
        length--;
    label[length] = '\0';
    return net_keep_text(label);
}

bool net_find_activation(const char *word, tg_activation *activation, tg_error *error)
{
    for (int a = 0; tg_activation_name((tg_activation)a); a++)
        if (strcmp(tg_activation_label((tg_activation)a), word) == 0)
            return *activation = (tg_activation)a, true;
    return tg_activation_read(word, activation, error);
}

/* ---- gated nets with the parameters of plain ones ---- */

bool net_is_gated(const char *activation)
{
    tg_activation named;
    return tg_activation_from_name(activation, &named) && tg_activation_is_gated(named);
}

bool net_gates_by_width(const char *model)
{
    return tg_model_traits_of(model)->gated || strcmp(model, "mlp") == 0;
}

/* The number of parameters of the net; -1 and one line if it cannot be made. */
static int64_t size_of(const net_spec *spec, tg_error *error)
{
    const tg_rng rng = tg_rng_seed(1);
    tg_model *made = net_new(spec, &rng, error);
    const int64_t size = made ? tg_parameters_size(tg_model_parameters(made)) : -1;
    tg_model_free(made);
    return size;
}

bool net_spec_equalize(net_spec *spec, tg_error *error)
{
    enum { TRIES = 12 };
    net_spec plain = *spec;
    const tg_model_traits *traits = tg_model_traits_of(spec->model);
    const char **member = traits->gated ? (const char **)(void *)((char *)spec + traits->gated) : NULL;
    int64_t widths[TG_MLP_HIDDEN + 1];
    if (!member || !net_is_gated(spec->activation))
        return true;
    plain.activation = "relu";
    const int64_t wanted = size_of(&plain, error);
    if (wanted < 0 ||
        !tg_widths_read(spec->filters == *member ? "filters" : "hidden", *member, widths, TG_MLP_HIDDEN, error))
        return false;
    double low = 0, high = 1;
    int64_t nearest = INT64_MAX;
    const char *best = *member;
    for (int i = 0; i < TRIES; i++) { /* the size grows with the factor */
        const double factor = 0.5 * (low + high);
        char text[512] = "";
        for (int k = 0; widths[k]; k++) {
            const double width = factor * (double)widths[k];
            text_add(text, sizeof text, "%s%.0f", k ? "," : "", width < 1 ? 1 : width);
        }
        *member = net_keep_text(text);
        const int64_t size = *member ? size_of(spec, error) : -1;
        if (size < 0)
            return false;
        const int64_t off = size < wanted ? wanted - size : size - wanted;
        if (off < nearest) {
            nearest = off;
            best = *member;
        }
        *(size < wanted ? &low : &high) = factor;
    }
    *member = best;
    spec->equal_width = true; /* these are the widths, and not to be changed again */
    return true;
}

int net_least_rows(const net_spec *spec)
{
    return strcmp(spec->norm, tg_norm_name(TG_NORM_BATCH)) == 0 && tg_model_traits_of(spec->model)->rows_alone ? 2 : 1;
}

double net_lost_inputs(tg_activation activation)
{
    enum { POINTS = 160 };
    float at[POINTS];
    int lost = 0;
    for (int i = 0; i < POINTS; i++)
        at[i] = -4 + ((float)i + 0.5F) * 8 / POINTS;
    tg_tape *tape = tg_tape_new();
    const tg_tensor x = tg_constant(tape, TG_F32, at, TG_SHAPE(POINTS));
    const float *y = tg_f32(tg_activation_is_gated(activation)
                                ? tg_activate_gated(activation, x, tg_full(tape, TG_F32, TG_SHAPE(POINTS), 1))
                                : tg_activate(activation, x, NULL));
    for (int i = 0; y && i < POINTS; i++)
        lost += !isfinite(y[i]);
    tg_tape_free(tape);
    return (double)lost / POINTS;
}

const char *net_warning(const net_spec *spec)
{
    tg_activation activation;
    tg_error error;
    int64_t widths[TG_MLP_HIDDEN + 1];
    int depth = 0;
    if (tg_activation_from_name(spec->activation, &activation) && net_lost_inputs(activation) > 0)
        return "is infinite or not a number at inputs between -4 and 4; a net that meets one diverges at every rate";
    if (strcmp(spec->model, "mlp") != 0 || strcmp(spec->norm, tg_norm_name(TG_NORM_NONE)) != 0 ||
        !tg_activation_from_name(spec->activation, &activation) || tg_activation_open_gain(activation, 0.1) == 0 ||
        !tg_widths_read("hidden", spec->hidden, widths, TG_MLP_HIDDEN, &error))
        return NULL;
    while (widths[depth])
        depth++;
    const bool by_default = strcmp(spec->init, tg_init_name(TG_INIT_DEFAULT)) == 0;
    return depth >= 3 && !by_default
               ? "grows or vanishes in three or more hidden layers with this --init; what helps: " ADVICE_NORMALISE
           : depth >= 12 && !tg_activation_is_gated(activation)
               ? "has vanishing gradients in twelve or more hidden layers; what helps: " ADVICE_NORMALISE_DEEP
               : NULL;
}

bool net_residual_is_idle(const net_spec *spec)
{
    int64_t widths[TG_MLP_HIDDEN + 1];
    tg_error error;
    if (!spec->residual || !tg_widths_read("hidden", spec->hidden, widths, TG_MLP_HIDDEN, &error))
        return false;
    for (int i = 0; widths[0] && widths[i + 1]; i++)
        if (widths[i] == widths[i + 1])
            return false;
    return true;
}

/* Adds the options that make the net possible to a refusal of the library, which does not know them. */
static void say_options(const net_spec *spec, const tg_rng *rng, tg_error *error)
{
    net_spec possible = *spec;
    tg_error refused = *error, none;
    possible.patch = 1; /* each model reads one of the three */
    possible.filters = "16";
    possible.equal_width = true;
    tg_model *model = tg_model_of_spec(&possible, rng, &none);
    if (model && tg_model_traits_of(spec->model)->images)
        tg_fail(error, "%.300s, here of %dx%d; choose %s, or --model mlp", refused.text, spec->image_height,
                spec->image_width, strcmp(spec->model, "vit") == 0 ? "another --patch" : "fewer blocks (--filters 16)");
    else if (model)
        tg_fail(error, "%.300s; choose --gated width", refused.text);
    tg_model_free(model);
}

tg_model *net_new(const net_spec *spec, const tg_rng *rng, tg_error *error)
{
    tg_error problem = {""};
    tg_model *model = tg_model_of_spec(spec, rng, &problem);
    const size_t length = strcspn(problem.text, ":");
    bool option = false;
    for (const program_option *o = net_options; o->name; o++)
        option |= strlen(o->name) == length && strncmp(o->name, problem.text, length) == 0;
    if (!model) {
        tg_fail(error, "%s%s", option ? "--" : "", problem.text);
        if (!option)
            say_options(spec, rng, error);
    }
    return model;
}

const tg_mlp *net_mlp(const tg_model *model)
{
    return model->kind == &tg_mlp_kind ? model : NULL;
}

/* ---- the mean of several nets ---- */

bool net_joins(const net_spec *s)
{
    tg_activation activation;
    return strcmp(s->model, "mlp") == 0 && strcmp(s->norm, tg_norm_name(TG_NORM_NONE)) == 0 &&
           tg_activation_from_name(s->activation, &activation) && !tg_activation_is_gated(activation) &&
           tg_activation_number_count(activation, 1) == 0;
}

/* Adds a parameter times a factor to the elements of a larger one from this row and column on; a bias is a column. */
static void place(tg_parameter *to, const tg_parameter *from, int64_t row, int64_t column, double factor)
{
    const bool matrix = from->shape.rank == 2;
    const int64_t width = matrix ? from->shape.dim[1] : 1, stride = matrix ? to->shape.dim[1] : 1;
    for (int64_t i = 0; i < from->shape.dim[0] * width; i++) {
        const int64_t at = (row + i / width) * stride + column + i % width;
        tg_parameter_put(to, at, tg_parameter_get(to, at) + factor * tg_parameter_get(from, i));
    }
}

/* The widths of all nets together. */
static bool join_widths(net_spec *s, int count, int64_t widths[], tg_error *error)
{
    char text[TG_MLP_HIDDEN * 12] = "";
    if (!tg_widths_read("hidden", s->hidden, widths, TG_MLP_HIDDEN, error))
        return false;
    for (int i = 0; widths[i]; i++)
        text_add(text, sizeof text, "%s%lld", i ? "," : "", (long long)(count * widths[i]));
    s->hidden = widths[0] ? net_keep_text(text) : s->hidden;
    if (widths[0] && widths[1])
        s->groups = count * (s->groups > 1 ? s->groups : 1);
    return s->hidden || tg_fail(error, "out of memory");
}

tg_model *net_join(net_spec *s, tg_model *const nets[], int count, tg_error *error)
{
    int64_t widths[TG_MLP_HIDDEN + 1];
    const tg_rng any = tg_rng_seed(1);
    tg_model *joined = join_widths(s, count, widths, error) ? net_new(s, &any, error) : NULL;
    tg_parameters *to = joined ? tg_model_parameters(joined) : NULL;
    for (int p = 0; joined && p < tg_parameters_count(to); p++) {
        const int layer = p / 2; /* its weight, and then its bias */
        const bool last = widths[layer] == 0;
        const int64_t columns = last && layer && p % 2 == 0 ? widths[layer - 1] : 0;
        tg_parameter_fill(tg_parameters_at(to, p), 0);
        for (int i = 0; i < count; i++)
            place(tg_parameters_at(to, p), tg_parameters_at(tg_model_parameters(nets[i]), p),
                  last ? 0 : i * widths[layer], i * columns, last ? 1. / count : 1);
    }
    if (joined)
        tg_parameters_changed(to);
    return joined;
}
