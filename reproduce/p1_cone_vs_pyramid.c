/* p1_cone_vs_pyramid.c - how hard a resting block must be pushed, direction by direction.
 *
 * A block on one point of contact, and another on eight, is pushed along the floor at the height of
 * the floor, so that all points keep their load.  The largest push that it withstands, found by
 * bisection, is the boundary of the forces that friction can give: a circle for `cone`, a square
 * turned at random for one point under `lcp`, and about a circle again for many such squares. */
#include "figure.h"

#include <math.h>
#include <stdlib.h>

static const double mu = 0.5, gravity = 9.8, radius = 0.02;
static const double pi = 3.14159265358979324;

enum { DIRECTIONS = 72, QUICK_DIRECTIONS = 24, PUSH_STEPS = 40, BISECTIONS = 8 };

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

static tabi_status open_block(block *b, int32_t feet, tabi_contact_kind contact, uint64_t seed,
                              tabi_error *err) {
  *b = (block){.model = block_model(feet, err)};
  if (!b->model) return tbi_no_memory(err);
  tabi_world_def def = tabi_world_def_default(b->model);
  def.contact = contact;
  def.seed = seed;
  def.integrator = TABI_RK4;
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

enum { ANGLE, CONE, PYRAMID, MANY, NCOLUMN };

static const struct {
  int32_t feet;
  tabi_contact_kind contact;
} cases[NCOLUMN] = {
    [CONE] = {1, TABI_CONTACT_CONE},
    [PYRAMID] = {1, TABI_CONTACT_LCP },
    [MANY] = {8, TABI_CONTACT_LCP }
};

static tabi_status sweep(int column, int32_t directions, double (*rows)[NCOLUMN], tabi_error *err) {
  block b = {0};
  tabi_status status = open_block(&b, cases[column].feet, cases[column].contact, 1, err);
  for (int32_t i = 0; i < directions && status == TABI_OK; ++i) {
    rows[i][ANGLE] = 2 * pi * i / directions;
    rows[i][column] = holding(&b, rows[i][ANGLE]);
  }
  close_block(&b);
  return status;
}

/* The worst relative deviation of one point from mu / max(|cos|, |sin|), for the axes that fit
 * best: how they lie is a matter of chance. */
static double fit_pyramid(double (*rows)[NCOLUMN], int32_t directions, double *best_axis) {
  double best = INFINITY;
  for (int k = 0; k < 900; ++k) {
    double axis = 0.5 * pi * k / 900, worst = 0;
    for (int32_t i = 0; i < directions; ++i) {
      double angle = rows[i][ANGLE] - axis;
      double law = mu / fmax(fabs(cos(angle)), fabs(sin(angle)));
      worst = fmax(worst, fabs(rows[i][PYRAMID] / law - 1));
    }
    if (worst >= best) continue;
    best = worst;
    *best_axis = axis;
  }
  return best;
}

/* One point, pushed along an axis of its pyramid and between two. */
static tabi_status check_pyramid(tbi_trial *trial, double (*rows)[NCOLUMN], int32_t directions,
                                 tabi_error *err) {
  double axis = 0;
  double deviation = fit_pyramid(rows, directions, &axis);
  block b = {0};
  tabi_status status = open_block(&b, 1, TABI_CONTACT_LCP, 1, err);
  if (status == TABI_OK) {
    double max = sqrt(2) * mu;
    tbi_expect_within(trial, "lcp, one point: along an axis", "", holding(&b, axis), 0.98 * mu,
                      1.02 * mu);
    tbi_expect_within(trial, "lcp, one point: between axes", "", holding(&b, axis + 0.25 * pi),
                      0.98 * max, 1.02 * max);
    tbi_expect_below(trial, "lcp, one point: max deviation from a square", "%", 100 * deviation, 2);
  }
  close_block(&b);
  return status;
}

typedef struct extent {
  double min, max, mean;
} extent;

static extent extent_of(double (*rows)[NCOLUMN], int32_t directions, int column) {
  extent e = {INFINITY, 0, 0};
  for (int32_t i = 0; i < directions; ++i) {
    e.min = fmin(e.min, rows[i][column]);
    e.max = fmax(e.max, rows[i][column]);
    e.mean += rows[i][column] / directions;
  }
  return e;
}

static tabi_status check(tbi_trial *trial, double (*rows)[NCOLUMN], int32_t directions,
                         tabi_error *err) {
  extent cone = extent_of(rows, directions, CONE);
  tbi_expect_within(trial, "cone, one point: min holding force / f_n", "", cone.min, 0.99 * mu,
                    1.01 * mu);
  tbi_expect_within(trial, "cone, one point: max holding force / f_n", "", cone.max, 0.99 * mu,
                    1.01 * mu);
  tabi_status status = check_pyramid(trial, rows, directions, err);
  extent many = extent_of(rows, directions, MANY);
  tbi_expect_below(trial, "lcp, eight points: max / min", "", many.max / many.min, 1.15);
  tbi_expect_within(trial, "lcp, eight points: mean", "", many.mean, mu, sqrt(2) * mu);
  return status;
}

static tabi_status draw(tbi_trial *trial, const tbi_series *series, tabi_error *err) {
  tbi_figure figure;
  tabi_status status = tbi_figure_open(&figure, trial, 620, 640, err);
  if (status != TABI_OK) return status;
  tbi_figure_data(&figure, "run", series);
  (void)fputs("set size ratio -1\nset xlabel 'f_x / f_n'\nset ylabel 'f_y / f_n'\n"
              "set xrange [-0.8:0.8]\nset yrange [-0.8:0.8]\n"
              "set key outside top center horizontal\nset parametric\nset trange [0:2*pi]\n"
              "plot 0.5*cos(t), 0.5*sin(t) lc rgb '#999999' dt 2 title '{/Symbol m} = 0.5',\\\n"
              " $run using ($2*cos($1)):($2*sin($1)) with linespoints lt 1 title 'cone',\\\n"
              " '' using ($3*cos($1)):($3*sin($1)) with linespoints lt 2 title 'lcp, 1 point',\\\n"
              " '' using ($4*cos($1)):($4*sin($1)) with linespoints lt 3 title 'lcp, 8 points'\n",
              figure.script);
  return tbi_figure_close(&figure, ".svg", err);
}

static tabi_status run(tbi_trial *trial, tabi_error *err) {
  int32_t directions = trial->quick ? QUICK_DIRECTIONS : DIRECTIONS;
  double rows[DIRECTIONS][NCOLUMN];
  for (int column = CONE; column < NCOLUMN; ++column) {
    tabi_status status = sweep(column, directions, rows, err);
    if (status != TABI_OK) return status;
  }
  tabi_status status = check(trial, rows, directions, err);
  if (status != TABI_OK) return status;
  static const char *const names[] = {"angle", "cone", "lcp_1", "lcp_8", NULL};
  tbi_series series;
  tbi_series_init(&series, names);
  for (int32_t i = 0; i <= directions; ++i)
    tbi_series_add(&series, rows[i % directions]);
  status = tbi_series_write(&series, trial, ".csv", err);
  if (status == TABI_OK) status = draw(trial, &series, err);
  tbi_series_free(&series);
  return status;
}

const tbi_experiment tbi_p1_cone_vs_pyramid = {
    .id = "p1/cone-vs-pyramid",
    .paper = "P1, Figs. 1, 2",
    .shows = "friction at rest in four directions lies in a pyramid, not a cone; axes drawn at "
             "random at every point even that out",
    .run = run,
};
