/* test_passive.c - how much energy what nothing drives gains while it rolls, rocks, tumbles, swings
 * and lies down: above its lowest so far, as a share of its largest kinetic energy, in 10 s, at
 * most 1e-3 by default and 1e-6 under midpoint; and how much of it is left, where nothing takes
 * energy. The first 0.1 s do not count, since the first step of a contact is of first order. */
#include "support/near.h"
#include "support/scene_build.h"

typedef struct passive {
  const char *name;
  void (*open)(scene *s, const tabi_world_def *like);
  double loss[2]; /* at most, by default and under midpoint; 0: friction or impacts take energy */
} passive;

typedef struct outcome {
  double gain, loss; /* shares of the largest kinetic energy */
} outcome;

static void open_like(scene *s, const tabi_world_def *like) {
  tabi_world_def def = scene_def(s);
  def.contact = like->contact;
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

static void rock(scene *s, const tabi_world_def *like, double mass, v3 size, double tilt) {
  int32_t wood = scene_material(s, 0.9, 0);
  scene_plane(s, 0, wood);
  double height = 0.5 * (size.z * cos(tilt) + size.x * sin(tilt));
  int32_t body = scene_box(s, mass, size, v3_make(0, 0, height), wood);
  open_like(s, like);
  scene_turn(s, body, q_exp(v3_make(0, tilt, 0)));
}

static void block(scene *s, const tabi_world_def *like) {
  rock(s, like, 2, v3_make(0.2, 0.2, 0.6), 0.2);
}

static void small_block(scene *s, const tabi_world_def *like) {
  rock(s, like, 0.3, v3_make(0.04, 0.1, 0.2), 0.15);
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

/* a double pendulum, of an open chain of two links; joints with a little dry friction and damping
 */
static int32_t hang_pendulum(scene *s, double damping, double friction) {
  v3 axis = v3_make(0, 1, 0);
  v3 inertia = v3_make(0.003, 0.003, 1e-4);
  int32_t link = TABI_WORLD;
  for (int i = 0; i < 2; ++i) {
    tabi_joint_def hinge =
        scene_hinge(TABI_JOINT_REVOLUTE, link, v3_make(0, 0, i == 0 ? 1 : -0.2), axis);
    hinge.damping = damping;
    hinge.friction = friction;
    link = scene_link(s, 1, v3_make(0, 0, -0.1), inertia, hinge);
  }
  return link;
}

static void pendulum(scene *s, const tabi_world_def *like) {
  int32_t link = hang_pendulum(s, 0, 0);
  open_like(s, like);
  double angle = 1;
  scene_set(s, link, &angle, NULL);
}

static void single_pendulum(scene *s, const tabi_world_def *like) {
  tabi_joint_def hinge =
      scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_make(0, 0, 2), v3_make(0, 1, 0));
  int32_t rod = scene_link(s, 3, v3_make(0, 0, -0.8), v3_make(0.2, 0.2, 0.01), hinge);
  open_like(s, like);
  double angle = 2.5;
  scene_set(s, rod, &angle, NULL);
}

static void ball_joints(scene *s, const tabi_world_def *like) {
  int32_t link[6];
  v3 inertia = v3_make(2e-3, 2e-3, 4e-4);
  for (int i = 0; i < 6; ++i) {
    int32_t parent = i == 0 ? TABI_WORLD : link[i - 1];
    v3 place = v3_make(0, 0, i == 0 ? 3 : -0.2);
    link[i] = scene_link(s, 0.5, v3_make(0, 0, -0.1), inertia,
                         scene_hinge(TABI_JOINT_BALL, parent, place, v3_make(0, 0, 1)));
  }
  open_like(s, like);
  for (int i = 0; i < 6; ++i) {
    double q[4];
    q_store(q_exp(v3_make(i == 0 ? 1.2 : 0.2, 0.1 * i, 0)), q);
    scene_set(s, link[i], q, (double[]){0, 1, 2});
  }
}

/* a crank, a rod and a mass that slides */
static void slider_crank(scene *s, const tabi_world_def *like) {
  v3 axis = v3_make(0, 1, 0);
  v3 inertia = v3_make(0.003, 0.003, 0.003);
  int32_t crank =
      scene_link(s, 1, v3_make(0.1, 0, 0), inertia,
                 scene_hinge(TABI_JOINT_CONTINUOUS, TABI_WORLD, v3_make(0, 0, 1), axis));
  int32_t rod = scene_link(s, 0.7, v3_make(0.25, 0, 0), v3_make(0.01, 0.01, 0.01),
                           scene_hinge(TABI_JOINT_CONTINUOUS, crank, v3_make(0.2, 0, 0), axis));
  int32_t slider = scene_link(
      s, 2, v3_zero(), inertia,
      scene_hinge(TABI_JOINT_PRISMATIC, TABI_WORLD, v3_make(0.7, 0, 1), v3_make(1, 0, 0)));
  tabi_connection_def pin = tabi_connection_def_default();
  pin.a = rod;
  pin.b = slider;
  pin.pos_a[0] = 0.5;
  tabi_builder_add_connection(s->builder, &pin);
  open_like(s, like);
  double rate = 9;
  double back = -rate * (1 + 0.2 / 0.5);
  scene_set(s, crank, NULL, &rate);
  scene_set(s, rod, NULL, &back);
}

/* hung from the world, longer than its height above the floor */
static void dragged_chain(scene *s, const tabi_world_def *like) {
  int32_t wood = scene_material(s, 0.5, 0);
  scene_plane(s, 0, wood);
  int32_t first = TABI_NONE;
  int32_t link = TABI_WORLD;
  for (int i = 0; i < 6; ++i) {
    int32_t parent = link;
    v3 place = v3_make(0, 0, i == 0 ? 0.45 : -0.1);
    link = scene_link(s, 0.3, v3_make(0, 0, -0.05), v3_make(5e-4, 5e-4, 1e-4),
                      scene_hinge(TABI_JOINT_CONTINUOUS, parent, place, v3_make(0, 1, 0)));
    scene_shape(s, TABI_SHAPE_SPHERE, link, v3_make(0.03, 0, 0), wood);
    if (i == 0) first = link;
    if (i > 0) tabi_builder_add_exclusion(s->builder, parent, link);
  }
  open_like(s, like);
  double angle = 1.2;
  scene_set(s, first, &angle, NULL);
}

/* Limp, thrown on the floor: its joints hit their limits in the air and between bounces, where the
 * links whip. */
static void thrown_chain(scene *s, const tabi_world_def *like) {
  int32_t wood = scene_material(s, 0.5, 0);
  scene_plane(s, 0, wood);
  int32_t base = scene_free(s, 2, v3_make(0.01, 0.02, 0.03), v3_make(0, 0, 1));
  scene_shape(s, TABI_SHAPE_SPHERE, base, v3_make(0.08, 0, 0), wood);
  for (int side = 0; side < 3; ++side) {
    int32_t link = base;
    for (int i = 0; i < 3; ++i) {
      v3 axis = (i + side) % 2 ? v3_make(0, 1, 0) : v3_make(0, 0, 1);
      v3 place = i > 0 ? v3_make(0.15, 0, 0) : v3_make(0.1 * cos(2 * side), 0.1 * sin(2 * side), 0);
      tabi_joint_def hinge = scene_hinge(TABI_JOINT_REVOLUTE, link, place, axis);
      hinge.lower = -1.5;
      hinge.upper = 1.2;
      int32_t parent = link;
      link = scene_link(s, 0.4, v3_make(0.07, 0, 0), v3_make(2e-4, 1e-3, 1e-3), hinge);
      scene_shape(s, TABI_SHAPE_SPHERE, link, v3_make(0.03, 0, 0), wood);
      tabi_builder_add_exclusion(s->builder, parent, link);
    }
  }
  open_like(s, like);
  scene_set_velocity(s, base, v3_make(1, 0.3, 0), v3_make(9, -14, 7));
}

/* Bars between two points of the world, so taut that they can neither sag nor swing; the forces
 * that hold them are without bound. */
static void taut_bars(scene *s, const tabi_world_def *like) {
  tabi_connection_def pin = tabi_connection_def_default();
  int32_t last = TABI_WORLD;
  for (int i = 0; i < 6; ++i) {
    int32_t bar = scene_free(s, 0.3 + 0.2 * (i % 4), v3_make(1e-4, 1e-3, 1e-3),
                             v3_make(0.1 + 0.2 * i, 0, 0.5));
    pin.a = last;
    pin.b = bar;
    pin.pos_a[0] = i > 0 ? 0.1 : 0;
    pin.pos_a[2] = i > 0 ? 0 : 0.5;
    pin.pos_b[0] = -0.1;
    tabi_builder_add_connection(s->builder, &pin);
    last = bar;
  }
  pin.a = last;
  pin.b = TABI_WORLD;
  pin.pos_a[0] = 0.1;
  pin.pos_b[0] = 1.2;
  pin.pos_b[2] = 0.5;
  tabi_builder_add_connection(s->builder, &pin);
  open_like(s, like);
}

/* with what springs of penalty have */
static double energy_of(scene *s) {
  return scene_energy(s) + tabi_world_certificate(s->world).elastic;
}

static outcome run_like(const passive *p, const tabi_world_def *like, double seconds) {
  double h = like->timestep;
  scene s = scene_begin();
  p->open(&s, like);
  scene_run(&s, llround(0.1 / h));
  double start = energy_of(&s);
  double lowest = start;
  double gain = 0;
  double kinetic = 0;
  for (int64_t k = 0; k < llround(seconds / h); ++k) {
    scene_run(&s, 1);
    double energy = energy_of(&s);
    kinetic = fmax(kinetic, tabi_world_energy(s.world).kinetic);
    gain = fmax(gain, energy - lowest);
    lowest = fmin(lowest, energy);
  }
  scene_close(&s);
  return (outcome){gain / kinetic, (start - lowest) / kinetic};
}

static outcome run(const passive *p, tabi_integrator integrator, double h) {
  tabi_world_def like = {.contact = TABI_CONTACT_EXACT, .integrator = integrator, .timestep = h};
  return run_like(p, &like, 10);
}

static const passive all[] = {
    {"disk at 0.1",     low_disk,        {2, 1e-9}   },
    {"disk at 0.3",     steep_disk,      {2, 1e-9}   },
    {"ball",            ball,            {0}         },
    {"block",           block,           {0}         },
    {"small block",     small_block,     {0}         },
    {"tumbling box",    tumbling,        {0}         },
    {"linkage",         linkage,         {1e-9, 1e-9}},
    {"slider crank",    slider_crank,    {1e-9, 1e-9}},
    {"pendulum",        single_pendulum, {1e-9, 1e-9}},
    {"double pendulum", pendulum,        {1e-9, 1e-9}},
    {"ball joints",     ball_joints,     {1e-9, 1e-9}},
    {"chain",           chain,           {0}         },
    {"dragged chain",   dragged_chain,   {0}         },
    {"thrown chain",    thrown_chain,    {0}         },
    {"taut bars",       taut_bars,       {0}         },
};

/* Contacts give nothing under any method; springs of penalty count with what they hold. */
static void gains_nothing_by_any_method(void **state) {
  (void)state;
  const tabi_contact_kind contact[] = {TABI_CONTACT_CONE, TABI_CONTACT_LCP, TABI_CONTACT_IMPULSE,
                                       TABI_CONTACT_PENALTY};
  for (size_t k = 0; k < sizeof contact / sizeof contact[0]; ++k) {
    double worst = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
      tabi_world_def like = {
          .contact = contact[k], .integrator = TABI_SEMI_IMPLICIT, .timestep = 1e-3};
      outcome found = run_like(&all[i], &like, TEST_SHORT ? 1 : 10);
      if (found.gain > 1e-6)
        fail_msg("%s, %s: gains %g", tabi_contact_name(contact[k]), all[i].name, found.gain);
      worst = fmax(worst, found.gain);
    }
    print_message("%s gains %.1e at most\n", tabi_contact_name(contact[k]), worst);
  }
}

