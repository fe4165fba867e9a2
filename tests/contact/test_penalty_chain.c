/* test_penalty_chain.c - chains that lie on the ground under penalty.
 *
 * Springs to the ground are solved along the trees, without a contact matrix; where anything in the
 * world is connected they are not.  So the same chain must fall, slide and come to lie the same
 * way whether or not two balls far away are connected. */
#include "support/near.h"
#include "support/scene_build.h"

enum { LINKS = 24, STEPS = 400 };

/* alternately free to nod and to turn, with limits, damping and dry friction, a ball at each link
 */
static int32_t add_chain(scene *s, int32_t stuff) {
  int32_t first = scene_free(s, 1, v3_make(2e-3, 2e-3, 2e-3), v3_make(0, 0, 0.06));
  int32_t last = first;
  for (int i = 0; i < LINKS; ++i) {
    if (i > 0) {
      v3 axis = i % 2 ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
      tabi_joint_def joint =
          scene_hinge(TABI_JOINT_REVOLUTE, last, v3_make(0.12, 0, 0.002 * (i % 3)), axis);
      joint.damping = 0.05;
      joint.friction = 0.02;
      joint.lower = -0.2;
      joint.upper = 0.2;
      last = scene_link(s, 1, v3_zero(), v3_make(2e-3, 2e-3, 2e-3), joint);
    }
    (void)scene_shape(s, TABI_SHAPE_SPHERE, last, v3_make(0.05, 0, 0), stuff);
  }
  return first;
}

static void add_connected_balls(scene *s, int32_t stuff) {
  int32_t ball[2];
  for (int i = 0; i < 2; ++i)
    ball[i] = scene_ball(s, 1, 0.05, v3_make(-5, 0.2 * i, 0.05), stuff);
  tabi_connection_def rod = tabi_connection_def_default();
  rod.type = TABI_CONNECTION_ROD;
  rod.a = ball[0];
  rod.b = ball[1];
  rod.length = 0.2;
  (void)tabi_builder_add_connection(s->builder, &rod);
}

static scene begin(bool connected, int32_t *first) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.4, 0);
  scene_plane(&s, 0, stuff);
  *first = add_chain(&s, stuff);
  if (connected) add_connected_balls(&s, stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = TABI_CONTACT_PENALTY;
  scene_open(&s, &def);
  scene_set_velocity(&s, *first, v3_make(0.5, 1, 0), v3_make(0, 0, 1));
  return s;
}

static void connections_elsewhere_change_nothing(void **state) {
  (void)state;
  scene s[2];
  int32_t first;
  for (int i = 0; i < 2; ++i)
    s[i] = begin(i == 1, &first);
  int32_t nq = tabi_model_nq(s[0].model);
  int32_t max = 0;
  double worst = 0;
  for (int step = 0; step < STEPS; ++step) {
    for (int i = 0; i < 2; ++i) {
      scene_run(&s[i], 1);
      assert_true(tabi_world_certificate(s[i].world).converged);
    }
    int32_t count = 0;
    (void)tabi_world_contacts(s[0].world, &count);
    max = count > max ? count : max;
    for (int32_t k = 0; k < nq; ++k)
      worst = fmax(worst, fabs(tabi_world_q(s[0].world)[k] - tabi_world_q(s[1].world)[k]));
  }
  double way = hypot(scene_q(&s[0], first)[0], scene_q(&s[0], first)[1]);
  print_message("%d contacts at most, moved by %.3f m, apart by %.1e\n", (int)max, way, worst);
  assert_true(max >= LINKS / 2 && way > 0.05);
  assert_near(worst, 0, 1e-5);
  for (int i = 0; i < 2; ++i)
    scene_close(&s[i]);
}

/* A box that static friction holds, beyond what kinetic friction would, is dragged as far as its
 * springs deflection: by the push over their stiffness. */
static void held_box_is_dragged_by_its_springs(void **state) {
  (void)state;
  const double push = 0.5 * GRAVITY, stiffness = 1e4;
  scene s = scene_begin();
  tabi_material_def rubber = tabi_material_def_default();
  rubber.friction = 0.8;
  rubber.kinetic = 0.2;
  rubber.stiffness = 2 * stiffness;
  rubber.damping = 100;
  rubber.slip_speed = 0.1;
  int32_t stuff = tabi_builder_add_material(s.builder, &rubber);
  scene_plane(&s, 0, stuff);
  int32_t box = scene_box(&s, 1, v3_make(0.2, 0.2, 0.02), v3_make(0, 0, 0.01), stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = TABI_CONTACT_PENALTY;
  scene_open(&s, &def);
  scene_run(&s, 500);
  double before = scene_q(&s, box)[0];
  for (int step = 0; step < 4000; ++step) {
    scene_push(&s, box, v3_make(push * fmin(step / 2000.0, 1), 0, 0));
    scene_run(&s, 1);
  }
  /* the soles are below the middle of the box, which leans a little */
  double dragged = scene_q(&s, box)[0] - before;
  print_message("dragged by %.6f mm\n", 1e3 * dragged);
  assert_near(dragged / (push / (4 * stiffness)), 1, 0.02);
  scene_close(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(connections_elsewhere_change_nothing),
      cmocka_unit_test(held_box_is_dragged_by_its_springs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
