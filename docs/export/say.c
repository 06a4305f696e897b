/* Continues a text with a net of `train` as C, always with the most likely character: docs/export.md. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void net_begin(void);                   /* the next text */
int net_next(int32_t token, float y[]); /* reads a character: the logits of the one after it */
extern const char *const net_outputs[]; /* the characters */

#ifndef LETTERS
#define LETTERS 27 /* how many, as in net.c */
#endif

/* The number of the character at *text, which moves to the next one; -1: the net does not know it. */
static int32_t number_at(const char **text)
{
    for (int32_t i = 0; i < LETTERS; i++)
        if (strncmp(*text, net_outputs[i], strlen(net_outputs[i])) == 0)
            return *text += strlen(net_outputs[i]), i;
    return -1;
}

int main(int count, char **argument)
{
    const char *text = count > 1 ? argument[1] : "\n";
    float y[LETTERS];
    int length = count > 2 ? atoi(argument[2]) : 100, fine = 1;
    net_begin();
    while (*text && fine)
        fine = net_next(number_at(&text), y) == 0;
    for (; length > 0 && fine; length--) {
        int32_t best = 0;
        for (int32_t i = 1; i < LETTERS; i++)
            best = y[i] > y[best] ? i : best;
        fputs(net_outputs[best], stdout);
        fine = length == 1 || net_next(best, y) == 0;
    }
    return !fine;
}
