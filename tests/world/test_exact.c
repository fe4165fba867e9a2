/* test_exact.c - `exact` where Gauss-Seidel crawls or stalls: every step must reach its tolerance,
 * and forces and motion must be those that statics give. */
#include "support/near.h"
#include "support/scene_build.h"
#include "tabi/tabi_io.h"

#include <stdlib.h>
#include <string.h>

#define H 1e-3

static void open_exact(scene *s) {
  tabi_world_def def = scene_def(s);
  def.contact = TABI_CONTACT_EXACT;
  scene_open(s, &def);
}

/* steps that must all reach the tolerance; the mean number of iterations */
static double run_exact(scene *s, int64_t steps, const char *what) {
  double sum = 0;
  int32_t max = 0;
  tabi_certificate worst = {0};
  for (int64_t k = 0; k < steps; ++k) {
    scene_run(s, 1);
    tabi_certificate c = tabi_world_certificate(s->world);
    if (!c.converged) fail_msg("%s: step %d stopped short after %d", what, (int)k, c.iterations);
    sum += c.iterations;
    if (c.iterations > max) max = c.iterations;
    worst.complementarity = fmax(worst.complementarity, c.complementarity);
    worst.dissipation = fmax(worst.dissipation, c.dissipation);
  }
  print_message("%s: iterations %.1f, at most %d; complementarity %.1e m/s, dissipation %.1e m/s\n",
                what, sum / (double)steps, max, worst.complementarity, worst.dissipation);
  return sum / (double)steps;
}

static double speed(const scene *s, int32_t link) {
  const double *v = scene_v(s, link);
  double sum = 0;
  for (int i = 0; i < 6; ++i)
    sum += v[i] * v[i];
  return sqrt(sum);
}

/* boxes on each other, from the lowest; returns the lowest */
static int32_t pile_up(scene *s, const double *mass, int count) {
  int32_t stuff = scene_material(s, 0.5, 0);
  scene_plane(s, 0, stuff);
  int32_t first = TABI_NONE;
  for (int i = 0; i < count; ++i) {
    v3 size = v3_make(0.1, 0.1, 0.1);
    int32_t box = scene_box(s, mass[i], size, v3_make(0, 0, 0.05 + 0.1 * i), stuff);
    if (i == 0) first = box;
  }
  return first;
}

