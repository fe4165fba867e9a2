/* lane_feel.c - forces that sensors feel in one world of a group, as world/sensor_truth.c has them:
 * means over the step, at the posture of its start.
 *
 * A joint transmits what accelerates all that hangs on it, less what else acts there.  Bodies as a
 * whole have that from the step, which left the bias and the gain of their twists; of a body with a
 * sensor inside, the links behind the sensor are taken one by one. */
#include "batch/lane_feel.h"

#include "batch/lane_read.h"

#include <string.h>

/* A force, and its moment about a point of the world. */
typedef struct wrench {
  v3 force, moment;
} wrench;

static wrench wrench_at(v3 arm, v3 force) { return (wrench){force, v3_cross(arm, force)}; }

static void add(wrench *sum, double share, wrench more) {
  sum->force = v3_axpy(sum->force, share, more.force);
  sum->moment = v3_axpy(sum->moment, share, more.moment);
}

static int32_t place_of(const tbi_lane_work *w, int32_t link) {
  int32_t body = link == TABI_WORLD ? TABI_WORLD : w->plan->model->link_home[link].body;
  return body == TABI_WORLD ? TABI_WORLD : w->plan->place[body];
}

static int32_t tree_of(const tbi_lane_work *w, int32_t place) {
  return place == TABI_WORLD ? TABI_WORLD : w->plan->body[place].tree;
}

/* the link on which a link hangs, or TABI_WORLD */
static int32_t parent_of(const tabi_model *model, int32_t link) {
  int32_t joint = model->link_home[link].joint;
  return joint == TABI_NONE ? TABI_WORLD : model->joint[joint].parent;
}

static bool hangs_on(const tabi_model *model, int32_t link, int32_t top) {
  while (link != TABI_WORLD && link != top)
    link = parent_of(model, link);
  return link == top;
}

/* whether a link is top, or welded to it from below */
static bool is_part_of(const tabi_model *model, int32_t link, int32_t top) {
  while (link != TABI_WORLD && link != top) {
    int32_t joint = model->link_home[link].joint;
    if (joint == TABI_NONE || model->joint[joint].type != TABI_JOINT_FIXED) return false;
    link = model->joint[joint].parent;
  }
  return link == top;
}

/* -- contacts */

/* A contact that pushes: two links, and what it does to b. */
typedef struct contact {
  int32_t link_a, link_b;
  v3 point, force, couple; /* N and N m, world */
  double normal;           /* N */
} contact;

/* N or N m in world axes, on b */
static v3 force_of(const tbi_lane_work *w, const double *impulse, int32_t slot, int32_t lane) {
  const double *record = w->slot + (ptrdiff_t)TBI_SLOT_SIZE * slot * w->lanes;
  double per_s = 1 / w->plan->h;
  v3 sum = v3_zero();
  for (int i = 0; i < 3; ++i) {
    v3 axis = tbi_lane_at3(w, record, TBI_SLOT_FRAME + 3 * i, lane);
    sum = v3_axpy(sum, per_s * tbi_lane_at(w, impulse, 3 * (int64_t)slot + i, lane), axis);
  }
  return sum;
}

/* contact i of those held; false: it does not push in this lane */
static bool contact_at(const tbi_lane_work *w, int32_t i, int32_t lane, contact *c) {
  const tabi_model *model = w->plan->model;
  int32_t index = w->held[i];
  const tbi_plan_slot *slot = &w->plan->slot[index];
  const double *record = w->slot + (ptrdiff_t)TBI_SLOT_SIZE * index * w->lanes;
  double normal = tbi_lane_at(w, w->impulse, 3 * (int64_t)index, lane);
  if (!(normal > 0)) return false;
  v3 arm = tbi_lane_at3(w, record, TBI_SLOT_ARM_B, lane);
  *c = (contact){.link_a =
                     slot->body_a == TABI_WORLD ? TABI_WORLD : model->shape[slot->shape_a].link,
                 .link_b = model->shape[slot->shape_b].link,
                 .point = v3_add(tbi_lane_origin(w, slot->body_b, lane), arm),
                 .force = force_of(w, w->impulse, index, lane),
                 .normal = normal / w->plan->h};
  if (w->plan->nroll > 0) c->couple = force_of(w, w->roll_impulse, index, lane);
  return true;
}

