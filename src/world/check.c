/* check.c - the model doctor: what is possible, but hardly meant.
 *
 * The builder refuses what cannot be simulated.  Here are the mistakes it must let pass: a
 * placeholder for an inertia, grams for kilograms, degrees for radians, a missing limit.  Each
 * check is one function in a table below, and each finding names the item, the number and the
 * cure.  A problem, which will spoil a simulation, has status TABI_ERR_MODEL; advice has TABI_OK.
 *
 * Loops over all links to find those of one body cost O(links^2) in all, which for a robot is
 * less than reading its file, and needs no memory. */
#include "base/assertion.h"
#include "base/error.h"
#include "dynamics/connection_error.h"
#include "math/quat.h"
#include "tabi/tabi.h"
#include "world/overlap.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct doctor {
  const tabi_model *model;
  tabi_warning_fn *report;
  void *user;
  int32_t count;
  bool collides; /* some shape of the model does */
} doctor;

#define PROBLEM TABI_ERR_MODEL
#define ADVICE  TABI_OK

static void find(doctor *d, tabi_status severity, tabi_place place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void find(doctor *d, tabi_status severity, tabi_place place, const char *format, ...) {
  tabi_error finding;
  va_list args;
  va_start(args, format);
  tbi_error_vset(&finding, severity, place, format, args);
  va_end(args);
  ++d->count;
  if (d->report) d->report(d->user, &finding);
}

static const char *shown(const char *name) { return name ? name : "(unnamed)"; }

typedef struct box {
  double lower[3], upper[3]; /* link frame; lower > upper: empty */
} box;

static bool box_is_empty(const box *b) { return b->lower[0] > b->upper[0]; }

static void box_include(box *b, const double point[3], double margin) {
  for (int i = 0; i < 3; ++i) {
    b->lower[i] = fmin(b->lower[i], point[i] - margin);
    b->upper[i] = fmax(b->upper[i], point[i] + margin);
  }
}

/* The ball around a shape of closed form is good enough to judge sizes by. */
static double shape_radius(const tabi_shape_def *s) {
  switch (s->type) {
  case TABI_SHAPE_SPHERE:
    return s->size[0];
  case TABI_SHAPE_CAPSULE:
    return s->size[0] + s->size[1] / 2;
  case TABI_SHAPE_CYLINDER:
    return hypot(s->size[0], s->size[1] / 2);
  default:
    return v3_norm(v3_load(s->size)) / 2;
  }
}

static box link_box(const tabi_model *model, int32_t link) {
  box b = {
      {DBL_MAX,  DBL_MAX,  DBL_MAX },
      {-DBL_MAX, -DBL_MAX, -DBL_MAX}
  };
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def s = tabi_model_shape(model, i);
    if (s.link != link || s.type == TABI_SHAPE_PLANE) continue;
    if (s.type != TABI_SHAPE_MESH) {
      box_include(&b, s.pos, shape_radius(&s));
      continue;
    }
    tabi_mesh_def mesh = tabi_model_mesh(model, s.mesh);
    m3 rot = q_matrix(q_load(s.quat));
    for (int32_t k = 0; k < mesh.nvertex; ++k) {
      double point[3];
      v3 vertex = v3_load(mesh.vertices + 3 * (size_t)k);
      v3_store(v3_add(v3_load(s.pos), m3_mulv(&rot, vertex)), point);
      box_include(&b, point, 0);
    }
  }
  return b;
}

/* Distance from a point to the nearest (sign -1) or farthest (sign +1) place of a box. */
static double box_distance(const box *b, const double point[3], int sign) {
  double d[3];
  for (int i = 0; i < 3; ++i) {
    double below = b->lower[i] - point[i];
    double above = point[i] - b->upper[i];
    d[i] = sign > 0 ? fmax(fabs(below), fabs(above)) : fmax(0, fmax(below, above));
  }
  return v3_norm(v3_load(d));
}

static double box_edge(const box *b) {
  double edge = 0;
  for (int i = 0; i < 3; ++i)
    edge = fmax(edge, b->upper[i] - b->lower[i]);
  return edge;
}

static double body_mass(const tabi_model *model, int32_t body) {
  double mass = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    if (tabi_model_link_body(model, i) == body) mass += tabi_model_link(model, i).mass;
  }
  return mass;
}

static bool body_collides(const tabi_model *model, int32_t body) {
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def s = tabi_model_shape(model, i);
    if (!s.collides || s.link == TABI_WORLD) continue;
    if (tabi_model_link_body(model, s.link) == body) return true;
  }
  return false;
}

