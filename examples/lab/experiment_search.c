/* Lists of numbers: the grid that is searched, and where on it a run stands. */
#include "examples/lab/experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_POINTS = 1000 };

/* ---- what is searched ---- */

#define AT(member) offsetof(experiment_settings, member)

/* From the axis that turns slowest to the one that turns fastest. */
static const struct {
    const char *option;
    size_t number;
} searched[EXPERIMENT_AXES] = {
    {"lr", AT(lr)},
    {"width", AT(width)},
    {"depth", AT(depth)},
    {"dropout", AT(dropout)},
    {"epochs", AT(epochs)},
    {"batch", AT(batch)},
    {"weight-decay", AT(weight_decay)},
    {"momentum", AT(momentum)},
    {"warmup", AT(warmup)},
    {"clip", AT(clip)},
    {"label-smoothing", AT(label_smoothing)},
};

bool experiment_read_axes(experiment *e, char message[EXPERIMENT_MESSAGE])
{
    e->points = 1;
    for (int i = 0; i < EXPERIMENT_AXES; i++) {
        experiment_axis *axis = &e->axes[i];
        *axis = (experiment_axis){.option = options_find(&experiment_program, searched[i].option),
                                  .number = searched[i].number};
        const char *text = *(const char *const *)(const void *)((const char *)&e->settings + axis->option->offset);
        axis->count = options_numbers(axis->option, text, axis->values, OPTIONS_NUMBERS);
        if (axis->count < 1 || e->points * axis->count > MOST_POINTS)
            return snprintf(message, EXPERIMENT_MESSAGE,
                            "--%s: '%s': not a list of numbers, or more than %d points to search", axis->option->name,
                            text, MOST_POINTS),
                   false;
        e->points *= axis->count;
    }
    return true;
}

static void put_number(experiment_settings *s, const experiment_axis *axis, double number)
{
    void *at = (char *)s + axis->number;
    if (axis->option->type == OPTION_INTS)
        *(int *)at = (int)number;
    else
        *(double *)at = number;
}

/* The number of a run on an axis: the last axis turns fastest. */
static double number_at(const experiment *e, int run, int axis)
{
    int point = run / e->activation_count % e->points;
    for (int i = EXPERIMENT_AXES - 1; i > axis; i--)
        point /= e->axes[i].count;
    return e->axes[axis].values[point % e->axes[axis].count];
}

/* What suits the number of training rows, where nobody has said. */
static void choose_batch_and_epochs(long rows, int *batch, int *epochs)
{
    enum { SMALLEST = 8, LARGEST = 128, STEPS = 1500, FEWEST = 10, MOST = 100 };
    if (*batch == 0)
        for (*batch = SMALLEST; *batch < LARGEST && 2 * *batch <= rows / 16;)
            *batch *= 2;
    const long steps = (rows + *batch - 1) / *batch, enough = (STEPS + steps - 1) / steps;
    if (*epochs == 0)
        *epochs = (int)(enough < FEWEST ? FEWEST : enough > MOST ? MOST : enough);
}

experiment_settings experiment_of_run(const experiment *e, int run)
{
    experiment_settings s = e->settings;
    for (int i = 0; i < EXPERIMENT_AXES; i++)
        put_number(&s, &e->axes[i], number_at(e, run, i));
    choose_batch_and_epochs((long)e->data.train.rows, &s.batch, &s.epochs);
    return s;
}

long experiment_least_rows(const experiment *e)
{
    return strcmp(e->settings.norm, tg_norm_name(TG_NORM_BATCH)) == 0 ? 2 : 1;
}

long experiment_steps(const experiment *e, int run)
{
    const long rows = (long)e->data.train.rows, batch = experiment_of_run(e, run).batch, alone = rows % batch;
    return rows / batch + (alone >= experiment_least_rows(e));
}

experiment_settings experiment_largest(const experiment *e)
{
    experiment_settings s = e->settings;
    for (int i = 0; i < EXPERIMENT_AXES; i++) {
        double largest = 0;
        for (int k = 0; k < e->axes[i].count; k++)
            largest = e->axes[i].values[k] > largest ? e->axes[i].values[k] : largest;
        put_number(&s, &e->axes[i], largest);
    }
    return s;
}

void experiment_point(const experiment *e, int run, char text[EXPERIMENT_POINT])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < EXPERIMENT_AXES; i++)
        if (e->axes[i].count > 1 && used < EXPERIMENT_POINT)
            used += (size_t)snprintf(text + used, EXPERIMENT_POINT - used, "%s%s %g", used ? ", " : "",
                                     e->axes[i].option->name, number_at(e, run, i));
}

static int first_axis(const experiment *e)
{
    int axis = 0;
    while (axis < EXPERIMENT_AXES && e->axes[axis].count < 2)
        axis++;
    return axis;
}

double experiment_number(const experiment *e, int run)
{
    const int axis = first_axis(e);
    return axis < EXPERIMENT_AXES ? number_at(e, run, axis) : 0;
}

const char *experiment_searched(const experiment *e)
{
    const int axis = first_axis(e);
    return axis < EXPERIMENT_AXES ? e->axes[axis].option->name : NULL;
}

void experiment_hidden(const experiment *e, int run, int64_t widths[EXPERIMENT_LAYERS + 1])
{
    const experiment_settings s = experiment_of_run(e, run);
    int count = 0;
    while (s.depth ? count < s.depth : e->hidden[count] != 0) {
        widths[count] = s.width ? s.width : e->hidden[s.depth ? 0 : count];
        count++;
    }
    widths[count] = 0;
}

/* ---- points that are the same ---- */

/* All that training knows of a point. */
typedef struct point {
    double number[EXPERIMENT_AXES];
    int64_t widths[EXPERIMENT_LAYERS + 1];
} point;

static point point_of(const experiment *e, int number)
{
    point p = {.number = {0}};
    const int run = number * e->activation_count, rows = (int)e->data.train.rows;
    const experiment_settings s = experiment_of_run(e, run);
    for (int i = 0; i < EXPERIMENT_AXES; i++) {
        const size_t at = e->axes[i].number;
        if (at == AT(batch))
            p.number[i] = s.batch < rows ? s.batch : rows;
        else if (at == AT(epochs))
            p.number[i] = s.epochs;
        else if (at != AT(width) && at != AT(depth))
            p.number[i] = number_at(e, run, i);
    }
    experiment_hidden(e, run, p.widths);
    return p;
}

bool experiment_points_differ(const experiment *e, char message[EXPERIMENT_MESSAGE])
{
    point *points = calloc((size_t)e->points, sizeof *points);
    if (!points)
        return snprintf(message, EXPERIMENT_MESSAGE, "out of memory"), false;
    bool differ = true;
    for (int a = 0; a < e->points && differ; a++) {
        points[a] = point_of(e, a);
        for (int b = 0; b < a && differ; b++)
            if (memcmp(&points[a], &points[b], sizeof points[a]) == 0) {
                const int first = b * e->activation_count, second = a * e->activation_count;
                int axis = 0;
                while (number_at(e, first, axis) == number_at(e, second, axis))
                    axis++;
                snprintf(message, EXPERIMENT_MESSAGE, "--%s: %g and %g come to the same here",
                         e->axes[axis].option->name, number_at(e, first, axis), number_at(e, second, axis));
                differ = false;
            }
    }
    free(points);
    return differ;
}
