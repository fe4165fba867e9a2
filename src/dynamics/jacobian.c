/* jacobian.c - Jacobians of points and rotations, and their rates.
 *
 * A velocity moves a point x of a link if it is above that link in the tree; its column is the
 * velocity of x under the axis S.  The rate of the column has two parts: the axis moves, and the
 * point moves along with its link. */
#include "dynamics/dynamics.h"

#include "base/assertion.h"

#include <string.h>

static void put_column(double *jacobian, int32_t nv, int32_t dof, v4 column) {
  jacobian[dof] = v4_x(column);
  jacobian[nv + dof] = v4_y(column);
  jacobian[2 * nv + dof] = v4_z(column);
}

/* the last velocity that moves a link, or -1; the matrix is cleared */
static int32_t begin(const tabi_dynamics *d, int32_t link, double *jacobian) {
  TBI_ASSERT(d && link >= 0 && link < d->model->nlink);
  TBI_ASSERT(jacobian || d->model->nv == 0);
  memset(jacobian, 0, 3 * sizeof *jacobian * (size_t)d->model->nv);
  int32_t body = d->model->link_home[link].body;
  if (body == TABI_WORLD) return -1;
  return d->model->body[body].v + d->model->body[body].nv - 1;
}

static v4 from_origin(const tabi_dynamics *d, int32_t link, const double point[3]) {
  TBI_ASSERT(point);
  v3 origin = tbi_tree_origin(d, d->model->link_home[link].body);
  return v4_from(v3_sub(v3_load(point), origin));
}

void tabi_dynamics_point_jacobian(const tabi_dynamics *d, int32_t link, const double point[3],
                                  double *jacobian) {
  int32_t dof = begin(d, link, jacobian);
  int32_t nv = d->model->nv;
  v4 x = from_origin(d, link, point);
  for (; dof >= 0; dof = d->model->dof_parent[dof]) {
    put_column(jacobian, nv, dof, sv_at(d->axis[dof], x));
  }
}

void tabi_dynamics_point_jacobian_rate(const tabi_dynamics *d, int32_t link, const double point[3],
                                       double *rate) {
  int32_t dof = begin(d, link, rate);
  int32_t nv = d->model->nv;
  if (dof < 0) return;
  v4 x = from_origin(d, link, point);
  v4 x_rate = sv_at(d->body[d->model->link_home[link].body].vel, x);
  for (; dof >= 0; dof = d->model->dof_parent[dof]) {
    v4 moved = v4_cross(d->axis[dof].ang, x_rate);
    put_column(rate, nv, dof, v4_add(sv_at(tbi_axis_rate(d, dof), x), moved));
  }
}

void tabi_dynamics_angular_jacobian(const tabi_dynamics *d, int32_t link, double *jacobian) {
  int32_t dof = begin(d, link, jacobian);
  for (; dof >= 0; dof = d->model->dof_parent[dof]) {
    put_column(jacobian, d->model->nv, dof, d->axis[dof].ang);
  }
}

void tabi_dynamics_angular_jacobian_rate(const tabi_dynamics *d, int32_t link, double *rate) {
  int32_t dof = begin(d, link, rate);
  for (; dof >= 0; dof = d->model->dof_parent[dof]) {
    put_column(rate, d->model->nv, dof, tbi_axis_rate(d, dof).ang);
  }
}
