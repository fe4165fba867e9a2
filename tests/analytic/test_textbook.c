/* test_textbook.c - problems of the textbooks of mechanics, each under five contact methods.
 *
 * Every problem is one figure with a closed answer: an acceleration, a share of a load, or the
 * limit of equilibrium, which bisection finds.  A method passes if its figure is right to the
 * bound of the problem, at the default step of 1 ms and with default materials.  Limits of friction
 * under lcp lie anywhere between those of mu and sqrt(2) mu, since its friction at rest is a
 * pyramid with axes at random. */
#include "support/near.h"
#include "support/scene_build.h"

#define H 1e-3

static const tabi_contact_kind methods[] = {TABI_CONTACT_CONE, TABI_CONTACT_EXACT, TABI_CONTACT_LCP,
                                            TABI_CONTACT_PENALTY, TABI_CONTACT_IMPULSE};
enum { METHODS = sizeof methods / sizeof *methods };

static void open_with(scene *s, tabi_contact_kind contact) {
  tabi_world_def def = scene_def(s);
  def.contact = contact;
  scene_open(s, &def);
}

/* a shape fixed in the world */
static void add_fixed(scene *s, tabi_shape_type type, v3 size, v3 pos, q4 turn, int32_t material) {
  tabi_shape_def def = tabi_shape_def_default();
  def.type = type;
  def.link = TABI_WORLD;
  def.material = material;
  v3_store(size, def.size);
  v3_store(pos, def.pos);
  q_store(turn, def.quat);
  tabi_builder_add_shape(s->builder, &def);
}

/* axis z turned to y, or to an angle above x in the plane of x and z */
static q4 along_y(void) { return (q4){sqrt(0.5), -sqrt(0.5), 0, 0}; }
static q4 along(double angle) { return scene_tilt(M_PI / 2 - angle); }

static v3 downhill(double tilt) { return v3_make(cos(tilt), 0, -sin(tilt)); }
static v3 uphill_normal(double tilt) { return v3_make(sin(tilt), 0, cos(tilt)); }

/* the largest x that holds, between one that does and one that does not */
static double last_that_holds(bool (*holds)(tabi_contact_kind, double), tabi_contact_kind contact,
                              double good, double bad) {
  assert_true(holds(contact, good));
  assert_false(holds(contact, bad));
  while (fabs(bad - good) > 5e-4 * fabs(good + bad)) {
    double middle = 0.5 * (good + bad);
    *(holds(contact, middle) ? &good : &bad) = middle;
  }
  return good;
}

/* ------------------------------------------------------------------------ accelerations */

#define RADIUS 0.1
#define TILT   0.3

/* m/s^2, along the plane, of a body that starts at rest touching it */
static double acceleration_down(scene *s, int32_t body, double tilt, tabi_contact_kind contact,
                                q4 turn) {
  open_with(s, contact);
  scene_turn(s, body, turn);
  scene_run(s, 500);
  double a = v3_dot(v3_load(scene_v(s, body)), downhill(tilt)) / 0.5;
  scene_close(s);
  return a;
}

static scene begin_on_slope(double tilt, double friction, int32_t *stuff) {
  scene s = scene_begin();
  *stuff = scene_material(&s, friction, 0);
  scene_plane(&s, tilt, *stuff);
  return s;
}

static double ball_rolls(tabi_contact_kind contact) {
  int32_t stuff;
  scene s = begin_on_slope(TILT, 0.5, &stuff);
  int32_t ball = scene_ball(&s, 1, RADIUS, v3_scale(RADIUS, uphill_normal(TILT)), stuff);
  return acceleration_down(&s, ball, TILT, contact, q_identity());
}

/* rad/s^2, of a ball on a slope so steep that it slips: 5/2 mu g cos / r */
static double ball_slips(tabi_contact_kind contact) {
  int32_t stuff;
  scene s = begin_on_slope(2 * TILT, 0.1, &stuff);
  int32_t ball = scene_ball(&s, 1, RADIUS, v3_scale(RADIUS, uphill_normal(2 * TILT)), stuff);
  open_with(&s, contact);
  scene_run(&s, 500);
  double spin = scene_v(&s, ball)[4] / 0.5;
  scene_close(&s);
  return spin;
}

