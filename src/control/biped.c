/* biped.c - finds legs, soles and front of a robot.
 *
 * The bodies with the lowest colliding shapes are feet.  The body above which all of them meet in
 * the tree is the waist; exactly two of its limbs must have feet.  A leg is the hinges with a drive
 * between waist and foot; joints with springs only, such as rubber bushes, are none.
 *
 * Left and right are the sides of the hips.  Forward is level and across the line of the hips;
 * which of both ways is decided by votes: soles are longer before the ankle than behind it (2),
 * knees bend so that they go forward (1), and x is the usual front of a robot (1/2). */
#include "base/assertion.h"
#include "base/error.h"
#include "control/crouch.h"
#include "control/sole.h"
#include "dynamics/dynamics.h"

#include <stdlib.h>
#include <string.h>

#define FOOT_TOLERANCE 0.03 /* share of the CoM's height, of lowest points of feet */
#define SOLE_TOLERANCE 2e-3 /* m, points that touch level ground */
#define TOE_SHARE      0.04 /* of the sole's length, from which its middle before the ankle counts */
#define MIN_GAP        0.15 /* share of the sole's width between soles side by side */
#define MIN_SOLE       0.01 /* m, each way, of a sole that can be stood on */
#define SOFT_TURN      0.25 /* rad, range of a hinge that is no joint of a leg */
#define SOFT_SLIDE     0.05 /* m, likewise of a slide */

static const tabi_place nowhere = {NULL, 0};

typedef struct search {
  const tabi_model *model;
  tabi_dynamics *d;
  const double *q;
  int32_t tree;
  double *low;     /* [nbody] height of its lowest point */
  int32_t *below;  /* [nbody] feet among it and what hangs from it */
  bool *is_foot;   /* [nbody] */
  tbi_cloud cloud; /* scratch */
  double com_height;
  tabi_error *err;
} search;

static tbi_frame body_frame(const tabi_dynamics *d, int32_t body) {
  const tbi_body_state *state = &d->body[body];
  return (tbi_frame){m4_to(&state->rot), v3_add(v4_to(state->pos), tbi_tree_origin(d, body))};
}

static const char *body_name(const search *s, int32_t body) {
  const char *name = s->model->link[s->model->joint[s->model->body[body].joint].child].name;
  return name ? name : "?";
}

static int32_t end_of_tree(const tabi_model *model, int32_t tree) {
  return tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
}

/* The points of a body's shapes, in world axes. */
static bool collect(search *s, int32_t body) {
  const v3 up = {0, 0, 1};
  s->cloud.count = 0;
  for (int32_t i = 0; i < s->model->nshape; ++i) {
    const tabi_shape_def *shape = &s->model->shape[i];
    if (!shape->collides || shape->link == TABI_WORLD ||
        s->model->link_home[shape->link].body != body)
      continue;
    tbi_frame link = tbi_link_frame(s->d, shape->link);
    tbi_frame own = tbi_frame_load(shape->pos, shape->quat);
    tbi_frame frame = tbi_frame_mul(&link, &own);
    if (!tbi_cloud_add(&s->cloud, s->model, shape, &frame, up)) return false;
  }
  return true;
}

/* -- feet and waist */

static tabi_status find_feet(search *s) {
  const tabi_model *model = s->model;
  const v3 up = {0, 0, 1};
  int32_t first = model->tree_body[s->tree];
  int32_t end = end_of_tree(model, s->tree);
  double lowest = HUGE_VAL;
  for (int32_t i = first; i < end; ++i) {
    if (!collect(s, i)) return tbi_error_memory(s->err);
    s->low[i] = tbi_cloud_lowest(&s->cloud, up);
    lowest = fmin(lowest, s->low[i]);
  }
  if (!isfinite(lowest)) {
    return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                         "the robot has no colliding shapes, so it cannot stand");
  }
  double com[3];
  tabi_dynamics_com(s->d, com);
  s->com_height = com[2] - lowest;
  for (int32_t i = first; i < end; ++i) {
    s->is_foot[i] = s->low[i] <= lowest + FOOT_TOLERANCE * fabs(s->com_height);
    s->below[i] = s->is_foot[i];
  }
  for (int32_t i = end - 1; i > first; --i)
    s->below[model->body[i].parent] += s->below[i];
  return TABI_OK;
}

