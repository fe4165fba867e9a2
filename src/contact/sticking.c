/* sticking.c - direct solve of sticking contacts, predicted and verified.
 *
 * In most steps of a robot that stands or walks every body in contact lies on the world with three
 * points or more, and none of them slips.  Then its twist V at the end of the step is known, and
 * the wrenches m of the ground follow without sweeps from six equations a body,
 *
 *   sum of G_kl m_l = V_k - u_k,   over the bodies l of a tree
 *
 * with one more for each active row, which is a row that reaches its target within its bounds.
 * Which rows are active is predicted and corrected in a few rounds.
 *
 * How the points of a body share its wrench is not unique.  They share it like a bed of springs:
 * pressure changes linearly across the body, and friction is proportional to it, rotated as the
 * couple requires.  Then the prediction is verified: every point pushes and stays within its cone.
 *
 * Before all that, the impulses of the step before are verified as they are: if nothing has
 * changed, they are the solution. */
#include "contact/sticking.h"

#include "base/assertion.h"
#include "base/layout.h"
#include "problem/ports.h"
#include "problem/sweep.h"

#include <string.h>

enum {
  BODIES = 4,               /* the most bodies of a cluster in contact */
  ROWS = 8,                 /* the most active rows of a cluster */
  SIZE = 6 * BODIES + ROWS, /* of the system of a cluster */
  WIDTH = SIZE + 4,         /* of its lines, since whole vectors are written */
  ROUNDS = 6,               /* attempts to find the active rows */
  RELEASES = 4,             /* how often points may leave a body's bed of springs */
};
#define STILL    0.01  /* m/s: points that move faster before the step are not predicted to stick */
#define SINGULAR 1e-10 /* share of its diagonal below which a pivot is rounding */
#define STEADY   1e-4  /* share of the tolerance that the impulses of the step before may miss */
#define SOFT     1e-7  /* share of a body's mobility: compliance of its bed of springs */

/* The unknowns of one cluster: six for each of its ports, then its active rows. */
typedef struct unknowns {
  int32_t port, ports;     /* first port, and how many */
  int32_t row[ROWS], rows; /* active rows, and how many */
  double a[SIZE * WIDTH];  /* the upper triangle, line by line */
  double inverse[SIZE];    /* of the pivots */
  double x[WIDTH];         /* velocities that are missing, then impulses */
} unknowns;

/* Points with weights, as one body. */
typedef struct bed {
  double weight; /* sum of the weights */
  v4 centre;     /* of mass, from the origin of the tree */
  m4 inverse;    /* of the moment of inertia about the centre */
} bed;

typedef struct work {
  int32_t *group;   /* of a port */
  bed *even;        /* of a group, all points that may push having weight 1 */
  sv *wanted;       /* of a group: the twist that brings these points to their targets */
  bool *active;     /* whether a row reaches its target, within its bounds */
  double *weight;   /* of a point */
  v4 *force;        /* N s, impulse of a point on its body, world axes */
  unknowns *system; /* of the cluster under way */
  double tolerance; /* m/s or rad/s */
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  to->group = tbi_layout_take(&at, model->nbody, sizeof *to->group);
  to->even = tbi_layout_take(&at, model->nbody, sizeof *to->even);
  to->wanted = tbi_layout_take(&at, model->nbody, sizeof *to->wanted);
  to->active = tbi_layout_take(&at, (int64_t)model->nv * TBI_ROW_KINDS, sizeof *to->active);
  to->weight = tbi_layout_take(&at, def->max_contacts, sizeof *to->weight);
  to->force = tbi_layout_take(&at, def->max_contacts, sizeof *to->force);
  to->system = tbi_layout_take(&at, 1, sizeof *to->system);
  return at.used;
}

size_t tbi_sticking_memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

/* -- whether all contacts may stick */

