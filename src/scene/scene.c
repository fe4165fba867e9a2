/* scene.c - a scene from YAML.
 *
 * Materials, bodies and robots become builder calls; initial state, controllers, forces and
 * settings of the world follow when there is a model, because they name its joints and links. */
#include "scene/scene.h"

#include "base/array.h"
#include "base/assertion.h"
#include "io/connection.h"
#include "io/file.h"
#include "io/path.h"
#include "io/suggest.h"
#include "model/builder.h"
#include "model/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_TIMESTEP 1e-7
#define MAX_TIMESTEP 0.1
#define MAX_SIGNALS  4096

/* The keys at the top of the file. */
typedef struct top {
  const char *name, *integrator;
  double timestep, duration, gravity[3];
  bool sleep;
  const tbi_yaml_node *timestep_node, *integrator_node;
  const tbi_yaml_node *contact, *materials, *pairs, *bodies, *robots, *connections, *forces, *log;
  const tbi_yaml_node *gait, *no_collision, *check;
} top;

tabi_scene_def tabi_scene_def_default(void) {
  return (tabi_scene_def){.def_size = sizeof(tabi_scene_def)};
}

char *tbi_scene_path(const tbi_scene_reader *r, const char *file) {
  char *path = tbi_path_beside(r->path, file);
  if (!path) tbi_fail_memory(r->error);
  return path;
}

bool tbi_scene_add_velocity(tbi_scene_reader *r, int32_t joint, const double lin[3],
                            const double ang[3]) {
  if (!tbi_ok(r->error)) return false;
  TBI_ASSERT(tbi_builder_is_joint(r->builder, joint));
  void *items = r->velocities;
  bool room =
      tbi_array_reserve(&items, &r->velocity_capacity, r->nvelocity, 1, sizeof *r->velocities);
  r->velocities = items;
  if (!room) return tbi_fail_memory(r->error);
  tbi_scene_velocity *added = &r->velocities[r->nvelocity++];
  added->joint = joint;
  memcpy(added->v, lin, 3 * sizeof(double));
  memcpy(added->v + 3, ang, 3 * sizeof(double));
  return true;
}

int32_t tbi_scene_find_link(const tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                            const char *name) {
  TBI_ASSERT(node && name);
  int32_t link = tabi_builder_find_link(r->builder, name);
  if (link != TABI_NONE) return link;
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (int32_t i = 0; i < tabi_builder_nlink(r->builder); ++i) {
    const char *known = tbi_builder_link(r->builder, i)->name;
    if (known) tbi_suggest_add(&nearest, known);
  }
  char hint[TBI_HINT_SIZE];
  tbi_fail_about(r->error, node->place, what, "no body is called '%.60s'%s", name,
                 tbi_suggest_hint(&nearest, hint));
  return TABI_NONE;
}

static const tbi_field material_fields[] = {
    {"friction",           TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_material_def, friction)          },
    {"kinetic",            TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_material_def, kinetic)           },
    {"restitution",        TBI_FIELD_SHARE,        offsetof(tabi_material_def, restitution)       },
    {"stiffness",          TBI_FIELD_POSITIVE,     offsetof(tabi_material_def, stiffness)         },
    {"damping",            TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_material_def, damping)           },
    {"viscous",            TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_material_def, viscous)           },
    {"slip_speed",         TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_material_def, slip_speed)        },
    {"rest_speed",         TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_material_def, rest_speed)        },
    {"rolling_friction",   TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_material_def, rolling_friction)  },
    {"torsional_friction", TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_material_def, torsional_friction)},
};

static const tabi_material_def *material_at(const tbi_scene_reader *r, int32_t index) {
  TBI_ASSERT(index >= 0 && index < r->builder->materials.count);
  return (const tabi_material_def *)r->builder->materials.items + index;
}

int32_t tbi_scene_material(const tbi_scene_reader *r, const tbi_yaml_node *node, const char *what,
                           const char *name) {
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (int32_t i = 0; i < r->builder->materials.count; ++i) {
    const char *known = material_at(r, i)->name;
    if (!known) continue;
    if (strcmp(known, name) == 0) return i;
    tbi_suggest_add(&nearest, known);
  }
  char hint[TBI_HINT_SIZE];
  tbi_fail_about(r->error, node->place, what, "no material is called '%.60s'%s", name,
                 tbi_suggest_hint(&nearest, hint));
  return TABI_NONE;
}

