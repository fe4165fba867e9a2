/* test_joint_friction.c - dry friction of joints, predicted and verified: however a step was
 * solved, friction stays within its bounds, opposes what moves, and is what the equation of motion
 * requires. */
#include "math/lu.h"
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define H     1e-3
#define LINKS 5 /* of an arm */
#define STEPS 400

static int32_t add_link(scene *s, rng *r, int32_t parent, v3 at, v3 axis) {
  tabi_joint_def joint = scene_hinge(TABI_JOINT_REVOLUTE, parent, at, axis);
  joint.lower = -2;
  joint.upper = 2;
  joint.friction = rng_between(r, 0.01, 1);
  return scene_link(s, 0.3, v3_make(0.05, 0, 0.05), v3_make(1e-3, 2e-3, 1e-3), joint);
}

/* Two fingers, of which one follows the other, and a rod from the first to the link before the
 * hand.  Links and joints have the same numbers. */
static void add_gripper(scene *s, rng *r, int32_t hand) {
  int32_t leader = add_link(s, r, hand, v3_make(0.05, 0.02, 0.1), v3_make(1, 0, 0));
  int32_t follower = add_link(s, r, hand, v3_make(0.05, -0.02, 0.1), v3_make(1, 0, 0));
  int32_t crank = add_link(s, r, hand, v3_make(0.05, 0.02, 0.2), v3_make(1, 0, 0));
  tabi_coupling_def coupling = tabi_coupling_def_default();
  coupling.joint = follower;
  coupling.leader = leader;
  coupling.coef[1] = -1;
  (void)tabi_builder_add_coupling(s->builder, &coupling);
  tabi_connection_def rod = tabi_connection_def_default();
  rod.type = TABI_CONNECTION_ROD;
  rod.a = leader;
  rod.b = crank;
  rod.pos_a[1] = rod.pos_b[1] = 0.06;
  rod.length = 0.1;
  (void)tabi_builder_add_connection(s->builder, &rod);
}

/* A trunk on the ground with two arms, every joint with dry friction. */
static scene open_trunk(rng *r, const tabi_world_def *like, bool grippers) {
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.7, 0);
  scene_plane(&s, 0, wood);
  int32_t trunk = scene_box(&s, 4, v3_make(0.4, 0.3, 0.2), v3_make(0, 0, 0.1), wood);
  for (int side = 0; side < 2; ++side) {
    int32_t parent = trunk;
    for (int i = 0; i < LINKS; ++i) {
      v3 axis = i % 3 == 0 ? v3_make(1, 0, 0) : v3_make(0, i % 3 == 1, i % 3 == 2);
      v3 at = i == 0 ? v3_make(0, side ? 0.2 : -0.2, 0.1) : v3_make(0.1, 0, 0.1);
      parent = add_link(&s, r, parent, at, axis);
    }
    if (grippers) add_gripper(&s, r, parent);
  }
  tabi_world_def def = scene_def(&s);
  def.timestep = H;
  def.contact = like->contact;
  def.integrator = like->integrator;
  scene_open(&s, &def);
  return s;
}

/* less what couplings and rods gave */
static void take_out_loops(const scene *s, tabi_dynamics *before, double *jacobian, double *force) {
  int32_t nv = tabi_model_nv(s->model);
  for (int32_t i = 0; i < s->world->setup.loops.count; ++i) {
    const tbi_loop *loop = &s->world->setup.loops.loop[i];
    if (loop->dof != TABI_NONE) {
      force[loop->dof] -= loop->impulse / H;
      force[loop->leader] += loop->slope * loop->impulse / H;
      continue;
    }
    const tabi_connection_def *def = &s->model->connection[loop->owner];
    const double push[3] = {v4_x(loop->wrench_b.lin), v4_y(loop->wrench_b.lin),
                            v4_z(loop->wrench_b.lin)};
    for (int side = 0; side < 2; ++side) {
      double pos[3];
      double quat[4];
      int32_t link = side ? def->b : def->a;
      tabi_dynamics_link_pose(before, link, pos, quat);
      m3 turn = q_matrix(q_load(quat));
      v3 at = v3_add(v3_load(pos), m3_mulv(&turn, v3_load(side ? def->pos_b : def->pos_a)));
      tabi_dynamics_point_jacobian(before, link, (double[]){at.x, at.y, at.z}, jacobian);
      for (int32_t k = 0; k < nv; ++k)
        for (int axis = 0; axis < 3; ++axis)
          force[k] -= (side ? 1 : -1) * jacobian[axis * nv + k] * push[axis] * loop->impulse / H;
    }
  }
}

/* M (v+ - v) / h + bias less joint forces, contacts and loops: what friction gave. */
static void missing_force(const scene *s, tabi_dynamics *before, const double *v, const double *tau,
                          double *force) {
  int32_t nv = tabi_model_nv(s->model);
  double *jacobian = calloc(3 * (size_t)nv, sizeof *jacobian);
  double *qdd = calloc((size_t)nv, sizeof *qdd);
  for (int32_t k = 0; k < nv; ++k)
    qdd[k] = (tabi_world_v(s->world)[k] - v[k]) / H;
  tabi_dynamics_inverse(before, qdd, force);
  for (int32_t k = 0; k < nv; ++k)
    force[k] -= tau[k];
  int32_t count = 0;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    for (int side = 0; side < 2; ++side) {
      int32_t link = side ? contact[i].link_b : contact[i].link_a;
      if (link == TABI_WORLD) continue;
      tabi_dynamics_point_jacobian(before, link, contact[i].point, jacobian);
      for (int32_t k = 0; k < nv; ++k)
        for (int axis = 0; axis < 3; ++axis)
          force[k] -= (side ? 1 : -1) * jacobian[axis * nv + k] * contact[i].impulse[axis] / H;
    }
  }
  take_out_loops(s, before, jacobian, force);
  free(jacobian);
  free(qdd);
}

