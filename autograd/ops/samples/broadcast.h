/* Sample inputs for broadcast.c. */
static const tg_sample full_samples[] = {
    {.attributes = &(full_attributes){.dtype = TG_F64, TG_OF(2, 3), .value = 0.1}},
    {.attributes = &(full_attributes){.dtype = TG_F64, .shape = {0}, .value = -2}},
    {.attributes = &(full_attributes){.dtype = TG_F64, TG_OF(0, 3), .value = 1}},
    {.attributes = &(full_attributes){.dtype = TG_F32, TG_OF(5), .value = 0.1}},
    {.attributes = &(full_attributes){.dtype = TG_I32, TG_OF(2, 2), .value = -7}},
    {.attributes = &(full_attributes){.dtype = TG_F64, TG_OF(3), .value = INFINITY}},
    {.attributes = &(full_attributes){.dtype = TG_F32, TG_OF(3), .value = NAN}},
    {.attributes = &(full_attributes){.dtype = TG_F64, TG_OF(1, 7, 1), .value = 1e-300}},
};

static const tg_sample expand_samples[] = {
    {.attributes = &(shape_attributes){{2, {3, 4}}}, .input = {{TG_OF(4)}}},
    {.attributes = &(shape_attributes){{2, {3, 4}}}, .input = {{TG_OF(3, 1)}}},
    {.attributes = &(shape_attributes){{3, {2, 3, 4}}}, .input = {{.shape = {0}}}},
    {.attributes = &(shape_attributes){{4, {2, 3, 2, 2}}}, .input = {{TG_OF(3, 1, 2)}}},
    {.attributes = &(shape_attributes){{2, {0, 4}}}, .input = {{TG_OF(1, 4)}}},
    {.attributes = &(shape_attributes){{1, {5}}}, .input = {{TG_OF(5)}}},
    {.attributes = &(shape_attributes){{3, {2, 1, 3}}}, .input = {{TG_OF(1, 1)}}},
    {.attributes = &(shape_attributes){{2, {2, 9}}}, .input = {{TG_OF(9), TG_EDGES}}},
};

static const tg_sample reshape_samples[] = {
    {.attributes = &(shape_attributes){{2, {4, 3}}}, .input = {{TG_OF(3, 4)}}},
    {.attributes = &(shape_attributes){{1, {12}}}, .input = {{TG_OF(2, 3, 2)}}},
    {.attributes = &(shape_attributes){{0}}, .input = {{TG_OF(1, 1)}}},
    {.attributes = &(shape_attributes){{3, {1, 1, 1}}}, .input = {{.shape = {0}}}},
    {.attributes = &(shape_attributes){{2, {5, 0}}}, .input = {{TG_OF(0, 2, 3)}}},
    {.attributes = &(shape_attributes){{2, {3, 3}}}, .input = {{TG_OF(9), TG_EDGES}}},
    {.attributes = &(shape_attributes){{3, {2, 2, 2}}}, .input = {{TG_OF(8)}}},
    {.attributes = &(shape_attributes){{1, {7}}}, .input = {{TG_OF(7, 1)}}},
};
