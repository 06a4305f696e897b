/* Finding a NaN: the tape names the first operation that made one, where, and from what. */
#include <stdio.h>
#include <tapegrad.h>

int main(void)
{
    static const double x[3] = {0.5, 0, -0.25};
    tg_tape *tape = tg_tape_new();
    tg_tape_watch(tape, true);
    tg_scope_begin(tape, "entropy");
    tg_tensor p = tg_named(tg_variable(tape, TG_F64, x, TG_SHAPE(3)), "p");
    tg_tensor loss = tg_neg(tg_sum(tg_mul(p, tg_log(p))));
    tg_scope_end(tape);
    if (!tg_backward(loss))
        printf("%s\n", tg_tape_error(tape));
    tg_tape_free(tape);
    return fflush(stdout) != 0;
}
