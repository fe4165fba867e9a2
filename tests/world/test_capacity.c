/* test_capacity.c - a world that starts with memory for four contacts and grows steps as one that
 * has had enough from the start: the same bits, whatever the scene, method and integrator. */
#include "world/memory.h"

#include "support/heap.h"
#include "support/load.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <stdlib.h>
#include <string.h>

enum { FEW = 4, MANY = 3000, STEPS = TEST_SHORT ? 120 : 300 };

static void resize(tabi_world *world, int32_t contacts) {
  tabi_error err = {0};
  if (tbi_world_resize(world, contacts, world->capacity.blocks, &err) != TABI_OK)
    fail_msg("%s", err.message);
}

static void assert_says(const char *message, const char *word) {
  if (!strstr(message, word)) fail_msg("'%s' does not speak of '%s'", message, word);
}

static void assert_same(const tabi_world *a, const tabi_world *b) {
  tabi_certificate one = tabi_world_certificate(a);
  tabi_certificate other = tabi_world_certificate(b);
  int32_t here = 0;
  int32_t there = 0;
  const tabi_contact *list = tabi_world_contacts(a, &here);
  const tabi_contact *same = tabi_world_contacts(b, &there);
  assert_true(tabi_world_hash(a) == tabi_world_hash(b));
  assert_int_equal(here, there);
  assert_memory_equal(list, same, sizeof *list * (size_t)here);
  assert_memory_equal(&one.complementarity, &other.complementarity, sizeof one.complementarity);
  assert_int_equal(one.iterations, other.iterations);
}

/* -- shipped scenes */

static const char *const shipped[] = {"andrews",    "balls666",       "biped_walk",
                                      "bouncing",   "bowl",           "box_drop",
                                      "bricard",    "boxes_slope",    "chain",
                                      "drop",       "four_bar",       "falling_boxes",
                                      "human_walk", "incline",        "p5_fall",
                                      "pile",       "rolling",        "parallel_ankles",
                                      "stack",      "stand_figure40", "stand_humanoid20",
                                      "terrain",    "topple",         "stand",
                                      "walk",       "walk19",         "walk_bush",
                                      "governor",   "closed_link"};

static void shipped_scenes(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof shipped / sizeof *shipped; ++i) {
    scene_world usual = scene_world_open(load_shipped_scene(shipped[i], NULL));
    scene_world grows = scene_world_open(load_shipped_scene(shipped[i], NULL));
    scene_world wide = scene_world_open(load_shipped_scene(shipped[i], NULL));
    grows.world->grows = true; /* also where the scene gives max_contacts */
    resize(grows.world, FEW);
    resize(wide.world, tabi_world_get_def(usual.world).max_contacts + MANY);
    for (int k = 0; k < STEPS; ++k) {
      step_world(usual.scene, usual.world);
      step_world(grows.scene, grows.world);
      step_world(wide.scene, wide.world);
      assert_same(usual.world, grows.world);
      assert_same(usual.world, wide.world);
    }
    print_message("%s: %d contacts\n", shipped[i], tabi_world_get_def(grows.world).max_contacts);
    scene_world_close(&usual);
    scene_world_close(&grows);
    scene_world_close(&wide);
  }
}

/* -- methods and integrators */

static scene open_heap(tabi_contact_kind contact, tabi_integrator integrator) {
  scene s = scene_begin();
  rng r = rng_make(7);
  int32_t stuff = scene_material(&s, 0.5, 0.1);
  scene_plane(&s, 0, stuff);
  for (int i = 0; i < 6; ++i) {
    double x = rng_between(&r, -0.05, 0.05);
    scene_box(&s, 1, v3_make(0.2, 0.15, 0.1), v3_make(x, 0, 0.05 + 0.1 * i), stuff);
  }
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.integrator = integrator;
  def.timestep = integrator == TABI_SEMI_IMPLICIT ? 1e-3 : 1e-4;
  scene_open(&s, &def);
  return s;
}

