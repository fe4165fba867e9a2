/* test_stepper.c - robots walk by command and step to keep their balance. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_control.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMESTEP 1e-3

typedef struct walker {
  tabi_scene *scene;
  const tabi_model *model;
  tabi_world *world;
  tabi_biped biped;
  tabi_stepper *stepper;
  double *q, *v;
} walker;

static void load(walker *w, const char *file, const char *lock, const char *contact) {
  char text[2000];
  (void)snprintf(text, sizeof text,
                 "contact: {model: %s}\nmaterials: {ground: {friction: 0.8}}\n"
                 "bodies:\n  - {name: floor, fixed: true, shape: {plane: {}}, material: ground}\n"
                 "robots:\n  - {name: robot, model: %s/models/%s, base: free, lock: [%s]}\n",
                 contact, TABI_SOURCE_DIR, file, lock);
  tabi_error err = {0};
  w->scene = tabi_scene_load_text(text, strlen(text), "test", NULL, &err);
  if (!w->scene) fail_msg("%s", err.message);
  w->model = tabi_scene_model(w->scene);
  w->q = calloc((size_t)tabi_model_nq(w->model) + 1, sizeof *w->q);
  w->v = calloc((size_t)tabi_model_nv(w->model) + 1, sizeof *w->v);
  tabi_model_initial_q(w->model, w->q);
  if (tabi_biped_find(w->model, TABI_NONE, w->q, NULL, &w->biped, &err) != TABI_OK ||
      tabi_biped_stand(w->model, &w->biped, 0, 0, w->q, &err) != TABI_OK)
    fail_msg("%s", err.message);
  tabi_world_def def = tabi_scene_world_def(w->scene);
  w->world = tabi_world_create(w->model, &def, &err);
  tabi_stepper_def stepper = tabi_stepper_def_default();
  stepper.biped = &w->biped;
  stepper.posture = w->q;
  w->stepper = tabi_stepper_create(w->model, &stepper, &err);
  if (!w->world || !w->stepper) fail_msg("%s", err.message);
  assert_int_equal(tabi_world_set_state(w->world, w->q, w->v, &err), TABI_OK);
}

static void unload(walker *w) {
  tabi_stepper_destroy(w->stepper);
  tabi_world_destroy(w->world);
  tabi_scene_destroy(w->scene);
  free(w->q);
  free(w->v);
}

/* A push of 0.1 s at the waist, N s along x and y, after `at` s. */
typedef struct push {
  double at, impulse[2];
} push;

static void run(walker *w, double duration, const push *p) {
  double start = tabi_world_time(w->world);
  for (int64_t i = 0; i < (int64_t)(duration / TIMESTEP); ++i) {
    double t = tabi_world_time(w->world) - start;
    if (p && t >= p->at && t < p->at + 0.1 - 1e-9) {
      double pos[3];
      double quat[4];
      tabi_dynamics_link_pose(tabi_world_dynamics(w->world), w->biped.waist, pos, quat);
      const double force[3] = {p->impulse[0] / 0.1, p->impulse[1] / 0.1, 0};
      const double none[3] = {0, 0, 0};
      pos[2] += 0.2;
      tabi_world_apply(w->world, w->biped.waist, force, none, pos);
    }
    tabi_stepper_update(w->stepper, w->world, TIMESTEP);
    if (tabi_world_step_or_grow(w->world, NULL) != TABI_OK)
      fail_msg("%s", tabi_world_error(w->world)->message);
  }
}

#define BUSHES "l_bush_z, l_bush_pitch, l_bush_roll, r_bush_z, r_bush_pitch, r_bush_roll"

/* Ten steps forward, then it stands still. */
static void walk(const char *file, const char *lock, double share) {
  walker w = {0};
  load(&w, file, lock, "cone");
  double most = tabi_stepper_get_limits(w.stepper).velocity[0];
  tabi_stepper_set_command(w.stepper,
                           &(tabi_stepper_command){.velocity = {share * most}, .steps = 10});
  run(&w, 10 * tabi_stepper_get_limits(w.stepper).step_time + 3, NULL);
  tabi_stepper_state s = tabi_stepper_get_state(w.stepper);
  print_message("%s: %d steps, %.2f m\n", file, s.steps, s.com[0]);
  assert_int_equal(s.phase, TABI_STEPPER_STANDS);
  assert_true(s.steps >= 10 && s.steps <= 13);
  double way = share * most * tabi_stepper_get_limits(w.stepper).step_time * 10;
  assert_true(s.com[0] > 0.5 * way && s.com[0] < 1.2 * way);
  for (int i = 0; i < 2; ++i)
    assert_near(s.com_rate[i], 0, 0.02);
  unload(&w);
}

