/* serve.c - the loop of questions and answers of a peer program. */
#include "serve.h"

#include <stdlib.h>
#include <string.h>

static int fail(const char *reason) {
  (void)printf("error %s\n", reason);
  (void)fflush(stdout);
  return 1;
}

/* The n numbers of a question after its word. */
static bool numbers(const char *line, double *x, int32_t n) {
  const char *rest = line + strcspn(line, " ");
  for (int32_t i = 0; i < n; ++i) {
    char *end = NULL;
    x[i] = strtod(rest, &end);
    if (end == rest) return false;
    rest = end;
  }
  return true;
}

static bool push(tbi_engine_instance *instance, const char *line) {
  double x[4];
  if (!numbers(line, x, 4) || x[0] < 0 || x[0] >= instance->neutral->nbody) return false;
  instance->engine->push(instance->self, (int32_t)x[0], x + 1);
  return puts("0") >= 0;
}

static bool state(tbi_engine_instance *instance, tbi_neutral_state *scratch) {
  size_t n = (size_t)instance->neutral->nbody;
  instance->engine->state(instance->self, scratch);
  (void)puts("0");
  return fwrite(scratch, sizeof *scratch, n, stdout) == n;
}

static bool step(tbi_engine_instance *instance, const char *line) {
  double x[2];
  if (strncmp(line, "step ", 5) != 0 || !numbers(line, x, 2)) return false;
  if (!(x[0] >= 0 && x[0] <= INT32_MAX)) return false;
  tbi_engine_time t = tbi_engine_step(instance, (int32_t)x[0], x[1]);
  return printf("%d %.17g %.17g\n", (int)t.steps, t.seconds, t.contacts) > 0;
}

static bool answer(tbi_engine_instance *instance, tbi_neutral_state *scratch, const char *line) {
  if (strcmp(line, "reset\n") == 0) {
    const char *trouble = tbi_engine_reset(instance);
    return puts(trouble ? trouble : "0") >= 0 && !trouble;
  }
  if (strcmp(line, "state\n") == 0) return state(instance, scratch);
  if (strcmp(line, "count\n") == 0) return printf("%.17g\n", tbi_engine_count(instance)) > 0;
  if (strncmp(line, "push ", 5) == 0) return push(instance, line);
  return step(instance, line);
}

static int serve(tbi_engine_instance *instance, tbi_neutral_state *scratch) {
  char line[256];
  bool ok = true;
  (void)printf("ready %s\n", instance->engine->name);
  (void)fflush(stdout);
  while (ok && fgets(line, sizeof line, stdin)) {
    ok = answer(instance, scratch, line);
    (void)fflush(stdout);
  }
  return ok ? 0 : 2;
}

int tbi_peer_serve(int argc, char **argv, const tbi_engine *engine) {
  tbi_neutral_scene neutral;
  if (argc < 3) return fail("usage: SCENE SETTINGS");
  FILE *file = fopen(argv[1], "r");
  if (!file) return fail("cannot open the scene");
  const char *trouble = tbi_neutral_scene_read(&neutral, file);
  (void)fclose(file);
  tbi_engine_instance instance = {.engine = engine,
                                  .neutral = &neutral,
                                  .settings = argv[2],
                                  .more = argc > 3 ? argv[3] : NULL};
  tbi_neutral_state *scratch = calloc((size_t)neutral.nbody + 1, sizeof *scratch);
  if (!trouble && !scratch) trouble = "no memory";
  if (!trouble) trouble = tbi_engine_reset(&instance);
  int code = trouble ? fail(trouble) : serve(&instance, scratch);
  tbi_engine_close(&instance);
  free(scratch);
  tbi_neutral_scene_free(&neutral);
  return code;
}
