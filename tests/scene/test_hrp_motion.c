/* test_hrp_motion.c - joint motion and bush constants of OpenHRP3 and Choreonoid in scenes. */
#include "support/load.h"
#include "support/near.h"
#include "support/scratch.h"

#include <string.h>

#define MOMENTS "mass 1 momentsOfInertia [ 1 0 0 0 1 0 0 0 1 ]"

/* the numbers of the joints are not their order */
static const char robot[] =
    "#VRML V2.0 utf8\n"
    "Humanoid { humanoidBody DEF W Joint { jointType \"fixed\" children [\n"
    " Segment { " MOMENTS " }\n"
    " DEF A Joint { jointType \"rotate\" jointId 1 children [ Segment { " MOMENTS " }\n"
    "  DEF B Joint { jointType \"slide\" jointId 0 children Segment { " MOMENTS " } } ] } ] } }\n";

static const char pos[] = "0.0  0.1 0.5\n# a remark\n1.0  0.2 0.7  \r\n2.0 0.2 0.7\n";
static const char seq[] = "type: CompositeSeq\ncontent: BodyMotion\nformatVersion: 2.0\n"
                          "components:\n"
                          "  - { type: MultiSE3Seq, content: LinkPosition, frames: [] }\n"
                          "  - type: MultiValueSeq\n"
                          "    content: JointDisplacement\n"
                          "    frameRate: 1\n"
                          "    numParts: 2\n"
                          "    frames: [ [ 0.1, 0.5 ], [ 0.2, 0.7 ], [ 0.2, 0.7 ] ]\n";

static const char scene[] =
    "gravity: [0, 0, 0]\n"
    "robots:\n"
    "  - {name: r, model: r.wrl, controller: {type: csv, file: %s, kp: 1e4, kd: 200}}\n";

static const char *write_scene(const char *motion) {
  char text[1000];
  (void)scratch_text("r.wrl", robot);
  (void)scratch_text("m.pos", pos);
  (void)scratch_text("m.seq", seq);
  (void)scratch_text("m.pos.gz", "x");
  (void)scratch_text("m.zmp", pos);
  (void)scratch_text("fast.pos", "0 0.1 0.5\n9 0.1 0.5\n");
  (void)scratch_text("fast.vel", "0 0.0 0.3\n9 0.0 0.3\n");
  (void)scratch_text("odd.pos", "0 0.1 0.5\n9 0.1 0.5\n");
  (void)scratch_text("odd.vel", "0 0.0\n9 0.0\n");
  (void)scratch_text("wide.pos", "0 1 2 3\n");
  (void)scratch_text("ragged.pos", "0 1 2\n1 1\n");
  (void)scratch_text("back.pos", "0 1 2\n0 1 2\n");
  text[0] = '\0';
  scratch_append(text, sizeof text, scene, motion);
  return scratch_text("s.yaml", text);
}

static double q_of(const scene_world *s, const char *joint) {
  const tabi_model *model = tabi_scene_model(s->scene);
  return tabi_world_q(
      s->world)[tabi_model_joint_q(model, tabi_model_find_joint(model, joint)).first];
}

static void test_follow(void **state) {
  (void)state;
  static const char *const files[] = {"m.pos", "m.seq"};
  for (int i = 0; i < 2; ++i) {
    scene_world s = scene_world_open(load_scene(write_scene(files[i]), NULL));
    // it starts where the motion starts
    assert_near(q_of(&s, "r/A"), 0.5, 0);
    assert_near(q_of(&s, "r/B"), 0.1, 0);
    while (tabi_world_time(s.world) < 2)
      step_world(s.scene, s.world);
    assert_near(q_of(&s, "r/A"), 0.7, 1e-3);
    assert_near(q_of(&s, "r/B"), 0.2, 1e-3);
    scene_world_close(&s);
  }
}

/* Speeds beside positions take the place of their slope: at rest the damper pulls by kd times the
 * desired velocity, against the spring. */
static void test_speeds(void **state) {
  (void)state;
  scene_world s = scene_world_open(load_scene(write_scene("fast.pos"), NULL));
  while (tabi_world_time(s.world) < 4)
    step_world(s.scene, s.world);
  assert_near(q_of(&s, "r/A"), 0.5 + 200 * 0.3 / 1e4, 1e-6);
  assert_near(q_of(&s, "r/B"), 0.1, 1e-6);
  scene_world_close(&s);
}

static void assert_refused(const char *path, const char *words) {
  tabi_error error = {0};
  tabi_scene *read = tabi_scene_load(path, NULL, &error);
  tabi_scene_destroy(read);
  if (read || !strstr(error.message, words)) fail_msg("%s: %s", path, error.message);
}

static void test_refused(void **state) {
  (void)state;
  assert_refused(write_scene("m.pos.gz"), "gunzip");
  assert_refused(write_scene("m.zmp"), "name the .pos file");
  assert_refused(write_scene("fast.vel"), "name the .pos file beside it, whose speeds they are");
  assert_refused(write_scene("odd.pos"), "1 columns of joints, but the .pos file beside it has 2");
  assert_refused(write_scene("wide.pos"), "3 columns, but the robot has 2 joints");
  assert_refused(write_scene("ragged.pos"), "row has 1 values, expected 2");
  assert_refused(write_scene("back.pos"), "does not rise");
}

static const char bushes[] = "robot_model_name: R\nbush_config: B,5.0e5,1.0e3 A,1.0e3,2.5e1\n";

static void assert_springs(const tabi_model *model, const char *prefix) {
  char name[20] = "";
  scratch_append(name, sizeof name, "%sB", prefix);
  tabi_joint_def b = tabi_model_joint(model, tabi_model_find_joint(model, name));
  assert_near(b.stiffness, 5e5, 0);
  assert_near(b.damping, 1e3, 0);
}

/* Named in the scene, and found beside the robot. */
static void test_bush(void **state) {
  (void)state;
  (void)scratch_text("plain.wrl", robot);
  (void)scratch_text("rubber.conf", bushes);
  tabi_scene *read = load_scene(
      scratch_text("b.yaml", "robots: [{name: r, model: plain.wrl, bush: rubber.conf}]\n"), NULL);
  assert_springs(tabi_scene_model(read), "r/");
  tabi_scene_destroy(read);
  (void)scratch_text("own.wrl", robot);
  (void)scratch_text("own_customizer_param.conf", bushes);
  tabi_model *model = tabi_model_load(scratch_path("own.wrl"), NULL, NULL);
  assert_non_null(model);
  assert_springs(model, "");
  tabi_model_destroy(model);
}

static void test_bad_bush(void **state) {
  (void)state;
  (void)scratch_text("plain.wrl", robot);
  const char *path =
      scratch_text("b.yaml", "robots: [{name: r, model: plain.wrl, bush: rubber.conf}]\n");
  (void)scratch_text("rubber.conf", "bush_config: NONE,1,2\n");
  assert_refused(path, "bush 'NONE'");
  (void)scratch_text("rubber.conf", "bush_config: B,1\n");
  assert_refused(path, "expected NAME,stiffness,damping");
  (void)scratch_text("rubber.conf", "bush_config: W,1,2\n");
  assert_refused(path, "no joint with one coordinate");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_speeds),   cmocka_unit_test(test_follow),
      cmocka_unit_test(test_refused),  cmocka_unit_test(test_bush),
      cmocka_unit_test(test_bad_bush),
  };
  return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
