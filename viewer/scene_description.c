/* scene_description.c - a scene as JSON.
 *
 * jansson's json_pack returns NULL when any of its parts is NULL, so that what runs out of memory
 * anywhere arrives at the top as one NULL. */
#include "scene_description.h"

#include "geometry.h"
#include "scene_meshes.h"
#include "signal_selection.h"
#include "viewer_error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *numbers(const double *value, size_t count) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; ++i) {
    if (json_array_append_new(array, number(value[i])) == 0) continue;
    json_decref(array);
    return NULL;
  }
  return array;
}

/* What is not UTF-8 loses its accents. */
static json_t *text(const char *string) {
  if (!string) return json_string("");
  json_t *json = json_string(string);
  if (json) return json;
  char ascii[256];
  (void)snprintf(ascii, sizeof ascii, "%s", string);
  for (char *c = ascii; *c; ++c) {
    if ((unsigned char)*c > 0x7e) *c = '?';
  }
  return json_string(ascii);
}

/* Appends to an array, or makes it NULL for good. */
static void append(json_t **array, json_t *item) {
  if (json_array_append_new(*array, item) == 0) return;
  json_decref(*array);
  *array = NULL;
}

/* -- links and what they are made of */

static json_t *links_json(const tabi_scene *scene) {
  const tabi_model *model = tabi_scene_model(scene);
  json_t *array = json_array();
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def link = tabi_model_link(model, i);
    tbi_inertia_box box = tbi_inertia_box_of(&link);
    append(&array, json_pack("{s:o, s:i, s:o, s:o, s:{s:o, s:o}}", "name", text(link.name), "robot",
                             (int)tbi_robot_of(scene, i), "mass", number(link.mass), "com",
                             numbers(link.com, 3), "box", "quat", numbers(box.quat, 4), "half",
                             numbers(box.half, 3)));
  }
  return array;
}

static json_t *size_json(const tabi_shape_def *s) {
  const double box[3] = {0.5 * s->size[0], 0.5 * s->size[1], 0.5 * s->size[2]};
  const double round[2] = {s->size[0], 0.5 * s->size[1]};
  switch (s->type) {
  case TABI_SHAPE_BOX:
    return numbers(box, 3);
  case TABI_SHAPE_ELLIPSOID:
    return numbers(s->size, 3);
  case TABI_SHAPE_SPHERE:
    return numbers(round, 1);
  case TABI_SHAPE_CAPSULE:
  case TABI_SHAPE_CYLINDER:
    return numbers(round, 2);
  default:
    return json_array();
  }
}

static const char *type_name(tabi_shape_type type) {
  static const char *const names[TABI_SHAPE_COUNT] = {
      [TABI_SHAPE_PLANE] = "plane",
      [TABI_SHAPE_SPHERE] = "sphere",
      [TABI_SHAPE_CAPSULE] = "capsule",
      [TABI_SHAPE_CYLINDER] = "cylinder",
      [TABI_SHAPE_BOX] = "box",
      [TABI_SHAPE_MESH] = "mesh",
      [TABI_SHAPE_TRIANGLES] = "mesh",
      [TABI_SHAPE_HEIGHTFIELD] = "mesh",
      [TABI_SHAPE_ELLIPSOID] = "ellipsoid",
  };
  return names[type];
}

/* null where the file said nothing */
static json_t *colour_json(const tabi_shape_def *s) {
  tabi_shape_def plain = tabi_shape_def_default();
  bool said = false;
  for (int i = 0; i < 4; ++i)
    said = said || s->rgba[i] != plain.rgba[i];
  return said ? numbers(s->rgba, 4) : json_null();
}

/* Whether two links are the same, or parts of one moving body. */
static bool are_one(const tabi_model *model, int32_t a, int32_t b) {
  if (a == b || a == TABI_WORLD || b == TABI_WORLD) return a == b;
  int32_t body = tabi_model_link_body(model, a);
  return body != TABI_WORLD && body == tabi_model_link_body(model, b);
}

/* Shapes to look at, and shapes to touch where a body has none. */
static bool is_seen(const tabi_model *model, const tabi_shape_def *s) {
  if (s->visible || !s->collides) return s->visible;
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def other = tabi_model_shape(model, i);
    if (other.visible && are_one(model, other.link, s->link)) return false;
  }
  return true;
}

