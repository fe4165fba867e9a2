/* mesh.c - finds, reads, keeps and weighs meshes. */
#include "io/mesh/mesh.h"

#include "base/assertion.h"
#include "base/error.h"
#include "base/names.h"
#include "base/text.h"
#include "io/file.h"
#include "io/first_error.h"
#include "io/mesh/heightfield.h"
#include "io/mesh/hull.h"
#include "io/mesh/mesh_file.h"
#include "io/mesh/png.h"
#include "io/path.h"
#include "io/report.h"
#include "math/mat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_SIZE (TBI_PATH_SIZE + 128)

struct tbi_meshes {
  tabi_builder *builder;
  const tabi_load_def *def;
  tbi_path_roots roots;
  tbi_names known; /* file and scale; one more than the index in the builder, 0 if missing */
  tbi_text_pool keys;
  tabi_place missing_place; /* of the second that is missing */
  int32_t nmissing;
};

void tbi_mesh_free(tbi_mesh *mesh) {
  free(mesh->vertices);
  free(mesh->faces);
  *mesh = (tbi_mesh){0};
}

void tbi_mesh_scale(tbi_mesh *mesh, const double scale[3]) {
  for (size_t i = 0; i < 3 * (size_t)mesh->nvertex; ++i)
    mesh->vertices[i] *= scale[i % 3];
  if (scale[0] * scale[1] * scale[2] > 0) return;
  // seen in a mirror, every face goes the other way round
  for (int32_t i = 0; i < mesh->nface; ++i) {
    int32_t *face = mesh->faces + 3 * (size_t)i;
    int32_t swap = face[1];
    face[1] = face[2];
    face[2] = swap;
  }
}

/* Sums over the tetrahedra between a point and every face: six volumes, 24 first moments and 120
 * second moments, where a tetrahedron (0, a, b, c) with d = a . (b x c) has
 * volume d/6, integral of x = d/24 (a + b + c), of x x' = d/120 (ss' + aa' + bb' + cc'),
 * s = a + b + c. */
typedef struct moments {
  double volume;
  v3 first;
  s3 second;
} moments;

static s3 outer(double d, v3 a) {
  return (s3){d * a.x * a.x, d * a.y * a.y, d * a.z * a.z,
              d * a.x * a.y, d * a.x * a.z, d * a.y * a.z};
}

static moments sum_moments(const tbi_mesh *mesh, v3 centre) {
  moments sum = {0};
  for (int32_t i = 0; i < mesh->nface; ++i) {
    v3 corner[3];
    for (int k = 0; k < 3; ++k) {
      size_t vertex = (size_t)mesh->faces[3 * (size_t)i + (size_t)k];
      TBI_CHECK_SLOW(vertex < (size_t)mesh->nvertex);
      corner[k] = v3_sub(v3_load(mesh->vertices + 3 * vertex), centre);
    }
    double d = v3_dot(corner[0], v3_cross(corner[1], corner[2]));
    v3 s = v3_add(corner[0], v3_add(corner[1], corner[2]));
    sum.volume += d;
    sum.first = v3_axpy(sum.first, d, s);
    sum.second = s3_add(sum.second, outer(d, s));
    for (int k = 0; k < 3; ++k)
      sum.second = s3_add(sum.second, outer(d, corner[k]));
  }
  return sum;
}

/* The middle of the box around all vertices, and its diagonal. */
static v3 middle(const tbi_mesh *mesh, double *diagonal) {
  v3 low = v3_load(mesh->vertices);
  v3 high = low;
  for (int32_t i = 1; i < mesh->nvertex; ++i) {
    v3 p = v3_load(mesh->vertices + 3 * (size_t)i);
    low = v3_make(fmin(low.x, p.x), fmin(low.y, p.y), fmin(low.z, p.z));
    high = v3_make(fmax(high.x, p.x), fmax(high.y, p.y), fmax(high.z, p.z));
  }
  *diagonal = v3_norm(v3_sub(high, low));
  return v3_scale(0.5, v3_add(low, high));
}

