/* The tuned constants of the checker: how far differences, integrals and rounding are trusted. They are tuned on the
 * right functions and the wrong operations of the tests. Constants that depend on the type are for double; tg_check_to
 * converts them to float and bfloat16. Included by the checker's .c files only. Internal. */
#ifndef TG_GRADCHECK_TOLERANCES_H
#define TG_GRADCHECK_TOLERANCES_H

/* ---- the bound of a comparison (compare.c) ---- */

/* Rounding that is the same at all neighbouring points cannot be measured, for example where 1 - tanh(x)^2 leaves few
 * digits. The checker allows this fraction of a derivative's typical size for it, and less in an integral, whose
 * derivatives share little of it. */
#define UNMEASURED_ROUNDING    0x1p-43
#define UNMEASURED_IN_INTEGRAL 0x1p-49
#define MEASURED_ROUNDING      0x1p-47 /* of the derivative itself, in both kinds of comparison */

/* Noise of a derivative below this fraction of its typical size counts as rounding, even if the function itself has
 * less noise: where a norm removes what a bias adds, terms a thousand times larger than any result cancel. In single
 * precision the fraction is 2^16 times as large. */
#define CANCELLATION_ROUNDING 0x1p-40

/* A difference that is nothing but noise: of this part of the values at least, by a derivative so many times as large.
 */
#define NOISE         0x1p-33
#define BELOW_NOISE   0x1p-36
#define NOT_CONVERGED 1e-5 /* an estimate with a larger error, relative to its value or size, is not used */
#define COARSE        1e-3 /* agreement within a larger part than this proves nothing */

/* ---- steps and the integral (function.c, differences.c, integral.c) ---- */

#define FAR_SMALLER        0x1p-8 /* an element this much smaller than its neighbours needs its own steps */
#define FIRST_STEP         0.25   /* of the direction */
#define LARGEST_FIRST_STEP 0.5    /* of a variable, but no less than so much of it, or it would hardly move: */
#define LEAST_FIRST_STEP   0x1p-40
#define GAUSS_TO_ERROR     10 /* a fault at x alone is 2 / (0.418 - 0.209) times the difference of both sums */

/* The extrapolation adds up the rounding of several rows: at most prod (4^j + 1) / (4^j - 1) < 2 times for central
 * differences, and prod (2^j + 1) / (2^j - 1) < 8 times for one-sided ones. */
#define CENTRAL_AMPLIFICATION 2
#define SIDE_AMPLIFICATION    8

/* ---- which difference counts (differences.c) ---- */

#define CONVINCING 1e-6 /* small steps that are precise to this part are not overruled by larger ones */
#define LEAST_CONTRADICTION                                                                                \
    1e-6              /* a feature that the usual steps miss changes the derivative by more; less is noise \
                       */
#define CONTRADICTS 8 /* two differences contradict each other at this many times both errors */

/* ---- one-sided differences (one_sided.c) ---- */

#define JUMP 1e-4 /* of values at neighbouring points, relative to the values */
#define FAR  1e-2 /* relative distance beyond which the closest plain difference is far from the extrapolated one */

/* ---- sizes and rounding (function.c, differences.c, invariants.c, forms.c) ---- */

/* A value below this part of the typical one is small by chance; its rounding is compared with this size. */
#define TYPICAL_PART 0x1p-10

/* What moves by less than its rounding over a step of a quarter counts as so much of its size, for which 2^10 roundings
 * are allowed. */
#define UNMOVED_PART 0x1p-7

#define LIKE    1e-6  /* derivatives whose relative difference is smaller are called the same in words */
#define SAME_TO 1e-12 /* largest relative difference between two ways to compute one number */

/* Rounding in float is 2^29 times that measured in double; this factor more is allowed, as some kernels are a few units
 * off. */
#define SINGLE_SAFETY 256

#endif
