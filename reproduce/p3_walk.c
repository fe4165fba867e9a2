/* p3_walk.c - a planar biped walks by feedforward torques, slips, and falls.
 *
 * The paper prints neither a posture nor a force on the head that walks.  So the walk is judged as
 * a distribution: from a hundred postures around that of scenes/biped_walk.yaml, and from twenty at
 * each of nine coefficients of friction; as published, by steps of 5 ms and the paper's guards, and
 * with located events and soles that cannot pull.  Beside it stand ten times the printed force
 * (scenes/biped_walk_long.yaml) and the force as printed. */
#include "outline.h"
#include "p3.h"

#include <math.h>
#include <string.h>

static const double gravity = 9.8, weight = 11.5 * 9.8;
const double tbi_p3_spacing = 4.2, tbi_p3_between = 0.8;

/* -- the walk from the scene's own posture */

static const char *const columns[] = {
    "time",        "mode",        "heel_x_m",     "normal_N",     "friction_N",    "slip_mps",
    "net_force_N", "left_hip_Nm", "left_knee_Nm", "right_hip_Nm", "right_knee_Nm", NULL};
static const char *const driven[4] = {"biped/left_hip", "biped/left_knee", "biped/right_hip",
                                      "biped/right_knee"};
static const char *const feet[2] = {"biped/left_foot", "biped/right_foot"};

typedef struct observer {
  tbi_p3_shown *shown;
  FILE *script; /* that pictures are drawn to; NULL: none */
  int picture, number;
  double energy;        /* J, at the start */
  double unbalanced;    /* J, worst error of the balance of energy */
  double turned;        /* J, work and losses */
  double load_error;    /* N, of the forces of the floor against the change of momentum */
  double momentum[2];   /* N s upward, after the last two steps */
  double load;          /* N, after the last step */
  double foot_speed[2]; /* m/s along x, of the centres of mass of the feet after the last step */
  double quiet;         /* s, of the last event */
} observer;

static void draw_picture(observer *o, tbi_simulation *sim) {
  if (!o->script || o->picture == TBI_P3_PICTURES) return;
  if (tbi_simulation_time(sim) < tbi_p3_between * o->picture - 1e-9) return;
  tbi_camera camera = tbi_camera_side;
  camera.shift[0] = tbi_p3_spacing * o->picture++ - tabi_world_q(sim->world)[0];
  o->number = tbi_outline_draw(&camera, sim->world, o->number, o->script);
}

static void note_energy(observer *o, tbi_simulation *sim, const tabi_gait_state *s) {
  tabi_energy e = tabi_world_energy(sim->world);
  double balance = e.kinetic + e.potential - s->work + s->absorbed;
  if (o->shown->series.nrow == 0) o->energy = balance;
  o->unbalanced = fmax(o->unbalanced, fabs(balance - o->energy));
  o->turned = fabs(s->work) + fabs(s->absorbed);
}

/* The floor's forces against weight and momentum: central differences, 20 ms after any event. */
static void note_load(observer *o, tbi_simulation *sim, const tabi_gait_state *s) {
  double lin[3], ang[3], h = sim->timestep;
  int32_t count = 0;
  const tabi_gait_event *event = tabi_world_gait_events(sim->world, &count);
  if (count > 0) o->quiet = event[count - 1].time;
  tabi_dynamics_momentum(tabi_world_dynamics(sim->world), lin, ang);
  if (tbi_simulation_time(sim) - o->quiet > 0.02) {
    double law = (lin[2] - o->momentum[0]) / (2 * h) + gravity * tabi_model_mass(sim->model);
    o->load_error = fmax(o->load_error, fabs(o->load - law));
  }
  o->momentum[0] = o->momentum[1];
  o->momentum[1] = lin[2];
  o->load = s->heel_force + s->toe_force + s->normal;
}

/* Along x, of the centre of mass of a link. */
static double speed_of(tbi_simulation *sim, int32_t link) {
  const tabi_dynamics *d = tabi_world_dynamics(sim->world);
  tabi_link_def def = tabi_model_link(sim->model, link);
  double pos[3], q[4], lin[3], ang[3];
  tabi_dynamics_link_pose(d, link, pos, q);
  tabi_dynamics_link_velocity(d, link, lin, ang);
  double arm = 2 * (q[1] * q[3] - q[0] * q[2]) * def.com[0] +
               (1 - 2 * (q[1] * q[1] + q[2] * q[2])) * def.com[2];
  return lin[0] + ang[1] * arm;
}

