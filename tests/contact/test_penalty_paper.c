/* test_penalty_paper.c - the step of penalty-paper by assembly and disassembly.
 *
 * Its second algorithm: the same points in turn on the world's contact problem, by the Delassus
 * operator of ports.  Where the order of points is the same (chains, stacks) both must give the
 * same step; and whatever the order, ABA under the same impulses must. */
#include "support/near.h"
#include "support/scene_build.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define SAME 1e-9 /* of the largest velocity */

static void open_paper(scene *s) {
  tabi_world_def def = scene_def(s);
  def.contact = TABI_CONTACT_PENALTY_PAPER;
  scene_open(s, &def);
}

/* a chain with damping and dry friction, a ball at each link, joints that turn so far */
static int32_t add_chain(scene *s, int32_t links, v3 at, double limit, int32_t stuff) {
  int32_t first = scene_free(s, 1, v3_make(2e-3, 2e-3, 2e-3), at);
  for (int32_t i = 0, last = first; i < links; ++i) {
    if (i > 0) {
      v3 axis = i % 2 ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
      tabi_joint_def joint =
          scene_hinge(TABI_JOINT_REVOLUTE, last, v3_make(0.12, 0, 0.002 * (i % 3)), axis);
      joint.damping = 0.05;
      joint.friction = 0.02;
      joint.lower = -limit;
      joint.upper = limit;
      last = scene_link(s, 1, v3_zero(), v3_make(2e-3, 2e-3, 2e-3), joint);
    }
    (void)scene_shape(s, TABI_SHAPE_SPHERE, last, v3_make(0.05, 0, 0), stuff);
  }
  return first;
}

static scene begin(int32_t *stuff) {
  scene s = scene_begin();
  *stuff = scene_material(&s, 0.4, 0);
  scene_plane(&s, 0, *stuff);
  return s;
}

/* without limits: which of them get rows is predicted in different ways */
static scene begin_chain(void) {
  int32_t stuff;
  scene s = begin(&stuff);
  int32_t first = add_chain(&s, 24, v3_make(0, 0, 0.06), 10, stuff);
  open_paper(&s);
  scene_set_velocity(&s, first, v3_make(0.5, 1, 0), v3_make(0, 0, 1));
  return s;
}

static scene begin_stack(void) {
  int32_t stuff;
  scene s = begin(&stuff);
  for (int i = 0; i < 5; ++i)
    (void)scene_box(&s, 1 + i, v3_make(0.2, 0.2, 0.1), v3_make(0.01 * i, 0, 0.05 + 0.0999 * i),
                    stuff);
  open_paper(&s);
  return s;
}

/* a chain in a heap: it falls on itself, on a box and on the ground */
static scene begin_heap(void) {
  int32_t stuff;
  scene s = begin(&stuff);
  (void)scene_box(&s, 2, v3_make(0.4, 0.4, 0.2), v3_make(0.3, 0, 0.1), stuff);
  int32_t first = add_chain(&s, 20, v3_make(0, 0, 0.4), 0.5, stuff);
  (void)add_chain(&s, 12, v3_make(0.1, -0.5, 0.5), 0.5, stuff);
  open_paper(&s);
  scene_set_velocity(&s, first, v3_make(0, 0, -2), v3_make(1, 2, 3));
  return s;
}

static scene begin_humanoid(void) {
  scene s = scene_begin();
  scene_plane(&s, 0, scene_material(&s, 0.6, 0));
  (void)scene_humanoid(&s, 0.66);
  open_paper(&s);
  scene_crouch(&s, 500, 50, true);
  return s;
}

/* A box with two arms and a bar across, hinged to one and connected to the other; it lies on box
 * and bar, which a spring joins, and a wheel turns with one of the arms.  Of the five directions of
 * a connection by a hinge three are redundant in this plane mechanism. */
