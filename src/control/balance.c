/* balance.c - see balance.h.
 *
 * Unknowns x are the accelerations of base and legs.  Tasks are rows a x = r with weights, solved
 * in the sense of least squares with some damping of the joints (a straight knee would ask for
 * thousands of N m):
 *
 *   stance feet 100, centre of mass 100 level and 30 upright, swing foot 10, rotations of the waist
 * 0.3 (rad/s^2)^2 for a CoM at 0.8 m, those of feet 0.05 of their weight; weights of rotations grow
 * with the square of the size.  A swing leg that is thrown far asks for more moment than the sole
 * can give: the waist then tilts rather than that the centre of mass runs away, but not so far that
 * hips come to the ends of their ranges and efforts.  A robot that stands has no next step to catch
 * it: tilt then weighs 0.02.
 *
 * The wrench that the ground must provide is linear in x: with C the composite inertia behind each
 * joint times its axis (crba.c), F = F0 + C x.  So are its limits: the centre of pressure inside
 * the soles, friction, torsion, and a pull that it cannot give; and so are the torques of the legs,
 * M x + h less the wrench on the foot, for the share of the load that the wanted centre of pressure
 * gives each foot.  Limits that are broken become rows of large weight, and limits that no longer
 * hold anything are dropped: Newton's method for a convex sum of squares, no step of which goes
 * farther than the sum falls.
 *
 * In double support the wrench is shared: the centre of pressure p = l s0 + (1 - l) s1 + r between
 * the middles s of the soles gives the left foot the share l of the force, at s0 + r.  The hull of
 * two equal soles is made of such points with r inside a sole. */
#include "control/balance.h"

#include "base/assertion.h"
#include "base/error.h"
#include "control/crouch.h"
#include "control/drive.h"
#include "math/linalg.h"

#include <stdlib.h>
#include <string.h>

enum {
  N = TBI_BALANCE_MAX,
  ROUNDS = 20,
  HALVINGS = 30,
  MAX_LIMITS = TBI_SUPPORT_MAX + 13 + 2 * (N - 6)
};
#define STANCE_WEIGHT  100.0
#define SWING_WEIGHT   10.0
#define COM_WEIGHT     100.0
#define HEIGHT_WEIGHT  30.0
#define WAIST_WEIGHT   0.3
#define STAND_WEIGHT   0.02 /* likewise, of tilt in a robot that stands */
#define TURN_WEIGHT    0.05
#define DAMPING        0.02
#define LIMIT_WEIGHT   1e5 /* of broken limits, in m/s^2 */
#define EDGE_SHARE     0.9 /* of half a sole, within which each of two feet carries its load */
#define TYPICAL_HEIGHT 0.8 /* m */
#define PYRAMID        0.7 /* of the friction coefficient: a pyramid inside the cone */
#define MIN_LOAD       0.1 /* share of the weight that the feet carry at least */

static const tabi_place nowhere = {NULL, 0};

/* -- the robot */

static void list_unknowns(tbi_balance *b, const tabi_biped *biped) {
  const tabi_model *model = b->model;
  const tbi_body *base = &model->body[model->joint_body[biped->base]];
  for (int32_t i = 0; i < 6; ++i)
    b->dof[b->n++] = base->v + i;
  for (int side = 0; side < 2; ++side) {
    const tabi_leg *leg = &biped->leg[side];
    b->njoint[side] = leg->njoint;
    for (int32_t i = 0; i < leg->njoint; ++i) {
      b->effort[b->n] = tbi_drive_effort(model, leg->joint[i]);
      b->dof[b->n++] = model->body[model->joint_body[leg->joint[i]]].v;
    }
  }
}

