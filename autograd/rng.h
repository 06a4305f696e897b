/* Random numbers: counter-based, with an explicit generator and no global state.
 *
 *     tg_rng rng = tg_rng_seed(1);
 *     double u = tg_rng_uniform(&rng);                  // the next number of the sequence
 *     tg_rng weights = tg_rng_stream(&rng, "weights");  // an independent sequence with a name
 *     tg_rng shuffle = tg_rng_split(&rng, epoch);       // or with a number instead
 *
 * A generator is a key and a position: number i of a sequence is a pure function of the two (Philox 4x32 with
 * ten rounds; Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011). So a generator
 * can be copied, saved, or moved to number one million, and each thread has its own.
 */
#ifndef TG_RNG_H
#define TG_RNG_H

#include "autograd/shape.h"

#include <stddef.h>
#include <stdint.h>

TG_API_BEGIN

typedef struct tg_rng {
    uint64_t key;      /* which sequence */
    uint64_t position; /* how many 64-bit numbers have been drawn */
} tg_rng;

/* The generator of a seed, at its beginning. Every seed gives an independent sequence. */
tg_rng tg_rng_seed(uint64_t seed);

/* An independent generator derived from the key of `rng` and a number or a name. Does not advance `rng`, and does not
 * depend on how many numbers were drawn from it. NULL means the generator of seed 0. */
tg_rng tg_rng_split(const tg_rng *rng, uint64_t number);
tg_rng tg_rng_stream(const tg_rng *rng, const char *name);

/* The next 64 random bits; 0 for NULL. */
uint64_t tg_rng_bits(tg_rng *rng);

/* Uniform in [0, 1), 53 bits. */
double tg_rng_uniform(tg_rng *rng);

/* Standard normal (Box and Muller, 1958); draws two numbers. */
double tg_rng_normal(tg_rng *rng);

/* Fill an array of f32 or f64, on all threads; not NULL, and no other type. Element i is a function of the generator
 * and i alone, whatever the count and the number of threads. They draw TG_STREAM_NUMBERS numbers, and give others than
 * tg_rng_uniform and tg_rng_normal one by one: 32 bits each, so uniform numbers in [low, high) are multiples of
 * (high - low) / 2^32. */
void tg_rng_fill_uniform(tg_rng *rng, tg_dtype dtype, size_t count, double low, double high, void *to);
void tg_rng_fill_normal(tg_rng *rng, tg_dtype dtype, size_t count, double mean, double deviation, void *to);

/* Uniform in [0, bound) without bias (Lemire, 2019). Returns 0 if the bound is 0. */
uint64_t tg_rng_below(tg_rng *rng, uint64_t bound);

/* Shuffles the indices in place (Fisher and Yates): every order is equally likely. */
void tg_rng_shuffle(tg_rng *rng, size_t count, int32_t *indices);

/* A stream for the kernels of random numbers: key low, key high and two words of the counter. Random element i is a
 * function of the stream and i alone. Draws TG_STREAM_NUMBERS numbers. Not NULL, as in tg_philox. */
enum { TG_STREAM_NUMBERS = 2 };
void tg_rng_draw_stream(tg_rng *rng, uint32_t stream[4]);

/* One block of Philox 4x32-10: four random words for a counter and a key. */
void tg_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4]);

TG_API_END
#endif
