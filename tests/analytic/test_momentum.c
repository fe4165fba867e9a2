/* test_momentum.c - momentum of what floats freely, over many steps: a tumbling body, one whose
 * centre of mass is off its frame, a robot that swings its limbs, bodies that collide or are
 * connected in mid-air. */
#include "support/load.h"
#include "support/near.h"
#include "support/scene_build.h"

#include <stdlib.h>

/* a body or robot under no gravity; momentum and energy at its start */
typedef struct flight {
  scene scene;
  v3 lin, ang, com;
  double energy, linear, angular, path; /* worst errors so far; of P and L relative */
} flight;

static void measure(flight *f, v3 *lin, v3 *ang, v3 *com) {
  const tabi_dynamics *d = tabi_world_dynamics(f->scene.world);
  double p[3];
  double l[3];
  double c[3];
  tabi_dynamics_momentum(d, p, l);
  tabi_dynamics_com(d, c);
  *lin = v3_load(p);
  *ang = v3_load(l);
  *com = v3_load(c);
}

static void take_off(flight *f, tabi_integrator integrator) {
  tabi_world_def def = scene_def(&f->scene);
  def.integrator = integrator;
  def.gravity[2] = 0;
  scene_open(&f->scene, &def);
}

static void begin(flight *f) {
  measure(f, &f->lin, &f->ang, &f->com);
  f->energy = scene_energy(&f->scene);
  f->linear = f->angular = f->path = 0;
}

/* after a number of steps; P, L and the path of the centre of mass must not have changed */
static void check(flight *f, double time) {
  v3 lin;
  v3 ang;
  v3 com;
  measure(f, &lin, &ang, &com);
  double mass = tabi_model_mass(f->scene.model);
  v3 there = v3_axpy(f->com, time / mass, f->lin);
  f->linear = fmax(f->linear, v3_norm(v3_sub(lin, f->lin)) / fmax(v3_norm(f->lin), 1));
  f->angular = fmax(f->angular, v3_norm(v3_sub(ang, f->ang)) / v3_norm(f->ang));
  f->path = fmax(f->path, v3_norm(v3_sub(com, there)));
}

static void say(const flight *f, const char *what, tabi_integrator integrator) {
  print_message("%s, %s: P off by %.2g, L by %.2g, path by %.2g m\n", what,
                tabi_integrator_name(integrator), f->linear, f->angular, f->path);
}

static const tabi_integrator both[2] = {TABI_SEMI_IMPLICIT, TABI_MIDPOINT};

static void tumbling_body(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    flight f = {.scene = scene_begin()};
    int32_t body = scene_free(&f.scene, 1, v3_make(1, 2, 3), v3_zero());
    take_off(&f, both[i]);
    scene_set_velocity(&f.scene, body, v3_make(0.3, -0.2, 0.1), v3_make(2, 1, 3));
    begin(&f);
    const int64_t steps = TEST_SHORT ? 10000 : 1000000;
    scene_run(&f.scene, steps);
    check(&f, 1e-3 * (double)steps);
    say(&f, "tumbling body", both[i]);
    double energy = fabs(scene_energy(&f.scene) / f.energy - 1);
    assert_true(f.linear < 1e-9 && f.angular < 1e-9 && f.path < 1e-7);
    assert_true(energy < 1e-9);
    scene_close(&f.scene);
  }
}

/* the frame of the body is off its centre of mass, which moves along a straight line */
static void body_off_its_frame(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    flight f = {.scene = scene_begin()};
    tabi_joint_def joint = tabi_joint_def_default();
    joint.type = TABI_JOINT_FREE;
    int32_t body =
        scene_link(&f.scene, 2, v3_make(0.1, -0.2, 0.15), v3_make(0.1, 0.2, 0.25), joint);
    take_off(&f, both[i]);
    scene_set_velocity(&f.scene, body, v3_make(0.3, -0.2, 0.1), v3_make(2, 1, 3));
    begin(&f);
    for (int k = 1; k <= 10; ++k) {
      scene_run(&f.scene, 1000);
      check(&f, k);
    }
    say(&f, "body off its frame", both[i]);
    assert_true(f.linear < 1e-12 && f.angular < 1e-12 && f.path < 1e-11);
    assert_true(fabs(scene_energy(&f.scene) / f.energy - 1) < 1e-6);
    scene_close(&f.scene);
  }
}

/* every joint of the robot is driven to and fro by an implicit servo */
static void swing(scene *s, double time) {
  for (int32_t j = 0; j < tabi_model_njoint(s->model); ++j) {
    if (tabi_model_joint_q(s->model, j).count != 1) continue;
    double angle = 0.3 * sin(3 * time + j);
    tabi_servo servo = {.kp = 300, .kd = 5, .target = angle, .implicit = true};
    tabi_world_set_servo(s->world, j, &servo);
  }
}

