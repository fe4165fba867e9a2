/* dynamics.c - the workspace's memory, and the public calls that are no algorithm of their own. */
#include "dynamics/dynamics.h"

#include "base/array.h"
#include "base/assertion.h"
#include "base/error.h"
#include "base/layout.h"

#include <stdlib.h>
#include <string.h>

#define SINGULAR 1e14               /* M_kk over its pivot; 1 / that is noise */
#define MAX_ROWS ((int64_t)1 << 28) /* 2 GB of mass matrix */

/* the same for one entry per body, and one before for the world */
static void *take_bodies(tbi_layout *at, const tabi_model *model, size_t size) {
  char *piece = tbi_layout_take(at, (int64_t)model->nbody + 1, size);
  return piece ? piece + size : NULL;
}

static void place_arrays(tbi_layout *at, const tabi_model *model, tabi_dynamics *d) {
  d->q = tbi_layout_take(at, model->nq, sizeof *d->q);
  d->v = tbi_layout_take(at, model->nv, sizeof *d->v);
  d->sine = tbi_layout_take(at, model->nq, sizeof *d->sine);
  d->cosine = tbi_layout_take(at, model->nq, sizeof *d->cosine);
  d->origin = tbi_layout_take(at, model->ntree, sizeof *d->origin);
  d->body = take_bodies(at, model, sizeof *d->body);
  d->axis = tbi_layout_take(at, model->nv, sizeof *d->axis);
  d->acc = take_bodies(at, model, sizeof *d->acc);
  d->force = take_bodies(at, model, sizeof *d->force);
  d->U = tbi_layout_take(at, model->nv, sizeof *d->U);
  d->D_inv = tbi_layout_take(at, model->nv, sizeof *d->D_inv);
  d->flow = take_bodies(at, model, sizeof *d->flow);
  d->rhs = tbi_layout_take(at, model->nv, sizeof *d->rhs);
}

static void place_masses(tbi_layout *at, const tabi_model *model, tabi_dynamics *d) {
  d->row = tbi_layout_take(at, model->nrow, sizeof *d->row);
  d->pivot = tbi_layout_take(at, model->nv, sizeof *d->pivot);
  /* neither is needed any more once it has made its factor */
  tbi_layout same = *at;
  d->composite = take_bodies(&same, model, sizeof *d->composite);
  d->articulated = take_bodies(at, model, sizeof *d->articulated);
}

size_t tbi_dynamics_memsize(const tabi_model *model) {
  tbi_layout at = {NULL, 0};
  tabi_dynamics counted;
  tbi_layout_take(&at, 1, sizeof counted);
  place_arrays(&at, model, &counted);
  return at.used;
}

size_t tbi_masses_memsize(const tabi_model *model) {
  tbi_layout at = {NULL, 0};
  tabi_dynamics counted;
  place_masses(&at, model, &counted);
  return at.used;
}

void tbi_dynamics_place_masses(tabi_dynamics *d, void *masses) {
  TBI_ASSERT((uintptr_t)masses % 64 == 0);
  tbi_layout at = {masses, 0};
  place_masses(&at, d->model, d);
}

void tbi_dynamics_limit(tabi_dynamics *d, const tabi_range *busy, int32_t count) {
  d->all = (tabi_range){0, d->model->nbody};
  d->busy = busy ? busy : &d->all;
  d->nbusy = busy ? count : 1;
}

tabi_dynamics *tbi_dynamics_make(const tabi_model *model, void *memory, void *masses) {
  TBI_ASSERT((uintptr_t)memory % 64 == 0);
  tbi_layout at = {memory, 0};
  tabi_dynamics *d = tbi_layout_take(&at, 1, sizeof *d);
  place_arrays(&at, model, d);
  d->model = model;
  tbi_dynamics_limit(d, NULL, 0);
  tbi_dynamics_place_masses(d, masses);
  d->body[TABI_WORLD].rot = (m4){v4_make(1, 0, 0), v4_make(0, 1, 0), v4_make(0, 0, 1)};
  /* begin at rest in the initial posture, so that every call finds a state; d->v is still zero */
  tbi_kinematics(d, model->start, d->v);
  return d;
}

