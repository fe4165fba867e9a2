/* find_file.c - finds a scene or model by a part of its name.
 *
 * Folders are looked through in order: scenes/ and models/ of the working folder, of the folders
 * around the command (a build inside the source tree), and of share/tabi beside it.  Names fit if
 * they are the word, begin with it, contain it, or are nearly it; the better kind wins, then the
 * shorter name, then the folder that came first. */
#include "view/find_file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FOUND = 256, MAX_NAME = 64, PARENTS = 3, MAX_LISTED = 6 };

typedef enum fit { FIT_EQUAL, FIT_BEGINS, FIT_CONTAINS, FIT_NEAR, FIT_NONE } fit;

typedef struct candidate {
  char path[TBI_FIND_PATH];
  char name[MAX_NAME]; /* of the file, without what follows the dot */
  fit fit;
} candidate;

typedef struct search {
  const char *word;
  candidate *found; /* [MAX_FOUND] */
  int32_t count;
} search;

static bool is_file(const char *path) {
  struct stat s;
  return stat(path, &s) == 0 && !S_ISDIR(s.st_mode);
}

static bool ends_with(const char *text, const char *end) {
  size_t n = strlen(text);
  size_t m = strlen(end);
  return n > m && strcmp(text + n - m, end) == 0;
}

static bool is_ours(const char *name) {
  if (ends_with(name, ".tabi.yaml")) return false;
  return ends_with(name, ".yaml") || ends_with(name, ".urdf") || ends_with(name, ".xml") ||
         ends_with(name, ".sdf") || ends_with(name, ".world");
}

static bool contains(const char *text, const char *part) {
  size_t n = strlen(part);
  for (; *text; ++text) {
    if (strncasecmp(text, part, n) == 0) return true;
  }
  return false;
}

static fit fit_of(const char *name, const char *word) {
  if (strcasecmp(name, word) == 0) return FIT_EQUAL;
  if (strncasecmp(name, word, strlen(word)) == 0) return FIT_BEGINS;
  if (contains(name, word)) return FIT_CONTAINS;
  return tabi_nearest_name(word, &name, 1) ? FIT_NEAR : FIT_NONE;
}

static bool has_file(const search *s, const char *path) {
  struct stat a;
  struct stat b;
  if (stat(path, &a) != 0) return true;
  for (int32_t i = 0; i < s->count; ++i) {
    if (stat(s->found[i].path, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
      return true;
  }
  return false;
}

static void add(search *s, const char *folder, const char *file) {
  candidate c = {.fit = FIT_NONE};
  size_t length = strcspn(file, ".");
  if (s->count == MAX_FOUND || !is_ours(file) || length >= sizeof c.name) return;
  memcpy(c.name, file, length);
  c.fit = fit_of(c.name, s->word);
  int n = snprintf(c.path, sizeof c.path, "%s/%s", folder, file);
  if (c.fit == FIT_NONE || n < 0 || (size_t)n >= sizeof c.path || has_file(s, c.path)) return;
  s->found[s->count++] = c;
}

/* Alphabetically, so that a choice does not depend on the disk. */
static void look_into(search *s, const char *parent, const char *name) {
  char folder[TBI_FIND_PATH];
  const char *slash = parent[0] ? "/" : "";
  int n = snprintf(folder, sizeof folder, "%s%s%s", parent, slash, name);
  struct dirent **entry = NULL;
  if (n < 0 || (size_t)n >= sizeof folder) return;
  int count = scandir(folder, &entry, NULL, alphasort);
  for (int i = 0; i < count; ++i) {
    add(s, folder, entry[i]->d_name);
    free(entry[i]);
  }
  if (count >= 0) free(entry);
}

static void look_at(search *s, const char *parent) {
  look_into(s, parent, "scenes");
  look_into(s, parent, "models");
}

static void look_around_command(search *s) {
  char folder[TBI_FIND_PATH];
  ssize_t n = readlink("/proc/self/exe", folder, sizeof folder - 32);
  if (n <= 0) return;
  folder[n] = '\0';
  for (int i = 0; i <= PARENTS; ++i) {
    char *slash = strrchr(folder, '/');
    if (!slash || slash == folder) return;
    *slash = '\0';
    look_at(s, folder);
    if (i != 1) continue;
    char share[TBI_FIND_PATH + 16];
    (void)snprintf(share, sizeof share, "%s/share/tabi", folder);
    look_at(s, share);
  }
}

static const candidate *best_of(const search *s) {
  const candidate *best = NULL;
  for (int32_t i = 0; i < s->count; ++i) {
    const candidate *c = &s->found[i];
    bool better = !best || c->fit < best->fit ||
                  (c->fit == best->fit && strlen(c->name) < strlen(best->name));
    if (better) best = c;
  }
  return best;
}

/* "'humanoid' is models/humanoid20.urdf; others: ..." */
static void print_choice(const search *s, const candidate *best) {
  (void)fprintf(stderr, "tabi: '%s' is %s", s->word, best->path);
  int listed = 0;
  for (int32_t i = 0; i < s->count && listed < MAX_LISTED; ++i) {
    const candidate *c = &s->found[i];
    if (c == best || c->fit != best->fit || best->fit == FIT_EQUAL) continue;
    (void)fprintf(stderr, "%s%s", listed++ == 0 ? "; there are also " : ", ", c->path);
  }
  (void)fputc('\n', stderr);
}

static bool fail(const char *word) {
  tabi_error err;
  struct stat there;
  tbi_fail(&err, TABI_ERR_FILE, (tabi_place){word, 1}, "%s",
           stat(word, &there) == 0
               ? "this is a folder; name a file in it"
               : "there is no such file, and no scene or model has a name like it; look into "
                 "scenes/ and models/");
  (void)tbi_print_error(&err);
  return false;
}

bool tbi_find_file(const char *word, char path[TBI_FIND_PATH]) {
  if (is_file(word)) {
    (void)snprintf(path, TBI_FIND_PATH, "%s", word);
    return true;
  }
  search s = {.word = word, .found = calloc(MAX_FOUND, sizeof(candidate))};
  if (!s.found) {
    (void)tbi_out_of_memory();
    return false;
  }
  // names have no folders in them
  if (word[0] && !strchr(word, '/')) {
    look_at(&s, "");
    look_around_command(&s);
  }
  const candidate *best = best_of(&s);
  if (best) {
    print_choice(&s, best);
    (void)snprintf(path, TBI_FIND_PATH, "%s", best->path);
  }
  bool found = best ? true : fail(word);
  free(s.found);
  return found;
}
