/* p5_restitution.c - a ladder of e, from 0 to 1, on the contacts of the paper's Fig. 1: a point, an
 * edge, a face, and the soles of a robot whose joints are loose.
 *
 * All move down with one speed v and no spin, so the law (11) asks for e v at every point.  Where
 * nothing slides, the impulses f = (1 + e) M^+ v do the work -(1 - e^2)/2 v' M^+ v, so that the
 * energy is T(0) + e^2 (T - T(0)) after the impact, T(0) being what is left with e = 0: nothing of
 * a ball or a flat box, of an edge at (x, z) from the centre T x^2 / (x^2 + z^2 + k^2), since its
 * angular momentum about the edge stays.  Then an edge and a face that slide, with kinetic friction
 * t = mu_k n and normal impulses n such that the points still rebound with e v.  At last a ball is
 * dropped: it rises to e^2 of its height. */
#include "figure.h"
#include "p5.h"
#include "p5_models.h"

#include <math.h>
#include <string.h>

enum { RUNGS = 11, MAX_Q = 40 };
enum { KIND, E, OFF, RATIO, ENERGY, LAW, FORWARD, HEIGHT, NCOLUMN };
static const char *const columns[] = {"kind",          "e",      "off",    "ratio", "energy",
                                      "energy_by_law", "vx_mps", "height", NULL};

typedef enum impact_kind {
  POINT,
  EDGE,
  FACE,
  ROBOT,
  EDGE_SLIDES,
  FACE_SLIDES,
  KINDS,
  STICKING = EDGE_SLIDES /* the kinds before it do not slide */
} impact_kind;

static const char *const kind_name[KINDS] = {"ball",  "edge, sticks", "face",
                                             "soles", "edge, slides", "face, slides"};

static const double mass = 2, fall = 2, slide = 1.5; /* kg; m/s down, and ahead of FACE_SLIDES */
static const double radius[3] = {0.05}, plank[3] = {0.3, 0.2, 0.1};
static const double steep = 0.8, flat = 0.4; /* rad, tilts at which the edge sticks and slides */
static const double robot_height = 0.219212198800577; /* m, of the pelvis, soles on the floor */

/* What an impact did. */
typedef struct outcome {
  double off;      /* largest |v+ / v - e| of a point */
  double ratio;    /* largest v+ / v of a point */
  double energy;   /* after / before */
  double momentum; /* change of the angular momentum about the edge, relative */
  double forward;  /* m/s along x after the impact */
} outcome;

typedef struct ladder {
  outcome of[KINDS][RUNGS];
  double height[RUNGS]; /* to which the ball rises, of that which it fell from */
  tbi_series series;
} ladder;

static double rung(int i) { return 0.1 * i; }

static tbi_p5_surface surface_of(int i) {
  return (tbi_p5_surface){.friction = 0.4, .kinetic = 0.3, .restitution = rung(i)};
}

static bool is_edge(impact_kind kind) { return kind == EDGE || kind == EDGE_SLIDES; }
static double tilt_of(impact_kind kind) {
  return kind == EDGE ? steep : kind == EDGE_SLIDES ? flat : 0;
}

/* From the centre of the plank to its lowest edge, along x and z. */
static void edge_of(impact_kind kind, double r[2]) {
  double s = sin(tilt_of(kind)), c = cos(tilt_of(kind));
  r[0] = 0.5 * (plank[0] * c - plank[2] * s);
  r[1] = -0.5 * (plank[0] * s + plank[2] * c);
}

static tabi_model *model_of(impact_kind kind, const tbi_p5_surface *surface, tabi_error *err) {
  if (kind == ROBOT) return tbi_p5_robot(surface, err);
  if (kind == POINT) return tbi_p5_body(TABI_SHAPE_SPHERE, radius, mass, surface, err);
  return tbi_p5_body(TABI_SHAPE_BOX, plank, mass, surface, err);
}

/* Knees bent, soles level. */
static void bend_legs(const tabi_model *model, double *q) {
  static const char *const joints[] = {"l_hip_pitch", "l_knee", "l_ankle_pitch",
                                       "r_hip_pitch", "r_knee", "r_ankle_pitch"};
  static const double angle[] = {-0.4, 0.8, -0.4};
  for (int i = 0; i < 6; ++i)
    q[tabi_model_joint_q(model, tabi_model_find_joint(model, joints[i])).first] = angle[i % 3];
}

