/* test_parts.c - what a model consists of, thing by thing: masses, starts, limits, springs,
 * shapes, actuators, constraints, keyframes. */
#include "oracle/twins.h"

#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-9

static void compare_masses(const twins *t) {
  double total = 0;
  for (int b = 1; b < t->mj->nbody; ++b) {
    const double *moments = t->mj->body_inertia + 3 * (size_t)b;
    tabi_link_def link = tabi_model_link(t->tabi, t->links[b]);
    double axes[9];
    double full[6];
    static const size_t at[6][2] = {
        {0, 0},
        {1, 1},
        {2, 2},
        {0, 1},
        {0, 2},
        {1, 2}
    };
    mju_quat2Mat(axes, t->mj->body_iquat + 4 * (size_t)b);
    for (size_t i = 0; i < 6; ++i) {
      const double *x = axes + 3 * at[i][0];
      const double *y = axes + 3 * at[i][1];
      full[i] = x[0] * moments[0] * y[0] + x[1] * moments[1] * y[1] + x[2] * moments[2] * y[2];
    }
    assert_near(link.mass, t->mj->body_mass[b], TOLERANCE * t->mj->body_mass[b]);
    assert_near_n(link.com, t->mj->body_ipos + 3 * (size_t)b, 3, TOLERANCE);
    for (size_t i = 0; i < 6; ++i) {
      assert_near(link.inertia[i], full[i], TOLERANCE * (moments[0] + moments[1] + moments[2]));
    }
    total += t->mj->body_mass[b];
  }
  assert_near_rel(tabi_model_mass(t->tabi), total, TOLERANCE);
}

static void compare_joint(const twins *t, int j) {
  const mjModel *mj = t->mj;
  size_t at = 2 * (size_t)j;
  tabi_joint_def joint = tabi_model_joint(t->tabi, t->joints[j]);
  size_t dof = (size_t)mj->jnt_dofadr[j];
  bool ball = mj->jnt_type[j] == mjJNT_BALL;
  double lower = mj->jnt_limited[j] && !ball ? mj->jnt_range[at] : -(double)INFINITY;
  double upper = mj->jnt_limited[j] ? mj->jnt_range[at + 1] : (double)INFINITY;
  assert_near(joint.lower, lower, TOLERANCE);
  assert_near(joint.upper, upper, TOLERANCE);
  assert_near(joint.gear * joint.gear * joint.rotor_inertia, mj->dof_armature[dof], TOLERANCE);
  assert_near(joint.damping, mj->dof_damping[dof], TOLERANCE);
  assert_near(joint.friction, mj->dof_frictionloss[dof], TOLERANCE);
  assert_near(joint.stiffness, mj->jnt_stiffness[j], TOLERANCE);
  if (twins_nq(t, j) == 1) {
    assert_near(joint.rest_position, mj->qpos_spring[mj->jnt_qposadr[j]], TOLERANCE);
  }
}

static void compare_start(const twins *t) {
  double *ours = calloc(t->nq + 1, sizeof *ours);
  double *theirs = calloc(t->nq + 1, sizeof *theirs);
  double gravity[3];
  tabi_model_initial_q(t->tabi, ours);
  twins_q(t, t->mj->qpos0, theirs);
  assert_near_n(ours, theirs, t->nq, TOLERANCE);
  tabi_model_gravity(t->tabi, gravity);
  assert_near_n(gravity, t->mj->opt.gravity, 3, TOLERANCE);
  free(ours);
  free(theirs);
}

static tabi_shape_def find_shape(const twins *t, const char *name) {
  for (int32_t i = 0; i < tabi_model_nshape(t->tabi); ++i) {
    tabi_shape_def shape = tabi_model_shape(t->tabi, i);
    if (shape.name && strcmp(shape.name, name) == 0) return shape;
  }
  fail_msg("tabi has no shape '%s'", name);
  return tabi_shape_def_default();
}

/* MuJoCo keeps half sizes; the meaning of each is known by the type. */
static void compare_sizes(const tabi_shape_def *shape, int type, const double *half) {
  switch (type) {
  case mjGEOM_SPHERE:
    assert_near(shape->size[0], half[0], TOLERANCE);
    break;
  case mjGEOM_CAPSULE:
  case mjGEOM_CYLINDER:
    assert_near(shape->size[0], half[0], TOLERANCE);
    assert_near(shape->size[1], 2 * half[1], TOLERANCE);
    break;
  case mjGEOM_BOX:
    for (int i = 0; i < 3; ++i)
      assert_near(shape->size[i], 2 * half[i], TOLERANCE);
    break;
  default:
    break;
  }
}