/* Whether velocities jumped in the last step. */
static bool had_impulse(const tbi_simulation *sim) {
  int32_t count = 0;
  const tabi_gait_event *event = tabi_world_gait_events(sim->world, &count);
  bool jumped = false;
  for (int32_t i = 0; i < count; ++i)
    jumped = jumped || strstr(event[i].cause, "lands") || strstr(event[i].cause, "returns") ||
             strcmp(event[i].cause, "slip ends") == 0;
  return jumped;
}

/* Mass times acceleration of the swing foot along x, mean of the step: by Newton's law what comes
 * through its ankle less friction.  Unknown in a step with an impulse. */
static double net_force(observer *o, tbi_simulation *sim, int32_t support) {
  double force = 0;
  for (int i = 0; i < 2; ++i) {
    int32_t link = tbi_simulation_link(sim, feet[i]);
    double speed = speed_of(sim, link), change = speed - o->foot_speed[i];
    if (i != support) force = tabi_model_link(sim->model, link).mass * change / sim->timestep;
    o->foot_speed[i] = speed;
  }
  return had_impulse(sim) ? (double)NAN : force;
}

static void observe(void *user, tbi_simulation *sim) {
  observer *o = user;
  tabi_gait_state s = tabi_world_gait_state(sim->world);
  draw_picture(o, sim);
  note_energy(o, sim, &s);
  note_load(o, sim, &s);
  double row[TBI_P3_COLUMNS] = {
      tbi_simulation_time(sim),    tbi_biped_mode(s.mode), s.heel[0], s.normal, s.friction, s.slip,
      net_force(o, sim, s.support)};
  double torque[32] = {0};
  if (tabi_model_nv(sim->model) <= 32) tabi_world_gait_torque(sim->world, torque);
  for (int i = 0; i < 4; ++i) {
    int32_t joint = tbi_simulation_joint(sim, driven[i]);
    row[TBI_P3_TORQUE + i] = torque[tabi_model_joint_v(sim->model, joint).first];
  }
  tbi_series_add(&o->shown->series, row);
}

/* -- what is run */

static tbi_biped_def def_of(tbi_p3_reading reading, tbi_p3_way way, double friction) {
  static const char *const changes[TBI_P3_READINGS] = {
      [TBI_P3_PRINTED] = "gait.forces.1.amplitude=[0.49, 4.8]",
      [TBI_P3_FARTHER] = "gait.forces.1.amplitude=[0.49, 4.8]",
      [TBI_P3_ANYHOW] = "gait.least_stride=-5"};
  bool located = way == TBI_P3_LOCATED_PAPER || way == TBI_P3_LOCATED_STRICT;
  return (tbi_biped_def){
      .scene = reading == TBI_P3_TENFOLD ? "biped_walk_long.yaml" : "biped_walk.yaml",
      .change = {changes[reading]},
      .located = located,
      .strict = way == TBI_P3_STEP_STRICT || way == TBI_P3_LOCATED_STRICT,
      .friction = friction,
      /* the paper's; located events do not depend on it */
      .timestep = located ? 0.01 : 0.005,
      .spread = reading == TBI_P3_FARTHER ? 0.5 : 0.02,
  };
}

static tbi_p3_way way_of(tbi_variant variant) {
  return variant == TBI_PUBLISHED ? TBI_P3_STEP_PAPER : TBI_P3_LOCATED_STRICT;
}

/* Ways between the published one and ours are left out of a quick trial and of postures farther
 * away; the walk without the test need only be seen as published. */
static bool is_needed(tbi_p3_reading reading, tbi_p3_way way, bool quick) {
  if (reading == TBI_P3_ANYHOW) return way == TBI_P3_STEP_PAPER;
  bool judged = way == TBI_P3_STEP_PAPER || way == TBI_P3_LOCATED_STRICT;
  return judged || (!quick && reading != TBI_P3_FARTHER);
}