static double cylinder_rolls(tabi_contact_kind contact) {
  int32_t stuff;
  scene s = begin_on_slope(TILT, 0.5, &stuff);
  double axial = 0.5 * RADIUS * RADIUS;
  double across = 0.25 * RADIUS * RADIUS + 0.2 * 0.2 / 12;
  int32_t body =
      scene_free(&s, 1, v3_make(across, across, axial), v3_scale(RADIUS, uphill_normal(TILT)));
  scene_shape(&s, TABI_SHAPE_CYLINDER, body, v3_make(RADIUS, 0.2, 0), stuff);
  return acceleration_down(&s, body, TILT, contact, along_y());
}

/* A ball between two rails rolls on a circle of radius R cos(alpha), sin(alpha) = w / (R + c). */
#define RAIL_WIDTH  0.08
#define RAIL_RADIUS 0.02
static double rail_cosine(void) {
  double sine = RAIL_WIDTH / (RADIUS + RAIL_RADIUS);
  return sqrt(1 - sine * sine);
}

static double ball_on_rails(tabi_contact_kind contact) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.8, 0);
  for (int side = -1; side <= 1; side += 2)
    add_fixed(&s, TABI_SHAPE_CAPSULE, v3_make(RAIL_RADIUS, 4, 0), v3_make(0, side * RAIL_WIDTH, 0),
              along(-TILT), stuff);
  double height = (RADIUS + RAIL_RADIUS) * rail_cosine();
  int32_t ball = scene_ball(&s, 1, RADIUS, v3_scale(height, uphill_normal(TILT)), stuff);
  return acceleration_down(&s, ball, TILT, contact, q_identity());
}

/* m/s, at which a ball with backspin rolls in the end: (5 v + 2 r w) / 7 */
static double ball_with_backspin(tabi_contact_kind contact) {
  int32_t stuff;
  scene s = begin_on_slope(0, 0.3, &stuff);
  int32_t ball = scene_ball(&s, 1, RADIUS, v3_make(0, 0, RADIUS), stuff);
  open_with(&s, contact);
  scene_set_velocity(&s, ball, v3_make(2, 0, 0), v3_make(0, -30, 0));
  scene_run(&s, 1500);
  double v = scene_v(&s, ball)[0];
  scene_close(&s);
  return v;
}

/* m/s^2, of the lower of two blocks that is pulled away under the upper one */
static double block_pulled_away(tabi_contact_kind contact) {
  int32_t stuff;
  scene s = begin_on_slope(0, 0.2, &stuff);
  int32_t lower = scene_box(&s, 3, v3_make(0.5, 0.5, 0.1), v3_make(0, 0, 0.05), stuff);
  (void)scene_box(&s, 1, v3_make(0.1, 0.1, 0.05), v3_make(0, 0, 0.125), stuff);
  open_with(&s, contact);
  for (int i = 0; i < 100; ++i) {
    scene_push(&s, lower, v3_make(30, 0, 0));
    scene_run(&s, 1);
  }
  double a = scene_v(&s, lower)[0] / 0.1;
  scene_close(&s);
  return a;
}

/* m/s^2, of a spool whose thread leaves its hub below and is pulled upwards at an angle */
#define THREAD 0.3 /* rad */
static double spool(tabi_contact_kind contact) {
  int32_t stuff;
  scene s = begin_on_slope(0, 0.5, &stuff);
  int32_t body = scene_ball(&s, 1, RADIUS, v3_make(0, 0, RADIUS), stuff);
  open_with(&s, contact);
  const double force[3] = {2 * cos(THREAD), 0, 2 * sin(THREAD)};
  const double couple[3] = {0, -2 * 0.5 * RADIUS, 0};
  for (int i = 0; i < 500; ++i) {
    tabi_world_apply(s.world, body, force, couple, scene_q(&s, body));
    scene_run(&s, 1);
  }
  double a = scene_v(&s, body)[0] / 0.5;
  scene_close(&s);
  return a;
}

