/* Convolutions and pools against loops over every window. */
#include "autograd/kernels/kernels.h"
#include "autograd/kernels/product_kernel.h"
#include "tests/support/seeds.h"
#include "tests/support/tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

Suite *convolution_suite(void);

/* The element of an image [batch, channels, height, width], 0 in the padding. */
static double pixel(tg_tensor x, int64_t n, int64_t c, int64_t y, int64_t column)
{
    const int64_t height = tg_dim(x, 2), width = tg_dim(x, 3);
    if (y < 0 || y >= height || column < 0 || column >= width)
        return 0;
    return tg_at(x, ((n * tg_dim(x, 1) + c) * height + y) * width + column);
}

/* The convolution at one place, by its definition. */
static double convolved(tg_tensor x, tg_tensor weight, const tg_window *s, int64_t n, int64_t o, int64_t y,
                        int64_t column)
{
    const int64_t per_group = tg_dim(weight, 1), groups = tg_dim(x, 1) / per_group;
    const int64_t group = o / (tg_dim(weight, 0) / groups);
    double sum = 0;
    for (int64_t c = 0; c < per_group; c++)
        for (int64_t i = 0; i < tg_dim(weight, 2); i++)
            for (int64_t j = 0; j < tg_dim(weight, 3); j++)
                sum += pixel(weight, o, c, i, j) * pixel(x, n, group * per_group + c,
                                                         y * s->stride[0] + i * s->dilation[0] - s->padding[0],
                                                         column * s->stride[1] + j * s->dilation[1] - s->padding[1]);
    return sum;
}