tabi_status tbi_dynamics_check(tabi_dynamics *d, tabi_error *err) {
  const tabi_model *model = d->model;
  tbi_crba(d, model->dof_rotor);
  for (int32_t k = 0; k < model->nv; ++k)
    d->rhs[k] = d->row[model->dof_row[k] + model->dof_depth[k]];
  tbi_ltdl_factor(d);
  for (int32_t k = 0; k < model->nv; ++k) {
    if (d->pivot[k] > 0 && d->pivot[k] * d->rhs[k] < SINGULAR) continue;
    const tabi_joint_def *joint = &model->joint[model->body[model->dof_body[k]].joint];
    return tbi_error_set(
        err, TABI_ERR_MODEL, joint->place,
        "joint '%s': nothing heavy resists its motion in the initial posture, so its "
        "acceleration is not defined; give its links inertia or it a rotor inertia",
        joint->name ? joint->name : "(unnamed)");
  }
  return TABI_OK;
}

tabi_status tbi_dynamics_check_size(const tabi_model *model, tabi_error *err) {
  if (model->nrow <= MAX_ROWS) return TABI_OK;
  return tbi_error_set(err, TABI_ERR_MODEL, model->link[0].place,
                       "the mass matrix would take %lld MB; the longest chain of joints is too "
                       "long",
                       (long long)(model->nrow / (1 << 17)));
}

tabi_dynamics *tabi_dynamics_create(const tabi_model *model, tabi_error *err) {
  TBI_ASSERT(model);
  if (tbi_dynamics_check_size(model, err) != TABI_OK) return NULL;
  size_t own = tbi_dynamics_memsize(model);
  size_t masses = tbi_masses_memsize(model);
  char *memory = tbi_block_alloc(own + masses + tbi_ada_memsize(model));
  if (!memory) {
    tbi_error_memory(err);
    return NULL;
  }
  tabi_dynamics *d = tbi_dynamics_make(model, memory, memory + own);
  tbi_ada_make(d, memory + own + masses);
  if (tbi_dynamics_check(d, err) == TABI_OK) return d;
  tabi_dynamics_destroy(d);
  return NULL;
}

void tabi_dynamics_destroy(tabi_dynamics *d) { free(d); }

void tabi_dynamics_set_state(tabi_dynamics *d, const double *q, const double *v) {
  TBI_ASSERT(d && (d->model->nv == 0 || (q && v)));
  tbi_kinematics(d, q, v);
}

void tabi_dynamics_link_pose(const tabi_dynamics *d, int32_t link, double pos[3], double quat[4]) {
  TBI_ASSERT(d && link >= 0 && link < d->model->nlink);
  TBI_ASSERT(pos && quat);
  tbi_frame frame = tbi_link_frame(d, link);
  v3_store(frame.pos, pos);
  q_store(q_from_matrix(&frame.rot), quat);
}

void tabi_dynamics_link_velocity(const tabi_dynamics *d, int32_t link, double lin[3],
                                 double ang[3]) {
  TBI_ASSERT(d && link >= 0 && link < d->model->nlink);
  TBI_ASSERT(lin && ang);
  const tbi_link_home *home = &d->model->link_home[link];
  sv vel = sv_zero();
  v4 at = v4_zero();
  if (home->body != TABI_WORLD) {
    const tbi_body_state *state = &d->body[home->body];
    vel = state->vel;
    at = v4_add(state->pos, m4_mulv3(&state->rot, home->frame.pos));
  }
  v3_store(v4_to(sv_at(vel, at)), lin);
  v3_store(v4_to(vel.ang), ang);
}

void tabi_dynamics_inverse(tabi_dynamics *d, const double *qdd, double *tau) {
  TBI_ASSERT(d && (tau || d->model->nv == 0));
  tbi_rnea(d, qdd, tau);
}

void tabi_dynamics_forward(tabi_dynamics *d, const double *tau, double *qdd) {
  TBI_ASSERT(d && (qdd || d->model->nv == 0));
  tbi_forward_aba(d, tau, qdd);
}

void tabi_dynamics_mass_matrix(tabi_dynamics *d, double *mass) {
  TBI_ASSERT(d && (mass || d->model->nv == 0));
  const tabi_model *model = d->model;
  size_t nv = (size_t)model->nv;
  memset(mass, 0, nv * nv * sizeof *mass);
  tbi_crba(d, model->dof_rotor);
  for (int32_t i = 0; i < model->nv; ++i) {
    const double *row = d->row + model->dof_row[i];
    int32_t column = model->dof_depth[i];
    for (int32_t j = i; j >= 0; j = model->dof_parent[j], --column) {
      mass[(size_t)i * nv + (size_t)j] = mass[(size_t)j * nv + (size_t)i] = row[column];
    }
  }
}
