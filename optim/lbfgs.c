#include "optim/lbfgs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TRIALS = 25, SPARE = 3 };

/* The loss at start + t direction, and its derivative along the direction. */
typedef struct point {
    double t, loss, slope;
    double *gradient; /* that of the start, or one of the spare ones */
} point;

struct tg_lbfgs {
    tg_parameters *parameters;
    tg_lbfgs_config config; /* defaults filled in */
    size_t size;            /* length of each vector below */
    int count;              /* parameters */
    double *memory;         /* all vectors, in one block: */
    double *start, *direction, *gradient, *spare[SPARE];
    double *step, *change; /* `history` vectors each, */
    double *overlap;       /* the product of the two, */
    double *weight;        /* and a coefficient of find_direction */
    int pairs, oldest;     /* number of pairs in use, in a ring */
    int64_t steps, evaluations;
    double loss;
    bool begun, ended;
    const char *error;
};

/* ---- life ---- */

static bool is_tolerance(double x)
{
    return isfinite(x) && x >= 0;
}

const char *tg_lbfgs_config_error(const tg_lbfgs_config *config)
{
    if (!config)
        return NULL;
    if (!is_tolerance(config->lr))
        return "the first length of L-BFGS must be a positive number";
    if (config->history < 0 || config->history > 10000)
        return "the history of L-BFGS must be 1 to 10000 pairs";
    if (!is_tolerance(config->gradient_tolerance) || !is_tolerance(config->change_tolerance))
        return "the tolerances of L-BFGS must be positive numbers";
    return NULL;
}

static double otherwise(double value, double by_default)
{
    return value != 0 ? value : by_default;
}

tg_lbfgs *tg_lbfgs_new(tg_parameters *parameters, const tg_lbfgs_config *config)
{
    if (tg_parameters_error(parameters) || tg_lbfgs_config_error(config) || tg_parameters_size(parameters) < 1)
        return NULL;
    tg_lbfgs *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    l->parameters = parameters;
    l->config = config ? *config : (tg_lbfgs_config){0};
    l->config.lr = otherwise(l->config.lr, 1);
    l->config.history = l->config.history ? l->config.history : 100;
    l->config.gradient_tolerance = otherwise(l->config.gradient_tolerance, 1e-7);
    l->config.change_tolerance = otherwise(l->config.change_tolerance, 1e-9);
    l->count = tg_parameters_count(parameters);
    l->size = (size_t)tg_parameters_size(parameters);
    const size_t history = (size_t)l->config.history;
    double *next = l->memory = calloc((3 + SPARE + 2 * history) * l->size + 2 * history, sizeof *next);
    if (!next) {
        free(l);
        return NULL;
    }
    l->start = next;
    l->direction = next += l->size;
    l->gradient = next += l->size;
    for (int k = 0; k < SPARE; k++)
        l->spare[k] = next += l->size;
    l->step = next += l->size;
    l->change = next += history * l->size;
    l->overlap = next += history * l->size;
    l->weight = next + history;
    l->loss = NAN;
    return l;
}

void tg_lbfgs_free(tg_lbfgs *lbfgs)
{
    if (lbfgs)
        free(lbfgs->memory);
    free(lbfgs);
}

void tg_lbfgs_restart(tg_lbfgs *lbfgs)
{
    if (!lbfgs)
        return;
    lbfgs->pairs = lbfgs->oldest = 0;
    lbfgs->begun = lbfgs->ended = false;
    lbfgs->error = NULL;
}

const char *tg_lbfgs_error(const tg_lbfgs *lbfgs)
{
    return lbfgs ? lbfgs->error : "the L-BFGS is NULL: out of memory, or an error in its configuration";
}

double tg_lbfgs_loss(const tg_lbfgs *lbfgs)
{
    return lbfgs ? lbfgs->loss : NAN;
}

int64_t tg_lbfgs_steps(const tg_lbfgs *lbfgs)
{
    return lbfgs ? lbfgs->steps : 0;
}

int64_t tg_lbfgs_evaluations(const tg_lbfgs *lbfgs)
{
    return lbfgs ? lbfgs->evaluations : 0;
}

