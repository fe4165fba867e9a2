/* output.h - a file that appears when it is complete: written under another name, then renamed. */
#ifndef TBI_OUTPUT_H
#define TBI_OUTPUT_H

#include "common/cli.h"

typedef struct tbi_output {
  const char *path;
  char *part; /* where it is written; equal to path for devices, pipes and links */
  FILE *file; /* NULL if someone else writes to `part` */
  int64_t size;
  int error; /* errno of the first failure, or 0 */
} tbi_output;

/* Whether an output (NULL: none) is another file than the input; false after a usage error. */
bool tbi_check_output(const char *command, const char *option, const char *output,
                      const char *input);
/* False after an error was printed.  Only a stream is opened here. */
bool tbi_output_begin(tbi_output *output, const char *path, bool stream);
void tbi_output_put(tbi_output *output, const void *bytes, size_t size);
/* Says that it cannot be written, and why: `why` or output->error.  Returns false. */
bool tbi_output_fail(const tbi_output *output, const char *why);
/* Renames the file to its path; removes it if it is not good or could not be written, and then
 * returns false after an error was printed. */
bool tbi_output_end(tbi_output *output, bool good);

#endif