static void swinging_robot(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    flight f = {.scene = scene_begin()};
    int32_t pelvis = scene_humanoid(&f.scene, 0);
    take_off(&f, both[i]);
    scene_set_velocity(&f.scene, pelvis, v3_make(0.3, -0.2, 0.1), v3_make(0.5, 1, 0.3));
    begin(&f);
    const int64_t steps = TEST_SHORT ? 1000 : 20000;
    for (int64_t k = 1; k <= steps; ++k) {
      swing(&f.scene, 1e-3 * (double)k);
      scene_run(&f.scene, 1);
      check(&f, 1e-3 * (double)k);
    }
    say(&f, "swinging robot", both[i]);
    assert_true(f.linear < 1e-10 && f.angular < 1e-10 && f.path < 1e-8);
    scene_close(&f.scene);
  }
}

/* the robot's joints are free: its energy does not grow */
static void limp_robot(void **state) {
  (void)state;
  flight f = {.scene = scene_begin()};
  int32_t pelvis = scene_humanoid(&f.scene, 0);
  take_off(&f, TABI_SEMI_IMPLICIT);
  scene_set_velocity(&f.scene, pelvis, v3_zero(), v3_make(0.5, 4, 2));
  begin(&f);
  double gain = 0;
  double lowest = f.energy;
  for (int k = 1; k <= 2000; ++k) {
    scene_run(&f.scene, 1);
    check(&f, 1e-3 * k);
    double energy = scene_energy(&f.scene);
    gain = fmax(gain, (energy - lowest) / f.energy);
    lowest = fmin(lowest, energy);
  }
  say(&f, "limp robot", TABI_SEMI_IMPLICIT);
  print_message("limp robot: energy up by %.2g of it, %.4f left\n", gain, lowest / f.energy);
  assert_true(f.linear < 1e-12 && f.angular < 1e-12);
  assert_true(gain < 1e-3);
  scene_close(&f.scene);
}

/* two boxes meet off centre, with friction and restitution */
static void colliding_bodies(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    flight f = {.scene = scene_begin()};
    int32_t wood = scene_material(&f.scene, 0.5, 0.7);
    int32_t a = scene_box(&f.scene, 1, v3_make(0.2, 0.3, 0.1), v3_make(-0.4, 0.05, 0.02), wood);
    int32_t b = scene_box(&f.scene, 2, v3_make(0.3, 0.2, 0.2), v3_make(0.4, 0, 0), wood);
    take_off(&f, both[i]);
    scene_set_velocity(&f.scene, a, v3_make(2, 0.1, 0), v3_make(1, 3, -2));
    scene_set_velocity(&f.scene, b, v3_make(-1, 0, 0.1), v3_make(0, 0.5, 1));
    begin(&f);
    v3 before = v3_load(scene_v(&f.scene, b));
    for (int k = 1; k <= 1000; ++k) {
      scene_run(&f.scene, 1);
      check(&f, 1e-3 * k);
    }
    say(&f, "colliding bodies", both[i]);
    assert_true(v3_norm(v3_sub(v3_load(scene_v(&f.scene, b)), before)) > 0.5);
    assert_true(f.linear < 1e-12 && f.angular < 1e-11 && f.path < 1e-10);
    scene_close(&f.scene);
  }
}

/* a chain of three bodies that balls connect: loop constraints between trees */
static void connected_bodies(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    flight f = {.scene = scene_begin()};
    int32_t part[3];
    for (int k = 0; k < 3; ++k)
      part[k] = scene_free(&f.scene, 1 + k, v3_make(0.1, 0.2, 0.25), v3_make(0.4 * k, 0, 0));
    for (int k = 0; k < 2; ++k) {
      tabi_connection_def ball = tabi_connection_def_default();
      ball.a = part[k];
      ball.b = part[k + 1];
      ball.pos_a[0] = 0.2;
      ball.pos_b[0] = -0.2;
      assert_int_equal(tabi_builder_add_connection(f.scene.builder, &ball), k);
    }
    take_off(&f, both[i]);
    scene_set_velocity(&f.scene, part[0], v3_make(0.3, 0, 0), v3_make(0, 2, 1));
    scene_run(&f.scene, 1);
    begin(&f);
    for (int k = 1; k <= 2000; ++k) {
      scene_run(&f.scene, 1);
      check(&f, 1e-3 * k);
    }
    say(&f, "connected bodies", both[i]);
    assert_true(f.linear < 1e-12 && f.angular < 1e-12 && f.path < 1e-11);
    scene_close(&f.scene);
  }
}

