/* filter.c - which shapes may meet.
 *
 * Every shape has a home: the moving body it is part of, or the links that stand together in the
 * world.  Two shapes never meet in one home, in two homes that stand, in a home and the one it
 * hangs from by a joint, in two homes that a connection joins, where an exclusion says so, or where
 * groups and masks do not match.
 *
 * Homes that a connection holds along and about all axes are welded into one: what hangs from one
 * of them by a joint or connection hangs from all. */
#include "collision/workspace.h"

#include "base/assertion.h"
#include "dynamics/connection_error.h"

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

/* Whether a connection joins two links in a place, as a joint does.  A rod or spring keeps points
 * at a distance, and where only rotations are held there is no place. */
static bool joins(const tabi_connection_def *def) {
  if (def->type == TABI_CONNECTION_ROD || def->type == TABI_CONNECTION_SPRING) return false;
  if (def->a == TABI_WORLD || def->b == TABI_WORLD) return false;
  return (tbi_connection_axes(def) & (TABI_MOVE_X | TABI_MOVE_Y | TABI_MOVE_Z)) != 0;
}

static bool welds(const tabi_connection_def *def) {
  return joins(def) && tbi_connection_axes(def) == TBI_CONNECTION_ALL_AXES;
}

/* The home of a link that a connection names.  A body without mass and shape only makes one joint
 * of several, so the connection belongs to the one that it hangs from. */
static int32_t connected_home(const tbi_collision *c, int32_t link) {
  const tabi_model *model = c->model;
  int32_t home = home_of(model, link);
  if (home >= model->nbody || model->body[home].mass > 0 || c->shaped[home]) return home;
  int32_t parent = parent_home(model, c->shaped, home);
  return parent == TABI_NONE ? home : parent;
}

/* without connections there is nothing to weld, and no memory for it */
static int32_t welded_home(const tbi_collision *c, int32_t home) {
  return c->nhome > 0 && home != TABI_NONE ? c->welded[home] : home;
}

static void weld(tbi_collision *c, int32_t a, int32_t b) {
  int32_t from = c->welded[a] > c->welded[b] ? c->welded[a] : c->welded[b];
  int32_t to = c->welded[a] > c->welded[b] ? c->welded[b] : c->welded[a];
  for (int32_t home = 0; home < c->nhome; ++home) {
    if (c->welded[home] == from) c->welded[home] = to;
  }
}

