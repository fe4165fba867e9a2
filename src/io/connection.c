/* connection.c - connections from YAML.
 *
 * One table says which keys a type of connection may and must have.  Frame a is given in link a;
 * the parts of frame b that are not given are those of frame a in the posture, so that a connection
 * is closed there unless both sides are given. */
#include "io/connection.h"

#include "base/assertion.h"
#include "base/error.h"
#include "dynamics/connection_error.h"
#include "io/fields.h"
#include "math/quat.h"
#include "model/builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHAT_SIZE 160
#define MAX_TEXT  512

/* Keys by which types differ, as bits. */
enum {
  AT_B = 1,
  AXIS = 2,
  TURN = 4,
  AXES = 8,
  LENGTH = 16,
  SPRING = 32,
  JOINS = 64,
};

static const struct {
  const char *name;
  unsigned allowed, needed;
} types[] = {
    [TABI_CONNECTION_BALL] = {"ball",   AT_B | JOINS,               0   },
    [TABI_CONNECTION_HINGE] = {"hinge",  AT_B | AXIS | JOINS,        AXIS},
    [TABI_CONNECTION_FIXED] = {"fixed",  AT_B | TURN | JOINS,        0   },
    [TABI_CONNECTION_AXES] = {"axes",   AT_B | TURN | AXES | JOINS, AXES},
    [TABI_CONNECTION_ROD] = {"rod",    AT_B | LENGTH,              AT_B},
    [TABI_CONNECTION_SPRING] = {"spring", AT_B | SPRING,              AT_B},
};

typedef struct keys {
  const char *type, *name, *a, *b;
  const tbi_yaml_node *at, *at_b, *axis, *axis_b, *rpy, *quat, *rpy_b, *quat_b, *axes;
  double length, rest_length, stiffness, damping; /* NAN: not given */
  bool collide;
} keys;

static const tbi_field fields[] = {
    {"type",      TBI_FIELD_WORD,         offsetof(keys, type)       },
    {"name",      TBI_FIELD_WORD,         offsetof(keys, name)       },
    {"a",         TBI_FIELD_WORD,         offsetof(keys, a)          },
    {"b",         TBI_FIELD_WORD,         offsetof(keys, b)          },
    {"at",        TBI_FIELD_NODE,         offsetof(keys, at)         },
    {"at_b",      TBI_FIELD_NODE,         offsetof(keys, at_b)       },
    {"axis",      TBI_FIELD_NODE,         offsetof(keys, axis)       },
    {"axis_b",    TBI_FIELD_NODE,         offsetof(keys, axis_b)     },
    {"rpy",       TBI_FIELD_NODE,         offsetof(keys, rpy)        },
    {"quat",      TBI_FIELD_NODE,         offsetof(keys, quat)       },
    {"rpy_b",     TBI_FIELD_NODE,         offsetof(keys, rpy_b)      },
    {"quat_b",    TBI_FIELD_NODE,         offsetof(keys, quat_b)     },
    {"axes",      TBI_FIELD_LIST,         offsetof(keys, axes)       },
    {"length",    TBI_FIELD_POSITIVE,     offsetof(keys, length)     },
    {"rest",      TBI_FIELD_NOT_NEGATIVE, offsetof(keys, rest_length)},
    {"stiffness", TBI_FIELD_NOT_NEGATIVE, offsetof(keys, stiffness)  },
    {"damping",   TBI_FIELD_NOT_NEGATIVE, offsetof(keys, damping)    },
    {"collide",   TBI_FIELD_BOOL,         offsetof(keys, collide)    },
};

/* Which bit a key belongs to. */
static const struct {
  const char *key;
  unsigned bit;
} special[] = {
    {"at_b",      AT_B  },
    {"axis",      AXIS  },
    {"axis_b",    AXIS  },
    {"rpy",       TURN  },
    {"quat",      TURN  },
    {"rpy_b",     TURN  },
    {"quat_b",    TURN  },
    {"axes",      AXES  },
    {"length",    LENGTH},
    {"rest",      SPRING},
    {"damping",   SPRING},
    {"stiffness", SPRING},
    {"collide",   JOINS },
};
#define NSPECIAL (sizeof special / sizeof *special)

/* A connection on its way into the builder. */
typedef struct reader {
  tbi_first_error *error;
  const tbi_connections *list;
  const tabi_dynamics *dynamics;
  const tbi_yaml_node *node;
  char what[WHAT_SIZE];
  keys keys;
  tabi_connection_def def;
} reader;

/* A link's frame in the world. */
typedef struct pose {
  v3 pos;
  q4 rot;
} pose;

