/* Sample inputs of elementwise operations. */
/* One operand: of any sign; positive; of any sign, not close to 0, where there is a kink. Two operands that broadcast.
 */
static const tg_sample any_sign_samples[] = {
    {.input = {{TG_OF(3, 4)}}},
    {.input = {{.shape = {0}}}},
    {.input = {{TG_OF(2, 0)}}},
    {.input = {{TG_OF(33)}}},
    {.input = {{TG_OF(1, 2, 1)}}},
    {.input = {{TG_OF(17), .low = -12, .high = 12}}},
    {.input = {{TG_OF(5), .low = -0.01, .high = 0.01}}},
    {.input = {{TG_OF(2, 7), .low = -8, .high = -4}}},
    {.input = {{TG_OF(9), TG_EDGES}}},
};

static const tg_sample positive_samples[] = {
    {.input = {{TG_OF(3, 4), .low = 0.1, .high = 3}}},      {.input = {{.shape = {0}, .low = 0.1, .high = 3}}},
    {.input = {{TG_OF(2, 0), .low = 0.1, .high = 3}}},      {.input = {{TG_OF(33), .low = 0.5, .high = 2}}},
    {.input = {{TG_OF(1, 2, 1), .low = 0.9, .high = 1.1}}}, {.input = {{TG_OF(17), .low = 1, .high = 1000}}},
    {.input = {{TG_OF(5), .low = 0.001, .high = 0.01}}},    {.input = {{TG_OF(9), TG_EDGES}}},
};

static const tg_sample kinked_samples[] = {
    {.input = {{TG_OF(3, 4)}}},
    {.input = {{.shape = {0}, .low = 0.5, .high = 2}}},
    {.input = {{TG_OF(2, 0)}}},
    {.input = {{TG_OF(33), .low = 0.1, .high = 2.5}}},
    {.input = {{TG_OF(1, 2, 1), .low = -2, .high = -0.5}}},
    {.input = {{TG_OF(17), .low = -12, .high = 12}}},
    {.input = {{TG_OF(2, 7), .low = -8, .high = -4}}},
    {.input = {{TG_OF(9), TG_EDGES}}},
};

static const tg_sample two_samples[] = {
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {.input = {{TG_OF(2, 1, 3)}, {TG_OF(4, 1)}}},
    {.input = {{TG_OF(5)}, {.shape = {0}}}},
    {.input = {{.shape = {0}}, {TG_OF(2, 3)}}},
    {.input = {{TG_OF(0, 3)}, {TG_OF(3)}}},
    {.input = {{TG_OF(9), TG_EDGES}, {TG_OF(9, 1), TG_EDGES}}},
    {.input = {{TG_OF(2, 1, 2, 1)}, {TG_OF(3, 1, 2)}}},
    {.input = {{TG_OF(1)}, {TG_OF(1, 1, 1)}}},
};

static const tg_sample div_samples[] = {
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4), .low = 0.5, .high = 3}}},
    {.input = {{TG_OF(2, 1, 3)}, {TG_OF(4, 1), .low = -3, .high = -0.5}}},
    {.input = {{TG_OF(5)}, {.shape = {0}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {0}}, {TG_OF(2, 3), .low = 0.5, .high = 3}}},
    {.input = {{TG_OF(0, 3)}, {TG_OF(3), .low = 0.5, .high = 3}}},
    {.input = {{TG_OF(9), TG_EDGES}, {TG_OF(9, 1), TG_EDGES}}},
    {.input = {{TG_OF(3), .low = 1e3, .high = 1e5}, {TG_OF(3), .low = 1e-3, .high = 1e-2}}},
    {.input = {{TG_OF(1)}, {TG_OF(1, 1, 1), .low = 1, .high = 2}}},
};

static const tg_sample number_samples[] = {
    {.attributes = TG_NUMBER(2.5), .input = {{TG_OF(3, 4)}}},
    {.attributes = TG_NUMBER(-1), .input = {{TG_OF(7)}}},
    {.attributes = TG_NUMBER(0), .input = {{TG_OF(7)}}},
    {.attributes = TG_NUMBER(1e-3), .input = {{.shape = {0}}}},
    {.attributes = TG_NUMBER(3), .input = {{TG_OF(2, 0)}}},
    {.attributes = TG_NUMBER(0.1), .input = {{TG_OF(9), TG_EDGES}}},
    {.attributes = TG_NUMBER(1. / 3), .input = {{TG_OF(1, 2, 1)}}},
    {.attributes = TG_NUMBER(7), .input = {{TG_OF(33)}}},
};