/* A stick falls from 1 rad on a smooth floor.  Its rate just before it lies flat, over that which
 * energy demands at the same angle: w^2 (I + m (l cos / 2)^2) = m g l (sin start - sin). */
static double falling_stick(tabi_contact_kind contact) {
  const double length = 1;
  const double radius = 0.01;
  const double inertia = length * length / 12;
  int32_t stuff;
  scene s = begin_on_slope(0, 0, &stuff);
  v3 start = v3_make(0, 0, radius + 0.5 * length * sin(1));
  int32_t stick = scene_free(&s, 1, v3_make(inertia, inertia, 1e-4), start);
  scene_shape(&s, TABI_SHAPE_CAPSULE, stick, v3_make(radius, length, 0), stuff);
  open_with(&s, contact);
  scene_turn(&s, stick, along(1));
  double sine = 1;
  while (sine > 0.03) {
    scene_run(&s, 1);
    const double *quat = scene_q(&s, stick) + 3;
    sine = 1 - 2 * (quat[1] * quat[1] + quat[2] * quat[2]); /* height of its axis z */
  }
  double arm = 0.5 * length * sqrt(1 - sine * sine);
  double expected = sqrt(GRAVITY * length * (sin(1) - sine) / (inertia + arm * arm));
  double rate = fabs(scene_v(&s, stick)[4]) / expected;
  scene_close(&s);
  return rate;
}

/* -------------------------------------------------------------------------- where loads act */

/* the share of a plank's weight on the nearer of two supports */
static double plank_on_supports(tabi_contact_kind contact) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  const double at[2] = {-0.4, 0.2};
  for (int i = 0; i < 2; ++i)
    add_fixed(&s, TABI_SHAPE_CAPSULE, v3_make(0.05, 0.4, 0), v3_make(at[i], 0, 0), along_y(),
              stuff);
  (void)scene_box(&s, 2, v3_make(1, 0.2, 0.05), v3_make(0, 0, 0.075), stuff);
  open_with(&s, contact);
  scene_run(&s, 500);
  int32_t count;
  const tabi_contact *c = tabi_world_contacts(s.world, &count);
  double all = 0;
  double right = 0;
  for (int32_t i = 0; i < count; ++i) {
    double f = fabs(c[i].impulse[2]);
    all += f;
    if (c[i].point[0] > 0) right += f;
  }
  scene_close(&s);
  return right / all;
}

/* m, by which the centre of pressure of a sliding block is ahead: mu times the height of its CoM */
static double sliding_pressure(tabi_contact_kind contact) {
  int32_t stuff;
  scene s = begin_on_slope(0, 0.4, &stuff);
  int32_t block = scene_box(&s, 2, v3_make(0.2, 0.2, 0.2), v3_make(0, 0, 0.1), stuff);
  open_with(&s, contact);
  scene_set_velocity(&s, block, v3_make(3, 0, 0), v3_zero());
  scene_run(&s, 300);
  int32_t count;
  const tabi_contact *c = tabi_world_contacts(s.world, &count);
  double force = 0;
  double moment = 0;
  for (int32_t i = 0; i < count; ++i) {
    force += fabs(c[i].impulse[2]);
    moment += fabs(c[i].impulse[2]) * (c[i].point[0] - scene_q(&s, block)[0]);
  }
  double offset = moment / force + H * scene_v(&s, block)[0];
  scene_close(&s);
  return offset;
}

/* --------------------------------------------------------------------- limits of equilibrium */

/* whether a body has stayed where it was, but for the little that springs give way */
static bool still_at(const scene *s, int32_t body, v3 start) {
  v3 moved = v3_sub(v3_load(scene_q(s, body)), start);
  return v3_norm(moved) < 1e-3;
}

/* The share of a load that acts in a step: springs that settle under a sudden load have energy
 * enough to pass a limit that is close. */
static double loading(int step) { return fmin(step / 500., 1); }

