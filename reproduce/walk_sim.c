/* walk_sim.c - humanoids that follow a plan of steps; see walk_sim.h.
 *
 * A robot is copied from its file with the rubber of its feet locked or not, with one material for
 * all its shapes and the floor, and with the sensors of the stabiliser.  The plan is made for that
 * robot; a variant with other masses is a second copy, which walks as the first one planned. */
#include "walk_sim.h"

#include "floor.h"
#include "measure.h"
#include "walk_metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* -- robots and footsteps */

tbi_walk_sim_def tbi_walk_sim_humanoid36(void) {
  return (tbi_walk_sim_def){.model = "humanoid36",
                            .height = 0.6487,
                            .knee = 0.8727,
                            .friction = 0.7,
                            .kinetic = -1,
                            .kp = 15000,
                            .kd = 300,
                            .bush_slide = 5e5,
                            .bush_turn = 1e3,
                            .slide_damping = 1e3,
                            .turn_damping = 25,
                            .slide_rotor = 0.1,
                            .turn_rotor = 0.014,
                            .contact = TABI_CONTACT_CONE,
                            .timestep = 1e-3,
                            .stand_before = 2,
                            .stand_after = 1.85};
}

tbi_walk_sim_def tbi_walk_sim_humanoid20(void) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid36();
  def.model = "humanoid20";
  def.height = 0.215;
  def.kp = 300;
  def.kd = 3;
  def.stand_after = 1;
  return def;
}

tbi_walk_sim_def tbi_walk_sim_figure40(void) {
  tbi_walk_sim_def def = tbi_walk_sim_humanoid36();
  def.model = "figure40";
  def.height = 0.865;
  def.stand_after = 1;
  return def;
}

void tbi_walk_sim_add_steps(tbi_walk_sim_def *def, int32_t count, tabi_footstep step) {
  for (int32_t i = 0; i < count && def->nstep < TBI_WALK_MAX_STEPS; ++i)
    def->step[def->nstep++] = step;
}

void tbi_walk_sim_add_nineteen_steps(tbi_walk_sim_def *def) {
  const double degree = 3.14159265358979324 / 180;
  const tabi_footstep in_place = tabi_footstep_default();
  tabi_footstep ahead = in_place, back = in_place;
  ahead.forward = 0.2;
  back.forward = -0.15;
  tbi_walk_sim_add_steps(def, 1, in_place);
  tbi_walk_sim_add_steps(def, 6, ahead);
  tbi_walk_sim_add_steps(def, 5, tabi_footstep_arc(0.75, 12 * degree));
  tbi_walk_sim_add_steps(def, 1, in_place);
  tbi_walk_sim_add_steps(def, 5, back);
  tbi_walk_sim_add_steps(def, 1, in_place);
}

void tbi_walk_sim_publish(tbi_walk_sim_def *def) {
  def->contact = (tabi_contact_kind)tabi_contact_describe(def->contact)->published;
  def->integrator = TABI_RK4;
  def->timestep = 1e-3;
  def->iterations = 120;
}

/* -- variants */

/* 0.95 to 1.05; 1 without a seed. */
static double varied(uint64_t *seed) {
  if (*seed == 0) return 1;
  /* a congruential generator is good enough for a few dozen numbers */
  *seed = *seed * 6364136223846793005U + 1442695040888963407U;
  return 0.95 + 0.1 * (double)(*seed >> 11) * 0x1p-53;
}

static uint64_t seed_of(uint64_t variant) {
  return variant ? (variant + 1) * 0x9e3779b97f4a7c15U | 1U : 0;
}

static void vary(tbi_walk_sim_def *def) {
  uint64_t seed = seed_of(def->variant);
  for (int i = 0; i < 4; ++i)
    (void)varied(&seed);
  def->height *= varied(&seed);
  double friction = varied(&seed);
  def->friction *= friction;
  def->kinetic *= friction;
  def->kp *= varied(&seed);
  def->kd *= varied(&seed);
  def->bush_slide *= varied(&seed);
  def->bush_turn *= varied(&seed);
  double single = varied(&seed), both = varied(&seed), lift = varied(&seed);
  for (int32_t i = 0; i < def->nstep; ++i) {
    def->step[i].single_support *= single;
    def->step[i].double_support *= both;
    def->step[i].lift *= lift;
  }
}

/* -- the robot */

static void add_sensor(tabi_builder *builder, tabi_sensor_type type, const char *name, int32_t link,
                       int32_t joint) {
  tabi_sensor_def def = tabi_sensor_def_default();
  def.type = type;
  def.name = name;
  def.link = link;
  def.joint = joint;
  (void)tabi_builder_add_sensor(builder, &def);
}

