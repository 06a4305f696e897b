/* The functions of the file: one value after the other, in the order of the tape. */
#include "autograd/export/writer.h"
#include "autograd/registry.h"
#include "autograd/update.h"

static const tg_export_step defaults = {.rate = TG_DEFAULT_LEARNING_RATE, TG_ADAM_DEFAULTS};

/* The tensors of a configuration and the names of their standardising arrays; tensors with one array share it. */
const char *tg_writer_scale_name(const tg_writer *w, const tg_exported *f, int argument)
{
    const double *scale = f->port[argument]->scale;
    return !scale                             ? NULL
           : scale == w->config->input.scale  ? "input"
           : scale == w->config->output.scale ? "output"
           : argument == 0                    ? "step_input"
                                              : "target";
}

/* ---- values ---- */

/* "v5 [1, 128] = gelu_exact(v4): x Phi(x), ..." */
static void put_comment(tg_writer *w, const tg_value *value)
{
    char shape[128];
    const char *name = tg_name_of(value), *formula = value->op ? tg_op_formula(value->op) : NULL;
    tg_text_add(&w->text, "\n    /* v%lld %s", (long long)value->index,
                tg_shape_text(value->shape, shape, sizeof shape));
    if (name)
        tg_text_add(&w->text, " ");
    tg_writer_quote(w, name ? name : "");
    if (value->op) {
        tg_text_add(&w->text, " = %s(", value->op->name);
        for (int k = 0; k < value->input_count; k++)
            tg_text_add(&w->text, "%sv%lld", k ? ", " : "", (long long)value->inputs[k]->index);
        if (value->attributes && value->op->fields) {
            tg_text_add(&w->text, value->input_count ? ", " : "");
            tg_text_attributes(&w->text, value);
        }
        tg_text_add(&w->text, ")%s", formula ? ": " : "");
        tg_writer_quote(w, formula ? formula : "");
    }
    tg_text_add(&w->text, " */\n");
}

static void put_declaration(tg_writer *w, const tg_value *value)
{
    const tg_place_of *p = &w->places[value->index];
    const bool integer = value->dtype == TG_I32, computed = p->kind == TG_PLACE_MEMORY || p->kind == TG_PLACE_GRADIENTS;
    const char *type = integer ? "int32_t" : "tg_real", *constant = computed ? "" : "const ";
    const char *array = p->kind == TG_PLACE_GRADIENTS ? "state.gradients"
                        : p->kind == TG_PLACE_STATE   ? "reading.state"
                        : p->kind == TG_PLACE_MEMORY  ? integer ? "integers" : "memory"
                        : p->kind == TG_PLACE_VIEW    ? "$0"
                        : integer                     ? "constants"
                                                      : "weights";
    if (value->size == 0)
        tg_writer_say(w, 1, "%s%s *const $y = NULL; /* empty */\n(void)$y;", constant, type);
    else if (p->kind == TG_PLACE_ARGUMENT)
        tg_writer_say(w, 1, "const %s *const $y = %s;", type, p->argument);
    else
        tg_writer_say(w, 1, "%s%s *const $y = %s + %lld;", constant, type, array, (long long)p->offset);
}

static void put_argument(tg_writer *w, const tg_exported *f, int argument)
{
    const char *name = tg_writer_scale_name(w, f, argument);
    if (name)
        tg_writer_say(w, 1, "standardise($rows, $columns, %s_mean, %s_scale, %s, $y);", name, name,
                      argument == 0 ? "x" : "y");
    if (name && f->port[argument]->limit)
        tg_writer_say(w, 1, "soften($rows, $columns, %s_limit, $y);", name);
}

/* Adds to a gradient that another value has begun, unless the operation does so itself. */
static void put_sum(tg_writer *w, const tg_value *value)
{
    if (w->places[value->index].adds && !value->op->add)
        tg_writer_say(w, 1, "accumulate($count, $y, state.gradients + %lld);",
                      (long long)w->places[tg_places_leaf(w, value->sink)->index].offset);
}