static void gains_nothing(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) {
    outcome usual = run(&all[i], TABI_SEMI_IMPLICIT, 1e-3);
    outcome coarse = run(&all[i], TABI_MIDPOINT, 1e-3);
    outcome fine = run(&all[i], TABI_MIDPOINT, 5e-4);
    print_message("%s: gains %.1e by default, %.1e and %.1e at half the step by midpoint; loses "
                  "%.1e, %.1e, %.1e\n",
                  all[i].name, usual.gain, coarse.gain, fine.gain, usual.loss, coarse.loss,
                  fine.loss);
    assert_true(usual.gain <= 1e-3);
    assert_true(coarse.gain <= 1e-6);
    assert_true(fine.gain <= 1e-6);
    if (all[i].loss[0] > 0) assert_true(usual.loss <= all[i].loss[0]);
    if (all[i].loss[1] > 0) assert_true(coarse.loss <= all[i].loss[1]);
  }
}

/* a chain that tumbles in the air, its links swinging */
static scene open_free_chain(tabi_contact_kind contact, tabi_integrator integrator,
                             double damping) {
  scene s = scene_begin();
  int32_t base = scene_free(&s, 1, v3_make(0.01, 0.02, 0.03), v3_make(0, 0, 5));
  int32_t link[4];
  for (int i = 0; i < 4; ++i) {
    v3 axis = i % 2 == 0 ? v3_make(0, 0, 1) : v3_make(0, 1, 0);
    int32_t parent = i == 0 ? base : link[i - 1];
    tabi_joint_def hinge = scene_hinge(TABI_JOINT_CONTINUOUS, parent, v3_make(0.2, 0, 0), axis);
    hinge.damping = damping;
    link[i] = scene_link(&s, 0.6, v3_make(0.1, 0.02, 0), v3_make(0.001, 0.004, 0.004), hinge);
  }
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.integrator = integrator;
  def.gravity[2] = 0;
  scene_open(&s, &def);
  scene_set_velocity(&s, base, v3_make(0.3, 0.1, 0.2), v3_make(2, 3, 4));
  const double rate[4] = {3, -4, 5, -2};
  for (int i = 0; i < 4; ++i)
    scene_set(&s, link[i], NULL, &rate[i]);
  return s;
}

