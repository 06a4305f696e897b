/* f(x) = x^2: its value, its first and second derivative at 3, and the graph of the tape. docs/first-steps.md. */
#include <stdio.h>
#include <tapegrad.h>

int main(void)
{
    tg_tape *tape = tg_tape_new();
    tg_tensor x = tg_variable(tape, TG_F64, (double[]){3}, TG_SCALAR), first, second;
    tg_tensor f = tg_square(tg_named(x, "x"));
    tg_grad(&f, 1, &x, 1, NULL, true, &first); /* true: differentiable again */
    tg_grad(&first, 1, &x, 1, NULL, false, &second);
    printf("f(3) = %g, f'(3) = %g, f''(3) = %g\n", tg_item(f), tg_item(first), tg_item(second));

    char graph[4096];
    FILE *file = fopen("square.dot", "w");
    if (file && tg_tape_dot(tape, graph, sizeof graph) < sizeof graph)
        fputs(graph, file);
    const bool written = file && fclose(file) == 0;
    if (tg_tape_error(tape))
        fprintf(stderr, "%s\n", tg_tape_error(tape));
    const bool fine = written && !tg_tape_error(tape);
    tg_tape_free(tape);
    return !fine;
}
