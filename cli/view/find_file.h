/* find_file.h - scenes and models by name: `tabi view humanoid`. */
#ifndef TBI_FIND_FILE_H
#define TBI_FIND_FILE_H

#include "common/cli.h"

enum { TBI_FIND_PATH = 4096 };

/* The file that a word means: itself if there is one, or else what fits best of the scenes and
 * models here, beside the command and where it is installed.  Says what was chosen, and from what.
 * false after an error was printed. */
bool tbi_find_file(const char *word, char path[TBI_FIND_PATH]);

#endif
