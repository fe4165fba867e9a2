/* self_collision.c - links of one robot that do not collide with each other.
 *
 * A robot collides with itself, but for neighbours, also those by compound joints, for links that
 * are inside each other in the initial posture, which is how many robots are drawn, and for those
 * that joint limits keep apart.
 */
#include "scene/scene.h"

#include "base/error.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOLD 3 /* pairs that a note names */

/* What was found of a robot. */
typedef struct found {
  int32_t overlaps;
  char names[300]; /* of the first that overlap */
} found;

typedef struct search {
  tbi_scene_reader *r;
  found *robot; /* [nrobot] */
  int32_t excluded;
} search;

static bool has_link(const tbi_scene_robot *robot, int32_t link) {
  return link >= robot->first_link && link < robot->first_link + robot->nlink;
}

/* The robot of both links; TABI_NONE if they are not of one. */
static int32_t robot_of(const tabi_scene *scene, const tabi_link_pair *pair) {
  for (int32_t i = 0; i < scene->nrobot; ++i) {
    const tbi_scene_robot *robot = &scene->robots[i];
    if (has_link(robot, pair->link_a) && has_link(robot, pair->link_b)) return i;
  }
  return TABI_NONE;
}

static const char *name_of(const search *s, int32_t robot, int32_t link) {
  const char *name = tabi_model_link(s->r->scene->model, link).name;
  return name ? name + strlen(s->r->scene->robots[robot].prefix) : "(unnamed)";
}

static void name_overlap(const search *s, int32_t robot, const tabi_link_pair *pair) {
  found *f = &s->robot[robot];
  if (f->overlaps++ >= TOLD) return;
  size_t used = strlen(f->names);
  (void)snprintf(f->names + used, sizeof f->names - used, "%s%.40s and %.40s (%.2g m)",
                 used > 0 ? ", " : "", name_of(s, robot, pair->link_a),
                 name_of(s, robot, pair->link_b), pair->depth);
}

/* The link of a tree that hangs on the world. */
static int32_t top_of(const tabi_model *model, int32_t link) {
  for (;;) {
    int32_t joint = tabi_model_link_joint(model, link);
    int32_t parent = joint == TABI_NONE ? TABI_WORLD : tabi_model_joint(model, joint).parent;
    if (parent == TABI_WORLD) return link;
    link = parent;
  }
}

/* a tabi_link_pair_fn; a floor or a ball in the robot's file is another tree, which it may touch */
static void exclude(void *user, const tabi_link_pair *pair) {
  search *s = user;
  int32_t robot = robot_of(s->r->scene, pair);
  if (robot == TABI_NONE || !s->r->robots[robot].self_collision) return;
  const tabi_model *model = s->r->scene->model;
  if (top_of(model, pair->link_a) != top_of(model, pair->link_b)) return;
  if (pair->kind == TABI_PAIR_OVERLAPS) name_overlap(s, robot, pair);
  (void)tabi_builder_add_exclusion(s->r->builder, pair->link_a, pair->link_b);
  ++s->excluded;
}

static void tell(const search *s, int32_t robot) {
  const tabi_scene_def *def = s->r->def;
  const found *f = &s->robot[robot];
  const char *more = f->overlaps > TOLD ? ", ..." : "";
  if (f->overlaps == 0) return;
  tbi_tell(def->warn, def->warn_user, TABI_SEVERITY_NOTE, s->r->robots[robot].place_of_robot,
           "robot '%.60s': %d pair%s of links overlap or touch in the initial posture and do not "
           "collide "
           "with each other: %s%s",
           s->r->scene->robots[robot].name, (int)f->overlaps, f->overlaps == 1 ? "" : "s", f->names,
           more);
}

static bool is_wanted(const tbi_scene_reader *r) {
  for (int32_t i = 0; i < r->scene->nrobot; ++i)
    if (r->robots[i].self_collision) return true;
  return false;
}

bool tbi_scene_part_robots(tbi_scene_reader *r) {
  if (!tbi_ok(r->error) || !is_wanted(r)) return false;
  search s = {.r = r, .robot = calloc((size_t)r->scene->nrobot, sizeof *s.robot)};
  tabi_error err;
  if (!s.robot) {
    tbi_fail_memory(r->error);
  } else if (tabi_model_link_pairs(r->scene->model, r->scene->q, 0, exclude, &s, &err) != TABI_OK) {
    tbi_fail_as(r->error, &err);
  } else if (tbi_take_builder(r->error, r->builder)) {
    for (int32_t i = 0; i < r->scene->nrobot; ++i)
      tell(&s, i);
  }
  free(s.robot);
  return tbi_ok(r->error) && s.excluded > 0;
}
