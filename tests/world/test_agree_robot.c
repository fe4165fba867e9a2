/* test_agree_robot.c - the humanoid of scenes/stand.yaml under all contact methods: it stands, the
 * floor bears its weight below its centre of mass, and its centre of mass is where the other
 * methods have it; let go, it falls under all of them. */
#include "support/load.h"
#include "support/near.h"
#include "support/scene_build.h"
#include "tabi/tabi_io.h"

#define H 1e-3
#define K 1e6 /* N/m: the pair of default stiffnesses */

static scene_world open_stand(tabi_contact_kind contact) {
  tabi_scene *loaded = load_shipped_scene("stand", NULL);
  return (scene_world){loaded, open_world_with(loaded, contact)};
}

static void run(const scene_world *s, int64_t steps, bool controlled) {
  for (int64_t k = 0; k < steps; ++k) {
    if (controlled) tabi_scene_control(s->scene, s->world);
    if (tabi_world_step(s->world, NULL) == TABI_OK) continue;
    fail_msg("%s", tabi_world_error(s->world)->message);
  }
}

/* force of the floor on the robot, and its moment about a place */
static v3 floor_force(const scene_world *s, v3 about, v3 *moment) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  v3 force = v3_zero();
  *moment = v3_zero();
  for (int32_t i = 0; i < count; ++i) {
    double sign = contact[i].link_b == TABI_WORLD ? -1 : 1;
    v3 f = v3_scale(sign / H, v3_load(contact[i].impulse));
    force = v3_add(force, f);
    *moment = v3_add(*moment, v3_cross(v3_sub(v3_load(contact[i].point), about), f));
  }
  return force;
}

static v3 centre(const scene_world *s) {
  double com[3];
  tabi_dynamics_com(tabi_world_dynamics(s->world), com);
  return v3_load(com);
}

/* where the centre of mass is in the end */
static v3 stands(tabi_contact_kind contact) {
  bool soft = contact == TABI_CONTACT_PENALTY;
  scene_world s = open_stand(contact);
  double weight = tabi_model_mass(tabi_world_model(s.world)) * GRAVITY;
  run(&s, TEST_SHORT ? 1800 : 8000, true);
  v3 com = centre(&s);
  v3 moment;
  v3 force = floor_force(&s, com, &moment);
  tabi_certificate c = tabi_world_certificate(s.world);
  double off = v3_norm(v3_sub(force, v3_make(0, 0, weight))) / weight;
  double turn = v3_norm(moment) / (weight * com.z);
  print_message("standing %-8s: force off by %.2g, moment by %.2g, gap %.3g mm, complementarity "
                "%.2g mm/s, dissipation %.2g mm/s, com at %.6f %.6f %.6f\n",
                tabi_contact_name(contact), off, turn, 1e3 * c.gap, 1e3 * c.complementarity,
                1e3 * c.dissipation, com.x, com.y, com.z);
  /* on springs it takes longer to come to rest */
  double tolerance = soft && TEST_SHORT ? 1e-2 : 1e-6;
  assert_true(off < tolerance);
  assert_true(turn < tolerance);
  assert_true(c.complementarity < 1e-6 && c.cone < 1e-6);
  assert_true(c.dissipation < (soft ? 1e-5 : 1e-6));
  /* the deepest corner bears less than all of it, and more than an eighth */
  if (soft) assert_true(c.gap < weight / K && c.gap > weight / (8 * K));
  if (!soft) assert_true(c.gap < 1e-7);
  assert_int_equal(c.contacts, 8);
  scene_world_close(&s);
  return com;
}

static void all_stand(void **state) {
  (void)state;
  v3 exact = stands(TABI_CONTACT_EXACT);
  for (int k = 0; k < TABI_CONTACT_GAIT; ++k) {
    if (k == TABI_CONTACT_EXACT) continue;
    double apart = v3_norm(v3_sub(stands((tabi_contact_kind)k), exact));
    /* soft soles sink, and lean: the com is six times as high as soles are long to one side */
    assert_true(apart < (k == TABI_CONTACT_PENALTY ? 1e-3 : 1e-6));
  }
}

/* nobody drives its joints: it goes down, and ends below half its height */
static void all_fall(void **state) {
  (void)state;
  for (int k = 0; k < TABI_CONTACT_GAIT; ++k) {
    scene_world s = open_stand((tabi_contact_kind)k);
    tabi_energy start = tabi_world_energy(s.world);
    double height = centre(&s).z;
    double max = 0;
    for (int i = 0; i < (TEST_SHORT ? 9 : 20); ++i) {
      run(&s, 100, false);
      tabi_energy now = tabi_world_energy(s.world);
      max = fmax(max, now.kinetic + now.potential + now.spring - now.work);
    }
    v3 moment;
    v3 force = floor_force(&s, centre(&s), &moment);
    print_message("falling %-8s: com from %.3f m to %.3f m, floor bears %.1f N\n",
                  tabi_contact_name((tabi_contact_kind)k), height, centre(&s).z, force.z);
    assert_true(centre(&s).z < 0.5 * height);
    assert_true(max < start.kinetic + start.potential + start.spring);
    scene_world_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_stand),
      cmocka_unit_test(all_fall),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
