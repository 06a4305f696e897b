/* Whether the run whose weights another one begins with was trained on rows that are now for validation or testing.
 *
 *     if (seen_by("m/best.safetensors", config)) ...      // config: of the run that begins, as in its config.json
 */
#ifndef TRAIN_SEEN_H
#define TRAIN_SEEN_H

#include <jansson.h>
#include <stdbool.h>

/* True if the folder of this model file is that of a run on the same data with other splits. */
bool seen_by(const char *model, const json_t *config);

#endif
