/* What the caller knows: bounds, a projection, the most evaluations, when to stop. All evaluations pass through
 * here. */
#include "autograd/gradcheck/check.h"

#include <string.h>

bool tg_check_is_within(const tg_check *c, const double *x)
{
    for (const tg_check_part *p = c->parts; p < c->parts + c->part_count; p++) {
        const tg_gradcheck_input *in = &c->inputs[p->input];
        const bool bounded = tg_check_is_bounded(in);
        for (int64_t i = p->offset; i < p->offset + p->size; i++)
            if ((bounded && !(x[i] >= in->low && x[i] <= in->high)) || (c->options.project && !isfinite(x[i])))
                return false;
    }
    return true;
}

const double *tg_check_project(tg_check *c, const double *x)
{
    if (!c->options.project)
        return x;
    memcpy(c->projected, x, (size_t)c->variables * sizeof *x);
    c->options.project(c->projected_inputs, c->options.user);
    return c->projected;
}

void tg_check_evaluate(tg_check *c, int level, const double *x, double *out)
{
    const tg_gradcheck_options *o = &c->options;
    int64_t *evaluations = &c->result.evaluations;
    x = tg_check_project(c, x);
    const bool within = tg_check_is_within(c, x);
    if (within && !c->over)
        c->over = (o->evaluations > 0 && *evaluations >= o->evaluations) ||
                  (o->progress && !o->progress(*evaluations, o->user));
    if (within && !c->over) {
        ++*evaluations;
        c->kind->evaluate(c, level, x, out);
    } else
        for (int64_t k = 0; k < c->level[level].length; k++)
            out[k] = NAN;
}

/* The derivative of the projection along a direction, by differences: exact to far more than what is promised, as a
 * projection costs little. */
void tg_check_find_tangent(tg_check *c, const double *direction, double *tangent)
{
    for (int k = 0; k < 2; k++) {
        const double t = c->first / (k + 1), weight = k == 0 ? -1. / 3 : 4. / 3;
        for (int sign = 1; sign > -2; sign -= 2) {
            for (int64_t i = 0; i < c->variables; i++)
                c->moved[i] = c->point[i] + sign * t * direction[i];
            const double *at = tg_check_project(c, c->moved);
            for (int64_t i = 0; i < c->variables; i++)
                tangent[i] += sign * weight * at[i] / (2 * t);
        }
    }
    memcpy(c->moved, c->point, (size_t)c->variables * sizeof(double));
}
