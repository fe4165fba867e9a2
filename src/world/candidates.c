/* candidates.c - points that may come into contact in this step, and the normal velocity that each
 * must reach. */
#include "base/assertion.h"
#include "contact/surface.h"
#include "world/world.h"

#define MARGIN 1e-4 /* m, at which shapes are looked at even when nothing moves */

/* what is at rest may be hit by the fastest in this step, and then hit others */
static void share_margins(tabi_world *w) {
  double max = 0;
  for (int32_t i = 0; i < w->model->nshape; ++i)
    max = fmax(max, w->candidates.margin[i]);
  for (int32_t i = 0; i < w->model->nshape; ++i)
    if (w->constants.shape_body[i] != TABI_WORLD) w->candidates.margin[i] = max;
}

/* how far the points of each shape may move in this step */
static void set_margins(tabi_world *w) {
  double h = w->def.timestep;
  double fall = 2 * h * h * v3_norm(v3_load(w->def.gravity));
  tbi_collision_margins(w->collision, w->d, w->constants.shape_radius,
                        (tbi_margin_rule){MARGIN + fall, h}, w->candidates.margin);
  if (w->impacts.sequential) share_margins(w);
}

static bool is_round(const tabi_model *model, int32_t shape) {
  tabi_shape_type type = model->shape[shape].type;
  return type == TABI_SHAPE_SPHERE || type == TABI_SHAPE_CAPSULE || type == TABI_SHAPE_ELLIPSOID;
}

/* Where forces act: halfway between the surfaces, but a round shape on a flat one shall roll on its
 * own radius, also where they overlap a little.  Returns how far to go, in gaps. */
static double lever_share(const tabi_model *model, int32_t shape_a, int32_t shape_b) {
  bool round_a = is_round(model, shape_a);
  bool round_b = is_round(model, shape_b);
  if (round_a == round_b) return 0;
  return round_a ? -0.5 : 0.5;
}

static void set_levers(tabi_world *w, int32_t count) {
  double share = 0;
  for (int32_t i = 0; i < count; ++i) {
    tbi_candidate *candidate = &w->candidates.list[i];
    bool same = i > 0 && candidate->shape_a == candidate[-1].shape_a &&
                candidate->shape_b == candidate[-1].shape_b;
    if (!same) share = lever_share(w->model, candidate->shape_a, candidate->shape_b);
    if (share != 0)
      candidate->point = v3_axpy(candidate->point, share * candidate->gap, candidate->normal);
  }
}

tabi_status tbi_world_candidates(tabi_world *w) {
  set_margins(w);
  int32_t count;
  do {
    count = tbi_collide(w->collision, w->d, w->candidates.margin, w->candidates.list,
                        w->def.max_contacts - tbi_sleep_contacts(w));
    if (count < 0) return tbi_world_lacks_contacts(w);
  } while (tbi_sleep_wake_touched(w, w->candidates.list, count));
  count = tbi_world_drop_told_pairs(w, w->candidates.list, count);
  w->setup.ncandidate = count;
  set_levers(w, count);
  return TABI_OK;
}

static int32_t tree_of_port(const tbi_problem *p, int32_t port) {
  return port == TABI_NONE ? TABI_NONE : p->port[port].tree;
}

void tbi_world_note_impact(tabi_world *w, const tbi_point *c, double share, bool rebounds) {
  const int32_t tree[2] = {tree_of_port(&w->setup.problem, c->port_a),
                           tree_of_port(&w->setup.problem, c->port_b)};
  for (int i = 0; i < 2; ++i) {
    if (tree[i] == TABI_NONE) continue;
    if (rebounds) w->floating.tree[tree[i]].rebounds = true;
    double *time = &w->candidates.impact_time[tree[i]];
    if (*time < 0 || share < *time) *time = share;
  }
}

/* the share of the step before the gap closes under velocity u and acceleration a; negative if it
 * does not close */
static double closing_share(double gap, double u, double a, double h) {
  if (gap <= 0) return 0;
  double root = u * u - 2 * a * gap;
  if (root < 0) return -1;
  double time = 2 * gap / (-u + sqrt(root)); /* the earlier root, without cancellation */
  return time <= h ? time / h : -1;
}

/* a contact that would close fast enough rebounds: true, and its target is set */
static bool set_rebound(tabi_world *w, tbi_point *c, double e, double approach, double gap) {
  double h = w->def.timestep;
  const tbi_problem *p = &w->setup.problem;
  double a = 0;
  if (w->def.integrator == TABI_MIDPOINT) {
    sv va = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
    sv vb = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
    a = (tbi_point_velocity(c, va, vb).x - approach) / h;
  }
  double share = closing_share(gap, approach, a, h);
  if (share < 0) return false;
  /* the rebound velocity, and what the acceleration adds to it after the impact */
  c->target = -e * (approach + a * share * h) + a * (1 - share) * h;
  tbi_world_note_impact(w, c, share, true);
  return true;
}

void tbi_world_targets(tabi_world *w) {
  TBI_ASSERT(w->setup.problem.npoint <= w->def.max_contacts);
  tbi_problem *p = &w->setup.problem;
  double h = w->def.timestep;
  for (int32_t t = 0; t < w->model->ntree; ++t) {
    w->candidates.impact_time[t] = -1;
    w->floating.tree[t].rebounds = false;
  }
  for (int32_t i = 0; i < p->npoint; ++i) {
    tbi_point *c = &p->point[i];
    const tbi_candidate *candidate = &w->candidates.list[c->candidate];
    const tabi_material_def *surface =
        tbi_surface_of(w->model, w->constants.surface, candidate->shape_a, candidate->shape_b);
    double slip = sqrt(c->slip[0] * c->slip[0] + c->slip[1] * c->slip[1]);
    double approach = c->approach;
    c->surface = surface;
    c->slipping = slip > surface->slip_speed ? TBI_SLIDING : TBI_NOT_PUSHING;
    c->friction = tbi_point_friction(c, c->slipping == TBI_SLIDING);
    double start = candidate->gap - (h - p->remaining) * approach; /* gap at the start */
    double deep = fmax(-candidate->gap - w->def.allowed_depth, 0);
    c->resting_target = candidate->gap > 0
                            ? -candidate->gap / h
                            : fmin(w->def.correction * deep / h, w->def.correction_speed);
    bool rebounds = w->method->info.rebounds && !w->impacts.sequential &&
                    surface->restitution > 0 && approach < -surface->rest_speed &&
                    set_rebound(w, c, surface->restitution, approach, start);
    if (!rebounds) c->target = c->resting_target;
  }
}
