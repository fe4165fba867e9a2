/* walk_scene.c - see walk_scene.h.
 *
 * Steps of a fifth of the leg's length in the time that suits the robot's height, unless asked
 * otherwise. */
#include "walk/walk_scene.h"

#include "try/try_posture.h"
#include "try/try_scene.h"
#include "walk/walk_pushes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE       0.2 /* of the leg's length */
#define STAND_BEFORE 0.5 /* s */
#define STAND_AFTER  2.0

static const char *name_of_link(const tabi_model *model, int32_t link) {
  const char *name = tabi_model_link(model, link).name;
  return name ? name : "?";
}

static const char *name_of_joint(const tabi_model *model, int32_t joint) {
  const char *name = tabi_model_joint(model, joint).name;
  return name ? name : "?";
}

/* -- finding */

static const double *front_of(const char *word, double front[3]) {
  if (!word) return NULL;
  double sign = word[0] == '-' ? -1 : 1;
  char axis = word[strlen(word) - 1];
  front[0] = axis == 'x' ? sign : 0;
  front[1] = axis == 'y' ? sign : 0;
  front[2] = 0;
  return front;
}

/* In the initial posture, else in a keyframe. */
static tabi_status find(tbi_walk_scene *s, const tabi_model *model, const tbi_walk_wish *wish,
                        double *q, tabi_error *err) {
  double axis[3];
  const double *front = front_of(wish->front, axis);
  (void)tbi_try_posture(model, TABI_NONE, q, NULL);
  tabi_status status = tabi_biped_find(model, TABI_NONE, q, front, &s->biped, err);
  if (status == TABI_OK) status = tabi_biped_stand(model, &s->biped, 0, 0, q, err);
  return status;
}

static tabi_status measure(tbi_walk_scene *s, const tabi_model *model, const double *q,
                           tabi_error *err) {
  tabi_stepper_def def = tabi_stepper_def_default();
  def.biped = &s->biped;
  def.posture = q;
  tabi_stepper *stepper = tabi_stepper_create(model, &def, err);
  if (!stepper) return err->status;
  s->limits = tabi_stepper_get_limits(stepper);
  tabi_stepper_destroy(stepper);
  for (int32_t i = 0; i < tabi_model_nactuator(model); ++i)
    s->own_actuators =
        s->own_actuators || tabi_model_actuator(model, i).joint == s->biped.leg[0].joint[0];
  return TABI_OK;
}

static void choose_velocity(tbi_walk_scene *s, const tbi_walk_wish *wish) {
  double t = s->limits.step_time;
  double stride = isnan(wish->stride) ? STRIDE * s->biped.leg[0].reach : wish->stride;
  s->velocity[0] = isnan(wish->speed) ? stride / t : wish->speed;
  s->velocity[1] = 0;
  s->velocity[2] = isnan(wish->turn) || wish->steps == 0 ? 0 : wish->turn / (t * wish->steps);
  s->duration = ceil(STAND_BEFORE + 1.3 * t * (wish->steps + 2) + STAND_AFTER);
}

/* -- writing */

/* Mounts that are neither sprung nor driven would be loose. */
static void write_locks(FILE *out, const tbi_walk_scene *s, const tabi_model *model) {
  const char *before = "    lock: [";
  for (int side = 0; side < 2; ++side) {
    const tabi_leg *leg = &s->biped.leg[side];
    for (int32_t i = 0; i < leg->nsoft; ++i) {
      if (tabi_model_joint(model, leg->soft[i]).stiffness > 0) continue;
      (void)fputs(before, out);
      tbi_try_write_text(out, name_of_joint(model, leg->soft[i]));
      before = ", ";
    }
  }
  if (before[0] == ',') (void)fputs("]\n", out);
}

static void write_push(FILE *out, const tbi_walk_scene *s, const tabi_model *model,
                       const tbi_walk_wish *wish) {
  const tbi_walk_push *push = &wish->push;
  double at[3];
  tbi_walk_chest(&s->biped, s->limits.height, at);
  double angle = push->angle + atan2(s->biped.front[1], s->biped.front[0]);
  (void)fputs("forces: # a push\n  - {body: ", out);
  char body[300];
  (void)snprintf(body, sizeof body, "robot/%s", name_of_link(model, s->biped.waist));
  tbi_try_write_text(out, body);
  (void)fprintf(out, ", impulse: [%.6g, %.6g, 0], at: [%.4g, %.4g, %.4g], from: %.6g, to: %.6g}\n",
                push->impulse * cos(angle), push->impulse * sin(angle), at[0], at[1], at[2],
                push->start, push->start + TBI_PUSH_TIME);
}

