/* test_static_friction.c - bodies of many shapes hold up to static friction, and slide beyond it.
 *
 * A body on a level floor is pushed with a force, and perhaps turned with a couple about the
 * vertical, in proportion.  If nothing but friction resists, limit analysis gives the largest load
 * that friction can bear: with normals n_i at points x_i it is the least, over all motions of the
 * body in the plane, of
 *     sum of mu n_i |v(x_i)|  /  power of the unit load,
 * which for a force through the centre of mass and without couple is mu m g, whatever the shape.
 * Kinetic friction is far lower, so a body that breaks away too early goes on sliding. */
#include "support/near.h"
#include "support/rng.h"
#include "support/scene_build.h"

#include <stdlib.h>

#define MASS    2.0
#define STATIC  0.6
#define KINETIC 0.35
#define RADIUS  0.004 /* m, of the balls that some bodies stand on */

typedef enum body_kind { BOX, LEGS, L_FOOT, DRUM } body_kind;

typedef struct body {
  body_kind kind;
  double height; /* m, of the centre of mass above the floor */
  v3 size;       /* of a box; of a drum its radius, and where its axis is */
  int32_t nleg;
  v3 leg[8]; /* where its points are, from the centre of mass; z is not used */
} body;

/* force of 1 N in a direction, and a couple of `arm` N m, at the centre of mass */
typedef struct load {
  v3 force;
  double arm;
  bool upright; /* a further couple keeps the normals as they are without the load */
} load;

static int32_t add_material(scene *s) {
  tabi_material_def def = tabi_material_def_default();
  def.name = "surface";
  def.friction = STATIC;
  def.kinetic = KINETIC;
  return tabi_builder_add_material(s->builder, &def);
}

static void add_part(scene *s, int32_t link, tabi_shape_type type, v3 size, v3 pos, int32_t stuff) {
  tabi_shape_def def = tabi_shape_def_default();
  def.type = type;
  def.link = link;
  def.material = stuff;
  v3_store(size, def.size);
  v3_store(pos, def.pos);
  tabi_builder_add_shape(s->builder, &def);
}

/* two boxes that meet at a corner; the centre of mass is that of their soles */
static void add_l_foot(scene *s, const body *b, int32_t link, int32_t stuff) {
  double z = 0.01 - b->height;
  add_part(s, link, TABI_SHAPE_BOX, v3_make(0.3, 0.1, 0.02), v3_make(0.0625, -0.0625, z), stuff);
  add_part(s, link, TABI_SHAPE_BOX, v3_make(0.1, 0.2, 0.02), v3_make(-0.0375, 0.0875, z), stuff);
}

static int32_t open_body(scene *s, const body *b, tabi_contact_kind contact, double timestep) {
  *s = scene_begin();
  int32_t stuff = add_material(s);
  scene_plane(s, 0, stuff);
  v3 inertia = v3_scale(MASS * 0.02, v3_make(1, 1, 1.2));
  int32_t link = scene_free(s, MASS, inertia, v3_make(0, 0, b->height));
  if (b->kind == BOX) scene_shape(s, TABI_SHAPE_BOX, link, b->size, stuff);
  if (b->kind == L_FOOT) add_l_foot(s, b, link, stuff);
  v3 drum = v3_make(b->size.y, b->size.z, 0.01 - b->height);
  if (b->kind == DRUM)
    add_part(s, link, TABI_SHAPE_CYLINDER, v3_make(b->size.x, 0.02, 0), drum, stuff);
  for (int32_t i = 0; i < b->nleg && b->kind == LEGS; ++i) {
    v3 at = v3_make(b->leg[i].x, b->leg[i].y, RADIUS - b->height);
    add_part(s, link, TABI_SHAPE_SPHERE, v3_make(RADIUS, 0, 0), at, stuff);
  }
  tabi_world_def def = scene_def(s);
  def.contact = contact;
  def.timestep = timestep;
  scene_open(s, &def);
  return link;
}

static void push(scene *s, int32_t link, const body *b, const load *l, double size) {
  double at[3];
  double quat[4];
  double f[3];
  tabi_dynamics_link_pose(tabi_world_dynamics(s->world), link, at, quat);
  v3_store(v3_scale(size, l->force), f);
  double tip = l->upright ? size * b->height : 0;
  const double couple[3] = {tip * l->force.y, -tip * l->force.x, size * l->arm};
  tabi_world_apply(s->world, link, f, couple, at);
}

