/* test_cone.c - two ways to the same motion: a biped under `gait`, whose contact modes change at
 * located events, and under `cone`, which knows neither modes nor events but solves for the forces
 * at the corners of its feet in every step.
 *
 * With Coulomb's law in impacts, friction 10 under the support foot and no speed left when a
 * slip ends, both describe the same biped, as long as no impact would lift the support foot.  It
 * tips over its toe, the free foot lands by its heel, slides, and comes down flat.  Events
 * of `cone` are read from the contacts of its steps: they must be the same, in the same order, and
 * their times must approach those of `gait` as the first power of the step. */
#include "gait/biped.h"

#include <stdio.h>
#include <string.h>

#define STEPS      4 /* lengths of the step, each half of the one before */
#define MAX_EVENTS 8
#define MAX_NV     16
#define SLIDES     1e-7 /* m/s */

typedef struct happening {
  double time;
  char name[24];
} happening;

typedef struct story {
  int count;
  happening at[MAX_EVENTS];
} story;

typedef struct motion {
  const char *name;
  double angle[BIPED_ANGLES];
  double knee[2], head[2]; /* N */
  double friction;         /* of the landing foot */
} motion;

/* found by trying postures and torques at random; in one the landed heel comes to rest before the
 * toe is down, in the other the flat foot slides on */
static const motion heel_stops = {
    .name = "heel stops",
    .angle = {-0.3271,  0.4162, 0.1274, 0.9872, -0.4524, -0.0349, -0.4606},
    .knee = {4.547,  22.941},
    .head = {8.343, 46.899      },
    .friction = 0.5,
};
static const motion foot_slides = {
    .name = "foot slides",
    .angle = {-0.3424,  0.5627, 0.2638, 0.7059, -0.2236, -0.0832, -0.2347},
    .knee = {2.594,  19.880},
    .head = {1.878, 56.574      },
    .friction = 0.2,
};

static void note(story *s, double time, const char *name) {
  if (s->count == MAX_EVENTS) fail_msg("too many events, at %g s: %s", time, name);
  s->at[s->count].time = time;
  (void)snprintf(s->at[s->count++].name, sizeof s->at[0].name, "%s", name);
}

static bool is_over(const story *s) {
  return s->count > 0 && strcmp(s->at[s->count - 1].name, "slip ends") == 0;
}

/* ---- under gait */

static biped make_biped(const motion *m) {
  biped b = biped_default();
  b.def.guards = TABI_GAIT_STRICT;
  b.def.impact = TABI_GAIT_COULOMB;
  b.def.slip_stop = 1e-9;
  b.def.support_friction = 10;
  b.def.friction = m->friction;
  b.def.pivot_damping = 0;
  b.timestep = 5e-3;
  memcpy(b.angle, m->angle, sizeof b.angle);
  memcpy(b.force[0].amplitude, m->knee, sizeof m->knee);
  memcpy(b.force[1].amplitude, m->head, sizeof m->head);
  biped_open(&b);
  return b;
}

/* up to the change of support */
static story run_by_modes(biped *b) {
  story s = {0};
  assert_string_equal(tabi_world_gait_state(b->world).mode, "1");
  while (!is_over(&s)) {
    int32_t count;
    assert_true(biped_step(b));
    const tabi_gait_event *event = tabi_world_gait_events(b->world, &count);
    for (int32_t i = 0; i < count && !is_over(&s); ++i) {
      assert_null(strchr(event[i].to, '~'));
      note(&s, event[i].time, event[i].cause);
    }
  }
  return s;
}

/* ---- under cone */

/* The swing foot's ends, or the support foot's. */
typedef struct sole {
  double height[2], fall[2]; /* of heel and toe at the start of a step: m, m/s */
  double force[2];           /* N, in the step */
  double slip;               /* m/s, at its end: of the support toe, of the swing heel */
} sole;