static void add_sensors(tabi_builder *to) {
  static const char *const legs[] = {"hip_yaw", "hip_roll",    "hip_pitch",
                                     "knee",    "ankle_pitch", "ankle_roll"};
  int32_t pelvis = tabi_builder_find_link(to, "pelvis");
  add_sensor(to, TABI_SENSOR_FORCE_TORQUE, "l_force", TABI_NONE,
             tabi_builder_find_joint(to, "l_ankle_roll"));
  add_sensor(to, TABI_SENSOR_FORCE_TORQUE, "r_force", TABI_NONE,
             tabi_builder_find_joint(to, "r_ankle_roll"));
  add_sensor(to, TABI_SENSOR_GYRO, "gyro", pelvis, TABI_NONE);
  add_sensor(to, TABI_SENSOR_ACCELEROMETER, "accelerometer", pelvis, TABI_NONE);
  for (int i = 0; i < 12; ++i) {
    char name[32];
    (void)snprintf(name, sizeof name, "%c_%s", i < 6 ? 'l' : 'r', legs[i % 6]);
    add_sensor(to, TABI_SENSOR_ENCODER, NULL, TABI_NONE, tabi_builder_find_joint(to, name));
  }
}

static void change_bush(const tbi_walk_sim_def *def, tabi_joint_def *joint) {
  bool slides = strstr(joint->name, "_bush_z") != NULL;
  joint->stiffness = slides ? def->bush_slide : def->bush_turn;
  joint->damping = slides ? def->slide_damping : def->turn_damping;
  joint->rotor_inertia = slides ? def->slide_rotor : def->turn_rotor;
  if (!def->bush) joint->type = TABI_JOINT_FIXED;
}

static void copy_robot(const tabi_model *from, const tbi_walk_sim_def *def, bool vary_masses,
                       tabi_builder *to) {
  uint64_t seed = vary_masses ? seed_of(def->variant + 1000) : 0;
  int32_t material = tbi_floor_add(to, def->friction, def->kinetic, def->restitution);
  for (int32_t i = 0; i < tabi_model_nlink(from); ++i) {
    tabi_link_def link = tabi_model_link(from, i);
    double factor = varied(&seed);
    link.mass *= factor;
    for (int k = 0; k < 6; ++k)
      link.inertia[k] *= factor;
    (void)tabi_builder_add_link(to, &link);
  }
  for (int32_t i = 0; i < tabi_model_njoint(from); ++i) {
    tabi_joint_def joint = tabi_model_joint(from, i);
    if (strstr(joint.name, "_bush_")) change_bush(def, &joint);
    (void)tabi_builder_add_joint(to, &joint);
  }
  tbi_floor_copy_shapes(from, to, material);
  add_sensors(to);
}

static tabi_model *make_robot(const tbi_walk_sim_def *def, bool vary_masses, tabi_error *err) {
  char name[64], path[TBI_PATH_SIZE];
  (void)snprintf(name, sizeof name, "models/%s.urdf", def->model);
  tbi_shipped_path(name, path);
  tabi_model *file = tabi_model_load(path, NULL, err);
  if (!file) return NULL;
  tabi_builder *builder = tabi_builder_create();
  tabi_model *model = NULL;
  if (builder) {
    copy_robot(file, def, vary_masses, builder);
    model = tabi_builder_build(builder, err);
  } else {
    (void)tbi_no_memory(err);
  }
  tabi_builder_destroy(builder);
  tabi_model_destroy(file);
  return model;
}

/* -- plan and control */

/* Legs bent as HRP-2 bends them: 26 degrees at the hip, 50 at the knee, 24 at the ankle. */
static void bend_legs(const tabi_model *model, double knee, double *q) {
  static const char *const joints[] = {"l_hip_pitch", "l_knee", "l_ankle_pitch",
                                       "r_hip_pitch", "r_knee", "r_ankle_pitch"};
  static const double share[] = {-0.52, 1, -0.48};
  tabi_model_initial_q(model, q);
  for (int i = 0; i < 6; ++i) {
    int32_t joint = tabi_model_find_joint(model, joints[i]);
    q[tabi_model_joint_q(model, joint).first] = share[i % 3] * knee;
  }
}

static tabi_status create_plan(tbi_walk_sim *m, tabi_error *err) {
  double *q = calloc((size_t)tabi_model_nq(m->planned_model), sizeof *q);
  if (!q) return tbi_no_memory(err);
  bend_legs(m->planned_model, m->def.knee, q);
  tabi_walk_def def = tabi_walk_def_default();
  def.waist = tabi_model_find_link(m->planned_model, "pelvis");
  def.foot[TABI_LEFT] = m->foot[TABI_LEFT];
  def.foot[TABI_RIGHT] = m->foot[TABI_RIGHT];
  def.posture = q;
  def.waist_height = m->def.height;
  def.nstep = m->def.nstep;
  def.step = m->def.step;
  def.stand_before = m->def.stand_before;
  def.stand_after = m->def.stand_after;
  m->plan = tabi_walk_create(m->planned_model, &def, err);
  free(q);
  return m->plan ? TABI_OK : err->status;
}