/* ---- vectors ---- */

static double dot(const tg_lbfgs *l, const double *a, const double *b)
{
    double sum = 0;
    for (size_t i = 0; i < l->size; i++)
        sum += a[i] * b[i];
    return sum;
}

static void add(const tg_lbfgs *l, double *a, double factor, const double *b)
{
    for (size_t i = 0; i < l->size; i++)
        a[i] += factor * b[i];
}

/* NaN if there is an error. */
static double largest(const tg_lbfgs *l, const double *a)
{
    double most = 0;
    for (size_t i = 0; i < l->size; i++)
        if (!(fabs(a[i]) <= most))
            most = fabs(a[i]);
    return most;
}

static double number_at(const tg_lbfgs *l, const void *block, size_t i)
{
    return tg_parameters_dtype(l->parameters) == TG_F32 ? (double)((const float *)block)[i]
                                                        : ((const double *)block)[i];
}

static void read_values(tg_lbfgs *l)
{
    const void *values = tg_parameters_values(l->parameters);
    for (size_t i = 0; i < l->size; i++)
        l->start[i] = number_at(l, values, i);
}

static void put_values(tg_lbfgs *l, double t)
{
    void *values = tg_parameters_values(l->parameters);
    for (size_t i = 0; i < l->size; i++) {
        const double value = t == 0 ? l->start[i] : l->start[i] + t * l->direction[i];
        if (tg_parameters_dtype(l->parameters) == TG_F32)
            ((float *)values)[i] = (float)value;
        else
            ((double *)values)[i] = value;
    }
    tg_parameters_changed(l->parameters);
}

/* Takes the gradient, and clears it; zeros for parameters that no backward pass reached or that are not trained. */
static void read_gradient(tg_lbfgs *l, double *gradient)
{
    const void *gradients = tg_parameters_gradients(l->parameters);
    for (size_t i = 0; i < l->size; i++)
        gradient[i] = number_at(l, gradients, i);
    for (int p = 0; p < l->count; p++) {
        const tg_parameter *parameter = tg_parameters_at(l->parameters, p);
        const size_t n = (size_t)tg_shape_size(&parameter->shape);
        if (!parameter->gradient)
            memset(gradient, 0, n * sizeof *gradient);
        gradient += n;
    }
    tg_parameters_clear_gradients(l->parameters);
}

/* ---- the search along a direction ---- */

typedef struct search {
    tg_lbfgs *l;
    tg_lbfgs_loss_function loss;
    void *context;
    point start;
    int trials; /* left */
} search;

static bool evaluate(search *s, double t, double *gradient, point *at)
{
    tg_lbfgs *l = s->l;
    *at = (point){.t = t, .gradient = gradient};
    put_values(l, t);
    tg_parameters_clear_gradients(l->parameters); /* also those from backward passes outside the search */
    l->evaluations++;
    s->trials--;
    const bool fine = s->loss(s->context, &at->loss);
    read_gradient(l, gradient);
    if (!fine) {
        l->error = "L-BFGS: the loss could not be computed";
        return false;
    }
    if (!isfinite(at->loss) || !isfinite(largest(l, gradient)))
        at->loss = INFINITY; /* higher than any other point's */
    at->slope = dot(l, gradient, l->direction);
    return true;
}

/* Evaluates at t; the gradient goes into a spare vector that neither a nor b uses. */
static bool evaluate_beside(search *s, double t, const point *a, const point *b, point *at)
{
    int k = 0;
    while (s->l->spare[k] == a->gradient || s->l->spare[k] == b->gradient)
        k++;
    return evaluate(s, t, s->l->spare[k], at);
}

/* The two strong Wolfe conditions. */
static bool is_too_high(const search *s, const point *at)
{
    return !(at->loss <= s->start.loss + 1e-4 * at->t * s->start.slope);
}

static bool is_flat_enough(const search *s, const point *at)
{
    return fabs(at->slope) <= -0.9 * s->start.slope;
}