typedef struct follower {
  const motion *motion;
  tabi_scene *scene;
  const tabi_model *model;
  tabi_world *world;
  double step;
  int32_t foot[2], shank, head;
  sole now[2], before[2], earlier[2]; /* in the last steps: support foot, swing foot */
  int slip_sign;                      /* of the swing foot, once it has landed: 1, 0, -1 */
  story story;
} follower;

static int32_t link_of(const follower *f, const char *name) {
  int32_t link = tabi_model_find_link(f->model, name);
  if (link < 0) fail_msg("no link %s", name);
  return link;
}

static void load(follower *f) {
  static const char form[] =
      "gravity: [0, 0, -9.8]\n"
      "materials:\n"
      "  ground: {}\n"
      "  rough: {}\n"
      "  slick: {}\n"
      "pairs:\n"
      "  - [ground, rough, {friction: 10}]\n"
      "  - [ground, slick, {friction: %g}]\n"
      "bodies:\n"
      "  - {name: floor, fixed: true, shape: {plane: {}}, material: ground}\n"
      "robots:\n"
      "  - name: biped\n"
      "    model: biped9.urdf\n"
      "    materials: {left_foot: rough, right_foot: slick}\n";
  char text[sizeof form + 32];
  tabi_error err = {0};
  int length = snprintf(text, sizeof text, form, f->motion->friction);
  f->scene =
      tabi_scene_load_text(text, (size_t)length, TABI_SOURCE_DIR "/models/cone.yaml", NULL, &err);
  if (!f->scene) fail_msg("%s", err.message);
  f->model = tabi_scene_model(f->scene);
  f->foot[0] = link_of(f, "biped/left_foot");
  f->foot[1] = link_of(f, "biped/right_foot");
  f->shank = link_of(f, "biped/right_shank");
  f->head = link_of(f, "biped/head");
}

static follower open_follower(const motion *m, const double *q, double step) {
  follower f = {.motion = m, .step = step};
  const double v[MAX_NV] = {0};
  tabi_error err = {0};
  load(&f);
  assert_true(tabi_model_nv(f.model) <= MAX_NV);
  tabi_world_def def = tabi_world_def_default(f.model);
  def.timestep = step;
  def.allowed_depth = 0;
  def.tolerance = 1e-10;
  def.iterations = 4000;
  f.world = tabi_world_create(f.model, &def, &err);
  if (!f.world) fail_msg("%s", err.message);
  assert_int_equal(tabi_world_set_state(f.world, q, v, &err), TABI_OK);
  return f;
}

static void close_follower(follower *f) {
  tabi_world_destroy(f->world);
  tabi_scene_destroy(f->scene);
}

/* a point of a link in the plane, and how it moves with a link: 3 x nv */
static void place(const follower *f, int32_t link, const double at[3], double out[3]) {
  double pos[3], q[4];
  tabi_dynamics_link_pose(tabi_world_dynamics(f->world), link, pos, q);
  double c = q[0] * q[0] - q[2] * q[2];
  double s = 2 * q[0] * q[2];
  out[0] = pos[0] + c * at[0] + s * at[2];
  out[1] = pos[1];
  out[2] = pos[2] - s * at[0] + c * at[2];
}

/* Joint torques of a force at a point, seen from the support foot: of the force, and of its
 * opposite on that foot at the same place. */
static void push(const follower *f, int32_t link, double height, const double force[2],
                 double *tau) {
  double a[3 * MAX_NV], b[3 * MAX_NV], point[3];
  const double at[3] = {0, 0, height};
  int32_t nv = tabi_model_nv(f->model);
  const tabi_dynamics *d = tabi_world_dynamics(f->world);
  place(f, link, at, point);
  tabi_dynamics_point_jacobian(d, link, point, a);
  tabi_dynamics_point_jacobian(d, f->foot[0], point, b);
  for (int32_t k = 0; k < nv; ++k) {
    int32_t z = 2 * nv + k;
    tau[k] += (a[k] - b[k]) * force[0] + (a[z] - b[z]) * force[1];
  }
}

