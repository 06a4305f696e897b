/* Model files that describe themselves: the activation by name, the configuration, the version, in the metadata of a
 * safetensors file.
 *
 *     if (!tg_model_save(set, "net.safetensors", TG_GELU_EXACT, "{\"hidden\": [128]}", &error)) ...
 *     ...
 *     tg_activation activation = TG_GELU_TANH;                                  // what the model was made with
 *     tg_model_load_options options = {.outputs = outputs_on_a_sample, .user = &sample};
 *     if (!tg_model_load(set, "net.safetensors", activation, &options, &error))
 *         puts(error.text);
 *
 *     net.safetensors: it was trained with gelu_exact, and the model has gelu_tanh; on a sample outputs differ by up
 * to 2.1e-04 (of up to 3.4)
 *
 * gelu_exact and gelu_tanh differ by 5e-4 at most and gelu_quick by 2e-2, so a file that is read with the wrong one
 * works, a little worse: an error that goes unnoticed. Take the file's with tg_model_activation, before the model is
 * made, or the model's with `migrate`, which also makes a GELU net of a ReLU net.
 */
#ifndef TG_MODEL_FILE_H
#define TG_MODEL_FILE_H

#include "nn/activation.h"
#include "nn/files/safetensors.h"

TG_API_BEGIN

enum { TG_MODEL_METADATA = 3 };

/* The lines "activation", "config" (unless it is NULL) and "tapegrad" (the version), as tg_model_save writes them: for
 * tg_training_state_save, whose files tg_model_load reads too. The texts are not copied. How many lines these are. */
int tg_model_metadata(tg_metadata lines[TG_MODEL_METADATA], tg_activation activation, const char *config);

/* tg_parameters_save with these lines. `config` is yours: what is needed to make the model again. */
bool tg_model_save(const tg_parameters *set, const char *path, tg_activation activation, const char *config,
                   tg_error *error);

/* The activation that a file names. False, with the error, if it cannot be read, names none, or one that is unknown.
 */
bool tg_model_activation(const char *path, tg_activation *activation, tg_error *error);

/* The outputs, of any shape, of the model with this activation and these weights on some sample of yours: usually of a
 * second model, made for the purpose, into which the weights are copied with tg_parameters_copy. */
typedef tg_tensor (*tg_model_outputs)(tg_tape *tape, tg_activation activation, const tg_parameters *weights,
                                      void *user);

typedef struct tg_model_load_options {
    tg_load_options load;     /* parameter names that are missing, unknown or renamed */
    bool migrate;             /* load the weights whatever activation they were trained with */
    tg_model_outputs outputs; /* computes outputs, so that the error can give their difference; NULL: it does not */
    void *user;
} tg_model_load_options;

/* tg_parameters_load into a model with this activation; an error if the file names another. A file that names none, as
 * those of PyTorch, is read as it is. `options` NULL: names must agree exactly. False, with the error, and no
 * parameter changed, if anything is wrong. */
bool tg_model_load(tg_parameters *set, const char *path, tg_activation activation, const tg_model_load_options *options,
                   tg_error *error);

TG_API_END
#endif
