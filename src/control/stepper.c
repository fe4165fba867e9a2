/* stepper.c - stands, steps and stops by command, and steps to keep its balance.
 *
 *   stands --command or DCM far off--> shifts --> single --> double --> single ... --> stands
 *
 * In each update dcm.c decides where and when the swing foot lands and where the centre of pressure
 * p shall be; the centre of mass c is then accelerated by (c - p)(g + z'') / z, and balance.c turns
 * this, the swing foot and the waist into torques.  Standing, p = r + 3 (xi - r) for the middle r
 * between the soles. */
#include "control/stepper.h"

#include "base/assertion.h"
#include "control/sole.h"
#include "math/linalg.h"

#include <string.h>

#define PI            3.14159265358979323846
#define STAND_GAIN    3.0
#define STEP_TRIGGER  0.95  /* share of the way from r to the edge of support where it steps */
#define STOP_WITHIN   0.6   /* likewise, within which it stops */
#define TOUCH_SHARE   0.03  /* of the weight, on a foot that has landed */
#define FORCE_LAG     3e-3  /* s, of forces of feet */
#define TOUCH_AFTER   0.6   /* share of the swing */
#define ACCELERATION  0.04  /* g, of the command */
#define TURN_RAMP     1.0   /* rad/s^2 */
#define FALLEN_HEIGHT 0.6   /* share of the CoM's height */
#define FALLEN_TILT   0.5   /* cosine */
#define COMMIT        0.3   /* of 1 / omega before landing, from when a step is not postponed */
#define LANDING_RATE  0.04  /* of omega z: speed at which a foot meets the ground */
#define LOOK_AGAIN    0.005 /* of the leg, by which a place has moved since it was looked at */
#define LONG_STRIDE   0.5   /* of the leg, of steps made longer to reach a stair */
#define EYE_HEIGHT    0.35  /* of the leg, above the stance foot, from where it looks */
#define EVEN          0.015 /* of the leg, of ground to stand on */
#define STRAIGHT_LEG  0.985 /* stretch of a leg that must leave the ground */
#define LONG_LEG      0.96  /* stretch of legs in long steps */
#define BEYOND_HALF   0.6   /* of a step, where the CoM is at most while both feet stand */
#define MAX_DROP      0.15  /* of the leg, of the CoM */
#define SINK_RATE     0.09  /* of omega z: speed of a foot that finds no ground */

static double yaw_of(const m3 *axes) { return atan2(axes->m[1][0], axes->m[0][0]); }

/* -- geometry */

static double wrap(double angle) { return angle - 2 * PI * round(angle / (2 * PI)); }

/* A corner of the outline of a sole in the world. */
static void sole_corner(const tabi_stepper *s, int side, const double corner[2], double to[2]) {
  const tbi_frame *frame = &s->balance.at[side].frame;
  v3 at = {corner[0], corner[1], 0};
  v3 world = v3_add(frame->pos, m3_mulv(&frame->rot, at));
  to[0] = world.x;
  to[1] = world.y;
}

/* The hull of the soles that stand; while it walks, each as if it were alone, as it soon will be.
 */
static void find_support(const tabi_stepper *s, tbi_balance_goal *goal) {
  double point[TBI_SUPPORT_MAX][2];
  int32_t n = 0;
  for (int side = 0; side < 2; ++side) {
    for (int32_t i = 0; goal->stance[side] && i < s->biped.leg[side].ncorner; ++i)
      sole_corner(s, side, s->corner[goal->stands][side][i], point[n++]);
  }
  goal->ncorner = tbi_hull_2d((const double(*)[2])point, n, goal->corner, TBI_SUPPORT_MAX);
}

