/* plan.c - a model as lane steps see it: what they can do, bodies depth first, and their inertias.
 * plan_touch.c adds the slots of contacts. */
#include "batch/plan.h"

#include "base/error.h"
#include "batch/plan_ground.h"
#include "batch/plan_touch.h"
#include "model/model.h"
#include "world/memory.h"

#include <stdlib.h>
#include <string.h>

/* -- what lanes cannot do */

static bool is_lone(const tabi_model *model, int32_t body) {
  if (model->body[body].type != TABI_JOINT_FREE) return false;
  return body + 1 == model->nbody || model->body[body + 1].tree != model->body[body].tree;
}

static const char *refuse_model(const tabi_model *model) {
  if (model->nv == 0) return "nothing moves";
  if (model->nconnection > 0 || model->ncoupling > 0) return "connections close kinematic loops";
  if (model->ntendon > 0) return "the model has tendons";
  for (int32_t t = 0; t < model->ntree; ++t)
    if (is_lone(model, model->tree_body[t])) return "a free body without joints";
  for (int32_t i = 0; i < model->nbody; ++i)
    if (model->body[i].type == TABI_JOINT_FREE && model->body[i].parent != TABI_WORLD)
      return "a free joint between two bodies";
  for (int32_t i = 0; i < model->nlink; ++i)
    if (model->link[i].buoyancy != 0) return "links have buoyancy";
  return NULL;
}

static const char *refuse_def(const tabi_world_def *def) {
  if (def->contact != TABI_CONTACT_CONE) return "the contact method is not cone";
  if (def->integrator != TABI_SEMI_IMPLICIT) return "the integrator is not semi-implicit";
  if (def->impacts != TABI_IMPACTS_SIMULTANEOUS) return "impacts are sequential";
  if (def->sleep) return "what rests sleeps";
  if (def->fallback == TABI_FALLBACK_EXACT) return "the fallback is exact";
  return NULL;
}

/* -- bodies */

static int32_t depth_of(const tabi_model *model, int32_t body) {
  int32_t depth = 0;
  for (int32_t i = model->body[body].parent; i != TABI_WORLD; i = model->body[i].parent)
    ++depth;
  return depth;
}

/* whether the rotation exchanges axes exactly */
static void find_permutation(tbi_plan_body *b) {
  int found = 0;
  for (int j = 0; j < 3; ++j) {
    for (int i = 0; i < 3; ++i) {
      double x = b->rot[3 * j + i];
      if (x != 1 && x != -1) continue;
      b->axis[j] = i;
      b->sign[j] = x;
      ++found;
    }
  }
  b->permutes = found == 3;
}

/* a rotation by a multiple of a right angle that was read from rounded numbers is meant as such */
static double cleaned(double x) {
  const double tiny = 1e-15;
  if (x > 1 - tiny) return 1;
  if (x < -1 + tiny) return -1;
  return x < tiny && x > -tiny ? 0 : x;
}

static void fill_body(tbi_plan *p, int32_t place, int32_t index) {
  const tbi_body *body = &p->model->body[index];
  tbi_plan_body *b = &p->body[place];
  *b = (tbi_plan_body){.body = index,
                       .depth = depth_of(p->model, index),
                       .q = body->q,
                       .v = body->v,
                       .nv = body->nv,
                       .tree = body->tree,
                       .type = body->type,
                       .leaf = true,
                       .radius = -1};
  for (int j = 0; j < 3; ++j)
    for (int i = 0; i < 3; ++i)
      b->rot[3 * j + i] = cleaned(body->place.rot.m[i][j]);
  find_permutation(b);
  if (body->parent != TABI_WORLD) v3_store(body->place.pos, b->pos);
  p->place[index] = place;
  if (b->depth + 1 > p->depth) p->depth = b->depth + 1;
  double *inertia = p->inertia + 10 * (size_t)place;
  const s3 moment = body->inertia;
  inertia[0] = body->mass;
  v3_store(body->com, inertia + 1);
  const double six[6] = {moment.xx, moment.yy, moment.zz, moment.xy, moment.xz, moment.yz};
  memcpy(inertia + 4, six, sizeof six);
}

/* depth first: the next body below, or beside, or beside an ancestor */
static int32_t next_child(const tabi_model *model, int32_t parent, int32_t after, int32_t tree) {
  for (int32_t i = after + 1; i < model->nbody; ++i)
    if (model->body[i].parent == parent && model->body[i].tree == tree) return i;
  return TABI_NONE;
}

static int32_t next_body(const tabi_model *model, int32_t body) {
  int32_t tree = model->body[body].tree;
  int32_t next = next_child(model, body, body, tree);
  while (next == TABI_NONE && model->body[body].parent != TABI_WORLD) {
    next = next_child(model, model->body[body].parent, body, tree);
    body = model->body[body].parent;
  }
  return next;
}

