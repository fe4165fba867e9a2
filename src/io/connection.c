/* connection.c - connections from YAML.
 *
 * What a connection may and must say depends on its type, by one table.  Frame a is given in link
 * a; of frame b whatever is not given is taken from where frame a is in the posture, so that a
 * connection is closed there unless both sides are spelt out. */
#include "io/connection.h"

#include "base/error.h"
#include "dynamics/connection_error.h"
#include "io/fields.h"
#include "io/suggest.h"
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
};

static const struct {
  const char *name;
  unsigned allowed, needed;
} types[] = {
    [TABI_CONNECTION_BALL] = {"ball",   AT_B,               0   },
    [TABI_CONNECTION_HINGE] = {"hinge",  AT_B | AXIS,        AXIS},
    [TABI_CONNECTION_FIXED] = {"fixed",  AT_B | TURN,        0   },
    [TABI_CONNECTION_AXES] = {"axes",   AT_B | TURN | AXES, AXES},
    [TABI_CONNECTION_ROD] = {"rod",    AT_B | LENGTH,      AT_B},
    [TABI_CONNECTION_SPRING] = {"spring", AT_B | SPRING,      AT_B},
};

typedef struct keys {
  const char *type, *name, *a, *b;
  const tbi_yaml_node *at, *at_b, *axis, *axis_b, *rpy, *quat, *rpy_b, *quat_b, *axes;
  double length, rest, stiffness, damping; /* NAN: not given */
} keys;

static const tbi_field fields[] = {
    {"type",      TBI_FIELD_WORD,         offsetof(keys, type)     },
    {"name",      TBI_FIELD_WORD,         offsetof(keys, name)     },
    {"a",         TBI_FIELD_WORD,         offsetof(keys, a)        },
    {"b",         TBI_FIELD_WORD,         offsetof(keys, b)        },
    {"at",        TBI_FIELD_NODE,         offsetof(keys, at)       },
    {"at_b",      TBI_FIELD_NODE,         offsetof(keys, at_b)     },
    {"axis",      TBI_FIELD_NODE,         offsetof(keys, axis)     },
    {"axis_b",    TBI_FIELD_NODE,         offsetof(keys, axis_b)   },
    {"rpy",       TBI_FIELD_NODE,         offsetof(keys, rpy)      },
    {"quat",      TBI_FIELD_NODE,         offsetof(keys, quat)     },
    {"rpy_b",     TBI_FIELD_NODE,         offsetof(keys, rpy_b)    },
    {"quat_b",    TBI_FIELD_NODE,         offsetof(keys, quat_b)   },
    {"axes",      TBI_FIELD_LIST,         offsetof(keys, axes)     },
    {"length",    TBI_FIELD_POSITIVE,     offsetof(keys, length)   },
    {"rest",      TBI_FIELD_NOT_NEGATIVE, offsetof(keys, rest)     },
    {"stiffness", TBI_FIELD_NOT_NEGATIVE, offsetof(keys, stiffness)},
    {"damping",   TBI_FIELD_NOT_NEGATIVE, offsetof(keys, damping)  },
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
};
#define NSPECIAL (sizeof special / sizeof *special)

