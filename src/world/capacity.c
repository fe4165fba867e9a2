/* capacity.c - how many contacts a world has memory for.
 *
 * A step never allocates.  One that meets more contacts than there is memory for fails with
 * TABI_ERR_CAPACITY and leaves everything as it was, wrenches of tabi_world_apply included, so that
 * it can be repeated after tabi_world_grow.  Results do not depend on the capacity. */
#include "base/assertion.h"
#include "base/error.h"
#include "world/memory.h"

static const tabi_place nowhere = {NULL, 0};

/* -- at first */

/* whether a body is a tree of its own, such as a box in a heap */
static bool is_lone(const tabi_model *model, int32_t body) {
  int32_t tree = model->body[body].tree;
  int32_t end = tree + 1 < model->ntree ? model->tree_body[tree + 1] : model->nbody;
  return end - model->tree_body[tree] == 1;
}

static bool is_rough(const tabi_shape_def *shape) {
  return shape->type == TABI_SHAPE_TRIANGLES || shape->type == TABI_SHAPE_HEIGHTFIELD;
}

static int64_t usual_contacts_of(const tabi_model *model, const tabi_shape_def *shape) {
  int32_t body = shape->link == TABI_WORLD ? TABI_WORLD : model->link_home[shape->link].body;
  if (body == TABI_WORLD) return shape->type == TABI_SHAPE_PLANE ? 0 : 4;
  if (is_lone(model, body)) return 12;
  bool flat = shape->type == TABI_SHAPE_BOX || shape->type == TABI_SHAPE_MESH;
  return flat ? 4 : 2;
}

/* As many as shapes reasonably have at once: of a robot's, few touch, with the corners of one side
 * at most; on ground made of triangles all of them may. */
static int64_t usual_contacts(const tabi_model *model) {
  int64_t smooth = 4;
  int64_t rough = 64;
  bool has_rough = false;
  for (int32_t i = 0; i < model->nshape; ++i) {
    const tabi_shape_def *shape = &model->shape[i];
    if (!shape->collides) continue;
    smooth += usual_contacts_of(model, shape);
    rough += 12;
    has_rough = has_rough || is_rough(shape);
  }
  return has_rough ? rough : smooth;
}

int32_t tbi_world_default_contacts(const tabi_model *model) {
  int64_t usual = usual_contacts(model);
  int64_t all = (int64_t)TBI_PAIR_POINTS * tbi_collision_max_pairs(model);
  int64_t contacts = usual < all ? usual : all;
  if (contacts < 4) contacts = 4; /* of gait, which has no pairs */
  return contacts < TBI_MAX_CONTACTS ? (int32_t)contacts : TBI_MAX_CONTACTS;
}

/* -- too few */

static tabi_status no_more_contacts(const tabi_world *w, tabi_error *err) {
  if (!w->grows) {
    return tbi_error_set(err, TABI_ERR_CAPACITY, nowhere,
                         "step %lld: more than max_contacts = %d points of contact; raise it, or "
                         "leave it out to have as many as are needed",
                         (long long)w->state.head->steps, w->def.max_contacts);
  }
  return tbi_error_set(err, TABI_ERR_CAPACITY, nowhere,
                       "step %lld: more than %d points of contact, the most that a world can have",
                       (long long)w->state.head->steps, TBI_MAX_CONTACTS);
}

tabi_status tbi_world_lacks_contacts(tabi_world *w) {
  w->lacks_blocks = false;
  if (!w->grows || w->def.max_contacts >= TBI_MAX_CONTACTS) return no_more_contacts(w, &w->error);
  return tbi_error_set(&w->error, TABI_ERR_CAPACITY, nowhere,
                       "step %lld: more than %d points of contact; call tabi_world_grow and repeat "
                       "the step",
                       (long long)w->state.head->steps, w->def.max_contacts);
}

tabi_status tbi_world_lacks_blocks(tabi_world *w) {
  w->lacks_blocks = true;
  return tbi_error_set(
      &w->error, TABI_ERR_CAPACITY, nowhere, "step %lld: too many touched bodies in one tree%s",
      (long long)w->state.head->steps,
      w->capacity.blocks < TBI_MAX_BLOCKS ? "; call tabi_world_grow and repeat the step"
                                          : ", more than a world can have");
}

/* -- growing */

tabi_status tbi_world_grow_to(tabi_world *w, int64_t contacts, tabi_error *err) {
  if (contacts <= w->def.max_contacts) return TABI_OK;
  if (!w->grows || contacts > TBI_MAX_CONTACTS) return no_more_contacts(w, err);
  return tbi_world_resize(w, (int32_t)contacts, w->capacity.blocks, err);
}

static tabi_status grow_contacts(tabi_world *w, tabi_error *err) {
  if (w->def.max_contacts >= TBI_MAX_CONTACTS) return no_more_contacts(w, err);
  int64_t twice = 2 * (int64_t)w->def.max_contacts;
  return tbi_world_grow_to(w, twice < TBI_MAX_CONTACTS ? twice : TBI_MAX_CONTACTS, err);
}

tabi_status tabi_world_grow(tabi_world *world, tabi_error *err) {
  TBI_ASSERT(world);
  if (!world->lacks_blocks) return grow_contacts(world, err);
  if (world->capacity.blocks >= TBI_MAX_BLOCKS) {
    tabi_status status = tbi_world_lacks_blocks(world);
    if (err) *err = world->error;
    return status;
  }
  return tbi_world_resize(world, world->def.max_contacts, 2 * world->capacity.blocks, err);
}

tabi_status tabi_world_step_or_grow(tabi_world *world, const double *tau) {
  tabi_status status = tabi_world_step(world, tau);
  while (status == TABI_ERR_CAPACITY) {
    tabi_error err = {0};
    status = tabi_world_grow(world, &err);
    if (status != TABI_OK) {
      world->error = err;
      return status;
    }
    status = tabi_world_step(world, tau);
  }
  return status;
}