/* Touching the floor, on its way down. */
static tabi_status place(const tbi_simulation *sim, impact_kind kind, tabi_error *err) {
  double q[MAX_Q] = {0}, v[MAX_Q] = {0}, r[2];
  tabi_model_initial_q(sim->model, q);
  edge_of(kind, r);
  q[2] = kind == POINT ? radius[0] : kind == ROBOT ? robot_height : -r[1];
  q[3] = cos(0.5 * tilt_of(kind));
  q[5] = sin(0.5 * tilt_of(kind));
  if (kind == ROBOT) bend_legs(sim->model, q);
  v[0] = kind == FACE_SLIDES ? slide : 0;
  v[2] = -fall;
  return tabi_world_set_state(sim->world, q, v, err);
}

/* Angular momentum of the plank about its edge, about y. */
static double momentum(const tbi_simulation *sim, impact_kind kind) {
  const double *v = tabi_world_v(sim->world);
  double r[2], inertia = mass * (plank[0] * plank[0] + plank[2] * plank[2]) / 12;
  edge_of(kind, r);
  return inertia * v[4] + mass * (-r[1] * v[0] + r[0] * v[2]);
}

static void measure_points(const tbi_simulation *sim, double e, outcome *o) {
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(sim->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    if (contact[i].gap > 1e-6) continue;
    double parting = contact[i].velocity[2] * contact[i].normal[2] / fall;
    o->off = fmax(o->off, fabs(parting - e));
    o->ratio = fmax(o->ratio, parting);
  }
}

/* The kinetic energy with the velocity after the step where the step began: after it, a robot with
 * loose joints has another posture, and another inertia. */
static tabi_status measure_energy(const tbi_simulation *sim, const double *q, double before,
                                  outcome *o, tabi_error *err) {
  double v[MAX_Q] = {0};
  memcpy(v, tabi_world_v(sim->world), sizeof *v * (size_t)tabi_model_nv(sim->model));
  tabi_status status = tabi_world_set_state(sim->world, q, v, err);
  if (status == TABI_OK) o->energy = tabi_world_energy(sim->world).kinetic / before;
  return status;
}

static tabi_status hit(tbi_simulation *sim, impact_kind kind, double e, outcome *o,
                       tabi_error *err) {
  double q[MAX_Q] = {0};
  tabi_status status = place(sim, kind, err);
  if (status != TABI_OK) return status;
  memcpy(q, tabi_world_q(sim->world), sizeof *q * (size_t)tabi_model_nq(sim->model));
  double before = tabi_world_energy(sim->world).kinetic, spin = momentum(sim, kind);
  status = tbi_simulation_step(sim, err);
  if (status != TABI_OK) return status;
  *o = (outcome){.forward = tabi_world_v(sim->world)[0]};
  if (is_edge(kind)) o->momentum = fabs(momentum(sim, kind) - spin) / fabs(spin);
  measure_points(sim, e, o);
  return measure_energy(sim, q, before, o, err);
}

static tabi_status climb(tbi_variant variant, ladder *l, tabi_error *err) {
  for (int i = 0; i < KINDS * RUNGS; ++i) {
    impact_kind kind = (impact_kind)(i / RUNGS);
    tbi_p5_surface surface = surface_of(i % RUNGS);
    tbi_simulation sim;
    tabi_status status = tbi_p5_open(&sim, model_of(kind, &surface, err), variant, 0, err);
    if (status == TABI_OK) {
      status = hit(&sim, kind, surface.restitution, &l->of[kind][i % RUNGS], err);
    }
    tbi_simulation_close(&sim);
    if (status != TABI_OK) return status;
  }
  return TABI_OK;
}

/* -- what the law says */

/* After an impact of the edge, if it slides: energy relative to that before. */
static double sliding_edge_energy(double e) {
  double r[2], k2 = (plank[0] * plank[0] + plank[2] * plank[2]) / 12;
  edge_of(EDGE_SLIDES, r);
  double nn = 1 + r[0] * r[0] / k2, tn = -r[0] * r[1] / k2;
  double share = surface_of(0).kinetic * (tn > 0 ? -1 : 1); /* t / n, against the slip */
  double n = (1 + e) * fall / (nn + share * tn), t = share * n;
  double spin = (r[1] * t - r[0] * n) / k2, up = n - fall;
  return (t * t + up * up + k2 * spin * spin) / (fall * fall);
}