static int64_t windows(int64_t size, int64_t kernel, int stride, int padding, int dilation)
{
    return (size + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1;
}

/* Tests every combination of the kernels, strides, paddings, dilations and groups below. */
START_TEST(conv2d_is_its_definition)
{
    static const tg_window settings[] = {
        {.stride = {1, 1}, .dilation = {1, 1}, .groups = 1},
        {.stride = {2, 1}, .dilation = {1, 1}, .padding = {1, 2}, .groups = 1},
        {.stride = {1, 3}, .dilation = {2, 1}, .padding = {0, 1}, .groups = 2},
        {.stride = {3, 2}, .dilation = {1, 3}, .padding = {4, 3}, .groups = 4},
    };
    static const int64_t kernels[][2] = {{1, 1}, {3, 3}, {2, 1}, {1, 2}};
    for (int which = 0; which < 32; which++) {
        const tg_window *s = &settings[which % 4];
        const int64_t *kernel = kernels[which / 4 % 4];
        const tg_dtype dtype = which < 16 ? TG_F64 : TG_F32;
        tg_tensor x = drawn(dtype, TG_SHAPE(2, 4, 6, 7)), bias = drawn(dtype, TG_SHAPE(8));
        tg_tensor weight = drawn(dtype, TG_SHAPE(8, 4 / s->groups, kernel[0], kernel[1]));
        tg_tensor y = tg_conv2d(x, weight, bias, *s);
        assert_shape(y, TG_SHAPE(2, 8, windows(6, kernel[0], s->stride[0], s->padding[0], s->dilation[0]),
                                 windows(7, kernel[1], s->stride[1], s->padding[1], s->dilation[1])));
        for (int64_t i = 0; i < tg_size(y); i++) {
            const int64_t across = tg_dim(y, 3), down = tg_dim(y, 2), o = i / (across * down) % 8;
            assert_close(tg_at(y, i),
                         convolved(x, weight, s, i / (across * down * 8), o, i / across % down, i % across) +
                             tg_at(bias, o),
                         dtype);
        }
    }
}
END_TEST

/* The convolution as a product of the weights with all windows, laid out. */
static tg_tensor product_with_windows(tg_tensor x, tg_tensor weight, tg_tensor bias, tg_window s)
{
    const int64_t groups = s.groups, out = tg_dim(weight, 0);
    const tg_tensor columns = tg_unfold(x, tg_dim(weight, 2), tg_dim(weight, 3), s);
    const int64_t batch = tg_dim(x, 0), down = tg_dim(columns, 4), across = tg_dim(columns, 5),
                  inner = tg_dim(weight, 1) * tg_dim(weight, 2) * tg_dim(weight, 3);
    const tg_tensor rows = tg_reshape(weight, TG_SHAPE(groups, out / groups, inner)),
                    product = tg_matmul(rows, tg_reshape(columns, TG_SHAPE(groups, inner, batch * down * across))),
                    y = tg_add(tg_reshape(product, TG_SHAPE(out, batch, down * across)),
                               tg_reshape(bias, TG_SHAPE(out, 1, 1)));
    return tg_reshape(tg_transpose(y, 0, 1), TG_SHAPE(batch, out, down, across));
}

static const struct {
    int64_t batch, channels, height, width, out, kernel[2];
    tg_window window;
} convolutions[] = {
    {3, 1, 28, 28, 16, {3, 3}, {.padding = {1, 1}, .groups = 1}},
    {2, 16, 14, 14, 32, {5, 3}, {.padding = {1, 1}, .groups = 1}},
    {5, 33, 7, 7, 29, {3, 3}, {.padding = {1, 1}, .dilation = {1, 2}, .groups = 1}},
    {2, 3, 33, 31, 17, {5, 3}, {.stride = {2, 2}, .padding = {2, 1}, .groups = 1}},
    {1, 6, 40, 37, 6, {3, 3}, {.stride = {1, 3}, .padding = {2, 4}, .dilation = {2, 3}, .groups = 3}},
    {2, 8, 20, 20, 8, {3, 3}, {.padding = {1, 1}, .groups = 8}},
    {9, 70, 2, 2, 40, {3, 2}, {.padding = {1, 1}, .groups = 1}},
    {3, 20, 7, 7, 64, {2, 3}, {.padding = {1, 1}, .groups = 1}},
    {2, 5, 14, 14, 70, {3, 3}, {.stride = {2, 2}, .padding = {1, 1}, .groups = 1}},
    {3, 12, 5, 6, 70, {3, 2}, {.padding = {2, 1}, .dilation = {2, 3}, .groups = 2}},
    {1, 433, 5, 5, 33, {3, 3}, {.groups = 1}},
    {2, 40, 9, 3, 33, {5, 3}, {.stride = {1, 2}, .padding = {2, 1}, .groups = 1}},
    {40, 20, 1, 1, 15, {1, 1}, {.groups = 1}},
    {1, 2, 150, 130, 3, {2, 2}, {.groups = 1}},   /* bands of an image */
    {1, 1, 3, 40000, 2, {2, 2}, {.groups = 1}},   /* parts of a line */
    {2, 1, 1, 5000, 2, {1, 4200}, {.groups = 1}}, /* more steps than a product takes */
    {1, 2, 1, 70000, 3, {1, 2}, {.dilation = {1, 65000}, .groups = 1}},
    {1, 600, 5, 33, 20, {3, 3}, {.padding = {1, 1}, .dilation = {2, 1}, .groups = 1}}, /* more steps than the memory
                                                                                          takes */
    {1, 4, 6, 40, 700, {2, 2}, {.groups = 1}},
    /* a pixel's gradient is a sum over 3 x 3 windows, but not of weights or pixels side by side */
    {2, 32, 14, 14, 24, {5, 5}, {.stride = {2, 2}, .padding = {2, 2}, .groups = 1}},
    {2, 24, 13, 17, 40, {3, 6}, {.stride = {1, 2}, .padding = {1, 2}, .groups = 1}},
    {1, 64, 19, 22, 34, {3, 3}, {.stride = {1, 3}, .padding = {1, 3}, .dilation = {1, 3}, .groups = 2}},
    {1, 32, 22, 19, 17, {3, 3}, {.stride = {3, 1}, .padding = {3, 1}, .dilation = {3, 1}, .groups = 1}},
};

/* Every sum has one order, so the bits are those of the product; the gradient of the images adds up in another order
 * than the windows' way back. */
static void assert_product_with_windows(tg_dtype dtype, int number)
{
    tg_window s = convolutions[number].window;
    const int64_t channels = convolutions[number].channels, out = convolutions[number].out;
    for (int i = 0; i < 2; i++) {
        s.stride[i] = s.stride[i] ? s.stride[i] : 1;
        s.dilation[i] = s.dilation[i] ? s.dilation[i] : 1;
    }
    const tg_tensor x = drawn(dtype, TG_SHAPE(convolutions[number].batch, channels, convolutions[number].height,
                                              convolutions[number].width)),
                    weight = drawn(dtype, TG_SHAPE(out, channels / s.groups, convolutions[number].kernel[0],
                                                   convolutions[number].kernel[1])),
                    bias = drawn(dtype, TG_SHAPE(out)), inputs[] = {x, weight, bias};
    const tg_tensor y = tg_conv2d(x, weight, bias, s), same = product_with_windows(x, weight, bias, s);
    const tg_tensor g = drawn(dtype, tg_shape_of(y));
    tg_tensor gradient[3], expected[3];
    ck_assert(tg_grad(&y, 1, inputs, 3, &g, false, gradient) && tg_grad(&same, 1, inputs, 3, &g, false, expected));
    const size_t size = tg_dtype_size(dtype);
    ck_assert_mem_eq(tg_data(y), tg_data(same), (size_t)tg_size(y) * size);
    ck_assert_mem_eq(tg_data(gradient[1]), tg_data(expected[1]), (size_t)tg_size(weight) * size);
    const double terms = sqrt((double)(tg_size(weight) / tg_dim(weight, 1)));
    for (int64_t i = 0; i < tg_size(x); i++)
        ck_assert_double_le(fabs(tg_at(gradient[0], i) - tg_at(expected[0], i)),
                            terms * (dtype == TG_F32 ? 3e-5 : 1e-13));
    for (int64_t i = 0; i < out; i++)
        assert_relative(tg_at(gradient[2], i), tg_at(expected[2], i), dtype == TG_F32 ? 1e-4 : 1e-10);
}

/* With any number of threads; and small ones by every instruction set. Large ones have one type a day. */
START_TEST(convolutions_are_products_with_their_windows)
{
    const tg_dtype dtype = _i % 2 ? TG_F64 : TG_F32;
    const int number = _i / 2, threads = tg_threads();
    const bool small = convolutions[number].batch * convolutions[number].channels * convolutions[number].height *
                           convolutions[number].width <
                       11000;
    if (!small && every(2) == 2 && _i % 2 != today(2))
        return;
    const tg_kernel_set usual = tg_kernels;
    tg_products_by(TG_PRODUCTS_OWN, NULL); /* OpenBLAS sums in a different order */
    for (int k = 1; k <= 3; k += 2) {
        tg_set_threads(k);
        assert_product_with_windows(dtype, number);
    }
    tg_set_threads(threads);
    for (int i = 0; small && tg_kernel_set_at(i); i++)
        if (tg_kernel_set_runs(tg_kernel_set_at(i)) && strcmp(tg_kernel_set_at(i)->isa, usual.isa) != 0) {
            tg_kernels = *tg_kernel_set_at(i);
            assert_product_with_windows(dtype, number);
        }
    tg_kernels = usual;
    tg_products_by(TG_PRODUCTS_AUTO, NULL);
}
END_TEST

/* ---- Winograd's algorithm: 3 x 3 windows at every place, and enough channels ---- */

static const struct {
    int64_t batch, channels, height, width, out;
    tg_window window;
} tiled[] = {
    {3, 16, 14, 14, 16, {.padding = {1, 1}, .groups = 1}}, {2, 33, 7, 9, 47, {.padding = {1, 1}, .groups = 1}},
    {2, 48, 12, 5, 93, {.padding = {0, 2}, .groups = 3}},  {1, 150, 28, 31, 170, {.padding = {1, 1}, .groups = 1}},
    {1, 600, 6, 11, 31, {.padding = {2, 0}, .groups = 1}}, {1, 17, 4, 1501, 29, {.padding = {2, 1}, .groups = 1}},
    {70, 20, 6, 6, 64, {.padding = {0, 0}, .groups = 1}},
};

typedef struct sums {
    tg_tensor x, weight, bias, g, y, gradient[2]; /* of x and the weight */
} sums;

static void convolve_tiled(sums *of, int number)
{
    const tg_tensor in[] = {of->x, of->weight};
    of->y = tg_conv2d(of->x, of->weight, of->bias, tiled[number].window);
    ck_assert(tg_grad(&of->y, 1, in, 2, &of->g, false, of->gradient));
}

static sums drawn_tiled(tg_dtype dtype, int number)
{
    const tg_window *s = &tiled[number].window;
    const int64_t batch = tiled[number].batch, channels = tiled[number].channels, height = tiled[number].height,
                  width = tiled[number].width, out = tiled[number].out;
    sums of = {drawn(dtype, TG_SHAPE(batch, channels, height, width)),
               drawn(dtype, TG_SHAPE(out, channels / s->groups, 3, 3)), drawn(dtype, TG_SHAPE(out)),
               drawn(dtype, TG_SHAPE(batch, out, height - 2 + 2 * s->padding[0], width - 2 + 2 * s->padding[1]))};
    convolve_tiled(&of, number);
    return of;
}

/* The same as products in another type, the gradients by the windows' way back. */
static sums by_products(const sums *of, int number, tg_dtype dtype)
{
    const tg_tensor from[] = {of->x, of->weight, of->bias, of->g};
    tg_tensor to[4];
    for (int i = 0; i < 4; i++) {
        const int64_t size = tg_size(from[i]);
        void *const numbers = malloc((size_t)size * sizeof(double));
        ck_assert(numbers && tg_read(from[i], dtype, numbers, size));
        to[i] = tg_variable(tape, dtype, numbers, tg_shape_of(from[i]));
        free(numbers);
    }
    tg_window s = tiled[number].window;
    for (int i = 0; i < 2; i++)
        s.stride[i] = s.dilation[i] = 1;
    tg_products_by(TG_PRODUCTS_OWN, NULL);
    sums same = {to[0], to[1], to[2], to[3], product_with_windows(to[0], to[1], to[2], s)};
    ck_assert(tg_grad(&same.y, 1, to, 2, &same.g, false, same.gradient));
    ck_assert_ptr_nonnull(tg_data(same.y));
    tg_products_by(TG_PRODUCTS_AUTO, NULL);
    return same;
}

/* The root mean square of the differences, divided by that of the numbers; and the largest difference likewise. */
static double error(tg_tensor is, tg_tensor exact, double *largest)
{
    double squares = 0, whole = 0, most = 0;
    for (int64_t i = 0; i < tg_size(is); i++) {
        const double difference = fabs(tg_at(is, i) - tg_at(exact, i));
        squares += difference * difference;
        whole += tg_at(exact, i) * tg_at(exact, i);
        most = fmax(most, isnan(difference) ? INFINITY : difference);
    }
    *largest = most / sqrt(whole / (double)tg_size(is));
    return sqrt(squares / whole);
}

/* And in floats as exact as products: the result more than single chains over channels and places, the gradient of the
 * weights about as much. The windows' way back adds up the nine places of a pixel apart, so it has shorter sums. */
START_TEST(tiled_convolutions_are_their_definition)
{
    static const double of_products[] = {1, 3, 1.3};
    const tg_dtype dtype = _i % 2 ? TG_F64 : TG_F32;
    const int number = _i / 2;
    const double unit = dtype == TG_F32 ? 0x1p-24 : 0x1p-53;
    const sums is = drawn_tiled(dtype, number), exact = by_products(&is, number, TG_F64),
               usual = by_products(&is, number, TG_F32);
    const tg_tensor results[] = {is.y, is.gradient[0], is.gradient[1]},
                    expected[] = {exact.y, exact.gradient[0], exact.gradient[1]},
                    products[] = {usual.y, usual.gradient[0], usual.gradient[1]};
    for (int i = 0; i < 3; i++) {
        double largest;
        ck_assert_double_le(error(results[i], expected[i], &largest), 60 * unit);
        ck_assert_double_le(largest, 400 * unit);
        if (dtype == TG_F32)
            ck_assert_double_le(error(results[i], expected[i], &largest),
                                of_products[i] * error(products[i], expected[i], &largest));
    }
}
END_TEST

static void assert_same(tg_tensor a, tg_tensor b)
{
    ck_assert_int_eq(tg_size(a), tg_size(b));
    ck_assert_mem_eq(tg_data(a), tg_data(b), (size_t)tg_size(a) * tg_dtype_size(tg_dtype_of(a)));
}

/* By any number of threads, by every instruction set with fused multiply-adds, and alone or in a batch. */
START_TEST(tiled_convolutions_have_the_same_bits_everywhere)
{
    const tg_dtype dtype = _i % 2 ? TG_F64 : TG_F32;
    const int number = _i / 2, threads = tg_threads();
    const tg_kernel_set usual = tg_kernels;
    const sums is = drawn_tiled(dtype, number);
    for (int k = 1; k <= 3; k += 2)
        for (int i = 0; tg_kernel_set_at(i); i++) {
            const tg_kernel_set *set = tg_kernel_set_at(i);
            if (!tg_kernel_set_runs(set) || !set->products[dtype]->fused)
                continue;
            tg_kernels = *set;
            tg_set_threads(k);
            sums again = is;
            convolve_tiled(&again, number);
            assert_same(is.y, again.y);
            assert_same(is.gradient[0], again.gradient[0]);
            assert_same(is.gradient[1], again.gradient[1]);
        }
    tg_kernels = usual;
    tg_set_threads(threads);
    const int64_t last = tiled[number].batch - 1;
    assert_same(tg_narrow(is.y, 0, last, 1),
                tg_conv2d(tg_narrow(is.x, 0, last, 1), is.weight, is.bias, tiled[number].window));
}
END_TEST

/* A pixel that is NaN, infinite or huge changes no bit of a window that does not read it, and one that reads a NaN is
 * NaN. Up to a quarter of the largest number sums are finite, if they are small enough. */
START_TEST(tiled_windows_read_their_own_pixels_only)
{
    enum { CHANNELS = 16, SIDE = 12, ROW = 5, COLUMN = 6 };
    static const float pixels[] = {NAN, INFINITY, -INFINITY, 3e38F, 8e37F};
    const float pixel = pixels[_i];
    const tg_window window = {.padding = {1, 1}};
    static float image[CHANNELS * SIDE * SIDE];
    tg_tensor weight = tg_mul_scalar(drawn(TG_F32, TG_SHAPE(CHANNELS, CHANNELS, 3, 3)), 1e-4),
              before = drawn(TG_F32, TG_SHAPE(1, CHANNELS, SIDE, SIDE));
    memcpy(image, tg_f32(before), sizeof image);
    image[(3 * SIDE + ROW) * SIDE + COLUMN] = pixel;
    const tg_tensor after = tg_constant(tape, TG_F32, image, TG_SHAPE(1, CHANNELS, SIDE, SIDE));
    const float *is = tg_f32(tg_conv2d(after, weight, TG_NONE, window)),
                *was = tg_f32(tg_conv2d(before, weight, TG_NONE, window));
    for (int i = 0; i < CHANNELS * SIDE * SIDE; i++) {
        const bool reads = abs(i / SIDE % SIDE - ROW) <= 1 && abs(i % SIDE - COLUMN) <= 1;
        if (!reads)
            ck_assert_mem_eq(&is[i], &was[i], sizeof *is);
        else if (isnan(pixel))
            ck_assert(isnan(is[i]));
        else
            ck_assert(_i < 4 ? !isfinite(is[i]) || fabsf(is[i]) > 1e30F : isfinite(is[i]));
    }
}
END_TEST

START_TEST(conv1d_is_conv2d_of_height_one)
{
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 4, 9)), weight = drawn(TG_F64, TG_SHAPE(6, 2, 3)),
              bias = drawn(TG_F64, TG_SHAPE(6));
    tg_tensor y = tg_conv1d(x, weight, bias, (tg_window){.stride = {2}, .padding = {1}, .dilation = {2}, .groups = 2});
    tg_tensor same = tg_conv2d(tg_reshape(x, TG_SHAPE(2, 4, 1, 9)), tg_reshape(weight, TG_SHAPE(6, 2, 1, 3)), bias,
                               (tg_window){.stride = {1, 2}, .padding = {0, 1}, .dilation = {1, 2}, .groups = 2});
    assert_shape(y, TG_SHAPE(2, 6, 4));
    for (int64_t i = 0; i < 48; i++)
        ck_assert_double_eq(tg_at(y, i), tg_at(same, i));
    assert_shape(tg_conv1d(x, drawn(TG_F64, TG_SHAPE(5, 4, 2)), TG_NONE, (tg_window){0}), TG_SHAPE(2, 5, 8));
}
END_TEST

