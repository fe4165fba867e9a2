/* gait.c - the planar biped of contact method gait: its feet, the forces that drive it, its
 * settings.
 *
 * Keys and links are read and checked under every contact method, so that a mistake is reported at
 * once; the biped itself is made for that model alone. */
#include "scene/scene.h"

#include "base/assertion.h"
#include "io/suggest.h"
#include "model/builder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WHAT      "gait: "
#define MAX_ITEMS 256 /* forces, floors */

typedef struct gait_keys {
  tabi_gait_def def;
  const tbi_yaml_node *feet, *forces, *floors, *support_friction;
  const char *support, *events, *guards, *impact;
} gait_keys;

static const tbi_field gait_fields[] = {
    {"feet",             TBI_FIELD_LIST,         offsetof(gait_keys, feet)             },
    {"support",          TBI_FIELD_WORD,         offsetof(gait_keys, support)          },
    {"start",            TBI_FIELD_WORD,         offsetof(gait_keys, def.initial_mode) },
    {"events",           TBI_FIELD_WORD,         offsetof(gait_keys, events)           },
    {"guards",           TBI_FIELD_WORD,         offsetof(gait_keys, guards)           },
    {"impact",           TBI_FIELD_WORD,         offsetof(gait_keys, impact)           },
    {"friction",         TBI_FIELD_NOT_NEGATIVE, offsetof(gait_keys, def.friction)     },
    {"support_friction", TBI_FIELD_NODE,         offsetof(gait_keys, support_friction) },
    {"slip_stop",        TBI_FIELD_POSITIVE,     offsetof(gait_keys, def.slip_stop)    },
    {"pivot_damping",    TBI_FIELD_NOT_NEGATIVE, offsetof(gait_keys, def.pivot_damping)},
    {"least_stride",     TBI_FIELD_NUMBER,       offsetof(gait_keys, def.min_stride)   },
    {"scuff",            TBI_FIELD_NOT_NEGATIVE, offsetof(gait_keys, def.scuff)        },
    {"sink",             TBI_FIELD_NOT_NEGATIVE, offsetof(gait_keys, def.sink)         },
    {"forces",           TBI_FIELD_LIST,         offsetof(gait_keys, forces)           },
    {"floors",           TBI_FIELD_LIST,         offsetof(gait_keys, floors)           },
};

typedef struct foot_keys {
  const char *link;
  const tbi_yaml_node *heel, *toe;
} foot_keys;

static const tbi_field foot_fields[] = {
    {"link", TBI_FIELD_WORD, offsetof(foot_keys, link)},
    {"heel", TBI_FIELD_NODE, offsetof(foot_keys, heel)},
    {"toe",  TBI_FIELD_NODE, offsetof(foot_keys, toe) },
};

typedef struct force_keys {
  const char *link;
  const tbi_yaml_node *links, *amplitude, *period;
  double at[3];
} force_keys;

static const tbi_field force_fields[] = {
    {"link",      TBI_FIELD_WORD,   offsetof(force_keys, link)     },
    {"links",     TBI_FIELD_LIST,   offsetof(force_keys, links)    },
    {"at",        TBI_FIELD_VECTOR, offsetof(force_keys, at)       },
    {"amplitude", TBI_FIELD_NODE,   offsetof(force_keys, amplitude)},
    {"period",    TBI_FIELD_NODE,   offsetof(force_keys, period)   },
};

typedef struct floor_keys {
  const char *link;
  double height;
} floor_keys;

static const tbi_field floor_fields[] = {
    {"link",   TBI_FIELD_WORD,   offsetof(floor_keys, link)  },
    {"height", TBI_FIELD_NUMBER, offsetof(floor_keys, height)},
};

/* The part of "robot/link" behind the robot. */
static const char *own_name(const char *name) {
  const char *slash = strrchr(name, '/');
  return slash ? slash + 1 : name;
}

static bool fail_link(const tbi_scene_reader *r, const tbi_yaml_node *node, const char *name) {
  tbi_suggestion nearest = tbi_suggest_begin(name);
  for (int32_t i = 0; i < tabi_builder_nlink(r->builder); ++i) {
    const char *known = tbi_builder_link(r->builder, i)->name;
    if (!known) continue;
    tbi_suggest_add(&nearest, known);
    if (!strchr(name, '/')) tbi_suggest_add(&nearest, own_name(known));
  }
  char hint[TBI_HINT_SIZE];
  return tbi_fail_about(r->error, node->place, WHAT, "no link is called '%.60s'%s", name,
                        tbi_suggest_hint(&nearest, hint));
}