/* A ladder leans against a wall; its ends are balls of radius c around the ends of its line, which
 * shifts where forces act. */
#define LADDER_ANGLE 1.1
#define LADDER_ROUND 0.02
static bool ladder_holds(tabi_contact_kind contact, double floor_friction, double wall_friction) {
  scene s = scene_begin();
  int32_t floor = scene_material(&s, floor_friction, 0);
  bool alike = wall_friction == floor_friction;
  int32_t wall = alike ? floor : scene_material(&s, wall_friction, 0);
  scene_plane(&s, 0, floor);
  add_fixed(&s, TABI_SHAPE_PLANE, v3_zero(), v3_zero(), scene_tilt(M_PI / 2), wall);
  v3 centre =
      v3_make(LADDER_ROUND + 0.5 * cos(LADDER_ANGLE), 0, LADDER_ROUND + 0.5 * sin(LADDER_ANGLE));
  int32_t ladder = scene_free(&s, 5, v3_make(5. / 12, 5. / 12, 1e-3), centre);
  scene_shape(&s, TABI_SHAPE_CAPSULE, ladder, v3_make(LADDER_ROUND, 1, 0), floor);
  open_with(&s, contact);
  scene_turn(&s, ladder, along(M_PI - LADDER_ANGLE));
  scene_run(&s, 500);
  bool holds = still_at(&s, ladder, centre);
  scene_close(&s);
  return holds;
}

static bool ladder_at_smooth_wall(tabi_contact_kind contact, double mu) {
  return ladder_holds(contact, mu, 0);
}
static bool ladder_at_rough_wall(tabi_contact_kind contact, double mu) {
  return ladder_holds(contact, mu, mu);
}
static double smooth_wall(tabi_contact_kind contact) {
  return last_that_holds(ladder_at_smooth_wall, contact, 0.5, 0.1);
}
static double rough_wall(tabi_contact_kind contact) {
  return last_that_holds(ladder_at_rough_wall, contact, 0.5, 0.1);
}
/* moments about the lower end: with a smooth wall, and with friction mu at both ends */
static double smooth_wall_limit(void) {
  return 0.5 * cos(LADDER_ANGLE) / (sin(LADDER_ANGLE) + LADDER_ROUND);
}
static double rough_wall_limit(void) {
  double a = 0.5 * cos(LADDER_ANGLE) + LADDER_ROUND;
  double b = sin(LADDER_ANGLE) + LADDER_ROUND;
  double c = 0.5 * cos(LADDER_ANGLE);
  return (sqrt(b * b + 4 * a * c) - b) / (2 * a);
}

/* of its weight, that pushes a tall box over at the height of its centre: width over height */
static bool tall_box_stands(tabi_contact_kind contact, double share) {
  int32_t stuff;
  scene s = begin_on_slope(0, 2, &stuff);
  v3 start = v3_make(0, 0, 0.15);
  int32_t box = scene_box(&s, 2, v3_make(0.1, 0.1, 0.3), start, stuff);
  open_with(&s, contact);
  for (int i = 0; i < 1500; ++i) {
    scene_push(&s, box, v3_make(share * 2 * GRAVITY * loading(i), 0, 0));
    scene_run(&s, 1);
  }
  bool stands = still_at(&s, box, start);
  scene_close(&s);
  return stands;
}
static double tipping(tabi_contact_kind contact) {
  return last_that_holds(tall_box_stands, contact, 0.25, 0.4);
}

/* N, that pulls a wheel over a kerb: m g sqrt(2 R h - h^2) / (R - h) */
#define WHEEL 0.3
#define KERB  0.1
static bool wheel_stays(tabi_contact_kind contact, double force) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 1, 0);
  scene_plane(&s, 0, stuff);
  double reach = sqrt(2 * WHEEL * KERB - KERB * KERB);
  add_fixed(&s, TABI_SHAPE_BOX, v3_make(1, 1, KERB), v3_make(0.5 + reach, 0, 0.5 * KERB),
            q_identity(), stuff);
  v3 start = v3_make(0, 0, WHEEL);
  int32_t wheel = scene_ball(&s, 2, WHEEL, start, stuff);
  open_with(&s, contact);
  for (int i = 0; i < 1200; ++i) {
    scene_push(&s, wheel, v3_make(force * loading(i), 0, 0));
    scene_run(&s, 1);
  }
  bool stays = still_at(&s, wheel, start);
  scene_close(&s);
  return stays;
}
static double kerb(tabi_contact_kind contact) {
  return last_that_holds(wheel_stays, contact, 15, 35);
}

