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
  FILE *file = tbi_process_file(peer->file, ".xml");
  if (!file) {
    (void)snprintf(trouble, size,
                   "no file can be made; set TMPDIR to a folder that can be written");
    return false;
  }
  const char *odd = tbi_mjcf_write(def, file);
  bool failed = ferror(file) != 0;
  failed = fclose(file) != 0 || failed;
  if (odd) (void)snprintf(trouble, size, "the robot has %s, which MJCF cannot say", odd);
  if (!odd && failed) (void)snprintf(trouble, size, "cannot write %s: disk full?", peer->file);
  return !odd && !failed;
}

static bool start_program(tbi_peer *peer, const char *file, char *trouble, size_t size) {
  char path[4096];
  const char *const argv[] = {path, file, NULL};
  if (!tbi_process_beside("mujoco", path, sizeof path)) {
    (void)snprintf(trouble, size,
                   "no tabi-bench-mujoco beside tabi; install libmujoco-dev and build again");
    return false;
  }
  return tbi_process_greet(&peer->process, argv, peer->engine, trouble, size);
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
  for (int32_t i = 0; i < tree->nv; ++i) {
    power += v[i] * tree->out[i];
    size += fabs(v[i] * tree->out[i]);
  }
  char question[32];
  double other[2] = {0};
  (void)snprintf(question, sizeof question, "check %d\n", (int)state);
  return tbi_process_ask(&peer->process, question, other, 2) && same(kinetic, other[0], kinetic) &&
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
  for (int32_t state = 0; ok && state < TBI_BENCH_TREE_STATES; ++state)
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
  if (!tbi_process_ask(&peer->process, question, &seconds, 1)) return nan("");
  return seconds;
}

bool tbi_peer_settle(tbi_peer *peer, double timestep, int32_t steps, bool hold,
                     tbi_peer_rest *rest) {
  char question[96];
  double x[4];
  (void)snprintf(question, sizeof question, "settle %.17g %d %d\n", timestep, hold ? 1 : 0,
                 (int)steps);
  if (!tbi_process_ask(&peer->process, question, x, 4)) return false;
  *rest = (tbi_peer_rest){x[0], x[1], x[2], x[3]};
  return isfinite(x[3]);
}
