/* p5_restitution.c - a ladder of e, from 0 to 1, on the contacts of the paper's Fig. 1: a point, an
 * edge, a face, and the soles of a robot whose joints are loose.
 *
 * All move down with one speed v and no spin, so the law (11) asks for e v at every point.  Where
 * nothing slides, the impulses f = (1 + e) M^+ v do the work -(1 - e^2)/2 v' M^+ v, so that the
 * energy is T(0) + e^2 (T - T(0)) after the impact, T(0) being what is left with e = 0: nothing of
 * a ball or a flat box, of an edge at (x, z) from the centre T x^2 / (x^2 + z^2 + k^2), since its
 * angular momentum about the edge stays.  An edge sticks if the friction that this takes, |x z| /
 * (k^2 + z^2) of the normal impulse, is at most mu_s: the law tells which of the tilts do.  The
 * others and a face that moves along slide, with kinetic friction t = mu_k n and normal impulses n
 * such that the points still rebound with e v.  At last a ball is dropped: it rises to e^2 of its
 * height. */
#include "figure.h"
#include "p5.h"
#include "p5_models.h"

#include <math.h>
#include <string.h>

enum { RUNGS = 11, TILTS = 14, STEPS = 2, MAX_Q = 40 };
enum { KIND, TILT, E, OFF, RATIO, ENERGY, LAW, FORWARD, HEIGHT, NCOLUMN };
static const char *const columns[] = {"kind",   "tilt_rad",      "e",      "off",    "ratio",
                                      "energy", "energy_by_law", "vx_mps", "height", NULL};

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
static const double drawn[] = {0.8, 0.4}; /* rad, tilts in the figure: one that sticks, one not */
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
  double off[KINDS];           /* largest of all rungs and tilts: of `off`, */
  double miss[KINDS];          /* of the energy's distance from the law, */
  double momentum, along;      /* of the change of momentum, and the error of FACE_SLIDES' speed */
  int gains;                   /* impacts that add energy */
  double height[STEPS][RUNGS]; /* to which the ball rises, of that which it fell from */
  tbi_series series;
} ladder;

static double rung(int i) { return 0.1 * i; }

static tbi_p5_surface surface_of(int i) {
  return (tbi_p5_surface){.friction = 0.4, .kinetic = 0.3, .restitution = rung(i)};
}

static bool is_edge(impact_kind kind) { return kind == EDGE || kind == EDGE_SLIDES; }
static double tilt_of(int i) { return 0.1 * (i + 1); }
static double gyration2(void) { return (plank[0] * plank[0] + plank[2] * plank[2]) / 12; }