/* N, that presses a block against a wall so that it does not slip: m g / mu */
static bool pressed_block_holds(tabi_contact_kind contact, double force) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  add_fixed(&s, TABI_SHAPE_PLANE, v3_zero(), v3_zero(), scene_tilt(M_PI / 2), stuff);
  v3 start = v3_make(0.05, 0, 0);
  int32_t block = scene_box(&s, 1, v3_make(0.1, 0.1, 0.1), start, stuff);
  open_with(&s, contact);
  for (int i = 0; i < 500; ++i) {
    scene_push(&s, block, v3_make(-force, 0, 0));
    scene_run(&s, 1);
  }
  bool holds = still_at(&s, block, start);
  scene_close(&s);
  return holds;
}
static double pressed_block(tabi_contact_kind contact) {
  return last_that_holds(pressed_block_holds, contact, 30, 10);
}

/* Two rollers side by side carry a third: they part unless friction between them is tan 15. */
static bool rollers_hold(tabi_contact_kind contact, double mu) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, mu, 0);
  scene_plane(&s, 0, stuff);
  const v3 start[3] = {
      {-RADIUS, 0, RADIUS                },
      {RADIUS,  0, RADIUS                },
      {0,       0, RADIUS * (1 + sqrt(3))}
  };
  int32_t roller[3];
  double axial = 0.5 * RADIUS * RADIUS;
  for (int i = 0; i < 3; ++i) {
    roller[i] = scene_free(&s, 1, v3_make(0.02, 0.02, axial), start[i]);
    scene_shape(&s, TABI_SHAPE_CAPSULE, roller[i], v3_make(RADIUS, 0.4, 0), stuff);
  }
  open_with(&s, contact);
  for (int i = 0; i < 3; ++i)
    scene_turn(&s, roller[i], along_y());
  scene_run(&s, 500);
  bool hold = still_at(&s, roller[2], start[2]);
  scene_close(&s);
  return hold;
}
static double three_rollers(tabi_contact_kind contact) {
  return last_that_holds(rollers_hold, contact, 0.5, 0.1);
}

/* Four bricks over the edge of a table, each half, a quarter, a sixth and an eighth of its length
 * beyond the one below: this far, and no farther. */
static bool bricks_hold(tabi_contact_kind contact, double share) {
  scene s = scene_begin();
  int32_t stuff = scene_material(&s, 0.5, 0);
  v3 size = v3_make(0.24, 0.115, 0.07);
  add_fixed(&s, TABI_SHAPE_BOX, v3_make(1, 1, 0.1), v3_make(-0.5, 0, -0.05), q_identity(), stuff);
  double beyond = 0; /* the end of the brick under the next one; at first that of the table */
  int32_t brick[4];
  v3 start[4];
  for (int i = 0; i < 4; ++i) {
    beyond += share * size.x / (2 * (4 - i));
    start[i] = v3_make(beyond - 0.5 * size.x, 0, (i + 0.5) * size.z);
    brick[i] = scene_box(&s, 2, size, start[i], stuff);
  }
  open_with(&s, contact);
  for (int step = 0; step < 1500; ++step) {
    for (int i = 0; i < 4; ++i)
      scene_push(&s, brick[i], v3_make(0, 0, 2 * GRAVITY * (1 - loading(step))));
    scene_run(&s, 1);
  }
  bool hold = true;
  for (int i = 0; i < 4; ++i)
    hold = hold && still_at(&s, brick[i], start[i]);
  scene_close(&s);
  return hold;
}
static double overhang(tabi_contact_kind contact) {
  return last_that_holds(bricks_hold, contact, 0.9, 1.1);
}

