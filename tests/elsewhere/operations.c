/* Values and gradients, with all digits, of operations that a program calls itself: the smaller one file and the whole
 * print the same (tests/install.sh parts).
 */
#include "tapegrad.h"

#include <stdio.h>

static void print(const char *name, tg_tensor x)
{
    printf("%s", name);
    for (int64_t i = 0; i < tg_size(x); i++)
        printf(" %a", tg_at(x, i));
    printf("\n");
}

static void differentiate(const char *name, tg_tensor y, tg_tensor a, tg_tensor b, tg_tensor c)
{
    tg_tape *tape = tg_tape_of(a);
    if (tg_backward(tg_sum(y))) {
        print(name, y);
        print("  of a", tg_gradient(a)); /* the sum over all that were before */
        print("  of b", tg_gradient(b));
        print("  of c", tg_gradient(c));
    } else {
        printf("%s: %s\n", name, tg_tape_error(tape));
        tg_tape_clear_error(tape);
    }
}

static void step(tg_tape *tape, const double *doubles, const float *floats)
{
    tg_tensor a = tg_variable(tape, TG_F64, doubles, TG_SHAPE(3, 4)),
              b = tg_variable(tape, TG_F64, doubles + 4, TG_SHAPE(4)),
              c = tg_variable(tape, TG_F32, floats, TG_SHAPE(3, 4));
#define CHECK(y) differentiate(#y, y, a, b, c)
    CHECK(tg_div(tg_mul(tg_add(a, b), tg_sub(a, b)), tg_add_scalar(tg_square(b), 1)));
    CHECK(tg_mul(tg_mul(a, a), tg_gelu_exact(tg_mul(a, b))));
    CHECK(tg_sqrt(tg_square(tg_log(tg_exp(b)))));
    CHECK(tg_where(tg_less(a, b), tg_maximum(a, b), tg_minimum(a, tg_neg(b))));
    CHECK(tg_clamp(c, -.5, .5));
    CHECK(tg_elu(tg_selu(tg_leaky_relu(c, .1)), 1));
    CHECK(tg_mish(tg_softplus(tg_silu(tg_hardswish(tg_relu(c))))));
    CHECK(tg_gelu_tanh(tg_tanh(tg_sigmoid(c))));
    CHECK(tg_geglu(a, tg_swiglu(a, tg_reglu(a, a))));
    CHECK(tg_square(tg_softmax(a, 1)));
    CHECK(tg_square(tg_log_softmax(c, 0)));
    CHECK(tg_matmul(a, tg_transpose(a, 0, 1)));
    CHECK(tg_matmul(a, a)); /* an error */
    CHECK(tg_square(tg_mean_over(a, TG_AXES(0), false)));
    CHECK(tg_mul(c, tg_sum_over(c, TG_AXES(1), true)));
    CHECK(tg_square(tg_reshape(c, TG_SHAPE(2, 6))));
    CHECK(tg_mul(a, tg_expand(b, TG_SHAPE(3, 4))));
    CHECK(tg_mse(a, tg_square(a)));
    CHECK(tg_l1(c, tg_stop_gradient(tg_square(c))));
    CHECK(tg_huber(c, tg_square(c), 1));
    CHECK(tg_bce_on_logits(c, tg_sigmoid(c)));
    CHECK(tg_square(tg_layer_norm(c, TG_NONE, TG_NONE, 1e-5)));
    CHECK(tg_square(tg_rms_norm(a, b, 1e-5)));
    CHECK(tg_linear(c, tg_square(c), TG_NONE));
    tg_no_grad_begin(tape);
    CHECK(tg_mul(a, b)); /* an error */
    tg_no_grad_end(tape);
#undef CHECK
}

int main(void)
{
    double doubles[12];
    float floats[12];
    tg_tape *tape = tg_tape_new();
    for (int i = 0; i < 12; i++) {
        doubles[i] = 0.3 * i - 1.7;
        floats[i] = 0.2f * (float)i - 1.1f;
    }
    for (int i = 0; i < 4; i++) { /* plans of the memory, which the smaller file has not, begin with a repetition */
        tg_tape_reset(tape);
        step(tape, doubles, floats);
    }
    tg_tape_free(tape);
    return fflush(stdout) != 0;
}
