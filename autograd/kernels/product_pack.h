/* Vectors of the compiled instruction set, and the packing of operands for the micro-kernel. Only for product_kernel.c.
 *
 * Packed means: the lanes of a tile (columns of B, or rows of A) are adjacent for each step of k, and then the next
 * step follows.
 */
#ifndef TG_PRODUCT_PACK_H
#define TG_PRODUCT_PACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined __AVX__
#include <immintrin.h>
#endif

typedef TG_REAL real;

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

#if defined __AVX512F__
enum { BYTES = 64 };
#elif defined __AVX2__
enum { BYTES = 32 };
#else
enum { BYTES = 16 };
#endif
enum { LANES = BYTES / (int)sizeof(real), LINE = 64 / (int)sizeof(real) /* of the cache */ };
enum { CHUNK = 16 / (int)sizeof(real) };

typedef real vector __attribute__((vector_size(BYTES)));
typedef real loose __attribute__((vector_size(BYTES), aligned(sizeof(real)), may_alias)); /* anywhere in memory */

INLINE size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

INLINE vector load(const real *from)
{
    return *(const loose *)from;
}

/* ---- vectors of which only the first 1 to LANES lanes are in memory ---- */

#if defined __AVX512F__

typedef __mmask16 mask;

INLINE mask first_lanes(size_t count)
{
    return (mask)((1u << count) - 1);
}

INLINE vector load_part(const real *from, mask lanes)
{
    if (sizeof(real) == 4)
        return (vector)_mm512_maskz_loadu_ps(lanes, from);
    return (vector)_mm512_maskz_loadu_pd((__mmask8)lanes, from);
}

INLINE void store_part(real *to, mask lanes, vector x)
{
    if (sizeof(real) == 4)
        _mm512_mask_storeu_ps(to, lanes, (__m512)x);
    else
        _mm512_mask_storeu_pd(to, (__mmask8)lanes, (__m512d)x);
}

#elif defined __AVX2__

typedef struct mask {
    __m256i lanes;
    size_t count;
} mask;

INLINE mask first_lanes(size_t count)
{
    static const int32_t ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return (mask){_mm256_loadu_si256((const __m256i *)(ones + 8 - count * sizeof(real) / 4)), count};
}

INLINE vector load_part(const real *from, mask some)
{
    if (sizeof(real) == 4)
        return (vector)_mm256_maskload_ps((const float *)from, some.lanes);
    return (vector)_mm256_maskload_pd((const double *)from, some.lanes);
}

/* Fewer than all lanes. In pieces of 16, 8 and 4 bytes, as AMD's processors take twelve cycles or more for a masked
 * store. */
INLINE void store_part(real *to, mask some, vector x)
{
    const size_t bytes = some.count * sizeof(real);
    __m128i rest = _mm256_castsi256_si128((__m256i)x);
    if (bytes & 16) {
        _mm_storeu_si128((__m128i *)to, rest);
        to += CHUNK;
        rest = _mm256_extracti128_si256((__m256i)x, 1);
    }
    if (bytes & 8) {
        _mm_storel_epi64((__m128i *)to, rest);
        to += CHUNK / 2;
        rest = _mm_unpackhi_epi64(rest, rest);
    }
    if (bytes & 4)
        _mm_storeu_si32(to, rest);
}

#else

typedef size_t mask;

INLINE mask first_lanes(size_t count)
{
    return count;
}

INLINE vector load_part(const real *from, mask lanes)
{
    if (lanes == LANES)
        return load(from);
    vector x = {0};
    for (size_t lane = 0; lane < lanes; lane++)
        x[lane] = from[lane];
    return x;
}

INLINE void store_part(real *to, mask lanes, vector x)
{
    for (size_t lane = 0; lane < lanes; lane++)
        to[lane] = x[lane];
}

#endif

