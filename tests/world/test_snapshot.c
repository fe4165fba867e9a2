/* test_snapshot.c - the same start gives the same bits: on repeat, and from a snapshot of any step,
 * in the same world and in another. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <stdlib.h>

#define SNAPSHOTS 20

/* how steps are made */
typedef struct way {
  tabi_contact_kind contact;
  tabi_integrator integrator;
  bool couples; /* with rolling and torsional friction */
} way;

/* stiff springs need small steps where they are explicit */
static double step_of(way how) {
  bool is_explicit = how.integrator == TABI_RK4 || how.integrator == TABI_EULER;
  return how.contact == TABI_CONTACT_PENALTY && is_explicit ? 2e-4 : 1e-3;
}

static int32_t add_felt(scene *s) {
  tabi_material_def def = tabi_material_def_default();
  def.restitution = 0.2;
  def.rolling_friction = 2e-3;
  def.torsional_friction = 3e-3;
  return tabi_builder_add_material(s->builder, &def);
}

/* boxes, balls and a driven arm that fall on each other */
static scene open_mess(way how) {
  scene s = scene_begin();
  rng r = rng_make(11);
  int32_t stuff = how.couples ? add_felt(&s) : scene_material(&s, 0.5, 0.2);
  scene_plane(&s, 0, stuff);
  for (int i = 0; i < 8; ++i) {
    double x = rng_between(&r, -0.1, 0.1);
    double y = rng_between(&r, -0.1, 0.1);
    v3 at = v3_make(x, y, 0.15 + 0.18 * i);
    if (i % 3 == 2) {
      scene_ball(&s, 1, 0.08, at, stuff);
    } else {
      scene_box(&s, 1, v3_make(0.2, 0.15, 0.1), at, stuff);
    }
  }
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_REVOLUTE, TABI_WORLD, v3_make(-0.5, 0, 0.2), v3_make(0, 1, 0));
  hinge.lower = -1;
  hinge.upper = 1;
  hinge.friction = 0.1;
  int32_t arm = scene_link(&s, 1, v3_make(0.2, 0, 0), v3_make(0.01, 0.01, 0.01), hinge);
  scene_shape(&s, TABI_SHAPE_SPHERE, arm, v3_make(0.05, 0, 0), stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = how.contact;
  def.integrator = how.integrator;
  def.timestep = step_of(how);
  def.seed = 5;
  scene_open(&s, &def);
  tabi_servo servo = {.kp = 50, .kd = 1, .target = 0.5, .implicit = true};
  tabi_world_set_servo(s.world, scene_joint(&s, arm), &servo);
  return s;
}

/* controls by step number, so that they are the same after a restored snapshot */
static void run_to(scene *s, int64_t end) {
  double tau[64] = {0};
  int32_t last = tabi_model_nv(s->model) - 1;
  for (int64_t k = tabi_world_steps(s->world); k < end; ++k) {
    tau[last] = 3 * sin(0.01 * (double)k);
    if (tabi_world_step(s->world, tau) != TABI_OK) {
      fail_msg("%s", tabi_world_error(s->world)->message);
    }
  }
}

static void repeat(way how, int64_t steps) {
  scene s = open_mess(how);
  rng r = rng_make(3);
  int64_t at[SNAPSHOTS];
  void *snapshot[SNAPSHOTS];
  size_t size = tabi_world_snapshot_size(s.world);
  int64_t from = 0;
  for (int i = 0; i < SNAPSHOTS; ++i) {
    from += 1 + rng_below(&r, (int32_t)(2 * (steps - from) / (SNAPSHOTS - i + 1)));
    at[i] = from < steps ? from : steps - 1;
    run_to(&s, at[i]);
    snapshot[i] = malloc(size);
    assert_non_null(snapshot[i]);
    tabi_world_save(s.world, snapshot[i]);
  }
  run_to(&s, steps);
  uint64_t hash = tabi_world_hash(s.world);
  scene again = open_mess(how);
  run_to(&again, steps);
  assert_true(tabi_world_hash(again.world) == hash);
  for (int i = 0; i < SNAPSHOTS; ++i) {
    scene *to = i % 2 ? &s : &again;
    assert_int_equal(tabi_world_restore(to->world, snapshot[i], size), TABI_OK);
    assert_int_equal(tabi_world_steps(to->world), at[i]);
    run_to(to, steps);
    assert_true(tabi_world_hash(to->world) == hash);
    free(snapshot[i]);
  }
  print_message("%s, %s: %016llx\n", tabi_contact_name(how.contact),
                tabi_integrator_name(how.integrator), (unsigned long long)hash);
  scene_close(&again);
  scene_close(&s);
}

static void all_repeat(void **state) {
  (void)state;
  for (int contact = 0; contact < TABI_CONTACT_GAIT; ++contact) {
    for (int integrator = 0; integrator < TABI_INTEGRATOR_COUNT; ++integrator) {
      way how = {(tabi_contact_kind)contact, (tabi_integrator)integrator, false};
      /* long enough to land */
      int64_t longer = step_of(how) < 1e-3 ? 3 : 1;
      repeat(how, longer * (TEST_SHORT ? 250 : 700));
    }
  }
}

/* the published variants */
static void papers_repeat(void **state) {
  (void)state;
  for (int kind = TABI_CONTACT_METHODS; kind < TABI_CONTACT_COUNT; ++kind)
    repeat((way){(tabi_contact_kind)kind, TABI_SEMI_IMPLICIT, false}, TEST_SHORT ? 250 : 700);
}

/* couples are part of a snapshot, with the deflection of penalty's springs */
static void couples_repeat(void **state) {
  (void)state;
  for (int kind = 0; kind < TABI_CONTACT_METHODS; ++kind) {
    if (!tabi_contact_describe((tabi_contact_kind)kind)->couples) continue;
    repeat((way){(tabi_contact_kind)kind, TABI_SEMI_IMPLICIT, true}, TEST_SHORT ? 250 : 700);
  }
}

/* asking questions between steps changes nothing */
static void questions_are_free(void **state) {
  (void)state;
  scene quiet = open_mess((way){TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT, false});
  scene asked = open_mess((way){TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT, false});
  for (int k = 1; k <= 300; ++k) {
    run_to(&quiet, k);
    run_to(&asked, k);
    (void)tabi_world_energy(asked.world);
    (void)tabi_world_certificate(asked.world);
    double lin[3];
    double ang[3];
    tabi_dynamics_momentum(tabi_world_dynamics(asked.world), lin, ang);
    tabi_dynamics_com(tabi_world_dynamics(asked.world), lin);
    (void)tabi_world_balance(asked.world, 0);
    assert_true(tabi_world_hash(quiet.world) == tabi_world_hash(asked.world));
  }
  scene_close(&quiet);
  scene_close(&asked);
}

/* time is counted, not summed */
static void time_is_counted(void **state) {
  (void)state;
  scene s = scene_begin();
  (void)scene_free(&s, 1, v3_make(1, 1, 1), v3_zero());
  scene_open(&s, NULL);
  scene_run(&s, 1234);
  assert_int_equal(tabi_world_steps(s.world), 1234);
  assert_true(tabi_world_time(s.world) == 1234 * 1e-3);
  assert_ptr_equal(tabi_world_model(s.world), s.model);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_repeat),      cmocka_unit_test(papers_repeat),
      cmocka_unit_test(couples_repeat),  cmocka_unit_test(questions_are_free),
      cmocka_unit_test(time_is_counted),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
