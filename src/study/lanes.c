/* lanes.c - see lanes.h.
 *
 * A servo that follows pushes with kp (target - q) + kd (rate - v); in lanes it has no rate, so
 * that its target is kd / kp rate ahead. */
#include "study/lanes.h"

#include "base/assertion.h"
#include "base/error.h"
#include "record/signals.h"
#include "scene/control.h"
#include "scene/time_function.h"
#include "study/run.h"
#include "tabi/tabi_batch.h"
#include "world/world.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const tabi_batch_field varied[] = {TABI_BATCH_MASS, TABI_BATCH_COM, TABI_BATCH_INERTIA,
                                          TABI_BATCH_EFFORT, TABI_BATCH_GRAVITY};
enum { NVARIED = sizeof varied / sizeof *varied };

/* A run in its world of the batch. */
typedef struct lane {
  tbi_trial t;
  int64_t step, steps;
  bool done, refused; /* refused: its scene could not be loaded */
  tabi_status status;
} lane;

struct tbi_run_lanes {
  const tabi_study *study;
  tabi_scene *scene; /* of run 0 */
  tabi_batch *batch;
  int32_t push_link; /* or TABI_NONE */
  int32_t *dof;      /* of joints with one coordinate, or TABI_NONE: [njoint] */
  bool slides;       /* a parameter is friction */
  lane lane[TBI_LANES_RUNS];
  uint8_t active[TBI_LANES_RUNS];
  tabi_error refusal; /* of the last run that its scene refused */
};

/* -- what lanes can do */

/* Values of the scene that may differ between worlds of a batch, and all below them; '*' is any
 * name. */
static const char *const may_vary[] = {
    "forces",
    "gravity",
    "duration",
    "robots.*.controller",
    "robots.*.posture",
    "robots.*.velocity",
    "robots.*.lin",
    "robots.*.ang",
    "robots.*.links.*.mass",
    "robots.*.links.*.com",
    "robots.*.joints.*.effort",
};
static const char *const may_slide[] = {"contact.friction", "materials.*.friction",
                                        "pairs.*.2.friction"};

/* Whether a path is that of a pattern, or goes on from there. */
static bool is_below(const char *path, const char *pattern) {
  for (;;) {
    size_t name = strcspn(path, ".");
    size_t wanted = strcspn(pattern, ".");
    bool any = wanted == 1 && pattern[0] == '*';
    if (!any && (name != wanted || memcmp(path, pattern, name) != 0)) return false;
    if (pattern[wanted] == '\0') return true;
    if (path[name] == '\0') return false;
    path += name + 1;
    pattern += wanted + 1;
  }
}

static bool is_one_of(const char *path, const char *const *pattern, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (is_below(path, pattern[i])) return true;
  }
  return false;
}

static bool check_parameter(tbi_run_lanes *l, const tbi_parameter *p, tabi_error *err) {
  for (int32_t i = 0; i < p->npath; ++i) {
    bool slides = is_one_of(p->path[i], may_slide, sizeof may_slide / sizeof *may_slide);
    l->slides = l->slides || slides;
    if (slides || is_one_of(p->path[i], may_vary, sizeof may_vary / sizeof *may_vary)) continue;
    tbi_error_set(
        err, TABI_ERR_ARGUMENT, (tabi_place){l->study->path, 1},
        "engine: batch: parameter '%s' sets %.80s, but lanes may differ only in forces, "
        "gravity, friction, controllers, postures, masses of links and efforts of joints; "
        "take engine: world",
        p->name, p->path[i]);
    return false;
  }
  return true;
}

/* Signals of what a batch does not tell: forces of contacts and joints, the certificate. */
static const char *const not_told[] = {
    "certificate*", "contact*", "iterations", "ground*",  "energy.work", "*zmp.*",  "*force.?",
    "*margin",      "*.f[xyz]", "*.slip",     "*.effort", "*.commanded", "*.limit",
};

static bool is_told(const tabi_signals *s, int32_t signal) {
  const char *name = tabi_signals_get(s, signal).name;
  for (size_t i = 0; i < sizeof not_told / sizeof *not_told; ++i) {
    if (fnmatch(not_told[i], name, 0) == 0) return false;
  }
  return signal < s->first[TBI_SIGNALS_SENSORS];
}

