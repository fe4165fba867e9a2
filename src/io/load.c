/* load.c - a robot from a file or from memory: its first line or root element tells the format. */
#include "base/assertion.h"
#include "base/error.h"
#include "io/file.h"
#include "io/first_error.h"
#include "io/hrp/choreonoid.h"
#include "io/hrp/hrp_bush.h"
#include "io/hrp/hrp_vrml.h"
#include "io/hrp/vrml.h"
#include "io/mjcf/mjcf.h"
#include "io/path.h"
#include "io/sdf/sdf.h"
#include "io/sidecar.h"
#include "io/urdf/urdf.h"
#include "io/xml.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tabi_load_def tabi_load_def_default(void) {
  return (tabi_load_def){
      .def_size = sizeof(tabi_load_def),
      .base = TABI_BASE_AS_FILE,
      .base_quat = {1, 0, 0, 0},
  };
}

static tabi_status check_def(const tabi_load_def *def, tabi_error *err) {
  const tabi_place nowhere = {NULL, 0};
  if (def->def_size != sizeof *def) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "tabi_load_def was not made by tabi_load_def_default()");
  }
  if ((int)def->base < 0 || def->base > TABI_BASE_FIXED) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "tabi_load_def: unknown base %d",
                         (int)def->base);
  }
  double norm = 0;
  bool finite = true;
  for (int i = 0; i < 3; ++i)
    finite = finite && isfinite(def->base_pos[i]);
  for (int i = 0; i < 4; ++i)
    norm += def->base_quat[i] * def->base_quat[i];
  if (def->place_base && (!finite || !isfinite(norm) || !(norm > 0))) {
    return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere,
                         "tabi_load_def: base_pos and base_quat are not finite or no rotation");
  }
  return TABI_OK;
}

static tabi_status load_tree(tabi_builder *builder, tbi_xml_node *root, const char *path,
                             const tabi_load_def *def, tabi_error *err) {
  if (strcmp(root->name, "robot") == 0) return tbi_urdf_load(builder, root, path, def, err);
  if (strcmp(root->name, "mujoco") == 0) return tbi_mjcf_load(builder, root, path, def, err);
  if (strcmp(root->name, "sdf") == 0) return tbi_sdf_load(builder, root, path, def, err);
  if (strcmp(root->name, "mujocoinclude") == 0) {
    return tbi_error_set(err, TABI_ERR_PARSE, root->place,
                         "<mujocoinclude> is only a part; load the <mujoco> file that includes it");
  }
  return tbi_error_set(err, TABI_ERR_PARSE, root->place,
                       "root element is <%.60s>, expected <robot> (URDF), <mujoco> (MJCF) or <sdf>",
                       root->name);
}

/* Adds the robot of a tree, and of the file beside it unless the text came from memory. */
static void load_robot(tabi_builder *builder, tbi_xml_node *root, const char *path, bool from_file,
                       const tabi_load_def *def) {
  tabi_error err;
  tbi_first_error error = {.err = &err};
  int32_t first_joint = tabi_builder_njoint(builder);
  bool urdf = strcmp(root->name, "robot") == 0;
  if (tbi_take(&error, load_tree(builder, root, path, def, &err)) && from_file && urdf)
    tbi_take(&error, tbi_sidecar_load(builder, path, def, first_joint, &err));
  // a half-built robot must not become a model
  if (!tbi_ok(&error)) tabi_builder_fail(builder, &err);
}

/* One file, or a text from memory, which has nothing beside it whatever its path says. */
typedef struct source {
  const char *path, *text;
  size_t size;
  bool is_file;
} source;

static tabi_status load_xml(tabi_builder *builder, const source *from, const tabi_load_def *def,
                            tabi_error *err) {
  tbi_xml *xml = NULL;
  tabi_status status = tbi_xml_parse(from->text, from->size, from->path, &xml, err);
  if (status != TABI_OK) return status;
  load_robot(builder, tbi_xml_root(xml), from->path, from->is_file, def);
  tbi_xml_destroy(xml);
  return TABI_OK;
}

/* By its first line, or where that is missing by its name, so that the error is about that line. */
static bool is_vrml(const source *from) {
  return tbi_vrml_is(from->text, from->size) || tbi_path_ends_with(from->path, ".wrl");
}

/* The beginning of a text tells what it is; what it does not tell is XML. */
static tabi_status load_format(tabi_builder *builder, const source *from, const tabi_load_def *def,
                               tabi_error *err) {
  int32_t first_joint = tabi_builder_njoint(builder);
  if (is_vrml(from)) {
    tabi_status status = tbi_hrp_vrml_load(builder, from->text, from->size, from->path, def, err);
    if (status != TABI_OK || !from->is_file) return status;
    return tbi_hrp_bush_beside(builder, from->path, def, first_joint, err);
  }
  if (tbi_choreonoid_is(from->text, from->size, from->path))
    return tbi_choreonoid_load(builder, from->text, from->size, from->path, def, err);
  return load_xml(builder, from, def, err);
}

static tabi_status load(tabi_builder *builder, const source *from, const tabi_load_def *def,
                        tabi_error *err) {
  TBI_ASSERT(builder && from->path);
  const tabi_load_def defaults = tabi_load_def_default();
  if (!def) def = &defaults;
  tabi_error why = {0};
  tbi_first_error error = {.err = err};
  if (!tbi_take(&error, check_def(def, err))) return error.status;
  tabi_status status = load_format(builder, from, def, &why);
  // a half-built robot must not become a model
  if (status != TABI_OK) tabi_builder_fail(builder, &why);
  // an error that stayed in the builder came before any other
  tbi_take_builder(&error, builder);
  return error.status;
}

tabi_status tabi_builder_load(tabi_builder *builder, const char *path, const tabi_load_def *def,
                              tabi_error *err) {
  TBI_ASSERT(path);
  const tabi_place itself = {NULL, 0};
  char *text = NULL;
  size_t size = 0;
  tabi_status status = def ? check_def(def, err) : TABI_OK;
  if (status != TABI_OK) return status;
  status = tbi_file_read(path, TBI_XML_MAX_BYTES, itself, &text, &size, err);
  if (status != TABI_OK) return status;
  const source from = {path, text, size, true};
  status = load(builder, &from, def, err);
  free(text);
  return status;
}

tabi_status tabi_builder_load_text(tabi_builder *builder, const char *text, size_t size,
                                   const char *path, const tabi_load_def *def, tabi_error *err) {
  TBI_ASSERT(text || size == 0);
  const source from = {path, text ? text : "", size, false};
  return load(builder, &from, def, err);
}

tabi_model *tabi_model_load(const char *path, const tabi_load_def *def, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) {
    (void)tbi_error_memory(err);
    return NULL;
  }
  tabi_status status = tabi_builder_load(builder, path, def, err);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, err) : NULL;
  tabi_builder_destroy(builder);
  return model;
}
