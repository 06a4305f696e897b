/* Writes a model that `train` has saved as one C99 file, as ONNX, or its tape as a table or a graph. */
#include "examples/programs/report/files.h"
#include "examples/programs/report/terminal.h"
#include "examples/programs/run/card.h"
#include "examples/programs/run/tally.h"
#include "examples/programs/system/posix.h"

typedef struct emit_settings {
    const char *model, *out, *name, *weights, *onnx;
    bool table, dot, train;
    const char *optimizer;
    int batch;
    double lr, decay, momentum;
    options_given given;
} emit_settings;

/* In the order of tg_export_rule. */
static const char *const optimizers[] = {"sgd", "adam", "adamw", NULL};
static const char *const of_training[] = {"batch", "optimizer", "lr", "weight-decay", "momentum", NULL};

#define AT(member) offsetof(emit_settings, member)

static const program_option table[] = {
    {"model", "FILE",
     "a model saved by train, or by compare with --keep-models: the run's folder, or its best.safetensors", OPTION_TEXT,
     AT(model)},
    {"out", "FILE", "where to write; -: to standard output; FILE.onnx is written as ONNX", OPTION_TEXT, AT(out)},
    {"name", "NAME", "prefix of the functions in the file: NAME_predict", OPTION_TEXT, AT(name)},
    {"weights", "FILE", "write the weights to a separate file, whose contents the C code takes as an argument",
     OPTION_TEXT, AT(weights)},
    {"onnx", "FILE", "write the prediction as an ONNX model to this file, in place of C", OPTION_TEXT, AT(onnx)},
    {"table", NULL, "write the tape of a prediction as a table, in place of C", OPTION_FLAG, AT(table)},
    {"dot", NULL, "write the tape of a prediction as a Graphviz graph, in place of C", OPTION_FLAG, AT(dot)},
    {.type = OPTION_GROUP, .help = "Training:"},
    {"train", NULL, "write the training step too: double NAME_train(x, y, n) for n rows", OPTION_FLAG, AT(train)},
    {"batch", "N", "rows of a step; 0: the model's default", OPTION_INT, AT(batch), 0, 1e6},
    {"optimizer", "NAME", "the optimiser", OPTION_CHOICE, AT(optimizer), .choices = optimizers},
    {"lr", "RATE", "learning rate, the same in all steps; 0: the model's default", OPTION_REAL, AT(lr), 0, 1e3},
    {"weight-decay", "DECAY", "weight decay", OPTION_REAL, AT(decay), 0, 10},
    {"momentum", "M", "momentum of sgd, with Nesterov's step", OPTION_REAL, AT(momentum), 0, 0.9999},
    {0}};

static const options_program program = {
    .name = "emit",
    .about =
        "Writes a model that train has saved as one file of C99, which needs nothing but the C library: "
        "int net_predict(const float *x, float *y) for one row, image or text; int net_next(int32_t token, float *y) "
        "for one more character of a text.",
    .table = table,
    .given_offset = offsetof(emit_settings, given),
    .after = "Inputs and outputs are in the units of the data; the standardisation, and the names of columns, classes "
             "and characters, are in the file.\n\n"
             "Examples:\nemit --model housing/best.safetensors --out housing.c --name housing\n"
             "emit --model housing --onnx housing.onnx\n"
             "emit --model housing --dot | dot -Tsvg > housing.svg"};

/* ---- inputs and outputs of the model, from its card ---- */

typedef struct ports {
    tg_export_config config;
    tg_export_step step;
    tg_export_next next;
    double *number;             /* means of inputs and outputs, scales, and limits */
    const char **name;          /* of inputs, then of outputs */
    char (*letters)[8], *texts; /* memory for names that are made here */
} ports;

/* "colour = red", "age", "age is missing" */
static const char *input_name(const tg_card_input *input, char *text, size_t size)
{
    char number[32];
    snprintf(number, sizeof number, "column %d", input->number);
    snprintf(text, size, "%s%s%s", input->name ? input->name : number,
             input->missing    ? " is missing"
             : input->category ? " = "
                               : "",
             input->category ? input->category : "");
    return text;
}

