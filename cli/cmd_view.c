/* cmd_view.c - `tabi view`: a scene that runs while it is watched, or replays of logs, in the
 * browser or in one file. */
#include "common/cli.h"
#include "common/output.h"
#include "common/scene_options.h"
#include "view/find_file.h"
#include "view/show.h"
#include "view/view_input.h"

#include "html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTACT, DT, SET, KEYFRAME, PORT, NO_BROWSER, HTML };
enum { MAX_PORT = 65535 };

/* -- arguments */

static bool gather_settings(const tbi_args *args, tbi_scene_settings *settings) {
  if (!tbi_check_settings("view", args)) return false;
  tbi_settings_add_all(settings, args);
  return tbi_settings_add(settings, "view", "contact.model", args->value[CONTACT]) &&
         tbi_settings_add(settings, "view", "timestep", args->value[DT]);
}

static bool read_port(const char *text, int *port) {
  char *end = NULL;
  *port = 0;
  if (!text) return true;
  long number = strtol(text, &end, 10);
  if (end != text && *end == '\0' && number >= 0 && number <= MAX_PORT) {
    *port = (int)number;
    return true;
  }
  tbi_usage_error("view", "--port needs a number from 0 to %d, not '%s'", MAX_PORT, text);
  return false;
}

/* The files, and what they are; false and the exit code after an error was printed. */
static bool find_files(const tbi_args *args, char path[TBI_SHOW_LOGS][TBI_FIND_PATH],
                       tbi_view_input_kind *kind, int *code) {
  *code = TBI_EXIT_INPUT;
  for (int i = 0; i < args->nword; ++i) {
    tbi_view_input_kind found = TBI_VIEW_INPUT_SCENE;
    if (!tbi_find_file(args->word[i], path[i]) || !tbi_view_input_kind_of(path[i], &found))
      return false;
    *code = TBI_EXIT_USAGE;
    const tbi_file_use use[] = {
        {"--html", args->value[HTML], true },
        {NULL,     path[i],           false},
    };
    if (!tbi_check_files("view", use, 2)) return false;
    *code = TBI_EXIT_INPUT;
    if (i == 0) *kind = found;
    if (i == 0 || (found == TBI_VIEW_INPUT_LOG && *kind == TBI_VIEW_INPUT_LOG)) continue;
    *code = tbi_usage_error("view", "only two logs can be watched at once; run the scenes with "
                                    "--log first");
    return false;
  }
  if (args->value[KEYFRAME] && *kind != TBI_VIEW_INPUT_MODEL) {
    *code = tbi_usage_error("view", "--keyframe is for robots; a scene names one by posture: %s",
                            args->value[KEYFRAME]);
    return false;
  }
  bool changed = args->nmany > 0 || args->value[CONTACT] || args->value[DT];
  if (*kind != TBI_VIEW_INPUT_LOG || !changed) return true;
  *code = tbi_usage_error("view",
                          "a log is shown as it was; to change something, run it again: "
                          "tabi run --resume %s --at 0 --set path=value",
                          path[0]);
  return false;
}

/* A file that cannot be written is not the fault of a file that was read. */
static int fail_html(const tabi_error *err, const char *html) {
  int code = tbi_print_error(err);
  return strcmp(err->file, html) == 0 ? TBI_EXIT_INTERNAL : code;
}

/* -- logs */

static int view_logs(const tbi_args *args, char path[TBI_SHOW_LOGS][TBI_FIND_PATH], int port) {
  tabi_error err = {0};
  const char *const log[TBI_SHOW_LOGS] = {path[0], path[1]};
  if (args->value[HTML]) {
    tabi_status status = tbi_html_write_logs(args->value[HTML], log, args->nword, NULL, &err);
    return status == TABI_OK ? TBI_EXIT_OK : fail_html(&err, args->value[HTML]);
  }
  return tbi_show_logs(log, args->nword,
                       &(tbi_show_options){port, args->value[NO_BROWSER] != NULL, false});
}

/* -- scenes */

/* Runs to the end, or to the step that fails. */
static tabi_status record_run(tabi_scene *scene, tabi_world *world, tbi_replay *replay,
                              tabi_error *err) {
  int64_t steps =
      (int64_t)fmax(1, round(tabi_scene_duration(scene) / tabi_scene_world_def(scene).timestep));
  for (int64_t i = 0; i < steps; ++i) {
    tabi_scene_control(scene, world);
    tabi_status status = tabi_world_step_or_grow(world, NULL);
    if (status == TABI_ERR_ENDED) break;
    if (status != TABI_OK) {
      *err = *tabi_world_error(world);
      return status;
    }
    status = tbi_replay_step(replay, err);
    if (status != TABI_OK) return status;
  }
  return TABI_OK;
}

static int write_world(tabi_scene *scene, tabi_world *world, const char *path, const char *html) {
  tabi_error err = {0};
  tbi_replay *replay = NULL;
  if (tabi_scene_reset(scene, world, &err) == TABI_OK)
    replay = tbi_replay_create(scene, world, &err);
  if (!replay) return tbi_print_error(&err);
  int code = TBI_EXIT_OK;
  tabi_status status = record_run(scene, world, replay, &err);
  if (status != TABI_OK) {
    code = tbi_show_fail_at(&err, path);
    if (status == TABI_ERR_DIVERGED || status == TABI_ERR_CAPACITY) code = TBI_EXIT_DIVERGED;
  }
  if (tbi_html_write(html, &replay, 1, &err) != TABI_OK) code = fail_html(&err, html);
  tbi_replay_destroy(replay);
  return code;
}

