/* p1_bush_oscillation.c - a humanoid sways on the rubber bushes of its feet.
 *
 * humanoid36, all joints locked but the bushes, is let go tilted about their axis.  The bushes have
 * the springs and dampers of walk_sim.h and, as in the paper, the inertia of a rotor that keeps
 * explicit steps of 1 ms stable.  The body is then a pendulum on two springs of k and two dampers
 * of d: with I its moment of inertia about the axis and V'' the curvature of its potential energy
 * (negative: it would topple), w = sqrt((2 k + V'') / I),   zeta = 2 d / (2 I w). Both come from
 * the model; frequency and decay are read off the moment on the left foot. */
#include "figure.h"
#include "simulation.h"
#include "walk_sim.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double tilt = 0.02;         /* rad */
static const double axis_height = 0.045; /* m, of the bushes over the soles */
static const double origin_height = 0.705;

enum { TIME, MOMENT, ANGLE, NCOLUMN };
static const char *const columns[] = {"time", "moment_Nm", "bush_pitch_rad", NULL};

typedef struct sway {
  double frequency, ratio; /* Hz, and of damping */
} sway;

/* What is a bush gets its spring; what else can move is locked, but for the free base. */
static void change_joint(tabi_joint_def *joint, const tbi_walk_sim_def *rubber, double weight) {
  bool slides = strstr(joint->name, "_bush_z") != NULL;
  if (strstr(joint->name, "_bush_")) {
    joint->stiffness = slides ? rubber->bush_slide : rubber->bush_turn;
    joint->damping = slides ? rubber->slide_damping : rubber->turn_damping;
    joint->rotor_inertia = slides ? rubber->slide_rotor : rubber->turn_rotor;
    if (slides) joint->initial_q[0] = 0.5 * weight / rubber->bush_slide;
    if (strstr(joint->name, "_pitch")) joint->initial_q[0] = -tilt;
  } else if (joint->type == TABI_JOINT_FREE) {
    double arm = origin_height - axis_height;
    joint->initial_q[0] = arm * sin(tilt);
    joint->initial_q[2] = axis_height + arm * cos(tilt) - 0.5 * weight / rubber->bush_slide;
    joint->initial_q[3] = cos(0.5 * tilt);
    joint->initial_q[5] = sin(0.5 * tilt);
  } else {
    joint->type = TABI_JOINT_FIXED;
  }
}

static void copy_robot(const tabi_model *from, tabi_builder *to) {
  const tbi_walk_sim_def rubber = tbi_walk_sim_humanoid36();
  double weight = 9.81 * tabi_model_mass(from);
  for (int32_t i = 0; i < tabi_model_nlink(from); ++i) {
    tabi_link_def link = tabi_model_link(from, i);
    (void)tabi_builder_add_link(to, &link);
  }
  for (int32_t i = 0; i < tabi_model_njoint(from); ++i) {
    tabi_joint_def joint = tabi_model_joint(from, i);
    change_joint(&joint, &rubber, weight);
    (void)tabi_builder_add_joint(to, &joint);
  }
  for (int32_t i = 0; i < tabi_model_nshape(from); ++i) {
    tabi_shape_def shape = tabi_model_shape(from, i);
    shape.material = TABI_NONE;
    (void)tabi_builder_add_shape(to, &shape);
  }
  tabi_shape_def floor = tabi_shape_def_default();
  floor.type = TABI_SHAPE_PLANE;
  floor.link = TABI_WORLD;
  (void)tabi_builder_add_shape(to, &floor);
}

static tabi_status open_robot(tbi_simulation *sim, tbi_variant variant, tabi_error *err) {
  *sim = (tbi_simulation){0};
  char path[TBI_PATH_SIZE];
  tbi_shipped_path("models/humanoid36.urdf", path);
  tabi_model *robot = tabi_model_load(path, NULL, err);
  if (!robot) return err->status;
  tabi_builder *builder = tabi_builder_create();
  if (builder) copy_robot(robot, builder);
  tabi_model *model = builder ? tabi_builder_build(builder, err) : NULL;
  tabi_builder_destroy(builder);
  tabi_model_destroy(robot);
  if (!builder) return tbi_no_memory(err);
  if (!model) return err->status;
  tabi_world_def def = tabi_world_def_default(model);
  def.contact = variant == TBI_PUBLISHED ? TABI_CONTACT_LCP_PAPER : TABI_CONTACT_LCP;
  def.integrator = variant == TBI_PUBLISHED ? TABI_RK4 : TABI_SEMI_IMPLICIT;
  def.timestep = 1e-3;
  return tbi_simulation_open_model(sim, model, &def, err);
}