/* How far on the way from a point inside to the edge of support another one is; above 1 outside. */
static double way_out(const tbi_balance_goal *goal, const double inside[2], const double at[2]) {
  double share = 0;
  for (int32_t i = 0; i < goal->ncorner; ++i) {
    const double *a = goal->corner[i];
    const double *b = goal->corner[(i + 1) % goal->ncorner];
    const double out[2] = {b[1] - a[1], a[0] - b[0]};
    double room = out[0] * (a[0] - inside[0]) + out[1] * (a[1] - inside[1]);
    double way = out[0] * (at[0] - inside[0]) + out[1] * (at[1] - inside[1]);
    if (room > 0) share = tbi_max(share, way / room);
  }
  return share;
}

/* From the axes of the stance sole to the world, and back. */
static void to_world(const double origin[2], double yaw, const double at[2], double to[2]) {
  to[0] = origin[0] + cos(yaw) * at[0] - sin(yaw) * at[1];
  to[1] = origin[1] + sin(yaw) * at[0] + cos(yaw) * at[1];
}

static void to_local(const double origin[2], double yaw, const double at[2], double to[2]) {
  double x = at[0] - origin[0];
  double y = at[1] - origin[1];
  to[0] = cos(yaw) * x + sin(yaw) * y;
  to[1] = -sin(yaw) * x + cos(yaw) * y;
}

/* -- phases */

static int side_sign(int side) { return side == TABI_LEFT ? 1 : -1; }

static bool wants_to_walk(const tabi_stepper *s) {
  return s->now.command.steps < 0 || s->now.steps < s->now.command.steps;
}

static void begin_double(tabi_stepper *s, int stance) {
  tbi_stepper_memory *m = &s->now;
  m->phase = TABI_STEPPER_DOUBLE;
  m->stance = stance;
  m->left = s->limits.double_support;
  m->elapsed = -m->left;
}

static void begin_shift(tabi_stepper *s, int stance, bool at_once) {
  begin_double(s, stance);
  if (at_once) return;
  s->now.phase = TABI_STEPPER_SHIFTS;
  s->now.left = 0.6 / s->limits.omega;
  s->now.elapsed = 0;
}

static void begin_single(tabi_stepper *s) {
  tbi_stepper_memory *m = &s->now;
  const tbi_sole_state *foot = &s->balance.at[1 - m->stance];
  m->phase = TABI_STEPPER_SINGLE;
  m->elapsed = 0;
  m->swing = (tbi_swing_state){.pos = foot->frame.pos, .yaw = yaw_of(&foot->frame.rot)};
  m->looks = false;
  m->lifted = foot->frame.pos.z;
}

/* Where standing it steps or stays: the state of balance, with both feet down. */
static void stand(tabi_stepper *s, tbi_balance_goal *goal) {
  tbi_stepper_memory *m = &s->now;
  const tbi_sole_state *at = s->balance.at;
  goal->stance[0] = goal->stance[1] = goal->stands = true;
  find_support(s, goal);
  const double r[2] = {0.5 * (at[0].frame.pos.x + at[1].frame.pos.x),
                       0.5 * (at[0].frame.pos.y + at[1].frame.pos.y)};
  for (int i = 0; i < 2; ++i)
    m->cop[i] = r[i] + STAND_GAIN * (m->dcm[i] - r[i]);
  double local[2];
  to_local(r, m->waist_yaw, m->dcm, local);
  bool unsafe = way_out(goal, r, m->dcm) > STEP_TRIGGER;
  if (unsafe || wants_to_walk(s)) begin_shift(s, local[1] > 0 ? TABI_RIGHT : TABI_LEFT, unsafe);
}

static void land(tabi_stepper *s, const tbi_balance_goal *support) {
  tbi_stepper_memory *m = &s->now;
  const tbi_sole_state *at = s->balance.at;
  ++m->steps;
  const double r[2] = {0.5 * (at[0].frame.pos.x + at[1].frame.pos.x),
                       0.5 * (at[0].frame.pos.y + at[1].frame.pos.y)};
  bool still = fabs(m->velocity[0]) + fabs(m->velocity[1]) < 0.1 * s->limits.reach;
  if (!wants_to_walk(s) && still && way_out(support, r, m->dcm) < STOP_WITHIN) {
    m->phase = TABI_STEPPER_STANDS;
  } else {
    begin_double(s, 1 - m->stance);
  }
}

