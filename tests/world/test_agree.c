/* test_agree.c - one body of tests over all contact methods, where theory says that they agree.
 *
 * Net wrench and motion are compared, never the forces of single corners.  Where springs must
 * differ from rigid contact the difference is worked out: they sink by mg/k, rebound by their
 * damping, and creep without grip.  What they violate is in the certificate. */
#include "support/near.h"
#include "support/scene_build.h"

#define H     1e-3
#define MASS  2.0
#define PAIR  1e6 /* N/m: the default material against itself */
#define DAMP  5e2 /* N s/m, likewise */
#define FORCE (MASS * GRAVITY)

static const v3 size = {0.3, 0.2, 0.1};

typedef void law(tabi_contact_kind contact);

static void for_all(law *holds) {
  for (int k = 0; k < TABI_CONTACT_GAIT; ++k)
    holds((tabi_contact_kind)k);
}

static bool is_soft(tabi_contact_kind contact) { return contact == TABI_CONTACT_PENALTY; }

static void open_as(scene *s, tabi_contact_kind contact) {
  tabi_world_def def = scene_def(s);
  def.contact = contact;
  scene_open(s, &def);
}

static void report(const scene *s, const char *what, tabi_contact_kind contact) {
  tabi_certificate c = tabi_world_certificate(s->world);
  print_message("%-9s%-8s: gap %.2g mm, complementarity %.2g mm/s, cone %.2g N, "
                "dissipation %.2g mm/s\n",
                what, tabi_contact_name(contact), 1e3 * c.gap, 1e3 * c.complementarity, c.cone,
                1e3 * c.dissipation);
}

/* so far above a plane that is tilted */
static v3 above(double tilt, double height) {
  return v3_make(height * sin(tilt), 0, height * cos(tilt));
}

/* moment of the contact impulses on a link about a place */
static v3 moment(const scene *s, int32_t link, v3 about) {
  int32_t count;
  const tabi_contact *contact = tabi_world_contacts(s->world, &count);
  v3 sum = v3_zero();
  for (int32_t i = 0; i < count; ++i) {
    v3 arm = v3_sub(v3_load(contact[i].point), about);
    v3 turn = v3_cross(arm, v3_load(contact[i].impulse));
    if (contact[i].link_b == link) sum = v3_add(sum, turn);
    if (contact[i].link_a == link) sum = v3_sub(sum, turn);
  }
  return sum;
}

/* the floor bears the weight where the weight is, although that is not the middle of the face */
static void rests(tabi_contact_kind contact) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  int32_t box = scene_free(&s, MASS, v3_make(0.01, 0.02, 0.02), v3_make(0, 0, 0.5 * size.z));
  tabi_shape_def shape = tabi_shape_def_default();
  shape.type = TABI_SHAPE_BOX;
  shape.link = box;
  shape.material = stuff;
  shape.pos[0] = 0.04;
  shape.pos[1] = -0.02;
  v3_store(size, shape.size);
  tabi_builder_add_shape(s.builder, &shape);
  open_as(&s, contact);
  scene_run(&s, 1000);
  v3 force = v3_scale(1 / H, scene_impulse(&s, box));
  v3 turn = v3_scale(1 / H, moment(&s, box, v3_load(scene_q(&s, box))));
  assert_near_rel(force.z, FORCE, 1e-6);
  assert_true(hypot(force.x, force.y) < 1e-6 * FORCE);
  assert_true(v3_norm(turn) < 1e-6 * FORCE * size.x);
  double sunk = 0.5 * size.z - scene_q(&s, box)[2];
  report(&s, "resting", contact);
  tabi_certificate c = tabi_world_certificate(s.world);
  assert_near(c.complementarity, 0, 1e-9);
  assert_near(c.cone, 0, 1e-9);
  assert_near(c.dissipation, 0, 1e-8);
  if (is_soft(contact)) {
    /* four springs, and none of them deeper than one that bears all */
    assert_near_rel(sunk, FORCE / (4 * PAIR), 0.5);
    assert_true(c.gap > 0 && c.gap < FORCE / PAIR);
  } else {
    assert_near(sunk, 0, 1e-6);
    assert_true(c.gap < 1e-6);
  }
  scene_close(&s);
}

