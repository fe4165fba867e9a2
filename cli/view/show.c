/* show.c - what the browser asks for, and the life of the server: until a signal ends it. */
#include "view/show.h"

#include "browser.h"
#include "html.h"
#include "live.h"
#include "scene_description.h"
#include "server.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the server sends. */
typedef struct show {
  tbi_message *page;
  tbi_message *description[TBI_SHOW_LOGS], *replay[TBI_SHOW_LOGS]; /* of logs */
  tbi_live *live;                                                  /* or of a scene */
} show;

static tbi_message *get(void *user, const char *path) {
  const show *s = user;
  if (path[0] == '\0') return tbi_message_hold(s->page);
  if (s->live) return strcmp(path, "scene/0") == 0 ? tbi_live_get_description(s->live) : NULL;
  static const char *const description[TBI_SHOW_LOGS] = {"scene/0", "scene/1"};
  static const char *const replay[TBI_SHOW_LOGS] = {"replay/0", "replay/1"};
  for (int i = 0; i < TBI_SHOW_LOGS; ++i) {
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
static int tell_address(const tbi_server *server, const tbi_show_options *options) {
  const char *url = tbi_server_url(server);
  if (printf("%s\n", url) < 0 || fflush(stdout) != 0) return TBI_EXIT_INTERNAL;
  bool wanted = !options->no_browser && isatty(STDOUT_FILENO) && tbi_browser_has_display();
  if (wanted && !tbi_browser_open(url))
    (void)fputs("tabi: no xdg-open here; open this address in a browser\n", stderr);
  if (isatty(STDERR_FILENO)) (void)fputs("tabi: Ctrl-C ends it\n", stderr);
  return TBI_EXIT_OK;
}

static int serve(show *s, const tbi_show_options *options) {
  tabi_error err = {0};
  tbi_server_def def = {.port = options->port, .get = get, .user = s};
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
  bool running = s->live && tbi_live_start(s->live, server, options->paused, &err) == TABI_OK;
  if (s->live && !running) code = tbi_print_error(&err);
  if (code == TBI_EXIT_OK) code = tell_address(server, options);
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

static int serve_with_page(show *s, const tbi_show_options *options) {
  size_t size = 0;
  const char *page = tbi_page(&size);
  s->page = tbi_message_of(page, size);
  int code = s->page ? serve(s, options) : tbi_out_of_memory();
  tbi_message_drop(s->page);
  return code;
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

int tbi_show_logs(const char *const *path, int count, const tbi_show_options *options) {
  show s = {0};
  int code = TBI_EXIT_OK;
  for (int i = 0; i < count && code == TBI_EXIT_OK; ++i)
    code = load_log(&s, i, count, path[i]);
  if (code == TBI_EXIT_OK) code = serve_with_page(&s, options);
  for (int i = 0; i < TBI_SHOW_LOGS; ++i) {
    tbi_message_drop(s.description[i]);
    tbi_message_drop(s.replay[i]);
  }
  return code;
}

/* -- a scene */

int tbi_show_fail_at(tabi_error *err, const char *path) {
  if (err->file[0] == '\0') {
    (void)snprintf(err->file, sizeof err->file, "%.255s", path);
    err->line = 1;
  }
  return tbi_print_error(err);
}

int tbi_show_scene(tabi_scene *scene, const char *path, const tbi_show_options *options) {
  tabi_error err = {0};
  show s = {.live = tbi_live_create(scene, path, &err)};
  if (!s.live) return tbi_show_fail_at(&err, path);
  int code = serve_with_page(&s, options);
  tbi_live_destroy(s.live);
  return code;
}