/* ---- transposition ----
 *
 * Loads 16 bytes of each of LANES rows at a time, into CHUNK vectors, and transposes within each 16 bytes:
 *
 *     x[i] = row i, from column c on | row i + CHUNK | row i + 2 CHUNK ...        ->     column c + i of all rows
 */
typedef int64_t chunk __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));

#if defined __AVX512F__

INLINE vector chunks(const real *const *row, size_t at)
{
    __m512i x = _mm512_castsi128_si512((__m128i) * (const chunk *)(row[0] + at));
    x = _mm512_inserti64x2(x, (__m128i) * (const chunk *)(row[CHUNK] + at), 1);
    x = _mm512_inserti64x2(x, (__m128i) * (const chunk *)(row[2 * CHUNK] + at), 2);
    return (vector)_mm512_inserti64x2(x, (__m128i) * (const chunk *)(row[3 * CHUNK] + at), 3);
}

/* The same of rows that are `apart`, from CHUNK to CHUNK. */
INLINE vector chunks_apart(const real *from, size_t apart)
{
    const real *const row[] = {from, from + apart, from + 2 * apart, from + 3 * apart};
    __m512i x = _mm512_castsi128_si512((__m128i) * (const chunk *)row[0]);
    x = _mm512_inserti64x2(x, (__m128i) * (const chunk *)row[1], 1);
    x = _mm512_inserti64x2(x, (__m128i) * (const chunk *)row[2], 2);
    return (vector)_mm512_inserti64x2(x, (__m128i) * (const chunk *)row[3], 3);
}

/* From each 16 bytes the first, or the second, 64 bits of a and b; or alternating 32 bits of them. */
#define LOW_64(a, b)  (vector) _mm512_unpacklo_pd((__m512d)(a), (__m512d)(b))
#define HIGH_64(a, b) (vector) _mm512_unpackhi_pd((__m512d)(a), (__m512d)(b))
#define LOW_32(a, b)  (vector) _mm512_unpacklo_ps((__m512)(a), (__m512)(b))
#define HIGH_32(a, b) (vector) _mm512_unpackhi_ps((__m512)(a), (__m512)(b))

#elif defined __AVX2__

INLINE vector chunks(const real *const *row, size_t at)
{
    const __m256i x = _mm256_castsi128_si256((__m128i) * (const chunk *)(row[0] + at));
    return (vector)_mm256_inserti128_si256(x, (__m128i) * (const chunk *)(row[CHUNK] + at), 1);
}

INLINE vector chunks_apart(const real *from, size_t apart)
{
    const __m256i x = _mm256_castsi128_si256((__m128i) * (const chunk *)from);
    return (vector)_mm256_inserti128_si256(x, (__m128i) * (const chunk *)(from + apart), 1);
}

#define LOW_64(a, b)  (vector) _mm256_unpacklo_pd((__m256d)(a), (__m256d)(b))
#define HIGH_64(a, b) (vector) _mm256_unpackhi_pd((__m256d)(a), (__m256d)(b))
#define LOW_32(a, b)  (vector) _mm256_unpacklo_ps((__m256)(a), (__m256)(b))
#define HIGH_32(a, b) (vector) _mm256_unpackhi_ps((__m256)(a), (__m256)(b))

#else

typedef int64_t words64 __attribute__((vector_size(16)));
typedef int32_t words32 __attribute__((vector_size(16)));

INLINE vector chunks(const real *const *row, size_t at)
{
    return (vector) * (const chunk *)(row[0] + at);
}

INLINE vector chunks_apart(const real *from, size_t apart)
{
    (void)apart;
    return (vector) * (const chunk *)from;
}

#define LOW_64(a, b)  (vector)((words64){((words64)(a))[0], ((words64)(b))[0]})
#define HIGH_64(a, b) (vector)((words64){((words64)(a))[1], ((words64)(b))[1]})
#define LOW_32(a, b)  (vector)((words32){((words32)(a))[0], ((words32)(b))[0], ((words32)(a))[1], ((words32)(b))[1]})
#define HIGH_32(a, b) (vector)((words32){((words32)(a))[2], ((words32)(b))[2], ((words32)(a))[3], ((words32)(b))[3]})

