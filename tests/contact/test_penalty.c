/* test_penalty.c - the springs and dampers of penalty on random problems.
 *
 * Where nothing is cut the law is linear, and all points together must move as assembly-disassembly
 * with the same springs folded into the bodies says.  Where it is not, every point must have the
 * impulse that its own law gives at its own velocity.  As published, the points come one after
 * another, which is the same for one point. */
#include "support/make_problem.h"
#include "support/near.h"

#include "base/array.h"
#include "contact/penalty_law.h"
#include "contact/penalty_tree.h"
#include "contact/surface.h"

#include <stdlib.h>
#include <string.h>

#define MODELS 200
#define LAWS   3000
#define POINTS 10
#define ROWS   4

static const double h = 1e-3;

static tabi_material_def random_surface(rng *r) {
  tabi_material_def surface = tabi_material_def_default();
  surface.stiffness = pow(10, rng_between(r, 3, 6));
  surface.damping = pow(10, rng_between(r, 0, 3));
  surface.friction = rng_between(r, 0, 1);
  surface.kinetic = surface.friction * rng_between(r, 0.5, 1);
  return surface;
}

static tabi_world_def penalty_def(void) {
  tabi_world_def def = made_def(POINTS);
  def.contact = TABI_CONTACT_PENALTY;
  def.timestep = h;
  def.penalty.tangential_stiffness = 0.5;
  return def;
}

/* ---- against assembly-disassembly */

/* candidates of bodies that have mass with the world */
static int32_t ground_candidates(const made_problem *made, rng *r, tbi_candidate *candidate) {
  const tabi_model *model = made->model;
  int32_t count = 0;
  for (int32_t i = 0; i < POINTS && model->nbody > 0; ++i) {
    int32_t body = rng_below(r, model->nbody);
    if (model->body[body].mass <= 0) continue;
    double direction[3];
    double offset[3];
    rng_direction(r, direction, 3);
    rng_fill(r, 0.3, offset, 3);
    v3 at = v3_add(tbi_tree_origin(made->d, body), v4_to(made->d->body[body].pos));
    candidate[count++] = (tbi_candidate){.shape_a = model->nbody,
                                         .shape_b = body,
                                         .feature = (uint32_t)i,
                                         .point = v3_add(at, v3_load(offset)),
                                         .normal = v3_load(direction)};
  }
  return count;
}

/* a metre deep, and rough without end: nothing is cut */
static void make_linear(made_problem *made, rng *r, tabi_material_def *surface) {
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    tbi_point *c = &made->p->point[i];
    double deflection[3];
    rng_fill(r, 0.01, deflection, 3);
    surface[i] = random_surface(r);
    surface[i].friction = surface[i].kinetic = 1e12;
    c->surface = &surface[i];
    c->friction = 1e12;
    c->gap = -1;
    c->target = rng_between(r, -0.1, 0.1); /* of rigid contacts: must not matter */
    c->deflection = v3_load(deflection);
  }
}

static v3 in_frame(const m4 *frame, v3 x) {
  return v3_make(v3_dot(v4_to(frame->x), x), v3_dot(v4_to(frame->y), x),
                 v3_dot(v4_to(frame->z), x));
}

/* J x of a 3 x nv matrix */
static v3 times(const double *matrix, const double *x, int32_t nv) {
  double sum[3] = {0};
  for (ptrdiff_t k = 0; k < 3; ++k) {
    for (int32_t j = 0; j < nv; ++j)
      sum[k] += matrix[k * nv + j] * x[j];
  }
  return v3_load(sum);
}

/* The velocity of a point is J v, so its change over the step knows no dJ/dt v. */
static void add_load(const made_problem *made, const tbi_point *c, const double *v, double *matrix,
                     tbi_body_load *load) {
  tabi_dynamics *d = made->d;
  const tbi_candidate *candidate = &made->candidate[c->candidate];
  int32_t body = candidate->shape_b;
  int32_t link = made->model->joint[made->model->body[body].joint].child;
  const tbi_body_state *state = &d->body[body];
  v3 arm = v3_sub(v3_sub(candidate->point, tbi_tree_origin(d, body)), v4_to(state->pos));
  double point[3];
  v3_store(candidate->point, point);
  tabi_dynamics_point_jacobian_rate(d, link, point, matrix);
  v3 u = v4_to(sv_at(state->vel, v4_add(state->pos, v4_from(arm))));
  v3 bias = v3_sub(v3_cross(v4_to(state->vel.ang), u), times(matrix, v, made->model->nv));
  double k = c->surface->stiffness;
  double across = h * c->surface->damping + h * h * k;
  double along = h * c->surface->damping + h * h * 0.5 * k;
  v3 s = in_frame(&c->frame, c->deflection);
  v3 w = in_frame(&c->frame, u);
  v3 start = v3_make(-k * c->gap - across / h * w.x, -0.5 * k * s.y - along / h * w.y,
                     -0.5 * k * s.z - along / h * w.z);
  tbi_load_point(&load[body], arm, &c->frame, start, v3_make(across, along, along), bias);
}

