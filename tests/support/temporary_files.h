/* Files that a test writes into a folder of its own, which is removed after the test. All these folders, and what
 * programs put into TMPDIR, lie in one root for each run of the tests; a run that is killed leaves its root, which is
 * locked no longer, and the next run removes it.
 *
 *     tcase_add_checked_fixture(tests, temporary_folder_make, temporary_folder_remove);
 *     ...
 *     temporary_write("x.csv", "a,b\n1,2\n", 8);
 *     load(temporary_path("x.csv"));
 */
#ifndef TEMPORARY_FILES_H
#define TEMPORARY_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* For main: sets TMPDIR. False, with errno, if there can be no folder. */
bool temporary_root_make(void);
void temporary_root_remove(void);

void temporary_folder_make(void);
void temporary_folder_remove(void);

/* The path of the folder, or of a file in it; valid for eight calls. */
const char *temporary_folder(void);
const char *temporary_path(const char *name);

void temporary_write(const char *name, const void *bytes, size_t size);
void temporary_write_gzip(const char *name, const void *bytes, size_t size);
void temporary_delete(const char *name);

bool temporary_exists(const char *name);

/* The content of a file of up to a mebibyte, valid until the next call. */
char *temporary_text(const char *name);

/* False if a limit on the address space is useless: sanitizers reserve terabytes, and their programs fail under one. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
enum { ADDRESS_SPACE_CAN_BE_LIMITED = 0 };
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
enum { ADDRESS_SPACE_CAN_BE_LIMITED = 0 };
#else
enum { ADDRESS_SPACE_CAN_BE_LIMITED = 1 };
#endif
#else
enum { ADDRESS_SPACE_CAN_BE_LIMITED = 1 };
#endif

#endif