/* The minimum of the cubic through two points with their slopes, clamped to `low` .. `high`; their middle if it has
 * none. */
static double minimum_of_cubic(const point *a, const point *b, double low, double high)
{
    if (a->t > b->t)
        return minimum_of_cubic(b, a, low, high);
    const double d1 = a->slope + b->slope - 3 * (a->loss - b->loss) / (a->t - b->t);
    const double square = d1 * d1 - a->slope * b->slope;
    if (!(square >= 0))
        return (low + high) / 2;
    const double d2 = sqrt(square);
    const double t = b->t - (b->t - a->t) * ((b->slope + d2 - d1) / (b->slope - a->slope + 2 * d2));
    return isfinite(t) ? fmin(fmax(t, low), high) : (low + high) / 2;
}

/* Steps outward from t until a good point lies between a[0] and a[1] (algorithm 3.5), or a[0] is one: sets *done. */
static bool find_bracket(search *s, double t, point a[2], bool *done)
{
    point before = s->start, now;
    if (!evaluate_beside(s, t, &before, &before, &now))
        return false;
    for (int k = 0; s->trials > 0; k++) {
        a[0] = before;
        a[1] = now;
        const bool finite = isfinite(now.loss);
        if (finite && (is_too_high(s, &now) || (k > 1 && now.loss >= before.loss)))
            return true;
        if (finite && is_flat_enough(s, &now)) {
            a[0] = now;
            *done = true;
            return true;
        }
        if (finite && now.slope >= 0)
            return true;
        const double next = finite ? minimum_of_cubic(&before, &now, now.t + 0.01 * (now.t - before.t), 10 * now.t)
                                   : (before.t + now.t) / 2;
        if (finite)
            before = now;
        if (!evaluate_beside(s, next, &before, &before, &now))
            return false;
    }
    a[0] = s->start;
    a[1] = now;
    return true;
}

/* The next t to try between two points: not so close to one of them that little is gained, twice in a row. */
static double between(const point a[2], bool *was_close)
{
    const double low = fmin(a[0].t, a[1].t), high = fmax(a[0].t, a[1].t), margin = 0.1 * (high - low);
    const double t = minimum_of_cubic(&a[0], &a[1], low, high);
    const bool is_close = fmin(high - t, t - low) < margin;
    if (is_close && (*was_close || t >= high || t <= low)) {
        *was_close = false;
        return fabs(t - high) < fabs(t - low) ? high - margin : low + margin;
    }
    *was_close = is_close;
    return t;
}

/* Algorithm 3.6. Afterwards a[*low] is the point with the smaller loss. */
static bool narrow_bracket(search *s, point a[2], int *low)
{
    bool was_close = false;
    *low = a[0].loss <= a[1].loss ? 0 : 1;
    while (s->trials > 0) {
        if (fabs(a[1].t - a[0].t) * largest(s->l, s->l->direction) < s->l->config.change_tolerance)
            break;
        point now;
        if (!evaluate_beside(s, between(a, &was_close), &a[0], &a[1], &now))
            return false;
        if (is_too_high(s, &now) || now.loss >= a[*low].loss) {
            a[!*low] = now;
            *low = a[0].loss <= a[1].loss ? 0 : 1;
            continue;
        }
        const bool done = is_flat_enough(s, &now);
        if (!done && now.slope * (a[!*low].t - a[*low].t) >= 0)
            a[!*low] = a[*low];
        a[*low] = now;
        if (done)
            break;
    }
    return true;
}

static bool find_length(search *s, double t, point *found)
{
    point a[2];
    bool done = false;
    int low = 0;
    if (!find_bracket(s, t, a, &done) || (!done && !narrow_bracket(s, a, &low)))
        return false;
    *found = a[low];
    return true;
}

/* ---- the step ---- */

static size_t slot(const tg_lbfgs *l, int pair)
{
    return (size_t)((l->oldest + pair) % l->config.history);
}

