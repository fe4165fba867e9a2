/* oracle.c - see oracle.h.
 *
 * A link's motion is that of a frame F fixed on its parent, plus the joint's own motion seen from
 * F (position d, velocity u, angular velocity r, all turned into world axes):
 *
 *   omega = omega_P + r                   v = v_F + omega_P x d + u
 *   alpha = alpha_P + omega_P x r + r'    a = a_F + alpha_P x d + omega_P x (omega_P x d)
 *                                             + 2 omega_P x u + u'
 *
 * where r' and u' come from qdd.  This holds for a ball joint too, whose r is constant in the
 * child: omega x r = omega_P x r. */
#include "support/oracle.h"

#include "support/near.h"

#include <stdlib.h>
#include <string.h>

typedef struct vec {
  double x[3];
} vec;

typedef struct mat {
  double m[3][3];
} mat;

/* One coordinate's effect: a point x of the link moves with lin + ang x (x - at). */
typedef struct dof {
  vec lin, ang, at;
} dof;

typedef struct state {
  bool known;
  int32_t joint; /* above, or TABI_NONE */
  int32_t parent;
  mat R;
  vec p, com;    /* origin and centre of mass */
  vec omega, v;  /* v of the origin */
  vec alpha, a;  /* a of the origin, without gravity */
  mat inertia_w; /* about the centre, world axes */
  double mass;
} state;

struct oracle {
  const tabi_model *model;
  int32_t nlink;
  size_t nv;
  vec gravity;
  double *q, *v, *qdd, *rotor; /* nv, but q */
  dof *dofs;                   /* nv */
  state *links;
};

static vec add(vec a, vec b) {
  return (vec){
      {a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]}
  };
}
static vec sub(vec a, vec b) {
  return (vec){
      {a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}
  };
}
static vec scale(double s, vec a) {
  return (vec){
      {s * a.x[0], s * a.x[1], s * a.x[2]}
  };
}
static double dot(vec a, vec b) { return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2]; }
static vec cross(vec a, vec b) {
  return (vec){
      {a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
       a.x[0] * b.x[1] - a.x[1] * b.x[0]}
  };
}
static vec load(const double *x) {
  return (vec){
      {x[0], x[1], x[2]}
  };
}
static void store(vec a, double *to) { memcpy(to, a.x, sizeof a.x); }

static vec apply(const mat *A, vec b) {
  vec c;
  for (int i = 0; i < 3; ++i)
    c.x[i] = A->m[i][0] * b.x[0] + A->m[i][1] * b.x[1] + A->m[i][2] * b.x[2];
  return c;
}

static mat multiply(const mat *A, const mat *B) {
  mat C;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      C.m[i][j] = A->m[i][0] * B->m[0][j] + A->m[i][1] * B->m[1][j] + A->m[i][2] * B->m[2][j];
  return C;
}

static vec column(const mat *A, int j) {
  return (vec){
      {A->m[0][j], A->m[1][j], A->m[2][j]}
  };
}

/* R u = (w^2 - |b|^2) u + 2 b (b.u) + 2 w b x u, column by column, for a quaternion (w, b). */
static mat from_quat(const double *q) {
  vec b = load(q + 1);
  double norm2 = q[0] * q[0] + dot(b, b);
  mat R;
  for (int j = 0; j < 3; ++j) {
    vec u = {
        {j == 0, j == 1, j == 2}
    };
    vec c = add(scale(q[0] * q[0] - dot(b, b), u),
                add(scale(2 * dot(b, u), b), scale(2 * q[0], cross(b, u))));
    for (int i = 0; i < 3; ++i)
      R.m[i][j] = c.x[i] / norm2;
  }
  return R;
}

/* Rodrigues' formula for a unit axis. */
static mat from_axis(vec axis, double angle) {
  mat R;
  for (int j = 0; j < 3; ++j) {
    vec u = {
        {j == 0, j == 1, j == 2}
    };
    vec c = add(scale(cos(angle), u), add(scale(sin(angle), cross(axis, u)),
                                          scale((1 - cos(angle)) * dot(axis, u), axis)));
    for (int i = 0; i < 3; ++i)
      R.m[i][j] = c.x[i];
  }
  return R;
}

static vec unit(vec a) { return scale(1 / sqrt(dot(a, a)), a); }

/* What a joint does, seen from its frame F on the parent: where the child stands, and for each
 * coordinate a direction of translation and of rotation, in the axes of F. */
