/* world_file.c - worlds of other programs become scenes: the same as YAML. */
#include "io/file.h"
#include "io/hrp/choreonoid.h"
#include "io/hrp/vrml.h"
#include "io/sdf/sdf.h"
#include "io/xml.h"
#include "scene/hrp_project.h"
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

bool tbi_scene_is_xml(const char *text, size_t size) {
  size_t i = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
  while (i < size && strchr(" \t\r\n", text[i]) && text[i] != '\0')
    ++i;
  return i < size && text[i] == '<';
}

static bool fail_robot(const tbi_scene_reader *r, const tbi_xml_node *root) {
  return tbi_fail_at(r->error, TABI_ERR_PARSE, root->place,
                     "<%.40s> is a robot, not a scene; name it in one, or look at it by tabi view",
                     root->name);
}

char *tbi_scene_from_xml(const tbi_scene_reader *r, const char *text, size_t size, size_t *length) {
  tbi_xml *xml = NULL;
  char *yaml = NULL;
  tabi_error *err = r->error->err;
  if (!tbi_take(r->error, tbi_xml_parse(text, size, r->path, &xml, err))) return NULL;
  tabi_load_def def = tabi_load_def_default();
  def.package_path = r->def->package_path;
  def.strict = r->def->strict;
  def.warn = r->def->warn;
  def.warn_user = r->def->warn_user;
  tbi_xml_node *root = tbi_xml_root(xml);
  if (strcmp(root->name, "sdf") == 0) {
    tbi_take(r->error, tbi_sdf_write_scene(root, r->path, &def, &yaml, length, err));
  } else if (strcmp(root->name, "grxui") == 0) {
    tbi_take(r->error, tbi_hrp_project_scene(root, r->path, r->def, &yaml, length, err));
  } else {
    fail_robot(r, root);
  }
  tbi_xml_destroy(xml);
  return yaml;
}

/* Whether a file is a robot in a format other than XML. */
static bool is_other_robot(const char *path) {
  const tabi_place itself = {NULL, 0};
  char *text = NULL;
  size_t size = 0;
  if (tbi_file_read(path, TBI_XML_MAX_BYTES, itself, &text, &size, NULL) != TABI_OK) return false;
  bool other = tbi_vrml_is(text, size) || tbi_choreonoid_is(text, size, path);
  free(text);
  return other;
}

bool tabi_scene_recognise(const char *path) {
  tbi_xml *xml = NULL;
  tabi_error err;
  if (is_other_robot(path)) return false;
  // what is no XML, broken or not, is read as YAML
  tabi_status status = tbi_xml_read(path, &xml, &err);
  if (status != TABI_OK) return strstr(err.message, "not an XML text file") != NULL;
  tbi_xml_node *root = tbi_xml_root(xml);
  bool world = strcmp(root->name, "grxui") == 0 ||
               (strcmp(root->name, "sdf") == 0 && tbi_xml_child(root, "world"));
  tbi_xml_destroy(xml);
  return world;
}
