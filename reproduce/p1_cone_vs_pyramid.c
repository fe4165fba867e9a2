/* p1_cone_vs_pyramid.c - how hard a resting block must be pushed, direction by direction.
 *
 * A block on one point of contact, and another on eight, is pushed along the floor at the height of
 * the floor, so that all points keep their load.  The largest push that it withstands, found by
 * bisection, is the boundary of the forces that friction can give: a circle for `cone`, a square
 * turned at random for one point under the LCP, and about a circle again for many such squares: how
 * nearly is a matter of chance, and so of the seed. */
#include "figure.h"

#include <math.h>
#include <stdlib.h>

static const double mu = 0.5, gravity = 9.8, radius = 0.02;
static const double pi = 3.14159265358979324;

enum { DIRECTIONS = 72, QUICK_DIRECTIONS = 24, SEEDS = 20, PUSH_STEPS = 40, BISECTIONS = 8 };

/* A block on feet that are balls, in a circle. */
static tabi_model *block_model(int32_t feet, tabi_error *err) {
  tabi_builder *builder = tabi_builder_create();
  if (!builder) return NULL;
  tabi_material_def material = tabi_material_def_default();
  material.friction = mu;
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_PLANE;
  shape.link = TABI_WORLD;
  shape.material = tabi_builder_add_material(builder, &material);
  (void)tabi_builder_add_shape(builder, &shape);
  tabi_link_def link = tabi_link_def_default();
  link.mass = 1;
  for (int i = 0; i < 3; ++i)
    link.inertia[i] = 0.01;
  tabi_joint_def joint = tabi_joint_def_default();
  joint.type = TABI_JOINT_FREE;
  joint.parent = TABI_WORLD;
  joint.child = tabi_builder_add_link(builder, &link);
  joint.initial_q[2] = radius;
  (void)tabi_builder_add_joint(builder, &joint);
  shape.type = TABI_SHAPE_SPHERE;
  shape.link = joint.child;
  shape.size[0] = radius;
  for (int32_t i = 0; i < feet; ++i) {
    double angle = 2 * pi * i / feet, ring = feet > 1 ? 0.1 : 0;
    shape.pos[0] = ring * cos(angle);
    shape.pos[1] = ring * sin(angle);
    (void)tabi_builder_add_shape(builder, &shape);
  }
  const double down[3] = {0, 0, -gravity};
  tabi_builder_set_gravity(builder, down);
  tabi_model *model = tabi_builder_build(builder, err);
  tabi_builder_destroy(builder);
  return model;
}

typedef struct block {
  tabi_model *model;
  tabi_world *world;
  void *rest; /* a snapshot after it has settled */
  size_t size;
} block;

static void close_block(block *b) {
  free(b->rest);
  tabi_world_destroy(b->world);
  tabi_model_destroy(b->model);
}

/* What a block is held by: the LCP as published, with rk4; ours is the cone. */
typedef struct holder {
  tabi_contact_kind contact;
  tabi_integrator integrator;
} holder;
static const holder by_lcp = {TABI_CONTACT_LCP_PAPER, TABI_RK4};
static const holder by_cone = {TABI_CONTACT_CONE, TABI_SEMI_IMPLICIT};

static tabi_status open_block(block *b, int32_t feet, holder by, uint64_t seed, tabi_error *err) {
  *b = (block){.model = block_model(feet, err)};
  if (!b->model) return tbi_no_memory(err);
  tabi_world_def def = tabi_world_def_default(b->model);
  def.contact = by.contact;
  def.seed = seed;
  def.integrator = by.integrator;
  b->world = tabi_world_create(b->model, &def, err);
  if (!b->world) return err->status;
  for (int i = 0; i < 20; ++i) {
    tabi_status status = tabi_world_step(b->world, NULL);
    if (status == TABI_OK) continue;
    *err = *tabi_world_error(b->world);
    return status;
  }
  b->size = tabi_world_snapshot_size(b->world);
  b->rest = malloc(b->size);
  if (!b->rest) return tbi_no_memory(err);
  tabi_world_save(b->world, b->rest);
  return TABI_OK;
}

/* Whether the block withstands a push, a share of its weight. */
static bool stands(block *b, double angle, double share) {
  (void)tabi_world_restore(b->world, b->rest, b->size);
  const double force[3] = {gravity * share * cos(angle), gravity * share * sin(angle), 0};
  const double none[3] = {0};
  for (int i = 0; i < PUSH_STEPS; ++i) {
    const double *q = tabi_world_q(b->world);
    const double point[3] = {q[0], q[1], 0};
    tabi_world_apply(b->world, 0, force, none, point);
    if (tabi_world_step(b->world, NULL) != TABI_OK) return false;
  }
  const double *v = tabi_world_v(b->world);
  return hypot(v[0], v[1]) + 0.1 * fabs(v[5]) < 2e-4;
}