typedef struct motion {
  vec d;
  mat R;
  int ndof;
  vec lin[6], ang[6];
} motion;

static const vec AXES[3] = {{{1, 0, 0}}, {{0, 1, 0}}, {{0, 0, 1}}};

/* The child stands at (x, y) of the plane and is turned about the normal.  The axes of the plane
 * are x and y of F, turned the shortest way that brings z to the normal (half a turn about x if
 * the normal is -z). */
static void planar_motion(motion *m, vec normal, const double *q) {
  vec hinge = cross(AXES[2], normal);
  double sine = sqrt(dot(hinge, hinge));
  bool turned = sine > 0.0;
  mat plane = from_axis(turned ? scale(1 / sine, hinge) : AXES[0], atan2(sine, normal.x[2]));
  m->ndof = 3;
  m->lin[0] = column(&plane, 0);
  m->lin[1] = column(&plane, 1);
  m->ang[2] = normal;
  m->d = add(scale(q[0], m->lin[0]), scale(q[1], m->lin[1]));
  m->R = from_axis(normal, q[2]);
}

static void joint_motion(motion *m, const tabi_joint_def *joint, const double *q) {
  memset(m, 0, sizeof *m);
  m->R = from_axis(AXES[0], 0.0);
  vec axis = joint->type == TABI_JOINT_FIXED ? AXES[0] : unit(load(joint->axis));
  switch (joint->type) {
  case TABI_JOINT_REVOLUTE:
  case TABI_JOINT_CONTINUOUS:
    m->ndof = 1;
    m->ang[0] = axis;
    m->R = from_axis(axis, q[0]);
    break;
  case TABI_JOINT_PRISMATIC:
    m->ndof = 1;
    m->lin[0] = axis;
    m->d = scale(q[0], axis);
    break;
  case TABI_JOINT_PLANAR:
    planar_motion(m, axis, q);
    break;
  case TABI_JOINT_BALL:
    m->ndof = 3;
    m->R = from_quat(q);
    for (int i = 0; i < 3; ++i)
      m->ang[i] = column(&m->R, i);
    break;
  case TABI_JOINT_FREE:
    m->ndof = 6;
    m->d = load(q);
    m->R = from_quat(q + 3);
    for (int i = 0; i < 3; ++i) {
      m->lin[i] = AXES[i];
      m->ang[3 + i] = AXES[i];
    }
    break;
  default:
    break;
  }
}

static void place_inertia(const oracle *o, int32_t link) {
  state *s = &o->links[link];
  tabi_link_def def = tabi_model_link(o->model, link);
  const double *I = def.inertia;
  mat local = {
      {{I[0], I[3], I[4]}, {I[3], I[1], I[5]}, {I[4], I[5], I[2]}}
  };
  mat turned = multiply(&s->R, &local), transposed;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      transposed.m[i][j] = s->R.m[j][i];
  s->inertia_w = multiply(&turned, &transposed);
  s->mass = def.mass;
  s->com = add(s->p, apply(&s->R, load(def.com)));
}

/* The formulas at the top, for a link whose parent's motion is known. */
static void move_link(oracle *o, int32_t link, const state *parent) {
  state *s = &o->links[link];
  tabi_joint_def joint = tabi_model_joint(o->model, s->joint);
  tabi_range in_q = tabi_model_joint_q(o->model, s->joint);
  tabi_range in_v = tabi_model_joint_v(o->model, s->joint);
  motion m;
  joint_motion(&m, &joint, o->q + (in_q.count ? in_q.first : 0));
  assert_int_equal(m.ndof, in_v.count);

  mat joint_R = from_quat(joint.quat);
  mat F = multiply(&parent->R, &joint_R);
  vec offset = add(apply(&parent->R, load(joint.pos)), apply(&F, m.d));
  s->R = multiply(&F, &m.R);
  s->p = add(parent->p, offset);

  vec u = {{0}}, u_rate = {{0}}, r = {{0}}, r_rate = {{0}};
  for (int i = 0; i < m.ndof; ++i) {
    int32_t k = in_v.first + i;
    o->dofs[k] = (dof){apply(&F, m.lin[i]), apply(&F, m.ang[i]), s->p};
    u = add(u, scale(o->v[k], o->dofs[k].lin));
    r = add(r, scale(o->v[k], o->dofs[k].ang));
    u_rate = add(u_rate, scale(o->qdd[k], o->dofs[k].lin));
    r_rate = add(r_rate, scale(o->qdd[k], o->dofs[k].ang));
    o->rotor[k] = joint.gear * joint.gear * joint.rotor_inertia;
  }
  vec w = parent->omega;
  s->omega = add(w, r);
  s->v = add(parent->v, add(cross(w, offset), u));
  s->alpha = add(parent->alpha, add(cross(w, r), r_rate));
  s->a = add(add(parent->a, add(cross(parent->alpha, offset), cross(w, cross(w, offset)))),
             add(scale(2, cross(w, u)), u_rate));
}