/* The link right below the moving joint of a body. */
static int32_t body_first_link(const tabi_model *model, int32_t link) {
  for (;;) {
    tabi_joint_def joint = tabi_model_joint(model, tabi_model_link_joint(model, link));
    if (joint.type != TABI_JOINT_FIXED) return link;
    link = joint.parent;
  }
}

/* Inertia about a line through the origin of the body's first link, of the body alone. */
static double body_inertia_about(const tabi_model *model, int32_t body, v3 axis) {
  double sum = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    if (tabi_model_link_body(model, i) != body) continue;
    tabi_link_def link = tabi_model_link(model, i);
    /* carry the centre of mass up to the first link, and the axis down with the rotations */
    v3 com = v3_load(link.com);
    m3 rot = m3_identity();
    int32_t first = body_first_link(model, i);
    for (int32_t l = i; l != first;) {
      tabi_joint_def joint = tabi_model_joint(model, tabi_model_link_joint(model, l));
      m3 r = q_matrix(q_load(joint.quat));
      com = v3_add(v3_load(joint.pos), m3_mulv(&r, com));
      rot = m3_mul(&r, &rot);
      l = joint.parent;
    }
    v3 local = m3_tmulv(&rot, axis);
    v3 arm = v3_cross(axis, com);
    sum += v3_dot(local, s3_mulv(s3_load(link.inertia), local)) + link.mass * v3_dot(arm, arm);
  }
  return sum;
}

static bool is_leaf(const tabi_model *model, int32_t body) {
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    if (tabi_model_joint_v(model, j).count == 0) continue;
    tabi_joint_def joint = tabi_model_joint(model, j);
    if (joint.parent != TABI_WORLD && tabi_model_link_body(model, joint.parent) == body) {
      return false;
    }
  }
  return true;
}

static bool has_one_dof(const tabi_joint_def *joint) {
  return joint->type == TABI_JOINT_REVOLUTE || joint->type == TABI_JOINT_CONTINUOUS ||
         joint->type == TABI_JOINT_PRISMATIC;
}

static bool turns(const tabi_joint_def *joint) {
  return joint->type == TABI_JOINT_REVOLUTE || joint->type == TABI_JOINT_CONTINUOUS;
}

static void check_mass(doctor *d, int32_t i, const tabi_link_def *link) {
  (void)i;
  if (link->mass > 1e4) {
    find(d, PROBLEM, link->place, "link '%s': mass is %g kg; check that it is not in grams",
         shown(link->name), link->mass);
  }
}

/* Principal moments A <= B <= C: A near zero, or A + B near C. */
static void check_inertia(doctor *d, int32_t i, const tabi_link_def *link) {
  (void)i;
  double p[3];
  tbi_s3_eigenvalues(s3_load(link->inertia), p);
  if (link->mass == 0) return;
  if (p[2] <= 0) {
    find(d, ADVICE, link->place,
         "link '%s': has a mass of %g kg but no inertia; give it that of a solid of its size",
         shown(link->name), link->mass);
  } else if (p[0] < 1e-5 * p[2]) {
    find(d, PROBLEM, link->place,
         "link '%s': smallest principal moment is %.3g of the largest (%.3g, %.3g, %.3g kg m^2); "
         "even a thin rod has m r^2/2",
         shown(link->name), p[0] / p[2], p[0], p[1], p[2]);
  } else if (p[0] + p[1] < (1 + 1e-4) * p[2]) {
    find(d, ADVICE, link->place,
         "link '%s': inertia is that of an infinitely thin plate (%.6g + %.6g = %.6g kg m^2); "
         "check the moments",
         shown(link->name), p[0], p[1], p[2]);
  }
}

/* An inertia that nobody computed: exactly 1 1 1, or far too large for the size of the link. */
static void check_placeholder(doctor *d, int32_t i, const tabi_link_def *link) {
  double p[3];
  tbi_s3_eigenvalues(s3_load(link->inertia), p);
  if (link->mass == 0 || p[2] <= 0) return;
  double gyration = sqrt(p[2] / link->mass);
  box b = link_box(d->model, i);
  double reach = box_is_empty(&b) ? 0 : box_distance(&b, link->com, 1);
  bool ones = p[0] == 1 && p[2] == 1 && gyration > 0.1;
  bool far = reach > 0 ? gyration > 3 * reach : gyration > 1 && link->mass < 10;
  if (!ones && !far) return;
  char size[64] = "";
  char cure[64] = "";
  if (reach > 0) {
    (void)snprintf(size, sizeof size, ", for shapes that reach %.2g m", reach);
    (void)snprintf(cure, sizeof cure, ", about %.1g kg m^2", link->mass * reach * reach / 5);
  }
  find(d, PROBLEM, link->place,
       "link '%s': inertia is %s (radius of gyration %.2g m%s); compute it from its solids%s",
       shown(link->name), ones ? "exactly 1 1 1, a placeholder" : "far too large", gyration, size,
       cure);
}

