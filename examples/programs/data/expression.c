#include "examples/programs/data/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tapegrad.h>

typedef struct reading {
    const char *at;
    double x; /* in a function of an expression */
    double (*called)(const void *context, const char *name);
    const void *context;
    const char *wrong;
    tg_tape *tape; /* of activations; NULL until there is one */
} reading;

static double sum_of(reading *r);

static double fail(reading *r, const char *why)
{
    r->wrong = r->wrong ? r->wrong : why;
    return NAN;
}

/* Passes over blanks and this letter; false if there is another. */
static bool take(reading *r, char letter)
{
    r->at += strspn(r->at, " ");
    const bool found = *r->at == letter;
    r->at += found;
    return found;
}

/* ---- activations ---- */

static double derivative(reading *r, tg_activation activation, int order, double at)
{
    tg_tensor x, y, of;
    r->tape = r->tape ? r->tape : tg_tape_new();
    tg_tape_reset(r->tape);
    x = tg_variable(r->tape, TG_F64, &at, TG_SCALAR);
    if (order == 1)
        y = tg_activation_derivative(activation, x);
    else
        y = tg_activate(activation, x, NULL);
    for (int k = 0; order > 1 && k < order; k++, y = of)
        if (!tg_grad(&y, 1, &x, 1, NULL, k + 1 < order, &of))
            break;
    return r->tape && !tg_tape_error(r->tape) ? tg_item(y) : fail(r, "an activation cannot be computed");
}

static double weights(tg_activation activation, bool equal_width)
{
    const tg_mlp_config config = {.inputs = 768,
                                  .hidden = {3072},
                                  .outputs = 768,
                                  .no_bias = true,
                                  .activation = activation,
                                  .equal_width = equal_width};
    return (double)tg_mlp_size(&config, NULL);
}

/* The bytes of a training step's tensors, without weights and optimiser. */
static double step_bytes(reading *r, tg_activation activation, bool recompute)
{
    enum { VOCABULARY = 64, POSITIONS = 64, BATCH = 8 };
    const tg_rng rng = tg_rng_seed(1);
    tg_transformer_config config = {
        .vocabulary = VOCABULARY, .context = POSITIONS, .layers = 4, .block = tg_block_bert(128, 4)};
    config.block.activation = activation;
    config.block.recompute = recompute;
    tg_transformer *bert = tg_transformer_new(&rng, &config);
    tg_tape *step = tg_tape_new();
    static int32_t ids[BATCH * POSITIONS];
    for (int i = 0; i < BATCH * POSITIONS; i++)
        ids[i] = (i * 7) % VOCABULARY;
    tg_tensor tokens = tg_borrow(step, TG_I32, ids, TG_SHAPE(BATCH, POSITIONS));
    const bool fine = bert && tg_backward(tg_cross_entropy(tg_transformer_forward(bert, tokens, NULL), tokens));
    const double bytes = fine ? (double)tg_tape_count(step).bytes_used : fail(r, "a step cannot be computed");
    tg_tape_free(step);
    tg_transformer_free(bert);
    return bytes;
}

/* ---- functions ---- */

static double fabs_of(double x)
{
    return fabs(x);
}

static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
} functions[] = {{"exp", exp, NULL},     {"log", log, NULL},   {"log10", log10, NULL}, {"sqrt", sqrt, NULL},
                 {"abs", fabs_of, NULL}, {"erfc", erfc, NULL}, {"erf", erf, NULL},     {"tanh", tanh, NULL},
                 {"max", NULL, fmax},    {"min", NULL, fmin}};

/* The value of the expression at `from`, whose end is found by reading it. */
static double value_at(reading *r, const char *from, double x)
{
    const double outer = r->x;
    r->at = from;
    r->x = x;
    const double value = sum_of(r);
    r->x = outer;
    return value;
}