static void compare(tabi_contact_kind contact, tabi_integrator integrator) {
  scene usual = open_heap(contact, integrator);
  scene grows = open_heap(contact, integrator);
  resize(grows.world, FEW);
  for (int k = 0; k < STEPS; ++k) {
    tabi_status status = tabi_world_step_or_grow(usual.world, NULL);
    assert_int_equal(tabi_world_step_or_grow(grows.world, NULL), status);
    if (status != TABI_OK) break; /* impulse as published may diverge */
    assert_same(usual.world, grows.world);
  }
  assert_true(tabi_world_get_def(grows.world).max_contacts > FEW);
  scene_close(&usual);
  scene_close(&grows);
}

static void all_methods(void **state) {
  (void)state;
  for (int kind = 0; kind < TABI_CONTACT_COUNT; ++kind) {
    const tabi_contact_info *info = tabi_contact_describe((tabi_contact_kind)kind);
    for (int i = 0; i < TABI_INTEGRATOR_COUNT && !info->planar_biped; ++i) {
      bool is_explicit = i == TABI_RK4 || i == TABI_EULER;
      if (!(info->implicit_only && is_explicit))
        compare((tabi_contact_kind)kind, (tabi_integrator)i);
    }
  }
}

/* Under rk4 a compliant method looks for contacts in every stage: one that begins within the step
 * and does not fit is no reason to leave all of them out. */
static void stages_of_rk4(void **state) {
  (void)state;
  scene worlds[2];
  for (int i = 0; i < 2; ++i) {
    worlds[i] = scene_begin();
    int32_t stuff = scene_material(&worlds[i], 0.5, 0);
    scene_plane(&worlds[i], 0, stuff);
    int32_t ball = scene_ball(&worlds[i], 1, 0.1, v3_make(0, 0, 0.1 + 2e-3), stuff);
    tabi_world_def def = scene_def(&worlds[i]);
    def.contact = TABI_CONTACT_PENALTY;
    def.integrator = TABI_RK4;
    def.timestep = 2e-4;
    scene_open(&worlds[i], &def);
    scene_set_velocity(&worlds[i], ball, v3_make(0, 0, -1), v3_zero());
  }
  worlds[0].world->grows = true;
  worlds[0].world->def.max_contacts = 0; /* memory is there, but it must not be used */
  for (int k = 0; k < 60; ++k) {
    assert_int_equal(tabi_world_step(worlds[1].world, NULL), TABI_OK);
    tabi_status status = tabi_world_step(worlds[0].world, NULL);
    if (status == TABI_ERR_CAPACITY) {
      worlds[0].world->def.max_contacts = 4;
      status = tabi_world_step(worlds[0].world, NULL);
    }
    assert_int_equal(status, TABI_OK);
    assert_same(worlds[0].world, worlds[1].world);
  }
  assert_int_equal(worlds[0].world->def.max_contacts, 4);
  for (int i = 0; i < 2; ++i)
    scene_close(&worlds[i]);
}

/* -- a step that fails */

typedef struct kept {
  size_t size;
  void *bytes;
} kept;

static kept keep(const tabi_world *world) {
  kept k = {tabi_world_snapshot_size(world), NULL};
  k.bytes = malloc(k.size);
  assert_non_null(k.bytes);
  tabi_world_save(world, k.bytes);
  return k;
}

/* The state stays to the last bit, with pushes and buoyancy that wait for the step, and so do the
 * addresses of what users hold. */
