/* try_close.c - see try_close.h.
 *
 * Files with connections often have a posture in which these are open: they were made to be closed
 * by whoever loads them, or joint limits have moved a joint.  A connection that starts open is
 * pulled shut within milliseconds, and throws the robot.
 *
 * With r the gaps of all connections and couplings and J their Jacobian, damped least squares give
 * the change of posture -J' (J J' + e I)^-1 r.  A joint that leaves its limits is held there for
 * the rest of the step. */
#include "try/try_close.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CLOSED   1e-9 /* m or rad */
#define OPEN     1e-6 /* a gap below is left to the first steps of a run */
#define MAX_STEP 0.3  /* rad or m, of one joint */
#define DAMPING  1e-6
#define MARGIN   0.01 /* rad or m from a limit */

enum { ROUNDS = 200 };

typedef struct closing {
  const tabi_model *model;
  tabi_dynamics *d;
  int32_t nq, nv, nrow;
  int32_t *joint;   /* [nv] that the velocity turns, or TABI_NONE */
  double *q, *rest; /* [nq], [nv] zero */
  double *jacobian; /* [nrow x nv] */
  double *gap;      /* [nrow] */
  double *pull;     /* [nrow] x of (J J' + e I) x = r */
  double *matrix;   /* [nrow x nrow] */
  double *scratch;  /* [2 x 3 x nv] */
  void *block;
} closing;

void tbi_try_rotate(const double quat[4], const double x[3], double to[3]) {
  double w = quat[0];
  const double *u = quat + 1;
  double cross[3] = {u[1] * x[2] - u[2] * x[1], u[2] * x[0] - u[0] * x[2],
                     u[0] * x[1] - u[1] * x[0]};
  double twice[3] = {u[1] * cross[2] - u[2] * cross[1], u[2] * cross[0] - u[0] * cross[2],
                     u[0] * cross[1] - u[1] * cross[0]};
  for (int k = 0; k < 3; ++k)
    to[k] = x[k] + 2 * (w * cross[k] + twice[k]);
}

/* The frame of a connection on one of its links, in the world. */
typedef struct side {
  int32_t link;
  double pos[3], axis[3][3];
} side;

static side side_of(const closing *c, int32_t link, const double pos[3], const double quat[4]) {
  static const double unit[3][3] = {
      {1, 0, 0},
      {0, 1, 0},
      {0, 0, 1}
  };
  side s = {.link = link};
  double origin[3] = {0, 0, 0};
  double turned[4] = {1, 0, 0, 0};
  if (link != TABI_WORLD) tabi_dynamics_link_pose(c->d, link, origin, turned);
  tbi_try_rotate(turned, pos, s.pos);
  for (int k = 0; k < 3; ++k) {
    double inner[3];
    s.pos[k] += origin[k];
    tbi_try_rotate(quat, unit[k], inner);
    tbi_try_rotate(turned, inner, s.axis[k]);
  }
  return s;
}

/* J of b less that of a, along a direction; point: of their points, else of their rotation */
static void add_row(closing *c, const side *a, const side *b, const double along[3], bool point,
                    double gap) {
  double *row = c->jacobian + (ptrdiff_t)c->nrow * c->nv;
  const side *sides[2] = {a, b};
  memset(row, 0, sizeof *row * (size_t)c->nv);
  for (int i = 0; i < 2; ++i) {
    if (sides[i]->link == TABI_WORLD) continue;
    if (point) {
      tabi_dynamics_point_jacobian(c->d, sides[i]->link, sides[i]->pos, c->scratch);
    } else {
      tabi_dynamics_angular_jacobian(c->d, sides[i]->link, c->scratch);
    }
    for (int32_t v = 0; v < c->nv; ++v) {
      double sum = 0;
      for (int k = 0; k < 3; ++k)
        sum += along[k] * c->scratch[(ptrdiff_t)k * c->nv + v];
      row[v] += i == 0 ? -sum : sum;
    }
  }
  for (int32_t v = 0; v < c->nv; ++v)
    if (c->joint[v] == TABI_NONE) row[v] = 0;
  c->gap[c->nrow++] = gap;
}

