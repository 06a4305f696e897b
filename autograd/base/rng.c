#include "autograd/rng.h"

#include <math.h>

enum { PHILOX_ROUNDS = 10 };

void tg_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t words[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];
    for (int round = 0; round < PHILOX_ROUNDS; round++) {
        uint64_t product0 = (uint64_t)0xD2511F53u * c0;
        uint64_t product1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t next0 = (uint32_t)(product1 >> 32) ^ c1 ^ k0;
        uint32_t next2 = (uint32_t)(product0 >> 32) ^ c3 ^ k1;
        c1 = (uint32_t)product1;
        c3 = (uint32_t)product0;
        c0 = next0;
        c2 = next2;
        k0 += 0x9E3779B9u; /* the golden ratio and sqrt(3) - 1, as in the paper */
        k1 += 0xBB67AE85u;
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
}

/* 64 bits at a position: half a Philox block. */
static uint64_t bits_at(uint64_t key, uint64_t domain, uint64_t position)
{
    uint64_t block = position >> 1;
    uint32_t counter[4] = {(uint32_t)block, (uint32_t)(block >> 32), (uint32_t)domain, (uint32_t)(domain >> 32)};
    uint32_t keys[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    uint32_t words[4];
    tg_philox(counter, keys, words);
    size_t half = (position & 1) * 2;
    return (uint64_t)words[half + 1] << 32 | words[half];
}

/* Domains separate derived keys from the numbers themselves. */
enum { DOMAIN_NUMBERS = 0, DOMAIN_SEED = 1, DOMAIN_SPLIT = 2, DOMAIN_NAME = 3 };

tg_rng tg_rng_seed(uint64_t seed)
{
    return (tg_rng){.key = bits_at(seed, DOMAIN_SEED, 0), .position = 0};
}

tg_rng tg_rng_split(const tg_rng *rng, uint64_t number)
{
    tg_rng from = rng ? *rng : tg_rng_seed(0);
    uint64_t low = bits_at(from.key, DOMAIN_SPLIT, number << 1);
    return (tg_rng){.key = bits_at(low, DOMAIN_SPLIT, number >> 63), .position = 0};
}

tg_rng tg_rng_stream(const tg_rng *rng, const char *name)
{
    uint64_t key = rng ? rng->key : tg_rng_seed(0).key;
    for (const char *c = name ? name : ""; *c; c++)
        key = bits_at(key, DOMAIN_NAME, (uint64_t)(unsigned char)*c << 1);
    return (tg_rng){.key = bits_at(key, DOMAIN_NAME, 0), .position = 0};
}

uint64_t tg_rng_bits(tg_rng *rng)
{
    if (!rng)
        return 0;
    return bits_at(rng->key, DOMAIN_NUMBERS, rng->position++);
}

double tg_rng_uniform(tg_rng *rng)
{
    return (double)(tg_rng_bits(rng) >> 11) * 0x1p-53;
}

double tg_rng_normal(tg_rng *rng)
{
    double radius = sqrt(-2 * log1p(-tg_rng_uniform(rng))); /* 1 - u lies in (0, 1] */
    return radius * cos(6.283185307179586 * tg_rng_uniform(rng));
}

uint64_t tg_rng_below(tg_rng *rng, uint64_t bound)
{
    if (bound == 0)
        return 0;
    uint64_t unfair = -bound % bound; /* low products that would occur once too often */
    for (;;) {
        unsigned __int128 product = (unsigned __int128)tg_rng_bits(rng) * bound;
        if (!rng || (uint64_t)product >= unfair)
            return (uint64_t)(product >> 64);
    }
}

void tg_rng_draw_stream(tg_rng *rng, uint32_t stream[4])
{
    for (int i = 0; i < TG_STREAM_NUMBERS; i++) {
        const uint64_t bits = tg_rng_bits(rng);
        stream[2 * i] = (uint32_t)bits;
        stream[2 * i + 1] = (uint32_t)(bits >> 32);
    }
}

void tg_rng_shuffle(tg_rng *rng, size_t count, int32_t *indices)
{
    if (!indices)
        return;
    for (size_t left = count; left > 1; left--) {
        size_t other = (size_t)tg_rng_below(rng, left);
        int32_t last = indices[left - 1];
        indices[left - 1] = indices[other];
        indices[other] = last;
    }
}
