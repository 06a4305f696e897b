/* Files of weights that describe themselves: the activation by name, the configuration, the version, in the metadata of
 * a safetensors file.
 *
 *     if (!tg_weights_save(set, "net.safetensors", TG_GELU_EXACT, "{\"hidden\": [128]}", &error)) ...
 *     ...
 *     tg_activation activation = TG_GELU_TANH;                                  // what the model was made with
 *     tg_weights_load_options options = {.outputs = outputs_on_a_sample, .user = &sample};
 *     if (!tg_weights_load(set, "net.safetensors", activation, &options, &error))
 *         puts(error.text);
 *
 *     net.safetensors: it was trained with gelu_exact, and the model has gelu_tanh; on a sample outputs
 *     differ by up to 0.00021 (of up to 3.4)
 *
 * gelu_exact and gelu_tanh differ by at most 5e-4, gelu_exact and gelu_quick by 2e-2. So a file that is loaded with the
 * wrong one works a little worse, and the error goes unnoticed. Either make the model with the file's activation,
 * tg_weights_activation, or keep the model's activation with `migrate`, which also turns a ReLU net into a GELU net.
 */
#ifndef TG_WEIGHTS_H
#define TG_WEIGHTS_H

#include "nn/activation.h"
#include "nn/files/safetensors.h"

TG_API_BEGIN

enum { TG_WEIGHTS_METADATA = 3 };

/* Sets the lines "activation", "config" (unless it is NULL) and "tapegrad" (the version) that tg_weights_save writes,
 * and returns their number. For tg_training_state_save, whose files tg_weights_load reads too. The texts are not
 * copied.
 */
int tg_weights_metadata(tg_metadata lines[TG_WEIGHTS_METADATA], tg_activation activation, const char *config);

/* tg_parameters_save with these lines. `config` is your own text, with what is needed to make the model again. */
bool tg_weights_save(const tg_parameters *set, const char *path, tg_activation activation, const char *config,
                     tg_error *error);

/* The activation that a file names. False, with the error, if the file cannot be read or names no activation or an
 * unknown one.
 */
bool tg_weights_activation(const char *path, tg_activation *activation, tg_error *error);

/* Returns the outputs, of any shape, of the model with this activation and these weights on a sample of yours. Usually
 * it makes a second model and copies the weights into it with tg_parameters_copy. */
typedef tg_tensor (*tg_weights_outputs)(tg_tape *tape, tg_activation activation, const tg_parameters *weights,
                                        void *user);

typedef struct tg_weights_load_options {
    tg_load_options load;       /* parameter names that are missing, unknown or renamed */
    bool migrate;               /* load the weights whatever activation they were trained with, but for its numbers */
    tg_weights_outputs outputs; /* computes outputs, so that the message can give their difference; NULL: without it */
    void *user;
} tg_weights_load_options;

/* tg_parameters_load into a model with this activation; an error if the file names another one. A file that names none,
 * such as one from PyTorch, is accepted. `options` NULL: names must agree exactly. False, with the error and no
 * parameter changed, if anything is wrong. */
bool tg_weights_load(tg_parameters *set, const char *path, tg_activation activation,
                     const tg_weights_load_options *options, tg_error *error);

TG_API_END
#endif