/* A link by its whole name, or without the robot's if only one robot has it; TABI_NONE after an
 * error. */
static int32_t find_link(const tbi_scene_reader *r, const tbi_yaml_node *node, const char *name) {
  int32_t link = tabi_builder_find_link(r->builder, name);
  if (link != TABI_NONE) return link;
  for (int32_t i = 0; i < tabi_builder_nlink(r->builder); ++i) {
    const char *known = tbi_builder_link(r->builder, i)->name;
    if (!known || strcmp(own_name(known), name) != 0) continue;
    if (link != TABI_NONE) {
      tbi_fail_about(r->error, node->place, WHAT,
                     "more than one robot has a link '%.60s'; write robot/link", name);
      return TABI_NONE;
    }
    link = i;
  }
  if (link == TABI_NONE) fail_link(r, node, name);
  return link;
}

/* The link that a key of a map names. */
static int32_t need_link(const tbi_scene_reader *r, const tbi_yaml_node *map, const char *item) {
  const tbi_yaml_node *node = tbi_yaml_child(map, "link");
  if (node) return find_link(r, node, node->text);
  tbi_fail_about(r->error, map->place, WHAT, "%s: link is missing", item);
  return TABI_NONE;
}

/* One of a few words into an enum. */
static bool read_word(const tbi_scene_reader *r, const tbi_yaml_node *map, const char *key,
                      const char *const words[2], unsigned *choice) {
  const tbi_yaml_node *node = tbi_yaml_child(map, key);
  if (!node) return true;
  for (unsigned i = 0; i < 2; ++i) {
    if (strcmp(node->text, words[i]) != 0) continue;
    *choice = i;
    return true;
  }
  return tbi_fail_about(r->error, node->place, WHAT, "%s must be %s or %s, not '%.40s'", key,
                        words[0], words[1], node->text);
}

static void read_words(const tbi_scene_reader *r, const tbi_yaml_node *map, tabi_gait_def *def) {
  static const char *const events[2] = {"located", "step"};
  static const char *const guards[2] = {"strict", "paper"};
  static const char *const impacts[2] = {"normal", "coulomb"};
  unsigned chosen[3] = {TABI_GAIT_LOCATED, TABI_GAIT_STRICT, TABI_GAIT_NORMAL};
  read_word(r, map, "events", events, &chosen[0]);
  read_word(r, map, "guards", guards, &chosen[1]);
  read_word(r, map, "impact", impacts, &chosen[2]);
  def->events = (tabi_gait_events)chosen[0];
  def->guards = (tabi_gait_guards)chosen[1];
  def->impact = (tabi_gait_impact)chosen[2];
}

/* The modes are known to the gait itself. */
static bool check_start(const tbi_scene_reader *r, const tbi_yaml_node *map, const char *start) {
  if (tabi_gait_find_mode(start) != TABI_NONE) return true;
  return tbi_fail_about(r->error, tbi_yaml_child(map, "start")->place, WHAT,
                        "start '%.20s' is not a mode; write one of \"1\" to \"4\"", start);
}

/* Infinite, as YAML or as C spells it: the foot never slips. */
static bool read_support_friction(const tbi_scene_reader *r, const tbi_yaml_node *node,
                                  double *friction) {
  if (!node) return true;
  *friction = HUGE_VAL;
  bool scalar = node->kind == TBI_YAML_SCALAR;
  if (scalar && (strcmp(node->text, ".inf") == 0 || strcmp(node->text, "inf") == 0)) return true;
  if (!tbi_fields_number(r->error, node, WHAT, "support_friction", friction)) return false;
  if (*friction >= 0) return true;
  return tbi_fail_about(r->error, node->place, WHAT,
                        "support_friction %s must be >= 0, or .inf: never slips", node->text);
}