static void test_walks(void **state) {
  (void)state;
  walk("humanoid36.urdf", BUSHES, 0.5);
  walk("humanoid20.urdf", "", 0.5);
  walk("figure40.urdf", "", 0.5);
}

/* Without ankle roll: legs of five joints. */
static void test_five_joints(void **state) {
  (void)state;
  walk("humanoid36.urdf", BUSHES ", l_ankle_roll, r_ankle_roll", 0.3);
}

/* As fast as asked, within a tenth: sideways, and on the spot. */
static void test_sideways_and_turning(void **state) {
  (void)state;
  walker w = {0};
  load(&w, "humanoid36.urdf", BUSHES, "cone");
  tabi_stepper_limits limits = tabi_stepper_get_limits(w.stepper);
  tabi_stepper_set_command(w.stepper, &(tabi_stepper_command){
                                          .velocity = {0, limits.velocity[1]},
                                            .steps = -1
  });
  run(&w, 2, NULL);
  tabi_stepper_state before = tabi_stepper_get_state(w.stepper);
  run(&w, 8 * limits.step_time, NULL);
  tabi_stepper_state s = tabi_stepper_get_state(w.stepper);
  double speed = (s.com[1] - before.com[1]) / (8 * limits.step_time);
  print_message("sideways with %.2f of the speed asked for\n", speed / limits.velocity[1]);
  assert_near(speed / limits.velocity[1], 1, 0.1);
  assert_true(fabs(s.com[0]) < 0.1);
  tabi_stepper_set_command(w.stepper, &(tabi_stepper_command){
                                          .velocity = {0, 0, 0.5},
                                            .steps = -1
  });
  run(&w, 3, NULL);
  before = tabi_stepper_get_state(w.stepper);
  run(&w, 8 * limits.step_time, NULL);
  s = tabi_stepper_get_state(w.stepper);
  double rate = (s.yaw[0] - before.yaw[0]) / (8 * limits.step_time);
  print_message("turning with %.2f of the rate asked for\n", rate / 0.5);
  assert_near(rate / 0.5, 1, 0.1);
  assert_true(hypot(s.com[0] - before.com[0], s.com[1] - before.com[1]) < 0.1);
  assert_int_not_equal(s.phase, TABI_STEPPER_FALLEN);
  unload(&w);
}

/* Standing, it bears without a step pushes of 0.1 s up to 0.8 of the capture point's bound: omega
 * times the way to the edge of the soles, N s per kg. */
static void test_stands_on_both_feet(void **state) {
  (void)state;
  walker w = {0};
  load(&w, "humanoid36.urdf", BUSHES, "cone");
  tabi_stepper_limits limits = tabi_stepper_get_limits(w.stepper);
  for (int way = 0; way < 4; ++way) {
    bool side = way % 2;
    double sign = way < 2 ? 1 : -1;
    const tabi_leg *leg = &w.biped.leg[0];
    double edge = side ? 0.5 * (w.biped.spacing + leg->width) : 0.5 * leg->length;
    double size = 0.8 * limits.omega * edge * w.biped.mass;
    const push p = {
        0.5, {side ? 0 : sign * size, side ? sign * size : 0}
    };
    tabi_error err;
    assert_int_equal(tabi_world_set_state(w.world, w.q, w.v, &err), TABI_OK);
    tabi_stepper_reset(w.stepper);
    run(&w, 4, &p);
    tabi_stepper_state s = tabi_stepper_get_state(w.stepper);
    assert_int_equal(s.phase, TABI_STEPPER_STANDS);
    assert_int_equal(s.steps, 0);
  }
  unload(&w);
}