static tabi_status create_servos(tbi_walk_sim *m, tabi_error *err) {
  int32_t njoint = tabi_model_njoint(m->sim.model);
  tabi_pd_joint *joint = calloc((size_t)njoint, sizeof *joint);
  if (!joint) return tbi_no_memory(err);
  tabi_pd_def def = tabi_pd_def_default();
  for (int32_t j = 0; j < njoint; ++j) {
    bool driven = tabi_model_joint_q(m->sim.model, j).count == 1 &&
                  !strstr(tabi_model_joint(m->sim.model, j).name, "_bush_");
    if (!driven) continue;
    joint[def.njoint++] = (tabi_pd_joint){.joint = j,
                                          .actuator = TABI_NONE,
                                          .column = j,
                                          .kp = m->def.kp,
                                          .kd = m->def.kd,
                                          .implicit = true};
  }
  def.joint = joint;
  def.trajectory = tabi_walk_trajectory(m->plan);
  def.torque = tabi_walk_torque(m->plan);
  m->pd = tabi_pd_create(m->sim.model, &def, err);
  free(joint);
  return m->pd ? TABI_OK : err->status;
}

static tabi_status create_stabiliser(tbi_walk_sim *m, tabi_error *err) {
  tabi_stabiliser_def def = tabi_stabiliser_def_default();
  def.walk = m->plan;
  def.force[TABI_LEFT] = tabi_model_find_sensor(m->planned_model, "l_force");
  def.force[TABI_RIGHT] = tabi_model_find_sensor(m->planned_model, "r_force");
  def.gyro = tabi_model_find_sensor(m->planned_model, "gyro");
  def.accelerometer = tabi_model_find_sensor(m->planned_model, "accelerometer");
  m->stabiliser = tabi_stabiliser_create(m->planned_model, &def, err);
  return m->stabiliser ? TABI_OK : err->status;
}

/* At rest in the first posture of the plan. */
static tabi_status set_initial_state(tbi_walk_sim *m, tabi_error *err) {
  size_t nq = (size_t)tabi_model_nq(m->sim.model), nv = (size_t)tabi_model_nv(m->sim.model);
  double *q = calloc(nq + nv, sizeof *q);
  if (!q) return tbi_no_memory(err);
  tabi_walk_initial_q(m->plan, q);
  tabi_status status = tabi_world_set_state(m->sim.world, q, q + nq, err);
  free(q);
  return status;
}

static tabi_status open_simulation(tbi_walk_sim *m, tabi_error *err) {
  m->planned_model = make_robot(&m->def, false, err);
  if (!m->planned_model) return err->status;
  tabi_model *model = make_robot(&m->def, true, err);
  if (!model) return err->status;
  tabi_world_def world = tabi_world_def_default(model);
  world.contact = m->def.contact;
  world.integrator = m->def.integrator;
  world.iterations = m->def.iterations;
  world.timestep = m->def.timestep;
  return tbi_simulation_open_model(&m->sim, model, &world, err);
}

tabi_status tbi_walk_sim_open(tbi_walk_sim *walk, const tbi_walk_sim_def *def, tabi_error *err) {
  tbi_walk_sim *m = walk;
  *m = (tbi_walk_sim){.def = *def};
  vary(&m->def);
  tabi_status status = open_simulation(m, err);
  if (status != TABI_OK) return status;
  for (int side = 0; side < 2; ++side) {
    m->foot[side] = tbi_simulation_link(&m->sim, side == TABI_LEFT ? "l_foot" : "r_foot");
    m->toes[side] = tabi_model_find_link(m->planned_model, side == TABI_LEFT ? "l_toes" : "r_toes");
  }
  status = create_plan(m, err);
  if (status == TABI_OK) status = create_servos(m, err);
  if (status == TABI_OK && def->stabilised) status = create_stabiliser(m, err);
  if (status == TABI_OK) status = set_initial_state(m, err);
  if (status == TABI_OK) tbi_walk_metrics_begin(m);
  return status;
}

void tbi_walk_sim_close(tbi_walk_sim *walk) {
  tabi_stabiliser_destroy(walk->stabiliser);
  tabi_pd_destroy(walk->pd);
  tabi_walk_destroy(walk->plan);
  tbi_simulation_close(&walk->sim);
  tabi_model_destroy(walk->planned_model);
  *walk = (tbi_walk_sim){0};
}

/* -- walking */