static bool describe_rows(ports *p, const tg_card *c)
{
    enum { NAME = 400 };
    const size_t in = (size_t)c->spec.inputs, out = c->task == TG_CARD_IMAGES ? in : (size_t)c->spec.outputs;
    const tg_card_scale pixel = {.scale = c->pixel_scale};
    double *const mean = p->number = calloc(3 * (in + out) + 1, sizeof *p->number), *const scale = mean + in + out,
                  *const limit = scale + in + out;
    bool changed = false, softened = false;
    p->name = calloc(in + out + 1, sizeof *p->name);
    p->texts = calloc(c->inputs + 1, NAME);
    if (!p->number || !p->name || !p->texts)
        return false;
    for (size_t i = 0; i < in + out; i++) {
        const tg_card_scale of = i < in                       ? c->inputs ? c->input[i].scale : pixel
                                 : c->task == TG_CARD_TARGETS ? c->target[i - in].scale
                                                              : pixel;
        mean[i] = of.mean;
        scale[i] = of.scale;
        limit[i] = of.limit;
        softened |= i < in && of.limit > 0;
        changed |= i < in && (of.mean != 0 || of.scale != 1);
    }
    for (size_t i = 0; i < c->inputs; i++)
        p->name[i] = input_name(&c->input[i], p->texts + i * NAME, NAME);
    for (size_t i = 0; c->task == TG_CARD_TARGETS && i < c->targets; i++)
        p->name[in + i] = c->target[i].name;
    p->config.input.mean = mean;
    p->config.input.scale = changed ? scale : NULL;
    p->config.input.limit = softened ? limit : NULL;
    p->config.input.names = c->inputs ? p->name : NULL;
    p->config.output.mean = c->task == TG_CARD_CLASSES ? NULL : mean + in;
    p->config.output.scale = c->task == TG_CARD_CLASSES ? NULL : scale + in;
    p->config.output.names = c->task == TG_CARD_CLASSES   ? c->class_names
                             : c->task == TG_CARD_TARGETS ? p->name + in
                                                          : NULL;
    return true;
}

static bool describe_letters(ports *p, const tg_card *c)
{
    p->letters = calloc((size_t)c->vocabulary + 1, sizeof *p->letters);
    p->name = calloc((size_t)c->vocabulary + 1, sizeof *p->name);
    if (!p->letters || !p->name)
        return false;
    for (int i = 0; i < c->vocabulary; i++) {
        tg_card_letter(c, i, p->letters[i]);
        p->name[i] = p->letters[i];
    }
    p->config.output.names = p->name;
    return true;
}

static void free_ports(ports *p)
{
    free(p->number);
    free(p->name);
    free(p->letters);
    free(p->texts);
}

/* ---- the program of a prediction ---- */

/* The numbers of a row; of pairs those of a source and of a target. */
static int64_t columns_of(const tg_card *c)
{
    return c->task != TG_CARD_LETTERS                 ? c->spec.inputs
           : tg_model_traits_of(c->spec.model)->pairs ? 2 * c->spec.context
                                                      : c->spec.context;
}

/* Records the model on one row of zeros: only the shapes matter. */
static bool record(ports *p, tg_tape *tape, const tg_card *c, const tg_model *model)
{
    const bool text = c->task == TG_CARD_LETTERS;
    const int64_t columns = columns_of(c);
    void *zeros = calloc((size_t)columns + 1, sizeof(double));
    tg_no_grad_begin(tape);
    p->config.input.tensor = tg_named(tg_constant(tape, text ? TG_I32 : TG_F32, zeros, TG_SHAPE(1, columns)), "x");
    p->config.output.tensor = tg_model_forward(model, p->config.input.tensor, NULL);
    tg_no_grad_end(tape);
    free(zeros);
    return zeros && tg_ok(p->config.output.tensor);
}

