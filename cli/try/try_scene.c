/* try_scene.c - a robot on a floor, at a keyframe, held by its motors or by gains made for it. */
#include "try/try_scene.h"

#include "common/extent.h"
#include "try/try_gains.h"
#include "try/try_posture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct start {
  double *said, *q, *v; /* [nq] as the file says, and where it starts; [nv] */
  tbi_try_gain *gain;   /* [njoint] */
  bool closed;          /* connections that the keyframe leaves open */
} start;

/* Whether a model brings ground of its own. */
bool tbi_try_has_ground(const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    bool stands = shape.link == TABI_WORLD || tabi_model_link_body(model, shape.link) == TABI_WORLD;
    bool ground = shape.type == TABI_SHAPE_PLANE || shape.type == TABI_SHAPE_TRIANGLES ||
                  shape.type == TABI_SHAPE_HEIGHTFIELD;
    if (stands && ground && shape.collides) return true;
  }
  return false;
}

/* Whether some joint of a limb is a spring. */
static bool has_springs(const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i)
    if (tabi_model_joint(model, i).stiffness > 0) return true;
  return false;
}

/* As YAML, between quotation marks. */
void tbi_try_write_text(FILE *out, const char *text) {
  (void)fputc('"', out);
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') (void)fputc('\\', out);
    (void)fputc(*text, out);
  }
  (void)fputc('"', out);
}

/* Keyframes in which robots stand, by their usual names. */
static const char *const standing[] = {"home", "stand", "standing", "init", "default", "zero"};

static const char *keyframe_name(const tabi_model *model, int32_t i) {
  return tabi_model_posture(model, i, NULL, NULL);
}

static int32_t find_keyframe(const tabi_model *model, const char *name) {
  for (int32_t i = 0; i < tabi_model_nposture(model); ++i) {
    const char *known = keyframe_name(model, i);
    if (known && strcmp(known, name) == 0) return i;
  }
  return TABI_NONE;
}

static int32_t usual_keyframe(const tabi_model *model) {
  for (size_t i = 0; i < sizeof standing / sizeof *standing; ++i) {
    int32_t found = find_keyframe(model, standing[i]);
    if (found != TABI_NONE) return found;
  }
  return tabi_model_nposture(model) == 1 ? 0 : TABI_NONE;
}

static int fail_keyframe(const tbi_try_scene *s, const tabi_model *model) {
  char list[300] = "none";
  size_t used = 0;
  for (int32_t i = 0; i < tabi_model_nposture(model) && used < sizeof list; ++i) {
    int n = snprintf(list + used, sizeof list - used, "%s%.60s", used > 0 ? ", " : "",
                     keyframe_name(model, i));
    used += n > 0 ? (size_t)n : 0;
  }
  return tbi_usage_error(s->command, "no keyframe is called '%s'; its file has: %s", s->keyframe,
                         list);
}

static void write_gains(FILE *out, const tabi_model *model, const tbi_try_gain *gain) {
  (void)fputs("    controller:\n      type: pd\n      kp: 0\n      implicit: true\n", out);
  bool first = true;
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    const char *name = tabi_model_joint(model, i).name;
    if (gain[i].kp <= 0 || !name) continue;
    (void)fputs(first ? "      joints:\n        " : "        ", out);
    tbi_try_write_text(out, name);
    (void)fprintf(out, ": {kp: %.4g, kd: %.4g}\n", gain[i].kp, gain[i].kd);
    first = false;
  }
}

/* Limits of motors for which the servos stand. */
static void write_efforts(FILE *out, const tabi_model *model, const tbi_try_gain *gain) {
  const char *before = "    joints: # limits of its motors\n      ";
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_joint_def joint = tabi_model_joint(model, i);
    double limit = tbi_try_motor_limit(model, i);
    if (gain[i].kp <= 0 || !joint.name || !(limit < joint.effort)) continue;
    (void)fputs(before, out);
    tbi_try_write_text(out, joint.name);
    (void)fprintf(out, ": {effort: %.17g}\n", limit);
    before = "      ";
  }
}

/* Joints that start elsewhere than the file says. */
static void write_posture(FILE *out, const tabi_model *model, const start *at) {
  const char *before = "\n    posture: # the file's breaks limits or connections\n      ";
  for (int32_t i = 0; i < tabi_model_njoint(model); ++i) {
    tabi_range range = tabi_model_joint_q(model, i);
    const char *name = tabi_model_joint(model, i).name;
    if (range.count != 1 || !name || at->q[range.first] == at->said[range.first]) continue;
    (void)fputs(before, out);
    tbi_try_write_text(out, name);
    (void)fprintf(out, ": %.17g", at->q[range.first]);
    before = "\n      ";
  }
}