static bool read_material(tbi_scene_reader *r, const tbi_yaml_node *node) {
  char what[TBI_WHAT_SIZE];
  (void)snprintf(what, sizeof what, "material '%.60s': ", node->key);
  tabi_material_def def = tabi_material_def_default();
  def.name = node->key;
  def.place = node->place;
  if (!tbi_fields_read(r->error, node, what, TBI_FIELDS(material_fields), &def)) return false;
  if (def.kinetic > def.friction) {
    return tbi_fail_about(r->error, node->place, what, "kinetic %g is above friction %g",
                          def.kinetic, def.friction);
  }
  (void)tabi_builder_add_material(r->builder, &def);
  return tbi_take_builder(r->error, r->builder);
}

static void read_materials(tbi_scene_reader *r, const tbi_yaml_node *map) {
  const tbi_yaml_node *node = map ? map->first : NULL;
  for (; node && tbi_ok(r->error); node = node->next)
    read_material(r, node);
}

static bool read_pair(tbi_scene_reader *r, const tbi_yaml_node *entry) {
  const char *what = "pairs: ";
  if (entry->kind != TBI_YAML_LIST || entry->count != 3 || entry->first->kind != TBI_YAML_SCALAR ||
      entry->first->next->kind != TBI_YAML_SCALAR) {
    return tbi_fail_about(r->error, entry->place, what,
                          "expected [material, material, {friction: ...}]");
  }
  const char *name_a = entry->first->text;
  const char *name_b = entry->first->next->text;
  int32_t a = tbi_scene_material(r, entry, what, name_a);
  int32_t b = tbi_scene_material(r, entry, what, name_b);
  if (!tbi_ok(r->error)) return false;
  /* the rule for pairs, from which the entry departs */
  tabi_material_def def = tabi_material_combine(material_at(r, a), material_at(r, b));
  const tbi_yaml_node *properties = entry->last;
  if (!tbi_fields_read(r->error, properties, what, TBI_FIELDS(material_fields), &def)) return false;
  // a friction given alone is kinetic too where the rule would exceed it
  if (tbi_yaml_child(properties, "friction") && !tbi_yaml_child(properties, "kinetic") &&
      def.kinetic > def.friction) {
    def.kinetic = def.friction;
  }
  char name[TBI_WHAT_SIZE];
  (void)snprintf(name, sizeof name, "%.60s, %.60s", name_a, name_b);
  def.name = name;
  def.place = entry->place;
  (void)tabi_builder_add_pair(r->builder, a, b, &def);
  return tbi_take_builder(r->error, r->builder);
}

static void read_pairs(tbi_scene_reader *r, const tbi_yaml_node *list) {
  const tbi_yaml_node *entry = list ? list->first : NULL;
  for (; entry && tbi_ok(r->error); entry = entry->next)
    read_pair(r, entry);
}

typedef struct log_keys {
  int32_t every;
  bool forces;
  const tbi_yaml_node *signals;
} log_keys;

/* Names are checked here and looked up again by whoever writes the log. */
static bool read_signals(tbi_scene_reader *r, const tbi_yaml_node *list) {
  tabi_scene *scene = r->scene;
  if (list->count > MAX_SIGNALS) {
    return tbi_fail_about(r->error, list->place, "log: ", "more than %d signals", MAX_SIGNALS);
  }
  scene->signals = calloc((size_t)list->count + 1, sizeof *scene->signals);
  if (!scene->signals) return tbi_fail_memory(r->error);
  scene->log.signals = scene->signals;
  for (const tbi_yaml_node *item = list->first; item && tbi_ok(r->error); item = item->next) {
    if (tabi_builder_find_joint(r->builder, item->text) == TABI_NONE)
      (void)tbi_scene_find_link(r, item, "log: ", item->text);
    const char *kept = tbi_text_add(&scene->text, item->text);
    if (!kept) return tbi_fail_memory(r->error);
    scene->signals[scene->log.nsignal++] = kept;
  }
  return tbi_ok(r->error);
}

static bool read_log(tbi_scene_reader *r, const tbi_yaml_node *map) {
  static const tbi_field fields[] = {
      {"every",   TBI_FIELD_COUNT, offsetof(log_keys, every)  },
      {"forces",  TBI_FIELD_BOOL,  offsetof(log_keys, forces) },
      {"signals", TBI_FIELD_LIST,  offsetof(log_keys, signals)},
  };
  log_keys keys = {.every = 1, .forces = true};
  if (map) tbi_fields_read(r->error, map, "log: ", TBI_FIELDS(fields), &keys);
  if (keys.every < 1)
    return tbi_fail_about(r->error, map->place, "log: ", "every must be at least 1");
  r->scene->log.every = keys.every;
  r->scene->log.forces = keys.forces;
  if (!tbi_ok(r->error)) return false;
  return !keys.signals || read_signals(r, keys.signals);
}