/* free bodies on ball connections, which begin to turn together and then swing */
static scene open_joined_chain(tabi_contact_kind contact, tabi_integrator integrator) {
  scene s = scene_begin();
  int32_t link[5];
  for (int i = 0; i < 5; ++i) {
    link[i] = scene_free(&s, 0.6 + 0.2 * i, v3_make(0.001, 0.004, 0.003),
                         v3_make(0.2 * i, i % 2 == 0 ? 0 : 0.05, 5));
    tabi_connection_def ball = tabi_connection_def_default();
    ball.a = i == 0 ? TABI_WORLD : link[i - 1];
    ball.b = link[i];
    ball.pos_a[0] = 0.1;
    ball.pos_b[0] = -0.1;
    ball.pos_b[1] = i % 2 == 0 ? 0.05 : -0.05;
    if (i > 0) tabi_builder_add_connection(s.builder, &ball);
  }
  tabi_world_def def = scene_def(&s);
  def.contact = contact;
  def.integrator = integrator;
  def.gravity[2] = 0;
  scene_open(&s, &def);
  v3 turn = v3_make(2, 3, 4);
  for (int i = 0; i < 5; ++i)
    scene_set_velocity(&s, link[i], v3_cross(turn, v3_load(scene_q(&s, link[i]))), turn);
  return s;
}

