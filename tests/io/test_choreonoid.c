/* test_choreonoid.c - bodies of Choreonoid. */
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct heard {
  int count;
  tabi_error told[64];
} heard;

static void listen(void *user, const tabi_error *told) {
  heard *h = user;
  if (h->count < 64) h->told[h->count++] = *told;
}

static tabi_model *try_load(const char *text, heard *h, tabi_error *error) {
  tabi_load_def def = tabi_load_def_default();
  if (h) {
    *h = (heard){0};
    def.warn = listen;
    def.warn_user = h;
  }
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_status status =
      tabi_builder_load_text(builder, text, strlen(text), "dir/r.body", &def, error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, error) : NULL;
  tabi_builder_destroy(builder);
  return model;
}

static tabi_model *load(const char *text, heard *h) {
  tabi_error error = {0};
  tabi_model *model = try_load(text, h, &error);
  if (!model) fail_msg("%d: %s", (int)error.line, error.message);
  return model;
}

static bool is_told(const heard *h, const char *words) {
  for (int i = 0; i < h->count; ++i) {
    if (strstr(h->told[i].message, words)) return true;
  }
  return false;
}

static void assert_told(const heard *h, const char *words) {
  if (!is_told(h, words)) fail_msg("nobody told '%s'", words);
}

#define HEAD   "format: ChoreonoidBody\nformatVersion: 1.0\nangleUnit: degree\nname: r\n"
#define MOMENT "[ 1, 0, 0,\n 0, 1, 0,\n 0, 0, 1 ]"

/* clang-format off */
static const char arm[] = HEAD
  "links:\n"
  "  - name: HAND\n"                                     /* before its parent */
  "    parent: UPPER\n"
  "    jointType: prismatic\n"
  "    jointId: 0\n"
  "    joint_axis: -X\n"
  "    jointRange: 0.5\n"
  "    mass: 1\n"
  "    inertia: [ 1, 0, 0, 1, 0, 1 ]\n"
  "    elements: &can\n"
  "      Shape:\n"
  "        geometry: { type: Cylinder, radius: 0.1, height: 0.4 }\n"
  "        appearance: { material: { diffuse: [ 1, 0.5, 0 ] } }\n"
  "  - name: BASE\n"
  "    jointType: free\n"
  "    translation: [ 0, 0, 2 ]\n"
  "    elements:\n"
  "      - type: RigidBody\n"
  "        mass: 2\n"
  "        inertia: " MOMENT "\n"
  "      - type: Transform\n"
  "        translation: [ 1, 0, 0 ]\n"
  "        rotation: [ [ 0, 0, 1, 90 ], [ 1, 0, 0, 90 ] ]\n"
  "        elements:\n"
  "          - { type: RigidBody, mass: 2, inertia: [ 1, 0, 0, 2, 0, 2.5 ] }\n"
  "          - { type: IMU, name: imu, id: 0 }\n"
  "          - { type: Camera, name: eye, elements: *can }\n"
  "  - name: UPPER\n"
  "    parent: BASE\n"
  "    joint_type: revolute\n"
  "    joint_id: 1\n"
  "    joint_axis: [ 0, 1, 0 ]\n"
  "    joint_range: [ -90, unlimited ]\n"
  "    joint_angle: 30\n"
  "    max_joint_velocity: 180\n"
  "    max_joint_effort: 7\n"
  "    rotor_inertia: 0.001\n"
  "    gear_ratio: 100\n"
  "    mass: 1\n"
  "    center_of_mass: [ 0, 0, 0.5 ]\n"
  "    inertia: " MOMENT "\n"
  "    elements:\n"
  "      - { type: Visual, elements: *can }\n"
  "      - type: Collision\n"
  "        elements: { type: Transform, scale: [ 1, 2, 3 ], elements:\n"
  "          { Shape: { geometry: { type: Sphere, radius: 0.5 } } } }\n"
  "      - { type: ForceSensor, name: ft, max_force: [ 1, 2, 3 ] }\n"
  "extraJoints:\n"
  "  - { link1Name: BASE, link2Name: HAND, jointType: hinge, jointAxis: Y,\n"
  "      link1LocalPos: [ 0, 0, 1 ], link2LocalPos: [ 1, 0, 0 ] }\n"
  "bodyHandlers: Handler\n";
/* clang-format on */

static tabi_joint_def joint(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_joint(model, name);
  assert_int_not_equal(index, TABI_NONE);
  return tabi_model_joint(model, index);
}

