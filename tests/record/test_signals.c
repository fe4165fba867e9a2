/* test_signals.c - named numbers of samples: every one is what the world says when asked directly,
 * those of a log are those of the run to the last bit, and names are found by group, by star, and
 * when mistyped. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char robot[] =
    "name: standing\n"
    "timestep: 1e-3\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}}\n"
    "  - {name: ball, mass: 1, shape: {sphere: 0.1}, xyz: [1, 0, 0.5], lin: [0.3, 0.2, 0]}\n"
    "robots:\n"
    "  - name: robot\n"
    "    model: ../models/humanoid36.urdf\n"
    "    base: free\n"
    "    xyz: [0, 0, 0.64869739811465]\n"
    "    posture: {l_hip_pitch: -0.4538, l_knee: 0.8727, l_ankle_pitch: -0.4189,\n"
    "              r_hip_pitch: -0.4538, r_knee: 0.8727, r_ankle_pitch: -0.4189}\n"
    "    controller: {type: pd, kp: 2000, kd: 50, implicit: true}\n"
    "    sensors:\n"
    "      - {name: l_ft, type: force_torque, joint: l_ankle_roll}\n"
    "      - {name: l_knee, type: encoder, joint: l_knee}\n"
    "      - {name: l_bush_z, type: joint_torque, joint: l_bush_z}\n";

static const char slide[] =
    "timestep: 1e-3\n"
    "materials: {wood: {friction: 0.3}}\n"
    "bodies:\n"
    "  - {name: floor, fixed: true, shape: {plane: {}}, material: wood}\n"
    "  - {name: box, mass: 2, shape: {box: [0.4, 0.4, 0.2]}, xyz: [0, 0, 0.1], lin: [2, 0, 0],\n"
    "     material: wood}\n";

static const char pair[] =
    "bodies: [{name: floor, fixed: true, shape: {plane: {}}}]\n"
    "robots:\n"
    "  - {name: one, model: ../models/biped9.urdf}\n"
    "  - {name: two, model: ../models/humanoid20.urdf, base: free, xyz: [0, 2, 3]}\n";

typedef struct run {
  tabi_scene *scene;
  tabi_world *world;
  tabi_observer *observer;
  tabi_signals *signals;
  double *value;
  bool *chosen;
} run;

static run begin_run(const char *text) {
  tabi_error err = {0};
  run r = {0};
  r.scene = load_scene_text(text, TABI_SOURCE_DIR "/scenes/signals.yaml", NULL);
  r.world = open_world(r.scene, NULL);
  r.observer = tabi_observer_create(r.scene, r.world, &err);
  r.signals = tabi_signals_create(r.scene, &err);
  assert_true(r.observer && r.signals);
  size_t count = (size_t)tabi_signals_count(r.signals);
  r.value = calloc(count, sizeof *r.value);
  r.chosen = calloc(count, sizeof *r.chosen);
  assert_true(r.value && r.chosen);
  return r;
}

static void end_run(run *r) {
  free(r->value);
  free(r->chosen);
  tabi_signals_destroy(r->signals);
  tabi_observer_destroy(r->observer);
  tabi_world_destroy(r->world);
  tabi_scene_destroy(r->scene);
}

static void advance(run *r, int steps) {
  for (int i = 0; i < steps; ++i) {
    step_world(r->scene, r->world);
  }
}

static void look(run *r) {
  tabi_signals_eval(r->signals, tabi_observer_look(r->observer), r->value);
}

static int32_t find(const run *r, const char *name) {
  for (int32_t i = 0; i < tabi_signals_count(r->signals); ++i) {
    if (strcmp(tabi_signals_get(r->signals, i).name, name) == 0) return i;
  }
  fail_msg("there is no signal %s", name);
  return 0;
}

static double value_of(const run *r, const char *name) { return r->value[find(r, name)]; }
static const char *unit_of(const run *r, const char *name) {
  return tabi_signals_get(r->signals, find(r, name)).unit;
}

/* Numbers under a name with each of some endings. */
static void check_parts(const run *r, const char *owner, const char *const *parts,
                        const double *expected, int count) {
  for (int i = 0; i < count; ++i) {
    char name[96];
    (void)snprintf(name, sizeof name, "%s.%s", owner, parts[i]);
    double value = value_of(r, name);
    if (value != expected[i]) fail_msg("%s = %.17g, not %.17g", name, value, expected[i]);
  }
}

