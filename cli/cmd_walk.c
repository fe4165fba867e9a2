/* cmd_walk.c - `tabi walk`: finds the legs of a robot and lets it walk.
 *
 * The robot becomes a scene (walk/walk_scene.h) with a controller `walk`, which is run as any
 * other.
 */
#include "common/cli.h"
#include "common/output.h"
#include "common/scene_options.h"
#include "try/try_robot.h"
#include "view/find_file.h"
#include "view/show.h"
#include "walk/walk_pushes.h"
#include "walk/walk_run.h"
#include "walk/walk_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  STEPS,
  STRIDE,
  TURN,
  SPEED,
  FRONT,
  STABILISE,
  PUSH,
  PUSHES,
  CONTACT,
  VIEW,
  HTML,
  SCENE,
  JSON
};
#define DEGREE 0.017453292519943295

typedef struct walk {
  const tbi_args *args;
  char path[TBI_FIND_PATH]; /* of the robot */
  tbi_walk_wish wish;
  tbi_walk_scene scene;
  tbi_walk_run run;
  tbi_walk_pushes pushes;
  tbi_findings findings;
} walk;

/* -- arguments */

static bool read_number(const char *option, const char *text, double *value) {
  if (!text) return true;
  char *end = NULL;
  double number = strtod(text, &end);
  if (end != text && *end == '\0' && isfinite(number)) {
    *value = number;
    return true;
  }
  tbi_usage_error("walk", "%s needs a number, not '%s'", option, text);
  return false;
}

static bool read_steps(const char *text, int32_t *steps) {
  double number = 10;
  if (!read_number("--steps", text, &number)) return false;
  if (number >= 0 && number <= 10000 && number == floor(number)) {
    *steps = (int32_t)number;
    return true;
  }
  tbi_usage_error("walk", "--steps needs a whole number from 0 to 10000, not '%s'", text);
  return false;
}

static bool read_push(const char *text, tbi_walk_wish *wish) {
  if (!text) return true;
  wish->pushed = true;
  if (tbi_walk_push_read(text, &wish->push)) return true;
  tbi_usage_error("walk", "--push needs N s, degrees from the front and s, as 10,90,2; not '%s'",
                  text);
  return false;
}

static bool check_front(const char *word) {
  if (!word || strcmp(word, "x") == 0 || strcmp(word, "-x") == 0 || strcmp(word, "y") == 0 ||
      strcmp(word, "-y") == 0)
    return true;
  tbi_usage_error("walk", "--front must be x, -x, y or -y, not '%s'", word);
  return false;
}

static bool read_options(walk *w) {
  const char *const *value = w->args->value;
  const tbi_file_use use[] = {
      {NULL,       w->path,       false},
      {"--pushes", value[PUSHES], false},
      {"--html",   value[HTML],   true },
      {"--scene",  value[SCENE],  true },
  };
  tbi_walk_wish *wish = &w->wish;
  *wish = (tbi_walk_wish){.stride = NAN,
                          .turn = NAN,
                          .speed = NAN,
                          .front = value[FRONT],
                          .contact = value[CONTACT] ? value[CONTACT] : "cone",
                          .sensors = value[STABILISE] != NULL};
  bool good = read_steps(value[STEPS], &wish->steps) &&
              read_number("--stride", value[STRIDE], &wish->stride) &&
              read_number("--turn", value[TURN], &wish->turn) &&
              read_number("--speed", value[SPEED], &wish->speed) && read_push(value[PUSH], wish) &&
              check_front(wish->front) &&
              tbi_check_name("walk", "contact method", wish->contact, &tbi_contact_names) &&
              tbi_check_files("walk", use, 4);
  wish->turn *= DEGREE;
  if (good && strcmp(wish->contact, "gait") == 0) {
    tbi_usage_error("walk", "gait is for planar bipeds in scenes of their own");
    return false;
  }
  if (good && value[PUSHES] && (wish->pushed || value[HTML] || value[VIEW])) {
    tbi_usage_error("walk", "--pushes runs many walks: leave out --push, --html and --view");
    return false;
  }
  return good;
}

/* -- results */

