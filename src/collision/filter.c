/* filter.c - which shapes may meet.
 *
 * Every shape has a home: the moving body it is part of, or the links that stand together in the
 * world.  Two shapes never meet in one home, in two homes that stand, in a home and the one it
 * hangs from by a joint, where an exclusion says so, or where groups and masks do not match. */
#include "collision/workspace.h"

#include "base/assertion.h"

/* The link that a standing link is fixed to in the end; links fixed to the world itself and those
 * without a joint are on their own. */
static int32_t standing_root(const tabi_model *model, int32_t link) {
  for (;;) {
    int32_t joint = model->link_home[link].joint;
    if (joint == TABI_NONE || model->joint[joint].parent == TABI_WORLD) return link;
    link = model->joint[joint].parent;
  }
}

/* bodies, then standing links by their root, then the world itself */
static int32_t home_of(const tabi_model *model, int32_t link) {
  if (link == TABI_WORLD) return model->nbody + model->nlink;
  int32_t body = model->link_home[link].body;
  return body != TABI_WORLD ? body : model->nbody + standing_root(model, link);
}

/* The home that a body hangs from.  Bodies without mass and shape only make one joint of several,
 * so they are passed over; what is joined to the world itself may still fall on its floor. */
static int32_t parent_home(const tabi_model *model, const bool *shaped, int32_t body) {
  while (model->body[body].parent != TABI_WORLD) {
    body = model->body[body].parent;
    if (model->body[body].mass > 0 || shaped[body]) return body;
  }
  if (model->body[body].type == TABI_JOINT_FREE) return TABI_NONE;
  int32_t link = model->joint[model->body[body].joint].parent;
  return link == TABI_WORLD ? TABI_NONE : home_of(model, link);
}

static uint64_t key_of(int32_t a, int32_t b) {
  uint64_t low = (uint64_t)(a < b ? a : b);
  uint64_t high = (uint64_t)(a < b ? b : a);
  return low << 32 | high;
}

/* by heap: in place, and never slow */
static void sort_keys(uint64_t *keys, int32_t count) {
  for (int32_t start = count / 2, end = count; end > 1;) {
    if (start > 0) {
      --start;
    } else {
      --end;
      uint64_t top = keys[0];
      keys[0] = keys[end];
      keys[end] = top;
    }
    int32_t hole = start;
    uint64_t moved = keys[hole];
    for (int32_t child = 2 * hole + 1; child < end; child = 2 * hole + 1) {
      if (child + 1 < end && keys[child + 1] > keys[child]) ++child;
      if (keys[child] <= moved) break;
      keys[hole] = keys[child];
      hole = child;
    }
    keys[hole] = moved;
  }
}

static bool find_key(const uint64_t *keys, int32_t count, uint64_t key) {
  int32_t low = 0;
  while (count > 0) {
    int32_t half = count / 2;
    if (keys[low + half] < key) {
      low += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return keys[low] == key;
}

static void make_exclusions(tbi_collision *c) {
  const tabi_model *model = c->model;
  for (int32_t i = 0; i < c->nexclusion; ++i) {
    const int32_t *links = model->exclusion + 2 * (ptrdiff_t)i;
    int32_t a = home_of(model, links[0]);
    int32_t b = home_of(model, links[1]);
    c->exclusion[i] = key_of(a, b);
    for (int32_t item = 0; item < c->nitem; ++item) {
      tbi_filter *filter = &c->filter[item];
      filter->excluded = filter->excluded || filter->home == a || filter->home == b;
    }
  }
  sort_keys(c->exclusion, c->nexclusion);
  for (int32_t i = 1; i < c->nexclusion; ++i)
    TBI_CHECK_SLOW(c->exclusion[i - 1] <= c->exclusion[i]); /* find_key() halves */
  /* what is sought may be larger than all */
  c->exclusion[c->nexclusion] = UINT64_MAX;
}

void tbi_filter_make(tbi_collision *c) {
  const tabi_model *model = c->model;
  for (int32_t i = 0; i < model->nshape; ++i) {
    int32_t body = c->model->shape[i].link == TABI_WORLD
                       ? TABI_WORLD
                       : model->link_home[model->shape[i].link].body;
    if (body != TABI_WORLD) c->shaped[body] = true;
  }
  for (int32_t item = 0; item < c->nitem; ++item) {
    const tabi_shape_def *shape = &model->shape[c->fitting[item].shape];
    int32_t home = home_of(model, shape->link);
    bool moves = home < model->nbody;
    c->filter[item] = (tbi_filter){home, moves ? parent_home(model, c->shaped, home) : TABI_NONE,
                                   shape->group, shape->mask, false};
  }
  make_exclusions(c);
}

bool tbi_filter_allows(const tbi_collision *c, int32_t a, int32_t b) {
  TBI_CHECK_SLOW(a >= 0 && a < c->nitem && b >= 0 && b < c->nitem);
  const tbi_filter *fa = &c->filter[a];
  const tbi_filter *fb = &c->filter[b];
  if (fa->home == fb->home || fa->parent == fb->home || fb->parent == fa->home) return false;
  if (fa->home >= c->model->nbody && fb->home >= c->model->nbody) return false;
  if (!(fa->group & fb->mask) && !(fb->group & fa->mask)) return false;
  if (!fa->excluded || !fb->excluded) return true;
  return !find_key(c->exclusion, c->nexclusion, key_of(fa->home, fb->home));
}