static bool is_b(const tbi_group *group) { return group->port_b != TABI_NONE; }
static int32_t port_of(const tbi_group *group) {
  return is_b(group) ? group->port_b : group->port_a;
}
static v4 arm_of(const tbi_group *group, const tbi_point *c) {
  return is_b(group) ? c->arm_b : c->arm_a;
}
/* the direction in which a point pushes its body */
static v4 push_of(const tbi_group *group, const tbi_point *c) {
  return is_b(group) ? c->frame.x : v4_scale(-1, c->frame.x);
}

static bool is_still(const tbi_point *c) {
  return fabs(c->approach) <= STILL && fabs(c->slip[0]) <= STILL && fabs(c->slip[1]) <= STILL;
}

static bool may_stick(const tbi_problem *p, const tbi_group *group) {
  if (group->count < 3 || (group->port_a == TABI_NONE) == (group->port_b == TABI_NONE))
    return false;
  if (p->cluster_ports[p->port[port_of(group)].cluster] > BODIES) return false;
  for (int32_t i = group->first; i < group->first + group->count; ++i)
    if (!is_still(&p->point[i])) return false;
  return true;
}

/* also finds the group of each port: as there are as many of both, each has one */
static bool may_all_stick(const tbi_problem *p, int32_t *group) {
  if (p->ngroup != p->nport) return false;
  for (int32_t g = 0; g < p->ngroup; ++g) {
    if (!may_stick(p, &p->group[g])) return false;
    group[port_of(&p->group[g])] = g;
  }
  return true;
}

/* -- points with weights, as one body */

/* False: the points lie nearly on a line. */
static bool make_bed(const tbi_problem *p, const tbi_group *group, const double *weight, bed *to) {
  int32_t end = group->first + group->count;
  double sum = 0;
  v4 first = v4_zero();
  for (int32_t i = group->first; i < end; ++i) {
    sum += weight[i];
    first = v4_axpy(first, weight[i], arm_of(group, &p->point[i]));
  }
  if (!(sum > 0)) return false;
  to->weight = sum;
  to->centre = v4_scale(1 / sum, first);
  s3 j = s3_zero();
  for (int32_t i = group->first; i < end; ++i) {
    v4 arm = v4_sub(arm_of(group, &p->point[i]), to->centre);
    j = s3_add(j, s3_point_mass(weight[i], v4_to(arm)));
  }
  if (!s3_is_regular(j)) return false;
  to->inverse = m4_from_sym(s3_inverse(j));
  return true;
}

/* The twist nearest, in the sense of least squares, to velocities of the points along their pushes
 * and as large as their targets. */
static sv wanted_twist(const work *w, const tbi_problem *p, const tbi_group *group) {
  const bed *b = &w->even[group - p->group];
  v4 mean = v4_zero();
  v4 moment = v4_zero();
  for (int32_t i = group->first; i < group->first + group->count; ++i) {
    const tbi_point *c = &p->point[i];
    if (c->target == 0 || w->weight[i] == 0) continue;
    v4 v = v4_scale(c->target, push_of(group, c));
    mean = v4_axpy(mean, 1 / b->weight, v);
    moment = v4_add(moment, v4_cross(v4_sub(arm_of(group, c), b->centre), v));
  }
  v4 turn = m4_mulv(&b->inverse, moment);
  return (sv){v4_sub(mean, v4_cross(turn, b->centre)), turn};
}

/* Whether under a twist the points of a bed are at their targets, and other points not below
 * theirs. */
static bool suits(const work *w, const tbi_problem *p, const tbi_group *group, sv twist) {
  for (int32_t i = group->first; i < group->first + group->count; ++i) {
    const tbi_point *c = &p->point[i];
    double beyond = v4_dot(sv_at(twist, arm_of(group, c)), push_of(group, c)) - c->target;
    if (!(beyond >= -w->tolerance && (w->weight[i] == 0 || beyond <= w->tolerance))) return false;
  }
  return true;
}

/* The bed of a body and its wanted twist: with all points, or, if no twist suits all of them, with
 * those that pushed in the step before. */
