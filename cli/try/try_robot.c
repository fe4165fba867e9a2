/* try_robot.c - loads a robot, and once more if its base turns out to be fixed. */
#include "try/try_robot.h"

#include "common/input.h"
#include "try/try_base.h"

#include <string.h>

const char *tbi_try_format(const char *path) {
  static const char *const format[][2] = {
      {"<mujoco", "mjcf"    },
      {"<sdf",    "sdf"     },
      {"<robot",  "urdf"    },
      {"#VRML",   "openhrp3"}
  };
  char text[8192];
  tabi_error err;
  FILE *file = tbi_input_open(path, &err);
  if (!file) return "other";
  size_t size = fread(text, 1, sizeof text - 1, file);
  (void)fclose(file);
  text[size] = '\0';
  for (size_t i = 0; i < sizeof format / sizeof *format; ++i) {
    if (strstr(text, format[i][0])) return format[i][1];
  }
  return "other";
}

/* Whether it can move; an exit code. */
static int check_dynamics(const tabi_model *model) {
  tabi_error err = {0};
  tabi_dynamics *d = tabi_dynamics_create(model, &err);
  int code = d ? TBI_EXIT_OK : tbi_print_error(&err);
  tabi_dynamics_destroy(d);
  return code;
}

static tabi_model *open_model(const char *path, tabi_base base, const tbi_args *args,
                              tbi_findings *findings, int *code) {
  tabi_load_def def = tbi_args_load_def(args);
  def.base = base;
  tabi_model *model = tbi_model_open(path, &def, findings, code);
  if (!model) return NULL;
  (void)tabi_model_check(model, tbi_findings_add, findings);
  *code = check_dynamics(model);
  if (*code == TBI_EXIT_OK) return model;
  tabi_model_destroy(model);
  return NULL;
}

/* URDF and SDF files may say nothing of it; others do. */
static bool says_base(const char *path, tabi_base base, const tabi_model *model) {
  const char *format = tbi_try_format(path);
  bool silent = strcmp(format, "urdf") == 0 || strcmp(format, "sdf") == 0;
  return base != TABI_BASE_AS_FILE || !silent || !tbi_try_base_is_open(model);
}

tabi_model *tbi_try_robot_open(const char *path, tbi_try_scene *scene, const tbi_args *args,
                               tbi_findings *findings, int *code) {
  tbi_try_base base = {0};
  scene->base_why = scene->base == TABI_BASE_AS_FILE ? "as the file says" : "as asked";
  tabi_model *model = open_model(path, scene->base, args, findings, code);
  if (!model || says_base(path, scene->base, model)) return model;
  bool good = tbi_try_base_decide(model, &base);
  if (!good) *code = tbi_out_of_memory();
  if (good) scene->base_why = base.why;
  if (good && base.free) return model;
  tabi_model_destroy(model);
  if (!good) return NULL;
  tbi_findings_free(findings);
  *findings = (tbi_findings){0};
  scene->base = TABI_BASE_FIXED;
  return open_model(path, scene->base, args, findings, code);
}
