/* problem.c - sets up the contact problem of a step.
 *
 *   candidates, rows --> ports of the bodies in contact (ports.c), Y of the rows (joint_rows.c)
 *   a candidate      --> frame, arms, velocity before the step; on demand its 3x3 response
 */
#include "problem/problem.h"

#include "base/assertion.h"
#include "problem/couples.h"
#include "problem/loop_rows.h"
#include "problem/ports.h"
#include "problem/sweep.h"

#include <float.h>
#include <string.h>

/* Share of the mobility of its ports above which a point is surely mobile.  That mobility counts
 * the turning of the ports about the origins of their trees and so grows with the square of the
 * arms: below the share, own_mobility() tells the end of a long chain from a point held by loops.
 */
#define SURELY_MOBILE 1e-6
/* share of the mobility along its own normal that loop constraints must leave */
#define IMMOBILE 1e-10
/* rounding in that mobility, in units of the arithmetic */
#define ROUNDING 64

static int32_t port_of_shape(const tbi_setup *s, int32_t shape) {
  int32_t body = s->shape_body[shape];
  return body == TABI_WORLD ? TABI_NONE : s->body_port[body];
}

/* For the sticking contacts of cone.c.  If the point has fewer than three degrees of freedom, the
 * inverse would be noise: NaN fails cone.c's test for sticking, so that coulomb.c solves it. */
static s3 stick_inverse(s3 w) {
  return s3_is_regular(w) ? s3_inverse(w) : (s3){(double)NAN, 0, 0, 0, 0, 0};
}

/* the size of w's diagonal, if neither loop constraints nor the position of the point reduced it */
static double loose_mobility(const tbi_problem *p, int32_t k, v4 arm) {
  if (k == TABI_NONE) return 0;
  return p->port[k].loose_lin + v4_dot(arm, arm) * p->port[k].loose_ang;
}

/* what a wrench on port k adds to the velocity j of its path, and to the loop constraint t */
static double path_share(const tbi_problem *p, int32_t k, sv wrench, int32_t j) {
  return sv_dot(p->port_y[p->port[k].y + j], wrench);
}

static double tail_share(const tbi_problem *p, int32_t k, sv wrench, int32_t t) {
  return k == TABI_NONE ? 0 : sv_dot(p->port_y[p->port[k].tail + t], wrench);
}

/* squared length of Y of an impulse on both sides.  Where the ports share velocities of one tree,
 * what they get there adds up before it is squared. */
static double square_of_paths(const tbi_problem *p, const tbi_point *c, tbi_sides on) {
  int32_t shared = c->port_a == TABI_NONE || c->port_b == TABI_NONE
                       ? 0
                       : tbi_paths_shared(p->model, p->port[c->port_a].dof, p->port[c->port_b].dof);
  double sum = 0;
  for (int32_t j = 0; j < shared; ++j) {
    double s = path_share(p, c->port_a, on.a, j) + path_share(p, c->port_b, on.b, j);
    sum += s * s;
  }
  for (int32_t j = shared; c->port_a != TABI_NONE && j < p->port[c->port_a].length; ++j)
    sum += path_share(p, c->port_a, on.a, j) * path_share(p, c->port_a, on.a, j);
  for (int32_t j = shared; c->port_b != TABI_NONE && j < p->port[c->port_b].length; ++j)
    sum += path_share(p, c->port_b, on.b, j) * path_share(p, c->port_b, on.b, j);
  return sum;
}

/* the part of it that lies along loop constraints */
static double square_of_tails(const tbi_problem *p, const tbi_point *c, tbi_sides on) {
  int32_t a = c->port_a == TABI_NONE ? TABI_NONE : p->port[c->port_a].cluster;
  int32_t b = c->port_b == TABI_NONE ? TABI_NONE : p->port[c->port_b].cluster;
  double sum = 0;
  for (int32_t t = 0; a != TABI_NONE && t < p->cluster_loops[a]; ++t) {
    double s = tail_share(p, c->port_a, on.a, t);
    if (a == b) s += tail_share(p, c->port_b, on.b, t);
    sum += s * s;
  }
  for (int32_t t = 0; b != TABI_NONE && b != a && t < p->cluster_loops[b]; ++t)
    sum += tail_share(p, c->port_b, on.b, t) * tail_share(p, c->port_b, on.b, t);
  return sum;
}

/* whether nothing can move the point along its normal: the impulse that stops it would be without
 * bounds.  Its mobility there is compared with what it were without loop constraints, and with the
 * rounding of both: each velocity's share errs by DBL_EPSILON times its part of `loose`. */
