/* test_biped.c - legs, soles and fronts are found in robots of any make, and what is no biped is
 * refused with the reason. */
#include "support/load.h"
#include "support/near.h"
#include "support/scene_build.h"
#include "tabi/tabi_control.h"
#include "tabi/tabi_io.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static tabi_model *load(const char *path, tabi_base base) {
  tabi_load_def def = tabi_load_def_default();
  def.base = base;
  tabi_error err = {0};
  tabi_model *model = tabi_model_load(path, &def, &err);
  if (!model) fail_msg("%s", err.message);
  return model;
}

typedef struct expected {
  const char *path;
  int32_t njoint;
  double front, length, width; /* x of the front; m */
} expected;

/* Soles level, on the ground, `spacing` apart, and the CoM above them. */
static void check_posture(const tabi_model *model, const tabi_biped *b, const double *q) {
  double *v = calloc((size_t)tabi_model_nv(model) + 1, sizeof *v);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  assert_non_null(d);
  tabi_dynamics_set_state(d, q, v);
  double com[3];
  double sole[2][3];
  tabi_dynamics_com(d, com);
  for (int i = 0; i < 2; ++i) {
    double pos[3];
    double quat[4];
    tabi_dynamics_link_pose(d, b->leg[i].foot, pos, quat);
    const double *o = b->leg[i].pos;
    double t[3] = {quat[2] * o[2] - quat[3] * o[1], quat[3] * o[0] - quat[1] * o[2],
                   quat[1] * o[1] - quat[2] * o[0]};
    const double s[3] = {quat[2] * t[2] - quat[3] * t[1], quat[3] * t[0] - quat[1] * t[2],
                         quat[1] * t[1] - quat[2] * t[0]};
    for (int k = 0; k < 3; ++k)
      sole[i][k] = pos[k] + o[k] + 2 * (quat[0] * t[k] + s[k]);
    assert_near(sole[i][2], 0.01, 1e-3);
  }
  double across = hypot(sole[0][0] - sole[1][0], sole[0][1] - sole[1][1]);
  assert_near(across, b->spacing, 2e-3);
  double ahead = 0;
  for (int k = 0; k < 2; ++k)
    ahead += (com[k] - 0.5 * (sole[0][k] + sole[1][k])) * b->front[k];
  assert_near(ahead, 0, 2e-3);
  tabi_dynamics_destroy(d);
  free(v);
}

static void check(const expected *e) {
  tabi_model *model = load(e->path, TABI_BASE_FREE);
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  tabi_biped b;
  tabi_error err = {0};
  tabi_model_initial_q(model, q);
  if (tabi_biped_find(model, TABI_NONE, q, NULL, &b, &err) != TABI_OK)
    fail_msg("%s: %s", e->path, err.message);
  assert_near(b.front[0], e->front, 1e-3);
  for (int i = 0; i < 2; ++i) {
    assert_int_equal(b.leg[i].njoint, e->njoint);
    assert_near(b.leg[i].length, e->length, 2e-3);
    assert_near(b.leg[i].width, e->width, 2e-3);
  }
  if (tabi_biped_stand(model, &b, 0, 0.01, q, &err) != TABI_OK)
    fail_msg("%s: %s", e->path, err.message);
  check_posture(model, &b, q);
  free(q);
  tabi_model_destroy(model);
}

static void link_origin(const tabi_dynamics *d, const tabi_model *model, const char *name,
                        double pos[3]) {
  double quat[4];
  tabi_dynamics_link_pose(d, tabi_model_find_link(model, name), pos, quat);
}

/* N m that the left knee of humanoid36 gives when its leg carries the robot alone: the weight on
 * the line from ankle to hip, at the distance by which the knee is ahead of it. */
static double knee_torque(const tabi_model *model, const double *q) {
  double *v = calloc((size_t)tabi_model_nv(model) + 1, sizeof *v);
  tabi_dynamics *d = tabi_dynamics_create(model, NULL);
  assert_non_null(d);
  tabi_dynamics_set_state(d, q, v);
  double hip[3];
  double knee[3];
  double ankle[3];
  link_origin(d, model, "robot/l_thigh", hip);
  link_origin(d, model, "robot/l_shank", knee);
  link_origin(d, model, "robot/l_ankle", ankle);
  tabi_dynamics_destroy(d);
  free(v);
  double up = hip[2] - ankle[2];
  double forward = hip[0] - ankle[0];
  double ahead = ((knee[0] - ankle[0]) * up - (knee[2] - ankle[2]) * forward) / hypot(up, forward);
  return tabi_model_mass(model) * 9.81 * ahead;
}

static double torque_for(const char *effort) {
  char text[512];
  (void)snprintf(text, sizeof text,
                 "robots: [{name: robot, model: models/humanoid36.urdf, base: free, "
                 "joints: {l_knee: {effort: %s}, r_knee: {effort: %s}}}]",
                 effort, effort);
  tabi_scene *knees = load_scene_text(text, TABI_SOURCE_DIR "/knees.yaml", NULL);
  const tabi_model *model = tabi_scene_model(knees);
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  tabi_biped b;
  tabi_error err = {0};
  tabi_model_initial_q(model, q);
  assert_int_equal(tabi_biped_find(model, TABI_NONE, q, NULL, &b, &err), TABI_OK);
  assert_int_equal(tabi_biped_stand(model, &b, 0, 0, q, &err), TABI_OK);
  double torque = knee_torque(model, q);
  free(q);
  tabi_scene_destroy(knees);
  return torque;
}