START_TEST(fold_is_the_adjoint_of_unfold)
{
    /* <unfold x, c> = <x, fold c>, even where windows overlap or leave elements out. */
    const tg_window s = {.stride = {2, 1}, .padding = {1, 0}, .dilation = {1, 2}};
    tg_tensor x = drawn(TG_F64, TG_SHAPE(2, 3, 6, 5)), columns = tg_unfold(x, 3, 2, s),
              c = drawn(TG_F64, tg_shape_of(columns));
    assert_shape(columns, TG_SHAPE(3, 3, 2, 2, 3, 3));
    tg_tensor back = tg_fold(c, 6, 5, s);
    assert_close(tg_item(tg_dot(columns, c)), tg_item(tg_dot(x, back)), TG_F64);
}
END_TEST

static tg_tensor convolve(tg_tape *on, const tg_tensor *in, int count, void *user)
{
    (void)on, (void)count;
    return tg_square(tg_conv2d(in[0], in[1], in[2], *(const tg_window *)user));
}

START_TEST(convolutions_can_be_differentiated_twice)
{
    double x[80], weight[48], bias[4];
    ck_assert(tg_read(drawn(TG_F64, TG_SHAPE(80)), TG_F64, x, 80) &&
              tg_read(drawn(TG_F64, TG_SHAPE(48)), TG_F64, weight, 48) &&
              tg_read(drawn(TG_F64, TG_SHAPE(4)), TG_F64, bias, 4));
    tg_window settings[] = {{.padding = {1, 1}, .groups = 1},
                            {.stride = {2, 2}, .dilation = {1, 2}, .padding = {0, 1}, .groups = 2}};
    for (int which = 0; which < 2; which++) {
        const int groups = settings[which].groups;
        const tg_gradcheck_input in[] = {{.name = "x", .shape = TG_SHAPE(2, 2, 4, 5), .data = x},
                                         {.name = "weight", .shape = TG_SHAPE(4, 2 / groups, 2, 3), .data = weight},
                                         {.name = "bias", .shape = TG_SHAPE(4), .data = bias}};
        tg_gradcheck_result result =
            tg_gradcheck(convolve, &settings[which], in, 3, &(tg_gradcheck_options){.order = 2});
        ck_assert_msg(result.passed, "%s", result.why);
    }
}
END_TEST