/* Reference of the swing foot by the jerk rule; it comes down in the second half. */
static void move_swing(tabi_stepper *s, const double place[2], double timestep) {
  tbi_stepper_memory *m = &s->now;
  double whole = m->elapsed + m->remaining;
  double half = 0.5 * whole - m->elapsed;
  bool rising = half > 0.02;
  double top = tbi_max(m->landing, m->ground) + s->said.lift;
  /* onto a stair: up first, or the toe meets its edge */
  double climb = m->landing - m->lifted;
  double clear = climb > EVEN * s->limits.reach
                     ? tbi_min(tbi_max((m->swing.pos.z - m->lifted) / climb, 0), 1)
                     : 1;
  clear *= clear;
  v3 target = {m->swing.pos.x + clear * (place[0] - m->swing.pos.x),
               m->swing.pos.y + clear * (place[1] - m->swing.pos.y), rising ? top : m->landing};
  const double time[3] = {m->remaining - 0.02, m->remaining - 0.02, rising ? half : m->remaining};
  double sink = rising ? 0 : LANDING_RATE * s->limits.omega * s->said.height;
  tbi_swing_step(&m->swing, target, sink, time, timestep);
  bool late = m->elapsed > s->limits.min_time && m->remaining <= 0.021;
  if (!late) return;
  m->swing.vel.z = -SINK_RATE * s->limits.omega * s->said.height;
  m->swing.acc.z = 0;
}

static void goal_of_swing(const tabi_stepper *s, int side, tbi_balance_goal *goal) {
  const tbi_stepper_memory *m = &s->now;
  const tbi_sole_state *at = &s->balance.at[side];
  double k = s->foot_rate;
  v3 off = v3_sub(m->swing.pos, at->frame.pos);
  v3 rate = v3_sub(m->swing.vel, at->velocity);
  goal->foot[side] = v3_axpy(v3_axpy(m->swing.acc, k * k, off), 2 * k, rate);
  double c = cos(m->swing.yaw);
  double y = sin(m->swing.yaw);
  v3 left = v3_cross(m->normal, (v3){c, y, 0});
  left = v3_scale(1 / v3_norm(left), left);
  m3 want = m3_from_columns(v3_cross(left, m->normal), left, m->normal);
  v3 turn = tbi_turn_between(&at->frame.rot, &want);
  turn = v3_axpy(v3_scale(k * k, turn), -2 * k, at->rotation);
  goal->turn[side] = v3_axpy(turn, m->swing.yaw_acc + 2 * k * m->swing.yaw_rate, m->normal);
}

/* High above the ground it takes more to believe it: a swing foot has inertia. */
static bool has_landed(const tabi_stepper *s, int side) {
  const tbi_stepper_memory *m = &s->now;
  double weight = s->balance.mass * s->balance.gravity;
  double height = s->balance.at[side].frame.pos.z - m->landing;
  double least = TOUCH_SHARE * (1 + 4 * tbi_max(height, 0) / s->said.lift);
  return s->force[side] > least * weight && m->elapsed > TOUCH_AFTER * (m->elapsed + m->remaining);
}

/* How much longer a step may be made, in the direction of the command, to reach a stair. */
static double room_ahead(const tabi_stepper *s, double yaw) {
  const tbi_stepper_memory *m = &s->now;
  const tbi_frame *stance = &s->balance.at[m->stance].frame;
  const double origin[2] = {stance->pos.x, stance->pos.y};
  double step[2];
  to_local(origin, yaw, m->place, step);
  if (m->velocity[0] == 0) return 0;
  double room = LONG_STRIDE * s->limits.reach - copysign(1, m->velocity[0]) * step[0];
  return copysign(tbi_max(room, 0), m->velocity[0]);
}

