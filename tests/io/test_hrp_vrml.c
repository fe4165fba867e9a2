/* test_hrp_vrml.c - robots in VRML, as OpenHRP3 describes them. */
#include "support/near.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define HEAD "#VRML V2.0 utf8\n"

typedef struct heard {
  int count;
  tabi_error told[64];
} heard;

static void listen(void *user, const tabi_error *told) {
  heard *h = user;
  if (h->count < 64) h->told[h->count++] = *told;
}

static tabi_model *try_load(const char *text, const char *path, heard *h, tabi_error *error) {
  tabi_load_def def = tabi_load_def_default();
  if (h) {
    *h = (heard){0};
    def.warn = listen;
    def.warn_user = h;
  }
  tabi_builder *builder = tabi_builder_create();
  assert_non_null(builder);
  tabi_status status = tabi_builder_load_text(builder, text, strlen(text), path, &def, error);
  tabi_model *model = status == TABI_OK ? tabi_builder_build(builder, error) : NULL;
  tabi_builder_destroy(builder);
  return model;
}

static tabi_model *load(const char *text, heard *h) {
  tabi_error error = {0};
  tabi_model *model = try_load(text, "dir/r.wrl", h, &error);
  if (!model) fail_msg("%d: %s", (int)error.line, error.message);
  return model;
}

static void assert_told(const heard *h, const char *words) {
  for (int i = 0; i < h->count; ++i) {
    if (strstr(h->told[i].message, words)) return;
  }
  fail_msg("nobody told '%s'", words);
}

static void assert_refused(const char *text, int line, const char *words) {
  tabi_error error = {0};
  tabi_model *model = try_load(text, "dir/r.wrl", NULL, &error);
  tabi_model_destroy(model);
  if (model) fail_msg("not refused: %s", text);
  if (!strstr(error.message, words)) fail_msg("'%s' is not in: %s", words, error.message);
  assert_int_equal(error.line, line);
}

static tabi_joint_def joint(const tabi_model *model, const char *name) {
  int32_t index = tabi_model_find_joint(model, name);
  assert_int_not_equal(index, TABI_NONE);
  return tabi_model_joint(model, index);
}

/* clang-format off */
static const char arm[] = HEAD
  "PROTO Joint [ exposedField MFFloat llimit [] exposedField SFString jointType \"\"\n"
  "  exposedField SFInt32 jointId -1 exposedField SFVec3f jointAxis 0 0 1\n"
  "  exposedField MFNode children [] eventIn MFNode addChildren ]\n"
  "{ Transform { children IS children } ROUTE A.b TO C.d }\n"
  "PROTO Segment [ exposedField SFFloat mass 0 ] { Group { } }\n"
  "DEF LOOP ExtraJoint { link1Name \"UPPER\" link2Name \"LOWER\" link1LocalPos 0 0 1\n"
  "  jointType \"xy\" jointAxis 0 1 0 }\n"
  "DEF ARM Humanoid { humanoidBody [\n"
  " DEF BASE Joint { jointType \"free\", translation 1, 2, 3 # commas are space\n"
  "  children [\n"
  "   DEF B Segment { mass 3 centerOfMass 0 0 0.5 momentsOfInertia [ 2 0 0 0 2 0 0 0 1 ] }\n"
  "   Transform { translation 1 0 0 children Segment { mass 1 } }\n"
  "   DEF IMU Gyro { sensorId 0 maxAngularVelocity 5 5 -1 }\n"
  "   DEF EYE VisionSensor { sensorId 0 }\n"
  "   DEF UPPER Joint { jointType \"rotate\" jointId 1 jointAxis \"Y\" translation 0 0 1\n"
  "    llimit -1 ulimit [ 2 ] uvlimit [4] lvlimit [-3] climit [2] gearRatio 50\n"
  "    rotorInertia 1e-4 torqueConst 0.1 rotorResistor 2\n"
  "    children [ Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] children [\n"
  "      Shape { geometry DEF CAN Cylinder { radius 0.1 height 0.5 }\n"
  "        appearance Appearance { material Material { diffuseColor 1 0 0 } } }\n"
  "      Transform { scale 1 2 1 children Shape { geometry USE CAN } }\n"
  "      Transform { scale 1 2 3 children Shape { geometry Sphere { radius 1 } } } ] }\n"
  "     DEF FT ForceSensor { translation 0 0 0.2 maxForce 100 100 200 }\n"
  "     DEF LOWER Joint { jointType \"slide\" jointId 0 children Segment { mass 1 } } ] }\n"
  "  ] } ] }\n";
