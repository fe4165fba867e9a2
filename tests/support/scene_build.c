/* scene_build.c - see scene_build.h. */
#include "support/scene_build.h"

#include "support/near.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

scene scene_begin(void) {
  scene s = {.builder = tabi_builder_create()};
  assert_non_null(s.builder);
  const double gravity[3] = {0, 0, -GRAVITY};
  tabi_builder_set_gravity(s.builder, gravity);
  tabi_builder_set_timestep(s.builder, 1e-3);
  return s;
}

int32_t scene_material(scene *s, double friction, double restitution) {
  tabi_material_def def = tabi_material_def_default();
  char name[32];
  (void)snprintf(name, sizeof name, "m%g-%g", friction, restitution);
  def.name = name;
  def.friction = friction;
  def.restitution = restitution;
  return tabi_builder_add_material(s->builder, &def);
}

q4 scene_tilt(double angle) { return (q4){cos(0.5 * angle), 0, sin(0.5 * angle), 0}; }

int32_t scene_shape(scene *s, tabi_shape_type type, int32_t link, v3 size, int32_t material) {
  tabi_shape_def def = tabi_shape_def_default();
  def.type = type;
  def.link = link;
  v3_store(size, def.size);
  def.material = material;
  return tabi_builder_add_shape(s->builder, &def);
}

void scene_plane(scene *s, double tilt, int32_t material) {
  tabi_shape_def def = tabi_shape_def_default();
  def.type = TABI_SHAPE_PLANE;
  def.link = TABI_WORLD;
  q_store(scene_tilt(tilt), def.quat);
  def.material = material;
  tabi_builder_add_shape(s->builder, &def);
}

int32_t scene_link(scene *s, double mass, v3 com, v3 inertia, tabi_joint_def joint) {
  char name[32];
  (void)snprintf(name, sizeof name, "link%d", tabi_builder_nlink(s->builder));
  tabi_link_def link = tabi_link_def_default();
  link.name = name;
  link.mass = mass;
  v3_store(com, link.com);
  v3_store(inertia, link.inertia);
  joint.child = tabi_builder_add_link(s->builder, &link);
  (void)snprintf(name, sizeof name, "joint%d", joint.child);
  joint.name = name;
  tabi_builder_add_joint(s->builder, &joint);
  return joint.child;
}

tabi_joint_def scene_hinge(tabi_joint_type type, int32_t parent, v3 pos, v3 axis) {
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = type;
  joint.parent = parent;
  v3_store(pos, joint.pos);
  v3_store(axis, joint.axis);
  return joint;
}

int32_t scene_free(scene *s, double mass, v3 inertia, v3 pos) {
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  v3_store(pos, joint.initial_q);
  joint.initial_q[3] = 1;
  return scene_link(s, mass, v3_zero(), inertia, joint);
}

int32_t scene_box(scene *s, double mass, v3 size, v3 pos, int32_t material) {
  v3 square = v3_make(size.x * size.x, size.y * size.y, size.z * size.z);
  v3 inertia =
      v3_scale(mass / 12, v3_make(square.y + square.z, square.z + square.x, square.x + square.y));
  int32_t link = scene_free(s, mass, inertia, pos);
  scene_shape(s, TABI_SHAPE_BOX, link, size, material);
  return link;
}

int32_t scene_ball(scene *s, double mass, double radius, v3 pos, int32_t material) {
  double moment = 0.4 * mass * radius * radius;
  int32_t link = scene_free(s, mass, v3_make(moment, moment, moment), pos);
  scene_shape(s, TABI_SHAPE_SPHERE, link, v3_make(radius, 0, 0), material);
  return link;
}

int32_t scene_humanoid(scene *s, double height) {
  tabi_load_def def = tabi_load_def_default();
  def.base = TABI_BASE_FREE;
  def.place_base = true;
  def.base_pos[2] = height;
  def.base_quat[0] = 1;
  tabi_error err;
  const char *path = TABI_SOURCE_DIR "/models/humanoid36.urdf";
  int32_t first = tabi_builder_nlink(s->builder);
  if (tabi_builder_load(s->builder, path, &def, &err) != TABI_OK) fail_msg("%s", err.message);
  for (int32_t a = first; a < tabi_builder_nlink(s->builder); ++a) {
    for (int32_t b = first; b < a; ++b)
      tabi_builder_add_exclusion(s->builder, a, b);
  }
  return tabi_builder_find_link(s->builder, "pelvis");
}