/* A connection on its way into the builder. */
typedef struct reader {
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

static tabi_status fail(const reader *r, const tbi_yaml_node *node, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static tabi_status fail(const reader *r, const tbi_yaml_node *node, const char *format, ...) {
  tabi_error reason;
  va_list args;
  va_start(args, format);
  tbi_error_vset(&reason, TABI_ERR_PARSE, node->place, format, args);
  va_end(args);
  return tbi_error_set(r->list->err, TABI_ERR_PARSE, node->place, "%s%s", r->what, reason.message);
}

static tabi_status builder_status(const reader *r) {
  const tabi_error *error = tabi_builder_error(r->list->builder);
  if (!error) return TABI_OK;
  if (r->list->err) *r->list->err = *error;
  return error->status;
}

static pose pose_of(const reader *r, int32_t link) {
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

static tabi_status fail_link(const reader *r, const tbi_yaml_node *node, const char *name) {
  const tabi_builder *builder = r->list->builder;
  size_t prefix = strlen(r->list->prefix);
  tbi_suggestion nearest = tbi_suggest_begin(name);
  if (r->list->has_world) tbi_suggest_add(&nearest, "world");
  for (int32_t i = 0; i < tabi_builder_nlink(builder); ++i) {
    const char *known = tbi_builder_link(builder, i)->name;
    if (known && strncmp(known, r->list->prefix, prefix) == 0)
      tbi_suggest_add(&nearest, known + prefix);
  }
  char hint[TBI_HINT_SIZE];
  return fail(r, node, "no link is called '%.60s'%s", name, tbi_suggest_hint(&nearest, hint));
}

static tabi_status find_link(const reader *r, const char *key, const char *name, int32_t *link) {
  const tbi_yaml_node *node = tbi_yaml_child(r->node, key);
  if (!name) return fail(r, r->node, "%s is missing: the name of a link", key);
  size_t size = strlen(r->list->prefix) + strlen(name) + 1;
  char *full = malloc(size);
  if (!full) return tbi_error_memory(r->list->err);
  (void)snprintf(full, size, "%s%s", r->list->prefix, name);
  *link = tabi_builder_find_link(r->list->builder, full);
  free(full);
  if (*link != TABI_NONE) return TABI_OK;
  if (strcmp(name, "world") != 0) return fail_link(r, node, name);
  *link = TABI_WORLD;
  if (r->list->has_world) return TABI_OK;
  return fail(r, node, "a robot's own file cannot hang it on the world; let a scene do it");
}

static int32_t body_of(const reader *r, int32_t link) {
  return link == TABI_WORLD ? TABI_WORLD : tabi_model_link_body(r->list->model, link);
}

static tabi_status find_links(reader *r) {
  tabi_status status = find_link(r, "a", r->keys.a, &r->def.a);
  if (status == TABI_OK) status = find_link(r, "b", r->keys.b, &r->def.b);
  if (status != TABI_OK) return status;
  if (body_of(r, r->def.a) != body_of(r, r->def.b)) return TABI_OK;
  return fail(r, r->node,
              "'%.60s' and '%.60s' cannot move against each other; name two links "
              "with a moving joint between them",
              r->keys.a, r->keys.b);
}

static tabi_status find_type(reader *r) {
  if (!r->keys.type)
    return fail(r, r->node, "type is missing (ball, hinge, fixed, axes, rod, spring)");
  for (size_t i = 0; i < sizeof types / sizeof *types; ++i) {
    if (strcmp(types[i].name, r->keys.type) != 0) continue;
    r->def.type = (tabi_connection_type)i;
    return TABI_OK;
  }
  return fail(r, tbi_yaml_child(r->node, "type"),
              "unknown type '%.40s' (ball, hinge, fixed, axes, rod, spring)", r->keys.type);
}

/* What a type has no use for was meant for another one. */
static tabi_status fail_key(const reader *r, const tbi_yaml_node *node) {
  char known[MAX_TEXT] = "at";
  size_t used = strlen(known);
  for (size_t i = 0; i < NSPECIAL; ++i) {
    if (!(types[r->def.type].allowed & special[i].bit)) continue;
    int written = snprintf(known + used, sizeof known - used, ", %s", special[i].key);
    if (written < 0 || (size_t)written >= sizeof known - used) break;
    used += (size_t)written;
  }
  return fail(r, node, "type %s has no '%s' (%s)", types[r->def.type].name, node->key, known);
}

static tabi_status check_keys(const reader *r) {
  const char *type = types[r->def.type].name;
  for (size_t i = 0; i < NSPECIAL; ++i) {
    const tbi_yaml_node *node = tbi_yaml_child(r->node, special[i].key);
    if (node && !(types[r->def.type].allowed & special[i].bit)) return fail_key(r, node);
  }
  unsigned needed = types[r->def.type].needed;
  if ((needed & AXIS) && !r->keys.axis)
    return fail(r, r->node, "type hinge needs axis: [x, y, z], in the frame of a");
  if ((needed & AXES) && !r->keys.axes)
    return fail(r, r->node, "type axes needs axes: a list of x, y, z, rx, ry, rz");
  if ((needed & AT_B) && !r->keys.at_b)
    return fail(r, r->node, "type %s needs at_b: [x, y, z], its point of b", type);
  return TABI_OK;
}

static tabi_status read_axes(reader *r) {
  static const char *const names[6] = {"x", "y", "z", "rx", "ry", "rz"};
  r->def.axes = 0;
  for (const tbi_yaml_node *item = r->keys.axes ? r->keys.axes->first : NULL; item;
       item = item->next) {
    unsigned bit = 0;
    for (unsigned i = 0; i < 6 && item->kind == TBI_YAML_SCALAR; ++i) {
      if (strcmp(item->text, names[i]) == 0) bit = 1U << i;
    }
    if (bit == 0) {
      return fail(r, item, "axes: '%.20s' is none of x, y, z, rx, ry, rz",
                  item->kind == TBI_YAML_SCALAR ? item->text : "[..]");
    }
    if (r->def.axes & bit) return fail(r, item, "axes: %s is named twice", item->text);
    r->def.axes |= bit;
  }
  if (r->def.axes == 0) return fail(r, r->keys.axes, "axes is empty");
  return TABI_OK;
}

/* A rotation that brings z to the axis. */
static tabi_status read_axis(const reader *r, const tbi_yaml_node *node, q4 *rotation) {
  double axis[3];
  tabi_status status = tbi_fields_numbers(node, r->what, node->key, axis, 3, r->list->err);
  if (status != TABI_OK) return status;
  double length = v3_norm(v3_load(axis));
  if (!(length > 0) || !isfinite(length))
    return fail(r, node, "%s has no direction; give a vector that is not zero", node->key);
  v3 to = v3_scale(1 / length, v3_load(axis));
  v3 across = v3_cross(v3_make(0, 0, 1), to);
  double sine = v3_norm(across);
  double angle = atan2(sine, to.z);
  v3 about = sine > 0 ? v3_scale(1 / sine, across) : v3_make(1, 0, 0);
  *rotation = q_exp(v3_scale(angle, about));
  return TABI_OK;
}

static tabi_status read_rotation(const reader *r, const tbi_yaml_node *rpy,
                                 const tbi_yaml_node *quat, q4 *rotation) {
  double values[4];
  tabi_status status = tbi_fields_rotation(rpy, quat, r->what, values, r->list->err);
  if (status == TABI_OK) *rotation = q_load(values);
  return status;
}

static tabi_status read_frame_a(reader *r) {
  q4 rotation = q_identity();
  tabi_status status = TABI_OK;
  // where the point is does not matter to what holds all six axes, or only turns
  bool any_point = r->def.type == TABI_CONNECTION_FIXED ||
                   (r->def.type == TABI_CONNECTION_AXES &&
                    (r->def.axes & (TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z)) == 0);
  if (r->keys.at) {
    status = tbi_fields_numbers(r->keys.at, r->what, "at", r->def.pos_a, 3, r->list->err);
  } else if (!any_point) {
    return fail(r, r->node, "at is missing: [x, y, z], its point of a");
  }
  if (status == TABI_OK && r->keys.axis) status = read_axis(r, r->keys.axis, &rotation);
  if (status == TABI_OK && (r->keys.rpy || r->keys.quat))
    status = read_rotation(r, r->keys.rpy, r->keys.quat, &rotation);
  q_store(rotation, r->def.quat_a);
  return status;
}

static tabi_status read_frame_b(reader *r) {
  pose a = pose_of(r, r->def.a);
  pose b = pose_of(r, r->def.b);
  v3_store(from_world(&b, to_world(&a, v3_load(r->def.pos_a))), r->def.pos_b);
  q4 rotation = q_normalize(q_mul(back(b.rot), q_mul(a.rot, q_load(r->def.quat_a))));
  tabi_status status = TABI_OK;
  if (r->keys.at_b)
    status = tbi_fields_numbers(r->keys.at_b, r->what, "at_b", r->def.pos_b, 3, r->list->err);
  if (status == TABI_OK && r->keys.axis_b) status = read_axis(r, r->keys.axis_b, &rotation);
  if (status == TABI_OK && (r->keys.rpy_b || r->keys.quat_b))
    status = read_rotation(r, r->keys.rpy_b, r->keys.quat_b, &rotation);
  q_store(rotation, r->def.quat_b);
  return status;
}

/* The length of a rod or spring that says none is what it is in the posture. */
static tabi_status read_length(reader *r) {
  double given = r->def.type == TABI_CONNECTION_ROD ? r->keys.length : r->keys.rest;
  pose a = pose_of(r, r->def.a);
  pose b = pose_of(r, r->def.b);
  v3 apart = v3_sub(to_world(&b, v3_load(r->def.pos_b)), to_world(&a, v3_load(r->def.pos_a)));
  r->def.length = isnan(given) ? v3_norm(apart) : given;
  if (r->def.type == TABI_CONNECTION_ROD) {
    if (r->def.length > 0) return TABI_OK;
    return fail(r, r->node, "its ends meet in the start posture; give length, or use type ball");
  }
  r->def.stiffness = isnan(r->keys.stiffness) ? 0 : r->keys.stiffness;
  r->def.damping = isnan(r->keys.damping) ? 0 : r->keys.damping;
  if (r->def.stiffness + r->def.damping > 0) return TABI_OK;
  return fail(r, r->node, "type spring needs stiffness or damping");
}

static tabi_status add(const reader *r) {
  char text[MAX_TEXT];
  const char *prefix = r->list->prefix;
  if (r->keys.name) {
    (void)snprintf(text, sizeof text, "%.200s%.200s", prefix, r->keys.name);
  } else {
    (void)snprintf(text, sizeof text, "%.150s%.150s to %.150s", prefix, r->keys.a, r->keys.b);
  }
  tabi_connection_def def = r->def;
  def.name = text;
  def.place = r->node->place;
  (void)tabi_builder_add_connection(r->list->builder, &def);
  return builder_status(r);
}

static tabi_status read_one(const tbi_connections *list, const tabi_dynamics *dynamics,
                            const tbi_yaml_node *node) {
  reader r = {
      .list = list,
      .dynamics = dynamics,
      .node = node,
      .keys = {.length = NAN, .rest = NAN, .stiffness = NAN, .damping = NAN},
      .def = tabi_connection_def_default()
  };
  const tbi_yaml_node *name = tbi_yaml_child(node, "name");
  (void)snprintf(r.what, sizeof r.what, "connection: ");
  if (name) (void)snprintf(r.what, sizeof r.what, "connection '%.60s': ", name->text);
  tabi_status status =
      tbi_fields_read(node, r.what, fields, sizeof fields / sizeof *fields, &r.keys, list->err);
  if (status == TABI_OK) status = find_type(&r);
  if (status == TABI_OK) status = check_keys(&r);
  if (status == TABI_OK) status = find_links(&r);
  if (status == TABI_OK && r.keys.axes) status = read_axes(&r);
  if (status == TABI_OK) status = read_frame_a(&r);
  if (status == TABI_OK) status = read_frame_b(&r);
  if (status == TABI_OK && (types[r.def.type].allowed & (LENGTH | SPRING)))
    status = read_length(&r);
  return status == TABI_OK ? add(&r) : status;
}

/* The dynamics of a model at rest in a posture; NULL and err. */
static tabi_dynamics *stand(const tabi_model *model, const double *q, tabi_error *err) {
  double *rest = calloc((size_t)tabi_model_nv(model) + 1, sizeof *rest);
  tabi_dynamics *dynamics = rest ? tabi_dynamics_create(model, err) : NULL;
  if (!rest) (void)tbi_error_memory(err);
  if (dynamics) tabi_dynamics_set_state(dynamics, q, rest);
  free(rest);
  return dynamics;
}

tabi_status tbi_connections_read(const tbi_connections *list, const tbi_yaml_node *nodes) {
  tabi_error err = {0};
  tabi_dynamics *dynamics = stand(list->model, list->q, &err);
  if (!dynamics && list->err) *list->err = err;
  tabi_status status = err.status;
  const tbi_yaml_node *node = nodes->first;
  for (; node && status == TABI_OK; node = node->next)
    status = read_one(list, dynamics, node);
  tabi_dynamics_destroy(dynamics);
  return status;
}

static void warn_open(const tabi_connection_def *c, const tbi_connection_error *error,
                      tabi_warning_fn *warn, void *user) {
  bool apart = error->gap > TBI_CONNECTION_GAP;
  if (!apart && error->turn <= TBI_CONNECTION_TURN) return;
  tabi_error warning;
  (void)tbi_error_set(&warning, TABI_OK, c->place,
                      "connection '%.100s' is %s by %.3g %s where the scene starts; give a posture "
                      "in which it closes",
                      tbi_shown(c->name), apart ? "open" : "twisted",
                      apart ? error->gap : error->turn, apart ? "m" : "rad");
  warn(user, &warning);
}

tabi_status tbi_connections_warn(const tabi_model *model, const double *q, tabi_warning_fn *warn,
                                 void *user, tabi_error *err) {
  if (!warn || tabi_model_nconnection(model) == 0) return TABI_OK;
  tabi_error failure = {0};
  tabi_dynamics *dynamics = stand(model, q, &failure);
  if (!dynamics) {
    if (err) *err = failure;
    return failure.status;
  }
  for (int32_t i = 0; i < tabi_model_nconnection(model); ++i) {
    tabi_connection_def c = tabi_model_connection(model, i);
    tbi_connection_error error = tbi_connection_error_of(dynamics, &c);
    warn_open(&c, &error, warn, user);
  }
  tabi_dynamics_destroy(dynamics);
  return TABI_OK;
}
