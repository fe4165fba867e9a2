/* make_problem.c - see make_problem.h. */
#include "support/make_problem.h"

#include "base/array.h"
#include "problem/sweep.h"
#include "support/near.h"

#include <stdlib.h>
#include <string.h>

/* at least one byte, so that a size of zero is no failure */
static void *room(made_problem *made, size_t count, size_t size) {
  void *block = tbi_block_alloc(count * size + 1);
  assert_non_null(block);
  assert_true(made->nblock < (int)(sizeof made->blocks / sizeof *made->blocks));
  made->blocks[made->nblock++] = block;
  return block;
}

/* D^-1/2, and z = D^-1/2 L^-T rhs, with the factor in d */
static void fill_z(const made_problem *made, double *root, double *z) {
  memcpy(z, made->rhs, sizeof *z * (size_t)made->model->nv);
  for (int32_t i = 0; i < made->model->nbody; ++i)
    made->d->flow[i] = sv_zero();
  tbi_aba_gather(made->d, z);
  for (int32_t k = 0; k < made->model->nv; ++k) {
    root[k] = sqrt(made->d->D_inv[k]);
    z[k] *= root[k];
  }
}

void made_open(made_problem *made, const tabi_model *model, const double *q, const double *v,
               double timestep) {
  memset(made, 0, sizeof *made);
  tabi_error err;
  made->model = model;
  made->d = tabi_dynamics_create(model, &err);
  assert_non_null(made->d);
  tabi_dynamics_set_state(made->d, q, v);

  /* free motion: gravity and velocity products only */
  size_t nv = (size_t)model->nv;
  made->rhs = room(made, nv, sizeof *made->rhs);
  tabi_dynamics_inverse(made->d, NULL, made->rhs);
  for (size_t i = 0; i < nv; ++i)
    made->rhs[i] *= -timestep;
  tbi_aba_factor(made->d, model->dof_rotor, NULL);
  double *z = room(made, nv, sizeof *z);
  made->setup.pivot_root = room(made, nv, sizeof *z);
  fill_z(made, made->setup.pivot_root, z);
  made->setup.model = model;
  made->setup.d = made->d;
  made->setup.z = z;
  made->p = &made->setup.problem;
  made->p->timestep = timestep;
}

static void make_ports(made_problem *made) {
  const tabi_model *model = made->model;
  tbi_setup *s = &made->setup;
  tbi_problem *p = made->p;
  size_t ports = (size_t)model->nbody;
  size_t longest = (size_t)model->nv + 4;
  s->max_blocks = (int64_t)(ports * ports);
  p->port = room(made, ports, sizeof *p->port);
  p->velocity = room(made, ports, sizeof *p->velocity);
  p->received = room(made, ports, sizeof *p->received);
  p->summed = room(made, ports, sizeof *p->summed);
  p->sum = room(made, (size_t)model->nv, sizeof *p->sum);
  p->before = room(made, (size_t)model->nv, sizeof *p->before);
  p->free = room(made, ports, sizeof *p->free);
  p->block = room(made, ports * ports, sizeof *p->block);
  p->cluster_port = room(made, (size_t)model->ntree, sizeof *p->cluster_port);
  p->cluster_ports = room(made, (size_t)model->ntree, sizeof *p->cluster_ports);
  tbi_layout at = {NULL, 0};
  tbi_loops_place(&at, model, &s->loops);
  at = (tbi_layout){room(made, at.used, 1), 0};
  tbi_loops_place(&at, model, &s->loops);
  s->count = room(made, ports + 2, sizeof *s->count);
  s->body_port = room(made, (size_t)model->nbody, sizeof *s->body_port);
  s->port_y = room(made, ports * longest, sizeof *s->port_y);
  s->y = room(made, (size_t)model->nrow, sizeof *s->y);
  s->scratch = room(made, 2 * longest, sizeof *s->scratch);
  int32_t *shape_body = room(made, (size_t)model->nbody + 1, sizeof *shape_body);
  for (int32_t i = 0; i < model->nbody; ++i)
    shape_body[i] = i;
  shape_body[model->nbody] = TABI_WORLD;
  s->shape_body = shape_body;
}

void made_fill(made_problem *made, const tbi_candidate *candidate, int32_t ncandidate,
               const tbi_row *row, int32_t nrow) {
  tbi_setup *s = &made->setup;
  tbi_problem *p = made->p;
  size_t points = (size_t)ncandidate;
  make_ports(made);
  made->candidate = room(made, points, sizeof *made->candidate);
  p->row = room(made, (size_t)nrow, sizeof *p->row);
  p->point = room(made, points, sizeof *p->point);
  p->group = room(made, points, sizeof *p->group);
  s->order = room(made, 2 * points, sizeof *s->order);
  if (ncandidate > 0) memcpy(made->candidate, candidate, points * sizeof *candidate);
  if (nrow > 0) memcpy(p->row, row, (size_t)nrow * sizeof *row);
  s->candidate = made->candidate;
  s->ncandidate = ncandidate;
  p->nrow = nrow;
  assert_true(tbi_setup_problem(s));
  tbi_problem_respond(p);
}

