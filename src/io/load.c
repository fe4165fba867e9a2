/* load.c - a robot from a file or from memory: the root element tells the format. */
#include "base/error.h"
#include "io/mjcf.h"
#include "io/sidecar.h"
#include "io/urdf.h"
#include "io/xml.h"
#include "tabi/tabi_io.h"

#include <math.h>
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
  if (strcmp(root->name, "mujocoinclude") == 0) {
    return tbi_error_set(err, TABI_ERR_PARSE, root->place,
                         "<mujocoinclude> is only a part; load the <mujoco> file that includes it");
  }
  return tbi_error_set(err, TABI_ERR_PARSE, root->place,
                       "root element is <%.60s>, expected <robot> (URDF) or <mujoco> (MJCF)",
                       root->name);
}

/* The tree is read or has failed to be; takes it over. */
static tabi_status load_and_free(tabi_builder *builder, tbi_xml *xml, const char *path,
                                 bool from_file, const tabi_load_def *def, tabi_error *err) {
  tabi_error failure;
  tbi_xml_node *root = tbi_xml_root(xml);
  int32_t first_joint = tabi_builder_njoint(builder);
  tabi_status status = load_tree(builder, root, path, def, &failure);
  // text from memory has nothing beside it, whatever its path says
  if (status == TABI_OK && from_file && strcmp(root->name, "robot") == 0)
    status = tbi_sidecar_load(builder, path, def, first_joint, &failure);
  if (status != TABI_OK) {
    /* half a robot is there: let nobody build it */
    tabi_builder_fail(builder, &failure);
  }
  tbi_xml_destroy(xml);
  /* an error that stayed in the builder came before any other */
  const tabi_error *error = tabi_builder_error(builder);
  if (!error) return TABI_OK;
  if (err) *err = *error;
  return error->status;
}

tabi_status tabi_builder_load(tabi_builder *builder, const char *path, const tabi_load_def *def,
                              tabi_error *err) {
  const tabi_load_def usual = tabi_load_def_default();
  if (!def) def = &usual;
  tbi_xml *xml = NULL;
  tabi_status status = check_def(def, err);
  if (status == TABI_OK) status = tbi_xml_read(path, &xml, err);
  return status == TABI_OK ? load_and_free(builder, xml, path, true, def, err) : status;
}

tabi_status tabi_builder_load_text(tabi_builder *builder, const char *text, size_t size,
                                   const char *path, const tabi_load_def *def, tabi_error *err) {
  const tabi_load_def usual = tabi_load_def_default();
  if (!def) def = &usual;
  tbi_xml *xml = NULL;
  tabi_status status = check_def(def, err);
  if (status == TABI_OK) status = tbi_xml_parse(text, size, path, &xml, err);
  return status == TABI_OK ? load_and_free(builder, xml, path, false, def, err) : status;
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