static double energy_by_law(impact_kind kind, double e, double plastic) {
  double r[2], k2 = (plank[0] * plank[0] + plank[2] * plank[2]) / 12;
  double forward = slide - surface_of(0).kinetic * (1 + e) * fall;
  edge_of(EDGE, r);
  double left = r[0] * r[0] / (r[0] * r[0] + r[1] * r[1] + k2);
  switch (kind) {
  case EDGE:
    return left + e * e * (1 - left);
  case ROBOT:
    return plastic + e * e * (1 - plastic);
  case EDGE_SLIDES:
    return sliding_edge_energy(e);
  case FACE_SLIDES:
    return (forward * forward + e * e * fall * fall) / (slide * slide + fall * fall);
  default:
    return e * e;
  }
}

/* -- the ball that is dropped */

static const double drop = 0.5; /* m */

/* How high it rises after its first impact, of the height that it fell from. */
static tabi_status bounce(tbi_variant variant, int i, double *height, tabi_error *err) {
  tbi_p5_surface surface = surface_of(i);
  tbi_simulation sim;
  tabi_status status = tbi_p5_open(&sim, model_of(POINT, &surface, err), variant, 9.81, err);
  const double q[7] = {0, 0, drop + radius[0], 1}, v[6] = {0};
  if (status == TABI_OK) status = tabi_world_set_state(sim.world, q, v, err);
  bool hits = false;
  *height = 0;
  for (int k = 0; k < 1000 && status == TABI_OK; ++k) {
    status = tbi_simulation_step(&sim, err);
    double up = tabi_world_v(sim.world)[2];
    if (hits && up <= 0) break;
    hits = hits || up >= 0;
    if (hits) *height = fmax(*height, (tabi_world_q(sim.world)[2] - radius[0]) / drop);
  }
  tbi_simulation_close(&sim);
  return status;
}

/* -- criteria and figure */

static void expect(tbi_trial *trial, const char *format, impact_kind kind, double measured,
                   double limit) {
  char name[64];
  (void)snprintf(name, sizeof name, format, kind_name[kind]);
  tbi_expect_below(trial, name, "", measured, limit);
}

static void check_kind(tbi_trial *trial, impact_kind kind, const outcome *rungs) {
  double off = 0, energy = 0;
  for (int i = 0; i < RUNGS; ++i) {
    double law = energy_by_law(kind, rung(i), rungs[0].energy);
    off = fmax(off, rungs[i].off);
    energy = fmax(energy, fabs(rungs[i].energy - law));
  }
  trial->reason = kind < STICKING ? NULL : tbi_p5_cut;
  expect(trial, "%s: |v+ / v- - e|", kind, off, 1e-6);
  expect(trial, "%s: energy against the law", kind, energy, 1e-6);
  trial->reason = NULL;
}

static void check(tbi_trial *trial, const ladder *l) {
  double height = 0, spin = 0, forward = 0;
  int gains = 0;
  for (int i = 0; i < RUNGS; ++i) {
    double law = slide - surface_of(0).kinetic * (1 + rung(i)) * fall;
    height = fmax(height, fabs(l->height[i] - rung(i) * rung(i)));
    forward = fmax(forward, fabs(l->of[FACE_SLIDES][i].forward - law));
    for (int k = 0; k < KINDS; ++k) {
      spin = fmax(spin, l->of[k][i].momentum);
      gains += l->of[k][i].energy > 1 + 1e-9;
    }
  }
  tbi_expect_below(trial, "dropped ball: height against e^2", "", height, 0.01);
  for (int k = 0; k < KINDS; ++k)
    check_kind(trial, (impact_kind)k, l->of[k]);
  tbi_expect_below(trial, "angular momentum about the edge, change", "", spin, 1e-9);
  tbi_expect_below(trial, "face, slides: error of its speed", "m/s", forward, 1e-6);
  trial->reason = tbi_p5_cut;
  tbi_expect_within(trial, "impacts that add energy", "", gains, 0, 0);
  trial->reason = NULL;
}

static void list(ladder *l) {
  for (int k = 0; k < KINDS; ++k)
    for (int i = 0; i < RUNGS; ++i) {
      const outcome *o = &l->of[k][i];
      const double row[NCOLUMN] = {
          k,          rung(i),     o->off,
          o->ratio,   o->energy,   energy_by_law((impact_kind)k, rung(i), l->of[k][0].energy),
          o->forward, l->height[i]};
      tbi_series_add(&l->series, row);
    }
}

