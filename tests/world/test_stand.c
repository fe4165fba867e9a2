/* test_stand.c - the humanoid of scenes/stand.yaml: after its knees have settled it stands still,
 * the floor bears its weight, and nothing chatters. */
#include "support/load.h"
#include "support/near.h"
#include "support/scene_build.h"
#include "tabi/tabi_io.h"

#define H 1e-3

static scene_world open_stand(tabi_contact_kind contact) {
  tabi_scene *loaded = load_shipped_scene("stand", NULL);
  return (scene_world){loaded, open_world_with(loaded, contact)};
}

static void run(scene_world *s, int64_t steps) {
  for (int64_t k = 0; k < steps; ++k) {
    step_world(s->scene, s->world);
  }
}

/* what the floor bears, N */
static double floor_force(const scene_world *s) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  double force = 0;
  for (int32_t i = 0; i < count; ++i)
    force += (contact[i].link_b == TABI_WORLD ? -1 : 1) * contact[i].impulse[2] / H;
  return force;
}

/* where the left sole is */
static v3 sole(const scene_world *s) {
  const tabi_model *model = tabi_world_model(s->world);
  double pos[3];
  double quat[4];
  int32_t link = tabi_model_find_link(model, "robot/l_foot");
  assert_true(link != TABI_NONE);
  tabi_dynamics_link_pose(tabi_world_dynamics(s->world), link, pos, quat);
  return v3_load(pos);
}

static void stands(tabi_contact_kind contact) {
  scene_world s = open_stand(contact);
  const int64_t settle = TEST_SHORT ? 2000 : 5000;
  const int64_t rest = TEST_SHORT ? 300 : 55000;
  double weight = tabi_model_mass(tabi_world_model(s.world)) * GRAVITY;
  run(&s, settle);
  v3 start = sole(&s);
  double noise = 0;
  double before = floor_force(&s);
  double off = 0;
  int64_t sweeps = 0;
  for (int64_t k = 0; k < rest; ++k) {
    run(&s, 1);
    double force = floor_force(&s);
    noise = fmax(noise, fabs(force - before) / weight);
    off = fmax(off, fabs(force / weight - 1));
    before = force;
    sweeps += tabi_world_certificate(s.world).iterations;
  }
  double creep = v3_norm(v3_sub(sole(&s), start));
  print_message(
      "standing, %s, %g s: sole creeps %.2g m, force off by %.2g, noise %.2g, %.1f sweeps\n",
      tabi_contact_name(contact), H * (double)rest, creep, off, noise,
      (double)sweeps / (double)rest);
  assert_true(creep < 1e-6);
  assert_true(noise < 1e-3);
  if (!TEST_SHORT) assert_near(before / weight, 1, 1e-6);
  scene_world_close(&s);
}

static void stands_by_cone(void **state) {
  (void)state;
  stands(TABI_CONTACT_CONE);
}

static void stands_by_lcp(void **state) {
  (void)state;
  stands(TABI_CONTACT_LCP);
}

static void stands_by_exact(void **state) {
  (void)state;
  stands(TABI_CONTACT_EXACT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stands_by_cone),
      cmocka_unit_test(stands_by_lcp),
      cmocka_unit_test(stands_by_exact),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