/* ----------------------------------------------------------------------------- the problems */

typedef struct problem {
  const char *name, *unit;
  double (*measure)(tabi_contact_kind contact);
  double expected;
  bool at_rest; /* a limit of friction at rest */
} problem;

static bool is_right(const problem *p, tabi_contact_kind contact, double measured, double bound) {
  double ratio = measured / p->expected;
  if (contact == TABI_CONTACT_LCP && p->at_rest)
    return ratio > sqrt(0.5) * (1 - bound) && ratio < 1 + bound;
  return fabs(ratio - 1) <= bound;
}

/* bound: of the relative error */
static bool judge(const problem *p, double bound) {
  bool all = true;
  print_message("%-24s %9.5f %-7s", p->name, p->expected, p->unit);
  for (int i = 0; i < METHODS; ++i) {
    double measured = p->measure(methods[i]);
    bool right = is_right(p, methods[i], measured, bound);
    print_message("  %s %+.1e%s", tabi_contact_name(methods[i]), measured / p->expected - 1,
                  right ? "" : " WRONG");
    all = all && right;
  }
  print_message("\n");
  return all;
}

static void judge_all(const problem *problems, size_t count, double bound) {
  bool all = true;
  for (size_t i = 0; i < count; ++i)
    all = judge(&problems[i], bound) && all;
  assert_true(all);
}

/* first order in the step: the falling stick is off by 1.5e-3 */
static void motion(void **state) {
  (void)state;
  const double rolling = rail_cosine() * rail_cosine();
  const problem problems[] = {
      {"ball rolls down",     "m/s^2",   ball_rolls,         5. / 7 * GRAVITY * sin(TILT),              false},
      {"ball slips down",     "rad/s^2", ball_slips,         25 * 0.1 * GRAVITY * cos(2 * TILT),        false},
      {"cylinder rolls down", "m/s^2",   cylinder_rolls,     2. / 3 * GRAVITY * sin(TILT),              false},
      {"ball on rails",       "m/s^2",   ball_on_rails,      GRAVITY * sin(TILT) / (1 + 0.4 / rolling), false},
      {"ball with backspin",  "m/s",     ball_with_backspin, (5 * 2 - 2 * RADIUS * 30) / 7,             false},
      {"block pulled away",   "m/s^2",   block_pulled_away,  (30 - 0.2 * 5 * GRAVITY) / 3,              false},
      {"spool",               "m/s^2",   spool,              2 * (cos(THREAD) - 0.5) / 1.4,             false},
      {"falling stick",       "",        falling_stick,      1,                                         false},
  };
  judge_all(problems, sizeof problems / sizeof *problems, 2e-3);
}

static void loads(void **state) {
  (void)state;
  const problem problems[] = {
      {"plank on supports",      "",  plank_on_supports, 2. / 3,    false},
      {"pressure under a slide", "m", sliding_pressure,  0.4 * 0.1, false},
  };
  judge_all(problems, sizeof problems / sizeof *problems, 1e-3);
}

static void equilibrium(void **state) {
  (void)state;
  double reach = sqrt(2 * WHEEL * KERB - KERB * KERB);
  const problem problems[] = {
      {"ladder, smooth wall",  "",  smooth_wall,   smooth_wall_limit(),                  true },
      {"ladder, rough wall",   "",  rough_wall,    rough_wall_limit(),                   true },
      {"three rollers",        "",  three_rollers, 2 - sqrt(3),                          true },
      {"pressed block",        "N", pressed_block, GRAVITY / 0.5,                        true },
      {"tall box pushed over", "",  tipping,       1. / 3,                               false},
      {"wheel and kerb",       "N", kerb,          2 * GRAVITY * reach / (WHEEL - KERB), false},
      {"overhanging bricks",   "",  overhang,      1,                                    false},
  };
  judge_all(problems, sizeof problems / sizeof *problems, 1e-2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motion),
      cmocka_unit_test(loads),
      cmocka_unit_test(equilibrium),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