static void plan(tbi_biped_sample samples[TBI_P3_SAMPLES], bool quick) {
  int32_t many = quick ? 10 : 100, few = quick ? 2 : 20;
  for (tbi_p3_reading r = 0; r < TBI_P3_READINGS; ++r)
    for (tbi_p3_way w = 0; w < TBI_P3_WAYS; ++w)
      samples[tbi_p3_at_half(r, w)] = (tbi_biped_sample){.def = def_of(r, w, 0.5),
                                                         .nwalk = !is_needed(r, w, quick) ? 0
                                                                  : r == TBI_P3_FARTHER ? 10 * many
                                                                                        : many};
  for (tbi_variant v = 0; v < TBI_VARIANTS; ++v)
    for (int k = 0; k < TBI_P3_FRICTIONS; ++k)
      samples[tbi_p3_at_k(v, k)] =
          (tbi_biped_sample){.def = def_of(TBI_P3_WALK, way_of(v), 0.1 * (k + 1)), .nwalk = few};
}

/* -- criteria */

/* The paper says "about six steps". */
enum { FEW = 5, MANY = 7 };

/* In a quick trial one posture is a tenth, which may be all that a share lacks. */
static const char in_tenths[] =
    "ten postures tell shares in tenths: nine of ten are 90 %, and not more than that";
static const char as_long[] = "in these walks a stride, seldom the same one, is as long as the one "
                              "before it or a little longer";
static const char nearly_equal[] =
    "the third and the fourth stride are nearly equal, which ten postures do not tell apart";
static const char lands_behind[] = "a foot lands behind the other, which ends the walk by a test "
                                   "of ours; without it the robot shuffles on";
static const char stays[] = "the force falls to less than a third in four steps and stays there";
static const char had_stopped[] =
    "in the others the foot had stopped, or none had landed, when the waist sank";
static const char does_not_walk[] =
    "no posture that was tried walks with the force on the head as printed";
static const char coarse[] =
    "forces change within the 10 ms over which two steps of 5 ms compare them with the momentum; "
    "with steps of 1 ms the error is below 1 %";
static const char lifts[] =
    "a sole that would have to pull lifts: changes that the paper does not have, and needs";
static const char ends_of_steps[] =
    "events are taken at the ends of steps of 5 ms, by which time a point has gone on";

/* Both variants may differ for a reason, or neither. */
static void both_may_differ(tbi_trial *trial, const char *reason) {
  tbi_may_differ(trial, reason, reason);
}

/* Means of a quantity over the steps that at least half of the walks make. */
static void list_means(const tbi_biped_sample *sample, tbi_biped_quantity quantity, char *text,
                       size_t size) {
  int32_t count = tbi_biped_common_steps(sample);
  size_t used = 0;
  text[0] = '\0';
  for (int32_t i = 0; i < count && used < size; ++i)
    used += (size_t)snprintf(text + used, size - used, "%s%.3g", i > 0 ? " " : "",
                             tbi_biped_mean(sample, quantity, i));
}

static void expect_fall(tbi_trial *trial, const char *name, const char *expected,
                        const tbi_biped_sample *sample, tbi_biped_quantity quantity) {
  char text[48];
  list_means(sample, quantity, text, sizeof text);
  tbi_expect_word(trial, name, expected, text, tbi_biped_falls(sample, quantity));
}

/* Nearly every posture: more than nine of ten. */
static void expect_most(tbi_trial *trial, const char *name, double share) {
  tbi_expect_above(trial, name, "%", share, 90);
}

static void check_steps(tbi_trial *trial, const tbi_biped_sample *sample) {
  const char *tenths = trial->quick ? in_tenths : NULL;
  tbi_expect_within(trial, "steps, median of postures", "", tbi_biped_median_steps(sample), FEW,
                    MANY);
  both_may_differ(trial, tenths);
  expect_most(trial, "postures that make 5 to 7 steps",
              tbi_biped_share_of_steps(sample, FEW, MANY));
  expect_most(trial, "postures whose strides tend to shrink",
              tbi_biped_share_that_shrinks(sample, -0.6));
  both_may_differ(trial, as_long);
  expect_most(trial, "postures whose strides shrink each time",
              tbi_biped_share_that_shrinks(sample, -1));
  both_may_differ(trial, trial->quick ? nearly_equal : NULL);
  expect_fall(trial, "mean strides at touchdown [m]", "shrink", sample, TBI_BIPED_TOUCHDOWN);
  both_may_differ(trial, NULL);
}

/* Friction stops the landing foot less and less. */
static void check_push(tbi_trial *trial, const tbi_biped_sample *sample) {
  expect_fall(trial, "mean forces on the landing foot [N]", "weaken", sample, TBI_BIPED_PUSH);
}

