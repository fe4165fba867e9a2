/* slip.c - which contacts slide at the end of a step.
 *
 * A contact that slides keeps kinetic friction until it sticks again, however slow it is; otherwise
 * static friction would return in every step below slip_speed.
 *
 * At its cone, a contact breaks away if it gains speed, clearly or in four steps, and moves much
 * faster than all that stick on the same trees.  Both matter where sharing among several points is
 * soft or not unique.  Under penalty a lightly loaded corner is at its cone long before its body
 * breaks away, and then moves only as far as the springs of the other corners give way; and a load
 * that comes suddenly takes all corners to their cones while the springs stop the body, which is
 * what static friction does. */
#include "base/assertion.h"
#include "world/world.h"

#define AT_CONE   (1 - 1e-6) /* share of the friction that a contact can bear */
#define MIN_SPEED 1e-9       /* m/s: slower contacts do not slide, whatever the tolerance */
#define FASTER    30         /* than sticking contacts */
#define OPPOSED   0.999      /* cosine of the angle between friction and slip */
#define CLEARLY   1.5        /* growth of the energy in a step in which a contact breaks away */

static v3 slip_of(const tbi_problem *p, const tbi_point *c) {
  sv a = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
  sv b = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
  return tbi_point_velocity(c, a, b);
}

static double size_along(v3 u) { return sqrt(u.y * u.y + u.z * u.z); }

static sv twist_of(const tabi_world *w, int32_t port, const sv *after) {
  if (port == TABI_NONE) return sv_zero();
  return after ? after[port] : w->d->body[w->setup.problem.port[port].body].vel;
}

/* J, twice the energy of the motion of one body past the other in the plane of contact, before the
 * step or after it.  Below the limit of static friction it falls when all points slip (limit
 * analysis); the speeds of the points themselves may rise while bodies rock on soft surfaces. */
static double planar_energy(const tabi_world *w, const tbi_point *c, const sv *after) {
  bool on_b = c->port_b != TABI_NONE;
  const int32_t port = on_b ? c->port_b : c->port_a;
  const body_inertia *inertia = &w->d->body[w->setup.problem.port[port].body].inertia;
  double m = inertia->mass;
  v4 n = c->frame.x;
  v4 from_point = v4_zero(); /* to the centre of mass */
  double spin_inertia = 0;
  if (m > 0) {
    v4 centre = v4_scale(1 / m, inertia->h);
    double up = v4_dot(n, centre);
    from_point = v4_sub(centre, on_b ? c->arm_b : c->arm_a);
    spin_inertia = v4_dot(n, m4_mulv(&inertia->moment, n)) - m * (v4_dot(centre, centre) - up * up);
  }
  sv a = twist_of(w, c->port_a, after);
  sv b = twist_of(w, c->port_b, after);
  v4 slip = v4_sub(sv_at(b, v4_add(c->arm_b, from_point)), sv_at(a, v4_add(c->arm_a, from_point)));
  double y = v4_dot(slip, c->frame.y);
  double z = v4_dot(slip, c->frame.z);
  double spin = v4_dot(n, v4_sub(b.ang, a.ang));
  return (m > 0 ? m : 1) * (y * y + z * z) + spin_inertia * spin * spin;
}

static bool is_at_cone(const tbi_point *c) {
  double max = AT_CONE * c->friction * c->impulse[0];
  return c->impulse[1] * c->impulse[1] + c->impulse[2] * c->impulse[2] >= max * max;
}

/* nothing depends on the mode where both coefficients are the same */
static bool has_modes(const tbi_problem *p) {
  for (int32_t i = 0; i < p->npoint; ++i)
    if (p->point[i].surface->kinetic != p->point[i].surface->friction) return true;
  return false;
}

/* the speed of the fastest contact that sticks, on each of two trees */
static double *speed_on(const tabi_world *w, int32_t port) {
  return port == TABI_NONE ? NULL : &w->scratch.dofs[w->setup.problem.port[port].tree];
}

static void raise(double *to, double value) {
  if (to && value > *to) *to = value;
}

static void find_sticking_speeds(tabi_world *w) {
  const tbi_problem *p = &w->setup.problem;
  TBI_ASSERT(w->model->ntree <= w->model->nv);
  for (int32_t t = 0; t < w->model->ntree; ++t)
    w->scratch.dofs[t] = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    if (!(c->impulse[0] > 0) || is_at_cone(c)) continue;
    double speed = size_along(slip_of(p, c));
    raise(speed_on(w, c->port_a), speed);
    raise(speed_on(w, c->port_b), speed);
  }
}

/* the speed above which a contact at its cone does not move with those that stick */
static double sticking_speed(const tabi_world *w, const tbi_point *c) {
  double max = 0;
  const double *a = speed_on(w, c->port_a);
  const double *b = speed_on(w, c->port_b);
  if (a) max = tbi_max(max, *a);
  if (b) max = tbi_max(max, *b);
  return FASTER * max;
}

/* friction turns with the slip while springs are loaded; it opposes the slip of what has broken
 * away */
static bool is_opposed(const tbi_point *c, v3 u, double speed) {
  double along = sqrt(c->impulse[1] * c->impulse[1] + c->impulse[2] * c->impulse[2]);
  return -(c->impulse[1] * u.y + c->impulse[2] * u.z) >= OPPOSED * along * speed;
}

static int32_t slipping_of(const tabi_world *w, const tbi_point *c) {
  if (!(c->impulse[0] > 0)) return TBI_NOT_PUSHING;
  v3 u = slip_of(&w->setup.problem, c);
  double speed = size_along(u);
  if (!is_at_cone(c) || speed <= tbi_max(100 * w->def.tolerance, MIN_SPEED)) return TBI_STICKING;
  if (c->slipping == TBI_SLIDING) return TBI_SLIDING;
  if (speed <= sticking_speed(w, c) || !is_opposed(c, u, speed)) return TBI_STICKING;
  double before = planar_energy(w, c, NULL);
  double after = planar_energy(w, c, w->setup.problem.velocity);
  if (after <= before) return TBI_STICKING;
  if (after >= CLEARLY * before) return TBI_SLIDING;
  return c->slipping == TBI_NOT_PUSHING ? TBI_STICKING : c->slipping + 1;
}

void tbi_world_note_slip(tabi_world *w) {
  tbi_problem *p = &w->setup.problem;
  if (w->method->as_published || !has_modes(p)) return;
  find_sticking_speeds(w);
  for (int32_t i = 0; i < p->npoint; ++i)
    p->point[i].slipping = (uint8_t)slipping_of(w, &p->point[i]);
}
