/* mujoco.c - the program tabi-bench-mujoco: MuJoCo measured on a model that tabi wrote.
 *
 *   tabi-bench-mujoco SCENE SETTINGS MJCF
 *                                a neutral scene, see serve.h and mujoco_world.c
 *   tabi-bench-mujoco FILE       MJCF with one keyframe for each state; answers line by line:
 *     (at the start)             "ready mujoco 2.2.2" or "error REASON"
 *     check STATE                kinetic energy and power of the bias force: is it the same tree?
 *     settle TIMESTEP HOLD STEPS
 *                                step from the first keyframe, then look at a stretch of 50 steps:
 *                                mean contacts, mean iterations, depth, speed; nan: diverged or
 *                                full.  HOLD 1: inputs at which motors do not pull at the start
 *     many SWAY SCATTER WORLDS THREADS WARM_UP STRETCH [FILE]
 *                                many worlds, see mujoco_many.h: s of a step, mean contacts
 *     run FUNCTION CALLS         seconds of CPU time, or nan for what MuJoCo does not have;
 *                                "step" runs over that stretch again and again
 *
 * A separate program, so that no peer library enters the command. */
#include "../measure.h"
#include "mujoco_load.h"
#include "mujoco_many.h"
#include "mujoco_world.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STRETCH = 50 }; /* steps, as in contact.c */

typedef struct engine {
  mjModel *model;
  mjData *data;
  mjData *settled; /* where the stretch starts; NULL: not settled */
  int state;       /* keyframe of the next call, or step of the stretch */
} engine;

static void set_state(engine *e, int state) {
  const mjModel *m = e->model;
  memcpy(e->data->qpos, m->key_qpos + (size_t)state * (size_t)m->nq,
         (size_t)m->nq * sizeof(mjtNum));
  memcpy(e->data->qvel, m->key_qvel + (size_t)state * (size_t)m->nv,
         (size_t)m->nv * sizeof(mjtNum));
}

static void kinematics(engine *e) {
  mj_kinematics(e->model, e->data);
  mj_comPos(e->model, e->data);
}

static void velocities(engine *e) {
  kinematics(e);
  mj_comVel(e->model, e->data);
}

static void bias(engine *e) {
  velocities(e);
  mj_rne(e->model, e->data, 0, e->data->qfrc_bias);
}

static void mass(engine *e) {
  kinematics(e);
  mj_crb(e->model, e->data);
  mj_factorM(e->model, e->data);
}

/* MuJoCo's way to an acceleration: mass matrix, factor, bias, solve. */
static void forward(engine *e) {
  mass(e);
  mj_comVel(e->model, e->data);
  mj_rne(e->model, e->data, 0, e->data->qfrc_bias);
  mj_solveM(e->model, e->data, e->data->qacc, e->data->qfrc_bias, 1);
}

/* The names are those of tabi's rows. */
static const struct {
  const char *name;
  void (*call)(engine *e);
} functions[] = {
    {"kinematics", velocities},
    {"rnea",       bias      },
    {"crba",       mass      },
    {"aba",        forward   }
};

/* Only what decides the next step, so that caches stay as they are. */
static void rewind_stretch(engine *e) {
  const mjModel *m = e->model;
  mjData *d = e->data;
  const mjData *from = e->settled;
  memcpy(d->qpos, from->qpos, (size_t)m->nq * sizeof(mjtNum));
  memcpy(d->qvel, from->qvel, (size_t)m->nv * sizeof(mjtNum));
  memcpy(d->qacc_warmstart, from->qacc_warmstart, (size_t)m->nv * sizeof(mjtNum));
  if (m->na > 0) memcpy(d->act, from->act, (size_t)m->na * sizeof(mjtNum));
  d->time = from->time;
  e->state = 0;
}