/* What the paper says of the end of its walk. */
static void check_end(tbi_trial *trial, const tbi_biped_sample *sample, const char *no_fall,
                      const char *no_slip) {
  both_may_differ(trial, no_fall);
  expect_most(trial, "walks that end in a fall",
              tbi_biped_share_of_outcome(sample, TABI_GAIT_FELL));
  both_may_differ(trial, no_slip);
  expect_most(trial, "walks that end while a landed foot slips",
              tbi_biped_share_that_slips_on(sample));
  both_may_differ(trial, NULL);
}

static void check_tenfold(tbi_trial *trial, const tbi_biped_sample *sample) {
  trial->method = "tenfold";
  check_steps(trial, sample);
  both_may_differ(trial, stays);
  check_push(trial, sample);
  check_end(trial, sample, NULL, had_stopped);
  trial->method = NULL;
}

/* The printed force on the head walks from no posture. */
static void check_printed(tbi_trial *trial, const tbi_biped_sample *near,
                          const tbi_biped_sample *far) {
  int32_t least = 0, most = 0;
  both_may_differ(trial, does_not_walk);
  tbi_expect_within(trial, "steps, median, force as printed", "", tbi_biped_median_steps(near), FEW,
                    MANY);
  tbi_biped_range_of_steps(far, &least, &most);
  tbi_expect_within(trial, "steps, best within 0.5 rad, force as printed", "", most, FEW, MANY);
  both_may_differ(trial, NULL);
}

static void check_pull(tbi_trial *trial, const tbi_biped_sample *sample) {
  double largest = 0, mean = tbi_biped_pull(sample, &largest);
  tbi_may_differ(trial, "the paper lets go of a heel that would pull, but not of a toe", NULL);
  tbi_expect_within(trial, "sole pulls, share of a walk, mean of postures", "%", mean, 0, 0);
  tbi_expect_within(trial, "sole pulls, share of a walk, worst posture", "%", largest, 0, 0);
  tbi_may_differ(trial, NULL, NULL);
}

/* Slip distance of the first foot that lands, whichever way. */
static double first_slip(const tbi_biped_sample *sample) {
  return fabs(tbi_biped_mean(sample, TBI_BIPED_SLIP, 0));
}

/* at[k]: samples at the nine K */
static void check_friction(tbi_trial *trial, const tbi_biped_sample *at) {
  bool falls = true;
  for (int k = 1; k < TBI_P3_FRICTIONS; ++k)
    falls = falls && first_slip(&at[k]) < first_slip(&at[k - 1]);
  char text[48];
  (void)snprintf(text, sizeof text, "%.3f to %.3f", first_slip(&at[0]),
                 first_slip(&at[TBI_P3_FRICTIONS - 1]));
  tbi_expect_word(trial, "slip of the first foot, K 0.1 to 0.9 [m]", "shorter with each K", text,
                  falls);
}

static void check_samples(tbi_trial *trial, const tbi_biped_sample *samples) {
  static const tbi_variant order[] = {TBI_PUBLISHED, TBI_OURS};
  for (int i = 0; i < TBI_VARIANTS; ++i) {
    tbi_p3_way way = way_of(trial->variant = order[i]);
    const tbi_biped_sample *walk = &samples[tbi_p3_at_half(TBI_P3_WALK, way)];
    check_steps(trial, walk);
    check_push(trial, walk);
    check_pull(trial, walk);
    check_friction(trial, &samples[tbi_p3_at_k(order[i], 0)]);
    check_end(trial, walk, lands_behind, lands_behind);
    check_tenfold(trial, &samples[tbi_p3_at_half(TBI_P3_TENFOLD, way)]);
    check_printed(trial, &samples[tbi_p3_at_half(TBI_P3_PRINTED, way)],
                  &samples[tbi_p3_at_half(TBI_P3_FARTHER, way)]);
  }
}

/* Of one walk. */
static void check_shown(tbi_trial *trial, const observer *o) {
  tbi_expect_below(trial, "energy balance, of work and dissipation", "%",
                   100 * o->unbalanced / o->turned, 1);
  tbi_may_differ(trial, coarse, NULL);
  tbi_expect_below(trial, "floor forces against momentum / weight", "%",
                   100 * o->load_error / weight, 1);
  tbi_may_differ(trial, NULL, NULL);
}

/* Laws of all walks of a variant, and of one whose support heel lifts. */
typedef struct laws {
  bool visited[TBI_BIPED_MODES];
  int32_t unlisted;
  double gained, open, least_normal;
} laws;