static void check_com(doctor *d, int32_t i, const tabi_link_def *link) {
  box b = link_box(d->model, i);
  if (link->mass == 0 || box_is_empty(&b)) return;
  double away = box_distance(&b, link->com, -1);
  if (away > box_edge(&b) && away > 0.02) {
    find(d, ADVICE, link->place,
         "link '%s': centre of mass is %.3g m outside its shapes; check <origin> and units",
         shown(link->name), away);
  }
}

/* Whether name with `from` replaced by `to` at `at` is another link; its index or TABI_NONE. */
static int32_t find_swapped(const tabi_model *model, const char *name, const char *at,
                            const char *from, const char *to) {
  char other[256];
  int n = snprintf(other, sizeof other, "%.*s%s%s", (int)(at - name), name, to, at + strlen(from));
  if (n < 0 || (size_t)n >= sizeof other) return TABI_NONE;
  return tabi_model_find_link(model, other);
}

/* The right twin of a left link, by its name. */
static int32_t find_twin(const tabi_model *model, const char *name) {
  static const char *const words[][2] = {
      {"left", "right"},
      {"LEFT", "RIGHT"},
      {"Left", "Right"}
  };
  for (int w = 0; w < 3; ++w) {
    const char *at = strstr(name, words[w][0]);
    if (at) return find_swapped(model, name, at, words[w][0], words[w][1]);
  }
  if (name[0] == 'l') return find_swapped(model, name, name, "l", "r");
  if (name[0] == 'L') return find_swapped(model, name, name, "L", "R");
  return TABI_NONE;
}

static void check_twin(doctor *d, int32_t i, const tabi_link_def *link) {
  (void)i;
  int32_t twin = link->name ? find_twin(d->model, link->name) : TABI_NONE;
  if (twin == TABI_NONE) return;
  tabi_link_def other = tabi_model_link(d->model, twin);
  if (fabs(link->mass - other.mass) <= 0.01 * fmax(link->mass, other.mass)) return;
  find(d, ADVICE, link->place,
       "link '%s': mass is %g kg, but '%s' has %g kg; left and right should agree", link->name,
       link->mass, other.name, other.mass);
}

static void check_start(doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  if (!has_one_dof(joint) || joint->type == TABI_JOINT_CONTINUOUS) return;
  double start = joint->initial_q[0];
  if (start >= joint->lower && start <= joint->upper) return;
  find(d, ADVICE, joint->place,
       "joint '%s': start %g is outside [%g, %g]; start it inside, or widen the limits",
       shown(joint->name), start, joint->lower, joint->upper);
}

static void check_range(doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  if (!has_one_dof(joint) || joint->type == TABI_JOINT_CONTINUOUS) return;
  double farthest = fmax(fabs(joint->lower), fabs(joint->upper));
  if (joint->lower == joint->upper) {
    find(d, ADVICE, joint->place,
         "joint '%s': lower and upper are both %g, so it cannot move; make it a fixed joint",
         shown(joint->name), joint->lower);
  } else if (turns(joint) && isfinite(farthest) && farthest > 4 * 3.141592653589793) {
    find(d, PROBLEM, joint->place,
         "joint '%s': limit %g rad is more than two turns; check that it is not in degrees",
         shown(joint->name), farthest);
  }
}

static bool is_driven(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    if (tabi_model_actuator(model, i).joint == joint) return true;
  }
  return false;
}

static bool is_follower(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_ncoupling(model); ++i) {
    if (tabi_model_coupling(model, i).joint == joint) return true;
  }
  return false;
}

static void check_effort(doctor *d, int32_t j, const tabi_joint_def *joint) {
  if (!has_one_dof(joint) || is_follower(d->model, j)) return;
  if (joint->effort == 0) {
    find(d, ADVICE, joint->place,
         "joint '%s': effort limit is 0, so no motor can move it; give the motor's torque",
         shown(joint->name));
  } else if (isinf(joint->effort) && !is_driven(d->model, j)) {
    find(d, ADVICE, joint->place,
         "joint '%s': has no effort limit; a controller may use any torque on it",
         shown(joint->name));
  }
  if (joint->velocity == 0) {
    find(d, ADVICE, joint->place,
         "joint '%s': velocity limit is 0, so it may not move; give the motor's speed",
         shown(joint->name));
  }
}