static const char *const pose[] = {"x", "y", "z", "qw", "qx", "qy", "qz"};
static const char *const motion[] = {"vx", "vy", "vz", "wx", "wy", "wz"};
static const char *const axes[] = {"x", "y", "z"};

static void check_links(run *r) {
  const tabi_model *model = tabi_scene_model(r->scene);
  const tabi_dynamics *d = tabi_world_dynamics(r->world);
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    const char *name = tabi_model_link(model, i).name;
    double state[13];
    tabi_dynamics_link_pose(d, i, state, state + 3);
    tabi_dynamics_link_velocity(d, i, state + 7, state + 10);
    check_parts(r, name, pose, state, 7);
    check_parts(r, name, motion, state + 7, 6);
  }
}

static void check_joints(run *r) {
  const tabi_model *model = tabi_scene_model(r->scene);
  static const char *const parts[] = {"q", "v", "effort", "commanded", "limit"};
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_range q = tabi_model_joint_q(model, i);
    if (q.count != 1) continue;
    tabi_effort e = tabi_world_effort(r->world, i);
    const double state[] = {
        tabi_world_q(r->world)[q.first], tabi_world_v(r->world)[tabi_model_joint_v(model, i).first],
        (double)(float)e.applied, (double)(float)e.commanded, (double)(float)e.limit};
    check_parts(r, tabi_model_joint(model, i).name, parts, state, 5);
  }
}

static void says_what_the_world_says(void **state) {
  (void)state;
  run r = begin_run(robot);
  advance(&r, 50);
  look(&r);
  check_links(&r);
  check_joints(&r);
  tabi_energy e = tabi_world_energy(r.world);
  tabi_balance b = tabi_world_balance(r.world, tabi_scene_get_robot(r.scene, 0).base);
  assert_true(value_of(&r, "time") == tabi_world_time(r.world));
  assert_true(value_of(&r, "energy.total") == e.kinetic + e.potential + e.spring);
  assert_true(value_of(&r, "energy.work") == e.work);
  assert_true(value_of(&r, "certificate.gap") == tabi_world_certificate(r.world).gap);
  assert_true(value_of(&r, "contacts") == tabi_world_certificate(r.world).contacts);
  check_parts(&r, "com", axes, b.com, 3);
  check_parts(&r, "zmp", axes, b.zmp, 3);
  check_parts(&r, "force", axes, b.force, 3);
  assert_true(value_of(&r, "margin") == b.margin);
  assert_true(value_of(&r, "robot.z") == value_of(&r, "robot/pelvis.z"));
  // the ball is in the air, so that the ground bears the robot alone, and its feet do
  double feet = value_of(&r, "robot/l_foot.fz") + value_of(&r, "robot/r_foot.fz");
  assert_near_rel(value_of(&r, "ground.fz"), b.force[2], 1e-6);
  assert_near_rel(feet, b.force[2], 1e-6);
  assert_near_rel(value_of(&r, "floor.fz"), -b.force[2], 1e-6);
  double reading[TABI_SENSOR_MAX];
  static const char *const wrench[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
  (void)tabi_world_sensor(r.world, 0, reading);
  check_parts(&r, "robot/l_ft", wrench, reading, 6);
  end_run(&r);
}

/* m a = -mu m g: the box slips with its speed, and friction takes mu m g v.  In the air nothing has
 * a value. */
static void slips_and_flies(void **state) {
  (void)state;
  run r = begin_run(slide);
  advance(&r, 200);
  look(&r);
  double speed = 2 - 0.3 * 9.81 * 0.2;
  assert_near(value_of(&r, "box.vx"), speed, 1e-6);
  assert_near(value_of(&r, "box.slip"), speed, 1e-6);
  assert_near(value_of(&r, "box.fx"), -0.3 * 2 * 9.81, 1e-5);
  assert_near(value_of(&r, "contact.power"), 0.3 * 2 * 9.81 * speed, 1e-4);
  end_run(&r);

  r = begin_run(robot);
  look(&r);
  assert_true(isnan(value_of(&r, "zmp.x")) && isnan(value_of(&r, "margin")));
  assert_true(isnan(value_of(&r, "ball.slip")));
  assert_true(value_of(&r, "ground.fz") == 0);
  end_run(&r);
}

static bool same_bits(const double *a, const double *b, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (a[i] != b[i] && !(isnan(a[i]) && isnan(b[i]))) return false;
  }
  return true;
}

