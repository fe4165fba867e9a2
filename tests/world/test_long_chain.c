/* test_long_chain.c - long chains that stand on the floor: the arm from the tree's origin to the
 * contact is hundreds of times the size of the link that touches, but the floor holds the chain. */
#include "support/near.h"
#include "support/scene_build.h"

#include "chain.h"

/* a straight chain on hinges about x and y in turn, its lower end a gap above the floor */
static int32_t build_chain(scene *s, int32_t links, tabi_joint_type base, double gap) {
  *s = scene_begin();
  int32_t steel = scene_material(s, 0.5, 0);
  scene_plane(s, 0, steel);
  double top = LINK * links - CLEAR + gap;
  int32_t link =
      add_link(s, scene_hinge(base, TABI_WORLD, v3_make(0, 0, top), v3_make(1, 0, 0)), steel);
  for (int32_t i = 1; i < links; ++i) {
    v3 axis = i % 2 ? v3_make(0, 1, 0) : v3_make(1, 0, 0);
    link = add_link(s, scene_hinge(TABI_JOINT_CONTINUOUS, link, v3_make(0, 0, -LINK), axis), steel);
  }
  return link;
}

static void open_by(scene *s, tabi_contact_kind method) {
  tabi_world_def def = scene_def(s);
  def.contact = method;
  def.max_contacts = 64;
  scene_open(s, &def);
}

static double lower_end(scene *s, int32_t link) {
  double at[3];
  double quat[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(s->world), link, at, quat);
  m3 turned = q_matrix(q_load(quat));
  return at[2] + m3_mulv(&turned, v3_make(0, 0, CLEAR - LINK)).z;
}

/* the velocity of the lower end, upwards */
static double rising(scene *s, int32_t link) {
  double lin[3];
  double ang[3];
  tabi_dynamics_link_velocity(tabi_world_dynamics(s->world), link, lin, ang);
  return lin[2];
}

/* A chain that falls by 1e-5 m, in less than two steps, is stopped and stays stopped: the floor
 * takes the momentum of the whole chain. */
static void stop_chain(int32_t links, tabi_contact_kind method) {
  scene s;
  const int64_t steps = 3;
  int32_t last = build_chain(&s, links, TABI_JOINT_FREE, 1e-5);
  open_by(&s, method);
  double taken = 0;
  for (int64_t i = 0; i < steps; ++i) {
    scene_run(&s, 1);
    taken += scene_impulse(&s, last).z;
  }
  assert_near(lower_end(&s, last), 0, 1e-9);
  assert_near(rising(&s, last), 0, 1e-5);
  double weight = GRAVITY * MASS * links;
  assert_near(taken, weight * 1e-3 * (double)steps, 1e-3 * taken);
  scene_close(&s);
}

/* Springs are not rigid: they yield by the weight over their stiffness, where a free fall would be
 * 7.8 mm. */
static void catch_chain(int32_t links) {
  scene s;
  int32_t last = build_chain(&s, links, TABI_JOINT_FREE, 1e-5);
  open_by(&s, TABI_CONTACT_PENALTY);
  scene_run(&s, 40);
  assert_true(lower_end(&s, last) > -2e-3 && lower_end(&s, last) < 0);
  scene_close(&s);
}

static void test_floor_stops_700_links(void **state) {
  (void)state;
  for (size_t i = 0; i < RIGID; ++i)
    stop_chain(700, rigid[i]);
  catch_chain(700);
}

static void test_floor_stops_2000_links(void **state) {
  (void)state;
  for (size_t i = 0; i < RIGID; ++i)
    stop_chain(2000, rigid[i]);
  catch_chain(2000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_floor_stops_700_links),
      cmocka_unit_test(test_floor_stops_2000_links),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