tabi_status tbi_balance_make(tbi_balance *b, const tabi_model *model, const tabi_biped *biped,
                             tabi_error *err) {
  tabi_error why = {0};
  *b = (tbi_balance){.model = model, .mass = biped->mass, .size = TYPICAL_HEIGHT};
  b->d = tabi_dynamics_create(model, &why);
  if (!b->d) {
    if (err) *err = why;
    return why.status;
  }
  b->qdd = calloc(2 * (size_t)model->nv + 1, sizeof *b->qdd);
  if (!b->qdd) return tbi_error_memory(err);
  b->tau = b->qdd + model->nv;
  b->tree = model->body[model->joint_body[biped->base]].tree;
  b->waist = model->link_home[biped->waist].body;
  m3 in_link = q_matrix(q_load(biped->in_waist));
  b->level = m3_mul(&model->link_home[biped->waist].frame.rot, &in_link);
  b->gravity = -model->gravity[2];
  for (int side = 0; side < 2; ++side) {
    const tabi_leg *leg = &biped->leg[side];
    tbi_frame own = tbi_frame_load(leg->pos, leg->quat);
    b->foot[side] = model->link_home[leg->foot].body;
    b->half[side][0] = 0.5 * leg->length;
    b->half[side][1] = 0.5 * leg->width;
    b->sole[side] = tbi_frame_mul(&model->link_home[leg->foot].frame, &own);
  }
  list_unknowns(b, biped);
  if (b->gravity > 0) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_ARGUMENT, nowhere, "gravity does not point down");
}

void tbi_balance_free(tbi_balance *b) {
  tabi_dynamics_destroy(b->d);
  free(b->qdd);
}

/* -- the state */

static v3 origin(const tbi_balance *b) { return b->d->origin[b->tree]; }

static void set_sole(tbi_balance *b, int side) {
  const tbi_body_state *body = &b->d->body[b->foot[side]];
  m3 rot = m4_to(&body->rot);
  tbi_frame frame = {rot, v3_add(v4_to(body->pos), origin(b))};
  tbi_sole_state *at = &b->at[side];
  at->frame = tbi_frame_mul(&frame, &b->sole[side]);
  at->velocity = v4_to(sv_at(body->vel, v4_from(v3_sub(at->frame.pos, origin(b)))));
  at->rotation = v4_to(body->vel.ang);
}

void tbi_balance_set(tbi_balance *b, const double *q, const double *v) {
  tabi_dynamics *d = b->d;
  tbi_kinematics(d, q, v);
  tbi_compose(d);
  const body_inertia *all = &d->composite[b->model->tree_body[b->tree]];
  v4 momentum = v4_zero();
  int32_t end = b->tree + 1 < b->model->ntree ? b->model->tree_body[b->tree + 1] : b->model->nbody;
  for (int32_t i = b->model->tree_body[b->tree]; i < end; ++i)
    momentum = v4_add(momentum, inertia_mulv(&d->body[i].inertia, d->body[i].vel).lin);
  b->com = v3_add(origin(b), v4_to(v4_scale(1 / all->mass, all->h)));
  b->com_rate = v4_to(v4_scale(1 / all->mass, momentum));
  for (int side = 0; side < 2; ++side)
    set_sole(b, side);
  m3 waist = m4_to(&d->body[b->waist].rot);
  b->waist_axes = m3_mul(&waist, &b->level);
  b->waist_rate = v4_to(d->body[b->waist].vel.ang);
}

static double distance_of(const tbi_balance *b, int32_t body, int32_t other) {
  return v3_norm(v4_to(v4_sub(b->d->body[body].pos, b->d->body[other].pos)));
}

void tbi_balance_measure_legs(tbi_balance *b, const tabi_biped *biped) {
  for (int side = 0; side < 2; ++side) {
    const tabi_leg *leg = &biped->leg[side];
    int32_t pitch[3] = {leg->joint[0], leg->joint[0], leg->joint[leg->njoint - 1]};
    bool found = tbi_crouch_pitch_joints(b->d, biped, side, pitch);
    int32_t knee = b->model->joint_body[pitch[1]];
    b->hip[side] = b->model->joint_body[pitch[0]];
    b->ankle[side] = b->model->joint_body[pitch[2]];
    b->straight[side] = distance_of(b, b->hip[side], knee) + distance_of(b, knee, b->ankle[side]);
    if (!found) b->straight[side] = HUGE_VAL;
  }
}

double tbi_balance_stretch(const tbi_balance *b, int side) {
  return distance_of(b, b->hip[side], b->ankle[side]) / b->straight[side];
}

/* -- tasks */

typedef struct task_system {
  double matrix[N][N]; /* lower triangle */
  double right[N];
  int32_t n;
} task_system;

