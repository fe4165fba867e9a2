/* robot_cache.c - robots in a tabi_builder_cache, by their file and how they are loaded. */
#include "io/robot_cache.h"

#include "base/assertion.h"
#include "io/path.h"

#include <stdio.h>

enum { KEY_SIZE = 2 * TBI_PATH_SIZE };

/* All that decides what is read; false: it is too long. */
static bool write_key(const char *path, const tabi_load_def *def, char key[KEY_SIZE]) {
  const double *p = def->base_pos;
  const double *q = def->base_quat;
  int n = snprintf(key, KEY_SIZE, "%d %d %d %d %a %a %a %a %a %a %a %s\n%s\n%s\n%s", (int)def->base,
                   def->place_base, def->need_meshes, def->strict, p[0], p[1], p[2], q[0], q[1],
                   q[2], q[3], def->prefix ? def->prefix : "", def->part ? def->part : "",
                   def->package_path ? def->package_path : "", path);
  return n > 0 && n < KEY_SIZE;
}

tabi_status tbi_robot_cache_load(tabi_builder_cache *cache, tabi_builder *builder, const char *path,
                                 const tabi_load_def *def, tabi_error *err) {
  TBI_ASSERT(builder && path && def);
  char key[KEY_SIZE];
  bool usable = cache && !def->warn && write_key(path, def, key);
  if (usable && tabi_builder_recall(builder, cache, key)) {
    const tabi_error *error = tabi_builder_error(builder);
    if (error && err) *err = *error;
    return error ? error->status : TABI_OK;
  }
  tabi_status status = tabi_builder_load(builder, path, def, err);
  return status == TABI_OK && usable ? tabi_builder_keep(builder, cache, key, err) : status;
}
