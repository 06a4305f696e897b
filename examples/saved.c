/* Saved nets, opened and used: a table model for four numbers, a convolutional net for an image, a GPT for a text. */
#include <stdio.h>
#include <tapegrad.h>

int main(int argc, char **argv)
{
    tg_error error = {"usage: saved TABLE_MODEL IMAGE_MODEL TEXT_MODEL"};
    tg_model *model[3] = {NULL};
    for (int i = 0; i < 3 && argc == 4 && (i == 0 || model[i - 1]); i++)
        model[i] = tg_model_open(argv[i + 1], &error);
    double iris[] = {5.1, 3.5, 1.4, 0.2}, black[28 * 28] = {0}, p[3], q[10];
    char text[101];
    tg_rng rng = tg_rng_seed(1);
    const tg_generate_options how = {.prompt = "The ", .length = 100, .temperature = 0.8};
    if (!model[2] || !tg_model_predict(model[0], iris, p) || !tg_model_predict(model[1], black, q) ||
        tg_model_generate(model[2], &how, &rng, text, &error) < 0)
        return fprintf(stderr, "%s\n", error.text), 1;
    printf("%s,%.9g\n%s,%.9g\n", tg_card_class(tg_model_card(model[0]), p), p[0],
           tg_card_class(tg_model_card(model[1]), q), q[0]);
    printf("The %s\n", text);
    for (int i = 0; i < 3; i++)
        tg_model_free(model[i]);
    return fflush(stdout) != 0; /* a full disk is a failure */
}