static void move_all(oracle *o) {
  state world;
  memset(&world, 0, sizeof world);
  world.R = from_axis(AXES[0], 0.0);
  for (int32_t i = 0; i < o->nlink; ++i)
    o->links[i].known = false;
  /* parents may have any index: sweep until every link has found its parent done */
  for (int32_t done = 0, before = -1; done < o->nlink;) {
    assert_true(done > before);
    before = done;
    for (int32_t i = 0; i < o->nlink; ++i) {
      state *s = &o->links[i];
      if (s->known || (s->parent != TABI_WORLD && !o->links[s->parent].known)) continue;
      if (s->joint == TABI_NONE) {
        s->R = world.R;
      } else {
        move_link(o, i, s->parent == TABI_WORLD ? &world : &o->links[s->parent]);
      }
      place_inertia(o, i);
      s->known = true;
      ++done;
    }
  }
}

static double *copy_of(const double *x, size_t n) {
  double *copy = calloc(n + 1, sizeof *copy);
  assert_non_null(copy);
  if (x) memcpy(copy, x, n * sizeof *copy);
  return copy;
}

oracle *oracle_create(const tabi_model *model, const double *q, const double *v) {
  oracle *o = calloc(1, sizeof *o);
  assert_non_null(o);
  o->model = model;
  o->nlink = tabi_model_nlink(model);
  o->nv = (size_t)tabi_model_nv(model);
  tabi_model_gravity(model, o->gravity.x);
  o->q = copy_of(q, (size_t)tabi_model_nq(model));
  o->v = copy_of(v, o->nv);
  o->qdd = copy_of(NULL, o->nv);
  o->rotor = copy_of(NULL, o->nv);
  o->dofs = calloc(o->nv + 1, sizeof *o->dofs);
  o->links = calloc((size_t)o->nlink + 1, sizeof *o->links);
  assert_non_null(o->dofs);
  assert_non_null(o->links);
  for (int32_t i = 0; i < o->nlink; ++i) {
    state *s = &o->links[i];
    s->joint = tabi_model_link_joint(model, i);
    s->parent = s->joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, s->joint).parent;
  }
  move_all(o);
  return o;
}

void oracle_destroy(oracle *o) {
  if (!o) return;
  free(o->q);
  free(o->v);
  free(o->qdd);
  free(o->rotor);
  free(o->dofs);
  free(o->links);
  free(o);
}

void oracle_link_pose(const oracle *o, int32_t link, double pos[3], double rotation[9]) {
  store(o->links[link].p, pos);
  memcpy(rotation, o->links[link].R.m, sizeof o->links[link].R.m);
}

void oracle_link_velocity(const oracle *o, int32_t link, double lin[3], double ang[3]) {
  store(o->links[link].v, lin);
  store(o->links[link].omega, ang);
}

/* Fills the columns of all coordinates between a link and the world, and lists them. */
static size_t path_columns(const oracle *o, int32_t link, vec point, vec *lin, size_t *index) {
  size_t count = 0;
  for (int32_t i = link; i != TABI_WORLD && o->links[i].joint != TABI_NONE;
       i = o->links[i].parent) {
    tabi_range in_v = tabi_model_joint_v(o->model, o->links[i].joint);
    for (int32_t k = in_v.first; k < in_v.first + in_v.count; ++k) {
      const dof *d = &o->dofs[k];
      lin[count] = add(d->lin, cross(d->ang, sub(point, d->at)));
      index[count++] = (size_t)k;
    }
  }
  return count;
}

void oracle_point_jacobian(const oracle *o, int32_t link, const double point[3], double *jacobian) {
  vec *lin = calloc(o->nv + 1, sizeof *lin);
  size_t *index = calloc(o->nv + 1, sizeof *index);
  assert_non_null(lin);
  assert_non_null(index);
  size_t count = path_columns(o, link, load(point), lin, index);
  memset(jacobian, 0, 3 * o->nv * sizeof *jacobian);
  for (size_t k = 0; k < count; ++k)
    for (size_t i = 0; i < 3; ++i)
      jacobian[i * o->nv + index[k]] = lin[k].x[i];
  free(lin);
  free(index);
}

