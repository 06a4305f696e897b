/* The options of a net: the description of a model (nn/saved/spec.h) as the command line gives it.
 *
 *     net_spec spec = {.model = "mlp", .inputs = 8, .outputs = 1};
 *     tg_model_spec_complete(&spec);
 *     tg_model *model = net_new(&spec, &rng, &error);
 *     tg_tensor y = tg_model_forward(model, x, NULL);
 *     tg_model_free(model);
 */
#pragma once

#include "examples/programs/run/options.h"

#include <jansson.h>

/* The description of a model in its file (nn/saved/spec.h). */
typedef tg_model_spec net_spec;

extern const char *const net_models[], *const net_activations[], *const net_norms[],
                                                                     *const net_inits[]; /* ended by NULL */

/* The options, ended by a line of zeros; the settings of a program that takes them begin with a net_spec. */
extern const program_option net_options[];

/* A copy of a text that lives as long as the program; equal texts share one. NULL when memory runs out. */
const char *net_keep_text(const char *text);

/* The next of a list of activations, for `while (net_next_activation(&list, word, sizeof word))`. A formula may have
 * commas within parentheses, and "NAME = VALUE" behind a comma is a trained number of the formula before it. */
bool net_next_activation(const char **list, char word[], size_t size);

/* The name of an activation in tables, files and folders: a formula's own, or its text without what is no letter or
 * number: "x_sigmoid_1.5_x". */
const char *net_activation_label(tg_activation activation);

/* The activation of a name, of a formula, or of the name of a formula that was read before; false and one line. */
bool net_find_activation(const char *word, tg_activation *activation, tg_error *error);

/* Sets the hidden widths of a gated net so that it has about as many parameters as the plain net; texts are shared with
 * the specification. False and one line if a net cannot be made. */
bool net_spec_equalize(net_spec *spec, tg_error *error);

/* As JSON, which tg_card_parse reads. */
json_t *net_spec_json(const net_spec *spec);

/* The first option of net_options, except dropout, in which two models differ; NULL: they are the same function of
 * their weights. */
const char *net_difference(const net_spec *a, const net_spec *b);

/* True if an option of net_options applies to this model. */
bool net_takes(const char *model, const char *option);

/* The minimum number of rows of a training pass: 2 for batch norm with one number per row and channel, else 1. */
int net_least_rows(const net_spec *spec);

/* The share of 160 inputs between -4 and 4, evenly spaced, at which an activation is infinite or not a number. Only
 * formulas have such inputs. */
double net_lost_inputs(tg_activation activation);

/* A warning before training, or NULL: if the activation is not finite everywhere; and if no initial weights of this net
 * keep the size of its signals or gradients: deep products and squares without a normalisation
 * (docs/initial-weights.md). */
const char *net_warning(const net_spec *spec);

/* True for the name of a gated activation, such as swiglu, or a gate as a formula. */
bool net_is_gated(const char *activation);

/* True if gated nets of this model can be as wide as plain ones, and have more parameters. */
bool net_gates_by_width(const char *model);

/* True if a residual connection would have no effect: no two successive hidden layers have the same width. */
bool net_residual_is_idle(const net_spec *spec);

/* tg_model_of_spec, with errors that name options. */
tg_model *net_new(const net_spec *spec, const tg_rng *rng, tg_error *error);

/* True if the mean of several such nets is one net: an mlp without normalisations, whose activation is not gated. */
bool net_joins(const net_spec *spec);

/* One mlp whose outputs are the mean of those of `count` such nets: their hidden layers side by side, in groups. `spec` becomes its specification. NULL and one line on failure. */
tg_model *net_join(net_spec *spec, tg_model *const nets[], int count, tg_error *error);

/* The model as an mlp; NULL if it is another kind. */
const tg_mlp *net_mlp(const tg_model *model);
