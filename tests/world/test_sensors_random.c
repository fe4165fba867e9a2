/* test_sensors_random.c - sensors everywhere in random forests, against accelerations by Jacobians
 * and against inverse dynamics: every joint transmits what accelerates the links behind it, and
 * along its own freedom just the joint force. */
#include "math/lu.h"
#include "math/quat.h"
#include "support/near.h"
#include "support/random_model.h"
#include "world/world.h"

#include <stdlib.h>
#include <string.h>

#define H     1e-3
#define SEEDS 60

typedef struct forest {
  tabi_model *model;
  tabi_world *world;
  tabi_dynamics *d;             /* at the start of the step */
  double *q, *v, *given;        /* of the start */
  double *tau;                  /* by inverse dynamics */
  double *qdd, *jacobian;       /* [3 nv] */
  int32_t nlink;                /* each with an accelerometer, which are the first sensors */
  int32_t cell[RANDOM_LINKS];   /* force-torque of every joint, or TABI_NONE */
  double felt[RANDOM_LINKS][3]; /* acceleration less gravity of every centre of mass, world */
} forest;

/* the same links and joints, with an accelerometer in every centre of mass and all joints felt, or
 * those that move: links that are welded to each other are then felt as one */
static tabi_model *with_sensors(const tabi_model *model, bool welds, int32_t *cell) {
  tabi_builder *b = tabi_builder_create();
  assert_non_null(b);
  double gravity[3];
  tabi_model_gravity(model, gravity);
  tabi_builder_set_gravity(b, gravity);
  for (int32_t i = 0; i < tabi_model_nlink(model); ++i) {
    tabi_link_def link = tabi_model_link(model, i);
    (void)tabi_builder_add_link(b, &link);
    tabi_sensor_def sensor = tabi_sensor_def_default();
    sensor.type = TABI_SENSOR_ACCELEROMETER;
    sensor.link = i;
    memcpy(sensor.pos, link.com, sizeof sensor.pos);
    (void)tabi_builder_add_sensor(b, &sensor);
  }
  for (int32_t j = 0; j < tabi_model_njoint(model); ++j) {
    tabi_joint_def joint = tabi_model_joint(model, j);
    (void)tabi_builder_add_joint(b, &joint);
    tabi_sensor_def sensor = tabi_sensor_def_default();
    sensor.joint = j;
    cell[j] = TABI_NONE;
    if (welds || joint.type != TABI_JOINT_FIXED) cell[j] = tabi_builder_add_sensor(b, &sensor);
  }
  tabi_error err;
  tabi_model *made = tabi_builder_build(b, &err);
  if (!made) fail_msg("%s", err.message);
  tabi_builder_destroy(b);
  return made;
}

static forest open_forest(uint64_t seed, bool welds) {
  random_plan *plan = malloc(sizeof *plan);
  assert_non_null(plan);
  random_plan_make(plan, seed, RANDOM_ANY);
  tabi_model *bare = random_plan_build(plan, NULL);
  forest f = {.nlink = tabi_model_nlink(bare)};
  f.model = with_sensors(bare, welds, f.cell);
  tabi_model_destroy(bare);
  size_t nq = (size_t)tabi_model_nq(f.model) + 1;
  size_t nv = (size_t)tabi_model_nv(f.model) + 1;
  f.q = calloc(nq + 7 * nv, sizeof *f.q);
  assert_non_null(f.q);
  f.v = f.q + nq;
  f.tau = f.v + nv;
  f.qdd = f.tau + nv;
  f.jacobian = f.qdd + nv;
  f.given = f.jacobian + 3 * nv;
  random_plan_state(plan, f.model, f.q, f.v, f.given);
  tabi_error err;
  tabi_world_def def = tabi_world_def_default(f.model);
  def.timestep = H;
  f.world = tabi_world_create(f.model, &def, &err);
  f.d = tabi_dynamics_create(f.model, &err);
  assert_true(f.world && f.d);
  assert_int_equal(tabi_world_set_state(f.world, f.q, f.v, NULL), TABI_OK);
  tabi_dynamics_set_state(f.d, tabi_world_q(f.world), f.v);
  free(plan);
  return f;
}

static void close_forest(forest *f) {
  tabi_world_destroy(f->world);
  tabi_dynamics_destroy(f->d);
  tabi_model_destroy(f->model);
  free(f->q);
}

static void advance(forest *f) {
  int32_t nv = tabi_model_nv(f->model);
  if (tabi_world_step(f->world, f->given) != TABI_OK)
    fail_msg("%s", tabi_world_error(f->world)->message);
  for (int32_t k = 0; k < nv; ++k)
    f->qdd[k] = (tabi_world_v(f->world)[k] - f->v[k]) / H;
  tabi_dynamics_inverse(f->d, f->qdd, f->tau);
}

/* A floating base got a twist that restores momentum, which no force gave: out of qdd again, so
 * that the given force acts on the base, and tau anew.  Returns how many trees had one. */
static int32_t take_out_twists(forest *f) {
  int32_t nv = tabi_model_nv(f->model);
  int32_t count = 0;
  double *mass = calloc((size_t)nv * (size_t)nv + 1, sizeof *mass);
  tabi_dynamics_mass_matrix(f->d, mass);
  for (int32_t t = 0; t < f->model->ntree; ++t) {
    int32_t base = f->model->body[f->model->tree_body[t]].v;
    double a[36];
    double x[6];
    int32_t pivot[6];
    if (!tbi_world_is_restored(f->world, t)) continue;
    for (int32_t i = 0; i < 36; ++i)
      a[i] = mass[(base + i / 6) * nv + base + i % 6];
    for (int k = 0; k < 6; ++k)
      x[k] = f->tau[base + k] - f->given[base + k];
    assert_true(tbi_lu_factor(6, a, pivot));
    tbi_lu_solve(6, a, pivot, x);
    for (int k = 0; k < 6; ++k)
      f->qdd[base + k] -= x[k];
    ++count;
  }
  free(mass);
  tabi_dynamics_inverse(f->d, f->qdd, f->tau);
  return count;
}