tabi_status tbi_mesh_solid(const tbi_mesh *mesh, const char *name, tabi_place place,
                           tbi_solid *solid, tabi_error *err) {
  double diagonal = 0;
  v3 centre = mesh->nvertex > 0 ? middle(mesh, &diagonal) : v3_zero();
  moments sum = sum_moments(mesh, centre);
  // faces that all look inwards give the same solid with the other sign
  double sign = sum.volume < 0 ? -1 : 1;
  double volume = sign * sum.volume / 6;
  if (!(volume > 1e-12 * diagonal * diagonal * diagonal) || !isfinite(volume)) {
    return tbi_error_set(err, TABI_ERR_MODEL, place, "mesh '%s': volume is zero; give <inertial>",
                         name);
  }
  v3 offset = v3_scale(sign / (24 * volume), sum.first);
  v3 com = v3_add(centre, offset);
  // second moments about the centre of mass; inertia is their trace less themselves
  double f = sign / 120;
  s3 e = outer(-volume, offset);
  e = s3_add(e, (s3){f * sum.second.xx, f * sum.second.yy, f * sum.second.zz, f * sum.second.xy,
                     f * sum.second.xz, f * sum.second.yz});
  s3 inertia = {e.yy + e.zz, e.xx + e.zz, e.xx + e.yy, -e.xy, -e.xz, -e.yz};
  solid->volume = volume;
  v3_store(com, solid->com);
  s3_store(inertia, solid->inertia);
  return TABI_OK;
}

tabi_status tbi_mesh_hull(const tbi_mesh *mesh, const char *name, tabi_place place,
                          const tabi_load_def *def, tbi_mesh *hull, tabi_error *err) {
  tabi_error why;
  tabi_status status = tbi_hull_mesh(mesh->vertices, mesh->nvertex, name, place, hull, &why);
  if (status == TABI_ERR_MODEL) {
    tbi_warn(def, place, "mesh '%.200s' has no volume and touches nothing; use a box", name);
    return TABI_OK;
  }
  if (status != TABI_OK && err) *err = why;
  return status;
}

tbi_meshes *tbi_meshes_create(tabi_builder *builder, const char *model_path,
                              const tabi_load_def *def) {
  TBI_ASSERT(builder && model_path && def);
  tbi_meshes *meshes = calloc(1, sizeof *meshes);
  if (!meshes) return NULL;
  meshes->builder = builder;
  meshes->def = def;
  tbi_path_roots_init(&meshes->roots, model_path, def->package_path);
  return meshes;
}

void tbi_meshes_destroy(tbi_meshes *meshes) {
  if (!meshes) return;
  tbi_names_free(&meshes->known);
  tbi_text_free(&meshes->keys);
  free(meshes);
}

/* A mesh that is missing or cannot be read: an error, or the first time a warning. */
static tabi_status let_pass(tbi_meshes *meshes, const tabi_error *why, tabi_place place,
                            tabi_error *err) {
  const tabi_load_def *def = meshes->def;
  if (def->need_meshes || def->strict) {
    if (err) *err = *why;
    return why->status;
  }
  ++meshes->nmissing;
  if (meshes->nmissing == 1 && def->warn) {
    tabi_error warning = *why;
    size_t used = strlen(warning.message);
    (void)snprintf(warning.message + used, sizeof warning.message - used,
                   "; its shape is left out");
    warning.severity = TABI_SEVERITY_WARNING;
    def->warn(def->warn_user, &warning);
  }
  if (meshes->nmissing == 2) meshes->missing_place = place;
  return TABI_OK;
}

static const char *extension_of(const char *file) {
  const char *dot = strrchr(file, '.');
  return dot && !strchr(dot, '/') ? dot + 1 : "";
}

/* What glTF's buffers are looked for with. */
typedef struct neighbours {
  tbi_path_roots roots;
  tbi_path path;
  const char *mesh;
  tabi_place place;
} neighbours;

/* A buffer of a glTF file, for a tbi_mesh_opener. */
static tabi_status open_buffer(void *user, const char *file, char **bytes, size_t *size,
                               tabi_error *err) {
  neighbours *n = user;
  tbi_path_result result = TBI_PATH_LEAVES;
  // a URI: %20 is a space
  char *uri = tbi_text_join("file://", file);
  if (!uri) return tbi_error_memory(err);
  if (!strstr(file, "://")) result = tbi_path_find(&n->roots, uri, &n->path);
  free(uri);
  if (result == TBI_PATH_FOUND)
    return tbi_file_read(n->path.found, TBI_MESH_MAX_BYTES, n->place, bytes, size, err);
  if (result == TBI_PATH_MISSING) {
    return tbi_error_set(err, TABI_ERR_FILE, n->place,
                         "mesh '%.100s': buffer '%.100s' not found (looked in: %s)", n->mesh, file,
                         n->path.looked);
  }
  return tbi_error_set(err, TABI_ERR_MODEL, n->place,
                       "mesh '%.100s': buffer '%.100s': " TBI_PATH_LEAVES_TEXT, n->mesh, file);
}

/* A mesh file that was found. */
typedef struct found_file {
  const tbi_path_roots *roots;
  const char *path, *name;
  tabi_place place;
} found_file;