static void compare_geom(const twins *t, int g) {
  const mjModel *mj = t->mj;
  const char *name = mj_id2name(mj, mjOBJ_GEOM, g);
  size_t k = (size_t)g;
  if (!name || mj->geom_type[g] == mjGEOM_ELLIPSOID) return;
  tabi_shape_def shape = find_shape(t, name);
  compare_sizes(&shape, mj->geom_type[g], mj->geom_size + 3 * k);
  assert_int_equal(shape.link, t->links[mj->geom_bodyid[g]]);
  assert_int_equal(shape.group, mj->geom_contype[g]);
  assert_int_equal(shape.mask, mj->geom_conaffinity[g]);
  assert_int_equal(shape.collides, mj->geom_contype[g] || mj->geom_conaffinity[g]);
  // on its like
  double friction = mj->geom_condim[g] == 1 ? 0 : mj->geom_friction[3 * k];
  tabi_material_def alike = tabi_model_surface(t->tabi, shape.material, shape.material);
  assert_near(alike.friction, friction, TOLERANCE);
  // MuJoCo moves a mesh to its centre of mass; compare that point instead
  if (mj->geom_type[g] == mjGEOM_MESH) return;
  double ours[9];
  double theirs[9];
  mju_quat2Mat(ours, shape.quat);
  mju_quat2Mat(theirs, mj->geom_quat + 4 * k);
  assert_near_n(shape.pos, mj->geom_pos + 3 * k, 3, TOLERANCE);
  assert_near_n(ours, theirs, 9, TOLERANCE);
}

/* Every vertex of MuJoCo's mesh must be one of ours, in the body's frame. */
static void compare_mesh(const twins *t, int g) {
  const mjModel *mj = t->mj;
  const char *name = mj_id2name(mj, mjOBJ_GEOM, g);
  if (!name || mj->geom_type[g] != mjGEOM_MESH) return;
  tabi_shape_def shape = find_shape(t, name);
  tabi_mesh_def mesh = tabi_model_mesh(t->tabi, shape.mesh);
  int id = mj->geom_dataid[g];
  assert_int_equal(mesh.nvertex, mj->mesh_vertnum[id]);
  assert_int_equal(mesh.nface, mj->mesh_facenum[id]);
  for (int i = 0; i < mj->mesh_vertnum[id]; ++i) {
    const float *vertex = mj->mesh_vert + 3 * (size_t)(mj->mesh_vertadr[id] + i);
    double local[3] = {vertex[0], vertex[1], vertex[2]};
    double theirs[3];
    double nearest = 1;
    mju_rotVecQuat(theirs, local, mj->geom_quat + 4 * (size_t)g);
    mju_addTo3(theirs, mj->geom_pos + 3 * (size_t)g);
    for (int32_t k = 0; k < mesh.nvertex; ++k) {
      double ours[3];
      mju_rotVecQuat(ours, mesh.vertices + 3 * (size_t)k, shape.quat);
      mju_addTo3(ours, shape.pos);
      nearest = fmin(nearest, mju_dist3(ours, theirs));
    }
    assert_near(nearest, 0, 1e-6); /* single precision there */
  }
}

static void compare_actuators(const twins *t) {
  const mjModel *mj = t->mj;
  assert_int_equal(tabi_model_nactuator(t->tabi), mj->nu);
  for (size_t i = 0; i < (size_t)mj->nu; ++i) {
    tabi_actuator_def a = tabi_model_actuator(t->tabi, (int32_t)i);
    bool affine = mj->actuator_biastype[i] == mjBIAS_AFFINE;
    assert_int_equal(a.joint, t->joints[mj->actuator_trnid[2 * i]]);
    assert_near(a.gear, mj->actuator_gear[6 * i], TOLERANCE);
    assert_near(a.gain, mj->actuator_gainprm[mjNGAIN * i], TOLERANCE);
    for (size_t k = 0; k < 3; ++k) {
      assert_near(a.bias[k], affine ? mj->actuator_biasprm[mjNBIAS * i + k] : 0, TOLERANCE);
    }
    const double none[2] = {-(double)INFINITY, (double)INFINITY};
    const double *control = mj->actuator_ctrllimited[i] ? mj->actuator_ctrlrange + 2 * i : none;
    const double *force = mj->actuator_forcelimited[i] ? mj->actuator_forcerange + 2 * i : none;
    assert_near(a.control_min, control[0], TOLERANCE);
    assert_near(a.control_max, control[1], TOLERANCE);
    assert_near(a.force_min, force[0], TOLERANCE);
    assert_near(a.force_max, force[1], TOLERANCE);
  }
}

