/* test_workspace.c - worlds that share a workspace step as if each had its own.
 *
 * Worlds of different models, methods and integrators take turns in one workspace, which is filled
 * with garbage between all steps: whatever a step needs from the one before must be in its state.
 */
#include "world/memory.h"

#include "support/load.h"
#include "support/near.h"
#include "support/scene_build.h"

#include <string.h>

enum { WORLDS = 3, STEPS = 300 };

/* a box, a ball and a driven hinge with friction and limits that fall on each other */
static scene open_boxes(int boxes, tabi_contact_kind contact, tabi_integrator integrator,
                        tabi_workspace *workspace) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0.2);
  scene_plane(&s, 0, stuff);
  for (int i = 0; i < boxes; ++i)
    scene_box(&s, 1, v3_make(0.2, 0.15, 0.1), v3_make(0.01 * i, 0, 0.08 + 0.12 * i), stuff);
  scene_ball(&s, 1, 0.08, v3_make(0.02, 0.01, 0.1 + 0.14 * boxes), stuff);
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_REVOLUTE, TABI_WORLD, v3_make(-0.5, 0, 0.2), v3_make(0, 1, 0));
  hinge.lower = -1;
  hinge.upper = 1;
  hinge.friction = 0.1;
  int32_t arm = scene_link(&s, 1, v3_make(0.2, 0, 0), v3_make(0.01, 0.01, 0.01), hinge);
  scene_shape(&s, TABI_SHAPE_SPHERE, arm, v3_make(0.05, 0, 0), stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.integrator = integrator;
  bool is_explicit = integrator == TABI_RK4 || integrator == TABI_EULER;
  if (contact == TABI_CONTACT_PENALTY && is_explicit) def.timestep = 2e-4;
  def.workspace = workspace;
  scene_open(&s, &def);
  return s;
}

/* large enough for all of them */
static tabi_workspace *largest_workspace(tabi_contact_kind contact, tabi_integrator integrator) {
  scene s = open_boxes(2 * WORLDS, contact, integrator, NULL);
  tabi_world_def def = tabi_world_get_def(s.world);
  tabi_workspace *workspace = tabi_workspace_create(s.model, &def, NULL);
  assert_non_null(workspace);
  assert_true(tabi_workspace_size(workspace) > 0);
  scene_close(&s);
  return workspace;
}

static void take_turns(tabi_contact_kind contact, tabi_integrator integrator) {
  tabi_workspace *workspace = largest_workspace(contact, integrator);
  scene shared[WORLDS];
  scene own[WORLDS];
  for (int i = 0; i < WORLDS; ++i) {
    shared[i] = open_boxes(1 + 2 * i, contact, integrator, workspace);
    own[i] = open_boxes(1 + 2 * i, contact, integrator, NULL);
  }
  for (int k = 0; k < STEPS; ++k) {
    for (int i = 0; i < WORLDS; ++i) {
      memset(workspace->bytes, 0xFF, workspace->size); /* numbers: NaN, counts: -1 */
      /* impulse as published may diverge, in both alike */
      tabi_status status = tabi_world_step(own[i].world, NULL);
      assert_int_equal(tabi_world_step(shared[i].world, NULL), status);
      assert_true(tabi_world_hash(shared[i].world) == tabi_world_hash(own[i].world));
      int32_t here = 0;
      int32_t there = 0;
      (void)tabi_world_contacts(shared[i].world, &here);
      (void)tabi_world_contacts(own[i].world, &there);
      assert_int_equal(here, there);
      (void)tabi_world_contacts(shared[(i + 1) % WORLDS].world, &here);
      assert_int_equal(here, 0);
    }
  }
  for (int i = 0; i < WORLDS; ++i) {
    scene_close(&shared[i]);
    scene_close(&own[i]);
  }
  tabi_workspace_destroy(workspace);
}

static void all_methods(void **state) {
  (void)state;
  for (int kind = 0; kind < TABI_CONTACT_COUNT; ++kind) {
    if (!tabi_contact_describe((tabi_contact_kind)kind)->planar_biped)
      take_turns((tabi_contact_kind)kind, TABI_SEMI_IMPLICIT);
  }
}

static void all_integrators(void **state) {
  (void)state;
  for (int i = 0; i < TABI_INTEGRATOR_COUNT; ++i) {
    take_turns(TABI_CONTACT_CONE, (tabi_integrator)i);
    take_turns(TABI_CONTACT_PENALTY, (tabi_integrator)i);
  }
}

