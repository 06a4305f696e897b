/* Sample inputs for cross_entropy.c. */
#define PLAIN           .attributes = (&(label_attributes){0, TG_NO_LABEL})
#define SMOOTH(e)       .attributes = (&(label_attributes){e, TG_NO_LABEL})
#define LABELS(classes) .low = 0, .high = classes, .index = true
static const tg_sample cross_entropy_samples[] = {
    {PLAIN, .input = {{.shape = {2, {3, 4}}}, {.shape = {1, {3}}, LABELS(4)}}},
    {PLAIN, .input = {{.shape = {1, {7}}}, {.shape = {0}, LABELS(7)}}},
    {PLAIN, .input = {{.shape = {3, {2, 3, 5}}, .low = -12, .high = 12}, {.shape = {2, {2, 3}}, LABELS(5)}}},
    {SMOOTH(0.1), .input = {{.shape = {2, {5, 3}}}, {.shape = {1, {5}}, LABELS(3)}}},
    {SMOOTH(1), .input = {{.shape = {2, {2, 9}}}, {.shape = {1, {2}}, LABELS(9)}}},
    {.attributes = &(label_attributes){0, 1}, .input = {{.shape = {2, {9, 3}}}, {.shape = {1, {9}}, LABELS(3)}}},
    {.attributes = &(label_attributes){0.2, 0}, .input = {{.shape = {2, {131, 3}}}, {.shape = {1, {131}}, LABELS(3)}}},
    {PLAIN, .input = {{.shape = {2, {0, 3}}}, {.shape = {1, {0}}, LABELS(3)}}},
    {PLAIN, .input = {{.shape = {2, {4, 1}}}, {.shape = {1, {4}}, LABELS(1)}}},
    {PLAIN, .input = {{.shape = {2, {2, 6}}, .low = 700, .high = 704}, {.shape = {1, {2}}, LABELS(6)}}},
};

static const tg_sample cross_entropy_grad_samples[] = {
    {PLAIN, .input = {{.shape = {2, {3, 4}}}, {.shape = {1, {3}}, LABELS(4)}}},
    {PLAIN, .input = {{.shape = {1, {7}}}, {.shape = {0}, LABELS(7)}}},
    {PLAIN, .input = {{.shape = {3, {2, 3, 5}}, .low = -6, .high = 6}, {.shape = {2, {2, 3}}, LABELS(5)}}},
    {SMOOTH(0.1), .input = {{.shape = {2, {5, 3}}}, {.shape = {1, {5}}, LABELS(3)}}},
    {.attributes = &(label_attributes){0, 1}, .input = {{.shape = {2, {9, 3}}}, {.shape = {1, {9}}, LABELS(3)}}},
    {.attributes = &(label_attributes){0.2, 0}, .input = {{.shape = {2, {131, 3}}}, {.shape = {1, {131}}, LABELS(3)}}},
    {PLAIN, .input = {{.shape = {2, {0, 3}}}, {.shape = {1, {0}}, LABELS(3)}}},
    {PLAIN, .input = {{.shape = {2, {3, 37}}}, {.shape = {1, {3}}, LABELS(37)}}},
    {PLAIN, .input = {{.shape = {2, {2, 6}}, .low = 700, .high = 704}, {.shape = {1, {2}}, LABELS(6)}}},
};
