/* The fuzz targets: `make fuzz` runs each target of targets.def on inputs that libFuzzer generates,
 * tests/build/test_fuzz.c on those in tests/fuzz/seeds.txt, which include every input that ever failed.
 *
 *     void fuzz_csv(const uint8_t *bytes, size_t size)
 *     {
 *         const char *path = fuzz_file("x.csv", bytes, size);
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

/* True if a message is valid: not empty, and one line. */
bool fuzz_is_one_line(const char *message);

/* Writes the bytes to a file of this name in the process's own folder. The path is valid for two calls. */
const char *fuzz_file(const char *name, const void *bytes, size_t size);
const char *fuzz_folder(void);
void fuzz_remove(const char *name);

/* Writes a file in the format of safetensors. If the first byte is '!', the other bytes are the file. Otherwise the
 * bytes up to the first zero byte are the header, and the rest is data. The function writes the header's size in front,
 * so that damage to the header does not damage the size. */
const char *fuzz_model_file(const uint8_t *bytes, size_t size);

#endif
