/* centroidal.c - centre of mass, energy and momentum of everything together, and the centroidal
 * momentum matrix (Orin and Goswami 2008).
 *
 * A velocity moves all that hangs from it as one rigid body, so its column is the composite
 * inertia there times its axis.  Trees have their own origins; sums over trees are brought to the
 * centre of mass. */
#include "base/assertion.h"
#include "dynamics/dynamics.h"

/* a force or momentum taken at a tree's origin, moved to the point x of the world */
static sv moved_to(const tabi_dynamics *d, int32_t body, sv f, v3 x) {
  v4 arm = v4_from(v3_sub(tbi_tree_origin(d, body), x));
  return (sv){f.lin, v4_add(f.ang, v4_cross(arm, f.lin))};
}

static v3 center(const tabi_dynamics *d) {
  v4 moment = d->model->standing.h;
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    const body_inertia *part = &d->body[i].inertia;
    v4 origin = v4_from(d->origin[d->model->body[i].tree]);
    moment = v4_add(moment, v4_axpy(part->h, part->mass, origin));
  }
  return d->model->mass > 0 ? v3_scale(1 / d->model->mass, v4_to(moment)) : v3_zero();
}

void tabi_dynamics_com(const tabi_dynamics *d, double com[3]) {
  TBI_ASSERT(d && com);
  v3_store(center(d), com);
}

/* twice: m v.v + 2 v.(w x h) + w.I w, its products summed up at the end only */
double tbi_kinetic(const tabi_dynamics *d, tabi_range bodies, tabi_range dofs) {
  v4 sum = v4_zero();
  for (int32_t i = bodies.first; i < bodies.first + bodies.count; ++i) {
    const body_inertia *part = &d->body[i].inertia;
    sv vel = d->body[i].vel;
    v4 swing = v4_scale(2, v4_cross(vel.ang, part->h));
    sum = v4_add(sum, v4_mul(vel.lin, v4_axpy(swing, part->mass, vel.lin)));
    sum = v4_add(sum, v4_mul(vel.ang, m4_mulv(&part->moment, vel.ang)));
  }
  double twice = v4_sum(sum);
  for (int32_t k = dofs.first; k < dofs.first + dofs.count; ++k)
    twice += d->model->dof_rotor[k] * d->v[k] * d->v[k];
  return 0.5 * twice;
}

double tabi_dynamics_kinetic(const tabi_dynamics *d) {
  TBI_ASSERT(d);
  return tbi_kinetic(d, (tabi_range){0, d->model->nbody}, (tabi_range){0, d->model->nv});
}

double tabi_dynamics_potential(const tabi_dynamics *d) {
  TBI_ASSERT(d);
  return -d->model->mass * v3_dot(v3_load(d->model->gravity), center(d));
}

void tabi_dynamics_momentum(const tabi_dynamics *d, double lin[3], double ang[3]) {
  TBI_ASSERT(d && lin && ang);
  v3 com = center(d);
  sv sum = sv_zero();
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    sv momentum = inertia_mulv(&d->body[i].inertia, d->body[i].vel);
    sum = sv_add(sum, moved_to(d, i, momentum, com));
  }
  v3_store(v4_to(sum.lin), lin);
  v3_store(v4_to(sum.ang), ang);
}

static void put_column(double *matrix, int32_t nv, int32_t dof, v4 column) {
  matrix[dof] = v4_x(column);
  matrix[nv + dof] = v4_y(column);
  matrix[2 * nv + dof] = v4_z(column);
}

void tabi_dynamics_momentum_matrix(tabi_dynamics *d, double *matrix) {
  TBI_ASSERT(d && (matrix || d->model->nv == 0));
  int32_t nv = d->model->nv;
  v3 com = center(d);
  tbi_compose(d);
  for (int32_t k = 0; k < nv; ++k) {
    int32_t body = d->model->dof_body[k];
    sv column = moved_to(d, body, inertia_mulv(&d->composite[body], d->axis[k]), com);
    put_column(matrix, nv, k, column.lin);
    put_column(matrix + 3 * (size_t)nv, nv, k, column.ang);
  }
}

void tabi_dynamics_momentum_bias(tabi_dynamics *d, double lin[3], double ang[3]) {
  TBI_ASSERT(d && lin && ang);
  v3 com = center(d);
  sv sum = sv_zero();
  tbi_rnea_forces(d, v4_zero(), NULL);
  for (int32_t i = 0; i < d->model->nbody; ++i) {
    sum = sv_add(sum, moved_to(d, i, d->force[i], com));
  }
  v3_store(v4_to(sum.lin), lin);
  v3_store(v4_to(sum.ang), ang);
}

static void put_com_column(const tabi_dynamics *d, double *jacobian, int32_t dof, v4 momentum) {
  double share = d->model->mass > 0 ? 1 / d->model->mass : 0;
  put_column(jacobian, d->model->nv, dof, v4_scale(share, momentum));
}

void tabi_dynamics_com_jacobian(tabi_dynamics *d, double *jacobian) {
  TBI_ASSERT(d && (jacobian || d->model->nv == 0));
  tbi_compose(d);
  for (int32_t k = 0; k < d->model->nv; ++k) {
    const body_inertia *below = &d->composite[d->model->dof_body[k]];
    put_com_column(d, jacobian, k, inertia_mulv(below, d->axis[k]).lin);
  }
}

/* the column is m S.lin + S.ang x h of all below: S moves, and so does their first moment h,
 * whose rate is their momentum */
void tabi_dynamics_com_jacobian_rate(tabi_dynamics *d, double *rate) {
  TBI_ASSERT(d && (rate || d->model->nv == 0));
  const tabi_model *model = d->model;
  sv *momentum = d->force;
  tbi_compose(d);
  for (int32_t i = 0; i < model->nbody; ++i) {
    momentum[i] = inertia_mulv(&d->body[i].inertia, d->body[i].vel);
  }
  for (int32_t i = model->nbody - 1; i >= 0; --i) {
    sv *parent = &momentum[model->body[i].parent];
    *parent = sv_add(*parent, momentum[i]);
  }
  for (int32_t k = 0; k < model->nv; ++k) {
    int32_t body = model->dof_body[k];
    v4 column = inertia_mulv(&d->composite[body], tbi_axis_rate(d, k)).lin;
    column = v4_add(column, v4_cross(d->axis[k].ang, momentum[body].lin));
    put_com_column(d, rate, k, column);
  }
}
