/* Initial weights from another run: `train --start FILE`.
 *
 *     card theirs;
 *     if (!start_adopt(&settings, &theirs, &error)) ... // before source_open: takes the file's model, unless options
 *     set it
 *     ...
 *     if (!start_load(&settings, model, &from, &ours, &theirs, &error)) ...
 *     card_free(&theirs);                                      // at the end, as texts of the settings may belong to it
 */
#ifndef RUN_START_H
#define RUN_START_H

#include "examples/run/card.h"

/* Takes the model of settings->start, if `train` wrote that file, unless options of the command line set another; with
 * --activation-from file, also the activation of any file that names one. False and one line if the file cannot be
 * read. */
bool start_adopt(run_spec *settings, card *theirs, tg_error *error);

/* Reads the weights into the model. False and one line, with the model unchanged, if the file has other columns,
 * classes or characters, if a tensor is missing or has another shape under the names of --rename, or if it was trained
 * with another activation; then the line says how much outputs differ on rows of the source. --activation-from model
 * accepts another activation. Columns are standardised by the training rows of the source, not as for the file. */
bool start_load(const run_spec *settings, tg_model *model, const run_source *from, const card *ours, const card *theirs,
                tg_error *error);

/* The model of a card that was read, with the weights of its file, or of another one whose tensors are renamed; `other`
 * and `rename` may be NULL. To be freed by tg_model_free. NULL and one line on failure. */
tg_model *start_model(const card *c, const char *other, const char *rename, tg_error *error);

#endif
