/* test_servos.c - explicit servos that are unstable at the time step are reported, and only those.
 */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Two joints about one axis, 0.1 kg m^2 each: the fastest motion of both, in which the outer link
 * moves against the inner, feels 0.0382 kg m^2, less than either joint alone. */
static const char pair[] =
    "<robot name='pair'><link name='base'/>"
    "<link name='inner'><inertial><mass value='1'/><inertia ixx='0.1' iyy='0.1' "
    "izz='0.1'/></inertial>"
    "</link>"
    "<link name='outer'><inertial><mass value='1'/><inertia ixx='0.1' iyy='0.1' "
    "izz='0.1'/></inertial>"
    "</link>"
    "<joint name='first' type='continuous'><parent link='base'/><child link='inner'/>"
    "<axis xyz='0 0 1'/></joint>"
    "<joint name='second' type='continuous'><parent link='inner'/><child link='outer'/>"
    "<axis xyz='0 0 1'/></joint></robot>";

static char said[1024];

static void listen(void *user, const tabi_error *warning) {
  (void)user;
  (void)snprintf(said, sizeof said, "%s", warning->message);
}

/* Whether loading the scene warns. */
static tabi_scene *load(const char *integrator, double kp, double kd, const char *more) {
  (void)scratch_text("pair.urdf", pair);
  char text[512];
  (void)snprintf(text, sizeof text,
                 "integrator: %s\nrobots:\n"
                 "  - {name: r, model: pair.urdf, base: fixed, velocity: {second: 1e-3}, %s\n"
                 "     controller: {type: pd, kp: %.17g, kd: %.17g}}\n",
                 integrator, more, kp, kd);
  tabi_scene_def def = tabi_scene_def_default();
  def.warn = listen;
  said[0] = '\0';
  return load_scene(scratch_text("s.yaml", text), &def);
}

/* How fast it moves after a while, compared with the start. */
static bool grows(tabi_scene *scene) {
  tabi_world *world = open_world(scene, NULL);
  double largest = 0;
  for (int i = 0; i < 3000 && largest < 1e4; ++i) {
    step_world(scene, world);
    if (i > 2000) largest = fmax(largest, fabs(tabi_world_v(world)[1]));
    if (fabs(tabi_world_v(world)[1]) > 1e4) largest = 1e4;
  }
  tabi_world_destroy(world);
  return largest > 2e-3;
}

/* 1 % to either side of the limit of each integrator; mu = 0.0382 kg m^2. */
static void warning_means_growth(void **state) {
  (void)state;
  const double mu = 0.1 / (1 + (1 + sqrt(5)) / 2);
  const struct {
    const char *integrator;
    double kp, kd; /* at the limit, at 1 ms */
  } limits[] = {
      {"rk4",           0,        2785.293563 * mu},
      {"rk4",           8e6 * mu, 0               },
      {"euler",         0,        2000 * mu       },
      {"euler",         4e5 * mu, 400 * mu        },
      {"semi-implicit", 0,        2000 * mu       },
      {"semi-implicit", 2e6 * mu, 1000 * mu       },
  };
  for (size_t i = 0; i < sizeof limits / sizeof *limits; ++i) {
    for (int side = -1; side <= 1; side += 2) {
      /* euler's limit of an oscillation is a damper that is too small */
      bool small_damper = strcmp(limits[i].integrator, "euler") == 0 && limits[i].kp > 0;
      double factor = 1 + 0.01 * side;
      double kp = limits[i].kp * (small_damper ? 1 : factor);
      double kd = limits[i].kd * (small_damper ? 1 / factor : factor);
      tabi_scene *scene = load(limits[i].integrator, kp, kd, "");
      print_message("%s kp %g kd %g: %s\n", limits[i].integrator, kp, kd, said);
      assert_int_equal(said[0] != '\0', side > 0);
      assert_int_equal(grows(scene), side > 0);
      tabi_scene_destroy(scene);
    }
  }
}

/* The warning names integrator, joints and cures; each of the cures is one. */
static void cures_cure(void **state) {
  (void)state;
  tabi_scene_destroy(load("rk4", 2000, 300, ""));
  assert_non_null(strstr(said, "robot 'r': servos of 'r/second', 'r/first' (kp 2000, kd 300) are "
                               "explicit under rk4 and unstable at 0.001 s"));
  assert_non_null(strstr(said, "a step of 0.00025 s, or rotors: joints: {second: "));
  tabi_scene_destroy(load("rk4", 2000, 300,
                          "joints: {first: {rotor_inertia: 2e-5, gear: 100},"
                          " second: {rotor_inertia: 2e-5, gear: 100}},"));
  assert_string_equal(said, "");
  tabi_scene_destroy(load("semi-implicit", 2000, 300, ""));
  assert_non_null(strstr(said, "are explicit under semi-implicit and unstable at 0.001 s; take "
                               "implicit: true"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(warning_means_growth),
      cmocka_unit_test(cures_cure),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
