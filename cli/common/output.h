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

/* A file that a command reads or writes. */
typedef struct tbi_file_use {
  const char *option; /* "--log", or NULL: an argument */
  const char *path;   /* NULL: not given */
  bool written;
} tbi_file_use;

/* Whether no file that is written is another one of the list, whatever names and links lead to it;
 * false after a usage error.  Nor is a robot, mesh or scene written.  Devices and pipes may be
 * given several times. */
bool tbi_check_files(const char *command, const tbi_file_use *use, int count);
/* Opens a file for writing in place, from its start; NULL after an error was printed.  Never waits:
 * a file that another process writes, and a pipe that nobody reads, are refused. */
FILE *tbi_output_open(const char *path);
/* False after an error was printed.  Only a stream is opened here. */
bool tbi_output_begin(tbi_output *output, const char *path, bool stream);
void tbi_output_put(tbi_output *output, const void *bytes, size_t size);
/* Says that it cannot be written, and why: `why` or output->error.  Returns false. */
bool tbi_output_fail(const tbi_output *output, const char *why);
/* Renames the file to its path; removes it if it is not good or could not be written, and then
 * returns false after an error was printed. */
bool tbi_output_end(tbi_output *output, bool good);

#endif