/* Springs between surfaces give way by design. */
static bool read_check(tbi_scene_reader *r, const tbi_yaml_node *map) {
  static const tbi_field fields[] = {
      {"penetration", TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_scene_check, penetration)},
      {"energy_gain", TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_scene_check, energy_gain)},
      {"residual",    TBI_FIELD_NOT_NEGATIVE, offsetof(tabi_scene_check, residual)   },
  };
  bool compliant = tabi_contact_describe(r->scene->world.contact)->compliant;
  r->scene->check = (tabi_scene_check){
      .penetration = compliant ? (double)INFINITY : 1e-3, .energy_gain = 1e-3, .residual = 1e-3};
  return !map || tbi_fields_read(r->error, map, "check: ", TBI_FIELDS(fields), &r->scene->check);
}

static const tbi_field top_fields[] = {
    {"name",         TBI_FIELD_WORD,       offsetof(top, name)        },
    {"timestep",     TBI_FIELD_ANY_NUMBER, offsetof(top, timestep)    },
    {"duration",     TBI_FIELD_POSITIVE,   offsetof(top, duration)    },
    {"gravity",      TBI_FIELD_VECTOR,     offsetof(top, gravity)     },
    {"sleep",        TBI_FIELD_BOOL,       offsetof(top, sleep)       },
    {"contact",      TBI_FIELD_MAP,        offsetof(top, contact)     },
    {"gait",         TBI_FIELD_MAP,        offsetof(top, gait)        },
    {"integrator",   TBI_FIELD_WORD,       offsetof(top, integrator)  },
    {"materials",    TBI_FIELD_MAP,        offsetof(top, materials)   },
    {"pairs",        TBI_FIELD_LIST,       offsetof(top, pairs)       },
    {"bodies",       TBI_FIELD_LIST,       offsetof(top, bodies)      },
    {"robots",       TBI_FIELD_LIST,       offsetof(top, robots)      },
    {"connections",  TBI_FIELD_LIST,       offsetof(top, connections) },
    {"forces",       TBI_FIELD_LIST,       offsetof(top, forces)      },
    {"log",          TBI_FIELD_MAP,        offsetof(top, log)         },
    {"no_collision", TBI_FIELD_LIST,       offsetof(top, no_collision)},
    {"check",        TBI_FIELD_MAP,        offsetof(top, check)       },
};

static bool check_gravity(tbi_scene_reader *r, const tbi_yaml_node *root, const double *g) {
  double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
  if (size <= TBI_MAX_GRAVITY) return true;
  return tbi_fail_about(r->error, tbi_yaml_child(root, "gravity")->place, "",
                        "gravity of %g m/s^2 is beyond the limit of %g m/s^2", size,
                        TBI_MAX_GRAVITY);
}

static bool read_top(tbi_scene_reader *r, const tbi_yaml_node *root, top *t) {
  *t = (top){
      .timestep = 1e-3, .duration = 5, .gravity = {0, 0, -9.81}
  };
  if (!tbi_fields_read(r->error, root, "", TBI_FIELDS(top_fields), t)) return false;
  if (!(t->timestep >= MIN_TIMESTEP && t->timestep <= MAX_TIMESTEP)) {
    return tbi_fail_about(r->error, tbi_yaml_child(root, "timestep")->place, "",
                          "timestep must be in [1e-7, 0.1]");
  }
  if (!check_gravity(r, root, t->gravity)) return false;
  r->scene->duration = t->duration;
  r->scene->name = tbi_text_add(&r->scene->text, t->name ? t->name : "");
  return r->scene->name || tbi_fail_memory(r->error);
}

static bool build_model(tbi_scene_reader *r) {
  if (!tbi_ok(r->error)) return false;
  tabi_error err = {0};
  tabi_model *model = tabi_builder_build(r->builder, &err);
  if (!model) return tbi_fail_as(r->error, &err);
  r->scene->draft = r->scene->model;
  r->scene->model = model;
  return true;
}