/* The nearest body above a joint that has mass, or TABI_WORLD; *above gets its joint. */
static int32_t body_above(const tabi_model *model, const tabi_joint_def *joint, int32_t *above) {
  int32_t link = joint->parent;
  while (link != TABI_WORLD) {
    int32_t body = tabi_model_link_body(model, link);
    if (body == TABI_WORLD) return TABI_WORLD;
    *above = tabi_model_link_joint(model, body_first_link(model, link));
    if (body_mass(model, body) > 0) return body;
    link = tabi_model_joint(model, *above).parent;
  }
  return TABI_WORLD;
}

static void check_mass_ratio(doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  const tabi_model *model = d->model;
  double mass = body_mass(model, tabi_model_link_body(model, joint->child));
  if (mass > 0 && mass < 1e-3) {
    find(d, PROBLEM, joint->place,
         "joint '%s': moves only %g kg; merge link '%s' into its parent by a fixed joint",
         shown(joint->name), mass, shown(tabi_model_link(model, joint->child).name));
  }
  int32_t above;
  int32_t parent = body_above(model, joint, &above);
  if (parent == TABI_WORLD) return;
  double carrier = body_mass(model, parent);
  if (mass < 1000 * carrier) return;
  int32_t link = tabi_model_joint(model, above).child;
  find(d, PROBLEM, tabi_model_link(model, link).place,
       "link '%s': %g kg carry %g kg of link '%s', a ratio of %.0f; give it its real mass, or "
       "rotor inertia to its joint",
       shown(tabi_model_link(model, link).name), carrier, mass,
       shown(tabi_model_link(model, joint->child).name), mass / carrier);
}

/* What a last joint has to turn, against what the joint before it turns. */
static void check_joint_inertia(doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  const tabi_model *model = d->model;
  int32_t body = tabi_model_link_body(model, joint->child);
  if (!turns(joint) || !is_leaf(model, body)) return;
  int32_t above;
  int32_t parent = body_above(model, joint, &above);
  if (parent == TABI_WORLD) return;
  tabi_joint_def up = tabi_model_joint(model, above);
  v3 up_axis = turns(&up) ? v3_load(up.axis) : v3_make(0, 0, 1);
  double before = body_inertia_about(model, parent, up_axis);
  double rotor = joint->gear * joint->gear * joint->rotor_inertia;
  double here = body_inertia_about(model, body, v3_load(joint->axis)) + rotor;
  if (here >= 1e-6 * before) return;
  find(d, PROBLEM, joint->place,
       "joint '%s': turns only %.3g kg m^2, %.1g of what the body before it has; give it a rotor "
       "inertia of about %.1g kg m^2",
       shown(joint->name), here, here / before, 1e-4 * before);
}

/* What a connection holds does not end there. */
static bool is_connected(const tabi_model *model, int32_t body) {
  for (int32_t i = 0; i < tabi_model_nconnection(model); ++i) {
    tabi_connection_def c = tabi_model_connection(model, i);
    const int32_t links[2] = {c.a, c.b};
    for (int k = 0; k < 2; ++k) {
      if (links[k] != TABI_WORLD && tabi_model_link_body(model, links[k]) == body) return true;
    }
  }
  return false;
}

static void check_leaf_shape(doctor *d, int32_t j, const tabi_joint_def *joint) {
  (void)j;
  int32_t body = tabi_model_link_body(d->model, joint->child);
  if (!d->collides || !is_leaf(d->model, body) || body_collides(d->model, body)) return;
  if (is_connected(d->model, body)) return;
  tabi_link_def link = tabi_model_link(d->model, joint->child);
  find(d, ADVICE, link.place,
       "link '%s': ends a limb but has no collision shape, so it passes through everything",
       shown(link.name));
}

#define DEEPEST_TOLD  10   /* pairs of links; the rest are counted */
#define ALLOWED_DEPTH 1e-3 /* m */

/* "link 'arm'", or for what stands in the world its shape */
static void name_owner(const tabi_model *model, const tabi_shape_def *shape, char *text,
                       size_t size) {
  if (shape->link != TABI_WORLD) {
    (void)snprintf(text, size, "link '%.100s'", shown(tabi_model_link(model, shape->link).name));
  } else {
    (void)snprintf(text, size, "the world's shape '%.100s'", shown(shape->name));
  }
}