/* Makes it the last row of a state that grows. */
static void put_row(tg_writer *w, const tg_exported *f, const tg_value *value)
{
    for (int i = 0; f == &w->function[TG_NEXT] && i < w->config->next->states; i++) {
        const tg_export_state *state = &w->config->next->state[i];
        if (state->grows && value == tg_value_of(state->after))
            tg_writer_say(w, 1,
                          "memcpy(reading.state + %lld + (size_t)reading.count * $count, $y, $count * sizeof *$y);",
                          (long long)w->places[tg_value_of(state->before)->index].offset);
    }
}

/* Writes all values; the result is then the writer's. */
static bool put_values(tg_writer *w, const tg_exported *f)
{
    w->places = f->places;
    for (int64_t i = 0; i < w->program->count; i++) {
        const tg_value *value = w->value = tg_program_at(w->program, i);
        const tg_place_kind kind = w->places[i].kind;
        if (kind == TG_PLACE_NONE)
            continue;
        put_comment(w, value);
        put_declaration(w, value);
        if (value == f->argument[0] || value == f->argument[1])
            put_argument(w, f, value == f->argument[1]);
        else if ((kind == TG_PLACE_MEMORY || kind == TG_PLACE_GRADIENTS) && !tg_writer_loops(w))
            return false;
        put_sum(w, value);
        put_row(w, f, value);
    }
    w->value = f->result;
    tg_text_add(&w->text, "\n");
    return true;
}

/* Declares a function of the file, and begins it. */
static void begin(tg_writer *w, void (*put_head)(tg_writer *w))
{
    put_head(w);
    tg_text_add(&w->text, ";\n");
    put_head(w);
    tg_text_add(&w->text, "\n{");
}

/* ---- a prediction ---- */

static void put_predict_head(tg_writer *w)
{
    const tg_value *x = w->function[TG_PREDICT].argument[0], *y = w->function[TG_PREDICT].result;
    tg_text_add(&w->text, "int %s_predict(const %s x[%lld], %s y[%lld])", w->name, tg_writer_type(x->dtype),
                (long long)x->size, tg_writer_type(y->dtype), (long long)y->size);
}

static bool put_predict(tg_writer *w)
{
    const tg_exported *f = &w->function[TG_PREDICT];
    begin(w, put_predict_head);
    if (!put_values(w, f))
        return false;
    if (w->config->output.scale)
        tg_writer_say(w, 1, "restore($rows, $columns, output_mean, output_scale, $y, y);");
    else
        tg_writer_say(w, 1, "memcpy(y, $y, $count * sizeof *y);");
    tg_writer_say(w, 1, "return 0;");
    tg_text_add(&w->text, "}\n");
    return true;
}

/* ---- one token of a sequence ---- */

static void put_begin_head(tg_writer *w)
{
    tg_text_add(&w->text, "void %s_begin(void)", w->name);
}

static void put_next_head(tg_writer *w)
{
    const tg_value *y = w->function[TG_NEXT].result;
    tg_text_add(&w->text, "int %s_next(int32_t token, %s y[%lld])", w->name, tg_writer_type(y->dtype),
                (long long)y->size);
}

static void put_reading(tg_writer *w)
{
    tg_text_add(&w->text, "\n/* What is kept from token to token: all of it is 0 at first. */\nstatic struct {\n");
    if (w->sizes.states)
        tg_text_add(&w->text, "    tg_real state[%lld];\n", (long long)w->sizes.states);
    if (w->config->next->most)
        tg_text_add(&w->text, "    int32_t count; /* tokens so far */\n");
    tg_text_add(&w->text, "} reading;\n\n");
}

/* The states that the next token replaces. */
static void put_states(tg_writer *w)
{
    const tg_export_next *next = w->config->next;
    for (int i = 0; i < next->states; i++) {
        w->value = tg_value_of(next->state[i].after);
        if (!next->state[i].grows)
            tg_writer_say(w, 1, "memcpy(reading.state + %lld, $y, $count * sizeof *$y);",
                          (long long)w->places[tg_value_of(next->state[i].before)->index].offset);
    }
    if (next->most)
        tg_writer_say(w, 1, "reading.count++;");
}