static void test_joints(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(arm, &h);
  assert_int_equal(tabi_model_nv(model), 8);
  assert_near(tabi_model_mass(model), 6, 1e-12);
  tabi_joint_def upper = joint(model, "UPPER");
  assert_int_equal(upper.type, TABI_JOINT_REVOLUTE);
  assert_near(upper.lower, -M_PI / 2, 1e-15);
  assert_true(isinf(upper.upper));
  assert_near(upper.velocity, M_PI, 1e-15);
  assert_near(upper.effort, 7, 0);
  assert_near(upper.rotor_inertia * upper.gear * upper.gear, 10, 1e-12);
  assert_near(upper.initial_q[0], M_PI / 6, 1e-15);
  tabi_joint_def hand = joint(model, "HAND");
  assert_near(hand.axis[0], -1, 0);
  assert_near(hand.lower, -0.5, 0);
  assert_near(hand.upper, 0.5, 0);
  assert_told(&h, "body_handlers");
  assert_told(&h, "Camera");
  tabi_model_destroy(model);
}

/* Two pieces of 2 kg, 1 m apart along x; the second is turned so that its z comes to lie along x:
 * z turns about x to -y, which turns about z to x. */
static void test_rigid_bodies(void **state) {
  (void)state;
  tabi_model *model = load(arm, NULL);
  tabi_link_def base = tabi_model_link(model, tabi_model_find_link(model, "BASE"));
  assert_near(base.mass, 4, 0);
  assert_near(base.com[0], 0.5, 1e-15);
  assert_near(base.inertia[0], 1 + 2.5, 1e-12);
  assert_near(base.inertia[1], 1 + 1 + 1, 1e-12);
  assert_near(base.inertia[2], 1 + 2 + 1, 1e-12);
  tabi_model_destroy(model);
}

static void test_elements(void **state) {
  (void)state;
  tabi_model *model = load(arm, NULL);
  assert_int_equal(tabi_model_nshape(model), 4);
  int ellipsoids = 0;
  int seen_only = 0;
  for (int32_t i = 0; i < 4; ++i) {
    tabi_shape_def shape = tabi_model_shape(model, i);
    seen_only += shape.visible && !shape.collides;
    if (shape.type != TABI_SHAPE_ELLIPSOID) continue;
    ++ellipsoids;
    assert_near(shape.size[2], 1.5, 1e-12);
    assert_true(shape.collides && !shape.visible);
  }
  assert_int_equal(ellipsoids, 1);
  assert_int_equal(seen_only, 1);
  assert_int_equal(tabi_model_nsensor(model), 3);
  tabi_sensor_def gyro = tabi_model_sensor(model, tabi_model_find_sensor(model, "imu_gyro"));
  assert_near(gyro.pos[0], 1, 1e-15);
  assert_int_not_equal(tabi_model_find_sensor(model, "imu_accel"), TABI_NONE);
  tabi_sensor_def force = tabi_model_sensor(model, tabi_model_find_sensor(model, "ft"));
  assert_near(force.range[2], 3, 0);
  assert_int_equal(tabi_model_nconnection(model), 1);
  assert_int_equal(tabi_model_connection(model, 0).type, TABI_CONNECTION_HINGE);
  tabi_model_destroy(model);
}

/* Both frames of a hinge agree in the pose of the file, whatever the joints are. */
static void test_hinge(void **state) {
  (void)state;
  tabi_model *model = load(arm, NULL);
  tabi_connection_def loop = tabi_model_connection(model, 0);
  // HAND is turned by 30 degrees about y, the axis itself: the axis is the same in both
  for (int side = 0; side < 2; ++side) {
    const double *q = side ? loop.quat_b : loop.quat_a;
    assert_near(2 * (q[2] * q[3] - q[0] * q[1]), 1, 1e-12);
  }
  tabi_model_destroy(model);
}

static void test_merge(void **state) {
  (void)state;
  tabi_model *model =
      load(HEAD "common: &c { mass: 3, inertia: [1, 0, 0, 1, 0, 1] }\n"
                "links:\n"
                "  - { name: A, jointType: free, <<: *c }\n"
                "  - { name: B, parent: A, jointType: revolute, mass: 1, <<: *c }\n",
           NULL);
  assert_near(tabi_model_mass(model), 4, 0);
  tabi_model_destroy(model);
}

#define NOTHING "mass: 0, inertia: [ 0, 0, 0, 0, 0, 0 ]"