/* the largest difference of a point's velocity from the answer of ADA; the fastest point */
static double compare_with_ada(const made_problem *made, const v3 *deflection, const double *v,
                               double *fastest) {
  const tabi_model *model = made->model;
  size_t nv = (size_t)model->nv;
  double *room = calloc(nv * 5 + 1, sizeof *room);
  double *qdd = room;
  double *v_new = room + nv;
  double *matrix = room + 2 * nv;
  tbi_body_load *load = calloc((size_t)model->nbody + 1, sizeof *load);
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    tbi_point c = made->p->point[i];
    c.deflection = deflection[i]; /* as it was before the step */
    add_load(made, &c, v, matrix, load);
  }
  tbi_forward_ada_loaded(made->d, NULL, load, qdd);
  for (size_t k = 0; k < nv; ++k)
    v_new[k] = v[k] + h * qdd[k];
  double worst = 0;
  *fastest = 1;
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    const tbi_candidate *candidate = &made->candidate[made->p->point[i].candidate];
    double point[3];
    v3_store(candidate->point, point);
    int32_t link = model->joint[model->body[candidate->shape_b].joint].child;
    tabi_dynamics_point_jacobian(made->d, link, point, matrix);
    v3 u = in_frame(&made->p->point[i].frame, times(matrix, v_new, model->nv));
    worst = fmax(worst, v3_norm(v3_sub(u, made_point_velocity(made, i))));
    *fastest = fmax(*fastest, v3_norm(u));
  }
  free(load);
  free(room);
  return worst;
}

/* false: something was cut after all, or friction so strong has no solution */
static bool check_linear(uint64_t seed) {
  made_problem made;
  tabi_model *model = made_open_random(&made, seed, seed % 2 ? RANDOM_ANY : RANDOM_FLOATING, h);
  rng r = rng_make(~seed);
  tbi_candidate candidate[POINTS];
  tabi_material_def surface[POINTS];
  v3 deflection[POINTS];
  made_fill(&made, candidate, ground_candidates(&made, &r, candidate), NULL, 0);
  make_linear(&made, &r, surface);
  for (int32_t i = 0; i < made.p->npoint; ++i)
    deflection[i] = made.p->point[i].deflection;
  tabi_world_def def = penalty_def();
  def.tolerance = 1e-10; /* points are as fast as 1000 m/s */
  (void)made_solve(&made, &def, tbi_penalty.memsize, tbi_penalty.solve);
  bool linear = made.p->npoint > 0;
  for (int32_t i = 0; i < made.p->npoint; ++i)
    linear = linear && made.p->point[i].impulse[0] > 0 && made.p->point[i].friction > 0;
  double fastest;
  double off = compare_with_ada(&made, deflection, made.d->v, &fastest);
  if (linear && !(off <= 1e-9 * fastest))
    fail_msg("seed %d: off by %g m/s of %g", (int)seed, off, fastest);
  made_close(&made);
  tabi_model_destroy(model);
  return linear;
}

static void agrees_with_ada(void **state) {
  (void)state;
  int linear = 0;
  for (uint64_t seed = 1; seed <= MODELS; ++seed)
    linear += check_linear(seed);
  print_message("%d of %d problems are linear\n", linear, MODELS);
  assert_true(linear > MODELS / 2);
}

/* ---- the law itself */

static void make_surfaces(made_problem *made, rng *r, tabi_material_def *surface) {
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    tbi_point *c = &made->p->point[i];
    double deflection[3];
    rng_fill(r, 1e-4, deflection, 3);
    surface[i] = random_surface(r);
    c->surface = &surface[i];
    c->friction = rng_below(r, 2) == 0 ? surface[i].friction : surface[i].kinetic;
    c->gap = rng_below(r, 4) == 0 ? 1e-4 : -pow(10, rng_between(r, -6, -2));
    c->deflection = v3_load(deflection);
  }
}