/* robots with loops, sensors, sticking soles and controllers, and a gait */
static void shipped_scenes(void **state) {
  (void)state;
  const char *const names[] = {"stand",      "four_bar", "parallel_ankles", "walk",
                               "biped_walk", "bricard",  "terrain",         "chain"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    tabi_scene *first = load_shipped_scene(names[i], NULL);
    tabi_scene *second = load_shipped_scene(names[i], NULL);
    tabi_world_def def = tabi_scene_world_def(first);
    def.workspace = tabi_workspace_create(tabi_scene_model(first), &def, NULL);
    assert_non_null(def.workspace);
    tabi_world *world = open_world(first, &def);
    tabi_world *own = open_world(second, NULL);
    for (int k = 0; k < STEPS; ++k) {
      memset(def.workspace->bytes, 0xFF, def.workspace->size);
      step_world(first, world);
      step_world(second, own);
      assert_true(tabi_world_hash(world) == tabi_world_hash(own));
    }
    tabi_world_destroy(world);
    tabi_world_destroy(own);
    tabi_workspace_destroy(def.workspace);
    tabi_scene_destroy(first);
    tabi_scene_destroy(second);
  }
}

/* Worlds of one model share its kinematics and what collision remembers, too; steps and readings in
 * any order are those of worlds by themselves. */
static void one_model(void **state) {
  (void)state;
  tabi_scene *robot = load_shipped_scene("stand", NULL);
  tabi_world_def def = tabi_scene_world_def(robot);
  const tabi_model *model = tabi_scene_model(robot);
  tabi_world *own[WORLDS];
  tabi_world *shared[WORLDS];
  for (int i = 0; i < WORLDS; ++i) {
    def.workspace = NULL;
    own[i] = tabi_world_create(model, &def, NULL);
    if (i == 0) def.workspace = tabi_workspace_create(model, &def, NULL);
    if (i > 0) def.workspace = tabi_world_get_def(shared[0]).workspace;
    shared[i] = tabi_world_create(model, &def, NULL);
    assert_true(own[i] && shared[i]);
    for (int k = 0; k < 40 * i; ++k) {
      assert_int_equal(tabi_world_step(own[i], NULL), TABI_OK);
      assert_int_equal(tabi_world_step(shared[i], NULL), TABI_OK);
    }
  }
  for (int k = 0; k < STEPS; ++k) {
    for (int i = 0; i < WORLDS; ++i) {
      int other = (i + k) % WORLDS;
      assert_true(tabi_world_energy(own[other]).kinetic ==
                  tabi_world_energy(shared[other]).kinetic);
      assert_int_equal(tabi_world_step(own[i], NULL), TABI_OK);
      assert_int_equal(tabi_world_step(shared[i], NULL), TABI_OK);
      assert_true(tabi_world_hash(own[i]) == tabi_world_hash(shared[i]));
    }
  }
  size_t alone = own[0]->memory;
  assert_true(4 * shared[0]->memory < alone);
  for (int i = 0; i < WORLDS; ++i) {
    tabi_world_destroy(own[i]);
    tabi_world_destroy(shared[i]);
  }
  /* none is left, so that a world of another model may take the place */
  tabi_scene_destroy(robot);
  scene boxes = open_boxes(1, TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT, def.workspace);
  assert_int_equal(tabi_world_step(boxes.world, NULL), TABI_OK);
  scene_close(&boxes);
  tabi_workspace_destroy(def.workspace);
}

/* one that is too small is refused, and nothing is written to it */
static void too_small(void **state) {
  (void)state;
  scene small = open_boxes(1, TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT, NULL);
  scene large = open_boxes(9, TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT, NULL);
  tabi_world_def def = tabi_world_get_def(large.world);
  def.workspace = tabi_workspace_create(small.model, NULL, NULL);
  assert_non_null(def.workspace);
  tabi_error err = {0};
  assert_null(tabi_world_create(large.model, &def, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  assert_non_null(strstr(err.message, "workspace"));
  tabi_workspace_destroy(def.workspace);
  scene_close(&small);
  scene_close(&large);
}

/* a def that a world would refuse makes no workspace either */
static void bad_def(void **state) {
  (void)state;
  scene s = open_boxes(1, TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT, NULL);
  tabi_world_def def = tabi_world_get_def(s.world);
  def.timestep = 0;
  tabi_error err = {0};
  assert_null(tabi_workspace_create(s.model, &def, &err));
  assert_int_equal(err.status, TABI_ERR_ARGUMENT);
  tabi_workspace_destroy(NULL);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_methods),    cmocka_unit_test(all_integrators),
      cmocka_unit_test(shipped_scenes), cmocka_unit_test(too_small),
      cmocka_unit_test(bad_def),        cmocka_unit_test(one_model),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
