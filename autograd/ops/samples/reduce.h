/* Sample inputs for reduce.c. */
static const tg_sample sum_over_samples[] = {
    {.attributes = &(sum_attributes){255, false}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(sum_attributes){1, false}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(sum_attributes){2, true}, .input = {{.shape = {2, {3, 4}}}}},
    {.attributes = &(sum_attributes){5, true}, .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = &(sum_attributes){2, false}, .input = {{.shape = {3, {2, 3, 4}}}}},
    {.attributes = &(sum_attributes){255, true}, .input = {{.shape = {0}}}},
    {.attributes = &(sum_attributes){1, false}, .input = {{.shape = {2, {0, 4}}}}},
    {.attributes = &(sum_attributes){2, false}, .input = {{.shape = {2, {3, 0}}}}},
    {.attributes = &(sum_attributes){6, true}, .input = {{.shape = {4, {2, 1, 3, 2}}}}},
    {.attributes = &(sum_attributes){2, false}, .input = {{.shape = {2, {9, 1}}, TG_EDGES}}},
};
