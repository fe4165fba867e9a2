/* html.c - runs in one file with the page.
 *
 *   page up to </body> | description and replay of each run, in elements of their own | the rest
 *
 * It is written under another name and then renamed, so that there is never half a file.  Files
 * that are not regular, as /dev/stdout, are written directly. */
#include "html.h"

#include "base64.h"
#include "scene_description.h"
#include "viewer_error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_SIZE = 4096 };

static tabi_status fail(tabi_error *err, const char *path, const char *action, int code) {
  if (!err) return TABI_ERR_FILE;
  *err = (tabi_error){.status = TABI_ERR_FILE, .line = 1};
  (void)snprintf(err->file, sizeof err->file, "%s", path);
  const char *why = code == ENXIO ? "nobody reads from this pipe; start its reader first" : NULL;
  (void)snprintf(err->message, sizeof err->message, "cannot %s: %s", action,
                 why ? why : strerror(code));
  return TABI_ERR_FILE;
}

static void write_base64(const unsigned char *bytes, size_t size, FILE *file) {
  enum { PART = 3072 };
  char text[PART / 3 * 4];
  for (size_t at = 0; at < size; at += PART) {
    size_t part = size - at < PART ? size - at : PART;
    (void)fwrite(text, 1, tbi_base64_encode(bytes + at, part, text), file);
  }
}

static tabi_status write_run(const tbi_replay *replay, int32_t number, FILE *file,
                             tabi_error *err) {
  json_t *description = tbi_replay_description(replay, err);
  if (!description) return TABI_ERR_MEMORY;
  char *text = tbi_scene_description_text(description);
  json_decref(description);
  if (!text) return tbi_memory_error(err);
  size_t size = 0;
  const unsigned char *pictures = tbi_replay_pictures(replay, &size);
  (void)fprintf(file, "<script type=\"application/json\" id=\"tabi-scene-%d\">%s</script>\n",
                (int)number, text);
  (void)fprintf(file, "<script type=\"text/plain\" id=\"tabi-replay-%d\">", (int)number);
  write_base64(pictures, size, file);
  (void)fputs("</script>\n", file);
  free(text);
  return TABI_OK;
}

/* Where the body of the page ends, which is the last that is said of it. */
static size_t find_end(const char *page, size_t size) {
  static const char end[] = "</body>";
  for (size_t at = size; at >= sizeof end - 1; --at) {
    if (memcmp(page + at - (sizeof end - 1), end, sizeof end - 1) == 0)
      return at - (sizeof end - 1);
  }
  return size;
}

static tabi_status write_all(FILE *file, tbi_replay *const *replay, int32_t count,
                             tabi_error *err) {
  size_t size = 0;
  const char *page = tbi_page(&size);
  size_t end = find_end(page, size);
  tabi_status status = TABI_OK;
  (void)fwrite(page, 1, end, file);
  for (int32_t i = 0; i < count && status == TABI_OK; ++i)
    status = write_run(replay[i], i, file, err);
  (void)fwrite(page + end, 1, size - end, file);
  return status;
}

static tabi_status write_to(int fd, const char *path, tbi_replay *const *replay, int32_t count,
                            tabi_error *err) {
  FILE *file = fd < 0 ? NULL : fdopen(fd, "wb");
  if (!file) {
    tabi_status status = fail(err, path, "open", errno);
    if (fd >= 0) (void)close(fd);
    return status;
  }
  errno = 0;
  tabi_status status = write_all(file, replay, count, err);
  bool bad = ferror(file) != 0;
  int code = errno;
  if (fclose(file) != 0 && !bad) {
    bad = true;
    code = errno;
  }
  return status == TABI_OK && bad ? fail(err, path, "write", code ? code : EIO) : status;
}

static bool is_special(const char *path) {
  struct stat there;
  return stat(path, &there) == 0 && !S_ISREG(there.st_mode);
}

/* A pipe that nobody reads is refused instead of waited for. */
static int open_special(const char *path) {
  int fd = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fd;
  int flags = fcntl(fd, F_GETFL);
  if (flags >= 0) (void)fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  return fd;
}

/* Opens the file that becomes the one at path, and writes its name. */
static int open_part(const char *path, char part[PATH_SIZE]) {
  int length = snprintf(part, PATH_SIZE, "%s.%ld.part", path, (long)getpid());
  if (length < PATH_SIZE) return open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  errno = ENAMETOOLONG;
  return -1;
}

tabi_status tbi_html_check(const char *path, tabi_error *err) {
  char part[PATH_SIZE];
  bool special = is_special(path);
  int fd = special ? open_special(path) : open_part(path, part);
  if (fd < 0) return fail(err, path, "open", errno);
  (void)close(fd);
  if (!special) (void)unlink(part);
  return TABI_OK;
}

tabi_status tbi_html_write(const char *path, tbi_replay *const *replay, int32_t count,
                           tabi_error *err) {
  if (is_special(path)) return write_to(open_special(path), path, replay, count, err);
  char part[PATH_SIZE];
  int fd = open_part(path, part);
  if (fd < 0) return fail(err, path, "open", errno);
  tabi_status status = write_to(fd, path, replay, count, err);
  if (status == TABI_OK && rename(part, path) != 0) status = fail(err, path, "write", errno);
  if (status != TABI_OK) (void)unlink(part);
  return status;
}

tabi_status tbi_html_write_logs(const char *path, const char *const *log, int32_t count,
                                const tabi_scene_def *def, tabi_error *err) {
  tabi_error local = {0};
  tabi_error *e = err ? err : &local;
  tbi_replay **replay = calloc((size_t)count + 1, sizeof(tbi_replay *));
  if (!replay) return tbi_memory_error(err);
  tabi_status status = TABI_OK;
  for (int32_t i = 0; i < count && status == TABI_OK; ++i) {
    replay[i] = tbi_replay_load(log[i], def, e);
    if (!replay[i]) status = e->status;
  }
  if (status == TABI_OK) status = tbi_html_write(path, replay, count, e);
  for (int32_t i = 0; i < count; ++i)
    tbi_replay_destroy(replay[i]);
  free(replay);
  return status;
}