static bool put_next(tg_writer *w)
{
    const tg_exported *f = &w->function[TG_NEXT];
    const long long most = (long long)w->config->next->most;
    put_reading(w);
    begin(w, put_begin_head);
    tg_text_add(&w->text, "\n    memset(&reading, 0, sizeof reading);\n}\n\n");
    begin(w, put_next_head);
    tg_text_add(&w->text, "\n");
    if (most)
        tg_writer_say(w, 1, "if (reading.count == %lld)\n    return -1;", most);
    if (!put_values(w, f))
        return false;
    put_states(w);
    w->value = f->result;
    tg_writer_say(w, 1, "memcpy(y, $y, $count * sizeof *y);\nreturn 0;");
    tg_text_add(&w->text, "}\n");
    return true;
}

/* ---- a training step ---- */

static void put_train_head(tg_writer *w)
{
    const tg_exported *f = &w->function[TG_STEP];
    tg_text_add(&w->text, "double %s_train(const %s *x, const %s *y, size_t n)", w->name,
                tg_writer_type(f->argument[0]->dtype), tg_writer_type(f->argument[1]->dtype));
}

static void put_rate_head(tg_writer *w)
{
    tg_text_add(&w->text, "void %s_rate(double next)", w->name);
}

/* The learning rate, which the caller may change between steps. */
static void put_rate(tg_writer *w)
{
    char number[40];
    const double rate = w->config->step->rate;
    tg_text_add(&w->text, "/* The learning rate of the steps to come. */\n");
    tg_writer_say(w, 0, "static double rate = %s;", tg_writer_number(rate != 0 ? rate : defaults.rate, number));
    tg_text_add(&w->text, "\n");
    begin(w, put_rate_head);
    tg_text_add(&w->text, "\n    rate = next;\n}\n\n");
}

/* The optimiser's call for parameters that one loop updates. */
static void put_run(tg_writer *w)
{
    const tg_export_step *s = w->config->step;
    const long long n = (long long)w->updated.size, at = (long long)w->updated.from;
    const char *decay = w->updated.decays ? "decay" : "0";
    if (n == 0)
        return;
    if (s->rule == TG_EXPORT_ADAM && w->updated.decays) {
        tg_writer_say(w, 1, "for (size_t i = 0; i < %lld; i++)", n);
        tg_writer_say(w, 2, "state.gradients[%lld + i] += (tg_real)decay * weights[%lld + i];", at, at);
    }
    if (s->rule == TG_EXPORT_SGD)
        tg_writer_say(w, 1,
                      "sgd_momentum(%lld, weights + %lld, state.gradients + %lld, state.moment1 + %lld, 1, rate,\n"
                      "             momentum, %d, %s);",
                      n, at, at, at, s->nesterov, decay);
    else
        tg_writer_say(
            w, 1,
            "adamw(%lld, weights + %lld, state.gradients + %lld, state.moment1 + %lld, state.moment2 + %lld, 1,\n"
            "      rate, beta1, beta2, epsilon, %s, 1 - state.power1, 1 - state.power2);",
            n, at, at, at, at, s->rule == TG_EXPORT_ADAM ? "0" : decay);
}

/* Adds a trained parameter to the run, or begins a new one. */
static void put_update(tg_writer *w, const tg_value *leaf)
{
    const int64_t at = w->function[TG_STEP].places[leaf->index].offset;
    const char *name = tg_name_of(leaf);
    if (!leaf->parameter || !leaf->parameter->gradient)
        return;
    const bool decays = leaf->parameter->decay && w->config->step->weight_decay != 0;
    if (w->updated.from + w->updated.size != at || w->updated.decays != decays) {
        put_run(w);
        tg_text_add(&w->text, "\n");
        w->updated = (tg_update_run){at, 0, decays};
    }
    w->updated.size += leaf->size;
    tg_text_add(&w->text, "    /* ");
    tg_writer_quote(w, name ? name : "");
    tg_text_add(&w->text, " */\n");
}

static void put_constant(tg_writer *w, const char *name, double value)
{
    char number[40];
    tg_writer_say(w, 1, "const double %s = %s;", name, tg_writer_number(value, number));
}

