/* test_formulations.c - the table of contact methods: names, variants, and that every capability
 * an entry claims is one it has, and no entry has one that it does not claim. */
#include "support/near.h"
#include "support/scene_build.h"

#include <string.h>

static const tabi_contact_info *info_of(int kind) {
  return tabi_contact_describe((tabi_contact_kind)kind);
}

/* methods that run without a planar biped */
static bool runs_alone(int kind) { return !info_of(kind)->planar_biped; }

static void test_names(void **state) {
  (void)state;
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    const tabi_contact_info *info = info_of(i);
    assert_true(strlen(info->name) > 0);
    assert_true(strlen(info->summary) > 10);
    assert_null(strchr(info->summary, '\n'));
    assert_string_equal(tabi_contact_name((tabi_contact_kind)i), info->name);
    assert_int_equal(tabi_contact_find(info->name), i); /* so names are unique */
    for (int k = 0; k < i; ++k)
      assert_string_not_equal(info->summary, info_of(k)->summary);
  }
  assert_int_equal(tabi_contact_find("paper"), TABI_NONE);
  assert_int_equal(tabi_contact_find(""), TABI_NONE);
}

/* a method is its own, a variant belongs to a method that points back to it, in name too */
static void test_variants(void **state) {
  (void)state;
  int variants = 0;
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    const tabi_contact_info *info = info_of(i);
    if (i < TABI_CONTACT_METHODS) {
      assert_int_equal(info->method, i);
      if (info->published == TABI_NONE) continue;
      assert_in_range(info->published, TABI_CONTACT_METHODS, TABI_CONTACT_COUNT - 1);
      assert_int_equal(info_of(info->published)->method, i);
      continue;
    }
    ++variants;
    const tabi_contact_info *method = info_of((int)info->method);
    assert_true((int)info->method < TABI_CONTACT_METHODS);
    assert_int_equal(method->published, i);
    assert_int_equal(info->published, TABI_NONE);
    size_t length = strlen(method->name);
    assert_memory_equal(info->name, method->name, length);
    assert_string_equal(info->name + length, "-paper");
    assert_int_equal(info->rebounds, method->rebounds);
    assert_int_equal(info->compliant, method->compliant);
  }
  assert_int_equal(variants, 4);
}

/* what follows from the meaning of the capabilities */
static void test_capabilities_agree(void **state) {
  (void)state;
  int exact = 0;
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    const tabi_contact_info *info = info_of(i);
    if (runs_alone(i)) assert_int_not_equal(info->rebounds, info->compliant);
    if (info->newton) assert_true(info->sweeps);
    if (info->sweeps || info->exact) assert_true(info->rebounds);
    assert_false(info->sweeps && info->exact);
    if (info->dense_storage) assert_true(info->sweeps);
    exact += info->exact;
  }
  assert_int_equal(exact, 1);
}

/* ----------------------------------------------------------------- what a def may ask for */

static scene begin_ball(double restitution, double stiffness) {
  scene s = scene_begin();
  tabi_material_def def = tabi_material_def_default();
  def.name = "stuff";
  def.restitution = restitution;
  def.stiffness = stiffness;
  int32_t stuff = tabi_builder_add_material(s.builder, &def);
  scene_plane(&s, 0, stuff);
  (void)scene_ball(&s, 1, 0.1, v3_make(0, 0, 0.15), stuff);
  return s;
}

static void test_integrators(void **state) {
  (void)state;
  for (int i = 0; i < TABI_CONTACT_COUNT * TABI_INTEGRATOR_COUNT; ++i) {
    int kind = i % TABI_CONTACT_COUNT;
    tabi_integrator integrator = (tabi_integrator)(i / TABI_CONTACT_COUNT);
    if (!runs_alone(kind)) continue;
    scene s = begin_ball(0, 1e5);
    tabi_world_def def = scene_def(&s);
    def.contact = (tabi_contact_kind)kind;
    def.integrator = integrator;
    bool is_explicit = integrator == TABI_RK4 || integrator == TABI_EULER;
    tabi_error err = {0};
    tabi_world *world = tabi_world_create(s.model, &def, &err);
    if (info_of(kind)->implicit_only && is_explicit) {
      assert_null(world);
      assert_int_equal(err.status, TABI_ERR_ARGUMENT);
      assert_non_null(strstr(err.message, "semi-implicit"));
    } else {
      assert_non_null(world);
      assert_int_equal(tabi_world_step(world, NULL), TABI_OK);
    }
    tabi_world_destroy(world);
    scene_close(&s);
  }
}

static void test_planar_biped(void **state) {
  (void)state;
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    scene s = begin_ball(0, 1e5);
    tabi_world_def def = scene_def(&s);
    def.contact = (tabi_contact_kind)i;
    tabi_error err = {0};
    tabi_world *world = tabi_world_create(s.model, &def, &err);
    if (info_of(i)->planar_biped) {
      assert_null(world);
      assert_non_null(strstr(err.message, "tabi_gait"));
    } else {
      assert_non_null(world);
    }
    tabi_world_destroy(world);
    scene_close(&s);
  }
}