/* As in the robot's file: a scene puts "robot/" before. */
static const char *joint_name(const tabi_model *model, int32_t joint) {
  const char *name = joint == TABI_NONE ? NULL : tabi_model_joint(model, joint).name;
  if (!name) return "?";
  return strncmp(name, "robot/", 6) == 0 ? name + 6 : name;
}

static void print_result(const walk *w, const tabi_model *file, const tabi_model *model,
                         FILE *out) {
  const tbi_walk_run *r = &w->run;
  tbi_walk_scene_tell(&w->scene, file, out);
  (void)fprintf(out, "\n%s: %d of %d steps, %.2f m%s%s\n", w->wish.contact, (int)r->steps_done,
                (int)r->steps_planned, r->distance, r->fell ? ", FELL" : "",
                strcmp(r->status, "ok") == 0 ? "" : r->status);
  (void)fprintf(out,
                "  torque peak   %.4g N m of %.4g in %s; beyond a limit in %.2g %% of updates\n",
                r->peak, r->peak_limit, joint_name(model, r->peak_joint), 100 * r->saturated);
  if (r->fast_joint != TABI_NONE)
    (void)fprintf(out, "  velocity      limit of %s broken\n", joint_name(model, r->fast_joint));
  (void)fprintf(out, "  slip          %.2f mm max\n  ZMP error     %.1f mm max\n", 1e3 * r->slip,
                1e3 * r->zmp_error);
  (void)fprintf(out, "  speed         %.3g x real time\n", r->realtime);
  if (w->args->value[SCENE]) (void)fprintf(out, "\n  scene: tabi run %s\n", w->args->value[SCENE]);
}

static int32_t count_survived(const tbi_walk_pushes *pushes) {
  int32_t count = 0;
  for (int32_t i = 0; i < pushes->count; ++i)
    count += pushes->push[i].survived;
  return count;
}

static void print_pushes(const walk *w, FILE *out) {
  (void)fprintf(out, "survived %d of %d pushes\n", (int)count_survived(&w->pushes),
                (int)w->pushes.count);
}

static int print_pushes_json(const walk *w, FILE *out) {
  json_t *survived = json_array();
  int bad = 0;
  for (int32_t i = 0; i < w->pushes.count; ++i)
    bad |= json_array_append_new(survived, json_boolean(w->pushes.push[i].survived));
  json_t *o = json_pack("{so si so}", "robot", tbi_json_text(w->path), "pushes",
                        (int)w->pushes.count, "survived", survived);
  return tbi_json_print(out, bad ? NULL : o);
}

static json_t *leg_json(const tabi_model *model, const tabi_leg *leg) {
  json_t *joints = json_array();
  int bad = 0;
  for (int32_t i = 0; i < leg->njoint; ++i)
    bad |= json_array_append_new(joints, tbi_json_text(joint_name(model, leg->joint[i])));
  const double sole[2] = {leg->length, leg->width};
  json_t *o = json_pack("{so so so}", "joints", joints, "foot",
                        tbi_json_text(tabi_model_link(model, leg->foot).name), "sole",
                        tbi_json_numbers(sole, 2));
  if (!bad) return o;
  json_decref(o);
  return NULL;
}

static int print_json(const walk *w, const tabi_model *file, const tabi_model *model, FILE *out) {
  const tbi_walk_run *r = &w->run;
  const tabi_biped *b = &w->scene.biped;
  json_t *peak =
      json_pack("{so so so}", "joint", tbi_json_text(joint_name(model, r->peak_joint)), "value",
                tbi_json_number(r->peak), "limit", tbi_json_number(r->peak_limit));
  json_t *o = json_pack(
      "{so so s[oo] si si sb so ss so sb so so so so so so so so so so}", "robot",
      tbi_json_text(w->path), "front", tbi_json_numbers(b->front, 3), "legs",
      leg_json(file, &b->leg[0]), leg_json(file, &b->leg[1]), "steps_planned",
      (int)r->steps_planned, "steps_done", (int)r->steps_done, "fell", (int)r->fell, "distance",
      tbi_json_number(r->distance), "contact", w->wish.contact, "torque_peak", peak, "limits_kept",
      (int)r->limits_kept, "saturated", tbi_json_number(r->saturated), "slip_max",
      tbi_json_number(r->slip), "zmp_error_max", tbi_json_number(r->zmp_error), "realtime_factor",
      tbi_json_number(r->realtime), "knee_bend", tbi_json_number(b->leg[0].knee_bend), "spacing",
      tbi_json_number(b->spacing), "com_height", tbi_json_number(w->scene.limits.height), "mass",
      tbi_json_number(b->mass), "step_time", tbi_json_number(w->scene.limits.step_time), "warnings",
      tbi_json_findings(&w->findings));
  return tbi_json_print(out, o);
}

