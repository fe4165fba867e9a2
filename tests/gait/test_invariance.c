/* test_invariance.c - the gait does not depend on the link frames of the model.
 *
 * The nine links are built once more with other frames: turned in the plane, turned over so that y
 * points the other way, or both; half of the hinges count their angles the other way round, and
 * feet may be soles that are welded to their links.  It must walk as the robot of the file does. */
#include "gait/biped.h"

#include "math/quat.h"

#include <stdio.h>
#include <string.h>

#define PI 3.14159265358979323846

/* How the frame of a link stands in that of the file's. */
typedef struct turn {
  double angle; /* about y */
  bool over;    /* and then half a turn about x */
} turn;

static m3 rotation(turn t) {
  q4 about_y = {cos(0.5 * t.angle), 0, sin(0.5 * t.angle), 0};
  q4 about_x = {cos(0.5 * PI), sin(0.5 * PI), 0, 0};
  m3 in_plane = q_matrix(about_y);
  m3 half = q_matrix(about_x);
  return t.over ? m3_mul(&in_plane, &half) : in_plane;
}

/* link -1 is the world, which stays; and so does what is welded to it */
static m3 rotation_of(const tabi_model *model, const turn *turns, int32_t link) {
  bool stands = link < 0 || tabi_model_link_joint(model, link) == TABI_NONE;
  return stands ? m3_identity() : rotation(turns[link]);
}

static void put_link(tabi_builder *builder, const tabi_link_def *old, const m3 *rot) {
  tabi_link_def def = *old;
  m3 back = m3_transpose(rot);
  v3_store(m3_mulv(&back, v3_load(old->com)), def.com);
  s3_store(s3_rotate(&back, s3_load(old->inertia)), def.inertia);
  tabi_builder_add_link(builder, &def);
}

static bool is_reversed(const tabi_joint_def *joint, int32_t index) {
  return joint->type != TABI_JOINT_PLANAR && index % 2 == 0;
}

static void put_joint(tabi_builder *builder, const tabi_model *model, const turn *turns,
                      int32_t index) {
  tabi_joint_def def = tabi_model_joint(model, index);
  m3 parent = rotation_of(model, turns, def.parent);
  m3 child = rotation_of(model, turns, def.child);
  m3 own = q_matrix(q_load(def.quat));
  own = m3_mul(&own, &child);
  parent = m3_transpose(&parent);
  own = m3_mul(&parent, &own);
  q_store(q_from_matrix(&own), def.quat);
  v3_store(m3_mulv(&parent, v3_load(def.pos)), def.pos);
  v3 axis = m3_tmulv(&child, v3_load(def.axis));
  if (is_reversed(&def, index)) {
    double lower = def.lower;
    axis = v3_neg(axis);
    def.lower = -def.upper;
    def.upper = -lower;
  }
  v3_store(axis, def.axis);
  tabi_builder_add_joint(builder, &def);
}

static const double sole_pos[3] = {0.1, 0, -0.2};
static const double sole_angle = 0.3;

/* soles without mass on the feet */
static void put_soles(tabi_builder *builder, const biped *b) {
  for (int i = 0; i < 2; ++i) {
    tabi_link_def link = tabi_link_def_default();
    tabi_joint_def joint = tabi_joint_def_default();
    joint.type = TABI_JOINT_FIXED;
    joint.parent = b->def.foot[i].link;
    joint.child = tabi_builder_add_link(builder, &link);
    memcpy(joint.pos, sole_pos, sizeof sole_pos);
    joint.quat[0] = cos(0.5 * sole_angle);
    joint.quat[2] = sin(0.5 * sole_angle);
    tabi_builder_add_joint(builder, &joint);
  }
}

/* the same robot in other frames */
static tabi_model *rebuild(const biped *b, const turn *turns) {
  const tabi_model *model = b->model;
  tabi_error err = {0};
  const double gravity[3] = {0, 0, -9.80};
  tabi_builder *builder = tabi_builder_create();
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def def = tabi_model_link(model, i);
    m3 rot = rotation_of(model, turns, i);
    put_link(builder, &def, &rot);
  }
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j)
    put_joint(builder, model, turns, j);
  put_soles(builder, b);
  tabi_builder_set_gravity(builder, gravity);
  tabi_model *made = tabi_builder_build(builder, &err);
  if (!made) fail_msg("%s", err.message);
  tabi_builder_destroy(builder);
  return made;
}

static void turn_point(const tabi_model *model, const turn *turns, int32_t link, double point[3]) {
  m3 rot = rotation_of(model, turns, link);
  v3_store(m3_tmulv(&rot, v3_load(point)), point);
}

/* a point of a foot as one of its sole */
static void move_to_sole(double point[3]) {
  m3 rot = rotation((turn){sole_angle, false});
  v3_store(m3_tmulv(&rot, v3_sub(v3_load(point), v3_load(sole_pos))), point);
}

