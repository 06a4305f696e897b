/* Sample inputs for slice.c. */
#define SLICE(...) (&(slice_attributes){__VA_ARGS__})
static const tg_sample slice_samples[] = {
    {.attributes = SLICE({1, {1}}, {1, {1}}, {1, {3}}), .input = {{TG_OF(5)}}},
    {.attributes = SLICE({1, {4}}, {1, {-1}}, {1, {5}}), .input = {{TG_OF(5)}}},
    {.attributes = SLICE({1, {6}}, {1, {-3}}, {1, {3}}), .input = {{TG_OF(7)}}},
    {.attributes = SLICE({2, {0, 1}}, {2, {1, 2}}, {2, {3, 2}}), .input = {{TG_OF(3, 4)}}},
    {.attributes = SLICE({3, {1, 0, 2}}, {3, {1, 1, -1}}, {3, {1, 3, 2}}), .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = SLICE({2, {0, 0}}, {2, {1, 1}}, {2, {3, 0}}), .input = {{TG_OF(3, 4)}}},
    {.attributes = SLICE({2, {0, 0}}, {2, {1, 1}}, {2, {0, 4}}), .input = {{TG_OF(0, 4)}}},
    {.attributes = SLICE({0, {0}}, {0, {0}}, {0, {0}}), .input = {{.shape = {0}}}},
    {.attributes = SLICE({1, {8}}, {1, {-1}}, {1, {9}}), .input = {{TG_OF(9), TG_EDGES}}},
};

static const tg_sample narrow_samples[] = {
    {.attributes = SLICE({1, {1}}, {1, {1}}, {1, {3}}), .input = {{TG_OF(5)}}},
    {.attributes = SLICE({1, {0}}, {1, {1}}, {1, {5}}), .input = {{TG_OF(5)}}},
    {.attributes = SLICE({1, {6}}, {1, {-3}}, {1, {1}}), .input = {{TG_OF(7)}}},
    {.attributes = SLICE({2, {1, 0}}, {2, {1, 1}}, {2, {2, 4}}), .input = {{TG_OF(3, 4)}}},
    {.attributes = SLICE({3, {1, 1, 0}}, {3, {1, 1, 1}}, {3, {1, 2, 4}}), .input = {{TG_OF(2, 3, 4)}}},
    {.attributes = SLICE({2, {0, 0}}, {2, {1, 1}}, {2, {0, 4}}), .input = {{TG_OF(3, 4)}}},
    {.attributes = SLICE({2, {0, 0}}, {2, {1, 1}}, {2, {0, 4}}), .input = {{TG_OF(0, 4)}}},
    {.attributes = SLICE({0, {0}}, {0, {0}}, {0, {0}}), .input = {{.shape = {0}}}},
    {.attributes = SLICE({1, {2}}, {1, {1}}, {1, {7}}), .input = {{TG_OF(9), TG_EDGES}}},
};

#define SCATTER_SLICE(...) (&(scatter_slice_attributes){__VA_ARGS__})
static const tg_sample scatter_slice_samples[] = {
    {.attributes = SCATTER_SLICE({1, {1}}, {1, {1}}, {1, {5}}, 0), .input = {{TG_OF(3)}}},
    {.attributes = SCATTER_SLICE({1, {4}}, {1, {-1}}, {1, {5}}, 0), .input = {{TG_OF(5)}}},
    {.attributes = SCATTER_SLICE({1, {6}}, {1, {-3}}, {1, {7}}, 2.5), .input = {{TG_OF(3)}}},
    {.attributes = SCATTER_SLICE({2, {0, 1}}, {2, {1, 2}}, {2, {3, 4}}, -1), .input = {{TG_OF(3, 2)}}},
    {.attributes = SCATTER_SLICE({3, {1, 0, 2}}, {3, {1, 1, -1}}, {3, {2, 3, 4}}, 0), .input = {{TG_OF(1, 3, 2)}}},
    {.attributes = SCATTER_SLICE({2, {0, 0}}, {2, {1, 1}}, {2, {3, 4}}, 7), .input = {{TG_OF(3, 0)}}},
    {.attributes = SCATTER_SLICE({2, {0, 0}}, {2, {1, 1}}, {2, {0, 4}}, 0), .input = {{TG_OF(0, 4)}}},
    {.attributes = SCATTER_SLICE({0, {0}}, {0, {0}}, {0, {0}}, 0), .input = {{.shape = {0}}}},
    {.attributes = SCATTER_SLICE({1, {2}}, {1, {1}}, {1, {12}}, 0), .input = {{TG_OF(9), TG_EDGES}}},
};
