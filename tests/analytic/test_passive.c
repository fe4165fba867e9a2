/* test_passive.c - how much energy what nothing drives gains under midpoint while it rolls, rocks,
 * tumbles, swings and lies down: above its lowest so far, as a share of its largest kinetic energy,
 * in 10 s.  The first 0.1 s do not count, since the first step of a contact is of first order. */
#include "support/near.h"
#include "support/scene_build.h"

typedef struct passive {
  const char *name;
  void (*open)(scene *s, const tabi_world_def *like);
  double max; /* gain at 1 ms: as measured, rounded up */
} passive;

static void open_like(scene *s, const tabi_world_def *like) {
  tabi_world_def def = scene_def(s);
  def.contact = TABI_CONTACT_EXACT;
  def.integrator = like->integrator;
  def.timestep = like->timestep;
  scene_open(s, &def);
}

static void roll_disk(scene *s, const tabi_world_def *like, double tilt) {
  const double radius = 0.04;
  const double half = 0.002;
  int32_t wood = scene_material(s, 1, 0);
  scene_plane(s, 0, wood);
  v3 rim =
      v3_make(radius * cos(tilt) - half * sin(tilt), 0, -(radius * sin(tilt) + half * cos(tilt)));
  double across = 0.4 * (radius * radius / 4 + half * half / 3);
  int32_t disk =
      scene_free(s, 0.4, v3_make(across, across, 0.2 * radius * radius), v3_make(0, 0, -rim.z));
  scene_shape(s, TABI_SHAPE_CYLINDER, disk, v3_make(radius, 2 * half, 0), wood);
  open_like(s, like);
  scene_turn(s, disk, q_exp(v3_make(0, tilt, 0)));
  double spin = sqrt(4 * GRAVITY * sin(tilt) / radius);
  scene_set_velocity(s, disk, v3_zero(), v3_scale(-spin / v3_norm(rim), rim));
}

static void low_disk(scene *s, const tabi_world_def *like) { roll_disk(s, like, 0.1); }
static void steep_disk(scene *s, const tabi_world_def *like) { roll_disk(s, like, 0.3); }

static void ball(scene *s, const tabi_world_def *like) {
  int32_t wood = scene_material(s, 0.3, 0);
  scene_plane(s, 0, wood);
  int32_t body = scene_ball(s, 1, 0.1, v3_make(0, 0, 0.1), wood);
  open_like(s, like);
  scene_set_velocity(s, body, v3_make(2, 0.4, 0), v3_make(3, -15, 20));
}

static void block(scene *s, const tabi_world_def *like) {
  int32_t wood = scene_material(s, 0.9, 0);
  scene_plane(s, 0, wood);
  v3 size = v3_make(0.2, 0.2, 0.6);
  double tilt = 0.2;
  double height = 0.5 * (size.z * cos(tilt) + size.x * sin(tilt));
  int32_t body = scene_box(s, 2, size, v3_make(0, 0, height), wood);
  open_like(s, like);
  scene_turn(s, body, q_exp(v3_make(0, tilt, 0)));
}

static void tumbling(scene *s, const tabi_world_def *like) {
  int32_t wood = scene_material(s, 0.4, 0);
  scene_plane(s, 0, wood);
  int32_t body = scene_box(s, 2, v3_make(0.2, 0.3, 0.4), v3_make(0, 0, 0.4), wood);
  open_like(s, like);
  scene_turn(s, body, q_exp(v3_make(0.4, 0.3, 0.2)));
  scene_set_velocity(s, body, v3_make(2, 0.5, 0), v3_make(4, -6, 3));
}