/* how far a body is moved within 0.4 s by a load that comes at once, or grows over 0.2 s */
static double moves(const body *b, const load *l, double size, tabi_contact_kind contact,
                    double timestep, bool at_once) {
  scene s;
  int32_t link = open_body(&s, b, contact, timestep);
  int64_t steps = llround(0.4 / timestep);
  scene_run(&s, steps / 4);
  for (int64_t k = 1; k <= steps; ++k) {
    double share = at_once || 2 * k > steps ? 1 : 2 * (double)k / (double)steps;
    push(&s, link, b, l, share * size);
    scene_run(&s, 1);
  }
  const double *q = scene_q(&s, link);
  double moved = sqrt(q[0] * q[0] + q[1] * q[1]) + 0.1 * fabs(2 * q[6]);
  scene_close(&s);
  return moved;
}

static const tabi_contact_kind methods[] = {TABI_CONTACT_IMPULSE, TABI_CONTACT_PENALTY,
                                            TABI_CONTACT_CONE, TABI_CONTACT_EXACT};

static void check_at(const body *b, const load *l, double limit, tabi_contact_kind contact,
                     double timestep, bool at_once, uint64_t seed) {
  /* a load that comes at once makes a body rock on springs until a leg is without load */
  if (at_once && b->kind == LEGS && tabi_contact_describe(contact)->compliant) return;
  double held = moves(b, l, 0.99 * limit, contact, timestep, at_once);
  double slid = moves(b, l, 1.01 * limit, contact, timestep, at_once);
  if (held < 1e-4 && slid > 1e-3) return;
  fail_msg("seed %llu, %s, load %s: %.2g m at 0.99 of the limit, %.2g m at 1.01",
           (unsigned long long)seed, tabi_contact_name(contact), at_once ? "at once" : "growing",
           held, slid);
}

/* nmethod: cone and exact are last, and choose normals by themselves where they are not unique */
static void check(const body *b, const load *l, double limit, double timestep, int nmethod,
                  uint64_t seed) {
  for (int m = 0; m < nmethod; ++m) {
    check_at(b, l, limit, methods[m], timestep, false, seed);
    check_at(b, l, limit, methods[m], timestep, true, seed);
  }
}