static tabi_status run_one(tbi_trial *trial, ladder *l, tabi_error *err) {
  tabi_status status = climb(trial->variant, l, err);
  for (int i = 0; i < RUNGS && status == TABI_OK; ++i)
    status = bounce(trial->variant, i, &l->height[i], err);
  if (status != TABI_OK) return status;
  check(trial, l);
  list(l);
  return tbi_series_write(&l->series, trial, trial->variant == TBI_PUBLISHED ? ".csv" : "-ours.csv",
                          err);
}

/* A kind's column over e: the law as a line, both variants as marks. */
static void plot_kind(FILE *script, impact_kind kind, int column, int colour, bool first) {
  const int law = column == RATIO ? E : LAW;
  (void)fprintf(script,
                "%s $ours using ($1==%d?$2:NaN):%d with lines lt %d notitle,\\\n"
                " $published using ($1==%d?$2:NaN):%d with points pt 6 ps 1.4 lt %d title "
                "'%s, published',\\\n"
                " $ours using ($1==%d?$2:NaN):%d with points pt 7 ps 0.6 lt %d title 'ours'",
                first ? "plot" : ",\\\n", kind, law + 1, colour, kind, column + 1, colour,
                kind_name[kind], kind, column + 1, colour);
}

static void plot_panels(FILE *script) {
  (void)fputs("set multiplot layout 2,2\nset key top left samplen 1\nset xrange [0:1]\n"
              "set xlabel 'coefficient of restitution e'\nset yrange [0:1.1]\n"
              "set ylabel 'height / drop'\nset title 'a ball is dropped'\n"
              "plot x*x with lines lc rgb '#999999' title 'e^2',\\\n"
              " $published using ($1==0?$2:NaN):8 with points pt 6 ps 1.4 lt 2 title "
              "'published',\\\n"
              " $ours using ($1==0?$2:NaN):8 with points pt 7 ps 0.6 lt 1 title 'ours'\n"
              "set yrange [0:1.8]\n"
              "set ylabel 'energy after / before'\nset title 'nothing slides'\n",
              script);
  plot_kind(script, FACE, ENERGY, 1, true);
  plot_kind(script, EDGE, ENERGY, 2, false);
  plot_kind(script, ROBOT, ENERGY, 3, false);
  (void)fputs("\nset yrange [0:2.6]\nset ylabel 'v+ / v-, largest of the points'\n"
              "set title 'friction is cut: rebound'\n",
              script);
  plot_kind(script, EDGE_SLIDES, RATIO, 2, true);
  plot_kind(script, FACE_SLIDES, RATIO, 1, false);
  (void)fputs("\nset yrange [0:2.2]\nset ylabel 'energy after / before'\n"
              "set title 'friction is cut: energy'\n"
              "set arrow from 0,1 to 1,1 nohead dt 2 lc rgb '#999999'\n",
              script);
  plot_kind(script, EDGE_SLIDES, ENERGY, 2, true);
  plot_kind(script, FACE_SLIDES, ENERGY, 1, false);
  (void)fputs("\nunset multiplot\n", script);
}

static tabi_status draw(tbi_trial *trial, const ladder *l, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 720, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "published", &l[TBI_PUBLISHED].series);
  tbi_figure_data(&figure, "ours", &l[TBI_OURS].series);
  plot_panels(figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  ladder l[TBI_VARIANTS] = {0};
  tabi_status status = TABI_OK;
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_init(&l[v].series, columns);
  for (int v = TBI_VARIANTS - 1; v >= 0 && status == TABI_OK; --v) {
    trial->variant = (tbi_variant)v;
    status = run_one(trial, &l[v], err);
  }
  if (status == TABI_OK) status = draw(trial, l, err);
  for (int v = 0; v < TBI_VARIANTS; ++v)
    tbi_series_free(&l[v].series);
  return status;
}

const tbi_experiment tbi_p5_restitution = {
    .id = "p5/restitution",
    .paper = "P5, Fig. 1, (11)",
    .shows = "contacts by points, edges and faces are all sets of points that rebound with e",
    .reconstructed = "all: the paper prints the law and draws the contacts",
    .run = run,
};
