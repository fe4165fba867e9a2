/* test_penalty_robot.c - robots on springs at 1 ms: the humanoid stands and steps in place,
 * SR1 walks both its patterns (extra data), on the default material, and nobody falls.  What
 * springs do that rigid contacts would not is measured and bounded: how deep soles sink, which at
 * rest is their weight over the stiffness, and how they creep, which at rest they must not. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "support/walk.h"

#include <stdio.h>
#include <stdlib.h>

static const double h = 1e-3;
static const double stiffness = 1e6; /* N/m, of two surfaces of the default in a row */

/* What a step did that rigid contacts would not. */
typedef struct breach {
  double depth; /* m, deepest */
  double creep; /* m/s along the surface, fastest point that bears 10 N and does not slide */
  double force; /* N across, of all */
  double sum;   /* m, depths of points that push */
} breach;

static breach look(const tabi_world *world) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  breach b = {0};
  for (int32_t i = 0; i < count; ++i) {
    const tabi_contact *c = &contact[i];
    double normal = 0;
    double speed = 0;
    for (int k = 0; k < 3; ++k) {
      normal += c->normal[k] * c->impulse[k] / h;
      speed += c->normal[k] * c->velocity[k];
    }
    double friction = 0;
    double slip = 0;
    for (int k = 0; k < 3; ++k) {
      friction += pow(c->impulse[k] / h - normal * c->normal[k], 2);
      slip += pow(c->velocity[k] - speed * c->normal[k], 2);
    }
    b.depth = fmax(b.depth, -c->gap);
    b.force += normal;
    if (normal > 0) b.sum -= c->gap;
    if (normal > 10 && sqrt(friction) < 0.99 * c->friction * normal)
      b.creep = fmax(b.creep, sqrt(slip));
  }
  return b;
}

static scene_world begin(tabi_scene *scene) {
  return (scene_world){scene, open_world_with(scene, TABI_CONTACT_PENALTY)};
}

static void step(scene_world *r) {
  step_world(r->scene, r->world);
  assert_true(tabi_world_certificate(r->world).converged);
}

static void sole(const scene_world *r, double pos[3]) {
  double quat[4];
  int32_t link = tabi_model_find_link(tabi_world_model(r->world), "robot/l_foot");
  tabi_dynamics_link_pose(tabi_world_dynamics(r->world), link, pos, quat);
}

static void test_stand(void **state) {
  (void)state;
  tabi_scene *scene = load_shipped_scene("stand", NULL);
  scene_world r = begin(scene);
  const int settle = TEST_SHORT ? 4000 : 10000;
  const int rest = TEST_SHORT ? 1000 : 20000;
  double landed = 0;
  for (int i = 0; i < settle; ++i) {
    step(&r);
    landed = fmax(landed, look(r.world).depth);
  }
  double start[3];
  double stop[3];
  sole(&r, start);
  breach worst = {0};
  for (int i = 0; i < rest; ++i) {
    step(&r);
    breach b = look(r.world);
    worst.depth = fmax(worst.depth, b.depth);
    worst.creep = fmax(worst.creep, b.creep);
  }
  sole(&r, stop);
  breach last = look(r.world);
  double weight = tabi_model_mass(tabi_world_model(r.world)) * 9.81;
  double moved = hypot(stop[0] - start[0], stop[1] - start[1]);
  print_message("stand: %.3f mm deep at first, %.4f mm at rest, mean of 8 %.4f mm (mg/8k %.4f mm), "
                "creep %.2e mm/s, %.2e mm in %g s\n",
                1e3 * landed, 1e3 * worst.depth, 1e3 * last.sum / 8, 1e3 * weight / (8 * stiffness),
                1e3 * worst.creep, 1e3 * moved, h * rest);
  assert_near(last.force, weight, 1e-3 * weight);
  assert_near(last.sum, weight / stiffness, 1e-3 * weight / stiffness);
  assert_true(worst.creep < 1e-6);
  assert_true(moved < 1e-7);
  scene_world_close(&r);
}

/* Without a stabiliser SR1, 131 kg, falls on surfaces softer than 1.5e6 N/m each, whatever the
 * step: a sole that tilts under its load moves the weight on top of it.  The default is harder. */