/* Under a base that is fixed the floor is at its lowest point. */
static void write_floor(FILE *out, const tbi_try_scene *s, const tabi_model *model,
                        const tabi_dynamics *d) {
  tbi_extent extent = tbi_extent_of(model, d);
  double low = extent.empty || s->floats ? 0 : extent.lower[2];
  (void)fprintf(
      out, "bodies:\n  - {name: floor, fixed: true, shape: {plane: {}}, xyz: [0, 0, %.6g]}\n", low);
}

/* Whether anything of it collides; otherwise no ground can be found below it. */
static bool touches(const tabi_model *model) {
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    bool moves = shape.link != TABI_WORLD && tabi_model_link_body(model, shape.link) != TABI_WORLD;
    if (moves && shape.collides) return true;
  }
  return false;
}

/* The name of the file; with that of its folder where many files have the same. */
static const char *title_of(const char *path) {
  static const char *const common[] = {"scene", "model", "robot"};
  const char *file = strrchr(path, '/');
  if (!file) return path;
  bool known = false;
  for (size_t i = 0; i < sizeof common / sizeof *common; ++i)
    known = known || strncmp(file + 1, common[i], strlen(common[i])) == 0;
  const char *folder = file;
  while (known && folder > path && folder[-1] != '/')
    --folder;
  return known ? folder : file + 1;
}

static void write_scene(FILE *out, const tbi_try_scene *s, const tabi_model *model,
                        const tabi_dynamics *d, const start *at) {
  (void)fputs("# made by tabi try; change it as you like, and run it: tabi run FILE\nname: ", out);
  tbi_try_write_text(out, title_of(s->model_path));
  (void)fprintf(out, "\nduration: %s\ncontact: {model: %s}\n", s->duration, s->contact);
  if (!tbi_try_has_ground(model)) write_floor(out, s, model, d);
  (void)fputs("robots:\n  - name: robot\n    model: ", out);
  tbi_try_write_text(out, s->model_path);
  if (s->base != TABI_BASE_AS_FILE)
    (void)fprintf(out, "\n    base: %s", s->base == TABI_BASE_FREE ? "free" : "fixed");
  if (s->keyframe && !at->closed) {
    (void)fputs("\n    posture: ", out);
    tbi_try_write_text(out, s->keyframe);
  } else {
    write_posture(out, model, at);
  }
  bool placed = s->floats && touches(model);
  (void)fputs(placed ? "\n    place: ground\n" : "\n", out);
  if (placed && has_springs(model))
    (void)fputs("    settle: 2 # s, so that its weight does not fall on its springs\n", out);
  write_efforts(out, model, at->gain);
  write_gains(out, model, at->gain);
}

static bool write_all(tbi_try_scene *s, const tabi_model *model, const start *at) {
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  FILE *out =
      d && tbi_try_gains(model, at->q, at->gain) ? open_memstream(&s->text, &s->size) : NULL;
  if (out) {
    tabi_dynamics_set_state(d, at->q, at->v);
    write_scene(out, s, model, d, at);
  }
  bool good = out && fclose(out) == 0;
  tabi_dynamics_destroy(d);
  return good;
}

static bool allocate(start *at, const tabi_model *model) {
  size_t nq = (size_t)tabi_model_nq(model) + 1;
  at->said = calloc(nq, sizeof *at->said);
  at->q = calloc(nq, sizeof *at->q);
  at->v = calloc((size_t)tabi_model_nv(model) + 1, sizeof *at->v);
  at->gain = calloc((size_t)tabi_model_njoint(model) + 1, sizeof *at->gain);
  return at->said && at->q && at->v && at->gain;
}

bool tbi_try_scene_make(tbi_try_scene *s, const tabi_model *model, int *code) {
  int32_t keyframe = s->keyframe ? find_keyframe(model, s->keyframe) : usual_keyframe(model);
  if (s->keyframe && keyframe == TABI_NONE) {
    *code = fail_keyframe(s, model);
    return false;
  }
  start at = {0};
  bool good = allocate(&at, model);
  if (good) {
    tabi_model_initial_q(model, at.said);
    if (keyframe != TABI_NONE) s->keyframe = tabi_model_posture(model, keyframe, at.said, NULL);
    s->floats = tbi_base_joint(model) != TABI_NONE;
    // a base that floats would lose the place that the keyframe gives it
    at.closed = tbi_try_posture(model, keyframe, at.q, &s->open) && !s->floats;
    if (at.closed) tabi_model_initial_q(model, at.said);
    for (int32_t i = 0; i < tabi_model_njoint(model); ++i)
      s->own_gains = s->own_gains || tbi_try_holds(model, i);
    good = write_all(s, model, &at);
  }
  free(at.said);
  free(at.q);
  free(at.v);
  free(at.gain);
  if (!good) *code = tbi_out_of_memory();
  return good;
}