static void add_row(task_system *s, const double *row, double right, double weight) {
  for (int32_t i = 0; i < s->n; ++i) {
    double scaled = weight * row[i];
    if (scaled == 0) continue;
    s->right[i] += scaled * right;
    for (int32_t j = 0; j <= i; ++j)
      s->matrix[i][j] += scaled * row[j];
  }
}

/* Three rows: row i of the columns. */
static void add_vector(task_system *s, const v3 *column, v3 right, v3 weight) {
  double row[3][N];
  for (int32_t j = 0; j < s->n; ++j) {
    row[0][j] = column[j].x;
    row[1][j] = column[j].y;
    row[2][j] = column[j].z;
  }
  add_row(s, row[0], right.x, weight.x);
  add_row(s, row[1], right.y, weight.y);
  add_row(s, row[2], right.z, weight.z);
}

static v3 same(double a) { return (v3){a, a, a}; }

/* Whether an unknown moves a foot. */
static bool moves_foot(const tbi_balance *b, int side, int32_t i) {
  int32_t first = 6 + (side == 1 ? b->njoint[0] : 0);
  return i < 6 || (i >= first && i < first + b->njoint[side]);
}

/* How a body turns in free directions of a leg with fewer than six joints: the rotation about the
 * sole's forward axis is left out. */
static void add_foot(const tbi_balance *b, const tbi_balance_goal *goal, int side, task_system *s) {
  const tabi_dynamics *d = b->d;
  const tbi_body_state *body = &d->body[b->foot[side]];
  v4 x = v4_from(v3_sub(b->at[side].frame.pos, origin(b)));
  v3 move[N];
  v3 turn[N];
  for (int32_t i = 0; i < b->n; ++i) {
    bool moves = moves_foot(b, side, i);
    sv axis = d->axis[b->dof[i]];
    move[i] = moves ? v4_to(sv_at(axis, x)) : v3_zero();
    turn[i] = moves ? v4_to(axis.ang) : v3_zero();
  }
  /* d->acc is without gravity, which pulls the world up instead */
  sv acc = d->acc[b->foot[side]];
  v4 own = v4_add(sv_at(acc, x), v4_cross(body->vel.ang, sv_at(body->vel, x)));
  v3 bias = v3_add(v4_to(own), v3_load(b->model->gravity));
  double weight = goal->stance[side] ? STANCE_WEIGHT : SWING_WEIGHT;
  double scale = b->size / TYPICAL_HEIGHT;
  double turn_weight = TURN_WEIGHT * weight * scale * scale;
  add_vector(s, move, v3_sub(goal->foot[side], bias), same(weight));
  v3 rest = v3_sub(goal->turn[side], v4_to(acc.ang));
  if (b->njoint[side] >= 6) {
    add_vector(s, turn, rest, same(turn_weight));
    return;
  }
  const m3 *axes = &b->at[side].frame.rot;
  for (int k = 1; k < 3; ++k) {
    double row[N];
    for (int32_t i = 0; i < b->n; ++i)
      row[i] = v3_dot(turn[i], m3_column(axes, k));
    add_row(s, row, v3_dot(rest, m3_column(axes, k)), turn_weight);
  }
}

static void add_com(const tbi_balance *b, const tbi_balance_goal *goal, const sv *column, sv bias,
                    task_system *s) {
  v3 move[N];
  for (int32_t i = 0; i < b->n; ++i)
    move[i] = v4_to(v4_scale(1 / b->mass, column[i].lin));
  v3 free = v3_add(v4_to(v4_scale(1 / b->mass, bias.lin)), v3_load(b->model->gravity));
  add_vector(s, move, v3_sub(goal->com, free), (v3){COM_WEIGHT, COM_WEIGHT, HEIGHT_WEIGHT});
}

static void add_waist(const tbi_balance *b, const tbi_balance_goal *goal, task_system *s) {
  v3 turn[N];
  double square = b->size * b->size / (TYPICAL_HEIGHT * TYPICAL_HEIGHT);
  double tilt = (goal->stands ? STAND_WEIGHT : WAIST_WEIGHT) * square;
  for (int32_t i = 0; i < b->n; ++i)
    turn[i] = i < 6 ? v4_to(b->d->axis[b->dof[i]].ang) : v3_zero();
  add_vector(s, turn, v3_sub(goal->waist, v4_to(b->d->acc[b->waist].ang)),
             (v3){tilt, tilt, WAIST_WEIGHT * square});
}

