/* cmd_view.c - `tabi view`: a scene that runs while it is watched, or replays of logs, in the
 * browser or in one file. */
#include "common/cli.h"
#include "common/output.h"
#include "common/scene_options.h"
#include "view/find_file.h"
#include "view/view_input.h"

#include "browser.h"
#include "html.h"
#include "live.h"
#include "scene_description.h"
#include "server.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONTACT, DT, SET, PORT, NO_BROWSER, HTML };
enum { MAX_LOGS = 2, MAX_PORT = 65535 };

/* What the server sends. */
typedef struct show {
  tbi_message *page;
  tbi_message *description[MAX_LOGS], *replay[MAX_LOGS]; /* of logs */
  tbi_live *live;                                        /* or of a scene */
} show;

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
static bool find_files(const tbi_args *args, char path[MAX_LOGS][TBI_FIND_PATH],
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
  bool changed = args->nmany > 0 || args->value[CONTACT] || args->value[DT];
  if (*kind != TBI_VIEW_INPUT_LOG || !changed) return true;
  *code = tbi_usage_error("view",
                          "a log is shown as it was; to change something, run it again: "
                          "tabi run --resume %s --at 0 --set path=value",
                          path[0]);
  return false;
}

/* -- in the browser */

static tbi_message *get(void *user, const char *path) {
  const show *s = user;
  if (path[0] == '\0') return tbi_message_hold(s->page);
  if (s->live) return strcmp(path, "scene/0") == 0 ? tbi_live_get_description(s->live) : NULL;
  static const char *const description[MAX_LOGS] = {"scene/0", "scene/1"};
  static const char *const replay[MAX_LOGS] = {"replay/0", "replay/1"};
  for (int i = 0; i < MAX_LOGS; ++i) {
    if (strcmp(path, description[i]) == 0) return tbi_message_hold(s->description[i]);
    if (strcmp(path, replay[i]) == 0) return tbi_message_hold(s->replay[i]);
  }
  return NULL;
}

static tbi_message *receive(void *user, const char *text, size_t size) {
  const show *s = user;
  return tbi_live_receive(s->live, text, size);
}

static void set_viewers(void *user, int32_t viewers) {
  const show *s = user;
  tbi_live_set_viewers(s->live, viewers);
}

static volatile sig_atomic_t ended_by;

static void give_up(int number) {
  (void)number;
  _exit(128 + (int)ended_by);
}

/* Threads that are made after this leave the signals to us. */
static sigset_t hold_signals(void) {
  sigset_t set;
  (void)sigemptyset(&set);
  (void)sigaddset(&set, SIGINT);
  (void)sigaddset(&set, SIGTERM);
  (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
  return set;
}

/* The one line on stdout is the address, for scripts and for those who click on it. */
static int tell_address(const tbi_server *server, const tbi_args *args) {
  const char *url = tbi_server_url(server);
  if (printf("%s\n", url) < 0 || fflush(stdout) != 0) return TBI_EXIT_INTERNAL;
  bool wanted = !args->value[NO_BROWSER] && isatty(STDOUT_FILENO) && tbi_browser_has_display();
  if (wanted && !tbi_browser_open(url))
    (void)fputs("tabi: no xdg-open here; open this address in a browser\n", stderr);
  if (isatty(STDERR_FILENO)) (void)fputs("tabi: Ctrl-C ends it\n", stderr);
  return TBI_EXIT_OK;
}

static int serve(show *s, const tbi_args *args, int port) {
  tabi_error err = {0};
  tbi_server_def def = {.port = port, .get = get, .user = s};
  if (s->live) {
    def.receive = receive;
    def.set_viewers = set_viewers;
  }
  sigset_t signals = hold_signals();
  tbi_server *server = tbi_server_create(&def, &err);
  if (!server) {
    (void)tbi_print_error(&err);
    return err.status == TABI_ERR_ARGUMENT ? TBI_EXIT_USAGE : TBI_EXIT_INTERNAL;
  }
  int code = TBI_EXIT_OK;
  bool running = s->live && tbi_live_start(s->live, server, &err) == TABI_OK;
  if (s->live && !running) code = tbi_print_error(&err);
  if (code == TBI_EXIT_OK) code = tell_address(server, args);
  if (code == TBI_EXIT_OK) {
    int number = SIGINT;
    (void)sigwait(&signals, &number);
    ended_by = number;
    code = 128 + number;
    (void)signal(SIGALRM, give_up);
    /* open connections do not delay the exit */
    (void)alarm(1);
  }
  if (running) tbi_live_stop(s->live);
  tbi_server_destroy(server);
  return code;
}

static int serve_with_page(show *s, const tbi_args *args, int port) {
  size_t size = 0;
  const char *page = tbi_page(&size);
  s->page = tbi_message_of(page, size);
  int code = s->page ? serve(s, args, port) : tbi_out_of_memory();
  tbi_message_drop(s->page);
  return code;
}

/* A file that cannot be written is not the fault of a file that was read. */
static int fail_html(const tabi_error *err, const char *html) {
  int code = tbi_print_error(err);
  return strcmp(err->file, html) == 0 ? TBI_EXIT_INTERNAL : code;
}

/* -- logs */

/* The description contains the number of runs, so that the page asks for no more. */
static int load_log(show *s, int index, int count, const char *path) {
  tabi_error err = {0};
  tbi_replay *replay = tbi_replay_load(path, NULL, &err);
  if (!replay) return tbi_print_error(&err);
  json_t *description = tbi_replay_description(replay, &err);
  bool complete = description && json_object_set_new(description, "runs", json_integer(count)) == 0;
  char *text = complete ? tbi_scene_description_text(description) : NULL;
  json_decref(description);
  size_t size = 0;
  const void *pictures = tbi_replay_pictures(replay, &size);
  if (text) s->description[index] = tbi_message_of(text, strlen(text));
  s->replay[index] = tbi_message_of(pictures, size);
  free(text);
  tbi_replay_destroy(replay);
  return s->description[index] && s->replay[index] ? TBI_EXIT_OK : tbi_out_of_memory();
}

static int view_logs(const tbi_args *args, char path[MAX_LOGS][TBI_FIND_PATH], int port) {
  tabi_error err = {0};
  const char *const log[MAX_LOGS] = {path[0], path[1]};
  if (args->value[HTML]) {
    tabi_status status = tbi_html_write_logs(args->value[HTML], log, args->nword, NULL, &err);
    return status == TABI_OK ? TBI_EXIT_OK : fail_html(&err, args->value[HTML]);
  }
  show s = {0};
  int code = TBI_EXIT_OK;
  for (int i = 0; i < args->nword && code == TBI_EXIT_OK; ++i)
    code = load_log(&s, i, args->nword, path[i]);
  if (code == TBI_EXIT_OK) code = serve_with_page(&s, args, port);
  for (int i = 0; i < MAX_LOGS; ++i) {
    tbi_message_drop(s.description[i]);
    tbi_message_drop(s.replay[i]);
  }
  return code;
}

/* -- scenes */

/* An error without a place gets that of the file. */
static int fail_at(tabi_error *err, const char *path) {
  if (err->file[0] == '\0') {
    (void)snprintf(err->file, sizeof err->file, "%.255s", path);
    err->line = 1;
  }
  return tbi_print_error(err);
}

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
    code = fail_at(&err, path);
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
  int code = world ? write_world(scene, world, path, html) : fail_at(&err, path);
  tabi_world_destroy(world);
  tabi_scene_destroy(scene);
  return code;
}

