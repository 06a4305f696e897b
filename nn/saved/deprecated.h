/* Names of version 0.1 that the next version removes: a compiler warns and says the new one.
 *
 *     tg_model_save, tg_model_load, ...   ->   tg_weights_save, tg_weights_load, ...    (nn/files/weights.h)
 *     tg_model_write                      ->   tg_model_generate                        (nn/saved/saved.h)
 *
 * What they do is the same: weights are a set of parameters, and a tg_model the net that has them.
 */
#ifndef TG_DEPRECATED_H
#define TG_DEPRECATED_H

#include "nn/files/weights.h"
#include "nn/saved/saved.h"

#ifdef __GNUC__
#define TG_DEPRECATED(instead) __attribute__((deprecated("use " instead)))
#else
#define TG_DEPRECATED(instead)
#endif

TG_API_BEGIN

enum { TG_MODEL_METADATA TG_DEPRECATED("TG_WEIGHTS_METADATA") = TG_WEIGHTS_METADATA };
typedef tg_weights_load_options tg_model_load_options TG_DEPRECATED("tg_weights_load_options");
typedef tg_weights_outputs tg_model_outputs TG_DEPRECATED("tg_weights_outputs");
typedef tg_generate_options tg_write_options TG_DEPRECATED("tg_generate_options");

TG_DEPRECATED("tg_weights_metadata")
static inline int tg_model_metadata(tg_metadata lines[TG_WEIGHTS_METADATA], tg_activation activation,
                                    const char *config)
{
    return tg_weights_metadata(lines, activation, config);
}

TG_DEPRECATED("tg_weights_save")
static inline bool tg_model_save(const tg_parameters *set, const char *path, tg_activation activation,
                                 const char *config, tg_error *error)
{
    return tg_weights_save(set, path, activation, config, error);
}

TG_DEPRECATED("tg_weights_activation")
static inline bool tg_model_activation(const char *path, tg_activation *activation, tg_error *error)
{
    return tg_weights_activation(path, activation, error);
}

TG_DEPRECATED("tg_weights_load")
static inline bool tg_model_load(tg_parameters *set, const char *path, tg_activation activation,
                                 const tg_weights_load_options *options, tg_error *error)
{
    return tg_weights_load(set, path, activation, options, error);
}

TG_DEPRECATED("tg_model_generate")
static inline int64_t tg_model_write(const tg_model *model, const tg_generate_options *options, tg_rng *rng, char *text,
                                     tg_error *error)
{
    return tg_model_generate(model, options, rng, text, error);
}

TG_API_END
#endif