static bool lay_bed(const work *w, const tbi_problem *p, int32_t g) {
  const tbi_group *group = &p->group[g];
  for (int all = 1; all >= 0; --all) {
    for (int32_t i = group->first; i < group->first + group->count; ++i)
      w->weight[i] = all || p->point[i].impulse[0] > 0 ? 1 : 0;
    if (!make_bed(p, group, w->weight, &w->even[g])) return false;
    w->wanted[g] = wanted_twist(w, p, group);
    if (suits(w, p, group, w->wanted[g])) return true;
  }
  return false;
}

static bool lay_beds(const work *w, const tbi_problem *p) {
  for (int32_t g = 0; g < p->ngroup; ++g)
    if (!lay_bed(w, p, g)) return false;
  return true;
}

/* Impulses weight * (even + turn x arm) of the points of a bed, which add up to a wrench. */
typedef struct field {
  v4 even, turn;
} field;

static field field_of(const bed *b, sv wrench) {
  v4 moment = v4_sub(wrench.ang, v4_cross(b->centre, wrench.lin));
  return (field){v4_scale(1 / b->weight, wrench.lin), m4_mulv(&b->inverse, moment)};
}

/* the twist of a body on a bed of springs of unit compliance under a wrench */
static sv bed_compliance(const bed *b, sv wrench) {
  field f = field_of(b, wrench);
  return (sv){v4_sub(f.even, v4_cross(f.turn, b->centre)), f.turn};
}

static v4 field_at(const field *f, const bed *b, v4 arm) {
  return v4_add(f->even, v4_cross(f->turn, v4_sub(arm, b->centre)));
}

/* -- wrenches, and impulses of active rows */

static int32_t size_of(const unknowns *s) { return 6 * s->ports + s->rows; }

static double *line_of(unknowns *s, int32_t i) { return s->a + (size_t)WIDTH * (size_t)i; }

/* six numbers; the one behind them is overwritten */
static void write_twist(sv twist, double *to) {
  v4_save(twist.lin, to);
  v4_save(twist.ang, to + 3);
}

/* the lines of one port: the responses of all ports from this one on */
static void fill_port(const tbi_problem *p, unknowns *s, int32_t k) {
  for (int i = 0; i < 6; ++i)
    for (int32_t l = k; l < s->ports; ++l)
      write_twist(tbi_problem_block(p, s->port + l, s->port + k)->column[i],
                  line_of(s, 6 * k + i) + 6 * (size_t)l);
}

/* the column and the line of a row, by what an impulse of it does elsewhere */
static void fill_row(const tbi_problem *p, unknowns *s, int32_t r) {
  int32_t own = 6 * s->ports + r;
  memset(p->before, 0, sizeof *p->before * (size_t)p->nsum);
  tbi_row_push(p, &p->row[s->row[r]], 1, p->before);
  for (int32_t k = 0; k < s->ports; ++k) {
    double response[8];
    write_twist(tbi_port_response(p, s->port + k, p->before), response);
    for (int i = 0; i < 6; ++i)
      line_of(s, 6 * k + i)[own] = response[i];
  }
  for (int32_t i = r; i < s->rows; ++i)
    line_of(s, own)[6 * s->ports + i] = tbi_row_response(p, &p->row[s->row[i]], p->before);
}

/* the differences between wanted and present velocities */
static void fill_missing(const work *w, const tbi_problem *p) {
  unknowns *s = w->system;
  for (int32_t k = 0; k < s->ports; ++k) {
    sv wanted = w->wanted[w->group[s->port + k]];
    write_twist(sv_sub(wanted, p->velocity[s->port + k]), s->x + 6 * (size_t)k);
  }
  for (int32_t r = 0; r < s->rows; ++r) {
    const tbi_row *row = &p->row[s->row[r]];
    s->x[6 * s->ports + r] = row->target - tbi_row_velocity(p, row);
  }
}

