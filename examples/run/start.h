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

/* The rules of --rename, "FROM=TO,...", as tg_load_options takes them. */
enum { START_RULES = 64 };
typedef struct start_rules {
    tg_rename rule[START_RULES];
    int count;
} start_rules;

/* Parses the rules; `text` NULL: no rule. False and one line if the text is invalid; the parts live as long as the
 * program. */
bool start_read_rules(const char *text, start_rules *out, tg_error *error);

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

#endif