/* the same gait of the same robot in other frames */
static biped biped_turned(const turn *turns, bool soles) {
  biped b = biped_default();
  for (int i = 0; i < 2; ++i) {
    tabi_gait_foot *foot = &b.def.foot[i];
    turn_point(b.model, turns, foot->link, foot->heel);
    turn_point(b.model, turns, foot->link, foot->toe);
  }
  /* its point is the same in both links */
  turn_point(b.model, turns, b.force[1].link[0], b.force[1].point);
  tabi_model *made = rebuild(&b, turns);
  for (int i = 0; i < 2 && soles; ++i) {
    b.def.foot[i].link = tabi_model_nlink(b.model) + i;
    move_to_sole(b.def.foot[i].heel);
    move_to_sole(b.def.foot[i].toe);
  }
  tabi_model_destroy(b.model);
  b.model = made;
  return b;
}

/* positions of all links, and the state of the gait, agree until the second step is under way */
static void compare(biped *plain, biped *turned) {
  for (int i = 0; i < 160; ++i) {
    assert_true(biped_step(plain));
    assert_true(biped_step(turned));
    tabi_gait_state a = tabi_world_gait_state(plain->world);
    tabi_gait_state b = tabi_world_gait_state(turned->world);
    assert_string_equal(a.mode, b.mode);
    assert_near(a.heel_force, b.heel_force, 1e-4);
    assert_near(a.toe_force, b.toe_force, 1e-4);
  }
  for (int32_t link = 0; link < tabi_model_nlink(plain->model); ++link) {
    double a[3], b[3], quat[4];
    tabi_dynamics_link_pose(tabi_world_dynamics(plain->world), link, a, quat);
    tabi_dynamics_link_pose(tabi_world_dynamics(turned->world), link, b, quat);
    assert_near_n(a, b, 3, 1e-6);
  }
  assert_int_equal(tabi_world_gait_state(turned->world).steps, 1);
  assert_near(biped_balance(turned), biped_balance(plain), 1e-6);
}

static void set_reversed(const biped *plain, biped *turned) {
  double q[32];
  const double v[32] = {0};
  tabi_model_initial_q(turned->model, q);
  for (int32_t j = 0; j < tabi_model_njoint(plain->model); ++j) {
    tabi_joint_def joint = tabi_model_joint(plain->model, j);
    tabi_range at = tabi_model_joint_q(plain->model, j);
    if (at.count != 1) continue;
    double value = tabi_world_q(plain->world)[at.first];
    q[tabi_model_joint_q(turned->model, j).first] = is_reversed(&joint, j) ? -value : value;
  }
  /* x is kept: at the place of the start in both */
  assert_int_equal(tabi_world_set_state(turned->world, q, v, NULL), TABI_OK);
}

static void compare_with(double angle, int over_every, bool soles) {
  turn turns[16] = {0};
  for (int32_t i = 0; i < 16; ++i) {
    turns[i].angle = angle * (i % 3 - 1);
    turns[i].over = over_every > 0 && i % over_every == 0;
  }
  biped plain = biped_default();
  biped turned = biped_turned(turns, soles);
  plain.timestep = turned.timestep = 0.01;
  biped_open(&plain);
  biped_open(&turned);
  set_reversed(&plain, &turned);
  compare(&plain, &turned);
  biped_close(&plain);
  biped_close(&turned);
}

/* Contacts are where the soles of the robot are, 0.5 m to either side of its plane. */
static void contacts_under_the_feet(void **state) {
  (void)state;
  biped b = biped_default();
  b.timestep = 0.01;
  biped_open(&b);
  int seen[2] = {0, 0};
  for (int i = 0; i < 160; ++i) {
    int32_t count = 0;
    assert_true(biped_step(&b));
    const tabi_contact *contact = tabi_world_contacts(b.world, &count);
    for (int32_t k = 0; k < count; ++k) {
      int foot = contact[k].link_b == b.def.foot[1].link;
      assert_near(contact[k].point[1], foot == 0 ? 0.5 : -0.5, 1e-12);
      ++seen[foot];
    }
  }
  assert_true(seen[0] > 0 && seen[1] > 0);
  biped_close(&b);
}

static void angles_the_other_way(void **state) {
  (void)state;
  compare_with(0, 0, false);
}

static void turned_in_the_plane(void **state) {
  (void)state;
  compare_with(0.7, 0, false);
}

/* the x axes of feet point up, down or back */
static void turned_far(void **state) {
  (void)state;
  compare_with(2.1, 0, false);
}

static void turned_over(void **state) {
  (void)state;
  compare_with(0, 1, false);
  compare_with(0.4, 2, true);
}

static void on_soles(void **state) {
  (void)state;
  compare_with(0, 0, true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(contacts_under_the_feet),
      cmocka_unit_test(angles_the_other_way),
      cmocka_unit_test(on_soles),
      cmocka_unit_test(turned_in_the_plane),
      cmocka_unit_test(turned_far),
      cmocka_unit_test(turned_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