static void fill_system(const tbi_problem *p, unknowns *s) {
  for (int32_t k = 0; k < s->ports; ++k)
    fill_port(p, s, k);
  for (int32_t r = 0; r < s->rows; ++r)
    fill_row(p, s, r);
}

/* Gauss on the upper triangle; entries left of it are undefined.  False: there are fewer degrees of
 * freedom than equations. */
static bool eliminate(unknowns *s) {
  int32_t n = size_of(s);
  double min[SIZE];
  for (int32_t j = 0; j < n; ++j)
    min[j] = SINGULAR * line_of(s, j)[j];
  for (int32_t j = 0; j < n; ++j) {
    const double *line = line_of(s, j);
    if (!(line[j] > min[j])) return false;
    s->inverse[j] = 1 / line[j];
    for (int32_t i = j + 1; i < n; ++i) {
      double *below = line_of(s, i);
      double share = -s->inverse[j] * line[i];
      for (int32_t k = i / 4 * 4; k < n; k += 4)
        v4_save(v4_axpy(v4_load(below + k), share, v4_load(line + k)), below + k);
    }
  }
  return true;
}

static void substitute(unknowns *s, double *x) {
  int32_t n = size_of(s);
  for (int32_t j = 0; j < n; ++j) {
    const double *line = line_of(s, j);
    double share = s->inverse[j] * x[j];
    for (int32_t i = j + 1; i < n; ++i)
      x[i] -= line[i] * share;
  }
  for (int32_t j = n - 1; j >= 0; --j) {
    x[j] *= s->inverse[j];
    for (int32_t i = 0; i < j; ++i)
      x[i] -= line_of(s, i)[j] * x[j];
  }
}

/* -- where stuck joints leave bodies too few degrees of freedom */

static sv read_wrench(const double *from) {
  return (sv){v4_make(from[0], from[1], from[2]), v4_make(from[3], from[4], from[5])};
}

/* Puts every body on its bed of springs: R = soft * compliance is added to the system. */
static void soften(const work *w, const tbi_problem *p, double soft) {
  unknowns *s = w->system;
  for (int32_t k = 0; k < s->ports; ++k) {
    const bed *b = &w->even[w->group[s->port + k]];
    for (int j = 0; j < 6; ++j) {
      double unit[6] = {0};
      unit[j] = soft;
      double column[8];
      double *line = line_of(s, 6 * k + j) + 6 * (size_t)k;
      write_twist(bed_compliance(b, read_wrench(unit)), column);
      for (int i = j; i < 6; ++i)
        line[i] += column[i];
    }
  }
  for (int32_t r = 0; r < s->rows; ++r)
    line_of(s, 6 * s->ports + r)[6 * s->ports + r] += SOFT * p->row[s->row[r]].w;
}

/* (A + R) x = b, and again for the residual R x: of all solutions of A x = b the one with the
 * smallest impulses of points. */
static bool solve_softly(const work *w, const tbi_problem *p) {
  unknowns *s = w->system;
  double residual[WIDTH] = {0};
  fill_system(p, s);
  const sv *column = tbi_problem_block(p, s->port, s->port)->column;
  double soft = SOFT * w->even[w->group[s->port]].weight * v4_x(column[0].lin);
  soften(w, p, soft);
  if (!eliminate(s)) return false;
  substitute(s, s->x);
  for (int32_t k = 0; k < s->ports; ++k) {
    sv wrench = read_wrench(s->x + 6 * (size_t)k);
    sv twist = bed_compliance(&w->even[w->group[s->port + k]], wrench);
    write_twist(sv_scale(soft, twist), residual + 6 * (size_t)k);
  }
  for (int32_t r = 0; r < s->rows; ++r)
    residual[6 * s->ports + r] = SOFT * p->row[s->row[r]].w * s->x[6 * s->ports + r];
  substitute(s, residual);
  for (int32_t i = 0; i < size_of(s); ++i)
    s->x[i] += residual[i];
  return true;
}

