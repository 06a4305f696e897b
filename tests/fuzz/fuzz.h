/* What is fed with hostile bytes: `make fuzz` gives each target of targets.def what libFuzzer invents, and
 * tests/build/test_fuzz.c what is in tests/fuzz/corpus/NAME, where every input that ever failed is kept.
 *
 *     void fuzz_npy(const uint8_t *bytes, size_t size)
 *     {
 *         const char *path = fuzz_file("x.npy", bytes, size);
 *         ... fuzz_require(sound, "what is wrong"), which aborts ...
 *     }
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void fuzz_function(const uint8_t *bytes, size_t size);

#define FUZZ_TARGET(name, what) fuzz_function fuzz_##name;
#include "tests/fuzz/targets.def"

typedef struct fuzz_target {
    const char *name;
    fuzz_function *run;
} fuzz_target;

extern const fuzz_target fuzz_targets[]; /* ended by zeros */

/* Prints the problem and aborts unless the condition is true. */
void fuzz_require(bool condition, const char *problem);

/* Whether a message is valid: not empty, and one line. */
bool fuzz_is_one_line(const char *message);

/* Writes the bytes to a file of this name in a folder of the process. The path lasts for two calls. */
const char *fuzz_file(const char *name, const void *bytes, size_t size);
const char *fuzz_folder(void);
void fuzz_remove(const char *name);

/* Writes a file in the format of safetensors. The first byte is '!': the other bytes are the file. Else they are its
 * header up to the first zero byte, whose size is put in front, and its numbers: damage to the header is then no damage
 * to its size. */
const char *fuzz_model_file(const uint8_t *bytes, size_t size);

#endif
