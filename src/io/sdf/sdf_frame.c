/* sdf_frame.c - names of frames, and where they are.
 *
 * A pose is relative to the frame that it names, or else: of a link to its model, of a joint to its
 * child, of a <frame> to what it is attached to, of a model to the model or world that it is in.  A
 * name leads down into models, never up. */
#include "io/sdf/sdf_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool ends_with(const char *text, size_t length, const char *ending) {
  size_t n = strlen(ending);
  return length >= n && memcmp(text + length - n, ending, n) == 0;
}

/* The frame of path + name. */
static int32_t find_below(tbi_sdf *s, const char *path, const char *name) {
  static const char own[] = "::__model__";
  char *full = tbi_text_join(path, name);
  if (!full) {
    tbi_fail_memory(s->error);
    return TABI_NONE;
  }
  size_t length = strlen(full);
  if (ends_with(full, length, own)) full[length - (sizeof own - 1)] = '\0';
  int32_t found = tbi_names_find(&s->names, full);
  free(full);
  return found < 0 ? TABI_NONE : found;
}

int32_t tbi_sdf_find(tbi_sdf *s, int32_t model, const char *name) {
  const tbi_sdf_model *scope = &s->models[model];
  if (strcmp(name, "__model__") == 0) return scope->frame;
  int32_t found = find_below(s, scope->path, name);
  if (found == TABI_NONE && strcmp(name, "world") == 0) return 0;
  // older files begin with the name of the model itself
  if (found == TABI_NONE && model != 0) found = find_below(s, s->models[scope->parent].path, name);
  return found;
}

int32_t tbi_sdf_need(tbi_sdf *s, int32_t model, tbi_xml_node *node, const char *name,
                     const char *what) {
  if (!tbi_ok(s->error)) return TABI_NONE;
  int32_t found = tbi_sdf_find(s, model, name);
  if (found == TABI_NONE) {
    tbi_fail_at(s->error, TABI_ERR_MODEL, node->place,
                "%s: <%.40s>: no link, joint or frame is called '%.100s'", what, node->name, name);
  }
  return found;
}

/* The frame that the pose of an element speaks of; otherwise a given one. */
static int32_t relative_to(tbi_sdf *s, int32_t model, tbi_xml_node *pose, const char *what,
                           int32_t otherwise) {
  const char *name = pose ? tbi_xml_get(pose, "relative_to") : NULL;
  // SDF 1.5 and 1.6 called it `frame`
  if (pose && !name) name = tbi_xml_get(pose, "frame");
  if (!name || name[0] == '\0') return otherwise;
  return tbi_sdf_need(s, model, pose, name, what);
}

/* The names that a frame's place depends on. */
static void link_up(tbi_sdf *s, int32_t index) {
  tbi_sdf_frame *f = &s->frames[index];
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(f, what);
  // a model's own pose is said where its parent's names are seen
  int32_t scope = f->kind == TBI_SDF_MODEL ? s->models[f->model].parent : f->model;
  int32_t base = s->models[scope].base;
  if (f->kind == TBI_SDF_JOINT) {
    tbi_xml_node *child = tbi_xml_child(f->node, "child");
    f->attached = tbi_sdf_need(s, scope, child, child->text, what);
    base = f->attached;
  }
  const char *attached = f->kind == TBI_SDF_FRAME ? tbi_xml_get(f->node, "attached_to") : NULL;
  if (f->kind == TBI_SDF_FRAME) {
    f->attached = attached && attached[0] != '\0' ? tbi_sdf_need(s, scope, f->node, attached, what)
                                                  : s->models[scope].frame;
    base = f->attached;
  }
  f->relative = relative_to(s, scope, f->pose, what, base);
  if (tbi_ok(s->error)) tbi_sdf_read_pose(s, f->pose, &f->local);
}

static bool fail_circle(const tbi_sdf *s, int32_t frame) {
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(&s->frames[frame], what);
  return tbi_fail_at(s->error, TABI_ERR_MODEL, s->frames[frame].node->place,
                     "%s: its pose depends on itself", what);
}