static bool solve_system(const work *w, const tbi_problem *p) {
  unknowns *s = w->system;
  fill_missing(w, p);
  fill_system(p, s);
  if (!eliminate(s)) return s->ports > 1 && solve_softly(w, p);
  substitute(s, s->x);
  return true;
}

static void add_impulses(const unknowns *s, tbi_problem *p) {
  for (int32_t k = 0; k < s->ports; ++k) {
    sv wrench = read_wrench(s->x + 6 * (size_t)k);
    p->received[s->port + k] = sv_add(p->received[s->port + k], wrench);
  }
  for (int32_t r = 0; r < s->rows; ++r) {
    tbi_row *row = &p->row[s->row[r]];
    row->impulse += s->x[6 * s->ports + r];
    tbi_row_push(p, row, s->x[6 * s->ports + r], p->sum);
  }
}

/* False: too many. */
static bool find_unknowns(const work *w, const tbi_problem *p, int32_t cluster) {
  unknowns *s = w->system;
  s->port = p->cluster_port[cluster];
  s->ports = p->cluster_ports[cluster];
  s->rows = 0;
  for (int32_t i = 0; i < p->nrow; ++i) {
    if (!w->active[i] || p->row[i].cluster != cluster) continue;
    if (s->rows == ROWS) return false;
    s->row[s->rows++] = i;
  }
  return true;
}

/* Brings ports to their wanted twists and active rows to their targets. */
static bool reach_targets(const work *w, tbi_problem *p) {
  for (int32_t c = 0; c < p->model->ncluster; ++c) {
    unknowns *s = w->system;
    if (!find_unknowns(w, p, c)) return false;
    if (size_of(s) == 0) continue;
    if (!solve_system(w, p)) return false;
    add_impulses(s, p);
  }
  tbi_problem_sum(p);
  tbi_problem_update_velocity(p);
  return true;
}

/* -- active rows */

static void predict_rows(const work *w, const tbi_problem *p) {
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    w->active[i] = row->impulse != 0 && row->lower < row->impulse && row->impulse < row->upper;
  }
}

/* Active rows beyond a bound are put there and become inactive; inactive rows that miss their
 * targets become active.  Whether nothing changed. */
static bool verify_rows(const work *w, tbi_problem *p) {
  bool good = true;
  for (int32_t i = 0; i < p->nrow; ++i) {
    tbi_row *row = &p->row[i];
    bool was_active = w->active[i];
    double before = row->impulse;
    if (was_active) {
      row->impulse = tbi_min(tbi_max(before, row->lower), row->upper);
      w->active[i] = row->impulse == before;
      tbi_row_push(p, row, row->impulse - before, p->sum);
    } else {
      w->active[i] = tbi_row_misses(p, row) > w->tolerance;
    }
    good = good && w->active[i] == was_active;
  }
  return good;
}

/* -- the impulses of points */

/* Pressures into the weights.  Points that would pull are released. */
static bool find_pressures(const work *w, const tbi_problem *p, const tbi_group *group) {
  sv wrench = p->received[port_of(group)];
  int32_t end = group->first + group->count;
  bed b = w->even[group - p->group];
  for (int turn = 0; turn < RELEASES; ++turn) {
    field f = field_of(&b, wrench);
    bool pull = false;
    for (int32_t i = group->first; i < end; ++i) {
      const tbi_point *c = &p->point[i];
      if (w->weight[i] == 0) continue;
      double pressure = v4_dot(push_of(group, c), field_at(&f, &b, arm_of(group, c)));
      pull = pull || pressure < 0;
      w->weight[i] = pressure;
    }
    if (!pull) return true;
    for (int32_t i = group->first; i < end; ++i)
      w->weight[i] = w->weight[i] > 0 ? 1 : 0;
    if (!make_bed(p, group, w->weight, &b)) return false;
  }
  return false;
}

