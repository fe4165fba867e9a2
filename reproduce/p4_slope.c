/* p4_slope.c - boxes fall on a slope and on each other; friction holds them, or they slide down.
 *
 * scenes/falling_boxes.yaml, the authors' boxes, with its floor tilted.  With a coefficient above
 * the slope's tangent they come to rest, with one below it they end up sliding as one block would.
 * Published: cone-paper and rk4; ours: cone and semi-implicit steps. */
#include "figure.h"
#include "outline.h"
#include "simulation.h"

#include <math.h>

static const double slope = 0.3, gravity = 9.8; /* rad, m/s^2 */
static const double duration = 5;               /* s */
static const double last_part = 0.5; /* s, at the end, over which accelerations are measured */

enum { NBOX = 4, SNAPSHOTS = 5, HELD = 0, SLIDING = 1, FRICTIONS = 2 };
static const double snapshot_time[SNAPSHOTS] = {0, 0.4, 0.7, 1.2, 5};
static const char *const friction_of[FRICTIONS] = {"materials.wood.friction=0.5",
                                                   "materials.wood.friction=0.2"};
static const double low = 0.2; /* the coefficient of SLIDING */

static const char *const columns[] = {"time", "fastest_mps", "depth_m", "energy_gain_J", NULL};

typedef struct fall {
  tbi_series series;
  double depth;           /* m, largest */
  double lowest, gain;    /* J, of the energy so far, and by how much it rose above that */
  double fastest;         /* m/s, of the boxes at the end */
  double acceleration[2]; /* m/s^2 down the slope at the end: least and largest of the boxes */
} fall;

/* -- pictures: from above, so that no box hides another for long */

static const double spacing = 3.1, row_height = 3.9; /* m, between pictures */

static tbi_camera camera_of(int column, tbi_variant variant) {
  const double turn = 0.5, dip = 0.45;
  tbi_camera camera = {.by_body = true};
  camera.right[0] = cos(turn);
  camera.right[1] = sin(turn);
  camera.up[0] = -sin(turn) * sin(dip);
  camera.up[1] = cos(turn) * sin(dip);
  camera.up[2] = cos(dip);
  camera.shift[0] = spacing * column;
  camera.shift[1] = variant == TBI_PUBLISHED ? row_height : 0;
  return camera;
}

static void project(const tbi_camera *camera, const double x[3], double to[2]) {
  for (int i = 0; i < 2; ++i) {
    const double *axis = i == 0 ? camera->right : camera->up;
    to[i] = camera->shift[i] + x[0] * axis[0] + x[1] * axis[1] + x[2] * axis[2];
  }
}

/* A part of the slope, as an object that lies behind the boxes. */
static void draw_slope(const tbi_camera *camera, int number, FILE *script) {
  static const double corner[5][2] = {
      {-0.7, -0.6},
      {2.2,  -0.6},
      {2.2,  0.9 },
      {-0.7, 0.9 },
      {-0.7, -0.6}
  };
  (void)fprintf(script, "set object %d polygon", number);
  for (int i = 0; i < 5; ++i) {
    double s = corner[i][0], at[2];
    const double x[3] = {s * cos(slope), corner[i][1], -s * sin(slope)};
    project(camera, x, at);
    (void)fprintf(script, "%s %g,%g", i > 0 ? " to" : " from", at[0], at[1]);
  }
  (void)fputs(" fillstyle solid 1 border lc rgb '#999999' fillcolor rgb '#eeeeee' back\n", script);
}

typedef struct pictures {
  FILE *script;
  int number; /* of the next object */
} pictures;

static void take(pictures *p, tbi_simulation *sim, int shot, tbi_variant variant) {
  tbi_camera camera = camera_of(shot, variant);
  draw_slope(&camera, p->number++, p->script);
  p->number = tbi_outline_draw(&camera, sim->world, p->number, p->script);
}

/* -- simulation */