/* In the air the base has got the twist that restores momentum (momentum.c), which no force gave:
 * its acceleration, with which nothing acts on the base, is taken out of all forces.  Returns the
 * largest number of it. */
static double take_out_twist(tabi_dynamics *before, int32_t nv, double *force) {
  double *mass = calloc((size_t)nv * (size_t)nv, sizeof *mass);
  double a[36];
  double x[6];
  int32_t pivot[6];
  tabi_dynamics_mass_matrix(before, mass);
  for (int i = 0; i < 36; ++i)
    a[i] = mass[i / 6 * nv + i % 6];
  memcpy(x, force, sizeof x);
  assert_true(tbi_lu_factor(6, a, pivot));
  tbi_lu_solve(6, a, pivot, x);
  double largest = 0;
  for (int k = 0; k < 6; ++k)
    largest = fmax(largest, fabs(x[k]));
  for (int32_t i = 0; i < nv; ++i)
    for (int k = 0; k < 6; ++k)
      force[i] -= mass[i * nv + k] * x[k];
  free(mass);
  return largest;
}

typedef struct counts {
  int sticks, slips, rows, flights;
  double twist; /* m/s^2 or rad/s^2, largest that was taken out */
} counts;

static void check_joint(const scene *s, int32_t dof, double force, counts *seen) {
  const tabi_world *w = s->world;
  double bound = s->model->dof_friction[dof];
  double v = tabi_world_v(w)[dof];
  double kept = w->state.row_impulse[tbi_row_id(dof, TBI_ROW_FRICTION)] / H;
  seen->sticks += w->active_set.friction[dof] == TBI_FRICTION_STICKS;
  seen->slips += w->active_set.friction[dof] == TBI_FRICTION_SLIPS;
  seen->rows += w->active_set.friction[dof] >= TBI_FRICTION_ROW;
  double limits = (w->state.row_impulse[tbi_row_id(dof, TBI_ROW_LOWER)] +
                   w->state.row_impulse[tbi_row_id(dof, TBI_ROW_UPPER)]) /
                  H;
  assert_near(kept + limits, force, 1e-6);
  assert_true(fabs(kept) <= bound * (1 + 1e-12));
  if (fabs(v) > 1e-6) assert_near(kept, v > 0 ? -bound : bound, 1e-12);
}

static counts swing(uint64_t seed, const tabi_world_def *like, bool grippers) {
  rng r = rng_make(seed);
  counts seen = {0};
  scene s = open_trunk(&r, like, grippers);
  size_t nv = (size_t)tabi_model_nv(s.model);
  double *tau = calloc(3 * nv, sizeof *tau);
  double *v = tau + nv;
  double *force = v + nv;
  tabi_dynamics *before = tabi_dynamics_create(s.model, NULL);
  double rate = rng_between(&r, 5, 40);
  for (int i = 0; i < STEPS; ++i) {
    for (size_t k = 6; k < nv; ++k)
      tau[k] = 1.2 * sin(rate * i * H + (double)k);
    memcpy(v, tabi_world_v(s.world), sizeof *v * nv);
    tabi_dynamics_set_state(before, tabi_world_q(s.world), v);
    assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
    if (!tabi_world_certificate(s.world).converged) continue;
    missing_force(&s, before, v, tau, force);
    if (tabi_world_certificate(s.world).contacts == 0) {
      seen.twist = fmax(seen.twist, take_out_twist(before, (int32_t)nv, force));
      ++seen.flights;
    }
    for (int32_t k = 6; k < (int32_t)nv; ++k)
      check_joint(&s, k, force[k], &seen);
    for (size_t k = 0; k < 6; ++k)
      assert_near(force[k], 0, 1e-9);
  }
  tabi_dynamics_destroy(before);
  free(tau);
  scene_close(&s);
  return seen;
}

/* Under methods that reach their tolerance.  All ways of dealing with a joint occur. */
static void check_laws(bool grippers) {
  counts all = {0};
  const tabi_contact_kind kinds[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT};
  for (uint64_t seed = 0; seed < 12; ++seed) {
    tabi_world_def like = {.contact = kinds[seed % 2], .integrator = TABI_SEMI_IMPLICIT};
    counts seen = swing(seed, &like, grippers);
    all.sticks += seen.sticks;
    all.slips += seen.slips;
    all.rows += seen.rows;
    all.flights += seen.flights;
    all.twist = fmax(all.twist, seen.twist);
  }
  print_message("joints that stuck %d, slipped %d, had rows %d; %d steps in the air, twists up to "
                "%.2g rad/s^2\n",
                all.sticks, all.slips, all.rows, all.flights, all.twist);
  assert_true(all.sticks > 1000 && all.slips > 1000 && all.rows > 100);
}

static void friction_obeys_its_laws(void **state) {
  (void)state;
  check_laws(false);
}

/* Joints beside loop constraints are predicted as well, and bear what these pass on. */
static void friction_obeys_its_laws_beside_loops(void **state) {
  (void)state;
  check_laws(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(friction_obeys_its_laws),
      cmocka_unit_test(friction_obeys_its_laws_beside_loops),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
