/* hrp_vrml_shape.c - Shape nodes of VRML: geometry, colour, and files that hold more of them. */
#include "base/array.h"
#include "io/file.h"
#include "io/format.h"
#include "io/hrp/hrp_vrml.h"
#include "io/path.h"
#include "io/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------- colour */

static void read_appearance(tbi_hrp *hrp, const tbi_vrml_node *shape, double rgba[4]) {
  const tbi_vrml_node *appearance = tbi_hrp_vrml_node(shape, "appearance");
  const tbi_vrml_node *material = appearance ? tbi_hrp_vrml_node(appearance, "material") : NULL;
  if (appearance) tbi_hrp_vrml_check(hrp, appearance, NULL);
  if (!material) return;
  double transparency = 0;
  tbi_hrp_vrml_check(hrp, material, NULL);
  tbi_hrp_vrml_numbers(hrp, material, "diffuseColor", rgba, 3);
  tbi_hrp_vrml_numbers(hrp, material, "transparency", &transparency, 1);
  for (int i = 0; i < 3; ++i)
    rgba[i] = tbi_max(0, tbi_min(1, rgba[i]));
  rgba[3] = 1 - tbi_max(0, tbi_min(1, transparency));
}

/* -------------------------------------------------------------------------------- geometry */

typedef struct leaf {
  const tbi_hrp_walk *walk;
  const tbi_vrml_node *node; /* of the geometry */
  tbi_hrp_look look;
} leaf;

static bool add_solid(const leaf *l) {
  static const struct {
    const char *type;
    tbi_hrp_solid solid;
    const char *fields[2];
    double size[3];
  } solids[] = {
      {"Box",      TBI_HRP_BOX,      {"size", NULL},             {2, 2, 2}},
      {"Sphere",   TBI_HRP_SPHERE,   {"radius", NULL},           {1, 0, 0}},
      {"Cylinder", TBI_HRP_CYLINDER, {"radius", "height"},       {1, 2, 0}},
      {"Cone",     TBI_HRP_CONE,     {"bottomRadius", "height"}, {1, 2, 0}},
  };
  tbi_hrp *hrp = l->walk->hrp;
  for (size_t i = 0; i < sizeof solids / sizeof *solids; ++i) {
    if (strcmp(l->node->type, solids[i].type) != 0) continue;
    double size[3];
    memcpy(size, solids[i].size, sizeof size);
    tbi_hrp_vrml_numbers(hrp, l->node, solids[i].fields[0], size, i == 0 ? 3 : 1);
    if (solids[i].fields[1]) tbi_hrp_vrml_numbers(hrp, l->node, solids[i].fields[1], size + 1, 1);
    if (tbi_ok(&hrp->error))
      tbi_hrp_add_solid(hrp, l->walk->link, solids[i].solid, size, &l->walk->frame, &l->look);
    return true;
  }
  return false;
}

static bool is_false(const tbi_vrml_node *node, const char *field) {
  const tbi_vrml_field *found = tbi_vrml_get(node, field);
  return found && found->kind == TBI_VRML_NUMBERS && found->of.numbers[0] == 0;
}

static void add_faces(const leaf *l) {
  const tbi_vrml_node *coord = tbi_hrp_vrml_node(l->node, "coord");
  const tbi_vrml_field *points = coord ? tbi_vrml_get(coord, "point") : NULL;
  const tbi_vrml_field *indices = tbi_vrml_get(l->node, "coordIndex");
  if (!points || !indices || points->kind != TBI_VRML_NUMBERS || indices->kind != TBI_VRML_NUMBERS)
    return;
  const tbi_hrp_polygons polygons = {
      .points = points->of.numbers,
      .indices = indices->of.numbers,
      .npoint = points->count / 3,
      .nindex = indices->count,
      .clockwise = is_false(l->node, "ccw"),
  };
  tbi_hrp_add_polygons(l->walk->hrp, l->walk->link, &polygons, &l->walk->frame, &l->look);
}