/* Records one token of a text, if the model can be read token by token. */
static bool record_next(ports *p, tg_tape *tape, const tg_model *model)
{
    p->config.next = tg_decoder_record(model, tape, &p->next) ? &p->next : NULL;
    return !tg_tape_error(tape);
}

/* Records a training step on a batch of zeros, which serve as rows, labels, targets or characters. */
static bool record_step(ports *p, tg_tape *tape, const tg_card *c, const tg_model *model, const emit_settings *s)
{
    const tg_model_traits *traits = tg_model_traits_of(c->spec.model);
    const bool text = c->task == TG_CARD_LETTERS, classes = text || c->task == TG_CARD_CLASSES;
    const int64_t rows = s->batch ? s->batch : traits->batch, columns = columns_of(c);
    tg_rng rng = tg_rng_seed(1);
    void *zeros = calloc((size_t)(rows * columns) + 1, sizeof(double));
    const tg_tensor x = tg_named(tg_constant(tape, text ? TG_I32 : TG_F32, zeros, TG_SHAPE(rows, columns)), "x");
    const tg_tensor output = tg_model_forward(model, x, &rng);
    tg_shape shape = tg_shape_of(output);
    shape.rank -= classes;
    void *answers = calloc((size_t)(tg_size(output)) + 1, sizeof(double));
    const tg_tensor y = tg_named(tg_constant(tape, classes ? TG_I32 : TG_F32, answers, shape), "y");
    p->step = (tg_export_step){.input = {x, p->config.input.mean, p->config.input.scale, NULL, p->config.input.limit},
                               .target = {y, p->config.output.mean, p->config.output.scale, NULL, NULL},
                               .loss = tally_loss(c, output, y, TG_NONE, 0),
                               .rule = (tg_export_rule)options_position(optimizers, s->optimizer),
                               .rate = s->lr > 0 ? s->lr : traits->lr,
                               .weight_decay = s->decay,
                               .momentum = s->momentum,
                               .nesterov = s->momentum > 0};
    p->config.step = &p->step;
    free(zeros);
    free(answers);
    return zeros && answers && tg_backward(p->step.loss);
}

/* ---- writing ---- */

typedef enum { C, WEIGHTS, ONNX, TABLE, DOT } form;

typedef struct output {
    form what;
    tg_tape *tape;
    const tg_export_config *config;
} output;

/* Writes text or bytes of the tape to `to`, if it has room; returns their number. */
static size_t export_as(const output *o, void *to, size_t size)
{
    switch (o->what) {
    case WEIGHTS:
        return tg_export_weights(o->tape, o->config, to, size);
    case ONNX:
        return tg_export_onnx(o->tape, o->config, to, size);
    case TABLE:
        return tg_tape_table(o->tape, to, size);
    case DOT:
        return tg_tape_dot(o->tape, to, size);
    default:
        return tg_export(o->tape, o->config, to, size);
    }
}

static bool put_output(const void *context, FILE *to)
{
    const size_t size = export_as(context, NULL, 0);
    char *bytes = malloc(size + 1);
    const bool fine = bytes && export_as(context, bytes, size + 1) == size;
    fwrite(fine ? bytes : "", 1, fine ? size : 0, to);
    free(bytes);
    return fine && !tg_tape_error(((const output *)context)->tape);
}

static bool write_as(form what, const ports *p, tg_tape *tape, const char *path, tg_error *error)
{
    struct stat status;
    const output o = {what, tape, &p->config};
    const bool fine = strcmp(path, "-") == 0 ? put_output(&o, stdout) || tg_fail(error, "out of memory")
                      : stat(path, &status) == 0 && S_ISDIR(status.st_mode)
                          ? tg_fail(error, "%.400s: not a regular file", path)
                          : files_write_path(path, false, put_output, &o, error);
    return !tg_tape_error(tape) ? fine : tg_fail(error, "%s", tg_tape_error(tape));
}

