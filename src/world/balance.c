/* balance.c - centre of mass, zero-moment point and support polygon of a tree.
 *
 * The polygon is found by walking around the points: from a corner the next one is that which has
 * all others to its left.  That takes points times corners steps and no memory. */
#include "base/assertion.h"
#include "world/world.h"

#include <math.h>
#include <string.h>

/* Contacts of one tree with others, seen from it. */
typedef struct tree_view {
  const tabi_world *w;
  int32_t tree;
} tree_view;

static int32_t tree_of(const tabi_world *w, int32_t link) {
  int32_t body = link == TABI_WORLD ? TABI_WORLD : w->model->link_home[link].body;
  return body == TABI_WORLD ? TABI_WORLD : w->model->body[body].tree;
}

/* Force and couple on the tree by a contact; false if the contact is not between it and another
 * tree. */
static bool wrench_on(const tree_view *view, const tabi_contact *c, v3 *force, v3 *couple) {
  int32_t a = tree_of(view->w, c->link_a);
  int32_t b = tree_of(view->w, c->link_b);
  if (a == b || (a != view->tree && b != view->tree)) return false;
  double rate = (b == view->tree ? 1 : -1) / view->w->def.timestep;
  *force = v3_scale(rate, v3_load(c->impulse));
  *couple = v3_scale(rate, v3_load(c->couple));
  return true;
}

/* whether a contact pushes the tree up */
static bool carries(const tree_view *view, const tabi_contact *c) {
  v3 force = v3_zero();
  v3 couple = v3_zero();
  return wrench_on(view, c, &force, &couple) && force.z > 0;
}

static void centre_of_mass(tabi_world *w, int32_t tree, double com[3]) {
  const tabi_dynamics *d = tbi_world_dynamics(w);
  v3 sum = v3_zero();
  double mass = 0;
  for (int32_t i = w->model->tree_body[tree]; i < w->model->nbody; ++i) {
    const tbi_body *body = &w->model->body[i];
    if (body->tree != tree) break;
    v3 arm = v4_to(v4_add(d->body[i].pos, m4_mulv3(&d->body[i].rot, body->com)));
    sum = v3_add(sum, v3_scale(body->mass, v3_add(arm, tbi_tree_origin(d, i))));
    mass += body->mass;
  }
  v3_store(v3_scale(mass > 0 ? 1 / mass : 0, sum), com);
}

/* Moments are taken about the centre of mass, which is near, for the sake of digits. */
static void zero_moment_point(const tree_view *view, tabi_balance *balance) {
  v3 about = v3_load(balance->com);
  v3 force = v3_zero();
  v3 moment = v3_zero();
  double height = 0;
  for (int32_t i = 0; i < tbi_world_ncontact(view->w); ++i) {
    v3 f = v3_zero();
    v3 couple = v3_zero();
    if (!wrench_on(view, &view->w->solution.contact[i], &f, &couple)) continue;
    v3 arm = v3_sub(v3_load(view->w->solution.contact[i].point), about);
    force = v3_add(force, f);
    moment = v3_add(moment, v3_add(v3_cross(arm, f), couple));
    height += f.z * arm.z;
  }
  v3_store(force, balance->force);
  if (force.z <= 0) return;
  height /= force.z;
  balance->zmp[0] = about.x + (height * force.x - moment.y) / force.z;
  balance->zmp[1] = about.y + (height * force.y + moment.x) / force.z;
  balance->zmp[2] = about.z + height;
}

/* Twice the area of the triangle o a b: above zero when b is to the left of the way from o to a. */
static double turn(const double o[2], const double a[2], const double b[2]) {
  return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
}

static double distance(const double a[2], const double b[2]) {
  double x = a[0] - b[0];
  double y = a[1] - b[1];
  return sqrt(x * x + y * y);
}

#define SAME_POINT 1e-9 /* m */

