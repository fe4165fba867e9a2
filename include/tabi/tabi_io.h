/* tabi_io.h - robots from files.
 *
 * URDF and MJCF become calls to a tabi_builder.  What a file says and tabi does not use is
 * reported to the warning function, once for each kind of thing. */
#ifndef TABI_IO_H
#define TABI_IO_H

#include "tabi.h"

TABI_BEGIN

typedef enum tabi_base {
  TABI_BASE_AS_FILE, /* what an MJCF file says; free for URDF, which cannot say */
  TABI_BASE_FREE,
  TABI_BASE_FIXED,
} tabi_base;

typedef struct tabi_load_def {
  uint32_t def_size; /* set by the default function */
  tabi_base base;
  bool place_base; /* put the root link at base_pos, base_quat */
  double base_pos[3], base_quat[4];
  const char *prefix;       /* put before every name, "robot/"; NULL: none */
  const char *package_path; /* folders to search for package://, separated by ':'; NULL: only
                               the folders above the file */
  bool need_meshes;         /* a missing mesh is an error, not a warning */
  tabi_warning_fn *warn;    /* may be NULL */
  void *warn_user;
} tabi_load_def;

TABI_API tabi_load_def tabi_load_def_default(void);

/* Load a robot; the kind of file is told by its root element.  def may be NULL. */
TABI_API tabi_model *tabi_model_load(const char *path, const tabi_load_def *def, tabi_error *err);

/* Add a robot to others in a builder. */
TABI_API tabi_status tabi_builder_load(tabi_builder *builder, const char *path,
                                       const tabi_load_def *def, tabi_error *err);
/* The same from memory; `path` names it in messages and is where relative files are looked for. */
TABI_API tabi_status tabi_builder_load_text(tabi_builder *builder, const char *text, size_t size,
                                            const char *path, const tabi_load_def *def,
                                            tabi_error *err);

TABI_END

#endif
