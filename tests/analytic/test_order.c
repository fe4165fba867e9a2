/* test_order.c - order of convergence while contacts last, and energy of rolling without loss: a
 * ball that slides and then rolls, a falling stick that slides, Euler's disk.  References are
 * closed (ball) or the same motion at steps of 1/64 ms. */
#include "support/near.h"
#include "support/scene_build.h"

#include <stdlib.h>

typedef struct motion {
  v3 pos, ang;
  double energy, top; /* at the end and the largest, as shares of that at the start */
} motion;

typedef struct setting {
  tabi_integrator integrator;
  double h;
} setting;

static void open_with(scene *s, setting with) {
  tabi_world_def def = scene_def(s);
  def.contact = TABI_CONTACT_EXACT;
  def.integrator = with.integrator;
  def.timestep = with.h;
  scene_open(s, &def);
}

static motion run(scene *s, int32_t body, double time, double h) {
  double start = scene_energy(s);
  double top = 0;
  const int64_t steps = (int64_t)floor(time / h + 0.5);
  for (int64_t k = 0; k < steps; k += 20) {
    scene_run(s, k + 20 < steps ? 20 : steps - k);
    top = fmax(top, scene_energy(s) / start);
  }
  motion m = {v3_load(scene_q(s, body)), v3_load(scene_v(s, body) + 3), scene_energy(s) / start,
              top};
  scene_close(s);
  return m;
}

#define BALL_FRICTION 0.3
static const v3 ball_lin = {2, 0.4, 0};
static const v3 ball_ang = {3, -15, 20};

/* at 2 m/s, turning backwards and about the vertical */
static motion roll_ball(setting with) {
  scene s = scene_begin();
  int32_t wood = scene_material(&s, BALL_FRICTION, 0);
  scene_plane(&s, 0, wood);
  int32_t ball = scene_ball(&s, 1, 0.1, v3_make(0, 0, 0.1), wood);
  open_with(&s, with);
  scene_set_velocity(&s, ball, ball_lin, ball_ang);
  return run(&s, ball, 0.6, with.h);
}

/* Friction decelerates along the slip, which keeps its direction and falls by 7/2 mu g, until the
 * ball rolls. */
static v3 ball_position(double time) {
  v3 slip = v3_add(ball_lin, v3_cross(ball_ang, v3_make(0, 0, -0.1)));
  slip.z = 0;
  double speed = v3_norm(slip);
  double until = fmin(time, speed / (3.5 * BALL_FRICTION * GRAVITY));
  v3 push = v3_scale(-BALL_FRICTION * GRAVITY / speed, slip);
  v3 x = v3_axpy(v3_scale(time, ball_lin), until * (time - 0.5 * until), push);
  x.z = 0.1;
  return x;
}

/* a stick of 1 m, 30 degrees off the vertical, falls and slides away */
static motion slide_stick(setting with) {
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 0.1, 0);
  scene_plane(&s, 0, wood);
  double tilt = 0.5235987755982988;
  v3 inertia = v3_make(1. / 12, 1. / 12, 1e-4);
  int32_t stick = scene_free(&s, 1, inertia, v3_make(0, 0, 0.5 * cos(tilt) + 0.01));
  scene_shape(&s, TABI_SHAPE_CAPSULE, stick, v3_make(0.01, 1, 0), wood);
  open_with(&s, with);
  scene_turn(&s, stick, q_exp(v3_make(0, tilt, 0)));
  scene_set_velocity(&s, stick, v3_make(2, 0.8, 0), v3_make(0, 0, 1));
  return run(&s, stick, 0.3, with.h);
}

/* a disk of 0.04 m that rolls on its rim about its own centre, which stays where it is */
static scene open_disk(setting with, double tilt, int32_t *body) {
  const double radius = 0.04;
  const double half = 0.002;
  scene s = scene_begin();
  int32_t wood = scene_material(&s, 1, 0);
  scene_plane(&s, 0, wood);
  v3 rim =
      v3_make(radius * cos(tilt) - half * sin(tilt), 0, -(radius * sin(tilt) + half * cos(tilt)));
  double across = 0.4 * (radius * radius / 4 + half * half / 3);
  int32_t disk =
      scene_free(&s, 0.4, v3_make(across, across, 0.2 * radius * radius), v3_make(0, 0, -rim.z));
  scene_shape(&s, TABI_SHAPE_CYLINDER, disk, v3_make(radius, 2 * half, 0), wood);
  open_with(&s, with);
  scene_turn(&s, disk, q_exp(v3_make(0, tilt, 0)));
  double spin = sqrt(4 * GRAVITY * sin(tilt) / radius);
  scene_set_velocity(&s, disk, v3_zero(), v3_scale(-spin / v3_norm(rim), rim));
  *body = disk;
  return s;
}