/* Functions of an expression in x, from its beginning on. */
static double over_line(reading *r, const char *name)
{
    const char *from = r->at, *end;
    double bounds[3] = {0}, sum = 0, most = -INFINITY, place = NAN;
    value_at(r, from, NAN);
    for (int i = 0; i < 3 && take(r, ','); i++)
        bounds[i] = sum_of(r);
    end = r->at;
    if (strcmp(name, "zero") == 0) {
        for (int i = 0; i < 60; i++) {
            const double middle = 0.5 * (bounds[0] + bounds[1]);
            bounds[value_at(r, from, middle) < 0 ? 0 : 1] = middle;
        }
        r->at = end;
        return 0.5 * (bounds[0] + bounds[1]);
    }
    if (!(bounds[2] > 0))
        return fail(r, "a step must be positive");
    for (int i = 0; bounds[0] + i * bounds[2] <= bounds[1] && !r->wrong; i++) {
        const double x = bounds[0] + i * bounds[2], y = value_at(r, from, x);
        sum += y;
        place = y <= most ? place : x; /* NaN is taken too, so that it is noticed */
        most = y <= most ? most : y;
    }
    r->at = end;
    return strcmp(name, "sum") == 0 ? sum : strcmp(name, "largest") == 0 ? most : place;
}

/* The function of this name, whose arguments begin here. */
static double function(reading *r, const char *name, int quotes)
{
    static const char *const over[] = {"largest", "place_of_largest", "sum", "zero"};
    tg_activation activation;
    for (size_t i = 0; i < sizeof over / sizeof *over; i++)
        if (strcmp(name, over[i]) == 0)
            return over_line(r, name);
    const double first = sum_of(r);
    const bool pair = take(r, ',');
    const double second = pair ? sum_of(r) : NAN;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (strcmp(name, functions[i].name) == 0 && pair == (functions[i].two != NULL))
            return pair ? functions[i].two(first, second) : functions[i].one(first);
    if (pair)
        return fail(r, "a function is not known, or has other arguments");
    if (strncmp(name, "weights_of_", 11) == 0 && tg_activation_from_name(name + 11, &activation))
        return weights(activation, first != 0);
    if (strncmp(name, "bytes_of_", 9) == 0 && tg_activation_from_name(name + 9, &activation))
        return step_bytes(r, activation, first != 0);
    return tg_activation_from_name(name, &activation) ? derivative(r, activation, quotes, first)
                                                      : fail(r, "a function is not known, or has other arguments");
}

/* ---- the text ---- */

static double primary(reading *r)
{
    char name[60], *end;
    if (take(r, '-'))
        return -primary(r);
    if (take(r, '(')) {
        const double value = sum_of(r);
        return take(r, ')') ? value : fail(r, "a parenthesis is open");
    }
    if (isdigit((unsigned char)*r->at) || *r->at == '.') {
        const double value = strtod(r->at, &end);
        r->at = end;
        return value;
    }
    size_t length = 0;
    while (isalnum((unsigned char)r->at[length]) || r->at[length] == '_')
        length++;
    if (length == 0 || length >= sizeof name)
        return fail(r, "a number or a name is missing");
    memcpy(name, r->at, length);
    name[length] = '\0';
    r->at += length;
    const int quotes = (int)strspn(r->at, "'");
    r->at += quotes;
    if (take(r, '(')) {
        const double value = function(r, name, quotes);
        return take(r, ')') ? value : fail(r, "a parenthesis is open");
    }
    return strcmp(name, "x") == 0 ? r->x : r->called ? r->called(r->context, name) : fail(r, "a name has no number");
}

static double product_of(reading *r)
{
    double value = primary(r);
    for (;;)
        if (take(r, '*'))
            value *= primary(r);
        else if (take(r, '/'))
            value /= primary(r);
        else
            return value;
}

static double sum_of(reading *r)
{
    double value = product_of(r);
    for (;;)
        if (take(r, '+'))
            value += product_of(r);
        else if (take(r, '-'))
            value -= product_of(r);
        else
            return value;
}

double expression_value(const char *text, double (*called)(const void *context, const char *name), const void *context,
                        const char **wrong)
{
    reading r = {.at = text, .x = NAN, .called = called, .context = context};
    double value = sum_of(&r);
    r.at += strspn(r.at, " ");
    if (*r.at)
        value = fail(&r, "something follows the expression");
    tg_tape_free(r.tape);
    *wrong = r.wrong;
    return r.wrong ? NAN : value;
}
