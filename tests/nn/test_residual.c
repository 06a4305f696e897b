/* Residual connections around the hidden layers of a multi-layer perceptron. */
#include "tests/support/tensors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

Suite *residual_suite(void);

/* A net without its residual connections, layer by layer, with the sums added here. The first hidden layer has none,
 * nor have two whose widths are less and more than their input's. */
START_TEST(a_residual_net_adds_what_goes_into_a_layer_to_what_comes_out)
{
    const tg_activation activation = (tg_activation)_i;
    tg_rng rng = tg_rng_seed(5);
    tg_mlp_config config = {.inputs = 6,
                            .hidden = {6, 6, 6, 4, 6},
                            .outputs = 2,
                            .activation = activation,
                            .dtype = TG_F64,
                            .equal_width = true,
                            .norm = TG_NORM_LAYER,
                            .residual = true};
    tg_mlp *net = tg_mlp_new(&rng, &config);
    const tg_parameters *set = tg_mlp_parameters(net);
    tg_tensor x = drawn(TG_F64, TG_SHAPE(5, 6)), y = tg_mlp_forward(net, x), h = x;
    tg_mlp *singles[5]; /* until the end, as the tape reads them */
    for (int layer = 0; layer < 5; layer++) {
        tg_rng own = tg_rng_seed(5);
        tg_mlp *single = singles[layer] = tg_mlp_new(&own, &(tg_mlp_config){.inputs = tg_dim(h, -1),
                                                                            .hidden = {config.hidden[layer]},
                                                                            .outputs = config.hidden[layer],
                                                                            .activation = activation,
                                                                            .dtype = TG_F64,
                                                                            .equal_width = true,
                                                                            .norm = TG_NORM_LAYER});
        tg_parameters *its = tg_mlp_parameters(single);
        for (int i = 0; i < tg_parameters_count(its); i++) {
            tg_parameter *to = tg_parameters_at(its, i);
            char name[64];
            snprintf(name, sizeof name, "layers.%d%s", layer, to->name + strlen("layers.0"));
            const bool last = strncmp(to->name, "layers.1", 8) == 0;
            const tg_parameter *from = last ? NULL : tg_parameters_find(set, name);
            for (int64_t k = 0; k < tg_shape_size(&to->shape); k++) /* the last layer is the identity */
                tg_parameter_put(
                    to, k, from ? tg_parameter_get(from, k) : to->shape.rank == 2 && k % (to->shape.dim[1] + 1) == 0);
        }
        tg_tensor out = tg_mlp_forward(single, h);
        h = layer == 1 || layer == 2 ? tg_add(h, out) : out;
    }
    h = tg_linear(h, tg_parameter_tensor(tape, tg_parameters_find(set, "layers.5.weight")),
                  TG_NONE); /* the bias is 0 */
    for (int i = 0; i < 10; i++)
        assert_close(tg_at(y, i), tg_at(h, i), TG_F64);
    for (int layer = 0; layer < 5; layer++)
        tg_mlp_free(singles[layer]);
    tg_mlp_free(net);
}
END_TEST

START_TEST(layers_that_a_sum_ties_together_keep_one_width)
{
    for (int64_t width = 8; width < 200; width++) {
        tg_mlp_config config = {
            .inputs = 13, .hidden = {width, width, width, width / 2, width / 2}, .outputs = 3, .residual = true};
        int64_t widths[TG_MLP_HIDDEN + 1], plain = tg_mlp_size(&config, NULL);
        config.activation = TG_SWIGLU;
        const int64_t gated = tg_mlp_size(&config, widths);
        ck_assert(widths[0] == widths[1] && widths[1] == widths[2] && widths[3] == widths[4]);
        const int64_t block =
            2 * 2 * (13 + 3 + 5 * (widths[0] + 1)); /* the largest cost of one more unit in each of the first three */
        ck_assert_int_le(llabs(gated - plain), block / 2 + 1);
        if (width % 50 == 0) {
            tg_rng rng = tg_rng_seed(1);
            tg_mlp *net = tg_mlp_new(&rng, &config);
            ck_assert_int_eq(tg_parameters_size(tg_mlp_parameters(net)), gated);
            ck_assert(tg_ok(tg_mlp_forward(net, drawn(TG_F32, TG_SHAPE(2, 13)))));
            tg_mlp_free(net);
        }
    }
}
END_TEST

/* Of four layers of 64 in a row, three have a residual connection. */
START_TEST(what_is_added_begins_small)
{
    static const struct {
        tg_activation activation;
        const char *scaled, *same;
    } cases[] = {{TG_RELU, "layers.2.weight", "layers.0.weight"},
                 {TG_SWIGLU, "layers.2.up_proj.weight", "layers.2.gate_proj.weight"}};
    for (int i = 0; i < 2; i++) {
        tg_rng rng = tg_rng_seed(1);
        tg_mlp_config config = {.inputs = 3,
                                .hidden = {64, 64, 64, 64},
                                .outputs = 2,
                                .equal_width = true,
                                .activation = cases[i].activation};
        tg_mlp *plain = tg_mlp_new(&rng, &config);
        config.residual = true;
        tg_mlp *net = tg_mlp_new(&rng, &config);
        for (int k = 0; k < 100; k++) {
            const double before = tg_parameter_get(tg_parameters_find(tg_mlp_parameters(plain), cases[i].scaled), k);
            const double now = tg_parameter_get(tg_parameters_find(tg_mlp_parameters(net), cases[i].scaled), k);
            ck_assert_double_eq_tol(now, before / sqrt(3), 1e-6 * fabs(before));
            ck_assert_double_eq(tg_parameter_get(tg_parameters_find(tg_mlp_parameters(plain), cases[i].same), k),
                                tg_parameter_get(tg_parameters_find(tg_mlp_parameters(net), cases[i].same), k));
        }
        tg_mlp_free(plain);
        tg_mlp_free(net);
    }
}
END_TEST

Suite *residual_suite(void)
{
    Suite *suite = suite_create("residual");
    TCase *tests = tcase_create("residual");
    tcase_add_checked_fixture(tests, start_tape, finish_tape);
    tcase_add_loop_test(tests, a_residual_net_adds_what_goes_into_a_layer_to_what_comes_out, 0, TG_SWIGLU + 1);
    tcase_add_test(tests, layers_that_a_sum_ties_together_keep_one_width);
    tcase_add_test(tests, what_is_added_begins_small);
    suite_add_tcase(suite, tests);
    return suite;
}
