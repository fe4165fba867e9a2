/* test_hung_chain.c - chains that hang from a fixed base into the floor: straight, they cannot
 * rise, and must not be thrown. */
#include "support/near.h"
#include "support/scene_build.h"

#include "chain.h"

static void open_by(scene *s, tabi_contact_kind method) {
  tabi_world_def def = scene_def(s);
  def.contact = method;
  def.max_contacts = 64;
  scene_open(s, &def);
}

enum { HUNG_STEPS = TEST_SHORT ? 6 : 20 };

static int32_t hang_chain(scene *s, int32_t links, tabi_joint_type joint, double depth) {
  *s = scene_begin();
  int32_t steel = scene_material(s, 0.5, 0);
  scene_plane(s, 0, steel);
  int32_t link = TABI_WORLD;
  for (int32_t i = 0; i < links; ++i) {
    v3 axis = i % 2 ? v3_make(0, 1, 0) : v3_make(1, 0, 0);
    v3 at = v3_make(0, 0, i > 0 ? -LINK : LINK * links - CLEAR - depth);
    link = add_link(s, scene_hinge(joint, link, at, axis), steel);
  }
  return link;
}

static double fastest(const scene *s) {
  double max = 0;
  for (int32_t k = 0; k < tabi_model_nv(tabi_world_model(s->world)); ++k)
    max = fmax(max, fabs(tabi_world_v(s->world)[k]));
  return max;
}

/* All points of the rim ask for a velocity that a straight chain cannot have.  What parts them at c
 * m/s may turn links, a tenth of a metre long, by some tens of c a second, and gives no more energy
 * than raising the whole chain at c would. */
static void check_hung(int32_t links, tabi_joint_type joint, double depth,
                       tabi_contact_kind method) {
  scene s;
  int32_t last = hang_chain(&s, links, joint, depth);
  open_by(&s, method);
  double before = scene_energy(&s);
  double speed = fmax(0.2 * depth / 1e-3, 1e-3);
  double gain = 0;
  double turning = 0;
  double largest = 0;
  for (int i = 0; i < (links > 10 ? 4 : HUNG_STEPS); ++i) {
    scene_run(&s, 1);
    gain = fmax(gain, scene_energy(&s) - before);
    turning = fmax(turning, fastest(&s));
    largest = fmax(largest, scene_impulse(&s, last).z);
  }
  bool gentle = gain <= 0.5 * MASS * links * speed * speed + 1e-12 * fabs(before) &&
                turning <= 300 * speed && largest <= 100 * MASS * links * speed;
  if (!gentle)
    fail_msg("%d links %g m inside, %s: gains %g J, turns by %g rad/s, pushed by %g N s",
             (int)links, depth, tabi_contact_describe(method)->name, gain, turning, largest);
  scene_close(&s);
}

static void test_hung_chain_is_not_thrown(void **state) {
  (void)state;
  static const int32_t links[] = {2, 3, 10};
  static const double depth[] = {1e-6, 1e-5, 1e-4, 1e-3};
  for (size_t m = 0; m < RIGID; ++m) {
    for (int i = 0; i < 12; ++i)
      check_hung(links[i / 4], TABI_JOINT_CONTINUOUS, depth[i % 4], rigid[m]);
    for (int i = 0; i < 4; ++i)
      check_hung(2, TABI_JOINT_BALL, depth[i], rigid[m]);
    check_hung(TEST_SHORT ? 30 : 100, TABI_JOINT_CONTINUOUS, 1e-5, rigid[m]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_hung_chain_is_not_thrown)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