/* chosen: scratch, [signals] */
static bool check_measure(const tabi_signals *s, const tbi_measure *m, bool *chosen,
                          tabi_error *err) {
  int32_t count = tabi_signals_count(s);
  bool told = m->kind == TBI_MEASURE_FELL || m->kind == TBI_MEASURE_FALL_TIME || m->signal;
  memset(chosen, 0, (size_t)count * sizeof *chosen);
  if (m->signal) (void)tabi_signals_match(s, m->signal, chosen);
  for (int32_t i = 0; i < count; ++i)
    told = told && (!chosen[i] || is_told(s, i));
  if (told) return true;
  tbi_error_set(err, TABI_ERR_ARGUMENT, m->place,
                "engine: batch: measure '%s' needs forces, sensors or the certificate of a step, "
                "but runs in lanes tell their motion only; take engine: world",
                m->name);
  return false;
}

static bool check_measures(const tbi_run_lanes *l, tabi_error *err) {
  tabi_signals *s = tabi_signals_create(l->scene, err);
  if (!s) return false;
  bool *chosen = calloc((size_t)tabi_signals_count(s) + 1, sizeof *chosen);
  bool good = chosen != NULL;
  if (!good) tbi_error_memory(err);
  for (int32_t i = 0; i < l->study->nmeasure && good; ++i)
    good = check_measure(s, &l->study->measure[i], chosen, err);
  free(chosen);
  tabi_signals_destroy(s);
  return good;
}

static bool refuse(const tbi_run_lanes *l, tabi_error *err, const char *why) {
  tbi_error_set(err, TABI_ERR_ARGUMENT, (tabi_place){l->study->path, 1},
                "engine: batch: %.200s; take engine: world", why);
  return false;
}

static bool check_scene(const tbi_run_lanes *l, const tabi_scene *scene, tabi_error *err) {
  if (!tbi_scene_is_open_loop(scene))
    return refuse(l, err, "a controller looks at the robot, and lanes can only follow targets");
  if (scene->nmotion > 0) return refuse(l, err, "bodies or joints move as told");
  for (int32_t i = 0; i < scene->nforce; ++i) {
    if (scene->forces[i].link != scene->forces[0].link)
      return refuse(l, err, "forces act on several links, and lanes push one");
  }
  return true;
}

/* -- life */

static tabi_batch *make_batch(const tabi_scene *scene, int32_t worlds, int32_t push_link,
                              tabi_error *err) {
  tabi_world_def world = tabi_scene_world_def(scene);
  tabi_batch_def def = tabi_batch_def_default();
  def.worlds = worlds;
  def.threads = 1;
  def.push_link = push_link;
  def.vary = 1U << TABI_BATCH_KP | 1U << TABI_BATCH_KD | 1U << TABI_BATCH_FRICTION;
  for (int i = 0; i < NVARIED; ++i)
    def.vary |= 1U << varied[i];
  return tabi_batch_create(tabi_scene_model(scene), &world, &def, err);
}

static bool find_dofs(tbi_run_lanes *l, tabi_error *err) {
  const tabi_model *model = tabi_scene_model(l->scene);
  l->dof = calloc((size_t)tabi_model_njoint(model) + 1, sizeof *l->dof);
  if (!l->dof) return tbi_error_memory(err) == TABI_OK;
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_range v = tabi_model_joint_v(model, j);
    l->dof[j] = v.count == 1 ? v.first : TABI_NONE;
  }
  return true;
}

/* A model that lanes cannot step may not even vary, so the reason comes from a batch without. */
static bool check_model(const tbi_run_lanes *l, tabi_error *err) {
  tabi_world_def world = tabi_scene_world_def(l->scene);
  tabi_batch_def def = tabi_batch_def_default();
  def.threads = 1;
  tabi_batch *one = tabi_batch_create(tabi_scene_model(l->scene), &world, &def, err);
  if (!one) return false;
  bool good = tabi_batch_lanes(one) > 0 || refuse(l, err, tabi_batch_reason(one));
  tabi_batch_destroy(one);
  return good;
}

static bool make(tbi_run_lanes *l, tabi_error *err) {
  for (int32_t i = 0; i < l->study->nparameter; ++i) {
    if (!check_parameter(l, &l->study->parameter[i], err)) return false;
  }
  l->scene = tbi_study_scene(l->study, 0, err);
  if (!l->scene || !check_scene(l, l->scene, err) || !check_model(l, err)) return false;
  if (!check_measures(l, err)) return false;
  l->push_link = l->scene->nforce > 0 ? l->scene->forces[0].link : TABI_NONE;
  l->batch = make_batch(l->scene, TBI_LANES_RUNS, l->push_link, err);
  return l->batch && find_dofs(l, err);
}