/* -- scenes */

static tabi_scene *load_scene(walk *w, int *code) {
  tbi_scene_settings settings = {0};
  tbi_findings found = {0};
  tabi_scene_def def = tbi_settings_scene_def(&settings, w->args, &found);
  const char *path = w->args->value[SCENE] ? w->args->value[SCENE] : "scene of tabi walk";
  tabi_error err = {0};
  tabi_scene *scene = tabi_scene_load_text(w->scene.text, w->scene.size, path, &def, &err);
  if (!scene) *code = tbi_print_error(&err);
  tbi_findings_free(&found);
  return scene;
}

static int write_scene(const walk *w, const char *path) {
  tbi_output output;
  if (!tbi_output_begin(&output, path, true)) return TBI_EXIT_INTERNAL;
  tbi_output_put(&output, w->scene.text, w->scene.size);
  return tbi_output_end(&output, true) ? TBI_EXIT_OK : TBI_EXIT_INTERNAL;
}

static int push_all(walk *w, tabi_scene *scene, const tabi_biped *biped, FILE *out) {
  int code = tbi_walk_pushes_run(&w->pushes, scene, biped);
  if (code != TBI_EXIT_OK) return code;
  if (w->args->value[JSON]) {
    code = print_pushes_json(w, out);
  } else {
    print_pushes(w, out);
  }
  bool good = count_survived(&w->pushes) == w->pushes.count;
  return code == TBI_EXIT_OK && !good ? TBI_EXIT_CHECK : code;
}

static int walk_model(walk *w, const tabi_model *model, FILE *out) {
  int code = TBI_EXIT_OK;
  if (!tbi_walk_scene_make(&w->scene, model, &w->wish, &code)) return code;
  if (w->args->value[SCENE]) code = write_scene(w, w->args->value[SCENE]);
  tabi_scene *scene = code == TBI_EXIT_OK ? load_scene(w, &code) : NULL;
  if (!scene) return code;
  tbi_print_warnings(&w->findings, w->args);
  if (w->args->value[VIEW]) return tbi_show_scene(scene, w->path, &(tbi_show_options){0});
  /* joints of the scene have the numbers of the robot's file, behind those of bodies */
  tabi_scene_robot robot = tabi_scene_get_robot(scene, 0);
  tabi_biped found = w->scene.biped;
  double *q = calloc((size_t)tabi_model_nq(tabi_scene_model(scene)) + 1, sizeof *q);
  if (q) {
    tabi_model_initial_q(tabi_scene_model(scene), q);
    (void)tabi_biped_find(tabi_scene_model(scene), robot.moving, q, w->scene.biped.front, &found,
                          NULL);
  }
  free(q);
  if (w->args->value[PUSHES]) {
    code = push_all(w, scene, &found, out);
    tabi_scene_destroy(scene);
    return code;
  }
  code = tbi_walk_run_scene(scene, &found, w->wish.steps, w->args->value[HTML], &w->run);
  if (code == TBI_EXIT_OK) {
    if (w->args->value[JSON]) {
      code = print_json(w, model, tabi_scene_model(scene), out);
    } else {
      print_result(w, model, tabi_scene_model(scene), out);
    }
  }
  tabi_scene_destroy(scene);
  bool good = !w->run.fell && w->run.limits_kept && w->run.steps_done >= w->run.steps_planned;
  return code == TBI_EXIT_OK && !good ? TBI_EXIT_CHECK : code;
}

