/* sticking.c - direct solve of sticking contacts, predicted and verified.
 *
 * In most steps of a robot that stands or walks every touched body rests on the world with three
 * points or more, and none of them slips.  Then its twist V at the end of the step is known, and
 * the wrenches m of the ground follow without sweeps from six equations a body,
 *
 *   sum of G_kl m_l = V_k - u_k,   over the bodies l of a tree
 *
 * with one more for each joint that a row holds.  Which rows do is found by trying.
 *
 * How the points of a body share its wrench is not unique.  They share it like a bed of springs:
 * pressure changes linearly across the body, and friction is proportional to it, rotated as the
 * couple requires.  Then the prediction is verified: every point pushes and stays within its cone.
 *
 * Where nothing has changed since the step before, its impulses are verified as they are. */
#include "contact/sticking.h"

#include "base/assertion.h"
#include "base/layout.h"
#include "problem/ports.h"
#include "problem/sweep.h"

#include <string.h>

enum {
  BODIES = 4,               /* of a tree that may stand */
  ROWS = 8,                 /* of it that hold */
  SIZE = 6 * BODIES + ROWS, /* of its system */
  WIDTH = SIZE + 4,         /* of its lines, with what is written behind them */
  ROUNDS = 6,               /* until it is known which rows hold */
  LETTING_GO = 4,           /* how often points may leave a body's bed of springs */
};
#define STILL    0.01 /* m/s: what moves faster before the step is not predicted to stick */
#define SINGULAR 1e-10
#define STEADY   1e-4 /* of the tolerance */
#define SOFT     1e-7 /* of a body's mobility: compliance of its bed of springs, where it needs one */

/* The unknowns of one cluster: six for each of its ports, then its rows that are held. */
typedef struct unknowns {
  int32_t port, ports;
  int32_t row[ROWS], rows;
  double a[SIZE * WIDTH]; /* the upper triangle, line by line */
  double inverse[SIZE];   /* of the pivots */
  double x[WIDTH];        /* what is missing, then impulses */
} unknowns;

/* Points with weights, as one body. */
typedef struct bed {
  double weight;
  v4 centre;
  m4 inverse; /* of the moment of inertia about it */
} bed;

typedef struct work {
  int32_t *group; /* of a port */
  bed *even;      /* of a group, the points that may push weighing the same */
  sv *wanted;     /* the twist that brings these to their targets */
  bool *holds;    /* whether a row is brought to its target, within its bounds */
  double *weight; /* of a point */
  v4 *force;      /* impulse of a point on the body that stands */
  unknowns *system;
  double tolerance;
} work;

static size_t place(work *to, void *memory, const tabi_model *model, const tabi_world_def *def) {
  tbi_layout at = {memory, 0};
  to->group = tbi_layout_take(&at, model->nbody, sizeof *to->group);
  to->even = tbi_layout_take(&at, model->nbody, sizeof *to->even);
  to->wanted = tbi_layout_take(&at, model->nbody, sizeof *to->wanted);
  to->holds = tbi_layout_take(&at, (int64_t)model->nv * TBI_ROW_KINDS, sizeof *to->holds);
  to->weight = tbi_layout_take(&at, def->max_contacts, sizeof *to->weight);
  to->force = tbi_layout_take(&at, def->max_contacts, sizeof *to->force);
  to->system = tbi_layout_take(&at, 1, sizeof *to->system);
  return at.used;
}

size_t tbi_sticking_memsize(const tabi_model *model, const tabi_world_def *def) {
  work w;
  return place(&w, NULL, model, def);
}

/* -- whether all may stand */

static bool is_b(const tbi_group *group) { return group->port_b != TABI_NONE; }
static int32_t port_of(const tbi_group *group) {
  return is_b(group) ? group->port_b : group->port_a;
}
static v4 arm_of(const tbi_group *group, const tbi_point *c) {
  return is_b(group) ? c->arm_b : c->arm_a;
}
/* along which a point pushes the body that stands */
static v4 push_of(const tbi_group *group, const tbi_point *c) {
  return is_b(group) ? c->frame.x : v4_scale(-1, c->frame.x);
}