static void logs_give_the_same(void **state) {
  (void)state;
  enum { STEPS = 30 };
  tabi_error err = {0};
  run r = begin_run(robot);
  int32_t count = tabi_signals_count(r.signals);
  double *rows = calloc((STEPS + 1) * (size_t)count, sizeof *rows);
  assert_non_null(rows);
  const char *path = scratch_path("signals.tabi");
  tabi_recorder *recorder = tabi_recorder_create(path, r.scene, r.world, &err);
  assert_non_null(recorder);
  for (size_t i = 0; i <= STEPS; ++i) {
    if (i > 0) {
      advance(&r, 1);
      assert_int_equal(tabi_recorder_step(recorder, &err), TABI_OK);
    }
    tabi_signals_eval(r.signals, tabi_observer_look(r.observer), rows + i * (size_t)count);
  }
  assert_int_equal(tabi_recorder_close(recorder, &err), TABI_OK);
  tabi_recording *log = tabi_recording_open(path, &err);
  assert_non_null(log);
  assert_int_equal(tabi_recording_get_info(log).nsample, STEPS + 1);
  for (size_t i = 0; i <= STEPS; ++i) {
    tabi_sample sample;
    assert_int_equal(tabi_recording_sample(log, (int64_t)i, &sample, &err), TABI_OK);
    tabi_signals_eval(r.signals, &sample, r.value);
    assert_true(same_bits(r.value, rows + i * (size_t)count, count));
  }
  tabi_recording_close(log);
  free(rows);
  end_run(&r);
}

/* Each signal by itself is what it is among all; links that nobody wants stay as they were. */
static void wanted_ones_are_those_of_all(void **state) {
  (void)state;
  run r = begin_run(robot);
  advance(&r, 20);
  look(&r);
  int32_t count = tabi_signals_count(r.signals);
  double *all = malloc((size_t)count * sizeof *all);
  assert_non_null(all);
  memcpy(all, r.value, (size_t)count * sizeof *all);
  memset(r.chosen, 0, (size_t)count);
  for (int32_t i = 0; i < count; ++i) {
    r.chosen[i] = true;
    tabi_signals_want(r.signals, r.chosen);
    memset(r.value, 0, (size_t)count * sizeof *r.value);
    look(&r);
    assert_true(same_bits(&r.value[i], &all[i], 1));
    r.chosen[i] = false;
    if (i == 0) assert_true(value_of(&r, "robot/l_foot.z") == 0);
  }
  tabi_signals_want(r.signals, NULL);
  look(&r);
  assert_true(same_bits(r.value, all, count));
  free(all);
  end_run(&r);
}

/* No two signals have one name, units are those of the joint, and a second thing of a name gets a
 * number. */