static void add_walk(laws *l, const tbi_biped_walk *w) {
  l->unlisted += w->unlisted;
  l->gained = fmax(l->gained, w->gained);
  l->open = fmax(l->open, w->open);
  l->least_normal = fmin(l->least_normal, w->least_normal);
  for (int m = 0; m < TBI_BIPED_MODES; ++m)
    l->visited[m] = l->visited[m] || w->visited[m];
}

static laws laws_of(const tbi_biped_sample *samples, tbi_p3_way way, const tbi_biped_walk *other) {
  laws l = {.least_normal = INFINITY};
  add_walk(&l, other);
  for (tbi_p3_reading r = 0; r < TBI_P3_READINGS; ++r) {
    const tbi_biped_sample *sample = &samples[tbi_p3_at_half(r, way)];
    for (int32_t i = 0; i < sample->nwalk; ++i)
      add_walk(&l, &sample->walk[i]);
  }
  return l;
}

static void check_modes(tbi_trial *trial, const laws *l) {
  char visited[48] = "";
  bool all = true;
  for (int m = 0; m < TBI_BIPED_MODES; ++m) {
    all = all && (l->visited[m] || m == TBI_BIPED_MODES - 1);
    if (!l->visited[m]) continue;
    (void)snprintf(visited + strlen(visited), sizeof visited - strlen(visited), "%s ",
                   tbi_biped_modes[m]);
  }
  tbi_expect_word(trial, "modes visited", "1 2 3 4 1' 2' (3')", visited, all);
  tbi_may_differ(trial, NULL, lifts);
  tbi_expect_within(trial, "changes that the paper does not list", "", l->unlisted, 0, 0);
  tbi_may_differ(trial, NULL, NULL);
}

static void check_laws(tbi_trial *trial, const tbi_biped_sample *samples,
                       const tbi_biped_walk heel_up[TBI_VARIANTS]) {
  for (int v = TBI_VARIANTS - 1; v >= 0; --v) {
    laws l = laws_of(samples, way_of(trial->variant = (tbi_variant)v), &heel_up[v]);
    check_modes(trial, &l);
    tbi_expect_below(trial, "kinetic energy gained in an impact", "J", l.gained, 1e-9);
    tbi_may_differ(trial, ends_of_steps, NULL);
    tbi_expect_below(trial, "height of points in contact", "m", l.open, 1e-6);
    tbi_expect_above(trial, "min normal force of a foot in contact", "N", l.least_normal, -1e-6);
    tbi_may_differ(trial, NULL, NULL);
  }
}

/* -- files */

/* Of every walk: what was walked, how it ended, and a row for each step. */
enum { READING, LOCATED, STRICT, FRICTION, POSTURE, STEPS, OUTCOME, MODE, END, PULLED, NWALK };
static const char *const walk_names[] = {"reading", "located",  "strict",  "friction",
                                         "posture", "steps",    "outcome", "end_mode",
                                         "end_s",   "pulled_s", NULL};
static const char *const step_names[] = {"reading", "located",  "strict", "friction",
                                         "posture", "step",     "time_s", "touchdown_m",
                                         "slip_m",  "stride_m", "push_N", NULL};

static void add_rows(int reading, const tbi_biped_sample *sample, tbi_series *walks,
                     tbi_series *steps) {
  for (int32_t i = 0; i < sample->nwalk; ++i) {
    const tbi_biped_def *def = &sample->def;
    const tbi_biped_walk *w = &sample->walk[i];
    double row[NWALK] = {reading,  def->located, def->strict, def->friction, i + 1,
                         w->nstep, w->outcome,   w->mode,     w->time,       w->pulled};
    tbi_series_add(walks, row);
    for (int32_t k = 0; k < w->nstep; ++k) {
      const double *step = w->step[k];
      double more[] = {reading,
                       def->located,
                       def->strict,
                       def->friction,
                       i + 1,
                       k + 1,
                       step[TBI_BIPED_TIME],
                       step[TBI_BIPED_TOUCHDOWN],
                       step[TBI_BIPED_SLIP],
                       step[TBI_BIPED_STRIDE],
                       step[TBI_BIPED_PUSH]};
      tbi_series_add(steps, more);
    }
  }
}

