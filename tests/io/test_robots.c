/* test_robots.c - robots of others load whole: links, joints, coordinates, mass. */
#include "support/near.h"
#include "support/scratch.h"
#include "tabi/tabi_io.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct robot {
  const char *file;
  int32_t nlink, njoint, nv, nbody; /* with the base joint and its six coordinates */
  double mass;
} robot;

static const robot robots[] = {
    {"models/sr1/SR1.urdf",                     30, 30, 35, 30, 130.8},
    {"models/g1/g1.urdf",                       39, 39, 35, 30, 33.3 },
    {"models/atlas/atlas_minimal_contact.urdf", 60, 60, 36, 31, 175.1},
};

static void load(const robot *r) {
  char path[1024];
  tabi_error error = {0};
  (void)snprintf(path, sizeof path, "%s/%s", TABI_EXTRA_DATA, r->file);
  if (TABI_EXTRA_DATA[0] == '\0' || access(path, R_OK) != 0) {
    print_message("no %s: set TABI_EXTRA_DATA\n", r->file);
    skip();
  }
  tabi_model *model = tabi_model_load(path, NULL, &error);
  if (!model) fail_msg("%s", error.message);
  assert_int_equal(tabi_model_nlink(model), r->nlink);
  assert_int_equal(tabi_model_njoint(model), r->njoint);
  assert_int_equal(tabi_model_nv(model), r->nv);
  assert_int_equal(tabi_model_nbody(model), r->nbody);
  assert_near(tabi_model_mass(model), r->mass, 0.05);
  tabi_model_destroy(model);
}

static void test_sr1(void **state) {
  (void)state;
  load(&robots[0]);
}

static void test_g1(void **state) {
  (void)state;
  load(&robots[1]);
}

static void test_atlas(void **state) {
  (void)state;
  load(&robots[2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sr1),
      cmocka_unit_test(test_g1),
      cmocka_unit_test(test_atlas),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