/* Energy and momentum in flight; dampers only take. */
static void tumble(tabi_contact_kind contact, tabi_integrator integrator, bool joined,
                   double damping) {
  scene s = joined ? open_joined_chain(contact, integrator)
                   : open_free_chain(contact, integrator, damping);
  double start = scene_energy(&s);
  double lowest = start;
  double gain = 0;
  double before[6];
  double after[6];
  tabi_dynamics_momentum(tabi_world_dynamics(s.world), before, before + 3);
  for (int k = 0; k < 10000; ++k) {
    scene_run(&s, 1);
    gain = fmax(gain, scene_energy(&s) - lowest);
    lowest = fmin(lowest, scene_energy(&s));
  }
  tabi_dynamics_momentum(tabi_world_dynamics(s.world), after, after + 3);
  print_message("%s chain, %s, %s, damping %g: gains %.1e, loses %.1e of %.3g J\n",
                joined ? "joined" : "free", tabi_contact_name(contact),
                tabi_integrator_name(integrator), damping, gain, start - lowest, start);
  double bound = integrator == TABI_MIDPOINT ? 1e-9 : 1e-6;
  assert_true(gain < bound * start);
  assert_true(damping > 0 ? lowest < 0.99 * start : lowest > (1 - bound) * start);
  assert_near_n(after, before, 6, 1e-10);
  scene_close(&s);
}