tbi_run_lanes *tbi_run_lanes_create(const tabi_study *study, tabi_error *err) {
  tbi_run_lanes *l = calloc(1, sizeof *l);
  if (!l) {
    tbi_error_memory(err);
    return NULL;
  }
  l->study = study;
  if (make(l, err)) return l;
  tbi_run_lanes_destroy(l);
  return NULL;
}

void tbi_run_lanes_destroy(tbi_run_lanes *lanes) {
  if (!lanes) return;
  tabi_batch_destroy(lanes->batch);
  tabi_scene_destroy(lanes->scene);
  free(lanes->dof);
  free(lanes);
}

/* -- a run begins */

static double *row_of(tabi_batch *batch, tabi_batch_field field, int32_t index) {
  int32_t n = 0;
  double *all = tabi_batch_array(batch, field, &n);
  return all ? all + (ptrdiff_t)index * n : NULL;
}

/* Static and kinetic coefficient of friction between two shapes. */
static void find_coefficients(const tabi_scene *scene, const tabi_shape_def *a,
                              const tabi_shape_def *b, double coefficient[2]) {
  double given = tabi_scene_world_def(scene).friction;
  tabi_material_def m = tabi_model_surface(tabi_scene_model(scene), a->material, b->material);
  coefficient[0] = given >= 0 ? given : m.friction;
  coefficient[1] = given >= 0 || m.kinetic < 0 ? coefficient[0] : m.kinetic;
}

/* Whether both coefficients change by one factor, which the first of them tells (NAN: none yet). */
static bool are_scaled(const double now[2], const double before[2], double *factor) {
  for (int k = 0; k < 2; ++k) {
    if (isnan(*factor) && before[k] > 0) *factor = now[k] / before[k];
    double expected = before[k] > 0 ? *factor * before[k] : 0;
    if (!(fabs(now[k] - expected) <= 1e-12 * expected)) return false;
  }
  return true;
}

static bool may_touch(const tabi_model *model, const tabi_shape_def *a, const tabi_shape_def *b) {
  bool fixed = tabi_model_link_body(model, a->link) == TABI_WORLD &&
               tabi_model_link_body(model, b->link) == TABI_WORLD;
  return !fixed && a->link != b->link && ((a->group & b->mask) != 0 || (b->group & a->mask) != 0);
}

/* The factor by which all coefficients of friction differ from those of run 0. */
static bool find_friction(const tbi_run_lanes *l, const tabi_scene *scene, double *factor,
                          tabi_error *err) {
  const tabi_model *model = tabi_scene_model(l->scene);
  double found = (double)NAN;
  *factor = 1;
  for (int32_t i = 0; l->slides && i < tabi_model_nshape(model); ++i) {
    for (int32_t j = 0; j < i; ++j) {
      tabi_shape_def a = tabi_model_shape(model, i);
      tabi_shape_def b = tabi_model_shape(model, j);
      if (!may_touch(model, &a, &b)) continue;
      double now[2];
      double before[2];
      find_coefficients(scene, &a, &b, now);
      find_coefficients(l->scene, &a, &b, before);
      if (!are_scaled(now, before, &found)) {
        return refuse(l, err,
                      "friction of some surfaces, or static and kinetic friction of one, change by "
                      "different factors; change that of the ground alone");
      }
    }
  }
  if (!isnan(found)) *factor = found;
  return true;
}

/* Masses and the like, as a batch of the run's own model has them. */
static bool copy_varied(tbi_run_lanes *l, int32_t index, tabi_error *err) {
  tabi_batch *own = make_batch(l->lane[index].t.scene, 1, TABI_NONE, err);
  if (!own) return false;
  for (int i = 0; i < NVARIED; ++i) {
    int32_t n = 0;
    const double *from = tabi_batch_array(own, varied[i], &n);
    double *to = row_of(l->batch, varied[i], index);
    if (n > 0) memcpy(to, from, (size_t)n * sizeof *to);
  }
  tabi_batch_destroy(own);
  return true;
}

static void update_controllers(const lane *run) {
  const tabi_scene *scene = run->t.scene;
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    const tbi_scene_robot *robot = &scene->robots[i];
    if (robot->controller)
      robot->control->update(robot->controller, run->t.world, scene->world.timestep);
  }
}

