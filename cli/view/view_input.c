/* view_input.c - recognises files by their first bytes, and makes a scene for a model alone.
 *
 * A robot whose base is free is put with its lowest point at the height of the floor; under one
 * that hangs in the world the floor is put there.  A model with ground of its own gets none. */
#include "view/view_input.h"

#include "common/extent.h"
#include "common/input.h"

#include <stdlib.h>
#include <string.h>

bool tbi_view_input_kind_of(const char *path, tbi_view_input_kind *kind) {
  tabi_error err;
  FILE *file = tbi_input_open(path, &err);
  if (!file) {
    (void)tbi_print_error(&err);
    return false;
  }
  (void)fclose(file);
  tbi_input_kind found = tbi_input_kind_of(path);
  *kind = TBI_VIEW_INPUT_SCENE;
  bool is_model = found == TBI_INPUT_MODEL && !tabi_scene_recognise(path);
  if (is_model) *kind = TBI_VIEW_INPUT_MODEL;
  if (found == TBI_INPUT_LOG) *kind = TBI_VIEW_INPUT_LOG;
  return true;
}

/* -- a scene for a model */

bool tbi_view_input_has_ground(const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    bool stands = shape.link == TABI_WORLD || tabi_model_link_body(model, shape.link) == TABI_WORLD;
    bool ground = shape.type == TABI_SHAPE_PLANE || shape.type == TABI_SHAPE_TRIANGLES ||
                  shape.type == TABI_SHAPE_HEIGHTFIELD;
    if (stands && ground && shape.collides) return true;
  }
  return false;
}

void tbi_view_input_write_text(FILE *out, const char *text) {
  (void)fputc('"', out);
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') (void)fputc('\\', out);
    (void)fputc(*text, out);
  }
  (void)fputc('"', out);
}

static void write_place(FILE *out, const tabi_dynamics *d, int32_t base, double lift) {
  double pos[3];
  double quat[4];
  tabi_dynamics_link_pose(d, base, pos, quat);
  (void)fprintf(out, ", base: free, xyz: [%.17g, %.17g, %.17g], quat: [%.17g, %.17g, %.17g, %.17g]",
                pos[0], pos[1], pos[2] + lift, quat[0], quat[1], quat[2], quat[3]);
}

static void write_scene(FILE *out, const tabi_model *model, const tabi_dynamics *d,
                        const char *file) {
  tbi_extent extent = tbi_extent_of(model, d);
  double low = extent.empty ? 0 : extent.lower[2];
  int32_t joint = tbi_base_joint(model);
  bool ground = tbi_view_input_has_ground(model);
  bool lifts = joint != TABI_NONE && !ground;
  (void)fputs("name: ", out);
  tbi_view_input_write_text(out, file);
  if (!ground) {
    (void)fprintf(out, "\nbodies:\n  - {name: floor, fixed: true, shape: {plane: {}}, ");
    (void)fprintf(out, "xyz: [0, 0, %.17g]}", lifts ? 0 : low);
  }
  (void)fputs("\nrobots:\n  - {name: robot, model: ", out);
  tbi_view_input_write_text(out, file);
  if (lifts) write_place(out, d, tabi_model_joint(model, joint).child, -low);
  (void)fputs("}\n", out);
}

/* NULL after an error, which says why. */
static char *scene_text(const char *path, const tabi_model *model, size_t *size, tabi_error *err) {
  char *text = NULL;
  tbi_fail(err, TABI_ERR_MEMORY, (tabi_place){NULL, 0}, "out of memory");
  tabi_dynamics *d = tabi_dynamics_create(model, err);
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  double *v = calloc((size_t)tabi_model_nv(model) + 1, sizeof *v);
  FILE *out = open_memstream(&text, size);
  bool good = d && q && v && out;
  if (good) {
    tabi_model_initial_q(model, q);
    tabi_dynamics_set_state(d, q, v);
    const char *slash = strrchr(path, '/');
    write_scene(out, model, d, slash ? slash + 1 : path);
  }
  if (out && fclose(out) != 0) good = false;
  free(v);
  free(q);
  tabi_dynamics_destroy(d);
  if (good) return text;
  free(text);
  return NULL;
}

static tabi_scene *load_model(const char *path, const tabi_scene_def *def, int *code) {
  /* its warnings come when the scene is read */
  tabi_error err = {0};
  tabi_load_def how = tabi_load_def_default();
  how.strict = def->strict;
  tabi_model *model = tabi_model_load(path, &how, &err);
  if (!model) {
    *code = tbi_print_error(&err);
    return NULL;
  }
  size_t size = 0;
  char *text = scene_text(path, model, &size, &err);
  tabi_model_destroy(model);
  if (!text) {
    *code = tbi_print_error(&err);
    return NULL;
  }
  tabi_scene *scene = tabi_scene_load_text(text, size, path, def, &err);
  if (!scene) *code = tbi_print_error(&err);
  free(text);
  return scene;
}

tabi_scene *tbi_view_input_load(const char *path, tbi_view_input_kind kind,
                                const tabi_scene_def *def, int *code) {
  if (kind == TBI_VIEW_INPUT_MODEL) return load_model(path, def, code);
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load(path, def, &err);
  if (scene) return scene;
  tbi_input_explain(path, TBI_INPUT_SCENE, &err);
  *code = tbi_print_error(&err);
  return NULL;
}