static bool is_still(const tbi_point *c) {
  return fabs(c->approach) <= STILL && fabs(c->slip[0]) <= STILL && fabs(c->slip[1]) <= STILL;
}

static bool may_stand(const tbi_problem *p, const tbi_group *group) {
  if (group->count < 3 || (group->port_a == TABI_NONE) == (group->port_b == TABI_NONE))
    return false;
  if (p->cluster_ports[p->port[port_of(group)].cluster] > BODIES) return false;
  for (int32_t i = group->first; i < group->first + group->count; ++i)
    if (!is_still(&p->point[i])) return false;
  return true;
}

/* and which group is a port's: as there are as many of both, each has one */
static bool may_all_stand(const tbi_problem *p, int32_t *group) {
  if (p->ngroup != p->nport) return false;
  for (int32_t g = 0; g < p->ngroup; ++g) {
    if (!may_stand(p, &p->group[g])) return false;
    group[port_of(&p->group[g])] = g;
  }
  return true;
}

/* -- points with weights, as one body */

/* False: the points are as good as on a line. */
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

/* The twist, of which a motion v at each point is the nearest: v is along the push, and as large as
 * the target. */
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

/* Whether the points of a bed reach their targets under a twist, and others do not fall short. */
static bool suits(const work *w, const tbi_problem *p, const tbi_group *group, sv twist) {
  for (int32_t i = group->first; i < group->first + group->count; ++i) {
    const tbi_point *c = &p->point[i];
    double beyond = v4_dot(sv_at(twist, arm_of(group, c)), push_of(group, c)) - c->target;
    if (!(beyond >= -w->tolerance && (w->weight[i] == 0 || beyond <= w->tolerance))) return false;
  }
  return true;
}

/* The bed of a body and the twist it must reach: all points, or, where that is too much for one
 * body, those that pushed in the step before. */
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

/* What gives the points of a bed impulses that add up to a wrench: weight * (even + turn x arm). */
typedef struct field {
  v4 even, turn;
} field;

static field field_of(const bed *b, sv wrench) {
  v4 moment = v4_sub(wrench.ang, v4_cross(b->centre, wrench.lin));
  return (field){v4_scale(1 / b->weight, wrench.lin), m4_mulv(&b->inverse, moment)};
}

/* the twist of a body on a bed of springs under a wrench */
static sv give_of(const bed *b, sv wrench) {
  field f = field_of(b, wrench);
  return (sv){v4_sub(f.even, v4_cross(f.turn, b->centre)), f.turn};
}

static v4 field_at(const field *f, const bed *b, v4 arm) {
  return v4_add(f->even, v4_cross(f->turn, v4_sub(arm, b->centre)));
}

/* -- wrenches, and impulses of the rows that are held */

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

/* what is missing from the velocities that are wanted */
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

/* Gauss on the upper triangle; what stands left of it is anything.  False: there are too few
 * freedoms for what is held. */
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

/* -- where joints that stick leave bodies no freedom against each other */

static sv read_wrench(const double *from) {
  return (sv){v4_make(from[0], from[1], from[2]), v4_make(from[3], from[4], from[5])};
}

/* Stands everything on its bed of springs: R = soft * compliance is added to the system. */
static void soften(const work *w, const tbi_problem *p, double soft) {
  unknowns *s = w->system;
  for (int32_t k = 0; k < s->ports; ++k) {
    const bed *b = &w->even[w->group[s->port + k]];
    for (int j = 0; j < 6; ++j) {
      double unit[6] = {0};
      unit[j] = soft;
      double give[8];
      double *line = line_of(s, 6 * k + j) + 6 * (size_t)k;
      write_twist(give_of(b, read_wrench(unit)), give);
      for (int i = j; i < 6; ++i)
        line[i] += give[i];
    }
  }
  for (int32_t r = 0; r < s->rows; ++r)
    line_of(s, 6 * s->ports + r)[6 * s->ports + r] += SOFT * p->row[s->row[r]].w;
}

/* (A + R) x = b, and again with what that leaves of b, R x: of all solutions of A x = b the one in
 * which the points' impulses are least. */
