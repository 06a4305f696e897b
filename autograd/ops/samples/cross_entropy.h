/* Sample inputs for cross_entropy.c. */
#define PLAIN           .attributes = (&(label_attributes){0, TG_NO_LABEL})
#define SMOOTH(e)       .attributes = (&(label_attributes){e, TG_NO_LABEL})
#define LABELS(classes) .low = 0, .high = classes, .index = true
static const tg_sample cross_entropy_samples[] = {
    {PLAIN, .input = {{TG_OF(3, 4)}, {TG_OF(3), LABELS(4)}}},
    {PLAIN, .input = {{TG_OF(7)}, {.shape = {0}, LABELS(7)}}},
    {PLAIN, .input = {{TG_OF(2, 3, 5), .low = -12, .high = 12}, {TG_OF(2, 3), LABELS(5)}}},
    {SMOOTH(0.1), .input = {{TG_OF(5, 3)}, {TG_OF(5), LABELS(3)}}},
    {SMOOTH(1), .input = {{TG_OF(2, 9)}, {TG_OF(2), LABELS(9)}}},
    {.attributes = &(label_attributes){0, 1}, .input = {{TG_OF(9, 3)}, {TG_OF(9), LABELS(3)}}},
    {.attributes = &(label_attributes){0.2, 0}, .input = {{TG_OF(131, 3)}, {TG_OF(131), LABELS(3)}}},
    {PLAIN, .input = {{TG_OF(0, 3)}, {TG_OF(0), LABELS(3)}}},
    {PLAIN, .input = {{TG_OF(4, 1)}, {TG_OF(4), LABELS(1)}}},
    {PLAIN, .input = {{TG_OF(2, 6), .low = 700, .high = 704}, {TG_OF(2), LABELS(6)}}},
};

static const tg_sample cross_entropy_grad_samples[] = {
    {PLAIN, .input = {{TG_OF(3, 4)}, {TG_OF(3), LABELS(4)}}},
    {PLAIN, .input = {{TG_OF(7)}, {.shape = {0}, LABELS(7)}}},
    {PLAIN, .input = {{TG_OF(2, 3, 5), .low = -6, .high = 6}, {TG_OF(2, 3), LABELS(5)}}},
    {SMOOTH(0.1), .input = {{TG_OF(5, 3)}, {TG_OF(5), LABELS(3)}}},
    {.attributes = &(label_attributes){0, 1}, .input = {{TG_OF(9, 3)}, {TG_OF(9), LABELS(3)}}},
    {.attributes = &(label_attributes){0.2, 0}, .input = {{TG_OF(131, 3)}, {TG_OF(131), LABELS(3)}}},
    {PLAIN, .input = {{TG_OF(0, 3)}, {TG_OF(0), LABELS(3)}}},
    {PLAIN, .input = {{TG_OF(3, 37)}, {TG_OF(3), LABELS(37)}}},
    {PLAIN, .input = {{TG_OF(2, 6), .low = 700, .high = 704}, {TG_OF(2), LABELS(6)}}},
};
