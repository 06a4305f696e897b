#include "nn/models/models.h"

static const tg_model_kind *const kinds[] = {
#define TG_MODEL(name) &tg_##name##_kind,
#include "nn/models/models.def"
};

const tg_model_kind *tg_model_kind_at(int index)
{
    return index >= 0 && index < (int)(sizeof kinds / sizeof kinds[0]) ? kinds[index] : NULL;
}

#define TG_MODEL(name)                                                                       \
    const char *tg_##name##_config_error(const tg_##name##_config *config)                   \
    {                                                                                        \
        return config ? tg_##name##_kind.config_error(config) : "there is no configuration"; \
    }                                                                                        \
    tg_##name *tg_##name##_new(const tg_rng *rng, const tg_##name##_config *config)          \
    {                                                                                        \
        return tg_model_new(&tg_##name##_kind, rng, config);                                 \
    }                                                                                        \
    void tg_##name##_free(tg_##name *model)                                                  \
    {                                                                                        \
        tg_model_free(model);                                                                \
    }                                                                                        \
    tg_parameters *tg_##name##_parameters(const tg_##name *model)                            \
    {                                                                                        \
        return tg_model_parameters(model);                                                   \
    }
#include "nn/models/models.def"