static tabi_status write_samples(tbi_trial *trial, const tbi_biped_sample *samples,
                                 tabi_error *err) {
  tbi_series walks, steps;
  tbi_series_init(&walks, walk_names);
  tbi_series_init(&steps, step_names);
  for (int i = 0; i < TBI_P3_SAMPLES; ++i)
    add_rows(i < TBI_P3_FIRST_SWEPT ? i / TBI_P3_WAYS : TBI_P3_WALK, &samples[i], &walks, &steps);
  tabi_status status = tbi_series_write(&walks, trial, "-postures.csv", err);
  if (status == TABI_OK) status = tbi_series_write(&steps, trial, "-steps.csv", err);
  tbi_series_free(&walks);
  tbi_series_free(&steps);
  return status;
}

/* -- the experiment */

static tabi_status run_shown(tbi_trial *trial, tbi_p3_shown *shown, tbi_figure *figure,
                             tabi_error *err) {
  tabi_status status = TABI_OK;
  for (int v = TBI_VARIANTS - 1; v >= 0 && status == TABI_OK; --v) {
    trial->variant = (tbi_variant)v;
    tbi_biped_def def = def_of(TBI_P3_WALK, way_of(trial->variant), 0.5);
    if (def.located) def.timestep = 1e-3;
    observer o = {.shown = &shown[v], .number = 1};
    if (v == TBI_PUBLISHED) o.script = figure->script;
    status = tbi_biped_walk_run(&shown[v].walk, &def, 0, observe, &o, err);
    if (status == TABI_OK) check_shown(trial, &o);
  }
  return status;
}

/* Another posture and larger forces lift the support heel. */
static tabi_status run_heel_up(tbi_biped_walk walk[TBI_VARIANTS], tabi_error *err) {
  static const char *const changes[TBI_BIPED_CHANGES] = {
      ("robots.biped.posture={left_ankle: -0.02, left_knee: -0.34, left_hip: 0.26, right_hip: "
       "0.65, "
       "right_knee: -0.37, right_ankle: 0.24, torso: -0.23}"),
      "gait.forces.0.amplitude=[11, 77]", "gait.forces.1.amplitude=[4.9, 91]"};
  tabi_status status = TABI_OK;
  for (int v = 0; v < TBI_VARIANTS && status == TABI_OK; ++v) {
    tbi_biped_def def = def_of(TBI_P3_WALK, way_of((tbi_variant)v), 0.5);
    memcpy(def.change, changes, sizeof changes);
    status = tbi_biped_walk_run(&walk[v], &def, 0, NULL, NULL, err);
  }
  return status;
}

static tabi_status run_all(tbi_trial *trial, tbi_biped_sample *samples, tbi_p3_shown *shown,
                           tabi_error *err) {
  tbi_figure figure;
  tbi_biped_walk heel_up[TBI_VARIANTS];
  tabi_status status = tbi_biped_samples_run(samples, TBI_P3_SAMPLES, 0, err);
  if (status != TABI_OK) return status;
  check_samples(trial, samples);
  trial->method = NULL;
  status = tbi_figure_open(&figure, trial, 900, 1500, err);
  if (status != TABI_OK) return status;
  status = run_shown(trial, shown, &figure, err);
  if (status == TABI_OK) status = run_heel_up(heel_up, err);
  if (status == TABI_OK) check_laws(trial, samples, heel_up);
  if (status == TABI_OK)
    status = tbi_series_write(&shown[TBI_PUBLISHED].series, trial, ".csv", err);
  if (status == TABI_OK)
    status = tbi_series_write(&shown[TBI_OURS].series, trial, "-ours.csv", err);
  if (status == TABI_OK) status = write_samples(trial, samples, err);
  if (status != TABI_OK) {
    tbi_figure_drop(&figure);
    return status;
  }
  status = tbi_p3_draw_walk(&figure, shown, err);
  return status == TABI_OK ? tbi_p3_draw_samples(trial, samples, err) : status;
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  tbi_biped_sample samples[TBI_P3_SAMPLES];
  tbi_p3_shown shown[TBI_VARIANTS] = {0};
  plan(samples, trial->quick);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_init(&shown[v].series, columns);
  tabi_status status = run_all(trial, samples, shown, err);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_free(&shown[v].series);
  tbi_biped_samples_free(samples, TBI_P3_SAMPLES);
  return status;
}

const tbi_experiment tbi_p3_walk = {
    .id = "p3/walk",
    .paper = "P3, Figs. 4 to 9",
    .shows = "feedforward torques make about six steps; the landing foot is slowed less and less, "
             "strides shrink, and it falls",
    .reconstructed = "initial posture, force on the head, length of feet, ends of a walk",
    .run = run,
};