static scene begin_four_bar(tabi_connection_type type) {
  int32_t stuff;
  scene s = begin(&stuff);
  const v3 y = v3_make(0, 1, 0), inertia = v3_make(2e-3, 2e-3, 2e-3);
  int32_t box = scene_box(&s, 1, v3_make(0.3, 0.2, 0.1), v3_make(0, 0, 0.06), stuff);
  int32_t arm[2];
  for (int i = 0; i < 2; ++i)
    arm[i] =
        scene_link(&s, 0.5, v3_make(0.15, 0, 0), inertia,
                   scene_hinge(TABI_JOINT_CONTINUOUS, box, v3_make(0.15, 0, 0.05 - 0.1 * i), y));
  int32_t bar = scene_link(&s, 0.5, v3_zero(), inertia,
                           scene_hinge(TABI_JOINT_CONTINUOUS, arm[0], v3_make(0.3, 0, 0), y));
  (void)scene_shape(&s, TABI_SHAPE_SPHERE, bar, v3_make(0.08, 0, 0), stuff);
  int32_t wheel = scene_link(&s, 0.5, v3_zero(), inertia,
                             scene_hinge(TABI_JOINT_CONTINUOUS, box, v3_make(-0.1, 0, 0.1), y));
  tabi_connection_def link = tabi_connection_def_default();
  link.type = type;
  link.a = arm[1];
  link.b = bar;
  link.pos_a[0] = 0.3;
  link.pos_b[2] = type == TABI_CONNECTION_ROD ? -0.05 : -0.1;
  link.length = 0.05;
  link.quat_a[0] = link.quat_b[0] = sqrt(0.5); /* z along y */
  link.quat_a[1] = link.quat_b[1] = -sqrt(0.5);
  (void)tabi_builder_add_connection(s.builder, &link);
  tabi_connection_def spring = tabi_connection_def_default();
  spring.type = TABI_CONNECTION_SPRING;
  spring.a = box;
  spring.b = bar;
  spring.length = 0.3;
  spring.stiffness = 500;
  spring.damping = 1;
  (void)tabi_builder_add_connection(s.builder, &spring);
  tabi_coupling_def gear = tabi_coupling_def_default();
  gear.joint = wheel; /* a joint above every link */
  gear.leader = arm[0];
  gear.coef[1] = -2;
  (void)tabi_builder_add_coupling(s.builder, &gear);
  open_paper(&s);
  scene_set_velocity(&s, box, v3_make(0.3, 0.2, 0), v3_make(0, 0, 1));
  return s;
}

static double largest(const double *x, int32_t n) {
  double max = 0;
  for (int32_t k = 0; k < n; ++k)
    max = fmax(max, fabs(x[k]));
  return max;
}

/* ---- the same points in turn on the contact problem */

static void check_in_turn(scene one, scene other, int steps) {
  tbi_formulation in_turn = tbi_penalty_paper;
  in_turn.advance_velocity = NULL;
  other.world->method = &in_turn;
  size_t size = tabi_world_snapshot_size(one.world);
  void *snapshot = malloc(size);
  int32_t nv = tabi_model_nv(one.model);
  int contacts = 0, rows = 0;
  double worst = 0;
  for (int i = 0; i < steps; ++i) {
    tabi_world_save(one.world, snapshot);
    assert_int_equal(tabi_world_restore(other.world, snapshot, size), TABI_OK);
    scene_run(&one, 1);
    scene_run(&other, 1);
    assert_int_equal(one.world->setup.problem.npoint, other.world->setup.problem.npoint);
    const double *v = tabi_world_v(one.world);
    const double *expected = tabi_world_v(other.world);
    double scale = fmax(1, largest(expected, nv));
    for (int32_t k = 0; k < nv; ++k)
      worst = fmax(worst, fabs(v[k] - expected[k]) / scale);
    for (int32_t k = 0; k < one.world->setup.problem.nrow; ++k)
      rows += one.world->setup.problem.row[k].impulse != 0;
    contacts += tabi_world_certificate(one.world).contacts;
  }
  print_message("%d contacts and %d rows in all, apart by %.1e\n", contacts, rows, worst);
  assert_true(contacts > steps);
  assert_near(worst, 0, SAME);
  free(snapshot);
  scene_close(&one);
  scene_close(&other);
}

static void chain_is_solved_as_in_turn(void **state) {
  (void)state;
  check_in_turn(begin_chain(), begin_chain(), 400);
}

static void stack_is_solved_as_in_turn(void **state) {
  (void)state;
  check_in_turn(begin_stack(), begin_stack(), 400);
}

static void humanoid_is_solved_as_in_turn(void **state) {
  (void)state;
  check_in_turn(begin_humanoid(), begin_humanoid(), 200);
}

static void four_bar_is_solved_as_in_turn(void **state) {
  (void)state;
  check_in_turn(begin_four_bar(TABI_CONNECTION_ROD), begin_four_bar(TABI_CONNECTION_ROD), 600);
}

/* redundant directions share impulses in another way than there, so laws are checked: the loop
 * stays closed, and no energy comes from it */