/* A finger that nobody weighed: by its shape, else next to nothing. */
static void test_massless(void **state) {
  (void)state;
  heard h;
  tabi_model *model =
      load(HEAD "links:\n"
                "  - { name: BASE, jointType: free, mass: 1, inertia: " MOMENT " }\n"
                "  - { name: FRAME, parent: BASE, jointType: revolute, jointId: 0, " NOTHING " }\n"
                "  - { name: TIP, parent: BASE, jointType: revolute, jointId: 1, " NOTHING
                ", elements: [ {\n"
                "      type: Shape, geometry: { type: Box, size: [ 0.1, 0.1, 0.1 ] } } ] }\n",
           &h);
  assert_told(&h, "link 'FRAME': no mass, but joint 'FRAME' moves it and nothing heavier");
  assert_told(&h, "link 'TIP': no mass, but a joint moves it, 1 kg taken from its shapes");
  assert_near(tabi_model_mass(model), 2.001, 1e-12);
  tabi_model_destroy(model);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *words;
  } cases[] = {
      {"links: []\n",                                                           1, "no 'format: ChoreonoidBody'"},
      {HEAD "links: []\n",                                                      1, "body without links"         },
      {HEAD "links:\n  - { jointType: free }\n",                                6, "link without name"          },
      {HEAD "links:\n  - { name: A, jointType: knee }\n",                       6, "joint_type needs revolute"  },
      {HEAD "links:\n  - { name: A, translation: [ 1, 2 ] }\n",                 6, "translation needs 3 numbers"},
      {HEAD "links:\n  - { name: A, parent: B }\n",                             6, "parent 'B' does not exist"  },
      {HEAD "links:\n  - { name: A }\n  - { name: B }\n",                       7, "two root links"             },
      {HEAD "links:\n  - { name: A, parent: B }\n  - { name: B, parent: A }\n", 1, "no root link"               },
      {HEAD "links:\n  - { name: A, elements: *x }\n",                          6, "no anchor before it"        },
      {HEAD "links: &l\n  - { name: A, elements: *l }\n",                       6, "no anchor before it"        },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tabi_error error = {0};
    tabi_model *model = try_load(cases[i].text, NULL, &error);
    tabi_model_destroy(model);
    if (model || !strstr(error.message, cases[i].words))
      fail_msg("case %zu, line %d: %s", i, (int)error.line, error.message);
    assert_int_equal(error.line, cases[i].line);
  }
}

/* Aliases of aliases: nine to the twelfth values would be too many. */
static void test_bomb(void **state) {
  (void)state;
  char text[4000];
  size_t n = (size_t)snprintf(text, sizeof text, HEAD "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1]\n");
  for (int i = 1; i <= 12; ++i) {
    n += (size_t)snprintf(text + n, sizeof text - n, "a%d: &a%d [", i, i);
    for (int k = 0; k < 9; ++k)
      n += (size_t)snprintf(text + n, sizeof text - n, "%s*a%d", k ? ", " : "", i - 1);
    n += (size_t)snprintf(text + n, sizeof text - n, "]\n");
  }
  tabi_error error = {0};
  assert_null(try_load(text, NULL, &error));
  assert_non_null(strstr(error.message, "values"));
}

/* One column of a file of motion for two joints; bases and fixed joints have none. */
static void test_ids(void **state) {
  (void)state;
#define IDS(id, type)                                                                \
  HEAD "links:\n  - { name: A, jointType: free, jointId: 3 }\n"                      \
       "  - { name: B, parent: A, jointType: revolute, jointAxis: Z, jointId: 3 }\n" \
       "  - { name: C, parent: A, jointType: " type ", jointAxis: Z, jointId: " id " }\n"
  heard h;
  tabi_model_destroy(load(IDS("3", "revolute"), &h));
  assert_told(&h, "joint 'C': jointId 3 is that of 'B', too (line 7)");
  tabi_model_destroy(load(IDS("4", "revolute"), &h));
  assert_false(is_told(&h, "jointId"));
  tabi_model_destroy(load(IDS("3", "fixed"), &h));
  assert_false(is_told(&h, "jointId"));
}

/* Choreonoid's own samples, by figures counted from their text. */
static void test_samples(void **state) {
  (void)state;
  static const struct {
    const char *file;
    int nv, links;
    double mass;
  } cases[] = {
      {"SR1.body",              35, 30, 130.8    },
      {"ClosedLinkSample.body", 3,  4,  27.339292},
      {"SpringModel.body",      7,  2,  20       },
      {"ellipsoid1.body",       6,  1,  2        },
      {"pendulum.body",         1,  2,  11       },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char path[1024];
    tabi_error error = {0};
    (void)snprintf(path, sizeof path, "%s/robots/choreonoid/%s", TABI_EXTRA_DATA, cases[i].file);
    if (TABI_EXTRA_DATA[0] == '\0' || access(path, R_OK) != 0) skip();
    tabi_model *model = tabi_model_load(path, NULL, &error);
    if (!model) fail_msg("%s: %s", cases[i].file, error.message);
    assert_int_equal(tabi_model_nv(model), cases[i].nv);
    assert_int_equal(tabi_model_nlink(model), cases[i].links);
    assert_near(tabi_model_mass(model), cases[i].mass, 1e-9);
    tabi_model_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_joints),   cmocka_unit_test(test_rigid_bodies),
      cmocka_unit_test(test_elements), cmocka_unit_test(test_hinge),
      cmocka_unit_test(test_merge),    cmocka_unit_test(test_refused),
      cmocka_unit_test(test_bomb),     cmocka_unit_test(test_samples),
      cmocka_unit_test(test_massless), cmocka_unit_test(test_ids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
