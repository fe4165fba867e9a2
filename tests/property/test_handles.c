/* test_handles.c - forces on the links of assembled trees and torques at their joints, one after
 * another in any order, over random models.
 *
 * After each of them the motion of any link and the velocity of any joint, brought up to date along
 * the branches, must be that of ABA under all forces so far; and a response must be the change that
 * the force then makes. */
#include "property/property.h"

#include "dynamics/handles.h"
#include "support/rng.h"

#include <stdlib.h>
#include <string.h>

#define FORCES    30
#define TOLERANCE 1e-9

/* The same motions by ABA. */
typedef struct reference {
  double *v;    /* joint velocities under all forces so far */
  sv *twist;    /* of every body at its tree's origin */
  double speed; /* the largest number that has been seen */
} reference;

static void spread(const subject *s, reference *ref) {
  const tabi_model *model = s->model;
  for (int32_t i = 0; i < model->nbody; ++i) {
    const tbi_body *body = &model->body[i];
    ref->twist[i] = body->parent == TABI_WORLD ? sv_zero() : ref->twist[body->parent];
    for (int32_t k = body->v; k < body->v + body->nv; ++k) {
      ref->twist[i] = sv_axpy(ref->twist[i], ref->v[k], s->dynamics->axis[k]);
      ref->speed = fmax(ref->speed, fabs(ref->v[k]));
    }
    ref->speed = fmax(ref->speed, sqrt(sv_dot(ref->twist[i], ref->twist[i])));
  }
}

/* the wrench at the body's own point (none: a torque), or a torque at a joint */
static void push_reference(subject *s, reference *ref, int32_t body, const double *force,
                           int32_t dof, double torque) {
  tabi_dynamics *d = s->dynamics;
  double *x = calloc(s->nv + 1, sizeof *x);
  for (int32_t i = 0; i < s->model->nbody; ++i)
    d->flow[i] = sv_zero();
  if (force) {
    sv f = tbi_sv_load(force);
    f.ang = v4_add(f.ang, v4_cross(d->body[body].pos, f.lin));
    d->flow[body] = f;
  } else {
    x[dof] = torque;
  }
  tbi_aba_solve_flow(d, x);
  for (size_t k = 0; k < s->nv; ++k)
    ref->v[k] += x[k];
  free(x);
  spread(s, ref);
}

static int32_t draw_body(const subject *s, rng *r) {
  int32_t body;
  do
    body = rng_below(r, s->model->nbody);
  while (s->dynamics->ada[body].ndof == 0);
  return body;
}

static double distance_of(const subject *s, const reference *ref, int32_t body,
                          const double motion[6]) {
  double expected[6];
  tbi_sv_store(tbi_seen_from(ref->twist[body], s->dynamics->body[body].pos), expected);
  double worst = 0;
  for (int i = 0; i < 6; ++i)
    worst = fmax(worst, fabs(motion[i] - expected[i]));
  return worst;
}

static void expect_motion(subject *s, tbi_handles *handles, const reference *ref, int32_t body) {
  double off = distance_of(s, ref, body, tbi_handles_reach(handles, body));
  property_expect(s, "motion of a link", off / ref->speed, TOLERANCE);
}

/* a link is pushed that may be far from the last one; the response of another is foretold */
static void push_link(subject *s, tbi_handles *handles, reference *ref, rng *r) {
  int32_t body = draw_body(s, r), other = draw_body(s, r);
  double force[6], response[6] = {0}, foretold[6];
  rng_fill(r, 10, force, 6);
  if (s->model->body[other].tree == s->model->body[body].tree)
    tbi_handles_response(handles, body, force, other, response);
  memcpy(foretold, tbi_handles_reach(handles, other), sizeof foretold);
  for (int i = 0; i < 6; ++i)
    foretold[i] += response[i];
  (void)tbi_handles_reach(handles, body);
  tbi_handles_push(handles, body, force);
  push_reference(s, ref, body, force, TABI_NONE, 0);
  property_expect(s, "response", distance_of(s, ref, other, foretold) / ref->speed, TOLERANCE);
}

static void turn_joint(subject *s, tbi_handles *handles, reference *ref, rng *r) {
  int32_t dof = rng_below(r, s->model->nv);
  double torque = rng_between(r, -10, 10);
  double foretold =
      tbi_handles_reach_joint(handles, dof) + torque * tbi_handles_joint_response(handles, dof);
  tbi_handles_turn(handles, dof, torque);
  push_reference(s, ref, TABI_NONE, NULL, dof, torque);
  property_expect(s, "joint response", fabs(foretold - ref->v[dof]) / ref->speed, TOLERANCE);
  int32_t other = rng_below(r, s->model->nv);
  double off = fabs(tbi_handles_reach_joint(handles, other) - ref->v[other]);
  property_expect(s, "velocity of a joint", off / ref->speed, TOLERANCE);
}

static void check(subject *s) {
  const tabi_model *model = s->model;
  if (model->nv == 0 || model->nbody == 0 || tbi_ada_obstacle(model) != TABI_NONE) return;
  rng r = rng_make(s->nv * 77 + (uint64_t)model->nbody);
  tbi_handles handles;
  tbi_layout at = {NULL, 0};
  tbi_handles_place(&at, model, &handles);
  at = (tbi_layout){aligned_alloc(64, at.used), 0};
  tbi_handles_place(&at, model, &handles);
  double *diagonal = subject_room(s, s->nv);
  reference ref = {.v = subject_room(s, s->nv),
                   .twist = aligned_alloc(64, sizeof(sv) * (size_t)model->nbody)};
  for (size_t k = 0; k < s->nv; ++k)
    diagonal[k] = model->dof_rotor[k] + rng_between(&r, 0, 0.1);
  rng_fill(&r, 1, ref.v, (int)s->nv);
  tbi_ada_assemble(s->dynamics, diagonal, NULL);
  tbi_aba_factor(s->dynamics, diagonal, NULL);
  tbi_handles_make(&handles, s->dynamics, diagonal);
  tbi_handles_start(&handles, ref.v);
  spread(s, &ref);
  for (int i = 0; i < FORCES; ++i) {
    if (rng_below(&r, 3) == 0) {
      turn_joint(s, &handles, &ref, &r);
    } else {
      push_link(s, &handles, &ref, &r);
    }
    expect_motion(s, &handles, &ref, draw_body(s, &r));
  }
  free(ref.twist);
  free(handles.handle);
}

static void agrees_with_aba(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check);
  property_run(RANDOM_FLOATING, check);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(agrees_with_aba)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
