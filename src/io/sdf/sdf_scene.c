/* sdf_scene.c - a world of SDF as a scene: gravity, time step, and a robot for each model. */
#include "base/error.h"
#include "io/format.h"
#include "io/sdf/sdf.h"
#include "io/sdf/sdf_reader.h"
#include "model/builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ROBOTS 30 /* of more models, all are one robot */

/* As YAML, between quotation marks. */
static void write_text(FILE *out, const char *text) {
  (void)fputc('"', out);
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') (void)fputc('\\', out);
    (void)fputc(*text, out);
  }
  (void)fputc('"', out);
}

static void write_robot(FILE *out, const char *name, const char *file, const char *part) {
  (void)fputs("  - {name: ", out);
  write_text(out, name);
  (void)fputs(", model: ", out);
  write_text(out, file);
  if (part) {
    (void)fputs(", part: ", out);
    write_text(out, part);
  }
  (void)fputs(", self_collision: true}\n", out);
}

/* Joints of the world itself join models. */
static bool has_joints(const tbi_sdf *s) {
  for (int32_t i = 1; i < s->nframe; ++i) {
    if (s->frames[i].kind == TBI_SDF_JOINT && s->frames[i].model == 0) return true;
  }
  return false;
}

static void write_scene(FILE *out, tbi_sdf *s, const char *path) {
  const char *slash = strrchr(path, '/');
  const char *file = slash ? slash + 1 : path;
  const char *name = s->has_world ? tbi_xml_get(s->world, "name") : NULL;
  const double *g = s->builder->gravity;
  (void)fputs("name: ", out);
  write_text(out, name ? name : file);
  (void)fprintf(out, "\ntimestep: %.17g\ngravity: [%.17g, %.17g, %.17g]\nrobots:\n",
                s->builder->timestep, g[0], g[1], g[2]);
  if (has_joints(s) || s->ntop > MAX_ROBOTS) {
    write_robot(out, "world", file, NULL);
    return;
  }
  for (int32_t i = 1; i < s->nmodel; ++i) {
    if (s->models[i].parent != 0) continue;
    const char *model = s->frames[s->models[i].frame].name;
    write_robot(out, model, file, model);
  }
}

/* The parts tell of themselves when they are loaded. */
static void tell_world(const tbi_sdf *s) {
  for (tbi_xml_node *node = s->world->first; node; node = node->next) {
    bool part = strcmp(node->name, "model") == 0 || strcmp(node->name, "include") == 0;
    if (part) node->first = node->last = NULL;
  }
  tbi_format_tell_ignored(&tbi_sdf_format, s->root, s->def);
}

static bool write_all(tbi_sdf *s, const char *path, char **text, size_t *size) {
  if (s->has_world) tbi_sdf_read_world(s, s->world);
  if (tbi_ok(s->error)) tbi_sdf_list(s, s->world);
  if (!tbi_ok(s->error)) return false;
  if (s->nmodel == 1)
    return tbi_fail_at(s->error, TABI_ERR_MODEL, s->world->place, "no model in the file");
  FILE *out = open_memstream(text, size);
  if (out) write_scene(out, s, path);
  bool written = out && fclose(out) == 0;
  if (!written) return tbi_fail_memory(s->error);
  tell_world(s);
  return true;
}

tabi_status tbi_sdf_write_scene(tbi_xml_node *root, const char *path, const tabi_load_def *def,
                                char **text, size_t *size, tabi_error *err) {
  tbi_first_error error = {.err = err};
  tbi_sdf s = {.def = def, .error = &error, .root = root};
  *text = NULL;
  s.builder = tabi_builder_create();
  if (!s.builder) return tbi_error_memory(err);
  if (tbi_sdf_begin(&s, path) && !write_all(&s, path, text, size)) {
    free(*text);
    *text = NULL;
  }
  tbi_sdf_end(&s);
  tabi_builder_destroy(s.builder);
  return error.status;
}