/* Whether b is a better next corner than a: to its right, or behind it on the same line. */
static bool is_outside(const double from[2], const double a[2], const double b[2]) {
  double side = turn(from, a, b);
  if (fabs(side) > SAME_POINT * distance(from, a)) return side < 0;
  return distance(from, b) > distance(from, a);
}

/* The point that carries and is farthest in a direction, or NULL. */
static const double *farthest(const tree_view *view, double x, double y) {
  const double *found = NULL;
  for (int32_t i = 0; i < tbi_world_ncontact(view->w); ++i) {
    const tabi_contact *c = &view->w->solution.contact[i];
    if (!carries(view, c)) continue;
    double more = found ? x * (c->point[0] - found[0]) + y * (c->point[1] - found[1]) : 1;
    if (more > 0) found = c->point;
  }
  return found;
}

static const double *next_corner(const tree_view *view, const double from[2]) {
  const double *next = from;
  for (int32_t i = 0; i < tbi_world_ncontact(view->w); ++i) {
    const tabi_contact *c = &view->w->solution.contact[i];
    if (!carries(view, c) || distance(from, c->point) < SAME_POINT) continue;
    if (next == from || is_outside(from, next, c->point)) next = c->point;
  }
  return next;
}

static void add_corner(tabi_balance *balance, const double point[2]) {
  memcpy(balance->corner[balance->ncorner++], point, sizeof *balance->corner);
}

/* A polygon with too many corners: the points farthest in TABI_BALANCE_CORNERS directions. */
static void inscribe(const tree_view *view, tabi_balance *balance) {
  balance->ncorner = 0;
  for (int i = 0; i < TABI_BALANCE_CORNERS; ++i) {
    double angle = 2 * M_PI * i / TABI_BALANCE_CORNERS;
    const double *point = farthest(view, cos(angle), sin(angle));
    int32_t last = balance->ncorner - 1;
    if (last >= 0 && distance(balance->corner[last], point) < SAME_POINT) continue;
    add_corner(balance, point);
  }
}

static void support_polygon(const tree_view *view, tabi_balance *balance) {
  const double *first = farthest(view, -1, 0);
  const double *point = first;
  while (point) {
    if (balance->ncorner == TABI_BALANCE_CORNERS) {
      inscribe(view, balance);
      return;
    }
    add_corner(balance, point);
    point = next_corner(view, point);
    if (distance(point, first) < SAME_POINT) return;
  }
}

static double distance_to_edge(const double a[2], const double b[2], const double p[2]) {
  double along[2] = {b[0] - a[0], b[1] - a[1]};
  double square = along[0] * along[0] + along[1] * along[1];
  double part = (p[0] - a[0]) * along[0] + (p[1] - a[1]) * along[1];
  part = square > 0 ? fmin(fmax(part / square, 0), 1) : 0;
  const double nearest[2] = {a[0] + part * along[0], a[1] + part * along[1]};
  return distance(nearest, p);
}

static double margin_of(const tabi_balance *balance) {
  double nearest = HUGE_VAL;
  bool inside = balance->ncorner > 2;
  for (int32_t i = 0; i < balance->ncorner; ++i) {
    const double *a = balance->corner[i];
    const double *b = balance->corner[(i + 1) % balance->ncorner];
    nearest = fmin(nearest, distance_to_edge(a, b, balance->zmp));
    inside = inside && turn(a, b, balance->zmp) >= 0;
  }
  return inside ? nearest : -nearest;
}

tabi_balance tabi_world_balance(tabi_world *world, int32_t link) {
  TBI_ASSERT(world);
  TBI_ASSERT(link == TABI_WORLD || (link >= 0 && link < world->model->nlink));
  tabi_balance balance = {.ncorner = 0};
  tree_view view = {world, tree_of(world, link)};
  if (view.tree == TABI_WORLD) return balance;
  centre_of_mass(world, view.tree, balance.com);
  zero_moment_point(&view, &balance);
  support_polygon(&view, &balance);
  if (balance.ncorner > 0 && balance.force[2] > 0) balance.margin = margin_of(&balance);
  return balance;
}