static bool copy_gains(tbi_run_lanes *l, int32_t index, tabi_error *err) {
  tabi_world *world = l->lane[index].t.world;
  double *kp = row_of(l->batch, TABI_BATCH_KP, index);
  double *kd = row_of(l->batch, TABI_BATCH_KD, index);
  update_controllers(&l->lane[index]);
  for (int32_t j = 0; j < tabi_model_njoint(tabi_batch_model(l->batch)); ++j) {
    if (l->dof[j] == TABI_NONE) continue;
    tabi_servo servo = tabi_world_get_servo(world, j);
    if (!servo.implicit && (servo.kp > 0 || servo.kd > 0))
      return refuse(l, err, "servos are explicit");
    kp[l->dof[j]] = servo.kp;
    kd[l->dof[j]] = servo.kd;
  }
  return true;
}

static bool are_equal(const double *a, const double *b, int count) {
  for (int i = 0; i < count; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}

/* Joints that are locked where the posture says have their places in the model. */
static bool has_frames_of(const tabi_model *model, const tabi_model *other) {
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_joint_def a = tabi_model_joint(model, j);
    tabi_joint_def b = tabi_model_joint(other, j);
    if (!are_equal(a.pos, b.pos, 3) || !are_equal(a.quat, b.quat, 4)) return false;
  }
  return true;
}

/* Whether the batch, which is made of the scene of run 0, can do this one. */
static bool check_run(const tbi_run_lanes *l, const tabi_scene *scene, tabi_error *err) {
  if (!check_scene(l, scene, err)) return false;
  if (scene->nforce > 0 && scene->forces[0].link != l->push_link)
    return refuse(l, err, "forces act on other links than in the first run");
  if (!has_frames_of(tabi_scene_model(scene), tabi_scene_model(l->scene)))
    return refuse(l, err, "joints are locked elsewhere than in the first run");
  return true;
}

static bool begin(tbi_run_lanes *l, int32_t index, int64_t run, const char *log, tabi_error *err) {
  lane *of = &l->lane[index];
  *of = (lane){.done = false};
  tabi_error failed = {0};
  if (!tbi_trial_begin(l->study, run, log, &of->t, &failed)) {
    of->done = of->refused = tbi_run_is_refused(&failed);
    *(of->refused ? &l->refusal : err) = failed;
    return of->refused;
  }
  if (!check_run(l, of->t.scene, err)) return false;
  double *friction = row_of(l->batch, TABI_BATCH_FRICTION, index);
  of->steps = tbi_trial_steps(&of->t);
  return find_friction(l, of->t.scene, friction, err) && copy_varied(l, index, err) &&
         tabi_batch_reset(l->batch, &index, 1, tabi_world_q(of->t.world), tabi_world_v(of->t.world),
                          err) == TABI_OK &&
         copy_gains(l, index, err);
}

/* -- a step */

/* The run's world in the state of the batch. */
static void look(tbi_run_lanes *l, int32_t index) {
  tabi_world *world = l->lane[index].t.world;
  (void)tabi_world_set_state(world, row_of(l->batch, TABI_BATCH_Q, index),
                             row_of(l->batch, TABI_BATCH_V, index), NULL);
}

static void set_targets(tbi_run_lanes *l, int32_t index) {
  const tabi_world *world = l->lane[index].t.world;
  double *target = row_of(l->batch, TABI_BATCH_TARGET, index);
  double *torque = row_of(l->batch, TABI_BATCH_TORQUE, index);
  double *control = row_of(l->batch, TABI_BATCH_CONTROL, index);
  update_controllers(&l->lane[index]);
  for (int32_t j = 0; j < tabi_model_njoint(tabi_batch_model(l->batch)); ++j) {
    int32_t k = l->dof[j];
    if (k == TABI_NONE) continue;
    tabi_servo servo = tabi_world_get_servo(world, j);
    bool stiff = servo.kp > 0;
    target[k] = servo.target + (stiff ? servo.kd / servo.kp * servo.target_rate : 0);
    torque[k] = stiff ? 0 : servo.kd * servo.target_rate;
  }
  int32_t nactuator = tabi_model_nactuator(tabi_batch_model(l->batch));
  if (nactuator > 0) memcpy(control, world->state.control, (size_t)nactuator * sizeof *control);
}

static void add_force(const tbi_scene_force *force, double middle, tabi_world *world, double *six) {
  double wrench[TBI_TIME_MAX];
  double pos[3];
  double quat[4];
  tbi_time_function_value(&force->wrench, middle, wrench);
  tabi_dynamics_link_pose(tabi_world_dynamics(world), force->link, pos, quat);
  m3 turn = q_matrix(q_load(quat));
  v3 about = v3_cross(m3_mulv(&turn, v3_load(force->at)), v3_load(wrench));
  const double moment[3] = {about.x, about.y, about.z};
  for (int i = 0; i < 3; ++i) {
    six[i] += wrench[i];
    six[3 + i] += wrench[3 + i] + moment[i];
  }
}