static bool read_foot(const tbi_scene_reader *r, const tbi_yaml_node *node, tabi_gait_foot *foot) {
  const char *what = WHAT "foot: ";
  foot_keys keys = {0};
  if (!tbi_fields_read(r->error, node, what, TBI_FIELDS(foot_fields), &keys)) return false;
  foot->link = need_link(r, node, "foot");
  if (!keys.heel || !keys.toe) {
    return tbi_fail_about(r->error, node->place, what,
                          "%s is missing: [x, y, z] in the link's frame",
                          keys.heel ? "toe" : "heel");
  }
  tbi_fields_numbers(r->error, keys.heel, what, "heel", foot->heel, 3);
  tbi_fields_numbers(r->error, keys.toe, what, "toe", foot->toe, 3);
  for (int i = 0; i < 3; ++i) {
    if (foot->toe[i] != foot->heel[i]) return tbi_ok(r->error);
  }
  return tbi_fail_about(r->error, keys.toe->place, what, "toe must be ahead of heel");
}

static bool read_support(const tbi_scene_reader *r, const tbi_yaml_node *map, gait_keys *keys) {
  const tabi_gait_foot *foot = keys->def.foot;
  const tbi_yaml_node *node = tbi_yaml_child(map, "support");
  int32_t link = find_link(r, node, keys->support);
  keys->def.initial_support = link == foot[1].link;
  if (link == foot[keys->def.initial_support].link) return tbi_ok(r->error);
  return tbi_fail_about(r->error, node->place, WHAT, "support '%.60s' is not one of the feet",
                        keys->support);
}

static bool read_feet(const tbi_scene_reader *r, const tbi_yaml_node *map, gait_keys *keys) {
  tabi_gait_foot *foot = keys->def.foot;
  if (!keys->feet || keys->feet->count != 2) {
    return tbi_fail_about(r->error, (keys->feet ? keys->feet : map)->place, WHAT,
                          "feet must be two: [{link, heel: [x, y, z], toe: [x, y, z]}, {...}]");
  }
  if (!read_foot(r, keys->feet->first, &foot[0]) || !read_foot(r, keys->feet->last, &foot[1]))
    return false;
  if (foot[0].link == foot[1].link) {
    return tbi_fail_about(r->error, keys->feet->last->place, WHAT,
                          "both feet are '%.60s'; name two links",
                          tbi_builder_link(r->builder, foot[0].link)->name);
  }
  return !keys->support || read_support(r, map, keys);
}

/* One number for x and z, or [x, z]. */
static bool read_period(const tbi_scene_reader *r, const tbi_yaml_node *node, double period[2]) {
  const char *what = WHAT "force: ";
  if (!node) return tbi_ok(r->error);
  if (node->kind == TBI_YAML_LIST) {
    tbi_fields_numbers(r->error, node, what, "period", period, 2);
  } else {
    tbi_fields_number(r->error, node, what, "period", period);
    period[1] = period[0];
  }
  if (period[0] >= 0 && period[1] >= 0) return tbi_ok(r->error);
  return tbi_fail_about(r->error, node->place, what, "period must be >= 0; 0: a constant force");
}

static bool read_force_links(const tbi_scene_reader *r, const tbi_yaml_node *node,
                             const tbi_yaml_node *links, int32_t link[2]) {
  if (!links) {
    link[0] = link[1] = need_link(r, node, "force");
    return tbi_ok(r->error);
  }
  bool pair = links->count == 2 && links->first->kind == TBI_YAML_SCALAR &&
              links->last->kind == TBI_YAML_SCALAR && !tbi_yaml_child(node, "link");
  if (!pair) {
    return tbi_fail_about(r->error, links->place, WHAT "force: ",
                          "give link, or links: [while the first foot supports, the second]");
  }
  link[0] = find_link(r, links->first, links->first->text);
  link[1] = find_link(r, links->last, links->last->text);
  return tbi_ok(r->error);
}

static bool read_force(const tbi_scene_reader *r, const tbi_yaml_node *node,
                       tabi_gait_force *force) {
  const char *what = WHAT "force: ";
  force_keys keys = {0};
  if (!tbi_fields_read(r->error, node, what, TBI_FIELDS(force_fields), &keys)) return false;
  read_force_links(r, node, keys.links, force->link);
  memcpy(force->point, keys.at, sizeof keys.at);
  if (!keys.amplitude) {
    return tbi_fail_about(r->error, node->place, what, "amplitude is missing: [x, z] in N");
  }
  tbi_fields_numbers(r->error, keys.amplitude, what, "amplitude", force->amplitude, 2);
  return read_period(r, keys.period, force->period);
}