static void add_damping(const tbi_balance *b, task_system *s) {
  double scale = b->size / TYPICAL_HEIGHT;
  for (int32_t i = 0; i < b->n; ++i)
    s->matrix[i][i] += i < 6 ? 1e-8 : DAMPING * scale * scale;
}

/* -- limits of the wrench: row x >= bound, in m/s^2 */

typedef struct limit {
  double row[N], bound;
  bool active;
} limit;

/* A linear function of the wrench about the tree's origin: not below `least`. */
static void add_limit(const tbi_balance *b, const sv *column, sv bias, sv what, double least,
                      limit *to) {
  double scale = 1 / b->mass;
  for (int32_t i = 0; i < b->n; ++i)
    to->row[i] = scale * sv_dot(what, column[i]);
  to->bound = scale * (least - sv_dot(what, bias));
  to->active = false;
}

/* Moments about a point of the ground are those about the origin less point x force; the centre of
 * pressure is inside an edge with inward normal n from e if n_x (p_x - e_x) + n_y (p_y - e_y) >= 0,
 * p_x = -M_y / f_z, p_y = M_x / f_z.  Over the height, so that it compares with accelerations. */
static sv edge_function(const tbi_balance *b, const double *from, const double *to, double ground) {
  v3 o = origin(b);
  double length = hypot(to[0] - from[0], to[1] - from[1]);
  double nx = -(to[1] - from[1]) / length;
  double ny = (to[0] - from[0]) / length;
  v3 e = {from[0] - o.x, from[1] - o.y, ground - o.z};
  /* -n_x M_y' + n_y M_x', with M' = M - e x f */
  v3 moment = {ny, -nx, 0};
  v3 force = v3_neg(v3_cross(moment, e));
  return (sv){v4_from(v3_scale(1 / b->size, force)), v4_from(v3_scale(1 / b->size, moment))};
}

/* Torsion that the corners of a sole can hold beside the other forces, in its axes (Caron, Pham and
 * Nakamura 2015), for half lengths X and Y:
 *
 *   mu (X + Y) f_z - s M_z -+ (Y f_x + s mu M_x) -+ (X f_y + s mu M_y) >= 0,  s = +-1
 *
 * A foot that carries all on its toe spins far more easily than one that stands. */
static int32_t list_torsion(const tbi_balance *b, int side, const sv *column, sv bias, limit *list,
                            int32_t count) {
  const tbi_frame *sole = &b->at[side].frame;
  v3 x = m3_column(&sole->rot, 0);
  v3 y = m3_column(&sole->rot, 1);
  v3 centre = v3_sub(sole->pos, origin(b));
  double mu = PYRAMID * b->friction;
  double half[2] = {b->half[side][0], b->half[side][1]};
  for (int i = 0; i < 8; ++i) {
    double s = i & 1 ? -1 : 1;
    double to_x = i & 2 ? -1 : 1;
    double to_y = i & 4 ? -1 : 1;
    v3 moment = v3_axpy(v3_scale(-s * mu * to_x, x), -s * mu * to_y, y);
    moment.z -= s;
    v3 force = v3_axpy(v3_scale(-to_x * half[1], x), -to_y * half[0], y);
    force.z += mu * (half[0] + half[1]);
    force = v3_sub(force, v3_cross(moment, centre));
    sv what = {v4_from(v3_scale(1 / b->size, force)), v4_from(v3_scale(1 / b->size, moment))};
    add_limit(b, column, bias, what, 0, &list[count++]);
  }
  return count;
}

/* M_ij of two unknowns: joints of one leg, or the base; the later one is farther from the base. */
static double coupling_inertia(const tbi_balance *b, const sv *column, int32_t i, int32_t j) {
  int32_t outer = i > j ? i : j;
  int32_t inner = i > j ? j : i;
  int32_t second = 6 + b->njoint[0];
  if (inner >= 6 && (inner < second) != (outer < second)) return 0;
  double inertia = sv_dot(b->d->axis[b->dof[inner]], column[outer]);
  return i == j ? inertia + b->model->dof_rotor[b->dof[i]] : inertia;
}

