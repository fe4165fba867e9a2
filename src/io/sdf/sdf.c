/* sdf.c - SDF: models within models, with frames that refer to each other, become links in a tree.
 *
 * All frames are listed and placed in the world first, also those of models that were not asked
 * for, since others may refer to them.  Then the joints are planned, and all goes to the builder.
 */
#include "io/sdf/sdf.h"

#include "base/error.h"
#include "io/format.h"
#include "io/report.h"
#include "io/sdf/sdf_reader.h"

#include <stdlib.h>
#include <string.h>

#define MAX_EXCLUDED 1000 /* links of a model, of which every two are kept apart */
#define MIN_TIMESTEP 1e-7
#define MAX_TIMESTEP 0.1

void tbi_sdf_read_world(tbi_sdf *s, tbi_xml_node *world) {
  double gravity[3] = {0, 0, -9.8};
  double step = 1e-3;
  tbi_xml_node *physics = tbi_xml_child(world, "physics");
  // up to version 1.5 the world's gravity stood in <physics>
  if (!tbi_sdf_numbers(s, world, "gravity", 3, gravity) && physics)
    (void)tbi_sdf_numbers(s, physics, "gravity", 3, gravity);
  if (physics) (void)tbi_sdf_number(s, physics, "max_step_size", &step);
  if (!tbi_ok(s->error)) return;
  if (!(step >= MIN_TIMESTEP && step <= MAX_TIMESTEP)) {
    tbi_warn(s->def, world->place, "max_step_size %g is not in [1e-7, 0.1]; 1e-3 is taken", step);
    step = 1e-3;
  }
  tabi_builder_set_gravity(s->builder, gravity);
  tabi_builder_set_timestep(s->builder, step);
}

/* Two links of a model collide only where both say so, which few do. */
static void keep_apart(tbi_sdf *s, int32_t top) {
  int32_t *links = malloc((size_t)MAX_EXCLUDED * sizeof *links);
  int32_t count = 0;
  if (!links) tbi_fail_memory(s->error);
  for (int32_t i = 1; links && i < s->nframe; ++i) {
    const tbi_sdf_frame *f = &s->frames[i];
    const tbi_sdf_model *model = &s->models[f->model];
    if (f->link == TABI_NONE || model->top != top || model->is_static) continue;
    if (!tbi_xml_child(f->node, "collision")) continue;
    bool collides = tbi_sdf_flag(f->node, "self_collide", model->self_collide);
    if (count == MAX_EXCLUDED) {
      tbi_warn(s->def, f->node->place, "model '%.100s' has so many links that they may collide",
               s->frames[s->models[top].frame].name);
      break;
    }
    links[count++] = collides ? -f->link - 1 : f->link;
  }
  for (int32_t i = 0; i < count; ++i) {
    for (int32_t j = i + 1; j < count; ++j) {
      bool both = links[i] < 0 && links[j] < 0;
      int32_t a = links[i] < 0 ? -links[i] - 1 : links[i];
      int32_t b = links[j] < 0 ? -links[j] - 1 : links[j];
      if (!both) (void)tabi_builder_add_exclusion(s->builder, a, b);
    }
  }
  free(links);
  tbi_take_builder(s->error, s->builder);
}

static bool check_part(const tbi_sdf *s) {
  for (int32_t i = 1; s->def->part && i < s->nmodel; ++i) {
    if (s->models[i].wanted) return true;
  }
  if (!s->def->part) return true;
  return tbi_fail_at(s->error, TABI_ERR_MODEL, s->root->place, "no model is called '%.100s'",
                     s->def->part);
}

/* An empty world is a world, but a robot has links. */
static bool check_links(const tbi_sdf *s) {
  bool any = s->has_world;
  for (int32_t i = 0; i < s->nframe; ++i)
    any |= s->frames[i].kind == TBI_SDF_LINK;
  return any || tbi_fail_at(s->error, TABI_ERR_MODEL, s->world->place, "model without links");
}

static void load_all(tbi_sdf *s) {
  tbi_sdf_list(s, s->world);
  if (tbi_ok(s->error) && !check_part(s)) return;
  if (tbi_ok(s->error)) tbi_sdf_place(s);
  if (tbi_ok(s->error)) tbi_sdf_plan_joints(s);
  if (tbi_ok(s->error)) tbi_sdf_add_links(s);
  if (tbi_ok(s->error)) tbi_sdf_add_joints(s);
  for (int32_t i = 1; i < s->nmodel && tbi_ok(s->error); ++i) {
    if (s->models[i].top == i && s->models[i].wanted) keep_apart(s, i);
  }
  if (tbi_ok(s->error) && s->nmodel == 1) {
    tbi_fail_at(s->error, TABI_ERR_MODEL, s->world->place, "no model in the file");
  } else if (tbi_ok(s->error)) {
    (void)check_links(s);
  }
}

/* What was ignored in a model and in those within it that are in the same file; of the whole file,
 * if all of it was asked for. */
static void tell_model(tbi_sdf *s, int32_t index) {
  const tbi_sdf_model *model = &s->models[index];
  bool outer = model->parent == 0 || model->source != s->models[model->parent].source;
  tbi_sdf_source *source = &s->sources[model->source];
  if (!model->wanted || !outer || source->told) return;
  // of several models in the file itself each is told
  if (model->source != 0) source->told = true;
  tbi_format_tell_ignored(&tbi_sdf_format, s->frames[model->frame].node, s->def);
}

static void tell_ignored(tbi_sdf *s) {
  if (!s->def->part) {
    tbi_format_tell_ignored(&tbi_sdf_format, s->root, s->def);
    s->sources[0].told = true;
  }
  for (int32_t i = 1; i < s->nmodel; ++i)
    tell_model(s, i);
  for (int32_t i = 0; i < s->nsource; ++i)
    tbi_meshes_report_missing(s->sources[i].meshes);
}

bool tbi_sdf_begin(tbi_sdf *s, const char *path) {
  tbi_xml_node *world = tbi_xml_child(s->root, "world");
  (void)tbi_xml_get(s->root, "version");
  if (world) (void)tbi_xml_get(world, "name");
  s->has_world = world != NULL;
  s->world = world ? world : s->root;
  return tbi_sdf_add_source(s, NULL, path) != TABI_NONE;
}

void tbi_sdf_end(tbi_sdf *s) {
  for (int32_t i = 0; i < s->nsource; ++i) {
    tbi_meshes_destroy(s->sources[i].meshes);
    tbi_xml_destroy(s->sources[i].xml);
  }
  tbi_names_free(&s->names);
  tbi_names_free(&s->files);
  tbi_text_free(&s->text);
  free(s->sources);
  free(s->frames);
  free(s->models);
  free(s->joints);
  free(s->above);
}

tabi_status tbi_sdf_load(tabi_builder *builder, tbi_xml_node *root, const char *path,
                         const tabi_load_def *def, tabi_error *err) {
  tbi_first_error error = {.err = err};
  tbi_sdf s = {.builder = builder, .def = def, .error = &error, .root = root};
  if (tbi_sdf_begin(&s, path)) {
    if (s.has_world) tbi_sdf_read_world(&s, s.world);
    load_all(&s);
    if (tbi_ok(&error)) tell_ignored(&s);
  }
  tbi_sdf_end(&s);
  return error.status;
}
