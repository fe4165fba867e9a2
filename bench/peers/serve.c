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

static bool push(tbi_host *host, const char *line) {
  double x[4];
  if (!numbers(line, x, 4) || x[0] < 0 || x[0] >= host->plain->nbody) return false;
  host->engine->push(host->self, (int32_t)x[0], x + 1);
  return puts("0") >= 0;
}

static bool state(tbi_host *host, tbi_plain_state *scratch) {
  size_t n = (size_t)host->plain->nbody;
  host->engine->state(host->self, scratch);
  (void)puts("0");
  return fwrite(scratch, sizeof *scratch, n, stdout) == n;
}

static bool step(tbi_host *host, const char *line) {
  double x[2];
  if (strncmp(line, "step ", 5) != 0 || !numbers(line, x, 2)) return false;
  if (!(x[0] >= 0 && x[0] <= INT32_MAX)) return false;
  tbi_host_time t = tbi_host_step(host, (int32_t)x[0], x[1]);
  return printf("%d %.17g %.17g\n", (int)t.steps, t.seconds, t.contacts) > 0;
}

static bool answer(tbi_host *host, tbi_plain_state *scratch, const char *line) {
  if (strcmp(line, "reset\n") == 0) {
    const char *trouble = tbi_host_reset(host);
    return puts(trouble ? trouble : "0") >= 0 && !trouble;
  }
  if (strcmp(line, "state\n") == 0) return state(host, scratch);
  if (strcmp(line, "count\n") == 0) return printf("%.17g\n", tbi_host_count(host)) > 0;
  if (strncmp(line, "push ", 5) == 0) return push(host, line);
  return step(host, line);
}

static int serve(tbi_host *host, tbi_plain_state *scratch) {
  char line[256];
  bool ok = true;
  (void)printf("ready %s\n", host->engine->name);
  (void)fflush(stdout);
  while (ok && fgets(line, sizeof line, stdin)) {
    ok = answer(host, scratch, line);
    (void)fflush(stdout);
  }
  return ok ? 0 : 2;
}

int tbi_peer_serve(int argc, char **argv, const tbi_engine *engine) {
  tbi_plain plain;
  if (argc < 3) return fail("usage: SCENE SETTINGS");
  FILE *file = fopen(argv[1], "r");
  if (!file) return fail("cannot open the scene");
  const char *trouble = tbi_plain_read(&plain, file);
  (void)fclose(file);
  tbi_host host = {
      .engine = engine, .plain = &plain, .settings = argv[2], .more = argc > 3 ? argv[3] : NULL};
  tbi_plain_state *scratch = calloc((size_t)plain.nbody + 1, sizeof *scratch);
  if (!trouble && !scratch) trouble = "no memory";
  if (!trouble) trouble = tbi_host_reset(&host);
  int code = trouble ? fail(trouble) : serve(&host, scratch);
  tbi_host_close(&host);
  free(scratch);
  tbi_plain_free(&plain);
  return code;
}
