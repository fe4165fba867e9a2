/* test_sensors_robot.c - humanoid36 on its soles: what its ankles feel is what the ground says,
 * under every contact method. */
#include "support/near.h"
#include "support/scene_build.h"

#include <stdio.h>

#define SOLE 0.045 /* m, below the frame of a foot */
#define H    2e-3

/* sensors of one foot */
typedef struct foot {
  int32_t link;
  int32_t ankle, bush; /* force-torque above and below the rubber */
  int32_t touch, pressure;
  double mass; /* behind the ankle */
} foot;

typedef struct stander {
  scene s;
  int32_t pelvis, accelerometer, zmp;
  foot foot[2];
} stander;

static int32_t add_sensor(scene *s, tabi_sensor_type type, int32_t at, v3 pos) {
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = type;
  def.link = def.joint = at;
  v3_store(pos, def.pos);
  return tabi_builder_add_sensor(s->builder, &def);
}

static int32_t joint_of(const scene *s, char side, const char *name) {
  char full[40];
  (void)snprintf(full, sizeof full, "%c_%s", side, name);
  int32_t joint =
      s->model ? tabi_model_find_joint(s->model, full) : tabi_builder_find_joint(s->builder, full);
  assert_true(joint != TABI_NONE);
  return joint;
}

static foot add_foot(scene *s, char side) {
  char name[] = "?_foot";
  name[0] = side;
  foot f = {.link = tabi_builder_find_link(s->builder, name)};
  v3 sole = v3_make(0, 0, -SOLE);
  f.ankle = add_sensor(s, TABI_SENSOR_FORCE_TORQUE, joint_of(s, side, "ankle_roll"), v3_zero());
  f.bush = add_sensor(s, TABI_SENSOR_FORCE_TORQUE, joint_of(s, side, "bush_roll"), sole);
  f.touch = add_sensor(s, TABI_SENSOR_CONTACT, f.link, v3_zero());
  f.pressure = add_sensor(s, TABI_SENSOR_PRESSURE_CENTRE, f.link, sole);
  return f;
}

static bool hangs_on(const tabi_model *model, int32_t link, int32_t above) {
  while (link != above && link != TABI_WORLD) {
    int32_t joint = tabi_model_link_joint(model, link);
    link = joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, joint).parent;
  }
  return link == above;
}

/* mass of a link and all that hangs from it */
static double mass_behind(const tabi_model *model, int32_t above) {
  double mass = 0;
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    if (hangs_on(model, i, above)) mass += tabi_model_link(model, i).mass;
  }
  return mass;
}

/* rubber with so much damping that the robot soon stands still */
static void calm_bushes(stander *r) {
  static const char *const names[3] = {"bush_z", "bush_pitch", "bush_roll"};
  const tabi_servo rubber[2] = {
      {.kp = 1e6,   .kd = 2e4, .implicit = true},
      {.kp = 2.5e3, .kd = 400, .implicit = true},
  };
  for (int i = 0; i < 6; ++i) {
    int32_t joint = joint_of(&r->s, "lr"[i / 3], names[i % 3]);
    tabi_world_set_servo(r->s.world, joint, &rubber[i % 3 > 0]);
  }
}

static stander open_stander(tabi_contact_kind contact) {
  stander r = {.s = scene_begin()};
  scene_plane(&r.s, 0, scene_material(&r.s, 0.7, 0));
  r.pelvis = scene_humanoid(&r.s, 0.64869739811465);
  r.foot[0] = add_foot(&r.s, 'l');
  r.foot[1] = add_foot(&r.s, 'r');
  r.accelerometer = add_sensor(&r.s, TABI_SENSOR_ACCELEROMETER, r.pelvis, v3_make(0.1, 0, 0.1));
  r.zmp = add_sensor(&r.s, TABI_SENSOR_ZMP, r.pelvis, v3_zero());
  tabi_world_def def = scene_def(&r.s);
  def.contact = contact;
  def.timestep = H;
  scene_open(&r.s, &def);
  for (int i = 0; i < 2; ++i) {
    int32_t joint = tabi_model_sensor(r.s.model, r.foot[i].ankle).joint;
    r.foot[i].mass = mass_behind(r.s.model, tabi_model_joint(r.s.model, joint).child);
  }
  scene_crouch(&r.s, 5000, 500, true);
  calm_bushes(&r);
  return r;
}

static void read(const stander *r, int32_t sensor, double *value) {
  (void)tabi_world_sensor(r->s.world, sensor, value);
}

/* sum of the forces of contacts on a foot, and their moment about a point */
static void ground_wrench(const stander *r, int32_t link, v3 about, v3 *force, v3 *moment) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(r->s.world, &count);
  *force = *moment = v3_zero();
  for (int32_t i = 0; i < count; ++i) {
    const tabi_contact *c = &contact[i];
    if (c->link_a != link && c->link_b != link) continue;
    v3 f = v3_scale((c->link_b == link ? 1 : -1) / H, v3_load(c->impulse));
    *force = v3_add(*force, f);
    *moment = v3_add(*moment, v3_cross(v3_sub(v3_load(c->point), about), f));
  }
}