static v3 product(const double *matrix, const double *x, int32_t n) {
  double y[3] = {0, 0, 0};
  for (int32_t k = 0; k < 3 * n; ++k)
    y[k / n] += matrix[k] * x[k % n];
  return v3_load(y);
}

static m3 pose(const forest *f, int32_t link, v3 *pos) {
  double at[3];
  double quat[4];
  tabi_dynamics_link_pose(f->d, link, at, quat);
  *pos = v3_load(at);
  return q_matrix(q_load(quat));
}

/* J qdd + J' v - g at every centre of mass, and whether the accelerometer there agrees */
static void find_accelerations(forest *f, bool agree) {
  int32_t nv = tabi_model_nv(f->model);
  double gravity[3];
  tabi_model_gravity(f->model, gravity);
  for (int32_t i = 0; i < f->nlink; ++i) {
    v3 pos;
    m3 rot = pose(f, i, &pos);
    double com[3];
    double value[TABI_SENSOR_MAX];
    double wanted[3];
    v3_store(v3_add(pos, m3_mulv(&rot, v3_load(tabi_model_link(f->model, i).com))), com);
    tabi_dynamics_point_jacobian(f->d, i, com, f->jacobian);
    v3 felt = v3_sub(product(f->jacobian, f->qdd, nv), v3_load(gravity));
    tabi_dynamics_point_jacobian_rate(f->d, i, com, f->jacobian);
    felt = v3_add(felt, product(f->jacobian, f->v, nv));
    v3_store(felt, f->felt[i]);
    (void)tabi_world_sensor(f->world, i, value);
    v3_store(m3_tmulv(&rot, felt), wanted);
    if (agree) assert_near_n(value, wanted, 3, 1e-9);
  }
}

static bool hangs_on(const tabi_model *model, int32_t link, int32_t above) {
  while (link != above && link != TABI_WORLD) {
    int32_t joint = tabi_model_link_joint(model, link);
    link = joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, joint).parent;
  }
  return link == above;
}

/* the force at a joint carries all links behind it, also where nothing moves */
static void check_force(const forest *f, int32_t joint, const double value[6]) {
  int32_t child = tabi_model_joint(f->model, joint).child;
  v3 sum = v3_zero();
  double size = 1;
  for (int32_t i = 0; i < f->nlink; ++i) {
    if (!hangs_on(f->model, i, child)) continue;
    v3 carried = v3_scale(tabi_model_link(f->model, i).mass, v3_load(f->felt[i]));
    sum = v3_add(sum, carried);
    size += v3_norm(carried);
  }
  v3 pos;
  m3 rot = pose(f, child, &pos);
  assert_near(v3_norm(v3_sub(m3_mulv(&rot, v3_load(value)), sum)) / size, 0, 1e-9);
}

/* along the freedom of a joint acts what inverse dynamics says, less what turns its rotor */
static void check_freedom(const forest *f, int32_t joint, const double value[6], double size) {
  tabi_joint_def def = tabi_model_joint(f->model, joint);
  int32_t at = tabi_model_joint_v(f->model, joint).first;
  double rotor = def.gear * def.gear * def.rotor_inertia;
  const double *force = value;
  const double *moment = value + 3;
  v3 axis = v3_load(def.axis);
  switch (def.type) {
  case TABI_JOINT_REVOLUTE:
  case TABI_JOINT_CONTINUOUS:
    assert_near((v3_dot(axis, v3_load(moment)) - f->tau[at] + rotor * f->qdd[at]) / size, 0, 1e-9);
    break;
  case TABI_JOINT_PRISMATIC:
    assert_near((v3_dot(axis, v3_load(force)) - f->tau[at] + rotor * f->qdd[at]) / size, 0, 1e-9);
    break;
  case TABI_JOINT_BALL:
    for (int k = 0; k < 3; ++k)
      assert_near((moment[k] - f->tau[at + k] + rotor * f->qdd[at + k]) / size, 0, 1e-9);
    break;
  default:
    break;
  }
}

static int32_t check_joints(const forest *f) {
  int32_t felt = 0;
  for (int32_t j = 0; j < tabi_model_njoint(f->model); ++j) {
    if (f->cell[j] == TABI_NONE) continue;
    double value[TABI_SENSOR_MAX];
    (void)tabi_world_sensor(f->world, f->cell[j], value);
    double size = 1;
    for (int k = 0; k < 6; ++k)
      size += fabs(value[k]);
    check_force(f, j, value);
    check_freedom(f, j, value, size);
    ++felt;
  }
  return felt;
}

static void forests_feel_what_carries_them(void **state) {
  (void)state;
  int32_t joints[2] = {0, 0};
  int32_t floating = 0;
  for (uint64_t seed = 1; seed <= SEEDS; ++seed) {
    for (int welds = 0; welds < 2; ++welds) {
      forest f = open_forest(seed, welds == 1);
      advance(&f);
      find_accelerations(&f, true);
      floating += take_out_twists(&f);
      find_accelerations(&f, false);
      joints[welds] += check_joints(&f);
      close_forest(&f);
    }
  }
  print_message("%d joints that move, %d in all, of %d forests with %d floating trees\n", joints[0],
                joints[1], SEEDS, floating);
  assert_true(joints[0] < joints[1] && floating > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(forests_feel_what_carries_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