static void push_chest(tbi_walk_sim *m) {
  const double begin = 0.5, duration = 0.05;
  double time = tbi_simulation_time(&m->sim) + 0.5 * m->sim.timestep;
  if (time < begin || time > begin + duration) return;
  const double none[3] = {0, 0, 0};
  double force[3], pos[3], quat[4];
  for (int k = 0; k < 3; ++k)
    force[k] = m->def.push[k] / duration;
  int32_t chest = tbi_simulation_link(&m->sim, "chest");
  tabi_dynamics_link_pose(tabi_world_dynamics(m->sim.world), chest, pos, quat);
  tabi_world_apply(m->sim.world, chest, force, none, pos);
}

static tabi_status control_and_step(tbi_walk_sim *m, tabi_error *err) {
  if (m->def.push[0] != 0 || m->def.push[1] != 0 || m->def.push[2] != 0) push_chest(m);
  if (m->stabiliser) {
    tabi_stabiliser_update(m->stabiliser, m->sim.world, m->sim.timestep);
    tabi_pd_apply_targets(m->pd, m->sim.world, tabi_stabiliser_target(m->stabiliser),
                          tabi_stabiliser_rate(m->stabiliser));
  } else {
    tabi_pd_apply(m->pd, m->sim.world, m->sim.timestep);
  }
  return tbi_simulation_step(&m->sim, err);
}

tabi_status tbi_walk_sim_step(tbi_walk_sim *walk, tabi_error *err) {
  tabi_status status = control_and_step(walk, err);
  if (status == TABI_OK) tbi_walk_metrics_step(walk);
  return status;
}

bool tbi_walk_sim_running(const tbi_walk_sim *walk) {
  double end = tabi_walk_duration(walk->plan) - 0.5 * walk->sim.timestep;
  return walk->metrics.fall_time == 0 && tbi_simulation_time(&walk->sim) < end;
}

tabi_status tbi_walk_sim_run(const tbi_walk_sim_def *def, tbi_series *series,
                             tbi_walk_metrics *metrics, tabi_error *err) {
  tbi_walk_sim m;
  tabi_status status = tbi_walk_sim_open(&m, def, err);
  while (status == TABI_OK && tbi_walk_sim_running(&m)) {
    status = tbi_walk_sim_step(&m, err);
    if (status == TABI_OK && series) tbi_walk_sim_record(&m, series);
  }
  *metrics = m.metrics;
  tbi_walk_sim_close(&m);
  return status;
}

enum { BLOCK = 100, MAX_BLOCKS = 1000 };

/* The time of every block of steps, kept if it is less than before; returns how many there are. */
static int32_t time_blocks(const tbi_walk_sim_def *def, double *best, tabi_status *status,
                           tabi_error *err) {
  tbi_walk_sim m;
  int32_t count = 0;
  *status = tbi_walk_sim_open(&m, def, err);
  while (*status == TABI_OK && tbi_walk_sim_running(&m) && count < MAX_BLOCKS) {
    double begun = tbi_measure_clock();
    for (int i = 0; i < BLOCK && *status == TABI_OK; ++i)
      *status = control_and_step(&m, err);
    best[count] = fmin(best[count], tbi_measure_clock() - begun);
    ++count;
  }
  tbi_walk_sim_close(&m);
  return count;
}

tabi_status tbi_walk_sim_step_cost(const tbi_walk_sim_def *def, int32_t repeats, double *seconds,
                                   tabi_error *err) {
  double best[MAX_BLOCKS], sum = 0;
  int32_t count = 0;
  for (int32_t i = 0; i < MAX_BLOCKS; ++i)
    best[i] = INFINITY;
  for (int32_t i = 0; i < repeats; ++i) {
    tabi_status status = TABI_OK;
    count = time_blocks(def, best, &status, err);
    if (status != TABI_OK) return status;
  }
  for (int32_t i = 0; i < count; ++i)
    sum += best[i];
  *seconds = sum / (count * BLOCK);
  return TABI_OK;
}

tabi_status tbi_walk_sim_check_variants(tbi_trial *trial, const tbi_walk_sim_def *def,
                                        const char *criterion, tabi_error *err) {
  enum { VARIANTS = 20 };
  int32_t completed = 0;
  for (int32_t i = 1; i <= VARIANTS; ++i) {
    char what[64];
    (void)snprintf(what, sizeof what, "variant %d of %d", (int)i, VARIANTS);
    tbi_trial_progress(trial, what);
    tbi_walk_sim_def changed = *def;
    changed.variant = (uint64_t)i;
    tbi_walk_metrics metrics;
    tabi_status status = tbi_walk_sim_run(&changed, NULL, &metrics, err);
    /* legs that cannot reach are a failure of the variant */
    bool counted = status == TABI_OK || status == TABI_ERR_DIVERGED || status == TABI_ERR_ARGUMENT;
    if (!counted) return status;
    completed += status == TABI_OK && metrics.fall_time == 0;
  }
  tbi_expect_within(trial, criterion, "%", 100.0 * completed / VARIANTS, 90, 100);
  return TABI_OK;
}