/* by how much, as a velocity, a point misses its own law; what cannot move across is left alone */
static double miss(const made_problem *made, int32_t i, v3 deflection,
                   double tangential_stiffness) {
  const tbi_point *c = &made->p->point[i];
  tbi_spring_law law = tbi_spring_law_of(c->surface, c->friction, tangential_stiffness);
  v3 u = made_point_velocity(made, i);
  v3 s = in_frame(&c->frame, deflection);
  v3 wanted = v3_zero();
  if (!c->immobile) {
    /* a damper acts as far as the point gets into the surface */
    double inside = c->gap > 0 ? u.x + c->gap / h : u.x;
    v3 f = v3_make(-law.stiffness * (c->gap + h * u.x) - law.damping * inside,
                   -law.tangential_stiffness * (s.y + h * u.y) - law.damping * u.y,
                   -law.tangential_stiffness * (s.z + h * u.z) - law.damping * u.z);
    wanted = tbi_spring_law_cut(&law, v3_scale(h, f));
  }
  return v3_norm(v3_sub(wanted, v3_load(c->impulse))) * c->mobility;
}

static void obeys_its_law(void **state) {
  (void)state;
  int converged = 0;
  for (uint64_t seed = 1; seed <= LAWS; ++seed) {
    made_problem made;
    tabi_material_def surface[POINTS];
    v3 deflection[POINTS];
    tabi_model *model = made_random(&made, seed, RANDOM_ANY, POINTS, ROWS);
    rng r = rng_make(seed);
    make_surfaces(&made, &r, surface);
    for (int32_t i = 0; i < made.p->npoint; ++i)
      deflection[i] = made.p->point[i].deflection;
    tabi_world_def def = penalty_def();
    def.tolerance = 1e-10;
    bool done = made_solve(&made, &def, tbi_penalty.memsize, tbi_penalty.solve).converged;
    converged += done;
    made_expect_consistent(&made);
    for (int32_t i = 0; done && i < made.p->npoint; ++i) {
      double off = miss(&made, i, deflection[i], def.penalty.tangential_stiffness);
      if (!(off <= 1e-8)) fail_msg("seed %d: point %d off by %g m/s", (int)seed, (int)i, off);
    }
    for (int32_t i = 0; done && i < made.p->nrow; ++i) {
      const tbi_row *row = &made.p->row[i];
      double u = made_row_velocity(&made, i) - row->target;
      assert_true(row->impulse >= row->lower - 1e-9 && row->impulse <= row->upper + 1e-9);
      if (row->impulse < row->upper - 1e-9) assert_true(u >= -1e-5);
      if (row->impulse > row->lower + 1e-9) assert_true(u <= 1e-5);
    }
    made_close(&made);
    tabi_model_destroy(model);
  }
  print_message("%d of %d solved\n", converged, LAWS);
  assert_true(converged > LAWS * 99 / 100);
}

/* ---- along trees */

/* The velocities of points and impulses of rows; from nothing again with `deflection`. */
typedef struct answer {
  v3 deflection[POINTS];
  v3 velocity[POINTS];
} answer;

static void start_with(made_problem *made, const v3 *deflection) {
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    memset(made->p->point[i].impulse, 0, sizeof made->p->point[i].impulse);
    made->p->point[i].deflection = deflection[i];
  }
  for (int32_t i = 0; i < made->p->nrow; ++i)
    made->p->row[i].impulse = 0;
}

static bool solve_along_trees(made_problem *made, const tabi_world_def *def) {
  tbi_penalty_tree t = {.d = made->d,
                        .p = made->p,
                        .def = def,
                        .diagonal = made->model->dof_rotor,
                        .impulse = made->rhs};
  t.v_new = calloc((size_t)made->model->nv + 1, sizeof *t.v_new);
  void *room = tbi_block_alloc(tbi_penalty_tree_place(&t, NULL, made->model, def) + 1);
  (void)tbi_penalty_tree_place(&t, room, made->model, def);
  tbi_penalty_tree_free(&t);
  bool done = tbi_penalty_tree_solve(&t).converged;
  free(t.v_new);
  free(room);
  return done;
}

/* the largest difference of the points' velocities */
static double differs(const made_problem *made, const answer *other) {
  double worst = 0;
  for (int32_t i = 0; i < made->p->npoint; ++i)
    worst = fmax(worst, v3_norm(v3_sub(made_point_velocity(made, i), other->velocity[i])));
  return worst;
}

static void keep_velocities(const made_problem *made, answer *to) {
  for (int32_t i = 0; i < made->p->npoint; ++i)
    to->velocity[i] = made_point_velocity(made, i);
}

