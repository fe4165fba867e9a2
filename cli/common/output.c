/* output.c - an unfinished file is called F.<process>.part beside F, so that a reader of F sees the
 * old file or the new one.  What is no regular file, as a device or a link, is written in place. */
#include "common/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

bool tbi_output_fail(const tbi_output *output, const char *why) {
  tabi_error err;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){output->path, 1}, "cannot write: %s",
           why ? why : strerror(output->error));
  tbi_print_diagnostic(&err, "error");
  return false;
}

static FILE *fail_open(const char *path, int code) {
  tabi_error err;
  const char *why = strerror(code);
  if (code == ENXIO) why = "nobody reads from this pipe; start its reader first";
  if (code == EWOULDBLOCK) why = "it is being written by another process";
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){path, 1}, "cannot open: %s", why);
  tbi_print_diagnostic(&err, "error");
  return NULL;
}

/* Makes a file that was opened ours alone, and empty; the number of an error, or 0.  File systems
 * without locks are trusted. */
static int take_over(int fd) {
  struct stat there;
  if (fstat(fd, &there) != 0) return errno;
  int flags = fcntl(fd, F_GETFL);
  if (flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0) return errno;
  if (!S_ISREG(there.st_mode)) return 0;
  if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return EWOULDBLOCK;
  return ftruncate(fd, 0) == 0 ? 0 : errno;
}

/* errno tells why it is NULL. */
static FILE *open_at(const char *path) {
  int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0666);
  if (fd < 0) return NULL;
  int code = take_over(fd);
  FILE *file = code == 0 ? fdopen(fd, "wb") : NULL;
  if (file) return file;
  if (code == 0) code = errno;
  (void)close(fd);
  errno = code;
  return NULL;
}

FILE *tbi_output_open(const char *path) {
  FILE *file = open_at(path);
  return file ? file : fail_open(path, errno);
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

  output->file = open_at(output->part);
  if (output->file) return true;
  output->error = errno;
  bool renames = strcmp(output->part, path) != 0;
  (void)(renames ? tbi_output_fail(output, NULL) : fail_open(path, output->error) != NULL);
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
