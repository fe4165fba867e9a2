/* engine_run.c - hands a scene to tabi or to a peer program and asks either the same questions (see
 * peers/serve.h). */
#include "engine_run.h"

#include "base/error.h"
#include "math/quat.h"
#include "mjcf.h"
#include "neutral_export.h"
#include "tabi_engine.h"
#include "valgrind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tabi_status tbi_engine_scene_init(tbi_engine_scene *scene, tbi_bench_scene *base, double timestep,
                                  tabi_error *err) {
  *scene = (tbi_engine_scene){.base = *base, .timestep = timestep};
  *base = (tbi_bench_scene){0};
  scene->v = calloc((size_t)tabi_model_nv(scene->base.model) + 1, sizeof(double));
  if (scene->v) return TABI_OK;
  tbi_engine_scene_free(scene);
  return tbi_error_memory(err);
}

void tbi_engine_scene_move(tbi_engine_scene *scene, const tabi_world *world) {
  const tabi_model *model = scene->base.model;
  memcpy(scene->base.q, tabi_world_q(world), (size_t)tabi_model_nq(model) * sizeof(double));
  memcpy(scene->v, tabi_world_v(world), (size_t)tabi_model_nv(model) * sizeof(double));
}

tabi_status tbi_engine_scene_finish(tbi_engine_scene *scene, tabi_error *err) {
  tabi_dynamics *dynamics = tabi_dynamics_create(scene->base.model, err);
  if (!dynamics) return err->status;
  const char *odd = tbi_neutral_scene_from_model(&scene->neutral, scene->base.model, dynamics,
                                                 scene->base.q, scene->v, scene->base.servo);
  tabi_dynamics_destroy(dynamics);
  scene->neutral.timestep = scene->timestep;
  scene->neutral.nstep = scene->nstep;
  scene->neutral.aim = scene->aim;
  scene->aim = NULL;
  if (!odd) return TABI_OK;
  *err = (tabi_error){.status = TABI_ERR_MODEL};
  (void)snprintf(err->message, sizeof err->message, "the model has %s", odd);
  return TABI_ERR_MODEL;
}

void tbi_engine_scene_free(tbi_engine_scene *scene) {
  tbi_bench_scene_free(&scene->base);
  tbi_neutral_scene_free(&scene->neutral);
  free(scene->v);
  free(scene->aim);
  *scene = (tbi_engine_scene){0};
}

bool tbi_engine_config_available(const tbi_engine_config *who) {
  char path[4096];
  return !who->program || tbi_process_beside(who->program, path, sizeof path);
}

static bool write_plain(tbi_engine_run *c) {
  FILE *file = tbi_process_file(c->file[0], ".txt");
  if (!file) return false;
  bool ok = tbi_neutral_scene_write(&c->scene->neutral, file);
  return fclose(file) == 0 && ok;
}

static bool write_mjcf(tbi_engine_run *c) {
  const tbi_engine_scene *scene = c->scene;
  FILE *file = tbi_process_file(c->file[1], ".xml");
  tabi_dynamics *dynamics = file ? tabi_dynamics_create(scene->base.model, NULL) : NULL;
  tbi_mjcf_def def = {.model = scene->base.model,
                      .dynamics = dynamics,
                      .touching = true,
                      .servo = scene->base.servo,
                      .contacts = scene->contacts};
  bool ok = dynamics && tbi_mjcf_write(&def, file) == NULL && !ferror(file);
  tabi_dynamics_destroy(dynamics);
  return file && fclose(file) == 0 && ok;
}

static void remove_files(tbi_engine_run *c) {
  for (int i = 0; i < 2; ++i)
    if (c->file[i][0]) (void)unlink(c->file[i]);
}

static bool open_tabi(tbi_engine_run *c, char *trouble, size_t size) {
  c->instance = (tbi_engine_instance){.engine = &tbi_tabi_engine,
                                      .neutral = &c->scene->neutral,
                                      .settings = c->who->settings,
                                      .more = c->scene};
  const char *reason = tbi_engine_reset(&c->instance);
  (void)snprintf(c->engine, sizeof c->engine, "%s", tbi_tabi_engine.name);
  if (reason) (void)snprintf(trouble, size, "%s", reason);
  return !reason;
}

static bool start_peer(tbi_engine_run *c, char *trouble, size_t size) {
  char path[4096];
  bool mujoco = strcmp(c->who->program, "mujoco") == 0;
  if (!write_plain(c) || (mujoco && !write_mjcf(c))) {
    (void)snprintf(trouble, size, "the scene cannot be written; is TMPDIR a folder with room?");
    return false;
  }
  const char *const argv[] = {path, c->file[0], c->who->settings, mujoco ? c->file[1] : NULL, NULL};
  if (!tbi_process_beside(c->who->program, path, sizeof path)) {
    (void)snprintf(trouble, size, "there is no tabi-bench-%s beside tabi; install %s and build",
                   c->who->program, c->who->package);
    return false;
  }
  return tbi_process_greet(&c->process, argv, c->engine, trouble, size);
}

