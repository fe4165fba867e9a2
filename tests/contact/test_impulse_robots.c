/* test_impulse_robots.c - robots under impulse at 1 ms: the humanoid stands, and its few passes are
 * counted; SR1 walks; what is thrown up feels nothing until it comes down. */
#include "support/load.h"
#include "support/near.h"
#include "support/scene_build.h"
#include "support/walk.h"

#define H 1e-3

typedef struct run_stats {
  int64_t passes, steps, failed, energy_limited;
  double depth;
  int32_t max;
} run_stats;

static void take_stats(run_stats *s, const tabi_world *world) {
  tabi_certificate c = tabi_world_certificate(world);
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count; ++i)
    s->depth = fmax(s->depth, -contact[i].gap);
  s->passes += c.iterations;
  ++s->steps;
  s->failed += !c.converged;
  s->energy_limited += c.energy_limited;
  if (c.iterations > s->max) s->max = c.iterations;
}

static void print_stats(const char *what, const run_stats *s) {
  print_message("%s: %.2f passes a step, at most %d; %lld of %lld steps unsolved, %lld "
                "limited by energy, depth %.3f mm\n",
                what, (double)s->passes / (double)s->steps, s->max, (long long)s->failed,
                (long long)s->steps, (long long)s->energy_limited, 1e3 * s->depth);
}

static run_stats play(tabi_scene *loaded, tabi_world *world, int64_t steps) {
  run_stats stats = {0};
  for (int64_t k = 0; k < steps; ++k) {
    step_world(loaded, world);
    take_stats(&stats, world);
  }
  return stats;
}

static v3 place_of(const tabi_scene *loaded, tabi_world *world) {
  double pos[3];
  double quat[4];
  int32_t base = tabi_scene_get_robot(loaded, 0).base;
  tabi_dynamics_link_pose(tabi_world_dynamics(world), base, pos, quat);
  return v3_load(pos);
}

static double floor_force(const tabi_world *world) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  double force = 0;
  for (int32_t i = 0; i < count; ++i)
    force += (contact[i].link_b == TABI_WORLD ? -1 : 1) * contact[i].impulse[2] / H;
  return force;
}

/* from the first touch on, knees settling: fewer than three passes in the mean, all solved,
 * and in the end the floor bears the weight */
static void humanoid_stands(void **state) {
  (void)state;
  tabi_scene *loaded = load_shipped_scene("stand", NULL);
  tabi_world *world = open_world_with(loaded, TABI_CONTACT_IMPULSE);
  double height = place_of(loaded, world).z;
  run_stats stats = play(loaded, world, TEST_SHORT ? 2000 : 10000);
  print_stats("standing humanoid", &stats);
  double weight = tabi_model_mass(tabi_scene_model(loaded)) * GRAVITY;
  double off = floor_force(world) / weight - 1;
  print_message("force off by %.2g of the weight, base sank %.2g m\n", off,
                height - place_of(loaded, world).z);
  assert_true((double)stats.passes < 3 * (double)stats.steps);
  assert_int_equal(stats.failed, 0);
  assert_near(off, 0, TEST_SHORT ? 1e-3 : 1e-6);
  assert_near(place_of(loaded, world).z, height, 0.02);
  tabi_world_destroy(world);
  tabi_scene_destroy(loaded);
}

/* walk1.csv, to where the other methods walk */
static void sr1_walks(void **state) {
  (void)state;
  tabi_scene *loaded = walk_load(NULL, 0);
  tabi_world *world = open_world_with(loaded, TABI_CONTACT_IMPULSE);
  run_stats stats = play(loaded, world, WALK_STEPS);
  print_stats("walking SR1", &stats);
  v3 pos = place_of(loaded, world);
  print_message("base (%.4f, %.4f, %.4f)\n", pos.x, pos.y, pos.z);
  assert_near(pos.z, 0.708, 0.02);
  assert_near(pos.x, 0.450, 0.02);
  assert_near(pos.y, 0, 0.02);
  assert_int_equal(stats.failed, 0);
  assert_true(stats.depth < 0.5e-3);
  assert_true((double)stats.passes < 3 * (double)stats.steps);
  tabi_world_destroy(world);
  tabi_scene_destroy(loaded);
}

/* P5's jump, without its take-off: thrown up at 2 m/s the humanoid feels no force while it flies,
 * its centre of mass follows the parabola, and it bears on the floor again when it is back */
static void nothing_in_flight(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.7, 0);
  scene_plane(&s, 0, stuff);
  int32_t pelvis = scene_humanoid(&s, 0.64869739811465);
  tabi_world_def def = scene_def(&s);
  def.contact = TABI_CONTACT_IMPULSE;
  scene_open(&s, &def);
  scene_crouch(&s, 2000, 50, true);
  scene_run(&s, 200);
  const double up = 2;
  scene_set_velocity(&s, pelvis, v3_make(0, 0, up), v3_zero());
  double start[3];
  double com[3];
  double v0[3];
  double ang[3];
  tabi_dynamics_com(tabi_world_dynamics(s.world), start);
  tabi_dynamics_momentum(tabi_world_dynamics(s.world), v0, ang);
  double rise = v0[2] / tabi_model_mass(s.model);
  scene_run(&s, 5);
  double force = 0;
  double off = 0;
  int steps = (int)(1.7 * rise / GRAVITY / H);
  for (int k = 6; k <= steps; ++k) {
    scene_run(&s, 1);
    int32_t count;
    const tabi_contact *contact = tabi_world_contacts(s.world, &count);
    for (int32_t i = 0; i < count; ++i)
      force = fmax(force, v3_norm(v3_load(contact[i].impulse)) / H);
    tabi_dynamics_com(tabi_world_dynamics(s.world), com);
    double t = H * k;
    off = fmax(off, fabs(com[2] - start[2] - rise * t + 0.5 * GRAVITY * t * t));
  }
  double top = 0.5 * rise * rise / GRAVITY;
  print_message("jump of %.3f m: force in flight %g N, parabola missed by %.2g m\n", top, force,
                off);
  assert_true(force == 0);
  assert_true(off < 0.01 * top);
  scene_run(&s, 500);
  assert_true(floor_force(s.world) > 0.5 * tabi_model_mass(s.model) * GRAVITY);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(humanoid_stands),
      cmocka_unit_test(sr1_walks),
      cmocka_unit_test(nothing_in_flight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