static int watch_scene(tabi_scene *scene, const tbi_args *args, const char *path, int port) {
  tabi_error err = {0};
  show s = {.live = tbi_live_create(scene, path, &err)};
  if (!s.live) return fail_at(&err, path);
  int code = serve_with_page(&s, args, port);
  tbi_live_destroy(s.live);
  return code;
}

static int view_scene(const tbi_args *args, const char *path, tbi_view_input_kind kind, int port) {
  tbi_scene_settings s = {0};
  if (!gather_settings(args, &s)) return TBI_EXIT_USAGE;
  tbi_findings warnings = {0};
  tabi_scene_def def = tbi_settings_scene_def(&s, args, &warnings);
  int code = TBI_EXIT_OK;
  tabi_scene *scene = tbi_view_input_load(path, kind, &def, &code);
  if (scene) tbi_print_warnings(&warnings, args);
  tbi_findings_free(&warnings);
  if (!scene) return code;
  if (args->value[HTML]) return write_scene(scene, path, args->value[HTML]);
  return watch_scene(scene, args, path, port);
}

static int run(const tbi_args *args, FILE *out) {
  (void)out;
  int port = 0;
  int code = TBI_EXIT_OK;
  tbi_view_input_kind kind = TBI_VIEW_INPUT_SCENE;
  char path[MAX_LOGS][TBI_FIND_PATH] = {"", ""};
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
    .usage = "view SCENE|MODEL [--contact NAME] [--dt S] [--set path=value]\n"
             "                 [--port N] [--no-browser] [--html F]\n"
             "       tabi view LOG [LOG] [--port N] [--no-browser] [--html F]",
    .summary = "run a scene in the browser, push and change it; or replay logs",
    .text =
        "Runs a scene and shows it in the browser: pause, step, slow motion, push with the\n"
        "mouse, change contact method, friction and time step.  A model (URDF, MJCF, SDF) is put\n"
        "on a floor.  Logs of `tabi run --log` are replayed; a second one is drawn as a ghost.\n"
        "SCENE and MODEL may be names of files in scenes/ and models/, or parts of them.\n"
        "\n"
        "Prints the address of the page.  It works on this machine only and contains a secret.\n"
        "A browser is opened if there is a display.  Ctrl-C ends the command.\n"
        "\n"
        "examples:\n"
        "  tabi view scenes/walk.yaml\n"
        "  tabi view humanoid\n"
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
                [PORT] = {"--port", "N", "port on 127.0.0.1; default: any free one", false, NULL},
                [NO_BROWSER] = {"--no-browser", NULL, "print the address only", false, NULL},
                [HTML] = {"--html", "F",
                          "write the replay to one HTML file instead, a scene until its end", false,
                          NULL}},
    .loads = true,
    .tells = true,
    .run = run,
};