/* The deepest body that carries all feet, and the limbs of it that do; at most max are written. */
static int32_t find_waist(const search *s, int32_t *limb, int32_t max, int32_t *count) {
  const tabi_model *model = s->model;
  int32_t waist = model->tree_body[s->tree];
  int32_t all = s->below[waist];
  int32_t end = end_of_tree(model, s->tree);
  for (int32_t i = waist; i < end; ++i) {
    if (s->below[i] == all) waist = i;
  }
  *count = 0;
  for (int32_t i = waist + 1; i < end; ++i) {
    if (model->body[i].parent != waist || s->below[i] == 0) continue;
    if (*count < max) limb[*count] = i;
    ++*count;
  }
  return waist;
}

/* -- legs */

static bool has_actuator(const tabi_model *model, int32_t joint) {
  for (int32_t i = 0; i < model->nactuator; ++i) {
    if (model->actuator[i].joint == joint) return true;
  }
  return false;
}

/* Whether a joint is held by its spring alone, or can hardly move. */
static bool is_soft(const tabi_model *model, int32_t joint) {
  const tabi_joint_def *def = &model->joint[joint];
  double most = def->type == TABI_JOINT_PRISMATIC ? SOFT_SLIDE : SOFT_TURN;
  bool limited = def->type == TABI_JOINT_PRISMATIC || def->type == TABI_JOINT_REVOLUTE;
  if (has_actuator(model, joint)) return false;
  return def->stiffness > 0 || (limited && def->upper - def->lower <= most);
}

static bool is_hinge(tabi_joint_type type) {
  return type == TABI_JOINT_REVOLUTE || type == TABI_JOINT_CONTINUOUS;
}

/* The hinges from the waist to a body, or how many there are beyond TABI_LEG_MAX. */
static tabi_status list_joints(const search *s, int32_t waist, int32_t foot, tabi_leg *leg) {
  const tabi_model *model = s->model;
  int32_t path[TABI_LEG_MAX];
  int32_t count = 0;
  leg->nsoft = 0;
  for (int32_t b = foot; b != waist; b = model->body[b].parent) {
    int32_t joint = model->body[b].joint;
    if (is_soft(model, joint) && leg->nsoft < TABI_LEG_MAX) {
      leg->soft[leg->nsoft++] = joint;
      continue;
    }
    if (!is_hinge(model->body[b].type)) {
      return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                           "joint '%.60s' in the leg to '%.60s' is no hinge",
                           model->joint[joint].name, body_name(s, foot));
    }
    if (count < TABI_LEG_MAX) path[count] = joint;
    ++count;
  }
  leg->njoint = count;
  for (int32_t i = 0; i < count && count <= TABI_LEG_MAX; ++i)
    leg->joint[i] = path[count - 1 - i];
  return TABI_OK;
}

/* m^2, of the box around the points of a body that touch level ground. */
static double area_of(search *s, int32_t body) {
  const m3 axes = m3_identity();
  tabi_leg sole = {0};
  if (!collect(s, body)) return 0;
  (void)tbi_sole_outline(&s->cloud, &axes, SOLE_TOLERANCE, &sole);
  return sole.length * sole.width;
}

/* Of the feet of a limb with enough joints above them that with the largest sole: others are toes,
 * or shells of the ankle. */
static tabi_status find_leg(search *s, int32_t waist, int32_t limb, tabi_leg *leg, int32_t *foot) {
  const tabi_model *model = s->model;
  int32_t end = end_of_tree(model, s->tree);
  double largest = -1;
  tabi_status why = TABI_OK;
  tabi_leg last = {0};
  leg->njoint = 0;
  *foot = limb;
  for (int32_t i = limb; i < end; ++i) {
    bool below = i == limb;
    for (int32_t b = i; b > limb && !below; below = b == limb)
      b = model->body[b].parent;
    if (!below || !s->is_foot[i]) continue;
    tabi_status status = list_joints(s, waist, i, &last);
    double area = status == TABI_OK ? area_of(s, i) : 0;
    bool fits = status == TABI_OK && last.njoint >= 5 && last.njoint <= TABI_LEG_MAX;
    if (!fits && largest < 0) {
      why = status;
      *foot = i;
      leg->njoint = last.njoint;
    }
    if (!fits || area <= largest) continue;
    largest = area;
    *leg = last;
    *foot = i;
  }
  if (largest >= 0) return TABI_OK;
  if (why != TABI_OK) return why;
  return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                       "the limb to '%.60s' has %d driven hinges; a leg has 5 to %d",
                       body_name(s, *foot), (int)leg->njoint, TABI_LEG_MAX);
}

