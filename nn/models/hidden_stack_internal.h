/* Hidden layers one behind the other, each with a normalisation and dropout behind it, and a sum around it where that
 * is wished: what perceptrons of several kinds share. Internal to nn. */
#ifndef TG_HIDDEN_STACK_INTERNAL_H
#define TG_HIDDEN_STACK_INTERNAL_H

#include "nn/layers/hidden_layer.h"
#include "nn/layers/norm.h"

enum { TG_HIDDEN_STACK = 64 }; /* layers at most */

typedef struct tg_hidden_stack {
    int count;
    tg_hidden_layer hidden[TG_HIDDEN_STACK];
    tg_norm_layer norm[TG_HIDDEN_STACK];
    bool residual[TG_HIDDEN_STACK];  /* whether a sum goes around this layer: false until somebody says so */
    char names[TG_HIDDEN_STACK][32]; /* "layers.0", ...: of scopes on the tape too */
} tg_hidden_stack;

/* How many widths there are before the 0 that ends them; TG_HIDDEN_STACK + 1 if it is missing. */
int tg_hidden_count(const int64_t *widths);

/* NULL, or what is wrong with the widths, `count` of them. */
const char *tg_widths_error(const int64_t *widths, int count);

/* NULL, or what is wrong with what hidden layers are made of. */
const char *tg_hidden_error(tg_activation activation, tg_norm norm, double dropout, tg_init init, tg_dtype dtype);

/* Adds PREFIX.N.* and PREFIX.N.norm.*, N from 0 on, for each width. The weights of layers with a sum begin divided by
 * the square root of how many they are. */
void tg_hidden_stack_add(tg_hidden_stack *stack, tg_parameters *set, const char *prefix, int64_t inputs,
                         const int64_t *widths, int count, tg_activation activation, tg_norm norm, bool bias);

/* [..., inputs] -> [..., the last width]; and to what each activation was applied, [count], unless that is NULL. */
tg_tensor tg_hidden_stack_forward(const tg_hidden_stack *stack, tg_tensor x, double dropout, tg_rng *training,
                                  tg_tensor *preactivation);

#endif
