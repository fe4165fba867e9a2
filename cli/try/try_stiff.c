/* try_stiff.c - stability of a robot on its feet under its servos.
 *
 * With its contacts as fixed points a robot at rest is stable where the second variation of its
 * energy is positive for every motion v that these allow, J v = 0:
 *
 *   H = d/dq (g(q) - J(q)' f) + K,  g: gravity, f: forces of contacts, K: servos and springs
 *
 * H is positive there if and only if H + rho J' J is positive at all for a large rho: Cholesky's
 * method finds out.  The derivative along every velocity is a central difference. */
#include "try/try_stiff.h"

#include "try/try_close.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIFFERENCE 1e-5 /* rad or m */
#define FIXED      1e5  /* rho, in shares of the largest entry of H */
#define MAX_POINTS 64
#define MIN_PIVOT  1e-9 /* share of the largest entry */

/* A point of a link that the ground holds. */
typedef struct foothold {
  int32_t link;
  double local[3], force[3]; /* in the frame of the link; N, on it */
} foothold;

typedef struct stance {
  const tabi_model *model;
  tabi_dynamics *d;
  size_t nq, nv;
  double *q, *v, *pull; /* [nq], [nv] x 2 */
  double *jacobian;     /* [3 x nv] of a point */
  double *h;            /* [nv x nv] */
  foothold point[MAX_POINTS];
  int32_t count;
} stance;

/* x of the frame of a link in the world */
static void to_world(const stance *s, int32_t link, const double x[3], double to[3]) {
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(s->d, link, pos, quat);
  tbi_try_rotate(quat, x, to);
  for (int k = 0; k < 3; ++k)
    to[k] += pos[k];
}

static void to_link(const stance *s, int32_t link, const double x[3], double to[3]) {
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(s->d, link, pos, quat);
  const double back[4] = {-quat[0], quat[1], quat[2], quat[3]};
  for (int k = 0; k < 3; ++k)
    pos[k] = x[k] - pos[k];
  tbi_try_rotate(back, pos, to);
}

static bool is_ground(const tabi_model *model, int32_t link) {
  return link == TABI_WORLD || tabi_model_link_body(model, link) == TABI_WORLD;
}

static void find_footholds(stance *s, const tabi_world *world) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count && s->count < MAX_POINTS; ++i) {
    const tabi_contact *c = &contact[i];
    bool a = is_ground(s->model, c->link_a);
    if (a == is_ground(s->model, c->link_b)) continue;
    foothold *p = &s->point[s->count++];
    p->link = a ? c->link_b : c->link_a;
    to_link(s, p->link, c->point, p->local);
    for (int k = 0; k < 3; ++k)
      p->force[k] = (a ? 1 : -1) * c->impulse[k] / tabi_world_time(world);
  }
}

/* g - J' f, of the posture that the dynamics have */
static void find_pull(const stance *s, double *pull) {
  tabi_dynamics_inverse(s->d, NULL, pull);
  for (int32_t i = 0; i < s->count; ++i) {
    const foothold *p = &s->point[i];
    double at[3];
    to_world(s, p->link, p->local, at);
    tabi_dynamics_point_jacobian(s->d, p->link, at, s->jacobian);
    for (size_t v = 0; v < s->nv; ++v)
      for (size_t k = 0; k < 3; ++k)
        pull[v] -= s->jacobian[k * s->nv + v] * p->force[k];
  }
}

/* what the dynamics pull with a step along velocity v from the start */
static void pull_beside(stance *s, const double *start, size_t v, double step, double *pull) {
  memset(s->v, 0, s->nv * sizeof *s->v);
  s->v[v] = 1;
  tabi_model_integrate(s->model, start, s->v, step, s->q);
  memset(s->v, 0, s->nv * sizeof *s->v);
  tabi_dynamics_set_state(s->d, s->q, s->v);
  find_pull(s, pull);
}