/* False and one line if a file would be written over the model, or two over each other. */
static bool spares(const emit_settings *s, const tg_card *c, tg_error *error)
{
    const char *out = s->onnx ? s->onnx : s->out;
    if (files_are_one(out, c->path))
        return tg_fail(error, "--%s: %.300s is the model that is read", s->onnx && s->onnx != s->out ? "onnx" : "out",
                       out);
    if (s->weights && files_are_one(s->weights, c->path))
        return tg_fail(error, "--weights: %.300s is the model that is read", s->weights);
    return !s->weights || (strcmp(s->weights, out) != 0 && !files_are_one(s->weights, out)) ||
           tg_fail(error, "--weights: %.300s is the file of --out", s->weights);
}

static bool export_model(const emit_settings *s, const tg_card *c, const tg_model *model, tg_error *error)
{
    char title[1000];
    ports p = {.config = {.name = s->name, .title = title, .weights_apart = s->weights}};
    tg_model_spec_describe(&c->spec, title, sizeof title);
    tg_tape *tape = tg_tape_new();
    bool fine = tape && (c->task == TG_CARD_LETTERS ? describe_letters(&p, c) : describe_rows(&p, c)) &&
                record(&p, tape, c, model) && (s->onnx || s->table || s->dot || record_next(&p, tape, model)) &&
                (!s->train || record_step(&p, tape, c, model, s));
    if (!fine)
        tg_fail(error, "%s", tape && tg_tape_error(tape) ? tg_tape_error(tape) : "out of memory");
    fine = fine && write_as(s->onnx    ? ONNX
                            : s->table ? TABLE
                            : s->dot   ? DOT
                                       : C,
                            &p, tape, s->onnx ? s->onnx : s->out, error);
    fine = fine && (!s->weights || write_as(WEIGHTS, &p, tape, s->weights, error));
    tg_tape_free(tape);
    free_ports(&p);
    return fine;
}

/* Options that exclude each other. */
static const char *conflict(const emit_settings *s)
{
    if (!s->model)
        return "--model FILE is missing; see --help";
    if (s->table && s->dot)
        return "--table and --dot exclude each other";
    if ((s->table || s->dot) && (s->weights || options_has(&s->given, "name")))
        return "--name and --weights are for C, not for --table and --dot";
    if (s->onnx &&
        (s->table || s->dot || s->train || s->weights || (s->onnx != s->out && options_has(&s->given, "out"))))
        return "--onnx excludes --out, --weights, --table, --dot and --train";
    if (!s->train && options_first(&s->given, of_training))
        return "--batch, --optimizer, --lr, --weight-decay and --momentum are for --train";
    if (s->momentum > 0 && strcmp(s->optimizer, "sgd") != 0)
        return "--momentum is for --optimizer sgd";
    return s->weights && strcmp(s->weights, "-") == 0 ? "--weights: a file, not standard output" : NULL;
}

int main(int argc, char **argv)
{
    emit_settings s = {.out = "-", .name = "net", .optimizer = "adamw", .decay = 0.01};
    tg_error error;
    tg_card *c = NULL;
    tg_model *model = NULL;
    options_parse(&program, argc, argv, &s);
    const size_t length = strlen(s.out);
    if (!s.onnx && length > 5 && strcmp(s.out + length - 5, ".onnx") == 0)
        s.onnx = s.out;
    bool fine = !conflict(&s);
    if (!fine)
        tg_fail(&error, "%s", conflict(&s));
    fine = fine && (c = card_read(s.model, &error)) && spares(&s, c, &error) &&
           (!s.train || !(c->weights || c->class_weight) ||
            tg_fail(&error, "--train: the model was trained with weights of rows or classes, and a step has none")) &&
           (model = card_model(c, NULL, NULL, &error)) && export_model(&s, c, model, &error);
    if (!fine)
        terminal_say("emit", NULL, error.text);
    tg_model_free(model);
    tg_card_free(c);
    return fine ? 0 : 2;
}