/* 0.3 N s per kg from three sides while it steps in place; standing, 0.5 N s per kg make it step.
 */
static void test_pushes(void **state) {
  (void)state;
  const double way[4][2] = {
      {1,  0},
      {0,  1},
      {-1, 0},
      {1,  0}
  };
  walker w = {0};
  load(&w, "humanoid36.urdf", BUSHES, "cone");
  for (int i = 0; i < 4; ++i) {
    double size = (i < 3 ? 0.3 : 0.5) * w.biped.mass;
    const push p = {
        1.1, {size * way[i][0], size * way[i][1]}
    };
    tabi_error err;
    assert_int_equal(tabi_world_set_state(w.world, w.q, w.v, &err), TABI_OK);
    tabi_stepper_reset(w.stepper);
    tabi_stepper_set_command(w.stepper, &(tabi_stepper_command){.steps = i < 3 ? -1 : 0});
    run(&w, 4, &p);
    tabi_stepper_state s = tabi_stepper_get_state(w.stepper);
    assert_int_not_equal(s.phase, TABI_STEPPER_FALLEN);
    if (i == 3) assert_true(s.steps > 0 && s.phase == TABI_STEPPER_STANDS);
  }
  /* far too much: it gives up instead of thrashing */
  const push blow = {
      0.2, {2.5 * w.biped.mass, 0}
  };
  tabi_stepper_reset(w.stepper);
  run(&w, 3, &blow);
  assert_int_equal(tabi_stepper_get_state(w.stepper).phase, TABI_STEPPER_FALLEN);
  unload(&w);
}

/* Snapshots of world and stepper together go on with the same bits. */
static void test_snapshot(void **state) {
  (void)state;
  walker w = {0};
  load(&w, "humanoid20.urdf", "", "cone");
  tabi_stepper_set_command(w.stepper, &(tabi_stepper_command){.velocity = {0.1}, .steps = -1});
  run(&w, 1.03, NULL);
  size_t size = tabi_world_snapshot_size(w.world);
  void *world = malloc(size);
  void *stepper = malloc(tabi_stepper_snapshot_size(w.stepper));
  tabi_world_save(w.world, world);
  tabi_stepper_save(w.stepper, stepper);
  run(&w, 0.5, NULL);
  uint64_t hash = tabi_world_hash(w.world);
  assert_int_equal(tabi_world_restore(w.world, world, size), TABI_OK);
  tabi_stepper_restore(w.stepper, stepper);
  run(&w, 0.5, NULL);
  assert_true(tabi_world_hash(w.world) == hash);
  free(world);
  free(stepper);
  unload(&w);
}

/* By a scene, with sensors that it puts in: the state is known by noisy, late readings only. */
static void test_sensors(void **state) {
  (void)state;
  char text[1000];
  (void)snprintf(
      text, sizeof text,
      "materials: {ground: {friction: 0.8}}\n"
      "bodies:\n  - {name: floor, fixed: true, shape: {plane: {}}, material: ground}\n"
      "robots:\n  - name: robot\n    model: %s/models/humanoid20.urdf\n    base: free\n"
      "    controller: {type: walk, velocity: [0.08, 0, 0], steps: 6, sensors: {encoder: "
      "1e-4, gyro: 0.01, accelerometer: 0.2, force: 0.3, torque: 0.02, delay: 2e-3}}\n",
      TABI_SOURCE_DIR);
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load_text(text, strlen(text), "test", NULL, &err);
  if (!scene) fail_msg("%s", err.message);
  const tabi_model *model = tabi_scene_model(scene);
  assert_true(tabi_model_nsensor(model) > 16);
  tabi_stepper *stepper = tabi_scene_stepper(scene, 0);
  assert_non_null(stepper);
  tabi_world_def def = tabi_scene_world_def(scene);
  tabi_world *world = tabi_world_create(model, &def, &err);
  assert_non_null(world);
  assert_int_equal(tabi_scene_reset(scene, world, &err), TABI_OK);
  double worst = 0;
  for (int i = 0; i < 4500; ++i) {
    tabi_scene_control(scene, world);
    assert_int_equal(tabi_world_step_or_grow(world, NULL), TABI_OK);
    double com[3];
    tabi_stepper_state s = tabi_stepper_get_state(stepper);
    tabi_dynamics_com(tabi_world_dynamics(world), com);
    worst = fmax(worst, fabs(com[2] - s.com[2]));
  }
  tabi_stepper_state s = tabi_stepper_get_state(stepper);
  print_message("by sensors: %d steps, height of the CoM wrong by %.1f mm at most\n", s.steps,
                1e3 * worst);
  assert_int_equal(s.phase, TABI_STEPPER_STANDS);
  assert_true(s.steps >= 6 && s.steps <= 9);
  assert_true(worst < 0.01);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
}

