/* p3_walk.c - a planar biped walks by feedforward torques, slips, and falls.
 *
 * scenes/biped_walk.yaml and its neighbours under `gait`.  The first walk is drawn and checked in
 * detail; the second starts from another posture; the third has less friction; the last lifts its
 * supporting heel, so that modes with a prime are visited too. */
#include "figure.h"
#include "outline.h"
#include "simulation.h"
#include "tabi/tabi_gait.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 12, PICTURES = 7, NMODE = 7 };
static const double gravity = 9.8, weight = 11.5 * 9.8;
static const double spacing = 4.2; /* m, between pictures */

/* Modes of the paper, as they are drawn. */
static const char *const modes[NMODE] = {"1", "2", "3", "4", "1'", "2'", "3'"};

enum { TIME, MODE, HEEL, NORMAL, FRICTION, SLIP, LOAD, TORQUE, NCOLUMN = TORQUE + 4 };
static const char *const columns[] = {
    "time",      "mode",        "heel_x_m",     "normal_N",     "friction_N",    "slip_mps",
    "support_N", "left_hip_Nm", "left_knee_Nm", "right_hip_Nm", "right_knee_Nm", NULL};
static const char *const driven[4] = {"biped/left_hip", "biped/left_knee", "biped/right_hip",
                                      "biped/right_knee"};

typedef struct walk {
  tbi_series series;
  int32_t max_steps; /* steps after which it is stopped; 0: when it falls */
  int32_t nstep;
  double time[MAX_STEPS], stride[MAX_STEPS], slip[MAX_STEPS], push[MAX_STEPS];
  bool visited[NMODE];
  int32_t unlisted;    /* changes that the paper does not have */
  double gained;       /* J, max kinetic energy gained in an event */
  double least_normal; /* N, of a foot that touches */
  double open;         /* m, worst height of a point that should touch */
  double unbalanced;   /* J, worst error of the balance of energy */
  double turned;       /* J, work and losses */
  double load_error;   /* N, of the forces of the floor against the change of momentum */
  double momentum[2];  /* N s upward, after the last two steps */
  double load;         /* N, after the last step */
  double quiet;        /* s, of the last event */
  char outcome[64];
} walk;

static int mode_index(const char *mode) {
  for (int i = 0; i < NMODE; ++i)
    if (strncmp(mode, modes[i], strlen(modes[i])) == 0 && mode[strlen(modes[i])] != '\'' &&
        mode[strlen(modes[i])] != '"') {
      return i;
    }
  return -1;
}

static bool is_listed(const tabi_gait_event *e) {
  static const char *const listed[] = {"1>2",  "1'>2'", "1>1'", "2>2'", "2>3",  "2'>3'", "3>4",
                                       "3'>4", "4>1",   "1'>1", "2'>2", "3'>3", "2>1",   "2'>1'"};
  if (strcmp(e->from, e->to) == 0) return true;
  char change[16];
  (void)snprintf(change, sizeof change, "%s>%s", e->from, e->to);
  for (size_t i = 0; i < sizeof listed / sizeof *listed; ++i)
    if (strcmp(change, listed[i]) == 0) return true;
  return false;
}

static void note_events(const tbi_simulation *sim, walk *w) {
  int32_t count = 0;
  const tabi_gait_event *event = tabi_world_gait_events(sim->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    w->quiet = event[i].time;
    w->unlisted += !is_listed(&event[i]);
    if (strstr(event[i].cause, "lands") || strstr(event[i].cause, "returns")) {
      w->gained = fmax(w->gained, -event[i].dissipated);
    }
    if (strcmp(event[i].cause, "slip ends") != 0 || w->nstep == MAX_STEPS) continue;
    w->time[w->nstep] = event[i].time;
    w->stride[w->nstep] = event[i].stride;
    w->slip[w->nstep] = event[i].slip;
    w->push[w->nstep++] = event[i].mean_normal;
  }
}

/* The floor's forces against weight and momentum: central differences, 20 ms after any event.
 */
static void note_load(tbi_simulation *sim, const tabi_gait_state *s, walk *w) {
  double lin[3], ang[3], h = sim->timestep;
  tabi_dynamics_momentum(tabi_world_dynamics(sim->world), lin, ang);
  if (tbi_simulation_time(sim) - w->quiet > 0.02) {
    double law = (lin[2] - w->momentum[0]) / (2 * h) + gravity * tabi_model_mass(sim->model);
    w->load_error = fmax(w->load_error, fabs(w->load - law));
  }
  w->momentum[0] = w->momentum[1];
  w->momentum[1] = lin[2];
  w->load = s->heel_force + s->toe_force + s->normal;
}