static bool read_floor(const tbi_scene_reader *r, const tbi_yaml_node *node,
                       tabi_gait_floor *floor) {
  floor_keys keys = {0};
  if (!tbi_fields_read(r->error, node, WHAT "floor: ", TBI_FIELDS(floor_fields), &keys))
    return false;
  floor->link = need_link(r, node, "floor");
  floor->height = keys.height;
  return tbi_ok(r->error);
}

static int32_t count_of(const tbi_yaml_node *list) { return list ? list->count : 0; }

static void read_items(const tbi_scene_reader *r, const gait_keys *keys, tabi_gait_force *force,
                       tabi_gait_floor *floor) {
  const tbi_yaml_node *node = keys->forces ? keys->forces->first : NULL;
  for (; node && tbi_ok(r->error); node = node->next)
    read_force(r, node, force++);
  node = keys->floors ? keys->floors->first : NULL;
  for (; node && tbi_ok(r->error); node = node->next)
    read_floor(r, node, floor++);
}

/* What is left to complain of is the robot. */
static bool make(tbi_scene_reader *r, const tbi_yaml_node *map, const tabi_gait_def *def) {
  TBI_ASSERT(!r->scene->gait && def->nforce <= MAX_ITEMS && def->nfloor <= MAX_ITEMS);
  tabi_error err = {0};
  if (r->scene->nforce > 0) {
    return tbi_fail_about(r->error, map->place, WHAT,
                          "contact method gait allows no external forces; remove the scene's "
                          "forces, or use another method");
  }
  r->scene->gait = tabi_gait_create(r->scene->model, def, &err);
  r->scene->world.gait.biped = r->scene->gait;
  if (r->scene->gait) return true;
  if (err.status == TABI_ERR_MEMORY) return tbi_fail_memory(r->error);
  return tbi_fail_about(r->error, map->place, "",
                        "%.300s; correct it, or use another contact method", err.message);
}

static bool uses_gait(const tbi_scene_reader *r) {
  return tabi_contact_describe(r->scene->world.contact)->planar_biped;
}

static void read_and_make(tbi_scene_reader *r, const tbi_yaml_node *map, gait_keys *keys) {
  tabi_gait_def *def = &keys->def;
  def->nforce = count_of(keys->forces);
  def->nfloor = count_of(keys->floors);
  tabi_gait_force *force = calloc((size_t)def->nforce + 1, sizeof *force);
  tabi_gait_floor *floor = calloc((size_t)def->nfloor + 1, sizeof *floor);
  def->force = force;
  def->floor = floor;
  if (force && floor) {
    read_items(r, keys, force, floor);
  } else {
    tbi_fail_memory(r->error);
  }
  if (tbi_ok(r->error) && uses_gait(r)) make(r, map, def);
  free(force);
  free(floor);
}

bool tbi_scene_read_gait(tbi_scene_reader *r, const tbi_yaml_node *map,
                         const tbi_yaml_node *contact) {
  if (!tbi_ok(r->error)) return false;
  if (!map) {
    if (!uses_gait(r)) return true;
    return tbi_fail_about(r->error, tbi_yaml_child(contact, "model")->place, "contact: ",
                          "model gait needs a section 'gait:' with two feet (docs/gait.md); add "
                          "it, or take another model");
  }
  gait_keys keys = {.def = tabi_gait_def_default()};
  if (!tbi_fields_read(r->error, map, WHAT, TBI_FIELDS(gait_fields), &keys)) return false;
  read_words(r, map, &keys.def);
  check_start(r, map, keys.def.initial_mode);
  read_support_friction(r, keys.support_friction, &keys.def.support_friction);
  read_feet(r, map, &keys);
  if (count_of(keys.forces) > MAX_ITEMS || count_of(keys.floors) > MAX_ITEMS)
    tbi_fail_about(r->error, map->place, WHAT, "more than %d forces or floors", MAX_ITEMS);
  if (tbi_ok(r->error)) read_and_make(r, map, &keys);
  return tbi_ok(r->error);
}
