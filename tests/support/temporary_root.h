/* One folder, as TMPDIR, for all temporary files of a run of the tests.
 *
 *     if (!temporary_root_make())
 *         return perror("tests: no folder for temporary files"), 2;
 *     ...                                    // tests, which make folders of their own in it
 *     temporary_root_remove();
 *
 * A run that is killed leaves its folder, which is locked no longer; the next run removes it. */
#ifndef TEMPORARY_ROOT_H
#define TEMPORARY_ROOT_H

#include <stdbool.h>

/* False, with errno, if there can be none. */
bool temporary_root_make(void);
void temporary_root_remove(void);

#endif
