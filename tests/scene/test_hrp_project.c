/* test_hrp_project.c - projects of OpenHRP3 run as scenes. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ITEM(kind, name, more) \
  "<item class='com.generalrobotix.ui.item." kind "' name='" name "' " more ">\n"
#define PROPERTY(name, value) "<property name='" name "' value='" value "'/>\n"
#define PROJECT(items)        "<grxui><mode name='Simulation'>\n" items "</mode></grxui>\n"

static const char brick[] = "#VRML V2.0 utf8\n"
                            "Humanoid { humanoidBody DEF W Joint { jointType \"free\" children [\n"
                            " Segment { mass 2 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ]\n"
                            "  children Shape { geometry Box { size 1 1 1 } } }\n"
                            " DEF LID Joint { jointType \"rotate\" jointAxis 1 0 0 children\n"
                            "  Segment { mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ] } } ] } }\n";
static const char floor_model[] =
    "#VRML V2.0 utf8\n"
    "Humanoid { humanoidBody DEF W Joint { jointType \"fixed\" children\n"
    " Segment { mass 1 children Shape { geometry Box { size 9 9 2 } } } } }\n";

static const char project[] = PROJECT(
    ITEM("GrxSimulationItem", "s", "") PROPERTY("totalTime", "0.5 ") PROPERTY("timeStep", "0.002")
        PROPERTY("gravity", "1.5 ") PROPERTY("method", "RUNGE_KUTTA") "</item>" ITEM(
            "GrxModelItem", "floor", "url='$(PROJECT_DIR)/../model/floor.wrl'")
            PROPERTY("W.translation", "0 0 -1 ") "</item>" ITEM(
                "GrxModelItem", "a", "url='$(CURRENT_DIR)/../model/brick.wrl'")
                PROPERTY("W.translation", "0 0 0.5 ") PROPERTY("W.rotation", "0 0 2 0.5 ")
                    PROPERTY("LID.angle", "0.25") PROPERTY("LID.mode", "HighGain")
                        PROPERTY("controller", "Walker") "</item>" ITEM(
                            "GrxModelItem", "b", "url='$(CURRENT_DIR)/../model/brick.wrl'")
                            PROPERTY("W.translation", "3 0 0.5 ")
                                PROPERTY("W.velocity", "0.125 0 0") "</item>" ITEM(
                                    "GrxModelItem", "away",
                                    "select='false' url='nowhere.wrl'") "</item>" ITEM("GrxCollisio"
                                                                                       "nPairItem",
                                                                                       "CP", "")
                                    PROPERTY("objectName1", "floor") PROPERTY("objectName2", "a")
                                        PROPERTY("staticFriction", "0.8")
                                            PROPERTY("slidingFriction", "0.6") "</item>");

static int heard_controller;

static void listen(void *user, const tabi_error *told) {
  (void)user;
  if (strstr(told->message, "controller is ignored")) ++heard_controller;
}

static const char *write_project(const char *text) {
  (void)scratch_text("model/brick.wrl", brick);
  (void)scratch_text("model/floor.wrl", floor_model);
  return scratch_text("project/p.xml", text);
}

static void test_settings(void **state) {
  (void)state;
  tabi_scene_def def = tabi_scene_def_default();
  def.warn = listen;
  tabi_scene *scene = load_scene(write_project(project), &def);
  tabi_world_def world = tabi_scene_world_def(scene);
  assert_near(world.timestep, 0.002, 0);
  assert_near(world.gravity[2], -1.5, 0);
  assert_int_equal(world.integrator, TABI_SEMI_IMPLICIT); // models may touch
  assert_near(tabi_scene_duration(scene), 0.5, 0);
  assert_string_equal(tabi_scene_name(scene), "p");
  assert_int_equal(tabi_scene_nrobot(scene), 3);
  assert_int_equal(heard_controller, 1);
  tabi_scene_destroy(scene);
}

/* Of what floats. */
static double link_z(const tabi_scene *scene, const tabi_world *world, const char *name) {
  const tabi_model *model = tabi_scene_model(scene);
  int32_t link = tabi_model_find_link(model, name);
  assert_int_not_equal(link, TABI_NONE);
  return tabi_world_q(
      world)[tabi_model_joint_q(model, tabi_model_link_joint(model, link)).first + 2];
}

/* The first brick rests on the floor; the second has no pair with it and falls through. */
static void test_motion(void **state) {
  (void)state;
  scene_world s = scene_world_open(load_scene(write_project(project), NULL));
  const tabi_model *model = tabi_scene_model(s.scene);
  int32_t lid = tabi_model_find_joint(model, "a/LID");
  while (tabi_world_time(s.world) < 0.5 - 1e-9)
    step_world(s.scene, s.world);
  assert_near(link_z(s.scene, s.world, "a/W"), 0.5, 1e-4);
  assert_near(link_z(s.scene, s.world, "b/W"), 0.5 - 0.5 * 1.5 * 0.25, 2e-3);
  assert_near(tabi_world_q(s.world)[tabi_model_joint_q(model, lid).first], 0.25, 1e-12);
  int32_t b = tabi_model_find_joint(model, "b/W");
  assert_near(tabi_world_v(s.world)[tabi_model_joint_v(model, b).first], 0.125, 1e-9);
  scene_world_close(&s);
}