static void note_state(tbi_simulation *sim, walk *w, double start) {
  tabi_gait_state s = tabi_world_gait_state(sim->world);
  int mode = mode_index(s.mode);
  if (mode >= 0) w->visited[mode] = true;
  bool heel_down = s.mode[0] == '2' || s.mode[0] == '3';
  bool toe_down = s.mode[0] == '3' || s.mode[0] == '4';
  if (heel_down) w->open = fmax(w->open, fabs(s.heel[1]));
  if (toe_down) w->open = fmax(w->open, fabs(s.toe[1]));
  if (heel_down || toe_down) w->least_normal = fmin(w->least_normal, s.normal);
  tabi_energy e = tabi_world_energy(sim->world);
  w->unbalanced = fmax(w->unbalanced, fabs(e.kinetic + e.potential - start - s.work + s.absorbed));
  w->turned = fabs(s.work) + fabs(s.absorbed);
  double row[NCOLUMN] = {tbi_simulation_time(sim),  mode, s.heel[0], s.normal, s.friction, s.slip,
                         s.heel_force + s.toe_force};
  double torque[32] = {0};
  if (tabi_model_nv(sim->model) <= 32) tabi_world_gait_torque(sim->world, torque);
  for (int i = 0; i < 4; ++i) {
    int32_t joint = tbi_simulation_joint(sim, driven[i]);
    row[TORQUE + i] = torque[tabi_model_joint_v(sim->model, joint).first];
  }
  tbi_series_add(&w->series, row);
  note_load(sim, &s, w);
}

/* Steps to the end of the walk; draws it at equal times of `pictures` seconds if there is a script.
 */
static tabi_status step_all(tbi_simulation *sim, walk *w, FILE *script, double pictures,
                            tabi_error *err) {
  tabi_energy e = tabi_world_energy(sim->world);
  double start = e.kinetic + e.potential;
  int picture = 0, number = 1;
  tabi_status status = TABI_OK;
  while (status == TABI_OK && tbi_simulation_time(sim) < 10 &&
         (w->max_steps == 0 || w->nstep < w->max_steps)) {
    if (script && picture < PICTURES && tbi_simulation_time(sim) >= pictures * picture - 1e-9) {
      tbi_camera camera = tbi_camera_side;
      camera.shift[0] = spacing * picture++ - tabi_world_q(sim->world)[0];
      number = tbi_outline_draw(&camera, sim->world, number, script);
    }
    status = tbi_simulation_step(sim, err);
    if (status != TABI_OK && status != TABI_ERR_ENDED) return status;
    note_events(sim, w);
    if (status == TABI_OK) note_state(sim, w, start);
  }
  (void)snprintf(w->outcome, sizeof w->outcome, "%s",
                 tabi_gait_outcome_text(tabi_world_gait_state(sim->world).outcome));
  return TABI_OK;
}

static tabi_status run_walk(walk *w, const char *scene, const char *const *set, FILE *script,
                            tabi_error *err) {
  tbi_series_init(&w->series, columns);
  w->least_normal = INFINITY;
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open(&sim, scene, set, err);
  if (status == TABI_OK) status = step_all(&sim, w, script, 0.9, err);
  tbi_simulation_close(&sim);
  return status;
}

static bool shrinks(const double *value, int32_t count) {
  bool strictly = count > 1;
  for (int32_t i = 1; i < count; ++i)
    strictly = strictly && value[i] < value[i - 1];
  return strictly;
}

/* The walk that an earlier study of the same reading found, at 1 ms. */
static double swap_error(const walk *w) {
  static const double known[5] = {1.466, 2.620, 3.626, 4.476, 5.214};
  double worst = w->nstep == 5 ? 0 : INFINITY;
  for (int32_t i = 0; i < w->nstep && i < 5; ++i)
    worst = fmax(worst, fabs(w->time[i] - known[i]));
  return worst;
}

static void join(const double *value, int32_t count, double unit, char *text, size_t size) {
  size_t used = 0;
  for (int32_t i = 0; i < count && used < size; ++i)
    used += (size_t)snprintf(text + used, size - used, "%s%.3g", i > 0 ? " " : "", unit * value[i]);
}