/* clang-format on */

static void test_tree(void **state) {
  (void)state;
  heard h;
  tabi_model *model = load(arm, &h);
  assert_int_equal(tabi_model_nv(model), 8);
  assert_near(tabi_model_mass(model), 6, 1e-12);
  tabi_joint_def upper = joint(model, "UPPER");
  assert_int_equal(upper.type, TABI_JOINT_REVOLUTE);
  assert_near(upper.axis[1], 1, 0);
  assert_near(upper.lower, -1, 0);
  assert_near(upper.upper, 2, 0);
  assert_near(upper.velocity, 3, 0);
  assert_near(upper.effort, 2 * 50 * 0.1, 1e-12);
  assert_near(upper.rotor_inertia * upper.gear * upper.gear, 1e-4 * 2500, 1e-12);
  tabi_joint_def lower = joint(model, "LOWER");
  assert_int_equal(lower.type, TABI_JOINT_PRISMATIC);
  assert_true(isinf(lower.lower) && isinf(lower.upper));
  double q[9];
  tabi_model_initial_q(model, q);
  assert_near(q[0], 1, 0);
  assert_near(q[2], 3, 0);
  assert_told(&h, "VisionSensor EYE is ignored");
  assert_told(&h, "Joint rotorResistor is ignored");
  tabi_model_destroy(model);
}

/* Two segments on one joint: 3 kg at z = 0.5 and 1 kg at x = 1. */
static void test_segments(void **state) {
  (void)state;
  tabi_model *model = load(arm, NULL);
  tabi_link_def base = tabi_model_link(model, tabi_model_find_link(model, "BASE"));
  assert_near(base.mass, 4, 0);
  assert_near(base.com[0], 0.25, 1e-15);
  assert_near(base.com[2], 0.375, 1e-15);
  // reduced mass 3/4 kg at a distance of (1, 0, -0.5)
  assert_near(base.inertia[0], 2 + 0.75 * 0.25, 1e-12);
  assert_near(base.inertia[1], 2 + 0.75 * 1.25, 1e-12);
  assert_near(base.inertia[4], 0.75 * 0.5, 1e-12);
  tabi_model_destroy(model);
}

static void test_shapes(void **state) {
  (void)state;
  tabi_model *model = load(arm, NULL);
  assert_int_equal(tabi_model_nshape(model), 3);
  tabi_shape_def can = tabi_model_shape(model, 0);
  assert_int_equal(can.type, TABI_SHAPE_CYLINDER);
  assert_near(can.size[1], 0.5, 0);
  assert_near(can.rgba[0], 1, 0);
  assert_near(can.rgba[1], 0, 0);
  // the axis of VRML's cylinder is y
  assert_near(fabs(can.quat[1]), sqrt(0.5), 1e-12);
  assert_near(tabi_model_shape(model, 1).size[1], 1, 1e-12);
  tabi_shape_def egg = tabi_model_shape(model, 2);
  assert_int_equal(egg.type, TABI_SHAPE_ELLIPSOID);
  assert_near(egg.size[2], 3, 1e-12);
  tabi_model_destroy(model);
}

static void test_sensors_and_loops(void **state) {
  (void)state;
  tabi_model *model = load(arm, NULL);
  assert_int_equal(tabi_model_nsensor(model), 2);
  tabi_sensor_def gyro = tabi_model_sensor(model, 0);
  assert_string_equal(gyro.name, "IMU");
  assert_near(gyro.range[0], 5, 0);
  assert_true(isinf(gyro.range[2]));
  tabi_sensor_def force = tabi_model_sensor(model, 1);
  assert_int_equal(force.type, TABI_SENSOR_FORCE_TORQUE);
  assert_near(force.pos[2], 0.2, 0);
  assert_near(force.range[2], 200, 0);
  assert_int_equal(tabi_model_nconnection(model), 1);
  tabi_connection_def loop = tabi_model_connection(model, 0);
  assert_int_equal(loop.type, TABI_CONNECTION_AXES);
  assert_int_equal(loop.axes, TABI_MOVE_X | TABI_MOVE_Y);
  // z of the frame is the axis that stays free
  double w = loop.quat_a[0];
  double x = loop.quat_a[1];
  assert_near(2 * w * x, -1, 1e-12);
  tabi_model_destroy(model);
}