/* Heights along y over a grid in x and z. */
typedef struct grid {
  int32_t nx, nz;
  double spacing[2];
  const double *height;
} grid;

static bool read_grid(const leaf *l, grid *g) {
  tbi_hrp *hrp = l->walk->hrp;
  double size[2] = {0, 0};
  const tbi_vrml_field *height = tbi_vrml_get(l->node, "height");
  g->spacing[0] = g->spacing[1] = 1;
  tbi_hrp_vrml_numbers(hrp, l->node, "xDimension", &size[0], 1);
  tbi_hrp_vrml_numbers(hrp, l->node, "zDimension", &size[1], 1);
  tbi_hrp_vrml_numbers(hrp, l->node, "xSpacing", &g->spacing[0], 1);
  tbi_hrp_vrml_numbers(hrp, l->node, "zSpacing", &g->spacing[1], 1);
  if (!tbi_ok(&hrp->error)) return false;
  bool whole = size[0] >= 2 && size[1] >= 2 && size[0] <= 10000 && size[1] <= 10000;
  if (!whole || !height || height->kind != TBI_VRML_NUMBERS || size[0] * size[1] != height->count) {
    return tbi_fail_at(&hrp->error, TABI_ERR_PARSE, l->node->place,
                       "ElevationGrid: xDimension %g times zDimension %g is not the number of "
                       "heights",
                       size[0], size[1]);
  }
  g->nx = (int32_t)size[0];
  g->nz = (int32_t)size[1];
  g->height = height->of.numbers;
  return true;
}

static void fill_grid(const grid *g, double *points, double *indices) {
  for (int32_t k = 0; k < g->nx * g->nz; ++k) {
    int32_t row = k / g->nx;
    points[3 * (size_t)k] = g->spacing[0] * (k - row * g->nx);
    points[3 * (size_t)k + 1] = g->height[k];
    points[3 * (size_t)k + 2] = g->spacing[1] * row;
  }
  for (int32_t j = 0; j + 1 < g->nz; ++j) {
    for (int32_t i = 0; i + 1 < g->nx; ++i, indices += 5) {
      int32_t corner = j * g->nx + i;
      indices[0] = corner;
      indices[1] = corner + g->nx;
      indices[2] = corner + g->nx + 1;
      indices[3] = corner + 1;
      indices[4] = -1;
    }
  }
}

static void add_grid(const leaf *l) {
  grid g;
  if (!read_grid(l, &g)) return;
  size_t cells = (size_t)(g.nx - 1) * (size_t)(g.nz - 1);
  double *points = calloc((size_t)g.nx * (size_t)g.nz, 3 * sizeof *points);
  double *indices = calloc(cells, 5 * sizeof *indices);
  if (points && indices && 5 * cells < INT32_MAX) {
    fill_grid(&g, points, indices);
    const tbi_hrp_polygons polygons = {
        .points = points,
        .indices = indices,
        .npoint = g.nx * g.nz,
        .nindex = (int32_t)(5 * cells),
        .clockwise = is_false(l->node, "ccw"),
    };
    tbi_hrp_add_polygons(l->walk->hrp, l->walk->link, &polygons, &l->walk->frame, &l->look);
  } else {
    tbi_fail_memory(&l->walk->hrp->error);
  }
  free(points);
  free(indices);
}

static void add_geometry(const leaf *l) {
  tbi_hrp *hrp = l->walk->hrp;
  const char *type = l->node->type;
  const tbi_format_row *row = tbi_hrp_find_row(&tbi_vrml_format, type, NULL);
  if (row && row->use <= TBI_APPROXIMATED) tbi_hrp_vrml_check(hrp, l->node, NULL);
  if (add_solid(l)) return;
  if (strcmp(type, "IndexedFaceSet") == 0) {
    add_faces(l);
  } else if (strcmp(type, "ElevationGrid") == 0) {
    add_grid(l);
  } else {
    tbi_hrp_tell(hrp, l->node->place, row, "geometry", type);
  }
}