static void drive(const follower *f, double *tau) {
  double turn = cos(2 * acos(-1) * tabi_world_time(f->world) / 2.9);
  const double knee[2] = {turn * f->motion->knee[0], turn * f->motion->knee[1]};
  memset(tau, 0, sizeof *tau * MAX_NV);
  push(f, f->shank, 0, knee, tau);
  push(f, f->head, 0.5, f->motion->head, tau);
}

/* heights of both ends of a sole before a step, and how fast they come down */
static void look(const follower *f, int i, sole *s) {
  double jacobian[3 * MAX_NV], point[3];
  int32_t nv = tabi_model_nv(f->model);
  const double *v = tabi_world_v(f->world);
  *s = (sole){.slip = 0};
  for (int end = 0; end < 2; ++end) {
    const double at[3] = {end == 0 ? -0.5 : 0.5, 0, -0.5};
    place(f, f->foot[i], at, point);
    tabi_dynamics_point_jacobian(tabi_world_dynamics(f->world), f->foot[i], point, jacobian);
    s->height[end] = point[2];
    for (int32_t k = 0; k < nv; ++k)
      s->fall[end] -= jacobian[2 * nv + k] * v[k];
  }
}

/* forces on both soles in the last step; a corner belongs to the heel if it is behind the middle */
static void read_contacts(follower *f) {
  int32_t count;
  const double middle[3] = {0, 0, -0.5};
  const tabi_contact *contact = tabi_world_contacts(f->world, &count);
  for (int32_t i = 0; i < count; ++i) {
    double at[3];
    const tabi_contact *c = &contact[i];
    double sign = c->normal[2] > 0 ? 1 : -1;
    int side = c->link_a == f->foot[0] || c->link_b == f->foot[0] ? 0 : 1;
    assert_true(side == 0 || c->link_a == f->foot[1] || c->link_b == f->foot[1]);
    place(f, f->foot[side], middle, at);
    int end = c->point[0] > at[0] ? 1 : 0;
    double force = sign * c->impulse[2] / f->step;
    f->now[side].force[end] += force;
    /* the support toe and the swing heel touch all the time, or first */
    if (force > 0 && end == 1 - side) f->now[side].slip = sign * c->velocity[0];
  }
}

static bool touches(const sole *s, int end) { return s->force[end] > 1e-6; }

static int sign_of(double slip) { return fabs(slip) <= SLIDES ? 0 : slip > 0 ? 1 : -1; }

/* when an end that came down within the last step met the ground */
static double landing(const follower *f, double start, int end) {
  const sole *s = &f->now[1];
  return start + fmin(f->step, s->height[end] / s->fall[end]);
}

/* when a slip that was there before the last step came to its end, at its last rate */
static double stopping(const follower *f, double start) {
  double slip = f->before[1].slip;
  double rate = (f->earlier[1].slip - slip) / f->step;
  return slip * rate > 0 ? start + fmin(f->step, slip / rate) : start;
}

/* when the support heel's force, a mean over each step, came to its end */
static double unloading(const follower *f, double start) {
  double force = f->before[0].force[0];
  double rate = (f->earlier[0].force[0] - force) / f->step;
  return start - f->step / 2 + (rate > 0 ? force / rate : 0);
}

static void tell_support(follower *f, double start) {
  const sole *s = &f->now[0];
  const sole *old = &f->before[0];
  if (touches(s, 0) && !touches(old, 0)) note(&f->story, start, "sole returns");
  if (!touches(s, 0) && touches(old, 0)) note(&f->story, unloading(f, start), "heel force ends");
  if (!touches(s, 1)) note(&f->story, start, "toe force ends");
  if (fabs(s->slip) > SLIDES) note(&f->story, start, "support slips");
}

/* how the swing foot comes down */
static void tell_swing(follower *f, double start) {
  const sole *s = &f->now[1];
  const sole *old = &f->before[1];
  bool heel = touches(s, 0);
  bool toe = touches(s, 1);
  if (toe && !heel) note(&f->story, start, "toe alone");
  if (!heel && touches(old, 0)) note(&f->story, start, "contact force ends");
  if (!toe && touches(old, 1)) note(&f->story, start, "landed toe lifts");
  if (heel && !touches(old, 0)) note(&f->story, landing(f, start, 0), "heel lands");
  if (toe && !touches(old, 1)) note(&f->story, landing(f, start, 1), "toe lands");
}