void made_close(made_problem *made) {
  tabi_dynamics_destroy(made->d);
  while (made->nblock > 0)
    free(made->blocks[--made->nblock]);
}

void made_clear(made_problem *made) {
  tbi_problem *p = made->p;
  for (int32_t k = 0; k < p->nport; ++k) {
    p->velocity[k] = p->free[k];
    p->received[k] = p->summed[k] = sv_zero();
  }
  for (int32_t k = 0; k < made->model->nv; ++k)
    p->sum[k] = p->before[k] = 0.0;
}

void made_restart(made_problem *made) { tbi_problem_start(made->p); }

tbi_solution made_solve(made_problem *made, const tabi_world_def *def, made_memsize *memsize,
                        made_solver *solve) {
  made_restart(made);
  void *scratch = tbi_block_alloc((memsize ? memsize(made->model, def) : 0) + 1);
  assert_non_null(scratch);
  tbi_solution solution = solve(made->p, def, scratch);
  free(scratch);
  return solution;
}

void made_expect_consistent(made_problem *made) {
  tbi_problem *p = made->p;
  size_t ports = (size_t)p->nport;
  size_t nv = (size_t)made->model->nv;
  sv *velocity = tbi_block_alloc((2 * ports + 1) * sizeof *velocity + nv * sizeof(double));
  sv *received = velocity + ports;
  double *sum = (double *)(received + ports);
  assert_non_null(velocity);
  tbi_problem_sum(p);
  memcpy(velocity, p->velocity, ports * sizeof *velocity);
  memcpy(received, p->received, ports * sizeof *received);
  memcpy(sum, p->sum, nv * sizeof *sum);
  made_restart(made);
  for (size_t k = 0; k < ports; ++k) {
    sv v = sv_sub(velocity[k], p->velocity[k]);
    sv m = sv_sub(received[k], p->received[k]);
    assert_near(sqrt(sv_dot(v, v)), 0.0, 1e-9 * (1.0 + sqrt(sv_dot(velocity[k], velocity[k]))));
    assert_near(sqrt(sv_dot(m, m)), 0.0, 1e-9 * (1.0 + sqrt(sv_dot(received[k], received[k]))));
  }
  assert_near_n(sum, p->sum, nv, 1e-9);
  free(velocity);
}

tabi_world_def made_def(int32_t max_contacts) {
  return (tabi_world_def){.tolerance = 1e-12,
                          .iterations = 4000,
                          .max_contacts = max_contacts,
                          .lcp = {.static_friction = true}};
}

v3 made_point_velocity(const made_problem *made, int32_t point) {
  const tbi_point *c = &made->p->point[point];
  sv a = c->port_a == TABI_NONE ? sv_zero() : made->p->velocity[c->port_a];
  sv b = c->port_b == TABI_NONE ? sv_zero() : made->p->velocity[c->port_b];
  return tbi_point_velocity(c, a, b);
}

double made_row_velocity(const made_problem *made, int32_t row) {
  tbi_problem_sum(made->p);
  return tbi_row_velocity(made->p, &made->p->row[row]);
}

void made_random_candidates(const made_problem *made, rng *r, tbi_candidate *candidate,
                            int32_t count) {
  int32_t nbody = made->model->nbody;
  for (int32_t i = 0; i < count; ++i) {
    /* now and then the same pair again, so that groups have several points */
    tbi_candidate *t = &candidate[i];
    bool again = i > 0 && rng_below(r, 2) == 0;
    *t = (tbi_candidate){.shape_b = nbody, .feature = (uint32_t)i};
    if (again) {
      t->shape_a = candidate[i - 1].shape_a;
      t->shape_b = candidate[i - 1].shape_b;
    } else {
      t->shape_a = rng_below(r, nbody);
      if (rng_below(r, 3) > 0) t->shape_b = rng_below(r, nbody + 1);
      if (t->shape_b == t->shape_a) t->shape_b = nbody;
      /* the world on either side */
      if (t->shape_b == nbody && rng_below(r, 2) == 0) {
        t->shape_b = t->shape_a;
        t->shape_a = nbody;
      }
    }
    double direction[3];
    double offset[3];
    rng_direction(r, direction, 3);
    rng_fill(r, 0.3, offset, 3);
    int32_t near = t->shape_a < nbody ? t->shape_a : t->shape_b;
    v3 at = v3_add(tbi_tree_origin(made->d, near), v4_to(made->d->body[near].pos));
    t->point = v3_add(at, v3_load(offset));
    t->normal = v3_load(direction);
  }
}