static pose pose_of(const reader *r, int32_t link) {
  TBI_ASSERT(link == TABI_WORLD || tbi_builder_is_link(r->list->find.builder, link));
  if (link == TABI_WORLD) return (pose){v3_zero(), q_identity()};
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(r->dynamics, link, pos, quat);
  return (pose){v3_load(pos), q_load(quat)};
}

static q4 back(q4 rotation) { return (q4){rotation.w, -rotation.x, -rotation.y, -rotation.z}; }

static v3 turn(q4 rotation, v3 v) {
  m3 matrix = q_matrix(rotation);
  return m3_mulv(&matrix, v);
}

static v3 to_world(const pose *p, v3 point) { return v3_add(p->pos, turn(p->rot, point)); }

static v3 from_world(const pose *p, v3 point) { return turn(back(p->rot), v3_sub(point, p->pos)); }

/* TABI_WORLD for the world, and after an error. */
static int32_t find_link(const reader *r, const char *key, const char *name) {
  const tbi_yaml_node *node = tbi_yaml_child(r->node, key);
  if (!name) {
    tbi_fail_about(r->error, r->node->place, r->what, "%s is missing: the name of a link", key);
    return TABI_WORLD;
  }
  int32_t link = tbi_find(&r->list->find, TBI_LINK, name);
  if (link != TABI_NONE) return link;
  if (strcmp(name, "world") != 0) {
    tbi_find_fail(&r->list->find, TBI_LINK, node, r->what, name,
                  r->list->has_world ? "world" : NULL);
    return TABI_WORLD;
  }
  if (!r->list->has_world) {
    tbi_fail_about(r->error, node->place, r->what,
                   "a robot's own file cannot hang it on the world; let a scene do it");
  }
  return TABI_WORLD;
}

static int32_t body_of(const reader *r, int32_t link) {
  return link == TABI_WORLD ? TABI_WORLD : tabi_model_link_body(r->list->model, link);
}

static bool find_links(reader *r) {
  r->def.a = find_link(r, "a", r->keys.a);
  r->def.b = find_link(r, "b", r->keys.b);
  if (body_of(r, r->def.a) != body_of(r, r->def.b)) return true;
  return tbi_fail_about(r->error, r->node->place, r->what,
                        "'%.60s' and '%.60s' cannot move against each other; name two links with a "
                        "moving joint between them",
                        r->keys.a, r->keys.b);
}

static bool find_type(reader *r) {
  if (!r->keys.type)
    return tbi_fail_about(r->error, r->node->place, r->what,
                          "type is missing (ball, hinge, fixed, axes, rod, spring)");
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (strcmp(types[i].name, r->keys.type) != 0) continue;
    r->def.type = (tabi_connection_type)i;
    return true;
  }
  return tbi_fail_about(r->error, tbi_yaml_child(r->node, "type")->place, r->what,
                        "unknown type '%.40s' (ball, hinge, fixed, axes, rod, spring)",
                        r->keys.type);
}

/* What a type has no use for was meant for another one. */
static bool fail_key(const reader *r, const tbi_yaml_node *node) {
  char known[MAX_TEXT] = "at";
  size_t used = strlen(known);
  for (size_t i = 0; i < NSPECIAL; ++i) {
    if (!(types[r->def.type].allowed & special[i].bit)) continue;
    int written = snprintf(known + used, sizeof known - used, ", %s", special[i].key);
    if (written < 0 || (size_t)written >= sizeof known - used) break;
    used += (size_t)written;
  }
  return tbi_fail_about(r->error, node->place, r->what, "type %s has no '%s' (%s)",
                        types[r->def.type].name, node->key, known);
}

static bool check_keys(const reader *r) {
  const char *type = types[r->def.type].name;
  for (size_t i = 0; i < NSPECIAL; ++i) {
    const tbi_yaml_node *node = tbi_yaml_child(r->node, special[i].key);
    if (node && !(types[r->def.type].allowed & special[i].bit)) return fail_key(r, node);
  }
  unsigned needed = types[r->def.type].needed;
  if ((needed & AXIS) && !r->keys.axis)
    return tbi_fail_about(r->error, r->node->place, r->what,
                          "type hinge needs axis: [x, y, z], in the frame of a");
  if ((needed & AXES) && !r->keys.axes)
    return tbi_fail_about(r->error, r->node->place, r->what,
                          "type axes needs axes: a list of x, y, z, rx, ry, rz");
  if ((needed & AT_B) && !r->keys.at_b)
    return tbi_fail_about(r->error, r->node->place, r->what,
                          "type %s needs at_b: [x, y, z], its point of b", type);
  return true;
}

