/* mujoco.c - the program tabi-bench-peers: MuJoCo measured on a tree that tabi wrote.
 *
 *   tabi-bench-peers FILE        MJCF with one keyframe for each state; answers line by line:
 *     (at the start)             "ready mujoco 2.2.2" or "error REASON"
 *     check STATE                kinetic energy and power of the bias force: is it the same tree?
 *     run FUNCTION CALLS         seconds of CPU time, or nan for what MuJoCo does not have
 *
 * A separate program, so that no peer library enters the command. */
#include "../measure.h"

#include <math.h>
#include <mujoco/mujoco.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct engine {
  mjModel *model;
  mjData *data;
  int state;
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

static double run(engine *e, const char *name, int calls) {
  size_t f = 0;
  while (f < sizeof functions / sizeof functions[0] && strcmp(functions[f].name, name) != 0)
    f++;
  if (f == sizeof functions / sizeof functions[0]) return nan("");
  double start = tbi_measure_clock();
  for (int i = 0; i < calls; i++) {
    set_state(e, e->state);
    functions[f].call(e);
    e->state = (e->state + 1) % e->model->nkey;
  }
  return tbi_measure_clock() - start;
}

static void check(engine *e, int state) {
  mjData *d = e->data;
  set_state(e, state);
  forward(e);
  mj_mulM(e->model, d, d->qacc, d->qvel);
  double kinetic = 0, power = 0;
  for (int i = 0; i < e->model->nv; i++) {
    kinetic += d->qvel[i] * d->qacc[i] / 2;
    power += d->qvel[i] * d->qfrc_bias[i];
  }
  (void)printf("%.17g %.17g\n", kinetic, power);
}

static int answer(engine *e) {
  char line[128], name[32];
  while (fgets(line, sizeof line, stdin)) {
    char *number = strrchr(line, ' ');
    long n = number ? strtol(number, NULL, 10) : -1;
    if (strncmp(line, "check ", 6) == 0 && n >= 0 && n < e->model->nkey) {
      check(e, (int)n);
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
  char message[1000] = "usage: tabi-bench-peers FILE";
  // its own handlers write to a log file in the current folder
  mju_user_error = fail;
  mju_user_warning = ignore;
  engine e = {.model = argc == 2 ? mj_loadXML(argv[1], NULL, message, sizeof message) : NULL};
  if (e.model) e.data = mj_makeData(e.model);
  if (!e.data || e.model->nkey < 1) {
    for (char *c = message; *c; c++)
      if (*c == '\n') *c = ' ';
    fail(message);
  }
  (void)printf("ready mujoco %s\n", mj_versionString());
  (void)fflush(stdout);
  int code = answer(&e);
  mj_deleteData(e.data);
  mj_deleteModel(e.model);
  return code;
}
