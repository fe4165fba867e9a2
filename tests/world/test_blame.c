/* test_blame.c - who is named when a step fails: the body with the absurd mass, the one that is too
 * fast, the servo or the forces that are no numbers; and the world stays where it was. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BOX "shape: {box: [0.2, 0.2, 0.2]}"

static void expect_error(const tabi_world *world, tabi_status status, const char *words) {
  const tabi_error *error = tabi_world_error(world);
  assert_int_equal(error->status, status);
  if (!strstr(error->message, words)) fail_msg("'%s' not in '%s'", words, error->message);
}

/* Steps until one fails. */
static tabi_status run(scene_world *s) {
  tabi_status status = TABI_OK;
  for (int i = 0; i < 2000 && status == TABI_OK; ++i) {
    tabi_scene_control(s->scene, s->world);
    status = tabi_world_step(s->world, NULL);
  }
  return status;
}

/* A pile that is pressed, in which one mass has a wrong exponent, whichever it is: the force is on
 * another one. */
static void test_absurd_mass(void **state) {
  (void)state;
  for (int odd = 0; odd < 3; ++odd) {
    char text[1024] = "bodies:\n  - {name: floor, fixed: true, shape: {plane: {}}}\n";
    for (int i = 0; i < 3; ++i) {
      scratch_append(text, sizeof text, "  - {name: box%d, mass: %s, " BOX ", xyz: [0, 0, %g]}\n",
                     i, i == odd ? "1e-10" : "1", 0.1 + 0.2 * i);
    }
    scratch_append(text, sizeof text, "forces: [{body: box%d, force: [0, 0, 1e14]}]\n",
                   (odd + 1) % 3);
    scene_world s = scene_world_open(load_scene_text(text, "pile.yaml", NULL));
    assert_int_equal(run(&s), TABI_ERR_DIVERGED);
    char words[64];
    (void)snprintf(words, sizeof words, "'box%d' has a mass of 1e-10 kg", odd);
    expect_error(s.world, TABI_ERR_DIVERGED, words);
    scene_world_close(&s);
  }
}

/* Masses are alike: what is too fast is named. */
static void test_too_fast(void **state) {
  (void)state;
  static const char text[] = "gravity: [0, 0, 0]\n"
                             "bodies:\n"
                             "  - {name: a, mass: 1, " BOX ", xyz: [0, 0, 0]}\n"
                             "  - {name: b, mass: 1, " BOX ", xyz: [5, 0, 0], lin: [9e7, 0, 0]}\n"
                             "forces: [{body: b, force: [1e12, 0, 0]}]\n";
  scene_world s = scene_world_open(load_scene_text(text, "fast.yaml", NULL));
  assert_int_equal(run(&s), TABI_ERR_DIVERGED);
  expect_error(s.world, TABI_ERR_DIVERGED, "diverged at 'b', velocity");
  scene_world_close(&s);
}

#define LINK(name)                                                                      \
  "<link name='" name "'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/>" \
  "</inertial></link>"

static tabi_model *load_arm(void) {
  static const char text[] = "<robot name='arm'>" LINK("base")
      LINK("upper") "<joint name='elbow' type='continuous'>"
                    "<parent link='base'/><child link='upper'/><axis xyz='0 1 0'/></joint></robot>";
  tabi_error err = {0};
  tabi_builder *builder = tabi_builder_create();
  (void)tabi_builder_load_text(builder, text, sizeof text - 1, "arm.urdf", NULL, &err);
  tabi_model *model = tabi_builder_build(builder, &err);
  if (!model) fail_msg("%s", err.message);
  tabi_builder_destroy(builder);
  return model;
}

static int32_t joint_of(const tabi_model *model, const char *name) {
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    const char *other = tabi_model_joint(model, j).name;
    if (other && strcmp(other, name) == 0) return j;
  }
  fail_msg("no joint %s", name);
  return TABI_NONE;
}

/* Inputs that are no numbers are the controller's fault, and cost no state. */
static void test_inputs(void **state) {
  (void)state;
  tabi_model *model = load_arm();
  tabi_world *world = tabi_world_create(model, NULL, NULL);
  assert_non_null(world);
  int32_t elbow = joint_of(model, "elbow");
  int32_t dof = tabi_model_joint_v(model, elbow).first;
  double *tau = calloc((size_t)tabi_model_nv(model), sizeof *tau);
  assert_non_null(tau);
  uint64_t before = tabi_world_hash(world);
  for (int i = 0; i < 3; ++i) {
    tau[dof] = i == 0 ? (double)NAN : i == 1 ? (double)-INFINITY : 1e16;
    assert_int_equal(tabi_world_step(world, tau), TABI_ERR_ARGUMENT);
    expect_error(world, TABI_ERR_ARGUMENT, "joint 'elbow'");
    assert_true(tabi_world_hash(world) == before);
  }
  const tabi_servo servo = {.kp = 10, .kd = 1, .target = (double)NAN};
  tabi_world_set_servo(world, elbow, &servo);
  tau[dof] = 0;
  assert_int_equal(tabi_world_step(world, tau), TABI_ERR_ARGUMENT);
  expect_error(world, TABI_ERR_ARGUMENT, "servo of joint 'elbow': target");
  free(tau);
  tabi_world_destroy(world);
  tabi_model_destroy(model);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_absurd_mass),
      cmocka_unit_test(test_too_fast),
      cmocka_unit_test(test_inputs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
