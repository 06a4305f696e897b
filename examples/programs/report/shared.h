/* Files that come with the programs: scripts of plots/, studies. */
#pragma once

#include "examples/programs/system/standard.h"

/* Finds the folder of a kind ("plots"), which has a file of this name: beside the program's folder, or in the data
 * folders of the XDG Base Directory Specification. False if there is none. */
bool shared_find(const char *kind, const char *file, char folder[PATH_MAX]);

/* True if FOLDER/NAME is a regular file that is not empty. */
bool shared_is_file(const char *folder, const char *name);
