/* A net as one C file without a library: export_net > net.c; cc -c net.c. */
#include <stdio.h>
#include <tapegrad.h>

int main(void)
{
    static const float zeros[4];
    tg_rng rng = tg_rng_seed(1);
    tg_mlp *net = tg_mlp_new(&rng, &(tg_mlp_config){.inputs = 4, .hidden = {8}, .outputs = 3});
    tg_tape *tape = tg_tape_new();
    tg_no_grad_begin(tape);
    tg_tensor x = tg_named(tg_constant(tape, TG_F32, zeros, TG_SHAPE(1, 4)), "x"); /* only its shape matters */
    tg_tensor y = tg_softmax(tg_mlp_forward(net, x), -1);
    tg_no_grad_end(tape);
    const tg_export_config config = {.input = {.tensor = x}, .output = {.tensor = y}, .name = "net"};
    static char text[1 << 16];
    const size_t length = tg_export(tape, &config, text, sizeof text);
    const bool fine = length > 0 && length < sizeof text;
    if (fine)
        fputs(text, stdout);
    else
        fprintf(stderr, "%s\n", tg_tape_error(tape) ? tg_tape_error(tape) : "the text is longer than its room");
    tg_mlp_free(net);
    tg_tape_free(tape);
    return fflush(stdout) != 0 || !fine;
}