START_TEST(pools_are_their_definition)
{
    const tg_window s = {.stride = {2, 1}, .padding = {1, 0}};
    tg_tensor x = drawn(TG_F32, TG_SHAPE(2, 3, 5, 6)), most = tg_max_pool2d(x, 3, 2, s),
              mean = tg_average_pool2d(x, 3, 2, s);
    assert_shape(most, TG_SHAPE(2, 3, 3, 5));
    assert_shape(mean, TG_SHAPE(2, 3, 3, 5));
    for (int64_t i = 0; i < tg_size(most); i++) {
        const int64_t n = i / 45, c = i / 15 % 3, y = i / 5 % 3, column = i % 5;
        double high = -INFINITY, sum = 0;
        for (int64_t k = 0; k < 6; k++) {
            const int64_t line = 2 * y + k / 2 - 1;
            sum += pixel(x, n, c, line, column + k % 2);
            if (line >= 0 && line < 5)
                high = fmax(high, pixel(x, n, c, line, column + k % 2));
        }
        ck_assert_double_eq(tg_at(most, i), high);
        assert_close(tg_at(mean, i), sum / 6, TG_F32);
    }
    assert_shape(tg_max_pool2d(x, 2, 3, (tg_window){0}), TG_SHAPE(2, 3, 2, 2));
    assert_shape(tg_average_pool2d(x, 2, 3, (tg_window){0}), TG_SHAPE(2, 3, 2, 2));
}
END_TEST

