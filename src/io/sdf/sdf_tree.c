/* sdf_tree.c - walks models within models and lists what has a place and a name. */
#include "base/array.h"
#include "io/report.h"
#include "io/sdf/sdf_reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NESTING   64 /* models within models, includes counted */
#define MAX_FRAMES    1000000
#define MAX_NAMESAKES 1000

static const char *keep_text(tbi_sdf *s, const char *first, const char *second) {
  char *joined = tbi_text_join(first, second);
  const char *kept = joined ? tbi_text_add(&s->text, joined) : NULL;
  free(joined);
  if (!kept) tbi_fail_memory(s->error);
  return kept;
}

/* Adds a frame under path + name; TABI_NONE after an error. */
static int32_t add_frame(tbi_sdf *s, const tbi_sdf_frame *frame, const char *path,
                         const char *name) {
  void *items = s->frames;
  bool room = tbi_array_reserve(&items, &s->frame_capacity, s->nframe, 1, sizeof *s->frames);
  s->frames = items;
  if (!room) tbi_fail_memory(s->error);
  const char *full = room ? keep_text(s, path, name) : NULL;
  if (!full) return TABI_NONE;
  tbi_sdf_frame *added = &s->frames[s->nframe];
  *added = *frame;
  added->name = full;
  added->local = added->world = tbi_pose_identity();
  added->relative = added->attached = added->link = TABI_NONE;
  char what[TBI_SDF_WHAT];
  tbi_sdf_what(added, what);
  int32_t before = tbi_names_find(&s->names, full);
  if (before >= 0) {
    tbi_fail_at(s->error, TABI_ERR_MODEL, frame->node->place,
                "%s: the name is taken already at line %d; give it another", what,
                (int)s->frames[before].node->place.line);
    return TABI_NONE;
  }
  if (s->nframe >= MAX_FRAMES) {
    tbi_fail_at(s->error, TABI_ERR_MODEL, frame->node->place,
                "more than %d links, joints and frames", MAX_FRAMES);
    return TABI_NONE;
  }
  if (!tbi_names_add(&s->names, full, s->nframe)) tbi_fail_memory(s->error);
  return tbi_ok(s->error) ? s->nframe++ : TABI_NONE;
}

static int32_t add_model(tbi_sdf *s, const tbi_sdf_model *model) {
  void *items = s->models;
  bool room = tbi_array_reserve(&items, &s->model_capacity, s->nmodel, 1, sizeof *s->models);
  s->models = items;
  if (!room) {
    tbi_fail_memory(s->error);
    return TABI_NONE;
  }
  s->models[s->nmodel] = *model;
  return s->nmodel++;
}

/* Elements of one kind directly below a model. */
static void list_kind(tbi_sdf *s, tbi_xml_node *node, int32_t model, tbi_sdf_kind kind) {
  static const char *const elements[] = {
      [TBI_SDF_LINK] = "link", [TBI_SDF_JOINT] = "joint", [TBI_SDF_FRAME] = "frame"};
  tbi_xml_node *element = tbi_xml_child(node, elements[kind]);
  for (; element && tbi_ok(s->error); element = tbi_xml_next(element)) {
    const char *name = tbi_xml_get(element, "name");
    if (!name || name[0] == '\0') {
      tbi_fail_at(s->error, TABI_ERR_PARSE, element->place, "%s without 'name'", elements[kind]);
      return;
    }
    tbi_sdf_frame frame = {.kind = kind, .node = element, .model = model};
    frame.pose = tbi_xml_child(element, "pose");
    if (kind == TBI_SDF_JOINT && !tbi_sdf_text(element, "child")) {
      tbi_fail_at(s->error, TABI_ERR_PARSE, element->place, "joint '%.100s': no <child>", name);
      return;
    }
    int32_t added = add_frame(s, &frame, s->models[model].path, name);
    if (kind == TBI_SDF_LINK && added != TABI_NONE && s->models[model].canonical == TABI_NONE) {
      s->models[model].canonical = added;
      s->models[model].has_links = true;
    }
  }
}