/* The pose of a frame in the model that it is in. */
static bool pose_in_model(const tbi_sdf *s, int32_t frame, int32_t model, tbi_pose *pose) {
  *pose = tbi_pose_identity();
  for (int32_t steps = 0; frame != s->models[model].frame; ++steps) {
    if (frame == 0 || frame == TABI_NONE || steps > s->nframe) return fail_circle(s, frame);
    *pose = tbi_pose_compose(s->frames[frame].local, *pose);
    frame = s->frames[frame].relative;
  }
  return true;
}

/* A model whose pose is that of one of its frames. */
static void use_placement(tbi_sdf *s, int32_t model) {
  tbi_sdf_model *m = &s->models[model];
  tbi_sdf_frame *f = &s->frames[m->frame];
  if (!m->placement || !tbi_ok(s->error)) return;
  char what[TBI_SDF_WHAT];
  tbi_pose inside;
  tbi_sdf_what(f, what);
  int32_t frame = tbi_sdf_need(s, model, f->node, m->placement, what);
  if (frame == TABI_NONE || !pose_in_model(s, frame, model, &inside)) return;
  f->local = tbi_pose_compose(f->local, tbi_pose_inverse(inside));
}

/* Walks to a frame that is placed, and back. */
static bool place(tbi_sdf *s, int32_t frame, int32_t *stack) {
  int32_t depth = 0;
  int32_t at = frame;
  while (!s->frames[at].placed) {
    if (s->frames[at].open) return fail_circle(s, at);
    s->frames[at].open = true;
    stack[depth++] = at;
    at = s->frames[at].relative;
  }
  while (depth > 0) {
    tbi_sdf_frame *f = &s->frames[stack[--depth]];
    f->world = tbi_pose_compose(s->frames[f->relative].world, f->local);
    f->placed = true;
  }
  return true;
}

void tbi_sdf_place(tbi_sdf *s) {
  for (int32_t i = 1; i < s->nframe && tbi_ok(s->error); ++i)
    link_up(s, i);
  for (int32_t i = 1; i < s->nmodel && tbi_ok(s->error); ++i)
    use_placement(s, i);
  if (!tbi_ok(s->error)) return;
  int32_t *stack = malloc((size_t)s->nframe * sizeof *stack);
  if (!stack) tbi_fail_memory(s->error);
  for (int32_t i = 0; stack && i < s->nframe; ++i) {
    if (!place(s, i, stack)) break;
  }
  free(stack);
}

tbi_pose tbi_sdf_pose_in(tbi_sdf *s, int32_t frame, tbi_xml_node *element) {
  tbi_pose pose = tbi_pose_identity();
  tbi_xml_node *node = tbi_xml_child(element, "pose");
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(&s->frames[frame], what);
  int32_t other = relative_to(s, s->frames[frame].model, node, what, frame);
  if (other == TABI_NONE || !tbi_sdf_read_pose(s, node, &pose) || other == frame) return pose;
  tbi_pose there = tbi_pose_compose(s->frames[other].world, pose);
  return tbi_pose_compose(tbi_pose_inverse(s->frames[frame].world), there);
}

int32_t tbi_sdf_link_of(const tbi_sdf *s, int32_t frame) {
  for (int32_t steps = 0; steps <= s->nframe && frame != TABI_NONE; ++steps) {
    const tbi_sdf_frame *f = &s->frames[frame];
    if (f->kind == TBI_SDF_WORLD || f->kind == TBI_SDF_LINK) return frame;
    frame = f->kind == TBI_SDF_MODEL ? s->models[f->model].canonical : f->attached;
  }
  return TABI_NONE;
}

bool tbi_sdf_is_static(const tbi_sdf *s, int32_t frame) {
  return frame == 0 || s->models[s->frames[frame].model].is_static;
}

bool tbi_sdf_is_wanted(const tbi_sdf *s, int32_t frame) {
  return s->models[s->frames[frame].model].wanted;
}