/* A PROTO of a file's own stands for what is in it. */
static void test_proto(void **state) {
  (void)state;
  tabi_model *model =
      load(HEAD "PROTO Wheel [ field SFFloat r 0.5 field SFVec3f at 0 0 0 ]\n"
                "{ Transform { translation IS at children Shape { geometry Sphere { radius IS r } "
                "} } }\n"
                "Humanoid { humanoidBody DEF A Joint { jointType \"fixed\" children [\n"
                " Wheel { at 1 0 0 } Wheel { r 2 } ] } }",
           NULL);
  assert_int_equal(tabi_model_nshape(model), 2);
  assert_near(tabi_model_shape(model, 0).size[0], 0.5, 0);
  assert_near(tabi_model_shape(model, 0).pos[0], 1, 0);
  assert_near(tabi_model_shape(model, 1).size[0], 2, 0);
  tabi_model_destroy(model);
}

/* Convex faces collide by their hull; others only where they stand in the world. */
static void test_faces(void **state) {
  (void)state;
  static const char cube[] =
      HEAD "Humanoid { humanoidBody DEF A Joint { jointType \"%s\" children Segment { mass 1\n"
           "momentsOfInertia [1 0 0 0 1 0 0 0 1] children Shape { geometry IndexedFaceSet {\n"
           "coord Coordinate { point [ %s ] } coordIndex [ %s ] } } } } }";
  static const char points[] = "0 0 0 0 1 0 0 1 1 0 0 1, 1 0 0 1 1 0 1 1 1 1 0 1";
  static const char closed[] = "0 1 2 3 -1 7 6 5 4 -1 0 4 5 1 -1 1 5 6 2 -1 2 6 7 3 -1 3 7 4 0 -1";
  static const char open[] = "0 1 2 3 -1 7 6 5 4 -1 0 4 5 1 -1";
  char text[2000];
  (void)snprintf(text, sizeof text, cube, "fixed", points, closed);
  tabi_model *model = load(text, NULL);
  assert_int_equal(tabi_model_nshape(model), 2);
  assert_int_equal(tabi_model_shape(model, 1).type, TABI_SHAPE_MESH);
  tabi_model_destroy(model);
  (void)snprintf(text, sizeof text, cube, "fixed", points, open);
  model = load(text, NULL);
  assert_int_equal(tabi_model_shape(model, 1).type, TABI_SHAPE_TRIANGLES);
  tabi_model_destroy(model);
  (void)snprintf(text, sizeof text, cube, "free", points, open);
  model = load(text, NULL);
  assert_int_equal(tabi_model_shape(model, 1).type, TABI_SHAPE_MESH);
  tabi_model_destroy(model);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *words;
  } cases[] = {
      {"Humanoid { }\n",                                                            1, "the first line is not '#VRML V2.0 utf8'"   },
      {HEAD "Group {\n bboxSize one }",                                             3, "'one' is no value, and no node without { }"},
      {"#VRML V1.0 ascii\n",                                                        1, "convert it to VRML 2.0"                    },
      {HEAD "Group {\n children [ Shape { } \n",                                    4, "the file ends"                             },
      {HEAD "Group { children USE NONE }",                                          2, "no DEF before it"                          },
      {HEAD "DEF A Group {\n children USE A }",                                     3, "no DEF before it"                          },
      {HEAD "Group {\n children [ 1 Shape { } ] }",                                 3, "mixes"                                     },
      {HEAD "Group { name \"open }",                                                2, "a string does not end"                     },
      {HEAD "Box { size 1 2x 3 }",                                                  2, "'2x' is not a number"                      },
      {HEAD "Humanoid { }",                                                         2, "Humanoid without a Joint"                  },
      {HEAD "Humanoid { humanoidBody\n DEF A Joint { jointType \"hinge\" } }",      3,
       "unknown jointType 'hinge'"                                                                                                 },
      {HEAD "Humanoid { humanoidBody\n DEF A Joint { translation 1 2 } }",          3,
       "needs 3 numbers, got 2"                                                                                                    },
      {HEAD "Humanoid { humanoidBody\n DEF A Joint { translation 1 2 1e999 } }",    3,
       "too large a number"                                                                                                        },
      {HEAD "Humanoid { humanoidBody DEF A Joint { children\n DEF A Joint { } } }", 3,
       "defined twice"                                                                                                             },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    assert_refused(cases[i].text, cases[i].line, cases[i].words);
}

