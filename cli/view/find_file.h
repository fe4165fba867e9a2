/* find_file.h - scenes and models by name: `tabi view humanoid`. */
#ifndef TBI_FIND_FILE_H
#define TBI_FIND_FILE_H

#include "common/cli.h"

enum { TBI_FIND_PATH = 4096 };

/* The file of that name, or else the best match among the scenes and models of the working folder,
 * beside the command and where it is installed.  Prints what was chosen, and the other matches.
 * false after an error was printed. */
bool tbi_find_file(const char *word, char path[TBI_FIND_PATH]);

#endif