/* How a wrench W of the ground on both feet loads the joint with the axis S of a leg: by S . W_leg,
 * a linear function of W.  The foot has the share of the force, along from its centre of pressure
 * to that of the other. */
static sv foot_share(sv axis, double share, v3 along) {
  v3 apart = v3_scale(share * (1 - share), v3_cross(v4_to(axis.ang), along));
  return (sv){v4_from(v3_sub(v3_scale(share, v4_to(axis.lin)), apart)), v4_scale(share, axis.ang)};
}

/* Torques of the legs within their effort limits, in such units that these are one g; b->tau are
 * those without accelerations and without ground. */
static int32_t list_torques(const tbi_balance *b, const tbi_balance_goal *goal, const sv *column,
                            sv bias, limit *list, int32_t count) {
  const tbi_frame *sole[2] = {&b->at[0].frame, &b->at[1].frame};
  v3 along = v3_sub(sole[1]->pos, sole[0]->pos);
  const double way[2] = {along.x, along.y};
  const double from[2] = {goal->cop[0] - sole[0]->pos.x, goal->cop[1] - sole[0]->pos.y};
  double share[2] = {goal->stance[0], goal->stance[1]};
  if (goal->stance[0] && goal->stance[1]) {
    share[1] = tbi_balance_share(b, way, from);
    share[0] = 1 - share[1];
  }
  along.z = 0;
  for (int32_t i = 6; i < b->n; ++i) {
    if (!isfinite(b->effort[i])) continue;
    int side = i < 6 + b->njoint[0] ? 0 : 1;
    sv load = foot_share(b->d->axis[b->dof[i]], share[side], side == 0 ? along : v3_neg(along));
    double scale = b->gravity / b->effort[i];
    limit *low = &list[count++];
    limit *high = &list[count++];
    for (int32_t j = 0; j < b->n; ++j) {
      low->row[j] = scale * (coupling_inertia(b, column, i, j) - sv_dot(load, column[j]));
      high->row[j] = -low->row[j];
    }
    double still = b->tau[b->dof[i]] - sv_dot(load, bias);
    low->bound = -b->gravity - scale * still;
    high->bound = -b->gravity + scale * still;
    low->active = high->active = false;
  }
  return count;
}

static int32_t list_limits(const tbi_balance *b, const tbi_balance_goal *goal, const sv *column,
                           sv bias, limit *list) {
  int32_t count = 0;
  for (int32_t i = 0; i < goal->ncorner && goal->ncorner > 2; ++i) {
    const double *from = goal->corner[i];
    const double *to = goal->corner[(i + 1) % goal->ncorner];
    add_limit(b, column, bias, edge_function(b, from, to, goal->ground), 0, &list[count++]);
  }
  double mu = PYRAMID * b->friction;
  const double side[4][2] = {
      {1,  0 },
      {-1, 0 },
      {0,  1 },
      {0,  -1}
  };
  for (int i = 0; i < 4; ++i) {
    sv along = {v4_make(side[i][0], side[i][1], mu), v4_zero()};
    add_limit(b, column, bias, along, 0, &list[count++]);
  }
  sv up = {v4_make(0, 0, 1), v4_zero()};
  add_limit(b, column, bias, up, MIN_LOAD * b->mass * b->gravity, &list[count++]);
  count = list_torques(b, goal, column, bias, list, count);
  if (goal->stance[0] && goal->stance[1]) return count;
  return list_torsion(b, goal->stance[0] ? 0 : 1, column, bias, list, count);
}