void oracle_angular_jacobian(const oracle *o, int32_t link, double *jacobian) {
  memset(jacobian, 0, 3 * o->nv * sizeof *jacobian);
  for (int32_t i = link; i != TABI_WORLD && o->links[i].joint != TABI_NONE;
       i = o->links[i].parent) {
    tabi_range in_v = tabi_model_joint_v(o->model, o->links[i].joint);
    for (int32_t k = 0; k < in_v.count; ++k)
      for (size_t row = 0; row < 3; ++row)
        jacobian[row * o->nv + (size_t)(in_v.first + k)] = o->dofs[in_v.first + k].ang.x[row];
  }
}

/* Calls visit with the columns of each link's centre of mass. */
typedef void visit_fn(const oracle *o, const state *s, const vec *lin, const size_t *index,
                      size_t count, double *to);

static void for_each_link(const oracle *o, visit_fn *visit, double *to) {
  vec *lin = calloc(o->nv + 1, sizeof *lin);
  size_t *index = calloc(o->nv + 1, sizeof *index);
  assert_non_null(lin);
  assert_non_null(index);
  for (int32_t i = 0; i < o->nlink; ++i) {
    const state *s = &o->links[i];
    size_t count = path_columns(o, i, s->com, lin, index);
    visit(o, s, lin, index, count, to);
  }
  free(lin);
  free(index);
}

static void visit_mass(const oracle *o, const state *s, const vec *lin, const size_t *index,
                       size_t count, double *mass) {
  for (size_t k = 0; k < count; ++k) {
    vec force = scale(s->mass, lin[k]);
    vec moment = apply(&s->inertia_w, o->dofs[index[k]].ang);
    for (size_t l = 0; l < count; ++l)
      mass[index[l] * o->nv + index[k]] += dot(lin[l], force) + dot(o->dofs[index[l]].ang, moment);
  }
}

void oracle_mass_matrix(const oracle *o, double *mass) {
  memset(mass, 0, o->nv * o->nv * sizeof *mass);
  for_each_link(o, visit_mass, mass);
  for (size_t k = 0; k < o->nv; ++k)
    mass[k * o->nv + k] += o->rotor[k];
}

/* Acceleration of the centre of mass. */
static vec com_acceleration(const state *s) {
  vec arm = sub(s->com, s->p);
  return add(s->a, add(cross(s->alpha, arm), cross(s->omega, cross(s->omega, arm))));
}

static vec com_velocity(const state *s) { return add(s->v, cross(s->omega, sub(s->com, s->p))); }

/* Rate of the angular momentum about the centre of mass of one link. */
static vec spin_rate(const state *s) {
  return add(apply(&s->inertia_w, s->alpha), cross(s->omega, apply(&s->inertia_w, s->omega)));
}

static void visit_inverse(const oracle *o, const state *s, const vec *lin, const size_t *index,
                          size_t count, double *tau) {
  vec force = scale(s->mass, sub(com_acceleration(s), o->gravity));
  vec moment = spin_rate(s);
  for (size_t k = 0; k < count; ++k)
    tau[index[k]] += dot(lin[k], force) + dot(o->dofs[index[k]].ang, moment);
}

void oracle_inverse(oracle *o, const double *qdd, double *tau) {
  memset(o->qdd, 0, o->nv * sizeof *o->qdd);
  if (qdd) memcpy(o->qdd, qdd, o->nv * sizeof *o->qdd);
  move_all(o);
  for (size_t k = 0; k < o->nv; ++k)
    tau[k] = o->rotor[k] * o->qdd[k];
  for_each_link(o, visit_inverse, tau);
}

bool oracle_cholesky(double *a, size_t n) {
  for (size_t j = 0; j < n; ++j) {
    for (size_t i = j; i < n; ++i) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k)
        sum -= a[i * n + k] * a[j * n + k];
      if (i == j && !(sum > 0.0)) return false;
      a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
    }
  }
  return true;
}

void oracle_cholesky_solve(const double *factor, size_t n, double *x) {
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k)
      x[i] -= factor[i * n + k] * x[k];
    x[i] /= factor[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k)
      x[i] -= factor[k * n + i] * x[k];
    x[i] /= factor[i * n + i];
  }
}