/* How far the bodies of an engine are from where the scene starts, m, rad and their rates. */
static double start_error(const tbi_neutral_scene *neutral, const tbi_neutral_state *state) {
  double worst = 0;
  for (int32_t i = 0; i < neutral->nbody; ++i) {
    const tbi_neutral_body *b = &neutral->body[i];
    m3 rot = q_matrix(q_load(b->start_quat));
    v3 arm = m3_mulv(&rot, v3_load(b->com));
    v3 turn = v3_load(b->start_angular), speed = v3_load(b->start_linear);
    v3 off = v3_sub(v3_load(state[i].com), v3_add(v3_load(b->start_pos), arm));
    v3 slip = v3_sub(v3_load(state[i].linear), v3_add(speed, v3_cross(turn, arm)));
    v3 spin = v3_sub(v3_load(state[i].angular), turn);
    const double *p = b->start_quat, *q = state[i].quat;
    double same = fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]);
    double turned = 2 * sqrt(fmax(0, 1 - same * same));
    worst = fmax(worst, fmax(fmax(v3_norm(off), v3_norm(slip)), fmax(v3_norm(spin), turned)));
  }
  return worst;
}

static bool check_start(tbi_engine_run *c, char *trouble, size_t size) {
  const tbi_neutral_scene *neutral = &c->scene->neutral;
  tbi_neutral_state *state = calloc((size_t)neutral->nbody + 1, sizeof *state);
  double error = state && tbi_engine_run_state(c, state) ? start_error(neutral, state) : HUGE_VAL;
  free(state);
  if (error < 1e-6) return true;
  (void)snprintf(trouble, size, "it starts elsewhere, by %.2g", error);
  (void)tbi_process_stop(&c->process);
  return false;
}

bool tbi_engine_run_open(tbi_engine_run *c, const tbi_engine_config *who,
                         const tbi_engine_scene *scene, char *trouble, size_t size) {
  *c = (tbi_engine_run){.who = who, .scene = scene};
  if (!who->program) return open_tabi(c, trouble, size);
  bool ok = start_peer(c, trouble, size) && check_start(c, trouble, size);
  if (!ok) remove_files(c);
  return ok;
}

void tbi_engine_run_close(tbi_engine_run *c) {
  tbi_engine_close(&c->instance);
  if (c->who->program) (void)tbi_process_stop(&c->process);
  remove_files(c);
  *c = (tbi_engine_run){0};
}

bool tbi_engine_run_reset(tbi_engine_run *c) {
  double none = 0;
  if (c->who->program) return tbi_process_ask(&c->process, "reset\n", &none, 1);
  return tbi_engine_reset(&c->instance) == NULL;
}

tbi_engine_time tbi_engine_run_step(tbi_engine_run *c, int32_t steps, double budget) {
  char question[64];
  double x[3];
  if (!c->who->program) return tbi_engine_step(&c->instance, steps, budget);
  (void)snprintf(question, sizeof question, "step %d %.17g\n", (int)steps, budget);
  if (!tbi_process_ask(&c->process, question, x, 3))
    return (tbi_engine_time){.seconds = (double)NAN};
  return (tbi_engine_time){(int32_t)x[0], x[1], x[2]};
}

bool tbi_engine_run_push(tbi_engine_run *c, int32_t body, const double force[3]) {
  char question[128];
  double none = 0;
  if (!c->who->program) {
    c->instance.engine->push(c->instance.self, body, force);
    return true;
  }
  (void)snprintf(question, sizeof question, "push %d %.17g %.17g %.17g\n", (int)body, force[0],
                 force[1], force[2]);
  return tbi_process_ask(&c->process, question, &none, 1);
}

bool tbi_engine_run_state(tbi_engine_run *c, tbi_neutral_state *state) {
  size_t n = (size_t)c->scene->neutral.nbody;
  double none = 0;
  if (!c->who->program) {
    c->instance.engine->state(c->instance.self, state);
    return true;
  }
  return tbi_process_ask(&c->process, "state\n", &none, 1) &&
         fread(state, sizeof *state, n, c->process.from) == n;
}

double tbi_engine_run_count(tbi_engine_run *c, int32_t warm, int32_t steps) {
  if (!c->who->program) return tbi_engine_count(&c->instance);
  char path[4096];
  double count = (double)NAN;
  const char *const argv[] = {path, c->file[0], c->who->settings, c->file[1][0] ? c->file[1] : NULL,
                              NULL};
  const tbi_valgrind valgrind = {argv, warm, steps};
  if (tbi_process_beside(c->who->program, path, sizeof path)) count = tbi_valgrind_count(&valgrind);
  if (isnan(count)) (void)tbi_process_ask(&c->process, "count\n", &count, 1);
  return count;
}

tabi_world *tbi_engine_run_world(const tbi_engine_run *c) {
  return c->who->program ? NULL : tbi_tabi_engine_world(c->instance.self);
}