START_TEST(the_gradient_of_a_maximum_goes_to_one_element_of_each_window)
{
    const double x[8] = {1, 5, 5, 2, 7, 0, 3, 3};
    tg_tensor v = tg_variable(tape, TG_F64, x, TG_SHAPE(1, 1, 8)), y = tg_max_pool1d(v, 3, (tg_window){.stride = {1}}),
              g;
    assert_shape(y, TG_SHAPE(1, 1, 6));
    ck_assert(tg_grad(&y, 1, &v, 1, NULL, false, &g));
    const double expected[8] = {0, 2, 0, 0, 3, 0, 1, 0};
    for (int i = 0; i < 8; i++)
        ck_assert_double_eq(tg_at(g, i), expected[i]);
    tg_tensor mean = tg_average_pool1d(v, 2, (tg_window){0});
    ck_assert_double_eq(tg_at(mean, 2), 3.5);
}
END_TEST

/* In all ways in which windows lie beside each other; the gradient goes to the NaN, and no other window sees it. */
START_TEST(a_window_with_a_nan_is_nan)
{
    static const tg_window ways[] = {{.stride = {2, 2}}, {.stride = {1, 1}}, {.stride = {3, 3}, .padding = {1, 1}}};
    static const double nan_at[] = {7, 40, 41, 140, 287};
    for (int way = 0; way < 6; way++) {
        const tg_dtype dtype = way % 2 ? TG_F64 : TG_F32;
        const int size = way / 2 == 2 ? 3 : 2;
        double numbers[288];
        for (int i = 0; i < 288; i++)
            numbers[i] = i % 5 ? -INFINITY : sin(i);
        for (int i = 0; i < 5; i++)
            numbers[(int)nan_at[i]] = NAN;
        float single[288];
        for (int i = 0; i < 288; i++)
            single[i] = (float)numbers[i];
        tg_tensor x = tg_variable(tape, dtype, dtype == TG_F32 ? (void *)single : numbers, TG_SHAPE(1, 2, 12, 12)), g,
                  y = tg_max_pool2d(x, size, size, ways[way / 2]),
                  index = tg_max_pool2d_index(x, size, size, ways[way / 2]);
        ck_assert(tg_grad(&y, 1, &x, 1, NULL, false, &g));
        double to[288] = {0};
        const int64_t across = tg_dim(y, 3), stride = ways[way / 2].stride[0], padding = ways[way / 2].padding[0];
        for (int64_t i = 0; i < tg_size(y); i++) {
            const int64_t image = i / (across * across), top = i / across % across * stride - padding,
                          left = i % across * stride - padding;
            int64_t best = -1;
            for (int64_t k = 0; k < size * size; k++) {
                const int64_t line = top + k / size, column = left + k % size, at = image * 144 + line * 12 + column;
                if (line < 0 || line >= 12 || column < 0 || column >= 12)
                    continue;
                if (best < 0 || (!isnan(numbers[best]) && !(tg_at(x, at) <= tg_at(x, best))))
                    best = at;
            }
            ck_assert(isnan(numbers[best]) ? isnan(tg_at(y, i)) : tg_at(y, i) == tg_at(x, best));
            ck_assert_double_eq(tg_at(index, i), (double)(best % 144));
            to[best]++;
        }
        for (int i = 0; i < 288; i++)
            ck_assert_double_eq(tg_at(g, i), to[i]);
    }
}
END_TEST

