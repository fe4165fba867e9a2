/* test_parallel.c - humanoid36 with ankles that are moved by rods, in the scene that comes with
 * tabi: it stands for 5 s on the motors of its cranks, then steps in place, and the loops stay
 * closed. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

#define STAND 5.0 /* s */

typedef struct robot {
  tabi_scene *scene;
  tabi_world *world;
  int32_t base, foot[2];
} robot;

static robot start(void) {
  robot r = {0};
  tabi_scene_def def = tabi_scene_def_default();
#if TEST_SHORT
  static const char *const set[] = {"timestep=4e-3"};
  def.set = set;
  def.nset = 1;
#endif
  r.scene = load_shipped_scene("parallel_ankles", &def);
  const tabi_model *model = tabi_scene_model(r.scene);
  r.world = open_world(r.scene, NULL);
  r.base = tabi_scene_get_robot(r.scene, 0).base;
  r.foot[0] = tabi_model_find_link(model, "robot/l_foot");
  r.foot[1] = tabi_model_find_link(model, "robot/r_foot");
  return r;
}

static void finish(robot *r) {
  tabi_world_destroy(r->world);
  tabi_scene_destroy(r->scene);
}

static void step(robot *r) { step_world(r->scene, r->world); }

static void place(const robot *r, int32_t link, double pos[3], double quat[4]) {
  tabi_dynamics_link_pose(tabi_world_dynamics(r->world), link, pos, quat);
}

static double worst_gap(const robot *r) {
  double worst = 0;
  for (int32_t i = 0; i < tabi_model_nconnection(tabi_scene_model(r->scene)); ++i)
    worst = fmax(worst, fabs(tabi_world_connection(r->world, i).gap));
  return worst;
}

/* The file beside the URDF has closed four loops and hung the feet on springs. */
static void test_model(void **state) {
  (void)state;
  robot r = start();
  const tabi_model *model = tabi_scene_model(r.scene);
  assert_int_equal(tabi_model_nv(model), 54);
  assert_int_equal(tabi_model_nconnection(model), 4);
  assert_string_equal(tabi_model_connection(model, 0).name, "robot/l_outer_rod");
  tabi_joint_def bush = tabi_model_joint(model, tabi_model_find_joint(model, "robot/l_bush_z"));
  assert_near(bush.stiffness, 1e6, 0);
  // the scene's posture, which is not where the URDF draws the robot, closes them as well
  assert_true(worst_gap(&r) < 1e-9);
  finish(&r);
}

typedef struct seen {
  double gap;
  double lowest, tilt; /* of the base */
  double lift[2];      /* of the soles */
} seen;

static void look(const robot *r, seen *s) {
  double pos[3];
  double quat[4];
  s->gap = fmax(s->gap, worst_gap(r));
  place(r, r->base, pos, quat);
  s->lowest = fmin(s->lowest, pos[2]);
  s->tilt = fmax(s->tilt, hypot(quat[1], quat[2]));
  for (int i = 0; i < 2; ++i) {
    place(r, r->foot[i], pos, quat);
    s->lift[i] = fmax(s->lift[i], pos[2] - 0.045);
  }
}

static void test_stands_and_steps(void **state) {
  (void)state;
  robot r = start();
  seen standing = {.lowest = INFINITY};
  seen stepping = {.lowest = INFINITY};
  while (tabi_world_time(r.world) < tabi_scene_duration(r.scene)) {
    bool stands = tabi_world_time(r.world) < STAND;
    step(&r);
    look(&r, stands ? &standing : &stepping);
  }
  print_message("standing: gap %.2g m, base above %.4f m; stepping: gap %.2g m, feet %.4f %.4f m\n",
                standing.gap, standing.lowest, stepping.gap, stepping.lift[0], stepping.lift[1]);
  assert_true(standing.gap < 1e-6);
  assert_true(stepping.gap < 1e-6);
  // it starts at 0.65 m with its soles on the floor
  assert_true(standing.lowest > 0.645);
  assert_true(standing.lift[0] < 1e-3 && standing.lift[1] < 1e-3);
  // both feet leave the floor, the body stays upright and ends where it began
  assert_true(stepping.lift[0] > 0.02 && stepping.lift[1] > 0.02);
  assert_true(stepping.lowest > 0.64);
  assert_true(stepping.tilt < 0.05);
  double pos[3];
  double quat[4];
  place(&r, r.base, pos, quat);
  assert_near(pos[0], 0, 0.05);
  assert_near(pos[1], 0, 0.05);
  assert_near(pos[2], 0.65, 5e-3);
  finish(&r);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_model),
      cmocka_unit_test(test_stands_and_steps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