static tabi_status parse_gltf(const found_file *f, const char *bytes, size_t size, tbi_mesh *mesh,
                              tabi_error *err) {
  neighbours *n = malloc(sizeof *n);
  if (!n) return tbi_error_memory(err);
  tbi_path_roots_below(&n->roots, f->roots, f->path);
  n->mesh = f->name;
  n->place = f->place;
  const tbi_mesh_opener opener = {open_buffer, n};
  tabi_status status = tbi_gltf_parse(bytes, size, f->name, f->place, &opener, mesh, err);
  free(n);
  return status;
}

static const struct {
  const char *extension;
  tbi_mesh_parse_fn *parse; /* NULL: glTF, which may name other files */
} formats[] = {
    {"stl",  tbi_stl_parse},
    {"obj",  tbi_obj_parse},
    {"ply",  tbi_ply_parse},
    {"dae",  tbi_dae_parse},
    {"msh",  tbi_msh_parse},
    {"gltf", NULL         },
    {"glb",  NULL         },
};

static tabi_status read_as(size_t format, const found_file *f, tbi_mesh *mesh, tabi_error *err) {
  char *bytes = NULL;
  size_t size = 0;
  tabi_status status = tbi_file_read(f->path, TBI_MESH_MAX_BYTES, f->place, &bytes, &size, err);
  if (status != TABI_OK) return status;
  tbi_mesh_parse_fn *parse = formats[format].parse;
  status = parse ? parse(bytes, size, f->name, f->place, mesh, err)
                 : parse_gltf(f, bytes, size, mesh, err);
  free(bytes);
  return status;
}

static tabi_status read_found(tbi_meshes *meshes, const char *path, const char *name,
                              tabi_place place, tbi_mesh *mesh, tabi_error *err) {
  const found_file f = {&meshes->roots, path, name, place};
  for (size_t i = 0; i < sizeof formats / sizeof formats[0]; ++i) {
    if (strcasecmp(extension_of(path), formats[i].extension) == 0) return read_as(i, &f, mesh, err);
  }
  tabi_error why;
  (void)tbi_error_set(&why, TABI_ERR_FILE, place,
                      "mesh '%.200s': format not read; convert it to STL, OBJ, PLY, DAE or glTF",
                      name);
  return let_pass(meshes, &why, place, err);
}

/* Where a file is, if it is found; TABI_OK also for one that may be missing. */
static tabi_status find_file(tbi_meshes *meshes, const char *what, const char *file,
                             tabi_place place, tbi_path *path, bool *found, tabi_error *err) {
  tabi_error why;
  tbi_path_result result = tbi_path_find(&meshes->roots, file, path);
  *found = result == TBI_PATH_FOUND;
  if (result == TBI_PATH_LEAVES) {
    return tbi_error_set(err, TABI_ERR_MODEL, place, "%s '%.100s': %s " TBI_PATH_LEAVES_TEXT, what,
                         file, what);
  }
  if (*found) return TABI_OK;
  bool in_package = strncmp(file, "package://", 10) == 0 || strncmp(file, "model://", 8) == 0;
  (void)tbi_error_set(&why, TABI_ERR_FILE, place, "%s '%.200s' not found (looked in: %s)%s", what,
                      file, path->looked,
                      in_package ? "; name the folder of its package by --package-path" : "");
  return let_pass(meshes, &why, place, err);
}

tabi_status tbi_meshes_read(tbi_meshes *meshes, const char *file, tabi_place place, tbi_mesh *mesh,
                            tabi_error *err) {
  *mesh = (tbi_mesh){0};
  tbi_path *path = malloc(sizeof *path);
  if (!path) return tbi_error_memory(err);
  bool found = false;
  tabi_status status = find_file(meshes, "mesh", file, place, path, &found, err);
  if (found) status = read_found(meshes, path->found, file, place, mesh, err);
  free(path);
  return status;
}

tabi_status tbi_meshes_read_grid(tbi_meshes *meshes, const char *file, bool mujoco,
                                 tabi_place place, tbi_heights *heights, tabi_error *err) {
  bool found = false;
  char *bytes = NULL;
  size_t size = 0;
  *heights = (tbi_heights){0};
  tbi_path *path = malloc(sizeof *path);
  if (!path) return tbi_error_memory(err);
  tabi_status status = find_file(meshes, "height field", file, place, path, &found, err);
  if (found)
    status = tbi_file_read(path->found, TBI_HEIGHTFIELD_MAX_BYTES, place, &bytes, &size, err);
  if (bytes) {
    bool own = mujoco && !tbi_png_is(bytes, size);
    status = own ? tbi_heights_read_mujoco(bytes, size, file, place, heights, err)
                 : tbi_heights_read(bytes, size, file, place, heights, err);
  }
  free(bytes);
  free(path);
  return status;
}