static double dot(const double *a, const double *b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* half the sum of the cross products of their axes: the rotation from a to b, if it is small */
static void rotation_between(const side *a, const side *b, double turn[3]) {
  turn[0] = turn[1] = turn[2] = 0;
  for (int k = 0; k < 3; ++k) {
    const double *x = a->axis[k];
    const double *y = b->axis[k];
    turn[0] += 0.5 * (x[1] * y[2] - x[2] * y[1]);
    turn[1] += 0.5 * (x[2] * y[0] - x[0] * y[2]);
    turn[2] += 0.5 * (x[0] * y[1] - x[1] * y[0]);
  }
}

static void add_rod(closing *c, const side *a, const side *b, double length) {
  double way[3];
  for (int k = 0; k < 3; ++k)
    way[k] = b->pos[k] - a->pos[k];
  double distance = sqrt(dot(way, way));
  if (!(distance > 0)) return;
  for (int k = 0; k < 3; ++k)
    way[k] /= distance;
  add_row(c, a, b, way, true, distance - length);
}

/* directions of a in which the connection lets nothing move, and about which nothing turn */
static uint32_t held_axes(const tabi_connection_def *def) {
  switch (def->type) {
  case TABI_CONNECTION_BALL:
    return 0x07;
  case TABI_CONNECTION_HINGE:
    return 0x1f;
  case TABI_CONNECTION_FIXED:
    return 0x3f;
  case TABI_CONNECTION_AXES:
    return def->axes;
  default:
    return 0;
  }
}

static void add_connection(closing *c, const tabi_connection_def *def) {
  side a = side_of(c, def->a, def->pos_a, def->quat_a);
  side b = side_of(c, def->b, def->pos_b, def->quat_b);
  uint32_t held = held_axes(def);
  double way[3];
  double turn[3];
  if (def->type == TABI_CONNECTION_ROD) add_rod(c, &a, &b, def->length);
  for (int k = 0; k < 3; ++k)
    way[k] = b.pos[k] - a.pos[k];
  rotation_between(&a, &b, turn);
  for (int k = 0; k < 3; ++k) {
    if (held & (1u << k)) add_row(c, &a, &b, a.axis[k], true, dot(way, a.axis[k]));
    if (held & (8u << k)) add_row(c, &a, &b, a.axis[k], false, dot(turn, a.axis[k]));
  }
}

/* y - sum of coef x^k, of joints with one coordinate */
static void add_coupling(closing *c, const tabi_coupling_def *def) {
  if (def->joint == TABI_NONE || tabi_model_joint_v(c->model, def->joint).count != 1) return;
  double x = 0;
  double *row = c->jacobian + (ptrdiff_t)c->nrow * c->nv;
  memset(row, 0, sizeof *row * (size_t)c->nv);
  row[tabi_model_joint_v(c->model, def->joint).first] = 1;
  if (def->leader != TABI_NONE && tabi_model_joint_v(c->model, def->leader).count == 1) {
    x = c->q[tabi_model_joint_q(c->model, def->leader).first];
    row[tabi_model_joint_v(c->model, def->leader).first] -=
        def->coef[1] + x * (2 * def->coef[2] + x * (3 * def->coef[3] + x * 4 * def->coef[4]));
  }
  double value = 0;
  for (int k = 4; k >= 0; --k)
    value = value * x + def->coef[k];
  c->gap[c->nrow++] = c->q[tabi_model_joint_q(c->model, def->joint).first] - value;
}

/* The largest gap, with all rows filled. */
static double measure(closing *c) {
  double largest = 0;
  tabi_dynamics_set_state(c->d, c->q, c->rest);
  c->nrow = 0;
  for (int32_t i = 0; i < tabi_model_nconnection(c->model); ++i) {
    tabi_connection_def def = tabi_model_connection(c->model, i);
    add_connection(c, &def);
  }
  for (int32_t i = 0; i < tabi_model_ncoupling(c->model); ++i) {
    tabi_coupling_def def = tabi_model_coupling(c->model, i);
    add_coupling(c, &def);
  }
  for (int32_t i = 0; i < c->nrow; ++i)
    largest = fmax(largest, fabs(c->gap[i]));
  return largest;
}

/* Cholesky's method */
static bool solve(closing *c) {
  int32_t n = c->nrow;
  double *m = c->matrix;
  for (int32_t i = 0; i < n; ++i) {
    for (int32_t k = 0; k <= i; ++k) {
      double sum = i == k ? DAMPING : 0;
      for (int32_t v = 0; v < c->nv; ++v)
        sum += c->jacobian[(ptrdiff_t)i * c->nv + v] * c->jacobian[(ptrdiff_t)k * c->nv + v];
      for (int32_t j = 0; j < k; ++j)
        sum -= m[(ptrdiff_t)i * n + j] * m[(ptrdiff_t)k * n + j];
      if (i == k && !(sum > 0)) return false;
      m[(ptrdiff_t)i * n + k] = i == k ? sqrt(sum) : sum / m[(ptrdiff_t)k * n + k];
    }
  }
  for (int32_t i = 0; i < n; ++i) {
    c->pull[i] = c->gap[i];
    for (int32_t j = 0; j < i; ++j)
      c->pull[i] -= m[(ptrdiff_t)i * n + j] * c->pull[j];
    c->pull[i] /= m[(ptrdiff_t)i * n + i];
  }
  for (int32_t i = n - 1; i >= 0; --i) {
    for (int32_t j = i + 1; j < n; ++j)
      c->pull[i] -= m[(ptrdiff_t)j * n + i] * c->pull[j];
    c->pull[i] /= m[(ptrdiff_t)i * n + i];
  }
  return true;
}

/* The change of posture, shorter if some joint would turn too far at once. */
static void find_step(closing *c) {
  double longest = MAX_STEP;
  double *step = c->scratch;
  for (int32_t v = 0; v < c->nv; ++v) {
    step[v] = 0;
    for (int32_t i = 0; i < c->nrow; ++i)
      step[v] -= c->jacobian[(ptrdiff_t)i * c->nv + v] * c->pull[i];
    longest = fmax(longest, fabs(step[v]));
  }
  for (int32_t v = 0; v < c->nv; ++v)
    step[v] *= MAX_STEP / longest;
}

/* Where a joint comes to, within its limits. */
static double moved(const closing *c, int32_t v) {
  tabi_joint_def joint = tabi_model_joint(c->model, c->joint[v]);
  double to = c->q[tabi_model_joint_q(c->model, c->joint[v]).first] + c->scratch[v];
  double room = fmin(MARGIN, 0.5 * (joint.upper - joint.lower));
  if (!(joint.lower <= joint.upper)) return to;
  return fmax(joint.lower + room, fmin(joint.upper - room, to));
}

/* Whether a joint that has no room left would be moved; it is no longer asked. */
static bool hold_stopped(closing *c) {
  bool any = false;
  for (int32_t v = 0; v < c->nv; ++v) {
    if (c->joint[v] == TABI_NONE || c->scratch[v] == 0) continue;
    double way = moved(c, v) - c->q[tabi_model_joint_q(c->model, c->joint[v]).first];
    if (fabs(way) > 0.5 * fabs(c->scratch[v])) continue;
    any = true;
    for (int32_t i = 0; i < c->nrow; ++i)
      c->jacobian[(ptrdiff_t)i * c->nv + v] = 0;
  }
  return any;
}

static bool advance(closing *c) {
  bool again = true;
  for (int32_t k = 0; k < c->nv && again; ++k) {
    if (!solve(c)) return false;
    find_step(c);
    again = hold_stopped(c);
  }
  for (int32_t v = 0; v < c->nv; ++v)
    if (c->joint[v] != TABI_NONE)
      c->q[tabi_model_joint_q(c->model, c->joint[v]).first] = moved(c, v);
  return true;
}

static bool create(closing *c, const tabi_model *model) {
  *c = (closing){.model = model, .nq = tabi_model_nq(model), .nv = tabi_model_nv(model)};
  size_t nq = (size_t)c->nq;
  size_t nv = (size_t)c->nv;
  size_t rows = 6 * (size_t)tabi_model_nconnection(model) + (size_t)tabi_model_ncoupling(model) + 1;
  size_t count = nq + nv + rows * nv + 2 * rows + rows * rows + 6 * nv;
  c->d = tabi_dynamics_create(model, NULL);
  c->block = calloc(count, sizeof(double));
  c->joint = calloc(nv + 1, sizeof *c->joint);
  // a model whose accelerations are not defined has no dynamics
  if (!c->d || !c->block || !c->joint) return false;
  c->q = c->block;
  c->rest = c->q + nq;
  c->jacobian = c->rest + nv;
  c->gap = c->jacobian + rows * nv;
  c->pull = c->gap + rows;
  c->matrix = c->pull + rows;
  c->scratch = c->matrix + rows * rows;
  for (int32_t v = 0; v < c->nv; ++v)
    c->joint[v] = TABI_NONE;
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_range range = tabi_model_joint_v(model, i);
    if (range.count == 1) c->joint[range.first] = i;
  }
  return true;
}

static void destroy(closing *c) {
  tabi_dynamics_destroy(c->d);
  free(c->block);
  free(c->joint);
}

bool tbi_try_close(const tabi_model *model, double *q, double *open) {
  if (open) *open = 0;
  if (tabi_model_nconnection(model) == 0 || tabi_model_nv(model) == 0) return false;
  bool changed = false;
  closing c;
  if (create(&c, model)) {
    memcpy(c.q, q, sizeof *q * (size_t)c.nq);
    double first = measure(&c);
    double gap = first;
    for (int i = 0; i < ROUNDS && gap > CLOSED && first > OPEN && advance(&c); ++i)
      gap = measure(&c);
    changed = first > OPEN && gap < OPEN;
    if (open) *open = changed ? gap : first;
    if (changed) memcpy(q, c.q, sizeof *q * (size_t)c.nq);
  }
  destroy(&c);
  return changed;
}