static void repeats_the_step(void **state) {
  (void)state;
  scene worlds[2];
  for (int i = 0; i < 2; ++i) {
    worlds[i] = scene_begin();
    int32_t stuff = scene_material(&worlds[i], 0.5, 0);
    scene_plane(&worlds[i], 0, stuff);
    tabi_link_def link = tabi_link_def_default();
    link.mass = 1;
    link.buoyancy = 0.3;
    for (int k = 0; k < 3; ++k)
      link.inertia[k] = 0.01;
    tabi_joint_def joint = tabi_joint_def_default();
    joint.type = TABI_JOINT_FREE;
    joint.child = tabi_builder_add_link(worlds[i].builder, &link);
    joint.pos[2] = 0.05;
    assert_true(tabi_builder_add_joint(worlds[i].builder, &joint) >= 0);
    scene_shape(&worlds[i], TABI_SHAPE_BOX, joint.child, v3_make(0.2, 0.2, 0.1), stuff);
    scene_open(&worlds[i], NULL);
  }
  tabi_world *world = worlds[0].world;
  tbi_world_claim_workspace(world);
  resize(world, 1);
  for (int i = 0; i < 2; ++i)
    scene_push(&worlds[i], 0, v3_make(3, 1, 0));
  const double *q = tabi_world_q(world);
  const tabi_dynamics *d = tabi_world_dynamics(world);
  assert_int_equal(tabi_world_step(world, NULL), TABI_ERR_CAPACITY);
  assert_says(tabi_world_error(world)->message, "tabi_world_grow");
  kept before = keep(world);
  assert_int_equal(tabi_world_step(world, NULL), TABI_ERR_CAPACITY);
  kept after = keep(world);
  assert_memory_equal(before.bytes, after.bytes, before.size);
  size_t memory = tabi_world_stats(world).memory;
  assert_int_equal(tabi_world_step_or_grow(world, NULL), TABI_OK);
  assert_true(tabi_world_stats(world).memory > memory);
  assert_int_equal(tabi_world_step(worlds[1].world, NULL), TABI_OK);
  assert_same(world, worlds[1].world);
  assert_ptr_equal(q, tabi_world_q(world));
  assert_ptr_equal(d, tabi_world_dynamics(world));
  free(before.bytes);
  free(after.bytes);
  for (int i = 0; i < 2; ++i)
    scene_close(&worlds[i]);
}

/* Blocks of the problem grow as well. */
static void grows_blocks(void **state) {
  (void)state;
  scene_world usual = scene_world_open(load_shipped_scene("stand", NULL));
  scene_world grows = scene_world_open(load_shipped_scene("stand", NULL));
  assert_int_equal(tbi_world_resize(grows.world, FEW, 1, NULL), TABI_OK);
  for (int k = 0; k < 20; ++k) {
    step_world(usual.scene, usual.world);
    step_world(grows.scene, grows.world);
    assert_same(usual.world, grows.world);
  }
  assert_true(grows.world->capacity.blocks > 1);
  scene_world_close(&usual);
  scene_world_close(&grows);
}

/* -- snapshots */