/* Speeds down the slope. */
static void read_speeds(const tbi_simulation *sim, double along[NBOX], fall *f) {
  const double *v = tabi_world_v(sim->world);
  f->fastest = 0;
  for (int i = 0; i < NBOX; ++i, v += 6) {
    along[i] = v[0] * cos(slope) - v[2] * sin(slope);
    f->fastest = fmax(f->fastest, sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
  }
}

static void read_accelerations(fall *f, const double before[NBOX], const double after[NBOX]) {
  for (int b = 0; b < NBOX; ++b) {
    double a = (after[b] - before[b]) / last_part;
    f->acceleration[0] = b > 0 ? fmin(f->acceleration[0], a) : a;
    f->acceleration[1] = b > 0 ? fmax(f->acceleration[1], a) : a;
  }
}

static tabi_status simulate(tbi_simulation *sim, fall *f, tbi_variant variant, pictures *p,
                            tabi_error *err) {
  double before[NBOX] = {0}, along[NBOX] = {0};
  int64_t steps = llround(duration / sim->timestep);
  int64_t mark = steps - llround(last_part / sim->timestep);
  int shot = 0;
  for (int64_t i = 0; i <= steps; ++i) {
    if (p && shot < SNAPSHOTS && tbi_simulation_time(sim) >= snapshot_time[shot] - 1e-9)
      take(p, sim, shot++, variant);
    if (i == steps) break;
    tabi_status status = tbi_simulation_step(sim, err);
    if (status != TABI_OK) return status;
    read_speeds(sim, along, f);
    double energy = tbi_simulation_energy(sim);
    f->lowest = i == 0 ? energy : fmin(f->lowest, energy);
    const double row[] = {tbi_simulation_time(sim), f->fastest, tbi_simulation_max_penetration(sim),
                          energy - f->lowest};
    tbi_series_add(&f->series, row);
    f->depth = fmax(f->depth, row[2]);
    f->gain = fmax(f->gain, row[3]);
    for (int b = 0; i + 1 == mark && b < NBOX; ++b)
      before[b] = along[b];
  }
  read_accelerations(f, before, along);
  return TABI_OK;
}

static tabi_status run_fall(fall *f, int friction, tbi_variant variant, pictures *p,
                            tabi_error *err) {
  bool published = variant == TBI_PUBLISHED;
  char tilt[64];
  (void)snprintf(tilt, sizeof tilt, "bodies.floor.rpy=[0, %g, 0]", slope);
  const char *const set[] = {tilt, friction_of[friction],
                             published ? "contact.model=cone-paper" : "contact.model=cone",
                             published ? "integrator=rk4" : "integrator=semi-implicit", NULL};
  tbi_simulation sim;
  tabi_status status = tbi_simulation_open(&sim, "falling_boxes.yaml", set, err);
  if (status == TABI_OK) status = simulate(&sim, f, variant, friction == HELD ? p : NULL, err);
  tbi_simulation_close(&sim);
  return status;
}

/* -- results */

static const char held_over[] =
    "rk4 holds the contact forces of a step over its stages, so that the corner of a box that "
    "turns "
    "moves on into what it meets, and is pushed out again with a gain of energy";
static const char one_sided[] =
    "friction that is scaled back to the cone after its two rows were solved one after the other "
    "is "
    "too weak and off its direction where a box lies at an angle to the slope (p4/anisotropy)";

static void check(tbi_trial *trial, tbi_variant variant, const fall f[FRICTIONS]) {
  const fall *held = &f[HELD], *sliding = &f[SLIDING];
  double law = gravity * (sin(slope) - low * cos(slope));
  trial->variant = variant;
  tbi_may_differ(trial, held_over, NULL);
  tbi_expect_below(trial, "mu 0.5 > tan: max penetration", "mm", 1e3 * held->depth, 1);
  tbi_expect_below(trial, "mu 0.5: energy gained", "J", held->gain, 1e-3);
  tbi_expect_below(trial, "mu 0.2 < tan: max penetration", "mm", 1e3 * sliding->depth, 1);
  tbi_expect_below(trial, "mu 0.2: energy gained", "J", sliding->gain, 1e-3);
  tbi_may_differ(trial, one_sided, NULL);
  tbi_expect_below(trial, "mu 0.5: fastest box at the end", "m/s", held->fastest, 1e-2);
  tbi_expect_within(trial, "mu 0.2: min acceleration of a box", "m/s2", sliding->acceleration[0],
                    0.99 * law, 1.01 * law);
  tbi_expect_within(trial, "mu 0.2: max acceleration of a box", "m/s2", sliding->acceleration[1],
                    0.99 * law, 1.01 * law);
  tbi_may_differ(trial, NULL, NULL);
}

static void label_pictures(FILE *script) {
  for (int i = 0; i < SNAPSHOTS; ++i)
    (void)fprintf(script, "set label %d '%g s' at %g,%g center\n", i + 1, snapshot_time[i],
                  spacing * i, 2 * row_height - 0.35);
  (void)fprintf(script,
                "set label 20 'published: cone-paper, rk4' at -1.1,%g\n"
                "set label 21 'ours: cone' at -1.1,%g\n",
                2 * row_height - 0.75, row_height - 0.75);
}

static tabi_status finish_figure(tbi_figure *figure, fall f[TBI_VARIANTS][FRICTIONS],
                                 tabi_error *err) {
  static const char *const names[TBI_VARIANTS][FRICTIONS] = {
      [TBI_OURS] = {"ours_held",      "ours_sliding"     },
      [TBI_PUBLISHED] = {"published_held", "published_sliding"}
  };
  FILE *script = figure->script;
  for (int v = 0; v < TBI_VARIANTS; ++v)
    for (int k = 0; k < FRICTIONS; ++k)
      tbi_figure_data(figure, names[v][k], &f[v][k].series);
  label_pictures(script);
  (void)fprintf(script,
                "set multiplot\nset size 1,0.62\nset origin 0,0.38\nunset key\nunset tics\n"
                "unset border\nunset grid\nset size ratio -1\nset lmargin 1\nset rmargin 1\n"
                "set xrange [-1.2:%g]\nset yrange [-1.6:%g]\n",
                spacing * (SNAPSHOTS - 1) + 2.7, 2 * row_height - 0.1);
  (void)fputs(
      "plot -10 notitle\nunset object\nunset label\nset size noratio\n"
      "set size 1,0.38\nset origin 0,0\nset border\nset tics nomirror\nset grid lc rgb '#dddddd'\n"
      "unset lmargin\nunset rmargin\n"
      "set xrange [0:*]\nset yrange [1e-6:20]\nset logscale y\nset format y '10^{%L}'\n"
      "set xlabel 'time [s]'\nset ylabel 'fastest box [m/s], from 2·10^{-6}'\nset key bottom left\n"
      "shown(v) = v > 2e-6 ? v : 2e-6\n"
      "plot $published_sliding using 1:2 with lines lt 2 dt 2 title 'μ = 0.2, published',"
      "\\\n $ours_sliding using 1:2 with lines lt 1 dt 2 title 'μ = 0.2, ours',\\\n"
      " $published_held using 1:(shown($2)) with lines lt 2 title 'μ = 0.5, published',\\\n"
      " $ours_held using 1:(shown($2)) with lines lt 1 title 'μ = 0.5, ours'\n"
      "unset multiplot\n",
      script);
  return tbi_figure_close(figure, ".svg", err);
}

static tabi_status write(tbi_trial *trial, fall f[TBI_VARIANTS][FRICTIONS], tabi_error *err) {
  static const char *const endings[TBI_VARIANTS][FRICTIONS] = {
      [TBI_OURS] = {".csv",           "-sliding.csv"          },
      [TBI_PUBLISHED] = {"-published.csv", "-published-sliding.csv"}
  };
  tabi_status status = TABI_OK;
  for (int v = 0; v < TBI_VARIANTS; ++v)
    for (int k = 0; k < FRICTIONS && status == TABI_OK; ++k)
      status = tbi_series_write(&f[v][k].series, trial, endings[v][k], err);
  return status;
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  fall f[TBI_VARIANTS][FRICTIONS] = {0};
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 900, 900, err);
  if (status != TABI_OK) return status;
  pictures p = {figure.script, 1};
  for (int v = 0; v < TBI_VARIANTS; ++v) {
    for (int k = 0; k < FRICTIONS; ++k) {
      tbi_series_init(&f[v][k].series, columns);
      if (status == TABI_OK) status = run_fall(&f[v][k], k, (tbi_variant)v, &p, err);
    }
    if (status == TABI_OK) check(trial, (tbi_variant)v, f[v]);
  }
  if (status == TABI_OK) status = write(trial, f, err);
  if (status == TABI_OK) {
    status = finish_figure(&figure, f, err);
  } else {
    tbi_figure_drop(&figure);
  }
  for (int v = 0; v < TBI_VARIANTS; ++v)
    for (int k = 0; k < FRICTIONS; ++k)
      tbi_series_free(&f[v][k].series);
  return status;
}

const tbi_experiment tbi_p4_slope = {
    .id = "p4/slope",
    .paper = "P4, Fig. 2",
    .shows = "boxes that fall on a slope and on each other are simulated stably, many contacts at "
             "once",
    .reconstructed = "boxes, their starts and friction from the authors' sample FallingBoxes; the "
                     "slope of 0.3 rad, and a second run with less friction than that",
    .run = run,
};