/* The largest push that it withstands, as a share of its weight. */
static double holding(block *b, double angle) {
  double low = 0.9 * mu, high = 1.6 * mu;
  for (int i = 0; i < BISECTIONS; ++i) {
    double middle = 0.5 * (low + high);
    *(stands(b, angle, middle) ? &low : &high) = middle;
  }
  return 0.5 * (low + high);
}

/* What is held in every direction. */
typedef struct boundary {
  int32_t directions;
  double held[DIRECTIONS];
} boundary;

static double angle_of(const boundary *h, int32_t i) { return 2 * pi * i / h->directions; }

static tabi_status trace(boundary *h, int32_t feet, holder by, uint64_t seed, tabi_error *err) {
  block b = {0};
  tabi_status status = open_block(&b, feet, by, seed, err);
  for (int32_t i = 0; i < h->directions && status == TABI_OK; ++i)
    h->held[i] = holding(&b, angle_of(h, i));
  close_block(&b);
  return status;
}

typedef struct extent {
  double min, max, mean;
} extent;

static extent extent_of(const boundary *h) {
  extent e = {INFINITY, 0, 0};
  for (int32_t i = 0; i < h->directions; ++i) {
    e.min = fmin(e.min, h->held[i]);
    e.max = fmax(e.max, h->held[i]);
    e.mean += h->held[i] / h->directions;
  }
  return e;
}

/* -- one point */

/* The worst relative deviation of one point from mu / max(|cos|, |sin|), for the axes that fit
 * best: how they lie is a matter of chance. */
static double fit_pyramid(const boundary *h, double *best_axis) {
  double best = INFINITY;
  for (int k = 0; k < 900; ++k) {
    double axis = 0.5 * pi * k / 900, worst = 0;
    for (int32_t i = 0; i < h->directions; ++i) {
      double angle = angle_of(h, i) - axis;
      double law = mu / fmax(fabs(cos(angle)), fabs(sin(angle)));
      worst = fmax(worst, fabs(h->held[i] / law - 1));
    }
    if (worst >= best) continue;
    best = worst;
    *best_axis = axis;
  }
  return best;
}

/* One point, pushed along an axis of its pyramid and between two. */
static tabi_status check_pyramid(tbi_trial *trial, const boundary *one, tabi_error *err) {
  double axis = 0;
  double deviation = fit_pyramid(one, &axis);
  block b = {0};
  tabi_status status = open_block(&b, 1, by_lcp, 1, err);
  if (status == TABI_OK) {
    double max = sqrt(2) * mu;
    tbi_expect_within(trial, "one point: along an axis", "", holding(&b, axis), 0.98 * mu,
                      1.02 * mu);
    tbi_expect_within(trial, "one point: between axes", "", holding(&b, axis + 0.25 * pi),
                      0.98 * max, 1.02 * max);
    tbi_expect_below(trial, "one point: max deviation from a square", "%", 100 * deviation, 2);
  }
  close_block(&b);
  return status;
}

static void check_cone(tbi_trial *trial, const boundary *one, const boundary *many) {
  extent e = extent_of(one), m = extent_of(many);
  trial->variant = TBI_OURS;
  tbi_expect_within(trial, "one point: least holding force / f_n", "", e.min, 0.99 * mu, 1.01 * mu);
  tbi_expect_within(trial, "one point: largest holding force / f_n", "", e.max, 0.99 * mu,
                    1.01 * mu);
  tbi_expect_below(trial, "eight points: max / min, mean of the seeds", "", m.max / m.min, 1.15);
}

/* -- eight points, seed by seed */

typedef struct spread {
  double mean, deviation, max;
} spread;

static spread spread_of(const double *x, int32_t n) {
  spread s = {0};
  for (int32_t i = 0; i < n; ++i) {
    s.mean += x[i] / n;
    s.max = fmax(s.max, x[i]);
  }
  for (int32_t i = 0; i < n; ++i)
    s.deviation += (x[i] - s.mean) * (x[i] - s.mean) / (n - 1);
  s.deviation = sqrt(s.deviation);
  return s;
}

static const char reason[] =
    "eight squares that lie at random are far from round: the strongest direction holds 10 to 22 % "
    "more than the weakest, 16 % on average";

static tabi_status check_many(tbi_trial *trial, boundary many[SEEDS], tabi_error *err) {
  double ratio[SEEDS], mean[SEEDS];
  for (int32_t i = 0; i < SEEDS; ++i) {
    tbi_trial_progress(trial, "eight points, seed by seed");
    tabi_status status = trace(&many[i], 8, by_lcp, (uint64_t)i + 1, err);
    if (status != TABI_OK) return status;
    extent e = extent_of(&many[i]);
    ratio[i] = e.max / e.min;
    mean[i] = e.mean;
  }
  spread r = spread_of(ratio, SEEDS), m = spread_of(mean, SEEDS);
  trial->reason = reason;
  tbi_expect_below(trial, "eight points: max / min, mean of the seeds", "", r.mean, 1.15);
  trial->reason = NULL;
  tbi_expect_below(trial, "eight points: max / min, worst of 20 seeds", "", r.max, sqrt(2));
  char says[48];
  (void)snprintf(says, sizeof says, "%.3f +- %.3f", m.mean, m.deviation);
  tbi_expect_word(trial, "eight points: holding force / f_n, 20 seeds", "0.5 to 0.707", says,
                  m.mean >= mu && m.mean <= sqrt(2) * mu);
  return TABI_OK;
}

