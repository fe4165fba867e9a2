/* report.c - what is to be seen of a walk: the robot's state, and the forces on its soles. */
#include "gait/gait.h"

tbi_frame tbi_walk_base(const tbi_walk *w) {
  const tabi_gait *gait = w->gait;
  const tbi_view *view = tbi_walk_view(w);
  tbi_frame link = tbi_link_frame(w->view[w->memory->phase.support], view->link[gait->base_link]);
  return tbi_frame_mul(&link, &view->at[gait->base_link]);
}

void tbi_walk_robot(const tbi_walk *w, double *q, double *v) {
  const tabi_gait *gait = w->gait;
  const tabi_model *robot = gait->model;
  const tbi_view *view = tbi_walk_view(w);
  const tabi_dynamics *d = w->view[w->memory->phase.support];
  const tbi_body *base = &robot->body[gait->base];
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (view->dof[k] == TABI_NONE) continue;
    q[robot->dof_q[k]] = w->q[view->dof[k]];
    v[k] = w->v[view->dof[k]];
  }
  const tbi_frame *home = &robot->link_home[gait->base_link].frame;
  tbi_frame link = tbi_walk_base(w);
  m3 back = m3_transpose(&home->rot);
  m3 rot = m3_mul(&link.rot, &back);
  v3 arm = v3_neg(m3_mulv(&rot, home->pos));
  v3 moved = v3_sub(v3_add(link.pos, arm), robot->tree_place[base->tree]);
  m3 joint = m3_transpose(&base->place.rot);
  m3 turned = m3_mul(&joint, &rot);
  v3 pos = m3_mulv(&joint, moved);
  double lin[3], ang[3];
  tabi_dynamics_link_velocity(d, view->link[gait->base_link], lin, ang);
  /* from the frame of the view's link to the body's origin */
  tbi_frame seen = tbi_link_frame(d, view->link[gait->base_link]);
  v3 reach = v3_sub(v3_add(link.pos, arm), seen.pos);
  v3 vel = m3_mulv(&joint, v3_add(v3_load(lin), v3_cross(v3_load(ang), reach)));
  q[base->q] = pos.x;
  q[base->q + 1] = pos.y;
  q[base->q + 2] = atan2(turned.m[1][0], turned.m[0][0]);
  v[base->v] = vel.x;
  v[base->v + 1] = vel.y;
  v[base->v + 2] = m3_mulv(&joint, v3_load(ang)).z;
}

tbi_sole_forces tbi_walk_sole(const tbi_walk *w) {
  const tbi_gait_forces *f = &w->forces;
  tbi_sole_forces sole = {
      .heel = {f->heel,  0          },
      .toe = {f->toe,   0          },
      .along = {f->along, f->friction},
  };
  switch (tbi_walk_mode(w)->other) {
  case TBI_BY_HEEL:
    sole.heel[1] = f->normal;
    break;
  case TBI_BY_TOE:
    sole.toe[1] = f->normal;
    break;
  case TBI_BY_FACE:
    sole.toe[1] = f->turn / w->gait->view[1 - w->memory->phase.support].sole;
    sole.heel[1] = f->normal - sole.toe[1];
    break;
  case TBI_AWAY:
    break;
  }
  return sole;
}

tabi_gait_state tbi_walk_state(const tbi_walk *w) {
  const tbi_gait_memory *memory = w->memory;
  const tbi_view *view = tbi_walk_view(w);
  const tbi_gait_forces *f = &w->forces;
  double heel[3], toe[3], vel[3];
  tbi_walk_point(w, &view->toe[1], toe, vel);
  tbi_walk_point(w, &view->heel[1], heel, vel);
  return (tabi_gait_state){
      .mode = tbi_phase_name(&memory->phase),
      .support = memory->phase.support,
      .steps = memory->steps,
      .since = memory->since,
      .outcome = (tabi_gait_outcome)memory->outcome,
      .heel_force = f->heel,
      .toe_force = f->toe,
      .support_friction = f->along,
      .normal = f->normal,
      .friction = f->friction,
      .slip = tbi_walk_slip(w),
      .heel = {heel[0], heel[2]},
      .toe = {toe[0],  toe[2] },
      .work = memory->ledger[TBI_WORK],
      .loss = memory->lost - memory->ledger[TBI_DRAG],
      .pulled = memory->pulled,
      .rested = memory->rested,
  };
}

double tbi_walk_drive(const tbi_walk *w, int32_t dof) {
  int32_t k = tbi_walk_view(w)->dof[dof];
  return k == TABI_NONE ? 0 : w->drive[k];
}

static double dot(int32_t n, const double *a, const double *b) {
  double sum = 0;
  for (int32_t k = 0; k < n; ++k)
    sum += a[k] * b[k];
  return sum;
}

void tbi_walk_acceleration(tbi_walk *w, double *qdd) {
  const tabi_gait *gait = w->gait;
  const tbi_view *view = tbi_walk_view(w);
  const tabi_dynamics *d = w->view[w->memory->phase.support];
  const tbi_body *base = &gait->model->body[gait->base];
  int32_t nv = view->model->nv;
  int32_t link = view->link[gait->base_link];
  double pos[3], linear[3], angular[3];
  v3_store(tbi_walk_base(w).pos, pos);
  tabi_dynamics_point_jacobian(d, link, pos, w->jacobian);
  tabi_dynamics_point_jacobian_rate(d, link, pos, w->rate);
  for (int i = 0; i < 3; ++i)
    linear[i] = dot(nv, w->jacobian + (ptrdiff_t)i * nv, w->acceleration) +
                dot(nv, w->rate + (ptrdiff_t)i * nv, w->v);
  tabi_dynamics_angular_jacobian(d, link, w->jacobian);
  for (int i = 0; i < 3; ++i)
    angular[i] = dot(nv, w->jacobian + (ptrdiff_t)i * nv, w->acceleration);
  for (int32_t k = 0; k < gait->model->nv; ++k)
    qdd[k] = view->dof[k] == TABI_NONE ? 0 : w->acceleration[view->dof[k]];
  v3 moved = m3_tmulv(&base->place.rot, v3_load(linear));
  qdd[base->v] = moved.x;
  qdd[base->v + 1] = moved.y;
  qdd[base->v + 2] = m3_tmulv(&base->place.rot, v3_load(angular)).z;
}