/* every law holds, and the ports move as the impulses say */
static void check_along_trees(made_problem *made, const v3 *deflection, const tabi_world_def *def) {
  answer own;
  keep_velocities(made, &own);
  made_restart(made);
  double off = differs(made, &own);
  for (int32_t i = 0; i < made->p->npoint; ++i)
    off = fmax(off, miss(made, i, deflection[i], def->penalty.tangential_stiffness));
  assert_near(off, 0, 1e-7);
  for (int32_t i = 0; i < made->p->nrow; ++i) {
    const tbi_row *row = &made->p->row[i];
    double u = made_row_velocity(made, i) - row->target;
    if (row->impulse < row->upper - 1e-9) assert_true(u >= -1e-5);
    if (row->impulse > row->lower + 1e-9) assert_true(u <= 1e-5);
  }
}

typedef struct tally {
  int tried, solved, same;
} tally;

static void try_along_trees(made_problem *made, rng *r, tally *count) {
  tbi_candidate candidate[POINTS];
  tbi_row row[ROWS];
  tabi_material_def surface[POINTS];
  answer matrix;
  int32_t nrow = made->model->nv > 0 ? ROWS : 0;
  int32_t ncandidate = ground_candidates(made, r, candidate);
  made_random_rows(made, r, row, nrow);
  made_fill(made, candidate, ncandidate, row, nrow);
  make_surfaces(made, r, surface);
  tabi_world_def def = penalty_def();
  def.tolerance = 1e-10;
  for (int32_t i = 0; i < ncandidate; ++i) {
    if (made->p->point[i].immobile) return; /* not left alone by trees, which need not */
    matrix.deflection[i] = made->p->point[i].deflection;
  }
  if (!made_solve(made, &def, tbi_penalty.memsize, tbi_penalty.solve).converged) return;
  ++count->tried;
  keep_velocities(made, &matrix);
  start_with(made, matrix.deflection);
  if (!solve_along_trees(made, &def)) return;
  ++count->solved;
  check_along_trees(made, matrix.deflection, &def);
  count->same += differs(made, &matrix) <= 1e-4;
}

/* Springs to the ground, limits and dry friction in linear time, against the contact matrix: there
 * may be two answers, but there rarely are. */
static void agrees_along_trees(void **state) {
  (void)state;
  tally count = {0};
  for (uint64_t seed = 1; seed <= LAWS; ++seed) {
    made_problem made;
    tabi_model *model = made_open_random(&made, seed, seed % 2 ? RANDOM_ANY : RANDOM_FLOATING, h);
    rng r = rng_make(~seed);
    try_along_trees(&made, &r, &count);
    made_close(&made);
    tabi_model_destroy(model);
  }
  print_message("along trees: %d of %d solved, %d alike\n", count.solved, count.tried, count.same);
  assert_true(count.tried > LAWS / 2 && count.solved > count.tried * 95 / 100);
  assert_true(count.same > count.solved * 99 / 100);
}

static void one_point_as_published(void **state) {
  (void)state;
  int pushing = 0;
  for (uint64_t seed = 1; seed <= MODELS; ++seed) {
    v3 impulse[2];
    for (int k = 0; k < 2; ++k) {
      made_problem made;
      tabi_material_def surface[POINTS];
      tabi_model *model = made_random(&made, seed, RANDOM_FLOATING, 1, 0);
      rng r = rng_make(seed);
      make_surfaces(&made, &r, surface);
      /* where friction is cut, as published does not ask what that does across */
      for (int32_t i = 0; i < made.p->npoint; ++i)
        made.p->point[i].friction = surface[i].kinetic = 1e12;
      tabi_world_def def = penalty_def();
      (void)(k == 1 ? made_solve(&made, &def, NULL, tbi_penalty_paper.solve)
                    : made_solve(&made, &def, tbi_penalty.memsize, tbi_penalty.solve));
      made_expect_consistent(&made);
      impulse[k] = made.p->npoint > 0 ? v3_load(made.p->point[0].impulse) : v3_zero();
      made_close(&made);
      tabi_model_destroy(model);
    }
    if (impulse[0].x == 0 || impulse[1].x == 0) continue; /* cut across: there may be two answers */
    ++pushing;
    assert_near(v3_norm(v3_sub(impulse[0], impulse[1])), 0, 1e-8 * (1 + v3_norm(impulse[1])));
  }
  assert_true(pushing > MODELS / 4);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_ada),
      cmocka_unit_test(obeys_its_law),
      cmocka_unit_test(agrees_along_trees),
      cmocka_unit_test(one_point_as_published),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