static bool solve_softly(const work *w, const tbi_problem *p) {
  unknowns *s = w->system;
  double rest[WIDTH] = {0};
  fill_system(p, s);
  const sv *column = tbi_problem_block(p, s->port, s->port)->column;
  double soft = SOFT * w->even[w->group[s->port]].weight * v4_x(column[0].lin);
  soften(w, p, soft);
  if (!eliminate(s)) return false;
  substitute(s, s->x);
  for (int32_t k = 0; k < s->ports; ++k) {
    sv wrench = read_wrench(s->x + 6 * (size_t)k);
    sv give = give_of(&w->even[w->group[s->port + k]], wrench);
    write_twist(sv_scale(soft, give), rest + 6 * (size_t)k);
  }
  for (int32_t r = 0; r < s->rows; ++r)
    rest[6 * s->ports + r] = SOFT * p->row[s->row[r]].w * s->x[6 * s->ports + r];
  substitute(s, rest);
  for (int32_t i = 0; i < size_of(s); ++i)
    s->x[i] += rest[i];
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
    if (!w->holds[i] || p->row[i].cluster != cluster) continue;
    if (s->rows == ROWS) return false;
    s->row[s->rows++] = i;
  }
  return true;
}

/* Brings ports to rest and rows that hold to their targets. */
static bool bring_to_rest(const work *w, tbi_problem *p) {
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

/* -- which rows hold */

static void predict_rows(const work *w, const tbi_problem *p) {
  for (int32_t i = 0; i < p->nrow; ++i) {
    const tbi_row *row = &p->row[i];
    w->holds[i] = row->impulse != 0 && row->lower < row->impulse && row->impulse < row->upper;
  }
}

/* Rows beyond their bounds stop there; others that ought to move hold from now on.  Whether nothing
 * changed. */
static bool verify_rows(const work *w, tbi_problem *p) {
  bool good = true;
  for (int32_t i = 0; i < p->nrow; ++i) {
    tbi_row *row = &p->row[i];
    bool held = w->holds[i];
    double before = row->impulse;
    if (held) {
      row->impulse = tbi_min(tbi_max(before, row->lower), row->upper);
      w->holds[i] = row->impulse == before;
      tbi_row_push(p, row, row->impulse - before, p->sum);
    } else {
      w->holds[i] = tbi_row_misses(p, row) > w->tolerance;
    }
    good = good && w->holds[i] == held;
  }
  return good;
}

/* -- how points share them */

/* Pressures into the weights.  Points that would pull are let go. */
static bool find_pressures(const work *w, const tbi_problem *p, const tbi_group *group) {
  sv wrench = p->received[port_of(group)];
  int32_t end = group->first + group->count;
  bed b = w->even[group - p->group];
  for (int turn = 0; turn < LETTING_GO; ++turn) {
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

/* all points that may push at their targets and not slipping, others not beyond theirs */
static bool is_at_rest(const work *w, const tbi_problem *p, double max) {
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

/* Whether the impulses that it starts with do, which are those of the step before.  What they miss
 * is not corrected, so it has to be next to nothing. */
static bool is_solved(const work *w, const tbi_problem *p) {
  double max = STEADY * w->tolerance;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    const double *r = c->impulse;
    double most_friction = c->friction * r[0];
    w->weight[i] = r[0];
    if (!(r[0] >= 0 && r[1] * r[1] + r[2] * r[2] <= most_friction * most_friction)) return false;
  }
  if (!is_at_rest(w, p, max)) return false;
  for (int32_t i = 0; i < p->nrow; ++i)
    if (tbi_row_misses(p, &p->row[i]) > max) return false;
  return true;
}

static bool find_impulses(const work *w, tbi_problem *p) {
  predict_rows(w, p);
  for (int round = 0; round < ROUNDS; ++round) {
    if (!bring_to_rest(w, p)) return false;
    if (!verify_rows(w, p)) {
      tbi_problem_update_velocity(p);
      continue;
    }
    if (!is_at_rest(w, p, w->tolerance) || !share_all(w, p)) return false;
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
  if (!may_all_stand(p, w.group) || !lay_beds(&w, p)) return false;
  if (find_impulses(&w, p)) return true;
  tbi_problem_start(p);
  return false;
}
