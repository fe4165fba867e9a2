/* output.c - an unfinished file is called F.<process>.part beside F, so that a reader of F sees the
 * old file or the new one.  What is no regular file, as a device or a link, is written in place. */
#include "common/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tbi_check_output(const char *command, const char *option, const char *output,
                      const char *input) {
  struct stat to;
  struct stat from;
  if (!output || stat(output, &to) != 0 || stat(input, &from) != 0) return true;
  if (!S_ISREG(to.st_mode) || to.st_dev != from.st_dev || to.st_ino != from.st_ino) return true;
  tbi_usage_error(command, "%s would overwrite %s, which is read; give another name", option,
                  input);
  return false;
}

bool tbi_output_fail(const tbi_output *output, const char *why) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){output->path, 1}, "cannot write: %s",
           why ? why : strerror(output->error));
  tbi_print_diagnostic(&err, "error");
  return false;
}

static bool in_place(const char *path) {
  struct stat there;
  return lstat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

bool tbi_output_begin(tbi_output *output, const char *path, bool stream) {
  *output = (tbi_output){.path = path};
  size_t size = strlen(path) + 32;
  output->part = malloc(size);
  if (!output->part) {
    (void)tbi_out_of_memory();
    return false;
  }
  (void)snprintf(output->part, size, "%s", path);
  if (!in_place(path)) (void)snprintf(output->part, size, "%s.%ld.part", path, (long)getpid());
  if (!stream) return true;

  output->file = fopen(output->part, "wb");
  if (output->file) return true;
  output->error = errno;
  (void)tbi_output_fail(output, NULL);
  free(output->part);
  return false;
}

void tbi_output_put(tbi_output *output, const void *bytes, size_t size) {
  if (output->error || size == 0) return;
  errno = 0;
  if (fwrite(bytes, 1, size, output->file) == size) {
    output->size += (int64_t)size;
    return;
  }
  output->error = errno ? errno : EIO;
}

bool tbi_output_end(tbi_output *output, bool good) {
  bool written = !output->error;
  if (output->file && fclose(output->file) != 0 && written) {
    output->error = errno;
    written = false;
  }
  bool renames = strcmp(output->part, output->path) != 0;
  if (good && written && renames && rename(output->part, output->path) != 0) {
    output->error = errno;
    written = false;
  }
  if (renames && !(good && written)) (void)unlink(output->part);
  if (good && !written) (void)tbi_output_fail(output, NULL);
  free(output->part);
  *output = (tbi_output){.path = output->path, .size = output->size};
  return good && written;
}