static int write_scene(tabi_scene *scene, const char *path, const char *html) {
  tabi_error err = {0};
  tabi_world_def def = tabi_scene_world_def(scene);
  tabi_world *world = tabi_world_create(tabi_scene_model(scene), &def, &err);
  int code = world ? write_world(scene, world, path, html) : tbi_show_fail_at(&err, path);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return code;
}

static int view_scene(const tbi_args *args, const char *path, tbi_view_input_kind kind, int port) {
  tbi_scene_settings s = {0};
  if (!gather_settings(args, &s)) return TBI_EXIT_USAGE;
  tbi_findings warnings = {0};
  tabi_scene_def def = tbi_settings_scene_def(&s, args, &warnings);
  int code = TBI_EXIT_OK;
  tabi_scene *scene =
      kind == TBI_VIEW_INPUT_MODEL
          ? tbi_view_input_load_robot(path, args->value[KEYFRAME], args, &def, &code)
          : tbi_view_input_load_scene(path, &def, &code);
  if (scene) tbi_print_warnings(&warnings, args);
  tbi_findings_free(&warnings);
  if (!scene) return code;
  if (args->value[HTML]) return write_scene(scene, path, args->value[HTML]);
  // a robot that starts to move before anybody looks may have fallen by then
  const tbi_show_options options = {port, args->value[NO_BROWSER] != NULL,
                                    kind == TBI_VIEW_INPUT_MODEL};
  return tbi_show_scene(scene, path, &options);
}

static int run(const tbi_args *args, FILE *out) {
  (void)out;
  int port = 0;
  int code = TBI_EXIT_OK;
  tbi_view_input_kind kind = TBI_VIEW_INPUT_SCENE;
  char path[TBI_SHOW_LOGS][TBI_FIND_PATH] = {"", ""};
  if (!read_port(args->value[PORT], &port) ||
      !tbi_check_name("view", "contact method", args->value[CONTACT], &tbi_contact_names) ||
      !tbi_check_seconds("view", "--dt", args->value[DT], false)) {
    return TBI_EXIT_USAGE;
  }
  if (!find_files(args, path, &kind, &code)) return code;
  tabi_error err = {0};
  if (args->value[HTML] && tbi_html_check(args->value[HTML], &err) != TABI_OK)
    return fail_html(&err, args->value[HTML]);
  if (kind == TBI_VIEW_INPUT_LOG) return view_logs(args, path, port);
  return view_scene(args, path[0], kind, port);
}

const tbi_command tbi_cmd_view = {
    .name = "view",
    .usage = "view SCENE|ROBOT [--contact NAME] [--dt S] [--set path=value]\n"
             "                 [--keyframe NAME] [--port N] [--no-browser] [--html F]\n"
             "       tabi view LOG [LOG] [--port N] [--no-browser] [--html F]",
    .summary = "run a scene in the browser, push and change it; or replay logs",
    .text =
        "Runs a scene and shows it in the browser: pause, step, slow motion, push with the\n"
        "mouse, change contact method, friction and time step.  A robot (URDF, MJCF, SDF) is put\n"
        "on a floor at a keyframe, held as `tabi try` does, and waits there: space starts it.\n"
        "Logs of `tabi run --log` are replayed; a second one is drawn as a ghost.\n"
        "SCENE and ROBOT may be names of files in scenes/ and models/, or parts of them.\n"
        "\n"
        "Prints the address of the page.  It works on this machine only and contains a secret.\n"
        "A browser is opened if there is a display.  Ctrl-C ends the command.\n"
        "\n"
        "examples:\n"
        "  tabi view scenes/walk.yaml\n"
        "  tabi view humanoid\n"
        "  tabi view robot.xml --keyframe home\n"
        "  tabi view stand.tabi slip.tabi\n"
        "  tabi view scenes/topple.yaml --html topple.html\n",
    .nword = 1,
    .nmore = 1,
    .word = "SCENE",
    .options = {[CONTACT] = {"--contact", "NAME", "contact method; default: the scene's; one of",
                             false, &tbi_contact_names},
                [DT] = {"--dt", "S", "time step in seconds; default: the scene's", false, NULL},
                [SET] = {"--set", "path=value",
                         "change a value of the scene, as in bodies.box.mass=3; may be repeated",
                         true, NULL},
                [KEYFRAME] = {"--keyframe", "NAME",
                              "keyframe of a robot's file to start at; default: home, stand, ... "
                              "or the only one",
                              false, NULL},
                [PORT] = {"--port", "N", "port on 127.0.0.1; default: any free one", false, NULL},
                [NO_BROWSER] = {"--no-browser", NULL, "print the address only", false, NULL},
                [HTML] = {"--html", "F",
                          "write the replay to one HTML file instead, a scene until its end", false,
                          NULL}},
    .loads = true,
    .tells = true,
    .run = run,
};