static bool read_axes(reader *r) {
  static const char *const names[6] = {"x", "y", "z", "rx", "ry", "rz"};
  r->def.axes = 0;
  for (const tbi_yaml_node *item = r->keys.axes ? r->keys.axes->first : NULL; item;
       item = item->next) {
    unsigned bit = 0;
    for (unsigned i = 0; i < 6 && item->kind == TBI_YAML_SCALAR; ++i) {
      if (strcmp(item->text, names[i]) == 0) bit = 1U << i;
    }
    if (bit == 0) {
      return tbi_fail_about(r->error, item->place, r->what,
                            "axes: '%.20s' is none of x, y, z, rx, ry, rz",
                            item->kind == TBI_YAML_SCALAR ? item->text : "[..]");
    }
    if (r->def.axes & bit)
      return tbi_fail_about(r->error, item->place, r->what, "axes: %s is named twice", item->text);
    r->def.axes |= bit;
  }
  if (r->def.axes == 0)
    return tbi_fail_about(r->error, r->keys.axes->place, r->what, "axes is empty");
  return true;
}

/* A rotation that brings z to the axis. */
static bool read_axis(const reader *r, const tbi_yaml_node *node, q4 *rotation) {
  double axis[3];
  if (!tbi_fields_numbers(r->error, node, r->what, node->key, axis, 3)) return false;
  double length = v3_norm(v3_load(axis));
  if (!(length > 0) || !isfinite(length)) {
    return tbi_fail_about(r->error, node->place, r->what,
                          "%s has no direction; give a vector that is not zero", node->key);
  }
  v3 to = v3_scale(1 / length, v3_load(axis));
  v3 across = v3_cross(v3_make(0, 0, 1), to);
  double sine = v3_norm(across);
  double angle = atan2(sine, to.z);
  v3 about = sine > 0 ? v3_scale(1 / sine, across) : v3_make(1, 0, 0);
  *rotation = q_exp(v3_scale(angle, about));
  return true;
}

/* How a side of a connection is turned, as far as its keys say. */
static void read_turn(const reader *r, const tbi_yaml_node *axis, const tbi_yaml_node *rpy,
                      const tbi_yaml_node *quat, q4 *rotation) {
  if (axis) read_axis(r, axis, rotation);
  if (!rpy && !quat) return;
  double values[4];
  tbi_fields_rotation(r->error, rpy, quat, r->what, values);
  *rotation = q_load(values);
}

static void read_frame_a(reader *r) {
  q4 rotation = q_identity();
  // the point does not matter to a connection of all six axes, or of rotations only
  bool any_point = r->def.type == TABI_CONNECTION_FIXED ||
                   (r->def.type == TABI_CONNECTION_AXES &&
                    (r->def.axes & (TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z)) == 0);
  if (r->keys.at) {
    tbi_fields_numbers(r->error, r->keys.at, r->what, "at", r->def.pos_a, 3);
  } else if (!any_point) {
    tbi_fail_about(r->error, r->node->place, r->what, "at is missing: [x, y, z], its point of a");
  }
  read_turn(r, r->keys.axis, r->keys.rpy, r->keys.quat, &rotation);
  q_store(rotation, r->def.quat_a);
}

static void read_frame_b(reader *r) {
  pose a = pose_of(r, r->def.a);
  pose b = pose_of(r, r->def.b);
  v3_store(from_world(&b, to_world(&a, v3_load(r->def.pos_a))), r->def.pos_b);
  q4 rotation = q_normalize(q_mul(back(b.rot), q_mul(a.rot, q_load(r->def.quat_a))));
  if (r->keys.at_b) tbi_fields_numbers(r->error, r->keys.at_b, r->what, "at_b", r->def.pos_b, 3);
  read_turn(r, r->keys.axis_b, r->keys.rpy_b, r->keys.quat_b, &rotation);
  q_store(rotation, r->def.quat_b);
}

/* The length of a rod or spring that says none is what it is in the posture. */
static bool read_length(reader *r) {
  double given = r->def.type == TABI_CONNECTION_ROD ? r->keys.length : r->keys.rest_length;
  pose a = pose_of(r, r->def.a);
  pose b = pose_of(r, r->def.b);
  v3 apart = v3_sub(to_world(&b, v3_load(r->def.pos_b)), to_world(&a, v3_load(r->def.pos_a)));
  r->def.length = isnan(given) ? v3_norm(apart) : given;
  if (r->def.type == TABI_CONNECTION_ROD) {
    if (r->def.length > 0) return true;
    return tbi_fail_about(r->error, r->node->place, r->what,
                          "its ends meet in the initial posture; give length, or use type ball");
  }
  r->def.stiffness = isnan(r->keys.stiffness) ? 0 : r->keys.stiffness;
  r->def.damping = isnan(r->keys.damping) ? 0 : r->keys.damping;
  if (r->def.stiffness + r->def.damping > 0) return true;
  return tbi_fail_about(r->error, r->node->place, r->what,
                        "type spring needs stiffness or damping");
}