void tbi_hrp_vrml_shape(const tbi_hrp_walk *walk, const tbi_vrml_node *shape) {
  leaf l = {walk, tbi_hrp_vrml_node(shape, "geometry"), walk->look};
  tbi_hrp_vrml_check(walk->hrp, shape, NULL);
  l.look.place = shape->place;
  read_appearance(walk->hrp, shape, l.look.rgba);
  if (!l.node || !tbi_ok(&walk->hrp->error)) return;
  // a PROTO may stand for a geometry
  const tbi_vrml_node *body = NULL;
  if (!tbi_take(&walk->hrp->error,
                tbi_vrml_expand(walk->vrml, l.node, &body, walk->hrp->error.err)))
    return;
  if (body) l.node = body;
  add_geometry(&l);
}

/* ----------------------------------------------------------------------------------- files */

static void walk_text(const tbi_hrp_walk *walk, const char *text, size_t size, const char *path) {
  tbi_hrp *hrp = walk->hrp;
  tbi_hrp_walk inside = *walk;
  tbi_vrml *vrml = NULL;
  const char *kept = tbi_hrp_keep(hrp, path);
  if (!kept || !tbi_take(&hrp->error, tbi_vrml_parse(text, size, kept, &vrml, hrp->error.err)))
    return;
  inside.vrml = vrml;
  inside.has_joints = false;
  const tbi_vrml_field *top = tbi_vrml_top(vrml);
  for (int32_t i = 0; i < top->count && tbi_ok(&hrp->error); ++i)
    tbi_hrp_walk_node(&inside, top->of.nodes[i]);
  tbi_vrml_destroy(vrml);
}

/* Names in the file are relative to it. */
static void walk_file(const tbi_hrp_walk *walk, const char *path, tabi_place place) {
  tbi_hrp *hrp = walk->hrp;
  char *text = NULL;
  size_t size = 0;
  if (!tbi_take(&hrp->error,
                tbi_file_read(path, TBI_VRML_MAX_BYTES, place, &text, &size, hrp->error.err)))
    return;
  tbi_path_roots *roots = &hrp->roots;
  char *folder = strdup(roots->folder);
  const char *slash = strrchr(path, '/');
  if (folder) {
    size_t length = slash ? (size_t)(slash - path) : 0;
    if (length > 0 && length < sizeof roots->folder) {
      memcpy(roots->folder, path, length);
      roots->folder[length] = '\0';
    }
    walk_text(walk, text, size, path);
    memcpy(roots->folder, folder, strlen(folder) + 1);
  } else {
    tbi_fail_memory(&hrp->error);
  }
  free(folder);
  free(text);
}

void tbi_hrp_vrml_inline(const tbi_hrp_walk *walk, const char *file, tabi_place place) {
  tbi_hrp *hrp = walk->hrp;
  tbi_hrp_look look = walk->look;
  if (walk->link == TABI_NONE || !tbi_ok(&hrp->error)) return;
  look.place = place;
  if (!tbi_path_ends_with(file, ".wrl") && !tbi_path_ends_with(file, ".vrml")) {
    tbi_hrp_add_file(hrp, walk->link, file, &walk->frame, &look);
    return;
  }
  tbi_path *path = malloc(sizeof *path);
  if (!path) {
    tbi_fail_memory(&hrp->error);
    return;
  }
  tbi_path_result found = tbi_path_find(&hrp->roots, file, path);
  if (found == TBI_PATH_FOUND) {
    walk_file(walk, path->found, place);
  } else if (found == TBI_PATH_LEAVES || hrp->def->need_meshes || hrp->def->strict) {
    tbi_fail_at(&hrp->error, TABI_ERR_FILE, place, "'%.200s' %s", file,
                found == TBI_PATH_LEAVES ? "lies outside the robot's folder and packages"
                                         : "is not there");
  } else {
    tbi_warn(hrp->def, place, "'%.200s' is not there; its shapes are left out", file);
  }
  free(path);
}