void scene_crouch(scene *s, double kp, double kd, bool implicit) {
  const struct {
    const char *left, *right;
    double angle;
  } bent[3] = {
      {"l_hip_pitch",   "r_hip_pitch",   -0.4538},
      {"l_knee",        "r_knee",        0.8727 },
      {"l_ankle_pitch", "r_ankle_pitch", -0.4189}
  };
  double *q = malloc(sizeof *q * (size_t)tabi_model_nq(s->model));
  assert_non_null(q);
  memcpy(q, tabi_world_q(s->world), sizeof *q * (size_t)tabi_model_nq(s->model));
  for (int i = 0; i < 3; ++i) {
    int32_t left = tabi_model_find_joint(s->model, bent[i].left);
    int32_t right = tabi_model_find_joint(s->model, bent[i].right);
    q[tabi_model_joint_q(s->model, left).first] = bent[i].angle;
    q[tabi_model_joint_q(s->model, right).first] = bent[i].angle;
  }
  assert_int_equal(tabi_world_set_state(s->world, q, tabi_world_v(s->world), NULL), TABI_OK);
  for (int32_t j = 0; j < tabi_model_njoint(s->model); ++j) {
    tabi_range range = tabi_model_joint_q(s->model, j);
    if (range.count != 1) continue;
    tabi_servo servo = {.kp = kp, .kd = kd, .target = q[range.first], .implicit = implicit};
    /* the rubber of the feet, which the file cannot give its springs */
    const char *name = tabi_model_joint(s->model, j).name;
    if (strstr(name, "bush")) {
      bool slide = strstr(name, "bush_z") != NULL;
      servo = (tabi_servo){.kp = slide ? 1e6 : 2.5e3, .implicit = true};
    }
    tabi_world_set_servo(s->world, j, &servo);
  }
  free(q);
}

static void build(scene *s) {
  tabi_error err;
  s->model = tabi_builder_build(s->builder, &err);
  if (!s->model) fail_msg("%s", err.message);
  tabi_builder_destroy(s->builder);
  s->builder = NULL;
}

tabi_world_def scene_def(scene *s) {
  if (!s->model) build(s);
  return tabi_world_def_default(s->model);
}

void scene_open(scene *s, const tabi_world_def *def) {
  if (!s->model) build(s);
  tabi_error err;
  s->world = tabi_world_create(s->model, def, &err);
  if (!s->world) fail_msg("%s", err.message);
}

void scene_close(scene *s) {
  tabi_world_destroy(s->world);
  tabi_model_destroy(s->model);
  tabi_builder_destroy(s->builder);
  *s = (scene){0};
}

int32_t scene_joint(const scene *s, int32_t link) { return tabi_model_link_joint(s->model, link); }

const double *scene_q(const scene *s, int32_t link) {
  return tabi_world_q(s->world) + tabi_model_joint_q(s->model, scene_joint(s, link)).first;
}

const double *scene_v(const scene *s, int32_t link) {
  return tabi_world_v(s->world) + tabi_model_joint_v(s->model, scene_joint(s, link)).first;
}

void scene_set(scene *s, int32_t link, const double *q, const double *v) {
  size_t nq = (size_t)tabi_model_nq(s->model);
  size_t nv = (size_t)tabi_model_nv(s->model);
  tabi_range range_q = tabi_model_joint_q(s->model, scene_joint(s, link));
  tabi_range range_v = tabi_model_joint_v(s->model, scene_joint(s, link));
  double *all = malloc(sizeof *all * (nq + nv));
  assert_non_null(all);
  memcpy(all, tabi_world_q(s->world), sizeof *all * nq);
  memcpy(all + nq, tabi_world_v(s->world), sizeof *all * nv);
  if (q) memcpy(all + range_q.first, q, sizeof *q * (size_t)range_q.count);
  if (v) memcpy(all + nq + range_v.first, v, sizeof *v * (size_t)range_v.count);
  tabi_error err;
  tabi_status status = tabi_world_set_state(s->world, all, all + nq, &err);
  free(all);
  if (status != TABI_OK) fail_msg("%s", err.message);
}

void scene_set_velocity(scene *s, int32_t link, v3 lin, v3 ang) {
  double v[6];
  v3_store(lin, v);
  v3_store(ang, v + 3);
  scene_set(s, link, NULL, v);
}

void scene_turn(scene *s, int32_t link, q4 turn) {
  double q[7];
  memcpy(q, scene_q(s, link), sizeof q);
  q_store(turn, q + 3);
  scene_set(s, link, q, NULL);
}

void scene_run(scene *s, int64_t steps) {
  for (int64_t i = 0; i < steps; ++i) {
    if (tabi_world_step(s->world, NULL) == TABI_OK) continue;
    fail_msg("%s", tabi_world_error(s->world)->message);
  }
}

void scene_push(scene *s, int32_t link, v3 force) {
  double at[3];
  double quat[4];
  double f[3];
  const double none[3] = {0};
  tabi_dynamics_link_pose(tabi_world_dynamics(s->world), link, at, quat);
  v3_store(force, f);
  tabi_world_apply(s->world, link, f, none, at);
}

v3 scene_impulse(const scene *s, int32_t link) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  v3 sum = v3_zero();
  for (int32_t i = 0; i < count; ++i) {
    if (contact[i].link_b == link) sum = v3_add(sum, v3_load(contact[i].impulse));
    if (contact[i].link_a == link) sum = v3_sub(sum, v3_load(contact[i].impulse));
  }
  return sum;
}

double scene_energy(scene *s) {
  tabi_energy e = tabi_world_energy(s->world);
  return e.kinetic + e.potential + e.spring;
}