/* Changes reach into a project as into a scene. */
static void test_set(void **state) {
  (void)state;
  static const char *const changes[] = {"timestep=1e-3", "robots.a.xyz=[0, 0, 4]"};
  tabi_scene_def def = tabi_scene_def_default();
  def.set = changes;
  def.nset = 2;
  scene_world s = scene_world_open(load_scene(write_project(project), &def));
  assert_near(link_z(s.scene, s.world, "a/W"), 4, 1e-12);
  assert_near(tabi_scene_world_def(s.scene).timestep, 1e-3, 0);
  scene_world_close(&s);
}

static void test_refused(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int line;
    const char *words;
  } cases[] = {
      {PROJECT(""),                      1,   "no model is selected"                    },
      {PROJECT(ITEM("GrxModelItem",      "a", "url='../../../../etc/passwd'") "</item>"), 2, "outside"},
      {PROJECT(ITEM("GrxModelItem",                       "a",                          "url='missing.wrl'") "</item>"),                                          2, "is not there"},
      {PROJECT(ITEM("GrxSimulationItem", "s","") PROPERTY("timeStep","x") "</item>"), 3,
       "timeStep"},
      {PROJECT(ITEM("GrxSimulationItem", "s", "") PROPERTY("method",                                           "RK9") "</item>"), 3,
       "unknown method"},
      {PROJECT(ITEM("GrxModelItem",                               "a",                            "url='../model/brick.wrl'")
                   PROPERTY("W.translation",                                                                      "1 2") "</item>"),
       3, "needs 3 numbers"},
      {"<world/>",                             1,           "is a robot, not a scene"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tabi_error error = {0};
    assert_null(tabi_scene_load(write_project(cases[i].text), NULL, &error));
    if (!strstr(error.message, cases[i].words)) fail_msg("case %zu: %s", i, error.message);
    assert_int_equal(error.line, cases[i].line);
  }
}

static double turn_of(const scene_world *s, const char *joint) {
  const tabi_model *model = tabi_scene_model(s->scene);
  int32_t index = tabi_model_find_joint(model, joint);
  assert_int_not_equal(index, TABI_NONE);
  return tabi_world_q(s->world)[tabi_model_joint_q(model, index).first];
}

/* OpenHRP3's own project moves as the scene that was made from its figures.  The project rounds
 * 45 degrees to 0.785398 rad and 90 to 1.571. */
static void test_closed_link(void **state) {
  (void)state;
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/robots/openhrp3/project/closedLink.xml", TABI_EXTRA_DATA);
  if (TABI_EXTRA_DATA[0] == '\0' || access(path, R_OK) != 0) skip();
  scene_world a = scene_world_open(load_scene(path, NULL));
  scene_world b = scene_world_open(load_shipped_scene("closed_link", NULL));
  double worst = 0;
  for (int i = 0; i < 5000; ++i) {
    step_world(a.scene, a.world);
    step_world(b.scene, b.world);
    // the crank of the file points along y, that of the scene along x
    double differs = turn_of(&a, "closed-link-sample/J0") + turn_of(&b, "link/left") + M_PI / 2;
    worst = fmax(worst, fabs(differs));
  }
  print_message("closedLink.xml and closed_link.yaml differ by %.2g rad in 5 s\n", worst);
  assert_true(worst < 1e-5);
  scene_world_close(&a);
  scene_world_close(&b);
}

/* Likewise, until impacts have magnified the seventh digit of the scene's rotations. */
static void test_falling_boxes(void **state) {
  (void)state;
  char path[1024];
  (void)snprintf(path, sizeof path, "%s/robots/openhrp3/project/FallingBoxes.xml", TABI_EXTRA_DATA);
  if (TABI_EXTRA_DATA[0] == '\0' || access(path, R_OK) != 0) skip();
  scene_world a = scene_world_open(load_scene(path, NULL));
  scene_world b = scene_world_open(load_shipped_scene("falling_boxes", NULL));
  for (int i = 0; i < 1000; ++i) {
    step_world(a.scene, a.world);
    step_world(b.scene, b.world);
  }
  for (int i = 1; i <= 4; ++i) {
    char names[2][32];
    (void)snprintf(names[0], sizeof names[0], "box%d/WAIST", i);
    (void)snprintf(names[1], sizeof names[1], "box%d", i);
    assert_near(link_z(a.scene, a.world, names[0]), link_z(b.scene, b.world, names[1]), 1e-4);
  }
  scene_world_close(&a);
  scene_world_close(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_settings),    cmocka_unit_test(test_motion),
      cmocka_unit_test(test_set),         cmocka_unit_test(test_refused),
      cmocka_unit_test(test_closed_link), cmocka_unit_test(test_falling_boxes),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