static bool is_immobile(const tbi_problem *p, const tbi_point *c, double loose) {
  if (c->w[0][0] > SURELY_MOBILE * loose) return false;
  tbi_sides on = tbi_point_wrenches(c, c->frame.x);
  double own = square_of_paths(p, c, on);
  double left = own - square_of_tails(p, c, on);
  double share = ROUNDING * DBL_EPSILON;
  return left <= IMMOBILE * own + share * sqrt(own * loose) + share * DBL_EPSILON * loose;
}

static void fill_response(const tbi_problem *p, tbi_point *c) {
  TBI_ASSERT(c->port_a != TABI_NONE || c->port_b != TABI_NONE);
  const v4 axis[3] = {c->frame.x, c->frame.y, c->frame.z};
  tbi_sides on[3];
  for (int j = 0; j < 3; ++j) {
    on[j] = tbi_point_wrenches(c, axis[j]);
    tbi_sides change = tbi_sides_response(p, c->port_a, c->port_b, on[j]);
    for (int i = 0; i <= j; ++i)
      c->w[i][j] = c->w[j][i] = sv_dot(on[i].a, change.a) + sv_dot(on[i].b, change.b);
  }
  /* a direction that nothing can move in (a planar mechanism, say) must not divide by zero */
  double trace = c->w[0][0] + c->w[1][1] + c->w[2][2];
  for (int i = 0; i < 3; ++i)
    c->w[i][i] += 1e-12 * trace;
  double loose = loose_mobility(p, c->port_a, c->arm_a) + loose_mobility(p, c->port_b, c->arm_b);
  c->immobile = !(c->w[0][0] > 0) || is_immobile(p, c, loose);
  c->mobility = (c->immobile ? loose : trace) / 3;
  if (!(c->mobility > 0)) {
    /* on the axis of its only joint, say, or lost to rounding */
    c->mobility = 1;
    c->immobile = true;
  }
  const s3 w = {c->w[0][0], c->w[1][1], c->w[2][2], c->w[0][1], c->w[0][2], c->w[1][2]};
  s3_store(stick_inverse(w), c->inverse);
}

static sv body_velocity(const tbi_setup *s, int32_t shape) {
  return s->d->body[s->shape_body[shape]].vel;
}

static v4 arm_to(const tbi_setup *s, int32_t shape, v3 point) {
  TBI_ASSERT(s->shape_body[shape] >= TABI_WORLD && s->shape_body[shape] < s->model->nbody);
  return v4_from(v3_sub(point, tbi_tree_origin(s->d, s->shape_body[shape])));
}

static void fill_point(tbi_setup *s, int32_t index, tbi_point *c) {
  TBI_ASSERT(index >= 0 && index < s->ncandidate);
  const tbi_candidate *candidate = &s->candidate[index];
  c->port_a = port_of_shape(s, candidate->shape_a);
  c->port_b = port_of_shape(s, candidate->shape_b);
  c->candidate = index;
  c->id = tbi_candidate_id(s->model, candidate);
  c->arm_a = arm_to(s, candidate->shape_a, candidate->point);
  c->arm_b = arm_to(s, candidate->shape_b, candidate->point);
  c->frame = tbi_contact_frame(candidate->normal);
  c->gap = candidate->gap;
  c->immobile = false;
  c->mobility = 0; /* unknown, until somebody needs the response */
  c->slipping = TBI_NOT_PUSHING;
  c->angle = 0;
  c->deflection = v3_zero();
  for (int i = 0; i < 3; ++i)
    c->impulse[i] = 0;
  v3 before = tbi_point_velocity(c, body_velocity(s, candidate->shape_a),
                                 body_velocity(s, candidate->shape_b));
  c->slip[0] = before.y;
  c->slip[1] = before.z;
  c->approach = before.x;
}

/* stable sort of the candidates by their two ports, least significant first, by counting; leaves
 * their order in s->order */
static void sort_candidates(tbi_setup *s) {
  int32_t n = s->ncandidate;
  int32_t *order = s->order;
  int32_t *other = s->order + n;
  for (int32_t i = 0; i < n; ++i)
    order[i] = i;
  for (int pass = 0; pass < 2; ++pass) {
    int32_t *count = s->count;
    memset(count, 0, sizeof *count * ((size_t)s->problem.nport + 2));
    for (int32_t i = 0; i < n; ++i) {
      const tbi_candidate *candidate = &s->candidate[i];
      ++count[port_of_shape(s, pass == 0 ? candidate->shape_b : candidate->shape_a) + 2];
    }
    for (int32_t k = 1; k < s->problem.nport + 2; ++k)
      count[k] += count[k - 1];
    for (int32_t i = 0; i < n; ++i) {
      const tbi_candidate *candidate = &s->candidate[order[i]];
      int32_t port = port_of_shape(s, pass == 0 ? candidate->shape_b : candidate->shape_a);
      other[count[port + 1]++] = order[i];
    }
    int32_t *swap = order;
    order = other;
    other = swap;
  }
}