static void add_gravity(stance *s, const double *start) {
  double *ahead = s->pull;
  double *behind = s->pull + s->nv;
  for (size_t v = 0; v < s->nv; ++v) {
    pull_beside(s, start, v, DIFFERENCE, ahead);
    pull_beside(s, start, v, -DIFFERENCE, behind);
    for (size_t i = 0; i < s->nv; ++i) {
      double rate = (ahead[i] - behind[i]) / (2 * DIFFERENCE);
      s->h[i * s->nv + v] += 0.5 * rate;
      s->h[v * s->nv + i] += 0.5 * rate;
    }
  }
}

static double stiffness_of(const tabi_world *world, int32_t joint) {
  const tabi_model *model = tabi_world_model(world);
  double sum = tabi_model_joint(model, joint).stiffness + tabi_world_get_servo(world, joint).kp;
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i) {
    tabi_actuator_def a = tabi_model_actuator(model, i);
    if (a.joint == joint) sum -= a.bias[1] * a.gear * a.gear;
  }
  return sum;
}

static void add_servos(stance *s, const tabi_world *world) {
  for (int32_t i = 0; i < tabi_model_njoint(s->model); ++i) {
    tabi_range v = tabi_model_joint_v(s->model, i);
    if (v.count == 1) s->h[(size_t)v.first * (s->nv + 1)] += stiffness_of(world, i);
  }
}

static double largest_of(const stance *s) {
  double largest = 0;
  for (size_t i = 0; i < s->nv * s->nv; ++i)
    largest = fmax(largest, fabs(s->h[i]));
  return largest;
}

/* of the start, which the dynamics have */
static void add_footholds(stance *s, double rho) {
  for (int32_t i = 0; i < s->count; ++i) {
    double at[3];
    to_world(s, s->point[i].link, s->point[i].local, at);
    tabi_dynamics_point_jacobian(s->d, s->point[i].link, at, s->jacobian);
    for (size_t k = 0; k < 3; ++k) {
      const double *row = s->jacobian + k * s->nv;
      for (size_t v = 0; v < s->nv * s->nv; ++v)
        s->h[v] += rho * row[v / s->nv] * row[v % s->nv];
    }
  }
}

/* by Cholesky's method, which H is given up to */
static bool is_positive(stance *s, double least) {
  double *h = s->h;
  for (size_t i = 0; i < s->nv; ++i) {
    for (size_t k = 0; k <= i; ++k) {
      double sum = h[i * s->nv + k];
      for (size_t j = 0; j < k; ++j)
        sum -= h[i * s->nv + j] * h[k * s->nv + j];
      if (i == k && !(sum > least)) return false;
      h[i * s->nv + k] = i == k ? sqrt(sum) : sum / h[k * s->nv + k];
    }
  }
  return true;
}

static bool is_unstable(stance *s, const tabi_world *world) {
  const double *start = tabi_world_q(world);
  memcpy(s->q, start, s->nq * sizeof *s->q);
  tabi_dynamics_set_state(s->d, s->q, s->v);
  find_footholds(s, world);
  if (s->count == 0) return false;
  add_gravity(s, start);
  add_servos(s, world);
  double largest = largest_of(s);
  tabi_dynamics_set_state(s->d, start, s->v);
  add_footholds(s, FIXED * largest);
  return !is_positive(s, MIN_PIVOT * largest);
}

bool tbi_try_is_too_soft(tabi_world *world) {
  const tabi_model *model = tabi_world_model(world);
  bool closed = tabi_model_nconnection(model) > 0 || tabi_model_ncoupling(model) > 0;
  if (closed || tabi_model_ntendon(model) > 0) return false;
  stance *s = calloc(1, sizeof *s);
  if (!s) return false;
  s->model = model;
  s->nq = (size_t)tabi_model_nq(model);
  s->nv = (size_t)tabi_model_nv(model);
  s->d = tabi_dynamics_create(model, NULL);
  double *block = calloc(s->nq + 6 * s->nv + s->nv * s->nv + 1, sizeof *block);
  bool soft = false;
  if (s->d && block) {
    s->q = block;
    s->v = s->q + s->nq;
    s->pull = s->v + s->nv;
    s->jacobian = s->pull + 2 * s->nv;
    s->h = s->jacobian + 3 * s->nv;
    soft = is_unstable(s, world);
  }
  free(block);
  tabi_dynamics_destroy(s->d);
  free(s);
  return soft;
}
