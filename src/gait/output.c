/* output.c - the state of a gait in the robot's own coordinates, and the forces on its soles. */
#include "base/assertion.h"
#include "gait/gait.h"
#include "math/linalg.h"

tbi_frame tbi_gait_base_frame(const tbi_gait_run *run) {
  const tabi_gait *gait = run->gait;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  tbi_frame link = tbi_link_frame(tbi_gait_dynamics(run), tree->link[gait->base_link]);
  return tbi_frame_mul(&link, &tree->at[gait->base_link]);
}

void tbi_gait_robot_state(const tbi_gait_run *run, double *q, double *v) {
  TBI_ASSERT(q && v);
  const tabi_gait *gait = run->gait;
  const tabi_model *robot = gait->model;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  const tabi_dynamics *d = tbi_gait_dynamics(run);
  const tbi_body *base = &robot->body[gait->base];
  for (int32_t k = 0; k < robot->nv; ++k) {
    if (tree->dof[k] == TABI_NONE) continue;
    q[robot->dof_q[k]] = run->q[tree->dof[k]];
    v[k] = run->v[tree->dof[k]];
  }
  const tbi_frame *home = &robot->link_home[gait->base_link].frame;
  tbi_frame link = tbi_gait_base_frame(run);
  m3 back = m3_transpose(&home->rot);
  m3 rot = m3_mul(&link.rot, &back);
  v3 arm = v3_neg(m3_mulv(&rot, home->pos));
  v3 moved = v3_sub(v3_add(link.pos, arm), robot->tree_place[base->tree]);
  m3 joint = m3_transpose(&base->place.rot);
  m3 turned = m3_mul(&joint, &rot);
  v3 pos = m3_mulv(&joint, moved);
  double lin[3], ang[3];
  tabi_dynamics_link_velocity(d, tree->link[gait->base_link], lin, ang);
  /* from the frame of the tree's link to the body's origin */
  tbi_frame origin = tbi_link_frame(d, tree->link[gait->base_link]);
  v3 lever = v3_sub(v3_add(link.pos, arm), origin.pos);
  v3 vel = m3_mulv(&joint, v3_add(v3_load(lin), v3_cross(v3_load(ang), lever)));
  q[base->q] = pos.x;
  q[base->q + 1] = pos.y;
  q[base->q + 2] = atan2(turned.m[1][0], turned.m[0][0]);
  v[base->v] = vel.x;
  v[base->v + 1] = vel.y;
  v[base->v + 2] = m3_mulv(&joint, v3_load(ang)).z;
}

tbi_sole_forces tbi_gait_sole_forces(const tbi_gait_run *run) {
  const tbi_gait_forces *f = &run->forces;
  tbi_sole_forces sole = {
      .heel = {f->heel,  0          },
      .toe = {f->toe,   0          },
      .along = {f->along, f->friction},
  };
  switch (tbi_gait_mode_now(run)->swing) {
  case TBI_BY_HEEL:
    sole.heel[1] = f->normal;
    break;
  case TBI_BY_TOE:
    sole.toe[1] = f->normal;
    break;
  case TBI_BY_FACE:
    sole.toe[1] = f->turn / run->gait->tree[1 - run->memory->phase.support].sole;
    sole.heel[1] = f->normal - sole.toe[1];
    break;
  case TBI_AWAY:
    break;
  }
  return sole;
}

tabi_gait_state tbi_gait_state(const tbi_gait_run *run) {
  TBI_ASSERT(run->memory);
  const tbi_gait_memory *memory = run->memory;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  const tbi_gait_forces *f = &run->forces;
  double heel[3], toe[3], vel[3];
  tbi_gait_point_motion(run, &tree->toe[1], toe, vel);
  tbi_gait_point_motion(run, &tree->heel[1], heel, vel);
  return (tabi_gait_state){
      .mode = tbi_gait_phase_name(&memory->phase),
      .support = memory->phase.support,
      .steps = memory->steps,
      .support_since = memory->support_since,
      .outcome = (tabi_gait_outcome)memory->outcome,
      .heel_force = f->heel,
      .toe_force = f->toe,
      .support_friction = f->along,
      .normal = f->normal,
      .friction = f->friction,
      .slip = tbi_gait_slip(run),
      .heel = {heel[0], heel[2]},
      .toe = {toe[0],  toe[2] },
      .work = memory->ledger[TBI_DRIVE_WORK],
      .absorbed = memory->impact_loss - memory->ledger[TBI_PASSIVE_WORK],
      .pulled = memory->pulled,
      .zeno_holds = memory->zeno_holds,
  };
}

double tbi_gait_drive(const tbi_gait_run *run, int32_t dof) {
  TBI_ASSERT(dof >= 0 && dof < run->gait->model->nv);
  int32_t k = tbi_gait_tree(run)->dof[dof];
  return k == TABI_NONE ? 0 : run->drive[k];
}

void tbi_gait_acceleration(tbi_gait_run *run, double *qdd) {
  TBI_ASSERT(qdd);
  const tabi_gait *gait = run->gait;
  const tbi_foot_tree *tree = tbi_gait_tree(run);
  const tabi_dynamics *d = tbi_gait_dynamics(run);
  const tbi_body *base = &gait->model->body[gait->base];
  int32_t nv = tree->model->nv;
  int32_t link = tree->link[gait->base_link];
  double pos[3], linear[3], angular[3];
  v3_store(tbi_gait_base_frame(run).pos, pos);
  tabi_dynamics_point_jacobian(d, link, pos, run->jacobian);
  tabi_dynamics_point_jacobian_rate(d, link, pos, run->rate);
  for (int i = 0; i < 3; ++i)
    linear[i] = tbi_dot(run->jacobian + (ptrdiff_t)i * nv, run->acceleration, nv) +
                tbi_dot(run->rate + (ptrdiff_t)i * nv, run->v, nv);
  tabi_dynamics_angular_jacobian(d, link, run->jacobian);
  for (int i = 0; i < 3; ++i)
    angular[i] = tbi_dot(run->jacobian + (ptrdiff_t)i * nv, run->acceleration, nv);
  for (int32_t k = 0; k < gait->model->nv; ++k)
    qdd[k] = tree->dof[k] == TABI_NONE ? 0 : run->acceleration[tree->dof[k]];
  v3 moved = m3_tmulv(&base->place.rot, v3_load(linear));
  qdd[base->v] = moved.x;
  qdd[base->v + 1] = moved.y;
  qdd[base->v + 2] = m3_tmulv(&base->place.rot, v3_load(angular)).z;
}