static void check_walk(tbi_trial *trial, const walk *w) {
  char text[48];
  tbi_expect_within(trial, "steps before the fall", "", w->nstep, 5, 12);
  tbi_expect_word(trial, "outcome", "a fall", w->outcome, strcmp(w->outcome, "walks") != 0);
  join(w->stride, w->nstep, 1, text, sizeof text);
  tbi_expect_word(trial, "strides shrink [m]", "strictly", text, shrinks(w->stride, w->nstep));
  join(w->push, w->nstep, 1, text, sizeof text);
  tbi_expect_word(trial, "force on the landing foot weakens [N]", "strictly", text,
                  shrinks(w->push, w->nstep));
  double slip = w->nstep > 0 ? w->slip[w->nstep - 1] : 0;
  tbi_expect_within(trial, "slip distance in the last step", "m", slip, 0.1, 0.3);
  tbi_expect_below(trial, "step times against an independent program", "s", swap_error(w), 0.02);
  tbi_expect_below(trial, "energy balance, of work and dissipation", "%",
                   100 * w->unbalanced / w->turned, 1);
  tbi_expect_below(trial, "floor forces against momentum / weight", "%",
                   100 * w->load_error / weight, 1);
}

/* Of all walks together. */
static void check_all(tbi_trial *trial, const walk *w, int count) {
  walk worst = {.least_normal = INFINITY};
  char visited[48] = "";
  for (int i = 0; i < count; ++i) {
    worst.unlisted += w[i].unlisted;
    worst.gained = fmax(worst.gained, w[i].gained);
    worst.open = fmax(worst.open, w[i].open);
    if (w[i].series.nrow > 0) worst.least_normal = fmin(worst.least_normal, w[i].least_normal);
    for (int m = 0; m < NMODE; ++m)
      worst.visited[m] = worst.visited[m] || w[i].visited[m];
  }
  bool all = true;
  for (int m = 0; m < NMODE; ++m) {
    if (worst.visited[m]) {
      (void)snprintf(visited + strlen(visited), sizeof visited - strlen(visited), "%s ", modes[m]);
    }
    all = all && (worst.visited[m] || m == NMODE - 1);
  }
  tbi_expect_word(trial, "modes visited", "1 2 3 4 1' 2' (3')", visited, all);
  tbi_expect_within(trial, "changes that the paper does not list", "", worst.unlisted, 0, 0);
  tbi_expect_below(trial, "kinetic energy gained in an impact", "J", worst.gained, 1e-9);
  tbi_expect_below(trial, "height of points in contact", "m", worst.open, 1e-6);
  tbi_expect_above(trial, "min normal force of a foot in contact", "N", worst.least_normal, -1e-6);
}

static void write_steps(const walk *w, FILE *script) {
  (void)fputs("$steps << END\n", script);
  for (int32_t i = 0; i < w->nstep; ++i)
    (void)fprintf(script, "%d %g %g %g %g\n", i + 1, w->time[i], w->stride[i], w->slip[i],
                  w->push[i]);
  (void)fputs("END\n", script);
}

/* The paper's figures 4, 6, 7 and 9. */
static void write_panels(FILE *script) {
  (void)fputs("set size 0.5,0.24\nset origin 0,0.49\nset xrange [0:6]\nset yrange [-80:140]\n"
              "set xlabel 'time [s]'\nset ylabel 'torque [Nm]'\n"
              "plot $run using 1:8 with lines lt 1 title 'hips, right dotted', '' using 1:10 with "
              "lines lt 1 "
              "dt 3 notitle, '' using 1:9 with lines lt 2 title 'knees', '' using 1:11 with lines "
              "lt 2 dt 3 notitle\n"
              "set origin 0.5,0.49\nset yrange [0.5:4.5]\nset ytics 1\nset ylabel 'gait'\n"
              "plot $run using 1:($2+1) with steps lt 1 notitle\n"
              "set origin 0,0.245\nset yrange [*:*]\nset ytics auto\n"
              "set ylabel 'heel of the free foot [m]'\n"
              "plot $run using 1:3 with lines lt 5 notitle\n"
              "set origin 0.5,0.245\nset xrange [0.5:5.5]\nset yrange [0:0.45]\nset xtics 1\n"
              "set xlabel 'step'\nset ylabel 'stride [m]'\nset style fill solid 0.8\n"
              "plot $steps using 1:3:(0.5) with boxes lt 1 notitle\n"
              "set origin 0,0\nset xrange [0:6]\nset yrange [*:*]\nset xlabel 'time [s]'\n"
              "set ylabel 'friction when landing [N]'\n"
              "plot $run using ($2==1||$2==2 ? $1 : NaN):5 with lines lt 2 notitle\n"
              "set origin 0.5,0\nset ylabel 'slip when landing [m/s]'\nset yrange [-1.5:1.5]\n"
              "plot $run using ($2==1||$2==2 ? $1 : NaN):6 with lines lt 3 notitle\n"
              "unset multiplot\n",
              script);
}