/* Slope of the sum of squares at `at` along `way`: it counts every limit that is broken there. */
static double slope(const task_system *tasks, const limit *list, int32_t count, const double *at,
                    const double *way) {
  double sum = 0;
  for (int32_t i = 0; i < tasks->n; ++i) {
    sum -= way[i] * tasks->right[i];
    for (int32_t j = 0; j <= i; ++j) {
      double across = i == j ? way[i] * at[i] : way[i] * at[j] + way[j] * at[i];
      sum += tasks->matrix[i][j] * across;
    }
  }
  for (int32_t i = 0; i < count; ++i) {
    double over = tbi_dot(list[i].row, at, tasks->n) - list[i].bound;
    sum += LIMIT_WEIGHT * tbi_min(over, 0) * tbi_dot(list[i].row, way, tasks->n);
  }
  return sum;
}

/* Goes from x towards `to` while the sum of squares falls; it is convex.  Full steps alone may go
 * to and fro between two sets of limits for ever. */
static void descend(const task_system *tasks, const limit *list, int32_t count, const double *to,
                    double *x) {
  double way[N];
  double at[N];
  double least = 0;
  double most = 1;
  for (int32_t i = 0; i < tasks->n; ++i)
    way[i] = to[i] - x[i];
  if (slope(tasks, list, count, to, way) <= 0) least = 1;
  for (int k = 0; k < HALVINGS && least < 1; ++k) {
    double t = 0.5 * (least + most);
    for (int32_t i = 0; i < tasks->n; ++i)
      at[i] = x[i] + t * way[i];
    *(slope(tasks, list, count, at, way) < 0 ? &least : &most) = t;
  }
  for (int32_t i = 0; i < tasks->n; ++i)
    x[i] = least < 1 ? x[i] + least * way[i] : to[i];
}

/* Which limits x breaks; whether others than before. */
static bool find_broken(limit *list, int32_t count, int32_t n, const double *x) {
  bool changed = false;
  for (int32_t i = 0; i < count; ++i) {
    double over = tbi_dot(list[i].row, x, n) - list[i].bound;
    bool active = list[i].active ? over <= 0 : over < -1e-6;
    changed = changed || active != list[i].active;
    list[i].active = active;
  }
  return changed;
}

/* Newton's method for the least squares of tasks and broken limits. */
static void solve(const task_system *tasks, limit *list, int32_t count, double *x) {
  for (int round = 0; round < ROUNDS; ++round) {
    task_system s = *tasks;
    for (int32_t i = 0; i < count; ++i) {
      if (list[i].active) add_row(&s, list[i].row, list[i].bound, LIMIT_WEIGHT);
    }
    double to[N];
    memcpy(to, s.right, sizeof to);
    tbi_cholesky(s.n, s.matrix[0], N);
    tbi_cholesky_solve(s.n, s.matrix[0], N, to);
    bool ends = !find_broken(list, count, s.n, to);
    if (round == 0 || ends) memcpy(x, to, sizeof to);
    if (ends) return;
    if (round == 0) continue;
    descend(tasks, list, count, to, x);
    find_broken(list, count, s.n, x);
  }
}

/* -- the wrench on the feet */

static void cop_of(const tbi_balance *b, sv wrench, double ground, double cop[2]) {
  v3 o = origin(b);
  v3 f = v4_to(wrench.lin);
  v3 n = v4_to(wrench.ang);
  double h = o.z - ground;
  cop[0] = o.x - (n.y + h * f.x) / f.z;
  cop[1] = o.y + (n.x - h * f.y) / f.z;
}

double tbi_balance_share(const tbi_balance *b, const double along[2], const double from[2]) {
  double low = 0;
  double high = 1;
  double across = 0;
  double square = 1e-9;
  for (int side = 0; side < 2; ++side) {
    for (int k = 0; k < 2; ++k) {
      v3 axis = m3_column(&b->at[side].frame.rot, k);
      double half = EDGE_SHARE * tbi_max(b->half[side][k], 1e-3);
      double way = (axis.x * along[0] + axis.y * along[1]) / half;
      double off = (axis.x * from[0] + axis.y * from[1]) / half;
      across += way * off;
      square += way * way;
      if (fabs(way) < 1e-6) continue;
      /* |off - t way| <= 1 */
      low = tbi_max(low, tbi_min((off - 1) / way, (off + 1) / way));
      high = tbi_min(high, tbi_max((off - 1) / way, (off + 1) / way));
    }
  }
  if (low > high) low = high = 0.5 * (low + high);
  return tbi_min(tbi_max(tbi_min(tbi_max(across / square, low), high), 0), 1);
}

