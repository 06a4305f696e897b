/* Prints hashes of the weights of small training runs: compare them with tests/fingerprint/fingerprints.txt. */
#include "tests/fingerprint/fingerprint.h"

#include "autograd/kernels/kernels.h"

#include <argp.h>
#include <stdlib.h>
#include <tapegrad.h>

typedef struct settings {
    const char *only;
} settings;

static error_t parse(int key, char *argument, struct argp_state *state)
{
    settings *s = state->input;
    char *end;
    const long threads = key == 't' ? strtol(argument, &end, 10) : 0;
    switch (key) {
    case 'i':
        if (!tg_kernels_use(argument))
            argp_failure(state, 2, 0, "--instructions: this processor has no '%s'", argument);
        return 0;
    case 't':
        if (end == argument || *end || threads < 1 || threads > 1024)
            argp_failure(state, 2, 0, "--threads: expected a number from 1 to 1024, got '%s'", argument);
        tg_set_threads((int)threads);
        return 0;
    case 'o':
        s->only = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int main(int argc, char **argv)
{
    static const struct argp_option options[] = {
        {"instructions", 'i', "SET", 0, "kernels of this instruction set: baseline, v3 or v4", 0},
        {"threads", 't', "N", 0, "threads of large operations", 0},
        {"only", 'o', "PATTERN", 0, "only trainings whose names match this pattern: * is any text", 0},
        {0}};
    static const struct argp argp = {
        .options = options,
        .parser = parse,
        .doc = "Trains small networks, one for each model, layer, activation, optimiser and norm, for 50 steps, and "
               "prints the SHA-256 of the weights of each: the same on every processor (docs/same-bytes.md)."};
    settings s = {.only = "*"};
    if (argp_parse(&argp, argc, argv, 0, NULL, &s) != 0)
        return 2;
    return !fingerprint_print(s.only, stdout) || fflush(stdout) != 0;
}