static tabi_status finish_figure(tbi_figure *figure, const walk *w, tabi_error *err) {
  FILE *script = figure->script;
  tbi_figure_data(figure, "run", &w->series);
  write_steps(w, script);
  for (int i = 0; i < PICTURES; ++i)
    (void)fprintf(script, "set label %d '%.2f s' at %g,-0.9 center\n", i + 1, 0.9 * i, spacing * i);
  double right = spacing * PICTURES - 2;
  (void)fprintf(script,
                "set multiplot\nset size 1,0.27\nset origin 0,0.73\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [-2.2:%g]\nset yrange [-1.4:7.2]\n"
                "set arrow 1 from -2.2,0 to %g,0 nohead lw 2 lc rgb '#666666'\n"
                "plot -10 notitle\nunset object\nunset arrow\nunset label\nset size noratio\n"
                "set border\nset tics nomirror\nset grid lc rgb '#dddddd'\nset lmargin 9\n"
                "set rmargin 2\nset key top right\n",
                right, right);
  write_panels(script);
  return tbi_figure_close(figure, ".svg", err);
}

enum { FIRST, SIX, SMOOTH, HEEL_UP, NWALK };

static tabi_status run_walks(tbi_trial *trial, walk *w, tabi_error *err) {
  static const char *const smooth[] = {"gait.friction=0.1", NULL};
  static const char *const heel_up[] = {
      "robots.biped.posture={left_ankle: -0.02, left_knee: -0.34, left_hip: 0.26, right_hip: 0.65, "
      "right_knee: -0.37, right_ankle: 0.24, torso: -0.23}",
      "gait.forces.0.amplitude=[11, 77]", "gait.forces.1.amplitude=[4.9, 91]", NULL};
  tbi_figure figure;
  w[SMOOTH].max_steps = 1;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 1060, err);
  if (status != TABI_OK) return status;
  static const char *const coarse[] = {"timestep=2e-3", NULL};
  status = run_walk(&w[FIRST], "biped_walk.yaml", trial->quick ? coarse : NULL, figure.script, err);
  if (status == TABI_OK && !trial->quick) {
    status = run_walk(&w[SIX], "biped_walk6.yaml", NULL, NULL, err);
  }
  if (status == TABI_OK) status = run_walk(&w[SMOOTH], "biped_walk.yaml", smooth, NULL, err);
  if (status == TABI_OK) status = run_walk(&w[HEEL_UP], "biped_walk.yaml", heel_up, NULL, err);
  if (status == TABI_OK) {
    check_walk(trial, &w[FIRST]);
    if (!trial->quick) {
      tbi_expect_within(trial, "steps from another posture", "", w[SIX].nstep, 5, 12);
    }
    tbi_expect_above(trial, "slip of step 1, friction 0.1 against 0.5", "times",
                     w[SMOOTH].slip[0] / w[FIRST].slip[0], 1);
    check_all(trial, w, NWALK);
    status = tbi_series_write(&w[FIRST].series, trial, ".csv", err);
  }
  if (status == TABI_OK) return finish_figure(&figure, &w[FIRST], err);
  tbi_figure_drop(&figure);
  return status;
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  walk w[NWALK] = {0};
  tabi_status status = run_walks(trial, w, err);
  for (int i = 0; i < NWALK; ++i)
    tbi_series_free(&w[i].series);
  return status;
}

const tbi_experiment tbi_p3_walk = {
    .id = "p3/walk",
    .paper = "P3, Figs. 4 to 9",
    .shows = "feedforward torques make about six steps; the landing foot is slowed less and less, "
             "strides shrink, and it falls",
    .run = run,
};