static void names_are_one_of_a_kind(void **state) {
  (void)state;
  run r = begin_run(robot);
  int32_t count = tabi_signals_count(r.signals);
  for (int32_t i = 0; i < count; ++i) {
    tabi_signal signal = tabi_signals_get(r.signals, i);
    assert_true(signal.unit && signal.about && signal.about[0] != '\0');
    for (int32_t j = 0; j < i; ++j)
      assert_string_not_equal(signal.name, tabi_signals_get(r.signals, j).name);
  }
  assert_string_equal(unit_of(&r, "robot/l_knee.q"), "rad");
  assert_string_equal(unit_of(&r, "robot/l_bush_z.q"), "m");
  assert_string_equal(unit_of(&r, "robot/l_bush_z.v"), "m/s");
  assert_string_equal(unit_of(&r, "robot/l_bush_z.tau"), "N");
  assert_string_equal(unit_of(&r, "robot/l_bush_z.effort"), "N");
  assert_string_equal(unit_of(&r, "robot/l_knee.limit"), "N m");
  advance(&r, 1);
  look(&r);
  assert_true(value_of(&r, "robot/l_knee.q#2") == value_of(&r, "robot/l_knee.q"));
  // sensors come last
  assert_string_equal(tabi_signals_get(r.signals, count - 8).name, "robot/l_ft.fx");
  end_run(&r);
}

static void several_robots(void **state) {
  (void)state;
  run r = begin_run(pair);
  look(&r);
  tabi_balance b = tabi_world_balance(r.world, tabi_scene_get_robot(r.scene, 1).base);
  check_parts(&r, "two.com", axes, b.com, 3);
  assert_true(value_of(&r, "two.z") == 3);
  (void)find(&r, "one.margin");
  assert_int_equal(tabi_signals_match(r.signals, "com", r.chosen), 0);
  assert_int_equal(tabi_signals_match(r.signals, "*.com.x", r.chosen), 2);
  end_run(&r);
}

static void check_match(run *r, const char *pattern, int32_t count, const char *among) {
  int32_t all = tabi_signals_count(r->signals);
  memset(r->chosen, 0, sizeof *r->chosen * (size_t)all);
  int32_t told = tabi_signals_match(r->signals, pattern, r->chosen);
  int32_t set = 0;
  for (int32_t i = 0; i < all; ++i)
    set += r->chosen[i];
  if (told != count || set != count) fail_msg("'%s': %d told, %d set", pattern, told, set);
  if (among) assert_true(r->chosen[find(r, among)]);
}

static void names_are_found(void **state) {
  (void)state;
  run r = begin_run(robot);
  check_match(&r, "com.x", 1, "com.x");
  check_match(&r, "com", 3, "com.z");
  check_match(&r, "energy", 5, "energy.spring");
  check_match(&r, "*_knee.q", 2, "robot/r_knee.q");
  check_match(&r, "*", tabi_signals_count(r.signals), "time");
  check_match(&r, "ro*/*_ft.*f*x", 1, "robot/l_ft.fx");
  check_match(&r, "r_knee", 5, "robot/r_knee.v");
  check_match(&r, "ball", 17, "ball.slip");
  check_match(&r, "co", 0, NULL);
  check_match(&r, "", 0, NULL);
  check_match(&r, "com.x.y", 0, NULL);
  assert_string_equal(tabi_signals_nearest(r.signals, "con.x"), "com.x");
  assert_string_equal(tabi_signals_nearest(r.signals, "r_kneee.q"), "r_knee.q");
  assert_string_equal(tabi_signals_nearest(r.signals, "robot/rknee.v"), "robot/r_knee.v");
  assert_null(tabi_signals_nearest(r.signals, "zzzzzzzzz"));
  end_run(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(says_what_the_world_says), cmocka_unit_test(slips_and_flies),
      cmocka_unit_test(logs_give_the_same),       cmocka_unit_test(wanted_ones_are_those_of_all),
      cmocka_unit_test(names_are_one_of_a_kind),  cmocka_unit_test(several_robots),
      cmocka_unit_test(names_are_found),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