static wrench wrench_of(const contact *c, v3 about) {
  wrench sum = wrench_at(v3_sub(c->point, about), c->force);
  sum.moment = v3_add(sum.moment, c->couple);
  return sum;
}

void tbi_lane_foot(const tbi_lane_work *w, int32_t link, int32_t lane, double six[6]) {
  const tbi_link_home *home = &w->plan->model->link_home[link];
  tbi_lane_pose body = tbi_lane_pose_of(w, place_of(w, link), lane);
  v3 origin = v3_add(body.pos, m3_mulv(&body.rot, home->frame.pos));
  v3 about = v3_add(tbi_lane_origin(w, place_of(w, link), lane), origin);
  wrench sum = {v3_zero(), v3_zero()};
  for (int32_t i = 0; i < w->nheld; ++i) {
    contact c;
    if (!contact_at(w, i, lane, &c)) continue;
    if (c.link_b == link) add(&sum, 1, wrench_of(&c, about));
    if (c.link_a == link && link != TABI_WORLD) add(&sum, -1, wrench_of(&c, about));
  }
  v3_store(sum.force, six);
  v3_store(sum.moment, six + 3);
}

void tbi_lane_feel_contact(const tbi_lane_work *w, int32_t link, int32_t lane, double *value) {
  const tabi_model *model = w->plan->model;
  double sum = 0;
  for (int32_t i = 0; i < w->nheld; ++i) {
    contact c;
    if (!contact_at(w, i, lane, &c)) continue;
    if (is_part_of(model, c.link_b, link)) sum += c.normal;
    if (is_part_of(model, c.link_a, link)) sum += c.normal;
  }
  value[0] = sum > 0 ? 1 : 0;
  value[1] = sum;
}

/* -- centres of pressure */

/* A sensor's axes in the world and its place. */
typedef struct mounted {
  m3 axes;
  v3 pos;
} mounted;

static mounted mount_of(const tbi_lane_work *w, int32_t link, const tabi_sensor_def *def,
                        int32_t lane) {
  tbi_frame own = tbi_frame_load(def->pos, def->quat);
  tbi_frame mount = tbi_frame_mul(&w->plan->model->link_home[link].frame, &own);
  tbi_lane_pose body = tbi_lane_pose_of(w, place_of(w, link), lane);
  v3 origin = v3_add(tbi_lane_origin(w, place_of(w, link), lane), body.pos);
  return (mounted){m3_mul(&body.rot, &mount.rot), v3_add(origin, m3_mulv(&body.rot, mount.pos))};
}

static void see(const mounted *at, wrench felt, double value[6]) {
  v3_store(m3_tmulv(&at->axes, felt.force), value);
  v3_store(m3_tmulv(&at->axes, felt.moment), value + 3);
}

/* where a wrench has no moment about x and y, in the plane at a height */
static void centre_of(const double six[6], double height, double centre[2]) {
  if (six[2] <= 0) return;
  centre[0] = (height * six[0] - six[4]) / six[2];
  centre[1] = (height * six[1] + six[3]) / six[2];
}

