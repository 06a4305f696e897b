/* Initial weights from another run: `train --start FILE`.
 *
 *     card theirs;
 *     if (!start_adopt(&settings, &theirs, &error)) ...       // before source_open: the file's model, unless given
 *     ...
 *     if (!start_load(&settings, model, &from, &ours, &theirs, &error)) ...
 *     card_free(&theirs);                                      // at the end: the settings' texts may be its own
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

/* `text` NULL: no rule. False and one line if the text is none; its parts live as long as the program. */
bool start_read_rules(const char *text, start_rules *out, tg_error *error);

/* Takes the model of settings->start, where `train` has written that file and no option of the command line says
 * otherwise; of
 * --activation-from file the activation of any file that names one. False and one line if it cannot be read. */
bool start_adopt(run_spec *settings, card *theirs, tg_error *error);

/* Reads the weights into the model. False and one line, and the model as it was, if the file is of other columns,
 * classes or characters, if a tensor is missing or of another shape under the names of --rename, or if it was trained
 * with another activation; the line then says how far outputs differ on rows of the source. --activation-from model
 * takes it as it is. Columns are standardised by the training rows of the source, not as they were for the file. */
bool start_load(const run_spec *settings, tg_model *model, const run_source *from, const card *ours, const card *theirs,
                tg_error *error);

#endif