/* A joint that moves as told is driven from within: momentum stays.  A base that does takes it from
 * the world, which the body feels as the motion says. */
static void told_joint(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    flight f = {.scene = scene_begin()};
    int32_t trunk = scene_free(&f.scene, 2, v3_make(0.1, 0.2, 0.25), v3_zero());
    int32_t arm = scene_link(
        &f.scene, 1, v3_make(0.3, 0, 0.1), v3_make(0.02, 0.03, 0.03),
        scene_hinge(TABI_JOINT_REVOLUTE, trunk, v3_make(0.1, 0.2, 0), v3_make(0, 0.6, 0.8)));
    take_off(&f, both[i]);
    scene_set_velocity(&f.scene, trunk, v3_make(0.3, 0, 0), v3_make(0, 2, 1));
    begin(&f);
    for (int k = 1; k <= 2000; ++k) {
      tabi_motion motion = {.v = {3 * sin(0.005 * k)}};
      tabi_world_set_motion(f.scene.world, scene_joint(&f.scene, arm), &motion);
      scene_run(&f.scene, 1);
      assert_true(*scene_v(&f.scene, arm) == motion.v[0]);
      check(&f, 1e-3 * k);
    }
    say(&f, "told joint", both[i]);
    assert_true(f.linear < 1e-12 && f.angular < 1e-12 && f.path < 1e-11);
    tabi_motion base = {
        .v = {1, 2, 3, -1, 0.5, 0.25}
    };
    tabi_world_set_motion(f.scene.world, scene_joint(&f.scene, trunk), &base);
    scene_run(&f.scene, 3);
    assert_near_n(scene_v(&f.scene, trunk), base.v, 6, 0);
    scene_close(&f.scene);
  }
}

/* a push of one step and a couple change momentum by exactly what they are */
static void pushed_body(void **state) {
  (void)state;
  flight f = {.scene = scene_begin()};
  int32_t body = scene_free(&f.scene, 2, v3_make(0.1, 0.2, 0.25), v3_make(1, 2, 3));
  take_off(&f, TABI_SEMI_IMPLICIT);
  scene_set_velocity(&f.scene, body, v3_make(1, 0, 0), v3_make(2, 1, 3));
  begin(&f);
  const double force[3] = {10, -20, 5};
  const double torque[3] = {1, 2, -3};
  const double point[3] = {1.1, 2.2, 2.9};
  v3 moment = v3_add(v3_load(torque), v3_cross(v3_make(0.1, 0.2, -0.1), v3_load(force)));
  tabi_world_apply(f.scene.world, body, force, torque, point);
  scene_run(&f.scene, 1);
  v3 lin;
  v3 ang;
  v3 com;
  measure(&f, &lin, &ang, &com);
  assert_near(v3_norm(v3_sub(v3_sub(lin, f.lin), v3_scale(1e-3, v3_load(force)))), 0, 1e-14);
  assert_near(v3_norm(v3_sub(v3_sub(ang, f.ang), v3_scale(1e-3, moment))), 0, 1e-14);
  scene_close(&f.scene);
}

static void resume_in_flight(tabi_integrator integrator) {
  flight f = {.scene = scene_begin()};
  int32_t pelvis = scene_humanoid(&f.scene, 0);
  take_off(&f, integrator);
  scene_set_velocity(&f.scene, pelvis, v3_zero(), v3_make(0.5, 4, 2));
  scene_run(&f.scene, 100);
  size_t size = tabi_world_snapshot_size(f.scene.world);
  void *snapshot = malloc(size);
  assert_non_null(snapshot);
  tabi_world_save(f.scene.world, snapshot);
  scene_run(&f.scene, 100);
  uint64_t hash = tabi_world_hash(f.scene.world);
  assert_int_equal(tabi_world_restore(f.scene.world, snapshot, size), TABI_OK);
  scene_run(&f.scene, 100);
  assert_true(tabi_world_hash(f.scene.world) == hash);
  free(snapshot);
  scene_close(&f.scene);
}

/* a snapshot in mid-air goes on with the same bits */
static void snapshot_in_flight(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i)
    resume_in_flight(both[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tumbling_body),      cmocka_unit_test(body_off_its_frame),
      cmocka_unit_test(swinging_robot),     cmocka_unit_test(limp_robot),
      cmocka_unit_test(colliding_bodies),   cmocka_unit_test(connected_bodies),
      cmocka_unit_test(told_joint),         cmocka_unit_test(pushed_body),
      cmocka_unit_test(snapshot_in_flight),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