/* The state of the stepper of a scene's robot after `duration` s. */
static tabi_stepper_state run_scene(const char *text, double duration) {
  scene_world s = scene_world_open(load_scene_text(text, "test", NULL));
  for (int i = 0; i < (int)(duration / TIMESTEP); ++i)
    step_world(s.scene, s.world);
  tabi_stepper_state end = tabi_stepper_get_state(tabi_scene_stepper(s.scene, 0));
  print_message("%d steps, CoM at %.2f, %.2f m\n", end.steps, end.com[0], end.com[2]);
  scene_world_close(&s);
  return end;
}

/* Walking, by noisy and late sensors only: 0.3 N s per kg for 0.1 s from four sides. */
static void test_pushes_while_walking(void **state) {
  (void)state;
  for (int side = 0; side < 4; ++side) {
    char text[1200];
    double angle = (45 + 90 * side) * 0.017453292519943295;
    (void)snprintf(
        text, sizeof text,
        "materials: {ground: {friction: 0.8}}\n"
        "bodies:\n  - {name: floor, fixed: true, shape: {plane: {}}, material: ground}\n"
        "forces:\n  - {body: robot/pelvis, impulse: [%.6g, %.6g, 0], at: [0, 0, 0.18], "
        "from: %.3g, to: %.3g}\n"
        "robots:\n  - name: robot\n    model: %s/models/humanoid36.urdf\n    base: free\n"
        "    lock: [" BUSHES "]\n"
        "    controller: {type: walk, velocity: [0.34, 0, 0], sensors: {encoder: 1e-4, gyro: "
        "0.01, accelerometer: 0.2, force: 2, torque: 0.2, delay: 2e-3}}\n",
        0.3 * 58 * cos(angle), 0.3 * 58 * sin(angle), 1.9 + 0.1 * side, 2.0 + 0.1 * side,
        TABI_SOURCE_DIR);
    tabi_stepper_state s = run_scene(text, 4.5);
    assert_int_not_equal(s.phase, TABI_STEPPER_FALLEN);
    assert_true(s.steps >= 7 && s.com[0] > 0.8);
  }
}

/* A robot on some ground that it sees, by its controller in a scene; the state of its stepper after
 * `duration` s. */
static tabi_stepper_state walk_over(const char *ground, double speed, double duration) {
  char text[2400];
  (void)snprintf(
      text, sizeof text,
      "materials: {ground: {friction: 0.8}}\n"
      "bodies:\n  - {name: floor, fixed: true, shape: {box: [2.8, 4, 0.4]}, xyz: [-1, 0, "
      "-0.2], material: ground}\n%s"
      "robots:\n  - name: robot\n    model: %s/models/humanoid36.urdf\n    base: free\n"
      "    lock: [" BUSHES "]\n"
      "    controller: {type: walk, velocity: [%g, 0, 0], sees_ground: true}\n",
      ground, TABI_SOURCE_DIR, speed);
  return run_scene(text, duration);
}

/* Three stairs of 7 cm, a tenth of the leg's length. */
static void test_stairs(void **state) {
  (void)state;
  char ground[1000] = "";
  for (int i = 0; i < 3; ++i) {
    size_t used = strlen(ground);
    (void)snprintf(ground + used, sizeof ground - used,
                   "  - {name: stair%d, fixed: true, shape: {box: [4, 4, %g]}, xyz: [%g, 0, %g], "
                   "material: ground}\n",
                   i, 0.07 * (i + 1), 2.35 + 0.38 * i, 0.035 * (i + 1));
  }
  tabi_stepper_state s = walk_over(ground, 0.3, 6.5);
  assert_int_not_equal(s.phase, TABI_STEPPER_FALLEN);
  assert_true(s.com[0] > 1.3 && s.com[2] > 0.71 + 0.21 - 0.06);
}

