/* test_bipeds.c - the planar bipeds biped9, biped9_long and biped_human: what they weigh and
 * measure, that nothing is found wrong with them, and that the equations of motion of biped9 are
 * those of nine rods in a plane, which are derived here once more from the drawing:
 *
 *   link k at the absolute angle a_k, its centre at  p_k = hip + sum of u(a_j) l_j + u(a_k) c_k
 *   M = sum over links of  m J'J + I w'w
 *
 * with u(a) = (-sin a, cos a) for "up" at angle a; legs hang down and have negative lengths. */
#include "support/load.h"
#include "support/near.h"
#include "tabi/tabi_io.h"

#define NV    11
#define NLINK 9

/* A link of the drawing: lengths and centres measured up from its joint. */
typedef struct rod {
  const char *link, *joint;
  int parent; /* in the drawing; -1: the base */
  double mass, centre, length, inertia;
} rod;

/* cylinders have m(l^2/12 + r^2/4), the feet m(1 + 0.25)/12 */
static const rod rods[NLINK] = {
    {"waist",       "base",        -1, 1.5, 0,     0,    1.5 * (2.25 / 12 + 0.04 / 4)},
    {"left_thigh",  "left_hip",    0,  1,   -1,    -2,   4.0 / 12 + 0.04 / 4         },
    {"left_shank",  "left_knee",   1,  1,   -1,    -2,   4.0 / 12 + 0.04 / 4         },
    {"left_foot",   "left_ankle",  2,  1,   -0.25, -0.5, 1.25 / 12                   },
    {"right_thigh", "right_hip",   0,  1,   -1,    -2,   4.0 / 12 + 0.04 / 4         },
    {"right_shank", "right_knee",  4,  1,   -1,    -2,   4.0 / 12 + 0.04 / 4         },
    {"right_foot",  "right_ankle", 5,  1,   -0.25, -0.5, 1.25 / 12                   },
    {"torso",       "torso",       0,  3,   1,     2,    3 * (4.0 / 12 + 0.04 / 4)   },
    {"head",        "neck",        7,  1,   0.25,  0.5,  0.25 / 12 + 0.25 / 4        },
};

/* the place of a link's angle in q and v: the third of the base's, the only one of others */
static int32_t angle_of(const tabi_model *model, int k) {
  int32_t joint = tabi_model_find_joint(model, rods[k].joint);
  assert_true(joint >= 0);
  return tabi_model_joint_v(model, joint).first + (k == 0 ? 2 : 0);
}

static int32_t link_of(const tabi_model *model, const char *name) {
  int32_t link = tabi_model_find_link(model, name);
  assert_true(link >= 0);
  return link;
}

/* adds the columns of a step by `length` along link k: all angles above turn it */
static void add_arm(const tabi_model *model, int k, const double angle[NLINK], double length,
                    double jacobian[2][NV]) {
  for (int j = k; j >= 0; j = rods[j].parent) {
    jacobian[0][angle_of(model, j)] -= length * cos(angle[k]);
    jacobian[1][angle_of(model, j)] -= length * sin(angle[k]);
  }
}

static void absolute_angles(const tabi_model *model, const double *q, double angle[NLINK]) {
  for (int k = 0; k < NLINK; ++k) {
    angle[k] = q[angle_of(model, k)];
    if (rods[k].parent >= 0) angle[k] += angle[rods[k].parent];
  }
}

static void planar_mass_matrix(const tabi_model *model, const double *q, double mass[NV][NV]) {
  double angle[NLINK];
  absolute_angles(model, q, angle);
  int32_t base = tabi_model_joint_v(model, tabi_model_find_joint(model, "base")).first;
  for (int k = 0; k < NLINK; ++k) {
    double jacobian[2][NV] = {{0}};
    double turn[NV] = {0};
    jacobian[0][base] = jacobian[1][base + 1] = 1;
    add_arm(model, k, angle, rods[k].centre, jacobian);
    for (int j = rods[k].parent; j >= 0; j = rods[j].parent)
      add_arm(model, j, angle, rods[j].length, jacobian);
    for (int j = k; j >= 0; j = rods[j].parent)
      turn[angle_of(model, j)] = 1;
    for (int a = 0; a < NV; ++a) {
      for (int b = 0; b < NV; ++b) {
        mass[a][b] +=
            rods[k].mass * (jacobian[0][a] * jacobian[0][b] + jacobian[1][a] * jacobian[1][b]) +
            rods[k].inertia * turn[a] * turn[b];
      }
    }
  }
}