static int run_command(const tbi_args *args, FILE *out) {
  walk w = {.args = args};
  if (!tbi_find_file(args->word[0], w.path)) return TBI_EXIT_INPUT;
  if (!read_options(&w)) return TBI_EXIT_USAGE;
  char *absolute = realpath(w.path, NULL);
  if (!absolute) return tbi_out_of_memory();
  w.scene.model_path = absolute;
  int code = TBI_EXIT_OK;
  const char *pushes = args->value[PUSHES];
  tbi_try_scene base = {.command = "walk", .base = TABI_BASE_FREE};
  tabi_model *model = tbi_try_robot_open(w.path, &base, args, &w.findings, &code);
  if (model && (!pushes || tbi_walk_pushes_load(&w.pushes, pushes, &code)))
    code = walk_model(&w, model, out);
  tabi_model_destroy(model);
  tbi_findings_free(&w.findings);
  free(w.scene.text);
  free(w.pushes.push);
  free(absolute);
  return code;
}

const tbi_command tbi_cmd_walk = {
    .name = "walk",
    .usage =
        "walk ROBOT [--steps N] [--stride M] [--turn DEG] [--speed V] [--front AXIS]\n"
        "                 [--stabilise] [--push NS,DEG,T] [--pushes F] [--contact NAME] [--view]\n"
        "                 [--html F] [--scene F] [--json]",
    .summary = "let a robot with two legs walk",
    .text =
        "Finds the legs of a robot (5 to 7 hinges each, in any order), its soles and its front,\n"
        "bends its knees and lets it walk: ten steps of a fifth of its leg, unless asked\n"
        "otherwise.  Length, height and time of steps follow from its size.  Legs are driven by\n"
        "the robot's own actuators, or by torques within its effort limits; all other joints keep\n"
        "their posture.  It says what it found, and where a robot cannot walk, why.\n"
        "\n"
        "Steps are placed by the divergent component of motion (docs/balance.md), so that a push\n"
        "is answered by steps.  The controller knows the state of the robot; with --stabilise "
        "only\n"
        "encoders, a gyro, an accelerometer and force sensors above the feet, noisy and 2 ms "
        "late.\n"
        "\n"
        "--pushes tells how many pushes of a file the robot survives, one on each line: it walks\n"
        "once, is pushed anew from the start of each, and must be up ten step times later.\n"
        "\n"
        "--scene writes the scene that was made, to go on from: tabi run F, tabi view F.\n"
        "Exits with 0 if all steps were made, with 5 if the robot fell or broke a limit of\n"
        "velocity, with 3 if it is no biped.\n"
        "\n"
        "examples:\n"
        "  tabi walk models/humanoid36.urdf\n"
        "  tabi walk robot.xml --steps 20 --stride 0.15 --turn 90 --html walk.html\n"
        "  tabi walk robot.urdf --stabilise --push 10,90,2\n",
    .nword = 1,
    .word = "ROBOT",
    .options =
        {
                  [STEPS] = {"--steps", "N", "how many steps; default: 10", false, NULL},
                  [STRIDE] = {"--stride", "M", "length of a step in m; default: 0.2 of the leg", false,
                        NULL},
                  [TURN] = {"--turn", "DEG", "turn to the left, over all steps, in degrees", false, NULL},
                  [SPEED] = {"--speed", "V", "speed forward in m/s, instead of --stride", false, NULL},
                  [FRONT] = {"--front", "AXIS", "x, -x, y or -y; default: found", false, NULL},
                  [STABILISE] = {"--stabilise", NULL, "know the state by noisy and late sensors only",
                           false, NULL},
                  [PUSH] = {"--push", "NS,DEG,T", "push of N s, at degrees from the front, after T s",
                      false, NULL},
                  [PUSHES] = {"--pushes", "F", "many pushes, one on each line as for --push", false,
                        NULL},
                  [CONTACT] = {"--contact", "NAME", "contact method; default: cone; out of", false,
                         &tbi_contact_names},
                  [VIEW] = {"--view", NULL, "show it in the browser instead, as tabi view does", false,
                      NULL},
                  [HTML] = {"--html", "F", "write the replay to one HTML file", false, NULL},
                  [SCENE] = {"--scene", "F", "write the scene, in YAML", false, NULL},
                  [JSON] = {"--json", NULL, "print one JSON object", false, NULL},
                  },
    .loads = true,
    .tells = true,
    .run = run_command,
};