static int32_t moving_link(const tabi_model *model, const tbi_scene_robot *robot) {
  TBI_ASSERT(robot->first_link + robot->nlink <= tabi_model_nlink(model));
  if (tabi_model_link_body(model, robot->base) != TABI_WORLD) return robot->base;
  for (int32_t i = robot->first_link; i < robot->first_link + robot->nlink; ++i) {
    if (tabi_model_link_body(model, i) != TABI_WORLD) return i;
  }
  return TABI_NONE;
}

static bool set_initial_state(tbi_scene_reader *r) {
  tabi_scene *scene = r->scene;
  scene->q = calloc((size_t)tabi_model_nq(scene->model) + 1, sizeof *scene->q);
  scene->v = calloc((size_t)tabi_model_nv(scene->model) + 1, sizeof *scene->v);
  int32_t nactuator = tabi_model_nactuator(scene->model);
  scene->u = calloc((size_t)nactuator + 1, sizeof *scene->u);
  if (!scene->q || !scene->v || !scene->u) return tbi_fail_memory(r->error);
  for (int32_t i = 0; i < nactuator; ++i)
    scene->u[i] = (double)NAN;
  tabi_model_initial_q(scene->model, scene->q);
  for (int32_t i = 0; i < scene->nrobot; ++i)
    scene->robots[i].moving = moving_link(scene->model, &scene->robots[i]);
  for (int32_t i = 0; i < r->nvelocity; ++i) {
    tabi_range range = tabi_model_joint_v(scene->model, r->velocities[i].joint);
    TBI_ASSERT(range.count == 6);
    memcpy(scene->v + range.first, r->velocities[i].v, sizeof r->velocities[i].v);
  }
  return true;
}

/* Connections are closed in the initial state, so they are added when it is known. */
static bool add_connections(tbi_scene_reader *r, const tbi_yaml_node *list) {
  if (!list || list->count == 0) return false;
  const tbi_connections connections = {
      .find = {r->error, r->builder, ""},
      .model = r->scene->model,
      .q = r->scene->q,
      .has_world = true,
  };
  return tbi_connections_read(&connections, list);
}

/* What depends on the initial state: the model is then built again.  No link or joint in it changes
 * its index.  Connections of robots may be open where the scene puts them. */
static void complete_model(tbi_scene_reader *r, const tbi_yaml_node *connections) {
  bool parted = tbi_scene_part_robots(r);
  bool connected = tbi_ok(r->error) && add_connections(r, connections);
  if (parted || connected || r->rebuild) build_model(r);
  if (!tbi_ok(r->error)) return;
  tbi_connections_warn(r->error, r->scene->model, r->scene->q, r->def->warn, r->def->warn_user);
}

/* All that becomes builder calls. */
static bool read_model(tbi_scene_reader *r, const top *t) {
  read_materials(r, t->materials);
  read_pairs(r, t->pairs);
  tbi_scene_read_bodies(r, t->bodies);
  tbi_scene_read_robots(r, t->robots);
  tbi_scene_read_no_collision(r, t->no_collision);
  // robots bring their own gravity and time step, the scene's count
  tabi_builder_set_gravity(r->builder, t->gravity);
  tabi_builder_set_timestep(r->builder, t->timestep);
  return build_model(r);
}

static bool read_scene(tbi_scene_reader *r, const tbi_yaml_node *root) {
  top t;
  if (!read_top(r, root, &t) || !read_model(r, &t) || !set_initial_state(r)) return false;
  tbi_scene_finish_robots(r);
  if (tbi_ok(r->error)) tbi_scene_start_motions(r, t.timestep);
  if (tbi_ok(r->error)) complete_model(r, t.connections);
  tbi_scene_read_forces(r, t.forces);
  if (!tbi_ok(r->error)) return false;
  r->scene->world = tabi_world_def_default(r->scene->model);
  r->scene->world.timestep = t.timestep;
  r->scene->world.sleep = t.sleep;
  memcpy(r->scene->world.gravity, t.gravity, sizeof t.gravity);
  if (!tbi_scene_read_world(r, tbi_yaml_child(root, "integrator"), t.contact) ||
      !tbi_scene_check_servos(r))
    return false;
  tbi_scene_warn_couples(r);
  if (t.gait && r->scene->nmotion > 0) {
    return tbi_fail_about(r->error, t.gait->place, "gait: ",
                          "a planar biped walks without bodies or joints that have motion");
  }
  tbi_scene_read_gait(r, t.gait, t.contact);
  return read_log(r, t.log) && read_check(r, t.check) && tbi_scene_settle(r);
}