/* the load at which a body slides, of its limit, to 1e-3 */
static double threshold(const body *b, const load *l, double limit, tabi_contact_kind contact) {
  double low = 0;
  double high = 1.2;
  while (high - low > 1e-3) {
    double middle = 0.5 * (low + high);
    if (moves(b, l, middle * limit, contact, 1e-3, false) < 1e-3) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

static body box_of(double x, double y, double z) {
  return (body){.kind = BOX, .height = 0.5 * z, .size = v3_make(x, y, z)};
}

static load along(double angle) { return (load){.force = v3_make(cos(angle), sin(angle), 0)}; }

static void boxes_hold(void **state) {
  (void)state;
  const double limit = STATIC * MASS * GRAVITY;
  const double heights[] = {0.01, 0.05, 0.1, 0.2};
  for (size_t i = 0; i < sizeof heights / sizeof heights[0]; ++i) {
    body b = box_of(0.3, 0.2, heights[i]);
    for (int k = 0; k < 2; ++k) {
      load l = along(k * M_PI / 2);
      print_message("box of height %.2f, %s: slips at %.3f of static friction under impulse, %.3f "
                    "under penalty\n",
                    heights[i], k == 0 ? "along" : "across",
                    threshold(&b, &l, limit, TABI_CONTACT_IMPULSE),
                    threshold(&b, &l, limit, TABI_CONTACT_PENALTY));
      check(&b, &l, limit, 1e-3, 4, i);
    }
  }
}

static void l_feet_hold(void **state) {
  (void)state;
  const double limit = STATIC * MASS * GRAVITY;
  body b = {.kind = L_FOOT, .height = 0.06};
  for (int k = 0; k < 8; ++k) {
    load l = along(0.3 + k * M_PI / 4);
    print_message("L-shaped foot, %3.0f deg: %.3f, %.3f\n", 57.3 * (0.3 + k * M_PI / 4),
                  threshold(&b, &l, limit, TABI_CONTACT_IMPULSE),
                  threshold(&b, &l, limit, TABI_CONTACT_PENALTY));
    check(&b, &l, limit, 1e-3, 4, (uint64_t)k);
  }
}

/* Cylinders stand on points of their rim, whose number and places shall not matter. */
static void drums_hold(void **state) {
  (void)state;
  const double limit = STATIC * MASS * GRAVITY;
  for (uint64_t seed = 0; seed < (TEST_SHORT ? 4 : 40); ++seed) {
    rng r = rng_make(seed);
    body b = {.kind = DRUM, .height = rng_between(&r, 0.01, 0.1)};
    b.size.x = rng_between(&r, 0.12, 0.25);
    b.size.y = rng_between(&r, -0.03, 0.03);
    b.size.z = rng_between(&r, -0.03, 0.03);
    load l = along(rng_between(&r, -M_PI, M_PI));
    for (int m = 0; m < 4; ++m)
      check_at(&b, &l, limit, methods[m], 1e-3, false, seed);
  }
}

/* normals of three legs under the weight and a load; the least of them */
static double tripod_normals(const body *b, const load *l, double size, double n[3]) {
  v3 tip = l->upright ? v3_zero() : v3_scale(size * b->height / (MASS * GRAVITY), l->force);
  /* the centre of pressure in barycentric coordinates of the legs */
  v3 a = v3_sub(b->leg[1], b->leg[0]);
  v3 c = v3_sub(b->leg[2], b->leg[0]);
  v3 p = v3_sub(tip, b->leg[0]);
  double det = a.x * c.y - a.y * c.x;
  double s = (p.x * c.y - p.y * c.x) / det;
  double t = (a.x * p.y - a.y * p.x) / det;
  const double share[3] = {1 - s - t, s, t};
  for (int i = 0; i < 3; ++i)
    n[i] = share[i] * MASS * GRAVITY;
  return fmin(n[0], fmin(n[1], n[2]));
}

/* three legs that all carry at least a tenth of the weight, also when pushed to the limit */
static body random_tripod(rng *r, const load *l) {
  body b = {.kind = LEGS, .nleg = 3};
  double n[3];
  do {
    b.height = rng_between(r, 0.01, 0.1);
    for (int i = 0; i < 3; ++i)
      b.leg[i] = v3_make(rng_between(r, -0.2, 0.2), rng_between(r, -0.2, 0.2), 0);
  } while (!(tripod_normals(&b, l, 0, n) > 0.1 * MASS * GRAVITY &&
             tripod_normals(&b, l, STATIC * MASS * GRAVITY, n) > 0.1 * MASS * GRAVITY));
  return b;
}

static void tripods_hold(void **state) {
  (void)state;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    rng r = rng_make(seed);
    load l = along(rng_between(&r, 0, 2 * M_PI));
    body b = random_tripod(&r, &l);
    check(&b, &l, STATIC * MASS * GRAVITY, seed % 3 == 0 ? 2e-4 : 1e-3, 4, seed);
  }
}

/* friction over the power of a load, for a turn about a point */
static double bound_at(const body *b, const load *l, const double *n, v3 centre) {
  double friction = 0;
  for (int32_t i = 0; i < b->nleg; ++i) {
    v3 arm = v3_sub(b->leg[i], centre);
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): n has nleg numbers */
    friction += STATIC * n[i] * sqrt(arm.x * arm.x + arm.y * arm.y);
  }
  double power = fabs(l->force.x * centre.y - l->force.y * centre.x + l->arm);
  return power > 0 ? friction / power : HUGE_VAL;
}

/* the least bound: a grid of centres, refined around the best, the legs themselves, and no turn */
static double limit_load(const body *b, const load *l, const double *n) {
  double best = STATIC * MASS * GRAVITY;
  v3 at = v3_zero();
  for (int halving = 0; halving < 32; ++halving) {
    double size = ldexp(4, -halving);
    v3 from = at;
    for (int i = -20; i <= 20; ++i) {
      for (int j = -20; j <= 20; ++j) {
        v3 centre = v3_add(from, v3_make(size * i / 20, size * j / 20, 0));
        double bound = bound_at(b, l, n, centre);
        if (bound >= best) continue;
        best = bound;
        at = centre;
      }
    }
  }
  for (int32_t i = 0; i < b->nleg; ++i)
    best = fmin(best, bound_at(b, l, n, b->leg[i]));
  return best;
}

/* a force with a couple: some legs carry more friction than others, or turn about one of them */
static void tripods_with_couples_hold(void **state) {
  (void)state;
  for (uint64_t seed = 101; seed <= 130; ++seed) {
    rng r = rng_make(seed);
    load l = along(rng_between(&r, 0, 2 * M_PI));
    l.arm = rng_between(&r, -0.5, 0.5);
    l.upright = true;
    body b = random_tripod(&r, &l);
    double n[3];
    (void)tripod_normals(&b, &l, 0, n);
    check(&b, &l, limit_load(&b, &l, n), 1e-3, 4, seed);
  }
}