/* Where the swing foot can stand near the place that balance asks for.  It looks again when that
 * place has moved, but not when the foot comes down. */
static void look_ahead(tabi_stepper *s, double yaw, bool comes_down) {
  tbi_stepper_memory *m = &s->now;
  if (!m->looks) {
    m->looks = true;
    m->looked[0] = HUGE_VAL;
    m->landing = m->ground;
    m->normal = (v3){0, 0, 1};
    m->shift[0] = m->shift[1] = 0;
  }
  double moved = hypot(m->place[0] - m->looked[0], m->place[1] - m->looked[1]);
  if (s->sees_ground && !comes_down && !(moved < LOOK_AGAIN * s->limits.reach)) {
    const tabi_leg *leg = &s->biped.leg[1 - m->stance];
    tbi_foothold_eye eye = {
        .world = s->world,
        .tree = s->balance.tree,
        .above = m->ground + EYE_HEIGHT * s->limits.reach,
        .half = {0.5 * leg->length, 0.5 * leg->width},
        .uneven = EVEN * s->limits.reach,
        .ahead = room_ahead(s, yaw)
    };
    tbi_foothold f = {
        .place = {m->place[0], m->place[1]},
          .height = m->landing, .normal = m->normal
    };
    bool found = tbi_foothold_find(&eye, yaw, &f);
    for (int i = 0; i < 2; ++i)
      m->shift[i] = found ? f.place[i] - m->place[i] : 0;
    m->landing = f.height;
    m->normal = f.normal;
    memcpy(m->looked, m->place, sizeof m->looked);
  }
  bool shifted = m->shift[0] != 0 || m->shift[1] != 0;
  for (int i = 0; i < 2; ++i) {
    m->place[i] = comes_down && shifted ? m->stand[i] : m->place[i] + m->shift[i];
    m->stand[i] = m->place[i];
  }
}

/* Double and single support. */
static void step(tabi_stepper *s, tbi_balance_goal *goal, double timestep) {
  tbi_stepper_memory *m = &s->now;
  int swing = 1 - m->stance;
  const tbi_frame *stance = &s->balance.at[m->stance].frame;
  const tbi_frame *foot = &s->balance.at[swing].frame;
  const double origin[2] = {stance->pos.x, stance->pos.y};
  double yaw = yaw_of(&stance->rot);
  tbi_step_state at = {.side = side_sign(swing), .elapsed = m->elapsed};
  bool single = m->phase == TABI_STEPPER_SINGLE;
  bool comes_down = single && m->elapsed > 0 && m->remaining < COMMIT / s->limits.omega;
  at.latest = comes_down ? m->remaining - timestep : HUGE_VAL;
  const double where[2] = {single ? m->swing.pos.x : foot->pos.x,
                           single ? m->swing.pos.y : foot->pos.y};
  to_local(origin, yaw, m->dcm, at.xi);
  to_local(origin, yaw, where, at.swing);
  memcpy(at.velocity, m->velocity, sizeof at.velocity);
  const double rate[2] = {origin[0] + m->swing.vel.x, origin[1] + m->swing.vel.y};
  if (single) to_local(origin, yaw, rate, at.rate);
  at.swing[2] = single ? m->swing.pos.z - m->landing : 0;
  double local[2];
  if (m->phase == TABI_STEPPER_SHIFTS) {
    double end[2];
    tbi_dcm_offset(&s->limits, -at.side, at.velocity, end);
    tbi_dcm_cop(s->limits.omega, at.xi, end, m->left, local);
  } else {
    tbi_step_plan plan = tbi_dcm_adjust(&s->limits, &at);
    m->remaining = plan.remaining;
    to_world(origin, yaw, plan.place, m->place);
    if (single) look_ahead(s, yaw, comes_down);
    to_local(origin, yaw, m->place, plan.place);
    const double end[2] = {plan.place[0] + plan.offset[0] - plan.shift[0],
                           plan.place[1] + plan.offset[1] - plan.shift[1]};
    tbi_dcm_cop(s->limits.omega, at.xi, end, plan.remaining, local);
  }
  to_world(origin, yaw, local, m->cop);
  goal->stance[m->stance] = true;
  goal->stance[swing] = !single;
  find_support(s, goal);
  if (!single) {
    m->left -= timestep;
    m->elapsed += m->phase == TABI_STEPPER_DOUBLE ? timestep : 0;
    bool stretched =
        m->phase == TABI_STEPPER_DOUBLE && tbi_balance_stretch(&s->balance, swing) > STRAIGHT_LEG;
    if (m->left <= 0 || stretched) begin_single(s);
    return;
  }
  move_swing(s, m->place, timestep);
  double turn = wrap(yaw + m->velocity[2] * s->said.step_time - m->swing.yaw);
  tbi_swing_turn(&m->swing, m->swing.yaw + turn, m->remaining - 0.02, timestep);
  goal_of_swing(s, swing, goal);
  m->elapsed += timestep;
  if (has_landed(s, swing)) {
    tbi_balance_goal both = *goal;
    both.stance[0] = both.stance[1] = true;
    find_support(s, &both);
    land(s, &both);
  }
}