/* direction = -H gradient */
static void find_direction(tg_lbfgs *l)
{
    double *d = l->direction;
    for (size_t i = 0; i < l->size; i++)
        d[i] = -l->gradient[i];
    for (int pair = l->pairs - 1; pair >= 0; pair--) {
        const size_t k = slot(l, pair);
        l->weight[k] = dot(l, l->step + k * l->size, d) / l->overlap[k];
        add(l, d, -l->weight[k], l->change + k * l->size);
    }
    if (l->pairs > 0) {
        const size_t k = slot(l, l->pairs - 1);
        const double *y = l->change + k * l->size, scale = l->overlap[k] / dot(l, y, y);
        for (size_t i = 0; i < l->size; i++)
            d[i] *= scale;
    }
    for (int pair = 0; pair < l->pairs; pair++) {
        const size_t k = slot(l, pair);
        const double back = dot(l, l->change + k * l->size, d) / l->overlap[k];
        add(l, d, l->weight[k] - back, l->step + k * l->size);
    }
}

/* Stores s = t d and y, the change of the gradient, as the next pair, which counts if s.y is large enough. */
static void remember(tg_lbfgs *l, const point *end)
{
    double s_y = 0;
    for (size_t i = 0; i < l->size; i++)
        s_y += (end->gradient[i] - l->gradient[i]) * (end->t * l->direction[i]);
    if (!(s_y > 1e-10))
        return;
    if (l->pairs == l->config.history)
        l->oldest = (l->oldest + 1) % l->config.history;
    else
        l->pairs++;
    const size_t k = slot(l, l->pairs - 1);
    for (size_t i = 0; i < l->size; i++) {
        l->step[k * l->size + i] = end->t * l->direction[i];
        l->change[k * l->size + i] = end->gradient[i] - l->gradient[i];
    }
    l->overlap[k] = s_y;
}

static bool end_with(tg_lbfgs *l, const char *error)
{
    l->ended = true;
    l->error = error;
    return false;
}

static bool begin(search *s)
{
    tg_lbfgs *l = s->l;
    point at;
    memset(l->direction, 0, l->size * sizeof *l->direction);
    if (!evaluate(s, 0, l->gradient, &at))
        return end_with(l, l->error);
    if (!isfinite(at.loss))
        return end_with(l, "L-BFGS: the loss or its gradient is not finite where the first step begins");
    l->loss = at.loss;
    if (largest(l, l->gradient) <= l->config.gradient_tolerance)
        return end_with(l, NULL);
    return l->begun = true;
}

bool tg_lbfgs_step(tg_lbfgs *lbfgs, tg_lbfgs_loss_function loss, void *context)
{
    tg_lbfgs *l = lbfgs;
    if (!l || l->ended)
        return false;
    if (!loss)
        return end_with(l, "L-BFGS: there is no function for the loss");
    if (tg_parameters_count(l->parameters) != l->count)
        return end_with(l, "L-BFGS: the parameter set has grown since it was made");
    read_values(l);
    search s = {.l = l, .loss = loss, .context = context};
    const bool first = !l->begun;
    if (first && !begin(&s))
        return false;
    find_direction(l);
    s.start = (point){.loss = l->loss, .slope = dot(l, l->gradient, l->direction), .gradient = l->gradient};
    s.trials = TRIALS;
    if (!(s.start.slope <= -l->config.change_tolerance))
        return end_with(l, NULL);
    double t = l->config.lr, length = 0;
    for (size_t i = 0; i < l->size; i++)
        length += fabs(l->gradient[i]);
    if (first)
        t *= fmin(1, 1 / length);
    point found;
    if (!find_length(&s, t, &found)) {
        put_values(l, 0);
        return end_with(l, l->error);
    }
    put_values(l, found.t);
    remember(l, &found);
    memmove(l->gradient, found.gradient, l->size * sizeof *l->gradient);
    const double gained = fabs(found.loss - l->loss);
    l->loss = found.loss;
    l->steps++;
    const tg_lbfgs_config *c = &l->config;
    if (largest(l, l->gradient) <= c->gradient_tolerance ||
        fabs(found.t) * largest(l, l->direction) <= c->change_tolerance || gained < c->change_tolerance)
        return end_with(l, NULL);
    return true;
}