static void test_walk(void **state) {
  (void)state;
  scene_world r = begin(walk_load(NULL, 0));
  breach worst = {0};
  const int steps = TEST_SHORT ? 7000 : WALK_STEPS; /* the sanitizers' share: four steps of it */
  for (int i = 0; i < steps; ++i) {
    step(&r);
    breach b = look(r.world);
    worst.depth = fmax(worst.depth, b.depth);
    worst.creep = fmax(worst.creep, b.creep);
  }
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(r.world), tabi_scene_get_robot(r.scene, 0).base, pos,
                          quat);
  double yaw = 2 * atan2(quat[3], quat[0]) * 180 / acos(-1);
  print_message("walk: base (%.4f, %.4f, %.4f), yaw %.2f degrees; %.3f mm deep, creep %.2f mm/s\n",
                pos[0], pos[1], pos[2], yaw, 1e3 * worst.depth, 1e3 * worst.creep);
  const double expected[3] = {0.450, 0, 0.708};
  for (int i = 0; !TEST_SHORT && i < 3; ++i)
    assert_near(pos[i], expected[i], 0.02);
  assert_true(pos[2] > 0.64);
  assert_near(yaw, 0, 2);
  assert_true(worst.depth < 1.5e-3);
  scene_world_close(&r);
}

/* SR1's other pattern as a table: time and joint angles, in the order and with the names of the
 * first one.  Skips the test without it. */
static const char *second_pattern(void) {
  char command[600];
  char header[2000];
  (void)snprintf(command, sizeof command, "%s/models/sr1/walk1.csv", TABI_EXTRA_DATA);
  FILE *first = fopen(command, "r");
  bool found = first && fgets(header, sizeof header, first);
  if (first) (void)fclose(first);
  (void)snprintf(command, sizeof command,
                 "gzip -dc '%s/robots/openhrp3/motion/Sample.pos.gz' 2>/dev/null", TABI_EXTRA_DATA);
  /* NOLINTNEXTLINE(cert-env33-c): the path is the project's own */
  FILE *rows = found ? popen(command, "r") : NULL;
  const char *path = scratch_text("walk2.csv", "");
  FILE *out = fopen(path, "w");
  assert_non_null(out);
  if (found) (void)fputs(header, out);
  char line[2000];
  int count = 0;
  for (double start = 0; rows && fgets(line, sizeof line, rows); ++count) {
    char *at = line;
    double time = strtod(at, &at);
    if (count == 0) start = time;
    (void)fprintf(out, "%.4f", time - start);
    for (int i = 0; i < 29; ++i)
      (void)fprintf(out, ",%.9g", strtod(at, &at));
    (void)fputs("\n", out);
  }
  (void)fclose(out);
  if (rows) (void)pclose(rows);
  if (count == 0) {
    print_message("no extra data\n");
    skip();
  }
  return path;
}

/* 8.9 s with knees bent, longer steps: 0.93 m */
static void test_second_walk(void **state) {
  (void)state;
  char file[600];
  (void)snprintf(file, sizeof file, "robots.sr1.controller.file=%s", second_pattern());
  const char *const set[] = {file, "robots.sr1.xyz=[0, 0, 0.6535]"};
  scene_world r = begin(walk_load(set, 2));
  breach worst = {0};
  const int steps = TEST_SHORT ? 2000 : 8900;
  double lowest = 1;
  double pos[3];
  double quat[4];
  for (int i = 0; i < steps; ++i) {
    step(&r);
    worst.depth = fmax(worst.depth, look(r.world).depth);
    tabi_dynamics_link_pose(tabi_world_dynamics(r.world), tabi_scene_get_robot(r.scene, 0).base,
                            pos, quat);
    lowest = fmin(lowest, pos[2]);
  }
  print_message("second walk: base (%.4f, %.4f, %.4f), at least %.4f m high; %.3f mm deep\n",
                pos[0], pos[1], pos[2], lowest, 1e3 * worst.depth);
  if (!TEST_SHORT) {
    assert_near(pos[0], 0.93, 0.03);
    assert_near(pos[1], 0, 0.06); /* it sways by more on the way */
  }
  assert_true(lowest > 0.63);
  assert_true(worst.depth < 2e-3);
  scene_world_close(&r);
}

/* Feet on bushes, ankles on rods, stepping in place: softer to begin with, and the same sink. */
static void test_step_in_place(void **state) {
  (void)state;
  tabi_scene *scene = load_shipped_scene("parallel_ankles", NULL);
  scene_world r = begin(scene);
  double depth = 0;
  const int steps = TEST_SHORT ? 1500 : 15700;
  for (int i = 0; i < steps; ++i) {
    step(&r);
    depth = fmax(depth, look(r.world).depth);
  }
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(r.world), tabi_scene_get_robot(r.scene, 0).base, pos,
                          quat);
  print_message("step in place: base (%.4f, %.4f, %.4f), %.3f mm deep\n", pos[0], pos[1], pos[2],
                1e3 * depth);
  assert_near(hypot(pos[0], pos[1]), 0, 0.02);
  assert_near(pos[2], 0.65, 0.01);
  assert_true(depth < 0.5e-3);
  scene_world_close(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_stand),
      cmocka_unit_test(test_walk),
      cmocka_unit_test(test_second_walk),
      cmocka_unit_test(test_step_in_place),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