static void tumbles_freely(void **state) {
  (void)state;
  const tabi_contact_kind contact[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT, TABI_CONTACT_LCP,
                                       TABI_CONTACT_IMPULSE, TABI_CONTACT_PENALTY};
  const tabi_integrator integrator[] = {TABI_SEMI_IMPLICIT, TABI_MIDPOINT};
  for (int i = 0; i < 10; ++i) {
    tumble(contact[i % 5], integrator[i / 5], false, 0);
    tumble(contact[i % 5], integrator[i / 5], false, 1e-3);
    tumble(contact[i % 5], integrator[i / 5], true, 0);
  }
}

/* a mass that swings on a soft spring */
static void elastic(scene *s, const tabi_world_def *like) {
  int32_t body = scene_free(s, 1, v3_make(0.01, 0.01, 0.01), v3_make(0.5, 0, 1.5));
  tabi_connection_def spring = tabi_connection_def_default();
  spring.type = TABI_CONNECTION_SPRING;
  spring.a = TABI_WORLD;
  spring.b = body;
  spring.pos_a[2] = 2;
  spring.length = 0.6;
  spring.stiffness = 300;
  tabi_builder_add_connection(s->builder, &spring);
  open_like(s, like);
}

/* Springs are not balanced, but do not feed energy in either. */
static void springs_gain_little(void **state) {
  (void)state;
  for (int i = 0; i < 2; ++i) {
    const passive p = {"mass on a spring", elastic, {0}};
    outcome coarse = run(&p, i == 0 ? TABI_SEMI_IMPLICIT : TABI_MIDPOINT, 1e-3);
    outcome fine = run(&p, i == 0 ? TABI_SEMI_IMPLICIT : TABI_MIDPOINT, 5e-4);
    print_message("%s: gains %.1e, %.1e at half the step; loses %.1e, %.1e\n", p.name, coarse.gain,
                  fine.gain, coarse.loss, fine.loss);
    assert_true(coarse.gain <= 1e-4 && coarse.loss <= 1e-3);
    assert_true(fine.gain <= 0.6 * coarse.gain && fine.loss <= 0.6 * coarse.loss);
  }
}

/* What friction and dampers of joints take is left to them: a step half as long swings alike. */
static double swing_of(double h) {
  scene s = scene_begin();
  int32_t link = hang_pendulum(&s, 0.002, 0.005);
  open_like(&s, &(tabi_world_def){.contact = TABI_CONTACT_EXACT,
                                  .integrator = TABI_SEMI_IMPLICIT,
                                  .timestep = h});
  double angle = 0.5;
  scene_set(&s, link, &angle, NULL);
  scene_run(&s, llround(2 / h));
  double energy = scene_energy(&s);
  scene_close(&s);
  return energy;
}

static void leaves_losses_alone(void **state) {
  (void)state;
  double exact = 2 * swing_of(1.25e-4) - swing_of(2.5e-4);
  double coarse = swing_of(1e-3) - exact;
  double fine = swing_of(5e-4) - exact;
  print_message("damped pendulum after 2 s: energy %.2e J off at 1 ms, %.2e J at 0.5 ms\n", coarse,
                fine);
  assert_true(fabs(coarse) < 1e-4);
  assert_true(fabs(fine) < 0.7 * fabs(coarse));
}