static void write_controller(FILE *out, const tbi_walk_scene *s, const tbi_walk_wish *wish) {
  (void)fprintf(out, "    controller:\n      type: walk\n      velocity: [%.4g, %.4g, %.4g]\n",
                s->velocity[0], s->velocity[1], s->velocity[2]);
  (void)fprintf(out, "      steps: %d\n      stand_before: %g\n", (int)wish->steps, STAND_BEFORE);
  if (wish->front) (void)fprintf(out, "      front: %s\n", wish->front);
  if (wish->sensors) {
    (void)fputs("      sensors: {encoder: 1e-4, gyro: 0.01, accelerometer: 0.2, force: 2, "
                "torque: 0.2, delay: 2e-3}\n",
                out);
  }
}

static void write_scene(FILE *out, const tbi_walk_scene *s, const tabi_model *model,
                        const tbi_walk_wish *wish) {
  const char *slash = strrchr(s->model_path, '/');
  (void)fputs("# made by tabi walk; change it as you like, and run it: tabi run FILE\nname: ", out);
  tbi_try_write_text(out, slash ? slash + 1 : s->model_path);
  (void)fprintf(out, "\nduration: %g\ncontact: {model: %s}\n", s->duration, wish->contact);
  (void)fputs("materials:\n  ground: {friction: 0.8}\n", out);
  if (!tbi_try_has_ground(model)) {
    (void)fputs("bodies:\n  - {name: floor, fixed: true, shape: {plane: {}}, material: ground}\n",
                out);
  }
  if (wish->pushed) write_push(out, s, model, wish);
  (void)fputs("robots:\n  - name: robot\n    model: ", out);
  tbi_try_write_text(out, s->model_path);
  (void)fputs("\n    base: free\n", out);
  write_locks(out, s, model);
  write_controller(out, s, wish);
}

bool tbi_walk_scene_make(tbi_walk_scene *scene, const tabi_model *model, const tbi_walk_wish *wish,
                         int *code) {
  tabi_error err = {0};
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  if (!q) {
    *code = tbi_out_of_memory();
    return false;
  }
  tabi_status status = find(scene, model, wish, q, &err);
  if (status == TABI_OK) status = measure(scene, model, q, &err);
  free(q);
  if (status != TABI_OK) {
    if (err.file[0] == '\0') (void)snprintf(err.file, sizeof err.file, "%s", scene->model_path);
    *code = tbi_print_error(&err);
    return false;
  }
  choose_velocity(scene, wish);
  FILE *out = open_memstream(&scene->text, &scene->size);
  if (out) write_scene(out, scene, model, wish);
  if (out && fclose(out) == 0) return true;
  *code = tbi_out_of_memory();
  return false;
}

void tbi_walk_scene_tell(const tbi_walk_scene *scene, const tabi_model *model, FILE *out) {
  const tabi_biped *b = &scene->biped;
  (void)fprintf(out, "%.4g kg, %d degrees of freedom; legs of %d joints from '%s'\n", b->mass,
                (int)tabi_model_nv(model), (int)b->leg[0].njoint, name_of_link(model, b->waist));
  (void)fprintf(out, "front is [%.3g, %.3g, 0]: %s\n", b->front[0], b->front[1], b->front_why);
  (void)fprintf(out, "soles: '%s' and '%s', %.0f x %.0f mm, %.0f mm apart\n",
                name_of_link(model, b->leg[0].foot), name_of_link(model, b->leg[1].foot),
                1e3 * b->leg[0].length, 1e3 * b->leg[0].width, 1e3 * b->spacing);
  (void)fprintf(out, "knees bent by %.2f rad, CoM at %.3f m; a step takes %.3f s, %.0f mm high\n",
                b->leg[0].knee_bend, scene->limits.height, scene->limits.step_time,
                1e3 * scene->limits.lift);
  (void)fprintf(out, "legs driven by %s\n",
                scene->own_actuators ? "its own actuators" : "torques within the effort limits");
}
