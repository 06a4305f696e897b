/* Numbers as a shorter format keeps them. */
#ifndef STUDY_HALF_H
#define STUDY_HALF_H

typedef enum half_format { HALF_FP16, HALF_BF16 } half_format;

/* The nearest number that IEEE's half precision or bfloat16 has, to even where two are as near; infinite where it is
 * too large for the format. */
float half_nearest(float x, half_format format);

#endif
