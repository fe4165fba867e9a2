/* file.c - reads a whole file.  Opening does not wait, so that a pipe whose other end nobody holds
 * is found out and refused like a device. */
#include "io/file.h"

#include "base/assertion.h"
#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_BYTES ((size_t)64 * 1024)

typedef struct reading {
  const char *path;
  tabi_place place;
  size_t limit;
  tabi_error *err;
} reading;

tabi_status tbi_file_fail(tabi_error *err, tabi_place place, const char *action, int code) {
  if (code == ENOMEM) return tbi_error_memory(err);
  char reason[128] = "unknown reason";
  locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (c) {
    (void)strncpy(reason, strerror_l(code, c), sizeof reason - 1);
    freelocale(c);
  }
  return tbi_error_set(err, TABI_ERR_FILE, place, "cannot %s: %s", action, reason);
}

static tabi_status fail_system(const reading *r, const char *action, int code) {
  return tbi_file_fail(r->err, r->place, action, code);
}

size_t tbi_file_megabytes(size_t bytes) {
  const size_t megabyte = (size_t)1024 * 1024;
  return (bytes + megabyte - 1) / megabyte;
}

static tabi_status fail_size(const reading *r, size_t size) {
  return tbi_error_set(r->err, TABI_ERR_FILE, r->place, "file is %zu MB, limit %zu MB",
                       tbi_file_megabytes(size), tbi_file_megabytes(r->limit));
}

/* A place that does not name the file itself is a line that names it. */
static tabi_status fail_special(const reading *r, const char *path) {
  bool itself = r->place.file == path;
  return tbi_error_set(r->err, TABI_ERR_FILE, r->place,
                       "%s%.200s%snot a regular file; copy what it holds into one",
                       itself ? "" : "'", itself ? "" : path, itself ? "" : "' is ");
}

/* Reads until the end or one byte more than the limit. */
static tabi_status read_all(const reading *r, int fd, size_t expected, char **bytes, size_t *size) {
  size_t room = expected > 0 ? expected + 1 : FIRST_BYTES;
  size_t used = 0;
  char *data = malloc(room + 1);
  if (!data) return tbi_error_memory(r->err);
  for (;;) {
    if (used == room) {
      size_t wanted = 2 * room <= r->limit ? 2 * room : r->limit + 1;
      char *more = realloc(data, wanted + 1);
      if (!more) {
        free(data);
        return tbi_error_memory(r->err);
      }
      data = more;
      room = wanted;
    }
    ssize_t n = read(fd, data + used, room - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      int code = errno;
      free(data);
      return fail_system(r, "read", code);
    }
    if (n == 0) break;
    used += (size_t)n;
    if (used > r->limit) {
      free(data);
      return fail_size(r, used);
    }
  }
  data[used] = '\0';
  *bytes = data;
  *size = used;
  return TABI_OK;
}

tabi_status tbi_file_read(const char *path, size_t limit, tabi_place blame, char **bytes,
                          size_t *size, tabi_error *err) {
  TBI_ASSERT(path && bytes && size && limit < SIZE_MAX / 4);
  reading r = {
      path, blame.file ? blame : (tabi_place){path, 1},
           limit, err
  };
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fail_system(&r, "open", errno);
  struct stat info;
  tabi_status status = TABI_OK;
  if (fstat(fd, &info) != 0) {
    status = fail_system(&r, "read", errno);
  } else if (S_ISDIR(info.st_mode)) {
    status = fail_system(&r, "read", EISDIR);
  } else if (!S_ISREG(info.st_mode)) {
    status = fail_special(&r, path);
  } else if ((uint64_t)info.st_size > limit) {
    status = fail_size(&r, (size_t)info.st_size);
  } else {
    status = read_all(&r, fd, (size_t)info.st_size, bytes, size);
  }
  (void)close(fd);
  return status;
}
