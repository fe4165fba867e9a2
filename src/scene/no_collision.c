/* no_collision.c - pairs of a scene that pass through each other.
 *
 *   no_collision: [[door, frame], [robot/hand, cup], [left, right]]
 *
 * A name is that of a body, of a link of a robot, or of a robot, which means all its links. */
#include "io/suggest.h"
#include "model/builder.h"
#include "scene/scene.h"

#include <string.h>

/* Neighbouring links of the builder. */
typedef struct links {
  int32_t first, count;
} links;

static void fail_name(const tbi_scene_reader *r, const tbi_yaml_node *node) {
  tbi_suggestion nearest = tbi_suggest_begin(node->text);
  for (int32_t i = 0; i < tabi_builder_nlink(r->builder); ++i) {
    const char *known = tbi_builder_link(r->builder, i)->name;
    if (known) tbi_suggest_add(&nearest, known);
  }
  for (int32_t i = 0; i < r->scene->nrobot; ++i)
    tbi_suggest_add(&nearest, r->scene->robots[i].name);
  char hint[TBI_HINT_SIZE];
  tbi_fail_about(r->error, node->place,
                 "no_collision: ", "no body, robot or robot/link is called '%.60s'%s", node->text,
                 tbi_suggest_hint(&nearest, hint));
}

static links find_links(const tbi_scene_reader *r, const tbi_yaml_node *node) {
  int32_t link = tabi_builder_find_link(r->builder, node->text);
  if (link != TABI_NONE) return (links){link, 1};
  for (int32_t i = 0; i < r->scene->nrobot; ++i) {
    const tbi_scene_robot *robot = &r->scene->robots[i];
    if (strcmp(robot->name, node->text) == 0) return (links){robot->first_link, robot->nlink};
  }
  fail_name(r, node);
  return (links){0, 0};
}

/* Every pair once, also of a robot with itself. */
static void exclude(tbi_scene_reader *r, links a, links b) {
  bool same = a.first == b.first && a.count == b.count;
  for (int32_t i = 0; i < a.count; ++i) {
    for (int32_t j = same ? i + 1 : 0; j < b.count; ++j) {
      if (a.first + i != b.first + j)
        (void)tabi_builder_add_exclusion(r->builder, a.first + i, b.first + j);
    }
  }
  tbi_take_builder(r->error, r->builder);
}

static void read_pair(tbi_scene_reader *r, const tbi_yaml_node *pair) {
  bool two = pair->kind == TBI_YAML_LIST && pair->count == 2;
  if (!two || pair->first->kind != TBI_YAML_SCALAR || pair->last->kind != TBI_YAML_SCALAR) {
    tbi_fail_about(r->error, pair->place,
                   "no_collision: ", "expected two names, [a, b], of bodies, robots or robot/link");
    return;
  }
  links a = find_links(r, pair->first);
  links b = find_links(r, pair->last);
  if (!tbi_ok(r->error)) return;
  if (a.first == b.first && a.count == 1 && b.count == 1) {
    tbi_fail_about(r->error, pair->place,
                   "no_collision: ", "'%.60s' never collides with itself; name two bodies",
                   pair->first->text);
    return;
  }
  exclude(r, a, b);
}

void tbi_scene_read_no_collision(tbi_scene_reader *r, const tbi_yaml_node *list) {
  const tbi_yaml_node *pair = list ? list->first : NULL;
  for (; pair && tbi_ok(r->error); pair = pair->next)
    read_pair(r, pair);
}