/* two cranks on the world, whose ends a coupler connects */
static void linkage(scene *s, const tabi_world_def *like) {
  v3 axis = v3_make(0, 1, 0);
  v3 inertia = v3_make(0.002, 0.002, 0.002);
  int32_t crank = scene_link(s, 1, v3_make(0, 0, -0.15), inertia,
                             scene_hinge(TABI_JOINT_REVOLUTE, TABI_WORLD, v3_zero(), axis));
  int32_t coupler = scene_link(s, 1, v3_make(0.2, 0, 0), v3_make(0.002, 0.01, 0.01),
                               scene_hinge(TABI_JOINT_REVOLUTE, crank, v3_make(0, 0, -0.3), axis));
  int32_t rocker =
      scene_link(s, 1, v3_make(0, 0, -0.15), inertia,
                 scene_hinge(TABI_JOINT_REVOLUTE, TABI_WORLD, v3_make(0.4, 0, 0), axis));
  tabi_connection_def pin = tabi_connection_def_default();
  pin.a = coupler;
  pin.b = rocker;
  pin.pos_a[0] = 0.4;
  pin.pos_b[2] = -0.3;
  tabi_builder_add_connection(s->builder, &pin);
  open_like(s, like);
  double v = 6;
  double back = -6;
  scene_set(s, crank, NULL, &v);
  scene_set(s, coupler, NULL, &back);
  scene_set(s, rocker, NULL, &v);
}

static void chain(scene *s, const tabi_world_def *like) {
  int32_t wood = scene_material(s, 0.5, 0);
  scene_plane(s, 0, wood);
  v3 inertia = v3_make(2e-4, 2e-4, 2e-5);
  int32_t link = scene_free(s, 0.3, inertia, v3_make(0, 0, 0.2));
  scene_shape(s, TABI_SHAPE_SPHERE, link, v3_make(0.03, 0, 0), wood);
  for (int i = 0; i < 7; ++i) {
    v3 axis = i % 2 ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
    int32_t parent = link;
    link = scene_link(s, 0.3, v3_zero(), inertia,
                      scene_hinge(TABI_JOINT_REVOLUTE, parent, v3_make(0.1, 0, 0), axis));
    scene_shape(s, TABI_SHAPE_SPHERE, link, v3_make(0.03, 0, 0), wood);
    tabi_builder_add_exclusion(s->builder, parent, link);
  }
  open_like(s, like);
}

static double gain_of(const passive *p, tabi_integrator integrator, double h) {
  scene s = scene_begin();
  tabi_world_def like = {.integrator = integrator, .timestep = h};
  p->open(&s, &like);
  scene_run(&s, llround(0.1 / h));
  double lowest = scene_energy(&s);
  double gain = 0;
  double kinetic = 0;
  for (int64_t k = 0; k < llround(10 / h); ++k) {
    scene_run(&s, 1);
    tabi_energy now = tabi_world_energy(s.world);
    kinetic = fmax(kinetic, now.kinetic);
    gain = fmax(gain, scene_energy(&s) - lowest);
    lowest = fmin(lowest, scene_energy(&s));
  }
  scene_close(&s);
  return gain / kinetic;
}

static void gains_little(void **state) {
  (void)state;
  const passive all[] = {
      {"disk at 0.1",  low_disk,   1e-4 },
      {"disk at 0.3",  steep_disk, 1e-4 },
      {"ball",         ball,       1e-12},
      {"block",        block,      1e-4 },
      {"tumbling box", tumbling,   1e-12},
      {"linkage",      linkage,    1e-5 },
      {"chain",        chain,      1e-12},
  };
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    double usual = gain_of(&all[i], TABI_SEMI_IMPLICIT, 1e-3);
    double coarse = gain_of(&all[i], TABI_MIDPOINT, 1e-3);
    double fine = gain_of(&all[i], TABI_MIDPOINT, 5e-4);
    print_message("%s: gains %.1e by default; %.1e, %.1e at half the step by midpoint\n",
                  all[i].name, usual, coarse, fine);
    assert_true(coarse <= all[i].max);
    assert_true(fine <= fmax(0.6 * coarse, 1e-10));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(gains_little)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
