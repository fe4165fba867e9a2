/* try_cause.c - see try_cause.h.
 *
 * On level ground a robot at rest stays where the vertical through its centre of mass passes
 * between its contacts: inside their convex hull, seen from above.  With n contacts each pair whose
 * line has all others on one side is an edge of the hull. */
#include "try/try_cause.h"

#include "try/try_posture.h"

#include <math.h>

#define SPENT 0.999 /* share of a limit from which a motor has no more to give */
#define THIN  1e-3  /* m: a hull that is thinner is a line */
#define DEEP  1e-3  /* m that may overlap at the start */
#define TORN  1e-3  /* m or rad by which a coupling may be open then */

/* -- joints */

static bool is_coupled(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_ncoupling(model); ++i) {
    tabi_coupling_def c = tabi_model_coupling(model, i);
    if (c.joint == joint || c.leader == joint) return true;
  }
  return false;
}

/* A tendon that runs over points may move any joint. */
static bool is_pulled(const tabi_model *model, int32_t joint, int32_t tendon) {
  tabi_tendon_def def = tabi_model_tendon(model, tendon);
  for (int32_t i = 0; i < def.njoint; ++i) {
    if (def.joints[i].joint == joint) return true;
  }
  return def.npoint > 0;
}

bool tbi_try_is_driven(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def a = tabi_model_actuator(model, i);
    if (a.joint == joint) return true;
    if (a.tendon != TABI_NONE && is_pulled(model, joint, a.tendon)) return true;
  }
  return tabi_model_nactuator(model) == 0 || is_coupled(model, joint);
}

static int32_t root_of(const tabi_model *model, int32_t joint) {
  int32_t link = tabi_model_joint(model, joint).child;
  int32_t parent = tbi_parent_link(model, link);
  while (parent != TABI_WORLD && tabi_model_link_body(model, parent) != TABI_WORLD) {
    link = parent;
    parent = tbi_parent_link(model, link);
  }
  return link;
}

bool tbi_try_is_beside(const tabi_model *model, int32_t joint) {
  int32_t root = root_of(model, joint);
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    bool moves = tabi_model_joint_v(model, i).count > 0 && root_of(model, i) == root;
    if (moves && tbi_try_is_driven(model, i)) return false;
  }
  // what a connection ties to the robot is part of it
  return tabi_model_nconnection(model) == 0;
}

void tbi_try_joint_cause(const tabi_world *world, int32_t joint, char cause[TBI_CAUSE_SIZE]) {
  const tabi_model *model = tabi_world_model(world);
  tabi_effort e = tabi_world_effort(world, joint);
  const char *unit = tabi_model_joint(model, joint).type == TABI_JOINT_PRISMATIC ? "N" : "N m";
  cause[0] = '\0';
  if (!tbi_try_is_driven(model, joint)) {
    (void)snprintf(cause, TBI_CAUSE_SIZE, "nothing drives it");
  } else if (isfinite(e.limit) && fabs(e.applied) >= SPENT * e.limit) {
    (void)snprintf(cause, TBI_CAUSE_SIZE, "its motor gives all it has, %.3g %s", e.limit, unit);
  }
}

/* -- the start */

static const char *link_name(const tabi_model *model, int32_t link) {
  const char *name = link == TABI_WORLD ? "the world" : tabi_model_link(model, link).name;
  return name ? name : "(unnamed)";
}

static void tell_overlap(const tabi_model *model, const tabi_contact *c,
                         char cause[TBI_CAUSE_SIZE]) {
  (void)snprintf(cause, TBI_CAUSE_SIZE, "it starts with '%.36s' %.3g mm inside '%.36s'",
                 link_name(model, c->link_b), -1e3 * c->gap, link_name(model, c->link_a));
}

/* The tendon that is longest beyond its limits; by how much, m or rad. */
static int32_t find_strained(tabi_world *world, double *beyond) {
  const tabi_model *model = tabi_world_model(world);
  int32_t worst = TABI_NONE;
  *beyond = TORN;
  for (int32_t i = 0; i < tabi_model_ntendon(model); ++i) {
    tabi_tendon_def def = tabi_model_tendon(model, i);
    double length = tabi_dynamics_tendon_length(tabi_world_dynamics(world), i, NULL);
    double over = fmax(length - def.upper, def.lower - length);
    if (!(over > *beyond)) continue;
    *beyond = over;
    worst = i;
  }
  return worst;
}

