/* The card of a model file (nn/saved/card.h) as the programs write and use it.
 *
 *     tg_card *card = card_of_source(&spec, &from, &error);
 *     tg_metadata lines[TG_CARD_LINES];
 *     tg_card_metadata(card, lines);                  // for tg_fit_config.metadata; live as long as the card
 *     ...
 *     tg_card_free(card);
 */
#pragma once

#include "examples/programs/run/source.h"

/* The card of a model that is trained on this data; NULL and one line on failure. */
tg_card *card_of_source(const run_spec *s, const run_source *from, tg_error *error);

/* The card of a model that is saved in a file or folder, which may be that of a run, but of no comparison: it has no net
 * of its own. NULL and one line on failure. */
tg_card *card_read(const char *model, tg_error *error);

/* The model of a card that was read, with the weights of its file, or of another one whose tensors are renamed; `other`
 * and `rename` may be NULL. To be freed by tg_model_free. NULL and one line on failure. */
tg_model *card_model(const tg_card *c, const char *other, const char *rename, tg_error *error);

/* For `train --start FILE`, before source_open: takes the model of settings->start, if `train` wrote that file, unless
 * options of the command line set another, or a record names the file; with --activation-from file, also the activation
 * of any file that names one. A run's folder means its best.safetensors.
 * False and one line if the file cannot be read. `theirs` gets the card of the file, to be freed; NULL: it has none.
 * Texts of the settings may then belong to it. */
bool card_adopt(run_spec *settings, tg_card **theirs, tg_error *error);

/* Reads the weights of that file into the model. False and one line, with the model unchanged, if the file has other
 * columns, classes or characters, if a tensor is missing or has another shape under the names of --rename, or if it was
 * trained with another activation; then the line says how much outputs differ on rows of the source. --activation-from
 * model accepts another activation. */
bool card_start(const run_spec *settings, tg_model *model, const run_source *from, const tg_card *ours,
                const tg_card *theirs, tg_error *error);
