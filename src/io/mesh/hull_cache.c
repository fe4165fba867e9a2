/* hull_cache.c - see hull_cache.h.
 *
 * The folder is that of TABI_CACHE, or tabi below XDG_CACHE_HOME, or ~/.cache/tabi; TABI_CACHE=off
 * means none.  An entry is written under another name and then renamed, so that no reader ever sees
 * half of one.  When the entries together exceed MAX_BYTES, all go. */
#include "io/mesh/hull_cache.h"

#include "io/file.h"
#include "io/path.h"

#include <dirent.h>
#include <errno.h>
#include <libqhull_r/libqhull_r.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* below that a hull is computed as fast as a file is opened */
#define MIN_POINTS 200
#define MAX_BYTES  ((off_t)256 * 1024 * 1024)
#define ENDING     ".hull"

/* what else the result depends on */
#ifdef __FMA__
#define MAKER "tabi hull 1 fma"
#else
#define MAKER "tabi hull 1"
#endif

typedef struct key {
  uint64_t half[2];
} key;

/* An entry: this, then corners and faces as int32_t. */
typedef struct head {
  char maker[16];
  key points, content; /* of the points, and of what follows */
  int32_t npoint, nvertex, nface, unused;
} head;

_Static_assert(sizeof MAKER <= 16, "fits its field");

static uint64_t mix(uint64_t h, uint64_t word, uint64_t factor) {
  h = (h ^ word) * factor;
  return h ^ h >> 29;
}

/* Two sums of whole words; bytes beyond the last word are left out. */
static key key_of(const void *data, size_t bytes) {
  const unsigned char *at = data;
  key k = {
      {0x9e3779b97f4a7c15u ^ bytes, 0xc2b2ae3d27d4eb4fu + bytes}
  };
  for (size_t i = 0; i + 4 <= bytes; i += 4) {
    uint32_t word;
    memcpy(&word, at + i, sizeof word);
    k.half[0] = mix(k.half[0], word, 0xff51afd7ed558ccdu);
    k.half[1] = mix(k.half[1], word, 0x94d049bb133111ebu);
  }
  return k;
}

/* Another version of qhull may give another hull. */
static key key_of_points(const double *points, int32_t npoint) {
  key k = {
      {0x9e3779b97f4a7c15u ^ (uint64_t)npoint, 0xc2b2ae3d27d4eb4fu}
  };
  for (const char *c = qh_version2; *c != '\0'; ++c)
    k.half[1] = mix(k.half[1], (unsigned char)*c, 0x94d049bb133111ebu);
  for (size_t i = 0; i < 3 * (size_t)npoint; ++i) {
    uint64_t word;
    memcpy(&word, points + i, sizeof word);
    k.half[0] = mix(k.half[0], word, 0xff51afd7ed558ccdu);
    k.half[1] = mix(k.half[1], word, 0x94d049bb133111ebu);
  }
  return k;
}

static bool same(key a, key b) { return a.half[0] == b.half[0] && a.half[1] == b.half[1]; }

/* false: there is to be no cache */
static bool find_folder(char folder[TBI_PATH_SIZE]) {
  const char *own = getenv("TABI_CACHE");
  const char *xdg = getenv("XDG_CACHE_HOME");
  const char *home = getenv("HOME");
  int n = -1;
  if (own && own[0] != '\0') {
    if (strcmp(own, "off") != 0) n = snprintf(folder, TBI_PATH_SIZE, "%s", own);
  } else if (xdg && xdg[0] == '/') {
    n = snprintf(folder, TBI_PATH_SIZE, "%s/tabi", xdg);
  } else if (home && home[0] == '/') {
    n = snprintf(folder, TBI_PATH_SIZE, "%s/.cache/tabi", home);
  }
  return n > 0 && n < TBI_PATH_SIZE - 64;
}

static bool write_path(key k, char path[TBI_PATH_SIZE]) {
  if (!find_folder(path)) return false;
  size_t used = strlen(path);
  (void)snprintf(path + used, TBI_PATH_SIZE - used, "/%016llx%016llx" ENDING,
                 (unsigned long long)k.half[0], (unsigned long long)k.half[1]);
  return true;
}

/* ---------------------------------------------------------------------- reading */

static bool are_below(const int32_t *index, size_t count, int32_t limit) {
  for (size_t i = 0; i < count; ++i) {
    if (index[i] < 0 || index[i] >= limit) return false;
  }
  return true;
}

/* The head of an entry whose every number is what it must be. */
static bool check_entry(const char *bytes, size_t size, key k, int32_t npoint, head *h) {
  if (size < sizeof *h) return false;
  memcpy(h, bytes, sizeof *h);
  char maker[16] = MAKER;
  bool ours = memcmp(h->maker, maker, sizeof maker) == 0 && same(h->points, k);
  if (!ours || h->npoint != npoint || h->nvertex < 4 || h->nface < 4) return false;
  size_t nindex = (size_t)h->nvertex + 3 * (size_t)h->nface;
  if (size != sizeof *h + nindex * sizeof(int32_t)) return false;
  return same(h->content, key_of(bytes + sizeof *h, size - sizeof *h));
}