static int32_t rate_of(const tbi_simulation *sim, const char *joint) {
  return tabi_model_joint_v(sim->model, tbi_simulation_joint(sim, joint)).first;
}

/* Where the axis of the left bush is. */
static void bush_axis(tbi_simulation *sim, double pos[3]) {
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(sim->world), tbi_simulation_link(sim, "l_bush_slide"),
                          pos, quat);
}

/* Velocities of a body at q that turns about the axis of the bushes at 1 rad/s over feet at rest.
 */
static void turning(const tbi_simulation *sim, const double axis[3], const double *q, double *v) {
  for (int32_t i = 0; i < tabi_model_nv(sim->model); ++i)
    v[i] = 0;
  v[0] = q[2] - axis[2];
  v[2] = -(q[0] - axis[0]);
  v[4] = 1;
  v[rate_of(sim, "l_bush_pitch")] = v[rate_of(sim, "r_bush_pitch")] = -1;
}

/* Slope of the potential energy, turned by a small angle from the present state: the weight times
 * how fast the centre of mass rises. */
static double slope_at(tbi_simulation *sim, tabi_dynamics *d, const double axis[3], double angle,
                       double *scratch) {
  double *q = scratch, *v = scratch + tabi_model_nq(sim->model), lin[3], ang[3];
  const double *here = tabi_world_q(sim->world);
  turning(sim, axis, here, v);
  tabi_model_integrate(sim->model, here, v, angle, q);
  turning(sim, axis, q, v);
  tabi_dynamics_set_state(d, q, v);
  tabi_dynamics_momentum(d, lin, ang);
  return 9.81 * lin[2];
}

static tabi_status predict(tbi_simulation *sim, sway *law, tabi_error *err) {
  size_t nq = (size_t)tabi_model_nq(sim->model), nv = (size_t)tabi_model_nv(sim->model);
  double *scratch = malloc(sizeof *scratch * (nq + nv));
  tabi_dynamics *d = tabi_dynamics_create(sim->model, err);
  if (scratch && d) {
    const double turn = 1e-4;
    double axis[3];
    bush_axis(sim, axis);
    double curvature = slope_at(sim, d, axis, turn, scratch);
    curvature = (curvature - slope_at(sim, d, axis, -turn, scratch)) / (2 * turn);
    double inertia = 2 * tabi_dynamics_kinetic(d);
    const tbi_walk_sim_def rubber = tbi_walk_sim_humanoid36();
    double w = sqrt((2 * rubber.bush_turn + curvature) / inertia);
    *law = (sway){w / 6.283185307179586, rubber.turn_damping / (inertia * w)};
  }
  tabi_dynamics_destroy(d);
  free(scratch);
  return scratch && d ? TABI_OK : tbi_no_memory(err);
}

static tabi_status simulate(tbi_simulation *sim, double duration, tbi_series *series,
                            tabi_error *err) {
  int32_t foot = tbi_simulation_link(sim, "l_foot");
  int32_t joint = tbi_simulation_joint(sim, "l_bush_pitch");
  int32_t angle = tabi_model_joint_q(sim->model, joint).first;
  int64_t steps = llround(duration / sim->timestep);
  for (int64_t i = 0; i < steps; ++i) {
    double axis[3], force[3], moment[3];
    bush_axis(sim, axis);
    tabi_status status = tbi_simulation_step(sim, err);
    if (status != TABI_OK) return status;
    tbi_simulation_contact_force(sim, foot, axis, force, moment);
    const double row[NCOLUMN] = {tbi_simulation_time(sim), moment[1],
                                 tabi_world_q(sim->world)[angle]};
    tbi_series_add(series, row);
  }
  return TABI_OK;
}

/* The middle about which it sways: what its last whole periods have on average. */
static double middle_of(const tbi_series *series, double period) {
  double end = tbi_series_at(series, series->nrow - 1, TIME), sum = 0;
  int32_t count = 0;
  double from = end - period * floor(0.5 * end / period);
  for (int32_t i = 0; i < series->nrow; ++i) {
    if (tbi_series_at(series, i, TIME) <= from) continue;
    sum += tbi_series_at(series, i, MOMENT);
    ++count;
  }
  return sum / count;
}

/* From the first four half swings: times of passages through the middle, and the largest moment
 * between them. */