/* 8 degrees up, and down. */
static void test_slopes(void **state) {
  (void)state;
  for (int way = -1; way <= 1; way += 2) {
    double angle = way * 8 * 0.017453292519943295;
    char ground[400];
    (void)snprintf(ground, sizeof ground,
                   "  - {name: ramp, fixed: true, shape: {box: [4, 4, 0.4]}, xyz: [%.9g, 0, %.9g], "
                   "rpy: [0, %.9g, 0], material: ground}\n",
                   0.4 + 2 * cos(angle) + 0.2 * sin(angle), 2 * sin(angle) - 0.2 * cos(angle),
                   -angle);
    tabi_stepper_state s = walk_over(ground, 0.3, 5.5);
    assert_int_not_equal(s.phase, TABI_STEPPER_FALLEN);
    assert_true(s.com[0] > 0.9);
    assert_near(s.com[2], 0.71 + (s.com[0] - 0.4) * tan(angle), 0.06);
  }
}

/* The state when the next foot lands. */
static tabi_stepper_state until_landing(walker *w) {
  int32_t steps = tabi_stepper_get_state(w->stepper).steps;
  for (int i = 0; i < 2000 && tabi_stepper_get_state(w->stepper).steps == steps; ++i)
    run(w, 1.5 * TIMESTEP, NULL);
  return tabi_stepper_get_state(w->stepper);
}

/* Steps of 0.3 of the leg, a slalom, and a stop. */
static void test_slalom(void **state) {
  (void)state;
  walker w = {0};
  load(&w, "figure40.urdf", "", "cone");
  tabi_stepper_limits limits = tabi_stepper_get_limits(w.stepper);
  double speed = 0.3 * w.biped.leg[0].reach / limits.step_time;
  assert_true(speed <= limits.velocity[0]);
  tabi_stepper_set_command(w.stepper, &(tabi_stepper_command){.velocity = {speed}, .steps = -1});
  run(&w, 3, NULL);
  tabi_stepper_state before = until_landing(&w);
  run(&w, 2, NULL);
  tabi_stepper_state s = until_landing(&w);
  double stride = (s.com[0] - before.com[0]) / (s.steps - before.steps);
  print_message("a stride of %.2f of the leg\n", stride / w.biped.leg[0].reach);
  assert_near(stride / w.biped.leg[0].reach, 0.3, 0.06);
  double left = 0;
  double right = 0;
  for (int turn = 0; turn < 4; ++turn) {
    tabi_stepper_set_command(
        w.stepper, &(tabi_stepper_command){
                       .velocity = {0.5 * speed, 0, (turn % 3 ? -0.9 : 0.9) * limits.velocity[2]},
                       .steps = -1
    });
    run(&w, 1.5, NULL);
    double yaw = tabi_stepper_get_state(w.stepper).yaw[0];
    left = fmax(left, yaw);
    right = fmin(right, yaw);
  }
  print_message("a slalom from %.2f to %.2f rad\n", right, left);
  assert_true(left > 0.3 && right < -0.1);
  tabi_stepper_set_command(w.stepper, &(tabi_stepper_command){.steps = 0});
  run(&w, 3, NULL);
  s = tabi_stepper_get_state(w.stepper);
  assert_int_equal(s.phase, TABI_STEPPER_STANDS);
  for (int i = 0; i < 2; ++i)
    assert_near(s.com_rate[i], 0, 0.02);
  unload(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_walks),
      cmocka_unit_test(test_five_joints),
      cmocka_unit_test(test_sideways_and_turning),
      cmocka_unit_test(test_stands_on_both_feet),
      cmocka_unit_test(test_pushes),
      cmocka_unit_test(test_snapshot),
      cmocka_unit_test(test_sensors),
      cmocka_unit_test(test_pushes_while_walking),
      cmocka_unit_test(test_stairs),
      cmocka_unit_test(test_slopes),
      cmocka_unit_test(test_slalom),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