static bool copy_entry(const char *bytes, const head *h, const double *points, tbi_mesh *hull) {
  const size_t nvertex = (size_t)h->nvertex;
  const size_t nindex = nvertex + 3 * (size_t)h->nface;
  int32_t *index = malloc(nindex * sizeof *index);
  hull->vertices = malloc(3 * nvertex * sizeof *hull->vertices);
  hull->faces = malloc((nindex - nvertex) * sizeof *hull->faces);
  bool good = index && hull->vertices && hull->faces;
  if (good) memcpy(index, bytes + sizeof *h, nindex * sizeof *index);
  good = good && are_below(index, nvertex, h->npoint) &&
         are_below(index + nvertex, nindex - nvertex, h->nvertex);
  for (size_t i = 0; good && i < nvertex; ++i)
    memcpy(hull->vertices + 3 * i, points + 3 * (size_t)index[i], 3 * sizeof *points);
  if (good) {
    memcpy(hull->faces, index + nvertex, (nindex - nvertex) * sizeof *index);
    hull->nvertex = h->nvertex;
    hull->nface = h->nface;
  } else {
    tbi_mesh_free(hull);
  }
  free(index);
  return good;
}

bool tbi_hull_cache_get(const double *points, int32_t npoint, tbi_mesh *hull) {
  char path[TBI_PATH_SIZE];
  *hull = (tbi_mesh){0};
  if (npoint < MIN_POINTS) return false;
  key k = key_of_points(points, npoint);
  char *bytes = NULL;
  size_t size = 0;
  head h;
  const tabi_place itself = {NULL, 0};
  if (!write_path(k, path)) return false;
  if (tbi_file_read(path, (size_t)MAX_BYTES, itself, &bytes, &size, NULL) != TABI_OK) return false;
  bool found = check_entry(bytes, size, k, npoint, &h) && copy_entry(bytes, &h, points, hull);
  free(bytes);
  return found;
}

/* ---------------------------------------------------------------------- writing */

/* Makes the folder and those above it. */
static bool make_folder(char folder[TBI_PATH_SIZE]) {
  for (char *slash = strchr(folder + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    (void)mkdir(folder, 0700);
    *slash = '/';
  }
  return mkdir(folder, 0700) == 0 || errno == EEXIST;
}

static bool is_entry(const char *name) { return strstr(name, ENDING) != NULL; }

/* All entries, and what writers that were killed left: their bytes, or none of them any more. */
static off_t visit_entries(const char *folder, bool remove_them) {
  char path[TBI_PATH_SIZE];
  struct stat info;
  off_t bytes = 0;
  DIR *dir = opendir(folder);
  const struct dirent *entry;
  while (dir && (entry = readdir(dir))) {
    int n = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (!is_entry(entry->d_name) || n < 0 || n >= (int)sizeof path) continue;
    if (lstat(path, &info) != 0 || !S_ISREG(info.st_mode)) continue;
    bytes += info.st_size;
    if (remove_them) (void)unlink(path);
  }
  if (dir) (void)closedir(dir);
  return bytes;
}

static bool write_all(int fd, const void *bytes, size_t size) {
  const char *at = bytes;
  while (size > 0) {
    ssize_t n = write(fd, at, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    at += n;
    size -= (size_t)n;
  }
  return true;
}

/* Under another name, then under its own. */
static void write_entry(const char *path, const void *bytes, size_t size) {
  char part[TBI_PATH_SIZE];
  int n = snprintf(part, sizeof part, "%s.XXXXXX", path);
  int fd = n > 0 && n < (int)sizeof part ? mkstemp(part) : -1;
  if (fd < 0) return;
  bool written = write_all(fd, bytes, size);
  written = close(fd) == 0 && written;
  if (!written || rename(part, path) != 0) (void)unlink(part);
}

void tbi_hull_cache_put(const double *points, int32_t npoint, const tbi_mesh *hull,
                        const int32_t *corner) {
  char folder[TBI_PATH_SIZE];
  char path[TBI_PATH_SIZE];
  if (npoint < MIN_POINTS || !find_folder(folder) || !make_folder(folder)) return;
  head h = {.maker = MAKER, .points = key_of_points(points, npoint), .npoint = npoint};
  h.nvertex = hull->nvertex;
  h.nface = hull->nface;
  size_t corners = (size_t)h.nvertex * sizeof *corner;
  size_t faces = 3 * (size_t)h.nface * sizeof *hull->faces;
  size_t size = sizeof h + corners + faces;
  char *bytes = malloc(size);
  if (!bytes || !write_path(h.points, path)) {
    free(bytes);
    return;
  }
  memcpy(bytes + sizeof h, corner, corners);
  memcpy(bytes + sizeof h + corners, hull->faces, faces);
  h.content = key_of(bytes + sizeof h, corners + faces);
  memcpy(bytes, &h, sizeof h);
  // one write in eight looks at them all
  if (h.points.half[0] % 8 == 0 && visit_entries(folder, false) > MAX_BYTES)
    (void)visit_entries(folder, true);
  write_entry(path, bytes, size);
  free(bytes);
}