static void boxes_with_couples_hold(void **state) {
  (void)state;
  const double arms[] = {0.03, 0.1, 0.4};
  for (size_t i = 0; i < sizeof arms / sizeof arms[0]; ++i) {
    body b = box_of(0.3, 0.3, 0.1);
    const double n[4] = {0.25 * MASS * GRAVITY, 0.25 * MASS * GRAVITY, 0.25 * MASS * GRAVITY,
                         0.25 * MASS * GRAVITY};
    load l = along(0.4);
    l.arm = arms[i];
    l.upright = true;
    b.nleg = 4;
    for (int k = 0; k < 4; ++k)
      b.leg[k] = v3_make(k % 2 ? 0.15 : -0.15, k / 2 ? 0.15 : -0.15, 0);
    double limit = limit_load(&b, &l, n);
    print_message("box, couple %.2f N m per N: limit %.3f m g; slips at %.3f, %.3f of it\n",
                  arms[i], limit / (MASS * GRAVITY), threshold(&b, &l, limit, TABI_CONTACT_IMPULSE),
                  threshold(&b, &l, limit, TABI_CONTACT_PENALTY));
    check(&b, &l, limit, 1e-3, 2, i);
  }
}

/* A block pulled by a spring k whose end moves at a speed V sticks and slips in turn.  It slips for
 * 2 / w (pi - atan(D w / V)), w^2 = k / m and D = (mu_s - mu_k) m g / k, and sticks for 2 D / V. */
static void stick_slip_has_its_period(void **state) {
  (void)state;
  const double h = 1e-3;
  const double k = 200;
  const double speed = 0.1;
  const double w = sqrt(k / MASS);
  const double d = (STATIC - KINETIC) * MASS * GRAVITY / k;
  const double period = 2 / w * (M_PI - atan(d * w / speed)) + 2 * d / speed;
  for (size_t m = 0; m < sizeof methods / sizeof methods[0]; ++m) {
    body b = box_of(0.3, 0.2, 0.05);
    scene s;
    int32_t link = open_body(&s, &b, methods[m], h);
    int count = 0;
    double first = 0;
    double last = 0;
    bool slips = false;
    for (int64_t i = 0; i < 8000; ++i) {
      double time = h * (double)i;
      scene_push(&s, link, v3_make(k * (speed * time - scene_q(&s, link)[0]), 0, 0));
      scene_run(&s, 1);
      bool now = scene_v(&s, link)[0] > 0.1 * speed;
      if (now && !slips && ++count > 0) last = time;
      if (count == 1) first = last;
      slips = now;
    }
    double measured = (last - first) / (count - 1);
    print_message("stick-slip under %s: period %.4f s, %.4f s expected\n",
                  tabi_contact_name(methods[m]), measured, period);
    assert_true(count > 5);
    assert_near(measured, period, 2 * h);
    scene_close(&s);
  }
}

/* a box laid on a slope that holds it, without having settled there before */
static void laid_boxes_hold(void **state) {
  (void)state;
  const double angle = atan(0.99 * STATIC);
  for (size_t m = 0; m < sizeof methods / sizeof methods[0]; ++m) {
    body b = box_of(0.3, 0.3, 0.1);
    scene s = scene_begin();
    int32_t stuff = add_material(&s);
    scene_plane(&s, 0, stuff);
    int32_t link = scene_box(&s, MASS, b.size, v3_make(0, 0, b.height), stuff);
    tabi_world_def def = scene_def(&s);
    def.contact = methods[m];
    def.gravity[0] = GRAVITY * sin(angle);
    def.gravity[2] = -GRAVITY * cos(angle);
    scene_open(&s, &def);
    scene_run(&s, 500);
    assert_near(scene_q(&s, link)[0], 0, 1e-4);
    scene_close(&s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_hold),
      cmocka_unit_test(l_feet_hold),
      cmocka_unit_test(drums_hold),
      cmocka_unit_test(tripods_hold),
      cmocka_unit_test(boxes_with_couples_hold),
      cmocka_unit_test(tripods_with_couples_hold),
      cmocka_unit_test(laid_boxes_hold),
      cmocka_unit_test(stick_slip_has_its_period),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