static void tell_overlap(doctor *d, const tbi_overlap *overlap) {
  char first[128];
  char second[128];
  tabi_shape_def a = tabi_model_shape(d->model, overlap->shape_a);
  tabi_shape_def b = tabi_model_shape(d->model, overlap->shape_b);
  // the world is not to blame
  const tabi_shape_def *blamed = a.link != TABI_WORLD ? &a : &b;
  const tabi_shape_def *other = a.link != TABI_WORLD ? &b : &a;
  name_owner(d->model, blamed, first, sizeof first);
  name_owner(d->model, other, second, sizeof second);
  find(d, PROBLEM, tabi_model_link(d->model, blamed->link).place,
       "%s: is %.3g m inside %s at the start; start them apart, make the shapes smaller, or "
       "exclude the pair",
       first, overlap->depth, second);
}

static void check_overlaps(doctor *d) {
  tbi_overlap overlap[DEEPEST_TOLD];
  int32_t count = 0;
  tabi_place place = {NULL, 0};
  tabi_status status = tbi_overlaps_find(d->model, ALLOWED_DEPTH, overlap, DEEPEST_TOLD, &count);
  if (status != TABI_OK) {
    find(d, PROBLEM, place, "shapes that overlap could not be looked for: %s",
         status == TABI_ERR_MEMORY ? "out of memory" : "there are more than a million");
  }
  for (int32_t i = 0; i < count && i < DEEPEST_TOLD; ++i)
    tell_overlap(d, &overlap[i]);
  if (count <= DEEPEST_TOLD) return;
  place = (tabi_place){tabi_model_link(d->model, 0).place.file, 1};
  find(d, PROBLEM, place, "%d more pairs of links are inside each other at the start",
       (int)(count - DEEPEST_TOLD));
}

static void tell_opening(doctor *d, const tabi_dynamics *dynamics, int32_t i) {
  tabi_connection_def c = tabi_model_connection(d->model, i);
  tbi_connection_error o = tbi_connection_error_of(dynamics, &c);
  if (o.gap > TBI_CONNECTION_GAP) {
    find(d, PROBLEM, c.place,
         "connection '%s': is %.3g m open at the start; move its points, or start where it closes",
         shown(c.name), o.gap);
  } else if (o.turn > TBI_CONNECTION_TURN) {
    find(d, PROBLEM, c.place,
         "connection '%s': is twisted by %.3g rad at the start; turn its frames, or start where it "
         "closes",
         shown(c.name), o.turn);
  }
}

static void check_connections(doctor *d) {
  if (tabi_model_nconnection(d->model) == 0) return;
  tabi_dynamics *dynamics = tabi_dynamics_create(d->model, NULL);
  double *q =
      calloc((size_t)tabi_model_nq(d->model) + (size_t)tabi_model_nv(d->model) + 1, sizeof *q);
  if (dynamics && q) {
    tabi_model_initial_q(d->model, q);
    tabi_dynamics_set_state(dynamics, q, q + tabi_model_nq(d->model));
    for (int32_t i = 0; i < tabi_model_nconnection(d->model); ++i)
      tell_opening(d, dynamics, i);
  } else {
    find(d, PROBLEM, (tabi_place){NULL, 0},
         "open connections could not be looked for: out of memory");
  }
  free(q);
  tabi_dynamics_destroy(dynamics);
}

static void check_model(doctor *d) {
  for (int32_t i = 0; i < tabi_model_nshape(d->model); ++i) {
    tabi_shape_def shape = tabi_model_shape(d->model, i);
    d->collides = d->collides || (shape.collides && shape.link != TABI_WORLD);
  }
  if (d->collides || tabi_model_nbody(d->model) == 0) return;
  tabi_place place = {tabi_model_link(d->model, 0).place.file, 1};
  find(d, ADVICE, place, "no link has a collision shape; the robot will fall through the floor");
}

static void (*const link_checks[])(doctor *d, int32_t i, const tabi_link_def *link) = {
    check_mass, check_inertia, check_placeholder, check_com, check_twin,
};

static void (*const joint_checks[])(doctor *d, int32_t j, const tabi_joint_def *joint) = {
    check_start, check_range, check_effort, check_mass_ratio, check_joint_inertia, check_leaf_shape,
};

int32_t tabi_model_check(const tabi_model *model, tabi_warning_fn *report, void *user) {
  TBI_ASSERT(model);
  doctor d = {model, report, user, 0, false};
  check_model(&d);
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def link = tabi_model_link(model, i);
    for (size_t k = 0; k < sizeof link_checks / sizeof link_checks[0]; ++k) {
      link_checks[k](&d, i, &link);
    }
  }
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    if (tabi_model_joint_v(model, j).count == 0) continue;
    tabi_joint_def joint = tabi_model_joint(model, j);
    for (size_t k = 0; k < sizeof joint_checks / sizeof joint_checks[0]; ++k) {
      joint_checks[k](&d, j, &joint);
    }
  }
  check_connections(&d);
  check_overlaps(&d);
  return d.count;
}