static void group_points(tbi_problem *p) {
  p->ngroup = 0;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    tbi_group *last = p->ngroup > 0 ? &p->group[p->ngroup - 1] : NULL;
    if (last && last->port_a == c->port_a && last->port_b == c->port_b) {
      ++last->count;
    } else {
      p->group[p->ngroup++] = (tbi_group){c->port_a, c->port_b, i, 1};
    }
  }
}

static void solve_loops(tbi_setup *s) {
  tbi_problem *p = &s->problem;
  p->nloop = 0;
  if (s->sweeps_loops) {
    tbi_loop_rows_fill(s);
  } else {
    tbi_loops_solve(&s->loops, s->d, s->pivot_root, s->z, s->scratch);
  }
  p->cluster_loops = s->loops.rank;
  p->nsum = s->model->nv + s->model->cluster_loop[s->model->ncluster];
}

static void begin_problem(tbi_setup *s) {
  s->problem.npoint = s->ncandidate;
  s->problem.ncouple = 0;
  s->problem.model = s->model;
  s->problem.dynamics = s->d;
  s->problem.y = s->y;
  s->problem.port_y = s->port_y;
}

static void fill_points(tbi_setup *s) {
  sort_candidates(s);
  for (int32_t i = 0; i < s->problem.npoint; ++i)
    fill_point(s, s->order[i], &s->problem.point[i]);
}

void tbi_setup_points(tbi_setup *s) {
  TBI_ASSERT(s->model && s->d && s->d->model == s->model);
  begin_problem(s);
  s->problem.cluster_loops = s->loops.rank;
  tbi_ports_number(s);
  fill_points(s);
}

bool tbi_setup_problem(tbi_setup *s) {
  TBI_ASSERT(s->model && s->d && s->d->model == s->model);
  TBI_ASSERT(s->ncandidate == 0 || s->candidate);
  tbi_problem *p = &s->problem;
  begin_problem(s);
  solve_loops(s);
  tbi_ports_number(s);
  if (!tbi_ports_place_blocks(s)) return false;
  tbi_ports_fill(s);
  fill_points(s);
  group_points(p);
  tbi_rows_fill(s);
  return true;
}

void tbi_setup_finish_loops(tbi_setup *s) {
  if (s->sweeps_loops) {
    tbi_loop_rows_finish(s);
  } else {
    tbi_loops_finish(&s->loops, s->problem.sum);
  }
}

void tbi_problem_sum(tbi_problem *p) {
  for (int32_t i = 0; i < p->nport; ++i) {
    sv more = sv_sub(p->received[i], p->summed[i]);
    if (sv_dot(more, more) == 0) continue;
    tbi_port_push(p, i, more, p->sum);
    p->summed[i] = p->received[i];
  }
}

void tbi_problem_respond(tbi_problem *p) {
  for (int32_t i = 0; i < p->npoint; ++i)
    fill_response(p, &p->point[i]);
  tbi_couples_respond(p);
}

static void receive(tbi_problem *p, const tbi_point *c) {
  v4 impulse = m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2]);
  if (c->port_a != TABI_NONE)
    p->received[c->port_a] = sv_sub(p->received[c->port_a], tbi_wrench(c->arm_a, impulse));
  if (c->port_b != TABI_NONE)
    p->received[c->port_b] = sv_add(p->received[c->port_b], tbi_wrench(c->arm_b, impulse));
}

void tbi_problem_receive(tbi_problem *p) {
  for (int32_t k = 0; k < p->nport; ++k)
    p->summed[k] = sv_zero();
  tbi_problem_receive_more(p);
}

void tbi_problem_receive_more(tbi_problem *p) {
  for (int32_t k = 0; k < p->nport; ++k)
    p->received[k] = sv_zero();
  for (int32_t i = 0; i < p->npoint; ++i)
    receive(p, &p->point[i]);
  tbi_couples_receive(p);
}

void tbi_problem_start(tbi_problem *p) {
  memset(p->sum, 0, sizeof *p->sum * (size_t)p->nsum);
  tbi_problem_receive(p);
  for (int32_t i = 0; i < p->nrow; ++i)
    tbi_row_push(p, &p->row[i], p->row[i].impulse, p->sum);
  tbi_loop_rows_start(p);
  tbi_problem_sum(p);
  tbi_problem_update_velocity(p);
}

void tbi_problem_update_velocity(tbi_problem *p) {
  for (int32_t k = 0; k < p->nport; ++k)
    p->velocity[k] = sv_add(p->free[k], tbi_port_response(p, k, p->sum));
}