static void put_constants(tg_writer *w)
{
    const tg_export_step *s = w->config->step;
    put_constant(w, "decay", s->weight_decay);
    if (s->rule == TG_EXPORT_SGD) {
        put_constant(w, "momentum", s->momentum);
        tg_writer_say(w, 1, "(void)decay;");
        return;
    }
    put_constant(w, "beta1", s->beta1 != 0 ? s->beta1 : defaults.beta1);
    put_constant(w, "beta2", s->beta2 != 0 ? s->beta2 : defaults.beta2);
    put_constant(w, "epsilon", s->epsilon != 0 ? s->epsilon : defaults.epsilon);
    tg_writer_say(w, 1,
                  "(void)decay;\n"
                  "state.power1 = state.begun ? state.power1 * beta1 : beta1;\n"
                  "state.power2 = state.begun ? state.power2 * beta2 : beta2;\n"
                  "state.begun = 1;");
}

static bool put_step(tg_writer *w)
{
    const tg_exported *f = &w->function[TG_STEP];
    const tg_export_step *s = w->config->step;
    const bool adam = s->rule != TG_EXPORT_SGD;
    const long long size = (long long)w->sizes.parameters, rows = (long long)f->argument[0]->shape->dim[0];
    tg_text_add(&w->text, "\n/* What training keeps from step to step: all of it is 0 at first. */\nstatic struct {\n");
    tg_text_add(&w->text,
                adam ? "    tg_real gradients[%lld], moment1[%lld], moment2[%lld];\n"
                     : "    tg_real gradients[%lld], moment1[%lld];\n",
                size, size, size);
    tg_text_add(&w->text, adam ? "    double power1, power2; /* beta1 and beta2 to the power of the steps so far */\n"
                                 "    int begun;\n} state;\n\n"
                               : "} state;\n\n");
    tg_text_add(
        &w->text,
        "/* The loss of %lld rows, and the gradients. */\nstatic int step(const %s *x, const %s *y, double *loss)\n{",
        rows, tg_writer_type(f->argument[0]->dtype), tg_writer_type(f->argument[1]->dtype));
    if (!put_values(w, f))
        return false;
    tg_writer_say(w, 1, "*loss = (double)$y[0];\nreturn 0;");
    tg_text_add(&w->text, "}\n\n");
    put_rate(w);
    tg_text_add(&w->text, "/* The optimiser's step. */\nstatic void update(void)\n{\n");
    put_constants(w);
    w->updated = (tg_update_run){-1, 0, false};
    tg_writer_weights(w, false, put_update);
    put_run(w);
    tg_text_add(&w->text, "}\n\n");
    begin(w, put_train_head);
    tg_text_add(&w->text, "\n");
    tg_writer_say(w, 1,
                  "double loss = 0;\n"
                  "for (size_t row = 0; row + %lld <= n; row += %lld) {\n"
                  "    if (step(x + row * %lld, y + row * %lld, &loss) != 0)\n"
                  "        return NAN;\n"
                  "    update();\n"
                  "}\n"
                  "return loss;",
                  rows, rows, (long long)f->argument[0]->size / rows,
                  (long long)(f->argument[1]->size / f->argument[1]->shape->dim[0]));
    tg_text_add(&w->text, "}\n");
    return true;
}

/* ---- all ---- */

void tg_writer_heads(tg_writer *w)
{
    static const struct {
        int function;
        void (*put)(tg_writer *);
    } heads[] = {{TG_PREDICT, put_predict_head},
                 {TG_NEXT, put_begin_head},
                 {TG_NEXT, put_next_head},
                 {TG_STEP, put_train_head},
                 {TG_STEP, put_rate_head}};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (!w->function[heads[i].function].result)
            continue;
        tg_text_add(&w->text, "\n *     ");
        heads[i].put(w);
        tg_text_add(&w->text, ";");
    }
}

bool tg_writer_functions(tg_writer *w)
{
    return put_predict(w) && (!w->config->next || put_next(w)) && (!w->config->step || put_step(w));
}