/* the state after a fall of 5 cm, and how fast the ball was on its way up at most */
static uint64_t drop(int kind, double restitution, double stiffness, double *rebound) {
  scene s = begin_ball(restitution, stiffness);
  tabi_world_def def = scene_def(&s);
  def.contact = (tabi_contact_kind)kind;
  scene_open(&s, &def);
  *rebound = 0;
  for (int k = 0; k < 130; ++k) {
    scene_run(&s, 1);
    *rebound = fmax(*rebound, scene_v(&s, 0)[2]);
  }
  uint64_t hash = tabi_world_hash(s.world);
  scene_close(&s);
  return hash;
}

/* restitution counts for those that rebound, stiffness for those that are compliant, and neither
 * for others */
static void test_rebounds_and_compliance(void **state) {
  (void)state;
  double speed = sqrt(2 * GRAVITY * 0.05);
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    if (!runs_alone(i)) continue;
    double dull, lively, soft;
    uint64_t plain = drop(i, 0, 1e5, &dull);
    bool minds_restitution = drop(i, 0.6, 1e5, &lively) != plain;
    bool minds_stiffness = drop(i, 0, 2e4, &soft) != plain;
    print_message("%s: up at %.3f m/s with e = 0.6, %.3f with 0, after a fall at %.3f\n",
                  info_of(i)->name, lively, dull, speed);
    assert_int_equal(minds_restitution, info_of(i)->rebounds);
    assert_int_equal(minds_stiffness, info_of(i)->compliant);
    if (info_of(i)->rebounds) {
      assert_near(lively / speed, 0.6, 0.02);
      assert_near(dull / speed, 0, 0.02);
    }
  }
}

/* a heavy box on light ones, with too few sweeps for it: does the fallback take over? */
static bool falls_back(int kind, tabi_fallback fallback, double tolerance) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  for (int k = 0; k < 5; ++k)
    scene_box(&s, k < 4 ? 1 : 1000, v3_make(0.3, 0.2, 0.1), v3_make(0, 0, 0.05 + 0.1 * k), stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = (tabi_contact_kind)kind;
  def.fallback = fallback;
  def.iterations = 20;
  def.tolerance = tolerance;
  scene_open(&s, &def);
  bool fell_back = false;
  for (int k = 0; k < 20; ++k) {
    scene_run(&s, 1);
    fell_back |= tabi_world_certificate(s.world).fallback;
  }
  scene_close(&s);
  return fell_back;
}

static void test_fallbacks(void **state) {
  (void)state;
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    if (!runs_alone(i)) continue;
    for (int k = 0; k < 2; ++k) {
      double tolerance = k == 0 ? -1 : 0; /* the default, and what can never be reached */
      assert_false(falls_back(i, TABI_FALLBACK_NONE, tolerance));
      assert_int_equal(falls_back(i, TABI_FALLBACK_EXACT, tolerance), info_of(i)->sweeps);
      assert_int_equal(falls_back(i, TABI_FALLBACK_NEWTON, tolerance), info_of(i)->newton);
    }
  }
}

/* the dense matrix takes memory of those that can store it; the others ignore the knob */
static void test_dense_storage(void **state) {
  (void)state;
  for (int i = 0; i < TABI_CONTACT_COUNT; ++i) {
    if (!runs_alone(i)) continue;
    size_t memory[TABI_STORAGE_COUNT];
    uint64_t hash[TABI_STORAGE_COUNT];
    for (int k = 0; k < TABI_STORAGE_COUNT; ++k) {
      scene s = begin_ball(0, 1e5);
      tabi_world_def def = scene_def(&s);
      def.contact = (tabi_contact_kind)i;
      def.max_contacts = 50;
      def.cone.storage = def.lcp.storage = (tabi_storage)k;
      scene_open(&s, &def);
      scene_run(&s, 200);
      memory[k] = tabi_world_stats(s.world).memory;
      hash[k] = tabi_world_hash(s.world);
      scene_close(&s);
    }
    for (int k = TABI_STORAGE_DENSE; k < TABI_STORAGE_COUNT; ++k) {
      assert_int_equal(memory[k] > memory[TABI_STORAGE_PORTS], info_of(i)->dense_storage);
      if (!info_of(i)->dense_storage) assert_int_equal(hash[k], hash[TABI_STORAGE_PORTS]);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_variants),
      cmocka_unit_test(test_capabilities_agree),
      cmocka_unit_test(test_integrators),
      cmocka_unit_test(test_planar_biped),
      cmocka_unit_test(test_rebounds_and_compliance),
      cmocka_unit_test(test_fallbacks),
      cmocka_unit_test(test_dense_storage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