static void make_welds(tbi_collision *c) {
  const tabi_connection_def *def = c->model->connection;
  for (int32_t home = 0; home < c->nhome; ++home)
    c->welded[home] = home;
  for (int32_t i = 0; i < c->model->nconnection && !c->ignore_connections; ++i) {
    if (welds(&def[i]) && !def[i].collide)
      weld(c, connected_home(c, def[i].a), connected_home(c, def[i].b));
  }
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

static void exclude(tbi_collision *c, int32_t home_a, int32_t home_b) {
  int32_t a = welded_home(c, home_a);
  int32_t b = welded_home(c, home_b);
  c->exclusion[c->nexclusion++] = key_of(a, b);
  for (int32_t item = 0; item < c->nitem; ++item) {
    tbi_filter *filter = &c->filter[item];
    filter->excluded = filter->excluded || filter->home == a || filter->home == b;
  }
}

static void make_exclusions(tbi_collision *c) {
  const tabi_model *model = c->model;
  c->nexclusion = 0;
  for (int32_t i = 0; i < model->nexclusion2 / 2; ++i) {
    const int32_t *links = model->exclusion + 2 * (ptrdiff_t)i;
    exclude(c, home_of(model, links[0]), home_of(model, links[1]));
  }
  for (int32_t i = 0; i < model->nconnection && !c->ignore_connections; ++i) {
    const tabi_connection_def *def = &model->connection[i];
    if (joins(def) && !def->collide)
      exclude(c, connected_home(c, def->a), connected_home(c, def->b));
  }
  sort_keys(c->exclusion, c->nexclusion);
  for (int32_t i = 1; i < c->nexclusion; ++i)
    TBI_CHECK_SLOW(c->exclusion[i - 1] <= c->exclusion[i]); /* find_key() halves */
  /* what is sought may be larger than all */
  c->exclusion[c->nexclusion] = UINT64_MAX;
}

static tbi_filter filter_of(const tbi_collision *c, const tabi_shape_def *shape) {
  const tabi_model *model = c->model;
  int32_t home = home_of(model, shape->link);
  bool stands = home >= model->nbody;
  int32_t parent = stands ? TABI_NONE : parent_home(model, c->shaped, home);
  return (tbi_filter){.home = welded_home(c, home),
                      .parent = welded_home(c, parent),
                      .group = shape->group,
                      .mask = shape->mask,
                      .stands = stands};
}

void tbi_filter_make(tbi_collision *c) {
  const tabi_model *model = c->model;
  for (int32_t i = 0; i < model->nshape; ++i) {
    int32_t body = c->model->shape[i].link == TABI_WORLD
                       ? TABI_WORLD
                       : model->link_home[model->shape[i].link].body;
    if (body != TABI_WORLD) c->shaped[body] = true;
  }
  make_welds(c);
  for (int32_t item = 0; item < c->nitem; ++item)
    c->filter[item] = filter_of(c, &model->shape[c->fitting[item].shape]);
  make_exclusions(c);
}

void tbi_collision_ignore_connections(tbi_collision *collision) {
  TBI_ASSERT(collision->pass == 0);
  collision->ignore_connections = true;
  tbi_filter_make(collision);
}

int32_t tbi_collision_connection(const tbi_collision *collision, int32_t shape_a, int32_t shape_b) {
  const tabi_model *model = collision->model;
  TBI_ASSERT(shape_a >= 0 && shape_a < model->nshape && shape_b >= 0 && shape_b < model->nshape);
  uint64_t sought = key_of(home_of(model, model->shape[shape_a].link),
                           home_of(model, model->shape[shape_b].link));
  int32_t found = TABI_NONE;
  for (int32_t i = 0; i < model->nconnection; ++i) {
    const tabi_connection_def *def = &model->connection[i];
    if (!joins(def)) continue;
    uint64_t key = key_of(connected_home(collision, def->a), connected_home(collision, def->b));
    if (key != sought) continue;
    if (!def->collide) return i;
    if (found == TABI_NONE) found = i;
  }
  return found;
}

tbi_body_items tbi_filter_items(const tbi_collision *c, int32_t body) {
  tbi_body_items items = {.all = true};
  for (int32_t item = 0; item < c->nitem; ++item) {
    if (c->fitting[item].body != body) continue;
    items.all = items.count < TBI_BODY_ITEMS;
    if (!items.all) break;
    items.item[items.count++] = item;
  }
  return items;
}

bool tbi_collision_allows(const tbi_collision *collision, int32_t body_a, int32_t body_b) {
  const tbi_body_items a = tbi_filter_items(collision, body_a);
  const tbi_body_items b = tbi_filter_items(collision, body_b);
  for (int32_t i = 0; i < a.count; ++i) {
    for (int32_t j = 0; j < b.count; ++j)
      if (tbi_filter_allows(collision, a.item[i], b.item[j])) return true;
  }
  return !a.all || !b.all;
}

bool tbi_filter_allows(const tbi_collision *c, int32_t a, int32_t b) {
  TBI_CHECK_SLOW(a >= 0 && a < c->nitem && b >= 0 && b < c->nitem);
  const tbi_filter *fa = &c->filter[a];
  const tbi_filter *fb = &c->filter[b];
  if (fa->home == fb->home || fa->parent == fb->home || fb->parent == fa->home) return false;
  if (fa->stands && fb->stands) return false;
  if (!(fa->group & fb->mask) && !(fb->group & fa->mask)) return false;
  if (!fa->excluded || !fb->excluded) return true;
  return !find_key(c->exclusion, c->nexclusion, key_of(fa->home, fb->home));
}