/* on a slope at 0.9 of what friction holds nothing moves: springs have stretched, and stand */
static void sticks(tabi_contact_kind contact) {
  const double mu = 0.5;
  const double tilt = atan(0.9 * mu);
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, mu, 0);
  scene_plane(&s, tilt, stuff);
  v3 out = above(tilt, 0.5 * size.z);
  int32_t box = scene_box(&s, MASS, size, out, stuff);
  open_as(&s, contact);
  scene_turn(&s, box, scene_tilt(tilt));
  scene_run(&s, 1000);
  v3 before = v3_load(scene_q(&s, box));
  double moved = v3_norm(v3_sub(before, out));
  scene_run(&s, 1000);
  double creep = v3_norm(v3_sub(v3_load(scene_q(&s, box)), before)) / (1000 * H);
  print_message("sticking %-8s: moved %.3g mm at first, creeps %.2g mm/s\n",
                tabi_contact_name(contact), 1e3 * moved, 1e3 * creep);
  v3 force = v3_scale(1 / H, scene_impulse(&s, box));
  assert_near(v3_norm(v3_sub(force, v3_make(0, 0, FORCE))), 0, 1e-6 * FORCE);
  assert_true(creep < 1e-9);
  assert_true(moved < (is_soft(contact) ? FORCE / PAIR : 2e-6));
  scene_close(&s);
}

/* sliding on the level: v - mu g t, whatever springs do in between, and then it stands */
static void slides(tabi_contact_kind contact) {
  const double mu = 0.3;
  const double start = 1.5;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, mu, 0);
  scene_plane(&s, 0, stuff);
  int32_t box = scene_box(&s, MASS, size, v3_make(0, 0, 0.5 * size.z), stuff);
  open_as(&s, contact);
  scene_set_velocity(&s, box, v3_make(start, 0, 0), v3_zero());
  scene_run(&s, 400);
  report(&s, "sliding", contact);
  double tolerance = is_soft(contact) ? 1e-4 : 1e-8;
  assert_near(scene_v(&s, box)[0], start - mu * GRAVITY * 400 * H, tolerance);
  assert_near(scene_v(&s, box)[1], 0, tolerance);
  scene_run(&s, 300);
  double way = start * start / (2 * mu * GRAVITY);
  /* half a step's way is the error of the integrator */
  assert_near(scene_q(&s, box)[0], way, 0.5 * start * H + 1e-4);
  assert_near(scene_v(&s, box)[0], 0, 1e-6);
  scene_close(&s);
}

/* the speed that a ball comes back with, thrown at the floor without gravity with 1 m/s */
static double rebound(tabi_contact_kind contact, double restitution, double step) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0, restitution);
  scene_plane(&s, 0, stuff);
  int32_t ball = scene_ball(&s, MASS, 0.1, v3_make(0, 0, 0.1005), stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.timestep = step;
  def.gravity[2] = 0;
  scene_open(&s, &def);
  scene_set_velocity(&s, ball, v3_make(0, 0, -1), v3_zero());
  scene_run(&s, (int64_t)ceil(0.02 / step));
  double back = scene_v(&s, ball)[2];
  scene_close(&s);
  return back;
}

/* Rigid methods give back e.  A spring k and damper d that never pull, with z = d/(2 sqrt(k m)),
 * give exp(-2 z acos(z)/sqrt(1 - z^2)), whatever e is; large implicit steps give back less. */