/* -- tasks */

/* The nearest point of the support polygon. */
static void cut_to_support(const tbi_balance_goal *goal, double cop[2]) {
  double best = HUGE_VAL;
  double nearest[2] = {cop[0], cop[1]};
  bool inside = goal->ncorner > 2;
  for (int32_t i = 0; i < goal->ncorner; ++i) {
    const double *a = goal->corner[i];
    const double *b = goal->corner[(i + 1) % goal->ncorner];
    const double along[2] = {b[0] - a[0], b[1] - a[1]};
    const double from[2] = {cop[0] - a[0], cop[1] - a[1]};
    if (along[0] * from[1] - along[1] * from[0] < 0) inside = false;
    double t = tbi_dot(along, from, 2) / tbi_max(tbi_dot(along, along, 2), 1e-12);
    t = tbi_min(tbi_max(t, 0), 1);
    const double at[2] = {a[0] + t * along[0], a[1] + t * along[1]};
    double off = hypot(cop[0] - at[0], cop[1] - at[1]);
    if (off >= best) continue;
    best = off;
    memcpy(nearest, at, sizeof nearest);
  }
  if (!inside) memcpy(cop, nearest, sizeof nearest);
}

/* Legs that stand far apart need a lower waist, or the one behind is straight before it may leave
 * the ground: lower so that legs stretch to LONG_LEG when the CoM is beyond the middle of a step.
 */
static void set_drop(tabi_stepper *s, double timestep) {
  tbi_stepper_memory *m = &s->now;
  const tbi_frame *stance = &s->balance.at[m->stance].frame;
  const tbi_frame *foot = &s->balance.at[1 - m->stance].frame;
  const double origin[2] = {stance->pos.x, stance->pos.y};
  const double other[2] = {foot->pos.x, foot->pos.y};
  double step[2];
  to_local(origin, yaw_of(&stance->rot), m->phase == TABI_STEPPER_SINGLE ? m->place : other, step);
  double length = tbi_min(s->balance.straight[0], s->balance.straight[1]);
  double apart = hypot(step[0], fabs(step[1]) - s->limits.spacing) / length;
  double level = tbi_min(BEYOND_HALF * apart, 0.8 * LONG_LEG);
  double upright = sqrt(LONG_LEG * LONG_LEG - level * level);
  double other_height = m->phase == TABI_STEPPER_SINGLE ? m->landing : foot->pos.z;
  upright -= 0.5 * fabs(other_height - stance->pos.z) / length;
  bool steps = isfinite(length) && m->phase != TABI_STEPPER_STANDS;
  double want = steps ? length * tbi_min(tbi_max(s->stretch - upright, 0), MAX_DROP) : 0;
  m->drop += timestep / (0.1 / s->limits.omega + timestep) * (want - m->drop);
}