static bool rename_old_keys(const tbi_scene_reader *r, const tbi_yaml_node *root) {
  const tbi_yaml_node *contact = tbi_yaml_child(root, "contact");
  return !contact || tbi_scene_rename_contact(r, contact);
}

/* Old keys are renamed after each text, so that a later assignment replaces what stood there,
 * whichever of the two names either uses. */
static void read_tree(tbi_scene_reader *r, tbi_yaml *yaml) {
  bool good = rename_old_keys(r, tbi_yaml_root(yaml));
  for (int32_t i = 0; i < r->def->nset && good; ++i) {
    good = tbi_take(r->error, tbi_yaml_assign(yaml, r->def->set[i], r->error->err)) &&
           rename_old_keys(r, tbi_yaml_root(yaml));
  }
  if (tbi_ok(r->error)) read_scene(r, tbi_yaml_root(yaml));
}

static void read_yaml(tbi_scene_reader *r, const char *text, size_t size) {
  tbi_yaml *yaml = NULL;
  if (tbi_take(r->error, tbi_yaml_parse(text, size, r->path, &yaml, r->error->err)))
    read_tree(r, yaml);
  if (tbi_ok(r->error)) tbi_scene_keep_source(r, text, size);
  tbi_yaml_destroy(yaml);
}

static void read_text(tbi_scene_reader *r, const char *text, size_t size) {
  if (!tbi_scene_is_xml(text, size)) {
    read_yaml(r, text, size);
    return;
  }
  size_t length = 0;
  char *yaml = tbi_scene_from_xml(r, text, size, &length);
  if (yaml) read_yaml(r, yaml, length);
  free(yaml);
}

static bool check_def(tbi_first_error *error, const tabi_scene_def *def) {
  const tabi_place nowhere = {NULL, 0};
  if (def->def_size != sizeof *def) {
    return tbi_fail_at(error, TABI_ERR_ARGUMENT, nowhere,
                       "tabi_scene_def was not made by tabi_scene_def_default()");
  }
  bool complete = def->nset == 0 || (def->nset > 0 && def->set);
  for (int32_t i = 0; i < def->nset && complete; ++i)
    complete = def->set[i];
  if (complete) return true;
  return tbi_fail_at(error, TABI_ERR_ARGUMENT, nowhere,
                     "tabi_scene_def: nset is %d, but set does not hold so many texts",
                     (int)def->nset);
}

tabi_scene *tabi_scene_load_text(const char *text, size_t size, const char *path,
                                 const tabi_scene_def *def, tabi_error *err) {
  TBI_ASSERT(path && (text || size == 0));
  const tabi_scene_def defaults = tabi_scene_def_default();
  if (!def) def = &defaults;
  tbi_first_error error = {.err = err};
  if (!check_def(&error, def)) return NULL;
  tbi_scene_reader r = {.def = def, .path = path, .error = &error};
  r.scene = calloc(1, sizeof *r.scene);
  r.builder = tabi_builder_create();
  if (r.scene && r.builder) {
    read_text(&r, text, size);
  } else {
    tbi_fail_memory(&error);
  }
  tabi_builder_destroy(r.builder);
  free(r.velocities);
  free(r.robots);
  free(r.servos);
  if (tbi_ok(&error)) return r.scene;
  tabi_scene_destroy(r.scene);
  return NULL;
}

tabi_scene *tabi_scene_load(const char *path, const tabi_scene_def *def, tabi_error *err) {
  TBI_ASSERT(path);
  char *text = NULL;
  size_t size = 0;
  const tabi_place itself = {NULL, 0};
  if (tbi_file_read(path, TBI_YAML_MAX_BYTES, itself, &text, &size, err) != TABI_OK) return NULL;
  tabi_scene *scene = tabi_scene_load_text(text, size, path, def, err);
  free(text);
  return scene;
}

void tabi_scene_destroy(tabi_scene *scene) {
  if (!scene) return;
  tbi_scene_free_robots(scene);
  tabi_gait_destroy(scene->gait);
  tabi_model_destroy(scene->model);
  tabi_model_destroy(scene->draft);
  free(scene->q);
  free(scene->v);
  free(scene->u);
  tbi_scene_free_forces(scene);
  tbi_scene_free_motions(scene);
  free(scene->signals);
  free(scene->source);
  free(scene->set);
  tbi_text_free(&scene->text);
  free(scene);
}