static bool tell_strained(tabi_world *world, char cause[TBI_CAUSE_SIZE]) {
  double beyond;
  int32_t tendon = find_strained(world, &beyond);
  if (tendon == TABI_NONE) return false;
  const char *name = tabi_model_tendon(tabi_world_model(world), tendon).name;
  (void)snprintf(cause, TBI_CAUSE_SIZE, "it starts with tendon '%.48s' %.2g beyond its limit",
                 name ? name : "(unnamed)", beyond);
  return true;
}

/* What overlaps, is coupled elsewhere, or hangs on a tendon beyond its limits is pushed there
 * against springs and dampers. */
void tbi_try_start_cause(tabi_world *world, const double *start, char cause[TBI_CAUSE_SIZE]) {
  const tabi_model *model = tabi_world_model(world);
  int32_t count = 0;
  int32_t deepest = TABI_NONE;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (contact[i].gap < (deepest == TABI_NONE ? -DEEP : contact[deepest].gap)) deepest = i;
  }
  double gap;
  int32_t open = tbi_try_open_coupling(model, start, &gap);
  cause[0] = '\0';
  if (deepest != TABI_NONE) {
    tell_overlap(model, &contact[deepest], cause);
  } else if (!tell_strained(world, cause) && gap > TORN) {
    int32_t joint = tabi_model_coupling(model, open).joint;
    const char *name = tabi_model_joint(model, joint).name;
    (void)snprintf(cause, TBI_CAUSE_SIZE, "it starts with joint '%.48s' %.2g beside its coupling",
                   name ? name : "(unnamed)", gap);
  }
}

/* -- support */

static bool is_ground(const tabi_model *model, int32_t link) {
  return link == TABI_WORLD || tabi_model_link_body(model, link) == TABI_WORLD;
}

/* x and y of the contacts with the ground */
static int32_t find_support(const tabi_world *world, double (*p)[2], int32_t most) {
  int32_t count = 0;
  int32_t n = 0;
  const tabi_model *model = tabi_world_model(world);
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count && n < most; ++i) {
    if (!is_ground(model, contact[i].link_a) && !is_ground(model, contact[i].link_b)) continue;
    p[n][0] = contact[i].point[0];
    p[n++][1] = contact[i].point[1];
  }
  return n;
}

/* m, of c to the left of the line from a to b */
static double left_of(const double a[2], const double b[2], const double c[2]) {
  double way[2] = {b[0] - a[0], b[1] - a[1]};
  double length = hypot(way[0], way[1]);
  if (length < THIN) return 0;
  return (way[0] * (c[1] - a[1]) - way[1] * (c[0] - a[0])) / length;
}

typedef struct hull {
  double outside; /* m, of the centre of mass beyond an edge; negative: within all of them */
  double width;   /* m, the least between an edge and the point farthest from it */
} hull;

static hull measure_hull(double (*p)[2], int32_t n, const double com[3]) {
  hull h = {-HUGE_VAL, HUGE_VAL};
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t k = 0; k < n; ++k) {
      if (hypot(p[k][0] - p[i][0], p[k][1] - p[i][1]) < THIN) continue;
      double least = 0;
      double most = 0;
      for (int32_t m = 0; m < n; ++m) {
        least = fmin(least, left_of(p[i], p[k], p[m]));
        most = fmax(most, left_of(p[i], p[k], p[m]));
      }
      if (least < -THIN) continue;
      h.outside = fmax(h.outside, -left_of(p[i], p[k], com));
      h.width = fmin(h.width, most);
    }
  }
  return h;
}

void tbi_try_support_cause(tabi_world *world, char cause[TBI_CAUSE_SIZE]) {
  double p[64][2];
  double com[3];
  int32_t n = find_support(world, p, 64);
  tabi_dynamics_com(tabi_world_dynamics(world), com);
  hull h = measure_hull(p, n, com);
  cause[0] = '\0';
  if (n == 0) return;
  if (!isfinite(h.width)) {
    (void)snprintf(cause, TBI_CAUSE_SIZE, "it stood on a point");
  } else if (h.width < THIN) {
    (void)snprintf(cause, TBI_CAUSE_SIZE, "it stood on a line");
  } else if (h.outside > 0) {
    (void)snprintf(cause, TBI_CAUSE_SIZE, "its centre of mass was %.2g m outside what it stood on",
                   h.outside);
  }
}
