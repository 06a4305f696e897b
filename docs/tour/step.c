/* Three steps of the smallest net there is, and what the tape recorded of the first: docs/tour.md. */
#include <stdio.h>
#include <tapegrad.h>

int main(void)
{
    static const float inputs[2][3] = {{1, 2, 3}, {4, 5, 6}}, targets[2][1] = {{1}, {0}};
    tg_rng rng = tg_rng_seed(1);
    tg_parameters *set = tg_parameters_new(TG_F32);
    tg_linear_layer layer = tg_linear_layer_add(set, "layer", 3, 1, true);
    tg_initialize(layer.weight, TG_INIT_XAVIER_UNIFORM, 1, &rng);
    tg_optimizer *adamw = tg_optimizer_new(set, NULL);
    tg_tape *tape = tg_tape_new();

    for (int step = 1; step <= 3; step++) {
        tg_tape_reset(tape);
        tg_tensor x = tg_named(tg_borrow(tape, TG_F32, inputs, TG_SHAPE(2, 3)), "x");
        tg_tensor y = tg_gelu_exact(tg_linear_layer_forward(&layer, x));
        tg_tensor target = tg_named(tg_borrow(tape, TG_F32, targets, TG_SHAPE(2, 1)), "target");
        if (!tg_backward(tg_mse(y, target)))
            return fprintf(stderr, "%s\n", tg_tape_error(tape)), 1;
        if (!tg_optimizer_step(adamw))
            return fprintf(stderr, "%s\n", tg_optimizer_error(adamw)), 1;
        if (step == 1) {
            char table[4096];
            tg_tape_table(tape, table, sizeof table);
            fputs(table, stdout);
        }
        tg_tape_counts counts = tg_tape_count(tape);
        printf("step %d: %d values, %d recorded so far\n", step, (int)counts.values, (int)counts.recorded);
    }

    tg_optimizer_free(adamw);
    tg_parameters_free(set);
    tg_tape_free(tape);
    return 0;
}
