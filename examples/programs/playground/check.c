#include "examples/programs/playground/internal.h"

/* The mean loss of the points that are checked, in the type of the net. */
static tg_tensor loss_on(tg_tape *tape, const playground *p, const tg_mlp *mlp)
{
    const int count = p->count < PLAYGROUND_CHECKED ? p->count : PLAYGROUND_CHECKED;
    const tg_tensor x = playground_points_on(tape, p, NULL, count, tg_parameters_dtype(tg_mlp_parameters(mlp)));
    return playground_loss_on(p, tg_mlp_forward(mlp, x), NULL, count);
}

static double loss_of(playground *p, const tg_mlp *mlp)
{
    tg_tape_reset(p->look);
    return tg_item(loss_on(p->look, p, mlp));
}

/* The same net in double; NULL, with the error recorded, if out of memory. */
static tg_mlp *in_double(playground *p, const playground_one *n)
{
    tg_mlp_config config = n->config;
    config.dtype = TG_F64;
    tg_mlp *mlp = tg_mlp_new(NULL, &config);
    if (!mlp)
        playground_fail(p, NULL);
    tg_parameters_copy(tg_mlp_parameters(mlp), tg_mlp_parameters(n->mlp));
    return mlp;
}

/* (loss(w + h) - loss(w - h)) / 2h for element `index` of parameter `number`, with the h that the type can represent.
 */
static double difference(playground *p, const tg_mlp *mlp, int number, int64_t index, double h)
{
    tg_parameter *parameter = tg_parameters_at(tg_mlp_parameters(mlp), number);
    const double w = tg_parameter_get(parameter, index);
    double at[2], loss[2];
    for (int side = 0; side < 2; side++) {
        tg_parameter_put(parameter, index, side ? w + h : w - h);
        at[side] = tg_parameter_get(parameter, index);
        loss[side] = loss_of(p, mlp);
    }
    tg_parameter_put(parameter, index, w);
    return at[1] > at[0] ? (loss[1] - loss[0]) / (at[1] - at[0]) : 0;
}

/* The largest element of the gradient, and its position. */
static double largest_gradient(playground *p, const tg_mlp *mlp, int *number, int64_t *index)
{
    tg_parameters *set = tg_mlp_parameters(mlp);
    double largest = 0;
    tg_tape_reset(p->look);
    tg_backward(loss_on(p->look, p, mlp));
    for (int i = 0; i < tg_parameters_count(set); i++) {
        const tg_parameter *parameter = tg_parameters_at(set, i);
        for (int64_t k = 0; k < tg_shape_size(&parameter->shape); k++)
            if (fabs(((const double *)parameter->gradient)[k]) > fabs(largest)) {
                largest = ((const double *)parameter->gradient)[k];
                *number = i;
                *index = k;
            }
    }
    return largest;
}

const double *playground_differences(playground *p, int which, int count)
{
    const playground_one *n = playground_one_at(p, which);
    tg_mlp *mlp = n ? in_double(p, n) : NULL;
    double *table = mlp && count > 0 ? playground_answer(p, 3 * (size_t)count, sizeof *table) : NULL;
    int number = 0;
    int64_t index = 0;
    const double gradient = table ? largest_gradient(p, mlp, &number, &index) : 0;
    for (int i = 0; table && i < count; i++) {
        const double h = ldexp(1, -1 - i);
        table[i] = h;
        table[count + i] = fabs(difference(p, mlp, number, index, h) / gradient - 1);
        table[2 * count + i] = fabs(difference(p, n->mlp, number, index, h) / gradient - 1);
    }
    tg_mlp_free(mlp);
    return n && tg_tape_error(p->look) ? playground_fail_as(p, p->look), NULL : table;
}

typedef struct checked {
    const playground *p;
    const tg_mlp *mlp;
} checked;

static tg_tensor checked_loss(tg_tape *tape, const tg_tensor *inputs, int count, void *user)
{
    const checked *c = user;
    (void)inputs, (void)count;
    return loss_on(tape, c->p, c->mlp);
}

const char *playground_gradcheck(playground *p, int which)
{
    const playground_one *n = playground_one_at(p, which);
    tg_mlp *mlp = n ? in_double(p, n) : NULL;
    tg_gradcheck_result result;
    char *text = mlp ? playground_answer(p, sizeof result.why, 1) : NULL;
    if (text) {
        checked c = {p, mlp};
        result = tg_gradcheck_parameters(checked_loss, &c, NULL, 0, tg_mlp_parameters(mlp), NULL);
        memcpy(text, result.why, sizeof result.why);
    }
    tg_mlp_free(mlp);
    return text;
}