static void rebounds(tabi_contact_kind contact) {
  if (!is_soft(contact)) {
    for (int i = 0; i <= 4; ++i)
      assert_near(rebound(contact, 0.25 * i, H), 0.25 * i, 1e-9);
    return;
  }
  double z = DAMP / (2 * sqrt(PAIR * MASS));
  double continuous = exp(-2 * z * acos(z) / sqrt(1 - z * z));
  double last = 0;
  for (int i = 0; i < 4; ++i) {
    double back = rebound(contact, 0.5, H * pow(0.1, i));
    print_message("rebound of penalty at %g ms: %.4f, a spring's is %.4f\n", pow(0.1, i), back,
                  continuous);
    assert_true(back >= last && back < continuous + 1e-3);
    last = back;
  }
  assert_near(last, continuous, 2e-3);
}

/* until it touches a body does not know by what it will be met, and then it stays down */
static void falls(tabi_contact_kind contact) {
  const double height = 0.4;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  scene_plane(&s, 0, stuff);
  int32_t box = scene_box(&s, MASS, size, v3_make(0, 0, height), stuff);
  open_as(&s, contact);
  scene_set_velocity(&s, box, v3_make(0.3, 0, 0), v3_make(1, 2, 3));
  double max = scene_energy(&s);
  scene_run(&s, 150);
  assert_near(scene_v(&s, box)[2], -GRAVITY * 150 * H, 1e-12);
  assert_near(scene_q(&s, box)[2], height - GRAVITY * H * H * 150 * 151 / 2, 1e-12);
  for (int i = 0; i < 1500; ++i) {
    scene_run(&s, 1);
    double now = scene_energy(&s);
    /* rigid contact may lift by taking back overlap, of 0.1 mm; springs give back what they took */
    assert_true(now < max + 1e-4 * FORCE);
    if (!is_soft(contact)) max = fmin(max, now);
  }
  report(&s, "fallen", contact);
  const double *v = scene_v(&s, box);
  for (int i = 0; i < 6; ++i)
    assert_near(v[i], 0, 1e-5);
  assert_near(scene_q(&s, box)[2], 0.5 * size.z, is_soft(contact) ? FORCE / PAIR : 2e-4);
  assert_near_rel(scene_impulse(&s, box).z / H, FORCE, 1e-5);
  scene_close(&s);
}

/* Without grip the springs along the surface are dampers only: on a slope that would hold, a box
 * creeps down with m g sin / (4 d), and the certificate says so, less the share that friction
 * would allow it. */
static void creep_is_shown(void **state) {
  (void)state;
  const double mu = 0.5;
  const double tilt = 0.2;
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, mu, 0);
  scene_plane(&s, tilt, stuff);
  v3 out = above(tilt, 0.5 * size.z);
  int32_t box = scene_box(&s, MASS, size, out, stuff);
  tabi_world_def def = scene_def(&s);
  def.contact = TABI_CONTACT_PENALTY;
  def.penalty.tangential_stiffness = 0;
  scene_open(&s, &def);
  scene_turn(&s, box, scene_tilt(tilt));
  scene_run(&s, 500);
  double creep = FORCE * sin(tilt) / (4 * DAMP);
  report(&s, "creeping", TABI_CONTACT_PENALTY);
  assert_near_rel(v3_norm(v3_load(scene_v(&s, box))) / creep, 1, 1e-5);
  tabi_certificate c = tabi_world_certificate(s.world);
  assert_near(c.cone, 0, 1e-9);
  assert_true(c.dissipation > 0.1 * creep && c.dissipation <= creep);
  scene_close(&s);
}

static void all_rest(void **state) {
  (void)state;
  for_all(rests);
}

static void all_stick(void **state) {
  (void)state;
  for_all(sticks);
}

static void all_slide(void **state) {
  (void)state;
  for_all(slides);
}

static void all_rebound(void **state) {
  (void)state;
  for_all(rebounds);
}

static void all_fall(void **state) {
  (void)state;
  for_all(falls);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_rest),    cmocka_unit_test(all_stick), cmocka_unit_test(all_slide),
      cmocka_unit_test(all_rebound), cmocka_unit_test(all_fall),  cmocka_unit_test(creep_is_shown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