/* The certificate says what was taken or given; what is driven is left alone. */
static void reports_and_spares(void **state) {
  (void)state;
  for (int driven = 0; driven < 2; ++driven) {
    scene s = scene_begin();
    linkage(&s, &(tabi_world_def){.integrator = TABI_MIDPOINT, .timestep = 1e-3});
    double tau[3] = {driven ? 1e-3 : 0, 0, 0};
    double sum = 0;
    for (int k = 0; k < 100; ++k) {
      double before = scene_energy(&s);
      assert_int_equal(tabi_world_step(s.world, tau), TABI_OK);
      double balance = tabi_world_certificate(s.world).balance_work;
      sum += fabs(balance);
      if (!driven) assert_near(scene_energy(&s), before, 1e-10);
    }
    assert_true(driven ? sum == 0 : sum > 1e-8);
    scene_close(&s);
  }
}

/* It tumbles and rebounds at its ends. */
static void springy_capsule(scene *s, const tabi_world_def *like) {
  int32_t rubber = scene_material(s, 0.636, 0.97);
  scene_plane(s, 0, rubber);
  int32_t body = scene_free(s, 0.5, v3_make(6e-4, 6e-4, 1e-4), v3_make(0, 0, 0.2));
  scene_shape(s, TABI_SHAPE_CAPSULE, body, v3_make(0.021, 0.055, 0), rubber);
  open_like(s, like);
  scene_turn(s, body, q_exp(v3_make(0.8, 0.5, 0.3)));
  scene_set_velocity(s, body, v3_make(0.2, 0, 0), v3_make(0.2, -0.2, -1.5));
}

/* Contacts rebound at times of their own within a step, and bodies turn meanwhile. */
static void rebounds_gain_nothing(void **state) {
  (void)state;
  const tabi_contact_kind contact[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT, TABI_CONTACT_IMPULSE,
                                       TABI_CONTACT_PENALTY};
  const passive p = {"springy capsule", springy_capsule, {0}};
  for (size_t k = 0; k < sizeof contact / sizeof contact[0]; ++k) {
    tabi_world_def like = {.contact = contact[k], .integrator = TABI_MIDPOINT, .timestep = 1e-3};
    outcome found = run_like(&p, &like, 3);
    print_message("%s, %s: gains %.1e\n", p.name, tabi_contact_name(contact[k]), found.gain);
    assert_true(found.gain <= 1e-6);
  }
}

/* A weight rests on nothing and its connection is open by 5 cm: that it is lifted until it hangs is
 * no error of the integrator. */
static void open_connection_closes(void **state) {
  (void)state;
  const tabi_contact_kind contact[] = {TABI_CONTACT_CONE, TABI_CONTACT_IMPULSE};
  for (int i = 0; i < 4; ++i) {
    scene s = scene_begin();
    int32_t body = scene_free(&s, 1, v3_make(0.004, 0.004, 0.002), v3_make(0, 0, 1));
    tabi_connection_def ball = tabi_connection_def_default();
    ball.a = body;
    ball.b = TABI_WORLD;
    ball.pos_a[2] = 0.1;
    ball.pos_b[2] = 1.15;
    tabi_builder_add_connection(s.builder, &ball);
    tabi_world_def def = scene_def(&s);
    def.contact = contact[i % 2];
    def.integrator = i / 2 ? TABI_MIDPOINT : TABI_SEMI_IMPLICIT;
    scene_open(&s, &def);
    scene_run(&s, 500);
    assert_near(scene_q(&s, body)[2], 1.05, tabi_world_get_def(s.world).allowed_depth);
    scene_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gains_nothing),          cmocka_unit_test(gains_nothing_by_any_method),
      cmocka_unit_test(tumbles_freely),         cmocka_unit_test(springs_gain_little),
      cmocka_unit_test(leaves_losses_alone),    cmocka_unit_test(reports_and_spares),
      cmocka_unit_test(open_connection_closes), cmocka_unit_test(rebounds_gain_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