/* How a model comes to be where it is: by its own element, or by an <include>. */
typedef struct nesting {
  tbi_xml_node *include; /* or NULL */
  int32_t parent, source, version;
} nesting;

/* What an include says counts more than what the model says of itself. */
static tbi_xml_node *child_of(const nesting *how, tbi_xml_node *node, const char *name) {
  tbi_xml_node *found = how->include ? tbi_xml_child(how->include, name) : NULL;
  tbi_xml_node *own = tbi_xml_child(node, name);
  return found ? found : own;
}

static const char *model_name(const nesting *how, tbi_xml_node *node) {
  const char *given = how->include ? tbi_sdf_text(how->include, "name") : NULL;
  const char *own = tbi_xml_get(node, "name");
  if (!given) given = own;
  return given && given[0] != '\0' ? given : "model";
}

static const char *placement_of(const nesting *how, tbi_xml_node *node) {
  const char *given = how->include ? tbi_sdf_text(how->include, "placement_frame") : NULL;
  const char *own = tbi_xml_get(node, "placement_frame");
  // the pose of an include does not speak of the frame that the model names for its own
  bool moved = how->include && tbi_xml_child(how->include, "pose");
  if (!given && !moved) given = own;
  return given && given[0] != '\0' ? given : NULL;
}

/* An <include merge="true"> puts the links among those of the outer model; what the model calls its
 * own frame gets the name that sdformat gives it. */
static bool is_merged(const nesting *how) {
  const char *merge = how->include ? tbi_xml_get(how->include, "merge") : NULL;
  return merge && how->parent != 0 && (strcmp(merge, "true") == 0 || strcmp(merge, "1") == 0);
}

static const char *merged_name(tbi_sdf *s, const char *name) {
  const char *begun = keep_text(s, "_merged__", name);
  return begun ? keep_text(s, begun, "__model__") : NULL;
}

/* A name that no model beside it has: "arm", "arm_2", "arm_3". */
static const char *free_name(tbi_sdf *s, tbi_xml_node *node, const char *path, const char *name) {
  const char *found = name;
  for (int n = 2; found && tbi_ok(s->error); ++n) {
    const char *full = keep_text(s, path, found);
    int32_t before = full ? tbi_names_find(&s->names, full) : -1;
    if (before < 0 || s->frames[before].kind != TBI_SDF_MODEL || n > MAX_NAMESAKES) break;
    char number[16];
    (void)snprintf(number, sizeof number, "_%d", n);
    found = keep_text(s, name, number);
  }
  if (!found || found == name || s->def->part) return found;
  char item[TBI_SDF_WHAT];
  char what[TBI_SDF_WHAT];
  (void)snprintf(item, sizeof item, "model '%.100s'", name);
  (void)snprintf(what, sizeof what, "called '%.100s'", found);
  tbi_repaired(s->error, s->def, node->place, (tbi_repair){item, what, 0}, "defined twice");
  return found;
}

static void list_model(tbi_sdf *s, tbi_xml_node *node, const nesting *how) {
  const char *name = model_name(how, node);
  const tbi_sdf_model *parent = &s->models[how->parent];
  bool merged = is_merged(how);
  name = merged ? merged_name(s, name) : free_name(s, node, parent->path, name);
  if (!name || !tbi_ok(s->error)) return;
  if (parent->depth >= MAX_NESTING) {
    tbi_fail_at(s->error, TABI_ERR_MODEL, node->place,
                "models are nested more than %d deep; does one include itself?", MAX_NESTING);
    return;
  }
  tbi_sdf_frame frame = {.kind = TBI_SDF_MODEL, .node = node, .model = s->nmodel};
  frame.pose = child_of(how, node, "pose");
  tbi_xml_node *fixed = child_of(how, node, "static");
  bool is_static = fixed && (strcmp(fixed->text, "true") == 0 || strcmp(fixed->text, "1") == 0);
  tbi_sdf_model model = {
      .placement = placement_of(how, node),
      .parent = how->parent,
      .depth = parent->depth + 1,
      .top = how->parent == 0 ? s->nmodel : parent->top,
      .source = how->source,
      .canonical = TABI_NONE,
      .version = how->version,
      .is_static = is_static || parent->is_static,
      .self_collide = tbi_sdf_flag(node, "self_collide", parent->self_collide),
      .wanted =
          how->parent == 0 ? !s->def->part || strcmp(name, s->def->part) == 0 : parent->wanted,
  };
  const char *path = parent->path;
  model.frame = model.base = add_frame(s, &frame, path, name);
  if (model.frame == TABI_NONE) return;
  model.path = merged ? path : keep_text(s, s->frames[model.frame].name, "::");
  if (model.path) (void)add_model(s, &model);
  if (how->parent == 0) ++s->ntop;
}

