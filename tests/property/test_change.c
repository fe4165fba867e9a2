/* test_change.c - the same robots described otherwise: moved as a whole, built in another order,
 * two in one forest, links merged by hand.  What belongs together is found by name. */
#include "property/property.h"

#include "support/rng.h"

#include <string.h>

typedef double vec[3];
typedef double mat[9];

static void rotate(const mat R, const vec x, vec to) {
  for (size_t i = 0; i < 3; ++i)
    to[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static void quat_product(const double a[4], const double b[4], double to[4]) {
  to[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
  to[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
  to[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
  to[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

/* Compares the numbers of one joint, of a joint-sized vector in two models. */
static double joint_distance(const subject *a, const subject *b, const char *joint,
                             const double *of_a, const double *of_b, double scale) {
  tabi_range in_a = tabi_model_joint_v(a->model, tabi_model_find_joint(a->model, joint));
  tabi_range in_b = tabi_model_joint_v(b->model, tabi_model_find_joint(b->model, joint));
  if (in_a.count == 0) return 0.0;
  return property_distance(of_a + in_a.first, of_b + in_b.first, (size_t)in_a.count, scale);
}

static void read_acceleration(subject *s, double *qdd) {
  tabi_dynamics_forward(s->dynamics, s->tau, qdd);
}

static void read_bias(subject *s, double *bias) { tabi_dynamics_inverse(s->dynamics, NULL, bias); }

static void read_mass_times_v(subject *s, double *to) {
  double *bias = subject_room(s, s->nv);
  tabi_dynamics_inverse(s->dynamics, s->v, to);
  tabi_dynamics_inverse(s->dynamics, NULL, bias);
  for (size_t i = 0; i < s->nv; ++i)
    to[i] -= bias[i];
}

/* Accelerations, bias and M v of all joints of the smaller model, under both descriptions.
 * Accelerations of an ill-conditioned tree need the wider tolerance. */
static void compare_by_name(const char *what, subject *a, subject *b, double tolerance) {
  static const struct {
    property_fn *read;
    double factor;
  } parts[] = {
      {read_acceleration, 100.0},
      {read_bias,         1.0  },
      {read_mass_times_v, 1.0  }
  };
  for (size_t k = 0; k < sizeof parts / sizeof *parts; ++k) {
    double *of_a = subject_room(a, a->nv), *of_b = subject_room(b, b->nv);
    parts[k].read(a, of_a);
    parts[k].read(b, of_b);
    double scale = fmax(1.0, fmax(property_largest(of_a, a->nv), property_largest(of_b, b->nv)));
    for (int32_t i = 0; i < a->plan->nlink; ++i) {
      const random_link *item = &a->plan->links[i];
      if (!item->jointed || item->joint.type == TABI_JOINT_FIXED) continue;
      property_expect(a, what, joint_distance(a, b, item->joint_name, of_a, of_b, scale),
                      tolerance * parts[k].factor);
    }
  }
}

static void check_order(subject *s) {
  int32_t order[RANDOM_MAX_LINKS] = {0};
  rng r = rng_make(s->seed);
  for (int32_t i = 0; i < s->plan->nlink; ++i) {
    int32_t k = rng_below(&r, i + 1);
    order[i] = order[k];
    order[k] = i;
  }
  subject other = {.seed = s->seed, .plan = s->plan};
  subject_open(&other, s->plan, order);
  compare_by_name("another order of adding", s, &other, 1e-12);
  subject_close(&other);
}

static void check_forest(subject *s) {
  static random_plan second, both;
  random_plan_make(&second, s->seed + 1000000, RANDOM_ANY);
  memcpy(second.gravity, s->plan->gravity, sizeof second.gravity);
  both.nlink = 0;
  memcpy(both.gravity, s->plan->gravity, sizeof both.gravity);
  random_plan_append(&both, &second, 'b');
  random_plan_append(&both, s->plan, 'a');
  for (int32_t i = 0; i < s->plan->nlink; ++i) {
    memcpy(both.links[second.nlink + i].name, s->plan->links[i].name, sizeof both.links[0].name);
    memcpy(both.links[second.nlink + i].joint_name, s->plan->links[i].joint_name,
           sizeof both.links[0].joint_name);
  }
  subject other = {.seed = s->seed, .plan = &both};
  subject_open(&other, &both, NULL);
  compare_by_name("beside another robot", s, &other, 1e-12);
  subject_close(&other);
}

/* Moves every root by a rotation and a shift, its velocity and gravity likewise. */
static void move_plan(random_plan *plan, const double quat[4], const vec shift) {
  mat R;
  vec turned;
  property_rotation(quat, R);
  rotate(R, plan->gravity, turned);
  memcpy(plan->gravity, turned, sizeof turned);
  for (int32_t i = 0; i < plan->nlink; ++i) {
    random_link *item = &plan->links[i];
    if (item->joint.parent != TABI_WORLD) continue;
    rotate(R, item->q, turned);
    for (size_t k = 0; k < 3; ++k)
      item->q[k] = turned[k] + shift[k];
    double product[4];
    quat_product(quat, item->q + 3, product);
    memcpy(item->q + 3, product, sizeof product);
    for (size_t k = 0; k < 2; ++k) {
      rotate(R, item->v + 3 * k, turned);
      memcpy(item->v + 3 * k, turned, sizeof turned);
    }
  }
}

/* The free joint's frame in the world must be the world's for its v to turn like a vector. */
static void plain_roots(random_plan *plan) {
  for (int32_t i = 0; i < plan->nlink; ++i) {
    tabi_joint_def *joint = &plan->links[i].joint;
    if (joint->parent != TABI_WORLD) continue;
    memset(joint->pos, 0, sizeof joint->pos);
    memcpy(joint->quat, (double[4]){1, 0, 0, 0}, sizeof joint->quat);
  }
}

static void compare_moved(subject *s, double distance, double tolerance) {
  static random_plan plain, moved;
  plain = *s->plan;
  plain_roots(&plain);
  moved = plain;
  rng r = rng_make(s->seed);
  double quat[4];
  vec shift;
  rng_direction(&r, quat, 4);
  rng_direction(&r, shift, 3);
  for (size_t k = 0; k < 3; ++k)
    shift[k] *= distance;
  move_plan(&moved, quat, shift);
  subject a = {.seed = s->seed, .plan = &plain}, b = {.seed = s->seed, .plan = &moved};
  subject_open(&a, &plain, NULL);
  subject_open(&b, &moved, NULL);
  double *qdd_a = subject_room(&a, a.nv), *qdd_b = subject_room(&b, b.nv);
  read_acceleration(&a, qdd_a);
  read_acceleration(&b, qdd_b);
  double scale = property_largest(qdd_a, a.nv);
  for (int32_t i = 0; i < plain.nlink; ++i) {
    const random_link *item = &plain.links[i];
    if (item->joint.parent == TABI_WORLD) continue;
    property_expect(s, "acceleration of a joint, moved as a whole",
                    joint_distance(&a, &b, item->joint_name, qdd_a, qdd_b, scale), tolerance);
  }
  subject_close(&a);
  subject_close(&b);
}

static void check_near(subject *s) { compare_moved(s, 3.0, 1e-9); }
static void check_far(subject *s) { compare_moved(s, 1e6, 1e-9); }

/* a robot on rails or on the floor, that has gone a long way */
static void check_gone(subject *s) {
  static random_plan here, there;
  here = *s->plan;
  for (int32_t i = 0; i < here.nlink; ++i) {
    random_link *item = &here.links[i];
    if (item->joint.parent != TABI_WORLD) continue;
    item->joint.type = s->seed % 2 ? TABI_JOINT_PLANAR : TABI_JOINT_PRISMATIC;
  }
  there = here;
  for (int32_t i = 0; i < there.nlink; ++i)
    if (there.links[i].joint.parent == TABI_WORLD) there.links[i].q[0] += 1e6;
  subject a = {.seed = s->seed, .plan = &here}, b = {.seed = s->seed, .plan = &there};
  subject_open(&a, &here, NULL);
  subject_open(&b, &there, NULL);
  compare_by_name("gone far along its root joint", &a, &b, 1e-12);
  subject_close(&a);
  subject_close(&b);
}

/* Adds the inertia of a point mass m at x, or takes it away for negative m. */
static void add_point(double I[6], double m, const vec x) {
  double square = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
  for (size_t i = 0; i < 3; ++i)
    I[i] += m * (square - x[i] * x[i]);
  I[3] -= m * x[0] * x[1];
  I[4] -= m * x[0] * x[2];
  I[5] -= m * x[1] * x[2];
}

/* I of the child in the parent's axes: R I R' */
static void turn_inertia(const mat R, const double I[6], double to[6]) {
  double full[9] = {I[0], I[3], I[4], I[3], I[1], I[5], I[4], I[5], I[2]};
  static const size_t row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
  for (size_t k = 0; k < 6; ++k) {
    to[k] = 0.0;
    for (size_t i = 0; i < 3; ++i)
      for (size_t j = 0; j < 3; ++j)
        to[k] += R[3 * row[k] + i] * full[3 * i + j] * R[3 * column[k] + j];
  }
}

static void absorb(tabi_link_def *link, const tabi_link_def *child, const tabi_joint_def *joint) {
  double mass = link->mass + child->mass;
  if (mass == 0.0) return;
  mat R;
  vec com, both, arm;
  double turned[6];
  property_rotation(joint->quat, R);
  rotate(R, child->com, com);
  for (size_t i = 0; i < 3; ++i) {
    com[i] += joint->pos[i];
    both[i] = (link->mass * link->com[i] + child->mass * com[i]) / mass;
  }
  turn_inertia(R, child->inertia, turned);
  for (size_t k = 0; k < 6; ++k)
    link->inertia[k] += turned[k];
  for (size_t i = 0; i < 3; ++i)
    arm[i] = com[i] - both[i];
  add_point(link->inertia, child->mass, arm);
  for (size_t i = 0; i < 3; ++i)
    arm[i] = link->com[i] - both[i];
  add_point(link->inertia, link->mass, arm);
  memcpy(link->com, both, sizeof both);
  link->mass = mass;
}

/* Hangs a joint on its grandparent instead, through the fixed joint between. */
static void reattach(tabi_joint_def *joint, const tabi_joint_def *fixed) {
  mat R;
  vec pos;
  double quat[4];
  property_rotation(fixed->quat, R);
  rotate(R, joint->pos, pos);
  for (size_t i = 0; i < 3; ++i)
    joint->pos[i] = fixed->pos[i] + pos[i];
  quat_product(fixed->quat, joint->quat, quat);
  memcpy(joint->quat, quat, sizeof quat);
  joint->parent = fixed->parent;
}

/* Takes out every link behind a fixed joint, children first. */
static void merge_plan(const random_plan *plan, random_plan *merged) {
  static random_plan work;
  int32_t place[RANDOM_MAX_LINKS];
  work = *plan;
  for (int32_t i = work.nlink - 1; i >= 0; --i) {
    random_link *item = &work.links[i];
    if (!item->jointed || item->joint.type != TABI_JOINT_FIXED) continue;
    int32_t parent = item->joint.parent;
    if (parent != TABI_WORLD) absorb(&work.links[parent].link, &item->link, &item->joint);
    for (int32_t k = i + 1; k < work.nlink; ++k)
      if (work.links[k].joint.parent == i) reattach(&work.links[k].joint, &item->joint);
  }
  merged->nlink = 0;
  memcpy(merged->gravity, work.gravity, sizeof work.gravity);
  for (int32_t i = 0; i < work.nlink; ++i) {
    random_link *item = &work.links[i];
    if (item->jointed && item->joint.type == TABI_JOINT_FIXED) continue;
    place[i] = merged->nlink;
    if (item->joint.parent != TABI_WORLD) item->joint.parent = place[item->joint.parent];
    item->joint.child = place[i];
    merged->links[merged->nlink++] = *item;
  }
}

static void check_merged(subject *s) {
  static random_plan merged;
  merge_plan(s->plan, &merged);
  if (merged.nlink == s->plan->nlink || s->nv == 0) return;
  subject other = {.seed = s->seed, .plan = &merged};
  subject_open(&other, &merged, NULL);
  assert_int_equal(tabi_model_nbody(other.model), tabi_model_nbody(s->model));
  assert_int_equal(other.nv, s->nv);
  compare_by_name("fixed links merged by hand", s, &other, 1e-12);
  subject_close(&other);
}

static void test_order_of_adding_does_not_matter(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_order);
}

static void test_forest_is_each_robot_alone(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_forest);
}

static void test_moving_everything_changes_nothing_inside(void **state) {
  (void)state;
  property_run(RANDOM_FLOATING, check_near);
}

static void test_far_from_the_origin(void **state) {
  (void)state;
  property_run(RANDOM_FLOATING, check_far);
}

static void test_gone_far(void **state) {
  (void)state;
  property_run(RANDOM_FLOATING, check_gone);
}

static void test_fixed_links_merge(void **state) {
  (void)state;
  property_run(RANDOM_ANY, check_merged);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_of_adding_does_not_matter),
      cmocka_unit_test(test_forest_is_each_robot_alone),
      cmocka_unit_test(test_moving_everything_changes_nothing_inside),
      cmocka_unit_test(test_far_from_the_origin),
      cmocka_unit_test(test_gone_far),
      cmocka_unit_test(test_fixed_links_merge),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