/* the floor bears all of it, and what is on top weighs on what is below, from the first step on */
static void stack_of_ten(void **state) {
  (void)state;
  scene s = scene_begin();
  const double mass[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  int32_t first = pile_up(&s, mass, 10);
  open_exact(&s);
  (void)run_exact(&s, 300, "stack of ten");
  for (int i = 0; i < 10; ++i) {
    /* the net impulse on a box is what its weight takes */
    assert_near(scene_impulse(&s, first + i).z, GRAVITY * H, 1e-9);
    assert_true(speed(&s, first + i) < 1e-9);
  }
  scene_close(&s);
}

static void heavy_on_light(void **state) {
  (void)state;
  scene s = scene_begin();
  const double mass[2] = {1, 1e6};
  int32_t first = pile_up(&s, mass, 2);
  open_exact(&s);
  (void)run_exact(&s, 300, "mass ratio 1e6");
  assert_near_rel(scene_impulse(&s, first + 1).z, 1e6 * GRAVITY * H, 1e-9);
  assert_true(speed(&s, first) < 1e-6 && speed(&s, first + 1) < 1e-6);
  scene_close(&s);
}

/* every joint of the robot has dry friction; it crouches, falls into its soles and stands */
static void humanoid_with_dry_joints(void **state) {
  (void)state;
  scene s = scene_begin();
  scene_plane(&s, 0, scene_material(&s, 0.8, 0));
  (void)scene_humanoid(&s, 0.9);
  (void)scene_def(&s);
  int32_t dry = 0;
  for (int32_t j = 0; j < tabi_model_njoint(s.model); ++j)
    dry += tabi_model_joint(s.model, j).friction > 0;
  assert_true(dry >= 30);
  open_exact(&s);
  scene_crouch(&s, 600, 20, true);
  (void)run_exact(&s, TEST_SHORT ? 400 : 2000, "humanoid with dry joints");
  scene_close(&s);
}

/* a box on n x n small balls */
static int32_t add_table(scene *s, int n, v3 pos, int32_t stuff) {
  int32_t link = scene_free(s, 5, v3_make(0.05, 0.05, 0.08), pos);
  for (int i = 0; i < n * n; ++i) {
    tabi_shape_def def = tabi_shape_def_default();
    const int at[2] = {i / n, i % n};
    def.type = TABI_SHAPE_SPHERE;
    def.link = link;
    def.material = stuff;
    def.size[0] = 0.005;
    def.pos[0] = 0.2 * at[0] / (n - 1) - 0.1;
    def.pos[1] = 0.2 * at[1] / (n - 1) - 0.1;
    def.pos[2] = -0.05;
    tabi_builder_add_shape(s->builder, &def);
  }
  return link;
}

/* 400 points bear what 4 bear: the box slides as far, stops as soon, and weighs as much */
static void four_hundred_points(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  int32_t many = add_table(&s, 20, v3_make(0, 0, 0.055), stuff);
  int32_t few = add_table(&s, 2, v3_make(0, 1, 0.055), stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = TABI_CONTACT_EXACT;
  def.max_contacts = 600;
  scene_open(&s, &def);
  scene_set_velocity(&s, many, v3_make(0.5, 0, 0), v3_zero());
  scene_set_velocity(&s, few, v3_make(0.5, 0, 0), v3_zero());
  (void)run_exact(&s, TEST_SHORT ? 80 : 400, "400 points");
  assert_near(scene_q(&s, many)[0], scene_q(&s, few)[0], 1e-9);
  assert_near(scene_q(&s, many)[2], scene_q(&s, few)[2], 1e-9);
  assert_near(scene_v(&s, many)[0], scene_v(&s, few)[0], 1e-9);
  assert_near_rel(scene_impulse(&s, many).z / (5 * GRAVITY * H), 1, 1e-6);
  scene_close(&s);
}

/* a rod between floor and wall at 45 degrees, mu = 2: it stays, however hard it is pushed down */
static void jammed_rod(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 2, 0);
  scene_plane(&s, 0, stuff);
  scene_plane(&s, 1.5707963267948966, stuff);
  double reach = (0.5 + 0.025) * sqrt(0.5);
  int32_t rod = scene_box(&s, 1, v3_make(1, 0.05, 0.05), v3_make(reach, 0, reach), stuff);
  open_exact(&s);
  scene_turn(&s, rod, scene_tilt(0.7853981633974483));
  (void)run_exact(&s, 200, "jammed rod");
  for (int k = 0; k < 200; ++k) {
    scene_push(&s, rod, v3_make(0, 0, -1000));
    (void)scene_run(&s, 1);
    assert_true(tabi_world_certificate(s.world).converged);
    assert_near_rel(scene_impulse(&s, rod).z, (1000 + GRAVITY) * H, 1e-6);
  }
  assert_true(speed(&s, rod) < 1e-6);
  scene_close(&s);
}

/* a ball in a groove of 20 degrees, with friction that alone could hold it, and with a spin */
static void wedged_ball(void **state) {
  (void)state;
  const double tilt = 80 * 1.5707963267948966 / 90;
  const double friction[3] = {0, 1, 1e6};
  for (int i = 0; i < 3; ++i) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, friction[i], 0);
    scene_plane(&s, tilt, stuff);
    scene_plane(&s, -tilt, stuff);
    int32_t ball = scene_ball(&s, 1, 0.1, v3_make(0, 0, 0.1 / cos(tilt)), stuff);
    open_exact(&s);
    scene_set_velocity(&s, ball, v3_zero(), v3_make(0, 1, 3));
    (void)run_exact(&s, 300, "ball in a groove");
    assert_near(scene_impulse(&s, ball).z, GRAVITY * H, 1e-9);
    assert_near(scene_v(&s, ball)[2], 0.0, 1e-9);
    scene_close(&s);
  }
}

