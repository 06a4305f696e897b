/* Sample inputs for self_attention.c. */
#define ATTENTION(heads, key_value_heads, causal) (&(self_attention_attributes){heads, key_value_heads, causal})
static const tg_sample self_attention_samples[] = {
    {.attributes = ATTENTION(1, 1, false), .input = {{TG_OF(4, 6)}}},
    {.attributes = ATTENTION(2, 2, true), .input = {{TG_OF(2, 5, 18)}}},
    {.attributes = ATTENTION(4, 2, true), .input = {{TG_OF(1, 3, 8)}}},
    {.attributes = ATTENTION(3, 1, false), .input = {{TG_OF(2, 1, 2, 10)}}},
    {.attributes = ATTENTION(1, 1, true), .input = {{TG_OF(1, 3)}}},
    {.attributes = ATTENTION(1, 1, true), .input = {{TG_OF(2, 0, 3)}}},
    {.attributes = ATTENTION(1, 1, false), .input = {{TG_OF(0, 2, 3)}}},
    {.attributes = ATTENTION(1, 1, true), .input = {{TG_OF(35, 3)}}}, /* more rows than are computed at once */
};

static const tg_sample self_attention_last_samples[] = {
    {.attributes = ATTENTION(1, 1, false), .input = {{TG_OF(4, 6)}}},
    {.attributes = ATTENTION(2, 2, false), .input = {{TG_OF(2, 5, 18)}}},
    {.attributes = ATTENTION(4, 2, false), .input = {{TG_OF(1, 3, 8)}}},
    {.attributes = ATTENTION(3, 1, false), .input = {{TG_OF(2, 1, 1, 10)}}},
    {.attributes = ATTENTION(1, 1, false), .input = {{TG_OF(0, 2, 3)}}},
    {.attributes = ATTENTION(1, 1, false), .input = {{TG_OF(35, 3)}}},
    {.attributes = ATTENTION(2, 1, false), .input = {{TG_OF(3, 1, 4)}}},
    {.attributes = ATTENTION(2, 2, false), .input = {{TG_OF(7, 12)}}},
};

/* Not drawn from a wider range: where one key has nearly all of the weight, second derivatives are only rounding of
 * terms that cancel. */
#define MILD .low = -1.5, .high = 1.5
static const tg_sample self_attention_grad_samples[] = {
    {.attributes = ATTENTION(1, 1, false), .input = {{TG_OF(4, 2)}, {TG_OF(4, 6), MILD}}},
    {.attributes = ATTENTION(2, 2, true), .input = {{TG_OF(2, 3, 4)}, {TG_OF(2, 3, 12), MILD}}},
    {.attributes = ATTENTION(4, 2, true), .input = {{TG_OF(1, 3, 4)}, {TG_OF(1, 3, 8), MILD}}},
    {.attributes = ATTENTION(3, 1, false), .input = {{TG_OF(2, 1, 2, 6)}, {TG_OF(2, 1, 2, 10), MILD}}},
    {.attributes = ATTENTION(1, 1, true), .input = {{TG_OF(1, 1)}, {TG_OF(1, 3), MILD}}},
    {.attributes = ATTENTION(1, 1, true), .input = {{TG_OF(2, 0, 1)}, {TG_OF(2, 0, 3), MILD}}},
    {.attributes = ATTENTION(1, 1, false), .input = {{TG_OF(0, 2, 1)}, {TG_OF(0, 2, 3), MILD}}},
    {.attributes = ATTENTION(1, 1, true), .input = {{TG_OF(35, 1)}, {TG_OF(35, 3), MILD}}},
};