void oracle_delassus(const double *J, size_t n, double *M, size_t nv, double *A) {
  double *x = copy_of(NULL, nv);
  assert_true(oracle_cholesky(M, nv));
  memset(A, 0, n * n * sizeof *A);
  for (size_t j = 0; j < n; ++j) {
    memcpy(x, J + j * nv, nv * sizeof *x);
    oracle_cholesky_solve(M, nv, x);
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = 0; k < nv; ++k)
        A[i * n + j] += J[i * nv + k] * x[k];
    }
  }
  free(x);
}

void oracle_forward(oracle *o, const double *tau, double *qdd) {
  double *mass = copy_of(NULL, o->nv * o->nv);
  oracle_inverse(o, NULL, qdd);
  for (size_t k = 0; k < o->nv; ++k)
    qdd[k] = tau[k] - qdd[k];
  oracle_mass_matrix(o, mass);
  assert_true(oracle_cholesky(mass, o->nv));
  oracle_cholesky_solve(mass, o->nv, qdd);
  free(mass);
}

double oracle_mass(const oracle *o) {
  double mass = 0.0;
  for (int32_t i = 0; i < o->nlink; ++i)
    mass += o->links[i].mass;
  return mass;
}

void oracle_com(const oracle *o, double com[3]) {
  vec sum = {{0}};
  for (int32_t i = 0; i < o->nlink; ++i)
    sum = add(sum, scale(o->links[i].mass, o->links[i].com));
  store(scale(1 / oracle_mass(o), sum), com);
}

double oracle_kinetic(const oracle *o) {
  double energy = 0.0;
  for (int32_t i = 0; i < o->nlink; ++i) {
    const state *s = &o->links[i];
    vec v = com_velocity(s);
    energy += 0.5 * (s->mass * dot(v, v) + dot(s->omega, apply(&s->inertia_w, s->omega)));
  }
  for (size_t k = 0; k < o->nv; ++k)
    energy += 0.5 * o->rotor[k] * o->v[k] * o->v[k];
  return energy;
}

double oracle_potential(const oracle *o) {
  double energy = 0.0;
  for (int32_t i = 0; i < o->nlink; ++i)
    energy -= o->links[i].mass * dot(o->gravity, o->links[i].com);
  return energy;
}

void oracle_momentum(const oracle *o, double lin[3], double ang[3]) {
  vec com, p = {{0}}, L = {{0}};
  oracle_com(o, com.x);
  for (int32_t i = 0; i < o->nlink; ++i) {
    const state *s = &o->links[i];
    vec mv = scale(s->mass, com_velocity(s));
    p = add(p, mv);
    L = add(L, add(cross(sub(s->com, com), mv), apply(&s->inertia_w, s->omega)));
  }
  store(p, lin);
  store(L, ang);
}

static void visit_momentum(const oracle *o, const state *s, const vec *lin, const size_t *index,
                           size_t count, double *matrix) {
  vec com;
  oracle_com(o, com.x);
  for (size_t k = 0; k < count; ++k) {
    vec mv = scale(s->mass, lin[k]);
    vec L = add(cross(sub(s->com, com), mv), apply(&s->inertia_w, o->dofs[index[k]].ang));
    for (size_t i = 0; i < 3; ++i) {
      matrix[i * o->nv + index[k]] += mv.x[i];
      matrix[(3 + i) * o->nv + index[k]] += L.x[i];
    }
  }
}

void oracle_momentum_matrix(const oracle *o, double *matrix) {
  memset(matrix, 0, 6 * o->nv * sizeof *matrix);
  for_each_link(o, visit_momentum, matrix);
}

/* d/dt sum (x - c) x m v = sum (x - c) x m a - c' x p; the last vanishes, as p = m c'. */
void oracle_momentum_bias(oracle *o, double lin[3], double ang[3]) {
  memset(o->qdd, 0, o->nv * sizeof *o->qdd);
  move_all(o);
  vec com, p = {{0}}, L = {{0}};
  oracle_com(o, com.x);
  for (int32_t i = 0; i < o->nlink; ++i) {
    const state *s = &o->links[i];
    vec ma = scale(s->mass, com_acceleration(s));
    p = add(p, ma);
    L = add(L, add(cross(sub(s->com, com), ma), spin_rate(s)));
  }
  store(p, lin);
  store(L, ang);
}