START_TEST(windows_that_do_not_fit_are_named)
{
    tg_tensor x = drawn(TG_F32, TG_SHAPE(1, 4, 5, 5)), weight = drawn(TG_F32, TG_SHAPE(8, 4, 3, 3));
    tg_conv2d(x, weight, TG_NONE, (tg_window){.dilation = {3, 1}});
    expect_error(
        "conv2d(f32[1, 4, 5, 5], f32[8, 4, 3, 3]): a kernel that reaches over 7 does not fit the height 5 with a "
        "padding of 0");
    tg_conv2d(x, weight, TG_NONE, (tg_window){.stride = {-1, 1}});
    expect_error("expected a kernel, stride and dilation of at least 1");
    tg_conv2d(x, weight, TG_NONE, (tg_window){.groups = 2});
    expect_error("conv2d(f32[1, 4, 5, 5], f32[8, 4, 3, 3]): expected a weight for 2 channels, not [8, 4, 3, 3]");
    tg_conv2d(x, weight, TG_NONE, (tg_window){.groups = 3});
    expect_error("4 input and 8 output channels do not divide into 3 equal groups");
    tg_conv2d(x, weight, drawn(TG_F32, TG_SHAPE(4)), (tg_window){0});
    expect_error("conv2d(f32[1, 4, 5, 5], f32[8, 4, 3, 3], f32[4]): expected a bias [8]");
    tg_conv2d(x, drawn(TG_F32, TG_SHAPE(8, 4)), TG_NONE, (tg_window){0});
    expect_error("expected [batch, channels, height, width] and a weight [outputs, channels / groups, height, width]");
    tg_conv1d(x, weight, TG_NONE, (tg_window){0});
    expect_error("conv1d(f32[1, 4, 5, 5]): expected [batch, channels, length]");
    tg_max_pool2d(x, 2, 2, (tg_window){.padding = {2, 0}});
    expect_error("max_pool2d(f32[1, 4, 5, 5]): expected a padding of at most half the kernel");
    /* Rows -1 and 2 of an image of two. */
    tg_max_pool2d(drawn(TG_F32, TG_SHAPE(1, 1, 2, 2)), 2, 1, (tg_window){.padding = {1, 0}, .dilation = {3, 1}});
    expect_error("max_pool2d(f32[1, 1, 2, 2]): window 0 along the height lies outside the image");
    tg_fold(tg_unfold(x, 2, 2, (tg_window){0}), 6, 5, (tg_window){0});
    expect_error("expected columns [4, 2, 2, 1, 5, 4] for images of 6 x 5");
    tg_fold(tg_full(tape, TG_F32, TG_SHAPE(4, 2, 2), 1), 5, 5, (tg_window){0});
    expect_error("expected [channels, kernel height, kernel width, batch, windows down, windows across]");
    ck_assert(!tg_ok(tg_conv2d(TG_NONE, TG_NONE, TG_NONE, (tg_window){0})));
    ck_assert(!tg_ok(tg_max_pool1d(TG_NONE, 2, (tg_window){0})));
}
END_TEST