static void add(const reader *r) {
  char text[MAX_TEXT];
  const char *prefix = r->list->find.prefix;
  if (r->keys.name) {
    (void)snprintf(text, sizeof text, "%.200s%.200s", prefix, r->keys.name);
  } else {
    (void)snprintf(text, sizeof text, "%.150s%.150s to %.150s", prefix, r->keys.a, r->keys.b);
  }
  tabi_connection_def def = r->def;
  def.name = text;
  def.place = r->node->place;
  (void)tabi_builder_add_connection(r->list->find.builder, &def);
  tbi_take_builder(r->error, r->list->find.builder);
}

static void read_one(const tbi_connections *list, const tabi_dynamics *dynamics,
                     const tbi_yaml_node *node) {
  reader r = {
      .error = list->find.error,
      .list = list,
      .dynamics = dynamics,
      .node = node,
      .keys = {.length = NAN, .rest_length = NAN, .stiffness = NAN, .damping = NAN},
      .def = tabi_connection_def_default()
  };
  const tbi_yaml_node *name = tbi_yaml_child(node, "name");
  (void)snprintf(r.what, sizeof r.what, "connection: ");
  if (name) (void)snprintf(r.what, sizeof r.what, "connection '%.60s': ", name->text);
  if (!tbi_fields_read(r.error, node, r.what, TBI_FIELDS(fields), &r.keys)) return;
  r.def.collide = r.keys.collide;
  find_type(&r);
  check_keys(&r);
  find_links(&r);
  if (r.keys.axes) read_axes(&r);
  read_frame_a(&r);
  read_frame_b(&r);
  if (types[r.def.type].allowed & (LENGTH | SPRING)) read_length(&r);
  if (tbi_ok(r.error)) add(&r);
}

/* The dynamics of a model at rest in a posture; NULL after an error. */
static tabi_dynamics *at_rest(tbi_first_error *error, const tabi_model *model, const double *q) {
  tabi_error err = {0};
  double *v = calloc((size_t)tabi_model_nv(model) + 1, sizeof *v);
  tabi_dynamics *dynamics = v ? tabi_dynamics_create(model, &err) : NULL;
  if (!v) tbi_fail_memory(error);
  if (v && !dynamics) tbi_fail_as(error, &err);
  if (dynamics) tabi_dynamics_set_state(dynamics, q, v);
  free(v);
  return dynamics;
}

bool tbi_connections_read(const tbi_connections *list, const tbi_yaml_node *nodes) {
  TBI_ASSERT(tabi_model_nlink(list->model) == tabi_builder_nlink(list->find.builder));
  tbi_first_error *error = list->find.error;
  tabi_dynamics *dynamics = at_rest(error, list->model, list->q);
  for (const tbi_yaml_node *node = nodes->first; node && tbi_ok(error); node = node->next)
    read_one(list, dynamics, node);
  tabi_dynamics_destroy(dynamics);
  return tbi_ok(error);
}

static void warn_open(const tabi_connection_def *c, const tbi_connection_error *error,
                      tabi_warning_fn *warn, void *user) {
  bool apart = error->gap > TBI_CONNECTION_GAP;
  if (!apart && error->turn <= TBI_CONNECTION_TURN) return;
  tbi_tell(warn, user, TABI_SEVERITY_WARNING, c->place,
           "connection '%.100s' is %s by %.3g %s in the initial state; give a posture "
           "in which it closes",
           tbi_shown(c->name), apart ? "open" : "twisted", apart ? error->gap : error->turn,
           apart ? "m" : "rad");
}

bool tbi_connections_warn(tbi_first_error *error, const tabi_model *model, const double *q,
                          tabi_warning_fn *warn, void *user) {
  if (!warn || tabi_model_nconnection(model) == 0) return tbi_ok(error);
  tabi_dynamics *dynamics = at_rest(error, model, q);
  for (int32_t i = 0; dynamics && i < tabi_model_nconnection(model); ++i) {
    tabi_connection_def c = tabi_model_connection(model, i);
    tbi_connection_error opening = tbi_connection_error_of(dynamics, &c);
    warn_open(&c, &opening, warn, user);
  }
  (void)tabi_model_check_joined(model, q, warn, user);
  tabi_dynamics_destroy(dynamics);
  return tbi_ok(error);
}