/* The impulses of a group's points; false: some point pulls or leaves its cone. */
static bool share(const work *w, const tbi_problem *p, const tbi_group *group) {
  bed b;
  if (!find_pressures(w, p, group) || !make_bed(p, group, w->weight, &b)) return false;
  field f = field_of(&b, p->received[port_of(group)]);
  for (int32_t i = group->first; i < group->first + group->count; ++i) {
    const tbi_point *c = &p->point[i];
    v4 force = v4_scale(w->weight[i], field_at(&f, &b, arm_of(group, c)));
    double normal = v4_dot(force, push_of(group, c));
    double y = v4_dot(force, c->frame.y);
    double z = v4_dot(force, c->frame.z);
    if (!(normal >= 0 && y * y + z * z <= c->friction * c->friction * normal * normal))
      return false;
    w->force[i] = force;
  }
  return true;
}

static bool share_all(const work *w, const tbi_problem *p) {
  for (int32_t g = 0; g < p->ngroup; ++g)
    if (!share(w, p, &p->group[g])) return false;
  return true;
}

/* -- verification */

/* whether points with a weight are at their targets and do not slip, and others not below theirs */
static bool is_sticking(const work *w, const tbi_problem *p, double max) {
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    sv a = c->port_a == TABI_NONE ? sv_zero() : p->velocity[c->port_a];
    sv b = c->port_b == TABI_NONE ? sv_zero() : p->velocity[c->port_b];
    v3 u = tbi_point_velocity(c, a, b);
    if (!(u.x - c->target >= -max)) return false;
    if (w->weight[i] == 0) continue;
    if (!(u.x - c->target <= max && fabs(u.y) <= max && fabs(u.z) <= max)) return false;
  }
  return true;
}

static void keep_impulses(const work *w, tbi_problem *p) {
  for (int32_t g = 0; g < p->ngroup; ++g) {
    const tbi_group *group = &p->group[g];
    double side = is_b(group) ? 1 : -1;
    for (int32_t i = group->first; i < group->first + group->count; ++i) {
      tbi_point *c = &p->point[i];
      c->impulse[0] = side * v4_dot(w->force[i], c->frame.x);
      c->impulse[1] = side * v4_dot(w->force[i], c->frame.y);
      c->impulse[2] = side * v4_dot(w->force[i], c->frame.z);
    }
  }
}

/* Whether the warm-start impulses already solve the problem.  Their error is not corrected, so it
 * must be far below the tolerance. */
static bool is_solved(const work *w, const tbi_problem *p) {
  double max = STEADY * w->tolerance;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    const double *r = c->impulse;
    double max_friction = c->friction * r[0];
    w->weight[i] = r[0];
    if (!(r[0] >= 0 && r[1] * r[1] + r[2] * r[2] <= max_friction * max_friction)) return false;
  }
  if (!is_sticking(w, p, max)) return false;
  for (int32_t i = 0; i < p->nrow; ++i)
    if (tbi_row_misses(p, &p->row[i]) > max) return false;
  return true;
}

static bool find_impulses(const work *w, tbi_problem *p) {
  predict_rows(w, p);
  for (int round = 0; round < ROUNDS; ++round) {
    if (!reach_targets(w, p)) return false;
    if (!verify_rows(w, p)) {
      tbi_problem_update_velocity(p);
      continue;
    }
    if (!is_sticking(w, p, w->tolerance) || !share_all(w, p)) return false;
    keep_impulses(w, p);
    return true;
  }
  return false;
}

bool tbi_sticking_solve(tbi_problem *p, const tabi_world_def *def, void *scratch) {
  TBI_ASSERT(p->timestep > 0);
  work w;
  (void)place(&w, scratch, p->model, def);
  w.tolerance = TBI_SETTLED * def->tolerance;
  if (is_solved(&w, p)) return true;
  if (!may_all_stick(p, w.group) || !lay_beds(&w, p)) return false;
  if (find_impulses(&w, p)) return true;
  tbi_problem_start(p);
  return false;
}