/* Knees bend less where 1 rad would take more than 0.6 of their effort limit. */
static void test_weak_knees(void **state) {
  (void)state;
  double bent = torque_for("1000");
  assert_near(torque_for("80"), 0.6 * 80, 0.5);
  assert_near(torque_for("100"), 0.6 * 100, 0.5);
  assert_true(bent > 0.6 * 100);
  assert_near(torque_for("200"), bent, 1e-9);
}

static void test_own(void **state) {
  (void)state;
  const expected own[] = {
      {TABI_SOURCE_DIR "/models/humanoid20.urdf", 6, 1, 0.1,   0.062},
      {TABI_SOURCE_DIR "/models/humanoid36.urdf", 6, 1, 0.245, 0.13 },
      {TABI_SOURCE_DIR "/models/figure40.urdf",   6, 1, 0.195, 0.09 },
  };
  for (size_t i = 0; i < sizeof own / sizeof *own; ++i)
    check(&own[i]);
}

/* As published: soles of spheres, boxes, meshes and welded links, and a robot that looks along -x.
 */
static void test_published(void **state) {
  (void)state;
  const expected theirs[] = {
      {TABI_EXTRA_DATA "/models/g1/g1.urdf",                           6, 1,  0.17,  0.06 },
      {TABI_EXTRA_DATA "/models/sr1/SR1.urdf",                         6, 1,  0.25,  0.14 },
      {TABI_EXTRA_DATA "/models/atlas/atlas_minimal_contact.urdf",     6, 1,  0.26,  0.129},
      {TABI_EXTRA_DATA "/robots/talos_data/robots/talos_reduced.urdf", 6, 1,  0.204, 0.124},
      {TABI_EXTRA_DATA "/robots/nao/naoV40_generated_urdf/nao.urdf",   6, 1,  0.111, 0.063},
      {TABI_EXTRA_DATA "/robots/icub/iCubGazeboV2_5.urdf",             6, -1, 0.16,  0.072},
  };
  FILE *there = fopen(theirs[0].path, "r");
  if (!there) skip();
  (void)fclose(there);
  for (size_t i = 0; i < sizeof theirs / sizeof *theirs; ++i)
    check(&theirs[i]);
}

static void refuse_model(const tabi_model *model, const char *reason) {
  double *q = calloc((size_t)tabi_model_nq(model) + 1, sizeof *q);
  tabi_biped b;
  tabi_error err = {0};
  tabi_model_initial_q(model, q);
  assert_int_equal(tabi_biped_find(model, TABI_NONE, q, NULL, &b, &err), TABI_ERR_MODEL);
  if (!strstr(err.message, reason)) fail_msg("not '%s': %s", reason, err.message);
  free(q);
}

static void refuse(const char *path, tabi_base base, const char *reason) {
  tabi_model *model = load(path, base);
  refuse_model(model, reason);
  tabi_model_destroy(model);
}

static void refuse_ball(void) {
  scene s = scene_begin();
  scene_plane(&s, 0, scene_material(&s, 0.5, 0));
  (void)scene_ball(&s, 1, 0.1, (v3){0, 0, 0.1}, TABI_NONE);
  scene_open(&s, NULL);
  refuse_model(s.model, "no limb reaches the ground");
  scene_close(&s);
}

/* A leg of six hinges whose foot is a capsule along x: it touches the ground along a line. */
static void add_skate(scene *s, int32_t pelvis, double y) {
  const v3 axis[6] = {
      {0, 0, 1},
      {1, 0, 0},
      {0, 1, 0},
      {0, 1, 0},
      {0, 1, 0},
      {1, 0, 0}
  };
  const double down[6] = {0, 0, 0, -0.4, -0.4, 0};
  int32_t link = pelvis;
  for (int i = 0; i < 6; ++i) {
    v3 at = v3_make(0, i == 0 ? y : 0, down[i]);
    tabi_joint_def hinge = scene_hinge(TABI_JOINT_REVOLUTE, link, at, axis[i]);
    link = scene_link(s, 1, v3_zero(), v3_make(0.01, 0.01, 0.01), hinge);
  }
  tabi_shape_def foot = tabi_shape_def_default();
  foot.type = TABI_SHAPE_CAPSULE;
  foot.link = link;
  foot.size[0] = 0.03;
  foot.size[1] = 0.2;
  foot.quat[0] = foot.quat[2] = sqrt(0.5);
  assert_true(tabi_builder_add_shape(s->builder, &foot) >= 0);
}

static void refuse_skates(void) {
  scene s = scene_begin();
  int32_t pelvis = scene_free(&s, 10, v3_make(0.1, 0.1, 0.1), v3_make(0, 0, 0.83));
  add_skate(&s, pelvis, 0.1);
  add_skate(&s, pelvis, -0.1);
  scene_open(&s, NULL);
  refuse_model(s.model, "touches level ground on 2");
  scene_close(&s);
}

static void test_refused(void **state) {
  (void)state;
  refuse(TABI_SOURCE_DIR "/models/humanoid36.urdf", TABI_BASE_FIXED, "free base");
  refuse(TABI_SOURCE_DIR "/models/humanoid36_parallel.urdf", TABI_BASE_FREE, "closes a loop");
  refuse(TABI_SOURCE_DIR "/models/chain.xml", TABI_BASE_AS_FILE, "free base");
  refuse_ball();
  refuse_skates();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_own),
      cmocka_unit_test(test_weak_knees),
      cmocka_unit_test(test_published),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