/* MuJoCo: q1 - ref1 = p(q2 - ref2); ours: q1 = coef(q2). */
static void compare_coupling(const twins *t, const tabi_coupling_def *c, int eq) {
  const mjModel *mj = t->mj;
  const double *p = mj->eq_data + (size_t)mjNEQDATA * (size_t)eq;
  int leader = mj->eq_obj2id[eq];
  double ref1 = mj->qpos0[mj->jnt_qposadr[mj->eq_obj1id[eq]]];
  double ref2 = leader >= 0 ? mj->qpos0[mj->jnt_qposadr[leader]] : 0;
  assert_int_equal(c->joint, t->joints[mj->eq_obj1id[eq]]);
  assert_int_equal(c->leader, leader >= 0 ? t->joints[leader] : TABI_NONE);
  for (int i = -4; i <= 4; ++i) {
    double x = 0.25 * i;
    double d = leader >= 0 ? x - ref2 : 0;
    double theirs = ref1 + p[0] + d * (p[1] + d * (p[2] + d * (p[3] + d * p[4])));
    double ours = 0;
    for (int k = 4; k >= 0; --k)
      ours = c->coef[k] + (leader >= 0 ? x * ours : 0);
    assert_near(ours, theirs, TOLERANCE);
  }
}

static void compare_connection(const twins *t, const tabi_connection_def *c, int eq) {
  const mjModel *mj = t->mj;
  const double *data = mj->eq_data + (size_t)mjNEQDATA * (size_t)eq;
  assert_int_equal(c->a, t->links[mj->eq_obj1id[eq]]);
  assert_int_equal(c->b, t->links[mj->eq_obj2id[eq]]);
  if (mj->eq_type[eq] == mjEQ_CONNECT) {
    assert_int_equal(c->type, TABI_CONNECTION_BALL);
    assert_near_n(c->pos_a, data, 3, TOLERANCE);
    assert_near_n(c->pos_b, data + 3, 3, TOLERANCE);
    return;
  }
  double ours[9];
  double theirs[9];
  double quat[4] = {data[6], data[7], data[8], data[9]};
  const double none[4] = {1, 0, 0, 0};
  assert_int_equal(c->type, TABI_CONNECTION_FIXED);
  assert_near_n(c->pos_b, data, 3, TOLERANCE);
  assert_near_n(c->pos_a, data + 3, 3, TOLERANCE);
  assert_near_n(c->quat_b, none, 4, TOLERANCE);
  mju_normalize4(quat);
  mju_quat2Mat(ours, c->quat_a);
  mju_quat2Mat(theirs, quat);
  assert_near_n(ours, theirs, 9, TOLERANCE);
}

static void compare_equality(const twins *t) {
  int32_t couplings = 0;
  int32_t connections = 0;
  for (int eq = 0; eq < t->mj->neq; ++eq) {
    if (!t->mj->eq_active[eq]) continue;
    if (t->mj->eq_type[eq] == mjEQ_JOINT) {
      assert_true(couplings < tabi_model_ncoupling(t->tabi));
      tabi_coupling_def c = tabi_model_coupling(t->tabi, couplings++);
      compare_coupling(t, &c, eq);
    } else {
      assert_true(connections < tabi_model_nconnection(t->tabi));
      tabi_connection_def c = tabi_model_connection(t->tabi, connections++);
      compare_connection(t, &c, eq);
    }
  }
  assert_int_equal(couplings, tabi_model_ncoupling(t->tabi));
  assert_int_equal(connections, tabi_model_nconnection(t->tabi));
  assert_int_equal(t->mj->nexclude, tabi_model_nexclusion(t->tabi));
}

static void compare_keyframes(const twins *t) {
  const mjModel *mj = t->mj;
  double *ours = calloc(t->nq + t->nv + 1, sizeof *ours);
  double *theirs = calloc(t->nq + t->nv + 1, sizeof *theirs);
  assert_int_equal(tabi_model_nposture(t->tabi), mj->nkey);
  for (int k = 0; k < mj->nkey; ++k) {
    // MuJoCo keeps quaternions as they are written until a simulation starts from them
    double *qpos = t->data->qpos;
    memcpy(qpos, mj->key_qpos + (size_t)k * t->nq, t->nq * sizeof *qpos);
    mj_normalizeQuat(mj, qpos);
    twins_q(t, qpos, theirs);
    twins_v(t, qpos, mj->key_qvel + (size_t)k * t->nv, theirs + t->nq);
    const char *name = tabi_model_posture(t->tabi, k, ours, ours + t->nq);
    if (mj_id2name(mj, mjOBJ_KEY, k)) assert_string_equal(name, mj_id2name(mj, mjOBJ_KEY, k));
    assert_near_n(ours, theirs, t->nq + t->nv, TOLERANCE);
  }
  free(ours);
  free(theirs);
}

void twins_test_parts(const char *file) {
  twins t;
  twins_open(&t, file);
  compare_masses(&t);
  compare_start(&t);
  for (int j = 0; j < t.mj->njnt; ++j)
    compare_joint(&t, j);
  for (int g = 0; g < t.mj->ngeom; ++g) {
    compare_geom(&t, g);
    compare_mesh(&t, g);
  }
  compare_actuators(&t);
  compare_equality(&t);
  compare_keyframes(&t);
  twins_close(&t);
}