/* humanoid36 where nothing weighs */
static scene open_floating(void) {
  scene s = scene_begin();
  (void)scene_humanoid(&s, 3);
  tabi_world_def def = scene_def(&s);
  def.contact = TABI_CONTACT_EXACT;
  memset(def.gravity, 0, sizeof def.gravity);
  scene_open(&s, &def);
  return s;
}

/* how far joints are beyond their limits */
static double overshoot(const scene *s) {
  double max = 0;
  for (int32_t j = 0; j < tabi_model_njoint(s->model); ++j) {
    tabi_joint_def joint = tabi_model_joint(s->model, j);
    if (joint.type != TABI_JOINT_REVOLUTE) continue;
    double q = tabi_world_q(s->world)[tabi_model_joint_q(s->model, j).first];
    max = fmax(max, fmax(joint.lower - q, q - joint.upper));
  }
  return max;
}

/* all joints are driven into their limits from afar with ten times the torque they have: they stop
 * there, however fast they come */
static void limits_from_afar(void **state) {
  (void)state;
  scene s = open_floating();
  size_t nv = (size_t)tabi_model_nv(s.model);
  double *tau = calloc(nv, sizeof *tau);
  for (int32_t j = 0; j < tabi_model_njoint(s.model); ++j) {
    tabi_joint_def joint = tabi_model_joint(s.model, j);
    if (joint.type != TABI_JOINT_REVOLUTE) continue;
    tau[tabi_model_joint_v(s.model, j).first] = (j % 2 ? 10 : -10) * joint.effort;
  }
  double max = 0;
  for (int k = 0; k < (TEST_SHORT ? 1000 : 10000); ++k) {
    assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
    max = fmax(max, overshoot(&s));
  }
  double square = 0;
  for (int32_t j = 0; j < tabi_model_njoint(s.model); ++j) {
    if (tabi_model_joint(s.model, j).type != TABI_JOINT_REVOLUTE) continue;
    double speed = tabi_world_v(s.world)[tabi_model_joint_v(s.model, j).first];
    square += speed * speed;
  }
  print_message("limits from afar: overshoot %.2g rad, speed at the end %.2g rad/s\n", max,
                sqrt(square));
  assert_true(max < 1e-3);
  assert_true(sqrt(square) < 1e-3);
  free(tau);
  scene_close(&s);
}

/* all joints stand at a limit and are pressed into it with ten times the torque they have: nothing
 * moves */
static void limits_under_torque(void **state) {
  (void)state;
  scene s = open_floating();
  size_t nv = (size_t)tabi_model_nv(s.model);
  double *tau = calloc(nv, sizeof *tau);
  double *v = calloc(nv, sizeof *v);
  double *q = calloc((size_t)tabi_model_nq(s.model), sizeof *q);
  memcpy(q, tabi_world_q(s.world), (size_t)tabi_model_nq(s.model) * sizeof *q);
  for (int32_t j = 0; j < tabi_model_njoint(s.model); ++j) {
    tabi_joint_def joint = tabi_model_joint(s.model, j);
    if (joint.type != TABI_JOINT_REVOLUTE) continue;
    tau[tabi_model_joint_v(s.model, j).first] = (j % 2 ? 10 : -10) * joint.effort;
    q[tabi_model_joint_q(s.model, j).first] = j % 2 ? joint.upper : joint.lower;
  }
  assert_int_equal(tabi_world_set_state(s.world, q, v, NULL), TABI_OK);
  int32_t max = 0;
  for (int k = 0; k < (TEST_SHORT ? 300 : 3000); ++k) {
    assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
    tabi_certificate c = tabi_world_certificate(s.world);
    assert_true(c.converged);
    if (c.iterations > max) max = c.iterations;
  }
  print_message("limits under ten times the torque: at most %d iterations\n", max);
  assert_near_n(tabi_world_v(s.world), v, nv, 1e-6);
  assert_near_n(tabi_world_q(s.world), q, (size_t)tabi_model_nq(s.model), 1e-6);
  free(tau);
  free(q);
  free(v);
  scene_close(&s);
}