/* Loops in a leg are beyond the tree that is controlled. */
static tabi_status refuse_loops(const search *s, int32_t waist, int32_t foot) {
  const tabi_model *model = s->model;
  for (int32_t i = 0; i < model->nconnection; ++i) {
    const tabi_connection_def *c = &model->connection[i];
    for (int32_t b = foot; b != waist; b = model->body[b].parent) {
      bool touches = (c->a != TABI_WORLD && model->link_home[c->a].body == b) ||
                     (c->b != TABI_WORLD && model->link_home[c->b].body == b);
      if (!touches || c->type == TABI_CONNECTION_SPRING) continue;
      return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                           "connection '%.60s' closes a loop in the leg to '%.60s'",
                           c->name ? c->name : "?", body_name(s, foot));
    }
  }
  return TABI_OK;
}

/* -- front */

static v3 joint_point(const search *s, int32_t joint) {
  return body_frame(s->d, s->model->joint_body[joint]).pos;
}

static v3 joint_axis(const search *s, int32_t joint) {
  return v4_to(s->d->axis[s->model->body[s->model->joint_body[joint]].v].ang);
}

static v3 levelled(v3 a) {
  double norm = hypot(a.x, a.y);
  return norm > 1e-9 ? (v3){a.x / norm, a.y / norm, 0} : v3_zero();
}

/* How far the sole's middle is before the last joint, over its length. */
static double toe_share(search *s, const tabi_leg *leg, int32_t foot, v3 forward) {
  const v3 up = {0, 0, 1};
  if (!collect(s, foot)) return 0;
  m3 axes = m3_from_columns(forward, v3_cross(up, forward), up);
  tabi_leg sole = {0};
  v3 middle = tbi_sole_outline(&s->cloud, &axes, SOLE_TOLERANCE, &sole);
  v3 ankle = joint_point(s, leg->joint[leg->njoint - 1]);
  return sole.length > 0 ? v3_dot(v3_sub(middle, ankle), forward) / sole.length : 0;
}

/* Which way the knee goes when it bends as its limits allow: 1 forward, -1 back, 0 either. */
static int knee_vote(const search *s, const tabi_leg *leg, v3 forward) {
  const v3 up = {0, 0, 1};
  int32_t pitch[TABI_LEG_MAX];
  v3 left = v3_cross(up, forward);
  int32_t n = 0;
  for (int32_t i = 0; i < leg->njoint; ++i) {
    if (fabs(v3_dot(joint_axis(s, leg->joint[i]), left)) > 0.8) pitch[n++] = leg->joint[i];
  }
  if (n < 3) return 0;
  const tabi_joint_def *knee = &s->model->joint[pitch[1]];
  double along = v3_dot(joint_axis(s, pitch[1]), left) > 0 ? 1 : -1;
  double middle = 0.5 * (knee->lower + knee->upper);
  if (knee->type != TABI_JOINT_REVOLUTE || !isfinite(middle) || fabs(middle) < 0.1) return 0;
  /* a turn about the left moves what hangs down backwards, so the knee goes forward */
  return middle * along > 0 ? 1 : -1;
}

static v3 decide_front(search *s, tabi_biped *biped, const int32_t foot[2], v3 forward) {
  double toes = 0.5 * (toe_share(s, &biped->leg[0], foot[0], forward) +
                       toe_share(s, &biped->leg[1], foot[1], forward));
  int knees = knee_vote(s, &biped->leg[0], forward) + knee_vote(s, &biped->leg[1], forward);
  double vote = fabs(toes) > TOE_SHARE ? (toes > 0 ? 2 : -2) : 0;
  vote += 0.5 * knees;
  biped->front_why = fabs(toes) > TOE_SHARE ? "soles reach farther before the ankles"
                     : knees != 0           ? "knees bend forward"
                                            : "it is x by custom";
  m3 base = body_frame(s->d, s->model->tree_body[s->tree]).rot;
  if (fabs(vote) < 0.1) vote = v3_dot(m3_column(&base, 0), forward) >= 0 ? 0.5 : -0.5;
  return vote > 0 ? forward : v3_neg(forward);
}