/* The left foot's part of a wrench in double support. */
static sv share_wrench(const tbi_balance *b, const tbi_balance_goal *goal, sv wrench,
                       tbi_balance_result *result) {
  v3 s0 = b->at[0].frame.pos;
  v3 s1 = b->at[1].frame.pos;
  const double along[2] = {s1.x - s0.x, s1.y - s0.y};
  const double from[2] = {result->cop[0] - s0.x, result->cop[1] - s0.y};
  double t = tbi_balance_share(b, along, from);
  result->share[0] = 1 - t;
  result->share[1] = t;
  v3 o = origin(b);
  v3 at = {s0.x + from[0] - t * along[0] - o.x, s0.y + from[1] - t * along[1] - o.y,
           goal->ground - o.z};
  v3 force = v3_scale(1 - t, v4_to(wrench.lin));
  /* the moment about the vertical through the centre of pressure */
  v3 centre = {result->cop[0] - o.x, result->cop[1] - o.y, goal->ground - o.z};
  double spin = v4_z(wrench.ang) - v3_cross(centre, v4_to(wrench.lin)).z;
  v3 moment = v3_add(v3_cross(at, force), (v3){0, 0, (1 - t) * spin});
  return (sv){v4_from(force), v4_from(moment)};
}

/* Inverse dynamics with the ground's wrench on the feet. */
static void set_torques(tbi_balance *b, const tbi_balance_goal *goal, sv wrench,
                        tbi_balance_result *result) {
  tabi_dynamics *d = b->d;
  tbi_rnea_forces(d, v4_from(v3_load(b->model->gravity)), b->qdd);
  bool both = goal->stance[0] && goal->stance[1];
  result->share[0] = goal->stance[0];
  result->share[1] = goal->stance[1];
  sv left = goal->stance[0] ? wrench : sv_zero();
  if (both) left = share_wrench(b, goal, wrench, result);
  d->force[b->foot[0]] = sv_sub(d->force[b->foot[0]], left);
  d->force[b->foot[1]] = sv_sub(d->force[b->foot[1]], sv_sub(wrench, left));
  tbi_gather(d, b->tau);
  for (int32_t i = 0; i < b->model->nv; ++i)
    b->tau[i] += b->model->dof_rotor[i] * b->qdd[i];
}

tbi_balance_result tbi_balance_solve(tbi_balance *b, const tbi_balance_goal *goal) {
  TBI_ASSERT(goal->ncorner <= TBI_SUPPORT_MAX && (goal->stance[0] || goal->stance[1]));
  tabi_dynamics *d = b->d;
  sv column[N];
  tbi_rnea_forces(d, v4_from(v3_load(b->model->gravity)), NULL);
  sv bias = sv_zero();
  int32_t end = b->tree + 1 < b->model->ntree ? b->model->tree_body[b->tree + 1] : b->model->nbody;
  for (int32_t i = b->model->tree_body[b->tree]; i < end; ++i)
    bias = sv_add(bias, d->force[i]);
  tbi_gather(d, b->tau);
  for (int32_t i = 0; i < b->n; ++i)
    column[i] = inertia_mulv(&d->composite[b->model->dof_body[b->dof[i]]], d->axis[b->dof[i]]);
  task_system tasks = {.n = b->n};
  for (int side = 0; side < 2; ++side)
    add_foot(b, goal, side, &tasks);
  add_com(b, goal, column, bias, &tasks);
  add_waist(b, goal, &tasks);
  add_damping(b, &tasks);
  limit list[MAX_LIMITS];
  int32_t count = list_limits(b, goal, column, bias, list);
  double x[N];
  solve(&tasks, list, count, x);
  memset(b->qdd, 0, sizeof *b->qdd * (size_t)b->model->nv);
  sv wrench = bias;
  for (int32_t i = 0; i < b->n; ++i) {
    b->qdd[b->dof[i]] = x[i];
    wrench = sv_axpy(wrench, x[i], column[i]);
  }
  tbi_balance_result result;
  cop_of(b, wrench, goal->ground, result.cop);
  set_torques(b, goal, wrench, &result);
  return result;
}
