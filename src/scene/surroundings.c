/* surroundings.c - what a robot's file holds beside the robot: its floor, a table, a ball.
 *
 * The robot is the tree of its base, and the trees that connections join to it.  All else of the
 * file is no part of it: the robot may touch it, also where self_collision is false.  There the
 * scene gives the robot a group of its own, and the file's groups and masks are lost; so links
 * that the file keeps from its surroundings get exclusions. */
#include "scene/surroundings.h"

#include "base/assertion.h"
#include "model/builder.h"

#include <stdlib.h>

#define MAX_PAIRS 1000000 /* of shapes that are looked at */

/* The link of a tree that hangs on the world. */
static int32_t top_of(const tabi_builder *b, int32_t link) {
  for (int32_t i = 0; i < b->links.count; ++i) {
    int32_t joint = tbi_builder_link_joint(b, link);
    int32_t parent = joint == TABI_NONE ? TABI_WORLD : tbi_builder_joint(b, joint)->parent;
    if (parent == TABI_WORLD) return link;
    link = parent;
  }
  return link;
}

/* Whether a connection has brought another tree into the robot. */
static bool join(const tbi_surroundings *s, const tabi_connection_def *def) {
  if (def->a < s->first_link || def->b < s->first_link) return false;
  bool *a = &s->own[s->top[def->a - s->first_link] - s->first_link];
  bool *b = &s->own[s->top[def->b - s->first_link] - s->first_link];
  if (*a == *b) return false;
  *a = *b = true;
  return true;
}

static void find_own_trees(const tbi_surroundings *s, int32_t base) {
  const tabi_builder *b = s->builder;
  const tabi_connection_def *def = b->connections.items;
  s->own[s->top[base - s->first_link] - s->first_link] = true;
  bool changed = true;
  while (changed) {
    changed = false;
    for (int32_t i = 0; i < b->connections.count; ++i)
      changed = join(s, &def[i]) || changed;
  }
}

bool tbi_surroundings_find(tbi_surroundings *s, tabi_builder *builder, int32_t first_link,
                           int32_t base) {
  TBI_ASSERT(builder && first_link >= 0);
  int32_t count = builder->links.count - first_link;
  *s = (tbi_surroundings){.builder = builder, .first_link = first_link};
  s->top = calloc((size_t)count + 1, sizeof *s->top);
  s->own = calloc((size_t)count + 1, sizeof *s->own);
  if (!s->top || !s->own) {
    tbi_surroundings_free(s);
    return false;
  }
  for (int32_t i = 0; i < count; ++i) {
    s->top[i] = top_of(builder, first_link + i);
    // what hangs on another robot is not told apart
    if (s->top[i] < first_link) s->top[i] = first_link;
  }
  if (base >= first_link && base < builder->links.count) find_own_trees(s, base);
  return true;
}

void tbi_surroundings_free(tbi_surroundings *s) {
  free(s->top);
  free(s->own);
  *s = (tbi_surroundings){0};
}

bool tbi_surroundings_hold(const tbi_surroundings *s, int32_t link) {
  if (link == TABI_WORLD) return true;
  TBI_ASSERT(link >= s->first_link);
  return !s->own[s->top[link - s->first_link] - s->first_link];
}

static bool may_meet(const tabi_shape_def *a, const tabi_shape_def *b) {
  return a->collides && b->collides && ((a->group & b->mask) || (b->group & a->mask));
}

/* whether some shape of one link may meet some of another */
static bool links_meet(const tabi_shape_def *shape, int32_t count, int32_t a, int32_t b) {
  for (int32_t i = 0; i < count; ++i) {
    if (shape[i].link != a) continue;
    for (int32_t j = 0; j < count; ++j)
      if (shape[j].link == b && may_meet(&shape[i], &shape[j])) return true;
  }
  return false;
}

static bool is_first_of_link(const tabi_shape_def *shape, int32_t i) {
  for (int32_t j = 0; j < i; ++j)
    if (shape[j].link == shape[i].link) return false;
  return true;
}

void tbi_surroundings_exclude(const tbi_surroundings *s, const tabi_shape_def *shape,
                              int32_t count) {
  if ((int64_t)count * count > MAX_PAIRS) return;
  for (int32_t i = 0; i < count; ++i) {
    if (!tbi_surroundings_hold(s, shape[i].link) || !is_first_of_link(shape, i)) continue;
    for (int32_t j = 0; j < count; ++j) {
      if (tbi_surroundings_hold(s, shape[j].link) || !is_first_of_link(shape, j)) continue;
      if (!links_meet(shape, count, shape[i].link, shape[j].link))
        (void)tabi_builder_add_exclusion(s->builder, shape[i].link, shape[j].link);
    }
  }
}