static void order_bodies(tbi_plan *p) {
  const tabi_model *model = p->model;
  int32_t place = 0;
  for (int32_t t = 0; t < model->ntree; ++t) {
    v3_store(model->tree_place[t], p->origin + 3 * (size_t)t);
    for (int32_t i = model->tree_body[t]; i != TABI_NONE; i = next_body(model, i))
      fill_body(p, place++, i);
  }
  for (int32_t i = 0; i < p->nbody; ++i) {
    tbi_plan_body *b = &p->body[i];
    b->leaf = i + 1 == p->nbody || p->body[i + 1].depth <= b->depth;
    b->last_child = true;
    for (int32_t k = i + 1; k < p->nbody && p->body[k].depth >= b->depth; ++k)
      if (p->body[k].depth == b->depth && p->body[k].tree == b->tree) b->last_child = false;
  }
}

static void list_paths(tbi_plan *p) {
  const tabi_model *model = p->model;
  for (int32_t i = 0; i < p->nbody; ++i) {
    tbi_plan_body *b = &p->body[i];
    b->path = p->npath;
    for (int32_t k = b->v + b->nv - 1; k >= 0; k = model->dof_parent[k])
      p->path[p->npath++] = k;
    b->length = p->npath - b->path;
  }
  for (int32_t k = 0; k < p->nv; ++k) {
    p->dof_place[k] = p->place[model->dof_body[k]];
    p->drives[k] = model->dof_q[k] != TABI_NONE;
    p->any_friction = p->any_friction || (p->drives[k] && model->dof_friction[k] > 0);
    p->nrow += model->dof_depth[k] + 1;
  }
}

static bool alloc_bodies(tbi_plan *p) {
  size_t n = (size_t)p->nbody + 1;
  size_t nv = (size_t)p->nv + 1;
  size_t path = 1;
  for (int32_t k = 0; k < p->nv; ++k)
    path += (size_t)p->model->dof_depth[k] + 1;
  p->body = calloc(n, sizeof *p->body);
  p->place = calloc(n, sizeof *p->place);
  p->dof_place = calloc(nv, sizeof *p->dof_place);
  p->origin = calloc((size_t)p->ntree + 1, 3 * sizeof *p->origin);
  p->inertia = calloc(n, 10 * sizeof *p->inertia);
  p->drives = calloc(nv, sizeof *p->drives);
  p->path = calloc(path, sizeof *p->path);
  p->actuated = calloc(nv, sizeof *p->actuated);
  p->actuator_dof = calloc((size_t)p->nactuator + 1, sizeof *p->actuator_dof);
  return p->actuated && p->actuator_dof && p->body && p->place && p->dof_place && p->origin &&
         p->inertia && p->drives && p->path;
}

static void borrow_arrays(tbi_plan *p) {
  const tabi_model *model = p->model;
  p->dof_q = model->dof_q;
  p->dof_parent = model->dof_parent;
  p->dof_depth = model->dof_depth;
  p->dof_rotor = model->dof_rotor;
  p->dof_damping = model->dof_damping;
  p->dof_friction = model->dof_friction;
  p->dof_stiffness = model->dof_stiffness;
  p->dof_rest = model->dof_rest;
  p->dof_lower = model->dof_lower;
  p->dof_upper = model->dof_upper;
  p->actuator = model->actuator;
  for (int32_t a = 0; a < p->nactuator; ++a) {
    int32_t joint = model->actuator[a].joint;
    int32_t body = joint == TABI_NONE ? TABI_NONE : model->joint_body[joint];
    bool single = body != TABI_NONE && model->body[body].nv == 1;
    p->actuator_dof[a] = single ? model->body[body].v : TABI_NONE;
    if (single) p->actuated[model->body[body].v] = true;
  }
}

static tbi_plan *refused(tbi_plan *p, const char *why) {
  tbi_message_format(p->reason, sizeof p->reason, "%s", why);
  return p;
}

tbi_plan *tbi_plan_create(const tabi_model *model, const tabi_world_def *def, bool self_collision) {
  tbi_plan *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->model = model;
  p->def = *def;
  tbi_world_def_complete(&p->def);
  p->h = def->timestep;
  p->nq = model->nq;
  p->nv = model->nv;
  p->nbody = model->nbody;
  p->nactuator = model->nactuator;
  p->ntree = model->ntree;
  const char *why = refuse_def(def);
  if (!why) why = refuse_model(model);
  if (why) return refused(p, why);
  bool whole = alloc_bodies(p);
  if (whole) {
    borrow_arrays(p);
    order_bodies(p);
    list_paths(p);
    whole = tbi_plan_touch(p, self_collision);
  }
  if (whole) return p;
  tbi_plan_destroy(p);
  return NULL;
}

void tbi_plan_destroy(tbi_plan *plan) {
  if (!plan) return;
  void *const pieces[] = {plan->body,    plan->pair,         plan->point,     plan->plane,
                          plan->couple,  plan->slot,         plan->segment,   plan->path,
                          plan->place,   plan->drives,       plan->dof_place, plan->origin,
                          plan->inertia, plan->actuator_dof, plan->actuated,  plan->stand,
                          plan->patch,   plan->meets};
  tbi_plan_ground_destroy(plan->ground);
  for (size_t i = 0; i < sizeof pieces / sizeof *pieces; ++i)
    free(pieces[i]);
  free(plan);
}