/* A bent posture, the base turned and moved. */
static void bend(const tabi_model *model, double q[NV]) {
  const double angle[NLINK] = {0.3, 0.7, -0.9, 0.25, -0.4, -0.6, 0.5, -0.35, 0.8};
  for (int k = 0; k < NLINK; ++k)
    q[angle_of(model, k)] = angle[k];
  int32_t base = tabi_model_joint_v(model, tabi_model_find_joint(model, "base")).first;
  q[base] = 1.5;
  q[base + 1] = 4.1;
}

static void test_mass_matrix(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("biped9");
  assert_int_equal(tabi_model_nv(model), NV);
  assert_int_equal(tabi_model_nq(model), NV);
  double q[NV] = {0};
  const double v[NV] = {0};
  bend(model, q);
  double mass[NV][NV];
  double expected[NV][NV] = {{0}};
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  tabi_dynamics_set_state(d, q, v);
  tabi_dynamics_mass_matrix(d, &mass[0][0]);
  planar_mass_matrix(model, q, expected);
  for (int a = 0; a < NV; ++a) {
    for (int b = 0; b < NV; ++b)
      assert_near(mass[a][b], expected[a][b], 1e-12);
  }
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

/* Links are where the drawing has them, and positive angles turn counter-clockwise in (x, z). */
static void test_positions(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("biped9");
  double q[NV] = {0};
  const double v[NV] = {0};
  double angle[NLINK];
  double at[NLINK][2] = {
      {1.5, 4.1}
  };
  bend(model, q);
  absolute_angles(model, q, angle);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  tabi_dynamics_set_state(d, q, v);
  for (int k = 0; k < NLINK; ++k) {
    double pos[3];
    double quat[4];
    int parent = rods[k].parent;
    if (parent >= 0) {
      at[k][0] = at[parent][0] - rods[parent].length * sin(angle[parent]);
      at[k][1] = at[parent][1] + rods[parent].length * cos(angle[parent]);
    }
    tabi_dynamics_link_pose(d, link_of(model, rods[k].link), pos, quat);
    assert_near(pos[0], at[k][0], 1e-12);
    assert_near(pos[2], at[k][1], 1e-12);
  }
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

static void test_nine_links(void **state) {
  (void)state;
  tabi_model *model = load_shipped_model("biped9");
  assert_near(tabi_model_mass(model), 11.5, 1e-12);
  for (int k = 0; k < NLINK; ++k) {
    int32_t link = link_of(model, rods[k].link);
    assert_near(tabi_model_link(model, link).mass, rods[k].mass, 0);
    if (k == 0) continue;
    tabi_joint_def joint = tabi_model_joint(model, tabi_model_find_joint(model, rods[k].joint));
    assert_near(joint.damping, 50, 0);
    assert_near_n(joint.axis, ((const double[3]){0, -1, 0}), 3, 0);
  }
  tabi_model_destroy(model);
}

/* Standing straight, the lowest and the highest that can be touched are a sole and the head's top.
 */
static void measure(const char *name, double hip, double height, double weight) {
  tabi_model *model = load_shipped_model(name);
  assert_near(tabi_model_mass(model), weight, 1e-9);
  double low = INFINITY;
  double high = -INFINITY;
  const double zero[NV] = {0};
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  tabi_dynamics_set_state(d, zero, zero);
  for (int32_t i = 0; i < tabi_model_nshape(model); ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    if (!shape.collides) continue;
    double pos[3];
    double quat[4];
    tabi_dynamics_link_pose(d, shape.link, pos, quat);
    double half = shape.type == TABI_SHAPE_BOX ? shape.size[2] / 2 : shape.size[0];
    low = fmin(low, pos[2] + shape.pos[2] - half);
    high = fmax(high, pos[2] + shape.pos[2] + half);
  }
  assert_near(low, -hip, 1e-9);
  assert_near(high - low, height, 1e-9);
  tabi_dynamics_destroy(d);
  tabi_model_destroy(model);
}

static void test_sizes(void **state) {
  (void)state;
  measure("biped9", 4.5, 7, 11.5);
  measure("biped9_long", 4.5, 7, 11.5);
  measure("biped_human", 0.9275, 1.75, 70);
}

static void refuse(void *user, const tabi_error *finding) {
  (void)user;
  fail_msg("%s:%d: %s", finding->file, (int)finding->line, finding->message);
}

static void test_no_findings(void **state) {
  (void)state;
  static const char *const names[] = {"biped9", "biped9_long", "biped_human"};
  for (size_t i = 0; i < sizeof names / sizeof *names; ++i) {
    tabi_model *model = load_shipped_model(names[i]);
    assert_int_equal(tabi_model_check(model, refuse, NULL), 0);
    tabi_model_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mass_matrix), cmocka_unit_test(test_positions),
      cmocka_unit_test(test_nine_links),  cmocka_unit_test(test_sizes),
      cmocka_unit_test(test_no_findings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
