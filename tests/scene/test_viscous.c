/* test_viscous.c - viscous friction of materials: (mu + c v) N against the slip, under every
 * method. */
#include "math/vec.h"
#include "support/load.h"
#include "support/near.h"

#include <math.h>
#include <stdio.h>

#define G 9.81

static const char *const settings[] = {
    "contact: {model: cone}\n",    "contact: {model: lcp}\n",
    "contact: {model: exact}\n",   "contact: {model: penalty}\n",
    "contact: {model: impulse}\n", "contact: {model: penalty}\nintegrator: rk4\ntimestep: 2e-4\n",
};
#define NSETTING (int)(sizeof settings / sizeof *settings)

/* A block on a plane of that tilt, after a time. */
static v3 velocity_after(const char *setting, double tilt, double friction, double viscous,
                         double speed, double time) {
  char text[600];
  (void)snprintf(text, sizeof text,
                 "%smaterials: {oil: {friction: %g, viscous: %g}}\n"
                 "bodies:\n"
                 "  - {name: ground, fixed: true, shape: {plane: {}}, rpy: [0, %.17g, 0],"
                 " material: oil}\n"
                 "  - {name: block, mass: 2, shape: {box: [0.4, 0.4, 0.02]}, material: oil,\n"
                 "     xyz: [%.17g, 0, %.17g], rpy: [0, %.17g, 0], lin: [%g, 0, 0]}\n",
                 setting, friction, viscous, tilt, 0.01 * sin(tilt), 0.01 * cos(tilt), tilt, speed);
  scene_world s = scene_world_open(load_scene_text(text, "viscous.yaml", NULL));
  while (tabi_world_time(s.world) < time - 1e-9)
    step_world(s.scene, s.world);
  v3 v = v3_load(tabi_world_v(s.world));
  scene_world_close(&s);
  return v;
}

/* v' = -g (mu + c v): v = (v0 + mu/c) exp(-c g t) - mu/c, to first order of the step */
static void block_slows_down(void **state) {
  (void)state;
  for (int i = 0; i < NSETTING; ++i) {
    v3 v = velocity_after(settings[i], 0, 0.1, 0.5, 2, 0.2);
    assert_near(v.x, 2.2 * exp(-0.5 * G * 0.2) - 0.2, 3e-3);
    v = velocity_after(settings[i], 0, 0.1, 0.5, 2, 0.7);
    assert_near(v3_norm(v), 0, 1e-3); // at rest after 0.489 s
  }
}

/* tan(tilt) = mu + c v, where the block does not get any faster */
static void block_reaches_terminal_speed(void **state) {
  (void)state;
  for (int i = 0; i < NSETTING; ++i) {
    v3 v = velocity_after(settings[i], atan(0.5), 0.2, 0.4, 0, 5);
    assert_near(v3_norm(v), 0.3 / 0.4, 1e-5);
  }
}

/* Without dry friction the smallest tilt moves it, and the film alone holds it back. */
static void oil_film_has_no_threshold(void **state) {
  (void)state;
  for (int i = 0; i < NSETTING; ++i) {
    v3 v = velocity_after(settings[i], atan(0.01), 0, 1, 0, 3);
    assert_near(v3_norm(v), 0.01, 1e-5);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_slows_down),
      cmocka_unit_test(block_reaches_terminal_speed),
      cmocka_unit_test(oil_film_has_no_threshold),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