static json_t *shapes_json(const tabi_model *model) {
  json_t *array = json_array();
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def s = tabi_model_shape(model, i);
    const char *type = type_name(s.type);
    json_t *shape = json_pack("{s:i, s:s, s:o, s:o, s:o, s:o, s:b, s:b}", "link", (int)s.link,
                              "type", type, "pos", numbers(s.pos, 3), "quat", numbers(s.quat, 4),
                              "size", size_json(&s), "colour", colour_json(&s), "visible",
                              (int)is_seen(model, &s), "collides", (int)s.collides);
    if (shape && strcmp(type, "mesh") == 0)
      (void)json_object_set_new(shape, "mesh", json_integer(s.mesh));
    append(&array, shape);
  }
  return array;
}

/* Those that were made before, if there are any. */
static json_t *meshes_json(const tabi_model *model, json_t *made) {
  return made ? json_incref(made) : tbi_scene_meshes_json(model);
}

static json_t *joints_json(const tabi_model *model) {
  static const char *const types[TABI_JOINT_COUNT] = {
      "fixed", "revolute", "continuous", "prismatic", "ball", "planar", "free"};
  static const double origin[3] = {0};
  json_t *array = json_array();
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def j = tabi_model_joint(model, i);
    if (j.type == TABI_JOINT_FIXED) continue;
    // the child's frame is the joint's, moved
    append(&array,
           json_pack("{s:o, s:s, s:i, s:o, s:o, s:o, s:o}", "name", text(j.name), "type",
                     types[j.type], "link", (int)j.child, "pos", numbers(origin, 3), "axis",
                     numbers(j.axis, 3), "lower", number(j.lower), "upper", number(j.upper)));
  }
  return array;
}

/* -- robots */

static double gravity_of(const tabi_scene *scene) {
  tabi_world_def def = tabi_scene_world_def(scene);
  return hypot(hypot(def.gravity[0], def.gravity[1]), def.gravity[2]);
}

/* Weight of a robot, or, for TABI_NONE, of all that moves; N. */
static double weight_of(const tabi_scene *scene, int32_t robot) {
  const tabi_model *model = tabi_scene_model(scene);
  double mass = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    bool counts = robot == TABI_NONE ? tabi_model_link_body(model, i) != TABI_WORLD
                                     : tbi_robot_of(scene, i) == robot;
    if (counts) mass += tabi_model_link(model, i).mass;
  }
  return mass * gravity_of(scene);
}

static json_t *feet_json(const tabi_scene *scene, int32_t robot, const bool *foot) {
  json_t *array = json_array();
  for (int32_t i = 0; i < tabi_model_nlink(tabi_scene_model(scene)); ++i) {
    if (foot[i] && tbi_robot_of(scene, i) == robot) append(&array, json_integer(i));
  }
  return array;
}

static json_t *robots_json(const tabi_scene *scene, const tbi_feet *feet) {
  json_t *array = json_array();
  for (int32_t i = 0; i < tabi_scene_nrobot(scene); ++i) {
    tabi_scene_robot robot = tabi_scene_get_robot(scene, i);
    append(&array, json_pack("{s:o, s:i, s:o, s:o}", "name", text(robot.name), "base",
                             (int)robot.base, "feet", feet_json(scene, i, feet->link), "weight",
                             number(weight_of(scene, i))));
  }
  return array;
}

/* -- signals and settings */

static json_t *signals_json(const tabi_scene *scene) {
  tbi_signal_selection selection;
  if (tbi_signal_selection_open(&selection, scene, NULL) != TABI_OK) return NULL;
  json_t *array = json_array();
  for (int32_t i = 0; i < selection.count; ++i) {
    tabi_signal s = tabi_signals_get(selection.signals, selection.index[i]);
    append(&array,
           json_pack("{s:o, s:s, s:s}", "name", text(s.name), "unit", s.unit, "about", s.about));
  }
  tbi_signal_selection_close(&selection);
  return array;
}

/* The methods a viewer may choose: gait needs a section of its own in the scene, and of the
 * published variants only the present one is listed. */
static json_t *contacts_json(const tabi_world_def *def) {
  json_t *array = json_array();
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    const tabi_contact_info *info = tabi_contact_describe((tabi_contact_kind)i);
    bool offered = i < TABI_CONTACT_METHODS || i == (int)def->contact;
    if (offered && (!info->planar_biped || def->gait.biped))
      append(&array, json_string(info->name));
  }
  return array;
}