void made_random_rows(const made_problem *made, rng *r, tbi_row *row, int32_t count) {
  int32_t nv = made->model->nv;
  for (int32_t i = 0; i < count; ++i) {
    row[i] = (tbi_row){.dof = rng_below(r, nv), .id = (uint64_t)i};
    if (rng_below(r, 2) == 0) { /* a limit */
      row[i].target = rng_between(r, -0.1, 0.0);
      row[i].upper = INFINITY;
    } else { /* dry friction */
      row[i].lower = -0.1;
      row[i].upper = 0.1;
    }
  }
}

void made_random_surfaces(made_problem *made, rng *r) {
  for (int32_t i = 0; i < made->p->npoint; ++i) {
    tbi_point *c = &made->p->point[i];
    c->friction = rng_between(r, 0.0, 1.0);
    c->target = rng_between(r, -0.1, 0.0);
    c->angle = rng_between(r, 0.0, 6.283);
    double speed = rng_below(r, 2) == 0 ? 1e-4 : 1.0;
    rng_fill(r, speed, c->slip, 2);
  }
}

tabi_model *made_open_random(made_problem *made, uint64_t seed, random_kind kind, double timestep) {
  static random_plan plan;
  random_plan_make(&plan, seed, kind);
  tabi_model *model = random_plan_build(&plan, NULL);
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  double *v = calloc((size_t)tabi_model_nv(model) + 1, sizeof *v);
  random_plan_state(&plan, model, q, v, NULL);
  made_open(made, model, q, v, timestep);
  free(q);
  free(v);
  return model;
}

tabi_model *made_random(made_problem *made, uint64_t seed, random_kind kind, int32_t points,
                        int32_t rows) {
  static tbi_candidate candidate[256];
  static tbi_row row[256];
  tabi_model *model = made_open_random(made, seed, kind, 1e-3);
  rng r = rng_make(~seed);
  if (model->nbody == 0) points = 0;
  if (model->nv == 0) rows = 0;
  made_random_candidates(made, &r, candidate, points);
  made_random_rows(made, &r, row, rows);
  made_fill(made, candidate, points, row, rows);
  made_random_surfaces(made, &r);
  return model;
}

void made_check_random(made_memsize *memsize, made_solver *solve,
                       void (*check)(const made_problem *made)) {
  enum { MODELS = 30, POINTS = 8, ROWS = 4 };
  int converged = 0;
  for (uint64_t seed = 1; seed <= MODELS; ++seed) {
    made_problem made;
    tabi_model *model = made_random(&made, seed, RANDOM_FLOATING, POINTS, ROWS);
    tabi_world_def def = made_def(POINTS);
    if (made_solve(&made, &def, memsize, solve).converged) {
      ++converged;
      check(&made);
    }
    made_expect_consistent(&made);
    made_close(&made);
    tabi_model_destroy(model);
  }
  assert_true(converged > MODELS * 3 / 4);
}

void made_compare_dense(uint64_t seed, made_memsize *memsize, made_solver *solve) {
  enum { POINTS = 8 };
  double impulse[POINTS][3] = {{0}};
  made_problem made;
  tabi_model *model = made_random(&made, seed, RANDOM_ANY, POINTS, 0);
  tabi_world_def def = made_def(POINTS);
  def.iterations = 20;  /* rounding grows tenfold in three of them where contacts jam */
  def.tolerance = -1.0; /* never reached */
  made_solve(&made, &def, memsize, solve);
  made_expect_consistent(&made);
  for (int32_t i = 0; i < made.p->npoint; ++i)
    memcpy(impulse[i], made.p->point[i].impulse, sizeof impulse[i]);

  for (int storage = TABI_STORAGE_DENSE; storage < TABI_STORAGE_COUNT; ++storage) {
    for (int32_t i = 0; i < made.p->npoint; ++i)
      memset(made.p->point[i].impulse, 0, sizeof impulse[i]);
    def.cone.storage = def.lcp.storage = (tabi_storage)storage;
    tbi_solution solution = made_solve(&made, &def, memsize, solve);
    assert_int_equal(solution.iterations, def.iterations);
    made_expect_consistent(&made);
    for (int32_t i = 0; i < made.p->npoint; ++i)
      assert_near_n(made.p->point[i].impulse, impulse[i], 3, 1e-7);
  }
  made_close(&made);
  tabi_model_destroy(model);
}
