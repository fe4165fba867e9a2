/* mjcf.c - reads an MJCF model from its XML tree, section by section.
 *
 * The meaning of every attribute is that of MuJoCo 4.0; what was dropped on the way there from
 * 2.2 is understood, too.  mjcf_format.c lists what is used, approximated and left out. */
#include "io/mjcf/mjcf.h"

#include "base/error.h"
#include "io/format.h"
#include "io/mjcf/mjcf_reader.h"

#include <stdlib.h>
#include <string.h>

static void read_all(tbi_mjcf *reader) {
  void (*const parts[])(tbi_mjcf *) = {
      tbi_mjcf_include,       tbi_mjcf_read_compiler, tbi_mjcf_expand,
      tbi_mjcf_read_defaults, tbi_mjcf_read_assets,   tbi_mjcf_read_bodies,
      tbi_mjcf_read_pairs,    tbi_mjcf_add_bodies,    tbi_mjcf_add_frictions,
      tbi_mjcf_read_tendons,  tbi_mjcf_read_equality, tbi_mjcf_read_actuators,
      tbi_mjcf_settle,        tbi_mjcf_read_sensors,  tbi_mjcf_read_keyframes};
  (void)tbi_xml_get(reader->root, "model");
  for (size_t i = 0; i < sizeof parts / sizeof *parts && tbi_ok(&reader->error); ++i) {
    parts[i](reader);
  }
}

static void free_reader(tbi_mjcf *reader) {
  for (int32_t i = 0; i < reader->nmesh; ++i)
    tbi_mesh_free(&reader->meshes[i].triangles);
  for (int32_t i = 0; i < reader->nhfield; ++i)
    tbi_mesh_free(&reader->hfields[i].triangles);
  free(reader->hfields);
  for (int32_t i = 0; i < reader->nsource; ++i)
    tbi_xml_destroy(reader->sources[i].xml);
  tbi_xml_destroy(reader->copies);
  tbi_meshes_destroy(reader->files);
  free(reader->models);
  free(reader->sources);
  free(reader->classes);
  free(reader->meshes);
  free(reader->materials);
  free(reader->bodies);
  free(reader->joints);
  free(reader->geoms);
  free(reader->tendons);
  free(reader->ratios);
  free(reader->actuators);
  free(reader->sites);
  free(reader->frictions);
  tbi_names_free(&reader->class_names);
  tbi_names_free(&reader->mesh_names);
  tbi_names_free(&reader->material_names);
  tbi_names_free(&reader->body_names);
  tbi_names_free(&reader->joint_names);
  tbi_names_free(&reader->geom_names);
  tbi_names_free(&reader->friction_names);
  tbi_names_free(&reader->renamed);
  tbi_names_free(&reader->site_names);
  tbi_names_free(&reader->tendon_names);
  tbi_names_free(&reader->hfield_names);
  tbi_text_free(&reader->text);
}

tabi_status tbi_mjcf_load(tabi_builder *builder, tbi_xml_node *root, const char *path,
                          const tabi_load_def *def, tabi_error *err) {
  tbi_mjcf reader = {
      .builder = builder, .root = root, .path = path, .def = def, .error = {.err = err}};
  reader.files = tbi_meshes_create(builder, path, def);
  if (!reader.files) return tbi_error_memory(err);
  read_all(&reader);
  // the builder may have found what the reader did not
  if (tbi_take_builder(&reader.error, builder)) {
    tbi_meshes_report_missing(reader.files);
    tbi_format_tell_ignored(&tbi_mjcf_format, root, def);
  }
  // parts of the tree may belong to included files, which go now
  root->first = root->last = NULL;
  free_reader(&reader);
  return reader.error.status;
}
