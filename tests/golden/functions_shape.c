/* Functions that slice, pad, repeat and transpose tensors. */
#include "tests/golden/golden.h"

/* ---- slices by their ends, which may count from the end or lie beyond it ---- */

typedef struct range_attributes {
    int axis, start, stop, step;
} range_attributes;

static const tg_field range_fields[] = {TG_FIELD(range_attributes, axis, TG_FIELD_INT),
                                        TG_FIELD(range_attributes, start, TG_FIELD_INT),
                                        TG_FIELD(range_attributes, stop, TG_FIELD_INT),
                                        TG_FIELD(range_attributes, step, TG_FIELD_INT),
                                        {0}};

static tg_tensor call_slice_of_range(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const range_attributes *a = attributes;
    return tg_slice(*x, a->axis, a->start, a->stop, a->step);
}

#define RANGE(...)                    \
    .attributes = &(range_attributes) \
    {                                 \
        __VA_ARGS__                   \
    }
static const tg_sample slice_of_range_samples[] = {
    {RANGE(0, 1, 4, 1), .input = {{.shape = {1, {5}}}}},
    {RANGE(0, -3, -1, 1), .input = {{.shape = {1, {5}}}}},
    {RANGE(0, -1, -9, -1), .input = {{.shape = {1, {5}}}}},
    {RANGE(1, 0, 100, 2), .input = {{.shape = {2, {3, 5}}}}},
    {RANGE(-1, 5, 0, -2), .input = {{.shape = {3, {2, 3, 6}}}}},
    {RANGE(-2, 2, 1, 1), .input = {{.shape = {3, {2, 3, 4}}}}},
    {RANGE(0, -100, 2, 1), .input = {{.shape = {2, {4, 3}}}}},
    {RANGE(1, 0, 3, 1), .input = {{.shape = {2, {0, 3}}}}},
};

/* ---- split: the part with this number ---- */

typedef struct split_attributes {
    int axis, parts, number;
} split_attributes;

static const tg_field split_fields[] = {TG_FIELD(split_attributes, axis, TG_FIELD_INT),
                                        TG_FIELD(split_attributes, parts, TG_FIELD_INT),
                                        TG_FIELD(split_attributes, number, TG_FIELD_INT),
                                        {0}};

static tg_tensor call_split(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const split_attributes *a = attributes;
    tg_tensor parts[8];
    return tg_split(*x, a->axis, a->parts, parts) ? parts[a->number] : TG_NONE;
}

#define PART(...)                     \
    .attributes = &(split_attributes) \
    {                                 \
        __VA_ARGS__                   \
    }
static const tg_sample split_samples[] = {
    {PART(0, 2, 1), .input = {{.shape = {1, {6}}}}},        {PART(0, 3, 0), .input = {{.shape = {2, {6, 2}}}}},
    {PART(1, 2, 1), .input = {{.shape = {2, {3, 4}}}}},     {PART(-1, 4, 2), .input = {{.shape = {3, {2, 3, 8}}}}},
    {PART(1, 3, 2), .input = {{.shape = {3, {2, 3, 2}}}}},  {PART(0, 1, 0), .input = {{.shape = {2, {3, 2}}}}},
    {PART(-2, 2, 0), .input = {{.shape = {3, {1, 4, 0}}}}}, {PART(0, 8, 7), .input = {{.shape = {1, {8}}}}},
};

/* ---- lists of numbers for the axes: flip, pad, tile; and repeat ---- */

typedef struct list_attributes {
    tg_shape list, other;
    double fill;
} list_attributes;

static const tg_field list_fields[] = {TG_FIELD(list_attributes, list, TG_FIELD_SHAPE),
                                       TG_FIELD(list_attributes, other, TG_FIELD_SHAPE),
                                       TG_FIELD(list_attributes, fill, TG_FIELD_REAL),
                                       {0}};

static tg_tensor call_flip(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const tg_shape *list = &((const list_attributes *)attributes)->list;
    tg_axes axes = {.count = list->rank};
    for (int i = 0; i < list->rank; i++)
        axes.axis[i] = (int)list->dim[i];
    return tg_flip(*x, axes);
}

static tg_tensor call_pad(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const list_attributes *a = attributes;
    return tg_pad(*x, a->list, a->other, a->fill);
}

static tg_tensor call_tile(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    return tg_tile(*x, ((const list_attributes *)attributes)->list);
}

static tg_tensor call_repeat(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const tg_shape *list = &((const list_attributes *)attributes)->list;
    return tg_repeat(*x, (int)list->dim[0], list->dim[1]);
}

#define LIST(...)                    \
    .attributes = &(list_attributes) \
    {                                \
        .list = { __VA_ARGS__ }      \
    }
#define LISTS(...)                   \
    .attributes = &(list_attributes) \
    {                                \
        __VA_ARGS__                  \
    }

static const tg_sample flip_samples[] = {
    {LIST(1, {0}), .input = {{.shape = {1, {5}}}}},
    {LIST(1, {-1}), .input = {{.shape = {2, {3, 4}}}}},
    {LIST(2, {0, 2}), .input = {{.shape = {3, {2, 3, 4}}}}},
    {LIST(0, {0}), .input = {{.shape = {2, {3, 4}}}}},
    {LIST(1, {1}), .input = {{.shape = {3, {2, 3, 4}}}}},
    {LIST(0, {0}), .input = {{.shape = {0}}}},
    {LIST(1, {0}), .input = {{.shape = {2, {0, 3}}}}},
    {LIST(2, {-1, -2}), .input = {{.shape = {4, {2, 1, 3, 2}}}}},
};