static motion roll_disk(setting with, double tilt, double time) {
  int32_t disk;
  scene s = open_disk(with, tilt, &disk);
  return run(&s, disk, time, with.h);
}

static motion roll_disk_steep(setting with) { return roll_disk(with, 0.3, 0.3); }
static motion roll_disk_low(setting with) { return roll_disk(with, 0.1, 0.3); }

/* errors of a motion from 4 ms on to 0.25 ms, and the mean order from the second to the last */
static double order_of(const char *what, tabi_integrator integrator, motion (*move)(setting),
                       const v3 *closed) {
  double error[5];
  v3 right = closed ? *closed : move((setting){TABI_MIDPOINT, 1e-3 / 64}).pos;
  for (int i = 0; i < 5; ++i)
    error[i] = v3_norm(v3_sub(move((setting){integrator, 4e-3 / (1 << i)}).pos, right));
  double order = log2(error[1] / error[4]) / 3;
  print_message("%s, %s: %.1e %.1e %.1e %.1e %.1e m, order %.2f\n", what,
                tabi_integrator_name(integrator), error[0], error[1], error[2], error[3], error[4],
                order);
  return order;
}

static void midpoint_is_of_second_order(void **state) {
  (void)state;
  v3 there = ball_position(0.6);
  assert_true(order_of("ball", TABI_MIDPOINT, roll_ball, &there) > 1.8);
  assert_true(order_of("stick", TABI_MIDPOINT, slide_stick, NULL) > 1.8);
  assert_true(order_of("disk at 0.3", TABI_MIDPOINT, roll_disk_steep, NULL) > 1.8);
  assert_true(order_of("disk at 0.1", TABI_MIDPOINT, roll_disk_low, NULL) > 1.8);
}

static void rk4_is_of_second_order(void **state) {
  (void)state;
  assert_true(order_of("stick", TABI_RK4, slide_stick, NULL) > 1.8);
  assert_true(order_of("disk at 0.3", TABI_RK4, roll_disk_steep, NULL) > 1.8);
  assert_true(order_of("disk at 0.1", TABI_RK4, roll_disk_low, NULL) > 1.8);
}

/* no friction, no loss: the disk must neither speed up nor fall */
static void disk_keeps_its_energy(void **state) {
  (void)state;
  const double time = TEST_SHORT ? 2 : 60;
  for (int i = 0; i < 2; ++i) {
    double tilt = i == 0 ? 0.1 : 0.3;
    motion m = roll_disk((setting){TABI_MIDPOINT, 1e-3}, tilt, time);
    double midpoint = m.energy;
    double rk4 = roll_disk((setting){TABI_RK4, 1e-3}, tilt, time).energy;
    print_message("disk at %g after %g s: energy 1 %+.1e (midpoint), 1 %+.1e (rk4)\n", tilt, time,
                  midpoint - 1, rk4 - 1);
    assert_true(m.top < 1 + 1e-9 && midpoint > 1 - 1e-3);
    assert_near(rk4, 1, 1e-3);
  }
}

/* a snapshot of a rolling disk goes on with the same bits */
static void snapshot_while_rolling(void **state) {
  (void)state;
  const tabi_integrator both[2] = {TABI_MIDPOINT, TABI_RK4};
  for (int i = 0; i < 2; ++i) {
    int32_t disk;
    scene s = open_disk((setting){both[i], 1e-3}, 0.3, &disk);
    scene_run(&s, 100);
    size_t size = tabi_world_snapshot_size(s.world);
    void *snapshot = malloc(size);
    assert_non_null(snapshot);
    tabi_world_save(s.world, snapshot);
    scene_run(&s, 100);
    uint64_t hash = tabi_world_hash(s.world);
    assert_int_equal(tabi_world_restore(s.world, snapshot, size), TABI_OK);
    scene_run(&s, 100);
    assert_true(tabi_world_hash(s.world) == hash);
    free(snapshot);
    scene_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(midpoint_is_of_second_order),
      cmocka_unit_test(rk4_is_of_second_order),
      cmocka_unit_test(disk_keeps_its_energy),
      cmocka_unit_test(snapshot_while_rolling),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