/* A message is one line, whatever a string holds. */
static void test_one_line(void **state) {
  (void)state;
  tabi_error error = {0};
  assert_null(try_load(HEAD "Humanoid { humanoidBody DEF A Joint { jointType \"a\nb\" } }",
                       "dir/r.wrl", NULL, &error));
  assert_null(strchr(error.message, '\n'));
  assert_null(try_load(HEAD "Group \"a\nb\"", "dir/r.wrl", NULL, &error));
  assert_null(strchr(error.message, '\n'));
}

/* An Inline stays in the package, whether or not something is there. */
static void test_outside(void **state) {
  (void)state;
  static const char text[] =
      HEAD "Humanoid { humanoidBody DEF A Joint { jointType \"fixed\" children\n"
           "Inline { url \"../../../../../../etc/passwd.wrl\" } } }";
  tabi_error error = {0};
  assert_null(try_load(text, TABI_SOURCE_DIR "/docs/r.wrl", NULL, &error));
  assert_non_null(strstr(error.message, "outside"));
  assert_int_equal(error.line, 3);
}

/* Neither USE of USE of ... nor nesting costs more than a message. */
static void test_bombs(void **state) {
  (void)state;
  static char text[200000];
  size_t n = (size_t)snprintf(text, sizeof text, HEAD "DEF G0 Shape { geometry Box { } }\n");
  for (int i = 1; i <= 60; ++i) {
    n += (size_t)snprintf(text + n, sizeof text - n,
                          "DEF G%d Group { children [ USE G%d USE G%d ] }\n", i, i - 1, i - 1);
  }
  tabi_error error = {0};
  assert_null(try_load(text, "dir/r.wrl", NULL, &error));
  n = (size_t)snprintf(text, sizeof text, HEAD);
  for (int i = 0; i < 5000; ++i)
    n += (size_t)snprintf(text + n, sizeof text - n, "Group { children ");
  assert_null(try_load(text, "dir/r.wrl", NULL, &error));
  assert_non_null(strstr(error.message, "nesting depth"));
}

/* Every model of OpenHRP3 at hand, by counts made from the files by other means. */
static void test_openhrp(void **state) {
  (void)state;
  static const struct {
    const char *file;
    int nv, links, connections;
    double mass;
  } cases[] = {
      {"sample1.wrl",            35, 30, 0, 130.8    },
      {"sample1_bush.wrl",       53, 48, 0, 130.8    },
      {"closed-link-sample.wrl", 3,  4,  1, 27.339292},
      {"box2.wrl",               6,  1,  0, 12.8     },
      {"floor.wrl",              0,  1,  0, 0.5      },
      {"longfloor.wrl",          0,  1,  0, 0.5      },
      {"slopes_on_floor.wrl",    0,  1,  0, 0.5      },
      {"boxes_on_floor.wrl",     0,  1,  0, 0.5      },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    char path[1024];
    tabi_error error = {0};
    (void)snprintf(path, sizeof path, "%s/robots/openhrp3/model/%s", TABI_EXTRA_DATA,
                   cases[i].file);
    if (TABI_EXTRA_DATA[0] == '\0' || access(path, R_OK) != 0) skip();
    tabi_model *model = tabi_model_load(path, NULL, &error);
    if (!model) fail_msg("%s: %s", cases[i].file, error.message);
    assert_int_equal(tabi_model_nv(model), cases[i].nv);
    assert_int_equal(tabi_model_nlink(model), cases[i].links);
    assert_int_equal(tabi_model_nconnection(model), cases[i].connections);
    assert_near(tabi_model_mass(model), cases[i].mass, 1e-9);
    tabi_model_destroy(model);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tree),     cmocka_unit_test(test_segments),
      cmocka_unit_test(test_shapes),   cmocka_unit_test(test_sensors_and_loops),
      cmocka_unit_test(test_proto),    cmocka_unit_test(test_faces),
      cmocka_unit_test(test_refused),  cmocka_unit_test(test_bombs),
      cmocka_unit_test(test_one_line), cmocka_unit_test(test_outside),
      cmocka_unit_test(test_openhrp),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
