/* A function of tensors as a black box, in any type, so that all test functions also test the checker of black boxes.
 *
 *     taped_box of = {.function = energy, .type = TG_GRADCHECK_F32};
 *     if (taped_box_open(&of, inputs, count))
 *         result = tg_gradcheck_function(&of.box, inputs, count, NULL);
 *     taped_box_close(&of);
 *
 * In bfloat16 it computes in float, and rounds its result and gradients.
 */
#ifndef TAPED_BOX_H
#define TAPED_BOX_H

#include <tapegrad.h>

typedef struct taped_box {
    tg_function function;
    void *user;
    tg_gradcheck_type type;
    const tg_gradcheck_input *inputs;
    int count;
    tg_shape output;
    tg_tape *tape;
    tg_black_box box;
} taped_box;

/* False if the function fails at these inputs. They are read until the box is closed. */
bool taped_box_open(taped_box *of, const tg_gradcheck_input *inputs, int count);
void taped_box_close(taped_box *of);

#endif