static const tg_sample pad_samples[] = {
    {LISTS({1, {2}}, {1, {1}}, 0), .input = {{.shape = {1, {4}}}}},
    {LISTS({2, {1, 0}}, {2, {0, 2}}, 0), .input = {{.shape = {2, {3, 4}}}}},
    {LISTS({2, {0, 3}}, {2, {0, 0}}, 2.5), .input = {{.shape = {2, {2, 3}}}}},
    {LISTS({3, {1, 1, 1}}, {3, {1, 1, 1}}, -1), .input = {{.shape = {3, {2, 1, 3}}}}},
    {LISTS({2, {0, 0}}, {2, {0, 0}}, 7), .input = {{.shape = {2, {2, 3}}}}},
    {LISTS({0}, {0}, 1), .input = {{.shape = {0}}}},
    {LISTS({2, {1, 2}}, {2, {2, 0}}, 3), .input = {{.shape = {2, {0, 2}}}}},
    {LISTS({4, {0, 0, 1, 2}}, {4, {0, 0, 2, 1}}, 0), .input = {{.shape = {4, {1, 2, 3, 2}}}}},
};

static const tg_sample tile_samples[] = {
    {LIST(1, {3}), .input = {{.shape = {1, {4}}}}},       {LIST(2, {2, 3}), .input = {{.shape = {2, {3, 2}}}}},
    {LIST(1, {2}), .input = {{.shape = {2, {3, 4}}}}},    {LIST(3, {2, 1, 2}), .input = {{.shape = {1, {3}}}}},
    {LIST(2, {2, 2}), .input = {{.shape = {0}}}},         {LIST(2, {0, 2}), .input = {{.shape = {2, {3, 2}}}}},
    {LIST(2, {1, 1}), .input = {{.shape = {2, {2, 3}}}}}, {LIST(2, {3, 1}), .input = {{.shape = {3, {2, 1, 2}}}}},
};

static const tg_sample repeat_samples[] = {
    {LIST(2, {0, 3}), .input = {{.shape = {1, {4}}}}},    {LIST(2, {0, 2}), .input = {{.shape = {2, {3, 4}}}}},
    {LIST(2, {1, 2}), .input = {{.shape = {2, {3, 4}}}}}, {LIST(2, {-2, 4}), .input = {{.shape = {3, {2, 3, 2}}}}},
    {LIST(2, {0, 1}), .input = {{.shape = {2, {2, 3}}}}}, {LIST(2, {0, 0}), .input = {{.shape = {2, {2, 3}}}}},
    {LIST(2, {1, 2}), .input = {{.shape = {2, {3, 0}}}}}, {LIST(2, {-1, 5}), .input = {{.shape = {4, {1, 2, 1, 3}}}}},
};

/* ---- transpose and embedding ---- */

static tg_tensor call_transpose(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    const tg_shape *list = &((const list_attributes *)attributes)->list;
    return tg_transpose(*x, (int)list->dim[0], (int)list->dim[1]);
}

static const tg_sample transpose_samples[] = {
    {LIST(2, {0, 1}), .input = {{.shape = {2, {3, 4}}}}},    {LIST(2, {-1, -2}), .input = {{.shape = {3, {2, 3, 4}}}}},
    {LIST(2, {0, 2}), .input = {{.shape = {3, {2, 3, 4}}}}}, {LIST(2, {1, 1}), .input = {{.shape = {2, {3, 4}}}}},
    {LIST(2, {0, -1}), .input = {{.shape = {1, {5}}}}},      {LIST(2, {0, 3}), .input = {{.shape = {4, {2, 1, 3, 2}}}}},
    {LIST(2, {0, 1}), .input = {{.shape = {2, {0, 3}}}}},    {LIST(2, {1, 2}), .input = {{.shape = {3, {2, 17, 19}}}}},
};

static tg_tensor call_embedding(const tg_tensor *x, int count, const void *attributes)
{
    (void)count;
    (void)attributes;
    return tg_embedding(x[0], x[1]);
}

#define NUMBERS(below, ...)                                  \
    {                                                        \
        .shape = {__VA_ARGS__}, .index = true, .high = below \
    }
static const tg_sample embedding_samples[] = {
    {.input = {{.shape = {2, {5, 3}}}, NUMBERS(5, 1, {7})}},
    {.input = {{.shape = {2, {4, 2}}}, NUMBERS(4, 2, {2, 3})}},
    {.input = {{.shape = {2, {4, 2}}}, NUMBERS(4, 0, {0})}},
    {.input = {{.shape = {1, {6}}}, NUMBERS(6, 1, {4})}},
    {.input = {{.shape = {3, {3, 2, 2}}}, NUMBERS(3, 2, {1, 5})}},
    {.input = {{.shape = {2, {1, 4}}}, NUMBERS(1, 1, {6})}},
    {.input = {{.shape = {2, {3, 4}}}, NUMBERS(3, 1, {0})}},
    {.input = {{.shape = {2, {20, 9}}}, NUMBERS(20, 3, {2, 1, 3})}},
};

const golden_function golden_rearrangements[] = {
    GOLDEN_FUNCTION(slice_of_range, 1, range_fields),
    GOLDEN_FUNCTION(split, 1, split_fields),
    GOLDEN_FUNCTION(flip, 1, list_fields),
    GOLDEN_FUNCTION(pad, 1, list_fields),
    GOLDEN_FUNCTION(tile, 1, list_fields),
    GOLDEN_FUNCTION(repeat, 1, list_fields),
    GOLDEN_FUNCTION(transpose, 1, list_fields),
    GOLDEN_FUNCTION(embedding, 2, NULL),
    {{0}, NULL},
};