/* -- all */

enum { ANGLE, CONE, PYRAMID, MANY, MANY_MIN, MANY_MAX, CONES, NCOLUMN };
static const char *const names[] = {"angle",    "ours_1",    "published_1", "published_8",
                                    "lowest_8", "highest_8", "ours_8",      NULL};

typedef struct boundaries {
  boundary cone, cones, one, many[SEEDS];
} boundaries;

static void add_rows(const boundaries *all, tbi_series *series) {
  int32_t directions = all->cone.directions;
  for (int32_t i = 0; i <= directions; ++i) {
    int32_t at = i % directions;
    double row[NCOLUMN] = {2 * pi * i / directions, all->cone.held[at], all->one.held[at]};
    row[CONES] = all->cones.held[at];
    row[MANY_MIN] = INFINITY;
    for (int32_t s = 0; s < SEEDS; ++s) {
      double held = all->many[s].held[at];
      row[MANY] += held / SEEDS;
      row[MANY_MIN] = fmin(row[MANY_MIN], held);
      row[MANY_MAX] = fmax(row[MANY_MAX], held);
    }
    tbi_series_add(series, row);
  }
}

static tabi_status trace_all(tbi_trial *trial, boundaries *all, tabi_error *err) {
  int32_t directions = trial->quick ? QUICK_DIRECTIONS : DIRECTIONS;
  all->cone.directions = all->cones.directions = all->one.directions = directions;
  for (int32_t s = 0; s < SEEDS; ++s)
    all->many[s].directions = directions;
  trial->variant = TBI_PUBLISHED;
  tabi_status status = trace(&all->one, 1, by_lcp, 1, err);
  if (status == TABI_OK) status = check_pyramid(trial, &all->one, err);
  if (status == TABI_OK) status = check_many(trial, all->many, err);
  if (status == TABI_OK) status = trace(&all->cone, 1, by_cone, 1, err);
  if (status == TABI_OK) status = trace(&all->cones, 8, by_cone, 1, err);
  if (status == TABI_OK) check_cone(trial, &all->cone, &all->cones);
  return status;
}

static tabi_status draw(tbi_trial *trial, const tbi_series *series, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 640, 680, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "run", series);
  (void)fputs(
      "set size ratio -1\nset xlabel 'f_x / f_n'\nset ylabel 'f_y / f_n'\n"
      "set xrange [-0.8:0.8]\nset yrange [-0.8:0.8]\n"
      "set key outside top center horizontal\nset parametric\nset trange [0:2*pi]\n"
      "plot 0.5*cos(t), 0.5*sin(t) lc rgb '#999999' dt 2 title 'μ = 0.5',\\\n"
      " $run using ($6*cos($1)):($6*sin($1)) with lines lc rgb '#f0b8bf' title '8 points, 20 "
      "seeds: extremes',\\\n"
      " '' using ($5*cos($1)):($5*sin($1)) with lines lc rgb '#f0b8bf' notitle,\\\n"
      " '' using ($4*cos($1)):($4*sin($1)) with lines lw 2 lt 2 title '8 points, published',"
      "\\\n"
      " '' using ($7*cos($1)):($7*sin($1)) with lines dt 2 lc rgb '#444444' title '8 points, "
      "ours',\\\n"
      " '' using ($3*cos($1)):($3*sin($1)) with linespoints lt 3 ps 0.5 title '1 point, published',"
      "\\\n"
      " '' using ($2*cos($1)):($2*sin($1)) with linespoints lt 1 ps 0.5 title '1 point, ours'\n",
      figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  boundaries *all = calloc(1, sizeof *all);
  if (!all) return tbi_no_memory(err);
  tbi_series series;
  tbi_series_init(&series, names);
  tabi_status status = trace_all(trial, all, err);
  if (status == TABI_OK) {
    add_rows(all, &series);
    status = tbi_series_write(&series, trial, ".csv", err);
  }
  free(all);
  if (status == TABI_OK) status = draw(trial, &series, err);
  tbi_series_free(&series);
  return status;
}

const tbi_experiment tbi_p1_cone_vs_pyramid = {
    .id = "p1/cone-vs-pyramid",
    .paper = "P1, Figs. 1, 2",
    .shows = "friction at rest in four directions lies in a pyramid, not a cone; axes drawn at "
             "random at every point even that out",
    .reconstructed = "all of it: the figures are sketches",
    .run = run,
};