/* Of version 1.7 the 7. */
static int32_t version_of(tbi_xml_node *node) {
  while (node->parent)
    node = node->parent;
  const char *text = tbi_xml_get(node, "version");
  const char *point = text ? strchr(text, '.') : NULL;
  return point ? (int32_t)strtol(point + 1, NULL, 10) : 7;
}

static void list_include(tbi_sdf *s, tbi_xml_node *include, int32_t model) {
  nesting how = {.include = include, .parent = model, .source = s->models[model].source};
  tbi_xml_node *found = tbi_sdf_include(s, include, how.source, &how.source);
  if (found) how.version = version_of(found);
  if (found && tbi_ok(s->error)) list_model(s, found, &how);
}

static void list_nested(tbi_sdf *s, tbi_xml_node *node, int32_t model) {
  tbi_xml_node *child = tbi_xml_child(node, "model");
  for (; child && tbi_ok(s->error); child = tbi_xml_next(child)) {
    const nesting how = {
        .parent = model, .source = s->models[model].source, .version = version_of(child)};
    list_model(s, child, &how);
  }
  child = tbi_xml_child(node, "include");
  for (; child && tbi_ok(s->error); child = tbi_xml_next(child))
    list_include(s, child, model);
}

static void list_contents(tbi_sdf *s, tbi_xml_node *node, int32_t model) {
  list_kind(s, node, model, TBI_SDF_LINK);
  list_kind(s, node, model, TBI_SDF_JOINT);
  list_kind(s, node, model, TBI_SDF_FRAME);
  if (tbi_ok(s->error)) list_nested(s, node, model);
}

/* The link that a model names, else its first, else that of the first model in it that has one. */
static void name_canonical(tbi_sdf *s, int32_t index) {
  tbi_sdf_model *model = &s->models[index];
  tbi_xml_node *node = s->frames[model->frame].node;
  const char *name = tbi_xml_get(node, "canonical_link");
  if (name && name[0] != '\0') {
    char what[TBI_SDF_WHAT];
    tbi_sdf_what(&s->frames[model->frame], what);
    model->canonical = tbi_sdf_need(s, index, node, name, what);
  }
  tbi_sdf_model *outer = &s->models[model->parent];
  // from the last to the first: that is what stays
  if (model->parent != 0 && !outer->has_links && model->canonical != TABI_NONE)
    outer->canonical = model->canonical;
}

void tbi_sdf_list(tbi_sdf *s, tbi_xml_node *world) {
  const tbi_sdf_frame origin = {.kind = TBI_SDF_WORLD, .node = world};
  const tbi_sdf_model all = {.path = "", .canonical = TABI_NONE, .wanted = !s->def->part};
  if (add_frame(s, &origin, "", "world") == TABI_NONE || add_model(s, &all) == TABI_NONE) return;
  s->frames[0].placed = true;
  s->models[0].version = version_of(world);
  if (s->has_world) {
    list_kind(s, world, 0, TBI_SDF_FRAME);
    list_kind(s, world, 0, TBI_SDF_JOINT);
  }
  if (tbi_ok(s->error)) list_nested(s, world, 0);
  // each adds those that are in it at the end
  for (int32_t i = 1; i < s->nmodel && tbi_ok(s->error); ++i)
    list_contents(s, s->frames[s->models[i].frame].node, i);
  for (int32_t i = s->nmodel - 1; i > 0 && tbi_ok(s->error); --i)
    name_canonical(s, i);
}