/* and how it slides; a heel that stands when the toe lands has no slip left to end */
static void tell_slip(follower *f, double start) {
  bool landed = touches(&f->now[1], 0) && !touches(&f->before[1], 0);
  bool flat = touches(&f->now[1], 1);
  int slip_sign = sign_of(f->now[1].slip);
  if (!landed && f->slip_sign != 0 && slip_sign != f->slip_sign) {
    note(&f->story, stopping(f, start), flat ? "slip ends" : "point stops");
  } else if (flat && slip_sign == 0) {
    note(&f->story, f->story.at[f->story.count - 1].time, "slip ends");
  } else if (!landed && f->slip_sign == 0 && slip_sign != 0) {
    note(&f->story, start, "point slips");
  }
  f->slip_sign = slip_sign;
}

static story run_by_steps(const motion *m, const double *q, double step) {
  follower f = open_follower(m, q, step);
  double tau[MAX_NV];
  for (bool first = true; !is_over(&f.story); first = false) {
    double start = tabi_world_time(f.world);
    assert_true(start < 3);
    drive(&f, tau);
    look(&f, 0, &f.now[0]);
    look(&f, 1, &f.now[1]);
    if (tabi_world_step(f.world, tau) != TABI_OK)
      fail_msg("%s", tabi_world_error(f.world)->message);
    assert_true(tabi_world_certificate(f.world).converged);
    read_contacts(&f);
    if (!first) {
      tell_support(&f, start);
      tell_swing(&f, start);
      tell_slip(&f, start);
    }
    memcpy(f.earlier, f.before, sizeof f.before);
    memcpy(f.before, f.now, sizeof f.now);
  }
  story s = f.story;
  close_follower(&f);
  return s;
}

/* ---- both */

/* slope of log(error) over log(step), steps being halved */
static double order_of(const double error[STEPS]) {
  double top = 0;
  double bottom = 0;
  for (int i = 0; i < STEPS; ++i) {
    double x = 0.5 * (STEPS - 1) - i;
    top += x * log2(fabs(error[i]));
    bottom += x * x;
  }
  return top / bottom;
}

static void compare(const motion *m) {
  biped b = make_biped(m);
  double q[MAX_NV];
  double error[MAX_EVENTS][STEPS];
  memcpy(q, tabi_world_q(b.world), sizeof *q * (size_t)tabi_model_nq(b.model));
  story modes = run_by_modes(&b);
  for (int i = 0; i < STEPS; ++i) {
    story steps = run_by_steps(m, q, ldexp(1e-3, -i));
    for (int k = 0; k < steps.count; ++k) {
      if (k >= modes.count) fail_msg("%s: beyond the end: %s", m->name, steps.at[k].name);
      assert_string_equal(steps.at[k].name, modes.at[k].name);
      error[k][i] = steps.at[k].time - modes.at[k].time;
    }
    assert_int_equal(steps.count, modes.count);
  }
  print_message("%-12s %10s   cone less gait at 1, 0.5, 0.25, 0.125 ms: us      order\n", m->name,
                "gait: s");
  for (int k = 0; k < modes.count; ++k) {
    const double *e = error[k];
    double order = order_of(e);
    print_message("%-12s %10.6f   %9.1f %9.1f %9.1f %9.1f %12.2f\n", modes.at[k].name,
                  modes.at[k].time, 1e6 * e[0], 1e6 * e[1], 1e6 * e[2], 1e6 * e[3], order);
    assert_true(order >= 0.8);
    assert_near(e[STEPS - 1], 0, 1e-4);
  }
  biped_close(&b);
}

static void heel_that_stops(void **state) {
  (void)state;
  compare(&heel_stops);
}

static void foot_that_slides(void **state) {
  (void)state;
  compare(&foot_slides);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(heel_that_stops),
      cmocka_unit_test(foot_that_slides),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