void tbi_lane_feel_pressure(const tbi_lane_work *w, const tabi_sensor_def *def, int32_t lane,
                            double *value) {
  const tabi_model *model = w->plan->model;
  mounted at = mount_of(w, def->link, def, lane);
  wrench sum = {v3_zero(), v3_zero()};
  for (int32_t i = 0; i < w->nheld; ++i) {
    contact c;
    if (!contact_at(w, i, lane, &c)) continue;
    if (tree_of(w, place_of(w, c.link_a)) == tree_of(w, place_of(w, c.link_b))) continue;
    if (is_part_of(model, c.link_b, def->link)) add(&sum, 1, wrench_of(&c, at.pos));
    if (is_part_of(model, c.link_a, def->link)) add(&sum, -1, wrench_of(&c, at.pos));
  }
  double six[6];
  see(&at, sum, six);
  value[0] = value[1] = 0;
  centre_of(six, 0, value);
  value[2] = six[2];
}

/* in the level plane where the contacts are, by the mean of their heights */
void tbi_lane_feel_zmp(const tbi_lane_work *w, int32_t link, int32_t lane, double *value) {
  int32_t tree = tree_of(w, place_of(w, link));
  v3 origin = tbi_lane_origin(w, place_of(w, link), lane);
  wrench sum = {v3_zero(), v3_zero()};
  double height = 0;
  memset(value, 0, 4 * sizeof *value);
  if (tree == TABI_WORLD) return;
  for (int32_t i = 0; i < w->nheld; ++i) {
    contact c;
    if (!contact_at(w, i, lane, &c)) continue;
    int32_t tree_a = tree_of(w, place_of(w, c.link_a));
    int32_t tree_b = tree_of(w, place_of(w, c.link_b));
    double share = (tree_b == tree) - (tree_a == tree);
    add(&sum, share, wrench_of(&c, origin));
    height += share * c.force.z * c.point.z;
  }
  double six[6];
  v3_store(sum.force, six);
  v3_store(sum.moment, six + 3);
  value[3] = six[2];
  if (six[2] <= 0) return;
  value[2] = height / six[2];
  centre_of(six, value[2] - origin.z, value);
  value[0] += origin.x;
  value[1] += origin.y;
}

/* -- forces through joints */

/* what accelerates a body less pushes on it: mass times the gain of its twist, less the impulses of
 * its bias, gravity and the push */
static wrench load_of_body(const tbi_lane_work *w, int32_t place, int32_t lane, v3 about) {
  double per_s = 1 / w->plan->h;
  const double *ten = w->mass;
  int64_t from = 10 * (int64_t)place;
  double m = tbi_lane_at(w, ten, from, lane);
  v3 h = tbi_lane_at3(w, ten, from + 1, lane);
  v3 lin = tbi_lane_at3(w, w->gain, 6 * (int64_t)place, lane);
  v3 ang = tbi_lane_at3(w, w->gain, 6 * (int64_t)place + 3, lane);
  s3 moment = {tbi_lane_at(w, ten, from + 4, lane), tbi_lane_at(w, ten, from + 5, lane),
               tbi_lane_at(w, ten, from + 6, lane), tbi_lane_at(w, ten, from + 7, lane),
               tbi_lane_at(w, ten, from + 8, lane), tbi_lane_at(w, ten, from + 9, lane)};
  wrench bias = {tbi_lane_at3(w, w->force, 6 * (int64_t)place, lane),
                 tbi_lane_at3(w, w->force, 6 * (int64_t)place + 3, lane)};
  wrench load = {v3_axpy(v3_cross(ang, h), m, lin), v3_add(v3_cross(h, lin), s3_mulv(moment, ang))};
  add(&load, -1, bias);
  load.force = v3_scale(per_s, load.force);
  v3 arm = v3_sub(tbi_lane_origin(w, place, lane), about);
  load.moment = v3_axpy(v3_cross(arm, load.force), per_s, load.moment);
  return load;
}