START_TEST(empty_batches_and_no_channels_go_through)
{
    tg_tensor none = drawn(TG_F32, TG_SHAPE(0, 2, 4, 4)), weight = drawn(TG_F32, TG_SHAPE(3, 2, 3, 3));
    tg_tensor y = tg_conv2d(none, weight, TG_NONE, (tg_window){0});
    assert_shape(y, TG_SHAPE(0, 3, 2, 2));
    ck_assert(tg_backward(tg_sum(y)));
    ck_assert_double_eq(tg_at(tg_gradient(weight), 5), 0);
    tg_tensor blank = tg_conv2d(drawn(TG_F32, TG_SHAPE(1, 0, 4, 4)), drawn(TG_F32, TG_SHAPE(3, 0, 3, 3)),
                                drawn(TG_F32, TG_SHAPE(3)), (tg_window){0});
    assert_shape(blank, TG_SHAPE(1, 3, 2, 2));
    assert_shape(tg_max_pool2d(none, 2, 2, (tg_window){0}), TG_SHAPE(0, 2, 2, 2));
}
END_TEST

Suite *convolution_suite(void)
{
    Suite *suite = suite_create("convolution");
    TCase *tests = tcase_create("convolution");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_test(tests, conv2d_is_its_definition);
    tcase_add_loop_test(tests, convolutions_are_products_with_their_windows, 0,
                        2 * (int)(sizeof convolutions / sizeof *convolutions));
    const int shapes = 2 * (int)(sizeof tiled / sizeof *tiled);
    tcase_add_loop_test(tests, tiled_convolutions_are_their_definition, 0, shapes);
    tcase_add_loop_test(tests, tiled_convolutions_have_the_same_bits_everywhere, 0, shapes);
    tcase_add_loop_test(tests, tiled_windows_read_their_own_pixels_only, 0, 5);
    tcase_add_test(tests, conv1d_is_conv2d_of_height_one);
    tcase_add_test(tests, fold_is_the_adjoint_of_unfold);
    tcase_add_test(tests, convolutions_can_be_differentiated_twice);
    tcase_add_test(tests, pools_are_their_definition);
    tcase_add_test(tests, the_gradient_of_a_maximum_goes_to_one_element_of_each_window);
    tcase_add_test(tests, a_window_with_a_nan_is_nan);
    tcase_add_test(tests, windows_that_do_not_fit_are_named);
    tcase_add_test(tests, empty_batches_and_no_channels_go_through);
    suite_add_tcase(suite, tests);
    return suite;
}