/* From the centre of the plank to its lowest edge, along x and z. */
static void edge_of(double tilt, double r[2]) {
  double s = sin(tilt), c = cos(tilt);
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
static tabi_status place(const tbi_simulation *sim, impact_kind kind, double tilt,
                         tabi_error *err) {
  double q[MAX_Q] = {0}, v[MAX_Q] = {0}, r[2];
  tabi_model_initial_q(sim->model, q);
  edge_of(tilt, r);
  q[2] = kind == POINT ? radius[0] : kind == ROBOT ? robot_height : -r[1];
  q[3] = cos(0.5 * tilt);
  q[5] = sin(0.5 * tilt);
  if (kind == ROBOT) bend_legs(sim->model, q);
  v[0] = kind == FACE_SLIDES ? slide : 0;
  v[2] = -fall;
  return tabi_world_set_state(sim->world, q, v, err);
}

/* Angular momentum of the plank about its edge, about y. */
static double momentum(const tbi_simulation *sim, double tilt) {
  const double *v = tabi_world_v(sim->world);
  double r[2], inertia = mass * gyration2();
  edge_of(tilt, r);
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

static tabi_status hit(tbi_simulation *sim, impact_kind kind, double tilt, double e, outcome *o,
                       tabi_error *err) {
  double q[MAX_Q] = {0};
  tabi_status status = place(sim, kind, tilt, err);
  if (status != TABI_OK) return status;
  memcpy(q, tabi_world_q(sim->world), sizeof *q * (size_t)tabi_model_nq(sim->model));
  double before = tabi_world_energy(sim->world).kinetic, spin = momentum(sim, tilt);
  status = tbi_simulation_step(sim, err);
  if (status != TABI_OK) return status;
  *o = (outcome){.forward = tabi_world_v(sim->world)[0]};
  if (is_edge(kind)) o->momentum = fabs(momentum(sim, tilt) - spin) / fabs(spin);
  measure_points(sim, e, o);
  return measure_energy(sim, q, before, o, err);
}

/* All rungs of a kind. */
static tabi_status climb(tbi_variant variant, impact_kind kind, double tilt, outcome o[RUNGS],
                         tabi_error *err) {
  for (int i = 0; i < RUNGS; ++i) {
    tbi_p5_surface surface = surface_of(i);
    tbi_simulation sim;
    tabi_status status = tbi_p5_open(&sim, model_of(kind, &surface, err), variant, 0, err);
    if (status == TABI_OK) status = hit(&sim, kind, tilt, surface.restitution, &o[i], err);
    tbi_simulation_close(&sim);
    if (status != TABI_OK) return status;
  }
  return TABI_OK;
}

/* -- what the law says */

static bool edge_sticks(double tilt) {
  double r[2];
  edge_of(tilt, r);
  return fabs(r[0] * r[1]) <= surface_of(0).friction * (gyration2() + r[1] * r[1]);
}

/* After an impact of the edge, if it slides: energy relative to that before. */
static double sliding_edge_energy(const double r[2], double e) {
  double k2 = gyration2();
  double nn = 1 + r[0] * r[0] / k2, tn = -r[0] * r[1] / k2;
  double share = surface_of(0).kinetic * (tn > 0 ? -1 : 1); /* t / n, against the slip */
  double n = (1 + e) * fall / (nn + share * tn), t = share * n;
  double spin = (r[1] * t - r[0] * n) / k2, up = n - fall;
  return (t * t + up * up + k2 * spin * spin) / (fall * fall);
}

static double energy_by_law(impact_kind kind, double tilt, double e, double plastic) {
  double r[2], forward = slide - surface_of(0).kinetic * (1 + e) * fall;
  edge_of(tilt, r);
  double left = r[0] * r[0] / (r[0] * r[0] + r[1] * r[1] + gyration2());
  switch (kind) {
  case EDGE:
    return left + e * e * (1 - left);
  case ROBOT:
    return plastic + e * e * (1 - plastic);
  case EDGE_SLIDES:
    return sliding_edge_energy(r, e);
  case FACE_SLIDES:
    return (forward * forward + e * e * fall * fall) / (slide * slide + fall * fall);
  default:
    return e * e;
  }
}

/* -- the ball that is dropped */

static const double drop = 0.5; /* m */

static const double ball_step[STEPS] = {1e-3, 1e-4}; /* s, the paper's and a finer one */

/* How high it rises after its first impact, of the height that it fell from. */
static tabi_status bounce(tbi_variant variant, int i, double timestep, double *height,
                          tabi_error *err) {
  tbi_p5_surface surface = surface_of(i);
  tbi_simulation sim;
  tabi_status status =
      tbi_p5_open_fine(&sim, model_of(POINT, &surface, err), variant, 9.81, timestep, err);
  const double q[7] = {0, 0, drop + radius[0], 1}, v[6] = {0};
  if (status == TABI_OK) status = tabi_world_set_state(sim.world, q, v, err);
  bool hits = false;
  *height = 0;
  while (status == TABI_OK && tbi_simulation_time(&sim) < 1) {
    status = tbi_simulation_step(&sim, err);
    double up = tabi_world_v(sim.world)[2];
    if (hits && up <= 0) break;
    hits = hits || up >= 0;
    if (hits) *height = fmax(*height, (tabi_world_q(sim.world)[2] - radius[0]) / drop);
  }
  tbi_simulation_close(&sim);
  return status;
}

static tabi_status bounce_all(tbi_variant variant, ladder *l, tabi_error *err) {
  tabi_status status = TABI_OK;
  for (int i = 0; i < STEPS * RUNGS && status == TABI_OK; ++i)
    status =
        bounce(variant, i % RUNGS, ball_step[i / RUNGS], &l->height[i / RUNGS][i % RUNGS], err);
  return status;
}

/* -- all impacts */

static void note(ladder *l, impact_kind kind, double tilt, const outcome o[RUNGS]) {
  for (int i = 0; i < RUNGS; ++i) {
    double e = rung(i), law = energy_by_law(kind, tilt, e, o[0].energy);
    double forward = slide - surface_of(0).kinetic * (1 + e) * fall;
    l->off[kind] = fmax(l->off[kind], o[i].off);
    l->miss[kind] = fmax(l->miss[kind], fabs(o[i].energy - law));
    l->momentum = fmax(l->momentum, o[i].momentum);
    if (kind == FACE_SLIDES) l->along = fmax(l->along, fabs(o[i].forward - forward));
    l->gains += o[i].energy > 1 + 1e-9;
    const double row[NCOLUMN] = {
        kind, tilt, e, o[i].off, o[i].ratio, o[i].energy, law, o[i].forward, l->height[0][i]};
    tbi_series_add(&l->series, row);
  }
}

static tabi_status climb_all(tbi_variant variant, ladder *l, tabi_error *err) {
  outcome o[RUNGS];
  tabi_status status = TABI_OK;
  for (int i = 0; i < KINDS + TILTS && status == TABI_OK; ++i) {
    impact_kind kind = (impact_kind)i;
    double tilt = i < KINDS ? 0 : tilt_of(i - KINDS);
    if (i < KINDS && is_edge(kind)) continue; /* what edges do is told by their tilt */
    if (i >= KINDS) kind = edge_sticks(tilt) ? EDGE : EDGE_SLIDES;
    status = climb(variant, kind, tilt, o, err);
    if (status == TABI_OK) note(l, kind, tilt, o);
  }
  return status;
}

/* -- criteria and figure */

static const char takes_time[] =
    "the integrator takes a share of the height that shrinks with the time step: positions move "
    "with the new velocity, and the impact is met up to a step before the floor";

static void expect(tbi_trial *trial, const char *format, impact_kind kind, double measured,
                   double limit) {
  char name[64];
  (void)snprintf(name, sizeof name, format, kind_name[kind]);
  tbi_expect_below(trial, name, "", measured, limit);
}

static void check_ball(tbi_trial *trial, const ladder *l) {
  for (int s = 0; s < STEPS; ++s) {
    double off = 0;
    for (int i = 0; i < RUNGS; ++i)
      off = fmax(off, fabs(l->height[s][i] - rung(i) * rung(i)));
    char name[64];
    (void)snprintf(name, sizeof name, "ball dropped, steps of %g ms: height against e^2",
                   1e3 * ball_step[s]);
    tbi_may_differ(trial, takes_time, takes_time);
    tbi_expect_below(trial, name, "", off, 1e-3);
    tbi_may_differ(trial, NULL, NULL);
  }
}

static void check(tbi_trial *trial, const ladder *l) {
  check_ball(trial, l);
  for (int k = 0; k < KINDS; ++k) {
    tbi_may_differ(trial, k < STICKING ? NULL : tbi_p5_cut, NULL);
    expect(trial, "%s: |v+ / v- - e|", (impact_kind)k, l->off[k], 1e-6);
    expect(trial, "%s: energy against the law", (impact_kind)k, l->miss[k], 1e-6);
  }
  tbi_may_differ(trial, NULL, NULL);
  tbi_expect_below(trial, "angular momentum about the edge, change", "", l->momentum, 1e-9);
  tbi_expect_below(trial, "face, slides: error of its speed", "m/s", l->along, 1e-6);
  tbi_may_differ(trial, tbi_p5_cut, NULL);
  tbi_expect_within(trial, "impacts that add energy", "", l->gains, 0, 0);
  tbi_may_differ(trial, NULL, NULL);
}

static tabi_status run_one(tbi_trial *trial, ladder *l, tabi_error *err) {
  tabi_status status = bounce_all(trial->variant, l, err);
  if (status == TABI_OK) status = climb_all(trial->variant, l, err);
  if (status != TABI_OK) return status;
  check(trial, l);
  return tbi_series_write(&l->series, trial, trial->variant == TBI_PUBLISHED ? ".csv" : "-ours.csv",
                          err);
}

/* A kind's column over e: the law as a line, both variants as marks. */
static void plot_kind(FILE *script, impact_kind kind, int column, int colour, bool first) {
  const int law = column == RATIO ? E : LAW;
  double tilt = kind == EDGE ? drawn[0] : kind == EDGE_SLIDES ? drawn[1] : 0;
  char e[64];
  (void)snprintf(e, sizeof e, "($1==%d && abs($2-%g)<0.01 ? $3:NaN)", kind, tilt);
  (void)fprintf(script,
                "%s $ours using %s:%d with lines lt %d notitle,\\\n"
                " $published using %s:%d with points pt 6 ps 1.4 lt %d title "
                "'%s, published',\\\n"
                " $ours using %s:%d with points pt 7 ps 0.6 lt %d title 'ours'",
                first ? "plot" : ",\\\n", e, law + 1, colour, e, column + 1, colour,
                kind_name[kind], e, column + 1, colour);
}

static void plot_panels(FILE *script) {
  (void)fputs("set multiplot layout 2,2\nset key top left samplen 1\nset xrange [0:1]\n"
              "set xlabel 'coefficient of restitution e'\nset yrange [0:1.1]\n"
              "set ylabel 'height / drop'\nset title 'a ball is dropped'\n"
              "plot x*x with lines lc rgb '#999999' title 'e^2',\\\n"
              " $published using ($1==0?$3:NaN):9 with points pt 6 ps 1.4 lt 2 title "
              "'published',\\\n"
              " $ours using ($1==0?$3:NaN):9 with points pt 7 ps 0.6 lt 1 title 'ours'\n"
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