static const tg_sample copy_samples[] = {
    {.input = {{TG_OF(3, 4)}}},
    {.input = {{.shape = {0}}}},
    {.input = {{TG_OF(3, 0)}}},
    {.input = {{TG_OF(1)}}},
    {.input = {{TG_OF(33)}}},
    {.input = {{TG_OF(2, 1, 3)}}},
    {.input = {{TG_OF(1, 1, 2, 1, 1, 2, 1, 1)}}},
    {.input = {{TG_OF(9), TG_EDGES}}},
};

static const tg_sample mul_add_samples[] = {
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {.input = {{TG_OF(3, 4)}, {TG_OF(4)}, {TG_OF(4)}}},
    {.input = {{TG_OF(2, 3, 4)}, {TG_OF(3, 1)}, {TG_OF(3, 1)}}},
    {.input = {{.shape = {0}}, {TG_OF(2, 3)}, {TG_OF(3)}}},
    {.input = {{.shape = {0}}, {.shape = {0}}, {.shape = {0}}}},
    {.input = {{TG_OF(0, 3)}, {TG_OF(3)}, {.shape = {0}}}},
    {.input = {{TG_OF(33)}, {.shape = {0}}, {TG_OF(33)}}},
    {.input = {{TG_OF(9), TG_EDGES}, {TG_OF(9, 1), TG_EDGES}, {.shape = {0}}}},
};

static const tg_sample div_or_zero_samples[] = {
    {.input = {{TG_OF(3, 4)}, {TG_OF(3, 4), .low = 0.5, .high = 3}}},
    {.input = {{TG_OF(2, 1, 3)}, {TG_OF(4, 1), .low = -3, .high = -0.5}}},
    {.input = {{TG_OF(5)}, {.shape = {0}, .low = 0.5, .high = 3}}},
    {.input = {{.shape = {0}}, {TG_OF(2, 3), .low = 0.5, .high = 3}}},
    {.input = {{TG_OF(0, 3)}, {TG_OF(3), .low = 0.5, .high = 3}}},
    {.input = {{TG_OF(9), TG_EDGES}, {TG_OF(9, 1), TG_EDGES}}},
    {.input = {{TG_OF(5)}, {TG_OF(5), .fixed = true, .value_count = 2, .values = (double[]){0, 2}}}},
    {.input = {{TG_OF(1)}, {TG_OF(1, 1, 1), .low = 1, .high = 2}}},
};
static const tg_sample elu_samples[] = {
    {.attributes = TG_NUMBER(1), .input = {{TG_OF(3, 4)}}},
    {.attributes = TG_NUMBER(0.5), .input = {{.shape = {0}}}},
    {.attributes = TG_NUMBER(1), .input = {{TG_OF(2, 0)}}},
    {.attributes = TG_NUMBER(2), .input = {{TG_OF(33)}}},
    {.attributes = TG_NUMBER(1), .input = {{TG_OF(17), .low = -12, .high = 12}}},
    {.attributes = TG_NUMBER(-1), .input = {{TG_OF(1, 2, 1)}}},
    {.attributes = TG_NUMBER(1), .input = {{TG_OF(2, 7), .low = -8, .high = -4}}},
    {.attributes = TG_NUMBER(1.5), .input = {{TG_OF(9), TG_EDGES}}},
};
static const tg_sample power_samples[] = {
    {.attributes = TG_NUMBER(2), .input = {{TG_OF(3, 4)}}},
    {.attributes = TG_NUMBER(3), .input = {{TG_OF(33)}}},
    {.attributes = TG_NUMBER(0), .input = {{TG_OF(5)}}},
    {.attributes = TG_NUMBER(1), .input = {{.shape = {0}}}},
    {.attributes = TG_NUMBER(-1), .input = {{TG_OF(1, 2, 1), .low = -3, .high = -0.5}}},
    {.attributes = TG_NUMBER(0.3), .input = {{TG_OF(17), .low = 0.1, .high = 30}}},
    {.attributes = TG_NUMBER(-2.5), .input = {{TG_OF(2, 7), .low = 0.5, .high = 3}}},
    {.attributes = TG_NUMBER(7), .input = {{TG_OF(2, 0)}}},
    {.attributes = TG_NUMBER(0.5), .input = {{TG_OF(9), TG_EDGES}}},
    {.attributes = TG_NUMBER(-3), .input = {{TG_OF(9), TG_EDGES}}},
};

static const tg_sample pow_samples[] = {
    {.input = {{TG_OF(3, 4), .low = 0.2, .high = 3}, {TG_OF(3, 4)}}},
    {.input = {{TG_OF(2, 1, 3), .low = 0.2, .high = 3}, {TG_OF(4, 1)}}},
    {.input = {{TG_OF(5), .low = 0.2, .high = 3}, {.shape = {0}}}},
    {.input = {{.shape = {0}, .low = 0.2, .high = 3}, {TG_OF(2, 3)}}},
    {.input = {{TG_OF(0, 3), .low = 0.2, .high = 3}, {TG_OF(3)}}},
    {.input = {{TG_OF(9), TG_EDGES}, {TG_OF(9, 1), TG_EDGES}}},
    {.input = {{TG_OF(7), .low = -3, .high = -0.5},
               {TG_OF(7), .fixed = true, .value_count = 4, .values = (const double[]){2, 3, -1, 0}}}},
    {.input = {{TG_OF(5), .low = 10, .high = 100}, {TG_OF(5), .low = 2, .high = 4}}},
};