/* the sole, world, at the start of the last step: it does not move any more */
static void pose_of(const stander *r, int32_t link, v3 *pos, m3 *rot) {
  const tabi_dynamics *d = tabi_world_dynamics(r->s.world);
  double at[3];
  double quat[4];
  tabi_dynamics_link_pose(d, link, at, quat);
  *pos = v3_load(at);
  *rot = q_matrix(q_load(quat));
}

/* both ankles bear what is above them, the rubber what is above that, and the floor all */
static void check_weights(const stander *r) {
  const tabi_model *model = r->s.model;
  double above = tabi_model_mass(model);
  double ankles = 0;
  double floor = 0;
  for (int i = 0; i < 2; ++i) {
    const foot *f = &r->foot[i];
    double value[6];
    v3 pos;
    m3 rot;
    pose_of(r, tabi_model_joint(model, tabi_model_sensor(model, f->ankle).joint).child, &pos, &rot);
    read(r, f->ankle, value);
    ankles -= m3_mulv(&rot, v3_load(value)).z;
    read(r, f->touch, value);
    assert_true(value[0] == 1);
    floor += value[1];
    above -= f->mass;
  }
  print_message("  ankles %.9g of %.9g N, floor %.9g of %.9g N\n", ankles, above * GRAVITY, floor,
                tabi_model_mass(model) * GRAVITY);
  assert_near(ankles / (above * GRAVITY), 1, 1e-6);
  assert_near(floor / (tabi_model_mass(model) * GRAVITY), 1, 1e-6);
}

/* Where the foot pushes: from the force above the foot, its own weight and lever known, as a robot
 * would find it; from the contacts; and as its sensor says. */
static void check_centres(const stander *r) {
  for (int i = 0; i < 2; ++i) {
    const foot *f = &r->foot[i];
    v3 pos;
    m3 rot;
    pose_of(r, f->link, &pos, &rot);
    v3 sole = v3_add(pos, m3_mulv(&rot, v3_make(0, 0, -SOLE)));
    double felt[6];
    read(r, f->bush, felt);
    tabi_link_def link = tabi_model_link(r->s.model, f->link);
    v3 weight = m3_tmulv(&rot, v3_make(0, 0, -link.mass * GRAVITY));
    v3 arm = v3_add(v3_load(link.com), v3_make(0, 0, SOLE));
    v3 force = v3_neg(v3_add(v3_load(felt), weight));
    v3 moment = v3_neg(v3_add(v3_load(felt + 3), v3_cross(arm, weight)));
    double centre[3];
    read(r, f->pressure, centre);
    assert_near(centre[0], -moment.y / force.z, 1e-6);
    assert_near(centre[1], moment.x / force.z, 1e-6);
    assert_near(centre[2] / force.z, 1, 1e-6);
    v3 push;
    v3 turn;
    ground_wrench(r, f->link, sole, &push, &turn);
    turn = m3_tmulv(&rot, turn);
    push = m3_tmulv(&rot, push);
    assert_near(centre[0], -turn.y / push.z, 1e-9);
    assert_near(centre[1], turn.x / push.z, 1e-9);
    assert_true(fabs(centre[0]) < 0.1225 + 0.0175 && fabs(centre[1]) < 0.065);
  }
}

/* The point about which the floor has no tipping moment, below the centre of mass at rest. */
static void check_zmp(const stander *r) {
  double zmp[4];
  read(r, r->zmp, zmp);
  v3 force[2];
  v3 moment[2];
  for (int i = 0; i < 2; ++i)
    ground_wrench(r, r->foot[i].link, v3_load(zmp), &force[i], &moment[i]);
  double weight = force[0].z + force[1].z;
  assert_near(zmp[3] / weight, 1, 1e-9);
  assert_near((moment[0].x + moment[1].x) / weight, 0, 1e-9);
  assert_near((moment[0].y + moment[1].y) / weight, 0, 1e-9);
  double com[3];
  tabi_dynamics_com(tabi_world_dynamics(r->s.world), com);
  assert_near(zmp[0], com[0], 1e-5);
  assert_near(zmp[1], com[1], 1e-5);
  assert_near(zmp[2], 0, 1e-3);
}

static void check_accelerometer(const stander *r) {
  v3 pos;
  m3 rot;
  pose_of(r, r->pelvis, &pos, &rot);
  double felt[3];
  double wanted[3];
  read(r, r->accelerometer, felt);
  v3_store(m3_tmulv(&rot, v3_make(0, 0, GRAVITY)), wanted);
  assert_near_n(felt, wanted, 3, 1e-5);
}

static void stands(tabi_contact_kind contact) {
  stander r = open_stander(contact);
  scene_run(&r.s, 600);
  print_message("%s\n", tabi_contact_name(contact));
  check_weights(&r);
  check_centres(&r);
  check_zmp(&r);
  check_accelerometer(&r);
  scene_close(&r.s);
}

static void stands_by_cone(void **state) {
  (void)state;
  stands(TABI_CONTACT_CONE);
}
static void stands_by_exact(void **state) {
  (void)state;
  stands(TABI_CONTACT_EXACT);
}
static void stands_by_penalty(void **state) {
  (void)state;
  stands(TABI_CONTACT_PENALTY);
}
static void stands_by_impulse(void **state) {
  (void)state;
  stands(TABI_CONTACT_IMPULSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stands_by_cone),
      cmocka_unit_test(stands_by_exact),
      cmocka_unit_test(stands_by_penalty),
      cmocka_unit_test(stands_by_impulse),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
