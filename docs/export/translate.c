/* Translates each line of standard input with a net of `train --model seq2seq` as C, always with the most likely
 * character: docs/export.md. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef LETTERS
#define LETTERS 29 /* how many characters net.c has, */
#define CONTEXT 10 /* and half of the size of its x */
#endif

int net_predict(const int32_t x[2 * CONTEXT], float y[CONTEXT * LETTERS]);
extern const char *const net_outputs[];

/* The number of the character at *text, which moves to the next one; -1: the net does not know it. Number 0 is what
 * fills up a source. */
static int32_t number_at(const char **text)
{
    for (int32_t i = 1; i < LETTERS; i++)
        if (strncmp(*text, net_outputs[i], strlen(net_outputs[i])) == 0)
            return *text += strlen(net_outputs[i]), i;
    return -1;
}

/* Writes the translation of a line; 0 if it is too long or has an unknown character. */
static int translate(const char *line)
{
    static int32_t x[2 * CONTEXT]; /* the source, its newline, zeros; a newline, and the target so far */
    static float y[CONTEXT * LETTERS];
    int32_t *const target = x + CONTEXT;
    const char *newline = "\n";
    int length = 0;
    memset(x, 0, sizeof x);
    target[0] = number_at(&newline);
    do {
        if (length == CONTEXT || !*line)
            return 0;
        x[length] = number_at(&line);
    } while (x[length++] != target[0]);
    for (int i = 0; i < CONTEXT; i++) {
        if (net_predict(x, y) != 0)
            return 0;
        const float *const logits = y + i * LETTERS;
        int32_t best = 1;
        for (int32_t k = 2; k < LETTERS; k++)
            best = logits[k] > logits[best] ? k : best;
        if (best == target[0])
            break;
        fputs(net_outputs[best], stdout);
        if (i + 1 < CONTEXT)
            target[i + 1] = best;
    }
    putchar('\n');
    return 1;
}

int main(void)
{
    char line[1000];
    int fine = 1;
    while (fine && fgets(line, sizeof line, stdin))
        fine = translate(line);
    return !fine;
}