/* Between worlds of any capacity. */
static void snapshots(void **state) {
  (void)state;
  scene small = open_heap(TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  scene large = open_heap(TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  scene fresh = open_heap(TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  resize(small.world, FEW);
  resize(fresh.world, 1);
  resize(large.world, MANY);
  kept start = keep(small.world);
  for (int k = 0; k < 50; ++k) {
    assert_int_equal(tabi_world_step_or_grow(small.world, NULL), TABI_OK);
    assert_int_equal(tabi_world_step(large.world, NULL), TABI_OK);
  }
  kept grown = keep(small.world);
  kept wide = keep(large.world);
  assert_true(start.size < grown.size && grown.size < wide.size);
  assert_int_equal(tabi_world_restore(fresh.world, wide.bytes, wide.size), TABI_OK);
  assert_int_equal(tabi_world_restore(large.world, grown.bytes, grown.size), TABI_OK);
  for (int k = 0; k < 20; ++k) {
    assert_int_equal(tabi_world_step_or_grow(small.world, NULL), TABI_OK);
    assert_int_equal(tabi_world_step_or_grow(fresh.world, NULL), TABI_OK);
    assert_int_equal(tabi_world_step(large.world, NULL), TABI_OK);
    assert_same(small.world, fresh.world);
    assert_same(small.world, large.world);
  }
  assert_int_equal(tabi_world_restore(small.world, start.bytes, start.size), TABI_OK);
  assert_int_equal(tabi_world_steps(small.world), 0);
  assert_int_equal(tabi_world_restore(small.world, grown.bytes, grown.size - 1), TABI_ERR_ARGUMENT);
  free(start.bytes);
  free(grown.bytes);
  free(wide.bytes);
  scene_close(&small);
  scene_close(&large);
  scene_close(&fresh);
}

static void goes_on_from_a_grown_world(void **state) {
  (void)state;
  scene from = open_heap(TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  scene small = open_heap(TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  scene large = open_heap(TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  resize(small.world, 1);
  scene_run(&from, 50);
  assert_int_equal(tabi_world_continue(small.world, from.world, NULL), TABI_OK);
  assert_int_equal(tabi_world_continue(large.world, from.world, NULL), TABI_OK);
  for (int k = 0; k < 20; ++k) {
    assert_int_equal(tabi_world_step_or_grow(small.world, NULL), TABI_OK);
    scene_run(&large, 1);
    assert_same(small.world, large.world);
  }
  scene_close(&from);
  scene_close(&small);
  scene_close(&large);
}

/* -- bounds */

static void keeps_what_was_given(void **state) {
  (void)state;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  scene_box(&s, 1, v3_make(0.2, 0.15, 0.1), v3_make(0, 0, 0.05), stuff);
  tabi_world_def def = scene_def(&s);
  tabi_error err = {0};
  def.max_contacts = TBI_MAX_CONTACTS + 1;
  assert_null(tabi_world_create(s.model, &def, &err));
  assert_says(err.message, "1000000");
  def.max_contacts = 3;
  scene_open(&s, &def);
  assert_int_equal(tabi_world_step_or_grow(s.world, NULL), TABI_ERR_CAPACITY);
  assert_says(tabi_world_error(s.world)->message, "max_contacts = 3");
  assert_int_equal(tabi_world_get_def(s.world).max_contacts, 3);
  s.world->grows = true; /* at the limit there is no more */
  s.world->def.max_contacts = TBI_MAX_CONTACTS;
  assert_int_equal(tabi_world_grow(s.world, &err), TABI_ERR_CAPACITY);
  assert_says(err.message, "the most");
  s.world->def.max_contacts = 3;
  scene_close(&s);
}

/* A given workspace is not ours to change. */
static void shared_workspace(void **state) {
  (void)state;
  scene s = open_heap(TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  tabi_world_def def = scene_def(&s);
  def.workspace = tabi_workspace_create(s.model, &def, NULL);
  tabi_world *world = tabi_world_create(s.model, &def, NULL);
  tabi_error err = {0};
  assert_int_equal(tabi_world_grow(world, &err), TABI_ERR_ARGUMENT);
  assert_says(err.message, "workspace");
  assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
  tabi_world_destroy(world);
  tabi_workspace_destroy(def.workspace);
  scene_close(&s);
}

static tabi_status grow_and_step(const void *context, tabi_error *err) {
  const tabi_model *model = context;
  tabi_world *world = tabi_world_create(model, NULL, err);
  if (!world) return err->status;
  tabi_status status = tabi_world_grow(world, err);
  if (heap_failed()) heap_recover();
  assert_int_equal(tabi_world_step(world, NULL), TABI_OK); /* it is good in any case */
  tabi_world_destroy(world);
  return status;
}

static void starves(void **state) {
  (void)state;
  scene s = open_heap(TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT);
  assert_int_equal(heap_starve(grow_and_step, s.model, false), 2);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shipped_scenes),   cmocka_unit_test(all_methods),
      cmocka_unit_test(stages_of_rk4),    cmocka_unit_test(repeats_the_step),
      cmocka_unit_test(grows_blocks),     cmocka_unit_test(snapshots),
      cmocka_unit_test(starves),          cmocka_unit_test(goes_on_from_a_grown_world),
      cmocka_unit_test(shared_workspace), cmocka_unit_test(keeps_what_was_given),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