/* The coefficient that is set for all contacts, or that of the first foot, or else the first thing
 * that moves, on the first that stands. */
static double friction_of(const tabi_model *model, const tabi_world_def *def,
                          const tbi_feet *feet) {
  if (def->friction >= 0) return def->friction;
  int32_t found[2] = {TABI_NONE, TABI_NONE};
  int best[2] = {0, 0};
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def s = tabi_model_shape(model, i);
    int moves = s.link != TABI_WORLD && tabi_model_link_body(model, s.link) != TABI_WORLD;
    int rank = moves && feet->shape[i] ? 2 : 1;
    if (!s.collides || rank <= best[moves]) continue;
    found[moves] = s.material;
    best[moves] = rank;
  }
  return tabi_model_surface(model, found[0], found[1]).friction;
}

static json_t *settings_json(const tabi_scene *scene, const tbi_feet *feet) {
  tabi_world_def def = tabi_scene_world_def(scene);
  double friction = friction_of(tabi_scene_model(scene), &def, feet);
  return json_pack("{s:s, s:o, s:s, s:o, s:o, s:o}", "contact", tabi_contact_name(def.contact),
                   "contacts", contacts_json(&def), "integrator",
                   tabi_integrator_name(def.integrator), "timestep", number(def.timestep),
                   "friction", number(friction), "gravity", numbers(def.gravity, 3));
}

/* -- all of it */

/* The scene's name, or that of its file without folders and ending. */
static json_t *title_json(const tabi_scene *scene, const char *path) {
  const char *name = tabi_scene_name(scene);
  if (name[0] != '\0') return text(name);
  const char *slash = strrchr(path, '/');
  const char *file = slash ? slash + 1 : path;
  const char *dot = strrchr(file, '.');
  char base[128];
  (void)snprintf(base, sizeof base, "%.*s", (int)(dot ? dot - file : (long)strlen(file)), file);
  return text(base);
}

/* Whether a viewer can steer. */
static bool walks(const tabi_scene *scene) {
  for (int32_t i = 0; i < tabi_scene_nrobot(scene); ++i) {
    if (tabi_scene_stepper(scene, i)) return true;
  }
  return false;
}

static json_t *version_json(void) {
  return json_sprintf("%d.%d.%d", TABI_VERSION / 10000, TABI_VERSION / 100 % 100,
                      TABI_VERSION % 100);
}

json_t *tbi_scene_description_json(const tabi_scene *scene, const tbi_run_about *about,
                                   tabi_error *err) {
  const tabi_model *model = tabi_scene_model(scene);
  tbi_feet feet = {0};
  json_t *description = NULL;
  if (tbi_feet_find(&feet, scene)) {
    description = json_pack(
        "{s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "tabi",
        version_json(), "title", title_json(scene, about->path), "path", text(about->path), "live",
        (int)about->live, "walks", (int)(about->live && walks(scene)), "links", links_json(scene),
        "shapes", shapes_json(model), "meshes", meshes_json(model, about->meshes), "joints",
        joints_json(model), "robots", robots_json(scene, &feet), "signals", signals_json(scene),
        "weight", number(weight_of(scene, TABI_NONE)), "rate", number(about->rate), "start",
        number(about->start), "duration", number(about->duration), "settings",
        settings_json(scene, &feet));
  }
  tbi_feet_free(&feet);
  if (!description) (void)tbi_memory_error(err);
  return description;
}

char *tbi_scene_description_text(const json_t *description) {
  static const char escape[] = "\\u003c";
  char *plain = json_dumps(description, JSON_COMPACT | JSON_REAL_PRECISION(7));
  if (!plain) return NULL;
  size_t signs = 0;
  for (const char *c = plain; (c = strchr(c, '<')); ++c)
    ++signs;
  char *safe = malloc(strlen(plain) + signs * (sizeof escape - 2) + 1);
  char *to = safe;
  for (const char *c = plain; safe && *c; ++c) {
    if (*c == '<') {
      memcpy(to, escape, sizeof escape - 1);
      to += sizeof escape - 1;
    } else {
      *to++ = *c;
    }
  }
  if (safe) *to = '\0';
  free(plain);
  return safe;
}