static void redundant_loop_stays_closed(void **state) {
  (void)state;
  scene s = begin_four_bar(TABI_CONNECTION_HINGE);
  double start = scene_energy(&s), highest = 0, gap = 0;
  for (int i = 0; i < 1000; ++i) {
    scene_run(&s, 1);
    tabi_connection_state connection = tabi_world_connection(s.world, 0);
    assert_true(connection.redundant);
    highest = fmax(highest, scene_energy(&s) - start);
    gap = fmax(gap, fmax(connection.gap, connection.turn));
  }
  print_message("open by %.1e m, energy above its start by %.1e J\n", gap, highest);
  assert_near(gap, 0, 1e-5);
  assert_true(highest <= 1e-3 * start);
  scene_close(&s);
}

/* ---- ABA under the same impulses */

static sv wrench(v4 arm, v4 impulse) { return (sv){impulse, v4_cross(arm, impulse)}; }

/* the change of velocity from a posture, by what the step has left behind */
static void solve_by_aba(tabi_world *w, const double *q, const double *v, double *x) {
  const tbi_problem *p = &w->setup.problem;
  tbi_kinematics(w->d, q, v);
  w->current = false; /* the next step makes its own */
  for (int32_t i = 0; i < w->model->nbody; ++i)
    w->d->flow[i] = w->forces.body_impulse[i];
  memcpy(x, w->forces.joint_impulse, sizeof *x * (size_t)w->model->nv);
  for (int32_t i = 0; i < p->nrow; ++i)
    x[p->row[i].dof] += p->row[i].impulse;
  for (int32_t i = 0; i < p->npoint; ++i) {
    const tbi_point *c = &p->point[i];
    v4 impulse = m4_combine(&c->frame, c->impulse[0], c->impulse[1], c->impulse[2]);
    if (c->port_a != TABI_NONE) {
      sv *flow = &w->d->flow[p->port[c->port_a].body];
      *flow = sv_sub(*flow, wrench(c->arm_a, impulse));
    }
    if (c->port_b != TABI_NONE) {
      sv *flow = &w->d->flow[p->port[c->port_b].body];
      *flow = sv_add(*flow, wrench(c->arm_b, impulse));
    }
  }
  tbi_aba_factor(w->d, w->forces.diagonal, NULL);
  tbi_aba_solve_flow(w->d, x);
}

static void check_aba(scene s, int steps) {
  int32_t nv = tabi_model_nv(s.model);
  int32_t nq = tabi_model_nq(s.model);
  double *before = malloc(sizeof *before * (size_t)nv), *x = malloc(sizeof *x * (size_t)nv);
  double *q = malloc(sizeof *q * (size_t)nq);
  int between = 0, compared = 0;
  double worst = 0;
  for (int i = 0; i < steps; ++i) {
    memcpy(before, tabi_world_v(s.world), sizeof *before * (size_t)nv);
    memcpy(q, tabi_world_q(s.world), sizeof *q * (size_t)nq);
    scene_run(&s, 1);
    solve_by_aba(s.world, q, before, x);
    const double *v = tabi_world_v(s.world);
    double scale = fmax(1, largest(v, nv));
    for (int32_t k = 0; k < nv; ++k) {
      int32_t tree = s.model->body[s.model->dof_body[k]].tree;
      if (tbi_world_floats(s.world, tree)) continue; /* its momentum is restored afterwards */
      worst = fmax(worst, fabs(before[k] + x[k] - v[k]) / scale);
      ++compared;
    }
    for (int32_t k = 0; k < s.world->setup.problem.npoint; ++k) {
      const tbi_point *c = &s.world->setup.problem.point[k];
      between += c->impulse[0] > 0 && c->port_a != TABI_NONE && c->port_b != TABI_NONE;
    }
  }
  print_message("%d contacts between links, %d velocities in all, apart by %.1e\n", between,
                compared, worst);
  assert_near(worst, 0, SAME);
  assert_true(between > 0 && compared > steps * nv / 2);
  free(before);
  free(x);
  free(q);
  scene_close(&s);
}

static void heap_moves_as_by_aba(void **state) {
  (void)state;
  check_aba(begin_heap(), 1500);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(chain_is_solved_as_in_turn),
      cmocka_unit_test(stack_is_solved_as_in_turn),
      cmocka_unit_test(humanoid_is_solved_as_in_turn),
      cmocka_unit_test(four_bar_is_solved_as_in_turn),
      cmocka_unit_test(redundant_loop_stays_closed),
      cmocka_unit_test(heap_moves_as_by_aba),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
