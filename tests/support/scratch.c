/* scratch.c - see scratch.h.  Failures end the program: no test can go on without its files. */
#include "scratch.h"

#include "near.h"

#include <ftw.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[512];

static void give_up(const char *what, const char *path) {
  (void)fprintf(stderr, "scratch: cannot %s %s\n", what, path);
  abort();
}

int scratch_begin(void **state) {
  (void)state;
  (void)snprintf(folder, sizeof folder, "%s/scratch-XXXXXX", TABI_SCRATCH_DIR);
  if (!mkdtemp(folder)) give_up("make", folder);
  return 0;
}

static int remove_item(const char *path, const struct stat *info, int type, struct FTW *where) {
  (void)info;
  (void)type;
  (void)where;
  return remove(path);
}

int scratch_end(void **state) {
  (void)state;
  if (nftw(folder, remove_item, 16, FTW_DEPTH | FTW_PHYS) != 0) give_up("remove", folder);
  return 0;
}

const char *scratch_path(const char *name) {
  static char paths[16][1024];
  static int next;
  char *path = paths[next];
  next = (next + 1) % 16;
  (void)snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

static void make_folders(const char *path) {
  char part[1024];
  (void)snprintf(part, sizeof part, "%s", path);
  for (char *slash = part + strlen(folder) + 1; (slash = strchr(slash, '/')); ++slash) {
    *slash = '\0';
    (void)mkdir(part, 0777);
    *slash = '/';
  }
}

const char *scratch_write(const char *name, const void *bytes, size_t size) {
  const char *path = scratch_path(name);
  make_folders(path);
  FILE *file = fopen(path, "wb");
  if (!file) give_up("write", path);
  if (size > 0 && fwrite(bytes, 1, size, file) != size) give_up("write", path);
  if (fclose(file) != 0) give_up("write", path);
  return path;
}

const char *scratch_text(const char *name, const char *text) {
  return scratch_write(name, text, strlen(text));
}

void scratch_append(char *text, size_t size, const char *format, ...) {
  size_t used = strlen(text);
  va_list args;
  va_start(args, format);
  // NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): clang 14 does not see va_start here
  int n = vsnprintf(text + used, size - used, format, args);
  va_end(args);
  if (n < 0 || (size_t)n >= size - used) give_up("append", format);
}

void scratch_need_german(void) {
  if (setlocale(LC_NUMERIC, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0) return;
  print_message("no German locale could be made\n");
  skip();
}