static sway measure(const tbi_series *series, double middle) {
  enum { HALVES = 4 };
  double passage[HALVES + 1] = {0}, peak[HALVES] = {0};
  int count = 0;
  for (int32_t i = 1; i < series->nrow && count <= HALVES; ++i) {
    double a = tbi_series_at(series, i - 1, MOMENT) - middle;
    double b = tbi_series_at(series, i, MOMENT) - middle;
    if (count > 0) peak[count - 1] = fmax(peak[count - 1], fabs(b));
    if (a * b > 0 || a == b) continue;
    double t = tbi_series_at(series, i - 1, TIME), h = tbi_series_at(series, i, TIME) - t;
    passage[count++] = t + h * a / (a - b);
  }
  if (count <= HALVES) return (sway){NAN, NAN};
  double decrement = log(peak[0] / peak[HALVES - 1]) / (HALVES - 1);
  double pi = 3.14159265358979324;
  return (sway){0.5 * HALVES / (passage[HALVES] - passage[0]),
                decrement / sqrt(pi * pi + decrement * decrement)};
}

static double middle_by(const tbi_series *series, const sway *law) {
  return middle_of(series, 1 / law->frequency);
}

static tabi_status draw(tbi_trial *trial, const tbi_series series[TBI_VARIANTS], const sway *law,
                        tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 800, 420, err);
  if (status != TABI_OK) return status;
  const tbi_series *published = &series[TBI_PUBLISHED];
  tbi_figure_data(&figure, "published", published);
  tbi_figure_data(&figure, "ours", &series[TBI_OURS]);
  double middle = middle_by(published, law);
  double size = fabs(tbi_series_at(published, 0, MOMENT) - middle);
  double fall = law->ratio * law->frequency * 6.283185307179586;
  (void)fprintf(figure.script,
                "set xlabel 'time [s]'\nset ylabel 'pitch moment on the left foot [Nm]'\n"
                "set xrange [0:*]\nset key top right\n"
                "plot %g + %g*exp(-%g*x) lc rgb '#999999' dt 2 title 'decay by theory',\\\n"
                " %g - %g*exp(-%g*x) lc rgb '#999999' dt 2 notitle,\\\n"
                " $published using 1:2 with lines lw 3 lc rgb '#f0b8bf' title 'published',\\\n"
                " $ours using 1:2 with lines lt 1 title 'ours'\n",
                middle, size, fall, middle, size, fall);
  return tbi_figure_close(&figure, ".svg", err);
}

static void check(tbi_trial *trial, const tbi_series *series, const sway *law) {
  sway measured = measure(series, middle_by(series, law));
  tbi_expect_within(trial, "frequency", "Hz", measured.frequency, 0.9 * law->frequency,
                    1.1 * law->frequency);
  tbi_expect_within(trial, "damping ratio", "", measured.ratio, 0.8 * law->ratio, 1.2 * law->ratio);
  double noise = 0;
  for (int32_t i = 2; i < series->nrow; ++i) {
    double bend = tbi_series_at(series, i, MOMENT) - 2 * tbi_series_at(series, i - 1, MOMENT) +
                  tbi_series_at(series, i - 2, MOMENT);
    if (i > 100) noise = fmax(noise, fabs(bend));
  }
  tbi_expect_below(trial, "noise from step to step after 0.1 s", "Nm", noise, 0.1);
}

static tabi_status run_variant(tbi_trial *trial, tbi_variant variant, tbi_series *series, sway *law,
                               tabi_error *err) {
  tbi_simulation sim;
  tabi_status status = open_robot(&sim, variant, err);
  if (status == TABI_OK) status = predict(&sim, law, err);
  if (status == TABI_OK) status = simulate(&sim, trial->quick ? 4 : 6, series, err);
  tbi_simulation_close(&sim);
  if (status != TABI_OK) return status;
  trial->variant = variant;
  check(trial, series, law);
  return tbi_series_write(series, trial, variant == TBI_PUBLISHED ? "-published.csv" : ".csv", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_series series[TBI_VARIANTS];
  sway law = {0};
  tabi_status status = TABI_OK;
  for (int v = 0; v < TBI_VARIANTS; ++v) {
    tbi_series_init(&series[v], columns);
    if (status == TABI_OK) status = run_variant(trial, (tbi_variant)v, &series[v], &law, err);
  }
  if (status == TABI_OK) status = draw(trial, series, &law, err);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_free(&series[v]);
  return status;
}

const tbi_experiment tbi_p1_bush_oscillation = {
    .id = "p1/bush-oscillation",
    .paper = "P1, Fig. 5",
    .shows = "the moment on the foot of a robot that was tilted swings with the period and decay "
             "of the rubber bushes",
    .reconstructed = "robot and tilt; rubber and its rotors from the authors' sample",
    .run = run,
};