#endif

/* to[step][lane] = row[lane][at + step] for CHUNK steps. */
INLINE void transpose_chunks(const real *const *row, size_t at, size_t to_step, real *to)
{
    vector x[4];
    UNROLL
    for (int i = 0; i < CHUNK; i++)
        x[i] = chunks(row + i, at);
    if (CHUNK == 2) {
        *(loose *)to = LOW_64(x[0], x[1]);
        *(loose *)(to + to_step) = HIGH_64(x[0], x[1]);
        return;
    }
    const vector low01 = LOW_32(x[0], x[1]), low23 = LOW_32(x[2], x[3]);
    const vector high01 = HIGH_32(x[0], x[1]), high23 = HIGH_32(x[2], x[3]);
    *(loose *)to = LOW_64(low01, low23);
    *(loose *)(to + to_step) = HIGH_64(low01, low23);
    *(loose *)(to + 2 * to_step) = LOW_64(high01, high23);
    *(loose *)(to + 3 * to_step) = HIGH_64(high01, high23);
}

/* a b + c, rounded once where the processor has fused multiply-adds. Optimising compilers contract the expression to
 * one; others compute each lane by its own instruction. */
INLINE vector multiply_add(real a, vector b, vector c)
{
#if FUSED && !defined __OPTIMIZE__
    for (size_t i = 0; i < LANES; i++)
        c[i] = sizeof(real) == 4 ? (real)__builtin_fmaf((float)a, (float)b[i], (float)c[i])
                                 : (real)__builtin_fma((double)a, (double)b[i], (double)c[i]);
    return c;
#else
    return a * b + c;
#endif
}

/* ---- packing ---- */

/* Packs up to LANES rows whose steps are adjacent. In place of missing rows the last one is packed again; those sums
 * are not used. */
static void pack_rows(const real *from, size_t apart, size_t lanes, size_t k, size_t to_step, real *to)
{
    const real *row[LANES];
    for (size_t lane = 0; lane < LANES; lane++)
        row[lane] = from + smaller(lane, lanes - 1) * apart;
    size_t l = 0;
    for (; l + CHUNK <= k; l += CHUNK)
        transpose_chunks(row, l, to_step, to + l * to_step);
    for (; l < k; l++)
        for (size_t lane = 0; lane < LANES; lane++)
            to[l * to_step + lane] = row[lane][l];
}

/* Packs columns that are adjacent in each step: all of a step, then the next. */
INLINE void pack_columns(const real *from, size_t step, size_t columns, size_t k, size_t to_step, real *to)
{
    const size_t whole = (columns - 1) / LANES * LANES;
    const mask last = first_lanes(columns - whole);
    for (size_t l = 0; l < k; l++, from += step, to += to_step) {
        for (size_t first = 0; first < whole; first += LANES)
            *(loose *)(to + first) = load(from + first);
        *(loose *)(to + whole) = load_part(from + whole, last);
    }
}

/* Packs `count` lanes at the stride `apart`, in k steps at the stride `step`; one of the strides is 1. Packed steps
 * begin every `to_step` elements, with room for all lanes that are read. Whole vectors are written: the last one of a
 * step may overlap the next step, which is written after it, and that of the last step may reach beyond the end. */
static void pack(const real *from, size_t apart, size_t step, size_t count, size_t k, size_t to_step, real *to)
{
    if (apart != 1)
        for (size_t vectors = (count + LANES - 1) / LANES; vectors-- > 0;) {
            const size_t first = vectors * LANES;
            pack_rows(from + first * apart, apart, smaller(count - first, LANES), k, to_step, to + first);
        }
    else if (count == LANES)
        pack_columns(from, step, LANES, k, to_step, to);
    else if (count == 2 * LANES)
        pack_columns(from, step, 2 * LANES, k, to_step, to);
    else
        pack_columns(from, step, count, k, to_step, to);
}

#endif