static const tg_sample clamp_samples[] = {
    {.attributes = &(clamp_attributes){-1, 1}, .input = {{TG_OF(3, 4)}}},
    {.attributes = &(clamp_attributes){0, 6}, .input = {{TG_OF(33), .low = -8, .high = 12}}},
    {.attributes = &(clamp_attributes){-0.5, 2}, .input = {{.shape = {0}}}},
    {.attributes = &(clamp_attributes){-100, 100}, .input = {{TG_OF(5)}}},
    {.attributes = &(clamp_attributes){5, 5}, .input = {{TG_OF(1, 2, 1)}}},
    {.attributes = &(clamp_attributes){-1, 1}, .input = {{TG_OF(2, 0)}}},
    {.attributes = &(clamp_attributes){-1, 1e9}, .input = {{TG_OF(9), TG_EDGES}}},
    {.attributes = &(clamp_attributes){-3, -1}, .input = {{TG_OF(2, 7)}}},
};
static const tg_sample leaky_relu_samples[] = {
    {.attributes = TG_NUMBER(0.01), .input = {{TG_OF(3, 4)}}},
    {.attributes = TG_NUMBER(0.2), .input = {{.shape = {0}, .low = -2, .high = -0.5}}},
    {.attributes = TG_NUMBER(0.01), .input = {{TG_OF(2, 0)}}},
    {.attributes = TG_NUMBER(-0.5), .input = {{TG_OF(33)}}},
    {.attributes = TG_NUMBER(0), .input = {{TG_OF(1, 2, 1)}}},
    {.attributes = TG_NUMBER(1), .input = {{TG_OF(17), .low = -12, .high = 12}}},
    {.attributes = TG_NUMBER(2), .input = {{TG_OF(2, 7), .low = -8, .high = -4}}},
    {.attributes = TG_NUMBER(0.1), .input = {{TG_OF(9), TG_EDGES}}},
};

static const tg_sample leaky_relu_grad_samples[] = {
    {.attributes = TG_NUMBER(0.01), .input = {{TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {.attributes = TG_NUMBER(0.2), .input = {{TG_OF(2, 1, 3)}, {TG_OF(4, 1)}}},
    {.attributes = TG_NUMBER(-0.5), .input = {{TG_OF(5)}, {.shape = {0}}}},
    {.attributes = TG_NUMBER(2), .input = {{.shape = {0}}, {TG_OF(2, 3)}}},
    {.attributes = TG_NUMBER(0), .input = {{TG_OF(0, 3)}, {TG_OF(3)}}},
    {.attributes = TG_NUMBER(0.1), .input = {{TG_OF(9), TG_EDGES}, {TG_OF(9, 1), TG_EDGES}}},
    {.attributes = TG_NUMBER(1), .input = {{TG_OF(2, 1, 2, 1)}, {TG_OF(3, 1, 2), .low = -8, .high = -4}}},
    {.attributes = TG_NUMBER(0.3), .input = {{TG_OF(1)}, {TG_OF(1, 1, 1)}}},
};
static const double truths[] = {1, 0, 0, 1, -2, 0, 1};

#define CONDITION .fixed = true, .value_count = 7, .values = truths
static const tg_sample where_samples[] = {
    {.input = {{TG_OF(3, 4), CONDITION}, {TG_OF(3, 4)}, {TG_OF(3, 4)}}},
    {.input = {{TG_OF(4, 1), CONDITION}, {TG_OF(2, 1, 3)}, {TG_OF(3)}}},
    {.input = {{TG_OF(33), CONDITION}, {.shape = {0}}, {TG_OF(33)}}},
    {.input = {{TG_OF(33), CONDITION}, {TG_OF(33)}, {.shape = {0}}}},
    {.input = {{.shape = {0}, CONDITION}, {TG_OF(5)}, {TG_OF(2, 5)}}},
    {.input = {{.shape = {0}, CONDITION}, {.shape = {0}}, {.shape = {0}}}},
    {.input = {{TG_OF(0, 3), CONDITION}, {TG_OF(3)}, {.shape = {0}}}},
    {.input = {{TG_OF(9), CONDITION}, {TG_OF(9), TG_EDGES}, {TG_OF(9), TG_EDGES}}},
    {.input = {{TG_OF(9), TG_EDGES}, {TG_OF(9)}, {.shape = {0}}}},
};