/* As tbi_scene_apply_forces does; the pose of the link counts while something pushes. */
static void set_push(tbi_run_lanes *l, int32_t index) {
  const lane *run = &l->lane[index];
  const tabi_scene *scene = run->t.scene;
  double middle = tabi_world_time(run->t.world) + scene->world.timestep / 2;
  double *six = row_of(l->batch, TABI_BATCH_PUSH, index);
  bool looked = false;
  if (six) memset(six, 0, 6 * sizeof *six);
  for (int32_t i = 0; six && i < scene->nforce; ++i) {
    const tbi_scene_force *force = &scene->forces[i];
    if (middle < force->from || middle >= force->to) continue;
    if (!looked) look(l, index);
    looked = true;
    add_force(force, middle, run->t.world, six);
  }
}

static bool lies(tbi_run_lanes *l, int32_t index) {
  const lane *run = &l->lane[index];
  if (!l->study->until_fall || (run->step - 1) % TBI_FALL_EVERY != 0) return false;
  look(l, index);
  return tbi_measuring_fell(run->t.measuring);
}

/* What is kept of a step that was made. */
static tabi_status observe(tbi_run_lanes *l, int32_t index, tabi_error *err) {
  lane *run = &l->lane[index];
  tabi_status status = TABI_OK;
  run->status = (tabi_status)tabi_batch_status(l->batch)[index];
  run->done = run->status != TABI_OK;
  if (run->done) return TABI_OK;
  run->t.world->state.head->steps = ++run->step;
  if (run->t.recorder || tbi_measuring_looks(run->t.measuring)) look(l, index);
  tbi_measuring_step(run->t.measuring);
  if (run->t.recorder) status = tabi_recorder_step(run->t.recorder, err);
  run->done = run->step >= run->steps || lies(l, index);
  return status;
}

static int32_t prepare(tbi_run_lanes *l, int32_t count) {
  int32_t going = 0;
  memset(l->active, 0, sizeof l->active);
  for (int32_t i = 0; i < count; ++i) {
    if (l->lane[i].done) continue;
    set_targets(l, i);
    set_push(l, i);
    l->active[i] = 1;
    ++going;
  }
  return going;
}

/* -- all of them */

static tabi_status step_all(tbi_run_lanes *l, int32_t count, tabi_error *err) {
  tabi_status status = TABI_OK;
  while (status == TABI_OK && prepare(l, count) > 0) {
    (void)tabi_batch_step(l->batch, 1, l->active);
    for (int32_t i = 0; i < count && status == TABI_OK; ++i) {
      if (l->active[i]) status = observe(l, i, err);
    }
  }
  return status;
}

/* Their time is shared evenly. */
static void tell(tbi_run_lanes *l, const int64_t *run, int32_t count, double start,
                 tabi_study_row *row) {
  for (int32_t i = 0; i < count; ++i) {
    row[i].run = run[i];
    row[i].engine = TABI_ENGINE_BATCH;
    if (l->lane[i].refused) {
      tbi_run_refuse(l->study, start, &row[i]);
    } else {
      look(l, i);
      tbi_trial_tell(&l->lane[i].t, l->lane[i].status, start, &row[i]);
    }
    row[i].seconds /= count;
  }
}

tabi_status tbi_run_lanes_do(tbi_run_lanes *lanes, const int64_t *run, int32_t count,
                             const char *log, tabi_study_row *row, tabi_error *err) {
  TBI_ASSERT(lanes && count >= 0 && count <= TBI_LANES_RUNS);
  double start = tbi_run_clock();
  tabi_error failed = {0};
  bool good = true;
  int32_t begun = 0;
  lanes->refusal.status = TABI_OK;
  while (good && begun < count) {
    good = begin(lanes, begun, run[begun], begun == 0 ? log : NULL, &failed);
    ++begun;
  }
  if (good && step_all(lanes, count, &failed) == TABI_OK) tell(lanes, run, count, start, row);
  for (int32_t i = 0; i < begun; ++i)
    tbi_trial_end(&lanes->lane[i].t, &failed);
  const tabi_error *told = failed.status != TABI_OK ? &failed : &lanes->refusal;
  if (err && told->status != TABI_OK) *err = *told;
  return failed.status;
}