static void goal_of_com(tabi_stepper *s, tbi_balance_goal *goal) {
  tbi_stepper_memory *m = &s->now;
  const tbi_balance *b = &s->balance;
  double k = s->waist_rate;
  double z = tbi_max(b->com.z - m->base, 0.3 * s->said.height);
  double up = k * k * (m->base + s->said.height - m->drop - b->com.z) - 2 * k * b->com_rate.z;
  /* the CoM takes part in what the swing leg does, and the centre of pressure need not */
  double back = m->phase == TABI_STEPPER_SINGLE ? s->limits.reaction * z / b->gravity : 0;
  const double swing[2] = {back * m->swing.acc.x, back * m->swing.acc.y};
  for (int i = 0; i < 2; ++i)
    m->cop[i] += swing[i];
  cut_to_support(goal, m->cop);
  for (int i = 0; i < 2; ++i)
    m->cop[i] -= swing[i];
  memcpy(goal->cop, m->cop, sizeof goal->cop);
  double share = (b->gravity + tbi_max(up, -0.5 * b->gravity)) / z;
  goal->com = (v3){share * (b->com.x - m->cop[0]), share * (b->com.y - m->cop[1]), up};
}

static void goal_of_waist(tabi_stepper *s, tbi_balance_goal *goal) {
  const tbi_stepper_memory *m = &s->now;
  const tbi_balance *b = &s->balance;
  double k = s->waist_rate;
  double c = cos(m->waist_yaw);
  double y = sin(m->waist_yaw);
  m3 want = m3_from_columns((v3){c, y, 0}, (v3){-y, c, 0}, (v3){0, 0, 1});
  v3 turn = tbi_turn_between(&b->waist_axes, &want);
  v3 rate = b->waist_rate;
  rate.z -= m->waist_rate;
  goal->waist = v3_axpy(v3_scale(k * k, turn), -2 * k, rate);
  goal->waist.z *= 0.5;
}

/* Stance feet stay where they are. */
static void goal_of_stance(const tabi_stepper *s, tbi_balance_goal *goal) {
  for (int side = 0; side < 2; ++side) {
    if (!goal->stance[side]) continue;
    goal->foot[side] = v3_scale(-s->foot_rate, s->balance.at[side].velocity);
    goal->turn[side] = v3_scale(-s->foot_rate, s->balance.at[side].rotation);
  }
}

/* -- an update */

static void ramp_velocity(tabi_stepper *s, double timestep) {
  tbi_stepper_memory *m = &s->now;
  bool last = !wants_to_walk(s) || (m->command.steps >= 0 && m->steps + 1 >= m->command.steps);
  for (int i = 0; i < 3; ++i) {
    double most = s->said.velocity[i];
    double want = last ? 0 : tbi_min(tbi_max(m->command.velocity[i], -most), most);
    double change = (i < 2 ? ACCELERATION * s->balance.gravity : TURN_RAMP) * timestep;
    if (last) change *= 4;
    m->velocity[i] += tbi_min(tbi_max(want - m->velocity[i], -change), change);
  }
}

