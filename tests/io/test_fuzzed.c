/* test_fuzzed.c - inputs that a fuzzer once brought down; any answer will do, but an answer. */
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <string.h>

static void try_text(const char *text, const char *path) {
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_error error = {0};
  tabi_status status = tabi_builder_load_text(builder, text, strlen(text), path, NULL, &error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, &error) : NULL;
  if (!model) assert_int_not_equal(error.status, TABI_OK);
  tabi_model_destroy(model);
  tabi_builder_destroy(builder);
}

static void test_mjcf(void **state) {
  (void)state;
  static const char *const texts[] = {
      // a body to be weighed by its geoms in a file without geoms
      "<mujoco><worldbody><body name='a'><freejoint/></body></worldbody></mujoco>",
  };
  for (size_t i = 0; i < sizeof texts / sizeof *texts; ++i)
    try_text(texts[i], "/no/x.xml");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_mjcf)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
