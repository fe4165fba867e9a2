/* robot.c - load, build, compute. */
#include "robot.h"

#include "tabi/tabi_io.h"

#include <stdlib.h>
#include <string.h>

#define MAX_NV 200 /* larger models only cost time */

static void ignore(void *user, const tabi_error *warning) {
  (void)user;
  // a message is one line
  if (strchr(warning->message, '\n')) abort();
}

static void compute(const tabi_model *model) {
  int32_t nq = tabi_model_nq(model);
  int32_t nv = tabi_model_nv(model);
  if (nv > MAX_NV) return;
  tabi_error error = {0};
  tabi_dynamics *dynamics = tabi_dynamics_create(model, &error);
  if (!dynamics) {
    // nothing heavy resists some joint: refused, and said so
    if (error.status != TABI_ERR_MODEL || error.message[0] == '\0') abort();
    return;
  }
  double *q = calloc((size_t)nq + 1, sizeof *q);
  double *v = calloc((size_t)nv + 1, sizeof *v);
  if (!q || !v) abort();
  tabi_model_initial_q(model, q);
  tabi_dynamics_set_state(dynamics, q, v);
  tabi_dynamics_inverse(dynamics, NULL, v);
  tabi_model_check(model, ignore, NULL);
  free(q);
  free(v);
  tabi_dynamics_destroy(dynamics);
}

void fuzz_robot(const uint8_t *data, size_t size, const char *path) {
  tabi_error error = {0};
  tabi_load_def def = tabi_load_def_default();
  def.warn = ignore;
  tabi_builder *builder = tabi_builder_create();
  if (!builder) abort();
  tabi_status status =
      tabi_builder_load_text(builder, (const char *)data, size, path, &def, &error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, &error) : NULL;
  if (model) {
    compute(model);
  } else if (error.status == TABI_OK || error.message[0] == '\0' || strchr(error.message, '\n')) {
    abort();
  }
  tabi_model_destroy(model);
  tabi_builder_destroy(builder);
}