static void follow_feet(tabi_stepper *s, double timestep) {
  tbi_stepper_memory *m = &s->now;
  const tbi_sole_state *at = s->balance.at;
  double left = yaw_of(&at[0].frame.rot);
  double right = yaw_of(&at[1].frame.rot);
  if (m->phase == TABI_STEPPER_SINGLE) *(m->stance == TABI_LEFT ? &right : &left) = m->swing.yaw;
  double middle = left + 0.5 * wrap(right - left);
  if (isnan(m->waist_yaw)) m->waist_yaw = middle;
  double lag = s->limits.swing_time * 0.3;
  m->waist_rate = wrap(middle - m->waist_yaw) / (lag + timestep);
  m->waist_yaw += m->waist_rate * timestep;
  double ground = m->phase == TABI_STEPPER_SINGLE || m->phase == TABI_STEPPER_DOUBLE
                      ? at[m->stance].frame.pos.z
                      : 0.5 * (at[0].frame.pos.z + at[1].frame.pos.z);
  m->ground = ground;
  /* the CoM rises and sinks between the feet, not with every step */
  double other = m->phase == TABI_STEPPER_SINGLE ? m->landing : at[1 - m->stance].frame.pos.z;
  double between = 0.5 * (at[m->stance].frame.pos.z + other);
  if (isnan(m->base)) m->base = between;
  m->base += (between - m->base) * timestep / (lag + timestep);
}

static bool has_fallen(const tabi_stepper *s) {
  const tbi_balance *b = &s->balance;
  return b->com.z - s->now.ground < FALLEN_HEIGHT * s->said.height ||
         b->waist_axes.m[2][2] < FALLEN_TILT;
}

/* N, on the foot of a side. */
static double load_on(const tabi_stepper *s, const tabi_world *world, int side) {
  int32_t count = 0;
  double sum = 0;
  const tabi_contact *contact = tabi_world_contacts(world, &count);
  for (int32_t i = 0; i < count; ++i) {
    const tabi_contact *c = &contact[i];
    if (c->link_b != TABI_WORLD && s->model->link_home[c->link_b].body == s->balance.foot[side])
      sum += c->impulse[2];
    if (c->link_a != TABI_WORLD && s->model->link_home[c->link_a].body == s->balance.foot[side])
      sum -= c->impulse[2];
  }
  return sum / world->def.timestep;
}

static void observe(tabi_stepper *s, const tabi_world *world, double timestep) {
  if (s->estimator.encoder) {
    tbi_seen seen = {.q = s->seen_q, .v = s->seen_v, .asked = s->asked};
    tbi_estimate_update(&s->estimator, &s->now.estimate, world, &s->balance, timestep, &seen);
    tbi_estimate_predict(&s->estimator, &s->now.estimate, world, &seen, s->q, s->v);
    for (int side = 0; side < 2; ++side) {
      double *felt = &s->now.felt[side];
      double load = seen.load[side] + s->estimator.below[side] * s->now.foot_up[side];
      *felt += timestep / (FORCE_LAG + timestep) * (load - *felt);
      s->force[side] = *felt;
    }
  } else {
    memcpy(s->q, world->state.q, sizeof *s->q * (size_t)s->model->nq);
    memcpy(s->v, world->state.v, sizeof *s->v * (size_t)s->model->nv);
    for (int side = 0; side < 2; ++side)
      s->force[side] = load_on(s, world, side);
  }
  tbi_balance_set(&s->balance, s->q, s->v);
}

/* What the estimate of the next update needs to know. */
static void remember(tabi_stepper *s, const tbi_balance_goal *goal) {
  memcpy(s->asked, s->balance.qdd, sizeof *s->asked * (size_t)s->model->nv);
  tbi_estimate_set_stance(&s->now.estimate, &s->balance, goal->stance,
                          s->sees_ground && s->now.looks ? s->now.landing : (double)NAN);
  for (int side = 0; side < 2; ++side)
    s->now.foot_up[side] = goal->stance[side] ? 0 : goal->foot[side].z;
}

