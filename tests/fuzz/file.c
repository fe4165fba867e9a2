/* file.c - see file.h. */
#include "file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_NAMES = 4 };

static char folder[] = "/tmp/tabi-fuzz-XXXXXX";
static const char *names[MAX_NAMES];
static char path[sizeof folder + 64];

static const char *path_of(const char *name) {
  (void)snprintf(path, sizeof path, "%s/%.60s", folder, name);
  return path;
}

static void clear(void) {
  for (int i = 0; i < MAX_NAMES && names[i]; ++i)
    (void)unlink(path_of(names[i]));
  (void)rmdir(folder);
}

static void begin(void) {
  if (names[0]) return;
  if (!mkdtemp(folder) || atexit(clear) != 0) abort();
}

static void remember(const char *name) {
  int i = 0;
  while (i < MAX_NAMES && names[i] && strcmp(names[i], name) != 0)
    ++i;
  if (i == MAX_NAMES) abort();
  names[i] = name;
}

const char *fuzz_file(const char *name, const void *data, size_t size) {
  begin();
  remember(name);
  FILE *file = fopen(path_of(name), "wb");
  if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
  return path;
}