static double run_steps(engine *e, int calls) {
  if (!e->settled) return nan("");
  double seconds = 0;
  while (calls > 0) {
    if (e->state == STRETCH) rewind_stretch(e);
    int count = STRETCH - e->state < calls ? STRETCH - e->state : calls;
    double start = tbi_measure_clock();
    for (int i = 0; i < count; ++i)
      mj_step(e->model, e->data);
    seconds += tbi_measure_clock() - start;
    e->state += count;
    calls -= count;
  }
  return seconds;
}

/* Actuators of the form gain * u + bias(length): the u that gives no force here. */
static void hold(engine *e) {
  const mjModel *m = e->model;
  mj_forward(m, e->data);
  for (int i = 0; i < m->nu; ++i) {
    const mjtNum *gain = m->actuator_gainprm + (size_t)i * mjNGAIN;
    const mjtNum *force = m->actuator_biasprm + (size_t)i * mjNBIAS;
    bool affine = m->actuator_biastype[i] == mjBIAS_AFFINE;
    mjtNum push = affine ? force[0] + force[1] * e->data->actuator_length[i] : 0;
    e->data->ctrl[i] = gain[0] != 0 ? -push / gain[0] : 0;
  }
}

static bool in_trouble(const mjData *d) {
  static const int kinds[] = {mjWARN_CONTACTFULL, mjWARN_CNSTRFULL, mjWARN_BADQPOS, mjWARN_BADQVEL,
                              mjWARN_BADQACC};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
    if (d->warning[kinds[i]].number > 0) return true;
  return false;
}

/* of the last step; later versions solve islands one by one */
static double iterations_of(const mjData *d) {
#if mjVERSION_HEADER >= 300
  int most = 0;
  for (int i = 0; i < mjNISLAND; ++i)
    most = d->solver_niter[i] > most ? d->solver_niter[i] : most;
  return most;
#else
  return d->solver_iter;
#endif
}

static void look_at_stretch(engine *e) {
  double contacts = 0, iterations = 0, depth = 0, speed = 0;
  rewind_stretch(e);
  for (int i = 0; i < STRETCH; ++i) {
    mj_step(e->model, e->data);
    contacts += (double)e->data->ncon / STRETCH;
    iterations += iterations_of(e->data) / STRETCH;
    for (int c = 0; c < e->data->ncon; ++c)
      depth = fmax(depth, -e->data->contact[c].dist);
  }
  for (int k = 0; k < e->model->nv; ++k)
    speed = fmax(speed, fabs(e->data->qvel[k]));
  if (in_trouble(e->data)) speed = nan("");
  rewind_stretch(e);
  (void)printf("%.17g %.17g %.17g %.17g\n", contacts, iterations, depth, speed);
}

static void settle(engine *e, double timestep, bool holding, int steps) {
  e->model->opt.timestep = timestep;
  mj_resetData(e->model, e->data);
  if (e->model->nkey > 0) mj_resetDataKeyframe(e->model, e->data, 0);
  if (holding) hold(e);
  for (int i = 0; i < steps; ++i)
    mj_step(e->model, e->data);
  mj_deleteData(e->settled);
  e->settled = mj_copyData(NULL, e->model, e->data);
  look_at_stretch(e);
}

static double run(engine *e, const char *name, int calls) {
  size_t f = 0;
  if (strcmp(name, "step") == 0) return run_steps(e, calls);
  while (f < sizeof functions / sizeof functions[0] && strcmp(functions[f].name, name) != 0)
    f++;
  if (f == sizeof functions / sizeof functions[0] || e->model->nkey < 1) return nan("");
  double start = tbi_measure_clock();
  for (int i = 0; i < calls; ++i) {
    set_state(e, e->state);
    functions[f].call(e);
    e->state = (e->state + 1) % (int)e->model->nkey;
  }
  return tbi_measure_clock() - start;
}