/* -- soles */

static int32_t lowest_link(const search *s, int32_t body) {
  for (int32_t i = 0; i < s->model->nshape; ++i) {
    const tabi_shape_def *shape = &s->model->shape[i];
    if (shape->collides && shape->link != TABI_WORLD &&
        s->model->link_home[shape->link].body == body)
      return shape->link;
  }
  return TABI_NONE;
}

static tabi_status measure_sole(search *s, int32_t foot, const m3 *axes, tabi_leg *leg) {
  if (!collect(s, foot)) return tbi_error_memory(s->err);
  v3 middle = tbi_sole_outline(&s->cloud, axes, SOLE_TOLERANCE, leg);
  leg->foot = lowest_link(s, foot);
  tbi_frame link = tbi_link_frame(s->d, leg->foot);
  tbi_frame sole = {*axes, middle};
  tbi_frame in_link = tbi_frame_relative(&link, &sole);
  v3_store(in_link.pos, leg->pos);
  q_store(q_from_matrix(&in_link.rot), leg->quat);
  if (leg->length >= MIN_SOLE && leg->width >= MIN_SOLE) return TABI_OK;
  return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                       "foot '%.60s' touches level ground on %.1f x %.1f mm only: is it level in "
                       "this posture?",
                       body_name(s, foot), 1e3 * leg->length, 1e3 * leg->width);
}

/* -- all */

/* What carries both legs, and the limbs that they are. */
static tabi_status find_limbs(search *s, int32_t *waist, int32_t limb[2]) {
  int32_t count = 0;
  *waist = find_waist(s, limb, 2, &count);
  if (count == 0) {
    return tbi_error_set(
        s->err, TABI_ERR_MODEL, nowhere,
        "no limb reaches the ground: the lowest colliding shape is that of '%.60s' "
        "itself; give the feet collision shapes",
        body_name(s, *waist));
  }
  if (count != 2) {
    return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                         "%d limbs of '%.60s' reach the ground; a biped stands on two", (int)count,
                         body_name(s, *waist));
  }
  return TABI_OK;
}

static tabi_status find_legs(search *s, tabi_biped *biped, int32_t foot[2]) {
  int32_t waist = TABI_NONE;
  int32_t limb[2];
  tabi_status status = find_limbs(s, &waist, limb);
  if (status != TABI_OK) return status;
  biped->waist = s->model->joint[s->model->body[waist].joint].child;
  for (int i = 0; i < 2 && status == TABI_OK; ++i) {
    status = find_leg(s, waist, limb[i], &biped->leg[i], &foot[i]);
    if (status == TABI_OK) status = refuse_loops(s, waist, foot[i]);
  }
  return status;
}

/* From one leg to the other, level; legs on one axis are told apart by their feet. */
static tabi_status find_across(search *s, const tabi_biped *biped, const int32_t foot[2],
                               v3 *across) {
  *across = levelled(
      v3_sub(joint_point(s, biped->leg[0].joint[0]), joint_point(s, biped->leg[1].joint[0])));
  if (v3_norm(*across) == 0)
    *across = levelled(v3_sub(body_frame(s->d, foot[0]).pos, body_frame(s->d, foot[1]).pos));
  if (biped->leg[0].njoint == biped->leg[1].njoint && v3_norm(*across) > 0) return TABI_OK;
  return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                       "the legs are no mirror pair: %d and %d joints, hips %.3f m apart",
                       (int)biped->leg[0].njoint, (int)biped->leg[1].njoint, v3_norm(*across));
}

/* The left leg first. */
static void order_legs(tabi_biped *biped, v3 across, v3 left) {
  if (v3_dot(across, left) >= 0) return;
  tabi_leg leg = biped->leg[1];
  biped->leg[1] = biped->leg[0];
  biped->leg[0] = leg;
}

static void place_in_waist(const search *s, const m3 *axes, tabi_biped *biped) {
  tbi_frame waist = tbi_link_frame(s->d, biped->waist);
  m3 back = m3_transpose(&waist.rot);
  m3 level = m3_mul(&back, axes);
  q_store(q_from_matrix(&level), biped->in_waist);
}