tabi_status tbi_meshes_read_heights(tbi_meshes *meshes, const char *file,
                                    const tbi_heightfield *field, tabi_place place, tbi_mesh *mesh,
                                    tabi_error *err) {
  tbi_heights heights;
  *mesh = (tbi_mesh){0};
  tabi_status status = tbi_meshes_read_grid(meshes, file, false, place, &heights, err);
  if (heights.heights) status = tbi_heights_mesh(&heights, field, mesh, err);
  free(heights.heights);
  return status;
}

/* A mesh as a robot file asks for it. */
typedef struct request {
  const char *file;
  const double *scale;
  bool as_hull;
  tabi_place place;
} request;

static void add_to_builder(tbi_meshes *meshes, const tbi_mesh *mesh, const request *r,
                           int32_t *index, tbi_first_error *error) {
  tabi_mesh_def def = tabi_mesh_def_default();
  def.name = r->file;
  def.nvertex = mesh->nvertex;
  def.nface = mesh->nface;
  def.vertices = mesh->vertices;
  def.faces = mesh->faces;
  def.place = r->place;
  *index = tabi_builder_add_mesh(meshes->builder, &def);
  tbi_take_builder(error, meshes->builder);
}

/* Under which name it is known; false when that is too long. */
static bool write_key(const request *r, bool as_hull, char key[KEY_SIZE]) {
  int length = snprintf(key, KEY_SIZE, "%s %a %a %a %s", r->file, r->scale[0], r->scale[1],
                        r->scale[2], as_hull ? "hull" : "mesh");
  return length >= 0 && length < KEY_SIZE;
}

static void remember(tbi_meshes *meshes, const char *key, int32_t index, tbi_first_error *error) {
  if (!tbi_ok(error) || tbi_names_find(&meshes->known, key) >= 0) return;
  const char *kept = tbi_text_add(&meshes->keys, key);
  if (!kept || !tbi_names_add(&meshes->known, kept, index + 1)) tbi_fail_memory(error);
}

static void make_hull(const tbi_meshes *meshes, const request *r, tbi_mesh *mesh,
                      tbi_first_error *error) {
  tbi_mesh hull;
  tbi_take(error, tbi_mesh_hull(mesh, r->file, r->place, meshes->def, &hull, error->err));
  tbi_mesh_free(mesh);
  *mesh = hull;
}

static void add_new(tbi_meshes *meshes, const request *r, const char *key, int32_t *index,
                    tbi_first_error *error) {
  char other[KEY_SIZE];
  tbi_mesh mesh;
  tbi_take(error, tbi_meshes_read(meshes, r->file, r->place, &mesh, error->err));
  // a missing mesh is missing as mesh and as hull, and reported once
  if (mesh.nface == 0 && write_key(r, !r->as_hull, other))
    remember(meshes, other, TABI_NONE, error);
  if (mesh.nface > 0) {
    tbi_mesh_scale(&mesh, r->scale);
    if (r->as_hull) make_hull(meshes, r, &mesh, error);
  }
  if (mesh.nface > 0 && tbi_ok(error)) add_to_builder(meshes, &mesh, r, index, error);
  tbi_mesh_free(&mesh);
  remember(meshes, key, *index, error);
}

static tabi_status add_once(tbi_meshes *meshes, const request *r, int32_t *index, tabi_error *err) {
  char key[KEY_SIZE];
  *index = TABI_NONE;
  if (!write_key(r, r->as_hull, key)) {
    return tbi_error_set(err, TABI_ERR_MODEL, r->place, "mesh '%.40s...': name is too long",
                         r->file);
  }
  int32_t known = tbi_names_find(&meshes->known, key);
  tbi_first_error error = {.err = err};
  if (known < 0) {
    add_new(meshes, r, key, index, &error);
  } else {
    *index = known - 1;
  }
  return error.status;
}

tabi_status tbi_meshes_add(tbi_meshes *meshes, const char *file, const double scale[3],
                           tabi_place place, int32_t *index, tabi_error *err) {
  request r = {file, scale, false, place};
  return add_once(meshes, &r, index, err);
}

tabi_status tbi_meshes_add_hull(tbi_meshes *meshes, const char *file, const double scale[3],
                                tabi_place place, int32_t *index, tabi_error *err) {
  request r = {file, scale, true, place};
  return add_once(meshes, &r, index, err);
}

void tbi_meshes_report_missing(const tbi_meshes *meshes) {
  const tabi_load_def *def = meshes->def;
  if (meshes->nmissing < 2) return;
  tbi_warn(def, meshes->missing_place, "%d more meshes not found or not readable",
           (int)(meshes->nmissing - 1));
}
