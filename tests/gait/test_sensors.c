/* test_sensors.c - sensors of a biped that walks by events: they agree with what the walk itself
 * says of its soles and joints, and nothing is felt at the base, where nothing holds the robot. */
#include "gait/biped.h"

#include <stdio.h>

enum { LEFT_CONTACT, RIGHT_CONTACT, LEFT_CENTRE, ZMP, LEFT_ANKLE, KNEE, BASE, SENSORS };

static const struct {
  tabi_sensor_type type;
  const char *link, *joint;
} kinds[SENSORS] = {
    [LEFT_CONTACT] = {TABI_SENSOR_CONTACT,         "left_foot",  NULL        },
    [RIGHT_CONTACT] = {TABI_SENSOR_CONTACT,         "right_foot", NULL        },
    [LEFT_CENTRE] = {TABI_SENSOR_PRESSURE_CENTRE, "left_foot",  NULL        },
    [ZMP] = {TABI_SENSOR_ZMP,             "waist",      NULL        },
    [LEFT_ANKLE] = {TABI_SENSOR_FORCE_TORQUE,    NULL,         "left_ankle"},
    [KNEE] = {TABI_SENSOR_JOINT_TORQUE,    NULL,         "left_knee" },
    [BASE] = {TABI_SENSOR_FORCE_TORQUE,    NULL,         "base"      },
};

/* the biped with sensors */
static biped open_with_sensors(void) {
  biped b = biped_default();
  tabi_error err = {0};
  const double gravity[3] = {0, 0, -9.80};
  tabi_builder *builder = tabi_builder_create();
  assert_int_equal(tabi_builder_load(builder, TABI_SOURCE_DIR "/models/biped9.urdf", NULL, &err),
                   TABI_OK);
  for (int i = 0; i < SENSORS; ++i) {
    tabi_sensor_def def = tabi_sensor_def_default();
    def.type = kinds[i].type;
    if (kinds[i].link) def.link = tabi_model_find_link(b.model, kinds[i].link);
    if (kinds[i].joint) def.joint = tabi_model_find_joint(b.model, kinds[i].joint);
    /* in the sole */
    if (i == LEFT_CENTRE) def.pos[2] = -0.5;
    assert_int_equal(tabi_builder_add_sensor(builder, &def), i);
  }
  tabi_builder_set_gravity(builder, gravity);
  tabi_model_destroy(b.model);
  b.model = tabi_builder_build(builder, &err);
  if (!b.model) fail_msg("%s", err.message);
  tabi_builder_destroy(builder);
  biped_open(&b);
  return b;
}

/* the soles' loads, where they act, and the torque of a joint, which is returned */
static double compare(biped *b) {
  double left[6], right[6], centre[6], zmp[6], knee[6], tau[32];
  tabi_gait_state state = tabi_world_gait_state(b->world);
  tabi_world_sensor(b->world, LEFT_CONTACT, left);
  tabi_world_sensor(b->world, RIGHT_CONTACT, right);
  tabi_world_sensor(b->world, LEFT_CENTRE, centre);
  tabi_world_sensor(b->world, ZMP, zmp);
  tabi_world_sensor(b->world, KNEE, knee);
  const double *own = state.support == 0 ? left : right;
  const double *other = state.support == 0 ? right : left;
  double load = state.heel_force + state.toe_force;
  assert_near(own[1], load, 1e-9);
  assert_near(other[1], state.normal, 1e-9);
  assert_near(zmp[3], load + state.normal, 1e-9);
  if (state.support == 0 && load > 1) {
    assert_near(centre[2], load, 1e-9);
    assert_near(centre[0], 0.5 * (state.toe_force - state.heel_force) / load, 1e-6);
  }
  tabi_world_gait_torque(b->world, tau);
  int32_t joint = tabi_model_find_joint(b->model, "left_knee");
  assert_near(knee[0], tau[tabi_model_joint_v(b->model, joint).first], 1e-12);
  return fabs(knee[0]);
}

static void readings(void **state) {
  (void)state;
  biped b = open_with_sensors();
  double worst = 0;
  double torque = 0;
  for (int i = 0; i < 1700; ++i) {
    double base[6];
    assert_true(biped_step(&b));
    torque = fmax(torque, compare(&b));
    tabi_world_sensor(b.world, BASE, base);
    worst = fmax(worst, fmax(fmax(fabs(base[0]), fabs(base[2])), fabs(base[4])));
  }
  printf("felt where nothing holds the robot: %.2g\n", worst);
  assert_true(worst < 1e-6);
  assert_true(torque > 10);
  biped_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(readings)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
