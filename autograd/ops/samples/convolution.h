/* Sample inputs for convolution.c: kernel, stride, padding, dilation and size of the images; then the groups. */
#define SETTINGS(groups_, ...)              \
    .attributes = &(convolution_attributes) \
    {                                       \
        {__VA_ARGS__}, groups_              \
    }
static const tg_sample conv2d_samples[] = {
    {SETTINGS(1, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 4)), .count = 3,
     .input = {{TG_OF(1, 1, 3, 4)}, {TG_OF(1, 1, 2, 2)}, {TG_OF(1)}}},
    {SETTINGS(1, PAIR(3, 3), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(4, 3)), .count = 3,
     .input = {{TG_OF(2, 3, 4, 3)}, {TG_OF(2, 3, 3, 3)}, {TG_OF(2)}}},
    {SETTINGS(1, PAIR(2, 3), PAIR(2, 1), PAIR(0, 2), PAIR(1, 1), PAIR(5, 3)), .count = 2,
     .input = {{TG_OF(1, 2, 5, 3)}, {TG_OF(3, 2, 2, 3)}}},
    {SETTINGS(1, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(2, 3), PAIR(5, 7)), .count = 3,
     .input = {{TG_OF(1, 1, 5, 7)}, {TG_OF(2, 1, 2, 2)}, {TG_OF(2)}}},
    {SETTINGS(2, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 3)), .count = 3,
     .input = {{TG_OF(2, 4, 3, 3)}, {TG_OF(6, 2, 2, 2)}, {TG_OF(6)}}},
    {SETTINGS(3, PAIR(3, 2), PAIR(1, 1), PAIR(1, 0), PAIR(1, 1), PAIR(3, 4)), .count = 2,
     .input = {{TG_OF(1, 3, 3, 4)}, {TG_OF(3, 1, 3, 2)}}},
    {SETTINGS(1, PAIR(1, 1), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(1, 1)), .count = 3,
     .input = {{TG_OF(2, 2, 1, 1)}, {TG_OF(3, 2, 1, 1)}, {TG_OF(3)}}},
    {SETTINGS(2, PAIR(3, 2), PAIR(3, 2), PAIR(2, 1), PAIR(2, 1), PAIR(6, 5)), .count = 3,
     .input = {{TG_OF(2, 4, 6, 5)}, {TG_OF(2, 2, 3, 2)}, {TG_OF(2)}}},
    {SETTINGS(1, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 3)), .count = 3,
     .input = {{TG_OF(0, 2, 3, 3)}, {TG_OF(2, 2, 2, 2)}, {TG_OF(2)}}},
};

/* A cotangent and a weight. */
static const tg_sample conv2d_grad_image_samples[] = {
    {SETTINGS(1, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 4)),
     .input = {{TG_OF(1, 1, 2, 3)}, {TG_OF(1, 1, 2, 2)}}},
    {SETTINGS(1, PAIR(3, 3), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(4, 3)),
     .input = {{TG_OF(2, 2, 4, 3)}, {TG_OF(2, 3, 3, 3)}}},
    {SETTINGS(1, PAIR(2, 3), PAIR(2, 1), PAIR(0, 2), PAIR(1, 1), PAIR(5, 3)),
     .input = {{TG_OF(1, 3, 2, 5)}, {TG_OF(3, 2, 2, 3)}}},
    {SETTINGS(1, PAIR(2, 1), PAIR(3, 2), PAIR(1, 0), PAIR(2, 1), PAIR(6, 5)),
     .input = {{TG_OF(1, 2, 2, 3)}, {TG_OF(2, 1, 2, 1)}}},
    {SETTINGS(2, PAIR(3, 2), PAIR(3, 2), PAIR(2, 1), PAIR(2, 1), PAIR(6, 5)),
     .input = {{TG_OF(2, 2, 2, 3)}, {TG_OF(2, 2, 3, 2)}}},
    {SETTINGS(1, PAIR(2, 2), PAIR(2, 2), PAIR(0, 0), PAIR(2, 4), PAIR(6, 8)),
     .input = {{TG_OF(1, 1, 2, 2)}, {TG_OF(1, 2, 2, 2)}}},
    {SETTINGS(1, PAIR(1, 1), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(1, 1)),
     .input = {{TG_OF(2, 3, 1, 1)}, {TG_OF(3, 2, 1, 1)}}},
    {SETTINGS(1, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 3)),
     .input = {{TG_OF(0, 2, 2, 2)}, {TG_OF(2, 2, 2, 2)}}},
};

/* A cotangent and images. */
static const tg_sample conv2d_grad_weight_samples[] = {
    {SETTINGS(1, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 4)),
     .input = {{TG_OF(1, 1, 2, 3)}, {TG_OF(1, 1, 3, 4)}}},
    {SETTINGS(1, PAIR(3, 3), PAIR(1, 1), PAIR(1, 1), PAIR(1, 1), PAIR(4, 3)),
     .input = {{TG_OF(2, 2, 4, 3)}, {TG_OF(2, 3, 4, 3)}}},
    {SETTINGS(1, PAIR(2, 3), PAIR(2, 1), PAIR(0, 2), PAIR(1, 1), PAIR(5, 3)),
     .input = {{TG_OF(1, 3, 2, 5)}, {TG_OF(1, 2, 5, 3)}}},
    {SETTINGS(2, PAIR(3, 2), PAIR(3, 2), PAIR(2, 1), PAIR(2, 1), PAIR(6, 5)),
     .input = {{TG_OF(2, 2, 2, 3)}, {TG_OF(2, 4, 6, 5)}}},
    {SETTINGS(1, PAIR(1, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(2, 3)),
     .input = {{TG_OF(2, 1, 2, 2)}, {TG_OF(2, 5, 2, 3)}}},
    {SETTINGS(1, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(2, 3), PAIR(5, 7)),
     .input = {{TG_OF(1, 2, 3, 4)}, {TG_OF(1, 1, 5, 7)}}},
    {SETTINGS(3, PAIR(3, 2), PAIR(1, 1), PAIR(1, 0), PAIR(1, 1), PAIR(3, 4)),
     .input = {{TG_OF(1, 3, 3, 3)}, {TG_OF(1, 3, 3, 4)}}},
    {SETTINGS(1, PAIR(2, 2), PAIR(1, 1), PAIR(0, 0), PAIR(1, 1), PAIR(3, 3)),
     .input = {{TG_OF(0, 2, 2, 2)}, {TG_OF(0, 2, 3, 3)}}},
};