void tabi_stepper_update(tabi_stepper *stepper, tabi_world *world, double timestep) {
  TBI_ASSERT(stepper && world && timestep > 0);
  tabi_stepper *s = stepper;
  tbi_stepper_memory *m = &s->now;
  TBI_ASSERT(world->model->njoint == s->model->njoint && world->model->nq == s->model->nq);
  s->world = world;
  observe(s, world, timestep);
  follow_feet(s, timestep);
  if (m->phase == TABI_STEPPER_FALLEN || has_fallen(s)) {
    m->phase = TABI_STEPPER_FALLEN;
    memset(s->asked, 0, sizeof *s->asked * (size_t)s->model->nv);
    tbi_drive_relax(&s->drive, world, s->q, s->v);
    return;
  }
  const tbi_balance *b = &s->balance;
  m->dcm[0] = b->com.x + b->com_rate.x / s->limits.omega;
  m->dcm[1] = b->com.y + b->com_rate.y / s->limits.omega;
  ramp_velocity(s, timestep);
  tbi_balance_goal goal = {.ground = m->ground};
  if (m->phase == TABI_STEPPER_STANDS) {
    stand(s, &goal);
  } else {
    step(s, &goal, timestep);
  }
  set_drop(s, timestep);
  goal_of_com(s, &goal);
  goal_of_waist(s, &goal);
  goal_of_stance(s, &goal);
  tbi_balance_result result = tbi_balance_solve(&s->balance, &goal);
  memcpy(m->cop, result.cop, sizeof m->cop);
  remember(s, &goal);
  tbi_drive_apply(&s->drive, world, s->q, s->v, s->balance.qdd, s->balance.tau);
}

/* -- queries */

void tabi_stepper_set_command(tabi_stepper *stepper, const tabi_stepper_command *command) {
  TBI_ASSERT(stepper && command);
  stepper->now.command = *command;
  if (command->steps > 0) stepper->now.command.steps += stepper->now.steps;
}

tabi_stepper_command tabi_stepper_get_command(const tabi_stepper *stepper) {
  TBI_ASSERT(stepper);
  tabi_stepper_command command = stepper->now.command;
  if (command.steps > 0) command.steps -= stepper->now.steps;
  return command;
}

tabi_stepper_state tabi_stepper_get_state(const tabi_stepper *stepper) {
  TBI_ASSERT(stepper);
  const tbi_stepper_memory *m = &stepper->now;
  const tbi_balance *b = &stepper->balance;
  tabi_stepper_state state = {
      .phase = m->phase,
      .stance = m->stance == 0 ? TABI_LEFT : TABI_RIGHT,
      .steps = m->steps,
      .dcm = {m->dcm[0],   m->dcm[1]  },
      .cop = {m->cop[0],   m->cop[1]  },
      .place = {m->place[0], m->place[1]},
      .remaining = m->remaining
  };
  v3_store(b->com, state.com);
  v3_store(b->com_rate, state.com_rate);
  for (int side = 0; side < 2; ++side) {
    v3_store(b->at[side].frame.pos, state.sole[side]);
    state.yaw[side] = yaw_of(&b->at[side].frame.rot);
  }
  return state;
}

tabi_stepper_limits tabi_stepper_get_limits(const tabi_stepper *stepper) {
  TBI_ASSERT(stepper);
  return stepper->said;
}

const double *tabi_stepper_torque(const tabi_stepper *stepper) {
  TBI_ASSERT(stepper);
  return stepper->balance.tau;
}

static size_t state_size(const tabi_stepper *s) {
  return (2 * (size_t)s->model->nq + 3 * (size_t)s->model->nv) * sizeof *s->q;
}

size_t tabi_stepper_snapshot_size(const tabi_stepper *stepper) {
  TBI_ASSERT(stepper);
  return sizeof stepper->now + state_size(stepper);
}

void tabi_stepper_save(const tabi_stepper *stepper, void *snapshot) {
  TBI_ASSERT(stepper && snapshot);
  memcpy(snapshot, &stepper->now, sizeof stepper->now);
  memcpy((char *)snapshot + sizeof stepper->now, stepper->q, state_size(stepper));
}

void tabi_stepper_restore(tabi_stepper *stepper, const void *snapshot) {
  TBI_ASSERT(stepper && snapshot);
  memcpy(&stepper->now, snapshot, sizeof stepper->now);
  memcpy(stepper->q, (const char *)snapshot + sizeof stepper->now, state_size(stepper));
}