/* A top on an upright hinge touches the floor in the origin of its axis, where nothing can move:
 * the contact is left alone, and the top keeps turning. */
static void touched_on_the_axis(void **state) {
  (void)state;
  const tabi_contact_kind kinds[2] = {TABI_CONTACT_EXACT, TABI_CONTACT_CONE};
  for (int i = 0; i < 2; ++i) {
    scene s = scene_begin();
    int32_t stuff = scene_material(&s, 1, 0);
    scene_plane(&s, 0, stuff);
    tabi_joint_def hinge =
        scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_zero(), v3_make(0, 0, 1));
    int32_t top = scene_link(&s, 1, v3_make(0, 0, 0.1), v3_make(0.1, 0.1, 0.1), hinge);
    tabi_shape_def ball = tabi_shape_def_default();
    ball.type = TABI_SHAPE_SPHERE;
    ball.link = top;
    ball.size[0] = 0.1;
    ball.pos[2] = 0.1;
    ball.material = stuff;
    tabi_builder_add_shape(s.builder, &ball);
    tabi_world_def def = scene_def(&s);
    def.contact = kinds[i];
    scene_open(&s, &def);
    const double q = 0;
    const double v = 2;
    scene_set(&s, top, &q, &v);
    scene_run(&s, 100);
    int32_t count;
    (void)tabi_world_contacts(s.world, &count);
    assert_int_equal(count, 1);
    assert_true(tabi_world_certificate(s.world).converged);
    assert_near(scene_v(&s, top)[0], v, 1e-12);
    scene_close(&s);
  }
}

/* With few sweeps a method stops short; the fallback solves what it leaves, and nothing else. */
static void fallback(void **state) {
  (void)state;
  const double mass[4] = {1, 1, 1, 1000};
  for (int i = 0; i < 4; ++i) {
    scene s = scene_begin();
    (void)pile_up(&s, mass, 4);
    tabi_world_def def = scene_def(&s);
    def.contact = i % 2 ? TABI_CONTACT_LCP : TABI_CONTACT_CONE;
    def.fallback = i < 2 ? TABI_FALLBACK_EXACT : TABI_FALLBACK_NONE;
    scene_open(&s, &def);
    int32_t handed = 0;
    int32_t stalled = 0;
    for (int k = 0; k < 100; ++k) {
      scene_run(&s, 1);
      tabi_certificate c = tabi_world_certificate(s.world);
      handed += c.fallback;
      stalled += !c.converged;
    }
    print_message("%s, fallback %d: %d by the fallback, %d stalled\n",
                  tabi_contact_name(def.contact), def.fallback, handed, stalled);
    bool helped = def.fallback == TABI_FALLBACK_EXACT;
    assert_true(helped ? handed > 0 && stalled == 0 : handed == 0 && stalled > 0);
    scene_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stack_of_ten),
      cmocka_unit_test(heavy_on_light),
      cmocka_unit_test(humanoid_with_dry_joints),
      cmocka_unit_test(four_hundred_points),
      cmocka_unit_test(jammed_rod),
      cmocka_unit_test(wedged_ball),
      cmocka_unit_test(limits_under_torque),
      cmocka_unit_test(limits_from_afar),
      cmocka_unit_test(touched_on_the_axis),
      cmocka_unit_test(fallback),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