/* what accelerates one link, by Newton and Euler about its centre of mass */
static wrench load_of_link(const tbi_lane_work *w, int32_t link, int32_t lane, v3 about) {
  const tabi_link_def *def = &w->plan->model->link[link];
  const tbi_link_home *home = &w->plan->model->link_home[link];
  tbi_lane_pose body = tbi_lane_pose_of(w, place_of(w, link), lane);
  m3 rot = m3_mul(&body.rot, &home->frame.rot);
  v3 com = v3_add(home->frame.pos, m3_mulv(&home->frame.rot, v3_load(def->com)));
  v3 arm = v3_add(body.pos, m3_mulv(&body.rot, com));
  v3 force = v3_scale(def->mass, tbi_lane_acceleration(&body, arm));
  s3 inertia = s3_rotate(&rot, s3_load(def->inertia));
  v3 moment = s3_mulv(inertia, body.acc_ang);
  moment = v3_add(moment, v3_cross(body.ang, s3_mulv(inertia, body.ang)));
  arm = v3_add(arm, v3_sub(tbi_lane_origin(w, place_of(w, link), lane), about));
  return (wrench){force, v3_add(moment, v3_cross(arm, force))};
}

/* the push on a link that is not taken with its body */
static wrench push_on(const tbi_lane_work *w, int32_t lane, v3 about) {
  tbi_lane_pose body = tbi_lane_pose_of(w, w->push_body, lane);
  v3 point = v3_add(body.pos, m3_mulv(&body.rot, v3_load(w->push_point)));
  v3 arm = v3_sub(v3_add(point, tbi_lane_origin(w, w->push_body, lane)), about);
  wrench push = wrench_at(arm, tbi_lane_at3(w, w->push, 0, lane));
  push.moment = v3_add(push.moment, tbi_lane_at3(w, w->push, 3, lane));
  return push;
}

/* the link that the joint above a body moves */
static int32_t first_link(const tabi_model *model, int32_t body) {
  return model->joint[model->body[body].joint].child;
}

static wrench load_on(const tbi_lane_work *w, int32_t top, int32_t lane, v3 about) {
  const tbi_plan *p = w->plan;
  const tabi_model *model = p->model;
  wrench sum = {v3_zero(), v3_zero()};
  int32_t own = model->link_home[top].body;
  bool inside = own == TABI_WORLD || first_link(model, own) != top;
  for (int32_t i = 0; i < p->nbody; ++i)
    if (hangs_on(model, first_link(model, p->body[i].body), top))
      add(&sum, 1, load_of_body(w, i, lane, about));
  for (int32_t i = 0; inside && i < model->nlink; ++i)
    if (model->link_home[i].body == own && hangs_on(model, i, top))
      add(&sum, 1, load_of_link(w, i, lane, about));
  bool pushed = inside && w->push_body != TABI_NONE && p->body[w->push_body].body == own;
  if (pushed && hangs_on(model, w->push_link, top)) add(&sum, -1, push_on(w, lane, about));
  return sum;
}

void tbi_lane_feel_joint(const tbi_lane_work *w, const tabi_sensor_def *def, int32_t lane,
                         double *value) {
  const tabi_model *model = w->plan->model;
  int32_t top = model->joint[def->joint].child;
  mounted at = mount_of(w, top, def, lane);
  wrench sum = load_on(w, top, lane, at.pos);
  for (int32_t i = 0; i < w->nheld; ++i) {
    contact c;
    if (!contact_at(w, i, lane, &c)) continue;
    if (hangs_on(model, c.link_b, top)) add(&sum, -1, wrench_of(&c, at.pos));
    if (hangs_on(model, c.link_a, top)) add(&sum, 1, wrench_of(&c, at.pos));
  }
  see(&at, sum, value);
}

/* -- what a plan must keep */

void tbi_lane_feel_plan(tbi_plan *p, int32_t link) {
  for (int32_t i = 0; i < p->nbody; ++i) {
    bool hangs = hangs_on(p->model, first_link(p->model, p->body[i].body), link);
    if (hangs || p->body[i].body == p->model->link_home[link].body) p->body[i].keeps_pose = true;
  }
}

bool tbi_lane_feels_inside(const tabi_model *model, int32_t joint) {
  return model->joint_body[joint] == TABI_NONE;
}