static tabi_status find_in_tree(search *s, const double *front, tabi_biped *biped) {
  const tabi_model *model = s->model;
  const v3 up = {0, 0, 1};
  int32_t root = model->tree_body[s->tree];
  if (model->body[root].type != TABI_JOINT_FREE) {
    return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                         "'%.60s' is fixed or guided; a walking robot needs a free base",
                         body_name(s, root));
  }
  biped->base = model->body[root].joint;
  int32_t foot[2];
  v3 across;
  tabi_status status = find_feet(s);
  if (status == TABI_OK) status = find_legs(s, biped, foot);
  if (status == TABI_OK) status = find_across(s, biped, foot, &across);
  if (status != TABI_OK) return status;
  v3 forward = v3_cross(across, up);
  forward = front ? levelled(v3_load(front)) : decide_front(s, biped, foot, forward);
  if (front) biped->front_why = "as asked";
  v3 left = v3_cross(up, forward);
  m3 axes = m3_from_columns(forward, left, up);
  for (int i = 0; i < 2 && status == TABI_OK; ++i)
    status = measure_sole(s, foot[i], &axes, &biped->leg[i]);
  if (status != TABI_OK) return status;
  order_legs(biped, across, left);
  v3_store(forward, biped->front);
  place_in_waist(s, &axes, biped);
  return TABI_OK;
}

/* Distance of the soles side by side, at least so that they do not touch; reach and mass. */
static void measure_size(const search *s, tabi_biped *biped) {
  const tabi_model *model = s->model;
  v3 left = v3_cross((v3){0, 0, 1}, v3_load(biped->front));
  v3 sole[2];
  for (int i = 0; i < 2; ++i) {
    tbi_frame link = tbi_link_frame(s->d, biped->leg[i].foot);
    sole[i] = v3_add(link.pos, m3_mulv(&link.rot, v3_load(biped->leg[i].pos)));
    biped->leg[i].reach = tbi_crouch_reach(s->d, biped, i);
  }
  double width = fmax(biped->leg[0].width, biped->leg[1].width);
  biped->spacing = fmax(v3_dot(v3_sub(sole[0], sole[1]), left), (1 + MIN_GAP) * width + 5e-3);
  biped->mass = 0;
  for (int32_t i = model->tree_body[s->tree]; i < end_of_tree(model, s->tree); ++i)
    biped->mass += model->body[i].mass;
}

static tabi_status find_among(search *s, int32_t link, const double *front, tabi_biped *biped) {
  const tabi_model *model = s->model;
  tabi_status status = tbi_error_set(s->err, TABI_ERR_MODEL, nowhere, "nothing in it moves");
  if (link != TABI_NONE && model->link_home[link].body == TABI_WORLD) {
    return tbi_error_set(s->err, TABI_ERR_MODEL, nowhere,
                         "'%.60s' is fixed; a walking robot needs a free base",
                         model->link[link].name);
  }
  int32_t only = link == TABI_NONE ? TABI_NONE : model->body[model->link_home[link].body].tree;
  for (int32_t tree = 0; tree < model->ntree; ++tree) {
    if (only != TABI_NONE && tree != only) continue;
    *biped = (tabi_biped){0};
    s->tree = tree;
    status = find_in_tree(s, front, biped);
    if (status == TABI_OK) {
      measure_size(s, biped);
      return TABI_OK;
    }
  }
  return status;
}

tabi_status tabi_biped_find(const tabi_model *model, int32_t link, const double *q,
                            const double *front, tabi_biped *biped, tabi_error *err) {
  TBI_ASSERT(model && q && biped && link >= TABI_NONE && link < model->nlink);
  size_t nbody = (size_t)model->nbody + 1;
  search s = {.model = model, .q = q, .err = err, .d = tabi_dynamics_create(model, err)};
  double *zero = calloc((size_t)model->nv + 1, sizeof *zero);
  s.low = calloc(nbody, sizeof *s.low);
  s.below = calloc(nbody, sizeof *s.below);
  s.is_foot = calloc(nbody, sizeof *s.is_foot);
  tabi_status status = TABI_OK;
  if (!s.d || !zero || !s.low || !s.below || !s.is_foot) {
    status = s.d ? tbi_error_memory(err) : TABI_ERR_MODEL;
  } else {
    tbi_kinematics(s.d, q, zero);
    status = find_among(&s, link, front, biped);
  }
  tabi_dynamics_destroy(s.d);
  free(zero);
  free(s.low);
  free(s.below);
  free(s.is_foot);
  free(s.cloud.point);
  return status;
}
