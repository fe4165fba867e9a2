/* peer.c - hands a model to tabi-bench-mujoco and asks it line by line (see peers/mujoco.c).
 *
 * "The same tree" means: kinetic energy v'Mv/2 and bias power v'b agree at every state.  Both are
 * free of coordinates, so the engines' different order of joints and axes does not matter. */
#include "peer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// MuJoCo turns each inertia to its principal axes when it loads, which leaves about 1e-9
static const double same_tree = 1e-7;

static bool write_model(tbi_peer *peer, const tbi_mjcf_def *def, char *trouble, size_t size) {
  const char *folder = getenv("TMPDIR");
  (void)snprintf(peer->file, sizeof peer->file, "%.200s/tabi-bench-XXXXXX.xml",
                 folder && *folder ? folder : "/tmp");
  int fd = mkstemps(peer->file, 4);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
  if (!file) {
    (void)snprintf(trouble, size, "cannot write %s; set TMPDIR to a folder that can be written",
                   peer->file);
    return false;
  }
  const char *odd = tbi_mjcf_write(def, file);
  bool failed = ferror(file) != 0;
  failed = fclose(file) != 0 || failed;
  if (odd) (void)snprintf(trouble, size, "the robot has %s, which MJCF cannot say", odd);
  if (!odd && failed) (void)snprintf(trouble, size, "cannot write %s: disk full?", peer->file);
  return !odd && !failed;
}

/* The program stands beside this one. */
static bool start_program(tbi_peer *peer, const char *file, char *trouble, size_t size) {
  char path[4096], line[1024] = "";
  const char *name = "tabi-bench-mujoco";
  bool known = tbi_process_self(path, sizeof path - strlen(name));
  char *slash = known ? strrchr(path, '/') : NULL;
  if (slash) (void)snprintf(slash + 1, sizeof path - (size_t)(slash + 1 - path), "%s", name);
  const char *const argv[] = {path, file, NULL};
  if (!slash || access(path, X_OK) != 0 || !tbi_process_start(&peer->process, argv)) {
    (void)snprintf(trouble, size, "no %s beside tabi; install libmujoco-dev and build again", name);
    return false;
  }
  if (fgets(line, sizeof line, peer->process.from)) line[strcspn(line, "\n")] = '\0';
  if (strncmp(line, "ready ", 6) == 0) {
    (void)snprintf(peer->engine, sizeof peer->engine, "%.60s", line + 6);
    return true;
  }
  (void)snprintf(trouble, size, "%s", strncmp(line, "error ", 6) ? "it ended early" : line + 6);
  (void)tbi_process_stop(&peer->process);
  return false;
}

/* One question, one line of n numbers. */
static bool ask(tbi_peer *peer, const char *question, double *x, int32_t n) {
  char line[256];
  char *rest = line;
  bool ok = fputs(question, peer->process.to) >= 0 && fflush(peer->process.to) == 0;
  ok = ok && fgets(line, sizeof line, peer->process.from);
  for (int32_t i = 0; i < n && ok; i++) {
    char *start = rest;
    x[i] = strtod(start, &rest);
    ok = rest > start;
  }
  return ok;
}

static bool same(double a, double b, double scale) { return fabs(a - b) <= same_tree * scale; }

/* v'b cancels: gravity, centrifugal and Coriolis parts of all joints; measure against their size.
 */
static bool check_state(tbi_peer *peer, const tbi_bench_tree *tree, int32_t state) {
  const double *v = tbi_bench_tree_v(tree, state);
  tabi_dynamics_set_state(tree->dynamics, tbi_bench_tree_q(tree, state), v);
  double kinetic = tabi_dynamics_kinetic(tree->dynamics);
  tabi_dynamics_inverse(tree->dynamics, NULL, tree->out);
  double power = 0, size = 0;
  for (int32_t i = 0; i < tree->nv; i++) {
    power += v[i] * tree->out[i];
    size += fabs(v[i] * tree->out[i]);
  }
  char question[32];
  double other[2] = {0};
  (void)snprintf(question, sizeof question, "check %d\n", (int)state);
  return ask(peer, question, other, 2) && same(kinetic, other[0], kinetic) &&
         same(power, other[1], size);
}

bool tbi_peer_start(tbi_peer *peer, const tbi_bench_tree *tree, char *trouble, size_t size) {
  *peer = (tbi_peer){0};
  tbi_mjcf_def def = {.model = tree->model,
                      .dynamics = tree->dynamics,
                      .nstate = TBI_BENCH_TREE_STATES,
                      .q = tree->q,
                      .v = tree->v};
  bool ok =
      write_model(peer, &def, trouble, size) && start_program(peer, peer->file, trouble, size);
  for (int32_t state = 0; ok && state < TBI_BENCH_TREE_STATES; state++)
    if (!check_state(peer, tree, state)) {
      (void)snprintf(trouble, size, "%s does not see the same tree: energy or bias differ",
                     peer->engine);
      (void)tbi_process_stop(&peer->process);
      ok = false;
    }
  (void)unlink(peer->file);
  return ok;
}

bool tbi_peer_start_world(tbi_peer *peer, const tbi_mjcf_def *def, const char *file, char *trouble,
                          size_t size) {
  *peer = (tbi_peer){0};
  if (file) return start_program(peer, file, trouble, size);
  bool ok = write_model(peer, def, trouble, size) && start_program(peer, peer->file, trouble, size);
  (void)unlink(peer->file);
  return ok;
}

void tbi_peer_stop(tbi_peer *peer) { (void)tbi_process_stop(&peer->process); }

double tbi_peer_run(tbi_peer *peer, const char *function, int32_t calls) {
  char question[64];
  double seconds = 0;
  (void)snprintf(question, sizeof question, "run %.30s %d\n", function, (int)calls);
  if (!ask(peer, question, &seconds, 1)) return nan("");
  return seconds;
}

bool tbi_peer_settle(tbi_peer *peer, double timestep, int32_t steps, bool hold,
                     tbi_peer_rest *rest) {
  char question[96];
  double x[4];
  (void)snprintf(question, sizeof question, "settle %.17g %d %d\n", timestep, hold ? 1 : 0,
                 (int)steps);
  if (!ask(peer, question, x, 4)) return false;
  *rest = (tbi_peer_rest){x[0], x[1], x[2], x[3]};
  return isfinite(x[3]);
}
