/* A target under libFuzzer: FUZZ_TARGET=csv build/.../bin/fuzz CORPUS. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const fuzz_target *target = fuzz_targets;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("FUZZ_TARGET");
    (void)argc, (void)argv;
    while (target->name && (!name || strcmp(target->name, name) != 0))
        target++;
    if (!target->name) {
        fprintf(stderr, "fuzz: FUZZ_TARGET must be one of tests/fuzz/targets.def\n");
        exit(2);
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    target->run(data, size);
    return 0;
}