static void check(engine *e, int state) {
  mjData *d = e->data;
  set_state(e, state);
  forward(e);
  mj_mulM(e->model, d, d->qacc, d->qvel);
  double kinetic = 0, power = 0;
  for (int i = 0; i < e->model->nv; ++i) {
    kinetic += d->qvel[i] * d->qacc[i] / 2;
    power += d->qvel[i] * d->qfrc_bias[i];
  }
  (void)printf("%.17g %.17g\n", kinetic, power);
}

/* the numbers of a file of doubles, rows of n; NULL: there is none */
static double *read_rows(const char *path, int n, int *rows) {
  FILE *file = fopen(path, "rb");
  long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : 0;
  double *x = size > 0 && n > 0 ? malloc((size_t)size) : NULL;
  if (x) rewind(file);
  *rows = x ? (int)(fread(x, sizeof *x, (size_t)size / sizeof *x, file) / (size_t)n) : 0;
  if (file) (void)fclose(file);
  return x;
}

static bool many(const engine *e, const char *line) {
  tbi_many m = {0};
  char path[256] = "";
  char *at = NULL;
  m.sway = strtod(line, &at);
  m.scatter = strtod(at, &at);
  m.worlds = (int)strtol(at, &at, 10);
  m.threads = (int)strtol(at, &at, 10);
  m.warm_up = (int)strtol(at, &at, 10);
  m.stretch = (int)strtol(at, &at, 10);
  if (m.worlds < 1 || m.threads < 1 || m.warm_up < 0 || m.stretch < 1) return false;
  double *plan = NULL;
  if (sscanf(at, "%255s", path) == 1) {
    plan = read_rows(path, (int)e->model->nu, &m.nplan);
    if (!plan || m.nplan < 1) return false;
  }
  m.plan = plan;
  double contacts;
  double time = tbi_mujoco_many(e->model, &m, &contacts);
  free(plan);
  (void)printf("%.17g %.17g\n", time, contacts);
  return true;
}

static int answer(engine *e) {
  char line[512], name[32];
  while (fgets(line, sizeof line, stdin)) {
    char *number = strrchr(line, ' ');
    long n = number ? strtol(number, NULL, 10) : -1;
    if (strncmp(line, "check ", 6) == 0 && n >= 0 && n < e->model->nkey) {
      check(e, (int)n);
    } else if (strncmp(line, "settle ", 7) == 0 && n >= 0 && n < 1L << 30) {
      char *rest = NULL;
      double timestep = strtod(line + 7, &rest);
      settle(e, timestep, strtol(rest, NULL, 10) == 1, (int)n);
    } else if (strncmp(line, "many ", 5) == 0) {
      if (!many(e, line + 5)) return 2;
    } else if (sscanf(line, "run %31s", name) == 1 && n > 0 && n < 1L << 30) {
      (void)printf("%.17g\n", run(e, name, (int)n));
    } else {
      return 2;
    }
    (void)fflush(stdout);
  }
  return 0;
}

static void fail(const char *message) {
  (void)printf("error %s\n", message);
  (void)fflush(stdout);
  _Exit(1);
}

static void ignore(const char *message) { (void)message; }

int main(int argc, char **argv) {
  char message[1000] = "usage: tabi-bench-mujoco FILE";
  // its own handlers write to a log file in the current folder
  mju_user_error = fail;
  mju_user_warning = ignore;
  if (argc == 4) return tbi_mujoco_serve(argc, argv);
  engine e = {.model = argc == 2 ? tbi_mujoco_load(argv[1], message, sizeof message) : NULL};
  if (e.model) e.data = mj_makeData(e.model);
  if (!e.data) {
    for (char *c = message; *c; ++c)
      if (*c == '\n') *c = ' ';
    fail(message);
  }
  (void)printf("ready mujoco %s\n", mj_versionString());
  (void)fflush(stdout);
  int code = answer(&e);
  mj_deleteData(e.settled);
  mj_deleteData(e.data);
  mj_deleteModel(e.model);
  return code;
}
